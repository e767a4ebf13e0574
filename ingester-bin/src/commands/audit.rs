//! `ingester audit`: compares cluster and SQL, and prints the differences.

use super::chosen;
use crate::arguments::{Audit, Format};
use crate::ending::{Ending, Failure};
use crate::output::{Table, note, show};
use anyhow::anyhow;
use indicatif::{ProgressBar, ProgressStyle};
use ingester_core::Kind;
use ingester_mirror::audit::{AuditProgress, AuditReport, audit};
use ingester_mirror::config::{Config, Gate};
use ingester_mirror::events::Publisher;
use ingester_mirror::health::Health;
use ingester_mirror::identity::{IdentityError, identify};
use ingester_mirror::metrics::Metrics;
use ingester_mirror::sync::Context;
use ingester_store::Store;
use std::sync::Arc;

pub(crate) async fn run(arguments: &Audit, config: Config, kinds: &'static [Kind]) -> Result<Ending, Failure> {
    let kinds = chosen(kinds, &arguments.kinds)?;
    let address = match config.gate().map_err(|error| Failure::Usage(error.into()))? {
        Gate::Open(address) => address,
        Gate::Disabled => {
            return Err(Failure::Usage(anyhow!(
                "there is nothing to compare: metadataStorage.enableMetadataStorage is false"
            )));
        }
        Gate::NoDatabase => {
            return Err(Failure::Usage(anyhow!(
                "there is nothing to compare with: the configuration names no database"
            )));
        }
    };
    let client = arguments.cluster.client().await?;
    let store = Store::connect(&address, config.mysql.connect_options()).await?;
    store.look_for_rejects().await?;
    let identity = identify(&client, &store).await.map_err(|error| match error {
        IdentityError::Other { .. } => Failure::Usage(error.into()),
        IdentityError::Store(error) => error.into(),
        IdentityError::Api(_) | IdentityError::NoAnswer(_) => anyhow!("the audit failed: {error}").into(),
    })?;
    super::warn_unchecked(&identity);
    let metrics = Metrics::new().map_err(|error| anyhow!("cannot set up the metrics: {error}"))?;
    let context =
        Context { client, store: Arc::new(store), metrics, health: Health::new([]), publisher: Publisher::off() };
    let mut report = AuditReport::new(arguments.limit);
    let style = ProgressStyle::with_template("{spinner} {msg}");
    let bar = ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    let progress = |kind: &Kind, progress: AuditProgress| bar.set_message(format!("{}: {progress}", kind.kind()));
    let repaired = audit(&context, &kinds, &config, arguments.repair, &mut report, &progress).await;
    bar.finish_and_clear();
    let repaired = repaired.map_err(|error| anyhow!("the audit failed: {error}"))?;
    show(arguments.output.output, &report, || table(&report))?;
    if report.unlisted > 0 && arguments.output.output == Format::Table {
        note(&format!("{} more findings are not listed; --limit N lists more", report.unlisted));
    }
    if arguments.repair && !report.is_clean() {
        note(&format!("{} repaired, {} left", repaired.repaired, repaired.left));
    }
    let clean = if arguments.repair { repaired.left == 0 } else { report.is_clean() };
    Ok(if clean { Ending::Done } else { Ending::Problem })
}

fn table(report: &AuditReport) -> String {
    let mut counts = Table::new([
        "kind",
        "objects",
        "rows",
        "missing",
        "stale",
        "ahead",
        "different",
        "deleted",
        "orphaned",
        "rejected",
    ]);
    for kind in &report.kinds {
        let numbers = [
            kind.objects,
            kind.rows,
            kind.missing,
            kind.stale,
            kind.ahead,
            kind.different,
            kind.deleted,
            kind.orphaned,
            kind.rejected,
        ];
        counts.row(std::iter::once(kind.kind.clone()).chain(numbers.iter().map(ToString::to_string)));
    }
    if report.findings.is_empty() {
        return counts.to_string();
    }
    let mut findings = Table::new(["kind", "namespace", "name", "finding", "detail"]);
    for entry in &report.findings {
        findings.row([
            entry.kind.clone(),
            entry.namespace.clone(),
            entry.name.clone(),
            entry.finding.name().to_owned(),
            entry.finding.to_string(),
        ]);
    }
    format!("{counts}\n{findings}")
}
