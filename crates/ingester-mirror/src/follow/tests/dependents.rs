//! Rules and owners: an object stays while the cluster has an object that it owns, stored or not.

use super::policies::{FINISHED, play, with_rule};
use super::*;
use ingester_core::kind::{Decode, Definition, Functions};

/// Another mirrored kind, which is suspended here: no unit of this process works on it.
const PART: Kind = Kind::new(Definition { kind: "Part", ..*MODEL.definition() }, *MODEL.functions());

/// The kind with a filter: objects with this text are left out.
const FILTERED: Kind = {
    let functions = Functions {
        decode: Decode::Function(|object, _| object.parts().map(|(spec, _)| !spec.contains("left out"))),
        ..*MODEL.functions()
    };
    Kind::new(*MODEL.definition(), functions)
};

/// A scene with a finished object `a`, and the suspended kind.
fn scene() -> Arc<Scene> {
    let scene = Scene::new(quiet);
    *scene.mirrored.lock() = MirroredKinds::new([MODEL, PART].into());
    scene.put("a", FINISHED);
    scene
}

fn owned_by(owners: &'static [&'static str]) -> impl Fn(&mut Json) {
    move |object| {
        let reference = |uid: &&str| json!({"apiVersion": "v1", "kind": "X", "name": "x", "uid": uid});
        object["metadata"]["ownerReferences"] = owners.iter().map(reference).collect();
    }
}

fn is_there(scene: &Scene, name: &str) -> bool {
    scene.state().objects.contains_key(name)
}

#[tokio::test(start_paused = true)]
async fn an_owner_of_a_rejected_object_or_of_one_that_is_left_out_stays_until_that_is_gone() {
    let unreadable: fn(&mut Json) = |object| object["metadata"]["labels"] = json!({ "a": 7 });
    let left_out: fn(&mut Json) = |object| object["spec"] = json!({ "state": "left out" });
    for change in [unreadable, left_out] {
        let scene = scene();
        // The controller is another object.
        scene.put("dependent", |object| {
            owned_by(&["uid-other", "uid-a"])(object);
            change(object);
        });
        let stop = CancellationToken::new();
        scene.play_kind(FILTERED, with_rule(None, true), &stop, &stop);
        sleep(300 * SECOND).await;
        assert!(scene.row("dependent").is_none() && is_there(&scene, "a"));
        assert_eq!(scene.metric("ingester_policy_waiting_objects"), 1);
        scene.put("dependent", |object| {
            object["metadata"]["finalizers"] = json!([]);
            object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        });
        sleep(90 * SECOND).await;
        assert!(!is_there(&scene, "a"));
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_that_the_filter_leaves_out_from_now_on_keeps_its_owner() {
    let scene = Scene::new(quiet);
    *scene.mirrored.lock() = MirroredKinds::new([MODEL].into());
    scene.put("a", |_| {});
    scene.put("dependent", owned_by(&["uid-a"]));
    let stop = CancellationToken::new();
    scene.play_kind(FILTERED, with_rule(None, true), &stop, &stop);
    sleep(10 * SECOND).await;
    assert!(scene.is_live("dependent"));
    scene.put("dependent", |object| object["spec"] = json!({ "state": "left out" }));
    sleep(10 * SECOND).await;
    assert!(!scene.is_live("dependent"), "its row is marked");
    scene.put("a", FINISHED);
    sleep(200 * SECOND).await;
    assert!(is_there(&scene, "a"));
}

#[tokio::test(start_paused = true)]
async fn the_api_server_is_asked_for_dependents_of_a_suspended_kind_once_a_round() {
    let scene = scene();
    scene.state().others.insert("Part".into(), vec!["uid-a".into()]);
    let _playing = play(&scene, with_rule(None, true));
    sleep(630 * SECOND).await;
    assert!(is_there(&scene, "a"));
    let asked = scene.calls("owners Part ml").len();
    assert!((10..=11).contains(&asked), "a round a minute, and not {asked}");
    scene.state().others.clear();
    sleep(61 * SECOND).await;
    assert!(!is_there(&scene, "a"));
}

#[tokio::test(start_paused = true)]
async fn an_owner_waits_until_the_api_server_says_what_it_owns() {
    let scene = scene();
    scene.state().trouble = |call| if call.starts_with("owners") { Trouble::Status(429) } else { Trouble::None };
    let _playing = play(&scene, with_rule(None, true));
    sleep(300 * SECOND).await;
    assert!(is_there(&scene, "a") && scene.calls("owners").len() > 3);
    scene.state().trouble = quiet;
    sleep(61 * SECOND).await;
    assert!(!is_there(&scene, "a"));
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_the_cluster_does_not_have_has_no_dependents() {
    let scene = scene();
    scene.state().trouble = |call| if call == "owners Part ml" { Trouble::Status(404) } else { Trouble::None };
    let _playing = play(&scene, with_rule(None, true));
    sleep(90 * SECOND).await;
    assert!(!is_there(&scene, "a"));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_asked_if_no_rule_is_enforced_or_nothing_is_to_leave() {
    let scene = scene();
    let _playing = play(&scene, with_rule(None, false));
    sleep(300 * SECOND).await;
    assert!(scene.calls("owners").is_empty());
    let scene = Scene::new(quiet);
    scene.put("b", |_| {});
    let _playing = play(&scene, with_rule(None, true));
    sleep(300 * SECOND).await;
    assert!(scene.calls("owners").is_empty() && scene.calls("candidates").len() > 3);
}

/// The watch is lost, and an object is created that the object `a` owns. The API server answers with `trouble` for a while.
async fn a_dependent_is_created_unseen(trouble: fn(&str) -> Trouble) {
    let scene = scene();
    scene.state().others.insert("Part".into(), vec!["uid-a".into()]);
    let _playing = play(&scene, with_rule(None, true));
    sleep(90 * SECOND).await;
    assert!(scene.calls("owners Model").is_empty(), "the unit is current");
    scene.state().trouble = trouble;
    scene.end_watches();
    sleep(SECOND).await;
    scene.put("dependent", owned_by(&["uid-a"]));
    scene.state().others.clear();
    sleep(200 * SECOND).await;
    assert!(scene.row("dependent").is_none() && is_there(&scene, "a"));
    assert!(!scene.calls("owners Model ml").is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_dependent_that_a_lost_watch_did_not_bring_keeps_its_owner() {
    a_dependent_is_created_unseen(|call| match call {
        "watch" | "version" => Trouble::Status(429),
        _ => Trouble::None,
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_kind_of_the_owners_is_there_even_if_it_is_not_served_for_a_while() {
    a_dependent_is_created_unseen(|call| match call {
        "watch" | "version" => Trouble::Status(429),
        "owners Model ml" => Trouble::Status(404),
        _ => Trouble::None,
    })
    .await;
}
