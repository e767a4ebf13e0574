//! How SQLite stores a type.

use ingester_core::schema::SqlType;

/// The storage class of a type, which is the declared type of a column in a STRICT table. A change between types of the same class
/// changes nothing.
pub(crate) fn storage_class(ty: SqlType) -> &'static str {
    match ty {
        SqlType::Boolean | SqlType::Int | SqlType::BigInt | SqlType::IntUnsigned | SqlType::BigIntUnsigned => "INTEGER",
        SqlType::Double => "REAL",
        SqlType::VarChar(_) | SqlType::Text | SqlType::MediumText | SqlType::DateTime | SqlType::Json => "TEXT",
        SqlType::LongBlob => "BLOB",
    }
}
