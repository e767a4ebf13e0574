//! Keys of tables with rows, which PostgreSQL creates outside of transactions, while others write.

use crate::kinds::{FIRST_KIND, SECOND, apply, connect, first, job, releases, second, write};
use anyhow::{Context as _, Result, ensure};
use ingester_sql::ddl::Schema;
use ingester_store::Store;
use ingester_store::migrate::{Folder, GenerateOptions, ReleasedSchema, drift};
use ingester_tests::databases::Database;
use ingester_tests::on_databases;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{Connection as _, Executor as _, PgConnection};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

// Other databases create them within a migration.
on_databases! { (a_key_is_made_while_others_write) [postgres Postgres] }
on_databases! { (a_killed_migration_leaves_a_key_that_the_next_one_makes_again) [postgres Postgres] }
on_databases! { (two_programs_make_a_key_once) [postgres Postgres] }
on_databases! { (a_table_without_rows_gets_its_keys_in_the_transaction) [postgres Postgres] }
on_databases! { (a_migration_that_drops_keys_is_taken_back_beside_writers) [postgres Postgres] }

const DEADLINE: Duration = Duration::from_secs(60);

/// A transaction that has written into the table. A key in creation waits for its end.
struct Writer(PgConnection);

impl Writer {
    async fn begin(database: &Database) -> Result<Self> {
        let mut connection = PgConnection::connect(&database.url).await?;
        connection.execute("BEGIN; UPDATE job SET res_version = res_version WHERE uid = 'uid-000000'").await?;
        Ok(Writer(connection))
    }

    async fn commit(mut self) -> Result<()> {
        self.0.execute("COMMIT").await?;
        Ok(())
    }
}

/// Waits until this SQL gives a row.
async fn until(database: &Database, what: &str, sql: &str) -> Result<()> {
    let begin = Instant::now();
    while database.sql(sql).await?.is_empty() {
        ensure!(begin.elapsed() < DEADLINE, "waiting for {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// A key in creation, or whose creation was interrupted.
const UNFINISHED: &str = "SELECT indexrelid::regclass FROM pg_index WHERE NOT indisvalid";

/// The sessions that create it: in this database, since other tests create keys in others.
const MAKERS: &str = "SELECT pid FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' AND state = 'active' \
     AND datname = current_database()";

/// A database with rows on its way from the first release to the second, as if the program had been killed after the step that adds the
/// columns: only the keys remain.
async fn halfway(database: &Database) -> Result<(Store, Arc<ReleasedSchema>)> {
    let releases = releases()?;
    let store = connect(database).await?;
    apply(&releases.first, &store).await?;
    write(&store, &FIRST_KIND, (0..50).map(|number| job(number, 1))).await?;
    let migrator = Migrator::new(releases.root.path().join("postgres/migrations")).await?;
    let is_up =
        |migration: &&Migration| migration.version == 2 && migration.migration_type == MigrationType::ReversibleUp;
    let up = migrator.iter().find(is_up).context("migration 2")?;
    let columns = up.sql.as_str().split("-- Step ").nth(1).context("the step of the columns")?;
    database.sql(&format!("-- {columns}")).await?;
    let checksum: String = up.checksum.iter().map(|byte| format!("{byte:02x}")).collect();
    let begun = format!(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (2, 'add owner', FALSE, {}, -1)",
        database.on.bytes(&checksum)
    );
    database.sql(&begun).await?;
    Ok((store, Arc::new(releases.second)))
}

/// Runs the migrations with a store of their own, as another program does.
async fn applying(database: &Database, released: &Arc<ReleasedSchema>) -> Result<JoinHandle<Result<Vec<String>>>> {
    let store = connect(database).await?;
    let released = released.clone();
    Ok(tokio::spawn(async move { apply(&released, &store).await }))
}

async fn has_the_second_schema(store: &Store) -> Result<()> {
    let found = drift(&Schema::from_registry(second::KINDS), &store.catalog().await?, store.dialect());
    ensure!(found.is_empty(), "{found:?}");
    Ok(())
}

async fn has_run(database: &Database) -> Result<()> {
    let ledger = database.sql("SELECT version FROM _sqlx_migrations WHERE success ORDER BY version").await?;
    ensure!(ledger.len() == 2, "{ledger:?}");
    ensure!(database.sql(UNFINISHED).await?.is_empty());
    Ok(())
}

async fn a_key_is_made_while_others_write(database: Database) -> Result<()> {
    let (store, released) = halfway(&database).await?;
    let writer = Writer::begin(&database).await?;
    let applying = applying(&database, &released).await?;
    until(&database, "a key that is being made", UNFINISHED).await?;
    // The key waits for the transaction, but other writers do not wait for the key.
    for number in 0..20 {
        let begin = Instant::now();
        write(&store, &FIRST_KIND, [job(100 + number, 1), job(1 + number, 2)]).await?;
        ensure!(begin.elapsed() < Duration::from_secs(5), "a writer waits for {:?}", begin.elapsed());
    }
    ensure!(!database.sql(UNFINISHED).await?.is_empty(), "the key waits still");
    writer.commit().await?;
    let run = tokio::time::timeout(DEADLINE, applying).await???;
    ensure!(run == SECOND[1..], "{run:?}");
    has_the_second_schema(&store).await?;
    has_run(&database).await?;
    ensure!(database.count("job").await? == 70);
    Ok(())
}

async fn a_killed_migration_leaves_a_key_that_the_next_one_makes_again(database: Database) -> Result<()> {
    let (store, released) = halfway(&database).await?;
    let writer = Writer::begin(&database).await?;
    let killed = applying(&database, &released).await?;
    until(&database, "a key that is being made", MAKERS).await?;
    until(&database, "the key in the catalog", UNFINISHED).await?;
    killed.abort();
    // As the server itself does half a second after a program was killed.
    let end = MAKERS.replace("SELECT pid", "SELECT pg_terminate_backend(pid)");
    database.sql(&end).await?;
    until(&database, "its end", &format!("SELECT 1 WHERE NOT EXISTS ({MAKERS})")).await?;

    // `schema verify` names it.
    let found = drift(&Schema::from_registry(second::KINDS), &store.catalog().await?, store.dialect());
    let said: Vec<String> = found.iter().map(ToString::to_string).collect();
    ensure!(said.iter().any(|line| line.contains("(invalid)")), "{said:?}");
    ensure!(said.iter().any(|line| line.contains("is missing")), "{said:?}");
    ensure!(released.pending(&store).await? == SECOND[1..]);

    writer.commit().await?;
    let run = apply(&released, &store).await?;
    ensure!(run == SECOND[1..], "{run:?}");
    has_the_second_schema(&store).await?;
    has_run(&database).await
}

async fn two_programs_make_a_key_once(database: Database) -> Result<()> {
    let (store, released) = halfway(&database).await?;
    let writer = Writer::begin(&database).await?;
    let one = applying(&database, &released).await?;
    until(&database, "a key that is being made", MAKERS).await?;
    // The other one waits for the lock outside of transactions, because the key would wait for a transaction.
    let other = applying(&database, &released).await?;
    let asks = "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'SELECT pg_advisory_lock%' AND pid <> pg_backend_pid()";
    until(&database, "the other one to ask for the lock", asks).await?;
    writer.commit().await?;
    let mut run = Vec::new();
    for applied in [one, other] {
        run.extend(tokio::time::timeout(DEADLINE, applied).await???);
    }
    ensure!(run == SECOND[1..], "{run:?}");
    has_the_second_schema(&store).await?;
    has_run(&database).await
}

async fn a_table_without_rows_gets_its_keys_in_the_transaction(database: Database) -> Result<()> {
    let releases = releases()?;
    let store = connect(&database).await?;
    apply(&releases.first, &store).await?;
    // A concurrently created key would wait for this transaction, which reads another table.
    let mut reader = PgConnection::connect(&database.url).await?;
    reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT COUNT(*) FROM job_labels").await?;
    let run = tokio::time::timeout(DEADLINE, apply(&releases.second, &store)).await??;
    ensure!(run == SECOND[1..], "{run:?}");
    has_the_second_schema(&store).await
}

async fn a_migration_that_drops_keys_is_taken_back_beside_writers(database: Database) -> Result<()> {
    let root = tempfile::tempdir()?;
    let folder = Folder::new(root.path());
    let options = GenerateOptions { allow_destructive: true, ..GenerateOptions::default() };
    for (name, kinds) in [("first", second::KINDS), ("without_columns", first::KINDS)] {
        folder.generate(kinds, &GenerateOptions { name: Some(name), ..options })?;
    }
    let released = folder.released()?;
    let store = connect(&database).await?;
    apply(&released, &store).await?;
    write(&store, &FIRST_KIND, (0..50).map(|number| job(number, 1))).await?;
    released.revert(&store, 1, &mut |_| {}).await?;
    has_the_second_schema(&store).await?;
    ensure!(database.sql("SELECT version FROM _sqlx_migrations").await?.len() == 1);
    ensure!(database.sql(UNFINISHED).await?.is_empty());
    apply(&released, &store).await?;
    has_run(&database).await
}
