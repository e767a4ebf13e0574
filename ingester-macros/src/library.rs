//! Where `ingester_core` is in the user's crate.
//!
//! May use: context.

use crate::context::Context;
use proc_macro_crate::FoundCrate;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Ident, Path};

/// Its path: the one of `#[ingest(crate = "...")]`, else by the name that the user's manifest gives it.
pub(crate) fn path(context: &Context, given: Option<&Path>) -> TokenStream {
    if let Some(path) = given {
        return quote!(#path);
    }
    match proc_macro_crate::crate_name("ingester-core") {
        Ok(FoundCrate::Name(name)) => {
            let name = Ident::new(&name, Span::call_site());
            quote!(::#name)
        }
        // Inside ingester-core itself, whose tests, examples and doc tests see it by its name.
        Ok(FoundCrate::Itself) => quote!(::ingester_core),
        Err(_) => {
            context.error_at(
                Span::call_site(),
                "ingester-core is not a dependency of this crate: add it, or name where it is with `#[ingest(crate = \"path\")]`",
            );
            quote!(::ingester_core)
        }
    }
}
