//! Unclassified errors of a database: the object is retried, and is rejected only once it is proven to be the cause.

use crate::world::{MODEL_AND_PROJECT, On, Stores as _, World, change, kind, model};
use anyhow::{Result, ensure};
use ingester_core::schema::base;
use ingester_core::value::Value;
use ingester_store::{ConnectOptions, ErrorClass, Retry, RowChange, Store};
use ingester_tests::{on_databases, on_every_database};
use std::time::Duration;

on_every_database! {
    an_object_with_an_unknown_error_is_tried_again_until_it_is_proven
    an_unknown_error_that_passes_rejects_nothing
    a_batch_that_fails_as_a_whole_is_an_outage_and_not_for_long
}

// The numbers are MySQL's.
on_databases! { (an_error_with_a_known_number_is_never_blamed_on_the_object) [mariadb MariaDb] [mysql MySql] }

/// Without patience, so that a test need not wait. One attempt, so that a transient error is returned at once.
const IMPATIENT: fn() -> ConnectOptions =
    || ConnectOptions::default().patience(Duration::ZERO).retry(Retry::SHORT.attempts(Some(1)));

async fn store_with(world: &World, options: ConnectOptions) -> Result<Store> {
    let store = world.connect(options).await?;
    store.create_missing(MODEL_AND_PROJECT).await?;
    Ok(store)
}

/// From now on the database refuses objects whose name begins with `bad`, with an unclassified error.
async fn refuse(world: &World, names: &str) -> Result<()> {
    let condition = format!("NEW.name LIKE '{names}'");
    let sql = match world.on {
        // SQLITE_ERROR, as for a mistake in the statement.
        On::Sqlite => format!(
            "CREATE TRIGGER refuse BEFORE INSERT ON model WHEN {condition} BEGIN SELECT json_extract('no JSON', '$'); END"
        ),
        On::Postgres => format!(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF {condition} THEN \
             RAISE EXCEPTION 'malformed JSON' USING ERRCODE = 'ZZ999'; END IF; RETURN NEW; END $$; \
             CREATE TRIGGER refuse BEFORE INSERT ON model FOR EACH ROW EXECUTE FUNCTION refuse()"
        ),
        On::MariaDb | On::MySql => format!(
            "CREATE TRIGGER refuse BEFORE INSERT ON model FOR EACH ROW BEGIN IF {condition} THEN \
             SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 31999, MESSAGE_TEXT = 'malformed JSON'; END IF; END"
        ),
    };
    world.sql(&sql).await.map(drop)
}

async fn refuse_no_more(world: &World) -> Result<()> {
    world
        .sql(if world.on == On::Postgres { "DROP TRIGGER refuse ON model" } else { "DROP TRIGGER refuse" })
        .await
        .map(drop)
}

fn named(uid: &str, version: u64) -> RowChange {
    let mut object = model("named", version);
    object["metadata"]["uid"] = uid.into();
    let mut change = change(&object);
    // A name that the triggers understand; some of them Kubernetes would refuse.
    if let RowChange::Row(row) = &mut change {
        row.values[base::NAME] = Value::text(uid);
    }
    change
}

async fn an_object_with_an_unknown_error_is_tried_again_until_it_is_proven(world: World) -> Result<()> {
    let store = store_with(&world, IMPATIENT()).await?;
    refuse(&world, "bad%").await?;
    let table = kind("Model").table();
    let uids =
        |refused: &[ingester_store::RejectedObject]| refused.iter().map(|one| one.uid.to_string()).collect::<Vec<_>>();

    // Among others: they are stored, it is not, and the cause is still unknown.
    let batch = ["a1", "bad1", "c1", "d1"].map(|uid| named(uid, 1)).into();
    let report = store.write(table, batch).await?;
    assert_eq!((report.written, report.rejected.len()), (3, 0), "{report:?}");
    assert_eq!(uids(&report.postponed), ["bad1"]);
    ensure!(report.postponed[0].reason.contains("malformed JSON"), "{report:?}");

    // Others were stored meanwhile.
    let report = store.write(table, vec![named("bad1", 1)]).await?;
    assert_eq!((uids(&report.rejected), report.postponed.len()), (vec!["bad1".to_owned()], 0));

    // Nothing was stored since its first attempt, so the database may be to blame.
    for _ in 0..3 {
        let report = store.write(table, vec![named("bad2", 1)]).await?;
        assert_eq!((report.rejected.len(), uids(&report.postponed)), (0, vec!["bad2".to_owned()]));
    }
    store.write(table, vec![named("e1", 1)]).await?;
    let report = store.write(table, vec![named("bad2", 1)]).await?;
    assert_eq!(uids(&report.rejected), ["bad2"]);

    // With patience it takes longer.
    let store = store_with(&world, IMPATIENT().patience(Duration::from_secs(3600))).await?;
    for n in 0..3 {
        let report = store.write(table, vec![named(&format!("f{n}"), 1), named("bad3", 1)]).await?;
        assert_eq!((report.written, report.rejected.len(), report.postponed.len()), (1, 0, 1));
    }
    Ok(())
}

async fn an_unknown_error_that_passes_rejects_nothing(world: World) -> Result<()> {
    let store = store_with(&world, IMPATIENT()).await?;
    refuse(&world, "bad%").await?;
    let table = kind("Model").table();
    assert_eq!(store.write(table, vec![named("bad", 1)]).await?.postponed.len(), 1);
    refuse_no_more(&world).await?;
    store.write(table, vec![named("good", 1)]).await?;
    let report = store.write(table, vec![named("bad", 1)]).await?;
    assert_eq!((report.written, report.rejected.len(), report.postponed.len()), (1, 0, 0));
    Ok(())
}

async fn a_batch_that_fails_as_a_whole_is_an_outage_and_not_for_long(world: World) -> Result<()> {
    let store = store_with(&world, IMPATIENT()).await?;
    refuse(&world, "%").await?;
    let table = kind("Model").table();
    let batch = || (0..5).map(|n| named(&format!("u{n}"), 1)).collect::<Vec<_>>();
    let error = store.write(table, batch()).await.expect_err("nothing can be stored");
    assert_eq!(error.class(), ErrorClass::Unknown);
    refuse_no_more(&world).await?;
    assert_eq!(store.write(table, batch()).await?.written, 5);
    Ok(())
}

/// Each number as a server sends it.
async fn an_error_with_a_known_number_is_never_blamed_on_the_object(world: World) -> Result<()> {
    let store = store_with(&world, IMPATIENT()).await?;
    // The name is SQLSTATE and number.
    world
        .sql(
            "CREATE TRIGGER refuse BEFORE INSERT ON model FOR EACH ROW BEGIN \
             DECLARE number INT DEFAULT IF(NEW.name LIKE '_____ %', SUBSTRING(NEW.name, 7), 0); \
             CASE LEFT(NEW.name, 5) \
             WHEN 'HY000' THEN SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = number; \
             WHEN '40001' THEN SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = number; \
             WHEN '08S01' THEN SIGNAL SQLSTATE '08S01' SET MYSQL_ERRNO = number; \
             WHEN '25006' THEN SIGNAL SQLSTATE '25006' SET MYSQL_ERRNO = number; \
             WHEN '70100' THEN SIGNAL SQLSTATE '70100' SET MYSQL_ERRNO = number; \
             WHEN '42000' THEN SIGNAL SQLSTATE '42000' SET MYSQL_ERRNO = number; \
             ELSE BEGIN END; END CASE; END",
        )
        .await?;
    let table = kind("Model").table();
    // An object that makes any other one the cause of an unclassified error.
    store.write(table, vec![named("good", 1)]).await?;
    let transient = [
        ("HY000", &[1615, 1243, 1412, 1206, 1041, 1037, 1180, 1077, 1290, 1836, 3032, 3168, 4031][..]),
        ("HY000", &[8001, 8005, 8020, 8027, 8028, 8055, 8175, 9001, 9002, 9003, 9004, 9005, 9006, 9007]),
        ("40001", &[3101, 31999]),
        ("08S01", &[1047, 31999]),
        ("25006", &[1792]),
        ("70100", &[1969, 1317]),
        ("42000", &[1226, 1203]),
    ];
    for (state, numbers) in transient {
        for number in numbers {
            for _ in 0..2 {
                let error = store.write(table, vec![named(&format!("{state} {number}"), 1)]).await;
                let error = error.expect_err(&format!("{state} {number}"));
                assert_eq!(error.class(), ErrorClass::Transient, "{state} {number}: {error}");
            }
        }
    }
    for number in [1712, 1364, 1129] {
        let error =
            store.write(table, vec![named(&format!("HY000 {number}"), 1)]).await.expect_err("somebody must act");
        assert_eq!(error.class(), ErrorClass::Operator, "{number}: {error}");
    }
    // TiDB's limits of size, a text that does not fit, a violated CHECK: the object's.
    for number in [8004, 8025, 1366, 3819] {
        let report = store.write(table, vec![named(&format!("HY000 {number}"), 1)]).await?;
        assert_eq!((report.rejected.len(), report.postponed.len()), (1, 0), "{number}");
    }
    // The generic error number proves nothing.
    let report = store.write(table, vec![named("HY000 1105", 1)]).await?;
    assert_eq!((report.rejected.len(), report.postponed.len()), (0, 1));
    Ok(())
}
