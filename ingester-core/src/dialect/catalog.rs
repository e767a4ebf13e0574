//! What a database says of its own tables: how it is asked, and how it spells types.

use super::{Dialect, Sql, mysql, sqlite};
use crate::schema::{Ident, SqlType};

impl Dialect {
    /// Asks for all columns of all tables, in order. Columns: table, column, type, 1 where it may be NULL, its collation
    /// where it has one, its place in the primary key where it is in it.
    pub(crate) fn catalog_columns(self) -> Sql {
        match self {
            Dialect::MySql => mysql::catalog_columns(),
            Dialect::Sqlite => sqlite::catalog_columns(),
        }
    }

    /// Asks for all secondary keys of all tables. Columns: table, key, column, in the order of the key; 1 where it is unique.
    pub(crate) fn catalog_keys(self) -> Sql {
        match self {
            Dialect::MySql => mysql::catalog_keys(),
            Dialect::Sqlite => sqlite::catalog_keys(),
        }
    }

    /// The name of a table's key in the catalog.
    pub fn key_name(self, table: Ident, key: Ident) -> Ident {
        match self {
            Dialect::MySql => key,
            Dialect::Sqlite => sqlite::index_name(table, key),
        }
    }

    /// A type as this dialect spells it.
    pub fn spelled(self, ty: SqlType) -> String {
        match self {
            Dialect::MySql => ty.name().into_owned(),
            Dialect::Sqlite => ty.sqlite_name().to_owned(),
        }
    }

    /// Whether a type in a catalog is this one. Display widths, MariaDB's `longtext` for JSON and the like are spelling.
    pub fn is_type(self, ty: SqlType, spelled: &str) -> bool {
        let spelled = spelled.to_ascii_lowercase();
        match self {
            Dialect::Sqlite => spelled.eq_ignore_ascii_case(ty.sqlite_name()),
            Dialect::MySql => {
                let plain = without_width(&spelled);
                match ty {
                    SqlType::Boolean => plain == "tinyint",
                    SqlType::Int | SqlType::BigInt | SqlType::BigIntUnsigned => plain == ty.name().to_ascii_lowercase(),
                    // MariaDB Server documentation, "JSON Data Type": an alias for LONGTEXT.
                    SqlType::Json => spelled == "json" || spelled == "longtext",
                    other => spelled == other.name().to_ascii_lowercase(),
                }
            }
        }
    }

    /// The type that a catalog spells, where it is one that tables of ours have. SQLite's storage classes hold several.
    pub fn type_of(self, spelled: &str) -> Option<SqlType> {
        match self {
            Dialect::Sqlite => match spelled {
                "INTEGER" => Some(SqlType::BigInt),
                "REAL" => Some(SqlType::Double),
                "TEXT" => Some(SqlType::MediumText),
                "BLOB" => Some(SqlType::LongBlob),
                _ => None,
            },
            Dialect::MySql => match without_width(&spelled.to_ascii_lowercase()).as_str() {
                "tinyint" => Some(SqlType::Boolean),
                "longtext" => Some(SqlType::Json),
                plain => SqlType::try_parse(plain).or_else(|| SqlType::try_parse(spelled)),
            },
        }
    }
}

/// `bigint(20) unsigned` as `bigint unsigned`: the width of integers is how they are displayed, nothing else.
fn without_width(spelled: &str) -> String {
    match (spelled.split_once('('), spelled.split_once(')')) {
        (Some((name, _)), Some((_, rest))) if name.ends_with("int") => format!("{name}{rest}"),
        _ => spelled.to_owned(),
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
