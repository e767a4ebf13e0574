//! The first pass: what was written. An item with its fields or variants, each with its attributes, still unread.
//!
//! May use: context.

use crate::context::Context;
use std::fmt;
use syn::{Attribute, Data, DeriveInput, Fields, Ident, Type, Visibility};

/// The derives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Derive {
    Ingestable,
    Indexed,
    ColumnValue,
}

impl fmt::Display for Derive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// An item that the derive can be for.
pub(crate) struct Item<'i> {
    pub(crate) ident: &'i Ident,
    pub(crate) attributes: &'i [Attribute],
    pub(crate) body: Body<'i>,
}

pub(crate) enum Body<'i> {
    /// A struct with named fields.
    Struct(Vec<Field<'i>>),
    /// An enum; only under `ColumnValue`.
    Enum(Vec<Variant<'i>>),
}

/// A named field.
pub(crate) struct Field<'i> {
    pub(crate) ident: &'i Ident,
    pub(crate) visibility: &'i Visibility,
    pub(crate) ty: &'i Type,
    pub(crate) attributes: &'i [Attribute],
}

pub(crate) struct Variant<'i> {
    pub(crate) ident: &'i Ident,
    pub(crate) fields: &'i Fields,
    pub(crate) attributes: &'i [Attribute],
}

impl<'i> Item<'i> {
    /// Reads an item; `None`, with errors, when the derive is not for this sort of item.
    pub(crate) fn read(context: &Context, derive: Derive, input: &'i DeriveInput) -> Option<Self> {
        let body = Body::read(context, derive, input);
        if !input.generics.params.is_empty() {
            let what = if derive == Derive::ColumnValue { "column" } else { "table" };
            context
                .error(&input.generics, format!("{derive} does not take generics: a {what} needs one concrete type"));
            return None;
        }
        Some(Item { ident: &input.ident, attributes: &input.attrs, body: body? })
    }
}

impl<'i> Body<'i> {
    fn read(context: &Context, derive: Derive, input: &'i DeriveInput) -> Option<Self> {
        let ident = &input.ident;
        match &input.data {
            Data::Struct(data) => match &data.fields {
                Fields::Named(fields) => {
                    let field = |field: &'i syn::Field| {
                        let ident = field.ident.as_ref()?;
                        Some(Field { ident, visibility: &field.vis, ty: &field.ty, attributes: &field.attrs })
                    };
                    return Some(Body::Struct(fields.named.iter().filter_map(field).collect()));
                }
                Fields::Unit | Fields::Unnamed(_) => {
                    context.error(ident, format!("{derive} needs named fields: write `struct {ident} {{ ... }}`"));
                }
            },
            Data::Enum(data) if derive == Derive::ColumnValue => {
                let variants = data.variants.iter();
                let variants = variants.map(|v| Variant { ident: &v.ident, fields: &v.fields, attributes: &v.attrs });
                return Some(Body::Enum(variants.collect()));
            }
            Data::Enum(_) | Data::Union(_) => {
                let hint = match derive {
                    Derive::ColumnValue => " and enums without data",
                    Derive::Ingestable | Derive::Indexed => "; for the values of a column derive ColumnValue",
                };
                context.error(ident, format!("{derive} is for structs with named fields{hint}"));
            }
        }
        None
    }
}
