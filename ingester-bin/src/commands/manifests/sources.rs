//! The files that declare the kinds must be outside of the folder that the command writes.

use super::former::KINDS;
use crate::ending::Failure;
use crate::program::KindsFiles;
use anyhow::anyhow;
use ingester_store::files;
use std::path::Path;

/// Refuses sources in the folder of the written file of kinds: that file would replace one of them, or the next run would read it with them
/// and find each kind twice.
pub(super) fn ensure_elsewhere(out: &Path, sources: &KindsFiles) -> Result<(), Failure> {
    let written = out.join(KINDS);
    // There is nothing in a folder that does not exist.
    let Ok(folder) = written.canonicalize() else { return Ok(()) };
    for source in sources.files {
        let path = Path::new(&source.path);
        let named = source.named.iter().map(|(name, _)| files::folder(path).join(name));
        for path in [path.to_owned()].into_iter().chain(named) {
            if is_within(&path, &folder) {
                return Err(Failure::Usage(anyhow!(
                    "{} is a source of the kinds, and is in {}, which this command writes: name another folder with --out",
                    path.display(),
                    written.display()
                )));
            }
        }
    }
    Ok(())
}

/// Returns true if a file, or the file that a link leads to, is below a folder, whose path is canonical.
fn is_within(file: &Path, folder: &Path) -> bool {
    let parent = match file.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    [parent, file].into_iter().filter_map(|path| path.canonicalize().ok()).any(|path| path.starts_with(folder))
}
