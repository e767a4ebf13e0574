//! What the arguments ask for.

use crate::arguments::Get;
use crate::commands::named;
use crate::ending::Failure;
use crate::saved;
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_core::value::Micros;
use ingester_declare::saved::BoundQuery;
use ingester_sql::query::{Ask, AskError, Query};

/// A query about one kind.
pub(super) struct Question {
    pub(super) kind: Kind,
    /// The names that must be found.
    pub(super) names: Vec<String>,
    pub(super) query: Query,
    /// Of several objects with one name, only the newest is meant.
    pub(super) newest: bool,
    /// The limit is that of the whole answer, and not of a page.
    pub(super) whole: bool,
}

impl Question {
    /// The questions of a command line.
    pub(super) fn of(arguments: &Get, kinds: &'static [Kind], now: Micros) -> Result<Vec<Self>, Failure> {
        let template = query(arguments, now)?;
        let by_name = arguments.state.is_empty() && arguments.sort_by.is_none() && template.uids.is_empty();
        let question = |(kind, names): (Kind, Vec<String>)| {
            let newest = by_name && !names.is_empty() && !template.states.deleted;
            let query = Query { names: names.clone(), ..template.clone() };
            Question { kind, names, query, newest, whole: false }
        };
        Ok(resources(&arguments.resources, kinds)?.into_iter().map(question).collect())
    }
}

impl Question {
    /// The question of a saved query. What it says of a limit goes into the arguments, unless they have one.
    pub(super) fn saved(name: &str, arguments: &mut Get, kinds: &'static [Kind]) -> Result<Self, Failure> {
        let queries = saved::read(&arguments.queries, arguments.target.config.as_deref(), kinds)?;
        let query = queries.get(name).map_err(|error| Failure::Usage(anyhow!(error)))?;
        let bound = query.bind(&arguments.parameters);
        let BoundQuery { kind, query, limit } =
            bound.map_err(|error| Failure::Usage(anyhow!("the saved query `{name}`: {error}")))?;
        // What is counted is not limited, and groups have a limit of their own.
        let whole = limit.is_some() && arguments.limit.is_none();
        if whole && !arguments.count && arguments.group_by.is_none() {
            arguments.limit = limit;
        }
        if arguments.watch && arguments.limit.is_some() {
            return Err(Failure::Usage(anyhow!("the saved query `{name}` has a limit, which goes without --watch")));
        }
        Ok(Question { kind, names: Vec::new(), query, newest: false, whole })
    }
}

/// The kinds with the names that are asked for: `KIND,KIND NAME NAME` or `KIND/NAME KIND/NAME`.
fn resources(words: &[String], kinds: &'static [Kind]) -> Result<Vec<(Kind, Vec<String>)>, Failure> {
    let usage = |message: String| Err(Failure::Usage(anyhow!(message)));
    let Some((first, rest)) = words.split_first() else { return Ok(Vec::new()) };
    if !first.contains('/') {
        if let Some(mixed) = rest.iter().find(|word| word.contains('/')) {
            return usage(format!("`{mixed}`: give KIND NAME..., or KIND/NAME for each"));
        }
        let mut asked: Vec<(Kind, Vec<String>)> = Vec::new();
        for name in first.split(',').filter(|name| !name.is_empty()) {
            let kind = named(kinds, name)?;
            if !asked.iter().any(|(other, _)| other.table().name == kind.table().name) {
                asked.push((kind, rest.to_vec()));
            }
        }
        return if asked.is_empty() { usage("name a kind".to_owned()) } else { Ok(asked) };
    }
    let mut asked: Vec<(Kind, Vec<String>)> = Vec::new();
    for word in words {
        let Some((kind, name)) = word.split_once('/').filter(|(_, name)| !name.is_empty()) else {
            return usage(format!("`{word}`: give KIND/NAME for each"));
        };
        let kind = named(kinds, kind)?;
        match asked.iter_mut().find(|(other, _)| other.table().name == kind.table().name) {
            Some((_, names)) => names.push(name.to_owned()),
            None => asked.push((kind, vec![name.to_owned()])),
        }
    }
    Ok(asked)
}

/// The query, without names.
fn query(arguments: &Get, now: Micros) -> Result<Query, Failure> {
    let usage = |error: &AskError| {
        let option = error.key().map_or_else(String::new, |key| format!("--{}: ", key.option));
        Failure::Usage(anyhow!("{option}{}", error.what()))
    };
    let mut ask = Ask::default();
    ask.namespaces(arguments.namespace.iter().cloned());
    for (name, values) in arguments.keys() {
        ask.set(name, &values, now).map_err(|error| usage(&error))?;
    }
    ask.query().map_err(|error| usage(&error))
}

#[cfg(test)]
mod tests {
    use super::query;
    use crate::arguments::{Arguments, Command};
    use crate::ending::Failure;
    use clap::Parser as _;
    use ingester_core::value::Micros;
    use ingester_server::request::parameters;
    use ingester_sql::query::{Key, Query};

    const NOW: Micros = Micros(1_800_000_000_000_000);

    fn by_command(words: &[&str]) -> Result<Query, String> {
        let words = ["ingester", "get", "models", "--database-url", "sqlite://a.db"].iter().chain(words);
        let Command::Get(arguments) = Arguments::parse_from(words).command else { panic!("get") };
        query(&arguments, NOW).map_err(|failure| match failure {
            Failure::Usage(error) | Failure::Work(error) => error.to_string(),
        })
    }

    fn by_url(query: &str) -> Result<Query, String> {
        parameters::parse(query, "Model", NOW).map(|parameters| parameters.query).map_err(|status| status.message)
    }

    fn encoded(text: &str) -> String {
        percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
    }

    /// The same keys as options, as parameters of a URL, and as pseudo-labels where all can be.
    fn spellings(keys: &[(&Key, &str)]) -> Vec<Result<Query, String>> {
        let options: Vec<String> = keys
            .iter()
            .map(|(key, value)| if key.name == "scan" { "--scan".into() } else { format!("--{}={value}", key.option) })
            .collect();
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let url: Vec<String> = keys.iter().map(|(key, value)| format!("{}={}", key.name, encoded(value))).collect();
        let mut all = vec![by_command(&options), by_url(&url.join("&"))];
        if keys.iter().all(|(key, _)| key.is_pseudo_label) {
            let requirement =
                |(key, value): &(&Key, &str)| format!("mirror.michelangelo.api/{} in ({value})", key.name);
            let selector: Vec<String> = keys.iter().map(requirement).collect();
            all.push(by_url(&format!("labelSelector={}", encoded(&selector.join(",")))));
        }
        all
    }

    #[test]
    fn every_pair_of_keys_means_the_same_in_every_spelling() {
        for one in &Key::ALL {
            for other in &Key::ALL {
                let keys = [(one, one.example), (other, other.example)];
                let keys = if one.name == other.name { &keys[..1] } else { &keys[..] };
                let all = spellings(keys);
                let Ok(first) = &all[0] else { panic!("{}, {}: {all:?}", one.name, other.name) };
                for asked in &all {
                    let asked = asked.as_ref().unwrap_or_else(|error| panic!("{}, {}: {error}", one.name, other.name));
                    let sorted = |query: &Query| {
                        let mut filters: Vec<String> =
                            query.filters.iter().map(|filter| format!("{filter:?}")).collect();
                        filters.sort();
                        (filters, Query { filters: Vec::new(), ..query.clone() })
                    };
                    assert_eq!(sorted(asked), sorted(first), "{}, {}", one.name, other.name);
                }
            }
        }
    }

    /// A Model that was deleted three days ago was found by the label selector and not by the URL and the command.
    #[test]
    fn a_time_of_deletion_of_what_exists_is_refused_in_every_spelling() {
        let (state, deleted) = (Key::named("state").unwrap(), Key::named("deleted-after").unwrap());
        for keys in [[(state, "live,evicted"), (deleted, "30d")], [(deleted, "30d"), (state, "live,evicted")]] {
            let all = spellings(&keys);
            assert_eq!(all.len(), 3);
            for asked in all {
                let error = asked.unwrap_err();
                assert!(
                    error.contains("deleted-after: objects that are live or evicted have no time of deletion"),
                    "{error}"
                );
            }
        }
    }

    #[test]
    fn the_pages_have_every_key() {
        let serving = include_str!("../../../../docs/serving.md");
        let queries = include_str!("../../../../docs/queries.md");
        for key in Key::ALL {
            assert!(serving.contains(&format!("`{}`", key.name)), "docs/serving.md lacks {}", key.name);
            assert!(queries.contains(&format!("--{}", key.option)), "docs/queries.md lacks --{}", key.option);
        }
    }
}
