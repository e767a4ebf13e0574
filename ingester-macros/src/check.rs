//! What can be told wrong without knowing types. Everything else is checked by constants in the expansion.

use crate::ast::Struct;
use crate::attr::Index;
use crate::context::Context;

/// Checks an `Ingestable`.
pub(crate) fn ingestable(context: &Context, input: &Struct) {
    match (&input.kube, &input.ingest.projection) {
        (Some(_), Some(option)) => context.error(
            option,
            format!("`{option}` is read from `#[kube(...)]`: `#[ingest({option})]` is for projections, which have no `#[kube]`"),
        ),
        (Some(kube), None) => {
            for (name, value) in [("group", &kube.group), ("version", &kube.version), ("kind", &kube.kind)] {
                if value.is_none() {
                    context.error(&input.ident, format!("`#[kube(...)]` lacks `{name} = \"...\"`"));
                }
            }
        }
        (None, _) => {
            for (name, value) in [("group", &input.ingest.group), ("version", &input.ingest.version), ("kind", &input.ingest.kind)] {
                if value.is_none() {
                    context.error(
                        &input.ident,
                        format!(
                            "what kind is this? Either derive kube's CustomResource with `#[kube(group, version, kind)]`, or say \
                             `#[ingest(group = \"\", version = \"v1\", kind = \"Pod\")]` for a kind that somebody else defines (`{name}` is missing)"
                        ),
                    );
                    break;
                }
            }
        }
    }
    for index in &input.metadata {
        match &index.path {
            Some(path) if path.steps.len() == 2 && path.steps[0] == "metadata" => {}
            Some(path) => context.error(
                &path.literal,
                "`#[index]` on the struct takes a column from the metadata: `path = \"metadata.deletion_timestamp\"`; put any other on its field",
            ),
            None => context.syn_error(syn::Error::new(
                index.span,
                "`#[index]` on the struct needs a path into the metadata: `#[index(path = \"metadata.deletion_timestamp\", column = \"...\")]`",
            )),
        }
        if index.column.is_none() {
            context.syn_error(syn::Error::new(index.span, "`#[index]` on the struct needs a name: `column = \"...\"`"));
        }
    }
    fields(context, input);
}

/// Checks an `Indexed` or a composite.
pub(crate) fn nested(context: &Context, input: &Struct, derive: &str) {
    for index in &input.metadata {
        context.syn_error(syn::Error::new(
            index.span,
            format!("`#[index]` on the struct is for Ingestable; {derive} takes it on fields only"),
        ));
    }
    fields(context, input);
}

fn fields(context: &Context, input: &Struct) {
    let mut names: Vec<String> = Vec::new();
    for field in &input.fields {
        for index in &field.indexes {
            check_names(context, index);
            // Two explicit names that are the same are wrong whatever the types; with types the constants look again,
            // so here only what they cannot see: the same `#[index]` twice on one field.
            let name = crate::expand::column_name(field, index);
            if field.indexes.len() > 1 && names.contains(&format!("{}/{name}", field.ident)) {
                context.syn_error(syn::Error::new(
                    index.span,
                    format!("two `#[index]` on `{}` give the same column `{name}`: name one with `column = \"...\"`", field.ident),
                ));
            }
            names.push(format!("{}/{name}", field.ident));
        }
    }
}

fn check_names(context: &Context, index: &Index) {
    if let (Some(column), Some(was)) = (&index.column, &index.was)
        && column.value() == was.value()
    {
        context.error(was, "`was` is the former name, it cannot be the present one");
    }
}
