//! Objects as they were at a moment, and the versions of one object, from the history of a kind and its present rows.
//!
//! The table of former versions has the columns of the main table at the same indexes. So the same query runs on both tables, and the
//! answers are merged in its order. Rows move from the main table into the history and never back. So the main table is always read first,
//! and a version that moves meanwhile is found twice instead of missed.

use super::ask::{AskError, Limits, Page, PreparedQuery, RequestedParts};
use super::found::FoundRow;
use crate::changes::ChangeKind;
use crate::rows::SETTLED;
use crate::store::Store;
use ingester_core::Kind;
use ingester_core::schema::{Companion, History, Many, base};
use ingester_core::value::{Micros, Value};
use ingester_sql::query::{CheckedQuery, Condition, Filter, Order, Query, QueryError, States, Test};
use std::cmp::Ordering;
use std::time::Duration;

/// A moment may be this far ahead of the database's clock, because clocks differ. The query waits for it.
const AHEAD: i64 = 5_000_000;

/// A query about the objects of one kind as they were at a moment, ready to run.
#[derive(Clone)]
pub struct PastQuery<'s> {
    store: &'s Store,
    moment: Micros,
    present: PreparedQuery<'s>,
    former: PreparedQuery<'s>,
}

/// A version of an object: the content of its row for some time.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectVersion {
    /// The time at which it began.
    pub from: Micros,
    /// The time at which the next one began or the row was purged; `None` for the present version.
    pub to: Option<Micros>,
    /// The change with which it began; `None` if the version before it is not known, because this is the first one, or the one before was
    /// purged.
    pub change: Option<ChangeKind>,
    /// The requested columns of the row.
    pub row: FoundRow,
}

/// Versions of an object, the latest first.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryPage {
    /// The versions.
    pub versions: Vec<ObjectVersion>,
    /// The token of the next page, with earlier ones; `None` if this is the last one.
    pub next: Option<String>,
}

impl Store {
    /// Prepares a query about the objects of a kind as they were at a moment, by the database's clock. The history has no keys for labels
    /// and annotations, so a query for them has to [scan](Query::scan).
    ///
    /// An object that is no longer in the history, or was not yet in it, counts as absent.
    ///
    /// # Errors
    /// As [`Store::ask_about`]; [`QueryError::NoHistory`] for a kind that keeps none, [`QueryError::NotYet`] for a moment that has not come.
    pub fn ask_at(
        &self,
        kind: &Kind,
        query: &Query,
        moment: Micros,
        limits: Limits,
    ) -> Result<PastQuery<'_>, QueryError> {
        let History { table: former, .. } = history(kind)?;
        let now = self.now();
        if moment.0 > now.0.saturating_add(AHEAD) {
            return Err(QueryError::NotYet { at: moment, now });
        }
        let began = |field| Filter::field(field, Test::LessOrEqual(Value::Time(moment)));
        let query = Query { at: None, ..query.clone() };
        let mut past = of_former(&query);
        let mut present = query;
        present.filters.push(began("update_time"));
        past.filters.extend([began("valid_from"), Filter::field("valid_to", Test::Greater(Value::Time(moment)))]);
        let present = self.ask_table(kind, kind.table(), &present, limits)?;
        if let Some(many) = many_values(present.checked().condition()) {
            let (how, why) =
                ("asked about a moment", "lists and maps of former versions have no tables; select by other columns");
            return Err(QueryError::WrongTest { field: many.name.to_string(), how, why });
        }
        let former = self.ask_table(kind, former, &past, limits)?.with_tokens_of(&present);
        Ok(PastQuery { store: self, moment, present, former })
    }

    /// Waits until the answers about a moment can no longer change, because every write with an earlier time is visible. That is true after
    /// [`SETTLED`]. If the database can tell that no write is open, it is true as soon as the moment has come.
    async fn settled(&self, moment: Micros) -> Result<(), AskError> {
        let left = |until: i64| Duration::from_micros(u64::try_from(until.saturating_sub(self.now().0)).unwrap_or(0));
        let until = moment.0.saturating_add(i64::try_from(SETTLED.as_micros()).unwrap_or(i64::MAX));
        if left(until).is_zero() {
            return Ok(());
        }
        tokio::time::sleep(left(moment.0)).await;
        let asked = tokio::time::timeout(left(until), self.pool.has_no_writer()).await;
        if !matches!(asked, Ok(Ok(true))) {
            tokio::time::sleep(left(until)).await;
        }
        Ok(())
    }

    /// Returns a page of the versions of an object, the latest first: up to `limit`, on the first page or the page of a token. A uid that
    /// is not known, or no longer known, has none.
    ///
    /// # Errors
    /// [`AskError`] when the kind keeps no history, the token is not from this object, or the database fails or takes too long.
    pub async fn history(
        &self,
        kind: &Kind,
        uid: &str,
        wanted: &RequestedParts,
        (limit, token): (usize, Option<&str>),
        limits: Limits,
    ) -> Result<HistoryPage, AskError> {
        let history = history(kind)?;
        let order = |field: &'static str| vec![Order { field: field.into(), descending: true }];
        let of = |order| Query { uids: vec![uid.to_owned()], states: States::ALL, order, ..Query::default() };
        let mut places = wanted.places.clone();
        places.push(base::UPDATE_TIME);
        let present = match token {
            Some(_) => None,
            None => {
                let wanted = RequestedParts { places: places.clone(), ..wanted.clone() };
                let asked = self.ask_table(kind, kind.table(), &of(Vec::new()), limits)?;
                asked.page(&wanted, 1, None).await?.rows.pop()
            }
        };
        places.extend([history.valid_to(), history.change()]);
        let wanted = RequestedParts { places, ..wanted.clone() };
        let asked = self.ask_table(kind, history.table, &of(order("valid_from")), limits)?;
        // Read one more version: it has the change with which the last one began. If the limit of bytes cuts this page, it is the first of
        // the next one.
        let limit = limit.max(1);
        let Page { rows: mut former, next } = asked.page(&wanted, limit.saturating_add(1), token).await?;
        let before = match next.as_deref() {
            _ if former.len() > limit => former.pop(),
            Some(next) => {
                let ends = RequestedParts { places: vec![history.valid_to(), history.change()], labels: false };
                asked.page(&ends, 1, Some(next)).await?.rows.pop()
            }
            None => None,
        };
        let next = match former.last().filter(|_| before.is_some()) {
            Some(last) => asked.token_after(last)?,
            None => None,
        };
        let began = |row: &FoundRow| row.time(base::UPDATE_TIME).unwrap_or(Micros(0));
        // If the row was written meanwhile, its version is already among the former ones.
        let present = present.filter(|row| former.first().is_none_or(|last| began(last) < began(row)));
        let mut versions: Vec<ObjectVersion> = present
            .into_iter()
            .map(|row| (row, None))
            .chain(former.into_iter().map(|row| (row.clone(), Some(row))))
            .map(|(row, former)| ObjectVersion {
                from: began(&row),
                to: former.and_then(|former| former.time(history.valid_to())),
                change: None,
                row,
            })
            .collect();
        let ended =
            |row: &FoundRow| (row.time(history.valid_to()), ChangeKind::from_text(row.get_text(history.change())));
        for place in 0..versions.len() {
            let before = versions.get(place + 1).map(|version| &version.row).or(before.as_ref()).map(ended);
            let version = &mut versions[place];
            // If a row was purged and came back, the version before the purge does not tell the change with which this one began.
            version.change = before.filter(|(end, _)| *end == Some(version.from)).map(|(_, change)| change);
        }
        Ok(HistoryPage { versions, next })
    }
}

/// Returns the list or map whose values a condition tests.
fn many_values(condition: &Condition) -> Option<&'static Many> {
    match condition {
        Condition::All(of) | Condition::Any(of) => of.iter().find_map(many_values),
        Condition::Pair { companion: Companion::Values(many), .. } => Some(many),
        _ => None,
    }
}

pub(super) fn history(kind: &Kind) -> Result<History, QueryError> {
    kind.history().ok_or(QueryError::NoHistory { kind: kind.kind() })
}

impl PastQuery<'_> {
    /// Returns the checked query for the present rows.
    pub fn checked(&self) -> &CheckedQuery {
        self.present.checked()
    }

    /// Returns true if no key serves the query: it reads all rows or versions, or their texts.
    pub fn is_scan(&self) -> bool {
        self.present.is_scan() || self.former.is_scan()
    }

    /// Returns a page of up to `limit` objects: the first one, or the one of a token. It has fewer objects if the limits of rows or bytes
    /// require it.
    ///
    /// # Errors
    /// [`AskError`] when the token is not from this query, or the database fails or takes too long.
    pub async fn page(&self, wanted: &RequestedParts, limit: usize, token: Option<&str>) -> Result<Page, AskError> {
        let order = self.present.checked().order();
        let is_padded = self.present.dialect().pads_texts();
        let compare = |a: &FoundRow, b: &FoundRow| {
            order.iter().fold(Ordering::Equal, |so_far, key| {
                let by_key = compare(a.get(key.place), b.get(key.place), is_padded);
                so_far.then(if key.descending { by_key.reverse() } else { by_key })
            })
        };
        self.store.settled(self.moment).await?;
        let present = self.present.page(wanted, limit, token).await?;
        let former = self.former.page(wanted, limit, token).await?;
        // If one answer is incomplete, rows of the other one behind its end must wait: the rest of the incomplete answer may come before
        // them.
        let end = |page: &Page| page.next.as_ref().and(page.rows.last().cloned());
        let ends: Vec<FoundRow> = [&present, &former].into_iter().filter_map(end).collect();
        let mut is_more = !ends.is_empty();
        let mut rows = present.rows;
        rows.extend(former.rows);
        // The sort is stable, so if a version is found twice, the present row comes first.
        rows.sort_by(compare);
        rows.dedup_by(|later, earlier| later.uid() == earlier.uid());
        let is_known = |row: &FoundRow| ends.iter().all(|end| compare(row, end) != Ordering::Greater);
        let known = rows.iter().take(limit.max(1)).take_while(|row| is_known(row)).count();
        is_more |= known < rows.len();
        rows.truncate(known);
        let next = match rows.last().filter(|_| is_more) {
            Some(last) => self.present.token_after(last)?,
            None => None,
        };
        Ok(Page { rows, next })
    }

    /// Returns the queries of the two tables: the present rows, and the former versions.
    pub(super) fn statements(&self) -> [&PreparedQuery<'_>; 2] {
        [&self.present, &self.former]
    }

    /// Returns the exact number of objects, even while rows move from one table to the other. Only keys are read, but all of them.
    ///
    /// # Errors
    /// [`AskError`] when the database fails or takes too long.
    pub async fn count(&self) -> Result<u64, AskError> {
        self.store.settled(self.moment).await?;
        self.present.count_with(&self.former).await
    }
}

/// Compares a column's values in the database's order: a missing value is less than all others, and texts are compared by byte, in some
/// columns padded with blanks. Values that are equal in the database are equal here; then the uid decides.
fn compare(a: Option<&Value>, b: Option<&Value>, is_padded: bool) -> Ordering {
    match (a.unwrap_or(&Value::Null), b.unwrap_or(&Value::Null)) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Less,
        (_, Value::Null) => Ordering::Greater,
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::UInt(a), Value::UInt(b)) => a.cmp(b),
        // Adding zero makes 0.0 and -0.0 equal.
        (Value::Double(a), Value::Double(b)) => (a + 0.0).total_cmp(&(b + 0.0)),
        (Value::Time(a), Value::Time(b)) => a.cmp(b),
        (Value::Text(a), Value::Text(b)) if is_padded => {
            let length = a.len().max(b.len());
            padded(a, length).cmp(padded(b, length))
        }
        (Value::Text(a), Value::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
        // A column has values of one type, unless others were written into SQLite by hand.
        _ => Ordering::Equal,
    }
}

/// Returns the bytes of a text, padded with blanks.
fn padded(text: &str, length: usize) -> impl Iterator<Item = u8> {
    text.bytes().chain(std::iter::repeat(b' ')).take(length)
}

/// Returns the query for the table of former versions, which has `valid_from` in the place of `update_time`.
fn of_former(query: &Query) -> Query {
    let mut former = query.clone();
    former.filters.iter_mut().for_each(rename);
    for step in former.order.iter_mut().filter(|step| is_update_time(&step.field)) {
        step.field = "valid_from".into();
    }
    former
}

fn rename(filter: &mut Filter) {
    match filter {
        Filter::And(filters) | Filter::Or(filters) => filters.iter_mut().for_each(rename),
        Filter::Not(filter) => rename(filter),
        Filter::Field { field, .. } if is_update_time(field) => *field = "valid_from".into(),
        Filter::Field { .. } | Filter::UnknownName { .. } | Filter::Label { .. } | Filter::Annotation { .. } => {}
    }
}

fn is_update_time(field: &str) -> bool {
    field.eq_ignore_ascii_case("update_time")
}
