//! A kind of a file, with all its mistakes.

use super::column::{Column, read_absent, read_column};
use super::crd::{self, CrdFiles};
use super::filter::{self, ObjectSchema};
use super::path::{Condition, Path};
use super::recipe::Recipe;
use super::rules::{evict_rule, read_evict};
use super::table::{Declaration, DeclaredKey};
use super::{Open, spelled};
use crate::kept::kept;
use crate::text::{Content, Faults, Keys, Syntax, TreeNode};
use ingester_core::kind::{
    Decode, Definition, Finalizer, Functions, Kind, Plural, Protobuf, RETENTION, Recipes, Record,
    read_history as read_keep,
};
use ingester_core::marks::check_prefix;
use ingester_core::nearest::nearest;
use ingester_core::protobuf::DescriptorSet;
use ingester_core::schema::check::About;
use ingester_core::schema::{
    Absent, Fault, Fingerprint, History, Ident, PruneTree, Table, check_history, check_prune_path,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{CustomResourceDefinition, JSONSchemaProps};
use std::rc::Rc;
use std::time::Duration;

/// A file of kinds.
pub(super) const SYNTAX: Syntax = Syntax { passwords: false, hint };

/// The remedy for keys that people know from elsewhere.
fn hint(key: &str) -> Option<&'static str> {
    match key {
        "apiVersion" => Some("write `group: example.com` and `version: v1`"),
        "with" => Some(
            "a function of Rust needs a kind that is built in; here a path has functions, such as `.status.phase | lower`",
        ),
        "scope" => Some("write `namespaced: true` or `namespaced: false`"),
        "name" => Some("a column's name is its `column`"),
        _ => None,
    }
}

/// The prefix of the names of finalizers and annotations.
pub(super) fn read_prefix(at: &TreeNode<'_>, faults: &mut Faults) -> Option<&'static str> {
    let text = at.read_text(faults)?;
    check_prefix(text).map_err(|what| faults.push(at.fault(what))).ok()?;
    Some(kept(text))
}

fn shown_group(group: &str) -> String {
    if group.is_empty() { "the core group".into() } else { format!("`{group}`") }
}

/// The keys of a kind.
pub(super) const KEYS: [&str; 23] = [
    "group",
    "version",
    "kind",
    "plural",
    "shortNames",
    "namespaced",
    "table",
    "was",
    "immutable",
    "evictable",
    "finalizer",
    "filter",
    "keys",
    "columns",
    "protobuf",
    "crd",
    "companions",
    "retention",
    "history",
    "prune",
    "evict",
    "absent",
    "strict",
];

/// Reads one kind, and whether it says what is stored where an object has no value; mistakes go to `faults`.
pub(super) fn read_kind(
    node: &TreeNode<'_>,
    open: Open<'_>,
    crds: &mut CrdFiles,
    faults: &mut Faults,
) -> Option<(Kind, bool)> {
    let before = faults.len();
    let mut keys = node.keys_of(&KEYS, faults)?;
    let crd = match keys.take("crd") {
        // Without it nothing says the types of columns, which would be a mistake for each of them.
        Some(at) => Some(read_crd(node, &at, open, crds, faults)?),
        None => None,
    };
    let names = Names::read(node, &mut keys, crd.as_deref(), faults);
    let short_names = read_short_names(keys.take("shortNames"), crd.as_deref(), faults);
    let strict = keys.take("strict").and_then(|at| at.truth(faults)).unwrap_or(false);
    let immutable = keys.take("immutable").and_then(|at| at.truth(faults)).unwrap_or(false);
    let evictable = keys.take("evictable").and_then(|at| read_evictable(&at, immutable, faults));
    let companions = keys.take("companions").and_then(|at| at.truth(faults)).unwrap_or(true);
    let retention = keys.take("retention").and_then(|at| read_retention(&at, faults));
    let history = keys.take("history");
    let kept_history = history.as_ref().and_then(|at| read_history(at, faults));
    let finalizer = keys.take("finalizer").and_then(|at| read_finalizer(&at, faults));
    let of_version = crd.as_deref().zip(names.version).and_then(|(crd, version)| crd::version(crd, version));
    let absent = keys.take_any("absent").and_then(|at| read_absent(&at, faults));
    let of_kind = absent.unwrap_or(Absent::Null);
    let columns = read_columns(keys.take("columns"), of_version.and_then(crd::schema), of_kind, faults);
    let says_absent = absent.is_some() || columns.iter().all(|column| column.says_absent);
    let pruned = read_prune(keys.take("prune"), immutable, evictable, faults);
    let evict = keys.take("evict");
    let by = crd.as_deref().zip(of_version).and_then(|(crd, version)| ObjectSchema::from_crd(crd, version));
    let Contents { mut recipe, fingerprint, row, conditions } =
        Contents::read(&columns, keys.take("filter"), by, faults);
    let protobuf = keys.take("protobuf").and_then(|at| read_protobuf(&at, open, faults));
    let table = read_table(node, &mut keys, names.kind.unwrap_or_default(), &columns, companions, faults);
    let table = match (table, &history) {
        (Some(table), Some(at)) => with_history(at, table, kept_history, faults),
        (table, _) => table,
    };
    check_pruned(&pruned, &columns, &conditions, faults);
    let rules = evict.map(|at| read_evict(&at, (immutable, evictable), faults)).unwrap_or_default();
    if faults.len() > before {
        return None;
    }
    let kind = names.kind?;
    let version = names.version?;
    let table = kept::<Table>(table?);
    let namespaced = names.namespaced?;
    rules.iter().for_each(|rule| rule.check(table, namespaced, faults));
    if faults.len() > before {
        return None;
    }
    recipe.spelled = spelled::of_file(node.tree).into();
    recipe.tolerant = !strict;
    let definition = Definition {
        group: kept(names.group.unwrap_or_default()),
        version: kept(version),
        kind: kept(kind),
        namespaced,
        table,
        immutable,
        evictable,
        protobuf,
        finalizer: finalizer.unwrap_or(Finalizer::Never),
        retention,
        fingerprint,
    };
    let of_columns = columns.iter().map(|column| (Ident::new(column.name), column.fingerprint()));
    let recipes = Recipes { row, columns: of_columns.collect() };
    let functions = Functions {
        plural: Plural::Literal(kept(names.plural.map_or_else(|| plural_of(kind), str::to_owned))),
        decode: Decode::Declared(kept::<Recipe>(recipe)),
        crd: None,
    };
    let mut kind = Kind::new(definition, functions).recorded(kept(Record::new(recipes)));
    if !pruned.is_empty() {
        let paths: Vec<&'static str> = pruned.iter().map(|(_, path)| kept(path.as_str())).collect();
        kind = kind.pruning(kept(paths));
    }
    if !short_names.is_empty() {
        kind = kind.called_short(kept(short_names));
    }
    if !strict {
        kind = kind.tolerant();
    }
    if !rules.is_empty() {
        kind = kind.evicting(kept(rules.iter().map(evict_rule).collect::<Vec<_>>()));
    }
    Some((if conditions.is_empty() { kind } else { kind.filtering() }, says_absent))
}

/// The paths that are not stored: where each is written, and as all paths are written.
fn read_prune<'t>(
    at: Option<TreeNode<'t>>,
    immutable: bool,
    evictable: Option<bool>,
    faults: &mut Faults,
) -> Vec<(TreeNode<'t>, String)> {
    let Some(at) = at else { return Vec::new() };
    if immutable || evictable != Some(false) {
        let what = "pruned values are not stored, so no row may be the only copy of its object: say `evictable: false`, and leave out `immutable`";
        faults.push(at.fault(what));
    }
    let mut paths = Vec::new();
    for path in at.one_or_more() {
        let Some(text) = path.read_text(faults) else { continue };
        match Path::parse_many(text) {
            Ok(parsed) => paths.push((path, parsed.to_string())),
            Err(what) => faults.push(path.fault(what)),
        }
    }
    paths
}

/// Checks that what is not stored is neither needed, nor read by a column or by the filter.
fn check_pruned(
    pruned: &[(TreeNode<'_>, String)],
    columns: &[Column<'_>],
    conditions: &[Condition],
    faults: &mut Faults,
) {
    let paths: Vec<&str> = pruned.iter().map(|(_, path)| path.as_str()).collect();
    let tree = PruneTree::of(&paths);
    for (place, (at, path)) in pruned.iter().enumerate() {
        let within = || tree.within(&paths, place).map(|other| Fault::PruneWithin(path, paths[other]));
        faults.extend(check_prune_path(path).or_else(within).map(|fault| at.fault(fault.to_string())));
    }
    let pruning = |path: &Path| tree.pruning(path.places()).into_iter().min();
    for column in columns {
        let guards = column.paths.iter().flat_map(|path| &path.guards).map(|guard| &guard.path);
        let read = column.paths.iter().map(|path| &path.path).chain(guards);
        if let Some(place) = read.filter_map(pruning).min() {
            let fault = Fault::PruneColumn { path: paths[place], column: Ident::new(column.name) };
            faults.push(column.node.fault(fault.to_string()));
        }
    }
    if let Some(place) = conditions.iter().filter_map(|condition| pruning(&condition.path)).min() {
        let (at, path) = &pruned[place];
        faults.push(at.fault(format!("`{path}` is pruned, and the filter reads it: leave one of them out")));
    }
}

/// The names of a kind in Kubernetes. `None` for what a mistake hides.
struct Names<'n> {
    group: Option<&'n str>,
    version: Option<&'n str>,
    kind: Option<&'n str>,
    /// `None` also for the plural that Kubernetes guesses.
    plural: Option<&'n str>,
    namespaced: Option<bool>,
}

impl<'n> Names<'n> {
    fn read<'t: 'n>(
        node: &TreeNode<'t>,
        keys: &mut Keys<'t>,
        crd: Option<&'n CustomResourceDefinition>,
        faults: &mut Faults,
    ) -> Self {
        let group = match keys.take("group") {
            Some(at) => at.read_text(faults).map(|text| {
                let rule = "a group is a DNS name in lower case, such as `example.com`; the core group is \"\"";
                checked(&at, text, is_group, rule, faults)
            }),
            None => {
                let what = "`group` is missing: the part of apiVersion before the slash; the core group is \"\"";
                faults.push(node.fault(what));
                None
            }
        };
        let mut required = |name, what, is: fn(&str) -> bool, rule| {
            let (at, text) = node.required(name, keys.take(name), what, faults)?;
            Some(checked(&at, text, is, rule, faults))
        };
        let what = "the part of apiVersion after the slash, such as `v1`";
        let version = required("version", what, is_label, "a version is written as in apiVersion, such as `v1alpha1`");
        let what = "the name, as objects have it";
        let rule = "a kind is written as objects have it, with letters, digits and `-`: `RayCluster`";
        let kind = required("kind", what, is_kind, rule);
        let plural = read_plural(keys.take("plural"), crd, faults);
        let namespaced = read_namespaced(node, keys.take("namespaced"), crd, faults);
        Names { group, version, kind, plural, namespaced }
    }
}

/// Reads the CRD of a kind. `None` after a fault: a CRD of something else would be a mistake for each column.
fn read_crd(
    node: &TreeNode<'_>,
    at: &TreeNode<'_>,
    open: Open<'_>,
    crds: &mut CrdFiles,
    faults: &mut Faults,
) -> Option<Rc<CustomResourceDefinition>> {
    let name = at.read_text(faults)?;
    let bundle = crds.read(name, open).map_err(|what| faults.push(at.fault(what))).ok()?;
    let text = |key: &str| match &node.tree.get(key)?.content {
        Content::Text(text) => Some(text.as_str()),
        _ => None,
    };
    let group = text("group").unwrap_or_default();
    let version = text("version");
    let kind = text("kind");
    let (Some(version), Some(kind)) = (version, kind) else { return bundle.first().cloned() };
    let wrong = match bundle.iter().find(|crd| crd.spec.group == group && crd.spec.names.kind == kind) {
        Some(crd) => match version_fault(crd, version) {
            None => return Some(Rc::clone(crd)),
            Some(wrong) => wrong,
        },
        None => kind_fault(&bundle, name, group, kind),
    };
    faults.push(node.fault(wrong));
    None
}

/// The fault of a file without the CRD of a kind.
fn kind_fault(bundle: &[Rc<CustomResourceDefinition>], file: &str, group: &str, kind: &str) -> String {
    let shown = |crd: &CustomResourceDefinition| format!("{} in {}", crd.spec.names.kind, shown_group(&crd.spec.group));
    let group = shown_group(group);
    if let [only] = bundle {
        return format!("the CRD is of {}, not of {kind} in {group}", shown(only));
    }
    let kinds: Vec<&str> = bundle.iter().map(|crd| crd.spec.names.kind.as_str()).collect();
    let meant = nearest(kind, &kinds).and_then(|meant| bundle.iter().find(|crd| crd.spec.names.kind == meant));
    match meant {
        Some(crd) => format!("{file} has no CRD of {kind} in {group}; did you mean {}?", shown(crd)),
        None => format!("{file} has no CRD of {kind} in {group}, but of {} other kinds", bundle.len()),
    }
}

/// The plural that the file says, or the CRD.
fn read_plural<'n>(
    at: Option<TreeNode<'n>>,
    crd: Option<&'n CustomResourceDefinition>,
    faults: &mut Faults,
) -> Option<&'n str> {
    let of_crd = crd.map(|crd| crd.spec.names.plural.as_str());
    let Some(at) = at else { return of_crd };
    let rule = "a plural is in lower case, as in the paths of the API: `rayclusters`";
    let said = at.read_text(faults).map(|text| checked(&at, text, is_label, rule, faults))?;
    if let Some(of_crd) = of_crd.filter(|of_crd| *of_crd != said) {
        faults.push(at.fault(format!("by the CRD, it is `{of_crd}`")));
    }
    Some(said)
}

/// The short names that the file says, or the CRD.
fn read_short_names(
    at: Option<TreeNode<'_>>,
    crd: Option<&CustomResourceDefinition>,
    faults: &mut Faults,
) -> Vec<&'static str> {
    let Some(at) = at else {
        let of_crd = crd.and_then(|crd| crd.spec.names.short_names.as_deref()).unwrap_or_default();
        return of_crd.iter().map(|name| kept(name.as_str())).collect();
    };
    let rule = "a short name is in lower case, such as `cert`";
    let names = at.elements(faults);
    let names =
        names.iter().filter_map(|at| at.read_text(faults).map(|text| checked(at, text, is_label, rule, faults)));
    names.map(kept).collect()
}

/// Reads from the file, or else from the CRD, whether the kind is namespaced.
fn read_namespaced(
    node: &TreeNode<'_>,
    at: Option<TreeNode<'_>>,
    crd: Option<&CustomResourceDefinition>,
    faults: &mut Faults,
) -> Option<bool> {
    let of_crd = crd.map(|crd| crd.spec.scope == "Namespaced");
    let Some(at) = at else {
        if of_crd.is_none() {
            faults.push(node.fault("`namespaced` is missing: true, or false for a kind of the whole cluster"));
        }
        return of_crd;
    };
    let said = at.truth(faults)?;
    if let Some(of_crd) = of_crd.filter(|of_crd| *of_crd != said) {
        faults.push(at.fault(format!("by the CRD, it is `{of_crd}`")));
    }
    Some(said)
}

fn read_retention(at: &TreeNode<'_>, faults: &mut Faults) -> Option<Duration> {
    let text = at.read_text(faults)?;
    let wrong = |error| at.expected(&format!("how long a row is kept after its object's deletion: {error}"));
    RETENTION.read(text).map_err(|error| faults.push(wrong(error))).ok()
}

/// How long former versions are kept, and how many of each object.
type HistoryLimits = (Option<Duration>, Option<u32>);

pub(super) fn read_history(at: &TreeNode<'_>, faults: &mut Faults) -> Option<HistoryLimits> {
    let keep = |at: &TreeNode<'_>, faults: &mut Faults| {
        let wrong = |error| at.expected(&format!("how long former versions are kept: `forever`, or {error}"));
        read_keep(at.read_text(faults)?).map_err(|error| faults.push(wrong(error))).ok()
    };
    let Content::Map(_) = at.content() else { return keep(at, faults).map(|keep| (keep, None)) };
    let [age, versions] = at.fields(["keep", "versions"], faults)?;
    let Some(age) = age else {
        faults.push(at.fault("`keep` is missing: how long former versions are kept, such as `90d`, or `forever`"));
        return None;
    };
    let number = |at: TreeNode<'_>, faults: &mut Faults| {
        let number = match at.content() {
            Content::Number(text) => text.parse().ok().filter(|number| *number > 0),
            _ => None,
        };
        if number.is_none() {
            faults.push(at.expected("how many former versions of each object are kept: a number from 1"));
        }
        number
    };
    let keep = keep(&age, faults);
    let all = versions.is_none();
    let versions = versions.and_then(|at| number(at, faults));
    (all || versions.is_some()).then_some((keep?, versions))
}

/// The table with the one of its history.
fn with_history(
    at: &TreeNode<'_>,
    table: Table,
    kept_for: Option<HistoryLimits>,
    faults: &mut Faults,
) -> Option<Table> {
    if let Some(fault) = check_history(&table) {
        faults.push(at.fault(fault.to_string()));
        return None;
    }
    let (keep, versions) = kept_for?;
    let columns = (0..table.former_column_count()).map(|place| table.former_column(place)).collect::<Vec<_>>();
    let keys = (0..table.former_key_count()).map(|place| table.former_key(place)).collect::<Vec<_>>();
    let former = table.former(kept(columns), kept(keys));
    Some(table.with_history(History { keep, versions, table: kept(former) }))
}

/// Reads whether annotations can take objects out of the cluster.
fn read_evictable(at: &TreeNode<'_>, immutable: bool, faults: &mut Faults) -> Option<bool> {
    let said = at.truth(faults)?;
    if immutable && !said {
        let what = "`immutable: true` and `evictable: false` exclude each other: every object of an immutable kind leaves etcd";
        faults.push(at.fault(format!("{what} once SQL has it")));
    }
    Some(said)
}

fn read_finalizer(at: &TreeNode<'_>, faults: &mut Faults) -> Option<Finalizer> {
    let found = match at.read_text(faults)? {
        "ensure" => Some(Finalizer::Ensure),
        "existing" => Some(Finalizer::Existing),
        "never" => Some(Finalizer::Never),
        _ => None,
    };
    if found.is_none() {
        faults.push(at.expected("ensure, existing or never"));
    }
    found
}

pub(super) fn read_columns<'t>(
    list: Option<TreeNode<'t>>,
    schema: Option<&JSONSchemaProps>,
    absent: Absent,
    faults: &mut Faults,
) -> Vec<Column<'t>> {
    // The database remembers them in a setting of 256 characters.
    const STAYING: usize = 19;
    let list = list.map(|list| list.elements(faults)).unwrap_or_default();
    let columns: Vec<Column<'t>> = list.iter().filter_map(|node| read_column(node, schema, absent, faults)).collect();
    if let Some(one) = columns.iter().filter(|column| !column.stays.is_none()).nth(STAYING) {
        faults.push(
            one.node.fault(format!("a kind may have {STAYING} columns with `keep` or `first`: leave it out here")),
        );
    }
    columns
}

/// The parts of an object that are read.
struct Contents {
    recipe: Recipe,
    /// The fingerprint of all that it says.
    fingerprint: Fingerprint,
    /// The fingerprint of what decides whether there is a row.
    row: Fingerprint,
    /// The filter.
    conditions: Vec<Condition>,
}

impl Contents {
    fn read(
        columns: &[Column<'_>],
        filter: Option<TreeNode<'_>>,
        by: Option<ObjectSchema<'_>>,
        faults: &mut Faults,
    ) -> Self {
        let mut recipe = Recipe::new();
        let mut fingerprint = Fingerprint::NONE;
        let mut row = Fingerprint::NONE.text("row");
        let mut conditions = Vec::new();
        for column in columns {
            match column.many {
                None => recipe.column(&column.paths, column.typed(), column.default.clone(), column.absent),
                Some(_) => recipe.many(&column.paths, column.typed()),
            }
            fingerprint = fingerprint.beside(column.fingerprint());
        }
        for condition in filter.iter().flat_map(TreeNode::one_or_more) {
            let Some(text) = condition.read_text(faults) else { continue };
            match filter::condition(text, by) {
                Ok(parsed) => {
                    recipe.condition(&parsed);
                    let condition = Fingerprint::NONE.text("filter").text(&parsed.to_string());
                    fingerprint = fingerprint.beside(condition);
                    row = row.beside(condition);
                    conditions.push(parsed);
                }
                Err(what) => faults.push(condition.fault(what)),
            }
        }
        Contents { recipe, fingerprint, row, conditions }
    }
}

/// The composite keys: where each is written, and what it is.
pub(super) fn read_keys<'t>(list: Option<TreeNode<'t>>, faults: &mut Faults) -> Vec<(TreeNode<'t>, DeclaredKey<'t>)> {
    let mut keys = Vec::new();
    for key in list.map(|list| list.elements(faults)).unwrap_or_default() {
        let (name, columns) = match key.content() {
            Content::Map(_) => {
                let Some([name, columns]) = key.fields(["name", "columns"], faults) else { continue };
                let name =
                    key.required("name", name, "the key's name; without one, write the list of columns alone", faults);
                let Some(columns) = columns else {
                    faults.push(key.fault("`columns` is missing: the key's columns, such as `[namespace, status]`"));
                    continue;
                };
                (name.map(|(_, name)| name), columns)
            }
            _ => (None, key.clone()),
        };
        let Some(names) = columns.items() else {
            faults.push(columns.expected("a list of columns, such as `keys: [[namespace, status]]`"));
            continue;
        };
        let columns = names.iter().filter_map(|name| name.read_text(faults)).collect();
        keys.push((key, DeclaredKey { name, columns }));
    }
    keys
}

/// Reads the options of the table itself, and checks it with its columns.
fn read_table<'t>(
    node: &TreeNode<'t>,
    keys: &mut Keys<'t>,
    kind: &str,
    columns: &[Column<'t>],
    companions: bool,
    faults: &mut Faults,
) -> Option<Table> {
    let composite = read_keys(keys.take("keys"), faults);
    let at = keys.take("table");
    let named = at.as_ref().and_then(|at| at.read_text(faults));
    let at = at.unwrap_or_else(|| node.clone());
    let was = keys.take("was");
    let was_text = was.as_ref().and_then(|at| at.read_text(faults));
    let of_kind = kind.to_lowercase();
    let name = named.unwrap_or(&of_kind);
    if name.is_empty() {
        faults.extend(named.map(|_| at.fault("`table` is empty: leave it out, or give the table's name")));
        return None;
    }
    let declaration = Declaration {
        kind,
        name,
        was: was_text,
        columns: columns.iter().map(Column::declared).collect(),
        companions,
        keys: composite.iter().map(|(_, key)| key.clone()).collect(),
    };
    let place = |about| match about {
        About::Table => &at,
        About::TableWas => was.as_ref().unwrap_or(node),
        About::Column(place) => &columns[place].node,
        About::ColumnWas(place) => columns[place].was.as_ref().map_or(&columns[place].node, |(at, _)| at),
        About::ColumnKeep(place) => columns[place].keep.as_ref().unwrap_or(&columns[place].node),
        About::Key(place) => &composite[place].0,
    };
    declaration
        .table()
        .map_err(|mistakes| faults.extend(mistakes.into_iter().map(|(about, what)| place(about).fault(what))))
        .ok()
}

fn read_protobuf(node: &TreeNode<'_>, open: Open<'_>, faults: &mut Faults) -> Option<Protobuf> {
    let [message, descriptors] = node.fields(["message", "descriptors"], faults)?;
    let message = node.required("message", message, "the full name, such as `example.v1.Model`", faults);
    let file = node.required(
        "descriptors",
        descriptors,
        "a file that `protoc --include_imports --descriptor_set_out=FILE` wrote",
        faults,
    );
    let ((message_node, message), (at, file)) = (message?, file?);
    let bytes = open(file).map_err(|error| faults.push(at.fault(format!("cannot read {file}: {error}")))).ok()?;
    let descriptors = kept(DescriptorSet::new(kept(bytes)));
    let protobuf = Protobuf { message: kept(message), descriptors };
    match protobuf.get() {
        Ok(_) => Some(protobuf),
        Err(error) => {
            faults.push(message_node.fault(error.to_string()));
            None
        }
    }
}

/// The fault of a CRD without a version.
fn version_fault(crd: &CustomResourceDefinition, version: &str) -> Option<String> {
    let versions: Vec<&str> = crd.spec.versions.iter().map(|version| version.name.as_str()).collect();
    (!versions.contains(&version))
        .then(|| format!("the CRD has no version `{version}`; there are: {}", versions.join(", ")))
}

/// The text; a fault if it breaks the rule.
fn checked<'t>(at: &TreeNode<'t>, text: &'t str, is: fn(&str) -> bool, rule: &str, faults: &mut Faults) -> &'t str {
    if !is(text) {
        faults.push(at.fault(format!("`{text}`: {rule}")));
    }
    text
}

fn is_label(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty() && text.len() <= 63 && text.bytes().all(fits) && !text.starts_with('-') && !text.ends_with('-')
}

fn is_group(text: &str) -> bool {
    text.is_empty() || (text.len() <= 253 && text.split('.').all(is_label))
}

/// Kubernetes checks a kind in lower case, as a DNS label that begins with a letter.
fn is_kind(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && is_label(&text.to_ascii_lowercase())
}

/// The plural that Kubernetes guesses.
fn plural_of(kind: &str) -> String {
    let singular = kind.to_lowercase();
    match singular.as_bytes().last() {
        _ if singular == "endpoints" => singular,
        Some(b's') => singular + "es",
        Some(b'y') => singular[..singular.len() - 1].to_owned() + "ies",
        _ => singular + "s",
    }
}
