//! Turns the arguments into questions.

use crate::arguments::Get;
use crate::commands::named;
use crate::ending::Failure;
use crate::saved;
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_declare::saved::BoundQuery;
use ingester_sql::query::{Ask, Meaning, Query};
use std::collections::HashSet;

/// A query about one kind.
pub(super) struct Question {
    pub(super) kind: Kind,
    /// The names that must be found.
    pub(super) names: Vec<String>,
    pub(super) query: Query,
    /// If several objects have one name, only the newest counts.
    pub(super) newest: bool,
    /// The objects are printed in the order of these names, unless the arguments give another order.
    pub(super) by_name: bool,
    /// The limit applies to the whole answer, not to a page.
    pub(super) whole: bool,
}

impl Question {
    /// The questions of a command line.
    pub(super) fn from_arguments(arguments: &Get, kinds: &'static [Kind]) -> Result<Vec<Self>, Failure> {
        let which = &arguments.which;
        let template = which.ask().and_then(Ask::query).map_err(|error| Failure::Usage(error.into()))?;
        let by_name = ![Meaning::States, Meaning::Order, Meaning::Uids].into_iter().any(|said| which.says(said));
        let question = |(kind, names): (Kind, Vec<String>)| {
            let newest = by_name && !names.is_empty() && !template.states.deleted;
            let query = Query { names: names.clone(), ..template.clone() };
            let by_name = !names.is_empty() && !which.says(Meaning::Order);
            Question { kind, names, query, newest, by_name, whole: false }
        };
        Ok(resources(&arguments.resources, kinds)?.into_iter().map(question).collect())
    }
}

impl Question {
    /// The names that must be found, each once, in the order of the command line.
    pub(super) fn names_once(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        self.names.iter().map(String::as_str).filter(|name| seen.insert(*name)).collect()
    }

    /// The question of a saved query. Its limit goes into the arguments, unless they have one.
    pub(super) fn saved(name: &str, arguments: &mut Get, kinds: &'static [Kind]) -> Result<Self, Failure> {
        let queries = saved::read(&arguments.queries, arguments.target.config.as_deref(), kinds)?;
        let query = queries.get(name).map_err(|error| Failure::Usage(anyhow!(error)))?;
        let ask = arguments.which.ask().map_err(|error| Failure::Usage(error.into()))?;
        let bound = query.bind_within(&arguments.parameters, ask);
        let BoundQuery { kind, query, limit } =
            bound.map_err(|error| Failure::Usage(anyhow!("the saved query `{name}`: {error}")))?;
        // A count is not limited, and groups have their own limit.
        let whole = limit.is_some() && arguments.limit.is_none();
        if whole && !arguments.count && arguments.group_by.is_none() {
            arguments.limit = limit;
        }
        if arguments.watch && arguments.limit.is_some() {
            return Err(Failure::Usage(anyhow!("the saved query `{name}` has a limit, which goes without --watch")));
        }
        Ok(Question { kind, names: Vec::new(), query, newest: false, by_name: false, whole })
    }
}

/// The kinds with the requested names: `KIND,KIND NAME NAME` or `KIND/NAME KIND/NAME`.
fn resources(words: &[String], kinds: &'static [Kind]) -> Result<Vec<(Kind, Vec<String>)>, Failure> {
    let usage = |message: String| Err(Failure::Usage(anyhow!(message)));
    let Some((first, rest)) = words.split_first() else { return Ok(Vec::new()) };
    if !first.contains('/') {
        if let Some(mixed) = rest.iter().find(|word| word.contains('/')) {
            return usage(format!("`{mixed}`: give KIND NAME..., or KIND/NAME for each"));
        }
        let mut asked: Vec<(Kind, Vec<String>)> = Vec::new();
        for name in first.split(',') {
            if name.is_empty() {
                return usage(format!("`{first}` has a comma without a kind next to it: give KIND or KIND,KIND"));
            }
            let kind = named(kinds, name)?;
            if !asked.iter().any(|(other, _)| other.table().name == kind.table().name) {
                asked.push((kind, rest.to_vec()));
            }
        }
        return Ok(asked);
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
