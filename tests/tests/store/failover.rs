//! A fail-over: the server of the open connections becomes read-only, and the address leads to another one.

use crate::history;
use crate::world::{MODEL_AND_PROJECT, change, kind, model};
use anyhow::{Context as _, Result};
use ingester_store::{Address, ConnectOptions, ErrorClass, Retry, Store};
use ingester_tests::databases::On;
use ingester_tests::{SqlServer, with_every_server, with_servers};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};

with_every_server! {
    a_writer_with_a_list_of_servers_follows_the_primary
}

// A server of PostgreSQL does not become read-only while its connections are open.
with_servers! { (a_writer_moves_to_the_new_primary) [mariadb MariaDb] [mysql MySql] }

async fn a_writer_with_a_list_of_servers_follows_the_primary(on: On) -> Result<()> {
    let Some(pair) = on.replicated().await? else { return Ok(()) };
    let one = pair.server(0);
    let two = pair.server(1);
    let address: Address = one.create_database("failover").await?.parse()?;
    let tables = Store::connect(&address, ConnectOptions::default()).await?;
    tables.create_missing(MODEL_AND_PROJECT).await?;
    tables.create_missing(&[history::KIND]).await?;
    create_user(on, one).await?;
    pair.caught_up(1).await?;

    // The replica stands first in the list.
    let address: Address = pair.url("app", "failover")?.parse()?;
    let retry = Retry::SHORT.attempts(Some(200));
    let store = connected(&address, ConnectOptions::default().retry(retry)).await?;
    let table = kind("Model").table();
    let mut acknowledged = Vec::new();
    let mut write = async |count: usize| {
        for _ in 0..count {
            let uid = format!("u{:04}", acknowledged.len());
            store.write(table, vec![change(&model(&uid, 1))]).await?;
            acknowledged.push(uid);
            // A version of an object of a kind with a history for each.
            store.write(history::KIND.table(), vec![history::live("a", acknowledged.len() as u64)]).await?;
        }
        anyhow::Ok(acknowledged.clone())
    };
    write(20).await?;
    let moves = store.moves();
    assert_eq!(*moves.borrow(), 0);
    // The tests' servers flush their logs at any time.
    let risks = store.risks();
    let expected: &[&str] = match on {
        On::Postgres => &["fsync=off"],
        _ => &["innodb_flush_log_at_trx_commit=2: ", "sync_binlog=0: "],
    };
    for begin in expected {
        assert!(risks.iter().any(|risk| risk.starts_with(begin)), "{begin}: {risks:?}");
    }
    assert!(!risks.iter().any(|risk| risk.contains("semi-synchronous")), "{risks:?}");

    // The connections to the former primary are given up, although it answers.
    pair.switch_over(1).await?;
    let expected = write(20).await?;
    assert_eq!(uids(two).await?, expected);
    assert_eq!(versions(two).await?, (1..=40).collect::<Vec<_>>());
    assert_eq!(*moves.borrow(), 1, "the mirror is told, whose rows may be lost");

    // The new primary crashes, and the replica is promoted while the writer tries.
    pair.caught_up(0).await?;
    two.kill()?;
    let promote = async {
        tokio::task::yield_now().await;
        pair.promote(0).await
    };
    let (expected, promoted) = tokio::join!(write(20), promote);
    promoted?;
    assert_eq!(uids(one).await?, expected?, "everything that was acknowledged, before and after");
    assert_eq!(versions(one).await?, (1..=60).collect::<Vec<_>>(), "each version that was acknowledged, once");
    assert_eq!(*moves.borrow(), 2);
    Ok(())
}

/// A store of a list of servers, which may need several attempts where each answer takes long.
async fn connected(address: &Address, options: ConnectOptions) -> Result<Store> {
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        match Store::connect(address, options).await {
            Err(error) if error.class() == ErrorClass::Transient && Instant::now() < deadline => {}
            connected => return Ok(connected?),
        }
    }
}

/// The stored objects, as a server has them.
async fn uids(server: &SqlServer) -> Result<Vec<String>> {
    Ok(server.sql("failover", "SELECT uid FROM model ORDER BY uid").await?.into_iter().flatten().flatten().collect())
}

/// The versions of the object with a history, as a server has them: the former ones, and the present one.
async fn versions(server: &SqlServer) -> Result<Vec<u64>> {
    let sql = "SELECT res_version FROM run_history ORDER BY valid_from";
    let mut rows = server.sql("failover", sql).await?;
    rows.extend(server.sql("failover", "SELECT res_version FROM run").await?);
    rows.into_iter().flatten().flatten().map(|text| Ok(text.parse()?)).collect()
}

/// Makes a user who writes objects, without an administrator's right to write to a read-only server.
async fn create_user(on: On, server: &SqlServer) -> Result<()> {
    let sql = match on {
        On::Postgres => {
            "CREATE ROLE app LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO app"
        }
        _ => "CREATE USER 'app'@'%'; GRANT SELECT, INSERT, UPDATE, DELETE ON failover.* TO 'app'@'%'",
    };
    server.sql("failover", sql).await.map(drop)
}

/// Listens on its own port and forwards every new connection to the server whose port `target` holds. Connections that are
/// open stay where they are, as after a change in the DNS.
async fn forward(target: Arc<AtomicU16>) -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let target = target.load(Ordering::SeqCst);
            tokio::spawn(async move {
                let mut server = TcpStream::connect(("127.0.0.1", target)).await?;
                tokio::io::copy_bidirectional(&mut client, &mut server).await
            });
        }
    });
    Ok(port)
}

async fn a_writer_moves_to_the_new_primary(on: On) -> Result<()> {
    let (Some(old), Some(new)) = (on.own()?, on.own()?) else { return Ok(()) };
    let [old, new]: [&SqlServer; 2] = [&old, &new];
    let old_port = old.port().context("a port")?;
    let new_port = new.port().context("a port")?;
    let mut counts = Vec::new();
    for server in [old, new] {
        let address: Address = server.create_database("failover").await?.parse()?;
        Store::connect(&address, ConnectOptions::default()).await?.create_missing(MODEL_AND_PROJECT).await?;
        create_user(on, server).await?;
    }
    let target = Arc::new(AtomicU16::new(old_port));
    let port = forward(target.clone()).await?;
    let address = Address::mysql("127.0.0.1", port, "app", None, "failover")?;
    let first = Duration::from_millis(1);
    let longest = Duration::from_millis(20);
    let retry = Retry::SHORT.first(first).longest(longest).attempts(Some(5));
    let options = ConnectOptions::default().connections(2).max_idle(0).max_lifetime(None).retry(retry);
    let store = Arc::new(Store::connect(&address, options).await?);
    let table = kind("Model").table();
    store.write(table, vec![change(&model("a", 1))]).await?;

    // Read-only, and the name still leads there.
    old.run(&["SET GLOBAL read_only = 1"]).await?;
    let error = store.write(table, vec![change(&model("b", 1))]).await.expect_err("read-only");
    assert_eq!(error.class(), ErrorClass::Transient, "{error}");

    // The open connections lead to the old server.
    let both = async || tokio::try_join!(store.read_stored(table, &["a"]), store.read_stored(table, &["a"]));
    both().await?;
    target.store(new_port, Ordering::SeqCst);
    store.write(table, vec![change(&model("b", 1))]).await?;
    for server in [old, new] {
        counts.push(uids(server).await?.len());
    }
    assert_eq!(counts, [1, 1], "each has the row that was written while it was the primary");
    // Every connection that is used from now on leads to the new server.
    for _ in 0..5 {
        let (one, other) = both().await?;
        assert!(one.is_empty() && other.is_empty(), "read from the old server");
    }
    Ok(())
}
