//! Writes. Each is its own task: once begun, it runs to its end, whatever happens to its connection or to the time for an
//! answer, and so does its line in the access log. It keeps its user's place until then.

use super::{Inner, Sources};
use crate::access::AccessLog;
use crate::caller::{Attributes, Caller, Verb};
use crate::identity::Bearer;
use crate::places::Place;
use crate::request::parameters::Parameters;
use crate::restore::rights::{self, Acting, RestoreRights};
use crate::status::Status;
use crate::{read, restore, write};
use bytes::Bytes;
use http::StatusCode;
use ingester_core::Kind;
use ingester_sql::query::Query;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

/// A request that changes something.
pub(super) struct Write {
    pub(super) verb: Verb,
    pub(super) kind: Kind,
    pub(super) namespace: String,
    pub(super) name: String,
    /// What a collection's deletion selects.
    pub(super) query: Query,
    pub(super) options: write::Options,
    pub(super) caller: Caller,
    /// The token by which the caller was authenticated.
    pub(super) token: Option<Bearer>,
    /// Whether they may write the status of a restored object; otherwise why not.
    pub(super) status: Result<(), String>,
    /// The former version that is restored, with the uid of its object.
    pub(super) version: Option<(String, String)>,
    /// The body's type.
    pub(super) content: Option<String>,
    pub(super) body: Bytes,
}

/// The writes under way.
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
    /// Those of the write; 503 if the server ends before it.
    pub(super) async fn run(
        &self,
        log: &AccessLog,
        place: Place,
        work: impl Future<Output = Result<write::Answer, Status>> + Send + 'static,
    ) -> Result<write::Answer, Status> {
        log.work_begins();
        let (log, end) = (log.clone(), self.end.clone());
        let write = async move {
            let answer = end.run_until_cancelled(work).await?;
            log.work_ended(answer.as_ref().map_or_else(|status| status.code, |_| StatusCode::OK));
            drop(place);
            Some(answer)
        };
        match self.tasks.spawn(write.in_current_span()).await {
            Ok(Some(answer)) => answer,
            Ok(None) => Err(Status::unavailable("the server ends, and has not finished this")),
            // The panic's hook has logged it.
            Err(_) => Err(Status::internal("the request could not be handled, see the server's log")),
        }
    }

    /// Waits for all of them, at most this long. Then unfinished writes are given up, and their lines say so.
    pub(super) async fn finish(&self, patience: Duration) {
        self.tasks.close();
        if tokio::time::timeout(patience, self.tasks.wait()).await.is_err() {
            tracing::warn!(writes = self.tasks.len(), "Writes are not finished before the process ends");
            self.end.cancel();
            self.tasks.wait().await;
        }
    }
}

impl Inner {
    /// Begins a write, and waits for its end.
    ///
    /// # Errors
    /// Those of [`Writes::run`].
    pub(super) async fn begin(
        self: &Arc<Self>,
        write: Write,
        place: Place,
        log: &AccessLog,
    ) -> Result<write::Answer, Status> {
        // If its client has gone, a deletion that still waits for its turn is not begun.
        let turn = match write.verb {
            // It counts the objects that it selects, so it costs as much as such a list.
            Verb::DeleteCollection => Some(read::turn(&write.caller.user, read::Cost::Whole).await),
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

    /// Checks what a restore does besides creating: it shows the stored object, and marks its row as deleted; a former version of an evicted object
    /// goes back into its row. Returns whether the caller may also write the status; else why not.
    pub(super) async fn authorize_restore(
        &self,
        caller: &Caller,
        attributes: &Attributes,
        name: &str,
        parameters: Option<&Parameters>,
    ) -> Result<Result<(), String>, Status> {
        let identity = &self.sources.identity;
        let is_former = parameters.is_some_and(|given| given.of_version.is_some() || given.query.at.is_some());
        for verb in [Verb::Get, Verb::Delete].into_iter().chain(is_former.then_some(Verb::Update)) {
            identity.authorize(caller, &Attributes { verb, name: name.to_owned(), ..attributes.clone() }).await?;
        }
        let (subresource, name) = ("status".to_owned(), name.to_owned());
        identity.also(caller, &Attributes { verb: Verb::Patch, subresource, name, ..attributes.clone() }).await
    }

    /// Carries out the change of a request.
    ///
    /// # Errors
    /// The [`Status`] of the failure; 405 or 503 if this server changes nothing.
    async fn write(&self, request: &Write) -> Result<write::Answer, Status> {
        let Write { verb, kind, namespace, name, query, options, content, body, .. } = request;
        let target = write::Target { kind, namespace, name };
        if *verb == Verb::Create {
            return self.restore(request, target).await;
        }
        let Some(store) = &self.sources.writes else { return Err(Status::method_not_allowed()) };
        let content = content.as_deref();
        match verb {
            Verb::Update => write::put(store, target, options, content, body).await,
            Verb::Patch => write::patch(store, target, options, content, body).await,
            Verb::Delete => write::delete(store, target, options, content, body).await,
            Verb::DeleteCollection => write::delete_collection(store, kind, query, options, content, body).await,
            Verb::Create | Verb::Get | Verb::List | Verb::Watch => Err(Status::method_not_allowed()),
        }
    }

    /// Restores an object as the caller, as far as `serve.restore` says so.
    async fn restore(&self, request: &Write, target: write::Target<'_>) -> Result<write::Answer, Status> {
        let Sources { writes, cluster, restores, identity, .. } = &self.sources;
        let Write { options, caller, token, status, version, .. } = request;
        if matches!(restores, RestoreRights::Off) {
            return Err(rights::off());
        }
        let (Some(store), Some(cluster)) = (writes, cluster) else {
            return Err(Status::unavailable("this server has no cluster to restore objects into"));
        };
        let asker = restore::Asker { user: &caller.user, status: status.as_ref().copied().map_err(String::as_str) };
        let version = version.as_ref().map(|(uid, text)| (&**uid, &**text));
        if let Some((_, text)) = version {
            // A version of an evicted object goes back into its row.
            options.take(options.effect("CreateOptions")?, text.len())?;
        }
        let acting = restores.acting(cluster, identity, caller, token.as_ref()).await;
        let is_impersonating = acting.as_ref().is_ok_and(Acting::is_impersonating);
        let client = acting.map(|acting| acting.client);
        let answer = restore::post(store, client, target, (options, asker), version).await;
        answer.map_err(|status| Acting::told(is_impersonating, caller, status))
    }
}
