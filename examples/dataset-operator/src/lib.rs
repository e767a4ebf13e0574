//! The kinds of this program, each one struct and one line.

use ingester_core::{GeneratedSql, Kind};

pub mod dataset;

/// The registry: every kind that is mirrored.
pub const KINDS: &[Kind] = &[Kind::of::<dataset::Dataset>()];

/// The migrations, which `schema generate` writes and the program carries along.
pub const SQL: GeneratedSql = ingester_core::generated_sql!("generated-sql");
