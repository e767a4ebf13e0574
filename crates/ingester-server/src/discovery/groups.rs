//! Groups and resources.

use super::WriteScope;
use crate::request::path::{OUTER_GROUP, OUTER_VERSION, SelfReview};
use ingester_core::Kind;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// The verbs for every object.
const READING: [&str; 2] = ["get", "list"];

/// The verb for every object if the database has a log of changes.
const WATCHING: &str = "watch";

/// The verbs for evicted objects.
const WRITING: [&str; 4] = ["delete", "deletecollection", "patch", "update"];

/// The verbs for this server's own objects.
const LISTED: [&str; 2] = ["get", "list"];

/// The category of `kubectl get all`.
const ALL: &str = "all";

/// A resource, which clients find under a plural.
struct Resource {
    group: String,
    version: String,
    kind: String,
    plural: String,
    singular: String,
    namespaced: bool,
    short: Vec<String>,
    categories: Vec<String>,
    verbs: Vec<&'static str>,
    subresources: Vec<(&'static str, &'static str)>,
}

impl Resource {
    fn for_kind(kind: &Kind, writable: WriteScope, watchable: bool) -> Self {
        let names = kind.crd().map(|crd| crd.spec.names).unwrap_or_default();
        let mut verbs = READING.to_vec();
        verbs.extend(watchable.then_some(WATCHING));
        verbs.extend(WRITING.iter().filter(|_| writable != WriteScope::Nothing));
        verbs.sort_unstable();
        let mut subresources = vec![("status", "get")];
        subresources.extend((writable == WriteScope::All).then_some(("restore", "create")));
        subresources.extend(kind.history().map(|_| ("history", "get")));
        subresources.sort_unstable();
        Resource {
            group: kind.group().to_owned(),
            version: kind.version().to_owned(),
            kind: kind.kind().to_owned(),
            plural: kind.plural().into_owned(),
            singular: names.singular.filter(|name| !name.is_empty()).unwrap_or_else(|| kind.kind().to_lowercase()),
            namespaced: kind.namespaced(),
            short: kind.short_names(),
            categories: names.categories.unwrap_or_default(),
            verbs,
            subresources,
        }
    }

    /// One of this server's own resources, which have no namespace.
    fn own((group, version): (&str, &str), kind: &str, plural: &str, verbs: &[&'static str]) -> Self {
        Resource {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
            singular: kind.to_lowercase(),
            namespaced: false,
            short: Vec::new(),
            categories: Vec::new(),
            verbs: verbs.to_vec(),
            subresources: Vec::new(),
        }
    }

    /// Returns an entry of an `APIResourceList`, and the entries of its subresources.
    fn plain(&self) -> Vec<Json> {
        let mut entry = json!({
            "name": self.plural, "singularName": self.singular, "namespaced": self.namespaced, "kind": self.kind,
            "verbs": self.verbs,
        });
        self.name(&mut entry);
        let of = |(name, verb): &(&str, &str)| {
            json!({
                "name": format!("{}/{name}", self.plural), "singularName": "", "namespaced": self.namespaced,
                "kind": self.kind, "verbs": [verb],
            })
        };
        std::iter::once(entry).chain(self.subresources.iter().map(of)).collect()
    }

    /// Returns an entry of aggregated discovery.
    fn aggregated(&self) -> Json {
        let kind = json!({"group": self.group, "version": self.version, "kind": self.kind});
        let mut entry = json!({
            "resource": self.plural, "responseKind": kind, "singularResource": self.singular,
            "scope": if self.namespaced { "Namespaced" } else { "Cluster" }, "verbs": self.verbs,
        });
        self.name(&mut entry);
        if !self.subresources.is_empty() {
            let of = |(name, verb): &(&str, &str)| json!({"subresource": name, "responseKind": kind, "verbs": [verb]});
            entry["subresources"] = self.subresources.iter().map(of).collect();
        }
        entry
    }

    /// Adds its other names.
    fn name(&self, entry: &mut Json) {
        for (field, names) in [("shortNames", &self.short), ("categories", &self.categories)] {
            if !names.is_empty() {
                entry[field] = json!(names);
            }
        }
    }
}

/// Returns the resources of a server for these kinds.
fn resources(kinds: &[Kind], writable: WriteScope, watchable: bool) -> Vec<Resource> {
    let outer = (OUTER_GROUP, OUTER_VERSION);
    let mut all: Vec<Resource> = kinds.iter().map(|kind| Resource::for_kind(kind, writable, watchable)).collect();
    // `kubectl get all` is an error on a server without the category, and here objects of all kinds are equally important.
    if !all.iter().any(|resource| resource.categories.iter().any(|category| category == ALL)) {
        all.iter_mut().for_each(|resource| resource.categories.push(ALL.to_owned()));
    }
    all.push(Resource::own(outer, "Count", "counts", &LISTED));
    all.push(Resource::own(outer, "Parameter", "parameters", &LISTED));
    all.push(Resource { singular: "policy".into(), ..Resource::own(outer, "Policy", "policies", &LISTED) });
    all.push(Resource { singular: "query".into(), ..Resource::own(outer, "Query", "queries", &LISTED) });
    all.push(Resource::own(outer, "Reject", "rejects", &LISTED));
    all.push(Resource::own(outer, "Unit", "units", &LISTED));
    for review in SelfReview::ALL {
        all.push(Resource::own((review.group(), "v1"), review.kind(), review.plural(), &["create"]));
    }
    // The kinds may already include them.
    if !all.iter().any(|resource| resource.group.is_empty() && resource.plural == "namespaces") {
        let namespaces = Resource::own(("", "v1"), "Namespace", "namespaces", &LISTED);
        all.push(Resource { short: vec!["ns".into()], ..namespaces });
    }
    all
}

/// Returns the documents of discovery by their paths. The paths of aggregated documents end with a star.
pub(super) fn documents(kinds: &[Kind], writable: WriteScope, watchable: bool) -> Vec<(String, Json)> {
    let all = resources(kinds, writable, watchable);
    let mut groups: BTreeMap<&str, BTreeMap<&str, Vec<&Resource>>> = BTreeMap::new();
    for resource in &all {
        groups.entry(&resource.group).or_default().entry(&resource.version).or_default().push(resource);
    }
    let mut documents = Vec::new();
    let mut list = Vec::new();
    let mut aggregated = Vec::new();
    let mut core = Vec::new();
    for (group, versions) in &groups {
        let prefix = if group.is_empty() { "api".to_owned() } else { format!("apis/{group}") };
        for (version, resources) in versions {
            let group_version = if group.is_empty() { (*version).to_owned() } else { format!("{group}/{version}") };
            let resources: Vec<Json> = resources.iter().flat_map(|resource| resource.plain()).collect();
            documents.push((format!("{prefix}/{version}"), resource_list(&group_version, &resources)));
        }
        let of_version = |(version, resources): (&&str, &Vec<&Resource>)| {
            let resources: Vec<Json> = resources.iter().map(|resource| resource.aggregated()).collect();
            json!({"version": version, "freshness": "Current", "resources": resources})
        };
        let entry = json!({"metadata": {"name": group}, "versions": newest_first(versions).map(of_version).collect::<Vec<_>>()});
        if group.is_empty() {
            core.push(entry);
            continue;
        }
        aggregated.push(entry);
        let names: Vec<&str> = newest_first(versions).map(|(version, _)| *version).collect();
        let described = described(group, &names);
        list.push(described.clone());
        documents.push((prefix, with_type("APIGroup", described)));
    }
    documents.push(("apis".into(), json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": list})));
    let versions: Vec<&&str> = groups.get("").into_iter().flat_map(BTreeMap::keys).collect();
    let core_versions = json!({"kind": "APIVersions", "versions": versions, "serverAddressByClientCIDRs": []});
    documents.push(("api".into(), core_versions));
    for (path, items) in [("apis*", aggregated), ("api*", core)] {
        let list = json!({
            "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items,
        });
        documents.push((path.into(), list));
    }
    documents
}

fn resource_list(group_version: &str, resources: &[Json]) -> Json {
    json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": resources})
}

/// Returns the versions of a group in Kubernetes' order: `v2`, `v1`, `v1beta1`.
fn newest_first<'m, V>(versions: &'m BTreeMap<&'m str, V>) -> impl Iterator<Item = (&'m &'m str, &'m V)> {
    let mut sorted: Vec<_> = versions.iter().collect();
    sorted.sort_by_key(|(version, _)| std::cmp::Reverse(kube::core::Version::parse(version).priority()));
    sorted.into_iter()
}

fn described(group: &str, versions: &[&str]) -> Json {
    let of = |version: &&str| json!({"groupVersion": format!("{group}/{version}"), "version": version});
    let all: Vec<Json> = versions.iter().map(of).collect();
    json!({"name": group, "versions": all, "preferredVersion": all.first()})
}

fn with_type(kind: &str, mut json: Json) -> Json {
    json["kind"] = kind.into();
    json["apiVersion"] = "v1".into();
    json
}
