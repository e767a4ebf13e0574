//! The one task a kind that reads the log for all its watchers, while there are any.

use super::Shared;
use super::entry::{Entry, Skipped, entries};
use super::find::{Found, Question, find};
use super::queue::{End, Queue, Settled};
use super::selection::{Seen, Selection, Selector};
use crate::status::Status;
use ingester_core::Kind;
use ingester_sql::query::Query;
use ingester_store::changes::{Position, What};
use ingester_store::query::{FoundRow, Limits};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// How long the database may fail until watches end: clients ask again then, and are told.
const FAILING: Duration = Duration::from_secs(60);

/// The pause after a failure.
const PAUSE: Duration = Duration::from_secs(1);

/// What a reader knows of a watcher.
#[derive(Debug)]
pub(super) struct Watcher {
    pub(super) queue: Queue,
    pub(super) selector: Arc<Selector>,
    /// What it has been sent, or has listed, up to here.
    from: Position,
    /// The version of the position behind which it has what was selected when the reader looked last, and nothing else.
    certain_from: AtomicU64,
    /// The places of the columns that it shows.
    places: Vec<usize>,
}

impl Watcher {
    /// Behind this position it has what was selected when the reader looked last, and nothing else.
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
    /// What it has been sent up to now.
    pub(super) from: Position,
    pub(super) places: Vec<usize>,
    /// The most bytes that wait for it.
    pub(super) bytes: usize,
    pub(super) joined: oneshot::Sender<Joined>,
}

/// What a watcher is given: from this position on, everything is in its queue.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) watcher: Arc<Watcher>,
    pub(super) at: Position,
}

/// The reader of a kind.
pub(super) struct Reader {
    /// Not held, so that the server's end is not kept from coming.
    shared: Weak<Shared>,
    kind: Kind,
    limits: Limits,
    joining: UnboundedReceiver<Join>,
    groups: Vec<Group>,
    skipped: Skipped,
}

/// The watchers of one selector.
struct Group {
    selector: Arc<Selector>,
    watchers: Vec<Arc<Watcher>>,
}

/// What has become of the log.
pub(super) enum Step {
    /// There may be more.
    More,
    /// There is nothing for now.
    Done,
    /// It cannot be read on from the position.
    Lost(&'static str),
}

impl Reader {
    pub(super) fn new(shared: &Arc<Shared>, kind: Kind, limits: Limits, joining: UnboundedReceiver<Join>) -> Self {
        let (groups, skipped) = (Vec::new(), Skipped::default());
        Reader { shared: Arc::downgrade(shared), kind, limits, joining, groups, skipped }
    }

    /// Reads until nobody watches any more.
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
                            self.end(&End::from(Status::expired(why)));
                            position = None;
                            shared.limits.poll
                        }
                    }
                }
                Err(status) => {
                    if failing.get_or_insert_with(Instant::now).elapsed() > FAILING {
                        self.end(&End::from(status));
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

    /// Takes in those who join meanwhile: many that begin do not wait for a look at the log each.
    async fn pause(&mut self, pause: Duration, at: Position) {
        let until = Instant::now() + pause;
        while let Ok(Some(join)) = tokio::time::timeout_at(until, self.joining.recv()).await {
            self.take(join, at);
        }
    }

    /// Finds where the log ends now.
    async fn begin(&mut self, shared: &Shared, position: &mut Option<Position>) -> Result<Step, Status> {
        *position = Some(shared.log.head(self.kind.table()).await?);
        Ok(Step::More)
    }

    /// Takes in those who join, and forgets those who have gone.
    pub(super) fn admit(&mut self, at: Position) {
        while let Ok(join) = self.joining.try_recv() {
            self.take(join, at);
        }
        for group in &mut self.groups {
            group.watchers.retain(|watcher| !watcher.queue.has_ended());
        }
        self.groups.retain(|group| !group.watchers.is_empty());
    }

    /// Takes in a watcher: it is sent what lies behind this position.
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
        if joined.send(Joined { watcher: watcher.clone(), at }).is_ok() {
            group.watchers.push(watcher);
        }
    }

    /// Ends all watches.
    fn end(&mut self, end: &End) {
        for watcher in self.groups.iter().flat_map(|group| &group.watchers) {
            watcher.queue.end(end.clone());
        }
        self.groups.clear();
        self.skipped = Skipped::default();
    }

    /// Lets those who join go: they are told that there is no answer.
    fn refuse(&mut self) {
        while self.joining.try_recv().is_ok() {}
    }

    /// Reads what comes behind the position, and sends it.
    pub(super) async fn step(
        &mut self,
        shared: &Shared,
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
            // A replica does not have it yet; or a server that was made the primary does not have the position.
            let is_known = shared.log.knows(table, at).await?;
            return Ok(if is_known { Step::Done } else { Step::Lost(LOST) });
        };
        let step = if changes.len() == shared.limits.batch { Step::More } else { Step::Done };
        if changes.iter().any(|change| change.what == What::Reset) {
            return Ok(Step::Lost(BEGINS_ANEW));
        }
        let is_held = |entry: &Entry| self.groups.iter().any(|group| group.selector.selection.holds(&entry.change));
        let mut held = entries(changes);
        held.retain(is_held);
        let (found, asked) = self.find(shared, &held).await?;
        // What was read is complete if the position is known afterwards.
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

    /// Finds the objects of these entries. Returns the place of the answer of each distinct question, too.
    async fn find(&self, shared: &Shared, held: &[Entry]) -> Result<(Found, HashMap<usize, usize>), Status> {
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

    /// Sends what an entry says to those who select its object.
    fn send(&mut self, entry: Entry, found: &Found, asked: &HashMap<usize, usize>) {
        let row = found.rows.get(&entry.change.uid).cloned();
        let entry = self.skipped.complete(entry, row.as_deref());
        let settled = Arc::new(Settled::new(entry, row));
        let (entry, row) = (&settled.entry, settled.row.as_deref());
        for Group { selector, watchers } in &self.groups {
            if !selector.selection.holds(&entry.change) {
                continue;
            }
            let place = asked.get(&address(&selector.rest)).copied();
            let matches = is_selected(&selector.selection, row, place.map(|place| &found.selected[place]));
            let (had, was_sent) = selector.replace(&entry.change.uid, matches, entry.has(row));
            let seen = Seen { entry, row, matches, had, was_sent };
            for watcher in watchers.iter().filter(|watcher| watcher.from < entry.change.position) {
                if let Some(sent) = selector.selection.sent(seen, watcher.is_certain(entry)) {
                    watcher.queue.push(sent, &settled);
                }
            }
        }
    }
}

/// What is the same for selectors that ask the same.
fn address(rest: &Arc<Query>) -> usize {
    Arc::as_ptr(rest).addr()
}

/// Why a watch ends in whose log something is missing.
pub(super) const BEGINS_ANEW: &str = "the log of changes was reset: list again";

/// Why a watch ends whose position is not in the log any more.
pub(super) const LOST: &str = "too old resource version: the log of changes no longer has it";

/// Whether a row is selected: by its state, else by what the database said of its selector.
pub(super) fn is_selected(selection: &Selection, row: Option<&FoundRow>, selected: Option<&HashSet<Box<str>>>) -> bool {
    match (row, selected) {
        (None, _) => false,
        (Some(row), None) => selection.has_state(row),
        (Some(row), Some(selected)) => selected.contains(row.uid()),
    }
}
