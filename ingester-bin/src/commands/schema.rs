//! `ingester schema print`, `generate`, `apply`, `info`, `revert` and `verify`; `diff.rs` has `diff`.

mod diff;

pub(crate) use diff::diff;

use super::{BEHIND, chosen, is_current, left_out, note_older_rows, refuse_foreign, released, to_adopt};
use crate::arguments::{
    Format, SchemaAdopt, SchemaApply, SchemaGenerate, SchemaInfo, SchemaPrint, SchemaRevert, SchemaVerify,
};
use crate::database::Database;
use crate::ending::{Ending, Failure};
use crate::output::{self, Table, counted, note, show};
use crate::program::Program;
use crate::progress;
use anyhow::anyhow;
use indicatif::ProgressBar;
use ingester_core::schema::{Absent, Column, Ident};
use ingester_core::{Kind, Registry};
use ingester_sql::ddl::{self, Schema, ServerVersion, Servers};
use ingester_sql::dialect::Dialect;
use ingester_store::migrate::{
    AllowedChanges, ApplyError, ApplyReport, Drift, Folder, GenerateOptions, Ledger, MigrationInfo, MigrationState,
    PlannedMigration, Progress, ReleasedSchema, drift, own_drift,
};
use ingester_store::{Catalog, ConnectOptions, Store};
use serde::Serialize;
use std::fs::File;
use std::path::Path;
use std::time::SystemTime;

/// The folder of a program's own migrations.
const OUT: &str = "generated-sql";

pub(crate) fn print(arguments: &SchemaPrint, program: Program) -> Result<Ending, Failure> {
    let Registry { kinds, views } = program.of_schema();
    let kinds = chosen(kinds, &arguments.kinds)?;
    // Views cover all kinds.
    let views = if arguments.kinds.is_empty() { views } else { &[] };
    let dialect = arguments.dialect;
    output::print(&dialect.script(&dialect.create_all(&Schema::from_registry(Registry { kinds: &kinds, views }))))?;
    Ok(Ending::Done)
}

pub(crate) fn generate(arguments: &SchemaGenerate, program: Program) -> Result<Ending, Failure> {
    let registry = program.of_schema();
    let out = match (&arguments.out, program.kinds_files) {
        (Some(out), _) => out.as_path(),
        (None, None) => Path::new(OUT),
        // If the program's own kinds have migrations, these must exist.
        (None, Some(file)) => {
            return Err(Failure::Usage(anyhow!(
                "the migrations of the kinds of {} need a folder of their own: name it with --out",
                file.name
            )));
        }
    };
    let folder = Folder::new(out);
    let folder = match program.kinds_files {
        Some(file) => folder.with_ledger(Ledger::of_file(file.name)),
        None => folder,
    };
    let options = GenerateOptions {
        name: arguments.name.as_deref(),
        allow_destructive: arguments.allow_destructive,
        amend: arguments.amend,
        dialects: &arguments.dialects,
    };
    let outcome = if arguments.check { folder.check(registry) } else { folder.generate(registry, &options) };
    let outcome = outcome.map_err(anyhow::Error::from)?;
    warn_of_redundant_keys(&Schema::from_registry(registry));
    if outcome.changed.is_empty() && outcome.deleted.is_empty() {
        note(&format!("{} is current", out.display()));
        return Ok(Ending::Done);
    }
    if !arguments.check {
        warn_of_absence(registry.kinds);
        warn_of_silent_file(&program);
    }
    // The summary is for people, who may put it into a pull request.
    output::print(&outcome.summary)?;
    for path in &outcome.changed {
        let verb = if arguments.check { "differs" } else { "wrote" };
        note(&format!("{verb}: {}", out.join(path).display()));
    }
    for path in &outcome.deleted {
        note(&format!("deleted: {}", out.join(path).display()));
    }
    for migration in &outcome.migrations {
        let verb = match (arguments.check, arguments.amend) {
            (true, _) => "missing",
            (false, true) => "amended",
            (false, false) => "new",
        };
        note(&format!("{verb} migration: {migration}"));
    }
    if arguments.check {
        let out = if out == Path::new(OUT) { String::new() } else { format!(" --out {}", out.display()) };
        note(&format!("run `ingester schema generate{}{out}` and commit what it writes", program.with_file()));
        return Ok(Ending::Problem);
    }
    if let Some(source) = program.sql.and_then(|sql| sql.source) {
        touch(Path::new(source));
    }
    Ok(Ending::Done)
}

/// Makes cargo rebuild the program with a folder that did not exist at the last build.
fn touch(source: &Path) {
    let touched = File::options().append(true).open(source).and_then(|file| file.set_modified(SystemTime::now()));
    match touched {
        Ok(()) => note(&format!("touched: {}, so that the next build has these files", source.display())),
        Err(error) => note(&format!(
            "warning: cannot touch {}: {error}; touch a source file of the crate, so that the next build has these files",
            source.display()
        )),
    }
}

/// Warnings for a reviewer of the structs.
fn warn_of_redundant_keys(schema: &Schema) {
    ddl::redundant_keys(schema).iter().for_each(|key| note(&format!("warning: {key}")));
}

/// Reports the structs whose Rust types silently decide what is stored if an object has no value.
fn warn_of_absence(kinds: &[Kind]) {
    let of_metadata = |column: &Column| column.path.is_some_and(|path| path.steps().next() == Some("metadata"));
    let silent = |column: &Column| column.absent == Absent::Unsaid && !of_metadata(column);
    let kinds = kinds.iter().filter(|kind| kind.table().indexed().iter().any(silent));
    let names: Vec<&str> = kinds.map(|kind| kind.name()).collect();
    if !names.is_empty() {
        note(&format!(
            "warning: {}; write `#[ingest(absent = \"type\")]` for what is stored \
             today (NULL for an `Option`, else the type's default), or `null` or `empty` as in a file",
            silent_about_absence(&names)
        ));
    }
}

/// Does the same as [`warn_of_absence`], for the kinds of a file.
fn warn_of_silent_file(program: &Program) {
    let (silent, Some(file)) = (program.silent, program.kinds_files) else { return };
    if !silent.is_empty() {
        note(&format!(
            "warning: {}: {}; write `absent: null` for what is stored today, or \
             `absent: empty` for an empty text, 0 or false",
            file.name,
            silent_about_absence(silent)
        ));
    }
}

/// Says that kinds leave open what is stored for absent values.
fn silent_about_absence(kinds: &[&str]) -> String {
    let verb = if kinds.len() == 1 { "does" } else { "do" };
    format!("{} {verb} not say what is stored where an object has no value", kinds.join(", "))
}

pub(crate) async fn apply(arguments: SchemaApply, program: Program) -> Result<Ending, Failure> {
    let database = arguments.target.database(program.kinds)?;
    let released = released(&arguments.migrations, program)?;
    if arguments.dry_run {
        return plan(&database, released.as_ref(), program, &arguments).await;
    }
    let store = database.open().await?;
    refuse_foreign(&store, released.as_ref(), program).await?;
    // Drop views first, because PostgreSQL does not drop a column that a view reads.
    for view in views_to_drop(&arguments.drop_view, &store, program).await? {
        store.drop_left_view(view).await?;
        note(&format!("drop view `{view}`"));
    }
    let reviewed = arguments.migrations.sql.is_some();
    let ending = match &released {
        None => Ending::Done,
        Some(released) => apply_released(&database, &store, released, reviewed, program).await?,
    };
    if !program.declared.is_empty() {
        let may = match (reviewed, arguments.allow_destructive) {
            // The reviewed folder has created them, so only the definitions remain to be recorded.
            (true, _) => AllowedChanges::Add,
            (false, true) => AllowedChanges::Drop,
            (false, false) => AllowedChanges::Change,
        };
        apply_declared(&database, &store, program, may).await?;
        left_out::report(&store, program.declared, &arguments.target.ingester(program.kinds)?).await?;
    }
    compress(&store, program, arguments.compress_history).await?;
    store.close().await;
    Ok(ending)
}

/// Compresses tables of former versions that an earlier release created, or names them and the option that does it.
async fn compress(store: &Store, program: Program, is_asked: bool) -> Result<(), Failure> {
    let uncompressed = store.uncompressed_histories(program.kinds).await?;
    if !is_asked && !uncompressed.is_empty() {
        let tables: Vec<String> = uncompressed.iter().map(|(table, _)| format!("`{table}`")).collect();
        note(&format!(
            "the former versions in {} are not compressed: `ingester schema apply --compress-history` copies each table, and writers of \
             its kind wait meanwhile",
            tables.join(", ")
        ));
        return Ok(());
    }
    for (table, statement) in uncompressed {
        store.compress_history(statement).await?;
        note(&format!("compressed the former versions in `{table}`"));
    }
    Ok(())
}

pub(crate) async fn adopt(arguments: SchemaAdopt, program: Program) -> Result<Ending, Failure> {
    let database = arguments.target.database(program.kinds)?;
    let released = released(&arguments.migrations, program)?.ok_or_else(none_built_in)?;
    let built_in = released.versioned(program.built_in).map_err(|error| Failure::Usage(error.into()))?;
    let chosen: Vec<Kind> = chosen(program.built_in, &arguments.kinds)?;
    let is_chosen = |kind: &Kind| chosen.iter().any(|other| other.table().name == kind.table().name);
    let kinds: Vec<Kind> = built_in.into_iter().filter(is_chosen).collect();
    let store = database.open_existing().await?;
    refuse_foreign(&store, Some(&released), program).await?;
    let kinds = store.declared_before(&kinds).await.map_err(|error| super::declared_failure(error, program))?;
    if kinds.is_empty() {
        note(&format!("no file has declared a table of {database}: there is nothing to adopt"));
        return Ok(Ending::Done);
    }
    let differences = store.differences_from(&kinds).await?;
    if !differences.is_empty() {
        for difference in &differences {
            let table = difference.within().map(|table| format!("{table}: ")).unwrap_or_default();
            note(&format!("{table}the struct would {}", difference.sentence()));
        }
        note(
            "nothing was changed: make the struct say what the file says, and `ingester schema generate`; `ingester kinds KIND -o yaml` \
             prints a struct as a file",
        );
        return Ok(Ending::Problem);
    }
    let applied = released.apply(&store, &mut |_| {}).await.map_err(failure)?;
    note_applied(&applied);
    for kind in &kinds {
        let rows = store.adopt(kind).await?;
        note(&format!(
            "adopted {}: {} read again by `ingester backfill {}` or `ingester run`",
            kind.table().name,
            counted(rows, "row is", "rows are"),
            kind.name()
        ));
    }
    store.close().await;
    Ok(if note_drift(&applied) { Ending::Problem } else { Ending::Done })
}

/// Runs migrations.
async fn apply_released(
    database: &Database,
    store: &Store,
    released: &ReleasedSchema,
    reviewed: bool,
    program: Program,
) -> Result<Ending, Failure> {
    let bar = bar();
    let applied = released.apply(store, &mut |progress| show_progress(&bar, &progress)).await;
    bar.finish_and_clear();
    let applied = applied.map_err(failure)?;
    note_applied(&applied);
    if applied.run.is_empty() && applied.recorded.is_empty() {
        note(&format!("{database} has run every migration"));
    }
    // The named folder may belong to a program with other kinds.
    let behind = !reviewed && !is_current(program.registry(), released);
    if behind {
        note(BEHIND);
    }
    if let Some(remedy) = to_adopt(store, program).await? {
        note(&remedy);
    } else if !reviewed && !behind {
        let kinds = released.versioned(program.built_in).map_err(|error| Failure::Usage(error.into()))?;
        note_older_rows(store, &kinds, Some(released), program).await?;
    }
    let differs = note_drift(&applied);
    Ok(if behind || differs { Ending::Problem } else { Ending::Done })
}

/// Reports which migrations were recorded or run.
fn note_applied(applied: &ApplyReport) {
    for migration in &applied.recorded {
        note(&format!("was there already: {migration}"));
    }
    for migration in &applied.run {
        note(&format!("ran: {migration}"));
    }
}

/// Reports how the tables differ from the tables of the migrations. Returns true if they differ.
fn note_drift(applied: &ApplyReport) -> bool {
    for drift in &applied.drift {
        note(&format!("differs: {drift}"));
    }
    if !applied.drift.is_empty() {
        note("the tables were changed without a migration; `ingester schema verify` shows the differences");
    }
    !applied.drift.is_empty()
}

/// Changes the tables of declared kinds to their declarations.
async fn apply_declared(
    database: &Database,
    store: &Store,
    program: Program,
    may: AllowedChanges,
) -> Result<(), Failure> {
    let made = store.make_declared(program.of_declared(), may).await;
    let made = made.map_err(|error| super::declared_failure(error, program))?;
    for change in &made.made {
        note(change);
    }
    note_left(&made.left, program);
    note_left_views(store, program, &[]).await?;
    if made.made.is_empty() {
        note(&format!("{database} has the tables of the declared kinds already"));
    }
    note_older_rows(store, program.declared, None, program).await?;
    Ok(())
}

fn note_left(left: &[String], program: Program) {
    for left in left {
        note(&format!(
            "no longer declared, but kept: {left}; `ingester schema apply{} --allow-destructive` drops it",
            program.with_file()
        ));
    }
}

/// Reports the views that we made and that are not declared here, except the ones that are `dropped` now.
async fn note_left_views(store: &Store, program: Program, dropped: &[Ident]) -> Result<(), Failure> {
    for view in store.catalog().await?.left_views(&declared_views(program)) {
        if dropped.contains(&view) {
            continue;
        }
        note(&format!(
            "no longer declared, but kept: view `{view}`; unless another file declares it, `ingester schema apply{} --drop-view {view}` \
             drops it: {}",
            program.with_file(),
            store.dialect().script(&[store.dialect().drop_view(view)]).trim_end()
        ));
    }
    Ok(())
}

/// Returns the views of `--drop-view`, which must be ours and not declared: others are refused before the command changes anything.
async fn views_to_drop(named: &[String], store: &Store, program: Program) -> Result<Vec<Ident>, Failure> {
    if named.is_empty() {
        return Ok(Vec::new());
    }
    let declared = declared_views(program);
    let left = store.catalog().await?.left_views(&declared);
    let view = |name: &String| {
        if declared.iter().any(|view| view.same_as(name)) {
            return Err(Failure::Usage(anyhow!(
                "--drop-view {name}: this view is declared, and would be made again; remove it from the file first"
            )));
        }
        left.iter().find(|view| view.same_as(name)).copied().ok_or_else(|| {
            let known: Vec<String> = left.iter().map(|view| format!("`{view}`")).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            Failure::Usage(anyhow!(
                "--drop-view {name}: this database has no view of this name that the ingester made. Known: {known}. A view of another \
                 program is dropped by that program, or by hand"
            ))
        })
    };
    named.iter().map(view).collect()
}

/// The names of the views that the program or its file declares.
fn declared_views(program: Program) -> Vec<Ident> {
    let registries = [program.registry(), program.of_declared()];
    registries.into_iter().flat_map(|registry| Schema::from_registry(registry).views).map(|view| view.name).collect()
}

pub(crate) async fn revert(arguments: SchemaRevert, program: Program) -> Result<Ending, Failure> {
    let database = arguments.target.database(program.kinds)?;
    let released = released(&arguments.migrations, program)?.ok_or_else(none_built_in)?;
    let taken_back = released.lock_file().migrations.iter().filter(|migration| migration.version > arguments.to);
    let inverse: Vec<ddl::SchemaChange> =
        taken_back.flat_map(|migration| &migration.changes).map(ddl::SchemaChange::inverse).collect();
    // Nothing is filled after a migration down.
    let losses = ddl::losses(&inverse, &Schema::default());
    if !losses.is_empty() && !arguments.allow_destructive {
        return Err(Failure::Usage(anyhow!(
            "this drops data: {}; if that is meant, say so with --allow-destructive",
            losses.join("; ")
        )));
    }
    let store = database.open_existing().await?;
    let bar = bar();
    let reverted = released.revert(&store, arguments.to, &mut |progress| show_progress(&bar, &progress)).await;
    bar.finish_and_clear();
    let reverted = reverted.map_err(failure)?;
    store.close().await;
    for migration in &reverted {
        note(&format!("took back: {migration}"));
    }
    let emptied = ddl::emptied_tables(&inverse);
    if !reverted.is_empty() && !emptied.is_empty() {
        note(&format!(
            "columns of {} are added again, and empty: run `ingester backfill` of the release that has migration {} as its last",
            emptied.iter().map(|table| format!("`{table}`")).collect::<Vec<_>>().join(", "),
            arguments.to
        ));
    }
    if reverted.is_empty() {
        note(&format!("{database} has run nothing after {}", arguments.to));
    }
    Ok(Ending::Done)
}

pub(crate) async fn verify(arguments: SchemaVerify, program: Program) -> Result<Ending, Failure> {
    let database = arguments.target.database(program.kinds)?;
    let released = released(&arguments.migrations, program)?;
    let store = database.open_existing().await?;
    let (schema, pending) = match &released {
        Some(released) => (released.lock_file().tables.clone(), released.pending(&store).await.map_err(failure)?),
        None => Default::default(),
    };
    let catalog = store.catalog().await?;
    let has_declared = arguments.migrations.sql.is_none() && !program.declared.is_empty();
    let registry = if has_declared { program.of_declared() } else { Registry::default() };
    let drift = differences(&schema, registry, &catalog, store.dialect());
    store.close().await;

    #[derive(Serialize)]
    struct Report<'a> {
        pending: &'a [String],
        differences: &'a [Drift],
    }
    let report = Report { pending: &pending, differences: &drift };
    let lines = || {
        let pending = pending.iter().map(|name| format!("migration {name} has not been run\n"));
        pending.chain(drift.iter().map(|drift| format!("{drift}\n"))).collect()
    };
    show(arguments.output.output, &report, lines)?;
    if pending.is_empty() && drift.is_empty() {
        let compared = match (released.is_some(), has_declared) {
            (_, false) => "the released schema",
            (true, true) => "the released schema and the schema of the declared kinds",
            (false, true) => "the schema of the declared kinds",
        };
        note(&format!("{database} has {compared}"));
        return Ok(Ending::Done);
    }
    if !pending.is_empty() && arguments.output.output == Format::Table {
        note("`ingester schema apply` runs the migrations");
    }
    if !drift.is_empty() && arguments.output.output == Format::Table {
        note(
            "these tables were changed without a migration: revert these changes, or rename the table of another program",
        );
    }
    Ok(Ending::Problem)
}

/// Returns how the tables of a database differ from those that migrations make and from those of declared kinds, and how the ingester's own
/// tables differ.
pub(super) fn differences(schema: &Schema, declared: Registry<'_>, catalog: &Catalog, dialect: Dialect) -> Vec<Drift> {
    let mut differences = drift(schema, catalog, dialect);
    // Tables and columns that are not declared any more stay as they are.
    let left = |drift: &Drift| matches!(drift, Drift::ExtraColumn { .. } | Drift::ExtraKey { .. });
    let of_declared = drift(&Schema::from_registry(declared), catalog, dialect);
    differences.extend(of_declared.into_iter().filter(|drift| !left(drift)));
    differences.extend(own_drift(catalog, dialect));
    differences
}

/// Prints the statements that `schema apply` would run, as a script of the database's dialect.
async fn plan(
    database: &Database,
    released: Option<&ReleasedSchema>,
    program: Program,
    arguments: &SchemaApply,
) -> Result<Ending, Failure> {
    let store = match database.address().missing_file() {
        None => database.open_existing().await?,
        // As for an empty database.
        Some(_) => {
            database.announce();
            note(&format!("dry run: this would make {database}"));
            Store::connect(&"sqlite::memory:".parse()?, ConnectOptions::default()).await?
        }
    };
    refuse_foreign(&store, released, program).await?;
    let dropped = views_to_drop(&arguments.drop_view, &store, program).await?;
    let statements: Vec<_> = dropped.iter().map(|view| store.dialect().drop_view(*view)).collect();
    if !statements.is_empty() {
        output::print(&store.dialect().script(&statements))?;
    }
    if !program.declared.is_empty() && arguments.migrations.sql.is_none() {
        let may = if arguments.allow_destructive { AllowedChanges::Drop } else { AllowedChanges::Change };
        let (steps, planned) = store.plan_declared(program.of_declared(), may).await?;
        let dialect = store.dialect();
        let statements: Vec<_> = steps.iter().flat_map(|step| dialect.step(step, &step.changes)).collect();
        output::print(&dialect.script(&statements))?;
        note_left(&planned.left, program);
        note_left_views(&store, program, &dropped).await?;
        left_out::report(&store, program.declared, &arguments.target.ingester(program.kinds)?).await?;
        let changes = counted(planned.made.len() as u64, "change", "changes");
        note(&format!("dry run: of declared kinds {changes} would be made in {database}"));
    }
    if arguments.compress_history {
        let uncompressed = store.uncompressed_histories(program.kinds).await?;
        let statements: Vec<_> = uncompressed.into_iter().map(|(_, statement)| statement).collect();
        output::print(&store.dialect().script(&statements))?;
    }
    let Some(released) = released else {
        store.close().await;
        return Ok(Ending::Done);
    };
    let server = ServerVersion::parse(store.server());
    let planned = released.plan(&store).await.map_err(failure)?;
    store.close().await;
    let mut text = String::new();
    let code = &released.lock_file().tables;
    for PlannedMigration { migration, changes, sql, .. } in planned.iter().filter(|planned| !planned.is_done) {
        text.push_str(&format!("-- {migration}\n"));
        for line in ddl::summary(changes, changes, code, Servers::One(server), &[]).lines() {
            text.push_str(&format!("--   {line}\n"));
        }
        text.push_str(&format!("{}\n\n", sql.trim_end()));
    }
    output::print(&text)?;
    for PlannedMigration { migration, .. } in planned.iter().filter(|planned| planned.is_done) {
        note(&format!("is there already, would be recorded: {migration}"));
    }
    match planned.iter().filter(|planned| !planned.is_done).count() {
        0 if planned.is_empty() => note(&format!("{database} has run every migration")),
        0 => {}
        1 => note(&format!("dry run: nothing was run in {database}, 1 migration would be")),
        some => note(&format!("dry run: nothing was run in {database}, {some} migrations would be")),
    }
    Ok(Ending::Done)
}

pub(crate) async fn info(arguments: SchemaInfo, program: Program) -> Result<Ending, Failure> {
    let database = arguments.target.database(program.kinds)?;
    let released = released(&arguments.migrations, program)?.ok_or_else(none_built_in)?;
    let store = database.open_existing().await?;
    let migrations = released.info(&store).await.map_err(failure)?;
    store.close().await;
    show(arguments.output.output, &migrations, || {
        let mut table = Table::new(["version", "state", "description"]);
        for migration in &migrations {
            let MigrationInfo { version, description, state } = migration;
            table.row([format!("{version:04}"), state.name().to_owned(), description.replace('_', " ")]);
        }
        table.to_string()
    })?;
    let any = |wanted: MigrationState| migrations.iter().any(|migration| migration.state == wanted);
    if any(MigrationState::Pending) || any(MigrationState::Interrupted) {
        note("`ingester schema apply` runs what is pending");
    }
    if any(MigrationState::Changed) {
        note("changed: take the file that was run from version control again");
    }
    if any(MigrationState::Missing) {
        note("missing: the database belongs to a later release, use that one");
    }
    Ok(if any(MigrationState::Changed) || any(MigrationState::Missing) { Ending::Problem } else { Ending::Done })
}

/// The failure of a program without migrations.
fn none_built_in() -> Failure {
    Failure::Usage(anyhow!("this program has no migrations built in: name their folder with --sql"))
}

/// An error of the database is a failure of the work. Anything else, such as another program's migrations, is wrong usage.
pub(crate) fn failure(error: ApplyError) -> Failure {
    match error {
        ApplyError::Store(error) => error.into(),
        error => Failure::Usage(error.into()),
    }
}

/// A bar of migrations.
fn bar() -> ProgressBar {
    progress::bar(0, "{bar:40} {pos}/{len}  {msg}  {elapsed}")
}

fn show_progress(bar: &ProgressBar, progress: &Progress) {
    bar.set_length(progress.of as u64);
    bar.set_position(progress.place as u64 - 1);
    bar.set_message(progress.migration.clone());
    progress::tick(bar);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_touched_file_is_newer_and_has_its_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lib.rs");
        std::fs::write(&path, "text").unwrap();
        File::options().append(true).open(&path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        touch(&path);
        assert!(std::fs::metadata(&path).unwrap().modified().unwrap() > SystemTime::UNIX_EPOCH);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "text");
        // The file is not created, and nothing else fails.
        touch(&folder.path().join("absent.rs"));
        assert!(!folder.path().join("absent.rs").exists());
    }
}
