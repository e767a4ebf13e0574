//! The query of a rule, and its snapshot of rows.

use super::Candidate;
use crate::cluster::ApiError;
use ingester_config::{Condition, EvictionRule};
use ingester_core::Kind;
use ingester_core::schema::{Fault, base, check_evict_namespaces, check_evict_since, check_evictable};
use ingester_core::value::Value;
use ingester_sql::query::{
    CheckedQuery, Query, QueryError, Reads, SelectorError, States, check_rule, fields_without_value,
};
use ingester_store::query::{AskError, FoundRow, RequestedParts, STANDING_PLACES};
use ingester_store::{Premise, Store, StoreError};
use std::collections::HashSet;

/// How many rows are read at a time with their texts.
const CHUNK: usize = 256;

/// The most candidates that are judged at once.
pub(crate) const MOST: usize = 200_000;

/// Why a rule cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// A field has no column, or a value is not of its column's type.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The rule does not fit its kind, or the configuration asks for more than it may.
    #[error("{0}")]
    Rule(String),
    /// A selector of a struct is not valid.
    #[error(transparent)]
    Selector(#[from] SelectorError),
    /// The namespaces with certain labels cannot be listed.
    #[error("`namespaceSelector`: {0}")]
    Namespaces(#[from] ApiError),
    /// There are too many candidates for one snapshot.
    #[error("more than {MOST} objects meet `when`: narrow the rule by its selectors or namespaces")]
    TooMany,
    /// The database failed, or took too long.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns the query of a rule about its kind.
pub(super) fn query(Condition { when, namespaces, .. }: &Condition) -> Query {
    Query { namespaces: namespaces.clone(), states: States::LIVE, filters: when.clone(), ..Query::default() }
}

/// Returns the indexes of the columns that a rule reads: the time of `after`, and the columns of the groups. Rules about objects and about
/// rows get their columns only from here, so a rule with a mistake in its conditions is not judged.
pub(crate) fn places(condition: &Condition, checked: &CheckedQuery) -> Result<(usize, Vec<usize>), PolicyError> {
    check_rule(checked.table(), &condition.when)?;
    let since = checked.place(condition.since())?;
    refuse(check_evict_since(checked.table(), condition.since()))?;
    let by = condition.keep_last.iter().flat_map(|keep| &keep.by).map(|field| checked.place(field));
    Ok((since, by.collect::<Result<_, _>>()?))
}

fn refuse(fault: Option<Fault<'_>>) -> Result<(), PolicyError> {
    fault.map_or(Ok(()), |fault| Err(PolicyError::Rule(fault.to_string())))
}

/// Checks that the rule can be judged about objects of this kind.
///
/// # Errors
/// Names the field or the key that is wrong.
pub fn check(kind: &Kind, EvictionRule { condition, .. }: &EvictionRule) -> Result<(), PolicyError> {
    refuse(check_evictable(kind.immutable(), kind.definition().evictable))?;
    if !condition.namespaces.is_empty() || condition.namespace_selector.is_some() {
        refuse(check_evict_namespaces(kind.namespaced()))?;
    }
    places(condition, &query(condition).check(kind.table())?).map(drop)
}

/// Returns a warning if the rule of this name can be judged, but also covers objects, or rows, without a value in some field.
pub fn doubt(kind: &Kind, rule: &str, condition: &Condition) -> Option<String> {
    let fields = fields_without_value(kind.table(), &condition.when);
    if fields.is_empty() {
        return None;
    }
    let [named, remedy] = ["`{}`", "`{}!=`"].map(|form| {
        let fields: Vec<String> = fields.iter().map(|field| form.replace("{}", field)).collect();
        fields.join(" and ")
    });
    Some(format!(
        "the rule `{rule}` of {}: `!=` and `notin` also hold where {named} has no value; if such objects are not meant, add {remedy}",
        kind.name()
    ))
}

/// Adds the parts of rows that a rule reads.
pub(crate) fn add_reads(reads: &mut Reads, condition: &Condition, checked: &CheckedQuery) -> Result<(), PolicyError> {
    let (since, by) = places(condition, checked)?;
    reads.add_query(checked);
    // `keepLast` orders the objects of a group by this column.
    let order = condition.keep_last.as_ref().map(|_| base::CREATE_TIME);
    by.into_iter().chain([since]).chain(order).for_each(|place| reads.add_place(place));
    Ok(())
}

/// Returns the premise that live rows must meet before these rules of their kind are judged for them.
pub(crate) async fn premise(store: &Store, kind: &Kind, rules: &[EvictionRule]) -> Result<Premise, PolicyError> {
    let mut reads = Reads::default();
    for EvictionRule { condition, .. } in rules {
        add_reads(&mut reads, condition, &query(condition).check(kind.table())?)?;
    }
    Ok(store.premise(kind, reads).await?)
}

/// Returns the number of live rows in a rule's namespaces that the premise excludes because of the definition that wrote them.
pub(crate) async fn pending(
    store: &Store,
    kind: &Kind,
    condition: &Condition,
    premise: &Premise,
) -> Result<u64, PolicyError> {
    let mut query = query(&Condition { when: Vec::new(), ..condition.clone() });
    query.filters.extend(premise.refused());
    Ok(store.ask_about(kind, &query, store.limits())?.count().await?)
}

/// Returns the uids whose rows do not prove the values that rules read from them.
pub(crate) async fn unproved(
    store: &Store,
    kind: &Kind,
    uids: &[Box<str>],
    premise: &Premise,
) -> Result<HashSet<Box<str>>, PolicyError> {
    let mut unproved = HashSet::new();
    for uids in uids.chunks(CHUNK) {
        let uids: Vec<&str> = uids.iter().map(AsRef::as_ref).collect();
        let rows = store.read_stored(kind.table(), &uids).await?;
        unproved.extend(rows.into_iter().filter(|row| premise.prove(kind, row).is_err()).map(|row| row.uid));
    }
    Ok(unproved)
}

/// Returns all candidates of a rule, read at one point in time.
pub(crate) async fn candidates(
    store: &Store,
    kind: &Kind,
    condition: &Condition,
) -> Result<Vec<Candidate>, PolicyError> {
    candidates_of(store, kind, condition, query(condition)).await
}

/// Returns the rows of this query as candidates of a rule, read at one point in time.
pub(super) async fn candidates_of(
    store: &Store,
    kind: &Kind,
    condition: &Condition,
    query: Query,
) -> Result<Vec<Candidate>, PolicyError> {
    let asked = store.ask_about(kind, &query, store.limits())?;
    let (since, by) = places(condition, asked.checked())?;
    let mut read = vec![base::NAMESPACE, base::NAME, base::CREATE_TIME];
    read.extend(STANDING_PLACES);
    for place in by.iter().chain([&since]) {
        if !read.contains(place) {
            read.push(*place);
        }
    }
    let wanted = RequestedParts { places: read, labels: false };
    let rows = asked.at_once(&wanted, MOST).await?.ok_or(PolicyError::TooMany)?;
    let candidate = |row: FoundRow| Candidate {
        uid: row.uid().into(),
        namespace: row.get_text(base::NAMESPACE).into(),
        name: row.get_text(base::NAME).into(),
        version: row.standing().version.res_version,
        created: row.time(base::CREATE_TIME),
        since: row.time(since),
        definition: row.standing().version.ingest_version,
        takes_place: true,
        evidence: 0,
        group: by.iter().map(|place| row.get(*place).cloned().unwrap_or(Value::Null)).collect(),
    };
    Ok(rows.into_iter().map(candidate).collect())
}
