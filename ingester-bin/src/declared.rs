//! Kinds of a file: `--kinds FILE`, or `ingester.kindsFile` of the configuration.
//!
//! May use: arguments, ending, program, ingester-config, ingester-core, ingester-declare, ingester-mirror, ingester-store.

use crate::arguments;
use crate::ending::Failure;
use crate::program::{KindsFile, Program};
use anyhow::anyhow;
use ingester_config::Config;
use ingester_declare::declare;
use ingester_declare::kept::kept;
use ingester_store::files;
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// Returns the prefix in the file that the environment names, for `--version`. That shows nothing else, so a file with mistakes counts as
/// no file.
pub(crate) fn prefix_of_environment() -> Option<&'static str> {
    if !std::env::args_os().any(|argument| argument == "--version") {
        return None;
    }
    let file = std::env::var_os(arguments::KINDS).filter(|file| !file.is_empty()).map(PathBuf::from)?;
    let text = files::read_text(&file).ok()?;
    let folder = files::folder(&file);
    declare::kinds("", &text, &|name| files::read(&folder.join(name))).ok()?.prefix
}

/// Returns the program with the kinds of the file that the arguments, otherwise the configuration, name; and with the names of finalizer
/// and annotations that they define together.
pub(crate) fn add(program: Program, named: Option<&Path>, config: Option<&Path>) -> Result<Program, Failure> {
    let file: Option<PathBuf> = named.map(Path::to_path_buf).or_else(|| config.and_then(Config::kinds_file));
    let mut former: Vec<&'static str> = Vec::new();
    for prefix in config.map(Config::former_prefixes).unwrap_or_default() {
        former.push(kept(prefix));
    }
    let Some(file) = file else { return program.with_marks(None, former) };
    let text = files::read_text(&file)
        .map_err(|error| Failure::Usage(anyhow!("the file of kinds {} cannot be read: {error}", file.display())))?;
    // Files that a file names are in its folder.
    let folder = files::folder(&file);
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let read = RefCell::new(vec![(name.clone(), text.clone().into_bytes())]);
    let open = |name: &str| {
        let bytes = files::read(&folder.join(name))?;
        let mut read = read.borrow_mut();
        if read.iter().all(|(its, _)| its != name) {
            read.push((name.to_owned(), bytes.clone()));
        }
        Ok(bytes)
    };
    match declare::kinds(&file.display().to_string(), &text, &open) {
        Ok(declared) => {
            let shown = file.display().to_string();
            let prefix = declared.prefix.map(|prefix| (shown.as_str(), prefix));
            for prefix in &declared.former_prefixes {
                if !former.contains(prefix) {
                    former.push(prefix);
                }
            }
            let kinds_file = KindsFile { name: kept(name), files: kept(read.into_inner()) };
            Program { kinds_file: Some(kinds_file), ..program.with_declared(declared) }.with_marks(prefix, former)
        }
        Err(error) => Err(Failure::Usage(anyhow!("{}", error.to_string().replace('\n', "\nerror: ")))),
    }
}
