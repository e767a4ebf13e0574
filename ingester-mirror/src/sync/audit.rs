//! Compares cluster and SQL, kind by kind, object by object; and mends what differs, by the engine's own way.
//!
//! Both are read page by page, so memory holds one page and the uids. They are not read at one moment, and the engine may be at
//! work: a suspect is read again, object and row, until it is of one mind with itself.

use super::controller::{Controller, Parts};
use super::lifecycle::{DELETING, IMMUTABLE, is_true};
use super::remote::{Refusal, RemoteError};
use super::work::{Item, Origin, Work};
use super::{Surroundings, parts};
use crate::audit::{Entry, Finding, Report, Wanted, judge};
use crate::config::Config;
use ingester_core::kind::Kind;
use ingester_core::object::Object;
use ingester_store::{StoreError, StoredRow};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Rows in one page of what is stored.
const PAGE: usize = 1000;

/// How long a suspect may take to become what it should be while the engine works: the pauses between its readings.
const PAUSES: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(300), Duration::from_secs(1), Duration::from_secs(2)];

/// How often what was mended is looked at again.
const REPAIRS: usize = 3;

/// Why an audit did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The API server.
    #[error(transparent)]
    Cluster(#[from] RemoteError),
    /// The database.
    #[error(transparent)]
    Database(#[from] StoreError),
}

/// What was done about the findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Objects and rows that differed and no longer do.
    pub mended: u64,
    /// Those that still do.
    pub left: u64,
}

/// One object or row that may be wrong.
#[derive(Clone, Debug)]
struct Suspect {
    uid: Box<str>,
    namespace: Box<str>,
    name: Box<str>,
}

/// Compares `kinds` in the cluster with their rows; what differs is in the report. With `repair`, it is mended, too.
///
/// A kind that is not installed in the cluster has no objects: its live rows are orphans.
///
/// # Errors
/// When the cluster or the database cannot be read.
pub async fn audit(
    surroundings: &Surroundings,
    kinds: &[Kind],
    config: &Config,
    repair: bool,
    report: &mut Report,
) -> Result<Repaired, AuditError> {
    let mut repaired = Repaired::default();
    for parts in parts(surroundings, kinds, config) {
        let mut auditor = Auditor::new(parts).await?;
        let suspects = auditor.suspects(report).await?;
        for suspect in suspects {
            let Some(finding) = auditor.confirm(&suspect).await? else { continue };
            let mended = repair && auditor.repair(&suspect, &finding).await?;
            repaired.mended += u64::from(mended);
            repaired.left += u64::from(!mended);
            report.add(Entry {
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
    async fn new(parts: Parts) -> Result<Self, StoreError> {
        let namespace = parts.namespace.clone();
        let controller = Controller::new(parts);
        let mut auditor = Auditor { controller, namespace, rejects: HashMap::new() };
        auditor.read_rejects().await?;
        Ok(auditor)
    }

    async fn read_rejects(&mut self) -> Result<(), StoreError> {
        let Controller { store, api_version, kind, .. } = &self.controller;
        let rejects = store.rejects(api_version, kind.kind()).await?;
        self.rejects = rejects.into_iter().map(|rejected| (rejected.uid, rejected.reason)).collect();
        Ok(())
    }

    /// What differs at first sight.
    async fn suspects(&self, report: &mut Report) -> Result<Vec<Suspect>, AuditError> {
        let Controller { remote, store, kind, .. } = &self.controller;
        let counts = report.kind(kind.kind());
        let mut suspects = Vec::new();
        let mut seen: HashSet<Box<str>> = HashSet::new();
        let mut next = None;
        loop {
            let page = match remote.list(next.as_deref()).await {
                Ok(page) => page,
                Err(error) if error.refusal() == Refusal::NotFound => break,
                // Older than what the API server remembers: from the beginning, but nothing is counted twice.
                Err(error) if error.refusal() == Refusal::Expired && next.is_some() => {
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
            let rows = store.live(kind.table(), self.namespace.as_deref(), &after, PAGE).await?;
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

    /// Reads the object and then the row again, a few times; what is still wrong then is a finding.
    async fn confirm(&self, suspect: &Suspect) -> Result<Option<Finding>, AuditError> {
        let mut finding = None;
        for pause in PAUSES {
            tokio::time::sleep(pause).await;
            finding = self.look(suspect).await?;
            // What has been rejected stays so, and nobody is at work on a kind without a row that lags.
            if matches!(finding, None | Some(Finding::Rejected(_))) {
                break;
            }
        }
        Ok(finding)
    }

    async fn look(&self, suspect: &Suspect) -> Result<Option<Finding>, AuditError> {
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

    /// Has the engine look at it, the cluster's word above what is stored. Returns whether all is well then.
    async fn repair(&mut self, suspect: &Suspect, finding: &Finding) -> Result<bool, AuditError> {
        let never = CancellationToken::new();
        for _ in 0..REPAIRS {
            let Suspect { uid, namespace, name } = suspect.clone();
            let work = Work::Look { uid, namespace, name, version: self.version(suspect).await?, swept: true };
            let mut item = Item::new(work, Origin::Watch);
            item.overrule = !matches!(finding, Finding::Orphaned | Finding::Rejected(_));
            self.controller.queue.push_now(item);
            self.controller.settle(&never).await;
            self.read_rejects().await?;
            if self.look(suspect).await?.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The row's version: a tombstone of an orphan is at least of that.
    async fn version(&self, suspect: &Suspect) -> Result<u64, StoreError> {
        let stored = self.controller.store.stored(self.controller.kind.table(), &[&suspect.uid]).await?;
        Ok(stored.first().map(|row| row.res_version).unwrap_or_default())
    }
}
