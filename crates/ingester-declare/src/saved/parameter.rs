//! Parameters, their types, and values for them.

use crate::text::Content;
use ingester_core::nearest::nearest;
use ingester_core::place::shortened;
use ingester_core::value::{Micros, Value};
use ingester_sql::query::{KeyError, TIMES, parse_time};
use std::fmt;

/// The longest name of a parameter or a query, as for a DNS label.
pub(super) const LONGEST: usize = 63;

/// A parameter of a saved query: a value that changes from one use to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    pub(super) name: String,
    pub(super) ty: ParameterType,
    pub(super) default: Option<ParameterValue>,
    pub(super) description: String,
}

/// The values that a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterType {
    /// A text.
    String,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A time, as [`parse_time`] reads it: `2026-01-31T10:00:00Z`, `7d ago`, `in 30d`.
    Time,
    /// Texts, for `in`, `notIn`, `namespaces` and `uids`.
    List,
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ParameterValue {
    One(Value),
    Several(Vec<Value>),
}

/// Why a saved query cannot be asked with these values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// Parameters without a default were not given.
    #[error("the query needs {}", needed(.0))]
    Missing(Vec<(String, ParameterType)>),
    /// The query does not have this parameter.
    #[error("the query has no parameter `{name}`{hint}")]
    Unknown {
        /// The name.
        name: String,
        /// A suggestion for an unknown parameter.
        hint: String,
    },
    /// Only a list can be given several times.
    #[error("the parameter `{0}` is given twice, but is not a list")]
    Twice(String),
    /// A value is not of the parameter's type.
    #[error("the parameter `{name}`: `{value}` is not {ty}")]
    WrongType {
        /// The parameter.
        name: String,
        /// The value.
        value: String,
        /// The type that it should be of.
        ty: ParameterType,
    },
    /// A value is of the parameter's type, but does not fit the place where it is used.
    #[error("{path}: {what}")]
    Unfit {
        /// The place in the definition.
        path: String,
        /// The reason.
        what: String,
    },
    /// No object can pass both the query and what else is asked.
    #[error(transparent)]
    Apart(#[from] KeyError),
}

fn needed(parameters: &[(String, ParameterType)]) -> String {
    let one = |(name, ty): &(String, ParameterType)| format!("the parameter `{name}`, {ty}");
    parameters.iter().map(one).collect::<Vec<_>>().join(", and ")
}

impl Parameter {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its type.
    pub fn parameter_type(&self) -> ParameterType {
        self.ty
    }

    /// Its purpose, for people; empty if the file does not say.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Some value of its type, to check with. As a text it is what errors show.
    pub(super) fn sample(&self) -> ParameterValue {
        let text = || Value::text(format!("${{{}}}", self.name));
        ParameterValue::One(match self.ty {
            ParameterType::String => text(),
            ParameterType::Integer => Value::Int(1),
            ParameterType::Number => Value::Double(0.5),
            ParameterType::Boolean => Value::Bool(true),
            ParameterType::Time => Value::text("2026-01-31T10:00:00Z"),
            ParameterType::List => return ParameterValue::Several(vec![text()]),
        })
    }

    /// The value that it has if none is given, as people write it; `None` if one must be given.
    pub fn default_text(&self) -> Option<String> {
        self.default.as_ref().map(|default| match default {
            ParameterValue::One(value) => value.to_string(),
            ParameterValue::Several(values) => values.iter().map(escaped).collect::<Vec<_>>().join(","),
        })
    }
}

impl ParameterType {
    const ALL: [ParameterType; 6] = [
        ParameterType::String,
        ParameterType::Integer,
        ParameterType::Number,
        ParameterType::Boolean,
        ParameterType::Time,
        ParameterType::List,
    ];

    /// The names of all types.
    pub(super) const NAMES: [&str; 6] = ["string", "integer", "number", "boolean", "time", "list"];

    /// The type's name in a file.
    pub fn name(self) -> &'static str {
        match self {
            ParameterType::String => "string",
            ParameterType::Integer => "integer",
            ParameterType::Number => "number",
            ParameterType::Boolean => "boolean",
            ParameterType::Time => "time",
            ParameterType::List => "list",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ty| ty.name() == name)
    }

    /// The value that a text stands for.
    fn of_text(self, text: &str) -> Option<ParameterValue> {
        Some(ParameterValue::One(match self {
            ParameterType::String => Value::text(text),
            ParameterType::Integer => match text.parse() {
                Ok(number) => Value::Int(number),
                Err(_) => Value::UInt(text.parse().ok()?),
            },
            ParameterType::Number => Value::Double(text.parse().ok().filter(|number: &f64| number.is_finite())?),
            ParameterType::Boolean => Value::Bool(text.parse().ok()?),
            // As it was written: the token of a page is good for the same question a minute later.
            ParameterType::Time => parse_time(text, Micros::now()).map(|_| Value::text(text)).ok()?,
            ParameterType::List => return Some(ParameterValue::Several(between_commas(text)?)),
        }))
    }

    /// The value that a file has.
    pub(super) fn of_content(self, content: &Content) -> Option<ParameterValue> {
        Some(ParameterValue::One(match (self, content) {
            (ParameterType::String, Content::Text(text)) => Value::text(text.as_str()),
            (ParameterType::Boolean, Content::Truth(value)) => Value::Bool(*value),
            (ParameterType::Time, Content::Text(text))
            | (ParameterType::Integer | ParameterType::Number, Content::Number(text)) => return self.of_text(text),
            (ParameterType::List, Content::List(elements)) => {
                let texts = elements.iter().map(|element| match &element.content {
                    Content::Text(text) => Some(Value::text(text.as_str())),
                    _ => None,
                });
                return texts.collect::<Option<_>>().map(ParameterValue::Several);
            }
            _ => return None,
        }))
    }
}

/// With its article, for errors.
impl fmt::Display for ParameterType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ParameterType::String => "a text",
            ParameterType::Integer => "a whole number",
            ParameterType::Number => "a number",
            ParameterType::Boolean => "`true` or `false`",
            ParameterType::Time => TIMES,
            ParameterType::List => "a list of texts with commas between them",
        })
    }
}

/// The values of all parameters, in their order.
pub(super) fn bind(parameters: &[Parameter], given: &[(String, String)]) -> Result<Vec<ParameterValue>, BindError> {
    let mut values: Vec<Option<ParameterValue>> = vec![None; parameters.len()];
    for (name, text) in given {
        let Some(i) = parameters.iter().position(|parameter| parameter.name == *name) else {
            return Err(BindError::Unknown { name: shortened(name), hint: meant(parameters, name) });
        };
        let Parameter { ty, .. } = parameters[i];
        let wrong = || BindError::WrongType { name: name.clone(), value: shortened(text), ty };
        let value = ty.of_text(text).ok_or_else(wrong)?;
        match (&mut values[i], value) {
            (Some(ParameterValue::Several(all)), ParameterValue::Several(more)) => all.extend(more),
            (Some(_), _) => return Err(BindError::Twice(name.clone())),
            (none, value) => *none = Some(value),
        }
    }
    let lacks =
        |(parameter, value): &(&Parameter, &Option<ParameterValue>)| value.is_none() && parameter.default.is_none();
    let missing = parameters.iter().zip(&values).filter(lacks);
    let missing: Vec<_> = missing.map(|(parameter, _)| (parameter.name.clone(), parameter.ty)).collect();
    if !missing.is_empty() {
        return Err(BindError::Missing(missing));
    }
    let value = |(parameter, value): (&Parameter, Option<ParameterValue>)| value.or_else(|| parameter.default.clone());
    Ok(parameters.iter().zip(values).filter_map(value).collect())
}

/// Suggests a name for an unknown parameter.
pub(super) fn meant(parameters: &[Parameter], name: &str) -> String {
    let known: Vec<&str> = parameters.iter().map(Parameter::name).collect();
    match nearest(name, &known) {
        Some(meant) => format!(", did you mean `{meant}`?"),
        None if known.is_empty() => "; it has none".into(),
        None => format!("; it has: {}", known.join(", ")),
    }
}

/// The texts between commas that are not escaped; `None` with a backslash that escapes nothing. An empty text is an empty list.
fn between_commas(text: &str) -> Option<Vec<Value>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    let mut values = Vec::new();
    let mut value = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            ',' => values.push(Value::text(std::mem::take(&mut value))),
            '\\' => value.push(characters.next().filter(|meant| matches!(meant, ',' | '\\'))?),
            _ => value.push(character),
        }
    }
    values.push(Value::text(value));
    Some(values)
}

fn escaped(value: &Value) -> String {
    value.to_string().replace('\\', r"\\").replace(',', r"\,")
}

/// Returns true if this can be the name of a parameter.
pub(super) fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    name.len() <= LONGEST && name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.bytes().all(allowed)
}
