//! Kubernetes' selectors, with the grammar and the rules of `k8s.io/apimachinery`.
//!
//! | file | what it has |
//! |---|---|
//! | `labels.rs` | the grammar of label selectors |
//! | `fields.rs` | the grammar of field selectors |

mod fields;
mod labels;
#[cfg(test)]
mod tests;

pub use fields::{parse_field_selector, parse_kubernetes_field_selector};
pub use labels::{SelectorParameter, parse_label_selector, parse_label_selector_with_parameters};

use ingester_core::place::Place;

/// Returns the advice about an operator that is written as in SQL, `IN` or `not in`; empty for other words.
fn advice_about_case(words: &str) -> String {
    let mut words = words.split_whitespace();
    let (Some(first), second) = (words.next(), words.next().unwrap_or_default()) else { return String::new() };
    let is = |word: &str, operator: &str| word.eq_ignore_ascii_case(operator);
    match (first, second) {
        ("in" | "notin", _) => String::new(),
        _ if is(first, "not") && is(second, "in") => format!("; `{first} {second}` is written `notin`"),
        _ if is(first, "in") || is(first, "notin") => {
            format!("; `{first}` is written in lower case, `{}`", first.to_ascii_lowercase())
        }
        _ => String::new(),
    }
}

/// Why a text is not a selector, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{grammar} {place}: {what}")]
pub struct SelectorError {
    grammar: &'static str,
    place: Place,
    what: String,
}
