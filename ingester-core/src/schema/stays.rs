//! Values that stay stored although the object does not have them any more.

use serde::{Deserialize, Serialize};

/// Which stored values of a column an object's new value does not replace. An object that was deleted and made again under its name has
/// another uid, and so a row of its own: nothing stays from one to the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stays {
    /// None: the column has what the object has.
    #[default]
    None,
    /// The stored value stays where the object has none (`#[index(keep)]`).
    Keep,
    /// The first value that is stored stays (`#[index(first)]`).
    First,
}

impl Stays {
    /// Returns true if the stored value stays. The arguments say whether it is NULL, and whether the object's value is NULL.
    pub const fn holds(self, stored_is_null: bool, new_is_null: bool) -> bool {
        match self {
            Stays::None => false,
            Stays::Keep => new_is_null,
            Stays::First => !stored_is_null,
        }
    }

    /// Returns true if values that stay under this rule may be overwritten under another one.
    pub const fn is_weakened_by(self, other: Stays) -> bool {
        match (self, other) {
            (Stays::None, _) | (Stays::Keep, Stays::Keep | Stays::First) | (Stays::First, Stays::First) => false,
            (Stays::Keep, Stays::None) | (Stays::First, Stays::None | Stays::Keep) => true,
        }
    }

    /// Returns true for [`Stays::None`].
    pub const fn is_none(&self) -> bool {
        matches!(self, Stays::None)
    }

    /// How `#[index]` writes it; nothing for [`Stays::None`].
    pub const fn word(self) -> &'static str {
        match self {
            Stays::None => "",
            Stays::Keep => "keep",
            Stays::First => "first",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Stays;

    #[test]
    fn a_rule_is_weakened_by_one_that_overwrites_more() {
        let weakened = |from: Stays| [Stays::None, Stays::Keep, Stays::First].map(|to| from.is_weakened_by(to));
        assert_eq!(weakened(Stays::None), [false, false, false]);
        assert_eq!(weakened(Stays::Keep), [true, false, false]);
        assert_eq!(weakened(Stays::First), [true, true, false]);
    }
}
