//! Two servers, a primary and its replica, for tests of a switch-over and of a fail-over.

use anyhow::{Context as _, Result, bail, ensure};
use std::{fs, time::Duration};

use crate::{
    mariadb::MariaDb,
    mysql::MySql,
    postgres::{Postgres, owned_by_server},
    sql::Rows,
    sql_server::{Durability, SqlServer},
};

/// The SQL with which each kind of server with MySQL's protocol replicates. Commits wait for the replica (semi-synchronous replication):
/// every acknowledged commit is on both servers.
#[derive(Debug)]
struct Words {
    options: &'static [&'static str],
    /// Forgets earlier replication.
    forget: &'static str,
    /// Names the primary, up to its port.
    follow: &'static str,
    start: &'static str,
    promote: &'static [&'static str],
    /// A server's position, as a text.
    position: &'static str,
    /// Waits up to two minutes for a position in place of `?`; 0 when it is reached.
    wait: &'static str,
    /// The former primary runs this before it follows.
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
    wait: "SELECT MASTER_GTID_WAIT('?', 120)",
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
    wait: "SELECT WAIT_FOR_EXECUTED_GTID_SET('?', 120)",
    step_down: &[],
};

/// Two servers. In the beginning the first is the primary.
#[derive(Debug)]
pub struct Replication {
    servers: Servers,
}

#[derive(Debug)]
enum Servers {
    MariaDb([MariaDb; 2]),
    MySql([MySql; 2]),
    Postgres([Postgres; 2]),
}

impl Replication {
    /// Two MariaDB servers. `None` if the environment names one, which we must not stop.
    ///
    /// # Errors
    /// When they do not start.
    pub async fn of_mariadb() -> Result<Option<Self>> {
        let start = |id| MariaDb::start_with(Durability::Fast, &[MARIADB.options, &[id]].concat());
        Self::begin(Servers::MariaDb([start("--server-id=1")?, start("--server-id=2")?])).await
    }

    /// Two MySQL servers. `None` if MySQL is not installed, or the environment names one, which is not ours to stop.
    ///
    /// # Errors
    /// When they do not start.
    pub async fn of_mysql() -> Result<Option<Self>> {
        let start = |id| MySql::start_with(Durability::Fast, &[MYSQL.options, &[id]].concat());
        let (Some(one), Some(two)) = (start("--server-id=1")?, start("--server-id=2")?) else { return Ok(None) };
        Self::begin(Servers::MySql([one, two])).await
    }

    /// A PostgreSQL server and its hot standby, for which commits wait while it is there. `None` if PostgreSQL is not installed, or the
    /// environment names one, which is not ours to stop.
    ///
    /// # Errors
    /// When they do not start.
    pub async fn of_postgres() -> Result<Option<Self>> {
        let Some(one) = Postgres::start()? else { return Ok(None) };
        if one.process().is_none() {
            return Ok(None);
        }
        let Some(two) = Postgres::start_standby(&one, &[])? else { return Ok(None) };
        Self::begin(Servers::Postgres([one, two])).await
    }

    async fn begin(servers: Servers) -> Result<Option<Self>> {
        let pair = Replication { servers };
        if [0, 1].iter().any(|place| pair.server(*place).port().is_none()) {
            return Ok(None);
        }
        match pair.words() {
            Some(words) => {
                pair.server(0).run(&[words.forget]).await?;
                pair.server(1).run(&["SET GLOBAL read_only = 1", words.forget]).await?;
                pair.follow(1, words).await?;
            }
            None => pair.wait_for_standby(0, true).await?,
        }
        Ok(Some(pair))
    }

    /// Returns one of the two servers.
    pub fn server(&self, place: usize) -> &SqlServer {
        match &self.servers {
            Servers::MariaDb(servers) => &servers[place],
            Servers::MySql(servers) => &servers[place],
            Servers::Postgres(servers) => &servers[place],
        }
    }

    /// `None` for PostgreSQL, which follows by files.
    fn words(&self) -> Option<&'static Words> {
        match &self.servers {
            Servers::MariaDb(_) => Some(&MARIADB),
            Servers::MySql(_) => Some(&MYSQL),
            Servers::Postgres(_) => None,
        }
    }

    /// The URL of a database for a user, with the second of the two servers first.
    ///
    /// # Errors
    /// Never, for servers that were started here.
    pub fn url(&self, user: &str, database: &str) -> Result<String> {
        let scheme = if self.words().is_some() { "mysql" } else { "postgres" };
        let [first, second] = [self.port(0)?, self.port(1)?];
        Ok(format!("{scheme}://{user}@127.0.0.1:{second},127.0.0.1:{first}/{database}"))
    }

    fn port(&self, place: usize) -> Result<u16> {
        self.server(place).port().context("a server that was started here")
    }

    /// Lets one server begin to replicate the other.
    async fn follow(&self, place: usize, words: &Words) -> Result<()> {
        let follow = format!("{} {}", words.follow, self.port(1 - place)?);
        self.server(place).run(&[&follow, words.start]).await
    }

    /// Lets a PostgreSQL server wait at each commit for its standby, or stop waiting.
    async fn wait_for_standby(&self, place: usize, waits: bool) -> Result<()> {
        let names = format!("ALTER SYSTEM SET synchronous_standby_names = '{}'", if waits { "*" } else { "" });
        self.server(place).run(&[&names, "SELECT pg_reload_conf()"]).await
    }

    /// Waits until the replica with this index has caught up with the primary.
    ///
    /// # Errors
    /// After two minutes, or when a server cannot be asked.
    pub async fn caught_up(&self, place: usize) -> Result<()> {
        let primary = self.server(1 - place);
        let replica = self.server(place);
        let only = |rows: Rows| rows.into_iter().flatten().flatten().next().unwrap_or_default();
        if let Some(words) = self.words() {
            let position = only(primary.sql("", words.position).await?);
            let waited = only(replica.sql("", &words.wait.replace('?', &position)).await?);
            ensure!(waited == "0", "the replica does not follow");
            return Ok(());
        }
        let position = only(primary.sql("", "SELECT pg_current_wal_lsn()").await?);
        let reached = format!("SELECT COALESCE(pg_last_wal_replay_lsn() >= '{position}', FALSE)");
        for _ in 0..2400 {
            if only(replica.sql("", &reached).await?) == "1" {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        bail!("the standby does not follow")
    }

    /// Lets the replica with this index become the primary, while the other one runs and becomes its replica.
    ///
    /// # Errors
    /// When a server refuses.
    pub async fn switch_over(&self, place: usize) -> Result<()> {
        let former = self.server(1 - place);
        if let Some(words) = self.words() {
            former.run(&["SET GLOBAL read_only = 1"]).await?;
            self.caught_up(place).await?;
            self.promote(place).await?;
            former.run(words.step_down).await?;
            return self.follow(1 - place, words).await;
        }
        self.wait_for_standby(1 - place, false).await?;
        // A server that shuts down first sends everything to its standby.
        former.stop()?;
        self.promote(place).await?;
        self.become_standby(1 - place)?;
        self.wait_for_standby(place, true).await
    }

    /// Lets the crashed former primary with this index become the standby of its successor, with a copy of the successor's data. Afterwards
    /// every acknowledged commit is on both again. Only for PostgreSQL: the others cannot copy a running server.
    ///
    /// # Errors
    /// When a server does not start, or the standby does not follow.
    pub async fn replace(&self, place: usize) -> Result<()> {
        let Servers::Postgres(servers) = &self.servers else { bail!("only PostgreSQL's servers are replaced") };
        servers[place].restart_as_standby(&servers[1 - place])?;
        self.wait_for_standby(1 - place, true).await?;
        let synchronous = "SELECT COUNT(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        for _ in 0..2400 {
            let standbys: Vec<String> =
                self.server(1 - place).sql("", synchronous).await?.into_iter().flatten().flatten().collect();
            if standbys == ["1"] {
                return self.caught_up(place).await;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        bail!("the standby is not synchronous")
    }

    /// Starts a PostgreSQL server that has ended as the standby of the other one.
    fn become_standby(&self, place: usize) -> Result<()> {
        let Servers::Postgres(servers) = &self.servers else { return Ok(()) };
        let data = servers[place].data().context("a server that was started here")?;
        let signal = data.join("standby.signal");
        fs::write(&signal, "")?;
        owned_by_server(&signal)?;
        let settings = data.join("postgresql.auto.conf");
        let text = fs::read_to_string(&settings)?;
        let primary = format!("primary_conninfo = 'host=127.0.0.1 port={} user=postgres'\n", self.port(1 - place)?);
        // The last line counts.
        fs::write(&settings, text + &primary)?;
        servers[place].restart()
    }

    /// Lets the replica with this index become the primary, whatever the state of the other one.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn promote(&self, place: usize) -> Result<()> {
        if let Some(words) = self.words() {
            return self.server(place).run(words.promote).await;
        }
        let promoted = self.server(place).sql("", "SELECT pg_promote(TRUE, 120)").await?;
        ensure!(promoted.into_iter().flatten().flatten().eq(["1"]), "the standby was not promoted in two minutes");
        Ok(())
    }
}
