//! Stored rows are read back, and every difference from what was written is found.

use crate::world::{On, Stores as _, World, change, kind, model, row};
use anyhow::{Context as _, Result};
use ingester_core::Kind;
use ingester_core::kind::{Definition, find};
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_core::schema::{Column, SqlType, base};
use ingester_core::value::{Micros, Value};
use ingester_declare::documents::documents;
use ingester_sql::dialect::statements::{KindRejects, RejectsOf};
use ingester_store::compare::{Difference, differences};
use ingester_store::guard::Eviction;
use ingester_store::{EvictedRows, LiveRow, Reject, RowChange, Store, StoredRow};
use ingester_tests::on_every_database;
use serde_json::{Value as Json, json};
use std::collections::HashSet;

on_every_database! {
    samples_and_golden_vectors_are_read_back_without_a_difference
    a_column_altered_by_hand_is_the_only_difference_found
    a_column_emptied_by_hand_is_the_only_difference_found
    labels_and_annotations_altered_by_hand_are_found
    a_databases_own_spelling_of_json_counts_as_equal
    one_value_altered_in_json_is_found_with_its_path
    a_row_is_read_with_its_own_versions_labels_while_others_write
    hundreds_of_rows_are_read_once_each_in_uid_order
    pages_of_live_rows_have_no_gaps_and_no_repeats
    rows_of_another_group_are_not_read_as_live
    live_rows_are_counted_by_namespace
    names_include_those_of_deleted_rows
    the_newest_version_includes_deleted_rows
    rejects_are_the_current_ones_of_one_kind
    rejects_are_listed_in_their_order_and_cleared_by_condition
}

/// The objects of all sample files and golden vectors, each with its own uid.
fn objects() -> Result<Vec<(&'static Kind, Json)>> {
    let mut objects: Vec<Json> = Vec::new();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../crd-specs/samples");
    for entry in std::fs::read_dir(folder)? {
        for document in documents(std::io::BufReader::new(std::fs::File::open(entry?.path())?)) {
            objects.push(serde_json::from_str(&document?.content?)?);
        }
    }
    anyhow::ensure!(objects.len() >= 13, "a sample of every kind");
    let golden: Vec<Json> = serde_json::from_str(include_str!("../../../crd-specs/tests/data/golden.json"))?;
    objects.extend(golden.into_iter().map(|mut vector| vector["input"].take()));
    objects
        .into_iter()
        .enumerate()
        .map(|(place, mut object)| {
            object["metadata"]["uid"] = json!(format!("object-{place}"));
            let text = |name: &str| object[name].as_str().context("apiVersion and kind");
            let kind = find(crd_specs::KINDS, text("apiVersion")?, text("kind")?).context("a kind of ours")?;
            Ok((kind, object))
        })
        .collect()
}

async fn one(store: &Store, kind: &Kind, uid: &str) -> Result<StoredRow> {
    let rows = store.read_stored(kind.table(), &[uid]).await?;
    anyhow::ensure!(rows.len() == 1, "{} rows of {uid}", rows.len());
    rows.into_iter().next().context("a row")
}

fn whats(differences: &[Difference]) -> Vec<&str> {
    differences.iter().map(|difference| difference.what.as_str()).collect()
}

async fn samples_and_golden_vectors_are_read_back_without_a_difference(world: World) -> Result<()> {
    let store = world.store_of(crd_specs::KINDS).await?;
    let mut kinds = HashSet::new();
    for (kind, object) in objects()? {
        let mut wanted = row(&object);
        store.write(kind.table(), vec![RowChange::Row(wanted.clone())]).await?;
        let stored = one(&store, kind, &wanted.uid).await?;
        assert_eq!(differences(kind.table(), &wanted, &stored), [], "{object}");
        assert_eq!(stored.values.len(), kind.table().columns.len());
        assert!(matches!(stored.values[base::UPDATE_TIME], Value::Time(_)), "{stored:?}");
        // Any bytes in the column are read back.
        wanted.res_version += 1;
        wanted.values[base::RES_VERSION] = Value::UInt(wanted.res_version);
        wanted.values[base::PROTO] = Value::Bytes([0, 255, 10, 0].into());
        wanted.evict_time = Some(Micros::now());
        store.write(kind.table(), vec![RowChange::Row(wanted.clone())]).await?;
        let stored = one(&store, kind, &wanted.uid).await?;
        assert_eq!(differences(kind.table(), &wanted, &stored), [], "{object}");
        assert_eq!(stored.evict_time, wanted.evict_time);
        kinds.insert(kind.kind());
    }
    assert_eq!(kinds.len(), crd_specs::KINDS.len());
    Ok(())
}

/// A row for each column of each kind, except the primary key and `update_time`, which is never compared. The row has a
/// value in that column if any object has one.
fn a_row_for_each_column() -> Result<Vec<(&'static Kind, &'static Column, Row)>> {
    let objects = objects()?;
    let mut rows = Vec::new();
    for kind in crd_specs::KINDS {
        let of_kind: Vec<&Json> =
            objects.iter().filter(|(of, _)| of.kind() == kind.kind()).map(|(_, object)| object).collect();
        for (place, column) in kind.table().columns.iter().enumerate() {
            if [base::UID, base::UPDATE_TIME, base::INGEST_VERSION, base::EVICT_CONFIRMED].contains(&place) {
                continue;
            }
            let has_a_value = |object: &&&Json| row(object).values[place] != Value::Null;
            let object = of_kind.iter().find(has_a_value).or(of_kind.first()).context("an object of every kind")?;
            let mut object = Json::clone(object);
            object["metadata"]["uid"] = json!(format!("column-{place}"));
            rows.push((kind, column, row(&object)));
        }
    }
    Ok(rows)
}

async fn a_column_altered_by_hand_is_the_only_difference_found(world: World) -> Result<()> {
    let store = world.store_of(crd_specs::KINDS).await?;
    for (kind, column, wanted) in a_row_for_each_column()? {
        store.write(kind.table(), vec![RowChange::Row(wanted.clone())]).await?;
        let name = column.name;
        let (altered, what) = match column.ty {
            SqlType::VarChar(_) | SqlType::Text | SqlType::MediumText => ("'altered'".to_owned(), name.to_string()),
            SqlType::Int | SqlType::BigInt | SqlType::IntUnsigned | SqlType::BigIntUnsigned => {
                ("424242".to_owned(), name.to_string())
            }
            SqlType::Boolean => (format!("NOT COALESCE({name}, FALSE)"), name.to_string()),
            SqlType::Double => ("0.4242".to_owned(), name.to_string()),
            SqlType::DateTime => ("'2001-02-03 04:05:06.000001'".to_owned(), name.to_string()),
            SqlType::LongBlob => (world.on.bytes("0042"), name.to_string()),
            SqlType::Json => {
                (world.on.json_set(name.as_str(), &["apiVersion"], &json!("altered")), format!("{name} apiVersion"))
            }
        };
        world
            .sql(&format!("UPDATE {} SET `{name}` = {altered} WHERE uid = '{}'", kind.table().name, wanted.uid))
            .await?;
        let found = differences(kind.table(), &wanted, &one(&store, kind, &wanted.uid).await?);
        assert_eq!(whats(&found), [what], "{found:?}");
    }
    Ok(())
}

async fn a_column_emptied_by_hand_is_the_only_difference_found(world: World) -> Result<()> {
    let store = world.store_of(crd_specs::KINDS).await?;
    let mut emptied = 0;
    for (kind, column, wanted) in a_row_for_each_column()? {
        let place = kind.table().columns.iter().position(|other| other.name == column.name).context("its place")?;
        if !column.nullable || wanted.values[place] == Value::Null {
            continue;
        }
        store.write(kind.table(), vec![RowChange::Row(wanted.clone())]).await?;
        let table = kind.table().name;
        let name = column.name;
        world.sql(&format!("UPDATE {table} SET `{name}` = NULL WHERE uid = '{}'", wanted.uid)).await?;
        let found = differences(kind.table(), &wanted, &one(&store, kind, &wanted.uid).await?);
        assert_eq!(whats(&found), [name.as_str()], "{found:?}");
        assert_eq!(found[0].stored, "NULL");
        emptied += 1;
    }
    assert!(emptied >= 45, "only {emptied} columns had a value");
    Ok(())
}

async fn labels_and_annotations_altered_by_hand_are_found(world: World) -> Result<()> {
    let store = world.store().await?;
    let kind = kind("Model");
    let wanted = row(&model("a", 7));
    let other = row(&model("b", 7));
    store.write(kind.table(), vec![RowChange::Row(wanted.clone()), RowChange::Row(other.clone())]).await?;
    for (sql, what, shown) in [
        ("DELETE FROM model_labels WHERE obj_uid = 'a' AND `key` = 'same'", r#"label "same""#, ["\"same\"", "(none)"]),
        (
            "UPDATE model_labels SET value = 'no' WHERE obj_uid = 'a' AND `key` = 'only-7'",
            r#"label "only-7""#,
            ["\"yes\"", "\"no\""],
        ),
        ("INSERT INTO model_labels VALUES ('a', 'zone', '')", r#"label "zone""#, ["(none)", "\"\""]),
        (
            "UPDATE model_annotations SET value = 'Written at 7' WHERE obj_uid = 'a'",
            r#"annotation "note""#,
            ["\"written at 7\"", "\"Written at 7\""],
        ),
    ] {
        let before = whats(&differences(kind.table(), &wanted, &one(&store, kind, "a").await?)).len();
        world.sql(sql).await?;
        let found = differences(kind.table(), &wanted, &one(&store, kind, "a").await?);
        assert_eq!(found.len(), before + 1, "{found:?}");
        let found = found.iter().find(|difference| difference.what == what).context(what)?;
        assert_eq!([found.wanted.as_str(), found.stored.as_str()], shown);
    }
    assert_eq!(differences(kind.table(), &other, &one(&store, kind, "b").await?), []);
    Ok(())
}

/// The row of a Model whose `spec.unknown` is this text.
fn with_unknown(uid: &str, unknown: &str) -> Result<Row> {
    let mut object = model(uid, 1);
    object["spec"]["unknown"] = json!("UNKNOWN");
    let object = Object::parse(object.to_string().replace("\"UNKNOWN\"", unknown), ManagedFields::Prune)?;
    kind("Model").row(&object)?.context("kept")
}

async fn a_databases_own_spelling_of_json_counts_as_equal(world: World) -> Result<()> {
    let store = world.store().await?;
    let kind = kind("Model");
    let mut texts: Vec<String> = [
        r#"{ "zz" : 1, "b" :2,"a":{"long key":[ ],"k":{}} , "": null }"#,
        r#"["\u00e4\ud83d\ude00\/\b\f\n\r\t\"\\", "\u0000", "é", ""]"#,
        "[0, -0, 0.0, -0.0, 1.0, 1e0, 1E+2, 100e-2, 0.10, 1e15, 1e16, 1e21, 1e22, 1e-7, 123456.789e3]",
        "[9007199254740993, -9007199254740993, 9223372036854775807, -9223372036854775808, 18446744073709551615]",
        "[18446744073709551616, -9223372036854775809, 12345678901234567890123, 1e300, 1e-300, 5e-324, 1.7976931348623157e308]",
        "[3.141592653589793238462643, 0.1000000000000000055511151231257827, 2.2250738585072014e-308, 0.30000000000000004]",
        r#"{"twice": 1, "twice": {"in": 1, "in": 2}}"#,
    ]
    .map(str::to_owned)
    .into();
    // Random numbers with 17 digits, which no list of special cases covers.
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed
    };
    let numbers: Vec<String> = (0..5000)
        .map(|_| match f64::from_bits(next()) {
            number if number.is_finite() && number.abs() < 1e300 && number.abs() > 1e-300 => format!("{number:e}"),
            _ => format!("0.{}", next()),
        })
        .collect();
    texts.push(format!("[{}]", numbers.join(",")));
    for (place, text) in texts.iter().enumerate() {
        let wanted = with_unknown(&format!("u{place}"), text)?;
        let report = store.write(kind.table(), vec![RowChange::Row(wanted.clone())]).await?;
        assert_eq!(report.written, 1, "{text:.200}: {report:?}");
        let stored = one(&store, kind, &wanted.uid).await?;
        assert_eq!(differences(kind.table(), &wanted, &stored), [], "{text:.200}");
        if world.on == On::MySql {
            assert_ne!(stored.values[base::JSON], wanted.values[base::JSON], "MySQL spells it in its own way");
        }
    }
    Ok(())
}

async fn one_value_altered_in_json_is_found_with_its_path(world: World) -> Result<()> {
    let store = world.store().await?;
    let kind = kind("Model");
    let unknown = r#"{"list": [1, {"a.b/c": 9007199254740993}], "text": "blank "}"#;
    let wanted = with_unknown("a", unknown)?;
    for (path, altered, what, shown) in [
        (
            &["spec", "unknown", "list", "1", "a.b/c"][..],
            json!(9_007_199_254_740_992_u64),
            r#"json spec.unknown.list[1]["a.b/c"]"#,
            ["9007199254740993", "9007199254740992"],
        ),
        (&["spec", "unknown", "list", "0"], json!("1"), "json spec.unknown.list[0]", ["1", "\"1\""]),
        (&["spec", "unknown", "text"], json!("blank"), "json spec.unknown.text", ["\"blank \"", "\"blank\""]),
        (&["spec", "more"], json!(0), "json spec.more", ["(none)", "0"]),
    ] {
        store.write(kind.table(), vec![RowChange::Row(wanted.clone())]).await?;
        world.sql(&format!("UPDATE model SET json = {}", world.on.json_set("json", path, &altered))).await?;
        let found = differences(kind.table(), &wanted, &one(&store, kind, "a").await?);
        assert_eq!(whats(&found), [what]);
        assert_eq!([found[0].wanted.as_str(), found[0].stored.as_str()], shown);
        world.sql("DELETE FROM model").await?;
        world.sql("DELETE FROM model_labels").await?;
        world.sql("DELETE FROM model_annotations").await?;
    }
    Ok(())
}

async fn a_row_is_read_with_its_own_versions_labels_while_others_write(world: World) -> Result<()> {
    let store = world.store().await?;
    let writer = world.store().await?;
    let table = kind("Model").table();
    writer.write(table, vec![change(&model("a", 1))]).await?;
    let writing = tokio::spawn(async move {
        for version in 2..400 {
            writer.write(table, vec![change(&model("a", version))]).await?;
        }
        anyhow::Ok(())
    });
    let mut seen = HashSet::new();
    while !writing.is_finished() {
        let stored = one(&store, kind("Model"), "a").await?;
        let wanted = row(&model("a", stored.res_version));
        assert_eq!(differences(table, &wanted, &stored), [], "version {}", stored.res_version);
        seen.insert(stored.res_version);
    }
    writing.await??;
    assert!(seen.len() > 1, "read while it was written");
    Ok(())
}

async fn hundreds_of_rows_are_read_once_each_in_uid_order(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    let objects: Vec<Json> = (0..300).map(|i| model(&format!("u{i:04}"), 1 + i)).collect();
    store.write(table, objects.iter().map(change).collect()).await?;
    let uids: Vec<String> = (0..400).rev().map(|i| format!("u{i:04}")).collect();
    let asked: Vec<&str> = uids.iter().chain(&uids).map(String::as_str).collect();
    let stored = store.read_stored(table, &asked).await?;
    assert_eq!(stored.len(), 300, "those that are there, once each");
    for (object, stored) in objects.iter().zip(&stored) {
        assert_eq!(differences(table, &row(object), stored), []);
    }
    assert_eq!(store.read_stored(table, &[]).await?, []);
    assert_eq!(store.read_stored(table, &["' OR 1 = 1"]).await?, []);
    Ok(())
}

async fn pages_of_live_rows_have_no_gaps_and_no_repeats(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    let mut expected = Vec::new();
    let changes = (0..1000_u64).map(|i| {
        let mut object = model(&format!("u{i:04}"), 1 + i);
        object["metadata"]["namespace"] = json!(format!("ns-{}", i % 3));
        let mut row = row(&object);
        row.delete_time = (i % 7 == 0).then(Micros::now);
        row.evict_time = (i % 5 == 0 && i % 7 != 0).then(Micros::now);
        row.evict_confirmed = i % 10 == 0;
        if row.delete_time.is_none() {
            let row = LiveRow { uid: row.uid.clone(), res_version: 1 + i, ingest_version: 1, eviction: row.eviction() };
            expected.push((i % 3, row));
        }
        RowChange::Row(row)
    });
    let changes = changes.collect();
    store.write(table, changes).await?;
    for eviction in [Eviction::None, Eviction::Intended, Eviction::Confirmed] {
        assert!(expected.iter().any(|(_, row)| row.eviction == eviction), "{eviction:?}");
    }
    for limit in [1, 128, 857, 858, 5000] {
        assert_eq!(
            pages(&store, None, EvictedRows::Included, limit).await?,
            expected.iter().map(|(_, row)| row.clone()).collect::<Vec<_>>(),
            "pages of {limit}"
        );
    }
    let of_one = expected.iter().filter(|(namespace, _)| *namespace == 1).map(|(_, row)| row.clone());
    assert_eq!(pages(&store, Some("ns-1"), EvictedRows::Included, 50).await?, of_one.collect::<Vec<_>>());
    // A page without evicted rows is still full, so a short one is the last. Rows whose objects may still be in the cluster are among them.
    let there = |row: &LiveRow| row.eviction != Eviction::Confirmed;
    let in_etcd: Vec<LiveRow> = expected.iter().map(|(_, row)| row.clone()).filter(there).collect();
    for limit in [1, 128, 5000] {
        assert_eq!(pages(&store, None, EvictedRows::LeftOut, limit).await?, in_etcd, "pages of {limit}");
    }
    assert_eq!(pages(&store, Some("NS-1"), EvictedRows::Included, 50).await?, [], "namespaces are told apart by case");
    Ok(())
}

async fn pages(store: &Store, namespace: Option<&str>, evicted: EvictedRows, limit: usize) -> Result<Vec<LiveRow>> {
    let mut all: Vec<LiveRow> = Vec::new();
    loop {
        let after = all.last().map_or("", |row| &row.uid).to_owned();
        let page = store.live(kind("Model"), namespace, evicted, &after, limit).await?;
        anyhow::ensure!(page.len() <= limit, "a page of {} rows", page.len());
        let last = page.len() < limit;
        all.extend(page);
        if last {
            return Ok(all);
        }
    }
}

/// Writes a row for each of these `apiVersion`s, which is its uid too, in namespaces `a` and `b` in turn.
async fn write_versions(store: &Store, versions: &[&str]) -> Result<()> {
    let changes = versions.iter().enumerate().map(|(i, version)| {
        let mut object = model(version, 1);
        object["apiVersion"] = json!(version);
        object["metadata"]["name"] = json!(format!("m{i}"));
        object["metadata"]["namespace"] = json!(["a", "b"][i % 2]);
        change(&object)
    });
    store.write(kind("Model").table(), changes.collect()).await?;
    Ok(())
}

async fn rows_of_another_group_are_not_read_as_live(world: World) -> Result<()> {
    let store = world.store().await?;
    let versions =
        ["michelangelo.api/v1", "michelangelo.api/v2", "v1", "a.michelangelo.api/v2", "michelangelo.api0/v2"];
    write_versions(&store, &versions).await?;
    write_versions(&store, &["Michelangelo.api/v2", "michelangelo_api/v2", "michelangelo/v2", "apps/v1"]).await?;
    let live = async |group: &'static str, namespace: Option<&str>| -> Result<Vec<String>> {
        let kind = kind("Model");
        let kind = Kind::new(Definition { group, ..*kind.definition() }, *kind.functions());
        let rows = store.live(&kind, namespace, EvictedRows::Included, "", 100).await?;
        Ok(rows.into_iter().map(|row| row.uid.into()).collect())
    };
    // A kind's rows still belong to it when its version changes.
    assert_eq!(live("michelangelo.api", None).await?, ["michelangelo.api/v1", "michelangelo.api/v2"]);
    assert_eq!(live("michelangelo.api", Some("b")).await?, ["michelangelo.api/v2"]);
    assert_eq!(live("", None).await?, ["v1"], "the core group");
    assert_eq!(live("apps", None).await?, ["apps/v1"]);
    assert_eq!(live("batch", None).await?, [""; 0]);
    Ok(())
}

async fn live_rows_are_counted_by_namespace(world: World) -> Result<()> {
    let store = world.store().await?;
    let kind = kind("Model");
    assert_eq!(store.live_by_namespace(kind).await?, []);
    let versions = ["michelangelo.api/v1", "michelangelo.api/v2", "michelangelo.api/v3", "v1", "apps/v1"];
    write_versions(&store, &versions).await?;
    let mut gone = row(&model("gone", 1));
    let mut evicted = row(&model("evicted", 1));
    gone.delete_time = Some(Micros::now());
    evicted.evict_time = Some(Micros::now());
    store.write(kind.table(), vec![RowChange::Row(gone), RowChange::Row(evicted)]).await?;
    assert_eq!(store.live_by_namespace(kind).await?, [("a".to_owned(), 2), ("b".to_owned(), 1)]);
    Ok(())
}

async fn names_include_those_of_deleted_rows(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    let mut gone = row(&model("b", 2));
    gone.delete_time = Some(Micros::now());
    store.write(table, vec![change(&model("a", 1)), RowChange::Row(gone)]).await?;
    let names = store.names(table, &["b", "none", "a", "b"]).await?;
    let names: Vec<[&str; 3]> = names.iter().map(|(uid, namespace, name)| [&**uid, &**namespace, &**name]).collect();
    assert_eq!(names, [["a", "ml", "model-a"], ["b", "ml", "model-b"]]);
    Ok(())
}

async fn the_newest_version_includes_deleted_rows(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    assert_eq!(store.newest(table).await?, 0);
    // The largest version that the database can store.
    let largest = world.on.largest_version();
    store.write(table, vec![change(&model("a", 9)), change(&model("b", 10))]).await?;
    assert_eq!(store.newest(table).await?, 10);
    let mut gone = row(&model("a", largest));
    gone.delete_time = Some(Micros::now());
    store.write(table, vec![RowChange::Row(gone)]).await?;
    assert_eq!(store.newest(table).await?, largest);
    Ok(())
}

async fn rejects_are_the_current_ones_of_one_kind(world: World) -> Result<()> {
    let store = world.store().await?;
    let reject = |uid: &str, kind: &str, reason: &str| Reject {
        uid: uid.into(),
        group_ver: "michelangelo.api/v2".into(),
        kind: kind.into(),
        namespace: "ml".into(),
        name: "name".into(),
        res_version: "1".into(),
        reason: reason.into(),
    };
    store
        .record_rejects(&[reject("b", "Model", "too long"), reject("a", "Model", "Größe"), reject("c", "Pipeline", "")])
        .await?;
    let rejects = async |group_ver: &str, kind: &str| -> Result<Vec<(String, String)>> {
        let rejects = store.rejects(group_ver, kind, None).await?;
        Ok(rejects.into_iter().map(|rejected| (rejected.uid.into(), rejected.reason)).collect())
    };
    let pair = |uid: &str, reason: &str| (uid.to_owned(), reason.to_owned());
    assert_eq!(rejects("michelangelo.api/v2", "Model").await?, [pair("a", "Größe"), pair("b", "too long")]);
    assert_eq!(rejects("michelangelo.api/v1", "Model").await?, []);
    store.write(kind("Model").table(), vec![change(&model("a", 2))]).await?;
    assert_eq!(rejects("michelangelo.api/v2", "Model").await?, [pair("b", "too long")], "a good version clears it");
    let project = json!({
        "apiVersion": "michelangelo.api/v2", "kind": "Project", "metadata": {"name": "b", "uid": "b", "resourceVersion": "9"}, "spec": {}
    });
    store.write(kind("Project").table(), vec![change(&project)]).await?;
    assert_eq!(
        rejects("michelangelo.api/v2", "Model").await?,
        [pair("b", "too long")],
        "another kind's object has the uid"
    );
    let of =
        async |namespace| Ok::<_, anyhow::Error>(store.rejects("michelangelo.api/v2", "Model", namespace).await?.len());
    assert_eq!((of(Some("ml")).await?, of(Some("other")).await?), (1, 0));
    store.forget_rejects("Model", &["b", "c", "none"]).await?;
    assert_eq!((of(None).await?, world.count("ingester_rejects").await?), (0, 1), "that of c stays");
    Ok(())
}

async fn rejects_are_listed_in_their_order_and_cleared_by_condition(world: World) -> Result<()> {
    let store = world.store().await?;
    let begin = Micros::now();
    let reject = |uid: &str, kind: &str, namespace: &str| Reject {
        uid: uid.into(),
        group_ver: "michelangelo.api/v2".into(),
        kind: kind.into(),
        namespace: namespace.into(),
        name: format!("n-{uid}"),
        res_version: "7".into(),
        reason: "Größe".into(),
    };
    let all = [reject("a", "Pipeline", "ml"), reject("b", "Model", "ml"), reject("c", "Model", "dev")];
    store.record_rejects(&all).await?;
    let uids = async |of: RejectsOf<'_>, limit| -> Result<Vec<String>> {
        Ok(store.list_rejects(of, limit, store.limits().time).await?.into_iter().map(|reject| reject.uid).collect())
    };
    let everything = RejectsOf::default();
    assert_eq!(uids(everything, 10).await?, ["c", "b", "a"], "by kind, namespace and name");
    assert_eq!(uids(everything, 2).await?, ["c", "b"]);
    assert_eq!(
        uids(RejectsOf { kinds: &[KindRejects::in_any_group("Model")], namespaces: &["ml", "x"], ..everything }, 10)
            .await?,
        ["b"]
    );
    assert_eq!(uids(RejectsOf { uids: &["a", "none"], ..everything }, 10).await?, ["a"]);
    let first = store.list_rejects(RejectsOf { uids: &["a"], ..everything }, 1, store.limits().time).await?.remove(0);
    assert_eq!((&*first.kind, &*first.name, &*first.res_version, &*first.reason), ("Pipeline", "n-a", "7", "Größe"));
    assert!(first.reject_time >= begin && first.reject_time <= Micros::now(), "{first:?}");

    assert_eq!(
        store
            .clear_rejects(RejectsOf {
                kinds: &[KindRejects::in_any_group("Model")],
                namespaces: &["dev"],
                ..everything
            })
            .await?,
        1
    );
    assert_eq!(uids(everything, 10).await?, ["b", "a"]);
    assert_eq!(store.clear_rejects(RejectsOf { uids: &["a", "c"], ..everything }).await?, 1);
    assert_eq!(store.clear_rejects(everything).await?, 1);
    assert_eq!(world.count("ingester_rejects").await?, 0);
    Ok(())
}
