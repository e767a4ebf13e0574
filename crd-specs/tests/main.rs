//! The kinds: their tables and columns, their CRDs, how they decode objects, and the files generated from them.
#![allow(clippy::unwrap_used, reason = "in a test a panic is how it fails")]

mod api;
mod current;
mod declared;
mod generator;
mod golden;
mod objects;
mod paths;
mod places;
mod proto;
mod python;
mod registry;
mod scaffolded;
mod schema;
mod tolerance;
mod transcode;
