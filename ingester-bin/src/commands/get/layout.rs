//! The printed columns of a kind's rows: the columns of the server's answers, by kubectl's rules.

use super::format::Format;
use super::question::Question;
use crate::arguments::Get;
use crate::ending::Failure;
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_core::schema::base;
use ingester_core::value::Micros;
use ingester_printers::table::{self, TablePrinter};
use ingester_printers::{Tree, csv, json, name};
use ingester_server::answer::{self, AnswerColumn};
use ingester_store::query::{FoundRow, RequestedParts};
use serde::Deserialize as _;

/// The columns of a kind's rows that are read and printed.
pub(super) struct Layout {
    pub(super) kind: Kind,
    columns: Vec<AnswerColumn>,
    /// The changes of kubectl's flags to the columns of a table.
    options: table::Options,
    /// The stored objects are needed.
    needs_object: bool,
}

impl Layout {
    /// Returns the layout of a question's rows in this format.
    ///
    /// # Errors
    /// If a requested column does not exist.
    pub(super) fn new(question: &Question, arguments: &Get, format: &Format) -> Result<Self, Failure> {
        let kind = question.kind;
        let named = |name: &String| answer::named(kind.table(), name);
        let columns = match format {
            Format::Table | Format::Csv if !arguments.columns.is_empty() => {
                let columns: Result<_, _> = arguments.columns.iter().map(named).collect();
                columns.map_err(|error| Failure::Usage(anyhow!("--columns: {error}")))?
            }
            Format::Table | Format::Wide => answer::of_table(kind.table(), question.query.states),
            Format::Csv => answer::of_spreadsheet(kind.table()),
            _ => Vec::new(),
        };
        let is_named = !arguments.columns.is_empty();
        let options = table::Options {
            wide: is_named || matches!(format, Format::Wide),
            namespaces: !is_named && kind.namespaced() && question.query.namespaces.len() != 1,
            label_columns: arguments.label_columns.clone(),
            show_labels: arguments.show_labels,
            ..table::Options::default()
        };
        Ok(Layout { kind, columns, options, needs_object: format.needs_object() })
    }

    /// Returns the columns to read for it, and for following rows from one reading to the next.
    pub(super) fn wanted(&self) -> RequestedParts {
        let mut places = vec![base::NAMESPACE, base::NAME, base::RES_VERSION, base::CREATE_TIME];
        places.extend(answer::STATE_PLACES);
        places.extend(self.columns.iter().flat_map(AnswerColumn::places));
        places.extend(self.needs_object.then_some(base::JSON));
        let has_labels = self.options.show_labels || !self.options.label_columns.is_empty();
        RequestedParts { places, labels: has_labels && !self.columns.is_empty() }
    }

    /// The printer of a table, in which the kind precedes each name if there are several kinds.
    pub(super) fn table(&self, headers: bool, with_kind: bool) -> TablePrinter {
        let column = |column: &AnswerColumn| table::PrintedColumn {
            name: column.title().to_owned(),
            wide: column.is_wide(),
            is_name: column.is_name(),
        };
        let kind = with_kind.then(|| name::prefix(self.kind.kind(), self.kind.group()));
        let options = table::Options { headers, kind, ..self.options.clone() };
        TablePrinter::new(self.columns.iter().map(column).collect(), options)
    }

    /// A row of the table.
    pub(super) fn row<'r>(&self, row: &'r FoundRow, now: Micros) -> table::Row<'r> {
        let cells = self.cells(row, now).collect();
        table::Row { cells, namespace: row.get_text(base::NAMESPACE), labels: labels(row) }
    }

    fn cells(&self, row: &FoundRow, now: Micros) -> impl Iterator<Item = Tree> {
        // A tree has the content of JSON.
        self.columns.iter().map(move |column| Tree::deserialize(column.cell(row, now)).unwrap_or(Tree::Null))
    }

    /// The first record of a spreadsheet: the names of its columns.
    pub(super) fn names(&self) -> String {
        let mut names: Vec<String> = self.columns.iter().map(AnswerColumn::name).collect();
        names.extend(self.options.label_columns.iter().cloned());
        names.extend(self.options.show_labels.then_some("labels".to_owned()));
        csv::record(names.iter().map(String::as_str))
    }

    /// The record of a row.
    pub(super) fn record(&self, row: &FoundRow, now: Micros) -> String {
        let field = |cell: Tree| match cell {
            Tree::Null => String::new(),
            Tree::Text(text) => text,
            // Without the exponents that people see.
            cell => json::compact(&cell),
        };
        let mut fields: Vec<String> = self.cells(row, now).map(field).collect();
        let labels = labels(row);
        let value = |key: &String| labels.iter().find(|(other, _)| other == key).map_or("", |(_, value)| value);
        fields.extend(self.options.label_columns.iter().map(|key| value(key).to_owned()));
        fields.extend(self.options.show_labels.then(|| table::labels(&labels)));
        csv::record(fields.iter().map(String::as_str))
    }

    /// `model.michelangelo.api/churn`
    pub(super) fn qualified(&self, row: &FoundRow) -> String {
        name::qualified(self.kind.kind(), self.kind.group(), row.get_text(base::NAME))
    }
}

fn labels(row: &FoundRow) -> Vec<(&str, &str)> {
    row.labels().into_iter().flat_map(|labels| labels.iter()).map(|(key, value)| (&**key, &**value)).collect()
}
