//! The options for sharing the work among several ingesters.

use super::{ConfigError, Replicas};

impl Replicas {
    /// Returns the number of shards of a kind: one if the work is not shared.
    pub fn shards_of(&self, kind: &str) -> u32 {
        if !self.enabled {
            return 1;
        }
        self.shards_map.get(kind).copied().unwrap_or(self.shards)
    }

    /// Checks that the times fit together, with the conditions of client-go's leader election.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let wrong = |message: String| Err(ConfigError::from_message(message));
        let shown = |time: std::time::Duration| format!("{time:?}");
        if self.lease_duration.subsec_nanos() != 0 {
            return wrong(format!(
                "`ingester.replicas.leaseDuration` is in whole seconds, because a Lease has no parts of them, and not {}",
                shown(self.lease_duration)
            ));
        }
        if self.renew_deadline >= self.lease_duration {
            return wrong(format!(
                "`ingester.replicas.renewDeadline` ({}) must be shorter than `ingester.replicas.leaseDuration` ({}): a member has to stop \
                 before others take over",
                shown(self.renew_deadline),
                shown(self.lease_duration)
            ));
        }
        if self.retry_period * 2 > self.renew_deadline {
            return wrong(format!(
                "`ingester.replicas.retryPeriod` ({}) must be at most half of `ingester.replicas.renewDeadline` ({}), so that one renewal \
                 may fail",
                shown(self.retry_period),
                shown(self.renew_deadline)
            ));
        }
        Ok(())
    }
}
