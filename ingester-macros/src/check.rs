//! What can be told wrong without knowing types. Everything else is checked by constants in the expansion; rustc reports
//! both together, so nothing is looked at twice.

use crate::ast::Struct;
use crate::context::Context;
use syn::ext::IdentExt as _;

/// Checks an `Ingestable`.
pub(crate) fn ingestable(context: &Context, input: &Struct) {
    match &input.kube {
        Some(kube) => {
            // What lacks in `#[kube(...)]` is kube's to report.
            for option in &input.ingest.projection {
                context.error(
                    option,
                    format!("`{option}` is read from `#[kube(...)]`: `#[ingest({option})]` is for projections, which have no `#[kube]`"),
                );
            }
            if let Some(no_spec) = &kube.no_spec {
                context.error(
                    no_spec,
                    "columns are read from `spec`, which a kind with `no_spec` has not: make a projection of it, a struct with \
                     `#[ingest(group, version, kind)]` instead of `#[kube]`",
                );
            }
        }
        None => identity(context, input),
    }
    for index in input.metadata.iter().filter(|index| !index.broken) {
        match &index.path {
            Some(path) if path.steps.len() == 2 && path.steps[0] == "metadata" => {}
            Some(path) => context.error(
                &path.literal,
                "`#[index]` on the struct takes a column from the metadata: `path = \"metadata.deletion_timestamp\"`; put any other on its field",
            ),
            None => context.error_at(
                index.span,
                "`#[index]` on the struct needs a path into the metadata: `#[index(path = \"metadata.deletion_timestamp\", column = \"...\")]`",
            ),
        }
        if index.column.is_none() {
            context.error_at(index.span, "`#[index]` on the struct needs a name: `column = \"...\"`");
        }
    }
    keys(context, input);
    former_names(context, input);
}

/// Checks an `Indexed` or a composite.
pub(crate) fn nested(context: &Context, input: &Struct, derive: &str) {
    for index in &input.metadata {
        context.error_at(
            index.span,
            format!("`#[index]` on the struct is for Ingestable; {derive} takes it on fields only"),
        );
    }
    former_names(context, input);
}

/// Group, version and kind of a projection.
fn identity(context: &Context, input: &Struct) {
    let ingest = &input.ingest;
    let missing: Vec<&str> = [("group", &ingest.group), ("version", &ingest.version), ("kind", &ingest.kind)]
        .into_iter()
        .filter_map(|(name, value)| value.is_none().then_some(name))
        .collect();
    if missing.is_empty() || ingest.broken {
        return;
    }
    let missing = missing.join(", ");
    context.error(
        &input.ident,
        format!(
            "what kind is this? Either derive kube's CustomResource with `#[kube(group, version, kind)]`, or say \
             `#[ingest(group = \"\", version = \"v1\", kind = \"Pod\")]` for a kind that somebody else defines (missing: {missing})"
        ),
    );
}

/// The composite keys, as far as their columns' names tell.
fn keys(context: &Context, input: &Struct) {
    for key in &input.ingest.keys {
        let mut names: Vec<String> = Vec::new();
        for column in &key.columns {
            let name = column.unraw().to_string();
            if names.iter().any(|earlier| earlier.eq_ignore_ascii_case(&name)) {
                context.error(column, format!("`key(...)` names `{name}` twice"));
            }
            names.push(name);
        }
        // MySQL Reference Manual, "Column Indexes".
        if names.len() > 16 {
            context.error_at(key.span, format!("this key has {} columns, InnoDB allows 16", names.len()));
        }
    }
}

/// `was`, which must name another column than the present one, and each only once.
fn former_names(context: &Context, input: &Struct) {
    let mut earlier: Vec<String> = Vec::new();
    let on_fields = input.fields.iter().flat_map(|field| field.indexes.iter().map(move |index| (Some(field), index)));
    for (field, index) in on_fields.chain(input.metadata.iter().map(|index| (None, index))) {
        let Some(was) = &index.was else { continue };
        let column = match (&index.column, field) {
            (Some(column), _) => Some(column.value()),
            (None, Some(field)) => Some(field.ident.unraw().to_string()),
            (None, None) => None,
        };
        let name = was.value().to_lowercase();
        if column.is_some_and(|column| column.to_lowercase() == name) {
            context.error(was, "`was` is the former name, it cannot be the present one");
        } else if earlier.contains(&name) {
            context.error(was, format!("`{}` is the former name of another field already", was.value()));
        }
        earlier.push(name);
    }
    exchanged_names(context, input);
}

/// Columns that hand their names round: once that is done, the same attributes would ask for it again.
fn exchanged_names(context: &Context, input: &Struct) {
    let pairs: Vec<(String, String, &syn::LitStr)> = input
        .fields
        .iter()
        .flat_map(|field| field.indexes.iter().map(move |index| (field, index)))
        .filter_map(|(field, index)| {
            let column = index.column.as_ref().map_or_else(|| field.ident.unraw().to_string(), syn::LitStr::value);
            let was = index.was.as_ref()?;
            Some((column.to_lowercase(), was.value().to_lowercase(), was))
        })
        .collect();
    for (column, was, literal) in &pairs {
        let mut former = was;
        for _ in 0..pairs.len() {
            match pairs.iter().find(|(name, ..)| name == former) {
                Some((_, next, _)) if next == column && former != column => {
                    context.error(
                        literal,
                        "columns cannot exchange their names in one step: give one of them a third name first, and release that",
                    );
                    break;
                }
                Some((_, next, _)) => former = next,
                None => break,
            }
        }
    }
}
