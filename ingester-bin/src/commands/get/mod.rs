//! `ingester get`: prints objects from SQL, as kubectl prints them from a cluster.
//!
//! | file | what it does |
//! |---|---|
//! | `question.rs` | finds the kinds and the query in the arguments |
//! | `format.rs` | the formats of `-o` |
//! | `layout.rs` | chooses the columns to read and print of a kind's rows |
//! | `printer.rs` | turns rows into text, in every format |
//! | `rows.rs` | reads the rows, in portions |
//! | `watch.rs` | finds the changes since the rows were printed |

pub(super) mod format;
mod layout;
pub(super) mod printer;
mod question;
mod rows;
#[cfg(test)]
mod tests;
mod watch;

use super::{failed, resource, with_tables};
use crate::arguments::Get;
use crate::ending::{Ending, Failure};
use crate::output::{Table, note, print, print_on};
use crate::program::Program;
use crate::progress;
use anyhow::anyhow;
use format::Format;
use ingester_core::Kind;
use ingester_core::nearest::nearest;
use ingester_core::schema::base;
use ingester_core::value::{Micros, Value};
use ingester_printers::csv;
use ingester_sql::query::{AsOf, Query};
use ingester_store::Store;
use ingester_store::query::{Limits, PreparedQuery, TimedQuery, VersionError};
use layout::Layout;
use printer::Printer;
use question::Question;
use rows::Rows;
use std::collections::BTreeSet;
use std::io::{BufRead as _, IsTerminal as _};
use watch::SeenRows;

/// The rows that are read before the first is printed, to find the widths of the columns.
const FIRST: usize = 500;

/// The values of a column that are counted if no limit is given.
const GROUPS: usize = 1000;

pub(crate) async fn run(mut arguments: Get, program: Program) -> Result<Ending, Failure> {
    let kinds = program.kinds;
    for (given, flag) in
        [(!arguments.parameters.is_empty(), "--param"), (arguments.queries.queries.is_some(), "--queries")]
    {
        if given && arguments.query.is_none() {
            return Err(Failure::Usage(anyhow!("{flag} goes with --query")));
        }
    }
    let mut questions = match arguments.query.take() {
        Some(name) => vec![Question::saved(&name, &mut arguments, kinds)?],
        None => Question::from_arguments(&arguments, kinds)?,
    };
    let format = Format::parse(arguments.output.as_ref())
        .map_err(|error| Failure::Usage(anyhow!("-o: {error}; `ingester get --help` has templates as examples")))?;
    check(&arguments, &format, &questions)?;
    let layouts = questions.iter().map(|question| Layout::new(question, &arguments, &format));
    let layouts = layouts.collect::<Result<Vec<_>, _>>()?;
    let database = arguments.target.database(kinds)?;
    let asked: Vec<Kind> = questions.iter().map(|question| question.kind).collect();
    let store = with_tables(&database, program, &asked).await?;
    // Compute this once, so that all answers are about the same moment.
    for at in questions.iter_mut().filter_map(|question| question.query.at.as_mut()) {
        *at = AsOf::At(at.by(store.now()));
    }
    let ending = answer(&arguments, &format, &questions, &layouts, &store).await;
    store.close().await;
    ending
}

/// Options that are valid together only for one kind, or in one format.
fn check(arguments: &Get, format: &Format, questions: &[Question]) -> Result<(), Failure> {
    let one_kind = [
        (arguments.token.is_some(), "--continue"),
        (arguments.watch, "--watch"),
        (arguments.group_by.is_some(), "--group-by"),
        (matches!(format, Format::Csv), "-o csv"),
    ];
    for (given, flag) in one_kind {
        if given && questions.len() > 1 {
            return Err(Failure::Usage(anyhow!("{flag} is for one kind")));
        }
    }
    for (given, flag) in [(arguments.watch, "--watch"), (arguments.group_by.is_some(), "--group-by")] {
        if given && questions.iter().any(|question| question.query.at.is_some()) {
            return Err(Failure::Usage(anyhow!("{flag} shows only the present: leave out --at")));
        }
    }
    if !arguments.columns.is_empty() && !matches!(format, Format::Table | Format::Csv) {
        return Err(Failure::Usage(anyhow!("--columns is for the table, which is printed without -o, and for -o csv")));
    }
    Ok(())
}

async fn answer(
    arguments: &Get,
    format: &Format,
    questions: &[Question],
    layouts: &[Layout],
    store: &Store,
) -> Result<Ending, Failure> {
    let limits = match arguments.chunk_size {
        0 => Limits::default(),
        rows => Limits::default().with_rows(rows as usize),
    };
    let mut asked = Vec::with_capacity(questions.len());
    for question in questions {
        let ready = store.ask_when(&question.kind, &question.query, limits);
        asked.push(ready.map_err(|error| Failure::Usage(error.into()))?);
    }
    if arguments.count {
        return count(questions, &asked).await;
    }
    if let (Some(column), [question], [TimedQuery::Now(asked)]) = (&arguments.group_by, questions, asked.as_slice()) {
        return group(arguments, format, question, asked, column).await;
    }
    if arguments.explain {
        return explain(arguments, questions, layouts, &asked).await;
    }
    let mut printer = Printer::new(format, !arguments.no_headers);
    let mut seen = SeenRows::new();
    let ending = list(arguments, &mut printer, questions, layouts, (store, &asked), &mut seen).await?;
    match (questions, layouts, asked.as_slice()) {
        ([question], [layout], [TimedQuery::Now(asked)]) if arguments.watch && ending == Some(Ending::Done) => {
            watch::watch(&mut printer, question, layout, asked, store, limits, seen).await
        }
        _ => Ok(ending.unwrap_or(Ending::Done)),
    }
}

/// Prints all objects, kind after kind, and keeps what it has seen for a watch; `None` if standard output is closed.
async fn list(
    arguments: &Get,
    printer: &mut Printer<'_>,
    questions: &[Question],
    layouts: &[Layout],
    (store, asked): (&Store, &[TimedQuery<'_>]),
    seen: &mut SeenRows,
) -> Result<Option<Ending>, Failure> {
    let format = printer.format();
    let single = questions.len() == 1 && questions[0].names.len() == 1 && questions[0].query.uids.is_empty();
    let mut sources = Vec::with_capacity(asked.len());
    for ((asked, layout), question) in asked.iter().zip(layouts).zip(questions) {
        let mut rows = Rows::new(asked, layout.wanted(), arguments, question).map_err(failed)?;
        // A second row shows whether the first is the only one.
        let first =
            rows.first(if format.has_columns() { FIRST } else { 1 + usize::from(single) }).await.map_err(failed)?;
        sources.push((rows, first));
    }
    let kinds_with_rows = sources.iter().filter(|(_, first)| !first.is_empty()).count();
    printer.single = single && !arguments.watch && sources.iter().all(|(_, first)| first.len() == 1);
    printer.with_kind = kinds_with_rows > 1;
    printer.one_by_one = arguments.watch;
    let mut ending = Ending::Done;
    let mut nothing_found = true;
    for (((mut rows, mut portion), layout), question) in sources.into_iter().zip(layouts).zip(questions) {
        let mut missing = question.names_once();
        printer.next_kind();
        loop {
            while !portion.is_empty() {
                nothing_found = false;
                if arguments.watch {
                    watch::see(&portion, seen);
                }
                if !missing.is_empty() {
                    let found: BTreeSet<&str> = portion.iter().map(|row| row.get_text(base::NAME)).collect();
                    missing.retain(|name| !found.contains(name));
                }
                let text = printer.render_rows(layout, &portion, Micros::now())?;
                if !text.is_empty() && !print_on(&text)? {
                    return Ok(None);
                }
                portion = rows.next().await.map_err(failed)?;
            }
            match rows.more() {
                Some(_) if question.whole => break,
                Some(token) if interactive() && format.is_table() => {
                    if !wants_more() {
                        break;
                    }
                    rows.go_on(token);
                    portion = rows.next().await.map_err(failed)?;
                }
                Some(token) => {
                    // The moment of a relative time moves on in the meantime.
                    let at =
                        question.query.at.map_or(String::new(), |at| format!("--at={} ", at.by(store.now()).rfc3339()));
                    note(&format!("there are more: repeat this with {at}--continue={token}"));
                    missing.clear();
                    break;
                }
                None => break,
            }
        }
        for name in missing {
            let why = match unknown(store, question, Some(name)).await? {
                Some((_, why)) => format!(": {why}"),
                None => String::new(),
            };
            note(&format!("Error (NotFound): {} \"{name}\" not found{why}", resource(&question.kind)));
            ending = Ending::Problem;
        }
    }
    // kubectl does not print a list for a single missing object, either.
    if !(single && nothing_found) {
        print(&printer.end()?)?;
    }
    if nothing_found && ending == Ending::Done {
        say_that_nothing_is_found(store, questions, format.is_table()).await?;
    }
    Ok(Some(ending))
}

/// Says that nothing was found, and the reason if more may have existed.
async fn say_that_nothing_is_found(store: &Store, questions: &[Question], is_table: bool) -> Result<(), Failure> {
    if is_table {
        match questions.first().map(|question| question.query.namespaces.as_slice()) {
            None | Some([]) => note("No resources found"),
            Some(namespaces) => note(&format!("No resources found in {} namespace.", namespaces.join(", "))),
        }
    }
    for question in questions {
        if let Some((object, why)) = unknown(store, question, None).await? {
            note(&format!("{} {object}: {why}", question.kind.kind()));
        }
    }
    Ok(())
}

/// Returns the reason why nothing was found at the moment of a question, if more may have existed then: an object, and the fact about it
/// that is unknown.
async fn unknown(
    store: &Store,
    question: &Question,
    name: Option<&str>,
) -> Result<Option<(String, VersionError)>, Failure> {
    let Query { namespaces, uids, at, .. } = question.query.clone();
    let query =
        Query { namespaces, uids, at, names: name.map(str::to_owned).into_iter().collect(), ..Query::default() };
    let found = store.unknown_at(&question.kind, &query, Limits::default()).await.map_err(failed)?;
    Ok(found.map(|(life, why)| match &*life.namespace {
        "" => (life.name.to_string(), why),
        namespace => (format!("{namespace}/{}", life.name), why),
    }))
}

/// Returns true if a person can be asked.
fn interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Asks the person to continue or stop.
fn wants_more() -> bool {
    note("-- more: Enter; end: q --");
    let mut line = String::new();
    matches!(std::io::stdin().lock().read_line(&mut line), Ok(read) if read > 0) && line.trim().is_empty()
}

async fn count(questions: &[Question], asked: &[TimedQuery<'_>]) -> Result<Ending, Failure> {
    let mut table = Table::new(["kind", "count"]);
    for (question, asked) in questions.iter().zip(asked) {
        let bar = progress::spinner("{spinner} counting {msg}");
        bar.set_message(question.kind.plural().into_owned());
        let count = asked.count().await;
        bar.finish_and_clear();
        let count = count.map_err(failed)?;
        if questions.len() == 1 {
            print(&format!("{count}\n"))?;
            return Ok(Ending::Done);
        }
        table.row([question.kind.name().to_owned(), count.to_string()]);
    }
    print(&table.to_string())?;
    Ok(Ending::Done)
}

/// Prints how many rows there are of each value of a column.
async fn group(
    arguments: &Get,
    format: &Format,
    question: &Question,
    asked: &PreparedQuery<'_>,
    column: &str,
) -> Result<Ending, Failure> {
    let table = question.kind.table();
    let Some(place) = table.place(column) else {
        let known: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let made = table.made_of(column).map(|column| column.as_str()).filter(|column| known.contains(column));
        let meant = made.or_else(|| nearest(column, &known));
        let meant = meant.map(|meant| format!(", did you mean `{meant}`?")).unwrap_or_default();
        return Err(Failure::Usage(anyhow!(
            "--group-by: {} has no column `{column}`{meant} (`ingester kinds -o wide` lists them)",
            table.name
        )));
    };
    let limit = arguments.limit.map_or(GROUPS, |limit| limit as usize);
    let bar = progress::spinner("{spinner} counting {msg}");
    bar.set_message(question.kind.plural().into_owned());
    let groups = asked.count_by(place, limit).await;
    bar.finish_and_clear();
    let groups = groups.map_err(failed)?;
    let name = table.columns[place].name.as_str();
    let cell = |value: &Value| match value {
        Value::Null => None,
        value => Some(value.to_string()),
    };
    let text = match format {
        Format::Json | Format::Yaml => {
            let groups: Vec<serde_json::Value> = groups
                .iter()
                .map(|(value, count)| serde_json::json!({ "value": cell(value), "count": count }))
                .collect();
            match format {
                Format::Json => serde_json::to_string_pretty(&groups).map_err(anyhow::Error::from)? + "\n",
                _ => ingester_declare::yaml::to_string(&groups).map_err(anyhow::Error::from)?,
            }
        }
        Format::Csv => {
            let header = if arguments.no_headers { String::new() } else { csv::record([name, "count"]) };
            let record = |(value, count): &(Value, u64)| {
                csv::record([cell(value).unwrap_or_default().as_str(), count.to_string().as_str()])
            };
            header + &groups.iter().map(record).collect::<String>()
        }
        Format::Table | Format::Wide => {
            let mut table = Table::new([name, "count"]);
            for (value, count) in &groups {
                table.row([cell(value).unwrap_or_else(|| "<none>".to_owned()), count.to_string()]);
            }
            let text = table.to_string();
            match text.split_once('\n') {
                Some((_, rows)) if arguments.no_headers => rows.to_owned(),
                _ => text,
            }
        }
        _ => return Err(Failure::Usage(anyhow!("--group-by prints a table, csv, json or yaml"))),
    };
    print(&text)?;
    Ok(Ending::Done)
}

async fn explain(
    arguments: &Get,
    questions: &[Question],
    layouts: &[Layout],
    asked: &[TimedQuery<'_>],
) -> Result<Ending, Failure> {
    for (i, ((question, layout), asked)) in questions.iter().zip(layouts).zip(asked).enumerate() {
        let limit = arguments.limit.map_or(Limits::default().rows, |limit| limit as usize);
        let explained = asked.explain(&layout.wanted(), limit, arguments.token.as_deref()).await.map_err(failed)?;
        let mut text = String::from(if i == 0 { "" } else { "\n" });
        if questions.len() > 1 {
            text.push_str(&format!("{}\n", question.kind.name()));
        }
        for (nth, explained) in explained.iter().enumerate() {
            text.push_str(if nth == 0 { "" } else { "\n" });
            text.push_str(&format!("{}\n\nParameters\n", explained.sql.trim_end()));
            for (i, parameter) in explained.parameters.iter().enumerate() {
                text.push_str(&format!("  {} {parameter}\n", i + 1));
            }
            text.push_str("\nPlan\n");
            for line in explained.plan.iter().flat_map(|lines| lines.lines()) {
                text.push_str(&format!("  {line}\n"));
            }
        }
        print(&text)?;
    }
    Ok(Ending::Done)
}
