//! [`ColumnValue`] and its implementations for Rust's own types.

use crate::schema::{Shape, SqlType};
use crate::value::{Micros, Value, Values};

/// A Rust type whose values can be stored in columns.
///
/// Implemented for `String`, `&str`, `bool`, the integers up to 64 bits, `f32`, `f64`, [`Micros`], `jiff::Timestamp`, the times in [`crate::wire`],
/// references and `Option`s of all these, k8s-openapi's `Time`, `MicroTime`, `IntOrString` and `Quantity` (in
/// [thousandths](crate::wire::quantity)), and by `#[derive(ColumnValue)]` for unit enums (the variant's name) and for
/// structs (composites: one column a field, one key over all).
///
/// Zero values are stored as such; only an absent value ([`None`]) is NULL.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be stored in a column",
    label = "no SQL type is known for `{Self}`",
    note = "pick a field of it with `#[index(path = \"...\")]`, convert it with `#[index(with = function)]`,",
    note = "take all values of a list or a map, in a table of their own, with `#[index(many)]`,",
    note = "or derive for it, when it is yours, `ColumnValue` (a unit enum, or a struct all of whose fields are columns) or `Indexed` (a struct \
            whose fields with `#[index]` are);",
    note = "a struct of your own may have another type for the field: a time is `ingester_core::wire::Time`, a duration \
            `wire::Duration`, an integer of 64 bits that may be text `wire::Int64`, any name of an enum a `String`"
)]
pub trait ColumnValue {
    /// The columns that a value takes.
    const SHAPE: Shape;

    /// True if a value can be absent as a whole, so that all its columns are NULL. Each part of a composite has its own flag
    /// ([`Part::optional`](crate::schema::Part::optional)).
    const OPTIONAL: bool = false;

    /// True if all columns are NULL wherever the field itself is absent. False for a type that reads its default then.
    const NULL_IF_ABSENT: bool = Self::OPTIONAL;

    /// Adds exactly one value for each part of [`ColumnValue::SHAPE`].
    fn write(&self, out: &mut Values);

    /// Adds the values of an absent value: NULL for each part, and none for one that has many.
    fn write_absent(out: &mut Values) {
        out.push_absent(Self::SHAPE);
    }
}

impl<T: ColumnValue + ?Sized> ColumnValue for &T {
    const SHAPE: Shape = T::SHAPE;
    const OPTIONAL: bool = T::OPTIONAL;
    const NULL_IF_ABSENT: bool = T::NULL_IF_ABSENT;

    fn write(&self, out: &mut Values) {
        T::write(self, out);
    }
}

impl<T: ColumnValue + ?Sized> ColumnValue for Box<T> {
    const SHAPE: Shape = T::SHAPE;
    const OPTIONAL: bool = T::OPTIONAL;
    const NULL_IF_ABSENT: bool = T::NULL_IF_ABSENT;

    fn write(&self, out: &mut Values) {
        T::write(self, out);
    }
}

impl<T: ColumnValue> ColumnValue for Option<T> {
    const SHAPE: Shape = T::SHAPE;
    const OPTIONAL: bool = true;

    fn write(&self, out: &mut Values) {
        match self {
            Some(value) => value.write(out),
            None => T::write_absent(out),
        }
    }
}

macro_rules! scalar {
    ($($type:ty, $sql:expr, |$value:ident| $make:expr;)*) => { $(
        impl ColumnValue for $type {
            const SHAPE: Shape = Shape::scalar($sql);

            fn write(&self, out: &mut Values) {
                let $value = self;
                out.push($make);
            }
        }
    )* };
}

scalar! {
    str, SqlType::VarChar(255), |value| Value::Text(value.into());
    String, SqlType::VarChar(255), |value| Value::Text(value.as_str().into());
    std::borrow::Cow<'_, str>, SqlType::VarChar(255), |value| Value::Text(value.as_ref().into());
    bool, SqlType::Boolean, |value| Value::Bool(*value);
    i8, SqlType::Int, |value| Value::Int((*value).into());
    i16, SqlType::Int, |value| Value::Int((*value).into());
    i32, SqlType::Int, |value| Value::Int((*value).into());
    i64, SqlType::BigInt, |value| Value::Int(*value);
    u8, SqlType::Int, |value| Value::Int((*value).into());
    u16, SqlType::Int, |value| Value::Int((*value).into());
    u32, SqlType::BigInt, |value| Value::Int((*value).into());
    u64, SqlType::BigIntUnsigned, |value| Value::UInt(*value);
    isize, SqlType::BigInt, |value| Value::Int(*value as i64);
    usize, SqlType::BigIntUnsigned, |value| Value::UInt(*value as u64);
    f32, SqlType::Double, |value| Value::Double((*value).into());
    f64, SqlType::Double, |value| Value::Double(*value);
    Micros, SqlType::DateTime, |value| Value::Time(*value);
    jiff::Timestamp, SqlType::DateTime, |value| Value::Time(Micros(value.as_microsecond()));
}
