//! The third pass: reports the mistakes that show without knowing types. Constants in the expansion find the others; rustc
//! reports both together, so nothing is checked twice.
//!
//! It hands on a [`Model`]. After a mistake the model has everything that was understood, so that the rest is still checked.
//!
//! May use: ast, attr, case, context, model, span.

mod columns;
mod kind;
mod value;

use crate::ast::{Body, Derive, Item};
use crate::attr::{Attributes, Ingest, Kube, MemberAttributes};
use crate::context::Context;
use crate::model::{Model, RefusedItem};
use syn::{Data, DeriveInput};

/// Checks an item. `None`, with errors, for one that has nothing to store.
pub(crate) fn check(context: &Context, derive: Derive, item: &Item<'_>, attributes: Attributes) -> Option<Model> {
    members(context, &attributes.members);
    if derive != Derive::Ingestable {
        no_table(context, derive, &attributes.ingest);
    }
    Some(match (&item.body, derive) {
        (Body::Struct(fields), Derive::Ingestable) => kind::ingestable(context, item, fields, attributes),
        (Body::Struct(fields), Derive::Indexed) => {
            Model::Nested(columns::nested(context, derive, item, fields, &attributes))
        }
        (Body::Struct(fields), Derive::ColumnValue) => {
            Model::Composite(value::composite(context, derive, item, fields, &attributes)?)
        }
        (Body::Enum(variants), _) => Model::UnitEnum(value::unit_enum(context, item, variants, &attributes)?),
    })
}

/// Takes the place of an item that the derive does not support.
pub(crate) fn refused(derive: Derive, input: &DeriveInput) -> RefusedItem {
    let kind = match (derive, Kube::read(&input.attrs)) {
        (Derive::Ingestable, None) => Some(input.ident.clone()),
        // kube derives nothing for a union, so there is no type either.
        (Derive::Ingestable, Some(kube)) if !matches!(input.data, Data::Union(_)) => kube.root(),
        _ => None,
    };
    RefusedItem {
        ident: input.ident.clone(),
        generics: input.generics.clone(),
        indexed: derive != Derive::ColumnValue,
        column_value: derive != Derive::Ingestable,
        kind: kind.filter(|_| input.generics.params.is_empty()),
    }
}

/// Reports `#[ingest]` on fields and variants.
fn members(context: &Context, members: &[MemberAttributes]) {
    for path in members.iter().flat_map(|member| &member.ingest) {
        context.error(path, "`#[ingest]` belongs on the struct; the attribute of a field is `#[index]`");
    }
}

/// Reports options of a table where there is none.
fn no_table(context: &Context, derive: Derive, ingest: &Ingest) {
    for option in ingest.given.iter().filter(|option| *option != "crate" && *option != "handles") {
        context.error(option, format!("`{option}` is for the table that Ingestable makes; {derive} makes none"));
    }
}
