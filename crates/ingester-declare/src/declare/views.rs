//! Views over the declared kinds.
//!
//! ```yaml
//! views:
//! - name: runs
//!   kinds: [Build, Test]
//!   columns:
//!   - {column: name}
//!   - {column: kind, value: $kind}
//!   - {column: phase, value: {coalesce: [phase, {text: Unknown}]}}
//! ```

use crate::kept::kept;
use crate::text::{Content, Faults, TreeNode};
use ingester_core::kind::Kind;
use ingester_core::nearest::nearest;
use ingester_core::view::{Condition, Expression, Literal, View, ViewColumn, ViewSource, ViewType, check_views};

/// How deep expressions may be nested.
const DEPTH: usize = 32;

/// The types of columns and casts.
const TYPES: [(&str, ViewType); 4] =
    [("text", ViewType::Text), ("integer", ViewType::Integer), ("number", ViewType::Number), ("time", ViewType::Time)];

/// Adds the views of a list, over these kinds, to those before them.
pub(super) fn read(list: &TreeNode<'_>, kinds: &[Kind], views: &mut Vec<View>, faults: &mut Faults) {
    for node in list.elements(faults) {
        let before = faults.len();
        let Some(view) = read_view(&node, kinds, faults) else { continue };
        if faults.len() == before {
            views.push(view);
            // With those before it, so that a mistake is reported once, at its place.
            if let Err(errors) = check_views(kinds, views) {
                faults.extend(errors.into_iter().map(|error| node.fault(error.to_string())));
                views.pop();
            }
        }
    }
}

fn read_view(node: &TreeNode<'_>, kinds: &[Kind], faults: &mut Faults) -> Option<View> {
    let [name, of, columns, filter, overrides] = node.fields(["name", "kinds", "columns", "filter", "of"], faults)?;
    let (_, name) = node.required("name", name, "the view's name in the database", faults)?;
    let Some(columns) = columns else {
        faults.push(node.fault("`columns` is missing: what a row of the view has"));
        return None;
    };
    let columns = columns.elements(faults);
    let mut declared: Vec<(ViewColumn, Option<TreeNode<'_>>)> = Vec::new();
    for column in &columns {
        let Some([called, value, ty]) = column.fields(["column", "value", "type"], faults) else { continue };
        let Some((_, called)) = column.required("column", called, "the column's name", faults) else { continue };
        let ty = ty.and_then(|at| read_type(&at, faults));
        declared.push((ViewColumn { name: kept(called), ty }, value));
    }
    let chosen: Vec<Kind> = match of {
        None => kinds.to_vec(),
        Some(of) => read_kinds(&of, kinds, ": each of its rows would be there twice", faults),
    };
    let columns_of: Vec<&str> = declared.iter().map(|(column, _)| column.name).collect();
    let overrides = read_overrides(overrides.as_ref(), &chosen, &columns_of, faults);
    let mut sources = Vec::new();
    for kind in chosen {
        let own = overrides.iter().find(|(of, ..)| of.table().name == kind.table().name);
        let of = ExpressionScope { kind: &kind, kinds };
        let mut values = Vec::new();
        for (column, value) in &declared {
            let own = own.and_then(|(_, _, values)| values.iter().find(|(name, _)| *name == column.name));
            let value = match (own, value) {
                (Some((_, value)), _) => expression(value, &of, DEPTH, faults)?,
                (None, Some(value)) => expression(value, &of, DEPTH, faults)?,
                (None, None) => Expression::Column(column.name),
            };
            values.push((column.name, value));
        }
        let of_kind = own.and_then(|(_, filter, _)| filter.as_ref());
        let filter = match of_kind.or(filter.as_ref()) {
            Some(filter) => Some(condition(filter, &of, DEPTH, faults)?),
            None => None,
        };
        sources.push(ViewSource { kind, values: kept(values), filter });
    }
    let columns: Vec<ViewColumn> = declared.iter().map(|(column, _)| *column).collect();
    Some(View { name: kept(name), columns: kept(columns), sources: kept(sources) })
}

/// The kinds of a list; a kind that is listed twice is a fault, with its consequence.
fn read_kinds(list: &TreeNode<'_>, kinds: &[Kind], twice: &str, faults: &mut Faults) -> Vec<Kind> {
    let names: Vec<&str> = kinds.iter().map(Kind::kind).collect();
    let mut chosen: Vec<Kind> = Vec::new();
    for at in list.elements(faults) {
        let Some(text) = at.read_text(faults) else { continue };
        match find(kinds, text) {
            Some(kind) if chosen.iter().any(|other| other.table().name == kind.table().name) => {
                faults.push(at.fault(format!("`{text}` is in this list already{twice}")));
            }
            Some(kind) => chosen.push(kind),
            None => faults.push(at.fault(unknown(text, &names))),
        }
    }
    chosen
}

/// The kind for whose rows an expression is, and all kinds that it may name.
struct ExpressionScope<'a> {
    kind: &'a Kind,
    kinds: &'a [Kind],
}

/// The differences for a kind: its filter, and its values by column.
type Override<'t> = (Kind, Option<TreeNode<'t>>, Vec<(&'t str, TreeNode<'t>)>);

fn read_overrides<'t>(
    node: Option<&TreeNode<'t>>,
    kinds: &[Kind],
    columns: &[&str],
    faults: &mut Faults,
) -> Vec<Override<'t>> {
    let mut overrides = Vec::new();
    let names: Vec<&str> = kinds.iter().map(Kind::kind).collect();
    let what = "a map from kinds to what is different for them, such as `{Pod: {values: {status: phase}}}`";
    for (name, at) in node.and_then(|node| node.entries(what, faults)).unwrap_or_default() {
        let Some(kind) = find(kinds, name) else {
            faults.push(at.fault(unknown(name, &names)));
            continue;
        };
        let Some([filter, values]) = at.fields(["filter", "values"], faults) else { continue };
        let values = values.and_then(|values| values.entries("a map from columns to values", faults));
        let own = values.unwrap_or_default();
        for (column, at) in own.iter().filter(|(column, _)| !columns.contains(column)) {
            let meant = nearest(column, columns).map_or(String::new(), |meant| format!(", did you mean `{meant}`?"));
            faults.push(at.fault(format!("the view has no column `{column}`{meant}")));
        }
        overrides.push((kind, filter, own));
    }
    overrides
}

/// The kind of a name; with its group where several have the name.
fn find(kinds: &[Kind], name: &str) -> Option<Kind> {
    let with_group = |kind: &&&Kind| {
        let group = if kind.group().is_empty() { "core" } else { kind.group() };
        format!("{}.{group}", kind.kind()) == name
    };
    let mut alike = kinds.iter().filter(|kind| kind.kind() == name);
    match (alike.next(), alike.next()) {
        (Some(kind), None) => Some(*kind),
        _ => kinds.iter().find(|kind| with_group(&kind)).copied(),
    }
}

fn unknown(name: &str, names: &[&str]) -> String {
    match nearest(name, names) {
        Some(meant) if *meant == *name => {
            format!("several kinds are called `{name}`: write `{name}.GROUP`, or `{name}.core`")
        }
        Some(meant) => format!("unknown kind `{name}` in this file, did you mean `{meant}`?"),
        None => format!("unknown kind `{name}` in this file; known: {}", names.join(", ")),
    }
}

fn read_type(at: &TreeNode<'_>, faults: &mut Faults) -> Option<ViewType> {
    let text = at.read_text(faults)?;
    let found = TYPES.iter().find(|(name, _)| *name == text).map(|(_, ty)| *ty);
    if found.is_none() {
        faults.push(at.expected("text, integer, number or time"));
    }
    found
}

/// Returns the key and the value of a map with one key.
fn single<'t>(node: &TreeNode<'t>, what: &str, faults: &mut Faults) -> Option<(&'t str, TreeNode<'t>)> {
    match node.content() {
        Content::Map(entries) => match &entries[..] {
            [(key, tree)] => Some((key.as_str(), node.child(key, tree))),
            _ => {
                faults.push(node.fault(format!("expected one key: {what}")));
                None
            }
        },
        _ => {
            faults.push(node.expected(what));
            None
        }
    }
}

const EXPRESSIONS: &str = "a column's name, `$kind`, `$group`, `$null`, {text: ...}, {integer: ...}, {setting: NAME}, {coalesce: [...]}, {concat: [...]}, {cast: {value: ..., to: TYPE}} or {case: {when: [...], else: ...}}";

/// Reads an expression. `None` after a fault.
fn expression(node: &TreeNode<'_>, of: &ExpressionScope<'_>, depth: usize, faults: &mut Faults) -> Option<Expression> {
    let Some(depth) = depth.checked_sub(1) else {
        faults.push(node.fault("this is nested too deep"));
        return None;
    };
    if let Content::Text(text) = node.content() {
        return Some(match text.as_str() {
            "$kind" => Expression::text(of.kind.kind()),
            "$group" => Expression::text(of.kind.group()),
            "$null" => Expression::Null,
            column => Expression::Column(kept(column)),
        });
    }
    let (key, value) = single(node, EXPRESSIONS, faults)?;
    match key {
        "text" | "integer" => literal(key, &value, faults).map(Expression::Literal),
        "setting" => Some(Expression::Setting(kept(value.read_text(faults)?))),
        "coalesce" | "concat" => {
            let all = value
                .list(faults)?
                .iter()
                .map(|value| expression(value, of, depth, faults))
                .collect::<Option<Vec<_>>>()?;
            Some(if key == "concat" { Expression::Concat(kept(all)) } else { Expression::Coalesce(kept(all)) })
        }
        "cast" => {
            let [inner, to] = value.fields(["value", "to"], faults)?;
            let (Some(inner), Some(to)) = (inner, to) else {
                faults.push(value.fault("`cast` needs `value` and `to`: {cast: {value: started, to: text}}"));
                return None;
            };
            let inner = expression(&inner, of, depth, faults)?;
            let ty = read_type(&to, faults)?;
            if ty == ViewType::Number {
                faults.push(to.expected("text, integer or time"));
                return None;
            }
            Some(Expression::Cast(kept(inner), ty))
        }
        "case" => {
            let [when, otherwise] = value.fields(["when", "else"], faults)?;
            let mut cases = Vec::new();
            for case in when.map(|when| when.elements(faults)).unwrap_or_default() {
                let [holds, then] = case.fields(["if", "then"], faults)?;
                let (Some(holds), Some(then)) = (holds, then) else {
                    faults.push(
                        case.fault(
                            "each element of `when` needs `if` and `then`: {if: deleted, then: {text: Stopped}}",
                        ),
                    );
                    return None;
                };
                cases.push((condition(&holds, of, depth, faults)?, expression(&then, of, depth, faults)?));
            }
            if cases.is_empty() {
                faults.push(value.fault("`when` is missing: a list of {if: ..., then: ...}"));
                return None;
            }
            let otherwise = match otherwise {
                Some(otherwise) => expression(&otherwise, of, depth, faults)?,
                None => Expression::Null,
            };
            Some(Expression::Case(kept(cases), kept(otherwise)))
        }
        _ => {
            faults.push(node.fault(format!("`{key}` is unknown here: expected {EXPRESSIONS}")));
            None
        }
    }
}

fn literal(key: &str, value: &TreeNode<'_>, faults: &mut Faults) -> Option<Literal> {
    match (key, value.content()) {
        ("text", _) => Some(Literal::Text(kept(value.read_text(faults)?))),
        (_, Content::Number(number)) if number.parse::<i64>().is_ok() => Some(Literal::Integer(number.parse().ok()?)),
        _ => {
            faults.push(value.expected("a whole number"));
            None
        }
    }
}

const CONDITIONS: &str = "live, evicted, deleted, {isNull: VALUE}, {value: VALUE, in: [...]}, {value: VALUE, stored: [KIND, ...]}, {not: ...}, {all: [...]} or {any: [...]}";

/// Reads a condition. `None` after a fault.
fn condition(node: &TreeNode<'_>, of: &ExpressionScope<'_>, depth: usize, faults: &mut Faults) -> Option<Condition> {
    let Some(depth) = depth.checked_sub(1) else {
        faults.push(node.fault("this is nested too deep"));
        return None;
    };
    match node.content() {
        Content::Text(text) => match text.as_str() {
            "live" => return Some(Condition::Live),
            "evicted" => return Some(Condition::Evicted),
            "deleted" => return Some(Condition::Deleted),
            _ => {
                faults.push(node.expected(CONDITIONS));
                return None;
            }
        },
        Content::Map(_) if node.tree.get("in").is_some() => {
            let [value, list] = node.fields(["value", "in"], faults)?;
            let (Some(value), Some(list)) = (value, list) else {
                faults.push(node.fault("`in` needs a value: {value: status, in: [Running, Created]}"));
                return None;
            };
            let mut literals = Vec::new();
            for element in list.list(faults)? {
                let key = if matches!(element.content(), Content::Number(_)) { "integer" } else { "text" };
                literals.push(literal(key, &element, faults)?);
            }
            return Some(Condition::OneOf(expression(&value, of, depth, faults)?, kept(literals)));
        }
        Content::Map(_) if node.tree.get("stored").is_some() => {
            let [value, kinds] = node.fields(["value", "stored"], faults)?;
            let (Some(value), Some(kinds)) = (value, kinds) else {
                faults.push(
                    node.fault("`stored` needs a value that is a uid, and kinds: {value: owner_uid, stored: [Job]}"),
                );
                return None;
            };
            let before = faults.len();
            let kinds = read_kinds(&kinds, of.kinds, "", faults);
            if faults.len() > before {
                return None;
            }
            return Some(Condition::Stored(expression(&value, of, depth, faults)?, kept(kinds)));
        }
        _ => {}
    }
    let (key, value) = single(node, CONDITIONS, faults)?;
    let all = |value: &TreeNode<'_>, faults: &mut Faults| -> Option<&'static [Condition]> {
        let all =
            value.list(faults)?.iter().map(|value| condition(value, of, depth, faults)).collect::<Option<Vec<_>>>()?;
        Some(kept(all))
    };
    match key {
        "isNull" => Some(Condition::Null(expression(&value, of, depth, faults)?)),
        "not" => Some(Condition::Not(kept(condition(&value, of, depth, faults)?))),
        "all" => Some(Condition::All(all(&value, faults)?)),
        "any" => Some(Condition::Any(all(&value, faults)?)),
        _ => {
            faults.push(node.fault(format!("`{key}` is unknown here: expected {CONDITIONS}")));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::declare::kinds;
    use ingester_core::Registry;
    use ingester_sql::ddl::Schema;
    use ingester_sql::dialect::Dialect;

    const KINDS: &str = "
kinds:
- group: example.com
  version: v1
  kind: Build
  namespaced: true
  columns:
  - {column: phase, path: .status.phase, type: VARCHAR(20)}
  - {column: started, path: .status.started, type: DATETIME(6)}
- group: example.com
  version: v1
  kind: Test
  namespaced: true
  columns:
  - {column: result, path: .status.result, type: VARCHAR(20)}
";

    fn read(views: &str) -> Result<String, String> {
        let text = format!("{KINDS}views:\n{views}");
        let file = kinds("kinds.yaml", &text, &|_| Err(std::io::ErrorKind::NotFound.into()))
            .map_err(|error| error.to_string())?;
        let schema = Schema::from_registry(Registry { kinds: &file.kinds, views: file.views });
        let made = Dialect::MySql.create_all(&Schema { tables: Vec::new(), views: schema.views });
        Ok(Dialect::MySql.script(&made))
    }

    #[test]
    fn a_view_is_what_its_columns_say_for_each_kind() {
        let made = read(
            "
- name: runs
  filter: {not: evicted}
  columns:
  - {column: name}
  - {column: kind, value: $kind}
  - column: status
    value:
      case:
        when:
        - {if: {all: [deleted, {value: phase, in: [Running, Created]}]}, then: {text: Stopped}}
        - {if: {isNull: phase}, then: {text: Unknown}}
        else: phase
  - {column: region, value: {coalesce: [{setting: region}, {text: nowhere}]}}
  - {column: started}
  - {column: is_deleted, value: {case: {when: [{if: deleted, then: {integer: 1}}], else: {integer: 0}}}}
  - {column: title, value: {concat: [$kind, {text: \"\\n\"}, name]}}
  of:
    Test:
      filter: {all: [live, {value: result, stored: [Build, Test]}]}
      values: {status: {coalesce: [result, {text: Unknown}]}, started: $null}
",
        );
        insta::assert_snapshot!(made.unwrap_or_else(|error| panic!("{error}")));
    }

    #[test]
    fn mistakes_of_a_view_are_named_with_their_lines() {
        let table: Vec<String> = [
            "- {columns: [{column: name}]}",
            "- {name: runs}",
            "- {name: runs, kinds: [Biuld], columns: [{column: name}]}",
            "- {name: runs, columns: [{column: phase}]}",
            "- {name: build, kinds: [Build], columns: [{column: phase}]}",
            "- {name: runs, kinds: [Build], columns: [{column: a, value: {txt: x}}]}",
            "- {name: runs, kinds: [Build], columns: [{column: a, value: {integer: x}}]}",
            "- {name: runs, kinds: [Build], columns: [{column: a, value: {case: {else: phase}}}]}",
            "- {name: runs, kinds: [Build], columns: [{column: a, value: {cast: {value: phase, to: date}}}]}",
            "- {name: runs, kinds: [Build], filter: gone, columns: [{column: phase}]}",
            "- {name: runs, columns: [{column: a, value: started}], of: {Test: {values: {a: result}}}}",
            "- {name: runs, columns: [{column: name}], of: {Tets: {}}}",
            "- {name: runs, columns: [{column: name, value: {concat: [name, create_time]}}]}",
            "- {name: runs, columns: [{column: name, value: {concat: name}}]}",
            "- {name: runs, filter: {value: uid, stored: [Biuld, Test, Test]}, columns: [{column: name}]}",
            "- {name: runs, filter: {value: create_time, stored: [Test]}, columns: [{column: name}]}",
            "- {name: runs, filter: {stored: [Test]}, columns: [{column: name}]}",
            "- {name: runs, filter: {value: uid, stored: []}, columns: [{column: name}]}",
        ]
        .into_iter()
        .map(|view| format!("{view}\n    {}", read(view).unwrap_err().replace('\n', "\n    ")))
        .collect();
        insta::assert_snapshot!(table.join("\n"));
    }
}
