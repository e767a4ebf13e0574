//! `ingester rbac`: the ClusterRole that `ingester run` needs.

use super::chosen;
use crate::arguments::{ConfigFile, Impersonation, Rbac, is_word};
use crate::database::configuration;
use crate::ending::{Ending, Failure};
use crate::output::print;
use ingester_config::{Config, Policies};
use ingester_core::Kind;
use ingester_core::kind::Finalizer;
use ingester_mirror::policies::rules;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

pub(crate) fn run(arguments: &Rbac, kinds: &'static [Kind]) -> Result<Ending, Failure> {
    let (kinds, config) = chosen_by(&arguments.kinds, arguments.config.as_deref(), kinds)?;
    print(&match arguments.restore {
        Some(form) => restore_role(&arguments.name, &kinds, form),
        None => role(&arguments.name, &kinds, &config),
    })?;
    Ok(Ending::Done)
}

/// Returns the named kinds, out of the kinds that the configuration chooses; and the configuration, or the default one.
pub(super) fn chosen_by(
    names: &[String],
    config: Option<&Path>,
    kinds: &'static [Kind],
) -> Result<(Vec<Kind>, Config), Failure> {
    let config = match config {
        Some(file) => configuration(&ConfigFile { config: file.to_path_buf() }, kinds)?,
        None => Config::default(),
    };
    let kinds = chosen(kinds, names)?.into_iter().filter(|kind| config.ingester.has_kind(kind.name())).collect();
    Ok((kinds, config))
}

/// The changes that the ingester makes to the objects of a kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Changes {
    Nothing,
    /// No changes: the kind belongs to another project and does not say if it is evictable. Rights must not grow because a file is silent.
    Unsaid,
    Deletes,
    Finalizer,
    FinalizerAndDeletes,
}

impl Changes {
    fn for_kind(kind: &Kind, config: &Config) -> Self {
        let patches = kind.immutable() || config.ingester.finalizer_of(kind) != Finalizer::Never;
        // A rule lets objects leave, too.
        let is_ours = kind.functions().crd.is_some() || !rules(kind, &config.policies).is_empty();
        match (patches, kind.definition().evictable) {
            (true, Some(false)) => Changes::Finalizer,
            (true, _) => Changes::FinalizerAndDeletes,
            (false, Some(false)) => Changes::Nothing,
            (false, None) if !is_ours => Changes::Unsaid,
            (false, _) => Changes::Deletes,
        }
    }

    fn verbs(self) -> &'static str {
        match self {
            Changes::Nothing | Changes::Unsaid => "list, watch",
            Changes::Deletes => "list, watch, delete",
            Changes::Finalizer => "list, watch, patch",
            Changes::FinalizerAndDeletes => "list, watch, patch, delete",
        }
    }

    /// Returns the reason, as a comment.
    fn reason(self) -> &'static str {
        match self {
            Changes::Nothing => "# Nothing is changed on these.\n",
            Changes::Unsaid => {
                "# Nothing is changed on these. They do not say `evictable`: with `true`, there is `delete` for objects whose annotations\n\
                 # request an eviction or a deletion; with `false`, such annotations are ignored.\n"
            }
            Changes::Deletes => "# `delete` is for objects that leave etcd for SQL.\n",
            Changes::Finalizer => "# `patch` adds and removes the finalizer.\n",
            Changes::FinalizerAndDeletes => {
                "# `patch` adds and removes the finalizer; `delete` is for objects that leave etcd for SQL.\n"
            }
        }
    }
}

/// Returns the verbs that the ingester needs on the objects of a kind.
pub(super) fn verbs(kind: &Kind, config: &Config) -> impl Iterator<Item = &'static str> {
    Changes::for_kind(kind, config).verbs().split(", ")
}

/// Returns true if a rule of these kinds selects namespaces by their labels, so that they are listed.
pub(super) fn lists_namespaces(kinds: &[Kind], policies: &Policies) -> bool {
    let mut rules = kinds.iter().flat_map(|kind| rules(kind, policies));
    rules.any(|rule| rule.is_ok_and(|rule| rule.condition.namespace_selector.is_some()))
}

/// The keys of `extra` that Kubernetes' own authenticators use.
const EXTRA: [&str; 5] = ["credential-id", "node-name", "node-uid", "pod-name", "pod-uid"];

/// The role by which the server restores objects as its callers.
fn restore_role(name: &str, kinds: &[Kind], form: Impersonation) -> String {
    let mut text = head(name);
    let is_constrained = form == Impersonation::Constrained;
    text.push_str(match form {
        Impersonation::Constrained => {
            "# Constrained impersonation: the server may act as its callers, but only to restore these kinds. The server never acts as a member of\n\
             # system:masters. `resourceNames` can name the users and groups.\n"
        }
        Impersonation::Plain => {
            "# Plain impersonation: whoever has this account may act as every user in everything. Name the users and groups with `resourceNames`.\n\
             # The server never acts as a member of system:masters.\n"
        }
    });
    let verb = if is_constrained { "\"impersonate:user-info\"" } else { "impersonate" };
    let users = if is_constrained { "authentication.k8s.io" } else { "\"\"" };
    let _ = writeln!(text, "- apiGroups: [{users}]\n  resources: [users, groups]\n  verbs: [{verb}]");
    let _ = writeln!(
        text,
        "# Other facts from the authenticator: add the keys that yours sets.\n- apiGroups: [authentication.k8s.io]\n  resources:\n  - uids"
    );
    for key in EXTRA {
        let _ = writeln!(text, "  - userextras/authentication.kubernetes.io/{key}");
    }
    let _ = writeln!(text, "  verbs: [{verb}]");
    if !is_constrained {
        return text;
    }
    let mut resources: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for kind in kinds.iter().filter(|kind| !kind.immutable() && kind.prune().is_empty()) {
        resources.entry(kind.group()).or_default().insert(kind.plural().into_owned());
    }
    for (group, resources) in resources {
        let group = if group.is_empty() { "\"\"" } else { group };
        for (suffix, verbs) in [("", "get, create"), ("/status", "patch")] {
            let _ = writeln!(text, "- apiGroups: [{group}]\n  resources:");
            for resource in &resources {
                let _ = writeln!(text, "  - {resource}{suffix}");
            }
            let verbs: Vec<String> =
                verbs.split(", ").map(|verb| format!("\"impersonate-on:user-info:{verb}\"")).collect();
            let _ = writeln!(text, "  verbs: [{}]", verbs.join(", "));
        }
    }
    text
}

/// The beginning of a role.
fn head(name: &str) -> String {
    let name = in_yaml(name);
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: {name}\n  labels:\n    app.kubernetes.io/name: ingester\nrules:\n"
    )
}

/// Returns the role as people write it, with the reason for each right.
pub(super) fn role(name: &str, kinds: &[Kind], config: &Config) -> String {
    // Resources by the changes to their objects, and by their groups.
    let mut rights: BTreeMap<(Changes, &str), BTreeSet<String>> = BTreeMap::new();
    for kind in kinds {
        rights.entry((Changes::for_kind(kind, config), kind.group())).or_default().insert(kind.plural().into_owned());
    }
    let mut text = head(name);
    for ((changes, group), resources) in rights {
        text.push_str(changes.reason());
        let group = if group.is_empty() { "\"\"" } else { group };
        let _ = writeln!(text, "- apiGroups: [{group}]\n  resources:");
        for resource in resources {
            let _ = writeln!(text, "  - {resource}");
        }
        let _ = writeln!(text, "  verbs: [{}]", changes.verbs());
    }
    text.push_str(
        "# The uid of this namespace is the cluster's: a database belongs to one cluster.\n- apiGroups: [\"\"]\n  resources: [namespaces]\n  resourceNames: [kube-system]\n  verbs: [get]\n",
    );
    if lists_namespaces(kinds, &config.policies) {
        text.push_str(
            "# Rules with `namespaceSelector` ask for the namespaces with these labels.\n- apiGroups: [\"\"]\n  resources: [namespaces]\n  verbs: [list]\n",
        );
    }
    text.push_str(
        "# Events on objects: a new Event is created, a repeated one is patched.\n- apiGroups: [events.k8s.io]\n  resources: [events]\n  verbs: [create, patch]\n",
    );
    text
}

/// A name as a value in YAML. In double quotes it is written as in JSON.
fn in_yaml(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(plain) && !is_word(name);
    if is_plain { name.to_owned() } else { serde_json::Value::from(name).to_string() }
}
