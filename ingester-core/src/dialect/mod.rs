//! The only place that knows SQL text. Everything is rendered from the templates in `templates/`, one folder a
//! dialect; every interpolation goes through a filter of [`filters`](self), an unfiltered one does not compile.
//!
//! May use: `schema`, `ddl`, `value`. Must not: run anything (that is `store`).

mod catalog;
mod filters;
mod mysql;
mod sqlite;
mod statements;

use crate::ddl::{Schema, Step, TableDef};
use crate::schema::{Column, Companion, Ident, Table};
use crate::value::{Micros, Value};
use std::sync::Arc;

/// The text of one statement. Only this module makes one, so no other text reaches a database by accident.
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

    pub(crate) fn shared(&self) -> Arc<str> {
        self.0.clone()
    }
}

/// One parameter of a statement.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Param<'a> {
    Value(&'a Value),
    Text(&'a str),
    UInt(u64),
    Time(Micros),
    Null,
}

impl Param<'_> {
    /// About how many bytes it takes in a packet.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Param::Value(value) => value.bytes(),
            Param::Text(text) => text.len() + 9,
            Param::UInt(_) => 8,
            Param::Time(_) => 27,
            Param::Null => 0,
        }
    }

    pub(crate) fn time(time: Option<Micros>) -> Self {
        time.map_or(Param::Null, Param::Time)
    }
}

/// Renders a template.
fn render(template: &impl askama::Template) -> Sql {
    // Writing into a string does not fail and no filter returns an error, so there is nothing to hand on.
    Sql::new(template.render().unwrap_or_else(|error| unreachable!("a template of SQL: {error}")).trim_end())
}

/// The escaper of the templates: it implements nothing, so only what a filter has marked as safe can be written.
#[derive(Clone, Copy, Debug)]
pub struct Unfiltered;

/// A family of databases that take the same statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// MySQL 5.7 to 9.x, MariaDB 10.6 and later, TiDB, Vitess.
    MySql,
    /// SQLite 3.37 and later (STRICT tables).
    Sqlite,
}

/// Statements over a number of rows; see [`Dialect::statement`] for their parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Statement {
    /// Reads what is stored for n uids, and locks the rows until the transaction ends.
    /// Parameters: n uids. Columns: uid, res_version, whether delete_time is set, whether evict_time is set.
    Versions,
    /// Inserts n rows of the main table; none of them where one of them is there.
    /// Parameters: for each row every column in the table's order.
    Insert,
    /// Writes n rows of the main table over those that are there, which the transaction has locked.
    /// Parameters: as of [`Statement::Insert`].
    Overwrite,
    /// Writes one row of the main table over the one that is there, where that is live and of the version that is expected.
    /// Parameters: every column but the uid, in the table's order; the uid; the expected res_version.
    Update,
    /// Marks n rows of the main table as deleted, which are there and which the transaction has locked.
    /// Parameters: for each uid, res_version, delete_time, update_time.
    Tombstone,
    /// Makes n rows look older than any object and alive, so that whatever is written next wins. Parameters: n uids.
    Rewind,
    /// Reads a companion table for n uids. Parameters: n uids. Columns: obj_uid, key, value.
    ReadPairs(Companion),
    /// Writes n rows of a companion table. Parameters: for each obj_uid, key, value.
    WritePairs(Companion),
    /// Deletes n rows of a companion table. Parameters: for each obj_uid, key.
    DeletePairs(Companion),
    /// Reads up to n rows of the main table that are live, by namespace and name. Parameters: none.
    /// Columns: namespace, name, then the indexed columns as text.
    Peek,
    /// Reads n rows of the main table whole, without locks. Parameters: n uids.
    /// Columns: the table's, in its order; times as text.
    Read,
    /// Reads up to n rows of the main table that are live, in the order of their uids, without locks.
    /// Parameters: the uid after which they begin; where it is of one namespace, that. Columns: as of [`Statement::Versions`].
    Live {
        /// Of one namespace only.
        of_namespace: bool,
    },
    /// Reads whose rows these are. Parameters: n uids. Columns: uid, namespace, name.
    Names,
    /// Reads the highest res_version of all rows; looks at every row. Parameters: none. Columns: that, NULL without rows.
    Newest,
}

/// Statements on the ingester's own tables, which stand beside the kinds' tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bookkeeping {
    /// Makes `ingester_rejects` where it is missing.
    CreateRejects,
    /// Whether any object is rejected. Columns: 0 or 1.
    AnyRejects,
    /// Records n rejects. Parameters: for each uid, group_ver, kind, namespace, name, res_version, reason, reject_time.
    RecordRejects,
    /// Forgets the rejects of n uids. Parameters: n uids.
    ClearRejects,
    /// Reads the rejects of one kind. Parameters: group_ver, kind. Columns: uid, reason.
    ReadRejects,
    /// Makes `ingester_backfills` where it is missing.
    CreateBackfills,
    /// Reads how far every column is filled. Columns: the table's.
    ReadBackfills,
    /// A column is to be filled from the first row on. Parameters: table, column, migration, begin_time.
    BeginBackfill,
    /// Rows of a column were filled. Parameters: position, rows read, filled and failed, table, column.
    StepBackfill,
    /// A column is complete. Parameters: complete_time, table, column.
    EndBackfill,
    /// Forgets the columns that later migrations have added. Parameters: the last migration that stays.
    ForgetBackfills,
    /// A migration that was interrupted was done. Parameters: version.
    SettleMigration,
    /// A migration that was interrupted was not done. Parameters: version.
    ForgetMigration,
}

impl Dialect {
    /// Both.
    pub const ALL: [Dialect; 2] = [Dialect::MySql, Dialect::Sqlite];

    /// Its name, as on the command line and in `generated-sql/`.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::MySql => "mysql",
            Dialect::Sqlite => "sqlite",
        }
    }

    /// The statements that make a table with its keys where it is missing, each repeatable.
    pub fn create(self, table: &TableDef) -> Vec<Sql> {
        match self {
            Dialect::MySql => mysql::create(table),
            Dialect::Sqlite => sqlite::create(table),
        }
    }

    /// The statements that make all tables of a schema, each repeatable.
    pub fn create_all(self, schema: &Schema) -> Vec<Sql> {
        schema.tables.iter().flat_map(|table| self.create(table)).collect()
    }

    /// The statement that drops a table where it is there.
    pub fn drop(self, table: Ident) -> Sql {
        match self {
            Dialect::MySql => mysql::drop(table),
            Dialect::Sqlite => sqlite::drop(table),
        }
    }

    /// The statements of one step of a migration: one on MySQL, or several that may be repeated; on SQLite those of one
    /// transaction, none where its types make no difference.
    pub fn step(self, step: &Step) -> Vec<Sql> {
        match self {
            Dialect::MySql => mysql::step(step),
            Dialect::Sqlite => sqlite::step(step),
        }
    }

    /// The statement for `rows` rows of `table`.
    pub fn statement(self, statement: Statement, table: &Table, rows: usize) -> Sql {
        match self {
            Dialect::MySql => mysql::statement(statement, table, rows),
            Dialect::Sqlite => sqlite::statement(statement, table, rows),
        }
    }

    /// The statement on the ingester's own tables for `rows` rows.
    pub fn bookkeeping(self, statement: Bookkeeping, rows: usize) -> Sql {
        match self {
            Dialect::MySql => mysql::bookkeeping(statement, rows),
            Dialect::Sqlite => sqlite::bookkeeping(statement, rows),
        }
    }

    /// Reads up to n rows to be filled, in the order of their uids, and locks them until the transaction ends.
    /// Parameters: the uid after which they begin. Columns: uid, json, then `columns`, times as text.
    pub fn fill_read(self, table: &Table, columns: &[Column], rows: usize) -> Sql {
        match self {
            Dialect::MySql => mysql::fill_read(table, columns, rows),
            Dialect::Sqlite => sqlite::fill_read(table, columns, rows),
        }
    }

    /// Writes some columns of n rows that are there. Parameters: for each row its uid, then `columns`.
    pub fn fill_write(self, table: &Table, columns: &[Column], rows: usize) -> Sql {
        match self {
            Dialect::MySql => mysql::fill_write(table, columns, rows),
            Dialect::Sqlite => sqlite::fill_write(table, columns, rows),
        }
    }

    /// What a new connection is told before its first statement.
    pub fn session(self) -> Vec<Sql> {
        match self {
            Dialect::MySql => mysql::session(),
            Dialect::Sqlite => Vec::new(),
        }
    }

    /// What a connection that runs migrations is told as well.
    pub fn session_of_migrations(self) -> Vec<Sql> {
        match self {
            // A change of a table's definition waits for the transactions that use it, and whoever comes later waits behind
            // it: after a second it gives up and lets them through.
            Dialect::MySql => vec![Sql::new("SET SESSION lock_wait_timeout = 1")],
            Dialect::Sqlite => Vec::new(),
        }
    }

    /// Waits until no other connection migrates this database. Columns: 1 once that is so. `None` where a transaction is all
    /// that it takes.
    pub fn lock_migrations(self) -> Option<Sql> {
        match self {
            // sqlx's own lock waits for ever by a negative time-out, which MariaDB does not know: it answers NULL at once.
            Dialect::MySql => Some(Sql::new("SELECT GET_LOCK(CONCAT('ingester', SHA2(DATABASE(), 224)), 31536000)")),
            Dialect::Sqlite => None,
        }
    }

    /// What begins a transaction that will write.
    pub fn begin(self) -> &'static str {
        match self {
            Dialect::MySql => "START TRANSACTION",
            // Taking the write lock at once: a lock taken later could not be waited for.
            Dialect::Sqlite => "BEGIN IMMEDIATE",
        }
    }

    /// What undoes a transaction that was begun by [`Dialect::at_once`].
    pub(crate) fn rollback(self) -> &'static str {
        "ROLLBACK"
    }

    /// What begins a transaction that only reads, and sees one state of the database from its first statement on.
    pub fn begin_reading(self) -> &'static str {
        match self {
            // The sessions are READ COMMITTED, where each statement sees a state of its own.
            Dialect::MySql => "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION READ ONLY",
            // Without the write lock, which others may hold for long.
            Dialect::Sqlite => "BEGIN DEFERRED",
        }
    }

    /// One text that does all of `statements` in a transaction of its own, with the parameters' values written into it; where
    /// one of them fails, the transaction stays open. `None` for a database that no round trip leads to.
    pub(crate) fn at_once<'p>(self, statements: impl FnOnce() -> Vec<(Sql, Vec<Param<'p>>)>) -> Option<Sql> {
        match self {
            Dialect::MySql => Some(mysql::at_once(self.begin(), &statements())),
            Dialect::Sqlite => None,
        }
    }

    /// Asks the server for its name, version and the largest packet it takes.
    pub fn server(self) -> Sql {
        match self {
            Dialect::MySql => Sql::new("SELECT CONCAT(VERSION(), ' ', @@version_comment), @@max_allowed_packet"),
            Dialect::Sqlite => Sql::new("SELECT 'SQLite ' || sqlite_version(), 1000000000"),
        }
    }

    /// The names of the tables in the present database, one a row.
    pub fn tables(self) -> Sql {
        match self {
            Dialect::MySql => {
                Sql::new("SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()")
            }
            Dialect::Sqlite => Sql::new("SELECT name FROM sqlite_master WHERE type = 'table'"),
        }
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

#[cfg(test)]
mod tests;
