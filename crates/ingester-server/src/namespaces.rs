//! The namespaces whose objects SQL has, as Kubernetes' `namespaces`: for each caller those in which they may list objects.
//!
//! May use: ingester-core, ingester-sql, ingester-store, caller, answer, identity, read, status.
//!
//! A search by the key of namespaces and names finds the namespaces that have objects, with one row per namespace and kind. They are cached
//! for a while.

use crate::answer::OwnObjects;
use crate::caller::{Attributes, Caller, Verb};
use crate::identity::Identity;
use crate::read::{self, limits_of, refused};
use crate::status::{Resource, Status};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use ingester_core::Kind;
use ingester_core::schema::{BASE_COLUMNS, Ident, base};
use ingester_core::value::Value;
use ingester_sql::query::{Filter, Query, States, Test};
use ingester_store::Store;
use ingester_store::query::{Limits, RequestedParts};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// The time for which the namespaces that have objects are cached.
const HOLDS: Duration = Duration::from_secs(30);

/// The most namespaces.
const MOST: usize = 1000;

/// The most questions about rights for one answer, and the number that may be concurrent.
const MOST_QUESTIONS: usize = 2000;
const AT_ONCE: usize = 8;

/// The namespaces, as statuses name them.
pub(crate) const NAMESPACES: Resource<'static> = Resource { group: "", plural: "namespaces" };

/// The question and the caller.
#[derive(Clone, Copy)]
pub(crate) struct Asker<'a> {
    /// Checks the caller's rights.
    pub(crate) identity: &'a Identity,
    /// The caller.
    pub(crate) caller: &'a Caller,
    /// The served kinds.
    pub(crate) kinds: &'static [Kind],
    /// The store of their objects.
    pub(crate) store: &'a Store,
    /// The states of objects that count.
    pub(crate) states: States,
    /// The limits of the statements.
    pub(crate) limits: Limits,
}

/// The cached namespaces that have objects.
#[derive(Default)]
pub(crate) struct KnownNamespaces(Mutex<Option<(Instant, Arc<NamespaceKinds>)>>);

/// Namespaces, each with the kinds of its objects.
#[derive(Default)]
struct NamespaceKinds {
    namespaces: BTreeMap<String, Vec<&'static Kind>>,
    /// More namespaces exist.
    is_cut: bool,
}

impl KnownNamespaces {
    /// Returns the namespaces in which the caller may list something, and a warning if some were not checked.
    ///
    /// # Errors
    /// 500, 503 and 504 if the database or the API server does not answer.
    pub(crate) async fn list(&self, asker: Asker<'_>) -> Result<(OwnObjects, Option<String>), Status> {
        let found = self.found(asker).await?;
        let mut questions = Questions { asker, asked: AtomicUsize::new(0), everywhere: Vec::new() };
        for kind in asker.kinds {
            if questions.may_list(kind, "").await? {
                questions.everywhere.push(kind.table().name);
            }
        }
        let mut asking = Vec::new();
        for (namespace, kinds) in &found.namespaces {
            asking.push(questions.check_listable(namespace, kinds));
        }
        let shown: Vec<Option<&str>> = stream::iter(asking).buffered(AT_ONCE).try_collect().await?;
        let is_cut = found.is_cut || questions.asked.into_inner() > MOST_QUESTIONS;
        let warning = is_cut
            .then(|| "the list is incomplete, because there are too many namespaces: name one with -n".to_owned());
        Ok((objects(shown.into_iter().flatten()), warning))
    }

    async fn found(&self, asker: Asker<'_>) -> Result<Arc<NamespaceKinds>, Status> {
        // Hold the lock while searching, so that concurrent callers wait for the same answer.
        let mut known = self.0.lock().await;
        if let Some((when, found)) = &*known
            && when.elapsed() < HOLDS
        {
            return Ok(found.clone());
        }
        let found = Arc::new(search(asker).await?);
        *known = Some((Instant::now(), found.clone()));
        Ok(found)
    }
}

/// The questions about the caller's rights for one answer.
struct Questions<'a> {
    asker: Asker<'a>,
    /// The number of questions so far.
    asked: AtomicUsize,
    /// The tables of the kinds that the caller may list in all namespaces.
    everywhere: Vec<Ident>,
}

impl Questions<'_> {
    async fn may_list(&self, kind: &Kind, namespace: &str) -> Result<bool, Status> {
        if self.asked.fetch_add(1, Ordering::Relaxed) >= MOST_QUESTIONS {
            return Ok(false);
        }
        self.asker.may_list(kind, namespace).await
    }

    /// Returns the namespace, if the caller may list one of these kinds in it.
    async fn check_listable<'n>(&self, namespace: &'n str, kinds: &[&'static Kind]) -> Result<Option<&'n str>, Status> {
        let mut may = kinds.iter().any(|kind| self.everywhere.contains(&kind.table().name));
        for kind in kinds {
            may = may || self.may_list(kind, namespace).await?;
        }
        Ok(may.then_some(namespace))
    }
}

/// Returns this namespace, if SQL has an object in it that the caller may list.
///
/// # Errors
/// 403 if not, even if the namespace does not exist: a caller learns nothing about the namespaces of others. kubectl requests the namespace
/// of an object that it does not find, and would report a 404 as the answer. Otherwise as [`KnownNamespaces::list`].
pub(crate) async fn get(asker: Asker<'_>, name: &str) -> Result<OwnObjects, Status> {
    for kind in asker.kinds.iter().filter(|kind| kind.namespaced()) {
        let may = asker.may_list(kind, "").await? || asker.may_list(kind, name).await?;
        let query = Query { namespaces: vec![name.to_owned()], states: asker.states, ..Query::default() };
        if may && asker.first(kind, &query).await?.is_some() {
            return Ok(objects([name]));
        }
    }
    Err(Status::forbidden(NAMESPACES, name, "SQL has no object in this namespace that you may list"))
}

/// Returns the namespaces of all kinds. Each step reads the first row after the previous namespace.
async fn search(asker: Asker<'_>) -> Result<NamespaceKinds, Status> {
    let asker = Asker { limits: limits_of(read::Cost::Whole, asker.limits), ..asker };
    let _turn = read::turn(&asker.caller.user, read::Cost::Whole).await;
    let mut found = NamespaceKinds::default();
    for kind in asker.kinds.iter().filter(|kind| kind.namespaced()) {
        let mut query = Query { states: asker.states, ..Query::default() };
        let mut seen = 0;
        while let Some(namespace) = asker.first(kind, &query).await? {
            seen += 1;
            if seen > MOST || (found.namespaces.len() >= MOST && !found.namespaces.contains_key(&namespace)) {
                found.is_cut = true;
                break;
            }
            let column = BASE_COLUMNS[base::NAMESPACE].name.as_str();
            query.filters = vec![Filter::field(column, Test::Greater(Value::text(namespace.as_str())))];
            found.namespaces.entry(namespace).or_default().push(kind);
        }
    }
    Ok(found)
}

/// The right to list a kind's objects in a namespace; in all of them if it is empty.
pub(crate) fn list_of(kind: &Kind, namespace: &str) -> Attributes {
    let everywhere = Attributes::of_all(Verb::List, kind.group(), kind.version(), &kind.plural());
    Attributes { namespace: namespace.to_owned(), ..everywhere }
}

impl Asker<'_> {
    /// Returns true if the caller may list a kind in a namespace; in all of them if it is empty.
    ///
    /// # Errors
    /// 500 or 503 if the API server cannot be asked.
    pub(crate) async fn may_list(self, kind: &Kind, namespace: &str) -> Result<bool, Status> {
        Ok(self.identity.also(self.caller, &list_of(kind, namespace)).await?.is_ok())
    }

    /// Returns the namespace of the first row.
    async fn first(self, kind: &Kind, query: &Query) -> Result<Option<String>, Status> {
        let resource = read::resource(kind);
        let failed = |error| refused(error, resource.as_resource());
        let asked = self.store.ask_about(kind, query, self.limits).map_err(|error| failed(error.into()))?;
        let wanted = RequestedParts { places: vec![base::NAMESPACE], labels: false };
        let page = asked.page(&wanted, 1, None).await.map_err(failed)?;
        Ok(page.rows.first().map(|row| row.get_text(base::NAMESPACE).to_owned()))
    }
}

/// Returns the namespaces with these names.
pub(crate) fn objects<'n>(names: impl IntoIterator<Item = &'n str>) -> OwnObjects {
    let object = |name| {
        let status = json!({"phase": "Active"});
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "status": status});
        (object, vec![json!(name), json!("Active")])
    };
    OwnObjects {
        api_version: "v1",
        kind: "Namespace",
        columns: &[("Name", "The namespace."), ("Status", "Active: SQL has objects of it.")],
        objects: names.into_iter().map(object).collect(),
    }
}
