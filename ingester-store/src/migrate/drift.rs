//! What differs between the schema that should be and the one that a database has. Pure: both are given.

use crate::store::catalog::{Catalog, FoundColumn, FoundTable};
use ingester_core::ddl::{ColumnDef, KeyDef, Schema, TableDef};
use ingester_core::dialect::Dialect;
use ingester_core::schema::Ident;
use serde::Serialize;
use std::fmt;

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "difference")]
pub enum Drift {
    /// A table is not there.
    MissingTable {
        /// The table.
        table: String,
    },
    /// A column is not there.
    MissingColumn {
        /// Its table.
        table: String,
        /// The column.
        column: String,
        /// Its type.
        expected: String,
    },
    /// A column that the schema does not know.
    ExtraColumn {
        /// Its table.
        table: String,
        /// The column.
        column: String,
        /// Its type.
        found: String,
    },
    /// A column of another type, that may be NULL or may not, or that compares otherwise.
    OtherColumn {
        /// Its table.
        table: String,
        /// The column.
        column: String,
        /// What the schema says.
        expected: String,
        /// What the database has.
        found: String,
    },
    /// A table has another primary key.
    OtherPrimaryKey {
        /// The table.
        table: String,
        /// Its columns in the schema.
        expected: Vec<String>,
        /// Its columns in the database.
        found: Vec<String>,
    },
    /// A key is not there.
    MissingKey {
        /// Its table.
        table: String,
        /// The key.
        key: String,
        /// Its columns.
        expected: Vec<String>,
    },
    /// A key that the schema does not know.
    ExtraKey {
        /// Its table.
        table: String,
        /// The key.
        key: String,
        /// Its columns.
        found: Vec<String>,
    },
    /// A key over other columns, or one that refuses equal values.
    OtherKey {
        /// Its table.
        table: String,
        /// The key.
        key: String,
        /// Its columns in the schema.
        expected: Vec<String>,
        /// Its columns in the database.
        found: Vec<String>,
        /// Whether the key in the database refuses equal values.
        unique: bool,
    },
}

/// How columns of text compare: by byte.
const COLLATION: &str = "utf8mb4_bin";

/// Every difference between the tables of `schema` and those of a database; other tables are nobody's business here.
pub fn drift(schema: &Schema, catalog: &Catalog, dialect: Dialect) -> Vec<Drift> {
    let mut drift = Vec::new();
    for table in &schema.tables {
        match catalog.tables.get(table.name.as_str()) {
            Some(live) => within(table, live, dialect, &mut drift),
            None => drift.push(Drift::MissingTable { table: table.name.to_string() }),
        }
    }
    drift
}

fn within(table: &TableDef, live: &FoundTable, dialect: Dialect, drift: &mut Vec<Drift>) {
    let name = || table.name.to_string();
    for column in &table.columns {
        match live.column(column.name.as_str()) {
            None => drift.push(Drift::MissingColumn {
                table: name(),
                column: column.name.to_string(),
                expected: dialect.spelled(column.ty),
            }),
            Some(found) if !is(dialect, column, found) => drift.push(Drift::OtherColumn {
                table: name(),
                column: column.name.to_string(),
                expected: described(&dialect.spelled(column.ty), column.nullable, None),
                found: described(
                    &found.ty,
                    found.nullable,
                    found.collation.as_deref().filter(|found| *found != COLLATION),
                ),
            }),
            Some(_) => {}
        }
    }
    for found in &live.columns {
        if !table.columns.iter().any(|column| column.name.as_str().eq_ignore_ascii_case(&found.name)) {
            drift.push(Drift::ExtraColumn { table: name(), column: found.name.clone(), found: found.ty.clone() });
        }
    }
    if !same(&table.primary_key, &live.primary_key) {
        drift.push(Drift::OtherPrimaryKey {
            table: name(),
            expected: names(&table.primary_key),
            found: live.primary_key.clone(),
        });
    }
    for key in &table.keys {
        let expected = names(&key.columns);
        match live.keys.get(dialect.key_name(table.name, key.name).as_str()) {
            None => drift.push(Drift::MissingKey { table: name(), key: key.name.to_string(), expected }),
            Some(found) if found.unique || !same(&key.columns, &found.columns) => drift.push(Drift::OtherKey {
                table: name(),
                key: key.name.to_string(),
                expected,
                found: found.columns.clone(),
                unique: found.unique,
            }),
            Some(_) => {}
        }
    }
    let known = |found: &str| table.keys.iter().any(|key| dialect.key_name(table.name, key.name).as_str() == found);
    for (key, found) in live.keys.iter().filter(|(key, _)| !known(key)) {
        drift.push(Drift::ExtraKey { table: name(), key: key.clone(), found: found.columns.clone() });
    }
}

/// Whether a column of a catalog is the one of the schema.
pub(super) fn is(dialect: Dialect, column: &ColumnDef, found: &FoundColumn) -> bool {
    dialect.is_type(column.ty, &found.ty)
        && column.nullable == found.nullable
        // A JSON column has a collation of the server's choice.
        && (column.ty == ingester_core::schema::SqlType::Json || found.collation.as_deref().is_none_or(|found| found == COLLATION))
}

/// Whether a key of a catalog is over the columns of the schema's.
pub(super) fn is_key(dialect: Dialect, table: Ident, key: &KeyDef, live: &FoundTable) -> bool {
    live.keys
        .get(dialect.key_name(table, key.name).as_str())
        .is_some_and(|found| !found.unique && same(&key.columns, &found.columns))
}

pub(super) fn same(expected: &[Ident], found: &[String]) -> bool {
    expected.len() == found.len()
        && expected.iter().zip(found).all(|(expected, found)| expected.as_str().eq_ignore_ascii_case(found))
}

fn names(columns: &[Ident]) -> Vec<String> {
    columns.iter().map(ToString::to_string).collect()
}

fn described(ty: &str, nullable: bool, collation: Option<&str>) -> String {
    let null = if nullable { "NULL" } else { "NOT NULL" };
    match collation {
        Some(collation) => format!("{ty} {null} COLLATE {collation}"),
        None => format!("{ty} {null}"),
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Drift::MissingTable { table } => write!(f, "table `{table}` is missing"),
            Drift::MissingColumn { table, column, expected } => {
                write!(f, "column `{table}`.`{column}` is missing; the schema has it as {expected}")
            }
            Drift::ExtraColumn { table, column, found } => {
                write!(f, "column `{table}`.`{column}` ({found}) is not in the schema")
            }
            Drift::OtherColumn { table, column, expected, found } => {
                write!(f, "column `{table}`.`{column}` is {found}; the schema has {expected}")
            }
            Drift::OtherPrimaryKey { table, expected, found } => write!(
                f,
                "the primary key of `{table}` is ({}); the schema has ({})",
                found.join(", "),
                expected.join(", ")
            ),
            Drift::MissingKey { table, key, expected } => {
                write!(f, "key `{key}` of `{table}` is missing; the schema has it over ({})", expected.join(", "))
            }
            Drift::ExtraKey { table, key, found } => {
                write!(f, "key `{key}` of `{table}` over ({}) is not in the schema", found.join(", "))
            }
            Drift::OtherKey { table, key, expected, found, unique } => {
                let unique = if *unique { "UNIQUE, " } else { "" };
                write!(
                    f,
                    "key `{key}` of `{table}` is {unique}over ({}); the schema has ({})",
                    found.join(", "),
                    expected.join(", ")
                )
            }
        }
    }
}
