//! Decides which rows the rules may judge. `ingest_version` excludes rows that another definition wrote. The object's text proves the rest:
//! the parts of a row that rules read are computed once more and compared. Columns can be out of date (not backfilled yet, kept by design,
//! edited by hand), and a rule that reads them may destroy the only copy of an object.

use super::chunks::{MOST_ROWS, chunks};
use super::read::{StoredRow, read_rows};
use crate::driver::{StoreError, Transaction};
use crate::store::Store;
use ingester_core::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_core::schema::{Companion, Ident, Table};
use ingester_core::value::{Unfit, Value};
use ingester_sql::query::{Filter, Reads, Test};
use std::fmt;

/// The column with the definition that wrote a row.
const NUMBER: &str = "ingest_version";

/// The reason why a value is not in the row of a database without NUL.
const NUL: &str = "a value with NUL (U+0000), which the database's text cannot contain";

/// The conditions that a row of a kind must meet before any rule about its state is judged for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Premise {
    /// The parts of a row that the rules read.
    pub reads: Reads,
    /// The first definition since which all these parts are computed as they are now.
    pub since: u32,
    /// The definition of this process; 0 if it has none that is recorded.
    pub own: u32,
    /// The latest definition that the database records.
    pub latest: u32,
    /// True if the database's texts can contain NUL (U+0000).
    pub has_nul: bool,
}

/// The reason why no rule may judge a row now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PendingReason {
    /// This process does not have the latest definition of the kind.
    Outdated {
        /// Its definition.
        own: u32,
        /// The latest one.
        latest: u32,
    },
    /// Another definition wrote the row.
    Definition {
        /// That definition; 0 if none has computed its columns.
        row: u32,
        /// The first definition since which the parts that rules read are unchanged.
        since: u32,
    },
    /// The object's text cannot be decoded.
    Undecodable(String),
    /// The object's value does not fit a column that rules read.
    Unfit(Unfit),
    /// A part of the row differs from the value that the object's text gives.
    Differs(Ident),
}

impl fmt::Display for PendingReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PendingReason::Outdated { own: 0, .. } => write!(
                f,
                "no definition of its kind is recorded in the database: start `ingester run` or `ingester schema apply` once"
            ),
            PendingReason::Outdated { own, latest } => write!(
                f,
                "this program has definition {own} of the kind, and the database records {latest}: run the program with the latest one"
            ),
            PendingReason::Definition { row: 0, .. } => write!(
                f,
                "its columns are not computed from its object: run `ingester backfill`, and correct the kind if `ingester rejects` names the row"
            ),
            PendingReason::Definition { row, since } => write!(
                f,
                "definition {row} of the kind wrote it, and what the rules read is computed as now since {since}: run `ingester backfill`, which `ingester run` also does"
            ),
            PendingReason::Undecodable(reason) => {
                write!(f, "its object cannot be decoded ({reason}): correct the kind, then run `ingester backfill`")
            }
            PendingReason::Unfit(Unfit { column, why }) => {
                write!(f, "`{column}` does not hold what its object says ({why}): change the column, or the object")
            }
            PendingReason::Differs(column) => write!(
                f,
                "`{column}` is not what its object says: run `ingester backfill` (no rule judges a column whose value stays while the object has another one)"
            ),
        }
    }
}

impl Premise {
    /// Returns true if this process has the latest definition of the kind. Otherwise it may not judge any row.
    pub fn is_of_latest(&self) -> bool {
        self.own > 0 && self.own >= self.latest
    }

    /// Returns the reason why a row of this definition may not be judged; `None` if only the proof by its text remains.
    pub fn refuses(&self, ingest_version: u32) -> Option<PendingReason> {
        let Premise { since, own, latest, .. } = *self;
        if !self.is_of_latest() {
            return Some(PendingReason::Outdated { own, latest });
        }
        let is_known = ingest_version > 0 && (since..=own).contains(&ingest_version);
        (!is_known).then_some(PendingReason::Definition { row: ingest_version, since })
    }

    /// Returns the condition of a query for the rows that [`Premise::refuses`] refuses.
    pub fn refused(&self) -> Option<Filter> {
        if !self.is_of_latest() {
            return None;
        }
        let number = |test: fn(Value) -> Test, number: u32| Filter::field(NUMBER, test(Value::UInt(number.into())));
        let judged = number(Test::GreaterOrEqual, self.since.max(1)).and(number(Test::LessOrEqual, self.own));
        Some(judged.negated())
    }

    /// Computes the parts of a stored row that rules read once more. Returns the row of its object, or the reason why the row may not be
    /// judged.
    ///
    /// # Errors
    /// [`PendingReason`]
    pub fn prove(&self, kind: &Kind, stored: &StoredRow) -> Result<Row, PendingReason> {
        if let Some(pending) = self.refuses(stored.ingest_version) {
            return Err(pending);
        }
        let object = Object::parse(stored.json(), ManagedFields::Keep);
        let object = object.map_err(|error| PendingReason::Undecodable(error.to_string()))?;
        let row = self.computed(kind, &object)?;
        let table = kind.table();
        let differs = |place: &usize| stored.values.get(*place) != row.values.get(*place);
        if let Some(place) = self.reads.places().find(differs) {
            return Err(PendingReason::Differs(table.columns[place].name));
        }
        for companion in self.reads.companions(table) {
            if pairs(stored, companion) != row.companion(companion) {
                return Err(PendingReason::Differs(table.companion(companion)));
            }
        }
        Ok(row)
    }

    /// Returns a hash of the parts of an object that rules read, to compare with the hash of its row. Valid in this process only.
    ///
    /// # Errors
    /// [`PendingReason::Undecodable`] and [`PendingReason::Unfit`]
    pub fn evidence(&self, kind: &Kind, object: &Object) -> Result<u64, PendingReason> {
        Ok(self.reads.evidence(kind.table(), &self.computed(kind, object)?))
    }

    /// Returns the row that the present definition makes of an object, whatever the kind's filter says, if its values fit the columns that
    /// rules read.
    fn computed(&self, kind: &Kind, object: &Object) -> Result<Row, PendingReason> {
        let row = kind.unfiltered_row(object).map_err(|error| PendingReason::Undecodable(error.to_string()))?;
        let row = row.ok_or_else(|| PendingReason::Undecodable("the kind's filter leaves it out".to_owned()))?;
        let is_read = |unfit: &&Unfit| self.reads.columns(kind.table()).any(|column| column == unfit.column);
        if let Some(unfit) = row.unfit.iter().find(is_read) {
            return Err(PendingReason::Unfit(unfit.clone()));
        }
        if self.has_nul {
            return Ok(row);
        }
        // Before the values go: a NULL in place of a value would agree with the column, and pass for an absent value.
        if let Some(column) = self.read_nul(kind.table(), &row) {
            return Err(PendingReason::Unfit(Unfit { column, why: NUL.to_owned() }));
        }
        Ok(row.without_nul())
    }

    /// Returns the first column or companion table that rules read and that lacks a value of this row because of NUL.
    fn read_nul(&self, table: &'static Table, row: &Row) -> Option<Ident> {
        let column = self.reads.places().find(|place| row.has_nul(*place)).map(|place| table.columns[place].name);
        let companion = self.reads.companions(table).find(|companion| row.companion_has_nul(*companion));
        column.or_else(|| companion.map(|companion| table.companion(companion)))
    }
}

fn pairs(stored: &StoredRow, companion: Companion) -> &[(Box<str>, Box<str>)] {
    match companion {
        Companion::Labels => &stored.labels,
        Companion::Annotations => &stored.annotations,
        Companion::Values(many) => stored.many.get(many.place).map_or(&[], |pairs| &**pairs),
    }
}

impl Store {
    /// Returns the premise that a row of a kind must meet before rules that read these parts are judged for it.
    ///
    /// # Errors
    /// If the settings cannot be read within the retries.
    pub async fn premise(&self, kind: &Kind, reads: Reads) -> Result<Premise, StoreError> {
        let own = kind.ingest_version();
        let latest = self.latest_definition(kind).await?.unwrap_or(own);
        let since = kind.unchanged_since(reads.columns(kind.table()));
        let has_nul = self.dialect().has_nul();
        Ok(Premise { reads, since, own, latest, has_nul })
    }
}

/// Returns the rows, with their texts, that a premise lets rules judge, and the number of rows that it does not. The transaction has locked
/// the rows.
pub(super) async fn proved(
    tx: &mut Transaction,
    kind: &Kind,
    uids: &[&str],
    premise: &Premise,
) -> Result<(Vec<StoredRow>, u64), sqlx::Error> {
    let mut rows = Vec::with_capacity(uids.len());
    let mut pending = 0;
    for uids in chunks(uids, MOST_ROWS, tx.dialect()) {
        for stored in read_rows(tx, kind.table(), uids).await? {
            match premise.prove(kind, &stored) {
                Ok(_) => rows.push(stored),
                Err(why) => {
                    pending += 1;
                    tracing::debug!(uid = %stored.uid, %why, "Row not judged by rules");
                }
            }
        }
    }
    Ok((rows, pending))
}
