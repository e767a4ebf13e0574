//! The boundary between two pages: the values of the order in the last row. So pages neither repeat nor leave out a row that exists all the
//! time, whatever rows come and go between them.

use ingester_core::schema::{Column, SqlType};
use ingester_core::value::Value;
use ingester_sql::dialect::Range;
use ingester_sql::query::CheckedQuery;
use std::ops::RangeInclusive;

/// A place in the order of a query.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cursor {
    /// The remaining parts of the order, the present one first. Each tells if the first column is NULL in it, provided that it can be.
    parts: &'static [Option<bool>],
    /// The values of the order in the last row that was read.
    after: Option<Box<[Value]>>,
}

impl Cursor {
    /// Returns the place before the first row.
    pub(super) fn begin(query: &CheckedQuery) -> Self {
        Cursor { parts: parts(query), after: None }
    }

    /// Returns the place after the row with these values of the order; `None` if the values do not fit this order.
    pub(super) fn after(query: &CheckedQuery, values: Box<[Value]>) -> Option<Self> {
        let columns = &query.table().columns;
        let are_fit = query.order().iter().zip(&values).all(|(key, value)| is_of(&columns[key.place], value));
        if values.len() != query.order().len() || !are_fit {
            return None;
        }
        let is_null = values.first() == Some(&Value::Null);
        let parts = parts(query);
        let part = parts.iter().position(|part| part.is_none_or(|null| null == is_null))?;
        Some(Cursor { parts: &parts[part..], after: Some(values) })
    }

    /// Returns the range to read next; `None` at the end.
    pub(super) fn range(&self) -> Option<Range<'_>> {
        self.parts.first().map(|null| Range { null: *null, after: self.after.as_deref() })
    }

    /// Moves behind the row with these values of the order.
    pub(super) fn advance(&mut self, values: Box<[Value]>) {
        self.after = Some(values);
    }

    /// Moves to the next part: the present one has no more rows.
    pub(super) fn next_part(&mut self) {
        self.parts = self.parts.get(1..).unwrap_or_default();
        self.after = None;
    }

    /// Returns the values of the order in the last row that was read.
    pub(super) fn values(&self) -> Option<&[Value]> {
        self.after.as_deref()
    }
}

/// Returns true if a row can have this value in a column. The database would refuse a value of another type with an error of its own.
fn is_of(column: &Column, value: &Value) -> bool {
    match value {
        Value::Null => column.nullable,
        Value::Bool(_) => column.ty == SqlType::Boolean,
        Value::Int(_) => matches!(column.ty, SqlType::Int | SqlType::BigInt),
        // A query cannot name a larger number either.
        Value::UInt(value) => {
            matches!(column.ty, SqlType::IntUnsigned | SqlType::BigIntUnsigned) && i64::try_from(*value).is_ok()
        }
        Value::Double(_) => column.ty == SqlType::Double,
        Value::Text(_) => column.ty.is_text(),
        Value::Bytes(_) => column.ty == SqlType::LongBlob,
        Value::Time(time) => column.ty == SqlType::DateTime && TIMES.contains(&time.0),
    }
}

/// The microseconds of the years 1 to 9999.
const TIMES: RangeInclusive<i64> = -62_135_596_800_000_000..=253_402_300_799_999_999;

/// Returns the parts of the order. Missing values come first, or last if the order descends.
fn parts(query: &CheckedQuery) -> &'static [Option<bool>] {
    match query.order().first() {
        Some(first) if query.table().columns[first.place].nullable => {
            if first.descending {
                &[Some(false), Some(true)]
            } else {
                &[Some(true), Some(false)]
            }
        }
        _ => &[None],
    }
}

#[cfg(test)]
mod tests {
    use super::is_of;
    use ingester_core::schema::{BASE_COLUMNS, base};
    use ingester_core::value::{Micros, Value};

    #[test]
    fn a_token_has_values_that_its_columns_can_have() {
        let [name, version, deleted, json] = [base::NAME, base::RES_VERSION, base::DELETE_TIME, base::JSON];
        for (place, value, fits) in [
            (name, Value::text("a"), true),
            (name, Value::Null, false),
            (name, Value::Int(1), false),
            (name, Value::Bool(true), false),
            (version, Value::UInt(1), true),
            (version, Value::UInt(u64::MAX), false),
            (version, Value::Int(1), false),
            (version, Value::text("1"), false),
            (deleted, Value::Null, true),
            (deleted, Value::Time(Micros(5)), true),
            (deleted, Value::Time(Micros(i64::MAX)), false),
            (deleted, Value::text("2026-01-01"), false),
            (json, Value::text("{}"), false),
        ] {
            let column = &BASE_COLUMNS[place];
            assert_eq!(is_of(column, &value), fits, "{value:?} in {}", column.name);
        }
    }
}
