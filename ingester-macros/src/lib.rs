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
/// On fields, any number of `#[index]`, each one column (or the columns of a composite), with the options
/// - `column = "name"`: the column's name, or the beginning of the names of a composite's columns; the field's name otherwise, or in a
///   projection the last step of `path`;
/// - `type = "VARCHAR(768)"`: the SQL type, otherwise the one that belongs to the Rust type;
/// - `path = "owner.name"`: a value inside the field, by Rust field names, or `0` for the value inside a newtype; `Option`s on the way give
///   NULL. Without quotes (`path = owner.name`) rustc may point at the one step that is wrong;
/// - `with = function`: a function from a reference to the field (or what `path` reaches) to a `ColumnValue`;
/// - `was = "old_name"`: the column's former name, which the migration renames;
/// - `key = false`: a column without a key;
/// - `many`: all values of a list or a map of texts, integers or times, each in a row of the table `<table>_<column>` (`obj_uid`, `value`;
///   of a map `obj_uid`, `key`, `value`), which is written together with the object's row. `type` is the type of one value, VARCHAR(255)
///   for texts; `with` returns a list or a map; `was` renames the table. Queries ask for one of the values: `spec.dnsNames=a.example.com`,
///   `spec.limits.cpu=4`. A list's values are stored once each, and blanks at the end of a text do not count;
/// - `keep`: the stored value stays where the object has none (NULL), such as the time of a condition that is gone. It is for
///   values that can be absent: an `Option`, or a value in one;
/// - `first`: the first stored value stays; for a value that is always there, this is the value at the object's creation. Each column of a
///   composite stays independently. A backfill cannot change values that stay. For rows that are older than the option it takes the value
///   from the stored object, which knows only its last state;
/// - `json = "owner.displayName"`: the names in the JSON for the steps of `path`, for queries by field. Without it they are taken to follow
///   the `rename_all` of the struct that has the attribute, or else Kubernetes' camelCase; `rename` on their own fields is not seen from
///   here. Under `with` alone: the part of the field that the function reads;
/// - `revision = 2`: says that the function's body has changed, so that the column is computed again in every row.
///
/// On the struct, `#[index(path = "metadata.deletion_timestamp", column = "...")]` takes a column from the metadata (also `metadata.generation`, and
/// `metadata.owner_uid` of the object's controller), and `#[index(column = "image", with = function)]` one from the whole struct: the function takes
/// a reference to it. A projection's has metadata, spec and status at once. For a custom resource it is the spec, or under `Indexed` the status; for
/// both at once make a projection of it. `json` says what the function reads, if that is one place. `#[ingest(...)]` has
/// - `table = "name"`: the table's name, otherwise the kind in lower case;
/// - `was = "old_name"`: the table's former name, which the migration renames;
/// - `immutable`: every object leaves etcd once SQL has it;
/// - `evictable = false`: annotations take no object out of the cluster, so that the ingester needs no right to delete one; those that
///   request it are reported. Not with `immutable`;
/// - `finalizer = "ensure"`, `"existing"` or `"never"`: which objects carry our finalizer, unless the configuration says otherwise; the
///   default is `ensure` for custom resources, and `never` for projections, whose objects belong to another project;
/// - `companions = false`: no tables of labels and annotations, which are still in `json`; queries by them read every row;
/// - `crd = "strict"`: the CRD keeps the struct's requirements (required fields, defaults, nulls, ranges of integers), so that every object
///   that the API server accepts can be read; `"relaxed"`, the default, takes them out, so that the server stores exactly the JSON that a
///   client sent;
/// - `prune = [".spec.password", ".spec.users[*].token"]`: the parts of an object that are stored nowhere, by paths from the object inwards as
///   files of kinds have them, of names and `[*]`. They are cut out of the text before anything else reads it, so fields there have to be
///   optional. A kind with it says `evictable = false`, too;
/// - `evict(name = "finished", when(field_selector = "state=Succeeded", label_selector = "tier!=gold"), after = "7d", since = "end_time",
///   keep_last(count = 3, by = ["owner"]), namespaces = ["ml"], namespace_selector = "tier=batch")`, any number of times: which live
///   objects leave etcd for SQL. An object must meet all of a rule's conditions, and a rule needs `when`, `after` or `keep_last`. Nothing
///   leaves before the configuration enforces the rule by its name. Not with `immutable` or `evictable = false`;
/// - `retention = "90d"`: how long after its object's deletion a row is kept (a duration from `1s` to `36500d`, see `ingester_core::duration`),
///   unless the configuration sets it for this kind;
/// - `history = "90d"`: the former versions of its objects are kept in the table `<table>_history`, each so long after its end (a duration from
///   `1s` to `36500d`), or `forever`; with `versions = 500` no more than this many of each object;
/// - `protobuf = "package.Message"`: the message of the `proto` column, described in the static `DESCRIPTORS` of the
///   crate's root, an `ingester_core::protobuf::DescriptorSet`, or in the one that `descriptors = path` names;
/// - `key(column, column)`: a key over several columns, any number of times;
/// - `filter = function`: a function from a reference to the struct to `bool`; objects for which it is false have no row;
/// - `revision = 2`: says that the filter's body has changed, or anything else that the attributes do not show;
/// - `group`, `version`, `kind`, `plural`, `namespaced` (or `namespaced = false`): for projections;
/// - `handles = false`: no handles (see below);
/// - `crate = "path"`: where `ingester_core` is, if it is not a direct dependency of that name.
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
