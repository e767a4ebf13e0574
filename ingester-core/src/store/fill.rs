//! Filling columns that were added to tables with rows in them: one page of rows a transaction, and how far it is.

use super::session::{Param, Session};
use super::{BACKFILLS, Database, Store, StoreError, mysql, sqlite};
use crate::dialect::Bookkeeping;
use crate::kind::Kind;
use crate::object::{ManagedFields, Object};
use crate::schema::{Column, SqlType};
use crate::value::{Micros, Row, Value};
use std::sync::Arc;

/// How far a column is filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) table: String,
    pub(crate) column: String,
    /// The migration that added the column; 0 where somebody asked for it.
    pub(crate) migration: i64,
    /// The uid of the last row that was read.
    pub(crate) position: String,
    pub(crate) read: u64,
    pub(crate) filled: u64,
    pub(crate) failed: u64,
    pub(crate) complete: bool,
}

/// What became of one page of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    /// The uid of the last row; `None` where there was none left.
    pub(crate) last: Option<String>,
    /// Rows that were read.
    pub(crate) read: u64,
    /// Rows that got other values.
    pub(crate) filled: u64,
    /// Rows whose objects cannot be decoded; each with its uid and the reason.
    pub(crate) failed: Vec<(String, String)>,
    /// Bytes of the objects.
    pub(crate) bytes: usize,
}

const MARKS: [SqlType; 9] = [
    SqlType::VarChar(64),
    SqlType::VarChar(64),
    SqlType::BigInt,
    SqlType::VarChar(64),
    SqlType::BigInt,
    SqlType::BigInt,
    SqlType::BigInt,
    SqlType::DateTime,
    SqlType::DateTime,
];

/// Runs `$work` in a transaction that is committed where it succeeds.
macro_rules! committed {
    ($store:expr, |$tx:ident| $work:expr) => {
        match &$store.database {
            Database::MySql(pool) => match mysql::begin(pool).await {
                Ok(mut $tx) => end($work, $tx).await,
                Err(error) => Err(error),
            },
            Database::Sqlite(pool) => match sqlite::begin(pool).await {
                Ok(mut $tx) => end($work, $tx).await,
                Err(error) => Err(error),
            },
        }
    };
}

async fn end<T>(result: Result<T, sqlx::Error>, tx: impl Session) -> Result<T, sqlx::Error> {
    match result {
        Ok(done) => tx.commit().await.map(|()| done),
        Err(error) => {
            // Where even that fails the connection is gone, and with it the transaction.
            let _ = tx.rollback().await;
            Err(error)
        }
    }
}

impl Store {
    /// How far each column is filled that was ever to be.
    pub(crate) async fn marks(&self) -> Result<Vec<Mark>, StoreError> {
        if !self.tables().await?.contains(BACKFILLS) {
            return Ok(Vec::new());
        }
        let sql = &self.dialect.bookkeeping(Bookkeeping::ReadBackfills, 0);
        let read = self.retrying(
            || format!("reading {BACKFILLS}"),
            || async { committed!(self, |tx| tx.rows(sql, &[], &MARKS).await) },
        );
        let number = |value: &Value| match value {
            Value::Int(number) => *number,
            _ => 0,
        };
        let count = |value: &Value| u64::try_from(number(value)).unwrap_or(0);
        let text = |value: &Value| match value {
            Value::Text(text) => text.to_string(),
            _ => String::new(),
        };
        let mark = |row: &[Value]| Mark {
            table: text(&row[0]),
            column: text(&row[1]),
            migration: number(&row[2]),
            position: text(&row[3]),
            read: count(&row[4]),
            filled: count(&row[5]),
            failed: count(&row[6]),
            complete: row[8] != Value::Null,
        };
        Ok(read.await?.iter().filter(|row| row.len() == MARKS.len()).map(|row| mark(row)).collect())
    }

    /// Columns are to be filled from the first row on; each with its table and its migration.
    pub(crate) async fn begin_fill(&self, columns: &[(String, String, i64)]) -> Result<(), StoreError> {
        let sql = &self.dialect.bookkeeping(Bookkeeping::BeginBackfill, 0);
        let migrations: Vec<Value> = columns.iter().map(|(_, _, migration)| Value::Int(*migration)).collect();
        self.retrying(
            || format!("writing {BACKFILLS}"),
            || async {
                committed!(self, |tx| async {
                    for ((table, column, _), migration) in columns.iter().zip(&migrations) {
                        let now = Param::Time(Micros::now());
                        tx.execute(sql, &[Param::Text(table), Param::Text(column), Param::Value(migration), now])
                            .await?;
                    }
                    Ok(())
                }
                .await)
            },
        )
        .await
    }

    /// What migrations after `version` have added is not there any more.
    pub(crate) async fn forget_fills(&self, version: i64) -> Result<(), StoreError> {
        let sql = &self.dialect.bookkeeping(Bookkeeping::ForgetBackfills, 0);
        let version = &Value::Int(version);
        self.retrying(
            || format!("writing {BACKFILLS}"),
            || async { committed!(self, |tx| tx.execute(sql, &[Param::Value(version)]).await) },
        )
        .await
        .map(drop)
    }

    /// Columns of a table are complete.
    pub(crate) async fn end_fill(&self, table: &str, columns: &[&Column]) -> Result<(), StoreError> {
        let sql = &self.dialect.bookkeeping(Bookkeeping::EndBackfill, 0);
        self.retrying(
            || format!("writing {BACKFILLS}"),
            || async {
                committed!(self, |tx| async {
                    for column in columns {
                        let now = Param::Time(Micros::now());
                        tx.execute(sql, &[now, Param::Text(table), Param::Text(column.name.as_str())]).await?;
                    }
                    Ok(())
                }
                .await)
            },
        )
        .await
    }

    /// Fills the columns at `places` of the kind's table in up to `limit` rows that come after `after` in the order of
    /// their uids, and notes how far that is, in one transaction. The rows are locked meanwhile, so nothing that others
    /// write is ever overwritten; what is not read as a value of the columns' types stays as it is.
    pub(crate) async fn fill(
        &self,
        kind: &Kind,
        places: &[usize],
        after: &str,
        limit: usize,
    ) -> Result<Page, StoreError> {
        self.retrying(
            || format!("filling columns of `{}`", kind.table().name),
            || async { committed!(self, |tx| self.fill_in(&mut tx, kind, places, after, limit).await) },
        )
        .await
    }

    async fn fill_in<S: Session>(
        &self,
        tx: &mut S,
        kind: &Kind,
        places: &[usize],
        after: &str,
        limit: usize,
    ) -> Result<Page, sqlx::Error> {
        let table = kind.table();
        let columns: Vec<Column> = places.iter().map(|place| table.columns[*place]).collect();
        let types: Vec<SqlType> =
            [SqlType::VarChar(64), SqlType::Json].into_iter().chain(columns.iter().map(|column| column.ty)).collect();
        let rows = tx.rows(&self.dialect.fill_read(table, &columns, limit), &[Param::Text(after)], &types).await?;
        let mut page = Page::default();
        let mut changed: Vec<(Value, Row)> = Vec::new();
        for row in rows {
            let mut values = row.into_vec().into_iter();
            let (Some(Value::Text(uid)), Some(Value::Text(json))) = (values.next(), values.next()) else {
                return Err(sqlx::Error::Decode("a row without uid or json".into()));
            };
            page.last = Some(uid.to_string());
            page.read += 1;
            page.bytes += json.len();
            match derived(kind, json) {
                Ok(Some(row)) => {
                    let stands = places.iter().zip(values).all(|(place, stored)| row.values[*place] == stored);
                    if !stands {
                        changed.push((Value::Text(uid), row));
                    }
                }
                // The kind leaves such objects out now: nobody misses their values.
                Ok(None) => {}
                Err(reason) => page.failed.push((uid.to_string(), reason)),
            }
        }
        page.filled = changed.len() as u64;
        if !changed.is_empty() {
            let params: Vec<Param<'_>> = changed
                .iter()
                .flat_map(|(uid, row)| std::iter::once(uid).chain(places.iter().map(|place| &row.values[*place])))
                .map(Param::Value)
                .collect();
            tx.execute(&self.dialect.fill_write(table, &columns, changed.len()), &params).await?;
        }
        if let Some(last) = &page.last {
            let sql = self.dialect.bookkeeping(Bookkeeping::StepBackfill, 0);
            let counts = [page.read, page.filled, page.failed.len() as u64].map(Param::UInt);
            for column in &columns {
                let [read, filled, failed] = counts;
                let of = [Param::Text(table.name.as_str()), Param::Text(column.name.as_str())];
                tx.execute(&sql, &[Param::Text(last), read, filled, failed, of[0], of[1]]).await?;
            }
        }
        Ok(page)
    }
}

/// The row that a stored object gives today.
fn derived(kind: &Kind, json: Arc<str>) -> Result<Option<Row>, String> {
    let object = Object::parse(json, ManagedFields::Keep).map_err(|error| error.to_string())?;
    kind.row(&object).map_err(|error| error.to_string())
}
