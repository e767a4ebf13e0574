//! Implementations that do nothing, for an item that has been refused.

use crate::model::RefusedItem;
use proc_macro2::TokenStream;
use quote::quote;

pub(super) fn expand(refused: &RefusedItem) -> TokenStream {
    let ident = &refused.ident;
    let (generics, arguments, conditions) = refused.generics.split_for_impl();
    let indexed = refused.indexed.then(|| {
        quote! {
            #[automatically_derived]
            impl #generics __ingester::Indexed for #ident #arguments #conditions {
                const FIELDS: &'static [__ingester::Field] = &[];
                fn write(&self, _: &mut __ingester::Values) {}
            }
        }
    });
    let column_value = refused.column_value.then(|| {
        quote! {
            #[automatically_derived]
            impl #generics __ingester::ColumnValue for #ident #arguments #conditions {
                const SHAPE: __ingester::Shape = __ingester::Shape { parts: &[] };
                fn write(&self, _: &mut __ingester::Values) {}
            }
        }
    });
    let ingestable = refused.kind.as_ref().map(|kind| {
        quote! {
            #[automatically_derived]
            impl __ingester::Ingestable for #kind {
                const KIND: __ingester::Kind = __ingester::Kind::refused();
            }
        }
    });
    quote!(#indexed #column_value #ingestable)
}
