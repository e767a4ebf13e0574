//! What the code of the derives needs to reach values whose types it cannot know. Nobody else does: `__private` has it.

use crate::schema::Shape;
use crate::value::{ColumnValue, Value, Values};

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
