//! Events on jobs and pods.

use ingester_core::Ingestable;
use ingester_core::wire::Time;
use serde::Deserialize;

/// An event. It does not say whether a pod belongs to a job: the view looks for the pod's row.
#[derive(Ingestable, Deserialize, Debug, Default)]
#[ingest(group = "", version = "v1", kind = "Event", plural = "events", namespaced)]
#[ingest(table = "kubedl_event", finalizer = "never", companions = false, retention = "30d", filter = is_wanted)]
#[ingest(key(obj_uid, last_timestamp))]
#[index(column = "count", with = count, key = false)]
#[index(column = "component", with = component, type = "VARCHAR(256)", key = false)]
#[index(column = "first_timestamp", with = first_timestamp, key = false)]
#[index(column = "last_timestamp", with = last_timestamp)]
#[serde(rename_all = "camelCase", default)]
pub struct Event {
    /// The object that the event is about.
    #[index(column = "obj_kind", path = "kind", type = "VARCHAR(63)")]
    #[index(column = "obj_namespace", path = "namespace", type = "VARCHAR(63)", key = false)]
    #[index(column = "obj_name", path = "name", type = "VARCHAR(256)")]
    #[index(column = "obj_uid", path = "uid", type = "VARCHAR(64)")]
    pub involved_object: Reference,
    /// `Normal` or `Warning`.
    #[index(column = "type", type = "VARCHAR(16)", key = false)]
    pub r#type: Option<String>,
    /// The reason, in a word.
    #[index(column = "reason", type = "VARCHAR(128)")]
    pub reason: Option<String>,
    /// The reason, for people.
    #[index(column = "message", type = "TEXT", key = false)]
    pub message: Option<String>,
    /// How often the event happened, in events of older components.
    pub count: Option<i32>,
    /// How often the event happened, in events of newer ones.
    pub series: Series,
    /// The component that reports the event, in events of older components.
    pub source: Source,
    /// The component that reports the event, in events of newer ones.
    pub reporting_component: Option<String>,
    /// When it was first seen, in events of older components.
    pub first_timestamp: Option<Time>,
    /// When it was last seen, in events of older components.
    pub last_timestamp: Option<Time>,
    /// When it was first seen, in events of newer ones.
    pub event_time: Option<Time>,
}

/// An object.
#[derive(Deserialize, Debug, Default)]
#[serde(default)]
pub struct Reference {
    /// Its kind.
    pub kind: Option<String>,
    /// Its namespace.
    pub namespace: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Its uid.
    pub uid: Option<String>,
}

/// Several events as one.
#[derive(Deserialize, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Series {
    /// How many.
    pub count: Option<i32>,
    /// When the last one was.
    pub last_observed_time: Option<Time>,
}

/// Where an event comes from.
#[derive(Deserialize, Debug, Default)]
#[serde(default)]
pub struct Source {
    /// The component.
    pub component: Option<String>,
}

fn is_wanted(event: &Event) -> bool {
    const WANTED: [&str; 9] =
        ["TFJob", "PyTorchJob", "XGBoostJob", "XDLJob", "ElasticBatchJob", "MarsJob", "ElasticDLJob", "MPIJob", "Pod"];
    event.involved_object.kind.as_deref().is_some_and(|kind| WANTED.contains(&kind))
}

fn count(event: &Event) -> i32 {
    event.count.or(event.series.count).unwrap_or(1)
}

fn component(event: &Event) -> Option<&str> {
    event.source.component.as_deref().or(event.reporting_component.as_deref())
}

fn first_timestamp(event: &Event) -> Option<Time> {
    event.first_timestamp.or(event.event_time)
}

fn last_timestamp(event: &Event) -> Option<Time> {
    event.last_timestamp.or(event.series.last_observed_time).or(event.event_time)
}
