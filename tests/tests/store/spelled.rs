//! One kind, two spellings: a struct and a file with the same columns give the same tables and the same rows.

#![allow(unreachable_pub, reason = "structs are written as a user writes them")]

use crate::world::{Stores as _, World};
use anyhow::{Result, ensure};
use ingester_core::object::{ManagedFields, Object};
use ingester_core::schema::{BASE_COLUMNS, Column, SqlType};
use ingester_core::value::Value;
use ingester_core::wire::Time;
use ingester_core::{Ingestable, Kind};
use ingester_declare::declare::{self, scaffold_rust_of, spelled};
use ingester_sql::ddl::{Schema, diff};
use ingester_store::ConnectOptions;
use ingester_store::migrate::drift;
use ingester_tests::on_every_database;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::fmt::Write as _;

/// The structs that `ingester scaffold --rust --kind` writes for the kinds of the file, and for those of `examples/cert-manager`.
#[path = "spelled/example.rs"]
mod example;
#[path = "spelled/scaffolded.rs"]
mod scaffolded;

on_every_database! {
    a_file_and_a_struct_make_the_same_tables
}

/// Kinds of one namespace, each as a projection and as a file. Of a column: the field, that as a path, its name in JSON, the column, the type in Rust
/// with the options of `#[index]`, the options in the file, and the text after its path there.
macro_rules! spelled {
    ($($group:literal $kind:ident $spelled:literal $absent:literal {
        $($part:ident: $of_part:ident {
            $($field:ident $path:literal $name:literal $column:literal: $ty:ty $([$($option:tt)*])? => $yaml:literal $(behind $function:literal)?;)*
        })*
    })*) => {
        $(
            #[derive(Ingestable, Deserialize, Default)]
            #[serde(default)]
            #[ingest(group = $group, version = "v1", kind = $spelled, namespaced, finalizer = "never", absent = $absent)]
            pub struct $kind {
                $(
                    $(#[index(column = $column, path = $path, json = $name $(, $($option)*)?)])*
                    pub $part: $of_part,
                )*
            }
            $(
                #[derive(Deserialize, Default)]
                #[serde(default)]
                pub struct $of_part { $(#[serde(rename = $name)] pub $field: $ty,)* }
            )*
        )*

        const KINDS: &[Kind] = &[$(Kind::of::<$kind>()),*];

        /// The same as a file.
        fn file() -> String {
            let mut text = String::from("kinds:\n");
            $(
                let _ = write!(
                    text,
                    "- {{group: {}, version: v1, kind: {}, namespaced: true, finalizer: never, strict: true, absent: {}, columns: [\n",
                    $group, $spelled, $absent
                );
                $($(
                    let _ = writeln!(
                        text,
                        "    {{column: {}, path: '.{}.{}{}', {}}},",
                        $column, stringify!($part), $name, concat!("" $(, $function)?), $yaml
                    );
                )*)*
                text.push_str("  ]}\n");
            )*
            text
        }
    };
}

spelled! {
    "made.up" Apple "Apple" "null" { spec: AppleSpec {
        colour "colour" "colour" "colour": Option<String> => "type: VARCHAR(255)";
        size "size" "size" "size": Option<i32> => "type: INT";
    } }
    "made.up" Pear "Pear" "empty" { spec: PearSpec {
        colour "colour" "colour" "colour": String => "type: VARCHAR(255)";
        size "size" "size" "size": i32 => "type: INT";
    } }
    "made.up" Plum "Plum" "empty" { spec: PlumSpec {
        colour "colour" "colour" "colour": Option<String> => "type: VARCHAR(255)";
        size "size" "size" "size": Option<i32> => "type: INT";
    } }
    "made.up" Fig "Fig" "null" { spec: FigSpec {
        memory "memory" "memory" "memory": Option<Quantity> [unit = "whole"] => "type: BIGINT, unit: whole" behind " | quantity";
        cpu "cpu" "cpu" "cpu": Option<Quantity> [unit = "milli"] => "type: BIGINT, unit: milli" behind " | quantity";
        disk "disk" "disk" "disk": Option<String> [unit = "whole"] => "type: BIGINT" behind " | quantity";
    } }
    "made.up" Date "Date" "empty" { spec: DateSpec {
        memory "memory" "memory" "memory": Option<Quantity> [unit = "whole"] => "type: BIGINT, unit: whole" behind " | quantity";
        cpu "cpu" "cpu" "cpu": Option<String> [unit = "milli"] => "type: BIGINT, unit: milli" behind " | quantity";
    } }
    "made.up" Lime "Lime" "null" { spec: LimeSpec {
        since "since" "since" "since": Option<Time> => "type: DATETIME(6)";
        until "until" "until" "until": Option<Time> [key = false] => "type: DATETIME(6), key: false";
    } }
    "made.up" Kiwi "Kiwi" "empty" { spec: KiwiSpec {
        since "since" "since" "since": Option<Time> => "type: DATETIME(6)";
        open "open" "open" "open": bool => "type: BOOLEAN";
    } }
    "made.up" Nut "Nut" "null" { spec: NutSpec {
        open "open" "open" "open": Option<bool> => "type: BOOLEAN";
        share "share" "share" "share": Option<f64> => "type: DOUBLE";
    } }
    "made.up" Oak "Oak" "empty" { spec: OakSpec {
        share "share" "share" "share": f64 => "type: DOUBLE";
        count "count" "count" "count_of_it": i64 => "type: BIGINT";
    } }
    "made.up" Elm "Elm" "null" { spec: ElmSpec {
        count "count" "count" "count_of_it": Option<i64> => "type: BIGINT";
        many "many" "many" "many_of_it": Option<u64> => "type: BIGINT UNSIGNED";
    } }
    "made.up" Ash "Ash" "empty" { spec: AshSpec {
        many "many" "many" "many_of_it": u64 => "type: BIGINT UNSIGNED";
        short "short" "short" "short": String [type = "VARCHAR(16)"] => "type: VARCHAR(16)";
    } }
    "made.up" Yew "Yew" "null" { spec: YewSpec {
        short "short" "short" "short": Option<String> [type = "VARCHAR(16)", keep] => "type: VARCHAR(16), keep: true";
        first "first" "first" "first": Option<String> [first] => "type: VARCHAR(255), first: true";
    } }
    "made.up" Ivy "Ivy" "null" { spec: IvySpec {
        text "text" "text" "text": Option<String> [type = "TEXT", key = false] => "type: TEXT, key: false";
        long "long" "long" "long": Option<String> [type = "MEDIUMTEXT", key = false] => "type: MEDIUMTEXT, key: false";
    } }
    "made.up" Fern "Fern" "empty" { spec: FernSpec {
        text "text" "text" "text": String [type = "TEXT", key = false] => "type: TEXT, key: false";
        maybe "maybe" "maybe" "maybe": Option<String> [absent = "null"] => "type: VARCHAR(255), absent: null";
    } }
    "made.up" Moss "Moss" "null" { spec: MossSpec {
        always "always" "always" "always": String [absent = "empty"] => "type: VARCHAR(255), absent: empty";
        phase "phase" "phase" "phase": Option<String> => "type: VARCHAR(255)";
    } status: MossStatus {
        phase "phase" "phase" "status_phase": Option<String> => "type: VARCHAR(255)";
    } }
    "made.up" Reed "Reed" "empty" { spec: ReedSpec {
        name "name" "displayName" "display_name": String => "type: VARCHAR(255)";
    } status: ReedStatus {
        ready "ready" "isReady" "is_ready": Option<bool> => "type: BOOLEAN";
        seen "seen" "lastSeen" "last_seen": Option<Time> => "type: DATETIME(6)";
    } }
    "made.up" Rose "Rose" "null" { spec: RoseSpec {
        dash "dash" "a-b" "a_b": Option<String> => "type: VARCHAR(255)";
        underscore "underscore" "a_c" "a_c": Option<i32> => "type: INT";
    } }
    "made.up" Lily "Lily" "null" { spec: LilySpec {
        cpu "cpu" "cpu" "cpu": Option<Quantity> => "type: BIGINT, unit: milli" behind " | quantity";
        small "small" "small" "small": Option<u8> => "type: INT";
    } }
    "made.up" Iris "Iris" "empty" { spec: IrisSpec {
        small "small" "small" "small": u16 => "type: INT";
        wide "wide" "wide" "wide": u32 => "type: BIGINT";
    } }
    "made.up" Aloe "Aloe" "null" { spec: AloeSpec {
        list "list" "list" "list": Vec<String> [many] => "type: VARCHAR(255), many: true" behind "[*]";
        one "one" "one" "one": Option<String> => "type: VARCHAR(255)";
    } }
    "cert-manager.io" Certificate "Certificate" "null" { spec: CertificateSpec {
        secret "secret" "secretName" "secret_name": Option<String> => "type: VARCHAR(255)";
        common "common" "commonName" "common_name": Option<String> => "type: VARCHAR(255)";
        names "names" "dnsNames" "dns_names": Vec<String> [many] => "type: VARCHAR(255), many: true" behind "[*]";
    } status: CertificateStatus {
        after "after" "notAfter" "not_after": Option<Time> => "type: DATETIME(6)";
        revision "revision" "revision" "revision": Option<i64> => "type: BIGINT";
    } }
    "cert-manager.io" CertificateRequest "CertificateRequest" "null" { spec: CertificateRequestSpec {
        username "username" "username" "username": Option<String> => "type: VARCHAR(255)";
        is_ca "is_ca" "isCA" "is_ca": Option<bool> => "type: BOOLEAN";
    } status: CertificateRequestStatus {
        failure "failure" "failureTime" "failure_time": Option<Time> => "type: DATETIME(6)";
    } }
    "cert-manager.io" Issuer "Issuer" "null" { status: IssuerStatus {
        uri "uri" "lastRegisteredEmail" "email": Option<String> => "type: VARCHAR(255)";
    } }
    "cert-manager.io" ClusterIssuer "ClusterIssuer" "empty" { status: ClusterIssuerStatus {
        uri "uri" "lastRegisteredEmail" "email": Option<String> => "type: VARCHAR(255)";
    } }
    "acme.cert-manager.io" Order "Order" "null" { spec: OrderSpec {
        common "common" "commonName" "common_name": Option<String> => "type: VARCHAR(255)";
        names "names" "dnsNames" "dns_names": Vec<String> [many] => "type: VARCHAR(255), many: true" behind "[*]";
    } status: OrderStatus {
        state "state" "state" "order_state": Option<String> => "type: VARCHAR(255)";
        reason "reason" "reason" "reason": Option<String> [type = "TEXT", key = false] => "type: TEXT, key: false";
    } }
    "acme.cert-manager.io" Challenge "Challenge" "null" { spec: ChallengeSpec {
        dns "dns" "dnsName" "dns_name": Option<String> => "type: VARCHAR(255)";
        wildcard "wildcard" "wildcard" "wildcard": Option<bool> => "type: BOOLEAN";
    } status: ChallengeStatus {
        presented "presented" "presented" "presented": Option<bool> => "type: BOOLEAN";
        state "state" "state" "challenge_state": Option<String> => "type: VARCHAR(255)";
    } }
}

/// The first of the structs, with the columns `colour` and `size`.
pub(crate) fn apple() -> Kind {
    KINDS[0]
}

/// The kinds of a file.
pub(crate) fn declared(text: &str) -> Vec<Kind> {
    let file = declare::kinds("kinds.yaml", text, &|_| Err(std::io::ErrorKind::NotFound.into()));
    file.unwrap_or_else(|error| panic!("{error}\n{text}")).kinds
}

/// An object of a kind: each column's path has nothing, `null`, an empty value or another one; parents of a path may be
/// missing, too.
pub(crate) fn object(kind: &Kind, chance: &mut fastrand::Rng) -> String {
    let mut object = json!({
        "apiVersion": kind.api_version(),
        "kind": kind.kind(),
        "metadata": {"name": "a", "uid": "a", "resourceVersion": "1", "namespace": "a", "generation": 3},
    });
    if !kind.namespaced() {
        object["metadata"].as_object_mut().unwrap().remove("namespace");
    }
    let table = kind.table();
    let columns = table.indexed().iter().filter(|column| !column.computed).map(|column| (column.path, Some(column)));
    for (path, column) in columns.chain(table.many.iter().map(|many| (many.path, None))) {
        let Some(path) = path else { continue };
        let names: Vec<&str> = path.steps().collect();
        if names[0] != "metadata" {
            put(&mut object, &names, column, chance);
        }
    }
    object.to_string()
}

fn put(at: &mut Json, names: &[&str], column: Option<&Column>, chance: &mut fastrand::Rng) {
    let Some(map) = at.as_object_mut() else { return };
    let name = names[0].to_owned();
    let rest = &names[1..];
    match chance.u8(..10) {
        0 => {}
        1 if !map.contains_key(&name) => {
            map.insert(name, Json::Null);
        }
        _ if rest.is_empty() => {
            let value = match column {
                Some(column) => value(column, chance),
                None => json!([Json::from("a"), Json::from("b"), Json::Null, Json::from("a")][..chance.usize(..5)]),
            };
            map.insert(name, value);
        }
        _ => put(map.entry(name).or_insert_with(|| json!({})), rest, column, chance),
    }
}

fn value(column: &Column, chance: &mut fastrand::Rng) -> Json {
    let one = |all: &[Json], chance: &mut fastrand::Rng| all[chance.usize(..all.len())].clone();
    if column.unit.is_some() {
        return one(
            &[json!("500m"), json!("2Gi"), json!("0"), json!("-1"), json!("1e3"), json!("100n"), json!("8Pi")],
            chance,
        );
    }
    match column.ty {
        SqlType::VarChar(_) | SqlType::Text | SqlType::MediumText => {
            one(&[json!(""), json!("a"), json!("A long text"), json!("\u{e9}\u{1f600}"), json!(" a ")], chance)
        }
        SqlType::Boolean => one(&[json!(true), json!(false)], chance),
        SqlType::Int => one(&[json!(0), json!(7), json!("7"), json!(255)], chance),
        SqlType::BigInt | SqlType::BigIntUnsigned | SqlType::IntUnsigned => {
            one(&[json!(0), json!(7), json!("8"), json!(4_000_000_000_u64)], chance)
        }
        SqlType::Double => one(&[json!(0), json!(0.5), json!(-1e9)], chance),
        SqlType::DateTime => one(&[json!("2026-03-09T20:36:47Z"), json!("2026-03-09T20:36:47.123456Z")], chance),
        SqlType::LongBlob | SqlType::Json => Json::Null,
    }
}

/// Compares the rows of random objects by two spellings of the same kinds; the file may lack columns that only Rust can compute.
fn compare(compiled: &[Kind], declared: &[Kind]) {
    compare_edited(compiled, declared, |text| text);
}

/// Compares the rows of random objects after an edit.
fn compare_edited(compiled: &[Kind], declared: &[Kind], edit: impl Fn(String) -> String) {
    let objects = std::env::var("SPELLED_OBJECTS").ok().and_then(|objects| objects.parse().ok()).unwrap_or(10_000);
    let mut chance = fastrand::Rng::with_seed(20_261_125);
    let mut both = 0;
    let mut neither = 0;
    for number in 0..objects {
        let one = &compiled[number % compiled.len()];
        let other = &declared[number % declared.len()];
        assert_eq!(one.kind(), other.kind());
        let text = edit(object(one, &mut chance));
        let object = Object::parse(&text, ManagedFields::Prune).unwrap();
        let rows = [one, other].map(|kind| kind.row(&object).map(Option::unwrap));
        let [Ok(row), Ok(again)] = &rows else {
            let [Err(_), Err(_)] = rows else { panic!("only one of the spellings rejects {text}: {rows:?}") };
            neither += 1;
            continue;
        };
        both += 1;
        for (place, column) in other.table().columns.iter().enumerate().skip(BASE_COLUMNS.len()) {
            let its = one.table().by_name(column.name.as_str()).unwrap();
            assert_eq!(row.values[its], again.values[place], "{} {}: {text}", one.kind(), column.name);
        }
        assert_eq!(row.many, again.many, "{}: {text}", one.kind());
    }
    assert!(both > objects / 2, "{both} of {objects} are rows, {neither} are none");
}

#[test]
fn a_file_and_a_struct_give_the_same_rows() {
    compare(KINDS, &declared(&file()));
}

#[test]
fn a_struct_printed_as_a_file_gives_the_same_rows() {
    for kinds in [KINDS, crd_specs::KINDS] {
        let file = spelled(kinds);
        let again = declared(&file);
        for changes in [
            diff(&Schema::from_registry(kinds), &Schema::from_registry(&again)),
            diff(&Schema::from_registry(&again), &Schema::from_registry(kinds)),
        ] {
            let changes: Vec<String> = changes.iter().map(|change| change.sentence()).collect();
            assert!(changes.is_empty(), "{changes:?}\n{file}");
        }
        compare(kinds, &again);
        // A kind of a file is printed as it was read.
        assert_eq!(Schema::from_registry(&declared(&spelled(&again))), Schema::from_registry(&again));
    }
}

/// A module for each kind, and the list of them. `test` is the test that writes the file.
pub(crate) fn structs(kinds: &[Kind], test: &str) -> String {
    let mut text = String::new();
    let mut list = String::new();
    for kind in kinds {
        let module = kind.table().name;
        // Lines before the module are about all of it.
        let written = scaffold_rust_of(kind).unwrap().replace("//!", "//");
        let _ = writeln!(text, "pub mod {module} {{\n{written}}}\n");
        let (_, name) = written.split_once("pub struct ").unwrap();
        let (name, _) = name.split_once(' ').unwrap();
        let _ = writeln!(list, "    Kind::of::<{module}::{name}>(),");
    }
    format!(
        "// `INGESTER_UPDATE=1 cargo test -p ingester-tests --test store {test}` writes it.\n\n\
         use ingester_core::Kind;\n\n{text}pub const KINDS: &[Kind] = &[\n{list}];\n"
    )
}

/// Checks that a file has these structs; it is formatted.
pub(crate) fn is_current(name: &str, written: &str) {
    let place = format!("{}/tests/store/{name}.rs", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("INGESTER_UPDATE").is_some() {
        std::fs::write(&place, written).unwrap();
    }
    // What formatting changes: blanks, commas at the ends of lists, and braces around what a closure returns.
    let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace() && !",{}".contains(*c)).collect::<String>();
    assert_eq!(bare(&std::fs::read_to_string(&place).unwrap()), bare(written), "{name}: INGESTER_UPDATE=1 writes it");
}

fn changes(before: &[Kind], after: &[Kind]) -> Vec<String> {
    diff(&Schema::from_registry(before), &Schema::from_registry(after)).iter().map(|change| change.sentence()).collect()
}

#[test]
fn a_struct_that_is_scaffolded_out_of_a_file_has_its_tables_and_rows() {
    // With the settings besides columns, too.
    let rule = "evict: [{name: past, when: {fieldSelector: 'spec.since<2026-01-01T00:00:00Z', labelSelector: '!draft'}, after: 90m, \
                since: until, keepLast: {count: 2, by: [namespace]}, namespaces: [a], namespaceSelector: tier=b}, {name: old, after: 1d}], ";
    let file = file().replace("kind: Lime, ", &format!("kind: Lime, {rule}"));
    let declared = declared(&file);
    assert_eq!(declared.iter().map(|kind| kind.evict().len()).sum::<usize>(), 2, "{file}");
    is_current("spelled/scaffolded", &structs(&declared, "scaffolded"));
    assert_eq!(changes(scaffolded::KINDS, &declared), [""; 0]);
    assert_eq!(changes(&declared, scaffolded::KINDS), [""; 0]);
    // A file takes a number where the schema has int-or-string, so its struct does as well.
    let numbers = |text: String| text.replace("\"1e3\"", "1000").replace("\"0\"", "0.5").replace("\"-1\"", "-1");
    compare_edited(scaffolded::KINDS, &declared, numbers);
    for (compiled, declared) in scaffolded::KINDS.iter().zip(&declared) {
        let said = |kind: &Kind| (kind.finalizer(), kind.definition().evictable, kind.immutable(), kind.retention());
        assert_eq!(said(compiled), said(declared));
        assert_eq!((compiled.plural(), compiled.namespaced()), (declared.plural(), declared.namespaced()));
        assert_eq!(compiled.evict(), declared.evict());
    }
    let again = spelled(scaffolded::KINDS);
    let again = self::declared(&again);
    for (compiled, again) in scaffolded::KINDS.iter().zip(&again) {
        assert_eq!(compiled.evict(), again.evict());
    }
}

/// Lists, defaults, annotations, filters: everything that a struct cannot express is reported, and everything else is the same.
#[test]
fn a_scaffolded_struct_names_what_it_lacks_of_a_file_and_lacks_nothing_else() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/cert-manager");
    let declared = declared(&std::fs::read_to_string(format!("{folder}/kinds.yaml")).unwrap());
    let written = structs(&declared, "scaffolded");
    is_current("spelled/example", &written);
    let left: Vec<&str> =
        written.lines().filter_map(|line| line.split_once("// not expressible: ")).map(|(_, left)| left).collect();
    assert_eq!(left, LEFT);
    let mut rows = 0;
    let objects = std::fs::read(format!("{folder}/objects.yaml")).unwrap();
    for document in ingester_declare::documents::documents(objects.as_slice()) {
        let object = Object::parse(document.unwrap().content.unwrap(), ManagedFields::Prune).unwrap();
        let of = |kinds: &[Kind]| {
            let kind = *ingester_core::kind::find(kinds, object.api_version(), object.kind()).unwrap();
            (kind, kind.row(&object).unwrap())
        };
        let ((compiled, row), (declared, again)) = (of(example::KINDS), of(&declared));
        let (Some(row), Some(again)) = (row, again) else { continue };
        for (place, column) in compiled.table().columns.iter().enumerate().skip(BASE_COLUMNS.len()) {
            let its = declared.table().by_name(column.name.as_str()).unwrap();
            assert_eq!(row.values[place], again.values[its], "{} {}", compiled.kind(), column.name);
            assert_eq!(column.ty, declared.table().columns[its].ty);
        }
        let lacks = declared.table().columns.len() - compiled.table().columns.len();
        let named = left.iter().filter(|left| left.starts_with("column")).count();
        assert!(lacks <= named, "{} lacks {lacks} columns", compiled.kind());
        assert_eq!(row.many, again.many);
        rows += 1;
    }
    assert!(rows > 7, "{rows}");
}

/// The columns that the structs of `examples/cert-manager` lack.
const LEFT: &[&str] = &[
    "column `order_name` of `.metadata.ownerReferences[controller=\"true\"].name`; a function can make it, `#[index(column = \"order_name\", with = ..., type = \"VARCHAR(253)\")]`.",
];

async fn a_file_and_a_struct_make_the_same_tables(world: World) -> Result<()> {
    let store = world.connect(ConnectOptions::default()).await?;
    let declared = declared(&file());
    let compiled = KINDS;
    let declared = &declared[..];
    for [made, other] in [[compiled, declared], [declared, compiled]] {
        store.create_missing(made).await?;
        let differences = drift(&Schema::from_registry(other), &store.catalog().await?, store.dialect());
        ensure!(differences.is_empty(), "{differences:?}");
    }
    Ok(())
}

/// The kinds of docs/kinds-reference.md, "Absent values": structs without such settings, with `Option`s and with other types.
mod of_page {
    use super::{Deserialize, Ingestable, Time};

    macro_rules! one {
        ($kind:ident $spelled:literal $spec:ident) => {
            #[derive(Ingestable, Deserialize)]
            #[ingest(group = "made.up", version = "v1", kind = $spelled, namespaced, finalizer = "never")]
            pub struct $kind {
                #[index(path = "text")]
                #[index(path = "number", type = "INT")]
                #[index(path = "truth")]
                #[index(path = "time")]
                #[serde(default)]
                pub spec: $spec,
            }
        };
    }

    one!(Optional "Optional" OptionalSpec);
    one!(Plain "Plain" PlainSpec);

    #[derive(Deserialize, Default)]
    #[serde(default)]
    pub struct OptionalSpec {
        pub text: Option<String>,
        pub number: Option<i32>,
        pub truth: Option<bool>,
        pub time: Option<Time>,
    }

    #[derive(Deserialize, Default)]
    #[serde(default)]
    pub struct PlainSpec {
        pub text: String,
        pub number: i32,
        pub truth: bool,
        // A time has no default that could be stored.
        pub time: Option<Time>,
    }
}

/// The rows of the table below a heading of docs/kinds-reference.md.
fn table_of_page(heading: &str) -> Vec<Vec<String>> {
    let page = include_str!("../../../docs/kinds-reference.md");
    let (_, section) = page.split_once(&format!("\n### {heading}\n")).unwrap();
    let lines =
        section.lines().skip_while(|line| !line.starts_with('|')).skip(2).take_while(|line| line.starts_with('|'));
    let cells = |line: &str| line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect();
    lines.map(cells).collect()
}

fn render_value(value: &Value) -> String {
    match value {
        Value::Null => "NULL".into(),
        Value::Text(text) => format!("`{text}`"),
        Value::Bool(truth) => u8::from(*truth).to_string(),
        other => other.to_string(),
    }
}

fn row_of(kind: &Kind, fields: &Json) -> Vec<Value> {
    let mut object = fields.clone();
    for (name, value) in [
        ("apiVersion", json!(kind.api_version())),
        ("kind", json!(kind.kind())),
        ("metadata", json!({"name": "a", "namespace": "a"})),
    ] {
        object[name] = value;
    }
    let row = kind.row(&Object::parse(object.to_string(), ManagedFields::Prune).unwrap());
    row.map_or_else(|_| vec![], |row| row.unwrap().values[BASE_COLUMNS.len()..].to_vec())
}

#[test]
fn the_page_says_what_is_stored_where_there_is_no_value() {
    let file = |absent: &str| {
        let kind = format!(
            "kinds:\n- {{group: made.up, version: v1, kind: Page, namespaced: true, strict: true, absent: {absent}, columns: [\n\
             {{column: text, path: .spec.text, type: VARCHAR(255)}}, {{column: number, path: .spec.number, type: INT}},\n\
             {{column: truth, path: .spec.truth, type: BOOLEAN}}, {{column: time, path: .spec.time, type: DATETIME(6)}}]}}\n"
        );
        declared(&kind).remove(0)
    };
    let kinds = [file("null"), file("empty"), Kind::of::<of_page::Optional>(), Kind::of::<of_page::Plain>()];
    let rows = table_of_page("Absent values");
    assert_eq!(rows.len(), 9);
    for cells in rows {
        let fields: Json = serde_json::from_str(cells[0].trim_matches('`')).unwrap();
        let about = if cells[0].contains("number") {
            1..3
        } else if cells[0].contains("time") {
            3..4
        } else {
            0..1
        };
        for (kind, said) in kinds.iter().zip(&cells[1..]).filter(|(_, said)| *said != "-") {
            let values = row_of(kind, &fields);
            let is: Vec<String> = values[about.clone()].iter().map(render_value).collect();
            assert_eq!(is.join(", "), said.replace("` `", "``"), "{} of {}", cells[0], kind.kind());
        }
    }
}

#[test]
fn the_page_says_what_quantities_become() {
    let kind = |options: &str| {
        let kind = format!(
            "kinds:\n- {{group: made.up, version: v1, kind: Page, namespaced: true, strict: true, columns: [\n\
             {{column: quantity, path: '.spec.quantity | quantity', {options}}}]}}\n"
        );
        declared(&kind).remove(0)
    };
    let kinds =
        [kind("type: BIGINT"), kind("type: BIGINT, unit: milli"), kind("type: DOUBLE"), kind("type: VARCHAR(32)")];
    let rows = table_of_page("Quantities");
    assert_eq!(rows.len(), 5);
    for cells in rows {
        let fields = json!({"spec": {"quantity": cells[0].trim_matches('`')}});
        for (kind, said) in kinds.iter().zip(&cells[1..]) {
            let is = row_of(kind, &fields).first().map_or_else(|| "does not fit".into(), render_value);
            assert_eq!(is, *said, "{}", cells[0]);
        }
    }
}
