//! For the code of the derives only, which has to reach values whose types it does not know. Exported in `__private`.

use crate::schema::Shape;
use crate::value::{ColumnValue, ManyValues, Value, Values};

/// The shape of what a function returns. With it, the derives name the shape of a path without knowing its type.
pub const fn shape_of<'a, S: 'a + ?Sized, V: ColumnValue>(_: fn(&'a S) -> V) -> Option<Shape> {
    Some(V::SHAPE)
}

/// As [`shape_of`], for a function that returns a list or a map of many values.
pub const fn shape_of_many<'a, S: 'a + ?Sized, V: ManyValues>(_: fn(&'a S) -> V) -> Option<Shape> {
    Some(V::SHAPE)
}

/// The text of a variant's name, for derived enums.
pub fn named(name: &str, out: &mut Values) {
    out.push(Value::Text(name.into()));
}

/// The shape of `T`, if it has one. The derives write `<Layout<T>>::SHAPE`, which is [`Layout::SHAPE`] for a type that can be
/// stored and [`NoLayout::SHAPE`] for any other type. So a type that cannot be stored is reported once, by the code that writes the
/// value, and the constants can still find other mistakes.
#[derive(Debug)]
pub struct Layout<T: ?Sized>(std::marker::PhantomData<T>);

impl<T: ColumnValue + ?Sized> Layout<T> {
    /// The type's shape.
    pub const SHAPE: Option<Shape> = Some(T::SHAPE);
}

/// Implemented for every type, see [`Layout`].
pub trait NoLayout {
    /// No shape.
    const SHAPE: Option<Shape> = None;
}

impl<T: ?Sized> NoLayout for Layout<T> {}

/// As [`Layout`], for a list or a map of many values.
#[derive(Debug)]
pub struct LayoutOfMany<T: ?Sized>(std::marker::PhantomData<T>);

impl<T: ManyValues + ?Sized> LayoutOfMany<T> {
    /// The type's shape.
    pub const SHAPE: Option<Shape> = Some(T::SHAPE);
}

impl<T: ?Sized> NoLayout for LayoutOfMany<T> {}

/// One step of a path: opens an `Option`, also an `Option` in an `Option`, and returns any other value as it is.
///
/// The derives call `Probe::new(&value.field).__open()`. The compiler looks for the method on [`Probe`], then on the types to which
/// it derefs, and takes the first one that fits the field's type. So the generated code is the same in all cases, because it cannot
/// know the type, and needs no trait in scope. No trait of a user has a method of this name.
#[derive(Debug)]
pub struct Probe<'a, T>(Single<'a, T>);

/// The fallback of a [`Probe`]: an `Option`.
#[derive(Debug)]
pub struct Single<'a, T>(Plain<'a, T>);

/// The fallback of a [`Single`]: any other value.
#[derive(Debug)]
pub struct Plain<'a, T>(&'a T);

impl<'a, T> Probe<'a, T> {
    /// Wraps `value`.
    pub fn new(value: &'a T) -> Self {
        Probe(Single(Plain(value)))
    }
}

impl<'a, T> Probe<'a, Option<Option<T>>> {
    /// The value inside both, if any.
    pub fn __open(&self) -> Option<&'a T> {
        self.0.0.0.as_ref()?.as_ref()
    }
}

impl<'a, T> Single<'a, Option<T>> {
    /// The value inside, if any.
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
