//! Tests with the testbed's server. Each makes its own schema in its own database.

use super::values::StatementNaming;
use crate::driver::interface::{Call, TransactionEnd};
use crate::driver::{Address, ConnectOptions, ErrorClass, ErrorSubject, StoreError, class_of, is_about, open};
use crate::ledger::Ledger;
use crate::rows::{RowChange, StoredRow};
use crate::store::Store;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::{Expected, Row};
use ingester_core::value::{Micros, Value};
use ingester_core::{Ingestable, Kind};
use ingester_sql::dialect::statements::{ReadSetting, RecordSetting, Versions, WriteSetting};
use ingester_sql::dialect::{Access, Dialect};
use ingester_tests::{shared_postgres, skipped_without_postgres};
use sqlx::migrate::{Migration, MigrationType};
use sqlx::{Connection as _, Executor as _, PgConnection, Row as _};
use std::time::{Duration, Instant};

#[derive(Ingestable, serde::Deserialize)]
#[ingest(group = "example.com", version = "v1", kind = "Run", namespaced = false)]
struct Run {
    #[index]
    owner: String,
    #[index]
    count: i64,
    #[index]
    ratio: f64,
    #[index]
    ready: bool,
    #[index]
    note: Option<String>,
}

const RUN: Kind = Kind::of::<Run>();

/// A schema of a test.
struct Schema {
    url: String,
    admin: PgConnection,
}

impl Schema {
    /// Returns `None`, after a message, if PostgreSQL is not installed.
    async fn new(name: &str) -> Option<Self> {
        let Some(server) = shared_postgres().unwrap() else {
            skipped_without_postgres();
            return None;
        };
        let url = server.create_database(&format!("driver_{name}")).await.unwrap();
        let mut admin = PgConnection::connect(&url).await.unwrap();
        let text = format!("CREATE SCHEMA {name}; SET search_path = {name}");
        admin.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(text))).await.unwrap();
        let join = if url.contains('?') { '&' } else { '?' };
        Some(Schema { url: format!("{url}{join}options[search_path]={name}"), admin })
    }

    async fn run(&mut self, text: &'static str) {
        self.admin.execute(sqlx::raw_sql(text)).await.unwrap();
    }

    /// Returns the result of a query of one value, as text.
    async fn get(&mut self, text: &'static str) -> String {
        self.admin.fetch_one(sqlx::raw_sql(text)).await.unwrap().get(0)
    }

    fn address(&self, more: &str) -> Address {
        format!("{}{more}", self.url).parse().unwrap()
    }

    async fn connect(&self, more: &str, options: ConnectOptions) -> Store {
        Store::connect(&self.address(more), options).await.unwrap()
    }

    /// Returns a store with tables. `prepared` decides if its connections would work with a pooler.
    async fn store(&self, prepared: StatementNaming) -> Store {
        let more = if prepared == StatementNaming::Named { "" } else { "&statement-cache-capacity=0" };
        let store = self.connect("", ConnectOptions::default()).await;
        store.create_missing(&[RUN]).await.unwrap();
        store.close().await;
        self.connect(more, ConnectOptions::default()).await
    }
}

fn row(uid: &str, version: u64, note: &str) -> Row {
    let text = format!(
        r#"{{"apiVersion":"example.com/v1","kind":"Run","metadata":{{"name":"{uid}","uid":"{uid}","resourceVersion":"{version}","labels":{{"a":"{version}"}}}},"owner":"ö'\\","count":-3,"ratio":0.1,"ready":true,"note":{note}}}"#
    );
    RUN.row(&Object::parse(text, ManagedFields::Keep).unwrap()).unwrap().unwrap()
}

/// Returns the index of a column.
fn place(name: &str) -> usize {
    RUN.table().columns.iter().position(|column| column.name.as_str() == name).unwrap()
}

/// Compares the stored row with the written one, apart from the time of writing.
fn compare(stored: &StoredRow, mut written: Row) {
    written.values[place("update_time")] = stored.values[place("update_time")].clone();
    assert!(matches!(stored.values[place("update_time")], Value::Time(_)));
    assert_eq!((&stored.values, &stored.labels), (&written.values, &written.labels));
}

fn changes(rows: impl IntoIterator<Item = Row>) -> Vec<RowChange> {
    rows.into_iter().map(RowChange::Row).collect()
}

#[tokio::test]
async fn rows_are_read_as_they_were_written() {
    for prepared in [StatementNaming::Named, StatementNaming::Unnamed] {
        let Some(schema) = Schema::new("rows_are_read").await else { return };
        let store = schema.store(prepared).await;
        // The first batch prepares its statement with NULL.
        for (uid, note) in [("a", "null"), ("b", r#""x""#)] {
            let mut written = [row(uid, 1, note), row(&format!("{uid}2"), 1, note)];
            if note != "null" {
                for row in &mut written {
                    row.values[place("proto")] = Value::Bytes([0, 255, b'\'', b'\\'].as_slice().into());
                    row.delete_time = Some(Micros(-1));
                    row.values[place("delete_time")] = Value::Time(Micros(-1));
                }
            }
            let report = store.write(RUN.table(), changes(written.clone())).await.unwrap();
            assert_eq!(report.written, 2, "{report:?}");
            let uids: Vec<&str> = written.iter().map(|row| &*row.uid).collect();
            let stored = store.read_stored(RUN.table(), &uids).await.unwrap();
            assert_eq!(stored.len(), 2);
            for (stored, written) in stored.iter().zip(written) {
                compare(stored, written);
            }
        }
        // In one round trip: all statements as one text of literals, and then a later version.
        let mut single = Row { expected: Some(Expected::Absent), ..row("c", 1, r#""\\' \" $1 ü""#) };
        single.values[place("proto")] = Value::Bytes([0, 255].as_slice().into());
        assert_eq!(store.write(RUN.table(), changes([single.clone()])).await.unwrap().written, 1);
        let stored = store.read_stored(RUN.table(), &["c"]).await.unwrap();
        compare(&stored[0], single);
        assert_eq!(store.write(RUN.table(), changes([row("c", 2, "null")])).await.unwrap().written, 1);
        assert_eq!(store.read_stored(RUN.table(), &["c"]).await.unwrap()[0].res_version, 2);
    }
}

#[tokio::test]
async fn rows_that_another_writer_has_inserted_are_judged_anew() {
    let Some(schema) = Schema::new("judged_anew").await else { return };
    let store = schema.store(StatementNaming::Named).await;
    store.write(RUN.table(), changes([row("b", 5, "null")])).await.unwrap();
    // The writer does not know the stored rows: two are inserted, one is later than the stored one, or earlier.
    let absent = |uid, version| Row { expected: Some(Expected::Absent), ..row(uid, version, "null") };
    let report = store.write(RUN.table(), changes([absent("a", 1), absent("b", 6), absent("c", 1)])).await.unwrap();
    assert_eq!((report.written, report.stale.len()), (3, 0));
    let report = store.write(RUN.table(), changes([absent("b", 2), absent("d", 1)])).await.unwrap();
    assert_eq!((report.written, &report.stale[..]), (1, &["b".into()][..]));
    let report = store.write(RUN.table(), changes([absent("b", 7)])).await.unwrap();
    assert_eq!(report.written, 1, "as one text, which is refused as a whole");
    let stored = store.read_stored(RUN.table(), &["b"]).await.unwrap();
    assert_eq!((stored[0].res_version, stored[0].labels.len()), (7, 1));
}

#[tokio::test]
async fn a_text_with_nul_is_null_and_the_object_is_stored() {
    let Some(schema) = Schema::new("nul").await else { return };
    let store = schema.store(StatementNaming::Named).await;
    for expected in [None, Some(Expected::Absent)] {
        let uid = if expected.is_none() { "a" } else { "b" };
        let written = Row { expected, ..row(uid, 1, r#""x\u0000y""#) };
        assert_eq!(store.write(RUN.table(), changes([written.clone()])).await.unwrap().written, 1);
        let stored = store.read_stored(RUN.table(), &[uid]).await.unwrap().pop().unwrap();
        assert_eq!(
            (&stored.values[place("note")], &written.values[place("note")]),
            (&Value::Null, &Value::text("x\0y"))
        );
        assert!(stored.json().contains(r"x\u0000y"), "{}", stored.json());
    }
}

#[tokio::test]
async fn an_object_that_the_server_refuses_is_rejected_alone() {
    let Some(schema) = Schema::new("refused").await else { return };
    let store = schema.store(StatementNaming::Named).await;
    let report = store.write(RUN.table(), changes([row("a", 1, "null"), row("b", u64::MAX, "null")])).await.unwrap();
    assert_eq!((report.written, report.rejected.len()), (1, 1), "{report:?}");
    assert!(report.rejected[0].reason.contains("larger than PostgreSQL's integers"), "{report:?}");
}

#[tokio::test]
async fn a_query_ends_in_time_or_with_its_caller() {
    for prepared in ["", "&statement-cache-capacity=0"] {
        let Some(mut schema) = Schema::new("ends").await else { return };
        schema.run("CREATE VIEW ingester_settings (name, value) AS SELECT 'a', CAST(pg_sleep(60) AS TEXT)").await;
        let pool = open(&schema.address(prepared), ConnectOptions::default()).await.unwrap();
        let setting = &ReadSetting { name: "a" };
        let begin = Instant::now();
        let error = pool.fetch_within(setting, Duration::from_millis(200)).await.unwrap_err();
        assert!(is_about(&error, ErrorSubject::Time) && begin.elapsed() < Duration::from_secs(20), "{error}");
        let running = "SELECT CAST(COUNT(*) AS TEXT) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%ingester_settings%' AND pid <> pg_backend_pid()";
        let abandoned =
            tokio::time::timeout(Duration::from_millis(300), pool.fetch_within(setting, Duration::from_secs(50)));
        assert!(abandoned.await.is_err());
        let deadline = Instant::now() + Duration::from_secs(20);
        while schema.get(running).await != "0" {
            assert!(Instant::now() < deadline, "it runs on");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        pool.close().await;
    }
}

#[tokio::test]
async fn a_text_of_several_statements_is_a_transaction() {
    let Some(mut schema) = Schema::new("one_text").await else { return };
    schema.run("CREATE TABLE t (a INT PRIMARY KEY)").await;
    for more in ["", "&statement-cache-capacity=0"] {
        let pool = open(&schema.address(more), ConnectOptions::default()).await.unwrap();
        let mut session = pool.driver.session().await.unwrap();
        let refused = session.run("INSERT INTO t VALUES (1); INSERT INTO t VALUES (1)".into()).await.unwrap_err();
        assert_eq!(class_of(&refused), ErrorClass::Object);
        // The connection is as good as before.
        session.run("INSERT INTO t VALUES (2)".into()).await.unwrap();
        assert_eq!(schema.get("SELECT STRING_AGG(CAST(a AS TEXT), ',') FROM t").await, "2");
        schema.run("DELETE FROM t").await;
    }
}

#[tokio::test]
async fn a_transaction_with_a_failed_statement_is_not_committed() {
    let Some(schema) = Schema::new("failed").await else { return };
    let store = schema.store(StatementNaming::Named).await;
    let mut session = store.pool.driver.session().await.unwrap();
    let record = |value| RecordSetting { name: "a", value };
    session.begin(Access::Write, false).await.unwrap();
    session.execute(Call::new(&record("1"), Dialect::Postgres)).await.unwrap();
    let refused = session.execute(Call::new(&record("2"), Dialect::Postgres)).await.unwrap_err();
    assert!(refused.as_database_error().is_some_and(|error| error.is_unique_violation()));
    assert!(session.end(TransactionEnd::Commit(None)).await.is_err());
    // A dropped transaction is rolled back.
    session.begin(Access::Write, false).await.unwrap();
    session.execute(Call::new(&record("3"), Dialect::Postgres)).await.unwrap();
    drop(session);
    assert_eq!(store.pool.fetch(&ReadSetting { name: "a" }).await.unwrap(), Vec::<String>::new());
}

/// As with a pooler that gives each transaction another connection to the server, on which another program's statement has the same name.
#[tokio::test]
async fn the_rows_of_another_statement_are_an_error_with_a_remedy() {
    let Some(schema) = Schema::new("exchanged").await else { return };
    let store = schema.store(StatementNaming::Named).await;
    let uids = ["a"];
    let versions = Versions { table: RUN.table(), uids: &uids, lock: false };
    let mut session = store.pool.driver.session().await.unwrap();
    session.fetch(Call::new(&versions, Dialect::Postgres)).await.unwrap();
    let exchange = "DO $$ DECLARE named TEXT; BEGIN \
        SELECT name INTO STRICT named FROM pg_prepared_statements WHERE statement LIKE '%ingest_version%'; \
        EXECUTE 'DEALLOCATE ' || named; EXECUTE 'PREPARE ' || named || ' (TEXT[]) AS SELECT 1'; END $$";
    session.run(exchange.into()).await.unwrap();
    let error = session.fetch(Call::new(&versions, Dialect::Postgres)).await.err().expect("fewer values than columns");
    assert_eq!((class_of(&error), is_about(&error, ErrorSubject::Stale)), (ErrorClass::Transient, true), "{error}");
    let said = StoreError::from_sqlx("reading".to_owned(), error).to_string();
    assert!(said.contains("another statement") && said.contains("statement-cache-capacity=0"), "{said}");
    // The connection is closed, and the next one prepares its own.
    drop(session);
    assert!(store.versions(RUN.table(), &uids).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_store_that_only_reads_is_refused_every_write() {
    let Some(schema) = Schema::new("readers").await else { return };
    drop(schema.store(StatementNaming::Named).await);
    for more in ["", "&statement-cache-capacity=0"] {
        let store = schema.connect(more, ConnectOptions { read_only: true, ..ConnectOptions::default() }).await;
        assert_eq!(store.pool.fetch(&ReadSetting { name: "a" }).await.unwrap(), Vec::<String>::new());
        let write = WriteSetting { name: "a", value: "b" };
        let error = store.pool.execute(&write).await.unwrap_err();
        assert!(is_about(&error, ErrorSubject::Stale), "{error}");
        let mut tx = store.pool.begin(Access::Write).await.unwrap();
        let error = tx.execute(&write).await.unwrap_err();
        assert!(error.to_string().contains("read-only"), "{error}");
    }
}

#[tokio::test]
async fn one_program_migrates_at_a_time() {
    let Some(mut schema) = Schema::new("migrating").await else { return };
    let pool = open(&schema.address(""), ConnectOptions::default()).await.unwrap();
    let mut first = pool.migrations().await.unwrap();
    first.lock().await.unwrap();
    first.check().await.unwrap();
    let mut second = pool.migrations().await.unwrap();
    assert!(tokio::time::timeout(Duration::from_millis(300), second.lock()).await.is_err(), "it waits");
    drop(second);
    first.unlock().await.unwrap();
    drop(first);
    let mut third = pool.migrations().await.unwrap();
    tokio::time::timeout(Duration::from_secs(20), third.lock()).await.unwrap().unwrap();
    // The lock ends with the connection.
    schema
        .run("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
        .await;
    assert!(third.check().await.is_err());
    let pooled = open(&schema.address("&statement-cache-capacity=0"), ConnectOptions::default()).await.unwrap();
    let refused = pooled.migrations().await.unwrap().lock().await.unwrap_err().to_string();
    assert!(refused.contains("name the server itself"), "{refused}");
}

#[tokio::test]
async fn a_migration_is_run_and_recorded_or_neither() {
    let Some(mut schema) = Schema::new("recorded").await else { return };
    let store = schema.connect("", ConnectOptions::default()).await;
    let mut migrating = store.migrating(Ledger::default()).await.unwrap();
    migrating.ensure().await.unwrap();
    let migration = |version, ty, text: &'static str| {
        Migration::new(version, "a".into(), ty, sqlx::SqlSafeStr::into_sql_str(text), false)
    };
    let tables = "SELECT COALESCE(STRING_AGG(tablename, ',' ORDER BY tablename), '') FROM pg_tables WHERE schemaname = 'recorded' AND tablename NOT LIKE '\\_%'";
    let up = MigrationType::ReversibleUp;
    migrating.apply(&migration(1, up, "CREATE TABLE a (); CREATE TABLE b ()"), &[]).await.unwrap();
    assert_eq!(schema.get(tables).await, "a,b");
    let refused = migrating.apply(&migration(2, up, "CREATE TABLE c (); CREATE TABLE a ()"), &[]).await.unwrap_err();
    assert!(refused.to_string().contains("already exists"), "{refused}");
    assert_eq!(schema.get(tables).await, "a,b");
    // Nothing is run again.
    migrating.apply(&migration(1, up, "CREATE TABLE d ()"), &[]).await.unwrap();
    migrating.apply(&migration(3, up, "CREATE TABLE e ()"), &[]).await.unwrap();
    migrating.revert(&migration(1, MigrationType::ReversibleDown, "DROP TABLE a; DROP TABLE b"), &[]).await.unwrap();
    migrating.skip(&migration(4, up, "CREATE TABLE f ()")).await.unwrap();
    assert_eq!(migrating.entries().await.unwrap().into_keys().collect::<Vec<_>>(), [3, 4]);
    assert_eq!(schema.get(tables).await, "e");
    migrating.end().await.unwrap();
    let pooled = schema.connect("&statement-cache-capacity=0", ConnectOptions::default()).await;
    for _ in 0..2 {
        assert_eq!(pooled.ledger(Ledger::default()).await.unwrap().len(), 2);
    }
}

#[tokio::test]
async fn the_server_of_a_list_that_takes_writes_is_found() {
    let Some(mut schema) = Schema::new("list").await else { return };
    let port = schema.get("SELECT current_setting('port')").await;
    let (scheme, rest) = schema.url.split_once("://").unwrap();
    let (user, rest) = rest.split_once('@').map_or(("", rest), |(user, rest)| (user, rest));
    let at = if user.is_empty() { "" } else { "@" };
    let (_, path) = rest.split_once('/').unwrap();
    let list = format!("{scheme}://{user}{at}127.0.0.1:1,127.0.0.1:{port}/{path}");
    let pool = open(&list.parse().unwrap(), ConnectOptions::default()).await.unwrap();
    pool.define(
        &Dialect::Postgres.create_views(&[]).pop().unwrap_or_else(|| Dialect::Postgres.drop_view(RUN.table().name)),
    )
    .await
    .unwrap();
    let dead: StoreError = open(
        &format!("{scheme}://{user}{at}127.0.0.1:1,127.0.0.1:2/{path}").parse().unwrap(),
        ConnectOptions::default(),
    )
    .await
    .err()
    .unwrap();
    assert!(dead.to_string().contains("none of the servers takes writes: 127.0.0.1:1: "), "{dead}");
}

#[tokio::test]
async fn a_missing_database_is_told_with_a_remedy() {
    let Some(schema) = Schema::new("missing").await else { return };
    let (base, _) = schema.url.split_once('?').unwrap();
    let (server, _) = base.rsplit_once('/').unwrap();
    let error =
        open(&format!("{server}/no_such_database").parse().unwrap(), ConnectOptions::default()).await.err().unwrap();
    assert_eq!(error.class(), ErrorClass::Operator);
    assert!(error.to_string().contains("CREATE DATABASE name"), "{error}");
}

#[tokio::test]
async fn the_clock_is_that_of_the_server() {
    let Some(schema) = Schema::new("clock").await else { return };
    let store = schema.connect("", ConnectOptions::default()).await;
    let told = store.pool.servers().clock.now().unwrap();
    let own = Micros::now();
    assert!(told.0.abs_diff(own.0) < 10_000_000, "{told:?} {own:?}");
    assert!(store.read_clock().await.unwrap().0.abs_diff(own.0) < 10_000_000);
}
