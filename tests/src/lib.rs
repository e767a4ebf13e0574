//! The testbed: real servers for tests, each private to the test that starts it.
//!
//! - [`databases`]: an empty database of each kind for a test.
//! - [`MariaDb`] and [`MySql`]: databases; [`SqlServer`] is what they have in common.
//! - [`ApiServer`]: etcd and a Kubernetes API server; [`install`] brings CustomResourceDefinitions to it.
//! - [`Ingester`]: the ingester itself, as a program in a process of its own.
//!
//! Every server listens on a free port of 127.0.0.1, keeps its data in a temporary folder of its own, and is gone together
//! with that folder when its value is dropped, when the test panics, and when the test process is killed. A server can be
//! stopped, killed and started again on the same port with the same data.
//!
//! `tests/install.sh` installs the programs; nothing here downloads anything. The functions that start servers block for
//! seconds, also when an asynchronous test calls them: nothing else runs in such a test at that point.
//!
//! What does not belong here: anything of the ingester's code; [`Ingester`] is told where the program is. This crate must stay
//! usable for tests of any of its parts.

pub mod apiserver;
pub mod crds;
pub mod databases;
mod http;
pub mod ingester;
pub mod mariadb;
pub mod mysql;
pub mod process;
pub mod sql_server;

use std::io::Write as _;

pub use apiserver::{ApiServer, shared_apiserver};
pub use crds::install;
pub use ingester::Ingester;
pub use mariadb::{MariaDb, shared_mariadb};
pub use mysql::{MySql, shared_mysql};
pub use sql_server::{Durability, SqlServer};

/// The command that installs every server, for error messages.
pub(crate) const INSTALL: &str = "bash tests/install.sh";

/// Says that a test did not do its work because MySQL is not installed: one line `skipped: no MySQL (<test>)` on standard
/// error, past the test harness, which hides what a passing test prints.
pub fn skipped_without_mysql() {
    let thread = std::thread::current();
    // The harness names a test's thread after the test. Where nobody listens any more, there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "skipped: no MySQL ({})", thread.name().unwrap_or("unnamed test"));
}
