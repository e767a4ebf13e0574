//! One batch: many objects of one table in one transaction, with multi-row statements in the order of the uids.
//!
//! The main row comes first and its lock covers the companion rows: whoever writes an object holds it. So after the
//! main rows are written, this transaction alone decides about their labels and annotations.

use super::guard::{Guard, Verdict, Version, verdict};
use super::pairs::Difference;
use super::session::{Param, Session};
use super::{Change, Report};
use crate::dialect::{Bookkeeping, Dialect, Statement};
use crate::schema::{Companion, Table, base};
use crate::value::{Micros, Row};
use std::collections::HashMap;

/// Rows in one statement, at most. Statements are prepared once for each number of rows, so the numbers are powers of
/// two: eight texts a statement instead of hundreds.
pub(super) const MOST_ROWS: usize = 128;

/// Parameters in one statement, at most: SQLite's default of 32,766 is the lowest limit.
const MOST_PARAMS: usize = 32_000;

pub(super) struct Batch<'a> {
    pub(super) dialect: Dialect,
    pub(super) table: &'static Table,
    /// Sorted by uid, each uid once.
    pub(super) changes: &'a [Change],
    pub(super) now: Micros,
    pub(super) max_packet: usize,
    pub(super) clear_rejects: bool,
    pub(super) guard: Guard,
}

impl Batch<'_> {
    /// Writes the batch; the caller commits.
    pub(super) async fn write<S: Session>(&self, tx: &mut S) -> Result<Report, sqlx::Error> {
        let mut report = Report::default();
        let uids: Vec<&str> = self.changes.iter().map(Change::uid).collect();
        if self.guard == Guard::Overruled {
            for chunk in chunks(&uids, MOST_ROWS) {
                let params: Vec<Param<'_>> = chunk.iter().map(|uid| Param::Text(uid)).collect();
                tx.execute(&self.dialect.statement(Statement::Rewind, self.table, chunk.len()), &params).await?;
            }
        }
        let stored = self.versions(tx, &uids).await?;

        let (mut absent, mut present, mut gone) = (Vec::new(), Vec::new(), Vec::new());
        for change in self.changes {
            let old = stored.get(change.uid()).copied();
            match change {
                Change::Row(row) => match old.map(|old| verdict(old, version(row))) {
                    None => absent.push(row),
                    Some(Verdict::Write) => present.push(row),
                    Some(Verdict::Unchanged) => report.unchanged += 1,
                    Some(Verdict::Stale) => report.stale.push(row.uid.clone()),
                },
                Change::Tombstone { uid, res_version, delete_time } => match old {
                    // Nothing to mark: an object that was never stored and is gone has left no trace.
                    None => report.unchanged += 1,
                    Some(old) if old.deleted || old.evicted => report.unchanged += 1,
                    Some(old) if old.res_version > *res_version => report.stale.push(uid.clone()),
                    Some(_) => gone.push((*res_version, *delete_time, uid.as_ref())),
                },
            }
        }

        let touched = self.upsert(tx, &absent).await?;
        let mut winners = present;
        self.upsert(tx, &winners).await?;
        // Rows that were absent may have been inserted by somebody else since. The guard has decided; who won shows in what
        // is stored now, not in the count: a row that the guard left alone counts one, as an insert does (sqlx asks for
        // rows found, not rows changed). SQLite has one writer at a time, so there nobody comes between.
        let mut inserted = Vec::new();
        if self.dialect == Dialect::Sqlite || absent.is_empty() {
            inserted = absent;
        } else {
            let uids: Vec<&str> = absent.iter().map(|row| row.uid.as_ref()).collect();
            let now_stored = self.versions(tx, &uids).await?;
            // An update counts two: where every row counted one, whoever won inserted, and has no companion rows yet.
            let only_inserts = touched == absent.len() as u64;
            for row in absent {
                match now_stored.get(row.uid.as_ref()) {
                    Some(stored) if *stored != version(row) => report.stale.push(row.uid.clone()),
                    _ if only_inserts => inserted.push(row),
                    _ => winners.push(row),
                }
            }
        }
        for companion in Companion::ALL {
            self.write_pairs(tx, companion, &inserted, &winners).await?;
        }
        report.written += inserted.len() + winners.len();
        report.written += self.tombstones(tx, gone).await?;
        if self.clear_rejects {
            for chunk in chunks(&uids, MOST_ROWS) {
                let params: Vec<Param<'_>> = chunk.iter().map(|uid| Param::Text(uid)).collect();
                tx.execute(&self.dialect.bookkeeping(Bookkeeping::ClearRejects, chunk.len()), &params).await?;
            }
        }
        Ok(report)
    }

    async fn versions<S: Session>(&self, tx: &mut S, uids: &[&str]) -> Result<HashMap<String, Version>, sqlx::Error> {
        let mut stored = HashMap::with_capacity(uids.len());
        for chunk in chunks(uids, MOST_ROWS) {
            let params: Vec<Param<'_>> = chunk.iter().map(|uid| Param::Text(uid)).collect();
            let sql = self.dialect.statement(Statement::Versions, self.table, chunk.len());
            stored.extend(tx.versions(&sql, &params).await?);
        }
        Ok(stored)
    }

    /// Returns how many rows the database counts as touched: one for an insert, two for an update (MySQL's rule).
    async fn upsert<S: Session>(&self, tx: &mut S, rows: &[&Row]) -> Result<u64, sqlx::Error> {
        let mut touched = 0;
        let most = (MOST_PARAMS / self.table.columns.len()).clamp(1, MOST_ROWS);
        for chunk in self.packets(rows, most, |row| row.bytes())? {
            let mut params = Vec::with_capacity(chunk.len() * self.table.columns.len());
            for row in chunk {
                for (place, value) in row.values.iter().enumerate() {
                    params.push(match place {
                        base::UPDATE_TIME => Param::Time(self.now),
                        base::DELETE_TIME => Param::time(row.delete_time),
                        base::EVICT_TIME => Param::time(row.evict_time),
                        _ => Param::Value(value),
                    });
                }
            }
            let sql = self.dialect.statement(Statement::Upsert, self.table, chunk.len());
            touched += tx.execute(&sql, &params).await?;
        }
        Ok(touched)
    }

    /// Brings the companion rows of `inserted` (which have none) and `present` (which may) to what the rows say.
    async fn write_pairs<S: Session>(
        &self,
        tx: &mut S,
        companion: Companion,
        inserted: &[&Row],
        present: &[&Row],
    ) -> Result<(), sqlx::Error> {
        let mut stored = Vec::new();
        let uids: Vec<&str> = present.iter().map(|row| row.uid.as_ref()).collect();
        for chunk in chunks(&uids, MOST_ROWS) {
            let params: Vec<Param<'_>> = chunk.iter().map(|uid| Param::Text(uid)).collect();
            let sql = self.dialect.statement(Statement::ReadPairs(companion), self.table, chunk.len());
            stored.extend(tx.pairs(&sql, &params).await?);
        }
        let mut difference = Difference::between(companion, &stored, present);
        for row in inserted {
            difference.write_all(companion, row);
        }
        for chunk in chunks(&difference.delete, MOST_ROWS) {
            let params: Vec<Param<'_>> =
                chunk.iter().flat_map(|(uid, key)| [Param::Text(uid), Param::Text(key)]).collect();
            tx.execute(&self.dialect.statement(Statement::DeletePairs(companion), self.table, chunk.len()), &params)
                .await?;
        }
        for chunk in self
            .packets(&difference.write, 4 * MOST_ROWS, |(uid, key, value)| uid.len() + key.len() + value.len() + 27)?
        {
            let params: Vec<Param<'_>> =
                chunk.iter().flat_map(|(uid, key, value)| [uid, key, value].map(|text| Param::Text(text))).collect();
            tx.execute(&self.dialect.statement(Statement::WritePairs(companion), self.table, chunk.len()), &params)
                .await?;
        }
        Ok(())
    }

    /// Marks rows as deleted; those found at one resourceVersion together, as a sweep finds them.
    async fn tombstones<S: Session>(
        &self,
        tx: &mut S,
        mut gone: Vec<(u64, Micros, &str)>,
    ) -> Result<usize, sqlx::Error> {
        gone.sort_unstable();
        for group in gone.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (res_version, delete_time, _) = group[0];
            for chunk in chunks(group, MOST_ROWS) {
                let mut params = vec![Param::Time(delete_time), Param::Time(self.now), Param::UInt(res_version)];
                params.extend(chunk.iter().map(|(_, _, uid)| Param::Text(uid)));
                params.push(Param::UInt(res_version));
                tx.execute(&self.dialect.statement(Statement::Tombstone, self.table, chunk.len()), &params).await?;
            }
        }
        Ok(gone.len())
    }

    /// Cuts rows into statements that keep to `most` rows and to the server's largest packet.
    fn packets<'r, T>(
        &self,
        rows: &'r [T],
        most: usize,
        bytes: impl Fn(&T) -> usize,
    ) -> Result<Vec<&'r [T]>, sqlx::Error> {
        // The statement's own text and the parameters' types need room too.
        let room = self.max_packet.saturating_sub(self.max_packet / 16).saturating_sub(4096);
        let mut packets = Vec::new();
        let (mut start, mut size) = (0, 0);
        for (place, row) in rows.iter().enumerate() {
            let more = bytes(row);
            if more > room {
                return Err(sqlx::Error::InvalidArgument(format!(
                    "its {more} bytes do not fit into one packet of the server, which takes {}: raise max_allowed_packet",
                    self.max_packet
                )));
            }
            if size + more > room {
                packets.extend(chunks(&rows[start..place], most));
                (start, size) = (place, 0);
            }
            size += more;
        }
        packets.extend(chunks(&rows[start..], most));
        Ok(packets)
    }
}

fn version(row: &Row) -> Version {
    Version { res_version: row.res_version, deleted: row.delete_time.is_some(), evicted: row.evict_time.is_some() }
}

/// Slices whose lengths are powers of two up to `most`.
pub(super) fn chunks<T>(mut rows: &[T], most: usize) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        if rows.is_empty() {
            return None;
        }
        let length = (1 << rows.len().ilog2()).min(1 << most.ilog2());
        let (chunk, rest) = rows.split_at(length);
        rows = rest;
        Some(chunk)
    })
}

#[cfg(test)]
mod tests {
    use super::chunks;

    #[test]
    fn statements_come_in_powers_of_two() {
        let rows = [0; 300];
        let lengths: Vec<usize> = chunks(&rows, 128).map(<[i32]>::len).collect();
        assert_eq!(lengths, [128, 128, 32, 8, 4]);
        let lengths: Vec<usize> = chunks(&rows[..7], 100).map(<[i32]>::len).collect();
        assert_eq!(lengths, [4, 2, 1]);
        assert_eq!(chunks(&rows[..0], 100).count(), 0);
    }
}
