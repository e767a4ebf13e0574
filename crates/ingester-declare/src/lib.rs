//! The texts that people write in files: streams of YAML and JSON ([`documents`]), one reader for files that people write by hand
//! ([`text`]), the kinds that a file [declares](declare) with their [rules](evict), and saved queries with a name ([`saved`]). This crate
//! opens no files.

pub mod declare;
pub mod documents;
pub mod evict;
#[cfg(test)]
#[path = "../../../ingester-core/src/fixture.rs"]
mod fixture;
pub mod kept;
pub mod saved;
pub mod text;
pub mod yaml;
