//! Writes objects straight into etcd, as the API server would store them. Through the API each takes two requests, and
//! a hundred thousand of them half an hour.
//!
//! The API server observes them through its own watch of etcd, like the writes of another API server.

use crate::live::NAMESPACE;
use anyhow::{Context as _, Result, ensure};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use ingester_core::Kind;
use ingester_core::marks::{Mark, Marks};
use kube::{Client, Config};
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

/// Objects in a transaction, at most; etcd allows 128.
const OPERATIONS: usize = 100;
/// Bytes of objects in a transaction, about; etcd allows requests of 1.5 MB.
const BYTES: usize = 1_000_000;
/// Concurrent transactions.
const PARALLEL: usize = 4;

/// The bodies of the transactions that write these objects of a kind, with or without the ingester's finalizer.
pub(crate) fn transactions(
    kind: &Kind,
    finalized: bool,
    objects: impl Iterator<Item = Result<Value>>,
) -> impl Iterator<Item = Result<Vec<u8>>> {
    let folder = format!("/registry/{}/{}/{NAMESPACE}", kind.group(), kind.plural());
    let put = move |object: Result<Value>| -> Result<(usize, Value)> {
        let object = store_object(object?, finalized).context("an object without metadata")?;
        let name = object["metadata"]["name"].as_str().context("an object without a name")?;
        let key = format!("{folder}/{name}");
        let text = object.to_string();
        let put = json!({"requestPut": {"key": BASE64_STANDARD.encode(key), "value": BASE64_STANDARD.encode(&text)}});
        Ok((text.len(), put))
    };
    let mut left = objects.map(put).peekable();
    std::iter::from_fn(move || {
        let mut puts = Vec::new();
        let mut bytes = 0;
        while let Some(next) = left.next_if(|next| match next {
            Ok((length, _)) => puts.is_empty() || (puts.len() < OPERATIONS && bytes + length <= BYTES),
            Err(_) => puts.is_empty(),
        }) {
            match next {
                Ok((length, put)) => {
                    bytes += length;
                    puts.push(put);
                }
                Err(error) => return Some(Err(error)),
            }
        }
        (!puts.is_empty()).then(|| Ok(json!({"success": puts}).to_string().into_bytes()))
    })
}

/// Commits transactions, several at a time. Returns etcd's revision after the last one, which Kubernetes calls
/// resourceVersion.
pub(crate) async fn write(url: &str, transactions: impl Iterator<Item = Result<Vec<u8>>>) -> Result<u64> {
    let config = Config::new(url.parse().with_context(|| format!("etcd's address {url}"))?);
    let client = Client::try_from(config).context("making a client of etcd")?;
    let mut writing: JoinSet<Result<u64>> = JoinSet::new();
    let mut newest = 0;
    for body in transactions {
        if writing.len() == PARALLEL {
            newest = newest.max(writing.join_next().await.context("no transaction is under way")???);
        }
        writing.spawn(commit(client.clone(), body?));
    }
    while let Some(written) = writing.join_next().await {
        newest = newest.max(written??);
    }
    Ok(newest)
}

/// One transaction; its revision.
async fn commit(client: Client, body: Vec<u8>) -> Result<u64> {
    let request = http::Request::post("/v3/kv/txn").header("content-type", "application/json").body(body)?;
    let answer = client.request_text(request).await.context("writing objects into etcd")?;
    let answer: Value = serde_json::from_str(&answer).with_context(|| format!("etcd's answer {answer}"))?;
    ensure!(answer["succeeded"] == true, "etcd did not write the objects: {answer}");
    let revision = answer["header"]["revision"].as_str().and_then(|revision| revision.parse().ok());
    revision.with_context(|| format!("etcd named no revision: {answer}"))
}

/// An object as the API server stores it: without a resourceVersion, which is etcd's revision, and with managed fields.
fn store_object(mut object: Value, finalized: bool) -> Option<Value> {
    let metadata = object["metadata"].as_object_mut()?;
    metadata.remove("resourceVersion");
    metadata.remove("finalizers");
    if finalized {
        metadata.insert("finalizers".into(), json!([Marks::MICHELANGELO.name(Mark::Finalizer).to_string()]));
    }
    let set = |names: &[&str]| {
        let set: Map<String, Value> = names.iter().map(|name| (format!("f:{name}"), fields(&object[*name]))).collect();
        json!({
            "manager": "ingester-bench",
            "operation": "Update",
            "apiVersion": object["apiVersion"],
            "time": object["metadata"]["creationTimestamp"],
            "fieldsType": "FieldsV1",
            "fieldsV1": set,
        })
    };
    // A separate request writes the status.
    let mut managed = json!([set(&["spec"]), set(&["status"])]);
    for name in ["annotations", "finalizers", "labels"] {
        let value = &object["metadata"][name];
        if !value.is_null() {
            managed[0]["fieldsV1"]["f:metadata"][format!("f:{name}")] = fields(value);
        }
    }
    object["metadata"]["managedFields"] = managed;
    Some(object)
}

/// The fields of a value, in the form of managed fields. A list counts as a whole.
fn fields(value: &Value) -> Value {
    let members = value.as_object().filter(|members| !members.is_empty());
    let own = members.map(|_| (".".to_owned(), json!({})));
    let below = members.into_iter().flatten().map(|(name, value)| (format!("f:{name}"), fields(value)));
    Value::Object(own.into_iter().chain(below).collect())
}
