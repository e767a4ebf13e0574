//! The server's catalog: the queries, and its names of types.

use ingester_core::schema::{Ident, SqlType};
use std::borrow::Cow;

// The second column is the most bytes of one statement. The protocol allows 1 GiB; a batch is to stay far below.
pub(super) const SERVER: &str = "SELECT VERSION(), CAST(67108864 AS BIGINT)";

// `reset_val` is what a session has before it sets anything itself.
pub(super) const VARIABLES: &str = "SELECT name, CASE WHEN name = 'default_transaction_read_only' THEN reset_val ELSE setting END FROM pg_settings \
     WHERE name IN ('server_encoding', 'client_encoding', 'default_transaction_isolation', 'default_transaction_read_only', 'in_hot_standby', \
     'work_mem', 'max_connections')";

// The missing rights, as `RIGHT table`, and `CREATE` for the schema. Only its owner can alter a table.
pub(super) const GRANTS: &str = "\
SELECT CONCAT(rights.name, ' ', tables.tablename)
FROM pg_tables AS tables
CROSS JOIN (VALUES ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE'), ('OWNER')) AS rights (name)
WHERE tables.schemaname = CURRENT_SCHEMA()
  AND NOT CASE WHEN rights.name = 'OWNER' THEN pg_has_role(tables.tableowner, 'USAGE')
    ELSE has_table_privilege(QUOTE_IDENT(tables.schemaname) || '.' || QUOTE_IDENT(tables.tablename), rights.name) END
UNION ALL
SELECT 'CREATE' WHERE NOT COALESCE(has_schema_privilege(CURRENT_SCHEMA(), 'CREATE'), FALSE)
ORDER BY 1";

pub(super) const SIZE: &str = "SELECT pg_database_size(CURRENT_DATABASE())";

pub(super) const CLOCK: &str = "SELECT TO_CHAR(CLOCK_TIMESTAMP() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')";

pub(super) const TABLES: &str = "\
SELECT CAST(c.relname AS TEXT)
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = CURRENT_SCHEMA() AND c.relkind IN ('r', 'p')";

pub(super) const COLUMNS: &str = "\
SELECT CAST(c.relname AS TEXT), CAST(a.attname AS TEXT), FORMAT_TYPE(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN '0' ELSE '1' END, \
CAST(l.collname AS TEXT), CAST(ARRAY_POSITION(CAST(p.conkey AS INT2[]), a.attnum) AS TEXT)
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
LEFT JOIN pg_constraint AS p ON p.conrelid = c.oid AND p.contype = 'p'
WHERE n.nspname = CURRENT_SCHEMA() AND c.relkind IN ('r', 'p')
ORDER BY c.relname, a.attnum";

// A key that could not be finished has another name here: so the key is missing, and there is one that is not declared.
pub(super) const KEYS: &str = "\
SELECT CAST(c.relname AS TEXT), CAST(i.relname AS TEXT) || CASE WHEN x.indisvalid THEN '' ELSE ' (invalid)' END, \
COALESCE(CAST(a.attname AS TEXT), 'an expression'), CASE WHEN x.indisunique THEN '1' ELSE '0' END
FROM pg_index AS x
JOIN pg_class AS i ON i.oid = x.indexrelid
JOIN pg_class AS c ON c.oid = x.indrelid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
CROSS JOIN LATERAL UNNEST(CAST(x.indkey AS INT2[])) WITH ORDINALITY AS k (attnum, place)
LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.attnum AND k.attnum > 0
WHERE n.nspname = CURRENT_SCHEMA() AND c.relkind IN ('r', 'p') AND NOT x.indisprimary
ORDER BY c.relname, i.relname, k.place";

/// The name that [`KEYS`] gives such a key.
pub(super) fn unfinished(index: Ident) -> String {
    format!("{index} (invalid)")
}

pub(super) const VIEWS: &str = "\
SELECT CAST(c.relname AS TEXT), CAST(a.attname AS TEXT), CASE WHEN a.attnum = 1 THEN PG_GET_VIEWDEF(c.oid) END, CURRENT_SETTING('server_version')
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE n.nspname = CURRENT_SCHEMA() AND c.relkind = 'v'
ORDER BY c.relname, a.attnum";

/// The type in a definition, without its collation.
pub(super) fn type_name(ty: SqlType) -> Cow<'static, str> {
    match ty {
        SqlType::Boolean => "BOOLEAN".into(),
        SqlType::Int | SqlType::BigInt | SqlType::IntUnsigned | SqlType::BigIntUnsigned => "BIGINT".into(),
        SqlType::Double => "DOUBLE PRECISION".into(),
        SqlType::VarChar(most) => format!("VARCHAR({most})").into(),
        SqlType::Text | SqlType::MediumText => "TEXT".into(),
        SqlType::DateTime => "TIMESTAMPTZ(6)".into(),
        SqlType::LongBlob => "BYTEA".into(),
        SqlType::Json => "JSON".into(),
    }
}

/// The type of an array of such values.
pub(super) fn array_of(ty: SqlType) -> &'static str {
    match ty {
        SqlType::Boolean => "BOOLEAN[]",
        SqlType::Int | SqlType::BigInt | SqlType::IntUnsigned | SqlType::BigIntUnsigned => "BIGINT[]",
        SqlType::Double => "DOUBLE PRECISION[]",
        SqlType::VarChar(_) | SqlType::Text | SqlType::MediumText => "TEXT[]",
        SqlType::DateTime => "TIMESTAMPTZ[]",
        SqlType::LongBlob => "BYTEA[]",
        SqlType::Json => "JSON[]",
    }
}

/// The type of a catalog's name for it, or of ours, if our tables have such a type; one of several that are stored alike.
pub(super) fn type_of(spelled: &str) -> Option<SqlType> {
    let spelled = spelled.to_ascii_lowercase();
    let varchar = ["character varying(", "varchar("].iter().find_map(|start| spelled.strip_prefix(start));
    if let Some(most) = varchar.and_then(|rest| rest.strip_suffix(')')) {
        return most.parse().ok().map(SqlType::VarChar);
    }
    match spelled.as_str() {
        "boolean" => Some(SqlType::Boolean),
        "bigint" => Some(SqlType::BigInt),
        "double precision" => Some(SqlType::Double),
        "text" => Some(SqlType::MediumText),
        "timestamp(6) with time zone" | "timestamp with time zone" | "timestamptz(6)" => Some(SqlType::DateTime),
        "bytea" => Some(SqlType::LongBlob),
        "json" => Some(SqlType::Json),
        _ => None,
    }
}

/// Returns true if a catalog's `spelled` type is this one.
pub(super) fn is_type(ty: SqlType, spelled: &str) -> bool {
    type_of(spelled).is_some_and(|found| type_name(found) == type_name(ty))
}
