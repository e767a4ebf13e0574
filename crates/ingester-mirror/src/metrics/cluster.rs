//! Lists, watches and other requests to the API server.

use super::family::{Counters, Family as _, SeriesSubject, metrics};
use super::{ControllerMetrics, count};
use prometheus::{Registry, Result};

metrics! {
    /// The lists, watches and finalizers of one kind.
    ClusterSeries of ClusterFamilies:
    lists: Counters by Kind, "ingester_lists_total", "Lists of all objects, read to the end";
    objects_listed: Counters ["read" in ListMethod::LABELS] by Kind, "ingester_objects_listed_total",
        "Objects in lists: whole, as a stream (stream) or in pages (pages), or only their metadata (metadata)";
    watch_restarts: Counters ["reason" in Restart::LABELS] by Kind, "ingester_watch_restarts_total",
        "Watches restarted: after 410 Gone (expired), because the cluster went back, as after a restore (behind), because the CRD was removed (not_installed), or because the connection broke (connection)";
    panics: Counters by Kind, "ingester_controller_panics_total", "Panics in the controller: a bug in the ingester, please report it";
    finalizers_added: Counters by Kind, "ingester_finalizers_added_total", "Objects that got the finalizer";
    finalizers_removed: Counters by Kind, "ingester_finalizers_removed_total", "Objects that lost the finalizer";
    finalizers_given_up: Counters ["reason" in GiveUpReason::LABELS] by Kind, "ingester_finalizers_given_up_total",
        "Objects left without the finalizer, with an Event: the API server refused it three times for the same version (refused), or it was removed three times soon after it had been added (removed)";
}

/// How a list read its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListMethod {
    /// Whole, as a stream.
    Stream,
    /// Whole, page by page.
    Pages,
    /// Their metadata.
    Metadata,
}

impl ListMethod {
    /// Indexed by what was read.
    const LABELS: [&str; 3] = ["stream", "pages", "metadata"];
}

/// Why a watch was restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Restart {
    /// The API server no longer has the watch's version (410 Gone): all objects are listed again.
    Expired,
    /// The cluster is behind what was observed, as after a restore from a backup: all objects are listed again.
    Behind,
    /// The kind's CRD was removed.
    NotInstalled,
    /// The connection broke, or the API server ended the watch with an error: the watch continues at its version.
    Connection,
}

impl Restart {
    /// Indexed by reason.
    const LABELS: [&str; 4] = ["expired", "behind", "not_installed", "connection"];
}

/// Why an object is left without our finalizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GiveUpReason {
    /// The API server refused it.
    Refused,
    /// It was removed again each time.
    Removed,
}

impl GiveUpReason {
    /// Indexed by reason.
    const LABELS: [&str; 2] = ["refused", "removed"];
}

/// Codes whose series exist from the start, at 0, so that an alert sees the first error of each: `rate` sees no increase in a
/// series that did not exist before.
const API_CODES: [&str; 12] = [NETWORK, "lease", "401", "403", "404", "409", "410", "422", "429", "500", "503", "504"];

/// The code of an error without a readable answer of the API server.
const NETWORK: &str = "network";

/// Errors of the API server. Their series are made when the first one comes, because the codes are not known in advance.
#[derive(Clone)]
pub(super) struct ApiErrors(Counters);

impl ApiErrors {
    pub(super) fn register(on: &Registry) -> Result<Self> {
        let help = "Errors of the API server, by HTTP code; network: no readable answer; lease: not sent, because the Lease of this replica had expired";
        let labels = [SeriesSubject::Kind.labels(), &["code"]].concat();
        Counters::register(on, "ingester_api_errors_total", help, &labels, &[]).map(ApiErrors)
    }

    /// Returns the errors of a kind. The series that alerts look at exist from now on.
    pub(super) fn for_kind(&self, kind: &str) -> Self {
        for code in API_CODES {
            self.0.create_series(&[kind, code]);
        }
        self.clone()
    }
}

impl ControllerMetrics {
    /// A list brought objects, even if it was not read to its end.
    pub(crate) fn objects_listed(&self, read: ListMethod, objects: usize) {
        self.kind.cluster.objects_listed[read as usize].inc_by(count(objects));
    }

    /// A list of all objects was completed.
    pub(crate) fn listed(&self) {
        self.kind.cluster.lists.inc();
    }

    /// A watch was restarted, for this reason.
    pub(crate) fn watch_restarted(&self, reason: Restart) {
        self.kind.cluster.watch_restarts[reason as usize].inc();
    }

    /// The controller panicked.
    pub(crate) fn panicked(&self) {
        self.kind.cluster.panics.inc();
    }

    /// A request to the API server failed with this HTTP status code, with `network` if it gave no readable answer, or with `lease` if it
    /// was not sent.
    pub(crate) fn api_error(&self, code: &str) {
        self.kind.api_errors.0.create_series(&[&self.kind.kind, code]).inc();
    }

    /// Finalizers were added.
    pub(crate) fn finalizers_added(&self, objects: usize) {
        self.kind.cluster.finalizers_added.inc_by(count(objects));
    }

    /// Finalizers were removed.
    pub(crate) fn finalizers_removed(&self, objects: usize) {
        self.kind.cluster.finalizers_removed.inc_by(count(objects));
    }

    /// An object is left without our finalizer, for this reason.
    pub(crate) fn finalizer_given_up(&self, why: GiveUpReason) {
        self.kind.cluster.finalizers_given_up[why as usize].inc();
    }
}
