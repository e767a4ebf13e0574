//! How many requests a batch costs, by the server's own counters. Counts do not depend on the machine.

use crate::world::{change, kind, model};
use anyhow::{Context as _, Result, ensure};
use ingester_core::row::{Expected, Row};
use ingester_core::value::Micros;
use ingester_store::migrate::MissingParts;
use ingester_store::{ConnectOptions, Reject, Report, RowChange, Store};
use ingester_tests::databases::On;
use ingester_tests::{Durability, MariaDb, SqlServer, with_servers};
use sqlx::{Connection as _, MySqlConnection};
use std::collections::BTreeMap;

/// The requests of the store. Each is one round trip, unless no prepared statement is executed: then all of it is one
/// text.
const COUNTERS: [&str; 4] = ["Com_stmt_execute", "Com_begin", "Com_commit", "Com_stmt_prepare"];

// The counters are MySQL's.
with_servers! { (requests_are_counted) [mariadb MariaDb] [mysql MySql] }
with_servers! { (what_a_start_looks_for_is_in_one_catalog) [mariadb MariaDb] [mysql MySql] }

/// A server with Galera's certification, if only of a single node without a provider. It may end a transaction between two
/// statements of a text, but not within a compound statement.
#[test]
fn a_new_object_is_one_compound_statement_on_a_galera_node() -> Result<()> {
    let server = MariaDb::start_with(Durability::Fast, &["--wsrep-on=ON", "--binlog-format=ROW"])?;
    if server.process().is_none() {
        // A server that the environment names, which has no such options.
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let url = server.create_database("galera").await?;
        let store = Store::connect(&url.parse()?, ConnectOptions::default()).await?;
        store.create_missing(crd_specs::KINDS).await?;
        looked(&store).await?;
        let before = counters(&server).await?;
        let RowChange::Row(row) = change(&model("a", 1)) else { return Ok(()) };
        let new = RowChange::Row(Row { expected: Some(Expected::Absent), ..row });
        let report = store.write(kind("Model").table(), vec![new]).await?;
        assert_eq!(report, Report { written: 1, ..Report::default() });
        let after = counters(&server).await?;
        let seen = COUNTERS.map(|name| after[name] - before[name]);
        // No single statements; the compound statement begins and commits.
        assert_eq!(seen, [0, 1, 1, 0]);
        Ok(())
    })
}

/// A server has databases of others. Their tables do not slow down reading the schema of one database.
#[test]
fn reading_the_schema_opens_the_tables_of_one_database_of_mariadb() -> Result<()> {
    let server = MariaDb::start()?;
    if server.process().is_none() {
        // A server that the environment names, on which other programs open tables, too.
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let mut stores = Vec::new();
        for number in 0..4 {
            let url = server.create_database(&format!("schema_{number}")).await?;
            let store = Store::connect(&url.parse()?, ConnectOptions::default()).await?;
            stores.push((store.create_missing(crd_specs::KINDS).await?.len() as u64, store));
        }
        let (tables, store) = &stores[0];
        let mut connection = MySqlConnection::connect(&server.url("")).await?;
        let mut opened = async |before: &'static str| -> Result<u64> {
            sqlx::Executor::execute(&mut connection, sqlx::raw_sql(before)).await?;
            let status = sqlx::raw_sql("SHOW GLOBAL STATUS LIKE 'Opened_table_definitions'");
            let row = sqlx::Executor::fetch_one(&mut connection, status).await?;
            Ok(sqlx::Row::try_get_unchecked::<String, _>(&row, 1)?.parse()?)
        };
        let before = opened("FLUSH TABLES").await?;
        ensure!(store.missing(crd_specs::KINDS).await?.is_empty(), "tables are missing");
        let seen = opened("DO 1").await? - before;
        ensure!((*tables..2 * tables).contains(&seen), "{seen} definitions were opened for {tables} tables");
        Ok(())
    })
}

async fn counters(server: &SqlServer) -> Result<BTreeMap<String, u64>> {
    let mut connection = MySqlConnection::connect(&server.url("")).await?;
    // As text: a prepared statement would count itself.
    let rows = sqlx::raw_sql("SHOW GLOBAL STATUS LIKE 'Com\\_%'");
    let rows = sqlx::Executor::fetch_all(&mut connection, rows).await?;
    let mut counters = BTreeMap::new();
    for row in rows {
        let name: String = sqlx::Row::try_get_unchecked(&row, 0)?;
        let value: String = sqlx::Row::try_get_unchecked(&row, 1)?;
        if COUNTERS.contains(&&*name) {
            counters.insert(name, value.parse().context("a count")?);
        }
    }
    connection.close().await?;
    ensure!(counters.len() == COUNTERS.len(), "of {COUNTERS:?} there are {counters:?}");
    Ok(counters)
}

/// Makes the store read whether changes are logged, which it does every few seconds, so that it does not do so while requests are counted.
async fn looked(store: &Store) -> Result<()> {
    store.switch_changes(true).await?;
    ensure!(store.has_changes().await?, "changes are logged");
    Ok(())
}

async fn what_a_start_looks_for_is_in_one_catalog(on: On) -> Result<()> {
    let Some(server) = on.own()? else { return Ok(()) };
    let url = server.create_database("start").await?;
    let options = ConnectOptions::default().connections(1);
    let store = Store::connect(&url.parse()?, options).await?;
    store.create_missing(crd_specs::KINDS).await?;
    let mut seen = Vec::new();
    // In the second round, every statement is prepared.
    for _ in 0..2 {
        let begin = counters(&server).await?;
        store.catalog().await?;
        let middle = counters(&server).await?;
        ensure!(store.lacking(crd_specs::KINDS).await? == MissingParts::default(), "something is missing");
        let end = counters(&server).await?;
        let spent =
            |from: &BTreeMap<String, u64>, to: &BTreeMap<String, u64>| COUNTERS.map(|name| to[name] - from[name]);
        seen = vec![spent(&begin, &middle), spent(&middle, &end)];
    }
    assert_eq!(seen[0], seen[1]);
    assert!(seen[0][0] > 2, "{seen:?}");
    Ok(())
}

async fn requests_are_counted(on: On) -> Result<()> {
    let Some(server) = on.own()? else { return Ok(()) };
    let url = server.create_database("cost").await?;
    // One connection, so that each statement is prepared once.
    let options = ConnectOptions::default().connections(1);
    let store = Store::connect(&url.parse()?, options).await?;
    store.create_missing(crd_specs::KINDS).await?;
    let table = kind("Model").table();
    let batch = |first: u64, objects: u64, version: u64| -> Vec<RowChange> {
        (first..first + objects).map(|n| change(&model(&format!("u{n:05}"), version))).collect()
    };
    // The counts of the rounds in which every statement is prepared.
    let mut seen = BTreeMap::<&str, Vec<[u64; 4]>>::new();
    for round in 0..4_u64 {
        let mut known = BTreeMap::new();
        for (what, objects, version) in [
            ("256 new objects", 256, 1_u64),
            ("256 updated objects", 256, 2),
            ("256 unchanged objects", 256, 2),
            ("256 updated objects, labels as before", 256, 3),
            ("1 new object", 1, 1),
            ("1 updated object", 1, 2),
            ("1 object that its writer knows to be new", 1, 3),
            ("1 updated object, labels as before", 1, 4),
            ("256 tombstones", 256, 4),
        ] {
            let first = 10_000 * round + if objects == 1 { 1000 * version.div_ceil(2) } else { 0 };
            let mut changes = batch(first, objects, version);
            if what.contains("tombstones") {
                // Each has its own version, like objects that are deleted one after the other.
                let gone = |(change, version): (&RowChange, u64)| RowChange::Tombstone {
                    uid: change.uid().into(),
                    res_version: version,
                    delete_time: Micros::now(),
                };
                changes = changes.iter().zip(version..).map(gone).collect();
            }
            if what.contains("to be new")
                && let [RowChange::Row(row)] = &mut changes[..]
            {
                row.expected = Some(Expected::Absent);
            }
            if what.contains("as before") {
                for change in &mut changes {
                    let RowChange::Row(row) = change else { continue };
                    let before: &Row = &known[&row.uid];
                    (row.labels, row.annotations) = (before.labels.clone(), before.annotations.clone());
                    let companions = row.companions_hash();
                    row.expected = Some(Expected::Stored { res_version: before.res_version, companions });
                }
            }
            for change in &changes {
                if let RowChange::Row(row) = change {
                    known.insert(row.uid.clone(), row.clone());
                }
            }
            looked(&store).await?;
            let before = counters(&server).await?;
            let report = store.write(table, changes).await?;
            let after = counters(&server).await?;
            let written = if what.contains("unchanged") { 0 } else { objects as usize };
            assert_eq!(report, Report { written, unchanged: objects as usize - written, ..Report::default() });
            let counts = COUNTERS.map(|name| after[name] - before[name]);
            if round > 0 {
                seen.entry(what).or_default().push(counts);
            }
        }
    }
    // The entries of the log are in the text of the commit.
    let expected = [
        // Read (twice 128 uids), insert (twice 128 rows), 768 labels and 256 annotations, up to 512 a statement.
        ("256 new objects", [7, 1, 1, 0]),
        // Read, update; read, delete and write labels; read and write annotations.
        ("256 updated objects", [12, 1, 1, 0]),
        ("256 unchanged objects", [2, 1, 1, 0]),
        // Read, update.
        ("256 updated objects, labels as before", [4, 1, 1, 0]),
        ("1 new object", [4, 1, 1, 0]),
        ("1 updated object", [7, 1, 1, 0]),
        // Everything in one text.
        ("1 object that its writer knows to be new", [0, 1, 1, 0]),
        // The row and its entry in the log, in one text.
        ("1 updated object, labels as before", [0, 1, 1, 0]),
        // Read, mark.
        ("256 tombstones", [4, 1, 1, 0]),
    ];
    assert_eq!(seen.len(), expected.len());
    for (what, counts) in expected {
        // A batch looks every five seconds whether anybody has ever read the log.
        let looks = [counts[0] + 1, counts[1], counts[2], counts[3]];
        let rounds = &seen[what];
        assert!(rounds.contains(&counts), "{what}: {rounds:?}, not {counts:?}");
        assert!(rounds.iter().all(|round| [counts, looks].contains(round)), "{what}: {rounds:?}, not {counts:?}");
    }

    // A reject of another object costs nothing, and its own one costs a transaction, once.
    let reject = |uid: &str| Reject {
        uid: uid.into(),
        group_ver: "michelangelo.api/v2".into(),
        kind: "Model".into(),
        namespace: "ml".into(),
        name: uid.into(),
        res_version: "1".into(),
        reason: "a reason".into(),
    };
    let object = |version: u64| {
        let mut object = model("r", 1);
        object["metadata"]["resourceVersion"] = version.to_string().into();
        let RowChange::Row(mut row) = change(&object) else { unreachable!("a row") };
        let companions = row.companions_hash();
        row.expected = Some(Expected::Stored { res_version: version - 1, companions });
        RowChange::Row(row)
    };
    store.write(table, vec![change(&model("r", 1))]).await?;
    store.record_rejects(&[reject("another")]).await?;
    // One text; a batch of one, which reads, updates and deletes the reject; one text.
    for (version, statements) in [(2, 0), (3, 3), (4, 0)] {
        if version == 3 {
            store.record_rejects(&[reject("r")]).await?;
        }
        looked(&store).await?;
        let before = counters(&server).await?["Com_stmt_execute"];
        assert_eq!(store.write(table, vec![object(version)]).await?.written, 1);
        assert_eq!(counters(&server).await?["Com_stmt_execute"] - before, statements, "version {version}");
    }
    let left = store.rejects("michelangelo.api/v2", "Model", None).await?;
    assert_eq!(left.iter().map(|reject| &*reject.uid).collect::<Vec<_>>(), ["another"]);
    Ok(())
}
