//! Conditions and orders, as they are asked: nothing is known yet about the table.

use crate::value::Value;
use std::borrow::Cow;

/// A condition on one object. It holds or it does not: a comparison with a value that is not there does not hold, and its negation
/// does.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// All of these hold.
    And(Vec<Filter>),
    /// At least one of these holds.
    Or(Vec<Filter>),
    /// This does not hold.
    Not(Box<Filter>),
    /// A test of a field.
    Field {
        /// The name of a column (`owner_name`) or the path of a field (`spec.owner.name`).
        field: Cow<'static, str>,
        /// The test.
        test: Test,
    },
    /// A test of a field that has the names of an enum, with a text that is not one of them: an error when the query is checked.
    UnknownName {
        /// The name of the column.
        field: Cow<'static, str>,
        /// The text.
        name: String,
        /// The enum's names.
        known: &'static [&'static str],
    },
    /// A test of the label with this key.
    Label {
        /// The key.
        key: String,
        /// The test.
        test: Test,
    },
    /// A test of the annotation with this key.
    Annotation {
        /// The key.
        key: String,
        /// The test.
        test: Test,
    },
}

/// A test of one value. The operands are converted to the column's type; a text may stand for a value of any type.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// There is a value.
    Exists,
    /// The value is this one.
    Equal(Value),
    /// The value is less.
    Less(Value),
    /// The value is less, or this one.
    LessOrEqual(Value),
    /// The value is greater.
    Greater(Value),
    /// The value is greater, or this one.
    GreaterOrEqual(Value),
    /// The value is one of these.
    In(Vec<Value>),
    /// The value is a text like this pattern: `%` stands for any characters, `_` for one, and `\` escapes the next one. Upper and lower
    /// case differ.
    Like(String),
    /// The value is an empty text, or there is none.
    Empty,
}

impl Test {
    /// Returns true if the test needs values that have an order: less, greater, and the like.
    pub fn is_range(&self) -> bool {
        matches!(self, Test::Less(_) | Test::LessOrEqual(_) | Test::Greater(_) | Test::GreaterOrEqual(_))
    }
}

/// A step of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The name of a column or the path of a field.
    pub field: Cow<'static, str>,
    /// From the greatest to the least. A missing value counts as less than all values.
    pub descending: bool,
}

impl Filter {
    /// A test of a field.
    pub fn field(field: impl Into<Cow<'static, str>>, test: Test) -> Self {
        Filter::Field { field: field.into(), test }
    }

    /// A test of a label.
    pub fn label(key: impl Into<String>, test: Test) -> Self {
        Filter::Label { key: key.into(), test }
    }

    /// Returns the negation.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Filter::Not(filter) => *filter,
            filter => Filter::Not(Box::new(filter)),
        }
    }

    /// Holds if both filters hold.
    #[must_use]
    pub fn and(self, other: Filter) -> Self {
        match self {
            Filter::And(mut all) => {
                all.push(other);
                Filter::And(all)
            }
            filter => Filter::And(vec![filter, other]),
        }
    }

    /// Holds if one of the filters holds.
    #[must_use]
    pub fn or(self, other: Filter) -> Self {
        match self {
            Filter::Or(mut any) => {
                any.push(other);
                Filter::Or(any)
            }
            filter => Filter::Or(vec![filter, other]),
        }
    }
}
