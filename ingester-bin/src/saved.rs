//! Saved queries: the files of a folder.
//!
//! May use: arguments, ending, ingester-core, ingester-declare, ingester-store.

use crate::arguments::QueriesFolder;
use crate::ending::Failure;
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_declare::saved::SavedQueries;
use ingester_store::files;
use std::path::{Path, PathBuf};

/// The folder if none is named.
const FOLDER: &str = "queries";

/// The extension of files with queries.
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// Reads the queries of the named folder; otherwise of `queries` in the configuration's folder; otherwise of `queries` in the current
/// folder.
pub(crate) fn read(folder: &QueriesFolder, config: Option<&Path>, kinds: &[Kind]) -> Result<SavedQueries, Failure> {
    let folder = match &folder.queries {
        Some(folder) => folder.clone(),
        None => default(config)?,
    };
    let unread =
        |path: &Path, error: std::io::Error| Failure::Usage(anyhow!("cannot read {}: {error}", path.display()));
    let paths = files::in_folder(&folder, &EXTENSIONS).map_err(|error| unread(&folder, error))?;
    let file = |path: PathBuf| match files::read_text(&path) {
        Ok(text) => Ok((path.display().to_string(), text)),
        Err(error) => Err(unread(&path, error)),
    };
    let files = paths.into_iter().map(file).collect::<Result<Vec<_>, _>>()?;
    SavedQueries::parse(files, kinds).map_err(|error| Failure::Usage(anyhow!(error)))
}

/// Does the same; empty if no folder is named and neither of these exists.
pub(crate) fn read_if_any(
    folder: &QueriesFolder,
    config: Option<&Path>,
    kinds: &[Kind],
) -> Result<SavedQueries, Failure> {
    if folder.queries.is_none() && default(config).is_err() {
        return Ok(SavedQueries::default());
    }
    read(folder, config, kinds)
}

fn default(config: Option<&Path>) -> Result<PathBuf, Failure> {
    let beside = config.and_then(Path::parent).map(|folder| folder.join(FOLDER));
    let folders: Vec<PathBuf> = beside.into_iter().chain([PathBuf::from(FOLDER)]).collect();
    folders.iter().find(|folder| folder.is_dir()).cloned().ok_or_else(|| {
        let looked: Vec<String> = folders.iter().map(|folder| format!("`{}`", folder.display())).collect();
        Failure::Usage(anyhow!(
            "found no folder {}: name the folder of the saved queries with --queries",
            looked.join(" or ")
        ))
    })
}
