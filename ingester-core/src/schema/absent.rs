//! The stored value when an object has no value.

/// The stored value when an object has no value: the field is missing, it is `null`, or the value that contains it is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Absent {
    /// Not set, which acts as [`Absent::Type`].
    #[default]
    Unsaid,
    /// Follows the Rust type: NULL for an `Option`, else the type's default (`absent = "type"`).
    Type,
    /// NULL (`absent = "null"`). Kinds of files have this unless they say otherwise.
    Null,
    /// `""`, 0 or false (`absent = "empty"`). A time has no such value and is NULL.
    Empty,
}

impl Absent {
    /// Its word in structs and files.
    pub const fn word(self) -> &'static str {
        match self {
            Absent::Unsaid | Absent::Type => "type",
            Absent::Null => "null",
            Absent::Empty => "empty",
        }
    }

    /// Parses such a word; `None` for any other.
    pub const fn read(word: &str) -> Option<Self> {
        let all = [Absent::Type, Absent::Null, Absent::Empty];
        let mut i = 0;
        while i < all.len() {
            if super::text::same(all[i].word(), word) {
                return Some(all[i]);
            }
            i += 1;
        }
        None
    }
}

/// The unit in which a column counts a quantity of Kubernetes, such as `500m` or `2Gi`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Whole units, rounded up: bytes of a memory, CPUs (`unit = "whole"`).
    Whole,
    /// Thousandths, rounded up: `500m` of a CPU is 500 (`unit = "milli"`).
    Milli,
}

impl Unit {
    /// Its word in structs and files.
    pub const fn word(self) -> &'static str {
        match self {
            Unit::Whole => "whole",
            Unit::Milli => "milli",
        }
    }

    /// Parses such a word; `None` for any other.
    pub const fn read(word: &str) -> Option<Self> {
        if super::text::same(word, Unit::Whole.word()) {
            return Some(Unit::Whole);
        }
        if super::text::same(word, Unit::Milli.word()) { Some(Unit::Milli) } else { None }
    }

    /// How many of this unit make one.
    pub const fn of_one(self) -> i128 {
        match self {
            Unit::Whole => 1,
            Unit::Milli => 1000,
        }
    }
}
