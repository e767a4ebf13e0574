//! A JSON value as Go's client represents an untyped object: integers of 64 bits, everything else a float, keys in the order of
//! their bytes. Unlike there, larger integers keep their digits in JSON and YAML, so that what is printed can be imported.
//!
//! May use: number.

use crate::number;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number without point and exponent that fits.
    Int(i64),
    /// A larger one that has 64 bits without a sign. In JSON and YAML it keeps its digits, elsewhere it is a float.
    UInt(u64),
    /// A still larger or lower number, as its digits; elsewhere it is a float. No deserializer of serde has such a number, so none is read
    /// here.
    Whole(String),
    /// Every other number.
    Float(f64),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Tree>),
    /// An object.
    Map(BTreeMap<String, Tree>),
}

impl Tree {
    /// A string.
    pub(crate) fn from_text(text: impl Into<String>) -> Self {
        Tree::Text(text.into())
    }

    /// A map of these entries.
    fn map<const N: usize>(entries: [(&str, Tree); N]) -> Self {
        Tree::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// The value as Go's `fmt.Sprint` writes it.
    pub(crate) fn sprint(&self) -> String {
        match self {
            Tree::Null => "<nil>".to_owned(),
            Tree::Bool(value) => value.to_string(),
            Tree::Int(value) => value.to_string(),
            Tree::UInt(value) => number::general(*value as f64),
            Tree::Whole(digits) => number::general(number::of_digits(digits)),
            Tree::Float(value) => number::general(*value),
            Tree::Text(text) => text.clone(),
            Tree::List(values) => format!("[{}]", values.iter().map(Tree::sprint).collect::<Vec<_>>().join(" ")),
            Tree::Map(entries) => {
                let entries: Vec<String> =
                    entries.iter().map(|(key, value)| format!("{key}:{}", value.sprint())).collect();
                format!("map[{}]", entries.join(" "))
            }
        }
    }

    /// The `List` of these objects, as kubectl creates it.
    pub fn list_of(items: Vec<Tree>) -> Self {
        Tree::map([
            ("apiVersion", Tree::from_text("v1")),
            ("items", Tree::List(items)),
            ("kind", Tree::from_text("List")),
            ("metadata", Tree::map([("resourceVersion", Tree::from_text(""))])),
        ])
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Builder)
    }
}

struct Builder;

impl<'de> Visitor<'de> for Builder {
    type Value = Tree;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(i64::try_from(value).map_or(Tree::UInt(value), Tree::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::from_text(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Tree, E> {
        Ok(Tree::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = values.next_element()? {
            list.push(value);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Tree, A::Error> {
        let mut map = BTreeMap::new();
        while let Some((key, value)) = entries.next_entry::<String, Tree>()? {
            map.insert(key, value);
        }
        Ok(Tree::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::Tree;

    #[test]
    fn an_integer_keeps_its_digits() {
        for digits in ["9223372036854775807", "9223372036854775808", "18446744073709551615", "-9223372036854775808"] {
            let tree: Tree = serde_json::from_str(digits).unwrap();
            assert_eq!(crate::json::compact(&tree), digits);
            assert_eq!(crate::yaml::document(&tree).trim_end(), digits);
        }
        for digits in ["18446744073709551616", "-9223372036854775809", "123456789012345678901234567890"] {
            let tree = Tree::Whole(digits.to_owned());
            assert_eq!(crate::json::compact(&tree), digits);
            assert_eq!(crate::yaml::document(&tree).trim_end(), digits);
        }
        assert_eq!(Tree::Whole("18446744073709551616".to_owned()).sprint(), "1.8446744073709552e+19");
        let tree: Tree = serde_json::from_str("18446744073709551615").unwrap();
        assert_eq!(tree.sprint(), "1.8446744073709552e+19", "as a table has it");
    }
}
