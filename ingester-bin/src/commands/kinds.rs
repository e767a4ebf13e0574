//! `ingester kinds`: lists kinds, tables and columns.

use super::chosen;
use crate::arguments::{Format, Kinds, KindsFormat};
use crate::ending::{Ending, Failure};
use crate::output::{self, Table, show};
use ingester_core::Kind;
use ingester_core::schema::{self, BASE_COLUMNS, Path, Unit};
use ingester_declare::declare::spelled;
use serde::Serialize;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct KindLine {
    kind: String,
    api_version: String,
    plural: String,
    namespaced: bool,
    immutable: bool,
    evictable: bool,
    table: String,
    columns: Vec<ShownColumn>,
}

#[derive(Serialize)]
struct ShownColumn {
    name: String,
    #[serde(rename = "type")]
    ty: String,
    /// The path of its value in an object.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<Path>,
    /// A function computes it from the value.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    computed: bool,
    /// The unit in which it counts a quantity.
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'static str>,
    /// Its content if an object has no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    absent: Option<&'static str>,
    /// It has many values, in a separate table.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    many: bool,
}

impl ShownColumn {
    fn from_column(column: &schema::Column) -> Self {
        let schema::Column { name, ty, path, computed, unit, absent, .. } = column;
        ShownColumn {
            name: name.to_string(),
            ty: ty.to_string(),
            path: *path,
            computed: *computed,
            unit: unit.map(Unit::word),
            absent: Some(absent.word()),
            many: false,
        }
    }

    fn of_many(column: &schema::Many) -> Self {
        let schema::Many { name, path, computed, .. } = column;
        ShownColumn {
            name: name.to_string(),
            ty: column.ty().to_string(),
            path: *path,
            computed: *computed,
            unit: column.unit().map(Unit::word),
            absent: None,
            many: true,
        }
    }

    /// Returns one line for each column: first the columns of the main table, then the columns with many values.
    fn all(table: &schema::Table) -> Vec<Self> {
        table
            .indexed()
            .iter()
            .map(ShownColumn::from_column)
            .chain(table.many.iter().map(ShownColumn::of_many))
            .collect()
    }

    /// The cells of its line.
    fn cells(&self, kind: &str, evictable: bool) -> [String; 7] {
        let path = self.path.map(|path| match self.computed {
            true => format!("computed from {path}"),
            false => path.to_string(),
        });
        let ty = if self.many { format!("{}, many", self.ty) } else { self.ty.clone() };
        let word = |word: Option<&str>| word.unwrap_or_default().to_owned();
        let evictable = if evictable { "" } else { "no" };
        let path = path.unwrap_or_default();
        [kind.to_owned(), self.name.clone(), ty, word(self.unit), word(self.absent), evictable.to_owned(), path]
    }
}

pub(crate) fn run(arguments: &Kinds, kinds: &'static [Kind]) -> Result<Ending, Failure> {
    let kinds = chosen(kinds, &arguments.kinds)?;
    let entries: Vec<KindLine> = kinds
        .iter()
        .map(|kind| KindLine {
            kind: kind.name().into(),
            api_version: kind.api_version(),
            plural: kind.plural().into(),
            namespaced: kind.namespaced(),
            immutable: kind.immutable(),
            evictable: kind.evictable(),
            table: kind.table().name.to_string(),
            columns: ShownColumn::all(kind.table()),
        })
        .collect();
    let format = match arguments.output {
        KindsFormat::Table | KindsFormat::Wide => Format::Table,
        KindsFormat::Json => Format::Json,
        KindsFormat::Yaml => {
            output::print(&spelled(&kinds))?;
            return Ok(Ending::Done);
        }
    };
    show(format, &entries, || match arguments.output {
        KindsFormat::Wide => wide(&entries),
        _ => table(&entries),
    })?;
    Ok(Ending::Done)
}

fn table(entries: &[KindLine]) -> String {
    let mut table = Table::new(["kind", "apiversion", "table", "indexed columns"]);
    for entry in entries {
        let columns: Vec<&str> = entry.columns.iter().map(|column| column.name.as_str()).collect();
        table.row([entry.kind.clone(), entry.api_version.clone(), entry.table.clone(), columns.join(", ")]);
    }
    table.to_string()
}

/// Lists the columns that every kind has, then each kind's own.
fn wide(entries: &[KindLine]) -> String {
    let mut table = Table::new(["kind", "column", "type", "unit", "absent", "evictable", "path"]);
    for column in &BASE_COLUMNS {
        table.row(ShownColumn { absent: None, ..ShownColumn::from_column(column) }.cells("*", true));
    }
    for entry in entries {
        for column in &entry.columns {
            table.row(column.cells(&entry.kind, entry.evictable));
        }
    }
    table.to_string()
}
