//! The second pass: reads the attributes. `#[index(...)]`, `#[ingest(...)]`, and the parts of `#[kube(...)]` and `#[serde(...)]` that
//! matter to the derives.
//!
//! Errors are reported for attributes that cannot be read. The next pass judges whether an option is allowed where it stands.
//!
//! May use: ast, case, context, span.

mod evict;
mod index;
mod ingest;
mod kube;
#[cfg(test)]
mod page;
mod serde;
mod setting;

pub(crate) use self::serde::{FieldName, FieldNames};
pub(crate) use evict::EvictionRule;
pub(crate) use index::{AbsentOption, Index};
pub(crate) use ingest::{CompositeKey, CrdOption, FinalizerOption, Ingest};
pub(crate) use kube::Kube;

use crate::ast::{Body, Item};
use crate::context::Context;
use syn::{Attribute, LitStr};

/// The attributes of an item and of its members.
pub(crate) struct Attributes {
    /// `#[index]` on the item itself.
    pub(crate) index: Vec<Index>,
    pub(crate) ingest: Ingest,
    pub(crate) kube: Option<Kube>,
    pub(crate) rename_all: Option<LitStr>,
    /// The names of the fields in the JSON, for a struct.
    pub(crate) field_names: FieldNames,
    /// The attributes of each field or variant, in their order.
    pub(crate) members: Vec<MemberAttributes>,
}

/// The attributes of a field or variant.
pub(crate) struct MemberAttributes {
    pub(crate) index: Vec<Index>,
    /// Where `#[ingest]` stands, which belongs on the item.
    pub(crate) ingest: Vec<syn::Path>,
    pub(crate) rename: Option<LitStr>,
    /// The other options that decide the name in the JSON, for a field.
    pub(crate) field_name: FieldName,
}

impl Attributes {
    pub(crate) fn read(context: &Context, item: &Item<'_>) -> Self {
        let members: Vec<&[Attribute]> = match &item.body {
            Body::Struct(fields) => fields.iter().map(|field| field.attributes).collect(),
            Body::Enum(variants) => variants.iter().map(|variant| variant.attributes).collect(),
        };
        Attributes {
            index: Index::read_all(context, item.attributes),
            ingest: Ingest::read(context, item.attributes),
            kube: Kube::read(item.attributes),
            rename_all: serde::read_text(item.attributes, "rename_all"),
            field_names: FieldNames::read(item.attributes),
            members: members.iter().map(|attributes| MemberAttributes::read(context, attributes)).collect(),
        }
    }
}

impl MemberAttributes {
    fn read(context: &Context, attributes: &[Attribute]) -> Self {
        MemberAttributes {
            index: Index::read_all(context, attributes),
            ingest: named(attributes, "ingest").map(|attribute| attribute.path().clone()).collect(),
            rename: serde::read_text(attributes, "rename"),
            field_name: FieldName::read(attributes),
        }
    }
}

/// The attributes of this name.
fn named<'a>(attributes: &'a [Attribute], name: &'static str) -> impl Iterator<Item = &'a Attribute> {
    attributes.iter().filter(move |attribute| attribute.path().is_ident(name))
}
