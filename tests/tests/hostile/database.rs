//! Requests that are slow in the database.

use crate::log::lines;
use crate::world::{Database, MODELS, SLOW, Setup, World, served_in_spite_of, until, within_a_second};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A database in which [`SLOW`] takes seconds.
fn large(database: Database) -> Setup {
    Setup { database, objects: 4000, size: 100, ..Setup::default() }
}

/// The time that her work takes without an attack, while others use as many processors as the concurrent scans. So the
/// difference is her wait for the server, and not for the machine.
async fn alone_beside_scans(world: &World) -> Duration {
    let over = Arc::new(AtomicBool::new(false));
    for _ in 0..2 {
        let over = over.clone();
        std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
    }
    let alone = world.median("ada").await;
    over.store(true, Ordering::Relaxed);
    alone
}

#[tokio::test(flavor = "multi_thread")]
async fn collections_of_one_user_leave_connections_for_the_writes_of_others() {
    let world = World::with_setup(Setup { time: Duration::from_secs(6), ..large(Database::MariaDb) }).await;
    let alone = alone_beside_scans(&world).await;
    let mut held = Vec::new();
    for _ in 0..20 {
        held.push(world.send("eve", "DELETE", SLOW, "").await);
    }
    until("they are searched for", async || world.store.connections().used >= 2).await;
    served_in_spite_of(&world, alone).await;
    assert!(lines("eve").len() < 20, "it was under attack until now");
    drop(held);
    until("each has its line", async || lines("eve").len() == 20).await;
    until("no connection is in use", async || world.store.connections().used == 0).await;
    let begun = lines("eve").iter().filter(|line| line.contains_key("count")).count();
    assert!(begun < 20, "those that waited were not begun when their client had gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn scans_of_a_file_do_not_keep_others_from_reading_it() {
    let world = World::with_setup(large(Database::File)).await;
    let alone = alone_beside_scans(&world).await;
    let mut held = Vec::new();
    for number in 0..30 {
        let limit = if number % 2 == 0 { "&limit=5" } else { "" };
        held.push(world.send("eve", "GET", &(SLOW.to_owned() + limit), "").await);
    }
    until("they are read", async || world.reads.connections().used >= 1).await;
    served_in_spite_of(&world, alone).await;
    assert!(lines("eve").len() < 30, "it was under attack until now");
    drop(held);
    within_a_second("no connection is in use", async || world.reads.connections().used == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_whose_clients_go_leave_nothing_behind() {
    const LISTS: usize = 60;
    let world = World::with_setup(large(Database::File)).await;
    let alone = alone_beside_scans(&world).await;
    let attack = async {
        let mut held = Vec::new();
        for number in 0..LISTS {
            let limit = if number % 2 == 0 { "&limit=5" } else { "" };
            held.push(world.send("eve", "GET", &(SLOW.to_owned() + limit), "").await);
        }
        // A request of a client that goes before the server has read it leaves no line.
        until("the server has all of them", async || world.count("ingester_serve_requests_in_flight ") >= LISTS as f64)
            .await;
        // While they stay.
        tokio::time::sleep(Duration::from_millis(150)).await;
        drop(held);
        within_a_second("no connection is in use", async || world.reads.connections().used == 0).await;
    };
    tokio::join!(attack, served_in_spite_of(&world, alone));
    until("each has its line", async || lines("eve").len() == LISTS).await;
    assert!(lines("eve").iter().all(|line| line["code"] == "499"), "{:?}", lines("eve").first());
    assert_eq!(world.reads.connections().used, 0);
    assert_eq!(world.ask("eve", "GET", &format!("{MODELS}/m0"), "").await, 200);
}
