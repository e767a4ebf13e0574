//! A value of list options in JSON, and its conversions.

use ingester_core::nearest::nearest;
use ingester_core::place::shortened;
use serde_json::Value as Json;

/// Why a text is not valid list options, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("list options: {path}{}{what}", if path.is_empty() { "" } else { ": " })]
pub struct ListOptionsError {
    pub(super) path: String,
    pub(super) what: String,
}

/// A value of the JSON, and where it is.
#[derive(Clone, Debug)]
pub(super) struct Element<'j> {
    pub(super) json: &'j Json,
    pub(super) path: String,
}

/// The elements of a list that may be absent.
pub(super) fn items(list: Option<Element<'_>>) -> Result<Vec<Element<'_>>, ListOptionsError> {
    let Some(list) = list else { return Ok(Vec::new()) };
    let Json::Array(elements) = list.json else { return Err(list.expected("a list")) };
    let element = |(i, json)| Element { json, path: format!("{}[{i}]", list.path) };
    Ok(elements.iter().enumerate().map(element).collect())
}

impl<'j> Element<'j> {
    pub(super) fn fault(&self, what: impl Into<String>) -> ListOptionsError {
        ListOptionsError { path: self.path.clone(), what: what.into() }
    }

    pub(super) fn expected(&self, what: &str) -> ListOptionsError {
        let found = match self.json {
            Json::Null => "nothing",
            Json::Bool(_) => "a boolean",
            Json::Number(_) => "a number",
            Json::String(_) => "a text",
            Json::Array(_) => "a list",
            Json::Object(_) => "an object",
        };
        self.fault(format!("expected {what}, found {found}"))
    }

    /// The fields of a message with these names, which are in snake case here. Null counts as absent.
    pub(super) fn message<const N: usize>(
        &self,
        names: [&str; N],
    ) -> Result<[Option<Element<'j>>; N], ListOptionsError> {
        let mut fields = [const { None }; N];
        let entries = match self.json {
            Json::Object(entries) => entries,
            Json::Null => return Ok(fields),
            _ => return Err(self.expected("an object")),
        };
        for (key, json) in entries {
            let Some(i) = names.iter().position(|name| key == name || *key == camel(name)) else {
                let hint = match nearest(key, &names) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("known: {}", names.join(", ")),
                };
                return Err(self.fault(format!("unknown field `{}`; {hint}", shortened(key))));
            };
            if json.is_null() {
                continue;
            }
            let path = if self.path.is_empty() { key.clone() } else { format!("{}.{key}", self.path) };
            if fields[i].replace(Element { json, path }).is_some() {
                return Err(self.fault(format!("the field `{}` is there twice", names[i])));
            }
        }
        Ok(fields)
    }

    pub(super) fn read_text(&self) -> Result<&'j str, ListOptionsError> {
        self.json.as_str().ok_or_else(|| self.expected("a text"))
    }

    /// A number of rows. Protobuf takes numbers in quotes as well.
    pub(super) fn count(&self) -> Result<u64, ListOptionsError> {
        let number = match self.json {
            Json::String(text) => text.parse().ok(),
            json => json.as_i64(),
        };
        let number = number.and_then(|number| i32::try_from(number).ok()).and_then(|number| u64::try_from(number).ok());
        number.ok_or_else(|| self.fault(format!("expected a whole number from 0 to {}", i32::MAX)))
    }

    /// The number of an enum's value.
    pub(super) fn choice(&self, names: &[&str]) -> Result<usize, ListOptionsError> {
        let number = match self.json {
            Json::String(name) => names.iter().position(|known| known == name),
            json => {
                json.as_u64().and_then(|number| usize::try_from(number).ok()).filter(|number| *number < names.len())
            }
        };
        number.ok_or_else(|| self.fault(format!("expected {} or its number", names.join(", "))))
    }
}

/// The JSON name that protobuf gives a field.
pub(super) fn camel(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    let mut capital = false;
    for character in name.chars() {
        match character {
            '_' => capital = true,
            _ if std::mem::take(&mut capital) => camel.push(character.to_ascii_uppercase()),
            _ => camel.push(character),
        }
    }
    camel
}
