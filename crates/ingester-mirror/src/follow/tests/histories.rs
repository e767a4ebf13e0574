//! Tests a unit with slow, silent and refusing servers, and with objects that cannot be read.

use super::*;
use crate::lifecycle::NextStep;
use crate::pipeline::{Arrival, Pipeline, RowState};
use ingester_config::Environment;
use ingester_core::KindNames;

#[tokio::test(start_paused = true)]
async fn a_slow_request_holds_up_no_other_object() {
    let slow = |call: &str| if call == "patch slow" { Trouble::Silence } else { Trouble::None };
    let scene = Scene::new(slow);
    let _playing = scene.play(Duration::ZERO);
    sleep(SECOND).await;
    // Before the commit: a request for the finalizer of a new object. All objects come in one batch.
    for name in ["slow", "a", "b"] {
        scene.put(name, |object| object["metadata"]["finalizers"] = json!([]));
    }
    sleep(SECOND).await;
    assert!(scene.is_live("a") && scene.is_live("b") && scene.row("slow").is_none());
    // After the commit: a request for the finalizer of a deleted object.
    for name in ["slow", "a"] {
        scene.put(name, |object| {
            object["metadata"]["finalizers"] = json!([FINALIZER]);
            object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        });
    }
    sleep(SECOND).await;
    assert!(!scene.is_live("a") && !scene.state().objects.contains_key("a"), "it is gone");
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_ends_at_once_is_opened_again_after_a_pause() {
    let scene = Scene::new(|call| if call == "watch" { Trouble::End } else { Trouble::None });
    let _playing = scene.play(Duration::ZERO);
    sleep(300 * SECOND).await;
    let watches = scene.calls("watch").len();
    assert!((10..100).contains(&watches), "{watches} in five minutes");
}

#[tokio::test(start_paused = true)]
async fn a_patch_that_is_always_refused_is_tried_again_at_growing_pauses() {
    let scene = Scene::new(|call| if call == "patch a" { Trouble::Status(422) } else { Trouble::None });
    scene.put("a", |object| object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z"));
    let _playing = scene.play(Duration::ZERO);
    sleep(600 * SECOND).await;
    let patches = scene.calls("patch a");
    assert!((30..90).contains(&patches.len()), "{} in ten minutes", patches.len());
    let last = &patches[patches.len() - 2..];
    assert!(last[1] - last[0] >= 10 * SECOND, "the requeue period");
    assert!(!scene.is_live("a"), "SQL has it meanwhile");
}

#[tokio::test(start_paused = true)]
async fn rows_are_read_page_by_page_each_in_its_own_time() {
    let scene = Scene::new(|call| if call == "live" { Trouble::Slow(40 * SECOND) } else { Trouble::None });
    scene.put("a", |_| {});
    scene.store_row("a", None);
    let row = scene.row("a").unwrap();
    for number in 0..7 {
        let uid: Box<str> = format!("uid-{number:05}").into();
        scene.state().rows.insert(uid.clone(), StoredRow { uid, ..row.clone() });
    }
    let _playing = scene.play(Duration::ZERO);
    sleep(150 * SECOND).await;
    assert_eq!(scene.calls("live").len(), 3, "two minutes in all, and none is read twice");
    assert_eq!(scene.calls("metadata").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_sweep_of_too_many_rows_marks_none_until_a_list_is_within_the_limit() {
    let scene = Scene::new(quiet);
    for number in 0..1100 {
        let name = format!("m{number:04}");
        scene.put(&name, |_| {});
        scene.store_row(&name, None);
    }
    let objects = std::mem::take(&mut scene.state().objects);
    let _playing = scene.play(Duration::ZERO);
    sleep(60 * SECOND).await;
    assert!(scene.calls("metadata").len() == 1 && scene.calls("look").is_empty(), "an empty etcd is not believed");
    assert!(objects.keys().all(|name| scene.is_live(name)));
    // All but ten exist again when the next resync asks.
    scene.state().objects = objects.into_iter().skip(10).collect();
    sleep(700 * SECOND).await;
    assert_eq!(scene.state().rows.values().filter(|row| row.delete_time.is_some()).count(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_resync_that_takes_longer_than_its_period_leaves_a_pause() {
    let scene = Scene::new(|call| if call == "metadata" { Trouble::Slow(700 * SECOND) } else { Trouble::None });
    scene.put("a", |_| {});
    let _playing = scene.play(Duration::ZERO);
    sleep(2000 * SECOND).await;
    let resyncs = scene.calls("metadata");
    assert_eq!(resyncs.len(), 2);
    assert!(resyncs[1] - resyncs[0] >= 1300 * SECOND, "{:?}", resyncs[1] - resyncs[0]);
}

#[tokio::test(start_paused = true)]
async fn a_restart_between_marked_and_gone_leaves_the_tombstone() {
    let scene = Scene::new(|call| if call == "delete a" { Trouble::Status(500) } else { Trouble::None });
    scene.put("a", |object| object["metadata"]["annotations"] = json!({ "michelangelo/Deleting": "true" }));
    scene.store_row("a", Some(Micros(1_000_000)));
    let _playing = scene.play(3600 * SECOND);
    for _ in 0..100 {
        sleep(SECOND).await;
        assert_eq!(scene.row("a").unwrap().delete_time, Some(Micros(1_000_000)), "it flaps");
    }
    assert!(!scene.calls("delete a").is_empty(), "the delay has passed before");
}

#[tokio::test(start_paused = true)]
async fn a_live_object_wins_over_a_tombstone_of_its_version() {
    let scene = Scene::new(quiet);
    scene.put("a", |_| {});
    scene.store_row("a", Some(Micros(1_000_000)));
    let _playing = scene.play(Duration::ZERO);
    sleep(30 * SECOND).await;
    assert!(scene.is_live("a"));
}

#[tokio::test(start_paused = true)]
async fn a_database_that_is_silent_when_a_row_is_read_back_is_asked_again() {
    let scene = Scene::new(|call| if call == "stored" { Trouble::Silence } else { Trouble::None });
    scene.put("a", |object| object["metadata"]["annotations"] = json!({ "michelangelo/Immutable": "true" }));
    let _playing = scene.play(Duration::ZERO);
    sleep(200 * SECOND).await;
    assert!(scene.calls("stored").len() >= 3, "each after a minute");
    assert!(scene.state().objects.contains_key("a") && scene.row("a").unwrap().evict_time.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_row_that_was_removed_by_hand_is_written_again_by_the_resync() {
    let scene = Scene::new(quiet);
    for name in ["a", "b", "c"] {
        scene.put(name, |_| {});
    }
    let _playing = scene.play(Duration::ZERO);
    sleep(SECOND).await;
    scene.state().rows.remove("uid-a");
    scene.state().rows.get_mut("uid-b").unwrap().delete_time = Some(Micros(1));
    sleep(590 * SECOND).await;
    assert!(!scene.is_live("a") && !scene.is_live("b"));
    sleep(30 * SECOND).await;
    assert!(["a", "b", "c"].iter().all(|name| scene.is_live(name)));
}

#[tokio::test(start_paused = true)]
async fn an_object_whose_patch_fails_does_not_keep_the_finalizer_from_others() {
    let scene = Scene::new(|call| if call == "patch b" { Trouble::Status(500) } else { Trouble::None });
    for name in ["a", "b", "c"] {
        scene.put(name, |object| object["metadata"]["finalizers"] = json!([]));
    }
    let _playing = scene.play(Duration::ZERO);
    sleep(10 * SECOND).await;
    let has = |name: &str| scene.state().objects[name]["metadata"]["finalizers"] == json!([FINALIZER]);
    assert!(has("a") && has("c") && !has("b"));
}

/// A unit that stops, as when its kind is suspended, while a request takes its time.
#[tokio::test(start_paused = true)]
async fn a_stopping_unit_finishes_what_has_begun_and_begins_nothing() {
    const WITHOUT: fn(&mut Json) = |object| object["metadata"]["finalizers"] = json!([]);
    const LEAVING: fn(&mut Json) = |object| object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let slow_patch = |call: &str| if call == "patch a" { Trouble::Slow(20 * SECOND) } else { Trouble::None };
    let slow_write = |call: &str| if call == "write" { Trouble::Slow(20 * SECOND) } else { Trouble::None };
    type Check = fn(&Scene) -> bool;
    /// The slow request, if the object existed before, the change to it, and if that change was finished.
    type Case = (&'static str, fn(&str) -> Trouble, bool, fn(&mut Json), Check);
    let finalized: Check = |scene| scene.state().objects["a"]["metadata"]["finalizers"] == json!([FINALIZER]);
    let cases: [Case; 4] = [
        ("the finalizer of an older object", slow_patch, true, WITHOUT, finalized),
        ("the finalizer of a new object", slow_patch, false, WITHOUT, finalized),
        ("a row", slow_write, false, |_| {}, |scene| scene.is_live("a")),
        ("the end of an object", slow_patch, false, LEAVING, |scene| !scene.state().objects.contains_key("a")),
    ];
    for (what, trouble, older, change, finished) in cases {
        let scene = Scene::new(trouble);
        if older {
            scene.put("a", change);
            scene.store_row("a", None);
        }
        let stop = CancellationToken::new();
        let exit = CancellationToken::new();
        let running = scene.play_until(Duration::ZERO, &stop, &exit);
        sleep(SECOND).await;
        if !older {
            scene.put("a", change);
        }
        sleep(SECOND).await;
        assert!(!finished(&scene), "{what} is under way");
        stop.cancel();
        // This would be the next piece of work.
        scene.put("b", |_| {});
        running.await.unwrap().unwrap();
        assert!(finished(&scene), "{what}");
        let calls = scene.state().calls.len();
        assert!(scene.row("b").is_none(), "{what}");
        sleep(60 * SECOND).await;
        assert_eq!(scene.state().calls.len(), calls, "{what}: nothing comes after the end");
        assert!(!exit.is_cancelled());
    }
}

/// A database that fails when a unit stops is not asked again.
#[tokio::test(start_paused = true)]
async fn a_stopping_unit_does_not_wait_for_a_database_that_is_away() {
    let scene = Scene::new(|call| if call == "write" { Trouble::Status(500) } else { Trouble::None });
    let stop = CancellationToken::new();
    let exit = CancellationToken::new();
    let running = scene.play_until(Duration::ZERO, &stop, &exit);
    scene.put("a", |_| {});
    sleep(10 * SECOND).await;
    let begin = Instant::now();
    let writes = scene.calls("write").len();
    assert!(writes > 2, "it is tried again and again");
    stop.cancel();
    running.await.unwrap().unwrap();
    assert!(begin.elapsed() < SECOND);
    assert!(scene.calls("write").len() <= writes + 1);
}

/// More levels than are read.
fn nested() -> Json {
    (0..150).fold(json!(1), |inner, _| json!({ "a": inner }))
}

/// Everything is kept here, even managed fields; if these are too deep, the whole object is unreadable.
const UNREADABLE: fn(&mut Json) = |object| object["metadata"]["managedFields"] = json!([{ "fieldsV1": nested() }]);

#[tokio::test(start_paused = true)]
async fn an_unreadable_object_that_is_deleted_is_held_until_it_is_given_up() {
    let scene = Scene::new(quiet);
    scene.put("a", |_| {});
    scene.put("bad", UNREADABLE);
    scene.put("c", |_| {});
    let _playing = scene.play(Duration::ZERO);
    sleep(SECOND).await;
    assert!(scene.is_live("a") && scene.is_live("c") && scene.row("bad").is_none());
    assert_eq!((scene.metric("ingester_held_objects"), scene.metric("ingester_rejected_objects")), (0, 1));
    scene.put("bad", |object| object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z"));
    sleep(SECOND).await;
    assert_eq!(scene.metric("ingester_held_objects"), 1);
    let looks = scene.calls("look bad").len();
    let rejects = scene.metric("ingester_rejects_total");
    sleep(60 * SECOND).await;
    assert!(scene.calls("look bad").len() > looks + 2, "it may be readable by now");
    assert!(scene.metric("ingester_rejects_total") > rejects + 2, "it is reported again and again");
    scene.put("bad", |object| object["metadata"]["finalizers"] = json!([]));
    sleep(60 * SECOND).await;
    assert_eq!((scene.metric("ingester_held_objects"), scene.metric("ingester_rejected_objects")), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_held_object_that_was_rejected_is_tried_again_when_it_arrives_once_more() {
    let scene = Scene::new(quiet);
    let stop = CancellationToken::new();
    let pipeline = Pipeline::new(scene.unit(MODEL, Config::default(), &stop, &stop));
    for (terminating, is_echo) in [(false, true), (true, false)] {
        scene.put("bad", |object| {
            if terminating {
                object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            }
        });
        let object =
            crate::unit::parse(&MODEL, render_json(&scene.state().objects["bad"]), ManagedFields::Keep).unwrap();
        let meta = object.meta();
        pipeline.hold(meta, false);
        pipeline.known().set(&meta.uid, meta.resource_version, RowState::Rejected, None);
        // The object waited in the queue while the reject was being recorded, so no look at it is planned.
        let next = pipeline.decide_by_metadata(meta, Arrival::List { behind: false });
        assert_eq!(next == NextStep::Unchanged, is_echo, "terminating: {terminating}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_row_of_an_object_that_became_unreadable_is_marked_when_that_is_gone() {
    // Either nothing of the object can be read, or only its metadata.
    let deep_spec: fn(&mut Json) = |object| object["spec"] = nested();
    for became in [UNREADABLE, deep_spec] {
        let scene = Scene::new(quiet);
        scene.put("a", |object| object["metadata"]["finalizers"] = json!(["other"]));
        let _playing = scene.play(Duration::ZERO);
        sleep(SECOND).await;
        scene.put("a", became);
        sleep(SECOND).await;
        assert!(scene.is_live("a"), "its last good state");
        scene.put("a", |object| {
            object["metadata"]["finalizers"] = json!([]);
            object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        });
        sleep(5 * SECOND).await;
        assert!(scene.row("a").is_some_and(|row| row.delete_time.is_some()));
        assert_eq!(scene.metric("ingester_rejected_objects"), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_finalizer_that_is_refused_three_times_is_reported_and_tried_again_with_the_next_version() {
    let scene = Scene::new(|call| if call == "patch a" { Trouble::Status(422) } else { Trouble::None });
    let _playing = scene.play(Duration::ZERO);
    sleep(SECOND).await;
    scene.put("a", |object| object["metadata"]["finalizers"] = json!([]));
    sleep(2000 * SECOND).await;
    assert!(scene.is_live("a"));
    assert_eq!(scene.calls("patch a").len(), 3, "resyncs do not begin it again");
    assert_eq!(scene.metric("ingester_finalizers_given_up_total refused"), 1);
    scene.put("a", |object| object["spec"] = json!({ "changed": true }));
    sleep(SECOND).await;
    assert_eq!(scene.calls("patch a").len(), 6);
    assert_eq!(scene.metric("ingester_finalizers_given_up_total refused"), 2);
    scene.state().trouble = quiet;
    scene.put("a", |object| object["spec"] = json!({ "changed": false }));
    sleep(SECOND).await;
    assert_eq!(scene.state().objects["a"]["metadata"]["finalizers"], json!([FINALIZER]));
    assert_eq!(scene.metric("ingester_finalizers_given_up_total refused"), 2);
}

#[tokio::test(start_paused = true)]
async fn a_finalizer_that_something_else_removes_again_is_given_up() {
    let scene = Scene::new(quiet);
    let _playing = scene.play(Duration::ZERO);
    sleep(SECOND).await;
    scene.put("a", |_| {});
    scene.put("b", |object| object["metadata"]["finalizers"] = json!([]));
    // As an older release does when it mirrors the kind with `never`.
    for _ in 0..1000 {
        sleep(Duration::from_millis(500)).await;
        let has = scene.state().objects["a"]["metadata"]["finalizers"] != json!([]);
        if has {
            scene.put("a", |object| object["metadata"]["finalizers"] = json!([]));
        }
    }
    sleep(1000 * SECOND).await;
    assert_eq!(scene.calls("patch a").len(), 3);
    assert_eq!(scene.metric("ingester_finalizers_given_up_total removed"), 1);
    assert!(scene.is_live("a") && scene.calls("patch b").len() == 1);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_told_as_deleted_because_it_left_the_selection_is_looked_at() {
    let scene = Scene::new(quiet);
    let stop = CancellationToken::new();
    let text = "ingester: {finalizer: never, labelSelectorMap: {Model: team=a}}";
    let config = Config::parse(text, &Environment::default(), &KindNames::of(&[MODEL])).unwrap();
    scene.play_with(config, &stop, &stop);
    sleep(SECOND).await;
    let labelled = |team: &'static str| {
        move |object: &mut Json| {
            object["metadata"]["labels"] = json!({ "team": team });
            object["metadata"]["finalizers"] = json!([]);
        }
    };
    scene.put("a", labelled("a"));
    sleep(SECOND).await;
    assert!(scene.is_live("a"));
    // The server sends the state before the change, with the version of the change.
    let leave = || {
        let mut before = scene.state().objects["a"].clone();
        scene.put("a", labelled("b"));
        let mut events = scene.events.all();
        let (version, gone, _) = events.pop().unwrap();
        before["metadata"]["resourceVersion"] = json!(version.to_string());
        assert!(!gone);
        events.push((version, true, before));
        drop(events);
        scene.events.changed.notify_waiters();
    };
    leave();
    sleep(SECOND).await;
    assert!(!scene.is_live("a") && !scene.calls("look a").is_empty());
    scene.put("a", labelled("a"));
    sleep(SECOND).await;
    assert!(scene.is_live("a"), "it is selected again");
    // If it cannot be looked at, its event comes again.
    scene.state().trouble = |call| if call == "look a" { Trouble::Status(500) } else { Trouble::None };
    leave();
    sleep(20 * SECOND).await;
    assert!(scene.is_live("a"), "nothing is known of it");
    scene.state().trouble = quiet;
    sleep(100 * SECOND).await;
    assert!(!scene.is_live("a"));
    // An object that is really gone leaves its last state.
    scene.put("a", labelled("a"));
    sleep(SECOND).await;
    scene.put("a", |object| {
        object["spec"]["description"] = json!("last");
        object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    });
    sleep(SECOND).await;
    let row = scene.row("a").unwrap();
    assert!(row.delete_time.is_some() && row.json().contains("last"), "{}", row.json());
}

#[tokio::test(start_paused = true)]
async fn changes_that_follow_each_other_closely_are_one_write_and_deletions_do_not_wait() {
    let scene = Scene::new(quiet);
    let stop = CancellationToken::new();
    let text = "ingester: {settle: 10s, resyncPeriod: 0s}";
    let config = Config::parse(text, &Environment::default(), &KindNames::of(&[MODEL])).unwrap();
    scene.play_with(config, &stop, &stop);
    sleep(SECOND).await;
    scene.put("a", |_| {});
    sleep(SECOND / 2).await;
    assert!(scene.is_live("a"), "a new object does not wait");
    let first = scene.calls("write").len();
    for number in 0..60 {
        scene.put("a", |object| object["status"]["beat"] = json!(number));
        sleep(SECOND).await;
    }
    let writes = scene.calls("write").len() - first;
    assert!((6..=7).contains(&writes), "{writes} writes");
    assert_eq!(scene.metric("ingester_rows_skipped_total settling"), 59);
    sleep(10 * SECOND).await;
    let last = scene.row("a").unwrap();
    assert!(last.json().contains(r#""beat":59"#), "{}", last.json());
    // Gathered changes do not delay the end of the object.
    for number in 60..63 {
        scene.put("a", |object| object["status"]["beat"] = json!(number));
        sleep(SECOND).await;
    }
    scene.put("a", |object| {
        object["status"]["beat"] = json!("last");
        object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    });
    sleep(2 * SECOND).await;
    let row = scene.row("a").unwrap();
    assert!(row.json().contains(r#""beat":"last""#), "{}", row.json());
    sleep(30 * SECOND).await;
    assert!(scene.row("a").unwrap().delete_time.is_some() && scene.state().objects.is_empty());
}
