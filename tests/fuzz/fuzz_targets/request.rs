//! Paths, parameters and media types of requests.
#![no_main]

#[path = "../../../crates/ingester-server/tests/request.rs"]
mod request;

libfuzzer_sys::fuzz_target!(|input: &[u8]| request::check(input));
