//! [`ColumnValue`], its implementations for Rust's own types, and what the derives need to reach a value by a path.

use crate::schema::{Shape, SqlType};
use crate::value::{Value, Values};

/// A Rust type that can be stored in columns.
///
/// Implemented for `String`, `&str`, `bool`, the integers up to 64 bits, `f32`, `f64`, the times in [`crate::wire`],
/// references and `Option`s of all these, and by `#[derive(ColumnValue)]` for unit enums (the variant's name) and for
/// structs (composites: one column a field, one key over all).
///
/// Zero values are stored as such; only an absent value ([`None`]) is NULL.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be stored in a column",
    label = "no SQL type is known for `{Self}`",
    note = "pick a field of it with `#[index(path = \"...\")]`, convert it with `#[index(with = function)]`,",
    note = "or derive `ColumnValue` for it when it is yours (a unit enum, or a struct whose fields are columns)"
)]
pub trait ColumnValue {
    /// The columns that a value takes.
    const SHAPE: Shape;

    /// Adds exactly one value for each part of [`ColumnValue::SHAPE`].
    fn write(&self, out: &mut Values);

    /// Adds the values of an absent value: NULL for each part.
    fn write_absent(out: &mut Values) {
        for _ in Self::SHAPE.parts {
            out.push(Value::Null);
        }
    }
}

impl<T: ColumnValue + ?Sized> ColumnValue for &T {
    const SHAPE: Shape = T::SHAPE;

    fn write(&self, out: &mut Values) {
        T::write(self, out);
    }
}

impl<T: ColumnValue + ?Sized> ColumnValue for Box<T> {
    const SHAPE: Shape = T::SHAPE;

    fn write(&self, out: &mut Values) {
        T::write(self, out);
    }
}

impl<T: ColumnValue> ColumnValue for Option<T> {
    const SHAPE: Shape = T::SHAPE;

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
    f32, SqlType::Double, |value| Value::Double((*value).into());
    f64, SqlType::Double, |value| Value::Double(*value);
}

/// The layout of what an accessor returns; lets the derives name the type of a path without knowing it.
pub const fn shape_of<'a, S: 'a + ?Sized, V: ColumnValue>(_: fn(&'a S) -> V) -> Shape {
    V::SHAPE
}

/// The text of a variant's name, for derived enums.
pub fn named(name: &str, out: &mut Values) {
    out.push(Value::Text(name.into()));
}

/// Looks at one step of a path: an `Option` is opened, anything else is taken as it is.
///
/// The derives call `(&Probe(&value.field)).step()`; method resolution tries [`ViaOption`] first because it needs one
/// reference less, so both cases read the same in the generated code, which cannot know the field's type.
#[derive(Debug)]
pub struct Probe<'a, T>(pub &'a T);

/// A step into an `Option`.
pub trait ViaOption<'a, T> {
    /// What is inside, if anything.
    fn step(&self) -> Option<&'a T>;
}

impl<'a, T> ViaOption<'a, T> for Probe<'a, Option<T>> {
    fn step(&self) -> Option<&'a T> {
        self.0.as_ref()
    }
}

/// A step into anything that is no `Option`.
pub trait ViaPlain<'a, T> {
    /// The value itself.
    fn step(&self) -> Option<&'a T>;
}

impl<'a, T> ViaPlain<'a, T> for &Probe<'a, T> {
    fn step(&self) -> Option<&'a T> {
        Some(self.0)
    }
}
