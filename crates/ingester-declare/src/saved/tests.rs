use super::{BindError, BoundQuery, SavedQueries, SavedQuery};
use crate::fixture::MODEL;
use crate::text::Fault;
use ingester_core::kind::{Definition, Kind};
use ingester_core::value::Value;
use ingester_sql::dialect::statements::Select;
use ingester_sql::dialect::{Dialect, GroupFilter, Range, Statement as _};
use ingester_sql::query::{Ask, AskKey, Filter, Order, Query, Spelling, States, Test};
use proptest::prelude::*;
use serde_json::json;

const KINDS: &[Kind] = &[MODEL];

fn parse(text: &str) -> Result<SavedQueries, String> {
    let file = ("a.yaml".to_owned(), text.to_owned());
    SavedQueries::parse([file], KINDS).map_err(|error| error.to_string())
}

/// The query of a file that has these lines after its name and its kind.
#[track_caller]
fn saved(lines: &str) -> SavedQuery {
    let queries = parse(&format!("name: a\nkind: Model\n{lines}")).unwrap();
    queries.get("a").unwrap().clone()
}

/// The mistakes in these lines, without the file's name and their numbers.
#[track_caller]
fn mistakes(lines: &str) -> Vec<String> {
    let file = ("a.yaml".to_owned(), format!("name: a\nkind: Model\n{lines}"));
    let mistakes = SavedQueries::parse([file], KINDS).unwrap_err().mistakes;
    mistakes.into_iter().map(|mistake| Fault { line: None, ..mistake.fault }.to_string()).collect()
}

fn given(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn bind(query: &SavedQuery, pairs: &[(&str, &str)]) -> Result<BoundQuery, String> {
    query.bind(&given(pairs)).map_err(|error| error.to_string())
}

fn text_value(text: &str) -> Value {
    Value::text(text)
}

#[test]
fn a_file_is_a_query_with_values_for_its_parameters() {
    let query = saved(
        r#"
description: |
  Models of a team.
parameters:
- {name: team, type: string, description: Whose they are.}
- {name: after, type: time, default: 7d}
- {name: before, type: time, default: "2999-01-01"}
- {name: names, type: list, default: []}
- {name: version, type: integer, default: 0}
- {name: old, type: boolean, default: false}
- {name: most, type: integer, default: 10}
- {name: namespace, type: string, default: ml}
namespaces: ["${namespace}", ads]
states: [live, deleted]
filter:
  all:
  - {label: team, equals: "${team}"}
  - {field: metadata.creationTimestamp, greaterOrEqual: "${after}", less: "${before}"}
  - any:
    - {field: name, in: "${names}"}
    - {field: name, notIn: [x, "${team}"]}
    - {field: res_version, greater: "${version}", lessOrEqual: 9, notEquals: 3}
  - not: {annotation: note, like: "%a_"}
  - {label: old, exists: "${old}"}
  - {field: namespace, empty: false}
labelSelector: stage in (dev, test),!draft
fieldSelector: metadata.name!=b
orderBy: [-create_time, .metadata.name]
limit: ${most}
"#,
    );
    assert_eq!((query.name(), query.description(), query.kind().kind()), ("a", "Models of a team.", "Model"));
    let BoundQuery { kind, query: asked, limit } =
        bind(&query, &[("team", "pricing"), ("names", r"a,b\,c"), ("names", "d"), ("old", "true")]).unwrap();
    assert_eq!((kind.table().name.as_str(), limit), ("model", Some(10)));
    let field = Filter::field;
    let names = ["a", "b,c", "d"].map(text_value).to_vec();
    let expected = Query {
        namespaces: vec!["ml".into(), "ads".into()],
        states: States { evicted: false, ..States::ALL },
        filters: vec![
            Filter::And(vec![
                Filter::label("team", Test::Equal(text_value("pricing"))),
                Filter::And(vec![
                    field("metadata.creationTimestamp", Test::Less(text_value("2999-01-01"))),
                    field("metadata.creationTimestamp", Test::GreaterOrEqual(text_value("7d"))),
                ]),
                Filter::Or(vec![
                    field("name", Test::In(names)),
                    field("name", Test::In(vec![text_value("x"), text_value("pricing")])).negated(),
                    Filter::And(vec![
                        field("res_version", Test::Equal(Value::Int(3))).negated(),
                        field("res_version", Test::LessOrEqual(Value::Int(9))),
                        field("res_version", Test::Greater(Value::Int(0))),
                    ]),
                ]),
                Filter::Annotation { key: "note".into(), test: Test::Like("%a_".into()) }.negated(),
                Filter::label("old", Test::Exists),
                field("namespace", Test::Empty).negated(),
            ]),
            Filter::label("stage", Test::In(vec![text_value("dev"), text_value("test")])),
            Filter::label("draft", Test::Exists).negated(),
            field("metadata.name", Test::Equal(text_value("b"))).negated(),
        ],
        order: vec![
            Order { field: "create_time".into(), descending: true },
            Order { field: "metadata.name".into(), descending: false },
        ],
        ..Query::default()
    };
    assert_eq!(asked, expected);
}

#[test]
fn a_query_without_anything_else_asks_for_what_exists() {
    for lines in ["", "filter:\nstates: ~\nparameters: []"] {
        let BoundQuery { query, limit, .. } = bind(&saved(lines), &[]).unwrap();
        assert_eq!((query, limit), (Query::default(), None), "{lines}");
    }
    // JSON is YAML.
    let queries = parse(r#"{"name": "a", "kind": "Model", "states": "all", "orderBy": "-name", "limit": 5}"#).unwrap();
    let bound = bind(queries.get("a").unwrap(), &[]).unwrap();
    assert_eq!((bound.query.states, bound.query.order.len(), bound.limit), (States::ALL, 1, Some(5)));
}

#[test]
fn the_keys_of_every_question_are_those_of_a_file() {
    let query = saved(
        "parameters: [{name: after, type: time}, {name: uids, type: list, default: [a]}]\n\
         uids: ${uids}\ndeletedAfter: ${after}\ncreatedBefore: '2026-01-31'\nlabelSelector: [team=a, '!old']\n\
         filter: {label: x, exists: true}",
    );
    let asked = bind(&query, &[("after", "30d"), ("uids", "b,c")]).unwrap().query;
    let label = |key: &str| Filter::label(key, Test::Exists);
    let expected = Query {
        uids: vec!["b".into(), "c".into()],
        states: States::DELETED,
        filters: vec![
            label("x"),
            Filter::label("team", Test::Equal(text_value("a"))),
            label("old").negated(),
            Filter::field("create_time", Test::Less(text_value("2026-01-31"))),
            Filter::field("delete_time", Test::GreaterOrEqual(text_value("30d"))),
        ],
        ..Query::default()
    };
    assert_eq!(asked, expected);
}

#[test]
fn a_saved_query_is_narrowed_by_what_else_is_asked() {
    let query = saved("states: deleted\nnamespaces: [ml, ads]");
    let bind = |option: &str, value: &str| {
        let mut ask = Ask::new(Spelling::Command);
        ask.set(AskKey::named(Spelling::Command, option).unwrap(), &[value]).unwrap();
        query.bind_within(&[], ask).map(|bound| bound.query).map_err(|error| error.to_string())
    };
    let states = States::DELETED;
    let namespaces = vec!["ml".to_owned()];
    let narrowed = Query { states, namespaces, ..Query::default() };
    assert_eq!(bind("namespace", "ml"), Ok(narrowed));
    let apart = "no object passes both this and `states` of the saved query: leave one of them out";
    assert_eq!(bind("state", "live"), Err(format!("--state: {apart}")));
}

#[test]
fn all_mistakes_of_all_files_are_found_at_once_with_their_places() {
    let files = [
        ("one.yaml", "name: A b\nkind: Modl\nfiltr: 1"),
        ("two.yaml", "kind: Model\nlimit: 0\nfilter: {all: [{field: create_tim, exists: true}, {label: a}]}"),
        ("three.yaml", "name: x\nkind: Model"),
        ("four.yaml", "name: x\nkind: Model"),
        ("five.yaml", "name: x\nkind: [\n"),
        ("six.yaml", "# nothing"),
        ("seven.yaml", "name: b\nkind: Model\n---\nname: c\nkind: Model"),
        ("eight.yaml", "name: d\nname: e\nkind: Model"),
        ("nine.yaml", "a query"),
    ];
    let files = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let error = SavedQueries::parse(files, KINDS).unwrap_err();
    let said: Vec<String> = error.mistakes.iter().map(ToString::to_string).collect();
    let expected = [
        "one.yaml line 3: filtr: unknown key `filtr`; did you mean `filter`?",
        "one.yaml line 1: name: expected lower-case letters, digits and `-`, 63 at most, with a letter or a digit at both ends, found `A b`",
        "one.yaml line 2: kind: unknown kind `Modl`, did you mean `Model`?",
        "two.yaml line 1: `name` is missing: lower-case letters, digits and `-`",
        "two.yaml line 3: filter.all[0]: model has no column for the field `create_tim`; did you mean `create_time`?",
        "two.yaml line 3: filter.all[1]: expected a test: equals, notEquals, less, lessOrEqual, greater, greaterOrEqual, in, notIn, like, exists, empty",
        "two.yaml line 2: limit: expected a whole number from 1 to 4294967295, found `0`",
        "four.yaml line 1: name: the query `x` is in three.yaml, too",
        "five.yaml line 2: column 7: ",
        "six.yaml line 1: expected a map, found nothing",
        "seven.yaml line 3: column 1: a second document begins here; a file has one",
        "eight.yaml line 2: name: the key `name` is there twice, first on line 1; remove one of them",
        "nine.yaml line 1: expected a map, found `a query`",
    ];
    assert_eq!(said.len(), expected.len(), "{said:#?}");
    for (said, expected) in said.iter().zip(expected) {
        assert!(said.starts_with(expected), "{said}\n{expected}");
    }
    let shown = error.to_string();
    assert!(shown.starts_with("13 mistakes in saved queries\n  one.yaml line 3: "), "{shown}");
}

#[test]
fn what_does_not_fit_the_table_is_named_with_its_place() {
    for (lines, expected) in [
        ("filter: {field: create_time, less: soon}", "filter: `create_time` is DATETIME(6): `soon` is not a time"),
        ("filter: {field: name, equals: 5}", "filter: `name` is VARCHAR(256): `5` is not a text"),
        (
            "filter: {not: {field: create_time, like: 2026%}}",
            "filter.not: `create_time` cannot be compared with a pattern",
        ),
        ("filter: {label: a, equals: true}", "filter: `a` is a label or annotation: `true` is not a text"),
        ("orderBy: [name, json]", "orderBy[1]: `json` cannot be sorted by"),
        ("orderBy: name desc", "orderBy: order `name desc`, character 5"),
        ("labelSelector: a in (", "labelSelector: label selector `a in (`, at its end"),
        ("fieldSelector: spec.x=1", "fieldSelector: model has no column for the field `spec.x`"),
        ("limit: many", "limit: expected a whole number from 1 to 4294967295, found `many`"),
        ("states: [live, gone]", "states[1]: unknown state `gone`; known: live, evicted, deleted, all"),
        ("states: []", "states: expected a state"),
        ("namespaces: ml", "namespaces: expected a list, or a parameter that is one"),
        ("namespaces: [5]", "namespaces: expected a text, found `5`"),
        ("uids: [5]", "uids: expected a text, found `5`"),
        ("createdAfter: soon", "createdAfter: time `soon`: expected a time such as `2026-01-31T10:00:00Z`"),
        ("createdAfter: 7", "createdAfter: expected a text, found `7`"),
        ("createdAfter: [7d]", "createdAfter: expected a value, found a list"),
        ("created-after: 7d", "created-after: unknown key `created-after`; did you mean `createdAfter`?"),
        (
            "states: [live, evicted]\ndeletedAfter: 30d",
            "deletedAfter: objects that are live or evicted have no time of deletion: leave out `states`, or add `deleted` to it",
        ),
        ("scan: maybe", "scan: expected true or false, found `maybe`"),
        ("apiVersion: v1", "apiVersion: expected `michelangelo.api/v2`, found `v1`"),
        ("filter: []", "filter: expected a map, found a list"),
        ("filter: {any: []}", "filter.any: expected a list of filters"),
        (
            "filter: {field: name, label: a, exists: true}",
            "filter: expected exactly one of all, any, not, field, label, annotation",
        ),
        (
            "filter: {all: [{label: a, exists: true}], equals: 5}",
            "filter.equals: `equals` tests a field, a label or an annotation, not `all`",
        ),
        ("filter: {label: a, exists: 5}", "filter.exists: expected true or false, found `5`"),
        ("filter: {label: a, like: 5}", "filter.like: a pattern is a text, not `5`"),
        ("filter: {label: a, in: b}", "filter.in: expected a list, or a parameter that is one"),
        ("filter: {label: a, equals: [b]}", "filter.equals: expected a value, found a list"),
        ("filter: {label: 5, exists: true}", "filter.label: expected a text (in quotes), found `5`"),
        ("filter: {label: a, exist: true}", "filter.exist: unknown key `exist`; did you mean `exists`?"),
    ] {
        let said = mistakes(lines);
        assert!(said[0].starts_with(expected), "{lines}\n{said:?}\n{expected}");
    }
    assert!(bind(&saved("scan: true\nfieldSelector: spec.x=1"), &[]).unwrap().query.scan);
    let deep = (0..70).fold("{label: a, exists: true}".to_owned(), |inner, _| format!("{{all: [{inner}]}}"));
    assert_eq!(mistakes(&format!("filter: {deep}")), ["nested deeper than 120 levels"]);
    let many = vec!["a"; 20_000].join(", ");
    let said = mistakes(&format!("filter: {{label: a, in: [{many}]}}"));
    assert_eq!(said, ["filter: the query is too large: it has 20001 terms, and at most 20000 are possible"]);
}

#[test]
fn mistakes_about_parameters_are_named_with_their_places() {
    let one = |ty: &str| format!("parameters: [{{name: x, type: {ty}}}]\n");
    for (lines, expected) in [
        (one("string"), "parameters[0]: `${x}` is used nowhere"),
        (one("text"), "parameters[0].type: expected one of string, integer, number, boolean, time, list, found `text`"),
        ("parameters: {x: string}".into(), "parameters: expected a list, found a map"),
        (
            "parameters: [{name: 5x, type: string}]".into(),
            "parameters[0].name: expected a letter, then letters, digits",
        ),
        ("parameters: [{name: x}]".into(), "parameters[0]: `type` is missing: one of string, integer"),
        (
            "parameters: [{name: x, type: string, default: 5}]".into(),
            "parameters[0].default: expected a text (in quotes), found `5`",
        ),
        ("parameters: [{name: x, type: time, default: soon}]".into(), "parameters[0].default: expected a time such as"),
        ("parameters: [{name: x, type: list, default: [5]}]".into(), "parameters[0].default: expected a list of texts"),
        (
            "parameters: [{name: x, type: integer, default: 0.5}]".into(),
            "parameters[0].default: expected a whole number",
        ),
        (
            one("string") + "filter: {label: a, in: ['${x}', '${colour}']}",
            "filter.in[1]: the query has no parameter `colour`; it has: x",
        ),
        (
            one("string") + "filter: {label: a, equals: 'a-${x}'}",
            "filter.equals: `a-${x}`: a parameter is a whole value",
        ),
        (one("string") + "filter: {label: a, in: '${x}'}", "filter.in: expected a list, or a parameter that is one"),
        (one("list") + "filter: {label: a, equals: '${x}'}", "filter.equals: this parameter is a list"),
        (one("list") + "filter: {label: a, in: ['${x}']}", "filter.in[0]: this parameter is a list"),
        (one("string") + "filter: {label: '${x}', equals: '${x}'}", "filter.label: `${x}`: only a value of `filter`"),
        (one("string") + "labelSelector: 'a=${x}'", "labelSelector: `a=${x}`: only a value of `filter`"),
        (one("string") + "orderBy: ['${x}']", "orderBy[0]: `${x}`: only a value of `filter`"),
        (one("string") + "states: ['${x}']", "states[0]: `${x}`: only a value of `filter`"),
        (one("list") + "deletedAfter: ${x}", "deletedAfter: this parameter is a list"),
        (
            one("string") + "deletedAfter: ${x}",
            "deletedAfter: time `${x}`: expected a time such as `2026-01-31T10:00:00Z`, `2026-01-31`, `now`, `7d` or `7d ago` for that long ago, \
             or `in 7d` (`${x}` is of the type string)",
        ),
        (one("string") + "limit: ${x}", "limit: expected a whole number from 1 to 4294967295, found `${x}`"),
        (
            one("string") + "filter: {field: create_time, less: '${x}'}",
            "filter: `create_time` is DATETIME(6): `${x}` is not a time such as `2026-01-31T10:00:00Z`, `2026-01-31`, `now`, `7d` or `7d ago` \
             for that long ago, or `in 7d` (`${x}` is of the type string)",
        ),
        (
            one("integer") + "filter: {field: name, equals: '${x}'}",
            "filter: `name` is VARCHAR(256): `1` is not a text (`${x}` is of the type integer)",
        ),
        (
            "parameters: [{name: x, type: integer, default: -1}]\nfilter: {field: res_version, equals: '${x}'}".into(),
            "filter: `res_version` is BIGINT UNSIGNED: `-1` is not a whole number from 0",
        ),
    ] {
        let said = mistakes(&lines);
        assert!(said[0].starts_with(expected), "{lines}\n{said:?}\n{expected}");
    }
    // A declaration that cannot be read does not make each use a second mistake, and hides no other mistake.
    let said = mistakes(&(one("text") + "filter: {all: [{label: a, equals: '${x}'}, {field: nam, equals: a}]}"));
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[1].ends_with("did you mean `name`?"), "{said:?}");
    let twice = "parameters: [{name: x, type: string}, {name: x, type: time}]\nfilter: {label: a, equals: '${x}'}";
    assert_eq!(mistakes(twice)[0], "parameters[1]: a second parameter is called `x`");
}

#[test]
fn a_dollar_and_a_brace_are_written_with_two_dollars() {
    for (written, meant) in
        [("a-$${x}", "a-${x}"), ("$${x}", "${x}"), ("$$${x}", "$${x}"), ("$x {y} $", "$x {y} $"), ("$$", "$$")]
    {
        let query = saved(&format!("filter: {{label: a, equals: '{written}'}}"));
        let asked = bind(&query, &[]).unwrap().query;
        assert_eq!(asked.filters, [Filter::label("a", Test::Equal(text_value(meant)))], "{written}");
    }
    for mixed in ["${x", "${}", "${x}${x}", "${ x}", "a${x}", "${x}a", "$${x}${x}"] {
        let said = mistakes(&format!(
            "parameters: [{{name: x, type: string}}]\nfilter: {{label: a, in: ['{mixed}', '${{x}}']}}"
        ));
        assert_eq!(said.len(), 1);
        assert!(said[0].starts_with(&format!("filter.in[0]: `{mixed}`: a parameter is a whole value")), "{said:?}");
    }
}

#[test]
fn parameters_are_bound_or_refused_by_name() {
    let query = saved(
        "parameters: [{name: team, type: string}, {name: number, type: integer}, {name: since, type: time, default: 7d},\n\
           {name: old, type: boolean, default: false}, {name: teams, type: list, default: ['a,b', 'c\\d']}]\n\
         filter: {all: [{label: t, equals: '${team}'}, {field: res_version, less: '${number}'}, {label: s, in: '${teams}'},\n\
           {label: old, exists: '${old}'}, {field: create_time, less: '${since}'}]}",
    );
    for (pairs, expected) in [
        (&[][..], "the query needs the parameter `team`, a text, and the parameter `number`, a whole number"),
        (&[("team", "a")], "the query needs the parameter `number`, a whole number"),
        (&[("tema", "a")], "the query has no parameter `tema`, did you mean `team`?"),
        (&[("colour", "a")], "the query has no parameter `colour`; it has: team, number, since, old, teams"),
        (&[("team", "a"), ("team", "b")], "the parameter `team` is given twice, but is not a list"),
        (&[("number", "1.5")], "the parameter `number`: `1.5` is not a whole number"),
        (&[("number", "")], "the parameter `number`: `` is not a whole number"),
        (&[("number", "99999999999999999999")], "the parameter `number`: `99999999999999999999` is not a whole number"),
        (&[("since", "soon")], "the parameter `since`: `soon` is not a time such as"),
        (&[("old", "yes")], "the parameter `old`: `yes` is not `true` or `false`"),
        (&[("teams", r"a\b")], r"the parameter `teams`: `a\b` is not a list of texts with commas between them"),
        (
            &[("team", "a"), ("number", "-1")],
            "filter.all[1]: `res_version` is BIGINT UNSIGNED: `-1` is not a whole number from 0 to 9223372036854775807",
        ),
    ] {
        let said = bind(&query, pairs).unwrap_err();
        assert!(said.starts_with(expected), "{pairs:?}\n{said}");
    }
    assert!(matches!(query.bind(&given(&[("x", "1")])), Err(BindError::Unknown { .. })));
    // A default is given as its text.
    let defaults: Vec<Option<String>> = query.parameters().iter().map(super::Parameter::default_text).collect();
    assert_eq!(defaults.iter().flatten().collect::<Vec<_>>(), ["7d", "false", r"a\,b,c\\d"]);
    let pairs = [("team", "a"), ("number", "5"), ("teams", r"a\,b,c\\d")];
    assert_eq!(bind(&query, &pairs).unwrap().query, bind(&query, &pairs[..2]).unwrap().query);
    let empty = bind(&query, &[("team", ""), ("number", "5"), ("teams", "")]).unwrap().query;
    let Filter::And(filters) = &empty.filters[0] else { panic!("{empty:?}") };
    assert_eq!(filters[0], Filter::label("t", Test::Equal(text_value(""))));
    assert_eq!(filters[2], Filter::label("s", Test::In(Vec::new())));
}

#[test]
fn a_query_is_found_by_its_name() {
    let file = |name: &str| (format!("{name}.yaml"), format!("name: {name}\nkind: Model"));
    let queries = SavedQueries::parse([file("newest"), file("all")], KINDS).unwrap();
    assert_eq!(queries.iter().map(SavedQuery::name).collect::<Vec<_>>(), ["all", "newest"]);
    assert_eq!(queries.get("newest").unwrap().name(), "newest");
    let said = |name: &str| queries.get(name).unwrap_err().to_string();
    assert_eq!(said("newst"), "unknown saved query `newst`, did you mean `newest`?");
    assert_eq!(said("x"), "unknown saved query `x`; known: all, newest");
    let none = SavedQueries::default().get("x").unwrap_err().to_string();
    assert_eq!(none, "unknown saved query `x`; known: none");
}

#[test]
fn kinds_of_one_name_are_told_apart_by_their_version() {
    let other = Kind::new(Definition { group: "example.com", ..*MODEL.definition() }, *MODEL.functions());
    let kinds = [MODEL, other];
    let of = |lines: &str| {
        let file = ("a.yaml".to_owned(), format!("name: a\nkind: Model\n{lines}"));
        let queries = SavedQueries::parse([file], &kinds).map_err(|error| error.to_string())?;
        Ok(queries.get("a").unwrap().kind().api_version())
    };
    assert_eq!(of("apiVersion: example.com/v2"), Ok("example.com/v2".to_owned()));
    assert_eq!(of("apiVersion: michelangelo.api/v2"), Ok("michelangelo.api/v2".to_owned()));
    let versions = "`michelangelo.api/v2` or `example.com/v2`";
    assert_eq!(
        of(""),
        Err(format!("a.yaml line 2: kind: several kinds have this name: add the `apiVersion` {versions}"))
    );
}

#[test]
fn queries_are_listed_as_kubernetes_objects() {
    let text = "name: a\ndescription: All.\nkind: Model\nparameters: [{name: x, type: string, default: z}]\n\
                filter: {label: t, equals: '${x}'}\nlimit: 3";
    assert_eq!(
        parse(text).unwrap().to_json(),
        json!({
            "apiVersion": "mirror.michelangelo.api/v1",
            "kind": "QueryList",
            "metadata": {},
            "items": [{
                "apiVersion": "mirror.michelangelo.api/v1",
                "kind": "Query",
                "metadata": {"name": "a"},
                "spec": {
                    "description": "All.",
                    "kind": "Model",
                    "apiVersion": "michelangelo.api/v2",
                    "parameters": [{"name": "x", "type": "string", "default": "z"}],
                    "filter": {"label": "t", "equals": "${x}"},
                    "limit": 3,
                },
            }],
        })
    );
}

/// The statement that asks a query, in each dialect.
fn statements(query: &Query) -> Vec<String> {
    let checked = query.check(MODEL.table()).unwrap();
    let group = GroupFilter::new(MODEL.group());
    let range = Range { null: None, after: None };
    let select = Select::new(&checked, &group, &[], (&range, ingester_sql::query::Route::Free), 10, 1000);
    Dialect::ALL.map(|dialect| select.sql(dialect).as_str().to_owned()).to_vec()
}

proptest! {
    #[test]
    fn no_value_of_a_parameter_becomes_sql(value in "['\"`;\\\\% _$?{}a\\-\0é]{0,24}") {
        let query = saved(
            "parameters: [{name: x, type: string}, {name: list, type: list}]\nnamespaces: ['${x}']\n\
             filter: {any: [{field: name, equals: '${x}'}, {field: name, like: '${x}'}, {field: name, in: '${list}'},\n\
               {label: a, notEquals: '${x}'}, {annotation: a, greater: '${x}'}]}",
        );
        let list = value.replace('\\', r"\\").replace(',', r"\,");
        let asked = bind(&query, &[("x", &value), ("list", &list)]).unwrap().query;
        let harmless = bind(&query, &[("x", "a"), ("list", "a")]).unwrap().query;
        let same = if value.is_empty() { bind(&query, &[("x", "a"), ("list", "")]).unwrap().query } else { harmless };
        prop_assert_eq!(statements(&asked), statements(&same));
        prop_assert_eq!(&asked.namespaces, &[value]);
    }

    #[test]
    fn any_text_is_a_query_or_an_error(text in "[-a-c:,{}\\[\\]'\" \n$#&*!|>0-9]{0,60}") {
        let _ = parse(&format!("name: a\nkind: Model\n{text}"));
        let _ = parse(&text);
    }
}
