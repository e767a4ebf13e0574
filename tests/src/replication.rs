//! Two servers, one of which replicates the other, for tests of a switch-over and of a fail-over.

use anyhow::{Context as _, Result, ensure};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, MySqlConnection};

use crate::{
    mariadb::MariaDb,
    mysql::MySql,
    sql_server::{Durability, SqlServer},
};

/// How servers replicate, in the words of each kind. Commits wait for the replica (semi-synchronous replication): whatever was
/// acknowledged is on both.
#[derive(Debug)]
struct Words {
    options: &'static [&'static str],
    /// Forgets what was replicated before.
    forget: &'static str,
    /// Names the primary, up to its port.
    follow: &'static str,
    start: &'static str,
    promote: &'static [&'static str],
    /// What a server has done, as a text.
    position: &'static str,
    /// Waits up to 30 seconds for such a position; 0 when it is reached.
    wait: &'static str,
    /// What the former primary does before it follows.
    step_down: &'static [&'static str],
}

const MARIADB: Words = Words {
    options: &[
        "--log-bin=binlog",
        "--log-slave-updates=ON",
        "--rpl-semi-sync-master-enabled=ON",
        "--rpl-semi-sync-slave-enabled=ON",
        "--rpl-semi-sync-master-wait-point=AFTER_SYNC",
        "--rpl-semi-sync-master-timeout=60000",
        "--rpl-semi-sync-master-wait-no-slave=OFF",
    ],
    forget: "RESET MASTER",
    follow: "CHANGE MASTER TO master_host = '127.0.0.1', master_user = 'root', master_use_gtid = slave_pos, master_port =",
    start: "START SLAVE",
    promote: &["STOP SLAVE", "RESET SLAVE ALL", "SET GLOBAL read_only = 0"],
    position: "SELECT @@gtid_binlog_pos",
    wait: "SELECT MASTER_GTID_WAIT(?, 30)",
    step_down: &["SET GLOBAL gtid_slave_pos = @@gtid_current_pos"],
};

const MYSQL: Words = Words {
    options: &[
        "--log-bin=binlog",
        "--gtid-mode=ON",
        "--enforce-gtid-consistency=ON",
        "--plugin-load-add=semisync_source.so",
        "--plugin-load-add=semisync_replica.so",
        "--rpl-semi-sync-source-enabled=ON",
        "--rpl-semi-sync-replica-enabled=ON",
        "--rpl-semi-sync-source-timeout=60000",
        "--rpl-semi-sync-source-wait-no-replica=OFF",
    ],
    forget: "RESET BINARY LOGS AND GTIDS",
    follow: "CHANGE REPLICATION SOURCE TO source_host = '127.0.0.1', source_user = 'root', source_auto_position = 1, source_port =",
    start: "START REPLICA",
    promote: &["STOP REPLICA", "RESET REPLICA ALL", "SET GLOBAL read_only = 0"],
    position: "SELECT @@GLOBAL.gtid_executed",
    wait: "SELECT WAIT_FOR_EXECUTED_GTID_SET(?, 30)",
    step_down: &[],
};

/// Two servers. In the beginning the first is the primary.
#[derive(Debug)]
pub struct Replication<S> {
    servers: [S; 2],
    words: &'static Words,
}

impl Replication<MariaDb> {
    /// Two MariaDB servers. `None` if the environment names one, which is not ours to stop.
    ///
    /// # Errors
    /// When they do not start.
    pub async fn of_mariadb() -> Result<Option<Self>> {
        let start = |id| MariaDb::start_with(Durability::Fast, &[MARIADB.options, &[id]].concat());
        Replication { servers: [start("--server-id=1")?, start("--server-id=2")?], words: &MARIADB }.begin().await
    }
}

impl Replication<MySql> {
    /// Two MySQL servers. `None` if MySQL is not installed, or the environment names one, which is not ours to stop.
    ///
    /// # Errors
    /// When they do not start.
    pub async fn of_mysql() -> Result<Option<Self>> {
        let start = |id| MySql::start_with(Durability::Fast, &[MYSQL.options, &[id]].concat());
        let (Some(one), Some(two)) = (start("--server-id=1")?, start("--server-id=2")?) else { return Ok(None) };
        Replication { servers: [one, two], words: &MYSQL }.begin().await
    }
}

impl<S: std::ops::Deref<Target = SqlServer>> Replication<S> {
    async fn begin(self) -> Result<Option<Self>> {
        if self.servers.iter().any(|server| server.port().is_none()) {
            return Ok(None);
        }
        run(self.server(0), &[self.words.forget]).await?;
        run(self.server(1), &["SET GLOBAL read_only = 1", self.words.forget]).await?;
        self.follow(1).await?;
        Ok(Some(self))
    }

    /// One of the two.
    pub fn server(&self, place: usize) -> &SqlServer {
        &self.servers[place]
    }

    /// The hosts, the second of the two first, as a client names them.
    ///
    /// # Errors
    /// Never, for servers that were started here.
    pub fn hosts(&self) -> Result<String> {
        let [first, second] = [self.port(0)?, self.port(1)?];
        Ok(format!("127.0.0.1:{second},127.0.0.1:{first}"))
    }

    fn port(&self, place: usize) -> Result<u16> {
        self.server(place).port().context("a server that was started here")
    }

    /// One begins to replicate the other.
    async fn follow(&self, place: usize) -> Result<()> {
        let follow = format!("{} {}", self.words.follow, self.port(1 - place)?);
        run(self.server(place), &[&follow, self.words.start]).await
    }

    /// Waits until the replica, which is at this place, has what the primary has.
    ///
    /// # Errors
    /// After 30 seconds, or when a server cannot be asked.
    pub async fn caught_up(&self, place: usize) -> Result<()> {
        let mut connection = MySqlConnection::connect(&self.server(1 - place).url("")).await?;
        let position: String = sqlx::query_scalar(self.words.position).fetch_one(&mut connection).await?;
        let mut connection = MySqlConnection::connect(&self.server(place).url("")).await?;
        let waited: i64 = sqlx::query_scalar(self.words.wait).bind(position).fetch_one(&mut connection).await?;
        ensure!(waited == 0, "the replica does not follow");
        Ok(())
    }

    /// The replica at this place becomes the primary, while the other one runs and becomes its replica.
    ///
    /// # Errors
    /// When a server refuses.
    pub async fn switch_over(&self, place: usize) -> Result<()> {
        run(self.server(1 - place), &["SET GLOBAL read_only = 1"]).await?;
        self.caught_up(place).await?;
        self.promote(place).await?;
        run(self.server(1 - place), self.words.step_down).await?;
        self.follow(1 - place).await
    }

    /// The replica at this place becomes the primary, whatever is with the other one.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn promote(&self, place: usize) -> Result<()> {
        run(self.server(place), self.words.promote).await
    }
}

/// Runs statements of an administrator.
///
/// # Errors
/// The server's.
pub async fn run(server: &SqlServer, statements: &[&str]) -> Result<()> {
    let mut connection = MySqlConnection::connect(&server.url("")).await?;
    for statement in statements {
        let statement = AssertSqlSafe((*statement).to_owned());
        connection.execute(sqlx::raw_sql(statement)).await.with_context(|| "running SQL of an administrator")?;
    }
    Ok(connection.close().await?)
}
