//! The differences that `schema verify` finds.

use crate::kinds::{apply, connect, first, releases, second};
use anyhow::{Result, ensure};
use ingester_core::schema::{Ident, SqlType, Stays};
use ingester_sql::ddl::{ColumnDef, KeyDef, Schema, SchemaChange, Step, TableDef, diff, plan};
use ingester_store::migrate::{drift, own_drift, schema_of};
use ingester_tests::databases::{Database, On};
use ingester_tests::on_every_database;

on_every_database! {
    the_thirteen_kinds_have_no_drift_on_any_server
    a_table_of_another_program_is_not_taken_for_our_own
    own_tables_of_another_release_are_left_alone
    every_difference_is_found_and_named
    the_difference_to_the_structs_is_what_a_migration_would_change
    a_type_that_is_none_of_ours_is_named_as_the_database_does
    changes_of_base_columns_and_primary_keys_are_migrated
}

/// Keys of tables, nullability and types of columns that every table has: a later release of this project may change
/// them.
async fn changes_of_base_columns_and_primary_keys_are_migrated(database: Database) -> Result<()> {
    let ident = Ident::new;
    let column =
        |name: &str, ty, nullable| ColumnDef { name: ident(name), was: None, ty, nullable, stays: Stays::None };
    let uid = column("uid", SqlType::VarChar(64), false);
    let table = |columns, primary_key, keys| Schema {
        tables: vec![TableDef { name: ident("thing"), was: Vec::new(), columns, primary_key, keys }],
        views: Vec::new(),
    };
    let key = |name: &str| KeyDef { name: ident(name), columns: vec![ident(name)] };
    let before = table(
        vec![uid, column("namespace", SqlType::VarChar(100), true), column("name", SqlType::VarChar(256), true)],
        vec![ident("uid")],
        vec![key("namespace"), key("name")],
    );
    let after = table(
        vec![
            uid,
            column("namespace", SqlType::VarChar(100), false),
            // Narrower. Its values come from no other place, so it is converted.
            column("name", SqlType::VarChar(100), true),
            column("kind", SqlType::VarChar(64), false),
        ],
        vec![ident("uid"), ident("namespace")],
        vec![key("namespace"), key("name")],
    );
    let store = connect(&database).await?;
    let run = async |steps: Vec<Step>| {
        for step in steps {
            let statements = store.dialect().step(&step, &step.changes);
            database.sql(&store.dialect().script(&statements)).await?;
        }
        anyhow::Ok(())
    };
    run(plan(&Schema::default(), &diff(&Schema::default(), &before))).await?;
    database.sql("INSERT INTO thing VALUES ('a', 'default', 'one'), ('b', 'default', NULL)").await?;
    let steps = plan(&before, &diff(&before, &after));
    run(steps.clone()).await?;
    let found = drift(&after, &store.catalog().await?, store.dialect());
    ensure!(found.is_empty(), "{found:#?}");
    let rows = database.sql("SELECT uid, namespace, name, kind FROM thing ORDER BY uid").await?;
    let text = |text: &str| Some(text.to_owned());
    let expected =
        [vec![text("a"), text("default"), text("one"), text("")], vec![text("b"), text("default"), None, text("")]];
    ensure!(rows == expected, "{rows:?}");
    run(steps.iter().rev().map(Step::inverse).collect()).await?;
    let found = drift(&before, &store.catalog().await?, store.dialect());
    ensure!(found.is_empty(), "{found:#?}");
    ensure!(database.count("thing").await? == 2);
    Ok(())
}

async fn the_thirteen_kinds_have_no_drift_on_any_server(database: Database) -> Result<()> {
    let store = connect(&database).await?;
    let schema = Schema::from_registry(crd_specs::KINDS);
    let missing = drift(&schema, &store.catalog().await?, store.dialect());
    ensure!(missing.len() == 39, "{missing:?}");
    store.create_missing(crd_specs::KINDS).await?;
    // Tables of other programs are ignored.
    database.sql("CREATE TABLE somebody_else_s (id INT)").await?;
    let found = drift(&schema, &store.catalog().await?, store.dialect());
    ensure!(found.is_empty(), "{found:#?}");
    let own = own_drift(&store.catalog().await?, store.dialect());
    ensure!(own.is_empty(), "{own:#?}");
    Ok(())
}

async fn a_table_of_another_program_is_not_taken_for_our_own(database: Database) -> Result<()> {
    let store = connect(&database).await?;
    for (table, columns, says) in [
        ("ingester_rejects", "id INT, text CHAR(3)", "it has no column `uid`"),
        ("ingester_settings", "name VARCHAR(64), value VARCHAR(256)", "its primary key is ()"),
    ] {
        database.sql(&format!("DROP TABLE IF EXISTS {table}")).await?;
        database.sql(&format!("CREATE TABLE {table} ({columns})")).await?;
        let error = store.create_own().await.expect_err("it is another program's").to_string();
        let head = format!("checking the table {table}: it is not the ingester's: {says}");
        ensure!(error.starts_with(&head) && error.contains("rename its table, or name another database"), "{error}");
        let found = own_drift(&store.catalog().await?, store.dialect());
        ensure!(found.iter().any(|drift| drift.to_string().contains(&format!("`{table}`"))), "{found:#?}");
        database.sql(&format!("DROP TABLE {table}")).await?;
    }
    store.create_own().await?;
    Ok(())
}

/// An earlier release on this database, or this one on the database of a later one.
async fn own_tables_of_another_release_are_left_alone(database: Database) -> Result<()> {
    let store = connect(&database).await?;
    store.create_own().await?;
    database.sql("CREATE TABLE ingester_of_a_later_release (id INT)").await?;
    store.create_missing(crd_specs::KINDS).await?;
    store.check_own().await?;
    let found = own_drift(&store.catalog().await?, store.dialect());
    ensure!(found.is_empty(), "{found:#?}");
    ensure!(database.tables().await?.iter().any(|name| name == "ingester_of_a_later_release"));
    Ok(())
}

/// Statements that damage tables, and how the differences are reported.
fn damage(on: On) -> (&'static [&'static str], Vec<&'static str>) {
    match on {
        On::Sqlite => (
            &[
                "DROP INDEX job__queue",
                "DROP INDEX job__owner",
                "CREATE UNIQUE INDEX job__owner ON job (owner, queue)",
                "DROP INDEX job__priority",
                "ALTER TABLE job DROP COLUMN priority",
                "ALTER TABLE job ADD COLUMN by_hand TEXT",
                "CREATE INDEX job__by_hand ON job (by_hand)",
                "DROP TABLE job_labels",
            ],
            vec![
                "column `job`.`priority` is missing; the schema has it as INTEGER",
                "column `job`.`by_hand` (TEXT) is not in the schema",
                "key `queue` of `job` is missing; the schema has it over (queue)",
                "key `priority` of `job` is missing; the schema has it over (priority)",
                "key `owner` of `job` is UNIQUE, over (owner, queue); the schema has (owner)",
                "key `job__by_hand` of `job` over (by_hand) is not in the schema",
                "table `job_labels` is missing",
            ],
        ),
        On::Postgres => (
            &[
                "DROP INDEX job__queue",
                "DROP INDEX job__owner",
                "CREATE UNIQUE INDEX job__owner ON job (owner, queue)",
                "ALTER TABLE job DROP COLUMN priority",
                "ALTER TABLE job ADD COLUMN by_hand TEXT",
                "CREATE INDEX by_hand ON job (by_hand)",
                "ALTER TABLE job ALTER COLUMN owner TYPE VARCHAR(100) COLLATE `C`",
                "ALTER TABLE job ALTER COLUMN queue TYPE VARCHAR(255) COLLATE `default`, ALTER COLUMN queue SET NOT NULL",
                "ALTER TABLE job_annotations DROP CONSTRAINT job_annotations_pkey, ADD PRIMARY KEY (obj_uid)",
                "DROP TABLE job_labels",
            ],
            vec![
                "column `job`.`queue` is character varying(255) NOT NULL COLLATE default; the schema has VARCHAR(255) NULL",
                "column `job`.`owner` is character varying(100) NULL; the schema has VARCHAR(255) NULL",
                "column `job`.`priority` is missing; the schema has it as BIGINT",
                "column `job`.`by_hand` (text) is not in the schema",
                "key `queue` of `job` is missing; the schema has it over (queue)",
                "key `owner` of `job` is UNIQUE, over (owner, queue); the schema has (owner)",
                "key `priority` of `job` is missing; the schema has it over (priority)",
                "key `by_hand` of `job` over (by_hand) is not in the schema",
                "table `job_labels` is missing",
                "the primary key of `job_annotations` is (obj_uid); the schema has (obj_uid, key)",
            ],
        ),
        On::MariaDb | On::MySql => (
            &[
                "ALTER TABLE job DROP KEY queue",
                "ALTER TABLE job DROP KEY owner, ADD UNIQUE KEY owner (owner, queue)",
                "ALTER TABLE job DROP COLUMN priority",
                "ALTER TABLE job ADD COLUMN by_hand TEXT, ADD KEY by_hand (by_hand(10))",
                "ALTER TABLE job MODIFY COLUMN owner VARCHAR(100) NULL",
                "ALTER TABLE job MODIFY COLUMN queue VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL",
                "ALTER TABLE job_annotations DROP PRIMARY KEY, ADD PRIMARY KEY (obj_uid)",
                "DROP TABLE job_labels",
            ],
            vec![
                "column `job`.`queue` is varchar(255) NOT NULL COLLATE utf8mb4_general_ci; the schema has VARCHAR(255) NULL",
                "column `job`.`owner` is varchar(100) NULL; the schema has VARCHAR(255) NULL",
                "column `job`.`priority` is missing; the schema has it as BIGINT",
                "column `job`.`by_hand` (text) is not in the schema",
                "key `queue` of `job` is missing; the schema has it over (queue)",
                "key `owner` of `job` is UNIQUE, over (owner, queue); the schema has (owner)",
                "key `priority` of `job` is missing; the schema has it over (priority)",
                "key `by_hand` of `job` over (by_hand(10)) is not in the schema",
                "table `job_labels` is missing",
                "the primary key of `job_annotations` is (obj_uid); the schema has (obj_uid, key)",
            ],
        ),
    }
}

async fn every_difference_is_found_and_named(database: Database) -> Result<()> {
    let releases = releases()?;
    let store = connect(&database).await?;
    apply(&releases.second, &store).await?;
    let (damage, mut expected) = damage(database.on);
    for statement in damage {
        database.sql(statement).await?;
    }
    let found = drift(&Schema::from_registry(second::KINDS), &store.catalog().await?, store.dialect());
    let mut found: Vec<String> = found.iter().map(ToString::to_string).collect();
    found.sort();
    expected.sort_unstable();
    ensure!(found == expected, "{found:#?}");
    // Running the migrations again reports the differences, too, and changes nothing.
    let again = releases.second.apply(&store, &mut |_| {}).await?;
    ensure!(again.run.is_empty() && again.drift.len() == expected.len(), "{again:?}");
    Ok(())
}

async fn a_type_that_is_none_of_ours_is_named_as_the_database_does(database: Database) -> Result<()> {
    let releases = releases()?;
    let store = connect(&database).await?;
    apply(&releases.first, &store).await?;
    let (damage, expected): (&str, &[&str]) = match database.on {
        On::Sqlite => ("ALTER TABLE job ADD COLUMN by_hand ANY", &["drop column `by_hand` ANY"]),
        On::Postgres => (
            "ALTER TABLE job ALTER COLUMN update_time TYPE TIMESTAMP(3), ADD COLUMN by_hand DATE",
            &[
                "change column `update_time` from timestamp(3) without time zone to DATETIME(6)",
                "drop column `by_hand` date",
            ],
        ),
        On::MariaDb | On::MySql => (
            "ALTER TABLE job MODIFY COLUMN update_time DATETIME NOT NULL, ADD COLUMN by_hand DATETIME(3) NULL",
            &["change column `update_time` from datetime to DATETIME(6)", "drop column `by_hand` datetime(3)"],
        ),
    };
    database.sql(damage).await?;
    let code = Schema::from_registry(first::KINDS);
    let catalog = store.catalog().await?;
    let changes = diff(&schema_of(&catalog, store.dialect(), &code), &code);
    let foreign = catalog.foreign_types(store.dialect());
    let found: Vec<String> = changes.iter().map(|change| change.sentence_on(&foreign)).collect();
    ensure!(found == expected, "{found:?}");
    Ok(())
}

async fn the_difference_to_the_structs_is_what_a_migration_would_change(database: Database) -> Result<()> {
    let releases = releases()?;
    let store = connect(&database).await?;
    apply(&releases.first, &store).await?;
    let code = Schema::from_registry(second::KINDS);
    let live = schema_of(&store.catalog().await?, store.dialect(), &code);
    let found: Vec<String> = diff(&live, &code).iter().map(SchemaChange::sentence).collect();
    let expected = [
        "add column `owner` VARCHAR(255)",
        "add column `priority` BIGINT",
        "add key `owner` (owner)",
        "add key `priority` (priority)",
    ];
    ensure!(found == expected, "{found:?}");
    Ok(())
}
