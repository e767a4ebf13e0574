//! The walls between rooms. A room is a module whose first lines say `//! May use: a, b.`; every path in its code is checked
//! against that line, and the lines together must not form a cycle.

use anyhow::{Context as _, Result, bail, ensure};
use ingester_tests::cargo;
use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The crates with rooms, each with those below it.
const CRATES: [(&str, &[&str]); 14] = [
    ("ingester-printers", &[]),
    ("ingester-json", &[]),
    ("ingester-wire", &["ingester-json"]),
    ("ingester-macros", &[]),
    ("ingester-core", &["ingester-json", "ingester-wire", "ingester-macros"]),
    ("ingester-sql", &["ingester-core"]),
    ("ingester-declare", &["ingester-core", "ingester-sql", "ingester-printers"]),
    ("ingester-testing", &["ingester-core", "ingester-declare"]),
    ("ingester-store", &["ingester-core", "ingester-sql"]),
    ("ingester-transfer", &["ingester-core", "ingester-sql", "ingester-declare", "ingester-store"]),
    ("ingester-config", &["ingester-core", "ingester-sql", "ingester-declare", "ingester-store"]),
    ("ingester-mirror", &["ingester-core", "ingester-sql", "ingester-declare", "ingester-store", "ingester-config"]),
    ("ingester-server", &["ingester-core", "ingester-sql", "ingester-declare", "ingester-store", "ingester-config"]),
    (
        "ingester-bin",
        &[
            "crd-specs",
            "ingester-core",
            "ingester-sql",
            "ingester-declare",
            "ingester-store",
            "ingester-transfer",
            "ingester-config",
            "ingester-mirror",
            "ingester-printers",
            "ingester-server",
        ],
    ),
];

/// Names that a crate without I/O must not use.
const IO: [&str; 8] = ["axum", "hyper", "kube-client", "prometheus", "rustls", "sqlx", "sqlx-core", "tokio"];

/// A crate's rooms.
#[derive(Debug, Default)]
struct Crate {
    /// Its name in paths.
    name: String,
    /// Each room's path of modules, with the rooms that it may use.
    rooms: BTreeMap<String, BTreeSet<String>>,
    /// The rooms of what the crate's root exports by name.
    exports: BTreeMap<String, String>,
}

/// One path in the code: its target, and its line.
#[derive(Debug, PartialEq)]
struct Reference {
    path: Vec<String>,
    line: usize,
}

#[test]
fn rooms_use_what_their_first_lines_allow() -> Result<()> {
    let mut broken = Vec::new();
    for (package, below) in CRATES {
        let source = sources(package);
        let this = Crate::read(package, &source)?;
        for file in files(&source)? {
            let modules = modules(&source, &file);
            let text = std::fs::read_to_string(&file)?;
            let shown = file.strip_prefix(root())?.display().to_string();
            broken.extend(this.broken(&shown, &modules, &text, below)?);
        }
        broken.extend(this.circle());
    }
    ensure!(broken.is_empty(), "{}", broken.join("\n"));
    Ok(())
}

/// A room that only tests have.
const OF_TESTS: (&str, &str) = ("ingester-mirror", "simulation");

/// The files of each room use each other in one direction, so a room can be read from its lowest file upwards. A `mod.rs` is the entry of
/// its folder, and does not count.
#[test]
fn files_of_a_room_have_no_circle() -> Result<()> {
    let mut circles = Vec::new();
    let mut rooms = 0;
    for (package, _) in CRATES {
        let source = sources(package);
        for entry in std::fs::read_dir(&source)? {
            let entry = entry?;
            let room = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type()?.is_dir() && (package, room.as_str()) != OF_TESTS {
                rooms += 1;
                circles.extend(
                    circle_of_files(&source, &room)?.map(|circle| format!("{package}: files of `{room}`: {circle}")),
                );
            }
        }
    }
    ensure!(rooms > 40, "only {rooms} rooms are found: how they are listed is wrong");
    ensure!(circles.is_empty(), "{}", circles.join("\n"));
    Ok(())
}

/// Returns a circle of files of a room.
fn circle_of_files(source: &Path, room: &str) -> Result<Option<String>> {
    let all = files(&source.join(room))?;
    let is_door = |file: &PathBuf| file.ends_with("mod.rs");
    let names: BTreeSet<Vec<String>> =
        all.iter().filter(|file| !is_door(file)).map(|file| modules(source, file)).collect();
    let mut uses = Crate::default();
    for file in all.iter().filter(|file| !is_door(file)) {
        let own = modules(source, file);
        let tokens: TokenStream = std::fs::read_to_string(file)?.parse().map_err(|error| anyhow::anyhow!("{error}"))?;
        let mut references = Vec::new();
        collect(tokens, &own, &mut references);
        let targets = references.iter().filter_map(|reference| {
            let path = reference.path.strip_prefix(&["crate".to_owned()][..])?;
            (1..=path.len()).rev().find_map(|length| names.get(&path[..length]))
        });
        let targets: BTreeSet<String> =
            targets.filter(|target| **target != own).map(|target| target.join("/")).collect();
        uses.rooms.insert(own.join("/"), targets);
    }
    Ok(uses.circle())
}

/// Where YAML is parsed: one reader reads users' files, so that mistakes are reported in one way.
const PARSING: [&str; 2] = ["crates/ingester-declare/src/documents", "crates/ingester-declare/src/yaml.rs"];

#[test]
fn yaml_is_parsed_in_one_room() -> Result<()> {
    let mut inside = 0;
    let mut outside = Vec::new();
    for (package, _) in CRATES {
        for file in files(&sources(package))? {
            if !std::fs::read_to_string(&file)?.contains("serde_saphyr") {
                continue;
            }
            match PARSING.iter().any(|place| file.starts_with(root().join(place))) {
                true => inside += 1,
                false => outside.push(file.strip_prefix(root())?.display().to_string()),
            }
        }
    }
    ensure!(inside == PARSING.len(), "{inside} files of {PARSING:?} parse YAML");
    ensure!(outside.is_empty(), "these parse YAML beside `ingester_declare::text`: {}", outside.join(", "));
    Ok(())
}

/// Where databases are named: the differences belong to a dialect or a driver, and so do the costs of changes, which
/// differ between MariaDB and MySQL.
const NAMING: [&str; 3] =
    ["crates/ingester-sql/src/dialect", "crates/ingester-sql/src/ddl/cost.rs", "crates/ingester-store/src/driver"];

/// A new database is a folder of its dialect, one of its driver and its costs: no other code checks which one it has.
#[test]
fn no_code_but_dialects_and_drivers_names_a_database() -> Result<()> {
    let mut naming = Vec::new();
    for (package, _) in CRATES {
        for file in files(&sources(package))? {
            if NAMING.iter().any(|place| file.starts_with(root().join(place))) {
                continue;
            }
            let shown = file.strip_prefix(root())?.display().to_string();
            let text = std::fs::read_to_string(&file)?;
            naming.extend(naming_databases(&text)?.into_iter().map(|line| format!("{shown}:{line}")));
        }
    }
    ensure!(naming.is_empty(), "these name a database: {}", naming.join(", "));
    Ok(())
}

#[test]
fn code_that_names_a_database_is_found_with_its_line() -> Result<()> {
    for naming in [
        "\nif store.dialect() == Dialect::MySql {}",
        "\nuse ingester_sql::dialect::{Param, mysql::session};",
        "\nfn f() { m!(sqlx::Sqlite) }",
        "\nlet name = match it { _ => \"MariaDB\" };",
    ] {
        assert_eq!(naming_databases(naming)?, [2], "{naming}");
    }
    for other in [
        "config.mysql.tls; Address::mysql(host); Mysql::default()",
        "let text = \"MySQL allows 61 tables\"; let url = \"sqlite::memory:\";",
        "#[cfg(test)]\nmod tests { use sqlx::MySql; }",
        "/// As Dialect::MySql.\nfn f() {}",
    ] {
        assert_eq!(naming_databases(other)?, Vec::<usize>::new(), "{other}");
    }
    Ok(())
}

/// The lines of code that name a database: in a path, or as a text that is exactly its name.
fn naming_databases(text: &str) -> Result<Vec<usize>> {
    let tokens: TokenStream = text.parse().map_err(|error| anyhow::anyhow!("{error}"))?;
    let mut references = Vec::new();
    let mut texts = Vec::new();
    collect(tokens.clone(), &[], &mut references);
    literals(tokens, &mut texts);
    let is_name = |path: &[String]| {
        path.split_last().is_some_and(|(last, before)| {
            // `Address::mysql` is the address of a server, from the configuration's keys that begin with `mysql`.
            let is_room = before.iter().any(|name| name == "mysql" || name == "sqlite");
            is_room || ["MySql", "MariaDb", "Sqlite"].contains(&last.as_str())
        })
    };
    let paths = references.iter().filter(|reference| is_name(&reference.path)).map(|reference| reference.line);
    let texts =
        texts.into_iter().filter(|(text, _)| ["\"MySQL\"", "\"MariaDB\"", "\"SQLite\""].contains(&text.as_str()));
    let lines: BTreeSet<usize> = paths.chain(texts.map(|(_, line)| line)).collect();
    Ok(lines.into_iter().collect())
}

/// Where the names of the finalizer and annotations are created.
const MARKING: &str = "ingester-core/src/marks.rs";

/// A program may have another prefix than the reference system's, so a name of that prefix is wrong wherever it is written down.
#[test]
fn no_code_writes_the_names_of_finalizer_and_annotations() -> Result<()> {
    let mut writing = Vec::new();
    let mut prefixed = 0;
    for (package, _) in CRATES {
        let source = sources(package);
        for file in files(&source)? {
            let is_test = |name: &String| ["tests", "simulation", "fixture"].contains(&name.as_str());
            if modules(&source, &file).iter().any(is_test) {
                continue;
            }
            let tokens: TokenStream =
                std::fs::read_to_string(&file)?.parse().map_err(|error| anyhow::anyhow!("{error}"))?;
            let mut texts = Vec::new();
            literals(tokens, &mut texts);
            if file == root().join(MARKING) {
                prefixed += texts.iter().filter(|(text, _)| text.contains("michelangelo")).count();
                continue;
            }
            let shown = file.strip_prefix(root())?.display();
            let names = texts.into_iter().filter(|(text, _)| text.contains("michelangelo/"));
            writing.extend(names.map(|(_, line)| format!("{shown}:{line}")));
        }
    }
    ensure!(prefixed > 0, "{MARKING} does not write the prefix");
    ensure!(
        writing.is_empty(),
        "these write a name of a mark; take it from the kind's `Marks`: {}",
        writing.join(", ")
    );
    Ok(())
}

/// Where values are kept to the end of the process: kinds of files, and names of kinds.
const KEEPING: [&str; 2] = ["crates/ingester-declare/src/kept.rs", "ingester-core/src/registry.rs"];

#[test]
fn nothing_is_leaked_but_what_lives_to_the_end_of_the_process() -> Result<()> {
    let mut leaking = Vec::new();
    for (package, _) in CRATES {
        for file in files(&sources(package))? {
            let text = std::fs::read_to_string(&file)?;
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            if code.contains("leak(") && !KEEPING.iter().any(|place| file == root().join(place)) {
                leaking.push(file.strip_prefix(root())?.display().to_string());
            }
        }
    }
    ensure!(leaking.is_empty(), "these leak; use `ingester_declare::kept`, or an Arc: {}", leaking.join(", "));
    Ok(())
}

/// A program that reads selectors or orders by itself makes a query that differs from other spellings.
#[test]
fn programs_read_what_is_asked_by_the_keys_of_a_question_alone() -> Result<()> {
    let mut reading = Vec::new();
    let mut asking = 0;
    for package in ["ingester-declare", "ingester-server", "ingester-bin"] {
        let source = sources(package);
        for file in files(&source)? {
            let text = std::fs::read_to_string(&file)?;
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            asking += usize::from(code.contains("Ask::new("));
            // An eviction rule has two selectors of its own, which are not queries.
            if file.ends_with("crates/ingester-declare/src/evict.rs") {
                continue;
            }
            for name in ["parse_label_selector(", "parse_field_selector(", "parse_order("] {
                if code.contains(name) {
                    reading.push(format!("{}: {name})", file.strip_prefix(root())?.display()));
                }
            }
        }
    }
    ensure!(asking > 2, "{asking} files ask");
    ensure!(reading.is_empty(), "set a key of an `Ask` instead: {}", reading.join("; "));
    Ok(())
}

#[test]
fn every_module_of_a_library_is_in_a_room() -> Result<()> {
    let mut outside = Vec::new();
    for (package, _) in CRATES {
        let source = sources(package);
        let this = Crate::read(package, &source)?;
        for file in files(&source)? {
            let modules = modules(&source, &file);
            if !modules.is_empty() && this.room(&modules).is_none() {
                outside.push(file.strip_prefix(root())?.display().to_string());
            }
        }
    }
    ensure!(outside.is_empty(), "these begin without `//! May use: ...`: {}", outside.join(", "));
    Ok(())
}

/// A `select!` that is not biased begins with a branch at random: no history could be repeated.
#[test]
fn every_select_of_the_mirror_is_biased() -> Result<()> {
    let mut unbiased = Vec::new();
    for file in files(&root().join("crates/ingester-mirror/src"))? {
        let text = std::fs::read_to_string(&file)?;
        for (at, _) in text.match_indices("select! {") {
            if !text[at + "select! {".len()..].trim_start().starts_with("biased;") {
                let line = text[..at].lines().count();
                unbiased.push(format!("{}:{line}", file.strip_prefix(root())?.display()));
            }
        }
    }
    ensure!(unbiased.is_empty(), "these begin without `biased;`: {}", unbiased.join(", "));
    Ok(())
}

/// The mirror writes and judges times by the database's clock: a node's clock may be wrong by days.
#[test]
fn the_mirror_never_asks_the_clock_of_its_node() -> Result<()> {
    let mut asking = Vec::new();
    for file in files(&root().join("crates/ingester-mirror/src"))? {
        let text = std::fs::read_to_string(&file)?;
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let shown = file.strip_prefix(root())?.display().to_string();
        let in_tests = shown.contains("/simulation/") || shown.contains("/tests");
        if !in_tests && (code.contains("Micros::now(") || code.contains("SystemTime::now(")) {
            asking.push(shown);
        }
    }
    ensure!(asking.is_empty(), "these ask the node what time it is: {}", asking.join(", "));
    Ok(())
}

#[test]
fn forbidden_use_is_found_with_its_line() -> Result<()> {
    let mut this = Crate { name: "ingester_core".into(), ..Crate::default() };
    for (room, uses) in
        [("schema", vec![]), ("value", vec!["schema"]), ("dialect", vec!["value"]), ("dialect::mysql", vec!["value"])]
    {
        this.rooms.insert(room.into(), uses.into_iter().map(str::to_owned).collect());
    }
    this.exports.insert("Kind".into(), "kind".into());
    let broken = |modules: &[&str], text: &str| -> Result<Vec<String>> {
        let modules: Vec<String> = modules.iter().map(|name| (*name).to_owned()).collect();
        this.broken("a.rs", &modules, text, &["ingester-macros"])
    };
    let said = |line: usize, room: &str, target: &str, may: &str| {
        vec![format!("a.rs:{line}: `{target}`: the room `{room}` may use {may}")]
    };
    // A use, a use in a group, a path in an expression, in a type and in a macro, by `super`, and of another crate.
    assert_eq!(broken(&["value"], "\nuse crate::dialect::Sql;")?, said(2, "value", "dialect", "schema"));
    assert_eq!(
        broken(&["value"], "use crate::{schema::Ident,\n dialect::Sql};")?,
        said(2, "value", "dialect", "schema")
    );
    assert_eq!(broken(&["value"], "fn f() {\n crate::dialect::f() }")?, said(2, "value", "dialect", "schema"));
    assert_eq!(broken(&["value"], "struct S(crate::dialect::Sql);")?, said(1, "value", "dialect", "schema"));
    assert_eq!(broken(&["value"], "m!(crate::dialect::Sql);")?, said(1, "value", "dialect", "schema"));
    assert_eq!(broken(&["value", "row"], "use super::super::dialect;")?, said(1, "value", "dialect", "schema"));
    assert_eq!(broken(&["value"], "mod a { use super::super::dialect; }")?, said(1, "value", "dialect", "schema"));
    assert_eq!(broken(&["value"], "use crate::Kind;")?, said(1, "value", "kind", "schema"));
    assert_eq!(broken(&["value"], "use crate::thing;")?, said(1, "value", "the crate's root", "schema"));
    assert_eq!(broken(&["value"], "use ingester_store::Store;")?, said(1, "value", "ingester-store", "schema"));
    assert_eq!(broken(&["schema"], "use crate::value::Value;")?, said(1, "schema", "value", "nothing"));
    assert_eq!(
        broken(&["dialect", "mysql"], "use crate::schema::Ident;")?,
        said(1, "dialect::mysql", "schema", "value")
    );
    // Allowed paths, the room's own ones, and those that only tests use.
    for allowed in [
        "use crate::schema::Ident;",
        "use super::schema::Ident;",
        "use crate::value::row::Row;",
        "// use crate::dialect::Sql;\nconst S: &str = \"crate::dialect\";",
        "#[cfg(test)]\nmod tests { use crate::dialect::Sql; }",
        "#[cfg(test)]\nuse crate::dialect::Sql;\n",
        "fn f() { quote!(crate::dialect::Sql) }",
    ] {
        assert_eq!(broken(&["value"], allowed)?, Vec::<String>::new(), "{allowed}");
    }
    assert_eq!(broken(&["dialect"], "use crate::dialect::mysql::X; use mysql::Y;")?, Vec::<String>::new());
    Ok(())
}

#[test]
fn exports_of_the_root_belong_to_their_rooms() {
    let mut this = Crate::default();
    this.read_exports("//! Text.\n\npub use kind::Kind;\npub use store::{\n    Report, Store,\n    guard,\n};\n");
    let exports = [("Kind", "kind"), ("Report", "store"), ("Store", "store"), ("guard", "store")];
    assert_eq!(this.exports, exports.map(|(name, room)| (name.to_owned(), room.to_owned())).into());
}

#[test]
fn circle_of_rooms_is_found() {
    let mut this = Crate::default();
    for (room, uses) in [("a", vec!["b"]), ("b", vec!["c"]), ("c", vec!["a"]), ("d", vec!["a"])] {
        this.rooms.insert(room.into(), uses.into_iter().map(str::to_owned).collect());
    }
    assert_eq!(this.circle(), Some("the rooms use each other in a circle: a -> b -> c -> a".to_owned()));
    this.rooms.insert("c".into(), BTreeSet::new());
    assert_eq!(this.circle(), None);
}

#[test]
fn what_needs_no_io_depends_on_nothing_that_does_it() -> Result<()> {
    // All crates without I/O are below it.
    let packages = dependencies("ingester-testing", "99")?;
    ensure!(packages.contains("ingester-macros"), "cargo tree has not printed the dependencies: {packages:?}");
    let found: Vec<&str> = IO.into_iter().filter(|name| packages.contains(*name)).collect();
    ensure!(found.is_empty(), "a crate without I/O depends on {}", found.join(", "));
    Ok(())
}

/// kube-runtime takes long to compile, and has nothing that the mirror needs: it has its own watches and its own recorder of Events.
#[test]
fn the_program_needs_no_runtime_of_kube() -> Result<()> {
    let packages = dependencies("ingester", "99")?;
    ensure!(packages.contains("kube-client"), "cargo tree has not printed the dependencies: {packages:?}");
    ensure!(!packages.contains("kube-runtime"), "enable the feature `runtime` of kube for tests only");
    Ok(())
}

#[test]
fn printers_depend_on_serde_alone() -> Result<()> {
    assert_eq!(dependencies("ingester-printers", "1")?, ["ingester-printers", "serde"].map(str::to_owned).into());
    Ok(())
}

/// A package and its dependencies up to this many steps away.
fn dependencies(package: &str, depth: &str) -> Result<BTreeSet<String>> {
    let arguments = ["-e", "normal", "--prefix", "none", "--format", "{p}", "--offline", "--locked"];
    let tree = cargo()
        .args(["tree", "-p", package, "--depth", depth])
        .args(arguments)
        .current_dir(root())
        .output()
        .context("running cargo tree")?;
    ensure!(tree.status.success(), "cargo tree: {}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8(tree.stdout)?;
    Ok(tree.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect())
}

impl Crate {
    /// Reads the rooms' first lines and what the root exports.
    fn read(package: &str, source: &Path) -> Result<Self> {
        let name = if package == "ingester-bin" { "ingester".into() } else { package.replace('-', "_") };
        let mut this = Crate { name, ..Crate::default() };
        for file in files(source)? {
            let text = std::fs::read_to_string(&file)?;
            let modules = modules(source, &file);
            if modules.is_empty() {
                this.read_exports(&text);
                continue;
            }
            let first: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
            let lines: Vec<&str> = first.iter().filter_map(|line| line.strip_prefix("//! May use: ")).collect();
            let line = match lines[..] {
                [] => continue,
                [line] => line,
                _ => bail!("{}: more than one line begins with `May use:`", file.display()),
            };
            let list =
                line.strip_suffix('.').with_context(|| format!("{}: `May use:` ends with a dot", file.display()))?;
            let uses = list.split(", ").filter(|name| *name != "nothing").map(str::to_owned).collect();
            this.rooms.insert(modules.join("::"), uses);
        }
        for (room, uses) in &this.rooms {
            for used in uses {
                let known =
                    this.rooms.contains_key(used) || CRATES.iter().any(|(name, _)| name == used) || used == "crd-specs";
                ensure!(known, "{}: the room `{room}` may use `{used}`, which is no room", this.name);
            }
        }
        Ok(this)
    }

    fn read_exports(&mut self, text: &str) {
        // From `pub use ` to the semicolon, over as many lines as rustfmt uses.
        for statement in text.split("\npub use ").skip(1).filter_map(|rest| rest.split(';').next()) {
            let Some((room, names)) = statement.split_once("::") else { continue };
            let names = names.trim_matches(['{', '}']).split(',').map(str::trim).filter(|name| !name.is_empty());
            self.exports.extend(names.map(|name| (name.to_owned(), room.to_owned())));
        }
    }

    /// The innermost room that holds a path of modules.
    fn room(&self, path: &[String]) -> Option<&str> {
        (1..=path.len())
            .rev()
            .find_map(|length| self.rooms.get_key_value(&path[..length].join("::")))
            .map(|(room, _)| room.as_str())
    }

    /// The paths in a file that its room may not use.
    fn broken(&self, file: &str, modules: &[String], text: &str, below: &[&str]) -> Result<Vec<String>> {
        let Some(room) = self.room(modules) else { return Ok(Vec::new()) };
        let tokens: TokenStream = text.parse().map_err(|error| anyhow::anyhow!("{file}: {error}"))?;
        let mut references = Vec::new();
        collect(tokens, modules, &mut references);
        let uses = &self.rooms[room];
        let mut broken = Vec::new();
        for Reference { path, line } in references {
            let target = match path[0].as_str() {
                // The items for the derives' code belong to the root, only for macros.
                "crate" if path.get(1).is_none_or(|name| name == "__private") => continue,
                "crate" => self.target(&path[1..]).unwrap_or_else(|| "the crate's root".into()),
                other => match CRATES.iter().find(|(package, _)| package.replace('-', "_") == other) {
                    Some((package, _)) => (*package).to_owned(),
                    None if other == "crd_specs" => "crd-specs".to_owned(),
                    None => continue,
                },
            };
            let is_crate = target.contains('-');
            let own = target == room || target.starts_with(&format!("{room}::"));
            // A room that may use another may use the rooms inside it.
            let listed = uses.iter().any(|used| target == *used || target.starts_with(&format!("{used}::")));
            if own || listed && (!is_crate || below.contains(&target.as_str())) {
                continue;
            }
            let may: Vec<&str> = uses.iter().map(String::as_str).collect();
            let may = if may.is_empty() { "nothing".to_owned() } else { may.join(", ") };
            broken.push(format!("{file}:{line}: `{target}`: the room `{room}` may use {may}"));
        }
        Ok(broken)
    }

    /// The room that a path from the crate's root leads to; `None` for items of the root itself.
    fn target(&self, path: &[String]) -> Option<String> {
        let first = path.first()?;
        if let Some(room) = self.room(path) {
            return Some(room.to_owned());
        }
        self.exports.get(first).cloned()
    }

    /// A cycle in what the rooms may use.
    fn circle(&self) -> Option<String> {
        fn visit<'r>(
            this: &'r Crate,
            room: &'r str,
            way: &mut Vec<&'r str>,
            done: &mut BTreeSet<&'r str>,
        ) -> Option<String> {
            if let Some(begin) = way.iter().position(|passed| *passed == room) {
                let circle = [&way[begin..], &[room]].concat().join(" -> ");
                return Some(format!("the rooms use each other in a circle: {circle}"));
            }
            // Another crate is below as a whole.
            let uses = this.rooms.get(room)?;
            if !done.insert(room) {
                return None;
            }
            way.push(room);
            // A room inside another is a part of it: using that one is not a cycle.
            let outer = room.split("::").next().unwrap_or(room);
            let found = uses.iter().filter(|used| *used != outer).find_map(|used| visit(this, used, way, done));
            way.pop();
            found
        }
        let mut done = BTreeSet::new();
        self.rooms.keys().find_map(|room| visit(self, room, &mut Vec::new(), &mut done))
    }
}

/// All paths in code that is not only for tests and that begin with `crate`, `super` or a name; those with `super` as paths
/// from the crate's root.
fn collect(tokens: TokenStream, modules: &[String], references: &mut Vec<Reference>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        if is_test_attribute(&tokens[at..]) {
            at = behind_item(&tokens, at + 2);
            continue;
        }
        match &tokens[at..] {
            [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Group(body), ..]
                if word == "mod" && body.delimiter() == Delimiter::Brace =>
            {
                let inner = [modules, &[name.to_string()]].concat();
                collect(body.stream(), &inner, references);
                at += 3;
            }
            // The output of a macro is code of the crate that uses it.
            [TokenTree::Ident(name), TokenTree::Punct(bang), TokenTree::Group(_), ..]
                if bang.as_char() == '!' && (name == "quote" || name == "quote_spanned") =>
            {
                at += 3;
            }
            [TokenTree::Ident(_), rest @ ..] if is_path_separator(rest) && !continues(&tokens, at) => {
                at = path(&tokens, at, Vec::new(), modules, references);
            }
            [TokenTree::Group(group), ..] => {
                collect(group.stream(), modules, references);
                at += 1;
            }
            _ => at += 1,
        }
    }
}

/// Where the item at `at` ends: after its braces or its semicolon.
fn behind_item(tokens: &[TokenTree], at: usize) -> usize {
    let ends = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';',
        _ => false,
    };
    tokens[at..].iter().position(ends).map_or(tokens.len(), |end| at + end + 1)
}

/// All literals in code that is not only for tests, as they are written, with their lines.
fn literals(tokens: TokenStream, found: &mut Vec<(String, usize)>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        if is_test_attribute(&tokens[at..]) {
            at = behind_item(&tokens, at + 2);
            continue;
        }
        match &tokens[at] {
            TokenTree::Literal(literal) => found.push((literal.to_string(), literal.span().start().line)),
            TokenTree::Group(group) => literals(group.stream(), found),
            _ => {}
        }
        at += 1;
    }
}

/// Reads a path from its first name on, with the groups of a `use`; returns where it ends.
fn path(
    tokens: &[TokenTree],
    mut at: usize,
    begin: Vec<String>,
    modules: &[String],
    references: &mut Vec<Reference>,
) -> usize {
    let mut names = begin;
    let mut line = tokens[at].span().start().line;
    loop {
        match tokens.get(at) {
            Some(TokenTree::Ident(name)) => {
                names.push(name.to_string());
                line = name.span().start().line;
                at += 1;
            }
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                for part in inside.split(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',')) {
                    if matches!(part.first(), Some(TokenTree::Ident(_))) {
                        path(part, 0, names.clone(), modules, references);
                    }
                }
                return at + 1;
            }
            _ => break,
        }
        if tokens.get(at..).is_some_and(is_path_separator) {
            at += 2;
        } else {
            break;
        }
    }
    if let Some(path) = absolute(&names, modules) {
        references.push(Reference { path, line });
    }
    at
}

/// A path from the crate's root or from another crate; `None` where it stays within the module.
fn absolute(names: &[String], modules: &[String]) -> Option<Vec<String>> {
    let ups = names.iter().take_while(|name| *name == "super").count();
    if ups == 0 {
        return Some(names.to_vec());
    }
    let parent = modules.get(..modules.len().checked_sub(ups)?)?;
    Some([&["crate".to_owned()], parent, &names[ups..]].concat())
}

fn is_path_separator(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [TokenTree::Punct(a), TokenTree::Punct(b), ..] if a.as_char() == ':' && a.spacing() == Spacing::Joint && b.as_char() == ':')
}

/// Whether the name is a later part of a path, as after `$crate::` or `<T>::`.
fn continues(tokens: &[TokenTree], at: usize) -> bool {
    at >= 2 && is_path_separator(&tokens[at - 2..at])
}

fn is_test_attribute(tokens: &[TokenTree]) -> bool {
    let [TokenTree::Punct(hash), TokenTree::Group(group), ..] = tokens else { return false };
    hash.as_char() == '#'
        && group.delimiter() == Delimiter::Bracket
        && group.stream().to_string().replace(' ', "") == "cfg(test)"
}

/// The source files that are not only for tests.
fn files(source: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![source.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))? {
            let path = entry?.path();
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            if matches!(stem, "tests" | "properties" | "fixture") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The modules that a file is: `[dialect, mysql]` for `src/dialect/mysql/mod.rs`, empty for the crate's root.
fn modules(source: &Path, file: &Path) -> Vec<String> {
    let path = file.strip_prefix(source).unwrap_or(file).with_extension("");
    let mut modules: Vec<String> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if matches!(modules.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        modules.pop();
    }
    modules
}

/// Returns the sources of a package: users meet those in the root, and the others are in `crates/`.
fn sources(package: &str) -> PathBuf {
    let inner = root().join("crates").join(package).join("src");
    if inner.exists() { inner } else { root().join(package).join("src") }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".."))
}
