//! A private Galera cluster of three MariaDB servers, if `tests/install.sh` could get Galera's library.

use parking_lot::{Mutex, MutexGuard};
use std::{
    ffi::OsString,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, OnceLock},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, anyhow, ensure};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, MySqlConnection, Row as _};

use crate::{
    process::{Home, Process, cache_folder, find_program, free_port, wait_until},
    sql_server::{Durability, path_option, user_option},
};

/// The number of nodes in a cluster. They are numbered from 0.
pub const NODES: usize = 3;

/// The time that a node has to become ready, or the others to notice a partition.
const DEADLINE: Duration = Duration::from_secs(120);

/// The number of times that nodes which abort are started again during a wait for them.
const ABORTS: usize = 3;

/// The time that a node has to answer.
const ANSWER: Duration = Duration::from_secs(60);

/// The method by which a node copies another one's data: none, because nodes start with the same data and get the rest as single
/// transactions (incremental state transfer). Where that is not possible, the node does not start.
const TRANSFER: &str = r#"#!/bin/sh
role= address= data= gtid= bypass=
while [ $# -gt 0 ]; do
  case $1 in
    --role) role=$2; shift ;;
    --address) address=$2; shift ;;
    --datadir) data=$2; shift ;;
    --gtid) gtid=$2; shift ;;
    --bypass) bypass=yes ;;
    --mysqld-args) break ;;
  esac
  shift
done
case $role in
  joiner)
    at=${data%/}/position
    rm -f "$at"
    echo "ready $at"
    until [ -s "$at" ]; do sleep 0.05; done
    cat "$at"
    rm -f "$at" ;;
  donor)
    [ "$bypass" ] || { echo "the other node misses more than is kept" >&2; exit 1; }
    echo "$gtid" >"$address.new" && mv "$address.new" "$address"
    echo "done $gtid" ;;
esac
"#;

/// Three nodes on 127.0.0.1 that all accept writes. The others notice a killed node after two seconds.
#[derive(Debug)]
pub struct Galera {
    home: Arc<Home>,
    program: PathBuf,
    library: PathBuf,
    nodes: [Node; NODES],
    /// The others wait a minute for a silent node, so that a machine that stalls for seconds does not split the cluster.
    is_patient: bool,
}

#[derive(Debug)]
struct Node {
    port: u16,
    /// The address at which the other nodes reach it.
    group: u16,
    /// The address at which it receives the transactions that it missed.
    transfer: u16,
    running: Mutex<Option<Process>>,
}

impl Galera {
    /// Starts a cluster; takes about five seconds. `None` if Galera is not installed: the test then calls
    /// [`skipped_without_galera`](crate::skipped_without_galera) and returns.
    ///
    /// # Errors
    /// When it is installed but does not start.
    pub fn start() -> Result<Option<Self>> {
        Self::start_with(false)
    }

    fn start_with(is_patient: bool) -> Result<Option<Self>> {
        let cache = cache_folder()?.join("galera");
        let library = cache.join("libgalera_smm.so");
        let Ok(program) = find_program("mariadbd") else { return Ok(None) };
        if !library.is_file() || !cache.join("template").is_dir() {
            return Ok(None);
        }
        let home = Home::new("ingester-galera")?;
        let programs = home.path().join("bin");
        fs::create_dir(&programs)?;
        let script = programs.join("wsrep_sst_transactions");
        fs::write(&script, TRANSFER)?;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
        let node = || -> Result<Node> {
            Ok(Node { port: free_port()?, group: free_port()?, transfer: free_port()?, running: Mutex::new(None) })
        };
        let cluster = Galera { home, program, library, nodes: [node()?, node()?, node()?], is_patient };
        for place in 0..NODES {
            fs::create_dir(cluster.folder(place))?;
            fs::create_dir(cluster.folder(place).join("tmp"))?;
            let copied = Durability::Fast.copy_data(&cluster.home, "galera/template", &cluster.data(place));
            copied.context("copying the data of a new cluster")?;
        }
        cluster.spawn(0, &["--wsrep-new-cluster"])?;
        cluster.wait_for(&[0], 1)?;
        cluster.spawn(1, &[])?;
        cluster.spawn(2, &[])?;
        cluster.wait_for(&[0, 1, 2], NODES)?;
        Ok(Some(cluster))
    }

    fn folder(&self, node: usize) -> PathBuf {
        self.home.path().join(format!("n{node}"))
    }

    fn data(&self, node: usize) -> PathBuf {
        self.folder(node).join("data")
    }

    fn running(&self, node: usize) -> MutexGuard<'_, Option<Process>> {
        self.nodes[node].running.lock()
    }

    fn command(&self, node: usize) -> Command {
        let folder = self.folder(node);
        let own = &self.nodes[node];
        let mut path = OsString::from(self.home.path().join("bin"));
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let members: Vec<String> = self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.group)).collect();
        let provider = [
            format!("gmcast.listen_addr=tcp://127.0.0.1:{};ist.recv_addr=127.0.0.1:{}", own.group, own.transfer),
            "gcache.size=64M;pc.announce_timeout=PT0.5S;gmcast.time_wait=PT0.5S;evs.keepalive_period=PT0.5S".to_owned(),
            if self.is_patient {
                "evs.suspect_timeout=PT60S;evs.inactive_timeout=PT90S;repl.causal_read_timeout=PT60S".to_owned()
            } else {
                "evs.suspect_timeout=PT2S;evs.inactive_check_period=PT0.5S;evs.inactive_timeout=PT5S;\
                 evs.install_timeout=PT5S;repl.causal_read_timeout=PT10S"
                    .to_owned()
            },
        ];
        let mut command = Command::new(&self.program);
        command
            .env("PATH", path)
            .arg("--no-defaults")
            .arg(path_option("--datadir", &self.data(node)))
            .arg(path_option("--socket", &folder.join("server.sock")))
            .arg(path_option("--pid-file", &folder.join("server.pid")))
            .arg(path_option("--tmpdir", &folder.join("tmp")))
            .args([format!("--port={}", own.port), "--bind-address=127.0.0.1".to_owned()])
            .args(["--max-connections=300", "--max-connect-errors=1000000000", "--skip-name-resolve"])
            .args(user_option())
            .args(["--innodb-flush-log-at-trx-commit=2", "--innodb-doublewrite=OFF", "--innodb-buffer-pool-size=64M"])
            // Three servers write every new table: none of them waits for the disk.
            .args(["--loose-innodb-flush-method=nosync", "--sync-frm=OFF"])
            .args(["--innodb-log-file-size=16M", "--innodb-autoinc-lock-mode=2", "--performance-schema=OFF"])
            .args(["--skip-log-bin", "--binlog-format=ROW", "--wsrep-on=ON", "--wsrep-sst-method=transactions"])
            .arg(path_option("--wsrep-provider", &self.library))
            .arg(format!("--wsrep-cluster-address=gcomm://{}", members.join(",")))
            .args(["--wsrep-cluster-name=test", "--wsrep-node-address=127.0.0.1"])
            .arg(format!("--wsrep-node-name=n{node}"))
            .arg(format!("--wsrep-node-incoming-address=127.0.0.1:{}", own.port))
            .arg(format!("--wsrep-provider-options={}", provider.join(";")));
        command
    }

    fn spawn(&self, node: usize, options: &[&str]) -> Result<()> {
        let mut command = self.command(node);
        command.args(options);
        let process = Process::new(&self.home, &format!("n{node}"), command);
        process.spawn()?;
        *self.running(node) = Some(process);
        Ok(())
    }

    /// The URL of a database on a node, for an administrator. With an empty name it is the URL of the node.
    #[must_use]
    pub fn url(&self, node: usize, database: &str) -> String {
        format!("mysql://root@127.0.0.1:{}/{database}", self.nodes[node].port)
    }

    /// The URL of a database with the addresses of these nodes, in this order.
    #[must_use]
    pub fn urls(&self, nodes: &[usize], database: &str) -> String {
        let hosts: Vec<String> = nodes.iter().map(|node| format!("127.0.0.1:{}", self.nodes[*node].port)).collect();
        format!("mysql://root@{}/{database}", hosts.join(","))
    }

    /// The port of a node.
    #[must_use]
    pub fn port(&self, node: usize) -> u16 {
        self.nodes[node].port
    }

    /// Kills a node, like a crash, and waits for its end.
    ///
    /// # Errors
    /// When signals cannot be sent.
    pub fn kill(&self, node: usize) -> Result<()> {
        self.running(node).take().map_or(Ok(()), |process| process.kill())
    }

    /// Shuts a node down gracefully and waits for its end.
    ///
    /// # Errors
    /// When signals cannot be sent.
    pub fn stop(&self, node: usize) -> Result<()> {
        self.running(node).take().map_or(Ok(()), |process| process.stop())
    }

    /// Suspends a node until [`thaw`](Self::thaw). After some seconds the others continue without it.
    pub fn freeze(&self, node: usize) {
        if let Some(process) = &*self.running(node) {
            process.freeze();
        }
    }

    /// Resumes a frozen node. It joins the others again.
    pub fn thaw(&self, node: usize) {
        if let Some(process) = &*self.running(node) {
            process.thaw();
        }
    }

    /// Starts nodes that were killed or stopped, and waits until all that run are ready. If the others have lost the quorum, this restores it.
    ///
    /// # Errors
    /// When one runs already, or does not become ready.
    pub fn join(&self, nodes: &[usize]) -> Result<()> {
        for node in nodes {
            self.start_again(*node)?;
        }
        self.wait()
    }

    /// Starts a node with the data that it has.
    fn start_again(&self, node: usize) -> Result<()> {
        let at = self.position(node)?;
        self.spawn(node, &[&at])
    }

    /// Creates a new cluster of one node, after all have ended. The others [`join`](Self::join) it.
    ///
    /// # Errors
    /// As [`Galera::join`].
    pub fn bootstrap(&self, node: usize) -> Result<()> {
        self.start_first(node)?;
        self.wait()
    }

    /// Starts a node with the data that it has, as its own cluster.
    fn start_first(&self, node: usize) -> Result<()> {
        let at = self.position(node)?;
        let state = self.data(node).join("grastate.dat");
        // A node that ended before it was ready may have no data.
        if let Ok(text) = fs::read_to_string(&state) {
            fs::write(&state, text.replace("safe_to_bootstrap: 0", "safe_to_bootstrap: 1"))?;
        }
        let _ = fs::remove_file(self.data(node).join("gvwstate.dat"));
        self.spawn(node, &[&at, "--wsrep-new-cluster"])
    }

    /// Returns the option that names the position of a node's data. After a crash only its tables show that.
    fn position(&self, node: usize) -> Result<String> {
        ensure!(self.running(node).is_none(), "node {node} runs");
        let log = self.folder(node).join("recover.log");
        let _ = fs::remove_file(&log);
        let mut command = self.command(node);
        command.arg("--wsrep-recover").arg(path_option("--log-error", &log));
        self.home.run(&format!("recover-n{node}"), command)?;
        let text = fs::read_to_string(&log)?;
        let position = text.lines().rev().find_map(|line| line.split("Recovered position:").nth(1));
        Ok(format!("--wsrep-start-position={}", position.context("no position")?.trim()))
    }

    /// Waits until all running nodes are members of one cluster and accept writes.
    ///
    /// # Errors
    /// When that does not happen in time.
    pub fn wait(&self) -> Result<()> {
        let nodes: Vec<usize> = (0..NODES).filter(|node| self.running(*node).is_some()).collect();
        self.wait_for(&nodes, nodes.len())
    }

    /// Waits until these nodes are ready and see a cluster of `size` nodes.
    ///
    /// # Errors
    /// When that does not happen in time.
    pub fn wait_for(&self, nodes: &[usize], size: usize) -> Result<()> {
        let wanted = format!("{size} Primary Synced ON");
        let mut aborts = 0;
        // Check all of them each time, because the others wait for a node that has ended.
        let ready = wait_until(&format!("nodes {nodes:?} to be ready"), DEADLINE, || {
            let mut ready = true;
            for node in nodes {
                let ended = match &*self.running(*node) {
                    Some(process) => process.exit_status()?.map(|status| (status, process.last_words())),
                    None => None,
                };
                if let Some((status, words)) = ended {
                    // A node that joins while the others split may abort (seen with Galera 26.4 on busy cores). A supervisor of
                    // services would start it again, too.
                    aborts += 1;
                    ensure!(aborts <= ABORTS, "node {node} has ended: {status}; {words}");
                    self.running(*node).take();
                    // The only node of a cluster has no other node to join.
                    if size == 1 { self.start_first(*node)? } else { self.start_again(*node)? }
                }
                ready &= self.state(*node).is_ok_and(|state| state == wanted);
            }
            Ok(ready)
        });
        ready.with_context(|| {
            let says = |node: &usize| {
                let state = self.state(*node).unwrap_or_else(|error| format!("{error:#}"));
                let words = self.running(*node).as_ref().map(Process::last_words).unwrap_or_default();
                format!("node {node}, {state}; {words}")
            };
            nodes.iter().map(says).collect::<Vec<_>>().join("\n")
        })
    }

    /// Waits until a node reports that it has lost the quorum.
    ///
    /// # Errors
    /// When that does not happen in time.
    pub fn wait_for_lost_quorum(&self, node: usize) -> Result<()> {
        wait_until(&format!("node {node} to lose the quorum"), DEADLINE, || {
            Ok(self.state(node).is_ok_and(|state| state.ends_with("OFF")))
        })
    }

    /// The size of the cluster and the state of the node, as the node reports.
    fn state(&self, node: usize) -> Result<String> {
        let states = "SELECT GROUP_CONCAT(variable_value ORDER BY variable_name SEPARATOR ' ')
            FROM information_schema.global_status WHERE variable_name IN
            ('wsrep_cluster_size', 'wsrep_cluster_status', 'wsrep_local_state_comment', 'wsrep_ready')";
        Ok(self.sql(node, "", states)?.concat())
    }

    /// Runs SQL on a node, in a database if one is named, after everything that was committed anywhere. Blocks; returns the first column.
    ///
    /// # Errors
    /// The server's.
    pub fn sql(&self, node: usize, database: &str, sql: &str) -> Result<Vec<String>> {
        let url = self.url(node, database);
        let sql = sql.to_owned();
        let ask = async move {
            let mut connection = MySqlConnection::connect(&url).await?;
            // Queries about the state are answered at any time.
            let wait =
                if url.ends_with('/') { "SET SESSION wsrep_sync_wait = 0" } else { "SET SESSION wsrep_sync_wait = 15" };
            connection.execute(wait).await?;
            let rows = connection.fetch_all(sqlx::raw_sql(AssertSqlSafe(sql))).await?;
            let first = rows.iter().map(|row| row.try_get_unchecked::<String, _>(0)).collect::<Result<Vec<_>, _>>()?;
            connection.close().await?;
            anyhow::Ok(first)
        };
        let limited = async { tokio::time::timeout(ANSWER, ask).await? };
        // A separate thread, because the caller's may belong to a runtime.
        thread::scope(|scope| {
            let run = || tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(limited);
            scope.spawn(run).join().map_err(|_| anyhow!("the thread that asks a node panicked"))?
        })
    }

    /// Creates an empty database, after dropping one of that name, and waits until every running node has it: a node that is behind does
    /// not find the database, however long a connection to it waits.
    ///
    /// # Errors
    /// The server's.
    pub fn create_database(&self, name: &str) -> Result<()> {
        self.sql(0, "", &format!("DROP DATABASE IF EXISTS `{name}`"))?;
        self.sql(0, "", &format!("CREATE DATABASE `{name}` CHARACTER SET utf8mb4"))?;
        for node in (0..NODES).filter(|node| self.running(*node).is_some()) {
            wait_until(&format!("node {node} to have the database {name}"), DEADLINE, || {
                Ok(!self.sql(node, "", &format!("SHOW DATABASES LIKE '{name}'"))?.is_empty())
            })?;
        }
        Ok(())
    }

    /// The folder of its files.
    #[must_use]
    pub fn home(&self) -> &Path {
        self.home.path()
    }
}

/// Returns one cluster for all tests of a test program, started by the first test that asks. Each test creates its own database, and does
/// not stop nodes. So the nodes wait for a silent one.
///
/// # Errors
/// As [`Galera::start`]; every caller gets the same one.
pub fn shared_galera() -> Result<Option<&'static Galera>> {
    static SHARED: OnceLock<Result<Option<Galera>, String>> = OnceLock::new();
    SHARED
        .get_or_init(|| Galera::start_with(true).map_err(|error| format!("{error:#}")))
        .as_ref()
        .map(Option::as_ref)
        .map_err(|error| anyhow!("{error}"))
}
