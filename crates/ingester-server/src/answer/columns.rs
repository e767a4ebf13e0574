//! The columns of a kind's rows: in a table, in a spreadsheet, and by a name that a caller gives.

use ingester_core::age::age;
use ingester_core::nearest::nearest;
use ingester_core::schema::{BASE_COLUMNS, Printed, SqlType, Table, base};
use ingester_core::value::{Micros, Value};
use ingester_sql::query::States;
use ingester_store::query::{FoundRow, STATE_PLACES};
use serde_json::{Value as Json, json};

/// The number of indexed columns that a table always shows. It shows the others with `-o wide`.
const MOST: usize = 4;

/// The prefix for the name of a row's own column if an indexed column already has that name.
const OWN: &str = "Row_";

/// A column of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerColumn {
    shows: ColumnContent,
    title: String,
    is_wide: bool,
}

/// The content of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnContent {
    /// The value of the table's column at this place.
    Value(usize),
    /// `live`, `evicting`, `evicted` or `deleted`.
    State,
    /// The age of the time at this place.
    Age(usize),
}

/// The error for an unknown column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{table} has no column `{name}`{} It has {}", suggestion(.meant.as_deref()), .known.join(", "))]
pub struct UnknownColumn {
    /// The table that was searched.
    pub table: String,
    /// The unknown name.
    pub name: String,
    /// The most similar name.
    pub meant: Option<String>,
    /// The names of all its columns.
    pub known: Vec<String>,
}

fn suggestion(meant: Option<&str>) -> String {
    meant.map_or_else(|| ".".to_owned(), |meant| format!(", did you mean `{meant}`?"))
}

/// Returns the columns of a table of rows in these states, for people: the columns of the `Table` of Kubernetes' API.
pub fn of_table(table: &Table, states: States) -> Vec<AnswerColumn> {
    let is_shown = |column: &AnswerColumn| match column.shows {
        ColumnContent::Value(place) => is_indexed(place) || [base::NAME, base::UID, base::RES_VERSION].contains(&place),
        ColumnContent::State => states != States::LIVE,
        ColumnContent::Age(place) => place == base::CREATE_TIME || states.deleted,
    };
    let mut columns: Vec<AnswerColumn> = all(table).into_iter().filter(is_shown).collect();
    for place in 0..columns.len() {
        let ColumnContent::Value(of_table) = columns[place].shows else { continue };
        if !is_indexed(of_table) {
            continue;
        }
        let Printed { header, wide, age, .. } = table.columns[of_table].printed;
        // Clients tell columns apart by their titles.
        let header = header.filter(|header| !columns.iter().any(|other| other.title.eq_ignore_ascii_case(header)));
        let column = &mut columns[place];
        column.is_wide = wide.unwrap_or(column.is_wide && table.columns[of_table].printed.header.is_none());
        column.title = header.map_or_else(|| std::mem::take(&mut column.title), str::to_owned);
        if age {
            column.shows = ColumnContent::Age(of_table);
        }
    }
    columns
}

/// Returns the columns of a spreadsheet: everything in a row except its text, with times instead of ages.
pub fn of_spreadsheet(table: &Table) -> Vec<AnswerColumn> {
    let hidden = [base::GROUP_VER, base::EVICT_CONFIRMED, base::INGEST_VERSION];
    let is_shown = |column: &AnswerColumn| match column.shows {
        ColumnContent::Value(place) => !hidden.contains(&place),
        ColumnContent::State => true,
        ColumnContent::Age(_) => false,
    };
    all(table).into_iter().filter(is_shown).collect()
}

/// Returns the column with this printed name, in upper or lower case; otherwise the column with this name in the table, or with the value
/// at this path (`spec.owner.name`). In every kind, `row_state`, `row_age`, `row_deleted` and `row_version` are the row's own columns.
///
/// # Errors
/// [`UnknownColumn`]
pub fn named(table: &Table, name: &str) -> Result<AnswerColumn, UnknownColumn> {
    let all = all(table);
    let place = table.place(name).map(ColumnContent::Value);
    let is_own = |column: &AnswerColumn| !matches!(column.shows, ColumnContent::Value(place) if is_indexed(place));
    let own = name.get(..OWN.len()).filter(|start| start.eq_ignore_ascii_case(OWN)).map(|start| &name[start.len()..]);
    let found = (all.iter().find(|column| column.title.eq_ignore_ascii_case(name)))
        .or_else(|| all.iter().find(|column| Some(column.shows) == place))
        .or_else(|| {
            all.iter().find(|column| is_own(column) && own.is_some_and(|own| column.title.eq_ignore_ascii_case(own)))
        });
    found.cloned().ok_or_else(|| {
        let known: Vec<String> = all.iter().map(AnswerColumn::name).collect();
        let names: Vec<&str> = known.iter().map(String::as_str).collect();
        let made = table.made_of(name).map(|column| column.as_str()).filter(|column| names.contains(column));
        let meant = made.or_else(|| nearest(name, &names)).map(str::to_owned);
        UnknownColumn { table: table.name.to_string(), name: name.to_owned(), meant, known }
    })
}

/// Returns all columns, in their order.
fn all(table: &Table) -> Vec<AnswerColumn> {
    let value = |place: usize| (ColumnContent::Value(place), table.columns[place].name.to_string());
    let own = |shows: ColumnContent, title: &str| (shows, title_of_own(table, title));
    let mut all = vec![value(base::NAMESPACE), (ColumnContent::Value(base::NAME), "Name".to_owned())];
    let printed = table.printed();
    all.extend(printed.iter().copied().map(value));
    all.extend([
        own(ColumnContent::State, "State"),
        own(ColumnContent::Age(base::CREATE_TIME), "Age"),
        own(ColumnContent::Age(base::DELETE_TIME), "Deleted"),
    ]);
    all.extend([base::CREATE_TIME, base::UPDATE_TIME, base::DELETE_TIME, base::EVICT_TIME].map(value));
    all.extend([
        (ColumnContent::Value(base::UID), "UID".to_owned()),
        own(ColumnContent::Value(base::RES_VERSION), "Version"),
    ]);
    all.extend([base::GROUP_VER, base::EVICT_CONFIRMED, base::INGEST_VERSION].map(value));
    let is_wide = |shows: ColumnContent| match shows {
        ColumnContent::Value(place) if is_indexed(place) => !printed.iter().take(MOST).any(|shown| *shown == place),
        ColumnContent::Value(place) => [base::UID, base::RES_VERSION].contains(&place),
        ColumnContent::State | ColumnContent::Age(_) => false,
    };
    all.into_iter().map(|(shows, title)| AnswerColumn { shows, title, is_wide: is_wide(shows) }).collect()
}

/// Returns the title of a row's own column that has no column of this name in the table. It gives way to an indexed column, which queries
/// know by this name.
fn title_of_own(table: &Table, title: &str) -> String {
    let mut title = title.to_owned();
    while table.by_name(&title).is_some() {
        title.insert_str(0, OWN);
    }
    title
}

fn is_indexed(place: usize) -> bool {
    place >= BASE_COLUMNS.len()
}

impl AnswerColumn {
    /// Returns its title, unique among the kind's columns in upper and lower case.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns its name: the title, in lower case unless the column is indexed.
    pub fn name(&self) -> String {
        match self.shows {
            ColumnContent::Value(place) if is_indexed(place) => self.title.clone(),
            _ => self.title.to_lowercase(),
        }
    }

    /// Returns true if only a wide table has it.
    pub fn is_wide(&self) -> bool {
        self.is_wide
    }

    /// Returns true if it shows the names of objects.
    pub fn is_name(&self) -> bool {
        self.shows == ColumnContent::Value(base::NAME)
    }

    /// Returns the indexes of the columns that must be read for it.
    pub fn places(&self) -> &[usize] {
        match &self.shows {
            ColumnContent::Value(place) | ColumnContent::Age(place) => std::slice::from_ref(place),
            ColumnContent::State => &STATE_PLACES,
        }
    }

    /// `meta.k8s.io/v1 TableColumnDefinition`
    pub fn definition(&self, table: &Table) -> Json {
        let (ty, format, description) = match self.shows {
            ColumnContent::Value(base::NAME) => {
                ("string", "name", "The object's name, unique among those that exist in its namespace.".to_owned())
            }
            ColumnContent::Value(base::UID) => ("string", "", "The object's uid.".to_owned()),
            ColumnContent::Value(base::RES_VERSION) => ("string", "", "The object's resourceVersion.".to_owned()),
            ColumnContent::State => {
                ("string", "", "live: in the cluster; evicting: leaving it; evicted: only in SQL; deleted".to_owned())
            }
            ColumnContent::Age(base::DELETE_TIME) => ("string", "", "How long ago the object was deleted.".to_owned()),
            ColumnContent::Age(base::CREATE_TIME) => ("string", "", "How long ago the object was created.".to_owned()),
            ColumnContent::Age(place) => {
                ("string", "", format!("How long ago the time in column `{}` was.", table.columns[place].name))
            }
            ColumnContent::Value(place) => {
                let column = &table.columns[place];
                let (ty, format) = match column.ty {
                    SqlType::Boolean => ("boolean", ""),
                    SqlType::Int | SqlType::IntUnsigned => ("integer", "int32"),
                    SqlType::BigInt | SqlType::BigIntUnsigned => ("integer", "int64"),
                    SqlType::Double => ("number", "double"),
                    SqlType::DateTime => ("string", "date-time"),
                    SqlType::VarChar(_) | SqlType::Text | SqlType::MediumText | SqlType::LongBlob | SqlType::Json => {
                        ("string", "")
                    }
                };
                let path = column.path.map_or_else(String::new, |path| format!(", from {path}"));
                (ty, format, format!("Column `{}`{path}.", column.name))
            }
        };
        let priority = u8::from(self.is_wide);
        json!({"name": self.title, "type": ty, "format": format, "description": description, "priority": priority})
    }

    /// Returns the cell of a row whose [places](Self::places) were read; null without a value. Ages are computed at `now`.
    pub fn cell(&self, row: &FoundRow, now: Micros) -> Json {
        match self.shows {
            ColumnContent::State => row.state().into(),
            // Every object was created, but only some have another time.
            ColumnContent::Age(base::CREATE_TIME) => age(row.time(base::CREATE_TIME), now).into(),
            ColumnContent::Age(place) => row.time(place).map(|time| age(Some(time), now)).into(),
            ColumnContent::Value(place) => match row.get(place) {
                None | Some(Value::Null) => Json::Null,
                Some(Value::Bool(value)) => (*value).into(),
                Some(Value::Int(value)) => (*value).into(),
                // A version is a text in Kubernetes, and clients have no integers beyond signed 64 bits.
                Some(Value::UInt(value)) if place == base::RES_VERSION => value.to_string().into(),
                Some(Value::UInt(value)) => i64::try_from(*value).map_or_else(|_| value.to_string().into(), Json::from),
                Some(Value::Double(value)) => (*value).into(),
                Some(value) => value.to_string().into(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crd_specs::KINDS;
    use ingester_core::kind::find;
    use ingester_core::schema::{Column, Ident};

    /// Returns the table of models with these indexed columns instead of its own.
    fn table_with(indexed: &[&str]) -> Table {
        let indexed = indexed.iter().map(|name| Column { name: Ident::new(name), ..BASE_COLUMNS[base::NAME] });
        let columns: Vec<Column> = BASE_COLUMNS.into_iter().chain(indexed).collect();
        Table { columns: Box::leak(columns.into()), ..*find(KINDS, "michelangelo.api/v2", "Model").unwrap().table() }
    }

    fn titles(columns: &[AnswerColumn]) -> String {
        let title = |column: &AnswerColumn| match column.is_wide() {
            true => format!("({})", column.title()),
            false => column.title().to_owned(),
        };
        columns.iter().map(title).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_table_has_the_states_and_times_that_its_rows_may_have() {
        let table = table_with(&["a", "b", "c", "d", "e"]);
        for (states, expected) in [
            (States::LIVE, "Name a b c d (e) Age (UID) (Version)"),
            (States::default(), "Name a b c d (e) State Age (UID) (Version)"),
            (States::DELETED, "Name a b c d (e) State Age Deleted (UID) (Version)"),
            (States::ALL, "Name a b c d (e) State Age Deleted (UID) (Version)"),
        ] {
            assert_eq!(titles(&of_table(&table, states)), expected, "{states:?}");
        }
        assert_eq!(
            titles(&of_spreadsheet(&table)),
            "namespace Name a b c d (e) State create_time update_time delete_time evict_time (UID) (Version)"
        );
    }

    #[test]
    fn a_table_is_printed_as_the_printer_columns_say_and_a_spreadsheet_is_not() {
        let plain = table_with(&["a", "b", "c", "d", "e", "f"]);
        let mut columns = plain.columns.to_vec();
        let first = BASE_COLUMNS.len();
        columns[first].printed.header = Some("Sync Status");
        columns[first + 1].printed.wide = Some(true);
        columns[first + 2].printed.age = true;
        columns[first + 3].printed.header = Some("age");
        columns[first + 4].printed.header = Some("Fifth");
        let table = Table { columns: Box::leak(columns.into()), ..plain };
        let shown = of_table(&table, States::LIVE);
        assert_eq!(titles(&shown), "Name Sync Status (b) c d Fifth (f) Age (UID) (Version)");
        let ages = shown.iter().filter(|column| matches!(column.shows, ColumnContent::Age(_))).map(AnswerColumn::title);
        assert_eq!(ages.collect::<Vec<_>>(), ["c", "Age"]);
        assert!(titles(&of_spreadsheet(&table)).contains("Name a b c d (e) (f)"));
        assert_eq!(
            named(&table, "c").map(|column| column.shows),
            Ok(ColumnContent::Value(first + 2)),
            "the time itself"
        );
        // The columns with a position come first, also among the four that are shown.
        let mut columns = plain.columns.to_vec();
        columns[first + 5].printed.position = Some(0);
        columns[first + 1].printed.position = Some(1);
        let table = Table { columns: Box::leak(columns.into()), ..plain };
        assert_eq!(titles(&of_table(&table, States::LIVE)), "Name f b a c (d) (e) Age (UID) (Version)");
        assert!(titles(&of_spreadsheet(&table)).contains("Name f b a c (d) (e)"));
    }

    #[test]
    fn what_is_the_rows_own_gives_way_to_an_indexed_column_of_its_name() {
        let table = table_with(&["state", "AGE", "version", "row_version"]);
        let shown = of_table(&table, States::ALL);
        assert_eq!(
            titles(&shown),
            "Name state AGE version row_version Row_State Row_Age Deleted (UID) (Row_Row_Version)"
        );
        let name = |name: &str| named(&table, name).map(|column| (column.title().to_owned(), column.name()));
        let is = |title: &str, name: &str| Ok((title.to_owned(), name.to_owned()));
        assert_eq!(name("STATE"), is("state", "state"));
        assert_eq!(name("row_state"), is("Row_State", "row_state"));
        assert_eq!(name("age"), is("AGE", "AGE"));
        assert_eq!(name("Row_Version"), is("row_version", "row_version"));
        assert_eq!(name("res_version"), is("Row_Row_Version", "row_row_version"));
        // These exist in every kind.
        let plain = table_with(&["a"]);
        for (own, title) in [("row_state", "State"), ("row_age", "Age"), ("row_deleted", "Deleted"), ("row_uid", "UID")]
        {
            assert_eq!(named(&plain, own).map(|column| column.title().to_owned()), Ok(title.to_owned()));
        }
        assert!(named(&plain, "row_a").is_err(), "an indexed column is not the row's own");
    }

    #[test]
    fn no_two_columns_of_a_kind_have_one_title() {
        for kind in KINDS {
            let mut titles: Vec<String> = all(kind.table()).iter().map(|column| column.title.to_uppercase()).collect();
            titles.sort_unstable();
            let all = titles.len();
            titles.dedup();
            assert_eq!(titles.len(), all, "{}: {titles:?}", kind.kind());
        }
    }

    #[test]
    fn columns_are_named_as_they_are_printed_and_as_fields_are() {
        let table = find(KINDS, "michelangelo.api/v2", "Model").unwrap().table();
        for (name, title) in [
            ("name", "Name"),
            ("NAMESPACE", "namespace"),
            ("owner", "owner"),
            ("spec.owner.name", "owner"),
            (".metadata.uid", "UID"),
            ("version", "Version"),
            ("create_time", "create_time"),
            ("metadata.creationTimestamp", "create_time"),
            ("evict_confirmed", "evict_confirmed"),
        ] {
            assert_eq!(named(table, name).map(|column| column.title), Ok(title.to_owned()), "{name}");
        }
        for (name, part) in [
            ("algoritm", "model has no column `algoritm`, did you mean `algorithm`? It has namespace, name, owner, "),
            ("nothing", "model has no column `nothing`. It has namespace, name, owner, "),
            ("json", "model has no column `json`"),
            ("", "model has no column ``"),
            ("row_", "model has no column `row_`"),
        ] {
            let error = named(table, name).unwrap_err().to_string();
            assert!(error.starts_with(part), "{error}");
        }
    }
}
