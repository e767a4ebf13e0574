//! The fuse of sweeps: the limit is for the kind, over all its units and all processes.

use crate::world::{Stores as _, World, kind, model, row};
use anyhow::Result;
use ingester_store::fuse::{Fuse, Sweep};
use ingester_store::{ConnectOptions, RowChange, Store};
use ingester_tests::{on_every_database, on_galera};

on_every_database! {
    units_of_a_kind_mark_no_more_rows_than_the_limit
    a_fifth_of_all_live_rows_may_go
}

on_galera! {
    units_of_a_kind_mark_no_more_rows_than_the_limit
}

const NAMESPACES: [&str; 4] = ["a", "b", "c", "d"];

fn fuse(limit: u64) -> Fuse {
    Fuse { limit, namespaces: NAMESPACES.map(str::to_owned).to_vec() }
}

/// Rows of a namespace, live or gone.
fn make_changes(namespace: &str, numbers: std::ops::Range<usize>, gone: bool) -> Vec<RowChange> {
    let change = |number| {
        let uid = format!("{namespace}-{number}");
        let mut object = model(&uid, 1);
        object["metadata"]["namespace"] = namespace.into();
        match gone {
            false => RowChange::Row(row(&object)),
            true => RowChange::Tombstone {
                uid: uid.into(),
                res_version: 2,
                delete_time: ingester_core::value::Micros::now(),
            },
        }
    };
    numbers.map(change).collect()
}

fn unit(namespace: &str) -> String {
    format!("Model in {namespace}")
}

/// Marks rows as the mirror does: counted first.
async fn mark(store: &Store, namespace: &str, numbers: std::ops::Range<usize>) -> Result<()> {
    store.count_swept(kind("Model"), &unit(namespace), numbers.len() as u64).await?;
    store.write(kind("Model").table(), make_changes(namespace, numbers, true)).await?;
    Ok(())
}

async fn units_of_a_kind_mark_no_more_rows_than_the_limit(world: World) -> Result<()> {
    let one = world.store().await?;
    for namespace in NAMESPACES {
        one.write(kind("Model").table(), make_changes(namespace, 0..8, false)).await?;
    }
    let fuse = fuse(10);
    let ask = async |store: &Store, namespace: &str, gone| {
        anyhow::Ok(store.ask_to_sweep(kind("Model"), &unit(namespace), gone, &fuse).await?)
    };
    assert_eq!(ask(&one, "a", 8).await?, Sweep::Allowed);
    mark(&one, "a", 0..3).await?;
    // The process is killed, and another one has the unit: it wants the rest.
    one.close().await;
    let two = world.connect(ConnectOptions::default()).await?;
    assert_eq!(ask(&two, "a", 5).await?, Sweep::Allowed);
    mark(&two, "a", 3..8).await?;
    // Units of another member, and of this one, at different moments.
    let three = world.connect(ConnectOptions::default()).await?;
    for (store, namespace) in [(&three, "b"), (&two, "c"), (&three, "d")] {
        let answer = ask(store, namespace, 8).await?;
        assert!(matches!(answer, Sweep::Refused { live: 24, .. }), "{namespace}: {answer:?}");
    }
    // All of these count: 8 marked ones, and 24.
    assert_eq!(ask(&two, "b", 8).await?, Sweep::Refused { gone: 32, live: 24 });
    assert_eq!(ask(&two, "a", 0).await?, Sweep::Allowed, "nothing is gone");
    assert_eq!(two.live_by_namespace(kind("Model")).await?.iter().map(|(_, rows)| rows).sum::<u64>(), 24);
    // The limit is raised, and holds for all of them together.
    let raised = Fuse { limit: 32, ..fuse.clone() };
    assert_eq!(two.ask_to_sweep(kind("Model"), &unit("b"), 8, &raised).await?, Sweep::Allowed);
    // The objects exist again after all.
    for namespace in ["c", "d"] {
        assert_eq!(ask(&two, namespace, 0).await?, Sweep::Allowed);
    }
    assert_eq!(ask(&three, "b", 2).await?, Sweep::Allowed, "8 marked, and 2");
    // Other kinds have their own fuse.
    let answer = three.ask_to_sweep(kind("Project"), "Project", 10, &fuse).await?;
    assert_eq!(answer, Sweep::Allowed);
    Ok(())
}

async fn a_fifth_of_all_live_rows_may_go(world: World) -> Result<()> {
    let store = world.store().await?;
    for namespace in NAMESPACES {
        store.write(kind("Model").table(), make_changes(namespace, 0..15, false)).await?;
    }
    // This kind is not mirrored.
    store.write(kind("Model").table(), make_changes("elsewhere", 0..100, false)).await?;
    let ask = async |namespace: &str, gone| {
        anyhow::Ok(store.ask_to_sweep(kind("Model"), &unit(namespace), gone, &fuse(10)).await?)
    };
    assert_eq!(ask("a", 12).await?, Sweep::Allowed, "a fifth of 60");
    assert_eq!(ask("b", 1).await?, Sweep::Refused { gone: 13, live: 60 });
    Ok(())
}
