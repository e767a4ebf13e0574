//! The one task per kind that reads the log for all watchers of the kind. It runs while there are any.

use super::HubState;
use super::entry::{Entry, SkippedObjects, entries};
use super::find::{LookupResult, Question, find};
use super::queue::{EndReason, Queue, SettledChange};
use super::selection::{EntryFacts, Selection, Selector};
use crate::status::Status;
use ingester_core::Kind;
use ingester_sql::query::Query;
use ingester_store::changes::{ChangeKind, Position};
use ingester_store::query::{FoundRow, Limits};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// The time for which the database may fail before watches end. Clients then ask again, and get the error.
const FAILING: Duration = Duration::from_secs(60);

/// The pause after a failure.
const PAUSE: Duration = Duration::from_secs(1);

/// A watcher, as its reader knows it.
#[derive(Debug)]
pub(super) struct Watcher {
    pub(super) queue: Queue,
    pub(super) selector: Arc<Selector>,
    /// The version up to which it was sent events, or has listed.
    from: Position,
    /// The version of the position after which the watcher has exactly the objects that were selected when the reader last looked.
    certain_from: AtomicU64,
    /// The indexes of the columns of its answers.
    places: Vec<usize>,
}

impl Watcher {
    /// Records that after this position it has exactly the objects that were selected when the reader last looked.
    pub(super) fn is_certain_from(&self, position: Position) {
        self.certain_from.store(position.version(), Ordering::Relaxed);
    }

    fn is_certain(&self, entry: &Entry) -> bool {
        entry.change.position.version() > self.certain_from.load(Ordering::Relaxed)
    }
}

/// A watcher that joins.
#[derive(Debug)]
pub(super) struct Join {
    pub(super) selection: Selection,
    /// The position up to which it was sent events.
    pub(super) from: Position,
    pub(super) places: Vec<usize>,
    /// The most bytes that wait for it.
    pub(super) bytes: usize,
    pub(super) joined: oneshot::Sender<JoinReply>,
}

/// The answer to a watcher: from this position on, everything is in its queue.
#[derive(Debug)]
pub(super) struct JoinReply {
    pub(super) watcher: Arc<Watcher>,
    pub(super) at: Position,
}

/// The reader of a kind.
pub(super) struct Reader {
    /// A weak reference, so that the server can end.
    shared: Weak<HubState>,
    kind: Kind,
    limits: Limits,
    joining: UnboundedReceiver<Join>,
    groups: Vec<Group>,
    skipped: SkippedObjects,
}

/// The watchers of one selector.
struct Group {
    selector: Arc<Selector>,
    watchers: Vec<Arc<Watcher>>,
}

/// The result of reading the log.
pub(super) enum Step {
    /// There may be more entries.
    More,
    /// There are no entries for now.
    Done,
    /// The log cannot be read from the position on.
    Lost(&'static str),
}

impl Reader {
    pub(super) fn new(shared: &Arc<HubState>, kind: Kind, limits: Limits, joining: UnboundedReceiver<Join>) -> Self {
        let groups = Vec::new();
        let skipped = SkippedObjects::default();
        Reader { shared: Arc::downgrade(shared), kind, limits, joining, groups, skipped }
    }

    /// Reads while there are watchers.
    pub(super) async fn run(mut self) {
        let mut position = None;
        let mut failing: Option<Instant> = None;
        loop {
            let Some(shared) = self.shared.upgrade() else { return };
            if self.groups.is_empty() && shared.leave(&self.kind, &self.joining) {
                return;
            }
            let step = match position {
                None => self.begin(&shared, &mut position).await,
                Some(at) => {
                    self.admit(at);
                    self.step(&shared, &mut position, at).await
                }
            };
            let pause = match step {
                Ok(step) => {
                    failing = None;
                    match step {
                        Step::More => Duration::ZERO,
                        Step::Done => shared.limits.poll,
                        Step::Lost(why) => {
                            self.end(&EndReason::from(Status::expired(why)));
                            position = None;
                            shared.limits.poll
                        }
                    }
                }
                Err(status) => {
                    if failing.get_or_insert_with(Instant::now).elapsed() > FAILING {
                        self.end(&EndReason::from(status));
                        self.refuse();
                    }
                    PAUSE
                }
            };
            drop(shared);
            if pause.is_zero() {
                tokio::task::yield_now().await;
            } else if let Some(at) = position.filter(|_| failing.is_none()) {
                self.pause(pause, at).await;
            } else {
                tokio::time::sleep(pause).await;
            }
        }
    }

    /// Pauses, but admits watchers that join meanwhile, so that many new watchers do not each wait for a read of the log.
    async fn pause(&mut self, pause: Duration, at: Position) {
        let until = Instant::now() + pause;
        while let Ok(Some(join)) = tokio::time::timeout_at(until, self.joining.recv()).await {
            self.take(join, at);
        }
    }

    /// Finds the present end of the log.
    async fn begin(&mut self, shared: &HubState, position: &mut Option<Position>) -> Result<Step, Status> {
        *position = Some(shared.log.head(self.kind.table()).await?);
        Ok(Step::More)
    }

    /// Admits watchers that join, and forgets watchers that have gone.
    pub(super) fn admit(&mut self, at: Position) {
        while let Ok(join) = self.joining.try_recv() {
            self.take(join, at);
        }
        for group in &mut self.groups {
            group.watchers.retain(|watcher| !watcher.queue.has_ended());
        }
        self.groups.retain(|group| !group.watchers.is_empty());
    }

    /// Admits a watcher. It is sent the changes after this position.
    fn take(&mut self, Join { selection, from, places, bytes, joined }: Join, at: Position) {
        let known = self.groups.iter().position(|group| group.selector.selection == selection);
        let group = known.unwrap_or_else(|| {
            let rest = self.groups.iter().map(|group| &group.selector.rest).find(|rest| ***rest == selection.rest);
            let rest = rest.cloned().unwrap_or_else(|| Arc::new(selection.rest.clone()));
            self.groups.push(Group { selector: Arc::new(Selector::new(selection, rest)), watchers: Vec::new() });
            self.groups.len() - 1
        });
        let group = &mut self.groups[group];
        let watcher = Arc::new(Watcher {
            queue: Queue::new(at, bytes),
            selector: group.selector.clone(),
            from,
            certain_from: AtomicU64::new(u64::MAX),
            places,
        });
        if joined.send(JoinReply { watcher: watcher.clone(), at }).is_ok() {
            group.watchers.push(watcher);
        }
    }

    /// Ends all watches.
    fn end(&mut self, end: &EndReason) {
        for watcher in self.groups.iter().flat_map(|group| &group.watchers) {
            watcher.queue.end(end.clone());
        }
        self.groups.clear();
        self.skipped = SkippedObjects::default();
    }

    /// Dismisses the watchers that join: they learn that no answer will come.
    fn refuse(&mut self) {
        while self.joining.try_recv().is_ok() {}
    }

    /// Reads the entries after the position, and sends them.
    pub(super) async fn step(
        &mut self,
        shared: &HubState,
        position: &mut Option<Position>,
        at: Position,
    ) -> Result<Step, Status> {
        let table = self.kind.table();
        if !shared.log.is_there().await? {
            return Ok(Step::Lost("the log of changes was switched off: list again"));
        }
        if shared.log.number(table).await? == at {
            return Ok(Step::Done);
        }
        let changes = shared.log.changes(table, at, shared.limits.batch).await?;
        let Some(last) = changes.last().map(|change| change.position) else {
            // A replica does not have the position yet; or a server that became the primary has lost it.
            let is_known = shared.log.knows(table, at).await?;
            return Ok(if is_known { Step::Done } else { Step::Lost(LOST) });
        };
        let step = if changes.len() == shared.limits.batch { Step::More } else { Step::Done };
        if changes.iter().any(|change| change.what == ChangeKind::Reset) {
            return Ok(Step::Lost(BEGINS_ANEW));
        }
        let is_held = |entry: &Entry| self.groups.iter().any(|group| group.selector.selection.holds(&entry.change));
        let mut held = entries(changes);
        held.retain(is_held);
        let (found, asked) = self.find(shared, &held).await?;
        // The entries are complete if the position is known afterwards.
        if !shared.log.knows(table, at).await? {
            return Ok(Step::Lost(LOST));
        }
        for entry in held {
            self.send(entry, &found, &asked);
        }
        *position = Some(last);
        for watcher in self.groups.iter().flat_map(|group| &group.watchers) {
            watcher.queue.reach(last);
        }
        Ok(step)
    }

    /// Finds the objects of these entries. Also returns the index of the answer to each distinct question.
    async fn find(&self, shared: &HubState, held: &[Entry]) -> Result<(LookupResult, HashMap<usize, usize>), Status> {
        let mut asked: HashMap<usize, usize> = HashMap::new();
        let mut wanted: Vec<(&Query, BTreeSet<&str>)> = Vec::new();
        let mut places = BTreeSet::new();
        for Group { selector, watchers } in &self.groups {
            let held =
                || held.iter().filter(|entry| selector.selection.holds(&entry.change)).map(|entry| &*entry.change.uid);
            if held().next().is_none() {
                continue;
            }
            places.extend(watchers.iter().flat_map(|watcher| &watcher.places).copied());
            if !selector.selection.is_by_state() {
                let place = *asked.entry(address(&selector.rest)).or_insert_with(|| {
                    wanted.push((&*selector.rest, BTreeSet::new()));
                    wanted.len() - 1
                });
                wanted[place].1.extend(held());
            }
        }
        let questions: Vec<Question<'_>> =
            wanted.into_iter().map(|(rest, uids)| Question { rest, uids: uids.into_iter().collect() }).collect();
        let uids: BTreeSet<&str> = held.iter().map(|entry| &*entry.change.uid).collect();
        let uids: Vec<&str> = uids.into_iter().collect();
        let places: Vec<usize> = places.into_iter().collect();
        let found = find((&shared.log.reads, &self.kind), self.limits, &questions, &uids, &places).await?;
        Ok((found, asked))
    }

    /// Sends an entry to the watchers that select its object.
    fn send(&mut self, entry: Entry, found: &LookupResult, asked: &HashMap<usize, usize>) {
        let row = found.rows.get(&entry.change.uid).cloned();
        let entry = self.skipped.complete(entry, row.as_deref());
        let settled = Arc::new(SettledChange::new(entry, row));
        let entry = &settled.entry;
        let row = settled.row.as_deref();
        for Group { selector, watchers } in &self.groups {
            if !selector.selection.holds(&entry.change) {
                continue;
            }
            let place = asked.get(&address(&selector.rest)).copied();
            let matches = is_selected(&selector.selection, row, place.map(|place| &found.selected[place]));
            let (had, was_sent) = selector.replace(&entry.change.uid, matches, entry.has(row));
            let seen = EntryFacts { entry, row, matches, had, was_sent };
            for watcher in watchers.iter().filter(|watcher| watcher.from < entry.change.position) {
                if let Some(sent) = selector.selection.sent(seen, watcher.is_certain(entry)) {
                    watcher.queue.push(sent, &settled);
                }
            }
        }
    }
}

/// Returns a key that is the same for selectors with the same question.
fn address(rest: &Arc<Query>) -> usize {
    Arc::as_ptr(rest).addr()
}

/// The message that ends a watch whose log lacks entries.
pub(super) const BEGINS_ANEW: &str = "the log of changes was reset: list again";

/// The message that ends a watch whose position is not in the log any more.
pub(super) const LOST: &str = "too old resource version: the log of changes no longer has it";

/// Returns true if a row is selected: its state decides, otherwise the database's answer to its selector.
pub(super) fn is_selected(selection: &Selection, row: Option<&FoundRow>, selected: Option<&HashSet<Box<str>>>) -> bool {
    match (row, selected) {
        (None, _) => false,
        (Some(row), None) => selection.has_state(row),
        (Some(row), Some(selected)) => selected.contains(row.uid()),
    }
}
