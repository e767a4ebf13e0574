//! Finds the objects that had a name, one after the other, and one version of them.

use super::ask::{AskError, Limits, Page, RequestedParts};
use super::at::{ObjectVersion, history};
use super::found::FoundRow;
use crate::changes::ChangeKind;
use crate::store::Store;
use ingester_core::Kind;
use ingester_core::schema::{BASE_COLUMNS, base};
use ingester_core::value::{Micros, Value};
use ingester_sql::query::{AsOf, Filter, Order, Query, States, Test};
use std::collections::HashMap;

/// An object that has, or had, a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    /// The object's uid.
    pub uid: Box<str>,
    /// The object's namespace; empty if it is in none.
    pub namespace: Box<str>,
    /// The object's name.
    pub name: Box<str>,
    /// The creation time, according to the object itself.
    pub created: Option<Micros>,
    /// The time at which its first known version began.
    pub began: Micros,
}

/// Selects a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionOf {
    /// The version with this resourceVersion.
    Version(u64),
    /// The version at this moment, by the database's clock.
    At(AsOf),
}

/// The reason why there is no such version.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VersionError {
    /// The query failed.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// No version has this resourceVersion.
    #[error("the object has no version with the resourceVersion {0}, or it was purged")]
    NoVersion(u64),
    /// Several different versions have it.
    #[error(
        "{1} different versions of the object have the resourceVersion {0}: choose one by a time at which it existed"
    )]
    Several(u64, usize),
    /// Several objects of the name existed.
    #[error("{} objects had this name at {} ({}): choose one by its uid", .uids.len(), .at.rfc3339(), .uids.join(", "))]
    Ambiguous {
        /// The moment.
        at: Micros,
        /// Their uids.
        uids: Vec<String>,
    },
    /// The moment is before the first known version.
    #[error("the state of the object at {} is not known: its history begins at {}", .at.rfc3339(), .began.rfc3339())]
    NotKnown {
        /// The moment.
        at: Micros,
        /// The time at which the first known version began.
        began: Micros,
    },
    /// The object was created later.
    #[error("the object did not exist at {}: it was created at {}", .at.rfc3339(), .created.rfc3339())]
    NotCreated {
        /// The moment.
        at: Micros,
        /// The time of its creation.
        created: Micros,
    },
    /// The row or the version was purged.
    #[error("the version of the object at {} was purged, or its row was", .0.rfc3339())]
    Purged(Micros),
}

impl VersionOf {
    /// Reads a resourceVersion, which has only digits, or otherwise a time.
    ///
    /// # Errors
    /// If the text is neither.
    pub fn parse(text: &str) -> Result<Self, String> {
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            let version = text.parse().map_err(|_| format!("`{text}` is too large for a resourceVersion"))?;
            return Ok(VersionOf::Version(version));
        }
        AsOf::parse(text).map(VersionOf::At).map_err(|error| format!("{error}, or a resourceVersion"))
    }
}

/// The indexes of the columns that are always read of a version.
const PLACES: [usize; 4] = [base::NAMESPACE, base::NAME, base::CREATE_TIME, base::UPDATE_TIME];

impl Store {
    /// Returns the objects that a query selects by namespaces, names, uids and filters on fields that never change, in any state they had.
    /// The one whose history begins last comes first. For a kind that keeps its history.
    ///
    /// # Errors
    /// [`AskError`] when the kind keeps no history, or the database fails or takes too long.
    pub async fn lives(&self, kind: &Kind, query: &Query, limits: Limits) -> Result<Vec<Life>, AskError> {
        let history = history(kind)?;
        let wanted = RequestedParts { places: PLACES.to_vec(), labels: false };
        let mut lives: HashMap<Box<str>, Life> = HashMap::new();
        // Read the tables in this order, in which rows move between them.
        for (table, began) in [(kind.table(), "update_time"), (history.table, "valid_from")] {
            let order = vec![Order { field: began.into(), descending: false }];
            let query = Query { states: States::ALL, order, ..query.clone() };
            let mut reader = self.ask_table(kind, table, &query, limits)?.reader(&wanted, None)?;
            loop {
                let rows = reader.next().await?;
                if rows.is_empty() {
                    break;
                }
                for row in &rows {
                    let began = row.time(base::UPDATE_TIME).unwrap_or(Micros(0));
                    let life = lives.entry(row.uid().into()).or_insert_with(|| Life {
                        uid: row.uid().into(),
                        namespace: row.get_text(base::NAMESPACE).into(),
                        name: row.get_text(base::NAME).into(),
                        created: row.time(base::CREATE_TIME),
                        began,
                    });
                    life.began = life.began.min(began);
                }
            }
        }
        let mut lives: Vec<Life> = lives.into_values().collect();
        lives.sort_unstable_by(|a, b| (b.began, &b.uid).cmp(&(a.began, &a.uid)));
        Ok(lives)
    }

    /// Returns one version of the objects that had a name. `update_time` is the time at which it began. For a moment, it is the version of
    /// the object that existed then. If there was none, it is the version of an object that was deleted by then, the one whose history
    /// began last.
    ///
    /// # Errors
    /// [`VersionError`] if there is no such version, or if several match.
    pub async fn version(
        &self,
        kind: &Kind,
        lives: &[Life],
        of: VersionOf,
        wanted: &RequestedParts,
        limits: Limits,
    ) -> Result<FoundRow, VersionError> {
        let mut wanted = wanted.clone();
        wanted.places.extend(PLACES);
        wanted.places.push(base::JSON);
        match of {
            VersionOf::Version(version) => {
                let rows = self.of_version(kind, lives, version, &wanted, limits).await?;
                let Some(last) = rows.first() else { return Err(VersionError::NoVersion(version)) };
                // A deletion or an eviction keeps the resourceVersion, and often the object, so these rows may be the same.
                let is_same =
                    |row: &FoundRow| row.uid() == last.uid() && row.get_text(base::JSON) == last.get_text(base::JSON);
                match rows.iter().all(is_same) {
                    true => Ok(last.clone()),
                    false => Err(VersionError::Several(version, rows.len())),
                }
            }
            VersionOf::At(at) => {
                let at = at.by(self.now());
                let Some(life) = self.life_at(kind, lives, at, limits).await? else {
                    return Err(match lives.last() {
                        Some(Life { created: Some(created), .. }) if *created > at => {
                            VersionError::NotCreated { at, created: *created }
                        }
                        Some(Life { began, .. }) => VersionError::NotKnown { at, began: *began },
                        None => VersionError::Purged(at),
                    });
                };
                let query = Query { uids: vec![life.uid.to_string()], states: States::ALL, ..Query::default() };
                let asked = self.ask_at(kind, &query, at, limits).map_err(AskError::from)?;
                asked.page(&wanted, 1, None).await?.rows.pop().ok_or(VersionError::Purged(at))
            }
        }
    }

    /// Returns the object that a moment selects; `None` if no history had begun by then.
    async fn life_at<'l>(
        &self,
        kind: &Kind,
        lives: &'l [Life],
        at: Micros,
        limits: Limits,
    ) -> Result<Option<&'l Life>, VersionError> {
        let begun: Vec<&Life> = lives.iter().filter(|life| life.began <= at).collect();
        if begun.len() < 2 {
            return Ok(begun.first().copied());
        }
        let uids = begun.iter().map(|life| life.uid.to_string()).collect();
        let query = Query { uids, states: States::ALL, ..Query::default() };
        let asked = self.ask_at(kind, &query, at, limits).map_err(AskError::from)?;
        let wanted = RequestedParts { places: vec![base::DELETE_TIME], labels: false };
        let mut is_deleted = HashMap::new();
        let mut token = None;
        loop {
            let page = asked.page(&wanted, limits.rows, token.as_deref()).await?;
            is_deleted
                .extend(page.rows.iter().map(|row| (row.uid().to_owned(), row.time(base::DELETE_TIME).is_some())));
            token = page.next;
            if token.is_none() {
                break;
            }
        }
        let begun = &begun;
        let is_deleted = &is_deleted;
        let those =
            |deleted: bool| begun.iter().copied().filter(move |life| is_deleted.get(&*life.uid) == Some(&deleted));
        let there: Vec<&Life> = those(false).collect();
        match there[..] {
            [] => Ok(those(true).next().or(begun.first().copied())),
            [one] => Ok(Some(one)),
            _ => Err(VersionError::Ambiguous { at, uids: there.iter().map(|life| life.uid.to_string()).collect() }),
        }
    }

    /// Returns a row as a version, with its end and the change with which it began. The time at which it began must have been read. Also
    /// returns the version before it, with its text, if that one ended when this one began.
    ///
    /// # Errors
    /// [`AskError`] when the kind keeps no history, or the database fails or takes too long.
    pub async fn dated(
        &self,
        kind: &Kind,
        row: FoundRow,
        limits: Limits,
    ) -> Result<(ObjectVersion, Option<FoundRow>), AskError> {
        let history = history(kind)?;
        let from = row.time(base::UPDATE_TIME).unwrap_or(Micros(0));
        let query = Query {
            uids: vec![row.uid().to_owned()],
            states: States::ALL,
            filters: vec![Filter::field("valid_from", Test::LessOrEqual(Value::Time(from)))],
            order: vec![Order { field: "valid_from".into(), descending: true }],
            ..Query::default()
        };
        let places = vec![base::UPDATE_TIME, base::JSON, history.valid_to(), history.change()];
        // Read both rows, however large they are.
        let limits = Limits { bytes: usize::MAX, ..limits };
        let asked = self.ask_table(kind, history.table, &query, limits)?;
        let mut rows =
            asked.page(&RequestedParts { places, labels: false }, 2, None).await?.rows.into_iter().peekable();
        let to = rows.next_if(|last| last.time(base::UPDATE_TIME) == Some(from));
        let to = to.and_then(|own| own.time(history.valid_to()));
        let before = rows.next().filter(|before| before.time(history.valid_to()) == Some(from));
        let change = before.as_ref().map(|before| ChangeKind::from_text(before.get_text(history.change())));
        Ok((ObjectVersion { from, to, change, row }, before))
    }

    /// Returns the reason why a query that names a moment may have found too little: an object that it selects by namespaces, names, uids
    /// and filters on fields that never change existed then, according to its creation time, but its state at that moment is unknown. For a
    /// query without names and uids, this considers the object that was written first since. Returns `None` if nothing is known to be
    /// missing.
    ///
    /// # Errors
    /// [`AskError`] when the database fails or takes too long.
    pub async fn unknown_at(
        &self,
        kind: &Kind,
        query: &Query,
        limits: Limits,
    ) -> Result<Option<(Life, VersionError)>, AskError> {
        let Some(at) = query.at.map(|at| at.by(self.now())) else { return Ok(None) };
        let mut query = Query { at: None, order: Vec::new(), ..query.clone() };
        if query.names.is_empty() && query.uids.is_empty() {
            let time = |place: usize, test: fn(Value) -> Test| {
                Filter::field(BASE_COLUMNS[place].name.as_str(), test(Value::Time(at)))
            };
            let mut candidates = Query { states: States::ALL, ..query.clone() };
            candidates.filters.push(time(base::CREATE_TIME, Test::LessOrEqual));
            candidates.filters.push(time(base::UPDATE_TIME, Test::Greater));
            candidates.order = vec![Order { field: "update_time".into(), descending: false }];
            let page = self.ask_about(kind, &candidates, limits)?.page(&RequestedParts::default(), 1, None).await?;
            let Some(row) = page.rows.first() else { return Ok(None) };
            query.uids.push(row.uid().to_owned());
        }
        let mut lives = self.lives(kind, &query, limits).await?;
        match self.version(kind, &lives, VersionOf::At(at.into()), &RequestedParts::default(), limits).await {
            Ok(_) | Err(VersionError::Ambiguous { .. }) => Ok(None),
            Err(VersionError::Ask(error)) => Err(error),
            Err(why) => Ok(lives.pop().map(|first| (first, why))),
        }
    }

    /// Returns the versions with this resourceVersion, the latest first. They are few, so one page has them all.
    async fn of_version(
        &self,
        kind: &Kind,
        lives: &[Life],
        version: u64,
        wanted: &RequestedParts,
        limits: Limits,
    ) -> Result<Vec<FoundRow>, AskError> {
        let history = history(kind)?;
        let uids: Vec<String> = lives.iter().map(|life| life.uid.to_string()).collect();
        let mut rows: Vec<FoundRow> = Vec::new();
        if uids.is_empty() {
            return Ok(rows);
        }
        for (table, began) in [(kind.table(), "update_time"), (history.table, "valid_from")] {
            let query = Query {
                uids: uids.clone(),
                states: States::ALL,
                filters: vec![Filter::field("res_version", Test::Equal(Value::UInt(version)))],
                order: vec![Order { field: began.into(), descending: true }],
                ..Query::default()
            };
            let Page { rows: found, .. } =
                self.ask_table(kind, table, &query, limits)?.page(wanted, limits.rows, None).await?;
            rows.extend(found);
        }
        let began = |row: &FoundRow| row.time(base::UPDATE_TIME);
        rows.sort_by_key(|row| std::cmp::Reverse(began(row)));
        // A version that has moved meanwhile is found twice.
        rows.dedup_by(|a, b| a.uid() == b.uid() && began(a) == began(b));
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::{AsOf, VersionOf};

    #[test]
    fn digits_are_a_version_and_anything_else_is_a_time() {
        assert_eq!(VersionOf::parse("7"), Ok(VersionOf::Version(7)));
        assert_eq!(VersionOf::parse("1h"), Ok(VersionOf::At(AsOf::FromNow(-3_600_000_000))));
        assert!(matches!(VersionOf::parse("2026-01-31"), Ok(VersionOf::At(AsOf::At(_)))));
        for (text, part) in [("tuesday", "or a resourceVersion"), ("99999999999999999999", "too large"), ("", "time")] {
            assert!(VersionOf::parse(text).unwrap_err().contains(part), "{text}");
        }
    }
}
