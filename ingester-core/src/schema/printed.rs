//! How tables of objects print columns.

/// How a table of objects prints a column, as a printer column of a CRD says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// Its heading; `None` for its name.
    pub header: Option<&'static str>,
    /// Only a wide table has it, or every table; `None` for what its place among the columns says.
    pub wide: Option<bool>,
    /// The age of a time is printed.
    pub age: bool,
    /// Its position among the printed columns (`#[ingest(columns(...))]`). Columns without one follow, in the order of the table.
    pub position: Option<u16>,
}

impl Printed {
    /// The heading is the column's name, and its place decides whether only a wide table has it.
    pub const PLAIN: Self = Printed { header: None, wide: None, age: false, position: None };

    /// Returns these settings; `other` supplies those that are not set.
    pub(super) const fn or(self, other: Self) -> Self {
        Printed {
            header: if self.header.is_some() { self.header } else { other.header },
            wide: if self.wide.is_some() { self.wide } else { other.wide },
            age: self.age || other.age,
            position: if self.position.is_some() { self.position } else { other.position },
        }
    }
}
