//! Names that Kubernetes gives to objects and namespaces.
//!
//! A database may find more under a name than the API server was asked about: MariaDB and MySQL ignore trailing blanks when they compare
//! texts. They would find `ml` for `ml%20`, after a review of the namespace `ml `. So invalid names never reach the database.

/// The longest name of an object, in bytes.
const NAME: usize = 253;

/// The longest name of a namespace.
const NAMESPACE: usize = 63;

/// Returns true if this can be the name of a namespace: an RFC 1123 label.
pub(crate) fn is_namespace(name: &str) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let bytes = name.as_bytes();
    bytes.len() <= NAMESPACE
        && is_end(bytes.first())
        && is_end(bytes.last())
        && bytes.iter().all(|byte| is_end(Some(byte)) || *byte == b'-')
}

/// Returns true if this can be the name of an object. Kinds have their own rules. This is the widest of these rules, the one for a path
/// segment, and also excludes surrounding white space.
pub(crate) fn is_name(name: &str) -> bool {
    let wrong = |c: char| matches!(c, '/' | '%' | '\\') || c.is_control();
    !name.is_empty()
        && name.len() <= NAME
        && !matches!(name, "." | "..")
        && name.trim() == name
        && !name.contains(wrong)
}

#[cfg(test)]
mod tests {
    use super::{is_name, is_namespace};

    #[test]
    fn names_are_those_that_kubernetes_takes() {
        for name in ["a", "a-b.c", "system:node", "A_b", "a b"] {
            assert!(is_name(name), "{name:?}");
        }
        for name in ["", ".", "..", "a ", " a", "a\u{a0}", "a\t", "a/b", "a%b", "a\0", &"a".repeat(254)] {
            assert!(!is_name(name), "{name:?}");
        }
        for namespace in ["a", "ml", "team-1", "0", &"a".repeat(63)] {
            assert!(is_namespace(namespace), "{namespace:?}");
        }
        for namespace in ["", "ml ", " ml", "ML", "a.b", "a_b", "-a", "a-", "ml\u{a0}", "é", &"a".repeat(64)] {
            assert!(!is_namespace(namespace), "{namespace:?}");
        }
    }
}
