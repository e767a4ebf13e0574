//! `#[derive(ColumnValue)]`: unit enums and composites.

use super::columns::Columns;
use super::{allow_deprecated, private, value_stub, wrap};
use crate::ast::{Struct, is_deprecated, no_ingest};
use crate::attr::{Index, Ingest};
use crate::case::rename_variant;
use crate::check;
use crate::context::Context;
use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt as _;
use syn::{Attribute, Data, DataEnum, DeriveInput, Fields, LitStr};

pub(crate) fn column_value(context: &Context, input: DeriveInput) -> TokenStream {
    let code = match &input.data {
        Data::Enum(data) => unit_enum(context, &input, data),
        _ => composite(context, &input),
    };
    code.unwrap_or_else(|| value_stub(&private(context, None), &input))
}

/// A unit enum is stored by the name that its JSON has. `None` (with errors) for an enum that cannot be.
fn unit_enum(context: &Context, input: &DeriveInput, data: &DataEnum) -> Option<TokenStream> {
    let ident = &input.ident;
    let ingest = Ingest::read(context, &input.attrs, "ColumnValue");
    no_index(context, &input.attrs);
    if !input.generics.params.is_empty() {
        context.error(&input.generics, "ColumnValue does not take generics: a column needs one concrete type");
        return None;
    }
    if data.variants.is_empty() {
        context.error(ident, "an enum without variants has no value to store");
        return None;
    }
    let rule = serde_text(&input.attrs, "rename_all");
    let mut deprecated = is_deprecated(&input.attrs);
    let mut arms = Vec::new();
    for variant in &data.variants {
        no_ingest(context, &variant.attrs);
        no_index(context, &variant.attrs);
        deprecated |= is_deprecated(&variant.attrs);
        if !matches!(variant.fields, Fields::Unit) {
            context.error(
                &variant.fields,
                format!(
                    "variant `{}` carries data: a column holds the name of a unit variant; use `with = function` on the field instead",
                    variant.ident
                ),
            );
        }
        let plain = variant.ident.unraw().to_string();
        let name = match (serde_text(&variant.attrs, "rename"), &rule) {
            (Some(name), _) => name.value(),
            // A rule that is none is serde's to report.
            (None, Some(rule)) => rename_variant(&rule.value(), &plain).unwrap_or(plain),
            (None, None) => plain,
        };
        let variant = &variant.ident;
        arms.push(quote!(#ident::#variant { .. } => #name));
    }
    let private = private(context, ingest.krate.as_ref());
    let allow = allow_deprecated(deprecated);
    Some(quote! {
        const _: () = {
            #allow
            #[automatically_derived]
            impl #private::ColumnValue for #ident {
                const SHAPE: #private::Shape = #private::Shape::scalar(#private::SqlType::VarChar(255));
                fn write(&self, __out: &mut #private::Values) {
                    #private::named(match self { #(#arms),* }, __out);
                }
            }
        };
    })
}

/// A struct is one column a field, with one key over all. `None` (with errors) for what cannot be.
fn composite(context: &Context, input: &DeriveInput) -> Option<TokenStream> {
    let mut read = Struct::read(context, input, "ColumnValue")?;
    check::nested(context, &read, "ColumnValue");
    if read.fields.is_empty() {
        context.error(&input.ident, "a composite without fields has no value to store");
        return None;
    }
    // Every field is a column; `#[index]` only changes how.
    for field in &mut read.fields {
        if field.indexes.is_empty() {
            field.indexes.push(Index::plain(field.ident.span()));
        }
    }
    let private = private(context, read.ingest.krate.as_ref());
    let ident = &read.ident;
    let columns = Columns::of_fields(&private, &read);
    let (names, writes) = (columns.names(), columns.writes());
    let (constants, checks) = (columns.constants(&private), columns.checks(&private, false));
    let allow = allow_deprecated(read.deprecated);
    Some(wrap(
        &private,
        quote! {
            #(#constants)*
            const __FIELDS: &[#private::Field] = &[#(#names),*];
            const __PARTS: [#private::Part; #private::Field::count(__FIELDS)] = #private::Field::parts(__FIELDS, true);
            #allow
            #[automatically_derived]
            impl #private::ColumnValue for #ident {
                const SHAPE: #private::Shape = #private::Shape { parts: &__PARTS };
                fn write(&self, __out: &mut #private::Values) {
                    let __this = self;
                    #(#writes)*
                }
            }
            #(#checks)*
        },
    ))
}

/// Says that `#[index]` does not belong on an enum or its variants.
fn no_index(context: &Context, attributes: &[Attribute]) {
    for attribute in attributes.iter().filter(|a| a.path().is_ident("index")) {
        context.error(attribute.path(), "`#[index]` belongs on the field that holds this value");
    }
}

/// The text of `#[serde(name = "...")]`, or of `#[serde(name(serialize = "..."))]`.
fn serde_text(attributes: &[Attribute], name: &str) -> Option<LitStr> {
    let mut found = None;
    for attribute in attributes.iter().filter(|a| a.path().is_ident("serde")) {
        // Mistakes in it are serde's to report.
        let _ = attribute.parse_nested_meta(|meta| {
            let ours = meta.path.is_ident(name);
            if meta.input.peek(syn::Token![=]) {
                let value: syn::Expr = meta.value()?.parse()?;
                if let (true, syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. })) = (ours, value) {
                    found = Some(text);
                }
            } else if meta.input.peek(syn::token::Paren) {
                meta.parse_nested_meta(|inner| {
                    let text: LitStr = inner.value()?.parse()?;
                    if ours && inner.path.is_ident("serialize") {
                        found = Some(text);
                    }
                    Ok(())
                })?;
            }
            Ok(())
        });
    }
    found
}
