//! Finds former versions that are due to be purged.

use super::changes_after::time_of;
use crate::dialect::{Columns, Dialect, GroupFilter, Param, Query, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::Table;
use ingester_core::value::Micros;

/// Finds the former versions to purge, the oldest first, without locks: returns the uid of each, and when it began.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"SELECT "uid", {{ "valid_from"|read_time }}
{% match of -%}
{% when Old::Before(_) -%}
FROM {{ former.name|by_key("valid_to") }}
WHERE "valid_to" < ? AND {{ group|is_of_group }}
ORDER BY "valid_to"
{%- when Old::Of(_) -%}
FROM {{ former.name|by_key("PRIMARY") }}
WHERE "uid" = ? AND {{ group|is_of_group }}
ORDER BY "valid_from"
{%- endmatch %}
LIMIT {{ limit|number }}"#
)]
pub struct OldVersions<'a> {
    /// The table of the kind's history.
    pub former: &'a Table,
    /// The kind's group. Rows of another one are not this kind's.
    pub group: &'a GroupFilter,
    /// The former versions to purge.
    pub of: Old<'a>,
    /// The most versions.
    pub limit: usize,
}

/// Selects old former versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Old<'a> {
    /// Versions that ended before a time.
    Before(Micros),
    /// The first ones of the object with this uid.
    Of(&'a str),
}

impl Statement for OldVersions<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let of = match self.of {
            Old::Before(time) => Param::Time(time),
            Old::Of(uid) => Param::Text(uid),
        };
        [of].into_iter().chain(self.group.params().map(Param::Text)).collect()
    }
}

impl Query for OldVersions<'_> {
    type Row = (String, Micros);

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok((row.read_text(0)?, time_of(row, 1)?))
    }
}
