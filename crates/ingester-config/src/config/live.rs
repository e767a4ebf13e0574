//! The current configuration, and the changes of its file that take effect while the program runs.

use super::Config;
use super::row::{ConfigChanges, Settings as _};
use std::sync::Arc;
use tokio::sync::watch;

/// The configuration of a running program. Clones share it.
#[derive(Clone, Debug)]
pub struct Live(watch::Receiver<Arc<Config>>);

impl Live {
    /// Returns a configuration, and the sender for a changed one. Only [`Config::take_up`] knows the values that may change.
    pub fn new(config: Config) -> (watch::Sender<Arc<Config>>, Self) {
        let (sender, receiver) = watch::channel(Arc::new(config));
        (sender, Live(receiver))
    }

    /// Returns a configuration that never changes.
    pub fn fixed(config: Config) -> Self {
        Live::new(config).1
    }

    /// Returns the present configuration.
    pub fn now(&self) -> Arc<Config> {
        self.0.borrow().clone()
    }

    /// Waits until the value that `of` takes from the configuration differs from `before`.
    pub async fn changed<T: PartialEq>(&self, before: &T, of: impl Fn(&Config) -> T) {
        let changed = self.0.clone().wait_for(|config| of(config) != *before).await.is_ok();
        if !changed {
            // The sender is gone, so the configuration can no longer change.
            std::future::pending().await
        }
    }
}

impl Config {
    /// Takes up the values of a changed file that `ingester run` can change while it runs.
    pub fn take_up(&mut self, changed: &Config) -> ConfigChanges {
        let mut changes = ConfigChanges::default();
        self.change(changed, &mut changes);
        changes
    }
}
