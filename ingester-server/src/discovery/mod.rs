//! What the server offers, as Kubernetes' clients request it: versions, groups, resources, schemas. Made once, only from the kinds: so kinds
//! whose CRD is gone from the cluster are served, too.
//!
//! | file | what it has |
//! |---|---|
//! | `groups.rs` | groups and resources, one by one and aggregated |
//! | `openapi.rs` | schemas, as OpenAPI v2 and v3 |
//!
//! May use: ingester-core, request.
//! Must not: do I/O.

mod groups;
mod openapi;
#[cfg(test)]
mod tests;

use crate::request::path::Target;
use ingester_core::Kind;
use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha512};
use std::collections::BTreeMap;

/// The Kubernetes version whose API this server has.
const VERSION: (&str, &str) = ("1", "36");

/// A document with its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The JSON.
    pub text: String,
    /// A hash of the text in quotes, for `ETag`.
    pub etag: String,
}

impl Document {
    fn of(json: &Json) -> Self {
        let text = json.to_string();
        let hash: String = Sha512::digest(&text).iter().map(|byte| format!("{byte:02X}")).collect();
        Document { text, etag: format!("\"{hash}\"") }
    }
}

/// All documents.
#[derive(Clone, Debug)]
pub struct Documents {
    /// By their path. Those of the aggregated ones end with a star.
    by_path: BTreeMap<String, Document>,
}

impl Documents {
    /// The documents of a server for these kinds. If `writable` is false, they have no verbs that write; if
    /// `watchable` is false, they lack `watch`.
    pub fn new(kinds: &[Kind], writable: bool, watchable: bool) -> Self {
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
            documents.add(&path, &document);
        }
        let mut schemas = BTreeMap::new();
        for (path, document) in openapi::v3(kinds, writable) {
            let document = Document::of(&document);
            let hash = document.etag.trim_matches('"').to_owned();
            schemas.insert(path.clone(), json!({"serverRelativeURL": format!("/openapi/v3/{path}?hash={hash}")}));
            documents.by_path.insert(format!("openapi/v3/{path}"), document);
        }
        documents.add("openapi/v3", &json!({"paths": schemas}));
        documents.add("openapi/v2", &openapi::v2(kinds, writable));
        let paths: Vec<String> =
            documents.by_path.keys().filter(|path| !path.ends_with('*')).map(|path| format!("/{path}")).collect();
        documents.add("", &json!({"paths": paths}));
        documents
    }

    fn add(&mut self, path: &str, json: &Json) {
        self.by_path.insert(path.to_owned(), Document::of(json));
    }

    /// The document of this path, in its aggregated form if that exists and is wanted.
    pub fn get(&self, target: &Target<'_>, aggregated: bool) -> Option<&Document> {
        let of = |group: &str| if group.is_empty() { "api".to_owned() } else { format!("apis/{group}") };
        let path = match target {
            Target::Root => String::new(),
            Target::Version => "version".to_owned(),
            Target::Core if aggregated => "api*".to_owned(),
            Target::Core => "api".to_owned(),
            Target::Groups if aggregated => "apis*".to_owned(),
            Target::Groups => "apis".to_owned(),
            Target::Group(group) => of(group),
            Target::GroupVersion(group, version) => format!("{}/{version}", of(group)),
            Target::OpenApiV2 => "openapi/v2".to_owned(),
            Target::OpenApiV3 => "openapi/v3".to_owned(),
            Target::OpenApiV3Group(group, version) => format!("openapi/v3/{}/{version}", of(group)),
            Target::Health(_)
            | Target::Console(_)
            | Target::Queries(_)
            | Target::Parameters(_)
            | Target::Counts(_)
            | Target::Rejects(_)
            | Target::SelfReview(_)
            | Target::Namespaces(_)
            | Target::Objects(_) => return None,
        };
        self.by_path.get(&path)
    }
}
