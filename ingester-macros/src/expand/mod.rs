//! The code that comes out: constants and one-line delegations with absolute paths.

mod column_value;
mod ingestable;

pub(crate) use column_value::column_value;
pub(crate) use ingestable::ingestable;

use crate::ast::{Field, Struct};
use crate::attr::Index;
use crate::check;
use crate::context::Context;
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::DeriveInput;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

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
            context.syn_error(syn::Error::new(
                Span::call_site(),
                "ingester-core is not a dependency of this crate: add it, or name where it is with `#[ingest(crate = \"path\")]`",
            ));
            quote!(::ingester_core::__private)
        }
    }
}

/// The name of the column, or what the names of its columns begin with.
pub(crate) fn column_name(field: &Field, index: &Index) -> String {
    match &index.column {
        Some(column) => column.value(),
        None => field.ident.unraw().to_string(),
    }
}

/// The expression of type `Option<&Leaf>` (or what `with` returns) for one `#[index]`, on `this`.
fn access(private: &TokenStream, start: TokenStream, steps: &[syn::Ident], with: Option<&syn::Path>) -> TokenStream {
    let mut value = start;
    let mut is_option = false;
    for step in steps {
        let span = step.span();
        value = if is_option {
            quote_spanned!(span=> match #value {
                ::core::option::Option::Some(inner) => (&#private::Probe(&inner.#step)).step(),
                ::core::option::Option::None => ::core::option::Option::None,
            })
        } else {
            quote_spanned!(span=> {
                let inner = (&#private::Probe(#value)).step();
                match inner {
                    ::core::option::Option::Some(inner) => (&#private::Probe(&inner.#step)).step(),
                    ::core::option::Option::None => ::core::option::Option::None,
                }
            })
        };
        is_option = true;
    }
    if let Some(with) = with {
        let span = with.span();
        value = if is_option {
            quote_spanned!(span=> match #value {
                ::core::option::Option::Some(inner) => ::core::option::Option::Some(#with(inner)),
                ::core::option::Option::None => ::core::option::Option::None,
            })
        } else {
            quote_spanned!(span=> #with(#value))
        };
    }
    value
}

/// The `#[index]`es of a struct, as `Field` constants and as code that writes their values.
pub(crate) struct Columns {
    /// One expression of type `Field` for each.
    fields: Vec<TokenStream>,
    /// One statement for each, that writes from `this` into `out`.
    writes: Vec<TokenStream>,
    /// One span for each, for the checks.
    spans: Vec<Span>,
}

impl Columns {
    /// Those on the fields of `input`.
    pub(crate) fn of_fields(private: &TokenStream, input: &Struct) -> Self {
        let mut columns = Columns { fields: Vec::new(), writes: Vec::new(), spans: Vec::new() };
        let owner = &input.ident;
        for field in &input.fields {
            for index in &field.indexes {
                let (ident, ty) = (&field.ident, &field.ty);
                let plain = index.path.is_none() && index.with.is_none();
                let steps = index.path.as_ref().map(|path| path.steps.as_slice()).unwrap_or_default();
                let value = access(private, quote!(&this.#ident), steps, index.with.as_ref());
                let (shape, write) = if plain {
                    // On the type's own tokens: a type that cannot be stored is reported there.
                    (
                        quote_spanned!(ty.span()=> <#ty as #private::ColumnValue>::SHAPE),
                        quote_spanned!(ty.span()=> <#ty as #private::ColumnValue>::write(&this.#ident, out);),
                    )
                } else {
                    let span = value_span(index, ty);
                    (
                        quote_spanned!(span=> #private::shape_of(|this: &#owner| #value)),
                        quote_spanned!(span=> #private::ColumnValue::write(&#value, out);),
                    )
                };
                columns.push(private, index, &column_name(field, index), shape, write, field.ident.span());
            }
        }
        columns
    }

    /// Those on the struct itself, which take from `Meta`.
    fn of_metadata(private: &TokenStream, input: &Struct) -> Self {
        let mut columns = Columns { fields: Vec::new(), writes: Vec::new(), spans: Vec::new() };
        for index in &input.metadata {
            let (Some(path), Some(column)) = (&index.path, &index.column) else { continue };
            let Some(leaf) = path.steps.get(1) else { continue };
            let value = access(private, quote_spanned!(leaf.span()=> &this.#leaf), &[], index.with.as_ref());
            let span = path.literal.span();
            let shape = quote_spanned!(span=> #private::shape_of(|this: &#private::Meta| #value));
            let write = quote_spanned!(span=> #private::ColumnValue::write(&#value, out););
            columns.push(private, index, &column.value(), shape, write, column.span());
        }
        columns
    }

    fn push(&mut self, private: &TokenStream, index: &Index, name: &str, shape: TokenStream, write: TokenStream, span: Span) {
        let name_span = index.column.as_ref().map_or(span, |column| column.span());
        let name = syn::LitStr::new(name, name_span);
        let mut field = quote_spanned!(name_span=> #private::Field::new(#name, #shape));
        if let Some(ty) = &index.ty {
            field = quote_spanned!(ty.span()=> #field.ty(#ty));
        }
        if !index.key {
            field = quote!(#field.without_key());
        }
        if let Some(was) = &index.was {
            field = quote_spanned!(was.span()=> #field.was(#was));
        }
        self.fields.push(field);
        self.writes.push(write);
        self.spans.push(name_span);
    }

    /// One constant a field that fails on the field's own tokens; `fields` is the constant slice of them all.
    fn checks(&self, private: &TokenStream, fields: &TokenStream) -> TokenStream {
        self.spans
            .iter()
            .enumerate()
            .map(|(i, span)| {
                quote_spanned! {*span=>
                    const _: () = #private::check_field(&#fields[#i]);
                    const _: () = #private::check_fields_apart(#fields.split_at(#i).0, &#fields[#i]);
                }
            })
            .collect()
    }
}

/// Where a value that cannot be stored is reported: at `with`, else at `path`, else at the type.
fn value_span(index: &Index, ty: &syn::Type) -> Span {
    match (&index.with, &index.path) {
        (Some(with), _) => with.span(),
        (None, Some(path)) => path.literal.span(),
        (None, None) => ty.span(),
    }
}

/// The implementation of `Indexed` and, where `as_value`, of `ColumnValue` as a nested value.
pub(crate) fn indexed_impl(private: &TokenStream, input: &Struct, as_value: bool) -> TokenStream {
    let ident = &input.ident;
    let columns = Columns::of_fields(private, input);
    let (fields, writes) = (&columns.fields, &columns.writes);
    let checks = columns.checks(private, &quote!(<#ident as #private::Indexed>::FIELDS));
    let value = as_value.then(|| {
        quote! {
            #[automatically_derived]
            impl #private::ColumnValue for #ident {
                const SHAPE: #private::Shape = {
                    const FIELDS: &[#private::Field] = <#ident as #private::Indexed>::FIELDS;
                    const PARTS: [#private::Part; #private::Field::count(FIELDS)] = #private::Field::parts(FIELDS, false);
                    #private::Shape { parts: &PARTS }
                };
                fn write(&self, out: &mut #private::Values) {
                    <#ident as #private::Indexed>::write(self, out);
                }
            }
        }
    });
    quote! {
        #[automatically_derived]
        impl #private::Indexed for #ident {
            const FIELDS: &'static [#private::Field] = &[#(#fields),*];
            #[allow(unused_variables, unused_imports)]
            fn write(&self, out: &mut #private::Values) {
                use #private::{ViaOption as _, ViaPlain as _};
                let this = self;
                #(#writes)*
            }
        }
        #value
        #checks
    }
}

/// Puts the code where its names meet nobody else's.
pub(crate) fn wrap(private: &TokenStream, code: TokenStream) -> TokenStream {
    quote! {
        const _: () = {
            #[allow(unused_imports)]
            use #private::{ViaOption as _, ViaPlain as _};
            #code
        };
    }
}

/// `#[derive(Indexed)]`.
pub(crate) fn indexed(context: &Context, input: DeriveInput) -> TokenStream {
    let Some(input) = Struct::read(context, input, "Indexed") else { return TokenStream::new() };
    check::nested(context, &input, "Indexed");
    let private = private(context, input.ingest.krate.as_ref());
    wrap(&private, indexed_impl(&private, &input, true))
}
