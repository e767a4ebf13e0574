//! The columns of a struct: their names and where their values come from.

use crate::ast::{Derive, Field, Item};
use crate::attr::{Attributes, Index, MemberAttributes};
use crate::case::rename_field;
use crate::context::Context;
use crate::model::{ColumnDeclaration, PrintedOptions, Record, Source, ValueFunction};
use crate::span::{at, used};
use proc_macro2::Span;
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{LitStr, Member, parse_quote};

/// A struct under `Indexed`, or a composite.
pub(super) fn nested(
    context: &Context,
    derive: Derive,
    item: &Item<'_>,
    fields: &[Field<'_>],
    attributes: &Attributes,
) -> Record {
    for index in attributes.index.iter().filter(|index| derive == Derive::ColumnValue || !is_of_whole(index)) {
        context.error_at(
            index.span,
            match derive {
                Derive::Indexed => {
                    "`#[index]` on the struct takes a function of it, `#[index(column = \"...\", with = function)]`; \
                     columns from the metadata are for Ingestable"
                        .to_owned()
                }
                derive => {
                    format!("`#[index]` on the struct is for Ingestable; {derive} takes it on fields only")
                }
            },
        );
    }
    record(context, derive, item, fields, attributes)
}

/// The columns that the fields make.
pub(super) fn record(
    context: &Context,
    derive: Derive,
    item: &Item<'_>,
    fields: &[Field<'_>],
    attributes: &Attributes,
) -> Record {
    let root = match (derive, &attributes.kube) {
        (Derive::Ingestable, Some(_)) => "spec",
        _ => "",
    };
    // The end of a path names the column, except in the specs of custom resources, whose columns were always named after the field.
    let of_projection = derive == Derive::Ingestable && attributes.kube.is_none();
    let mut columns = Vec::new();
    for (field, member) in fields.iter().zip(&attributes.members) {
        let name = json_name(field, member, attributes);
        let mut add = |index: &Index| {
            if member.field_name.is_skipped() && !index.broken {
                context.error_at(
                    index.span,
                    format!(
                        "serde never reads `{}` (`#[serde(skip)]`), so its column would have the default in every row: index another field, \
                         or make the column by `with = function` on the struct",
                        field.ident
                    ),
                );
            }
            let path = json_path(context, root, field, member, attributes, index);
            let named = of_projection.then(|| last_step(index)).flatten();
            columns.push(of_field(field, named, &name, path, index));
        };
        member.index.iter().for_each(&mut add);
        // Every field of a composite is a column; `#[index]` only changes how.
        if derive == Derive::ColumnValue && member.index.is_empty() {
            let plain = Index::plain(field.ident.span());
            let path = json_path(context, root, field, member, attributes, &plain);
            columns.push(of_field(field, None, &name, path, &plain));
        }
    }
    if derive != Derive::ColumnValue {
        let of_whole = attributes.index.iter().filter(|index| is_of_whole(index));
        columns.extend(of_whole.filter_map(|index| of_struct(context, derive, root, index)));
    }
    let handles = attributes.ingest.handles.unwrap_or(true);
    Record { ident: used(item.ident), columns, handles, defaulted: attributes.field_names.is_defaulted() }
}

/// The field, with all that says what serde calls it.
fn json_name(field: &Field<'_>, member: &MemberAttributes, attributes: &Attributes) -> String {
    let mut name = field.ident.unraw().to_string();
    for (option, text) in [("rename", &member.rename), ("rename_all", &attributes.rename_all)] {
        if let Some(text) = text {
            name += &format!(" {option} {}", text.value());
        }
    }
    name
}

/// Where the column's value is in JSON, from `root`; `None` if that is unknown.
fn json_path(
    context: &Context,
    root: &str,
    field: &Field<'_>,
    member: &MemberAttributes,
    attributes: &Attributes,
    index: &Index,
) -> Option<String> {
    let names = &attributes.field_names;
    if let (Some(json), None, None) = (&index.json, &index.path, &index.with) {
        context.error(
            json,
            "`json` says how the JSON calls the steps of `path`; what it calls the field itself is serde's to say, with `rename`",
        );
    }
    let mut path = vec![root.to_owned(), names.find_path(&field.ident.unraw().to_string(), &member.field_name)?];
    match (&index.json, &index.path) {
        (Some(json), _) => path.push(json.value()),
        (None, Some(inner)) => {
            for step in &inner.steps {
                match step {
                    Member::Named(step) => path.push(names.of_another(&step.unraw().to_string())?),
                    // A newtype leaves no trace in JSON; the values of a larger tuple have no names.
                    Member::Unnamed(step) if step.index == 0 => {}
                    Member::Unnamed(_) => return None,
                }
            }
        }
        (None, None) => {}
    }
    path.retain(|names| !names.is_empty());
    Some(path.join("."))
}

/// Tokens without the blanks between them, which differ between compilers.
fn compact(tokens: impl ToTokens) -> String {
    tokens.to_token_stream().to_string().split_whitespace().collect()
}

/// The last name of a path.
fn last_step(index: &Index) -> Option<String> {
    index.path.as_ref()?.steps.iter().rev().find_map(|step| match step {
        Member::Named(step) => Some(step.unraw().to_string()),
        Member::Unnamed(_) => None,
    })
}

/// The column that an `#[index]` on a field makes; `named` is its name if the attribute has none, and otherwise it is the field's.
fn of_field(
    field: &Field<'_>,
    named: Option<String>,
    json_name: &str,
    path: Option<String>,
    index: &Index,
) -> ColumnDeclaration {
    let plain = field.ident.unraw().to_string();
    let ident = used(field.ident);
    let source = match (&index.path, with(index)) {
        _ if index.broken => Source::Unknown,
        (None, None) => Source::Field { ident, ty: field.ty.clone() },
        (None, Some(with)) => Source::Computed { fields: vec![ident.into()], span: with.span(), with: Some(with) },
        (Some(path), with) => Source::Computed {
            fields: std::iter::once(ident.into()).chain(path.steps.iter().cloned()).collect(),
            span: path.literal.span(),
            with,
        },
    };
    let named = named.unwrap_or_else(|| plain.clone());
    let name = index.column.as_ref().map_or(named, LitStr::value);
    let from = format!("{json_name}: {}", compact(field.ty));
    let declared = declaration(index, name, format!("field `{plain}`"), field.ident.span(), source, path, from);
    ColumnDeclaration { visibility: field.visibility.clone(), ..declared }
}

/// Returns the function that makes the column's value.
fn with(index: &Index) -> Option<ValueFunction> {
    match (&index.with, &index.unit) {
        (Some(function), _) => Some(ValueFunction::Function(function.clone())),
        (None, Some(unit)) => Some(ValueFunction::Unit { milli: unit.milli, span: unit.span }),
        (None, None) => None,
    }
}

/// True if an `#[index]` on the struct has a function of the whole struct.
pub(super) fn is_of_whole(index: &Index) -> bool {
    index.path.is_none() && index.with.is_some()
}

/// The column that a function of the whole struct makes; `None`, with an error, without a name.
fn of_struct(context: &Context, derive: Derive, root: &str, index: &Index) -> Option<ColumnDeclaration> {
    let with = index.with.as_ref()?;
    let Some(column) = &index.column else {
        if !index.broken {
            context.error_at(index.span, "`#[index]` on the struct needs a name: `column = \"...\"`");
        }
        return None;
    };
    let source = match index.broken {
        true => Source::Unknown,
        false => Source::Computed {
            fields: Vec::new(),
            span: with.span(),
            with: Some(ValueFunction::Function(with.clone())),
        },
    };
    let json = index.json.as_ref().map(LitStr::value);
    let mut path = vec![root, json.as_deref().unwrap_or_default()];
    path.retain(|names| !names.is_empty());
    // A nested struct is somewhere; what it is in says where.
    let path = (!path.is_empty() || derive == Derive::Indexed).then(|| path.join("."));
    let origin = format!("`with = {}`", compact(with));
    Some(declaration(index, column.value(), origin, column.span(), source, path, "the struct".to_owned()))
}

/// The fields of `ingester_core::object::Meta`.
const METADATA: [&str; 11] = [
    "uid",
    "namespace",
    "name",
    "resource_version",
    "creation_timestamp",
    "deletion_timestamp",
    "labels",
    "annotations",
    "finalizers",
    "generation",
    "owner_uid",
];

/// The column that an `#[index]` on the struct makes from the metadata; `None`, with errors, without path or name.
pub(super) fn of_metadata(context: &Context, index: &Index) -> Option<ColumnDeclaration> {
    let leaf = match &index.path {
        Some(path) => match path.steps.as_slice() {
            [Member::Named(metadata), Member::Named(leaf)] if metadata == "metadata" => Some((path, leaf)),
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
                "`#[index]` on the struct needs a path into the metadata: `#[index(path = \"metadata.deletion_timestamp\", column = \"...\")]`, or a function of the struct: `with = function`",
            );
            None
        }
    };
    if index.column.is_none() && !index.broken {
        context.error_at(index.span, "`#[index]` on the struct needs a name: `column = \"...\"`");
    }
    if let Some(json) = &index.json {
        context.error(json, "`json` is for the paths of fields: what the JSON calls the metadata is known");
    }
    let ((path, leaf), column) = leaf.zip(index.column.as_ref())?;
    let is_there = METADATA.iter().any(|name| leaf == name);
    if !is_there && !index.broken {
        context
            .error(&path.literal, format!("there is no `{leaf}` in the metadata: there are {}", METADATA.join(", ")));
    }
    let source = if index.broken || !is_there {
        Source::Unknown
    } else {
        Source::Computed { fields: vec![leaf.clone().into()], span: path.literal.span(), with: with(index) }
    };
    let origin = format!("`{}`", path.literal.value());
    let json = match leaf.unraw().to_string().as_str() {
        // One of several.
        "owner_uid" => None,
        leaf => rename_field("camelCase", leaf).map(|leaf| format!("metadata.{leaf}")),
    };
    Some(declaration(index, column.value(), origin, column.span(), source, json, String::new()))
}

/// `path` is where it is in JSON, `from` is the field, in words.
fn declaration(
    index: &Index,
    name: String,
    origin: String,
    span: Span,
    source: Source,
    path: Option<String>,
    from: String,
) -> ColumnDeclaration {
    let mut made_of = from;
    if let Some(path) = &index.path {
        made_of += &format!(", path {}", path.literal.value());
    }
    if let Some(with) = &index.with {
        made_of += &format!(", with {}", compact(with));
    }
    // A quantity becomes thousandths anyway.
    if index.unit.as_ref().is_some_and(|unit| !unit.milli) {
        made_of += ", unit whole";
    }
    if let Some(revision) = index.revision.filter(|revision| *revision > 1) {
        made_of += &format!(", revision {revision}");
    }
    ColumnDeclaration {
        name,
        name_span: at(index.column.as_ref().map_or(span, LitStr::span)),
        visibility: parse_quote!(pub),
        origin,
        ty: index.ty.clone(),
        key: index.key.unwrap_or(true),
        many: index.many.unwrap_or(false),
        stays: match (index.keep, index.first) {
            (Some(true), _) => Some(("Keep", index.stays_span)),
            (_, Some(true)) => Some(("First", index.stays_span)),
            _ => None,
        },
        absent: index.absent,
        printed: PrintedOptions {
            header: index.header.clone(),
            wide: index.wide,
            age: index.age.unwrap_or(false),
            span: index.printed_span,
        },
        was: index.was.clone(),
        source,
        path,
        made_of,
    }
}
