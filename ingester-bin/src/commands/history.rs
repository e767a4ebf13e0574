//! `ingester history`: the versions of an object, and of the objects that had its name before.

use super::get::format::Format;
use super::get::printer::Printer;
use super::tree::tree;
use super::{failed, named, resource, with_tables};
use crate::arguments::{History, HistoryFormat, Named};
use crate::ending::{Ending, Failure};
use crate::output::{note, one_line, print, print_on};
use crate::program::Program;
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_core::age::age;
use ingester_core::schema::base;
use ingester_core::value::{Micros, Value};
use ingester_printers::Tree;
use ingester_printers::table::{Options, PrintedColumn, Row, TablePrinter};
use ingester_server::answer;
use ingester_sql::query::{Query, QueryError};
use ingester_store::Store;
use ingester_store::query::{AskError, Life, Limits, ObjectVersion, RequestedParts};
use std::collections::BTreeSet;

/// The versions that are read at a time, with their texts.
const PAGE: usize = 100;

/// The most characters of the paths in a table for people.
const PATHS: usize = 80;

pub(crate) async fn run(arguments: History, program: Program) -> Result<Ending, Failure> {
    let (kind, query) = asked(&arguments.object, program.kinds)?;
    let database = arguments.target.database(program.kinds)?;
    let store = with_tables(&database, program, &[kind]).await?;
    let ending = list(&store, &kind, &query, &arguments).await;
    store.close().await;
    ending
}

/// Returns the kind, which keeps a history, and the query for the named objects.
///
/// # Errors
/// If no object is named, or the kind keeps none.
pub(super) fn asked(object: &Named, kinds: &'static [Kind]) -> Result<(Kind, Query), Failure> {
    let Named { kind, name, namespace, uid } = object;
    let (kind, name) = match (kind.split_once('/'), name) {
        (None, name) if name.is_some() || uid.is_some() => (named(kinds, kind)?, name.clone()),
        (Some((kind, name)), None) if !name.is_empty() => (named(kinds, kind)?, Some(name.to_owned())),
        _ => return Err(Failure::Usage(anyhow!("name one object: KIND NAME, KIND/NAME, or KIND --uid UID"))),
    };
    if kind.history().is_none() {
        return Err(Failure::Usage(QueryError::NoHistory { kind: kind.kind() }.into()));
    }
    let query = Query {
        namespaces: namespace.iter().cloned().collect(),
        names: name.into_iter().collect(),
        uids: uid.iter().cloned().collect(),
        ..Query::default()
    };
    Ok((kind, query))
}

/// Returns the named objects, in one namespace. An empty result is reported.
pub(super) async fn lives(store: &Store, kind: &Kind, query: &Query) -> Result<Vec<Life>, Failure> {
    let lives =
        store.lives(kind, query, Limits::default()).await.map_err(|error| not_found_in_time(kind, query, error))?;
    let namespaces: BTreeSet<&str> = lives.iter().map(|life| &*life.namespace).collect();
    let name = query.names.first().or(query.uids.first()).map_or("", String::as_str);
    if namespaces.len() > 1 {
        let all: Vec<&str> = namespaces.into_iter().collect();
        let all = all.join(", ");
        return Err(Failure::Usage(anyhow!("`{name}` is, or was, in several namespaces: name one with -n ({all})")));
    }
    if lives.is_empty() {
        note(&format!("Error (NotFound): {} \"{name}\" not found, also not among former versions", resource(kind)));
    }
    Ok(lives)
}

/// The failure when the objects were not found in time. A key finds a name only within a namespace, or with a uid.
fn not_found_in_time(kind: &Kind, query: &Query, error: AskError) -> Failure {
    match (error, query.names.first()) {
        (AskError::TooSlow(time, _), Some(name))
            if kind.namespaced() && query.namespaces.is_empty() && query.uids.is_empty() =>
        {
            Failure::Work(anyhow!(
                "the database took longer than {time:?} to look for `{name}` in all namespaces and was told to stop: name its namespace with -n, \
                 for which there is a key"
            ))
        }
        (error, _) => failed(error),
    }
}

async fn list(store: &Store, kind: &Kind, query: &Query, arguments: &History) -> Result<Ending, Failure> {
    let lives = lives(store, kind, query).await?;
    if lives.is_empty() {
        return Ok(Ending::Problem);
    }
    let format = match arguments.output {
        None => Format::Table,
        Some(HistoryFormat::Wide) => Format::Wide,
        Some(HistoryFormat::Json) => Format::Json,
        Some(HistoryFormat::Yaml) => Format::Yaml,
    };
    let mut out = HistoryOutput {
        kind,
        table: table(!arguments.no_headers, matches!(format, Format::Wide)),
        is_wide: matches!(format, Format::Wide),
        objects: Printer::new(&format, true),
        left: arguments.limit.map_or(usize::MAX, |limit| limit as usize),
        is_cut: false,
    };
    for (place, life) in lives.iter().enumerate() {
        if !out.life(store, &life.uid).await? {
            return Ok(Ending::Done);
        }
        if out.left == 0 {
            out.is_cut |= place + 1 < lives.len();
            break;
        }
    }
    print(&out.objects.end()?)?;
    if out.is_cut {
        note("there are earlier versions: a higher --limit prints them");
    }
    Ok(Ending::Done)
}

/// A version, and the paths that differ from the previous one.
type VersionChange = (ObjectVersion, Vec<String>);

/// The output and its format.
struct HistoryOutput<'f> {
    kind: &'f Kind,
    table: TablePrinter,
    is_wide: bool,
    objects: Printer<'f>,
    /// The number of versions that may still be printed.
    left: usize,
    /// There are more than requested.
    is_cut: bool,
}

impl HistoryOutput<'_> {
    /// Prints the requested versions of one object. Returns false once the reader has closed the pipe.
    async fn life(&mut self, store: &Store, uid: &str) -> Result<bool, Failure> {
        let mut places = vec![base::RES_VERSION, base::JSON];
        places.extend(answer::STATE_PLACES);
        let wanted = RequestedParts { places, labels: false };
        let (mut token, mut last): (_, Option<ObjectVersion>) = (None, None);
        loop {
            let page = (PAGE.min(self.left.saturating_add(1)), token.as_deref());
            let page = store.history(self.kind, uid, &wanted, page, Limits::default()).await.map_err(failed)?;
            let mut known: Vec<VersionChange> = Vec::with_capacity(page.versions.len());
            for version in page.versions {
                if let Some(later) = last.take() {
                    let paths = answer::changed(version.row.get_text(base::JSON), later.row.get_text(base::JSON));
                    known.push((later, paths));
                }
                last = Some(version);
            }
            token = page.next;
            if token.is_none() {
                known.extend(last.take().map(|first| (first, Vec::new())));
            }
            let is_more = known.len() > self.left || (known.len() == self.left && token.is_some());
            known.truncate(self.left);
            self.left -= known.len();
            if !self.print(&known)? {
                return Ok(false);
            }
            if is_more {
                self.is_cut = true;
                self.left = 0;
            }
            if token.is_none() || self.left == 0 {
                return Ok(true);
            }
        }
    }

    /// Prints versions. Returns true if standard output is still open.
    fn print(&mut self, versions: &[VersionChange]) -> Result<bool, Failure> {
        let mut text = String::new();
        if self.objects.format().is_table() {
            text = self.table.render_rows(versions.iter().map(|version| self.row(version)).collect::<Vec<_>>());
        } else {
            for (version, changed) in versions {
                let object = tree(&answer::version(self.kind, version, changed));
                let uid = version.row.uid();
                let object =
                    object.map_err(|error| Failure::Work(anyhow!("the version of {uid} is not JSON: {error}")))?;
                text.push_str(&self.objects.item(object)?);
            }
        }
        Ok(text.is_empty() || print_on(&text)?)
    }

    fn row(&self, (version, changed): &VersionChange) -> Row<'static> {
        let ObjectVersion { from, to, change, row } = version;
        let paths = match self.is_wide {
            true => changed.join(","),
            false => {
                let paths: Vec<&str> =
                    changed.iter().map(String::as_str).filter(|path| !answer::changes_always(path)).collect();
                one_line(&paths.join(","), PATHS)
            }
        };
        let number = match row.get(base::RES_VERSION) {
            Some(Value::UInt(number)) => number.to_string(),
            _ => String::new(),
        };
        let none = |text: String| if text.is_empty() { "<none>".to_owned() } else { text };
        let cells = [
            row.uid().to_owned(),
            number,
            from.rfc3339(),
            to.map_or("now".to_owned(), Micros::rfc3339),
            age(Some(*from), to.unwrap_or_else(Micros::now)),
            none(change.map(|change| change.as_str().to_owned()).unwrap_or_default()),
            none(paths),
        ];
        Row { cells: cells.map(Tree::Text).into(), namespace: "", labels: Vec::new() }
    }
}

fn table(headers: bool, wide: bool) -> TablePrinter {
    let column = |name: &str| PrintedColumn { name: name.to_owned(), wide: name == "uid", is_name: false };
    let columns = ["uid", "version", "from", "to", "for", "change", "changed"].map(column);
    TablePrinter::new(columns.into(), Options { headers, wide, ..Options::default() })
}

#[cfg(test)]
mod tests {
    use super::{Query, not_found_in_time};
    use crate::ending::Failure;
    use crd_specs::KINDS;
    use ingester_core::kind::find;
    use ingester_store::query::AskError;
    use std::time::Duration;

    #[test]
    fn a_search_in_all_namespaces_that_takes_too_long_names_the_flag() {
        let model = find(KINDS, "michelangelo.api/v2", "Model").unwrap();
        let named = Query { names: vec!["nightly".to_owned()], ..Query::default() };
        let within = Query { namespaces: vec!["ml".to_owned()], ..named.clone() };
        for (query, is_named) in [(&named, true), (&within, false)] {
            let slow = AskError::TooSlow(Duration::from_secs(30), "model_history".to_owned());
            let Failure::Work(error) = not_found_in_time(model, query, slow) else { panic!("it is not a usage") };
            let said = error.to_string();
            assert!(
                said.contains("longer than 30s") && said.contains("`nightly` in all namespaces") == is_named,
                "{said}"
            );
            assert_eq!(said.contains("name its namespace with -n"), is_named, "{said}");
        }
    }
}
