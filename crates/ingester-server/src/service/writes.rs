//! Runs writes. Each write is its own task: once begun, it runs to its end, even if its connection closes or `serve.timeout` passes. Then it
//! writes its line in the access log, and gives its user's place back.

use super::stages::NarrowedRequest;
use super::{Inner, Sources, holding, of_text};
use crate::access::AccessLog;
use crate::body;
use crate::caller::Verb;
use crate::places::RequestSlot;
use crate::request::parameters::Parameters;
use crate::restore::rights::{self, ActingClient, RestoreRights};
use crate::status::Status;
use crate::{read, restore, write};
use axum::body::Body;
use bytes::Bytes;
use http::{Response, StatusCode};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

/// A request that changes something.
struct Write {
    request: NarrowedRequest,
    options: write::Options,
    /// The former version that is restored, with the uid of its object.
    version: Option<(String, String)>,
    body: Bytes,
}

/// The writes in progress.
#[derive(Default)]
pub(super) struct Writes {
    tasks: TaskTracker,
    /// Cancelled when unfinished writes are given up.
    end: CancellationToken,
}

impl Writes {
    /// Begins a write, and waits for its end. It continues if this future is dropped.
    ///
    /// # Errors
    /// The errors of the write; 503 if the server ends before it.
    pub(super) async fn run(
        &self,
        log: &AccessLog,
        place: RequestSlot,
        work: impl Future<Output = Result<write::WriteResponse, Status>> + Send + 'static,
    ) -> Result<write::WriteResponse, Status> {
        log.work_begins();
        let log = log.clone();
        let end = self.end.clone();
        let write = async move {
            let answer = end.run_until_cancelled(work).await?;
            log.work_ended(answer.as_ref().map_or_else(|status| status.code, |_| StatusCode::OK));
            drop(place);
            Some(answer)
        };
        match self.tasks.spawn(write.in_current_span()).await {
            Ok(Some(answer)) => answer,
            Ok(None) => Err(Status::unavailable("the server is shutting down and has not finished this request")),
            // The panic's hook has logged it.
            Err(_) => Err(Status::internal("the request could not be handled, see the server's log")),
        }
    }

    /// Waits for all writes, at most this long. Then unfinished writes are given up, and their log lines say so.
    pub(super) async fn finish(&self, patience: Duration) {
        self.tasks.close();
        if tokio::time::timeout(patience, self.tasks.wait()).await.is_err() {
            tracing::warn!(writes = self.tasks.len(), "The process ends before it has finished these writes");
            self.end.cancel();
            self.tasks.wait().await;
        }
    }
}

impl Inner {
    /// Changes or restores objects.
    pub(super) async fn change(
        self: &Arc<Self>,
        mut request: NarrowedRequest,
        body: Body,
        log: &AccessLog,
        warnings: &mut Vec<String>,
    ) -> Result<Response<Body>, Status> {
        let verb = request.attributes.verb;
        if verb == Verb::DeleteCollection {
            refuse_partial_deletion(&request.parameters)?;
        }
        // A restore has no body.
        let body = if verb == Verb::Create { Bytes::new() } else { body::read(body).await? };
        let version = match request.is_past {
            true => Some(self.version(&request).await?),
            false => None,
        };
        let volume = Some(Arc::new(self.sources.volumes.for_user(&request.caller.user)));
        let Parameters { dry_run, query, .. } = &mut request.parameters;
        let dry_run = std::mem::take(dry_run);
        // For a collection, uids act as selectors.
        let uid = if verb == Verb::DeleteCollection { None } else { query.uids.pop() };
        let options = write::Options { dry_run, uid, former: request.former, log: Some(log.clone()), volume };
        let place = request.place.clone();
        let answer = self.begin(Write { request, options, version, body }, place.clone(), log).await?;
        warnings.extend(answer.warnings);
        Ok(holding(of_text(answer.body), place))
    }

    /// Begins a write, and waits for its end.
    ///
    /// # Errors
    /// The errors of [`Writes::run`].
    async fn begin(
        self: &Arc<Self>,
        write: Write,
        place: RequestSlot,
        log: &AccessLog,
    ) -> Result<write::WriteResponse, Status> {
        // If its client has gone, a deletion that still waits for its turn does not begin.
        let turn = match write.request.attributes.verb {
            // It counts the objects that it selects, so it costs as much as such a list.
            Verb::DeleteCollection => Some(read::turn(&write.request.caller.user, read::Cost::Whole).await),
            _ => None,
        };
        let inner = self.clone();
        let work = async move {
            let answer = inner.write(&write).await;
            drop(turn);
            answer
        };
        self.writes.run(log, place, work).await
    }

    /// Carries out the change of a request.
    ///
    /// # Errors
    /// The [`Status`] of the failure; 405 or 503 if this server changes nothing.
    async fn write(&self, write: &Write) -> Result<write::WriteResponse, Status> {
        let Write { request, options, body, .. } = write;
        let verb = request.attributes.verb;
        let target = request.target();
        if verb == Verb::Create {
            return self.restore(write).await;
        }
        let Some(store) = &self.sources.writes else { return Err(Status::method_not_allowed()) };
        let content = request.content_type.as_deref();
        match verb {
            Verb::Update => write::put(store, target, options, content, body).await,
            Verb::Patch => write::patch(store, target, options, content, body).await,
            Verb::Delete => write::delete(store, target, options, content, body).await,
            Verb::DeleteCollection => {
                write::delete_collection(store, request.kind, &request.parameters.query, options, content, body).await
            }
            Verb::Create | Verb::Get | Verb::List | Verb::Watch => Err(Status::method_not_allowed()),
        }
    }

    /// Restores an object as the caller, if `serve.restore` allows it.
    async fn restore(&self, write: &Write) -> Result<write::WriteResponse, Status> {
        let Sources { writes, cluster, restores, identity, .. } = &self.sources;
        let Write { request, options, version, .. } = write;
        let caller = &request.caller;
        if matches!(restores, RestoreRights::Off) {
            return Err(rights::off());
        }
        let (Some(store), Some(cluster)) = (writes, cluster) else {
            return Err(Status::unavailable("this server has no cluster to restore objects into"));
        };
        let status = request.may_write_status.as_ref().copied().map_err(String::as_str);
        let asker = restore::Asker { user: &caller.user, status };
        let version = version.as_ref().map(|(uid, text)| (&**uid, &**text));
        if let Some((_, text)) = version {
            // A version of an evicted object goes back into its row.
            options.take(options.effect("CreateOptions")?, text.len())?;
        }
        let acting = restores.acting(cluster, identity, caller, request.token.as_ref()).await;
        let is_impersonating = acting.as_ref().is_ok_and(ActingClient::is_impersonating);
        let client = acting.map(|acting| acting.client);
        let answer = restore::post(store, client, request.target(), (options, asker), version).await;
        answer.map_err(|status| ActingClient::told(is_impersonating, caller, status))
    }
}

/// Refuses a collection's deletion that asks for fewer objects than it would delete, which is all evicted objects that its selectors
/// choose.
fn refuse_partial_deletion(parameters: &Parameters) -> Result<(), Status> {
    let Parameters { query, limit, most, token, offset, .. } = parameters;
    let why = if !query.states.evicted {
        "only evicted objects can be deleted here, and `state` leaves them out"
    } else if limit.or(*most).is_some() || token.is_some() || *offset > 0 {
        "it deletes all objects that its selectors choose: a limit, also that of a saved query, and pages are for lists"
    } else {
        return Ok(());
    };
    Err(Status::bad_request(format!("the deletion of a collection: {why}")))
}
