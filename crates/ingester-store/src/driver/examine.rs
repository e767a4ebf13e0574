//! Examines the settings of a database and the rights of its user: one finding for each check.

use std::collections::BTreeMap;

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything is as it should be.
    Fine,
    /// The ingester works, but something else may not, or it may stop working.
    Doubtful,
    /// The ingester does not work.
    Unfit,
}

/// The finding of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The check's name, which never changes: `database-charset`.
    pub check: &'static str,
    /// The result.
    pub verdict: Verdict,
    /// The finding, for people.
    pub message: String,
    /// The remedy; empty if none is needed.
    pub remedy: String,
}

impl Finding {
    pub(super) fn fine(check: &'static str, message: impl Into<String>) -> Self {
        Finding { check, verdict: Verdict::Fine, message: message.into(), remedy: String::new() }
    }

    pub(super) fn doubtful(check: &'static str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Finding { check, verdict: Verdict::Doubtful, message: message.into(), remedy: remedy.into() }
    }

    pub(super) fn unfit(check: &'static str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Finding { check, verdict: Verdict::Unfit, message: message.into(), remedy: remedy.into() }
    }
}

/// The names of the checks that every driver may report.
pub(super) const WRITABLE: &str = "database-writable";
pub(super) const RIGHTS: &str = "database-rights";
pub(super) const CHARSET: &str = "database-charset";
pub(super) const MODE: &str = "database-sql-mode";
pub(super) const ISOLATION: &str = "database-isolation";
pub(super) const PACKET: &str = "database-packet";
pub(super) const SORT: &str = "database-sort-buffer";
pub(super) const GROUP: &str = "database-group";

/// The answers of a database, and the requirements on it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers {
    /// The database's settings by name, in lower case.
    pub(crate) variables: BTreeMap<String, String>,
    /// The lines about the user's rights.
    pub(crate) grants: Vec<String>,
    /// The tables that belong to the ingester.
    pub(crate) tables: Vec<String>,
    /// True if this user changes tables as well.
    pub(crate) defines: bool,
}

impl Answers {
    /// Returns a setting; empty if the server does not have it.
    pub(super) fn get_setting(&self, name: &str) -> &str {
        self.variables.get(name).map(String::as_str).unwrap_or_default()
    }

    /// Returns true if a setting is on.
    pub(super) fn is_on(&self, name: &str) -> bool {
        let value = self.get_setting(name);
        !(value.is_empty() || value == "0" || value.eq_ignore_ascii_case("off"))
    }

    /// Returns a setting that is a number.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.get_setting(name).parse().ok()
    }
}

/// Returns the finding about a user's rights. Writing rows needs the `missing` ones, changing tables the `undefined` ones.
pub(super) fn rights(missing: &[String], undefined: &[String], defines: bool) -> Finding {
    const PAGE: &str = "see \"Database users\" in docs/operations.md";
    if !missing.is_empty() {
        let missing = missing.join(", ");
        return Finding::unfit(
            RIGHTS,
            format!("the user has no right to {missing}"),
            format!("grant {missing} to the user ({PAGE})"),
        );
    }
    if defines && !undefined.is_empty() {
        let undefined = undefined.join(", ");
        return Finding::doubtful(
            RIGHTS,
            format!("the user can write rows, and has no right to {undefined}, which migrations need"),
            format!(
                "grant {undefined}, or set `ingester.createTables: false` and have another user run `ingester schema apply` ({PAGE})"
            ),
        );
    }
    Finding::fine(RIGHTS, if defines { "the user can write rows and change tables" } else { "the user can write rows" })
}
