//! Files that an earlier run wrote into the folder, and that are no part of the manifests any more.

use super::{BASE, ManifestFile};
use crate::output::note;
use std::collections::BTreeSet;
use std::path::Path;

/// The folder of the file of kinds and of the files that it names. Release 0.2.0 also copied CRDs there.
pub(super) const KINDS: &str = "kinds";

/// Names the files that an earlier run left. They are not removed: they may be the only copy of what the user wrote into them.
pub(super) fn report_left(out: &Path, written: &[ManifestFile]) {
    let written: BTreeSet<&str> = written.iter().map(|(name, _)| name.as_str()).collect();
    let ours = BASE.iter().map(|(name, _)| (*name).to_owned()).chain(["admission.yaml".to_owned()]);
    let mut left: Vec<String> = ours.filter(|name| out.join(name).exists()).collect();
    add_files(out, KINDS, &mut left);
    left.retain(|name| !written.contains(name.as_str()));
    if !left.is_empty() {
        let passwords = match left.iter().any(|name| name == "configmap.yaml") {
            true => ". Release 0.2.0 copied passwords of a configuration into configmap.yaml",
            false => "",
        };
        let left: Vec<String> = left.iter().map(|name| out.join(name).display().to_string()).collect();
        note(&format!(
            "left from an earlier run, and no part of kustomization.yaml: {}; remove them{passwords}",
            left.join(", ")
        ));
    }
}

/// Adds the files below a folder, by their names from `out`. A folder that cannot be read has nothing to report.
fn add_files(out: &Path, folder: &str, found: &mut Vec<String>) {
    let Ok(entries) = out.join(folder).read_dir() else { return };
    let mut names: Vec<(String, bool)> = entries
        .flatten()
        .map(|entry| {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            (format!("{folder}/{}", entry.file_name().to_string_lossy()), is_folder)
        })
        .collect();
    names.sort();
    for (name, is_folder) in names {
        match is_folder {
            true => add_files(out, &name, found),
            false => found.push(name),
        }
    }
}
