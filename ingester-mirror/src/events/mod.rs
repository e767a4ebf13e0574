//! Tells people about their objects where they look: Kubernetes Events, as `kubectl describe` shows them.
//!
//! May use: metrics, ingester-core.
//!
//! Publishing never slows the mirror down. What is said goes into a bounded queue (what finds no place is dropped and
//! counted), and one task sends it, a few a second. An event that cannot be sent is lost; the log says why, once a minute.
//!
//! The cluster role needs `create` and `patch` on `events` of the group `events.k8s.io`. Events on objects of
//! cluster-scoped kinds are in the namespace `default`, where Kubernetes puts them.

mod bucket;
#[cfg(test)]
mod tests;

use crate::metrics::{self, Metrics};
use bucket::Bucket;
use ingester_core::Kind;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event as KubernetesEvent;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use kube::api::PostParams;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use kube::{Api, Client};
use std::env;
use std::future::Future;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// The name under which events are reported.
const CONTROLLER: &str = "ingester";

/// Bytes of a note at most (Kubernetes' validation of events.k8s.io/v1, `NoteLengthLimit`).
const NOTE_BYTES: usize = 1024;

/// Bytes of a reporting instance at most (`ReportingInstanceLengthLimit`, same place).
const INSTANCE_BYTES: usize = 128;

/// How long one event may take to send; after that it is lost.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often the log says the same about events.
const SILENCE: Duration = Duration::from_secs(60);

/// The object that an event is about.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'o> {
    /// `apiVersion`
    pub api_version: &'o str,
    /// `metadata.namespace`; empty for cluster-scoped objects.
    pub namespace: &'o str,
    /// `metadata.name`
    pub name: &'o str,
    /// `metadata.uid`
    pub uid: &'o str,
    /// `metadata.resourceVersion`; empty where it is not known.
    pub resource_version: &'o str,
}

/// How much is published.
#[derive(Clone, Debug)]
pub struct Options {
    /// Events a second, in the long run.
    pub per_second: u32,
    /// Events at once, after a pause.
    pub burst: u32,
    /// Events that may wait to be sent; further ones are dropped.
    pub waiting: usize,
    /// Which ingester reports: the pod's name. The host's name where it is `None`.
    pub instance: Option<String>,
}

impl Default for Options {
    /// 5 a second, 25 at once, 256 waiting; the instance is `POD_NAME` of the environment.
    fn default() -> Self {
        let instance = env::var("POD_NAME").ok().filter(|name| !name.is_empty());
        Options { per_second: 5, burst: 25, waiting: 256, instance }
    }
}

/// Publishes events. Clones share a queue. No method waits.
#[derive(Clone, Debug)]
pub struct Publisher(Option<Queue>);

#[derive(Clone, Debug)]
struct Queue {
    sender: mpsc::Sender<Said>,
    counters: metrics::Events,
}

/// What is to be published.
struct Said {
    regarding: ObjectReference,
    event: Event,
}

impl Publisher {
    /// A publisher, and the task that sends: to be spawned, it ends when the last clone of the publisher is gone. Events
    /// that wait when the task is stopped are lost.
    pub fn new(
        client: Client,
        metrics: &Metrics,
        options: Options,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (sender, receiver) = mpsc::channel(options.waiting.max(1));
        let counters = metrics.events();
        let publisher = Publisher(Some(Queue { sender, counters: counters.clone() }));
        (publisher, send(client, receiver, counters, options))
    }

    /// One that publishes nothing.
    pub fn off() -> Self {
        Publisher(None)
    }

    /// The object's present version could not be decoded or stored, for this reason: Warning `Rejected`.
    pub fn rejected(&self, kind: &Kind, subject: Subject<'_>, reason: &str) {
        self.say(kind, subject, || Event {
            type_: EventType::Warning,
            reason: "Rejected".into(),
            action: "Mirror".into(),
            note: Some(note(
                "Not mirrored into SQL: ",
                reason,
                ". SQL keeps the last version that it took; mend the object and it is tried again by itself.",
            )),
            secondary: None,
        });
    }

    /// The object is to be deleted and its last state could not be stored, for this reason, so that it is held back:
    /// Warning `DeletionHeld`.
    pub fn held(&self, kind: &Kind, subject: Subject<'_>, reason: &str) {
        self.say(kind, subject, || Event {
            type_: EventType::Warning,
            reason: "DeletionHeld".into(),
            action: "Delete".into(),
            note: Some(note(
                "Deletion held back, the last state could not be stored in SQL: ",
                reason,
                ". It goes on by itself once it is stored: mend the object. To give the last state up, remove the \
                 ingester's finalizer by hand.",
            )),
            secondary: None,
        });
    }

    /// An object that was rejected is mirrored again: Normal `Mirrored`.
    pub fn mirrored(&self, kind: &Kind, subject: Subject<'_>) {
        self.say(kind, subject, || Event {
            type_: EventType::Normal,
            reason: "Mirrored".into(),
            action: "Mirror".into(),
            note: Some("Mirrored into SQL again.".into()),
            secondary: None,
        });
    }

    fn say(&self, kind: &Kind, subject: Subject<'_>, event: impl FnOnce() -> Event) {
        let Some(Queue { sender, counters }) = &self.0 else { return };
        // A place first: an event that is dropped costs no copy of anything.
        match sender.try_reserve() {
            Ok(place) => place.send(Said { regarding: reference(kind, subject), event: event() }),
            Err(_) => counters.dropped.inc(),
        }
    }
}

fn reference(kind: &Kind, subject: Subject<'_>) -> ObjectReference {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    ObjectReference {
        api_version: some(subject.api_version).or_else(|| Some(kind.api_version())),
        kind: Some(kind.kind().to_owned()),
        // Absent, not empty, for cluster-scoped objects: then the recorder takes `default`.
        namespace: some(subject.namespace),
        name: some(subject.name),
        uid: some(subject.uid),
        resource_version: some(subject.resource_version),
        field_path: None,
    }
}

/// A note with its reason cut so that all of it fits: what to do stands at the end and must not be lost.
fn note(before: &str, reason: &str, after: &str) -> String {
    let reason = reason.trim_end_matches(['.', '\n', ' ']);
    let room = NOTE_BYTES.saturating_sub(before.len() + after.len());
    format!("{before}{}{after}", cut(reason, room))
}

/// `text` in at most `bytes` bytes, whole characters, with dots where something is missing.
fn cut(text: &str, bytes: usize) -> String {
    const DOTS: &str = "...";
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(bytes.saturating_sub(DOTS.len()));
    format!("{}{DOTS}", &text[..end])
}

/// Sends what is said until nobody is left to say anything.
async fn send(client: Client, mut receiver: mpsc::Receiver<Said>, counters: metrics::Events, options: Options) {
    let mut reporter = Reporter::from(CONTROLLER);
    reporter.instance = options.instance.or(reporter.instance).map(|name| {
        let end = name.floor_char_boundary(INSTANCE_BYTES);
        name[..end].to_owned()
    });
    let recorder = Recorder::new(client.clone(), reporter.clone());
    let mut bucket = Bucket::new(options.per_second, options.burst, Instant::now());
    let mut complaints = Complaints::default();
    while let Some(Said { regarding, event }) = receiver.recv().await {
        tokio::time::sleep(bucket.take(Instant::now())).await;
        let publish = async {
            if regarding.name.as_deref().is_some_and(names_an_event) {
                recorder.publish(&event, &regarding).await
            } else {
                publish_unnamed(&client, &reporter, &event, &regarding).await
            }
        };
        let trouble = match tokio::time::timeout(PATIENCE, publish).await {
            Ok(Ok(())) => {
                counters.published.inc();
                continue;
            }
            Ok(Err(error)) => Trouble::of(&error),
            Err(_) => Trouble::Other("the API server did not answer in time".into()),
        };
        counters.failed.inc();
        complaints.log(&trouble, &regarding);
    }
}

/// Whether an object's name followed by a dot and a time, the recorder's name for an event, is one for Kubernetes: a DNS
/// subdomain of up to 253 characters. Most kinds' names are DNS subdomains themselves; those of RBAC, say, are not.
fn names_an_event(name: &str) -> bool {
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

/// Publishes an event under a name that the server makes. As client-go does where the object's name is no part of one.
async fn publish_unnamed(
    client: &Client,
    reporter: &Reporter,
    event: &Event,
    regarding: &ObjectReference,
) -> kube::Result<()> {
    let namespace = regarding.namespace.as_deref().unwrap_or("default");
    let kind = match event.type_ {
        EventType::Normal => "Normal",
        EventType::Warning => "Warning",
    };
    let event = KubernetesEvent {
        action: Some(event.action.clone()),
        event_time: Some(MicroTime(Timestamp::now())),
        metadata: ObjectMeta { generate_name: Some(format!("{CONTROLLER}-")), ..ObjectMeta::default() },
        note: event.note.clone(),
        reason: Some(event.reason.clone()),
        regarding: Some(regarding.clone()),
        reporting_controller: Some(reporter.controller.clone()),
        reporting_instance: Some(reporter.instance.clone().unwrap_or_else(|| reporter.controller.clone())),
        type_: Some(kind.into()),
        ..KubernetesEvent::default()
    };
    Api::<KubernetesEvent>::namespaced(client.clone(), namespace).create(&PostParams::default(), &event).await?;
    Ok(())
}

/// Why an event was not taken.
#[derive(Debug, PartialEq, Eq)]
enum Trouble {
    /// The ingester may not publish events.
    Forbidden(String),
    /// The namespace is gone or on its way, or so is the event to which this one is added. Nobody's fault.
    Gone(String),
    /// Anything else.
    Other(String),
}

impl Trouble {
    fn of(error: &kube::Error) -> Self {
        let kube::Error::Api(status) = error else { return Trouble::Other(error.to_string()) };
        let terminating = status
            .details
            .as_ref()
            .is_some_and(|details| details.causes.iter().any(|cause| cause.reason == "NamespaceTerminating"));
        match status.code {
            404 => Trouble::Gone(status.message.clone()),
            403 if terminating => Trouble::Gone(status.message.clone()),
            403 => Trouble::Forbidden(status.message.clone()),
            code => Trouble::Other(format!("{code} {}", status.message)),
        }
    }
}

/// When the log last said what.
#[derive(Debug, Default)]
struct Complaints {
    forbidden: Option<Instant>,
    other: Option<Instant>,
}

impl Complaints {
    /// Whether this trouble is to be a warning: the first of its class, and then one a minute.
    fn due(&mut self, trouble: &Trouble, now: Instant) -> bool {
        let last = match trouble {
            Trouble::Gone(_) => return false,
            Trouble::Forbidden(_) => &mut self.forbidden,
            Trouble::Other(_) => &mut self.other,
        };
        let due = last.is_none_or(|last| now.saturating_duration_since(last) >= SILENCE);
        if due {
            *last = Some(now);
        }
        due
    }

    fn log(&mut self, trouble: &Trouble, regarding: &ObjectReference) {
        let (kind, name) = (regarding.kind.as_deref(), regarding.name.as_deref());
        let namespace = regarding.namespace.as_deref();
        let due = self.due(trouble, Instant::now());
        match trouble {
            Trouble::Forbidden(reason) if due => tracing::warn!(
                kind,
                namespace,
                name,
                reason,
                "Kubernetes refuses the ingester's events: grant its role the rule apiGroups [\"events.k8s.io\"], \
                 resources [\"events\"], verbs [\"create\", \"patch\"]; said once a minute"
            ),
            Trouble::Other(reason) if due => tracing::warn!(
                kind,
                namespace,
                name,
                reason,
                "an event on an object could not be published; said once a minute"
            ),
            Trouble::Forbidden(reason) | Trouble::Gone(reason) | Trouble::Other(reason) => {
                tracing::debug!(kind, namespace, name, reason, "an event on an object could not be published");
            }
        }
    }
}
