//! Evictions, from the intention to the confirmation, and objects that come back afterwards.

use super::*;

#[tokio::test(start_paused = true)]
async fn an_evicted_row_gives_way_to_a_deletion_that_was_asked_for() {
    let scene = Scene::new(quiet);
    scene.put("a", |object| object["metadata"]["annotations"] = json!({ "michelangelo/Immutable": "true" }));
    scene.store_row("a", None);
    // Another ingester has written it, and was killed before it removed our finalizer.
    if let Some(row) = scene.state().rows.get_mut("uid-a") {
        row.evict_time = Some(Micros(1));
        row.eviction = Eviction::Intended;
    }
    scene.put("a", |object| {
        object["metadata"]["annotations"]["michelangelo/Deleting"] = json!("true");
        object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    });
    let last = scene.state().version;
    let _playing = scene.play(Duration::ZERO);
    sleep(60 * SECOND).await;
    assert!(!scene.state().objects.contains_key("a"), "nothing holds it any more");
    let row = scene.row("a").unwrap();
    assert_eq!((row.evict_time, row.delete_time.is_some(), row.res_version), (None, true, last));
}

const IMMUTABLE: fn(&mut Json) =
    |object| object["metadata"]["annotations"] = json!({ "michelangelo/Immutable": "true" });

/// An object with an evicted row of an earlier process. The row's state is later than the object's state in the cluster.
fn evicted_at_a_later_version(scene: &Scene, eviction: Eviction) -> StoredRow {
    scene.put("a", |_| {});
    let backup = scene.state().objects.clone();
    scene.put("a", |object| {
        IMMUTABLE(object);
        object["status"] = json!({ "result": 42 });
    });
    scene.store_row("a", None);
    let mut state = scene.state();
    let row = state.rows.get_mut("uid-a").unwrap();
    (row.evict_time, row.eviction) = (Some(Micros(1)), eviction);
    let row = row.clone();
    state.objects = backup;
    row
}

#[tokio::test(start_paused = true)]
async fn an_evicted_object_that_is_there_again_changes_nothing_until_a_person_decides() {
    for eviction in [Eviction::Confirmed, Eviction::Intended, Eviction::Unrecorded] {
        let scene = Scene::new(quiet);
        let row = evicted_at_a_later_version(&scene, eviction);
        let _playing = scene.play(Duration::ZERO);
        sleep(60 * SECOND).await;
        assert_eq!(scene.row("a").as_ref(), Some(&row), "{eviction:?}");
        assert_eq!(scene.metric("ingester_ghosts"), 1, "{eviction:?}");
        assert!(scene.calls("patch").is_empty() && scene.calls("delete").is_empty(), "{eviction:?}");
        // A user touches it, and deletes it.
        if eviction != Eviction::Intended {
            scene.put("a", |object| object["metadata"]["labels"] = json!({ "touched": "yes" }));
            sleep(60 * SECOND).await;
        }
        scene.put("a", |object| {
            object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            object["metadata"]["finalizers"] = json!([]);
        });
        sleep(700 * SECOND).await;
        let after = scene.row("a").unwrap();
        let same = (after.res_version, after.delete_time, after.json()) == (row.res_version, None, row.json());
        assert!(same && after.evict_time.is_some(), "{eviction:?}: {after:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_evicted_object_that_is_there_again_as_it_was_is_evicted_again() {
    let scene = Scene::new(quiet);
    scene.put("a", IMMUTABLE);
    scene.store_row("a", None);
    let before = {
        let mut state = scene.state();
        let row = state.rows.get_mut("uid-a").unwrap();
        (row.evict_time, row.eviction) = (Some(Micros(1)), Eviction::Confirmed);
        row.clone()
    };
    // A restore with a bumped revision, and a touch: it appears later than the row.
    scene.put("a", |_| {});
    let _playing = scene.play(Duration::ZERO);
    sleep(60 * SECOND).await;
    assert!(!scene.state().objects.contains_key("a"));
    assert_eq!(scene.row("a"), Some(before));
}

#[tokio::test(start_paused = true)]
async fn an_evicted_object_that_is_there_again_and_held_by_others_is_deleted_once() {
    let scene = Scene::new(quiet);
    scene.put("a", |object| {
        IMMUTABLE(object);
        object["metadata"]["finalizers"] = json!(["other"]);
    });
    scene.store_row("a", None);
    {
        let mut state = scene.state();
        let row = state.rows.get_mut("uid-a").unwrap();
        (row.evict_time, row.eviction) = (Some(Micros(1)), Eviction::Confirmed);
    }
    let _playing = scene.play(Duration::ZERO);
    // Some resyncs.
    sleep(3000 * SECOND).await;
    assert!(scene.state().objects["a"]["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(scene.calls("delete a").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_eviction_is_confirmed_once_the_object_is_gone() {
    let scene = Scene::new(quiet);
    scene.put("a", IMMUTABLE);
    let _playing = scene.play(Duration::ZERO);
    sleep(10 * SECOND).await;
    assert!(!scene.state().objects.contains_key("a"));
    let row = scene.row("a").unwrap();
    assert_eq!((row.eviction, row.delete_time), (Eviction::Confirmed, None));
    let writes = scene.calls("write").len();
    sleep(700 * SECOND).await;
    assert_eq!(scene.calls("write").len(), writes, "the resync has nothing to add");
}

#[tokio::test(start_paused = true)]
async fn an_eviction_whose_deletion_is_refused_stays_intended_and_is_finished() {
    let scene = Scene::new(|call| if call == "delete a" { Trouble::Status(500) } else { Trouble::None });
    scene.put("a", |object| {
        IMMUTABLE(object);
        object["metadata"]["finalizers"] = json!([]);
    });
    let _playing = scene.play(Duration::ZERO);
    sleep(100 * SECOND).await;
    assert!(scene.calls("delete a").len() > 1);
    let row = scene.row("a").unwrap();
    assert_eq!(row.eviction, Eviction::Intended, "users cannot write to it");
    scene.state().trouble = quiet;
    sleep(100 * SECOND).await;
    assert_eq!(scene.row("a").unwrap().eviction, Eviction::Confirmed);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_left_before_its_row_said_so_is_confirmed_at_the_next_start() {
    for eviction in [Eviction::Intended, Eviction::Unrecorded] {
        let scene = Scene::new(quiet);
        scene.put("a", IMMUTABLE);
        scene.store_row("a", None);
        if let Some(row) = scene.state().rows.get_mut("uid-a") {
            (row.evict_time, row.eviction) = (Some(Micros(1)), eviction);
        }
        // The process was killed between its DELETE and the row's update.
        scene.state().objects.clear();
        let _playing = scene.play(Duration::ZERO);
        sleep(10 * SECOND).await;
        let row = scene.row("a").unwrap();
        assert_eq!((row.eviction, row.delete_time), (Eviction::Confirmed, None), "{eviction:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_state_of_an_evicted_object_that_others_held_is_kept() {
    let scene = Scene::new(quiet);
    scene.put("a", |object| {
        IMMUTABLE(object);
        object["metadata"]["finalizers"] = json!(["example.com/other"]);
    });
    let _playing = scene.play(Duration::ZERO);
    sleep(10 * SECOND).await;
    assert_eq!(scene.row("a").unwrap().eviction, Eviction::Intended, "it is terminating");
    // The last change comes with the end of the object.
    scene.put("a", |object| {
        object["status"] = json!({ "result": 42 });
        object["metadata"]["finalizers"] = json!([]);
    });
    sleep(10 * SECOND).await;
    let row = scene.row("a").unwrap();
    assert_eq!((row.eviction, row.delete_time), (Eviction::Confirmed, None));
    assert!(row.json().contains(r#""result":42"#), "{}", row.json());
}

/// A DELETE that is answered with the object confirms nothing, whatever follows: another finalizer holds it.
#[tokio::test(start_paused = true)]
async fn a_deletion_that_leaves_the_object_there_confirms_nothing() {
    let scene = Scene::new(|call| if call == "watch" { Trouble::Silence } else { Trouble::None });
    scene.put("a", |object| {
        IMMUTABLE(object);
        object["metadata"]["finalizers"] = json!(["example.com/other"]);
    });
    let _playing = scene.play(Duration::ZERO);
    while scene.calls("delete a").is_empty() {
        sleep(SECOND).await;
    }
    sleep(SECOND).await;
    assert!(scene.state().objects.contains_key("a"));
    assert_eq!(scene.row("a").unwrap().eviction, Eviction::Intended);
}

/// Another replica finishes the eviction while this one reads the row back, and a user changes the row at once.
#[tokio::test(start_paused = true)]
async fn a_row_that_is_confirmed_when_it_is_read_back_is_not_compared() {
    let scene = Scene::new(|call| if call == "stored" { Trouble::Slow(20 * SECOND) } else { Trouble::None });
    scene.put("a", IMMUTABLE);
    let _playing = scene.play(Duration::ZERO);
    while scene.calls("stored").is_empty() {
        sleep(Duration::from_millis(10)).await;
    }
    {
        let mut state = scene.state();
        let row = state.rows.get_mut("uid-a").unwrap();
        row.eviction = Eviction::Confirmed;
        row.labels = [("by".into(), "a user".into())].into();
    }
    sleep(120 * SECOND).await;
    assert_eq!(scene.metric("ingester_evictions_failed_total"), 0);
    assert_eq!(scene.row("a").unwrap().labels.len(), 1, "the user's change stays");
}

/// A person decides about the object while the mirror reads its row: the object stays, and this does not count as a lost eviction.
#[tokio::test(start_paused = true)]
async fn an_object_that_a_person_has_decided_for_is_mirrored_again() {
    let scene = Scene::new(|call| if call == "stored" { Trouble::Slow(5 * SECOND) } else { Trouble::None });
    let row = evicted_at_a_later_version(&scene, Eviction::Confirmed);
    // The row's version, as after a restore where the versions continue at an earlier one.
    scene.state().objects.get_mut("a").unwrap()["metadata"]["resourceVersion"] = json!(row.res_version.to_string());
    let _playing = scene.play(Duration::ZERO);
    while scene.calls("stored").is_empty() {
        sleep(Duration::from_millis(10)).await;
    }
    scene.store_row("a", None);
    sleep(60 * SECOND).await;
    assert!(scene.calls("delete").is_empty() && scene.is_live("a"));
    assert_eq!(scene.metric("ingester_ghosts"), 0);
    scene.moves.send_modify(|moves| *moves += 1);
    sleep(60 * SECOND).await;
    assert_eq!(scene.metric("ingester_evictions_lost_total"), 0);
    // It is mirrored like any other.
    scene.state().objects.remove("a");
    sleep(700 * SECOND).await;
    assert!(!scene.is_live("a"));
}

/// A configuration in which another ingester evicts.
fn evicted_by_another() -> Config {
    let mut config = Config::default();
    config.ingester.evictions = false;
    config
}

#[tokio::test(start_paused = true)]
async fn what_another_ingester_evicts_stays_until_it_is_gone_and_is_evicted_then() {
    let scene = Scene::new(quiet);
    let stop = CancellationToken::new();
    scene.put("a", IMMUTABLE);
    scene.put("b", |_| {});
    scene.play_with(evicted_by_another(), &stop, &stop);
    let _playing = stop.clone().drop_guard();
    sleep(60 * SECOND).await;
    assert!(scene.is_live("a") && scene.row("a").unwrap().evict_time.is_none() && scene.calls("delete").is_empty());
    // The other one has evicted the first, and a user has deleted the second.
    for name in ["a", "b"] {
        scene.put(name, |object| {
            object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            object["metadata"]["finalizers"] = json!([]);
        });
    }
    sleep(60 * SECOND).await;
    let rows = ["a", "b"].map(|name| scene.row(name).unwrap());
    let states = rows.map(|row| (row.eviction, row.delete_time.is_some()));
    assert_eq!(states, [(Eviction::Confirmed, false), (Eviction::None, true)]);
}

#[tokio::test(start_paused = true)]
async fn what_another_ingester_evicted_while_this_one_was_down_is_evicted_by_its_row() {
    let scene = Scene::new(quiet);
    let stop = CancellationToken::new();
    scene.put("a", IMMUTABLE);
    scene.put("b", |_| {});
    scene.put("c", |_| {});
    for name in ["a", "b", "c"] {
        scene.store_row(name, None);
    }
    scene.state().objects.remove("a");
    scene.state().objects.remove("b");
    scene.play_with(evicted_by_another(), &stop, &stop);
    let _playing = stop.clone().drop_guard();
    sleep(60 * SECOND).await;
    let states =
        ["a", "b", "c"].map(|name| scene.row(name).unwrap()).map(|row| (row.eviction, row.delete_time.is_some()));
    assert_eq!(states, [(Eviction::Confirmed, false), (Eviction::None, true), (Eviction::None, false)]);
}
