//! What a column of many values holds: a list or a map.

/// What a column of many values is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// A list: each value once.
    List,
    /// A map: a value for each key.
    Map,
}
