//! A changed filter: the rows that it leaves out wait if they exceed the limit, and nothing else waits.

use super::{FILTERED, SECOND, Scene, quiet};
use crate::follow::Follower;
use ingester_config::{Config, Live, SweepLimit};
use ingester_core::value::Micros;
use serde_json::{Value as Json, json};
use std::sync::Arc;
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// More rows than the limit.
const ROWS: usize = 20;

fn names() -> impl Iterator<Item = String> {
    (0..ROWS).map(|number| format!("m{number:02}"))
}

fn leave_out(object: &mut Json) {
    object["spec"] = json!({ "mode": "left out" });
}

/// Changes every object, so that the mirror meets each of them.
fn touch(scene: &Scene) {
    names().for_each(|name| scene.put(&name, |object| object["metadata"]["labels"] = json!({ "touched": "true" })));
}

fn live(scene: &Scene) -> usize {
    names().filter(|name| scene.is_live(name)).count()
}

fn config(limit: u64) -> Config {
    let mut config = Config::default();
    config.ingester.sweep_limit = SweepLimit::from_rows(limit);
    config
}

/// Mirrors the kind with the filter and a limit of five rows.
fn play(scene: &Arc<Scene>) -> (watch::Sender<Arc<Config>>, CancellationToken) {
    let stop = CancellationToken::new();
    let mut unit = scene.unit(FILTERED, config(5), &stop, &stop);
    let (sender, live) = Live::new((*unit.live.now()).clone());
    unit.live = live;
    tokio::spawn(Follower::run(unit));
    (sender, stop)
}

/// Rows that another filter wrote, of objects that the current filter leaves out.
fn of_another_filter() -> Arc<Scene> {
    let scene = Scene::new(quiet);
    for name in names() {
        scene.put(&name, leave_out);
        scene.store_row(&name, None);
    }
    scene
}

#[tokio::test(start_paused = true)]
async fn rows_that_a_changed_filter_leaves_out_wait_until_the_limit_is_raised() {
    let scene = of_another_filter();
    let (sender, _stop) = play(&scene);
    sleep(5 * SECOND).await;
    touch(&scene);
    sleep(2000 * SECOND).await;
    assert_eq!(live(&scene), ROWS);
    assert_eq!(scene.metric("ingester_left_out_waiting_rows"), ROWS as u32);
    sender.send_modify(|config| Arc::make_mut(config).ingester.sweep_limit = SweepLimit::from_rows(ROWS as u64));
    sleep(10 * SECOND).await;
    assert_eq!((live(&scene), scene.metric("ingester_left_out_waiting_rows")), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn rows_that_wait_are_counted_again() {
    let scene = of_another_filter();
    let (_sender, _stop) = play(&scene);
    sleep(5 * SECOND).await;
    touch(&scene);
    sleep(100 * SECOND).await;
    assert_eq!(live(&scene), ROWS);
    // A person has marked all but a few.
    for row in scene.state().rows.values_mut().skip(4) {
        row.delete_time = Some(Micros(1));
    }
    sleep(1300 * SECOND).await;
    assert_eq!(live(&scene), 0);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_leaves_the_filter_by_its_own_change_is_marked_whatever_the_limit() {
    let scene = Scene::new(quiet);
    for name in names() {
        scene.put(&name, |_| {});
        scene.store_row(&name, None);
    }
    let (_sender, _stop) = play(&scene);
    sleep(5 * SECOND).await;
    names().for_each(|name| scene.put(&name, leave_out));
    sleep(60 * SECOND).await;
    assert_eq!(live(&scene), 0);
    assert!(scene.calls("judge").is_empty(), "nobody has to be asked");
}

#[tokio::test(start_paused = true)]
async fn the_deletion_of_an_object_whose_row_waits_does_not_wait() {
    let scene = of_another_filter();
    let (_sender, _stop) = play(&scene);
    sleep(5 * SECOND).await;
    touch(&scene);
    sleep(100 * SECOND).await;
    scene.put("m00", |object| object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z"));
    sleep(100 * SECOND).await;
    assert!(!scene.is_live("m00") && !scene.state().objects.contains_key("m00"), "our finalizer is gone");
    assert_eq!(live(&scene), ROWS - 1);
}

#[tokio::test(start_paused = true)]
async fn rows_below_the_limit_are_marked() {
    let scene = of_another_filter();
    scene.state().rows.retain(|uid, _| &**uid < "uid-m05");
    let (_sender, _stop) = play(&scene);
    sleep(5 * SECOND).await;
    touch(&scene);
    sleep(60 * SECOND).await;
    assert_eq!(live(&scene), 0);
}
