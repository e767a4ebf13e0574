//! Audits from time to time, beside the mirror: what they find is a metric and a log line, and is not repaired.

use super::{AuditReport, Counts, audit};
use crate::config::Live;
use crate::events::Publisher;
use crate::health::Health;
use crate::metrics::{FINDINGS, Metrics};
use crate::replicas::Share;
use crate::sync::{Context, names};
use crate::unit::leads;
use ingester_core::kind::Kind;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How soon a kind that was not in SQL yet is looked at again.
const SOON: Duration = Duration::from_secs(10);

/// The shortest pause from the end of one round to the begin of the next.
const SHORTEST: Duration = Duration::from_secs(1);

/// How many findings of a kind are named in the log.
const NAMED: usize = 10;

/// Compares the kinds one after the other, every `ingester.auditPeriod`, until `stop` is cancelled. Suspended kinds are left out,
/// and those whose first list is not in SQL yet are looked at again soon.
///
/// The first time is at random within the period, so that ingesters that are started together do not come in step.
pub async fn audit_periodically(context: &Context, kinds: &[Kind], live: &Live, stop: &CancellationToken) {
    let chance =
        f64::from(u32::try_from(RandomState::new().hash_one(0) >> 32).unwrap_or_default()) / f64::from(u32::MAX);
    let (begin, mut last, mut left) = (Instant::now(), None, Vec::new());
    loop {
        let config = live.now();
        let (now, suspended) = (config.ingester.audit_period, config.ingester.suspend.clone());
        // Nobody would ever take back what was found.
        for kind in kinds.iter().filter(|kind| now.is_none() || config.ingester.is_suspended(kind.name())) {
            context.metrics.audit(kind.name()).forgotten();
        }
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
            () = wait => {}
        }
        let is_whole = whole.is_some_and(|whole| whole <= Instant::now());
        let these = std::mem::take(&mut left);
        let these = if is_whole { kinds.to_vec() } else { these };
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            () = live.changed(&now, |config| config.ingester.audit_period) => {}
            pending = round(context, &these, live) => left = pending,
        }
        if is_whole {
            last = Some(Instant::now());
        }
    }
}

/// One kind after the other. Returns those that are not in SQL yet.
async fn round(context: &Context, kinds: &[Kind], live: &Live) -> Vec<Kind> {
    let mut pending = Vec::new();
    for kind in kinds.iter().filter(|kind| live.now().ingester.has_kind(kind.name())) {
        let name = kind.name();
        let config = live.now();
        // Another member compares all of its own kinds, with all of their shards.
        if config.ingester.is_suspended(name) || !leads(kind, &config, &context.share) {
            continue;
        }
        if names(&[*kind], &config).iter().any(|name| context.health.is_pending(name)) {
            pending.push(*kind);
            continue;
        }
        tokio::select! {
            biased;
            () = live.changed(&false, |config| config.ingester.is_suspended(name)) => {}
            () = one(context, *kind, live) => {}
        }
    }
    pending
}

/// Audits one kind.
async fn one(context: &Context, kind: Kind, live: &Live) {
    let (name, counted) = (kind.name(), context.metrics.audit(kind.name()));
    // What the audit itself asks and holds is none of the mirror's.
    let metrics = match Metrics::new() {
        Ok(metrics) => metrics,
        Err(error) => return tracing::warn!(kind = name, %error, "Not audited"),
    };
    let own = Context {
        metrics,
        health: Health::new([]),
        publisher: Publisher::off(),
        share: Share::alone(),
        ..context.clone()
    };
    let mut report = AuditReport::new(NAMED);
    if let Err(error) = audit(&own, &[kind], &live.now(), false, &mut report, &|_, _| {}).await {
        counted.failed();
        return tracing::warn!(kind = name, %error, "Audit given up until the next");
    }
    let counts = report.kind(name).clone();
    counted.succeeded(of_each(&counts));
    let (objects, rows) = (counts.objects, counts.rows);
    if report.is_clean() {
        return tracing::info!(kind = name, objects, rows, "Audit found nothing");
    }
    for entry in &report.findings {
        let (namespace, object) = (&entry.namespace, &entry.name);
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
}

/// The counts in the order of [`FINDINGS`].
fn of_each(counts: &Counts) -> [u64; FINDINGS.len()] {
    let Counts { missing, stale, ahead, different, deleted, orphaned, rejected, .. } = *counts;
    [missing, stale, ahead, different, deleted, orphaned, rejected]
}

#[cfg(test)]
mod tests {
    use super::{Counts, FINDINGS, of_each};
    use crate::audit::{AuditReport, Finding, ReportEntry};

    #[test]
    fn each_finding_counts_under_its_own_name() {
        for (place, finding) in [
            Finding::Missing,
            Finding::Stale { wanted: 2, stored: 1 },
            Finding::Ahead { wanted: 1, stored: 2 },
            Finding::Different(Vec::new()),
            Finding::Deleted,
            Finding::Orphaned,
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
