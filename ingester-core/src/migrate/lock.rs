//! `schema.lock.json`: the released schema as data, and the checksums of the migrations that lead to it.

use crate::kind::Kind;
use crate::schema::{Column, Companion, Ident, Key, base};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The released schema.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// The tables, in the order in which they are made.
    pub tables: Vec<LockedTable>,
    /// The migrations, in the order in which they run.
    pub migrations: Vec<LockedMigration>,
}

/// One table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedTable {
    /// Its name.
    pub name: String,
    /// Its columns in order.
    pub columns: Vec<LockedColumn>,
    /// The columns of its primary key.
    pub primary_key: Vec<String>,
    /// Its secondary keys in order.
    pub keys: Vec<LockedKey>,
}

/// One column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedColumn {
    /// Its name.
    pub name: String,
    /// Its type in MySQL's spelling.
    #[serde(rename = "type")]
    pub ty: String,
    /// Whether it may be NULL.
    pub nullable: bool,
}

/// One secondary key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedKey {
    /// Its name, unique within the table.
    pub name: String,
    /// Its columns in order.
    pub columns: Vec<String>,
}

/// One released migration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedMigration {
    /// Its number, from 1.
    pub version: u32,
    /// What it does, in words joined by underscores.
    pub description: String,
    /// SHA-256 of each of its files, by path within the folder.
    pub files: BTreeMap<String, String>,
}

impl LockedTable {
    fn new(name: Ident, columns: &[Column], primary: usize, keys: &[Key]) -> Self {
        LockedTable {
            name: name.to_string(),
            columns: columns
                .iter()
                .map(|column| LockedColumn {
                    name: column.name.to_string(),
                    ty: column.ty.to_string(),
                    nullable: column.nullable,
                })
                .collect(),
            primary_key: columns[..primary].iter().map(|column| column.name.to_string()).collect(),
            keys: keys
                .iter()
                .map(|key| LockedKey {
                    name: key.name.to_string(),
                    columns: key.columns().iter().map(|place| columns[usize::from(*place)].name.to_string()).collect(),
                })
                .collect(),
        }
    }

    /// The three tables of a kind.
    pub fn of(kind: &Kind) -> Vec<Self> {
        let table = kind.table();
        let mut tables = vec![LockedTable::new(table.name, table.columns, base::UID + 1, table.keys)];
        for companion in Companion::ALL {
            tables.push(LockedTable::new(table.companion(companion), companion.columns(), 2, companion.keys()));
        }
        tables
    }
}
