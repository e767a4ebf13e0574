//! The rules by which objects of a kind may leave etcd: their constant, and its checks.

use super::{check, refuse};
use crate::model::{EvictionRule, KindDeclaration};
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use syn::LitStr;

/// The constant of the rules, and what adds them to the kind; both empty without one.
pub(super) fn rules(rules: &[EvictionRule]) -> (TokenStream, TokenStream) {
    if rules.is_empty() {
        return Default::default();
    }
    let rules = rules.iter().map(rule);
    (quote!(const __EVICT: &[__ingester::EvictionRule] = &[#(#rules),*];), quote!(.evicting(__EVICT)))
}

fn rule(rule: &EvictionRule) -> TokenStream {
    let text = |text: &Option<LitStr>| text.as_ref().map_or_else(|| quote!(""), |text| quote!(#text));
    let option = |value: Option<TokenStream>| match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    };
    let name = text(&rule.name);
    let fields = text(&rule.field_selector);
    let labels = text(&rule.label_selector);
    let of_namespaces = text(&rule.namespace_selector);
    let after = rule.after.as_ref().map(|text| quote!(__ingester::after(#text)));
    let after = option(after);
    let since = option(rule.since.as_ref().map(|since| quote!(#since)));
    let keep_last = rule.keep_last.as_ref().map(|(count, by)| {
        let count = Literal::usize_unsuffixed(*count as usize);
        quote!((#count, &[#(#by),*]))
    });
    let keep_last = option(keep_last);
    let namespaces = rule.namespaces.as_deref().unwrap_or_default();
    quote! {
        __ingester::EvictionRule {
            name: #name,
            field_selector: #fields,
            label_selector: #labels,
            after: #after,
            since: #since,
            keep_last: #keep_last,
            namespaces: &[#(#namespaces),*],
            namespace_selector: #of_namespaces,
        }
    }
}

/// The checks of the rules, each on the tokens that it checks.
pub(super) fn checks(kind: &KindDeclaration) -> TokenStream {
    let immutable = kind.immutable;
    let namespaced = kind.namespaced;
    let evictable = match kind.evictable {
        Some(evictable) => quote!(::core::option::Option::Some(#evictable)),
        None => quote!(::core::option::Option::None),
    };
    let mut checks = TokenStream::new();
    if let Some(rule) = kind.evict.first() {
        checks.extend(check(rule.span, quote!(check_evictable(#immutable, #evictable))));
    }
    for (place, rule) in kind.evict.iter().enumerate() {
        let place = Literal::usize_unsuffixed(place);
        let span = rule.name.as_ref().map_or(rule.span, LitStr::span);
        checks.extend(check(span, quote!(check_evict(__EVICT, #place))));
        if let Some(text) = &rule.field_selector {
            checks.extend(check(text.span(), quote!(check_evict_fields(&__TABLE, #text))));
        }
        if let Some(text) = &rule.after {
            checks.extend(refuse(text, "refuse_after"));
        }
        if let Some(text) = &rule.since {
            checks.extend(check(text.span(), quote!(check_evict_since(&__TABLE, #text))));
        }
        for text in rule.keep_last.iter().flat_map(|(_, by)| by) {
            checks.extend(check(text.span(), quote!(check_evict_by(&__TABLE, #text))));
        }
        for text in rule.namespaces.iter().flatten() {
            checks.extend(check(text.span(), quote!(check_evict_namespace(#text))));
        }
        if let Some(text) = rule.namespaces.iter().flatten().next().or(rule.namespace_selector.as_ref()) {
            checks.extend(check(text.span(), quote!(check_evict_namespaces(#namespaced))));
        }
    }
    checks
}
