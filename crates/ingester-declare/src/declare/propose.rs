//! The columns that a first file proposes for a CRD.
//!
//! Columns are what the CRD's author considers worth searching and showing: `selectableFields` and `additionalPrinterColumns`. The
//! ones that are often queried have keys: selectable fields, times (by ranges) and `ready`. The rest of the schema is offered.
//!
//! A value that does not fit its column is missing there, so a type holds all that the schema allows.

use super::crd;
use super::json_path::{path_of, path_of_all};
use super::path::{Function, Path, Step};
use ingester_core::schema::{BASE_COLUMNS, Ident, SqlType, limits};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinitionVersion, JSONSchemaProps, JSONSchemaPropsOrArray,
};

/// The characters of the longest VARCHAR with a key.
const LONGEST_WITH_KEY: u16 = 768;

/// The characters that TEXT always holds: 65,535 bytes, of which a character has four at most.
const TEXT_CHARACTERS: i64 = 16_383;

/// The status of a condition, which is True, False or Unknown by Kubernetes' conventions.
const CONDITION: SqlType = SqlType::VarChar(255);

/// How deep fields are offered, and how many of those that are not often asked for.
const DEPTH: usize = 4;
const USEFUL_DEPTH: usize = 6;
const OFFERED: usize = 60;

/// Keys of offered columns: half of those that a table may have.
const OFFERED_KEYS: usize = limits::KEYS / 2;

/// A column that is proposed.
pub(super) struct ColumnProposal {
    pub(super) column: String,
    pub(super) path: Path,
    pub(super) ty: SqlType,
    pub(super) key: bool,
    /// The description of the printer column, otherwise of the schema.
    pub(super) description: String,
    /// How a table of objects prints it.
    pub(super) printing: PrintOptions,
}

/// How a table of objects prints a column, by its printer column.
#[derive(Default)]
pub(super) struct PrintOptions {
    /// The heading; `None` without a printer column.
    pub(super) header: Option<String>,
    /// Only a wide table has it.
    pub(super) wide: bool,
    /// The age of a time is printed.
    pub(super) age: bool,
}

impl PrintOptions {
    fn from_printer_column(printed: &CustomResourceColumnDefinition, ty: SqlType) -> Self {
        PrintOptions {
            header: Some(printed.name.clone()),
            wide: printed.priority.unwrap_or(0) > 0,
            age: printed.type_ == "date" && ty == SqlType::DateTime,
        }
    }
}

/// The columns that the CRD selects and prints.
pub(super) struct Columns {
    pub(super) proposed: Vec<ColumnProposal>,
    /// The printer columns that become none, with the reason.
    pub(super) left_out: Vec<String>,
}

/// Fields of the schema that nobody selects or prints.
pub(super) struct FieldProposals {
    pub(super) columns: Vec<ColumnProposal>,
    /// How many further fields could be columns.
    pub(super) unlisted: usize,
}

/// The columns that a version of a CRD selects and prints.
pub(super) fn columns(version: &CustomResourceDefinitionVersion) -> Columns {
    let schema = crd::schema(version);
    let mut columns = Columns { proposed: Vec::new(), left_out: Vec::new() };
    let selectable = version.selectable_fields.iter().flatten().map(|field| (field.json_path.as_str(), None));
    let printed =
        version.additional_printer_columns.iter().flatten().map(|column| (column.json_path.as_str(), Some(column)));
    for (json_path, printed) in selectable.chain(printed) {
        let found = path_of(json_path).and_then(|path| {
            if let Some(other) = columns.proposed.iter_mut().find(|other| other.path.steps == path.steps) {
                return match (printed, &other.printing.header) {
                    // A selectable field is printed as its printer column says.
                    (Some(printed), None) => {
                        other.printing = PrintOptions::from_printer_column(printed, other.ty);
                        Ok(None)
                    }
                    (Some(_), Some(header)) => {
                        Err(format!("the column `{}` has this value, and is printed as `{header}`", other.column))
                    }
                    (None, _) => Ok(None),
                };
            }
            if is_base(&path) {
                return Ok(None);
            }
            typed(path, schema, printed).map(Some)
        });
        match found {
            Ok(Some((path, ty))) => {
                let proposed = proposed(path, ty, schema, printed, &columns.proposed);
                columns.proposed.push(proposed);
            }
            Ok(None) => {}
            Err(why) => {
                let name = printed.map_or("a selectable field", |printed| printed.name.as_str());
                columns.left_out.push(format!("{name} ({json_path}): {why}"));
            }
        }
    }
    columns
}

/// The type of each of many values; `None` for those that no column of many values holds.
fn type_of_many(path: &Path, schema: &JSONSchemaProps) -> Option<SqlType> {
    let ty = crd::column_type(crd::at(schema, &path.steps).ok()??)?;
    (!matches!(ty, SqlType::Boolean | SqlType::Double)).then_some(ty)
}

fn proposed(
    path: Path,
    ty: SqlType,
    schema: Option<&JSONSchemaProps>,
    printed: Option<&CustomResourceColumnDefinition>,
    others: &[ColumnProposal],
) -> ColumnProposal {
    let of_schema = || schema.and_then(|schema| crd::at(schema, &path.steps).ok().flatten()?.description.clone());
    let description = printed.and_then(|printed| printed.description.clone()).or_else(of_schema).unwrap_or_default();
    let column = unused(&path, &[others]);
    let is_asked_for = printed.is_none() || ty == SqlType::DateTime || column == "ready";
    let key = is_asked_for && ty.key_bytes().is_some();
    let printing = printed.map(|printed| PrintOptions::from_printer_column(printed, ty)).unwrap_or_default();
    ColumnProposal { column, path, ty, key, description, printing }
}

/// The type of a column, and the path with the function that the type needs.
///
/// # Errors
/// Why the API server prints nothing there.
fn typed(
    mut path: Path,
    schema: Option<&JSONSchemaProps>,
    printed: Option<&CustomResourceColumnDefinition>,
) -> Result<(Path, SqlType), String> {
    // No schema describes the metadata.
    let of_metadata = matches!(path.member(), Some("metadata" | "apiVersion" | "kind"));
    let found = match schema.filter(|_| !of_metadata) {
        Some(schema) => crd::at(schema, &path.steps)?,
        None => None,
    };
    let printed_type = printed.map_or("string", |printed| printed.type_.as_str());
    if let Some(ty) = crd::metadata_type(&path.steps).or(found.and_then(|found| value_type(found, printed.is_none()))) {
        let ty = if is_condition(&path.steps) && ty == SqlType::Text { CONDITION } else { ty };
        return Ok((path, ty));
    }
    if matches!(path.names().as_deref(), Some(["metadata", "annotations", _])) {
        return Ok((path, SqlType::Text));
    }
    if found.is_some_and(|found| found.x_kubernetes_int_or_string == Some(true)) {
        path.functions.push(Function::Text);
        return Ok((path, SqlType::Text));
    }
    let is_open = found.is_none_or(|found| found.type_.is_none());
    match printed_type {
        // Below `x-kubernetes-preserve-unknown-fields`, only the printer column says what it is.
        "integer" if is_open => Ok((path, SqlType::BigInt)),
        "number" if is_open => Ok((path, SqlType::Double)),
        "boolean" if is_open => Ok((path, SqlType::Boolean)),
        "date" if is_open => Ok((path, SqlType::DateTime)),
        "string" => {
            path.functions.push(Function::Text);
            let ty = if is_condition(&path.steps) { CONDITION } else { SqlType::MediumText };
            Ok((path, ty))
        }
        other => Err(format!("the API server prints no list and no object as type {other}")),
    }
}

/// The type that holds every single value that a schema allows; `None` if values are lists, objects or of several types.
fn value_type(schema: &JSONSchemaProps, has_key: bool) -> Option<SqlType> {
    let ty = crd::column_type(schema)?;
    if !matches!(ty, SqlType::VarChar(_)) {
        return Some(ty);
    }
    let listed = schema.enum_.iter().flatten().filter_map(|value| value.0.as_str());
    let listed = listed.map(|text| text.chars().count().max(255)).max().and_then(|most| i64::try_from(most).ok());
    Some(match (schema.max_length.or(listed), has_key) {
        (Some(most), _) if most > TEXT_CHARACTERS => SqlType::MediumText,
        (Some(most), _) if most > LONGEST_WITH_KEY.into() => SqlType::Text,
        (Some(most), _) => SqlType::VarChar(u16::try_from(most).unwrap_or(1).max(1)),
        (None, true) => SqlType::VarChar(LONGEST_WITH_KEY),
        (None, false) => SqlType::Text,
    })
}

/// Returns true if every table has the value anyway.
fn is_base(path: &Path) -> bool {
    let names = path.names().filter(|_| path.functions.is_empty());
    names.is_some_and(|names| {
        BASE_COLUMNS.iter().any(|column| column.path.is_some_and(|its| its.steps().eq(names.iter().copied())))
    })
}

/// A name for a column that none of the others has.
fn unused(path: &Path, others: &[&[ColumnProposal]]) -> String {
    let mut words: Vec<String> = Vec::new();
    for step in &path.steps {
        match step {
            Step::Name(name) => words.push(snake(name)),
            Step::Match(_, literal, _) => {
                // `conditions[type=Ready].status` is `ready`.
                words.pop();
                words.push(snake(literal));
            }
            Step::Index(_) | Step::Each => {}
        }
    }
    let root = if words.len() > 1 { words.remove(0) } else { String::new() };
    if is_condition(&path.steps) {
        words.pop();
    }
    let short = words.join("_");
    let taken = |name: &str| {
        BASE_COLUMNS.iter().any(|base| base.name.same_as(name))
            || limits::SYSTEM_COLUMNS.contains(&name)
            || others.iter().copied().flatten().any(|other| other.column.eq_ignore_ascii_case(name))
    };
    let long = format!("{root}_{short}");
    let name = if !taken(&short) && !short.is_empty() { short } else { long };
    // A key of this name has the name of its table before it on SQLite.
    let name: String = name.chars().take(50).collect();
    match Ident::parse(&name) {
        Ok(_) if !taken(&name) => name,
        _ => (2..).map(|number| format!("column_{number}")).find(|name| !taken(name)).unwrap_or_default(),
    }
}

/// `secretName` and `Sync Status` as `secret_name` and `sync_status`.
pub(super) fn snake(name: &str) -> String {
    let mut snake = String::new();
    let mut before = '_';
    let chars: Vec<char> = name.chars().collect();
    for (place, c) in chars.iter().enumerate() {
        let next_is_lower = chars.get(place + 1).is_some_and(char::is_ascii_lowercase);
        if c.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || before.is_ascii_digit()
                || (before.is_ascii_uppercase() && next_is_lower))
        {
            snake.push('_');
        }
        match c {
            c if c.is_ascii_alphanumeric() => snake.push(c.to_ascii_lowercase()),
            _ if snake.ends_with('_') || snake.is_empty() => {}
            _ => snake.push('_'),
        }
        before = *c;
    }
    snake.trim_end_matches('_').to_owned()
}

/// The rest of the schema, as far as it makes columns: first what is often asked for, wherever it is.
pub(super) fn offers(version: &CustomResourceDefinitionVersion, proposed: &[ColumnProposal]) -> FieldProposals {
    let mut fields = Fields::default();
    for (name, below) in crd::schema(version).iter().flat_map(|schema| schema.properties.iter().flatten()) {
        if !matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
            fields.collect(&mut vec![Step::Name(name.clone())], below);
        }
    }
    let Fields { useful, others, mut unlisted } = fields;
    let is_new = |(path, _): &(Path, SqlType)| !proposed.iter().any(|other| other.path.steps == path.steps);
    let mut columns: Vec<ColumnProposal> = Vec::new();
    // The API server prints the first value of such a list.
    for printed in version.additional_printer_columns.iter().flatten() {
        let Some(path) = path_of_all(&printed.json_path) else { continue };
        let Some(ty) = crd::schema(version).and_then(|schema| type_of_many(&path, schema)) else { continue };
        let column = unused(&path, &[proposed, &columns]);
        columns.push(ColumnProposal {
            column,
            path,
            ty,
            key: true,
            description: String::new(),
            printing: PrintOptions::default(),
        });
    }
    for (path, ty) in useful.into_iter().filter(is_new) {
        let column = unused(&path, &[proposed, &columns]);
        let key = ty.key_bytes().is_some() && columns.len() < OFFERED_KEYS;
        columns.push(ColumnProposal {
            column,
            path,
            ty,
            key,
            description: String::new(),
            printing: PrintOptions::default(),
        });
    }
    for (path, ty) in others.into_iter().filter(is_new) {
        if columns.len() >= OFFERED {
            unlisted += 1;
            continue;
        }
        let column = unused(&path, &[proposed, &columns]);
        columns.push(ColumnProposal {
            column,
            path,
            ty,
            key: false,
            description: String::new(),
            printing: PrintOptions::default(),
        });
    }
    FieldProposals { columns, unlisted }
}

/// The fields of a schema.
#[derive(Default)]
struct Fields {
    /// Times, phases, conditions and references.
    useful: Vec<(Path, SqlType)>,
    others: Vec<(Path, SqlType)>,
    /// Fields that are too deep.
    unlisted: usize,
}

impl Fields {
    fn add(&mut self, steps: Vec<Step>, function: Option<Function>, ty: SqlType) {
        let is_useful = ty == SqlType::DateTime || is_condition(&steps) || is_phase_or_reference(&steps);
        let depth = steps.iter().filter(|step| matches!(step, Step::Name(_))).count();
        let path = Path { steps, functions: function.into_iter().collect() };
        match is_useful {
            true if depth <= USEFUL_DEPTH => self.useful.push((path, ty)),
            false if depth <= DEPTH => self.others.push((path, ty)),
            _ => self.unlisted += 1,
        }
    }

    fn collect(&mut self, steps: &mut Vec<Step>, schema: &JSONSchemaProps) {
        if schema.x_kubernetes_int_or_string == Some(true) {
            let (function, ty) = match crd::is_quantity(schema) {
                true => (Function::Quantity, SqlType::Double),
                false => (Function::Text, SqlType::Text),
            };
            return self.add(steps.clone(), Some(function), ty);
        }
        if let Some(ty) = value_type(schema, is_phase_or_reference(steps)) {
            return self.add(steps.clone(), None, ty);
        }
        if let Some(JSONSchemaPropsOrArray::Schema(items)) = &schema.items {
            let has = |name: &str| items.properties.as_ref().is_some_and(|its| its.contains_key(name));
            let below = |steps: &[Step], step: &[Step]| [steps, step].concat();
            if has("type") && has("status") {
                // Conditions: the usual one is proposed, the others are as many as there are types.
                let of_ready = [Step::Match(vec!["type".into()], "Ready".into(), None), Step::Name("status".into())];
                self.add(below(steps, &of_ready), None, CONDITION);
            } else if let Some(SqlType::VarChar(_)) = crd::column_type(items) {
                self.add(below(steps, &[Step::Each]), Some(Function::Join(", ".into())), SqlType::MediumText);
            } else {
                self.add(below(steps, &[Step::Each]), Some(Function::Count), SqlType::Int);
            }
            return;
        }
        for (name, below) in schema.properties.iter().flatten() {
            steps.push(Step::Name(name.clone()));
            self.collect(steps, below);
            steps.pop();
        }
    }
}

/// `.status.conditions[type="Ready"].status`
fn is_condition(steps: &[Step]) -> bool {
    matches!(steps, [.., Step::Match(names, ..), Step::Name(last)] if *names == ["type"] && last == "status")
}

/// `.status.phase`, `.spec.issuerRef.name`
fn is_phase_or_reference(steps: &[Step]) -> bool {
    match steps {
        [.., Step::Name(name)] if matches!(name.as_str(), "phase" | "state") => true,
        [.., Step::Name(parent), Step::Name(name)] => {
            matches!(name.as_str(), "name" | "namespace" | "kind")
                && (parent == "ref" || parent.ends_with("Ref") || parent.ends_with("Reference"))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Columns, columns, offers, snake};
    use crate::declare::crd;
    use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinitionVersion;

    /// A version with these printer columns, and `spec` and `status` of these properties.
    fn version(printed: &str, spec: &str, status: &str) -> CustomResourceDefinitionVersion {
        let text = format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: jobs.a.b}}\nspec:\n  group: a.b\n  \
             scope: Namespaced\n  names: {{kind: Job, plural: jobs}}\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    \
             selectableFields: [{{jsonPath: .spec.selected}}]\n    additionalPrinterColumns: [{printed}]\n    schema: {{openAPIV3Schema: \
             {{type: object, properties: {{spec: {{type: object, properties: {{selected: {{type: string}}, {spec}}}}}, status: {status}}}}}}}\n"
        );
        let mut crds = crd::parse(text.as_bytes()).unwrap();
        crds.remove(0).spec.versions.remove(0)
    }

    #[test]
    fn a_printer_column_becomes_a_column_that_holds_what_the_schema_allows_or_says_why_not() {
        const OPEN: &str = "{type: object, x-kubernetes-preserve-unknown-fields: true}";
        for (json_path, ty, spec, written) in [
            (".spec.a", "string", "a: {type: string}", ".spec.a TEXT"),
            (".spec.a", "string", "a: {type: string, maxLength: 63}", ".spec.a VARCHAR(63)"),
            (".spec.a", "string", "a: {type: string, maxLength: 1024}", ".spec.a TEXT"),
            (".spec.a", "string", "a: {type: string, maxLength: 32768}", ".spec.a MEDIUMTEXT"),
            (".spec.a", "string", "a: {type: string, enum: [Up, Down]}", ".spec.a VARCHAR(255)"),
            (".spec.a", "date", "a: {type: string, format: date-time}", ".spec.a DATETIME(6) key"),
            (".spec.a", "string", "a: {x-kubernetes-int-or-string: true}", ".spec.a | text TEXT"),
            (".spec.a", "string", "a: {type: array, items: {type: string}}", ".spec.a | text MEDIUMTEXT"),
            (
                ".spec.x[?(@.type=='Ready')].status",
                "string",
                "x: {type: array, items: {type: object, properties: {status: {type: string}}}}",
                ".spec.x[type=\"Ready\"].status VARCHAR(255) key",
            ),
            (
                ".status.x[?(@.type=='Done')].status",
                "string",
                "a: {type: string}",
                ".status.x[type=\"Done\"].status | text VARCHAR(255)",
            ),
            (".spec.a[*]", "string", "a: {type: array, items: {type: string}}", ".spec.a[0] TEXT"),
            (".spec.a", "integer", "a: {type: array, items: {type: string}}", "the API server prints no list"),
            (
                ".spec.a.type",
                "string",
                "a: {type: array, items: {type: object, properties: {type: {type: string}}}}",
                "`.spec.a` has no `.type`",
            ),
            (".spec.b", "string", "a: {type: string}", "`.spec` has no `.b`"),
            (".spec..a", "string", "a: {type: string}", "no path has `..`"),
            (".status.a", "string", "a: {}", ".status.a | text MEDIUMTEXT"),
            (".status.a", "integer", "a: {}", ".status.a BIGINT"),
            (".metadata.labels", "string", "a: {}", ".metadata.labels | text MEDIUMTEXT"),
            (".metadata.labels['a\\.b/c']", "string", "a: {}", ".metadata.labels[\"a.b/c\"] VARCHAR(63)"),
            (".metadata.annotations.a", "string", "a: {}", ".metadata.annotations.a TEXT"),
            (
                ".metadata.ownerReferences[0].name",
                "string",
                "a: {}",
                ".metadata.ownerReferences[0].name | text MEDIUMTEXT",
            ),
        ] {
            let column = format!("{{name: A, type: {ty}, jsonPath: {}}}", crate::yaml::quoted(json_path));
            let found = columns(&version(&column, spec, OPEN));
            let shown = |column: &super::ColumnProposal| {
                format!("{} {}{}", column.path, column.ty, if column.key { " key" } else { "" })
            };
            let mut all = found.proposed.iter().map(shown);
            assert_eq!(all.next().as_deref(), Some(".spec.selected VARCHAR(768) key"));
            match (all.next(), &found.left_out[..]) {
                (Some(column), []) => assert_eq!(column, written, "{json_path}, {spec}"),
                (None, [why]) => assert!(why.starts_with("A (") && why.contains(written), "{why}"),
                (column, why) => panic!("{column:?} {why:?}"),
            }
        }
    }

    #[test]
    fn a_printer_column_of_a_value_that_has_a_column_says_which_one_has_it() {
        let printed = "{name: Selected, type: string, jsonPath: .spec.selected}, {name: A, type: string, jsonPath: .spec.a}, \
                       {name: Again, type: date, jsonPath: .spec.a}, {name: Twice, type: string, jsonPath: .spec.selected}";
        let Columns { proposed, left_out } = columns(&version(printed, "a: {type: string}", "{type: object}"));
        let names: Vec<&str> = proposed.iter().map(|column| column.column.as_str()).collect();
        assert_eq!(names, ["selected", "a"]);
        assert_eq!(
            left_out,
            [
                "Again (.spec.a): the column `a` has this value, and is printed as `A`",
                "Twice (.spec.selected): the column `selected` has this value, and is printed as `Selected`",
            ]
        );
    }

    #[test]
    fn fields_that_are_often_asked_for_are_offered_first_and_the_others_are_counted() {
        let many: String = (0..70).map(|number| format!("f{number}: {{type: string}}, ")).collect();
        let deep = "{type: object, properties: {b: {type: object, properties: {c: {type: object, properties: {at: \
                    {type: string, format: date-time}, d: {type: string}}}}}}}";
        let status = "{type: object, properties: {phase: {type: string}, z: {type: string}, xmin: {type: integer}, conditions: \
                      {type: array, items: {type: object, properties: {type: {type: string}, status: {type: string}}}}}}";
        let spec = format!("{many}a: {deep}, poolRef: {{type: object, properties: {{name: {{type: string}}}}}}");
        let offers = offers(&version("", &spec, status), &[]);
        let names: Vec<&str> = offers.columns.iter().map(|column| column.column.as_str()).collect();
        assert_eq!(names[..5], ["a_b_c_at", "pool_ref_name", "ready", "phase", "f0"]);
        // `.spec.a.b.c.d` is too deep; 74 others are in the schema: `selected`, f0 to f69, `z`, `xmin` and it.
        assert_eq!((offers.columns.len(), offers.unlisted), (60, 74 - 56));
        let offers = super::offers(&version("", "a: {type: string}", status), &[]);
        let names: Vec<&str> = offers.columns.iter().map(|column| column.column.as_str()).collect();
        assert_eq!(names, ["ready", "phase", "a", "selected", "status_xmin", "z"]);
        assert_eq!(offers.unlisted, 0);
    }

    #[test]
    fn all_values_and_quantities_are_offered() {
        let list = "x: {type: array, items: {type: object, properties: {name: {type: string}, set: {type: boolean}}}}";
        let pattern = "'^[0-9]+([KMGTPE]i)?$'";
        let spec = format!(
            "{list}, cpu: {{x-kubernetes-int-or-string: true, pattern: {pattern}}}, port: {{x-kubernetes-int-or-string: true}}"
        );
        let printed = "{name: A, type: string, jsonPath: '.spec.x[*].name'}, {name: B, type: boolean, jsonPath: '.spec.x[*].set'}";
        let version = version(printed, &spec, "{type: object}");
        let Columns { proposed, .. } = columns(&version);
        assert_eq!(proposed.len(), 3, "the first values, which the API server prints");
        let shown = |column: &super::ColumnProposal| format!("{} {} {}", column.column, column.path, column.ty);
        let offered: Vec<String> = offers(&version, &proposed).columns.iter().map(shown).collect();
        assert_eq!(
            offered,
            [
                "spec_x_name .spec.x[*].name VARCHAR(255)",
                "cpu .spec.cpu | quantity DOUBLE",
                "port .spec.port | text TEXT",
                "x .spec.x[*] | count INT"
            ]
        );
    }

    #[test]
    fn names_are_words_with_underscores() {
        for (name, wanted) in [
            ("secretName", "secret_name"),
            ("HTTPRoute", "http_route"),
            ("Sync Status", "sync_status"),
            ("clusterIPs", "cluster_i_ps"),
            ("v1beta1Name", "v1beta1_name"),
            ("a-b.c", "a_b_c"),
        ] {
            assert_eq!(snake(name), wanted);
        }
    }
}
