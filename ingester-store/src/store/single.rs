//! One object by itself, in one round trip: the usual case of a cluster at rest, whose events come one by one.
//!
//! It rests on what the writer knows of the object. Where that is wrong, nothing is written, and the batch of one decides
//! as any other.

use super::batch::{Batch, has_its_companions};
use super::error::class_of;
use super::guard::{Guard, Verdict, Version, verdict};
use super::transaction::Pool;
use super::{ErrorClass, Report, RowChange, Store, mysql};
use ingester_core::dialect::statements::{ClearRejects, Insert, Update, WriteCompanion};
use ingester_core::dialect::{Dialect, Sql, Statement};
use ingester_core::row::{Expected, Row};
use ingester_core::schema::Companion;

/// Up to here an object is written as text, bytes. Beyond, the text costs more than the round trips that it spares.
const LARGEST: usize = 64 << 10;

/// What is executed by itself.
enum Single<'a> {
    /// A transaction in one text: of a row that is new.
    Insert(&'a Row),
    /// One statement, which is a transaction of its own: of a row whose companion rows stay as they are.
    Update(Update<'a>),
}

impl Batch<'_> {
    fn single(&self) -> Option<Single<'_>> {
        let [RowChange::Row(row)] = self.changes else { return None };
        if self.guard != Guard::Holds {
            return None;
        }
        match row.expected? {
            // As text, bytes are twice as many.
            Expected::Absent if row.total_bytes() > LARGEST || 4 * LARGEST > self.max_packet => None,
            Expected::Absent => Some(Single::Insert(row)),
            Expected::Stored { res_version, .. } => {
                let stored = Version { res_version, deleted: false, evicted: false };
                let write = verdict(stored, row.version()) == Verdict::Write && has_its_companions(row, stored);
                // Forgetting a reject as well takes a transaction.
                if !write || self.clear_rejects || row.bytes() > self.room() {
                    return None;
                }
                let update = Update { table: self.table, row, expected: res_version, update_time: self.now };
                Some(Single::Update(update))
            }
        }
    }

    /// All statements that store a new row, as one text where the dialect has such.
    fn insertion(&self, dialect: Dialect, row: &Row) -> Option<Sql> {
        let uids = [row.uid.as_ref()];
        let companions = Companion::ALL.map(|companion| {
            let rows =
                row.companion(companion).iter().map(|(key, value)| (row.uid.as_ref(), key.as_ref(), value.as_ref()));
            (companion, rows.collect::<Vec<_>>())
        });
        let insert = Insert { table: self.table, rows: &[row], update_time: self.now };
        let companions = companions.each_ref().map(|(companion, rows)| WriteCompanion {
            table: self.table,
            companion: *companion,
            rows,
        });
        let clear = ClearRejects { uids: &uids };
        let mut statements: Vec<&dyn Statement> = vec![&insert];
        statements
            .extend(companions.iter().filter(|write| !write.rows.is_empty()).map(|write| write as &dyn Statement));
        if self.clear_rejects {
            statements.push(&clear);
        }
        dialect.in_one_text(&statements)
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
        let written = match (single, &self.pool) {
            (Single::Update(update), pool) => pool.execute(&update).await? == 1,
            (Single::Insert(row), Pool::MySql(pool)) => {
                let Some(sql) = batch.insertion(self.dialect, row) else { return Ok(Tried::Not) };
                match mysql::in_one_text(pool, &sql).await {
                    Ok(()) => true,
                    Err(error) if class_of(&error) == ErrorClass::Transient => return Err(error),
                    // Whether anything is wrong with the object the batch finds out: a row that is there after all is
                    // usual.
                    Err(_) => false,
                }
            }
            (Single::Insert(_), Pool::Sqlite(_)) => return Ok(Tried::Not),
        };
        Ok(if written { Tried::Written(Report { written: 1, ..Report::default() }) } else { Tried::Refused })
    }
}
