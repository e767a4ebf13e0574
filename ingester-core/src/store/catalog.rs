//! The tables as the database itself describes them.

use super::session::Session as _;
use super::{Database, Store, StoreError, mysql, sqlite};
use std::collections::BTreeMap;

/// All tables of a database, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalog {
    /// The tables.
    pub tables: BTreeMap<String, LiveTable>,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveTable {
    /// Its columns in order.
    pub columns: Vec<LiveColumn>,
    /// The columns of its primary key in order.
    pub primary_key: Vec<String>,
    /// Its other keys by name.
    pub keys: BTreeMap<String, LiveKey>,
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveColumn {
    /// Its name.
    pub name: String,
    /// Its type in the server's spelling.
    pub ty: String,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// How it is compared, on servers that say so of the type.
    pub collation: Option<String>,
}

/// A key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveKey {
    /// Its columns in order.
    pub columns: Vec<String>,
    /// Whether it refuses equal values.
    pub unique: bool,
}

impl Catalog {
    /// From the rows of the two questions of the [dialect](crate::dialect).
    pub(super) fn read(columns: Vec<Vec<Option<String>>>, keys: Vec<Vec<Option<String>>>) -> Self {
        let mut tables: BTreeMap<String, LiveTable> = BTreeMap::new();
        let mut primary: BTreeMap<String, Vec<(u32, String)>> = BTreeMap::new();
        for row in columns {
            let Ok([Some(table), Some(name), Some(ty), nullable, collation, place]) = <[_; 6]>::try_from(row) else {
                continue;
            };
            if let Some(place) = place.and_then(|place| place.parse().ok()) {
                primary.entry(table.clone()).or_default().push((place, name.clone()));
            }
            let nullable = nullable.as_deref() == Some("1");
            tables.entry(table).or_default().columns.push(LiveColumn { name, ty, nullable, collation });
        }
        for (table, mut columns) in primary {
            columns.sort();
            tables.entry(table).or_default().primary_key = columns.into_iter().map(|(_, name)| name).collect();
        }
        for row in keys {
            let Ok([Some(table), Some(key), Some(column), unique]) = <[_; 4]>::try_from(row) else { continue };
            let key = tables.entry(table).or_default().keys.entry(key).or_default();
            key.columns.push(column);
            key.unique = unique.as_deref() == Some("1");
        }
        Catalog { tables }
    }
}

impl LiveTable {
    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&LiveColumn> {
        // MySQL Reference Manual, "Identifier Case Sensitivity": column names are not case-sensitive.
        self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }
}

impl Store {
    /// Reads how the tables stand in the database.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub async fn catalog(&self) -> Result<Catalog, StoreError> {
        let (columns, keys) = (self.dialect.catalog_columns(), self.dialect.catalog_keys());
        let read = async {
            match &self.database {
                Database::MySql(pool) => {
                    let mut tx = mysql::begin_reading(pool).await?;
                    Ok((tx.texts(&columns).await?, tx.texts(&keys).await?))
                }
                Database::Sqlite(pool) => {
                    let mut tx = sqlite::begin_reading(pool).await?;
                    Ok((tx.texts(&columns).await?, tx.texts(&keys).await?))
                }
            }
        };
        let (columns, keys) =
            read.await.map_err(|error| StoreError::of("reading the catalog of the database".into(), error))?;
        Ok(Catalog::read(columns, keys))
    }
}
