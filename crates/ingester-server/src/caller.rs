//! The caller and the request, in the terms of Kubernetes' authorization.
//!
//! May use: nothing.

use std::collections::BTreeMap;

/// A verified identity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Caller {
    /// The user's name.
    pub user: String,
    /// The user's uid; may be empty.
    pub uid: String,
    /// The groups.
    pub groups: Vec<String>,
    /// Further facts from the authenticator, such as scopes.
    pub extra: BTreeMap<String, Vec<String>>,
}

/// The verb of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verb {
    /// One object.
    Get,
    /// Many objects.
    List,
    /// Many objects, as they change.
    Watch,
    /// A new object.
    Create,
    /// A whole object.
    Update,
    /// A part of an object.
    Patch,
    /// One object.
    Delete,
    /// Many objects.
    DeleteCollection,
}

impl Verb {
    /// Returns the verb as in RBAC.
    pub const fn as_str(self) -> &'static str {
        match self {
            Verb::Get => "get",
            Verb::List => "list",
            Verb::Watch => "watch",
            Verb::Create => "create",
            Verb::Update => "update",
            Verb::Patch => "patch",
            Verb::Delete => "delete",
            Verb::DeleteCollection => "deletecollection",
        }
    }
}

/// The verb and the objects of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Attributes {
    /// The verb.
    pub verb: Verb,
    /// The API group of the kind.
    pub group: String,
    /// Its version.
    pub version: String,
    /// Its plural.
    pub resource: String,
    /// The subresource, such as `status`; empty for the whole object.
    pub subresource: String,
    /// The namespace; empty for all, and for objects without one.
    pub namespace: String,
    /// The name; empty for all.
    pub name: String,
}

impl Attributes {
    /// Returns the attributes of a verb for all objects of a resource, in all namespaces.
    pub(crate) fn of_all(verb: Verb, group: &str, version: &str, resource: &str) -> Self {
        Attributes {
            verb,
            group: group.to_owned(),
            version: version.to_owned(),
            resource: resource.to_owned(),
            subresource: String::new(),
            namespace: String::new(),
            name: String::new(),
        }
    }
}
