//! The ingester's own tables.

use super::Dialect;
use crate::ddl::{ColumnDef, KeyDef, Schema, TableDef};
use ingester_core::schema::{Ident, SqlType, Stays};

/// Objects that could not be mirrored.
pub const REJECTS: &str = "ingester_rejects";

/// The progress of each column that is backfilled.
pub const BACKFILLS: &str = "ingester_backfills";

/// The database's settings by name, such as the cluster that it belongs to.
pub const SETTINGS: &str = "ingester_settings";

/// The log of changes: an entry for each change of an object's row.
pub const CHANGES: &str = "ingester_changes";

/// How far the log of each table is numbered and purged.
pub const POSITIONS: &str = "ingester_positions";

/// Rows of only copies that a rule has marked, and rules that a user has reverted for a row.
pub const MARKS: &str = "ingester_marks";

/// Restores that have begun: the object was, or may have been, created in the cluster, and its row is not replaced yet.
pub const RESTORES: &str = "ingester_restores";

/// Evictions whose rows the database has lost.
pub const LOST_EVICTIONS: &str = "ingester_lost_evictions";

/// The ingester's own tables.
pub fn own_schema(dialect: Dialect) -> Schema {
    use SqlType::{BigInt, BigIntUnsigned, DateTime, Text, VarChar};
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
    let mut changes = table(
        CHANGES,
        &[
            ("id", BigInt),
            ("table_name", VarChar(64)),
            ("uid", VarChar(64)),
            ("namespace", VarChar(256)),
            ("name", VarChar(256)),
            ("res_version", BigIntUnsigned),
            ("change", VarChar(16)),
            ("at", DateTime),
            ("seq", BigInt),
        ],
        1,
    );
    // NULL until the entry is numbered.
    changes.columns.iter_mut().filter(|column| column.name.as_str() == "seq").for_each(|seq| seq.nullable = true);
    let key = |name: &str| KeyDef { name: ident(name), columns: vec![ident("table_name"), ident(name)] };
    changes.keys = vec![key("seq"), key("res_version")];
    let positions = table(
        POSITIONS,
        &[("table_name", VarChar(64)), ("seq", BigInt), ("horizon", BigInt), ("horizon_version", BigIntUnsigned)],
        1,
    );
    let mut tables = vec![rejects, backfills, settings, changes, positions];
    tables.extend(tables_of_only_copies());
    Schema { tables, views: Vec::new() }
}

/// The tables about rows of evicted objects: what is about to happen to them, or has.
fn tables_of_only_copies() -> [TableDef; 3] {
    use SqlType::{BigIntUnsigned, DateTime, VarChar};
    let marks = table(
        MARKS,
        &[
            ("table_name", VarChar(64)),
            ("uid", VarChar(64)),
            ("rule", VarChar(128)),
            ("fingerprint", VarChar(64)),
            ("text_hash", VarChar(64)),
            ("mark_time", DateTime),
            ("revert_time", DateTime),
        ],
        3,
    );
    let restores = table(
        RESTORES,
        &[("table_name", VarChar(64)), ("uid", VarChar(64)), ("nonce", VarChar(64)), ("restore_time", DateTime)],
        2,
    );
    let lost = table(
        LOST_EVICTIONS,
        &[
            ("table_name", VarChar(64)),
            ("uid", VarChar(64)),
            ("namespace", VarChar(256)),
            ("name", VarChar(256)),
            ("res_version", BigIntUnsigned),
            ("lost_time", DateTime),
        ],
        2,
    );
    [marks, restores, lost]
}

fn ident(name: &str) -> Ident {
    Ident::new(name)
}

/// A table whose first columns are its primary key.
fn table(name: &str, columns: &[(&str, SqlType)], primary_key: usize) -> TableDef {
    let column = |(name, ty): &(&str, SqlType)| ColumnDef {
        name: ident(name),
        was: None,
        ty: *ty,
        nullable: matches!(*name, "complete_time" | "revert_time"),
        stays: Stays::None,
    };
    TableDef {
        name: ident(name),
        was: Vec::new(),
        columns: columns.iter().map(column).collect(),
        primary_key: columns[..primary_key].iter().map(|(name, _)| ident(name)).collect(),
        keys: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Dialect, own_schema};

    /// The own tables of release 0.2.0, each with its columns. The columns of its primary key come first.
    const BEFORE: [(&str, usize, &str); 5] = [
        ("ingester_rejects", 1, "uid group_ver kind namespace name res_version reason reject_time"),
        (
            "ingester_backfills",
            2,
            "table_name column_name migration position rows_read rows_filled rows_failed begin_time complete_time",
        ),
        ("ingester_settings", 1, "name value"),
        ("ingester_changes", 1, "id table_name uid namespace name res_version change at seq"),
        ("ingester_positions", 1, "table_name seq horizon horizon_version"),
    ];

    /// That release starts if each of its tables has these columns and this key, and it writes these columns; it does not look at other
    /// tables.
    #[test]
    fn release_0_2_0_finds_its_own_tables_as_it_made_them() {
        for dialect in Dialect::ALL {
            let schema = own_schema(dialect);
            for (name, keyed, columns) in BEFORE {
                let columns: Vec<&str> = columns.split(' ').collect();
                let table = schema.tables.iter().find(|table| table.name.as_str() == name).unwrap();
                let found: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
                let key: Vec<&str> = table.primary_key.iter().map(|column| column.as_str()).collect();
                assert_eq!((found, key), (columns.clone(), columns[..keyed].to_vec()), "{name}");
            }
            assert_eq!(schema.tables.len(), BEFORE.len() + 3, "marks, restores and lost evictions are new");
        }
    }
}
