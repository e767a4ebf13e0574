//! JSON that is kept as text and not decoded.
//! May use: ingester-json, schema.

use ingester_json::json::{Reader, TokenKind};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// One JSON value as its own text: digits, order of keys and unknown fields stay as they came.
///
/// For what belongs to others: pod templates, `google.protobuf.Struct` and `Any`, nested object metadata. Reading one
/// with [`ingester_json::json::from_str`] copies the text; with another deserializer the value goes through
/// [`serde_json::Value`].
#[derive(Clone, PartialEq, Eq)]
pub struct Opaque(Box<str>);

impl Opaque {
    /// The JSON text.
    pub fn get(&self) -> &str {
        &self.0
    }

    /// The value as kubectl prints it: a string without quotes, a number or a truth as it is written, a list or an object without blanks
    /// between its parts.
    pub fn text(&self) -> Cow<'_, str> {
        Reader::new(&self.0).printed().unwrap_or_else(|_| self.get().into())
    }

    /// The number of the elements of a list, or of the values of an object, without nulls; `None` for other values.
    pub fn count(&self) -> Option<usize> {
        let mut reader = Reader::new(&self.0);
        match reader.peek().ok()? {
            TokenKind::Array => reader.decode::<Vec<IgnoredAny>>().ok().map(|list| list.len()),
            TokenKind::Object => {
                let members = reader.decode::<BTreeMap<String, Option<IgnoredAny>>>().ok()?;
                Some(members.values().flatten().count())
            }
            TokenKind::String | TokenKind::Number | TokenKind::Bool | TokenKind::Null => None,
        }
    }
}

impl Default for Opaque {
    fn default() -> Self {
        Opaque("{}".into())
    }
}

impl std::fmt::Debug for Opaque {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Opaque {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Opaque;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("any JSON value")
            }
            // Only our own reader answers the token with the text; other deserializers pass the value through.
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Opaque, E> {
                Ok(Opaque(text.into()))
            }
            fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Opaque, D::Error> {
                let value = serde_json::Value::deserialize(deserializer)?;
                Ok(Opaque(value.to_string().into()))
            }
        }
        deserializer.deserialize_newtype_struct(ingester_json::json::RAW_TOKEN, Visitor)
    }
}

impl Serialize for Opaque {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &serde_json::value::RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl schemars::JsonSchema for Opaque {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Opaque".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        crate::schema::open_object(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::Opaque;

    #[test]
    fn our_reader_keeps_the_text_to_the_byte() {
        let text = r#"{ "z": 1.000000000000000000001, "a":[ 12345678901234567890123 ] }"#;
        let kept: Opaque = ingester_json::json::from_str(text).unwrap();
        assert_eq!(kept.get(), text);
        assert_eq!(serde_json::to_string(&kept).unwrap(), text);
    }

    #[test]
    fn another_deserializer_keeps_the_value() {
        let kept: Opaque = serde_json::from_str(r#"{"a": [1, null]}"#).unwrap();
        assert_eq!(kept.get(), r#"{"a":[1,null]}"#);
    }

    #[test]
    fn values_have_a_text_and_lists_and_objects_a_count() {
        let shown = |json: &str| {
            let kept: Opaque = ingester_json::json::from_str(json).unwrap();
            (kept.text().into_owned(), kept.count())
        };
        assert_eq!(shown(r#""a \"b\"""#), (r#"a "b""#.to_owned(), None));
        assert_eq!(shown("1.50"), ("1.50".to_owned(), None));
        assert_eq!(shown("true"), ("true".to_owned(), None));
        assert_eq!(shown(r#"[ 1, null, "a b" ]"#), (r#"[1,null,"a b"]"#.to_owned(), Some(2)));
        assert_eq!(
            shown(r#"{ "a": { "b": " \\" }, "c": null }"#),
            (r#"{"a":{"b":" \\"},"c":null}"#.to_owned(), Some(1))
        );
        assert_eq!(shown("[]"), ("[]".to_owned(), Some(0)));
    }
}
