//! Which rows can still be purged.

use crate::dialect::{Columns, Dialect, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;
use ingester_core::value::Micros;

/// Reads which of some rows are still of objects that were deleted before a time and are not evicted, and locks them until the
/// transaction ends.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "uid"
FROM {{ table|by_uid }}
WHERE {{ "uid"|is_one_of(uids.len()) }} AND {{ "delete_time"|without_index }} < ? AND {{ "evict_time"|without_index }} IS NULL
ORDER BY "uid"{{ table|lock_rows }}"#
)]
pub struct LockPurgeable<'a> {
    /// The kind's tables.
    pub table: &'a Table,
    /// The uids.
    pub uids: &'a [&'a str],
    /// The time before which they were deleted.
    pub before: Micros,
}

impl Statement for LockPurgeable<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let mut params = Param::texts(self.uids);
        params.push(Param::Time(self.before));
        params
    }
}

impl Query for LockPurgeable<'_> {
    type Row = String;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        row.text(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;

    #[test]
    fn reads_well() {
        snapshot(&LockPurgeable { table: &TABLE, uids: UIDS, before: NOW });
    }
}
