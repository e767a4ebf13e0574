//! What the derives make of the structs of somebody else's crate: their columns and values.

#![allow(unreachable_pub, reason = "structs are written as a user writes them")]

use ingester_core::value::Value;
use ingester_core::{Indexed, Ingestable, Kind, assert_row};
use kube::CustomResource;
use serde::{Deserialize, Serialize};

/// A projection whose columns take metadata, spec and status at once.
#[derive(Ingestable, Deserialize, Default)]
#[ingest(group = "cert-manager.io", version = "v1", kind = "Certificate", namespaced)]
#[index(column = "state", with = Certificate::state_now)]
#[index(column = "newest", with = newest, json = "status.conditions", key = false)]
#[serde(default)]
pub struct Certificate {
    pub metadata: Metadata,
    #[index(column = "secret", path = "secret_name")]
    pub spec: CertificateSpec,
    pub status: CertificateStatus,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Metadata {
    pub generation: i64,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct CertificateSpec {
    pub secret_name: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub struct CertificateStatus {
    pub conditions: Vec<Condition>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Condition {
    pub r#type: String,
    pub observed_generation: i64,
}

impl Certificate {
    fn state_now(&self) -> String {
        let current = |condition: &&Condition| condition.observed_generation == self.metadata.generation;
        let state = self.status.conditions.iter().rfind(current).map_or("Unknown", |condition| &condition.r#type);
        format!("{state} {}", self.spec.secret_name.as_deref().unwrap_or("-"))
    }
}

fn newest(whole: &Certificate) -> Option<&str> {
    whole.status.conditions.last().map(|condition| condition.r#type.as_str())
}

/// A custom resource: the spec and the status apart.
#[derive(CustomResource, Ingestable, Serialize, Deserialize, Clone, Debug, Default)]
#[kube(group = "example.com", version = "v1", kind = "House", namespaced, status = "HouseStatus", schema = "disabled")]
#[index(column = "area", with = HouseSpec::square)]
#[index(path = "metadata.deletion_timestamp", column = "deletion")]
#[serde(default)]
pub struct HouseSpec {
    pub width: i64,
    pub depth: i64,
    #[index]
    pub owner: String,
}

impl HouseSpec {
    fn square(&self) -> i64 {
        self.width * self.depth
    }
}

#[derive(Indexed, Serialize, Deserialize, Clone, Debug, Default)]
#[index(column = "full", with = is_full)]
#[serde(default)]
pub struct HouseStatus {
    pub beds: u32,
    pub guests: u32,
}

fn is_full(status: &HouseStatus) -> bool {
    status.beds <= status.guests
}

fn paths(kind: Kind) -> Vec<String> {
    let path = |column: &ingester_core::schema::Column| {
        assert!(column.computed || column.path.is_some(), "{}", column.name);
        format!("{} {}", column.name, column.path.map_or_else(|| "-".to_owned(), |path| path.to_string()))
    };
    kind.table().indexed().iter().map(path).collect()
}

#[test]
fn a_function_of_the_struct_sees_metadata_spec_and_status() {
    let text = r#"{"apiVersion": "cert-manager.io/v1", "kind": "Certificate",
        "metadata": {"name": "web", "namespace": "shop", "generation": 2}, "spec": {"secretName": "tls"},
        "status": {"conditions": [{"type": "Ready", "observedGeneration": 2}, {"type": "Issuing", "observedGeneration": 1}]}}"#;
    assert_row!(Certificate, text, { state: "Ready tls", newest: "Issuing", secret: "tls" });
    let new = "apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: web}";
    assert_row!(Certificate, new, { state: "Unknown -", newest: null, secret: null });
    assert_eq!(paths(Kind::of::<Certificate>()), ["secret spec.secretName", "state -", "newest status.conditions"]);
    assert_eq!(Kind::of::<Certificate>().table().by_path("status.conditions"), None, "it is made of what is there");
}

#[test]
fn a_custom_resource_has_functions_of_its_spec_and_of_its_status() {
    let text = r#"{"apiVersion": "example.com/v1", "kind": "House", "metadata": {"name": "h"},
        "spec": {"width": 5, "depth": 7, "owner": "ada"}, "status": {"beds": 2, "guests": 2}}"#;
    assert_row!(House, text, { owner: "ada", area: 35, full: true, deletion: null });
    let expected = ["owner spec.owner", "area spec", "full status", "deletion metadata.deletionTimestamp"];
    assert_eq!(paths(Kind::of::<House>()), expected);
    let row = ingester_core::testing::row::<House>(
        r#"{"apiVersion":"example.com/v1","kind":"House","metadata":{"name":"h"}}"#,
    );
    assert_eq!(row.unwrap().get("full"), &Value::Bool(true), "a status that is absent is an empty one");
}
