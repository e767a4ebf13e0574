//! The only place that knows SQL text: statements shared by all databases in [`statements`], one file each, and a folder
//! for what each dialect says in its own way. Nothing here runs anything.
//!
//! May use: schema, value, row, ddl.
//!
//! Shared statements are askama templates in standard SQL: names in double quotes, text in single quotes. [`Dialect::render`]
//! turns the double quotes into those of the dialect, and filters spell what differs. An interpolation without a filter does
//! not compile.

mod catalog;
mod filters;
mod mysql;
mod rules;
mod sqlite;
pub mod statements;

use crate::ddl::{Schema, Step, TableDef};
use crate::schema::{Ident, SqlType};
use crate::value::{Micros, Value};
use rules::Rules;
use std::sync::Arc;

/// The text of one statement. Only this room makes one, so no other text reaches a database by accident.
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

    /// The text, shared with whoever runs it.
    pub fn shared(&self) -> Arc<str> {
        self.0.clone()
    }
}

/// One parameter of a statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Param<'a> {
    /// A column's value.
    Value(&'a Value),
    /// Text.
    Text(&'a str),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    UInt(u64),
    /// A moment.
    Time(Micros),
    /// NULL.
    Null,
}

impl<'a> Param<'a> {
    /// About how many bytes it takes in a packet.
    pub fn bytes(&self) -> usize {
        match self {
            Param::Value(value) => value.bytes(),
            Param::Text(text) => text.len() + 9,
            Param::Int(_) | Param::UInt(_) => 8,
            Param::Time(_) => 27,
            Param::Null => 0,
        }
    }

    /// A moment, or NULL.
    pub(crate) fn time(time: Option<Micros>) -> Self {
        time.map_or(Param::Null, Param::Time)
    }

    /// Each of `texts`.
    pub(crate) fn texts(texts: &'a [&'a str]) -> Vec<Self> {
        texts.iter().map(|text| Param::Text(text)).collect()
    }
}

/// One statement: its text in each dialect, and its parameters.
pub trait Statement {
    /// The text.
    fn sql(&self, dialect: Dialect) -> Sql;

    /// The values of its question marks, in their order.
    fn params(&self) -> Vec<Param<'_>> {
        Vec::new()
    }
}

/// A statement that answers with rows.
pub trait Query: Statement {
    /// What one row of the answer holds.
    type Row;

    /// Reads one row of the answer.
    ///
    /// # Errors
    /// Those of the driver, when a column is not what the statement selects.
    fn read<C: Columns>(&self, row: &C) -> Result<Self::Row, C::Error>;
}

/// The columns of one row of an answer, by their places. Each driver implements it.
pub trait Columns {
    /// The driver's error.
    type Error;

    /// Text that is not NULL.
    ///
    /// # Errors
    /// When the column is something else.
    fn text(&self, place: usize) -> Result<String, Self::Error>;

    /// Text or NULL.
    ///
    /// # Errors
    /// When the column is something else.
    fn optional_text(&self, place: usize) -> Result<Option<String>, Self::Error>;

    /// A signed integer.
    ///
    /// # Errors
    /// When the column is something else.
    fn int(&self, place: usize) -> Result<i64, Self::Error>;

    /// An unsigned integer.
    ///
    /// # Errors
    /// When the column is something else.
    fn uint(&self, place: usize) -> Result<u64, Self::Error>;

    /// A value of a column of this type. One that the type cannot have, which somebody wrote by hand, comes back as what it
    /// is.
    ///
    /// # Errors
    /// When the driver cannot read the column.
    fn value(&self, place: usize, ty: SqlType) -> Result<Value, Self::Error>;
}

/// A family of databases that take the same statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// MySQL 5.7 to 9.x, MariaDB 10.6 and later, TiDB, Vitess.
    MySql,
    /// SQLite 3.37 and later (STRICT tables).
    Sqlite,
}

/// What a transaction is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading: it sees one state of the database from its first statement on, and takes no lock for writing.
    Read,
    /// Writing.
    Write,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Dialect; 2] = [Dialect::MySql, Dialect::Sqlite];

    /// The statement that rolls back a transaction, in every dialect.
    pub const ROLLBACK: &'static str = "ROLLBACK";

    /// What this dialect says in its own way.
    fn rules(self) -> &'static dyn Rules {
        match self {
            Dialect::MySql => &mysql::MySql,
            Dialect::Sqlite => &sqlite::Sqlite,
        }
    }

    /// Its name, as on the command line and in `generated-sql/`.
    pub(crate) fn name(self) -> &'static str {
        self.rules().name()
    }

    /// Renders a shared statement.
    fn render(self, template: &impl askama::Template) -> Sql {
        // Writing into a string does not fail and the filters find what they ask for, so there is nothing to hand on.
        let text =
            template.render_with_values(&self).unwrap_or_else(|error| unreachable!("a template of SQL: {error}"));
        Sql::new(self.rules().requote(text.trim_end()))
    }

    /// The statements that make a table with its keys where it is missing, each repeatable.
    pub(crate) fn create(self, table: &TableDef) -> Vec<Sql> {
        self.rules().create(table)
    }

    /// The statements that make all tables of a schema, each repeatable.
    pub fn create_all(self, schema: &Schema) -> Vec<Sql> {
        schema.tables.iter().flat_map(|table| self.create(table)).collect()
    }

    /// The statement that drops a table where it is there.
    pub fn drop(self, table: Ident) -> Sql {
        self.rules().drop(table)
    }

    /// The statements of one step of a migration: one on MySQL, or several that may be repeated; on SQLite those of one
    /// transaction, none where its types make no difference.
    pub fn step(self, step: &Step) -> Vec<Sql> {
        self.rules().step(step)
    }

    /// The statements that a new connection runs first.
    pub fn session(self) -> Vec<Sql> {
        self.rules().session().iter().map(|text| Sql::new(*text)).collect()
    }

    /// The statements that a connection for migrations runs as well.
    pub fn session_of_migrations(self) -> Vec<Sql> {
        self.rules().session_of_migrations().iter().map(|text| Sql::new(*text)).collect()
    }

    /// Waits until no other connection migrates this database. Columns: 1 once that is so. `None` where a transaction is all
    /// that it takes.
    pub fn lock_migrations(self) -> Option<Sql> {
        self.rules().lock_migrations().map(Sql::new)
    }

    /// The statement that begins a transaction.
    pub fn begin(self, access: Access) -> &'static str {
        self.rules().begin(access)
    }

    /// One text that runs all of `statements` in a transaction of its own, with the parameters' values written into it; where
    /// one of them fails, the transaction stays open. `None` for a database that no round trip leads to.
    pub fn in_one_text(self, statements: &[&dyn Statement]) -> Option<Sql> {
        let write = self.rules().in_one_text()?;
        let statements: Vec<_> = statements.iter().map(|statement| (statement.sql(self), statement.params())).collect();
        Some(write(self.begin(Access::Write), &statements))
    }

    /// A script of statements for people and for piping into a client.
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

/// The escaper of the templates: it implements nothing, so only what a filter has marked as safe can be written.
#[derive(Clone, Copy, Debug)]
pub struct Unfiltered;

/// Renders a definition of one dialect, in its own spelling.
fn render_own(template: &impl askama::Template) -> Sql {
    Sql::new(template.render().unwrap_or_else(|error| unreachable!("a template of SQL: {error}")).trim_end())
}

#[cfg(test)]
mod tests;
