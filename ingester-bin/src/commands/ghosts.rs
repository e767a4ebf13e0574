//! `ingester ghosts`: objects that were evicted and are in the cluster again.

use super::chosen;
use crate::arguments::{Cluster, GhostsList, GhostsResolve, Side};
use crate::ending::{Ending, Failure};
use crate::output::{Table, note, show};
use crate::program::Program;
use crate::progress;
use anyhow::Context as _;
use ingester_config::Config;
use ingester_mirror::ghosts::{Ghost, ResolvableGhost, Search, SurvivingSide};
use ingester_store::files;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

pub(crate) async fn list(arguments: &GhostsList, config: Config, program: Program) -> Result<Ending, Failure> {
    let file = arguments.config.as_deref().unwrap_or(Path::new(""));
    let mut search = search(&arguments.kinds, file, &arguments.cluster, &config, program).await?;
    let mut ghosts: Vec<Ghost> = Vec::new();
    while let Some(found) = next(&mut search).await? {
        ghosts.extend(found.into_iter().map(|found| found.ghost));
    }
    show(arguments.output.output, &ghosts, || table(&ghosts))?;
    Ok(if ghosts.is_empty() { Ending::Done } else { Ending::Problem })
}

pub(crate) async fn resolve(arguments: &GhostsResolve, config: Config, program: Program) -> Result<Ending, Failure> {
    let kinds: Vec<String> = arguments.kind.iter().flat_map(|kinds| kinds.split(',')).map(str::to_owned).collect();
    let mut search = search(&kinds, &arguments.config.config, &arguments.cluster, &config, program).await?;
    let keep = match arguments.keep {
        Side::Row => SurvivingSide::Row,
        Side::Object => SurvivingSide::Object,
    };
    let is_wanted = |found: &ResolvableGhost| {
        arguments.namespace.as_ref().is_none_or(|namespace| *namespace == found.ghost.namespace)
            && (arguments.all || arguments.names.contains(&found.ghost.name))
    };
    let mut resolved = Vec::new();
    let mut failed = 0;
    while let Some(found) = next(&mut search).await? {
        let found: Vec<ResolvableGhost> = found.into_iter().filter(is_wanted).collect();
        if found.is_empty() {
            continue;
        }
        export(&arguments.export, found.iter().map(|found| found.goes(keep)))
            .with_context(|| format!("nothing more is changed: cannot write {}", arguments.export.display()))?;
        for found in found {
            let Ghost { kind, namespace, name, .. } = &found.ghost;
            match found.resolve(keep).await {
                Ok(()) => resolved.push(found.ghost),
                Err(error) => {
                    failed += 1;
                    note(&format!("{kind} {namespace}/{name}: {error}"));
                }
            }
        }
    }
    show(arguments.output.output, &resolved, || table(&resolved))?;
    if resolved.is_empty() && failed == 0 {
        note("no matching ghost; `ingester ghosts` lists them");
    } else {
        note(&format!("{} resolved; what went is in {}", resolved.len(), arguments.export.display()));
    }
    let missing = resolved.is_empty() && !arguments.all;
    Ok(if failed == 0 && !missing { Ending::Done } else { Ending::Problem })
}

async fn search(
    kinds: &[String],
    file: &Path,
    cluster: &Cluster,
    config: &Config,
    program: Program,
) -> Result<Search, Failure> {
    let kinds = chosen(program.kinds, kinds)?;
    let context = super::comparison(cluster, config, file, program).await?;
    Ok(Search::new(&context, &kinds, config))
}

async fn next(search: &mut Search) -> anyhow::Result<Option<Vec<ResolvableGhost>>> {
    let bar = progress::spinner("{spinner} {msg}");
    bar.set_message("looking for objects that were evicted");
    let found = search.next().await;
    bar.finish_and_clear();
    found.context("the search for ghosts failed")
}

/// Appends a line for each object, on disk before the command changes anything.
fn export<'a>(path: &Path, objects: impl Iterator<Item = &'a str>) -> anyhow::Result<()> {
    let path = &files::target(path)?;
    let is_new = !path.exists();
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    for object in objects {
        // The API server writes no line breaks outside of strings, where they are escaped.
        writeln!(file, "{}", object.replace(['\n', '\r'], " "))?;
    }
    file.sync_all()?;
    if is_new {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

fn table(ghosts: &[Ghost]) -> String {
    let mut table = Table::new(["kind", "namespace", "name", "row", "object", "differences"]);
    for ghost in ghosts {
        let row = if ghost.row_deleted { " (deleted)" } else { "" };
        let first = match ghost.differences.first() {
            Some(first) => format!("{}: object {}, row {}", first.what, first.wanted, first.stored),
            None => "none: it is evicted again by itself".to_owned(),
        };
        let more = match ghost.differences.len() {
            0 | 1 => String::new(),
            all => format!(" and {} more", all - 1),
        };
        table.row([
            ghost.kind.clone(),
            ghost.namespace.clone(),
            ghost.name.clone(),
            format!("{}{row}", ghost.row_version),
            ghost.object_version.to_string(),
            format!("{first}{more}"),
        ]);
    }
    table.to_string()
}
