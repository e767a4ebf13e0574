//! The columns and values that the derives make from structs of another crate.

#![allow(unreachable_pub, reason = "structs are written as a user writes them")]

use crate::world::{Stores as _, World};
use anyhow::{Context as _, Result, ensure};
use ingester_core::value::{Micros, Value};
use ingester_core::wire::quantity;
use ingester_core::{Indexed, Ingestable, Kind};
use ingester_store::compare::differences;
use ingester_store::{ConnectOptions, RowChange};
use ingester_testing::{self as testing, assert_row};
use ingester_tests::on_every_database;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, Time};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use serde::{Deserialize, Serialize};

on_every_database! {
    kubernetes_own_types_are_columns
}

/// A projection of fields of Kubernetes' own types.
#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Box", namespaced)]
#[index(path = "metadata.generation", column = "generation")]
#[index(path = "metadata.owner_uid", column = "owner_uid", type = "VARCHAR(64)")]
pub struct Parcel {
    #[index(column = "since", path = "since")]
    #[index(column = "micros", path = "micros")]
    #[index(column = "cpu", path = "cpu")]
    #[index(column = "memory", path = "memory", with = quantity::units)]
    #[index(column = "disk", path = "disk", with = quantity::thousandths)]
    #[index(column = "port", path = "port")]
    #[index(column = "number", path = "number")]
    #[index(column = "name_of_it", path = "wrapped.0", type = "VARCHAR(63)")]
    #[index(column = "size", path = "wrapped.0", with = str::len)]
    pub spec: Parts,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Parts {
    pub since: Option<Time>,
    pub micros: Option<MicroTime>,
    pub cpu: Option<Quantity>,
    pub memory: Option<Quantity>,
    pub disk: Option<String>,
    pub port: Option<IntOrString>,
    pub number: usize,
    pub wrapped: Option<Wrapped>,
}

#[derive(Deserialize)]
pub struct Wrapped(pub String);

/// A projection whose columns come from metadata, spec and status together.
#[derive(Ingestable, Deserialize, Default)]
#[ingest(group = "cert-manager.io", version = "v1", kind = "Certificate", namespaced)]
#[index(column = "state", with = Certificate::state_now)]
#[index(column = "newest", with = newest, json = "status.conditions", key = false)]
#[serde(default)]
pub struct Certificate {
    pub metadata: Metadata,
    #[index(path = "secret_name")]
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
        format!("{} {}", column.name, column.path.map_or_else(|| "-".to_owned(), |path| path.to_string()))
    };
    kind.table().indexed().iter().map(path).collect()
}

#[test]
fn a_function_of_the_struct_sees_metadata_spec_and_status() {
    let text = r#"{"apiVersion": "cert-manager.io/v1", "kind": "Certificate",
        "metadata": {"name": "web", "namespace": "shop", "generation": 2}, "spec": {"secretName": "tls"},
        "status": {"conditions": [{"type": "Ready", "observedGeneration": 2}, {"type": "Issuing", "observedGeneration": 1}]}}"#;
    assert_row!(Certificate, text, { state: "Ready tls", newest: "Issuing", secret_name: "tls" });
    let new = "apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: web}";
    assert_row!(Certificate, new, { state: "Unknown -", newest: null, secret_name: null });
    assert_eq!(
        paths(Kind::of::<Certificate>()),
        ["secret_name spec.secretName", "state -", "newest status.conditions"]
    );
    assert_eq!(Kind::of::<Certificate>().table().place("status.conditions"), None, "it is made of what is there");
}

#[test]
fn a_custom_resource_has_functions_of_its_spec_and_of_its_status() {
    let text = r#"{"apiVersion": "example.com/v1", "kind": "House", "metadata": {"name": "h"},
        "spec": {"width": 5, "depth": 7, "owner": "ada"}, "status": {"beds": 2, "guests": 2}}"#;
    assert_row!(House, text, { owner: "ada", area: 35, full: true, deletion: null });
    let expected = ["owner spec.owner", "area spec", "full status", "deletion metadata.deletionTimestamp"];
    assert_eq!(paths(Kind::of::<House>()), expected);
    let row =
        ingester_testing::row::<House>(r#"{"apiVersion":"example.com/v1","kind":"House","metadata":{"name":"h"}}"#);
    assert_eq!(row.unwrap().get("full"), &Value::Bool(true), "a status that is absent is an empty one");
}

const PARCEL: &str = r#"{"apiVersion": "v1", "kind": "Box",
    "metadata": {"name": "b", "uid": "b", "generation": 7, "ownerReferences": [
        {"uid": "first"}, null, {"uid": "second", "controller": true}, {"controller": true, "uid": "third"}]},
    "spec": {"since": "2026-03-09T20:36:46Z", "micros": "2026-03-09T21:36:46.123456+01:00", "cpu": "250m", "memory": "1.5Gi",
        "disk": "0.1", "port": 8080, "number": 3, "wrapped": "inside"}}"#;

async fn kubernetes_own_types_are_columns(world: World) -> Result<()> {
    let time = |text| Micros::from_sql(text).context("a time");
    assert_row!(Parcel, PARCEL, {
        since: time("2026-03-09 20:36:46")?, micros: time("2026-03-09 20:36:46.123456")?,
        cpu: 250, memory: 1_610_612_736_i64, disk: 100, port: "8080", number: 3_u64,
        name_of_it: "inside", size: 6_u64, generation: 7, owner_uid: "second",
    });
    let few = r#"{"apiVersion": "v1", "kind": "Box", "metadata": {"name": "b", "generation": "x", "ownerReferences": [{"uid": "a"}]},
        "spec": {"port": "http", "cpu": "plenty"}}"#;
    assert_row!(Parcel, few, { port: "http", cpu: null, memory: null, generation: null, owner_uid: "a", name_of_it: null });

    let kind = Kind::of::<Parcel>();
    let found = paths(kind);
    for path in ["name_of_it spec.wrapped", "generation metadata.generation", "port spec.port"] {
        ensure!(found.iter().any(|other| other == path), "{found:?}");
    }
    let store = world.connect(ConnectOptions::default()).await?;
    store.create_missing(&[kind]).await?;
    let row = testing::row::<Parcel>(PARCEL)?.into_row();
    store.write(kind.table(), vec![RowChange::Row(row.clone())]).await?;
    let stored = store.read_stored(kind.table(), &["b"]).await?;
    ensure!(differences(kind.table(), &row, stored.first().context("a row")?) == []);
    Ok(())
}

#[test]
fn a_quantity_that_does_not_fit_names_its_column() {
    let text = PARCEL.replace("250m", "10Pi");
    let error = testing::row::<Parcel>(&text).unwrap_err().to_string();
    assert!(error.contains("column `cpu`: 11258999068426240000 does not fit BIGINT"), "{error}");
    assert_eq!(testing::row::<Parcel>(&PARCEL.replace("1.5Gi", "10Pi")).unwrap().get("memory"), &Value::Int(10 << 50));
}
