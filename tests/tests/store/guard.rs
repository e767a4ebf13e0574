//! Which version of an object stays.

use crate::world::{On, Stores as _, World, change, kind, model, row};
use anyhow::Result;
use ingester_core::dialect::{Dialect, Statement};
use ingester_core::schema::base;
use ingester_core::store::guard::{Verdict, Version, verdict};
use ingester_core::store::{Change, Report};
use ingester_core::value::{Micros, Value};
use ingester_tests::on_every_database;
use serde_json::json;

on_every_database! {
    a_stale_write_changes_nothing
    the_same_version_is_not_written_again
    a_tombstone_is_not_revived_by_a_late_write
    a_tombstone_of_an_unknown_object_with_its_last_state_is_stored
    an_evicted_row_stays_live_when_its_object_is_deleted
    objects_without_a_version_replace_each_other_only
    versions_up_to_the_largest_compare_as_numbers
    the_guard_in_sql_is_the_guard_in_rust
}

async fn a_stale_write_changes_nothing(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    store.write(table, vec![change(&model("a", 9))]).await?;
    let before = (world.sql("SELECT * FROM model").await?, world.sql("SELECT * FROM model_labels ORDER BY 2").await?);
    // 9 as text is more than 10, as a number less; 8 is less both ways.
    let report = store.write(table, vec![change(&model("a", 8))]).await?;
    assert_eq!(report, Report { stale: vec!["a".into()], ..Report::default() });
    let after = (world.sql("SELECT * FROM model").await?, world.sql("SELECT * FROM model_labels ORDER BY 2").await?);
    assert_eq!(before, after);
    let report = store.write(table, vec![change(&model("a", 10))]).await?;
    assert_eq!(report, Report { written: 1, ..Report::default() });
    assert_eq!(world.count("model_labels WHERE `key` = 'only-10'").await?, 1);
    Ok(())
}

async fn the_same_version_is_not_written_again(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    store.write(table, vec![change(&model("a", 5))]).await?;
    let before = world.sql("SELECT * FROM model").await?;
    let report = store.write(table, vec![change(&model("a", 5))]).await?;
    assert_eq!(report, Report { unchanged: 1, ..Report::default() });
    assert_eq!(world.sql("SELECT * FROM model").await?, before, "update_time and all");
    Ok(())
}

async fn a_tombstone_is_not_revived_by_a_late_write(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    let gone = |version| Change::Tombstone { uid: "a".into(), res_version: version, delete_time: Micros::now() };
    store.write(table, vec![change(&model("a", 5))]).await?;
    // A sweep that read the cluster before version 5 was there must not delete it.
    let report = store.write(table, vec![gone(4)]).await?;
    assert_eq!(report, Report { stale: vec!["a".into()], ..Report::default() });
    assert_eq!(world.count("model WHERE delete_time IS NULL").await?, 1);
    let report = store.write(table, vec![gone(8)]).await?;
    assert_eq!(report, Report { written: 1, ..Report::default() });
    for late in [6, 8] {
        let report = store.write(table, vec![change(&model("a", late))]).await?;
        assert_eq!(report.written, 0, "version {late}");
    }
    assert_eq!(world.sql("SELECT res_version, algorithm FROM model WHERE delete_time IS NOT NULL").await?.len(), 1);
    assert_eq!(world.cell("SELECT res_version FROM model").await?.as_deref(), Some("8"));
    // Only a later version says that the deletion was a mistake.
    store.write(table, vec![change(&model("a", 9))]).await?;
    assert_eq!(world.count("model WHERE delete_time IS NULL AND algorithm = 'algorithm-9'").await?, 1);
    Ok(())
}

async fn a_tombstone_of_an_unknown_object_with_its_last_state_is_stored(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    let mut last = row(&model("a", 5));
    last.delete_time = Some(Micros::now());
    store.write(table, vec![Change::Row(last)]).await?;
    assert_eq!(world.count("model WHERE delete_time IS NOT NULL").await?, 1);
    assert_eq!(world.count("model_labels").await?, 3);
    // One of which nothing but the uid is known leaves no trace.
    let gone = Change::Tombstone { uid: "b".into(), res_version: 9, delete_time: Micros::now() };
    assert_eq!(store.write(table, vec![gone]).await?, Report { unchanged: 1, ..Report::default() });
    assert_eq!(world.count("model").await?, 1);
    Ok(())
}

async fn an_evicted_row_stays_live_when_its_object_is_deleted(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    store.write(table, vec![change(&model("a", 5))]).await?;
    let mut evicted = row(&model("a", 5));
    evicted.evict_time = Some(Micros::now());
    assert_eq!(store.write(table, vec![Change::Row(evicted)]).await?.written, 1, "at the same version");
    let mut deleted = row(&model("a", 6));
    deleted.delete_time = Some(Micros::now());
    let gone = Change::Tombstone { uid: "a".into(), res_version: 7, delete_time: Micros::now() };
    for change in [Change::Row(deleted), gone] {
        assert_eq!(store.write(table, vec![change]).await?, Report { unchanged: 1, ..Report::default() });
    }
    assert_eq!(world.count("model WHERE delete_time IS NULL AND evict_time IS NOT NULL AND res_version = 5").await?, 1);
    Ok(())
}

async fn objects_without_a_version_replace_each_other_only(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    let unversioned = |algorithm: &str| {
        let mut object = model("a", 0);
        object["metadata"]["resourceVersion"] = json!("");
        object["spec"]["algorithm"] = json!(algorithm);
        change(&object)
    };
    store.write(table, vec![unversioned("first")]).await?;
    store.write(table, vec![unversioned("second")]).await?;
    assert_eq!(world.cell("SELECT algorithm FROM model").await?.as_deref(), Some("second"));
    store.write(table, vec![change(&model("a", 3))]).await?;
    assert_eq!(store.write(table, vec![unversioned("third")]).await?.stale.len(), 1);
    assert_eq!(world.cell("SELECT algorithm FROM model").await?.as_deref(), Some("algorithm-3"));
    Ok(())
}

async fn versions_up_to_the_largest_compare_as_numbers(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    let largest = if world.on == On::Sqlite { i64::MAX as u64 } else { u64::MAX };
    for version in [largest - 1, largest] {
        assert_eq!(store.write(table, vec![change(&model("a", version))]).await?.written, 1);
    }
    assert_eq!(store.write(table, vec![change(&model("a", 99))]).await?.stale.len(), 1);
    assert_eq!(world.cell("SELECT res_version FROM model").await?, Some(largest.to_string()));
    Ok(())
}

/// Every combination of a stored and a new row, written by the statement alone, without the look before.
async fn the_guard_in_sql_is_the_guard_in_rust(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Project").table();
    let dialect = if world.on == On::Sqlite { Dialect::Sqlite } else { Dialect::MySql };
    let upsert = dialect.statement(Statement::Upsert, table, 1);
    let mut versions = Vec::new();
    for res_version in [0, 1, 2] {
        for deleted in [false, true] {
            for evicted in [false, true] {
                // No writer makes a row both at once; a tombstone never goes over an evicted row.
                if !(deleted && evicted) {
                    versions.push(Version { res_version, deleted, evicted });
                }
            }
        }
    }
    let literal = |value: &Value| match value {
        Value::Null => "NULL".to_owned(),
        Value::UInt(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Time(time) => format!("'{}'", time.sql()),
        Value::Text(text) => format!("'{text}'"),
        Value::Bytes(bytes) => format!("x'{}'", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
        other => panic!("no such value in these rows: {other:?}"),
    };
    let mut script = String::new();
    let mut expected = Vec::new();
    for stored in &versions {
        for new in &versions {
            let uid = format!("u{:03}", expected.len());
            for (version, tier) in [(stored, 1), (new, 2)] {
                let object = json!({
                    "apiVersion": "michelangelo.api/v2", "kind": "Project",
                    "metadata": { "name": "p", "uid": uid, "resourceVersion": version.res_version.to_string() },
                    "spec": { "tier": tier },
                });
                let mut values = row(&object).values.to_vec();
                let time = Value::Time(Micros(1_700_000_000_000_000 + tier));
                values[base::UPDATE_TIME] = time.clone();
                if version.deleted {
                    values[base::DELETE_TIME] = time.clone();
                }
                if version.evicted {
                    values[base::EVICT_TIME] = time;
                }
                let mut parts = upsert.as_str().split('?');
                script.push_str(parts.next().unwrap_or_default());
                for (value, part) in values.iter().zip(parts) {
                    script.push_str(&literal(value));
                    script.push_str(part);
                }
                script.push_str(";\n");
            }
            let winner = if verdict(*stored, *new) == Verdict::Write { (*new, 2) } else { (*stored, 1) };
            expected.push((uid, winner));
        }
    }
    world.sql(&script).await?;
    drop(store);
    let rows = world
        .sql("SELECT uid, tier, res_version, delete_time IS NOT NULL, evict_time IS NOT NULL, update_time FROM project ORDER BY uid")
        .await?;
    assert_eq!(rows.len(), versions.len() * versions.len());
    for (row, (uid, (version, tier))) in rows.iter().zip(expected) {
        let cells: Vec<&str> = row.iter().flatten().map(String::as_str).collect();
        let flags = [version.deleted, version.evicted].map(|flag| u8::from(flag).to_string());
        let time = Micros(1_700_000_000_000_000 + tier).sql();
        assert_eq!(
            cells,
            [uid.as_str(), &tier.to_string(), &version.res_version.to_string(), &flags[0], &flags[1], &time]
        );
    }
    Ok(())
}
