//! Requests that take the database long.

use crate::log::lines;
use crate::world::{Database, SLOW, Setup, World, served_in_spite_of, until};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A database in which [`SLOW`] takes seconds.
fn large(database: Database) -> Setup {
    Setup { database, objects: 4000, size: 100, ..Setup::default() }
}

/// The time that her work takes without an attack, while others have as many processors as the scans that are read at a time. So the
/// difference is what she waits for the server, and not for the machine.
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
    let world = World::of(Setup { time: Duration::from_secs(6), ..large(Database::MariaDb) }).await;
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
