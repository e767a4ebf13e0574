//! Checks that a database has its views as they were made, and makes the missing ones.
//!
//! A server reports the query of a view in its own words, which differ from the statement that made it, and between versions of the server.
//! So once a view is made, `ingester_settings` records as `view:NAME` its definition, the server that describes it, and the description. If
//! the same server describes the view in other words later, it was changed by hand. Without a record, or with one from another version of
//! the server, only the columns can be compared, and the present description is recorded the next time. If no migration has the statement
//! that made the view, it is recorded, too: another release may write the same view in another way.

use super::catalog::Catalog;
use super::view::{ANNOUNCED, RECORDS, REVIEWED, parts, statement};
use crate::driver::StoreError;
use crate::store::Store;
use ingester_core::schema::Ident;
use ingester_sql::ddl::{Schema, TableDef, ViewDef};
use ingester_sql::dialect::Dialect;
use ingester_sql::dialect::statements::{ForgetSetting, WriteSetting};

impl Catalog {
    /// Returns the first of these views that the database has without a record: another program made it.
    pub(crate) fn foreign_view(&self, views: &[ViewDef]) -> Option<Ident> {
        let is_foreign =
            |view: &&ViewDef| self.views.get(view.name.as_str()).is_some_and(|found| found.record.is_none());
        views.iter().find(is_foreign).map(|view| view.name)
    }

    /// Returns the views that we made and that are not among `declared`: their file no longer declares them, or another file does.
    pub fn left_views(&self, declared: &[Ident]) -> Vec<Ident> {
        let ours = self.views.iter().filter(|(_, found)| found.record.is_some());
        let names = ours.filter_map(|(name, _)| Ident::parse(name).ok());
        names.filter(|name| !declared.iter().any(|other| other.same_as(name.as_str()))).collect()
    }

    /// Returns true if a view is missing, or was made from another definition or by another statement.
    pub(crate) fn lacks_view(&self, view: &ViewDef, dialect: Dialect) -> bool {
        let found = self.views.get(view.name.as_str());
        found.is_none_or(|found| found.is_of_another(view) || found.is_written_otherwise(view, dialect))
    }
}

impl Store {
    /// Drops one of the [`Catalog::left_views`], with its record.
    ///
    /// # Errors
    /// If the database refuses it.
    pub async fn drop_left_view(&self, view: Ident) -> Result<(), StoreError> {
        self.define(&self.dialect.drop_view(view), &format!("dropping the view {view}")).await?;
        self.forget_views(&[view]).await
    }

    /// Makes the views that are missing or were made from another definition, if the tables under them have their columns. Returns their
    /// names.
    pub(super) async fn make_views(&self, schema: &Schema) -> Result<Vec<String>, StoreError> {
        if schema.views.is_empty() {
            return Ok(Vec::new());
        }
        let catalog = self.catalog().await?;
        let complete = |table: &TableDef| {
            let found = catalog.tables.get(table.name.as_str());
            found.is_some_and(|found| table.columns.iter().all(|column| found.column(column.name.as_str()).is_some()))
        };
        let possible = |view: &ViewDef| {
            let under = |table: &&TableDef| view.reads(table.name);
            schema.tables.iter().filter(under).all(complete)
        };
        let lacking: Vec<ViewDef> = schema
            .views
            .iter()
            .filter(|view| catalog.lacks_view(view, self.dialect) && possible(view))
            .cloned()
            .collect();
        for view in &lacking {
            for sql in self.dialect.create_views(std::slice::from_ref(view)) {
                self.define(&sql, &format!("making the view {}", view.name)).await?;
            }
        }
        let made: Vec<Ident> = lacking.iter().map(|view| view.name).collect();
        // Read the catalog again if a view was made now, for its description.
        let catalog = if made.is_empty() { catalog } else { self.catalog().await? };
        self.record_views(&catalog, &schema.views, &made, false).await?;
        Ok(made.iter().map(ToString::to_string).collect())
    }

    /// Records the server's descriptions of these views: the ones that were `made` now, by `reviewed` migrations or by statements of this
    /// release, and the ones without a valid record. Returns true if something was recorded; this catalog then lacks it.
    pub(crate) async fn record_views(
        &self,
        catalog: &Catalog,
        views: &[ViewDef],
        made: &[Ident],
        reviewed: bool,
    ) -> Result<bool, StoreError> {
        let mut recorded = false;
        for view in views {
            let Some(found) = catalog.views.get(view.name.as_str()) else { continue };
            let Some(record) = found.to_record(view) else { continue };
            let old = found.record.as_ref().map(|old| parts(old));
            let is_made = made.contains(&view.name);
            let holds = old.is_some_and(|old| old[..2] == parts(&record)[..2]);
            let by = match old {
                _ if is_made && !reviewed => statement(view, self.dialect),
                // The server describes it in other words, but it is the same view.
                Some([definition, .., by]) if !is_made && definition == parts(&record)[0] => by.to_owned(),
                _ => REVIEWED.to_owned(),
            };
            let record = format!("{record} {by}");
            if found.record.as_ref() == Some(&record) || holds && !is_made {
                continue;
            }
            let name = format!("{}{}", RECORDS, view.name);
            let written = self.pool.execute(&WriteSetting { name: &name, value: &record }).await;
            written.map_err(|error| StoreError::from_sqlx(format!("recording the view {}", view.name), error))?;
            recorded = true;
        }
        Ok(recorded)
    }

    /// Records that the views that a database lacks will be ours. So a view without any record belongs to another program.
    pub(crate) async fn announce_views(&self, catalog: &Catalog, views: &[ViewDef]) -> Result<(), StoreError> {
        for view in views.iter().filter(|view| !catalog.views.contains_key(view.name.as_str())) {
            let name = format!("{}{}", RECORDS, view.name);
            let written = self.pool.execute(&WriteSetting { name: &name, value: ANNOUNCED }).await;
            written.map_err(|error| StoreError::from_sqlx(format!("recording the view {}", view.name), error))?;
        }
        Ok(())
    }

    /// Forgets the records of these views, which will be replaced.
    pub(crate) async fn forget_views(&self, views: &[Ident]) -> Result<(), StoreError> {
        for view in views {
            let name = format!("{}{view}", RECORDS);
            let forgotten = self.pool.execute(&ForgetSetting { name: &name }).await;
            forgotten.map_err(|error| StoreError::from_sqlx(format!("forgetting the view {view}"), error))?;
        }
        Ok(())
    }
}
