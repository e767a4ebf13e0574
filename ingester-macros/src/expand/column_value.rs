//! `#[derive(ColumnValue)]`: unit enums and composites.

use super::{private, wrap};
use crate::ast::Struct;
use crate::attr::Ingest;
use crate::case::rename_variant;
use crate::check;
use crate::context::Context;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Attribute, Data, DataEnum, DeriveInput, Fields, LitStr};

pub(crate) fn column_value(context: &Context, input: DeriveInput) -> TokenStream {
    match &input.data {
        Data::Enum(data) => unit_enum(context, &input, data),
        _ => composite(context, input),
    }
}

/// A unit enum is stored by the name that its JSON has.
fn unit_enum(context: &Context, input: &DeriveInput, data: &DataEnum) -> TokenStream {
    let krate = Ingest::read(context, &input.attrs).krate;
    let private = private(context, krate.as_ref());
    let ident = &input.ident;
    if !input.generics.params.is_empty() {
        context.error(&input.generics, "ColumnValue does not take generics: a column needs one concrete type");
        return TokenStream::new();
    }
    let rule = serde_text(&input.attrs, "rename_all");
    let mut arms = Vec::new();
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            context.error(
                &variant.fields,
                format!("variant `{}` carries data: a column holds the name of a unit variant; use `with = function` on the field instead", variant.ident),
            );
        }
        let plain = variant.ident.unraw().to_string();
        let name = match (serde_text(&variant.attrs, "rename"), &rule) {
            (Some(name), _) => name.value(),
            (None, Some(rule)) => rename_variant(&rule.value(), &plain).unwrap_or_else(|| {
                context.error(rule, format!("`{}` is not a rule of serde's rename_all", rule.value()));
                plain
            }),
            (None, None) => plain,
        };
        let variant = &variant.ident;
        arms.push(quote!(#ident::#variant { .. } => #name));
    }
    if arms.is_empty() {
        context.error(ident, "an enum without variants has no value to store");
        return TokenStream::new();
    }
    wrap(
        &private,
        quote! {
            #[automatically_derived]
            impl #private::ColumnValue for #ident {
                const SHAPE: #private::Shape = #private::Shape::scalar(#private::SqlType::VarChar(255));
                fn write(&self, out: &mut #private::Values) {
                    #private::named(match self { #(#arms),* }, out);
                }
            }
        },
    )
}

/// A struct is one column a field, with one key over all.
fn composite(context: &Context, input: DeriveInput) -> TokenStream {
    let Some(mut input) = Struct::read(context, input, "ColumnValue") else { return TokenStream::new() };
    check::nested(context, &input, "ColumnValue");
    let private = private(context, input.ingest.krate.as_ref());
    if input.fields.is_empty() {
        context.error(&input.ident, "a composite without fields has no value to store");
        return TokenStream::new();
    }
    // Every field is a column; `#[index]` only changes how.
    for field in &mut input.fields {
        if field.indexes.is_empty() {
            field.indexes.push(crate::attr::Index {
                span: field.ident.span(),
                column: None,
                ty: None,
                path: None,
                with: None,
                was: None,
                key: true,
            });
        }
    }
    let ident = &input.ident;
    let columns = super::Columns::of_fields(&private, &input);
    let (fields, writes) = (&columns.fields, &columns.writes);
    let apart = columns.spans.iter().enumerate().map(|(i, span)| {
        quote_spanned!(*span=> const _: () = #private::check_fields_apart(FIELDS.split_at(#i).0, &FIELDS[#i]);)
    });
    wrap(
        &private,
        quote! {
            const FIELDS: &[#private::Field] = &[#(#fields),*];
            #(#apart)*
            const COLUMN_PARTS: [#private::Part; #private::Field::count(FIELDS)] = #private::Field::parts(FIELDS, true);
            #[automatically_derived]
            impl #private::ColumnValue for #ident {
                const SHAPE: #private::Shape = #private::Shape { parts: &COLUMN_PARTS };
                fn write(&self, out: &mut #private::Values) {
                    let this = self;
                    #(#writes)*
                }
            }
        },
    )
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
