//! Running migrations.

use crate::kinds::{FIRST_KIND, SECOND, SECOND_KIND, apply, connect, first, job, releases, second, write};
use anyhow::{Context as _, Result, bail, ensure};
use ingester_store::changes::ChangeKind;
use ingester_store::migrate::{MigrationState, ReleasedSchema};
use ingester_store::{ConnectOptions, Store};
use ingester_tests::databases::{Database, On};
use ingester_tests::{on_every_database, on_galera};
use sqlx::migrate::{Migrate as _, Migration, MigrationType, Migrator};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

on_every_database! {
    concurrent_programs_run_each_migration_once
    existing_tables_without_migrations_are_recorded_as_they_are
    an_interrupted_migration_is_resumed
    a_table_that_is_made_again_resets_its_log
    a_migration_that_is_killed_anywhere_resets_the_log_of_its_table
    a_migration_taken_over_half_done_is_recorded_before_it_goes_on
    a_database_of_a_later_release_is_left_alone
    a_migration_that_differs_from_the_released_one_is_named
    each_migration_has_its_state_and_a_plan_runs_nothing
    sqlxs_own_migrator_runs_and_reads_the_same_migrations
    a_migration_waits_for_a_table_in_use_without_blocking_others
}

on_galera! {
    an_interrupted_migration_is_resumed
    existing_tables_without_migrations_are_recorded_as_they_are
}

/// The versions in the ledger, and whether each is recorded as successful.
async fn ledger(database: &Database) -> Result<Vec<(String, bool)>> {
    let rows = database.sql("SELECT version, success FROM _sqlx_migrations ORDER BY version");
    let entry = |row: Vec<Option<String>>| Some((row[0].clone()?, row[1].as_deref() == Some("1")));
    Ok(rows.await?.into_iter().filter_map(entry).collect())
}

/// The ledger has a text of a migration that differs from the program's.
async fn spoil(database: &Database, version: u32) -> Result<()> {
    let other = database.on.bytes("00");
    database.sql(&format!("UPDATE _sqlx_migrations SET checksum = {other} WHERE version = {version}")).await.map(drop)
}

fn done(versions: &[&str]) -> Vec<(String, bool)> {
    versions.iter().map(|version| ((*version).to_owned(), true)).collect()
}

async fn concurrent_programs_run_each_migration_once(database: Database) -> Result<()> {
    let releases = Arc::new(releases()?);
    let mut programs = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let releases = releases.clone();
        let store = connect(&database).await?;
        programs.spawn(async move { apply(&releases.second, &store).await });
    }
    let mut run: Vec<String> = programs.join_all().await.into_iter().collect::<Result<Vec<_>>>()?.concat();
    run.sort();
    if database.on == On::Sqlite {
        // On SQLite several programs may report a migration as run; the ledger has it once.
        run.dedup();
    }
    ensure!(run == SECOND, "{run:?}");
    ensure!(ledger(&database).await? == done(&["1", "2"]));
    Ok(())
}

async fn existing_tables_without_migrations_are_recorded_as_they_are(database: Database) -> Result<()> {
    let releases = releases()?;
    let store = connect(&database).await?;
    // The tables that a program without migrations creates.
    store.create_missing(second::KINDS).await?;
    let applied = releases.second.apply(&store, &mut |_| {}).await?;
    ensure!(applied.run.is_empty() && applied.recorded == SECOND && applied.drift.is_empty(), "{applied:?}");
    ensure!(releases.second.pending(&store).await?.is_empty());

    // The same with only the first release's tables, with rows in them.
    for table in ["job", "job_labels", "job_annotations", "_sqlx_migrations", "ingester_backfills"] {
        database.sql(&format!("DROP TABLE {table}")).await?;
    }
    store.create_missing(first::KINDS).await?;
    write(&store, &FIRST_KIND, (0..3).map(|number| job(number, 1))).await?;
    let applied = releases.second.apply(&store, &mut |_| {}).await?;
    ensure!(applied.recorded == SECOND[..1] && applied.run == SECOND[1..] && applied.drift.is_empty(), "{applied:?}");
    ensure!(database.count("job").await? == 3);
    ensure!(store.incomplete_backfills(second::KINDS, None).await?.len() == 1, "the new columns are to be filled");
    Ok(())
}

async fn an_interrupted_migration_is_resumed(database: Database) -> Result<()> {
    let releases = releases()?;
    let store = connect(&database).await?;
    apply(&releases.first, &store).await?;
    write(&store, &FIRST_KIND, (0..3).map(|number| job(number, 1))).await?;
    let second = Migrator::new(releases.root.path().join(folder(&database)).join("migrations")).await?;
    let find = |kind: MigrationType| {
        let found = second.iter().find(|migration| migration.version == 2 && migration.migration_type == kind);
        found.context("migration 2")
    };
    let up = find(MigrationType::ReversibleUp)?;
    let down = find(MigrationType::ReversibleDown)?;
    let steps = |migration: &Migration| -> Vec<String> {
        migration.sql.as_str().split("-- Step ").skip(1).map(|step| format!("-- {step}")).collect()
    };
    let count = steps(up).len();
    ensure!(count == 2 && steps(down).len() == count, "columns, then keys");
    let checksum: String = up.checksum.iter().map(|byte| format!("{byte:02x}")).collect();
    let begun = format!(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (2, 'add owner', FALSE, {}, -1)",
        database.on.bytes(&checksum)
    );
    for behind in 0..=count {
        // As if the program had been killed after this many steps, each committed by itself.
        for step in &steps(up)[..behind] {
            database.sql(step).await?;
        }
        database.sql(&begun).await?;
        let pending = releases.second.pending(&store).await?;
        ensure!(pending == SECOND[1..], "{pending:?}");
        let applied = releases.second.apply(&store, &mut |_| {}).await?;
        let (run, recorded) = if behind == count { (0, 1) } else { (1, 0) };
        let found = (applied.run.len(), applied.recorded.len(), applied.drift.len());
        ensure!(found == (run, recorded, 0), "after {behind}: {applied:?}");
        ensure!(ledger(&database).await? == done(&["1", "2"]));
        // The same for a revert.
        for step in &steps(down)[..behind] {
            database.sql(step).await?;
        }
        database.sql("UPDATE _sqlx_migrations SET success = FALSE WHERE version = 2").await?;
        let reverted = releases.second.revert(&store, 1, &mut |_| {}).await?;
        ensure!(reverted == SECOND[1..], "after {behind}: {reverted:?}");
        ensure!(ledger(&database).await? == done(&["1"]));
        ensure!(releases.first.apply(&store, &mut |_| {}).await?.drift.is_empty());
    }
    ensure!(database.count("job").await? == 3);
    Ok(())
}

/// Tables that another program has created, up to the middle of a migration whose rest fails.
async fn a_table_that_is_made_again_resets_its_log(database: Database) -> Result<()> {
    let releases = releases()?;
    let store = connect(&database).await?;
    apply(&releases.second, &store).await?;
    let table = SECOND_KIND.table();
    write(&store, &SECOND_KIND, (0..3).map(|number| job(number, 1))).await?;
    let at = store.number_changes(table).await?;
    releases.second.revert(&store, 0, &mut |_| {}).await?;
    apply(&releases.second, &store).await?;
    let last = store.number_changes(table).await?;
    let news = store.changes_after(table, at, 9).await?;
    ensure!(news.iter().any(|change| change.what == ChangeKind::Reset), "{news:?}");
    ensure!(database.count("job").await? == 0);
    // Nothing remains to be done, and nothing is recorded.
    apply(&releases.second, &store).await?;
    ensure!(store.number_changes(table).await? == last);
    Ok(())
}

async fn a_migration_that_is_killed_anywhere_resets_the_log_of_its_table(database: Database) -> Result<()> {
    let releases = releases()?;
    let store = connect(&database).await?;
    apply(&releases.first, &store).await?;
    // On busy cores, SQLite may answer before it is polled, and then nothing is left to kill.
    for _ in 0..20 {
        let mut polls = 0;
        while is_killed_after(polls, &releases.first, &database, &store).await? {
            polls += 1;
        }
        if polls > 3 {
            return Ok(());
        }
    }
    bail!("it was never killed")
}

/// Reverts the tables and makes them again, kills that after so many polls, and goes on. Returns true if it was killed.
async fn is_killed_after(polls: usize, first: &ReleasedSchema, database: &Database, store: &Store) -> Result<bool> {
    let table = FIRST_KIND.table();
    let at = store.number_changes(table).await?;
    first.revert(store, 0, &mut |_| {}).await?;
    let killed = {
        let store = connect(database).await?;
        let began = AtomicBool::new(false);
        let mut report = |_| began.store(true, Ordering::Relaxed);
        killed_after(polls, &began, first.apply(&store, &mut report)).await.is_none()
    };
    apply(first, store).await?;
    store.number_changes(table).await?;
    let news = store.changes_after(table, at, 99).await?;
    ensure!(news.iter().any(|change| change.what == ChangeKind::Reset), "killed after {polls} polls: {news:?}");
    Ok(killed)
}

/// Polls work this often once it has begun, and drops it, like a process that is killed there. Returns the result if it ended before.
async fn killed_after<T>(polls: usize, began: &AtomicBool, work: impl Future<Output = T>) -> Option<T> {
    let mut work = std::pin::pin!(work);
    let mut left = polls;
    std::future::poll_fn(move |context| {
        if began.load(Ordering::Relaxed) {
            if left == 0 {
                return Poll::Ready(None);
            }
            left -= 1;
        }
        work.as_mut().poll(context).map(Some)
    })
    .await
}

async fn a_migration_taken_over_half_done_is_recorded_before_it_goes_on(database: Database) -> Result<()> {
    let releases = releases()?;
    let store = connect(&database).await?;
    store.create_missing(first::KINDS).await?;
    let migrator = Migrator::new(releases.root.path().join(folder(&database)).join("migrations")).await?;
    let up = migrator.iter().find(|one| one.version == 2 && one.migration_type == MigrationType::ReversibleUp);
    let text = up.context("migration 2")?.sql.as_str().to_owned();
    let steps: Vec<String> = text.split("-- Step ").skip(1).map(|step| format!("-- {step}")).collect();
    database.sql(&steps[0]).await?;
    if database.on == On::Sqlite {
        // A table with the name of the index to create.
        let index = steps[1].split('"').nth(1).context("the index's name")?.to_owned();
        database.sql(&format!("CREATE TABLE \"{index}\" (a INT)")).await?;
        releases.second.apply(&store, &mut |_| {}).await.err().context("its name is taken")?;
        // The rest is one transaction, so all of it remains to be done.
        database.sql(&format!("DROP TABLE \"{index}\"")).await?;
    } else {
        // A user without the right to add keys.
        let name = database.name();
        let user = format!("half_{}", database.on as u8);
        let grants = match database.on {
            On::Postgres => format!(
                "CREATE ROLE {user} LOGIN; GRANT CREATE ON SCHEMA public TO {user}; \
                 GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {user}"
            ),
            _ => format!(
                "DROP USER IF EXISTS '{user}'@'%'; CREATE USER '{user}'@'%'; \
                 GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `{name}`.* TO '{user}'@'%'"
            ),
        };
        database.sql(&grants).await?;
        let half = Store::connect(&database.url_of(&user).parse()?, ConnectOptions::default()).await?;
        releases.second.apply(&half, &mut |_| {}).await.err().context("it has no right to")?;
    }
    ensure!(ledger(&database).await? == [("1".to_owned(), true), ("2".to_owned(), false)]);
    let applied = releases.second.apply(&store, &mut |_| {}).await?;
    ensure!(applied.run == SECOND[1..] && applied.drift.is_empty(), "{applied:?}");
    ensure!(ledger(&database).await? == done(&["1", "2"]));
    Ok(())
}

async fn a_database_of_a_later_release_is_left_alone(database: Database) -> Result<()> {
    let releases = releases()?;
    let store = connect(&database).await?;
    apply(&releases.second, &store).await?;
    let refused = |error: ingester_store::migrate::ApplyError| {
        let text = error.to_string();
        ensure!(text.contains("migration 0002") && text.contains("later release"), "{text}");
        Ok(())
    };
    refused(releases.first.apply(&store, &mut |_| {}).await.unwrap_err())?;
    refused(releases.first.pending(&store).await.unwrap_err())?;
    refused(releases.first.revert(&store, 0, &mut |_| {}).await.unwrap_err())?;
    ensure!(ledger(&database).await? == done(&["1", "2"]));
    let error = releases.second.revert(&store, 9, &mut |_| {}).await.unwrap_err().to_string();
    ensure!(error.starts_with("there is no migration 9; the last one is 2: "), "{error}");
    Ok(())
}

async fn a_migration_that_differs_from_the_released_one_is_named(database: Database) -> Result<()> {
    let releases = releases()?;
    let store = connect(&database).await?;
    apply(&releases.second, &store).await?;
    spoil(&database, 2).await?;
    let error = releases.second.apply(&store, &mut |_| {}).await.unwrap_err().to_string();
    ensure!(error.contains(SECOND[1]) && error.contains("version control"), "{error}");
    Ok(())
}

async fn each_migration_has_its_state_and_a_plan_runs_nothing(database: Database) -> Result<()> {
    let releases = releases()?;
    let store = connect(&database).await?;
    let states = async |released: &ReleasedSchema| -> Result<Vec<(i64, MigrationState)>> {
        Ok(released.info(&store).await?.into_iter().map(|info| (info.version, info.state)).collect())
    };
    let planned = async || -> Result<Vec<(String, bool)>> {
        let planned = releases.second.plan(&store).await?;
        ensure!(planned.iter().all(|planned| !planned.sql.trim().is_empty() && !planned.changes.is_empty()));
        Ok(planned.into_iter().map(|planned| (planned.migration, planned.is_done)).collect())
    };
    let named = |names: &[&str], done: bool| -> Vec<(String, bool)> {
        names.iter().map(|name| ((*name).to_owned(), done)).collect()
    };
    use MigrationState::{Applied, Changed, Interrupted, Missing, Pending};
    ensure!(states(&releases.second).await? == [(1, Pending), (2, Pending)]);
    ensure!(planned().await? == named(&SECOND, false));
    ensure!(store.tables().await?.is_empty(), "neither makes a table");

    // Tables of another program would be taken over.
    store.create_missing(second::KINDS).await?;
    ensure!(planned().await? == named(&SECOND, true));
    apply(&releases.second, &store).await?;
    ensure!(states(&releases.second).await? == [(1, Applied), (2, Applied)]);
    ensure!(planned().await?.is_empty());
    ensure!(states(&releases.first).await? == [(1, Applied), (2, Missing)]);

    database.sql("UPDATE _sqlx_migrations SET success = FALSE WHERE version = 2").await?;
    ensure!(states(&releases.second).await? == [(1, Applied), (2, Interrupted)]);
    ensure!(planned().await? == named(&SECOND[1..], true), "it was done, only its record is to be settled");
    spoil(&database, 1).await?;
    ensure!(states(&releases.second).await? == [(1, Changed), (2, Interrupted)]);
    let error = releases.second.plan(&store).await.unwrap_err().to_string();
    ensure!(error.contains(SECOND[0]) && error.contains("version control"), "{error}");
    Ok(())
}

fn folder(database: &Database) -> &'static str {
    match database.on {
        On::Sqlite => "sqlite",
        On::MariaDb | On::MySql => "mysql",
        On::Postgres => "postgres",
    }
}

async fn sqlxs_own_migrator_runs_and_reads_the_same_migrations(database: Database) -> Result<()> {
    async fn run<D: sqlx::Database>(url: &str, migrator: &Migrator) -> Result<()>
    where
        D::Connection: sqlx::migrate::Migrate,
    {
        use sqlx::Connection as _;
        let mut connection = D::Connection::connect(url).await?;
        migrator.run_direct(None, &mut connection, false).await?;
        connection.ensure_migrations_table("_sqlx_migrations").await?;
        Ok(connection.close().await?)
    }
    let releases = releases()?;
    let migrator = Migrator::new(releases.root.path().join(folder(&database)).join("migrations")).await?;
    let store = connect(&database).await?;
    apply(&releases.first, &store).await?;
    write(&store, &FIRST_KIND, [job(1, 1)]).await?;
    match database.on {
        On::Sqlite => run::<sqlx::Sqlite>(&database.url, &migrator).await?,
        On::MariaDb | On::MySql => run::<sqlx::MySql>(&database.url, &migrator).await?,
        On::Postgres => run::<sqlx::Postgres>(&database.url, &migrator).await?,
    }
    // We accept what it ran, and find the columns to backfill, which it does not know about.
    ensure!(apply(&releases.second, &store).await?.is_empty());
    ensure!(store.incomplete_backfills(second::KINDS, Some(&releases.second)).await?.len() == 1);
    // And it accepts the migrations that we ran.
    match database.on {
        On::Sqlite => run::<sqlx::Sqlite>(&database.url, &migrator).await,
        On::MariaDb | On::MySql => run::<sqlx::MySql>(&database.url, &migrator).await,
        On::Postgres => run::<sqlx::Postgres>(&database.url, &migrator).await,
    }
}

/// Opens a transaction that has read the table.
async fn reading(database: &Database) -> Result<Box<dyn std::any::Any + Send>> {
    async fn begin<D: sqlx::Database>(url: &str) -> Result<Box<dyn std::any::Any + Send>>
    where
        D::Connection: Send,
        for<'c> &'c mut D::Connection: sqlx::Executor<'c, Database = D>,
    {
        use sqlx::{Connection as _, Executor as _};
        let mut connection = D::Connection::connect(url).await?;
        connection.execute("BEGIN").await?;
        connection.execute("SELECT * FROM job").await?;
        Ok(Box::new(connection))
    }
    match database.on {
        On::Sqlite => begin::<sqlx::Sqlite>(&database.url).await,
        On::MariaDb | On::MySql => begin::<sqlx::MySql>(&database.url).await,
        On::Postgres => begin::<sqlx::Postgres>(&database.url).await,
    }
}

async fn a_migration_waits_for_a_table_in_use_without_blocking_others(database: Database) -> Result<()> {
    let releases = releases()?;
    let store = connect(&database).await?;
    apply(&releases.first, &store).await?;
    write(&store, &FIRST_KIND, [job(0, 1)]).await?;
    let reader = reading(&database).await?;
    let migrating: tokio::task::JoinHandle<Result<Vec<String>>> = {
        let store = connect(&database).await?;
        tokio::spawn(async move { apply(&releases.second, &store).await })
    };
    // Other writers continue: the migration lets them through each time.
    for version in 2..=12 {
        write(&store, &FIRST_KIND, [job(0, version)]).await?;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    if database.on != On::Sqlite {
        ensure!(!migrating.is_finished(), "a reader was in the way");
    }
    drop(reader);
    let run = migrating.await??;
    ensure!(run == SECOND[1..], "{run:?}");
    write(&store, &SECOND_KIND, [job(0, 20)]).await?;
    Ok(())
}
