//! `#[derive(Ingestable)]`.

use super::{Columns, indexed_impl, private, wrap};
use crate::ast::Struct;
use crate::check;
use crate::context::Context;
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DeriveInput, LitStr};

/// The kind's names, from `#[kube(...)]` or `#[ingest(...)]`.
struct Names {
    group: LitStr,
    version: LitStr,
    kind: LitStr,
    namespaced: bool,
}

pub(crate) fn ingestable(context: &Context, input: DeriveInput) -> TokenStream {
    let Some(input) = Struct::read(context, input, "Ingestable") else { return TokenStream::new() };
    check::ingestable(context, &input);
    let private = private(context, input.ingest.krate.as_ref());
    let names = names(&input);
    let code = match &input.kube {
        Some(_) => resource(context, &private, &input, &names),
        None => projection(&private, &input, &names),
    };
    let indexed = indexed_impl(&private, &input, false);
    wrap(&private, quote!(#indexed #code))
}

fn names(input: &Struct) -> Names {
    // An empty name stands in for one whose absence has been reported.
    let name = |value: &Option<LitStr>| value.clone().unwrap_or_else(|| LitStr::new("Unnamed", input.ident.span()));
    match &input.kube {
        Some(kube) => Names {
            group: name(&kube.group),
            version: name(&kube.version),
            kind: name(&kube.kind),
            namespaced: kube.namespaced,
        },
        None => Names {
            group: name(&input.ingest.group),
            version: name(&input.ingest.version),
            kind: name(&input.ingest.kind),
            namespaced: input.ingest.namespaced,
        },
    }
}

/// A custom resource: the struct is its spec, the trait is for the root struct that kube derives.
fn resource(context: &Context, private: &TokenStream, input: &Struct, names: &Names) -> TokenStream {
    let spec = &input.ident;
    let Some(kube) = &input.kube else { return TokenStream::new() };
    let root = kube.root.as_ref().unwrap_or(&names.kind);
    let Some(root) = context.ok(root.parse::<syn::Ident>()) else { return TokenStream::new() };
    let none = quote!(#private::NoStatus);
    let (status, status_span) = match &kube.status {
        Some(status) => match context.ok(status.parse::<syn::Path>()) {
            Some(path) => (quote_spanned!(status.span()=> #path), status.span()),
            None => (none, Span::call_site()),
        },
        None => (none, Span::call_site()),
    };
    let keep = keep(input);
    let metadata = Columns::of_metadata(private, input);
    let writes = &metadata.writes;
    let decode = quote! {
        #private::decode_resource::<#spec, #status>(object, out, #keep, |this, out| { #(#writes)* })
    };
    let plural = quote!(#private::plural::<#root>());
    let crd = quote!(#private::crd::<#root>());
    kind(private, input, names, &quote!(#root), &quote!(#status), status_span, &metadata, &decode, &plural, &crd)
}

/// Somebody else's kind: the struct is read from the whole object.
fn projection(private: &TokenStream, input: &Struct, names: &Names) -> TokenStream {
    let whole = &input.ident;
    let keep = keep(input);
    let metadata = Columns::of_metadata(private, input);
    let writes = &metadata.writes;
    let decode = quote! {
        #private::decode_projection::<#whole>(object, out, #keep, |this, out| { #(#writes)* })
    };
    let plural = match &input.ingest.plural {
        Some(plural) => plural.value(),
        None => format!("{}s", names.kind.value().to_lowercase()),
    };
    let plural = quote!(::std::borrow::Cow::Borrowed(#plural));
    let crd = quote!(::core::option::Option::None);
    let status = quote!(#private::NoStatus);
    kind(private, input, names, &quote!(#whole), &status, Span::call_site(), &metadata, &decode, &plural, &crd)
}

fn keep(input: &Struct) -> TokenStream {
    match &input.ingest.filter {
        Some(filter) => quote_spanned!(filter.span()=> |this| #filter(this)),
        None => quote!(|_| true),
    }
}

/// The table's constants with their checks, and the implementation of `Ingestable` for `root`.
#[allow(clippy::too_many_arguments)] // The pieces of one block of code; a struct for them would only be taken apart again.
fn kind(
    private: &TokenStream,
    input: &Struct,
    names: &Names,
    root: &TokenStream,
    status: &TokenStream,
    status_span: Span,
    metadata: &Columns,
    decode: &TokenStream,
    plural: &TokenStream,
    crd: &TokenStream,
) -> TokenStream {
    let ident = &input.ident;
    let Names { group, version, kind, namespaced } = names;
    let table = match &input.ingest.table {
        Some(table) => table.clone(),
        None => LitStr::new(&kind.value().to_lowercase(), kind.span()),
    };
    let table_span = table.span();
    let immutable = input.ingest.immutable;
    let protobuf = match &input.ingest.protobuf {
        Some(message) => quote!(::core::option::Option::Some(#message)),
        None => quote!(::core::option::Option::None),
    };
    let meta_fields = &metadata.fields;
    let meta_checks = metadata.checks(private, &quote!(METADATA));
    let keys = input.ingest.keys.iter().map(|key| {
        let columns = &key.columns;
        quote!(&[#(#columns),*])
    });
    let key_checks = input.ingest.keys.iter().map(|key| {
        let columns = &key.columns;
        quote_spanned!(key.span=> const _: () = #private::check_composite_key(&PARTS, &[#(#columns),*]);)
    });
    // Spec against status: on the status' own tokens, as that is the struct to look into.
    let status_fields = quote_spanned!(status_span=> <#status as #private::Indexed>::FIELDS);
    quote! {
        const METADATA: &[#private::Field] = &[#(#meta_fields),*];
        #meta_checks
        const PARTS: #private::TableParts = #private::TableParts {
            fields: [<#ident as #private::Indexed>::FIELDS, #status_fields, METADATA],
            keys: &[#(#keys),*],
        };
        #(#key_checks)*
        const COLUMNS: [#private::Column; PARTS.column_count()] = PARTS.columns();
        const KEYS: [#private::Key; PARTS.key_count()] = PARTS.keys(&COLUMNS);
        const TABLE: #private::Table =
            #private::Table { name: #private::Ident::new(#table), columns: &COLUMNS, keys: &KEYS };
    }
    .into_iter()
    .chain(quote_spanned!(table_span=> const _: () = #private::check_table(&TABLE);))
    .chain(quote! {
        #[automatically_derived]
        impl #private::Ingestable for #root {
            const GROUP: &'static str = #group;
            const VERSION: &'static str = #version;
            const KIND: &'static str = #kind;
            const NAMESPACED: bool = #namespaced;
            const TABLE: &'static #private::Table = &TABLE;
            const IMMUTABLE: bool = #immutable;
            const PROTOBUF: ::core::option::Option<&'static str> = #protobuf;

            fn plural() -> ::std::borrow::Cow<'static, str> {
                #plural
            }
            #[allow(unused_variables)]
            fn decode(
                object: &#private::Object,
                out: &mut #private::Values,
            ) -> ::core::result::Result<bool, #private::JsonError> {
                #decode
            }
            fn crd() -> ::core::option::Option<#private::CustomResourceDefinition> {
                #crd
            }
        }
    })
    .collect()
}
