//! The Rust values with which the values of a column can be compared.

use super::{ColumnValue, Value, Values};
use class::{Anything, Integers, Moments, NamesOf, Numbers, Texts, Truths};

/// A Rust type that is one column, which [`Literal`]s of its class can be compared with.
///
/// Implemented for all types of the library that are one column, by `#[derive(ColumnValue)]` for unit enums, and by
/// [`wire_enum!`](crate::wire_enum). A type with a hand-written [`ColumnValue`] declares by this which literals it takes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not one column that can be compared or ordered by",
    label = "this is several columns, or it has no values to compare with",
    note = "name one of the columns of a composite or nested struct with `.part(...)`",
    note = "of a type with a `ColumnValue` of its own, implement `ingester_core::value::Scalar`, or take the handle's `.dynamic()`"
)]
pub trait Scalar {
    /// One of [`class`].
    type Class;
}

/// A value that columns of class `C` can be compared with.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be compared with a column of `{C}`",
    label = "no value that the column could have",
    note = "a column of text takes `&str` and `String`, that of an enum also the enum's own values, one of integers all integers up \
            to 64 bits, one of times `Micros`, `wire::Timestamp`, `wire::Time` and `jiff::Timestamp`",
    note = "for an absent value there are `is_null()` and `is_not_null()`"
)]
pub trait Literal<C>: ColumnValue {
    /// All names that a column of `C` may have, if this is a text and none of them.
    fn unknown_among(&self) -> Option<&'static [&'static str]> {
        None
    }
}

/// An enum whose values are stored by their names. Implemented by `#[derive(ColumnValue)]` for unit enums, and by
/// [`wire_enum!`](crate::wire_enum).
pub trait Names {
    /// The names that are known.
    const ALL: &'static [&'static str];
}

/// Classes of columns for comparisons: types without values.
pub mod class {
    /// Text.
    #[derive(Debug)]
    pub enum Texts {}
    /// Integers.
    #[derive(Debug)]
    pub enum Integers {}
    /// Floating-point numbers.
    #[derive(Debug)]
    pub enum Numbers {}
    /// `true` and `false`.
    #[derive(Debug)]
    pub enum Truths {}
    /// Points in time.
    #[derive(Debug)]
    pub enum Moments {}
    /// The names of the values of an enum.
    #[derive(Debug)]
    pub struct NamesOf<E>(std::marker::PhantomData<fn() -> E>);
    /// Anything: only the table says what.
    #[derive(Debug)]
    pub enum Anything {}

    /// The classes whose columns hold text.
    #[diagnostic::on_unimplemented(
        message = "a column of `{Self}` is not text, and a pattern is for text",
        label = "not a column of text"
    )]
    pub trait Textual {}

    impl Textual for Texts {}
    impl<E> Textual for NamesOf<E> {}
    impl Textual for Anything {}
}

impl<T: Scalar + ?Sized> Scalar for &T {
    type Class = T::Class;
}

impl<T: Scalar + ?Sized> Scalar for Box<T> {
    type Class = T::Class;
}

impl<T: Scalar> Scalar for Option<T> {
    type Class = T::Class;
}

impl<C, T: Literal<C> + ?Sized> Literal<C> for &T {
    fn unknown_among(&self) -> Option<&'static [&'static str]> {
        T::unknown_among(self)
    }
}

/// The class of each type, and what else takes it as a literal.
macro_rules! scalars {
    ($($type:ty: $class:ty $(, $other:ty)*;)*) => { $(
        impl Scalar for $type {
            type Class = $class;
        }
        impl Literal<$class> for $type {}
        impl Literal<Anything> for $type {}
        $( impl Literal<$other> for $type {} )*
    )* };
}

scalars! {
    str: Texts;
    String: Texts;
    std::borrow::Cow<'_, str>: Texts;
    bool: Truths;
    i8: Integers, Numbers;
    i16: Integers, Numbers;
    i32: Integers, Numbers;
    i64: Integers;
    u8: Integers, Numbers;
    u16: Integers, Numbers;
    u32: Integers, Numbers;
    u64: Integers;
    isize: Integers;
    usize: Integers;
    f32: Numbers;
    f64: Numbers;
    super::Micros: Moments;
    jiff::Timestamp: Moments;
}

impl<E: Names> Literal<NamesOf<E>> for str {
    fn unknown_among(&self) -> Option<&'static [&'static str]> {
        (!E::ALL.contains(&self)).then_some(E::ALL)
    }
}

impl<E: Names> Literal<NamesOf<E>> for String {
    fn unknown_among(&self) -> Option<&'static [&'static str]> {
        Literal::<NamesOf<E>>::unknown_among(self.as_str())
    }
}

impl<E: Names> Literal<NamesOf<E>> for std::borrow::Cow<'_, str> {
    fn unknown_among(&self) -> Option<&'static [&'static str]> {
        Literal::<NamesOf<E>>::unknown_among(self.as_ref())
    }
}

/// A list or a map: a column of many values (`#[index(many)]`).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a list nor a map of values",
    label = "a single value",
    note = "a single value is there or not: `is_not_null()`, `is_null()`"
)]
pub trait Several {}

/// A list of [`Scalar`]s: a column of many values, which [`Literal`]s of their class can be compared with.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of values that can be compared",
    label = "not a list of values, each of which is one column",
    note = "`contains` is for a list in a column of many values (`#[index(many)]`); of a map take the value of a key with `at(\"key\")`, \
            and compare a single value with `eq`"
)]
pub trait Elements: Several {
    /// The class of its values.
    type Class;
}

/// A map of [`Scalar`]s: a column of many values, each of which has a key.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no keys",
    label = "not a map of values",
    note = "`at` is for a map in a column of many values (`#[index(many)]`); ask a list whether it `contains` a value"
)]
pub trait Entries: Several {
    /// The class of its values.
    type Class;
}

macro_rules! several {
    ($($trait:ident: [$($parameter:tt)*] $type:ty;)*) => { $(
        impl<T: Scalar, $($parameter)*> Several for $type {}

        impl<T: Scalar, $($parameter)*> $trait for $type {
            type Class = T::Class;
        }
    )* };
}

several! {
    Elements: [] [T];
    Elements: [const N: usize] [T; N];
    Elements: [] Vec<T>;
    Elements: [] std::collections::VecDeque<T>;
    Elements: [] std::collections::BTreeSet<T>;
    Elements: [S] std::collections::HashSet<T, S>;
    Entries: [K] std::collections::BTreeMap<K, T>;
    Entries: [K, S] std::collections::HashMap<K, T, S>;
}

macro_rules! around {
    ($($type:ty $(: $sized:ident)?;)*) => { $(
        impl<T: Several $(+ ?$sized)?> Several for $type {}

        impl<T: Elements $(+ ?$sized)?> Elements for $type {
            type Class = T::Class;
        }

        impl<T: Entries $(+ ?$sized)?> Entries for $type {
            type Class = T::Class;
        }
    )* };
}

around! {
    &T: Sized;
    Box<T>: Sized;
    Option<T>;
}

/// The value of a literal, which is one.
pub fn value_of(literal: &(impl ColumnValue + ?Sized)) -> Value {
    let mut values = Values::default();
    literal.write(&mut values);
    values.into_vec().pop().unwrap_or(Value::Null)
}
