//! Registries: the lists of kinds that a program mirrors, joined in a constant.
//!
//! May use: schema, kind, view, nearest.
//!
//! Every reason why two kinds cannot be in one registry belongs in [`clash`]: [`registry!`](crate::registry) makes it a compile
//! error, and [`check_registry`] an error at the start, for lists that were joined without the macro.

use crate::kind::Kind;
use crate::nearest::nearest;
use crate::schema::{Companion, Ident, Table, Text, same};
use crate::view::View;
use std::collections::{BTreeSet, HashMap};

/// The kinds and the views for which a program makes tables. A list of kinds is a registry without views.
#[derive(Clone, Copy, Debug, Default)]
pub struct Registry<'a> {
    /// The kinds.
    pub kinds: &'a [Kind],
    /// The views over their tables.
    pub views: &'a [View],
}

impl<'a> From<&'a [Kind]> for Registry<'a> {
    fn from(kinds: &'a [Kind]) -> Self {
        Registry { kinds, views: &[] }
    }
}

impl<'a, const N: usize> From<&'a [Kind; N]> for Registry<'a> {
    fn from(kinds: &'a [Kind; N]) -> Self {
        Registry { kinds, views: &[] }
    }
}

impl<'a> From<&'a Vec<Kind>> for Registry<'a> {
    fn from(kinds: &'a Vec<Kind>) -> Self {
        Registry { kinds, views: &[] }
    }
}

/// The names of a program's kinds.
#[derive(Clone, Debug)]
pub struct KindNames {
    kinds: Vec<KindName>,
}

#[derive(Clone, Debug)]
struct KindName {
    /// [`Kind::name`]
    name: &'static str,
    /// [`Kind::kind`]
    kind: &'static str,
    /// [`Kind::full_name`]
    full: String,
}

impl KindNames {
    /// The names of these kinds.
    pub fn of(kinds: &[Kind]) -> Self {
        let called = |kind: &Kind| KindName { name: kind.name(), kind: kind.kind(), full: kind.full_name() };
        KindNames { kinds: kinds.iter().map(called).collect() }
    }

    /// Returns the kinds with distinct names; `None` if their names are distinct already. The names are kept to the end of the process.
    pub fn distinct(kinds: &[Kind]) -> Option<Vec<Kind>> {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        kinds.iter().for_each(|kind| *counts.entry(kind.kind()).or_default() += 1);
        let unnamed = |kind: &Kind| counts[kind.kind()] > 1 && kind.name() == kind.kind();
        let called = |kind: &Kind| if unnamed(kind) { kind.called(kind.full_name().leak()) } else { *kind };
        kinds.iter().any(unnamed).then(|| kinds.iter().map(called).collect())
    }

    /// The name of the kind that a user names, by this name or with its group.
    ///
    /// # Errors
    /// If the kind is unknown, or several have the name; the message says which may be meant.
    pub fn find(&self, name: &str) -> Result<&'static str, String> {
        if let Some(found) = self.kinds.iter().find(|its| its.name == name || its.full == name) {
            return Ok(found.name);
        }
        let several: Vec<String> =
            self.kinds.iter().filter(|its| its.kind == name).map(|its| format!("`{}`", its.name)).collect();
        if !several.is_empty() {
            return Err(format!("several kinds have this name: use {}", several.join(" or ")));
        }
        let known: Vec<&str> = self.kinds.iter().map(|its| its.name).collect();
        Err(match nearest(name, &known) {
            Some(kind) => format!("there is no such kind; did you mean `{kind}`?"),
            None => format!("there is no such kind; there are {}", known.join(", ")),
        })
    }
}

/// Joins registries in a constant: the kinds of other crates, and one's own. Two kinds with one table, and one kind twice, are
/// compile errors.
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
        // Constants have no hygiene: an argument named `KINDS` would mean a `KINDS` defined here.
        const __REGISTRIES: &[&[$crate::Kind]] = &[$($kinds),*];
        const __JOINED: [$crate::Kind; $crate::__private::count_kinds(__REGISTRIES)] = $crate::__private::join_registries(__REGISTRIES);
        &__JOINED
    }};
}

/// How many kinds these registries have together.
pub const fn count_kinds(registries: &[&[Kind]]) -> usize {
    let mut count = 0;
    let mut r = 0;
    while r < registries.len() {
        count += registries[r].len();
        r += 1;
    }
    count
}

/// The kinds of these registries, in their order.
///
/// # Panics
/// When two of the kinds cannot be in one registry; in a constant that is a compile error. When `N` is not [`count_kinds`] of
/// them; [`registry!`](crate::registry) passes it.
#[track_caller]
pub const fn join_registries<const N: usize>(registries: &[&[Kind]]) -> [Kind; N] {
    let mut joined = [Kind::refused(); N];
    let mut n = 0;
    let mut r = 0;
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
    if let Some(clash) = first_clash(&joined) {
        clash.fail()
    }
    joined
}

/// Two kinds that cannot be in one registry, or one that can be in none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RegistryError(String);

/// Checks a registry as [`registry!`](crate::registry) does: for lists of kinds that are put together without it.
///
/// # Errors
/// When two kinds have one table, or one kind is there twice; the message names both. When a kind that prunes its objects is evictable.
pub fn check_registry(kinds: &[Kind]) -> Result<(), RegistryError> {
    let mut clashes = Vec::new();
    let mut names = TakenNames::default();
    for (place, kind) in kinds.iter().enumerate() {
        clashes.extend(alone(kind).map(|clash| (place, 0, clash)));
        clashes.extend(names.sharing(kind).into_iter().filter_map(|other| {
            let clash = clash(&kinds[other], kind)?;
            Some((other, place, clash))
        }));
        names.take(kind);
    }
    let first = clashes.into_iter().min_by_key(|(first, second, _)| (*first, *second));
    first.map_or(Ok(()), |(.., clash)| Err(RegistryError(clash.as_str().to_owned())))
}

/// Checks that two kinds can be in one registry.
///
/// # Errors
/// When they have one table, or are the same kind; the message names both.
pub fn check_pair(a: &Kind, b: &Kind) -> Result<(), RegistryError> {
    clash(a, b).map_or(Ok(()), |clash| Err(RegistryError(clash.as_str().to_owned())))
}

/// The names of kinds and of their tables. Only kinds that share a name can `clash`, so thousands of kinds need not be compared with
/// each other.
#[derive(Debug, Default)]
pub struct TakenNames {
    /// The places of the kinds that have a name, in the order in which they were added.
    by_name: HashMap<String, Vec<usize>>,
    kinds: usize,
}

impl TakenNames {
    /// Adds a kind.
    pub fn take(&mut self, kind: &Kind) {
        for name in all_names(kind) {
            self.by_name.entry(name).or_default().push(self.kinds);
        }
        self.kinds += 1;
    }

    /// The places of the kinds, in the order in which they were added, that share a name with this one.
    pub fn sharing(&self, kind: &Kind) -> BTreeSet<usize> {
        all_names(kind).iter().filter_map(|name| self.by_name.get(name)).flatten().copied().collect()
    }
}

/// The names of a kind about which it can clash with another one: its own in Kubernetes, and those of its tables, as databases compare them.
fn all_names(kind: &Kind) -> BTreeSet<String> {
    let table = kind.table();
    let companions = Companion::OF_METADATA.into_iter().chain(table.many.iter().map(Companion::Values));
    let companions = companions.map(|companion| table.companion(companion));
    let history = table.history.map(|history| history.table.name);
    let tables = companions.chain(history).chain([table.name]).map(|name| name.as_str().to_ascii_lowercase());
    // No table has a name with a slash.
    tables.chain([format!("{}/{}", kind.group(), kind.kind())]).collect()
}

/// Returns a message about the first kinds that cannot be in one registry.
const fn first_clash(kinds: &[Kind]) -> Option<Text> {
    let mut a = 0;
    while a < kinds.len() {
        if let Some(fault) = alone(&kinds[a]) {
            return Some(fault);
        }
        let mut b = a + 1;
        while b < kinds.len() {
            if let Some(clash) = clash(&kinds[a], &kinds[b]) {
                return Some(clash);
            }
            b += 1;
        }
        a += 1;
    }
    None
}

/// Why a kind can be in no registry.
const fn alone(kind: &Kind) -> Option<Text> {
    if kind.prune().is_empty() || !kind.evictable() && !kind.immutable() {
        return None;
    }
    let text = kind
        .named(Text::new("kind "))
        .str(" does not store `")
        .str(kind.prune()[0])
        .str("`, so its row can never be the only copy of an object");
    Some(text.str(": say of it that it is not evictable (`evictable` is false), or leave out `prune`"))
}

/// Why two kinds cannot be in one registry. Every controller treats the rows of its tables as its objects', and marks those as
/// deleted whose objects it does not find.
const fn clash(a: &Kind, b: &Kind) -> Option<Text> {
    // A kind that the derive refused has neither name nor table, and its error is reported already.
    if a.kind().is_empty() || b.kind().is_empty() {
        return None;
    }
    // Every version of a kind serves the same objects.
    if same(a.group(), b.group()) && same(a.kind(), b.kind()) {
        let both = b.named(a.named(Text::new("one kind is in the registry twice, as ")).str(" and as "));
        return Some(both.str(": its objects would be mirrored twice; keep one of them"));
    }
    let first = &a.table().name;
    let second = &b.table().name;
    if first.same(second) {
        let both = b.named(a.named(Text::new("kinds ")).str(" and ")).str(" have one table, `").str(first.as_str());
        return Some(both.str("`: give one of them another name with `#[ingest(table = \"...\")]`"));
    }
    if let Some(companion) = companion_named(b.table(), first) {
        return Some(companion_clash(a, first, b, companion));
    }
    // The remaining case: two companions have one name. Those for labels and annotations share a name only if their main tables do.
    if let Some(companion) = companion_named(a.table(), second) {
        return Some(companion_clash(b, second, a, companion));
    }
    if let Some(clash) = history_clash(a, b) {
        return Some(clash);
    }
    if let Some(clash) = history_clash(b, a) {
        return Some(clash);
    }
    if let Some(clash) = companions_clash(a, b) {
        return Some(clash);
    }
    companions_clash(b, a)
}

/// The table of the history of `kind` has the name of a table of `other`.
const fn history_clash(kind: &Kind, other: &Kind) -> Option<Text> {
    let Some(history) = kind.table().history else { return None };
    let name = history.table.name.as_str();
    if !other.table().has_table(name) {
        return None;
    }
    let text = kind.named(Text::new("the table of the history of kind ")).str(", `").str(name);
    let both = other.named(text.str("`, is a table of kind "));
    Some(both.str(": give one of them another name with `#[ingest(table = \"...\")]`"))
}

/// The companion of `table` that has this name.
const fn companion_named(table: &Table, name: &Ident) -> Option<Companion> {
    let mut c = 0;
    while c < table.companion_count() {
        let companion = table.companion_at(c);
        if name.is_joined(&table.name, companion.suffix()) {
            return Some(companion);
        }
        c += 1;
    }
    None
}

/// The table of many values of `kind` that has the name of a companion of `owner`.
const fn companions_clash(kind: &Kind, owner: &Kind) -> Option<Text> {
    let mut m = 0;
    while m < kind.table().many.len() {
        let name = kind.table().companion(Companion::Values(&kind.table().many[m]));
        if let Some(companion) = companion_named(owner.table(), &name) {
            return Some(companion_clash(kind, &name, owner, companion));
        }
        m += 1;
    }
    None
}

/// The table `name` of `kind` has the name of a companion table of `owner`.
const fn companion_clash(kind: &Kind, name: &Ident, owner: &Kind, companion: Companion) -> Text {
    let text = match name.same(&kind.table().name) {
        true => Text::new("the table of kind "),
        false => Text::new("a table of many values of kind "),
    };
    let text = kind.named(text).str(", `").str(name.as_str());
    let of_many = Text::new("`, is the one for the values of column `").str(companion.suffix()).str("` of kind ");
    let is = match companion {
        Companion::Labels | Companion::Annotations => Text::new("`, is the one for labels or annotations of kind "),
        Companion::Values(_) => of_many,
    };
    owner.named(text.str(is.as_str())).str(": give one of them another name with `#[ingest(table = \"...\")]`")
}

#[cfg(test)]
mod tests {
    use super::{KindNames, TakenNames, check_registry, join_registries};
    use crate::Kind;
    use crate::fixture::MODEL;
    use crate::kind::Definition;
    use crate::schema::Table;

    macro_rules! kind {
        ($name:literal) => {{
            const TABLE: Table = Table::derived("", $name, &[], &[]);
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

    const CORE: Table = Table::derived("Model", "model", &[], &[]);
    const LABELS: Table = Table::derived("MODEL_labels", "MODEL_labels", &[], &[]);

    fn kind(group: &'static str, version: &'static str, kind: &'static str, table: &'static Table) -> Kind {
        Kind::new(Definition { group, version, kind, table, ..*MODEL.definition() }, *MODEL.functions())
    }

    #[track_caller]
    fn clash(other: Kind, message: &str) {
        let first = KINDS[0];
        assert_eq!(check_registry(&[MODEL, first, other]).unwrap_err().to_string(), message);
        // The macro finds the same: constant evaluation makes a compile error of the panic.
        let panicked = std::panic::catch_unwind(|| join_registries::<3>(&[&[MODEL, first], &[other]])).unwrap_err();
        assert_eq!(panicked.downcast_ref::<String>().map(String::as_str), Some(message));
    }

    #[test]
    fn two_kinds_with_one_table_are_refused() {
        clash(
            kind("", "v1", "ConfigMap", &CORE),
            "kinds `michelangelo.api/v2 Model` and `v1 ConfigMap` have one table, `model`: give one of them another name with \
             `#[ingest(table = \"...\")]`",
        );
    }

    #[test]
    fn thousands_of_kinds_are_compared_only_if_they_share_a_name() {
        let mut names = TakenNames::default();
        let mut compared = 0;
        for number in 0..3000 {
            let name: &'static str = format!("Kind{number}").leak();
            let table: &'static Table = Box::leak(Box::new(Table::derived("", name, &[], &[])));
            let added = kind("example.com", "v1", name, table);
            compared += names.sharing(&added).len();
            names.take(&added);
        }
        assert_eq!(compared, 0);
        const LABELS_OF_SEVENTH: Table = Table::derived("", "kind7_LABELS", &[], &[]);
        let other = kind("", "v1", "ConfigMap", &LABELS_OF_SEVENTH);
        assert_eq!(names.sharing(&other).into_iter().collect::<Vec<_>>(), [7]);
        let later = kind("example.com", "v2", "Kind9", &LABELS_OF_SEVENTH);
        assert_eq!(names.sharing(&later).into_iter().collect::<Vec<_>>(), [7, 9]);
    }

    #[test]
    fn a_table_with_the_name_of_a_companion_is_refused() {
        clash(
            kind("", "v1", "ConfigMap", &LABELS),
            "the table of kind `v1 ConfigMap`, `MODEL_labels`, is the one for labels or annotations of kind \
             `michelangelo.api/v2 Model`: give one of them another name with `#[ingest(table = \"...\")]`",
        );
    }

    #[test]
    fn a_table_may_have_the_name_of_a_companion_that_is_not_there() {
        const ALONE: Table = Table::derived("Model", "model", &[], &[]).without_companions();
        let alone = Kind::new(Definition { table: &ALONE, ..*MODEL.definition() }, *MODEL.functions());
        assert_eq!(check_registry(&[alone, kind("", "v1", "ConfigMap", &LABELS)]), Ok(()));
    }

    #[test]
    fn a_kind_in_two_versions_is_refused() {
        const OTHER: Table = Table::derived("Other", "other", &[], &[]);
        clash(
            kind("michelangelo.api", "v3", "Model", &OTHER),
            "one kind is in the registry twice, as `michelangelo.api/v2 Model` and as `michelangelo.api/v3 Model`: its objects \
             would be mirrored twice; keep one of them",
        );
    }

    #[test]
    fn kinds_of_one_name_in_two_groups_may_have_two_tables() {
        const OTHER: Table = Table::derived("Model", "apps_model", &[], &[]);
        assert_eq!(check_registry(&[MODEL, kind("apps", "v1", "Model", &OTHER), KINDS[0], KINDS[1]]), Ok(()));
    }

    #[test]
    fn kinds_of_one_name_are_called_with_their_groups() {
        const OTHER: Table = Table::derived("Model", "apps_model", &[], &[]);
        let kinds = [MODEL, kind("", "v1", "Model", &OTHER), KINDS[0]];
        let names = |kinds: &[Kind]| kinds.iter().map(Kind::name).collect::<Vec<_>>();
        assert!(KindNames::distinct(&[MODEL, KINDS[0]]).is_none());
        let kinds = KindNames::distinct(&kinds).unwrap();
        assert_eq!(names(&kinds), ["Model.michelangelo.api", "Model.core", "First"]);
        assert!(KindNames::distinct(&kinds).is_none(), "they are already");
        let all = KindNames::of(&kinds);
        let full = kinds[2].full_name();
        for (asked, called) in [("Model.core", "Model.core"), ("First", "First"), (full.as_str(), "First")] {
            assert_eq!(all.find(asked), Ok(called));
        }
        let error = all.find("Model").unwrap_err();
        assert_eq!(error, "several kinds have this name: use `Model.michelangelo.api` or `Model.core`");
        assert_eq!(all.find("Frist").unwrap_err(), "there is no such kind; did you mean `First`?");
    }

    #[test]
    fn kinds_that_the_derive_refused_are_not_reported_again() {
        assert_eq!(check_registry(&[Kind::refused(), MODEL, Kind::refused()]), Ok(()));
    }

    #[test]
    fn a_kind_that_prunes_and_is_evictable_can_be_in_no_registry() {
        let kind = |evictable| {
            Kind::new(Definition { evictable, ..*MODEL.definition() }, *MODEL.functions()).pruning(&[".spec.token"])
        };
        assert_eq!(check_registry(&[kind(Some(false))]), Ok(()));
        for evictable in [None, Some(true)] {
            let message = check_registry(&[kind(evictable)]).unwrap_err().to_string();
            assert!(message.contains("`michelangelo.api/v2 Model` does not store `.spec.token`"), "{message}");
        }
    }
}
