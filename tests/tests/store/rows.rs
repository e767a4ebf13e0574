//! The content of the tables after a write.

use crate::world::{On, Stores as _, World, change, kind, model, row};
use anyhow::{Context as _, Result};
use ingester_core::row::{Expected, Row};
use ingester_core::schema::base;
use ingester_core::value::{Micros, Value};
use ingester_store::{Reject, Report, RowChange};
use ingester_tests::on_every_database;
use serde_json::{Value as Json, json};

on_every_database! {
    every_golden_vector_is_stored_with_its_columns
    an_object_is_stored_in_its_three_tables
    removed_labels_are_deleted_and_unchanged_ones_not_written
    labels_and_annotations_that_the_writer_knows_are_not_read
    an_unexpected_row_is_read_before_it_is_written
    annotations_that_change_with_labels_are_written
    labels_that_were_left_behind_are_replaced
    names_and_label_values_are_case_sensitive
    the_longest_label_key_and_a_large_annotation_are_stored
    text_of_any_characters_is_read_back_unchanged
    a_batch_of_thousands_is_stored
    a_reject_is_recorded_once_and_cleared_by_the_next_good_version
}

async fn every_golden_vector_is_stored_with_its_columns(world: World) -> Result<()> {
    let store = world.store_of(crd_specs::KINDS).await?;
    let golden: Vec<Json> = serde_json::from_str(include_str!("../../../crd-specs/tests/data/golden.json"))?;
    assert_eq!(golden.len(), 29);
    for vector in &golden {
        let kind = kind(vector["kind"].as_str().context("kind")?);
        let mut input = vector["input"].clone();
        let uid = input["metadata"]["uid"].as_str().context("uid")?.to_owned();
        let report = store.write(kind.table(), vec![change(&input)]).await?;
        assert_eq!(report, Report { written: 1, ..Report::default() }, "{}", vector["label"]);
        for (column, expected) in vector["columns"].as_object().context("columns")? {
            let table = kind.table().name;
            let stored = world.cell(&format!("SELECT {column} FROM {table} WHERE uid = '{uid}'")).await?;
            let expected = match expected {
                Json::Null => None,
                Json::Bool(value) => Some(u8::from(*value).to_string()),
                Json::String(text) if column.ends_with("_time") || column.ends_with("_timestamp") => {
                    Some(format!("{}.000000", text.replace('T', " ").trim_end_matches('Z')))
                }
                Json::String(text) => Some(text.clone()),
                other => Some(other.to_string()),
            };
            assert_eq!(stored, expected, "{} {column}", vector["label"]);
        }
        let proto = world
            .cell(&format!("SELECT {} FROM {} WHERE uid = '{uid}'", world.on.hex("proto"), kind.table().name))
            .await?;
        let mut expected = vector["proto_hex"].as_str().context("proto_hex")?.to_uppercase();
        if vector["proto_map_order_varies"] == true {
            // Map entries are sorted by key; crd-specs/tests/proto.rs shows that nothing else differs.
            expected = hex(&row(&input).values[base::PROTO])?;
        }
        assert_eq!(proto, Some(expected), "{}", vector["label"]);
        let json = world.cell(&format!("SELECT json FROM {} WHERE uid = '{uid}'", kind.table().name)).await?;
        let mut stored: Json = serde_json::from_str(&json.context("json")?)?;
        if let Some(metadata) = input["metadata"].as_object_mut() {
            metadata.remove("managedFields");
        }
        // MySQL's JSON type cannot hold -0.0 and the like, but it keeps every value of the vectors.
        assert_eq!(stored.take(), input, "{}", vector["label"]);
        // The vectors share uids and versions, so each is checked by itself.
        world.sql(&format!("DELETE FROM {}", kind.table().name)).await?;
    }
    Ok(())
}

/// Bytes as SQL's HEX() writes them.
fn hex(value: &Value) -> Result<String> {
    match value {
        Value::Bytes(bytes) => Ok(bytes.iter().map(|byte| format!("{byte:02X}")).collect()),
        other => anyhow::bail!("the proto column holds {other}"),
    }
}

async fn an_object_is_stored_in_its_three_tables(world: World) -> Result<()> {
    let store = world.store().await?;
    store.write(kind("Model").table(), vec![change(&model("a", 7))]).await?;
    let rows = world
        .sql(&format!("SELECT uid, group_ver, namespace, name, res_version, create_time, delete_time, evict_time, {}, algorithm, owner, src_pipeline_run_name FROM model", world.on.hex("proto")))
        .await?;
    let text = |text: &str| Some(text.to_owned());
    let proto = hex(&row(&model("a", 7)).values[base::PROTO])?;
    assert_eq!(
        rows,
        [[
            text("a"),
            text("michelangelo.api/v2"),
            text("ml"),
            text("model-a"),
            text("7"),
            text("2026-03-09 20:36:46.000000"),
            None,
            None,
            Some(proto),
            text("algorithm-7"),
            text("me"),
            None
        ]]
    );
    let update_time = world.cell("SELECT update_time FROM model").await?.and_then(|time| Micros::from_sql(&time));
    let since = update_time.map(|time| store.now().0 - time.0);
    assert!(since.is_some_and(|since| since.abs() < 60_000_000), "by the database's clock: {update_time:?}");
    let labels = world.sql("SELECT * FROM model_labels ORDER BY 2").await?;
    assert_eq!(
        labels,
        [("only-7", "yes"), ("same", "same"), ("version", "7")].map(|(key, value)| [text("a"), text(key), text(value)])
    );
    assert_eq!(world.sql("SELECT * FROM model_annotations").await?, [[text("a"), text("note"), text("written at 7")]]);
    Ok(())
}

async fn removed_labels_are_deleted_and_unchanged_ones_not_written(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    store.write(table, vec![change(&model("a", 1)), change(&model("b", 1))]).await?;
    // A trigger counts the writes to a label that does not change.
    let log = match world.on {
        On::Sqlite => "CREATE TABLE log (what TEXT);
             CREATE TRIGGER seen_i BEFORE INSERT ON model_labels WHEN NEW.key = 'same' BEGIN INSERT INTO log VALUES ('i'); END;
             CREATE TRIGGER seen_d BEFORE DELETE ON model_labels WHEN OLD.key = 'same' BEGIN INSERT INTO log VALUES ('d'); END;",
        On::Postgres => "CREATE TABLE log (what VARCHAR(9));
             CREATE FUNCTION seen() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log VALUES (TG_OP); RETURN COALESCE(NEW, OLD); END $$;
             CREATE TRIGGER seen_i BEFORE INSERT ON model_labels FOR EACH ROW WHEN (NEW.key = 'same') EXECUTE FUNCTION seen();
             CREATE TRIGGER seen_d BEFORE DELETE ON model_labels FOR EACH ROW WHEN (OLD.key = 'same') EXECUTE FUNCTION seen();",
        On::MariaDb | On::MySql => "CREATE TABLE log (what VARCHAR(9));
             CREATE TRIGGER seen_i BEFORE INSERT ON model_labels FOR EACH ROW INSERT INTO log SELECT 'i' FROM (SELECT 1) AS one WHERE NEW.`key` = 'same';
             CREATE TRIGGER seen_d BEFORE DELETE ON model_labels FOR EACH ROW INSERT INTO log SELECT 'd' FROM (SELECT 1) AS one WHERE OLD.`key` = 'same';",
    };
    world.sql(log).await?;
    store.write(table, vec![change(&model("a", 2))]).await?;
    let keys = world.sql("SELECT obj_uid, `key`, value FROM model_labels ORDER BY obj_uid, `key`").await?;
    let keys: Vec<String> =
        keys.into_iter().map(|row| row.into_iter().flatten().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(keys, ["a only-2 yes", "a same same", "a version 2", "b only-1 yes", "b same same", "b version 1"]);
    assert_eq!(world.count("log").await?, 0);
    // An object that loses all labels and annotations.
    let mut bare = model("a", 3);
    bare["metadata"]["labels"] = json!({});
    bare["metadata"]["annotations"] = Json::Null;
    store.write(table, vec![change(&bare)]).await?;
    assert_eq!(world.count("model_labels WHERE obj_uid = 'a'").await?, 0);
    assert_eq!(world.count("model_annotations WHERE obj_uid = 'a'").await?, 0);
    assert_eq!(world.count("log").await?, 1, "the trigger works: one deletion was seen");
    Ok(())
}

async fn labels_and_annotations_that_the_writer_knows_are_not_read(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    let at = |version: u64| {
        let mut object = model("a", 1);
        object["metadata"]["resourceVersion"] = json!(version.to_string());
        row(&object)
    };
    let companions = at(1).companions_hash();
    let expected = Expected::Stored { res_version: 1, companions };
    store.write(table, vec![RowChange::Row(at(1))]).await?;
    // A change by hand shows whether the label was read.
    world.sql("UPDATE model_labels SET value = 'by hand' WHERE `key` = 'same'").await?;
    let same = async || world.cell("SELECT value FROM model_labels WHERE `key` = 'same'").await;
    store.write(table, vec![RowChange::Row(Row { expected: Some(expected), ..at(2) })]).await?;
    assert_eq!(world.cell("SELECT res_version FROM model").await?.as_deref(), Some("2"));
    assert_eq!(same().await?.as_deref(), Some("by hand"));
    // The stored version is not the expected one: another writer has written.
    store.write(table, vec![RowChange::Row(Row { expected: Some(expected), ..at(3) })]).await?;
    assert_eq!(same().await?.as_deref(), Some("same"));
    // The labels differ from those that the writer wrote.
    let mut object = model("a", 1);
    object["metadata"]["resourceVersion"] = json!("4");
    object["metadata"]["labels"]["same"] = json!("another");
    let expected = Expected::Stored { res_version: 3, companions };
    store.write(table, vec![RowChange::Row(Row { expected: Some(expected), ..row(&object) })]).await?;
    assert_eq!(same().await?.as_deref(), Some("another"));
    Ok(())
}

async fn an_unexpected_row_is_read_before_it_is_written(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    let new =
        |uid: &str, version: u64| RowChange::Row(Row { expected: Some(Expected::Absent), ..row(&model(uid, version)) });
    store.write(table, vec![change(&model("b", 5)), change(&model("c", 5)), change(&model("d", 5))]).await?;
    let report = store.write(table, vec![new("a", 1), new("b", 4), new("c", 5), new("d", 6), new("e", 1)]).await?;
    assert_eq!(report, Report { written: 3, unchanged: 1, stale: vec!["b".into()], ..Report::default() });
    let is = ["a 1", "b 5", "c 5", "d 6", "e 1"];
    for sql in [
        "SELECT uid, res_version FROM model ORDER BY uid",
        "SELECT obj_uid, value FROM model_labels WHERE `key` = 'version' ORDER BY obj_uid",
    ] {
        let rows = world.sql(sql).await?.into_iter().map(|row| row.into_iter().flatten().collect::<Vec<_>>().join(" "));
        assert_eq!(rows.collect::<Vec<_>>(), is, "{sql}");
    }
    Ok(())
}

async fn annotations_that_change_with_labels_are_written(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    let at = |uid: &str, version: u64, label: &str, annotation: &str| {
        let mut object = model(uid, version);
        object["metadata"]["labels"] = json!({ "key": label, "same": "same" });
        object["metadata"]["annotations"] = json!({ "key": annotation, "same": "same" });
        row(&object)
    };
    let mut stored = [at("a", 1, "1", "1"), at("b", 1, "1", "1"), at("c", 1, "1", "1")];
    store.write(table, stored.iter().cloned().map(RowChange::Row).collect()).await?;
    // Both, labels alone, annotations alone; the first have the same labels as annotations.
    let steps = [["2 2", "2 1", "1 2"], ["1 1", "1 1", "1 1"], ["1 2", "3 1", "2 3"]];
    for (step, version) in steps.iter().zip(2..) {
        let mut next = Vec::new();
        for (old, pairs) in stored.iter().zip(step) {
            let (label, annotation) = pairs.split_once(' ').context("two values")?;
            let expected = Expected::Stored { res_version: old.res_version, companions: old.companions_hash() };
            next.push(Row { expected: Some(expected), ..at(&old.uid, version, label, annotation) });
        }
        assert_eq!(store.write(table, next.iter().cloned().map(RowChange::Row).collect()).await?.written, 3);
        let sql = "SELECT l.value, a.value FROM model_labels l JOIN model_annotations a ON a.obj_uid = l.obj_uid \
                   AND a.`key` = l.`key` WHERE l.`key` = 'key' ORDER BY l.obj_uid";
        let rows = world.sql(sql).await?.into_iter().map(|row| row.into_iter().flatten().collect::<Vec<_>>().join(" "));
        assert_eq!(rows.collect::<Vec<_>>(), *step);
        assert_eq!(world.count("model_labels").await? + world.count("model_annotations").await?, 12);
        next.iter_mut().for_each(|row| row.expected = None);
        stored = next.try_into().map_err(|_| anyhow::anyhow!("three rows"))?;
    }
    Ok(())
}

async fn labels_that_were_left_behind_are_replaced(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    let new = |uid: &str| RowChange::Row(Row { expected: Some(Expected::Absent), ..row(&model(uid, 1)) });
    store.write(table, vec![new("a"), new("b"), new("c")]).await?;
    // By hand, the rows of the main table alone.
    world.sql("DELETE FROM model WHERE uid IN ('a', 'b')").await?;
    world.sql("UPDATE model_labels SET value = 'old' WHERE `key` = 'version'").await?;
    // One with others, and one alone.
    assert_eq!(store.write(table, vec![new("a"), new("d")]).await?.written, 2);
    assert_eq!(store.write(table, vec![new("b")]).await?.written, 1);
    let labels = world.sql("SELECT obj_uid, value FROM model_labels WHERE `key` = 'version' ORDER BY obj_uid").await?;
    let labels = labels.into_iter().map(|row| row.into_iter().flatten().collect::<Vec<_>>().join(" "));
    assert_eq!(labels.collect::<Vec<_>>(), ["a 1", "b 1", "c old", "d 1"]);
    Ok(())
}

async fn names_and_label_values_are_case_sensitive(world: World) -> Result<()> {
    let store = world.store().await?;
    let mut lower = model("a", 1);
    let mut upper = model("b", 1);
    lower["metadata"]["name"] = json!("name");
    lower["metadata"]["labels"] = json!({ "team": "red", "Team": "RED" });
    upper["metadata"]["labels"] = json!({ "team": "Red" });
    let mut upper = change(&upper);
    // Kubernetes would refuse such a name; a database still compares it by byte.
    if let RowChange::Row(row) = &mut upper {
        row.values[base::NAME] = Value::text("NAME");
    }
    store.write(kind("Model").table(), vec![change(&lower), upper]).await?;
    assert_eq!(world.count("model WHERE name = 'name'").await?, 1);
    assert_eq!(world.count("model_labels WHERE `key` = 'team' AND value = 'red'").await?, 1);
    assert_eq!(world.count("model_labels WHERE `key` = 'Team'").await?, 1);
    assert_eq!(world.count("model_labels").await?, 3);
    Ok(())
}

async fn the_longest_label_key_and_a_large_annotation_are_stored(world: World) -> Result<()> {
    let store = world.store().await?;
    let key = format!("{}/{}", "p".repeat(253), "n".repeat(63));
    assert_eq!(key.len(), 317);
    let value = "a".repeat(256 * 1024);
    let mut object = model("a", 1);
    object["metadata"]["labels"] = json!({ key.as_str(): "v".repeat(63) });
    object["metadata"]["annotations"] = json!({ key.as_str(): value });
    let report = store.write(kind("Model").table(), vec![change(&object)]).await?;
    assert_eq!(report.written, 1);
    assert_eq!(world.count(&format!("model_labels WHERE `key` = '{key}' AND value = '{}'", "v".repeat(63))).await?, 1);
    assert_eq!(world.cell("SELECT value FROM model_annotations").await?.as_deref(), Some(value.as_str()));
    Ok(())
}

async fn text_of_any_characters_is_read_back_unchanged(world: World) -> Result<()> {
    let store = world.store().await?;
    let texts =
        ["'; DROP TABLE model; --", "`\"\\\\''%_?:$1", "Grüße 👩‍💻 \u{10FFFF}", "tab\tline\nend ", "", " ", "?", "\u{1}"];
    let changes: Vec<RowChange> = texts
        .iter()
        .enumerate()
        .map(|(place, text)| {
            let mut object = model(&format!("u{place}"), 1);
            object["spec"]["algorithm"] = json!(text);
            object["metadata"]["annotations"] = json!({ "text": text });
            change(&object)
        })
        .collect();
    store.write(kind("Model").table(), changes).await?;
    for (place, text) in texts.iter().enumerate() {
        let algorithm = world.cell(&format!("SELECT algorithm FROM model WHERE uid = 'u{place}'")).await?;
        assert_eq!(algorithm.as_deref(), Some(*text));
        let annotation = world.cell(&format!("SELECT value FROM model_annotations WHERE obj_uid = 'u{place}'")).await?;
        assert_eq!(annotation.as_deref(), Some(*text));
    }
    Ok(())
}

async fn a_batch_of_thousands_is_stored(world: World) -> Result<()> {
    let store = world.store().await?;
    let objects: Vec<Json> = (0..3000).map(|i| model(&format!("u{i:04}"), 1)).collect();
    let report = store.write(kind("Model").table(), objects.iter().map(change).collect()).await?;
    assert_eq!(report, Report { written: 3000, ..Report::default() });
    let report = store.write(kind("Model").table(), objects.iter().map(change).collect()).await?;
    assert_eq!(report, Report { unchanged: 3000, ..Report::default() });
    assert_eq!(world.count("model").await?, 3000);
    assert_eq!(world.count("model_labels").await?, 9000);
    assert_eq!(world.count("model_annotations").await?, 3000);
    Ok(())
}

async fn a_reject_is_recorded_once_and_cleared_by_the_next_good_version(world: World) -> Result<()> {
    let store = world.store().await?;
    let reject = |reason: &str| Reject {
        uid: "a".into(),
        group_ver: "michelangelo.api/v2".into(),
        kind: "Model".into(),
        namespace: "ml".into(),
        // Longer than any column: the record of a reject must not be refused itself.
        name: "n".repeat(1000),
        res_version: "not a number".into(),
        reason: reason.into(),
    };
    store.record_rejects(&[reject("first")]).await?;
    store.record_rejects(&[reject("second")]).await?;
    assert_eq!(world.cell("SELECT reason FROM ingester_rejects").await?.as_deref(), Some("second"));
    // Another process finds it at its start, and can clear it, too.
    let other = world.store().await?;
    other.write(kind("Model").table(), vec![RowChange::Row(row(&model("a", 2)))]).await?;
    assert_eq!(world.count("ingester_rejects").await?, 0);
    Ok(())
}
