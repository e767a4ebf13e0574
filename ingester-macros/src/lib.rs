//! The derives of the ingester. This file is only the door; each pass has a file of its own:
//! `ast` (what was written) -> `attr` (what its attributes say) -> `check` (what can be told without types) ->
//! `expand` (constants and one-line delegations; everything else lives in `ingester_core`).
//!
//! Errors are collected in a [`context::Context`] and reported together. Whatever depends on types (the columns of a
//! composite, the bytes of a key) is checked by constants that the expansion puts on the user's own tokens.

mod ast;
mod attr;
mod case;
mod check;
mod context;
mod expand;
mod generated_sql;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes a struct a kind: its tables, its row and its CRD.
///
/// On the spec of a custom resource it stands beside kube's `CustomResource` and reads kind, group, version, scope and
/// status from `#[kube(...)]`; the trait is implemented for the resource. On a struct without `#[kube(...)]` it makes a
/// projection: a struct over a whole object that somebody else defines, with `#[ingest(group = "", version = "v1",
/// kind = "Pod", plural = "pods", namespaced)]`.
///
/// On fields, any number of `#[index]`, each one column (or those of a composite), with the options
/// - `column = "name"`: the column's name, or what the names of a composite's columns begin with; the field's name otherwise;
/// - `type = "VARCHAR(768)"`: the SQL type, otherwise that of the Rust type;
/// - `path = "owner.name"`: a value inside the field, by Rust field names; `Option`s on the way give NULL;
/// - `with = function`: a function from a reference to the field (or what `path` reaches) to a `ColumnValue`;
/// - `was = "old_name"`: the column's former name, which the migration renames;
/// - `key = false`: a column without a key.
///
/// On the struct, `#[index(path = "metadata.deletion_timestamp", column = "...")]` takes a column from the metadata, and
/// `#[ingest(...)]` has
/// - `table = "name"`: the table's name, otherwise the kind in lower case;
/// - `was = "old_name"`: the table's former name, which the migration renames;
/// - `immutable`: every object leaves etcd once SQL has it;
/// - `protobuf = "package.Message"`: the message of the `proto` column, described in the static `DESCRIPTORS` of the
///   crate's root, an `ingester_core::protobuf::DescriptorSet`, or in the one that `descriptors = path` names;
/// - `key(column, column)`: a key over several columns, any number of times;
/// - `filter = function`: a function from a reference to the struct to `bool`; objects for which it is false have no row;
/// - `group`, `version`, `kind`, `plural`, `namespaced`: for projections;
/// - `crate = "path"`: where `ingester_core` is, if it is not a direct dependency.
#[proc_macro_derive(Ingestable, attributes(index, ingest))]
pub fn ingestable(input: TokenStream) -> TokenStream {
    run(parse_macro_input!(input as DeriveInput), expand::ingestable)
}

/// Makes the `#[index]` fields of a nested or status struct columns; the options are those of `Ingestable`.
///
/// A field of such a type with `#[index]` gives the columns `<field>_<column>`, each with its own key.
#[proc_macro_derive(Indexed, attributes(index, ingest))]
pub fn indexed(input: TokenStream) -> TokenStream {
    run(parse_macro_input!(input as DeriveInput), expand::indexed)
}

/// Makes a type a value of columns: a unit enum is stored by its serde name in a VARCHAR(255), a struct is a composite of
/// one column a field with one key over all of them. `#[index(column = "...", type = "...")]` on a field of a composite
/// changes its suffix and type.
#[proc_macro_derive(ColumnValue, attributes(index, ingest))]
pub fn column_value(input: TokenStream) -> TokenStream {
    run(parse_macro_input!(input as DeriveInput), expand::column_value)
}

/// The folder of generated SQL as a part of the program: a value of `ingester_core::ddl::GeneratedSql`.
///
/// `generated_sql!("../generated-sql")` takes the folder's path from the crate's own folder. Whoever changes the lock or
/// a migration builds the crate anew. The folder begins its life with a lock in which nothing is released:
/// `{"tables": [], "migrations": []}`.
#[proc_macro]
pub fn generated_sql(input: TokenStream) -> TokenStream {
    let context = context::Context::new();
    let code = generated_sql::expand(&context, &parse_macro_input!(input as syn::LitStr));
    let code = context.finish(code);
    quote::quote!({ #code }).into()
}

fn run(input: DeriveInput, expand: fn(&context::Context, DeriveInput) -> proc_macro2::TokenStream) -> TokenStream {
    let context = context::Context::new();
    let code = expand(&context, input);
    context.finish(code).into()
}
