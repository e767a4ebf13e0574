//! A column of a kind: where its value is, its type, and how it is stored.

use super::crd;
use super::path::{Condition, Function, GuardedPath, Path, PathType};
use super::recipe::ColumnType;
use super::table::DeclaredColumn;
use crate::kept::kept;
use crate::text::{Content, Faults, TreeNode};
use ingester_core::nearest::nearest;
use ingester_core::schema::{self, Absent, Fingerprint, Form, Printed, SqlType, Stays, Unit};
use ingester_core::value::{Micros, Value};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;

/// The names of column types, for suggestions.
const TYPES: [&str; 9] =
    ["VARCHAR(255)", "TEXT", "MEDIUMTEXT", "BOOLEAN", "INT", "BIGINT", "BIGINT UNSIGNED", "DOUBLE", "DATETIME(6)"];

/// A column as it is declared.
pub(super) struct Column<'t> {
    pub(super) node: TreeNode<'t>,
    pub(super) name: &'t str,
    pub(super) paths: Vec<GuardedPath>,
    pub(super) ty: Option<SqlType>,
    pub(super) default: Value,
    pub(super) default_text: String,
    pub(super) key: bool,
    pub(super) was: Option<(TreeNode<'t>, &'t str)>,
    pub(super) revision: u64,
    pub(super) stays: Stays,
    pub(super) absent: Absent,
    pub(super) unit: Option<Unit>,
    pub(super) many: Option<Form>,
    /// Where `keep` is written.
    pub(super) keep: Option<TreeNode<'t>>,
    /// There is always a value.
    pub(super) always: bool,
    /// The column says itself what is stored without a value, or needs no such rule because it has many values or is in the metadata.
    pub(super) says_absent: bool,
    /// The names of the values of an enum, by `enum` or the CRD; empty for anything else.
    names: &'static [&'static str],
    /// How a table of objects prints it.
    pub(super) printed: Printed,
}

impl Column<'_> {
    pub(super) fn fingerprint(&self) -> Fingerprint {
        let mut fingerprint = Fingerprint::NONE.text(self.name).text(&self.ty.map(|ty| ty.name()).unwrap_or_default());
        for path in &self.paths {
            fingerprint = fingerprint.text(&path.path.to_string());
            for guard in &path.guards {
                fingerprint = fingerprint.text("if").text(&guard.to_string());
            }
            if path.default != Value::Null {
                fingerprint = fingerprint.text("else").text(&format!("{:?}", path.default));
            }
        }
        let fingerprint = fingerprint.text(&self.default_text).number(self.revision).text(self.stays.word());
        let fingerprint = match self.many {
            None => fingerprint,
            Some(Form::List) => fingerprint.text("list"),
            Some(Form::Map) => fingerprint.text("map"),
        };
        // Options that files could not have before are added only where they are used, so that the rows of older files are not filled
        // again.
        let fingerprint = if self.absent == Absent::Empty { fingerprint.text("absent is empty") } else { fingerprint };
        if self.unit == Some(Unit::Milli) { fingerprint.text("in thousandths") } else { fingerprint }
    }

    /// The type and the unit of its values.
    pub(super) fn typed(&self) -> ColumnType {
        ColumnType { ty: self.ty.unwrap_or(SqlType::VarChar(255)), unit: self.unit }
    }

    pub(super) fn declared(&self) -> DeclaredColumn<'_> {
        let (path, is_plain) = match &self.paths[..] {
            [GuardedPath { path, guards, .. }] => {
                let is_alone = guards.is_empty() && self.default == Value::Null;
                // A quantity is the same value in another spelling.
                let is_as_written = matches!(path.functions[..], [] | [Function::Quantity]);
                let names = if self.many.is_some() { path.names_of_many() } else { path.names() };
                (names.and_then(schema::Path::text_of), is_alone && is_as_written)
            }
            _ => (None, false),
        };
        DeclaredColumn {
            name: self.name,
            ty: self.ty,
            key: self.key,
            was: self.was.as_ref().map(|(_, was)| *was),
            computed: path.is_none() || !is_plain,
            stays: self.stays,
            absent: self.absent,
            unit: self.unit,
            many: self.many,
            optional: !self.always,
            from: self.paths.first().map(|path| path.path.to_string()).unwrap_or_default(),
            path: path.map(|path| schema::Path::new(kept(path))),
            names: self.names,
            printed: self.printed,
        }
    }
}

/// The keys of a column.
const KEYS: [&str; 16] = [
    "column", "path", "type", "enum", "default", "key", "was", "revision", "keep", "first", "many", "absent", "unit",
    "header", "wide", "age",
];

/// Reads the names of an enum: those of the option `enum`, or those that the schema gives the only path. A default, a guard or another path
/// gives other values.
fn read_names(
    listed: Option<TreeNode<'_>>,
    has_default: bool,
    paths: &[PathDeclaration<'_>],
    by_schema: &SchemaLookup<'_>,
    faults: &mut Faults,
) -> &'static [&'static str] {
    let only = match paths {
        [only] if !has_default && only.path.guards.is_empty() => Some(only),
        _ => None,
    };
    match (listed, by_schema, only) {
        (Some(at), _, Some(_)) => {
            let values = at.elements(faults);
            kept(values.iter().filter_map(|at| at.read_text(faults).map(kept::<str>)).collect::<Vec<&'static str>>())
        }
        (Some(at), ..) => {
            faults.push(at.fault(
                "`enum` lists the values of a single path: leave it out with `many`, a default, a guard or several paths",
            ));
            &[]
        }
        (None, SchemaLookup::Says(Some(said)), Some(only)) => names_of(&only.path.path, said),
        (None, ..) => &[],
    }
}

/// Reads a column. `schema` describes the kind's objects, if there is a schema, and `absent` is the kind's option for all of its columns.
pub(super) fn read_column<'t>(
    node: &TreeNode<'t>,
    schema: Option<&JSONSchemaProps>,
    of_kind: Absent,
    faults: &mut Faults,
) -> Option<Column<'t>> {
    let mut keys = node.keys_of(&KEYS, faults)?;
    let absent = keys.take_any("absent").and_then(|at| read_absent(&at, faults));
    let [name, path, ty, listed, default, key, was, revision, keep, first, many, unit] =
        ["column", "path", "type", "enum", "default", "key", "was", "revision", "keep", "first", "many", "unit"]
            .map(|key| keys.take(key));
    let of_many = many.and_then(|at| at.truth(faults)).unwrap_or(false);
    let printed = ["header", "wide", "age"].map(|key| keys.take(key));
    if of_many {
        refuse_keys_of_one_value([&default, &key, &keep, &first], faults);
    }
    let name = node.required("column", name, "the column's name", faults).map(|(_, name)| name);
    let mut paths = read_paths(node, path, of_many, schema, faults);
    let always = default.is_some() || paths.iter().any(|written| always_gives(&written.path));
    let by_schema = by_schema(&paths, of_many, schema, faults);
    let names = read_names(listed, of_many || default.is_some(), &paths, &by_schema, faults);
    let ty = match ty {
        Some(at) => read_type_of_schema(&at, &paths, &by_schema, faults),
        None => paths.first().and_then(|path| type_of_path(path, by_schema, schema.is_some(), faults)),
    };
    if let Some(ty) = ty {
        faults.extend(
            paths.iter().filter_map(|PathDeclaration { at, path, .. }| Some(at.fault(misfit(&path.path, ty)?))),
        );
    }
    read_defaults_of_paths(&mut paths, ty, of_many, faults);
    if let Some(at) = &default
        && paths.iter().any(|written| always_gives(&written.path))
    {
        faults.push(at.fault(ALWAYS_GIVES));
    }
    let (default, default_text) = match (&default, ty) {
        // The fingerprint has the text, so another one would fill the column of every row again.
        (Some(at), Some(ty)) => (read_default(at, ty, faults), format!("{:?}", at.content())),
        _ => (Value::Null, String::new()),
    };
    let key = key.and_then(|at| at.truth(faults)).unwrap_or(!of_many) && !of_many;
    let was = was.and_then(|at| at.read_text(faults).map(|text| (at, text)));
    let revision = revision.and_then(|at| read_revision(&at, faults)).unwrap_or(1);
    let of_metadata = |first: &PathDeclaration<'_>| first.path.path.member() == Some("metadata");
    let says_absent = absent.is_some() || always || of_many || paths.first().is_some_and(of_metadata);
    let absent = absent.unwrap_or(of_kind);
    let keep_at = keep.clone();
    let stays = if of_many { Stays::None } else { read_stays(keep, first, faults) };
    let unit = read_unit(unit, &paths, ty, faults);
    let printed = read_printed(printed, of_many, ty, faults);
    let many = if of_many { read_form(&paths, faults) } else { None };
    let paths = paths.into_iter().map(|written| written.path).collect();
    Some(Column {
        node: node.clone(),
        name: name?,
        paths,
        ty,
        default,
        default_text,
        key,
        was,
        revision,
        stays,
        absent,
        unit,
        many,
        keep: keep_at,
        always,
        says_absent,
        names,
        printed,
    })
}

/// Refuses the keys `default`, `key`, `keep` and `first` of a column of many values.
fn refuse_keys_of_one_value(keys: [&Option<TreeNode<'_>>; 4], faults: &mut Faults) {
    let reasons = [
        "a column of many values has no default: leave it out",
        "the table of many values is there for its keys: leave `key` out",
        "with many values, it is not defined which one stays: leave `keep` out",
        "with many values, it is not defined which one stays: leave `first` out",
    ];
    for (at, reason) in keys.into_iter().zip(reasons) {
        faults.extend(at.as_ref().map(|at| at.fault(reason)));
    }
}

/// Reads the type that the file gives a column, and compares it with the one of the schema.
fn read_type_of_schema(
    at: &TreeNode<'_>,
    paths: &[PathDeclaration<'_>],
    by_schema: &SchemaLookup<'_>,
    faults: &mut Faults,
) -> Option<SqlType> {
    let ty = read_type(at, faults);
    if let (Some(ty), SchemaLookup::Says(Some(said))) = (ty, by_schema)
        && paths.first().is_some_and(|first| first.path.path.functions.is_empty())
        && let Some(what) = crd::contradiction(said, ty)
    {
        faults.push(at.fault(what));
    }
    ty
}

/// Reads how a table of objects prints a column: `header`, `wide` and `age`.
fn read_printed(keys: [Option<TreeNode<'_>>; 3], of_many: bool, ty: Option<SqlType>, faults: &mut Faults) -> Printed {
    if of_many {
        let what = "no table prints a column of many values: leave it out";
        faults.extend(keys.iter().flatten().map(|at| at.fault(what)));
        return Printed::PLAIN;
    }
    let [header, wide, age] = keys;
    let of_time = ty.is_none_or(|ty| ty == SqlType::DateTime);
    if let Some(age) = age.as_ref().filter(|_| !of_time) {
        faults.push(age.fault("only a time has an age: give `type: DATETIME(6)`, or leave it out"));
    }
    Printed {
        header: header.and_then(|at| at.read_text(faults)).filter(|header| !header.is_empty()).map(kept::<str>),
        wide: wide.and_then(|at| at.truth(faults)),
        age: age.and_then(|at| at.truth(faults)).unwrap_or(false),
        // A file's columns are printed in their order.
        position: None,
    }
}

/// The names of the values of an enum, as the CRD has them; empty if there are others.
fn names_of(path: &Path, said: &JSONSchemaProps) -> &'static [&'static str] {
    let values = said.enum_.as_deref().filter(|_| path.functions.is_empty() && said.type_.as_deref() == Some("string"));
    let names =
        values.unwrap_or_default().iter().map(|value| value.0.as_str().map(|name| -> &'static str { kept(name) }));
    names.collect::<Option<Vec<&'static str>>>().map_or(&[], kept)
}

/// A path, where it is written, and where its default is.
struct PathDeclaration<'t> {
    at: TreeNode<'t>,
    path: GuardedPath,
    default: Option<TreeNode<'t>>,
}

/// The fault of a default for a path that never needs one.
const ALWAYS_GIVES: &str =
    "`count` and `exists` always give a value, 0 or false if there is nothing: leave the default out";

/// Reads the defaults of guarded paths, once the column's type is known.
fn read_defaults_of_paths(paths: &mut [PathDeclaration<'_>], ty: Option<SqlType>, of_many: bool, faults: &mut Faults) {
    for PathDeclaration { path, default, .. } in paths {
        let Some(at) = default else { continue };
        if of_many {
            faults.push(at.fault("a column of many values has no default: leave it out"));
        } else if matches!(path.path.gives(), PathType::Count | PathType::Truth) {
            faults.push(at.fault(ALWAYS_GIVES));
        } else if let Some(ty) = ty {
            path.default = read_default(at, ty, faults);
        }
    }
}

fn always_gives(path: &GuardedPath) -> bool {
    path.guards.is_empty() && matches!(path.path.gives(), PathType::Count | PathType::Truth)
}

/// Reads the paths of a column. The first path that finds something gives the value.
fn read_paths<'t>(
    column: &TreeNode<'t>,
    path: Option<TreeNode<'t>>,
    of_many: bool,
    schema: Option<&JSONSchemaProps>,
    faults: &mut Faults,
) -> Vec<PathDeclaration<'t>> {
    let Some(path) = path else {
        faults.push(column.fault("`path` is missing: where the value is in the object, such as `.spec.owner.name`"));
        return Vec::new();
    };
    let all = path.one_or_more();
    if all.is_empty() {
        faults.push(path.fault("there is no path in this list"));
    }
    let paths: Vec<PathDeclaration<'t>> =
        all.into_iter().filter_map(|at| read_path(at, of_many, schema, faults)).collect();
    for PathDeclaration { at, .. } in paths.iter().rev().skip(1).filter(|written| always_gives(&written.path)) {
        faults.push(at.fault(
            "`count` and `exists` always give a value, so the paths after this one are never used: make it the last one",
        ));
    }
    paths
}

/// The schema of a column's values in a CRD.
enum SchemaLookup<'s> {
    /// The schema of the first path for which there is one.
    Says(Option<&'s JSONSchemaProps>),
    /// One of the paths is not in it, which is a mistake already.
    Contradicts,
}

fn by_schema<'s>(
    paths: &[PathDeclaration<'_>],
    of_many: bool,
    schema: Option<&'s JSONSchemaProps>,
    faults: &mut Faults,
) -> SchemaLookup<'s> {
    let mut says = None;
    let mut contradicts = false;
    let Some(schema) = schema else { return SchemaLookup::Says(None) };
    for PathDeclaration { at, path: GuardedPath { path, .. }, .. } in paths {
        if matches!(path.member(), Some("metadata" | "apiVersion" | "kind")) {
            continue;
        }
        let found = crd::at(schema, &path.steps).and_then(|found| match found {
            // The type of the map's values.
            Some(map) if of_many && !path.has_each() => crd::values(map),
            found => Ok(found),
        });
        match found {
            Ok(found) => says = says.or(found),
            Err(what) => {
                contradicts = true;
                faults.push(at.fault(what));
            }
        }
    }
    if contradicts { SchemaLookup::Contradicts } else { SchemaLookup::Says(says) }
}

/// The type of a column that has no option `type`: the type of its first path.
fn type_of_path(
    PathDeclaration { at, path: GuardedPath { path, .. }, .. }: &PathDeclaration<'_>,
    by_schema: SchemaLookup<'_>,
    has_schema: bool,
    faults: &mut Faults,
) -> Option<SqlType> {
    let said = match by_schema {
        SchemaLookup::Says(said) => said,
        SchemaLookup::Contradicts => None,
    };
    let known = match path.gives() {
        // No schema describes what is in a text of JSON.
        PathType::Json if !path.functions.is_empty() => None,
        PathType::Json => crd::metadata_type(&path.steps).or(said.and_then(crd::column_type)),
        PathType::Text => Some(SqlType::VarChar(255)),
        PathType::LongText => Some(SqlType::Text),
        PathType::Number => Some(SqlType::Double),
        PathType::Count => Some(SqlType::Int),
        PathType::Truth => Some(SqlType::Boolean),
    };
    if known.is_none() && matches!(by_schema, SchemaLookup::Says(_)) {
        faults.push(at.fault(match said {
            _ if !path.functions.is_empty() => "no schema says which type it has: give `type`".into(),
            Some(found) => crd::no_type(found),
            None if has_schema => "the CRD does not say which type it has: give `type`".into(),
            None => "its type is not known: give `type`, or the CRD with `crd: FILE` next to `kind`".into(),
        }));
    }
    known
}

fn read_revision(at: &TreeNode<'_>, faults: &mut Faults) -> Option<u64> {
    let number = match at.content() {
        Content::Number(number) => number.parse::<u32>().ok().filter(|number| *number > 0),
        _ => None,
    };
    if number.is_none() {
        faults.push(at.expected("a whole number from 1"));
    }
    number.map(u64::from)
}

/// Reads from the paths whether the many values belong to a list or to a map.
fn read_form(paths: &[PathDeclaration<'_>], faults: &mut Faults) -> Option<Form> {
    let is_list = paths.first().is_some_and(|first| first.path.path.has_each());
    if let Some(other) = paths.iter().find(|other| other.path.path.has_each() != is_list) {
        faults.push(
            other.at.fault("some of these paths give a list, others a map: write `[*]` in all of them, or in none"),
        );
    }
    Some(if is_list { Form::List } else { Form::Map })
}

/// Reads a path: a text, or a map of a path and its guard. `None` after a fault.
fn read_path<'t>(
    at: TreeNode<'t>,
    of_many: bool,
    schema: Option<&JSONSchemaProps>,
    faults: &mut Faults,
) -> Option<PathDeclaration<'t>> {
    let parse = if of_many { Path::parse_many } else { Path::parse };
    if !matches!(at.content(), Content::Map(_)) {
        return match parse(at.read_text(faults)?) {
            Ok(path) => Some(PathDeclaration { at, path: GuardedPath::always(path), default: None }),
            Err(what) => {
                faults.push(at.fault(what));
                None
            }
        };
    }
    let [path, conditions, default] = at.fields(["path", "if", "default"], faults)?;
    let path = at
        .required("path", path, "where the value is in the object, such as `.spec.owner.name`", faults)
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
                let Some(text) = condition.read_text(faults) else { continue };
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
    Some(PathDeclaration { at, path: GuardedPath { guards, ..GuardedPath::always(path) }, default })
}

/// Reads which stored values stay.
fn read_stays(keep: Option<TreeNode<'_>>, first: Option<TreeNode<'_>>, faults: &mut Faults) -> Stays {
    let keeps = keep.as_ref().and_then(|at| at.truth(faults)).unwrap_or(false);
    let is_first = first.as_ref().and_then(|at| at.truth(faults)).unwrap_or(false);
    if let (true, true, Some(at)) = (keeps, is_first, &first) {
        faults.push(at.fault("`keep` and `first` are two rules for one value: `keep` lets a new value take the place of the stored one, `first` does not; leave one out"));
    }
    match (keeps, is_first) {
        (_, true) => Stays::First,
        (true, false) => Stays::Keep,
        (false, false) => Stays::None,
    }
}

/// Reads the stored value for objects without a value. YAML reads `null` as nothing.
pub(super) fn read_absent(at: &TreeNode<'_>, faults: &mut Faults) -> Option<Absent> {
    if at.is_null() {
        return Some(Absent::Null);
    }
    let absent = Absent::read(at.read_text(faults)?).filter(|absent| *absent != Absent::Type);
    if absent.is_none() {
        faults.push(at.expected("null or empty"));
    }
    absent
}

/// The unit of a column of quantities: whole ones by default.
fn read_unit(
    at: Option<TreeNode<'_>>,
    paths: &[PathDeclaration<'_>],
    ty: Option<SqlType>,
    faults: &mut Faults,
) -> Option<Unit> {
    let of_quantities = paths.iter().any(|written| written.path.path.functions.contains(&Function::Quantity));
    let counts = ty.is_none_or(|ty| ty.holds_numbers());
    let Some(at) = at else { return (of_quantities && counts).then_some(Unit::Whole) };
    let unit = Unit::read(at.read_text(faults)?);
    match (unit, ty) {
        (None, _) => faults.push(at.expected("whole or milli")),
        _ if !of_quantities => {
            faults.push(at.fault("a unit is for quantities: end the path with `| quantity`, or leave `unit` out"));
        }
        _ if !counts => {
            faults.push(at.fault("a text has the exact number: give a type of numbers, or leave `unit` out"));
        }
        (Some(Unit::Milli), Some(SqlType::Double)) => {
            faults.push(at.fault("a DOUBLE has fractions: give `type: BIGINT`, or leave `unit` out"));
        }
        (Some(_), _) => {}
    }
    unit
}

fn read_type(at: &TreeNode<'_>, faults: &mut Faults) -> Option<SqlType> {
    let text = at.read_text(faults)?;
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

/// Why the values of a path do not fit a type.
fn misfit(path: &Path, ty: SqlType) -> Option<String> {
    use SqlType::{BigInt, BigIntUnsigned, Boolean, Double, Int, MediumText, Text, VarChar};
    let fits = match path.gives() {
        PathType::Json => true,
        PathType::Text | PathType::LongText => matches!(ty, VarChar(_) | Text | MediumText),
        PathType::Number => matches!(ty, Int | BigInt | BigIntUnsigned | Double | VarChar(_) | Text | MediumText),
        PathType::Count => matches!(ty, Int | BigInt | BigIntUnsigned | Double),
        PathType::Truth => ty == Boolean,
    };
    let (gives, types) = match path.gives() {
        _ if fits => return None,
        PathType::Json => return None,
        PathType::Text => ("a text", "VARCHAR(n), TEXT or MEDIUMTEXT"),
        PathType::LongText => ("a text of any length", "TEXT with `key: false`, MEDIUMTEXT or VARCHAR(n)"),
        PathType::Number => ("a number", "DOUBLE, BIGINT (rounded up) or VARCHAR(n) (exact)"),
        PathType::Count => ("a whole number", "INT or BIGINT"),
        PathType::Truth => ("true or false", "BOOLEAN"),
    };
    Some(format!("this gives {gives}, which {ty} does not hold: use {types}"))
}

fn read_default(at: &TreeNode<'_>, ty: SqlType, faults: &mut Faults) -> Value {
    let value = match (ty, at.content()) {
        (SqlType::VarChar(most), Content::Text(text)) if text.chars().count() > usize::from(most) => {
            faults.push(at.fault(format!("the default has {} characters, {ty} holds {most}", text.chars().count())));
            return Value::Null;
        }
        (SqlType::VarChar(_) | SqlType::Text | SqlType::MediumText, Content::Text(text)) => {
            Some(Value::text(text.as_str()))
        }
        (SqlType::Boolean, Content::Truth(truth)) => Some(Value::Bool(*truth)),
        (SqlType::Int, Content::Number(number)) => number.parse::<i32>().ok().map(|number| Value::Int(number.into())),
        (SqlType::BigInt, Content::Number(number)) => number.parse().ok().map(Value::Int),
        (SqlType::BigIntUnsigned, Content::Number(number)) => number.parse().ok().map(Value::UInt),
        (SqlType::Double, Content::Number(number)) => number.parse().ok().map(Value::Double),
        (SqlType::DateTime, Content::Text(text)) => {
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
