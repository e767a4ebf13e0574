//! Which version of an object is kept.

use crate::world::{On, Stores as _, World, change, kind, model, row};
use anyhow::Result;
use ingester_core::value::Micros;
use ingester_store::guard::{Eviction, Verdict, Version, verdict};
use ingester_store::{Report, RowChange};
use ingester_tests::{on_every_database, on_galera};
use serde_json::json;

on_every_database! {
    a_stale_write_changes_nothing
    the_same_version_is_not_written_again
    a_tombstone_is_not_revived_by_a_late_write
    a_tombstone_with_a_last_state_is_stored_even_without_a_row
    an_evicted_row_stays_live_when_its_object_is_deleted
    a_higher_definition_writes_over_a_lower_one_at_the_same_version_and_never_the_other_way_round
    objects_without_a_version_replace_only_each_other
    versions_up_to_the_largest_compare_as_numbers
    the_guard_keeps_the_right_row_of_every_pair
    a_replacement_overrules_only_the_row_that_its_writer_saw
    a_row_that_stays_a_tombstone_keeps_its_time
    a_unique_key_added_by_hand_rejects_only_the_duplicate
    uids_that_differ_in_trailing_blanks_block_nothing
}

on_galera! {
    the_guard_keeps_the_right_row_of_every_pair
}

async fn a_stale_write_changes_nothing(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    store.write(table, vec![change(&model("a", 9))]).await?;
    let before = (world.sql("SELECT * FROM model").await?, world.sql("SELECT * FROM model_labels ORDER BY 2").await?);
    // 9 is greater than 10 as text, but less as a number; 8 is less than 9 either way.
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
    let gone = |version| RowChange::Tombstone { uid: "a".into(), res_version: version, delete_time: Micros::now() };
    store.write(table, vec![change(&model("a", 5))]).await?;
    // A sweep that read the cluster before version 5 existed must not delete the row.
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
    // Only a later version proves that the object still exists.
    store.write(table, vec![change(&model("a", 9))]).await?;
    assert_eq!(world.count("model WHERE delete_time IS NULL AND algorithm = 'algorithm-9'").await?, 1);
    Ok(())
}

async fn a_tombstone_with_a_last_state_is_stored_even_without_a_row(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    let mut last = row(&model("a", 5));
    last.delete_time = Some(Micros::now());
    store.write(table, vec![RowChange::Row(last)]).await?;
    assert_eq!(world.count("model WHERE delete_time IS NOT NULL").await?, 1);
    assert_eq!(world.count("model_labels").await?, 3);
    // A tombstone with only a uid leaves no trace.
    let gone = RowChange::Tombstone { uid: "b".into(), res_version: 9, delete_time: Micros::now() };
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
    assert_eq!(store.write(table, vec![RowChange::Row(evicted)]).await?.written, 1, "at the same version");
    let mut deleted = row(&model("a", 6));
    deleted.delete_time = Some(Micros::now());
    let stale = Report { stale: vec!["a".into()], ..Report::default() };
    assert_eq!(store.write(table, vec![RowChange::Row(deleted.clone())]).await?, stale, "the cluster has to tell");
    assert_eq!(world.count("model WHERE delete_time IS NULL AND evict_time IS NOT NULL AND res_version = 5").await?, 1);
    // The object exists after all, and is to be deleted.
    let seen = Version { eviction: Eviction::Intended, ..row(&model("a", 5)).version() };
    let replacement = RowChange::Replacement { row: deleted, seen };
    assert_eq!(store.write(table, vec![replacement]).await?.written, 1);
    assert_eq!(world.count("model WHERE delete_time IS NOT NULL AND evict_time IS NULL AND res_version = 6").await?, 1);
    Ok(())
}

async fn a_higher_definition_writes_over_a_lower_one_at_the_same_version_and_never_the_other_way_round(
    world: World,
) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    let write = async |ingest_version, algorithm: &str, version| {
        let mut object = model("a", version);
        object["spec"]["algorithm"] = json!(algorithm);
        let mut row = row(&object);
        row.ingest_version = ingest_version;
        store.write(table, vec![RowChange::Row(row)]).await
    };
    let stored = async || world.sql("SELECT algorithm, res_version, ingest_version FROM model").await;
    let cells = |cells: [&str; 3]| vec![cells.map(|cell| Some(cell.to_owned())).to_vec()];
    assert_eq!(write(1, "old", 11).await?.written, 1);
    assert_eq!(write(2, "new", 11).await?.written, 1);
    assert_eq!(stored().await?, cells(["new", "11", "2"]));
    assert_eq!(write(1, "old", 11).await?.unchanged, 1);
    assert_eq!(stored().await?, cells(["new", "11", "2"]));
    assert_eq!(write(1, "old", 12).await?.written, 1, "a later version is news whoever brings it");
    assert_eq!(stored().await?, cells(["old", "12", "1"]));
    // A deletion by the old release counts, and the columns stay those of the new release.
    assert_eq!(write(2, "new", 12).await?.written, 1);
    let mut deleted = row(&model("a", 12));
    (deleted.ingest_version, deleted.delete_time) = (1, Some(Micros::now()));
    assert_eq!(store.write(table, vec![RowChange::Row(deleted)]).await?.written, 1);
    assert_eq!(stored().await?, cells(["new", "12", "2"]));
    assert_eq!(world.count("model WHERE delete_time IS NOT NULL").await?, 1);
    Ok(())
}

async fn objects_without_a_version_replace_only_each_other(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    let labelled = |algorithm: &str, label: &str| {
        let mut object = model("a", 0);
        object["metadata"]["resourceVersion"] = json!("");
        object["metadata"]["labels"]["own"] = json!(label);
        object["spec"]["algorithm"] = json!(algorithm);
        change(&object)
    };
    let unversioned = |algorithm| labelled(algorithm, "same");
    store.write(table, vec![unversioned("first")]).await?;
    store.write(table, vec![unversioned("second")]).await?;
    assert_eq!(world.cell("SELECT algorithm FROM model").await?.as_deref(), Some("second"));
    let unchanged = Report { unchanged: 1, ..Report::default() };
    assert_eq!(store.write(table, vec![unversioned("second")]).await?, unchanged);
    let report = store.write(table, vec![labelled("second", "other")]).await?;
    assert_eq!(
        (report.written, world.count("model_labels WHERE value = 'other'").await?),
        (1, 1),
        "only a label differs"
    );
    store.write(table, vec![change(&model("a", 3))]).await?;
    assert_eq!(store.write(table, vec![unversioned("third")]).await?.stale.len(), 1);
    assert_eq!(world.cell("SELECT algorithm FROM model").await?.as_deref(), Some("algorithm-3"));
    Ok(())
}

async fn versions_up_to_the_largest_compare_as_numbers(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    let largest = world.on.largest_version();
    for version in [largest - 1, largest] {
        assert_eq!(store.write(table, vec![change(&model("a", version))]).await?.written, 1);
    }
    assert_eq!(store.write(table, vec![change(&model("a", 99))]).await?.stale.len(), 1);
    assert_eq!(world.cell("SELECT res_version FROM model").await?, Some(largest.to_string()));
    Ok(())
}

/// Every combination of a stored and a new row.
async fn the_guard_keeps_the_right_row_of_every_pair(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Project").table();
    let mut versions = Vec::new();
    for res_version in [0, 1, 2] {
        for deleted in [false, true] {
            for eviction in [Eviction::None, Eviction::Intended, Eviction::Confirmed, Eviction::Unrecorded] {
                versions.extend([1, 2].map(|ingest_version| Version {
                    res_version,
                    ingest_version,
                    deleted,
                    eviction,
                }));
            }
        }
    }
    let mut expected = Vec::new();
    let mut unrecorded = Vec::new();
    // One batch has the stored row of each pair, another the new one. Each pair is one object.
    let mut batches = [Vec::new(), Vec::new()];
    for stored in &versions {
        // A stored row is both if it was evicted and then a user deleted it in SQL. The mirror writes no such row: a tombstone
        // never replaces an evicted row.
        for new in versions.iter().filter(|new| !(new.deleted && new.evicted() || new.eviction == Eviction::Unrecorded))
        {
            let uid = format!("u{:04}", expected.len());
            for (batch, (version, tier)) in batches.iter_mut().zip([(stored, 1), (new, 2)]) {
                let mut row = row(&json!({
                    "apiVersion": "michelangelo.api/v2", "kind": "Project",
                    "metadata": { "name": "p", "uid": uid, "resourceVersion": version.res_version.to_string(),
                                  "labels": { "tier": tier.to_string() } },
                    "spec": { "tier": tier },
                }));
                row.ingest_version = version.ingest_version;
                row.delete_time = version.deleted.then(Micros::now);
                row.evict_time = version.evicted().then(Micros::now);
                row.evict_confirmed = version.eviction.is_only_copy();
                batch.push(RowChange::Row(row));
            }
            let verdict = verdict(*stored, *new);
            let winner = match verdict {
                Verdict::Write => (*new, 2),
                Verdict::Mark => (Version { deleted: true, ..*stored }, 1),
                Verdict::Confirm => (Version { eviction: Eviction::Confirmed, ..*stored }, 1),
                Verdict::Unchanged | Verdict::Stale => (*stored, 1),
            };
            if stored.eviction == Eviction::Unrecorded {
                unrecorded.push(format!("'{uid}'"));
            }
            expected.push((uid, winner, verdict));
        }
    }
    let counted = |verdict| expected.iter().filter(|(.., of)| *of == verdict).count();
    let [first, second] = batches;
    assert_eq!(store.write(table, first).await?.written, expected.len());
    // As a release that does not know the column writes them.
    let uids = unrecorded.join(", ");
    world.sql(&format!("UPDATE project SET evict_confirmed = NULL WHERE uid IN ({uids})")).await?;
    let report = store.write(table, second).await?;
    let counts = (report.written, report.unchanged, report.stale.len());
    assert!(counted(Verdict::Mark) > 0 && counted(Verdict::Confirm) > 0);
    let written = counted(Verdict::Write) + counted(Verdict::Mark) + counted(Verdict::Confirm);
    assert_eq!(counts, (written, counted(Verdict::Unchanged), counted(Verdict::Stale)));
    let rows = world
        .sql("SELECT uid, tier, res_version, ingest_version, delete_time IS NOT NULL, evict_time IS NOT NULL, CASE WHEN evict_confirmed IS NULL THEN 2 WHEN evict_confirmed THEN 1 ELSE 0 END, value FROM project JOIN project_labels ON obj_uid = uid ORDER BY uid")
        .await?;
    assert_eq!(rows.len(), expected.len());
    for (row, (uid, (version, tier), _)) in rows.iter().zip(expected) {
        let cells: Vec<&str> = row.iter().flatten().map(String::as_str).collect();
        let flags = [version.deleted, version.evicted()].map(|flag| u8::from(flag).to_string());
        let confirmed = version.eviction.confirmed().map_or("2".to_owned(), |flag| u8::from(flag).to_string());
        let tier = tier.to_string();
        let numbers = [version.res_version, version.ingest_version.into()].map(|number| number.to_string());
        assert_eq!(cells, [uid.as_str(), &tier, &numbers[0], &numbers[1], &flags[0], &flags[1], &confirmed, &tier]);
    }
    Ok(())
}

async fn a_replacement_overrules_only_the_row_that_its_writer_saw(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    let mut evicted = row(&model("a", 5));
    evicted.evict_time = Some(Micros::now());
    store.write(table, vec![RowChange::Row(evicted), change(&model("b", 5))]).await?;
    let stored = store.versions(table, &["a", "b", "c"]).await?;
    assert_eq!(stored.len(), 2);
    let seen = Version { res_version: 5, ingest_version: 1, deleted: false, eviction: Eviction::None };
    assert_eq!(stored["b"], seen);
    // Both writers saw a live row of version 5. The row of "a" was evicted meanwhile.
    let replace = |uid: &str| RowChange::Replacement { row: row(&model(uid, 3)), seen };
    let report = store.write(table, vec![replace("a"), replace("b"), replace("c")]).await?;
    assert_eq!(report, Report { written: 2, stale: vec!["a".into()], ..Report::default() });
    assert_eq!(world.count("model WHERE uid = 'a' AND res_version = 5 AND evict_time IS NOT NULL").await?, 1);
    assert_eq!(world.count("model WHERE uid IN ('b', 'c') AND algorithm = 'algorithm-3'").await?, 2);
    assert_eq!(world.count("model_labels WHERE obj_uid = 'b' AND `key` IN ('only-3', 'only-5')").await?, 1);
    Ok(())
}

async fn a_row_that_stays_a_tombstone_keeps_its_time(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    for (version, delete_time) in [(1, None), (2, Some(Micros(1_000_000))), (3, Some(Micros(2_000_000)))] {
        let mut row = row(&model("a", version));
        row.delete_time = delete_time;
        assert_eq!(store.write(table, vec![RowChange::Row(row)]).await?.written, 1);
        let stored = store.read_stored(table, &["a"]).await?;
        assert_eq!(stored[0].delete_time, delete_time.map(|_| Micros(1_000_000)), "version {version}");
    }
    store.write(table, vec![change(&model("a", 4))]).await?;
    assert_eq!(store.read_stored(table, &["a"]).await?[0].delete_time, None);
    Ok(())
}

async fn uids_that_differ_in_trailing_blanks_block_nothing(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    store.write(table, vec![change(&model("a", 1))]).await?;
    let mut blank = model("a ", 2);
    blank["metadata"]["name"] = json!("model-blank");
    let report = store.write(table, vec![change(&blank), change(&model("b", 1))]).await?;
    // MariaDB and MySQL consider both uids equal; the stored object keeps its row.
    let one = matches!(world.on, On::MariaDb | On::MySql);
    assert_eq!((report.written, report.rejected.len()), if one { (1, 1) } else { (2, 0) }, "{report:?}");
    assert_eq!(world.cell("SELECT res_version FROM model WHERE name = 'model-a'").await?.as_deref(), Some("1"));
    Ok(())
}

async fn a_unique_key_added_by_hand_rejects_only_the_duplicate(world: World) -> Result<()> {
    let store = world.store().await?;
    let table = kind("Model").table();
    world.sql("CREATE UNIQUE INDEX by_hand ON model (algorithm)").await?;
    let models: Vec<_> = ["a", "b", "c", "d"].map(|uid| model(uid, 1)).into();
    let changes = models.iter().enumerate().map(|(place, model)| {
        let mut model = model.clone();
        // The last one has the same value as the first.
        model["spec"]["algorithm"] = json!(format!("algorithm-{}", place % 3));
        change(&model)
    });
    let report = store.write(table, changes.collect()).await?;
    assert_eq!((report.written, report.rejected.len()), (3, 1), "{report:?}");
    assert_eq!(&*report.rejected[0].uid, "d");
    assert_eq!(world.count("model").await?, 3);
    Ok(())
}
