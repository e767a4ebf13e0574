//! Backfilled columns of existing rows.

use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use crate::row::Row;
use crate::schema::Table;
use askama::Template;

/// Writes some columns of existing rows, which the transaction has locked.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"{#- The rows exist and are locked, so nothing is ever inserted. The placeholders are for columns that may not be NULL. -#}
INSERT INTO {{ table.name|ident }} ("uid", "group_ver", "namespace", "name", "res_version", "update_time", "json"{% for place in places.iter().copied() %}, {{ table.columns[place].name|ident }}{% endfor %})
VALUES {% for _ in rows %}{% if !loop.first %}, {% endif %}(?, '', '', '', 0, '1970-01-01', '{}'{% for _ in places %}, ?{% endfor %}){% endfor %}
{{ ["uid"]|on_conflict }}
{%- for place in places.iter().copied() %}
  {{ table.columns[place].name|write_inserted }}{% if !loop.last %},{% endif %}
{%- endfor %}"#
)]
pub struct WriteBackfilled<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The places of the columns.
    pub places: &'a [usize],
    /// The rows as they should be today, each with its stored uid.
    pub rows: &'a [(String, Row)],
}

impl Statement for WriteBackfilled<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let mut params = Vec::with_capacity(self.rows.len() * (1 + self.places.len()));
        for (uid, row) in self.rows {
            params.push(Param::Text(uid));
            params.extend(self.places.iter().map(|place| Param::Value(&row.values[*place])));
        }
        params
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;

    #[test]
    fn reads_well() {
        snapshot(&WriteBackfilled {
            table: &TABLE,
            places: &[11, 12],
            rows: &[("a".into(), row()), ("b".into(), row())],
        });
    }
}
