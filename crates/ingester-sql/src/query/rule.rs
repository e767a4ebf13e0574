//! Finds mistakes and doubts in the conditions of rules. A query that finds too much does no harm. A rule removes what it finds, so a condition
//! that nobody can mean is a mistake. This module checks all rules: of structs, files of kinds and configurations, about objects and rows.

use super::{Filter, QueryError, Test};
use ingester_core::schema::{Column, Table};
use ingester_core::value::Value;

/// Checks the conditions of a rule about this table, which are valid in a query.
///
/// # Errors
/// If a value is not one that its column can have.
pub fn check_rule(table: &'static Table, filters: &[Filter]) -> Result<(), QueryError> {
    filters.iter().try_for_each(|filter| match filter {
        Filter::And(filters) | Filter::Or(filters) => check_rule(table, filters),
        Filter::Not(filter) => check_rule(table, std::slice::from_ref(filter)),
        Filter::Field { field, test } => values(test).try_for_each(|value| check_value(table, field, value)),
        Filter::Label { .. } | Filter::Annotation { .. } | Filter::UnknownName { .. } => Ok(()),
    })
}

/// The fields whose `!=` or `notin` also holds where they have no value, and that have no other condition which excludes this. A rule that means
/// only other values asks for a value, too.
pub fn fields_without_value<'f>(table: &'static Table, filters: &'f [Filter]) -> Vec<&'f str> {
    let place = |field: &str| table.place(field);
    let asks = |field: &str| {
        filters.iter().any(|filter| asks_for_a_value(filter).is_some_and(|other| place(other) == place(field)))
    };
    let mut fields: Vec<&str> = Vec::new();
    for filter in filters {
        let Filter::Not(inner) = filter else { continue };
        let Filter::Field { field, test: Test::Equal(_) | Test::In(_) | Test::Like(_) } = &**inner else { continue };
        let nullable = place(field).is_some_and(|place| table.columns[place].nullable);
        if nullable && !asks(field) && !fields.contains(&&**field) {
            fields.push(field);
        }
    }
    fields
}

/// The field that has a value wherever this filter holds.
fn asks_for_a_value(filter: &Filter) -> Option<&str> {
    match filter {
        Filter::Field { test: Test::Empty, .. } => None,
        Filter::Field { field, .. } => Some(field),
        Filter::Not(inner) => match &**inner {
            Filter::Field { field, test: Test::Empty } => Some(field),
            _ => None,
        },
        _ => None,
    }
}

/// The values with which a test compares.
fn values(test: &Test) -> impl Iterator<Item = &Value> {
    let (one, several) = match test {
        Test::Equal(value)
        | Test::Less(value)
        | Test::LessOrEqual(value)
        | Test::Greater(value)
        | Test::GreaterOrEqual(value) => (Some(value), &[][..]),
        Test::In(values) => (None, values.as_slice()),
        Test::Exists | Test::Empty | Test::Like(_) => (None, &[][..]),
    };
    one.into_iter().chain(several)
}

fn check_value(table: &'static Table, field: &str, value: &Value) -> Result<(), QueryError> {
    let Value::Text(text) = value else { return Ok(()) };
    let column: Option<&Column> = table.place(field).map(|at| &table.columns[at]);
    match column.map_or(&[][..], |column| column.names) {
        [] => Ok(()),
        known if known.contains(&&**text) => Ok(()),
        known => Err(QueryError::NotAName { field: field.to_owned(), name: text.to_string(), known }),
    }
}

#[cfg(test)]
mod tests {
    use super::{check_rule, fields_without_value};
    use crate::query::parse_field_selector;
    use ingester_core::schema::{Column, Table};
    use std::sync::LazyLock;

    const FEW: &[&str] = &["Running", "Failed"];

    /// The table of a kind, whose first two columns of its own are a text and an enum.
    static TABLE: LazyLock<&'static Table> = LazyLock::new(|| {
        let table = crate::fixture::MODEL.table();
        let mut columns: Vec<Column> = table.columns.to_vec();
        let text =
            |name: &str| Column { name: ingester_core::schema::Ident::tolerant(name, ""), path: None, ..columns[1] };
        let owner = text("owner");
        let phase = text("phase");
        let nullable = |column: Column| Column { nullable: true, ..column };
        columns.push(nullable(owner));
        columns.push(Column { names: FEW, ..nullable(phase) });
        Box::leak(Box::new(Table { columns: columns.leak(), ..*table }))
    });

    #[test]
    fn a_value_that_the_enum_lacks_is_a_mistake() {
        let said = |selector: &str| {
            let checked = check_rule(*TABLE, &parse_field_selector(selector).unwrap());
            checked.err().map(|error| error.to_string()).unwrap_or_default()
        };
        for right in ["phase=Running", "phase!=Failed", "phase=", "phase!=", "owner=it's", "phase in (Failed)"] {
            assert_eq!(said(right), "", "{right}");
        }
        for (wrong, says) in [
            ("phase notin (Failed, Runing)", "`Runing` is not one of its names (did you mean `Running`?)"),
            ("phase=Runing", "`phase` is an enum, and `Runing` is not one of its names (did you mean `Running`?)"),
            ("name=a,phase!=x", "(they are Running, Failed)"),
        ] {
            assert!(said(wrong).contains(says), "{wrong}: {}", said(wrong));
        }
    }

    #[test]
    fn a_negation_is_doubtful_unless_a_value_is_asked_for() {
        for (selector, doubtful) in [
            ("phase!=Failed", &["phase"][..]),
            ("phase!=Failed,phase!=Running,owner!=a", &["phase", "owner"]),
            ("phase!=Failed,phase!=", &[]),
            ("phase!=Failed,PHASE=Running", &[]),
            ("owner!=a,owner>b", &[]),
            ("phase!=Failed,owner!=", &["phase"]),
            ("phase notin (Failed, Running)", &["phase"]),
            ("phase notin (Failed, Running),phase!=", &[]),
            ("phase=Failed", &[]),
            ("name!=a", &[]),
        ] {
            let filters = parse_field_selector(selector).unwrap();
            assert_eq!(fields_without_value(*TABLE, &filters), doubtful, "{selector}");
        }
    }
}
