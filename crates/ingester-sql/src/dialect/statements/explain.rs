//! Explains another statement: the database's plan for it.

use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement};

/// Asks how a statement would be run, without running it.
#[derive(Clone, Copy, Debug)]
pub struct Explain<'a, S> {
    /// The statement.
    pub statement: &'a S,
    /// The dialect of the server that is asked.
    pub dialect: Dialect,
}

impl<S: Statement> Statement for Explain<'_, S> {
    fn sql(&self, dialect: Dialect) -> Sql {
        let (explain, _) = dialect.facts().explain;
        let sql = self.statement.sql(dialect);
        // The time limit is not part of the plan.
        let select = sql.as_str().find("SELECT").map_or(sql.as_str(), |start| &sql.as_str()[start..]);
        Sql::new(format!("{explain}{select}"))
    }

    fn params_in(&self, dialect: Dialect) -> Vec<Param<'_>> {
        self.statement.params_in(dialect)
    }
}

impl<S: Statement> Query for Explain<'_, S> {
    type Row = String;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        row.read_text(self.dialect.facts().explain.1)
    }
}
