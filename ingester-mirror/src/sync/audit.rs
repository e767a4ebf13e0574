//! Compares cluster and SQL, kind by kind, object by object, and repairs differences as the mirror itself would.
//!
//! Both are read page by page, so memory holds one page and the uids. They are not read at the same moment, and the mirror may
//! be running, so each suspect is read again, object and row, until the finding is stable.

use super::controller::{Controller, ControllerSetup};
use super::lifecycle::{DELETING, IMMUTABLE, is_true};
use super::remote::{ApiError, ApiErrorKind};
use super::work::{Item, Origin, Work};
use super::{Context, setups};
use crate::audit::{AuditReport, Finding, ReportEntry, Wanted, judge};
use crate::config::Config;
use ingester_core::kind::Kind;
use ingester_core::object::Object;
use ingester_store::{Evicted, StoreError, StoredRow};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Rows in one page.
const PAGE: usize = 1000;

/// The pauses between readings of a suspect: the mirror may need some time to write it.
const PAUSES: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(300), Duration::from_secs(1), Duration::from_secs(2)];

/// Attempts to repair one object.
const REPAIRS: usize = 3;

/// Why an audit failed.
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
pub struct Repaired {
    /// Objects and rows that were repaired.
    pub repaired: u64,
    /// Objects and rows that still differ.
    pub left: u64,
}

/// An object or row that may differ.
#[derive(Clone, Debug)]
struct Suspect {
    uid: Box<str>,
    namespace: Box<str>,
    name: Box<str>,
}

/// Compares `kinds` in the cluster with their rows and adds each difference to the report. With `repair`, it also repairs
/// them.
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
) -> Result<Repaired, AuditError> {
    let mut repaired = Repaired::default();
    for setup in setups(context, kinds, config) {
        let mut auditor = Auditor::new(setup).await?;
        let suspects = auditor.suspects(report).await?;
        for suspect in suspects {
            let Some(finding) = auditor.confirm(&suspect).await? else { continue };
            let done = repair && auditor.repair(&suspect, &finding).await?;
            repaired.repaired += u64::from(done);
            repaired.left += u64::from(!done);
            report.add(ReportEntry {
                kind: auditor.controller.kind.kind().to_owned(),
                namespace: suspect.namespace.into(),
                name: suspect.name.into(),
                uid: suspect.uid.into(),
                finding,
            });
        }
    }
    Ok(repaired)
}

struct Auditor {
    controller: Controller,
    namespace: Option<Box<str>>,
    rejects: HashMap<Box<str>, String>,
}

impl Auditor {
    async fn new(setup: ControllerSetup) -> Result<Self, StoreError> {
        let namespace = setup.namespace.clone();
        let controller = Controller::new(setup);
        let mut auditor = Auditor { controller, namespace, rejects: HashMap::new() };
        auditor.read_rejects().await?;
        Ok(auditor)
    }

    async fn read_rejects(&mut self) -> Result<(), StoreError> {
        let Controller { store, api_version, kind, .. } = &self.controller;
        let rejects = store.rejects(api_version, kind.kind(), None).await?;
        self.rejects = rejects.into_iter().map(|rejected| (rejected.uid, rejected.reason)).collect();
        Ok(())
    }

    /// What differs on the first reading.
    async fn suspects(&self, report: &mut AuditReport) -> Result<Vec<Suspect>, AuditError> {
        let Controller { remote, store, kind, .. } = &self.controller;
        let counts = report.kind(kind.kind());
        let mut suspects = Vec::new();
        let mut seen: HashSet<Box<str>> = HashSet::new();
        let mut next = None;
        loop {
            let page = match remote.list(next.as_deref()).await {
                Ok(page) => page,
                Err(error) if error.kind() == ApiErrorKind::NotFound => break,
                // The list took longer than the API server keeps its version: start over, counting nothing twice.
                Err(error) if error.kind() == ApiErrorKind::Expired && next.is_some() => {
                    next = None;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            next = page.next;
            let mut objects = Vec::with_capacity(page.items.len());
            for text in page.items {
                match self.controller.parse(text) {
                    Ok(object) if seen.insert(object.meta().uid.clone()) => objects.push(object),
                    Ok(_) => {}
                    Err((identity, _)) => {
                        let text = |part: Option<Box<str>>| part.unwrap_or_default();
                        let uid = super::work::uid_of(&identity);
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
            let rows = store.stored(kind.table(), &uids).await?;
            let rows: HashMap<&str, &StoredRow> = rows.iter().map(|row| (row.uid.as_ref(), row)).collect();
            for object in &objects {
                let meta = object.meta();
                if self.judge(Some(object), rows.get(meta.uid.as_ref()).copied()).is_some() {
                    let (namespace, name) = (meta.namespace.clone(), meta.name.clone());
                    suspects.push(Suspect { uid: meta.uid.clone(), namespace, name });
                }
            }
            if next.is_none() {
                break;
            }
        }
        let mut after: Box<str> = "".into();
        loop {
            let rows = store.live(kind.table(), self.namespace.as_deref(), Evicted::Included, &after, PAGE).await?;
            let Some(last) = rows.last() else { break };
            after = last.uid.clone();
            counts.rows += rows.len() as u64;
            let orphans: Vec<&str> = rows
                .iter()
                .filter(|row| !row.evicted && !seen.contains(&row.uid))
                .map(|row| row.uid.as_ref())
                .collect();
            let names = if orphans.is_empty() { Vec::new() } else { store.names(kind.table(), &orphans).await? };
            suspects.extend(names.into_iter().map(|(uid, namespace, name)| Suspect { uid, namespace, name }));
        }
        Ok(suspects)
    }

    fn judge(&self, object: Option<&Object>, stored: Option<&StoredRow>) -> Option<Finding> {
        let table = self.controller.kind.table();
        let Some(object) = object else { return judge(table, &Wanted::Nothing, stored) };
        let meta = object.meta();
        match self.controller.row(object) {
            Ok(Some(row)) => {
                let wanted = Wanted::Object {
                    row: &row,
                    terminating: meta.deletion_timestamp.is_some() || is_true(meta, DELETING),
                    leaving: self.controller.rules.immutable || is_true(meta, IMMUTABLE),
                    rejected: self.rejects.get(&meta.uid).map(String::as_str),
                };
                judge(table, &wanted, stored)
            }
            Ok(None) => judge(table, &Wanted::Nothing, stored),
            Err(reason) => judge(table, &Wanted::Undecodable(&reason), stored),
        }
    }

    /// Reads the object and then the row again, a few times. What is wrong each time is a finding.
    async fn confirm(&self, suspect: &Suspect) -> Result<Option<Finding>, AuditError> {
        let mut finding = None;
        for pause in PAUSES {
            tokio::time::sleep(pause).await;
            finding = self.reread(suspect).await?;
            // A rejected object stays rejected until it changes.
            if matches!(finding, None | Some(Finding::Rejected(_))) {
                break;
            }
        }
        Ok(finding)
    }

    async fn reread(&self, suspect: &Suspect) -> Result<Option<Finding>, AuditError> {
        let Controller { remote, store, kind, .. } = &self.controller;
        let text = remote.get(&suspect.namespace, &suspect.name).await?;
        let stored = store.stored(kind.table(), &[&suspect.uid]).await?;
        let object = match text.map(|text| self.controller.parse(text)) {
            Some(Ok(object)) => Some(object).filter(|object| object.meta().uid == suspect.uid),
            Some(Err((_, reason))) => return Ok(Some(Finding::Rejected(reason))),
            None => None,
        };
        Ok(self.judge(object.as_ref(), stored.first()))
    }

    /// Processes the suspect as the mirror would; the cluster wins over what is stored. Returns whether nothing differs then.
    async fn repair(&mut self, suspect: &Suspect, finding: &Finding) -> Result<bool, AuditError> {
        let never = CancellationToken::new();
        for _ in 0..REPAIRS {
            let Suspect { uid, namespace, name } = suspect.clone();
            let work = Work::Refresh { uid, namespace, name, version: self.version(suspect).await?, swept: true };
            let mut item = Item::new(work, Origin::Watch);
            item.overrule = !matches!(finding, Finding::Orphaned | Finding::Rejected(_));
            self.controller.queue.push_now(item);
            self.controller.settle(&never).await;
            self.read_rejects().await?;
            if self.reread(suspect).await?.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The row's version: an orphan's tombstone gets at least this version.
    async fn version(&self, suspect: &Suspect) -> Result<u64, StoreError> {
        let stored = self.controller.store.stored(self.controller.kind.table(), &[&suspect.uid]).await?;
        Ok(stored.first().map(|row| row.res_version).unwrap_or_default())
    }
}
