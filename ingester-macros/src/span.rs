//! Where rustc points: at the user's own tokens.
//!
//! May use: nothing.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};

/// The place of `span`, but as code of the derive: what the user has switched on for own code does not judge it.
pub(crate) fn at(span: Span) -> Span {
    Span::call_site().located_at(span)
}

/// A name that the derive uses: its place stays, but the lints that look at the user's code do not judge the use.
pub(crate) fn used(ident: &Ident) -> Ident {
    let mut ident = ident.clone();
    ident.set_span(at(ident.span()));
    ident
}

/// `tokens`, all of them at `span`. rustc points at the whole of an expression, from its first token to its last, so that
/// one token that is placed elsewhere would pull the message away from the user's own.
pub(crate) fn placed(span: Span, tokens: TokenStream) -> TokenStream {
    let span = at(span);
    tokens
        .into_iter()
        .map(|mut token| {
            if let TokenTree::Group(group) = &token {
                token = TokenTree::Group(Group::new(group.delimiter(), placed(span, group.stream())));
            }
            token.set_span(span);
            token
        })
        .collect()
}
