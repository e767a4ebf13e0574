//! Asks the API server to leave `metadata.managedFields` out of its answers, which makes them smaller.
//!
//! Kubernetes 1.37 has the parameter as an alpha feature. Older servers ignore it, so the mirror removes the fields from every text it
//! stores, as before.

use http::header::{ACCEPT, HeaderValue};
use http::{Method, Request};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The media type of a request that names none.
const JSON: &str = "application/json";

/// The parameter of a media type that leaves the fields out.
const PARAMETER: &str = ";drop=metadata.managedFields";

/// Adds the parameter to requests until the API server refuses it. All kinds of a process share the refusal.
#[derive(Clone, Default)]
pub(crate) struct DroppedFields {
    refused: Arc<AtomicBool>,
}

impl DroppedFields {
    /// Returns the same request for objects without the fields; `None` if it reads nothing, or if the API server refused the parameter.
    pub(super) fn shorten(&self, request: &Request<Vec<u8>>) -> Option<Request<Vec<u8>>> {
        if request.method() != Method::GET || self.refused.load(Ordering::Relaxed) {
            return None;
        }
        let accepted = match request.headers().get(ACCEPT) {
            Some(accepted) => accepted.to_str().ok()?,
            None => JSON,
        };
        let value = HeaderValue::from_str(&format!("{accepted}{PARAMETER}")).ok()?;
        let mut shorter = request.clone();
        shorter.headers_mut().insert(ACCEPT, value);
        Some(shorter)
    }

    /// Remembers that the API server answers such requests with "not acceptable" (406).
    pub(super) fn refuse(&self) {
        if !self.refused.swap(true, Ordering::Relaxed) {
            tracing::debug!("The API server refuses to leave out managedFields: its answers are read in full");
        }
    }
}
