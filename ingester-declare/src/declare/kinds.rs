//! A file as kinds, with all its mistakes.

use super::crd;
use super::node::{Faults, Node};
use super::path::{Condition, Gives, Guarded, Path};
use super::recipe::Recipe;
use super::table::{About, Declaration, DeclaredColumn};
use super::{DeclaredKinds, Open, views};
use crate::documents::{DocumentError, Tree, located};
use crate::kept::kept;
use ingester_core::check_registry;
use ingester_core::kind::{Decode, Definition, Finalizer, Functions, Kind, Plural, Protobuf, Recipes, Record};
use ingester_core::nearest::nearest;
use ingester_core::protobuf::DescriptorSet;
use ingester_core::schema::{self, Fingerprint, Form, Ident, SqlType, Stays};
use ingester_core::value::{Micros, Value};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{CustomResourceDefinition, JSONSchemaProps};
use std::time::Duration;

/// The names of column types, for what may be meant.
const TYPES: [&str; 9] =
    ["VARCHAR(255)", "TEXT", "MEDIUMTEXT", "BOOLEAN", "INT", "BIGINT", "BIGINT UNSIGNED", "DOUBLE", "DATETIME(6)"];

/// The kinds of a file.
pub(super) fn read(text: &str, open: Open<'_>) -> Result<DeclaredKinds, Faults> {
    let root = located(text).map_err(|error| {
        let line = match &error {
            DocumentError::Syntax { line, .. }
            | DocumentError::Unclosed { line }
            | DocumentError::TooDeep { line }
            | DocumentError::DuplicateKey { line, .. }
            | DocumentError::NotFinite { line, .. }
            | DocumentError::UnknownAnchor { line, .. }
            | DocumentError::AliasBomb { line } => *line,
            _ => 1,
        };
        vec![super::node::Fault { line, path: String::new(), what: without_place(&error) }]
    })?;
    let mut faults = Faults::new();
    let root = Node::root(&root);
    let Some([built_in, list, views]) = root.fields(["builtIn", "kinds", "views"], &mut faults) else {
        return Err(faults);
    };
    let built_in = built_in.and_then(|at| at.truth(&mut faults)).unwrap_or(true);
    let Some(list) = list else {
        faults.push(root.fault("there are no kinds: a file begins with `kinds:`, and each is an element of that list"));
        return Err(faults);
    };
    let nodes = list.elements(&mut faults);
    if nodes.is_empty() && faults.is_empty() {
        faults.push(list.fault("there are no kinds: declare one, or leave the file out"));
    }
    let mut kinds: Vec<(Node<'_>, Kind)> = Vec::new();
    for node in nodes {
        let Some(kind) = read_kind(&node, open, &mut faults) else { continue };
        for (earlier, other) in &kinds {
            if let Err(error) = check_registry(&[*other, kind]) {
                let error = error
                    .to_string()
                    .replace("`#[ingest(table = \"...\")]`", "`table`")
                    .replace("in the registry", "there");
                faults.push(node.fault(format!("{error} (the other one begins on line {})", earlier.located.line)));
            }
        }
        kinds.push((node, kind));
    }
    let kinds: Vec<Kind> = kinds.into_iter().map(|(_, kind)| kind).collect();
    // What a view lacks may be a column of a kind that has a mistake.
    let views = match &views {
        Some(views) if faults.is_empty() => views::read(views, &kinds, &mut faults),
        _ => Vec::new(),
    };
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(DeclaredKinds { kinds, views: kept(views), built_in })
}

/// An error of the document, whose place is said apart.
fn without_place(error: &DocumentError) -> String {
    match error {
        DocumentError::Syntax { column, message, .. } => format!("column {column}: {message}"),
        DocumentError::DuplicateKey { key, .. } => format!("the key `{key}` appears twice in the same object"),
        other => other.to_string(),
    }
}

fn shown_group(group: &str) -> String {
    if group.is_empty() { "the core group".into() } else { format!("`{group}`") }
}

/// Reads one kind; what is wrong with it goes to `faults`.
#[expect(clippy::too_many_lines, reason = "all keys of a kind are read in one place")]
fn read_kind(node: &Node<'_>, open: Open<'_>, faults: &mut Faults) -> Option<Kind> {
    let before = faults.len();
    let [
        group,
        version,
        kind,
        plural_node,
        namespaced,
        table,
        was,
        immutable,
        finalizer,
        filter,
        keys_node,
        columns,
        protobuf,
        crd,
        companions,
        retention,
    ] = node.fields(
        [
            "group",
            "version",
            "kind",
            "plural",
            "namespaced",
            "table",
            "was",
            "immutable",
            "finalizer",
            "filter",
            "keys",
            "columns",
            "protobuf",
            "crd",
            "companions",
            "retention",
        ],
        faults,
    )?;
    let group = match group {
        Some(group) => group.text(faults).map(|text| {
            checked(
                &group,
                text,
                is_group,
                "a group is a name of DNS in lower case, such as `example.com`; the core group is \"\"",
                faults,
            )
        }),
        None => {
            faults.push(
                node.fault("`group` is missing: the part of apiVersion before the slash; the core group is \"\""),
            );
            None
        }
    };
    let version = required(node, version, "version", "the part of apiVersion behind the slash, such as `v1`", faults)
        .map(|(at, text)| {
            checked(&at, text, is_label, "a version is written as in apiVersion, such as `v1alpha1`", faults)
        });
    let kind = required(node, kind, "kind", "the name in CamelCase, as objects have it", faults).map(|(at, text)| {
        checked(&at, text, is_kind, "a kind is written in CamelCase, as objects have it: `RayCluster`", faults)
    });
    let crd = crd.and_then(|at| {
        let file = at.text(faults)?;
        let crd = open(file)
            .map_err(|error| format!("cannot read {file}: {error}"))
            .and_then(|bytes| crd::parse(&bytes).map_err(|error| format!("{file}: {error}")));
        crd.map_err(|what| faults.push(at.fault(what))).ok()
    });
    let plural = plural_node.as_ref().and_then(|at| {
        at.text(faults).map(|text| {
            checked(at, text, is_label, "a plural is in lower case, as in the paths of the API: `rayclusters`", faults)
        })
    });
    let of_crd = crd.as_ref().map(|crd| crd.spec.names.plural.as_str());
    if let (Some(at), Some(said), Some(of_crd)) = (&plural_node, plural, of_crd)
        && said != of_crd
    {
        faults.push(at.fault(format!("by the CRD, it is `{of_crd}`")));
    }
    let plural = plural.or(of_crd);
    let scoped = crd.as_ref().map(|crd| crd.spec.scope == "Namespaced");
    let namespaced = match namespaced {
        Some(at) => {
            let said = at.truth(faults);
            if let (Some(scoped), Some(said)) = (scoped, said)
                && scoped != said
            {
                faults.push(at.fault(format!("by the CRD, it is `{scoped}`")));
            }
            said
        }
        None if scoped.is_some() => scoped,
        None => {
            faults.push(node.fault("`namespaced` is missing: true, or false for a kind of the whole cluster"));
            None
        }
    };
    let immutable = immutable.and_then(|at| at.truth(faults)).unwrap_or(false);
    let companions = companions.and_then(|at| at.truth(faults)).unwrap_or(true);
    let retention = retention.and_then(|at| {
        let text = at.text(faults)?;
        let age = age(text);
        if age.is_none() {
            faults.push(at.expected("how long a row is kept after its object's deletion, such as `90d`, `36h`, `90m` or `30s`, at most 36500d"));
        }
        age
    });
    let finalizer = finalizer.and_then(|at| {
        let text = at.text(faults)?;
        let known = [("ensure", Finalizer::Ensure), ("existing", Finalizer::Existing), ("never", Finalizer::Never)];
        let found = known.iter().find(|(name, _)| *name == text).map(|(_, finalizer)| *finalizer);
        if found.is_none() {
            faults.push(at.expected("ensure, existing or never"));
        }
        found
    });
    if let (Some(crd), Some(version), Some(kind)) = (&crd, version, kind)
        && let Some(what) = mismatch(crd, group.unwrap_or_default(), version, kind)
    {
        faults.push(node.fault(what));
    }
    let schema =
        version.and_then(|version| crd.as_ref().and_then(|crd| crd::version(crd, version)).and_then(crd::schema));
    let mut recipe = Recipe::new();
    let mut fingerprint = Fingerprint::NONE;
    let mut row = Fingerprint::NONE.text("row");

    let columns: Vec<Column<'_>> = match columns {
        Some(list) => list.elements(faults).iter().filter_map(|node| read_column(node, schema, faults)).collect(),
        None => Vec::new(),
    };
    // The database remembers them in a setting of 256 characters.
    const STAYING: usize = 19;
    if let Some(one) = columns.iter().filter(|column| !column.stays.is_none()).nth(STAYING) {
        faults.push(
            one.node.fault(format!("a kind may have {STAYING} columns with `keep` or `first`: leave it out here")),
        );
    }
    for column in &columns {
        let ty = column.ty.unwrap_or(SqlType::VarChar(255));
        match column.many {
            None => recipe.column(&column.paths, ty, column.default.clone()),
            Some(_) => recipe.many(&column.paths, ty),
        }
        fingerprint = fingerprint.beside(column.fingerprint());
    }
    for condition in filter.iter().flat_map(Node::one_or_more) {
        let Some(text) = condition.text(faults) else { continue };
        match Condition::parse(text) {
            Ok(parsed) => {
                recipe.condition(&parsed);
                let condition = Fingerprint::NONE.text("filter").text(&parsed.to_string());
                fingerprint = fingerprint.beside(condition);
                row = row.beside(condition);
            }
            Err(what) => faults.push(condition.fault(what)),
        }
    }
    let protobuf = protobuf.and_then(|at| read_protobuf(&at, open, faults));

    let (mut key_nodes, mut keys) = (Vec::new(), Vec::new());
    for key in keys_node.map(|list| list.elements(faults)).unwrap_or_default() {
        if !matches!(key.tree(), Tree::List(_)) {
            faults.push(key.expected("a list of columns, such as `keys: [[namespace, status]]`"));
            continue;
        }
        let names: Vec<&str> = key.elements(faults).iter().filter_map(|name| name.text(faults)).collect();
        keys.push(names);
        key_nodes.push(key);
    }
    let table_node = table.clone().unwrap_or_else(|| node.clone());
    let named = table.and_then(|at| at.text(faults));
    let was_text = was.as_ref().and_then(|at| at.text(faults));
    let default_name = kind.unwrap_or_default().to_lowercase();
    let name = named.unwrap_or(&default_name);
    if name.is_empty() {
        if named.is_some() {
            faults.push(table_node.fault("`table` is empty: leave it out, or give the table's name"));
        }
        return None;
    }
    let declaration = Declaration {
        kind: kind.unwrap_or_default(),
        name,
        was: was_text,
        columns: columns.iter().map(Column::declared).collect(),
        companions,
        keys,
    };
    let table = match declaration.table() {
        Ok(table) => Some(table),
        Err(mistakes) => {
            for (about, what) in mistakes {
                let at = match about {
                    About::Table => &table_node,
                    About::TableWas => was.as_ref().unwrap_or(node),
                    About::Column(place) => &columns[place].node,
                    About::ColumnWas(place) => {
                        columns[place].was.as_ref().map_or(&columns[place].node, |(node, _)| node)
                    }
                    About::Key(place) => &key_nodes[place],
                };
                faults.push(at.fault(what));
            }
            None
        }
    };
    if faults.len() > before {
        return None;
    }
    let (version, kind, table) = (version?, kind?, table?);
    let plural = plural.map_or_else(|| plural_of(kind), str::to_owned);
    let definition = Definition {
        group: kept(group.unwrap_or_default()),
        version: kept(version),
        kind: kept(kind),
        namespaced: namespaced?,
        table: kept(table),
        immutable,
        protobuf,
        finalizer: finalizer.unwrap_or(Finalizer::Never),
        retention,
        fingerprint,
    };
    let of_columns = columns.iter().map(|column| (Ident::new(column.name), column.fingerprint()));
    let recipes = Recipes { row, columns: of_columns.collect() };
    let functions = Functions {
        plural: Plural::Literal(kept(plural)),
        decode: Decode::Declared(kept::<Recipe>(recipe)),
        crd: None,
    };
    Some(Kind::new(definition, functions).recorded(kept(Record::new(recipes))))
}

/// A column as it is declared.
struct Column<'t> {
    node: Node<'t>,
    name: &'t str,
    paths: Vec<Guarded>,
    ty: Option<SqlType>,
    default: Value,
    default_text: String,
    key: bool,
    was: Option<(Node<'t>, &'t str)>,
    revision: u64,
    stays: Stays,
    many: Option<Form>,
}

impl Column<'_> {
    fn fingerprint(&self) -> Fingerprint {
        let mut fingerprint = Fingerprint::NONE.text(self.name).text(&self.ty.map(|ty| ty.name()).unwrap_or_default());
        for path in &self.paths {
            fingerprint = fingerprint.text(&path.path.to_string());
            for guard in &path.guards {
                fingerprint = fingerprint.text("if").text(&guard.to_string());
            }
        }
        let fingerprint = fingerprint.text(&self.default_text).number(self.revision).text(self.stays.word());
        match self.many {
            None => fingerprint,
            Some(Form::List) => fingerprint.text("list"),
            Some(Form::Map) => fingerprint.text("map"),
        }
    }

    fn declared(&self) -> DeclaredColumn<'_> {
        let names = match &self.paths[..] {
            [Guarded { path, guards }] if guards.is_empty() && self.default == Value::Null => match self.many {
                None => path.names(),
                Some(_) => path.names_of_many(),
            },
            _ => None,
        };
        DeclaredColumn {
            name: self.name,
            ty: self.ty,
            key: self.key,
            was: self.was.as_ref().map(|(_, was)| *was),
            computed: names.is_none(),
            stays: self.stays,
            many: self.many,
            path: names.map(|names| schema::Path::new(kept(names.join(".")))),
        }
    }
}

#[expect(clippy::too_many_lines, reason = "all keys of a column are read in one place")]
fn read_column<'t>(node: &Node<'t>, schema: Option<&JSONSchemaProps>, faults: &mut Faults) -> Option<Column<'t>> {
    let [name, path, ty, default, key, was, revision, keep, first, many] =
        node.fields(["column", "path", "type", "default", "key", "was", "revision", "keep", "first", "many"], faults)?;
    let of_many = many.as_ref().and_then(|at| at.truth(faults)).unwrap_or(false);
    if of_many {
        for (at, what) in [
            (&default, "no value is none of many: leave the default out"),
            (&key, "the table of many values is there for its keys: leave `key` out"),
            (&keep, "which of many values would stay is not defined: leave `keep` out"),
            (&first, "which of many values would stay is not defined: leave `first` out"),
        ] {
            faults.extend(at.as_ref().map(|at| at.fault(what)));
        }
    }
    let name = required(node, name, "column", "the column's name", faults).map(|(_, name)| name);
    let mut paths = Vec::new();
    match &path {
        None => {
            faults.push(node.fault("`path` is missing: where the value is in the object, such as `.spec.owner.name`"))
        }
        Some(path) => {
            let nodes = path.one_or_more();
            if nodes.is_empty() {
                faults.push(path.fault("there is no path in this list"));
            }
            for at in nodes {
                paths.extend(read_path(at, of_many, schema, faults));
            }
        }
    }
    let always_gives =
        |path: &Guarded| path.guards.is_empty() && matches!(path.path.gives(), Gives::Count | Gives::Truth);
    for (at, path) in paths.iter().rev().skip(1) {
        if always_gives(path) {
            faults.push(at.fault("`count` and `exists` always give a value, so no path behind this one is ever asked: make it the last one"));
        }
    }
    let always = default.is_some() || paths.iter().any(|(_, path)| always_gives(path));
    let (mut by_schema, mut in_schema) = (None, true);
    for (at, Guarded { path, .. }) in &paths {
        let found = schema
            .filter(|_| !matches!(path.member(), Some("metadata" | "apiVersion" | "kind")))
            .map(|schema| crd::at(schema, &path.steps));
        match found {
            Some(Err(what)) => {
                in_schema = false;
                faults.push(at.fault(what));
            }
            // The type is that of the values of a map.
            Some(Ok(Some(map))) if of_many && !path.has_each() => match crd::values(map) {
                Ok(found) if by_schema.is_none() => by_schema = found,
                Ok(_) => {}
                Err(what) => {
                    in_schema = false;
                    faults.push(at.fault(what));
                }
            },
            Some(Ok(found)) if by_schema.is_none() => by_schema = found,
            _ => {}
        }
    }
    let explicit = ty.as_ref().and_then(|at| read_type(at, faults));
    let ty = match (&ty, paths.first()) {
        (Some(_), _) => explicit,
        (None, Some((at, Guarded { path, .. }))) => {
            let known = match path.gives() {
                // What is in a text of its own, no schema says.
                Gives::Json if !path.functions.is_empty() => None,
                Gives::Json => crd::metadata_type(&path.steps).or(by_schema.and_then(crd::column_type)),
                Gives::Text => Some(SqlType::VarChar(255)),
                Gives::LongText => Some(SqlType::Text),
                Gives::Number => Some(SqlType::Double),
                Gives::Count => Some(SqlType::Int),
                Gives::Truth => Some(SqlType::Boolean),
            };
            if known.is_none() && in_schema {
                faults.push(at.fault(match by_schema {
                    _ if !path.functions.is_empty() => "no schema says which type it has: give `type`".into(),
                    Some(found) => crd::no_type(found),
                    None if schema.is_some() => "the CRD does not say which type it has: give `type`".into(),
                    None => {
                        "nothing says which type it has: give `type`, or the CRD with `crd: FILE` beside `kind`".into()
                    }
                }));
            }
            known
        }
        (None, None) => None,
    };
    if let Some(ty) = ty {
        for (at, Guarded { path, .. }) in &paths {
            if let Some(what) = misfit(path, ty) {
                faults.push(at.fault(what));
            }
        }
    }
    let mut default_text = String::new();
    if let Some(at) = &default
        && paths.iter().any(|(_, path)| always_gives(path))
    {
        faults.push(
            at.fault("`count` and `exists` always give a value, 0 or false if there is nothing: leave the default out"),
        );
    }
    let default = match (&default, ty) {
        (Some(at), Some(ty)) => {
            default_text = format!("{:?}", at.tree());
            read_default(at, ty, faults)
        }
        _ => Value::Null,
    };
    let key = key.and_then(|at| at.truth(faults)).unwrap_or(!of_many) && !of_many;
    let was = was.and_then(|at| at.text(faults).map(|text| (at, text)));
    let revision = match revision {
        None => 1,
        Some(at) => match at.tree() {
            Tree::Number(number) if number.parse::<u32>().is_ok_and(|number| number > 0) => number.parse().unwrap_or(1),
            _ => {
                faults.push(at.expected("a whole number from 1"));
                1
            }
        },
    };
    let stays = if of_many { Stays::None } else { read_stays(keep, first, always, faults) };
    let is_list = paths.first().is_some_and(|(_, path)| path.path.has_each());
    let many = of_many.then_some(if is_list { Form::List } else { Form::Map });
    if let Some((other, _)) = paths.iter().find(|(_, path)| of_many && path.path.has_each() != is_list) {
        faults
            .push(other.fault("some of these paths give a list, others a map: write `[*]` in all of them, or in none"));
    }
    let paths = paths.into_iter().map(|(_, path)| path).collect();
    Some(Column { node: node.clone(), name: name?, paths, ty, default, default_text, key, was, revision, stays, many })
}

/// Reads a path: a text, or a map of a path and its guard. `None` after a fault.
fn read_path<'t>(
    at: Node<'t>,
    of_many: bool,
    schema: Option<&JSONSchemaProps>,
    faults: &mut Faults,
) -> Option<(Node<'t>, Guarded)> {
    let parse = if of_many { Path::parse_many } else { Path::parse };
    if !matches!(at.tree(), Tree::Map(_)) {
        return match parse(at.text(faults)?) {
            Ok(path) => Some((at, Guarded { path, guards: Vec::new() })),
            Err(what) => {
                faults.push(at.fault(what));
                None
            }
        };
    }
    let [path, conditions] = at.fields(["path", "if"], faults)?;
    let path = required(&at, path, "path", "where the value is in the object, such as `.spec.owner.name`", faults)
        .and_then(|(at, text)| Some((at.clone(), parse(text).map_err(|what| faults.push(at.fault(what))).ok()?)));
    let mut guards = Vec::new();
    match &conditions {
        None => faults.push(at.fault("`if` is missing: the condition under which this path counts, such as `.spec.type = Batch`; a path that always counts is written as a text")),
        Some(conditions) => {
            let all = conditions.one_or_more();
            if all.is_empty() {
                faults.push(conditions.fault("there is no condition in this list"));
            }
            for condition in all {
                let Some(text) = condition.text(faults) else { continue };
                match Condition::parse(text) {
                    Ok(guard) => {
                        let of_metadata = matches!(guard.path.member(), Some("metadata" | "apiVersion" | "kind"));
                        if let Some(Err(what)) =
                            schema.filter(|_| !of_metadata).map(|schema| crd::at(schema, &guard.path.steps))
                        {
                            faults.push(condition.fault(what));
                        }
                        guards.push(guard);
                    }
                    Err(what) => faults.push(condition.fault(what)),
                }
            }
        }
    }
    let (at, path) = path?;
    Some((at, Guarded { path, guards }))
}

/// Whether a stored value stays.
fn read_stays(keep: Option<Node<'_>>, first: Option<Node<'_>>, has_default: bool, faults: &mut Faults) -> Stays {
    let keeps = keep.as_ref().and_then(|at| at.truth(faults)).unwrap_or(false);
    let is_first = first.as_ref().and_then(|at| at.truth(faults)).unwrap_or(false);
    if let (true, true, Some(at)) = (keeps, is_first, &first) {
        faults.push(at.fault("`keep` and `first` are two rules for one value: `keep` lets a new value take the place of the stored one, `first` does not; leave one out"));
    }
    if let (true, true, Some(at)) = (keeps, has_default, &keep) {
        faults.push(at.fault(
            "with a `default`, `count` or `exists` there is always a value, so nothing is kept: leave one of them out",
        ));
    }
    if let (true, true, Some(at)) = (is_first, has_default, &first) {
        faults.push(at.fault("with a `default`, `count` or `exists` the first value is there at once, and no other one comes: leave one of them out"));
    }
    match (keeps, is_first) {
        (_, true) => Stays::First,
        (true, false) => Stays::Keep,
        (false, false) => Stays::None,
    }
}

fn read_type(at: &Node<'_>, faults: &mut Faults) -> Option<SqlType> {
    let text = at.text(faults)?;
    let ty =
        SqlType::try_parse(text).filter(|ty| !matches!(ty, SqlType::IntUnsigned | SqlType::LongBlob | SqlType::Json));
    if ty.is_none() {
        let upper = text.to_ascii_uppercase();
        let length = upper.strip_prefix("VARCHAR(").and_then(|rest| rest.strip_suffix(')')).map(str::trim);
        let meant = match nearest(text, &TYPES) {
            _ if upper == "VARCHAR" => ": say how many characters, such as `VARCHAR(64)`".into(),
            _ if length.is_some() => ": VARCHAR(n) has 1 to 16383 characters; for more use TEXT or MEDIUMTEXT with `key: false`".into(),
            Some(meant) if !meant.starts_with("VARCHAR") => format!(", did you mean `{meant}`?"),
            Some(_) => ", did you mean `VARCHAR(n)`?".into(),
            None => ": use VARCHAR(n) with 1 to 16383 characters, TEXT, MEDIUMTEXT, BOOLEAN, INT, BIGINT, BIGINT UNSIGNED, DOUBLE or DATETIME(6)".into(),
        };
        faults.push(at.fault(format!("`{text}` is not a column type{meant}")));
    }
    ty
}

/// Why what a path gives is nothing for a type.
fn misfit(path: &Path, ty: SqlType) -> Option<String> {
    use SqlType::{BigInt, BigIntUnsigned, Boolean, Double, Int, MediumText, Text, VarChar};
    let fits = match path.gives() {
        Gives::Json => true,
        Gives::Text | Gives::LongText => matches!(ty, VarChar(_) | Text | MediumText),
        Gives::Number => matches!(ty, Int | BigInt | BigIntUnsigned | Double | VarChar(_) | Text | MediumText),
        Gives::Count => matches!(ty, Int | BigInt | BigIntUnsigned | Double),
        Gives::Truth => ty == Boolean,
    };
    let (gives, types) = match path.gives() {
        _ if fits => return None,
        Gives::Json => return None,
        Gives::Text => ("a text", "VARCHAR(n), TEXT or MEDIUMTEXT"),
        Gives::LongText => ("a text of any length", "TEXT with `key: false`, MEDIUMTEXT or VARCHAR(n)"),
        Gives::Number => ("a number", "DOUBLE, BIGINT (rounded up) or VARCHAR(n) (exact)"),
        Gives::Count => ("a whole number", "INT or BIGINT"),
        Gives::Truth => ("true or false", "BOOLEAN"),
    };
    Some(format!("this gives {gives}, which {ty} does not hold: use {types}"))
}

fn read_default(at: &Node<'_>, ty: SqlType, faults: &mut Faults) -> Value {
    let value = match (ty, at.tree()) {
        (SqlType::VarChar(most), Tree::Text(text)) if text.chars().count() > usize::from(most) => {
            faults.push(at.fault(format!("the default has {} characters, {ty} holds {most}", text.chars().count())));
            return Value::Null;
        }
        (SqlType::VarChar(_) | SqlType::Text | SqlType::MediumText, Tree::Text(text)) => {
            Some(Value::text(text.as_str()))
        }
        (SqlType::Boolean, Tree::Truth(truth)) => Some(Value::Bool(*truth)),
        (SqlType::Int, Tree::Number(number)) => number.parse::<i32>().ok().map(|number| Value::Int(number.into())),
        (SqlType::BigInt, Tree::Number(number)) => number.parse().ok().map(Value::Int),
        (SqlType::BigIntUnsigned, Tree::Number(number)) => number.parse().ok().map(Value::UInt),
        (SqlType::Double, Tree::Number(number)) => number.parse().ok().map(Value::Double),
        (SqlType::DateTime, Tree::Text(text)) => {
            text.parse::<jiff::Timestamp>().ok().map(|time| Value::Time(Micros(time.as_microsecond())))
        }
        (
            SqlType::VarChar(_)
            | SqlType::Text
            | SqlType::MediumText
            | SqlType::Boolean
            | SqlType::Int
            | SqlType::BigInt
            | SqlType::IntUnsigned
            | SqlType::BigIntUnsigned
            | SqlType::Double
            | SqlType::DateTime
            | SqlType::LongBlob
            | SqlType::Json,
            _,
        ) => None,
    };
    value.unwrap_or_else(|| {
        let wanted = match ty {
            SqlType::VarChar(_) | SqlType::Text | SqlType::MediumText => {
                "a text (in quotes where YAML reads something else)"
            }
            SqlType::Boolean => "true or false",
            SqlType::DateTime => "a time such as `2026-03-09T20:36:46Z`",
            SqlType::Double => "a number",
            SqlType::Int | SqlType::BigInt | SqlType::IntUnsigned | SqlType::BigIntUnsigned => {
                "a whole number that the type holds"
            }
            // No column of a file has these types.
            SqlType::LongBlob | SqlType::Json => "no default",
        };
        faults.push(at.expected(&format!("{wanted}, as the column is {ty}")));
        Value::Null
    })
}

fn read_protobuf(node: &Node<'_>, open: Open<'_>, faults: &mut Faults) -> Option<Protobuf> {
    let [message, descriptors] = node.fields(["message", "descriptors"], faults)?;
    let message = required(node, message, "message", "the full name, such as `example.v1.Model`", faults);
    let file = required(
        node,
        descriptors,
        "descriptors",
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

/// What a CRD has to do with the kind beside which it is named.
fn mismatch(crd: &CustomResourceDefinition, group: &str, version: &str, kind: &str) -> Option<String> {
    let (its, names) = (&crd.spec, &crd.spec.names);
    if its.group != group || names.kind != kind {
        return Some(format!(
            "the CRD is of {} in `{}`, not of {kind} in {}",
            names.kind,
            its.group,
            shown_group(group)
        ));
    }
    let versions: Vec<&str> = its.versions.iter().map(|version| version.name.as_str()).collect();
    (!versions.contains(&version))
        .then(|| format!("the CRD has no version `{version}`; there are: {}", versions.join(", ")))
}

/// The text of a key that has to be there.
fn required<'t>(
    node: &Node<'t>,
    child: Option<Node<'t>>,
    name: &str,
    what: &str,
    faults: &mut Faults,
) -> Option<(Node<'t>, &'t str)> {
    let Some(child) = child else {
        faults.push(node.fault(format!("`{name}` is missing: {what}")));
        return None;
    };
    let text = child.text(faults)?;
    if text.is_empty() {
        faults.push(child.fault(format!("`{name}` is empty: {what}")));
        return None;
    }
    Some((child, text))
}

/// The text; a fault if it is not what it should be.
fn checked<'t>(at: &Node<'t>, text: &'t str, is: fn(&str) -> bool, rule: &str, faults: &mut Faults) -> &'t str {
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

fn is_kind(text: &str) -> bool {
    text.len() <= 63
        && text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// How long: whole days, hours, minutes or seconds.
fn age(text: &str) -> Option<Duration> {
    const DAY: u64 = 24 * 3600;
    let unit = match text.chars().last()? {
        'd' => DAY,
        'h' => 3600,
        'm' => 60,
        's' => 1,
        _ => return None,
    };
    let number = &text[..text.len() - 1];
    let seconds = number.parse::<u64>().ok().filter(|_| !number.starts_with('+'))?.checked_mul(unit)?;
    (1..=36_500 * DAY).contains(&seconds).then(|| Duration::from_secs(seconds))
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
