//! What the kinds promise: their tables and columns, their CRDs, what they read, and the files generated from them.
#![allow(clippy::unwrap_used, reason = "in a test a panic is how it fails")]

mod api;
mod current;
mod generator;
mod golden;
mod manifest;
mod objects;
mod places;
mod proto;
mod python;
mod schema;
mod tolerance;
mod transcode;
