//! The testbed: real servers for tests, each private to the test that starts it.
//!
//! - [`databases`]: an empty database of each kind for a test.
//! - [`MariaDb`], [`MySql`] and [`Postgres`]: databases; [`SqlServer`] is their common part. [`Galera`]: three MariaDB servers as a
//!   cluster; [`Group`]: three MySQL servers as a group. [`PgBouncer`]: a pooler between a client and PostgreSQL. [`Replication`]: two
//!   servers, a primary and its replica.
//! - [`password`]: a database user whose password changes.
//! - [`delayed`]: a proxy that delays every answer. [`CuttingProxy`]: a proxy on which connections end at a commit.
//!   [`CountingProxy`](count::CountingProxy): a proxy that counts answers and bytes.
//! - [`ApiServer`]: etcd and a Kubernetes API server, classic or modern; [`install`] creates CustomResourceDefinitions in it.
//! - [`Ingester`]: the ingester itself, in its own process.
//! - [`ChromeDriver`]: a browser.
//! - [`exposition`]: metrics, as in the table of the documentation.
//! - [`cargo`]: cargo, for tests that compile something.
//! - [`book`]: the pages of the documentation and their blocks. [`Page`]: the commands of a page, run in its order.
//!
//! Every server listens on a free port of 127.0.0.1 and keeps its data in a temporary folder. Server and folder are
//! removed when the value is dropped, when the test panics, and when the test process is killed. A server can be
//! stopped, killed and restarted on the same port with the same data.
//!
//! `tests/install.sh` installs the programs; nothing here downloads anything. The functions that start servers block for seconds, even in
//! asynchronous tests, where all other work waits.
//!
//! The ingester's own code does not belong here: [`Ingester`] gets the path of the program. So this crate can test any part of it.

pub mod apiserver;
pub mod book;
pub mod browser;
mod cargo;
pub mod count;
pub mod crds;
pub mod databases;
pub mod delay;
pub mod exposition;
pub mod galera;
pub mod group;
mod http;
pub mod ingester;
pub mod mariadb;
pub mod mysql;
pub mod page;
pub mod password;
pub mod postgres;
pub mod process;
pub mod replication;
pub mod sever;
pub mod sql;
pub mod sql_server;

use std::io::Write as _;
use std::path::PathBuf;

pub use apiserver::{ApiServer, Edition, shared_apiserver, shared_modern_apiserver};
pub use browser::ChromeDriver;
pub use cargo::cargo;
pub use crds::install;
pub use delay::delayed;
pub use galera::{Galera, shared_galera};
pub use group::{Group, Primaries};
pub use ingester::Ingester;
pub use mariadb::{MariaDb, shared_mariadb};
pub use mysql::{MySql, shared_mysql};
pub use page::Page;
pub use postgres::{PgBouncer, Postgres, shared_postgres};
pub use replication::Replication;
pub use sever::{CutPoint, CuttingProxy};
pub use sql_server::{Durability, SqlServer};

/// The command that installs every server, for error messages.
pub(crate) const INSTALL: &str = "bash tests/install.sh";

/// Reports that a test was skipped because MySQL is not installed: one line `skipped: no MySQL (<test>)` on standard
/// error. It bypasses the test harness, which hides the output of a passing test.
pub fn skipped_without_mysql() {
    skipped("no MySQL");
}

/// [`skipped_without_mysql`] for PostgreSQL: one line `skipped: no PostgreSQL (<test>)`.
pub fn skipped_without_postgres() {
    skipped("no PostgreSQL");
}

/// [`skipped_without_mysql`] for Galera: one line `skipped: no Galera (<test>)`.
pub fn skipped_without_galera() {
    skipped("no Galera");
}

/// [`skipped_without_mysql`] for the modern API server: one line `skipped: no modern API server (<test>)`.
pub fn skipped_without_modern_apiserver() {
    skipped("no modern API server");
}

/// [`skipped_without_mysql`] for kubectl: one line `skipped: no kubectl (<test>)`.
pub fn skipped_without_kubectl() {
    skipped("no kubectl");
}

/// The program kubectl; `None` if it is not installed: the test then calls [`skipped_without_kubectl`] and ends.
pub fn kubectl() -> Option<PathBuf> {
    program("kubectl/kubectl")
}

/// The informer of client-go, which is built with the modern API server; `None` if it is not installed: the test then calls
/// [`skipped_without_modern_apiserver`] and ends.
pub fn informer() -> Option<PathBuf> {
    program("modern-apiserver/informer")
}

/// The program promtool, which checks Prometheus' rules; `None`, after a message, if it is not installed.
pub fn promtool() -> Option<PathBuf> {
    let found = program("tools/promtool");
    if found.is_none() {
        skipped("no promtool");
    }
    found
}

/// The program of `tests/helm-render/`, which renders charts as Helm does; `None`, after a message, if it is not installed.
pub fn helm_render() -> Option<PathBuf> {
    let found = program("helm-render/helm-render");
    if found.is_none() {
        skipped("no Go, no Helm renderer");
    }
    found
}

/// The program mariadb-dump; `None`, after a message, if it is not installed.
pub fn mariadb_dump() -> Option<PathBuf> {
    let found = program("tools/mariadb-dump");
    if found.is_none() {
        skipped("no mariadb-dump");
    }
    found
}

fn program(path: &str) -> Option<PathBuf> {
    let program = process::cache_folder().ok()?.join(path);
    program.is_file().then_some(program)
}

/// Reports that a test was skipped, with the reason, as [`skipped_without_mysql`] does.
pub fn skipped(why: &str) {
    let thread = std::thread::current();
    // The harness names a test's thread after the test. If standard error is closed, the message is lost.
    let _ = writeln!(std::io::stderr(), "skipped: {why} ({})", thread.name().unwrap_or("unnamed test"));
}
