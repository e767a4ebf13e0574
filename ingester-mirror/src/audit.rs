//! What an object in the cluster and its row should be to each other: one verdict a pair, and the report of all. Pure.
//!
//! May use: ingester-core, ingester-store.
//! Must not: read the cluster or a database.
//!
//! Cluster and database are not read at one moment, so a finding is a suspicion until the same object and row, read again,
//! give the same one.

use ingester_core::row::Row;
use ingester_core::schema::Table;
use ingester_store::StoredRow;
use ingester_store::compare::{Difference, differences};
use serde::{Serialize, Serializer};

/// What the cluster has of one uid.
#[derive(Clone, Copy, Debug)]
pub enum Wanted<'a> {
    /// No such object, or one that the kind's predicate leaves out.
    Nothing,
    /// An object.
    Object {
        /// Its row, with neither `delete_time` nor `evict_time` set.
        row: &'a Row,
        /// `metadata.deletionTimestamp` is set, or `michelangelo/Deleting` is "true": its row may be a tombstone already.
        terminating: bool,
        /// It is to leave etcd: its kind is immutable, or `michelangelo/Immutable` is "true".
        leaving: bool,
        /// Why this uid is in `ingester_rejects`, where it is.
        rejected: Option<&'a str>,
    },
    /// An object of which no row can be made, and why.
    Undecodable(&'a str),
}

/// What is wrong with one object or row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The object has no row.
    Missing,
    /// The row is of an earlier version than the object.
    Stale {
        /// The object's resourceVersion.
        wanted: u64,
        /// The row's.
        stored: u64,
    },
    /// The row is of a later version than the object: it was read later, or the cluster was restored from a backup.
    Ahead {
        /// The object's resourceVersion.
        wanted: u64,
        /// The row's.
        stored: u64,
    },
    /// The row is of the object's version and says something else.
    Different(Vec<Difference>),
    /// The object lives, its row has `delete_time`.
    Deleted,
    /// The row lives, there is no such object, and it was not evicted.
    Orphaned,
    /// The object cannot be mirrored, for this reason.
    Rejected(String),
}

impl Finding {
    /// Its name, as in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Finding::Missing => "missing",
            Finding::Stale { .. } => "stale",
            Finding::Ahead { .. } => "ahead",
            Finding::Different(_) => "different",
            Finding::Deleted => "deleted",
            Finding::Orphaned => "orphaned",
            Finding::Rejected(_) => "rejected",
        }
    }
}

/// In a person's words, without the object's name.
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
                for (place, difference) in differences.iter().enumerate() {
                    write!(f, "{}{difference}", if place == 0 { "" } else { "; " })?;
                }
                Ok(())
            }
            Finding::Deleted => f.write_str("the object lives, its row is marked as deleted"),
            Finding::Orphaned => f.write_str("the row is live, there is no such object"),
            Finding::Rejected(reason) => f.write_str(reason),
        }
    }
}

/// Judges one uid. `None` where all is well:
/// - an object that is terminating may have a live row or a tombstone; what it still loses after the tombstone
///   (finalizers, one after the other) is of no more interest, so the tombstone may be of any other version;
/// - an evicted row is right without an object, and with one that is still on its way out of etcd;
/// - a tombstone is right without an object.
///
/// An object that is rejected and has no row, or one of an earlier version, is [`Finding::Rejected`]: writing it again
/// would not help.
pub fn judge(table: &Table, wanted: &Wanted<'_>, stored: Option<&StoredRow>) -> Option<Finding> {
    let (row, terminating, leaving, rejected) = match *wanted {
        Wanted::Nothing => {
            let lives = |stored: &StoredRow| stored.delete_time.is_none() && stored.evict_time.is_none();
            return stored.is_some_and(lives).then_some(Finding::Orphaned);
        }
        Wanted::Undecodable(reason) => return Some(Finding::Rejected(reason.to_owned())),
        Wanted::Object { row, terminating, leaving, rejected } => (row, terminating, leaving, rejected),
    };
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
    let (wanted, version) = (row.res_version, stored.res_version);
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

/// One finding, with the object or row that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The kind.
    pub kind: String,
    /// `metadata.namespace`
    pub namespace: String,
    /// `metadata.name`
    pub name: String,
    /// `metadata.uid`
    pub uid: String,
    /// What is wrong.
    pub finding: Finding,
}

/// As flat as a table's line: `finding` is its name, `detail` its words, and `differences` are there where it has some.
impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Line<'a> {
            kind: &'a str,
            namespace: &'a str,
            name: &'a str,
            uid: &'a str,
            finding: &'a str,
            detail: String,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            differences: &'a [Difference],
        }
        let line = Line {
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

/// How many findings of each sort there are of one kind, and of how many objects and rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// The kind.
    pub kind: String,
    /// Objects in the cluster.
    pub objects: u64,
    /// Rows that are live, evicted ones too.
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
    /// [`Finding::Rejected`]
    pub rejected: u64,
}

impl Counts {
    /// Findings of every sort.
    pub fn findings(&self) -> u64 {
        self.missing + self.stale + self.ahead + self.different + self.deleted + self.orphaned + self.rejected
    }

    fn add(&mut self, finding: &Finding) {
        *match finding {
            Finding::Missing => &mut self.missing,
            Finding::Stale { .. } => &mut self.stale,
            Finding::Ahead { .. } => &mut self.ahead,
            Finding::Different(_) => &mut self.different,
            Finding::Deleted => &mut self.deleted,
            Finding::Orphaned => &mut self.orphaned,
            Finding::Rejected(_) => &mut self.rejected,
        } += 1;
    }
}

/// What an audit found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Each kind that was audited, in that order.
    pub kinds: Vec<Counts>,
    /// The findings, up to the limit; the counts are of all.
    pub findings: Vec<Entry>,
    /// How many findings are not listed.
    pub unlisted: u64,
    #[serde(skip)]
    limit: usize,
}

impl Report {
    /// An empty one, that will list up to `limit` findings: of a database that lost a table there may be millions.
    pub fn new(limit: usize) -> Self {
        Report { limit, ..Report::default() }
    }

    /// The counts of a kind, from 0 on when first asked for.
    pub fn kind(&mut self, kind: &str) -> &mut Counts {
        let place = self.kinds.iter().position(|counts| counts.kind == kind).unwrap_or_else(|| {
            self.kinds.push(Counts { kind: kind.to_owned(), ..Counts::default() });
            self.kinds.len() - 1
        });
        &mut self.kinds[place]
    }

    /// Counts a finding, and lists it while there is room.
    pub fn add(&mut self, entry: Entry) {
        self.kind(&entry.kind).add(&entry.finding);
        if self.findings.len() < self.limit {
            self.findings.push(entry);
        } else {
            self.unlisted += 1;
        }
    }

    /// Whether nothing was found.
    pub fn is_clean(&self) -> bool {
        self.kinds.iter().all(|counts| counts.findings() == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ingester_core::schema::{BASE_COLUMNS, Ident, base};
    use ingester_core::value::{Micros, Value};

    static TABLE: Table = Table { name: Ident::new("widget"), was: None, columns: &BASE_COLUMNS, keys: &[] };

    fn row(version: u64) -> Row {
        let mut values = vec![Value::Null; BASE_COLUMNS.len()];
        values[base::UID] = Value::text("a");
        values[base::NAME] = Value::text("name");
        values[base::RES_VERSION] = Value::UInt(version);
        values[base::JSON] = Value::text("{}");
        Row {
            lost: Default::default(),
            believed: None,
            uid: "a".into(),
            res_version: version,
            delete_time: None,
            evict_time: None,
            values: values.into(),
            labels: Default::default(),
            annotations: Default::default(),
        }
    }

    #[derive(Clone, Copy, PartialEq)]
    enum As {
        Live,
        Tombstone,
        Evicted,
    }

    fn stored(version: u64, state: As) -> StoredRow {
        let Row { uid, values, labels, annotations, .. } = row(version);
        let (delete_time, evict_time) = match state {
            As::Live => (None, None),
            As::Tombstone => (Some(Micros(1)), None),
            As::Evicted => (None, Some(Micros(1))),
        };
        StoredRow { uid, res_version: version, delete_time, evict_time, values, labels, annotations }
    }

    fn live(row: &Row) -> Wanted<'_> {
        Wanted::Object { row, terminating: false, leaving: false, rejected: None }
    }

    fn terminating(row: &Row) -> Wanted<'_> {
        Wanted::Object { row, terminating: true, leaving: false, rejected: None }
    }

    fn leaving(row: &Row) -> Wanted<'_> {
        Wanted::Object { row, terminating: false, leaving: true, rejected: None }
    }

    fn name(wanted: &Wanted<'_>, stored: Option<&StoredRow>) -> &'static str {
        judge(&TABLE, wanted, stored).map_or("", |finding| finding.name())
    }

    #[test]
    fn a_live_object_needs_a_live_row_of_its_version() {
        let row = row(7);
        let wanted = live(&row);
        assert_eq!(judge(&TABLE, &wanted, Some(&stored(7, As::Live))), None);
        assert_eq!(judge(&TABLE, &wanted, None), Some(Finding::Missing));
        let earlier = judge(&TABLE, &wanted, Some(&stored(6, As::Live)));
        assert_eq!(earlier, Some(Finding::Stale { wanted: 7, stored: 6 }));
        let later = judge(&TABLE, &wanted, Some(&stored(10, As::Live)));
        assert_eq!(later, Some(Finding::Ahead { wanted: 7, stored: 10 }));
        // A sweep's tombstone is of a later version than the object; it is wrong all the same.
        for version in [6, 7, 10] {
            assert_eq!(judge(&TABLE, &wanted, Some(&stored(version, As::Tombstone))), Some(Finding::Deleted));
        }
    }

    #[test]
    fn a_row_of_the_same_version_with_other_contents_is_different() {
        let row = row(7);
        let mut altered = stored(7, As::Live);
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
        assert_eq!(name(&wanted, Some(&stored(7, As::Live))), "");
        for version in [6, 7, 10] {
            assert_eq!(name(&wanted, Some(&stored(version, As::Tombstone))), "");
        }
        assert_eq!(name(&wanted, Some(&stored(6, As::Live))), "stale");
        assert_eq!(name(&wanted, Some(&stored(8, As::Live))), "ahead");
        assert_eq!(name(&wanted, None), "missing");
        let mut altered = stored(7, As::Tombstone);
        altered.values[base::JSON] = Value::text("[]");
        let finding = judge(&TABLE, &wanted, Some(&altered));
        let expected = Difference { what: "json".into(), wanted: "{}".into(), stored: "[]".into() };
        assert_eq!(finding, Some(Finding::Different(vec![expected])), "and not delete_time");
    }

    #[test]
    fn an_evicted_row_is_right_during_and_after_its_objects_deletion() {
        let row = row(7);
        for version in [6, 7, 8] {
            let evicted = stored(version, As::Evicted);
            assert_eq!(name(&terminating(&row), Some(&evicted)), "");
            assert_eq!(name(&leaving(&row), Some(&evicted)), "");
            assert_eq!(name(&Wanted::Nothing, Some(&evicted)), "");
        }
        // An object that is to stay has no evicted row.
        assert_eq!(name(&live(&row), Some(&stored(6, As::Evicted))), "stale");
        let finding = judge(&TABLE, &live(&row), Some(&stored(7, As::Evicted)));
        let Some(Finding::Different(differences)) = finding else { panic!("{finding:?}") };
        assert_eq!(differences.iter().map(|d| d.what.as_str()).collect::<Vec<_>>(), ["evict_time"]);
        // One that is to leave and has not yet been evicted is like any other.
        assert_eq!(name(&leaving(&row), Some(&stored(7, As::Live))), "");
        assert_eq!(name(&leaving(&row), None), "missing");
        assert_eq!(name(&leaving(&row), Some(&stored(9, As::Tombstone))), "deleted");
    }

    #[test]
    fn without_an_object_only_a_live_row_is_wrong() {
        assert_eq!(name(&Wanted::Nothing, None), "");
        assert_eq!(name(&Wanted::Nothing, Some(&stored(7, As::Live))), "orphaned");
        assert_eq!(name(&Wanted::Nothing, Some(&stored(7, As::Tombstone))), "");
    }

    #[test]
    fn an_object_that_cannot_be_mirrored_is_reported_with_its_reason() {
        let row = row(7);
        let wanted = Wanted::Object { row: &row, terminating: false, leaving: false, rejected: Some("too long") };
        let rejected = Some(Finding::Rejected("too long".into()));
        assert_eq!(judge(&TABLE, &wanted, None), rejected);
        assert_eq!(judge(&TABLE, &wanted, Some(&stored(6, As::Live))), rejected);
        // A reject that an earlier version left behind says nothing about a row that is there; nor about other findings.
        assert_eq!(name(&wanted, Some(&stored(7, As::Live))), "");
        assert_eq!(name(&wanted, Some(&stored(8, As::Live))), "ahead");
        assert_eq!(name(&wanted, Some(&stored(7, As::Tombstone))), "deleted");
        for stored in [None, Some(&stored(7, As::Live))] {
            assert_eq!(judge(&TABLE, &Wanted::Undecodable("too long"), stored), rejected);
        }
    }

    fn entry(kind: &str, finding: Finding) -> Entry {
        Entry { kind: kind.into(), namespace: "ns".into(), name: "n".into(), uid: "u".into(), finding }
    }

    #[test]
    fn a_report_counts_every_finding_and_lists_the_first() {
        let mut report = Report::new(8);
        report.kind("Model").objects = 5;
        assert!(report.is_clean());
        let findings = [
            Finding::Missing,
            Finding::Stale { wanted: 2, stored: 1 },
            Finding::Ahead { wanted: 1, stored: 2 },
            Finding::Different(Vec::new()),
            Finding::Deleted,
            Finding::Orphaned,
            Finding::Rejected("why".into()),
        ];
        for finding in &findings {
            report.add(entry("Pipeline", finding.clone()));
        }
        for _ in 0..3 {
            report.add(entry("Model", Finding::Missing));
        }
        assert!(!report.is_clean());
        assert_eq!((report.findings.len(), report.unlisted), (8, 2));
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
            counts.rejected,
        ];
        assert_eq!(each, [1; 7]);
        assert_eq!(counts.findings(), 7);
    }

    #[test]
    fn a_report_lists_its_findings_flat_in_json() {
        let mut report = Report::new(9);
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
        assert!(ingester_core::yaml::to_string(&report).unwrap().contains("finding: stale"));
        assert!(json.get("limit").is_none());
    }
}
