//! Registries: the lists of kinds that a program mirrors, joined in a constant.
//!
//! May use: kind.
//!
//! Whatever makes two kinds of one registry impossible belongs into [`join_registries`], where it is a compile error.

use crate::kind::Kind;

/// Joins registries in a constant: the kinds of other crates, and one's own.
///
/// ```
/// use ingester_core::{Ingestable, Kind, registry};
/// use serde::Deserialize;
///
/// mod other_crate {
///     # use ingester_core::{Ingestable, Kind};
///     # #[derive(Ingestable, serde::Deserialize)]
///     # #[ingest(group = "", version = "v1", kind = "Node")]
///     # pub struct Node {}
///     pub const KINDS: &[Kind] = &[Kind::of::<Node>()];
/// }
///
/// #[derive(Ingestable, Deserialize)]
/// #[ingest(group = "example.com", version = "v1", kind = "Widget", namespaced)]
/// pub struct Widget {}
///
/// pub const KINDS: &[Kind] = registry![other_crate::KINDS, &[Kind::of::<Widget>()]];
///
/// let names: Vec<&str> = KINDS.iter().map(Kind::kind).collect();
/// assert_eq!(names, ["Node", "Widget"]);
/// ```
#[macro_export]
macro_rules! registry {
    ($($kinds:expr),* $(,)?) => {{
        // Constants have no hygiene: `KINDS` here would be meant by an argument of that name.
        const __REGISTRIES: &[&[$crate::Kind]] = &[$($kinds),*];
        const __JOINED: [$crate::Kind; $crate::__private::count_kinds(__REGISTRIES)] = $crate::__private::join_registries(__REGISTRIES);
        &__JOINED
    }};
}

/// How many kinds these registries have together.
pub const fn count_kinds(registries: &[&[Kind]]) -> usize {
    let (mut count, mut r) = (0, 0);
    while r < registries.len() {
        count += registries[r].len();
        r += 1;
    }
    count
}

/// The kinds of these registries, in their order.
///
/// # Panics
/// When `N` is not [`count_kinds`] of them; [`registry!`](crate::registry) passes it.
pub const fn join_registries<const N: usize>(registries: &[&[Kind]]) -> [Kind; N] {
    let mut joined = [Kind::refused(); N];
    let (mut n, mut r) = (0, 0);
    while r < registries.len() {
        let mut k = 0;
        while k < registries[r].len() {
            joined[n] = registries[r][k];
            n += 1;
            k += 1;
        }
        r += 1;
    }
    assert!(n == N);
    joined
}

#[cfg(test)]
mod tests {
    use crate::Kind;
    use crate::fixture::MODEL;
    use crate::schema::Table;

    macro_rules! kind {
        ($name:literal) => {{
            const TABLE: Table = Table::derived($name, &[], &[]);
            let mut definition = *MODEL.definition();
            definition.kind = $name;
            definition.table = &TABLE;
            Kind::new(definition, *MODEL.functions())
        }};
    }

    const KINDS: &[Kind] = &[kind!("First"), kind!("Second")];

    // The name of the first argument is the one that most registries have. The others are made in place.
    const JOINED: &[Kind] = crate::registry![KINDS, &[], &[MODEL]];

    fn names(kinds: &[Kind]) -> Vec<&str> {
        kinds.iter().map(Kind::kind).collect()
    }

    #[test]
    fn registries_are_joined_in_the_order_of_the_arguments() {
        assert_eq!(names(JOINED), ["First", "Second", "Model"]);
        const LONGER: &[Kind] = crate::registry![&[kind!("Zeroth")], JOINED,];
        assert_eq!(names(LONGER), ["Zeroth", "First", "Second", "Model"]);
        const NONE: &[Kind] = crate::registry![];
        assert!(NONE.is_empty());
    }
}
