//! Values of SQLite's statements and rows.

use crate::driver::values::implement_values;
use sqlx::Sqlite;
use sqlx::sqlite::{SqliteArguments, SqliteRow};

/// SQLite's integers are signed; a larger resourceVersion is an error of its object.
fn signed(value: u64) -> Result<i64, sqlx::Error> {
    i64::try_from(value).map_err(|_| {
        sqlx::Error::InvalidArgument(format!("{value} is larger than SQLite's integers, which end at {}", i64::MAX))
    })
}

implement_values!(Sqlite, SqliteArguments, SqliteRow, signed, i64, |value| value.cast_unsigned());
