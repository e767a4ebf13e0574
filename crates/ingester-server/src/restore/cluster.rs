//! The requests of a restore to the API server.

use super::object::{ClusterObject, Owner};
use crate::status::{Cause, Details, Reason, Status};
use http::StatusCode;
use ingester_core::Kind;
use kube::Resource as _;
use kube::api::{Api, ApiResource, DynamicObject, GetParams, GroupVersionKind, Patch, PatchParams, PostParams};
use kube::core::Request;
use kube::core::discovery::Scope;
use kube::discovery::pinned_kind;
use serde::Serialize;
use serde_json::value::RawValue;
use std::time::Duration;

/// The time limit for an answer of the API server.
const TIME: Duration = Duration::from_secs(30);

/// The field manager of created objects.
const CREATES: &str = "ingester-restore";

/// The field manager that writes the status. It differs from the manager of the object, so that the managed fields show if the status was
/// written: old API servers count a status among a new object's fields even though they leave it out.
pub(super) const WRITES_STATUS: &str = "ingester-restore-status";

/// The objects of a kind in the cluster. They are sent and received as text: kube's types would parse their numbers.
pub(super) struct Cluster {
    client: kube::Client,
    objects: Request,
}

/// The state of an owner in the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ownership {
    /// It exists.
    There,
    /// It does not exist, for this reason, or it cannot be seen.
    Gone(&'static str),
}

/// A merge patch of a status.
#[derive(Debug, Serialize)]
struct StatusPatch<'a> {
    status: &'a RawValue,
}

impl Cluster {
    pub(super) fn new(client: kube::Client, kind: &Kind, namespace: &str) -> Self {
        let gvk = GroupVersionKind::gvk(kind.group(), kind.version(), kind.kind());
        let resource = ApiResource::from_gvk_with_plural(&gvk, &kind.plural());
        let objects = Request::new(DynamicObject::url_path(&resource, kind.namespaced().then_some(namespace)));
        Cluster { client, objects }
    }

    /// Returns the object with this name.
    pub(super) async fn get(&self, name: &str) -> Result<Option<ClusterObject>, Status> {
        match self.ask(self.objects.get(name, &GetParams::default())).await {
            Ok(object) => Ok(Some(object)),
            Err(LookupFailure::Api(kube::Error::Api(answer))) if answer.reason == "NotFound" => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Creates an object from its text. Returns the created object.
    pub(super) async fn create(&self, object: String, dry_run: bool) -> Result<ClusterObject, Status> {
        let parameters = PostParams { dry_run, field_manager: Some(CREATES.to_owned()) };
        Ok(self.ask(self.objects.create(&parameters, object.into_bytes())).await?)
    }

    /// Writes the status of an object. Returns the object with the status; `None` if the kind has no status subresource.
    pub(super) async fn set_status(&self, name: &str, status: &str) -> Result<Option<ClusterObject>, Status> {
        let status = serde_json::from_str(status).map_err(Status::internal)?;
        let patch = Patch::Merge(StatusPatch { status });
        let parameters = PatchParams { field_manager: Some(WRITES_STATUS.to_owned()), ..PatchParams::default() };
        match self.ask(self.objects.patch_subresource("status", name, &parameters, &patch)).await {
            Ok(object) => Ok(Some(object)),
            Err(LookupFailure::Api(kube::Error::Api(answer))) if answer.code == 404 => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn ask(
        &self,
        request: Result<http::Request<Vec<u8>>, kube::core::request::Error>,
    ) -> Result<ClusterObject, LookupFailure> {
        let request = request.map_err(|error| LookupFailure::Status(Status::internal(error)))?;
        let text = in_time(self.client.request_text(request)).await.map_err(LookupFailure::Status)?;
        let text = text.map_err(LookupFailure::Api)?;
        ClusterObject::read(text).map_err(|error| LookupFailure::Status(Status::internal(error)))
    }

    /// Looks up an owner of an object in this namespace.
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

/// The reason why there is no object.
enum LookupFailure {
    /// The API server's error, or the lack of an answer.
    Api(kube::Error),
    /// Another failure.
    Status(Status),
}

impl From<LookupFailure> for Status {
    fn from(error: LookupFailure) -> Self {
        match error {
            LookupFailure::Api(error) => status(error),
            LookupFailure::Status(status) => status,
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

/// Returns the API server's own error unchanged, otherwise an error that it does not answer.
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
