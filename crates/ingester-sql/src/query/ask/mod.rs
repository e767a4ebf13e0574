//! One question in all its spellings: the options of `ingester get`, the parameters of a URL, the pseudo-labels of a label selector,
//! saved queries, and the list options of the reference system all fill in an [`Ask`]. The meaning of the keys is decided here, so
//! every spelling means the same.
//!
//! | file | what it has |
//! |---|---|
//! | `key.rs` | the table of keys, with their names in each spelling |

mod key;
#[cfg(test)]
mod tests;

pub use key::{AskKey, Meaning, Spelling};

use super::{
    AsOf, Filter, ListOptions, Order, Query, States, Test, parse_field_selector, parse_label_selector, parse_order,
    parse_time,
};
use ingester_core::place::shortened;
use ingester_core::schema::{BASE_COLUMNS, base};
use ingester_core::value::{Micros, Value};

/// A question while it is read. The order in which its keys are set makes no difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    spelling: Spelling,
    namespaces: Vec<String>,
    uids: Vec<String>,
    states: Option<States>,
    /// Each with the rank of its key.
    filters: Vec<(Option<usize>, Filter)>,
    /// The key that asks for a time of deletion.
    deleted: Option<&'static AskKey>,
    order: Vec<Order>,
    scan: bool,
    at: Option<AsOf>,
}

/// A question that cannot be asked: the wrong key, as its spelling [shows](AskKey::render) it, and the mistake in its value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {what}", key.trim_matches('`'))]
pub struct KeyError {
    key: String,
    what: String,
}

impl KeyError {
    /// Returns the message without the key.
    pub fn what(&self) -> &str {
        &self.what
    }
}

/// A state, or several, by a name.
pub struct StateName {
    /// The name: `live`.
    pub name: &'static str,
    /// The objects in it, for the user.
    pub about: &'static str,
    /// The states that it stands for.
    pub states: States,
}

impl StateName {
    /// All names of states.
    pub const ALL: [StateName; 4] = [
        StateName { name: "live", about: "In the cluster", states: States::LIVE },
        StateName { name: "evicted", about: "Moved from etcd to SQL", states: States::EVICTED },
        StateName { name: "deleted", about: "Deleted", states: States::DELETED },
        StateName { name: "all", about: "All of these", states: States::ALL },
    ];

    fn named(name: &str) -> Result<States, String> {
        let state = StateName::ALL.into_iter().find(|state| state.name == name);
        let known = || StateName::ALL.map(|state| state.name).join(", ");
        state
            .map(|state| state.states)
            .ok_or_else(|| format!("unknown state `{}`; known: {}", shortened(name), known()))
    }
}

impl Ask {
    /// A question about everything that exists, in the words of a spelling.
    pub fn new(spelling: Spelling) -> Self {
        Ask {
            spelling,
            namespaces: Vec::new(),
            uids: Vec::new(),
            states: None,
            filters: Vec::new(),
            deleted: None,
            order: Vec::new(),
            scan: false,
            at: None,
        }
    }

    /// Adds these values of a key.
    ///
    /// # Errors
    /// If a value is not what the key [asks for](AskKey::meaning).
    pub fn set(&mut self, key: &'static AskKey, values: &[&str]) -> Result<(), KeyError> {
        self.add(key, values).map_err(|what| self.wrong(key, what))
    }

    fn add(&mut self, key: &'static AskKey, values: &[&str]) -> Result<(), String> {
        let one = || match values {
            [value] => Ok(*value),
            _ => Err("it has one value".to_owned()),
        };
        let texts = || values.iter().map(|value| (*value).to_owned());
        match key.meaning() {
            Meaning::Namespaces => self.namespaces.extend(texts()),
            Meaning::Uids => self.uids.extend(texts()),
            Meaning::States => {
                for name in values {
                    let states = StateName::named(name)?;
                    self.states = Some(self.states.map_or(states, |others| others.or(states)));
                }
            }
            Meaning::Labels => {
                for text in values {
                    self.filters(Some(key), parse_label_selector(text).map_err(|error| error.to_string())?);
                }
            }
            Meaning::Fields => {
                for text in values {
                    self.filters(Some(key), parse_field_selector(text).map_err(|error| error.to_string())?);
                }
            }
            Meaning::Time { place, from } => {
                let text = one()?;
                parse_time(text, Micros::now()).map_err(|error| error.to_string())?;
                // As it was written: the token of a page is good for the same question a minute later.
                let time = Value::text(text);
                let test = if from { Test::GreaterOrEqual(time) } else { Test::Less(time) };
                self.filters(Some(key), [Filter::field(BASE_COLUMNS[place].name.as_str(), test)]);
                if place == base::DELETE_TIME {
                    self.deleted = Some(self.deleted.filter(|other| other.rank < key.rank).unwrap_or(key));
                }
            }
            Meaning::Order => {
                for text in values {
                    self.order.extend(parse_order(text).map_err(|error| error.to_string())?);
                }
            }
            Meaning::Scan => self.scan = truth(one()?)?,
            Meaning::At => {
                let at = AsOf::parse(one()?).map_err(|error| error.to_string())?;
                if self.at.replace(at).is_some() {
                    return Err("it has one value, and is given twice".to_owned());
                }
            }
        }
        Ok(())
    }

    fn wrong(&self, key: &AskKey, what: impl Into<String>) -> KeyError {
        KeyError { key: key.render(self.spelling), what: what.into() }
    }

    /// Adds a namespace that no key names, for example the one in a URL's path.
    pub fn namespace(&mut self, namespace: impl Into<String>) {
        self.namespaces.push(namespace.into());
    }

    /// Adds the conditions of a key, or conditions without a key.
    pub fn filters(&mut self, key: Option<&AskKey>, filters: impl IntoIterator<Item = Filter>) {
        let rank = key.map(|key| key.rank);
        self.filters.extend(filters.into_iter().map(|filter| (rank, filter)));
    }

    /// Adds everything that the reference system's list options ask for, except options that concern only the answer: where a page begins
    /// and ends, and which fields its objects lack. The caller handles those.
    pub fn list_options(&mut self, options: &ListOptions) {
        self.filters(None, options.filter.clone());
        self.order.extend(options.order.iter().cloned());
    }

    /// Returns the query.
    ///
    /// Its states are the named ones. Without any, it asks for deleted objects if a time of deletion is given, for all objects if uids are
    /// given, and otherwise for objects that exist.
    ///
    /// # Errors
    /// If a time of deletion is asked for in states that have none.
    pub fn query(mut self) -> Result<Query, KeyError> {
        let states = match (self.states, self.deleted) {
            (Some(states), Some(key)) if !states.deleted => {
                let state = AskKey::for_meaning(Meaning::States).render(self.spelling);
                let what = format!(
                    "objects that are live or evicted have no time of deletion: leave out {state}, or add `deleted` to it"
                );
                return Err(self.wrong(key, what));
            }
            (Some(states), _) => states,
            (None, Some(_)) => States::DELETED,
            (None, None) if !self.uids.is_empty() => States::ALL,
            (None, None) => States::default(),
        };
        self.filters.sort_by_key(|(rank, _)| *rank);
        Ok(Query {
            namespaces: self.namespaces,
            names: Vec::new(),
            uids: self.uids,
            states,
            filters: self.filters.into_iter().map(|(_, filter)| filter).collect(),
            order: self.order,
            scan: self.scan,
            at: self.at,
        })
    }

    /// Combines this question with a saved one into a query for the objects that pass both. The order and the moment come from this
    /// question if it has them.
    ///
    /// # Errors
    /// As [`Ask::query`]; and if no object can pass both, because they name other namespaces, uids or states.
    pub fn within(self, saved: Ask) -> Result<Query, KeyError> {
        let apart = |key: &AskKey, other: &AskKey| {
            let other = other.render(saved.spelling);
            self.wrong(key, format!("no object passes both this and {other} of the saved query: leave one of them out"))
        };
        let both = |one: &[String], other: &[String], meaning: Meaning| {
            let all: Vec<String> = match (one, other) {
                (all, []) | ([], all) => return Ok(all.to_vec()),
                _ => one.iter().filter(|text| other.contains(text)).cloned().collect(),
            };
            let key = AskKey::for_meaning(meaning);
            if all.is_empty() { Err(apart(key, key)) } else { Ok(all) }
        };
        let namespaces = both(&self.namespaces, &saved.namespaces, Meaning::Namespaces)?;
        let uids = both(&self.uids, &saved.uids, Meaning::Uids)?;
        let states = match (self.states, saved.states) {
            (Some(one), Some(other)) => Some(one.and(other)),
            (one, other) => one.or(other),
        };
        match (self.states, saved.states, self.deleted, saved.deleted) {
            (Some(_), Some(_), ..) if states == Some(States::NONE) => {
                return Err(apart(AskKey::for_meaning(Meaning::States), AskKey::for_meaning(Meaning::States)));
            }
            (_, Some(states), Some(key), _) if !states.deleted => {
                return Err(apart(key, AskKey::for_meaning(Meaning::States)));
            }
            (Some(states), _, _, Some(key)) if !states.deleted => {
                return Err(apart(AskKey::for_meaning(Meaning::States), key));
            }
            _ => {}
        }
        let mut filters = self.clone().query()?.filters;
        filters.extend(saved.clone().query()?.filters);
        let both = Ask {
            spelling: self.spelling,
            namespaces,
            uids,
            states,
            filters: filters.into_iter().map(|filter| (None, filter)).collect(),
            deleted: self.deleted.or(saved.deleted),
            order: if self.order.is_empty() { saved.order } else { self.order },
            scan: self.scan || saved.scan,
            at: self.at.or(saved.at),
        };
        both.query()
    }
}

/// A truth value as Kubernetes' parameters have it.
///
/// # Errors
/// If it is neither.
pub fn truth(text: &str) -> Result<bool, String> {
    match text {
        "" | "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        other => Err(format!("`{}` is neither true nor false", shortened(other))),
    }
}
