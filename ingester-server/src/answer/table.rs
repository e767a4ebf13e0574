//! The columns of a table: name, the indexed columns, state and age, as `ingester get` prints them.

use ingester_core::age::age;
use ingester_core::schema::{SqlType, Table, base};
use ingester_core::value::{Micros, Value};
use ingester_sql::query::States;
use ingester_store::query::FoundRow;
use serde_json::{Value as Json, json};

/// The indexed columns that are shown to everybody. kubectl shows the others with `-o wide`.
const MOST: usize = 4;

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    Name,
    /// A column of the kind's table, and whether only those who want all see it.
    Column(usize, bool),
    State,
    /// How long ago the time in the column was.
    Age(usize),
}

/// The columns for rows in these states.
pub(super) fn cells(table: &Table, states: States) -> Vec<Cell> {
    let from = table.columns.len() - table.indexed().len();
    let indexed = (from..table.columns.len()).map(|place| Cell::Column(place, place >= from + MOST));
    let mut cells = vec![Cell::Name];
    cells.extend(indexed);
    cells.extend((states != States::LIVE).then_some(Cell::State));
    cells.push(Cell::Age(base::CREATE_TIME));
    cells.extend(states.deleted.then_some(Cell::Age(base::DELETE_TIME)));
    cells
}

impl Cell {
    /// The column of the kind's table that it shows.
    pub(super) fn place(self) -> Option<usize> {
        match self {
            Cell::Column(place, _) => Some(place),
            _ => None,
        }
    }

    /// `meta.k8s.io/v1 TableColumnDefinition`
    pub(super) fn definition(self, table: &Table) -> Json {
        let of = |name: &str, ty: &str, format: &str, description: String, priority: u8| json!({"name": name, "type": ty, "format": format, "description": description, "priority": priority});
        match self {
            Cell::Name => of(
                "Name",
                "string",
                "name",
                "The object's name, unique among those that exist in its namespace.".into(),
                0,
            ),
            Cell::State => of("State", "string", "", "live: in the cluster; evicted: in SQL alone; deleted".into(), 0),
            Cell::Age(base::DELETE_TIME) => {
                of("Deleted", "string", "", "How long ago the object was deleted.".into(), 0)
            }
            Cell::Age(_) => of("Age", "string", "", "How long ago the object was created.".into(), 0),
            Cell::Column(place, wide) => {
                let column = &table.columns[place];
                let (ty, format) = match column.ty {
                    SqlType::Boolean => ("boolean", ""),
                    SqlType::Int | SqlType::IntUnsigned => ("integer", "int32"),
                    SqlType::BigInt | SqlType::BigIntUnsigned => ("integer", "int64"),
                    SqlType::Double => ("number", "double"),
                    SqlType::DateTime => ("string", "date-time"),
                    _ => ("string", ""),
                };
                let path = column.path.map_or_else(String::new, |path| format!(", from {path}"));
                of(column.name.as_str(), ty, format, format!("Column `{}`{path}.", column.name), u8::from(wide))
            }
        }
    }

    /// The cell of a row.
    pub(super) fn of(self, row: &FoundRow, now: Micros) -> Json {
        match self {
            Cell::Name => row.text(base::NAME).into(),
            Cell::State => row.state().into(),
            Cell::Age(base::DELETE_TIME) => row.time(base::DELETE_TIME).map(|time| age(Some(time), now)).into(),
            Cell::Age(place) => age(row.time(place), now).into(),
            Cell::Column(place, _) => match row.get(place) {
                None | Some(Value::Null) => Json::Null,
                Some(Value::Bool(value)) => (*value).into(),
                Some(Value::Int(value)) => (*value).into(),
                Some(Value::UInt(value)) => (*value).into(),
                Some(Value::Double(value)) => (*value).into(),
                Some(value) => value.to_string().into(),
            },
        }
    }
}
