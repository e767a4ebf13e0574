//! `ingester finalizers remove`: removes our finalizer from every object, for uninstalling.

use super::chosen;
use crate::arguments::FinalizersRemove;
use crate::ending::{Ending, Failure};
use crate::output::{Table, note, show};
use crate::progress;
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_mirror::config::Config;
use ingester_mirror::remove_finalizers;
use serde::Serialize;

pub(crate) async fn remove(
    arguments: &FinalizersRemove,
    config: Config,
    kinds: &'static [Kind],
) -> Result<Ending, Failure> {
    let kinds = chosen(kinds, &arguments.kinds)?;
    let client = arguments.cluster.client().await?;
    let bar = progress::spinner("{spinner} {msg}");
    let (mut lines, mut failed) = (Vec::new(), 0);
    let all = arguments.all_namespaces;
    for kind in kinds.iter().filter(|kind| all || config.ingester.has_kind(kind.name())) {
        let namespaces: Vec<Option<&str>> = if all || config.ingester.namespaces.is_empty() || !kind.namespaced() {
            vec![None]
        } else {
            config.ingester.namespaces.iter().map(|namespace| Some(namespace.as_str())).collect()
        };
        for namespace in namespaces {
            let within = namespace.map(|namespace| format!(" in namespace {namespace}")).unwrap_or_default();
            bar.set_message(format!("{}{within}", kind.name()));
            let removal = remove_finalizers(&client, kind, namespace).await.map_err(|error| {
                let error = anyhow!("cannot remove the finalizers of {}: {error}", kind.name());
                // Of the first kind, nothing could be tried.
                if lines.is_empty() { Failure::Usage(error) } else { Failure::Work(error) }
            })?;
            if removal.not_installed {
                continue;
            }
            removal.failed.iter().for_each(|reason| bar.suspend(|| note(reason)));
            failed += removal.failed.len();
            lines.push(Line {
                kind: kind.name(),
                namespace,
                objects: removal.objects,
                removed: removal.removed,
                failed: removal.failed.len(),
            });
        }
    }
    bar.finish_and_clear();
    show(arguments.output.output, &lines, || table(&lines))?;
    Ok(if failed == 0 { Ending::Done } else { Ending::Problem })
}

/// What was done with the objects of a kind.
#[derive(Serialize)]
struct Line<'a> {
    kind: &'a str,
    /// Where, if it was not everywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'a str>,
    objects: usize,
    removed: usize,
    failed: usize,
}

fn table(lines: &[Line<'_>]) -> String {
    let mut table = Table::new(["kind", "objects", "removed", "failed"]);
    for line in lines {
        let numbers = [line.objects, line.removed, line.failed];
        table.row(std::iter::once(line.kind.to_owned()).chain(numbers.iter().map(ToString::to_string)));
    }
    table.to_string()
}
