//! Compares a view as a database describes it with the view that it should have. Pure.

use ingester_sql::ddl::ViewDef;
use ingester_sql::dialect::Dialect;
use ingester_sql::dialect::statements::CatalogView;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The prefix of the settings with the records of views; the view's name follows.
pub(super) const RECORDS: &str = "view:";

/// A view that a database has.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FoundView {
    /// Its columns in order; none if the database does not report them.
    pub(crate) columns: Vec<String>,
    /// The query that it selects with, in the server's words; empty if the user may not see it.
    pub(super) text: String,
    /// The version of the server that chose these words; empty if they are the words of the statement that made the view.
    pub(super) writer: String,
    /// The record of the view.
    pub(super) record: Option<String>,
}

/// The result of comparing a view of a database with the one that it should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// It is the same view, or nothing contradicts that.
    Same,
    /// It has other columns.
    OtherColumns,
    /// It was made from another definition.
    OtherDefinition,
    /// It was changed after it was made.
    Changed,
}

/// Returns the views of a catalog by name.
pub(super) fn found_views(rows: Vec<CatalogView>, records: Vec<(String, String)>) -> BTreeMap<String, FoundView> {
    let mut views: BTreeMap<String, FoundView> = BTreeMap::new();
    for CatalogView { view, column, text, writer } in rows {
        let found = views.entry(view).or_default();
        found.columns.extend(column);
        found.text.push_str(&text.unwrap_or_default());
        found.writer = writer.unwrap_or_default();
    }
    for (name, value) in records {
        if let Some(found) = name.strip_prefix(RECORDS).and_then(|name| views.get_mut(name)) {
            found.record = Some(value);
        }
    }
    views
}

impl FoundView {
    /// Compares it with the view that the database should have.
    pub(crate) fn likeness(&self, view: &ViewDef) -> Likeness {
        let same = self.columns.len() == view.columns.len()
            && self.columns.iter().zip(&view.columns).all(|(found, column)| column.name.same_as(found));
        // SQLite does not report columns, but its text has all of them.
        if !same && !self.writer.is_empty() {
            return Likeness::OtherColumns;
        }
        if self.is_of_another(view) {
            return Likeness::OtherDefinition;
        }
        let (Some(record), Some(current)) = (&self.record, self.to_record(view)) else { return Likeness::Same };
        let ([_, writer, text, _], [_, now, its, _]) = (parts(record), parts(&current));
        if writer == now && text != its { Likeness::Changed } else { Likeness::Same }
    }

    /// Returns true if it was made from another definition, as far as that is recorded.
    pub(super) fn is_of_another(&self, view: &ViewDef) -> bool {
        self.record.as_ref().is_some_and(|record| parts(record)[0] != definition(view))
    }

    /// Returns true if it was made by an unknown statement, or by another one than the statement of this release. Views from migrations are
    /// reviewed, and stay.
    pub(super) fn is_written_otherwise(&self, view: &ViewDef, dialect: Dialect) -> bool {
        self.record
            .as_ref()
            .map(|record| parts(record)[3])
            .is_some_and(|by| by != REVIEWED && by != statement(view, dialect))
    }

    /// Returns the record of the view: its definition, the server that describes it, and the description, each as the beginning of a
    /// checksum; `None` if the user may not see the view.
    pub(super) fn to_record(&self, view: &ViewDef) -> Option<String> {
        if self.text.is_empty() {
            return None;
        }
        Some(format!("{} {} {}", definition(view), short(&self.writer), short(&self.text)))
    }
}

/// Returns a short checksum of a view's definition.
pub(super) fn definition(view: &ViewDef) -> String {
    short(&serde_json::to_string(view).unwrap_or_default())
}

/// Returns a short checksum of the statement that makes a view.
pub(super) fn statement(view: &ViewDef, dialect: Dialect) -> String {
    short(&dialect.script(&dialect.create_views(std::slice::from_ref(view))))
}

/// Recorded in place of a statement: a migration has made the view, or it is older than such records.
pub(super) const REVIEWED: &str = "-";

pub(super) fn parts(record: &str) -> [&str; 4] {
    let mut parts = record.split(' ');
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

/// Returns 64 bits of a checksum.
pub(super) fn short(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(8).fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The record of a view that will be made. It has no definition yet.
pub(super) const ANNOUNCED: &str = "0 0 0";
