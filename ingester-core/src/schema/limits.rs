//! The limits of tables that fit every supported database, each with its source, and of rules.
//!
//! InnoDB's limits are the lowest of MySQL, MariaDB, TiDB and SQLite, so the checks use them; names are PostgreSQL's.

use super::form::Form;

/// Bytes in the name of a table, column or key; ours are ASCII.
/// PostgreSQL documentation, "Identifiers and Key Words": it cuts names after 63 bytes. MySQL takes 64 characters.
pub const IDENTIFIER_BYTES: usize = 63;

/// Bytes of all columns of one key together.
/// MySQL Reference Manual, "InnoDB Limits": 3072 bytes with row format DYNAMIC.
pub(crate) const KEY_BYTES: u32 = 3072;

/// Columns in one key. MySQL Reference Manual, "Column Indexes": 16.
pub(crate) const KEY_COLUMNS: usize = 16;

/// Secondary keys on one table. MySQL Reference Manual, "InnoDB Limits": 64.
pub const KEYS: usize = 64;

/// Columns in one table. MySQL Reference Manual, "InnoDB Limits": 1017.
pub const COLUMNS: usize = 1017;

/// Bytes of one row without the contents of BLOB, TEXT and JSON columns.
/// MySQL Reference Manual, "Limits on Table Column Count and Row Size": 65,535, whatever the engine.
pub(crate) const ROW_BYTES: u32 = 65_535;

/// Tables that one view may read. MySQL Reference Manual, "Restrictions on Views": 61.
pub(crate) const VIEW_TABLES: usize = 61;

/// Bytes in the name of a view: `view:` and the name are the name of a setting.
pub(crate) const VIEW_NAME_BYTES: usize = SETTING_NAME_BYTES - 5;

/// Bytes in the name of a setting, as `ingester_settings` has it.
pub(crate) const SETTING_NAME_BYTES: usize = 64;

/// Bytes that one character may take in `utf8mb4`.
pub const CHARACTER_BYTES: u32 = 4;

/// Characters in a label's or annotation's key: a prefix of 253, a slash and a name of 63.
/// Kubernetes documentation, "Labels and Selectors: Syntax and character set".
pub(crate) const LABEL_KEY_CHARACTERS: u16 = 317;

/// Characters in a label's value. Kubernetes documentation, as above.
pub(crate) const LABEL_VALUE_CHARACTERS: u16 = 63;

/// Bytes in the name of a kind's table: the name of its companion for annotations must fit as well.
pub const TABLE_BYTES: usize = IDENTIFIER_BYTES - "_annotations".len();

/// The most bytes in the name of a table of many values: the names of keys contain it on SQLite, and must not be cut.
pub(crate) const MANY_TABLE_BYTES: usize = IDENTIFIER_BYTES - "__key_value".len();

/// Bytes in the key of a table of many values, in addition to a value: the uid, of 64 characters, or the key of a map.
pub(crate) const fn beside_many(form: Form) -> u32 {
    match form {
        Form::List => 64 * CHARACTER_BYTES,
        Form::Map => LABEL_KEY_CHARACTERS as u32 * CHARACTER_BYTES,
    }
}

/// The longest VARCHAR of many values.
pub(crate) const fn longest_of_many(form: Form) -> u32 {
    (KEY_BYTES - beside_many(form)) / CHARACTER_BYTES
}

/// Columns that PostgreSQL gives every table by itself. No other column can have such a name.
pub const SYSTEM_COLUMNS: [&str; 6] = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"];

/// Prefixes of the names of tables that are not for kinds, and who owns such tables.
///
/// SQLite reads `pragma_table_info` as a function with the result of a PRAGMA.
pub const RESERVED: [(&str, &str); 4] =
    [("ingester_", "the ingester"), ("_sqlx_", "sqlx"), ("sqlite_", "the database"), ("pragma_", "the database")];

/// The most objects of a group that a rule of eviction keeps.
pub(crate) const MOST_KEPT: usize = 100_000;
