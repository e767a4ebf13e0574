//! Restores a former version of an evicted object: the content, labels and annotations of that time, with a version later than the present
//! one. The fields that the API server set stay, and so do the annotations that hold the object in SQL.

use super::{WriteTarget, check, done, failed, json_of, row, text};
use crate::answer::ShownState;
use crate::status::Status;
use ingester_core::json::from_str;
use ingester_store::query::metadata;
use ingester_store::{ChangeResult, Effect, Store, StoredRow};
use serde_json::Value;

/// Returns the text of the object after the change, and true if a change was needed.
///
/// # Errors
/// [`Status`]: 404, 405 for a live object, 409 for an object that is leaving the cluster, 422 for content that cannot be stored, 500.
pub(crate) async fn to_version(
    store: &Store,
    target: WriteTarget<'_>,
    uid: &str,
    version: &str,
    effect: Effect,
) -> Result<(String, bool), Status> {
    let edit = |stored: &StoredRow| {
        // Do not use serde_json here, because it reads some doubles as their neighbours.
        let object = |text: &str| from_str::<Value>(text).map_err(Status::internal);
        let pairs = check::pairs_of_version(target.kind, &object(json_of(stored))?, &object(version)?);
        let of = |number: u64| {
            let now = text::rewritten(json_of(stored), number, &pairs).map_err(Status::internal)?;
            let parts = metadata(&now).zip(metadata(version));
            let ((_, now), (from, then)) = parts.ok_or_else(|| Status::internal("the version has no metadata"))?;
            Ok::<_, Status>([&version[..from], now, &version[from + then.len()..]].concat())
        };
        if object(&of(stored.res_version)?)? == object(json_of(stored))? {
            return Ok(None);
        }
        let next = stored.res_version.checked_add(1);
        row(target.kind, stored, of(next.ok_or_else(|| Status::internal("there is no higher resourceVersion"))?)?)
            .map(Some)
    };
    let changed = store.change_evicted(target.kind, uid, effect, edit).await.map_err(failed)?;
    let (text, evicted, is_changed) = match changed {
        ChangeResult::Unchanged(stored) => (json_of(&stored).to_owned(), stored.evict_time, false),
        changed => {
            let row = done(target, changed)?;
            (super::text_of(&row.values).to_owned(), row.evict_time, true)
        }
    };
    Ok((ShownState::evicted(evicted).object(&text).into_owned(), is_changed))
}
