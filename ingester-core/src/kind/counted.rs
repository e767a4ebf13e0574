//! Kinds whose definitions a database counts, because no lock file does: part by part, so that a changed part refills only itself.

use super::{Definition, IngestVersion};
use crate::schema::{Fingerprint, Ident};
use std::sync::OnceLock;

/// The fingerprints of everything that a kind's rows are made from, part by part. [`Kind::fingerprint`](super::Kind::fingerprint) covers
/// all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipes {
    /// Properties of a whole row: which objects the filter leaves out, and the existence of tables of labels.
    pub row: Fingerprint,
    /// Each computed column, including the columns of many values. The name is part of the fingerprint.
    pub columns: Vec<(Ident, Fingerprint)>,
}

/// The number of this definition among its kind's definitions, and for each of its parts the definition since which it is unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The value of `ingest_version` in rows of this definition.
    pub number: u32,
    /// The definition since which the properties of a whole row are unchanged.
    pub row: u32,
    /// The definition since which each column is computed as now.
    pub columns: Vec<(Ident, u32)>,
}

impl Counted {
    /// The definition since which a column is computed as now. A column that was not counted counts as changed by this one.
    pub(super) fn column(&self, name: Ident) -> u32 {
        let since = self.columns.iter().find(|(column, _)| *column == name).map_or(self.number, |(_, since)| *since);
        since.max(self.row)
    }

    pub(super) fn version(&self) -> IngestVersion {
        IngestVersion { number: self.number, of_unmarked: 0 }
    }
}

/// The exchange of a kind with a database that counts its definitions: the kind's fingerprints, and the database's answer.
#[derive(Debug)]
pub struct Record {
    recipes: Recipes,
    counted: OnceLock<Counted>,
}

impl Record {
    /// Makes the record of a kind that has not asked a database yet.
    pub const fn new(recipes: Recipes) -> Self {
        Record { recipes, counted: OnceLock::new() }
    }

    /// Makes the record of a kind that does not know its parts, such as one of a struct: a change of any part is a change of all.
    pub const fn of_whole(definition: &Definition) -> Self {
        Record::new(Recipes { row: definition.fingerprint, columns: Vec::new() })
    }

    /// The fingerprints from the kind's file; [`Kind::recipes`](super::Kind::recipes) adds everything that follows from the rest of its
    /// definition.
    pub(super) const fn recipes(&self) -> &Recipes {
        &self.recipes
    }

    /// Returns the database's answer; `None` before a database was asked.
    pub fn counted(&self) -> Option<&Counted> {
        self.counted.get()
    }

    /// Stores the database's answer, unless there is one already. Returns true if the stored answer equals this one.
    pub fn learn(&self, counted: Counted) -> bool {
        *self.counted.get_or_init(|| counted.clone()) == counted
    }
}
