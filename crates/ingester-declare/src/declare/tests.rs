use super::{KindsFile, kinds, kinds_of, scaffold_rust_of};
use ingester_core::kind::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::value::Value;
use ingester_sql::query::{Query, parse_field_selector, parse_order};
use std::io;

fn nothing(file: &str) -> io::Result<Vec<u8>> {
    Err(io::Error::new(io::ErrorKind::NotFound, format!("there is no {file}")))
}

/// The CRD of a kind of example.com. `properties` is the YAML of its objects' properties: a line break, then lines indented by ten spaces.
pub(super) fn crd_of(kind: &str, properties: &str) -> String {
    let plural = format!("{}s", kind.to_lowercase());
    format!(
        "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {plural}.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{kind: {kind}, plural: {plural}}}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:{properties}"
    )
}

fn one(columns: &str) -> Kind {
    let text = format!(
        "kinds:\n- group: example.com\n  version: v1\n  kind: Job\n  namespaced: true\n  strict: true\n  columns:\n{columns}"
    );
    match kinds("kinds.yaml", &text, &nothing) {
        Ok(file) => file.kinds[0],
        Err(error) => panic!("{error}"),
    }
}

fn object(members: &str) -> Object {
    let text = format!(
        r#"{{"apiVersion": "example.com/v1", "kind": "Job", "metadata": {{"name": "a", "uid": "u", "generation": 7,
            "resourceVersion": "1", "labels": {{"group-name": "kubedl.io"}},
            "annotations": {{"kubedl.io/tenancy": "{{\"tenant\": \"t\", \"list\": [null, 2, 3]}}", "broken": "{{"}}}}, {members}}}"#
    );
    Object::parse(text, ManagedFields::Prune).unwrap()
}

/// The indexed values of an object, or why there are none.
fn values(kind: Kind, members: &str) -> Result<Vec<Value>, String> {
    let object = object(members);
    let mut values = ingester_core::value::Values::with_capacity(8);
    match kind.functions().decode.decode(&object, &mut values) {
        Ok(true) => Ok(values.into_vec()),
        Ok(false) => Err("left out".into()),
        Err(error) => Err(error.to_string()),
    }
}

fn value(path: &str, ty: &str, members: &str) -> Result<Value, String> {
    let kind = one(&format!("  - {{column: c, path: '{path}', type: {ty}, key: false}}\n"));
    values(kind, members).map(|mut values| values.remove(0))
}

const STATUS: &str = r#""spec": {"owner": {"name": "ann"}, "replicas": 3, "size": "7", "suspend": false, "ratio": 0.5, "none": null,
    "tags": ["b", null, "A"], "ports": {"x": 1, "y": 2}, "text": "Mixed", "start": "2026-03-09T20:36:46.25Z",
    "containers": [{"name": "main", "cpu": "500m"}, {"name": "side", "cpu": 1}, {"name": "last"}]},
    "status": {"conditions": [{"type": "Created", "status": "True"}, {"status": "False", "type": "Running", "at": "first"},
        {"type": "Running", "at": "second"}, {"type": "Failed", "status": "True"}]}"#;

#[test]
fn a_path_finds_what_it_says() {
    let text = |text: &str| Ok(Value::text(text));
    for (path, ty, wanted) in [
        (".spec.owner.name", "VARCHAR(255)", text("ann")),
        (".spec.replicas", "INT", Ok(Value::Int(3))),
        (".spec.size", "BIGINT", Ok(Value::Int(7))),
        (".spec.size", "BIGINT UNSIGNED", Ok(Value::UInt(7))),
        (".spec.suspend", "BOOLEAN", Ok(Value::Bool(false))),
        (".spec.ratio", "DOUBLE", Ok(Value::Double(0.5))),
        (".spec.none.below", "INT", Ok(Value::Null)),
        (".spec.nobody.has.this", "INT", Ok(Value::Null)),
        (".nothing", "INT", Ok(Value::Null)),
        (".status.conditions[0].type", "TEXT", text("Created")),
        (".status.conditions[-1].type", "TEXT", text("Failed")),
        (".status.conditions[-4].type", "TEXT", text("Created")),
        (".status.conditions[-5].type", "TEXT", Ok(Value::Null)),
        (".status.conditions[4].type", "TEXT", Ok(Value::Null)),
        (".status.conditions[type=Running].at", "TEXT", text("first")),
        (".status.conditions[status=\"True\"].type", "TEXT", text("Created")),
        (".status.conditions[type=Gone].at", "TEXT", Ok(Value::Null)),
        (".spec.tags[1]", "TEXT", text("A")),
        (".spec.tags[*] | join(\"+\")", "TEXT", text("b+A")),
        (".spec.tags[*] | join(\"+\") | lower", "TEXT", text("b+a")),
        (".spec.tags[*] | count", "INT", Ok(Value::Int(2))),
        (".spec.ports[*] | sum", "INT", Ok(Value::Int(3))),
        (".spec.containers[*].cpu | quantity | sum", "DOUBLE", Ok(Value::Double(1.5))),
        (".spec.containers[*].cpu | quantity | sum", "BIGINT", Ok(Value::Int(2))),
        (".spec.containers[*].cpu | quantity | sum", "VARCHAR(20)", text("1.5")),
        (".spec.containers[*].cpu | exists", "BOOLEAN", Ok(Value::Bool(true))),
        (".spec.volumes[*] | exists", "BOOLEAN", Ok(Value::Bool(false))),
        (".spec.none | exists", "BOOLEAN", Ok(Value::Bool(false))),
        (".spec.replicas | text", "TEXT", text("3")),
        (".spec.suspend | text", "TEXT", text("false")),
        (".spec.text | lower", "TEXT", text("mixed")),
        (".metadata.generation", "BIGINT", Ok(Value::Int(7))),
        (".metadata.labels[\"group-name\"]", "TEXT", text("kubedl.io")),
        (".metadata.annotations[\"kubedl.io/tenancy\"] | json .tenant", "TEXT", text("t")),
        (".metadata.annotations[\"kubedl.io/tenancy\"] | json .list[-1]", "INT", Ok(Value::Int(3))),
        (".metadata.annotations[\"kubedl.io/tenancy\"] | json .user", "TEXT", Ok(Value::Null)),
        (".metadata.annotations[\"kubedl.io/tenancy\"] | json .tenant.deeper", "TEXT", Ok(Value::Null)),
        (".metadata.annotations.broken | json .tenant", "TEXT", Ok(Value::Null)),
    ] {
        assert_eq!(value(path, ty, STATUS), wanted, "{path}");
    }
    let time = value(".spec.start", "DATETIME(6)", STATUS);
    assert!(matches!(&time, Ok(Value::Time(time)) if time.sql() == "2026-03-09 20:36:46.250000"), "{time:?}");
}

#[test]
fn a_value_of_another_type_is_an_error_with_its_path() {
    let table: Vec<String> = [
        (".spec.owner", "TEXT"),
        (".spec.owner.name.first", "TEXT"),
        (".spec.owner.name", "INT"),
        (".spec.owner[0]", "TEXT"),
        (".spec.tags.b", "TEXT"),
        (".spec.ratio", "INT"),
        (".spec.replicas", "TEXT"),
        (".spec.text", "DATETIME(6)"),
        (".spec.text", "BOOLEAN"),
        (".spec.text | quantity", "DOUBLE"),
        (".spec.replicas | lower", "TEXT"),
        (".spec.containers[*].name | sum", "INT"),
        (".spec.containers[1].cpu", "TEXT"),
    ]
    .into_iter()
    .map(|(path, ty)| format!("{path:34} {ty:12} {}", value(path, ty, STATUS).unwrap_err()))
    .collect();
    insta::assert_snapshot!(table.join("\n"));
}

#[test]
fn an_element_that_nothing_matches_is_another_one() {
    let text = |text: &str| Ok(Value::text(text));
    for (path, wanted) in [
        (".spec.containers[name=side, 0].cpu | text", text("1")),
        (".spec.containers[name=none, 0].cpu", text("500m")),
        (".spec.containers[name=none, 1].name", text("side")),
        (".spec.containers[name=none, 9].name", Ok(Value::Null)),
        // It has no such field, and no other element stands in for it.
        (".spec.containers[name=last, 0].cpu", Ok(Value::Null)),
        // Behind the element of the number, and before it.
        (".status.conditions[type=Failed, 1].type", text("Failed")),
        (".status.conditions[type=Created, 3].type", text("Created")),
        (".spec.nothing[name=none, 0].cpu", Ok(Value::Null)),
    ] {
        assert_eq!(value(path, "TEXT", STATUS), wanted, "{path}");
    }
}

#[test]
fn a_path_with_a_guard_counts_if_all_of_its_conditions_hold() {
    let kind = one(concat!(
        "  - column: a\n    type: TEXT\n    key: false\n    path:\n",
        "    - {path: .spec.size, if: .spec.owner.name = bob}\n",
        "    - {path: .spec.none, if: .spec.owner.name = ann}\n",
        "    - {path: .spec.text, if: [.spec.owner.name = ann, '.metadata.labels[\"group-name\"] in (x, kubedl.io)']}\n",
        "    - .spec.owner.name\n",
        "  - column: b\n    type: INT\n    path: {path: '.spec.tags[*] | count', if: .spec.owner.name = bob}\n",
        "  - column: c\n    type: BOOLEAN\n    default: true\n    path: {path: '.spec.nobody | exists', if: .spec.owner.name = ann}\n",
        "  - column: d\n    type: BOOLEAN\n    default: true\n    path: {path: '.spec.nobody | exists', if: .spec.owner.name = bob}\n",
    ));
    let wanted = vec![Value::text("Mixed"), Value::Null, Value::Bool(false), Value::Bool(true)];
    assert_eq!(values(kind, STATUS), Ok(wanted));
    let other = STATUS.replace(r#""name": "ann""#, r#""name": "bob""#);
    assert_eq!(values(kind, &other), Ok(vec![Value::text("7"), Value::Int(2), Value::Bool(true), Value::Bool(false)]));
    let nobody = STATUS.replace(r#""owner": {"name": "ann"}"#, r#""owner": null"#);
    assert_eq!(values(kind, &nobody), Ok(vec![Value::Null, Value::Null, Value::Bool(true), Value::Bool(true)]));
    // The guard is a part of what the column is.
    let guarded = |guard: &str| {
        let column = format!("  - {{column: a, type: INT, path: {{path: .spec.a, if: {guard}}}}}\n");
        let kind = one(&column);
        assert_eq!(kind.table().place("spec.a"), None);
        kind.definition().fingerprint
    };
    let plain = one("  - {column: a, type: INT, path: .spec.a}\n").definition().fingerprint;
    assert!(guarded(".spec.b") != plain && guarded(".spec.b") != guarded(".spec.c"));
    assert_eq!(guarded("[.spec.b]"), guarded("' .spec.b '"));
}

#[test]
fn a_guarded_path_with_a_default_gives_it_if_it_counts_and_finds_nothing() {
    let kind = one(concat!(
        "  - column: a\n    type: VARCHAR(9)\n    path:\n",
        "    - {path: .spec.none, if: .spec.owner, default: owned}\n",
        "    - .spec.size\n",
        "  - {column: b, type: INT, path: {path: .spec.none, if: .spec.owner, default: 3}, default: 4}\n",
    ));
    assert_eq!(values(kind, STATUS), Ok(vec![Value::text("owned"), Value::Int(3)]));
    let found = STATUS.replace(r#""owner": {"#, r#""none": "5", "owner": {"#);
    assert_eq!(values(kind, &found), Ok(vec![Value::text("5"), Value::Int(5)]));
    let without = STATUS.replace(r#""owner": {"name": "ann"}"#, r#""owner": null"#);
    assert_eq!(values(kind, &without), Ok(vec![Value::text("7"), Value::Int(4)]));
    // The default is a part of what the column is.
    let fingerprint = |default: &str| {
        one(&format!("  - {{column: a, type: INT, path: {{path: .spec.a, if: .spec.b{default}}}}}\n"))
            .definition()
            .fingerprint
    };
    assert!(
        fingerprint("") != fingerprint(", default: 0") && fingerprint(", default: 0") != fingerprint(", default: 1")
    );
    assert_eq!(fingerprint(""), fingerprint(", default: null"));
}

#[test]
fn a_value_whose_guard_does_not_hold_may_have_any_shape() {
    let kind = one(concat!(
        "  - {column: number, type: INT, path: {path: .spec.value, if: .spec.type = Number}}\n",
        "  - {column: text, type: TEXT, key: false, path: {path: .spec.value, if: .spec.type = Text}}\n",
        "  - {column: deep, type: TEXT, key: false, path: {path: '.spec.value.deep[0]', if: .spec.type = Deep}}\n",
        "  - {column: sum, type: INT, path: {path: '.spec.value.numbers[*] | sum', if: .spec.type = Sum}}\n",
    ));
    let of = |ty: &str, value: &str| values(kind, &format!(r#""spec": {{"value": {value}, "type": "{ty}"}}"#));
    let row = |place: usize, value: Value| {
        let mut row = vec![Value::Null; 4];
        row[place] = value;
        Ok(row)
    };
    assert_eq!(of("Number", "5"), row(0, Value::Int(5)));
    assert_eq!(of("Text", "\"x\""), row(1, Value::text("x")));
    assert_eq!(of("Deep", r#"{"deep": ["x"], "numbers": {"a": "b", "c": 1}}"#), row(2, Value::text("x")));
    assert_eq!(of("Sum", r#"{"deep": "x", "numbers": [1, 2]}"#), row(3, Value::Int(3)));
    assert_eq!(of("Other", "[]"), row(0, Value::Null));
    for (ty, value, error) in [
        ("Number", "\"x\"", "spec.value: expected a number, found string \"x\""),
        ("Text", "5", "spec.value: expected a string, found number 5"),
        ("Deep", "5", "spec.value: expected an object, found number 5"),
        ("Deep", r#"{"deep": {}}"#, "spec.value.deep: expected an array, found an object"),
        ("Sum", r#"{"numbers": [1, "x", 2]}"#, "spec.value.numbers[1]: expected a number, found string \"x\""),
    ] {
        assert_eq!(of(ty, value), Err(error.into()), "{ty} {value}");
    }
    // A value that a guard tests needs the right shape.
    assert_eq!(values(kind, r#""spec": 5"#), Err("spec: expected an object, found number 5".into()));
}

#[test]
fn what_pods_ask_for_is_a_text_and_can_be_read_on() {
    let pods = r#""spec": {"roles": {"Worker": {"replicas": 2, "template": {"spec": {
        "initContainers": [{"name": "fetch", "resources": {"requests": {"cpu": "3", "memory": "128Mi"}}}],
        "containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": 1}, "requests": {"cpu": "1.5", "memory": "0.5Gi"}}},
            {"name": "side", "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}]}}}, "Master": {}},
        "text": "{\"containers\": []}", "wrong": {"containers": [{"resources": {"limits": {"cpu": "a lot"}}}]}, "size": "7"}"#;
    let asked = r#"{"limits":{"nvidia.com/gpu":"1"},"requests":{"cpu":"3","memory":"576Mi"}}"#;
    let roles =
        format!(r#"{{"Master":{{"resources":{{}},"replicas":0}},"Worker":{{"resources":{asked},"replicas":2}}}}"#);
    let text = |text: &str| Ok(Value::text(text));
    for (path, ty, wanted) in [
        (".spec.roles.Worker.template.spec | resources", "TEXT", text(asked)),
        (".spec.roles | replicas", "TEXT", text(&roles)),
        (".spec.roles[*].template.spec | resources | join(\";\")", "TEXT", text(asked)),
        (".spec.roles.Worker.template.spec | resources | json .requests.memory | quantity", "BIGINT", Ok(Value::Int(603_979_776))),
        (".spec.roles.Master.template.spec | resources", "TEXT", Ok(Value::Null)),
        (".spec.text | json | resources", "TEXT", text("{}")),
        (".spec.size | json | resources", "TEXT", Ok(Value::Null)),
        (".spec.wrong | resources", "TEXT", Err("spec.wrong.containers[0].resources.limits.cpu: expected a quantity such as 500m or 2Gi, found string \"a lot\"".into())),
        (".spec.size | replicas", "TEXT", Err("spec.size: expected an object, found string \"7\"".into())),
    ] {
        assert_eq!(value(path, ty, pods), wanted, "{path}");
    }
    let kind = one("  - {column: c, path: .spec | resources, key: false}\n");
    assert_eq!(kind.table().indexed()[0].ty, ingester_core::schema::SqlType::Text);
}

#[test]
fn columns_that_share_parts_of_their_paths_do_not_disturb_each_other() {
    let kind = one(concat!(
        "  - {column: a, path: .spec.owner.name, type: TEXT, key: false}\n",
        "  - {column: b, path: ['.spec.nick', '.spec.owner.name'], type: TEXT, key: false}\n",
        "  - {column: c, path: '.spec.owner | exists', type: BOOLEAN}\n",
        "  - {column: d, path: '.spec.tags[0]', type: TEXT, key: false}\n",
        "  - {column: e, path: '.spec.tags[*] | count', type: INT}\n",
        "  - {column: f, path: '.spec.tags[-1]', type: TEXT, key: false}\n",
        "  - {column: g, path: .spec.nick, type: TEXT, key: false, default: none}\n",
        "  - {column: h, path: .metadata.name, type: TEXT, key: false}\n",
    ));
    let text = |text: &str| Value::text(text);
    let wanted =
        vec![text("ann"), text("ann"), Value::Bool(true), text("b"), Value::Int(2), text("A"), text("none"), text("a")];
    assert_eq!(values(kind, STATUS), Ok(wanted));
}

#[test]
fn a_filter_leaves_out_what_does_not_hold() {
    let with = |filter: &str| {
        let text = format!(
            "kinds:\n- {{group: '', version: v1, kind: Pod, namespaced: true, filter: {filter}, columns: [{{column: c, path: .spec.replicas, type: INT}}]}}"
        );
        let kind = kinds("kinds.yaml", &text, &nothing).unwrap().kinds[0];
        values(kind, STATUS).is_ok()
    };
    for (filter, holds) in [
        ("['.metadata.labels[\"group-name\"]']", true),
        ("'.metadata.labels.other'", false),
        ("['.spec.owner.name = ann', '.spec.replicas = 3']", true),
        ("['.spec.owner.name = ann', '.spec.replicas = 4']", false),
        ("'.spec.owner.name in (bob, ann)'", true),
        ("'.spec.text | lower = mixed'", true),
        ("'.spec.suspend = false'", true),
        ("'.status.conditions[type=Failed].status = True'", true),
    ] {
        assert_eq!(with(filter), holds, "{filter}");
    }
}

#[test]
fn an_object_that_the_filter_leaves_out_may_have_any_shape() {
    let text = "kinds:\n- {group: '', version: v1, kind: Pod, namespaced: true, strict: true, filter: .spec.mine = yes-it-is, columns: [{column: c, path: .spec.node, type: INT}]}";
    let kind = kinds("kinds.yaml", text, &nothing).unwrap().kinds[0];
    assert_eq!(values(kind, r#""spec": {"node": "a text"}"#), Err("left out".into()));
    assert_eq!(values(kind, r#""spec": "a text""#).unwrap_err(), "spec: expected an object, found string \"a text\"");
    let error = values(kind, r#""spec": {"mine": "yes-it-is", "node": "a text"}"#).unwrap_err();
    assert_eq!(error, "spec.node: expected a number, found string \"a text\"");
    assert_eq!(values(kind, r#""spec": {"mine": "yes-it-is", "node": 7}"#), Ok(vec![Value::Int(7)]));
}

#[test]
fn a_number_that_is_too_large_is_not_made_smaller() {
    let large = r#""spec": {"size": "9223372036854775808", "sizes": ["8Ei", "8Ei"]}"#;
    assert_eq!(value(".spec.size | quantity", "BIGINT", large), Ok(Value::UInt(1 << 63)));
    assert_eq!(value(".spec.size | quantity", "BIGINT UNSIGNED", large), Ok(Value::UInt(1 << 63)));
    assert_eq!(value(".spec.sizes[*] | quantity | sum", "VARCHAR(30)", large), Ok(Value::text("18446744073709551616")));
    // The row refuses it.
    for ty in ["INT", "BIGINT"] {
        let kind = one(&format!("  - {{column: c, path: '.spec.size | quantity', type: {ty}}}\n"));
        let error = kind.row(&object(large)).unwrap_err().to_string();
        assert!(error.contains("9223372036854775808"), "{ty}: {error}");
    }
}

#[test]
fn a_value_that_does_not_fit_its_column_is_null_there_unless_the_kind_is_strict() {
    let members = r#""spec": {"name": "longer", "size": "500m", "big": 3000000000, "flag": "yes", "time": "0500-01-01T00:00:00Z",
        "list": ["a", "longer"], "numbers": [1, "x"], "deep": 5, "kind": "Other", "spare": "b"}"#;
    for (column, value, why) in [
        ("path: .spec.name, type: VARCHAR(3)", Value::Null, "column `c`: 6 characters do not fit VARCHAR(3)"),
        ("path: .spec.big, type: INT", Value::Null, "spec.big: "),
        ("path: .spec.time, type: DATETIME(6)", Value::Null, "column `c`: 0500-01-01T00:00:00Z does not fit"),
        ("path: .spec.flag, type: BOOLEAN", Value::Null, "spec.flag: expected a boolean"),
        (
            "path: .spec.size, type: DOUBLE",
            Value::Null,
            "spec.size: `500m` is a quantity, which DOUBLE does not read: end the path with `| quantity`",
        ),
        ("path: '.spec.numbers[*] | sum', type: INT", Value::Null, "spec.numbers[1]: expected a number"),
        ("path: .spec.deep.er, type: INT", Value::Null, "spec.deep: expected an object"),
        // Neither a default nor another path stands in for the value.
        ("path: .spec.flag, type: BOOLEAN, default: true", Value::Null, "spec.flag: "),
        ("path: [.spec.flag, .spec.none], type: BOOLEAN, absent: empty", Value::Null, "spec.flag: "),
        ("path: [{path: .spec.flag, if: .spec.kind = Other}], type: INT", Value::Null, "spec.flag: "),
        ("path: [{path: .spec.flag, if: .spec.kind = This}], type: INT", Value::Null, ""),
        ("path: .spec.spare, type: VARCHAR(3)", Value::text("b"), ""),
    ] {
        let row = |strict: bool| {
            let text = format!(
                "kinds: [{{group: a.b, version: v1, kind: Job, namespaced: true, strict: {strict}, columns: [{{column: c, {column}}}]}}]"
            );
            let kind = kinds("kinds.yaml", &text, &nothing).unwrap_or_else(|error| panic!("{error}")).kinds[0];
            kind.row(&object(members)).map(Option::unwrap).map_err(|error| error.to_string())
        };
        let stored = row(false).unwrap();
        assert_eq!(stored.values.last(), Some(&value), "{column}");
        let said = stored.unfit.iter().map(|unfit| format!("{} {}", unfit.column, unfit.why)).collect::<String>();
        assert!(said.is_empty() == why.is_empty() && said.contains(why), "{column}: {said}");
        assert_eq!(row(true).is_err(), !why.is_empty(), "{column}");
    }
    let all = |path: &str, ty: &str| {
        let column = format!("{{column: c, path: '{path}', type: {ty}, many: true}}");
        let text = format!("kinds: [{{group: a.b, version: v1, kind: Job, namespaced: true, columns: [{column}]}}]");
        let row = kinds("kinds.yaml", &text, &nothing).unwrap().kinds[0].row(&object(members)).unwrap().unwrap();
        let values = row.many[0].iter().map(|(value, _)| value.to_string()).collect::<Vec<_>>();
        (values, row.unfit.iter().map(|unfit| unfit.column.to_string()).collect::<Vec<_>>())
    };
    assert_eq!(all(".spec.list[*]", "VARCHAR(3)"), (vec!["a".to_owned()], vec!["c".to_owned()]));
    assert_eq!(all(".spec.numbers[*]", "INT"), (vec![], vec!["c".to_owned()]));
    assert_eq!(all(".spec.list[*]", "VARCHAR(6)"), (vec!["a".to_owned(), "longer".to_owned()], vec![]));
}

#[test]
fn a_null_in_a_list_is_not_an_element() {
    let lists = r#""spec": {"list": [null, "one"], "text": "[null, \"one\"]"}"#;
    assert_eq!(value(".spec.list[0]", "TEXT", lists), Ok(Value::text("one")));
    assert_eq!(value(".spec.text | json [0]", "TEXT", lists), Ok(Value::text("one")));
}

#[test]
fn duplicate_keys_and_broken_json_are_errors() {
    let kind = one("  - {column: a, path: .spec.owner, type: TEXT, key: false}\n");
    for (members, error) in [
        (r#""spec": {"owner": "a", "owner": "b"}"#, "spec.owner: the key `owner` appears twice in the same object"),
        (r#""spec": {"owner": "a"}, "spec": {}"#, "spec: the key `spec` appears twice in the same object"),
        (r#""spec": {"owner": "a"}, "metadata": {}"#, "metadata: the key `metadata` appears twice in the same object"),
    ] {
        assert_eq!(values(kind, members), Err(error.into()), "{members}");
    }
    assert_eq!(values(kind, r#""spec": {"owner": null, "owner": "b"}"#), Ok(vec![Value::text("b")]));
    assert!(values(kind, r#""spec": {"owner": "a"}, "status": {"x": }"#).is_err());
}

#[test]
fn members_are_found_before_the_metadata_and_behind_it() {
    let kind = one(concat!(
        "  - {column: a, path: .count, type: INT}\n",
        "  - {column: b, path: .involvedObject.name, type: TEXT, key: false}\n",
        "  - {column: c, path: .spec.owner, type: TEXT, key: false}\n",
    ));
    let members = [
        r#""apiVersion": "example.com/v1""#,
        r#""count": 3"#,
        r#""involvedObject": {"name": "x"}"#,
        r#""kind": "Job""#,
        r#""metadata": {"name": "a", "uid": "u"}"#,
        r#""spec": {"owner": "ann"}"#,
    ];
    for first in 0..members.len() {
        let turned = [&members[first..], &members[..first]].concat().join(", ");
        let object = Object::parse(format!("{{{turned}}}"), ManagedFields::Prune).unwrap();
        let mut values = ingester_core::value::Values::with_capacity(3);
        kind.functions().decode.decode(&object, &mut values).unwrap();
        assert_eq!(values.into_vec(), [Value::Int(3), Value::text("x"), Value::text("ann")], "{turned}");
    }
}

#[test]
fn a_declared_kind_has_the_names_and_tables_of_a_compiled_one() {
    let text = "
kinds:
- group: ray.io
  version: v1
  kind: RayCluster
  namespaced: true
  keys: [[namespace, owner_name]]
  columns:
  - {column: owner_name, path: .spec.owner.name, type: VARCHAR(100), was: owner}
  - {column: phase, path: '.status.phase', type: VARCHAR(32), key: false, default: Unknown}
- {group: '', version: v1, kind: Policy, table: core_policy, namespaced: false, finalizer: ensure}
";
    let kinds = kinds("kinds.yaml", text, &nothing).unwrap().kinds;
    let cluster = kinds[0];
    let policy = kinds[1];
    assert_eq!((&*cluster.plural(), cluster.table().name.as_str()), ("rayclusters", "raycluster"));
    assert_eq!((&*policy.plural(), policy.table().name.as_str()), ("policies", "core_policy"));
    assert!(cluster.namespaced() && !policy.namespaced());
    assert_eq!(policy.finalizer(), ingester_core::kind::Finalizer::Ensure);
    assert_eq!(cluster.finalizer(), ingester_core::kind::Finalizer::Never);
    let columns: Vec<String> = cluster.table().indexed().iter().map(|column| format!("{column:?}")).collect();
    insta::assert_snapshot!(columns.join("\n"));
    let keys: Vec<String> = cluster.table().keys.iter().map(|key| key.name.to_string()).collect();
    assert_eq!(keys[6..], ["owner_name", "namespace_owner_name"]);
    assert_eq!(cluster.table().place("spec.owner.name"), Some(13));
    // With a default, the column has something else than what is there.
    assert_eq!(cluster.table().place("status.phase"), None);
}

#[test]
fn a_definition_is_another_one_if_anything_that_makes_a_value_is_another() {
    let same = "  - {column: a, path: .spec.a, type: INT}\n";
    let first = one(same).definition().fingerprint;
    assert_eq!(one("  - {type: INT, path: ' .spec.a', column: a, key: false}\n").definition().fingerprint, first);
    for other in [
        "  - {column: a, path: .spec.b, type: INT}\n",
        "  - {column: b, path: .spec.a, type: INT}\n",
        "  - {column: a, path: .spec.a, type: BIGINT}\n",
        "  - {column: a, path: .spec.a, type: INT, default: 0}\n",
        "  - {column: a, path: .spec.a, type: INT, revision: 2}\n",
        "  - {column: a, path: [.spec.a, .spec.b], type: INT}\n",
        "  - {column: a, path: {path: .spec.a, if: .spec.b}, type: INT}\n",
    ] {
        assert_ne!(one(other).definition().fingerprint, first, "{other}");
    }
}

#[test]
fn a_type_comes_from_the_crd_where_it_is_left_out() {
    let crd = crd_of(
        "Job",
        r"
          spec:
            type: object
            properties:
              replicas: {type: integer, format: int32}
              seconds: {type: integer}
              ratio: {type: number}
              start: {type: string, format: date-time}
              phase: {type: string, maxLength: 20}
              paused: {type: boolean}
              port: {x-kubernetes-int-or-string: true}
              memory: {x-kubernetes-int-or-string: true, pattern: '^([0-9]+)([KMGTPE]i|[numkMGTPE])?$'}
              tags: {type: array, items: {type: string}}
              values: {type: object, additionalProperties: {type: integer, format: int64}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
",
    );
    let open = |file: &str| if file == "crd.yaml" { Ok(crd.as_bytes().to_vec()) } else { nothing(file) };
    let read = |paths: &[&str]| {
        let columns: String =
            paths.iter().enumerate().map(|(i, path)| format!("  - {{column: c{i}, path: '{path}'}}\n")).collect();
        let text = format!(
            "kinds:\n- group: example.com\n  version: v1\n  kind: Job\n  namespaced: true\n  crd: crd.yaml\n  columns:\n{columns}"
        );
        kinds("kinds.yaml", &text, &open)
    };
    let there = [
        (".spec.replicas", "INT"),
        (".spec.seconds", "BIGINT"),
        (".spec.ratio", "DOUBLE"),
        (".spec.start", "DATETIME(6)"),
        (".spec.phase", "VARCHAR(20)"),
        (".spec.paused", "BOOLEAN"),
        (".spec.tags[0]", "VARCHAR(255)"),
        (".spec.values.x", "BIGINT"),
        (".spec.tags[*] | count", "INT"),
        (".spec.port | text", "VARCHAR(255)"),
        (".spec.memory | quantity", "DOUBLE"),
        // Its values may be plain numbers; others do not fit, with the remedy.
        (".spec.memory', type: 'BIGINT", "BIGINT"),
        (".metadata.generation", "BIGINT"),
        (".metadata.labels.app", "VARCHAR(63)"),
    ];
    let kind = read(&there.map(|(path, _)| path)).unwrap().kinds[0];
    for (column, (path, ty)) in kind.table().indexed().iter().zip(there) {
        assert_eq!(column.ty.to_string(), ty, "{path}");
    }
    insta::assert_snapshot!(
        read(&[
            ".spec.replica",
            ".spec.port",
            ".spec.memory",
            ".spec.free.x",
            ".spec.replicas.x",
            ".spec.tags",
            ".metadata.annotations.a"
        ])
        .unwrap_err()
    );
}

#[test]
fn a_crd_that_cannot_be_read_is_one_mistake() {
    let text = "kinds:\n- group: example.com\n  version: v1\n  kind: Job\n  crd: none.yaml\n  columns:\n  - {column: a, path: .spec.a}\n  \
                - {column: b, path: .spec.b}\n";
    let faults = kinds("kinds.yaml", text, &nothing).unwrap_err().to_string();
    assert_eq!(faults.lines().count(), 1, "{faults}");
    assert!(faults.contains("line 5: kinds[0].crd: cannot read none.yaml"), "{faults}");
}

#[test]
fn a_rule_names_only_values_that_the_crd_lists() {
    let crd = crd_of(
        "Job",
        r"
          spec: {type: object, properties: {phase: {type: string, enum: [Running, Failed]}}}
",
    );
    let open = |file: &str| if file == "crd.yaml" { Ok(crd.as_bytes().to_vec()) } else { nothing(file) };
    let said = |column: &str, selector: &str| {
        let text = format!(
            "kinds:\n- group: example.com\n  version: v1\n  kind: Job\n  namespaced: true\n  crd: crd.yaml\n  columns:\n  - {column}\n  \
             evict:\n  - {{name: old, when: {{fieldSelector: \"{selector}\"}}}}\n"
        );
        kinds("kinds.yaml", &text, &open).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let phase = "{column: phase, path: .spec.phase}";
    assert_eq!(said(phase, "phase!=Failed"), "");
    assert!(said(phase, "phase=Failled").contains("did you mean `Failed`?"), "{}", said(phase, "phase=Failled"));
    assert!(said(phase, "phase!='Failed'").contains("is in quotes"));
    // The column may store another value than the CRD lists.
    assert_eq!(said("{column: phase, path: .spec.phase, default: None}", "phase=None"), "");
    assert_eq!(said("{column: phase, path: [.spec.phase, .metadata.name]}", "phase=None"), "");
    // Without a CRD.
    let listed = "{column: mode, path: .metadata.annotations.mode, type: VARCHAR(20), enum: [Batch, Stream]}";
    assert!(said(listed, "mode=Batsch").contains("did you mean `Batch`?"), "{}", said(listed, "mode=Batsch"));
    let both = "{column: phase, path: .spec.phase, default: None, enum: [Running]}";
    assert!(said(both, "phase=None").contains("`enum` lists the values of a single path"));
}

/// The rows of the columns of many values, `key=value` of a map; or why there are none.
fn many(columns: &str, members: &str) -> Result<Vec<Vec<String>>, String> {
    let object = object(members);
    let mut values = ingester_core::value::Values::default();
    one(columns).functions().decode.decode(&object, &mut values).map_err(|error| error.to_string())?;
    let shown =
        |(key, value): &(Box<str>, Box<str>)| if value.is_empty() { key.to_string() } else { format!("{key}={value}") };
    Ok(values.into_parts().1.iter().map(|pairs| pairs.iter().map(shown).collect()).collect())
}

#[test]
fn a_column_of_many_values_has_all_that_its_path_passes() {
    let members = r#""spec": {"tags": ["b", null, "a", "b", "a "], "limits": {"cpu": "4", "none": null, "memory": "1Gi"},
        "ports": [443, 80, "80"], "pods": [{"name": "x", "uses": ["B"]}, {}, {"name": "y", "uses": ["C", "B"]}],
        "times": ["2026-03-09T20:36:46.25Z"], "other": {}}"#;
    let both = |path: &str, ty: &str| {
        let columns = format!("  - {{column: c, path: {path}, many: true, type: {ty}}}\n");
        many(&columns, members).map(|mut all| all.remove(0))
    };
    let texts = |texts: &[&str]| Ok(texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
    for (path, ty, wanted) in [
        ("'.spec.tags[*]'", "VARCHAR(20)", texts(&["a", "b"])),
        ("'.spec.ports[*]'", "INT", texts(&["443", "80"])),
        ("'.spec.ports[*] | text'", "VARCHAR(9)", texts(&["443", "80"])),
        ("'.spec.times[*]'", "DATETIME(6)", texts(&["2026-03-09 20:36:46.250000"])),
        ("'.spec.pods[*].uses[*] | lower'", "VARCHAR(9)", texts(&["b", "c"])),
        ("'.spec.limits[*]'", "VARCHAR(9)", texts(&["1Gi", "4"])),
        (".spec.limits", "VARCHAR(9)", texts(&["cpu=4", "memory=1Gi"])),
        (".spec.other", "VARCHAR(9)", texts(&[])),
        (".spec.nothing", "VARCHAR(9)", texts(&[])),
        ("[.spec.other, .spec.limits]", "VARCHAR(9)", texts(&["cpu=4", "memory=1Gi"])),
        ("[{path: .spec.limits, if: .spec.absent}, .spec.other]", "VARCHAR(9)", texts(&[])),
    ] {
        assert_eq!(both(path, ty), wanted, "{path}");
    }
    for (path, ty, wrong) in [
        (".spec.tags", "VARCHAR(9)", "spec.tags: expected an object"),
        ("'.spec.ports[*]'", "VARCHAR(9)", "spec.ports[0]: "),
        ("'.spec.tags[*]'", "INT", "spec.tags[0]: "),
    ] {
        let said = both(path, ty).unwrap_err();
        assert!(said.starts_with(wrong), "{path}: {said}");
    }
    let kind = one(
        "  - {column: tags, path: '.spec.tags[*]', many: true, type: VARCHAR(20)}\n  - {column: size, path: .spec.size, type: INT}\n  \
                    - {column: limits, path: .spec.limits, many: true, type: VARCHAR(20), was: old}\n",
    );
    let table = kind.table();
    assert_eq!((table.indexed().len(), table.many.len()), (1, 2));
    assert_eq!(table.many("spec.tags").map(|(many, _)| many.form), Some(ingester_core::schema::Form::List));
    assert_eq!(
        table.many("spec.limits").map(|(many, _)| (many.form, many.place)),
        Some((ingester_core::schema::Form::Map, 1))
    );
    let row = kind.row(&object(members)).unwrap().unwrap();
    assert_eq!(row.many.iter().map(|pairs| pairs.len()).collect::<Vec<_>>(), [2, 2]);
}

/// The kind with this of its file, and two columns.
fn pruned(more: &str) -> Result<Kind, String> {
    let text = format!(
        "kinds:\n- group: example.com\n  version: v1\n  kind: Job\n  namespaced: true\n  {more}\n  columns:\n  \
         - {{column: owner, path: .spec.owner.name, type: VARCHAR(100)}}\n  - {{column: cpus, path: '.spec.containers[*].cpu | quantity | sum', type: DOUBLE}}\n"
    );
    kinds("kinds.yaml", &text, &nothing).map(|file| file.kinds[0]).map_err(|error| error.to_string())
}

#[test]
fn a_row_has_nothing_of_what_its_kind_prunes() {
    let kind = pruned(
        "evictable: false\n  prune: [.spec.text, '.spec.containers[*].name', '.metadata.annotations[\"kubedl.io/tenancy\"]']",
    );
    let kind = kind.unwrap();
    let object = object(STATUS);
    assert!(object.text().contains("Mixed") && object.text().contains("tenant"));
    let shown = format!("{:?}", kind.row(&object).unwrap().unwrap());
    for gone in ["Mixed", "side", "tenan"] {
        assert!(!shown.contains(gone), "{gone}: {shown}");
    }
    for stays in ["ann", "500m", "Running", "broken"] {
        assert!(shown.contains(stays), "{stays}: {shown}");
    }
    let bare = format!("{:?}", kind.bare_row(&object).unwrap());
    assert!(!bare.contains("Mixed") && bare.contains("Running"), "{bare}");
    // Nothing of a text that is not JSON is shown.
    let error = kind.stored_text(r#"{"spec":{"text":"TOPSECRET"#).unwrap_err().to_string();
    assert!(error.contains("not JSON") && !error.contains("TOPSECRET"), "{error}");
    // Another list of paths is another definition, in whatever order it is.
    let fingerprint = |more: &str| pruned(&format!("evictable: false\n  {more}")).unwrap().fingerprint().unwrap();
    assert_ne!(fingerprint("prune: .spec.text"), fingerprint("retention: 1d"));
    assert_eq!(fingerprint("prune: [.spec.text, .spec.size]"), fingerprint("prune: [.spec.size, .spec.text]"));
    let recipe = |more: &str| pruned(&format!("evictable: false\n  {more}")).unwrap().recipes().unwrap().row;
    assert_ne!(recipe("prune: .spec.text"), recipe("retention: 1d"), "the whole of a row is made anew");
}

#[test]
fn what_cannot_be_pruned_is_said_with_its_line() {
    for (more, says) in [
        ("prune: .spec.text", "line 6: kinds[0].prune: pruned values are not stored"),
        ("evictable: true\n  prune: .spec.text", "say `evictable: false`"),
        ("evictable: false\n  prune: .spec.owner", "is pruned, so the value of column `owner` is stored nowhere"),
        ("evictable: false\n  prune: '.spec.containers[*]'", "the value of column `cpus`"),
        ("evictable: false\n  filter: .spec.text = a\n  prune: .spec.text", "the filter reads it"),
        ("evictable: false\n  prune: .metadata.name", "the ingester needs"),
        ("evictable: false\n  prune: '.spec.env[name=TOKEN]'", "a path of names"),
        ("evictable: false\n  prune: [.spec.text, .spec.text.more]", "is pruned already with `.spec.text`"),
        ("evictable: false\n  prune: [.spec.text, .spec.text]", "is pruned already with `.spec.text`"),
        ("evictable: false\n  prune: spec.text", "a path begins with a dot"),
        ("evictable: false\n  prune: .spec.text | lower", "leave the functions out"),
    ] {
        let error = pruned(more).unwrap_err();
        assert!(error.contains(says), "{more}: {error}");
    }
    // A value next to a column, or around it, is pruned.
    for more in [".spec.owner.mail", "'.spec.containers[*].name'", ".spec.cont"] {
        assert!(pruned(&format!("evictable: false\n  prune: {more}")).is_ok(), "{more}");
    }
}

#[test]
fn rules_of_a_file_are_those_of_a_struct_and_are_spelled_as_they_were_read() {
    let rules = "evict:\n  - name: finished\n    when: {fieldSelector: 'owner=ada,name!=x', labelSelector: tier!=gold}\n    after: 90m\n    \
                 since: metadata.creationTimestamp\n    keepLast: {count: 3, by: [owner]}\n    namespaces: [ml]\n    namespaceSelector: tier in (batch)\n  \
                 - {name: old, after: 1.5s}";
    let kind = pruned(rules).unwrap();
    let [finished, old] = kind.evict() else { panic!("{:?}", kind.evict()) };
    assert_eq!(
        (finished.name, finished.field_selector, finished.label_selector),
        ("finished", "owner=ada,name!=x", "tier!=gold")
    );
    assert_eq!(finished.after, Some(std::time::Duration::from_secs(5400)));
    assert_eq!(finished.since, Some("metadata.creationTimestamp"));
    assert_eq!(finished.keep_last, Some((3, &["owner"][..])));
    assert_eq!((finished.namespaces, finished.namespace_selector), (&["ml"][..], "tier in (batch)"));
    assert_eq!((old.name, old.since, old.keep_last), ("old", None, None));
    // Rows are not made from rules.
    assert_eq!(kind.fingerprint(), pruned("retention: 1d").unwrap().fingerprint());
    // The same as a struct, and of that as a file.
    let of_struct = Kind::new(*kind.definition(), *kind.functions()).evicting(kind.evict());
    let mut functions = *of_struct.functions();
    functions.decode = ingester_core::kind::Decode::Function(|_, _| Ok(false));
    let spelled = super::spelled(&[Kind::new(*kind.definition(), functions).evicting(kind.evict())]);
    assert!(spelled.contains("- {name: finished, when: {fieldSelector: 'owner=ada,name!=x'"), "{spelled}");
    let again = kinds("kinds.yaml", &spelled, &nothing).unwrap_or_else(|error| panic!("{error}\n{spelled}"));
    assert_eq!(again.kinds[0].evict(), kind.evict(), "{spelled}");
}

#[test]
fn what_is_wrong_with_a_rule_is_said_with_its_place() {
    for (rule, says) in [
        ("{after: 1d}", "kinds[0].evict[0]: `name` is missing"),
        ("{name: a, after: 1d, enforce: true}", "kinds[0].evict[0].enforce: the configuration enforces a rule"),
        ("{name: a, when: {}}", "kinds[0].evict[0].when: nothing is selected"),
        ("{name: a, when: {fieldSelector: 'owner=a=b'}}", "kinds[0].evict[0].when.fieldSelector: "),
        ("{name: a, when: {labelSelector: 'a b'}}", "kinds[0].evict[0].when.labelSelector: "),
        ("{name: a, when: {fieldSelector: cpus=many}}", "kinds[0].evict[0]: `cpus` is DOUBLE: `many` is not"),
        ("{name: a, after: 1x}", "kinds[0].evict[0].after: expected how long ago"),
        ("{name: a, after: 1d, since: owner}", "kinds[0].evict[0].since: `since`: the column `owner` is not a time"),
        ("{name: a, keepLast: {by: [owner]}}", "kinds[0].evict[0].keepLast: `count` is missing"),
        ("{name: a, keepLast: {count: none}}", "kinds[0].evict[0].keepLast.count: found `none`: `count` is how many"),
        ("{name: a, after: 1d, namespaces: [a, a]}", "`a` is in this list already"),
        ("{name: a, after: 1d, namespaceSelector: '!'}", "kinds[0].evict[0].namespaceSelector: "),
        ("{name: a, after: 1d, nmae: b}", "unknown key `nmae`"),
    ] {
        let error = pruned(&format!("evict: [{rule}]")).unwrap_err();
        assert!(error.contains(says), "{rule}: {error}");
    }
}

#[test]
fn a_file_says_how_long_former_versions_are_kept() {
    let history = |more: &str| pruned(more).map(|kind| kind.history().map(|history| (history.keep, history.versions)));
    let days = |days: u64| Some(std::time::Duration::from_secs(days * 86_400));
    assert_eq!(history("retention: 1d"), Ok(None));
    assert_eq!(history("history:"), Ok(None));
    assert_eq!(history("history: 90d"), Ok(Some((days(90), None))));
    assert_eq!(history("history: forever"), Ok(Some((None, None))));
    assert_eq!(history("history: {keep: forever, versions: 500}"), Ok(Some((None, Some(500)))));
    let table = pruned("table: jobs\n  was: job\n  history: 2w").unwrap().history().unwrap().table;
    assert_eq!((table.name.as_str(), table.was.unwrap().as_str()), ("jobs_history", "job_history"));
    for (more, says) in [
        (
            "history: always",
            "line 6: kinds[0].history: expected how long former versions are kept: `forever`, or a duration",
        ),
        ("history: 0s", "found `0s`"),
        ("history: {versions: 2}", "`keep` is missing"),
        ("history: {keep: 1d, versions: 0}", "kinds[0].history.versions: expected how many former versions"),
        ("history: {keep: 1d, version: 1}", "did you mean `versions`?"),
    ] {
        let error = pruned(more).unwrap_err();
        assert!(error.contains(says), "{more}: {error}");
    }
    // A struct says the same as the file.
    let said = |more: &str| scaffold_rust_of(&pruned(more).unwrap()).unwrap();
    assert!(said("history: {keep: 2d, versions: 5}").contains(r#"#[ingest(history = "172800s", versions = 5)]"#));
    assert!(said("history: forever").contains(r#"#[ingest(history = "forever")]"#));
    // No other table has the name of one of a kind's two tables.
    let two = "kinds:\n- {group: a.com, version: v1, kind: Job, namespaced: true, history: 1d}\n\
               - {group: a.com, version: v1, kind: Other, table: Job_History, namespaced: true}\n";
    let error = kinds("kinds.yaml", two, &nothing).unwrap_err().to_string();
    assert!(
        error.contains("the table of the history of kind `a.com/v1 Job`, `job_history`, is a table of kind"),
        "{error}"
    );
}

#[test]
fn a_struct_reads_an_element_of_a_list_of_texts() {
    let said = scaffold_rust_of(&one("  - {column: host, path: '.spec.hosts[0]', type: VARCHAR(20)}")).unwrap();
    assert!(said.contains("hosts: Vec<String>") && said.contains("object.spec.hosts.first().cloned()"), "{said}");
    // Nothing is left of a path that no struct can have: a list of structs would reject a list of texts.
    let said = scaffold_rust_of(&one("  - {column: host, path: '.spec.hosts[port=80].name', type: VARCHAR(20)}"));
    let said = said.unwrap();
    assert!(!said.contains("hosts: Vec<") && said.contains("column `host`"), "{said}");
}

#[test]
fn the_mistakes_of_several_files_name_file_and_line() {
    let kind = |names: &str| format!("kinds:\n- {{group: a.com, version: v1, namespaced: true, {names}}}\n");
    let said = |texts: &[&str]| {
        let name = ["one.yaml", "two.yaml", "three.yaml"];
        let files = texts.iter().zip(name).map(|(text, name)| KindsFile { name, text, open: &nothing });
        match kinds_of(&files.collect::<Vec<_>>()) {
            Ok(file) => file.kinds.iter().map(Kind::kind).collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string(),
        }
    };
    let job = kind("kind: Job");
    let other = kind("kind: Other");
    let crd = crd_of("Job", " {spec: {type: object}}\n");
    assert_eq!(said(&[&job, &other]), "Job Other");
    assert_eq!(said(&[&format!("---\n{job}---\n# nothing\n---\n{other}"), "views: []"]), "Job Other");
    assert_eq!(said(&[&format!("{crd}---\n{job}")]), "Job", "a CRD among the documents");
    assert_eq!(said(&["{apiVersion: v1, kind: List, items: []}", &job]), "Job");
    let all = said(&[&format!("# first\n{job}---\n{}", kind("kind: Other, columns: [{column: a}]")), &job, "kind: x"]);
    let places: Vec<&str> = all.lines().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(places, ["one.yaml line 6", "two.yaml line 2", "three.yaml line 1", "three.yaml line 1"], "{all}");
    for (texts, expected) in [
        (&[&*job, &job][..], "(the other one begins in one.yaml on line 2)"),
        (&[&*format!("{job}---\n{job}")], "(the other one begins on line 2)"),
        (&[&*other, &kind("kind: Job, table: other")], "two.yaml line 2: kinds[0]: "),
        (&[&*job, "kinds: [\n"], "two.yaml line 1: column 8: unclosed bracket"),
        (&["prefix: a.com", "# nothing"], "one.yaml line 1: there are no kinds"),
        (&[&*crd], "line 2: apiVersion: unknown key"),
        // A kind at the top level is no object.
        (&[&*job, "{apiVersion: a.com/v1, kind: Other, columns: []}"], "two.yaml line 1: apiVersion: unknown key"),
        (
            &[&*job, "{apiVersion: a.com/v1, kind: Other, metadata: {}, columns: []}"],
            "two.yaml line 1: columns: unknown",
        ),
        (&[&*job, "{apiVersion: a.com/v1, kind: Other}"], "two.yaml line 1: kind: unknown key"),
        (
            &[&*format!("prefix: a.com\n{job}"), "prefix: b.com\n"],
            "two.yaml line 1: prefix: `b.com`, but one.yaml says `a.com`: a program has one prefix",
        ),
        (&[&*job, "views: [{name: v, columns: [{column: x}]}]"], "two.yaml line 1: views[0]"),
    ] {
        let said = said(texts);
        assert!(said.contains(expected), "{texts:?}: {said}");
    }
}

/// Columns whose names have dots, or that are made of what is at their paths.
const DOTTED: &str = concat!(
    "  - {column: file, path: '.status[\"a.json\"]', type: VARCHAR(20)}\n",
    "  - {column: more, path: .status.b\\.json.size, type: INT}\n",
    "  - {column: region, path: \".metadata.labels['example.com/region']\", type: VARCHAR(63)}\n",
    "  - {column: cpu, path: .spec.cpu | quantity, type: DOUBLE}\n",
    "  - {column: phase_lower, path: .status.phase | lower, type: VARCHAR(20)}\n",
    "  - {column: kept, path: .status.first, first: true, type: VARCHAR(20)}\n",
    "  - {column: size, path: .spec.size, default: 1, type: INT}\n",
    "  - {column: size_text, path: .spec.both | quantity, type: DOUBLE}\n",
    "  - {column: size_plain, path: .spec.both, type: VARCHAR(20)}\n",
    "  - {column: uses, path: '.spec[\"x.y\"].uses', many: true, type: VARCHAR(20)}\n",
);

#[test]
fn a_field_finds_the_column_of_its_path_in_each_spelling() {
    let table = one(DOTTED).table();
    let column = |field: &str| table.place(field).map(|place| table.columns[place].name.to_string());
    for (fields, name) in [
        (&["file", "status[\"a.json\"]", "status['a.json']", r"status.a\.json", ".status[\"a.json\"]"][..], "file"),
        (&["status['b.json'].size", r"status.b\.json.size", r#"status["b.json"]["size"]"#], "more"),
        (&["metadata.labels['example.com/region']", r"metadata.labels.example\.com/region"], "region"),
        // A quantity is the same value as a number.
        (&["cpu", "spec.cpu", "spec['cpu']"], "cpu"),
        (&["spec.both"], "size_plain"),
    ] {
        for field in fields {
            assert_eq!(column(field).as_deref(), Some(name), "{field}");
            let query = |scan| Query {
                filters: parse_field_selector(&format!("{field}=1")).unwrap(),
                order: parse_order(field).unwrap_or_default(),
                scan,
                ..Query::default()
            };
            assert!(query(false).check(table).is_ok() && query(true).check(table).is_ok(), "{field}");
        }
    }
    for field in ["status.a.json", "status[a.json]", "metadata.labels.example.com/region"] {
        assert_eq!(column(field), None, "{field}");
    }
    for field in [r#"spec["x.y"].uses.cpu"#, r"spec.x\.y.uses['cpu']", "uses[cpu]", "uses.cpu", "uses[\"cpu\"]"] {
        let key = table.many(field).and_then(|(many, key)| Some((many.name.to_string(), key?.name())));
        assert_eq!(key, Some(("uses".to_owned(), "cpu".into())), "{field}");
    }
    let key = |field: &'static str| table.many(field).and_then(|(_, key)| Some(key?.name().into_owned()));
    for field in ["uses.nvidia.com/gpu", r"uses.nvidia\.com/gpu", "uses['nvidia.com/gpu']"] {
        assert_eq!(key(field).as_deref(), Some("nvidia.com/gpu"), "{field}");
    }
}

#[test]
fn a_field_without_a_column_is_told_the_column_that_is_made_of_it() {
    let table = one(DOTTED).table();
    let said = |field: &str| {
        let filters = parse_field_selector(&format!("{field}=1")).unwrap();
        Query { filters, ..Query::default() }.check(table).unwrap_err().to_string()
    };
    for (field, column) in [("status.phase", "phase_lower"), ("status.first", "kept"), ("spec['size']", "size")] {
        let made =
            format!("job has no column for the field `{field}`; the column `{column}` is made of it: name this column");
        assert_eq!(said(field), made);
    }
    let other = said("status['other.log']");
    let advice = "`{column: ..., path: .status[\"other.log\"]}`";
    assert!(other.contains(advice) && other.contains("`other.log` in `status`"), "{other}");
}
