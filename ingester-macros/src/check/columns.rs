//! The columns of a struct: their names and where their values come from.

use crate::ast::{Derive, Field, Item};
use crate::attr::{Attributes, Index};
use crate::context::Context;
use crate::model::{ColumnDeclaration, Record, Source};
use crate::span::{at, used};
use proc_macro2::Span;
use syn::LitStr;
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;

/// A struct under `Indexed`, or a composite.
pub(super) fn nested(
    context: &Context,
    derive: Derive,
    item: &Item<'_>,
    fields: &[Field<'_>],
    attributes: &Attributes,
) -> Record {
    for index in &attributes.index {
        context.error_at(
            index.span,
            format!("`#[index]` on the struct is for Ingestable; {derive} takes it on fields only"),
        );
    }
    let record = record(derive, item, fields, attributes);
    former_names(context, &record.columns, &[]);
    record
}

/// The columns that the fields make.
pub(super) fn record(derive: Derive, item: &Item<'_>, fields: &[Field<'_>], attributes: &Attributes) -> Record {
    let mut columns = Vec::new();
    for (field, member) in fields.iter().zip(&attributes.members) {
        columns.extend(member.index.iter().map(|index| of_field(field, index)));
        // Every field of a composite is a column; `#[index]` only changes how.
        if derive == Derive::ColumnValue && member.index.is_empty() {
            columns.push(of_field(field, &Index::plain(field.ident.span())));
        }
    }
    Record { ident: used(item.ident), columns }
}

/// The column that an `#[index]` on a field makes.
fn of_field(field: &Field<'_>, index: &Index) -> ColumnDeclaration {
    let plain = field.ident.unraw().to_string();
    let ident = used(field.ident);
    let source = match (&index.path, &index.with) {
        _ if index.broken => Source::Unknown,
        (None, None) => Source::Field { ident, ty: field.ty.clone() },
        (None, Some(with)) => Source::Computed { fields: vec![ident], span: with.span(), with: Some(with.clone()) },
        (Some(path), with) => Source::Computed {
            fields: std::iter::once(ident).chain(path.steps.iter().cloned()).collect(),
            span: path.literal.span(),
            with: with.clone(),
        },
    };
    let name = index.column.as_ref().map_or_else(|| plain.clone(), LitStr::value);
    declaration(index, name, format!("field `{plain}`"), field.ident.span(), source)
}

/// The column that an `#[index]` on the struct makes from the metadata; `None`, with errors, without path or name.
pub(super) fn of_metadata(context: &Context, index: &Index) -> Option<ColumnDeclaration> {
    let leaf = match &index.path {
        Some(path) => match path.steps.as_slice() {
            [metadata, leaf] if metadata == "metadata" => Some((path, leaf)),
            _ if index.broken => None,
            _ => {
                context.error(
                    &path.literal,
                    "`#[index]` on the struct takes a column from the metadata: `path = \"metadata.deletion_timestamp\"`; put any other on its field",
                );
                None
            }
        },
        None if index.broken => None,
        None => {
            context.error_at(
                index.span,
                "`#[index]` on the struct needs a path into the metadata: `#[index(path = \"metadata.deletion_timestamp\", column = \"...\")]`",
            );
            None
        }
    };
    if index.column.is_none() && !index.broken {
        context.error_at(index.span, "`#[index]` on the struct needs a name: `column = \"...\"`");
    }
    let ((path, leaf), column) = leaf.zip(index.column.as_ref())?;
    let source = if index.broken {
        Source::Unknown
    } else {
        Source::Computed { fields: vec![leaf.clone()], span: path.literal.span(), with: index.with.clone() }
    };
    Some(declaration(index, column.value(), format!("`{}`", path.literal.value()), column.span(), source))
}

fn declaration(index: &Index, name: String, origin: String, span: Span, source: Source) -> ColumnDeclaration {
    ColumnDeclaration {
        name,
        name_span: at(index.column.as_ref().map_or(span, LitStr::span)),
        origin,
        ty: index.ty.clone(),
        key: index.key.unwrap_or(true),
        was: index.was.clone(),
        source,
    }
}

/// Reports `was` where it is the present name, or the former name of two columns.
pub(super) fn former_names(context: &Context, fields: &[ColumnDeclaration], metadata: &[ColumnDeclaration]) {
    let mut earlier: Vec<String> = Vec::new();
    for column in fields.iter().chain(metadata) {
        let Some(was) = &column.was else { continue };
        let name = was.value().to_lowercase();
        if column.name.to_lowercase() == name {
            context.error(was, "`was` is the former name, it cannot be the present one");
        } else if earlier.contains(&name) {
            context.error(was, format!("`{}` is the former name of another field already", was.value()));
        }
        earlier.push(name);
    }
    exchanged_names(context, fields);
}

/// Reports columns that exchange their names: after the migration the same attributes would ask for it again.
fn exchanged_names(context: &Context, fields: &[ColumnDeclaration]) {
    let renamed = |column: &'_ ColumnDeclaration| {
        let was = column.was.clone()?;
        Some((column.name.to_lowercase(), was.value().to_lowercase(), was))
    };
    let renamed: Vec<(String, String, LitStr)> = fields.iter().filter_map(renamed).collect();
    for (column, was, literal) in &renamed {
        let mut former = was;
        for _ in 0..renamed.len() {
            match renamed.iter().find(|(name, ..)| name == former) {
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
