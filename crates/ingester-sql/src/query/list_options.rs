//! The list options of the reference system: `ListOptionsExt` in protobuf's JSON, or as Go writes the struct.

mod any;
mod element;
#[cfg(test)]
mod tests;

pub use self::element::ListOptionsError;

use self::any::AnyContent;
use self::element::{Element, camel, items};
use super::{Filter, Order, Test};
use ingester_core::value::Value;
use serde_json::Value as Json;

/// A request of a client, as the reference system's list options write it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListOptions {
    /// The condition.
    pub filter: Option<Filter>,
    /// The order.
    pub order: Vec<Order>,
    /// Rows that are left out at the beginning.
    pub offset: u64,
    /// Rows at most; `None` if not set.
    pub limit: Option<u64>,
    /// The paths of the fields to leave out of the answer.
    pub skip: Vec<String>,
}

/// Indexed by enum number.
const OPERATORS: [&str; 12] = [
    "CRITERION_OPERATOR_INVALID",
    "CRITERION_OPERATOR_EQUAL",
    "CRITERION_OPERATOR_NOT_EQUAL",
    "CRITERION_OPERATOR_GREATER_THAN",
    "CRITERION_OPERATOR_GREATER_THAN_OR_EQUAL_TO",
    "CRITERION_OPERATOR_LESS_THAN",
    "CRITERION_OPERATOR_LESS_THAN_OR_EQUAL_TO",
    "CRITERION_OPERATOR_IN",
    "CRITERION_OPERATOR_NOT_IN",
    "CRITERION_OPERATOR_LIKE",
    "CRITERION_OPERATOR_IS_NULL",
    "CRITERION_OPERATOR_IS_NOT_NULL",
];
const LOGICAL: [&str; 2] = ["LOGICAL_OPERATOR_AND", "LOGICAL_OPERATOR_OR"];
const DIRECTIONS: [&str; 3] = ["SORT_ORDER_INVALID", "SORT_ORDER_ASC", "SORT_ORDER_DESC"];

/// Reads the list options for objects of this kind.
///
/// Names are in snake case or in camel case, and enums are names or numbers. A criterion compares with a `StringValue` or a `Value` in an
/// `Any`. The `Any` may have bytes instead of JSON, or the bytes of a text without a type.
///
/// A field may have the kind's name before it (`pipeline_run.spec.owner`). A path means the field of that JSON path, also where its names
/// are in snake case, as protobuf has them; `label.<key>` and `metadata.labels.<key>` mean a label; a name without a point is a column.
/// `LIKE` finds texts that contain the value; `%` and `_` in it stand for other characters. The values of `IN` are one text with commas. As
/// in every [`Filter`], `NOT_EQUAL` and `NOT_IN` hold if there is no value.
///
/// # Errors
/// If the text is not JSON, a field or an operator is unknown, or a value has the wrong type. Each error names the path.
pub fn parse_list_options(text: &str, kind: &str) -> Result<ListOptions, ListOptionsError> {
    let json: Json = serde_json::from_str(text)
        .map_err(|error| ListOptionsError { path: String::new(), what: error.to_string() })?;
    let root = Element { json: &json, path: String::new() };
    let [order_by, operation, pagination, skipped] =
        root.message(["order_by", "operation", "pagination", "returned_field_skip_list"])?;
    let mut options = ListOptions::default();
    for step in items(order_by)? {
        options.order.push(order(&step, kind)?);
    }
    if let Some(operation) = operation {
        options.filter = filter(&operation, kind)?;
    }
    if let Some(pagination) = pagination {
        let [offset, limit] = pagination.message(["offset", "limit"])?;
        options.offset = offset.map_or(Ok(0), |offset| offset.count())?;
        options.limit = limit.map_or(Ok(0), |limit| limit.count()).map(|limit| (limit > 0).then_some(limit))?;
    }
    for path in items(skipped)? {
        options.skip.push(column_or_path(without_kind(path.read_text()?, kind)));
    }
    Ok(options)
}

fn order(step: &Element<'_>, kind: &str) -> Result<Order, ListOptionsError> {
    let [field, direction] = step.message(["field", "dir"])?;
    let field = field.ok_or_else(|| step.fault("it has no field"))?;
    let name = without_kind(field.read_text()?, kind);
    if name.is_empty() {
        return Err(field.fault("expected the name of a field"));
    }
    let direction = direction.map_or(Ok(0), |direction| direction.choice(&DIRECTIONS))?;
    Ok(Order { field: column_or_path(name).into(), descending: DIRECTIONS[direction] == "SORT_ORDER_DESC" })
}

/// `None` if it has no criterion.
fn filter(operation: &Element<'_>, kind: &str) -> Result<Option<Filter>, ListOptionsError> {
    let [criteria, logical, operations] = operation.message(["criterion", "logical_operator", "sub_operations"])?;
    let mut filters = Vec::new();
    for one in items(criteria)? {
        filters.push(criterion(&one, kind)?);
    }
    for operation in items(operations)? {
        filters.extend(filter(&operation, kind)?);
    }
    let logical = logical.map_or(Ok(0), |logical| logical.choice(&LOGICAL))?;
    Ok(match filters.len() {
        0 | 1 => filters.pop(),
        _ if LOGICAL[logical] == "LOGICAL_OPERATOR_OR" => Some(Filter::Or(filters)),
        _ => Some(Filter::And(filters)),
    })
}

fn criterion(criterion: &Element<'_>, kind: &str) -> Result<Filter, ListOptionsError> {
    let [field, value, operator] = criterion.message(["field_name", "match_value", "operator"])?;
    let field = field.ok_or_else(|| criterion.fault("it has no field_name"))?;
    let operator = operator.ok_or_else(|| criterion.fault("it has no operator"))?;
    let value = || value.as_ref().ok_or_else(|| criterion.fault("it has no match_value"));
    let one = || one(value()?);
    let (test, negated) = match OPERATORS[operator.choice(&OPERATORS)?] {
        "CRITERION_OPERATOR_EQUAL" => (Test::Equal(one()?), false),
        "CRITERION_OPERATOR_NOT_EQUAL" => (Test::Equal(one()?), true),
        "CRITERION_OPERATOR_GREATER_THAN" => (Test::Greater(one()?), false),
        "CRITERION_OPERATOR_GREATER_THAN_OR_EQUAL_TO" => (Test::GreaterOrEqual(one()?), false),
        "CRITERION_OPERATOR_LESS_THAN" => (Test::Less(one()?), false),
        "CRITERION_OPERATOR_LESS_THAN_OR_EQUAL_TO" => (Test::LessOrEqual(one()?), false),
        "CRITERION_OPERATOR_IN" => (Test::In(several(value()?)?), false),
        "CRITERION_OPERATOR_NOT_IN" => (Test::In(several(value()?)?), true),
        "CRITERION_OPERATOR_LIKE" => (Test::Like(pattern(value()?)?), false),
        "CRITERION_OPERATOR_IS_NULL" => (Test::Exists, true),
        "CRITERION_OPERATOR_IS_NOT_NULL" => (Test::Exists, false),
        _ => return Err(operator.fault("expected an operator that compares")),
    };
    let name = without_kind(field.read_text()?, kind);
    let label = name.strip_prefix("label.").or_else(|| name.strip_prefix("metadata.labels."));
    let filter = match label {
        Some("") => return Err(field.fault("expected the key of a label")),
        Some(key) => Filter::label(key, test),
        None if name.is_empty() => return Err(field.fault("expected the name of a field")),
        None => Filter::field(column_or_path(name), test),
    };
    Ok(if negated { filter.negated() } else { filter })
}

fn one(value: &Element<'_>) -> Result<Value, ListOptionsError> {
    match any::read(value)? {
        AnyContent::One(value) => Ok(value),
        AnyContent::Null => Err(value.fault("nothing compares with null: use CRITERION_OPERATOR_IS_NULL")),
        AnyContent::Several(_) => Err(value.fault("expected one value, found a list: use CRITERION_OPERATOR_IN")),
    }
}

fn several(value: &Element<'_>) -> Result<Vec<Value>, ListOptionsError> {
    match any::read(value)? {
        AnyContent::One(Value::Text(text)) => Ok(text.split(',').map(Value::text).collect()),
        AnyContent::One(value) => Ok(vec![value]),
        AnyContent::Several(values) => Ok(values),
        AnyContent::Null => Err(value.fault("expected values with commas between them, found null")),
    }
}

fn pattern(value: &Element<'_>) -> Result<String, ListOptionsError> {
    let AnyContent::One(Value::Text(text)) = any::read(value)? else {
        return Err(value.fault("expected a text"));
    };
    // A `\` at the end would escape the `%` behind it. It stands for itself.
    let alone = text.len() - text.trim_end_matches('\\').len();
    Ok(format!("%{text}{}%", if alone % 2 == 1 { "\\" } else { "" }))
}

/// A name without the kind's before it, however that is written: `pipeline_run.`, `pipelinerun.`, `PipelineRun.`.
fn without_kind<'n>(name: &'n str, kind: &str) -> &'n str {
    let fold = |name: &str| name.replace('_', "").to_ascii_lowercase();
    match name.split_once('.') {
        Some((first, rest)) if fold(first) == fold(kind) => rest,
        _ => name,
    }
}

/// The name of a column as it is. A path has its names in camel case, as in JSON.
fn column_or_path(name: &str) -> String {
    match name {
        // Not a field of Kubernetes.
        "metadata.update_timestamp" | "metadata.updateTimestamp" => String::from("update_time"),
        _ if name.contains('.') => camel(name),
        _ => name.to_owned(),
    }
}
