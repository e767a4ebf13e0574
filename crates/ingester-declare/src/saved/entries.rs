//! The keys of a file of a saved query: its own, and the keys that every question has.

use crate::text::{Faults, TreeNode};
use ingester_sql::query::{AskKey, Spelling};

/// The keys that only such a file has.
const OWN: [&str; 7] = ["name", "description", "kind", "apiVersion", "parameters", "filter", "limit"];

/// How many keys a file may have.
const ALL: usize = OWN.len() + AskKey::COUNT;

/// A file, key by key.
pub(super) struct Entries<'t> {
    pub(super) own: [Option<TreeNode<'t>>; OWN.len()],
    /// The values of the keys that every question has.
    pub(super) asked: Vec<(&'static AskKey, TreeNode<'t>)>,
}

impl<'t> Entries<'t> {
    /// Reads the keys of a file. Unknown ones are faults.
    pub(super) fn read(root: &TreeNode<'t>, faults: &mut Faults) -> Option<Self> {
        let mut names = OWN.into_iter().chain(AskKey::names(Spelling::Saved));
        let names: [&str; ALL] = std::array::from_fn(|_| names.next().unwrap_or_default());
        let mut fields = root.fields(names, faults)?.into_iter();
        let own = std::array::from_fn(|_| fields.next().flatten());
        let asked = AskKey::all().iter().zip(fields).filter_map(|(key, node)| Some((key, node?))).collect();
        Some(Entries { own, asked })
    }
}
