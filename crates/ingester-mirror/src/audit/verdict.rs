//! Compares an object in the cluster with its row: a finding for each pair that differs, and the report. Pure.
//!
//! Cluster and database are not read at the same moment. So a finding is only a suspicion until the same object and row, read
//! again, give the same finding.

use ingester_core::row::Row;
use ingester_core::schema::Table;
use ingester_store::StoredRow;
use ingester_store::compare::{Difference, differences};
use serde::{Serialize, Serializer};

/// The state of one uid in the cluster.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ClusterState<'a> {
    /// No object, or one that the kind's predicate leaves out.
    Nothing,
    /// An object.
    Object {
        /// Its row, with neither `delete_time` nor `evict_time` set.
        row: &'a Row,
        /// `metadata.deletionTimestamp` is set, or the annotation `Deleting` is "true": the row may already be a tombstone.
        terminating: bool,
        /// The object is about to leave etcd: its kind is immutable, or the annotation `Immutable` is "true".
        leaving: bool,
        /// The object is terminating and only others hold it: its row may have been purged.
        released: bool,
        /// The reason in `ingester_rejects`, if that table has the uid.
        rejected: Option<&'a str>,
    },
    /// An object that cannot be decoded, with the reason.
    Undecodable(&'a str),
}

/// The difference between one object and its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The object has no row.
    Missing,
    /// The row has an earlier version than the object.
    Stale {
        /// The object's resourceVersion.
        wanted: u64,
        /// The row's resourceVersion.
        stored: u64,
    },
    /// The row has a later version than the object: it was read later, or the cluster was restored from a backup.
    Ahead {
        /// The object's resourceVersion.
        wanted: u64,
        /// The row's resourceVersion.
        stored: u64,
    },
    /// The row has the object's version and other content.
    Different(Vec<Difference>),
    /// The object is live, its row has a `delete_time`.
    Deleted,
    /// The row is live and not evicted, and the object does not exist.
    Orphaned,
    /// The object was evicted from etcd and exists there again. Neither it nor its row changes until a person decides.
    Ghost {
        /// The object's resourceVersion.
        object: u64,
        /// The row's resourceVersion.
        stored: u64,
    },
    /// The object cannot be mirrored, for this reason.
    Rejected(String),
}

impl Finding {
    /// Returns its name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Finding::Missing => "missing",
            Finding::Stale { .. } => "stale",
            Finding::Ahead { .. } => "ahead",
            Finding::Different(_) => "different",
            Finding::Deleted => "deleted",
            Finding::Orphaned => "orphaned",
            Finding::Ghost { .. } => "ghost",
            Finding::Rejected(_) => "rejected",
        }
    }
}

/// The finding in words, without the object's name.
impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Finding::Missing => f.write_str("the object has no row"),
            Finding::Stale { wanted, stored } => {
                write!(f, "the row is of version {stored}, the object of {wanted}")
            }
            Finding::Ahead { wanted, stored } => {
                write!(f, "the row is of version {stored}, later than the object's {wanted}")
            }
            Finding::Different(differences) => {
                for (index, difference) in differences.iter().enumerate() {
                    write!(f, "{}{difference}", if index == 0 { "" } else { "; " })?;
                }
                Ok(())
            }
            Finding::Deleted => f.write_str("the object lives, its row is marked as deleted"),
            Finding::Orphaned => f.write_str("the row is live, its object does not exist"),
            Finding::Ghost { object, stored } => write!(
                f,
                "the object was evicted at version {stored} and is in the cluster again, at version {object}: decide with \
                 `ingester ghosts`"
            ),
            Finding::Rejected(reason) => f.write_str(reason),
        }
    }
}

/// Compares one object with its row. `None` if nothing is wrong:
/// - A terminating object may have a live row or a tombstone. After the tombstone it still loses finalizers, one by one, which
///   is not stored, so the tombstone may have any other version.
/// - An evicted row is correct without an object, and with one that is about to leave etcd.
/// - A tombstone is correct without an object.
/// - An object that is released needs no row: it was purged, or never had to be written. A rejected object is still reported.
///
/// A rejected object without a row, or with a row of an earlier version, is [`Finding::Rejected`]: writing it again would not
/// help.
pub(crate) fn judge(table: &Table, wanted: &ClusterState<'_>, stored: Option<&StoredRow>) -> Option<Finding> {
    let (row, terminating, leaving, released, rejected) = match *wanted {
        ClusterState::Nothing => {
            let lives = |stored: &StoredRow| stored.delete_time.is_none() && stored.evict_time.is_none();
            return stored.is_some_and(lives).then_some(Finding::Orphaned);
        }
        ClusterState::Undecodable(reason) => return Some(Finding::Rejected(reason.to_owned())),
        ClusterState::Object { row, terminating, leaving, released, rejected } => {
            (row, terminating, leaving, released, rejected)
        }
    };
    if stored.is_none() && released && rejected.is_none() {
        return None;
    }
    let finding = against(table, row, terminating, leaving, stored)?;
    Some(match (finding, rejected) {
        (Finding::Missing | Finding::Stale { .. }, Some(reason)) => Finding::Rejected(reason.to_owned()),
        (finding, _) => finding,
    })
}

fn against(table: &Table, row: &Row, terminating: bool, leaving: bool, stored: Option<&StoredRow>) -> Option<Finding> {
    let Some(stored) = stored else { return Some(Finding::Missing) };
    if stored.evict_time.is_some() && (terminating || leaving) {
        return None;
    }
    if stored.delete_time.is_some() {
        if !terminating {
            return Some(Finding::Deleted);
        }
        if stored.res_version != row.res_version {
            return None;
        }
    }
    let wanted = row.res_version;
    let version = stored.res_version;
    match version.cmp(&wanted) {
        std::cmp::Ordering::Less => return Some(Finding::Stale { wanted, stored: version }),
        std::cmp::Ordering::Greater => return Some(Finding::Ahead { wanted, stored: version }),
        std::cmp::Ordering::Equal => {}
    }
    let mut found = differences(table, row, stored);
    if terminating {
        let delete_time =
            table.columns.get(ingester_core::schema::base::DELETE_TIME).map(|column| column.name.as_str());
        found.retain(|difference| Some(difference.what.as_str()) != delete_time);
    }
    (!found.is_empty()).then_some(Finding::Different(found))
}

/// One finding, and the object or row that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportEntry {
    /// The kind.
    pub kind: String,
    /// `metadata.namespace`
    pub namespace: String,
    /// `metadata.name`
    pub name: String,
    /// `metadata.uid`
    pub uid: String,
    /// The difference.
    pub finding: Finding,
}

/// Flat, like a line of a table: `finding` is the finding's name, `detail` its text; `differences` is left out if empty.
impl Serialize for ReportEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct FindingLine<'a> {
            kind: &'a str,
            namespace: &'a str,
            name: &'a str,
            uid: &'a str,
            finding: &'a str,
            detail: String,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            differences: &'a [Difference],
        }
        let line = FindingLine {
            kind: &self.kind,
            namespace: &self.namespace,
            name: &self.name,
            uid: &self.uid,
            finding: self.finding.name(),
            detail: self.finding.to_string(),
            differences: match &self.finding {
                Finding::Different(differences) => differences,
                _ => &[],
            },
        };
        line.serialize(serializer)
    }
}

/// One kind's numbers of objects, rows and findings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// The kind.
    pub kind: String,
    /// Objects in the cluster.
    pub objects: u64,
    /// Live rows, including evicted ones.
    pub rows: u64,
    /// [`Finding::Missing`]
    pub missing: u64,
    /// [`Finding::Stale`]
    pub stale: u64,
    /// [`Finding::Ahead`]
    pub ahead: u64,
    /// [`Finding::Different`]
    pub different: u64,
    /// [`Finding::Deleted`]
    pub deleted: u64,
    /// [`Finding::Orphaned`]
    pub orphaned: u64,
    /// [`Finding::Ghost`]
    pub ghost: u64,
    /// [`Finding::Rejected`]
    pub rejected: u64,
}

impl Counts {
    /// All findings.
    pub(crate) fn findings(&self) -> u64 {
        self.missing
            + self.stale
            + self.ahead
            + self.different
            + self.deleted
            + self.orphaned
            + self.ghost
            + self.rejected
    }

    fn add(&mut self, finding: &Finding) {
        *match finding {
            Finding::Missing => &mut self.missing,
            Finding::Stale { .. } => &mut self.stale,
            Finding::Ahead { .. } => &mut self.ahead,
            Finding::Different(_) => &mut self.different,
            Finding::Deleted => &mut self.deleted,
            Finding::Orphaned => &mut self.orphaned,
            Finding::Ghost { .. } => &mut self.ghost,
            Finding::Rejected(_) => &mut self.rejected,
        } += 1;
    }
}

/// The result of an audit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AuditReport {
    /// The audited kinds, in order.
    pub kinds: Vec<Counts>,
    /// The findings, up to the limit. The counts include all.
    pub findings: Vec<ReportEntry>,
    /// The number of findings that are not listed.
    pub unlisted: u64,
    #[serde(skip)]
    limit: usize,
}

impl AuditReport {
    /// An empty report that lists up to `limit` findings: a database that lost a table may have millions.
    pub fn new(limit: usize) -> Self {
        AuditReport { limit, ..AuditReport::default() }
    }

    /// Returns the counts of a kind, 0 at first.
    pub(crate) fn kind(&mut self, kind: &str) -> &mut Counts {
        let index = self.kinds.iter().position(|counts| counts.kind == kind).unwrap_or_else(|| {
            self.kinds.push(Counts { kind: kind.to_owned(), ..Counts::default() });
            self.kinds.len() - 1
        });
        &mut self.kinds[index]
    }

    /// Counts a finding, and lists it if there is room.
    pub(crate) fn add(&mut self, entry: ReportEntry) {
        self.kind(&entry.kind).add(&entry.finding);
        if self.findings.len() < self.limit {
            self.findings.push(entry);
        } else {
            self.unlisted += 1;
        }
    }

    /// Returns true if there are no findings.
    pub fn is_clean(&self) -> bool {
        self.kinds.iter().all(|counts| counts.findings() == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ingester_core::row::Eviction;
    use ingester_core::schema::{BASE_COLUMNS, Ident, base};
    use ingester_core::value::{Micros, Value};

    static TABLE: Table = Table {
        kind: "Widget",
        name: Ident::new("widget"),
        was: None,
        columns: &BASE_COLUMNS,
        many: &[],
        keys: &[],
        companions: true,
        history: None,
    };

    fn row(version: u64) -> Row {
        let mut values = vec![Value::Null; BASE_COLUMNS.len()];
        values[base::UID] = Value::text("a");
        values[base::NAME] = Value::text("name");
        values[base::RES_VERSION] = Value::UInt(version);
        values[base::JSON] = Value::text("{}");
        Row {
            lost: Default::default(),
            unfit: Default::default(),
            origin: None,
            expected: None,
            uid: "a".into(),
            res_version: version,
            ingest_version: 0,
            delete_time: None,
            evict_time: None,
            evict_confirmed: false,
            values: values.into(),
            labels: Default::default(),
            annotations: Default::default(),
            many: Default::default(),
        }
    }

    #[derive(Clone, Copy, PartialEq)]
    enum RowKind {
        Live,
        Tombstone,
        Evicted,
    }

    fn make_row(version: u64, state: RowKind) -> StoredRow {
        let Row { uid, values, labels, annotations, many, .. } = row(version);
        let (delete_time, evict_time) = match state {
            RowKind::Live => (None, None),
            RowKind::Tombstone => (Some(Micros(1)), None),
            RowKind::Evicted => (None, Some(Micros(1))),
        };
        StoredRow {
            uid,
            res_version: version,
            ingest_version: 0,
            delete_time,
            evict_time,
            eviction: if state == RowKind::Evicted { Eviction::Intended } else { Eviction::None },
            values,
            labels,
            annotations,
            many,
        }
    }

    fn live(row: &Row) -> ClusterState<'_> {
        ClusterState::Object { row, terminating: false, leaving: false, released: false, rejected: None }
    }

    fn terminating(row: &Row) -> ClusterState<'_> {
        ClusterState::Object { row, terminating: true, leaving: false, released: false, rejected: None }
    }

    fn leaving(row: &Row) -> ClusterState<'_> {
        ClusterState::Object { row, terminating: false, leaving: true, released: false, rejected: None }
    }

    fn name(wanted: &ClusterState<'_>, stored: Option<&StoredRow>) -> &'static str {
        judge(&TABLE, wanted, stored).map_or("", |finding| finding.name())
    }

    #[test]
    fn a_live_object_needs_a_live_row_of_its_version() {
        let row = row(7);
        let wanted = live(&row);
        assert_eq!(judge(&TABLE, &wanted, Some(&make_row(7, RowKind::Live))), None);
        assert_eq!(judge(&TABLE, &wanted, None), Some(Finding::Missing));
        let earlier = judge(&TABLE, &wanted, Some(&make_row(6, RowKind::Live)));
        assert_eq!(earlier, Some(Finding::Stale { wanted: 7, stored: 6 }));
        let later = judge(&TABLE, &wanted, Some(&make_row(10, RowKind::Live)));
        assert_eq!(later, Some(Finding::Ahead { wanted: 7, stored: 10 }));
        // A sweep's tombstone has a later version than the object, and is wrong anyway.
        for version in [6, 7, 10] {
            assert_eq!(judge(&TABLE, &wanted, Some(&make_row(version, RowKind::Tombstone))), Some(Finding::Deleted));
        }
    }

    #[test]
    fn a_row_of_the_same_version_with_other_contents_is_different() {
        let row = row(7);
        let mut altered = make_row(7, RowKind::Live);
        altered.values[base::NAME] = Value::text("other");
        let expected = Difference { what: "name".into(), wanted: "\"name\"".into(), stored: "\"other\"".into() };
        for wanted in [live(&row), terminating(&row), leaving(&row)] {
            let finding = judge(&TABLE, &wanted, Some(&altered));
            assert_eq!(finding, Some(Finding::Different(vec![expected.clone()])));
        }
        let shown = Finding::Different(vec![expected.clone(), expected]).to_string();
        assert_eq!(shown, "name: \"other\" is stored, not \"name\"; name: \"other\" is stored, not \"name\"");
    }

    #[test]
    fn a_terminating_object_may_have_a_live_row_or_a_tombstone() {
        let row = row(7);
        let wanted = terminating(&row);
        assert_eq!(name(&wanted, Some(&make_row(7, RowKind::Live))), "");
        for version in [6, 7, 10] {
            assert_eq!(name(&wanted, Some(&make_row(version, RowKind::Tombstone))), "");
        }
        assert_eq!(name(&wanted, Some(&make_row(6, RowKind::Live))), "stale");
        assert_eq!(name(&wanted, Some(&make_row(8, RowKind::Live))), "ahead");
        assert_eq!(name(&wanted, None), "missing");
        let mut altered = make_row(7, RowKind::Tombstone);
        altered.values[base::JSON] = Value::text("[]");
        let finding = judge(&TABLE, &wanted, Some(&altered));
        let expected = Difference { what: "json".into(), wanted: "{}".into(), stored: "[]".into() };
        assert_eq!(finding, Some(Finding::Different(vec![expected])), "and not delete_time");
    }

    #[test]
    fn an_object_that_only_others_hold_needs_no_row() {
        let row = row(7);
        let released =
            |rejected| ClusterState::Object { row: &row, terminating: true, leaving: false, released: true, rejected };
        assert_eq!(name(&released(None), None), "");
        assert_eq!(name(&released(Some("too long")), None), "rejected");
        assert_eq!(name(&released(None), Some(&make_row(6, RowKind::Live))), "stale");
        assert_eq!(name(&released(None), Some(&make_row(6, RowKind::Tombstone))), "");
    }

    #[test]
    fn an_evicted_row_is_right_during_and_after_its_objects_deletion() {
        let row = row(7);
        for version in [6, 7, 8] {
            let evicted = make_row(version, RowKind::Evicted);
            assert_eq!(name(&terminating(&row), Some(&evicted)), "");
            assert_eq!(name(&leaving(&row), Some(&evicted)), "");
            assert_eq!(name(&ClusterState::Nothing, Some(&evicted)), "");
        }
        // An object that is not leaving etcd has no evicted row.
        assert_eq!(name(&live(&row), Some(&make_row(6, RowKind::Evicted))), "stale");
        let finding = judge(&TABLE, &live(&row), Some(&make_row(7, RowKind::Evicted)));
        let Some(Finding::Different(differences)) = finding else { panic!("{finding:?}") };
        assert_eq!(differences.iter().map(|d| d.what.as_str()).collect::<Vec<_>>(), ["evict_time"]);
        // An object that is leaving and is not yet evicted is treated like any other.
        assert_eq!(name(&leaving(&row), Some(&make_row(7, RowKind::Live))), "");
        assert_eq!(name(&leaving(&row), None), "missing");
        assert_eq!(name(&leaving(&row), Some(&make_row(9, RowKind::Tombstone))), "deleted");
    }

    #[test]
    fn without_an_object_only_a_live_row_is_wrong() {
        assert_eq!(name(&ClusterState::Nothing, None), "");
        assert_eq!(name(&ClusterState::Nothing, Some(&make_row(7, RowKind::Live))), "orphaned");
        assert_eq!(name(&ClusterState::Nothing, Some(&make_row(7, RowKind::Tombstone))), "");
    }

    #[test]
    fn an_object_that_cannot_be_mirrored_is_reported_with_its_reason() {
        let row = row(7);
        let rejected = Some("too long");
        let wanted = ClusterState::Object { row: &row, terminating: false, leaving: false, released: false, rejected };
        let rejected = Some(Finding::Rejected("too long".into()));
        assert_eq!(judge(&TABLE, &wanted, None), rejected);
        assert_eq!(judge(&TABLE, &wanted, Some(&make_row(6, RowKind::Live))), rejected);
        // A reject that an earlier version left behind changes neither a correct row nor other findings.
        assert_eq!(name(&wanted, Some(&make_row(7, RowKind::Live))), "");
        assert_eq!(name(&wanted, Some(&make_row(8, RowKind::Live))), "ahead");
        assert_eq!(name(&wanted, Some(&make_row(7, RowKind::Tombstone))), "deleted");
        for stored in [None, Some(&make_row(7, RowKind::Live))] {
            assert_eq!(judge(&TABLE, &ClusterState::Undecodable("too long"), stored), rejected);
        }
    }

    fn entry(kind: &str, finding: Finding) -> ReportEntry {
        ReportEntry { kind: kind.into(), namespace: "ns".into(), name: "n".into(), uid: "u".into(), finding }
    }

    #[test]
    fn a_report_counts_every_finding_and_lists_the_first() {
        let mut report = AuditReport::new(8);
        report.kind("Model").objects = 5;
        assert!(report.is_clean());
        let findings = [
            Finding::Missing,
            Finding::Stale { wanted: 2, stored: 1 },
            Finding::Ahead { wanted: 1, stored: 2 },
            Finding::Different(Vec::new()),
            Finding::Deleted,
            Finding::Orphaned,
            Finding::Ghost { object: 1, stored: 2 },
            Finding::Rejected("why".into()),
        ];
        for finding in &findings {
            report.add(entry("Pipeline", finding.clone()));
        }
        for _ in 0..3 {
            report.add(entry("Model", Finding::Missing));
        }
        assert!(!report.is_clean());
        assert_eq!((report.findings.len(), report.unlisted), (8, 3));
        let kinds: Vec<&str> = report.kinds.iter().map(|counts| counts.kind.as_str()).collect();
        assert_eq!(kinds, ["Model", "Pipeline"]);
        assert_eq!((report.kinds[0].objects, report.kinds[0].missing, report.kinds[0].findings()), (5, 3, 3));
        let counts = &report.kinds[1];
        let each = [
            counts.missing,
            counts.stale,
            counts.ahead,
            counts.different,
            counts.deleted,
            counts.orphaned,
            counts.ghost,
            counts.rejected,
        ];
        assert_eq!(each, [1; 8]);
        assert_eq!(counts.findings(), 8);
    }

    #[test]
    fn a_report_lists_its_findings_flat_in_json() {
        let mut report = AuditReport::new(9);
        report.add(entry("Model", Finding::Stale { wanted: 7, stored: 6 }));
        let difference = Difference { what: "owner".into(), wanted: "1".into(), stored: "2".into() };
        report.add(entry("Model", Finding::Different(vec![difference])));
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["kinds"][0]["stale"], 1);
        assert_eq!(json["unlisted"], 0);
        assert_eq!(
            json["findings"],
            serde_json::json!([
                {
                    "kind": "Model", "namespace": "ns", "name": "n", "uid": "u", "finding": "stale",
                    "detail": "the row is of version 6, the object of 7",
                },
                {
                    "kind": "Model", "namespace": "ns", "name": "n", "uid": "u", "finding": "different",
                    "detail": "owner: 2 is stored, not 1",
                    "differences": [{ "what": "owner", "wanted": "1", "stored": "2" }],
                },
            ])
        );
        assert!(ingester_declare::yaml::to_string(&report).unwrap().contains("finding: stale"));
        assert!(json.get("limit").is_none());
    }
}
