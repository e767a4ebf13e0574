//! Reads rows to be filled, a page in the order of their uids, and locks them until the transaction ends.

use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use crate::schema::{SqlType, Table};
use crate::value::Value;
use askama::Template;

/// Reads rows to be filled, a page in the order of their uids, and locks them until the transaction ends.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "uid", "json"{% for place in places.iter().copied() %}, {{ table.columns[place]|read }}{% endfor %}
FROM {{ table.name|ident }}
WHERE "uid" > ?
ORDER BY "uid"
LIMIT {{ limit|number }}{{ table|lock_rows }}"#
)]
pub struct ReadForBackfill<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The places of the columns that are filled.
    pub places: &'a [usize],
    /// The uid that the page comes after; empty for the first page.
    pub after: &'a str,
    /// Rows at most.
    pub limit: usize,
}

impl Statement for ReadForBackfill<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        vec![Param::Text(self.after)]
    }
}

impl Query for ReadForBackfill<'_> {
    type Row = RowToBackfill;

    fn read<C: Columns>(&self, row: &C) -> Result<Self::Row, C::Error> {
        let value = |(place, column): (usize, &usize)| row.value(place + 2, self.table.columns[*column].ty);
        Ok(RowToBackfill {
            uid: row.text(0)?,
            json: row.value(1, SqlType::Json)?,
            values: self.places.iter().enumerate().map(value).collect::<Result<_, _>>()?,
        })
    }
}

/// A row whose columns are to be filled.
#[derive(Clone, Debug, PartialEq)]
pub struct RowToBackfill {
    /// `uid`
    pub uid: String,
    /// `json`
    pub json: Value,
    /// The columns that are filled, as they are stored.
    pub values: Vec<Value>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;

    #[test]
    fn reads_well() {
        snapshot(&ReadForBackfill { table: &TABLE, places: &[11, 12], after: "a", limit: 2 });
    }
}
