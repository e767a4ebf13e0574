//! Rules about rows of evicted objects, and the files to which they are exported before they are purged.

use crate::world::{Stores as _, World, kind, kinds, model, row};
use anyhow::{Context as _, Result, ensure};
use ingester_config::{Config, Environment, Live};
use ingester_core::KindNames;
use ingester_core::row::{Row, Standing};
use ingester_core::schema::base;
use ingester_core::value::{Micros, Value};
use ingester_mirror::metrics::Metrics;
use ingester_mirror::replicas::Assignment;
use ingester_mirror::retention::{RetentionTask, forecast};
use ingester_mirror::suspend::Suspension;
use ingester_sql::query::Reads;
use ingester_store::{PendingReason, PurgeTerms, RowChange, Store, StoredRow};
use ingester_tests::on_every_database;
use ingester_transfer::import::{Destination, Import, ObjectStates, Summary, expand};
use serde_json::json;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

on_every_database! {
    rows_are_exported_before_a_rule_purges_them_and_imported_as_they_were
    a_row_that_stands_elsewhere_since_it_was_judged_stays
    a_value_that_the_database_cannot_have_proves_nothing
}

const LONG_AGO: Micros = Micros(1_700_000_000_123_456);
const UIDS: [&str; 7] = ["a", "b", "both", "deleted", "evicting", "last", "young"];

/// A row whose object was created on this day.
fn evicted(uid: &str, day: u32, evict_time: Micros) -> Row {
    let mut object = model(uid, 7);
    object["metadata"]["creationTimestamp"] = format!("2026-03-{day:02}T20:36:46Z").into();
    object["spec"]["description"] = "é\u{2028}\"\\ \n".into();
    object["extra"] = json!({"n": [1, null]});
    Row { evict_time: Some(evict_time), evict_confirmed: true, ..row(&object) }
}

async fn filled(store: &Store) -> Result<()> {
    let rows = vec![
        evicted("a", 1, LONG_AGO),
        evicted("b", 2, LONG_AGO),
        Row { delete_time: Some(Micros(LONG_AGO.0 + 1)), ..evicted("both", 3, LONG_AGO) },
        evicted("last", 9, LONG_AGO),
        evicted("young", 4, Micros::now()),
        Row { evict_confirmed: false, ..evicted("evicting", 5, LONG_AGO) },
        Row {
            delete_time: Some(LONG_AGO),
            evict_time: None,
            evict_confirmed: false,
            ..evicted("deleted", 6, LONG_AGO)
        },
    ];
    let written = store.write(kind("Model").table(), rows.into_iter().map(RowChange::Row).collect()).await?;
    ensure!(written.written == UIDS.len(), "{written:?}");
    Ok(())
}

/// The present rows, without the time of their last write, which an import changes.
async fn read_stored(store: &Store) -> Result<Vec<StoredRow>> {
    let mut rows = store.read_stored(kind("Model").table(), &UIDS).await?;
    rows.iter_mut().for_each(|row| row.values[base::UPDATE_TIME] = Value::Null);
    Ok(rows)
}

fn uids(rows: &[StoredRow]) -> Vec<&str> {
    rows.iter().map(|row| &*row.uid).collect()
}

fn config(folder: &Path) -> Result<Config> {
    let rule = "{name: old, kinds: [Model], state: evicted, when: {fieldSelector: algorithm=algorithm-7}, namespaces: [ml], after: 30d, \
                keepLast: {count: 1, by: [algorithm]}, enforce: true, export: {path: FOLDER}}";
    let text = format!("retention: {{rules: [{}]}}", rule.replace("FOLDER", &folder.display().to_string()));
    let mut config = Config::parse(&text, &Environment::default(), &KindNames::of(crd_specs::KINDS))?;
    // The second step follows with the next round.
    config.retention.grace = Duration::ZERO;
    Ok(config)
}

/// Purges by the rules of a configuration until this many rows are left.
async fn purged(store: &Arc<Store>, config: &Config, left: usize) -> Result<()> {
    let metrics = Metrics::new()?;
    let stop = CancellationToken::new();
    let kinds = vec![*kind("Model")];
    let task = RetentionTask {
        store: store.clone(),
        suspension: Suspension::new(&kinds, config, &metrics),
        kinds,
        live: Live::fixed(config.clone()),
        assignment: Assignment::alone(),
        metrics,
    };
    let running = tokio::spawn(task.run(stop.clone()));
    let looking = async {
        while read_stored(store).await?.len() > left {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(Duration::from_secs(60), looking).await.context("rows are not purged")??;
    stop.cancel();
    Ok(running.await?)
}

async fn imported(store: &Store, path: &Path) -> Result<Summary> {
    let import = Import {
        destination: Destination::Store(store),
        kinds: kinds(),
        inputs: expand(&[path.to_owned()]),
        namespace: None,
        states: ObjectStates::Annotated,
        generate_names: false,
        ignore_unknown: false,
        spool: None,
        progress: Arc::default(),
        stop: CancellationToken::new(),
    };
    let mut problems = Vec::new();
    let summary = import.run(|problem| problems.push(problem.to_string())).await?;
    ensure!(problems.is_empty(), "{problems:?}");
    Ok(summary)
}

async fn rows_are_exported_before_a_rule_purges_them_and_imported_as_they_were(world: World) -> Result<()> {
    let store = Arc::new(world.store_of(kinds()).await?);
    filled(&store).await?;
    let before = read_stored(&store).await?;
    let folder = tempfile::tempdir()?;
    let config = config(folder.path())?;
    let rule = &config.retention.rules[0];
    let foreseen = forecast(&store, &config.retention, kind("Model"), rule, None).await?;
    ensure!((foreseen.going, foreseen.held, foreseen.staying) == (3, 0, 2), "{foreseen:?}");
    purged(&store, &config, 4).await?;
    ensure!(uids(&read_stored(&store).await?) == ["deleted", "evicting", "last", "young"]);

    let files: Vec<_> = folder.path().read_dir()?.collect::<Result<_, _>>()?;
    let [file] = &files[..] else { anyhow::bail!("{files:?}") };
    // A folder and a file, and both once more: existing rows do not change.
    let summary = imported(&store, folder.path()).await?;
    ensure!(summary.count_stored() == 3, "{summary:?}");
    ensure!(read_stored(&store).await? == before, "{:#?}", read_stored(&store).await?);
    let again = imported(&store, &file.path()).await?;
    let written: u64 = again.kinds.iter().map(|(_, counts)| counts.written).sum();
    ensure!((again.count_stored(), written) == (3, 0), "{again:?}");

    // The same rows give the same file, from which the same rows are read.
    purged(&store, &config, 4).await?;
    ensure!(folder.path().read_dir()?.count() == 1, "the name follows from the content");
    imported(&store, folder.path()).await?;
    ensure!(read_stored(&store).await? == before);
    Ok(())
}

async fn a_row_that_stands_elsewhere_since_it_was_judged_stays(world: World) -> Result<()> {
    let store = world.store().await?;
    filled(&store).await?;
    let stand =
        |row: &StoredRow| Standing { version: row.version(), delete_time: row.delete_time, evict_time: row.evict_time };
    let rows = read_stored(&store).await?;
    let judged: Vec<(&str, Standing)> = rows.iter().map(|row| (&*row.uid, stand(row))).collect();
    // Another version; another time of the same version; another eviction; no row.
    store.write(kind("Model").table(), vec![RowChange::Row(row(&model("evicting", 8)))]).await?;
    world.sql("UPDATE model SET delete_time = '2026-01-01 00:00:00.000000' WHERE uid = 'both'").await?;
    world.sql("UPDATE model SET evict_confirmed = NULL WHERE uid = 'a'").await?;
    world.sql("DELETE FROM model WHERE uid = 'b'").await?;
    let folder = tempfile::tempdir()?;
    let exported = store.export(kind("Model"), folder.path(), &judged, &HashSet::new()).await?;
    ensure!(exported == ["deleted", "last", "young"].map(Box::from), "{exported:?}");
    let premise = store.premise(kind("Model"), Reads::default()).await?;
    let terms = PurgeTerms { premise: &premise, marked: None };
    ensure!(store.purge_judged(kind("Model"), &judged, terms).await? == 3);
    ensure!(uids(&read_stored(&store).await?) == ["a", "both", "evicting"]);
    ensure!(store.purge_judged(kind("Model"), &judged, terms).await? == 0);
    // A file that could not be written does not exist at all.
    let nothing = store.export(kind("Model"), &folder.path().join("none"), &[], &HashSet::new()).await?;
    ensure!(nothing.is_empty());
    let rest = read_stored(&store).await?;
    let rest: Vec<(&str, Standing)> = rest.iter().map(|row| (&*row.uid, stand(row))).collect();
    let refused = store.export(kind("Model"), &folder.path().join("none"), &rest, &HashSet::new()).await;
    let error = refused.err().context("there is no such folder")?.to_string();
    ensure!(error.contains("/none: No such file") && error.ends_with("mount the volume that has it"), "{error}");
    Ok(())
}

async fn a_value_that_the_database_cannot_have_proves_nothing(world: World) -> Result<()> {
    let store = world.store_of(kinds()).await?;
    let kind = kind("Model");
    let place = kind.table().columns.iter().position(|column| column.name.as_str() == "algorithm");
    let mut reads = Reads::default();
    reads.add_place(place.context("a column of texts")?);
    let mut object = model("a", 7);
    object["spec"]["algorithm"] = "with\0NUL".into();
    store.write(kind.table(), vec![RowChange::Row(row(&object)), RowChange::Row(row(&model("b", 7)))]).await?;
    let stored = store.read_stored(kind.table(), &["a", "b"]).await?;
    let premise = store.premise(kind, reads).await?;
    let proved = premise.prove(kind, &stored[0]);
    match store.dialect().has_nul() {
        true => ensure!(proved.is_ok(), "{proved:?}"),
        false => {
            ensure!(
                matches!(&proved, Err(PendingReason::Unfit(unfit)) if unfit.column.as_str() == "algorithm"),
                "{proved:?}"
            )
        }
    }
    ensure!(premise.prove(kind, &stored[1]).is_ok());
    // A rule that does not read the column judges the row.
    ensure!(store.premise(kind, Reads::default()).await?.prove(kind, &stored[0]).is_ok());
    Ok(())
}
