//! One restore, from the row to the new object.

use super::cluster::{Cluster, Ownership, WRITES_STATUS};
use super::object::{ClusterObject, Restorable, StatusIs};
use super::{RestoreRequest, RestoredObject, live, row_to_restore};
use crate::read::{self, OwnedResource};
use crate::status::{Reason, Status};
use crate::write::find::{failed, find};
use crate::write::{WriteTarget, json_of, leaving};
use ingester_core::Kind;
use ingester_sql::query::States;
use ingester_store::guard::Eviction;
use ingester_store::{Effect, OpenRestore, RestoreBegin, Store, StoredRow};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// If the steps before the creation take longer, the restore's time is recorded again.
const PROMPT: Duration = Duration::from_secs(2);

/// The pause between two looks at the new row.
const PAUSE: Duration = Duration::from_millis(100);

/// The version of an object that is restored.
pub(super) struct Source {
    /// The uid of the row.
    pub(super) uid: Box<str>,
    pub(super) object: Restorable,
    /// Its object is leaving the cluster.
    pub(super) is_leaving: bool,
}

impl Source {
    pub(super) async fn find(store: &Store, kind: &Kind, wanted: RestoreRequest<'_>) -> Result<Self, Status> {
        if let (Some(uid), Some(version)) = (wanted.uid, wanted.version) {
            let object = Restorable::read(kind, uid, version).map_err(Status::internal)?;
            return Ok(Source { uid: uid.into(), object, is_leaving: false });
        }
        let uid = row_to_restore(store, kind, wanted).await?;
        Source::read(store, kind, &uid, wanted.name).await
    }

    async fn read(store: &Store, kind: &Kind, uid: &str, name: &str) -> Result<Self, Status> {
        let stored = store.read_stored(kind.table(), &[uid]).await.map_err(failed)?;
        let stored = stored.first().ok_or_else(|| Status::not_found(read::resource(kind).as_resource(), name))?;
        Source::from_row(kind, stored)
    }

    fn from_row(kind: &Kind, stored: &StoredRow) -> Result<Self, Status> {
        let object = Restorable::read(kind, &stored.uid, json_of(stored)).map_err(Status::internal)?;
        let is_leaving = stored.eviction == Eviction::Intended;
        Ok(Source { uid: stored.uid.clone(), object, is_leaving })
    }
}

/// An attempt to create the object of a recorded restore.
struct Attempt {
    restore: OpenRestore,
    /// No attempt before it may have created the object.
    is_first: bool,
}

/// The reason why an object was not created.
enum Refusal {
    /// It certainly was not created, and will not be.
    Certain(Status),
    /// It may have been created, or the request may still arrive.
    Unknown(Status),
}

/// A restore of an object of a kind.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) store: &'a Store,
    pub(super) kind: &'a Kind,
    pub(super) wanted: RestoreRequest<'a>,
    pub(super) cluster: &'a Cluster,
}

impl Task<'_> {
    pub(super) fn resource(&self) -> OwnedResource {
        read::resource(self.kind)
    }

    fn is_dry_run(&self) -> bool {
        self.wanted.effect == Effect::Tried
    }

    /// Records the restore and creates the object.
    pub(super) async fn begin(self, source: Source, note: &impl Fn(&str)) -> Result<RestoredObject, Status> {
        let (mut source, mut attempt) = if self.is_dry_run() { (source, None) } else { self.record(source).await? };
        let mut warnings = Vec::new();
        let refusal = match self.send(&mut source, &mut attempt, &mut warnings).await {
            Ok(created) => return self.created(source, created, warnings).await,
            Err(refusal) => refusal,
        };
        let name = source.object.name.clone();
        let (error, is_certain) = match refusal {
            Refusal::Certain(error) => (error, true),
            Refusal::Unknown(error) => (error, false),
        };
        // A concurrent attempt at the same restore may have been faster.
        if error.reason == Reason::AlreadyExists
            && let Some(there) = self.cluster.get(&name).await?
            && there.restored_from(self.kind) == Some(&*source.uid)
        {
            return self.complete(source, there, note).await;
        }
        if let Some(Attempt { restore, is_first: true }) = &attempt
            && is_certain
        {
            withdraw(self.store, self.kind, &source.uid, restore).await;
        }
        Err(if error.reason == Reason::AlreadyExists { live(self.resource().as_resource(), &name) } else { error })
    }

    /// Records the restore, and reads the row in the same transaction.
    async fn record(self, source: Source) -> Result<(Source, Option<Attempt>), Status> {
        let Task { store, kind, wanted, .. } = self;
        let name = &source.object.name;
        match store.begin_restore(kind, &source.uid).await.map_err(failed)? {
            RestoreBegin::Open { row, restore, is_continued } => {
                let attempt = Attempt { restore, is_first: !is_continued };
                let source = if wanted.version.is_some() { source } else { Source::from_row(kind, &row)? };
                Ok((source, Some(attempt)))
            }
            // The row of a former version may have been purged.
            RestoreBegin::NotFound if wanted.version.is_some() => Ok((source, None)),
            RestoreBegin::NotFound => Err(Status::not_found(self.resource().as_resource(), name)),
            RestoreBegin::NotEvicted => Err(live(self.resource().as_resource(), name)),
            RestoreBegin::Leaving => Err(leaving(self.resource().as_resource(), name)),
        }
    }

    /// Sends the object to the API server.
    async fn send(
        self,
        source: &mut Source,
        attempt: &mut Option<Attempt>,
        warnings: &mut Vec<String>,
    ) -> Result<ClusterObject, Refusal> {
        let began = Instant::now();
        self.leave_out_status(&mut source.object, warnings);
        if let Some(user) = self.wanted.by {
            source.object.asked_by(user);
        }
        warnings.extend(self.keep_owners(&mut source.object).await.map_err(Refusal::Certain)?);
        if let Some(Attempt { restore, .. }) = attempt {
            if began.elapsed() > PROMPT {
                // Looking for owners took long: make sure that nobody takes this attempt for an old one.
                *restore = self.record_again(source, restore).await.map_err(Refusal::Certain)?;
            }
            source.object.numbered(&restore.nonce);
        }
        self.cluster.create(source.object.to_text(), self.is_dry_run()).await.map_err(|error| {
            let refusal = if error.code.is_client_error() { Refusal::Certain } else { Refusal::Unknown };
            refusal(error)
        })
    }

    async fn record_again(self, source: &Source, before: &OpenRestore) -> Result<OpenRestore, Status> {
        match self.store.begin_restore(self.kind, &source.uid).await.map_err(failed)? {
            RestoreBegin::Open { restore, .. } if restore.nonce == before.nonce => Ok(restore),
            _ => {
                let why = "its restore was given up meanwhile; try again";
                Err(Status::conflict(self.resource().as_resource(), &source.object.name, why))
            }
        }
    }

    /// Continues after the object was created: the status comes next.
    async fn created(
        self,
        source: Source,
        created: ClusterObject,
        warnings: Vec<String>,
    ) -> Result<RestoredObject, Status> {
        let mut object = created;
        if let Some(status) = source.object.stored_status().filter(|status| !object.has_status(status)) {
            (object, _) = self.with_status(&source.object.name, object, status).await?;
        }
        let name = source.object.name.clone();
        let shown = object.render_for_readers();
        let mut restored = RestoredObject {
            object: shown,
            name,
            from: source.uid,
            before: false,
            finished: true,
            in_sql: false,
            warnings,
        };
        finish(self, &object, &mut restored).await?;
        Ok(restored)
    }

    /// Does the remaining steps of a restore whose object is in the cluster.
    pub(super) async fn complete(
        self,
        mut source: Source,
        there: ClusterObject,
        note: &impl Fn(&str),
    ) -> Result<RestoredObject, Status> {
        let Task { store, kind, wanted, .. } = self;
        let name = source.object.name.clone();
        let Some(from) = self.of_this_name(&source.uid, &there).await? else {
            return Err(self.taken(&name, &source.uid, &there));
        };
        if from != source.uid {
            note(&from);
            source = Source::read(store, kind, &from, wanted.name).await?;
        }
        self.ensure_of_open_restore(&source, &there).await?;
        let mut warnings = Vec::new();
        self.leave_out_status(&mut source.object, &mut warnings);
        let is = source.object.status().map_or(StatusIs::Written, |status| there.status_is(status, WRITES_STATUS));
        if is == StatusIs::Anothers {
            warnings
                .push("its status was not restored: another writer has written one since, which is kept".to_owned());
        }
        let (object, before) = match source.object.status().filter(|_| is == StatusIs::Missing) {
            Some(status) => self.with_status(&name, there, status).await?,
            None => (there, true),
        };
        if wanted.version.is_some() && before {
            warnings.push("it was restored before, perhaps from another version, and is left as it is".to_owned());
        }
        let shown = object.render_for_readers();
        let mut restored =
            RestoredObject { object: shown, name, from, before, finished: true, in_sql: false, warnings };
        finish(self, &object, &mut restored).await?;
        Ok(restored)
    }

    /// Returns the uid of the row from which the object with this name was restored, if that is the wanted row: the row that was found or,
    /// without a given uid, any row with this name.
    async fn of_this_name(self, found: &str, there: &ClusterObject) -> Result<Option<Box<str>>, Status> {
        let Task { store, kind, wanted, .. } = self;
        let Some(from) = there.restored_from(kind) else { return Ok(None) };
        if from == found {
            return Ok(Some(from.into()));
        }
        if wanted.uid.is_some() {
            return Ok(None);
        }
        let gone = States { live: false, ..States::ALL };
        let RestoreRequest { namespace, name, former, .. } = wanted;
        match find(store, WriteTarget { kind, namespace, name }, Some(from), gone, former).await {
            Ok(found) => Ok(Some(found.uid)),
            Err(status) if status.reason == Reason::NotFound => Ok(None),
            Err(status) => Err(status),
        }
    }

    /// Refuses an object of a restore that was given up while its row is live: the row may have changed since its text was read.
    async fn ensure_of_open_restore(self, source: &Source, there: &ClusterObject) -> Result<(), Status> {
        let Task { store, kind, .. } = self;
        // Programs before 0.3 wrote no nonce.
        let Some(nonce) = there.nonce(kind) else { return Ok(()) };
        // Read this before the row, because one transaction ends the restore and marks the row.
        let open = store.open_restore(kind, &source.uid).await.map_err(failed)?;
        if open.is_some_and(|open| &*open.nonce == nonce) {
            return Ok(());
        }
        let stored = store.read_stored(kind.table(), &[&source.uid]).await.map_err(failed)?;
        if stored.first().is_none_or(|stored| stored.delete_time.is_some()) {
            return Ok(());
        }
        let why = format!(
            "the object in the cluster comes from a restore of the row {} that was given up, and the row may have changed since; delete one of \
             the two",
            source.uid
        );
        Err(Status::conflict(self.resource().as_resource(), &source.object.name, &why))
    }

    /// Returns the error about an object that occupies the name.
    fn taken(&self, name: &str, old: &str, there: &ClusterObject) -> Status {
        if there.uid() == old {
            return Status::conflict(self.resource().as_resource(), name, "it is still in the cluster");
        }
        live(self.resource().as_resource(), name)
    }

    /// Leaves out the status if the caller may not write it.
    fn leave_out_status(&self, object: &mut Restorable, warnings: &mut Vec<String>) {
        if let Err(why) = self.wanted.status
            && object.without_status()
        {
            warnings.push(format!("its status is left out: {why}"));
        }
    }

    /// Writes the status of an object that was created. Returns the object with the status, and true if the object stays as it was because
    /// its kind has no status subresource.
    ///
    /// # Errors
    /// The API server's error. The object exists then, and the same request writes its status when it is repeated.
    async fn with_status(
        &self,
        name: &str,
        object: ClusterObject,
        status: &str,
    ) -> Result<(ClusterObject, bool), Status> {
        if self.is_dry_run() {
            // The next request would write this status.
            return Ok((object.with_status(status).map_err(Status::internal)?, false));
        }
        match self.cluster.set_status(name, status).await {
            Ok(Some(object)) => Ok((object, false)),
            Ok(None) => Ok((object, true)),
            Err(mut error) => {
                error.message = format!(
                    "it was created, but its status was not restored: {}; restore the same again to write it",
                    error.message
                );
                Err(error)
            }
        }
    }

    /// Leaves out owners that are gone. Returns warnings about them.
    async fn keep_owners(&self, object: &mut Restorable) -> Result<Vec<String>, Status> {
        let mut keep = Vec::new();
        let mut warnings = Vec::new();
        for owner in object.owners() {
            let ownership = self.cluster.owner(&owner, &object.namespace).await?;
            keep.push(ownership == Ownership::There);
            if let Ownership::Gone(why) = ownership {
                warnings.push(format!("the reference to its owner {} {} is left out: {why}", owner.kind, owner.name));
            }
        }
        object.keep_owners(&keep);
        Ok(warnings)
    }
}

/// Waits until the mirror has stored the new object; the same transaction marks the old row. If another program stored the object, marks
/// the old row here.
async fn finish(task: Task<'_>, there: &ClusterObject, restored: &mut RestoredObject) -> Result<(), Status> {
    let Task { store, kind, wanted, .. } = task;
    if wanted.effect == Effect::Tried {
        return Ok(());
    }
    let old = store.read_stored(kind.table(), &[&restored.from]).await.map_err(failed)?;
    // The row of a former version may have been purged.
    if old.first().is_none_or(|old| old.delete_time.is_some()) {
        return Ok(());
    }
    let end = Instant::now() + wanted.patience;
    while store.versions(kind.table(), &[there.uid()]).await.map_err(failed)?.is_empty() {
        if Instant::now() >= end {
            restored.finished = false;
            restored.warnings.push(format!(
                "it is not in SQL yet: is `ingester run` running? The old row (uid {}) is marked as deleted when the new object is stored, and \
                 cannot be changed until then",
                restored.from
            ));
            return Ok(());
        }
        sleep(PAUSE).await;
    }
    if !store.end_restore(kind, &restored.from, there.nonce(kind)).await.map_err(failed)? {
        // The old object is in the cluster again.
        restored.warnings.push("the old row is no longer evicted, and stays".to_owned());
    }
    Ok(())
}

/// Ends a restore whose object was certainly not created.
async fn withdraw(store: &Store, kind: &Kind, uid: &str, restore: &OpenRestore) {
    if let Err(error) = store.give_up_restore(kind, uid, restore).await {
        tracing::warn!(kind = kind.name(), uid, %error, "A restore that was refused stays open: end it with `ingester restore --abandon`");
    }
}
