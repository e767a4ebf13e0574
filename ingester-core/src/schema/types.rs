//! The SQL types of columns, independent of a database's spelling.

use super::limits::CHARACTER_BYTES;
use super::text::{Text, same};

/// The type of a column. Each dialect spells it in its own way; the names are MySQL's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SqlType {
    /// `BOOLEAN`, stored as 0 or 1.
    Boolean,
    /// `INT`: 32 bits, signed.
    Int,
    /// `BIGINT`: 64 bits, signed.
    BigInt,
    /// `INT UNSIGNED`: 32 bits, 0 in rows whose writer does not know the column. Base columns only.
    IntUnsigned,
    /// `BIGINT UNSIGNED`: 64 bits; SQLite holds the lower 63.
    BigIntUnsigned,
    /// `DOUBLE`: 64-bit floating point.
    Double,
    /// `VARCHAR(n)`: up to n characters (not bytes), compared by byte.
    VarChar(u16),
    /// `TEXT`: up to 65,535 bytes; without a key.
    Text,
    /// `MEDIUMTEXT`: up to 16 MiB; without a key.
    MediumText,
    /// `DATETIME(6)`: a moment in UTC with microseconds.
    DateTime,
    /// `LONGBLOB`: bytes.
    LongBlob,
    /// `JSON`.
    Json,
}

/// The kinds of values that types hold. `#[index(type = "...")]` may only choose another type for the same kind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueKind {
    Truth,
    Integer,
    Count,
    Float,
    Text,
    Time,
    Bytes,
    Json,
}

impl SqlType {
    /// The type that `#[index(type = "...")]` names, in MySQL's spelling, upper or lower case.
    ///
    /// # Panics
    /// If it is not a type that a column may have; in a constant that is a compile error.
    #[track_caller]
    pub(super) const fn parse(name: &str) -> Self {
        match Self::try_parse(name) {
            Some(ty) => ty,
            None => Text::new("`")
                .str(name)
                .str("` is not a column type: use VARCHAR(n), TEXT, MEDIUMTEXT, BOOLEAN, INT, BIGINT, BIGINT UNSIGNED, DOUBLE or DATETIME(6)")
                .fail(),
        }
    }

    /// The type of this name; `None` if there is none.
    pub const fn try_parse(name: &str) -> Option<Self> {
        let bytes = name.as_bytes();
        // A copy in upper case, long enough for every name of a type.
        let mut upper = [0u8; 24];
        if bytes.len() > upper.len() {
            return None;
        }
        let mut i = 0;
        while i < bytes.len() {
            upper[i] = bytes[i].to_ascii_uppercase();
            i += 1;
        }
        let upper = match std::str::from_utf8(upper.split_at(bytes.len()).0) {
            Ok(upper) => upper,
            Err(_) => return None,
        };
        const FIXED: &[(&str, SqlType)] = &[
            ("BOOLEAN", SqlType::Boolean),
            ("INT", SqlType::Int),
            ("BIGINT", SqlType::BigInt),
            ("BIGINT UNSIGNED", SqlType::BigIntUnsigned),
            ("INT UNSIGNED", SqlType::IntUnsigned),
            ("DOUBLE", SqlType::Double),
            ("TEXT", SqlType::Text),
            ("MEDIUMTEXT", SqlType::MediumText),
            ("DATETIME(6)", SqlType::DateTime),
            ("LONGBLOB", SqlType::LongBlob),
            ("JSON", SqlType::Json),
        ];
        let mut i = 0;
        while i < FIXED.len() {
            if same(FIXED[i].0, upper) {
                return Some(FIXED[i].1);
            }
            i += 1;
        }
        Self::try_parse_varchar(upper.as_bytes())
    }

    const fn try_parse_varchar(upper: &[u8]) -> Option<Self> {
        let head = b"VARCHAR(";
        if upper.len() < head.len() + 2 || upper[upper.len() - 1] != b')' {
            return None;
        }
        let mut i = 0;
        while i < head.len() {
            if upper[i] != head[i] {
                return None;
            }
            i += 1;
        }
        let mut length: u32 = 0;
        while i < upper.len() - 1 {
            if !upper[i].is_ascii_digit() {
                return None;
            }
            length = length * 10 + (upper[i] - b'0') as u32;
            if length > 16_383 {
                return None;
            }
            i += 1;
        }
        if length == 0 { None } else { Some(SqlType::VarChar(length as u16)) }
    }

    /// The most bytes that a value takes in a row by MySQL's rules, without the contents of TEXT, BLOB and JSON.
    pub(super) const fn row_bytes(self) -> u32 {
        match self {
            SqlType::Boolean => 1,
            SqlType::Int | SqlType::IntUnsigned => 4,
            SqlType::BigInt | SqlType::BigIntUnsigned | SqlType::Double | SqlType::DateTime => 8,
            SqlType::VarChar(n) => {
                let bytes = n as u32 * CHARACTER_BYTES;
                bytes + if bytes > 255 { 2 } else { 1 }
            }
            SqlType::Text => 10,
            SqlType::MediumText => 11,
            SqlType::LongBlob | SqlType::Json => 12,
        }
    }

    /// The bytes that a value takes in a key; `None` for types that cannot be in a key as a whole.
    pub const fn key_bytes(self) -> Option<u32> {
        match self {
            SqlType::VarChar(n) => Some(n as u32 * CHARACTER_BYTES),
            SqlType::Text | SqlType::MediumText | SqlType::LongBlob | SqlType::Json => None,
            SqlType::Boolean
            | SqlType::Int
            | SqlType::BigInt
            | SqlType::IntUnsigned
            | SqlType::BigIntUnsigned
            | SqlType::Double
            | SqlType::DateTime => Some(self.row_bytes()),
        }
    }

    const fn value_kind(self) -> ValueKind {
        match self {
            SqlType::Boolean => ValueKind::Truth,
            SqlType::Int | SqlType::BigInt | SqlType::BigIntUnsigned => ValueKind::Integer,
            SqlType::IntUnsigned => ValueKind::Count,
            SqlType::Double => ValueKind::Float,
            SqlType::VarChar(_) | SqlType::Text | SqlType::MediumText => ValueKind::Text,
            SqlType::DateTime => ValueKind::Time,
            SqlType::LongBlob => ValueKind::Bytes,
            SqlType::Json => ValueKind::Json,
        }
    }

    /// Returns true if `other` holds the same kind of values, so that `#[index(type = ...)]` may choose it.
    pub const fn may_become(self, other: SqlType) -> bool {
        self.value_kind() as u8 == other.value_kind() as u8
    }

    /// True if a column of this type has the default 0.
    pub const fn zero_by_default(self) -> bool {
        matches!(self, SqlType::IntUnsigned)
    }

    /// True if values are texts as objects have them; JSON is not.
    pub const fn is_text(self) -> bool {
        matches!(self.value_kind(), ValueKind::Text)
    }

    /// True if a column of many values may have values of this type, provided that their length is bounded.
    pub(crate) const fn may_be_many(self) -> bool {
        match self.value_kind() {
            ValueKind::Integer
            | ValueKind::Count
            | ValueKind::Text
            | ValueKind::Time
            | ValueKind::Bytes
            | ValueKind::Json => true,
            ValueKind::Truth | ValueKind::Float => false,
        }
    }

    /// True if values are numbers.
    pub const fn holds_numbers(self) -> bool {
        match self.value_kind() {
            ValueKind::Integer | ValueKind::Count | ValueKind::Float => true,
            ValueKind::Truth | ValueKind::Text | ValueKind::Time | ValueKind::Bytes | ValueKind::Json => false,
        }
    }

    /// The length that is a part of the type's name; `None` for types without one.
    pub(super) const fn length(self) -> Option<u16> {
        match self {
            SqlType::VarChar(n) => Some(n),
            SqlType::Boolean
            | SqlType::Int
            | SqlType::BigInt
            | SqlType::IntUnsigned
            | SqlType::BigIntUnsigned
            | SqlType::Double
            | SqlType::Text
            | SqlType::MediumText
            | SqlType::DateTime
            | SqlType::LongBlob
            | SqlType::Json => None,
        }
    }

    /// The name in MySQL's spelling without the length of a VARCHAR.
    pub(super) const fn word(self) -> &'static str {
        match self {
            SqlType::Boolean => "BOOLEAN",
            SqlType::Int => "INT",
            SqlType::BigInt => "BIGINT",
            SqlType::IntUnsigned => "INT UNSIGNED",
            SqlType::BigIntUnsigned => "BIGINT UNSIGNED",
            SqlType::Double => "DOUBLE",
            SqlType::VarChar(_) => "VARCHAR",
            SqlType::Text => "TEXT",
            SqlType::MediumText => "MEDIUMTEXT",
            SqlType::DateTime => "DATETIME(6)",
            SqlType::LongBlob => "LONGBLOB",
            SqlType::Json => "JSON",
        }
    }

    /// The name in MySQL's spelling, which the lock file and messages use too.
    pub fn name(self) -> std::borrow::Cow<'static, str> {
        match self.length() {
            Some(n) => format!("{}({n})", self.word()).into(),
            None => self.word().into(),
        }
    }
}

impl std::fmt::Display for SqlType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}

impl serde::Serialize for SqlType {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

impl<'de> serde::Deserialize<'de> for SqlType {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        SqlType::try_parse(&name).ok_or_else(|| serde::de::Error::custom(format!("`{name}` is not a column type")))
    }
}

#[cfg(test)]
mod tests {
    use super::SqlType;

    #[test]
    fn every_type_is_read_back_from_its_name() {
        for ty in [
            SqlType::Boolean,
            SqlType::Int,
            SqlType::BigInt,
            SqlType::IntUnsigned,
            SqlType::BigIntUnsigned,
            SqlType::Double,
            SqlType::VarChar(1),
            SqlType::VarChar(16_383),
            SqlType::Text,
            SqlType::MediumText,
            SqlType::DateTime,
            SqlType::LongBlob,
            SqlType::Json,
        ] {
            assert_eq!(SqlType::try_parse(&ty.name()), Some(ty));
            assert_eq!(SqlType::try_parse(&ty.name().to_lowercase()), Some(ty));
        }
    }

    #[test]
    fn an_unknown_type_is_refused() {
        for name in [
            "",
            "VARCHAR",
            "VARCHAR()",
            "VARCHAR(0)",
            "VARCHAR(16384)",
            "VARCHAR(1",
            "VARCHAR(x)",
            "ENUM('a')",
            "INT; DROP TABLE model",
        ] {
            assert_eq!(SqlType::try_parse(name), None, "{name}");
        }
    }
}
