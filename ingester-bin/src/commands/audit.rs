//! `ingester audit`: compares cluster and SQL, and prints the differences.

use super::chosen;
use crate::arguments::{Audit, Format};
use crate::ending::{Ending, Failure};
use crate::output::{Table, note, show};
use crate::program::Program;
use crate::progress;
use anyhow::anyhow;
use ingester_config::Config;
use ingester_core::Kind;
use ingester_mirror::audit::{AuditProgress, AuditReport, audit};

pub(crate) async fn run(arguments: &Audit, config: Config, program: Program) -> Result<Ending, Failure> {
    let kinds = chosen(program.kinds, &arguments.kinds)?;
    let context = super::comparison(&arguments.cluster, &config, &arguments.config.config, program).await?;
    let mut report = AuditReport::new(arguments.limit);
    let bar = progress::spinner("{spinner} {msg}");
    let progress = |kind: &Kind, progress: AuditProgress| bar.set_message(format!("{}: {progress}", kind.name()));
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
        "ghost",
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
            kind.ghost,
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
