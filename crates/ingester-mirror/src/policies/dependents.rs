//! Dependents that no live row shows: objects of suspended kinds, of kinds that are behind the cluster, and objects that are not stored. The API
//! server lists the metadata of those kinds.

use super::{Candidate, Hindrance};
use crate::cluster::{ApiErrorKind, Cluster};
use crate::dependents::Uids;
use ingester_core::Kind;
use std::collections::BTreeSet;

/// With more namespaces than this, dependents are searched for in all namespaces.
pub(crate) const NAMESPACES: usize = 100;

/// A namespace of a kind, or all namespaces, in which dependents are listed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KindPart {
    pub(crate) namespace: Option<Box<str>>,
    pub(crate) kind: &'static str,
}

/// A part of a kind whose objects the API server did not list.
#[derive(Clone, Debug)]
pub(crate) struct UnlistedPart {
    pub(crate) kind: &'static str,
    /// The namespace whose objects wait for the list; `None` if all objects do.
    namespace: Option<Box<str>>,
    pub(crate) why: Box<str>,
}

/// The known dependents without live rows, of objects that a rule chose.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dependents {
    /// The uids of their owners.
    pub(crate) owners: Uids,
    pub(crate) unlisted: Vec<UnlistedPart>,
    /// The parts of kinds that the API server was to list.
    asked: BTreeSet<KindPart>,
}

impl UnlistedPart {
    /// `of` is the kind of the owners.
    fn new(part: KindPart, of: &Kind, why: Box<str>) -> Self {
        let KindPart { namespace, kind } = part;
        UnlistedPart { kind, namespace: namespace.filter(|_| of.namespaced()), why }
    }
}

impl Dependents {
    /// Records that the objects of these parts are not known any more, unless the API server was asked for them. `of` is the kind of their owners.
    pub(crate) fn fell_behind(&mut self, parts: BTreeSet<KindPart>, of: &Kind) {
        let all = |kind| KindPart { namespace: None, kind };
        let is_new = |part: &KindPart| !self.asked.contains(part) && !self.asked.contains(&all(part.kind));
        let parts: BTreeSet<KindPart> = parts.into_iter().filter(is_new).collect();
        self.miss(parts, of, "this process has just lost track of them");
    }

    /// Records that the objects of these parts are not known.
    pub(crate) fn miss(&mut self, parts: BTreeSet<KindPart>, of: &Kind, why: &str) {
        self.unlisted.extend(parts.into_iter().map(|part| UnlistedPart::new(part, of, why.into())));
    }

    /// Returns the hindrance if an object must stay in the cluster because of its dependents.
    pub(crate) fn hindrance(&self, candidate: &Candidate) -> Option<Hindrance> {
        if self.owners.contains(&candidate.uid) {
            return Some(Hindrance::OwnsUnstored);
        }
        let concerns = |part: &&UnlistedPart| part.namespace.as_ref().is_none_or(|of| *of == candidate.namespace);
        let part = self.unlisted.iter().find(concerns)?;
        Some(Hindrance::Unlisted { kind: part.kind, why: part.why.clone() })
    }
}

/// The namespaces of objects, in which their dependents are; `None` for all namespaces.
pub(crate) fn namespaces(of: &Kind, leaving: &[Candidate]) -> BTreeSet<Option<Box<str>>> {
    let namespaces: BTreeSet<Option<Box<str>>> =
        leaving.iter().map(|candidate| Some(candidate.namespace.clone())).collect();
    match of.namespaced() && namespaces.len() <= NAMESPACES {
        true => namespaces,
        false => [None].into(),
    }
}

/// Returns true if objects of this kind can have objects of the other kind as owners: an object in a namespace owns only objects there.
pub(crate) fn can_depend(dependents: &Kind, of: &Kind) -> bool {
    dependents.namespaced() || !of.namespaced()
}

/// Asks the API server for the dependents of these objects, once for each part of a kind. `of` is the kind of these objects.
pub(crate) async fn list_dependents(
    cluster: &dyn Cluster,
    kinds: &[Kind],
    of: &Kind,
    parts: BTreeSet<KindPart>,
    uids: &Uids,
) -> Dependents {
    let mut found = Dependents::default();
    let mut missing = BTreeSet::new();
    let mut silent: Option<Box<str>> = None;
    for part in &parts {
        let Some(dependents) = kinds.iter().find(|known| known.name() == part.kind) else { continue };
        if missing.contains(part.kind) {
            continue;
        }
        let why = match &silent {
            Some(why) => why.clone(),
            None => match cluster.owners_among(dependents, part.namespace.as_deref(), uids).await {
                Ok(owners) => {
                    found.owners.extend(owners);
                    continue;
                }
                // The cluster does not have the kind, so it has no objects of it. The owners' own kind exists, so "not found" means only
                // that it is not served now.
                Err(error) if error.kind() == ApiErrorKind::NotFound && part.kind != of.name() => {
                    missing.insert(part.kind);
                    continue;
                }
                Err(error) => {
                    let why: Box<str> = error.to_string().into();
                    // Do not ask a server again in this round after it did not answer: each question takes half a minute.
                    silent = error.may_pass().then(|| why.clone());
                    why
                }
            },
        };
        found.unlisted.push(UnlistedPart::new(part.clone(), of, why));
    }
    found.asked = parts;
    found
}
