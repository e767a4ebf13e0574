//! Names for objects with `generateName`, which the API server would name when it creates them.

use super::found::place;
use ingester_core::kind::Kind;
use ingester_core::object::{Identity, with_metadata};
use sha2::{Digest as _, Sha256};

/// The letters and digits of generated names in Kubernetes (`k8s.io/apimachinery/pkg/util/rand`): they form no words.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// The length of the generated part. Kubernetes has 5, and refuses a name that is there already; here two objects of one name would be one row.
const LENGTH: usize = 10;

/// The longest generated name in Kubernetes.
const LONGEST: usize = 63;

/// The place of the kind of an object that has `generateName` instead of a name; `None` if it is not such an object of a known kind.
pub(super) fn of(identity: &Identity, kinds: &[Kind]) -> Option<usize> {
    let is_empty = |text: &Option<Box<str>>| text.as_deref().unwrap_or_default().is_empty();
    if is_empty(&identity.generate_name) || !is_empty(&identity.name) {
        return None;
    }
    place(kinds, identity.api_version.as_deref()?, identity.kind.as_deref()?)
}

/// The text of such an object with a name. The name depends on the text alone, so importing the text again finds its row.
pub(super) fn named(text: &str, identity: &Identity) -> String {
    let prefix = identity.generate_name.as_deref().unwrap_or_default();
    let end = prefix.char_indices().map(|(at, _)| at).nth(LONGEST - LENGTH).unwrap_or(prefix.len());
    let letter = |byte: u8| char::from(ALPHABET[usize::from(byte) % ALPHABET.len()]);
    let generated: String = Sha256::digest(text.as_bytes()).into_iter().take(LENGTH).map(letter).collect();
    with_metadata(text, "name", &format!("{}{generated}", &prefix[..end])).unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::named;
    use ingester_core::object::{Identity, ManagedFields, Object};

    #[test]
    fn a_name_is_made_of_the_prefix_and_the_text() {
        let name = |prefix: &str, spec: &str| {
            let text = format!(
                r#"{{"apiVersion":"v1","kind":"Run","metadata":{{"generateName":"{prefix}"}},"spec":"{spec}"}}"#
            );
            let text = named(&text, &Identity::probe(&text));
            Object::parse(text.as_str(), ManagedFields::Keep).unwrap().meta().name.to_string()
        };
        let first = name("nightly-", "a");
        assert!(first.starts_with("nightly-") && first.len() == 18, "{first}");
        assert_eq!(first, name("nightly-", "a"));
        assert_ne!(first, name("nightly-", "b"));
        assert_eq!(name(&"x".repeat(100), "a").len(), 63);
    }
}
