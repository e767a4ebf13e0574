//! Values of enums of a protobuf API as its JSON writes them.
//! May use: nothing.

use serde::de::{Error, Unexpected};

/// A value of an enum as it was read.
pub enum EnumName {
    /// The index in the table of names.
    Known(usize),
    /// A name or number that the table does not have.
    Unknown(Box<str>),
}

/// Reads a name, or a number, and looks it up in `names`.
///
/// # Errors
/// When the value is neither text nor an integer.
pub fn read_enum<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
    names: &'static [(&'static str, i32)],
) -> Result<EnumName, D::Error> {
    struct Visitor(&'static [(&'static str, i32)]);

    impl Visitor {
        fn number(&self, number: i64) -> EnumName {
            match self.0.iter().position(|(_, known)| i64::from(*known) == number) {
                Some(place) => EnumName::Known(place),
                None => EnumName::Unknown(number.to_string().into()),
            }
        }
    }

    impl serde::de::Visitor<'_> for Visitor {
        type Value = EnumName;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("the name or number of an enum value")?;
            match self.0.get(1).or(self.0.first()) {
                Some((name, number)) => write!(f, " (such as \"{name}\" or {number})"),
                None => Ok(()),
            }
        }

        fn visit_str<E: Error>(self, name: &str) -> Result<EnumName, E> {
            Ok(match self.0.iter().position(|(known, _)| *known == name) {
                Some(place) => EnumName::Known(place),
                None => EnumName::Unknown(name.into()),
            })
        }

        fn visit_i64<E: Error>(self, number: i64) -> Result<EnumName, E> {
            Ok(self.number(number))
        }

        fn visit_u64<E: Error>(self, number: u64) -> Result<EnumName, E> {
            match i64::try_from(number) {
                Ok(number) => Ok(self.number(number)),
                Err(_) => Err(E::invalid_value(Unexpected::Unsigned(number), &self)),
            }
        }

        // serde_json hands an integer that was written as 2 to visit_u64, but a `Value` may hold 2.0.
        fn visit_f64<E: Error>(self, number: f64) -> Result<EnumName, E> {
            Err(E::invalid_type(Unexpected::Float(number), &self))
        }
    }

    deserializer.deserialize_any(Visitor(names))
}
