//! Which rows are of a kind's API group.

/// The API group of a kind's rows, whatever their version: rows that were written under an older version of the kind also belong
/// to it.
#[derive(Clone, Debug)]
pub struct GroupFilter(Option<[String; 2]>);

impl GroupFilter {
    /// The group; empty for the core group, whose `group_ver` is only a version.
    pub fn new(group: &str) -> Self {
        // By byte, as `group_ver` compares, everything that begins with a slash lies between `/` and `0`.
        GroupFilter((!group.is_empty()).then(|| [format!("{group}/"), format!("{group}0")]))
    }

    /// The condition that a row is of the group.
    pub(super) fn condition(&self) -> &'static str {
        match self.0 {
            None => r#""group_ver" NOT LIKE '%/%'"#,
            Some(_) => r#""group_ver" >= ? AND "group_ver" < ?"#,
        }
    }

    /// The parameters of the condition: from which `group_ver` on, and below which.
    pub(super) fn params(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flatten().map(String::as_str)
    }
}
