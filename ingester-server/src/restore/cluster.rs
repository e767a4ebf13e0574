//! The API server, as restoring uses it.

use super::object::Owner;
use crate::status::{Cause, Details, Reason, Status};
use http::StatusCode;
use ingester_core::Kind;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams};
use kube::core::discovery::Scope;
use kube::discovery::pinned_kind;
use serde_json::{Value, json};
use std::time::Duration;

/// How long the API server may take for an answer.
const TIME: Duration = Duration::from_secs(30);

/// The field manager of created objects.
const CREATES: &str = "ingester-restore";

/// The field manager of a status that is written. Another one than that of the object, so that the managed fields say whether the
/// status was written: old API servers count a status that they leave out of a new object among its fields.
pub(super) const WRITES_STATUS: &str = "ingester-restore-status";

/// The objects of a kind in the cluster.
pub(super) struct Cluster {
    client: kube::Client,
    api: Api<DynamicObject>,
}

/// Whether an owner still exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ownership {
    /// It exists.
    There,
    /// It does not, for this reason, or it cannot be seen.
    Gone(&'static str),
}

impl Cluster {
    pub(super) fn new(client: kube::Client, kind: &Kind, namespace: &str) -> Self {
        let gvk = GroupVersionKind::gvk(kind.group(), kind.version(), kind.kind());
        let resource = ApiResource::from_gvk_with_plural(&gvk, &kind.plural());
        let api = if kind.namespaced() {
            Api::namespaced_with(client.clone(), namespace, &resource)
        } else {
            Api::all_with(client.clone(), &resource)
        };
        Cluster { client, api }
    }

    /// The object of this name.
    pub(super) async fn get(&self, name: &str) -> Result<Option<Value>, Status> {
        let found = in_time(self.api.get_opt(name)).await?.map_err(status)?;
        found.map(|object| serde_json::to_value(object).map_err(Status::internal)).transpose()
    }

    /// Creates an object; returns it as it was created.
    pub(super) async fn create(&self, object: Value, dry_run: bool) -> Result<Value, Status> {
        let object: DynamicObject = serde_json::from_value(object).map_err(Status::internal)?;
        let parameters = PostParams { dry_run, field_manager: Some(CREATES.to_owned()) };
        let created = in_time(self.api.create(&parameters, &object)).await?.map_err(status)?;
        serde_json::to_value(created).map_err(Status::internal)
    }

    /// Writes the status of an object; returns the object with it. `None` if the kind has no subresource for it.
    pub(super) async fn set_status(&self, name: &str, value: &Value) -> Result<Option<Value>, Status> {
        let patch = Patch::Merge(json!({ "status": value }));
        let parameters = PatchParams { field_manager: Some(WRITES_STATUS.to_owned()), ..PatchParams::default() };
        match in_time(self.api.patch_status(name, &parameters, &patch)).await? {
            Ok(object) => serde_json::to_value(object).map(Some).map_err(Status::internal),
            Err(kube::Error::Api(answer)) if answer.code == 404 => Ok(None),
            Err(error) => Err(status(error)),
        }
    }

    /// Whether an owner of an object in this namespace exists.
    ///
    /// # Errors
    /// If the API server does not answer.
    pub(super) async fn owner(&self, owner: &Owner, namespace: &str) -> Result<Ownership, Status> {
        if owner.name.is_empty() || owner.kind.is_empty() || owner.api_version.is_empty() {
            return Ok(Ownership::Gone("it cannot be read"));
        }
        let (group, version) = owner.api_version.rsplit_once('/').unwrap_or(("", &owner.api_version));
        let gvk = GroupVersionKind::gvk(group, version, &owner.kind);
        let (resource, capabilities) = match in_time(pinned_kind(&self.client, &gvk)).await? {
            Ok(found) => found,
            Err(kube::Error::Discovery(_)) => return Ok(Ownership::Gone("there is no such kind")),
            Err(error) => return gone(error),
        };
        let api: Api<DynamicObject> = match capabilities.scope {
            Scope::Namespaced => Api::namespaced_with(self.client.clone(), namespace, &resource),
            Scope::Cluster => Api::all_with(self.client.clone(), &resource),
        };
        match in_time(api.get_metadata(&owner.name)).await? {
            Ok(found) if found.metadata.uid.as_deref() == Some(&owner.uid) => Ok(Ownership::There),
            Ok(_) => Ok(Ownership::Gone("another object has its name")),
            Err(error) => gone(error),
        }
    }
}

fn gone(error: kube::Error) -> Result<Ownership, Status> {
    match &error {
        kube::Error::Api(answer) if answer.code == 404 => Ok(Ownership::Gone("it does not exist")),
        kube::Error::Api(answer) if answer.code == 403 => Ok(Ownership::Gone("it may not be read")),
        _ => Err(status(error)),
    }
}

async fn in_time<T>(asked: impl Future<Output = T>) -> Result<T, Status> {
    let answer = tokio::time::timeout(TIME, asked).await;
    answer.map_err(|_| Status::timeout(format!("the cluster's API server did not answer within {TIME:?}")))
}

/// The API server's own answer, unchanged; otherwise that it does not answer.
fn status(error: kube::Error) -> Status {
    let kube::Error::Api(answer) = error else {
        tracing::warn!(%error, "The API server does not answer");
        return Status::unavailable("the cluster's API server does not answer");
    };
    let code = StatusCode::from_u16(answer.code).unwrap_or(StatusCode::BAD_GATEWAY);
    let details = answer.details.clone().map(|details| {
        let cause = |cause: kube::core::response::StatusCause| Cause {
            reason: cause.reason,
            message: cause.message,
            field: cause.field,
        };
        let causes = details.causes.into_iter().map(cause).collect();
        let kube::core::response::StatusDetails { name, group, kind, uid, .. } = details;
        Box::new(Details { name, group, kind, uid, causes, retry_after_seconds: None })
    });
    let mut status = Status::failure(code, reason(&answer.reason, code), answer.message.clone());
    status.details = details;
    status
}

fn reason(name: &str, code: StatusCode) -> Reason {
    match (name, code.as_u16()) {
        ("AlreadyExists", _) => Reason::AlreadyExists,
        ("NotFound", _) | (_, 404) => Reason::NotFound,
        ("Conflict", _) | (_, 409) => Reason::Conflict,
        ("Invalid", _) | (_, 422) => Reason::Invalid,
        ("Forbidden", _) | (_, 403) => Reason::Forbidden,
        ("Unauthorized", _) | (_, 401) => Reason::Unauthorized,
        ("BadRequest", _) | (_, 400) => Reason::BadRequest,
        ("TooManyRequests", _) | (_, 429) => Reason::TooManyRequests,
        ("MethodNotAllowed", _) | (_, 405) => Reason::MethodNotAllowed,
        ("ServiceUnavailable", _) | (_, 503) => Reason::ServiceUnavailable,
        (_, 413) => Reason::RequestEntityTooLarge,
        (_, 504) => Reason::Timeout,
        _ => Reason::InternalError,
    }
}
