//! A cluster that went back, and a database that moved.

use super::*;

#[tokio::test(start_paused = true)]
async fn what_was_received_before_the_cluster_was_restored_is_not_written_after_that() {
    let scene = Scene::new(quiet);
    scene.put("a", |_| {});
    let backup = scene.state().objects.clone();
    let _playing = scene.play(Duration::ZERO);
    sleep(SECOND).await;
    scene.state().trouble = |call| if call == "write" { Trouble::Status(500) } else { Trouble::None };
    // One state is being written, and the next states wait.
    for name in ["a", "a", "b"] {
        scene.put(name, |object| object["spec"] = json!({ "lost": true }));
        sleep(SECOND).await;
    }
    assert!(!scene.calls("write").is_empty());
    scene.events.all().clear();
    {
        let mut state = scene.state();
        (state.objects, state.version) = (backup, 2);
    }
    // The next resync sees it.
    sleep(650 * SECOND).await;
    scene.state().trouble = quiet;
    for _ in 0..1000 {
        sleep(Duration::from_millis(10)).await;
        assert_eq!(scene.row("a").map(|row| row.res_version), Some(2), "a lost state is stored");
    }
    assert!(scene.row("b").is_none());
}

#[tokio::test(start_paused = true)]
async fn after_a_restore_the_same_version_with_other_content_is_written_again() {
    let scene = Scene::new(quiet);
    scene.put("a", |_| {});
    scene.put("b", |_| {});
    let _playing = scene.play(Duration::ZERO);
    sleep(SECOND).await;
    let version = scene.state().version;
    scene.put("a", |object| object["spec"]["description"] = json!("lost"));
    scene.put("c", |_| {});
    sleep(SECOND).await;
    // The cluster goes back, and gives the same version to another state of the object.
    {
        let mut state = scene.state();
        state.objects.remove("c");
        state.version = version + 1;
        let object = state.objects.get_mut("a").unwrap();
        object["spec"]["description"] = json!("restored");
    }
    // The next resync finds that the cluster went back.
    sleep(700 * SECOND).await;
    assert!(scene.row("a").unwrap().json().contains("restored"), "{}", scene.row("a").unwrap().json());
}

#[tokio::test(start_paused = true)]
async fn a_database_that_moved_is_compared_at_once_and_lost_evictions_are_told() {
    let scene = Scene::new(quiet);
    let _playing = scene.play(Duration::ZERO);
    sleep(SECOND).await;
    for name in ["lost", "back", "whole"] {
        scene.put(name, |object| {
            object["metadata"]["annotations"] = json!({ "michelangelo/Immutable": "true" });
        });
    }
    scene.put("live", |_| ());
    sleep(20 * SECOND).await;
    assert!(scene.state().objects.keys().eq(["live"]), "the others are evicted");
    assert!(scene.row("lost").is_some_and(|row| row.evict_time.is_some()));
    // A fail-over loses the last commits: a new row, a changed row, and an eviction.
    {
        let mut state = scene.state();
        state.rows.remove("uid-lost");
        state.rows.remove("uid-live");
        let back = state.rows.get_mut("uid-back").unwrap();
        (back.evict_time, back.eviction) = (None, Eviction::None);
        back.res_version -= 1;
    }
    let count = || scene.metric("ingester_evictions_lost_total");
    sleep(60 * SECOND).await;
    assert_eq!(count(), 0, "no look comes before the next resync");
    scene.moves.send_modify(|moves| *moves += 1);
    sleep(30 * SECOND).await;
    assert_eq!(count(), 2);
    assert!(scene.is_live("live"), "what is in the cluster is written again");
    assert!(scene.is_live("back"), "its object was not deleted");
    scene.moves.send_modify(|moves| *moves += 1);
    sleep(30 * SECOND).await;
    assert_eq!(count(), 2, "each is told once");
}

#[tokio::test(start_paused = true)]
async fn a_restart_tells_lost_evictions_again_and_marks_nothing_that_is_left_of_them() {
    let scene = Scene::new(quiet);
    let playing = scene.play(Duration::ZERO);
    sleep(SECOND).await;
    for name in ["missing", "left"] {
        scene.put(name, |object| {
            object["metadata"]["annotations"] = json!({ "michelangelo/Immutable": "true" });
        });
    }
    scene.put("live", |_| ());
    sleep(20 * SECOND).await;
    // A fail-over loses a row, and the eviction of another object.
    {
        let mut state = scene.state();
        state.rows.remove("uid-missing");
        let left = state.rows.get_mut("uid-left").unwrap();
        (left.evict_time, left.eviction) = (None, Eviction::None);
        left.res_version -= 1;
    }
    scene.moves.send_modify(|moves| *moves += 1);
    sleep(30 * SECOND).await;
    let count = || scene.metric("ingester_evictions_lost_total");
    assert_eq!((count(), scene.state().lost.len()), (2, 2));
    playing.cancel();
    sleep(SECOND).await;
    let _again = scene.play(Duration::ZERO);
    sleep(3600 * SECOND).await;
    assert_eq!((count(), scene.state().lost.len()), (4, 2), "the next process tells them, too");
    assert!(scene.is_live("left") && scene.is_live("live"), "what is left is no object that was deleted");
    // A person has stored the state from a backup.
    {
        let mut state = scene.state();
        let left = state.rows.get_mut("uid-left").unwrap();
        (left.evict_time, left.eviction) = (Some(Micros(1)), Eviction::Confirmed);
    }
    sleep(3600 * SECOND).await;
    assert_eq!(scene.state().lost.keys().map(AsRef::as_ref).collect::<Vec<_>>(), ["uid-missing"]);
    assert_eq!(count(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_ghost_whose_evicted_row_is_lost_is_mirrored_again() {
    let scene = Scene::new(quiet);
    let _playing = scene.play(Duration::ZERO);
    sleep(SECOND).await;
    scene.put("a", |object| object["metadata"]["annotations"] = json!({ "michelangelo/Immutable": "true" }));
    sleep(20 * SECOND).await;
    scene.put("a", |object| object["spec"]["description"] = json!("restored"));
    sleep(20 * SECOND).await;
    assert_eq!(scene.metric("ingester_ghosts"), 1);
    // A fail-over loses its eviction: an earlier row says that it was deleted.
    {
        let mut state = scene.state();
        let row = state.rows.get_mut("uid-a").unwrap();
        (row.evict_time, row.eviction, row.delete_time) = (None, Eviction::None, Some(Micros(1)));
        row.res_version -= 1;
    }
    scene.moves.send_modify(|moves| *moves += 1);
    sleep(30 * SECOND).await;
    assert!(scene.is_live("a") && scene.row("a").unwrap().json().contains("restored"));
    assert_eq!(scene.metric("ingester_ghosts"), 0);
}

/// The list that finds that the cluster went back fails. In the meantime other kinds raise the cluster's version above every observed one.
#[tokio::test(start_paused = true)]
async fn that_the_cluster_went_back_is_remembered_until_a_list_has_ended() {
    let scene = Scene::new(quiet);
    scene.put("a", |_| {});
    scene.put("b", |_| {});
    let _playing = scene.play(Duration::ZERO);
    sleep(SECOND).await;
    let version = scene.state().version;
    scene.put("a", |object| object["spec"]["description"] = json!("lost"));
    scene.put("c", |_| {});
    sleep(SECOND).await;
    {
        let mut state = scene.state();
        state.objects.remove("c");
        state.version = version + 1;
        let object = state.objects.get_mut("a").unwrap();
        object["spec"]["description"] = json!("restored");
        state.trouble = |call| if call == "list" { Trouble::Status(500) } else { Trouble::None };
        state.calls.clear();
    }
    while scene.calls("list").is_empty() {
        sleep(SECOND).await;
    }
    {
        let mut state = scene.state();
        (state.version, state.trouble) = (version + 1000, quiet);
    }
    sleep(60 * SECOND).await;
    assert!(scene.row("a").unwrap().json().contains("restored"), "{}", scene.row("a").unwrap().json());
    // The next lists read only metadata.
    scene.state().calls.clear();
    sleep(700 * SECOND).await;
    assert!(scene.calls("list").is_empty() && !scene.calls("metadata").is_empty());
}

/// A move is reported once. Without `resyncPeriod` no other signal would start a comparison.
#[tokio::test(start_paused = true)]
async fn the_comparison_after_a_move_is_tried_until_it_is_complete() {
    type Case = fn(&str) -> Trouble;
    let cases: [Case; 3] = [
        |call| if call == "live" { Trouble::Status(500) } else { Trouble::None },
        |call| if call == "version" { Trouble::Status(503) } else { Trouble::None },
        |call| if call == "metadata" { Trouble::Status(503) } else { Trouble::None },
    ];
    for trouble in cases {
        let scene = Scene::new(quiet);
        scene.put("a", |_| {});
        let _playing = scene.play_without_resyncs();
        sleep(SECOND).await;
        scene.state().trouble = trouble;
        scene.state().rows.remove("uid-a");
        scene.moves.send_modify(|moves| *moves += 1);
        sleep(60 * SECOND).await;
        assert!(scene.row("a").is_none());
        scene.state().trouble = quiet;
        sleep(60 * SECOND).await;
        assert!(scene.is_live("a"));
        scene.state().calls.clear();
        sleep(600 * SECOND).await;
        assert!(scene.calls("metadata").is_empty(), "it was complete");
    }
}

/// The database moves before the first list has ended.
#[tokio::test(start_paused = true)]
async fn a_move_before_the_first_list_is_compared_after_it() {
    let scene = Scene::new(|call| if call == "list" { Trouble::Slow(30 * SECOND) } else { Trouble::None });
    scene.put("a", |_| {});
    let _playing = scene.play_without_resyncs();
    sleep(SECOND).await;
    scene.moves.send_modify(|moves| *moves += 1);
    sleep(120 * SECOND).await;
    assert_eq!(scene.calls("metadata").len(), 1);
}

/// The restored cluster continues from a later version, so nothing shows that it went back: only the objects have earlier versions.
#[tokio::test(start_paused = true)]
async fn rows_follow_a_cluster_that_was_restored_with_a_bumped_revision() {
    let scene = Scene::new(quiet);
    scene.put("a", |_| {});
    let backup = scene.state().objects.clone();
    let _playing = scene.play_without_resyncs();
    sleep(SECOND).await;
    scene.put("a", |object| object["spec"]["description"] = json!("lost"));
    sleep(SECOND).await;
    assert!(scene.row("a").unwrap().json().contains("lost"));
    {
        let mut state = scene.state();
        (state.objects, state.version) = (backup, 1000);
        // The versions that watches ask for are compacted.
        state.trouble = |call| if call == "watch" { Trouble::Status(410) } else { Trouble::None };
        state.calls.clear();
    }
    scene.end_watches();
    while scene.calls("metadata").is_empty() {
        sleep(SECOND).await;
    }
    scene.state().trouble = quiet;
    sleep(60 * SECOND).await;
    assert!(!scene.row("a").unwrap().json().contains("lost"));
}
