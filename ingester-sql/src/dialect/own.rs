//! The ingester's own tables.

use super::Dialect;
use crate::ddl::{ColumnDef, KeyDef, Schema, TableDef};
use ingester_core::schema::{Ident, SqlType, Stays};

/// Objects that could not be mirrored.
pub const REJECTS: &str = "ingester_rejects";

/// The progress of each column that is backfilled.
pub const BACKFILLS: &str = "ingester_backfills";

/// What a database is for, by name.
pub const SETTINGS: &str = "ingester_settings";

/// The ingester's own tables.
pub fn own_schema(dialect: Dialect) -> Schema {
    use SqlType::{BigInt, DateTime, Text, VarChar};
    let ident = |name: &str| Ident::new(name);
    let table = |name: &str, columns: &[(&str, SqlType)], primary_key: usize| TableDef {
        name: ident(name),
        was: Vec::new(),
        columns: columns
            .iter()
            .map(|(name, ty)| ColumnDef {
                name: ident(name),
                was: None,
                ty: *ty,
                nullable: *name == "complete_time",
                stays: Stays::None,
            })
            .collect(),
        primary_key: columns[..primary_key].iter().map(|(name, _)| ident(name)).collect(),
        keys: Vec::new(),
    };
    let mut rejects = table(
        REJECTS,
        &[
            ("uid", VarChar(64)),
            ("group_ver", VarChar(128)),
            ("kind", VarChar(128)),
            ("namespace", VarChar(256)),
            ("name", VarChar(256)),
            ("res_version", VarChar(128)),
            ("reason", Text),
            ("reject_time", DateTime),
        ],
        1,
    );
    if !dialect.is_embedded() {
        rejects.keys.push(KeyDef { name: ident("kind"), columns: vec![ident("kind"), ident("reject_time")] });
    }
    let backfills = table(
        BACKFILLS,
        &[
            ("table_name", VarChar(64)),
            ("column_name", VarChar(64)),
            ("migration", BigInt),
            ("position", VarChar(64)),
            ("rows_read", BigInt),
            ("rows_filled", BigInt),
            ("rows_failed", BigInt),
            ("begin_time", DateTime),
            ("complete_time", DateTime),
        ],
        2,
    );
    let settings = table(SETTINGS, &[("name", VarChar(64)), ("value", VarChar(256))], 1);
    Schema { tables: vec![rejects, backfills, settings], views: Vec::new() }
}
