//! `ingester doctor`: reports the problems that `ingester run` would meet, and their remedies. It changes nothing, neither in the cluster
//! nor in the database.
//!
//! | file | what it checks |
//! |---|---|
//! | `api_server.rs` | the API server: its answers, its version, streamed lists |
//! | `kinds.rs` | each kind on the API server: CRD, rights, admission |
//! | `request.rs` | a single request to the API server, for the files that send them |
//! | `database.rs` | the database: server, rights, settings, clock |
//! | `both.rs` | the cluster together with the database: identity, migrations, tables, definitions, lag, evictions |
//!
//! A part that fails reports its further lines as skipped, and never affects the lines of another part.

mod api_server;
mod both;
mod database;
mod kinds;
mod request;

pub(super) use request::ask;

use crate::arguments::{Doctor, Format};
use crate::ending::{Ending, Failure};
use crate::output::{Table, note, show};
use crate::program::Program;
use ingester_config::Config;
use ingester_core::Kind;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The result of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Ok,
    Warning,
    Error,
    /// It could not be checked, because of another line's failure, or because this server does not give the answer.
    Skipped,
}

impl Outcome {
    fn name(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Warning => "warning",
            Outcome::Error => "error",
            Outcome::Skipped => "skipped",
        }
    }
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct CheckLine {
    /// Its stable name.
    check: &'static str,
    /// Its subject: a kind, a table, a server; empty if there is only one.
    subject: String,
    result: Outcome,
    message: String,
    /// The remedy, if one is needed.
    remedy: Option<String>,
}

/// The lines of a part, in their order.
#[derive(Debug, Default)]
struct CheckLines(Vec<CheckLine>);

impl CheckLines {
    fn add(&mut self, check: &'static str, subject: &str, result: Outcome, message: String, remedy: Option<String>) {
        // A message of a server may have several lines.
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        self.0.push(CheckLine { check, subject: subject.to_owned(), result, message, remedy });
    }

    fn ok(&mut self, check: &'static str, subject: &str, message: impl Into<String>) {
        self.add(check, subject, Outcome::Ok, message.into(), None);
    }

    fn warning(&mut self, check: &'static str, subject: &str, message: impl Into<String>, remedy: impl Into<String>) {
        self.add(check, subject, Outcome::Warning, message.into(), Some(remedy.into()));
    }

    fn error(&mut self, check: &'static str, subject: &str, message: impl Into<String>, remedy: impl Into<String>) {
        self.add(check, subject, Outcome::Error, message.into(), Some(remedy.into()));
    }

    fn skipped(&mut self, check: &'static str, subject: &str, message: impl Into<String>) {
        self.add(check, subject, Outcome::Skipped, message.into(), None);
    }

    /// Skips all these checks.
    fn skip(&mut self, checks: &[&'static str], why: &str) {
        for check in checks {
            self.skipped(check, "", why);
        }
    }
}

/// The subjects of the checks.
struct CheckSubjects<'a> {
    config: &'a Config,
    file: &'a Path,
    program: Program,
    /// The kinds that the configuration mirrors.
    kinds: Vec<Kind>,
}

impl CheckSubjects<'_> {
    /// Returns the namespaces in which objects of a kind are mirrored; `None` for all.
    fn namespaces(&self, kind: &Kind) -> Vec<Option<&str>> {
        let named = &self.config.ingester.namespaces;
        match kind.namespaced() && !named.is_empty() {
            true => named.iter().map(|namespace| Some(namespace.as_str())).collect(),
            false => vec![None],
        }
    }
}

pub(crate) async fn run(arguments: &Doctor, config: Config, program: Program) -> Result<Ending, Failure> {
    let kinds = program.kinds.iter().filter(|kind| config.ingester.has_kind(kind.name())).copied().collect();
    let wanted = CheckSubjects { config: &config, file: &arguments.config.config, program, kinds };
    let (cluster, database) =
        tokio::join!(api_server::examine(&arguments.cluster, &wanted), database::examine(&wanted));
    let both = both::examine(&wanted, &cluster, database.store.as_ref()).await;
    if let Some(store) = database.store {
        store.close().await;
    }
    let lines: Vec<CheckLine> = [cluster.lines, database.lines, both].into_iter().flat_map(|lines| lines.0).collect();
    show(arguments.output.output, &lines, || table(&lines))?;
    let count = |outcome| lines.iter().filter(|line| line.result == outcome).count();
    let errors = count(Outcome::Error);
    let warnings = count(Outcome::Warning);
    let skipped = count(Outcome::Skipped);
    if arguments.output.output == Format::Table {
        note(&format!("{errors} errors, {warnings} warnings, {skipped} skipped, {} ok", count(Outcome::Ok)));
    }
    Ok(if errors == 0 { Ending::Done } else { Ending::Problem })
}

/// Returns the lines for people: checks that are ok for several subjects share one line, and each remedy appears once.
fn table(lines: &[CheckLine]) -> String {
    let mut table = Table::new(["result", "check", "subject", "message"]);
    let alike = |a: &CheckLine, b: &CheckLine| {
        a.result == Outcome::Ok && (a.check, a.result, &a.message) == (b.check, b.result, &b.message)
    };
    for (place, line) in lines.iter().enumerate() {
        if lines[..place].iter().any(|before| alike(line, before)) {
            continue;
        }
        let subject = match lines.iter().filter(|other| alike(line, other)).count() {
            0 | 1 => line.subject.clone(),
            some => format!("{} and {} more", line.subject, some - 1),
        };
        table.row([line.result.name().to_owned(), line.check.to_owned(), subject, line.message.clone()]);
    }
    let mut text = table.to_string();
    let mut remedies: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for line in lines {
        if let Some(remedy) = &line.remedy {
            remedies.entry((line.check, remedy)).or_default().push(&line.subject);
        }
    }
    for (place, ((check, remedy), subjects)) in remedies.into_iter().enumerate() {
        let subjects: Vec<&str> = subjects.into_iter().filter(|subject| !subject.is_empty()).collect();
        let of = if subjects.is_empty() { String::new() } else { format!(" of {}", subjects.join(", ")) };
        text.push_str(&format!("{}{check}{of}: {remedy}\n", if place == 0 { "\n" } else { "" }));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{CheckLines, table};

    #[test]
    fn what_is_ok_alike_is_one_line_and_each_remedy_is_there_once() {
        let mut lines = CheckLines::default();
        lines.ok("crd", "models", "served");
        lines.ok("crd", "projects", "served");
        lines.error("rights", "models", "patch\n is missing", "apply the role");
        lines.error("rights", "projects", "patch is missing", "apply the role");
        lines.skip(&["lag"], "the database was not reached");
        let expected = "\
RESULT    CHECK    SUBJECT             MESSAGE
ok        crd      models and 1 more   served
error     rights   models              patch is missing
error     rights   projects            patch is missing
skipped   lag                          the database was not reached

rights of models, projects: apply the role
";
        assert_eq!(table(&lines.0), expected);
    }
}
