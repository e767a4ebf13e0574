//! The handles of columns: a function for each, which gives the struct and the type of the column's values. The operations of handles are
//! in `ingester_core::query`.

use crate::model::{BASE, ColumnDeclaration, KindDeclaration, Record, Source, UnitEnum};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use std::collections::{BTreeSet, HashSet};
use syn::{Ident, Member};

/// The handles of a kind, on the type of its objects; and whose columns the status has.
pub(super) fn of_kind(record: &Record, kind: &KindDeclaration) -> TokenStream {
    let root = &kind.root;
    let part = kind.status().map(|status| {
        quote! {
            #[automatically_derived]
            impl __ingester::PartOf<#root> for #status {}
        }
    });
    let handles = record.handles.then(|| {
        // The column's check reports a column with one of these names.
        let taken = BASE.iter().map(|name| (*name).to_owned()).collect();
        let own = handles(root, record.columns.iter().chain(&kind.metadata), taken);
        let elsewhere = (*root != record.ident).then(|| elsewhere(record, kind));
        quote!(__ingester::base_handles! { #root } #own #elsewhere)
    });
    quote!(#part #handles)
}

/// A function of the spec by which rustc tells whose functions the handles are: it proposes one that has the wanted name as an alias.
/// A handle itself cannot stand there, as a spec may have a function of that name.
fn elsewhere(record: &Record, kind: &KindDeclaration) -> TokenStream {
    let spec = &record.ident;
    let name = quote::format_ident!("__the_columns_of_{spec}_are_functions_of_{}", kind.root);
    let own = record.columns.iter().chain(&kind.metadata);
    let own = own.map(|column| syn::ext::IdentExt::unraw(&function(column)).to_string());
    let aliases: BTreeSet<String> = BASE.iter().map(|name| (*name).to_owned()).chain(own).collect();
    quote! {
        #[automatically_derived]
        #[allow(non_snake_case, reason = "the name is that of a type")]
        impl #spec {
            #[doc(hidden)]
            #(#[doc(alias = #aliases)])*
            pub fn #name() {}
        }
        const _: () = { let _ = #spec::#name; };
    }
}

/// The handles of a status, a nested struct or a composite: for its own columns, and for the columns of a field of its type.
pub(super) fn of_struct(record: &Record) -> TokenStream {
    let ident = &record.ident;
    let handles = record.handles.then(|| handles(ident, &record.columns, HashSet::new()));
    quote! {
        #[automatically_derived]
        impl __ingester::Parts<#ident> for #ident {}
        #handles
    }
}

/// For an enum: a column of it is compared with its values, and with the text of their names.
pub(super) fn of_enum(UnitEnum { ident, variants }: &UnitEnum) -> TokenStream {
    let names = variants.iter().map(|variant| &variant.name);
    quote! {
        #[automatically_derived]
        impl __ingester::Scalar for #ident {
            type Class = __ingester::NamesOf<#ident>;
        }
        #[automatically_derived]
        impl __ingester::Names for #ident {
            const ALL: &'static [&'static ::core::primitive::str] = &[#(#names),*];
        }
        #[automatically_derived]
        impl __ingester::Literal<__ingester::NamesOf<#ident>> for #ident {}
        #[automatically_derived]
        impl __ingester::Literal<__ingester::Anything> for #ident {}
    }
}

fn handles<'m>(
    owner: &Ident,
    columns: impl IntoIterator<Item = &'m ColumnDeclaration>,
    mut taken: HashSet<String>,
) -> TokenStream {
    let mut functions = TokenStream::new();
    let mut names = Vec::new();
    for column in columns {
        let ty = match &column.source {
            Source::Field { ty, .. } => quote!(#ty),
            // A type that has no name.
            Source::Computed { .. } => quote!(__ingester::Dynamic),
            Source::Unknown => continue,
        };
        let function = function(column);
        // Two columns of one name are reported by their check.
        if !taken.insert(function.to_string()) {
            continue;
        }
        let visibility = &column.visibility;
        let name = &column.name;
        let doc = match &column.path {
            Some(path) => format!("Column `{name}`: `{path}`."),
            None => format!("Column `{name}`."),
        };
        names.push(function.clone());
        functions.extend(quote_spanned! {column.name_span=>
            #[doc = #doc]
            #visibility fn #function() -> __ingester::Handle<#owner, #ty> {
                __ingester::Handle::named(#name)
            }
        });
    }
    if functions.is_empty() {
        return functions;
    }
    // A program uses only some of them, and none of a private struct that it never queries: named here, none is dead code.
    quote! {
        #[automatically_derived]
        impl #owner {
            #functions
        }
        const _: () = { #(let _ = #owner::#names;)* };
    }
}

/// The name of a column's handle: the column's name, or the field's name if nothing precedes the names of its columns.
fn function(column: &ColumnDeclaration) -> Ident {
    let field = match &column.source {
        Source::Field { ident, .. } => Some(ident),
        Source::Computed { fields, .. } => fields.first().and_then(|field| match field {
            Member::Named(field) => Some(field),
            Member::Unnamed(_) => None,
        }),
        Source::Unknown => None,
    };
    let name = match field {
        Some(field) if column.name.is_empty() => syn::ext::IdentExt::unraw(field).to_string(),
        _ => column.name.clone(),
    };
    rust_name(&name, column.name_span)
}

/// A name of a function: raw for a keyword, with an underscore after it if it cannot be raw either, or if every type may already
/// have a function of that name.
fn rust_name(name: &str, span: proc_macro2::Span) -> Ident {
    let letters = name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' });
    let mut name: String = letters.collect();
    if name.starts_with(|c: char| c.is_numeric()) || name.is_empty() {
        name.insert(0, '_');
    }
    if ["self", "Self", "super", "crate", "_", "new", "default"].contains(&name.as_str()) {
        name.push('_');
    }
    let mut ident = match syn::parse_str::<Ident>(&name) {
        Ok(ident) => ident,
        Err(_) => Ident::new_raw(&name, span),
    };
    ident.set_span(span);
    ident
}

#[cfg(test)]
mod tests {
    use super::rust_name;
    use proc_macro2::Span;

    #[test]
    fn every_column_gets_a_name_that_rust_takes() {
        for (column, function) in [
            ("owner_name", "owner_name"),
            ("type", "r#type"),
            ("self", "self_"),
            ("new", "new_"),
            ("default", "default_"),
            ("a$b", "a_b"),
            ("2nd", "_2nd"),
            ("_", "__"),
        ] {
            assert_eq!(rust_name(column, Span::call_site()).to_string(), function);
        }
    }
}
