//! Guarantees of the transcoder for any input. Also the body of the fuzz target in `tests/fuzz/`.

use crd_specs::{DESCRIPTORS, KINDS};

/// Runs one input: the first byte selects the kind and the direction, the rest is JSON text or a message.
///
/// # Panics
/// When a guarantee is broken.
pub(crate) fn check(input: &[u8]) {
    let Some((first, rest)) = input.split_first() else { return };
    let (Ok(descriptors), kind) = (DESCRIPTORS.get(), &KINDS[usize::from(first >> 1) % KINDS.len()]) else {
        panic!("the descriptors cannot be read");
    };
    let (_, message) = kind.protobuf().and_then(|protobuf| protobuf.get().ok()).expect("every kind has a message");
    let text = match first & 1 {
        0 => std::str::from_utf8(rest).map(str::to_owned).ok(),
        _ => descriptors.decode(message, rest).ok(),
    };
    let Some(text) = text else { return };
    let bytes = match descriptors.encode(message, &text) {
        Ok((bytes, _)) => bytes,
        // A decoded message is valid JSON, but may be nested too deep for an object.
        Err(error) => {
            assert!(first & 1 == 0 || error.reason().contains("nested deeper"), "{error}: {text}");
            return;
        }
    };
    let back = descriptors.decode(message, &bytes).expect("what is written is a message");
    let (again, lost) = descriptors.encode(message, &back).expect("what is read is JSON");
    // Decoding loses nothing, so encoding again gives the same bytes.
    assert!(lost.is_nothing(), "{lost:?} in {back}");
    assert_eq!(again, bytes, "{back}");
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// The corpus that the fuzzer kept, one file per input.
    #[test]
    fn every_input_of_the_fuzz_corpus_passes() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fuzz/corpus/transcode");
        let mut inputs = 0;
        for file in std::fs::read_dir(folder).unwrap() {
            super::check(&std::fs::read(file.unwrap().path()).unwrap());
            inputs += 1;
        }
        assert!(inputs > 100, "{inputs} inputs");
    }
}
