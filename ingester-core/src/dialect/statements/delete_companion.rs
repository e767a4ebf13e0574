//! Labels or annotations, deleted.

use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use crate::schema::{Companion, Table};
use askama::Template;

/// Deletes labels or annotations.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"DELETE FROM {{ table.companion(*companion)|ident }}
WHERE ("obj_uid", "key") IN ({{ rows.len()|row_values(2) }})"#
)]
pub struct DeleteCompanion<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// Labels or annotations.
    pub companion: Companion,
    /// uid and key of each.
    pub rows: &'a [(&'a str, &'a str)],
}

impl Statement for DeleteCompanion<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        self.rows.iter().flat_map(|(uid, key)| [Param::Text(uid), Param::Text(key)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;

    #[test]
    fn reads_well() {
        snapshot(&DeleteCompanion { table: &TABLE, companion: Companion::Annotations, rows: &[("a", "k"); 2] });
    }
}
