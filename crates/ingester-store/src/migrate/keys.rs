//! Makes keys of tables with rows. The statement of a migration would make writers wait, so these keys are made outside of its transaction,
//! while others write (PostgreSQL's CREATE INDEX CONCURRENTLY).
//!
//! The files of migrations have the statement that sqlx's own tool and psql can run in a transaction. It does nothing if the key exists
//! already, and gives a table without rows its keys together with everything else.

use super::drift::has_key;
use crate::driver::{ErrorClass, StoreError};
use crate::ledger::catalog::FoundTable;
use crate::ledger::migrations::MigrationSession;
use crate::store::waiting_for;
use ingester_core::schema::Ident;
use ingester_sql::ddl::{KeyDef, SchemaChange};
use ingester_sql::dialect::{Dialect, KeyBesideWriters};

/// Returns the keys that these changes add.
fn added(changes: &[SchemaChange]) -> impl Iterator<Item = (Ident, &KeyDef)> {
    changes.iter().filter_map(|change| match change {
        SchemaChange::AddKey { table, key } => Some((*table, key)),
        _ => None,
    })
}

/// Returns true if any of these changes adds a key to a table with rows that has to be made while others write.
pub(super) async fn any_beside_writers(
    migrating: &mut MigrationSession,
    changes: &[SchemaChange],
) -> Result<bool, StoreError> {
    if !migrating.dialect().makes_keys_beside_writers() || added(changes).next().is_none() {
        return Ok(false);
    }
    let catalog = migrating.catalog().await?;
    for (table, _) in added(changes) {
        if catalog.tables.contains_key(table.as_str()) && migrating.has_rows(table).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Makes the keys that the changes of a step add to tables with rows, while others write. Returns true if nothing is left of the step.
pub(super) async fn make_beside_writers(
    migrating: &mut MigrationSession,
    changes: &[SchemaChange],
) -> Result<bool, StoreError> {
    let dialect = migrating.dialect();
    if !any_beside_writers(migrating, changes).await? {
        return Ok(false);
    }
    let catalog = migrating.catalog().await?;
    for (table, key) in added(changes) {
        let Some(found) = catalog.tables.get(table.as_str()).filter(|found| !has_key(dialect, table, key, found))
        else {
            continue;
        };
        let Some(KeyBesideWriters { unfinished, drop, create }) = statements(dialect, table, key, found) else {
            continue;
        };
        if found.keys.contains_key(&unfinished) {
            tracing::info!(%table, key = %key.name, "Creating a key again that was not finished");
            migrating.define(&[drop]).await?;
        }
        let waited_for =
            || format!("the key `{}` of `{table}`: it ends after all transactions that are older", key.name);
        match waiting_for(waited_for, migrating.run_apart(&create)).await {
            // This is impossible for some tables, such as partitioned ones. The statement of the migration then makes the key.
            Err(error) if error.class() == ErrorClass::Unknown => tracing::debug!(%error, "not made beside writers"),
            made => made?,
        }
    }
    let catalog = migrating.catalog().await?;
    let has = |table: Ident, key: &KeyDef| {
        catalog.tables.get(table.as_str()).is_some_and(|found| has_key(dialect, table, key, found))
    };
    let is_made = |change: &SchemaChange| matches!(change, SchemaChange::AddKey { table, key } if has(*table, key));
    Ok(changes.iter().all(is_made))
}

/// Returns the statements that make a key of a table as it is now.
fn statements(dialect: Dialect, table: Ident, key: &KeyDef, found: &FoundTable) -> Option<KeyBesideWriters> {
    let primary: Vec<Ident> = found.primary_key.iter().filter_map(|name| Ident::parse(name).ok()).collect();
    let nullable = |name: Ident| found.column(name.as_str()).is_some_and(|column| column.nullable);
    let columns = dialect.key_columns(&key.columns, &primary).into_iter().map(|name| (name, nullable(name)));
    dialect.key_beside_writers(table, key.name, &columns.collect::<Vec<_>>())
}
