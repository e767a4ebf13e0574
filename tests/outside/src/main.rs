//! An ingester for the kinds of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    ingester::Program::new(outside::KINDS).sql(outside::SQL).main()
}
