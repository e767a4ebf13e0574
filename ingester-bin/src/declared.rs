//! Kinds of files: `--kinds FILE`, or `ingester.kindsFile` of the configuration.
//!
//! May use: arguments, ending, program, ingester-config, ingester-core, ingester-declare, ingester-mirror, ingester-store.

use crate::arguments;
use crate::ending::Failure;
use crate::program::{KindsFiles, KindsSource, Program};
use anyhow::anyhow;
use ingester_config::Config;
use ingester_declare::declare::{self, DeclareError, DeclaredKinds, KindsFile};
use ingester_declare::kept::kept;
use ingester_store::files;
use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};

/// The extensions of the files of kinds in a folder.
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// Returns the prefix in the files that the environment names, for `--version`. That shows nothing else, so files with mistakes count as
/// no files.
pub(crate) fn prefix_of_environment() -> Option<&'static str> {
    if !std::env::args_os().any(|argument| argument == "--version") {
        return None;
    }
    let named = std::env::var_os(arguments::KINDS).filter(|named| !named.is_empty())?;
    read(&divided(Path::new(&named))).ok()?.0.ok()?.prefix
}

/// Returns the paths that an argument names: itself if it exists, because a path may have a comma, otherwise its parts between commas.
fn divided(named: &Path) -> Vec<PathBuf> {
    match named.to_str() {
        Some(text) if !named.exists() => text.split(',').map(PathBuf::from).collect(),
        _ => vec![named.to_owned()],
    }
}

/// Returns the program with the kinds of the files that the arguments, otherwise the configuration, name; and with the names of finalizer
/// and annotations that they define together.
pub(crate) fn add(program: Program, named: &[PathBuf], config: Option<&Path>) -> Result<Program, Failure> {
    let paths = match (named, config) {
        ([], Some(config)) => Config::kinds_files(config),
        (named, _) => named.iter().flat_map(|named| divided(named)).collect(),
    };
    let mut former: Vec<&'static str> = Vec::new();
    for prefix in config.map(Config::former_prefixes).unwrap_or_default() {
        former.push(kept(prefix));
    }
    let Some(first) = paths.first() else { return program.with_marks(None, former) };
    let (declared, files) = read(&paths)?;
    let declared =
        declared.map_err(|error| Failure::Usage(anyhow!("{}", error.to_string().replace('\n', "\nerror: "))))?;
    for prefix in &declared.former_prefixes {
        if !former.contains(prefix) {
            former.push(prefix);
        }
    }
    let shown: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let shown = shown.join(", ");
    let prefix = declared.prefix.map(|prefix| (shown.as_str(), prefix));
    let name = first.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let kinds_files = KindsFiles { name: kept(name), files: kept(files) };
    Program { kinds_files: Some(kinds_files), ..program.with_declared(declared) }.with_marks(prefix, former)
}

/// The kinds that these files declare, and all that was read.
type ReadKinds = (Result<DeclaredKinds, DeclareError>, Vec<KindsSource>);

/// The files that one file of kinds names, as they were read, with their bytes.
type NamedFiles = RefCell<Vec<(String, Vec<u8>)>>;

/// Reads files of kinds, and folders with such files.
fn read(paths: &[PathBuf]) -> Result<ReadKinds, Failure> {
    let mut sources = Vec::new();
    for path in paths {
        for file in files_of(path)? {
            let text = files::read_text(&file).map_err(|error| unread(&file, &error))?;
            sources.push((file, text));
        }
    }
    let names: Vec<String> = sources.iter().map(|(file, _)| file.display().to_string()).collect();
    let named: Vec<NamedFiles> = sources.iter().map(|_| RefCell::default()).collect();
    let opens: Vec<_> = sources.iter().zip(&named).map(|((file, _), named)| open(file, named)).collect();
    let files = sources.iter().zip(&names).zip(&opens);
    let files: Vec<KindsFile<'_>> = files.map(|(((_, text), name), open)| KindsFile { name, text, open }).collect();
    let declared = declare::kinds_of(&files);
    // They borrow what is moved below.
    drop(opens);
    let sources = sources.into_iter().zip(names).zip(named);
    let sources = sources.map(|(((_, text), path), named)| KindsSource { path, text, named: named.into_inner() });
    Ok((declared, sources.collect()))
}

/// A file, or the files of a folder.
fn files_of(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let files = files::in_folder(path, &EXTENSIONS).map_err(|error| unread(path, &error))?;
    if files.is_empty() {
        return Err(Failure::Usage(anyhow!("the folder of kinds {} has no file *.yaml", path.display())));
    }
    Ok(files)
}

/// Opens the files that a file names, which are in its folder, and keeps their bytes in `named`.
fn open(file: &Path, named: &NamedFiles) -> impl Fn(&str) -> io::Result<Vec<u8>> {
    move |name| {
        let bytes = files::read(&files::folder(file).join(name))?;
        let mut named = named.borrow_mut();
        if named.iter().all(|(its, _)| its != name) {
            named.push((name.to_owned(), bytes.clone()));
        }
        Ok(bytes)
    }
}

fn unread(path: &Path, error: &io::Error) -> Failure {
    Failure::Usage(anyhow!("the file of kinds {} cannot be read: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_a_comma_is_one_path_if_it_exists() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let both = path("a,b.yaml");
        let parts = [path("a"), PathBuf::from("b.yaml")];
        assert_eq!(divided(&both), parts);
        std::fs::write(&both, "").unwrap();
        assert_eq!(divided(&both), std::slice::from_ref(&both));
        assert_eq!(divided(Path::new("-")), [PathBuf::from("-")]);
    }
}
