//! The part of `#[serde(...)]` that renames. serde reports the mistakes in it.

use super::named;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr};

/// The text of `#[serde(name = "...")]`, or of `#[serde(name(serialize = "..."))]`.
pub(super) fn text(attributes: &[Attribute], name: &str) -> Option<LitStr> {
    let mut found = None;
    for attribute in named(attributes, "serde") {
        let _ = attribute.parse_nested_meta(|meta| {
            let ours = meta.path.is_ident(name);
            if meta.input.peek(syn::Token![=]) {
                let value: Expr = meta.value()?.parse()?;
                if let (true, Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) = (ours, value) {
                    found = Some(text);
                }
            } else if meta.input.peek(syn::token::Paren) {
                meta.parse_nested_meta(|inner| {
                    let text: LitStr = inner.value()?.parse()?;
                    if ours && inner.path.is_ident("serialize") {
                        found = Some(text);
                    }
                    Ok(())
                })?;
            }
            Ok(())
        });
    }
    found
}
