//! The filters through which everything goes that templates put into SQL.

// The attribute makes a struct of each filter, public whatever the function says.
#![allow(unreachable_pub)]

use crate::schema::{Ident, SqlType};
use askama::filters::Safe;
use askama::{Result, Values};

/// A name in backticks. An [`Ident`] holds no backtick, so nothing needs doubling.
#[askama::filter_fn]
pub(super) fn backticks(name: &Ident, _: &dyn Values) -> Result<Safe<String>> {
    Ok(Safe(format!("`{name}`")))
}

/// A name in double quotes. An [`Ident`] holds none itself.
#[askama::filter_fn]
pub(super) fn quotes(name: &Ident, _: &dyn Values) -> Result<Safe<String>> {
    Ok(Safe(format!("\"{name}\"")))
}

/// A number.
#[askama::filter_fn]
pub(super) fn number(number: &usize, _: &dyn Values) -> Result<Safe<usize>> {
    Ok(Safe(*number))
}

/// A type in MySQL's spelling.
#[askama::filter_fn]
pub(super) fn mysql_type(ty: &SqlType, _: &dyn Values) -> Result<Safe<String>> {
    Ok(Safe(ty.name().into_owned()))
}

/// A type in the spelling of SQLite's STRICT tables.
#[askama::filter_fn]
pub(super) fn sqlite_type(ty: &SqlType, _: &dyn Values) -> Result<Safe<&'static str>> {
    Ok(Safe(ty.sqlite_name()))
}

/// What a column that may not be NULL has in the rows that are there when it is added: SQLite asks for it.
#[askama::filter_fn]
pub(super) fn sqlite_default(ty: &SqlType, _: &dyn Values) -> Result<Safe<&'static str>> {
    Ok(Safe(match ty.sqlite_name() {
        "INTEGER" | "REAL" => "0",
        "BLOB" => "x''",
        _ => "''",
    }))
}
