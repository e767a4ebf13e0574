//! Compresses the texts of former versions, in tables of a release that did not.

use super::declared::while_in_use;
use crate::driver::StoreError;
use crate::ledger::Ledger;
use crate::store::Store;
use ingester_core::Kind;
use ingester_core::schema::{BASE_COLUMNS, Ident, base};
use ingester_sql::dialect::Sql;

impl Store {
    /// Returns the tables of histories whose texts the server could compress and does not, each with the statement that compresses them.
    ///
    /// # Errors
    /// If the catalog cannot be read.
    pub async fn uncompressed_histories(&self, kinds: &[Kind]) -> Result<Vec<(Ident, Sql)>, StoreError> {
        let histories: Vec<Ident> = kinds.iter().filter_map(|kind| Some(kind.table().history?.table.name)).collect();
        if histories.is_empty() {
            return Ok(Vec::new());
        }
        let catalog = self.catalog().await?;
        let json = BASE_COLUMNS[base::JSON].name;
        let statement = |table: Ident| {
            let columns = &catalog.tables.get(table.as_str())?.columns;
            let found = columns.iter().find(|column| column.name == json.as_str())?;
            Some((table, self.dialect().compress_versions(table, &found.ty)?))
        };
        Ok(histories.into_iter().filter_map(statement).collect())
    }

    /// Runs a statement of [`Store::uncompressed_histories`]. Other programs do not migrate meanwhile, and writers of the kind wait.
    ///
    /// # Errors
    /// If the database fails, or others use the table for minutes without a break.
    pub async fn compress_history(&self, statement: Sql) -> Result<(), StoreError> {
        let mut migrating = self.migrating(Ledger::default()).await?;
        let statements = [statement];
        let done = while_in_use(async || migrating.define(&statements).await).await;
        migrating.end().await?;
        done
    }
}
