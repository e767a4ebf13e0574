//! A fail-over: the server of the open connections becomes read-only, and the address leads to another one.

use crate::world::{change, kind, model};
use anyhow::{Result, ensure};
use ingester_store::{Address, ConnectOptions, ErrorClass, Retry, Store};
use ingester_tests::{Durability, MariaDb, MySql, SqlServer, skipped_without_mysql};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, MySqlConnection};
use std::ops::Deref as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

#[test]
fn mariadb() -> Result<()> {
    let (old, new) = (MariaDb::start_with(Durability::Fast, &[])?, MariaDb::start_with(Durability::Fast, &[])?);
    a_writer_moves_to_the_new_primary(old.deref(), new.deref())
}

#[test]
fn mysql() -> Result<()> {
    match (MySql::start()?, MySql::start()?) {
        (Some(old), Some(new)) => a_writer_moves_to_the_new_primary(old.deref(), new.deref()),
        _ => {
            skipped_without_mysql();
            Ok(())
        }
    }
}

/// A primary whose commits wait for its replica (semi-synchronous replication): whatever was acknowledged is on both.
#[test]
fn a_writer_with_a_list_of_servers_follows_the_primary() -> Result<()> {
    let replicating = |id: &'static str| {
        MariaDb::start_with(
            Durability::Fast,
            &[
                "--log-bin=binlog",
                "--log-slave-updates=ON",
                id,
                "--rpl-semi-sync-master-enabled=ON",
                "--rpl-semi-sync-slave-enabled=ON",
                "--rpl-semi-sync-master-wait-point=AFTER_SYNC",
                "--rpl-semi-sync-master-timeout=60000",
                "--rpl-semi-sync-master-wait-no-slave=OFF",
            ],
        )
    };
    let servers = [replicating("--server-id=1")?, replicating("--server-id=2")?];
    let [Some(first), Some(second)] = [&servers[0], &servers[1]].map(|server| server.port()) else {
        // The environment names one server.
        return Ok(());
    };
    let follow = |port: u16| {
        format!(
            "CHANGE MASTER TO master_host = '127.0.0.1', master_port = {port}, master_user = 'root', master_use_gtid = slave_pos"
        )
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let [one, two] = [servers[0].deref(), servers[1].deref()];
        sql(two, "", &["SET GLOBAL read_only = 1", "RESET MASTER", &follow(first), "START SLAVE"]).await?;
        let address: Address = one.create_database("failover").await?.parse()?;
        Store::connect(&address, ConnectOptions::default()).await?.create_missing(crd_specs::KINDS).await?;
        let grant = "GRANT SELECT, INSERT, UPDATE, DELETE ON failover.* TO 'app'@'%'";
        sql(one, "", &["CREATE USER 'app'@'%'", grant]).await?;
        caught_up(one, two).await?;

        // The replica stands first in the list.
        let hosts = format!("127.0.0.1:{second},127.0.0.1:{first}");
        let address = Address::mysql(&hosts, 3306, "app", None, "failover");
        let retry = Retry { attempts: Some(60), ..Retry::SHORT };
        let store = Store::connect(&address, ConnectOptions { retry, ..ConnectOptions::default() }).await?;
        let table = kind("Model").table();
        let mut acknowledged = Vec::new();
        let mut write = async |count: usize| {
            for _ in 0..count {
                let uid = format!("u{:04}", acknowledged.len());
                store.write(table, vec![change(&model(&uid, 1))]).await?;
                acknowledged.push(uid);
            }
            anyhow::Ok(acknowledged.clone())
        };
        write(20).await?;

        // A switch-over: the primary becomes a replica. The connections to it are left, although it answers.
        sql(one, "", &["SET GLOBAL read_only = 1"]).await?;
        caught_up(one, two).await?;
        sql(two, "", &["STOP SLAVE", "RESET SLAVE ALL", "SET GLOBAL read_only = 0"]).await?;
        sql(one, "", &["SET GLOBAL gtid_slave_pos = @@gtid_current_pos", &follow(second), "START SLAVE"]).await?;
        let expected = write(20).await?;
        assert_eq!(uids(two).await?, expected);

        // A fail-over: the new primary crashes, and the replica is promoted while the writer tries.
        caught_up(two, one).await?;
        two.kill()?;
        let promote = async {
            tokio::task::yield_now().await;
            sql(one, "", &["STOP SLAVE", "RESET SLAVE ALL", "SET GLOBAL read_only = 0"]).await
        };
        let (expected, promoted) = tokio::join!(write(20), promote);
        promoted?;
        assert_eq!(uids(one).await?, expected?, "everything that was acknowledged, before and after");
        Ok(())
    })
}

/// The stored objects, as a server has them.
async fn uids(server: &SqlServer) -> Result<Vec<String>> {
    let mut connection = MySqlConnection::connect(&server.url("failover")).await?;
    Ok(sqlx::query_scalar("SELECT uid FROM model ORDER BY uid").fetch_all(&mut connection).await?)
}

/// Waits until a replica has what its primary has.
async fn caught_up(primary: &SqlServer, replica: &SqlServer) -> Result<()> {
    let mut connection = MySqlConnection::connect(&primary.url("")).await?;
    let position: String = sqlx::query_scalar("SELECT @@gtid_binlog_pos").fetch_one(&mut connection).await?;
    let mut connection = MySqlConnection::connect(&replica.url("")).await?;
    let wait = sqlx::query_scalar("SELECT MASTER_GTID_WAIT(?, 30)").bind(position);
    let waited: i64 = wait.fetch_one(&mut connection).await?;
    ensure!(waited == 0, "the replica does not follow");
    Ok(())
}

/// Listens on a port of its own and passes every new connection on to the server whose port `target` holds. Connections that are
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

async fn sql(server: &SqlServer, database: &str, statements: &[&str]) -> Result<()> {
    let mut connection = MySqlConnection::connect(&server.url(database)).await?;
    for statement in statements {
        let statement = AssertSqlSafe((*statement).to_owned());
        connection.execute(sqlx::raw_sql(statement)).await?;
    }
    Ok(connection.close().await?)
}

fn a_writer_moves_to_the_new_primary(old: &SqlServer, new: &SqlServer) -> Result<()> {
    let (Some(old_port), Some(new_port)) = (old.port(), new.port()) else {
        // The environment names one server, and there is no other one to fail over to.
        return Ok(());
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let mut counts = Vec::new();
        for server in [old, new] {
            let address: Address = server.create_database("failover").await?.parse()?;
            Store::connect(&address, ConnectOptions::default()).await?.create_missing(crd_specs::KINDS).await?;
            // Without the right to write to a read-only server, which root has.
            let grant = "GRANT SELECT, INSERT, UPDATE, DELETE ON failover.* TO 'app'@'%'";
            sql(server, "", &["CREATE USER 'app'@'%'", grant]).await?;
        }
        let target = Arc::new(AtomicU16::new(old_port));
        let port = forward(target.clone()).await?;
        let address = Address::mysql("127.0.0.1", port, "app", None, "failover");
        let retry = Retry { first: Duration::from_millis(1), longest: Duration::from_millis(20), attempts: Some(5) };
        let options =
            ConnectOptions { connections: 2, max_idle: 0, max_lifetime: None, retry, ..ConnectOptions::default() };
        let store = Arc::new(Store::connect(&address, options).await?);
        let table = kind("Model").table();
        store.write(table, vec![change(&model("a", 1))]).await?;

        // Read-only, and the name still leads there.
        sql(old, "", &["SET GLOBAL read_only = 1"]).await?;
        let error = store.write(table, vec![change(&model("b", 1))]).await.expect_err("read-only");
        assert_eq!(error.class(), ErrorClass::Transient, "{error}");

        // The open connections lead to the old server.
        let both = async || tokio::try_join!(store.stored(table, &["a"]), store.stored(table, &["a"]));
        both().await?;
        target.store(new_port, Ordering::SeqCst);
        store.write(table, vec![change(&model("b", 1))]).await?;
        for server in [old, new] {
            let mut connection = MySqlConnection::connect(&server.url("failover")).await?;
            let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM model").fetch_one(&mut connection).await?;
            counts.push(count);
        }
        assert_eq!(counts, [1, 1], "each has the row that was written while it was the primary");
        // Every connection that is used from now on leads to the new server.
        for _ in 0..5 {
            let (one, other) = both().await?;
            assert!(one.is_empty() && other.is_empty(), "read from the old server");
        }
        Ok(())
    })
}
