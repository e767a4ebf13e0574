//! The commands, one file each. A command first resolves its arguments: it rejects contradictions, and finds its kinds and its database. Only
//! then does it connect to a database or a cluster.
//!
//! May use: arguments, cluster, database, ending, logging, output, parts, program, progress, reach, reload, saved, server, ingester-config, ingester-core, ingester-sql, ingester-declare, ingester-mirror, ingester-printers, ingester-server, ingester-store, ingester-transfer.

mod admission;
pub(crate) mod audit;
pub(crate) mod backfill;
pub(crate) mod changes;
pub(crate) mod completions;
pub(crate) mod crds;
mod destination;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod finalizers;
pub(crate) mod get;
pub(crate) mod ghosts;
pub(crate) mod history;
pub(crate) mod import;
mod interrupt;
pub(crate) mod kinds;
pub(crate) mod kubeconfig;
mod left_out;
pub(crate) mod manifests;
pub(crate) mod members;
mod moving;
pub(crate) mod policies;
pub(crate) mod proto;
pub(crate) mod queries;
pub(crate) mod rbac;
pub(crate) mod rejects;
pub(crate) mod restore;
pub(crate) mod revert;
mod risks;
pub(crate) mod run;
pub(crate) mod scaffold;
pub(crate) mod schema;
pub(crate) mod serve;
mod start;
mod tree;
pub(crate) mod ui;
pub(crate) mod validate;
mod view_settings;

use crate::arguments::{Cluster, Migrations};
use crate::database::Database;
use crate::ending::Failure;
use crate::output::note;
use crate::program::Program;
use crate::server::Render;
use anyhow::anyhow;
use ingester_config::Config;
use ingester_core::kind::Decode;
use ingester_core::nearest::nearest;
use ingester_core::{Kind, Registry};
use ingester_declare::kept::kept;
use ingester_mirror::events::Publisher;
use ingester_mirror::health::Health;
use ingester_mirror::identity::{ClusterCheck, IdentityError, Names, identify};
use ingester_mirror::metrics::Metrics;
use ingester_mirror::replicas::Assignment;
use ingester_mirror::sync::Context;
use ingester_sql::ddl::{Schema, diff};
use ingester_store::files::{self, Readers};
use ingester_store::migrate::{AllowedChanges, DeclaredError, Folder, ReleasedSchema};
use ingester_store::query::AskError;
use ingester_store::{Retry, Store, StoreError};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Returns the metrics of the mirror, for the server of metrics and probes.
fn rendered(metrics: &Metrics) -> Render {
    let metrics = metrics.clone();
    Arc::new(move || metrics.render())
}

/// Returns a kind's name as in kubectl: `models.michelangelo.api`.
fn resource(kind: &Kind) -> String {
    match kind.group() {
        "" => kind.plural().into_owned(),
        group => format!("{}.{group}", kind.plural()),
    }
}

/// Returns the command's failure for a question without an answer.
fn failed(error: AskError) -> Failure {
    match error {
        AskError::Query(_) | AskError::Token(_) => Failure::Usage(error.into()),
        AskError::Store(error) => error.into(),
        error => Failure::Work(error.into()),
    }
}

/// Returns the named kinds; all kinds if no name is given.
fn chosen(kinds: &'static [Kind], names: &[String]) -> Result<Vec<Kind>, Failure> {
    if names.is_empty() {
        return Ok(kinds.to_vec());
    }
    names.iter().map(|name| named(kinds, name)).collect()
}

/// Writes a file of a command's output folder, and reports it.
fn write_within(folder: &Path, name: &str, content: &[u8], readers: Readers) -> Result<(), Failure> {
    let path = folder.join(name);
    files::replace_within(folder, name, content, readers)
        .map_err(|error| anyhow!("cannot write {}: {error}", path.display()))?;
    note(&format!("wrote {}", path.display()));
    Ok(())
}

/// Returns the kind with this name, as kubectl resolves one: kind, plural or table, with or without version and group, in upper or lower
/// case; or its short name, if no kind has the name.
fn named(kinds: &'static [Kind], name: &str) -> Result<Kind, Failure> {
    let asked = name.to_lowercase();
    let has = |kind: &&Kind| {
        // This also matches `Kind.core`.
        if kind.full_name().to_lowercase() == asked {
            return true;
        }
        let names = [kind.kind().to_lowercase(), kind.plural().into_owned(), kind.table().name.to_string()];
        names.iter().any(|name| {
            let rest = asked.strip_prefix(name.as_str());
            let suffixes =
                [String::new(), format!(".{}", kind.group()), format!(".{}.{}", kind.version(), kind.group())];
            rest.is_some_and(|rest| suffixes.iter().any(|suffix| suffix == rest))
        })
    };
    let mut found: Vec<&Kind> = kinds.iter().filter(has).collect();
    if found.is_empty() {
        found = kinds.iter().filter(|kind| kind.short_names().contains(&asked)).collect();
    }
    if let [_, _, ..] = found[..] {
        // A table's name belongs to one kind alone, unless it is also the name of several kinds.
        let names: Vec<&str> = found.iter().map(|kind| kind.name()).collect();
        return Err(Failure::Usage(anyhow!("several kinds are called `{name}`: use {}", names.join(" or "))));
    }
    found.first().copied().copied().ok_or_else(|| {
        // Show nothing of a URL: it may contain a password.
        if let Some((scheme, _)) = name.split_once("://") {
            return Failure::Usage(anyhow!(
                "a URL ({scheme}://...) is not a kind: name a database with --database-url URL"
            ));
        }
        let known: Vec<&str> = kinds.iter().map(Kind::name).collect();
        // As kubectl writes it with a group: `deployments.apps`.
        let plain = asked.split('.').next().unwrap_or(&asked);
        let singular = plain.strip_suffix('s').unwrap_or(plain);
        let meant = match nearest(singular, &known).or_else(|| nearest(plain, &known)) {
            Some(meant) => format!(", did you mean `{meant}`? Known"),
            None => "; known".to_owned(),
        };
        let has_file = kinds.iter().any(|kind| matches!(kind.functions().decode, Decode::Declared(_)));
        let forgotten = "; if a file declares it, give --kinds FILE or set INGESTER_KINDS";
        let forgotten = if has_file { "" } else { forgotten };
        Failure::Usage(anyhow!("unknown kind `{name}`{meant}: {}{forgotten}", known.join(", ")))
    })
}

/// The two sides of a comparison, a cluster and its database, which are known to belong together.
async fn comparison(cluster: &Cluster, config: &Config, file: &Path, program: Program) -> Result<Context, Failure> {
    let database = Database::from_config(config, file)?;
    let client = cluster.client().await?;
    let options = config.mysql.connect_options().create(false).retry(Retry::COMMAND);
    let store = database.open_with(options).await?;
    store.look_for_rejects().await?;
    store.learn_declared(program.declared).await.map_err(|error| declared_failure(error, program))?;
    let identity = identify(&client, &store, Names::Read(program.marks)).await.map_err(|error| match error {
        IdentityError::Store(error) => error.into(),
        IdentityError::Other { .. } | IdentityError::OtherPrefix { .. } => Failure::Usage(error.into()),
        IdentityError::Api(_) | IdentityError::NoAnswer(_) => Failure::Usage(anyhow!("nothing is compared: {error}")),
    })?;
    warn_unchecked(&identity);
    let metrics = Metrics::new().map_err(|error| anyhow!("cannot set up the metrics: {error}"))?;
    Ok(Context {
        client,
        store: Arc::new(store),
        metrics,
        health: Health::new([]),
        publisher: Publisher::off(),
        assignment: Assignment::alone(),
    })
}

/// Warns if it is unknown to which cluster the database belongs.
fn warn_unchecked(identity: &ClusterCheck) {
    if let ClusterCheck::Unchecked(reason) = identity {
        tracing::warn!(
            reason,
            "Cannot check that the database belongs to this cluster: two clusters in one database would mark each other's \
             rows as deleted. Grant the ingester `get` on the namespace kube-system"
        );
    }
}

/// Returns the migrations of the named folder, otherwise the built-in ones.
fn released(migrations: &Migrations, program: Program) -> Result<Option<ReleasedSchema>, Failure> {
    match &migrations.sql {
        Some(folder) => {
            let lock = folder.join("schema.lock.json");
            if !lock.is_file() {
                return Err(Failure::Usage(anyhow!(
                    "{} is not a folder of generated SQL: it has no {}; `ingester schema generate` writes such a folder",
                    folder.display(),
                    lock.display()
                )));
            }
            Folder::new(folder).released().map(Some).map_err(|error| Failure::Usage(error.into()))
        }
        None => built_in(program),
    }
}

/// Returns the built-in migrations.
fn built_in(program: Program) -> Result<Option<ReleasedSchema>, Failure> {
    program.sql.map(ReleasedSchema::try_from).transpose().map_err(|error| Failure::Usage(error.into()))
}

/// Returns the same program, in which each kind knows the number of its definition, or learns it from the database if there are no
/// migrations. If a kind's struct has changed since its definition was recorded, it does not know the number, and its rows have 0.
pub(crate) fn versioned(program: Program) -> Result<Program, Failure> {
    let Some(released) = built_in(program)? else { return Ok(program.following()) };
    let kinds = released.versioned(program.built_in).map_err(|error| Failure::Usage(error.into()))?;
    for kind in kinds.iter().filter(|kind| kind.ingest_version() == 0) {
        tracing::warn!(kind = kind.name(), "Rows do not record their definition: {BEHIND}");
    }
    Ok(program.with_built_in(kept(kinds)))
}

/// The result of preparing a database for writing rows.
enum Preparation {
    /// Rows can be written: it has all tables.
    Ready,
    /// Rows can be written: this many tables were created.
    Made(usize),
    /// Rows cannot be written: it lacks these tables and columns, which this command does not create.
    Lacks(Vec<String>),
}

/// Changes the tables of declared kinds, as far as that only adds tables and columns.
async fn make_declared(store: &Store, declared: Registry<'_>) -> Result<(), DeclaredError> {
    let made = store.make_declared(declared, AllowedChanges::Add).await?;
    for change in &made.made {
        tracing::info!(change, "Table changed");
    }
    for left in &made.left {
        tracing::warn!(
            change = left,
            "No longer declared, but kept: `ingester schema diff` names the command that drops it"
        );
    }
    Ok(())
}

/// Returns the failure of declared kinds whose tables cannot be changed to fit.
fn declared_failure(error: DeclaredError, program: Program) -> Failure {
    let file = program.with_file();
    match error {
        DeclaredError::Store(error) => error.into(),
        DeclaredError::MoreThanAdded(_) => Failure::Usage(anyhow!(
            "{error}; look at it with `ingester schema diff{file}`, make it with `ingester schema apply{file}`; {}",
            fill(program)
        )),
        DeclaredError::Destructive(_) => Failure::Usage(anyhow!(
            "{error}; if that is meant, `ingester schema apply{file} --allow-destructive` makes them; {}",
            fill(program)
        )),
        DeclaredError::ForeignView(_) => {
            Failure::Usage(anyhow!("{error}, or replace it with `ingester schema apply{file} --allow-destructive`"))
        }
        error => Failure::Usage(error.into()),
    }
}

/// Says which commands fill columns from the stored objects.
fn fill(program: Program) -> String {
    format!(
        "`ingester run` then fills the columns from the stored objects, and `ingester backfill KIND{}` does so at once",
        program.with_file()
    )
}

/// How long to look for rows of older definitions, before the command ends without saying whether there are any.
const LOOK: Duration = Duration::from_secs(10);

/// Reports the kinds among these with rows of an older definition, and the commands that fill them.
async fn note_older_rows(
    store: &Store,
    kinds: &[Kind],
    released: Option<&ReleasedSchema>,
    program: Program,
) -> Result<(), StoreError> {
    let look = async {
        let mut names = Vec::new();
        for backfill in store.incomplete_backfills(kinds, released).await? {
            // An added column always has a backfill, even in an empty table.
            if store.any_older(&backfill.kind).await? {
                names.push(backfill.kind.name());
            }
        }
        Ok(names)
    };
    let Ok(names) = tokio::time::timeout(LOOK, look).await else { return Ok(()) };
    let names: Vec<&str> = names?;
    if !names.is_empty() {
        note(&format!("an earlier definition wrote rows of {}: {}", names.join(", "), fill(program)));
    }
    Ok(())
}

/// Returns the remedy for tables whose definitions the database has counted, although the lock file of the program counts them now: their
/// rows may have higher numbers than the lock file gives.
async fn to_adopt(store: &Store, program: Program) -> Result<Option<String>, StoreError> {
    let before = match store.declared_before(program.built_in).await {
        Ok(before) => before,
        Err(DeclaredError::Store(error)) => return Err(error),
        // The table belongs to another kind, about which nothing is known here.
        Err(_) => Vec::new(),
    };
    let names: Vec<&str> = before.iter().map(Kind::name).collect();
    Ok((!names.is_empty()).then(|| {
        format!(
            "before this program had migrations, the database counted the definitions of {}: stop it, and run `ingester schema adopt` once",
            names.join(", ")
        )
    }))
}

/// Refuses a database with tables of another program that have names of ours, before the command reports or changes anything about our
/// tables.
async fn refuse_foreign(store: &Store, released: Option<&ReleasedSchema>, program: Program) -> Result<(), StoreError> {
    // At most starts everything exists, so one look is enough.
    if store.lacking(program.kinds).await.is_ok_and(|lacking| lacking.is_nothing()) {
        return Ok(());
    }
    let declared = program.of_declared();
    if let Some(released) = released {
        released.refuse_foreign(store).await?;
        // This has looked at the ingester's own tables, too.
        if declared.kinds.is_empty() {
            return Ok(());
        }
    }
    store.refuse_foreign_tables(declared).await.map(drop)
}

/// Creates the tables of an empty database, by migrations if there are any.
async fn prepare(store: &Store, program: Program, released: Option<&ReleasedSchema>) -> Result<Preparation, Failure> {
    let kinds = program.kinds;
    if store.lacking(kinds).await.is_ok_and(|lacking| lacking.is_nothing()) {
        make_declared(store, program.of_declared()).await.map_err(|error| declared_failure(error, program))?;
        store.look_for_rejects().await?;
        return Ok(Preparation::Ready);
    }
    refuse_foreign(store, released, program).await?;
    let before = tables_of(store, kinds).await?;
    let built_in_before = tables_of(store, program.built_in).await?;
    if let (Some(released), 0) = (released, built_in_before) {
        let applied = released.apply(store, &mut |_| {}).await.map_err(schema::failure)?;
        for migration in &applied.run {
            tracing::info!(migration, "Migration run");
        }
    }
    make_declared(store, program.of_declared()).await.map_err(|error| declared_failure(error, program))?;
    let mut missing = store.missing(kinds).await?;
    // Another program may be making the tables at this moment.
    while let (false, Some(released)) = (missing.is_empty(), released) {
        released.wait_for_others(store).await?;
        let now = store.missing(kinds).await?;
        if now == missing {
            break;
        }
        missing = now;
    }
    if !missing.is_empty() {
        return Ok(Preparation::Lacks(missing));
    }
    store.create_own().await?;
    match tables_of(store, kinds).await?.saturating_sub(before) {
        0 => Ok(Preparation::Ready),
        made => Ok(Preparation::Made(made)),
    }
}

/// Opens a database, which must have the tables of these kinds.
async fn with_tables(database: &Database, program: Program, kinds: &[Kind]) -> Result<Store, Failure> {
    let store = database.open_existing().await?;
    let missing = store.missing(kinds).await?;
    if missing.is_empty() {
        return Ok(store);
    }
    store.close().await;
    let released = built_in(program)?;
    Err(Failure::Usage(anyhow!(lacks(database, &missing, program, released.as_ref()))))
}

/// Returns the number of the kinds' tables that exist.
async fn tables_of(store: &Store, kinds: &[Kind]) -> Result<usize, Failure> {
    let there = store.tables().await?;
    Ok(Schema::from_registry(kinds).tables.iter().filter(|table| there.contains(table.name.as_str())).count())
}

/// Returns the message about missing tables and columns of a database, with the remedy.
fn lacks(database: &Database, missing: &[String], program: Program, released: Option<&ReleasedSchema>) -> String {
    let of_declared = |table: &String| {
        let tables = Schema::from_registry(program.declared).tables;
        tables.iter().any(|its| table.split('.').next() == Some(its.name.as_str()))
    };
    let remedy = match released {
        _ if missing.iter().any(of_declared) => format!(
            "`ingester run` and `ingester import` make them, and so does `ingester schema apply{}`",
            program.with_file()
        ),
        Some(released) if !is_current(program.registry(), released) => BEHIND.to_owned(),
        _ => format!(
            "run `ingester schema apply --database-url {database}` (if it has nothing to do, `ingester schema verify` names what else \
             changed the tables)"
        ),
    };
    format!("the database lacks {}: {remedy}", missing.join(", "))
}

/// Returns true if the migrations create everything that the structs need, and their definitions are recorded.
fn is_current(registry: Registry<'_>, released: &ReleasedSchema) -> bool {
    let recorded = |kind: &Kind| released.lock_file().ingest_version(kind).is_ok_and(|version| version.number > 0);
    diff(&released.lock_file().tables, &Schema::from_registry(registry)).is_empty()
        && registry.kinds.iter().all(recorded)
}

/// The remedy if they do not.
const BEHIND: &str = "the structs have changed since these migrations were written: run `ingester schema generate` and build the program again";
