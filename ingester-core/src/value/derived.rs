//! For the code of the derives only, which has to reach values whose types it does not know. Exported in `__private`.

use crate::schema::{Shape, ValueType};
use crate::value::{ColumnValue, ManyValues, Value, Values};

const fn one<V: ColumnValue + ?Sized>() -> ValueType {
    ValueType { shape: V::SHAPE, optional: V::OPTIONAL, null_if_absent: V::NULL_IF_ABSENT }
}

/// A list or a map that is absent has no values, and no column is NULL.
const fn many(shape: Shape) -> ValueType {
    ValueType { shape, optional: false, null_if_absent: false }
}

/// The type that a function returns. With it, the derives learn of the values of a path without knowing its type.
pub const fn type_of<'a, S: 'a + ?Sized, V: ColumnValue>(_: fn(&'a S) -> V) -> Option<ValueType> {
    Some(one::<V>())
}

/// As [`type_of`], for a function that returns a list or a map of many values.
pub const fn type_of_many<'a, S: 'a + ?Sized, V: ManyValues>(_: fn(&'a S) -> V) -> Option<ValueType> {
    Some(many(V::SHAPE))
}

/// The function of `with = function`. It must take a reference: this signature refuses one that does not. With a mere call, rustc would
/// propose changes to code that the user has not written.
pub fn with<'a, A: ?Sized, V>(function: fn(&'a A) -> V) -> fn(&'a A) -> V {
    function
}

/// As [`with`], for `filter = function`.
pub fn filter<S>(function: fn(&S) -> bool) -> fn(&S) -> bool {
    function
}

/// The text of a variant's name, for derived enums.
pub fn named(name: &str, out: &mut Values) {
    out.push(Value::Text(name.into()));
}

/// The columns of `T`, if it can be stored. The derives write `<Layout<T>>::TYPE`, which is [`Layout::TYPE`] for a type that can be stored
/// and [`NoLayout::TYPE`] for any other type. So a type that cannot be stored is reported once, by the code that writes the value, and the
/// constants can still find other mistakes.
#[derive(Debug)]
pub struct Layout<T: ?Sized>(std::marker::PhantomData<T>);

impl<T: ColumnValue + ?Sized> Layout<T> {
    /// The columns of the type.
    pub const TYPE: Option<ValueType> = Some(one::<T>());
}

/// Implemented for every type, see [`Layout`].
pub trait NoLayout {
    /// Nothing.
    const TYPE: Option<ValueType> = None;
}

impl<T: ?Sized> NoLayout for Layout<T> {}

/// As [`Layout`], for a list or a map of many values.
#[derive(Debug)]
pub struct LayoutOfMany<T: ?Sized>(std::marker::PhantomData<T>);

impl<T: ManyValues + ?Sized> LayoutOfMany<T> {
    /// The columns of the type.
    pub const TYPE: Option<ValueType> = Some(many(T::SHAPE));
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
    pub fn __open(&self) -> Maybe<&'a T> {
        Maybe(self.0.0.0.as_ref().and_then(Option::as_ref))
    }
}

impl<'a, T> Single<'a, Option<T>> {
    /// The value inside, if any.
    pub fn __open(&self) -> Maybe<&'a T> {
        Maybe(self.0.0.as_ref())
    }
}

impl<'a, T> Plain<'a, T> {
    /// The value itself.
    pub fn __open(&self) -> There<&'a T> {
        There(self.0)
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

/// The value of a path without an `Option`: every object has it.
#[derive(Debug)]
pub struct There<T>(T);

/// The value of a path that ends in an `Option`: an object may have none.
#[derive(Debug)]
pub struct Maybe<T>(Option<T>);

/// The value of a path with an `Option` only on the way: if that has a value, so has the end of the path.
#[derive(Debug)]
pub struct Within<T>(Option<T>);

/// One of these, so that one step can follow another.
pub trait Reached: Sized {
    /// The same inside an `Option`.
    type Inside;

    /// Puts it there.
    fn inside(reached: Option<Self>) -> Self::Inside;
}

impl<T> Reached for There<T> {
    type Inside = Within<T>;

    fn inside(reached: Option<Self>) -> Within<T> {
        Within(reached.map(|there| there.0))
    }
}

impl<T> Reached for Maybe<T> {
    type Inside = Maybe<T>;

    fn inside(reached: Option<Self>) -> Maybe<T> {
        Maybe(reached.and_then(|maybe| maybe.0))
    }
}

impl<T> Reached for Within<T> {
    type Inside = Within<T>;

    fn inside(reached: Option<Self>) -> Within<T> {
        Within(reached.and_then(|within| within.0))
    }
}

impl<T> There<T> {
    /// The next step of the path.
    pub fn __then<R: Reached>(self, step: impl FnOnce(T) -> R) -> R {
        step(self.0)
    }

    /// Applies a function to it.
    pub fn __map<R>(self, with: impl FnOnce(T) -> R) -> There<R> {
        There(with(self.0))
    }

    /// The column's value, of a type that is never NULL.
    pub fn __value(self) -> T {
        self.0
    }
}

impl<T> Maybe<T> {
    /// The next step of the path.
    pub fn __then<R: Reached>(self, step: impl FnOnce(T) -> R) -> R::Inside {
        R::inside(self.0.map(step))
    }

    /// Applies a function to it.
    pub fn __map<R>(self, with: impl FnOnce(T) -> R) -> Maybe<R> {
        Maybe(self.0.map(with))
    }

    /// The column's value.
    pub fn __value(self) -> Option<T> {
        self.0
    }
}

impl<T> Within<T> {
    /// The next step of the path.
    pub fn __then<R: Reached>(self, step: impl FnOnce(T) -> R) -> R::Inside {
        R::inside(self.0.map(step))
    }

    /// Applies a function to it.
    pub fn __map<R>(self, with: impl FnOnce(T) -> R) -> Within<R> {
        Within(self.0.map(with))
    }

    /// The column's value, of a type that is not always NULL if there is none.
    pub fn __value(self) -> Self {
        self
    }
}

impl<T: ColumnValue> ColumnValue for Within<T> {
    const SHAPE: Shape = T::SHAPE;
    const OPTIONAL: bool = true;
    const NULL_IF_ABSENT: bool = T::NULL_IF_ABSENT;

    fn write(&self, out: &mut Values) {
        self.0.write(out);
    }
}

impl<T: ManyValues> ManyValues for Within<T> {
    const SHAPE: Shape = T::SHAPE;

    fn write(&self, out: &mut Values) {
        self.0.write(out);
    }
}

#[cfg(test)]
mod tests {
    use super::{Probe, type_of};
    use crate::schema::ValueType;
    use crate::value::ColumnValue;
    use crate::wire::Time;
    use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

    #[test]
    fn a_probe_opens_what_may_be_absent_and_takes_anything_else_as_it_is() {
        let plain = 7;
        let one = Some(7);
        let two = Some(Some(7));
        assert_eq!(Probe::new(&plain).__open().__value(), &7);
        assert_eq!(Probe::new(&one).__open().__value(), Some(&7));
        assert_eq!(Probe::new(&two).__open().__value(), Some(&7));
        for absent in [None, Some(None::<i32>)] {
            assert_eq!(Probe::new(&absent).__open().__value(), None);
        }
        assert_eq!(Probe::new(&None::<i32>).__open().__value(), None);
    }

    /// Returns true if the values that a function returns can be absent.
    fn optional<'a, S: 'a, V: ColumnValue>(function: fn(&'a S) -> V) -> bool {
        type_of(function).is_some_and(|ValueType { optional, .. }| optional)
    }

    fn null_if_absent<'a, S: 'a, V: ColumnValue>(function: fn(&'a S) -> V) -> bool {
        type_of(function).is_some_and(|ValueType { null_if_absent, .. }| null_if_absent)
    }

    #[test]
    fn a_path_is_optional_where_it_or_what_it_leads_to_is() {
        struct Inner {
            there: String,
            maybe: Box<Option<String>>,
        }
        struct Outer {
            inner: Inner,
            maybe: Option<Inner>,
        }
        fn there(outer: &Outer) -> impl ColumnValue {
            Probe::new(&outer.inner).__open().__then(|inner| Probe::new(&inner.there).__open()).__value()
        }
        fn last(outer: &Outer) -> impl ColumnValue {
            Probe::new(&outer.inner).__open().__then(|inner| Probe::new(&inner.maybe).__open()).__value()
        }
        fn on_the_way(outer: &Outer) -> impl ColumnValue {
            Probe::new(&outer.maybe).__open().__then(|inner| Probe::new(&inner.there).__open()).__value()
        }
        fn by_function(outer: &Outer) -> impl ColumnValue {
            Probe::new(&outer.inner).__open().__map(|inner| inner.maybe.as_ref().as_ref()).__value()
        }
        fn with_a_value(outer: &Outer) -> impl ColumnValue {
            Probe::new(&outer.inner).__open().__map(|inner| inner.there.len()).__value()
        }
        assert_eq!((optional(there), optional(last), optional(on_the_way)), (false, true, true));
        // `there` in `maybe` is "" where `maybe` has none.
        assert_eq!((null_if_absent(there), null_if_absent(last), null_if_absent(on_the_way)), (false, true, false));
        assert_eq!((optional(by_function), optional(with_a_value)), (true, false));
    }

    #[test]
    fn a_type_is_optional_if_some_of_its_values_are_stored_as_null() {
        let plain = [String::OPTIONAL, <&str>::OPTIONAL, <Box<bool>>::OPTIONAL, i32::OPTIONAL, Time::OPTIONAL];
        assert_eq!(plain, [false; 5]);
        // A text that is not a quantity is NULL.
        let optional =
            [<Option<String>>::OPTIONAL, <&Option<i32>>::OPTIONAL, <Box<Option<bool>>>::OPTIONAL, Quantity::OPTIONAL];
        assert_eq!(optional, [true; 4]);
    }
}
