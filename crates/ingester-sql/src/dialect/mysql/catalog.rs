//! The server's catalog: the queries, and its names of types.

use ingester_core::schema::SqlType;

pub(super) const SERVER: &str = "SELECT CONCAT(VERSION(), ' ', @@version_comment), @@max_allowed_packet";

// Unlike @@name, this is no error on a server that does not know a variable. The session's variables come before the server's.
pub(super) const VARIABLES: &str = "SHOW VARIABLES WHERE Variable_name IN ('character_set_connection', 'character_set_database', 'sql_mode', \
     'transaction_isolation', 'tx_isolation', 'max_allowed_packet', 'sort_buffer_size', 'read_only', 'innodb_read_only', 'wsrep_on', \
     'wsrep_cluster_name', 'group_replication_group_name', 'max_connections')";

pub(super) const GRANTS: &str = "SHOW GRANTS";

// The server's statistics of tables, which may be a day old.
pub(super) const SIZE: &str = "SELECT CAST(COALESCE(SUM(data_length + index_length), 0) AS UNSIGNED) FROM information_schema.tables WHERE table_schema = DATABASE()";

pub(super) const CLOCK: &str = "SELECT CAST(UTC_TIMESTAMP(6) AS CHAR)";

pub(super) const TABLES: &str = "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()";

// MariaDB opens the tables of one database only where a part of `information_schema` is compared with a constant. Behind a LEFT JOIN
// that takes a derived table, and DISTINCT keeps that from being merged; otherwise it opens every table of the server.
pub(super) const COLUMNS: &str = "\
SELECT c.table_name, c.column_name, c.column_type, CAST(c.is_nullable = 'YES' AS CHAR), c.collation_name, CAST(s.seq_in_index AS CHAR)
FROM information_schema.tables AS t
JOIN information_schema.columns AS c ON c.table_schema = DATABASE() AND c.table_name = t.table_name
LEFT JOIN (
  SELECT DISTINCT table_name, column_name, seq_in_index FROM information_schema.statistics
  WHERE table_schema = DATABASE() AND index_name = 'PRIMARY'
) AS s ON s.table_name = c.table_name AND s.column_name = c.column_name
WHERE t.table_schema = DATABASE() AND t.table_type = 'BASE TABLE'
ORDER BY c.table_name, c.ordinal_position";

pub(super) const KEYS: &str = "\
SELECT table_name, index_name, CONCAT(COALESCE(column_name, 'an expression'), COALESCE(CONCAT('(', sub_part, ')'), '')), CAST(non_unique = 0 AS CHAR)
FROM information_schema.statistics
WHERE table_schema = DATABASE() AND index_name <> 'PRIMARY'
ORDER BY table_name, index_name, seq_in_index";

// A view whose tables have changed may have no columns here.
pub(super) const VIEWS: &str = "\
SELECT v.table_name, c.column_name, CASE WHEN COALESCE(c.ordinal_position, 1) = 1 THEN REPLACE(v.view_definition, CONCAT(CHAR(96), DATABASE(), CHAR(96), '.'), '') END, VERSION()
FROM information_schema.views AS v
LEFT JOIN (
  SELECT DISTINCT table_name, column_name, ordinal_position FROM information_schema.columns WHERE table_schema = DATABASE()
) AS c ON c.table_name = v.table_name
WHERE v.table_schema = DATABASE()
ORDER BY v.table_name, c.ordinal_position";

/// Returns true if a catalog's `spelled` type is this one. Display widths, compression and MariaDB's `longtext` for JSON make no difference.
pub(super) fn is_type(ty: SqlType, spelled: &str) -> bool {
    let spelled = spelled.to_ascii_lowercase();
    let spelled = without_comment(&spelled);
    let plain = without_width(spelled);
    match ty {
        SqlType::Boolean => plain == "tinyint",
        SqlType::Int | SqlType::BigInt | SqlType::IntUnsigned | SqlType::BigIntUnsigned => {
            plain == ty.name().to_ascii_lowercase()
        }
        // MariaDB Server documentation, "JSON Data Type": an alias for LONGTEXT.
        SqlType::Json => spelled == "json" || spelled == "longtext",
        SqlType::Double
        | SqlType::VarChar(_)
        | SqlType::Text
        | SqlType::MediumText
        | SqlType::DateTime
        | SqlType::LongBlob => spelled == ty.name().to_ascii_lowercase(),
    }
}

/// The type of a catalog's name for it, if our tables have such a type.
pub(super) fn type_of(spelled: &str) -> Option<SqlType> {
    match without_width(without_comment(&spelled.to_ascii_lowercase())).as_str() {
        "tinyint" => Some(SqlType::Boolean),
        "longtext" => Some(SqlType::Json),
        plain => SqlType::try_parse(plain).or_else(|| SqlType::try_parse(spelled)),
    }
}

/// Returns true for the type of a JSON column of MariaDB that is not compressed. MySQL calls the type by its name.
pub(super) fn is_uncompressed(spelled: &str) -> bool {
    spelled.eq_ignore_ascii_case("longtext")
}

/// `longtext` for `longtext /*m!100301 compressed*/`.
fn without_comment(spelled: &str) -> &str {
    spelled.split_once(" /*").map_or(spelled, |(ty, _)| ty)
}

/// `bigint unsigned` for `bigint(20) unsigned`: the width of an integer only matters for display.
fn without_width(spelled: &str) -> String {
    match (spelled.split_once('('), spelled.split_once(')')) {
        (Some((name, _)), Some((_, rest))) if name.ends_with("int") => format!("{name}{rest}"),
        _ => spelled.to_owned(),
    }
}
