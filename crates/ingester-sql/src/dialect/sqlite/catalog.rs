//! The database's catalog: the queries, and its names of types.

use ingester_core::schema::SqlType;

pub(super) const SERVER: &str = "SELECT 'SQLite ' || sqlite_version(), 1000000000";

// SQLite's clock is this process' clock, with milliseconds.
pub(super) const VARIABLES: &str = "SELECT 'encoding', encoding FROM pragma_encoding UNION ALL SELECT 'journal_mode', journal_mode FROM pragma_journal_mode";

// A process that may write the file may do everything.
pub(super) const GRANTS: &str = "SELECT '' WHERE FALSE";

pub(super) const SIZE: &str = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";

pub(super) const CLOCK: &str = "SELECT STRFTIME('%Y-%m-%d %H:%M:%f', 'now') || '000'";

pub(super) const TABLES: &str = "SELECT name FROM sqlite_master WHERE type = 'table'";

pub(super) const COLUMNS: &str = r#"SELECT t.name, c.name, c.type, CAST(c."notnull" = 0 AS TEXT), NULL, CASE WHEN c.pk > 0 THEN CAST(c.pk AS TEXT) END
FROM sqlite_master AS t
JOIN pragma_table_info(t.name) AS c
WHERE t.type = 'table'
ORDER BY t.name, c.cid"#;

pub(super) const KEYS: &str = r#"SELECT t.name, i.name, COALESCE(c.name, 'an expression'), CAST(i."unique" AS TEXT)
FROM sqlite_master AS t
JOIN pragma_index_list(t.name) AS i
JOIN pragma_index_info(i.name) AS c
WHERE t.type = 'table' AND i.origin = 'c'
ORDER BY t.name, i.name, c.seqno"#;

// The text is as it was given, so it tells everything. The columns of a view whose table is missing would be an error.
pub(super) const VIEWS: &str = "SELECT name, NULL, sql, NULL FROM sqlite_master WHERE type = 'view' ORDER BY name";

/// A type with this storage class; there are several.
pub(super) fn type_of(spelled: &str) -> Option<SqlType> {
    match spelled {
        "INTEGER" => Some(SqlType::BigInt),
        "REAL" => Some(SqlType::Double),
        "TEXT" => Some(SqlType::MediumText),
        "BLOB" => Some(SqlType::LongBlob),
        _ => None,
    }
}
