//! The filters of the templates. Everything that a template puts into SQL goes through one of them. Filters of shared statements write
//! standard SQL, or ask the dialect's rules.

#![allow(
    unreachable_pub,
    reason = "the attribute makes a public struct of each filter, whatever the function's visibility"
)]

use super::Dialect;
use super::conditions::{RangedQuery, RoutedQuery, Writer};
use super::of_group::GroupFilter;
use super::rows_of::{RowsOf, repeated};
use super::rules::Rules;
use super::statements::KindRejects;
use crate::query::{CheckedQuery, Route, Routes};
use askama::filters::Safe;
use askama::{Result, Values};
use ingester_core::schema::{Column, Ident, NARROW_KEY, SqlType, Stays, Table};
use std::borrow::{Borrow, Cow};

/// A template is rendered with the dialect as its only value.
impl Values for Dialect {
    fn get_value<'a>(&'a self, _: &str) -> Option<&'a dyn std::any::Any> {
        Some(self)
    }
}

/// A name that no input can change: an identifier of a table, or a literal in a template.
pub(super) trait Name {
    fn name(&self) -> &str;
}

impl Name for &'static str {
    fn name(&self) -> &str {
        self
    }
}

impl Name for Ident {
    fn name(&self) -> &str {
        self.as_str()
    }
}

impl<N: Name> Name for &N {
    fn name(&self) -> &str {
        (**self).name()
    }
}

fn rules(values: &dyn Values) -> Result<&'static dyn Rules> {
    Ok(askama::get_value::<Dialect>(values, "dialect")?.rules())
}

/// A name in double quotes. An [`Ident`] cannot contain them.
#[askama::filter_fn]
pub(super) fn ident<N: Name>(name: N, _: &dyn Values) -> Result<Safe<String>> {
    Ok(Safe(format!("\"{}\"", name.name())))
}

/// A name in backticks. An [`Ident`] cannot contain them.
#[askama::filter_fn]
pub(super) fn backticks(name: &Ident, _: &dyn Values) -> Result<Safe<String>> {
    Ok(Safe(format!("`{name}`")))
}

/// A number.
#[askama::filter_fn]
pub(super) fn number<N: Borrow<usize>>(number: N, _: &dyn Values) -> Result<Safe<usize>> {
    Ok(Safe(*number.borrow()))
}

/// The names of columns, in double quotes.
#[askama::filter_fn]
pub(super) fn names(columns: &[Column], _: &dyn Values) -> Result<Safe<String>> {
    let mut names = String::with_capacity(columns.len() * 16);
    for (place, column) in columns.iter().enumerate() {
        if place > 0 {
            names.push_str(", ");
        }
        push_name(&mut names, column);
    }
    Ok(Safe(names))
}

/// The values of a former version: those of the row, without `proto`. Its bytes follow from `json`, and without them a version of a usual
/// size fits a page of InnoDB.
#[askama::filter_fn]
pub(super) fn version_values(columns: &[Column], _: &dyn Values) -> Result<Safe<String>> {
    let mut values = String::with_capacity(columns.len() * 16);
    for (place, column) in columns.iter().enumerate() {
        if place > 0 {
            values.push_str(", ");
        }
        match column.name.as_str() {
            "proto" => values.push_str("NULL"),
            _ => push_name(&mut values, column),
        }
    }
    Ok(Safe(values))
}

fn push_name(sql: &mut String, column: &Column) {
    sql.push('"');
    sql.push_str(column.name.as_str());
    sql.push('"');
}

/// The columns of a companion table, each read as text.
#[askama::filter_fn]
pub(super) fn texts_of(columns: &[Column], values: &dyn Values) -> Result<Safe<String>> {
    let mut texts = String::with_capacity(columns.len() * 16);
    for (place, column) in columns.iter().enumerate() {
        if place > 0 {
            texts.push_str(", ");
        }
        match column.ty.is_text() {
            true => push_name(&mut texts, column),
            false => texts.push_str(&rules(values)?.cast_to_text(column.name.as_str(), column.ty)),
        }
    }
    Ok(Safe(texts))
}

/// See [`Rules::is_one_of`].
#[askama::filter_fn]
pub(super) fn is_one_of<N: Name>(column: N, values: &dyn Values, count: usize) -> Result<Safe<String>> {
    Ok(Safe(rules(values)?.is_one_of(column.name(), count)))
}

/// See [`Rules::render_rows`].
#[askama::filter_fn]
pub(super) fn rows_of<N: Borrow<usize>>(count: N, values: &dyn Values, rows: Option<RowsOf>) -> Result<Safe<String>> {
    Ok(Safe(rules(values)?.render_rows(&rows.unwrap_or_default(), *count.borrow())))
}

/// See [`Rules::rows_inserted`].
#[askama::filter_fn]
pub(super) fn rows_inserted<'n, N: AsRef<[&'n str]>>(
    names: N,
    values: &dyn Values,
    rows: Option<RowsOf>,
) -> Result<Safe<String>> {
    Ok(Safe(rules(values)?.rows_inserted(&rows.unwrap_or_default(), names.as_ref()).unwrap_or_default()))
}

/// See [`Rules::upserted`].
#[askama::filter_fn]
pub(super) fn upserted<N: Name>(table: N, values: &dyn Values) -> Result<Safe<String>> {
    Ok(Safe(rules(values)?.upserted(table.name())))
}

/// See [`Rules::skip_stored`].
#[askama::filter_fn]
pub(super) fn skip_stored(_: &Table, values: &dyn Values) -> Result<Safe<&'static str>> {
    Ok(Safe(rules(values)?.facts().skip_stored.unwrap_or_default()))
}

/// The end of a SELECT from this table that locks its rows, see [`Rules::for_update`].
#[askama::filter_fn]
pub(super) fn lock_rows(_: &Table, values: &dyn Values) -> Result<Safe<&'static str>> {
    Ok(Safe(rules(values)?.facts().for_update))
}

/// See [`Rules::on_conflict`].
#[askama::filter_fn]
pub(super) fn on_conflict(key: &[&'static str], values: &dyn Values) -> Result<Safe<Cow<'static, str>>> {
    Ok(Safe(rules(values)?.on_conflict(key)))
}

/// See [`Rules::write_inserted`].
#[askama::filter_fn]
pub(super) fn write_inserted<N: Name>(column: N, values: &dyn Values) -> Result<Safe<String>> {
    Ok(Safe(rules(values)?.write_inserted(column.name())))
}

/// As [`write_inserted`], for a column some of whose stored values may stay.
#[askama::filter_fn]
pub(super) fn write_column_inserted(column: &Column, values: &dyn Values) -> Result<Safe<String>> {
    Ok(Safe(write_over(rules(values)?, column.name.as_str(), column.stays)))
}

fn write_over(rules: &dyn Rules, name: &str, stays: Stays) -> String {
    match stays {
        Stays::None => rules.write_inserted(name),
        stays => format!("\"{name}\" = {}", staying(stays, &rules.render_stored(name), &rules.render_inserted(name))),
    }
}

/// The value of a column after `new` came to a `stored` value that may stay.
fn staying(stays: Stays, stored: &str, new: &str) -> String {
    match stays {
        Stays::None => new.to_owned(),
        Stays::Keep => format!("COALESCE({new}, {stored})"),
        Stays::First => format!("COALESCE({stored}, {new})"),
    }
}

/// Replaces the stored value of a column by a parameter, unless the stored one stays.
#[askama::filter_fn]
pub(super) fn write_parameter(column: &Column, _: &dyn Values) -> Result<Safe<String>> {
    let name = column.name.as_str();
    Ok(Safe(match column.stays {
        Stays::None => format!("\"{name}\" = ?"),
        stays => format!("\"{name}\" = {}", staying(stays, &format!("\"{name}\""), "?")),
    }))
}

/// As [`write_column_inserted`], for several columns, one per line. A row that stays a tombstone keeps its first `delete_time`:
/// later changes of a terminating object must not move the time of its deletion.
#[askama::filter_fn]
pub(super) fn write_all_inserted(columns: &[Column], values: &dyn Values) -> Result<Safe<String>> {
    let rules = rules(values)?;
    let lines: Vec<String> = columns.iter().map(|column| write_line(rules, column)).collect();
    Ok(Safe(lines.join(",\n  ")))
}

/// As [`write_all_inserted`], for a kind with a history.
#[askama::filter_fn]
pub(super) fn write_all_after_former(columns: &[Column], values: &dyn Values) -> Result<Safe<String>> {
    let rules = rules(values)?;
    let write = |column: &Column| match column.name.as_str() {
        name @ "update_time" => begin_after_former(rules, name),
        _ => write_line(rules, column),
    };
    let lines: Vec<String> = columns.iter().map(write).collect();
    Ok(Safe(lines.join(",\n  ")))
}

fn write_line(rules: &dyn Rules, column: &Column) -> String {
    match column.name.as_str() {
        name @ "delete_time" => rules.write_first_inserted(name),
        name => write_over(rules, name, column.stays),
    }
}

/// As [`write_inserted`], for the time at which a version begins: later than the version before it.
#[askama::filter_fn]
pub(super) fn write_after_former<N: Name>(column: N, values: &dyn Values) -> Result<Safe<String>> {
    Ok(Safe(begin_after_former(rules(values)?, column.name())))
}

fn begin_after_former(rules: &dyn Rules, name: &str) -> String {
    let inserted = rules.render_inserted(name);
    let stored = rules.render_stored(name);
    format!("\"{name}\" = GREATEST({inserted}, {stored} + INTERVAL '0.000001' SECOND)")
}

/// The values of the row before the statement, which [`version_values`] takes.
#[askama::filter_fn]
pub(super) fn values_before(columns: &[Column], _: &dyn Values) -> Result<Safe<String>> {
    let kept = columns.iter().filter(|column| column.name.as_str() != "proto");
    let values: Vec<String> = kept.map(|column| format!("\"before\".\"{}\"", column.name)).collect();
    Ok(Safe(values.join(", ")))
}

/// The text before an UPDATE, between it and the INSERT of its entry in the log, or after that: see [`Rules::recorded`].
#[askama::filter_fn]
pub(super) fn recorded(place: &'static str, values: &dyn Values) -> Result<Safe<&'static str>> {
    let [before, between, behind] = rules(values)?.facts().recorded;
    Ok(Safe(match place {
        "before" => before,
        "between" => between,
        _ => behind,
    }))
}

/// See [`Rules::row_values`].
#[askama::filter_fn]
pub(super) fn row_values<N: Borrow<usize>>(
    count: N,
    values: &dyn Values,
    rows: Option<RowsOf>,
) -> Result<Safe<String>> {
    Ok(Safe(rules(values)?.row_values(&rows.unwrap_or_default(), *count.borrow())))
}

/// See [`Rules::without_index`].
#[askama::filter_fn]
pub(super) fn without_index(column: &'static str, values: &dyn Values) -> Result<Safe<String>> {
    Ok(Safe(rules(values)?.without_index(column)))
}

/// The condition that a row is of this API group, in any version: `v1` is of the core group, `apps/v1` of `apps`. It has the two
/// parameters of [`GroupFilter::params`], and none for the core group.
#[askama::filter_fn]
pub(super) fn is_of_group(group: &GroupFilter, _: &dyn Values) -> Result<Safe<&'static str>> {
    Ok(Safe(group.condition()))
}

/// The condition that a reject is of one of these kinds. It has the parameters of [`RejectsOf`](super::statements::RejectsOf).
#[askama::filter_fn]
pub(super) fn is_of_kinds(kinds: &[KindRejects<'_>], _: &dyn Values) -> Result<Safe<String>> {
    if kinds.iter().all(|of| of.group.is_none()) {
        return Ok(Safe(format!("\"kind\" IN ({})", repeated("?", kinds.len()))));
    }
    let of = |of: &KindRejects<'_>| match &of.group {
        None => "\"kind\" = ?".to_owned(),
        Some(group) => format!("\"kind\" = ? AND {}", group.condition()),
    };
    Ok(Safe(format!("({})", kinds.iter().map(of).collect::<Vec<_>>().join(" OR "))))
}

/// See [`Rules::cast_to_text`].
#[askama::filter_fn]
pub(super) fn cast_to_text(column: &Column, values: &dyn Values) -> Result<Safe<String>> {
    Ok(Safe(rules(values)?.cast_to_text(column.name.as_str(), column.ty)))
}

/// See [`Rules::read`].
#[askama::filter_fn]
pub(super) fn read(column: &Column, values: &dyn Values) -> Result<Safe<String>> {
    Ok(Safe(rules(values)?.read(column.name.as_str(), column.ty)))
}

/// See [`Rules::read`], for a column of times.
#[askama::filter_fn]
pub(super) fn read_time(column: &'static str, values: &dyn Values) -> Result<Safe<String>> {
    Ok(Safe(rules(values)?.read(column, SqlType::DateTime)))
}

/// A type in MySQL's spelling.
#[askama::filter_fn]
pub(super) fn mysql_type(ty: &SqlType, _: &dyn Values) -> Result<Safe<String>> {
    Ok(Safe(ty.name().into_owned()))
}

/// The default of a column of this type, where it has one.
#[askama::filter_fn]
pub(super) fn default_zero(ty: &SqlType, _: &dyn Values) -> Result<Safe<&'static str>> {
    Ok(Safe(if ty.zero_by_default() { " DEFAULT 0" } else { "" }))
}

/// A type in the spelling of SQLite's STRICT tables.
#[askama::filter_fn]
pub(super) fn sqlite_type(ty: &SqlType, _: &dyn Values) -> Result<Safe<&'static str>> {
    Ok(Safe(crate::ddl::storage_class(*ty)))
}

/// A type in PostgreSQL's spelling. Texts are compared by byte.
#[askama::filter_fn]
pub(super) fn postgres_type(ty: &SqlType, _: &dyn Values) -> Result<Safe<String>> {
    let name = Dialect::Postgres.rules().type_name(*ty);
    Ok(Safe(if ty.is_text() { format!("{name} COLLATE \"C\"") } else { name.into_owned() }))
}

/// The value of a new NOT NULL column in existing rows, in PostgreSQL.
#[askama::filter_fn]
pub(super) fn postgres_default(ty: &SqlType, _: &dyn Values) -> Result<Safe<&'static str>> {
    Ok(Safe(match ty {
        SqlType::Boolean => "FALSE",
        SqlType::Int | SqlType::BigInt | SqlType::IntUnsigned | SqlType::BigIntUnsigned | SqlType::Double => "0",
        SqlType::VarChar(_) | SqlType::Text | SqlType::MediumText | SqlType::LongBlob => "''",
        SqlType::DateTime => "'epoch'",
        SqlType::Json => "'{}'",
    }))
}

/// A condition for values of the column that do not fit the type, among the types that SQLite stores in the same way.
#[askama::filter_fn]
pub(super) fn sqlite_unfit(unfit: &(Ident, SqlType), _: &dyn Values) -> Result<Safe<String>> {
    let (column, ty) = unfit;
    Ok(Safe(match ty {
        SqlType::VarChar(most) => format!("length(\"{column}\") > {most}"),
        SqlType::Text => format!("length(CAST(\"{column}\" AS BLOB)) > {}", u16::MAX),
        SqlType::Int => format!("\"{column}\" NOT BETWEEN {} AND {}", i32::MIN, i32::MAX),
        SqlType::BigIntUnsigned => format!("\"{column}\" < 0"),
        // Every stored value fits.
        SqlType::Boolean
        | SqlType::BigInt
        | SqlType::IntUnsigned
        | SqlType::Double
        | SqlType::MediumText
        | SqlType::DateTime
        | SqlType::LongBlob
        | SqlType::Json => "FALSE".to_owned(),
    }))
}

/// The value of a new NOT NULL column in existing rows, which SQLite requires.
#[askama::filter_fn]
pub(super) fn sqlite_default(ty: &SqlType, _: &dyn Values) -> Result<Safe<&'static str>> {
    Ok(Safe(match crate::ddl::storage_class(*ty) {
        "INTEGER" | "REAL" => "0",
        "BLOB" => "x''",
        _ => "''",
    }))
}

/// See [`Rules::select_within`].
#[askama::filter_fn]
pub(super) fn select_within<N: Borrow<u64>>(milliseconds: N, values: &dyn Values) -> Result<Safe<Cow<'static, str>>> {
    Ok(Safe(rules(values)?.select_within(*milliseconds.borrow())))
}

/// The index of the first moment that a time is not after: the number of moments for a later time, one more for NULL. The moments are its
/// parameters, ascending.
#[askama::filter_fn]
pub(super) fn step_of(column: &'static str, _: &dyn Values, moments: usize) -> Result<Safe<String>> {
    let reached = (0..moments).map(|place| format!(" WHEN \"{column}\" <= ? THEN {place}")).collect::<String>();
    Ok(Safe(format!("CASE{reached} WHEN \"{column}\" IS NOT NULL THEN {moments} ELSE {} END", moments + 1)))
}

/// The table of a query, as its route reaches the rows.
#[askama::filter_fn]
pub(super) fn rows_reached<R: RoutedQuery>(reached: R, values: &dyn Values) -> Result<Safe<String>> {
    let (query, route) = reached.reached();
    let mut writer = Writer::new(rules(values)?, query.table(), route);
    writer.write_rows(query, route);
    Ok(Safe(writer.sql))
}

/// How many rows a route finds, up to [`Routes::FEW`].
#[askama::filter_fn]
pub(super) fn count_few<R: RoutedQuery>(reached: R, values: &dyn Values) -> Result<Safe<String>> {
    let (query, route) = reached.reached();
    let mut writer = Writer::new(rules(values)?, query.table(), route);
    writer.count(query, route, Routes::FEW);
    Ok(Safe(writer.sql))
}

/// The query's conditions for a row that its route reaches.
#[askama::filter_fn]
pub(super) fn holds<R: RoutedQuery>(reached: R, values: &dyn Values) -> Result<Safe<String>> {
    let (query, route) = reached.reached();
    let mut writer = Writer::new(rules(values)?, query.table(), route);
    writer.conditions(query, route);
    Ok(Safe(writer.sql))
}

/// The columns that identify a row, and the columns of a query's order, under names that no column has.
#[askama::filter_fn]
pub(super) fn found(query: &CheckedQuery, values: &dyn Values) -> Result<Safe<String>> {
    let mut writer = Writer::new(rules(values)?, query.table(), Route::Free);
    writer.found(query.order());
    Ok(Safe(writer.sql))
}

/// A query's order, by these names.
#[askama::filter_fn]
pub(super) fn found_order(query: &CheckedQuery, values: &dyn Values) -> Result<Safe<String>> {
    let mut writer = Writer::new(rules(values)?, query.table(), Route::Free);
    writer.found_order(query.order());
    Ok(Safe(writer.sql))
}

/// The table, read through its primary key even if the database prefers another key. Statements that lock rows use this: one that locks an
/// entry of another key first would wait for the row, while a writer that has locked the row waits for the entry.
#[askama::filter_fn]
pub(super) fn by_uid(table: &Table, values: &dyn Values) -> Result<Safe<String>> {
    Ok(Safe(format!("\"{}\"{}", table.name, rules(values)?.by_key("PRIMARY"))))
}

/// The table from which rows are deleted through its primary key. MySQL takes the name of a key only if the table is named twice.
#[askama::filter_fn]
pub(super) fn deleted_by_uid(table: &Table, values: &dyn Values) -> Result<Safe<String>> {
    let name = &table.name;
    let key = rules(values)?.by_key("PRIMARY");
    Ok(Safe(if key.is_empty() { format!("FROM \"{name}\"") } else { format!("\"{name}\" FROM \"{name}\"{key}") }))
}

/// The table, read in the order of the uids through its narrow key, or through its primary key if the database lacks the narrow one.
#[askama::filter_fn]
pub(super) fn by_narrow_key(table: &Table, values: &dyn Values, there: bool) -> Result<Safe<String>> {
    let key = if there { NARROW_KEY } else { "PRIMARY" };
    Ok(Safe(format!("\"{}\"{}", table.name, rules(values)?.by_key(key))))
}

/// A table, read by one of its keys, whatever the database assumes about its other keys.
#[askama::filter_fn]
pub(super) fn by_key<N: Name>(table: N, values: &dyn Values, key: &'static str) -> Result<Safe<String>> {
    Ok(Safe(format!("\"{}\"{}", table.name(), rules(values)?.by_key(key))))
}

/// A column that may be NULL in the order of its key, ascending or descending. See [`Rules::order`].
#[askama::filter_fn]
pub(super) fn in_order(column: &'static str, values: &dyn Values, descending: bool) -> Result<Safe<String>> {
    Ok(Safe(rules(values)?.order(column, true, descending)))
}

/// Joins the table, row by row through its primary key, to rows that were found before.
#[askama::filter_fn]
pub(super) fn join_by_uid(table: &Table, values: &dyn Values) -> Result<Safe<String>> {
    let rules = rules(values)?;
    Ok(Safe(format!("{} \"{}\"{}", rules.facts().join_in_order, table.name, rules.by_key("PRIMARY"))))
}

/// The conditions of a range of a query's order, with ` AND ` in front; empty if the range has no bounds.
#[askama::filter_fn]
pub(super) fn is_within<W: RangedQuery>(query: W, values: &dyn Values) -> Result<Safe<String>> {
    let (query, range) = query.within();
    let mut writer = Writer::new(rules(values)?, query.table(), Route::Free);
    writer.range(query.order(), range);
    Ok(Safe(writer.sql))
}

/// A column in an ascending order. See [`Rules::order`].
#[askama::filter_fn]
pub(super) fn ascending(column: &Column, values: &dyn Values) -> Result<Safe<String>> {
    Ok(Safe(rules(values)?.order(column.name.as_str(), column.nullable, false)))
}

/// A query's order.
#[askama::filter_fn]
pub(super) fn order_of(query: &CheckedQuery, values: &dyn Values) -> Result<Safe<String>> {
    let mut writer = Writer::new(rules(values)?, query.table(), Route::Free);
    writer.order(query.order());
    Ok(Safe(writer.sql))
}
