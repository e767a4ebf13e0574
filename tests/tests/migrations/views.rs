//! Views: their content, how they follow their tables, and changes of them by hand.

use crate::kinds::connect;
use anyhow::{Context as _, Result, ensure};
use ingester_core::schema::Ident;
use ingester_core::value::Micros;
use ingester_core::view::{self, Condition, Expression, Literal, View, ViewColumn, ViewSource, ViewType};
use ingester_core::{Kind, Registry};
use ingester_sql::ddl::{Schema, SchemaChange, diff};
use ingester_store::migrate::{
    AllowedChanges, DeclaredError, Folder, GenerateOptions, ReleasedSchema, drift, schema_of,
};
use ingester_store::{RowChange, Store};
use ingester_tests::databases::{Database, On};
use ingester_tests::on_every_database;
use serde_json::json;

on_every_database! {
    a_view_shows_the_rows_of_its_kinds_in_every_state
    views_follow_their_tables_there_and_back
    a_view_that_was_changed_by_hand_is_found
    an_interrupted_migration_of_views_is_resumed
    without_migrations_views_are_made_and_replaced
    views_over_declared_kinds_follow_by_themselves
}

use Expression::{Case, Cast, Coalesce, Column, Null, Setting};

/// A kind in three releases: a column is renamed, and then gone.
macro_rules! job {
    ($release:ident, $($field:tt)*) => {
        mod $release {
            use ingester_core::{Ingestable, Kind};

            #[derive(Ingestable, serde::Deserialize)]
            #[ingest(group = "example.com", version = "v1", kind = "Job", plural = "jobs", namespaced)]
            #[serde(default)]
            #[derive(Default)]
            pub struct Job {
                #[index]
                pub phase: Option<String>,
                #[index]
                pub tasks: i32,
                $($field)*
            }

            pub const KIND: Kind = Kind::of::<Job>();
        }
    };
}

job!(first, #[index] pub queue: String,);
job!(renamed, #[index(was = "queue")] pub lane: String,);
job!(gone,);

mod run {
    use ingester_core::{Ingestable, Kind};

    #[derive(Ingestable, serde::Deserialize)]
    #[ingest(group = "example.com", version = "v1", kind = "Run", plural = "runs", namespaced)]
    pub struct Run {
        #[index]
        pub note: Option<String>,
    }

    pub const KIND: Kind = Kind::of::<Run>();
}

const DELETED: Expression = Case(&[(Condition::Deleted, Expression::integer(1))], &Expression::integer(0));

const IN_CLUSTER: Expression = Case(&[(Condition::Live, Expression::integer(1))], &Expression::integer(0));

const PHASE: Expression = Coalesce(&[Column("phase"), Expression::text("Created")]);

const STATES: View = View {
    name: "states",
    columns: &[
        ViewColumn::new("name"),
        ViewColumn::new("kind"),
        ViewColumn::new("phase"),
        ViewColumn::new("version"),
        ViewColumn::new("region"),
        ViewColumn::new("in_cluster"),
        ViewColumn::new("deleted"),
        ViewColumn::new("number"),
        ViewColumn::new("time"),
        ViewColumn::new("remark").ty(ViewType::Text),
    ],
    sources: &[
        ViewSource::of(
            first::KIND,
            &[
                ("name", Column("name")),
                ("kind", Expression::text("Job")),
                // A job that was deleted while it ran has stopped.
                (
                    "phase",
                    Case(
                        &[(
                            Condition::All(&[
                                Condition::Deleted,
                                Condition::OneOf(PHASE, &[Literal::Text("Running"), Literal::Text("Created")]),
                            ]),
                            Expression::text("Stopped"),
                        )],
                        &PHASE,
                    ),
                ),
                ("version", Cast(&Column("res_version"), ViewType::Text)),
                ("region", Setting("region")),
                ("in_cluster", IN_CLUSTER),
                ("deleted", DELETED),
                ("number", Column("tasks")),
                ("time", Column("create_time")),
                ("remark", Null),
            ],
        ),
        ViewSource::of(
            run::KIND,
            &[
                ("name", Column("name")),
                ("kind", Expression::text("Run")),
                ("phase", Expression::text("it's")),
                ("version", Expression::text("ü")),
                ("region", Coalesce(&[Setting("region"), Expression::text("nowhere")])),
                ("in_cluster", IN_CLUSTER),
                ("deleted", DELETED),
                ("number", Cast(&Column("note"), ViewType::Integer)),
                ("time", Cast(&Column("note"), ViewType::Time)),
                ("remark", Null),
            ],
        )
        // Not those with this note; those without a note pass.
        .filter(Condition::Not(&Condition::OneOf(Column("note"), &[Literal::Text("hidden")]))),
    ],
};

const KINDS: &[Kind] = &[first::KIND, run::KIND];
const REGISTRY: Registry<'static> = Registry { kinds: KINDS, views: view::checked(KINDS, &[STATES]) };

/// The situation of an object.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Live,
    Evicted,
    Deleted,
}

async fn write(store: &Store, kind: &Kind, name: &str, state: State, fields: serde_json::Value) -> Result<()> {
    let mut object = json!({
        "apiVersion": "example.com/v1",
        "kind": kind.kind(),
        "metadata": {
            "namespace": "default", "name": name, "uid": format!("uid-{name}"), "resourceVersion": "7",
            "creationTimestamp": "2026-03-09T20:36:46Z",
        },
    });
    object.as_object_mut().context("an object")?.extend(fields.as_object().context("fields")?.clone());
    let mut row = crate::kinds::row(kind, &object);
    row.evict_time = (state == State::Evicted).then_some(Micros(1_700_000_000_000_000));
    row.delete_time = (state == State::Deleted).then_some(Micros(1_700_000_000_000_000));
    let report = store.write(kind.table(), vec![RowChange::Row(row)]).await?;
    ensure!(report.written == 1, "{report:?}");
    Ok(())
}

async fn a_view_shows_the_rows_of_its_kinds_in_every_state(database: Database) -> Result<()> {
    let store = connect(&database).await?;
    let made = store.create_missing(REGISTRY).await?;
    ensure!(made.len() == 7 && made.last().is_some_and(|last| last == "states"), "{made:?}");
    for (name, state, phase) in [
        ("a", State::Live, json!("Running")),
        ("b", State::Evicted, json!("Running")),
        ("c", State::Deleted, json!("Running")),
        ("d", State::Deleted, json!("Succeeded")),
        ("e", State::Live, json!(null)),
        ("f", State::Deleted, json!(null)),
        ("g", State::Deleted, json!("running")),
    ] {
        write(&store, &first::KIND, name, state, json!({ "phase": phase, "tasks": 2, "queue": "q" })).await?;
    }
    for (name, note) in
        [("m", json!(null)), ("n", json!("hidden")), ("o", json!("12 of them")), ("p", json!("2026-03-09 20:36:46.5"))]
    {
        write(&store, &run::KIND, name, State::Live, json!({ "note": note })).await?;
    }
    let read = async || -> Result<Vec<String>> {
        let text = if matches!(database.on, On::MariaDb | On::MySql) { "CHAR(40)" } else { "TEXT" };
        let columns = ["name", "kind", "phase", "version", "region", "in_cluster", "deleted"];
        let columns = columns.map(|column| format!("CAST({column} AS {text})")).join(", ");
        let rows = database.sql(&format!("SELECT {columns} FROM states ORDER BY name")).await?;
        let line = |row: Vec<Option<String>>| {
            row.into_iter().map(|cell| cell.unwrap_or_else(|| "NULL".into())).collect::<Vec<_>>().join(" ")
        };
        Ok(rows.into_iter().map(line).collect())
    };
    let expected = [
        "a Job Running 7 NULL 1 0",
        "b Job Running 7 NULL 0 0",
        "c Job Stopped 7 NULL 0 1",
        "d Job Succeeded 7 NULL 0 1",
        "e Job Created 7 NULL 1 0",
        "f Job Stopped 7 NULL 0 1",
        "g Job running 7 NULL 0 1",
        "m Run it's ü nowhere 1 0",
        "o Run it's ü nowhere 1 0",
        "p Run it's ü nowhere 1 0",
    ];
    let found = read().await?;
    ensure!(found == expected, "{found:#?}");
    database.sql("INSERT INTO ingester_settings (name, value) VALUES ('region', 'eu')").await?;
    let found = read().await?;
    let expected = expected.map(|line| line.replace("NULL", "eu").replace("nowhere", "eu"));
    ensure!(found == expected, "{found:#?}");
    // Text is compared by byte, whatever the session's collation.
    ensure!(database.count("states WHERE kind = 'job' OR phase = 'RUNNING'").await? == 0);
    ensure!(database.count("states WHERE kind = 'Job' AND phase = 'Running'").await? == 2);
    // Casts, and a column that nothing fills.
    ensure!(database.count("states WHERE number = 12").await? == 1);
    ensure!(database.count("states WHERE time = '2026-03-09 20:36:46.500000'").await? == 1);
    ensure!(database.count("states WHERE time = '2026-03-09 20:36:46.000000'").await? == 7);
    ensure!(database.count("states WHERE remark IS NULL").await? == 10);
    ensure!(is_at(&store, REGISTRY).await?);
    Ok(())
}

/// A view over the first kind alone: its columns, and what fills them.
const fn jobs(columns: &'static [ViewColumn], sources: &'static [ViewSource]) -> View {
    View { name: "jobs", columns, sources }
}

const NAME: ViewColumn = ViewColumn::new("name");
const PLACE: ViewColumn = ViewColumn::new("place");

/// The releases, each with its view.
fn releases() -> [(Vec<Kind>, &'static [View]); 5] {
    const BEGIN: View =
        jobs(&[NAME, PLACE], &[ViewSource::of(first::KIND, &[("name", Column("name")), ("place", Column("queue"))])]);
    const MORE: View = jobs(
        &[NAME, PLACE, ViewColumn::new("region")],
        &[ViewSource::of(
            first::KIND,
            &[("name", Column("name")), ("place", Column("queue")), ("region", Setting("region"))],
        )],
    );
    const RENAMED: View =
        jobs(&[NAME, PLACE], &[ViewSource::of(renamed::KIND, &[("name", Column("name")), ("place", Column("lane"))])]);
    const GONE: View = jobs(
        &[NAME, PLACE],
        &[
            ViewSource::of(gone::KIND, &[("name", Column("name")), ("place", Column("phase"))]),
            ViewSource::of(run::KIND, &[("name", Column("name")), ("place", Column("note"))]),
        ],
    );
    [
        (vec![first::KIND], &[BEGIN]),
        (vec![first::KIND], &[MORE]),
        (vec![renamed::KIND], &[RENAMED]),
        (vec![gone::KIND, run::KIND], &[GONE]),
        (vec![gone::KIND, run::KIND], &[]),
    ]
}

/// Whether a database has the tables and views of a registry, without a difference.
async fn is_at(store: &Store, registry: Registry<'_>) -> Result<bool> {
    let schema = Schema::from_registry(registry);
    let catalog = store.catalog().await?;
    let drift = drift(&schema, &catalog, store.dialect());
    let changes = diff(&schema_of(&catalog, store.dialect(), &schema), &schema);
    ensure!(drift.is_empty() && changes.is_empty(), "{drift:#?} {changes:#?}");
    Ok(true)
}

async fn views_follow_their_tables_there_and_back(database: Database) -> Result<()> {
    let root = tempfile::tempdir()?;
    let folder = Folder::new(root.path());
    let store = connect(&database).await?;
    let mut ends = Vec::new();
    for (place, (kinds, views)) in releases().iter().enumerate() {
        let registry = Registry { kinds, views };
        let outcome =
            folder.generate(registry, &GenerateOptions { allow_destructive: true, ..GenerateOptions::default() })?;
        ensure!(folder.check(registry)?.changed.is_empty());
        ensure!(outcome.summary.contains("view `jobs`"), "{}", outcome.summary);
        if place == 1 {
            ensure!(outcome.migrations == ["0002_change_jobs"], "{outcome:?}");
        }
        let released = folder.released()?;
        let applied = released.apply(&store, &mut |_| {}).await?;
        ensure!(applied.run == outcome.migrations && applied.drift.is_empty(), "{applied:?}");
        ensure!(is_at(&store, registry).await?);
        if place == 0 {
            ensure!(outcome.migrations == ["0001_initial"], "{outcome:?}");
            write(&store, &first::KIND, "a", State::Live, json!({ "queue": "fast", "phase": "Running" })).await?;
        }
        if !views.is_empty() {
            let place_of = database.cell("SELECT place FROM jobs").await?;
            let expected = if kinds.len() == 1 { "fast" } else { "Running" };
            ensure!(place_of.as_deref() == Some(expected), "{place_of:?}");
        }
        let again = released.apply(&store, &mut |_| {}).await?;
        ensure!(again.run.is_empty() && again.recorded.is_empty() && again.drift.is_empty(), "{again:?}");
        ends.push(released.lock_file().migrations.last().context("a migration")?.version);
    }
    let released = folder.released()?;
    for ((kinds, views), end) in releases().iter().zip(&ends).rev().skip(1) {
        released.revert(&store, *end, &mut |_| {}).await?;
        ensure!(is_at(&store, Registry { kinds, views }).await?);
    }
    let applied = released.apply(&store, &mut |_| {}).await?;
    ensure!(applied.drift.is_empty() && database.count("job").await? == 1, "{applied:?}");
    released.revert(&store, 0, &mut |_| {}).await?;
    Ok(())
}

/// A folder with the first release, applied.
async fn begun(store: &Store) -> Result<(tempfile::TempDir, Folder, ReleasedSchema)> {
    let root = tempfile::tempdir()?;
    let folder = Folder::new(root.path());
    let (kinds, views) = &releases()[0];
    folder.generate(Registry { kinds, views }, &GenerateOptions::default())?;
    let released = folder.released()?;
    let applied = released.apply(store, &mut |_| {}).await?;
    ensure!(applied.drift.is_empty(), "{applied:?}");
    Ok((root, folder, released))
}

async fn a_view_that_was_changed_by_hand_is_found(database: Database) -> Result<()> {
    let store = connect(&database).await?;
    let (_root, _folder, released) = begun(&store).await?;
    let schema = &released.lock_file().tables;
    let found = async || -> Result<Vec<String>> {
        let drift = drift(schema, &store.catalog().await?, store.dialect());
        let again = released.apply(&store, &mut |_| {}).await?;
        ensure!(again.run.is_empty() && again.drift == drift, "{again:?}");
        let changes = diff(&schema_of(&store.catalog().await?, store.dialect(), schema), schema);
        ensure!(changes.iter().all(SchemaChange::is_of_view) && changes.is_empty() == drift.is_empty(), "{changes:?}");
        Ok(drift.iter().map(ToString::to_string).collect())
    };
    let replace = async |body: &str| -> Result<()> {
        database.sql("DROP VIEW IF EXISTS jobs").await?;
        database.sql(&format!("CREATE VIEW jobs AS {body}")).await?;
        Ok(())
    };
    ensure!(found().await?.is_empty());
    // Its statement is the migration's, whatever this release would write.
    ensure!(database.count("ingester_settings WHERE name = 'view:jobs' AND value LIKE '% % % -'").await? == 1);
    let changed = "view `jobs` was changed by hand; `ingester schema print` has the statement that creates it";
    replace("SELECT name, queue AS place FROM job WHERE delete_time IS NULL").await?;
    ensure!(found().await? == [changed], "{:?}", found().await?);
    replace("SELECT name AS place, queue AS name FROM job").await?;
    let expected = match database.on {
        On::Sqlite => changed,
        _ => "view `jobs` has the columns (place, name); the schema has (name, place)",
    };
    ensure!(found().await? == [expected], "{:?}", found().await?);
    // The statement creates it as it was.
    let script = store.dialect().script(&store.dialect().create_views(&schema.views));
    for _ in 0..2 {
        database.sql(&script).await?;
        ensure!(found().await?.is_empty(), "{:?}", found().await?);
    }
    database.sql("DROP VIEW jobs").await?;
    ensure!(found().await? == ["view `jobs` is missing"]);
    database.sql("CREATE TABLE jobs (name VARCHAR(9))").await?;
    ensure!(found().await? == ["view `jobs` is missing; there is a table of its name"]);
    Ok(())
}

async fn an_interrupted_migration_of_views_is_resumed(database: Database) -> Result<()> {
    let store = connect(&database).await?;
    let (_root, folder, _) = begun(&store).await?;
    let (kinds, views) = &releases()[2];
    let registry = Registry { kinds, views };
    folder.generate(registry, &GenerateOptions::default())?;
    let released = folder.released()?;
    let names = released.pending(&store).await?;
    ensure!(names == ["0002_change_job"], "{names:?}");
    released.apply(&store, &mut |_| {}).await?;
    // As if the program had been killed before and after the last step.
    for view_is_there in [true, false] {
        if !view_is_there {
            database.sql("DROP VIEW jobs").await?;
        }
        database.sql("UPDATE _sqlx_migrations SET success = FALSE WHERE version = 2").await?;
        let applied = released.apply(&store, &mut |_| {}).await?;
        // The existing view may be the previous one, so it is created once more.
        ensure!(applied.run.len() == 1 && applied.recorded.is_empty() && applied.drift.is_empty(), "{applied:?}");
        ensure!(is_at(&store, registry).await?);
    }
    Ok(())
}

/// Possible records of the statement that created a view: a different one, and none.
const OTHERWISE: [&str; 2] = [" 0123456789abcdef", ""];

/// Records that another statement created the view.
async fn written_otherwise(database: &Database, by: &str) -> Result<()> {
    // Three checksums of 16 digits, and blanks between them.
    let record = match database.on {
        On::Sqlite => format!("SUBSTR(value, 1, 50) || '{by}'"),
        _ => format!("CONCAT(SUBSTR(value, 1, 50), '{by}')"),
    };
    database.sql(&format!("UPDATE ingester_settings SET value = {record} WHERE name = 'view:jobs'")).await?;
    Ok(())
}

async fn without_migrations_views_are_made_and_replaced(database: Database) -> Result<()> {
    let store = connect(&database).await?;
    let [(kinds, begin), (_, more), ..] = &releases();
    for (views, made) in [(begin, true), (begin, false), (more, true), (more, false)] {
        let registry = Registry { kinds, views };
        let names = store.create_missing(registry).await?;
        ensure!(names.contains(&"jobs".to_owned()) == made, "{names:?}");
        ensure!(is_at(&store, registry).await?);
    }
    database.sql("DROP VIEW jobs").await?;
    ensure!(store.create_missing(Registry { kinds, views: more }).await? == ["jobs"]);
    // A view that another release wrote differently is created once more, and so is one without a record.
    for otherwise in OTHERWISE {
        written_otherwise(&database, otherwise).await?;
        for made in [&["jobs"][..], &[]] {
            let names = store.create_missing(Registry { kinds, views: more }).await?;
            ensure!(names == made, "{names:?} of {made:?}");
        }
    }
    // Tables of an earlier release lack what the view selects: they are named, and the view is left.
    let (kinds, views) = &releases()[2];
    ensure!(store.create_missing(Registry { kinds, views }).await?.is_empty());
    ensure!(store.missing(kinds).await? == ["job.lane"]);
    Ok(())
}

async fn views_over_declared_kinds_follow_by_themselves(database: Database) -> Result<()> {
    let store = connect(&database).await?;
    let [(kinds, begin), (_, more), ..] = &releases();
    // A view that another program created is not replaced, and not taken for ours.
    database.sql("CREATE VIEW jobs AS SELECT 1 AS a").await?;
    let refused = store.make_declared(Registry { kinds, views: begin }, AllowedChanges::Add).await;
    ensure!(matches!(&refused, Err(DeclaredError::ForeignView(view)) if view == "jobs"), "{refused:?}");
    database.sql("DROP VIEW jobs").await?;
    for (views, made) in [
        (begin, vec!["make view `jobs`"]),
        (begin, vec![]),
        (more, vec!["drop view `jobs`", "make view `jobs`"]),
        (more, vec![]),
    ] {
        let registry = Registry { kinds, views };
        let changes = store.make_declared(registry, AllowedChanges::Add).await?.made;
        let of_views: Vec<&String> = changes.iter().filter(|change| change.contains("view")).collect();
        ensure!(of_views == made, "{changes:?}");
        ensure!(is_at(&store, registry).await?);
    }
    for otherwise in OTHERWISE {
        written_otherwise(&database, otherwise).await?;
        for made in [&["drop view `jobs`", "make view `jobs`"][..], &[]] {
            let changes = store.make_declared(Registry { kinds, views: more }, AllowedChanges::Add).await?.made;
            ensure!(changes == made, "{changes:?} of {made:?}");
        }
    }
    // A column that is not declared any more stays, and the view over its table is not recreated because of it.
    const LESS: View =
        jobs(&[NAME, PLACE], &[ViewSource::of(gone::KIND, &[("name", Column("name")), ("place", Column("phase"))])]);
    let less = Registry { kinds: &[gone::KIND], views: &[LESS] };
    let changed = store.make_declared(less, AllowedChanges::Add).await?;
    ensure!(changed.made == ["drop view `jobs`", "make view `jobs`"] && !changed.left.is_empty(), "{changed:?}");
    let again = store.make_declared(less, AllowedChanges::Add).await?;
    ensure!(again.made.is_empty() && again.left == changed.left, "{again:?}");
    // A view that is not declared any more stays until it is dropped by its name. Another program's view is not one of them.
    database.sql("CREATE VIEW others AS SELECT 1 AS a").await?;
    let without = Registry { kinds: &[gone::KIND], views: &[] };
    let kept = store.make_declared(without, AllowedChanges::Drop).await?;
    ensure!(!kept.made.iter().any(|change| change.contains("view")), "{kept:?}");
    let names = |declared: &[Ident], catalog: ingester_store::Catalog| -> Vec<String> {
        catalog.left_views(declared).iter().map(ToString::to_string).collect()
    };
    let view = Ident::new("jobs");
    ensure!(names(&[view], store.catalog().await?).is_empty());
    ensure!(names(&[], store.catalog().await?) == ["jobs"]);
    store.drop_left_view(view).await?;
    ensure!(names(&[], store.catalog().await?).is_empty());
    ensure!(database.count("ingester_settings WHERE name = 'view:jobs'").await? == 0);
    // So the name is free for another program, whose view is refused and kept.
    database.sql("CREATE VIEW jobs AS SELECT 1 AS a").await?;
    ensure!(names(&[], store.catalog().await?).is_empty());
    ensure!(database.count("others").await? == 1);
    Ok(())
}
