//! JSON whose numbers keep their spelling. The difference between two texts then compares spellings, and no number is parsed into a 64-bit
//! float, which holds neither large integers nor all decimals.

use ingester_core::json::{Error, Reader, TokenKind};
use json_patch::{Patch, PatchOperation};
use serde::ser::{Error as _, Serialize, SerializeMap as _, SerializeSeq as _, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The first character of a string in a [`spelled`] value. The text of a number follows `NUMBER`, and a string follows `TEXT`.
const NUMBER: &str = "n";
const TEXT: &str = "s";

/// Returns the value of a text, in which strings stand for numbers and strings, so that values can be compared and made into patches.
///
/// # Errors
/// If the text is not JSON, or is nested too deeply.
pub(super) fn spelled(text: &str) -> Result<Value, Error> {
    let mut reader = Reader::new(text);
    let value = value(&mut reader)?;
    reader.finish()?;
    Ok(value)
}

fn value(reader: &mut Reader<'_>) -> Result<Value, Error> {
    Ok(match reader.peek()? {
        TokenKind::Object => {
            let mut members = Map::new();
            reader.begin_object()?;
            while let Some(key) = reader.next_key()? {
                members.insert(key.into_owned(), value(reader)?);
            }
            Value::Object(members)
        }
        TokenKind::Array => {
            let mut elements = Vec::new();
            reader.begin_array()?;
            while reader.next_element()? {
                elements.push(value(reader)?);
            }
            Value::Array(elements)
        }
        TokenKind::String => Value::String(format!("{TEXT}{}", reader.string()?)),
        TokenKind::Number => Value::String(format!("{NUMBER}{}", reader.number()?)),
        TokenKind::Bool => Value::Bool(reader.bool()?),
        TokenKind::Null => {
            reader.null()?;
            Value::Null
        }
    })
}

/// A JSON patch (RFC 6902) between two objects. Its numbers keep the objects' spelling.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectPatch(pub(super) Patch);

impl Serialize for ObjectPatch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.0.iter().map(Step))
    }
}

/// A step of a patch.
struct Step<'a>(&'a PatchOperation);

impl Serialize for Step<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (name, value) = match self.0 {
            PatchOperation::Add(step) => ("add", Some(&step.value)),
            PatchOperation::Replace(step) => ("replace", Some(&step.value)),
            PatchOperation::Test(step) => ("test", Some(&step.value)),
            PatchOperation::Remove(_) => ("remove", None),
            // A difference never has these steps.
            PatchOperation::Move(_) | PatchOperation::Copy(_) => return self.0.serialize(serializer),
        };
        let mut members = serializer.serialize_map(None)?;
        members.serialize_entry("op", name)?;
        members.serialize_entry("path", self.0.path().as_str())?;
        if let Some(value) = value {
            members.serialize_entry("value", &SpelledValue(value))?;
        }
        members.end()
    }
}

/// A [`spelled`] value, written as it was read.
struct SpelledValue<'a>(&'a Value);

impl Serialize for SpelledValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::String(text) => match (text.strip_prefix(NUMBER), text.strip_prefix(TEXT)) {
                (Some(number), _) => {
                    RawValue::from_string(number.to_owned()).map_err(S::Error::custom)?.serialize(serializer)
                }
                (None, Some(text)) => serializer.serialize_str(text),
                (None, None) => Err(S::Error::custom("a value that was not read as text")),
            },
            Value::Array(elements) => {
                let mut list = serializer.serialize_seq(Some(elements.len()))?;
                for element in elements {
                    list.serialize_element(&SpelledValue(element))?;
                }
                list.end()
            }
            Value::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (key, value) in members {
                    map.serialize_entry(key, &SpelledValue(value))?;
                }
                map.end()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => self.0.serialize(serializer),
        }
    }
}
