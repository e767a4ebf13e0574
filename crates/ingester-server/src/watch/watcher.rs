//! One watch from its beginning to its end: initial events, changes up to now, live changes.

use super::entry::{SkippedObjects, entries};
use super::find::{Question, find};
use super::queue::{EndReason, QueueItem, SettledChange};
use super::reader::{BEGINS_ANEW, Join, JoinReply, LOST, Watcher, is_selected};
use super::selection::{EntryFacts, EventType, MOST_MATCHED, Selection, SelectionBuilder, Selector, SentEvent};
use super::{Hub, HubState, version};
use crate::answer::{ObjectFacts, Renderer};
use crate::body::WaitMark;
use crate::former::Reach;
use crate::places::RequestSlot;
use crate::read::{self, Cost, limits_of, refused, resource};
use crate::request::accept::Form;
use crate::request::parameters::Parameters;
use crate::status::{Reason, Status};
use axum::body::Body;
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{StreamExt as _, stream};
use http::{HeaderValue, Response, header};
use ingester_core::Kind;
use ingester_core::value::Micros;
use ingester_sql::query::Query;
use ingester_store::changes::{ChangeKind, Position};
use ingester_store::query::{Limits, RequestedParts};
use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument as _;

/// The factor by which more bytes may wait for a watcher that has not reached its position in the log yet.
const JOINING: usize = 4;

/// Checks if the caller may still watch.
pub(crate) type WatchRightCheck = Box<dyn Fn() -> BoxFuture<'static, Result<(), Status>> + Send + Sync>;

/// The request of a watch.
pub(crate) struct Request {
    /// The kind.
    pub kind: Kind,
    /// The caller.
    pub user: String,
    /// The selection, narrowed to objects that the caller may see, and its start.
    pub parameters: Parameters,
    /// The former objects that the caller may see.
    pub reach: Reach,
    /// The form in which objects are sent.
    pub form: Form,
    /// The cost of the beginning for the database.
    pub cost: Cost,
    /// The limits of statements.
    pub limits: Limits,
    /// Held until the watch waits for changes.
    pub place: RequestSlot,
    /// Checked again while the watch lasts.
    pub standing: WatchRightCheck,
}

/// The start of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begin {
    /// Begins with initial events, which are read after this position.
    Initial(Position),
    /// Begins after this position.
    At(Position),
    /// The watch cannot begin.
    Expired(&'static str),
}

impl Hub {
    /// Begins a watch: an answer whose body has one event per line.
    ///
    /// # Errors
    /// 400 for requests that can be listed but not watched; 429 if there are too many watches; 503 and 504 if the database does not answer,
    /// or does not have the version yet. Any other failure is the watch's last event.
    pub(crate) async fn watch(&self, request: Request) -> Result<Response<Body>, Status> {
        let Parameters { most, offset, watch, version, .. } = &request.parameters;
        if most.is_some() || *offset > 0 {
            let message = "a query with a limit or an offset cannot be watched: list it, or watch without them";
            return Err(Status::bad_request(message));
        }
        let place = self.0.places.take(&request.user)?;
        let watch = watch.unwrap_or_default();
        let begin = self.0.begin(&request.kind, watch.initial, version.unwrap_or(0)).await?;
        let limits = self.0.limits;
        let time = watch.time.unwrap_or_else(|| limits.time + between(limits.time));
        let (sender, receiver) = mpsc::channel::<Bytes>(1);
        let Request { kind, user, parameters, reach, form, cost, limits, place: working, standing } = request;
        let Parameters { query, include, skip, .. } = parameters;
        let renderer = Renderer::new(kind, form, include, query.states, skip);
        let follower = Follower {
            shared: self.0.clone(),
            kind,
            user,
            query,
            reach,
            cost,
            limits: limits_of(cost, limits),
            renderer,
            has_columns: false,
            bookmarks: watch.bookmarks,
            ends_initial: watch.bookmarks && watch.initial == Some(true),
            withheld: false,
            deadline: Instant::now() + time,
            sender,
        };
        let counted = self.0.metrics.watch(&kind.plural());
        let following = async move {
            let _held = (place, counted);
            follower.run(begin, working, standing).await;
        };
        let following = AbortOnDropHandle::new(tokio::spawn(following.in_current_span()));
        // Fused, because the compressor polls once more after the end.
        let lines = stream::unfold((receiver, following), |(mut receiver, following)| async {
            let line = receiver.recv().await?;
            Some((Ok::<_, std::io::Error>(line), (receiver, following)))
        });
        let mut response = Response::new(Body::from_stream(lines.fuse()));
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
        response.extensions_mut().insert(WaitMark);
        Ok(response)
    }
}

/// Returns a random time up to this one, so that the watches of a server do not end together.
fn between(time: Duration) -> Duration {
    let chance = RandomState::new().hash_one(0_u8) % 1024;
    time * u32::try_from(chance).unwrap_or(0) / 1024
}

impl HubState {
    /// Returns the start of a watch.
    async fn begin(&self, kind: &Kind, initial: Option<bool>, wanted: u64) -> Result<Begin, Status> {
        let table = kind.table();
        if initial == Some(true) || initial.is_none() && wanted == 0 {
            self.log.reached(table, Some(wanted)).await?;
            return Ok(Begin::Initial(self.log.head(table).await?));
        }
        Ok(match wanted {
            0 => Begin::At(self.log.number(table).await?),
            wanted => self.log.seen(table, wanted).await?.map_or(Begin::Expired(LOST), Begin::At),
        })
    }
}

/// The events that are sent for changes. Clients do not expect a deletion before the bookmark that ends the initial events, and kube's
/// watcher ignores it, so deletions come after that bookmark. All other events are repeated there, because clients know objects by their
/// names: a new object must not disappear with a deleted one of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventFilter {
    All,
    ButDeletions,
}

/// The task of one watch.
struct Follower {
    shared: Arc<HubState>,
    kind: Kind,
    user: String,
    query: Query,
    reach: Reach,
    cost: Cost,
    limits: Limits,
    renderer: Renderer,
    /// The client wants the columns of a table.
    has_columns: bool,
    bookmarks: bool,
    /// A bookmark ends the initial events.
    ends_initial: bool,
    /// A deletion that follows the initial events was withheld until after that bookmark.
    withheld: bool,
    deadline: Instant,
    sender: mpsc::Sender<Bytes>,
}

impl Follower {
    async fn run(mut self, begin: Begin, place: RequestSlot, standing: WatchRightCheck) {
        let end = match self.follow(begin, place, standing).await {
            Ok(()) => EndReason::Time,
            Err(end) => end,
        };
        let reason = match end {
            EndReason::Time | EndReason::Gone => return,
            EndReason::Slow => "slow",
            EndReason::Told(status) => {
                let line = line(EventType::Error, &status.json());
                let _ = self.send(EventType::Error, line).await;
                if status.reason == Reason::Expired { "expired" } else { "refused" }
            }
        };
        tracing::debug!(kind = self.kind.kind(), reason, "A watch was ended");
        self.shared.metrics.watch_ended(reason);
    }

    async fn follow(&mut self, begin: Begin, place: RequestSlot, standing: WatchRightCheck) -> Result<(), EndReason> {
        let share = read::turn(&self.user, self.cost).await;
        let from = match begin {
            Begin::Expired(why) => return Err(Status::expired(why).into()),
            Begin::At(position) => position,
            Begin::Initial(position) => {
                self.initial(position).await?;
                position
            }
        };
        let selection = Selection::new(self.query.clone(), self.reach);
        let told = if self.ends_initial { EventFilter::ButDeletions } else { EventFilter::All };
        // Catch up on most changes before the reader keeps anything for this watcher.
        let caught_up = self.catch_up(&selection, from, None, told).await?;
        // Joining takes until the reader next looks at the log, and a user has few shares.
        drop(share);
        let JoinReply { watcher, at } = self.join(selection.clone(), caught_up).await?;
        // End the watcher's queue on every path.
        let _ends = QueueGuard(watcher.clone());
        let share = read::turn(&self.user, self.cost).await;
        self.learn(&watcher.selector).await?;
        self.catch_up(&selection, caught_up, Some(at), told).await?;
        if self.ends_initial {
            // A client that resumes at this bookmark is sent the deletions, too.
            let ends = if self.withheld { from } else { at };
            let bookmark = self.renderer.bookmark(ends.version(), true);
            self.send(EventType::Bookmark, line(EventType::Bookmark, &bookmark)).await?;
        }
        if self.withheld {
            // The reader sends no entries from before the position where this watcher joined it.
            self.catch_up(&selection, from, Some(at.max(caught_up)), EventFilter::All).await?;
        }
        // This position is after everything that this watcher can have read. The reader's memory has not reached it yet.
        watcher.queue.awaits(self.shared.log.number(self.kind.table()).await?);
        watcher.queue.limit(self.shared.limits.bytes);
        drop((share, place));
        let _standing = self.stands(watcher.clone(), standing);
        self.live(&watcher).await
    }

    /// Sends the initial events, except objects that changed after the position. These are sent afterwards: a client that resumes at the
    /// version of an initial event must not miss a change of an object that was read before that event.
    async fn initial(&mut self, position: Position) -> Result<(), EndReason> {
        let shared = self.shared.clone();
        let kind = self.kind;
        let refused = |error| refused(error, resource(&kind).as_resource());
        let asked =
            shared.log.reads.ask_about(&kind, &self.query, self.limits).map_err(|error| refused(error.into()))?;
        let mut reader = asked.reader(&self.renderer.wanted(), None).map_err(|error| refused(error.into()))?;
        let mut changed = HashSet::new();
        let mut at = position;
        loop {
            let rows = reader.next().await.map_err(refused)?;
            if rows.is_empty() {
                return Ok(());
            }
            let is_whole = shared.log.is_whole(kind.table()).await?;
            loop {
                let entries = shared.log.changes(kind.table(), at, shared.limits.batch).await?;
                let Some(last) = entries.last() else { break };
                at = last.position;
                changed.extend(entries.into_iter().map(|entry| entry.uid));
            }
            for row in rows.into_iter().filter(|row| !changed.contains(row.uid())) {
                // An object from a file has no version at which a client could resume. Behind a late replica, no object has such a version.
                let version = (!is_whole || version(&row) == 0).then(|| position.version());
                let object = self.renderer.of_event(&row, version, !self.has_columns);
                self.send(EventType::Added, line(EventType::Added, &object)).await?;
            }
        }
    }

    /// Sends the changes after one position up to another; without the latter, until few are left. Returns the position that it has
    /// reached.
    async fn catch_up(
        &mut self,
        selection: &Selection,
        from: Position,
        to: Option<Position>,
        told: EventFilter,
    ) -> Result<Position, EndReason> {
        let shared = self.shared.clone();
        let table = self.kind.table();
        let places = self.renderer.wanted().places;
        let mut at = from;
        let mut skipped = SkippedObjects::default();
        while to.is_none_or(|to| at < to) {
            let mut changes = shared.log.changes(table, at, shared.limits.batch).await?;
            if to.is_none() && changes.len() < shared.limits.batch {
                break;
            }
            changes.retain(|change| to.is_none_or(|to| change.position <= to));
            let Some(last) = changes.last().map(|change| change.position) else {
                self.knows(at).await?;
                break;
            };
            if changes.iter().any(|change| change.what == ChangeKind::Reset) {
                return Err(Status::expired(BEGINS_ANEW).into());
            }
            changes.retain(|change| selection.holds(change));
            let held = entries(changes);
            let uids: BTreeSet<&str> = held.iter().map(|entry| &*entry.change.uid).collect();
            let uids: Vec<&str> = uids.into_iter().collect();
            let question = Question { rest: &selection.rest, uids: uids.clone() };
            let questions = if selection.is_by_state() || uids.is_empty() { vec![] } else { vec![question] };
            let found = find((&shared.log.reads, &self.kind), self.limits, &questions, &uids, &places).await?;
            self.knows(at).await?;
            for entry in held {
                let row = found.rows.get(&entry.change.uid).cloned();
                let entry = skipped.complete(entry, row.as_deref());
                let matches = is_selected(selection, row.as_deref(), found.selected.first());
                let seen = EntryFacts { entry: &entry, row: row.as_deref(), matches, had: false, was_sent: false };
                let Some(sent) = selection.sent(seen, false) else { continue };
                match (told, sent.event) {
                    (EventFilter::ButDeletions, EventType::Deleted) => self.withheld = true,
                    _ => self.event(sent, &SettledChange::new(entry, row)).await?,
                }
            }
            at = last;
        }
        Ok(at)
    }

    /// Ends the watch if the entries read after a position may be incomplete.
    async fn knows(&self, position: Position) -> Result<(), EndReason> {
        match self.shared.log.knows(self.kind.table(), position).await? {
            true => Ok(()),
            false => Err(Status::expired(LOST).into()),
        }
    }

    /// Joins the watchers of the kind.
    async fn join(&self, selection: Selection, from: Position) -> Result<JoinReply, EndReason> {
        let (joined, joining) = oneshot::channel();
        let places = self.renderer.wanted().places;
        let bytes = JOINING * self.shared.limits.bytes;
        let join = Join { selection, from, places, bytes, joined };
        self.shared.join(&self.kind, self.limits, join);
        joining.await.map_err(|_| Status::unavailable("the log of changes cannot be read at present").into())
    }

    /// Reads which objects are selected, unless another watcher of the selector has already done so.
    async fn learn(&self, selector: &Selector) -> Result<(), EndReason> {
        if selector.selection.is_by_state() {
            return Ok(());
        }
        let refused = |error| refused(error, resource(&self.kind).as_resource());
        let learn = async || {
            let query = selector.selection.query();
            let asked = self
                .shared
                .log
                .reads
                .ask_about(&self.kind, &query, self.limits)
                .map_err(|error| refused(error.into()))?;
            let mut reader = asked.reader(&RequestedParts::default(), None).map_err(|error| refused(error.into()))?;
            let mut learning = SelectionBuilder::default();
            loop {
                let rows = reader.next().await.map_err(refused)?;
                if rows.is_empty() {
                    selector.learn(learning);
                    return Ok::<_, Status>(());
                }
                if rows.iter().map(|row| learning.add(row.uid())).max() > Some(MOST_MATCHED) {
                    let message = format!(
                        "more than {MOST_MATCHED} objects are selected, and a watch remembers no more: select fewer, or watch without selectors"
                    );
                    return Err(Status::bad_request(message));
                }
            }
        };
        Ok(selector.learned.get_or_try_init(learn).await.map(drop)?)
    }

    /// Checks repeatedly that the caller may watch.
    fn stands(&self, watcher: Arc<Watcher>, standing: WatchRightCheck) -> AbortOnDropHandle<()> {
        let pause = self.shared.limits.rights;
        let checking = async move {
            let mut unanswered = 0;
            loop {
                tokio::time::sleep(pause).await;
                match standing().await {
                    Ok(()) => unanswered = 0,
                    // The API server may be back at the next check. Without an answer, watching is not allowed for long.
                    Err(status) if is_unanswered(&status) && unanswered == 0 => unanswered += 1,
                    Err(status) => return watcher.queue.end(status.into()),
                }
            }
        };
        AbortOnDropHandle::new(tokio::spawn(checking.in_current_span()))
    }

    /// Sends live changes until the time is over.
    async fn live(&mut self, watcher: &Watcher) -> Result<(), EndReason> {
        let pause = self.shared.limits.bookmarks;
        let mut bookmarks = tokio::time::interval_at(Instant::now() + pause, pause);
        loop {
            tokio::select! {
                biased;
                () = tokio::time::sleep_until(self.deadline) => {
                    return self.bookmark(watcher).await;
                }
                next = watcher.queue.next() => match next {
                    QueueItem::Event(sent, settled) => {
                        self.event(sent, &settled).await?;
                        let at = settled.entry.change.at;
                        self.shared.metrics.watch_lag(&self.kind.plural(), Micros::now().0.saturating_sub(at.0));
                    }
                    // All rows that the reader has looked at so far are committed by now.
                    QueueItem::Reached => watcher.is_certain_from(self.shared.log.number(self.kind.table()).await?),
                    QueueItem::End(end) => return Err(end),
                },
                _ = bookmarks.tick() => self.bookmark(watcher).await?,
                () = self.sender.closed() => return Err(EndReason::Gone),
            }
        }
    }

    /// Sends a bookmark, if the client wants them and nothing waits for it.
    async fn bookmark(&mut self, watcher: &Watcher) -> Result<(), EndReason> {
        let Some(position) = watcher.queue.idle_at().filter(|_| self.bookmarks) else { return Ok(()) };
        let bookmark = self.renderer.bookmark(position.version(), false);
        self.send(EventType::Bookmark, line(EventType::Bookmark, &bookmark)).await
    }

    /// Sends an event.
    async fn event(&mut self, SentEvent { event, bare }: SentEvent, settled: &SettledChange) -> Result<(), EndReason> {
        self.renderer.refresh();
        let SettledChange { entry, row, version, says_other } = settled;
        let columns = !self.has_columns;
        let object = match row {
            Some(row) if !bare => self.renderer.of_event(row, says_other.then_some(*version), columns),
            _ => {
                let namespace = &*entry.change.namespace;
                let name = &*entry.change.name;
                let uid = &*entry.change.uid;
                self.renderer.bare(&ObjectFacts { namespace, name, uid, version: *version }, columns)
            }
        };
        self.send(event, line(event, &object)).await
    }

    async fn send(&mut self, event: EventType, line: Bytes) -> Result<(), EndReason> {
        self.has_columns |= matches!(event, EventType::Added | EventType::Modified | EventType::Deleted);
        self.sender.send(line).await.map_err(|_| EndReason::Gone)?;
        self.shared.metrics.watch_event(&self.kind.plural(), event.as_str());
        Ok(())
    }
}

/// Returns true if the API server gave no answer.
fn is_unanswered(status: &Status) -> bool {
    matches!(status.reason, Reason::ServiceUnavailable | Reason::TooManyRequests | Reason::InternalError)
}

/// Ends the queue of a watcher that leaves.
struct QueueGuard(Arc<Watcher>);

impl Drop for QueueGuard {
    fn drop(&mut self) {
        self.0.queue.end(EndReason::Gone);
    }
}

/// Returns the text of an event as it is sent.
fn line(event: EventType, object: &str) -> Bytes {
    Bytes::from(format!("{{\"type\":\"{}\",\"object\":{object}}}\n", event.as_str()))
}
