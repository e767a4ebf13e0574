//! Examines the settings and rights of MySQL's family.

use crate::driver::examine::{Answers, CHARSET, Finding, GROUP, ISOLATION, MODE, PACKET, SORT, WRITABLE, rights};
use std::collections::BTreeSet;

/// An object in etcd has up to 1.5 MiB by default. Its row contains it as JSON, escaped if it is a literal, and in `proto`.
const PACKET_BYTES: u64 = 16 << 20;

/// The server's default. People's queries that sort rows with their `json` need more, not less.
const SORT_BYTES: u64 = 256 << 10;

const ROWS: [&str; 4] = ["SELECT", "INSERT", "UPDATE", "DELETE"];
const TABLES: [&str; 4] = ["CREATE", "ALTER", "DROP", "INDEX"];

/// Returns the findings about the database of this name.
pub(super) fn examine(answers: &Answers, database: &str) -> Vec<Finding> {
    let mut found = vec![writable(answers), granted(answers, database), charset(answers, database)];
    let strict = answers.get_setting("sql_mode").split(',').any(|mode| mode == "STRICT_ALL_TABLES");
    found.push(match strict {
        true => Finding::fine(MODE, "strict in the ingester's sessions"),
        false => Finding::unfit(
            MODE,
            format!("the ingester's sessions have the sql_mode `{}`: values that are too long would be cut off", answers.get_setting("sql_mode")),
            "something between the ingester and the server drops SET SESSION: connect to the server itself, or have the proxy pass it on",
        ),
    });
    let isolation = match answers.get_setting("transaction_isolation") {
        "" => answers.get_setting("tx_isolation"),
        level => level,
    };
    found.push(match isolation {
        "READ-COMMITTED" => Finding::fine(ISOLATION, "READ COMMITTED in the ingester's sessions"),
        other => Finding::unfit(
            ISOLATION,
            format!("the ingester's sessions have the isolation level {other}, and not READ COMMITTED"),
            "something between the ingester and the server drops SET SESSION: connect to the server itself, or have the proxy pass it on",
        ),
    });
    if let Some(bytes) = answers.number("max_allowed_packet") {
        found.push(match bytes < PACKET_BYTES {
            true => Finding::doubtful(
                PACKET,
                format!("max_allowed_packet is {bytes} bytes: larger objects are rejected"),
                format!("set max_allowed_packet of the server to {PACKET_BYTES} or more"),
            ),
            false => Finding::fine(PACKET, format!("max_allowed_packet is {bytes} bytes")),
        });
    }
    if let Some(bytes) = answers.number("sort_buffer_size") {
        found.push(match bytes < SORT_BYTES {
            true => Finding::doubtful(
                SORT,
                format!("sort_buffer_size is {bytes} bytes: sorting rows with large columns fails (error 1038)"),
                format!("set sort_buffer_size of the server to {SORT_BYTES} or more"),
            ),
            false => Finding::fine(SORT, format!("sort_buffer_size is {bytes} bytes")),
        });
    }
    found.push(group(answers));
    found
}

fn writable(answers: &Answers) -> Finding {
    match ["read_only", "innodb_read_only"].into_iter().find(|name| answers.is_on(name)) {
        Some(name) => Finding::unfit(
            WRITABLE,
            format!("the server takes no writes: {name} is {}", answers.get_setting(name)),
            "name the primary, or all servers of its group (\"Several hosts\" in docs/databases.md)",
        ),
        None => Finding::fine(WRITABLE, "the server takes writes"),
    }
}

fn charset(answers: &Answers, database: &str) -> Finding {
    match (answers.get_setting("character_set_connection"), answers.get_setting("character_set_database")) {
        ("utf8mb4", "utf8mb4" | "") => Finding::fine(CHARSET, "utf8mb4"),
        ("utf8mb4", other) => Finding::doubtful(
            CHARSET,
            format!(
                "the database has the character set {other}: the ingester's tables have utf8mb4, other tables of the database do not"
            ),
            format!("ALTER DATABASE `{database}` CHARACTER SET utf8mb4"),
        ),
        (other, _) => Finding::unfit(
            CHARSET,
            format!("the ingester's sessions have the character set {other}: characters beyond it are lost"),
            "something between the ingester and the server changes it: connect to the server itself, or correct its init_connect",
        ),
    }
}

fn group(answers: &Answers) -> Finding {
    if answers.is_on("wsrep_on") {
        return Finding::fine(
            GROUP,
            format!("a node of the Galera cluster `{}`", answers.get_setting("wsrep_cluster_name")),
        );
    }
    match answers.get_setting("group_replication_group_name") {
        "" => Finding::fine(GROUP, "not a member of a group that certifies transactions"),
        name => Finding::fine(GROUP, format!("a member of the replication group {name}")),
    }
}

fn granted(answers: &Answers, database: &str) -> Finding {
    let grants: Vec<Grant<'_>> = answers.grants.iter().filter_map(|line| Grant::parse(line, database)).collect();
    let lacks = |right: &&str| {
        let may = |table: Option<&str>| {
            grants.iter().any(|grant| grant.table.is_none_or(|its| Some(its) == table) && grant.has(right))
        };
        !may(None) && (answers.tables.is_empty() || !answers.tables.iter().all(|table| may(Some(table))))
    };
    let all = |rights: [&'static str; 4]| rights.into_iter().filter(lacks).map(str::to_owned).collect::<Vec<_>>();
    rights(&all(ROWS), &all(TABLES), answers.defines)
}

/// A line of SHOW GRANTS about a database, or about a table of it.
struct Grant<'a> {
    rights: BTreeSet<&'a str>,
    /// The table; `None` for all.
    table: Option<&'a str>,
}

impl<'a> Grant<'a> {
    /// Parses a line; `None` if it is about something else. A right to some columns is not a right to the table.
    fn parse(line: &'a str, database: &str) -> Option<Self> {
        let (rights, rest) = line.strip_prefix("GRANT ")?.split_once(" ON ")?;
        let (object, _) = rest.split_once(" TO ")?;
        let rights = rights.split(", ").collect();
        if object == "*.*" {
            return Some(Grant { rights, table: None });
        }
        let (pattern, table) = object.strip_prefix('`')?.split_once("`.")?;
        let pattern = pattern.replace("``", "`");
        let table = if table == "*" { None } else { Some(table.trim_matches('`')) };
        // Only rights to a whole database can be patterns.
        let is_meant = if table.is_none() { is_like(database, &pattern) } else { database == pattern };
        is_meant.then_some(Grant { rights, table })
    }

    fn has(&self, right: &str) -> bool {
        self.rights.contains(right) || self.rights.contains("ALL PRIVILEGES")
    }
}

/// Returns true if a name matches a pattern of LIKE.
fn is_like(name: &str, pattern: &str) -> bool {
    let mut letters = pattern.chars();
    match letters.next() {
        None => name.is_empty(),
        Some('%') => {
            name.char_indices().map(|(at, _)| at).chain([name.len()]).any(|at| is_like(&name[at..], letters.as_str()))
        }
        Some('_') => {
            let mut rest = name.chars();
            rest.next().is_some() && is_like(rest.as_str(), letters.as_str())
        }
        Some('\\') => {
            let escaped = letters.next().unwrap_or('\\');
            name.strip_prefix(escaped).is_some_and(|rest| is_like(rest, letters.as_str()))
        }
        Some(letter) => name.strip_prefix(letter).is_some_and(|rest| is_like(rest, letters.as_str())),
    }
}

#[cfg(test)]
mod tests {
    use super::{Answers, Finding, examine, is_like};
    use crate::driver::examine::Verdict;

    const GOOD: [(&str, &str); 8] = [
        ("character_set_connection", "utf8mb4"),
        ("character_set_database", "utf8mb4"),
        ("sql_mode", "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION"),
        ("tx_isolation", "READ-COMMITTED"),
        ("max_allowed_packet", "16777216"),
        ("sort_buffer_size", "2097152"),
        ("read_only", "OFF"),
        ("group_replication_group_name", ""),
    ];
    const ALL: &str = "GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION";

    fn found(change: &[(&str, &str)], grants: &[&str]) -> Vec<Finding> {
        let variables = GOOD.iter().chain(change).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let answers = Answers {
            variables: variables.collect(),
            grants: grants.iter().map(|line| (*line).to_owned()).collect(),
            tables: vec!["model".to_owned(), "ingester_settings".to_owned()],
            defines: true,
        };
        examine(&answers, "my_db").into_iter().filter(|finding| finding.verdict != Verdict::Fine).collect()
    }

    #[test]
    fn a_good_server_has_nothing_to_mend() {
        assert_eq!(found(&[], &[ALL]), []);
        assert_eq!(found(&[("wsrep_on", "ON")], &[ALL]), []);
    }

    #[test]
    fn each_unfit_setting_is_named_with_its_remedy() {
        for (name, value, check, verdict) in [
            ("character_set_connection", "latin1", "database-charset", Verdict::Unfit),
            ("character_set_database", "latin1", "database-charset", Verdict::Doubtful),
            ("sql_mode", "NO_ENGINE_SUBSTITUTION", "database-sql-mode", Verdict::Unfit),
            ("transaction_isolation", "REPEATABLE-READ", "database-isolation", Verdict::Unfit),
            ("max_allowed_packet", "1048576", "database-packet", Verdict::Doubtful),
            ("sort_buffer_size", "32768", "database-sort-buffer", Verdict::Doubtful),
            ("read_only", "ON", "database-writable", Verdict::Unfit),
            ("innodb_read_only", "ON", "database-writable", Verdict::Unfit),
        ] {
            let found = found(&[(name, value)], &[ALL]);
            assert_eq!(found.len(), 1, "{name}: {found:?}");
            assert_eq!((found[0].check, found[0].verdict), (check, verdict), "{name}");
            assert!(found[0].message.contains(value) && !found[0].remedy.is_empty(), "{found:?}");
        }
    }

    #[test]
    fn rights_come_from_every_grant_that_is_about_the_database() {
        const ROWS: &str = "GRANT SELECT, INSERT, UPDATE, DELETE ON `my\\_db`.* TO `u`@`%`";
        for (grants, message) in [
            (&[ROWS, "GRANT CREATE, ALTER, DROP, INDEX ON `my%`.* TO `u`@`%`"][..], None),
            (&[ROWS], Some("no right to CREATE, ALTER, DROP, INDEX, which migrations need")),
            (&["GRANT SELECT ON *.* TO `u`@`%`"], Some("no right to INSERT, UPDATE, DELETE")),
            (&["GRANT ALL PRIVILEGES ON `other`.* TO `u`@`%`"], Some("no right to SELECT, INSERT, UPDATE, DELETE")),
            (&["GRANT USAGE ON *.* TO `u`@`%`", "GRANT `role`@`%` TO `u`@`%`"], Some("no right to SELECT")),
            (
                &[
                    "GRANT ALL PRIVILEGES ON `my_db`.`model` TO `u`@`%`",
                    "GRANT ALL PRIVILEGES ON `my_db`.`ingester_settings` TO `u`@`%`",
                ],
                None,
            ),
            (&["GRANT ALL PRIVILEGES ON `my_db`.`model` TO `u`@`%`"], Some("no right to SELECT")),
            (
                &["GRANT SELECT (`uid`, `name`), INSERT, UPDATE, DELETE ON `my_db`.* TO `u`@`%`"],
                Some("no right to SELECT"),
            ),
        ] {
            let found = found(&[], grants);
            match message {
                None => assert_eq!(found, [], "{grants:?}"),
                Some(message) => {
                    assert!(found.len() == 1 && found[0].message.contains(message), "{grants:?}: {found:?}");
                    assert_eq!(found[0].check, "database-rights");
                }
            }
        }
    }

    #[test]
    fn a_pattern_is_that_of_like() {
        for (name, pattern, is) in [
            ("my_db", "my_db", true),
            ("my_db", "my\\_db", true),
            ("my-db", "my\\_db", false),
            ("my-db", "my_db", true),
            ("my_db", "m%", true),
            ("my_db", "%b", true),
            ("my_db", "m%x", false),
            ("", "%", true),
        ] {
            assert_eq!(is_like(name, pattern), is, "{name} {pattern}");
        }
    }
}
