//! Tables of the source that no kind of this program reads. Their rows stay behind, and some may be the only copies of their objects.

use super::other::{OtherDatabase, names_of, table_of};
use ingester_core::kind::Kind;
use ingester_core::schema::Ident;
use ingester_sql::dialect::statements::CountTable;
use ingester_store::{Catalog, FoundTable, StoreError};

/// A table with rows that no kind reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadTable {
    /// The table's name.
    pub name: String,
    /// The number of its rows, or the reason why they cannot be counted.
    pub rows: Result<u64, String>,
    /// True if its columns show that its rows are objects.
    pub has_objects: bool,
    /// The kind, if its rows are read from a table of another name.
    pub kind: Option<&'static str>,
}

impl OtherDatabase {
    /// Returns the tables with rows that none of these kinds reads. In a database of the reference system these are all such tables. In a
    /// database of an ingester they are only tables of objects, because other programs may have tables there.
    ///
    /// # Errors
    /// If the catalog cannot be read.
    pub async fn unread(&self, kinds: &[Kind]) -> Result<Vec<UnreadTable>, StoreError> {
        let catalog = self.store.catalog().await?;
        let mut unread = Vec::new();
        for (name, table) in catalog.tables() {
            let has_objects = has_objects(table);
            let is_named = has_objects || self.is_of_reference() && !is_companion(name, table, &catalog);
            if !is_named || Self::is_read(name, kinds, &catalog) {
                continue;
            }
            let rows = self.count(name).await;
            if rows != Ok(0) {
                unread.push(UnreadTable { name: name.to_owned(), rows, has_objects, kind: kind_of(name, kinds) });
            }
        }
        Ok(unread)
    }

    /// Returns true if a kind is read from this table. If the database has two tables for one kind, only the first of its names is read.
    fn is_read(name: &str, kinds: &[Kind], catalog: &Catalog) -> bool {
        kinds.iter().filter_map(|kind| table_of(kind, catalog)).any(|(its, _)| its.as_str() == name)
    }

    async fn count(&self, name: &str) -> Result<u64, String> {
        let table = Ident::parse(name).map_err(|error| error.to_string())?;
        let doing = || format!("counting the rows of `{table}`");
        let count = &CountTable { table };
        let counted = self.store.read(doing, count).await.map_err(|error| error.to_string())?;
        Ok(counted.into_iter().next().unwrap_or_default())
    }
}

fn kind_of(name: &str, kinds: &[Kind]) -> Option<&'static str> {
    kinds.iter().find(|kind| names_of(kind).iter().any(|its| its.as_str() == name)).map(Kind::name)
}

/// Returns true if a table's rows are objects: one row for each uid, with the object's version and content.
fn has_objects(table: &FoundTable) -> bool {
    let has = |column: &str| table.has_column(column);
    table.primary_key() == ["uid"] && has("res_version") && (has("json") || has("proto"))
}

/// Returns true if a table belongs to the objects of another table, such as a table of labels.
fn is_companion(name: &str, table: &FoundTable, catalog: &Catalog) -> bool {
    let is_main = |main: &str| catalog.table(main).is_some_and(has_objects);
    let mut heads = name.match_indices('_').map(|(end, _)| &name[..end]);
    table.has_column("obj_uid") && heads.any(is_main)
}
