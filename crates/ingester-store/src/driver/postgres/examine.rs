//! Examines the settings and rights of PostgreSQL.

use crate::driver::examine::{Answers, CHARSET, Finding, SORT, WRITABLE, rights};
use std::collections::BTreeMap;

/// With less, each of our lists is sorted on disk. The default is four times as much.
const SORT_KIB: u64 = 1024;

pub(super) fn examine(answers: &Answers) -> Vec<Finding> {
    let reason = match (answers.is_on("in_hot_standby"), answers.is_on("default_transaction_read_only")) {
        (true, _) => Some("it is a standby"),
        (false, true) => Some("default_transaction_read_only is on"),
        (false, false) => None,
    };
    let writable = match reason {
        Some(reason) => Finding::unfit(
            WRITABLE,
            format!("the server takes no writes: {reason}"),
            "name the primary, or all servers of its group (\"Several hosts\" in docs/databases.md), or turn the setting off",
        ),
        None => Finding::fine(WRITABLE, "the server takes writes"),
    };
    let missing = |line: &String| {
        let (right, table) = line.split_once(' ')?;
        answers.tables.iter().any(|ours| ours == table).then(|| (right.to_owned(), table.to_owned()))
    };
    // For each right, the tables for which the user lacks it.
    let mut lacking: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (right, table) in answers.grants.iter().filter_map(missing) {
        lacking.entry(right).or_default().push(table);
    }
    let mut rows = Vec::new();
    let mut tables = Vec::new();
    for (right, of) in &lacking {
        match &**right {
            "OWNER" => tables.push(format!("alter {}", few(of))),
            _ => rows.push(format!("{right} on {}", few(of))),
        }
    }
    if answers.grants.iter().any(|line| line == "CREATE") {
        tables.push("CREATE in the schema".to_owned());
    }
    let mut found = vec![writable, rights(&rows, &tables, answers.defines)];
    found.push(match answers.get_setting("client_encoding") {
        "UTF8" => Finding::fine(CHARSET, "UTF8"),
        other => Finding::unfit(
            CHARSET,
            format!("the ingester's sessions have the encoding {other}"),
            "something between the ingester and the server changes client_encoding: connect to the server itself",
        ),
    });
    if let Some(kib) = answers.number("work_mem") {
        found.push(match kib < SORT_KIB {
            true => Finding::doubtful(
                SORT,
                format!("work_mem is {kib} kB: lists are sorted on disk"),
                format!("set work_mem of the server or of this user to {SORT_KIB} or more"),
            ),
            false => Finding::fine(SORT, format!("work_mem is {kib} kB")),
        });
    }
    found
}

/// Returns the first few of a list, and the number of the others.
fn few(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [one] => one.clone(),
        [first, more @ ..] => format!("{first} and {} more", more.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Answers, examine};
    use crate::driver::examine::Verdict;

    fn found(change: &[(&str, &str)], grants: &[&str]) -> Vec<(&'static str, Verdict, String)> {
        let good = [("client_encoding", "UTF8"), ("work_mem", "4096"), ("in_hot_standby", "off")];
        let variables = good.iter().chain(change).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let answers = Answers {
            variables: variables.collect(),
            grants: grants.iter().map(|line| (*line).to_owned()).collect(),
            tables: ["model", "project"].map(str::to_owned).to_vec(),
            defines: true,
        };
        let found = examine(&answers).into_iter().filter(|finding| finding.verdict != Verdict::Fine);
        found.map(|finding| (finding.check, finding.verdict, finding.message)).collect()
    }

    #[test]
    fn each_unfit_setting_and_each_missing_right_is_named() {
        assert_eq!(found(&[], &[]), []);
        assert_eq!(found(&[], &["INSERT other", "OWNER other"]), [], "the table of another program");
        for (change, grants, check, verdict, says) in [
            (&[("in_hot_standby", "on")][..], &[][..], "database-writable", Verdict::Unfit, "standby"),
            (&[("default_transaction_read_only", "on")], &[], "database-writable", Verdict::Unfit, "read_only is on"),
            (&[("client_encoding", "LATIN1")], &[], "database-charset", Verdict::Unfit, "LATIN1"),
            (&[("work_mem", "64")], &[], "database-sort-buffer", Verdict::Doubtful, "64 kB"),
            (
                &[],
                &["DELETE model", "INSERT model"],
                "database-rights",
                Verdict::Unfit,
                "DELETE on model, INSERT on model",
            ),
            (&[], &["DELETE model", "DELETE project"], "database-rights", Verdict::Unfit, "DELETE on model and 1 more"),
            (&[], &["OWNER model"], "database-rights", Verdict::Doubtful, "alter model, which migrations need"),
            (&[], &["CREATE"], "database-rights", Verdict::Doubtful, "CREATE in the schema"),
        ] {
            let found = found(change, grants);
            assert!(found.len() == 1 && (found[0].0, found[0].1) == (check, verdict), "{found:?}");
            assert!(found[0].2.contains(says), "{found:?}");
        }
    }
}
