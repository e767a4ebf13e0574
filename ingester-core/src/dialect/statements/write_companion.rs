//! Labels or annotations, written.

use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use crate::schema::{Companion, Table};
use askama::Template;

/// Writes labels or annotations, and replaces those with the same keys.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"INSERT INTO {{ table.companion(*companion)|ident }} ("obj_uid", "key", "value")
VALUES {{ rows.len()|rows_of(3) }}
{{ ["obj_uid", "key"]|on_conflict }} {{ "value"|write_inserted }}"#
)]
pub struct WriteCompanion<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// Labels or annotations.
    pub companion: Companion,
    /// uid, key and value of each.
    pub rows: &'a [(&'a str, &'a str, &'a str)],
}

impl Statement for WriteCompanion<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        self.rows.iter().flat_map(|(uid, key, value)| [uid, key, value].map(|text| Param::Text(text))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;

    #[test]
    fn reads_well() {
        snapshot(&WriteCompanion { table: &TABLE, companion: Companion::Labels, rows: &[("a", "k", "v"); 2] });
    }
}
