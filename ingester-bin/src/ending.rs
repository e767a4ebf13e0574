//! The outcomes of commands, and their exit codes.
//!
//! May use: ingester-store.

use ingester_store::StoreError;

/// The outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Done: exit code 0.
    Done,
    /// The work found a problem, such as rejected objects or differences: exit code 1.
    Problem,
    /// A signal stopped the work: 128 and its number, as a shell reports it.
    Interrupted(u8),
}

impl Ending {
    /// The exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Ending::Done => 0,
            Ending::Problem => 1,
            Ending::Interrupted(signal) => Ending::code_of_signal(signal),
        }
    }

    /// The exit code of a process that a signal ended.
    pub(crate) const fn code_of_signal(signal: u8) -> u8 {
        128 + signal
    }
}

/// The reason why a command failed.
pub(crate) enum Failure {
    /// The usage or configuration is wrong, such as a path that does not exist or a database that rejects the user; or no attempt was
    /// possible because a server does not answer: exit code 2.
    Usage(anyhow::Error),
    /// The work failed: exit code 1.
    Work(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Failure::Work(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        if error.is_configuration() { Failure::Usage(error.into()) } else { Failure::Work(error.into()) }
    }
}
