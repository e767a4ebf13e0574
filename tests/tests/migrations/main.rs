//! Migrations on every database: run, interrupted, disturbed, run by sqlx's own tool; drift; and columns that are filled
//! while others write.

#![allow(clippy::unwrap_used, reason = "a helper of tests that meets an error is to fail there")]
#![allow(unreachable_pub, reason = "structs are written as a user writes them")]

mod apply;
mod backfill;
mod drift;
mod kinds;
mod million;
