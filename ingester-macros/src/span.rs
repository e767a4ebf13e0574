//! Where rustc points: at the user's own tokens.
//!
//! May use: nothing.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};

/// The place of `span`, but as code of the derive: lints that look at the user's own code skip it.
pub(crate) fn at(span: Span) -> Span {
    Span::call_site().located_at(span)
}

/// A name of the user that the derive uses: lints do not count the use as the user's.
pub(crate) fn used(ident: &Ident) -> Ident {
    let mut ident = ident.clone();
    ident.set_span(at(ident.span()));
    ident
}

/// `tokens`, all of them at `span`. rustc points at a whole expression, from its first token to its last: one token that is
/// placed elsewhere would move the message away from the user's own.
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
