//! The content of a document, on its way from the thread that reads to the task that writes.

use super::Origin;
use ingester_core::kind::{Kind, find};
use ingester_core::row::Row;
use ingester_store::Reject;

/// One document after reading.
pub(super) struct LoadedDocument {
    pub(super) origin: Origin,
    pub(super) found: DocumentContent,
}

/// The content of a document. `place` is the kind's index in the registry.
#[allow(
    clippy::large_enum_variant,
    reason = "nearly all documents are rows, so the other variants may take as much room"
)]
pub(super) enum DocumentContent {
    Row {
        place: usize,
        row: Row,
        reject: Reject,
    },
    LeftOut {
        place: usize,
    },
    /// It has `generateName` and no name, so nothing identifies it.
    Nameless {
        place: usize,
    },
    /// It is of an unknown kind, and such objects are ignored.
    Ignored,
    Unreadable {
        reason: String,
    },
    Rejected {
        place: Option<usize>,
        object: String,
        reason: String,
        reject: Option<Reject>,
    },
}

/// Returns the place of a kind in the registry.
pub(super) fn place(kinds: &[Kind], api_version: &str, kind: &str) -> Option<usize> {
    let found = find(kinds, api_version, kind)?;
    kinds.iter().position(|kind| std::ptr::eq(kind, found))
}

/// Returns kind, namespace and name in kubectl's form.
pub(super) fn render_reject(reject: &Reject) -> String {
    named(&reject.kind, &reject.namespace, &reject.name)
}

pub(super) fn named(kind: &str, namespace: &str, name: &str) -> String {
    match (namespace, name) {
        ("", name) => format!("{kind} {name}").trim().to_owned(),
        (namespace, "") => format!("{kind} in namespace {namespace}").trim().to_owned(),
        (namespace, name) => format!("{kind} {namespace}/{name}").trim().to_owned(),
    }
}
