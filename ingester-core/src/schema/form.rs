//! The two forms of a column of many values: a list or a map.

/// The form of a column of many values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// A list: each value once.
    List,
    /// A map: a value for each key.
    Map,
}
