//! Reads the views.

use crate::dialect::{Columns, Dialect, Query, Sql, Statement};

/// Reads all views from the catalog: a row for each of their columns, in their order, or one row if the catalog has no columns.
#[derive(Debug)]
pub struct CatalogViews;

impl Statement for CatalogViews {
    fn sql(&self, dialect: Dialect) -> Sql {
        Sql::new(dialect.facts().catalog_views)
    }
}

impl Query for CatalogViews {
    type Row = CatalogView;

    fn read<C: Columns + ?Sized>(&self, row: &C) -> Result<Self::Row, C::Error> {
        Ok(CatalogView {
            view: row.read_text(0)?,
            column: row.read_optional_text(1)?,
            text: row.read_optional_text(2)?,
            writer: row.read_optional_text(3)?,
        })
    }
}

/// A view, or a column of it, as the catalog describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogView {
    /// The view.
    pub view: String,
    /// The column; `None` if the catalog has no columns.
    pub column: Option<String>,
    /// The view's SELECT as the server prints it; only in the first row of a view. Empty if the user may not see it.
    pub text: Option<String>,
    /// The server's version, if the text is in its own words, which another version may choose differently.
    pub writer: Option<String>,
}
