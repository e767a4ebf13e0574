//! Drift: the differences between the expected schema and the tables that a database has. Pure.

use crate::ledger::catalog::{Catalog, FoundColumn, FoundKey, FoundTable};
use crate::ledger::view::Likeness;
use ingester_core::schema::{Ident, SqlType};
use ingester_sql::ddl::{ColumnDef, KeyDef, Schema, TableDef, ViewDef};
use ingester_sql::dialect::{Dialect, own_schema};
use serde::Serialize;
use std::fmt;

/// One difference between the schema and a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "difference")]
pub enum Drift {
    /// A table is missing.
    MissingTable {
        /// The table.
        table: String,
    },
    /// A column is missing.
    MissingColumn {
        /// The column's table.
        table: String,
        /// The column.
        column: String,
        /// Its type.
        expected: String,
    },
    /// A column is not in the schema.
    ExtraColumn {
        /// Its table.
        table: String,
        /// The column.
        column: String,
        /// Its type.
        found: String,
    },
    /// A column has another type, nullability or collation.
    OtherColumn {
        /// Its table.
        table: String,
        /// The column.
        column: String,
        /// The definition in the schema.
        expected: String,
        /// The definition in the database.
        found: String,
    },
    /// A table has another primary key.
    OtherPrimaryKey {
        /// The table.
        table: String,
        /// The key's columns in the schema.
        expected: Vec<String>,
        /// The key's columns in the database.
        found: Vec<String>,
    },
    /// A key is missing.
    MissingKey {
        /// Its table.
        table: String,
        /// The key.
        key: String,
        /// Its columns.
        expected: Vec<String>,
    },
    /// A key is not in the schema.
    ExtraKey {
        /// Its table.
        table: String,
        /// The key.
        key: String,
        /// Its columns.
        found: Vec<String>,
    },
    /// A key has other columns, or its values are unique.
    OtherKey {
        /// Its table.
        table: String,
        /// The key.
        key: String,
        /// Its columns in the schema.
        expected: Vec<String>,
        /// Its columns in the database.
        found: Vec<String>,
        /// True if the values of the key in the database are unique.
        unique: bool,
    },
    /// A view is missing.
    MissingView {
        /// The view.
        view: String,
        /// True if a table has its name.
        is_table: bool,
    },
    /// A view has other columns.
    OtherViewColumns {
        /// The view.
        view: String,
        /// Its columns in the schema.
        expected: Vec<String>,
        /// Its columns in the database; none if the tables under it lack something.
        found: Vec<String>,
    },
    /// A view was changed after it was made.
    ChangedView {
        /// The view.
        view: String,
    },
}

/// Returns every difference between the tables and views of `schema` and the ones of a database. Other tables and views of the database are
/// ignored.
pub fn drift(schema: &Schema, catalog: &Catalog, dialect: Dialect) -> Vec<Drift> {
    let mut drift = Vec::new();
    for table in &schema.tables {
        match catalog.tables.get(table.name.as_str()) {
            Some(found) => compare(table, found, dialect, &mut drift),
            None => drift.push(Drift::MissingTable { table: table.name.to_string() }),
        }
    }
    drift.extend(schema.views.iter().filter_map(|view| view_drift(view, catalog)));
    drift
}

/// Returns the difference of a database's view, as far as it can be known.
fn view_drift(view: &ViewDef, catalog: &Catalog) -> Option<Drift> {
    let name = view.name.to_string();
    let Some(found) = catalog.views.get(&name) else {
        let is_table = catalog.tables.contains_key(&name);
        return Some(Drift::MissingView { view: name, is_table });
    };
    match found.likeness(view) {
        Likeness::Same => None,
        Likeness::OtherColumns => Some(Drift::OtherViewColumns {
            view: name,
            expected: view.columns.iter().map(|column| column.name.to_string()).collect(),
            found: found.columns.clone(),
        }),
        // Another program has run a migration, and the record is older than the view.
        Likeness::OtherDefinition => None,
        Likeness::Changed => Some(Drift::ChangedView { view: name }),
    }
}

/// Like [`drift`], for the ingester's own tables that the database has.
pub fn own_drift(catalog: &Catalog, dialect: Dialect) -> Vec<Drift> {
    let mut own = own_schema(dialect);
    own.tables.retain(|table| catalog.tables.contains_key(table.name.as_str()));
    drift(&own, catalog, dialect)
}

fn compare(table: &TableDef, found_table: &FoundTable, dialect: Dialect, drift: &mut Vec<Drift>) {
    let name = || table.name.to_string();
    for column in &table.columns {
        match found_table.column(column.name.as_str()) {
            None => drift.push(Drift::MissingColumn {
                table: name(),
                column: column.name.to_string(),
                expected: dialect.spelled(column.ty),
            }),
            Some(found) if !is_column(dialect, column, found) => drift.push(Drift::OtherColumn {
                table: name(),
                column: column.name.to_string(),
                expected: described(&dialect.spelled(column.ty), column.nullable, None),
                found: described(
                    &found.ty,
                    found.nullable,
                    found.collation.as_deref().filter(|found| *found != dialect.collation()),
                ),
            }),
            Some(_) => {}
        }
    }
    for found in &found_table.columns {
        if !table.columns.iter().any(|column| column.name.as_str().eq_ignore_ascii_case(&found.name)) {
            drift.push(Drift::ExtraColumn { table: name(), column: found.name.clone(), found: found.ty.clone() });
        }
    }
    if !same_names(&table.primary_key, &found_table.primary_key) {
        drift.push(Drift::OtherPrimaryKey {
            table: name(),
            expected: names(&table.primary_key),
            found: found_table.primary_key.clone(),
        });
    }
    for key in &table.keys {
        let expected = names(&key.columns);
        match found_table.keys.get(dialect.key_name(table.name, key.name).as_str()) {
            None => drift.push(Drift::MissingKey { table: name(), key: key.name.to_string(), expected }),
            Some(found) if !is_key(dialect, key, &table.primary_key, found) => drift.push(Drift::OtherKey {
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
    for (key, found) in found_table.keys.iter().filter(|(key, _)| !known(key)) {
        drift.push(Drift::ExtraKey { table: name(), key: key.clone(), found: found.columns.clone() });
    }
}

/// Returns true if a found column is defined as in the schema.
pub(super) fn is_column(dialect: Dialect, column: &ColumnDef, found: &FoundColumn) -> bool {
    // The server chooses the collation of a JSON column.
    let collation =
        column.ty == SqlType::Json || found.collation.as_deref().is_none_or(|found| found == dialect.collation());
    collation && dialect.is_type(column.ty, &found.ty) && column.nullable == found.nullable
}

/// Returns true if a found table has this key of the schema.
pub(super) fn has_key(dialect: Dialect, table: Ident, key: &KeyDef, found: &FoundTable) -> bool {
    let primary: Vec<Ident> = found.primary_key.iter().filter_map(|name| Ident::parse(name).ok()).collect();
    let named = found.keys.get(dialect.key_name(table, key.name).as_str());
    named.is_some_and(|found| is_key(dialect, key, &primary, found))
}

/// Returns true if a found key is this one, in a table with this primary key.
pub(super) fn is_key(dialect: Dialect, key: &KeyDef, primary: &[Ident], found: &FoundKey) -> bool {
    !found.unique && same_names(&dialect.key_columns(&key.columns, primary), &found.columns)
}

pub(super) fn same_names(expected: &[Ident], found: &[String]) -> bool {
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
            Drift::MissingView { view, is_table: false } => write!(f, "view `{view}` is missing"),
            Drift::MissingView { view, is_table: true } => {
                write!(f, "view `{view}` is missing; there is a table of its name")
            }
            Drift::OtherViewColumns { view, found, .. } if found.is_empty() => {
                write!(f, "view `{view}` cannot be read: a table under it lacks what it selects")
            }
            Drift::OtherViewColumns { view, expected, found } => {
                write!(
                    f,
                    "view `{view}` has the columns ({}); the schema has ({})",
                    found.join(", "),
                    expected.join(", ")
                )
            }
            Drift::ChangedView { view } => {
                write!(
                    f,
                    "view `{view}` was changed by hand; `ingester schema print` has the statement that creates it"
                )
            }
        }
    }
}
