//! Queries about a kind's tables, as data. Everything that reads objects does so with a [`Query`].
//!
//! | file | what it has |
//! |---|---|
//! | `model.rs` | the query, as it is asked |
//! | `ask/` | the same while it is read, in any spelling: the only way from a text to a query |
//! | `check.rs` | the same query about a kind's table: every field is a column, every value of that column's type |
//! | `rule.rs` | what is wrong with the conditions of a rule, besides what is wrong with any query |
//! | `keys.rs` | which keys answer it |
//! | `reads.rs` | which parts of a row it reads |
//! | `selector/` | Kubernetes' label and field selectors |
//! | `order.rs` | orders as people write them |
//! | `time.rs` | times as people write them |
//! | `token.rs`, `fingerprint.rs` | where the next page begins, and of which query |
//! | `list_options.rs` | the list options of the reference system |
//!
//! May use: ingester-core.
//! Must not: do I/O, know SQL text (that is `dialect`).

mod ask;
mod check;
mod fingerprint;
mod keys;
mod list_options;
mod model;
mod order;
mod reads;
mod rule;
mod selector;
mod time;
mod token;

pub use ask::{Ask, AskKey, KeyError, Meaning, Spelling, StateName, truth};
pub use check::{CheckedQuery, Comparison, Condition, Hint, JsonPath, Operand, PairTest, Pattern, QueryError, SortKey};
pub use ingester_core::query::{Filter, Order, Test};
pub use keys::{Route, Routes};
pub use list_options::{ListOptions, ListOptionsError, parse_list_options};
pub use model::{Query, States};
pub use order::{OrderError, parse_order};
pub use reads::Reads;
pub use rule::{check_rule, fields_without_value};
pub use selector::{
    SelectorError, SelectorParameter, parse_field_selector, parse_kubernetes_field_selector, parse_label_selector,
    parse_label_selector_with_parameters,
};
pub use time::{AsOf, TIMES, TimeError, parse_time};
pub use token::{Continue, TokenError};
