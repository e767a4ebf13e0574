//! The configuration of an ingester: a YAML file, overridden by the environment.
//!
//! [`Config::load`] reads the file, and reports all of its mistakes at once. [`Live`] takes up changes of the file while the program runs.
//! `docs/configuration.md` lists every key.

#[cfg_attr(test, allow(clippy::too_many_lines, reason = "a test names every key"))]
mod config;
mod selection;

pub use config::*;
pub use selection::{Selection, Selector};
