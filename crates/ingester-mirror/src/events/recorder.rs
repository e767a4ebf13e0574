//! Creates Events in the API server. An Event that repeats a recent one is counted in its series, as the API of events.k8s.io asks for.
//!
//! kube-runtime has a recorder, too, but nothing else of that crate is used here, and it takes long to compile.

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::{Event as KubernetesEvent, EventSeries};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client};

/// The controller that reports the events.
const CONTROLLER: &str = "ingester";

/// The most bytes of a reporting instance (Kubernetes' validation of events.k8s.io/v1, `ReportingInstanceLengthLimit`).
const INSTANCE_BYTES: usize = 128;

/// An event that repeats another after this time begins a new series, as in client-go.
const SERIES: SignedDuration = SignedDuration::from_mins(6);

/// An event about an object.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) type_: EventType,
    /// Why it happened, in one word for programs.
    pub(super) reason: &'static str,
    /// The action, one word that programs read.
    pub(super) action: &'static str,
    /// The message for people.
    pub(super) note: String,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum EventType {
    Normal,
    Warning,
}

impl EventType {
    fn name(self) -> &'static str {
        match self {
            EventType::Normal => "Normal",
            EventType::Warning => "Warning",
        }
    }
}

/// Creates events, and remembers the recent ones.
pub(super) struct Recorder {
    client: Client,
    instance: String,
    recent: Vec<KubernetesEvent>,
}

impl Recorder {
    /// The reporting instance is the controller's name if none is given.
    pub(super) fn new(client: Client, instance: Option<&str>) -> Self {
        let instance = instance.unwrap_or(CONTROLLER);
        let end = instance.floor_char_boundary(INSTANCE_BYTES);
        Recorder { client, instance: instance[..end].to_owned(), recent: Vec::new() }
    }

    /// Creates the event in the namespace of its object, or counts it in the series of a recent one.
    ///
    /// # Errors
    /// If the API server refuses it, or does not answer.
    pub(super) async fn publish(&mut self, event: &Event, regarding: &ObjectReference) -> kube::Result<()> {
        let now = Timestamp::now();
        self.recent.retain(|recent| last_observed(recent).is_some_and(|time| now.duration_since(time) < SERIES));
        let namespace = regarding.namespace.as_deref().unwrap_or("default");
        let api = Api::<KubernetesEvent>::namespaced(self.client.clone(), namespace);
        let new = self.new_event(event, regarding, now);
        let Some(first) = self.recent.iter_mut().find(|recent| is_repeated(recent, &new)) else {
            api.create(&PostParams::default(), &new).await?;
            // An event whose name only the server knows cannot be changed later.
            if new.metadata.name.is_some() {
                self.recent.push(new);
            }
            return Ok(());
        };
        let count = first.series.as_ref().map_or(1, |series| series.count) + 1;
        let series = EventSeries { count, last_observed_time: MicroTime(now) };
        let again = KubernetesEvent { series: Some(series), ..first.clone() };
        let name = again.metadata.name.as_deref().unwrap_or_default();
        api.patch(name, &PatchParams::default(), &Patch::Merge(&again)).await?;
        *first = again;
        Ok(())
    }

    fn new_event(&self, event: &Event, regarding: &ObjectReference, now: Timestamp) -> KubernetesEvent {
        let named = regarding.name.as_deref().filter(|name| names_an_event(name));
        let metadata = match named {
            Some(name) => ObjectMeta {
                name: Some(format!("{name}.{:x}", now.as_nanosecond())),
                namespace: regarding.namespace.clone(),
                ..ObjectMeta::default()
            },
            None => ObjectMeta { generate_name: Some(format!("{CONTROLLER}-")), ..ObjectMeta::default() },
        };
        KubernetesEvent {
            action: Some(event.action.to_owned()),
            event_time: Some(MicroTime(now)),
            metadata,
            note: Some(event.note.clone()),
            reason: Some(event.reason.to_owned()),
            regarding: Some(regarding.clone()),
            reporting_controller: Some(CONTROLLER.to_owned()),
            reporting_instance: Some(self.instance.clone()),
            type_: Some(event.type_.name().to_owned()),
            ..KubernetesEvent::default()
        }
    }
}

/// Returns true if both events have the same type, reason and action, and are about the same version of the same object.
fn is_repeated(recent: &KubernetesEvent, new: &KubernetesEvent) -> bool {
    recent.regarding == new.regarding
        && recent.type_ == new.type_
        && recent.reason == new.reason
        && recent.action == new.action
}

/// Returns when the event happened last.
fn last_observed(event: &KubernetesEvent) -> Option<Timestamp> {
    let repeated = event.series.as_ref().map(|series| &series.last_observed_time);
    repeated.or(event.event_time.as_ref()).map(|time| time.0)
}

/// Returns true if the object's name with a dot and a time is a valid name of an event: a DNS subdomain of up to 253 characters. Most
/// kinds' names are DNS subdomains, but the names of RBAC objects, for example, are not.
pub(super) fn names_an_event(name: &str) -> bool {
    /// A dot and the nanoseconds since 1970 in hexadecimal digits.
    const TIME: usize = 1 + 16;
    let alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.len() + TIME <= 253
        && name.split('.').all(|label| {
            label.starts_with(alphanumeric)
                && label.ends_with(alphanumeric)
                && label.chars().all(|c| alphanumeric(c) || c == '-')
        })
}
