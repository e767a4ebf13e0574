//! Rows of evicted objects that a rule has purged.

use super::*;
use ingester_config::{Condition, RetainedState, RetentionRule};

/// A rule of another process: the test removes what it would purge.
fn purged_after(after: Duration) -> Config {
    let since = Some(RetainedState::Evicted.since().into());
    let mut config = Config::default();
    config.retention.rules = vec![RetentionRule {
        name: "old".into(),
        kinds: vec!["Model".into()],
        state: RetainedState::Evicted,
        immutable: false,
        export: None,
        condition: Condition { after: Some(after), since, ..Condition::default() },
        enforce: true,
    }];
    config
}

const IMMUTABLE: fn(&mut Json) =
    |object| object["metadata"]["annotations"] = json!({ "michelangelo/Immutable": "true" });

/// Returns the number of rows that are reported as lost if they are gone an hour after their objects were evicted.
async fn told_as_lost(config: Config) -> u32 {
    let scene = Scene::new(quiet);
    let stop = CancellationToken::new();
    scene.play_with(config, &stop, &stop);
    sleep(SECOND).await;
    scene.put("a", IMMUTABLE);
    sleep(20 * SECOND).await;
    assert!(scene.row("a").is_some_and(|row| row.eviction == Eviction::Confirmed));
    sleep(3600 * SECOND).await;
    scene.state().rows.remove("uid-a");
    sleep(1300 * SECOND).await;
    scene.metric("ingester_evictions_lost_total")
}

#[tokio::test(start_paused = true)]
async fn a_row_that_a_rule_may_have_purged_is_not_told_as_lost() {
    assert_eq!(told_as_lost(Config::default()).await, 1);
    assert_eq!(told_as_lost(purged_after(36_000 * SECOND)).await, 1);
    assert_eq!(told_as_lost(purged_after(3600 * SECOND)).await, 0);
    let mut dry = purged_after(3600 * SECOND);
    dry.retention.rules[0].enforce = false;
    assert_eq!(told_as_lost(dry).await, 1);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_there_again_gets_a_row_once_its_evicted_one_is_purged() {
    let scene = Scene::new(quiet);
    let stop = CancellationToken::new();
    scene.play_with(purged_after(SECOND), &stop, &stop);
    sleep(SECOND).await;
    scene.put("a", IMMUTABLE);
    sleep(20 * SECOND).await;
    // It comes back in another state, with the same uid.
    scene.put("a", |object| object["spec"]["description"] = json!("restored"));
    sleep(20 * SECOND).await;
    assert_eq!(scene.metric("ingester_ghosts"), 1);
    scene.state().rows.remove("uid-a");
    sleep(1300 * SECOND).await;
    assert!(scene.is_live("a") && scene.row("a").unwrap().json().contains("restored"));
    assert_eq!(scene.metric("ingester_ghosts"), 0);
}
