//! Tests of the changes that a changed file makes without a restart.

use super::*;
use crate::config::row::Effect;

#[test]
fn each_key_is_taken_up_or_named_and_no_other() {
    for (line, path, effect) in [
        ("ingester: {suspend: [Model]}", "ingester.suspend", Effect::Now),
        ("ingester: {requeuePeriodMap: {Model: 1s}}", "ingester.requeuePeriodMap", Effect::Now),
        ("ingester: {auditPeriod: 1h}", "ingester.auditPeriod", Effect::Now),
        ("metadataStorage: {deletionDelay: 1m}", "metadataStorage.deletionDelay", Effect::Now),
        ("log: {level: debug}", "log.level", Effect::Now),
        ("ingester: {namespaces: [a]}", "ingester.namespaces", Effect::Restart),
        ("ingester: {viewSettings: {region: eu}}", "ingester.viewSettings", Effect::Restart),
        ("mysql: {tls: {mode: required}}", "mysql.tls.mode", Effect::Restart),
        ("server: {address: ':1'}", "server.address", Effect::Restart),
        ("serve: {rate: 1}", "serve.rate", Effect::Serve),
        (
            "metadataStorage: {enableResourceVersionCache: true}",
            "metadataStorage.enableResourceVersionCache",
            Effect::None,
        ),
    ] {
        let before = Config::default();
        let changed = parse(line).unwrap();
        let mut now = before.clone();
        let changes = now.take_up(&changed);
        let expected = match effect {
            Effect::Now => ConfigChanges { taken_up: vec![path], need_a_restart: Vec::new() },
            Effect::Restart => ConfigChanges { taken_up: Vec::new(), need_a_restart: vec![path] },
            Effect::Serve | Effect::None => ConfigChanges::default(),
        };
        assert_eq!(changes, expected, "{line}");
        assert_eq!(now, if effect == Effect::Now { changed } else { before }, "{line}");
    }
}

#[tokio::test]
async fn a_waiter_for_a_part_hears_only_of_its_change() {
    let (sender, live) = Live::new(Config::default());
    let waiter = live.clone();
    let waiting = tokio::spawn(async move {
        waiter.changed(&Vec::new(), |config| config.ingester.suspend.clone()).await;
        waiter.now().ingester.suspend.clone()
    });
    for text in ["log: {level: debug}", "ingester: {suspend: [Model]}"] {
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished(), "{text}");
        sender.send_replace(std::sync::Arc::new(parse(text).unwrap()));
    }
    assert_eq!(waiting.await.unwrap(), ["Model"]);
}
