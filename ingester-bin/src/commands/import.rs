//! `ingester import`

use crate::arguments::{Format, Import};
use crate::output::{NULL, Table, note, print, show};
use crate::{Ending, Failure};
use indicatif::{ProgressBar, ProgressStyle};
use ingester_core::Kind;
use ingester_core::import::{Counts, ImportError, Progress, Source, Summary, expand, import};
use ingester_core::store::{ConnectOptions, Store};
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub(crate) async fn run(arguments: Import, kinds: &'static [Kind]) -> Result<Ending, Failure> {
    let address = arguments.database.address()?;
    let sources = expand(&arguments.paths).map_err(|error| Failure::Usage(error.into()))?;
    if sources.is_empty() {
        return Err(Failure::Usage(anyhow::anyhow!(
            "no .yaml, .yml, .json, .jsonl or .ndjson file in {}",
            arguments.paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
        )));
    }
    let store = Store::connect(&address, ConnectOptions::default()).await.map_err(|error| Failure::Usage(error.into()))?;
    let made = store.create_missing(kinds).await?;
    if !made.is_empty() {
        note(&format!("made {} tables in {address}", made.len()));
    }

    let progress = Arc::new(Progress::default());
    let bar = bar(&sources, &progress);
    let result = import(&store, kinds, sources, progress, |problem| bar.suspend(|| note(&format!("rejected: {problem}")))).await;
    bar.finish_and_clear();
    let summary = match result {
        Ok(summary) => summary,
        Err(error @ ImportError::Source(_)) => return Err(Failure::Usage(error.into())),
        Err(error) => return Err(error.into()),
    };
    report(&arguments, &summary)?;
    if let (Some(rows), Format::Table) = (arguments.show, arguments.output.output) {
        for (kind, _) in summary.kinds.iter().filter(|(_, counts)| counts.read > counts.rejected) {
            rows_of(&store, kind, rows).await?;
        }
    }
    let rejected = summary.rejected();
    store.close().await;
    if rejected > 0 {
        note(&format!("{rejected} rejected, the rest is stored in {address}"));
        return Ok(Ending::Problem);
    }
    Ok(Ending::Done)
}

/// A bar over the bytes where their number is known, else a count; nothing where standard error is no terminal.
fn bar(sources: &[Source], progress: &Arc<Progress>) -> ProgressBar {
    let total: Option<u64> = sources.iter().map(Source::bytes).sum();
    let bar = match total {
        Some(total) if total > 0 => ProgressBar::new(total).with_style(style(
            "{bar:40} {percent:>3}%  {decimal_bytes}/{decimal_total_bytes}  {decimal_bytes_per_sec}  {msg}  {eta} left",
        )),
        _ => ProgressBar::new_spinner().with_style(style("{spinner} {decimal_bytes}  {decimal_bytes_per_sec}  {msg}")),
    };
    if !bar.is_hidden() {
        let (bar, progress) = (bar.downgrade(), Arc::downgrade(progress));
        tokio::spawn(async move {
            while let (Some(bar), Some(progress)) = (bar.upgrade(), progress.upgrade()) {
                bar.set_position(progress.bytes.load(Ordering::Relaxed));
                bar.set_message(format!("{} objects", progress.objects.load(Ordering::Relaxed)));
                drop((bar, progress));
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        });
    }
    bar
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    kind: &'a str,
    table: &'a str,
    read: u64,
    written: u64,
    unchanged: u64,
    stale: u64,
    left_out: u64,
    rejected: u64,
}

fn report(arguments: &Import, summary: &Summary) -> anyhow::Result<()> {
    let line = |kind, table, counts: Counts| Line {
        kind,
        table,
        read: counts.read,
        written: counts.written,
        unchanged: counts.unchanged,
        stale: counts.stale,
        left_out: counts.left_out,
        rejected: counts.rejected,
    };
    let mut lines: Vec<Line<'_>> = summary
        .kinds
        .iter()
        .filter(|(_, counts)| counts.read > 0)
        .map(|(kind, counts)| line(kind.kind(), kind.table().name.as_str(), *counts))
        .collect();
    if summary.unknown > 0 {
        let counts = Counts { read: summary.unknown, rejected: summary.unknown, ..Counts::default() };
        lines.push(line("(unknown)", "", counts));
    }
    show(arguments.output.output, &lines, || {
        let mut table = Table::new(["kind", "table", "read", "written", "unchanged", "stale", "left out", "rejected"]);
        for line in &lines {
            let numbers = [line.read, line.written, line.unchanged, line.stale, line.left_out, line.rejected];
            table.row([line.kind.to_owned(), line.table.to_owned()].into_iter().chain(numbers.map(|n| n.to_string())));
        }
        table.to_string()
    })?;
    Ok(())
}

/// Prints a kind's first rows; after JSON or YAML output they are left to SQL.
async fn rows_of(store: &Store, kind: &Kind, limit: usize) -> anyhow::Result<()> {
    let table = kind.table();
    let columns = ["namespace", "name"].into_iter().chain(table.indexed().iter().map(|column| column.name.as_str()));
    let mut shown = Table::new(columns);
    for row in store.peek(table, limit).await? {
        shown.row(row.into_iter().map(|cell| cell.map_or_else(|| NULL.to_owned(), |cell| one_line(&cell))));
    }
    print(&format!("\n{} (table `{}`)\n{}", kind.kind(), table.name, shown.without_empty_columns(2)))?;
    Ok(())
}

/// What fits into a column of a terminal.
fn one_line(cell: &str) -> String {
    let mut line: String = cell.chars().map(|c| if c.is_control() { ' ' } else { c }).take(60).collect();
    if cell.chars().count() > 60 {
        line.push('…');
    }
    line
}
