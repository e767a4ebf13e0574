//! Open restores: concurrent writes, interruptions, and giving them up.

use super::{Fake, Fault, model, object, of_old, path, target};
use crate::restore::abandonment::give_up_at;
use crate::restore::{Abandonment, RestoreRequest, restore};
use crate::status::Reason;
use crate::write::{self, Options};
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_core::value::Micros;
use ingester_store::RowChange;
use serde_json::{Value, json};
use std::time::Duration;

/// Begins a restore whose request to create the object is never answered, and then kills it.
async fn interrupted(fake: &Fake) {
    *fake.refusal.lock() = Some(Fault::Unanswered);
    let sent = async {
        while fake.refusal.lock().is_some() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        ended = restore(&fake.store, fake.client(), model(), of_old()) => panic!("it is not answered: {ended:?}"),
        () = sent => {}
    }
}

/// Returns the number of the restore in an object's text.
fn nonce_of(text: &str) -> String {
    let object: Value = serde_json::from_str(text).unwrap();
    object["metadata"]["annotations"]["michelangelo/RestoreNonce"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn no_write_that_is_answered_is_lost_beside_a_restore() {
    let fake = Fake::new(true).await;
    fake.evicted(&object("old")).await;
    let options = Options::default();
    let label = async |team: &str| {
        let patch = json!({"metadata": {"labels": {"team": team}}}).to_string();
        let kind = Some("application/merge-patch+json");
        write::patch(&fake.store, target(model()), &options, kind, patch.as_bytes()).await
    };
    label("before").await.unwrap();
    interrupted(&fake).await;
    let delete = write::delete(&fake.store, target(model()), &options, None, b"").await;
    let put = write::put(&fake.store, target(model()), &options, None, object("old").to_string().as_bytes()).await;
    for refused in [label("meanwhile").await, delete, put] {
        let status = refused.unwrap_err();
        assert_eq!((status.code.as_u16(), status.reason), (409, Reason::Conflict));
        assert!(status.message.contains("`ingester restore Model a -n ml`"), "{status}");
        assert!(status.message.contains("--abandon"), "{status}");
    }
    // The restore continues with the same number and the data that were written before.
    restore(&fake.store, fake.client(), model(), of_old()).await.unwrap();
    assert_eq!(fake.has(&path()).unwrap()["metadata"]["labels"]["team"], "before");
    let bodies = fake.bodies.lock().clone();
    assert_eq!(nonce_of(&bodies[0]), nonce_of(&bodies[1]));
    assert!(fake.deleted("old").await);
    assert_eq!(fake.store.open_restore(model(), "old").await.unwrap(), None);
}

#[tokio::test]
async fn a_restore_that_is_refused_leaves_the_row_as_it_was() {
    let fake = Fake::new(true).await;
    fake.evicted(&object("old")).await;
    *fake.refusal.lock() = Some(Fault::Refused(403));
    let status = restore(&fake.store, fake.client(), model(), of_old()).await.unwrap_err();
    assert_eq!(status.code.as_u16(), 403);
    assert_eq!(fake.store.open_restore(model(), "old").await.unwrap(), None);
    // But after a request that may have been accepted, a refusal says nothing about that request.
    interrupted(&fake).await;
    *fake.refusal.lock() = Some(Fault::Refused(403));
    restore(&fake.store, fake.client(), model(), of_old()).await.unwrap_err();
    assert!(fake.store.open_restore(model(), "old").await.unwrap().is_some());
}

#[tokio::test]
async fn two_restores_at_once_create_one_object() {
    let fake = Fake::new(true).await;
    fake.evicted(&object("old")).await;
    let one = || restore(&fake.store, fake.client(), model(), of_old());
    let (first, second) = tokio::join!(one(), one());
    for restored in [first.unwrap(), second.unwrap()] {
        assert!(restored.finished && restored.warnings.is_empty(), "{restored:?}");
    }
    let bodies = fake.bodies.lock().clone();
    assert!(bodies.iter().all(|body| nonce_of(body) == nonce_of(&bodies[0])), "{bodies:?}");
    assert!(fake.deleted("old").await);
}

#[tokio::test]
async fn an_interrupted_restore_is_given_up_once_its_request_cannot_arrive_any_more() {
    let fake = Fake::new(true).await;
    fake.evicted(&object("old")).await;
    let give_up = |now| give_up_at(&fake.store, fake.client(), model(), of_old(), now);
    let status = give_up(Micros::now()).await.unwrap_err();
    assert!(status.code == 409 && status.message.contains("no restore of it is open"), "{status}");
    interrupted(&fake).await;
    let begun = fake.store.open_restore(model(), "old").await.unwrap().unwrap();
    let status = give_up(Micros(begun.time.0 + 89_000_000)).await.unwrap_err();
    assert!(status.code == 409 && status.message.contains("may still be under way"), "{status}");
    let late = Micros(begun.time.0 + 90_000_001);
    assert_eq!(give_up(late).await.unwrap(), Abandonment::GivenUp { name: "a".into(), uid: "old".into() });
    write::delete(&fake.store, target(model()), &Options::default(), None, b"").await.unwrap();

    // The object had been created after all, so its restore is completed.
    let fake = Fake::new(false).await;
    fake.evicted(&object("old")).await;
    interrupted(&fake).await;
    let mut created: Value = serde_json::from_str(&fake.bodies.lock()[0]).unwrap();
    created["metadata"]["uid"] = json!("new");
    created["metadata"]["resourceVersion"] = json!("100");
    created["metadata"]["managedFields"] = json!([]);
    created.as_object_mut().unwrap().remove("status");
    fake.put(&path(), created);
    let wanted = RestoreRequest { patience: Duration::ZERO, ..of_old() };
    let completed = give_up_at(&fake.store, fake.client(), model(), wanted, Micros::now()).await;
    let Ok(Abandonment::Completed(restored)) = completed else { panic!("it is completed: {completed:?}") };
    assert!(!restored.finished && !fake.deleted("old").await, "the mirror has not stored it: {restored:?}");
    let completed = fake.has(&path()).unwrap();
    assert_eq!(completed["status"]["state"], "READY");
    fake.write(&completed, |row| row).await;
    assert!(fake.deleted("old").await);
}

#[tokio::test]
async fn an_object_of_a_restore_that_was_given_up_does_not_end_a_row_that_lives() {
    let fake = Fake::new(true).await;
    fake.evicted(&object("old")).await;
    interrupted(&fake).await;
    let begun = fake.store.open_restore(model(), "old").await.unwrap().unwrap();
    assert!(fake.store.give_up_restore(model(), "old", &begun).await.unwrap());
    // The request arrives late.
    let mut created: Value = serde_json::from_str(&fake.bodies.lock()[0]).unwrap();
    created["metadata"]["uid"] = json!("new");
    created["metadata"]["resourceVersion"] = json!("100");
    fake.put(&path(), created.clone());
    fake.mirror(&created).await;
    assert!(!fake.deleted("old").await);
    let status = restore(&fake.store, fake.client(), model(), of_old()).await.unwrap_err();
    assert!(status.code == 409 && status.message.contains("was given up"), "{status}");
    assert!(!fake.deleted("old").await);
}

#[tokio::test]
async fn numbers_are_sent_and_answered_as_they_are_stored() {
    let fake = Fake::new(true).await;
    let text = object("old").to_string();
    let big = r#""spec":{"algorithm":"xgboost","more":[123456789.12345679,18446744073709551617,1.50]}"#;
    let text = text.replace(r#""spec":{"algorithm":"xgboost"}"#, big);
    let stored = Object::parse(text, ManagedFields::Prune).unwrap();
    let row = Row { evict_time: Some(Micros(0)), evict_confirmed: true, ..model().row(&stored).unwrap().unwrap() };
    fake.store.write(model().table(), vec![RowChange::Row(row)]).await.unwrap();
    restore(&fake.store, fake.client(), model(), of_old()).await.unwrap();
    let bodies = fake.bodies.lock().clone();
    assert!(bodies[0].contains(big), "{bodies:?}");
}
