//! A query about one kind's table: every field is a column, every value of that column's type, every negation moved into a single
//! test. Only checked queries are rendered.

use super::time::{TIMES, parse_time};
use super::{Filter, Order, Query, States, Test};
use ingester_core::nearest::nearest;
use ingester_core::schema::{Companion, Form, Many, Path, SqlType, Table, Unit, WrittenName, base};
use ingester_core::value::{Micros, Value};
use ingester_core::wire::quantity;
use std::borrow::Cow;

/// The most terms of a query: names, uids, namespaces, tests and the values of lists. Some database would refuse more.
const MOST_TERMS: usize = 20_000;

/// How deep filters may be nested.
const DEEPEST: usize = 64;

/// A query about one table.
#[derive(Clone, Debug)]
pub struct CheckedQuery {
    table: &'static Table,
    condition: Condition,
    order: Vec<SortKey>,
}

impl CheckedQuery {
    /// The table.
    pub fn table(&self) -> &'static Table {
        self.table
    }

    /// The place of the column of this name or path.
    ///
    /// # Errors
    /// [`QueryError::NoSuchField`] without one.
    pub fn place(&self, field: &str) -> Result<usize, QueryError> {
        let context = Context { table: self.table, scan: false, now: Micros::now() };
        context.place_of_one(field, "shown")
    }

    /// Returns the condition that a row must meet.
    pub fn condition(&self) -> &Condition {
        &self.condition
    }

    /// The order, which ends with the uid.
    pub fn order(&self) -> &[SortKey] {
        &self.order
    }
}

/// One step of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortKey {
    /// The column's place in the table.
    pub place: usize,
    /// From the greatest to the least.
    pub descending: bool,
}

/// A value that is tested.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// The column at this place of the table.
    Column(usize),
    /// The text at this path in the stored JSON.
    Json(JsonPath),
}

/// A path in the stored JSON, as databases write it.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath {
    dollar: String,
    array: String,
}

impl JsonPath {
    /// The path of a field; `None` if it is none, or if no database takes one of its names.
    fn parse(field: &str) -> Option<Self> {
        let names: Vec<Cow<'_, str>> = WrittenName::all(field)?.into_iter().map(WrittenName::name).collect();
        Self::of_parts(names.iter().map(AsRef::as_ref))
    }

    /// The path of these names, one within the other.
    fn of_parts<'p>(names: impl Iterator<Item = &'p str>) -> Option<Self> {
        let mut parts = Vec::new();
        for part in names {
            if part.is_empty() || part.contains(['"', '\\', '\0']) {
                return None;
            }
            parts.push(format!("\"{part}\""));
        }
        Some(JsonPath { dollar: format!("$.{}", parts.join(".")), array: format!("{{{}}}", parts.join(",")) })
    }

    /// `$."spec"."owner"`
    pub(crate) fn dollar(&self) -> &str {
        &self.dollar
    }

    /// `{"spec","owner"}`
    pub fn array(&self) -> &str {
        &self.array
    }
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparison {
    fn negated(self) -> Self {
        match self {
            Comparison::Equal => Comparison::NotEqual,
            Comparison::NotEqual => Comparison::Equal,
            Comparison::Less => Comparison::GreaterOrEqual,
            Comparison::LessOrEqual => Comparison::Greater,
            Comparison::Greater => Comparison::LessOrEqual,
            Comparison::GreaterOrEqual => Comparison::Less,
        }
    }
}

/// A condition on a row. Only single tests are negated, and each decides about NULL, so a condition is true or false, never unknown.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// All of these hold; none: always.
    All(Vec<Condition>),
    /// At least one of these holds; none: never.
    Any(Vec<Condition>),
    /// The operand is NULL, or is not.
    Null(Operand, bool),
    /// A comparison with a value.
    Compare {
        /// The left side.
        operand: Operand,
        /// How.
        comparison: Comparison,
        /// With what.
        value: Value,
        /// NULL passes as well.
        or_null: bool,
    },
    /// The operand is one of these values, or is not.
    In {
        /// The left side.
        operand: Operand,
        /// The values.
        values: Vec<Value>,
        /// True for IN, false for NOT IN.
        is: bool,
        /// NULL passes as well.
        or_null: bool,
    },
    /// The operand is like this pattern, or is not.
    Like {
        /// The left side.
        operand: Operand,
        /// The pattern.
        pattern: Pattern,
        /// True for LIKE, false for NOT LIKE.
        is: bool,
        /// NULL passes as well.
        or_null: bool,
    },
    /// The object has such a label, annotation, or value in a column of many, or does not.
    Pair {
        /// The companion that has it.
        companion: Companion,
        /// The key; `None` for any, and for the values of a list.
        key: Option<String>,
        /// The test of the value.
        test: PairTest,
        /// True if a pair must pass the test, false if none may.
        has: bool,
    },
    /// The row's state.
    States(States),
}

/// A test of the value of a label, of an annotation, or in a column of many values.
#[derive(Clone, Debug, PartialEq)]
pub enum PairTest {
    /// Nothing: it is there.
    Any,
    /// The value is one of these.
    In(Vec<Value>),
    /// The value compares with this one.
    Compare(Comparison, Value),
    /// The value is a whole number of 63 bits, without a sign, and compares with this one.
    Number(Comparison, i64),
    /// The value is like this pattern.
    Like(Pattern),
}

/// A pattern of texts, for LIKE and for GLOB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    like: String,
    glob: String,
}

impl Pattern {
    fn new(pattern: &str) -> Self {
        let mut like = String::with_capacity(pattern.len());
        let mut glob = String::with_capacity(pattern.len());
        let mut characters = pattern.chars();
        while let Some(character) = characters.next() {
            // A backslash at the end stands for itself.
            let (is_plain, character) = match character {
                '\\' => (true, characters.next().unwrap_or('\\')),
                character => (false, character),
            };
            match character {
                '%' if !is_plain => glob.push('*'),
                '_' if !is_plain => glob.push('?'),
                '*' | '?' | '[' => glob.extend(['[', character, ']']),
                _ => glob.push(character),
            }
            if is_plain || character == '\\' {
                like.push('\\');
            }
            like.push(character);
        }
        Pattern { like, glob }
    }

    /// The pattern as GLOB has it, or as LIKE does.
    pub fn render(&self, glob: bool) -> &str {
        if glob { &self.glob } else { &self.like }
    }
}

/// Why a query cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The field is unknown.
    #[error("{table} has no column for the field `{field}`{hint}")]
    NoSuchField {
        /// The table.
        table: String,
        /// The field.
        field: String,
        /// Advice for the user.
        hint: Hint,
    },
    /// A label or an annotation of a kind without companion tables.
    #[error(
        "{kind} has no table `{table}` (with `companions = false` there is none, nor of former versions), so its objects cannot be selected by \
         labels or annotations: select them by columns, or by their stored texts if the query scans"
    )]
    NoCompanions {
        /// The kind.
        kind: &'static str,
        /// The table that it would be in.
        table: String,
    },
    /// A time is asked for of a kind without a history.
    #[error(
        "{kind} keeps no former versions: say `#[ingest(history = \"90d\")]` of its struct, or `history: 90d` in its file"
    )]
    NoHistory {
        /// The kind.
        kind: &'static str,
    },
    /// A query names a moment where only the present can be asked about.
    #[error("`at` works for objects and lists of objects; this query is about the present, so leave `at` out")]
    OfMoment,
    /// A query names a moment that has not come.
    #[error("{} is in the future: the clock of the database says {}; name a past time", .at.rfc3339(), .now.rfc3339())]
    NotYet {
        /// The moment.
        at: Micros,
        /// The database's time.
        now: Micros,
    },
    /// A value is not of the column's type.
    #[error("`{field}` is {ty}: `{value}` is not {expected}")]
    WrongValue {
        /// The field.
        field: String,
        /// The column's type.
        ty: String,
        /// The value.
        value: String,
        /// A description of valid values.
        expected: &'static str,
    },
    /// A test that does not fit the field.
    #[error("`{field}` cannot be {how}: {why}")]
    WrongTest {
        /// The field.
        field: String,
        /// The test, as a participle for the message.
        how: &'static str,
        /// Why it cannot.
        why: &'static str,
    },
    /// A text that is not one of the names of an enum's column.
    #[error(
        "`{field}` is an enum, and `{name}` is not one of its names ({}); use `.dynamic()` for a name that this program does not know",
        meant(.name, .known)
    )]
    UnknownName {
        /// The field.
        field: String,
        /// The text.
        name: String,
        /// The enum's names.
        known: &'static [&'static str],
    },
    /// A value of a rule that the enum of a column lacks.
    #[error("`{field}` is an enum, and `{name}` is not one of its names ({})", meant(.name, .known))]
    NotAName {
        /// The field.
        field: String,
        /// The text.
        name: String,
        /// The enum's names.
        known: &'static [&'static str],
    },
    /// Too many terms, or too deep.
    #[error("the query is too large: it has {what}")]
    TooLarge {
        /// How large it is, and how large it may be.
        what: String,
    },
}

/// The name that was probably meant, else all of them.
fn meant(name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("they are {}", known.join(", ")),
    }
}

/// Advice about a field without a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// This column has something that is made of what is there.
    Made(&'static str),
    /// Another field is probably meant.
    Meant(String),
    /// It is a path, for which there can be a column.
    Path {
        /// The struct or message that has the field.
        of: String,
        /// Its name in there.
        name: String,
        /// The path as a file of kinds writes it.
        path: String,
    },
    /// It can only be one of these, the table's columns.
    Columns(Vec<&'static str>),
}

impl Hint {
    fn about(table: &'static Table, field: &str) -> Self {
        if let Some(column) = table.made_of(field) {
            return Hint::Made(column.as_str());
        }
        let columns = table.columns.iter().filter(|column| !column.computed);
        let many = table.many.iter().filter(|many| !many.computed);
        let paths: Vec<String> = (columns.filter_map(|column| column.path))
            .chain(many.filter_map(|many| many.path))
            .map(|path| path.to_string())
            .collect();
        let names = table.columns.iter().map(|column| column.name.as_str());
        let names = names.chain(table.many.iter().map(|many| many.name.as_str()));
        let known: Vec<&str> = names.chain(paths.iter().map(String::as_str)).collect();
        if let Some(near) = nearest(field, &known) {
            return Hint::Meant(near.to_owned());
        }
        let names = WrittenName::all(field).unwrap_or_default();
        let names: Vec<Cow<'_, str>> = names.into_iter().map(WrittenName::name).collect();
        let text_of = |names: &[Cow<'_, str>]| Path::text_of(names.iter().map(AsRef::as_ref));
        match names.split_last() {
            Some((name, of))
                if !of.is_empty()
                    && let (Some(of), Some(path)) = (text_of(of), text_of(&names)) =>
            {
                let path = if path.starts_with('[') { path } else { format!(".{path}") };
                Hint::Path { of, name: name.to_string(), path }
            }
            _ => Hint::Columns(table.columns.iter().map(|column| column.name.as_str()).collect()),
        }
    }
}

impl std::fmt::Display for Hint {
    /// For people who have the program and its kinds: [`QueryError::for_request`] has the words for clients of the server.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Hint::Made(column) => write!(f, "; the column `{column}` is made of it: name this column"),
            Hint::Meant(field) => write!(f, "; did you mean `{field}`?"),
            Hint::Path { of, name, path } => write!(
                f,
                " (in a file of kinds, `{{column: ..., path: {path}}}` makes one; in Rust, `#[index]` at the field of `{name}` in \
                 `{of}`; without a column, every object has to be read: `--scan`)"
            ),
            Hint::Columns(_) => f.write_str(" (`ingester kinds -o wide` lists the columns with their paths)"),
        }
    }
}

impl QueryError {
    /// The message for a client of the server, who has neither the program nor its kinds: it says how to change the request.
    pub fn for_request(&self) -> String {
        match self {
            QueryError::NoSuchField { table, field, hint: Hint::Path { .. } } => format!(
                "{table} has no column for the field `{field}`: select by fields that have one, or ask for every object to be \
                 read with the parameter `scan=true`"
            ),
            QueryError::NoSuchField { table, field, hint: Hint::Meant(near) } if field.contains('.') => format!(
                "{table} has no column for the field `{field}`; did you mean `{near}`? If not, ask for every object to be read with \
                 the parameter `scan=true`"
            ),
            QueryError::NoSuchField { table, field, hint: Hint::Columns(columns) } => {
                format!("{table} has no column for the field `{field}`; it has {}", columns.join(", "))
            }
            QueryError::NoCompanions { kind, .. } => format!(
                "labels and annotations of {kind}, or of its former versions, are in no tables of their own: select by fields, or ask for \
                 every object to be read with the parameter `scan=true`, which compares texts with `=`, `!=` and `in`"
            ),
            other => other.to_string(),
        }
    }
}

impl Query {
    /// Checks the query against this table, with times counted from now on this machine's clock. A store uses its database's clock instead.
    ///
    /// # Errors
    /// [`QueryError`] when a field has no column, a value is not of its column's type, or the query is too large.
    pub fn check(&self, table: &'static Table) -> Result<CheckedQuery, QueryError> {
        self.check_at(table, Micros::now())
    }

    /// The query about this table, whose times such as `7d` are counted from `now`.
    ///
    /// # Errors
    /// As [`Query::check`].
    pub fn check_at(&self, table: &'static Table, now: Micros) -> Result<CheckedQuery, QueryError> {
        if self.at.is_some() {
            return Err(QueryError::OfMoment);
        }
        let terms = self.namespaces.len() + self.names.len() + self.uids.len() + self.order.len();
        let terms = self.filters.iter().try_fold(terms, |terms, filter| Ok(terms + size(filter, DEEPEST)?))?;
        if terms > MOST_TERMS {
            return Err(QueryError::TooLarge { what: format!("{terms} terms, and at most {MOST_TERMS} are possible") });
        }
        let context = Context { table, scan: self.scan, now };
        let mut all = Vec::new();
        for (place, texts) in [(base::UID, &self.uids), (base::NAMESPACE, &self.namespaces), (base::NAME, &self.names)]
        {
            if !texts.is_empty() {
                let values = texts.iter().map(|text| Value::text(text.as_str())).collect();
                all.push(among(Operand::Column(place), values, true, false));
            }
        }
        all.push(Condition::States(self.states));
        for filter in &self.filters {
            all.push(context.condition(filter, true)?);
        }
        let order = context.order(self)?;
        Ok(CheckedQuery { table, condition: Condition::All(all), order })
    }
}

/// How many terms a filter has.
fn size(filter: &Filter, depth: usize) -> Result<usize, QueryError> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(QueryError::TooLarge {
            what: format!("filters within filters, and at most {DEEPEST} are possible"),
        });
    };
    match filter {
        Filter::And(filters) | Filter::Or(filters) => {
            filters.iter().try_fold(1, |sum, filter| Ok(sum + size(filter, depth)?))
        }
        Filter::Not(filter) => size(filter, depth),
        Filter::Field { test, .. } | Filter::Label { test, .. } | Filter::Annotation { test, .. } => Ok(match test {
            Test::In(values) => values.len() + 1,
            _ => 1,
        }),
        Filter::UnknownName { .. } => Ok(1),
    }
}

/// One value, or several.
fn among(operand: Operand, mut values: Vec<Value>, is: bool, or_null: bool) -> Condition {
    if values.len() == 1
        && let Some(value) = values.pop()
    {
        let comparison = if is { Comparison::Equal } else { Comparison::NotEqual };
        return Condition::Compare { operand, comparison, value, or_null };
    }
    Condition::In { operand, values, is, or_null }
}

struct Context {
    table: &'static Table,
    scan: bool,
    now: Micros,
}

impl Context {
    /// The condition that `filter` holds, or that it does not.
    fn condition(&self, filter: &Filter, holds: bool) -> Result<Condition, QueryError> {
        let all = |filters: &[Filter]| {
            filters.iter().map(|filter| self.condition(filter, holds)).collect::<Result<Vec<_>, _>>()
        };
        Ok(match (filter, holds) {
            (Filter::And(filters), true) | (Filter::Or(filters), false) => Condition::All(all(filters)?),
            (Filter::Or(filters), true) | (Filter::And(filters), false) => Condition::Any(all(filters)?),
            (Filter::Not(filter), holds) => self.condition(filter, !holds)?,
            (Filter::Field { field, test }, holds) => self.field(field, test, holds)?,
            (Filter::UnknownName { field, name, known }, _) => {
                return Err(QueryError::UnknownName { field: field.to_string(), name: name.clone(), known });
            }
            (Filter::Label { key, test }, holds) => self.pair(Companion::Labels, key, test, holds)?,
            (Filter::Annotation { key, test }, holds) => self.pair(Companion::Annotations, key, test, holds)?,
        })
    }

    fn pair(&self, companion: Companion, key: &str, test: &Test, holds: bool) -> Result<Condition, QueryError> {
        if self.table.companions {
            return pair(companion, key, test, holds);
        }
        match JsonPath::of_parts(["metadata", companion.suffix(), key].into_iter()) {
            // Texts sort differently from numbers.
            Some(path) if self.scan && !test.is_range() => {
                self.tested(key, (Operand::Json(path), SqlType::MediumText, true), None, test, holds)
            }
            _ => Err(QueryError::NoCompanions {
                kind: self.table.kind,
                table: self.table.companion(companion).to_string(),
            }),
        }
    }

    /// The condition that one of many values passes a test, or that none does.
    fn values(
        &self,
        field: &str,
        (many, key): (&'static Many, Option<String>),
        test: &Test,
        holds: bool,
    ) -> Result<Condition, QueryError> {
        let ty = many.ty();
        let wrong = |how: &'static str, why: &'static str| QueryError::WrongTest { field: field.into(), how, why };
        if many.form == Form::Map && key.is_none() && !matches!(test, Test::Exists | Test::Empty) {
            return Err(wrong("compared", "it is a map: add one of its keys, as in `limits.cpu` or `limits[\"cpu\"]`"));
        }
        if many.form == Form::List && test.is_range() {
            return Err(wrong(
                "compared with `<`, `<=`, `>` or `>=`",
                "it has many values; ask for one of them with `=`",
            ));
        }
        // As they are stored.
        let value = |value: &Value| match converted(field, (ty, many.unit()), value, self.now)? {
            Value::Text(text) if text.ends_with(' ') => Ok(Value::text(text.trim_end_matches(' '))),
            value => Ok(value),
        };
        let compare = |comparison: Comparison, of: &Value| value(of).map(|value| PairTest::Compare(comparison, value));
        let (test, has) = match test {
            Test::Exists => (PairTest::Any, holds),
            Test::Equal(of) => (PairTest::In(vec![value(of)?]), holds),
            Test::In(values) => (PairTest::In(values.iter().map(value).collect::<Result<_, _>>()?), holds),
            Test::Less(of) => (compare(Comparison::Less, of)?, holds),
            Test::LessOrEqual(of) => (compare(Comparison::LessOrEqual, of)?, holds),
            Test::Greater(of) => (compare(Comparison::Greater, of)?, holds),
            Test::GreaterOrEqual(of) => (compare(Comparison::GreaterOrEqual, of)?, holds),
            Test::Like(pattern) if ty.is_text() => (PairTest::Like(Pattern::new(pattern)), holds),
            Test::Like(_) => return Err(wrong("compared with a pattern", "its values are not texts")),
            // No value, or only empty ones.
            Test::Empty if ty.is_text() => (PairTest::Compare(Comparison::NotEqual, Value::text("")), !holds),
            Test::Empty => (PairTest::Any, !holds),
        };
        Ok(Condition::Pair { companion: Companion::Values(many), key, test, has })
    }

    fn field(&self, field: &str, test: &Test, holds: bool) -> Result<Condition, QueryError> {
        if let Some(many) = self.many(field) {
            return self.values(field, many, test, holds);
        }
        let place = self.place(field);
        let unit = place.and_then(|place| self.table.columns[place].unit);
        let of_column = self.tested(field, self.operand(field)?, unit, test, holds)?;
        let Some((place, path)) = place.and_then(|place| Some((place, self.text_behind(place)?))) else {
            return Ok(of_column);
        };
        let of_text = self.tested(field, (Operand::Json(path), SqlType::MediumText, true), None, test, holds)?;
        let null = |is| Condition::Null(Operand::Column(place), is);
        Ok(Condition::Any(vec![
            Condition::All(vec![null(false), of_column]),
            Condition::All(vec![null(true), of_text]),
        ]))
    }

    /// The path of a column's text in the JSON of former versions, if a query scans: in versions that had ended before it was added, the column is
    /// NULL.
    fn text_behind(&self, place: usize) -> Option<JsonPath> {
        let column = &self.table.columns[place];
        let is_as_stored = column.nullable && column.ty.is_text() && !column.computed && column.stays.is_none();
        let path = column.path.filter(|_| self.scan && self.table.is_former() && is_as_stored)?;
        // A path into a list is not one of names.
        let mut steps = path.steps();
        if steps.any(|step| step.contains('[')) { None } else { JsonPath::of_parts(path.steps()) }
    }

    /// The condition that an operand, of this type and maybe NULL, passes a test or does not.
    fn tested(
        &self,
        field: &str,
        (operand, ty, nullable): (Operand, SqlType, bool),
        unit: Option<Unit>,
        test: &Test,
        holds: bool,
    ) -> Result<Condition, QueryError> {
        let or_null = nullable && !holds;
        let compare = |comparison: Comparison, value: &Value| {
            let value = converted(field, (ty, unit), value, self.now)?;
            let comparison = if holds { comparison } else { comparison.negated() };
            Ok(Condition::Compare { operand: operand.clone(), comparison, value, or_null })
        };
        match test {
            Test::Exists if !nullable => {
                Ok(if holds { Condition::All(Vec::new()) } else { Condition::Any(Vec::new()) })
            }
            Test::Exists => Ok(Condition::Null(operand, !holds)),
            _ if matches!(ty, SqlType::LongBlob | SqlType::Json) => {
                Err(QueryError::WrongTest { field: field.into(), how: "compared", why: "it holds a whole object" })
            }
            _ if ty == SqlType::Boolean && test.is_range() => Err(QueryError::WrongTest {
                field: field.into(),
                how: "compared with `<`, `<=`, `>` or `>=`",
                why: "it is true or false; ask for `=true` or `=false`",
            }),
            Test::Equal(value) => compare(Comparison::Equal, value),
            Test::Less(value) => compare(Comparison::Less, value),
            Test::LessOrEqual(value) => compare(Comparison::LessOrEqual, value),
            Test::Greater(value) => compare(Comparison::Greater, value),
            Test::GreaterOrEqual(value) => compare(Comparison::GreaterOrEqual, value),
            Test::In(values) => {
                let values = values.iter().map(|value| converted(field, (ty, unit), value, self.now));
                let values = values.collect::<Result<Vec<_>, _>>()?;
                if values.is_empty() {
                    return Ok(if holds { Condition::Any(Vec::new()) } else { Condition::All(Vec::new()) });
                }
                Ok(among(operand, values, holds, or_null))
            }
            Test::Like(pattern) if ty.is_text() => {
                Ok(Condition::Like { operand, pattern: Pattern::new(pattern), is: holds, or_null })
            }
            Test::Like(_) => Err(QueryError::WrongTest {
                field: field.into(),
                how: "compared with a pattern",
                why: "it is not text",
            }),
            Test::Empty => {
                let null = nullable.then(|| Condition::Null(operand.clone(), holds));
                let empty = ty.is_text().then(|| Condition::Compare {
                    operand,
                    comparison: if holds { Comparison::Equal } else { Comparison::NotEqual },
                    value: Value::text(""),
                    or_null: false,
                });
                let both = null.into_iter().chain(empty).collect();
                Ok(if holds { Condition::Any(both) } else { Condition::All(both) })
            }
        }
    }

    /// The tested operand, its type, and whether it may be NULL.
    fn operand(&self, field: &str) -> Result<(Operand, SqlType, bool), QueryError> {
        if let Some(place) = self.place(field) {
            let column = &self.table.columns[place];
            return Ok((Operand::Column(place), column.ty, column.nullable));
        }
        match JsonPath::parse(field) {
            Some(path) if self.scan => Ok((Operand::Json(path), SqlType::MediumText, true)),
            _ => Err(self.no_such_field(field)),
        }
    }

    fn place(&self, field: &str) -> Option<usize> {
        self.table.place(field)
    }

    /// The place of a column of one value, for what is impossible with many.
    fn place_of_one(&self, field: &str, how: &'static str) -> Result<usize, QueryError> {
        let many = || QueryError::WrongTest { field: field.into(), how, why: "it has many values" };
        let none = || if self.many(field).is_some() { many() } else { self.no_such_field(field) };
        self.place(field).ok_or_else(none)
    }

    /// The column of many values that a field is, with the key of a map.
    fn many(&self, field: &str) -> Option<(&'static Many, Option<String>)> {
        if self.place(field).is_some() {
            return None;
        }
        let (many, key) = self.table.many(field)?;
        Some((many, key.map(|key| stored_key(&key.name()))))
    }

    fn no_such_field(&self, field: &str) -> QueryError {
        let table = self.table.name.to_string();
        let field = field.to_owned();
        let hint = Hint::about(self.table, &field);
        QueryError::NoSuchField { table, field, hint }
    }

    fn order(&self, query: &Query) -> Result<Vec<SortKey>, QueryError> {
        let asked = if query.order.is_empty() { &[NAMESPACE, NAME][..] } else { &query.order };
        let mut order: Vec<SortKey> = Vec::new();
        for Order { field, descending } in asked {
            let place = self.place_of_one(field, "sorted by")?;
            let column = &self.table.columns[place];
            if column.ty.key_bytes().is_none() {
                let why = "it may hold more than a database compares";
                return Err(QueryError::WrongTest { field: field.to_string(), how: "sorted by", why });
            }
            // A value that is the same in all rows gives no order.
            let alike = match place {
                base::NAMESPACE => query.namespaces.len() == 1,
                base::NAME => query.names.len() == 1,
                _ => false,
            };
            if !alike && order.iter().all(|key| key.place != place) {
                order.push(SortKey { place, descending: *descending });
            }
        }
        if let Some(end) = order.iter().position(|key| key.place == base::UID) {
            order.truncate(end + 1);
        } else {
            // In the direction of the last one: so one key gives the whole order.
            let descending = order.last().is_some_and(|key| key.descending);
            order.push(SortKey { place: base::UID, descending });
        }
        Ok(order)
    }
}

/// A key as it is stored.
fn stored_key(key: &str) -> String {
    key.trim_end_matches(' ').to_owned()
}

const NAMESPACE: Order = Order { field: std::borrow::Cow::Borrowed("namespace"), descending: false };
const NAME: Order = Order { field: std::borrow::Cow::Borrowed("name"), descending: false };

/// The value as one of the column's type. A quantity is counted in the column's unit; a plain whole number is the stored count.
fn converted(
    field: &str,
    (ty, unit): (SqlType, Option<Unit>),
    value: &Value,
    now: Micros,
) -> Result<Value, QueryError> {
    if let (Some(unit), Value::Text(text)) = (unit, value)
        && text.parse::<i64>().is_err()
        && let Some(number) = quantity::parse(text)
    {
        return Ok(match ty {
            SqlType::Double => Value::Double(quantity::float(number)),
            _ => quantity::stored(quantity::counted(number, unit)),
        });
    }
    let wrong = |expected: &'static str| {
        let field = field.to_owned();
        let value = value.to_string();
        Err(QueryError::WrongValue { field, ty: ty.to_string(), value, expected })
    };
    let text = match value {
        Value::Text(text) => Some(text.as_ref()),
        _ => None,
    };
    match ty {
        SqlType::Boolean => match value {
            Value::Bool(_) => Ok(value.clone()),
            _ => match text {
                Some("true") => Ok(Value::Bool(true)),
                Some("false") => Ok(Value::Bool(false)),
                _ => wrong("true or false"),
            },
        },
        SqlType::Int | SqlType::BigInt => {
            let number = match value {
                Value::Int(number) => Some(*number),
                Value::UInt(number) => i64::try_from(*number).ok(),
                _ => text.and_then(|text| text.parse().ok()),
            };
            let expected =
                if unit.is_some() { "a whole number or a quantity, such as 500m or 2Gi" } else { "a whole number" };
            number.map_or_else(|| wrong(expected), |number| Ok(Value::Int(number)))
        }
        SqlType::IntUnsigned | SqlType::BigIntUnsigned => {
            let number = match value {
                Value::UInt(number) => Some(*number),
                Value::Int(number) => u64::try_from(*number).ok(),
                _ => text.and_then(|text| text.parse().ok()),
            };
            // SQLite holds the lower 63 bits.
            let number = number.filter(|number| i64::try_from(*number).is_ok());
            number
                .map_or_else(|| wrong("a whole number from 0 to 9223372036854775807"), |number| Ok(Value::UInt(number)))
        }
        SqlType::Double => {
            let number = match value {
                Value::Double(number) => Some(*number),
                #[allow(clippy::cast_precision_loss, reason = "a float is what is compared")]
                Value::Int(number) => Some(*number as f64),
                #[allow(clippy::cast_precision_loss, reason = "a float is what is compared")]
                Value::UInt(number) => Some(*number as f64),
                _ => text.and_then(|text| text.parse().ok()),
            };
            let number = number.filter(|number: &f64| number.is_finite());
            number.map_or_else(|| wrong("a number"), |number| Ok(Value::Double(number)))
        }
        SqlType::DateTime => match value {
            Value::Time(_) => Ok(value.clone()),
            _ => match text.and_then(|text| parse_time(text, now).ok()) {
                Some(time) => Ok(Value::Time(time)),
                None => wrong(TIMES),
            },
        },
        SqlType::VarChar(_) | SqlType::Text | SqlType::MediumText | SqlType::Json => match value {
            Value::Text(_) => Ok(value.clone()),
            _ => wrong("a text"),
        },
        SqlType::LongBlob => wrong("comparable"),
    }
}

/// The condition that a label or annotation passes a test, or does not.
fn pair(companion: Companion, key: &str, test: &Test, holds: bool) -> Result<Condition, QueryError> {
    let text = |value: &Value| match value {
        Value::Text(_) => Ok(value.clone()),
        _ => Err(QueryError::WrongValue {
            field: key.to_owned(),
            ty: "a label or annotation".to_owned(),
            value: value.to_string(),
            expected: "a text",
        }),
    };
    let compare = |comparison: Comparison, value: &Value| match value {
        Value::Int(number) => Ok(PairTest::Number(comparison, *number)),
        value => text(value).map(|value| PairTest::Compare(comparison, value)),
    };
    let has = |test: PairTest| Condition::Pair { companion, key: Some(key.to_owned()), test, has: holds };
    Ok(match test {
        Test::Exists => has(PairTest::Any),
        Test::Equal(value) => has(PairTest::In(vec![text(value)?])),
        Test::In(values) => has(PairTest::In(values.iter().map(text).collect::<Result<_, _>>()?)),
        Test::Less(value) => has(compare(Comparison::Less, value)?),
        Test::LessOrEqual(value) => has(compare(Comparison::LessOrEqual, value)?),
        Test::Greater(value) => has(compare(Comparison::Greater, value)?),
        Test::GreaterOrEqual(value) => has(compare(Comparison::GreaterOrEqual, value)?),
        Test::Like(pattern) => has(PairTest::Like(Pattern::new(pattern))),
        // No such label, or an empty one; not: none that is not empty.
        Test::Empty => Condition::Pair {
            companion,
            key: Some(key.to_owned()),
            test: PairTest::Compare(Comparison::NotEqual, Value::text("")),
            has: !holds,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::Pattern;
    use crate::fixture::MODEL;
    use crate::query::{Filter, Order, Query, Test};
    use ingester_core::value::Value;

    fn error(query: Query) -> String {
        query.check(MODEL.table()).unwrap_err().to_string()
    }

    fn about(field: &'static str, test: Test) -> Query {
        Query { filters: vec![Filter::field(field, test)], ..Query::default() }
    }

    #[test]
    fn a_quantity_is_counted_in_the_unit_of_its_column() {
        use ingester_core::schema::{SqlType, Unit};
        use ingester_core::value::{Micros, Value};
        let of = |ty, unit, text: &str| super::converted("memory", (ty, unit), &Value::text(text), Micros(0));
        let whole = Some(Unit::Whole);
        let milli = Some(Unit::Milli);
        for (ty, unit, text, number) in [
            (SqlType::BigInt, whole, "20Gi", Value::Int(21_474_836_480)),
            (SqlType::BigInt, milli, "500m", Value::Int(500)),
            (SqlType::BigInt, milli, "0.5", Value::Int(500)),
            (SqlType::BigInt, whole, "500m", Value::Int(1)),
            (SqlType::Double, whole, "500m", Value::Double(0.5)),
            // In units of the column, as stored.
            (SqlType::BigInt, milli, "500", Value::Int(500)),
            // More than the column holds; a range may ask for it.
            (SqlType::BigInt, milli, "10Pi", Value::UInt(11_258_999_068_426_240_000)),
        ] {
            assert_eq!(of(ty, unit, text), Ok(number), "{text} of {unit:?}");
        }
        let error = of(SqlType::BigInt, whole, "20GiB").unwrap_err();
        let error = error.to_string();
        assert!(error.contains("a whole number or a quantity, such as 500m or 2Gi"), "{error}");
        assert!(of(SqlType::BigInt, None, "20Gi").is_err());
    }

    #[test]
    fn a_field_without_a_column_is_named_with_the_remedy() {
        let said = error(about("spec.colour", Test::Exists));
        assert!(said.contains("model has no column for the field `spec.colour` (in a file of kinds, `{column: ..., path: .spec.colour}`"), "{said}");
        let said = error(about("create_tim", Test::Exists));
        assert!(said.ends_with("did you mean `create_time`?"), "{said}");
        let said =
            error(Query { order: vec![Order { field: "nothing".into(), descending: true }], ..Query::default() });
        assert!(said.contains("`nothing`"), "{said}");
        // JSON is read only on request.
        let scanned = Query { scan: true, ..about("spec.colour", Test::Exists) };
        assert!(scanned.check(MODEL.table()).is_ok());
        assert!(error(Query { scan: true, ..about("spec..\"x\"", Test::Exists) }).contains("has no column"));
    }

    #[test]
    fn a_client_of_the_server_is_told_what_its_request_can_say() {
        let said = |query: Query| query.check(MODEL.table()).unwrap_err().for_request();
        let path = said(about("spec.colour", Test::Exists));
        assert!(path.contains("`spec.colour`") && path.contains("`scan=true`"), "{path}");
        let name = said(about("nothing", Test::Exists));
        assert!(name.contains("it has uid, ") && name.contains("create_time"), "{name}");
        let near = said(about("create_tim", Test::Exists));
        assert!(near.ends_with("did you mean `create_time`?"), "{near}");
        let like_a_path = said(about("metadata.creationTimestam", Test::Exists));
        assert!(
            like_a_path.contains("`metadata.creationTimestamp`") && like_a_path.contains("`scan=true`"),
            "{like_a_path}"
        );
        let alone = super::QueryError::NoCompanions { kind: "Event", table: "event_labels".into() }.for_request();
        for message in [path, name, near, like_a_path, alone] {
            assert!(!message.contains("--") && !message.contains("#[") && !message.contains("ingester"), "{message}");
        }
    }

    #[test]
    fn a_value_of_another_type_is_named_with_the_type() {
        let said = error(about("create_time", Test::Less(Value::text("soon"))));
        assert!(said.starts_with("`create_time` is DATETIME(6): `soon` is not a time"), "{said}");
        let said = error(about("res_version", Test::Equal(Value::Int(-1))));
        assert!(said.contains("`-1` is not a whole number from 0"), "{said}");
        let said = error(about("name", Test::Equal(Value::Int(1))));
        assert!(said.ends_with("`1` is not a text"), "{said}");
        // A text stands for a value of any type, and a path for its column.
        let text = about("metadata.creationTimestamp", Test::Less(Value::text("2026-01-31")));
        assert!(text.check(MODEL.table()).is_ok());
    }

    #[test]
    fn an_unknown_enum_name_is_reported_with_the_nearest() {
        let error = |name: &str| {
            let filter = Filter::UnknownName { field: "tier".into(), name: name.into(), known: &["Gold", "Silver"] };
            error(Query { filters: vec![filter.negated()], ..Query::default() })
        };
        let dynamic = "; use `.dynamic()` for a name that this program does not know";
        assert_eq!(
            error("Gald"),
            format!("`tier` is an enum, and `Gald` is not one of its names (did you mean `Gold`?){dynamic}")
        );
        assert_eq!(
            error("x"),
            format!("`tier` is an enum, and `x` is not one of its names (they are Gold, Silver){dynamic}")
        );
    }

    #[test]
    fn a_test_that_does_not_fit_is_refused() {
        assert!(error(about("json", Test::Equal(Value::text("{}")))).contains("holds a whole object"));
        assert!(error(about("create_time", Test::Like("2026%".into()))).contains("it is not text"));
        let said = error(about("evict_confirmed", Test::Less(Value::Bool(true))));
        assert!(
            said.starts_with("`evict_confirmed` cannot be compared with `<`")
                && said.ends_with("ask for `=true` or `=false`"),
            "{said}"
        );
        let order = vec![Order { field: "json".into(), descending: false }];
        assert!(error(Query { order, ..Query::default() }).contains("`json` cannot be sorted by"));
    }

    #[test]
    fn a_query_that_is_too_large_is_refused() {
        let deep = (0..100).fold(Filter::label("a", Test::Exists), |filter, _| Filter::And(vec![filter]));
        assert!(error(Query { filters: vec![deep], ..Query::default() }).contains("filters within filters"));
        let names = (0..30_000).map(|number| number.to_string()).collect();
        assert!(error(Query { names, ..Query::default() }).contains("at most 20000"));
    }

    #[test]
    fn a_pattern_means_the_same_in_like_and_in_glob() {
        for (pattern, like, glob) in [
            ("a%_", "a%_", "a*?"),
            (r"a\%\_\\", r"a\%\_\\", r"a%_\"),
            ("[*?", "[*?", "[[][*][?]"),
            (r"end\", r"end\\", r"end\"),
        ] {
            let parsed = Pattern::new(pattern);
            assert_eq!((parsed.render(false), parsed.render(true)), (like, glob), "{pattern}");
        }
    }
}
