//! Finds tables with our names that another program has made. They are refused before anything is changed.
//!
//! No record says who made a table, so its shape decides. Every release has made tables with the same primary key and a few columns that
//! never changed. A table that lacks one of these is not ours. Drift in other columns, such as changes made by hand, does not matter here.

use super::catalog::{Catalog, FoundTable};
use crate::driver::{ErrorSubject, StoreError, is_about};
use crate::store::Store;
use ingester_core::schema::Ident;
use ingester_core::{Kind, Registry, check_registry};
use ingester_sql::ddl::{ColumnDef, Schema, TableDef};
use ingester_sql::dialect::Dialect;
use ingester_sql::dialect::own_schema;
use ingester_sql::dialect::statements::Readable;
use std::time::Duration;

/// Columns that every release has made in every main table, in addition to the primary key.
const IN_EVERY_RELEASE: [&str; 5] = ["group_ver", "namespace", "name", "res_version", "json"];

/// The number of readings of a table that has no columns or no primary key yet, and the pause between two readings.
const LOOKS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(100);

/// A table that is not ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ForeignTable {
    /// The table.
    table: Ident,
    whose: TableOwner,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TableOwner {
    /// The table of the reference system.
    Reference,
    /// The table of another program, which differs from ours in this.
    Other(String),
}

/// The harm that a foreign table would suffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Harm {
    /// It would be changed.
    Changed,
    /// It would be dropped.
    Dropped,
}

/// Returns the first of these tables that another program has made. Several definitions of one name come from several releases; a table
/// like any of them is ours.
pub(crate) fn foreign(ours: &[TableDef], catalog: &Catalog, dialect: Dialect) -> Option<ForeignTable> {
    let of_reference = |ours: &&TableDef| !ours.is_companion() && catalog.is_of_reference(ours.name);
    if let Some(table) = ours.iter().find(of_reference) {
        return Some(ForeignTable { table: table.name, whose: TableOwner::Reference });
    }
    ours.iter().find_map(|one| {
        let differences = |found| {
            let mut releases = ours.iter().filter(|other| other.name == one.name);
            let first = foreign_to(one, found, dialect)?;
            releases.all(|ours| foreign_to(ours, found, dialect).is_some()).then_some(first)
        };
        let differs = match catalog.tables.get(one.name.as_str()) {
            Some(found) => differences(found)?,
            None if catalog.views.contains_key(one.name.as_str()) => "it is a view".to_owned(),
            None => return None,
        };
        Some(ForeignTable { table: one.name, whose: TableOwner::Other(differs) })
    })
}

/// Returns the difference between a table and ours in the columns that `needed` selects, or in the primary key.
pub(super) fn difference(ours: &TableDef, found: &FoundTable, needed: impl Fn(&ColumnDef) -> bool) -> Option<String> {
    let lacks = ours.columns.iter().find(|column| needed(column) && found.column(column.name.as_str()).is_none());
    if let Some(column) = lacks {
        return Some(format!("it has no column `{}`", column.name));
    }
    let same = |(ours, its): (&Ident, &String)| ours.as_str().eq_ignore_ascii_case(its);
    // If the definition of a companion changes, only the first column of its key stays.
    let lengths = (ours.primary_key.len(), found.primary_key.len());
    let is_as_long = lengths.0 == lengths.1 || ours.is_companion() && lengths == (1, 2);
    let is_keyed = is_as_long && ours.primary_key.iter().zip(&found.primary_key).all(same);
    (!is_keyed).then(|| format!("its primary key is ({})", found.primary_key.join(", ")))
}

/// Returns the difference between a table and the tables that every release has made.
fn foreign_to(ours: &TableDef, found: &FoundTable, dialect: Dialect) -> Option<String> {
    let is_main = !ours.is_companion();
    let is_key = |column: &ColumnDef| ours.primary_key.contains(&column.name);
    let other_key = || {
        let mut keys = ours.columns.iter().filter(|column| is_key(column));
        keys.find_map(|column| {
            let its = found.column(column.name.as_str()).filter(|its| !dialect.is_type(column.ty, &its.ty))?;
            Some(format!("its column `{}` is {} and not {}", column.name, its.ty, dialect.spelled(column.ty)))
        })
    };
    let needed = |column: &ColumnDef| is_key(column) || is_main && IN_EVERY_RELEASE.contains(&column.name.as_str());
    difference(ours, found, needed).or_else(other_key)
}

impl Catalog {
    /// Returns true if this is a main table of the reference system with its table of labels: both have columns like ours, other types and
    /// keys, and none of the columns that came with us.
    pub fn is_of_reference(&self, main: Ident) -> bool {
        let has = |table: &FoundTable, columns: &[&str]| columns.iter().all(|column| table.has_column(column));
        let (Some(main), Some(labels)) = (self.table(main.as_str()), self.table(&format!("{main}_labels"))) else {
            return false;
        };
        main.primary_key == ["uid"]
            && has(main, &IN_EVERY_RELEASE)
            && has(main, &["proto"])
            && !main.has_column("evict_time")
            && labels.primary_key == ["id"]
            && has(labels, &["obj_uid", "key", "value"])
    }
}

/// Returns the tables of kinds as they can be, given the catalog. If a main table exists, companions and their keys follow its definition;
/// only the first column of such a key stays the same, the object's uid.
pub(crate) fn declared_tables(kinds: &[Kind], catalog: &Catalog) -> Vec<TableDef> {
    let mut ours = Vec::new();
    for kind in kinds {
        let is_made = catalog.tables.contains_key(kind.table().name.as_str());
        let following = |table: TableDef| match is_made && table.is_companion() {
            true => {
                TableDef { columns: table.columns[..1].to_vec(), primary_key: table.primary_key[..1].to_vec(), ..table }
            }
            false => table,
        };
        ours.extend(Schema::from_registry(std::slice::from_ref(kind)).tables.into_iter().map(following));
    }
    ours
}

impl ForeignTable {
    fn error(&self, harm: Harm) -> StoreError {
        let table = self.table;
        let doing = format!("checking the table {table}");
        match &self.whose {
            TableOwner::Reference => StoreError::wrong(
                doing,
                "the database is one of the reference system: Michelangelo's own tables have other types and keys than the \
                 ingester's, and none of them was changed",
                "name another database for the ingester, and copy these rows into it with `ingester import --from URL`: docs/moving.md has the \
                 whole way",
            ),
            TableOwner::Other(differs) if harm == Harm::Changed => StoreError::wrong(
                doing,
                format!("the ingester did not make it: {differs}"),
                "another program has made it, and nothing was changed: rename its table, or name another database",
            ),
            TableOwner::Other(differs) => StoreError::wrong(
                doing,
                format!("the ingester did not make it: {differs}"),
                "it would be dropped with its rows, so nothing was changed: rename it, make the ingester's with `ingester schema print` in \
                 its place, and revert again",
            ),
        }
    }
}

impl Store {
    /// Checks, before anything is changed, that these kinds can be in one registry, and that no other program has made a table that they
    /// need, or one of the ingester's own. Returns the catalog.
    ///
    /// # Errors
    /// If two kinds have one table, if another program has made one, or the database cannot be read.
    pub async fn refuse_foreign_tables<'a>(&self, registry: impl Into<Registry<'a>>) -> Result<Catalog, StoreError> {
        let registry: Registry<'a> = registry.into();
        check_registry(registry.kinds)
            .map_err(|error| StoreError::wrong("checking the kinds", error.to_string(), "nothing was changed"))?;
        self.refuse_foreign(|catalog| declared_tables(registry.kinds, catalog), Harm::Changed).await
    }

    /// Checks that neither these tables nor the ingester's own belong to another program. Returns the catalog.
    ///
    /// # Errors
    /// If one does, if the user may not see the columns of one, or the catalog cannot be read.
    pub(crate) async fn refuse_foreign(
        &self,
        ours: impl Fn(&Catalog) -> Vec<TableDef>,
        harm: Harm,
    ) -> Result<Catalog, StoreError> {
        let catalog = self.catalog_with(&ours).await?;
        self.check_own_in(&catalog).await?;
        let ours = ours(&catalog);
        let Some(found) = foreign(&ours, &catalog, self.dialect) else { return Ok(catalog) };
        // The catalog lacks tables that the user may not read, and their companions then look like another program's.
        let is_hidden =
            |table: &&TableDef| table.name == found.table || !catalog.tables.contains_key(table.name.as_str());
        for table in ours.iter().filter(is_hidden) {
            self.may_read(table).await?;
        }
        Err(found.error(harm))
    }

    /// Returns the catalog once each existing one of these tables, and of the ingester's own, has columns and a primary key. A catalog is
    /// not one snapshot: for a moment it may show a table without any, because another session is making it, or because the last statement
    /// of a killed program is dropping it.
    ///
    /// # Errors
    /// If the user may not see the columns of a table, or the catalog cannot be read.
    pub(super) async fn catalog_with(&self, tables: impl Fn(&Catalog) -> Vec<TableDef>) -> Result<Catalog, StoreError> {
        let own = own_schema(self.dialect).tables;
        let mut looks = 0;
        loop {
            let catalog = self.catalog().await?;
            let is_partial = |table: &&TableDef| {
                let Some(found) = catalog.tables.get(table.name.as_str()) else { return false };
                let has_key_columns = table.primary_key.iter().all(|column| found.column(column.as_str()).is_some());
                found.columns.is_empty() || found.primary_key.is_empty() && has_key_columns
            };
            looks += 1;
            match own.iter().chain(&tables(&catalog)).find(is_partial) {
                Some(table) if looks < LOOKS => self.may_read(table).await?,
                _ => return Ok(catalog),
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Checks that the user may read a table: the catalog does not show a table that the user may not read.
    ///
    /// # Errors
    /// If the server says that a right is missing.
    pub(super) async fn may_read(&self, table: &TableDef) -> Result<(), StoreError> {
        let columns: Vec<Ident> = table.columns.iter().map(|column| column.name).collect();
        match self.pool.fetch(&Readable { table: table.name, columns: &columns }).await {
            Err(error) if is_about(&error, ErrorSubject::Right) => {
                Err(StoreError::from_sqlx(format!("reading the table {}", table.name), error))
            }
            // The table belongs to another program and lacks columns.
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::catalog::{Catalog, FoundColumn, FoundTable};
    use super::{ForeignTable, TableOwner, foreign};
    use ingester_core::schema::{Ident, SqlType, Stays};
    use ingester_sql::ddl::{ColumnDef, TableDef};
    use ingester_sql::dialect::Dialect;

    fn table(name: &str, columns: &[(&str, SqlType)], primary_key: usize) -> TableDef {
        let column = |(name, ty): &(&str, SqlType)| ColumnDef {
            name: Ident::new(name),
            was: None,
            ty: *ty,
            nullable: false,
            stays: Stays::None,
        };
        let columns: Vec<ColumnDef> = columns.iter().map(column).collect();
        let primary_key = columns[..primary_key].iter().map(|column| column.name).collect();
        TableDef { name: Ident::new(name), was: Vec::new(), columns, primary_key, keys: Vec::new() }
    }

    fn found(columns: &[(&str, &str)], primary_key: &[&str]) -> FoundTable {
        let column = |(name, ty): &(&str, &str)| FoundColumn {
            name: (*name).to_owned(),
            ty: (*ty).to_owned(),
            nullable: false,
            collation: None,
        };
        FoundTable {
            columns: columns.iter().map(column).collect(),
            primary_key: primary_key.iter().map(|name| (*name).to_owned()).collect(),
            ..FoundTable::default()
        }
    }

    const TEXT: SqlType = SqlType::VarChar(256);
    const MAIN: [(&str, SqlType); 7] = [
        ("uid", SqlType::VarChar(64)),
        ("group_ver", TEXT),
        ("namespace", TEXT),
        ("name", TEXT),
        ("res_version", SqlType::BigIntUnsigned),
        ("json", SqlType::Json),
        ("owner", TEXT),
    ];
    const SHAPE: [(&str, &str); 6] = [
        ("uid", "varchar(64)"),
        ("group_ver", "varchar(128)"),
        ("namespace", "varchar(256)"),
        ("name", "varchar(256)"),
        ("res_version", "bigint(20) unsigned"),
        ("json", "longtext"),
    ];

    fn judged(ours: &[TableDef], tables: &[(&str, FoundTable)]) -> Option<ForeignTable> {
        let tables = tables.iter().map(|(name, table)| ((*name).to_owned(), table.clone())).collect();
        foreign(ours, &Catalog { tables, ..Catalog::default() }, Dialect::MySql)
    }

    #[test]
    fn a_table_without_what_every_release_made_is_foreign() {
        let model = [table("model", &MAIN, 1)];
        // Only the indexed column is missing, which is drift at most.
        assert_eq!(judged(&model, &[("model", found(&SHAPE, &["uid"]))]), None);
        assert_eq!(judged(&model, &[("other", found(&[("id", "int")], &["id"]))]), None);
        let mut wide = SHAPE;
        wide[0].1 = "varchar(255)";
        for (its, says) in [
            (found(&[("id", "int"), ("name", "text")], &["id"]), "it has no column `uid`"),
            (found(&SHAPE[..5], &["uid"]), "it has no column `json`"),
            (found(&SHAPE, &[]), "its primary key is ()"),
            (found(&wide, &["uid"]), "its column `uid` is varchar(255) and not VARCHAR(64)"),
        ] {
            let foreign = judged(&model, &[("model", its)]).unwrap();
            assert_eq!(foreign.whose, TableOwner::Other(says.to_owned()));
        }
    }

    #[test]
    fn a_table_is_ours_in_the_shape_of_any_release() {
        let longer = [("uid", SqlType::VarChar(100)), MAIN[1], MAIN[2], MAIN[3], MAIN[4], MAIN[5]];
        let releases = [table("model", &longer, 1), table("model", &MAIN, 1)];
        assert_eq!(judged(&releases, &[("model", found(&SHAPE, &["uid"]))]), None);
        assert!(judged(&releases[..1], &[("model", found(&SHAPE, &["uid"]))]).is_some());
    }

    #[test]
    fn the_reference_system_is_known_by_its_labels_beside_a_main_table() {
        let model = [table("model", &MAIN, 1)];
        let mut shape = SHAPE.to_vec();
        shape[0].1 = "varchar(255)";
        shape.push(("proto", "mediumblob"));
        let labels =
            found(&[("id", "bigint"), ("obj_uid", "varchar(255)"), ("key", "text"), ("value", "text")], &["id"]);
        let main = found(&shape, &["uid"]);
        let whose = |tables: &[(&str, FoundTable)]| judged(&model, tables).map(|foreign| foreign.whose);
        assert_eq!(whose(&[("model", main.clone()), ("model_labels", labels.clone())]), Some(TableOwner::Reference));
        assert!(matches!(whose(&[("model", main)]), Some(TableOwner::Other(_))), "without labels nobody knows");
        shape.push(("evict_time", "datetime(6)"));
        shape[0].1 = "varchar(64)";
        assert_eq!(
            whose(&[("model", found(&shape, &["uid"])), ("model_labels", labels)]),
            None,
            "the main one is ours"
        );
    }
}
