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

/// Why a text is not a selector, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{grammar} {place}: {what}")]
pub struct SelectorError {
    grammar: &'static str,
    place: Place,
    what: String,
}
