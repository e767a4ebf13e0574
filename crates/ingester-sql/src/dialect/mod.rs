//! All SQL text of the program: the [`statements`] that all databases share, one file each, and a folder for everything that one dialect
//! writes differently. Nothing here runs anything.
//!
//! May use: ingester-core, query, ddl.
//!
//! Shared statements are askama templates in standard SQL, with names in double quotes and text in single quotes. `Dialect::render`
//! replaces the double quotes by the dialect's own, and filters write what differs. An interpolation without a filter does not
//! compile.

mod catalog;
mod conditions;
mod facts;
mod filters;
pub mod mysql;
mod of_group;
mod own;
pub mod postgres;
mod rows_of;
mod rules;
pub mod sqlite;
pub mod statements;
mod views;

use crate::ddl::{Schema, SchemaChange, Step, TableDef, ViewDef};
use catalog::index_name;
pub use conditions::Range;
use facts::Facts;
use ingester_core::schema::{Ident, SqlType};
use ingester_core::value::{Micros, Value};
pub use of_group::GroupFilter;
pub use own::{BACKFILLS, CHANGES, LOST_EVICTIONS, MARKS, POSITIONS, REJECTS, RESTORES, SETTINGS, own_schema};
pub use rows_of::RowsOf;
use rules::Rules;
use std::sync::Arc;

/// The text of one statement. Only this module constructs it, so no other text reaches a database by accident.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sql(Arc<str>);

impl Sql {
    fn new(text: impl Into<Arc<str>>) -> Self {
        Sql(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text as a shared pointer, for the driver.
    pub fn shared(&self) -> Arc<str> {
        self.0.clone()
    }
}

/// One parameter of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Param<'a> {
    /// A column's value.
    Value(&'a Value),
    /// Text.
    Text(&'a str),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    UInt(u64),
    /// A time.
    Time(Micros),
    /// NULL.
    Null,
    /// A list of texts, where a list is one parameter.
    Texts(&'a [&'a str]),
    /// An array of values of this type, or of NULL, where an array is one parameter.
    Array(SqlType, Vec<Param<'a>>),
}

impl<'a> Param<'a> {
    /// About how many bytes it takes in a statement's packet.
    pub fn bytes(&self) -> usize {
        match self {
            Param::Value(value) => value.bytes(),
            Param::Text(text) => text.len() + 9,
            Param::Int(_) | Param::UInt(_) => 8,
            Param::Time(_) => 27,
            Param::Null => 0,
            Param::Texts(texts) => texts.iter().map(|text| text.len() + 9).sum(),
            Param::Array(_, params) => params.iter().map(Param::bytes).sum(),
        }
    }

    /// Converts a value from a companion table, where everything is text, to the type of its column.
    pub(crate) fn from_stored(ty: SqlType, text: &'a str) -> Self {
        let typed = match ty {
            SqlType::Int | SqlType::BigInt => text.parse().ok().map(Param::Int),
            SqlType::BigIntUnsigned => text.parse().ok().map(Param::UInt),
            SqlType::DateTime => Micros::from_sql(text).map(Param::Time),
            SqlType::Boolean
            | SqlType::IntUnsigned
            | SqlType::Double
            | SqlType::VarChar(_)
            | SqlType::Text
            | SqlType::MediumText
            | SqlType::LongBlob
            | SqlType::Json => None,
        };
        typed.unwrap_or(Param::Text(text))
    }

    /// A time, or NULL.
    pub(crate) fn time(time: Option<Micros>) -> Self {
        time.map_or(Param::Null, Param::Time)
    }

    /// A truth value, or NULL.
    pub(crate) fn bool(value: Option<bool>) -> Self {
        match value {
            None => Param::Null,
            Some(false) => Param::Value(&Value::Bool(false)),
            Some(true) => Param::Value(&Value::Bool(true)),
        }
    }

    /// The parameter of a list.
    pub(crate) fn texts(texts: &'a [&'a str]) -> Vec<Self> {
        vec![Param::Texts(texts)]
    }
}

/// One statement: its text in each dialect, and its parameters.
pub trait Statement {
    /// The text.
    fn sql(&self, dialect: Dialect) -> Sql;

    /// The values of its parameters, in their order.
    fn params(&self) -> Vec<Param<'_>> {
        Vec::new()
    }

    /// The types of its rows of parameters; `None` if it has no such rows.
    fn describe_rows(&self) -> Option<RowsOf> {
        None
    }

    /// The parameters of the text in one dialect.
    fn params_in(&self, dialect: Dialect) -> Vec<Param<'_>> {
        dialect.arranged(self.params(), self.describe_rows())
    }
}

/// A statement that returns rows.
pub trait Query: Statement {
    /// A row of the result.
    type Row;

    /// Reads one row of the result.
    ///
    /// # Errors
    /// The driver's error, if a column has another type than the statement selects.
    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error>;
}

/// The columns of one row of a result, by index. Each driver implements it.
pub trait Columns {
    /// The driver's error.
    type Error;

    /// Text that is not NULL.
    ///
    /// # Errors
    /// If the column has another type.
    fn read_text(&self, place: usize) -> Result<String, Self::Error>;

    /// Text or NULL.
    ///
    /// # Errors
    /// If the column has another type.
    fn read_optional_text(&self, place: usize) -> Result<Option<String>, Self::Error>;

    /// A signed integer.
    ///
    /// # Errors
    /// If the column has another type.
    fn read_int(&self, place: usize) -> Result<i64, Self::Error>;

    /// An unsigned integer.
    ///
    /// # Errors
    /// If the column has another type.
    fn read_uint(&self, place: usize) -> Result<u64, Self::Error>;

    /// A value of a column of this type. A value of another type, which SQLite accepts, is returned as it is.
    ///
    /// # Errors
    /// If the driver cannot read the column.
    fn read_value(&self, place: usize, ty: SqlType) -> Result<Value, Self::Error>;
}

/// A family of databases that understand the same SQL. The default is the one whose SQL commands print if none is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// MySQL 5.7 to 9.x, MariaDB 10.6 and later, TiDB, Vitess.
    #[default]
    MySql,
    /// SQLite 3.37 and later (STRICT tables).
    Sqlite,
    /// PostgreSQL 15 and later.
    Postgres,
}

/// How a server takes several statements as one text that is a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionForm {
    /// One statement after the other. A server that ends the transaction between two of them (Galera) would run the rest without one.
    Sequence,
    /// MariaDB's compound statement, which ends with its transaction.
    Compound,
    /// The last statements of a transaction that was begun before, with its commit. A server that ends it between two of them would
    /// confirm an empty commit.
    Last,
}

/// Statements that make a key outside of a transaction while others write into its table. An interrupted attempt leaves an unfinished key,
/// which nothing reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyBesideWriters {
    /// The name in the catalog of an unfinished key.
    pub unfinished: String,
    /// Drops the unfinished key.
    pub drop: Sql,
    /// Makes the key, unless it is there.
    pub create: Sql,
}

/// The purpose of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading: the transaction sees one state of the database from its first statement on, and takes no write lock.
    Read,
    /// Writing.
    Write,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Dialect; 3] = [Dialect::MySql, Dialect::Sqlite, Dialect::Postgres];

    /// The statement, for people, after which a database belongs to no cluster.
    pub const FORGET_CLUSTER: &'static str = "DELETE FROM ingester_settings WHERE name = 'cluster'";

    /// The statement that rolls back a transaction, in every dialect.
    pub const ROLLBACK: &'static str = "ROLLBACK";

    /// The statement that commits a transaction, in every dialect.
    pub const COMMIT: &'static str = "COMMIT";

    /// The parts that this dialect writes differently.
    fn rules(self) -> &'static dyn Rules {
        match self {
            Dialect::MySql => &mysql::MySql,
            Dialect::Sqlite => &sqlite::Sqlite,
            Dialect::Postgres => &postgres::Postgres,
        }
    }

    /// The constants of this dialect.
    fn facts(self) -> &'static Facts {
        self.rules().facts()
    }

    /// The database runs in this process and uses this process' clock.
    pub fn is_embedded(self) -> bool {
        self.facts().is_embedded
    }

    /// Tables are defined and changed in transactions, so a failure leaves nothing behind.
    pub fn defines_in_transactions(self) -> bool {
        self.facts().defines_in_transactions
    }

    /// A connection holds a lock while it migrates, so a second program waits for the first. In other dialects, the transaction of each
    /// migration keeps others out.
    pub fn locks_migrations(self) -> bool {
        self.facts().locks_migrations
    }

    /// Returns the statements that make a key while others write into its table; `None` if a migration makes nobody wait.
    /// `columns` are the result of [`Dialect::key_columns`], each with true if it is nullable.
    pub fn key_beside_writers(self, table: Ident, key: Ident, columns: &[(Ident, bool)]) -> Option<KeyBesideWriters> {
        self.rules().key_beside_writers(table, key, columns)
    }

    /// True if [`Dialect::key_beside_writers`] returns statements in this dialect.
    pub fn makes_keys_beside_writers(self) -> bool {
        let name = Ident::new("x");
        self.key_beside_writers(name, name, &[]).is_some()
    }

    /// The collation of text columns, which compares by byte, as the catalog names it where it names one.
    pub fn collation(self) -> &'static str {
        self.facts().collation
    }

    /// Texts are compared as if they were padded with blanks: `a` and `a ` are equal.
    pub fn pads_texts(self) -> bool {
        self.facts().pads_texts
    }

    /// An INSERT can leave out rows that exist and report the rows that it inserted. In other dialects such an INSERT fails as a whole, and
    /// its transaction goes on.
    pub fn skips_stored(self) -> bool {
        self.facts().skip_stored.is_some()
    }

    /// A condition inside a statement can decide which rows are written, and the statement returns these rows, so they need not be read
    /// before.
    pub fn judges(self) -> bool {
        self.rules().rows_inserted(&RowsOf::default(), &[]).is_some()
    }

    /// A column of several rows is one array parameter, so a statement has one text for any number of rows.
    pub fn has_arrays(self) -> bool {
        self.facts().has_arrays
    }

    /// One statement can update a row and record the change in the log of changes, without a transaction around it.
    pub fn records_in_one_statement(self) -> bool {
        self.facts().records_in_one_statement
    }

    /// Text may contain NUL (U+0000). In other dialects a value with NUL becomes NULL, and no row of a companion table contains it.
    pub fn has_nul(self) -> bool {
        self.facts().has_nul
    }

    /// Each connection decides whether a commit is on disk before it is answered. In other dialects the server's settings decide.
    pub fn durability_is_of_connections(self) -> bool {
        self.facts().durability_is_of_connections
    }

    /// Its name, as on the command line and in `generated-sql/`.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// Its name as people write it, in the log.
    pub fn title(self) -> &'static str {
        self.facts().title
    }

    /// Tells a person how to see which session holds a lock that something waits for.
    pub fn who_holds_locks(self) -> &'static str {
        self.facts().who_holds_locks
    }

    /// The prefix of tables that the database reserves, in lower case; `None` if it reserves none.
    pub fn reserved_prefix(self) -> Option<&'static str> {
        self.facts().reserved_prefix
    }

    /// Renders a shared statement.
    fn render(self, template: &impl askama::Template) -> Sql {
        // Writing into a string does not fail, and the filters always find the dialect.
        let text =
            template.render_with_values(&self).unwrap_or_else(|error| unreachable!("a template of SQL: {error}"));
        Sql::new(self.rules().number(self.rules().requote(text.trim_end())))
    }

    /// The statements that create a table with its keys if it is missing. Each may be repeated.
    pub(crate) fn create(self, table: &TableDef) -> Vec<Sql> {
        self.rules().create(table)
    }

    /// The statements that create one of the ingester's own tables if it is missing. Each may be repeated.
    pub fn create_own(self, table: &str) -> Vec<Sql> {
        let own = own_schema(self).tables;
        own.iter().filter(|own| own.name.as_str() == table).flat_map(|own| self.create(own)).collect()
    }

    /// The statements that create the missing tables of a schema, and make its views. Each may be repeated.
    pub fn create_all(self, schema: &Schema) -> Vec<Sql> {
        let tables = schema.tables.iter().flat_map(|table| self.create(table));
        tables.chain(self.create_views(&schema.views)).collect()
    }

    /// The statements that make views, in place of those with the same names; and before that `ingester_settings`, if a view reads it
    /// and it is missing. They may be repeated.
    pub fn create_views(self, views: &[ViewDef]) -> Vec<Sql> {
        let settings = views.iter().any(ViewDef::has_setting).then(|| self.create_own(SETTINGS));
        settings.into_iter().flatten().chain(views.iter().flat_map(|view| self.rules().create_view(view))).collect()
    }

    /// The statement that compresses the texts of a table of former versions; `None` if the server cannot, or has compressed them already.
    /// `json` is the type of their column as the catalog spells it. The statement copies the table, and its writers wait.
    pub fn compress_versions(self, table: Ident, json: &str) -> Option<Sql> {
        self.rules().compress_versions(table, json)
    }

    /// The statement that drops a view if it exists.
    pub fn drop_view(self, view: Ident) -> Sql {
        self.rules().drop_view(view)
    }

    /// The statement that drops a table if it exists.
    pub fn drop(self, table: Ident) -> Sql {
        self.rules().drop(table)
    }

    /// The statements of one step of a migration. On MySQL, it is one statement, or several that may be repeated. On SQLite, they
    /// are run in one transaction; there are none if the types are stored alike. `among` are all changes of the migration: where SQLite
    /// stores a column in its new type as it did, nothing is dropped that another step adds again.
    pub fn step(self, step: &Step, among: &[SchemaChange]) -> Vec<Sql> {
        self.rules().step(step, among)
    }

    /// One text that runs all of `statements` in a transaction, or at its end, with the values of the parameters written into it. If a
    /// statement fails, the transaction stays open. `None` for an embedded database, which has no round trips to save.
    pub fn in_one_text(self, form: TransactionForm, statements: &[&dyn Statement]) -> Option<Sql> {
        let write = self.facts().in_one_text?;
        let statements: Vec<_> =
            statements.iter().map(|statement| (statement.sql(self), statement.params_in(self))).collect();
        Some(write(form, &statements))
    }

    /// True if the program chooses [`Routes`](crate::query::Routes) to rows. Otherwise the route is always
    /// [`Route::Free`](crate::query::Route).
    pub fn has_routes(self) -> bool {
        self.facts().has_routes
    }

    /// Statements as a script, for people and for piping into a client.
    pub fn script<'a>(self, statements: impl IntoIterator<Item = &'a Sql>) -> String {
        let mut script = String::new();
        for sql in statements {
            if !script.is_empty() {
                script.push('\n');
            }
            script.push_str(sql.as_str());
            script.push_str(";\n");
        }
        script
    }
}

impl std::fmt::Display for Dialect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The escaper of the templates. It implements nothing, so templates can only write what a filter has marked as safe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unfiltered;

/// Renders a template of one dialect.
fn render_own(template: &impl askama::Template) -> Sql {
    Sql::new(template.render().unwrap_or_else(|error| unreachable!("a template of SQL: {error}")).trim_end())
}

#[cfg(test)]
mod tests;
