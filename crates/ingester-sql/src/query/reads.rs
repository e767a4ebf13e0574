//! Which parts of a row a query reads, as far as they are computed from the row's object.

use super::check::{CheckedQuery, Condition, Operand};
use ingester_core::row::Row;
use ingester_core::schema::{Companion, Ident, Table, base};
use ingester_core::value::Value;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The columns of the main table that the program sets by itself; no object has their values.
const OWN: [usize; 5] =
    [base::UPDATE_TIME, base::DELETE_TIME, base::EVICT_TIME, base::EVICT_CONFIRMED, base::INGEST_VERSION];

/// The parts of a kind's rows that queries read and that are computed from objects: columns, labels, annotations, lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    places: BTreeSet<usize>,
    labels: bool,
    annotations: bool,
    /// The places of columns of many values in [`Table::many`].
    many: BTreeSet<usize>,
}

impl Reads {
    /// Adds what a query reads to decide which rows it finds.
    pub fn add_query(&mut self, query: &CheckedQuery) {
        self.add_condition(query.condition());
    }

    /// Adds the column at a place of the table.
    pub fn add_place(&mut self, place: usize) {
        if !OWN.contains(&place) {
            self.places.insert(place);
        }
    }

    fn add_condition(&mut self, condition: &Condition) {
        match condition {
            Condition::All(conditions) | Condition::Any(conditions) => {
                conditions.iter().for_each(|condition| self.add_condition(condition));
            }
            Condition::Null(operand, _)
            | Condition::Compare { operand, .. }
            | Condition::In { operand, .. }
            | Condition::Like { operand, .. } => match operand {
                Operand::Column(place) => self.add_place(*place),
                Operand::Json(_) => self.add_place(base::JSON),
            },
            Condition::Pair { companion: Companion::Labels, .. } => self.labels = true,
            Condition::Pair { companion: Companion::Annotations, .. } => self.annotations = true,
            Condition::Pair { companion: Companion::Values(many), .. } => {
                self.many.insert(many.place);
            }
            Condition::States(_) => {}
        }
    }

    /// Returns the names of the columns, including the columns of many values.
    pub fn columns(&self, table: &Table) -> impl Iterator<Item = Ident> {
        let places = self.places.iter().filter_map(|place| table.columns.get(*place)).map(|column| column.name);
        let many = self.many.iter().filter_map(|place| table.many.get(*place)).map(|many| many.name);
        places.chain(many)
    }

    /// The places of the columns in the main table.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        self.places.iter().copied()
    }

    /// The companion tables.
    pub fn companions(&self, table: &'static Table) -> impl Iterator<Item = Companion> {
        table.companions().filter(|companion| match companion {
            Companion::Labels => self.labels,
            Companion::Annotations => self.annotations,
            Companion::Values(many) => self.many.contains(&many.place),
        })
    }

    /// A hash of these parts of a row, valid in this process only.
    pub fn evidence(&self, table: &'static Table, row: &Row) -> u64 {
        let mut hasher = DefaultHasher::new();
        for place in self.places() {
            // Numbers with a fraction have no hash, and a text is the same for the same value.
            match &row.values[place] {
                Value::Text(text) => text.hash(&mut hasher),
                value => format!("{value:?}").hash(&mut hasher),
            }
        }
        for companion in self.companions(table) {
            row.companion(companion).hash(&mut hasher);
        }
        hasher.finish()
    }
}
