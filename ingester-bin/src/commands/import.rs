//! `ingester import`: stores objects from files.

use super::destination::{opened_to_compare, opened_to_write};
use super::interrupt::Interrupt;
use super::start::CLOSE;
use crate::arguments::{AssumedState, Format, Import as Arguments};
use crate::database::Database;
use crate::ending::{Ending, Failure};
use crate::output::{NULL, Table, counted, note, one_line, show};
use crate::program::Program;
use crate::progress;
use anyhow::anyhow;
use indicatif::ProgressBar;
use ingester_core::Kind;
use ingester_core::value::Micros;
use ingester_store::{Address, Store, StoreError};
use ingester_transfer::import::{
    Counts, Destination, Import, ImportError, Input, ObjectStates, Progress, Summary, expand, is_of_objects,
};
use serde::{Serialize, Serializer};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The import: its source and its target.
struct ImportPlan {
    inputs: Vec<Input>,
    database: Database,
}

impl ImportPlan {
    fn from_arguments(arguments: &Arguments, kinds: &[Kind]) -> Result<Self, Failure> {
        let database = arguments.target.database(kinds)?;
        let named = || arguments.paths.iter().chain(&arguments.filename);
        for path in named() {
            let path = path.to_string_lossy();
            if let Some((scheme, rest)) = path.split_once(":/") {
                // A URL may contain a password.
                let url = if rest.contains(['@', ':']) { format!("{scheme}://...") } else { path.to_string() };
                let remedy = match scheme {
                    "http" | "https" => format!("`curl {url} | ingester import -` imports it"),
                    scheme if Address::is_scheme(scheme) => {
                        "a database to import into is named with --database-url URL, one to copy with --from URL"
                            .to_owned()
                    }
                    _ => continue,
                };
                return Err(Failure::Usage(anyhow!("{url} is not a file: {remedy}")));
            }
        }
        let mut paths = arguments.paths.clone();
        for path in &arguments.filename {
            match arguments.recursive {
                true => paths.push(path.clone()),
                false => paths.extend(directly(path)),
            }
        }
        let inputs = expand(&paths);
        let unreadable: Vec<String> = inputs
            .iter()
            .filter_map(|input| match input {
                Input::Unreadable { reason, .. } => Some(format!("cannot read {}: {reason}", input.name())),
                _ => None,
            })
            .collect();
        if !unreadable.is_empty() && unreadable.len() == inputs.len() {
            return Err(Failure::Usage(anyhow!(unreadable.join("; "))));
        }
        if inputs.is_empty() {
            let named: Vec<String> = named().map(|path| path.display().to_string()).collect();
            let deeper = if arguments.filename.is_empty() || arguments.recursive {
                ""
            } else {
                " (--recursive reads the folders in it as well)"
            };
            return Err(Failure::Usage(anyhow!(
                "no .yaml, .yml, .json, .jsonl or .ndjson file in {}{deeper}: name a folder that has some, or a file",
                named.join(", ")
            )));
        }
        Ok(ImportPlan { inputs, database })
    }
}

/// Expands a path like kubectl: for a folder, the files directly in it. Read errors are reported when the file is read.
fn directly(path: &Path) -> Vec<PathBuf> {
    let entries = path.read_dir().and_then(|entries| entries.collect::<std::io::Result<Vec<_>>>());
    let Ok(entries) = entries else { return vec![path.to_path_buf()] };
    let files = entries.into_iter().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = files.filter(|file| !file.is_dir() && is_of_objects(file)).collect();
    files.sort();
    files
}

pub(crate) async fn run(arguments: Arguments, program: Program) -> Result<Ending, Failure> {
    if let Some(from) = &arguments.from {
        return super::moving::run(from, &arguments, program).await;
    }
    if arguments.cluster.is_named() {
        return Err(Failure::Usage(anyhow!(
            "--kubeconfig and --context are for --from: objects of files say their states themselves"
        )));
    }
    files(arguments, program).await
}

/// Imports files.
async fn files(arguments: Arguments, program: Program) -> Result<Ending, Failure> {
    let ImportPlan { inputs, database } = ImportPlan::from_arguments(&arguments, program.kinds)?;
    let spool = arguments.target.ingester(program.kinds)?.spool.place();
    let interrupt = Interrupt::listen("after the batch that is being written")?;
    let opening = async {
        match arguments.dry_run {
            true => opened_to_compare(&database, program).await,
            false => opened_to_write(&database, program).await.map(Some),
        }
    };
    // A box, because the future is large.
    let Some(store) = interrupt.stop.run_until_cancelled(Box::pin(opening)).await else {
        note(&format!("interrupted: nothing was imported into {database}"));
        return Ok(interrupt.ending());
    };
    let store = store?;
    let destination = match &store {
        Some(store) if arguments.dry_run => Destination::Compared(store),
        Some(store) => Destination::Store(store),
        None => Destination::Nowhere,
    };
    let progress = Arc::new(Progress::default());
    let bar = bar(&inputs, &progress);
    let import = Import {
        destination,
        kinds: program.kinds,
        inputs,
        namespace: arguments.namespace.clone(),
        states: states_of(&arguments, store.as_ref()),
        generate_names: arguments.generate_names,
        ignore_unknown: arguments.ignore_unknown,
        spool: Some(spool),
        progress,
        stop: interrupt.stop.clone(),
    };
    let result = import.run(|problem| bar.suspend(|| note(&format!("rejected: {problem}")))).await;
    bar.finish_and_clear();
    let summary = match result {
        Ok(summary) => summary,
        Err(error) => return Err(cut_off(error, arguments.output.output, &database)?),
    };
    let shown = match &store {
        Some(store) if !summary.stopped => read_first_rows(store, &summary, arguments.show).await?,
        _ => summary.kinds.iter().map(|_| None).collect(),
    };
    if let Some(store) = store {
        if !summary.stopped && !arguments.dry_run {
            super::note_older_rows(&store, program.declared, None, program).await?;
        }
        close(store, summary.stopped).await;
    }
    report(arguments.output.output, &summary, shown)?;
    if summary.is_unreadable() && !summary.stopped {
        return Err(Failure::Usage(anyhow!("nothing could be read, nothing is stored in {database}")));
    }
    if summary.stopped && !arguments.dry_run {
        note(&format!(
            "interrupted: of {} read, {} stored in {database}: run the same import again to continue",
            counted(summary.read(), "object that was", "objects that were"),
            counted(summary.count_stored(), "is", "are")
        ));
    }
    note_values_left_out(&summary, &database);
    note_left(&summary);
    match (summary.read(), summary.rejected()) {
        _ if summary.stopped && arguments.dry_run => note("dry run: interrupted, so not everything was read"),
        _ if summary.stopped => {}
        (0, _) => note("there was no object to import"),
        (_, rejected) if arguments.dry_run => {
            let rejected = if rejected > 0 { format!(", {rejected} would be rejected") } else { String::new() };
            note(&format!("dry run: nothing is written in {database}, `written` is what would be{rejected}"));
        }
        (_, 0) => {}
        (read, rejected) if read == rejected => {
            note(&format!("all {rejected} rejected, nothing is stored in {database}"))
        }
        (_, rejected) => note(&format!("{rejected} rejected, the rest is stored in {database}")),
    }
    if summary.stopped {
        return Ok(interrupt.ending());
    }
    Ok(if summary.rejected() > 0 { Ending::Problem } else { Ending::Done })
}

/// Closes the store. After an interruption, a statement may still wait for a lock.
async fn close(store: Store, stopped: bool) {
    let patience = if stopped { CLOSE } else { Duration::MAX };
    let _ = tokio::time::timeout(patience, store.close()).await;
}

/// Returns the source from which the states of the objects are known.
fn states_of(arguments: &Arguments, store: Option<&Store>) -> ObjectStates {
    match arguments.assume {
        Some(AssumedState::Evicted) => ObjectStates::Evicted(store.map_or_else(Micros::now, Store::now)),
        Some(AssumedState::Live) | None if arguments.states => ObjectStates::Annotated,
        Some(AssumedState::Live) | None => ObjectStates::Live,
    }
}

/// Returns the failure of an import that ended early, with the counts of its work.
fn cut_off(error: ImportError, format: Format, database: &Database) -> Result<Failure, Failure> {
    let ImportError::Store { error, summary } = error else { return Ok(Failure::Work(error.into())) };
    if error.is_configuration() && summary.count_stored() == 0 {
        return Ok(Failure::Usage(error.into()));
    }
    report(format, &summary, summary.kinds.iter().map(|_| None).collect())?;
    Ok(Failure::Work(anyhow!(
        "{error}; what was written before stays in {database}: run the same import again to continue"
    )))
}

/// Reports the numbers of values that columns or the database cannot hold.
fn note_values_left_out(summary: &Summary, database: &Database) {
    if summary.unfit_values() > 0 {
        note(&format!(
            "{} NULL, see the warnings above; `json` has what does not fit",
            counted(
                summary.unfit_values(),
                "value does not fit its column, which is",
                "values do not fit their columns, which are"
            )
        ));
    }
    if summary.nul_values() > 0 {
        note(&format!(
            "{} NUL (U+0000), which text of {} cannot have: it is NULL in a column, or left out of labels, annotations and lists; `json` has all",
            counted(summary.nul_values(), "value has", "values have"),
            database.address().dialect().title()
        ));
    }
}

/// Reports the objects of which `rejected` says nothing: those without a name, and the ignored ones.
fn note_left(summary: &Summary) {
    if summary.nameless > 0 {
        note(&format!(
            "rejected: {} with `generateName` and no name, which nothing identifies: --generate-names imports such objects under generated names",
            counted(summary.nameless, "object", "objects")
        ));
    }
    if summary.ignored > 0 {
        note(&counted(
            summary.ignored,
            "object of a kind that this ingester does not mirror was ignored",
            "objects of kinds that this ingester does not mirror were ignored",
        ));
    }
}

/// A progress bar if the number of bytes is known, otherwise a counter. It is hidden if standard error is not a terminal.
fn bar(inputs: &[Input], progress: &Arc<Progress>) -> ProgressBar {
    let total: Option<u64> = inputs.iter().map(Input::bytes).sum();
    let bar = match total {
        Some(total) if total > 0 => progress::bar(
            total,
            "{bar:40} {percent:>3}%  {decimal_bytes}/{decimal_total_bytes}  {decimal_bytes_per_sec}  {msg}  {eta} left",
        ),
        _ => progress::spinner("{spinner} {decimal_bytes}  {decimal_bytes_per_sec}  {msg}"),
    };
    if !bar.is_hidden() {
        let bar = bar.downgrade();
        let progress = Arc::downgrade(progress);
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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ImportLine<'a> {
    kind: &'a str,
    table: &'a str,
    read: u64,
    written: u64,
    unchanged: u64,
    stale: u64,
    left_out: u64,
    rejected: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<RowPreview>,
}

impl<'a> ImportLine<'a> {
    fn new(kind: &'a str, table: &'a str, counts: Counts, rows: Option<RowPreview>) -> Self {
        let Counts { read, written, unchanged, stale, left_out, rejected, nul_values: _, unfit_values: _ } = counts;
        ImportLine { kind, table, read, written, unchanged, stale, left_out, rejected, rows }
    }
}

/// The first rows of one kind.
struct RowPreview {
    columns: Vec<&'static str>,
    rows: Vec<Vec<Option<String>>>,
}

/// Each row as an object of its columns.
impl Serialize for RowPreview {
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

/// Returns the first rows of each kind in the database, in the order of the summary; `None` for kinds without imported objects, and for all
/// if there is no `limit`.
async fn read_first_rows(
    store: &Store,
    summary: &Summary,
    limit: Option<usize>,
) -> Result<Vec<Option<RowPreview>>, StoreError> {
    let mut all = Vec::with_capacity(summary.kinds.len());
    for (kind, counts) in &summary.kinds {
        all.push(match limit {
            Some(limit) if counts.read > counts.rejected => {
                let table = kind.table();
                let indexed = table.indexed().iter().map(|column| column.name.as_str());
                let columns = ["namespace", "name"].into_iter().chain(indexed).collect();
                Some(RowPreview { columns, rows: store.peek(table, limit).await? })
            }
            _ => None,
        });
    }
    Ok(all)
}

fn report(format: Format, summary: &Summary, shown: Vec<Option<RowPreview>>) -> anyhow::Result<()> {
    let mut lines: Vec<ImportLine<'_>> = summary
        .kinds
        .iter()
        .zip(shown)
        .filter(|((_, counts), _)| counts.read > 0)
        .map(|((kind, counts), rows)| ImportLine::new(kind.name(), kind.table().name.as_str(), *counts, rows))
        .collect();
    if summary.unknown > 0 {
        let counts = Counts { read: summary.unknown, rejected: summary.unknown, ..Counts::default() };
        lines.push(ImportLine::new("(unknown)", "", counts, None));
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

/// The number of characters that are shown of a cell.
const CELL: usize = 60;

impl RowPreview {
    /// Returns the table for people, without the columns that are empty in all rows.
    fn table(&self) -> Table {
        let mut table = Table::new(self.columns.iter().copied());
        for row in &self.rows {
            let cell =
                |cell: &Option<String>| cell.as_deref().map_or_else(|| NULL.to_owned(), |text| one_line(text, CELL));
            table.row(row.iter().map(cell));
        }
        table.without_empty_columns(2)
    }
}
