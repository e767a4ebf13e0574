//! Kinds that a file declares: YAML in place of an annotated struct.
//!
//! ```yaml
//! kinds:
//! - group: training.kubedl.io
//!   version: v1alpha1
//!   kind: TFJob
//!   columns:
//!   - {column: status, path: '.status.conditions[-1].type', type: VARCHAR(32), default: Created}
//! ```
//!
//! A declared kind is a [`Kind`] like any other: only [`Decode`](ingester_core::kind::Decode) knows that no struct describes it.
//!
//! | file | what it has |
//! |---|---|
//! | `path.rs` | paths: text as people write it, and as data |
//! | `recipe.rs` | all paths of a kind, joined into one tree |
//! | `read.rs` | one pass over an object's text that gives all values |
//! | `files.rs` | files as kinds and views, with all their mistakes |
//! | `kinds.rs` | a kind of a file |
//! | `column.rs` | a column of a kind |
//! | `rules.rs` | the rules of a kind by which objects may leave etcd |
//! | `views.rs` | views over these kinds |
//! | `table.rs` | the checks of a table that constant evaluation does for structs |
//! | `filter.rs` | conditions of a filter, and what a CRD says against them |
//! | `crd.rs` | which type a column has by the schema of a CRD |
//! | `spelled.rs` | kinds as a file spells them |
//! | `json_path.rs`, `propose.rs` | printer columns and fields of a CRD as columns |
//! | `open_api.rs` | a built-in type of an API server as a CRD |
//! | `keywords.rs` | words that SQL reserves |
//! | `resolved.rs` | a file of kinds that needs no CRD, with the types that the CRDs gave |
//! | `scaffold.rs`, `scaffold_rust.rs` | a first file of kinds, or a first struct, out of a CRD; a struct of a kind of a file |
//!
//! May use: ingester-core, ingester-printers, ingester-sql, documents, evict, kept, text, yaml.
//! Must not: open files; the caller passes what it has read.

mod column;
mod crd;
mod files;
mod filter;
mod json_path;
mod keywords;
mod kinds;
#[cfg(test)]
mod mistakes;
mod open_api;
mod path;
mod propose;
mod read;
mod recipe;
mod resolved;
mod rules;
mod scaffold;
mod scaffold_rust;
mod spelled;
mod table;
#[cfg(test)]
mod tests;
mod views;

pub use self::open_api::{BuiltInType, crd_of_built_in};
pub use self::resolved::{ResolvedFile, resolved};
pub use self::scaffold::scaffold;
pub use self::scaffold_rust::{scaffold_rust, scaffold_rust_of};
pub use self::spelled::spelled;

use crate::text::Mistake;
use ingester_core::kind::Kind;
use ingester_core::schema::Path;
use ingester_core::view::View;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use std::fmt;
use std::io;

/// Every mistake in files that are not valid files of kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclareError {
    /// The mistakes, file by file, in the order of their lines.
    pub mistakes: Vec<Mistake>,
}

/// A file of kinds, which may have several documents.
#[derive(Clone, Copy)]
pub struct KindsFile<'a> {
    /// Its name, for mistakes.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Opens the files that it names.
    pub open: Open<'a>,
}

/// The content of files of kinds.
#[derive(Clone, Debug)]
pub struct DeclaredKinds {
    /// The kinds. They live as long as the process, as compiled ones do, so a file is read once.
    pub kinds: Vec<Kind>,
    /// The views over them.
    pub views: &'static [View],
    /// The program also keeps its built-in kinds: no file says `builtIn: false`.
    pub built_in: bool,
    /// `prefix`: the prefix of the finalizer and annotations of all kinds of the program.
    pub prefix: Option<&'static str>,
    /// `formerPrefixes`: the former prefixes.
    pub former_prefixes: Vec<&'static str>,
    /// The kinds that do not say what is stored where an object has no value (`absent`).
    pub silent: Vec<&'static str>,
}

/// Gives the bytes of a file that a file of kinds names, such as descriptors.
pub type Open<'a> = &'a dyn Fn(&str) -> io::Result<Vec<u8>>;

/// The kinds that a file declares.
///
/// # Errors
/// [`DeclareError`] with all mistakes at once: text that is not YAML, unknown keys, paths, types, whatever a database would refuse.
pub fn kinds(name: &str, text: &str, open: Open<'_>) -> Result<DeclaredKinds, DeclareError> {
    kinds_of(&[KindsFile { name, text, open }])
}

/// The kinds that files declare together: they have one registry, and views read the kinds of all files.
///
/// # Errors
/// Those of [`kinds`], of all files.
pub fn kinds_of(files: &[KindsFile<'_>]) -> Result<DeclaredKinds, DeclareError> {
    files::read(files).map_err(|mistakes| DeclareError { mistakes })
}

/// The CRDs that a text has, YAML or JSON: at least one. Objects of other kinds are passed over.
///
/// # Errors
/// Why the text has no CRD.
pub fn crds(text: &[u8]) -> Result<Vec<CustomResourceDefinition>, String> {
    crd::parse(text)
}

/// Checks by a CRD's schema that objects of one of its versions have the value that a path names. If the schema leaves open which values a
/// place has, they have it.
///
/// # Errors
/// Names the first step that they do not have, and the one that may be meant.
pub fn has_path(crd: &CustomResourceDefinition, version: &str, path: &Path) -> Result<(), String> {
    let schema = crd::version(crd, version).and_then(crd::schema).ok_or("the CRD has no schema of this version")?;
    let steps: Vec<_> = path.steps().map(|name| path::Step::Name(name.to_owned())).collect();
    crd::at(schema, &steps).map(drop)
}

impl fmt::Debug for KindsFile<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KindsFile").field("name", &self.name).field("text", &self.text).finish_non_exhaustive()
    }
}

impl fmt::Display for DeclareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, mistake) in self.mistakes.iter().enumerate() {
            write!(f, "{}{mistake}", if place > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for DeclareError {}
