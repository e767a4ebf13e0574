//! A table as owned data, with its columns and keys.

use ingester_core::schema::{
    BASE_COLUMNS, Column, History, Ident, Key, PRIMARY_OF_HISTORY, SqlType, Stays, Table, VALID_FROM, base,
};
use serde::{Deserialize, Serialize};

/// One table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableDef {
    /// Its name.
    pub name: Ident,
    /// Its former names, if the code names some: the first one that is there counts.
    #[serde(skip)]
    pub was: Vec<Ident>,
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
    /// Its former name, if the code names one.
    #[serde(skip)]
    pub was: Option<Ident>,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: SqlType,
    /// Nullable in SQL.
    pub nullable: bool,
    /// Which of its stored values stay, whatever the object has. No database records this.
    #[serde(default, skip_serializing_if = "Stays::is_none")]
    pub stays: Stays,
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

impl TableDef {
    /// A table with these columns, those at the places of `primary` being its primary key.
    fn new(name: Ident, was: Vec<Ident>, columns: &[Column], primary: &[usize], keys: &[Key]) -> Self {
        let name_of = |place: &u16| columns[usize::from(*place)].name;
        TableDef {
            name,
            was,
            columns: columns.iter().map(ColumnDef::from).collect(),
            primary_key: primary.iter().map(|place| columns[*place].name).collect(),
            keys: keys
                .iter()
                .map(|key| KeyDef { name: key.name, columns: key.columns().iter().map(name_of).collect() })
                .collect(),
        }
    }

    /// A main table, and its companions and the table of its history, if it has some.
    pub(crate) fn all(table: &Table) -> Vec<Self> {
        let was = table.was.into_iter().collect();
        let mut tables = vec![TableDef::new(table.name, was, table.columns, &[base::UID], table.keys)];
        for companion in table.companions() {
            let name = table.companion(companion);
            let was = table.companion_was(companion);
            tables.push(TableDef::new(name, was, companion.columns(), &[0, 1], companion.keys()));
        }
        if let Some(History { table: former, .. }) = table.history {
            let was = former.was.into_iter().collect();
            let primary = &PRIMARY_OF_HISTORY;
            tables.push(TableDef::new(former.name, was, former.columns, primary, former.keys));
        }
        tables
    }

    /// The column of this name.
    pub fn column(&self, name: Ident) -> Option<&ColumnDef> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The primary key is a single integer, so the database numbers the rows. Only the ingester's own tables have such a key.
    pub(crate) fn is_counted(&self) -> bool {
        matches!(self.primary_key[..], [key] if self.column(key).is_some_and(|column| column.ty == SqlType::BigInt))
    }

    /// Returns true if `column` holds these numbers.
    pub(crate) fn counts(&self, column: &ColumnDef) -> bool {
        self.is_counted() && self.primary_key[0] == column.name
    }

    /// Returns true for a companion of a main table. All its rows can be computed again from the objects' JSON.
    pub fn is_companion(&self) -> bool {
        self.columns.first().is_some_and(|first| first.name.same_as("obj_uid"))
    }

    /// Returns true for the table of a kind's history, whose values cannot be computed again.
    pub(super) fn is_history(&self) -> bool {
        self.primary_key == [BASE_COLUMNS[base::UID].name, VALID_FROM]
    }

    /// Returns true for a column that MariaDB compresses: the text of a former version, which is copied from the main table and seldom read.
    /// MariaDB's JSON type would parse each copy again, so the column has none.
    pub(crate) fn compresses(&self, column: &ColumnDef) -> bool {
        self.is_history() && column.ty == SqlType::Json
    }

    /// Returns true for the indexed columns of main tables, whose values can be computed again from the objects' JSON.
    pub(super) fn is_derived(&self, column: Ident) -> bool {
        let main = self.columns.first().is_some_and(|first| first.name == BASE_COLUMNS[base::UID].name);
        main && BASE_COLUMNS.iter().all(|base| base.name != column)
    }
}

impl From<&Column> for ColumnDef {
    fn from(column: &Column) -> Self {
        ColumnDef { name: column.name, was: column.was, ty: column.ty, nullable: column.nullable, stays: column.stays }
    }
}

impl std::fmt::Display for KeyDef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let columns: Vec<String> = self.columns.iter().map(ToString::to_string).collect();
        write!(f, "`{}` ({})", self.name, columns.join(", "))
    }
}
