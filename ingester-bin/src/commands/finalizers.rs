//! `ingester finalizers remove`: removes our finalizer from every object, for uninstalling.

use super::chosen;
use crate::arguments::FinalizersRemove;
use crate::ending::{Ending, Failure};
use crate::output::{Table, note, print};
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_mirror::config::Config;
use ingester_mirror::remove_finalizers;

pub(crate) async fn remove(
    arguments: &FinalizersRemove,
    config: Config,
    kinds: &'static [Kind],
) -> Result<Ending, Failure> {
    let kinds = chosen(kinds, &arguments.kinds)?;
    let client = arguments.cluster.client().await?;
    let mut table = Table::new(["kind", "objects", "removed", "failed"]);
    let mut failed = 0;
    let all = arguments.all_namespaces;
    for kind in kinds.iter().filter(|kind| all || config.ingester.has_kind(kind.kind())) {
        let namespaces: Vec<Option<&str>> = if all || config.ingester.namespaces.is_empty() || !kind.namespaced() {
            vec![None]
        } else {
            config.ingester.namespaces.iter().map(|namespace| Some(namespace.as_str())).collect()
        };
        for namespace in namespaces {
            let removal = remove_finalizers(&client, kind, namespace)
                .await
                .map_err(|error| anyhow!("cannot remove the finalizers of {}: {error}", kind.kind()))?;
            if removal.not_installed {
                continue;
            }
            removal.failed.iter().for_each(|reason| note(reason));
            failed += removal.failed.len();
            let numbers = [removal.objects, removal.removed, removal.failed.len()];
            table.row(std::iter::once(kind.kind().to_owned()).chain(numbers.iter().map(ToString::to_string)));
        }
    }
    print(&table.to_string())?;
    Ok(if failed == 0 { Ending::Done } else { Ending::Problem })
}
