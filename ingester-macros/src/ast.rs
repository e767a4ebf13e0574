//! What was written: a struct with named fields and their attributes.

use crate::attr::{Index, Ingest, Kube};
use crate::context::Context;
use syn::{Data, DeriveInput, Fields};

/// A struct under one of the derives.
pub(crate) struct Struct {
    pub(crate) ident: syn::Ident,
    pub(crate) fields: Vec<Field>,
    /// `#[index(...)]` on the struct itself: columns from the metadata.
    pub(crate) metadata: Vec<Index>,
    pub(crate) ingest: Ingest,
    pub(crate) kube: Option<Kube>,
}

/// One named field.
pub(crate) struct Field {
    pub(crate) ident: syn::Ident,
    pub(crate) ty: syn::Type,
    pub(crate) indexes: Vec<Index>,
}

impl Struct {
    /// Reads a struct; `None` (with errors) when it is something else.
    pub(crate) fn read(context: &Context, input: DeriveInput, derive: &str) -> Option<Self> {
        let fields = match input.data {
            Data::Struct(data) => match data.fields {
                Fields::Named(fields) => fields.named,
                Fields::Unit | Fields::Unnamed(_) => {
                    context.error(&input.ident, format!("{derive} needs named fields: write `struct {} {{ ... }}`", input.ident));
                    return None;
                }
            },
            Data::Enum(_) | Data::Union(_) => {
                let hint = if derive == "ColumnValue" { "" } else { "; for the values of a column derive ColumnValue" };
                context.error(&input.ident, format!("{derive} is for structs with named fields{hint}"));
                return None;
            }
        };
        if !input.generics.params.is_empty() {
            context.error(&input.generics, format!("{derive} does not take generics: a table needs one concrete type"));
            return None;
        }
        let fields = fields
            .into_iter()
            .filter_map(|field| {
                let indexes = Index::read_all(context, &field.attrs);
                field.ident.map(|ident| Field { ident, ty: field.ty, indexes })
            })
            .collect();
        Some(Struct {
            fields,
            metadata: Index::read_all(context, &input.attrs),
            ingest: Ingest::read(context, &input.attrs),
            kube: Kube::read(context, &input.attrs),
            ident: input.ident,
        })
    }
}
