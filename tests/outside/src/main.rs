//! An ingester for the kinds of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    ingester::main(outside::KINDS)
}
