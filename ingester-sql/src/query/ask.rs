//! One question in all its spellings: the options of `ingester get`, the parameters of a URL, the pseudo-labels of a label selector, and
//! saved queries all fill in an [`Ask`], so that none of them can mean something else than the others.

use super::{Filter, Order, Query, States, Test, parse_field_selector, parse_label_selector, parse_order, parse_time};
use ingester_core::nearest::nearest;
use ingester_core::place::shortened;
use ingester_core::schema::{BASE_COLUMNS, base};
use ingester_core::value::{Micros, Value};

/// A question while it is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ask {
    query: Query,
    states: Option<States>,
    /// The key that asks for a time of deletion.
    of_deleted: Option<&'static str>,
}

/// Something that can be asked, by one name in every spelling.
#[derive(Clone, Copy)]
pub struct Key {
    /// Its name as a parameter of a URL and, where there is one, as a pseudo-label.
    pub name: &'static str,
    /// Its name as an option of the command line, without `--`.
    pub option: &'static str,
    /// Whether it can be a pseudo-label, a requirement of the label selector.
    pub is_pseudo_label: bool,
    /// How its value looks in an example.
    pub example: &'static str,
    set: fn(&mut Ask, &'static str, &[&str], Micros) -> Result<(), String>,
}

/// Why a question cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// A value is wrong.
    #[error("{key}: {what}")]
    Value {
        /// The key, as [`Key::name`].
        key: &'static str,
        /// What is wrong.
        what: String,
    },
    /// There is no such key.
    #[error("unknown parameter `{name}`{hint}")]
    Unknown {
        /// The name that was given.
        name: String,
        /// What it may have meant, and which keys there are.
        hint: String,
    },
    /// No object can have both.
    #[error(
        "{key}: objects that are live or evicted have no time of deletion: leave out `state`, or add `deleted` to it"
    )]
    NothingDeleted {
        /// The key that asks for a time of deletion.
        key: &'static str,
    },
}

impl AskError {
    /// The key that is wrong; `None` if there is no such key.
    pub fn key(&self) -> Option<&'static Key> {
        match self {
            AskError::Value { key, .. } | AskError::NothingDeleted { key } => Key::named(key),
            AskError::Unknown { .. } => None,
        }
    }

    /// What is wrong, without the key.
    pub fn what(&self) -> String {
        let text = self.to_string();
        match self.key() {
            Some(key) => text[key.name.len() + 2..].to_owned(),
            None => text,
        }
    }
}

impl Key {
    /// All keys.
    pub const ALL: [Key; 10] = [
        Key { name: "labelSelector", option: "selector", is_pseudo_label: false, example: "team=pricing", set: labels },
        Key {
            name: "fieldSelector",
            option: "field-selector",
            is_pseudo_label: false,
            example: "metadata.name=a",
            set: fields,
        },
        Key { name: "state", option: "state", is_pseudo_label: true, example: "live,deleted", set: states },
        Key { name: "order-by", option: "sort-by", is_pseudo_label: true, example: "-create_time", set: order },
        Key { name: "created-after", option: "created-after", is_pseudo_label: true, example: "7d", set: time },
        Key { name: "created-before", option: "created-before", is_pseudo_label: true, example: "2h", set: time },
        Key { name: "deleted-after", option: "deleted-after", is_pseudo_label: true, example: "7d", set: time },
        Key { name: "deleted-before", option: "deleted-before", is_pseudo_label: true, example: "2h", set: time },
        Key { name: "uid", option: "uid", is_pseudo_label: true, example: "a,b", set: uids },
        Key { name: "scan", option: "scan", is_pseudo_label: true, example: "true", set: scan },
    ];

    /// The key of this [name](Key::name).
    pub fn named(name: &str) -> Option<&'static Key> {
        const ALL: &[Key] = &Key::ALL;
        ALL.iter().find(|key| key.name == name)
    }
}

impl Ask {
    /// Adds what `values` say of a key. Texts such as `7d` count from `now`.
    ///
    /// # Errors
    /// If there is no such key, or its value is wrong.
    pub fn set(&mut self, name: &str, values: &[&str], now: Micros) -> Result<(), AskError> {
        let Some(key) = Key::named(name) else {
            let known = Key::ALL.map(|key| key.name);
            let meant = nearest(name, &known).map_or(String::new(), |meant| format!(", did you mean `{meant}`?"));
            return Err(AskError::Unknown {
                name: shortened(name),
                hint: format!("{meant}; known: {}", known.join(", ")),
            });
        };
        if values.is_empty() {
            return Ok(());
        }
        (key.set)(self, key.name, values, now).map_err(|what| AskError::Value { key: key.name, what })
    }

    /// Adds conditions.
    pub fn filter(&mut self, filters: impl IntoIterator<Item = Filter>) {
        self.query.filters.extend(filters);
    }

    /// Adds steps to the order.
    pub fn order(&mut self, order: impl IntoIterator<Item = Order>) {
        self.query.order.extend(order);
    }

    /// Adds namespaces.
    pub fn namespaces(&mut self, namespaces: impl IntoIterator<Item = String>) {
        self.query.namespaces.extend(namespaces);
    }

    /// Adds states; without any they follow from the other keys.
    pub fn states(&mut self, states: States) {
        let had = self.states.unwrap_or(States { live: false, evicted: false, deleted: false });
        self.states = Some(States {
            live: had.live || states.live,
            evicted: had.evicted || states.evicted,
            deleted: had.deleted || states.deleted,
        });
    }

    /// Allows fields without a column, which are read from the JSON of every row.
    pub fn scan(&mut self, scan: bool) {
        self.query.scan = scan;
    }

    /// The query. Its states are those that were named. Without any: deleted objects if a time of deletion is asked for, all if uids
    /// are, else what exists.
    ///
    /// # Errors
    /// If a time of deletion is asked of objects that have none.
    pub fn query(self) -> Result<Query, AskError> {
        let Ask { mut query, states, of_deleted } = self;
        query.states = match (states, of_deleted) {
            (Some(states), Some(key)) if !states.deleted => return Err(AskError::NothingDeleted { key }),
            (Some(states), _) => states,
            (None, Some(_)) => States::DELETED,
            (None, None) if !query.uids.is_empty() => States::ALL,
            (None, None) => States::default(),
        };
        Ok(query)
    }
}

fn labels(ask: &mut Ask, _: &'static str, values: &[&str], _: Micros) -> Result<(), String> {
    values.iter().try_for_each(|text| {
        ask.filter(parse_label_selector(text).map_err(|error| error.to_string())?);
        Ok(())
    })
}

fn fields(ask: &mut Ask, _: &'static str, values: &[&str], _: Micros) -> Result<(), String> {
    values.iter().try_for_each(|text| {
        ask.filter(parse_field_selector(text).map_err(|error| error.to_string())?);
        Ok(())
    })
}

fn states(ask: &mut Ask, _: &'static str, values: &[&str], _: Micros) -> Result<(), String> {
    for word in words(values) {
        ask.states(match word {
            "live" => States::LIVE,
            "evicted" => States::EVICTED,
            "deleted" => States::DELETED,
            "all" => States::ALL,
            other => return Err(format!("`{}` is none of live, evicted, deleted and all", shortened(other))),
        });
    }
    Ok(())
}

fn order(ask: &mut Ask, _: &'static str, values: &[&str], _: Micros) -> Result<(), String> {
    values.iter().try_for_each(|text| {
        ask.order(parse_order(text).map_err(|error| error.to_string())?);
        Ok(())
    })
}

fn time(ask: &mut Ask, name: &'static str, values: &[&str], now: Micros) -> Result<(), String> {
    let text = one(values)?;
    parse_time(text, now).map_err(|error| error.to_string())?;
    // As it was written: the token of a page is good for the same question a minute later.
    let time = Value::text(text);
    let test = if name.ends_with("after") { Test::GreaterOrEqual(time) } else { Test::Less(time) };
    let place = if name.starts_with("deleted") {
        ask.of_deleted = Some(name);
        base::DELETE_TIME
    } else {
        base::CREATE_TIME
    };
    ask.filter([Filter::field(BASE_COLUMNS[place].name.as_str(), test)]);
    Ok(())
}

fn uids(ask: &mut Ask, _: &'static str, values: &[&str], _: Micros) -> Result<(), String> {
    ask.query.uids.extend(words(values).map(str::to_owned));
    Ok(())
}

fn scan(ask: &mut Ask, _: &'static str, values: &[&str], _: Micros) -> Result<(), String> {
    ask.scan(truth(one(values)?)?);
    Ok(())
}

fn words<'v>(values: &'v [&'v str]) -> impl Iterator<Item = &'v str> {
    values.iter().flat_map(|value| value.split(','))
}

fn one<'v>(values: &[&'v str]) -> Result<&'v str, String> {
    match values {
        [value] => Ok(value),
        _ => Err("it has one value".into()),
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

#[cfg(test)]
mod tests {
    use super::{Ask, AskError, Key};
    use crate::query::{Query, States};
    use ingester_core::value::Micros;

    fn ask(given: &[(&str, &[&str])]) -> Result<Query, AskError> {
        let mut ask = Ask::default();
        for (name, values) in given {
            ask.set(name, values, Micros(1_800_000_000_000_000))?;
        }
        ask.query()
    }

    #[test]
    fn states_follow_from_the_other_keys() {
        let states = |given: &[(&str, &[&str])]| ask(given).unwrap().states;
        assert_eq!(states(&[]), States::default());
        assert_eq!(states(&[("created-after", &["7d"])]), States::default());
        assert_eq!(states(&[("uid", &["a"])]), States::ALL);
        assert_eq!(states(&[("deleted-after", &["30d"])]), States::DELETED);
        assert_eq!(states(&[("uid", &["a"]), ("deleted-before", &["30d"])]), States::DELETED);
        assert_eq!(states(&[("deleted-after", &["30d"]), ("state", &["all"])]), States::ALL);
        assert_eq!(states(&[("uid", &["a"]), ("state", &["live"])]), States::LIVE);
    }

    /// What a state says does not depend on the order in which the keys come.
    #[test]
    fn a_time_of_deletion_is_not_asked_of_objects_that_exist() {
        for given in [
            [("state", &["live,evicted"]), ("deleted-after", &["30d"])],
            [("deleted-after", &["30d"]), ("state", &["live,evicted"])],
        ] {
            let error = ask(&given.map(|(name, values)| (name, &values[..]))).unwrap_err();
            assert_eq!(error, AskError::NothingDeleted { key: "deleted-after" });
            assert_eq!(
                error.to_string(),
                "deleted-after: objects that are live or evicted have no time of deletion: leave out `state`, or add `deleted` to it"
            );
        }
    }

    #[test]
    fn states_that_are_named_twice_are_added() {
        let both = ask(&[("state", &["live", "deleted"])]).unwrap();
        assert_eq!(both, ask(&[("state", &["deleted,live"])]).unwrap());
        assert_eq!(both.states, States { live: true, evicted: false, deleted: true });
    }

    #[test]
    fn every_key_takes_its_example_and_changes_the_query() {
        for key in Key::ALL {
            let query = ask(&[(key.name, &[key.example])]).unwrap();
            assert_ne!(query, Query::default(), "{}", key.name);
        }
    }

    #[test]
    fn what_is_wrong_names_the_key() {
        let wrong = |name: &str, value: &str| ask(&[(name, &[value])]).unwrap_err();
        assert_eq!(wrong("state", "gone").to_string(), "state: `gone` is none of live, evicted, deleted and all");
        assert_eq!(wrong("state", "gone").what(), "`gone` is none of live, evicted, deleted and all");
        assert_eq!(wrong("scan", "maybe").to_string(), "scan: `maybe` is neither true nor false");
        let unknown = wrong("stat", "live").to_string();
        assert!(unknown.starts_with("unknown parameter `stat`, did you mean `state`?; known: "), "{unknown}");
    }
}
