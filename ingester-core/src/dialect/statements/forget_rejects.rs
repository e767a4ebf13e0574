//! Rejects that somebody has seen to.

use crate::dialect::{Dialect, Param, Sql, Statement, filters};
use askama::Template;

/// Which rejects are meant: those that pass every condition that is not empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct RejectsOf<'a> {
    /// Of these kinds.
    pub kinds: &'a [&'a str],
    /// In these namespaces.
    pub namespaces: &'a [&'a str],
    /// Of these uids.
    pub uids: &'a [&'a str],
}

impl RejectsOf<'_> {
    pub(super) fn params(&self) -> Vec<Param<'_>> {
        [self.kinds, self.namespaces, self.uids].into_iter().flat_map(Param::texts).collect()
    }
}

/// Deletes rejects.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"DELETE FROM "ingester_rejects"
WHERE 1 = 1{% if !of.kinds.is_empty() %} AND "kind" IN ({{ of.kinds.len()|parameters }}){% endif %}{% if !of.namespaces.is_empty() %} AND "namespace" IN ({{ of.namespaces.len()|parameters }}){% endif %}{% if !of.uids.is_empty() %} AND "uid" IN ({{ of.uids.len()|parameters }}){% endif %}"#
)]
pub struct ForgetRejects<'a> {
    /// Which.
    pub of: RejectsOf<'a>,
}

impl Statement for ForgetRejects<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        self.of.params()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::*;

    #[test]
    fn reads_well() {
        let all = ForgetRejects { of: RejectsOf::default() };
        let some = ForgetRejects { of: RejectsOf { kinds: &["Widget"], namespaces: &["ml", "dev"], uids: UIDS } };
        snapshot_of("ForgetRejects", &[&all, &some]);
    }
}
