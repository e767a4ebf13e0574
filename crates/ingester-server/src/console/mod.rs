//! The console: a page for browsers at `/ui/`. It is a client of this server's API like any other, without any right of its own: its files
//! are served to every caller, and the browser requests objects with its user's token.
//!
//! The files are in `console/` of this crate, and become part of the program (feature `console`). They are served unchanged, without a
//! build step.
//!
//! May use: request.
//! Must not: read anything of the database or of the cluster.

#![cfg_attr(not(feature = "console"), allow(dead_code, reason = "there are no files"))]

#[cfg(test)]
#[cfg(feature = "console")]
mod tests;

use crate::request::path::RequestTarget;
use axum::body::Body;
use http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LOCATION, REFERRER_POLICY, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Response, StatusCode};
use sha2::{Digest as _, Sha256};

/// A file of the console.
struct File {
    /// Its name behind `/ui/`; empty for the page itself.
    name: &'static str,
    /// Its media type.
    media: &'static str,
    bytes: &'static [u8],
}

const CSS: &str = "text/css; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";
const MODULE: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// A file of `console/`.
#[cfg(feature = "console")]
macro_rules! file {
    ($name:literal, $media:expr, $path:literal) => {
        File { name: $name, media: $media, bytes: include_bytes!(concat!("../../console/", $path)) }
    };
}

/// All files.
#[cfg(feature = "console")]
const FILES: &[File] = &[
    file!("", HTML, "index.html"),
    file!("console.css", CSS, "console.css"),
    file!("icon.svg", SVG, "icon.svg"),
    file!("app.mjs", MODULE, "app.mjs"),
    file!("client.mjs", MODULE, "client.mjs"),
    file!("kind.mjs", MODULE, "kind.mjs"),
    file!("kinds.mjs", MODULE, "kinds.mjs"),
    file!("mirror.mjs", MODULE, "mirror.mjs"),
    file!("object.mjs", MODULE, "object.mjs"),
    file!("plot.mjs", MODULE, "plot.mjs"),
    file!("related.mjs", MODULE, "related.mjs"),
    file!("text.mjs", MODULE, "text.mjs"),
    file!("view.mjs", MODULE, "view.mjs"),
    file!("htm.mjs", MODULE, "vendor/htm.mjs"),
    file!("preact.mjs", MODULE, "vendor/preact.mjs"),
];

#[cfg(not(feature = "console"))]
const FILES: &[File] = &[];

/// The page's permissions: load its own files, and send requests to its own server. Texts never become elements or scripts; with trusted
/// types the browser refuses that, too.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";

/// The headers of each file.
const HEADERS: [(HeaderName, &str); 6] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    // The browser asks again each time, because a new release has files of the same names.
    (CACHE_CONTROL, "no-cache"),
];

/// Answers a request for a file of the console; a browser that requests `/` is sent to the page. Returns `None` for everything else.
pub fn answer(target: &RequestTarget<'_>, parts: &Parts) -> Option<Response<Body>> {
    let text = |name| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if FILES.is_empty() || !matches!(parts.method, Method::GET | Method::HEAD) {
        return None;
    }
    match target {
        // Relative, because the server may be behind a prefix.
        RequestTarget::Root if text(ACCEPT).contains("text/html") && parts.uri.path().ends_with('/') => Some(to("ui/")),
        RequestTarget::Console(None) if !parts.uri.path().ends_with('/') => Some(to("ui/")),
        RequestTarget::Console(name) => {
            let name = name.as_deref().unwrap_or_default();
            FILES.iter().find(|file| file.name == name).map(|file| file.response(text(IF_NONE_MATCH)))
        }
        _ => None,
    }
}

/// Sends the browser to this place.
fn to(place: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::FOUND;
    response.headers_mut().insert(LOCATION, HeaderValue::from_static(place));
    response.headers_mut().insert(VARY, HeaderValue::from_static("Accept"));
    response
}

impl File {
    /// Returns the file, or the answer that the browser already has it.
    fn response(&self, known: &str) -> Response<Body> {
        let hash: String = Sha256::digest(self.bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        // A weak tag, because its bytes may be sent compressed.
        let etag = format!("W/\"{hash}\"");
        let is_known = known.split(',').any(|known| known.trim() == etag);
        let mut response = Response::new(if is_known { Body::empty() } else { Body::from(self.bytes) });
        if is_known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        let headers = response.headers_mut();
        headers.extend(HEADERS.map(|(name, value)| (name, HeaderValue::from_static(value))));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.media));
        if let Ok(etag) = HeaderValue::from_str(&etag) {
            headers.insert(ETAG, etag);
        }
        response
    }
}
