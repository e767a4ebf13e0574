//! `ingester finalizers remove`: removes our finalizer from every object, for uninstalling.

use super::chosen;
use super::start::failure;
use crate::arguments::FinalizersRemove;
use crate::database::Database;
use crate::ending::{Ending, Failure};
use crate::output::{Table, note, show};
use crate::program::Program;
use crate::progress;
use anyhow::anyhow;
use ingester_config::Config;
use ingester_core::marks::{Mark, Marks};
use ingester_mirror::identity::{Names, identify, release_prefix};
use ingester_mirror::remove_finalizers;
use ingester_store::ConnectOptions;
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// The time limit for the database.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) async fn remove(arguments: &FinalizersRemove, config: Config, program: Program) -> Result<Ending, Failure> {
    let kinds = chosen(program.kinds, &arguments.kinds)?;
    let client = arguments.cluster.client().await?;
    let bar = progress::spinner("{spinner} {msg}");
    let mut lines = Vec::new();
    let mut failed = 0;
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
                // For the first kind, no attempt was possible.
                if lines.is_empty() { Failure::Usage(error) } else { Failure::Work(error) }
            })?;
            if removal.not_installed {
                continue;
            }
            removal.failed.iter().for_each(|reason| bar.suspend(|| note(reason)));
            failed += removal.failed.len();
            lines.push(FinalizerLine {
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
    let everywhere = all || (config.ingester.namespaces.is_empty() && config.ingester.kinds.is_empty());
    if failed == 0 && everywhere && arguments.kinds.is_empty() {
        release(&client, &config, &arguments.config.config, program.marks).await;
    }
    Ok(if failed == 0 { Ending::Done } else { Ending::Problem })
}

/// Removes the record that the database's objects have our finalizer. The database need not exist: uninstalling continues without it.
async fn release(client: &kube::Client, config: &Config, file: &Path, marks: &Marks) {
    let Ok(database) = Database::from_config(config, file) else { return };
    let released = async {
        let store = database.open_with(ConnectOptions::default().create(false)).await?;
        identify(client, &store, Names::Checked).await.map_err(failure)?;
        Ok::<_, Failure>(release_prefix(&store, marks).await?)
    };
    let still = "it still records the prefix of this finalizer";
    match tokio::time::timeout(PATIENCE, released).await {
        Ok(Ok(None)) => {}
        Ok(Ok(Some(other))) => note(&format!(
            "removed was {}; {database} is recorded with the prefix `{other}`, whose finalizer objects keep",
            marks.name(Mark::Finalizer)
        )),
        Ok(Err(Failure::Usage(error) | Failure::Work(error))) => note(&format!("{database}: {still}: {error}")),
        Err(_) => note(&format!("{database}: {still}: it does not answer")),
    }
}

/// The result for the objects of a kind.
#[derive(Serialize)]
struct FinalizerLine<'a> {
    kind: &'a str,
    /// The namespace, if not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'a str>,
    objects: usize,
    removed: usize,
    failed: usize,
}

fn table(lines: &[FinalizerLine<'_>]) -> String {
    let mut table = Table::new(["kind", "objects", "removed", "failed"]);
    for line in lines {
        let numbers = [line.objects, line.removed, line.failed];
        table.row(std::iter::once(line.kind.to_owned()).chain(numbers.iter().map(ToString::to_string)));
    }
    table.to_string()
}
