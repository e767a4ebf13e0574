//! The numbers of objects of each kind in SQL, by their states: `counts` of `mirror.michelangelo.api`, one object for each kind that the
//! caller may list in all namespaces. One kind at a time is counted, by keys alone, with the limits of a list that reads a whole table.
//!
//! May use: ingester-core, ingester-sql, ingester-store, answer, namespaces, read, request, status.

use crate::answer::OwnObjects;
use crate::namespaces::{Asker, list_of};
use crate::read::{self, limits_of, refused};
use crate::request::path::OUTER_GROUP;
use crate::request::steps::Steps;
use crate::status::{Reason, Resource, Status};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use ingester_core::Kind;
use ingester_core::schema::base;
use ingester_core::value::{Micros, Value};
use ingester_sql::dialect::statements::RejectCount;
use ingester_sql::query::{Order, Query, States};
use ingester_store::query::{Limits, RequestedParts, StateCounts};
use serde_json::{Value as Json, json};
use std::time::Instant;

/// The resource, as statuses name it.
const COUNTS: Resource<'static> = Resource { group: OUTER_GROUP, plural: "counts" };

/// The most kinds and namespaces with rejects.
pub(crate) const MOST_WITH_REJECTS: usize = 10_000;

/// The number of concurrent questions about rights.
const AT_ONCE: usize = 8;

/// Returns the name of a kind's object, which is also the name of its CRD: `models.example.com`.
pub(crate) fn name(kind: &Kind) -> String {
    match kind.group() {
        "" => kind.plural().into_owned(),
        group => format!("{}.{group}", kind.plural()),
    }
}

/// Returns the counts of all kinds that the caller may list, or of the one with this name; and warnings about kinds that were not counted.
///
/// # Errors
/// 500 or 503 if the API server cannot be asked.
pub(crate) async fn list(asker: Asker<'_>, only: Option<&str>) -> Result<(OwnObjects, Vec<String>), Status> {
    let mut asking = Vec::new();
    for kind in asker.kinds {
        if only.is_none_or(|only| name(kind) == only) {
            asking.push(check_listable(asker, kind));
        }
    }
    let shown: Vec<Option<&Kind>> = stream::iter(asking).buffered(AT_ONCE).try_collect().await?;
    let _turn = read::turn(&asker.caller.user, read::Cost::Whole).await;
    let rejects = rejects(asker).await;
    let mut warnings = Vec::new();
    if let Err(status) = &rejects {
        warnings.push(format!("the rejects are not counted: {}", status.message));
    }
    let end = Instant::now() + asker.limits.time;
    let mut objects = Vec::new();
    for kind in shown.into_iter().flatten() {
        let whole = limits_of(read::Cost::Whole, asker.limits);
        let limits = whole.with_time(whole.time.min(end.saturating_duration_since(Instant::now())));
        let counted = counted(asker, kind, limits).await;
        if let Err(status) = &counted {
            warnings.push(format!("{} are not counted: {}", name(kind), status.message));
        }
        objects.push(object(kind, counted, rejects.as_deref().ok(), None));
    }
    Ok((list_objects(objects), warnings))
}

/// Returns the kind, if the caller may list all of it.
async fn check_listable<'a>(asker: Asker<'a>, kind: &'a Kind) -> Result<Option<&'a Kind>, Status> {
    Ok(asker.may_list(kind, "").await?.then_some(kind))
}

/// Returns the counts of the kind with this name, with its counts at some moments if requested.
///
/// # Errors
/// 404 for a kind that is not served, 403 if the caller may not list it in all namespaces, 504 if the database takes too long; otherwise as
/// [`list`].
pub(crate) async fn get(asker: Asker<'_>, wanted: &str, steps: Option<Steps>) -> Result<OwnObjects, Status> {
    let kind = asker.kinds.iter().find(|kind| name(kind) == wanted);
    let kind = kind.ok_or_else(|| Status::not_found(COUNTS, wanted))?;
    asker.identity.authorize(asker.caller, &list_of(kind, "")).await.map_err(|mut status| {
        if status.reason == Reason::Forbidden {
            status.message.push_str("; the counts of a kind need the right to list it in all namespaces");
        }
        status
    })?;
    if steps.is_some() && asker.states == States::LIVE {
        let why = "former objects are hidden (serve.formerObjects), and so is how many there were";
        return Err(Status::forbidden(COUNTS, wanted, why));
    }
    let moments = steps.map(|steps| steps.moments(asker.store.now())).transpose()?;
    let _turn = read::turn(&asker.caller.user, read::Cost::Whole).await;
    let limits = limits_of(read::Cost::Whole, asker.limits);
    let counted = counted(asker, kind, limits).await?;
    let past = match &moments {
        None => None,
        Some(moments) => {
            let counts = asker.store.count_states_at(kind, moments, limits.time).await;
            let counts = counts.map_err(|error| refused(error, read::resource(kind).as_resource()))?;
            Some(moments.iter().zip(counts).map(|(moment, counts)| step(*moment, counts)).collect())
        }
    };
    Ok(list_objects(vec![object(kind, Ok(counted), Some(&rejects(asker).await?), past)]))
}

/// The counts of a kind.
struct KindCounts {
    live: u64,
    /// The evicted and the deleted objects, unless they are hidden.
    former: Option<(u64, u64)>,
    last_change: Option<Micros>,
}

async fn counted(asker: Asker<'_>, kind: &Kind, limits: Limits) -> Result<KindCounts, Status> {
    let resource = read::resource(kind);
    let failed = |error| refused(error, resource.as_resource());
    let StateCounts { live, evicted, deleted } = asker.store.count_states(kind, limits.time).await.map_err(failed)?;
    if asker.states == States::LIVE {
        return Ok(KindCounts { live, former: None, last_change: None });
    }
    // The first row of a key, read in this order.
    let order = vec![Order { field: "update_time".into(), descending: true }];
    let query = Query { states: States::ALL, order, ..Query::default() };
    let asked = asker.store.ask_about(kind, &query, limits).map_err(|error| failed(error.into()))?;
    let wanted = RequestedParts { places: vec![base::UPDATE_TIME], labels: false };
    let page = asked.page(&wanted, 1, None).await.map_err(failed)?;
    let last_change = page.rows.first().and_then(|row| match row.get(base::UPDATE_TIME) {
        Some(Value::Time(time)) => Some(*time),
        _ => None,
    });
    Ok(KindCounts { live, former: Some((evicted, deleted)), last_change })
}

/// Returns the numbers of rejects by their kinds and namespaces.
async fn rejects(asker: Asker<'_>) -> Result<Vec<RejectCount>, Status> {
    let counted = asker.store.count_rejects(MOST_WITH_REJECTS, asker.limits.time).await;
    counted.map_err(|error| refused(error, Resource { group: OUTER_GROUP, plural: "rejects" }))
}

/// Returns true if a reject with this `apiVersion` and `kind` belongs to the kind: to its group, in any version.
pub(crate) fn is_of(kind: &Kind, group_ver: &str, reject: &str) -> bool {
    reject == kind.kind() && group_ver.rsplit_once('/').map_or("", |(group, _)| group) == kind.group()
}

fn step(moment: Micros, counts: StateCounts) -> Json {
    let StateCounts { live, evicted, deleted } = counts;
    json!({"time": moment.rfc3339(), "live": live, "evicted": evicted, "deleted": deleted})
}

/// Returns the object of a kind, with its cells.
fn object(
    kind: &Kind,
    counted: Result<KindCounts, Status>,
    rejects: Option<&[RejectCount]>,
    steps: Option<Vec<Json>>,
) -> (Json, Vec<Json>) {
    let mut status = match counted {
        Ok(KindCounts { live, former, last_change }) => {
            let mut status = json!({"live": live});
            if let Some((evicted, deleted)) = former {
                (status["evicted"], status["deleted"]) = (evicted.into(), deleted.into());
            }
            if let Some(last_change) = last_change {
                status["lastChange"] = last_change.rfc3339().into();
            }
            status
        }
        Err(refused) => json!({"error": refused.message}),
    };
    if let Some(rejects) = rejects {
        let of_kind = rejects.iter().filter(|reject| is_of(kind, &reject.group_ver, &reject.kind));
        status["rejects"] = of_kind.map(|reject| reject.count).sum::<u64>().into();
    }
    if let Some(steps) = steps {
        status["steps"] = steps.into();
    }
    let name = name(kind);
    let numbers = ["live", "evicted", "deleted", "rejects"].map(|field| match &status[field] {
        Json::Null => json!("?"),
        number => json!(number.to_string()),
    });
    let cells = [json!(name)].into_iter().chain(numbers).chain([status["lastChange"].clone()]).collect();
    let spec = json!({
        "group": kind.group(), "version": kind.version(), "kind": kind.kind(), "resource": kind.plural(),
    });
    let object = json!({
        "apiVersion": "mirror.michelangelo.api/v1", "kind": "Count", "metadata": {"name": name}, "spec": spec, "status": status,
    });
    (object, cells)
}

fn list_objects(objects: Vec<(Json, Vec<Json>)>) -> OwnObjects {
    OwnObjects {
        api_version: "mirror.michelangelo.api/v1",
        kind: "Count",
        columns: &[
            ("Name", "The kind: its plural and its group."),
            ("Live", "Objects in the cluster, as far as SQL knows."),
            ("Evicted", "Objects that left the cluster for SQL, or are about to."),
            ("Deleted", "Objects that were deleted, and whose rows are not purged yet."),
            ("Rejects", "Objects that could not be stored."),
            ("Last Change", "When a row was written last."),
        ],
        objects,
    }
}
