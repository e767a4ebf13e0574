//! How many rows a query asks for.

use crate::dialect::conditions::params;
use crate::dialect::{Columns, Dialect, OfGroup, Param, Query, Sql, Statement, filters};
use crate::query::Checked;
use crate::schema::Column;
use crate::value::Value;
use askama::Template;

/// Counts the rows that a query asks for: all of them, or those of each value of a column, the most frequent first.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"{{ milliseconds|select_within }} COUNT(*){% if let Some(column) = by %}, {{ column|read }}{% endif %}
FROM {{ query.table().name|ident }}
WHERE {{ group|is_of_group }} AND {{ query|holds }}{% if let Some(column) = by %}
GROUP BY {{ column.name|ident }}
ORDER BY COUNT(*) DESC, {{ column.name|ident }}
LIMIT {{ limit|number }}{% endif %}"#
)]
pub struct CountRows<'a> {
    /// The query.
    pub query: &'a Checked,
    /// The kind's group.
    pub group: &'a OfGroup,
    /// The column by whose values the rows are counted.
    pub by: Option<&'a Column>,
    /// The most values.
    pub limit: usize,
    /// After how long the server ends it.
    pub milliseconds: u64,
}

impl Statement for CountRows<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params_in(&self, dialect: Dialect) -> Vec<Param<'_>> {
        let mut all: Vec<Param<'_>> = self.group.params().map(Param::Text).collect();
        params(self.query.condition(), dialect.rules(), &mut all);
        all
    }
}

impl Query for CountRows<'_> {
    type Row = (u64, Value);

    fn read<C: Columns>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok((row.uint(0)?, self.by.map_or(Ok(Value::Null), |column| row.value(1, column.ty))?))
    }
}
