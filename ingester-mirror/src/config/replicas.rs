//! How several ingesters share the work.

use super::ConfigError;
use std::collections::BTreeMap;
use std::time::Duration;

/// Section `ingester.replicas`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replicas {
    /// `enabled`: whether the work is shared with others. If not, this process does all of it.
    pub enabled: bool,
    /// `name`: what the names of the Leases begin with.
    pub name: String,
    /// `namespace`: where the Leases are; `None` for the namespace of the pod, or that of the kubeconfig.
    pub namespace: Option<String>,
    /// `leaseDuration`: how long others wait for a member that does not renew its Lease, in whole seconds.
    pub lease_duration: Duration,
    /// `renewDeadline`: how long a member tries to renew its Lease before it stops its work.
    pub renew_deadline: Duration,
    /// `retryPeriod`: the pause between two renewals.
    pub retry_period: Duration,
    /// `shards`: into how many parts each kind is split.
    pub shards: u32,
    /// `shardsMap`: the same for individual kinds.
    pub shards_map: BTreeMap<String, u32>,
}

/// Those of client-go's leader election.
impl Default for Replicas {
    fn default() -> Self {
        Replicas {
            enabled: false,
            name: "ingester".into(),
            namespace: None,
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
            shards: 1,
            shards_map: BTreeMap::new(),
        }
    }
}

impl Replicas {
    /// Into how many shards a kind is split: one where the work is not shared.
    pub fn shards_of(&self, kind: &str) -> u32 {
        if !self.enabled {
            return 1;
        }
        self.shards_map.get(kind).copied().unwrap_or(self.shards)
    }

    /// Whether the times fit together, as client-go's leader election asks for them.
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
