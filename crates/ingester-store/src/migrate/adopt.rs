//! Adopts tables of kinds that a file declared and that a program has built in now. From then on, the lock file counts their definitions.

use super::apply::schema_of;
use super::backfill::all;
use super::declared::{DeclaredError, refuse_other_owners};
use crate::driver::StoreError;
use crate::store::Store;
use ingester_core::Registry;
use ingester_core::kind::Kind;
use ingester_sql::ddl::{self, Schema, SchemaChange};
use ingester_sql::dialect::Access;
use ingester_sql::dialect::statements::{CountTable, MarkRows, NewerRows};

/// Rows of a page.
const PAGE: usize = 500;

impl Store {
    /// Returns the kinds among these whose tables a file has declared.
    ///
    /// # Errors
    /// [`DeclaredError::Owned`] for a table with the rows of another kind, or if the database cannot be read.
    pub async fn declared_before(&self, kinds: &[Kind]) -> Result<Vec<Kind>, DeclaredError> {
        let records = self.declared_records().await?;
        let before: Vec<Kind> = kinds.iter().filter(|kind| records.has(kind)).copied().collect();
        refuse_other_owners(&records, &before)?;
        Ok(before)
    }

    /// Returns the changes that would bring the tables of these kinds to the schema of their structs. They include columns and keys that a
    /// struct lacks.
    ///
    /// # Errors
    /// If the catalog cannot be read.
    pub async fn differences_from(&self, kinds: &[Kind]) -> Result<Vec<SchemaChange>, StoreError> {
        let wanted = Schema::from_registry(Registry { kinds, views: &[] });
        let live = schema_of(&self.catalog().await?, self.dialect(), &wanted);
        let changes = ddl::diff(&live, &wanted);
        Ok(changes)
    }

    /// Makes the lock file count the definitions of a kind that a file has declared. The lock file does not know the file's numbers, so all
    /// rows lose theirs: a backfill then reads them, and no rule judges them before. Returns how many rows a backfill will read, which are all.
    /// Nothing else may write the table at the same time.
    ///
    /// # Errors
    /// If the database cannot be read or written within the retries.
    pub async fn adopt(&self, kind: &Kind) -> Result<u64, StoreError> {
        let table = kind.table();
        let mut after = String::new();
        loop {
            let newer = |narrow| NewerRows { table, ingest_version: 0, after: &after, limit: PAGE, narrow };
            let page = || async { self.by_narrow_key(newer).await };
            let uids = self.with_retries(|| format!("reading rows of {}", table.name), page).await?;
            let Some(last) = uids.last() else { break };
            let uids: Vec<&str> = uids.iter().map(String::as_str).collect();
            let mark = || async {
                let mut tx = self.pool.begin(Access::Write).await?;
                let marked = tx.execute(&MarkRows { table, ingest_version: 0, uids: &uids }).await;
                tx.end(marked).await
            };
            self.with_retries(|| format!("marking rows of {}", table.name), mark).await?;
            after.clone_from(last);
        }
        if !kind.is_older(0) {
            // The table of the struct is older than the number, so a row without one counts as one of the first definition.
            let columns = all(kind).into_iter().map(|column| (table.name.to_string(), column.to_string(), 0));
            self.create_own().await?;
            self.begin_backfill(&columns.collect::<Vec<_>>()).await?;
        }
        self.forget_declared(kind).await?;
        self.forget_latest(table.name.as_str()).await?;
        self.record_latest(std::slice::from_ref(kind)).await?;
        // Also those that had no number before, because they were rejects or imported.
        let count = || async {
            let mut tx = self.pool.begin(Access::Read).await?;
            let counted = tx.fetch(&CountTable { table: table.name }).await;
            tx.end(counted).await
        };
        let counts: Vec<u64> = self.with_retries(|| format!("counting rows of {}", table.name), count).await?;
        Ok(counts.into_iter().sum())
    }
}
