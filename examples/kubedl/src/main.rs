//! An ingester for KubeDL.

use std::process::ExitCode;

fn main() -> ExitCode {
    ingester::Program::new(kubedl_specs::KINDS).views(kubedl_specs::VIEWS).sql(kubedl_specs::SQL).main()
}
