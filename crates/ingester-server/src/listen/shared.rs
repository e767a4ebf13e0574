//! State that all connections share.

use super::{Limits, Security};
use crate::access::AccessLogs;
use crate::metrics::Metrics;
use tokio_util::sync::CancellationToken;

/// The state of a server that each connection needs.
#[derive(Debug)]
pub(super) struct ListenerState {
    pub(super) limits: Limits,
    pub(super) metrics: Metrics,
    pub(super) logs: AccessLogs,
    pub(super) security: Security,
    /// Cancelled when no further request is accepted.
    pub(super) stop: CancellationToken,
}
