//! Audits from time to time, concurrently with the mirror. The findings go into metrics and the log, and are not repaired.

use super::{AuditReport, Counts, audit_parts};
use crate::events::Publisher;
use crate::health::Health;
use crate::metrics::{FINDINGS, Metrics};
use crate::replicas::Assignment;
use crate::sync::Context;
use crate::unit::{Scope, scopes};
use ingester_config::{Config, Live};
use ingester_core::kind::Kind;
use parking_lot::Mutex;
use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher as _;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The pause before another look at a kind that was not in SQL yet.
const SOON: Duration = Duration::from_secs(10);

/// The shortest pause from the end of one round to the begin of the next.
const SHORTEST: Duration = Duration::from_secs(1);

/// The number of findings per kind that the log names.
const NAMED: usize = 10;

/// The units of a kind that this process holds.
fn held(kind: &Kind, config: &Config, assignment: &Assignment) -> Vec<Scope> {
    let mut units = scopes(std::slice::from_ref(kind), config);
    units.retain(|unit| assignment.holds(&unit.name()));
    units
}

fn names(units: &[Scope]) -> BTreeSet<String> {
    units.iter().map(Scope::name).collect()
}

/// The units whose findings are shown, by kind.
#[derive(Default)]
struct ReportedUnits(Mutex<BTreeMap<Box<str>, BTreeSet<String>>>);

impl ReportedUnits {
    fn units(&self) -> parking_lot::MutexGuard<'_, BTreeMap<Box<str>, BTreeSet<String>>> {
        self.0.lock()
    }

    /// Forgets the findings of kinds that are not audited any more, and of kinds with a unit that another member now holds: this process
    /// would never take these findings back.
    fn forget(&self, kinds: &[Kind], config: &Config, assignment: &Assignment, metrics: &Metrics) {
        let mut units = self.units();
        for kind in kinds {
            let name = kind.name();
            let Some(shown) = units.get(name) else { continue };
            let is_off = config.ingester.audit_period.is_none() || config.ingester.is_suspended(name);
            if is_off || !shown.is_subset(&names(&held(kind, config, assignment))) {
                metrics.audit(name).forgotten();
                units.remove(name);
            }
        }
    }
}

/// Compares the kinds one after the other, every `ingester.auditPeriod`, until `stop` is cancelled. Suspended kinds are skipped, and kinds
/// whose first list is not in SQL yet are tried again soon. Where the work is shared, each member compares the part that it mirrors,
/// because no other member knows how much of it is in SQL.
///
/// The first round begins at a random time within the period, so that ingesters that start together do not run in step.
pub async fn audit_periodically(context: &Context, kinds: &[Kind], live: &Live, stop: &CancellationToken) {
    let chance =
        f64::from(u32::try_from(RandomState::new().hash_one(0) >> 32).unwrap_or_default()) / f64::from(u32::MAX);
    let begin = Instant::now();
    let mut last = None;
    let mut left = Vec::new();
    let mut moves = context.assignment.changes();
    let shown = ReportedUnits::default();
    loop {
        let config = live.now();
        let now = config.ingester.audit_period;
        let suspended = config.ingester.suspend.clone();
        shown.forget(kinds, &config, &context.assignment, &context.metrics);
        let whole = now.map(|period| match last {
            Some(last) => last + period.max(SHORTEST),
            None => begin + period.mul_f64(chance),
        });
        let due = whole.map(|whole| if left.is_empty() { whole } else { whole.min(Instant::now() + SOON) });
        let wait = async {
            match due {
                Some(due) => tokio::time::sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            () = live.changed(&now, |config| config.ingester.audit_period) => continue,
            () = live.changed(&suspended, |config| config.ingester.suspend.clone()) => continue,
            () = moves.next() => continue,
            () = wait => {}
        }
        let is_whole = whole.is_some_and(|whole| whole <= Instant::now());
        let these = std::mem::take(&mut left);
        let these = if is_whole { kinds.to_vec() } else { these };
        let mut rounding = std::pin::pin!(round(context, &these, live, &shown));
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = live.changed(&now, |config| config.ingester.audit_period) => break,
                () = moves.next() => shown.forget(kinds, &live.now(), &context.assignment, &context.metrics),
                pending = &mut rounding => {
                    left = pending;
                    break;
                }
            }
        }
        if is_whole {
            last = Some(Instant::now());
        }
    }
}

/// Audits one kind after the other. Returns the kinds that are not in SQL yet.
async fn round(context: &Context, kinds: &[Kind], live: &Live, shown: &ReportedUnits) -> Vec<Kind> {
    let mut pending = Vec::new();
    for kind in kinds.iter().filter(|kind| live.now().ingester.has_kind(kind.name())) {
        let name = kind.name();
        let config = live.now();
        let mut moves = context.assignment.changes();
        let units = held(kind, &config, &context.assignment);
        if config.ingester.is_suspended(name) || units.is_empty() {
            continue;
        }
        if units.iter().any(|unit| context.health.is_pending(&unit.name())) {
            pending.push(*kind);
            continue;
        }
        let moved = async {
            while names(&held(kind, &config, &context.assignment)) == names(&units) {
                moves.next().await;
            }
        };
        tokio::select! {
            biased;
            () = live.changed(&false, |config| config.ingester.is_suspended(name)) => {}
            // A unit that is not mirrored for a moment may differ during that time.
            () = moved => pending.push(*kind),
            done = one(context, *kind, &units, live) => {
                if done {
                    shown.units().insert(name.into(), names(&units));
                }
            }
        }
    }
    pending
}

/// Audits these units of one kind. Returns true if the audit was completed.
async fn one(context: &Context, kind: Kind, units: &[Scope], live: &Live) -> bool {
    let name = kind.name();
    let counted = context.metrics.audit(kind.name());
    // The audit's own requests and memory must not count as the mirror's.
    let metrics = match Metrics::new() {
        Ok(metrics) => metrics,
        Err(error) => {
            tracing::warn!(kind = name, %error, "Audit not started, trying again in the next period");
            return false;
        }
    };
    let own = Context {
        metrics,
        health: Health::new([]),
        publisher: Publisher::off(),
        assignment: Assignment::alone(),
        ..context.clone()
    };
    let mut report = AuditReport::new(NAMED);
    let done = audit_parts(&own, &[kind], Some(units), &live.now(), false, &mut report, &|_, _| {}).await;
    if let Err(error) = done {
        counted.failed();
        tracing::warn!(kind = name, %error, "Audit given up until the next");
        return false;
    }
    let counts = report.kind(name).clone();
    counted.succeeded(of_each(&counts));
    let objects = counts.objects;
    let rows = counts.rows;
    if report.is_clean() {
        tracing::info!(kind = name, objects, rows, "Audit found nothing");
        return true;
    }
    for entry in &report.findings {
        let namespace = &entry.namespace;
        let object = &entry.name;
        tracing::warn!(kind = name, namespace, name = object, finding = entry.finding.name(), detail = %entry.finding, "Audit");
    }
    let findings = counts.findings();
    tracing::warn!(
        kind = name,
        objects,
        rows,
        findings,
        unlisted = report.unlisted,
        "Audit found differences: `ingester audit --repair` repairs them"
    );
    true
}

/// Returns the counts in the order of [`FINDINGS`].
fn of_each(counts: &Counts) -> [u64; FINDINGS.len()] {
    let Counts { missing, stale, ahead, different, deleted, orphaned, ghost, rejected, .. } = *counts;
    [missing, stale, ahead, different, deleted, orphaned, ghost, rejected]
}

#[cfg(test)]
mod tests {
    use super::{Counts, FINDINGS, ReportedUnits, held, names, of_each};
    use crate::audit::{AuditReport, Finding, ReportEntry};
    use crate::fixture::MODEL;
    use crate::metrics::Metrics;
    use crate::replicas::Assignment;
    use ingester_config::Config;
    use std::time::Duration;

    #[test]
    fn findings_are_forgotten_when_a_part_goes_to_another_member() {
        let mut config = Config::default();
        config.ingester.audit_period = Some(Duration::from_secs(60));
        (config.ingester.replicas.enabled, config.ingester.replicas.shards) = (true, 2);
        let (assignment, metrics, shown) =
            (Assignment::of_members(), Metrics::new().unwrap(), ReportedUnits::default());
        let units = ["Model 1/2", "Model 2/2"].map(str::to_owned);
        let found = || metrics.render().contains("ingester_audit_findings{finding=\"missing\",kind=\"Model\"} 4\n");
        let forgets = |config: &Config, now: &[String]| {
            assignment.allow(units.clone().into());
            shown.units().insert("Model".into(), names(&held(&MODEL, config, &assignment)));
            metrics.audit("Model").succeeded([4, 0, 0, 0, 0, 0, 0, 0]);
            assert!(found());
            assignment.allow(now.iter().cloned().collect());
            shown.forget(&[MODEL], config, &assignment, &metrics);
            !found()
        };
        assert!(!forgets(&config, &units));
        assert!(forgets(&config, &units[1..]) && forgets(&config, &[]));
        config.ingester.suspend = vec!["Model".into()];
        assert!(forgets(&config, &units));
        config.ingester.suspend.clear();
        config.ingester.audit_period = None;
        assert!(forgets(&config, &units));
    }

    #[test]
    fn each_finding_counts_under_its_own_name() {
        for (place, finding) in [
            Finding::Missing,
            Finding::Stale { wanted: 2, stored: 1 },
            Finding::Ahead { wanted: 1, stored: 2 },
            Finding::Different(Vec::new()),
            Finding::Deleted,
            Finding::Orphaned,
            Finding::Ghost { object: 1, stored: 2 },
            Finding::Rejected("x".into()),
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!(finding.name(), FINDINGS[place]);
            let mut report = AuditReport::new(0);
            let [kind, namespace, name, uid] = ["Model", "", "", ""].map(str::to_owned);
            report.add(ReportEntry { kind, namespace, name, uid, finding });
            let mut expected = [0; FINDINGS.len()];
            expected[place] = 1;
            let counts: &Counts = report.kind("Model");
            assert_eq!(of_each(counts), expected);
        }
    }
}
