//! Views over the tables of several kinds, as constant data: a name, output columns, and the expressions that fill them for each kind.
//!
//! A view has one row for each row of its kinds' tables, including rows of deleted and evicted objects unless a filter leaves them out. Its
//! definition is part of the schema: it is generated, compared and migrated as tables are.
//!
//! ```
//! use ingester_core::view::{self, Condition, Expression, Literal, ViewSource, View, ViewColumn};
//! use ingester_core::{Ingestable, Kind};
//!
//! #[derive(Ingestable, serde::Deserialize)]
//! #[ingest(group = "example.com", version = "v1", kind = "Build", namespaced)]
//! struct Build {
//!     #[index]
//!     phase: String,
//! }
//!
//! #[derive(Ingestable, serde::Deserialize)]
//! #[ingest(group = "example.com", version = "v1", kind = "Test", namespaced)]
//! struct Test {
//!     #[index]
//!     result: Option<String>,
//! }
//!
//! pub const KINDS: &[Kind] = &[Kind::of::<Build>(), Kind::of::<Test>()];
//!
//! const RUNS: View = View {
//!     name: "runs",
//!     columns: &[ViewColumn::new("name"), ViewColumn::new("kind"), ViewColumn::new("phase"), ViewColumn::new("deleted")],
//!     sources: &[
//!         ViewSource::of(
//!             Kind::of::<Build>(),
//!             &[
//!                 ("name", Expression::Column("name")),
//!                 ("kind", Expression::text("Build")),
//!                 // What was deleted while it ran has stopped.
//!                 (
//!                     "phase",
//!                     Expression::Case(
//!                         &[(
//!                             Condition::All(&[
//!                                 Condition::Deleted,
//!                                 Condition::OneOf(Expression::Column("phase"), &[Literal::Text("Running")]),
//!                             ]),
//!                             Expression::text("Stopped"),
//!                         )],
//!                         &Expression::Column("phase"),
//!                     ),
//!                 ),
//!                 ("deleted", Expression::Case(&[(Condition::Deleted, Expression::integer(1))], &Expression::integer(0))),
//!             ],
//!         ),
//!         ViewSource::of(
//!             Kind::of::<Test>(),
//!             &[
//!                 ("name", Expression::Column("name")),
//!                 ("kind", Expression::text("Test")),
//!                 ("phase", Expression::Coalesce(&[Expression::Column("result"), Expression::text("Unknown")])),
//!                 ("deleted", Expression::Case(&[(Condition::Deleted, Expression::integer(1))], &Expression::integer(0))),
//!             ],
//!         )
//!         .filter(Condition::Not(&Condition::Evicted)),
//!     ],
//! };
//!
//! /// A mistake in a view is a compile error here.
//! pub const VIEWS: &[View] = view::checked(KINDS, &[RUNS]);
//! ```
//!
//! May use: schema, kind.

mod check;

use crate::kind::Kind;
pub use check::type_of;
pub use check::{ViewError, check_views, checked};

/// A view: its columns, and the kinds that give its rows.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Its name in the database.
    pub name: &'static str,
    /// Its columns in order.
    pub columns: &'static [ViewColumn],
    /// The kinds whose rows it shows.
    pub sources: &'static [ViewSource],
}

/// A column of a view.
#[derive(Clone, Copy, Debug)]
pub struct ViewColumn {
    /// Its name.
    pub name: &'static str,
    /// The type of a column for which every kind gives NULL; otherwise the type follows from the expressions.
    pub ty: Option<ViewType>,
}

/// The type of a column of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ViewType {
    /// Text.
    Text,
    /// Whole numbers, and truth as 0 and 1.
    Integer,
    /// Numbers with a fraction.
    Number,
    /// Moments in UTC.
    Time,
    /// Bytes.
    Bytes,
    /// JSON.
    Json,
}

/// A kind's part of a view.
#[derive(Clone, Copy, Debug)]
pub struct ViewSource {
    /// The kind.
    pub kind: Kind,
    /// The expression for each column of the view, by the column's name.
    pub values: &'static [(&'static str, Expression)],
    /// The condition for a row to appear in the view; `None` shows all rows.
    pub filter: Option<Condition>,
}

/// A value that fills a column, or that a condition compares.
#[derive(Clone, Copy, Debug)]
pub enum Expression {
    /// NULL.
    Null,
    /// A text or a number.
    Literal(Literal),
    /// A column of the kind's main table.
    Column(&'static str),
    /// The value of this name in `ingester_settings`; NULL if there is none.
    Setting(&'static str),
    /// The first of them that is not NULL.
    Coalesce(&'static [Expression]),
    /// The value as text, integer or time. A time is written as in every column: `2026-03-09 20:36:46.500000`. Text becomes an
    /// integer by the digits that it begins with, and a time if it is written as in SQL or in JSON; SQLite keeps milliseconds of it.
    Cast(&'static Expression, ViewType),
    /// The value of the first condition that holds, otherwise the last one.
    Case(&'static [(Condition, Expression)], &'static Expression),
    /// Texts, concatenated; NULL if one of them is.
    Concat(&'static [Expression]),
}

/// A constant value.
#[derive(Clone, Copy, Debug)]
pub enum Literal {
    /// Text, without backslashes and without control characters other than line breaks.
    Text(&'static str),
    /// A whole number.
    Integer(i64),
}

/// A condition on a row: true or false, never unknown.
#[derive(Clone, Copy, Debug)]
pub enum Condition {
    /// The object is in the cluster, as far as is known.
    Live,
    /// The object left etcd for good and lives in SQL.
    Evicted,
    /// The object was deleted.
    Deleted,
    /// The value is NULL.
    Null(Expression),
    /// The value is one of these; NULL never is.
    OneOf(Expression, &'static [Literal]),
    /// The value is the uid of an object of these kinds that has a row, in any state; NULL never is.
    Stored(Expression, &'static [Kind]),
    /// The opposite.
    Not(&'static Condition),
    /// All of these conditions hold.
    All(&'static [Condition]),
    /// At least one of them.
    Any(&'static [Condition]),
}

impl ViewColumn {
    /// Makes a column whose type follows from its expressions.
    pub const fn new(name: &'static str) -> Self {
        ViewColumn { name, ty: None }
    }

    /// A column of this type; needed where every kind gives NULL.
    #[must_use]
    pub const fn ty(mut self, ty: ViewType) -> Self {
        self.ty = Some(ty);
        self
    }
}

impl ViewSource {
    /// All rows of a kind.
    pub const fn of(kind: Kind, values: &'static [(&'static str, Expression)]) -> Self {
        ViewSource { kind, values, filter: None }
    }

    /// Keeps only the rows for which this is true.
    #[must_use]
    pub const fn filter(mut self, filter: Condition) -> Self {
        self.filter = Some(filter);
        self
    }
}

impl Expression {
    /// A text.
    pub const fn text(text: &'static str) -> Self {
        Expression::Literal(Literal::Text(text))
    }

    /// A whole number.
    pub const fn integer(number: i64) -> Self {
        Expression::Literal(Literal::Integer(number))
    }
}

impl ViewType {
    /// Its name in messages.
    const fn word(self) -> &'static str {
        match self {
            ViewType::Text => "text",
            ViewType::Integer => "an integer",
            ViewType::Number => "a number",
            ViewType::Time => "a time",
            ViewType::Bytes => "bytes",
            ViewType::Json => "JSON",
        }
    }
}
