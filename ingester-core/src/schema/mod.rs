//! What a kind looks like in SQL: tables, columns and keys as constant data.
//!
//! Everything here is `const`: a table that a database would refuse is a compile error of the crate that
//! declares it, never a surprise at run time. The limits and where they come from stand in [`limits`].
//!
//! May use: nothing.
//! Must not: do I/O, know SQL text (that is `dialect`).

mod check;
mod field;
mod ident;
pub mod limits;
mod table;
mod text;
mod types;

pub use check::{
    check_apart, check_base, check_base_of_status, check_column_count, check_composite_key, check_key,
    check_key_column, check_key_count, check_name, check_row_size, check_table_name, check_type, check_was,
};
pub use field::{Field, Part, PartKey, Shape, Suffix};
pub use ident::Ident;
pub use table::{ANNOTATION_COLUMNS, BASE_COLUMNS, Column, Companion, Key, LABEL_COLUMNS, Table, TableParts, base};
pub use text::Text;
pub use types::SqlType;
