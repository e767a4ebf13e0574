//! Tables that a file of kinds has filled become those of the structs that `ingester scaffold --rust --kinds` writes for it: no row changes,
//! and no object is rejected.

#![allow(unreachable_pub, reason = "structs are written as a user writes them")]

use crate::spelled::{self, is_current, object, structs};
use crate::world::{Stores as _, World};
use anyhow::{Context as _, Result, ensure};
use ingester_core::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::schema::{BASE_COLUMNS, base};
use ingester_declare::declare::{crds, scaffold, scaffold_rust_of, spelled};
use ingester_declare::documents::documents;
use ingester_store::migrate::{AllowedChanges, Backfill, BackfillProgress, Folder, GenerateOptions};
use ingester_store::{ConnectOptions, RowChange, Store};
use ingester_tests::databases::Database;
use ingester_tests::{on_databases, on_every_database};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// The structs for the CRDs of `tests/crds`, with every field that the file offers; for the examples' kinds; for made-up kinds.
#[path = "adopted/crds.rs"]
mod of_crds;
#[path = "adopted/examples.rs"]
mod of_examples;
#[path = "adopted/made_up.rs"]
mod of_made_up;

// What structs and files do differently does not depend on the database.
on_databases! { (no_row_of_a_crd_changes) [sqlite Sqlite] }
on_databases! { (no_row_of_an_example_changes) [sqlite Sqlite] }
on_databases! { (no_row_of_a_made_up_kind_changes) [sqlite Sqlite] }

on_every_database! {
    the_rows_that_a_backfill_reads_are_counted
}

/// A file of the repository.
fn text_of(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).unwrap()
}

/// The objects in a folder of the repository, or in a file.
fn objects_of(path: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    let mut files = match path.read_dir() {
        Ok(entries) => entries.map(|entry| entry.unwrap().path()).collect(),
        Err(_) => vec![path],
    };
    files.sort();
    let mut objects = Vec::new();
    for file in files {
        let text = std::fs::read(file).unwrap();
        objects.extend(documents(text.as_slice()).map(|document| document.unwrap().content.unwrap().to_string()));
    }
    objects
}

/// Objects with random values in the columns whose path consists of names.
fn random_objects(kinds: &[Kind]) -> Vec<String> {
    let mut chance = fastrand::Rng::with_seed(20_261_130);
    let mut objects = Vec::new();
    for (kind, number) in kinds.iter().flat_map(|kind| (0..20).map(move |number| (kind, number))) {
        let mut object: Json = serde_json::from_str(&object(kind, &mut chance)).unwrap();
        object["metadata"]["name"] = format!("random-{number}").into();
        object["metadata"]["uid"] = format!("{}-{number}", kind.table().name).into();
        objects.push(object.to_string());
    }
    objects
}

/// The kinds of a file without what no struct can express, as a user leaves it out who follows the comments of the struct.
fn expressible(text: &str) -> Vec<Kind> {
    let kinds = spelled::declared(text);
    let file = spelled(&kinds);
    let [file] = &documents(file.as_bytes()).map(|file| file.unwrap().content.unwrap()).collect::<Vec<_>>()[..] else {
        panic!("one document")
    };
    let mut file: Json = serde_json::from_str(file).unwrap();
    for (spelled, kind) in file["kinds"].as_array_mut().unwrap().iter_mut().zip(&kinds) {
        let written = scaffold_rust_of(kind).unwrap();
        let left: Vec<&str> =
            written.lines().filter_map(|line| line.split_once("// not expressible: ")).map(|(_, left)| left).collect();
        let is_left = |column: &Json| {
            let name = column.as_str().or_else(|| column["column"].as_str()).unwrap();
            left.iter().any(|left| left.starts_with(&format!("column `{name}` ")))
        };
        if let Some(columns) = spelled["columns"].as_array_mut() {
            columns.retain(|column| !is_left(column));
        }
        if let Some(keys) = spelled["keys"].as_array_mut() {
            keys.retain(|key| !key.as_array().into_iter().flatten().any(is_left));
        }
        if left.iter().any(|left| left.starts_with("the filter")) {
            spelled.as_object_mut().unwrap().remove("filter");
        }
    }
    let kinds = spelled::declared(&file.to_string());
    for kind in &kinds {
        let written = scaffold_rust_of(kind).unwrap();
        assert!(!written.contains("not expressible"), "{written}");
    }
    kinds
}

/// Every cell of the tables of these kinds, except for the number of the definition, which the lock file counts from now on.
async fn cells(database: &Database, kinds: &[Kind]) -> Result<BTreeMap<String, Vec<Vec<Option<String>>>>> {
    let mut tables = BTreeMap::new();
    for table in kinds.iter().map(Kind::table) {
        let columns = table.columns.iter().enumerate().filter(|(place, _)| *place != base::INGEST_VERSION);
        let columns: Vec<String> = columns.map(|(_, column)| format!("`{}`", column.name)).collect();
        let rows = database.sql(&format!("SELECT {} FROM `{}` ORDER BY uid", columns.join(", "), table.name)).await?;
        tables.insert(table.name.to_string(), rows);
        for companion in table.companions() {
            let name = table.companion(companion);
            let columns: Vec<String> = companion.columns().iter().map(|column| format!("`{}`", column.name)).collect();
            let columns = columns.join(", ");
            let rows = database.sql(&format!("SELECT {columns} FROM `{name}` ORDER BY {columns}")).await?;
            tables.insert(name.to_string(), rows);
        }
    }
    Ok(tables)
}

/// Runs a backfill to its end.
async fn fill(store: &Store, backfill: &Backfill) -> Result<BackfillProgress> {
    Ok(store.backfill(backfill, None, &CancellationToken::new(), |_| {}).await?)
}

/// Fills the tables of the kinds of a file, and adopts them for the structs.
async fn becomes_structs(database: &Database, declared: &[Kind], compiled: &[Kind], objects: &[String]) -> Result<()> {
    let store = database.connect(ConnectOptions::default()).await?;
    store.make_declared(declared, AllowedChanges::Add).await?;
    let mut changes: BTreeMap<usize, BTreeMap<String, RowChange>> = BTreeMap::new();
    for text in objects {
        let object = Object::parse(text.as_str(), ManagedFields::Prune)?;
        let is_its = |kind: &Kind| kind.api_version() == object.api_version() && kind.kind() == object.kind();
        let Some(place) = declared.iter().position(is_its) else { continue };
        if let Some(row) = declared[place].row(&object).with_context(|| text.clone())? {
            // The last state of each object.
            let uid = row.values[base::UID].to_string();
            changes.entry(place).or_default().insert(uid, RowChange::Row(row));
        }
        // Whatever the filter says, the struct accepts what the file has accepted.
        compiled[place].row(&object).with_context(|| format!("the struct rejects {text}"))?;
    }
    ensure!(changes.len() == declared.len(), "every kind has objects: {:?}", changes.keys());
    let mut counts = Vec::new();
    for (place, changes) in changes {
        let count = changes.len();
        let report = store.write(declared[place].table(), changes.into_values().collect()).await?;
        ensure!(report.written == count, "{report:?}");
        counts.push(count as u64);
    }
    let before = cells(database, declared).await?;

    let folder = tempfile::tempdir()?;
    let folder = Folder::new(folder.path());
    folder.generate(compiled, &GenerateOptions::default())?;
    let released = folder.released()?;
    let kinds = released.versioned(compiled)?;
    let differences = store.differences_from(&kinds).await?;
    ensure!(differences.is_empty(), "{:?}", differences.iter().map(|change| change.sentence()).collect::<Vec<_>>());
    ensure!(store.declared_before(&kinds).await?.len() == kinds.len());
    let applied = released.apply(&store, &mut |_| {}).await?;
    ensure!(applied.run.is_empty() && applied.drift.is_empty(), "{applied:?}");
    for (kind, count) in kinds.iter().zip(counts) {
        ensure!(store.adopt(kind).await? == count);
        let incomplete = store.incomplete_backfills(&[*kind], Some(&released)).await?;
        let filled = fill(&store, incomplete.first().context("rows without a number")?).await?;
        let is_unchanged = filled.complete && filled.filled == 0 && filled.failed == 0 && filled.marked == 0;
        ensure!(is_unchanged && filled.read == count, "{}: {filled:?}", kind.kind());
    }
    let after = cells(database, declared).await?;
    for (table, rows) in &before {
        ensure!(after.get(table) == Some(rows), "{table}: {rows:?} is {:?}", after.get(table));
    }
    Ok(())
}

/// The kinds of all CRDs of `tests/crds`, with every field that the scaffolded file offers.
fn kinds_of_crds() -> Vec<Kind> {
    let names = ["applications.argoproj.io", "certificates.cert-manager.io", "destinationrules.networking.istio.io"];
    let names = names.into_iter().chain(["prometheuses.monitoring.coreos.com"]);
    let definitions = names.flat_map(|name| crds(text_of(&format!("tests/crds/{name}.yaml")).as_bytes()).unwrap());
    let file = scaffold(&definitions.collect::<Vec<_>>()).unwrap();
    expressible(&file.replace("  # - {", "  - {"))
}

async fn no_row_of_a_crd_changes(world: World) -> Result<()> {
    let declared = kinds_of_crds();
    is_current("adopted/crds", &structs(&declared, "adopted"));
    let objects = [objects_of("tests/crds/objects"), random_objects(&declared)].concat();
    becomes_structs(&world, &declared, of_crds::KINDS, &objects).await
}

async fn no_row_of_an_example_changes(world: World) -> Result<()> {
    let examples = ["cert-manager", "kubedl", "michelangelo"];
    let files = examples.map(|example| expressible(&text_of(&format!("examples/{example}/kinds.yaml"))));
    is_current("adopted/examples", &structs(&files.concat(), "adopted"));
    let objects = ["cert-manager/objects.yaml", "kubedl/objects", "michelangelo/objects.yaml"];
    let mut compiled = of_examples::KINDS;
    for (number, (declared, objects)) in files.iter().zip(objects).enumerate() {
        let of_file;
        (of_file, compiled) = compiled.split_at(declared.len());
        let objects = [objects_of(&format!("examples/{objects}")), random_objects(declared)].concat();
        // The files have a kind in common.
        let name = format!("store::adopted::example_{number}");
        let database = Database::new(&name, world.on).await?.context("SQLite needs no server")?;
        becomes_structs(&database, declared, of_file, &objects).await?;
    }
    Ok(())
}

/// The number of made-up kinds.
const MADE_UP: usize = 50;

/// Names of fields that a struct cannot have as they are, or that look alike.
const FIELDS: [&str; 36] = [
    "type",
    "self",
    "crate",
    "override",
    "virtual",
    "final",
    "do",
    "yield",
    "try",
    "abstract",
    "macro",
    "box",
    "gen",
    "Self",
    "a.b",
    "a-b",
    "a b",
    "a/b",
    "$ref",
    "URL",
    "nodeIP",
    "dnsNames",
    "field2",
    "2fa",
    "barBaz",
    "bar_baz",
    "bar",
    "baz",
    "fooBar",
    "foo",
    "_x",
    "\u{fc}ber",
    "default",
    "value",
    "object",
    "name",
];

/// Names of columns that are words of Rust, or names of functions in the struct's module.
const COLUMNS: [&str; 14] = [
    "type", "self", "crate", "override", "has_row", "default", "new", "value_1", "object", "a_b", "aB", "2fa", "clone",
    "write",
];

/// The values that objects have at a path.
#[derive(Clone)]
struct Values {
    steps: Vec<String>,
    values: Vec<Json>,
}

/// A made-up kind under construction: its columns as a file writes them, and the values of their paths.
struct MadeUp<'c> {
    chance: &'c mut fastrand::Rng,
    columns: Vec<String>,
    names: Vec<String>,
    /// The columns that may be in a key.
    keyed: Vec<String>,
    values: Vec<Values>,
}

/// The types of a column of one value, with JSON values of it and with defaults.
fn types() -> Vec<(&'static str, Vec<Json>, &'static str)> {
    vec![
        ("VARCHAR(255)", vec![json!("a"), json!(""), json!("\u{e9}\u{1f600} \"'")], "'x \"y\"'"),
        ("VARCHAR(40)", vec![json!("short")], "none"),
        ("VARCHAR(768)", vec![json!("b".repeat(300))], "none"),
        ("TEXT, key: false", vec![json!("c".repeat(3000)), json!("line\nline")], "''"),
        ("BOOLEAN", vec![json!(true), json!(false)], "true"),
        ("INT", vec![json!(0), json!(-7), json!("7")], "-3"),
        ("BIGINT", vec![json!(9_000_000_000_i64), json!("8")], "12"),
        ("BIGINT UNSIGNED", vec![json!(u64::MAX / 2), json!(1)], "5"),
        ("DOUBLE", vec![json!(0.5), json!(3), json!(-1e300)], "2.5"),
        ("DATETIME(6)", vec![json!("2026-03-09T20:36:47Z"), json!("2026-03-09T20:36:47.5+02:00")], ""),
    ]
}

impl MadeUp<'_> {
    fn one<'v, T>(&mut self, of: &'v [T]) -> &'v T {
        &of[self.chance.usize(..of.len())]
    }

    /// A new name of a column.
    fn name(&mut self) -> String {
        let name = match self.chance.u8(..3) {
            0 => (*self.one(&COLUMNS)).to_owned(),
            _ => format!("column_{}", self.names.len()),
        };
        if self.names.iter().any(|other| other.eq_ignore_ascii_case(&name)) {
            return self.name();
        }
        self.names.push(name.clone());
        name
    }

    /// A new path to these values, in a place that no other path leads to or through.
    fn place(&mut self, values: Vec<Json>) -> Vec<String> {
        self.place_of(values, &FIELDS)
    }

    fn place_of(&mut self, values: Vec<Json>, fields: &[&str]) -> Vec<String> {
        let mut steps = vec![(*self.one(&["spec", "status", "data"])).to_owned()];
        for _ in 0..self.chance.usize(1..3) {
            steps.push((*self.one(fields)).to_owned());
        }
        let clashes =
            |other: &Values| other.steps.iter().zip(&steps).all(|(one, other)| one.eq_ignore_ascii_case(other));
        if self.values.iter().any(clashes) {
            return self.place_of(values, fields);
        }
        self.values.push(Values { steps: steps.clone(), values });
        steps
    }

    fn column(&mut self, name: &str, path: &str, options: &str) {
        let mut printed = String::new();
        if self.chance.u8(..4) == 0 {
            let _ = write!(printed, ", header: 'The {name}'");
        }
        if self.chance.u8(..6) == 0 {
            let _ = write!(printed, ", wide: {}", self.chance.bool());
        }
        if options.contains("DATETIME") && self.chance.bool() {
            printed.push_str(", age: true");
        }
        if options.contains("many") {
            printed.clear();
        } else if !options.contains("key: false") && !options.contains("VARCHAR(768)") {
            self.keyed.push(name.to_owned());
        }
        self.columns.push(format!("  - {{column: '{name}', path: {path}, {options}{printed}}}\n"));
    }

    fn add(&mut self) {
        let types = types();
        let (ty, values, default) = self.one(&types).clone();
        let name = self.name();
        let quoted = |path: &str| format!("'{}'", path.replace('\'', "''"));
        match self.chance.u8(..20) {
            0 => {
                let values = vec![json!("500m"), json!(2), json!("2Gi"), json!(0.5), json!("1e3")];
                // Of other names, only a function could make a number.
                let plain: Vec<&str> = FIELDS.into_iter().filter(|name| !name.contains(['.', ' '])).collect();
                let path = written(&self.place_of(values, &plain));
                let unit = *self.one(&["whole", "milli"]);
                self.column(&name, &quoted(&format!("{path} | quantity")), &format!("type: BIGINT, unit: {unit}"));
            }
            1 if !default.is_empty() => {
                let path = written(&self.place(values));
                self.column(&name, &quoted(&path), &format!("type: {ty}, default: {default}"));
            }
            2 => {
                let paths = [written(&self.place(values.clone())), written(&self.place(values))];
                let paths = paths.map(|path| quoted(&path)).join(", ");
                self.column(&name, &format!("[{paths}]"), &format!("type: {ty}"));
            }
            3 => {
                let list: Vec<Json> = values.iter().cycle().take(4).cloned().collect();
                let mut lists: Vec<Json> = (0..4).map(|length| list[..length].into()).collect();
                lists.push([&[Json::Null], &list[..]].concat().into());
                let path = written(&self.place(lists));
                let index = *self.one(&[0, 1, -1, -2]);
                self.column(&name, &quoted(&format!("{path}[{index}]")), &format!("type: {ty}"));
            }
            4 => {
                let element = |by: Json, value: &Json| json!({"type": by, "last-value": value});
                let mut lists = vec![json!([])];
                lists.extend(
                    values
                        .iter()
                        .map(|value| json!([element(json!("other"), &values[0]), element(json!("Ready"), value)])),
                );
                let path = written(&self.place(lists));
                let path = format!("{path}[type=Ready][\"last-value\"]");
                self.column(&name, &quoted(&path), &format!("type: {ty}"));
            }
            5 => {
                let list = values.iter().map(|value| json!([{"main": false}, {"main": true, "it": {"is": value}}]));
                let path = written(&self.place(list.collect()));
                self.column(&name, &quoted(&format!("{path}[main=true].it.is")), &format!("type: {ty}"));
            }
            6 => {
                let path = written(&self.place(vec![json!(["a", "b", null, "a"]), json!([])]));
                self.column(&name, &quoted(&format!("{path}[*]")), "type: VARCHAR(64), many: true");
            }
            7 => {
                let path = written(&self.place(vec![json!([1, 2, "3"])]));
                self.column(&name, &quoted(&format!("{path}[*]")), "type: BIGINT, many: true");
            }
            8 => {
                let path = written(&self.place(vec![json!({"cpu": "1", "a.b/c": "x", "none": null}), json!({})]));
                self.column(&name, &quoted(&path), "type: VARCHAR(64), many: true");
            }
            9 => self.column(&name, "'.metadata.labels[\"example.com/team\"]'", "type: VARCHAR(63)"),
            10 => self.column(&name, "'.metadata.annotations.note'", "type: TEXT, key: false"),
            11 => self.column(&name, ".metadata.generation", "type: BIGINT"),
            12 => {
                let path = written(&self.place(values));
                let stays = *self.one(&["keep", "first"]);
                self.column(&name, &quoted(&path), &format!("type: {ty}, absent: null, {stays}: true"));
            }
            13 => {
                let path = written(&self.place(vec![json!("Red"), json!("Green")]));
                self.column(&name, &quoted(&path), "type: VARCHAR(16), enum: [Red, Green]");
            }
            14 if ty != "DATETIME(6)" => {
                let path = written(&self.place(values));
                let absent = *self.one(&["empty", "null"]);
                self.column(&name, &quoted(&path), &format!("type: {ty}, absent: {absent}"));
            }
            15 => {
                let path = written(&self.place(vec![json!("Ready"), json!("\u{c4}A"), json!("")]));
                self.column(&name, &quoted(&format!("{path} | lower")), "type: VARCHAR(64)");
            }
            16 => {
                let values =
                    [json!("a \"b\""), json!(1.50), json!(true), json!([1, null, " a "]), json!({"a": {"b": "\\"}})];
                let path = written(&self.place(values.into()));
                self.column(&name, &quoted(&format!("{path} | text")), "type: TEXT, key: false");
            }
            17 => {
                let path = written(&self.place(vec![json!("a"), json!({}), json!([0]), json!(false)]));
                self.column(&name, &quoted(&format!("{path} | exists")), "type: BOOLEAN");
            }
            18 => {
                let lists = vec![json!([]), json!(["a", null, {"b": 1}]), json!({"a": 1, "b": null}), json!({})];
                let path = written(&self.place(lists));
                let ty = *self.one(&["INT", "BIGINT"]);
                self.column(&name, &quoted(&format!("{path}[*] | count")), &format!("type: {ty}"));
            }
            _ => {
                let path = written(&self.place(values));
                self.column(&name, &quoted(&path), &format!("type: {ty}"));
            }
        }
    }

    /// An object with random ones of the values.
    fn object(&mut self, kind: &str, number: usize) -> String {
        let mut object = json!({
            "apiVersion": "made.up/v1",
            "kind": kind,
            "metadata": {
                "name": format!("object-{number}"),
                "uid": format!("{kind}-{number}"),
                "namespace": "a",
                "resourceVersion": "1",
            },
        });
        if self.chance.bool() {
            object["metadata"]["labels"] = json!({"example.com/team": "pricing", "other": "b"});
            object["metadata"]["annotations"] = json!({"note": "a note"});
            object["metadata"]["generation"] = json!(3);
        }
        for Values { steps, values } in self.values.clone() {
            let value = match self.chance.u8(..8) {
                0 => continue,
                1 => Json::Null,
                _ => self.one(&values).clone(),
            };
            let mut at = &mut object;
            for step in &steps {
                at = &mut at[step.as_str()];
            }
            *at = value;
        }
        object.to_string()
    }
}

/// A path of names as a file writes it.
fn written(steps: &[String]) -> String {
    steps.iter().enumerate().fold(String::new(), |path, (place, step)| match place {
        0 => format!(".{step}"),
        _ => format!("{path}[{}]", Json::from(step.as_str())),
    })
}

/// A file with made-up kinds, and objects of them: the same in every run.
fn made_up() -> (String, Vec<String>) {
    let mut chance = fastrand::Rng::with_seed(5);
    let mut file = String::from("kinds:\n");
    let mut objects = Vec::new();
    for number in 0..MADE_UP {
        // Types that the struct's module uses.
        let kind = match number {
            0 => "Time".to_owned(),
            1 => "Quantity".to_owned(),
            2 => "String".to_owned(),
            _ => format!("MadeUp{number}"),
        };
        let columns = Vec::new();
        let names = Vec::new();
        let keyed = Vec::new();
        let values = Vec::new();
        let mut made = MadeUp { chance: &mut chance, columns, names, keyed, values };
        for _ in 0..made.chance.usize(3..8) {
            made.add();
        }
        let absent = *made.one(&["null", "empty"]);
        let _ =
            writeln!(file, "- group: made.up\n  version: v1\n  kind: {kind}\n  namespaced: true\n  absent: {absent}");
        if made.chance.u8(..5) == 0 {
            file.push_str("  companions: false\n");
        }
        if made.chance.u8(..8) == 0 {
            file.push_str("  history: {keep: 90d, versions: 5}\n");
        }
        if made.chance.u8(..4) == 0 {
            let path = written(&made.place(vec![json!("on"), json!("off")]));
            let _ = writeln!(file, "  filter: '{path} in (on, auto)'");
        }
        if let [first, second, ..] = &made.keyed[..]
            && made.chance.bool()
        {
            let _ = writeln!(file, "  keys: [['{first}', '{second}']]");
        }
        file.push_str("  columns:\n");
        made.columns.iter().for_each(|column| file.push_str(column));
        objects.extend((0..12).map(|number| made.object(&kind, number)));
    }
    (file, objects)
}

async fn no_row_of_a_made_up_kind_changes(world: World) -> Result<()> {
    let (file, objects) = made_up();
    let declared = spelled::declared(&file);
    for kind in &declared {
        let written = scaffold_rust_of(kind).unwrap();
        assert!(!written.contains("not expressible"), "{written}");
    }
    is_current("adopted/made_up", &structs(&declared, "adopted"));
    becomes_structs(&world, &declared, of_made_up::KINDS, &objects).await
}

/// Tables print the same columns in the same order, and a struct that is printed as a file says so, too.
#[test]
fn the_printed_columns_stay_the_same() {
    let printed = |kind: &Kind| {
        let table = kind.table();
        let columns = table.printed().into_iter().map(|place| &table.columns[place]);
        let printed = columns.map(|column| {
            let printed = column.printed;
            (column.name.to_string(), printed.header, printed.wide, printed.age)
        });
        printed.collect::<Vec<_>>()
    };
    let (file, _) = made_up();
    let declared = [kinds_of_crds(), spelled::declared(&file)].concat();
    let compiled = [of_crds::KINDS, of_made_up::KINDS].concat();
    let again = spelled::declared(&spelled(&compiled));
    let mut in_another_order = 0;
    for ((declared, compiled), again) in declared.iter().zip(&compiled).zip(&again) {
        assert_eq!(printed(compiled), printed(declared), "{}", declared.kind());
        let indexed = BASE_COLUMNS.len()..compiled.table().columns.len();
        in_another_order += usize::from(!indexed.eq(compiled.table().printed()));
        // Functions are not in the file that is printed.
        let said = printed(again);
        let by_paths = printed(compiled).into_iter().filter(|column| said.iter().any(|(name, ..)| *name == column.0));
        assert_eq!(said, by_paths.collect::<Vec<_>>(), "{}", declared.kind());
    }
    assert!(in_another_order > 5, "{in_another_order}");
}

/// Rows of live, deleted and evicted objects, and rows that have no number already.
async fn the_rows_that_a_backfill_reads_are_counted(world: World) -> Result<()> {
    let file = "kinds:\n- {group: made.up, version: v1, kind: Apple, namespaced: true, absent: null, columns: [\n    \
                {column: colour, path: .spec.colour, type: VARCHAR(255)}, {column: size, path: .spec.size, type: INT}]}\n";
    let declared = spelled::declared(file);
    let compiled = spelled::apple();
    let store = world.connect(ConnectOptions::default()).await?;
    store.make_declared(&declared, AllowedChanges::Add).await?;
    let mut changes = Vec::new();
    for number in 0..7 {
        let object = json!({
            "apiVersion": "made.up/v1",
            "kind": "Apple",
            "metadata": {"name": format!("a-{number}"), "uid": format!("a-{number}"), "namespace": "a", "resourceVersion": "1"},
            "spec": {"colour": "red", "size": number},
        });
        let object = Object::parse(object.to_string(), ManagedFields::Prune)?;
        changes.push(RowChange::Row(declared[0].row(&object)?.context("a row")?));
    }
    store.write(declared[0].table(), changes).await?;
    for change in [
        "delete_time = update_time WHERE uid IN ('a-1', 'a-2')",
        "evict_time = update_time, evict_confirmed = TRUE WHERE uid IN ('a-3', 'a-4')",
        "ingest_version = 0 WHERE uid IN ('a-4', 'a-5')",
    ] {
        world.sql(&format!("UPDATE apple SET {change}")).await?;
    }

    let root = tempfile::tempdir()?;
    let folder = Folder::new(root.path());
    folder.generate(&[compiled], &GenerateOptions::default())?;
    // The lock file of a table that is newer than the number of definitions, and of an older one.
    for older in [false, true] {
        let path = root.path().join("schema.lock.json");
        let mut lock: Json = serde_json::from_str(&std::fs::read_to_string(&path)?)?;
        lock["definitions"]["apple"]["first_is_unmarked"] = older.into();
        std::fs::write(&path, lock.to_string())?;
        store.make_declared(&spelled::declared(file), AllowedChanges::Add).await?;
        let released = folder.released()?;
        let kind = released.versioned(&[compiled])?[0];
        released.apply(&store, &mut |_| {}).await?;
        ensure!(store.adopt(&kind).await? == 7);
        // `ingester run` and `ingester backfill KIND` read the same rows.
        let incomplete = store.incomplete_backfills(&[kind], Some(&released)).await?;
        let filled = fill(&store, incomplete.first().context("rows without a number")?).await?;
        ensure!(filled.read == 7 && filled.filled == 0 && filled.failed == 0, "{filled:?}");
        ensure!(store.incomplete_backfills(&[kind], Some(&released)).await?.is_empty());
        let filled = fill(&store, &Backfill::for_columns(&kind, &[])?).await?;
        ensure!(filled.read == 7 && filled.filled == 0 && filled.failed == 0, "{filled:?}");
    }
    Ok(())
}
