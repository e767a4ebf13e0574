//! The current configuration, and which changes of its file take effect while the program runs.

use super::Config;
use super::row::{ConfigChanges, Settings as _};
use std::sync::Arc;
use tokio::sync::watch;

/// The configuration of a running program. Clones share it.
#[derive(Clone, Debug)]
pub struct Live(watch::Receiver<Arc<Config>>);

impl Live {
    /// A configuration, and where a changed one is sent. Only [`Config::take_up`] knows what may change in it.
    pub fn new(config: Config) -> (watch::Sender<Arc<Config>>, Self) {
        let (sender, receiver) = watch::channel(Arc::new(config));
        (sender, Live(receiver))
    }

    /// A configuration that never changes.
    pub fn fixed(config: Config) -> Self {
        Live::new(config).1
    }

    /// As it is now.
    pub fn now(&self) -> Arc<Config> {
        self.0.borrow().clone()
    }

    /// Waits until what `of` takes from it is not `before` any more.
    pub async fn changed<T: PartialEq>(&self, before: &T, of: impl Fn(&Config) -> T) {
        let changed = self.0.clone().wait_for(|config| of(config) != *before).await.is_ok();
        if !changed {
            // Nothing is left that could change it.
            std::future::pending().await
        }
    }
}

impl Config {
    /// Takes those values of a changed file that `ingester run` can take up while it runs.
    pub fn take_up(&mut self, changed: &Config) -> ConfigChanges {
        let mut changes = ConfigChanges::default();
        self.change(changed, &mut changes);
        changes
    }
}
