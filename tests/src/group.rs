//! A private group of three MySQL servers (group replication), from the MySQL that `tests/install.sh` downloads.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use crate::{
    mysql::MySql,
    process::free_port,
    sql::Rows,
    sql_server::{Durability, SqlServer},
};

/// The number of members in a group. They are numbered from 0.
pub const MEMBERS: usize = 3;

/// The time limit for a change of the group: a killed member is suspected for five seconds, and expelled after five more.
const DEADLINE: Duration = Duration::from_secs(120);

/// The members that accept writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primaries {
    /// One member, whose successor the others elect.
    One,
    /// Every member.
    Many,
}

/// Three members on 127.0.0.1, with the group's own time-outs. In the beginning member 0 is a primary.
#[derive(Debug)]
pub struct Group {
    members: [MySql; MEMBERS],
}

impl Group {
    /// Starts a group; takes about half a minute. `None` if MySQL is not installed, or the environment names a server, which is not ours to
    /// stop: the test then calls [`skipped_without_mysql`](crate::skipped_without_mysql) and returns.
    ///
    /// # Errors
    /// When it is installed but does not start.
    pub async fn start(primaries: Primaries) -> Result<Option<Self>> {
        let ports = [free_port()?, free_port()?, free_port()?];
        let start = |place| {
            let options = options(place, &ports, primaries);
            MySql::start_with(Durability::Fast, &options.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let [one, two, three] = std::thread::scope(|scope| {
            let starting = [0, 1, 2].map(|place| scope.spawn(move || start(place)));
            starting.map(|start| start.join().unwrap_or_else(|_| bail!("a member was not started")))
        });
        let (Some(one), Some(two), Some(three)) = (one?, two?, three?) else { return Ok(None) };
        let group = Group { members: [one, two, three] };
        if group.members.iter().any(|member| member.port().is_none()) {
            return Ok(None);
        }
        for place in 0..MEMBERS {
            let recover = "CHANGE REPLICATION SOURCE TO source_user = 'root' FOR CHANNEL 'group_replication_recovery'";
            group.member(place).run(&[recover, "RESET BINARY LOGS AND GTIDS"]).await?;
        }
        let bootstrap = |on| format!("SET GLOBAL group_replication_bootstrap_group = {on}");
        group.member(0).run(&[&bootstrap("ON"), START, &bootstrap("OFF")]).await?;
        group.wait_for(0, 1).await?;
        for place in 1..MEMBERS {
            group.member(place).run(&[START]).await?;
        }
        group.wait_for(0, MEMBERS).await?;
        Ok(Some(group))
    }

    /// One of its servers. [`SqlServer::kill`] and [`SqlServer::stop`] end one, [`Group::join`] brings it back.
    #[must_use]
    pub fn member(&self, place: usize) -> &SqlServer {
        &self.members[place]
    }

    /// The URL of a database with the addresses of these members, in this order.
    ///
    /// # Errors
    /// Never, for servers that were started here.
    pub fn urls(&self, places: &[usize], database: &str) -> Result<String> {
        let host = |place: &usize| Ok(format!("127.0.0.1:{}", self.member(*place).port().context("a port")?));
        let hosts = places.iter().map(host).collect::<Result<Vec<_>>>()?;
        Ok(format!("mysql://root@{}/{database}", hosts.join(",")))
    }

    /// The only primary, as a running member reports, once it has been elected.
    ///
    /// # Errors
    /// When no primary is elected in time.
    pub async fn primary(&self) -> Result<usize> {
        let begin = Instant::now();
        loop {
            let other = *self.running().first().context("a member that runs")?;
            let ports = texts(self.member(other).sql("", PRIMARY).await?);
            let is = |place: &usize| self.member(*place).port().is_some_and(|port| ports == [port.to_string()]);
            if let Some(primary) = self.running().into_iter().find(is) {
                return Ok(primary);
            }
            ensure!(begin.elapsed() < DEADLINE, "member {other} says that the primary is at {ports:?}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Starts a member that has ended, after the others have noticed its end, and waits until it has all their data.
    ///
    /// # Errors
    /// When it does not become a member again in time.
    pub async fn join(&self, place: usize) -> Result<()> {
        let running: Vec<usize> = self.running().into_iter().filter(|other| *other != place).collect();
        let other = *running.first().context("a member that runs")?;
        self.wait_for(other, running.len()).await?;
        self.member(place).restart()?;
        self.member(place).run(&[START]).await?;
        self.wait_for(other, running.len() + 1).await
    }

    /// Waits until a member sees a group of this many members, which all have the data that the others had when they joined.
    ///
    /// # Errors
    /// When that does not happen in time.
    pub async fn wait_for(&self, place: usize, size: usize) -> Result<()> {
        let wanted = vec!["ONLINE".to_owned(); size];
        let begin = Instant::now();
        loop {
            let states = texts(self.member(place).sql("", STATES).await?);
            if states == wanted {
                return Ok(());
            }
            ensure!(begin.elapsed() < DEADLINE, "member {place} sees {states:?}, not {size} members that are online");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// The answer of each running member to SQL, once it has caught up with all of them.
    ///
    /// # Errors
    /// When a member does not catch up, or refuses the SQL.
    pub async fn answers(&self, database: &str, sql: &str) -> Result<Vec<Rows>> {
        let running = self.running();
        for place in &running {
            let had = texts(self.member(*place).sql("", "SELECT @@GLOBAL.gtid_executed").await?).concat();
            let wait = format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{had}', {})", DEADLINE.as_secs());
            for other in &running {
                let waited = texts(self.member(*other).sql("", &wait).await?);
                ensure!(waited == ["0"], "member {other} does not get what member {place} has");
            }
        }
        let mut answers = Vec::new();
        for place in running {
            answers.push(self.member(place).sql(database, sql).await?);
        }
        Ok(answers)
    }

    fn running(&self) -> Vec<usize> {
        let runs = |place: &usize| self.member(*place).process().is_some_and(|process| process.id().is_some());
        (0..MEMBERS).filter(runs).collect()
    }
}

const START: &str = "START GROUP_REPLICATION";

/// The states of all members.
const STATES: &str = "SELECT member_state FROM performance_schema.replication_group_members";

/// The ports of the primaries.
const PRIMARY: &str = "SELECT member_port FROM performance_schema.replication_group_members WHERE member_state = 'ONLINE' AND member_role = 'PRIMARY'";

/// The options of a member. The servers have options of group replication only once the plugin is loaded.
fn options(place: usize, ports: &[u16; MEMBERS], primaries: Primaries) -> Vec<String> {
    let seeds: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
    let mut options = vec![
        format!("--server-id={}", place + 1),
        "--log-bin=binlog".to_owned(),
        "--gtid-mode=ON".to_owned(),
        "--enforce-gtid-consistency=ON".to_owned(),
        "--report-host=127.0.0.1".to_owned(),
        "--plugin-load-add=group_replication.so".to_owned(),
        "--loose-group-replication-group-name=aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa".to_owned(),
        "--loose-group-replication-start-on-boot=OFF".to_owned(),
        format!("--loose-group-replication-local-address={}", seeds[place]),
        format!("--loose-group-replication-group-seeds={}", seeds.join(",")),
    ];
    if primaries == Primaries::Many {
        options.push("--loose-group-replication-single-primary-mode=OFF".to_owned());
        options.push("--loose-group-replication-enforce-update-everywhere-checks=ON".to_owned());
    }
    options
}

fn texts(rows: Rows) -> Vec<String> {
    rows.into_iter().flatten().flatten().collect()
}
