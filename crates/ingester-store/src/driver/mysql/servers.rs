//! Reads the answers of a server of MySQL's family about itself.

use crate::driver::servers::DatabaseServer;
use ingester_core::value::Micros;

/// The findings of a new connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConnectionFacts {
    pub(super) server: DatabaseServer,
    /// It is a node of Galera.
    pub(super) is_node: bool,
}

impl ConnectionFacts {
    pub(super) const UNKNOWN: Self = ConnectionFacts { server: DatabaseServer::UNKNOWN, is_node: false };
}

/// Reads the names and values of [`Dialect::variables`](ingester_sql::dialect::Dialect::variables).
pub(super) fn asked<'v>(variables: impl IntoIterator<Item = (&'v str, &'v str)>) -> ConnectionFacts {
    let mut server = DatabaseServer::default();
    let mut is_node = false;
    // TiDB has InnoDB's variables, and spreads its rows over nodes.
    let mut is_innodb = true;
    let mut logs = false;
    let mut waits_for_replica = false;
    let mut flushes_log = true;
    for (name, value) in variables {
        let is_off = value.is_empty() || value == "0" || value.eq_ignore_ascii_case("off");
        match name.to_ascii_lowercase().as_str() {
            "version" => {
                let version = value.to_ascii_lowercase();
                server.has_compound = version.contains("mariadb");
                is_innodb = !version.contains("tidb");
            }
            "wsrep_on" => is_node = !is_off,
            "group_replication_group_name" => server.certifies |= !value.is_empty(),
            "read_only" | "innodb_read_only" => server.is_read_only |= !is_off,
            "timestamp" => server.time = seconds(value),
            "uptime" => server.uptime = value.parse().ok(),
            "server_uuid" | "hostname" | "port" => {
                server.identity.push_str(value);
                server.identity.push(' ');
            }
            "log_bin" => logs = !is_off,
            "sync_binlog" => flushes_log = !is_off,
            "innodb_buffer_pool_size" => server.clustered_pool = value.parse().ok(),
            "innodb_flush_log_at_trx_commit" if value != "1" => server.risks.push(format!(
                "innodb_flush_log_at_trx_commit={value}: a crash of its machine loses the commits of the last second"
            )),
            "rpl_semi_sync_master_enabled" | "rpl_semi_sync_source_enabled" => waits_for_replica |= !is_off,
            _ => {}
        }
    }
    server.certifies |= is_node;
    server.clustered_pool = server.clustered_pool.filter(|_| is_innodb);
    if logs && !flushes_log {
        server.risks.push("sync_binlog=0: a crash of its machine loses what its replicas have not received".to_owned());
    }
    if logs && !waits_for_replica && !server.certifies {
        server.risks.push(
            "no semi-synchronous replication: a fail-over to a replica loses the commits that it has not received"
                .to_owned(),
        );
    }
    ConnectionFacts { server, is_node }
}

/// Parses a time in seconds since 1970, with a fraction.
fn seconds(text: &str) -> Option<Micros> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let micros: i64 = format!("{fraction:0<6}").get(..6)?.parse().ok()?;
    let whole: i64 = whole.parse().ok()?;
    Some(Micros(whole.checked_mul(1_000_000)?.checked_add(micros)?))
}

#[cfg(test)]
mod tests {
    use super::asked;
    use crate::driver::servers::{DatabaseServer, Servers};
    use ingester_sql::dialect::TransactionForm::{self, Compound, Sequence};
    use std::time::Instant;

    /// A server's variables.
    type Variables<'a> = &'a [(&'a str, &'a str)];

    #[test]
    fn a_text_is_sent_only_in_a_form_that_every_server_keeps_together() {
        let mariadb = [("version", "10.11.19-MariaDB-0+deb12u1")];
        let mysql = [("version", "8.4.9"), ("read_only", "OFF"), ("group_replication_group_name", "")];
        let galera = [mariadb[0], ("wsrep_on", "ON")];
        let xtradb = [mysql[0], ("wsrep_on", "ON")];
        let group = [mysql[0], ("group_replication_group_name", "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa")];
        let cases: [(&[Variables<'_>], Option<TransactionForm>, bool); 7] = [
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
                servers.reached(asked(variables.iter().copied()).server, Instant::now());
            }
            assert_eq!((servers.one_text(), servers.certifies()), (form, certifies), "{reached:?}");
        }
        let servers = Servers::default();
        servers.reached(DatabaseServer::UNKNOWN, Instant::now());
        assert_eq!(servers.one_text(), None, "a proxy that does not answer");
    }

    #[test]
    fn the_pool_of_innodb_is_known() {
        let pool =
            |version| asked([("version", version), ("innodb_buffer_pool_size", "134217728")]).server.clustered_pool;
        assert_eq!(pool("8.4.9"), Some(128 << 20));
        assert_eq!(pool("10.11.19-MariaDB-0+deb12u1"), Some(128 << 20));
        assert_eq!(pool("8.0.11-TiDB-v8.5.0"), None);
        assert_eq!(asked([("version", "8.4.9")]).server.clustered_pool, None);
    }

    #[test]
    fn another_server_and_a_restarted_one_are_noticed() {
        let server = |host: &str, uptime: &str| {
            asked([("version", "8.4.9"), ("hostname", host), ("port", "3306"), ("Uptime", uptime)]).server
        };
        let servers = Servers::default();
        let moves = servers.moves();
        let reached = |server: DatabaseServer| {
            servers.reached(server, Instant::now());
            *moves.borrow()
        };
        assert_eq!(reached(server("a", "100")), 0, "the first");
        assert_eq!(reached(server("a", "100")), 0);
        assert_eq!(reached(server("a", "98")), 0, "seconds are rounded");
        assert_eq!(reached(server("b", "500")), 1, "a fail-over");
        assert_eq!(reached(server("b", "2")), 2, "a crash");
        assert_eq!(reached(server("a", "9000")), 3, "a fail-over back");
        let node = |host: &str| DatabaseServer { certifies: true, ..server(host, "9") };
        assert_eq!((reached(node("a")), reached(node("b"))), (3, 3), "nodes of a group have the same commits");
    }

    #[test]
    fn settings_that_lose_commits_are_named() {
        let risks = |variables: Variables<'_>| {
            let risks = asked(variables.iter().copied()).server.risks;
            risks.iter().map(|risk| risk.split(':').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
        };
        let safe = [("innodb_flush_log_at_trx_commit", "1"), ("sync_binlog", "1"), ("log_bin", "ON")];
        assert_eq!(risks(&[safe[0]]), Vec::<String>::new(), "nothing follows a server without a log");
        assert_eq!(risks(&[safe[0], ("sync_binlog", "0"), ("log_bin", "OFF")]), Vec::<String>::new());
        assert_eq!(risks(&safe), ["no semi-synchronous replication"]);
        let waits = ("rpl_semi_sync_source_enabled", "ON");
        assert_eq!(risks(&[safe[0], safe[1], safe[2], waits]), Vec::<String>::new());
        assert_eq!(risks(&[safe[0], safe[1], safe[2], ("wsrep_on", "ON")]), Vec::<String>::new());
        let lax = [("innodb_flush_log_at_trx_commit", "2"), ("sync_binlog", "0"), ("log_bin", "ON"), waits];
        assert_eq!(risks(&lax), ["innodb_flush_log_at_trx_commit=2", "sync_binlog=0"]);
    }

    #[test]
    fn a_servers_clock_is_read_to_the_microsecond() {
        for (text, micros) in [
            ("1773088606.500000", Some(1_773_088_606_500_000)),
            ("1773088606.5", Some(1_773_088_606_500_000)),
            ("1773088606", Some(1_773_088_606_000_000)),
            ("", None),
            ("soon", None),
        ] {
            assert_eq!(asked([("timestamp", text)]).server.time.map(|time| time.0), micros, "{text}");
        }
    }

    #[test]
    fn a_server_that_takes_no_writes_says_so_in_several_ways() {
        for (value, is) in [("OFF", false), ("0", false), ("ON", true), ("1", true), ("NO_LOCK", true)] {
            assert_eq!(asked([("read_only", value)]).server.is_read_only, is, "{value}");
        }
        assert!(asked([("read_only", "OFF"), ("innodb_read_only", "ON")]).server.is_read_only);
    }
}
