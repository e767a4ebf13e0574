//! Groups and resources.

use crate::request::path::{OUTER_GROUP, OUTER_VERSION};
use ingester_core::Kind;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// What can be done with every object.
const READING: [&str; 2] = ["get", "list"];

/// What can be done with them where the database has a log of changes.
const WATCHING: &str = "watch";

/// What can be done with evicted objects.
const WRITING: [&str; 4] = ["delete", "deletecollection", "patch", "update"];

/// A kind as clients find it.
struct Resource {
    kind: Kind,
    plural: String,
    singular: String,
    short: Vec<String>,
    categories: Vec<String>,
    is_watched: bool,
}

impl Resource {
    fn of(kind: &Kind, is_watched: bool) -> Self {
        let names = kind.crd().map(|crd| crd.spec.names).unwrap_or_default();
        Resource {
            kind: *kind,
            plural: kind.plural().into_owned(),
            singular: names.singular.filter(|name| !name.is_empty()).unwrap_or_else(|| kind.kind().to_lowercase()),
            short: names.short_names.unwrap_or_default(),
            categories: names.categories.unwrap_or_default(),
            is_watched,
        }
    }

    fn verbs(&self, writable: bool) -> Vec<&'static str> {
        let mut verbs = READING.to_vec();
        verbs.extend(self.is_watched.then_some(WATCHING));
        verbs.extend(WRITING.iter().filter(|_| writable));
        verbs.sort_unstable();
        verbs
    }

    /// An entry of an `APIResourceList`, and those of its subresources.
    fn plain(&self, writable: bool) -> Vec<Json> {
        let mut entry = json!({
            "name": self.plural, "singularName": self.singular, "namespaced": self.kind.namespaced(),
            "kind": self.kind.kind(), "verbs": self.verbs(writable),
        });
        if !self.short.is_empty() {
            entry["shortNames"] = json!(self.short);
        }
        if !self.categories.is_empty() {
            entry["categories"] = json!(self.categories);
        }
        let restore = json!({
            "name": format!("{}/restore", self.plural), "singularName": "", "namespaced": self.kind.namespaced(),
            "kind": self.kind.kind(), "verbs": ["create"],
        });
        if writable { vec![entry, restore] } else { vec![entry] }
    }

    /// An entry of aggregated discovery.
    fn aggregated(&self, writable: bool) -> Json {
        let kind = json!({"group": self.kind.group(), "version": self.kind.version(), "kind": self.kind.kind()});
        let mut entry = json!({
            "resource": self.plural, "responseKind": kind, "singularResource": self.singular,
            "scope": if self.kind.namespaced() { "Namespaced" } else { "Cluster" }, "verbs": self.verbs(writable),
        });
        if !self.short.is_empty() {
            entry["shortNames"] = json!(self.short);
        }
        if !self.categories.is_empty() {
            entry["categories"] = json!(self.categories);
        }
        if writable {
            entry["subresources"] = json!([{"subresource": "restore", "responseKind": kind, "verbs": ["create"]}]);
        }
        entry
    }
}

/// The documents of discovery by their paths; the aggregated ones have a star behind it.
pub(super) fn documents(kinds: &[Kind], writable: bool, watchable: bool) -> Vec<(String, Json)> {
    let mut groups: BTreeMap<&str, BTreeMap<&str, Vec<Resource>>> = BTreeMap::new();
    for kind in kinds {
        groups.entry(kind.group()).or_default().entry(kind.version()).or_default().push(Resource::of(kind, watchable));
    }
    let queries = json!({
        "name": "queries", "singularName": "query", "namespaced": false, "kind": "Query", "verbs": READING,
    });
    let outer = json!({
        "metadata": {"name": OUTER_GROUP},
        "versions": [{"version": OUTER_VERSION, "freshness": "Current", "resources": [{
            "resource": "queries", "singularResource": "query", "scope": "Cluster", "verbs": READING,
            "responseKind": {"group": OUTER_GROUP, "version": OUTER_VERSION, "kind": "Query"},
        }]}],
    });
    let mut documents = Vec::new();
    let (mut list, mut aggregated, mut core) = (Vec::new(), Vec::new(), Vec::new());
    for (group, versions) in &groups {
        let prefix = if group.is_empty() { "api".to_owned() } else { format!("apis/{group}") };
        for (version, resources) in versions {
            let group_version = if group.is_empty() { (*version).to_owned() } else { format!("{group}/{version}") };
            let resources: Vec<Json> = resources.iter().flat_map(|resource| resource.plain(writable)).collect();
            documents.push((format!("{prefix}/{version}"), resource_list(&group_version, &resources)));
        }
        let of_version = |(version, resources): (&&str, &Vec<Resource>)| {
            let resources: Vec<Json> = resources.iter().map(|resource| resource.aggregated(writable)).collect();
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
    aggregated.push(outer);
    let own = described(OUTER_GROUP, &[OUTER_VERSION]);
    list.push(own.clone());
    documents.push((format!("apis/{OUTER_GROUP}"), with_type("APIGroup", own)));
    let own_version = format!("{OUTER_GROUP}/{OUTER_VERSION}");
    documents.push((format!("apis/{own_version}"), resource_list(&own_version, &[queries])));
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

/// The versions of a group in Kubernetes' order: `v2`, `v1`, `v1beta1`.
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
