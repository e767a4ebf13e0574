//! The names that a database's catalog has for types and keys.

use super::Dialect;
use ingester_core::schema::{Ident, SqlType};

impl Dialect {
    /// The name of a table's key in the catalog.
    pub fn key_name(self, table: Ident, key: Ident) -> Ident {
        self.rules().key_name(table, key)
    }

    /// The dialect's name of a type.
    pub fn spelled(self, ty: SqlType) -> String {
        self.rules().type_name(ty).into_owned()
    }

    /// Whether a type in a catalog is this one. Other spellings of the same type, such as display widths or MariaDB's `longtext` for
    /// JSON, make no difference.
    pub fn is_type(self, ty: SqlType, spelled: &str) -> bool {
        self.rules().is_type(ty, spelled)
    }

    /// The type of a catalog's name for it, if our tables have such a type. On SQLite it is one of several types with the same
    /// storage class.
    pub fn type_of(self, spelled: &str) -> Option<SqlType> {
        self.rules().type_of(spelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
