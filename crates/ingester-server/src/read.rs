//! Reading objects: one, a page, all of them.
//!
//! May use: ingester-core, ingester-sql, ingester-store, status, request, answer, body.
//!
//! Lists share a budget of memory, see `budget.rs`, with a share for each user. A page holds the memory that it may need while it is read,
//! and its text until it is sent; a whole list holds the same from its beginning to its end. A list ends with its client. The deletion of a
//! collection holds a share, too, because it searches as lists do.

mod budget;
mod history;
mod position;
#[cfg(test)]
mod tests;

use crate::answer::{ListTrailer, Renderer};
use crate::body::WaitMark;
use crate::request::accept::Form;
use crate::request::parameters::Parameters;
use crate::status::{Reason, Resource, Status};
use axum::body::Body;
pub(crate) use budget::Cost;
pub(crate) use budget::Share;
use budget::{Budget, LISTS, PAGE};
use bytes::Bytes;
use futures::{StreamExt as _, stream};
pub(crate) use history::{HistoryOf, history, version};
use http::{HeaderValue, Response, StatusCode, header};
use ingester_core::Kind;
use ingester_sql::query::{Order, Query};
use ingester_store::query::{AskError, Limits, RequestedParts, TimedQuery};
use ingester_store::{ErrorClass, Store, StoreError};
pub use position::Log;
use position::{ListTime, of_list, of_moment};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument as _;

/// A statement of a list that reads whole tables has a time limit that is shorter by this factor.
const SHORTER: u32 = 3;

/// The most rows that the offset of the reference system's pagination may skip. Each of them is read.
const OFFSET: u64 = 100_000;

/// Without a log of changes, a watch stays silent for this time before it tells the client to list again.
const WATCH: Duration = Duration::from_secs(30);

/// The reason why there are no watches.
pub(crate) const WITHOUT_LOG: &str =
    "the database has no log of changes (`changes.enabled` of `ingester run` switches it on)";

/// Answers with the object of this name: the newest of several.
///
/// # Errors
/// 404 if there is no such object; otherwise the [`Status`] of the failure.
pub(crate) async fn get(
    store: &Store,
    kind: &Kind,
    parameters: Parameters,
    name: &str,
    form: Form,
    limits: Limits,
) -> Result<Response<Body>, Status> {
    let resource = resource(kind);
    let Parameters { mut query, include, skip, .. } = parameters;
    query.names = vec![name.to_owned()];
    // The same order as in `ingester get`, and as in writes when they find their row.
    query.order = ["create_time", "res_version"].map(|field| Order { field: field.into(), descending: true }).into();
    let renderer = Renderer::new(*kind, form, include, query.states, skip);
    let asked = store.ask_when(kind, &query, limits).map_err(|error| refused(error.into(), resource.as_resource()))?;
    let page = asked.page(&renderer.wanted(), 1, None).await.map_err(|error| refused(error, resource.as_resource()))?;
    match page.rows.first() {
        Some(row) => Ok(json(Body::from(renderer.single(row)))),
        None => Err(Status::not_found(resource.as_resource(), name)),
    }
}

/// Returns the cost of a list for the database. Call this before former objects are left out, because the caller did not choose that.
///
/// # Errors
/// 400 if the query cannot be asked.
pub(crate) fn cost(store: &Store, kind: &Kind, parameters: &Parameters) -> Result<Cost, Status> {
    let Parameters { query, count, offset, .. } = parameters;
    let asked = store.ask_when(kind, query, store.limits());
    let asked = asked.map_err(|error| refused(error.into(), resource(kind).as_resource()))?;
    Ok(if asked.is_scan() || *count || *offset > 0 { Cost::Whole } else { Cost::Keyed })
}

/// Returns the limits of the statements of a list with this cost.
pub(crate) fn limits_of(cost: Cost, limits: Limits) -> Limits {
    match cost {
        Cost::Keyed => limits,
        Cost::Whole => limits.with_time(limits.time / SHORTER),
    }
}

/// Waits until work of this user may begin that reads like a list of this cost.
pub(crate) async fn turn(user: &str, cost: Cost) -> Share {
    LISTS.reading(user, cost).await
}

/// Answers with a list for this user: one page if a limit is given, otherwise all of it. With a log, the list's version is a position in
/// the log.
///
/// # Errors
/// 504 for a version that does not exist yet, 400 for a broken token; otherwise the [`Status`] of a failure before the first row was sent.
/// A later failure breaks the answer off, so that clients do not take a part for the whole.
pub(crate) async fn list(
    (user, cost): (&str, Cost),
    (store, log): (&Arc<Store>, Option<&Log>),
    kind: &Kind,
    mut parameters: Parameters,
    form: Form,
    limits: Limits,
) -> Result<Response<Body>, Status> {
    let token = parameters.token.take();
    let when;
    (when, parameters.token) = match parameters.query.at {
        Some(at) => of_moment(at.by(store.now()), token),
        None => of_list(log, kind, token, parameters.version).await?,
    };
    if let ListTime::At(at) = when {
        parameters.query.at = Some(at.into());
    }
    list_within((&LISTS, user, cost), (store, when), kind, parameters, form, limits).await
}

async fn list_within(
    (budget, user, cost): (&'static Budget, &str, Cost),
    (store, when): (&Arc<Store>, ListTime),
    kind: &Kind,
    parameters: Parameters,
    form: Form,
    limits: Limits,
) -> Result<Response<Body>, Status> {
    let resource = resource(kind);
    let limits = limits_of(cost, limits.bytes(limits.bytes.min(PAGE)));
    let Parameters { query, limit, most, token, count, include, offset, skip, .. } = parameters;
    let mut renderer = Renderer::new(*kind, form, include, query.states, skip);
    renderer.at(when.version());
    let asked = store.ask_when(kind, &query, limits).map_err(|error| refused(error.into(), resource.as_resource()))?;
    let share = budget.reading(user, cost).await;
    let (token, before) = match (token, most) {
        (Some(token), Some(_)) => behind(token),
        (token, _) => (token, 0),
    };
    let token = match token {
        None if offset > 0 => {
            match skipped(&asked, offset).await.map_err(|error| refused(error, resource.as_resource()))? {
                Some(token) => Some(token),
                None => return Ok(json(Body::from(renderer.begin() + &renderer.end(&ListTrailer::default())))),
            }
        }
        token => token,
    };
    let left = most.map(|most| most.saturating_sub(before));
    if left == Some(0) {
        return Ok(json(Body::from(renderer.begin() + &renderer.end(&ListTrailer::default()))));
    }
    let Some(limit) = limit.into_iter().chain(left).min() else {
        return all(store.clone(), *kind, query, renderer, token, limits, share).await;
    };
    let page = asked
        .page(&renderer.wanted(), limit, token.as_deref())
        .await
        .map_err(|error| refused(error, resource.as_resource()))?;
    // Clients continue while they get a token. The client did not request rows beyond the wanted number.
    let is_whole = left.is_some_and(|left| page.rows.len() >= left);
    let sent = before + page.rows.len();
    let next = page.next.filter(|_| !is_whole);
    let next = next.map(|next| if most.is_some() { format!("{sent}.{next}") } else { next });
    let next = next.map(|token| when.in_token(&token));
    let mut rest = ListTrailer { next, ..ListTrailer::default() };
    if count && token.is_none() && !is_whole {
        let all = asked.count().await.map_err(|error| refused(error, resource.as_resource()))?;
        let wanted = most.map_or(all, |most| all.min(most as u64));
        rest.remaining = Some(wanted.saturating_sub(page.rows.len() as u64));
    }
    let mut text = renderer.begin();
    // Each row is dropped once it is written.
    for (place, row) in page.rows.into_iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        renderer.write(&row, &mut text);
        rest.see(&row);
    }
    text.push_str(&renderer.end(&rest));
    Ok(json(Body::from(share.hold(text))))
}

/// Splits the token of a page of a limited answer into the token and the number of objects before it: `500.TOKEN`.
fn behind(token: String) -> (Option<String>, usize) {
    match token.split_once('.').and_then(|(before, token)| Some((before.parse().ok()?, token))) {
        Some((before, token)) => (Some(token.to_owned()), before),
        None => (Some(token), 0),
    }
}

/// Returns the token of the rows after the first ones; `None` at the end.
async fn skipped(asked: &TimedQuery<'_>, offset: u64) -> Result<Option<String>, AskError> {
    let most = usize::try_from(offset.min(OFFSET)).unwrap_or(usize::MAX);
    let mut left = most;
    let mut token: Option<String> = None;
    while left > 0 {
        let page = asked.page(&RequestedParts::default(), left, token.as_deref()).await?;
        left = left.saturating_sub(page.rows.len());
        match page.next {
            Some(next) => token = Some(next),
            None => return Ok(None),
        }
    }
    Ok(token)
}

/// A part of a list's text.
struct Portion {
    text: Bytes,
    /// The list's share from now on, which comes with the last part.
    share: Option<Share>,
}

/// Streams all rows as they are read: one portion is in memory, another on its way. Dropping the future or the body ends the reading.
async fn all(
    store: Arc<Store>,
    kind: Kind,
    query: Query,
    renderer: Renderer,
    token: Option<String>,
    limits: Limits,
    mut share: Share,
) -> Result<Response<Body>, Status> {
    let (sender, mut portions) = mpsc::channel::<Result<Portion, Status>>(1);
    let reading = async move {
        let resource = resource(&kind);
        let read = async {
            let asked = store.ask_when(&kind, &query, limits)?;
            let mut reader = asked.reader(&renderer.wanted(), token.as_deref())?;
            let mut text = renderer.begin();
            let mut rest = ListTrailer::default();
            let mut first = true;
            // One text may be on its way while another one waits.
            let mut unsent = [0, 0];
            loop {
                let rows = reader.next().await?;
                if rows.is_empty() {
                    text.push_str(&renderer.end(&rest));
                    share.shrink(text.len() + unsent.iter().sum::<usize>());
                    let _ = sender.send(Ok(Portion { text: text.into(), share: Some(share) })).await;
                    return Ok(());
                }
                for row in rows {
                    if !std::mem::take(&mut first) {
                        text.push(',');
                    }
                    renderer.write(&row, &mut text);
                    rest.see(&row);
                }
                let whole = std::mem::take(&mut text).into_boxed_str().into_boxed_bytes();
                unsent = [unsent[1], whole.len()];
                // Sending fails only if the receiver is gone.
                if sender.send(Ok(Portion { text: whole.into(), share: None })).await.is_err() {
                    return Ok(());
                }
            }
        };
        if let Err(error) = read.await {
            let _ = sender.send(Err(refused(error, resource.as_resource()))).await;
        }
    };
    let reading = AbortOnDropHandle::new(tokio::spawn(reading.in_current_span()));
    let first = match portions.recv().await {
        Some(first) => first?,
        None => return Err(Status::internal("the list ended before it began")),
    };
    // Fused, because the compressor polls once more after the end.
    let begin = (Some(Ok(first)), portions, None, reading);
    let all = stream::unfold(begin, |(first, mut portions, share, reading)| async {
        let portion = match first {
            Some(first) => first,
            None => portions.recv().await?,
        };
        let (text, share) = match portion {
            Ok(Portion { text, share }) => (Ok(text), share),
            Err(status) => {
                tracing::warn!(error = %status, "A list ended early: its connection is closed, so that the client notices");
                (Err(std::io::Error::other(status)), share)
            }
        };
        Some((text, (None, portions, share, reading)))
    });
    Ok(json(Body::from_stream(all.fuse())))
}

/// Answers a watch without a log of changes: silence for a while, and then an error that its version is too old. So the client lists again
/// and sees the changes, with no more than one request in this time.
pub(crate) fn watch(time: Option<Duration>) -> Response<Body> {
    let pause = time.unwrap_or(WATCH).min(WATCH);
    let event = async move {
        tokio::time::sleep(pause).await;
        let status = Status::expired(format!("{WITHOUT_LOG}: list again"));
        Ok::<_, std::io::Error>(Bytes::from(format!("{{\"type\":\"ERROR\",\"object\":{}}}\n", status.json())))
    };
    let mut response = json(Body::from_stream(stream::once(event).fuse()));
    response.extensions_mut().insert(WaitMark);
    response
}

/// Returns an answer with this body.
fn json(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

/// A kind as a status names it.
pub(crate) struct OwnedResource {
    group: &'static str,
    plural: std::borrow::Cow<'static, str>,
}

/// The kind as a status names it.
pub(crate) fn resource(kind: &Kind) -> OwnedResource {
    OwnedResource { group: kind.group(), plural: kind.plural() }
}

impl OwnedResource {
    /// The same, borrowed.
    pub(crate) fn as_resource(&self) -> Resource<'_> {
        Resource { group: self.group, plural: &self.plural }
    }
}

/// Returns the status for a query without an answer.
pub(crate) fn refused(error: AskError, resource: Resource<'_>) -> Status {
    match error {
        AskError::Query(error) => Status::bad_request(error.for_request()),
        AskError::Token(error) => Status::bad_request(error.to_string()),
        AskError::TooSlow(time, _) => Status::timeout(format!(
            "the database took longer than {time:?} and was told to stop: ask for less, or select by fields that have a column"
        )),
        AskError::Store(error) => of_store(&error),
        other => Status::internal(other),
    }
    .about(resource, "")
}

/// Returns the status that a client gets for a failure of the database.
pub(crate) fn of_store(error: &StoreError) -> Status {
    tracing::warn!(%error, "The database failed");
    match error.class() {
        ErrorClass::Transient => Status::unavailable("the database does not answer at present"),
        _ if error.is_of_missing_table() => Status::unavailable(
            "the database lacks a table of this kind: an operator makes it with `ingester schema apply`, or restores it from a backup",
        ),
        // The message is for the server's operators, and is in the log.
        _ => Status::failure(
            StatusCode::INTERNAL_SERVER_ERROR,
            Reason::InternalError,
            "Internal error occurred: the database failed; the server's log says how",
        ),
    }
}
