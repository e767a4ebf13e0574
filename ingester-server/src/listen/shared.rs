//! State that all connections share.

use super::{Limits, Security};
use crate::access::AccessLogs;
use crate::metrics::Metrics;
use tokio_util::sync::CancellationToken;

/// What each connection has of its server.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) limits: Limits,
    pub(super) metrics: Metrics,
    pub(super) logs: AccessLogs,
    pub(super) security: Security,
    /// No further request.
    pub(super) stop: CancellationToken,
}
