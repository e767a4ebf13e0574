//! Queries that have a name: files that say what is asked for, with parameters for what changes from one use to the next.
//!
//! | file | what it has |
//! |---|---|
//! | `definition.rs` | a file as a saved query, with all its mistakes |
//! | `entries.rs` | the keys of such a file |
//! | `question.rs` | what a definition asks for, with values for its parameters |
//! | `parameter.rs` | parameters, their types, and values for them |
//!
//! May use: ingester-core, ingester-sql, text.
//! Must not: open files, make text of values (they go into the [`Query`] as values).

mod definition;
mod entries;
mod parameter;
mod question;
#[cfg(test)]
mod tests;

pub use parameter::{BindError, Parameter, ParameterType};

use self::question::Purpose;
use crate::text::{Content, Fault, Mistake, Syntax, Tree};
use ingester_core::kind::Kind;
use ingester_core::nearest::nearest;
use ingester_core::place::shortened;
use ingester_sql::query::{Ask, Query, Spelling};
use serde_json::{Value as Json, json};
use std::fmt;

/// The version that saved queries have as Kubernetes objects.
const API_VERSION: &str = "mirror.michelangelo.api/v1";

/// A file with a saved query.
const SYNTAX: Syntax = Syntax { passwords: false, hint: |_| None };

/// Queries by their names, all of them checked against the tables of their kinds.
#[derive(Clone, Debug, Default)]
pub struct SavedQueries {
    /// In the order of their names.
    queries: Vec<SavedQuery>,
}

/// A query that has a name. It was checked: it only lacks values of its parameters' types.
#[derive(Clone)]
pub struct SavedQuery {
    name: String,
    description: Option<String>,
    kind: Kind,
    parameters: Vec<Parameter>,
    /// The file as it was read.
    definition: Tree,
}

/// A saved query with values for all parameters.
#[derive(Clone)]
pub struct BoundQuery {
    /// The kind that is asked about.
    pub kind: Kind,
    /// The query.
    pub query: Query,
    /// Rows at most; `None` if the definition does not say.
    pub limit: Option<u32>,
}

/// Every mistake of every file that is not a valid saved query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedError {
    /// The mistakes, file by file.
    pub mistakes: Vec<Mistake>,
}

/// The name of the saved query is unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown saved query `{name}`{hint}")]
pub struct UnknownQuery {
    name: String,
    hint: String,
}

impl SavedQueries {
    /// Reads files, each with its name and its text, which is one query in YAML or JSON.
    ///
    /// # Errors
    /// [`SavedError`] with all mistakes of all files: text that is not YAML, unknown keys, fields without a column, values that do
    /// not fit the type of their column, names that come twice.
    pub fn parse(files: impl IntoIterator<Item = (String, String)>, kinds: &[Kind]) -> Result<Self, SavedError> {
        let mut queries: Vec<(String, SavedQuery)> = Vec::new();
        let mut mistakes = Vec::new();
        for (file, text) in files {
            match definition::read(&text, kinds) {
                Err(faults) => mistakes.extend(faults.into_iter().map(|fault| Mistake { file: file.clone(), fault })),
                Ok(query) => match queries.iter().find(|(_, other)| other.name == query.name) {
                    Some((first, _)) => {
                        let what = format!("the query `{}` is in {first}, too", query.name);
                        let fault = Fault {
                            line: query.definition.get("name").map(|name| name.line),
                            path: "name".into(),
                            what,
                        };
                        mistakes.push(Mistake { file, fault });
                    }
                    None => queries.push((file, query)),
                },
            }
        }
        if !mistakes.is_empty() {
            return Err(SavedError { mistakes });
        }
        let mut queries: Vec<SavedQuery> = queries.into_iter().map(|(_, query)| query).collect();
        queries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(SavedQueries { queries })
    }

    /// The query of this name.
    ///
    /// # Errors
    /// [`UnknownQuery`] if there is none, with what may be meant.
    pub fn get(&self, name: &str) -> Result<&SavedQuery, UnknownQuery> {
        self.queries.iter().find(|query| query.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.queries.iter().map(SavedQuery::name).collect();
            let hint = match nearest(name, &known) {
                Some(meant) => format!(", did you mean `{meant}`?"),
                None if known.is_empty() => "; known: none".into(),
                None => format!("; known: {}", known.join(", ")),
            };
            UnknownQuery { name: shortened(name), hint }
        })
    }

    /// Returns all queries, in the order of their names.
    pub fn iter(&self) -> std::slice::Iter<'_, SavedQuery> {
        self.queries.iter()
    }

    /// Returns true if there are no queries.
    pub fn is_empty(&self) -> bool {
        self.queries.is_empty()
    }

    /// Returns all queries as a Kubernetes list.
    pub fn to_json(&self) -> Json {
        let items: Vec<Json> = self.iter().map(SavedQuery::to_json).collect();
        json!({ "apiVersion": API_VERSION, "kind": "QueryList", "metadata": {}, "items": items })
    }
}

impl<'q> IntoIterator for &'q SavedQueries {
    type Item = &'q SavedQuery;
    type IntoIter = std::slice::Iter<'q, SavedQuery>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl SavedQuery {
    /// Its name, a DNS label.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its purpose, for people; empty if the file does not say.
    pub fn description(&self) -> &str {
        self.description.as_deref().unwrap_or_default()
    }

    /// The kind that it asks about.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Its parameters, in the order of the file.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Returns the query as a Kubernetes object, whose `spec` is its file with the kind's `apiVersion`.
    pub fn to_json(&self) -> Json {
        let mut spec = of_tree(&self.definition);
        spec.as_object_mut().map(|spec| spec.remove("name"));
        spec["kind"] = self.kind.kind().into();
        spec["apiVersion"] = self.kind.api_version().into();
        json!({ "apiVersion": API_VERSION, "kind": "Query", "metadata": { "name": self.name }, "spec": spec })
    }

    /// Returns the query with these values for its parameters, as people write them. The values of a list stand between commas, where `\,`
    /// stands for a comma in a value and `\\` for a backslash; a list may be given several times.
    ///
    /// # Errors
    /// [`BindError`] when a parameter is missing, unknown or given twice, a value is not of its type, or its column takes no such value.
    pub fn bind(&self, given: &[(String, String)]) -> Result<BoundQuery, BindError> {
        self.bind_within(given, Ask::new(Spelling::Saved))
    }

    /// As [`SavedQuery::bind`], limited to the objects that a question asks for, too.
    ///
    /// # Errors
    /// As [`SavedQuery::bind`]; [`BindError::Apart`] when no object can pass both.
    pub fn bind_within(&self, given: &[(String, String)], ask: Ask) -> Result<BoundQuery, BindError> {
        let values = parameter::bind(&self.parameters, given)?;
        let asked = question::read(&self.definition, &self.kind, &self.parameters, &values, Purpose::Ask);
        match asked.faults.into_iter().next() {
            Some(Fault { path, what, .. }) => Err(BindError::Unfit { path, what }),
            None => Ok(BoundQuery { kind: self.kind, query: ask.within(asked.ask)?, limit: asked.limit }),
        }
    }
}

/// A definition as JSON.
fn of_tree(tree: &Tree) -> Json {
    match &tree.content {
        Content::Null => Json::Null,
        Content::Truth(truth) => (*truth).into(),
        Content::Number(number) => serde_json::from_str(number).unwrap_or(Json::Null),
        Content::Text(text) => text.as_str().into(),
        Content::List(list) => list.iter().map(of_tree).collect(),
        Content::Map(map) => map.iter().map(|(key, tree)| (key.clone(), of_tree(tree))).collect(),
    }
}

impl fmt::Debug for SavedQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SavedQuery").field(&self.name).field(&self.definition).finish()
    }
}

impl fmt::Debug for BoundQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BoundQuery").field(&self.kind.kind()).field(&self.query).field(&self.limit).finish()
    }
}

impl fmt::Display for SavedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mistakes.as_slice() {
            [mistake] => mistake.fmt(f),
            mistakes => {
                write!(f, "{} mistakes in saved queries", mistakes.len())?;
                mistakes.iter().try_for_each(|mistake| write!(f, "\n  {mistake}"))
            }
        }
    }
}

impl std::error::Error for SavedError {}
