//! Evictions by rules: which objects are judged, which are deleted, and the state after a crash.

use super::*;
use ingester_config::{Condition, KeepLast};
use ingester_core::schema;
use ingester_sql::query::parse_label_selector;

/// The state of an object that the rule chooses.
pub(super) const FINISHED: fn(&mut Json) = |object| object["status"] = json!({ "phase": "done" });

/// A configuration with a rule that keeps this many.
pub(super) fn with_rule(last: Option<usize>, enforce: bool) -> Config {
    let condition = Condition {
        // The scene itself knows which objects are finished.
        when: parse_label_selector("phase=done").unwrap(),
        keep_last: last.map(|count| KeepLast { count, by: Vec::new() }),
        ..Condition::default()
    };
    let rule = EvictionRule { name: "finished".into(), condition, enforce };
    let mut config = Config::default();
    config.policies.evict = [("Model".to_owned(), vec![rule])].into();
    config
}

/// Mirrors with a configuration that can change. Returns the sender of changes, the token that stops the unit, and the unit's task.
fn play_live(
    scene: &Arc<Scene>,
    config: Config,
) -> (watch::Sender<Arc<Config>>, CancellationToken, JoinHandle<Result<(), String>>) {
    let stop = CancellationToken::new();
    let unit = scene.unit(MODEL, config, &stop, &CancellationToken::new());
    let (sender, live) = Live::new((*unit.config()).clone());
    (sender, stop, tokio::spawn(Follower::run(Unit { live, ..unit })))
}

fn change(sender: &watch::Sender<Arc<Config>>, change: impl FnOnce(&mut Config)) {
    sender.send_modify(|config| {
        let mut changed = (**config).clone();
        change(&mut changed);
        *config = Arc::new(changed);
    });
}

/// Plays a scene with this many finished objects. A fifth of them leaves, and each deletion takes five seconds. Returns once some deletions
/// were sent.
async fn leaving_slowly(
    objects: usize,
) -> (Arc<Scene>, watch::Sender<Arc<Config>>, CancellationToken, JoinHandle<Result<(), String>>) {
    let scene = Scene::new(|call| if call.starts_with("delete ") { Trouble::Slow(5 * SECOND) } else { Trouble::None });
    (0..objects).for_each(|number| scene.put(&format!("o{number:03}"), FINISHED));
    let (sender, stop, playing) = play_live(&scene, with_rule(None, true));
    while scene.calls("delete").is_empty() {
        sleep(SECOND / 10).await;
    }
    (scene, sender, stop, playing)
}

#[tokio::test(start_paused = true)]
async fn evictions_end_with_their_rule_and_what_was_not_sent_lives_again() {
    let changes: [fn(&mut Config); 3] = [
        |config| config.policies.evict.values_mut().flatten().for_each(|rule| rule.enforce = false),
        |config| config.policies.evict.clear(),
        |config| {
            for rules in config.policies.evict.values_mut() {
                rules[0].enforce = false;
                rules.insert(0, EvictionRule { name: "keeper".into(), ..rules[0].clone() });
            }
        },
    ];
    for changed in changes {
        let (scene, sender, _stop, _playing) = leaving_slowly(200).await;
        let sent = scene.calls("delete").len();
        change(&sender, changed);
        sleep(300 * SECOND).await;
        assert_eq!(scene.calls("delete").len(), sent, "nothing more is sent");
        let state = scene.state();
        assert_eq!(state.objects.len(), 200 - sent, "what was sent is answered");
        for object in state.objects.values() {
            assert_eq!(object["metadata"]["finalizers"], json!([FINALIZER]), "{object}");
        }
        let intended = state.rows.values().filter(|row| row.eviction == Eviction::Intended).count();
        let confirmed = state.rows.values().filter(|row| row.eviction == Eviction::Confirmed).count();
        assert_eq!((intended, confirmed), (0, sent));
    }
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_is_switched_on_again_takes_what_it_had_left() {
    let (scene, sender, _stop, _playing) = leaving_slowly(100).await;
    let enforce = |enforce| {
        move |config: &mut Config| config.policies.evict.values_mut().flatten().for_each(|rule| rule.enforce = enforce)
    };
    change(&sender, enforce(false));
    sleep(100 * SECOND).await;
    change(&sender, enforce(true));
    sleep(300 * SECOND).await;
    // Objects that stayed were not counted: a fifth of all has left, as if nothing had happened.
    let state = scene.state();
    assert_eq!((state.objects.len(), state.begun), (80, 20));
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_being_suspended_sends_no_further_request_and_waits_for_none() {
    let (scene, sender, stop, playing) = leaving_slowly(400).await;
    let sent = scene.calls("delete").len();
    change(&sender, |config| config.ingester.suspend = vec!["Model".into()]);
    // The supervisor has not stopped the unit yet.
    sleep(2 * SECOND).await;
    assert_eq!(scene.calls("delete").len(), sent);
    let begin = Instant::now();
    stop.cancel();
    playing.await.unwrap().unwrap();
    assert!(begin.elapsed() < 6 * SECOND, "{:?}", begin.elapsed());
    assert_eq!((scene.calls("delete").len(), scene.state().objects.len()), (sent, 400 - sent));
}

#[tokio::test(start_paused = true)]
async fn a_unit_that_stops_does_not_wait_for_what_waits_for_its_turn() {
    let (scene, _sender, stop, playing) = leaving_slowly(400).await;
    let sent = scene.calls("delete").len();
    let begin = Instant::now();
    stop.cancel();
    playing.await.unwrap().unwrap();
    assert!(begin.elapsed() < 6 * SECOND, "{:?}", begin.elapsed());
    assert_eq!(scene.calls("delete").len(), sent);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_was_not_sent_does_not_count_against_the_limit() {
    let scene = Scene::new(|call| if call == "look a" { Trouble::Slow(5 * SECOND) } else { Trouble::None });
    scene.put("a", |object| {
        FINISHED(object);
        object["metadata"]["finalizers"] = json!([]);
    });
    let mut config = with_rule(None, true);
    config.policies.evict_limit = 1;
    let _playing = play(&scene, config);
    while scene.calls("look a").is_empty() {
        sleep(SECOND / 10).await;
    }
    // The object changes as by the patch that adds our finalizer.
    scene.put("a", |object| object["metadata"]["labels"] = json!({ "changed": "meanwhile" }));
    sleep(300 * SECOND).await;
    assert_eq!(scene.row("a").unwrap().eviction, Eviction::Confirmed);
    assert_eq!(scene.state().begun, 1);
}

pub(super) fn play(scene: &Arc<Scene>, config: Config) -> CancellationToken {
    let stop = CancellationToken::new();
    scene.play_with(config, &stop, &stop);
    stop
}

#[tokio::test(start_paused = true)]
async fn an_object_leaves_etcd_once_a_rule_says_so_and_others_stay() {
    let scene = Scene::new(quiet);
    scene.put("a", FINISHED);
    scene.put("b", |_| {});
    let _playing = play(&scene, with_rule(None, true));
    sleep(90 * SECOND).await;
    assert!(!scene.state().objects.contains_key("a") && scene.state().objects.contains_key("b"));
    let row = scene.row("a").unwrap();
    assert_eq!((row.eviction, row.delete_time, row.json().contains(DONE)), (Eviction::Confirmed, None, true));
    assert_eq!(scene.row("b").unwrap().eviction, Eviction::None);
    // It finishes later.
    scene.put("b", FINISHED);
    sleep(90 * SECOND).await;
    assert_eq!(scene.row("b").unwrap().eviction, Eviction::Confirmed);
    let writes = scene.calls("write").len();
    sleep(700 * SECOND).await;
    assert_eq!(scene.calls("write").len(), writes, "nothing is left to do");
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_is_not_enforced_is_counted_and_does_nothing() {
    let scene = Scene::new(quiet);
    scene.put("a", FINISHED);
    let _playing = play(&scene, with_rule(None, false));
    sleep(90 * SECOND).await;
    assert_eq!(scene.metric("ingester_policy_objects"), 1);
    assert_eq!(scene.metric("ingester_policy_waiting_objects"), 0);
    assert!(scene.calls("delete").is_empty() && scene.calls("weigh").is_empty());
    assert_eq!(scene.row("a").unwrap().eviction, Eviction::None);
}

#[tokio::test(start_paused = true)]
async fn the_last_objects_of_a_group_stay() {
    let scene = Scene::new(quiet);
    ["a", "b", "c", "d"].iter().for_each(|name| scene.put(name, FINISHED));
    let _playing = play(&scene, with_rule(Some(2), true));
    sleep(200 * SECOND).await;
    let left: Vec<String> = scene.state().objects.keys().cloned().collect();
    assert_eq!(left, ["c", "d"]);
}

#[tokio::test(start_paused = true)]
async fn no_more_objects_leave_within_an_hour_than_the_limit() {
    let scene = Scene::new(quiet);
    (0..40).for_each(|number| scene.put(&format!("o{number:02}"), FINISHED));
    let mut config = with_rule(None, true);
    config.policies.evict_limit = 4;
    let _playing = play(&scene, config);
    sleep(400 * SECOND).await;
    // The model of the database never resets its count.
    assert_eq!(scene.state().objects.len(), 36);
    assert_eq!(scene.metric("ingester_policy_waiting_objects"), 36);
}

#[tokio::test(start_paused = true)]
async fn within_an_hour_no_more_than_a_fifth_of_the_objects_leaves_whatever_the_limit() {
    let scene = Scene::new(quiet);
    (0..100).for_each(|number| scene.put(&format!("o{number:02}"), FINISHED));
    let _playing = play(&scene, with_rule(None, true));
    sleep(400 * SECOND).await;
    assert_eq!(scene.state().objects.len(), 80);
}

#[tokio::test(start_paused = true)]
async fn objects_that_are_on_their_way_count_once() {
    let scene =
        Scene::new(|call| if call.starts_with("delete ") { Trouble::Slow(150 * SECOND) } else { Trouble::None });
    (0..100).for_each(|number| scene.put(&format!("o{number:02}"), FINISHED));
    let _playing = play(&scene, with_rule(None, true));
    // The next rounds find them still there.
    sleep(900 * SECOND).await;
    assert_eq!(scene.state().objects.len(), 80);
    assert_eq!(scene.state().begun, 20);
}

#[tokio::test(start_paused = true)]
async fn more_objects_leave_at_once_than_workers_begin_requests_for() {
    let scene = Scene::new(quiet);
    (0..8000).for_each(|number| scene.put(&format!("o{number:04}"), FINISHED));
    let mut config = with_rule(None, true);
    config.policies.evict_limit = 8000;
    let _playing = play(&scene, config);
    sleep(400 * SECOND).await;
    assert_eq!(scene.state().objects.len(), 6400);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_changes_before_it_is_deleted_stays_and_its_row_lives() {
    for finalizer in [json!([]), json!([FINALIZER])] {
        let scene = Scene::new(|call| if call == "delete a" { Trouble::Slow(5 * SECOND) } else { Trouble::None });
        scene.put("a", |object| {
            FINISHED(object);
            object["metadata"]["finalizers"] = finalizer.clone();
        });
        let _playing = play(&scene, with_rule(None, true));
        while scene.calls("delete a").is_empty() {
            sleep(SECOND / 10).await;
        }
        assert_eq!(scene.row("a").unwrap().eviction, Eviction::Intended);
        scene.put("a", |object| object["status"] = json!({ "phase": "again" }));
        sleep(90 * SECOND).await;
        assert!(scene.state().objects.contains_key("a"));
        let row = scene.row("a").unwrap();
        assert_eq!((row.eviction, row.delete_time, row.json().contains("again")), (Eviction::None, None, true));
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_that_a_finalizer_of_others_holds_stays() {
    let scene = Scene::new(quiet);
    scene.put("a", |object| {
        FINISHED(object);
        object["metadata"]["finalizers"] = json!([FINALIZER, "example.com/other"]);
    });
    let _playing = play(&scene, with_rule(None, true));
    sleep(200 * SECOND).await;
    assert!(scene.calls("delete").is_empty());
    assert_eq!(scene.row("a").unwrap().eviction, Eviction::None);
}

/// An earlier process had written `evict_time` and deleted the object, which takes a while, and was killed. If an annotation asked for the
/// eviction and has been removed since, the object is deleted.
#[tokio::test(start_paused = true)]
async fn a_slow_deletion_for_a_rule_is_an_eviction_also_after_a_crash() {
    for (asked, evicted) in [(json!({}), true), (json!({ "michelangelo/Immutable": "true" }), false)] {
        let scene = Scene::new(quiet);
        scene.put("a", |object| {
            FINISHED(object);
            object["metadata"]["annotations"] = asked.clone();
        });
        scene.store_row("a", None);
        if let Some(row) = scene.state().rows.get_mut("uid-a") {
            (row.evict_time, row.eviction) = (Some(Micros(1)), Eviction::Intended);
        }
        scene.put("a", |object| {
            object["metadata"]["annotations"] = json!({});
            object["metadata"]["finalizers"] = json!(["example.com/slow"]);
            object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        });
        let _playing = play(&scene, Config::default());
        sleep(60 * SECOND).await;
        let leaving = if evicted { Eviction::Intended } else { Eviction::None };
        assert_eq!(scene.row("a").map(|row| (row.res_version, row.eviction)), Some((3, leaving)));
        // Its last state, and its end.
        scene.put("a", |object| object["status"]["words"] = json!("last"));
        sleep(SECOND).await;
        scene.put("a", |object| object["metadata"]["finalizers"] = json!([]));
        sleep(60 * SECOND).await;
        let row = scene.row("a").unwrap();
        let gone = if evicted { Eviction::Confirmed } else { Eviction::None };
        assert_eq!((row.eviction, row.delete_time.is_none()), (gone, evicted));
        assert!(row.json().contains("last"), "{}", row.json());
    }
}

/// An earlier process had written `evict_time`, and was killed before it deleted the object.
#[tokio::test(start_paused = true)]
async fn what_a_crash_left_intended_lives_again_and_is_judged_again() {
    for (config, evicted) in [(Config::default(), Eviction::None), (with_rule(None, true), Eviction::Confirmed)] {
        let scene = Scene::new(quiet);
        scene.put("a", FINISHED);
        scene.store_row("a", None);
        if let Some(row) = scene.state().rows.get_mut("uid-a") {
            (row.evict_time, row.eviction) = (Some(Micros(1)), Eviction::Intended);
        }
        let _playing = play(&scene, config);
        sleep(120 * SECOND).await;
        assert_eq!(scene.row("a").unwrap().eviction, evicted);
        assert_eq!(scene.state().objects.contains_key("a"), evicted == Eviction::None);
    }
}

fn with_selector(selector: &str) -> Config {
    let mut config = with_rule(None, true);
    for rule in config.policies.evict.values_mut().flatten() {
        rule.condition.namespace_selector = Some(selector.to_owned());
    }
    config
}

#[tokio::test(start_paused = true)]
async fn objects_leave_only_from_namespaces_that_are_selected_now() {
    let scene = Scene::new(|call| if call == "namespaces" { Trouble::Status(503) } else { Trouble::None });
    scene.put("a", FINISHED);
    scene.state().namespaces.insert("ml".into(), "tier=batch".into());
    let _playing = play(&scene, with_selector("tier=batch"));
    // While the labels are unknown, and while they are different.
    sleep(200 * SECOND).await;
    assert!(!scene.calls("namespaces").is_empty() && scene.calls("candidates").is_empty());
    scene.state().namespaces.insert("ml".into(), "tier=gold".into());
    scene.state().trouble = quiet;
    sleep(200 * SECOND).await;
    assert!(scene.state().objects.contains_key("a") && scene.calls("candidates").is_empty());
    scene.state().namespaces.insert("ml".into(), "tier=batch".into());
    sleep(200 * SECOND).await;
    assert_eq!(scene.row("a").unwrap().eviction, Eviction::Confirmed);
}

/// The scenes' kind, with a rule.
fn kind_with_rule() -> Kind {
    const RULES: &[schema::EvictionRule] = &[schema::EvictionRule {
        name: "finished",
        field_selector: "",
        label_selector: "phase=done",
        after: None,
        since: None,
        keep_last: None,
        namespaces: &[],
        namespace_selector: "",
    }];
    MODEL.evicting(RULES)
}

#[tokio::test(start_paused = true)]
async fn a_rule_of_the_kind_is_dry_until_the_configuration_enforces_it() {
    for enforce in [false, true] {
        let scene = Scene::new(quiet);
        scene.put("a", FINISHED);
        let mut config = with_rule(None, enforce);
        if enforce {
            for rule in config.policies.evict.values_mut().flatten() {
                rule.condition.when = Vec::new();
            }
        } else {
            config.policies.evict.clear();
        }
        let stop = CancellationToken::new();
        scene.play_kind(kind_with_rule(), config, &stop, &stop);
        sleep(90 * SECOND).await;
        assert_eq!(scene.state().objects.contains_key("a"), !enforce);
        assert_eq!(scene.metric("ingester_policy_objects"), u32::from(!enforce));
    }
}
