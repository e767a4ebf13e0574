//! Migrations on every database: applied, interrupted, edited, run by sqlx's own migrator; drift; and backfills while
//! others write.

#![allow(clippy::unwrap_used, reason = "a helper of tests that meets an error is to fail there")]
#![allow(unreachable_pub, reason = "structs are written as a user writes them")]

mod apply;
mod backfill;
mod cost;
mod declared;
mod definitions;
mod drift;
mod foreign;
mod galera;
mod keys;
mod kinds;
mod million;
mod views;
