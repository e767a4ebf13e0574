//! One object by itself, in one round trip: the usual case of a cluster at rest, whose events come one by one.
//!
//! It rests on what the writer knows of the object. Where that is wrong, nothing is written, and the batch of one decides
//! as any other.

use super::batch::{Batch, has_its_pairs, version};
use super::error::class_of;
use super::guard::{Guard, Verdict, Version, verdict};
use super::session::Param;
use super::{Change, Class, Database, Report, Store, mysql, sqlite};
use crate::dialect::{Bookkeeping, Sql, Statement};
use crate::schema::Companion;
use crate::value::{Believed, Row};

/// Up to here an object is written as text, bytes. Beyond, the text costs more than the round trips that it spares.
const LARGEST: usize = 64 << 10;

/// What is executed by itself.
enum Single<'a> {
    /// A transaction in one text: of a row that is new.
    Insert(Sql),
    /// One statement, which is a transaction of its own: of a row whose companion rows stay as they are.
    Update(Sql, Vec<Param<'a>>),
}

impl Batch<'_> {
    fn single(&self) -> Option<Single<'_>> {
        let [Change::Row(row)] = self.changes else { return None };
        if self.guard != Guard::Holds {
            return None;
        }
        match row.believed? {
            // As text, bytes are twice as many.
            Believed::Absent if row.total_bytes() > LARGEST || 4 * LARGEST > self.max_packet => None,
            Believed::Absent => self.dialect.at_once(|| self.insertion(row)).map(Single::Insert),
            Believed::Stored { res_version, .. } => {
                let stored = Version { res_version, deleted: false, evicted: false };
                let write = verdict(stored, version(row)) == Verdict::Write && has_its_pairs(row, stored);
                // Forgetting a reject as well takes a transaction.
                if !write || self.clear_rejects || row.bytes() > self.room() {
                    return None;
                }
                let params = self.main_params(row).skip(1).chain([Param::Text(&row.uid), Param::UInt(res_version)]);
                Some(Single::Update(self.dialect.statement(Statement::Update, self.table, 1), params.collect()))
            }
        }
    }

    fn insertion<'r>(&self, row: &'r Row) -> Vec<(Sql, Vec<Param<'r>>)> {
        let mut statements =
            vec![(self.dialect.statement(Statement::Insert, self.table, 1), self.main_params(row).collect())];
        for companion in Companion::ALL {
            let pairs = row.pairs(companion);
            if !pairs.is_empty() {
                let params = pairs
                    .iter()
                    .flat_map(|(key, value)| [&row.uid, key, value])
                    .map(|text| Param::Text(text))
                    .collect();
                let sql = self.dialect.statement(Statement::WritePairs(companion), self.table, pairs.len());
                statements.push((sql, params));
            }
        }
        if self.clear_rejects {
            statements.push((self.dialect.bookkeeping(Bookkeeping::ClearRejects, 1), vec![Param::Text(&row.uid)]));
        }
        statements
    }
}

/// What became of a batch that was tried as one.
pub(super) enum Tried {
    /// It is written.
    Written(Report),
    /// Nothing was written: the object is not what its writer thinks, or the database refuses it.
    Refused,
    /// It is none that can be written so.
    Not,
}

impl Store {
    /// Writes a batch of one object in one round trip where that can be.
    pub(super) async fn write_single(&self, batch: &Batch<'_>) -> Result<Tried, sqlx::Error> {
        let Some(single) = batch.single() else { return Ok(Tried::Not) };
        let written = match (single, &self.database) {
            (Single::Update(sql, params), Database::MySql(pool)) => mysql::execute(pool, &sql, &params).await? == 1,
            (Single::Update(sql, params), Database::Sqlite(pool)) => sqlite::execute(pool, &sql, &params).await? == 1,
            (Single::Insert(sql), Database::MySql(pool)) => match mysql::at_once(pool, &sql).await {
                Ok(()) => true,
                Err(error) if class_of(&error) == Class::Transient => return Err(error),
                // Whether anything is wrong with the object the batch finds out: a row that is there after all is usual.
                Err(_) => false,
            },
            (Single::Insert(_), Database::Sqlite(_)) => return Ok(Tried::Not),
        };
        Ok(if written { Tried::Written(Report { written: 1, ..Report::default() }) } else { Tried::Refused })
    }
}
