//! What was written: a struct with named fields and their attributes.

use crate::attr::{Index, Ingest, Kube};
use crate::context::Context;
use syn::{Attribute, Data, DeriveInput, Fields};

/// A struct under one of the derives.
pub(crate) struct Struct {
    pub(crate) ident: syn::Ident,
    pub(crate) fields: Vec<Field>,
    /// `#[index(...)]` on the struct itself: columns from the metadata.
    pub(crate) metadata: Vec<Index>,
    pub(crate) ingest: Ingest,
    pub(crate) kube: Option<Kube>,
    /// Whether the item or a field is marked `#[deprecated]`: then the code that uses it must not warn.
    pub(crate) deprecated: bool,
}

/// One named field.
pub(crate) struct Field {
    pub(crate) ident: syn::Ident,
    pub(crate) ty: syn::Type,
    pub(crate) indexes: Vec<Index>,
}

impl Struct {
    /// Reads a struct; `None` (with errors) when it is something else.
    pub(crate) fn read(context: &Context, input: &DeriveInput, derive: &str) -> Option<Self> {
        let ident = &input.ident;
        let fields = match &input.data {
            Data::Struct(data) => match &data.fields {
                Fields::Named(fields) => Some(&fields.named),
                Fields::Unit | Fields::Unnamed(_) => {
                    context.error(ident, format!("{derive} needs named fields: write `struct {ident} {{ ... }}`"));
                    None
                }
            },
            Data::Enum(_) | Data::Union(_) => {
                let hint = if derive == "ColumnValue" {
                    " and enums without data"
                } else {
                    "; for the values of a column derive ColumnValue"
                };
                context.error(ident, format!("{derive} is for structs with named fields{hint}"));
                None
            }
        };
        if !input.generics.params.is_empty() {
            context.error(&input.generics, format!("{derive} does not take generics: a table needs one concrete type"));
            return None;
        }
        let fields = fields?;
        let deprecated = is_deprecated(&input.attrs) || fields.iter().any(|field| is_deprecated(&field.attrs));
        let read = |field: &syn::Field| {
            no_ingest(context, &field.attrs);
            let indexes = Index::read_all(context, &field.attrs);
            field.ident.clone().map(|ident| Field { ident, ty: field.ty.clone(), indexes })
        };
        Some(Struct {
            fields: fields.iter().filter_map(read).collect(),
            metadata: Index::read_all(context, &input.attrs),
            ingest: Ingest::read(context, &input.attrs, derive),
            kube: Kube::read(&input.attrs),
            ident: ident.clone(),
            deprecated,
        })
    }
}

/// Says that `#[ingest]` does not belong on a field or variant.
pub(crate) fn no_ingest(context: &Context, attributes: &[Attribute]) {
    for attribute in attributes.iter().filter(|a| a.path().is_ident("ingest")) {
        context.error(attribute.path(), "`#[ingest]` belongs on the struct; the attribute of a field is `#[index]`");
    }
}

/// Whether `#[deprecated]` is among the attributes.
pub(crate) fn is_deprecated(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("deprecated"))
}
