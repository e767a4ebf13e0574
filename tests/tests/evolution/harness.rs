//! The checks of each case.

use anyhow::{Context as _, Result, bail, ensure};
use ingester_core::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_core::schema::base;
use ingester_core::value::Micros;
use ingester_declare::documents::documents;
use ingester_sql::ddl::{Schema, diff};
use ingester_sql::dialect::Dialect;
use ingester_store::migrate::{Folder, GenerateOptions, Outcome, ReleasedSchema, drift, schema_of};
use ingester_store::{ConnectOptions, RowChange, Store};
use ingester_tests::databases::Database;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

/// One change of structs.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) before: &'static [Kind],
    pub(crate) after: &'static [Kind],
    pub(crate) objects: &'static str,
}

const CHANGE: GenerateOptions<'_> =
    GenerateOptions { name: Some("change"), allow_destructive: true, amend: false, dialects: &[] };

/// A folder in which `before` is released, and the number of its last migration.
fn released_before(case: &Case) -> Result<(tempfile::TempDir, Folder, u32)> {
    let root = tempfile::tempdir()?;
    let folder = Folder::new(root.path());
    folder.generate(case.before, &GenerateOptions::default())?;
    let last = folder.released()?.lock_file().migrations.last().context("a migration")?.version;
    Ok((root, folder, last))
}

/// Checks that the files are those that the case expects, and that data is dropped only if this is allowed.
pub(crate) fn expected(case: &Case) -> Result<()> {
    let (root, folder, _) = released_before(case)?;
    let refused = folder.generate(case.after, &GenerateOptions { allow_destructive: false, ..CHANGE });
    let (_again, twin, _) = released_before(case)?;
    let outcome = twin.generate(case.after, &CHANGE)?;
    let destructive = outcome.summary.contains("DESTRUCTIVE");
    ensure!(refused.is_err() == destructive, "{refused:?}, but the summary says\n{}", outcome.summary);
    let outcome = match refused {
        Ok(outcome) => outcome,
        Err(_) => folder.generate(case.after, &CHANGE)?,
    };
    ensure!(folder.check(case.after)? == Outcome::default(), "generating is not done");

    let mut files = BTreeMap::from([("summary.txt".to_owned(), outcome.summary)]);
    for dialect in Dialect::ALL {
        for direction in ["up", "down"] {
            let mut text = String::new();
            for migration in &outcome.migrations {
                let name = format!("{migration}.{direction}.sql");
                let file = std::fs::read_to_string(root.path().join(format!("{dialect}/migrations/{name}")))?;
                write!(text, "-- {name}\n{file}\n")?;
            }
            files.insert(format!("{dialect}.{direction}.sql"), text);
        }
    }
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/evolution/cases").join(case.name);
    let mut differing = Vec::new();
    for (name, text) in files {
        let path: PathBuf = cases.join(&name);
        let text = if text.is_empty() { "-- no migration\n".to_owned() } else { text };
        if std::fs::read_to_string(&path).unwrap_or_default() == text {
            continue;
        }
        if std::env::var_os("INGESTER_UPDATE").is_some() {
            std::fs::write(&path, text)?;
        } else {
            differing.push(format!("{}:\n{text}", path.display()));
        }
    }
    ensure!(differing.is_empty(), "these are not the expected files:\n{}", differing.join("\n"));
    Ok(())
}

/// The objects of the case whose kind is in `kinds`, each with its kind.
fn objects(case: &Case, kinds: &'static [Kind]) -> Result<Vec<(&'static Kind, Object)>> {
    let mut objects = Vec::new();
    for document in documents(case.objects.as_bytes()) {
        let text = document?.content.map_err(|error| anyhow::anyhow!("{error:?}"))?;
        let object = Object::parse(text, ManagedFields::Keep)?;
        if let Some(kind) = ingester_core::kind::find(kinds, object.api_version(), object.kind()) {
            objects.push((kind, object));
        }
    }
    Ok(objects)
}

/// The row of an object: a tombstone if its name begins with `deleted-`, evicted if it begins with `evicted-`.
fn row(kind: &Kind, object: &Object) -> Result<Row, String> {
    let row = kind.row(object).map_err(|error| error.to_string())?;
    let mut row = row.ok_or("left out")?;
    if object.meta().name.starts_with("deleted-") {
        row.delete_time = Some(Micros(1_700_000_000_000_000));
    } else if object.meta().name.starts_with("evicted-") {
        row.evict_time = Some(Micros(1_700_000_000_000_000));
    }
    Ok(row)
}

/// The data that must survive every migration of a kind's tables.
async fn kept(database: &Database, kind: &Kind) -> Result<Vec<Vec<Vec<Option<String>>>>> {
    let table = kind.table().name;
    let columns = "uid, namespace, name, res_version, create_time, update_time, delete_time, evict_time, json";
    Ok(vec![
        database.sql(&format!("SELECT {columns} FROM {table} ORDER BY uid")).await?,
        database.sql(&format!("SELECT * FROM {table}_labels ORDER BY 1, 2")).await?,
        database.sql(&format!("SELECT * FROM {table}_annotations ORDER BY 1, 2")).await?,
    ])
}

/// Fails unless the database has the tables of `kinds`, without a difference.
async fn is_at(store: &Store, kinds: &[Kind]) -> Result<()> {
    let schema = Schema::from_registry(kinds);
    let catalog = store.catalog().await?;
    let dialect = store.dialect();
    let drift = drift(&schema, &catalog, dialect);
    ensure!(drift.is_empty(), "{drift:#?}");
    let changes = diff(&schema_of(&catalog, dialect, &schema), &schema);
    ensure!(changes.is_empty(), "{changes:#?}");
    Ok(())
}

/// Backfills the new columns and compares every row with a fresh import.
async fn is_filled(
    store: &Store,
    released: &ReleasedSchema,
    objects: &[(&'static Kind, Object)],
    kinds: &[Kind],
) -> Result<()> {
    let mut failed = 0;
    for backfill in store.incomplete_backfills(kinds, Some(released)).await? {
        let filled = store.backfill(&backfill, None, &CancellationToken::new(), |_| {}).await?;
        ensure!(filled.complete, "{filled:?}");
        failed += filled.failed;
    }
    ensure!(store.incomplete_backfills(kinds, Some(released)).await?.is_empty(), "something is left to be filled");
    let mut undecodable = 0;
    for (kind, object) in objects {
        let stored = store.read_stored(kind.table(), &[&object.meta().uid]).await?;
        let [stored] = &stored[..] else { bail!("{} has {} rows", object.meta().name, stored.len()) };
        let Ok(fresh) = row(kind, object) else {
            undecodable += 1;
            continue;
        };
        for place in base::JSON + 1..kind.table().columns.len() {
            let (column, expected, found) =
                (kind.table().columns[place].name, &fresh.values[place], &stored.values[place]);
            ensure!(expected == found, "{}: {column} should be {expected:?} and is {found:?}", object.meta().name);
        }
        let name = &object.meta().name;
        let expected = &fresh.many;
        let found = &stored.many;
        ensure!(expected == found, "{name}: the many values should be {expected:?} and are {found:?}");
    }
    // Not all of them need to fail: a widened column is not backfilled.
    ensure!(failed <= undecodable, "{failed} rows failed, {undecodable} have a reason to");
    Ok(())
}

/// From the old schema to the new one, back, and forward again. The rows must survive.
pub(crate) async fn migrated(database: Database, case: &Case) -> Result<()> {
    let (root, folder, last) = released_before(case)?;
    let store = Store::connect(&database.url.parse()?, ConnectOptions::default()).await?;
    folder.released()?.apply(&store, &mut |_| {}).await?;
    is_at(&store, case.before).await?;
    for (kind, object) in objects(case, case.before)? {
        let row = row(kind, &object).map_err(anyhow::Error::msg)?;
        let report = store.write(kind.table(), vec![RowChange::Row(row)]).await?;
        ensure!(report.written == 1, "{}: {report:?}", object.meta().name);
    }
    let mut rows = Vec::new();
    for kind in case.before {
        rows.push((kind, kept(&database, kind).await?));
    }

    let outcome = folder.generate(case.after, &CHANGE)?;
    let released = folder.released()?;
    ensure!(released.pending(&store).await? == outcome.migrations);
    let survivors = objects(case, case.after)?;
    for round in 1..=2 {
        let applied = released.apply(&store, &mut |_| {}).await?;
        ensure!(
            applied.run == outcome.migrations && applied.recorded.is_empty() && applied.drift.is_empty(),
            "{applied:?}"
        );
        is_at(&store, case.after).await?;
        if round == 1 {
            for (old, rows) in &rows {
                let same = |new: &&Kind| (new.group(), new.kind()) == (old.group(), old.kind());
                if let Some(new) = case.after.iter().find(same) {
                    ensure!(kept(&database, new).await? == *rows, "{} lost something", new.table().name);
                }
            }
            is_filled(&store, &released, &survivors, case.after).await?;
        }
        let again = released.apply(&store, &mut |_| {}).await?;
        ensure!(again.run.is_empty() && again.recorded.is_empty() && again.drift.is_empty(), "{again:?}");

        if round == 1 {
            let mut reverted = released.revert(&store, last, &mut |_| {}).await?;
            reverted.reverse();
            ensure!(reverted == outcome.migrations, "{reverted:?}");
            is_at(&store, case.before).await?;
            for (old, rows) in &rows {
                let survives = |new: &&Kind| (new.group(), new.kind()) == (old.group(), old.kind());
                if case.after.iter().any(|new| survives(&new)) {
                    ensure!(
                        kept(&database, old).await? == *rows,
                        "{} lost something on the way back",
                        old.table().name
                    );
                }
            }
        }
    }
    // The columns that were dropped in between are backfilled once more.
    let there: Vec<_> =
        survivors.into_iter().filter(|(kind, _)| case.before.iter().any(|old| old.kind() == kind.kind())).collect();
    is_filled(&store, &released, &there, case.after).await?;
    if let [_] = &outcome.migrations[..] {
        resumed(&database, &store, case, &root.path().join(store.dialect().name()), &released, last).await?;
    }
    store.close().await;
    Ok(())
}

/// Back and forward again after an interruption, as if a program had been killed after any step of the migration `last + 1`.
async fn resumed(
    database: &Database,
    store: &Store,
    case: &Case,
    folder: &Path,
    released: &ReleasedSchema,
    last: u32,
) -> Result<()> {
    let migrator = Migrator::new(folder.join("migrations")).await?;
    let steps = |kind: MigrationType| {
        let of = |one: &&Migration| one.version == i64::from(last + 1) && one.migration_type == kind;
        let text = migrator.iter().find(of).map_or("", |migration| migration.sql.as_str());
        text.split("-- Step ").skip(1).map(|step| format!("-- {step}")).collect::<Vec<_>>()
    };
    let up = steps(MigrationType::ReversibleUp);
    let down = steps(MigrationType::ReversibleDown);
    ensure!(up.len() == down.len(), "{} steps up, {} down", up.len(), down.len());
    let interrupted = format!("UPDATE _sqlx_migrations SET success = FALSE WHERE version = {}", last + 1);
    for behind in 1..up.len() {
        for step in &down[..behind] {
            database.sql(step).await?;
        }
        database.sql(&interrupted).await?;
        let reverted = released.revert(store, last, &mut |_| {}).await;
        ensure!(reverted.with_context(|| format!("after {behind} steps down"))?.len() == 1);
        is_at(store, case.before).await.with_context(|| format!("after {behind} steps down"))?;
        // Its record is that of a completed run.
        released.apply(store, &mut |_| {}).await?;
        for step in &down {
            database.sql(step).await?;
        }
        for step in &up[..behind] {
            database.sql(step).await?;
        }
        database.sql(&interrupted).await?;
        let applied = released.apply(store, &mut |_| {}).await.with_context(|| format!("after {behind} steps up"))?;
        // The remaining steps may change nothing here: SQLite's columns have no length.
        ensure!(applied.run.len() + applied.recorded.len() == 1, "after {behind} steps up: {applied:?}");
        is_at(store, case.after).await.with_context(|| format!("after {behind} steps up"))?;
    }
    Ok(())
}
