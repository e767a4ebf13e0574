//! Decoding, rows, the `proto` column and rendering statements, without a database.

use crate::objects::{Set, sets};
use crate::rounds::{Candidate, measure};
use anyhow::{Context as _, Result};
use clap::Args;
use crd_specs::KINDS;
use ingester_core::Kind;
use ingester_core::kind::{Definition, find};
use ingester_core::object::{ManagedFields, Object};
use ingester_core::protobuf::{Descriptors, MessageId};
use ingester_core::row::Row;
use ingester_core::schema::Companion;
use ingester_core::value::Micros;
use ingester_declare::declare;
use ingester_sql::dialect::statements::{Overwrite, ReadCompanion, Versions, WriteCompanion};
use ingester_sql::dialect::{Dialect, Statement};
use std::hint::black_box;

#[derive(Args)]
pub(crate) struct Pure {
    /// Objects of each set.
    #[arg(long, default_value_t = 1000)]
    objects: usize,
    /// How often each candidate runs over all of them.
    #[arg(long, default_value_t = 41, value_parser = clap::value_parser!(u16).range(3..))]
    rounds: u16,
    /// Runs only this candidate, without a baseline, for a profiler.
    #[arg(long, value_name = "CANDIDATE")]
    only: Option<String>,
}

/// The candidate that makes rows. Rendering the statements of a batch is compared with it.
const ROWS: &str = "text to row, with protobuf";

/// Rows in a batch, and the candidate that renders the statements of such batches.
const BATCHES: [(usize, &str); 3] =
    [(1, "statements for 1 row"), (8, "statements for 8 rows"), (256, "statements for 256 rows")];

/// The most rows that the store puts into one statement, and the most labels.
const MOST: (usize, usize) = (128, 512);

/// Objects of each set whose instructions are counted. Few, because valgrind makes everything fifty times slower.
const COUNTED: usize = 20;

pub(crate) fn run(arguments: &Pure) -> Result<()> {
    for set in sets(arguments.objects) {
        measure_set(&set, arguments)?;
    }
    Ok(())
}

/// Runs each path once, for `tests/instructions.rs`, which finds them by the names of their functions.
pub(crate) fn count() -> Result<()> {
    for set in sets(COUNTED) {
        let ready = Ready::from_set(&set)?;
        count_serde_json(&set.texts);
        count_parse(&set.texts);
        count_protobuf(&ready);
        count_row(ready.kind, &set.texts);
        for (rows, _) in BATCHES {
            count_render(&ready, set.texts.len(), rows);
        }
    }
    Ok(())
}

/// Everything that the paths need in addition to a set's texts.
struct Ready {
    kind: &'static Kind,
    descriptors: &'static Descriptors,
    message: MessageId,
    objects: Vec<Object>,
    /// The size of all objects in protobuf, in bytes.
    written: usize,
    /// The row of the first object: the statements of a batch are as long whatever its rows hold.
    row: Row,
}

impl Ready {
    fn from_set(set: &Set) -> Result<Self> {
        let kind = find(KINDS, "michelangelo.api/v2", set.kind).context("a kind of the manifest")?;
        let (descriptors, message) =
            kind.protobuf().context("a kind with a message")?.get().map_err(anyhow::Error::msg)?;
        let parsed = |text: &String| Object::parse(text, ManagedFields::Prune);
        let objects = set.texts.iter().map(parsed).collect::<Result<Vec<_>, _>>()?;
        let mut written = 0;
        for object in &objects {
            let (bytes, lost) = descriptors.encode(message, object.text())?;
            anyhow::ensure!(lost.is_nothing(), "the generated objects have fields that are none: {}", object.text());
            written += bytes.len();
        }
        let first = objects.first().context("an object")?;
        let row = kind.row(first)?.context("a row")?;
        Ok(Ready { kind, descriptors, message, objects, written, row })
    }
}

// The paths, for both timing and counting. They are never inlined, because the counting finds them by name.

#[inline(never)]
fn count_serde_json(texts: &[String]) {
    for text in texts {
        let _ = black_box(serde_json::from_str::<serde_json::Value>(black_box(text)));
    }
}

#[inline(never)]
fn count_parse(texts: &[String]) {
    for text in texts {
        let _ = black_box(Object::parse(black_box(text), ManagedFields::Prune));
    }
}

#[inline(never)]
fn count_protobuf(ready: &Ready) {
    for object in &ready.objects {
        let _ = black_box(ready.descriptors.encode(ready.message, black_box(object.text())));
    }
}

#[inline(never)]
fn count_row(kind: &Kind, texts: &[String]) {
    for text in texts {
        let object = Object::parse(black_box(text), ManagedFields::Prune);
        let _ = black_box(object.map(|object| kind.row(&object)));
    }
}

/// Renders the statements that write new versions of `objects`, which have got a label and an annotation, in batches of
/// `rows`: how many. MySQL's; SQLite's differ in a few words.
#[inline(never)]
fn count_render(ready: &Ready, objects: usize, rows: usize) -> usize {
    let rows_of = [(&ready.row, Micros(0)); MOST.0];
    let labels = [("uid", "key", "value"); MOST.1];
    let uids = ["uid"; MOST.0];
    let table = ready.kind.table();
    let mut left = objects;
    let mut rendered = 0;
    while left > 0 {
        let batch = left.min(rows);
        left -= batch;
        rendered += each(batch, MOST.0, |rows| render(&Versions { table, uids: &uids[..rows], lock: true }));
        rendered += each(batch, MOST.0, |rows| render(&Overwrite { table, rows: &rows_of[..rows] }));
        for companion in Companion::OF_METADATA {
            rendered += each(batch, MOST.0, |rows| render(&ReadCompanion { table, companion, uids: &uids[..rows] }));
            rendered += each(batch, MOST.1, |rows| {
                render(&WriteCompanion { table, companion, rows: &labels[..rows], new: false })
            });
        }
    }
    rendered
}

/// Calls `statement` for portions of at most `most` rows: how many.
fn each(mut rows: usize, most: usize, statement: impl Fn(usize)) -> usize {
    let mut portions = 0;
    while rows > 0 {
        let portion = rows.min(most);
        rows -= portion;
        portions += 1;
        statement(portion);
    }
    portions
}

fn render(statement: &impl Statement) {
    black_box(black_box(statement).sql(Dialect::MySql));
}

/// The columns that are somewhere in the JSON: by the struct, and declared in YAML. Neither has bytes of protobuf.
fn both_forms(kind: &Kind) -> Result<[Kind; 2]> {
    let mut text = format!(
        "kinds:\n- group: {}\n  version: {}\n  kind: {}\n  namespaced: true\n  columns:\n",
        kind.group(),
        kind.version(),
        kind.kind()
    );
    for column in kind.table().indexed().iter().filter(|column| !column.computed) {
        let path = column.path.context("a column with a path")?;
        text.push_str(&format!("  - {{column: {}, path: .{path}, type: {}, key: false}}\n", column.name, column.ty));
    }
    let declared = declare::kinds("kinds.yaml", &text, &|_| Err(std::io::ErrorKind::NotFound.into()))?;
    let compiled = Kind::new(Definition { protobuf: None, ..*kind.definition() }, *kind.functions());
    Ok([compiled, *declared.kinds.first().context("a kind")?])
}

/// Compares a declared kind with the compiled one.
fn forms(set: &Set, kind: &Kind, rounds: usize) -> Result<()> {
    let [compiled, declared] = both_forms(kind)?;
    let texts = &set.texts;
    let candidates = vec![
        Candidate { name: "text to row, compiled", run: Box::new(|| count_row(&compiled, texts)) },
        Candidate { name: "text to row, declared", run: Box::new(|| count_row(&declared, texts)) },
    ];
    for took in measure(candidates, rounds) {
        let each = took.median.as_secs_f64() * 1e6 / texts.len() as f64;
        let (low, high) = took.spread;
        println!("  {:<28} {each:>6.2} µs {:>7.2}x {low:>8.2}..{high:.2}", took.name, took.ratio);
    }
    Ok(())
}

fn measure_set(set: &Set, arguments: &Pure) -> Result<()> {
    let rounds = usize::from(arguments.rounds);
    let ready = &Ready::from_set(set)?;
    let texts = &set.texts;
    let kind = ready.kind;
    let bytes: usize = texts.iter().map(String::len).sum();
    let mut candidates = vec![
        Candidate { name: "serde_json to Value", run: Box::new(|| count_serde_json(texts)) },
        Candidate { name: "JSON to protobuf", run: Box::new(|| count_protobuf(ready)) },
        Candidate { name: "metadata, spec and status", run: Box::new(|| count_parse(texts)) },
        Candidate { name: ROWS, run: Box::new(|| count_row(kind, texts)) },
    ];
    for (rows, name) in BATCHES {
        let run = move || {
            count_render(ready, texts.len(), rows);
        };
        candidates.push(Candidate { name, run: Box::new(run) });
    }
    if let Some(only) = &arguments.only {
        candidates.retain(|candidate| candidate.name == only);
        anyhow::ensure!(!candidates.is_empty(), "there is no candidate `{only}`");
    }
    println!(
        "{}: {} objects, {} bytes of JSON each, {} of protobuf; {rounds} rounds",
        set.kind,
        texts.len(),
        bytes / texts.len(),
        ready.written / texts.len()
    );
    println!("  {:<28} {:>8} {:>8} {:>15} {:>8} {:>10}", "", "MB/s", "time", "(80 % within)", "µs each", "of a batch");
    let all = measure(candidates, rounds);
    let made = all.iter().find(|took| took.name == ROWS).map(|took| took.median.as_secs_f64());
    for took in &all {
        let seconds = took.median.as_secs_f64();
        let (low, high) = took.spread;
        let speed = bytes as f64 / seconds / 1e6;
        print!("  {:<28} {:>8.0} {:>7.2}x {:>8.2}..{:.2}", took.name, speed, took.ratio, low, high);
        if let Some((rows, _)) = BATCHES.into_iter().find(|(_, name)| *name == took.name) {
            print!(" {:>11.2}", seconds * 1e6 / count_render(ready, texts.len(), rows) as f64);
            // A batch without its database: its rows made, its statements rendered.
            if let Some(made) = made {
                print!(" {:>8.1} %", 100.0 * seconds / (made + seconds));
            }
        }
        println!();
    }
    if arguments.only.is_none() {
        forms(set, kind, rounds)?;
    }
    Ok(())
}
