//! Columns that read what no object has.

use ingester_core::{ColumnValue, Indexed, Ingestable, Kind};
use ingester_testing::assert_paths;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The order.
#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Order", status = "OrderStatus", namespaced)]
#[serde(rename_all = "camelCase")]
pub struct OrderSpec {
    /// Right: this struct has the same rule as the other one.
    #[index(path = "town", column = "town")]
    pub ship_to: Address,
    /// Wrong: the other struct has no rule.
    #[index(path = "zip_code", column = "zip")]
    pub bill_to: Address,
    /// Right, with its own fields.
    #[index]
    pub whole: Address,
    /// Of a map, any key is there.
    #[index(with = colour, json = "colour")]
    pub labels: std::collections::BTreeMap<String, String>,
    /// Wrong, in a list.
    #[index(many, with = towns, json = "towns")]
    pub earlier: Vec<Address>,
}

/// Where to; the rule is forgotten.
#[derive(ColumnValue, Serialize, Deserialize, JsonSchema, Clone, Debug)]
pub struct Address {
    /// The town.
    pub town: String,
    /// Its code.
    pub zip_code: String,
}

/// How far it is.
#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
pub struct OrderStatus {
    /// How far.
    #[index]
    pub phase: String,
}

fn colour(labels: &std::collections::BTreeMap<String, String>) -> Option<String> {
    labels.get("colour").cloned()
}

fn towns(all: &[Address]) -> Vec<&str> {
    all.iter().map(|address| address.town.as_str()).collect()
}

/// A projection.
#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Pod", namespaced)]
#[index(column = "requests", with = requests)]
pub struct Pod {
    /// Wrong: it has no such field.
    #[index(column = "made", path = "created")]
    pub metadata: Metadata,
    /// `hostIP`, which no rule makes.
    #[index(path = "host_ip")]
    #[index(path = "phase")]
    #[index(path = "reason")]
    pub status: PodStatus,
}

/// Of a pod.
#[derive(Deserialize)]
pub struct Metadata {
    /// No such field.
    pub created: Option<String>,
}

/// Of a pod.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
pub struct PodStatus {
    /// Read from `hostIp`.
    pub host_ip: String,
    /// Read from `phase`.
    pub phase: String,
    /// In no sample.
    pub reason: Option<String>,
}

fn requests(_: &Pod) -> i32 {
    0
}

const SAMPLES: [&str; 2] = [
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nstatus: {phase: Running, reason: null}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: n}\nstatus: {reason: x}",
    r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}, "status": {"hostIP": "10.0.0.1"}}"#,
];

/// Returns the message with which a test panics.
fn panic_of(test: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panicked = std::panic::catch_unwind(test).expect_err("a panic");
    panicked.downcast_ref::<String>().expect("a message").clone()
}

#[test]
fn a_path_that_the_crd_does_not_have_is_named_with_the_nearest() {
    let said = panic_of(|| assert_paths(&[Kind::of::<Order>()], [""; 0]));
    let expected = "columns whose paths lead nowhere:\n  \
                    Order `zip` at `spec.billTo.zipCode`: by the CRD, `.spec.billTo` has no `.zipCode`, did you mean `.zip_code`?\n  \
                    Order `earlier` at `spec.earlier.towns`: by the CRD, `.spec.earlier` has no `.towns`";
    assert_eq!(said, expected);
}

#[test]
fn a_path_of_a_projection_that_no_sample_has_is_named_with_the_nearest() {
    let said = panic_of(|| assert_paths(&[Kind::of::<Pod>()], SAMPLES));
    let lines: Vec<&str> = said.lines().collect();
    let expected = [
        "columns whose paths lead nowhere:",
        "  Pod `made` at `metadata.created`: `metadata` has no `created`; there are: annotations, ",
        "  Pod `host_ip` at `status.hostIp`: in no sample, `status` has a `hostIp`, did you mean `hostIP`?",
        "  Pod `reason` at `status.reason`: in no sample, `status` has a `reason`; there are: hostIP, phase",
    ];
    assert_eq!(lines.len(), expected.len(), "{said}");
    assert!(lines.iter().zip(expected).all(|(line, begins)| line.starts_with(begins)), "{said}");
}

#[test]
fn a_projection_without_a_sample_and_a_sample_that_cannot_be_read_are_named() {
    let said = panic_of(|| assert_paths(&[Kind::of::<Pod>()], [SAMPLES[0].replace("Pod", "Job")]));
    assert!(said.contains("`status.phase`: there is no sample of v1 Pod"), "{said}");
    let said = panic_of(|| assert_paths(&[Kind::of::<Pod>()], ["kind: Pod\nkind: Pod"]));
    assert!(said.starts_with("sample 1, line 1: ") && said.contains("twice"), "{said}");
}
