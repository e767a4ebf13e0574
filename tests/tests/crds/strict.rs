//! `#[ingest(crd = "strict")]`: the CRD has the struct's requirements, so objects that the API server accepts can be decoded.

#![allow(unreachable_pub, reason = "structs are written as a user writes them")]

use anyhow::{Context as _, Result, ensure};
use ingester_core::object::{ManagedFields, Object};
use ingester_core::value::Value;
use ingester_core::{ColumnValue, Indexed, Ingestable, Kind};
use ingester_tests::{install, shared_apiserver, shared_modern_apiserver, skipped_without_modern_apiserver};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::core::{ObjectMeta, Request};
use kube::{Client, CustomResource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// What is ordered.
#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(
    group = "strict.example.com",
    version = "v1",
    kind = "Order",
    plural = "orders",
    namespaced,
    status = "OrderStatus",
    printcolumn = r#"{"name": "Customer", "type": "string", "jsonPath": ".spec.customer"}"#
)]
#[ingest(crd = "strict")]
#[serde(rename_all = "camelCase")]
pub struct OrderSpec {
    #[index(type = "VARCHAR(40)")]
    #[schemars(length(max = 40))]
    pub customer: String,
    #[index]
    pub pieces: i32,
    #[index]
    pub total_cents: i64,
    pub boxes: u32,
    pub grams: u64,
    pub ratio: f64,
    #[serde(default = "normal")]
    #[index]
    pub priority: Priority,
    #[index]
    pub fallback: Option<Priority>,
    #[serde(default)]
    #[index]
    pub express: bool,
    #[index]
    pub due: Option<Time>,
    pub stops: Vec<Time>,
    pub remark: Option<String>,
    pub tags: Vec<String>,
    pub limits: BTreeMap<String, i32>,
    pub address: Address,
    pub invoice: Option<Address>,
}

/// Where to.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
pub struct Address {
    pub town: String,
    pub floor: Option<i64>,
}

/// How soon.
#[derive(ColumnValue, Serialize, Deserialize, JsonSchema, Clone, Copy, Debug)]
pub enum Priority {
    Low,
    Normal,
}

fn normal() -> Priority {
    Priority::Normal
}

/// How far it is.
#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub struct OrderStatus {
    #[index(type = "VARCHAR(40)")]
    #[schemars(length(max = 40))]
    pub phase: String,
    #[index]
    pub attempts: Option<i32>,
}

/// The same spec with a CRD that is not strict.
#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "strict.example.com", version = "v1", kind = "LooseOrder", plural = "looseorders", namespaced)]
#[serde(rename_all = "camelCase")]
pub struct LooseOrderSpec {
    #[index(type = "VARCHAR(40)")]
    pub customer: String,
    #[serde(default = "normal")]
    #[index]
    pub priority: Priority,
    #[index]
    pub fallback: Option<Priority>,
    #[index]
    pub due: Option<Time>,
    pub stops: Vec<Time>,
    pub remark: Option<String>,
}

const ORDER: Kind = Kind::of::<Order>();
const LOOSE_ORDER: Kind = Kind::of::<LooseOrder>();

#[test]
fn a_strict_crd_keeps_required_fields_defaults_nulls_and_columns() -> Result<()> {
    let crd = serde_json::to_value(ORDER.crd().context("a kind of our own")?)?;
    let version = &crd["spec"]["versions"][0];
    let root = &version["schema"]["openAPIV3Schema"];
    let [spec, status] = ["spec", "status"].map(|part| &root["properties"][part]);
    ensure!(root["required"] == json!(["spec"]), "{root}");
    let required =
        ["address", "boxes", "customer", "grams", "limits", "pieces", "ratio", "stops", "tags", "totalCents"];
    ensure!(spec["required"] == json!(required), "{}", spec["required"]);
    ensure!(spec["properties"]["address"]["required"] == json!(["town"]) && status["required"] == json!(["phase"]));
    ensure!(spec["properties"]["priority"]["default"] == json!("Normal"), "{spec}");
    ensure!(spec["properties"]["express"]["default"] == json!(false), "{spec}");
    // API servers drop the null of an enum, see `kind/crd.rs`.
    ensure!(spec["properties"]["fallback"]["enum"] == json!(["Low", "Normal"]), "{spec}");
    for optional in ["remark", "due", "invoice"] {
        ensure!(spec["properties"][optional]["nullable"] == json!(true), "{optional}: {spec}");
    }
    // Formats of integers do not limit the range for an API server.
    let range = |field: &str| ["minimum", "maximum"].map(|end| spec["properties"][field][end].as_f64());
    ensure!(range("pieces") == [Some(f64::from(i32::MIN)), Some(f64::from(i32::MAX))], "{spec}");
    ensure!(range("boxes") == [Some(0.0), Some(f64::from(u32::MAX))], "{spec}");
    ensure!(version["additionalPrinterColumns"][0]["jsonPath"] == json!(".spec.customer"), "{version}");
    // The CRDs of other kinds have only their columns.
    let loose = serde_json::to_string(&LOOSE_ORDER.crd())?;
    ensure!(["\"required\"", "\"default\"", "\"nullable\""].iter().all(|word| !loose.contains(word)), "{loose}");
    Ok(())
}

/// Every custom resource is without a status at first, whatever the struct requires of it.
#[test]
fn an_unwritten_status_has_no_values() -> Result<()> {
    let row = |status: Option<Json>| {
        let mut order =
            json!({"apiVersion": "strict.example.com/v1", "kind": "Order", "metadata": {"name": "a"}, "spec": whole()});
        order.as_object_mut().context("an object")?.extend(status.map(|status| ("status".to_owned(), status)));
        let object = Object::parse(order.to_string(), ManagedFields::Prune)?;
        ORDER.row(&object)?.context("a row")
    };
    let last_two = |row: ingester_core::row::Row| row.values[row.values.len() - 2..].to_vec();
    for none in [None, Some(Json::Null), Some(json!({}))] {
        ensure!(last_two(row(none.clone())?) == [Value::Null, Value::Null], "{none:?}");
    }
    ensure!(last_two(row(Some(json!({"phase": "Packed", "attempts": 2})))?) == [Value::text("Packed"), Value::Int(2)]);
    let error = row(Some(json!({"attempts": 2}))).map(drop).unwrap_err().to_string();
    ensure!(error.contains("status") && error.contains("phase"), "{error}");
    Ok(())
}

#[tokio::test]
async fn what_the_api_server_accepts_gives_a_row() -> Result<()> {
    let client = shared_apiserver()?.client().await?;
    let metadata = ObjectMeta { name: Some(NAMESPACE.into()), ..ObjectMeta::default() };
    let namespace = Namespace { metadata, ..Namespace::default() };
    Api::<Namespace>::all(client.clone()).create(&PostParams::default(), &namespace).await?;
    accepts_what_is_decoded(&client).await
}

#[tokio::test]
async fn what_the_modern_api_server_accepts_gives_a_row() -> Result<()> {
    let Some(server) = shared_modern_apiserver()? else {
        skipped_without_modern_apiserver();
        return Ok(());
    };
    accepts_what_is_decoded(&server.client().await?).await
}

const NAMESPACE: &str = "strict";

/// An object that has everything.
fn whole() -> Json {
    json!({
        "customer": "o'hara", "pieces": 3, "totalCents": 1999, "boxes": 1, "grams": 250, "ratio": 0.5, "priority": "Low", "fallback": "Normal",
        "express": true, "due": "2026-03-09T20:36:46Z", "stops": ["2026-03-09T20:36:46Z", "2026-03-10T08:00:00Z"], "remark": "fragile", "tags": ["a", "b"], "limits": {"x": 1},
        "address": {"town": "Köln", "floor": 3}, "invoice": {"town": "Bonn"},
    })
}

/// Values of every sort, at the ends of ranges and of other types.
fn values() -> Vec<Json> {
    let beyond = json!(9_223_372_036_854_775_808_u64);
    let numbers = [
        0_i64,
        1,
        -1,
        i64::from(i32::MAX),
        1 << 31,
        -(1 << 31),
        -(1 << 31) - 1,
        (1 << 32) - 1,
        1 << 32,
        i64::MAX,
        i64::MIN,
    ];
    let mut values: Vec<Json> = numbers.iter().map(|number| json!(number)).collect();
    values.extend([
        beyond,
        json!(u64::MAX),
        json!(1.0),
        json!(1.5),
        json!(1e25),
        json!(-1e300),
        json!(true),
        Json::Null,
    ]);
    let texts = [
        "",
        "Low",
        "low",
        "text",
        "7",
        "2026-03-09T20:36:46Z",
        "2026-03-09T20:36:46.123456789+05:30",
        "2026-03-09T20:36:46",
        "2026-03-09",
        "2026-02-31T00:00:00Z",
    ];
    values.extend(texts.iter().map(|text| json!(text)));
    values.extend(["x".repeat(40), "ä".repeat(40), "ä".repeat(41)].iter().map(|text| json!(text)));
    values.extend([
        json!([]),
        json!(["a"]),
        json!([null]),
        json!([1]),
        json!({}),
        json!({"town": "a"}),
        json!({"x": null}),
        json!({"x": 1}),
    ]);
    values
}

/// The paths of all values in an object.
fn places(value: &Json, place: &str, into: &mut Vec<String>) {
    let inner: Vec<(String, &Json)> = match value {
        Json::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Json::Array(elements) => elements.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    for (name, value) in inner {
        let place = format!("{place}/{name}");
        places(value, &place, into);
        into.push(place);
    }
}

/// Replaces a value by another one, or removes it.
fn change(spec: &mut Json, place: &str, value: Option<&Json>) {
    let (parent, name) = place.rsplit_once('/').unwrap_or_default();
    match (spec.pointer_mut(parent), value) {
        (Some(Json::Object(fields)), Some(value)) => drop(fields.insert(name.to_owned(), value.clone())),
        (Some(Json::Object(fields)), None) => drop(fields.remove(name)),
        (Some(Json::Array(elements)), Some(value)) => {
            if let Some(element) = name.parse::<usize>().ok().and_then(|at| elements.get_mut(at)) {
                *element = value.clone();
            }
        }
        (Some(Json::Array(elements)), None) => drop(elements.pop()),
        // An earlier change has removed the path.
        _ => {}
    }
}

struct Orders {
    client: Client,
    made: usize,
    accepted: usize,
    refused: usize,
    /// Objects that the API server accepts but we cannot decode.
    wrong: Vec<String>,
}

impl Orders {
    /// Creates an order and decodes the server's result. Returns whether it was accepted.
    async fn create(&mut self, spec: &Json) -> Result<Option<String>> {
        self.made += 1;
        let name = format!("order-{}", self.made);
        let order =
            json!({"apiVersion": "strict.example.com/v1", "kind": "Order", "metadata": {"name": name}, "spec": spec});
        let path = format!("/apis/strict.example.com/v1/namespaces/{NAMESPACE}/orders");
        let request = Request::new(path).create(&PostParams::default(), serde_json::to_vec(&order)?)?;
        let answer = self.client.request_text(request).await;
        self.answered(answer, spec)
    }

    fn answered(&mut self, answer: Result<String, kube::Error>, sent: &Json) -> Result<Option<String>> {
        match answer {
            Ok(text) => {
                self.accepted += 1;
                let row = Object::parse(text.clone(), ManagedFields::Prune)
                    .map_err(|error| error.to_string())
                    .and_then(|object| ORDER.row(&object).map_err(|error| error.to_string()));
                match row {
                    Ok(row) => ensure!(row.is_some(), "{text}"),
                    Err(error) => self.wrong.push(format!("{error}\n  sent {sent}")),
                }
                Ok(Some(text))
            }
            // About a value that does not fit its field; about a number that Go cannot read.
            Err(kube::Error::Api(status)) if [400, 422].contains(&status.code) => {
                self.refused += 1;
                Ok(None)
            }
            Err(error) => Err(error).with_context(|| format!("{sent}")),
        }
    }
}

/// An enum that may be absent, and times, under the CRD of other kinds.
async fn keeps_a_loose_order(client: &Client) -> Result<()> {
    let spec = json!({
        "customer": "ann", "priority": "Low", "fallback": "Normal", "due": "2026-03-09T20:36:46Z", "stops": ["2026-03-09T20:36:46Z"],
    });
    let kept = async |name: &str, spec: &Json| -> Result<Json> {
        let order = json!({"apiVersion": "strict.example.com/v1", "kind": "LooseOrder", "metadata": {"name": name}, "spec": spec});
        let path = format!("/apis/strict.example.com/v1/namespaces/{NAMESPACE}/looseorders");
        let request = Request::new(path).create(&PostParams::default(), serde_json::to_vec(&order)?)?;
        let text = client.request_text(request).await.with_context(|| format!("{spec}"))?;
        let object = Object::parse(text.clone(), ManagedFields::Prune)?;
        LOOSE_ORDER.row(&object)?.context("a row")?;
        Ok(serde_json::from_str::<Json>(&text)?["spec"].take())
    };
    let whole = kept("whole", &spec).await?;
    ensure!(whole == spec, "{whole}");
    let mut without = spec.clone();
    change(&mut without, "/fallback", Some(&Json::Null));
    let without = kept("without", &without).await?;
    ensure!(without["fallback"].is_null() && without["due"] == spec["due"], "{without}");
    Ok(())
}

async fn accepts_what_is_decoded(client: &Client) -> Result<()> {
    let of_our_own = "a kind of our own";
    install(client, &[ORDER.crd().context(of_our_own)?, LOOSE_ORDER.crd().context(of_our_own)?]).await?;
    keeps_a_loose_order(client).await?;
    let mut orders = Orders { client: client.clone(), made: 0, accepted: 0, refused: 0, wrong: Vec::new() };
    let mut all = Vec::new();
    places(&whole(), "", &mut all);
    orders.create(&whole()).await?.context("the whole order is accepted")?;
    let mut without = whole();
    change(&mut without, "/fallback", Some(&Json::Null));
    orders.create(&without).await?.context("the null of an enum that may be absent is accepted")?;

    // A removed field is required, has a default, or may be missing.
    for place in &all {
        let mut spec = whole();
        change(&mut spec, place, None);
        let accepted = orders.create(&spec).await?.is_some();
        let may_be_left_out = [
            "/priority",
            "/fallback",
            "/express",
            "/due",
            "/remark",
            "/invoice",
            "/address/floor",
            "/stops/0",
            "/stops/1",
            "/tags/0",
            "/tags/1",
            "/limits/x",
        ];
        ensure!(accepted == may_be_left_out.contains(&place.as_str()), "without {place} it is accepted: {accepted}");
    }
    // Any value in any place, and then several at once.
    let values = values();
    for place in &all {
        for value in &values {
            let mut spec = whole();
            change(&mut spec, place, Some(value));
            orders.create(&spec).await?;
        }
    }
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..200 {
        let mut spec = whole();
        for _ in 0..random.usize(2..5) {
            let place = random.choice(&all);
            let value = random.choice(&values);
            change(&mut spec, place.context("a place")?, value.filter(|_| random.u8(..4) > 0));
        }
        orders.create(&spec).await?;
    }
    // The status has its own schema.
    for (status, accepted) in [
        (json!({"phase": "Packed"}), true),
        (json!({"phase": "Packed", "attempts": null}), true),
        (json!({"phase": "x".repeat(41)}), false),
        (json!({"phase": "Packed", "attempts": "two"}), false),
        (json!({"phase": "Packed", "attempts": 1_u64 << 31}), false),
        (json!({"phase": null, "attempts": 2}), false),
    ] {
        let path = format!("/apis/strict.example.com/v1/namespaces/{NAMESPACE}/orders");
        let patch = Patch::Merge(json!({ "status": status }));
        let request = Request::new(path).patch_subresource("status", "order-1", &PatchParams::default(), &patch)?;
        let answer = client.request_text(request).await;
        ensure!(orders.answered(answer, &status)?.is_some() == accepted, "{status}");
    }
    let Orders { accepted, refused, wrong, .. } = orders;
    ensure!(wrong.is_empty(), "{} of {accepted} accepted orders cannot be read:\n{}", wrong.len(), wrong.join("\n"));
    ensure!(accepted > 100 && refused > 200, "{accepted} were accepted and {refused} refused");
    Ok(())
}
