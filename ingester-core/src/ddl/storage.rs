//! How SQLite stores a type.

use crate::schema::SqlType;

/// The storage class of a type: what a column is declared as in a STRICT table. A change between types of one class changes
/// nothing there.
pub fn storage_class(ty: SqlType) -> &'static str {
    match ty {
        SqlType::Boolean | SqlType::Int | SqlType::BigInt | SqlType::BigIntUnsigned => "INTEGER",
        SqlType::Double => "REAL",
        SqlType::VarChar(_) | SqlType::Text | SqlType::MediumText | SqlType::DateTime | SqlType::Json => "TEXT",
        SqlType::LongBlob => "BLOB",
    }
}
