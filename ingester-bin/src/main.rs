//! The ingester for the kinds of `crd-specs`. A program for other kinds is this file with another registry.

use std::process::ExitCode;

fn main() -> ExitCode {
    ingester::Program::new(crd_specs::KINDS).sql(crd_specs::SQL).main()
}
