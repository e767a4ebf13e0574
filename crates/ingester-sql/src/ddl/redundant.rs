//! Keys that another key of their table makes redundant.

use super::schema::Schema;
use super::table::{KeyDef, TableDef};
use ingester_core::schema::{BASE_KEYS, Ident};
use std::fmt;

/// A key whose columns are the first columns of another key of its table.
#[derive(Clone, Debug, PartialEq)]
pub struct RedundantKey {
    /// Its table.
    pub table: Ident,
    /// The key.
    pub key: KeyDef,
    /// The key that makes it redundant.
    pub by: KeyDef,
}

/// The redundant keys of these tables, except for those that every table has. Of two keys with the same columns, it is the second. A table of
/// former versions has the keys of its main table, which is enough to name.
pub fn redundant_keys(schema: &Schema) -> Vec<RedundantKey> {
    schema.tables.iter().filter(|table| !table.is_history()).flat_map(of_table).collect()
}

fn of_table(table: &TableDef) -> impl Iterator<Item = RedundantKey> {
    let is_base = |key: &KeyDef| BASE_KEYS.iter().any(|(name, _)| key.name.same_as(name));
    table.keys.iter().enumerate().filter(move |(_, key)| !is_base(key)).filter_map(|(place, key)| {
        let covers = |(at, other): &(usize, &KeyDef)| {
            let is_longer = other.columns.len() > key.columns.len();
            other.columns.starts_with(&key.columns) && (is_longer || *at < place)
        };
        let (_, by) = table.keys.iter().enumerate().find(covers)?;
        Some(RedundantKey { table: table.name, key: key.clone(), by: by.clone() })
    })
}

impl fmt::Display for RedundantKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RedundantKey { table, key, by } = self;
        // The key that a column has by itself.
        let remedy = match &key.columns[..] {
            [column] if *column == key.name => "`key = false` at the column, in a file of kinds `key: false`",
            _ => "`key = false` at its field (in a file of kinds `key: false`), or take it out of the composite keys",
        };
        write!(
            f,
            "key {key} of `{table}` is redundant: key {by} finds the same rows, and each write pays for both; unless objects are sorted by \
             the shorter one, leave it out: {remedy}"
        )
    }
}
