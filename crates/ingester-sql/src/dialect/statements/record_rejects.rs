//! Records rejects.

use crate::dialect::{Dialect, Param, RowsOf, Sql, Statement, filters};
use askama::Template;
use ingester_core::schema::SqlType;
use ingester_core::value::Micros;

/// Records objects that could not be mirrored, and replaces their earlier records.
#[derive(Debug, Template)]
#[template(
    ext = "sql",
    source = r#"INSERT INTO "ingester_rejects" ("uid", "group_ver", "kind", "namespace", "name", "res_version", "reason", "reject_time")
{{ rejects.len()|rows_of(self.describe_rows()) }}
{{ ["uid"]|on_conflict }}
  {{ "group_ver"|write_inserted }}, {{ "kind"|write_inserted }}, {{ "namespace"|write_inserted }}, {{ "name"|write_inserted }},
  {{ "res_version"|write_inserted }}, {{ "reason"|write_inserted }}, {{ "reject_time"|write_inserted }}"#
)]
pub struct RecordRejects<'a> {
    /// The objects.
    pub rejects: &'a [RejectRow<'a>],
    /// When they were rejected.
    pub reject_time: Micros,
}

impl Statement for RecordRejects<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        dialect.render(self)
    }

    fn params(&self) -> Vec<Param<'_>> {
        let mut params = Vec::with_capacity(8 * self.rejects.len());
        for reject in self.rejects {
            let RejectRow { uid, group_ver, kind, namespace, name, res_version, reason } = *reject;
            params.extend([uid, group_ver, kind, namespace, name, res_version, reason].map(Param::Text));
            params.push(Param::Time(self.reject_time));
        }
        params
    }

    fn describe_rows(&self) -> Option<RowsOf> {
        const TEXT: SqlType = SqlType::Text;
        Some(RowsOf::new(&[TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, SqlType::DateTime]))
    }
}

/// A row of `ingester_rejects`; its texts fit the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RejectRow<'a> {
    /// The object's uid, or the name-based one.
    pub uid: &'a str,
    /// `apiVersion`
    pub group_ver: &'a str,
    /// `kind`
    pub kind: &'a str,
    /// `metadata.namespace`
    pub namespace: &'a str,
    /// `metadata.name`
    pub name: &'a str,
    /// `metadata.resourceVersion`, as the object has it.
    pub res_version: &'a str,
    /// Why it was rejected.
    pub reason: &'a str,
}
