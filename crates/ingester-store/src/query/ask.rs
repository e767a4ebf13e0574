//! A query about one kind: its pages, its counts, its plan.

use super::cursor::Cursor;
use super::found::FoundRow;
use crate::driver::{ErrorSubject, StoreError};
use crate::store::Store;
use ingester_core::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::schema::{Companion, Table, base};
use ingester_core::value::Value;
use ingester_sql::dialect::statements::{CountAt, CountRoutes, CountRows, Explain, Select};
use ingester_sql::dialect::{Dialect, GroupFilter, Range};
use ingester_sql::query::{CheckedQuery, Continue, Query, QueryError, Route, Routes, TokenError};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Limits on the cost of a query. Begin with the default, and change it with a method for each field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The time limit for one statement. The server ends it then.
    pub time: Duration,
    /// The most rows of a page.
    pub rows: usize,
    /// The most bytes of a page: it ends with the row that reaches them.
    pub bytes: usize,
}

impl Default for Limits {
    /// Returns 30 seconds, 1,000 rows and 16 MiB.
    fn default() -> Self {
        Limits { time: Duration::from_secs(30), rows: 1000, bytes: 16 << 20 }
    }
}

impl Limits {
    /// Sets [`time`](Self::time).
    #[must_use]
    pub const fn with_time(self, time: Duration) -> Self {
        Limits { time, ..self }
    }

    /// Sets [`rows`](Self::rows).
    #[must_use]
    pub const fn with_rows(self, rows: usize) -> Self {
        Limits { rows, ..self }
    }

    /// Sets [`bytes`](Self::bytes).
    #[must_use]
    pub const fn bytes(self, bytes: usize) -> Self {
        Limits { bytes, ..self }
    }
}

/// The parts of each row to read, in addition to the uid and the columns of the order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestedParts {
    /// The indexes of columns in the table.
    pub places: Vec<usize>,
    /// True to read the labels: from their own table, or from the stored JSON if the kind has no such table.
    pub labels: bool,
}

impl RequestedParts {
    /// Reads the whole object, as it is stored.
    pub fn object() -> Self {
        RequestedParts { places: vec![base::JSON], labels: false }
    }
}

/// The reason why a query was not answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The query cannot be asked.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The token of a page is not from this query.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The database took too long.
    #[error(
        "the database took longer than {0:?} for `{1}` and was told to stop (ask for less, or by columns that have keys; \
         `--explain` shows the plan)"
    )]
    TooSlow(Duration, String),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A stored object does not fit the type that is read.
    #[error("{object} (uid {uid}): {error}")]
    Object {
        /// The object's namespace and name.
        object: String,
        /// The object's uid.
        uid: String,
        /// The mistake in it.
        error: ingester_core::json::Error,
    },
}

/// A page of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The rows, in the query's order.
    pub rows: Vec<FoundRow>,
    /// The token of the next page; `None` if this is the last one.
    pub next: Option<String>,
}

/// A query about one kind, ready to run. Readers share it.
#[derive(Clone)]
pub struct PreparedQuery<'s> {
    store: &'s Store,
    checked: Arc<CheckedQuery>,
    routes: Arc<Routes>,
    group: Arc<GroupFilter>,
    limits: Limits,
    fingerprint: u64,
}

/// The number of objects in the first portion, whose sizes are not known yet.
const FIRST: usize = 64;

/// The most rows of a portion.
const ROWS: usize = 1000;

/// The intended number of bytes in a portion.
const PORTION: usize = 4 << 20;

impl Store {
    /// Returns the limits of a query that is a part of other work, such as the look-up before a write. The time is
    /// [`ConnectOptions::query_time`](crate::ConnectOptions::query_time).
    pub fn limits(&self) -> Limits {
        Limits { time: self.query_time(), ..Limits::default() }
    }

    /// Prepares a query about a kind.
    ///
    /// # Errors
    /// [`QueryError`] when a field has no column, a value is not of its column's type, or the query is too large.
    pub fn ask_about(&self, kind: &Kind, query: &Query, limits: Limits) -> Result<PreparedQuery<'_>, QueryError> {
        self.ask_table(kind, kind.table(), query, limits)
    }

    /// Like [`Store::ask_about`], for one of the kind's tables.
    pub(super) fn ask_table(
        &self,
        kind: &Kind,
        table: &'static Table,
        query: &Query,
        limits: Limits,
    ) -> Result<PreparedQuery<'_>, QueryError> {
        let checked = Arc::new(query.check_at(table, self.now())?);
        let routes = Arc::new(checked.routes());
        let group = Arc::new(GroupFilter::new(kind.group()));
        Ok(PreparedQuery { store: self, checked, routes, group, limits, fingerprint: query.fingerprint(table) })
    }
}

impl<'s> PreparedQuery<'s> {
    /// Returns the checked query.
    pub fn checked(&self) -> &CheckedQuery {
        &self.checked
    }

    /// Returns the dialect of the database.
    pub(super) fn dialect(&self) -> Dialect {
        self.store.dialect()
    }

    /// Returns the query with the tokens of another query in the same order.
    pub(super) fn with_tokens_of(self, other: &PreparedQuery<'_>) -> Self {
        PreparedQuery { fingerprint: other.fingerprint, ..self }
    }

    /// Returns the token of the page that begins after a row.
    pub(super) fn token_after(&self, row: &FoundRow) -> Result<Option<String>, AskError> {
        let mut reader = self.reader(&RequestedParts::default(), None)?;
        reader.go_on_after(row);
        Ok(reader.token()?)
    }

    /// Returns true if no key serves the query: it reads all rows or their texts.
    pub fn is_scan(&self) -> bool {
        self.routes.is_scan()
    }

    /// Returns a page of up to `limit` rows: the first one, or the one of a token. It has fewer rows if the limits of rows or bytes require
    /// it.
    ///
    /// # Errors
    /// [`AskError`] when the token is not from this query, or the database fails or takes too long.
    pub async fn page(&self, wanted: &RequestedParts, limit: usize, token: Option<&str>) -> Result<Page, AskError> {
        let mut reader = self.reader(wanted, token)?;
        let most = limit.clamp(1, self.limits.rows);
        let mut rows = Vec::new();
        let mut bytes = 0;
        // Read one row more than wanted: if it exists, this is not the last page.
        while rows.len() <= most && bytes <= self.limits.bytes {
            let portion = reader.portion(most + 1 - rows.len()).await?;
            let Some(last) = portion.last() else { break };
            reader.go_on_after(last);
            bytes += portion.iter().map(FoundRow::bytes).sum::<usize>();
            rows.extend(portion);
        }
        let mut taken = 0;
        let mut fits = |row: &FoundRow| {
            taken += row.bytes();
            taken <= self.limits.bytes
        };
        // Return at least one row, however large it is.
        let fitting = rows.iter().take(most).take_while(|row: &&FoundRow| fits(row)).count().max(1);
        if rows.len() <= fitting {
            return Ok(Page { rows, next: None });
        }
        rows.truncate(fitting);
        if let Some(last) = rows.last() {
            reader.go_on_after(last);
        }
        Ok(Page { next: reader.token()?, rows })
    }

    /// Reads all rows in portions that are small in memory, with one statement each.
    ///
    /// # Errors
    /// [`TokenError`] when the token is not from this query.
    pub fn reader(&self, wanted: &RequestedParts, token: Option<&str>) -> Result<Reader<'s>, TokenError> {
        let cursor = match token {
            None => Cursor::begin(&self.checked),
            Some(token) => {
                let Continue { mut values, uid, .. } = Continue::decode(token, self.fingerprint)?;
                values.push(Value::text(uid));
                Cursor::after(&self.checked, values.into()).ok_or(TokenError::OtherQuery)?
            }
        };
        let mut wanted = wanted.clone();
        if wanted.labels && !self.checked.table().companions && !wanted.places.contains(&base::JSON) {
            wanted.places.push(base::JSON);
        }
        let places = Select::places(&self.checked, &wanted.places).into();
        let large = [base::JSON, base::PROTO].iter().any(|place| wanted.places.contains(place));
        let rows = if large { FIRST } else { ROWS };
        Ok(Reader { asked: self.clone(), wanted, places, cursor, rows, ended: false, route: None })
    }

    /// Returns all rows as they are at one moment, with one statement and all in memory; `None` if there are more than `most`. For a query
    /// in the default order, without labels.
    ///
    /// # Errors
    /// [`AskError`] when the database fails or takes too long.
    pub async fn at_once(&self, wanted: &RequestedParts, most: usize) -> Result<Option<Vec<FoundRow>>, AskError> {
        let places: Arc<[usize]> = Select::places(&self.checked, &wanted.places).into();
        let cursor = Cursor::begin(&self.checked);
        let range = &cursor.range().unwrap_or(Range { null: None, after: None });
        let read = async |route| self.in_time(&self.select(wanted, (range, route), most.saturating_add(1))).await;
        let rows = match read(self.route(Routes::best).await?).await {
            Err(AskError::Store(error)) if error.is_about(ErrorSubject::Key) => read(Route::Free).await?,
            rows => rows?,
        };
        let row = |values| FoundRow { places: places.clone(), values, labels: None };
        Ok((rows.len() <= most).then(|| rows.into_iter().map(row).collect()))
    }

    /// Returns the number of rows of the query. Only keys are read, but all of them.
    ///
    /// # Errors
    /// [`AskError`] when the database fails or takes too long.
    pub async fn count(&self) -> Result<u64, AskError> {
        let counted = self.counted(None, 1).await?;
        Ok(counted.first().map_or(0, |(count, _)| *count))
    }

    /// Returns the number of rows of this query and of another one, in one state of the database.
    pub(super) async fn count_with(&self, other: &PreparedQuery<'_>) -> Result<u64, AskError> {
        let both = |[present, former]: [Route; 2]| CountAt {
            present: self.count_rows(present),
            former: other.count_rows(former),
        };
        let routes = [self.route(Routes::best_to_count).await?, other.route(Routes::best_to_count).await?];
        let counted = match self.in_time(&both(routes)).await {
            Err(AskError::Store(error)) if error.is_about(ErrorSubject::Key) => {
                self.in_time(&both([Route::Free; 2])).await?
            }
            counted => counted?,
        };
        Ok(counted.first().copied().unwrap_or(0))
    }

    fn count_rows(&self, route: Route) -> CountRows<'_> {
        let query = &self.checked;
        let group = &self.group;
        let milliseconds = self.milliseconds();
        CountRows { query, route, group, by: None, limit: 1, milliseconds }
    }

    /// Returns the number of rows for each value of the column at this index, the most frequent value first; at most `limit` values.
    ///
    /// # Errors
    /// [`AskError`] when the database fails or takes too long.
    pub async fn count_by(&self, place: usize, limit: usize) -> Result<Vec<(Value, u64)>, AskError> {
        let counted = self.counted(Some(place), limit).await?;
        Ok(counted.into_iter().map(|(count, value)| (value, count)).collect())
    }

    async fn counted(&self, place: Option<usize>, limit: usize) -> Result<Vec<(u64, Value)>, AskError> {
        let by = place.map(|place| &self.checked.table().columns[place]);
        let count = |route| CountRows { by, limit, ..self.count_rows(route) };
        let route = self.route(Routes::best_to_count).await?;
        match self.in_time(&count(route)).await {
            Err(AskError::Store(error)) if error.is_about(ErrorSubject::Key) => self.in_time(&count(Route::Free)).await,
            counted => counted,
        }
    }

    /// Returns the best route to the rows.
    async fn route(&self, best: impl Fn(&Routes, &[u64]) -> Route) -> Result<Route, AskError> {
        if !self.store.dialect().has_routes() {
            return Ok(Route::Free);
        }
        let counted = self.routes.to_count();
        if counted.is_empty() {
            return Ok(best(&self.routes, &[]));
        }
        match self.in_time(&CountRoutes::new(&self.checked, counted, self.milliseconds())).await {
            Ok(found) => Ok(best(&self.routes, found.first().map_or(&[][..], Vec::as_slice))),
            Err(AskError::Store(error)) if error.is_about(ErrorSubject::Key) => Ok(Route::Free),
            Err(error) => Err(error),
        }
    }

    /// Returns the SQL of the first page of up to `limit` rows, with its parameters and the database's plan for it: lines of text, or JSON.
    ///
    /// # Errors
    /// [`AskError`] when the database fails or takes too long.
    pub async fn explain(&self, wanted: &RequestedParts, limit: usize) -> Result<Explanation, AskError> {
        self.explain_page(wanted, limit, &Cursor::begin(&self.checked)).await
    }

    /// Like [`PreparedQuery::explain`], for the page of a token.
    ///
    /// # Errors
    /// [`AskError`] when the token is not from this query, or the database fails or takes too long.
    pub async fn explain_after(
        &self,
        wanted: &RequestedParts,
        limit: usize,
        token: &str,
    ) -> Result<Explanation, AskError> {
        let cursor = self.reader(wanted, Some(token))?.cursor;
        self.explain_page(wanted, limit, &cursor).await
    }

    async fn explain_page(
        &self,
        wanted: &RequestedParts,
        limit: usize,
        cursor: &Cursor,
    ) -> Result<Explanation, AskError> {
        use ingester_sql::dialect::Statement as _;
        let range = &cursor.range().unwrap_or(Range { null: None, after: None });
        let route = self.route(Routes::best).await?;
        let statement = &self.select(wanted, (range, route), limit);
        let dialect = self.store.dialect();
        let plan = self.in_time(&Explain { statement, dialect }).await?;
        let parameters = statement.params_in(dialect).iter().map(|param| format!("{param:?}")).collect();
        Ok(Explanation { sql: statement.sql(dialect).as_str().to_owned(), parameters, plan })
    }

    fn select<'a>(&'a self, wanted: &RequestedParts, way: (&'a Range<'a>, Route), limit: usize) -> Select<'a> {
        Select::new(&self.checked, &self.group, &wanted.places, way, limit, self.milliseconds())
    }

    fn milliseconds(&self) -> u64 {
        u64::try_from(self.limits.time.as_millis()).unwrap_or(u64::MAX)
    }

    async fn in_time<Q: ingester_sql::dialect::Query>(&self, query: &Q) -> Result<Vec<Q::Row>, AskError> {
        let table = self.checked.table().name;
        let answer = self.store.ask(|| format!("asking `{table}`"), query, self.limits.time).await?;
        answer.ok_or_else(|| AskError::TooSlow(self.limits.time, table.to_string()))
    }
}

/// A statement, and the database's plan for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The statement's text.
    pub sql: String,
    /// The statement's parameters, for people.
    pub parameters: Vec<String>,
    /// The plan, as the database reports it.
    pub plan: Vec<String>,
}

/// Reads the rows of a query, portion by portion.
pub struct Reader<'s> {
    asked: PreparedQuery<'s>,
    wanted: RequestedParts,
    places: Arc<[usize]>,
    cursor: Cursor,
    /// The number of rows in the next portion.
    rows: usize,
    /// True if the present part of the order has no more rows: fewer were read than asked for.
    ended: bool,
    /// The route to the rows, once it is known.
    route: Option<Route>,
}

impl Reader<'_> {
    /// Returns the next rows, as many as fit into a few megabytes; none at the end.
    ///
    /// # Errors
    /// [`AskError`] when the database fails or takes too long. The caller can then request the same portion again.
    pub async fn next(&mut self) -> Result<Vec<FoundRow>, AskError> {
        let rows = self.portion(usize::MAX).await?;
        if let Some(last) = rows.last() {
            self.go_on_after(last);
        }
        Ok(rows)
    }

    /// Returns the token of the page after the rows that were read; `None` before the first.
    ///
    /// # Errors
    /// [`TokenError`] when the values of the order are too long for one.
    pub fn token(&self) -> Result<Option<String>, TokenError> {
        let Some((Value::Text(uid), values)) = self.cursor.values().and_then(<[Value]>::split_last) else {
            return Ok(None);
        };
        let token = Continue { query: self.asked.fingerprint, values: values.to_vec(), uid: uid.to_string() };
        token.encode().map(Some)
    }

    async fn portion(&mut self, most: usize) -> Result<Vec<FoundRow>, AskError> {
        if self.ended {
            self.cursor.next_part();
            self.ended = false;
        }
        while let Some(range) = self.cursor.range() {
            let limit = self.rows.min(most).max(1);
            let route = match self.route {
                Some(route) => route,
                None => *self.route.insert(self.asked.route(Routes::best).await?),
            };
            let read = match self.asked.in_time(&self.asked.select(&self.wanted, (&range, route), limit)).await {
                // Somebody has dropped the key by hand. `ingester schema verify` reports it; reads go on without the key.
                Err(AskError::Store(error)) if error.is_about(ErrorSubject::Key) && route != Route::Free => {
                    self.route = Some(Route::Free);
                    continue;
                }
                read => read?,
            };
            if read.is_empty() {
                self.cursor.next_part();
                continue;
            }
            self.ended = read.len() < limit;
            let places = &self.places;
            let row = |values| FoundRow { places: places.clone(), values, labels: None };
            let mut rows: Vec<FoundRow> = read.into_iter().map(row).collect();
            let bytes = rows.iter().map(FoundRow::bytes).sum::<usize>() / rows.len();
            self.rows = (PORTION / bytes.max(1)).clamp(1, 4 * self.rows).min(ROWS);
            if self.wanted.labels {
                self.add_labels(&mut rows).await?;
            }
            return Ok(rows);
        }
        Ok(Vec::new())
    }

    fn go_on_after(&mut self, row: &FoundRow) {
        let order = self.asked.checked.order();
        let values = order.iter().map(|key| row.get(key.place).cloned().unwrap_or(Value::Null)).collect();
        self.cursor.advance(values);
    }

    async fn add_labels(&self, rows: &mut [FoundRow]) -> Result<(), AskError> {
        if !self.asked.checked.table().companions {
            for row in rows {
                // If the stored text is not an object, it has no labels either.
                let object = Object::parse(row.get_text(base::JSON), ManagedFields::Keep).ok();
                row.labels = Some(object.map(|object| object.meta().labels.clone()).unwrap_or_default());
            }
            return Ok(());
        }
        let uids: Vec<&str> = rows.iter().map(FoundRow::uid).collect();
        let pairs = self.asked.store.pairs(self.asked.checked.table(), Companion::Labels, &uids).await?;
        let mut of_uid = HashMap::new();
        for (uid, key, value) in pairs {
            let of_uid: &mut Vec<_> = of_uid.entry(uid).or_default();
            of_uid.push((key.into_boxed_str(), value.into_boxed_str()));
        }
        for row in rows {
            let mut pairs = of_uid.remove(row.uid()).unwrap_or_default();
            pairs.sort_unstable();
            row.labels = Some(pairs.into());
        }
        Ok(())
    }
}
