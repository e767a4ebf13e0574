//! `ingester import`: stores objects from files.

use super::Prepared;
use crate::arguments::{Format, Import};
use crate::ending::{Ending, Failure};
use crate::output::{NULL, Table, note, show};
use crate::program::Program;
use anyhow::anyhow;
use indicatif::{ProgressBar, ProgressStyle};
use ingester_store::import::{Counts, ImportError, Progress, Source, Summary, expand, import};
use ingester_store::{ConnectOptions, Store, StoreError};
use serde::{Serialize, Serializer};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub(crate) async fn run(arguments: Import, program: Program) -> Result<Ending, Failure> {
    let kinds = program.kinds;
    let address = arguments.database.address()?;
    let sources = expand(&arguments.paths);
    let unreadable: Vec<String> = sources
        .iter()
        .filter_map(|source| match source {
            Source::Unreadable { reason, .. } => Some(format!("cannot read {}: {reason}", source.name())),
            _ => None,
        })
        .collect();
    if !unreadable.is_empty() && unreadable.len() == sources.len() {
        return Err(Failure::Usage(anyhow!(unreadable.join("; "))));
    }
    if sources.is_empty() {
        return Err(Failure::Usage(anyhow!(
            "no .yaml, .yml, .json, .jsonl or .ndjson file in {}",
            arguments.paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
        )));
    }
    let connected = Store::connect(&address, ConnectOptions::default()).await;
    let store = connected.map_err(|error| Failure::Usage(error.into()))?;
    let released = super::built_in(program)?;
    match super::prepare(&store, kinds, released.as_ref(), false).await? {
        Prepared::Ready => {}
        Prepared::Made(made) => note(&format!("made {made} tables in {address}")),
        Prepared::Lacks(missing) => {
            return Err(Failure::Usage(anyhow!(super::lacks(&missing, kinds, released.as_ref()))));
        }
    }

    let progress = Arc::new(Progress::default());
    let bar = bar(&sources, &progress);
    let result =
        import(&store, kinds, sources, progress, |problem| bar.suspend(|| note(&format!("rejected: {problem}")))).await;
    bar.finish_and_clear();
    let summary = match result {
        Ok(summary) => summary,
        Err(ImportError::Store(error)) if error.is_configuration() => return Err(Failure::Usage(error.into())),
        Err(error) => {
            return Err(Failure::Work(anyhow!(
                "{error}; what was written before stays in {address}: run the same import again to go on"
            )));
        }
    };
    let shown = rows(&store, &summary, arguments.show).await?;
    store.close().await;
    report(arguments.output.output, &summary, shown)?;
    if summary.is_unreadable() {
        return Err(Failure::Usage(anyhow!("nothing could be read, nothing is stored in {address}")));
    }
    match (summary.read(), summary.rejected()) {
        (0, _) => note("there was no object to import"),
        (_, 0) => {}
        (read, rejected) if read == rejected => {
            note(&format!("all {rejected} rejected, nothing is stored in {address}"))
        }
        (_, rejected) => note(&format!("{rejected} rejected, the rest is stored in {address}")),
    }
    Ok(if summary.rejected() > 0 { Ending::Problem } else { Ending::Done })
}

/// A progress bar if the number of bytes is known, else a counter. It is hidden if standard error is not a terminal.
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
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<Shown>,
}

impl<'a> Line<'a> {
    fn new(kind: &'a str, table: &'a str, counts: Counts, rows: Option<Shown>) -> Self {
        let Counts { read, written, unchanged, stale, left_out, rejected } = counts;
        Line { kind, table, read, written, unchanged, stale, left_out, rejected, rows }
    }
}

/// The first rows of one kind.
struct Shown {
    columns: Vec<&'static str>,
    rows: Vec<Vec<Option<String>>>,
}

/// Each row as an object of its columns.
impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Cells<'a>(&'a [&'static str], &'a [Option<String>]);
        impl Serialize for Cells<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map(self.0.iter().zip(self.1))
            }
        }
        serializer.collect_seq(self.rows.iter().map(|row| Cells(&self.columns, row)))
    }
}

/// The first rows of each kind in the database, in the order of the summary; `None` for kinds without imported objects, and for
/// all if there is no `limit`.
async fn rows(store: &Store, summary: &Summary, limit: Option<usize>) -> Result<Vec<Option<Shown>>, StoreError> {
    let mut all = Vec::with_capacity(summary.kinds.len());
    for (kind, counts) in &summary.kinds {
        all.push(match limit {
            Some(limit) if counts.read > counts.rejected => {
                let table = kind.table();
                let indexed = table.indexed().iter().map(|column| column.name.as_str());
                let columns = ["namespace", "name"].into_iter().chain(indexed).collect();
                Some(Shown { columns, rows: store.peek(table, limit).await? })
            }
            _ => None,
        });
    }
    Ok(all)
}

fn report(format: Format, summary: &Summary, shown: Vec<Option<Shown>>) -> anyhow::Result<()> {
    let mut lines: Vec<Line<'_>> = summary
        .kinds
        .iter()
        .zip(shown)
        .filter(|((_, counts), _)| counts.read > 0)
        .map(|((kind, counts), rows)| Line::new(kind.kind(), kind.table().name.as_str(), *counts, rows))
        .collect();
    if summary.unknown > 0 {
        let counts = Counts { read: summary.unknown, rejected: summary.unknown, ..Counts::default() };
        lines.push(Line::new("(unknown)", "", counts, None));
    }
    show(format, &lines, || {
        let mut counts = Table::new(["kind", "table", "read", "written", "unchanged", "stale", "left out", "rejected"]);
        let mut rows = String::new();
        for line in &lines {
            let numbers = [line.read, line.written, line.unchanged, line.stale, line.left_out, line.rejected];
            counts.row([line.kind.to_owned(), line.table.to_owned()].into_iter().chain(numbers.map(|n| n.to_string())));
            if let Some(shown) = &line.rows {
                rows.push_str(&format!("\n{} (table `{}`)\n{}", line.kind, line.table, shown.table()));
            }
        }
        format!("{counts}{rows}")
    })
}

impl Shown {
    /// For people: without the columns that are empty in all rows.
    fn table(&self) -> Table {
        let mut table = Table::new(self.columns.iter().copied());
        for row in &self.rows {
            table.row(row.iter().map(|cell| cell.as_deref().map_or_else(|| NULL.to_owned(), one_line)));
        }
        table.without_empty_columns(2)
    }
}

/// The cell in one line of at most 60 characters.
fn one_line(cell: &str) -> String {
    let mut line: String = cell.chars().map(|c| if c.is_control() { ' ' } else { c }).take(60).collect();
    if cell.chars().count() > 60 {
        line.push('…');
    }
    line
}
