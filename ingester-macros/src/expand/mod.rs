//! The last pass: a [`Model`] as code, constants and one-line delegations. Bodies are in `ingester_core`.
//!
//! The code stands in the user's module. So it is in a block of its own, its names begin with two underscores, it uses
//! nothing of the prelude, and all that it takes from the library goes through one import.

mod columns;
mod kind;
mod refused;

use crate::model::{Model, Record, UnitEnum};
use columns::{Columns, Names};
use proc_macro2::TokenStream;
use quote::quote;

/// The code for `model`; `library` is the path of `ingester_core`.
pub(crate) fn expand(library: &TokenStream, model: &Model) -> TokenStream {
    let code = match model {
        Model::Kind(record, declared) => kind::expand(record, declared.as_ref()),
        Model::Nested(record) => nested(record),
        Model::Composite(record) => composite(record),
        Model::UnitEnum(unit_enum) => column_value_of_enum(unit_enum),
        Model::Refused(refused) => refused::expand(refused),
    };
    quote! {
        const _: () = {
            use #library::__private as __ingester;
            #code
        };
    }
}

/// `Indexed` of a struct.
fn indexed(record: &Record, columns: &Columns<'_>) -> TokenStream {
    let ident = &record.ident;
    let (constants, names) = (columns.constants(&quote!(#ident)), columns.names());
    let writes = columns.writes(&quote!(self));
    let allow = allow_deprecated(record.deprecated);
    quote! {
        #constants
        #allow
        #[automatically_derived]
        impl __ingester::Indexed for #ident {
            const FIELDS: &'static [__ingester::Field] = &[#(#names),*];
            fn write(&self, __out: &mut __ingester::Values) {
                #writes
            }
        }
    }
}

/// A struct under `Indexed` is a value too: its columns, each with its own key.
fn nested(record: &Record) -> TokenStream {
    let ident = &record.ident;
    let columns = Columns::new(&record.columns, record.deprecated, &mut Names::default());
    let (indexed, checks) = (indexed(record, &columns), columns.checks(true));
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
        #checks
    }
}

/// A composite is one column a field, with one key over all.
fn composite(record: &Record) -> TokenStream {
    let ident = &record.ident;
    let columns = Columns::new(&record.columns, record.deprecated, &mut Names::default());
    let (constants, names) = (columns.constants(&quote!(#ident)), columns.names());
    let (writes, checks) = (columns.writes(&quote!(self)), columns.checks(false));
    let allow = allow_deprecated(record.deprecated);
    quote! {
        #constants
        const __FIELDS: &[__ingester::Field] = &[#(#names),*];
        const __PARTS: [__ingester::Part; __ingester::Field::count(__FIELDS)] = __ingester::Field::joint_parts(__FIELDS);
        #allow
        #[automatically_derived]
        impl __ingester::ColumnValue for #ident {
            const SHAPE: __ingester::Shape = __ingester::Shape { parts: &__PARTS };
            fn write(&self, __out: &mut __ingester::Values) {
                #writes
            }
        }
        #checks
    }
}

/// A unit enum is one column with the variant's name.
fn column_value_of_enum(unit_enum: &UnitEnum) -> TokenStream {
    let ident = &unit_enum.ident;
    let allow = allow_deprecated(unit_enum.deprecated);
    let arms = unit_enum.variants.iter().map(|variant| {
        let (variant, name) = (&variant.ident, &variant.name);
        quote!(#ident::#variant { .. } => #name)
    });
    quote! {
        #allow
        #[automatically_derived]
        impl __ingester::ColumnValue for #ident {
            const SHAPE: __ingester::Shape = __ingester::Shape::scalar(__ingester::SqlType::VarChar(255));
            fn write(&self, __out: &mut __ingester::Values) {
                let __name = match self {
                    #(#arms,)*
                };
                __ingester::named(__name, __out);
            }
        }
    }
}

/// What keeps the use of something deprecated from being a warning about code that nobody wrote. Only where there is
/// one: a crate that forbids the lint would refuse the attribute.
fn allow_deprecated(deprecated: bool) -> Option<TokenStream> {
    deprecated.then(|| quote!(#[allow(deprecated)]))
}
