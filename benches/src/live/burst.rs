//! Many updates at once, written straight into etcd.

use super::{Bench, seeds};
use crate::bare::{self, Watch};
use crate::by_hand::ByHand;
use crate::etcd;
use crate::objects::changed;
use crate::progress::{WRITTEN, count, settled, synced, until, value};
use crate::reference::Engine;
use crate::report::Report;
use anyhow::{Context as _, Result, ensure};
use ingester_tests::Ingester;
use std::time::Instant;

impl Bench<'_> {
    /// Measures bursts: a bare watch of one, the same updates by hand, a restart from before these events, and the time
    /// until the ingester has written another one.
    pub(super) async fn bursts<D: Engine>(
        &self,
        ingester: &Ingester,
        by_hand: &ByHand<'_, D>,
        report: &mut Report,
    ) -> Result<()> {
        let events = self.arguments.burst.min(self.objects);
        let (kind, path) = (self.kinds.first().context("a kind")?, self.paths.first().context("a kind")?);
        let mut watches = Vec::new();
        let mut hands = Vec::new();
        let mut longer = Vec::new();
        let mut restarts = Vec::new();
        let mut writes = Vec::new();
        let mut bursts = Vec::new();
        for round in 0..usize::from(self.arguments.rounds) {
            let first = self.burst(events, 2 * round)?;
            let second = self.burst(events, 2 * round + 1)?;
            ingester.stop()?;
            let version = bare::version(&self.client, path).await?;
            let mut watch = Watch::open(&self.client, path, version).await?;
            let start = Instant::now();
            tokio::try_join!(self.write(first), watch.read(events))?;
            let watched = start.elapsed();
            drop(watch);
            let updated = by_hand.update(events, round).await?;
            watches.push(watched);
            hands.push(updated);
            longer.push(watched.max(updated));

            let start = Instant::now();
            ingester.restart()?;
            restarts.push(synced(ingester, 1).await?.duration_since(start));
            settled(ingester).await?;
            let newer = count(&self.url, kind, version).await?;
            ensure!(newer == events as u64, "of {events} updates before a restart {newer} are in the rows");

            let version = bare::version(&self.client, path).await?;
            let goal = value(ingester, WRITTEN)? + events;
            let start = Instant::now();
            let (written, done) = tokio::try_join!(self.write(second), until(ingester, WRITTEN, goal))?;
            writes.push(written.duration_since(start));
            bursts.push(done.duration_since(start));
            report.memory(ingester, "after a burst")?;
            let newer = count(&self.url, kind, version).await?;
            ensure!(newer == events as u64, "of {events} updates {newer} are in the rows");
        }
        report.seconds(&format!("restart with {events} changed objects"), &restarts);
        report.seconds(&format!("{events} updates into etcd"), &writes);
        report.seconds("  bare watch of them", &watches);
        report.seconds("  updates by hand", &hands);
        report.beside("  until the last row (the longer of watch and by hand)", "s", &bursts, &longer);
        Ok(())
    }

    /// Transactions of updates, made before they are measured.
    fn burst(&self, events: usize, burst: usize) -> Result<Vec<Vec<u8>>> {
        let kind = self.kinds.first().context("a kind")?;
        let objects = seeds(kind, events, self.arguments.bytes()).map(|object| Ok(changed(&object?, burst)));
        etcd::transactions(kind, true, objects).collect()
    }

    /// Writes transactions into etcd. Returns when the last one was committed.
    async fn write(&self, transactions: Vec<Vec<u8>>) -> Result<Instant> {
        etcd::write(&self.cluster.etcd_url(), transactions.into_iter().map(Ok)).await?;
        Ok(Instant::now())
    }
}
