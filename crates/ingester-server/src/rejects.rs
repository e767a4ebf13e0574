//! The objects that could not be stored, with the reasons: `rejects` of `mirror.michelangelo.api`. A caller sees the rejects of the kinds
//! and namespaces in which they may list objects. Where former objects may be hidden, they see only the rejects of kinds that they may list
//! in all namespaces.
//!
//! May use: ingester-core, ingester-sql, ingester-store, answer, counts, namespaces, read, request, status.

use crate::answer::OwnObjects;
use crate::counts::{MOST_WITH_REJECTS, is_of};
use crate::namespaces::Asker;
use crate::read::{self, refused};
use crate::request::path::OUTER_GROUP;
use crate::status::{Resource, Status};
use ingester_core::Kind;
use ingester_sql::dialect::GroupFilter;
use ingester_sql::dialect::statements::{KindRejects, RecordedReject, RejectsOf};
use ingester_sql::query::States;
use ingester_store::query::AskError;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

/// The most rejects of an answer.
const MOST: usize = 1000;

/// The most namespaces per kind with rejects for which the API server is asked about a caller's rights.
const MOST_NAMESPACES: usize = 200;

/// The resource, as statuses name it.
pub(crate) const REJECTS: Resource<'static> = Resource { group: OUTER_GROUP, plural: "rejects" };

/// Returns the rejects that the caller may see, or only the one with this uid; and a warning if there are more.
///
/// # Errors
/// 504 if the database takes too long; 500 or 503 if it fails, or the API server cannot be asked.
pub(crate) async fn list(asker: Asker<'_>, uid: Option<&str>) -> Result<(OwnObjects, Option<String>), Status> {
    let failed = |error: AskError| refused(error, REJECTS);
    let _turn = read::turn(&asker.caller.user, read::Cost::Keyed).await;
    let uids: Vec<&str> = uid.into_iter().collect();
    let mut found = Vec::new();
    let VisibleKinds { kinds, is_cut } = visible(asker).await?;
    for (kind, namespaces) in kinds {
        let kinds = [KindRejects { kind: kind.kind(), group: Some(GroupFilter::new(kind.group())) }];
        let namespaces: Vec<&str> = namespaces.iter().flatten().map(String::as_str).collect();
        let of = RejectsOf { kinds: &kinds, namespaces: &namespaces, uids: &uids };
        // One more shows whether there are more.
        let left = (MOST + 1).saturating_sub(found.len());
        if left == 0 {
            break;
        }
        found.extend(asker.store.list_rejects(of, left, asker.limits.time).await.map_err(failed)?);
    }
    let more = is_cut || found.len() > MOST;
    found.truncate(MOST);
    let warning =
        more.then(|| format!("there are more rejects than these {}: `ingester rejects` lists all", found.len()));
    Ok((objects(&found), warning))
}

/// The rejects that a caller may see.
struct VisibleKinds<'a> {
    /// The kinds, each with the namespaces; `None` for all of them.
    kinds: Vec<(&'a Kind, Option<Vec<String>>)>,
    /// There are more namespaces with rejects than the API server was asked about.
    is_cut: bool,
}

async fn visible(asker: Asker<'_>) -> Result<VisibleKinds<'_>, Status> {
    let counted = asker.store.count_rejects(MOST_WITH_REJECTS, asker.limits.time).await;
    let counted = counted.map_err(|error| refused(error, REJECTS))?;
    let mut visible = VisibleKinds { kinds: Vec::new(), is_cut: counted.len() == MOST_WITH_REJECTS };
    for kind in asker.kinds {
        let of_kind = counted.iter().filter(|reject| is_of(kind, &reject.group_ver, &reject.kind));
        let namespaces: BTreeSet<&str> = of_kind.map(|reject| reject.namespace.as_str()).collect();
        if namespaces.is_empty() {
            continue;
        }
        if asker.may_list(kind, "").await? {
            visible.kinds.push((kind, None));
            continue;
        }
        // A namespace's former tenant may have left some of them.
        if asker.states != States::ALL {
            continue;
        }
        visible.is_cut |= namespaces.len() > MOST_NAMESPACES;
        let mut allowed = Vec::new();
        for namespace in namespaces.into_iter().filter(|namespace| !namespace.is_empty()).take(MOST_NAMESPACES) {
            if asker.may_list(kind, namespace).await? {
                allowed.push(namespace.to_owned());
            }
        }
        if !allowed.is_empty() {
            visible.kinds.push((kind, Some(allowed)));
        }
    }
    Ok(visible)
}

fn objects(rejects: &[RecordedReject]) -> OwnObjects {
    let object = |reject: &RecordedReject| {
        let RecordedReject { uid, group_ver, kind, namespace, name, res_version, reason, reject_time } = reject;
        let time = reject_time.rfc3339();
        let spec = json!({
            "apiVersion": group_ver, "kind": kind, "namespace": namespace, "name": name, "uid": uid,
            "resourceVersion": res_version, "reason": reason, "time": time,
        });
        let object = json!({
            "apiVersion": "mirror.michelangelo.api/v1", "kind": "Reject", "metadata": {"name": uid}, "spec": spec,
        });
        let cells: Vec<Json> = [uid, kind, namespace, name, &time, reason].map(|text| json!(text)).into();
        (object, cells)
    };
    OwnObjects {
        api_version: "mirror.michelangelo.api/v1",
        kind: "Reject",
        columns: &[
            ("Name", "The object's uid, by which the reject is recorded."),
            ("Kind", "The object's kind."),
            ("Namespace", "The object's namespace."),
            ("Object", "The object's name."),
            ("Time", "When it was rejected last."),
            ("Reason", "Why it could not be stored."),
        ],
        objects: rejects.iter().map(object).collect(),
    }
}
