//! A question means the same in every spelling: as options, as parameters of a URL, as pseudo-labels, as a saved query.

use crate::arguments::{Arguments, Command};
use crate::fixture::MODEL;
use clap::Parser as _;
use ingester_declare::saved::SavedQueries;
use ingester_server::request::parameters;
use ingester_server::request::query::QueryString;
use ingester_sql::query::{Ask, AskKey, Meaning, Query, Spelling};
use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::{Map, Value as Json, json};

/// A key and its values.
type KeyValues = (&'static AskKey, Vec<&'static str>);

/// A key with its name in a spelling.
type Named<'g> = (&'static AskKey, &'g str, &'g [&'static str]);

/// The query, or the reason why there is none.
type QueryResult = Result<Query, String>;

/// Asks the question with these keys in a spelling; `None` if the spelling lacks one of them.
fn asked(spelling: Spelling, given: &[KeyValues]) -> Option<QueryResult> {
    let named: Option<Vec<_>> =
        given.iter().map(|(key, values)| Some((*key, key.name(spelling)?, values.as_slice()))).collect();
    let named = named?;
    Some(match spelling {
        Spelling::Command => by_command(&named),
        Spelling::Url => by_url(&named),
        Spelling::PseudoLabel => by_pseudo_labels(&named),
        Spelling::Saved => by_saved_query(&named),
    })
}

fn by_command(given: &[Named<'_>]) -> QueryResult {
    let mut words: Vec<String> = ["ingester", "get", "models"].map(str::to_owned).into();
    for (key, name, values) in given {
        match key.meaning() {
            Meaning::Scan => words.extend(values.contains(&"true").then(|| format!("--{name}"))),
            _ if key.is_list() => words.push(format!("--{name}={}", values.join(","))),
            _ => words.extend(values.iter().map(|value| format!("--{name}={value}"))),
        }
    }
    let arguments = Arguments::try_parse_from(words).map_err(|error| error.to_string())?;
    let Command::Get(arguments) = arguments.command else { panic!("another command") };
    arguments.which.ask().and_then(Ask::query).map_err(|error| error.to_string())
}

fn by_parameters(text: &str) -> QueryResult {
    parameters::parse(&QueryString::parse(text), "Model")
        .map(|parameters| parameters.query)
        .map_err(|status| status.message)
}

fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

fn by_url(given: &[Named<'_>]) -> QueryResult {
    let mut parameters = Vec::new();
    for (key, name, values) in given {
        match key.is_list() {
            true => parameters.push(format!("{name}={}", encoded(&values.join(",")))),
            false => parameters.extend(values.iter().map(|value| format!("{name}={}", encoded(value)))),
        }
    }
    by_parameters(&parameters.join("&"))
}

fn by_pseudo_labels(given: &[Named<'_>]) -> QueryResult {
    let mut requirements = Vec::new();
    for (key, name, values) in given {
        let name = format!("mirror.michelangelo.api/{name}");
        match values {
            ["true"] if key.meaning() == Meaning::Scan => requirements.push(name),
            _ if key.is_list() => requirements.push(format!("{name} in ({})", values.join(","))),
            _ => requirements.extend(values.iter().map(|value| format!("{name}={value}"))),
        }
    }
    by_parameters(&format!("labelSelector={}", encoded(&requirements.join(","))))
}

fn by_saved_query(given: &[Named<'_>]) -> QueryResult {
    let mut file = Map::from_iter([("name".into(), json!("a")), ("kind".into(), json!("Model"))]);
    for (key, name, values) in given {
        let value = match (key.meaning(), *values) {
            (Meaning::Scan, values) => json!(values.contains(&"true")),
            (Meaning::Namespaces | Meaning::Uids, values) => json!(values),
            (_, [value]) => json!(value),
            (_, values) => json!(values),
        };
        file.insert((*name).to_owned(), value);
    }
    let file = ("a.json".to_owned(), Json::Object(file).to_string());
    let queries = SavedQueries::parse([file], &[MODEL]).map_err(|error| error.to_string())?;
    let bound = queries.get("a").unwrap().bind(&[]).map_err(|error| error.to_string())?;
    Ok(bound.query)
}

/// Values that a key takes.
fn examples(key: &AskKey) -> &'static [&'static str] {
    match key.meaning() {
        Meaning::Namespaces => &["ml", "lab", "ads"],
        Meaning::Uids => &["a", "b", "c"],
        Meaning::States => &["live", "evicted", "deleted"],
        Meaning::Labels => &["team=pricing", "!old", "n in (5, 6),tier"],
        Meaning::Fields => {
            &["metadata.name=a", "namespace!=ml,uid=b", "create_time>=7d ago,create_time<in 30d,res_version>7"]
        }
        Meaning::Time { .. } => &["7d", "2h30m ago", "2026-01-31", "in 30d", "now"],
        Meaning::At => &["2026-01-31T10:00:00Z", "2026-01-31"],
        Meaning::Order => &["-create_time", "name", ".metadata.namespace"],
        Meaning::Scan => &["true"],
    }
}

/// Values that a key refuses. Any text is a namespace or a uid.
fn mistakes(key: &AskKey) -> &'static [&'static str] {
    match key.meaning() {
        Meaning::Namespaces | Meaning::Uids | Meaning::Scan => &[],
        Meaning::States => &["gone"],
        Meaning::Labels => &["a=(", "=b"],
        Meaning::Fields => &["a", "metadata.name=a=b", "create_time<"],
        Meaning::Time { .. } | Meaning::At => &["soon", "7", "2026-13-01", "in 7", "in 7d ago"],
        Meaning::Order => &["a..b", "{name"],
    }
}

/// Checks that all spellings with these keys give the same answer, which is returned. At least two spellings have all of them.
#[track_caller]
fn same(given: &[KeyValues]) -> QueryResult {
    let all: Vec<(Spelling, QueryResult)> =
        Spelling::ALL.into_iter().filter_map(|spelling| Some((spelling, asked(spelling, given)?))).collect();
    let [(_, first), others @ ..] = all.as_slice() else { panic!("no spelling has all of {given:?}") };
    assert!(!others.is_empty(), "{given:?}");
    for (spelling, answer) in others {
        match (first, answer) {
            (Ok(first), Ok(answer)) => assert_eq!(answer, first, "{spelling:?}: {given:?}"),
            (Err(_), Err(_)) => {}
            _ => panic!("{given:?}: {all:?}"),
        }
    }
    first.clone()
}

fn key(name: &str) -> &'static AskKey {
    AskKey::named(Spelling::Command, name).unwrap()
}

#[test]
fn every_key_and_every_pair_of_keys_is_one_question_in_every_spelling() {
    let is_of_deletion = |key: &AskKey| key.name(Spelling::Command).unwrap().starts_with("deleted");
    let is_state = |key: &AskKey| key.meaning() == Meaning::States;
    for one in AskKey::all() {
        let first = |key: &'static AskKey| (key, examples(key)[..1].to_vec());
        assert_ne!(same(&[first(one)]).unwrap(), Query::default(), "{one:?}");
        for other in AskKey::all().iter().filter(|other| *other != one) {
            let asked = same(&[first(one), first(other)]);
            // The state option for live objects.
            let is_refused = is_of_deletion(one) && is_state(other) || is_state(one) && is_of_deletion(other);
            assert_eq!(asked.is_err(), is_refused, "{one:?} {other:?}");
        }
    }
}

#[test]
fn a_mistake_is_one_in_every_spelling() {
    for key in AskKey::all() {
        for mistake in mistakes(key) {
            assert!(same(&[(key, vec![*mistake])]).is_err(), "{key:?}: {mistake}");
        }
    }
}

/// A Model that was deleted three days ago was found by the label selector, and not by the URL and the command.
#[test]
fn a_time_of_deletion_of_what_exists_is_refused_in_the_words_of_each_spelling() {
    let given = [(key("state"), vec!["live", "evicted"]), (key("deleted-after"), vec!["30d"])];
    for (spelling, deleted_after, state) in [
        (Spelling::Command, "--deleted-after", "--state"),
        (Spelling::Url, "deleted-after", "`state`"),
        (Spelling::PseudoLabel, "deleted-after", "`state`"),
        (Spelling::Saved, "deletedAfter", "`states`"),
    ] {
        let said = asked(spelling, &given).unwrap().unwrap_err();
        let expected = format!(
            "{deleted_after}: objects that are live or evicted have no time of deletion: leave out {state}, or add `deleted` to it"
        );
        assert!(said.ends_with(&expected), "{said}");
    }
}

/// Some keys in any order, with values that are rarely wrong.
fn given() -> impl Strategy<Value = Vec<KeyValues>> {
    let keys = subsequence(AskKey::all().iter().collect::<Vec<_>>(), 1..6).prop_shuffle();
    let values = |key: &'static AskKey| {
        let most = if matches!(key.meaning(), Meaning::Time { .. } | Meaning::At) { 1 } else { examples(key).len() };
        let right = subsequence(examples(key), 1..=most);
        match mistakes(key) {
            [] => right.prop_map(move |values| (key, values)).boxed(),
            wrong => {
                let wrong = prop::sample::select(wrong).prop_map(|value| vec![value]);
                prop_oneof![12 => right, 1 => wrong].prop_map(move |values| (key, values)).boxed()
            }
        }
    };
    keys.prop_flat_map(move |keys| keys.into_iter().map(values).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_keys_are_one_question_in_every_spelling(given in given()) {
        let _ = same(&given);
    }
}
