//! What the settings of a database and the rights of its user mean for the ingester: findings, one for each thing that is looked at.

use std::collections::BTreeMap;

/// Whether something is as it has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Fine,
    /// The ingester works, and something else may not, or not for ever.
    Doubtful,
    /// The ingester does not work.
    Unfit,
}

/// What was found about one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The thing, by a name that stays: `database-charset`.
    pub check: &'static str,
    /// Whether it is as it has to be.
    pub verdict: Verdict,
    /// What was found.
    pub message: String,
    /// What to do; empty if nothing is to be done.
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

/// The names of what every driver may find.
pub(super) const WRITABLE: &str = "database-writable";
pub(super) const RIGHTS: &str = "database-rights";
pub(super) const CHARSET: &str = "database-charset";
pub(super) const MODE: &str = "database-sql-mode";
pub(super) const ISOLATION: &str = "database-isolation";
pub(super) const PACKET: &str = "database-packet";
pub(super) const SORT: &str = "database-sort-buffer";
pub(super) const GROUP: &str = "database-group";

/// What a database has answered, and what is needed of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers {
    /// Its settings by name, in lower case.
    pub(crate) variables: BTreeMap<String, String>,
    /// The lines about the user's rights.
    pub(crate) grants: Vec<String>,
    /// The tables that are the ingester's.
    pub(crate) tables: Vec<String>,
    /// Whether this user is to change tables as well.
    pub(crate) defines: bool,
}

impl Answers {
    /// A setting; empty if the server does not have it.
    pub(super) fn of(&self, name: &str) -> &str {
        self.variables.get(name).map(String::as_str).unwrap_or_default()
    }

    /// Whether a setting is on.
    pub(super) fn is_on(&self, name: &str) -> bool {
        let value = self.of(name);
        !(value.is_empty() || value == "0" || value.eq_ignore_ascii_case("off"))
    }

    /// A setting that is a number.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.of(name).parse().ok()
    }
}

/// What is found about a user's rights: `missing` ones that writing rows needs, and `undefined` ones that changing tables needs.
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
