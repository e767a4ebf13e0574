//! How a command ends.
//!
//! May use: ingester-store.

use ingester_store::StoreError;

/// How a command ended; the numbers are the exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Done.
    Done,
    /// The work found a problem: rejected objects, differences.
    Problem,
}

/// Why a command did not end. Wrong use and configuration exit with 2, work that failed with 1.
pub(crate) enum Failure {
    /// Wrong use or configuration: the arguments, a path that is not there, a database that takes no rows from this user.
    Usage(anyhow::Error),
    /// The work failed.
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
