//! The names that a database's catalog has for types and keys.

use super::Dialect;
use crate::ddl::{Schema, Servers};
use ingester_core::schema::{Ident, SqlType};

/// The name of a table's key where keys of all tables have one namespace: `<table>__<key>`; if that is longer than `most`, both names are
/// cut at their ends.
pub(super) fn index_name(table: Ident, key: Ident, most: usize) -> Ident {
    let room = most - 2;
    let table = table.as_str();
    let key = key.as_str();
    // A table's name has at most 63 - 12 bytes, because the names of its companions are longer. So a cut name still identifies the table.
    let key = &key[..key.len().min(room - table.len().min(room / 2))];
    let table = &table[..table.len().min(room - key.len())];
    Ident::join(&format!("{table}_"), key)
}

impl Dialect {
    /// The name of a table's key in the catalog.
    pub fn key_name(self, table: Ident, key: Ident) -> Ident {
        self.rules().key_name(table, key)
    }

    /// The columns that a key over `columns` has in the catalog, where `primary` is the table's primary key.
    pub fn key_columns(self, columns: &[Ident], primary: &[Ident]) -> Vec<Ident> {
        self.rules().key_columns(columns, primary)
    }

    /// The dialect's name of a type.
    pub fn spelled(self, ty: SqlType) -> String {
        self.rules().type_name(ty).into_owned()
    }

    /// Returns true if a catalog's `spelled` type is this one. Other spellings of the same type, such as display widths or MariaDB's
    /// `longtext` for JSON, are accepted.
    pub fn is_type(self, ty: SqlType, spelled: &str) -> bool {
        self.rules().is_type(ty, spelled)
    }

    /// The type of a catalog's name for it, if our tables have such a type. On SQLite it is one of several types with the same
    /// storage class.
    pub fn type_of(self, spelled: &str) -> Option<SqlType> {
        self.rules().type_of(spelled)
    }

    /// True if the catalog has a separate name for each type, and so shows which type a column has.
    pub fn tells_types(self) -> bool {
        self.type_of(&self.spelled(SqlType::Text)) == Some(SqlType::Text)
    }

    /// Gives the columns of a database's schema the types that they have in the schema that made them, where the catalog has one name for
    /// both.
    pub fn learn_types(self, live: &mut Schema, made: &Schema) {
        for table in &mut live.tables {
            let Some(made) = made.tables.iter().find(|made| made.name == table.name) else { continue };
            for column in &mut table.columns {
                let made = made.columns.iter().find(|made| made.name == column.name);
                let alike = made.filter(|made| self.is_type(made.ty, &self.spelled(column.ty)));
                column.ty = alike.map_or(column.ty, |made| made.ty);
            }
        }
    }

    /// The servers of this dialect.
    pub fn servers(self) -> Servers {
        self.facts().servers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ddl::{ColumnDef, TableDef};
    use ingester_core::schema::Stays;

    #[test]
    fn a_servers_own_spelling_of_a_type_is_the_same_type() {
        for (ty, spellings) in [
            (SqlType::Boolean, &["tinyint(1)", "tinyint"][..]),
            (SqlType::Int, &["int", "int(11)"]),
            (SqlType::BigInt, &["bigint", "bigint(20)"]),
            (SqlType::BigIntUnsigned, &["bigint unsigned", "bigint(20) unsigned"]),
            (SqlType::IntUnsigned, &["int unsigned", "int(10) unsigned"]),
            (SqlType::Double, &["double"]),
            (SqlType::VarChar(255), &["varchar(255)"]),
            (SqlType::Text, &["text"]),
            (SqlType::MediumText, &["mediumtext"]),
            (SqlType::DateTime, &["datetime(6)"]),
            (SqlType::LongBlob, &["longblob"]),
            (SqlType::Json, &["json", "longtext"]),
        ] {
            for spelled in spellings {
                assert!(Dialect::MySql.is_type(ty, spelled), "{ty} {spelled}");
                assert_eq!(Dialect::MySql.type_of(spelled), Some(ty), "{spelled}");
            }
        }
    }

    #[test]
    fn what_a_catalog_does_not_tell_is_taken_from_the_schema_that_made_it() {
        let schema = |columns: &[(&str, SqlType)]| {
            let column = |(name, ty): &(&str, SqlType)| ColumnDef {
                name: Ident::new(name),
                was: None,
                ty: *ty,
                nullable: true,
                stays: Stays::None,
            };
            let columns = columns.iter().map(column).collect();
            let table = TableDef { name: Ident::new("job"), was: vec![], columns, primary_key: vec![], keys: vec![] };
            Schema { tables: vec![table], views: vec![] }
        };
        let made = schema(&[("a", SqlType::VarChar(40)), ("b", SqlType::DateTime), ("c", SqlType::Int)]);
        let found = [
            ("a", SqlType::MediumText),
            ("b", SqlType::MediumText),
            ("c", SqlType::MediumText),
            ("d", SqlType::MediumText),
        ];
        let mut live = schema(&found);
        Dialect::Sqlite.learn_types(&mut live, &made);
        let types = [("a", SqlType::VarChar(40)), ("b", SqlType::DateTime), found[2], found[3]];
        assert_eq!(live, schema(&types));
        assert!(Dialect::MySql.tells_types() && !Dialect::Sqlite.tells_types());
        // Other catalogs distinguish all types.
        let mut live = schema(&found);
        Dialect::MySql.learn_types(&mut live, &made);
        assert_eq!(live, schema(&found));
    }

    #[test]
    fn different_types_are_told_apart() {
        for (ty, spelled) in [
            (SqlType::Int, "bigint"),
            (SqlType::BigInt, "bigint unsigned"),
            (SqlType::VarChar(255), "varchar(25)"),
            (SqlType::DateTime, "datetime"),
            (SqlType::DateTime, "timestamp(6)"),
            (SqlType::Text, "mediumtext"),
        ] {
            assert!(!Dialect::MySql.is_type(ty, spelled), "{ty} {spelled}");
        }
        assert_eq!(Dialect::MySql.type_of("enum('a')"), None);
        assert!(Dialect::Sqlite.is_type(SqlType::DateTime, "TEXT"));
        assert!(!Dialect::Sqlite.is_type(SqlType::DateTime, "INTEGER"));
    }
}
