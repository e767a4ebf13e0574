//! Tests a unit whose first list has more objects than the database has memory for.

use super::*;
use ingester_config::Spool;
use std::path::PathBuf;
use uuid::Uuid;

/// The number of objects: several batches, also without a file.
const OBJECTS: u32 = 300;

/// The number of objects that a worker takes from the file at a time.
const BATCH: u32 = 2;

/// The uid of an object. In the order of the numbers, uids are not sorted.
fn uid_of(number: u32) -> String {
    Uuid::from_u128(u128::from(number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)).to_string()
}

fn name_of(number: u32) -> String {
    format!("model-{number:04}")
}

/// The object with the last uid, the one before it, and so on.
fn last(place: usize) -> u32 {
    let mut numbers: Vec<u32> = (0..OBJECTS).collect();
    numbers.sort_by_key(|number| uid_of(*number));
    numbers[numbers.len() - 1 - place]
}

/// A scene with the objects, whose database has no memory for tables.
fn scene(trouble: fn(&str) -> Trouble) -> Arc<Scene> {
    let scene = Scene::new(trouble);
    scene.state().pool = Some(0);
    for number in 0..OBJECTS {
        scene.put(&name_of(number), |object| object["metadata"]["uid"] = json!(uid_of(number)));
    }
    scene
}

fn slow(call: &str) -> Trouble {
    if call == "write" { Trouble::Slow(Duration::from_secs(10)) } else { Trouble::None }
}

fn begin(scene: &Arc<Scene>, spool: Spool) -> CancellationToken {
    let stop = CancellationToken::new();
    let mut config = Config::default();
    config.metadata_storage.deletion_delay = Duration::ZERO;
    config.ingester.resync_period = None;
    config.ingester.spool = spool;
    scene.play_with(config, &stop, &stop);
    stop
}

/// How often a row was written before one with a smaller uid.
fn descents(scene: &Scene) -> usize {
    scene.state().written.windows(2).filter(|pair| pair[0] > pair[1]).count()
}

fn live(scene: &Scene) -> usize {
    scene.state().rows.values().filter(|row| row.delete_time.is_none()).count()
}

fn is_live(scene: &Scene, number: u32) -> bool {
    scene.state().rows.get(uid_of(number).as_str()).is_some_and(|row| row.delete_time.is_none())
}

#[tokio::test(start_paused = true)]
async fn the_objects_of_a_large_fill_are_written_in_the_order_of_their_uids() {
    let large = scene(quiet);
    let _playing = begin(&large, Spool::default());
    sleep(SECOND).await;
    assert_eq!((descents(&large), live(&large)), (0, OBJECTS as usize));
    let small = scene(quiet);
    small.state().pool = Some(1 << 20);
    let embedded = scene(quiet);
    embedded.state().pool = None;
    let off = scene(quiet);
    for (scene, limit) in [(small, 1 << 20), (embedded, 1 << 20), (off, 0)] {
        let _playing = begin(&scene, Spool { limit, ..Spool::default() });
        sleep(SECOND).await;
        assert!(descents(&scene) > 0, "a batch is sorted, but not all of them");
        assert_eq!(live(&scene), OBJECTS as usize);
    }
}

#[tokio::test(start_paused = true)]
async fn objects_that_leave_the_cluster_do_not_wait_for_the_others() {
    let scene = scene(slow);
    for (place, change) in [
        json!({ "annotations": { "michelangelo/Deleting": "true" } }),
        json!({ "deletionTimestamp": "2026-01-01T00:00:00Z" }),
        json!({ "annotations": { "michelangelo/Immutable": "true" } }),
    ]
    .into_iter()
    .enumerate()
    {
        scene.put(&name_of(last(place)), |object| {
            let metadata = object["metadata"].as_object_mut().unwrap();
            metadata.extend(change.as_object().unwrap().clone());
        });
    }
    let _playing = begin(&scene, Spool::default());
    sleep(Duration::from_secs(15)).await;
    let written = scene.state().written.clone();
    assert_eq!(written.len(), 3 + BATCH as usize, "the first batch");
    assert!((0..3).all(|place| written.contains(&uid_of(last(place)).into())), "{written:?}");
    scene.state().trouble = quiet;
    sleep(Duration::from_secs(120)).await;
    assert_eq!(live(&scene), OBJECTS as usize - 2, "one is evicted, and its row stays live");
}

#[tokio::test(start_paused = true)]
async fn a_full_file_is_written_before_the_next_one_begins() {
    let scene = scene(quiet);
    // Each file takes fewer than 150 objects.
    let _playing = begin(&scene, Spool { limit: 20_000, ..Spool::default() });
    sleep(SECOND).await;
    assert!((2..6).contains(&descents(&scene)), "{}", descents(&scene));
    assert_eq!((live(&scene), scene.metric("ingester_spooled_objects")), (OBJECTS as usize, 0));
}

#[tokio::test(start_paused = true)]
async fn a_folder_that_cannot_be_written_costs_nothing_but_the_order() {
    let scene = scene(quiet);
    let _playing = begin(&scene, Spool { path: Some(PathBuf::from("/proc/no/such/folder")), ..Spool::default() });
    sleep(SECOND).await;
    assert!(descents(&scene) > 0);
    assert_eq!(live(&scene), OBJECTS as usize);
}

#[tokio::test(start_paused = true)]
async fn a_change_or_a_deletion_replaces_what_waits_in_the_file() {
    let scene = scene(slow);
    let _playing = begin(&scene, Spool::default());
    sleep(Duration::from_secs(2)).await;
    // The only worker writes its first batch.
    assert_eq!(scene.metric("ingester_spooled_objects"), OBJECTS - BATCH);
    let [changed, gone, removed] = [0, 1, 2].map(last);
    scene.put(&name_of(changed), |object| object["spec"] = json!({ "later": true }));
    scene.put(&name_of(gone), |object| {
        object["metadata"]["finalizers"] = json!([]);
        object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    });
    scene.put(&name_of(removed), |object| object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z"));
    sleep(Duration::from_secs(2)).await;
    assert_eq!(scene.metric("ingester_spooled_objects"), OBJECTS - BATCH - 3);
    scene.state().trouble = quiet;
    sleep(Duration::from_secs(120)).await;
    assert_eq!((live(&scene), is_live(&scene, gone), is_live(&scene, removed)), (OBJECTS as usize - 2, false, false));
    let row = scene.state().rows[uid_of(changed).as_str()].clone();
    let is_later = |value: &Value| matches!(value, Value::Text(text) if text.contains("later"));
    assert!(row.values.iter().any(is_later), "{row:?}");
    let written = scene.state().written.iter().filter(|uid| ***uid == *uid_of(changed)).count();
    assert_eq!(written, 1, "its first state is not written");
}

#[tokio::test(start_paused = true)]
async fn a_cluster_that_went_back_discards_the_file() {
    let scene = scene(slow);
    let _playing = begin(&scene, Spool::default());
    sleep(Duration::from_secs(2)).await;
    assert_eq!(scene.metric("ingester_spooled_objects"), OBJECTS - BATCH);
    // A backup from before the objects of the later half were created. The watch ends, and the next list notices.
    let half = OBJECTS / 2;
    {
        let mut state = scene.state();
        state.version = u64::from(half) + 1;
        state.objects.retain(|name, _| *name < name_of(half));
        state.trouble = quiet;
    }
    scene.events.all().retain(|(version, _, _)| *version <= u64::from(half) + 1);
    scene.end_watches();
    sleep(Duration::from_secs(120)).await;
    let rows = scene.state().rows.len();
    assert_eq!((live(&scene), rows < OBJECTS as usize), (half as usize, true), "{rows} rows");
    assert!((0..half).all(|number| is_live(&scene, number)));
}
