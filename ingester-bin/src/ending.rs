//! How commands end, and their exit codes.
//!
//! May use: ingester-store.

use ingester_store::StoreError;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Done: exit code 0.
    Done,
    /// The work found a problem, such as rejected objects or differences: exit code 1.
    Problem,
}

/// Why a command failed.
pub(crate) enum Failure {
    /// Wrong usage or configuration, such as a path that does not exist or a database that rejects the user: exit code 2.
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
