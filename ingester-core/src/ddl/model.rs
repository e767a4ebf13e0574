//! A schema as data that is owned: made from code, read from a lock, or found in a database.

use crate::kind::Kind;
use crate::schema::{BASE_COLUMNS, Column, Companion, Ident, Key, SqlType, Table, base};
use serde::{Deserialize, Serialize};

/// Tables, in the order in which they are made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Schema {
    /// The tables.
    pub tables: Vec<TableDef>,
}

/// One table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableDef {
    /// Its name.
    pub name: Ident,
    /// The name it had before, where code says one.
    #[serde(skip)]
    pub was: Option<Ident>,
    /// Its columns in order.
    pub columns: Vec<ColumnDef>,
    /// The columns of its primary key.
    pub primary_key: Vec<Ident>,
    /// Its secondary keys in order.
    pub keys: Vec<KeyDef>,
}

/// One column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnDef {
    /// Its name.
    pub name: Ident,
    /// The name it had before, where code says one.
    #[serde(skip)]
    pub was: Option<Ident>,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: SqlType,
    /// Whether it may be NULL.
    pub nullable: bool,
}

/// One secondary key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyDef {
    /// Its name, unique within the table.
    pub name: Ident,
    /// Its columns in order.
    pub columns: Vec<Ident>,
}

impl Schema {
    /// The tables of these kinds.
    pub fn of(kinds: &[Kind]) -> Self {
        Schema { tables: kinds.iter().flat_map(TableDef::of).collect() }
    }

    /// The table of this name.
    pub fn table(&self, name: Ident) -> Option<&TableDef> {
        self.tables.iter().find(|table| table.name == name)
    }
}

impl TableDef {
    fn new(name: Ident, was: Option<Ident>, columns: &[Column], primary: usize, keys: &[Key]) -> Self {
        let name_of = |place: &u16| columns[usize::from(*place)].name;
        TableDef {
            name,
            was,
            columns: columns.iter().map(ColumnDef::from).collect(),
            primary_key: columns[..primary].iter().map(|column| column.name).collect(),
            keys: keys
                .iter()
                .map(|key| KeyDef { name: key.name, columns: key.columns().iter().map(name_of).collect() })
                .collect(),
        }
    }

    /// The three tables of a kind, the main one first.
    pub fn of(kind: &Kind) -> Vec<Self> {
        TableDef::all(kind.table())
    }

    /// A main table and its companions.
    pub fn all(table: &Table) -> Vec<Self> {
        let mut tables = vec![TableDef::new(table.name, table.was, table.columns, base::UID + 1, table.keys)];
        for companion in Companion::ALL {
            let (name, was) = (table.companion(companion), table.companion_was(companion));
            tables.push(TableDef::new(name, was, companion.columns(), 2, companion.keys()));
        }
        tables
    }

    /// The column of this name.
    pub fn column(&self, name: Ident) -> Option<&ColumnDef> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Whether the values of a column can be had again from the objects' JSON: those of the columns of main tables that
    /// not every table has.
    pub fn derives(&self, column: Ident) -> bool {
        let main = self.columns.first().is_some_and(|first| first.name == BASE_COLUMNS[base::UID].name);
        main && BASE_COLUMNS.iter().all(|base| base.name != column)
    }
}

impl From<&Column> for ColumnDef {
    fn from(column: &Column) -> Self {
        ColumnDef { name: column.name, was: column.was, ty: column.ty, nullable: column.nullable }
    }
}

impl std::fmt::Display for KeyDef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let columns: Vec<String> = self.columns.iter().map(ToString::to_string).collect();
        write!(f, "`{}` ({})", self.name, columns.join(", "))
    }
}
