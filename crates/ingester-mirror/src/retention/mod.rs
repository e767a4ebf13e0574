//! Purges rows by rules, old former versions, and old entries of the log of changes, while the mirror runs. The age of `retention.deleted`
//! is one of the rules. Rows of evicted objects are the only copies of them: only a rule that names evicted rows purges them. Every list
//! removes the rejects of objects that are gone.
//!
//! May use: ingester-config, ingester-core, ingester-sql, ingester-store, metrics, policies, replicas, suspend, unit.
//!
//! | file | what it does |
//! |---|---|
//! | `rules.rs` | combines all rules about the rows of a state, and decides how they are carried out |
//! | `apply.rs` | marking and purging rows that rules have judged |
//! | `rows.rs` | the rows that a rule covers |
//! | `forecast.rs` | the rows that a rule would purge, for people |
//!
//! # Guarantees
//! - A row is purged only if every rule that covers it lets it go and one of these rules is enforced.
//! - A row is judged only if the present definition of its kind computed the values that rules read: its `ingest_version` says so, and its
//!   text proves it under the row's lock.
//! - A row is purged under its lock, if it is unchanged since it was judged: version, state and times.
//! - The row of an evicted object is marked first. It is purged after a grace, if the same rule still lets it go.
//! - Once the rules have changed, a round ends with its current batch.
//! - The last rows of each group of a snapshot stay; each round takes a new snapshot.
//! - If a rule exports, a row is in a synced file before it is purged.

mod apply;
mod forecast;
mod rows;
mod rules;
#[cfg(test)]
mod tests;

pub use forecast::{RetentionForecast, RowFate, check, forecast};
pub use rules::HoldingRule;

#[cfg(test)]
pub(crate) use apply::apply;
#[cfg(test)]
pub(crate) use rows::{CoveredRow, CoveredRows, Portion, RetainedRows, RowSelection};

use crate::metrics::Metrics;
use crate::policies::{PolicyError, unproved};
use crate::replicas::Assignment;
use crate::suspend::Suspension;
use crate::unit::{in_time, leads};
use apply::RetentionResult;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use ingester_config::{Config, Live, RetainedState, Retention, RetentionRule, RetentionTime};
use ingester_core::Kind;
use ingester_core::value::Micros;
use ingester_store::marks::{Mark, MarkingRule, Withdrawal};
use ingester_store::{ExportError, Premise, PurgePlace, PurgeTerms, Store, StoreError};
use rules::{Executor, is_by_age};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

/// The longest pause between two rounds.
const LONGEST: Duration = Duration::from_secs(3600);

/// The shortest pause between two rounds.
const SHORTEST: Duration = Duration::from_secs(1);

/// The number of rows that are marked or purged in one transaction.
const BATCH: usize = 128;

/// The age from which the pause is computed if a rule has no age.
const AGELESS: Duration = Duration::from_secs(600);

/// Purges rows of some kinds and former versions of their objects, as the configuration's `retention` says, and their entries in the log,
/// as `changes.retention` says.
///
/// Ages are compared with the database's clock, which has written the times. Batches are small, and the pause after a batch is as long as
/// the batch took, so the mirror has at least half of the time. An error is logged, and the next round goes on. A suspended kind keeps all
/// of its rows.
pub struct RetentionTask {
    /// The database.
    pub store: Arc<Store>,
    /// The kinds.
    pub kinds: Vec<Kind>,
    /// The configuration, which can change while the task runs.
    pub live: Live,
    /// The kinds that are suspended.
    pub suspension: Suspension,
    /// The kinds that this process leads.
    pub assignment: Assignment,
    /// The metrics that count purged rows.
    pub metrics: Metrics,
}

impl RetentionTask {
    /// Purges until `stop` is cancelled.
    pub async fn run(self, stop: CancellationToken) {
        let ages = |config: &Config| (config.retention.clone(), config.changes.retention);
        while !stop.is_cancelled() {
            // Read these before the round: if they change during it, kinds that are done need another round at once.
            let before = ages(&self.live.now());
            for kind in &self.kinds {
                let span = tracing::error_span!("retention", kind = kind.name());
                self.purge_all(kind, &stop).instrument(span).await;
            }
            let (retention, changes) = &before;
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                () = tokio::time::sleep(self.pause(retention, *changes)) => {}
                () = self.live.changed(&before, ages) => {}
            }
        }
    }

    /// Returns the pause after a round: a tenth of the shortest age, so that no row stays much longer than intended.
    fn pause(&self, retention: &Retention, changes: Duration) -> Duration {
        let age = |kind: &Kind| match retention.for_kind(kind) {
            Some(RetentionTime::For(age)) => Some(age),
            _ => None,
        };
        let of_rules = retention.rules.iter().map(|rule| rule.condition.after.unwrap_or(AGELESS));
        let has_steps = retention.rules.iter().any(|rule| rule.state == RetainedState::Evicted);
        let of_grace = Some(retention.grace).filter(|_| has_steps);
        // A kind without a history has no former versions.
        let of_history = self.kinds.iter().filter_map(|kind| retention.of_history(kind)).filter(|age| !age.is_zero());
        let of_kinds = self.kinds.iter().filter_map(age).chain(of_history);
        let shortest = of_kinds.chain(of_rules).chain(of_grace).fold(changes, Duration::min);
        (shortest / 10).clamp(SHORTEST, LONGEST)
    }

    /// Purges a kind's rows, former versions and changes. A failure is logged, and the next round tries again.
    async fn purge_all(&self, kind: &Kind, stop: &CancellationToken) {
        self.purge_rows(kind, stop).await;
        if let Err(error) = self.purge_history(kind, stop).await {
            tracing::warn!(%error, "Cannot purge old versions, trying again later");
        }
        if let Err(error) = self.purge_changes(kind, stop).await {
            tracing::warn!(%error, "Cannot purge old changes, trying again later");
        }
    }

    /// Purges a kind's rows as its rules say, and counts the rows that judging rules let go.
    async fn purge_rows(&self, kind: &Kind, stop: &CancellationToken) {
        let mut dry = 0;
        let mut waiting = 0;
        for state in RetainedState::ALL {
            let config = self.live.now();
            if !leads(kind, &config, &self.assignment) {
                continue;
            }
            let rules = rules::rules(&config.retention, kind, state);
            match Executor::for_state(state, &rules) {
                Executor::Nothing => {}
                Executor::Age(_) => self.purge_by_age(kind, stop).await,
                Executor::Judge => {
                    let rows = RowsOfTask { task: self, kind, state, rules: &rules, stop };
                    let applied = rows.purge_judged(config.retention.grace).await;
                    (dry, waiting) = (dry + applied.dry, waiting + applied.waiting);
                }
            }
        }
        self.metrics.retention(kind.name()).rules(dry + waiting, waiting);
    }

    /// Purges a kind's rows by age alone.
    async fn purge_by_age(&self, kind: &Kind, stop: &CancellationToken) {
        let mut rows = 0;
        if let Err(error) = self.purge_older(kind, &mut rows, stop).await {
            tracing::warn!(%error, "Cannot purge rows of deleted objects, trying again later");
        }
        if rows > 0 {
            tracing::info!(rows, "Purged rows of deleted objects");
        }
    }

    /// Purges a kind's rows by age, batch by batch while the rules still say so, and counts them.
    async fn purge_older(&self, kind: &Kind, rows: &mut u64, stop: &CancellationToken) -> Result<(), StoreError> {
        let metrics = self.metrics.retention(kind.name());
        let mut place = PurgePlace::default();
        while !stop.is_cancelled() {
            let config = self.live.now();
            let rules = rules::rules(&config.retention, kind, RetainedState::Deleted);
            let Executor::Age(age) = Executor::for_state(RetainedState::Deleted, &rules) else { break };
            if !leads(kind, &config, &self.assignment) {
                break;
            }
            // While the kind is suspended, there is no permit.
            let Some(permit) = self.suspension.permit(kind.name()).now_or_never().flatten() else { break };
            let begin = Instant::now();
            // Time out here. If the database hangs while we hold the permit, nobody can suspend the kind.
            let batch = in_time("purging rows", self.store.purge_older(kind, age, &mut place)).await?;
            drop(permit);
            *rows += batch.rows;
            metrics.purged(batch.rows);
            if !batch.more {
                break;
            }
            let _ = stop.run_until_cancelled(tokio::time::sleep(begin.elapsed())).await;
        }
        Ok(())
    }

    /// Purges former versions of a kind's objects, batch by batch.
    async fn purge_history(&self, kind: &Kind, stop: &CancellationToken) -> Result<(), StoreError> {
        while kind.history().is_some() && !stop.is_cancelled() {
            let config = self.live.now();
            if !leads(kind, &config, &self.assignment) {
                break;
            }
            let Some(permit) = self.suspension.permit(kind.name()).now_or_never().flatten() else { break };
            let begin = Instant::now();
            let purged = self.store.purge_history(kind, config.retention.of_history(kind));
            let batch = in_time("purging former versions", purged).await?;
            drop(permit);
            if !batch.more {
                break;
            }
            let _ = stop.run_until_cancelled(tokio::time::sleep(begin.elapsed())).await;
        }
        Ok(())
    }

    /// Purges a kind's old entries in the log of changes, batch by batch.
    async fn purge_changes(&self, kind: &Kind, stop: &CancellationToken) -> Result<(), StoreError> {
        while !stop.is_cancelled() {
            let config = self.live.now();
            if !leads(kind, &config, &self.assignment) {
                break;
            }
            let begin = Instant::now();
            let purged = self.store.purge_changes(kind.table(), config.changes.retention);
            if !in_time("purging changes", purged).await?.more {
                break;
            }
            let _ = stop.run_until_cancelled(tokio::time::sleep(begin.elapsed())).await;
        }
        Ok(())
    }
}

/// Returns the first of these rules that cannot be judged about the kind.
fn wrong<'r>(kind: &Kind, rules: &'r [RetentionRule]) -> Option<(&'r str, PolicyError)> {
    let named = rules.iter().filter(|rule| !is_by_age(rule));
    named.filter_map(|rule| Some((rule.name.as_str(), check(kind, rule).err()?))).next()
}

/// The rows of a kind in a state, while this task may purge them by these rules.
struct RowsOfTask<'t> {
    task: &'t RetentionTask,
    kind: &'t Kind,
    state: RetainedState,
    rules: &'t [RetentionRule],
    stop: &'t CancellationToken,
}

impl RowsOfTask<'_> {
    /// Judges the rows and purges those that the rules let go.
    async fn purge_judged(&self, grace: Duration) -> RetentionResult {
        let metrics = self.task.metrics.retention(self.kind.name());
        // If one rule cannot be judged, nobody knows which rows it keeps.
        if let Some((rule, error)) = wrong(self.kind, self.rules) {
            tracing::warn!(rule, %error, "Cannot judge this rule: no row of its state is purged");
            metrics.failed(1);
            return RetentionResult::default();
        }
        let applied = apply::apply(self, self.state, self.rules.to_vec(), grace).await;
        metrics.pending_rows(self.state.as_str(), applied.pending.clone());
        metrics.failed(applied.failed);
        applied
    }

    /// Changes rows batch by batch while the kind is led and not suspended and the rules are the same as at the start of the round. Returns
    /// the sum of the results; `None` if a batch was not allowed any more.
    async fn in_batches<T, F: Future<Output = Result<u64, StoreError>>>(
        &self,
        all: &[T],
        doing: &'static str,
        mut change: impl FnMut(&[T]) -> F,
    ) -> Result<Option<u64>, StoreError> {
        let RetentionTask { live, suspension, assignment, .. } = self.task;
        let mut done = 0;
        for batch in all.chunks(BATCH) {
            let permit = suspension.permit(self.kind.name()).now_or_never().flatten();
            let config = live.now();
            let is_same = rules::rules(&config.retention, self.kind, self.state) == self.rules;
            let may = is_same && leads(self.kind, &config, assignment) && !self.stop.is_cancelled();
            let Some(permit) = permit.filter(|_| may) else { return Ok(None) };
            let begin = Instant::now();
            done += in_time(doing, change(batch)).await?;
            drop(permit);
            let _ = self.stop.run_until_cancelled(tokio::time::sleep(begin.elapsed())).await;
        }
        Ok(Some(done))
    }
}

impl rows::CoveredRows for RowsOfTask<'_> {
    fn premise<'a>(&'a self, rules: &'a [RetentionRule]) -> BoxFuture<'a, Result<Premise, PolicyError>> {
        async move { Ok(self.task.store.premise(self.kind, rows::reads(self.kind, rules)?).await?) }.boxed()
    }

    fn covered<'a>(
        &'a self,
        rule: &'a RetentionRule,
        which: rows::RowSelection<'a>,
    ) -> BoxFuture<'a, Result<rows::Portion, PolicyError>> {
        rows::covered(&self.task.store, self.kind, rule, which).boxed()
    }

    fn unproved<'a>(
        &'a self,
        uids: &'a [Box<str>],
        premise: &'a Premise,
    ) -> BoxFuture<'a, Result<HashSet<Box<str>>, PolicyError>> {
        unproved(&self.task.store, self.kind, uids, premise).boxed()
    }

    fn pending<'a>(&'a self, rule: &'a RetentionRule, premise: &'a Premise) -> BoxFuture<'a, Result<u64, PolicyError>> {
        rows::pending(&self.task.store, self.kind, rule, premise).boxed()
    }
}

impl rows::RetainedRows for RowsOfTask<'_> {
    fn now(&self) -> BoxFuture<'_, Result<Micros, StoreError>> {
        self.task.store.read_clock().boxed()
    }

    fn export<'a>(
        &'a self,
        folder: &'a Path,
        rows: &'a [rows::CoveredRow],
        undeleted: &'a HashSet<Box<str>>,
    ) -> BoxFuture<'a, Result<HashSet<Box<str>>, ExportError>> {
        async move {
            let exported = self.task.store.export(self.kind, folder, &rows::judged(rows), undeleted).await?;
            Ok(exported.into_iter().collect())
        }
        .boxed()
    }

    fn purge<'a>(
        &'a self,
        rows: &'a [rows::CoveredRow],
        terms: PurgeTerms<'a>,
    ) -> BoxFuture<'a, Result<Option<u64>, StoreError>> {
        let purge = move |rows: &[rows::CoveredRow]| {
            let rows = rows.to_vec();
            async move {
                let purged = self.task.store.purge_judged(self.kind, &rows::judged(&rows), terms).await?;
                self.task.metrics.retention(self.kind.name()).purged(purged);
                Ok(purged)
            }
        };
        self.in_batches(rows, "purging rows", purge).boxed()
    }

    fn marks_of<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<Vec<Mark>, StoreError>> {
        self.task.store.marks_of(self.kind.table(), uids).boxed()
    }

    fn marks_after<'a>(&'a self, last: Option<&'a Mark>) -> BoxFuture<'a, Result<Vec<Mark>, StoreError>> {
        self.task.store.marks_after(self.kind.table(), last).boxed()
    }

    fn mark<'a>(
        &'a self,
        rule: MarkingRule<'a>,
        rows: &'a [rows::CoveredRow],
        premise: &'a Premise,
    ) -> BoxFuture<'a, Result<Option<u64>, StoreError>> {
        let mark = move |rows: &[rows::CoveredRow]| {
            let rows = rows.to_vec();
            async move {
                let marking = self.task.store.mark_by_rule(self.kind, rule, &rows::judged(&rows), premise).await?;
                if marking.marked > 0 {
                    tracing::info!(
                        rule = rule.name,
                        rows = marking.marked,
                        "A rule has marked rows of evicted objects, to be purged after `retention.grace`"
                    );
                }
                Ok(marking.marked)
            }
        };
        self.in_batches(rows, "marking rows", mark).boxed()
    }

    fn withdraw<'a>(&'a self, marks: &'a [Mark]) -> BoxFuture<'a, Result<Option<u64>, StoreError>> {
        let withdraw = move |marks: &[Mark]| {
            let marks = marks.to_vec();
            async move {
                let withdrawn = self.task.store.withdraw_marks(self.kind, &marks, Withdrawal::Lapsed).await?;
                for (namespace, name) in withdrawn.namesakes {
                    tracing::warn!(namespace, name, "Mark removed, but the row stays deleted: a live row has its name");
                }
                Ok(withdrawn.restored)
            }
        };
        self.in_batches(marks, "taking marks back", withdraw).boxed()
    }
}
