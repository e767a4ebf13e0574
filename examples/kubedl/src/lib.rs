//! KubeDL's jobs, their pods and their events, and the tables of its persistence as views over them: what `kinds.yaml` declares, in Rust.
//! Both give the same tables, views and rows.

use ingester_core::view::{self, View};
use ingester_core::{GeneratedSql, Kind, registry};

pub mod event;
pub mod job;
pub mod pod;
pub mod views;

/// The migrations of these kinds.
pub const SQL: GeneratedSql = ingester_core::generated_sql!("generated-sql");

/// The registry: every kind that is mirrored.
pub const KINDS: &[Kind] = registry![&[
    Kind::of::<job::TFJob>(),
    Kind::of::<job::PyTorchJob>(),
    Kind::of::<job::XGBoostJob>(),
    Kind::of::<job::XDLJob>(),
    Kind::of::<job::MarsJob>(),
    Kind::of::<job::ElasticBatchJob>(),
    Kind::of::<job::ElasticDLJob>(),
    Kind::of::<job::MPIJob>(),
    Kind::of::<pod::Pod>(),
    Kind::of::<event::Event>(),
]];

/// The views: the tables of KubeDL's code, and the tables of its manual.
pub const VIEWS: &[View] =
    view::checked(KINDS, &[views::JOB_INFO, views::REPLICA_INFO, views::EVENT_INFO, views::JOB, views::POD]);
