//! Kinds whose definitions a database counts, because no lock file does: part by part, so that a changed part refills only itself.

use super::{Definition, IngestVersion};
use crate::schema::{Fingerprint, Ident};
use std::sync::OnceLock;

/// What the rows of a kind are made from, part by part. [`Kind::fingerprint`](super::Kind::fingerprint) covers all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipes {
    /// What concerns the whole of a row: which objects the filter leaves out, and whether there are tables of labels.
    pub row: Fingerprint,
    /// Each column that is computed, those of many values among them. The name is part of the fingerprint.
    pub columns: Vec<(Ident, Fingerprint)>,
}

/// Which definition of its kind this one is, and the definition since which each of its parts is unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// What rows of this definition have in `ingest_version`.
    pub number: u32,
    /// The definition since which what concerns a whole row is unchanged.
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

/// What a kind tells a database that counts its definitions, and what it learns there.
#[derive(Debug)]
pub struct Record {
    recipes: Recipes,
    counted: OnceLock<Counted>,
}

impl Record {
    /// For a kind that has not asked a database yet.
    pub const fn new(recipes: Recipes) -> Self {
        Record { recipes, counted: OnceLock::new() }
    }

    /// For a kind that does not know its parts, such as one of a struct: a change of any part is a change of all.
    pub const fn of_whole(definition: &Definition) -> Self {
        Record::new(Recipes { row: definition.fingerprint, columns: Vec::new() })
    }

    /// What its file says; [`Kind::recipes`](super::Kind::recipes) adds what follows from the rest of its definition.
    pub(super) const fn recipes(&self) -> &Recipes {
        &self.recipes
    }

    /// What was learnt, once a database has been asked.
    pub fn counted(&self) -> Option<&Counted> {
        self.counted.get()
    }

    /// Learns what a database says, unless it has learnt something before. Returns whether both are the same.
    pub fn learn(&self, counted: Counted) -> bool {
        *self.counted.get_or_init(|| counted.clone()) == counted
    }
}
