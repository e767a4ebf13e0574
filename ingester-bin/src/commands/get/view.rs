//! The columns of a kind that are printed.

use super::format::Format;
use super::question::Question;
use crate::arguments::Get;
use ingester_core::Kind;
use ingester_core::age::age;
use ingester_core::schema::{Table, base};
use ingester_core::value::{Micros, Value};
use ingester_sql::query::States;
use ingester_store::query::{FoundRow, Wanted};

/// How a value that is not there is printed.
pub(super) const NONE: &str = "<none>";

/// The indexed columns that are printed by default.
const MOST: usize = 4;

/// What is printed of a kind's rows.
pub(super) struct View {
    pub(super) kind: Kind,
    cells: Vec<Cell>,
    /// Whether the stored objects are needed.
    object: bool,
    labels: bool,
}

/// One column.
#[derive(Clone, Debug, PartialEq)]
enum Cell {
    /// A column of the table, as it is.
    Column(usize),
    /// The name, which the kind may stand before.
    Name,
    /// `live`, `evicted` or `deleted`.
    State,
    /// How long ago the time in the column was.
    Age(&'static str, usize),
    Label(String),
    Labels,
}

impl View {
    pub(super) fn of(question: &Question, arguments: &Get, format: &Format) -> Self {
        let kind = question.kind;
        let (indexed, from) = (kind.table().indexed().len(), kind.table().columns.len() - kind.table().indexed().len());
        let indexed = |most: usize| (from..from + indexed.min(most)).map(Cell::Column);
        let states = question.query.states;
        let mut cells = Vec::new();
        match format {
            Format::Table | Format::Wide => {
                if kind.namespaced() && question.query.namespaces.len() != 1 {
                    cells.push(Cell::Column(base::NAMESPACE));
                }
                cells.push(Cell::Name);
                cells.extend(indexed(if matches!(format, Format::Wide) { usize::MAX } else { MOST }));
                if states != States::LIVE {
                    cells.push(Cell::State);
                }
                cells.push(Cell::Age("age", base::CREATE_TIME));
                if states.deleted {
                    cells.push(Cell::Age("deleted", base::DELETE_TIME));
                }
                if matches!(format, Format::Wide) {
                    cells.extend([Cell::Column(base::UID), Cell::Column(base::RES_VERSION)]);
                }
            }
            Format::Csv => {
                cells.extend([Cell::Column(base::NAMESPACE), Cell::Name]);
                cells.extend(indexed(usize::MAX));
                cells.push(Cell::State);
                let times = [base::CREATE_TIME, base::UPDATE_TIME, base::DELETE_TIME, base::EVICT_TIME];
                cells.extend(times.map(Cell::Column));
                cells.extend([Cell::Column(base::UID), Cell::Column(base::RES_VERSION)]);
            }
            _ => {}
        }
        if !cells.is_empty() {
            cells.extend(arguments.label_columns.iter().map(|key| Cell::Label(key.clone())));
            cells.extend(arguments.show_labels.then_some(Cell::Labels));
        }
        let labels = cells.iter().any(|cell| matches!(cell, Cell::Label(_) | Cell::Labels));
        View { kind, object: format.needs_object(), labels, cells }
    }

    fn table(&self) -> &'static Table {
        self.kind.table()
    }

    /// What is read for it, and for following rows from one reading to the next.
    pub(super) fn wanted(&self) -> Wanted {
        let mut places = vec![
            base::NAMESPACE,
            base::NAME,
            base::RES_VERSION,
            base::CREATE_TIME,
            base::DELETE_TIME,
            base::EVICT_TIME,
        ];
        places.extend(
            self.cells
                .iter()
                .filter_map(|cell| match cell {
                    Cell::Column(place) if !places.contains(place) => Some(*place),
                    _ => None,
                })
                .collect::<Vec<_>>(),
        );
        places.extend(self.object.then_some(base::JSON));
        Wanted { places, labels: self.labels }
    }

    /// The headers for people.
    pub(super) fn headers(&self) -> Vec<String> {
        self.fields().iter().map(|field| field.rsplit('/').next().unwrap_or(field).to_uppercase()).collect()
    }

    /// The names of the columns.
    pub(super) fn fields(&self) -> Vec<String> {
        let field = |cell: &Cell| match cell {
            Cell::Column(base::RES_VERSION) => "version".to_owned(),
            Cell::Column(place) => self.table().columns[*place].name.to_string(),
            Cell::Name => "name".to_owned(),
            // A kind may have a column of this name.
            Cell::State if self.table().by_name("state").is_some() => "row_state".to_owned(),
            Cell::State => "state".to_owned(),
            Cell::Age(header, _) => (*header).to_owned(),
            Cell::Label(key) => key.clone(),
            Cell::Labels => "labels".to_owned(),
        };
        self.cells.iter().map(field).collect()
    }

    /// The cells of a row; `None` where there is no value.
    pub(super) fn cells(&self, row: &FoundRow, with_kind: bool, now: Micros) -> Vec<Option<String>> {
        let cell = |cell: &Cell| match cell {
            Cell::Column(place) => row.get(*place).filter(|value| **value != Value::Null).map(Value::to_string),
            Cell::Name if with_kind => Some(self.prefixed(row)),
            Cell::Name => Some(row.text(base::NAME).to_owned()),
            Cell::State => Some(row.state().to_owned()),
            Cell::Age(_, base::DELETE_TIME) => row.time(base::DELETE_TIME).map(|time| age(Some(time), now)),
            Cell::Age(_, place) => Some(age(row.time(*place), now)),
            Cell::Label(key) => {
                let mut labels = row.labels().into_iter().flat_map(|labels| labels.iter());
                // kubectl leaves the cell empty.
                Some(labels.find(|(other, _)| **other == **key).map(|(_, value)| value.to_string()).unwrap_or_default())
            }
            Cell::Labels => {
                let labels: Vec<String> = row
                    .labels()
                    .map(|labels| labels.iter().map(|(key, value)| format!("{key}={value}")).collect())
                    .unwrap_or_default();
                (!labels.is_empty()).then(|| labels.join(","))
            }
        };
        self.cells.iter().map(cell).collect()
    }

    /// `model.michelangelo.api/churn`
    pub(super) fn prefixed(&self, row: &FoundRow) -> String {
        let (kind, group) = (self.kind.kind().to_lowercase(), self.kind.group());
        let dot = if group.is_empty() { "" } else { "." };
        format!("{kind}{dot}{group}/{}", row.text(base::NAME))
    }
}
