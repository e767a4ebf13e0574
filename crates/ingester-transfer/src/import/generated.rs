//! Names for objects with `generateName`, which the API server would name when it creates them.

use super::found::place;
use ingester_core::kind::Kind;
use ingester_core::object::{Identity, with_metadata};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;

/// The letters and digits of generated names in Kubernetes (`k8s.io/apimachinery/pkg/util/rand`): they form no words.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// The length of the generated part. Kubernetes has 5, and refuses a name that is there already; here two objects of one name would be one row.
const LENGTH: usize = 10;

/// The longest generated name in Kubernetes.
const LONGEST: usize = 63;

/// The place of the kind of an object that has `generateName` instead of a name; `None` if it is not such an object of a known kind.
pub(super) fn find_kind(identity: &Identity, kinds: &[Kind]) -> Option<usize> {
    let is_empty = |text: &Option<Box<str>>| text.as_deref().unwrap_or_default().is_empty();
    if is_empty(&identity.generate_name) || !is_empty(&identity.name) {
        return None;
    }
    place(kinds, identity.api_version.as_deref()?, identity.kind.as_deref()?)
}

/// The names that were generated for the objects of one input.
///
/// It has 16 bytes for each, so an input with very many such objects needs memory for them.
#[derive(Default)]
pub(super) struct GeneratedNames {
    /// The number of objects with this text, by a hash of the text.
    occurrences: HashMap<u64, u64>,
}

impl GeneratedNames {
    /// Returns the text of such an object with a name. The name depends on the text, and on the number of equal texts before it in the input.
    /// So equal objects are different rows, and importing the input again finds them.
    pub(super) fn named(&mut self, text: &str, identity: &Identity) -> String {
        let prefix = identity.generate_name.as_deref().unwrap_or_default();
        let end = prefix.char_indices().map(|(at, _)| at).nth(LONGEST - LENGTH).unwrap_or(prefix.len());
        let mut digest = Sha256::digest(text.as_bytes());
        let key = digest.iter().take(8).fold(0, |key, byte| key << 8 | u64::from(*byte));
        let occurrence = self.occurrences.entry(key).or_default();
        *occurrence += 1;
        if *occurrence > 1 {
            digest = Sha256::new().chain_update(text).chain_update(occurrence.to_be_bytes()).finalize();
        }
        let letter = |byte: u8| char::from(ALPHABET[usize::from(byte) % ALPHABET.len()]);
        let generated: String = digest.into_iter().take(LENGTH).map(letter).collect();
        with_metadata(text, "name", &format!("{}{generated}", &prefix[..end])).unwrap_or_else(|| text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::GeneratedNames;
    use ingester_core::object::{Identity, ManagedFields, Object};

    #[test]
    fn a_name_is_made_of_the_prefix_and_the_text() {
        let name_in = |names: &mut GeneratedNames, prefix: &str, spec: &str| {
            let text = format!(
                r#"{{"apiVersion":"v1","kind":"Run","metadata":{{"generateName":"{prefix}"}},"spec":"{spec}"}}"#
            );
            let text = names.named(&text, &Identity::probe(&text));
            Object::parse(text.as_str(), ManagedFields::Keep).unwrap().meta().name.to_string()
        };
        let name = |prefix: &str, spec: &str| name_in(&mut GeneratedNames::default(), prefix, spec);
        let first = name("nightly-", "a");
        assert!(first.starts_with("nightly-") && first.len() == 18, "{first}");
        assert_eq!(first, name("nightly-", "a"));
        assert_ne!(first, name("nightly-", "b"));
        assert_eq!(name(&"x".repeat(100), "a").len(), 63);
        let of_one_input = || {
            let mut names = GeneratedNames::default();
            ["a", "a", "b", "a"].map(|spec| name_in(&mut names, "nightly-", spec))
        };
        let names = of_one_input();
        assert_eq!(names, of_one_input());
        assert_eq!([&names[0], &names[2]], [&first, &name("nightly-", "b")]);
        let different: std::collections::BTreeSet<&String> = names.iter().collect();
        assert_eq!(different.len(), 4, "{names:?}");
    }
}
