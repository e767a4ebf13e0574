//! Values of MySQL's statements and rows.

use crate::driver::values::implement_values;
use sqlx::MySql;
use sqlx::mysql::{MySqlArguments, MySqlRow};

/// MySQL has unsigned integers.
fn unsigned(value: u64) -> Result<u64, sqlx::Error> {
    Ok(value)
}

implement_values!(MySql, MySqlArguments, MySqlRow, unsigned, u64, |value| value);
