//! The rows of one kind, as rules about them see them.

use crate::policies::{Candidate, MOST, PolicyError, add_reads, places};
use futures::future::BoxFuture;
use ingester_config::{Condition, RetainedState, RetentionRule};
use ingester_core::Kind;
use ingester_core::row::{Eviction, Standing};
use ingester_core::schema::base;
use ingester_core::value::{Micros, Value};
use ingester_sql::query::{Filter, Query, Reads, States, Test};
use ingester_store::marks::{Mark, MarkingRule};
use ingester_store::query::{FoundRow, Page, RequestedParts, STANDING_PLACES};
use ingester_store::{ExportError, Premise, PurgeTerms, Store, StoreError};
use std::collections::HashSet;
use std::path::Path;

/// How many rows are judged, exported and purged at a time.
pub(super) const CHUNK: usize = 512;

/// A row that a rule covers: it has the rule's state, is in its namespaces, and meets its `when`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CoveredRow {
    pub(crate) candidate: Candidate,
    /// The state that was judged. A row that has changed since is not purged.
    pub(crate) standing: Standing,
}

/// Selects the rows to read out of those that a rule covers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RowSelection<'a> {
    /// All of them, at one point in time.
    All,
    /// The rows with these uids.
    These(&'a [&'a str]),
    /// A page of the rows whose `since` is at or before this time: the first page, or the page of a token.
    Page { until: Option<Micros>, token: Option<&'a str> },
}

/// Some of the rows that a rule covers, and the token of the next page.
#[derive(Debug, Default)]
pub(crate) struct Portion {
    pub(crate) rows: Vec<CoveredRow>,
    pub(crate) next: Option<String>,
}

/// The rows of one kind, to be judged.
pub(crate) trait CoveredRows: Send + Sync {
    /// Returns the premise that rows must meet before these rules are judged for them. All these rules are about rows in one state.
    fn premise<'a>(&'a self, rules: &'a [RetentionRule]) -> BoxFuture<'a, Result<Premise, PolicyError>>;

    /// Returns some of the rows that a rule covers.
    fn covered<'a>(
        &'a self,
        rule: &'a RetentionRule,
        which: RowSelection<'a>,
    ) -> BoxFuture<'a, Result<Portion, PolicyError>>;

    /// Returns the uids whose rows do not prove the values that rules read from them.
    fn unproved<'a>(
        &'a self,
        uids: &'a [Box<str>],
        premise: &'a Premise,
    ) -> BoxFuture<'a, Result<HashSet<Box<str>>, PolicyError>>;

    /// Returns the number of rows in a rule's state and namespaces that the premise excludes because of the definition that wrote them.
    fn pending<'a>(&'a self, rule: &'a RetentionRule, premise: &'a Premise) -> BoxFuture<'a, Result<u64, PolicyError>>;
}

/// The rows of one kind, to be purged. A result of `None` means that nothing of the kind may be changed now: the rules have changed, the
/// kind is suspended, or another process leads it.
pub(crate) trait RetainedRows: CoveredRows {
    /// The time by the database's clock.
    fn now(&self) -> BoxFuture<'_, Result<Micros, StoreError>>;

    /// As [`Store::export`].
    fn export<'a>(
        &'a self,
        folder: &'a Path,
        rows: &'a [CoveredRow],
        undeleted: &'a HashSet<Box<str>>,
    ) -> BoxFuture<'a, Result<HashSet<Box<str>>, ExportError>>;

    /// As [`Store::purge_judged`].
    fn purge<'a>(
        &'a self,
        rows: &'a [CoveredRow],
        terms: PurgeTerms<'a>,
    ) -> BoxFuture<'a, Result<Option<u64>, StoreError>>;

    /// As [`Store::marks_of`].
    fn marks_of<'a>(&'a self, uids: &'a [&'a str]) -> BoxFuture<'a, Result<Vec<Mark>, StoreError>>;

    /// As [`Store::marks_after`].
    fn marks_after<'a>(&'a self, last: Option<&'a Mark>) -> BoxFuture<'a, Result<Vec<Mark>, StoreError>>;

    /// As [`Store::mark_by_rule`]; returns how many were marked.
    fn mark<'a>(
        &'a self,
        rule: MarkingRule<'a>,
        rows: &'a [CoveredRow],
        premise: &'a Premise,
    ) -> BoxFuture<'a, Result<Option<u64>, StoreError>>;

    /// Takes back marks whose rule no longer lets the row go, as [`Store::withdraw_marks`].
    fn withdraw<'a>(&'a self, marks: &'a [Mark]) -> BoxFuture<'a, Result<Option<u64>, StoreError>>;
}

/// Returns rows with the state that was judged, in the form that the store takes.
pub(super) fn judged(rows: &[CoveredRow]) -> Vec<(&str, Standing)> {
    rows.iter().map(|row| (&*row.candidate.uid, row.standing)).collect()
}

/// Returns the parts of a kind's rows that these rules read.
pub(super) fn reads(kind: &Kind, rules: &[RetentionRule]) -> Result<Reads, PolicyError> {
    let mut reads = Reads::default();
    for rule in rules {
        add_reads(&mut reads, &rule.condition, &query(rule, RowSelection::All).check(kind.table())?)?;
    }
    Ok(reads)
}

/// Returns the query for the rows in a rule's state and namespaces that the premise excludes because of the definition that wrote them.
pub(super) fn pending_query(rule: &RetentionRule, premise: &Premise) -> Query {
    let condition = Condition { when: Vec::new(), ..rule.condition.clone() };
    let of_state = RetentionRule { condition, ..rule.clone() };
    let mut query = query(&of_state, RowSelection::All);
    query.filters.extend(premise.refused());
    query
}

/// As [`CoveredRows::pending`], of the rows in a store.
pub(super) async fn pending(
    store: &Store,
    kind: &Kind,
    rule: &RetentionRule,
    premise: &Premise,
) -> Result<u64, PolicyError> {
    let asked = store.ask_about(kind, &pending_query(rule, premise), store.limits())?;
    Ok(asked.count().await?)
}

/// The query of a rule about its kind.
pub(super) fn query(rule: &RetentionRule, which: RowSelection<'_>) -> Query {
    let evicted = Filter::field(RetainedState::Evicted.since(), Test::Exists);
    let (states, of_state) = match rule.state {
        RetainedState::Deleted => (States::DELETED, evicted.negated()),
        RetainedState::Evicted => (States::EVICTED.or(States::DELETED), evicted),
    };
    let mut filters = vec![of_state];
    filters.extend(rule.condition.when.iter().cloned());
    let mut uids = Vec::new();
    match which {
        RowSelection::Page { until: Some(until), .. } => {
            filters.push(Filter::field(rule.condition.since().to_owned(), Test::LessOrEqual(Value::Time(until))));
        }
        RowSelection::These(these) => uids = these.iter().map(|uid| (*uid).to_owned()).collect(),
        RowSelection::Page { until: None, .. } | RowSelection::All => {}
    }
    Query { namespaces: rule.condition.namespaces.clone(), uids, states, filters, ..Query::default() }
}

/// As [`RetainedRows::covered`], of the rows in a store.
pub(super) async fn covered(
    store: &Store,
    kind: &Kind,
    rule: &RetentionRule,
    which: RowSelection<'_>,
) -> Result<Portion, PolicyError> {
    let asked = store.ask_about(kind, &query(rule, which), store.limits())?;
    let (since, by) = places(&rule.condition, asked.checked())?;
    let mut read = vec![base::NAMESPACE, base::NAME, base::CREATE_TIME];
    for place in STANDING_PLACES.iter().chain(&by).chain([&since]) {
        if !read.contains(place) {
            read.push(*place);
        }
    }
    let wanted = RequestedParts { places: read, labels: false };
    let (rows, next) = match which {
        RowSelection::All => (asked.at_once(&wanted, MOST).await?.ok_or(PolicyError::TooMany)?, None),
        RowSelection::These(uids) => (asked.page(&wanted, uids.len(), None).await?.rows, None),
        RowSelection::Page { token, .. } => {
            let Page { rows, next } = asked.page(&wanted, CHUNK, token).await?;
            (rows, next)
        }
    };
    let covered = |row: FoundRow| CoveredRow {
        standing: row.standing(),
        candidate: Candidate {
            uid: row.uid().into(),
            namespace: row.get_text(base::NAMESPACE).into(),
            name: row.get_text(base::NAME).into(),
            version: row.standing().version.res_version,
            created: row.time(base::CREATE_TIME),
            since: row.time(since),
            definition: row.standing().version.ingest_version,
            takes_place: row.standing().delete_time.is_none() || rule.state == RetainedState::Deleted,
            evidence: 0,
            group: by.iter().map(|place| row.get(*place).cloned().unwrap_or(Value::Null)).collect(),
        },
    };
    let rows = rows.into_iter().map(covered).filter(|row| is_of(rule.state, row.standing)).collect();
    Ok(Portion { rows, next })
}

/// Returns true if a row is in the state of a rule. A row with an unconfirmed eviction is in none of the states: its object may still be in
/// the cluster.
pub(super) fn is_of(state: RetainedState, standing: Standing) -> bool {
    match state {
        RetainedState::Deleted => standing.version.deleted && standing.version.eviction == Eviction::None,
        RetainedState::Evicted => standing.version.eviction == Eviction::Confirmed,
    }
}
