//! Help for a kind's own tests: the rows of objects, compared column by column, and a check that columns are filled from their paths.
//!
//! Must not: do I/O.
//!
//! ```
//! # use ingester_core::Ingestable;
//! # use ingester_testing::{self as testing, assert_row};
//! # use ingester_core::value::Value;
//! #[derive(Ingestable, serde::Deserialize)]
//! #[ingest(group = "example.com", version = "v1", kind = "House", namespaced = false)]
//! struct House {
//!     #[index]
//!     colour: String,
//!     #[index]
//!     floors: Option<u8>,
//! }
//!
//! let text = "
//!     apiVersion: example.com/v1
//!     kind: House
//!     metadata: {name: home, labels: {street: main}}
//!     colour: red";
//! assert_row!(House, text, { colour: "red", floors: null, name: "home" });
//!
//! let row = testing::row::<House>(text)?;
//! assert_eq!(row.get("colour"), &Value::text("red"));
//! assert_eq!(row.label("street"), Some("main"));
//! // The text of all rows, for a snapshot.
//! let rows = testing::rows(&[row.kind()], [text])?;
//! assert_eq!(
//!     rows.to_string(),
//!     "House home\n  colour: \"red\"\n  floors: NULL\n  label street: \"main\"\n"
//! );
//! # Ok::<(), testing::NoRow>(())
//! ```
//!
//! A store in memory, to ask such rows by a query, is `Store::in_memory` of `ingester-store`.

mod paths;

pub use paths::assert_paths;

use ingester_core::kind::{DecodeError, find};
use ingester_core::nearest::nearest;
use ingester_core::object::{ManagedFields, Object, ObjectError};
use ingester_core::row::Row;
use ingester_core::schema::Form;
use ingester_core::value::Value;
use ingester_core::{ColumnValue, Ingestable, Kind};
use ingester_declare::documents::{DocumentError, documents};
use std::fmt;

/// The row of one object, with the names of its columns.
#[derive(Clone, Debug)]
pub struct ObjectRow {
    kind: Kind,
    row: Row,
}

/// Why a text gives no row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoRow {
    /// The text is neither YAML nor JSON of an object.
    #[error("document {number}, line {line}: {error}")]
    Document {
        /// Which document of the text, from 1.
        number: u64,
        /// Where it begins, from 1.
        line: u64,
        /// The reason.
        error: DocumentError,
    },
    /// One object was expected.
    #[error("the text has {0} objects, one was expected (`ingester_testing::rows` takes any number)")]
    NotOne(usize),
    /// It lacks fields that every object has.
    #[error("document {number}, line {line}: {error}")]
    Object {
        /// Which document of the text, from 1.
        number: u64,
        /// Where it begins, from 1.
        line: u64,
        /// The reason.
        error: ObjectError,
    },
    /// It is of another kind.
    #[error("{object} is not of an expected kind: {expected}")]
    OtherKind {
        /// Its apiVersion, kind, namespace and name.
        object: String,
        /// The known kinds.
        expected: String,
    },
    /// It cannot be decoded.
    #[error("{object}: {error}")]
    Decode {
        /// Its apiVersion, kind, namespace and name.
        object: String,
        /// The reason.
        error: DecodeError,
    },
    /// The filter of its kind leaves it out.
    #[error("{object}: the filter of its kind leaves it out")]
    LeftOut {
        /// Its apiVersion, kind, namespace and name.
        object: String,
    },
}

/// The row of the one object in a text, YAML or JSON as kubectl accepts it. A text that begins with `{` is JSON.
///
/// # Errors
/// [`NoRow`], also when the kind's filter leaves the object out.
pub fn row<K: Ingestable>(text: &str) -> Result<ObjectRow, NoRow> {
    let mut rows = rows(&[Kind::of::<K>()], [text])?.0;
    match (rows.pop(), rows.len()) {
        (Some(Ok(row)), 0) => Ok(row),
        (Some(Err(object)), 0) => Err(NoRow::LeftOut { object }),
        (last, others) => Err(NoRow::NotOne(others + usize::from(last.is_some()))),
    }
}

/// The rows of objects of several kinds, in their order. Their text ([`fmt::Display`]) has each indexed column, label and annotation in
/// a line of its own, as a snapshot of samples needs it.
#[derive(Clone, Debug)]
pub struct Rows(Vec<Result<ObjectRow, String>>);

/// The rows of all objects in these texts, each with any number of them.
///
/// # Errors
/// [`NoRow`] of the first object without a row. An object that the filter of its kind leaves out is not an error.
pub fn rows<T: AsRef<str>>(kinds: &[Kind], texts: impl IntoIterator<Item = T>) -> Result<Rows, NoRow> {
    let mut rows = Vec::new();
    for text in texts {
        // Reading from memory does not fail.
        for document in documents(text.as_ref().as_bytes()).map_while(Result::ok) {
            let number = document.number;
            let line = document.line;
            let content = document.content.map_err(|error| NoRow::Document { number, line, error })?;
            let object = Object::parse(&content, ManagedFields::Prune);
            let object = object.map_err(|error| NoRow::Object { number, line, error })?;
            let shown = || format!("{} {}", object.api_version(), Name(object.kind(), &object));
            let kind = find(kinds, object.api_version(), object.kind()).ok_or_else(|| {
                let expected: Vec<_> =
                    kinds.iter().map(|kind| format!("{} {}", kind.api_version(), kind.kind())).collect();
                NoRow::OtherKind { object: shown(), expected: expected.join(", ") }
            })?;
            let row = kind.row(&object).map_err(|error| NoRow::Decode { object: shown(), error })?;
            rows.push(row.map(|row| ObjectRow { kind: *kind, row }).ok_or_else(shown));
        }
    }
    Ok(Rows(rows))
}

/// An object's kind, namespace and name.
struct Name<'a>(&'a str, &'a Object);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let meta = self.1.meta();
        let slash = if meta.namespace.is_empty() { "" } else { "/" };
        write!(f, "{} {}{slash}{}", self.0, meta.namespace, meta.name)
    }
}

impl Rows {
    /// The rows, without the objects that a filter left out.
    pub fn into_rows(self) -> Vec<ObjectRow> {
        self.0.into_iter().filter_map(Result::ok).collect()
    }
}

impl fmt::Display for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, row) in self.0.iter().enumerate() {
            let blank = if place > 0 { "\n" } else { "" };
            match row {
                Ok(row) => write!(f, "{blank}{row}")?,
                Err(object) => writeln!(f, "{blank}{object}: left out by the filter of its kind")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for ObjectRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let namespace = self.get("namespace");
        let name = self.get("name");
        let slash = if *namespace == Value::text("") { "" } else { "/" };
        writeln!(f, "{} {namespace}{slash}{name}", self.kind.kind())?;
        let indexed = self.kind.table().indexed();
        let values = &self.row.values[self.row.values.len() - indexed.len()..];
        for (column, value) in indexed.iter().zip(values) {
            writeln!(f, "  {}: {}", column.name, QuotedValue(value))?;
        }
        for (column, pairs) in self.kind.table().many.iter().zip(&self.row.many) {
            let shown = |(key, value): &(Box<str>, Box<str>)| match column.form {
                Form::List => format!("{key:?}"),
                Form::Map => format!("{key:?}: {value:?}"),
            };
            let shown: Vec<String> = pairs.iter().map(shown).collect();
            writeln!(f, "  {}: [{}]", column.name, shown.join(", "))?;
        }
        if self.kind.protobuf().is_some() {
            writeln!(f, "  proto: {}", QuotedValue(self.get("proto")))?;
        }
        for (what, pairs) in [("label", &self.row.labels), ("annotation", &self.row.annotations)] {
            for (key, value) in pairs.iter() {
                writeln!(f, "  {what} {key}: {value:?}")?;
            }
        }
        Ok(())
    }
}

/// A value, with quotes around a text.
struct QuotedValue<'v>(&'v Value);

impl fmt::Display for QuotedValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Text(text) => write!(f, "{text:?}"),
            value => write!(f, "{value}"),
        }
    }
}

/// A text with blanks up to this width, which a format cannot have above 65,535.
fn padded(text: &str, width: usize) -> String {
    text.to_owned() + &" ".repeat(width.saturating_sub(text.chars().count()))
}

impl ObjectRow {
    /// The value of the column of this name, as it is stored. The columns that the store sets when it writes (`update_time`,
    /// `delete_time`, `evict_time`, `evict_confirmed`) are NULL.
    ///
    /// # Panics
    /// If the kind has no such column; names the most similar one.
    #[track_caller]
    pub fn get(&self, column: &str) -> &Value {
        match self.find(column) {
            Ok(value) => value,
            Err(unknown) => panic!("{unknown}"),
        }
    }

    fn find(&self, column: &str) -> Result<&Value, String> {
        let table = self.kind.table();
        table.by_name(column).map(|place| &self.row.values[place]).ok_or_else(|| {
            let known: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
            let hint = match nearest(column, &known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    let indexed: Vec<&str> = table.indexed().iter().map(|column| column.name.as_str()).collect();
                    format!("its indexed columns are: {}", indexed.join(", "))
                }
            };
            format!("`{}` has no column `{column}`; {hint}", self.kind.kind())
        })
    }

    /// The values of the list in a column of many values (`#[index(many)]`), as the texts that are stored, sorted by their bytes; of a map
    /// its keys.
    ///
    /// # Panics
    /// If the kind has no such column.
    #[track_caller]
    pub fn many(&self, column: &str) -> Vec<&str> {
        self.pairs(column).iter().map(|(key, _)| &**key).collect()
    }

    /// The value of a key in the map of a column of many values, as the stored text.
    ///
    /// # Panics
    /// If the kind has no such column.
    #[track_caller]
    pub fn entry(&self, column: &str, key: &str) -> Option<&str> {
        value_of(self.pairs(column), key)
    }

    #[track_caller]
    fn pairs(&self, column: &str) -> &[(Box<str>, Box<str>)] {
        let many = self.kind.table().many;
        match many.iter().position(|many| many.name.same_as(column)) {
            Some(place) => &self.row.many[place],
            None => {
                let known: Vec<&str> = many.iter().map(|many| many.name.as_str()).collect();
                let kind = self.kind.kind();
                let known = known.join(", ");
                panic!("`{kind}` has no column `{column}` of many values; it has these: {known}")
            }
        }
    }

    /// The value of a label.
    pub fn label(&self, key: &str) -> Option<&str> {
        value_of(&self.row.labels, key)
    }

    /// The value of an annotation.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        value_of(&self.row.annotations, key)
    }

    /// The kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The row, as a store expects it.
    pub fn into_row(self) -> Row {
        self.row
    }

    /// Compares columns; [`assert_row!`](assert_row) is written with it.
    ///
    /// # Panics
    /// If a column has another value or does not exist; shows all of them.
    #[doc(hidden)]
    #[track_caller]
    pub fn assert(&self, expected: &[(&str, &dyn Expected)]) {
        let mut differing = Vec::new();
        let mut unknown = Vec::new();
        for (column, expected) in expected {
            let column = column.strip_prefix("r#").unwrap_or(column);
            match self.find(column) {
                Err(error) => unknown.push(error),
                Ok(found) if same(&expected.value(), found) => {}
                Ok(found) => {
                    differing.push((column, QuotedValue(&expected.value()).to_string(), QuotedValue(found).to_string()))
                }
            }
        }
        if differing.is_empty() && unknown.is_empty() {
            return;
        }
        let titles = ("column", String::from("expected"), String::from("found"));
        differing.insert(0, titles);
        let width = |of: fn(&(&str, String, String)) -> usize| differing.iter().map(of).max().unwrap_or_default();
        let first = width(|line| line.0.chars().count());
        let second = width(|line| line.1.chars().count());
        let mut text = format!("the row of {} {} differs", self.kind.kind(), self.get("name"));
        let table = if differing.len() > 1 { &differing[..] } else { &[] };
        for (column, expected, found) in table {
            text += &format!("\n  {}  {}  {found}", padded(column, first), padded(expected, second));
        }
        for error in unknown {
            text += &format!("\n  {error}");
        }
        panic!("{text}");
    }
}

fn value_of<'p>(pairs: &'p [(Box<str>, Box<str>)], key: &str) -> Option<&'p str> {
    pairs.iter().find(|(other, _)| **other == *key).map(|(_, value)| &**value)
}

/// A value that a column may be compared with: a [`ColumnValue`] that takes one column.
#[doc(hidden)]
pub trait Expected {
    fn value(&self) -> Value;
}

impl<T: ColumnValue> Expected for T {
    fn value(&self) -> Value {
        ingester_core::value::value_of(self)
    }
}

/// Compares two values, regardless of the type of a literal: a number with a column of another type, a time with its text.
fn same(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Int(expected), Value::UInt(found)) => u64::try_from(*expected) == Ok(*found),
        (Value::UInt(expected), Value::Int(found)) => u64::try_from(*found) == Ok(*expected),
        (Value::Int(expected), Value::Double(found)) => *expected as f64 == *found,
        (Value::Text(expected), Value::Time(found)) => {
            expected.parse::<jiff::Timestamp>().is_ok_and(|time| time.as_microsecond() == found.0)
        }
        (expected, found) => expected == found,
    }
}

/// Fails unless the row of an object has these values. The columns that differ are shown together; a column that the kind does not
/// have is reported, with the most similar one. Gives the [`ObjectRow`].
///
/// `assert_row!(Dataset, text, { size_bytes: 5, owner: "ann", state: null })`: a value is anything that a column may hold (a text, a
/// number, a value of an enum), a time may be a text, and `null` is NULL. [The crate](crate) has an example.
///
/// # Panics
/// Also if the text gives no row.
#[macro_export]
macro_rules! assert_row {
    ($kind:ty, $text:expr, { $($column:ident: $value:expr),* $(,)? }) => {{
        match $crate::row::<$kind>(::core::convert::AsRef::<str>::as_ref(&$text)) {
            ::core::result::Result::Ok(row) => {
                #[allow(non_upper_case_globals, dead_code, reason = "a test writes `null` where it means NULL")]
                const null: ::core::option::Option<&str> = ::core::option::Option::None;
                row.assert(&[$((::core::stringify!($column), &$value)),*]);
                row
            }
            ::core::result::Result::Err(error) => ::core::panic!("{error}"),
        }
    }};
}
