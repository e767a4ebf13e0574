//! A schema as owned data: from code, from a lock file, or from a database's catalog.

use super::table::TableDef;
use super::view::ViewDef;
use ingester_core::Registry;
use ingester_core::schema::Ident;

/// Tables and views, in the order in which they are created.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// The tables.
    pub tables: Vec<TableDef>,
    /// The views over them.
    pub views: Vec<ViewDef>,
}

impl Schema {
    /// The tables of these kinds, and the views over them.
    pub fn from_registry<'a>(registry: impl Into<Registry<'a>>) -> Self {
        let Registry { kinds, views } = registry.into();
        Schema {
            tables: kinds.iter().flat_map(|kind| TableDef::all(kind.table())).collect(),
            views: views.iter().map(ViewDef::from_view).collect(),
        }
    }

    /// The table of this name.
    pub fn table(&self, name: Ident) -> Option<&TableDef> {
        self.tables.iter().find(|table| table.name == name)
    }
}
