//! JSON to protobuf and back, of every kind.
#![no_main]

#[path = "../../../crd-specs/tests/transcode.rs"]
mod transcode;

libfuzzer_sys::fuzz_target!(|input: &[u8]| transcode::check(input));
