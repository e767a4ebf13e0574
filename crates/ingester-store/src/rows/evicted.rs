//! Changes evicted rows in SQL, the only place where they still exist. Their objects have left etcd, so the decision depends on the locked
//! row alone; the guard keeps out late states that the cluster still reports. A row whose eviction is only intended is left to the mirror.
//!
//! Like every writer, it locks main rows first. So the row that a decision is about is the row that is then written.

use super::chunks::{MOST_ROWS, chunks};
use super::guard::{Eviction, Version};
use super::history::{Beginnings, mark_deleted};
use super::locked::LockedRows;
use super::plan::{WritePlan, what};
use super::read::{StoredRow, read_rows};
use super::restores::{OpenRestore, open_restores};
use super::rows_named;
use crate::driver::{StoreError, Transaction};
use crate::store::Store;
use ingester_core::Kind;
use ingester_core::row::Row;
use ingester_core::schema::Table;
use ingester_core::value::Micros;
use ingester_sql::dialect::statements::{ChangeKind, GoneObject, Versions};
use std::collections::HashMap;

/// Selects between a change and a dry run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The change is written.
    Written,
    /// Everything is done except the writing.
    Tried,
}

/// The result of changing an evicted row.
#[derive(Clone, Debug, PartialEq)]
pub enum ChangeResult<T, E> {
    /// It was changed.
    Done(T),
    /// There was nothing to change.
    Unchanged(Box<StoredRow>),
    /// There is no row of this kind with this uid.
    NotFound,
    /// Its object is in the cluster, and is changed there.
    NotEvicted,
    /// Its object is leaving the cluster, and may still change there.
    Leaving,
    /// It was deleted.
    Deleted,
    /// It is being restored into the cluster: a write now would be lost.
    Restoring(OpenRestore),
    /// The caller refused the change, for this reason.
    Refused(E),
}

impl Store {
    /// Changes an evicted row with its labels and annotations. `edit` gets the stored row while it is locked. It returns the row that
    /// replaces it, in a higher version; `None` if there is nothing to change; or the reason for a refusal. It may be called more than
    /// once, because transient errors are retried. `evict_time` stays as it is.
    ///
    /// # Errors
    /// If the row cannot be read or written within the retries, or the database refuses the new row.
    pub async fn change_evicted<E>(
        &self,
        kind: &Kind,
        uid: &str,
        effect: Effect,
        edit: impl Fn(&StoredRow) -> Result<Option<Row>, E>,
    ) -> Result<ChangeResult<Row, E>, StoreError> {
        let table = kind.table();
        self.with_retries(
            || format!("changing a row of `{}`", table.name),
            || async {
                let mut log = self.log(table, self.now()).await?;
                let mut tx = self.pool.begin_durably(true).await?;
                let changed = self.change_locked(&mut tx, kind, uid, effect, &edit).await;
                if matches!((&changed, effect), (Ok(ChangeResult::Done(_)), Effect::Written)) {
                    log.add_uids(ChangeKind::Updated, [uid]);
                }
                log.end(tx, changed, self.max_packet).await
            },
        )
        .await
    }

    async fn change_locked<E>(
        &self,
        tx: &mut Transaction,
        kind: &Kind,
        uid: &str,
        effect: Effect,
        edit: &impl Fn(&StoredRow) -> Result<Option<Row>, E>,
    ) -> Result<ChangeResult<Row, E>, sqlx::Error> {
        let table = kind.table();
        let stored = match evicted(tx, kind, uid).await? {
            Ok(stored) => stored,
            Err(other) => return Ok(other),
        };
        let mut row = match edit(&stored) {
            Err(refused) => return Ok(ChangeResult::Refused(refused)),
            Ok(None) => return Ok(ChangeResult::Unchanged(Box::new(stored))),
            Ok(Some(row)) => row,
        };
        if row.uid != stored.uid || row.res_version <= stored.res_version {
            let what = "an evicted row is replaced by a later version of itself";
            return Err(sqlx::Error::InvalidArgument(what.to_owned()));
        }
        row.evict_time = stored.evict_time;
        row.evict_confirmed = true;
        if effect == Effect::Written {
            self.overwrite_one(tx, table, &row, ChangeKind::Updated).await?;
        }
        Ok(ChangeResult::Done(row))
    }

    /// Marks an evicted row as deleted. `refuse` gets the stored row while it is locked, and returns the reason if the row must be left
    /// alone. Version and eviction of the row stay: the cluster's states still do not replace it, and it is not purged.
    ///
    /// # Errors
    /// If the row cannot be read or written within the retries.
    pub async fn delete_evicted<E>(
        &self,
        kind: &Kind,
        uid: &str,
        effect: Effect,
        refuse: impl Fn(&StoredRow) -> Result<(), E>,
    ) -> Result<ChangeResult<Box<StoredRow>, E>, StoreError> {
        let table = kind.table();
        let refuse = &refuse;
        self.with_retries(
            || format!("deleting a row of `{}`", table.name),
            || async {
                let mut log = self.log(table, self.now()).await?;
                let mut tx = self.pool.begin_durably(true).await?;
                let deleted = async {
                    let stored = match evicted(&mut tx, kind, uid).await? {
                        Ok(stored) => stored,
                        Err(other) => return Ok(other),
                    };
                    if let Err(refused) = refuse(&stored) {
                        return Ok(ChangeResult::Refused(refused));
                    }
                    if effect == Effect::Written {
                        mark(&mut tx, table, &[(uid, stored.res_version)], self.now()).await?;
                        log.add_uids(ChangeKind::Deleted, [uid]);
                    }
                    Ok(ChangeResult::Done(Box::new(stored)))
                }
                .await;
                log.end(tx, deleted, self.max_packet).await
            },
        )
        .await
    }

    /// Marks rows as deleted if they are evicted and still have the version in `read`. Other evicted rows are left alone: they were changed
    /// meanwhile, or their objects are still leaving the cluster.
    ///
    /// # Errors
    /// If the rows cannot be read or written within the retries.
    pub async fn delete_evicted_of(
        &self,
        table: &'static Table,
        read: &[(&str, u64)],
        effect: Effect,
    ) -> Result<DeletionResult, StoreError> {
        let read: &HashMap<&str, u64> = &read.iter().copied().collect();
        let mut uids: Vec<&str> = read.keys().copied().collect();
        uids.sort_unstable();
        let uids = &uids;
        self.with_retries(
            || format!("deleting {}", rows_named(uids.len(), table)),
            || async {
                let mut log = self.log(table, self.now()).await?;
                let mut tx = self.pool.begin_durably(true).await?;
                let deleted = async {
                    let mut deleted = DeletionResult::default();
                    for uids in chunks(uids, MOST_ROWS, self.dialect) {
                        let stored = tx.fetch(&Versions { table, uids, lock: true }).await?;
                        let restoring = open_restores(&mut tx, table, uids).await?;
                        let evicted = |(_, version): &&(String, Version)| version.evicted() && !version.deleted;
                        let mut gone = Vec::with_capacity(stored.len());
                        for (uid, version) in stored.iter().filter(evicted) {
                            if version.eviction == Eviction::Intended {
                                deleted.leaving += 1;
                            } else if restoring.contains_key(uid) {
                                deleted.restoring += 1;
                            } else if let Some((read, _)) =
                                read.get_key_value(uid.as_str()).filter(|(_, read)| **read == version.res_version)
                            {
                                gone.push((*read, version.res_version));
                            } else {
                                deleted.changed.push(uid.as_str().into());
                            }
                        }
                        deleted.rows += gone.len();
                        if effect == Effect::Written {
                            mark(&mut tx, table, &gone, self.now()).await?;
                            log.add_uids(ChangeKind::Deleted, gone.iter().map(|(uid, _)| *uid));
                        }
                    }
                    Ok(deleted)
                }
                .await;
                log.end(tx, deleted, self.max_packet).await
            },
        )
        .await
    }

    /// Replaces an evicted row with the row of its object, which is in the cluster again: a person has decided so. Does nothing if the row
    /// is no longer the one that was `seen`, or is being restored. Returns true if it was replaced.
    ///
    /// # Errors
    /// If the row cannot be read or written within the retries, or the database refuses the new row.
    pub async fn replace_evicted(&self, kind: &Kind, row: &Row, seen: Version) -> Result<bool, StoreError> {
        let table = kind.table();
        self.with_retries(
            || format!("replacing a row of `{}`", table.name),
            || async {
                let mut log = self.log(table, self.now()).await?;
                let mut tx = self.pool.begin_durably(true).await?;
                let replaced = async {
                    let stored = tx.fetch(&Versions { table, uids: &[&*row.uid], lock: true }).await?;
                    if stored.first().is_none_or(|(_, stored)| *stored != seen) {
                        return Ok(false);
                    }
                    if seen.eviction.is_only_copy() && !open_restores(&mut tx, table, &[&*row.uid]).await?.is_empty() {
                        return Ok(false);
                    }
                    self.overwrite_one(&mut tx, table, row, what(row, Some(seen))).await?;
                    log.row(row, what(row, Some(seen)));
                    Ok(true)
                }
                .await;
                log.end(tx, replaced, self.max_packet).await
            },
        )
        .await
    }

    /// Overwrites a row that the transaction has locked, with its companions.
    async fn overwrite_one(
        &self,
        tx: &mut Transaction,
        table: &'static Table,
        row: &Row,
        becomes: ChangeKind,
    ) -> Result<(), sqlx::Error> {
        let began = &Beginnings::new();
        let locked = LockedRows { table, now: self.now(), max_packet: self.max_packet, no_leftovers: false, began };
        let plan = WritePlan::of_overwrite(row, becomes);
        locked.write_main(tx, &plan).await?;
        locked.write_companions(tx, &plan).await
    }
}

/// The result of deleting many evicted rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeletionResult {
    /// Number of rows that were marked as deleted.
    pub rows: usize,
    /// The uids of rows that were left alone because they were changed meanwhile.
    pub changed: Vec<Box<str>>,
    /// Number of rows that were left alone because their objects are still leaving the cluster.
    pub leaving: usize,
    /// Number of rows that were left alone because they are being restored into the cluster.
    pub restoring: usize,
}

/// Locks a row and reads it if it is an evicted row of this kind.
async fn evicted<T, E>(
    tx: &mut Transaction,
    kind: &Kind,
    uid: &str,
) -> Result<Result<StoredRow, ChangeResult<T, E>>, sqlx::Error> {
    let table = kind.table();
    let uids = &[uid];
    if tx.fetch(&Versions { table, uids, lock: true }).await?.is_empty() {
        return Ok(Err(ChangeResult::NotFound));
    }
    let stored = read_rows(tx, table, uids).await?.into_iter().find(|row| row.is_of(kind));
    Ok(match stored {
        None => Err(ChangeResult::NotFound),
        Some(StoredRow { delete_time: Some(_), .. }) => Err(ChangeResult::Deleted),
        Some(stored) => match stored.eviction {
            Eviction::None => Err(ChangeResult::NotEvicted),
            Eviction::Intended => Err(ChangeResult::Leaving),
            Eviction::Confirmed | Eviction::Unrecorded => match open_restores(tx, table, uids).await?.remove(uid) {
                Some(restore) => Err(ChangeResult::Restoring(restore)),
                None => Ok(stored),
            },
        },
    })
}

/// Marks rows that the transaction has locked as deleted, and keeps their versions.
async fn mark(
    tx: &mut Transaction,
    table: &'static Table,
    rows: &[(&str, u64)],
    now: Micros,
) -> Result<(), sqlx::Error> {
    let gone: Vec<GoneObject<'_>> =
        rows.iter().map(|(uid, res_version)| GoneObject { uid, res_version: *res_version, delete_time: now }).collect();
    mark_deleted(tx, table, &gone, now, &Beginnings::new()).await
}
