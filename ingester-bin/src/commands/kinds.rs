//! `ingester kinds`: lists kinds, tables and columns.

use crate::arguments::Kinds;
use crate::ending::{Ending, Failure};
use crate::output::{Table, show};
use ingester_core::Kind;
use serde::Serialize;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct KindLine {
    kind: String,
    api_version: String,
    plural: String,
    namespaced: bool,
    immutable: bool,
    table: String,
    columns: Vec<Column>,
}

#[derive(Serialize)]
struct Column {
    name: String,
    #[serde(rename = "type")]
    ty: String,
}

pub(crate) fn run(arguments: &Kinds, kinds: &[Kind]) -> Result<Ending, Failure> {
    let entries: Vec<KindLine> = kinds
        .iter()
        .map(|kind| KindLine {
            kind: kind.kind().into(),
            api_version: kind.api_version(),
            plural: kind.plural().into(),
            namespaced: kind.namespaced(),
            immutable: kind.immutable(),
            table: kind.table().name.to_string(),
            columns: kind
                .table()
                .indexed()
                .iter()
                .map(|column| Column { name: column.name.to_string(), ty: column.ty.to_string() })
                .collect(),
        })
        .collect();
    show(arguments.output.output, &entries, || {
        let mut table = Table::new(["kind", "apiversion", "table", "indexed columns"]);
        for entry in &entries {
            let columns: Vec<&str> = entry.columns.iter().map(|column| column.name.as_str()).collect();
            table.row([entry.kind.clone(), entry.api_version.clone(), entry.table.clone(), columns.join(", ")]);
        }
        table.to_string()
    })?;
    Ok(Ending::Done)
}
