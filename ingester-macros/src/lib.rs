//! The entry points of the ingester's derives. Each pass is a module and sees what the pass before it hands on:
//!
//! | pass | what it does | what it hands on |
//! |---|---|---|
//! | `ast` | reads the item | its fields or variants, attributes unread |
//! | `attr` | reads the attributes | options as they were written |
//! | `check` | reports the mistakes that show without knowing types | a `Model` |
//! | `expand` | writes the model down | constants and one-line delegations |
//!
//! A `Context` collects the errors, which are reported together. Mistakes that depend on types (the columns of a
//! composite, the bytes of a key) are found by constants that the expansion puts on the user's own tokens. `snapshots/` shows
//! items with their expansions.

mod ast;
mod attr;
mod case;
mod check;
mod context;
mod expand;
mod generated_sql;
mod library;
mod model;
mod span;
#[cfg(test)]
mod tests;

use ast::{Derive, Item};
use attr::Attributes;
use context::Context;
use model::Model;
use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes a struct a kind: its tables, its row and its CRD.
///
/// On the spec of a custom resource, use it together with kube's `CustomResource`: it reads kind, group, version, scope and status from
/// `#[kube(...)]`, and the trait is implemented for the resource. On a struct without `#[kube(...)]` it makes a projection: a struct over a
/// whole object that another project defines, with `#[ingest(group = "", version = "v1", kind = "Pod", plural = "pods", namespaced)]`.
///
/// On fields, any number of `#[index(...)]`, each one column (or the columns of a composite). On the struct, `#[index(path = "...", column = "...")]`
/// takes a column from the metadata, and `#[index(column = "image", with = function)]` one from the whole struct: the function takes a
/// reference to it. A projection's has metadata, spec and status at once. For a custom resource it is the spec, or under `Indexed` the status;
/// for both at once make a projection of it. `json` says what the function reads, if that is one place.
///
/// On the struct, `#[ingest(...)]` describes the kind and its table.
///
/// # Options
///
#[doc = include_str!("attr/options.md")]
///
/// # Handles
///
/// Each column gets a handle for queries, a function on the type of the kind's objects that is named after the column and as visible as
/// its field: `Model::algorithm()`, and for the columns that every kind has `Model::create_time()`. A keyword is written raw
/// (`Model::r#type()`); `self`, `new` and `default` get an underscore at the end (`Model::new_()`), and `$` becomes one. With `path` or
/// `with` its values have the type `Dynamic`. If a function of that name exists already (rustc: "duplicate definitions"), give the
/// column another name, or write `#[ingest(handles = false)]` and make the handles that you need with `Handle::named`.
#[proc_macro_derive(Ingestable, attributes(index, ingest))]
pub fn ingestable(input: TokenStream) -> TokenStream {
    run(Derive::Ingestable, &parse_macro_input!(input as DeriveInput))
}

/// Makes the `#[index]` fields of a nested or status struct columns; the options are those of `Ingestable`, on the struct only
/// `#[index(column = "...", with = function)]`.
///
/// A field of such a type with `#[index]` gives the columns `<field>_<column>`, each with its own key. The handles of a status are on
/// its struct: `ModelStatus::state()`.
#[proc_macro_derive(Indexed, attributes(index, ingest))]
pub fn indexed(input: TokenStream) -> TokenStream {
    run(Derive::Indexed, &parse_macro_input!(input as DeriveInput))
}

/// Makes a type a value of columns: a unit enum is stored by its serde name in a VARCHAR(255), a struct is a composite of one column a
/// field with one key over all of them. `#[index(column = "...", type = "...")]` on a field of a composite changes its suffix and type.
/// Pass the handles of a composite's columns to the handle of the field: `PipelineRun::pipeline().part(ResourceIdentifier::name())`.
#[proc_macro_derive(ColumnValue, attributes(index, ingest))]
pub fn column_value(input: TokenStream) -> TokenStream {
    run(Derive::ColumnValue, &parse_macro_input!(input as DeriveInput))
}

/// Builds the folder of generated SQL into the program: a value of `ingester_core::GeneratedSql`.
///
/// `generated_sql!("../generated-sql")` takes the folder's path from the crate's own folder. The crate is rebuilt when the folder's
/// `schema.lock.json` or a migration changes. `generated_sql!("...", crate = "path")` says where `ingester_core` is, if it is not a direct
/// dependency of that name.
///
/// In a crate that has no such folder yet, or no lock in it, nothing is released: there are no migrations, so that the program compiles and
/// `ingester schema generate` can write the first one. Until the program is built with that folder, commands that need the tables report
/// that they are missing and that the program must be rebuilt. cargo does not look for files that did not exist when it built the crate, so
/// the first `schema generate` touches the file with this macro.
#[proc_macro]
pub fn generated_sql(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as generated_sql::Input);
    let context = Context::new();
    let root = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    // Its path is relative to the folder in which the compiler runs.
    let source = proc_macro::Span::call_site().local_file().and_then(|file| file.canonicalize().ok());
    let code = generated_sql::expand(&context, root.as_ref(), source.as_deref(), &input);
    let code = context.finish(code);
    quote::quote!({ #code }).into()
}

fn run(derive: Derive, input: &DeriveInput) -> TokenStream {
    expansion(derive, input).into()
}

/// The passes, one after the other.
fn expansion(derive: Derive, input: &DeriveInput) -> proc_macro2::TokenStream {
    let context = Context::new();
    let mut krate = None;
    let model = Item::read(&context, derive, input).and_then(|item| {
        let attributes = Attributes::read(&context, &item);
        krate.clone_from(&attributes.ingest.krate);
        check::check(&context, derive, &item, attributes)
    });
    let model = model.unwrap_or_else(|| Model::Refused(check::refused(derive, input)));
    let library = library::path(krate.as_ref());
    context.finish(expand::expand(&library, &model))
}
