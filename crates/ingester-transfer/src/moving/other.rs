//! The source database: the makers of its tables, and its rows.

use super::Cluster;
use ingester_core::kind::Kind;
use ingester_core::row::Eviction;
use ingester_core::schema::{BASE_COLUMNS, Column, Ident, Stays, base};
use ingester_core::value::{Micros, Value};
use ingester_sql::dialect::statements::{ReadOther, RowsToBackfill};
use ingester_store::{Catalog, FoundTable, Store, StoreError};

/// The program that has made a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// An ingester: each row says the state of its object.
    Ours,
    /// The reference system: a row has no `evict_time`, and its `json` lacks fields with zero values.
    Reference,
}

/// A database whose objects will be moved. Nothing is written into it.
pub struct OtherDatabase {
    pub(super) store: Store,
    pub(super) tables: Vec<OtherTable>,
}

/// The table of one kind.
pub(super) struct OtherTable {
    pub(super) kind: Kind,
    pub(super) name: Ident,
    pub(super) layout: Layout,
    /// The indexes in the kind's table of the columns that are read.
    places: Vec<usize>,
}

/// The part of a row's object that is known without its text.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherObject {
    /// `uid`
    pub uid: Box<str>,
    /// `namespace`
    pub namespace: Box<str>,
    /// `name`
    pub name: Box<str>,
    /// `res_version`
    pub res_version: u64,
}

/// A row, or the part of it that was read. It has a value for each column of the kind's table, and NULL for a column that was not read.
pub(super) struct OtherRow {
    pub(super) values: Vec<Value>,
}

/// The columns that a row needs in addition to its object's text, and the columns with its state.
const HEAD: [usize; 8] = [
    base::UID,
    base::NAMESPACE,
    base::NAME,
    base::RES_VERSION,
    base::UPDATE_TIME,
    base::DELETE_TIME,
    base::EVICT_TIME,
    base::EVICT_CONFIRMED,
];

impl OtherDatabase {
    /// Finds the tables of these kinds in a database, which should be opened read-only.
    ///
    /// # Errors
    /// If the database cannot be read, has none of the tables, or another program has made one of them.
    pub async fn new(store: Store, kinds: &[Kind]) -> Result<Self, StoreError> {
        let catalog = store.catalog().await?;
        let mut tables = Vec::new();
        for kind in kinds {
            let Some((name, found)) = table_of(kind, &catalog) else { continue };
            let has = |column: &Column| found.has_column(column.name.as_str());
            let layout = match has(&BASE_COLUMNS[base::EVICT_TIME]) {
                true => Layout::Ours,
                false if catalog.is_of_reference(name) => Layout::Reference,
                false => return Err(foreign(name, "it is neither an ingester's nor the reference system's")),
            };
            let needed = [base::UID, base::GROUP_VER, base::NAMESPACE, base::NAME, base::RES_VERSION, base::JSON];
            if let Some(lacking) = needed.into_iter().find(|place| !has(&BASE_COLUMNS[*place])) {
                return Err(foreign(name, &format!("it has no column `{}`", BASE_COLUMNS[lacking].name)));
            }
            let columns = kind.table().columns.iter().enumerate();
            let is_read = |(place, column): &(usize, &Column)| {
                (*place < BASE_COLUMNS.len() || column.stays != Stays::None && layout == Layout::Ours) && has(column)
            };
            let places = columns.filter(is_read).map(|(place, _)| place).collect();
            tables.push(OtherTable { kind: *kind, name, layout, places });
        }
        if tables.is_empty() {
            return Err(StoreError::wrong(
                "looking for tables to move",
                "the database has none of the tables of these kinds",
                "name the database that has them, and the kinds of a file with --kinds",
            ));
        }
        Ok(OtherDatabase { store, tables })
    }

    /// Returns true if the reference system has made a table. The rows of such a table do not say which objects have left the cluster.
    pub fn is_of_reference(&self) -> bool {
        self.tables.iter().any(|table| table.layout == Layout::Reference)
    }

    /// Returns the kinds for which it has a table.
    pub fn kinds(&self) -> impl Iterator<Item = &Kind> {
        self.tables.iter().map(|table| &table.kind)
    }

    /// Returns the cluster to which the database belongs, as recorded in it.
    ///
    /// # Errors
    /// If the record cannot be read.
    pub async fn cluster(&self) -> Result<Option<String>, StoreError> {
        match self.is_of_reference() {
            true => Ok(None),
            false => self.store.cluster().await,
        }
    }

    /// Closes its connections.
    pub async fn close(self) {
        self.store.close().await;
    }

    /// Returns the first columns of up to `limit` rows behind the uid `after`, in the order of the table's uids.
    pub(super) async fn heads(
        &self,
        table: &OtherTable,
        after: &str,
        limit: usize,
    ) -> Result<Vec<OtherRow>, StoreError> {
        let places: Vec<usize> = table.places.iter().copied().filter(|place| HEAD.contains(place)).collect();
        self.read(table, &places, RowsToBackfill::After { uid: after, limit }).await
    }

    /// Returns the rows of these uids.
    pub(super) async fn read_rows(&self, table: &OtherTable, uids: &[&str]) -> Result<Vec<OtherRow>, StoreError> {
        self.read(table, &table.places, RowsToBackfill::These(uids)).await
    }

    async fn read(
        &self,
        table: &OtherTable,
        places: &[usize],
        rows: RowsToBackfill<'_>,
    ) -> Result<Vec<OtherRow>, StoreError> {
        let columns: Vec<Column> = places.iter().map(|place| table.kind.table().columns[*place]).collect();
        let read = &ReadOther { table: table.name, columns: &columns, rows };
        let doing = || format!("reading `{}`", table.name);
        let found = self.store.read(doing, read).await?;
        let row = |read: Box<[Value]>| {
            let mut values = vec![Value::Null; table.kind.table().columns.len()];
            for (place, value) in places.iter().zip(read) {
                values[*place] = value;
            }
            OtherRow { values }
        };
        Ok(found.into_iter().map(row).collect())
    }
}

/// Returns the table from which a kind's rows are read: the first of its names that the database has.
pub(super) fn table_of<'c>(kind: &Kind, catalog: &'c Catalog) -> Option<(Ident, &'c FoundTable)> {
    names_of(kind).into_iter().find_map(|name| Some((name, catalog.table(name.as_str())?)))
}

/// Returns the names that a kind's table can have: ours, and the name from the reference system's schema job.
pub(super) fn names_of(kind: &Kind) -> [Ident; 2] {
    let name = kind.table().name;
    [name, Ident::new(&snake_case(name.as_str(), kind.kind()))]
}

fn foreign(table: Ident, why: &str) -> StoreError {
    StoreError::wrong(
        format!("looking for tables to move: the table {table}"),
        why,
        "name a database whose tables an ingester or the reference system has made",
    )
}

/// Returns the name of a table in the reference system's schema job: `pipeline_run` for the kind PipelineRun, whose table is `pipelinerun`
/// elsewhere.
fn snake_case(table: &str, kind: &str) -> String {
    if !kind.eq_ignore_ascii_case(table) {
        return table.to_owned();
    }
    let mut name = String::with_capacity(kind.len() + 4);
    for (place, letter) in kind.chars().enumerate() {
        if place > 0 && letter.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

impl OtherRow {
    pub(super) fn get_text(&self, place: usize) -> &str {
        match &self.values[place] {
            Value::Text(text) => text,
            _ => "",
        }
    }

    pub(super) fn time(&self, place: usize) -> Option<Micros> {
        match &self.values[place] {
            Value::Null => None,
            Value::Time(time) => Some(*time),
            // The column contains no time, which SQLite and old modes of MySQL accept.
            _ => Some(Micros(0)),
        }
    }

    pub(super) fn object(&self) -> OtherObject {
        let res_version = match self.values[base::RES_VERSION] {
            Value::UInt(version) => version,
            _ => 0,
        };
        let text = |place| self.get_text(place).into();
        OtherObject { uid: text(base::UID), namespace: text(base::NAMESPACE), name: text(base::NAME), res_version }
    }
}

/// The state of the reference system's rows without `delete_time`, whose objects are in the cluster or were evicted.
#[derive(Clone, Copy)]
pub enum UndeletedState<'c> {
    /// Ask the cluster. Objects that exist there are left to the mirror; the others were evicted.
    Asked(&'c dyn Cluster),
    /// Assume that all are live. They are copied without a known version, so the first list of the mirror writes them again.
    Live,
    /// Assume that all were evicted.
    Evicted,
}

/// The state in which a row is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is not copied: the mirror writes it from the object in the cluster.
    Left,
    /// It is live, but its text is not from the cluster.
    Assumed,
    /// It has the state that its times tell.
    Of { delete: Option<Micros>, evict: Option<(Micros, bool)> },
}

impl OtherTable {
    /// Returns the state of a row.
    ///
    /// # Errors
    /// The reason why the cluster does not answer.
    pub(super) async fn state(&self, row: &OtherRow, living: UndeletedState<'_>) -> Result<Fate, String> {
        let delete = row.time(base::DELETE_TIME);
        if self.layout == Layout::Ours {
            let evict = row.time(base::EVICT_TIME);
            // Without a record of the eviction's progress, treat the row as the only copy.
            let confirmed = Eviction::stored(true, &row.values[base::EVICT_CONFIRMED]).is_only_copy();
            return Ok(Fate::Of { delete, evict: evict.map(|evict| (evict, confirmed)) });
        }
        if delete.is_some() {
            return Ok(Fate::Of { delete, evict: None });
        }
        let is_there = match living {
            UndeletedState::Asked(cluster) => cluster.has(&self.kind, &row.object()).await?,
            UndeletedState::Live => return Ok(Fate::Assumed),
            UndeletedState::Evicted => false,
        };
        if is_there {
            return Ok(Fate::Left);
        }
        // The reference system writes a row just before it deletes the object.
        let evict = row.time(base::UPDATE_TIME).unwrap_or(Micros(0));
        Ok(Fate::Of { delete: None, evict: Some((evict, true)) })
    }
}

#[cfg(test)]
mod tests {
    use super::snake_case;

    #[test]
    fn the_schema_job_has_words_apart() {
        assert_eq!(snake_case("pipelinerun", "PipelineRun"), "pipeline_run");
        assert_eq!(snake_case("model", "Model"), "model");
        // A table with another name has no such spelling.
        assert_eq!(snake_case("apps_deployment", "Deployment"), "apps_deployment");
    }
}
