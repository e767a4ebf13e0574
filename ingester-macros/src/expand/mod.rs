//! The last pass: a [`Model`] as code, which is constants and one-line delegations. The bodies are in `ingester_core`.
//!
//! The code stands in the user's module. So it has a separate block, its names begin with two underscores, it does not
//! use the prelude, and it reaches the library through one import.
//!
//! May use: model, span.

mod columns;
mod evict;
mod handles;
mod kind;
mod refused;

use crate::model::{ColumnDeclaration, KindDeclaration, Model, NamedVariant, Record, Source, UnitEnum};
use crate::span::placed;
use columns::{Columns, Names};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::LitStr;

/// The code for `model`; `library` is the path of `ingester_core`.
pub(crate) fn expand(library: &TokenStream, model: &Model) -> TokenStream {
    let code = match model {
        Model::Kind(record, declared) => kind::expand(record, declared.as_deref()),
        Model::Nested(record) => nested(record),
        Model::Composite(record) => composite(record),
        Model::UnitEnum(unit_enum) => column_value_of_enum(unit_enum),
        Model::Refused(refused) => refused::expand(refused),
    };
    let fallbacks = fallbacks(model);
    quote! {
        const _: () = {
            use #library::__private as __ingester;
            #fallbacks
            #code
        };
    }
}

/// A check of the library: a compile error at `span` with what it finds.
fn check(span: Span, call: TokenStream) -> TokenStream {
    placed(span, quote!(const _: () = __ingester::refuse(__ingester::#call);))
}

/// A check of the library that fails by itself: a compile error at this text. Nothing else evaluates it, so it is reported once.
fn refuse(text: &LitStr, name: &str) -> TokenStream {
    let name = Ident::new(name, text.span());
    placed(text.span(), quote!(const _: () = __ingester::#name(#text);))
}

/// Traits that give a type which cannot be stored a layout anyway, so that its error is reported once.
fn fallbacks(model: &Model) -> TokenStream {
    let (record, kind) = match model {
        Model::Kind(record, kind) => (record, kind.as_deref()),
        Model::Nested(record) | Model::Composite(record) => (record, None),
        Model::UnitEnum(_) | Model::Refused(_) => return TokenStream::new(),
    };
    let is_field = |column: &ColumnDeclaration| matches!(column.source, Source::Field { .. });
    let layout = record.columns.iter().any(is_field).then(|| {
        quote!(
            use __ingester::NoLayout as _;
        )
    });
    let fields = kind.and_then(KindDeclaration::status).map(|_| {
        quote!(
            use __ingester::NoFields as _;
        )
    });
    quote!(#layout #fields)
}

/// `Indexed` of a struct.
fn indexed(record: &Record, columns: &Columns<'_>) -> TokenStream {
    let ident = &record.ident;
    let constants = columns.constants(&quote!(#ident));
    let names = columns.names();
    let writes = columns.writes(&quote!(self));
    let defaulted = record.defaulted.then(|| {
        quote!(
            const DEFAULTED: ::core::primitive::bool = true;
        )
    });
    quote! {
        #constants
        #[automatically_derived]
        impl __ingester::Indexed for #ident {
            const FIELDS: &'static [__ingester::Field] = &[#(#names),*];
            #defaulted
            fn write(&self, __out: &mut __ingester::Values) {
                #writes
            }
        }
    }
}

/// A struct under `Indexed` is a value too: its columns, each with its own key.
fn nested(record: &Record) -> TokenStream {
    let ident = &record.ident;
    let columns = Columns::new(&record.columns, &mut Names::default());
    let (indexed, checks) =
        (indexed(record, &columns), columns.checks(&columns.of_part(), |column| column.check_key()));
    let handles = handles::of_struct(record);
    quote! {
        #indexed
        const __FIELDS: &[__ingester::Field] = <#ident as __ingester::Indexed>::FIELDS;
        const __PARTS: [__ingester::Part; __ingester::Field::count(__FIELDS)] = __ingester::Field::own_parts(__FIELDS);
        #[automatically_derived]
        impl __ingester::ColumnValue for #ident {
            const SHAPE: __ingester::Shape = __ingester::Shape { parts: &__PARTS };
            fn write(&self, __out: &mut __ingester::Values) {
                __ingester::Indexed::write(self, __out);
            }
        }
        #handles
        #checks
    }
}

/// A composite is one column a field, with one key over all. That key is checked where it is used.
fn composite(record: &Record) -> TokenStream {
    let ident = &record.ident;
    let columns = Columns::new(&record.columns, &mut Names::default());
    let constants = columns.constants(&quote!(#ident));
    let names = columns.names();
    let writes = columns.writes(&quote!(self));
    let checks = columns.checks(&columns.of_part(), |_| TokenStream::new());
    let handles = handles::of_struct(record);
    quote! {
        #constants
        const __FIELDS: &[__ingester::Field] = &[#(#names),*];
        const __PARTS: [__ingester::Part; __ingester::Field::count(__FIELDS)] = __ingester::Field::joint_parts(__FIELDS);
        #[automatically_derived]
        impl __ingester::ColumnValue for #ident {
            const SHAPE: __ingester::Shape = __ingester::Shape { parts: &__PARTS };
            fn write(&self, __out: &mut __ingester::Values) {
                #writes
            }
        }
        #handles
        #checks
    }
}

/// A unit enum is one column with the variant's name.
fn column_value_of_enum(unit_enum: &UnitEnum) -> TokenStream {
    let ident = &unit_enum.ident;
    let handles = handles::of_enum(unit_enum);
    let arms = unit_enum.variants.iter().map(|variant| {
        let NamedVariant { ident: variant, name, data } = variant;
        let data = data.then(|| quote!({ .. }));
        quote!(#ident::#variant #data => #name)
    });
    quote! {
        #[automatically_derived]
        impl __ingester::ColumnValue for #ident {
            const SHAPE: __ingester::Shape = __ingester::Shape {
                parts: &[__ingester::Part::of_names(<#ident as __ingester::Names>::ALL)],
            };
            fn write(&self, __out: &mut __ingester::Values) {
                let __name = match self {
                    #(#arms,)*
                };
                __ingester::named(__name, __out);
            }
        }
        #handles
    }
}
