//! Warns about commits that a database may lose although it acknowledged them, as soon as a row is an only copy.

use crate::ending::Failure;
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_core::schema::base;
use ingester_sql::query::{Query, States};
use ingester_store::Store;
use ingester_store::query::{AskError, Limits, RequestedParts};
use std::sync::Arc;
use std::time::Duration;

/// The interval between looks for kinds that have begun to evict.
const AGAIN: Duration = Duration::from_secs(600);

/// The pause before the next look if the database did not answer.
const SOON: Duration = Duration::from_secs(30);

/// Warns if the database may lose commits and objects of these kinds are evicted: their rows are the only copies. A kind evicts if it is
/// immutable, or once it has evicted rows because objects have the annotation. There is one warning for each kind. This never returns.
pub(super) async fn report(store: Arc<Store>, kinds: Vec<Kind>) {
    let mut evicting: Vec<&str> = Vec::new();
    let mut said = None;
    loop {
        // A fail-over may have led to another server.
        let risks = store.risks();
        let mut is_known = true;
        if !risks.is_empty() {
            for kind in &kinds {
                if evicting.contains(&kind.name()) {
                    continue;
                }
                match evicts(&store, kind).await {
                    Ok(true) => evicting.push(kind.name()),
                    Ok(false) => {}
                    Err(error) => {
                        is_known = false;
                        tracing::debug!(kind = kind.name(), %error, "Cannot look for evicted rows, trying again");
                    }
                }
            }
            let warning = warning(&risks, &evicting);
            // Report the absence of evictions only if all kinds answered.
            if said.as_ref() != Some(&warning) && (is_known || warning.is_some()) {
                match &warning {
                    Some(warning) => tracing::warn!("{warning}"),
                    None => tracing::info!(
                        risks = risks.join("; "),
                        "The database may lose commits that it has acknowledged; nothing is evicted yet, so the cluster has everything"
                    ),
                }
                said = Some(warning);
            }
        }
        tokio::time::sleep(if is_known { AGAIN } else { SOON }).await;
    }
}

/// Returns true if rows of a kind are, or will be, the only copies of their objects.
pub(super) async fn evicts(store: &Store, kind: &Kind) -> Result<bool, AskError> {
    Ok(kind.immutable() || has_evicted(store, kind).await?)
}

/// Returns the reason why these kinds must not prune, if one does and its rows are the only copies of their objects: the fields would be
/// lost for good. After an error this is unknown: then no row may be written.
pub(super) async fn refused_pruning(store: &Store, kinds: &[Kind]) -> Result<Option<Failure>, AskError> {
    for kind in kinds.iter().filter(|kind| !kind.prune().is_empty()) {
        if has_evicted(store, kind).await? {
            return Ok(Some(Failure::Usage(anyhow!(
                "{} prunes {}, and rows of evicted objects are their only copies: restore or delete them with a program that does not prune \
                 (`ingester get {} --state evicted` lists them), or leave out `prune`",
                kind.name(),
                kind.prune().join(", "),
                kind.plural()
            ))));
        }
    }
    Ok(None)
}

/// Returns the warning about the objects that these risks may lose; `None` while the cluster has everything.
pub(super) fn warning(risks: &[String], evicting: &[&str]) -> Option<String> {
    let risks = risks.join("; ");
    let kinds = evicting.join(", ");
    (!evicting.is_empty()).then(|| {
        format!(
            "The database may lose commits that it has acknowledged, and rows of evicted objects ({kinds}) are the only copies: {risks}; \
             see \"Evicted objects\" in docs/databases.md"
        )
    })
}

async fn has_evicted(store: &Store, kind: &Kind) -> Result<bool, AskError> {
    let query = Query { states: States::EVICTED, ..Query::default() };
    let wanted = RequestedParts { places: vec![base::NAME], labels: false };
    let page = store.ask_about(kind, &query, Limits::default())?.page(&wanted, 1, None).await?;
    Ok(!page.rows.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{refused_pruning, warning};
    use crate::ending::Failure;
    use ingester_core::object::{ManagedFields, Object};
    use ingester_core::value::Micros;
    use ingester_declare::declare::kinds;
    use ingester_store::migrate::AllowedChanges;
    use ingester_store::{ConnectOptions, RowChange, Store};
    use serde_json::json;

    #[tokio::test]
    async fn a_kind_prunes_only_once_it_is_known_that_nothing_of_it_is_evicted() {
        let text = "kinds:\n- group: example.com\n  version: v1\n  kind: Job\n  namespaced: true\n  evictable: false\n  prune: [.spec.secret]\n";
        let file = kinds("kinds.yaml", text, &|_| Err(std::io::ErrorKind::NotFound.into())).unwrap();
        let kind = file.kinds[0];
        let store = Store::connect(&"sqlite::memory:".parse().unwrap(), ConnectOptions::default()).await.unwrap();
        // Without the kind's table, there is no answer.
        assert!(refused_pruning(&store, &[kind]).await.is_err());
        store.make_declared(&[kind], AllowedChanges::Add).await.unwrap();
        assert!(matches!(refused_pruning(&store, &[kind]).await, Ok(None)));
        let metadata = json!({ "name": "a", "uid": "u", "resourceVersion": "1" });
        let object = json!({ "apiVersion": "example.com/v1", "kind": "Job", "metadata": metadata });
        let object = Object::parse(object.to_string(), ManagedFields::Keep).unwrap();
        let mut row = kind.row(&object).unwrap().unwrap();
        (row.evict_time, row.evict_confirmed) = (Some(Micros(1)), true);
        store.write(kind.table(), vec![RowChange::Row(row)]).await.unwrap();
        assert!(matches!(refused_pruning(&store, &[kind]).await, Ok(Some(Failure::Usage(_)))));
    }

    #[test]
    fn a_database_that_may_lose_commits_is_warned_of_once_objects_are_evicted() {
        let risks = ["sync_binlog=0: a crash".to_owned(), "no semi-synchronous replication: a fail-over".to_owned()];
        assert_eq!(warning(&risks, &[]), None);
        let said = warning(&risks, &["Model", "Revision"]).unwrap();
        for part in ["(Model, Revision) are the only copies", "sync_binlog=0", "semi-synchronous", "docs/databases.md"]
        {
            assert!(said.contains(part), "{said}");
        }
    }
}
