//! The kinds once more, declared in YAML from their own tables: the same objects give the same values.
//!
//! A struct has a zero value for an absent field, such as the empty text or an enum's first name; a declared column is NULL then. That is the only
//! difference.

use crate::golden::samples;
use crate::objects::{object, read};
use crate::tolerance::{any_json, target};
use crd_specs::KINDS;
use ingester_core::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_core::schema::{BASE_COLUMNS, EvictionRule};
use ingester_core::value::Value;
use ingester_declare::declare::kinds;
use ingester_declare::documents::documents;
use ingester_declare::evict::check_selectors;
use proptest::prelude::*;
use std::fmt::Write as _;
use std::sync::LazyLock;

/// A kind, and the same one declared.
struct KindPair {
    compiled: &'static Kind,
    declared: Kind,
    /// The values of an object without spec and status.
    empty: Row,
}

/// Each kind with the columns whose values are somewhere in the JSON.
static BOTH: LazyLock<Vec<KindPair>> = LazyLock::new(|| {
    let declared = |compiled: &'static Kind| {
        let group = compiled.group();
        let version = compiled.version();
        let kind = compiled.kind();
        let mut text = format!(
            "kinds:\n- group: {group}\n  version: {version}\n  kind: {kind}\n  namespaced: true\n  strict: true\n  columns:\n"
        );
        for column in compiled.table().indexed().iter().filter(|column| !column.computed) {
            let path = column.path.unwrap_or_else(|| panic!("{kind} does not say where {} is", column.name));
            let _ = writeln!(text, "  - {{column: {}, path: .{path}, type: {}, key: false}}", column.name, column.ty);
        }
        let file = kinds("kinds.yaml", &text, &|_| Err(std::io::ErrorKind::NotFound.into()));
        let file = file.unwrap_or_else(|error| panic!("{error}\n{text}"));
        let bare = format!(
            r#"{{"apiVersion": "{group}/{version}", "kind": "{kind}", "metadata": {{"name": "a", "namespace": "b", "uid": "c", "resourceVersion": "1"}}}}"#
        );
        KindPair { compiled, declared: file.kinds[0], empty: read(compiled, &bare).unwrap() }
    };
    KINDS.iter().map(declared).collect()
});

/// Compares the rows of one object, and returns how many of the indexed values were not absent.
fn compare(both: &KindPair, compiled: &Row, declared: &Row) -> Result<usize, String> {
    let table = both.compiled.table();
    let mut there = 0;
    for (place, column) in both.declared.table().columns.iter().enumerate() {
        let own = table.columns.iter().position(|own| own.name == column.name).unwrap();
        // When it was written, and by which definition.
        if ["update_time", "ingest_version", "proto"].contains(&column.name.as_str()) {
            continue;
        }
        let is = &declared.values[place];
        let wanted = &compiled.values[own];
        let zero = [Value::text(""), Value::Int(0), Value::UInt(0), Value::Bool(false), Value::Double(0.0)];
        let first_of_enum = matches!(wanted, Value::Text(name) if name.ends_with("_INVALID"));
        let is_zero = first_of_enum || zero.contains(wanted) || *wanted == both.empty.values[own];
        let absent = *is == Value::Null && is_zero;
        if is != wanted && !absent {
            return Err(format!("{} {}: declared {is:?}, compiled {wanted:?}", both.compiled.kind(), column.name));
        }
        there += usize::from(*is != Value::Null && place >= BASE_COLUMNS.len());
    }
    Ok(there)
}

fn both_of(kind: &Kind) -> &'static KindPair {
    BOTH.iter().find(|both| both.compiled.kind() == kind.kind()).unwrap()
}

#[test]
fn the_samples_have_the_same_rows_by_both_forms() {
    let mut objects = 0;
    let mut values = 0;
    for (name, text) in samples() {
        for document in documents(text.as_bytes()) {
            let text = document.unwrap().content.unwrap();
            let parsed = Object::parse(&text, ManagedFields::Prune).unwrap();
            let both = BOTH.iter().find(|both| both.compiled.kind() == parsed.kind()).unwrap();
            let rows = [both.compiled, &both.declared]
                .map(|kind| read(kind, &text).unwrap_or_else(|error| panic!("{name}: {error}")));
            values += compare(both, &rows[0], &rows[1]).unwrap_or_else(|error| panic!("{name}: {error}"));
            objects += 1;
        }
    }
    assert!(objects >= 13 && values >= 9, "{objects} {values}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn whatever_both_forms_read_has_the_same_values((kind, steps) in target(), value in any_json()) {
        let text = object(kind, &steps, &value);
        let both = both_of(kind);
        if let (Ok(compiled), Ok(declared)) = (read(both.compiled, &text), read(&both.declared, &text)) {
            prop_assert_eq!(compare(both, &compiled, &declared).map(|_| ()), Ok(()), "{}", text);
        }
    }
}

/// A struct's rule, whose values constant evaluation does not read.
#[test]
fn a_rule_of_a_struct_names_only_values_of_its_enum() {
    const fn rule(field_selector: &'static str) -> EvictionRule {
        EvictionRule {
            name: "finished",
            field_selector,
            label_selector: "",
            after: None,
            since: None,
            keep_last: None,
            namespaces: &[],
            namespace_selector: "",
        }
    }
    const RIGHT: &[EvictionRule] = &[rule("status.state=PIPELINE_RUN_STATE_SUCCEEDED")];
    const WRONG: &[EvictionRule] =
        &[rule("status.state!=SUCCEEDED"), rule("status.state='PIPELINE_RUN_STATE_SUCCEEDED'")];
    let runs = KINDS.iter().find(|kind| kind.kind() == "PipelineRun").unwrap();
    assert_eq!(check_selectors(&runs.evicting(RIGHT)).next(), None);
    let said: Vec<String> = check_selectors(&runs.evicting(WRONG)).collect();
    assert!(
        said[0].starts_with("the rule `finished` of PipelineRun: `status.state` is an enum, and `SUCCEEDED`"),
        "{said:?}"
    );
    assert!(said[1].contains("is in quotes"), "{said:?}");
}
