//! [`ManyValues`] and its implementations for lists and maps.

use crate::schema::{Form, Part, Shape};
use crate::value::{ColumnValue, Values};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

/// A list or a map whose values a column of many values has (`#[index(many)]`), each in a row of the table `<table>_<column>`.
///
/// Implemented for vectors, slices, arrays and sets of [`ColumnValue`]s that are texts, integers or times, for maps of such values whose
/// keys are texts, and for references, boxes and `Option`s of all these.
///
/// A list has each value once, in no order. Absent values ([`None`]) are passed over. MySQL ignores blanks at the ends of texts when it
/// compares them, so texts and keys are stored without such blanks, in every database.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a list nor a map of values",
    label = "`many` is for a list or a map",
    note = "a vector, a slice, a set or a map of texts, integers or times has many values, and so has an `Option` of one;",
    note = "make one with `#[index(many, with = function)]`, or leave `many` out for a single value"
)]
pub trait ManyValues {
    /// The one part, which says whether this is a list or a map, and the type of its values.
    const SHAPE: Shape;

    /// Adds the values of one list or map.
    fn write(&self, out: &mut Values);

    /// Adds an absent list or map: no values.
    fn write_absent(out: &mut Values) {
        out.push_many(Vec::new());
    }
}

/// A Rust type that may be the key of a map of many values.
pub trait ManyKey {
    /// The key.
    fn key(&self) -> &str;
}

impl ManyKey for String {
    fn key(&self) -> &str {
        self
    }
}

impl ManyKey for str {
    fn key(&self) -> &str {
        self
    }
}

impl ManyKey for Box<str> {
    fn key(&self) -> &str {
        self
    }
}

impl ManyKey for std::borrow::Cow<'_, str> {
    fn key(&self) -> &str {
        self
    }
}

impl<T: ManyKey + ?Sized> ManyKey for &T {
    fn key(&self) -> &str {
        T::key(self)
    }
}

/// The shape of a list of these.
const fn list<T: ColumnValue>() -> Part {
    Part::many(Form::List, T::SHAPE)
}

/// The shape of a map of these.
const fn map<T: ColumnValue>() -> Part {
    Part::many(Form::Map, T::SHAPE)
}

impl<T: ColumnValue> ManyValues for [T] {
    const SHAPE: Shape = Shape { parts: &[list::<T>()] };

    fn write(&self, out: &mut Values) {
        out.push_list(self);
    }
}

impl<T: ColumnValue, const N: usize> ManyValues for [T; N] {
    const SHAPE: Shape = <[T]>::SHAPE;

    fn write(&self, out: &mut Values) {
        out.push_list(self);
    }
}

macro_rules! lists {
    ($($type:ident $(<$hasher:ident>)?),*) => { $(
        impl<T: ColumnValue $(, $hasher)?> ManyValues for $type<T $(, $hasher)?> {
            const SHAPE: Shape = <[T]>::SHAPE;

            fn write(&self, out: &mut Values) {
                out.push_list(self);
            }
        }
    )* };
}

lists!(Vec, VecDeque, BTreeSet, HashSet<S>);

macro_rules! maps {
    ($($type:ident $(<$hasher:ident>)?),*) => { $(
        impl<K: ManyKey, T: ColumnValue $(, $hasher)?> ManyValues for $type<K, T $(, $hasher)?> {
            const SHAPE: Shape = Shape { parts: &[map::<T>()] };

            fn write(&self, out: &mut Values) {
                out.push_map(self.iter().map(|(key, value)| (key.key(), value)));
            }
        }
    )* };
}

maps!(BTreeMap, HashMap<S>);

impl<T: ManyValues + ?Sized> ManyValues for &T {
    const SHAPE: Shape = T::SHAPE;

    fn write(&self, out: &mut Values) {
        T::write(self, out);
    }
}

impl<T: ManyValues + ?Sized> ManyValues for Box<T> {
    const SHAPE: Shape = T::SHAPE;

    fn write(&self, out: &mut Values) {
        T::write(self, out);
    }
}

impl<T: ManyValues> ManyValues for Option<T> {
    const SHAPE: Shape = T::SHAPE;

    fn write(&self, out: &mut Values) {
        match self {
            Some(values) => values.write(out),
            None => T::write_absent(out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::SqlType;
    use crate::value::Micros;

    /// The pairs of the values, and the type.
    fn written<M: ManyValues>(values: M) -> (SqlType, Vec<(String, String)>) {
        let mut out = Values::default();
        values.write(&mut out);
        let (columns, many) = out.into_parts();
        assert_eq!((columns.len(), many.len()), (0, 1));
        let pairs = many[0].iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        (M::SHAPE.parts[0].ty, pairs)
    }

    fn list<M: ManyValues>(values: M) -> Vec<String> {
        assert_eq!(M::SHAPE.parts[0].many, Some(Form::List));
        let (_, pairs) = written(values);
        assert!(pairs.iter().all(|(_, value)| value.is_empty()));
        pairs.into_iter().map(|(key, _)| key).collect()
    }

    #[test]
    fn a_list_has_each_value_once_and_none_that_is_absent() {
        assert_eq!(list(vec!["b", "a", "b", ""]), ["", "a", "b"]);
        assert_eq!(list(vec![Some("b"), None, Some("a")]), ["a", "b"]);
        assert_eq!(list(Vec::<String>::new()), [""; 0]);
        assert_eq!(list(None::<Vec<String>>), [""; 0]);
        assert_eq!(list(Some(&["x"][..])), ["x"]);
        assert_eq!(list(Box::<[Box<str>]>::from(["x".into()])), ["x"]);
    }

    #[test]
    fn blanks_at_the_end_of_a_text_do_not_count() {
        assert_eq!(list(["a ", "a", " a", "a\t"]), [" a", "a", "a\t"]);
        let (_, pairs) = written(BTreeMap::from([("k ", "v ")]));
        assert_eq!(pairs, [("k".to_owned(), "v".to_owned())]);
    }

    #[test]
    fn integers_and_times_are_texts_that_a_database_gives_back() {
        assert_eq!(list([3_i32, -10, 3]), ["-10", "3"]);
        assert_eq!(list([Micros(0)]), ["1970-01-01 00:00:00.000000"]);
        assert_eq!(written([u64::MAX]).0, SqlType::BigIntUnsigned);
    }

    #[test]
    fn a_map_has_a_value_for_each_key() {
        let map = BTreeMap::from([("b".to_owned(), Some(2)), ("a".to_owned(), Some(1)), ("c".to_owned(), None)]);
        let (ty, pairs) = written(&map);
        assert_eq!(ty, SqlType::Int);
        assert_eq!(pairs, [("a".into(), "1".into()), ("b".into(), "2".into())]);
        assert_eq!(<HashMap<String, String>>::SHAPE.parts[0].many, Some(Form::Map));
    }
}
