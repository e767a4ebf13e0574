//! Rows that move in from another database: an ingester's on any engine, or the reference system's.

use crate::world::{On, Stores as _, World, kind, kinds, model, row};
use anyhow::{Context as _, Result, ensure};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use ingester_core::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::{Eviction, Row};
use ingester_core::value::Micros;
use ingester_store::compare::differences;
use ingester_store::{ConnectOptions, Effect, RowChange, Store};
use ingester_tests::on_databases;
use ingester_transfer::moving::{
    Cluster, ComparisonCounts, MoveCounts, OtherDatabase, OtherObject, Pass, PassResult, SameName, UndeletedState,
};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

// Its tables are for MySQL.
on_databases! { (the_reference_system_moves_in_while_it_is_written_to_and_passes_are_killed) [mariadb MariaDb] [mysql MySql] }
on_databases! { (rows_of_the_reference_system_are_what_a_person_says) [mariadb MariaDb] }
on_databases! { (what_cannot_be_moved_is_named_and_the_rest_is_moved) [mariadb MariaDb] }

/// The samples of the 13 kinds as JSON.
fn samples() -> Result<Vec<Json>> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../crd-specs/samples");
    let mut files: Vec<_> = folder.read_dir()?.collect::<std::io::Result<Vec<_>>>()?;
    files.sort_by_key(std::fs::DirEntry::path);
    let read = |file: std::fs::DirEntry| Ok(serde_saphyr::from_str(&std::fs::read_to_string(file.path())?)?);
    files.into_iter().map(read).collect()
}

/// The object with a number, made from the samples.
fn object(samples: &[Json], number: usize, version: u64) -> Json {
    let mut object = samples[number % samples.len()].clone();
    object["metadata"] = json!({
        "namespace": format!("ns-{}", number % 7),
        "name": format!("object-{number}"),
        "uid": format!("{number:08x}-0000-4000-8000-000000000000"),
        "resourceVersion": version.to_string(),
        "creationTimestamp": format!("2026-03-{:02}T{:02}:36:46Z", number % 28 + 1, number % 24),
        "labels": { "version": version.to_string(), "number": number.to_string() },
        "annotations": { "note": format!("written at {version}, \"quoted\" and 'so' \\ é") },
    });
    object
}

fn make_row(object: &Json) -> (&'static Kind, Row) {
    let text = Object::parse(object.to_string(), ManagedFields::Prune).unwrap();
    let kind = kind(text.kind());
    (kind, kind.row(&text).unwrap().unwrap())
}

async fn source(world: &World) -> Result<OtherDatabase> {
    let options = ConnectOptions::default().read_only(true).create(false);
    Ok(OtherDatabase::new(world.connect(options).await?, kinds()).await?)
}

fn pass<'p>(source: &'p OtherDatabase, store: &'p Store, living: UndeletedState<'p>) -> Pass<'p> {
    Pass { source, store: Some(store), effect: Effect::Written, living, stop: CancellationToken::new() }
}

/// One pass, and the problems that it reported.
async fn passed(
    source: &OtherDatabase,
    store: &Store,
    living: UndeletedState<'_>,
) -> Result<(PassResult, Vec<String>)> {
    let mut problems = Vec::new();
    let pass = pass(source, store, living);
    let passed = pass.run(|object, reason| problems.push(format!("{object}: {reason}")), |_| ()).await?;
    Ok((passed, problems))
}

async fn verified(
    source: &OtherDatabase,
    store: &Store,
    living: UndeletedState<'_>,
) -> Result<(Vec<(Kind, ComparisonCounts)>, Vec<String>)> {
    let mut differences = Vec::new();
    let pass = pass(source, store, living);
    let verified = pass.verify(|object, what| differences.push(format!("{object}: {what}")), |_| ()).await?;
    Ok((verified, differences))
}

fn sum(passed: &PassResult, of: impl Fn(&MoveCounts) -> u64) -> u64 {
    passed.kinds.iter().map(|(_, moved)| of(moved)).sum()
}

/// How many objects a test moves: few, unless the environment names a number.
fn many(few: usize) -> usize {
    std::env::var("INGESTER_TEST_MOVED").ok().and_then(|number| number.parse().ok()).unwrap_or(few)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_state_moves_around_the_engines_and_nothing_changes() -> Result<()> {
    let samples = samples()?;
    let count = many(390);
    let mut worlds = Vec::new();
    for (place, on) in [On::Sqlite, On::MySql, On::Postgres, On::MariaDb, On::Sqlite].into_iter().enumerate() {
        worlds.extend(World::new(&format!("store::moving::around_{place}"), on).await?);
    }
    let first = worlds[0].store_of(crd_specs::KINDS).await?;
    // By uid, with the kind's name.
    let mut wanted: BTreeMap<String, (&str, Row)> = BTreeMap::new();
    for number in 0..count {
        let (kind, mut row) = make_row(&object(&samples, number, 10 + number as u64));
        let time = Micros(1_767_225_600_123_456 + number as i64);
        let later = Micros(time.0 + 1_000_001);
        match number / samples.len() % 5 {
            0 => row.delete_time = Some(time),
            1 => (row.evict_time, row.evict_confirmed) = (Some(time), true),
            2 => row.evict_time = Some(time),
            3 => (row.evict_time, row.evict_confirmed, row.delete_time) = (Some(time), true, Some(later)),
            _ => {}
        }
        wanted.insert(row.uid.to_string(), (kind.kind(), row));
    }
    for kind in crd_specs::KINDS {
        let rows = wanted.values().filter(|(of, _)| *of == kind.kind());
        let changes = rows.map(|(_, row)| RowChange::Row(row.clone())).collect();
        ensure!(first.write(kind.table(), changes).await?.rejected.is_empty());
    }
    let mut hashes: Vec<Vec<String>> = Vec::new();
    for pair in worlds.windows(2) {
        let source = source(&pair[0]).await?;
        let store = pair[1].store_of(crd_specs::KINDS).await?;
        let (moved, problems) = passed(&source, &store, UndeletedState::Live).await?;
        ensure!(problems.is_empty(), "{problems:?}");
        assert_eq!((sum(&moved, |m| m.read), sum(&moved, |m| m.written)), (count as u64, count as u64));
        let (again, _) = passed(&source, &store, UndeletedState::Live).await?;
        assert_eq!((sum(&again, |m| m.unchanged), sum(&again, |m| m.written)), (count as u64, 0));
        let (verified, differences) = verified(&source, &store, UndeletedState::Live).await?;
        ensure!(differences.is_empty(), "{:?}: {differences:#?}", pair[1].on);
        ensure!(verified.iter().map(|(_, kind)| kind.equal).sum::<u64>() == count as u64);
        ensure!(verified.iter().all(|(_, kind)| kind.source_hash == kind.stored_hash));
        hashes.push(verified.into_iter().map(|(_, kind)| kind.stored_hash).collect());
    }
    // The same hashes everywhere, however an engine treats numbers or the order of keys.
    ensure!(hashes.windows(2).all(|pair| pair[0] == pair[1]), "{hashes:?}");
    let last = worlds[worlds.len() - 1].store_of(crd_specs::KINDS).await?;
    for kind in crd_specs::KINDS {
        let rows: Vec<&Row> = wanted.values().filter(|(of, _)| *of == kind.kind()).map(|(_, row)| row).collect();
        for rows in rows.chunks(100) {
            let uids: Vec<&str> = rows.iter().map(|row| &*row.uid).collect();
            let stored = last.read_stored(kind.table(), &uids).await?;
            assert_eq!(stored.len(), rows.len());
            for (row, stored) in rows.iter().zip(&stored) {
                assert_eq!(differences(kind.table(), row, stored), [], "{}", row.uid);
                assert_eq!((stored.delete_time, stored.evict_time), (row.delete_time, row.evict_time));
                assert_eq!(stored.version(), row.version());
            }
        }
    }
    Ok(())
}

/// The database of the reference system, as its own script creates it; two tables are written as in its schema job.
struct Reference<'w> {
    world: &'w World,
}

impl Reference<'_> {
    fn table(kind: &Kind) -> &'static str {
        match kind.kind() {
            "PipelineRun" => "pipeline_run",
            "RayJob" => "ray_job",
            _ => kind.table().name.as_str(),
        }
    }

    async fn make(world: &World) -> Result<Reference<'_>> {
        for kind in crd_specs::KINDS {
            let table = Self::table(kind);
            let mut columns = String::new();
            for column in kind.table().indexed() {
                write!(columns, ", `{}` VARCHAR(255)", column.name)?;
            }
            let text = "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci";
            for sql in [
                format!(
                    "CREATE TABLE IF NOT EXISTS `{table}` (`uid` VARCHAR(255) NOT NULL, `group_ver` VARCHAR(255) NOT NULL, \
                     `namespace` VARCHAR(255) NOT NULL, `name` VARCHAR(255) NOT NULL, `res_version` BIGINT UNSIGNED NOT NULL, \
                     `create_time` DATETIME NOT NULL, `update_time` DATETIME, `delete_time` DATETIME, `proto` MEDIUMBLOB, `json` JSON\
                     {columns}, PRIMARY KEY (`uid`), KEY `{table}_namespace_name` (`namespace`, `name`), \
                     KEY `{table}_create_time` (`create_time`)) {text}"
                ),
                format!(
                    "CREATE TABLE IF NOT EXISTS `{table}_labels` (`id` BIGINT NOT NULL AUTO_INCREMENT, `obj_uid` VARCHAR(255) NOT NULL, \
                     `key` VARCHAR(255) NOT NULL, `value` VARCHAR(63), PRIMARY KEY (`id`), KEY `{table}_labels_uid` (`obj_uid`), \
                     KEY `{table}_labels_key_value` (`key`, `value`)) {text}"
                ),
                format!(
                    "CREATE TABLE IF NOT EXISTS `{table}_annotations` (`id` BIGINT NOT NULL AUTO_INCREMENT, `obj_uid` VARCHAR(255) NOT NULL, \
                     `key` VARCHAR(255) NOT NULL, `value` TEXT, PRIMARY KEY (`id`), KEY `{table}_annotations_uid` (`obj_uid`)) {text}"
                ),
            ] {
                world.sql(&sql).await?;
            }
        }
        Ok(Reference { world })
    }

    /// Writes an object as its ingester does, with a stale label and a duplicate one.
    async fn upsert(&self, object: &Json) -> Result<()> {
        self.world.sql(&Self::upserted(object)?).await.map(drop)
    }

    fn upserted(object: &Json) -> Result<String> {
        let (kind, row) = make_row(object);
        let table = Self::table(kind);
        let metadata = &object["metadata"];
        let text = |value: &Json| literal(value.as_str().unwrap_or_default());
        let created = text(&metadata["creationTimestamp"]).replace('T', " ").replace('Z', "");
        let proto = match &row.values[ingester_core::schema::base::PROTO] {
            ingester_core::value::Value::Bytes(bytes) => {
                let digits = bytes.iter().fold(String::new(), |mut digits, byte| {
                    let _ = write!(digits, "{byte:02x}");
                    digits
                });
                format!("x'{digits}'")
            }
            _ => "NULL".to_owned(),
        };
        let uid = text(&metadata["uid"]);
        let version = text(&metadata["resourceVersion"]);
        let json = literal(&object.to_string());
        Ok(format!(
            "INSERT INTO `{table}` (uid, group_ver, namespace, name, res_version, create_time, update_time, proto, json) VALUES \
             ({uid}, 'michelangelo.api/v2', {}, {}, {version}, {created}, '2026-04-01 10:00:00', {proto}, {json}) \
             ON DUPLICATE KEY UPDATE res_version = VALUES(res_version), update_time = VALUES(update_time), \
             proto = VALUES(proto), json = VALUES(json); \
             INSERT INTO `{table}_labels` (obj_uid, `key`, value) VALUES ({uid}, 'number', 'stale'), ({uid}, 'number', 'stale'), ({uid}, 'gone', 'x')",
            text(&metadata["namespace"]),
            text(&metadata["name"]),
        ))
    }

    /// Marks a row as deleted, as its ingester does: nothing else of the row changes.
    async fn delete(&self, object: &Json) -> Result<()> {
        self.world.sql(&Self::deleted(object)).await.map(drop)
    }

    fn deleted(object: &Json) -> String {
        let table = Self::table(make_row(object).0);
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
        format!("UPDATE `{table}` SET delete_time = '2026-05-01 11:12:13' WHERE uid = '{uid}'")
    }
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// A cluster: the uids of its objects.
#[derive(Default)]
struct Uids(Mutex<HashSet<String>>);

impl Cluster for Uids {
    fn has<'a>(&'a self, _: &'a Kind, object: &'a OtherObject) -> BoxFuture<'a, Result<bool, String>> {
        let is_there = self.0.lock().unwrap().contains(&*object.uid);
        async move { Ok(is_there) }.boxed()
    }
}

/// The fate of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Live,
    Deleted,
    Evicted,
}

async fn the_reference_system_moves_in_while_it_is_written_to_and_passes_are_killed(world: World) -> Result<()> {
    let samples = samples()?;
    let count = many(390);
    let reference = Reference::make(&world).await?;
    let cluster = Arc::new(Uids::default());
    let mut objects: Vec<(Json, Fate)> = Vec::new();
    let mut statements = Vec::new();
    for number in 0..count {
        let object = object(&samples, number, 10);
        statements.push(Reference::upserted(&object)?);
        let fate = match number / samples.len() % 10 {
            0 => Fate::Deleted,
            1 => Fate::Evicted,
            _ => Fate::Live,
        };
        match fate {
            Fate::Live => {
                cluster.0.lock().unwrap().insert(object["metadata"]["uid"].as_str().unwrap().to_owned());
            }
            Fate::Deleted => statements.push(Reference::deleted(&object)),
            Fate::Evicted => {}
        }
        objects.push((object, fate));
    }
    for statements in statements.chunks(100) {
        world.sql(&statements.join("; ")).await?;
    }
    let target = World::new(&format!("store::moving::target_{:?}", world.on), On::Sqlite).await?.context("SQLite")?;
    let store = Arc::new(target.store_of(crd_specs::KINDS).await?);
    let source = Arc::new(source(&world).await?);
    assert!(source.is_of_reference());

    // Ten passes are killed wherever they are, while objects change, are deleted and are evicted.
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..10 {
        let pass = tokio::spawn({
            let source = source.clone();
            let store = store.clone();
            let cluster = cluster.clone();
            async move { passed(&source, &store, UndeletedState::Asked(&*cluster)).await.map(drop) }
        });
        for _ in 0..6 {
            let (object, fate) = &mut objects[random.usize(..count)];
            let uid = object["metadata"]["uid"].as_str().unwrap().to_owned();
            if *fate == Fate::Deleted {
                continue;
            }
            let version: u64 = object["metadata"]["resourceVersion"].as_str().unwrap().parse()?;
            object["metadata"]["resourceVersion"] = json!((version + 1).to_string());
            object["metadata"]["labels"]["version"] = json!((version + 1).to_string());
            reference.upsert(object).await?;
            match random.u8(..3) {
                0 => {
                    reference.delete(object).await?;
                    cluster.0.lock().unwrap().remove(&uid);
                    *fate = Fate::Deleted;
                }
                1 => {
                    cluster.0.lock().unwrap().remove(&uid);
                    *fate = Fate::Evicted;
                }
                _ => {}
            }
        }
        tokio::time::timeout(Duration::from_millis(random.u64(1..40)), std::future::pending::<()>()).await.ok();
        pass.abort();
        let _ = pass.await;
    }

    // The writer is stopped: one last pass.
    let (last, problems) = passed(&source, &store, UndeletedState::Asked(&*cluster)).await?;
    ensure!(problems.is_empty(), "{problems:?}");
    assert_eq!(sum(&last, |moved| moved.read), count as u64);
    assert_eq!(sum(&last, |moved| moved.kept + moved.rejected + moved.proto_differs), 0, "{last:?}");
    let (verified, different) = verified(&source, &store, UndeletedState::Asked(&*cluster)).await?;
    ensure!(different.is_empty(), "{different:#?}");
    ensure!(verified.iter().all(|(_, kind)| kind.source_hash == kind.stored_hash && kind.mirrored == 0));

    // Compares the stored rows with the objects' fates, independently of the program's comparison.
    let mut counted = [0_u64; 3];
    for (object, fate) in &objects {
        let (kind, row) = make_row(object);
        let stored = store.read_stored(kind.table(), &[&row.uid]).await?;
        counted[*fate as usize] += 1;
        if *fate == Fate::Live {
            assert_eq!(stored, [], "{object}");
            continue;
        }
        let stored = stored.first().with_context(|| format!("{fate:?}: {object}"))?;
        let deleted = (*fate == Fate::Deleted).then_some(Micros(1_777_633_933_000_000));
        assert_eq!(stored.delete_time, deleted, "{fate:?} {object}");
        let eviction = if *fate == Fate::Evicted { Eviction::Confirmed } else { stored.eviction };
        assert_eq!(stored.eviction, eviction, "{object}");
        let wanted = Row { delete_time: deleted, evict_time: stored.evict_time, ..row };
        assert_eq!(differences(kind.table(), &wanted, stored), [], "{object}");
    }
    assert_eq!(sum(&last, |moved| moved.live), counted[Fate::Live as usize]);
    assert_eq!(sum(&last, |moved| moved.evicted), counted[Fate::Evicted as usize]);
    assert_eq!(sum(&last, |moved| moved.deleted), counted[Fate::Deleted as usize]);
    Ok(())
}

async fn rows_of_the_reference_system_are_what_a_person_says(world: World) -> Result<()> {
    let reference = Reference::make(&world).await?;
    reference.upsert(&model("a", 5)).await?;
    let source = source(&world).await?;
    let store = Store::in_memory(crd_specs::KINDS).await?;
    passed(&source, &store, UndeletedState::Live).await?;
    // The row is behind a mirror with any version and definition, even with exactly the version that the reference system has stored.
    let version = store.versions(kind("Model").table(), &["a"]).await?["a"];
    assert_eq!((version.res_version, version.ingest_version, version.deleted, version.evicted()), (0, 0, false, false));
    let report = store.write(kind("Model").table(), vec![RowChange::Row(row(&model("a", 5)))]).await?;
    assert_eq!(report.written, 1);
    let (again, _) = passed(&source, &store, UndeletedState::Live).await?;
    assert_eq!((sum(&again, |moved| moved.kept), sum(&again, |moved| moved.written)), (1, 0));

    let store = Store::in_memory(crd_specs::KINDS).await?;
    let (moved, _) = passed(&source, &store, UndeletedState::Evicted).await?;
    // Nothing in the object says that it may leave the cluster, and this is reported.
    assert_eq!((sum(&moved, |moved| moved.evicted), sum(&moved, |moved| moved.unmarked)), (1, 1));
    let stored = store.read_stored(kind("Model").table(), &["a"]).await?;
    assert_eq!(stored[0].eviction, Eviction::Confirmed);
    assert_eq!(stored[0].evict_time, Some(Micros(1_775_037_600_000_000)), "when the row was last written");
    // Its users changed it there, then deleted it: the same pass again brings both.
    reference.upsert(&model("a", 6)).await?;
    passed(&source, &store, UndeletedState::Evicted).await?;
    assert_eq!(store.versions(kind("Model").table(), &["a"]).await?["a"].res_version, 6);
    reference.delete(&model("a", 6)).await?;
    passed(&source, &store, UndeletedState::Evicted).await?;
    let stored = store.read_stored(kind("Model").table(), &["a"]).await?;
    assert_eq!(stored[0].delete_time, Some(Micros(1_777_633_933_000_000)));
    let (_, different) = verified(&source, &store, UndeletedState::Evicted).await?;
    assert!(different.is_empty(), "{different:?}");
    Ok(())
}

async fn what_cannot_be_moved_is_named_and_the_rest_is_moved(world: World) -> Result<()> {
    let reference = Reference::make(&world).await?;
    let long = "u".repeat(65);
    let mut capital = model("b", 5);
    capital["metadata"]["name"] = json!("Model-b");
    let mut untyped = model("d", 5);
    untyped.as_object_mut().unwrap().retain(|key, _| key != "apiVersion" && key != "kind");
    for object in [&model("a", 5), &model("b", 4), &model("c", 5)] {
        reference.upsert(object).await?;
    }
    for (uid, json) in [(&*long, model(&long, 5)), ("b2", capital), ("d", untyped)] {
        let name = json["metadata"]["name"].as_str().unwrap().to_owned();
        let json = literal(&json.to_string());
        world
            .sql(&format!(
                "INSERT INTO model (uid, group_ver, namespace, name, res_version, create_time, proto, json) VALUES \
                 ('{uid}', 'michelangelo.api/v2', 'ml', '{name}', 5, '2026-03-09 20:36:46', x'00', {json})"
            ))
            .await?;
    }
    world.sql("UPDATE model SET json = NULL, proto = x'ff' WHERE uid = 'c'").await?;
    // Only the bytes show what this object is.
    reference.upsert(&model("e", 5)).await?;
    world.sql("UPDATE model SET json = NULL WHERE uid = 'e'").await?;
    let store = Store::in_memory(crd_specs::KINDS).await?;
    let source = source(&world).await?;

    // First a dry run: everything is reported, and nothing is written.
    let tried = Pass { effect: Effect::Tried, ..pass(&source, &store, UndeletedState::Evicted) };
    let same = tried.same_names().await?;
    assert_eq!(same, [SameName { kind: "Model", names: vec!["ml/Model-b".to_owned(), "ml/model-b".to_owned()] }]);
    let mut said = Vec::new();
    let would = tried.run(|object, reason| said.push(format!("{object}: {reason}")), |_| ()).await?;
    assert!(store.read_stored(kind("Model").table(), &["a", "b", "d"]).await?.is_empty(), "nothing is written");
    assert!(store.rejects("michelangelo.api/v2", "Model", None).await?.is_empty(), "nothing is recorded");

    let (moved, problems) = passed(&source, &store, UndeletedState::Evicted).await?;
    assert_eq!((sum(&moved, |moved| moved.written), sum(&moved, |moved| moved.rejected)), (4, 3), "{problems:?}");
    assert_eq!((&would.kinds[0].1, &said), (&moved.kinds[0].1, &problems));
    let stored = store.read_stored(kind("Model").table(), &["e"]).await?;
    assert_eq!((sum(&moved, |moved| moved.from_proto), stored.len()), (1, 1));
    let (_, row) = make_row(&model("e", 5));
    let texts = (serde_json::from_str::<Json>(stored[0].json())?, model("e", 5));
    assert_eq!(texts.0["spec"], texts.1["spec"]);
    assert_eq!(stored[0].labels, row.labels);
    for says in ["65 characters", "Model-b", "its `json` is NULL"] {
        assert!(problems.iter().any(|problem| problem.contains(says)), "{says}: {problems:?}");
    }
    // An object from a client that did not know its type is stored with its type; its bytes were not those of an object.
    let stored = store.read_stored(kind("Model").table(), &["d"]).await?;
    assert!(stored[0].json().starts_with(r#"{"apiVersion":"michelangelo.api/v2","kind":"Model","#));
    assert_eq!(sum(&moved, |moved| moved.proto_differs), 1);
    // Nothing was written into the source.
    assert_eq!(world.count("model").await?, 7);
    Ok(())
}
