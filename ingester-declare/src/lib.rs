//! What people write in files, without opening them: streams of YAML and JSON [`documents`], one reader of what people write by hand
//! ([`text`]), the kinds that a file [declares](declare) with their [rules](evict), and queries that have a name ([`saved`]).

pub mod declare;
pub mod documents;
pub mod evict;
#[cfg(test)]
#[path = "../../ingester-core/src/fixture.rs"]
mod fixture;
pub mod kept;
pub mod saved;
pub mod text;
pub mod yaml;
