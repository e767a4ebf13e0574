//! Opens the database that an import writes into, or that its dry run compares with.

use super::Preparation;
use crate::database::Database;
use crate::ending::Failure;
use crate::output::{counted, note};
use crate::program::Program;
use anyhow::anyhow;
use ingester_store::Store;
use ingester_store::migrate::ReleasedSchema;

/// Opens the database, with its tables.
pub(super) async fn opened_to_write(database: &Database, program: Program) -> Result<Store, Failure> {
    let store = database.open().await?;
    let released = super::built_in(program)?;
    match super::prepare(&store, program, released.as_ref()).await? {
        Preparation::Ready => {}
        Preparation::Made(made) => note(&format!("made {} in {database}", counted(made as u64, "table", "tables"))),
        Preparation::Lacks(missing) => {
            return Err(refused(database, &missing, program, released.as_ref()));
        }
    }
    Ok(store)
}

/// Opens the database for reading; `None` if the import would create it, or its tables.
pub(super) async fn opened_to_compare(database: &Database, program: Program) -> Result<Option<Store>, Failure> {
    if database.address().missing_file().is_some() {
        database.announce();
        note(&format!("dry run: the import would make {database}"));
        return Ok(None);
    }
    let store = database.open_existing().await?;
    // Check this before reporting missing tables.
    store.refuse_foreign_tables(program.kinds).await?;
    let missing = store.missing(program.kinds).await?;
    if missing.is_empty() {
        return Ok(Some(store));
    }
    let released = super::built_in(program)?;
    if super::tables_of(&store, program.built_in).await? == 0 || released.is_none() {
        note(&format!("dry run: the import would make tables in {database}"));
        store.close().await;
        return Ok(None);
    }
    Err(refused(database, &missing, program, released.as_ref()))
}

/// Refuses tables of an older schema. An administrator who considers the cost should change them, not a user who only stores objects.
fn refused(database: &Database, missing: &[String], program: Program, released: Option<&ReleasedSchema>) -> Failure {
    let lacks = super::lacks(database, missing, program, released);
    Failure::Usage(anyhow!("{lacks}; an import makes the tables of a database that has none of them, and changes none"))
}
