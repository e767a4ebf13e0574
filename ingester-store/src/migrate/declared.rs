//! Tables of kinds that no lock file has, such as kinds of a file: they follow what is declared. The database itself counts the
//! definitions of such a kind.

use super::apply::schema_of;
use crate::store::{ErrorClass, Store, StoreError};
use ingester_core::Registry;
use ingester_core::ddl::{self, Schema, SchemaChange, Step};
use ingester_core::kind::{IngestVersion, Kind, ProtobufError};
use ingester_core::schema::Ident;
use std::time::Duration;

/// How often a change is attempted whose table is in use, and the pause between attempts.
const ATTEMPTS: u32 = 120;
const PAUSE: Duration = Duration::from_secs(2);

/// What was done so that tables are as their kinds are declared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// The changes that were made, for people.
    pub made: Vec<String>,
    /// What the database has and nobody declares any more: it was left as it is.
    pub left: Vec<String>,
}

/// Why tables cannot be as their kinds are declared.
#[derive(Debug, thiserror::Error)]
pub enum DeclaredError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The message of a kind cannot be used.
    #[error(transparent)]
    Protobuf(#[from] ProtobufError),
    /// Changes that do more than add.
    #[error("the tables of declared kinds would change in a way that is not made by itself: {}", .0.join("; "))]
    MoreThanAdded(Vec<String>),
    /// Changes that drop data.
    #[error("these changes drop data: {}; if that is meant, say so with --allow-destructive", .0.join("; "))]
    Destructive(Vec<String>),
}

/// Which changes may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum May {
    /// Tables, columns and keys are added.
    Add,
    /// Whatever is declared, unless it drops data.
    Change,
    /// Whatever is declared.
    Drop,
}

impl Store {
    /// Makes the tables of a list of kinds, or of a [`Registry`] with its views, as they are declared, and records their definitions: from then on the kinds know their versions.
    /// Concurrent runs wait for each other.
    ///
    /// # Errors
    /// [`DeclaredError`]. With [`May::Add`] nothing is changed if a kind needs more than that.
    pub async fn make_declared<'a>(
        &self,
        registry: impl Into<Registry<'a>>,
        may: May,
    ) -> Result<Declared, DeclaredError> {
        let registry = registry.into();
        let mut declared = Declared::default();
        if registry.kinds.is_empty() {
            return Ok(declared);
        }
        let wanted = Schema::of(registry);
        self.create_own().await?;
        let mut migrating = self.migrating().await?;
        let live = schema_of(&migrating.catalog().await?, self.dialect(), &wanted);
        let mut changes = ddl::diff(&live, &wanted);
        if may != May::Drop {
            let left = left_alone(&changes);
            changes.retain(|change| !left.contains(change));
            declared.left = left.iter().map(SchemaChange::sentence).collect();
            // Views that would only be made again around what is left.
            if changes.iter().all(SchemaChange::is_of_view) {
                let same = |view: &ddl::ViewDef| live.views.contains(view) && wanted.views.contains(view);
                changes.retain(|change| !change.view().is_some_and(same));
            }
        }
        let more: Vec<String> = changes.iter().filter(|change| !adds(change)).map(SchemaChange::sentence).collect();
        if may == May::Add && !more.is_empty() {
            migrating.end().await?;
            return Err(DeclaredError::MoreThanAdded(more));
        }
        let losses = ddl::losses(&changes);
        if may != May::Drop && !losses.is_empty() {
            migrating.end().await?;
            return Err(DeclaredError::Destructive(losses));
        }
        for step in ddl::plan(&live, &changes) {
            self.make_step(&mut migrating, &step).await?;
            declared.made.extend(step.changes.iter().map(SchemaChange::sentence));
        }
        migrating.end().await?;
        let made: Vec<Ident> = changes.iter().filter_map(SchemaChange::view).map(|view| view.name).collect();
        self.record_views(&wanted.views, &made).await?;
        for kind in registry.kinds {
            let number = self.record_definition(kind, kind.fingerprint()?).await?;
            know(kind, number);
        }
        Ok(declared)
    }

    async fn make_step(&self, migrating: &mut crate::store::ledger::Migrating, step: &Step) -> Result<(), StoreError> {
        let statements = self.dialect().step(step);
        for attempt in 1.. {
            match migrating.define(&statements).await {
                Err(error) if error.class() == ErrorClass::Transient && attempt < ATTEMPTS => {
                    tracing::warn!(%error, "A table is in use, trying again");
                    tokio::time::sleep(PAUSE).await;
                }
                made => return made,
            }
        }
        Ok(())
    }

    /// Tells kinds their versions, as far as this database knows them. Nothing is written.
    ///
    /// # Errors
    /// If the database cannot be read, or the message of a kind cannot be used.
    pub async fn learn_declared(&self, kinds: &[Kind]) -> Result<(), DeclaredError> {
        if kinds.is_empty() || self.missing_own().await?.iter().any(|own| own == "ingester_settings") {
            return Ok(());
        }
        for kind in kinds {
            let number = self.definition(kind, kind.fingerprint()?).await?;
            if number > 0 {
                know(kind, number);
            }
        }
        Ok(())
    }
}

/// A process writes into one database, so a kind has one version there. What was known before stays.
fn know(kind: &Kind, number: u32) {
    if let Some(record) = kind.record() {
        let version = IngestVersion { number, of_unmarked: 0 };
        if *record.get_or_init(|| version) != version {
            tracing::warn!(
                kind = kind.kind(),
                number,
                "Another definition of this kind was recorded meanwhile: this program goes on with its own"
            );
        }
    }
}

/// Whether a change only adds. A view has no data, so it may be made anew.
fn adds(change: &SchemaChange) -> bool {
    matches!(change, SchemaChange::CreateTable(_) | SchemaChange::AddColumn { .. } | SchemaChange::AddKey { .. })
        || change.is_of_view()
}

/// Columns and keys that nobody declares any more. They stand in nobody's way: indexed columns may be NULL.
fn left_alone(changes: &[SchemaChange]) -> Vec<SchemaChange> {
    let added = |change: &SchemaChange| {
        changes.iter().any(|other| match (change, other) {
            (SchemaChange::DropColumn { table, column }, SchemaChange::AddColumn { table: at, column: other }) => {
                table == at && column.name.same_as(other.name.as_str())
            }
            (SchemaChange::DropKey { table, key }, SchemaChange::AddKey { table: at, key: other }) => {
                table == at && key.name.same_as(other.name.as_str())
            }
            _ => false,
        })
    };
    let dropped = changes.iter().filter(|change| {
        matches!(change, SchemaChange::DropColumn { .. } | SchemaChange::DropKey { .. }) && !added(change)
    });
    dropped.cloned().collect()
}
