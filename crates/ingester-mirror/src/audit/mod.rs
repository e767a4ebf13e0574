//! Compares cluster and SQL, kind by kind, object by object, and repairs differences as the mirror itself would.
//!
//! May use: ingester-config, ingester-core, ingester-store, cluster, events, health, lifecycle, metrics, pipeline, replicas, sync, unit.
//!
//! `schedule` runs audits from time to time, concurrently with the mirror. `verdict` decides if an object and its row agree: pure. This
//! file reads both, page by page, so memory holds one page and the uids. They are not read at the same moment, and the mirror may be
//! running, so all suspects are read again together, objects and rows, until the findings are stable.

mod schedule;
mod verdict;

pub use schedule::audit_periodically;
pub use verdict::{AuditReport, Counts, Finding, ReportEntry};

use crate::cluster::{ApiError, ApiErrorKind};
use crate::lifecycle::{is_ghost, is_leaving, is_released};
use crate::pipeline::{Item, LookReason, ObjectRef, Pipeline, uid_of};
use crate::replicas::shard::Shard;
use crate::sync::{Context, units};
use crate::unit::{Scope, Unit};
use futures::StreamExt as _;
use ingester_config::{Config, Live, SweepLimit};
use ingester_core::kind::Kind;
use ingester_core::object::{Identity, Object};
use ingester_core::row::Eviction;
use ingester_core::schema::base;
use ingester_core::value::Value;
use ingester_store::{EvictedRows, LiveRow, StoreError, StoredRow};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;
use verdict::{ClusterState, judge};

/// Rows in one page.
const ROWS: usize = 1000;

/// Objects in one page, and suspects that are read again together: the most that may be in memory.
const OBJECTS: u32 = 64;

/// The number of concurrent requests to the API server.
const REQUESTS: usize = 16;

/// The pauses between readings of the suspects: the mirror may need some time to write them.
const PAUSES: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(300), Duration::from_secs(1), Duration::from_secs(2)];

/// The time for writing settled changes, in addition to the time for which changes are gathered.
const WRITTEN: Duration = Duration::from_secs(10);

/// Attempts to repair.
const REPAIRS: usize = 3;

/// The reason why an audit failed.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The API server.
    #[error(transparent)]
    Cluster(#[from] ApiError),
    /// The database.
    #[error(transparent)]
    Database(#[from] StoreError),
}

/// The result of a repair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepairResult {
    /// Objects and rows that were repaired.
    pub repaired: u64,
    /// Objects and rows that still differ.
    pub left: u64,
}

/// The progress of an audit with one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditProgress {
    /// The number of objects that were compared with their rows.
    Compared(u64),
    /// The number of objects and rows that may differ and are read again.
    Confirming(usize),
    /// The number of repaired objects and rows, and of all that differ.
    Repairing(usize, usize),
}

impl std::fmt::Display for AuditProgress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            AuditProgress::Compared(objects) => write!(f, "{objects} objects compared"),
            AuditProgress::Confirming(suspects) => write!(f, "{suspects} differences are read again"),
            AuditProgress::Repairing(done, all) => write!(f, "{done} of {all} differences repaired"),
        }
    }
}

/// An object or row that may differ.
#[derive(Clone, Debug)]
struct Suspect {
    uid: Box<str>,
    namespace: Box<str>,
    name: Box<str>,
}

/// Compares `kinds` in the cluster with their rows and adds each difference to the report. With `repair`, it also repairs them, except for
/// suspended kinds. `progress` receives the progress of each kind.
///
/// A kind that is not installed in the cluster has no objects: its live rows are orphans.
///
/// # Errors
/// When the cluster or the database cannot be read.
pub async fn audit(
    context: &Context,
    kinds: &[Kind],
    config: &Config,
    repair: bool,
    report: &mut AuditReport,
    progress: &(dyn Fn(&Kind, AuditProgress) + Send + Sync),
) -> Result<RepairResult, AuditError> {
    audit_parts(context, kinds, None, config, repair, report, progress).await
}

/// Does the same for some parts of the kinds; another process audits the others.
async fn audit_parts(
    context: &Context,
    kinds: &[Kind],
    parts: Option<&[Scope]>,
    config: &Config,
    repair: bool,
    report: &mut AuditReport,
    progress: &(dyn Fn(&Kind, AuditProgress) + Send + Sync),
) -> Result<RepairResult, AuditError> {
    let mut repaired = RepairResult::default();
    // Read whole kinds, once for all of their parts.
    let mut whole = config.clone();
    whole.ingester.replicas.enabled = false;
    // A person who repairs accepts the report, so no limit applies.
    whole.ingester.sweep_limit = SweepLimit::from_rows(0);
    // This token is never cancelled: an audit ends by itself, or with the process.
    for unit in units(context, kinds, &Live::fixed(whole), &CancellationToken::new()) {
        let is_of_it = |part: &&Scope| part.kind.name() == unit.kind.name() && part.namespace == unit.namespace;
        let shards = match parts {
            None => vec![Shard::WHOLE],
            Some(parts) => parts.iter().filter(is_of_it).map(|part| part.shard).collect(),
        };
        if shards.is_empty() {
            continue;
        }
        let span = unit.span();
        let suspended = config.ingester.is_suspended(unit.kind.name());
        if repair && suspended {
            span.in_scope(|| tracing::warn!("Kind is suspended: what differs is not repaired"));
        }
        let auditing = async {
            let mut auditor = Auditor::new(unit, shards, progress).await?;
            auditor.audit(repair && !suspended, report).await
        };
        let of_unit = auditing.instrument(span).await?;
        repaired.repaired += of_unit.repaired;
        repaired.left += of_unit.left;
    }
    Ok(repaired)
}

struct Auditor<'a> {
    pipeline: Arc<Pipeline>,
    /// The parts that are compared.
    shards: Vec<Shard>,
    rejects: HashMap<Box<str>, String>,
    progress: &'a (dyn Fn(&Kind, AuditProgress) + Send + Sync),
}

impl<'a> Auditor<'a> {
    async fn new(
        unit: Unit,
        shards: Vec<Shard>,
        progress: &'a (dyn Fn(&Kind, AuditProgress) + Send + Sync),
    ) -> Result<Self, StoreError> {
        let pipeline = Arc::new(Pipeline::new(unit));
        let mut auditor = Auditor { pipeline, shards, rejects: HashMap::new(), progress };
        auditor.read_rejects().await?;
        auditor.read_lost().await?;
        Ok(auditor)
    }

    /// Compares the unit's objects with their rows, and repairs the differences if `repair`.
    async fn audit(&mut self, repair: bool, report: &mut AuditReport) -> Result<RepairResult, AuditError> {
        let suspects = self.suspects(report).await?;
        let findings = self.confirm(suspects).await?;
        let left = if repair { self.repair(&findings).await? } else { findings.len() };
        let repaired = RepairResult { repaired: (findings.len() - left) as u64, left: left as u64 };
        for (suspect, finding) in findings {
            report.add(ReportEntry {
                kind: self.unit().kind.name().to_owned(),
                namespace: suspect.namespace.into(),
                name: suspect.name.into(),
                uid: suspect.uid.into(),
                finding,
            });
        }
        Ok(repaired)
    }

    /// Returns true if the object with this uid is compared.
    fn has(&self, uid: &str) -> bool {
        self.shards.iter().any(|shard| shard.has(uid))
    }

    fn has_text(&self, text: &str) -> bool {
        // Read the uid only if there are shards.
        self.shards.iter().any(|shard| shard.is_whole())
            || self.has(Identity::probe(text).uid.as_deref().unwrap_or_default())
    }

    fn unit(&self) -> &Unit {
        &self.pipeline.unit
    }

    fn progress(&self, progress: AuditProgress) {
        (self.progress)(&self.unit().kind, progress);
    }

    /// Reads the lost evictions, because a repair must leave the rows alone that they have left.
    async fn read_lost(&self) -> Result<(), StoreError> {
        let recorded = self.unit().rows.lost_evictions().await?;
        let uids: Vec<&str> = recorded.iter().map(|lost| &*lost.uid).collect();
        let mut stored = HashMap::new();
        for uids in uids.chunks(OBJECTS as usize) {
            stored.extend(self.unit().rows.versions(uids).await?);
        }
        let mut evictions = self.pipeline.evictions();
        evictions.learn(recorded);
        let all = evictions.all();
        evictions.lost(&all, &stored);
        Ok(())
    }

    async fn read_rejects(&mut self) -> Result<(), StoreError> {
        let rejects = self.unit().rows.rejects().await?;
        self.rejects = rejects.into_iter().map(|rejected| (rejected.uid, rejected.reason)).collect();
        Ok(())
    }

    /// Returns the objects and rows that differ on the first reading.
    async fn suspects(&self, report: &mut AuditReport) -> Result<Vec<Suspect>, AuditError> {
        let Unit { cluster, rows, kind, .. } = self.unit();
        let counts = report.kind(kind.name());
        let mut suspects = Vec::new();
        let mut seen: HashSet<Box<str>> = HashSet::new();
        let mut next = None;
        loop {
            let page = match cluster.list(OBJECTS, next.as_deref()).await {
                Ok(page) => page,
                Err(error) if error.kind() == ApiErrorKind::NotFound => break,
                // The list took longer than the API server keeps its version: start over, without counting anything twice.
                Err(error) if error.kind() == ApiErrorKind::Expired && next.is_some() => {
                    next = None;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            next = page.next;
            let mut objects = Vec::with_capacity(page.items.len());
            for text in page.items.into_iter().filter(|text| self.has_text(text)) {
                match self.unit().parse(text) {
                    Ok(object) if seen.insert(object.meta().uid.clone()) => objects.push(object),
                    Ok(_) => {}
                    Err((identity, _)) => {
                        let text = |part: Option<Box<str>>| part.unwrap_or_default();
                        let uid = uid_of(&identity);
                        if seen.insert(uid.clone()) {
                            counts.objects += 1;
                            suspects.push(Suspect {
                                uid,
                                namespace: text(identity.namespace),
                                name: text(identity.name),
                            });
                        }
                    }
                }
            }
            counts.objects += objects.len() as u64;
            let uids: Vec<&str> = objects.iter().map(|object| object.meta().uid.as_ref()).collect();
            let stored = rows.read_stored(&uids).await?;
            let stored: HashMap<&str, &StoredRow> = stored.iter().map(|row| (row.uid.as_ref(), row)).collect();
            for object in &objects {
                let meta = object.meta();
                if self.judge(Some(object), stored.get(meta.uid.as_ref()).copied()).is_some() {
                    let namespace = meta.namespace.clone();
                    let name = meta.name.clone();
                    suspects.push(Suspect { uid: meta.uid.clone(), namespace, name });
                }
            }
            self.progress(AuditProgress::Compared(counts.objects));
            if next.is_none() {
                break;
            }
        }
        let mut after: Box<str> = "".into();
        loop {
            let page = rows.live(EvictedRows::Included, &after, ROWS).await?;
            let Some(last) = page.last() else { break };
            after = last.uid.clone();
            let page: Vec<&LiveRow> = page.iter().filter(|row| self.has(&row.uid)).collect();
            counts.rows += page.len() as u64;
            let orphans: Vec<&str> = page
                .iter()
                .filter(|row| row.eviction == Eviction::None && !seen.contains(&row.uid))
                .map(|row| row.uid.as_ref())
                .collect();
            let names = if orphans.is_empty() { Vec::new() } else { rows.names(&orphans).await? };
            suspects.extend(names.into_iter().map(|(uid, namespace, name)| Suspect { uid, namespace, name }));
        }
        Ok(suspects)
    }

    /// Returns true if a row is older than its object because changes are gathered.
    fn settles(&self, finding: &Finding, stored: Option<&StoredRow>) -> bool {
        let settle = self.unit().config().ingester.settle_of(self.unit().kind.name());
        let (Finding::Stale { .. }, false, Some(stored)) = (finding, settle.is_zero(), stored) else { return false };
        let Some(Value::Time(written)) = stored.values.get(base::UPDATE_TIME) else { return false };
        let passed = self.unit().clock.now().0.saturating_sub(written.0);
        passed <= i64::try_from((settle + WRITTEN).as_micros()).unwrap_or(i64::MAX)
    }

    fn judge(&self, object: Option<&Object>, stored: Option<&StoredRow>) -> Option<Finding> {
        let table = self.unit().kind.table();
        let Some(object) = object else { return judge(table, &ClusterState::Nothing, stored) };
        let meta = object.meta();
        if let Some(stored) = stored.filter(|stored| is_ghost(stored.version(), meta, self.unit().rules())) {
            return Some(Finding::Ghost { object: meta.resource_version, stored: stored.res_version });
        }
        match self.unit().row(object) {
            Ok(Some(row)) => {
                let rules = self.unit().rules();
                let wanted = ClusterState::Object {
                    row: &row,
                    terminating: is_leaving(meta, rules),
                    leaving: rules.evicts(meta),
                    released: is_released(meta, rules),
                    rejected: self.rejects.get(&meta.uid).map(String::as_str),
                };
                judge(table, &wanted, stored).filter(|finding| !self.settles(finding, stored))
            }
            Ok(None) => judge(table, &ClusterState::Nothing, stored),
            Err(reason) => judge(table, &ClusterState::Undecodable(&reason), stored),
        }
    }

    /// Reads all suspects again, objects and then rows, a few times. A difference that persists each time is a finding.
    async fn confirm(&self, suspects: Vec<Suspect>) -> Result<Vec<(Suspect, Finding)>, AuditError> {
        let mut left = suspects;
        let mut found = Vec::new();
        for (round, pause) in PAUSES.into_iter().enumerate() {
            if left.is_empty() {
                break;
            }
            tokio::time::sleep(pause).await;
            self.progress(AuditProgress::Confirming(left.len()));
            let mut still = Vec::new();
            for (suspect, finding) in self.read_again(left).await? {
                match finding {
                    None => {}
                    // A rejected object stays rejected until it changes.
                    Some(finding) if round + 1 == PAUSES.len() || matches!(finding, Finding::Rejected(_)) => {
                        found.push((suspect, finding));
                    }
                    Some(_) => still.push(suspect),
                }
            }
            left = still;
        }
        found.sort_by(|(a, _), (b, _)| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
        Ok(found)
    }

    async fn read_again(&self, suspects: Vec<Suspect>) -> Result<Vec<(Suspect, Option<Finding>)>, AuditError> {
        let Unit { cluster, rows, .. } = self.unit();
        let mut findings = Vec::with_capacity(suspects.len());
        for portion in suspects.chunks(OBJECTS as usize) {
            let looks: Vec<_> = portion.iter().map(|suspect| cluster.look(&suspect.namespace, &suspect.name)).collect();
            let texts: Vec<_> = futures::stream::iter(looks).buffered(REQUESTS).collect().await;
            let uids: Vec<&str> = portion.iter().map(|suspect| suspect.uid.as_ref()).collect();
            let stored = rows.read_stored(&uids).await?;
            let stored: HashMap<&str, &StoredRow> = stored.iter().map(|row| (row.uid.as_ref(), row)).collect();
            for (suspect, text) in portion.iter().zip(texts) {
                let text = match text {
                    Ok(text) => text,
                    // The kind is not installed, so the object does not exist.
                    Err(error) if error.kind() == ApiErrorKind::NotFound => None,
                    Err(error) => return Err(error.into()),
                };
                let finding = match text.map(|text| self.unit().parse(text)) {
                    Some(Err((_, reason))) => Some(Finding::Rejected(reason)),
                    Some(Ok(object)) => {
                        let object = Some(object).filter(|object| object.meta().uid == suspect.uid);
                        self.judge(object.as_ref(), stored.get(suspect.uid.as_ref()).copied())
                    }
                    None => self.judge(None, stored.get(suspect.uid.as_ref()).copied()),
                };
                findings.push((suspect.clone(), finding));
            }
        }
        Ok(findings)
    }

    /// Processes the differences as the mirror would; the cluster wins over the database. Returns how many differ afterwards.
    async fn repair(&mut self, findings: &[(Suspect, Finding)]) -> Result<usize, AuditError> {
        let mut left: Vec<&(Suspect, Finding)> = findings.iter().collect();
        for _ in 0..REPAIRS {
            if left.is_empty() {
                break;
            }
            self.progress(AuditProgress::Repairing(findings.len() - left.len(), findings.len()));
            for (Suspect { uid, namespace, name }, finding) in left.iter().copied() {
                let object =
                    ObjectRef { uid: uid.clone(), namespace: namespace.clone(), name: name.clone(), version: 0 };
                let why = match finding {
                    Finding::Orphaned | Finding::Rejected(_) => LookReason::Swept,
                    _ => LookReason::Rewrite,
                };
                self.pipeline.queue.push(Item::look(object, why, 0));
            }
            self.pipeline.settle().await;
            self.read_rejects().await?;
            let again = self.read_again(left.iter().map(|(suspect, _)| suspect.clone()).collect()).await?;
            left = left
                .into_iter()
                .zip(again)
                .filter(|(_, (_, finding))| finding.is_some())
                .map(|(left, _)| left)
                .collect();
        }
        Ok(left.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{AuditReport, Auditor, Finding};
    use crate::events::Publisher;
    use crate::fixture::MODEL;
    use crate::health::Health;
    use crate::metrics::Metrics;
    use crate::replicas::Assignment;
    use crate::replicas::shard::Shard;
    use crate::sync::{Context, units};
    use http::{Request, Response};
    use ingester_config::{Config, Live};
    use ingester_core::object::ManagedFields;
    use ingester_core::row::Row;
    use ingester_core::value::Micros;
    use ingester_store::{RowChange, Store};
    use kube::Client;
    use kube::client::Body;
    use std::convert::Infallible;
    use std::sync::Arc;
    use tokio_util::sync::CancellationToken;

    const UIDS: [&str; 3] = ["5e1f0000-0000-4000-8000-000000000001", "5e1f0000-0000-4000-8000-000000000002", "7"];

    fn item(uid: &str, spec: &str) -> String {
        format!(
            r#"{{"apiVersion":"michelangelo.api/v2","kind":"Model","metadata":{{"uid":"{uid}","namespace":"ns","name":"{uid}","resourceVersion":"3"}},"spec":{spec}}}"#
        )
    }

    /// A cluster that has objects with these names, and an empty database.
    async fn context(items: Vec<(&'static str, String)>) -> Context {
        let service = tower::service_fn(move |request: Request<Body>| {
            let query = request.uri().query().unwrap_or_default();
            let is_asked = |name: &str| !query.contains("fieldSelector") || query.contains(&format!("%3D{name}&"));
            let asked: Vec<&str> =
                items.iter().filter(|(name, _)| is_asked(name)).map(|(_, item)| item.as_str()).collect();
            let text = format!(r#"{{"metadata":{{"resourceVersion":"9"}},"items":[{}]}}"#, asked.join(","));
            let answer = Response::new(Body::from(text.into_bytes()));
            async move { Ok::<_, Infallible>(answer) }
        });
        Context {
            client: Client::new(service, "default"),
            store: Arc::new(Store::in_memory(&[MODEL]).await.unwrap()),
            metrics: Metrics::new().unwrap(),
            health: Health::new([]),
            publisher: Publisher::off(),
            assignment: Assignment::alone(),
        }
    }

    /// An object that cannot be turned into a row, and an object in the cluster although its row is its only copy.
    #[tokio::test]
    async fn unreadable_objects_and_ghosts_are_findings() {
        let deep = (0..150).fold("1".to_owned(), |inner, _| format!("[{inner}]"));
        let context = context(vec![("deep", item("deep", &deep)), ("ghost", item("ghost", "{}"))]).await;
        let object = crate::unit::parse(&MODEL, item("ghost", "{}").into(), ManagedFields::Keep).unwrap();
        let row = MODEL.row(&object).unwrap().unwrap();
        let row = Row { res_version: 7, evict_time: Some(Micros(1)), evict_confirmed: true, ..row };
        context.store.write(MODEL.table(), vec![RowChange::Row(row)]).await.unwrap();
        let live = Live::fixed(Config::default());
        let unit = units(&context, &[MODEL], &live, &CancellationToken::new()).remove(0);
        let auditor = Auditor::new(unit, vec![Shard::WHOLE], &|_, _| {}).await.unwrap();
        let suspects = auditor.suspects(&mut AuditReport::new(9)).await.unwrap();
        let found = auditor.read_again(suspects).await.unwrap();
        let found: Vec<(&str, &Option<Finding>)> =
            found.iter().map(|(suspect, finding)| (&*suspect.uid, finding)).collect();
        assert!(
            matches!(
                found[..],
                [("deep", Some(Finding::Rejected(_))), ("ghost", Some(Finding::Ghost { object: 3, .. }))]
            ),
            "{found:?}"
        );
    }

    /// Returns the uids that these parts find missing in an empty table, and the number of objects that they count.
    async fn missing(shards: Vec<Shard>) -> (Vec<String>, u64) {
        let context = context(UIDS.map(|uid| (uid, item(uid, "{}"))).into()).await;
        let live = Live::fixed(Config::default());
        let unit = units(&context, &[MODEL], &live, &CancellationToken::new()).remove(0);
        let mut report = AuditReport::new(9);
        let auditor = Auditor::new(unit, shards, &|_, _| {}).await.unwrap();
        let suspects = auditor.suspects(&mut report).await.unwrap();
        (suspects.into_iter().map(|suspect| suspect.uid.into()).collect(), report.kind("Model").objects)
    }

    #[tokio::test]
    async fn what_is_in_parts_of_others_is_not_missing_here() {
        assert_eq!(missing(vec![Shard::WHOLE]).await, (UIDS.map(str::to_owned).into(), 3));
        let mut all = Vec::new();
        for shard in Shard::all(3) {
            let own: Vec<String> = UIDS.iter().filter(|uid| shard.has(uid)).map(|uid| (*uid).to_owned()).collect();
            assert!(own.len() < UIDS.len(), "{UIDS:?} are all in {shard}");
            let found = missing(vec![shard]).await;
            assert_eq!(found, (own.clone(), own.len() as u64));
            all.extend(own);
        }
        all.sort();
        assert_eq!(all, UIDS);
    }
}
