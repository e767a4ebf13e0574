//! Queries with a time limit, for any caller.

use super::chunks::{MOST_ROWS, chunks};
use crate::driver::{ErrorSubject, StoreError, is_about};
use crate::store::Store;
use ingester_core::schema::{Companion, Table};
use ingester_sql::dialect::statements::ReadCompanion;
use ingester_sql::dialect::{Access, Query};
use std::time::Duration;

/// How much longer than the server this process waits, because the server may ignore the limit, or not answer at all.
const PATIENCE: Duration = Duration::from_secs(5);

/// The answer to a query; `None` if it did not come in time.
pub(crate) type TimedAnswer<T> = Option<T>;

impl Store {
    /// Runs a query. Returns `None` if it took longer than `time`; the server then ends it.
    ///
    /// # Errors
    /// If the table cannot be read within the retries.
    pub(crate) async fn ask<Q: Query>(
        &self,
        doing: impl Fn() -> String,
        query: &Q,
        time: Duration,
    ) -> Result<TimedAnswer<Vec<Q::Row>>, StoreError> {
        let asked = || async {
            match tokio::time::timeout(time + PATIENCE, self.pool.fetch_within(query, time)).await {
                Ok(Ok(rows)) => Ok(Some(rows)),
                Ok(Err(error)) if is_about(&error, ErrorSubject::Time) => Ok(None),
                Ok(Err(error)) => Err(error),
                Err(_) => Ok(None),
            }
        };
        self.with_retries(doing, asked).await
    }

    /// Returns the labels or annotations of these objects: uid, key and value, in no order.
    ///
    /// # Errors
    /// If the table cannot be read within the retries.
    pub(crate) async fn pairs(
        &self,
        table: &'static Table,
        companion: Companion,
        uids: &[&str],
    ) -> Result<Vec<(String, String, String)>, StoreError> {
        let read = || async {
            let mut tx = self.pool.begin(Access::Read).await?;
            let mut pairs = Vec::new();
            for uids in chunks(uids, MOST_ROWS, self.dialect) {
                match tx.fetch(&ReadCompanion { table, companion, uids }).await {
                    Ok(read) => pairs.extend(read),
                    Err(error) => return tx.end(Err(error)).await,
                }
            }
            tx.end(Ok(pairs)).await
        };
        self.with_retries(|| format!("reading `{}`", table.companion(companion)), read).await
    }
}
