//! The values of columns. [`ColumnValue`] is the only place where Rust types meet SQL types.
//!
//! May use: ingester-wire, schema.
//! Must not: do I/O, know SQL text.

mod column_value;
pub(crate) mod derived;
mod literal;
mod many_values;

pub use column_value::ColumnValue;
#[doc(inline)]
pub use ingester_wire::Micros;
pub use literal::value_of;
pub use literal::{Elements, Entries, Literal, Names, Scalar, Several, class};
pub use many_values::{ManyKey, ManyValues};

use crate::schema::{Absent, Column, Ident, Shape, SqlType, Table};
use std::sync::Arc;

/// Texts with a value each, sorted by their bytes: the rows of a companion table for one object. The texts of a list have no value.
pub(crate) type Pairs = Arc<[(Box<str>, Box<str>)]>;

/// The value of one column of one row.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// NULL.
    Null,
    /// Stored as 0 or 1.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    UInt(u64),
    /// A floating-point number.
    Double(f64),
    /// Text. The text of an object is shared with the object.
    Text(Arc<str>),
    /// Bytes.
    Bytes(Box<[u8]>),
    /// A point in time.
    Time(Micros),
}

impl Value {
    /// Text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Value::Text(text.into())
    }

    /// The value of a column of this type with [`Absent::Empty`] if the object has none.
    pub fn empty(ty: SqlType) -> Self {
        match ty {
            SqlType::Boolean => Value::Bool(false),
            SqlType::Int | SqlType::BigInt => Value::Int(0),
            SqlType::IntUnsigned | SqlType::BigIntUnsigned => Value::UInt(0),
            SqlType::Double => Value::Double(0.0),
            SqlType::VarChar(_) | SqlType::Text | SqlType::MediumText => Value::text(""),
            SqlType::DateTime | SqlType::LongBlob | SqlType::Json => Value::Null,
        }
    }

    /// About how many bytes the value takes in a statement's packet.
    pub fn bytes(&self) -> usize {
        match self {
            Value::Null => 1,
            Value::Bool(_) | Value::Int(_) | Value::UInt(_) | Value::Double(_) => 9,
            Value::Time(_) => 27,
            Value::Text(text) => text.len() + 9,
            Value::Bytes(bytes) => bytes.len() + 9,
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Null => f.write_str("NULL"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::UInt(value) => write!(f, "{value}"),
            Value::Double(value) => write!(f, "{value}"),
            Value::Text(value) => f.write_str(value),
            Value::Bytes(value) => write!(f, "{} bytes", value.len()),
            Value::Time(value) => f.write_str(&value.rfc3339()),
        }
    }
}

/// The values of a table's indexed columns, and of its columns of many values, both in the order of the columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    columns: Vec<Value>,
    many: Vec<Pairs>,
    unfit: Vec<(UnfitPlace, String)>,
}

/// A column whose value in an object does not fit it. The column is NULL, or lacks the value if it has many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// The column.
    pub column: Ident,
    /// The value, and the reason why it does not fit.
    pub why: String,
}

/// The place of a column with an unfit value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum UnfitPlace {
    /// Among the indexed columns.
    Column(usize),
    /// Among the columns of many values.
    Many(usize),
}

impl Values {
    /// No values yet, with room for `n`.
    pub fn with_capacity(n: usize) -> Self {
        Values { columns: Vec::with_capacity(n), ..Values::default() }
    }

    /// Adds the value of the next column.
    pub fn push(&mut self, value: Value) {
        self.columns.push(value);
    }

    /// Adds NULL for the next column, because the object's value is not of its type.
    pub fn push_unfit(&mut self, why: String) {
        self.unfit.push((UnfitPlace::Column(self.columns.len()), why));
        self.columns.push(Value::Null);
    }

    /// Adds no values for the next column of many values, because one of the object's values is not of its type.
    pub fn push_many_unfit(&mut self, why: String) {
        self.unfit.push((UnfitPlace::Many(self.many.len()), why));
        self.push_many(Vec::new());
    }

    /// Takes the columns with unfit values.
    pub(crate) fn take_unfit(&mut self, table: &Table) -> Vec<Unfit> {
        let name = |place| match place {
            UnfitPlace::Column(place) => table.indexed().get(place).map(|column| column.name),
            UnfitPlace::Many(place) => table.many.get(place).map(|many| many.name),
        };
        let unfit = std::mem::take(&mut self.unfit);
        unfit.into_iter().filter_map(|(place, why)| Some(Unfit { column: name(place)?, why })).collect()
    }

    /// Returns the values of the columns, and the values of the columns of many values.
    pub(crate) fn parts_mut(&mut self) -> (&mut [Value], &mut [Pairs]) {
        (&mut self.columns, &mut self.many)
    }

    /// Adds an absent value of this shape.
    pub(crate) fn push_absent(&mut self, shape: Shape) {
        for part in shape.parts {
            match part.many {
                None => self.columns.push(Value::Null),
                Some(_) => self.push_many(Vec::new()),
            }
        }
    }

    /// Gives the columns that say so ([`Absent::Empty`]) an empty value in place of none.
    pub(crate) fn fill(&mut self, columns: &[Column]) {
        for (column, value) in columns.iter().zip(&mut self.columns) {
            if column.absent == Absent::Empty && *value == Value::Null {
                *value = Value::empty(column.ty);
            }
        }
    }

    /// Adds the values of a list as the next column of many values.
    pub(crate) fn push_list<T: ColumnValue>(&mut self, list: impl IntoIterator<Item = T>) {
        self.push_texts(list.into_iter().map(|value| (Box::default(), value)), |_, value| (value, Box::default()));
    }

    /// Adds the values of a map as the next column of many values.
    pub(crate) fn push_map<'k, T: ColumnValue>(&mut self, map: impl IntoIterator<Item = (&'k str, T)>) {
        let entries = map.into_iter().map(|(key, value)| (key.trim_end_matches(' ').into(), value));
        self.push_texts(entries, |key, value| (key, value));
    }

    fn push_texts<T: ColumnValue>(
        &mut self,
        values: impl Iterator<Item = (Box<str>, T)>,
        pair: impl Fn(Box<str>, Box<str>) -> (Box<str>, Box<str>),
    ) {
        let mut one = Values::default();
        let mut pairs = Vec::with_capacity(values.size_hint().0);
        for (key, value) in values {
            value.write(&mut one);
            // A value of several columns is refused by the checks.
            let text = one.columns.pop().as_ref().and_then(stored_text);
            one.columns.clear();
            pairs.extend(text.map(|text| pair(key, text)));
        }
        self.push_many(pairs);
    }

    /// Adds the rows of the next column of many values; rows of a list have no value. If several have one key, such as keys of a map that
    /// differ only in blanks at their ends, the least value counts, whatever the order of the map is.
    pub fn push_many(&mut self, mut pairs: Vec<(Box<str>, Box<str>)>) {
        pairs.sort();
        pairs.dedup_by(|a, b| a.0 == b.0);
        self.many.push(pairs.into());
    }

    /// Returns true if there is a value for each of this many columns, and rows for each of this many columns of many values.
    pub(crate) fn are_complete(&self, columns: usize, many: usize) -> bool {
        self.columns.len() == columns && self.many.len() == many
    }

    /// The values of the columns.
    pub fn into_vec(self) -> Vec<Value> {
        self.columns
    }

    /// Returns the values of the columns, and the values of the columns of many values.
    pub fn into_parts(self) -> (Vec<Value>, Vec<Pairs>) {
        (self.columns, self.many)
    }
}

/// A value as the text that every database gives back for it; `None` for NULL, and for a value that no column of many values can have.
pub fn stored_text(value: &Value) -> Option<Box<str>> {
    match value {
        Value::Text(text) => Some(text.trim_end_matches(' ').into()),
        Value::Int(number) => Some(number.to_string().into()),
        Value::UInt(number) => Some(number.to_string().into()),
        Value::Time(Micros::ZERO_OF_GO) => None,
        Value::Time(time) => Some(time.sql().into()),
        Value::Null | Value::Bool(_) | Value::Double(_) | Value::Bytes(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_keys_that_differ_in_blanks_one_is_stored_whatever_their_order() {
        let mut entries = [("a ", "2"), ("a", "3"), ("a  ", "1"), ("b ", "4")];
        for _ in 0..entries.len() {
            entries.rotate_left(1);
            let mut values = Values::default();
            values.push_map(entries.map(|(key, value)| (key, value.to_owned())));
            let (_, many) = values.into_parts();
            assert_eq!(*many[0], [("a".into(), "1".into()), ("b".into(), "4".into())]);
        }
    }
}
