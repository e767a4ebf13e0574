//! A kind's tables, columns and keys, as constant data.
//!
//! Everything here is `const`: a table that a database would refuse is a compile error of the crate that declares it, never a
//! failure at run time. `limits.rs` has the limits with their sources.
//!
//! May use: nothing.
//! Must not: do I/O, know SQL text (that is `dialect`).

mod absent;
pub mod check;
mod constructors;
mod evict;
mod fault;
mod field;
mod fingerprint;
mod form;
mod history;
mod ident;
pub mod limits;
mod path;
mod printed;
mod prune;
mod stays;
mod table;
mod term;
mod text;
mod types;

pub use absent::{Absent, Unit};
pub use evict::{
    EvictionRule, check_evict, check_evict_by, check_evict_count, check_evict_fields, check_evict_namespace,
    check_evict_namespaces, check_evict_since, check_evictable,
};
pub use fault::{Fault, Named, refuse};
pub use field::{Field, Part, PartKey, Shape, ValueType};
pub use fingerprint::Fingerprint;
pub use form::Form;
pub use history::{PRIMARY_OF_HISTORY, VALID_FROM, check_history};
pub use ident::{Ident, IdentError};
pub use path::{Path, WrittenName};
pub use printed::Printed;
pub use prune::{PruneTree, check_prune, check_prune_path};
pub use stays::Stays;
pub use table::{BASE_COLUMNS, Column, Companion, Key, Many, Table, TableParts, base};
pub use table::{BASE_KEYS, HISTORY, History, NARROW_KEY, composite_name};
pub use term::{FieldOperator, FieldTerm};
pub(crate) use text::{Text, is_identifier_byte, same};
pub use types::SqlType;
