//! The table `ingester_lost_evictions`: evicted objects whose rows the database has lost, as after a fail-over. Each row was the only copy.

use super::chunks::{MOST_ROWS, chunks};
use crate::driver::StoreError;
use crate::store::Store;
use ingester_core::kind::Kind;
use ingester_sql::dialect::statements::{ForgetLostEvictions, LostRow, ReadLostEvictions, RecordLostEvictions};

/// One statement records this many evictions.
const AT_ONCE: usize = 100;

/// An eviction whose row is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostEviction {
    /// The object's uid.
    pub uid: Box<str>,
    /// `metadata.namespace`
    pub namespace: Box<str>,
    /// `metadata.name`
    pub name: Box<str>,
    /// The version that was evicted.
    pub res_version: u64,
}

impl Store {
    /// Returns the evictions of a kind that are recorded as lost; with a namespace, only the ones in it. A database without the table has
    /// none.
    ///
    /// # Errors
    /// If the table cannot be read within the retries.
    pub async fn lost_evictions(&self, kind: &Kind, namespace: Option<&str>) -> Result<Vec<LostEviction>, StoreError> {
        let read = ReadLostEvictions { table: kind.table(), namespace };
        let doing = || format!("reading the lost evictions of {}", kind.name());
        match self.with_retries(doing, || async { self.pool.fetch(&read).await }).await {
            Ok(rows) => Ok(rows.into_iter().map(LostEviction::from).collect()),
            Err(error) if error.is_of_missing_table() => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Records evictions as lost.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn record_lost_evictions(&self, kind: &Kind, lost: &[LostEviction]) -> Result<(), StoreError> {
        for lost in lost.chunks(AT_ONCE) {
            let rows: Vec<LostRow<&str>> = lost.iter().map(row).collect();
            let record = RecordLostEvictions { table: kind.table(), lost: &rows, lost_time: self.now() };
            let doing = || "recording evictions that are lost".to_owned();
            self.with_retries(doing, || async { self.pool.execute(&record).await }).await?;
        }
        Ok(())
    }

    /// Deletes the records of evictions that are no longer lost.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn forget_lost_evictions(&self, kind: &Kind, uids: &[&str]) -> Result<(), StoreError> {
        for uids in chunks(uids, MOST_ROWS, self.dialect) {
            let forget = ForgetLostEvictions { table: kind.table(), uids };
            let doing = || "deleting the records of evictions that are not lost any more".to_owned();
            self.with_retries(doing, || async { self.pool.execute(&forget).await }).await?;
        }
        Ok(())
    }
}

fn row(lost: &LostEviction) -> LostRow<&str> {
    LostRow { uid: &lost.uid, namespace: &lost.namespace, name: &lost.name, res_version: lost.res_version }
}

impl From<LostRow<String>> for LostEviction {
    fn from(LostRow { uid, namespace, name, res_version }: LostRow<String>) -> Self {
        LostEviction { uid: uid.into(), namespace: namespace.into(), name: name.into(), res_version }
    }
}
