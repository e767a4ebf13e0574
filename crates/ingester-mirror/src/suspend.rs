//! Kinds that are suspended: nothing is written for them, neither to the database nor to the cluster.
//!
//! May use: ingester-config, ingester-core, metrics.
//!
//! Work that writes for a kind holds a [`Permit`] and gives it back once it is revoked. A kind counts as suspended, and a log line says so,
//! when the last permit is back: from then on nothing changes.

use crate::metrics::Metrics;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use ingester_config::{Config, Live};
use ingester_core::kind::Kind;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::{OwnedRwLockReadGuard, RwLock, watch};

/// Knows which kinds are suspended. Clones share it.
#[derive(Clone, Debug)]
pub struct Suspension(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    switches: BTreeMap<&'static str, Switch>,
    metrics: Metrics,
}

/// The switch of one kind.
#[derive(Debug)]
struct Switch {
    suspended: watch::Sender<bool>,
    /// Held for reading by work that writes for the kind.
    work: Arc<RwLock<()>>,
}

/// The right to write for a kind, until it is dropped. [`Permit::revoked`] signals when to drop it.
#[derive(Debug)]
pub struct Permit {
    _work: OwnedRwLockReadGuard<()>,
    suspended: watch::Receiver<bool>,
}

impl Permit {
    /// Waits until the kind is being suspended. The holder may finish work that has begun, but must not begin new work.
    pub async fn revoked(&mut self) {
        if self.suspended.wait_for(|suspended| *suspended).await.is_err() {
            // Nobody can suspend it any more.
            std::future::pending().await
        }
    }
}

impl Suspension {
    /// Suspends kinds as the configuration says, and logs it.
    pub fn new(kinds: &[Kind], config: &Config, metrics: &Metrics) -> Self {
        let switch = |kind: &Kind| {
            let suspended = config.ingester.is_suspended(kind.name());
            let switch = Switch { suspended: watch::Sender::new(suspended), work: Arc::default() };
            metrics.suspended(kind.name(), suspended);
            if suspended {
                say_suspended(kind.name());
            }
            (kind.name(), switch)
        };
        let switches = kinds.iter().map(switch).collect();
        Suspension(Arc::new(Inner { switches, metrics: metrics.clone() }))
    }

    /// Suspends and resumes kinds as the configuration changes. Never returns.
    pub async fn follow(&self, live: &Live) {
        let mut settling = FuturesUnordered::new();
        loop {
            let wanted = live.now().ingester.suspend.clone();
            settling.extend(self.set(&wanted).into_iter().map(|(kind, switch)| self.settle(kind, switch)));
            let mut changed = std::pin::pin!(live.changed(&wanted, |config| config.ingester.suspend.clone()));
            loop {
                // The settling task starts first, so that it sees every change of its flag.
                tokio::select! {
                    biased;
                    Some(()) = settling.next() => {}
                    () = &mut changed => break,
                }
            }
        }
    }

    /// Suspends these kinds and no others. Returns the kinds whose suspension begins now.
    fn set(&self, kinds: &[String]) -> Vec<(&'static str, &Switch)> {
        let mut settling = Vec::new();
        for (kind, switch) in &self.0.switches {
            let wanted = kinds.iter().any(|name| name == *kind);
            // Set the flag before taking the lock: a permit that is given after that comes back at once.
            if switch.suspended.send_replace(wanted) == wanted {
                continue;
            }
            if wanted {
                tracing::info!(kind, "Kind is being suspended: finishing the work that has begun");
                settling.push((*kind, switch));
            } else {
                self.0.metrics.suspended(kind, false);
                tracing::info!(kind, "Kind is resumed: it is listed as after a restart");
            }
        }
        settling
    }

    /// Waits until no work writes for the kind any more, and logs that; or until the kind is resumed, without a log line.
    async fn settle(&self, kind: &str, switch: &Switch) {
        let mut suspended = switch.suspended.subscribe();
        tokio::select! {
            biased;
            // Stop waiting: waiting for the lock blocks new permits of a kind that has been resumed.
            _ = suspended.wait_for(|suspended| !*suspended) => {}
            _ = switch.work.write() => {
                self.0.metrics.suspended(kind, true);
                say_suspended(kind);
            }
        }
    }

    /// Returns true if the kind is suspended, or is being suspended.
    pub fn is_suspended(&self, kind: &str) -> bool {
        self.0.switches.get(kind).is_some_and(|switch| *switch.suspended.borrow())
    }

    /// Waits until work may write for the kind. `None` for a kind that is not mirrored.
    pub async fn permit(&self, kind: &str) -> Option<Permit> {
        let switch = self.0.switches.get(kind)?;
        let mut suspended = switch.suspended.subscribe();
        loop {
            suspended.wait_for(|suspended| !*suspended).await.ok()?;
            let work = switch.work.clone().read_owned().await;
            if !*suspended.borrow() {
                return Some(Permit { _work: work, suspended });
            }
        }
    }
}

fn say_suspended(kind: &str) {
    tracing::warn!(kind, "Kind is suspended: nothing is written for it until it is removed from ingester.suspend");
}

#[cfg(test)]
mod tests {
    use super::Suspension;
    use crate::fixture::MODEL;
    use crate::metrics::Metrics;
    use ingester_config::{Config, Live};
    use ingester_core::Kind;
    use ingester_core::kind::Definition;
    use std::sync::Arc;
    use std::time::Duration;
    use tokio::time::timeout;

    fn config(kinds: &[&str]) -> Config {
        let mut config = Config::default();
        config.ingester.suspend = kinds.iter().map(|kind| (*kind).to_owned()).collect();
        config
    }

    async fn waits<T>(future: impl Future<Output = T>) -> bool {
        timeout(Duration::from_secs(60), future).await.is_err()
    }

    #[tokio::test(start_paused = true)]
    async fn a_kind_is_suspended_once_every_permit_is_back() {
        let suspension = Suspension::new(&[MODEL], &config(&[]), &Metrics::new().unwrap());
        let mut permit = suspension.permit("Model").await.unwrap();
        assert!(waits(permit.revoked()).await);
        let settling = suspension.set(&["Model".to_owned()]);
        let [(kind, switch)] = settling[..] else { panic!("{settling:?}") };
        let mut suspending = std::pin::pin!(suspension.settle(kind, switch));
        assert!(waits(&mut suspending).await, "the permit is out");
        assert!(!waits(permit.revoked()).await);
        assert!(waits(suspension.permit("Model")).await, "no new one");
        drop(permit);
        suspending.await;
        assert!(suspension.is_suspended("Model"));
        assert!(waits(suspension.permit("Model")).await);
        assert!(suspension.set(&[]).is_empty());
        assert!(!waits(suspension.permit("Model")).await);
        assert!(suspension.permit("Unknown").await.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_permit_that_stays_out_holds_up_no_other_change() {
        let project = Kind::new(Definition { kind: "Project", ..*MODEL.definition() }, *MODEL.functions());
        let metrics = Metrics::new().unwrap();
        let suspension = Suspension::new(&[MODEL, project], &config(&[]), &metrics);
        let shown = || {
            let text = metrics.render();
            ["Model", "Project"].map(|kind| text.contains(&format!("ingester_suspended{{kind=\"{kind}\"}} 1\n")))
        };
        let (sender, live) = Live::new(config(&[]));
        let following = suspension.clone();
        tokio::spawn(async move { following.follow(&live).await });
        let change = async |kinds: &[&str]| {
            sender.send_replace(Arc::new(config(kinds)));
            tokio::time::sleep(Duration::from_secs(1)).await;
        };
        let never_back = suspension.permit("Model").await.unwrap();
        change(&["Model"]).await;
        assert_eq!((suspension.is_suspended("Model"), shown()), (true, [false, false]));
        change(&["Model", "Project"]).await;
        assert_eq!(shown(), [false, true], "another kind is suspended meanwhile");
        change(&["Project"]).await;
        assert!(!suspension.is_suspended("Model"));
        assert!(!waits(suspension.permit("Model")).await, "the kind goes on");
        drop(never_back);
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(shown(), [false, true], "it is not said to be suspended afterwards");
        change(&["Model"]).await;
        assert_eq!(shown(), [true, false]);
    }

    #[tokio::test(start_paused = true)]
    async fn kinds_follow_the_configuration() {
        let metrics = Metrics::new().unwrap();
        let suspension = Suspension::new(&[MODEL], &config(&["Model"]), &metrics);
        let series = |value: u8| format!("ingester_suspended{{kind=\"Model\"}} {value}\n");
        assert!(metrics.render().contains(&series(1)));
        let (sender, live) = Live::new(config(&["Model"]));
        let following = suspension.clone();
        tokio::spawn(async move { following.follow(&live).await });
        assert!(waits(suspension.permit("Model")).await);
        sender.send_replace(Arc::new(config(&[])));
        let permit = suspension.permit("Model").await;
        assert!(metrics.render().contains(&series(0)));
        sender.send_replace(Arc::new(config(&["Model"])));
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(metrics.render().contains(&series(0)), "not yet");
        drop(permit);
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(metrics.render().contains(&series(1)));
    }
}
