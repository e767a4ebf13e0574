use super::{Ask, AskKey, KeyError, Meaning, Spelling};
use crate::query::{Filter, Query, States, Test, parse_list_options};
use ingester_core::value::{Micros, Value};
use proptest::prelude::*;
use proptest::sample::subsequence;
use std::path::Path;

fn key(name: &str) -> &'static AskKey {
    AskKey::named(Spelling::Command, name).unwrap_or_else(|| panic!("no key {name}"))
}

fn asked(spelling: Spelling, given: &[(&str, &str)]) -> Result<Ask, KeyError> {
    let mut ask = Ask::new(spelling);
    for (name, value) in given {
        let key = key(name);
        let values: Vec<&str> = if key.is_list() { value.split(',').collect() } else { vec![*value] };
        ask.set(key, &values)?;
    }
    Ok(ask)
}

fn query(given: &[(&str, &str)]) -> Result<Query, KeyError> {
    asked(Spelling::Command, given)?.query()
}

/// The query that the options `own` make of a saved query with the keys `saved`.
fn within(own: &[(&str, &str)], saved: &[(&str, &str)]) -> Result<Query, KeyError> {
    asked(Spelling::Command, own)?.within(asked(Spelling::Saved, saved)?)
}

const LIVE_AND_DELETED: States = States { live: true, evicted: false, deleted: true };

#[test]
fn states_follow_from_the_other_keys() {
    let states = |given: &[(&str, &str)]| query(given).unwrap().states;
    assert_eq!(states(&[]), States::default());
    assert_eq!(states(&[("created-after", "7d")]), States::default());
    assert_eq!(states(&[("uid", "a")]), States::ALL);
    assert_eq!(states(&[("deleted-after", "30d")]), States::DELETED);
    assert_eq!(states(&[("uid", "a"), ("deleted-before", "30d")]), States::DELETED);
    assert_eq!(states(&[("deleted-after", "30d"), ("state", "all")]), States::ALL);
    assert_eq!(states(&[("uid", "a"), ("state", "live")]), States::LIVE);
}

#[test]
fn a_time_of_deletion_is_not_asked_of_objects_that_exist() {
    let given = [("state", "live,evicted"), ("deleted-after", "30d"), ("deleted-before", "1d")];
    for (spelling, said) in [
        (
            Spelling::Command,
            "--deleted-after: objects that are live or evicted have no time of deletion: leave out --state, or add `deleted` to it",
        ),
        (
            Spelling::Url,
            "deleted-after: objects that are live or evicted have no time of deletion: leave out `state`, or add `deleted` to it",
        ),
        (
            Spelling::Saved,
            "deletedAfter: objects that are live or evicted have no time of deletion: leave out `states`, or add `deleted` to it",
        ),
    ] {
        for given in [given, [given[2], given[1], given[0]]] {
            assert_eq!(asked(spelling, &given).unwrap().query().unwrap_err().to_string(), said);
        }
    }
}

#[test]
fn states_that_are_named_twice_are_added() {
    let both = query(&[("state", "live"), ("state", "deleted")]).unwrap();
    assert_eq!(both, query(&[("state", "deleted,live")]).unwrap());
    assert_eq!(both.states, LIVE_AND_DELETED);
}

#[test]
fn what_is_wrong_names_the_key_and_what_is_known() {
    let wrong = |name: &str, value: &str| query(&[(name, value)]).unwrap_err().to_string();
    assert_eq!(wrong("state", "gone"), "--state: unknown state `gone`; known: live, evicted, deleted, all");
    assert_eq!(wrong("scan", "maybe"), "--scan: `maybe` is neither true nor false");
    assert!(wrong("sort-by", "name desc").starts_with("--sort-by: order `name desc`, character 5"));
    assert!(wrong("created-after", "soon").starts_with("--created-after: time `soon`: expected"));
    assert!(wrong("selector", "a=(").starts_with("--selector: label selector"));
    let twice = Ask::new(Spelling::Url).set(key("created-after"), &["1d", "2d"]).unwrap_err();
    assert_eq!((twice.to_string().as_str(), twice.what()), ("created-after: it has one value", "it has one value"));
}

#[test]
fn a_question_within_a_saved_query_asks_for_what_both_do() {
    let both = within(
        &[("namespace", "ml,ads"), ("selector", "a"), ("created-after", "7d"), ("state", "live,deleted")],
        &[("namespace", "lab,ml"), ("selector", "b"), ("state", "all"), ("sort-by", "name"), ("scan", "true")],
    );
    let time = Filter::field("create_time", Test::GreaterOrEqual(Value::text("7d")));
    let label = |key: &str| Filter::label(key, Test::Exists);
    let order = query(&[("sort-by", "name")]).unwrap().order;
    let expected = Query {
        namespaces: vec!["ml".into()],
        states: LIVE_AND_DELETED,
        filters: vec![label("a"), time, label("b")],
        order: order.clone(),
        scan: true,
        ..Query::default()
    };
    assert_eq!(both, Ok(expected));
    // The keys of both count together.
    let states = |own: &[(&str, &str)], saved: &[(&str, &str)]| within(own, saved).map(|query| query.states);
    assert_eq!(states(&[], &[("state", "deleted")]), Ok(States::DELETED));
    assert_eq!(states(&[("state", "deleted")], &[]), Ok(States::DELETED));
    assert_eq!(states(&[("deleted-after", "30d")], &[]), Ok(States::DELETED));
    assert_eq!(states(&[("state", "all")], &[("deleted-after", "30d")]), Ok(States::ALL));
    assert_eq!(states(&[("deleted-after", "30d")], &[("state", "all")]), Ok(States::ALL));
    assert_eq!(states(&[("uid", "a")], &[("state", "live")]), Ok(States::LIVE));
    // One order replaces the other.
    assert_eq!(within(&[("sort-by", "name")], &[("sort-by", "uid")]).unwrap().order, order);
}

#[test]
fn a_moment_is_one_and_takes_the_place_of_that_of_a_saved_query() {
    let first = [("at", "2026-01-31")];
    let second = [("at", "2026-02-01T10:00:00Z")];
    let at = |given: &[(&str, &str)]| query(given).unwrap().at.unwrap().by(Micros(0)).rfc3339();
    assert_eq!((at(&first), at(&second)), ("2026-01-31T00:00:00Z".to_owned(), "2026-02-01T10:00:00Z".to_owned()));
    // How long ago it was is counted by the clock of the database, once that is asked.
    assert_eq!(at(&[("at", "1h")]), "1969-12-31T23:00:00Z");
    assert_eq!(within(&first, &second), query(&first));
    assert_eq!(within(&[], &second), query(&second));
    let twice = query(&[first[0], second[0]]).unwrap_err().to_string();
    assert_eq!(twice, "--at: it has one value, and is given twice");
}

#[test]
fn a_question_that_no_object_can_pass_is_refused() {
    for (own, saved, said) in [
        (
            ("namespace", "ml"),
            ("namespace", "lab"),
            "--namespace: no object passes both this and `namespaces` of the saved query",
        ),
        (("uid", "a"), ("uid", "b"), "--uid: no object passes both this and `uids` of the saved query"),
        (
            ("state", "live"),
            ("state", "deleted,evicted"),
            "--state: no object passes both this and `states` of the saved query",
        ),
        (
            ("deleted-after", "7d"),
            ("state", "live"),
            "--deleted-after: no object passes both this and `states` of the saved query",
        ),
        (
            ("state", "live"),
            ("deleted-after", "7d"),
            "--state: no object passes both this and `deletedAfter` of the saved query",
        ),
    ] {
        let error = within(&[own], &[saved]).unwrap_err().to_string();
        assert_eq!(error, format!("{said}: leave one of them out"));
    }
}

#[test]
fn list_options_ask_as_the_keys_do() {
    let options = r#"{"orderBy": [{"field": "create_time", "dir": "SORT_ORDER_DESC"}], "operation": {"criterion": [
        {"fieldName": "label.team", "operator": "CRITERION_OPERATOR_EQUAL", "matchValue":
          {"@type": "type.googleapis.com/google.protobuf.StringValue", "value": "pricing"}},
        {"fieldName": "metadata.name", "operator": "CRITERION_OPERATOR_NOT_EQUAL", "matchValue":
          {"@type": "type.googleapis.com/google.protobuf.StringValue", "value": "a"}}]}}"#;
    let mut by_options = Ask::new(Spelling::Url);
    by_options.list_options(&parse_list_options(options, "Model").unwrap());
    let by_options = by_options.query().unwrap();
    let by_keys =
        query(&[("selector", "team=pricing"), ("field-selector", "metadata.name!=a"), ("sort-by", "-create_time")])
            .unwrap();
    // They are joined there.
    assert_eq!(by_options.filters, [Filter::And(by_keys.filters.clone())]);
    assert_eq!(Query { filters: by_keys.filters.clone(), ..by_options }, by_keys);
}

/// The document's table of keys.
fn documented() -> String {
    let mut table =
        "| command | URL | pseudo-label | saved query | what it asks for |\n|---|---|---|---|---|\n".to_owned();
    for key in AskKey::all() {
        let cell = |spelling: Spelling| match (key.name(spelling), spelling) {
            (None, _) => "| ".to_owned(),
            (Some(name), Spelling::Command) => format!("| `--{name}` "),
            (Some(name), _) => format!("| `{name}` "),
        };
        let names = Spelling::ALL.map(cell).concat();
        table.push_str(&format!("{names}| {} |\n", key.about(Spelling::Url)));
    }
    table
}

#[test]
fn the_document_has_the_table_of_keys() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/queries.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let table = documented();
    let (header, _) = table.split_once('\n').unwrap();
    let (before, rest) = text.split_once(header).expect("a table of keys");
    let (written, after) = rest.split_once("\n\n").unwrap();
    if std::env::var_os("INGESTER_UPDATE").is_some() {
        std::fs::write(&page, format!("{before}{table}\n{after}")).unwrap();
        return;
    }
    let written = format!("{header}{written}\n");
    assert_eq!(written, table, "`INGESTER_UPDATE=1 cargo test -p ingester-sql table_of_keys` writes docs/queries.md");
}

/// A key with values that are right and, less often, wrong.
fn value(key: &'static AskKey) -> BoxedStrategy<String> {
    let among = |values: &'static [&'static str]| {
        subsequence(values, 1..=values.len()).prop_map(|values| values.join(",")).boxed()
    };
    match key.meaning() {
        Meaning::Namespaces => among(&["ml", "lab", "ads"]),
        Meaning::Uids => among(&["a", "b", "c"]),
        Meaning::States => among(&["live", "evicted", "deleted"]),
        Meaning::Labels => among(&["team=pricing", "!old", "n>5"]),
        Meaning::Fields => among(&["metadata.name=a", "spec.owner.name!=", "create_time<in 30d"]),
        Meaning::Time { .. } => {
            prop::sample::select(vec!["7d", "2h ago", "in 30d", "2026-01-31", "soon"]).prop_map_into().boxed()
        }
        // A time relative to now would be another moment each time.
        Meaning::At => prop::sample::select(vec!["2026-01-31", "2026-01-31T10:00:00Z", "soon"]).prop_map_into().boxed(),
        Meaning::Order => among(&["-create_time", "name", ".spec.owner.name"]),
        Meaning::Scan => prop::sample::select(vec!["true", "false", "maybe"]).prop_map_into().boxed(),
    }
}

/// Some keys, each with its value.
fn given() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    subsequence(AskKey::all().iter().collect::<Vec<_>>(), 0..6).prop_flat_map(|keys| {
        let one = |key: &'static AskKey| {
            value(key).prop_map(|value| (key.name(Spelling::Command).unwrap_or_default(), value)).boxed()
        };
        keys.into_iter().map(one).collect::<Vec<_>>()
    })
}

fn borrowed<'g>(given: &'g [(&'static str, String)]) -> Vec<(&'static str, &'g str)> {
    given.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

proptest! {
    #[test]
    fn the_order_of_keys_makes_no_difference(given in given(), turned in 0..6_usize) {
        let mut other = borrowed(&given);
        other.rotate_left(turned.min(given.len()));
        other.reverse();
        match (query(&borrowed(&given)), query(&other)) {
            (Ok(one), Ok(other)) => prop_assert_eq!(one, other),
            (one, other) => prop_assert!(one.is_err() && other.is_err(), "{:?} {:?}", one, other),
        }
    }

    #[test]
    fn a_query_asks_for_no_state_that_no_key_means(given in given()) {
        let has = |name: &str| given.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_str());
        if let Ok(Query { states, uids, .. }) = query(&borrowed(&given)) {
            prop_assert!(states != States::NONE);
            prop_assert_eq!(uids.is_empty(), has("uid").is_none());
            let of_deleted = has("deleted-after").is_some() || has("deleted-before").is_some();
            let named = has("state").is_some_and(|named| named.contains("deleted"));
            prop_assert!(!states.deleted || named || of_deleted || has("uid").is_some());
            prop_assert!(!of_deleted || states.deleted);
        }
    }

    #[test]
    fn a_question_within_one_that_says_nothing_is_itself(given in given()) {
        let given = borrowed(&given);
        if let Ok(alone) = query(&given) {
            prop_assert_eq!(within(&given, &[]), Ok(alone.clone()));
            prop_assert_eq!(within(&[], &given), Ok(alone));
        }
    }
}
