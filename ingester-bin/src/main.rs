//! The ingester for the kinds of `crd-specs`. A program for other kinds is this file with another manifest.

use std::process::ExitCode;

fn main() -> ExitCode {
    ingester::main(crd_specs::KINDS)
}
