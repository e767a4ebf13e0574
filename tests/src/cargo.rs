//! The cargo that runs the tests, for tests that compile something.

use std::process::Command;

/// Returns a command of this cargo. Without the variable that `tests/runner.sh` sets for test programs: build scripts depend on it, so
/// everything in the target folder would be compiled again, now and by the next cargo.
pub fn cargo() -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.env_remove("RUSTC_BOOTSTRAP");
    command
}
