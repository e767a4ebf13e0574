//! Kubernetes Events about objects, where their owners look: `kubectl describe` shows them.
//!
//! May use: host, metrics, ingester-core.
//!
//! Publishing never slows the mirror down. Events go into a bounded queue, from which one task sends a few per second. An event that finds
//! the queue full is dropped and counted. An event that cannot be sent is lost; the log gives the reason once a minute. Nothing is
//! published about Events, because they would cause further Events without end.
//!
//! The cluster role needs `create` and `patch` on `events` of the group `events.k8s.io`. Events about cluster-scoped objects
//! are in the namespace `default`, where Kubernetes puts them.

mod bucket;
mod recorder;
#[cfg(test)]
mod tests;

use crate::host::host_name;
use crate::metrics::{EventCounters, Metrics};
use bucket::Bucket;
use ingester_core::Kind;
use ingester_core::marks::{Mark, MarkName};
use k8s_openapi::api::core::v1::ObjectReference;
use kube::Client;
use recorder::{Event, EventType, Recorder};
use std::env;
use std::future::Future;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// The most bytes of a note (Kubernetes' validation of events.k8s.io/v1, `NoteLengthLimit`).
const NOTE_BYTES: usize = 1024;

/// The time for sending one event. After that it is lost.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The shortest time between two warnings of the same sort.
const SILENCE: Duration = Duration::from_secs(60);

/// The object that an event is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'o> {
    /// `apiVersion`
    pub(crate) api_version: &'o str,
    /// `metadata.namespace`; empty for cluster-scoped objects.
    pub(crate) namespace: &'o str,
    /// `metadata.name`
    pub(crate) name: &'o str,
    /// `metadata.uid`
    pub(crate) uid: &'o str,
    /// `metadata.resourceVersion`; empty if unknown.
    pub(crate) resource_version: &'o str,
}

/// The limits on publishing, and the reporting instance.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Events per second, on average.
    pub(crate) per_second: u32,
    /// Events at once, after a pause.
    pub(crate) burst: u32,
    /// The number of events that may wait to be sent. Further events are dropped.
    pub(crate) waiting: usize,
    /// The reporting instance, such as the pod's name.
    pub(crate) instance: Option<String>,
}

impl Default for Options {
    /// 5 per second, 25 at once, 256 waiting. The instance is `POD_NAME` of the environment, otherwise the host's name.
    fn default() -> Self {
        let instance = env::var("POD_NAME").ok().filter(|name| !name.is_empty()).or_else(host_name);
        Options { per_second: 5, burst: 25, waiting: 256, instance }
    }
}

/// Publishes events. Clones share a queue. No method waits.
#[derive(Clone, Debug)]
pub struct Publisher(Option<Outbox>);

#[derive(Clone, Debug)]
struct Outbox {
    sender: mpsc::Sender<Outgoing>,
    counters: EventCounters,
}

/// An event to publish.
struct Outgoing {
    regarding: ObjectReference,
    event: Event,
}

impl Publisher {
    /// Creates a publisher, and the task that sends its events: at most 5 per second, and 25 at once. The caller spawns the task. It ends
    /// when the last clone of the publisher is dropped. Events that wait when the task is stopped are lost.
    ///
    /// The reporting instance is `POD_NAME` of the environment, otherwise the host's name.
    pub fn new(client: Client, metrics: &Metrics) -> (Self, impl Future<Output = ()> + Send + 'static) {
        Publisher::with_options(client, metrics, Options::default())
    }

    fn with_options(
        client: Client,
        metrics: &Metrics,
        options: Options,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (sender, receiver) = mpsc::channel(options.waiting.max(1));
        let counters = metrics.events();
        let publisher = Publisher(Some(Outbox { sender, counters: counters.clone() }));
        (publisher, send(client, receiver, counters, options))
    }

    /// A publisher that publishes nothing.
    pub fn off() -> Self {
        Publisher(None)
    }

    /// A publisher that sends nothing, and passes on the uid of each Event's object.
    #[cfg(test)]
    pub(crate) fn telling(metrics: &Metrics, tell: impl Fn(&str) + Send + 'static) -> Self {
        let (sender, mut events) = mpsc::channel::<Outgoing>(Options::default().waiting);
        tokio::spawn(async move {
            while let Some(Outgoing { regarding, .. }) = events.recv().await {
                tell(regarding.uid.as_deref().unwrap_or_default());
            }
        });
        Publisher(Some(Outbox { sender, counters: metrics.events() }))
    }

    /// The object's current version could not be decoded or stored, for this reason: Warning `Rejected`.
    pub(crate) fn rejected(&self, kind: &Kind, subject: Subject<'_>, reason: &str) {
        self.enqueue(kind, subject, || Event {
            type_: EventType::Warning,
            reason: "Rejected",
            action: "Mirror",
            note: note(
                "Not mirrored into SQL: ",
                reason,
                ". SQL keeps the last version that it took; correct the object and it is tried again.",
            ),
        });
    }

    /// The object's last state could not be stored, for this reason, so its deletion waits: Warning `DeletionHeld`.
    pub(crate) fn held(&self, kind: &Kind, subject: Subject<'_>, reason: &str) {
        self.enqueue(kind, subject, || Event {
            type_: EventType::Warning,
            reason: "DeletionHeld",
            action: "Delete",
            note: note(
                "Deletion held back, the last state could not be stored in SQL: ",
                reason,
                ". It continues once the state is stored: correct the object. To give up the last state, remove the \
                 ingester's finalizer by hand.",
            ),
        });
    }

    /// The object had left etcd, and exists there again in another state than its row holds: Warning `Ghost`.
    pub(crate) fn ghost(&self, kind: &Kind, subject: Subject<'_>) {
        self.enqueue(kind, subject, || Event {
            type_: EventType::Warning,
            reason: "Ghost",
            action: "Mirror",
            note: "This object was evicted from etcd and is there again, in another state than SQL has. It is not mirrored until \
                   a person decides which of the two stays: see `ingester ghosts`."
                .into(),
        });
    }

    /// The object is left without our finalizer, for this reason: Warning `FinalizerGivenUp`.
    pub(crate) fn finalizer_given_up(&self, kind: &Kind, subject: Subject<'_>, reason: &str) {
        self.enqueue(kind, subject, || Event {
            type_: EventType::Warning,
            reason: "FinalizerGivenUp",
            action: "Mirror",
            note: note(
                &format!("Mirrored without the finalizer {}: ", kind.marks().name(Mark::Finalizer)),
                reason,
                ". If the object is deleted while no ingester runs, SQL has the last state that was seen. Find what refuses or \
                 removes the finalizer, or set `ingester.finalizerMap` of the kind to `never` or `existing`.",
            ),
        });
    }

    /// This annotation of the object has no effect, because its kind is not evictable: Warning `AnnotationIgnored`.
    pub(crate) fn annotation_ignored(&self, kind: &Kind, subject: Subject<'_>, annotation: MarkName) {
        self.enqueue(kind, subject, || Event {
            type_: EventType::Warning,
            reason: "AnnotationIgnored",
            action: "Mirror",
            note: note(
                "The annotation ",
                &annotation.to_string(),
                " has no effect: the ingester deletes no object of this kind from the cluster (`evictable: false`). To delete \
                 the object, delete it in the cluster; remove the annotation.",
            ),
        });
    }

    /// A rejected object is mirrored again: Normal `Mirrored`.
    pub(crate) fn mirrored(&self, kind: &Kind, subject: Subject<'_>) {
        self.enqueue(kind, subject, || Event {
            type_: EventType::Normal,
            reason: "Mirrored",
            action: "Mirror",
            note: "Mirrored into SQL again.".into(),
        });
    }

    /// A list lacked so many of the kind's live rows that none was marked as deleted: Warning `SweepRefused`. Its subject is the kind's
    /// CustomResourceDefinition, or the APIService of a kind that has none.
    pub fn sweep_refused(&self, kind: &Kind, marked: u64, live: u64) {
        let event = || Event {
            type_: EventType::Warning,
            reason: "SweepRefused",
            action: "Mirror",
            note: note(
                &format!("Of {live} live rows of {} in SQL, {marked} have no object in the cluster", kind.name()),
                "",
                ". These are more than `ingester.sweepLimit`, so none is marked as deleted. If the objects are really \
                 gone, run `ingester audit --repair`.",
            ),
        };
        self.enqueue_unless_event(kind, || definition_of(kind), event);
    }

    /// Objects of the kind begin to leave etcd by these rules: Normal `PolicyEnforced`. It has the same subject as
    /// [`Publisher::sweep_refused`].
    pub(crate) fn policies_enforced(&self, kind: &Kind, rules: &str, objects: usize) {
        let event = || Event {
            type_: EventType::Normal,
            reason: "PolicyEnforced",
            action: "Evict",
            note: note(
                &format!(
                    "Objects of {} begin to leave etcd for SQL, {objects} in the first round, by the rules",
                    kind.name()
                ),
                rules,
                ". `ingester policies` says which.",
            ),
        };
        self.enqueue_unless_event(kind, || definition_of(kind), event);
    }

    /// The database has lost the row of this evicted object, which was its only copy: Warning `EvictionLost`.
    pub(crate) fn eviction_lost(&self, kind: &Kind, subject: Subject<'_>) {
        self.enqueue(kind, subject, || Event {
            type_: EventType::Warning,
            reason: "EvictionLost",
            action: "Evict",
            note: note(
                "The database has lost the row of this object, which left etcd for good",
                "",
                ". Look for it on the server that the database was on before, in its binary log, and in backups, and store it with \
                 `ingester import --assume evicted`.",
            ),
        });
    }

    /// The database belongs to another cluster than this one, whose namespace `kube-system` has this uid: Warning
    /// `DatabaseOfOtherCluster` on that namespace, with the reason and the remedy.
    pub fn other_cluster(&self, uid: &str, reason: &str) {
        let regarding = ObjectReference {
            api_version: Some("v1".into()),
            kind: Some("Namespace".into()),
            name: Some("kube-system".into()),
            // Old API servers require the Event of a Namespace to be in the namespace that the reference names.
            namespace: Some("kube-system".into()),
            uid: Some(uid.into()),
            ..ObjectReference::default()
        };
        self.send(
            || regarding,
            || Event {
                type_: EventType::Warning,
                reason: "DatabaseOfOtherCluster",
                action: "Start",
                note: note("The ingester mirrors nothing: ", reason, ""),
            },
        );
    }

    fn enqueue(&self, kind: &Kind, subject: Subject<'_>, event: impl FnOnce() -> Event) {
        self.enqueue_unless_event(kind, || reference(kind, subject), event);
    }

    fn enqueue_unless_event(
        &self,
        kind: &Kind,
        regarding: impl FnOnce() -> ObjectReference,
        event: impl FnOnce() -> Event,
    ) {
        if !is_event(kind) {
            self.send(regarding, event);
        }
    }

    fn send(&self, regarding: impl FnOnce() -> ObjectReference, event: impl FnOnce() -> Event) {
        let Some(Outbox { sender, counters }) = &self.0 else { return };
        // Reserve the room first, so that a dropped event is not even built.
        match sender.try_reserve() {
            Ok(permit) => permit.send(Outgoing { regarding: regarding(), event: event() }),
            Err(_) => counters.dropped.inc(),
        }
    }
}

/// Returns true if the kind's objects are Events themselves. An Event about one of them would be mirrored, and if it could not be, a
/// further Event would report that, without end.
fn is_event(kind: &Kind) -> bool {
    kind.kind() == "Event" && ["", "events.k8s.io"].contains(&kind.group())
}

/// Returns the object that stands for a whole kind. Its uid is not known here.
fn definition_of(kind: &Kind) -> ObjectReference {
    let group = kind.group();
    // The group of a CustomResourceDefinition has a dot. Every group and version has an APIService.
    let (api_version, definition, name) = if group.contains('.') {
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", format!("{}.{group}", kind.plural()))
    } else {
        ("apiregistration.k8s.io/v1", "APIService", format!("{}.{group}", kind.version()))
    };
    ObjectReference {
        api_version: Some(api_version.to_owned()),
        kind: Some(definition.to_owned()),
        name: Some(name),
        ..ObjectReference::default()
    }
}

fn reference(kind: &Kind, subject: Subject<'_>) -> ObjectReference {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    ObjectReference {
        api_version: some(subject.api_version).or_else(|| Some(kind.api_version())),
        kind: Some(kind.kind().to_owned()),
        // Absent, not empty, for cluster-scoped objects: then the recorder uses `default`.
        namespace: some(subject.namespace),
        name: some(subject.name),
        uid: some(subject.uid),
        resource_version: some(subject.resource_version),
        field_path: None,
    }
}

/// Returns a note whose reason is cut so that the rest fits: the advice at the end must not be lost.
fn note(before: &str, reason: &str, after: &str) -> String {
    let reason = reason.trim_end_matches(['.', '\n', ' ']);
    let room = NOTE_BYTES.saturating_sub(before.len() + after.len());
    format!("{before}{}{after}", cut(reason, room))
}

/// Returns `text` in at most `bytes` bytes, cut between characters, with dots at the end if it was cut.
fn cut(text: &str, bytes: usize) -> String {
    const DOTS: &str = "...";
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(bytes.saturating_sub(DOTS.len()));
    format!("{}{DOTS}", &text[..end])
}

/// Sends events until the last publisher is dropped.
async fn send(client: Client, mut receiver: mpsc::Receiver<Outgoing>, counters: EventCounters, options: Options) {
    let mut recorder = Recorder::new(client, options.instance.as_deref());
    let mut bucket = Bucket::new(options.per_second, options.burst, Instant::now());
    let mut warnings = Warnings::default();
    while let Some(Outgoing { regarding, event }) = receiver.recv().await {
        tokio::time::sleep(bucket.take(Instant::now())).await;
        let publish = async {
            match recorder.publish(&event, &regarding).await {
                Err(kube::Error::Api(status)) if status.code == 422 && regarding.namespace.is_none() => {
                    // Old API servers require an Event on a cluster-scoped object to be in the namespace that the reference names.
                    let regarding = ObjectReference { namespace: Some("default".into()), ..regarding.clone() };
                    recorder.publish(&event, &regarding).await
                }
                done => done,
            }
        };
        let trouble = match tokio::time::timeout(TIMEOUT, publish).await {
            Ok(Ok(())) => {
                counters.published.inc();
                continue;
            }
            Ok(Err(error)) => Trouble::from_kube(&error),
            Err(_) => Trouble::Other("the API server did not answer in time".into()),
        };
        counters.failed.inc();
        warnings.log(&trouble, &regarding);
    }
}

/// The reason why an event was not accepted.
#[derive(Debug, PartialEq, Eq)]
enum Trouble {
    /// The ingester may not publish events.
    Forbidden(String),
    /// The namespace is gone or terminating, or the series to which this event belongs is gone. Not worth a warning.
    Gone(String),
    /// Anything else.
    Other(String),
}

impl Trouble {
    fn from_kube(error: &kube::Error) -> Self {
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

/// The times of the log's last warnings about each sort of trouble.
#[derive(Debug, Default)]
struct Warnings {
    forbidden: Option<Instant>,
    other: Option<Instant>,
}

impl Warnings {
    /// Returns true if the log should warn about this trouble: for each sort, the first time, and then once per minute.
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
        let kind = regarding.kind.as_deref();
        let name = regarding.name.as_deref();
        let namespace = regarding.namespace.as_deref();
        let due = self.due(trouble, Instant::now());
        match trouble {
            Trouble::Forbidden(reason) if due => tracing::warn!(
                kind,
                namespace,
                name,
                reason,
                "Kubernetes refuses the ingester's events: grant its role the rule apiGroups [\"events.k8s.io\"], \
                 resources [\"events\"], verbs [\"create\", \"patch\"]; logged once a minute"
            ),
            Trouble::Other(reason) if due => tracing::warn!(
                kind,
                namespace,
                name,
                reason,
                "Cannot publish an Event on an object; logged once a minute"
            ),
            Trouble::Forbidden(reason) | Trouble::Gone(reason) | Trouble::Other(reason) => {
                tracing::debug!(kind, namespace, name, reason, "cannot publish an Event on an object");
            }
        }
    }
}
