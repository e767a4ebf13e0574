//! The guarantees of the parser of requests for any input. Also the body of the fuzz target in `tests/fuzz/`.

use ingester_server::request::accept::OtherForm;
use ingester_server::request::path::{OUTER_PREFIX, RequestTarget};
use ingester_server::request::query::QueryString;
use ingester_server::request::{accept, parameters, path};

/// Checks an input: a path, the parameters, and an `Accept`, one per line.
pub fn check(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let mut lines = text.splitn(3, '\n');
    let mut line = || lines.next().unwrap_or_default();
    let path = line();
    let query = line();
    let accepted = line();
    let target = path::parse(path);
    if let Ok(RequestTarget::Objects(objects)) = &target {
        let parts = [Some(&objects.group), Some(&objects.version), Some(&objects.plural), objects.namespace.as_ref()];
        for part in parts.into_iter().chain([objects.name.as_ref(), objects.subresource.as_ref()]).flatten() {
            let tricks = part.contains(['/', '\\', '%', '\0']) || matches!(&**part, "." | "..");
            assert!(!tricks, "{path:?} leads to {part:?}");
        }
    }
    if path.starts_with('/') && !path.starts_with(OUTER_PREFIX) {
        // The server is the same behind the prefix.
        assert_eq!(path::parse(&format!("{OUTER_PREFIX}{path}")), target, "{path:?}");
    }
    if let Err(status) = &target {
        assert_eq!(status.code.as_u16(), 404, "{path:?}");
    }
    if let Err(status) = parameters::parse(&QueryString::parse(query), "Model") {
        assert!(status.code.is_client_error(), "{query:?}: {status}");
        assert!(serde_json::from_str::<serde_json::Value>(&status.json()).is_ok());
    }
    for status in [accept::form(accepted).err(), accept::plain(accepted).err()].into_iter().flatten() {
        assert_eq!(status.code.as_u16(), 406, "{accepted:?}");
    }
    for other in [None, Some(OtherForm::Aggregated), Some(OtherForm::Protobuf)] {
        let _ = accept::other_form(accepted, other);
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use proptest::prelude::*;
    use std::path::Path;

    #[test]
    fn every_input_of_the_fuzz_corpus_passes() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus/request");
        let mut inputs = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            check(&std::fs::read(entry.unwrap().path()).unwrap());
            inputs += 1;
        }
        assert!(inputs >= 8, "{inputs}");
    }

    proptest! {
        #[test]
        fn any_input_passes(input in proptest::collection::vec(any::<u8>(), 0..200)) {
            check(&input);
        }
    }
}
