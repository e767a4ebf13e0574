//! What a database may lose although it has acknowledged it, said at the start where that is the only copy of something.

use ingester_core::Kind;
use ingester_core::query::{Query, States};
use ingester_core::schema::base;
use ingester_store::Store;
use ingester_store::query::{Limits, Wanted};
use std::sync::Arc;

/// Warns if the database may lose commits and objects of these kinds are evicted: their rows are the only copies. A kind evicts if it is
/// immutable, or if it has evicted rows already because objects have the annotation.
pub(super) async fn report(store: Arc<Store>, kinds: Vec<Kind>) {
    let risks = store.risks();
    if risks.is_empty() {
        return;
    }
    let mut evicting = Vec::new();
    for kind in &kinds {
        if kind.immutable() || has_evicted(&store, kind).await {
            evicting.push(kind.name());
        }
    }
    let (risks, names) = (risks.join("; "), evicting.join(", "));
    if evicting.is_empty() {
        tracing::info!(
            risks,
            "The database may lose commits that it has acknowledged; nothing is evicted yet, so the cluster has everything"
        );
    } else {
        tracing::warn!(
            kinds = names,
            risks,
            "The database may lose commits that it has acknowledged, and rows of evicted objects are the only copies: see \"Evicted \
             objects\" in docs/databases.md"
        );
    }
}

async fn has_evicted(store: &Store, kind: &Kind) -> bool {
    let query = Query { states: States::EVICTED, ..Query::default() };
    let Ok(asked) = store.ask_about(kind, &query, Limits::default()) else { return false };
    let wanted = Wanted { places: vec![base::NAME], labels: false };
    match asked.page(&wanted, 1, None).await {
        Ok(page) => !page.rows.is_empty(),
        Err(error) => {
            tracing::debug!(kind = kind.name(), %error, "Evicted rows not looked for");
            false
        }
    }
}
