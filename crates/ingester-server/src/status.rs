//! Kubernetes' `Status`: every answer that is not an object.
//!
//! May use: nothing.

use http::StatusCode;
use serde::Serialize;

/// The reason why a request was not carried out, in Kubernetes' terms (`metav1.Status`).
#[derive(Clone, Debug, PartialEq, Serialize, thiserror::Error)]
#[error("{message}")]
#[serde(rename_all = "camelCase")]
pub struct Status {
    kind: &'static str,
    api_version: &'static str,
    metadata: Empty,
    status: &'static str,
    /// For people.
    pub message: String,
    /// For programs.
    pub reason: Reason,
    /// The objects in question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<Details>>,
    /// The HTTP status code.
    #[serde(serialize_with = "number")]
    pub code: StatusCode,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Empty {}

fn number<S: serde::Serializer>(code: &StatusCode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u16(code.as_u16())
}

/// `metav1.StatusReason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the names are Kubernetes' own")]
pub enum Reason {
    BadRequest,
    Unauthorized,
    Forbidden,
    NotFound,
    AlreadyExists,
    Conflict,
    Gone,
    Expired,
    Invalid,
    MethodNotAllowed,
    NotAcceptable,
    UnsupportedMediaType,
    RequestEntityTooLarge,
    TooManyRequests,
    Timeout,
    ServerTimeout,
    ServiceUnavailable,
    InternalError,
}

/// `metav1.StatusDetails`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// The object's name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The kind's group.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The kind's plural, as in Kubernetes, or its kind.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The object's uid.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The errors, field by field.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// The seconds after which to retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u32>,
}

/// `metav1.StatusCause`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cause {
    /// For programs, such as `FieldValueInvalid`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// For people.
    pub message: String,
    /// The field's path.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field: String,
}

/// A kind, in the form that a status uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource<'a> {
    /// The API group.
    pub group: &'a str,
    /// The plural.
    pub plural: &'a str,
}

impl std::fmt::Display for Resource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.group {
            "" => f.write_str(self.plural),
            group => write!(f, "{}.{group}", self.plural),
        }
    }
}

impl Status {
    /// A failure.
    pub fn failure(code: StatusCode, reason: Reason, message: impl Into<String>) -> Self {
        Status {
            kind: "Status",
            api_version: "v1",
            metadata: Empty {},
            status: "Failure",
            message: message.into(),
            reason,
            details: None,
            code,
        }
    }

    /// Returns the same status about this object; without a name, about all objects.
    #[must_use]
    pub fn about(mut self, resource: Resource<'_>, name: &str) -> Self {
        let details = self.details.get_or_insert_default();
        details.group = resource.group.to_owned();
        details.kind = resource.plural.to_owned();
        details.name = name.to_owned();
        self
    }

    /// Returns the same status with causes.
    #[must_use]
    pub fn because(mut self, causes: Vec<Cause>) -> Self {
        self.details.get_or_insert_default().causes = causes;
        self
    }

    /// Returns the same status with the advice to retry after this many seconds.
    #[must_use]
    pub(crate) fn retry_after(mut self, seconds: u32) -> Self {
        self.details.get_or_insert_default().retry_after_seconds = Some(seconds);
        self
    }

    /// 400: the request cannot be understood.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Status::failure(StatusCode::BAD_REQUEST, Reason::BadRequest, message)
    }

    /// 401: the caller is not authenticated.
    pub fn unauthorized() -> Self {
        Status::failure(StatusCode::UNAUTHORIZED, Reason::Unauthorized, "Unauthorized")
    }

    /// 403: the caller does not have the right.
    pub fn forbidden(resource: Resource<'_>, name: &str, why: &str) -> Self {
        let quoted = if name.is_empty() { String::new() } else { format!(" \"{name}\"") };
        let message = format!("{resource}{quoted} is forbidden: {why}");
        Status::failure(StatusCode::FORBIDDEN, Reason::Forbidden, message).about(resource, name)
    }

    /// 404: no such object.
    pub(crate) fn not_found(resource: Resource<'_>, name: &str) -> Self {
        let message = format!("{resource} \"{name}\" not found");
        Status::failure(StatusCode::NOT_FOUND, Reason::NotFound, message).about(resource, name)
    }

    /// 404: no such path.
    pub(crate) fn no_such_path() -> Self {
        let status = Status::failure(
            StatusCode::NOT_FOUND,
            Reason::NotFound,
            "the server could not find the requested resource",
        );
        Status { details: Some(Box::default()), ..status }
    }

    /// 405: the path does not support this method.
    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Status::failure(StatusCode::METHOD_NOT_ALLOWED, Reason::MethodNotAllowed, message)
    }

    /// 406: the client accepts none of the offered media types.
    pub(crate) fn not_acceptable(offered: &str) -> Self {
        let message = format!("only the following media types are accepted: {offered}");
        Status::failure(StatusCode::NOT_ACCEPTABLE, Reason::NotAcceptable, message)
    }

    /// 409: the object has changed or was replaced.
    pub fn conflict(resource: Resource<'_>, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {resource} \"{name}\": {why}");
        Status::failure(StatusCode::CONFLICT, Reason::Conflict, message).about(resource, name)
    }

    /// 408: the request did not come in time.
    pub(crate) fn request_timeout(message: impl Into<String>) -> Self {
        Status::failure(StatusCode::REQUEST_TIMEOUT, Reason::Timeout, message)
    }

    /// 410: the token of a page, or a version, is too old.
    pub fn expired(message: impl Into<String>) -> Self {
        Status::failure(StatusCode::GONE, Reason::Expired, message)
    }

    /// 413: a body of more bytes than this.
    pub fn too_large(most: usize) -> Self {
        let message = format!("Request entity too large: limit is {most}");
        Status::failure(StatusCode::PAYLOAD_TOO_LARGE, Reason::RequestEntityTooLarge, message)
    }

    /// 415: a body of this type is not supported.
    pub(crate) fn unsupported_media_type(message: impl Into<String>) -> Self {
        Status::failure(StatusCode::UNSUPPORTED_MEDIA_TYPE, Reason::UnsupportedMediaType, message)
    }

    /// 422: an object or an option that is not valid.
    pub fn invalid(message: impl Into<String>, causes: Vec<Cause>) -> Self {
        Status::failure(StatusCode::UNPROCESSABLE_ENTITY, Reason::Invalid, message).because(causes)
    }

    /// 429: too many requests.
    pub(crate) fn too_many_requests(message: impl Into<String>) -> Self {
        Status::failure(StatusCode::TOO_MANY_REQUESTS, Reason::TooManyRequests, message).retry_after(1)
    }

    /// 500: our fault, or the database's.
    pub fn internal(message: impl std::fmt::Display) -> Self {
        let message = format!("Internal error occurred: {message}");
        Status::failure(StatusCode::INTERNAL_SERVER_ERROR, Reason::InternalError, message)
    }

    /// 503: not now.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Status::failure(StatusCode::SERVICE_UNAVAILABLE, Reason::ServiceUnavailable, message).retry_after(1)
    }

    /// 504: it took too long.
    pub fn timeout(message: impl Into<String>) -> Self {
        Status::failure(StatusCode::GATEWAY_TIMEOUT, Reason::Timeout, message)
    }

    /// 504: this version does not exist yet. Clients recognize this answer by its cause, and list again.
    pub(crate) fn too_large_version(wanted: u64, current: u64) -> Self {
        let said = "Too large resource version";
        let cause = Cause { reason: "ResourceVersionTooLarge".into(), message: said.into(), ..Cause::default() };
        Status::timeout(format!("Timeout: {said}: {wanted}, current: {current}")).because(vec![cause]).retry_after(1)
    }

    /// Returns its JSON.
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the HTTP response.
    pub fn response(&self) -> http::Response<axum::body::Body> {
        let mut response = http::Response::new(axum::body::Body::from(self.json()));
        *response.status_mut() = self.code;
        response.headers_mut().insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
        if let Some(seconds) = self.details.as_ref().and_then(|details| details.retry_after_seconds) {
            response.headers_mut().insert(http::header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::{Resource, Status};

    const MODELS: Resource<'_> = Resource { group: "michelangelo.api", plural: "models" };

    #[test]
    fn a_status_is_as_the_api_server_writes_it() {
        let expected = concat!(
            r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","#,
            r#""message":"models.michelangelo.api \"a\" not found","reason":"NotFound","#,
            r#""details":{"name":"a","group":"michelangelo.api","kind":"models"},"code":404}"#
        );
        assert_eq!(Status::not_found(MODELS, "a").json(), expected);
        let unauthorized = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}"#;
        assert_eq!(Status::unauthorized().json(), unauthorized);
    }

    #[test]
    fn when_to_come_again_is_in_the_header_too() {
        let response = Status::too_many_requests("slow down").response();
        assert_eq!((response.status().as_u16(), &response.headers()["retry-after"]), (429, &1.into()));
    }
}
