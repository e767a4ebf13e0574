//! The names of the finalizer and of the annotations that steer an object's life. Their prefix tells one ingester's from another's:
//! the reference system's `michelangelo`, or a name of your own.
//!
//! May use: labels.

use crate::labels::check_label_key;
use std::fmt;

/// The present and the former prefixes of our finalizer and annotations. A program has one value, which all its kinds have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    prefix: &'static str,
    former: &'static [&'static str],
}

/// The name of a finalizer or an annotation, after the prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Our finalizer: the object does not leave etcd before SQL has it.
    Finalizer,
    /// The annotation that, with the value `true`, makes the object final: it moves from etcd to SQL.
    Immutable,
    /// The annotation that, with the value `true`, requests the deletion of the object, in SQL and in Kubernetes.
    Deleting,
    /// The annotation of an object that was brought back: the uid of the row that it came from.
    RestoredFrom,
    /// The annotation of an object that was brought back: the number of that restore, by which the mirror knows whether the restore is still
    /// open.
    RestoreNonce,
    /// The annotation of an object that was brought back through the server: the user who asked for it.
    RestoredBy,
    /// The label of namespaces for test objects (`ingester validate`), and of these objects, which take their rows away themselves.
    Validate,
    /// An annotation that the reference system keeps itself: when it last changed the object.
    UpdateTimestamp,
    /// An annotation that the reference system keeps itself: when it last changed the object's spec.
    SpecUpdateTimestamp,
}

impl Mark {
    /// The annotations that the reference system keeps itself. Requests do not change them.
    pub const KEPT: [Mark; 2] = [Mark::UpdateTimestamp, Mark::SpecUpdateTimestamp];

    const fn name(self) -> &'static str {
        match self {
            Mark::Finalizer => "Ingester",
            Mark::Immutable => "Immutable",
            Mark::Deleting => "Deleting",
            Mark::RestoredFrom => "RestoredFrom",
            Mark::RestoreNonce => "RestoreNonce",
            Mark::RestoredBy => "RestoredBy",
            Mark::Validate => "Validate",
            Mark::UpdateTimestamp => "UpdateTimestamp",
            Mark::SpecUpdateTimestamp => "SpecUpdateTimestamp",
        }
    }
}

/// The full name of a finalizer or an annotation: `michelangelo/Ingester`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkName {
    prefix: &'static str,
    mark: Mark,
}

impl MarkName {
    /// Returns true if the text is this name.
    pub fn is(self, text: &str) -> bool {
        let rest = text.strip_prefix(self.prefix).and_then(|rest| rest.strip_prefix('/'));
        rest == Some(self.mark.name())
    }
}

impl fmt::Display for MarkName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.prefix, self.mark.name())
    }
}

/// The annotations by which a server shows the state of an object, and which parts are not stored. No stored object has them.
pub mod shown {
    /// Their prefix, before the slash: the group of the server's own names.
    pub const GROUP: &str = "mirror.michelangelo.api";
    /// `evicting`, `evicted` or `deleted`; a live object has none.
    pub const STATE: &str = "mirror.michelangelo.api/state";
    /// When the object's eviction began.
    pub const EVICTED_AT: &str = "mirror.michelangelo.api/evicted-at";
    /// When the object was found to be deleted.
    pub const DELETED_AT: &str = "mirror.michelangelo.api/deleted-at";
    /// The paths in the object that are not stored, with commas between them; absent if the object is stored as a whole.
    pub const PRUNED: &str = "mirror.michelangelo.api/pruned";
    /// When a version of the object began, where versions are shown.
    pub const VALID_FROM: &str = "mirror.michelangelo.api/valid-from";
    /// When it ended; the present version has none.
    pub const VALID_TO: &str = "mirror.michelangelo.api/valid-to";
    /// The change by which it began, as the log of changes says it; absent if no version before it is known.
    pub const CHANGE: &str = "mirror.michelangelo.api/change";
    /// The paths that differ from the version before, with commas between them.
    pub const CHANGED: &str = "mirror.michelangelo.api/changed";
    /// All annotations of this kind.
    pub const ALL: [&str; 8] = [STATE, EVICTED_AT, DELETED_AT, PRUNED, VALID_FROM, VALID_TO, CHANGE, CHANGED];
}

impl Marks {
    /// The names of the reference system, which a program has unless it says otherwise.
    pub const MICHELANGELO: Marks = Marks { prefix: "michelangelo", former: &[] };

    /// Makes names that begin with `prefix` and a slash. Names with one of the `former` prefixes are obeyed and removed, and never written.
    ///
    /// # Errors
    /// Which prefix cannot be one, and why.
    pub fn new(prefix: &'static str, former: &'static [&'static str]) -> Result<Self, String> {
        std::iter::once(&prefix).chain(former).try_for_each(|prefix| check_prefix(prefix))?;
        if former.contains(&prefix) {
            return Err(format!("the former prefix `{prefix}` is the present one: leave it out of `formerPrefixes`"));
        }
        Ok(Marks { prefix, former })
    }

    /// The prefix of the names.
    pub const fn prefix(&self) -> &'static str {
        self.prefix
    }

    /// The former prefixes.
    pub const fn former(&self) -> &'static [&'static str] {
        self.former
    }

    /// The name of a mark, as it is written.
    pub const fn name(&self, mark: Mark) -> MarkName {
        MarkName { prefix: self.prefix, mark }
    }

    /// Returns the names under which a mark is read: ours first, then the names with the former prefixes.
    pub fn names(&self, mark: Mark) -> impl Iterator<Item = MarkName> + use<> {
        let former = self.former.iter();
        std::iter::once(self.prefix).chain(former.copied()).map(move |prefix| MarkName { prefix, mark })
    }

    /// Returns true if the text is a name of a mark, with our prefix or a former one.
    pub fn is(&self, mark: Mark, text: &str) -> bool {
        self.names(mark).any(|name| name.is(text))
    }

    /// The annotation that says `true` for a mark, if there is one. Only this spelling counts, as in the reference system.
    pub fn asked(&self, annotations: &[(Box<str>, Box<str>)], mark: Mark) -> Option<MarkName> {
        self.names(mark).find(|name| annotations.iter().any(|(key, value)| &**value == "true" && name.is(key)))
    }
}

/// Returns true if an annotation may decide about its object's life, judged only from the end of its name. It does decide if its prefix is
/// one of the program's [`Marks`].
pub fn may_decide(key: &str) -> bool {
    let name = key.rsplit_once('/').map_or("", |(_, name)| name);
    [Mark::Immutable, Mark::Deleting].iter().any(|mark| mark.name() == name)
}

/// Checks a prefix of finalizers and annotations: a DNS subdomain.
///
/// # Errors
/// Why it cannot be a prefix.
pub fn check_prefix(prefix: &str) -> Result<(), String> {
    if prefix.contains('/') {
        return Err(format!(
            "the prefix `{prefix}` ends before the slash: write `{}`",
            prefix.split('/').next().unwrap_or_default()
        ));
    }
    check_label_key(&format!("{prefix}/{}", Mark::Finalizer.name())).map_err(|(_, why)| {
        format!("`{prefix}` cannot be a prefix of finalizers and annotations, such as `data.example.com`: {why}")
    })?;
    let reserved = ["kubernetes.io", "k8s.io"]
        .iter()
        .find(|of| prefix.strip_suffix(**of).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')));
    match reserved {
        Some(of) => Err(format!("`{prefix}` cannot be a prefix: names of `{of}` are Kubernetes' own")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Mark, Marks, check_prefix, may_decide};

    const OWN: Marks = Marks { prefix: "data.example.com", former: &["michelangelo", "old.example.com"] };

    fn annotations(pairs: &[(&str, &str)]) -> Vec<(Box<str>, Box<str>)> {
        pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
    }

    #[test]
    fn names_begin_with_the_prefix_and_are_read_with_those_before() {
        assert_eq!(Marks::MICHELANGELO.name(Mark::Finalizer).to_string(), "michelangelo/Ingester");
        assert_eq!(OWN.name(Mark::RestoredFrom).to_string(), "data.example.com/RestoredFrom");
        let names: Vec<String> = OWN.names(Mark::Deleting).map(|name| name.to_string()).collect();
        assert_eq!(names, ["data.example.com/Deleting", "michelangelo/Deleting", "old.example.com/Deleting"]);
        for (text, written, read) in [
            ("data.example.com/Ingester", true, true),
            ("michelangelo/Ingester", false, true),
            ("example.com/Ingester", false, false),
            ("data.example.com/Immutable", false, false),
            ("data.example.com/IngesterX", false, false),
            ("data.example.comX/Ingester", false, false),
            ("Ingester", false, false),
        ] {
            assert_eq!(OWN.name(Mark::Finalizer).is(text), written, "{text}");
            assert_eq!(OWN.is(Mark::Finalizer, text), read, "{text}");
        }
    }

    #[test]
    fn an_annotation_of_any_of_its_prefixes_counts_and_of_no_other() {
        let asked =
            |pairs: &[(&str, &str)]| OWN.asked(&annotations(pairs), Mark::Immutable).map(|name| name.to_string());
        assert_eq!(asked(&[("old.example.com/Immutable", "true")]).as_deref(), Some("old.example.com/Immutable"));
        assert_eq!(asked(&[("other.example.com/Immutable", "true"), ("data.example.com/Immutable", "True")]), None);
        let both = [("michelangelo/Immutable", "true"), ("data.example.com/Immutable", "true")];
        assert_eq!(asked(&both).as_deref(), Some("data.example.com/Immutable"));
        assert!(may_decide("old.example.com/Immutable") && may_decide("x/Deleting"));
        assert!(!may_decide("Immutable") && !may_decide("x/RestoredFrom"));
    }

    #[test]
    fn a_prefix_is_a_dns_subdomain_that_is_not_kubernetes_own() {
        let longest = format!("{}.example", vec!["a".repeat(60); 4].join("."));
        for right in ["michelangelo", "data.example.com", "a-b.c1", "not-kubernetes.io", &longest] {
            assert_eq!(check_prefix(right), Ok(()), "{right}");
        }
        let long = "a.".repeat(127);
        for wrong in ["", ".", "Data.example.com", "a..b", "-a", "a_b", "a/", "a/b", "kubernetes.io", "x.k8s.io", &long]
        {
            let why = check_prefix(wrong).unwrap_err();
            assert!(why.contains("prefix") && why.contains(wrong.split('/').next().unwrap()), "{why}");
        }
        assert_eq!(Marks::new("a.b", &["michelangelo"]).unwrap().former(), ["michelangelo"]);
        assert!(Marks::new("a.b", &["A"]).unwrap_err().contains("`A`"));
        assert!(Marks::new("a.b", &["a.b"]).unwrap_err().contains("formerPrefixes"));
    }
}
