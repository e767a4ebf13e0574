//! The code that comes out: constants and one-line delegations with absolute paths.
//!
//! It stands in the user's module, so its own names begin with two underscores, it uses nothing of the prelude, and
//! what it takes from the user is evaluated where none of its names could be meant.

mod column_value;
mod columns;
mod ingestable;

pub(crate) use column_value::column_value;
pub(crate) use ingestable::ingestable;

use crate::ast::Struct;
use crate::check;
use crate::context::Context;
use columns::Columns;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::DeriveInput;

/// The path of `ingester_core::__private` in the user's crate.
pub(crate) fn private(context: &Context, krate: Option<&syn::Path>) -> TokenStream {
    if let Some(path) = krate {
        return quote!(#path::__private);
    }
    match proc_macro_crate::crate_name("ingester-core") {
        Ok(proc_macro_crate::FoundCrate::Name(name)) => {
            let name = syn::Ident::new(&name, Span::call_site());
            quote!(::#name::__private)
        }
        // Inside ingester-core itself, whose tests, examples and doc tests see it by its name.
        Ok(proc_macro_crate::FoundCrate::Itself) => quote!(::ingester_core::__private),
        Err(_) => {
            context.error_at(
                Span::call_site(),
                "ingester-core is not a dependency of this crate: add it, or name where it is with `#[ingest(crate = \"path\")]`",
            );
            quote!(::ingester_core::__private)
        }
    }
}

/// The implementation of `Indexed` and, where `as_value`, of `ColumnValue` as a nested value.
fn indexed_impl(private: &TokenStream, input: &Struct, columns: &Columns, as_value: bool) -> TokenStream {
    let ident = &input.ident;
    let (names, writes) = (columns.names(), columns.writes());
    let (constants, checks) = (columns.constants(private), columns.checks(private, true));
    let allow = allow_deprecated(input.deprecated);
    let value = as_value.then(|| {
        quote! {
            #[automatically_derived]
            impl #private::ColumnValue for #ident {
                const SHAPE: #private::Shape = {
                    const __FIELDS: &[#private::Field] = <#ident as #private::Indexed>::FIELDS;
                    const __PARTS: [#private::Part; #private::Field::count(__FIELDS)] = #private::Field::parts(__FIELDS, false);
                    #private::Shape { parts: &__PARTS }
                };
                fn write(&self, __out: &mut #private::Values) {
                    <#ident as #private::Indexed>::write(self, __out);
                }
            }
        }
    });
    quote! {
        #(#constants)*
        #allow
        #[automatically_derived]
        impl #private::Indexed for #ident {
            const FIELDS: &'static [#private::Field] = &[#(#names),*];
            fn write(&self, __out: &mut #private::Values) {
                let __this = self;
                #(#writes)*
            }
        }
        #value
        #(#checks)*
    }
}

/// What keeps the use of a deprecated field from being a warning about code that nobody wrote. Only where there is one:
/// a crate that forbids the lint would refuse the attribute.
fn allow_deprecated(deprecated: bool) -> Option<TokenStream> {
    deprecated.then(|| quote!(#[allow(deprecated)]))
}

/// Puts the code where its names meet nobody else's.
fn wrap(private: &TokenStream, code: TokenStream) -> TokenStream {
    quote! {
        const _: () = {
            // `NoStatus` is no column's value, so that the trait is used whatever the fields are: an `allow` for an unused
            // import would be refused by a crate that forbids the lint.
            use #private::NoLayout as _;
            const _: ::core::option::Option<#private::Shape> = #private::Layout::<#private::NoStatus>::SHAPE;
            #code
        };
    }
}

/// An implementation that does nothing, for a type whose own was refused: without it every use of the type would be an
/// error of its own.
fn stub(private: &TokenStream, input: &DeriveInput, name: &str, items: TokenStream) -> TokenStream {
    let ident = &input.ident;
    let name = syn::Ident::new(name, Span::call_site());
    let (generics, arguments, conditions) = input.generics.split_for_impl();
    quote! {
        const _: () = {
            #[automatically_derived]
            impl #generics #private::#name for #ident #arguments #conditions {
                #items
            }
        };
    }
}

/// As [`stub`], for `Indexed`.
fn indexed_stub(private: &TokenStream, input: &DeriveInput) -> TokenStream {
    let items = quote! {
        const FIELDS: &'static [#private::Field] = &[];
        fn write(&self, _: &mut #private::Values) {}
    };
    stub(private, input, "Indexed", items)
}

/// As [`stub`], for `ColumnValue`.
fn value_stub(private: &TokenStream, input: &DeriveInput) -> TokenStream {
    let items = quote! {
        const SHAPE: #private::Shape = #private::Shape { parts: &[] };
        fn write(&self, _: &mut #private::Values) {}
    };
    stub(private, input, "ColumnValue", items)
}

/// `#[derive(Indexed)]`.
pub(crate) fn indexed(context: &Context, input: DeriveInput) -> TokenStream {
    let Some(read) = Struct::read(context, &input, "Indexed") else {
        let private = private(context, None);
        let (indexed, value) = (indexed_stub(&private, &input), value_stub(&private, &input));
        return quote!(#indexed #value);
    };
    check::nested(context, &read, "Indexed");
    let private = private(context, read.ingest.krate.as_ref());
    let columns = Columns::of_fields(&private, &read);
    wrap(&private, indexed_impl(&private, &read, &columns, true))
}
