//! Columns as Rust knows them: a [`Handle`] has the struct that a column is of and the type of its values, so that a comparison with
//! a value of another type does not compile. The derives make the handles.
//!
//! ```
//! # use ingester_core::query::{Filter, Test};
//! # use ingester_core::value::Value;
//! # use ingester_core::{ColumnValue, Ingestable};
//! #[derive(ColumnValue, serde::Deserialize)]
//! struct Place {
//!     street: String,
//!     number: i32,
//! }
//!
//! #[derive(Ingestable, serde::Deserialize)]
//! #[ingest(group = "example.com", version = "v1", kind = "House", namespaced = false)]
//! struct House {
//!     #[index]
//!     colour: String,
//!     #[index]
//!     place: Option<Place>,
//! }
//!
//! let red = House::colour().eq("red");
//! let first = House::place().part(Place::number()).le(10);
//! let both: Filter = red.and(first).into();
//! assert_eq!(
//!     both,
//!     Filter::field("colour", Test::Equal(Value::text("red")))
//!         .and(Filter::field("place_number", Test::LessOrEqual(Value::Int(10))))
//! );
//! let newest = House::create_time().desc();
//! # let _ = newest;
//! ```

use super::{Filter, Order, Test};
use crate::schema::Ident;
use crate::value::class::{Anything, Textual};
use crate::value::{Elements, Entries, Literal, Scalar, Several, value_of};
use std::fmt;
use std::marker::PhantomData;

/// A column of `S` whose values are of type `V`.
///
/// `S` is the type of a kind's objects (`Model`), for the columns of its spec and those that every kind has; the struct of its status
/// (`ModelStatus`); or a composite or nested struct, whose handles name the columns of a field ([`Handle::part`]).
pub struct Handle<S, V> {
    name: Ident,
    of: PhantomData<fn() -> (S, V)>,
}

/// A condition on objects, by columns of `S`.
#[must_use = "a condition does nothing until a query has it"]
pub struct Predicate<S> {
    filter: Filter,
    of: PhantomData<fn() -> S>,
}

/// A step of an order, by a column of `S`.
#[must_use = "an order does nothing until a query has it"]
pub struct Sort<S> {
    order: Order,
    of: PhantomData<fn() -> S>,
}

/// The type of a column's values if their Rust type has no name: the column of a `path` or of a function. Any literal may be compared with
/// it; a literal that does not fit the column's SQL type is an error when the query is checked.
#[derive(Debug)]
pub enum Dynamic {}

impl Scalar for Dynamic {
    type Class = Anything;
}

impl Several for Dynamic {}

impl Elements for Dynamic {
    type Class = Anything;
}

impl Entries for Dynamic {
    type Class = Anything;
}

/// The value for one key of a map in a column of many values of `S`. It compares like a `V`.
pub struct Entry<S, V> {
    field: String,
    of: PhantomData<fn() -> (S, V)>,
}

/// A struct whose columns are in the table of `R`: the type of a kind's objects itself, and the struct of its status. Derived:
/// `#[derive(Ingestable)]`.
#[diagnostic::on_unimplemented(
    message = "a column of `{Self}` is not one of `{R}`",
    label = "of another kind, or of a struct that is part of none by itself",
    note = "a query for a kind takes the handles of its type (`Model::algorithm()`) and of its status (`ModelStatus::state()`); those of \
            a composite go into the handle of the field (`Model::dataset().part(Dataset::name())`)"
)]
pub trait PartOf<R> {}

impl<R> PartOf<R> for R {}

/// A Rust type that has the columns of `I` inside. Derived: `#[derive(ColumnValue)]` on a struct, and `#[derive(Indexed)]`.
#[diagnostic::on_unimplemented(
    message = "a value of `{Self}` has no columns of that struct",
    label = "the handle of another struct",
    note = "name the column by a handle of the field's own type"
)]
pub trait Parts<I> {}

impl<I> Parts<I> for Dynamic {}
impl<I, T: Parts<I>> Parts<I> for Option<T> {}
impl<I, T: Parts<I>> Parts<I> for Box<T> {}

impl<S, V> Handle<S, V> {
    /// Makes a handle by hand; the derives make the handles of all columns. A column that the table does not have is an error when the
    /// query is checked.
    pub const fn named(column: &str) -> Self {
        Handle { name: Ident::tolerant(column, ""), of: PhantomData }
    }

    /// The column's name.
    pub const fn column(&self) -> &str {
        self.name.as_str()
    }

    /// One of the columns that this field has: `PipelineRun::pipeline().part(ResourceIdentifier::name())`.
    pub const fn part<I, W>(self, part: Handle<I, W>) -> Handle<S, W>
    where
        V: Parts<I>,
    {
        Handle { name: Ident::tolerant(self.name.as_str(), part.name.as_str()), of: PhantomData }
    }

    /// Returns a handle of the same column that can be compared with any literal.
    pub const fn dynamic(self) -> Handle<S, Dynamic> {
        Handle { name: self.name, of: PhantomData }
    }

    fn predicate(&self, test: Test) -> Predicate<S> {
        Predicate::new(Filter::field(self.column().to_owned(), test))
    }

    fn order(&self, descending: bool) -> Sort<S> {
        Sort { order: Order { field: self.column().to_owned().into(), descending }, of: PhantomData }
    }
}

/// The field has this value.
fn equal<S, C>(field: String, value: &impl Literal<C>) -> Predicate<S> {
    Predicate::new(match unknown(&field, value) {
        Some(unknown) => unknown,
        None => Filter::field(field, Test::Equal(value_of(value))),
    })
}

/// The field has one of these values.
fn one_of<S, C, L: Literal<C>>(field: String, values: impl IntoIterator<Item = L>) -> Predicate<S> {
    let values: Vec<L> = values.into_iter().collect();
    Predicate::new(match values.iter().find_map(|value| unknown(&field, value)) {
        Some(unknown) => unknown,
        None => Filter::field(field, Test::In(values.iter().map(value_of).collect())),
    })
}

/// The filter of a text that is not one of an enum's names.
fn unknown<C>(field: &str, value: &impl Literal<C>) -> Option<Filter> {
    let known = value.unknown_among()?;
    Some(Filter::UnknownName { field: field.to_owned().into(), name: value_of(value).to_string(), known })
}

/// The comparisons. One with an absent value never holds, so its negation does.
///
/// A text that is compared with a column of an enum must be one of the enum's names: another one is an error when the query is checked, unless
/// it is asked for by [`Handle::dynamic`]. Orders (`lt`, `ge`) and patterns take any text.
impl<S, V> Handle<S, V> {
    /// The value is this one.
    pub fn eq(self, value: impl Literal<V::Class>) -> Predicate<S>
    where
        V: Scalar,
    {
        equal(self.column().to_owned(), &value)
    }

    /// The value is not this one, or there is none.
    pub fn ne(self, value: impl Literal<V::Class>) -> Predicate<S>
    where
        V: Scalar,
    {
        !self.eq(value)
    }

    /// The value is less.
    pub fn lt(self, value: impl Literal<V::Class>) -> Predicate<S>
    where
        V: Scalar,
    {
        self.predicate(Test::Less(value_of(&value)))
    }

    /// The value is less, or this one.
    pub fn le(self, value: impl Literal<V::Class>) -> Predicate<S>
    where
        V: Scalar,
    {
        self.predicate(Test::LessOrEqual(value_of(&value)))
    }

    /// The value is greater.
    pub fn gt(self, value: impl Literal<V::Class>) -> Predicate<S>
    where
        V: Scalar,
    {
        self.predicate(Test::Greater(value_of(&value)))
    }

    /// The value is greater, or this one.
    pub fn ge(self, value: impl Literal<V::Class>) -> Predicate<S>
    where
        V: Scalar,
    {
        self.predicate(Test::GreaterOrEqual(value_of(&value)))
    }

    /// The value is one of these.
    pub fn is_in<L: Literal<V::Class>>(self, values: impl IntoIterator<Item = L>) -> Predicate<S>
    where
        V: Scalar,
    {
        one_of(self.column().to_owned(), values)
    }

    /// The value is none of these, or there is none.
    pub fn not_in<L: Literal<V::Class>>(self, values: impl IntoIterator<Item = L>) -> Predicate<S>
    where
        V: Scalar,
    {
        !self.is_in(values)
    }

    /// There is no value.
    pub fn is_null(self) -> Predicate<S>
    where
        V: Scalar,
    {
        !self.is_not_null()
    }

    /// There is a value.
    pub fn is_not_null(self) -> Predicate<S>
    where
        V: Scalar,
    {
        self.predicate(Test::Exists)
    }

    /// The value is a text like this pattern, in which `%` stands for any characters, `_` for one, and `\` escapes the next one.
    pub fn like(self, pattern: impl Into<String>) -> Predicate<S>
    where
        V: Scalar<Class: Textual>,
    {
        self.predicate(Test::Like(pattern.into()))
    }

    /// Orders from the least to the greatest; missing values come first.
    pub fn asc(self) -> Sort<S>
    where
        V: Scalar,
    {
        self.order(false)
    }

    /// Orders from the greatest to the least; missing values come last.
    pub fn desc(self) -> Sort<S>
    where
        V: Scalar,
    {
        self.order(true)
    }
}

/// The conditions on a column of many values (`#[index(many)]`).
impl<S, V: Several> Handle<S, V> {
    /// One of the values is this one.
    pub fn contains(self, value: impl Literal<V::Class>) -> Predicate<S>
    where
        V: Elements,
    {
        equal(self.column().to_owned(), &value)
    }

    /// One of the values is one of these.
    pub fn contains_any<L: Literal<V::Class>>(self, values: impl IntoIterator<Item = L>) -> Predicate<S>
    where
        V: Elements,
    {
        one_of(self.column().to_owned(), values)
    }

    /// One of the values is a text like this pattern, see [`Handle::like`].
    pub fn contains_like(self, pattern: impl Into<String>) -> Predicate<S>
    where
        V: Elements<Class: Textual>,
    {
        self.predicate(Test::Like(pattern.into()))
    }

    /// There is no value.
    pub fn has_none(self) -> Predicate<S> {
        !self.has_some()
    }

    /// There is at least one value.
    pub fn has_some(self) -> Predicate<S> {
        self.predicate(Test::Exists)
    }

    /// The value that a map has for this key.
    pub fn at(self, key: &str) -> Entry<S, V>
    where
        V: Entries,
    {
        Entry { field: format!("{}[\"{key}\"]", self.column()), of: PhantomData }
    }
}

/// The conditions on what a map has for a key. A comparison with what is not there never holds, so its negation does.
impl<S, V: Entries> Entry<S, V> {
    fn predicate(self, test: Test) -> Predicate<S> {
        Predicate::new(Filter::field(self.field, test))
    }

    /// The value is this one.
    pub fn eq(self, value: impl Literal<V::Class>) -> Predicate<S> {
        equal(self.field, &value)
    }

    /// The value is not this one, or there is none.
    pub fn ne(self, value: impl Literal<V::Class>) -> Predicate<S> {
        !self.eq(value)
    }

    /// The value is less.
    pub fn lt(self, value: impl Literal<V::Class>) -> Predicate<S> {
        self.predicate(Test::Less(value_of(&value)))
    }

    /// The value is greater.
    pub fn gt(self, value: impl Literal<V::Class>) -> Predicate<S> {
        self.predicate(Test::Greater(value_of(&value)))
    }

    /// The value is one of these.
    pub fn is_in<L: Literal<V::Class>>(self, values: impl IntoIterator<Item = L>) -> Predicate<S> {
        one_of(self.field, values)
    }

    /// The key is not there.
    pub fn is_absent(self) -> Predicate<S> {
        !self.is_present()
    }

    /// The key is there.
    pub fn is_present(self) -> Predicate<S> {
        self.predicate(Test::Exists)
    }
}

impl<S> Predicate<S> {
    /// A condition that is not by a handle, such as one on a label.
    pub fn new(filter: Filter) -> Self {
        Predicate { filter, of: PhantomData }
    }

    /// Holds if both conditions hold.
    pub fn and<T: PartOf<S>>(self, other: Predicate<T>) -> Self {
        Predicate::new(self.filter.and(other.filter))
    }

    /// Holds if one of the conditions holds.
    pub fn or<T: PartOf<S>>(self, other: Predicate<T>) -> Self {
        Predicate::new(self.filter.or(other.filter))
    }

    /// Returns the same condition on the kind whose status is `S`.
    pub fn of<R>(self) -> Predicate<R>
    where
        S: PartOf<R>,
    {
        Predicate::new(self.filter)
    }
}

impl<S> std::ops::Not for Predicate<S> {
    type Output = Self;

    fn not(self) -> Self {
        Predicate::new(self.filter.negated())
    }
}

impl<S> From<Predicate<S>> for Filter {
    fn from(predicate: Predicate<S>) -> Filter {
        predicate.filter
    }
}

impl<S> From<Sort<S>> for Order {
    fn from(sort: Sort<S>) -> Order {
        sort.order
    }
}

// Not derived: that would ask the same of `S` and `V`.
impl<S, V> Clone for Handle<S, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, V> Copy for Handle<S, V> {}

impl<S, V> fmt::Debug for Handle<S, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle({:?})", self.name)
    }
}

impl<S> Clone for Predicate<S> {
    fn clone(&self) -> Self {
        Predicate::new(self.filter.clone())
    }
}

impl<S> fmt::Debug for Predicate<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.filter.fmt(f)
    }
}

impl<S> Clone for Sort<S> {
    fn clone(&self) -> Self {
        Sort { order: self.order.clone(), of: PhantomData }
    }
}

impl<S> fmt::Debug for Sort<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.order.fmt(f)
    }
}

/// The handles of the columns that every kind has, for its type `$root`. For the derive.
#[doc(hidden)]
#[macro_export]
macro_rules! __base_handles {
    ($root:ty) => {
        $crate::__private::base_handles! { $root:
            uid: ::std::string::String = "Column `uid`: `metadata.uid`.",
            group_ver: ::std::string::String = "Column `group_ver`: `apiVersion`.",
            namespace: ::std::string::String = "Column `namespace`: `metadata.namespace`, empty for an object without.",
            name: ::std::string::String = "Column `name`: `metadata.name`.",
            res_version: u64 = "Column `res_version`: `metadata.resourceVersion`.",
            create_time: $crate::value::Micros = "Column `create_time`: `metadata.creationTimestamp`.",
            update_time: $crate::value::Micros = "Column `update_time`: when the row was last written.",
            delete_time: $crate::value::Micros = "Column `delete_time`: when the object was deleted.",
            evict_time: $crate::value::Micros = "Column `evict_time`: when the object left etcd for SQL.",
        }
    };
    ($root:ty: $($name:ident: $ty:ty = $doc:literal,)*) => {
        #[automatically_derived]
        impl $root {
            $(
                #[doc = $doc]
                pub fn $name() -> $crate::query::Handle<$root, $ty> {
                    $crate::query::Handle::named(::core::stringify!($name))
                }
            )*
        }
    };
}

#[cfg(test)]
mod tests {
    use super::{Dynamic, Handle, PartOf, Parts, Predicate};
    use crate::query::{Filter, Order, Test};
    use crate::value::{Micros, Value};

    crate::wire_enum! {
        /// For the tests.
        enum Phase {
            /// None.
            Invalid = 0 => "PHASE_INVALID",
            /// On.
            On = 1 => "PHASE_ON",
        }
    }

    struct Widget;
    struct WidgetStatus;
    struct Place;

    impl PartOf<Widget> for WidgetStatus {}
    impl Parts<Place> for Place {}

    const COLOUR: Handle<Widget, Option<String>> = Handle::named("colour");
    const SIZE: Handle<Widget, i32> = Handle::named("size");
    const PHASE: Handle<WidgetStatus, Phase> = Handle::named("phase");
    const PLACE: Handle<Widget, Option<Place>> = Handle::named("place");

    /// Checks the filter of a condition.
    #[track_caller]
    fn is<S>(predicate: Predicate<S>, field: &'static str, test: Test) {
        assert_eq!(Filter::from(predicate), Filter::field(field, test));
    }

    /// Checks the filter of the negation of a condition.
    #[track_caller]
    fn is_not<S>(predicate: Predicate<S>, field: &'static str, test: Test) {
        assert_eq!(Filter::from(predicate), Filter::field(field, test).negated());
    }

    #[test]
    fn each_comparison_is_a_test_of_the_column() {
        let value = || Value::Int(7);
        is(SIZE.eq(7), "size", Test::Equal(value()));
        is_not(SIZE.ne(7), "size", Test::Equal(value()));
        is(SIZE.lt(7), "size", Test::Less(value()));
        is(SIZE.le(7), "size", Test::LessOrEqual(value()));
        is(SIZE.gt(7), "size", Test::Greater(value()));
        is(SIZE.ge(7), "size", Test::GreaterOrEqual(value()));
        is(SIZE.is_in([7_i64, 8]), "size", Test::In(vec![value(), Value::Int(8)]));
        is_not(SIZE.not_in([7]), "size", Test::In(vec![value()]));
        is(SIZE.is_not_null(), "size", Test::Exists);
        is_not(SIZE.is_null(), "size", Test::Exists);
        is(COLOUR.like("re%"), "colour", Test::Like("re%".into()));
    }

    #[test]
    fn text_and_enums_take_texts_and_times_take_every_type_of_time() {
        let red = || Test::Equal(Value::text("red"));
        is(COLOUR.eq("red"), "colour", red());
        is(COLOUR.eq(String::from("red")), "colour", red());
        let owned = String::from("red");
        is(COLOUR.eq(&owned), "colour", red());
        let on = || Test::Equal(Value::text("PHASE_ON"));
        is(PHASE.eq(Phase::On), "phase", on());
        is(PHASE.eq(&Phase::On), "phase", on());
        is(PHASE.eq("PHASE_ON"), "phase", on());
        is(PHASE.like("PHASE_%"), "phase", Test::Like("PHASE_%".into()));
        is(PHASE.gt("PHASE"), "phase", Test::Greater(Value::text("PHASE")));

        let time: Handle<Widget, Option<crate::wire::Timestamp>> = Handle::named("time");
        let second = jiff::Timestamp::from_second(1).unwrap();
        let after = || Test::Greater(Value::Time(Micros(1_000_000)));
        is(time.gt(second), "time", after());
        is(time.gt(Micros(1_000_000)), "time", after());
        is(time.gt(crate::wire::Timestamp(second.into())), "time", after());
        is(time.gt(crate::wire::Time(second.into())), "time", after());
    }

    #[test]
    fn a_text_that_is_none_of_an_enums_names_is_kept_as_a_mistake() {
        let mistake = |name: &str| Filter::UnknownName {
            field: "phase".into(),
            name: name.into(),
            known: &["PHASE_INVALID", "PHASE_ON"],
        };
        let filter = |predicate: Predicate<WidgetStatus>| Filter::from(predicate);
        assert_eq!(filter(PHASE.eq("PHASE_NO")), mistake("PHASE_NO"));
        assert_eq!(filter(PHASE.ne(String::from("on"))), mistake("on").negated());
        assert_eq!(filter(PHASE.is_in(["PHASE_ON", ""])), mistake(""));
        let phases: Handle<WidgetStatus, Vec<Phase>> = Handle::named("phase");
        assert_eq!(filter(phases.contains("x")), mistake("x"));
        // A name that only a later release knows must be asked for explicitly.
        let later = || Test::Equal(Value::text("PHASE_NEXT"));
        is(PHASE.eq(Phase::Unknown("PHASE_NEXT".into())), "phase", later());
        is(PHASE.dynamic().eq("PHASE_NEXT"), "phase", later());
    }

    #[test]
    fn a_column_of_unknown_type_takes_every_literal() {
        let any: Handle<Widget, Dynamic> = Handle::named("any");
        is(any.eq("x"), "any", Test::Equal(Value::text("x")));
        is(any.eq(true), "any", Test::Equal(Value::Bool(true)));
        is(any.eq(1.5), "any", Test::Equal(Value::Double(1.5)));
        is(any.eq(Phase::On), "any", Test::Equal(Value::text("PHASE_ON")));
        is(SIZE.dynamic().eq("7"), "size", Test::Equal(Value::text("7")));
    }

    #[test]
    fn a_part_is_the_column_of_the_field_and_the_part() {
        let street: Handle<Place, String> = Handle::named("street");
        is(PLACE.part(street).eq("x"), "place_street", Test::Equal(Value::text("x")));
        let unknown: Handle<Widget, Dynamic> = Handle::named("home");
        assert_eq!(unknown.part(street).column(), "home_street");
    }

    #[test]
    fn conditions_of_a_kind_and_its_status_are_joined() {
        let red = COLOUR.eq("red");
        let on = PHASE.eq(Phase::On);
        let filter = |predicate: Predicate<Widget>| Filter::from(predicate);
        let of_red = filter(red.clone());
        let of_on = filter(on.clone().of());
        assert_eq!(filter(red.clone().and(on.clone())), of_red.clone().and(of_on.clone()));
        assert_eq!(filter(red.or(!on)), of_red.or(of_on.negated()));
    }

    #[test]
    fn conditions_on_many_values_are_tests_of_the_column_or_of_a_key() {
        let names: Handle<Widget, Option<Vec<String>>> = Handle::named("names");
        let limits: Handle<Widget, std::collections::BTreeMap<String, i64>> = Handle::named("limits");
        is(names.contains("a"), "names", Test::Equal(Value::text("a")));
        is(names.contains_any(["a", "b"]), "names", Test::In(vec![Value::text("a"), Value::text("b")]));
        is(names.contains_like("a%"), "names", Test::Like("a%".into()));
        is(names.has_some(), "names", Test::Exists);
        is_not(names.has_none(), "names", Test::Exists);
        is(limits.at("cpu").eq(4), "limits[\"cpu\"]", Test::Equal(Value::Int(4)));
        is_not(limits.at("cpu").is_absent(), "limits[\"cpu\"]", Test::Exists);
        let any: Handle<Widget, Dynamic> = Handle::named("any");
        is(any.contains("a"), "any", Test::Equal(Value::text("a")));
    }

    #[test]
    fn an_order_is_by_the_column() {
        assert_eq!(Order::from(SIZE.asc()), Order { field: "size".into(), descending: false });
        assert_eq!(Order::from(PHASE.desc()), Order { field: "phase".into(), descending: true });
    }
}
