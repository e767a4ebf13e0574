//! `#[derive(Ingestable)]`.

use super::columns::Columns;
use super::{indexed_impl, indexed_stub, private, wrap};
use crate::ast::Struct;
use crate::attr::{Kube, at, placed};
use crate::case::plural;
use crate::check;
use crate::context::Context;
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Data, DeriveInput, LitStr};

/// What a kind is, whether from `#[kube(...)]` or from `#[ingest(...)]`.
struct Kind {
    group: LitStr,
    version: LitStr,
    kind: LitStr,
    namespaced: bool,
    /// The type that the trait is implemented for.
    root: TokenStream,
    /// The type of the status, where there is one.
    status: Option<syn::Path>,
    /// What decodes the struct; called with the object, the values, the filter and the writer of the metadata's columns.
    decode: TokenStream,
    /// The values of the trait's functions.
    plural: TokenStream,
    crd: TokenStream,
}

pub(crate) fn ingestable(context: &Context, input: DeriveInput) -> TokenStream {
    let Some(read) = Struct::read(context, &input, "Ingestable") else { return refused(context, &input) };
    check::ingestable(context, &read);
    let private = private(context, read.ingest.krate.as_ref());
    let columns = Columns::of_fields(&private, &read);
    let indexed = indexed_impl(&private, &read, &columns, false);
    let kind = match &read.kube {
        Some(kube) => resource(&private, &read, kube),
        None => projection(&private, &read),
    };
    // Without a kind there is no type to implement the trait for; that something is missing has been reported.
    let code = kind.map(|kind| expand(context, &private, &read, &kind, &columns));
    wrap(&private, quote!(#indexed #code))
}

/// A custom resource: the struct is its spec, the trait is for the root struct that kube derives. `None` where kube
/// derives none, for which it has its own errors.
fn resource(private: &TokenStream, input: &Struct, kube: &Kube) -> Option<Kind> {
    let spec = &input.ident;
    let root = kube.root()?;
    let status = match &kube.status {
        Some(status) => quote!(#status),
        None => quote!(#private::NoStatus),
    };
    Some(Kind {
        group: kube.group.clone()?,
        version: kube.version.clone()?,
        kind: kube.kind.clone()?,
        namespaced: kube.namespaced,
        decode: quote!(#private::decode_resource::<#spec, #status>),
        plural: quote!(#private::plural::<#root>()),
        crd: quote!(#private::crd::<#root>()),
        root: quote!(#root),
        status: kube.status.clone(),
    })
}

/// Somebody else's kind: the struct is read from the whole object. `None` where it is not said which kind.
fn projection(private: &TokenStream, input: &Struct) -> Option<Kind> {
    let (whole, ingest) = (&input.ident, &input.ingest);
    let kind = ingest.kind.clone()?;
    let plural = ingest.plural.as_ref().map_or_else(|| plural(&kind.value()), LitStr::value);
    Some(Kind {
        group: ingest.group.clone()?,
        version: ingest.version.clone()?,
        kind,
        namespaced: ingest.namespaced.unwrap_or(false),
        decode: quote!(#private::decode_projection::<#whole>),
        plural: quote!(::std::borrow::Cow::Borrowed(#plural)),
        crd: quote!(::core::option::Option::None),
        root: quote!(#whole),
        status: None,
    })
}

/// The table's constants with their checks, and the implementation of `Ingestable`.
fn expand(context: &Context, private: &TokenStream, input: &Struct, this: &Kind, columns: &Columns) -> TokenStream {
    let Kind { group, version, kind, namespaced, root, status, decode, plural, crd } = this;
    let ident = &input.ident;
    let metadata = Columns::of_metadata(private, input);
    let (meta_names, meta_constants, meta_writes) = (metadata.names(), metadata.constants(private), metadata.writes());
    let mut checks = metadata.checks(private, true);
    checks.extend(columns.checks_base(private));
    checks.extend(metadata.checks_base(private));
    checks.extend(metadata.checks_apart(private, &quote!(__SPEC), "a field"));
    let status = match status {
        Some(status) => {
            checks.extend(columns.checks_apart(private, &quote!(__STATUS), "the status"));
            checks.extend(metadata.checks_apart(private, &quote!(__STATUS), "the status"));
            let span = at(status.span());
            checks.push(placed(span, quote!(const _: () = #private::check_base_of_status(__STATUS);)));
            quote!(#status)
        }
        None => quote!(#private::NoStatus),
    };
    let (table, table_span) = match &input.ingest.table {
        Some(table) => (table.value(), table.span()),
        None => (kind.value().to_lowercase(), kind.span()),
    };
    checks.extend(table_checks(private, &table, at(table_span)));
    let was = match &input.ingest.was {
        Some(was) => {
            let name = was.value();
            if name.eq_ignore_ascii_case(&table) {
                context.error(was, "`was` is the table's former name, it cannot be the present one");
            }
            checks.push(placed(at(was.span()), quote!(const _: () = #private::check_table_name(#name);)));
            quote!(::core::option::Option::Some(#name))
        }
        None => quote!(::core::option::Option::None),
    };
    checks.extend(key_checks(private, input));
    let keys = input.ingest.keys.iter().map(|key| {
        let columns = key.columns.iter().map(|column| column.unraw().to_string());
        quote!(&[#(#columns),*])
    });
    let immutable = input.ingest.immutable.unwrap_or(false);
    if let (None, Some(descriptors)) = (&input.ingest.protobuf, &input.ingest.descriptors) {
        context
            .error(descriptors, "`descriptors` says where a message is described: name it with `protobuf = \"...\"`");
    }
    let protobuf = match &input.ingest.protobuf {
        Some(message) => {
            let descriptors = match &input.ingest.descriptors {
                Some(descriptors) => quote!(#descriptors),
                None => placed(at(message.span()), quote!(crate::DESCRIPTORS)),
            };
            quote!(::core::option::Option::Some(#private::Protobuf { message: #message, descriptors: &#descriptors }))
        }
        None => quote!(::core::option::Option::None),
    };
    let keep = keep(input);
    quote! {
        #(#meta_constants)*
        const __SPEC: &[#private::Field] = <#ident as #private::Indexed>::FIELDS;
        const __STATUS: &[#private::Field] = {
            use #private::NoFields as _;
            const _: &[#private::Field] = #private::FieldsOf::<#private::Meta>::FIELDS;
            #private::FieldsOf::<#status>::FIELDS
        };
        const __PARTS: #private::TableParts = #private::TableParts {
            fields: [__SPEC, __STATUS, &[#(#meta_names),*]],
            keys: &[#(#keys),*],
        };
        const __COLUMNS: [#private::Column; __PARTS.column_count()] = __PARTS.columns();
        const __KEYS: [#private::Key; __PARTS.key_count()] = __PARTS.keys(&__COLUMNS);
        const __TABLE: #private::Table = #private::Table::derived(#table, #was, &__COLUMNS, &__KEYS);
        #(#checks)*
        #[automatically_derived]
        impl #private::Ingestable for #root {
            const GROUP: &'static ::core::primitive::str = #group;
            const VERSION: &'static ::core::primitive::str = #version;
            const KIND: &'static ::core::primitive::str = #kind;
            const NAMESPACED: ::core::primitive::bool = #namespaced;
            const TABLE: &'static #private::Table = &__TABLE;
            const IMMUTABLE: ::core::primitive::bool = #immutable;

            fn plural() -> ::std::borrow::Cow<'static, ::core::primitive::str> {
                #plural
            }
            fn protobuf() -> ::core::option::Option<#private::Protobuf> {
                #protobuf
            }
            fn decode(
                __object: &#private::Object,
                __out: &mut #private::Values,
            ) -> ::core::result::Result<::core::primitive::bool, #private::JsonError> {
                #decode(__object, __out, #keep, |__this: &#private::Meta, __out: &mut #private::Values| {
                    #(#meta_writes)*
                })
            }
            fn crd() -> ::core::option::Option<#private::CustomResourceDefinition> {
                #crd
            }
        }
    }
}

/// The predicate of `filter = function`.
fn keep(input: &Struct) -> TokenStream {
    let ident = &input.ident;
    match &input.ingest.filter {
        Some(filter) => {
            let span = at(filter.span());
            {
                let this = placed(span, quote!(__this));
                quote_spanned!(span=> |__this: &#ident| -> ::core::primitive::bool { #filter(#this) })
            }
        }
        None => quote!(|_: &#ident| true),
    }
}

/// The checks of the table as a whole.
fn table_checks(private: &TokenStream, name: &str, span: Span) -> Vec<TokenStream> {
    vec![
        placed(span, quote!(const _: () = #private::check_table_name(#name);)),
        placed(span, quote!(const _: () = #private::check_column_count(&__TABLE);)),
        placed(span, quote!(const _: () = #private::check_key_count(&__TABLE);)),
        placed(span, quote!(const _: () = #private::check_row_size(&__TABLE);)),
    ]
}

/// The checks of `key(...)`: each column on its own, and the whole.
fn key_checks(private: &TokenStream, input: &Struct) -> Vec<TokenStream> {
    let mut checks = Vec::new();
    for (k, key) in input.ingest.keys.iter().enumerate() {
        for column in &key.columns {
            let span = at(column.span());
            let column = column.unraw().to_string();
            checks.push(placed(span, quote!(const _: () = #private::check_key_column(&__PARTS, #column);)));
        }
        let span = at(key.span);
        checks.push(placed(span, quote!(const _: () = #private::check_composite_key(&__PARTS, #k);)));
    }
    checks
}

/// Implementations that do nothing, for an item that cannot be a kind.
fn refused(context: &Context, input: &DeriveInput) -> TokenStream {
    let private = private(context, None);
    let indexed = indexed_stub(&private, input);
    let root = match Kube::read(&input.attrs) {
        // For a union kube derives nothing, so that there is no type either.
        Some(kube) if !matches!(input.data, Data::Union(_)) => kube.root(),
        Some(_) => None,
        None => Some(input.ident.clone()),
    };
    let root = root.filter(|_| input.generics.params.is_empty());
    let ingestable = root.map(|root| {
        quote! {
            const _: () = {
                #[automatically_derived]
                impl #private::Ingestable for #root {
                    const GROUP: &'static ::core::primitive::str = "";
                    const VERSION: &'static ::core::primitive::str = "";
                    const KIND: &'static ::core::primitive::str = "";
                    const NAMESPACED: ::core::primitive::bool = false;
                    const TABLE: &'static #private::Table = &#private::Table::derived("", ::core::option::Option::None, &[], &[]);
                    const IMMUTABLE: ::core::primitive::bool = false;
                    fn protobuf() -> ::core::option::Option<#private::Protobuf> {
                        ::core::option::Option::None
                    }
                    fn plural() -> ::std::borrow::Cow<'static, ::core::primitive::str> {
                        ::std::borrow::Cow::Borrowed("")
                    }
                    fn decode(
                        _: &#private::Object,
                        _: &mut #private::Values,
                    ) -> ::core::result::Result<::core::primitive::bool, #private::JsonError> {
                        ::core::result::Result::Ok(false)
                    }
                    fn crd() -> ::core::option::Option<#private::CustomResourceDefinition> {
                        ::core::option::Option::None
                    }
                }
            };
        }
    });
    quote!(#indexed #ingestable)
}
