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
        let wrong = |message: &str| Err(ConfigError::of(format!("`ingester.replicas`: {message}")));
        if self.lease_duration.subsec_nanos() != 0 {
            return wrong("`leaseDuration` is in whole seconds, because a Lease has no parts of them");
        }
        if self.renew_deadline >= self.lease_duration {
            return wrong(
                "`renewDeadline` must be shorter than `leaseDuration`: a member has to stop before others take over",
            );
        }
        if self.retry_period * 2 > self.renew_deadline {
            return wrong("`retryPeriod` must be at most half of `renewDeadline`, so that one renewal may fail");
        }
        Ok(())
    }
}
