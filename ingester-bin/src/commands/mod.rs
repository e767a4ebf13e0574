//! One file a command.
//!
//! May use: arguments, cluster, database, ending, output, program, server, ingester-core, ingester-mirror, ingester-store.

pub(crate) mod audit;
pub(crate) mod backfill;
pub(crate) mod crds;
pub(crate) mod finalizers;
pub(crate) mod import;
pub(crate) mod kinds;
pub(crate) mod proto;
pub(crate) mod run;
pub(crate) mod schema;

use crate::arguments::Migrations;
use crate::ending::Failure;
use crate::program::Program;
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_core::ddl::{Schema, diff};
use ingester_store::Store;
use ingester_store::migrate::{Folder, Released};

/// The kinds that were named, without regard to case; all when none was.
fn chosen(kinds: &'static [Kind], names: &[String]) -> Result<Vec<Kind>, Failure> {
    if names.is_empty() {
        return Ok(kinds.to_vec());
    }
    names
        .iter()
        .map(|name| {
            let known = |kind: &&Kind| {
                let names = [kind.kind().to_lowercase(), kind.plural().into_owned(), kind.table().name.to_string()];
                names.contains(&name.to_lowercase())
            };
            kinds.iter().find(known).copied().ok_or_else(|| {
                let known: Vec<&str> = kinds.iter().map(Kind::kind).collect();
                Failure::Usage(anyhow!("there is no kind `{name}`; there are {}", known.join(", ")))
            })
        })
        .collect()
}

/// The migrations of the folder that is named, else those that are built in.
fn released(migrations: &Migrations, program: Program) -> Result<Option<Released>, Failure> {
    match &migrations.sql {
        Some(folder) => {
            let lock = folder.join("schema.lock.json");
            if !lock.is_file() {
                return Err(Failure::Usage(anyhow!(
                    "{} is no folder of generated SQL: there is no {}",
                    folder.display(),
                    lock.display()
                )));
            }
            Folder::new(folder).released().map(Some).map_err(|error| Failure::Usage(error.into()))
        }
        None => built_in(program),
    }
}

/// The migrations that are built in.
fn built_in(program: Program) -> Result<Option<Released>, Failure> {
    program.sql.map(Released::try_from).transpose().map_err(|error| Failure::Usage(error.into()))
}

/// What a database needs before rows can be written.
enum Prepared {
    /// Everything was there.
    Ready,
    /// So many tables were made.
    Made(usize),
    /// This is missing, tables and columns, and not for this command to make.
    Lacks(Vec<String>),
}

/// Makes the tables of an empty database, by migrations where there are some; with `migrate` it brings those of any
/// database up to date.
async fn prepare(
    store: &Store,
    kinds: &[Kind],
    released: Option<&Released>,
    migrate: bool,
) -> Result<Prepared, Failure> {
    let before = tables_of(store, kinds).await?;
    if let (Some(released), true) = (released, migrate || before == 0) {
        let applied = released.apply(store, &mut |_| {}).await.map_err(schema::failure)?;
        for migration in &applied.run {
            tracing::info!(migration, "Migration run");
        }
    } else if released.is_none() {
        store.create_missing(kinds).await?;
    }
    let missing = store.missing(kinds).await?;
    if !missing.is_empty() {
        return Ok(Prepared::Lacks(missing));
    }
    store.create_own().await?;
    match tables_of(store, kinds).await?.saturating_sub(before) {
        0 => Ok(Prepared::Ready),
        made => Ok(Prepared::Made(made)),
    }
}

/// How many of the kinds' tables are there.
async fn tables_of(store: &Store, kinds: &[Kind]) -> Result<usize, Failure> {
    let there = store.tables().await?;
    Ok(Schema::of(kinds).tables.iter().filter(|table| there.contains(table.name.as_str())).count())
}

/// What a person does about tables and columns that are missing.
fn lacks(missing: &[String], kinds: &[Kind], released: Option<&Released>) -> String {
    let remedy = match released {
        Some(released) if !is_current(kinds, released) => BEHIND,
        _ => "run `ingester schema apply`",
    };
    format!("the database lacks {}: {remedy}", missing.join(", "))
}

/// Whether the migrations make what the structs need.
fn is_current(kinds: &[Kind], released: &Released) -> bool {
    diff(&released.lock().tables, &Schema::of(kinds)).is_empty()
}

/// What a person does about migrations that do not.
const BEHIND: &str = "the structs have changed since these migrations were written: run `ingester schema generate` and build the program again";
