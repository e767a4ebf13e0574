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

/// The layout of what a function returns; lets the derives name the layout of a path without knowing its type.
pub const fn shape_of<'a, S: 'a + ?Sized, V: ColumnValue>(_: fn(&'a S) -> V) -> Option<Shape> {
    Some(V::SHAPE)
}

/// The text of a variant's name, for derived enums.
pub fn named(name: &str, out: &mut Values) {
    out.push(Value::Text(name.into()));
}

/// The layout of `T` where it has one. The derives take `<Layout<T>>::SHAPE`, which is [`Layout::SHAPE`] for a type that
/// can be stored and [`NoLayout::SHAPE`] for any other: its error is reported once, by the code that writes the value,
/// and does not keep the constants from finding what else is wrong.
#[derive(Debug)]
pub struct Layout<T: ?Sized>(std::marker::PhantomData<T>);

impl<T: ColumnValue + ?Sized> Layout<T> {
    /// The type's layout.
    pub const SHAPE: Option<Shape> = Some(T::SHAPE);
}

/// What every type has, see [`Layout`].
pub trait NoLayout {
    /// No layout.
    const SHAPE: Option<Shape> = None;
}

impl<T: ?Sized> NoLayout for Layout<T> {}

/// Looks at one step of a path: an `Option` is opened, also one in an `Option`; anything else is taken as it is.
///
/// The derives call `Probe::new(&value.field).__open()`. The compiler looks for the method on [`Probe`], then on what that
/// derefs to, and takes the first that fits the field's type. So all cases read the same in the generated code, which cannot
/// know the type, and no trait has to be in scope. The name is one that no trait of a user has.
#[derive(Debug)]
pub struct Probe<'a, T>(Single<'a, T>);

/// What a [`Probe`] falls back on: an `Option`.
#[derive(Debug)]
pub struct Single<'a, T>(Plain<'a, T>);

/// What a [`Single`] falls back on: any other value.
#[derive(Debug)]
pub struct Plain<'a, T>(&'a T);

impl<'a, T> Probe<'a, T> {
    /// Looks at `value`.
    pub fn new(value: &'a T) -> Self {
        Probe(Single(Plain(value)))
    }
}

impl<'a, T> Probe<'a, Option<Option<T>>> {
    /// What is inside of both, if anything.
    pub fn __open(&self) -> Option<&'a T> {
        self.0.0.0.as_ref()?.as_ref()
    }
}

impl<'a, T> Single<'a, Option<T>> {
    /// What is inside, if anything.
    pub fn __open(&self) -> Option<&'a T> {
        self.0.0.as_ref()
    }
}

impl<'a, T> Plain<'a, T> {
    /// The value itself.
    pub fn __open(&self) -> Option<&'a T> {
        Some(self.0)
    }
}

impl<'a, T> std::ops::Deref for Probe<'a, T> {
    type Target = Single<'a, T>;

    fn deref(&self) -> &Single<'a, T> {
        &self.0
    }
}

impl<'a, T> std::ops::Deref for Single<'a, T> {
    type Target = Plain<'a, T>;

    fn deref(&self) -> &Plain<'a, T> {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Probe;

    #[test]
    fn a_probe_opens_what_may_be_absent_and_takes_anything_else_as_it_is() {
        let (plain, one, two) = (7, Some(7), Some(Some(7)));
        assert_eq!(Probe::new(&plain).__open(), Some(&7));
        assert_eq!(Probe::new(&one).__open(), Some(&7));
        assert_eq!(Probe::new(&two).__open(), Some(&7));
        for absent in [None, Some(None::<i32>)] {
            assert_eq!(Probe::new(&absent).__open(), None);
        }
        assert_eq!(Probe::new(&None::<i32>).__open(), None);
    }
}
