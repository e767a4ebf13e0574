//! What a database may lose although it has acknowledged it, said as soon as that is the only copy of something.

use crate::ending::Failure;
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_core::schema::base;
use ingester_sql::query::{Query, States};
use ingester_store::Store;
use ingester_store::query::{Limits, Wanted};
use std::sync::Arc;
use std::time::Duration;

/// How often kinds are looked for that evict since the last time.
const AGAIN: Duration = Duration::from_secs(600);

/// Warns if the database may lose commits and objects of these kinds are evicted: their rows are the only copies. A kind evicts if it is
/// immutable, or once it has evicted rows because objects have the annotation. Each kind is warned of once. It never ends.
pub(super) async fn report(store: Arc<Store>, kinds: Vec<Kind>) {
    let mut evicting: Vec<&str> = Vec::new();
    let mut said = None;
    loop {
        // A fail-over may have led to another server.
        let risks = store.risks();
        if !risks.is_empty() {
            for kind in &kinds {
                if !evicting.contains(&kind.name()) && evicts(&store, kind).await {
                    evicting.push(kind.name());
                }
            }
            let warning = warning(&risks, &evicting);
            if said.as_ref() != Some(&warning) {
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
        tokio::time::sleep(AGAIN).await;
    }
}

/// Whether rows of a kind are the only copies of their objects, or will be.
pub(super) async fn evicts(store: &Store, kind: &Kind) -> bool {
    kind.immutable() || has_evicted(store, kind).await
}

/// Refuses kinds that prune while rows of theirs are the only copies of their objects: the fields would be gone for good.
pub(super) async fn refuse_pruning_only_copies(store: &Store, kinds: &[Kind]) -> Result<(), Failure> {
    for kind in kinds.iter().filter(|kind| !kind.prune().is_empty()) {
        if has_evicted(store, kind).await {
            return Err(Failure::Usage(anyhow!(
                "{} prunes {}, and rows of evicted objects are their only copies: restore or delete them with a program that does not prune \
                 (`ingester get {} --state evicted` lists them), or leave out `prune`",
                kind.name(),
                kind.prune().join(", "),
                kind.plural()
            )));
        }
    }
    Ok(())
}

/// What is lost by these risks; `None` while the cluster has everything.
pub(super) fn warning(risks: &[String], evicting: &[&str]) -> Option<String> {
    let (risks, kinds) = (risks.join("; "), evicting.join(", "));
    (!evicting.is_empty()).then(|| {
        format!(
            "The database may lose commits that it has acknowledged, and rows of evicted objects ({kinds}) are the only copies: {risks}; \
             see \"Evicted objects\" in docs/databases.md"
        )
    })
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

#[cfg(test)]
mod tests {
    use super::warning;

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
