//! The documents of discovery that Kubernetes' clients request: versions, groups, resources, schemas. They are made once, only from the
//! kinds: so kinds whose CRD is gone from the cluster are served, too.
//!
//! | file | what it has |
//! |---|---|
//! | `groups.rs` | groups and resources, one by one and aggregated |
//! | `openapi.rs` | schemas, as OpenAPI v2 and v3 |
//! | `own.rs` | schemas of the server's own resources |
//! | `protobuf.rs` | OpenAPI v2 in kubectl's format |
//!
//! May use: ingester-core, request.
//! Must not: do I/O.

mod groups;
mod openapi;
mod own;
mod protobuf;
#[cfg(test)]
mod tests;

use crate::request::accept::OtherForm;
use crate::request::path::RequestTarget;
use bytes::Bytes;
use ingester_core::Kind;
use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha512};
use std::collections::BTreeMap;

/// The Kubernetes version whose API this server has.
const VERSION: (&str, &str) = ("1", "36");

/// The objects that clients can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteScope {
    /// Nothing.
    Nothing,
    /// Evicted objects, in SQL.
    InSql,
    /// Evicted objects, in SQL, and they can be restored into the cluster.
    All,
}

/// A document with its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Document {
    /// The bytes.
    pub(crate) body: Bytes,
    /// Their media type.
    pub(crate) media: &'static str,
    /// A hash of the bytes in quotes, for `ETag`.
    pub(crate) etag: String,
}

impl Document {
    fn from_json(json: &Json) -> Self {
        Document::new(json.to_string().into(), "application/json")
    }

    fn new(body: Bytes, media: &'static str) -> Self {
        let hash: String = Sha512::digest(&body).iter().map(|byte| format!("{byte:02X}")).collect();
        Document { body, media, etag: format!("\"{hash}\"") }
    }
}

/// All documents.
#[derive(Clone, Debug)]
pub(crate) struct Documents {
    /// The documents by their path. The paths of another form end with a star.
    by_path: BTreeMap<String, Document>,
}

impl Documents {
    /// Creates the documents of a server for these kinds. `writable` decides which verbs they have that write; if `watchable` is false,
    /// they lack `watch`.
    pub(crate) fn new(kinds: &[Kind], writable: WriteScope, watchable: bool) -> Self {
        let mut documents = Documents { by_path: BTreeMap::new() };
        let (major, minor) = VERSION;
        documents.add(
            "version",
            &json!({
                "major": major,
                "minor": minor,
                "gitVersion": format!("v{major}.{minor}.0+ingester.{}", env!("CARGO_PKG_VERSION")),
                "gitCommit": "", "gitTreeState": "clean", "buildDate": "1970-01-01T00:00:00Z",
                "goVersion": "none", "compiler": "rustc",
                "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
            }),
        );
        for (path, document) in groups::documents(kinds, writable, watchable) {
            let media = if path.ends_with('*') { OtherForm::Aggregated.media() } else { "application/json" };
            documents.by_path.insert(path, Document::new(document.to_string().into(), media));
        }
        let mut schemas = BTreeMap::new();
        let is_writable = writable != WriteScope::Nothing;
        for (path, document) in openapi::v3(kinds, is_writable) {
            let document = Document::from_json(&document);
            let hash = document.etag.trim_matches('"').to_owned();
            schemas.insert(path.clone(), json!({"serverRelativeURL": format!("/openapi/v3/{path}?hash={hash}")}));
            documents.by_path.insert(format!("openapi/v3/{path}"), document);
        }
        documents.add("openapi/v3", &json!({"paths": schemas}));
        let v2 = openapi::v2(kinds, is_writable);
        documents.add("openapi/v2", &v2);
        let v2 = Document::new(protobuf::document(&v2).into(), OtherForm::Protobuf.media());
        documents.by_path.insert("openapi/v2*".to_owned(), v2);
        let paths: Vec<String> =
            documents.by_path.keys().filter(|path| !path.ends_with('*')).map(|path| format!("/{path}")).collect();
        documents.add("", &json!({"paths": paths}));
        documents
    }

    fn add(&mut self, path: &str, json: &Json) {
        self.by_path.insert(path.to_owned(), Document::from_json(json));
    }

    /// Returns the form that this document has in addition to plain JSON.
    pub(crate) fn other_form(target: &RequestTarget<'_>) -> Option<OtherForm> {
        match target {
            RequestTarget::Core | RequestTarget::Groups => Some(OtherForm::Aggregated),
            RequestTarget::OpenApiV2 => Some(OtherForm::Protobuf),
            _ => None,
        }
    }

    /// Returns the document at this path, as plain JSON or in its other form.
    pub(crate) fn get(&self, target: &RequestTarget<'_>, form: Option<OtherForm>) -> Option<&Document> {
        let of = |group: &str| if group.is_empty() { "api".to_owned() } else { format!("apis/{group}") };
        let path = match target {
            RequestTarget::Root => String::new(),
            RequestTarget::Version => "version".to_owned(),
            RequestTarget::Core => "api".to_owned(),
            RequestTarget::Groups => "apis".to_owned(),
            RequestTarget::Group(group) => of(group),
            RequestTarget::GroupVersion(group, version) => format!("{}/{version}", of(group)),
            RequestTarget::OpenApiV2 => "openapi/v2".to_owned(),
            RequestTarget::OpenApiV3 => "openapi/v3".to_owned(),
            RequestTarget::OpenApiV3Group(group, version) => format!("openapi/v3/{}/{version}", of(group)),
            RequestTarget::Health(_)
            | RequestTarget::Console(_)
            | RequestTarget::Queries(_)
            | RequestTarget::Parameters(_)
            | RequestTarget::Counts(_)
            | RequestTarget::Rejects(_)
            | RequestTarget::Units(_)
            | RequestTarget::Policies(_)
            | RequestTarget::SelfReview(_)
            | RequestTarget::Namespaces(_)
            | RequestTarget::Events(_)
            | RequestTarget::Objects(_) => return None,
        };
        self.by_path.get(&if form.is_some() { path + "*" } else { path })
    }
}
