//! Sets the namespace that a caller names for objects without one, like `kubectl apply --namespace`.

use super::found::{DocumentContent, named};
use ingester_core::kind::Kind;
use ingester_core::object::{Identity, with_metadata};

/// Like [`put`], for the known part of the identity of an object that cannot be read. Returns false if it belongs to another namespace.
pub(super) fn put_broken(identity: &mut Identity, kinds: &[Kind], namespace: &str) -> bool {
    let known = |kind: &&Kind| is_of(kind, identity);
    if !kinds.iter().find(known).is_some_and(Kind::namespaced) {
        return true;
    }
    match identity.namespace.as_deref().unwrap_or_default() {
        "" => {
            identity.namespace = Some(namespace.into());
            true
        }
        own => own == namespace,
    }
}

/// Returns the text of an object in this namespace. An object of another namespace is refused; an object of a cluster-scoped kind stays as
/// it is.
pub(super) fn put(text: String, kinds: &[Kind], namespace: &str) -> Result<String, Box<DocumentContent>> {
    let identity = Identity::probe(&text);
    let known = |kind: &&Kind| is_of(kind, &identity);
    if !kinds.iter().find(known).is_some_and(Kind::namespaced) {
        return Ok(text);
    }
    match identity.namespace.as_deref().unwrap_or_default() {
        "" => Ok(with_metadata(&text, "namespace", namespace).unwrap_or(text)),
        own if own == namespace => Ok(text),
        own => {
            let place = kinds
                .iter()
                .position(|kind| known(&kind) && Some(kind.api_version().as_str()) == identity.api_version.as_deref());
            Err(Box::new(DocumentContent::Rejected {
                place,
                object: named(
                    identity.kind.as_deref().unwrap_or_default(),
                    own,
                    identity.name.as_deref().unwrap_or_default(),
                ),
                reason: format!(
                    "its namespace is not `{namespace}`, which --namespace names: import it without --namespace"
                ),
                // Nothing is wrong with the object itself, so do not record it for later attention.
                reject: None,
            }))
        }
    }
}

/// Returns true if an object says that it is of this kind, in any version of its group.
fn is_of(kind: &Kind, identity: &Identity) -> bool {
    let group = identity.api_version.as_deref().map(|version| version.rsplit_once('/').map_or("", |(group, _)| group));
    Some(kind.kind()) == identity.kind.as_deref() && group.is_none_or(|group| group == kind.group())
}
