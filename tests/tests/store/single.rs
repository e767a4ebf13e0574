//! Objects written one by one with the expected state of their rows: one round trip each, and the same rows as in a
//! batch.

use crate::world::{MODEL_AND_PROJECT, On, Stores as _, World, change, kind, model, poisoned, row};
use anyhow::{Context as _, Result, ensure};
use ingester_core::row::{Expected, Row};
use ingester_core::value::Micros;
use ingester_declare::declare;
use ingester_store::guard::{Eviction, Verdict, Version, verdict, verdict_of_tombstone};
use ingester_store::{ConnectOptions, Reject, Report, RowChange, Store};
use ingester_tests::{Durability, MariaDb, on_every_database, on_galera};
use serde_json::{Value as Json, json};
use sqlx::{Connection as _, Executor as _};
use std::time::Duration;

on_every_database! {
    objects_written_one_by_one_give_the_same_rows_as_a_batch
    the_guard_keeps_the_right_row_of_every_pair
    the_guard_keeps_the_right_row_of_every_pair_in_a_batch
    an_unexpected_row_is_read_before_it_is_written
    an_object_that_the_database_refuses_blocks_nothing
    a_reject_is_cleared_by_the_version_that_is_stored
    a_cancelled_write_leaves_nothing_half_done
}

on_galera! {
    objects_written_one_by_one_give_the_same_rows_as_a_batch
    an_unexpected_row_is_read_before_it_is_written
    a_cancelled_write_leaves_nothing_half_done
}

/// In these modes of a server, a single statement is not committed, a commit ends the connection, and reads end after a row.
#[test]
fn writes_and_reads_are_whole_whatever_the_modes_of_the_server() -> Result<()> {
    let server = MariaDb::start_with(Durability::Fast, &["--autocommit=0", "--completion-type=RELEASE"])?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let url = server.create_database("single").await?;
        let mut connection = sqlx::MySqlConnection::connect(&url).await?;
        connection.execute("SET GLOBAL sql_select_limit = 1").await?;
        connection.close().await?;
        let connect =
            async || Store::connect(&url.parse()?, ConnectOptions::default()).await.map_err(anyhow::Error::from);
        let store = connect().await?;
        store.create_missing(MODEL_AND_PROJECT).await?;
        let table = kind("Project").table();
        let project = |version: u64| {
            json!({
                "apiVersion": "michelangelo.api/v2", "kind": "Project", "spec": { "tier": version },
                "metadata": { "name": "p", "uid": "a", "resourceVersion": version.to_string() },
            })
        };
        store.write(table, vec![new(&project(1))]).await?;
        store.write(table, vec![known(&project(2), 1)]).await?;
        let mut other = project(3);
        other["metadata"]["uid"] = json!("b");
        store.write(table, vec![new(&other)]).await?;
        // The connections of the first store are still open.
        let stored = connect().await?.read_stored(table, &["a", "b"]).await?;
        let mut versions: Vec<u64> = stored.iter().map(|row| row.res_version).collect();
        versions.sort_unstable();
        assert_eq!(versions, [2, 3]);
        Ok(())
    })
}

/// Windows' servers do that, and some of managed databases.
#[test]
fn tables_in_upper_case_are_refused_by_a_server_that_folds_their_names() -> Result<()> {
    let server = MariaDb::start_with(Durability::Fast, &["--lower-case-table-names=1"])?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let url = server.create_database("folded").await?;
        let store = Store::connect(&url.parse()?, ConnectOptions::default()).await?;
        let declared = |table: &str| {
            let file = format!("kinds: [{{group: a.b, version: v1, kind: Job, namespaced: true, table: {table}, columns: [{{column: a, path: .spec.a, type: BIGINT}}]}}]");
            declare::kinds("kinds.yaml", &file, &|_| Err(std::io::ErrorKind::NotFound.into()))
        };
        let lower = &declared("jobs")?.kinds;
        assert_eq!(store.missing(lower).await?.len(), 3);
        store.create_missing(lower).await?;
        assert_eq!(store.missing(lower).await?, [""; 0]);
        let refused = store.missing(&declared("Jobs")?.kinds).await.expect_err("names that are never found");
        assert!(refused.is_configuration());
        let refused = refused.to_string();
        ensure!(refused.contains("`jobs` and not `Jobs`") && refused.contains("with `table`: `jobs`"), "{refused}");
        Ok(())
    })
}

/// A row that its writer expects to be absent.
fn new(object: &Json) -> RowChange {
    RowChange::Row(Row { expected: Some(Expected::Absent), ..row(object) })
}

/// A row that its writer expects to be stored with this version and the same labels.
fn known(object: &Json, res_version: u64) -> RowChange {
    let row = row(object);
    let companions = row.companions_hash();
    RowChange::Row(Row { expected: Some(Expected::Stored { res_version, companions }), ..row })
}

async fn objects_written_one_by_one_give_the_same_rows_as_a_batch(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    let texts = [
        "'; DROP TABLE model; --",
        "`\"\\\\''%_?:$1",
        "\\",
        "'",
        "Grüße 👩‍💻 \u{10FFFF}",
        "tab\tline\r\nend ",
        "",
        "?",
        "\u{1}\u{1a}\u{7f}",
        "nul \0 nul",
    ];
    let object = |uid: String, text: &str, version: u64| {
        let mut object = model(&uid, 1);
        object["metadata"]["resourceVersion"] = json!(version.to_string());
        object["metadata"]["name"] = json!("name");
        object["metadata"]["annotations"] = json!({ "text": text });
        object["spec"]["algorithm"] = json!(format!("{version}{text}"));
        object["spec"]["unknown"] = json!({ "text": text, "numbers": [-1, 0.5, 1e300, u64::MAX, i64::MIN] });
        object
    };
    let all = async |prefix: &str| -> Result<Vec<Vec<Option<String>>>> {
        let proto = world.on.hex("proto");
        let columns = format!("res_version, create_time, name, algorithm, {proto}, json");
        let mut rows = Vec::new();
        for sql in [
            format!("SELECT {columns} FROM model WHERE uid LIKE '{prefix}%' ORDER BY uid"),
            format!("SELECT `key`, value FROM model_labels WHERE obj_uid LIKE '{prefix}%' ORDER BY obj_uid, `key`"),
            format!("SELECT `key`, value FROM model_annotations WHERE obj_uid LIKE '{prefix}%' ORDER BY obj_uid"),
        ] {
            rows.extend(world.sql(&sql).await?);
        }
        // The uid, `s` or `t` and two digits, is also in the object and in its message.
        let alike = |text: String| {
            (0..texts.len()).fold(text, |text, n| {
                let hex: String = format!("t{n:02}").bytes().map(|byte| format!("{byte:02X}")).collect();
                let other: String = format!("s{n:02}").bytes().map(|byte| format!("{byte:02X}")).collect();
                text.replace(&format!("\"t{n:02}\""), &format!("\"s{n:02}\"")).replace(&hex, &other)
            })
        };
        Ok(rows.into_iter().map(|row| row.into_iter().map(|cell| cell.map(alike)).collect()).collect())
    };
    for version in [1, 2] {
        let objects = |prefix: char| {
            (0..).zip(texts).map(move |(n, text)| object(format!("{prefix}{n:02}"), text, version)).collect::<Vec<_>>()
        };
        store.write(table, objects('t').iter().map(change).collect()).await?;
        for (object, text) in objects('s').iter().zip(texts) {
            let change = if version == 1 { new(object) } else { known(object, 1) };
            // The column and the annotation.
            let nul_values = if world.on == On::Postgres && text.contains('\0') { 2 } else { 0 };
            assert_eq!(store.write(table, vec![change]).await?, Report { written: 1, nul_values, ..Report::default() });
        }
        let batch = all("t").await?;
        let single = all("s").await?;
        // PostgreSQL's text cannot contain NUL: the object is stored without that annotation.
        let left_out = usize::from(world.on == On::Postgres);
        assert_eq!(batch.len(), texts.len() * (1 + 3 + 1) - left_out);
        assert_eq!(batch, single);
    }
    Ok(())
}

async fn the_guard_keeps_the_right_row_of_every_pair(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Project").table();
    let versions = every_version();
    for stored in &versions {
        for new in &versions {
            let uid = format!("{}-{}", name_of(stored), name_of(new));
            store.write(table, vec![RowChange::Row(of_version(stored, &uid, 1))]).await?;
            let mut row = of_version(new, &uid, 2);
            // The expected state is right or wrong: for a tombstone the writer expects a live row.
            let res_version = stored.res_version;
            let companions = row.companions_hash();
            row.expected = Some(Expected::Stored { res_version, companions });
            let report = store.write(table, vec![RowChange::Row(row)]).await?;
            let verdict = verdict(*stored, *new);
            let counts = (report.written, report.unchanged, report.stale.len());
            let one = |of| usize::from(verdict == of);
            let expected = (
                one(Verdict::Write) + one(Verdict::Mark) + one(Verdict::Confirm),
                one(Verdict::Unchanged),
                one(Verdict::Stale),
            );
            assert_eq!(counts, expected, "{new:?} over {stored:?}");
            let tier = world.cell(&format!("SELECT tier FROM project WHERE uid = '{uid}'")).await?;
            let winner = if verdict == Verdict::Write { "2" } else { "1" };
            assert_eq!(tier.as_deref(), Some(winner), "{new:?} over {stored:?}");
        }
    }
    Ok(())
}

/// The same for many rows at once, which a database may judge itself.
async fn the_guard_keeps_the_right_row_of_every_pair_in_a_batch(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Project").table();
    let versions = every_version();
    let later: Vec<&Version> = versions.iter().filter(|version| version.res_version == 2).collect();
    let mut pairs = Vec::new();
    for stored in &versions {
        pairs.extend(later.iter().map(|new| (format!("{}-{}", name_of(stored), name_of(new)), *stored, **new)));
    }
    let before = pairs.iter().map(|(uid, stored, _)| RowChange::Row(of_version(stored, uid, 1))).collect();
    store.write(table, before).await?;
    let rows = pairs.iter().map(|(uid, _, new)| {
        let mut row = of_version(new, uid, 2);
        // Right only for some, and with labels that differ from the stored ones.
        row.labels = [("team".into(), "ml".into())].into();
        let companions = of_version(new, uid, 2).companions_hash();
        row.expected = Some(Expected::Stored { res_version: 1, companions });
        RowChange::Row(row)
    });
    store.write(table, rows.collect()).await?;
    for (uid, stored, new) in &pairs {
        let verdict = verdict(*stored, *new);
        let tier = world.cell(&format!("SELECT tier FROM project WHERE uid = '{uid}'")).await?;
        let labels = world.cell(&format!("SELECT COUNT(*) FROM project_labels WHERE obj_uid = '{uid}'")).await?;
        let expected = if verdict == Verdict::Write { ("2", "1") } else { ("1", "0") };
        assert_eq!(
            (tier.as_deref(), labels.as_deref()),
            (Some(expected.0), Some(expected.1)),
            "{new:?} over {stored:?}"
        );
    }

    let mut gone = Vec::new();
    for stored in &versions {
        gone.extend(
            [0, 1, 2].map(|res_version| (format!("gone-{}-{res_version}", name_of(stored)), *stored, res_version)),
        );
    }
    let before = gone.iter().map(|(uid, stored, _)| RowChange::Row(of_version(stored, uid, 1))).collect();
    store.write(table, before).await?;
    let time = |column: &str, uid: &str| {
        let sql = format!("SELECT CAST({column} AS CHAR(26)) FROM project WHERE uid = '{uid}'");
        let world = &world;
        let uid = uid.to_owned();
        async move { world.cell(&sql).await.with_context(|| uid) }
    };
    let mut times = Vec::new();
    for (uid, ..) in &gone {
        times.push(time("delete_time", uid).await?);
    }
    let tombstone = |(uid, _, res_version): &(String, Version, u64)| RowChange::Tombstone {
        uid: uid.as_str().into(),
        res_version: *res_version,
        delete_time: Micros(1_700_000_000_000_000),
    };
    let report = store.write(table, gone.iter().map(tombstone).collect()).await?;
    let mut written = 0;
    let mut unchanged = 0;
    let mut stale = 0;
    for ((uid, stored, res_version), before) in gone.iter().zip(times) {
        let verdict = verdict_of_tombstone(*stored, *res_version);
        let after = time("delete_time", uid).await?;
        let is_marked = verdict == Verdict::Write;
        assert_eq!(after != before, is_marked, "{res_version} over {stored:?}: {before:?} {after:?}");
        match verdict {
            Verdict::Unchanged => unchanged += 1,
            Verdict::Stale => stale += 1,
            Verdict::Write | Verdict::Confirm | Verdict::Mark => written += 1,
        }
    }
    assert_eq!((report.written, report.unchanged, report.stale.len()), (written, unchanged, stale));
    // An object that was never stored stays so.
    let never = store.write(table, vec![tombstone(&("never".to_owned(), versions[0], 9))]).await?;
    assert_eq!(never, Report { unchanged: 1, ..Report::default() });
    assert_eq!(world.cell("SELECT COUNT(*) FROM project WHERE uid = 'never'").await?.as_deref(), Some("0"));
    Ok(())
}

/// Every version that matters for the guard.
fn every_version() -> Vec<Version> {
    let mut versions = Vec::new();
    for res_version in [0, 1, 2] {
        for (deleted, eviction) in
            [(false, Eviction::None), (true, Eviction::None), (false, Eviction::Intended), (false, Eviction::Confirmed)]
        {
            versions.extend([1, 2].map(|ingest_version| Version { res_version, ingest_version, deleted, eviction }));
        }
    }
    versions
}

/// A row of this version.
fn of_version(version: &Version, uid: &str, tier: u32) -> Row {
    let mut row = row(&json!({
        "apiVersion": "michelangelo.api/v2", "kind": "Project",
        "metadata": { "name": "p", "uid": uid, "resourceVersion": version.res_version.to_string() },
        "spec": { "tier": tier },
    }));
    row.ingest_version = version.ingest_version;
    row.delete_time = version.deleted.then(Micros::now);
    row.evict_time = version.evicted().then(Micros::now);
    row.evict_confirmed = version.eviction == Eviction::Confirmed;
    row
}

fn name_of(version: &Version) -> String {
    let Version { res_version, ingest_version, deleted, eviction } = *version;
    format!("{res_version}{ingest_version}{}{}", u8::from(deleted), eviction as u8)
}

async fn an_unexpected_row_is_read_before_it_is_written(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    store.write(table, vec![change(&model("b", 5)), change(&model("c", 5)), change(&model("d", 5))]).await?;
    let written = Report { written: 1, ..Report::default() };
    let unchanged = Report { unchanged: 1, ..Report::default() };
    let stale = Report { stale: vec!["b".into()], ..Report::default() };
    for (uid, version, report) in [("a", 1, &written), ("b", 4, &stale), ("c", 5, &unchanged), ("d", 6, &written)] {
        assert_eq!(&store.write(table, vec![new(&model(uid, version))]).await?, report, "{uid}");
    }
    // No row exists, or its version is not the expected one.
    assert_eq!(store.write(table, vec![known(&model("e", 2), 1)]).await?, written);
    assert_eq!(store.write(table, vec![known(&model("d", 8), 7)]).await?, written);
    assert_eq!(
        store.write(table, vec![known(&model("d", 7), 6)]).await?,
        Report { stale: vec!["d".into()], ..Report::default() }
    );
    let is = ["a 1", "b 5", "c 5", "d 8", "e 2"];
    for sql in [
        "SELECT uid, res_version FROM model ORDER BY uid",
        "SELECT obj_uid, value FROM model_labels WHERE `key` = 'version' ORDER BY obj_uid",
    ] {
        let rows = world.sql(sql).await?.into_iter().map(|row| row.into_iter().flatten().collect::<Vec<_>>().join(" "));
        assert_eq!(rows.collect::<Vec<_>>(), is, "{sql}");
    }
    Ok(())
}

async fn an_object_that_the_database_refuses_blocks_nothing(world: World) -> Result<()> {
    // One connection, so that the next object would meet any remains of a failed one.
    let store = world.connect(ConnectOptions::default().connections(1)).await?;
    store.create_missing(MODEL_AND_PROJECT).await?;
    let table = kind("Model").table();
    for round in 0..3 {
        let RowChange::Row(bad) = poisoned(world.on, &format!("bad{round}")) else { continue };
        let report = store.write(table, vec![RowChange::Row(Row { expected: Some(Expected::Absent), ..bad })]).await?;
        assert_eq!((report.written, report.rejected.len()), (0, 1), "{report:?}");
        assert!(!report.rejected[0].reason.is_empty());
        let good = model(&format!("good{round}"), 1);
        assert_eq!(store.write(table, vec![new(&good)]).await?, Report { written: 1, ..Report::default() });
    }
    assert_eq!(world.count("model WHERE uid LIKE 'good%'").await?, 3);
    assert_eq!(world.count("model").await?, 3);
    assert_eq!(world.count("model_labels").await?, 9);
    Ok(())
}

async fn a_reject_is_cleared_by_the_version_that_is_stored(world: World) -> Result<()> {
    let store = world.store().await?;
    let reject = |uid: &str| Reject {
        uid: uid.into(),
        group_ver: "michelangelo.api/v2".into(),
        kind: "Model".into(),
        namespace: "ml".into(),
        name: "name".into(),
        res_version: "1".into(),
        reason: "a reason".into(),
    };
    store.record_rejects(&["a", "b", "c"].map(reject)).await?;
    let table = kind("Model").table();
    store.write(table, vec![new(&model("a", 1))]).await?;
    assert_eq!(world.count("ingester_rejects WHERE uid = 'a'").await?, 0);
    store.write(table, vec![change(&model("b", 1))]).await?;
    store.record_rejects(&[reject("b")]).await?;
    let mut later = model("b", 1);
    later["metadata"]["resourceVersion"] = json!("2");
    store.write(table, vec![known(&later, 1)]).await?;
    assert_eq!(world.count("ingester_rejects").await?, 1, "that of c");
    Ok(())
}

async fn a_cancelled_write_leaves_nothing_half_done(world: World) -> Result<()> {
    let store = world.connect(ConnectOptions::default().connections(1)).await?;
    store.create_missing(MODEL_AND_PROJECT).await?;
    let table = kind("Model").table();
    let mut given_up = 0;
    for n in 0..60_u64 {
        let object = model(&format!("u{n:02}"), 1);
        // From before the first packet is sent until after the last one has arrived.
        let patience = Duration::from_micros(40 * n);
        let writing = store.write(table, vec![new(&object)]);
        tokio::pin!(writing);
        let begin = std::time::Instant::now();
        let done = std::future::poll_fn(|context| match writing.as_mut().poll(context) {
            std::task::Poll::Ready(report) => std::task::Poll::Ready(Some(report)),
            // The runtime's timers are too coarse for this.
            std::task::Poll::Pending if begin.elapsed() >= patience => std::task::Poll::Ready(None),
            std::task::Poll::Pending => {
                context.waker().wake_by_ref();
                std::task::Poll::Pending
            }
        });
        given_up += u32::from(done.await.transpose()?.is_none());
    }
    ensure!(given_up > 0, "every one of them was faster");
    for n in 0..60 {
        let report = store.write(table, vec![new(&model(&format!("u{n:02}"), 1))]).await?;
        assert_eq!(report.written + report.unchanged, 1, "{report:?}");
    }
    assert_eq!(world.count("model").await?, 60);
    assert_eq!(world.count("model_labels").await?, 180);
    assert_eq!(world.count("model_annotations").await?, 60);
    if world.on == On::Sqlite {
        return Ok(());
    }
    // No connection holds a lock.
    let other = world.connect(ConnectOptions::default()).await?;
    let again = (0..60).map(|n| change(&model(&format!("u{n:02}"), 2))).collect();
    assert_eq!(other.write(table, again).await?, Report { written: 60, ..Report::default() });
    Ok(())
}
