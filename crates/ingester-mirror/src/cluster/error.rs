//! Errors of the API server, classified by the reaction to them.

use std::fmt;

/// The kinds of errors, by the reaction to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApiErrorKind {
    /// 404: the object or the kind does not exist.
    NotFound,
    /// 409, 412, or 422 for a patch whose tests failed: the object has changed.
    Conflict,
    /// 410: the API server no longer has this version.
    Expired,
    /// 401 and 403: an operator must grant a right.
    Forbidden,
    /// Worth a retry: no connection, a time-out, 429, 5xx.
    Transient,
    /// The request was not sent: the Lease of this process has expired, so the process must not change anything.
    Lease,
    /// Everything else, such as 400 and 405.
    Other,
}

/// An error of the API server: the attempted work, and the reason.
#[derive(Debug)]
pub struct ApiError {
    pub(super) doing: String,
    pub(super) reason: String,
    pub(super) code: u16,
    pub(super) kind: ApiErrorKind,
    /// There was no answer within our own time.
    pub(super) timeout: bool,
}

impl ApiError {
    pub(super) fn from_kube(doing: impl Into<String>, error: kube::Error) -> Self {
        let doing = doing.into();
        match error {
            kube::Error::Api(status) => {
                let reason = if status.message.is_empty() { status.reason.clone() } else { status.message.clone() };
                ApiError { doing, reason, code: status.code, kind: kind_of(status.code), timeout: false }
            }
            error => {
                let reason = match &error {
                    // kube's own text adds only the name of its type.
                    kube::Error::Service(cause) => chain(cause.as_ref()),
                    error => chain(error),
                };
                let reason = match reason.contains("buffer's worker closed") {
                    true => {
                        "this process no longer sends requests, because it ends or its client failed: start it again"
                            .into()
                    }
                    false => reason,
                };
                ApiError { doing, reason, code: 0, kind: ApiErrorKind::Transient, timeout: false }
            }
        }
    }

    pub(crate) fn new(doing: impl Into<String>, reason: impl Into<String>, kind: ApiErrorKind) -> Self {
        ApiError { doing: doing.into(), reason: reason.into(), code: 0, kind, timeout: false }
    }

    /// The error of a request that was not sent while `doing`: the Lease of this process has expired, and another member may have its work.
    pub(crate) fn without_lease(doing: impl Into<String>) -> Self {
        ApiError::new(doing, "the Lease of this member has run out", ApiErrorKind::Lease)
    }

    /// An error with this status code; 0 for no answer.
    #[cfg(test)]
    pub(crate) fn status(doing: impl Into<String>, code: u16) -> Self {
        ApiError { code, ..ApiError::new(doing, format!("status {code}"), kind_of(code)) }
    }

    pub(crate) fn kind(&self) -> ApiErrorKind {
        self.kind
    }

    /// Returns true if the same request may succeed later, without intervention.
    pub fn may_pass(&self) -> bool {
        matches!(self.kind, ApiErrorKind::Transient | ApiErrorKind::Lease)
    }

    /// Returns true if the answer took too long: the API server's own time-out, a gateway's, or ours.
    pub(crate) fn is_timeout(&self) -> bool {
        matches!(self.code, 408 | 504) || self.timeout
    }

    /// Returns the HTTP status code, `network` if there was none, or `lease` if no request was sent.
    pub(crate) fn code(&self) -> String {
        match (self.kind, self.code) {
            (ApiErrorKind::Lease, _) => "lease".into(),
            (_, 0) => "network".into(),
            (_, code) => code.to_string(),
        }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.doing, self.reason)?;
        match self.kind {
            ApiErrorKind::Forbidden => f.write_str(" (grant the verb to the ingester's ClusterRole)"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for ApiError {}

/// Formats an error with its causes: kube's own text for a lost connection lacks them.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}

/// Returns the kind by the HTTP status codes of the Kubernetes API conventions.
pub(super) fn kind_of(code: u16) -> ApiErrorKind {
    match code {
        404 => ApiErrorKind::NotFound,
        409 | 412 | 422 => ApiErrorKind::Conflict,
        410 => ApiErrorKind::Expired,
        401 | 403 => ApiErrorKind::Forbidden,
        0 | 408 | 429 | 500..=599 => ApiErrorKind::Transient,
        _ => ApiErrorKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::ApiError;

    #[test]
    fn a_client_that_has_ended_is_told_without_the_words_of_a_library() {
        let ended = kube::Error::Service("buffer's worker closed unexpectedly".into());
        let said = ApiError::from_kube("listing Model", ended).to_string();
        assert!(said.contains("this process no longer sends requests") && said.ends_with("start it again"), "{said}");
        let other = ApiError::from_kube("listing Model", kube::Error::Service("connection refused".into())).to_string();
        assert!(other.contains("connection refused") && !other.contains("no longer"), "{other}");
    }
}
