//! The Leases of the source, as far as members of a group need them.

use axum::body::Body;
use axum::http::StatusCode;
use futures::stream;
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// Leases by name, and all that happened to them.
pub(super) struct Leases {
    stored: Mutex<LeaseState>,
    version: watch::Sender<usize>,
}

#[derive(Default)]
struct LeaseState {
    leases: BTreeMap<String, Value>,
    /// The change of each version: an event's type, and the Lease after it.
    events: Vec<(&'static str, Value)>,
}

impl Leases {
    pub(super) fn new() -> Self {
        Leases { stored: Mutex::default(), version: watch::Sender::new(0) }
    }

    fn lock_state(&self) -> MutexGuard<'_, LeaseState> {
        self.stored.lock()
    }

    /// All of them that have this label, `name=value`.
    pub(super) fn list(&self, label: Option<&str>) -> String {
        let stored = self.lock_state();
        let items: Vec<&Value> = stored.leases.values().filter(|lease| has_label(lease, label)).collect();
        json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "LeaseList",
            "metadata": {"resourceVersion": stored.events.len().to_string()}, "items": items,
        })
        .to_string()
    }

    /// Makes one, or replaces the one of the version that it has.
    pub(super) fn put(&self, name: Option<&str>, body: &[u8]) -> (StatusCode, String) {
        let Ok(mut lease) = serde_json::from_slice::<Value>(body) else {
            return status(StatusCode::BAD_REQUEST, "BadRequest");
        };
        let mut stored = self.lock_state();
        let version = stored.events.len() + 1;
        let own_name = lease["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let before = stored.leases.get(name.unwrap_or(&own_name));
        let event = match (name, before) {
            (None, None) => {
                lease["metadata"]["uid"] = json!(format!("lease-{version}"));
                "ADDED"
            }
            (None, Some(_)) => return status(StatusCode::CONFLICT, "AlreadyExists"),
            (Some(_), None) => return status(StatusCode::NOT_FOUND, "NotFound"),
            (Some(_), Some(before)) => {
                if before["metadata"]["resourceVersion"] != lease["metadata"]["resourceVersion"] {
                    return status(StatusCode::CONFLICT, "Conflict");
                }
                "MODIFIED"
            }
        };
        lease["metadata"]["resourceVersion"] = json!(version.to_string());
        stored.leases.insert(own_name, lease.clone());
        stored.events.push((event, lease.clone()));
        drop(stored);
        self.version.send_replace(version);
        (if event == "ADDED" { StatusCode::CREATED } else { StatusCode::OK }, lease.to_string())
    }

    pub(super) fn delete(&self, name: &str) -> (StatusCode, String) {
        let mut stored = self.lock_state();
        let Some(mut lease) = stored.leases.remove(name) else { return status(StatusCode::NOT_FOUND, "NotFound") };
        let version = stored.events.len() + 1;
        lease["metadata"]["resourceVersion"] = json!(version.to_string());
        stored.events.push(("DELETED", lease));
        drop(stored);
        self.version.send_replace(version);
        status(StatusCode::OK, "")
    }

    /// Streams the changes after this version of Leases that have this label.
    pub(super) fn watch(self: &std::sync::Arc<Self>, label: Option<String>, version: usize, lasting: Duration) -> Body {
        let leases = self.clone();
        let end = Instant::now() + lasting;
        let changes = self.version.subscribe();
        Body::from_stream(stream::unfold((leases, version, changes), move |(leases, from, mut changes)| {
            let label = label.clone();
            async move {
                let there = tokio::time::timeout_at(end, changes.wait_for(|version| *version > from)).await;
                there.ok()?.ok()?;
                let mut text = String::new();
                let to = {
                    let stored = leases.lock_state();
                    for (event, lease) in stored.events.iter().skip(from) {
                        if has_label(lease, label.as_deref()) {
                            text.push_str(&json!({"type": event, "object": lease}).to_string());
                            text.push('\n');
                        }
                    }
                    stored.events.len()
                };
                Some((Ok::<_, Infallible>(text), (leases, to, changes)))
            }
        }))
    }
}

fn has_label(lease: &Value, label: Option<&str>) -> bool {
    let Some((name, value)) = label.and_then(|label| label.split_once('=')) else { return true };
    lease["metadata"]["labels"][name] == value
}

fn status(code: StatusCode, reason: &str) -> (StatusCode, String) {
    let status = if code == StatusCode::OK { "Success" } else { "Failure" };
    let text = json!({"apiVersion": "v1", "kind": "Status", "status": status, "reason": reason, "code": code.as_u16()});
    (code, text.to_string())
}
