//! Reads the answers of a PostgreSQL server about itself.

use crate::driver::servers::DatabaseServer;
use ingester_core::value::Micros;

/// The columns of [`SERVER`](ingester_sql::dialect::postgres::session::SERVER).
pub(super) struct ConnectionFacts {
    pub(super) server: DatabaseServer,
    /// The encoding of the database.
    pub(super) encoding: String,
    /// True if a backslash in a literal is a backslash.
    pub(super) has_standard_literals: bool,
}

pub(super) fn answer(columns: [String; 10]) -> ConnectionFacts {
    let [read_only, identity, time, encoding, literals, commit, fsync, pages, standbys, followers] = columns;
    let mut risks = Vec::new();
    if commit == "off" {
        risks.push("synchronous_commit=off: a crash of the server loses the commits of the last second".to_owned());
    }
    for (name, value) in [("fsync", &fsync), ("full_page_writes", &pages)] {
        if value == "off" {
            risks.push(format!("{name}=off: a crash of its machine loses commits, or the database"));
        }
    }
    let is_local = commit == "local" || standbys.trim().is_empty();
    if followers.parse().unwrap_or(0_u64) > 0 && is_local {
        risks.push(
            "no synchronous standby: a fail-over to a standby loses the commits that it has not received".to_owned(),
        );
    }
    let server = DatabaseServer {
        is_read_only: read_only == "on",
        identity,
        time: time.parse().ok().map(Micros),
        risks,
        ..DatabaseServer::default()
    };
    ConnectionFacts { server, encoding, has_standard_literals: literals == "on" }
}

#[cfg(test)]
mod tests {
    use super::{ConnectionFacts, answer};
    use crate::driver::servers::Servers;
    use ingester_core::value::Micros;
    use ingester_sql::dialect::TransactionForm;
    use std::time::Instant;

    fn make_facts(read_only: &str, identity: &str, settings: [&str; 5]) -> ConnectionFacts {
        let [commit, fsync, pages, standbys, followers] = settings;
        let time = "1773088606500000";
        answer([read_only, identity, time, "UTF8", "on", commit, fsync, pages, standbys, followers].map(str::to_owned))
    }

    const SAFE: [&str; 5] = ["on", "on", "on", "", "0"];

    #[test]
    fn a_standby_is_read_only_and_a_clock_is_read() {
        let ConnectionFacts { server, encoding, has_standard_literals } = make_facts("on", "a", SAFE);
        assert!(server.is_read_only && has_standard_literals && encoding == "UTF8");
        assert_eq!(server.time, Some(Micros(1_773_088_606_500_000)));
        assert!(!make_facts("off", "a", SAFE).server.is_read_only);
    }

    #[test]
    fn several_statements_are_one_text() {
        let servers = Servers::default();
        servers.reached(make_facts("off", "a", SAFE).server, Instant::now());
        assert_eq!((servers.one_text(), servers.certifies()), (Some(TransactionForm::Sequence), false));
    }

    #[test]
    fn another_server_and_a_restarted_one_are_noticed() {
        let servers = Servers::default();
        let moves = servers.moves();
        let reached = |identity: &str| {
            servers.reached(make_facts("off", identity, SAFE).server, Instant::now());
            *moves.borrow()
        };
        let (first, restarted, standby) =
            ("10.0.0.1 5432 2026-01-01", "10.0.0.1 5432 2026-01-02", "10.0.0.2 5432 2025-01-01");
        assert_eq!([first, first, restarted, standby].map(reached), [0, 0, 1, 2]);
    }

    #[test]
    fn settings_that_lose_commits_are_named() {
        for (settings, risks) in [
            (SAFE, &[][..]),
            (["off", "off", "on", "", "0"], &["synchronous_commit=off", "fsync=off"]),
            (["on", "on", "off", "", "0"], &["full_page_writes=off"]),
            (["on", "on", "on", "", "1"], &["no synchronous standby"]),
            (["on", "on", "on", "ANY 1 (*)", "1"], &[]),
            (["local", "on", "on", "ANY 1 (*)", "1"], &["no synchronous standby"]),
        ] {
            let named: Vec<String> = make_facts("off", "a", settings).server.risks;
            let named: Vec<&str> = named.iter().map(|risk| risk.split(':').next().unwrap()).collect();
            assert_eq!(named, risks);
        }
    }
}
