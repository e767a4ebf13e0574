//! An item under `ColumnValue`: a unit enum or a composite.

use super::columns::nested;
use crate::ast::{Derive, Field, Item, Variant};
use crate::attr::Attributes;
use crate::case::rename_variant;
use crate::context::Context;
use crate::model::{NamedVariant, Record, UnitEnum};
use crate::span::used;
use syn::Fields;
use syn::ext::IdentExt as _;

/// A struct is one column a field, with one key over all. `None`, with an error, for one without fields.
pub(super) fn composite(
    context: &Context,
    derive: Derive,
    item: &Item<'_>,
    fields: &[Field<'_>],
    attributes: &Attributes,
) -> Option<Record> {
    let record = nested(context, derive, item, fields, attributes);
    if fields.is_empty() {
        context.error(item.ident, "a composite without fields has no value to store");
        return None;
    }
    Some(record)
}

/// A unit enum is stored by the name that its JSON has. `None`, with an error, for one without variants.
pub(super) fn unit_enum(
    context: &Context,
    item: &Item<'_>,
    variants: &[Variant<'_>],
    attributes: &Attributes,
) -> Option<UnitEnum> {
    let members = attributes.members.iter().flat_map(|member| &member.index);
    for index in attributes.index.iter().chain(members) {
        context.error_at(index.span, "`#[index]` belongs on the field that holds this value");
    }
    if variants.is_empty() {
        context.error(item.ident, "an enum without variants has no value to store");
        return None;
    }
    let mut named = Vec::new();
    for (variant, member) in variants.iter().zip(&attributes.members) {
        let ident = variant.ident;
        let data = !matches!(variant.fields, Fields::Unit);
        if data {
            context.error(
                variant.fields,
                format!(
                    "variant `{ident}` carries data: a column holds the name of a unit variant; use `with = function` on the field instead"
                ),
            );
        }
        let plain = ident.unraw().to_string();
        let name = match (&member.rename, &attributes.rename_all) {
            (Some(name), _) => name.value(),
            // serde reports a rule that does not exist.
            (None, Some(rule)) => rename_variant(&rule.value(), &plain).unwrap_or(plain),
            (None, None) => plain,
        };
        named.push(NamedVariant { ident: used(ident), name, data });
    }
    Some(UnitEnum { ident: used(item.ident), variants: named })
}
