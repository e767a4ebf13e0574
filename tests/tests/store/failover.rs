//! A fail-over: the server of the open connections becomes read-only, and the address leads to another one.

use crate::world::{change, kind, model};
use anyhow::Result;
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
