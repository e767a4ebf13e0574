//! Applies changes of the configuration file while the program runs.
//!
//! May use: ingester-config, ingester-core, ingester-mirror, ingester-store, logging.
//!
//! The file is read every few seconds. File notifications are useless here: in a volume of a ConfigMap the file is a link into a folder
//! that is swapped, and other file systems have no notifications.

use crate::logging::Level;
use ingester_config::{Config, ConfigChanges, Environment};
use ingester_core::{Kind, KindNames};
use ingester_mirror::metrics::Metrics;
use ingester_store::files;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The interval between readings of the file. A change counts after it was read twice: an editor may write a file in several steps.
const PERIOD: Duration = Duration::from_secs(2);

/// The configuration file of a running program.
pub(crate) struct Reload {
    pub(crate) file: PathBuf,
    /// The kinds that a configuration may name.
    pub(crate) kinds: KindNames,
    /// Called with each changed configuration once it is in use.
    pub(crate) taken_up: fn(&Config, &[Kind]),
    /// The kinds of the program.
    pub(crate) program_kinds: &'static [Kind],
    pub(crate) environment: Environment,
    /// The configuration in use.
    pub(crate) config: Config,
    /// The receiver of changes.
    pub(crate) live: watch::Sender<Arc<Config>>,
    pub(crate) level: Level,
    pub(crate) metrics: Metrics,
}

/// The text of the file, or the reason why it cannot be read.
type Content = Result<String, String>;

impl Reload {
    /// Follows the file until `stop` is cancelled.
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        let (mut before, mut used): (Option<Content>, Option<Content>) = (None, None);
        while stop.run_until_cancelled(tokio::time::sleep(PERIOD)).await.is_some() {
            let content = read(&self.file).await;
            let twice = before.as_ref() == Some(&content);
            if twice && used.as_ref() != Some(&content) {
                // It may have changed between the start and the first time.
                self.take_up(&content, used.is_none());
                used = Some(content.clone());
            }
            before = Some(content);
        }
    }

    /// Applies the file's present content. `first`: this is the first look, so nothing is logged if the content is already in use.
    fn take_up(&mut self, content: &Content, first: bool) {
        let parsed = match content {
            Ok(text) => Config::parse(text, &self.environment, &self.kinds).map_err(|error| error.to_string()),
            Err(error) => Err(format!("it cannot be read: {error}")),
        };
        let file = self.file.display();
        let changed = match parsed {
            Ok(changed) => changed,
            Err(error) => {
                self.metrics.config_reloaded(false);
                return tracing::error!(%file, error, "Configuration file cannot be used: the former configuration stays in use");
            }
        };
        let former = self.config.log.level;
        let changes = self.config.take_up(&changed);
        if first && changes == ConfigChanges::default() {
            return;
        }
        self.metrics.config_reloaded(true);
        // Send it before the log line: when the line can be read, the change has begun.
        self.live.send_replace(Arc::new(self.config.clone()));
        let level = self.config.log.level;
        // The line is shown if the old or the new level shows it.
        if level as u8 > former as u8 {
            self.set_level();
            say(&file.to_string(), &changes);
        } else {
            say(&file.to_string(), &changes);
            if level != former {
                self.set_level();
            }
        }
        (self.taken_up)(&self.config, self.program_kinds);
    }

    fn set_level(&self) {
        match self.level.set(self.config.log.level.as_str()) {
            Ok(true) => {}
            Ok(false) => tracing::warn!("log.level has no effect: RUST_LOG of the environment says what is logged"),
            Err(error) => tracing::error!(%error, "Cannot change log.level"),
        }
    }
}

fn say(file: &str, changes: &ConfigChanges) {
    let ConfigChanges { taken_up, need_a_restart } = changes;
    if taken_up.is_empty() && need_a_restart.is_empty() {
        return tracing::info!(file, "Configuration file changed, but none of its values");
    }
    if !taken_up.is_empty() {
        tracing::info!(file, keys = taken_up.join(", "), "Configuration changed");
    }
    if !need_a_restart.is_empty() {
        tracing::warn!(file, keys = need_a_restart.join(", "), "Configuration changed, but these keys need a restart");
    }
}

async fn read(file: &Path) -> Content {
    let file = file.to_owned();
    match tokio::task::spawn_blocking(move || files::read_text(&file)).await {
        Ok(read) => read.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[tokio::test]
    async fn a_file_that_is_not_utf8_is_told_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ingester.yaml");
        std::fs::write(&file, b"log:\n  # caf\xe9\n  level: info\n").unwrap();
        let said = read(&file).await.unwrap_err();
        assert!(said.starts_with("line 2 is not UTF-8; convert it: iconv"), "{said}");
    }
}
