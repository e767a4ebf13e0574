//! What the connections of a pool have found out about the servers that they reach, which a fail-over may change.

use ingester_core::dialect::OneText;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Shared by a [`Store`](super::Store) and its connections.
#[derive(Debug, Default)]
pub(super) struct Servers {
    /// Connections that were opened before are to be closed.
    stale: Mutex<Option<Instant>>,
    /// Any server is a member of a group that certifies transactions.
    certifies: AtomicBool,
    /// Any server is none of MariaDB's.
    others: AtomicBool,
}

/// What a server says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Server {
    /// It is MariaDB.
    pub(super) is_mariadb: bool,
    /// It is a node of Galera.
    pub(super) is_node: bool,
    /// It is a member of a group that certifies transactions: a node of Galera, or of MySQL's group replication.
    pub(super) certifies: bool,
    /// It takes no writes.
    pub(super) is_read_only: bool,
}

impl Server {
    /// By the names and values of [`Dialect::variables`](ingester_core::dialect::Dialect::variables).
    pub(super) fn of<'v>(variables: impl IntoIterator<Item = (&'v str, &'v str)>) -> Self {
        let mut server = Server::default();
        for (name, value) in variables {
            let is_off = value.is_empty() || value == "0" || value.eq_ignore_ascii_case("off");
            match name.to_ascii_lowercase().as_str() {
                "version" => server.is_mariadb = value.to_ascii_lowercase().contains("mariadb"),
                "wsrep_on" => server.is_node = !is_off,
                "group_replication_group_name" => server.certifies |= !value.is_empty(),
                _ => server.is_read_only |= !is_off,
            }
        }
        server.certifies |= server.is_node;
        server
    }

    /// A server, or a proxy, that does not know the question: it is safe to assume the worst.
    pub(super) const UNKNOWN: Self = Server { is_mariadb: false, is_node: false, certifies: true, is_read_only: false };
}

impl Servers {
    /// A connection turned out to be of no more use: all that are open now are closed, each when it is released or before it is used
    /// again. Every new connection looks up the host's name.
    pub(super) fn replace_connections(&self) {
        *self.stale.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Whether a connection of this age is to be closed.
    pub(super) fn is_stale(&self, age: Duration) -> bool {
        self.stale.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|stale| stale.elapsed() <= age)
    }

    /// A connection leads to this server.
    pub(super) fn reached(&self, server: Server) {
        self.certifies.fetch_or(server.certifies, Ordering::Relaxed);
        self.others.fetch_or(!server.is_mariadb, Ordering::Relaxed);
    }

    /// Whether any server certifies transactions: it may end one at any time, and its locks are its own.
    pub(super) fn certifies(&self) -> bool {
        self.certifies.load(Ordering::Relaxed)
    }

    /// How all servers take a transaction as one text; `None` if one of them might run a part of it.
    pub(super) fn one_text(&self) -> Option<OneText> {
        match (self.others.load(Ordering::Relaxed), self.certifies()) {
            (false, _) => Some(OneText::Compound),
            (true, false) => Some(OneText::Sequence),
            (true, true) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Server, Servers};
    use ingester_core::dialect::OneText::{self, Compound, Sequence};

    /// What a server says of itself.
    type Variables<'a> = &'a [(&'a str, &'a str)];

    #[test]
    fn a_text_is_sent_only_in_a_form_that_every_server_keeps_together() {
        let mariadb = [("version", "10.11.19-MariaDB-0+deb12u1")];
        let mysql = [("version", "8.4.9"), ("read_only", "OFF"), ("group_replication_group_name", "")];
        let galera = [mariadb[0], ("wsrep_on", "ON")];
        let xtradb = [mysql[0], ("wsrep_on", "ON")];
        let group = [mysql[0], ("group_replication_group_name", "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa")];
        let cases: [(&[Variables<'_>], Option<OneText>, bool); 7] = [
            (&[&mariadb], Some(Compound), false),
            (&[&mysql], Some(Sequence), false),
            (&[&galera], Some(Compound), true),
            (&[&xtradb], None, true),
            (&[&group], None, true),
            (&[&mariadb, &mysql], Some(Sequence), false),
            (&[&galera, &mysql], None, true),
        ];
        for (reached, form, certifies) in cases {
            let servers = Servers::default();
            for variables in reached {
                servers.reached(Server::of(variables.iter().copied()));
            }
            assert_eq!((servers.one_text(), servers.certifies()), (form, certifies), "{reached:?}");
        }
        let servers = Servers::default();
        servers.reached(Server::UNKNOWN);
        assert_eq!(servers.one_text(), None, "a proxy that does not answer");
    }

    #[test]
    fn a_server_that_takes_no_writes_says_so_in_several_ways() {
        for (value, is) in [("OFF", false), ("0", false), ("ON", true), ("1", true), ("NO_LOCK", true)] {
            assert_eq!(Server::of([("read_only", value)]).is_read_only, is, "{value}");
        }
        assert!(Server::of([("read_only", "OFF"), ("innodb_read_only", "ON")]).is_read_only);
    }
}
