//! Where `ingester_core` is in the user's crate.
//!
//! May use: nothing.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Path;

/// Its path: the one of `#[ingest(crate = "...")]`, else its own name.
pub(crate) fn path(given: Option<&Path>) -> TokenStream {
    given.map_or_else(|| quote!(::ingester_core), |path| quote!(#path))
}
