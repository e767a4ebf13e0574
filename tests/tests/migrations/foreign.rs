//! Tables with our names that another program has made: they are neither changed nor dropped.

use crate::kinds::{FIRST_KIND, apply, connect, first, job, releases, write};
use anyhow::{Context as _, Result, ensure};
use ingester_core::Kind;
use ingester_sql::ddl::Schema;
use ingester_store::migrate::{Folder, GenerateOptions, Progress, ReleasedSchema, drift};
use ingester_store::{ConnectOptions, Store};
use ingester_tests::databases::{Database, On};
use ingester_tests::{on_databases, on_every_database};

on_every_database! {
    a_table_of_another_program_is_refused_before_the_first_statement
    companions_of_another_program_are_refused_as_well
    an_interrupted_first_migration_is_resumed_with_its_tables
    reverting_drops_only_tables_that_the_ingester_made
    a_database_of_the_reference_system_is_left_as_it_is
    a_table_that_an_earlier_release_has_taken_is_neither_altered_nor_dropped
    a_name_that_a_migration_has_given_up_may_be_another_programs
    a_companion_of_another_program_beside_our_main_table_is_refused
}

// The other databases' catalogs show every table completely, at one moment.
on_databases! { (a_missing_right_is_named_and_no_other_program_is_blamed) [mariadb MariaDb] [mysql MySql] }
on_databases! { (without_a_ledger_a_missing_right_is_named_as_well) [mariadb MariaDb] [mysql MySql] }
on_databases! { (a_table_that_is_seen_half_made_is_looked_at_again) [mariadb MariaDb] [mysql MySql] }

/// The whole content of a database: each table with its columns and rows.
async fn dump(database: &Database) -> Result<Vec<String>> {
    let mut dump = Vec::new();
    for name in database.tables().await? {
        let made = match database.on {
            On::Sqlite => format!("SELECT sql FROM sqlite_master WHERE name = '{name}'"),
            On::MariaDb | On::MySql => format!("SHOW CREATE TABLE `{name}`"),
            On::Postgres => format!(
                "SELECT column_name, data_type, character_maximum_length, is_nullable, column_default
                 FROM information_schema.columns WHERE table_schema = CURRENT_SCHEMA() AND table_name = '{name}'
                 UNION ALL SELECT indexdef, indexname, NULL, NULL, NULL FROM pg_indexes
                 WHERE schemaname = CURRENT_SCHEMA() AND tablename = '{name}' ORDER BY 1"
            ),
        };
        let made = database.sql(&made).await?;
        dump.push(format!("{made:?}"));
        dump.push(format!("{:?}", database.sql(&format!("SELECT * FROM {name}")).await?));
    }
    Ok(dump)
}

/// Every command that would change tables, or report changes, is refused with these words, and changes nothing.
async fn refused(database: &Database, released: &ReleasedSchema, says: &[&str]) -> Result<()> {
    let store = connect(database).await?;
    let before = dump(database).await?;
    for error in [
        released.apply(&store, &mut |_| {}).await.map(drop).map_err(anyhow::Error::from),
        released.plan(&store).await.map(drop).map_err(anyhow::Error::from),
        store.create_missing(first::KINDS).await.map(drop).map_err(anyhow::Error::from),
        store
            .make_declared(first::KINDS, ingester_store::migrate::AllowedChanges::Drop)
            .await
            .map(drop)
            .map_err(anyhow::Error::from),
    ] {
        let error = error.err().context("it is another program's")?.to_string();
        ensure!(says.iter().all(|says| error.contains(says)), "{error}");
    }
    let after = dump(database).await?;
    ensure!(before == after, "{before:#?}\n{after:#?}");
    Ok(())
}

async fn a_table_of_another_program_is_refused_before_the_first_statement(database: Database) -> Result<()> {
    let releases = releases()?;
    for (columns, says) in [
        ("id INT PRIMARY KEY, queue VARCHAR(20)", "it has no column `uid`"),
        ("uid VARCHAR(10) PRIMARY KEY, name VARCHAR(20)", "it has no column `group_ver`"),
    ] {
        database.sql(&format!("CREATE TABLE job ({columns})")).await?;
        database.sql("INSERT INTO job VALUES (1, 'theirs')").await?;
        refused(
            &database,
            &releases.second,
            &["the table job: the ingester did not make it", says, "rename its table"],
        )
        .await?;
        database.sql("DROP TABLE job").await?;
    }
    // A view has a name of ours as well.
    database.sql("CREATE TABLE other (id INT)").await?;
    database.sql("CREATE VIEW job AS SELECT id FROM other").await?;
    let error = releases.second.apply(&connect(&database).await?, &mut |_| {}).await.unwrap_err().to_string();
    ensure!(error.contains("it is a view"), "{error}");
    database.sql("DROP VIEW job").await?;
    let store = connect(&database).await?;
    ensure!(store.tables().await?.len() == 1, "{:?}", store.tables().await?);
    ensure!(apply(&releases.second, &store).await?.len() == 2);
    Ok(())
}

async fn companions_of_another_program_are_refused_as_well(database: Database) -> Result<()> {
    database.sql("CREATE TABLE job_labels (id INT PRIMARY KEY, label VARCHAR(20))").await?;
    database.sql("INSERT INTO job_labels VALUES (1, 'theirs')").await?;
    refused(&database, &releases()?.second, &["the table job_labels: the ingester did not make it"]).await?;
    // The same for one with the name of one of the ingester's own.
    database.sql("DROP TABLE job_labels").await?;
    database.sql("CREATE TABLE ingester_settings (id INT)").await?;
    refused(&database, &releases()?.second, &["the table ingester_settings: it is not the ingester's"]).await
}

async fn an_interrupted_first_migration_is_resumed_with_its_tables(database: Database) -> Result<()> {
    let releases = releases()?;
    let store = connect(&database).await?;
    let dialect = store.dialect();
    let schema = Schema::from_registry(first::KINDS);
    let statements = dialect.create_all(&schema);
    // On SQLite the migration is one transaction.
    let first = if database.on == On::Sqlite { statements.len() } else { 1 };
    for behind in first..=statements.len() {
        // As if the program had been killed after this many statements, before anything recorded them.
        database.sql(&dialect.script(&statements[..behind])).await?;
        releases.first.apply(&store, &mut |_| {}).await?;
        let found = drift(&schema, &store.catalog().await?, dialect);
        ensure!(found.is_empty() && releases.first.pending(&store).await?.is_empty(), "after {behind}: {found:?}");
        // And as if it had been killed while the ledger has it as begun.
        for table in ["job_labels", "job_annotations"] {
            database.sql(&format!("DROP TABLE {table}")).await?;
        }
        database.sql("UPDATE _sqlx_migrations SET success = FALSE").await?;
        releases.first.apply(&store, &mut |_| {}).await?;
        let found = drift(&schema, &store.catalog().await?, dialect);
        ensure!(found.is_empty(), "after {behind}, begun: {found:?}");
        releases.first.revert(&store, 0, &mut |_| {}).await?;
        ensure!(!store.tables().await?.contains("job"));
    }
    Ok(())
}

async fn reverting_drops_only_tables_that_the_ingester_made(database: Database) -> Result<()> {
    let releases = releases()?;
    let store = connect(&database).await?;
    apply(&releases.first, &store).await?;
    // As an earlier release has left it, which took the table of another program for its own.
    database.sql("DROP TABLE job").await?;
    database.sql("CREATE TABLE job (id INT PRIMARY KEY, queue VARCHAR(20))").await?;
    database.sql("INSERT INTO job VALUES (1, 'theirs')").await?;
    let before = dump(&database).await?;
    let error = releases.first.revert(&store, 0, &mut |_| {}).await.unwrap_err().to_string();
    for says in ["the table job: the ingester did not make it", "would be dropped", "schema print"] {
        ensure!(error.contains(says), "{error}");
    }
    ensure!(dump(&database).await? == before);
    // The text of the message.
    database.sql("ALTER TABLE job RENAME TO their_job").await?;
    let script = store.dialect().script(&store.dialect().create_all(&Schema::from_registry(first::KINDS)));
    database.sql(&script).await?;
    write(&store, &FIRST_KIND, [job(1, 1)]).await?;
    releases.first.revert(&store, 0, &mut |_| {}).await?;
    let left = store.tables().await?;
    ensure!(left.contains("their_job") && !left.contains("job") && !left.contains("job_labels"), "{left:?}");
    ensure!(database.count("their_job").await? == 1);
    Ok(())
}

async fn a_database_of_the_reference_system_is_left_as_it_is(database: Database) -> Result<()> {
    // As its own script makes them.
    let (number, blob, time) = match database.on {
        On::Sqlite => ("INTEGER PRIMARY KEY", "BLOB", "DATETIME"),
        On::MariaDb | On::MySql => ("BIGINT AUTO_INCREMENT PRIMARY KEY", "MEDIUMBLOB", "DATETIME"),
        On::Postgres => ("BIGSERIAL PRIMARY KEY", "BYTEA", "TIMESTAMP"),
    };
    for sql in [
        format!(
            "CREATE TABLE job (uid VARCHAR(255) NOT NULL PRIMARY KEY, group_ver VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL, \
             name VARCHAR(255) NOT NULL, res_version BIGINT NOT NULL, create_time {time} NOT NULL, update_time {time}, \
             delete_time {time}, proto {blob}, json JSON, queue VARCHAR(255))"
        ),
        format!(
            "CREATE TABLE job_labels (id {number}, obj_uid VARCHAR(255) NOT NULL, `key` VARCHAR(255) NOT NULL, value VARCHAR(63))"
        ),
        "INSERT INTO job VALUES ('u', 'example.com/v1', 'ml', 'a', 7, '2026-03-09 20:36:46', NULL, NULL, 'x', '{}', 'q')".into(),
        "INSERT INTO job_labels (obj_uid, `key`, value) VALUES ('u', 'team', 'x')".into(),
    ] {
        database.sql(&sql).await?;
    }
    let says = ["the database is one of the reference system", "Michelangelo's own tables", "name another database"];
    refused(&database, &releases()?.second, &says).await
}

async fn a_missing_right_is_named_and_no_other_program_is_blamed(database: Database) -> Result<()> {
    let releases = releases()?;
    apply(&releases.second, &connect(&database).await?).await?;
    let name = database.name();
    for (place, (grants, right)) in [
        // Each database hides something different in the catalog.
        ("GRANT SELECT (name), INSERT (name) ON `{}`.ingester_settings TO {user}; GRANT SELECT ON `{}`.job TO {user}", "SELECT"),
        ("GRANT DELETE ON `{}`.* TO {user}; GRANT INSERT (uid) ON `{}`.ingester_rejects TO {user}", "SELECT"),
        ("GRANT INSERT, UPDATE, DELETE ON `{}`.* TO {user}", "SELECT"),
        ("GRANT CREATE ON `{}`.* TO {user}", "SELECT"),
    ]
    .into_iter()
    .enumerate()
    {
        let user = format!("rights_{}_{place}", database.on as u8);
        let account = format!("'{user}'@'%'");
        let grants = grants.replace("{}", name).replace("{user}", &account);
        database.sql(&format!("DROP USER IF EXISTS {account}; CREATE USER {account}; {grants}")).await?;
        let store = Store::connect(&database.url_of(&user).parse()?, ConnectOptions::default()).await?;
        let error = match store.create_own().await {
            Ok(()) => releases.second.apply(&store, &mut |_| {}).await.map(drop).map_err(anyhow::Error::from),
            Err(error) => Err(error.into()),
        };
        let error = error.err().context("it lacks rights")?.to_string();
        ensure!(error.contains(&format!("run GRANT {right} ON ")) && error.contains(&user), "{grants}: {error}");
        ensure!(!error.contains("another program"), "{grants}: {error}");
    }
    Ok(())
}

/// As an earlier release has left it, which took the table of another program for its own: the first migration is recorded.
async fn a_table_that_an_earlier_release_has_taken_is_neither_altered_nor_dropped(database: Database) -> Result<()> {
    let releases = releases()?;
    let store = connect(&database).await?;
    let replace = async || -> Result<()> {
        database.sql("DROP TABLE job").await?;
        database.sql("CREATE TABLE job (id INT PRIMARY KEY, queue VARCHAR(20))").await?;
        database.sql("INSERT INTO job VALUES (1, 'theirs')").await?;
        Ok(())
    };
    let says = ["the table job: the ingester did not make it: it has no column `uid`", "rename its table"];
    apply(&releases.first, &store).await?;
    replace().await?;
    let before = dump(&database).await?;
    for error in [
        releases.second.apply(&store, &mut |_| {}).await.map(drop),
        releases.second.plan(&store).await.map(drop),
        releases.second.refuse_foreign(&store).await.map_err(Into::into),
    ] {
        let error = error.err().context("it is another program's")?.to_string();
        ensure!(says.iter().all(|says| error.contains(says)), "{error}");
        ensure!(dump(&database).await? == before, "{error}");
    }
    // Without pending migrations, nothing is refused: a start does not alter tables.
    releases.first.refuse_foreign(&store).await?;

    // The second migration, which only alters the table, is not reverted, either.
    database.sql("DROP TABLE job").await?;
    let script = store.dialect().script(&store.dialect().create_all(&Schema::from_registry(first::KINDS))[..1]);
    database.sql(&script).await?;
    apply(&releases.second, &store).await?;
    replace().await?;
    let before = dump(&database).await?;
    let error = releases.second.revert(&store, 1, &mut |_| {}).await.unwrap_err().to_string();
    ensure!(says.iter().all(|says| error.contains(says)), "{error}");
    ensure!(dump(&database).await? == before, "{error}");
    // Reverting both would drop it.
    let error = releases.second.revert(&store, 0, &mut |_| {}).await.unwrap_err().to_string();
    ensure!(error.contains(says[0]) && error.contains("would be dropped"), "{error}");
    ensure!(dump(&database).await? == before, "{error}");
    Ok(())
}

/// A migration has dropped the table: another program may have one with its name.
async fn a_name_that_a_migration_has_given_up_may_be_another_programs(database: Database) -> Result<()> {
    let root = tempfile::tempdir()?;
    let folder = Folder::new(root.path());
    folder.generate(first::KINDS, &GenerateOptions::default())?;
    let drop_all = GenerateOptions { name: Some("drop_job"), allow_destructive: true, ..GenerateOptions::default() };
    folder.generate(&[] as &[Kind], &drop_all)?;
    let dropped = folder.released()?;
    let store = connect(&database).await?;
    ensure!(apply(&dropped, &store).await?.len() == 2);
    database.sql("CREATE TABLE job (id INT PRIMARY KEY, queue VARCHAR(20))").await?;
    let next = GenerateOptions { name: Some("add_event"), ..GenerateOptions::default() };
    folder.generate(&crd_specs::KINDS[..1], &next)?;
    ensure!(apply(&folder.released()?, &store).await? == ["0003_add_event"]);
    // Reverting the second one would create the table again.
    let before = dump(&database).await?;
    let error = folder.released()?.revert(&store, 1, &mut |_| {}).await.unwrap_err().to_string();
    ensure!(error.contains("the table job: the ingester did not make it"), "{error}");
    ensure!(dump(&database).await? == before, "{error}");
    Ok(())
}

async fn a_companion_of_another_program_beside_our_main_table_is_refused(database: Database) -> Result<()> {
    let store = connect(&database).await?;
    store.create_missing(first::KINDS).await?;
    store.refuse_foreign_tables(first::KINDS).await?;
    for (columns, says) in [
        ("id INT PRIMARY KEY, label VARCHAR(20)", "it has no column `obj_uid`"),
        ("id INT PRIMARY KEY, obj_uid VARCHAR(64)", "its primary key is (id)"),
    ] {
        database.sql("DROP TABLE job_labels").await?;
        database.sql(&format!("CREATE TABLE job_labels ({columns})")).await?;
        database.sql("INSERT INTO job_labels VALUES (1, 'theirs')").await?;
        let before = dump(&database).await?;
        for error in [
            store.refuse_foreign_tables(first::KINDS).await.map(drop).map_err(anyhow::Error::from),
            store.create_missing(first::KINDS).await.map(drop).map_err(anyhow::Error::from),
            store
                .make_declared(first::KINDS, ingester_store::migrate::AllowedChanges::Drop)
                .await
                .map(drop)
                .map_err(anyhow::Error::from),
        ] {
            let error = error.err().context("it is another program's")?.to_string();
            ensure!(
                error.contains("the table job_labels: the ingester did not make it") && error.contains(says),
                "{error}"
            );
        }
        ensure!(dump(&database).await? == before);
    }
    Ok(())
}

/// The user may read and write the ingester's own tables, and the ledger is gone: the catalog shows one column of `job`.
async fn without_a_ledger_a_missing_right_is_named_as_well(database: Database) -> Result<()> {
    let releases = releases()?;
    apply(&releases.second, &connect(&database).await?).await?;
    database.sql("DROP TABLE _sqlx_migrations").await?;
    let name = database.name();
    let user = format!("rights_of_job_{}", database.on as u8);
    let account = format!("'{user}'@'%'");
    database.sql(&format!("DROP USER IF EXISTS {account}; CREATE USER {account}")).await?;
    for own in ingester_sql::dialect::own_schema(ingester_sql::dialect::Dialect::MySql).tables {
        let own = own.name;
        database.sql(&format!("GRANT SELECT ON `{name}`.{own} TO {account}")).await?;
    }
    database.sql(&format!("GRANT INSERT (uid) ON `{name}`.job TO {account}")).await?;
    let before = dump(&database).await?;
    let store = Store::connect(&database.url_of(&user).parse()?, ConnectOptions::default()).await?;
    store.create_own().await?;
    let error = releases.second.apply(&store, &mut |_| {}).await.unwrap_err().to_string();
    ensure!(error.contains("run GRANT SELECT ON ") && error.contains(&user), "{error}");
    ensure!(error.contains("the table job") && !error.contains("another program"), "{error}");
    ensure!(dump(&database).await? == before, "{error}");
    Ok(())
}

/// The catalog is not one snapshot: of a table that the last statement of a killed program makes or drops, it may have the columns
/// without the key.
async fn a_table_that_is_seen_half_made_is_looked_at_again(database: Database) -> Result<()> {
    let releases = releases()?;
    let store = connect(&database).await?;
    let dialect = store.dialect();
    database.sql(&dialect.script(&dialect.create_all(&Schema::from_registry(first::KINDS)))).await?;
    database.sql("ALTER TABLE job DROP PRIMARY KEY").await?;
    let mut quiet = |_: Progress| {};
    let error = releases.first.apply(&store, &mut quiet).await.unwrap_err().to_string();
    ensure!(error.contains("its primary key is ()"), "{error}");
    let (applied, made) = tokio::join!(releases.first.apply(&store, &mut quiet), async {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        database.sql("ALTER TABLE job ADD PRIMARY KEY (uid)").await
    });
    made?;
    applied?;
    Ok(())
}
