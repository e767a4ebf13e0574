//! An ingester for datasets.

use std::process::ExitCode;

fn main() -> ExitCode {
    ingester::Program::new(dataset_operator::KINDS).sql(dataset_operator::SQL).main()
}
