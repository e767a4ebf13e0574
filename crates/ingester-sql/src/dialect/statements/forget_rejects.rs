//! Deletes rejects that a person has handled.

use crate::dialect::{Dialect, GroupFilter, Param, Sql, Statement, filters};
use askama::Template;

/// Selects rejects. A reject must pass every condition that is not empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct RejectsOf<'a> {
    /// Only rejects of these kinds.
    pub kinds: &'a [KindRejects<'a>],
    /// Only rejects in these namespaces.
    pub namespaces: &'a [&'a str],
    /// Only rejects with these uids.
    pub uids: &'a [&'a str],
}

/// Rejects of a kind.
#[derive(Clone, Debug)]
pub struct KindRejects<'a> {
    /// The kind.
    pub kind: &'a str,
    /// Its group, where another one has a kind of this name.
    pub group: Option<GroupFilter>,
}

impl<'a> KindRejects<'a> {
    /// Rejects of a kind in any group.
    pub const fn in_any_group(kind: &'a str) -> Self {
        KindRejects { kind, group: None }
    }
}

impl RejectsOf<'_> {
    pub(super) fn params(&self) -> Vec<Param<'_>> {
        let kinds = self.kinds.iter().flat_map(|of| {
            let group = of.group.iter().flat_map(|group| group.params().map(Param::Text));
            std::iter::once(Param::Text(of.kind)).chain(group)
        });
        let lists = [self.namespaces, self.uids].into_iter().filter(|list| !list.is_empty());
        kinds.chain(lists.flat_map(Param::texts)).collect()
    }
}

/// Deletes rejects.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"DELETE FROM "ingester_rejects"
WHERE 1 = 1{% if !of.kinds.is_empty() %} AND {{ of.kinds|is_of_kinds }}{% endif %}{% if !of.namespaces.is_empty() %} AND {{ "namespace"|is_one_of(of.namespaces.len()) }}{% endif %}{% if !of.uids.is_empty() %} AND {{ "uid"|is_one_of(of.uids.len()) }}{% endif %}"#
)]
pub struct ForgetRejects<'a> {
    /// The rejects to delete.
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
