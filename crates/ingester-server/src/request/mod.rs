//! Parses a request: its path, its parameters, the media types that it accepts. Text in, values out.
//!
//! | file | what it reads |
//! |---|---|
//! | `path.rs` | the path |
//! | `query.rs` | the query string, split into parameters |
//! | `parameters.rs` | the parameters, also those in label selectors |
//! | `steps.rs` | moments at equal distances |
//! | `watching.rs` | the parameters of a watch, and `resourceVersion` |
//! | `accept.rs` | the media types |
//! | `names.rs` | which names objects and namespaces can have |
//!
//! May use: ingester-core, ingester-sql, status.
//! Must not: do I/O.

pub mod accept;
pub mod names;
pub mod parameters;
pub mod path;
pub mod query;
pub mod steps;
pub mod watching;
