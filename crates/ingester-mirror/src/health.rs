//! The state behind the probes: "ready" if SQL has everything that the cluster has, and "alive" unless the process must be restarted. The
//! mirror reports, the probes read.
//!
//! May use: nothing.

use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// The health of the process. Clones share it.
///
/// Ready means that SQL has everything that the cluster has: the database answers, the process knows for every kind if its CRD is
/// installed, the first list of every installed kind is in SQL, and later changes can be written. An idle ingester is ready at once. Alive
/// means that no task has ended that only a restart brings back.
#[derive(Clone, Debug)]
pub struct Health(Arc<Mutex<HealthState>>);

#[derive(Debug, Default)]
struct HealthState {
    idle: Option<String>,
    /// `None` until it is reached; then its last answer, or the reason why there was none.
    database: Option<Result<(), String>>,
    looked_up: bool,
    cluster: Option<ClusterCheck>,
    /// `Ok` if this process takes part in its group, otherwise the reason why not; `None` if it does not share the work.
    member: Option<Result<(), String>>,
    kinds: Vec<KindHealth>,
    dead: Vec<(String, String)>,
}

/// The result of checking that the database belongs to the cluster.
#[derive(Debug)]
enum ClusterCheck {
    /// It is not known yet. Not ready.
    Pending,
    /// It cannot be determined, for this reason. Ready.
    Unchecked(String),
}

#[derive(Debug)]
struct KindHealth {
    /// The kind, with its namespace if the controller has one.
    name: String,
    state: KindState,
    /// A list was finished since the CRD was installed. Listing again does not make the kind unready.
    listed: bool,
    /// The reason why the database does not carry out a request for this kind.
    stuck: Option<String>,
}

/// The state of a kind's controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KindState {
    /// The process does not know yet if the CRD is installed. Not ready.
    Unknown,
    /// The CRD is not installed, so there is nothing to mirror. Ready.
    Waiting,
    /// A list is being read. Not ready during the first list, ready during later ones.
    Listing,
    /// A whole list is in SQL, and changes are followed. Ready.
    Synced,
    /// It is suspended: nothing is written for it. Ready.
    Suspended,
    /// Another member mirrors it. Ready.
    Elsewhere,
    /// It failed, for this reason, and is retried. Not ready.
    Failed(String),
}

/// One line of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The check passed.
    pub ok: bool,
    /// The subject and the result of the check, in one line: `Model first list not finished`.
    pub(crate) text: String,
}

/// As the API server's verbose probes print it: `[+]Model synced`, `[-]Model first list not finished`.
impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]{}", if self.ok { '+' } else { '-' }, self.text)
    }
}

impl Check {
    fn new(ok: bool, text: String) -> Self {
        // A reason may come from a server. More than one line would look like more than one check.
        Check { ok, text: text.split_whitespace().collect::<Vec<_>>().join(" ") }
    }
}

impl Health {
    /// Creates the health of an ingester that starts to mirror `kinds`. Nothing is ready yet.
    pub fn new<'k>(kinds: impl IntoIterator<Item = &'k str>) -> Self {
        let health = Health(Arc::default());
        for kind in kinds {
            health.kind(kind, KindState::Unknown);
        }
        health
    }

    /// Records that there is nothing to do, for this reason: ready without a database or a cluster.
    pub fn idle(&self, reason: &str) {
        self.state().idle = Some(reason.to_owned());
    }

    /// Records that the database was reached, or answers again.
    pub fn database_reached(&self) {
        self.state().database = Some(Ok(()));
    }

    /// Records that the database, which was reached before, does not answer, for this reason. Restarting the ingester would not help, so
    /// this does not concern liveness.
    pub fn database_away(&self, reason: &str) {
        self.state().database = Some(Err(reason.to_owned()));
    }

    /// Records that the database does not carry out a request for a kind, for this reason; `None` once it has.
    pub(crate) fn stuck(&self, kind: &str, reason: Option<&str>) {
        if let Some(known) = self.state().kinds.iter_mut().find(|known| known.name == kind) {
            known.stuck = reason.map(str::to_owned);
        }
    }

    /// Records that it has yet to be checked if the database belongs to the cluster.
    pub fn cluster_pending(&self) {
        self.state().cluster = Some(ClusterCheck::Pending);
    }

    /// Records that the database belongs to the cluster, or the reason why this cannot be determined.
    pub fn cluster_checked(&self, unknown: Option<&str>) {
        self.state().cluster = unknown.map(|reason| ClusterCheck::Unchecked(reason.to_owned()));
    }

    /// Records that this process is a member of the group that shares the work, or the reason why it cannot be one.
    pub(crate) fn member(&self, not: Option<&str>) {
        self.state().member = Some(not.map_or(Ok(()), |reason| Err(reason.to_owned())));
    }

    /// Records that the list of the cluster's kinds was read.
    pub fn kinds_looked_up(&self) {
        self.state().looked_up = true;
    }

    /// Records a new state of a kind.
    pub fn kind(&self, kind: &str, new: KindState) {
        let mut state = self.state();
        let index = state.kinds.iter().position(|known| known.name == kind).unwrap_or_else(|| {
            state.kinds.push(KindHealth {
                name: kind.to_owned(),
                state: KindState::Unknown,
                listed: false,
                stuck: None,
            });
            state.kinds.len() - 1
        });
        let kind = &mut state.kinds[index];
        match new {
            KindState::Synced => kind.listed = true,
            // A CRD that is installed again begins with a first list.
            KindState::Waiting | KindState::Unknown | KindState::Elsewhere => kind.listed = false,
            KindState::Listing | KindState::Suspended | KindState::Failed(_) => {}
        }
        if let KindState::Waiting | KindState::Unknown | KindState::Elsewhere | KindState::Suspended = new {
            kind.stuck = None;
        }
        kind.state = new;
    }

    /// Returns the state of a kind's controller; `None` if there is none with this name.
    pub(crate) fn state_of(&self, kind: &str) -> Option<KindState> {
        self.state().kinds.iter().find(|known| known.name == kind).map(|known| known.state.clone())
    }

    /// Returns true if this process has begun to mirror a kind, according to its state.
    pub(crate) fn is_known(&self, kind: &str) -> bool {
        let state = self.state();
        state.kinds.iter().any(|known| known.name == kind && known.state != KindState::Elsewhere)
    }

    /// Returns true if a kind that this process mirrors has content in the cluster that has yet to reach SQL.
    pub(crate) fn is_pending(&self, kind: &str) -> bool {
        let state = self.state();
        state.kinds.iter().filter(|known| known.name == kind).any(|known| match known.state {
            // A kind that was elsewhere is about to begin here.
            KindState::Unknown | KindState::Listing | KindState::Elsewhere => true,
            KindState::Failed(_) => !known.listed,
            KindState::Waiting | KindState::Synced | KindState::Suspended => false,
        })
    }

    /// Returns true if the first list of a kind that this process mirrors is on its way into SQL. A failed one is not: it may keep failing
    /// for a long time.
    pub(crate) fn is_first_listed(&self, kind: &str) -> bool {
        let state = self.state();
        state.kinds.iter().filter(|known| known.name == kind).any(|known| match known.state {
            // A kind that was elsewhere is about to begin here.
            KindState::Unknown | KindState::Elsewhere => true,
            KindState::Listing => !known.listed,
            KindState::Waiting | KindState::Synced | KindState::Suspended | KindState::Failed(_) => false,
        })
    }

    /// Records that a task has ended that only a restart of the process brings back.
    pub fn dead(&self, task: &str, reason: &str) {
        self.state().dead.push((task.to_owned(), reason.to_owned()));
    }

    /// Returns the checks of readiness: all pass once SQL has everything that the cluster has.
    pub fn readiness(&self) -> Vec<Check> {
        let state = self.state();
        if let Some(reason) = &state.idle {
            return vec![Check::new(true, format!("idle: {reason}"))];
        }
        let mut checks = vec![
            match &state.database {
                None => Check::new(false, "database not reached yet".to_owned()),
                Some(Ok(())) => Check::new(true, "database reached".to_owned()),
                Some(Err(reason)) => Check::new(false, format!("database does not answer: {reason}")),
            },
            Check::new(
                state.looked_up,
                if state.looked_up { "kinds looked up" } else { "kinds not looked up yet" }.to_owned(),
            ),
        ];
        checks.extend(state.cluster.as_ref().map(|cluster| match cluster {
            ClusterCheck::Pending => {
                Check::new(false, "not known yet whether the database belongs to this cluster".to_owned())
            }
            ClusterCheck::Unchecked(reason) => {
                Check::new(true, format!("not checked whether the database belongs to this cluster: {reason}"))
            }
        }));
        checks.extend(state.member.as_ref().map(|member| match member {
            Ok(()) => Check::new(true, "shares the work by its Lease".to_owned()),
            Err(reason) => Check::new(false, format!("takes no part in the work: {reason}")),
        }));
        checks.extend(state.kinds.iter().map(|kind| {
            let (ok, text) = match &kind.state {
                KindState::Unknown => (false, "not known yet whether its CRD is installed"),
                KindState::Waiting => (true, "CRD not installed"),
                KindState::Listing if kind.listed => (true, "is listed again"),
                KindState::Listing => (false, "first list not finished"),
                KindState::Synced => (true, "synced"),
                KindState::Suspended => (true, "suspended: nothing is written for it"),
                KindState::Elsewhere => (true, "is mirrored by another member"),
                KindState::Failed(reason) => return Check::new(false, format!("{} failed: {reason}", kind.name)),
            };
            match &kind.stuck {
                Some(reason) if ok => Check::new(false, format!("{} not written: {reason}", kind.name)),
                _ => Check::new(ok, format!("{} {text}", kind.name)),
            }
        }));
        checks
    }

    /// Returns the checks of liveness: all pass unless the process must be restarted.
    pub fn liveness(&self) -> Vec<Check> {
        let state = self.state();
        if state.dead.is_empty() {
            return vec![Check::new(true, "tasks running".to_owned())];
        }
        state.dead.iter().map(|(task, reason)| Check::new(false, format!("{task} ended: {reason}"))).collect()
    }

    fn state(&self) -> parking_lot::MutexGuard<'_, HealthState> {
        self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::{Check, Health, KindState};

    /// For two kinds, about which nothing is known yet.
    fn started() -> Health {
        let health = Health::new(["Model", "Project"]);
        health.database_reached();
        health.kinds_looked_up();
        health
    }

    #[track_caller]
    fn lacks(health: &Health, expected: &[&str]) {
        assert_eq!(failed(health.readiness()), expected);
    }

    fn failed(checks: Vec<Check>) -> Vec<String> {
        checks.into_iter().filter(|check| !check.ok).map(|check| check.text).collect()
    }

    #[test]
    fn nothing_is_ready_at_the_start() {
        lacks(
            &Health::new(["Model"]),
            &[
                "database not reached yet",
                "kinds not looked up yet",
                "Model not known yet whether its CRD is installed",
            ],
        );
        lacks(&Health::new([]), &["database not reached yet", "kinds not looked up yet"]);
    }

    #[test]
    fn readiness_follows_the_database_and_liveness_does_not() {
        let health = started();
        health.kind("Model", KindState::Synced);
        health.kind("Project", KindState::Synced);
        health.database_away("no answer within 2s");
        lacks(&health, &["database does not answer: no answer within 2s"]);
        assert_eq!(failed(health.liveness()), Vec::<String>::new());
        health.database_reached();
        lacks(&health, &[]);
    }

    #[test]
    fn a_kind_that_cannot_be_written_gives_the_reason_until_it_is_written() {
        let health = started();
        health.kind("Model", KindState::Synced);
        health.kind("Project", KindState::Synced);
        health.stuck("Model", Some("the disk is full"));
        lacks(&health, &["Model not written: the disk is full"]);
        health.stuck("Model", None);
        lacks(&health, &[]);
        health.stuck("Model", Some("the disk is full"));
        health.kind("Model", KindState::Elsewhere);
        lacks(&health, &[]);
    }

    #[test]
    fn it_is_ready_once_every_installed_kind_has_its_first_list() {
        let health = started();
        health.kind("Model", KindState::Listing);
        health.kind("Project", KindState::Waiting);
        lacks(&health, &["Model first list not finished"]);
        health.kind("Model", KindState::Synced);
        lacks(&health, &[]);
    }

    #[test]
    fn a_kind_whose_crd_was_not_looked_up_is_not_ready() {
        let health = started();
        health.kind("Model", KindState::Synced);
        lacks(&health, &["Project not known yet whether its CRD is installed"]);
    }

    #[test]
    fn a_suspended_kind_is_named_and_does_not_make_the_process_unready() {
        let health = started();
        health.kind("Model", KindState::Suspended);
        health.kind("Project", KindState::Synced);
        lacks(&health, &[]);
        assert!(health.readiness().iter().any(|check| check.text.starts_with("Model suspended")));
        health.kind("Model", KindState::Listing);
        lacks(&health, &["Model first list not finished"]);
        health.kind("Project", KindState::Suspended);
        health.kind("Project", KindState::Listing);
        lacks(&health, &["Model first list not finished"]);
    }

    #[test]
    fn what_another_member_mirrors_does_not_make_the_process_unready() {
        let health = started();
        // A process that is not a member must not rely on others.
        health.member(Some("forbidden"));
        lacks(
            &health,
            &[
                "takes no part in the work: forbidden",
                "Model not known yet whether its CRD is installed",
                "Project not known yet whether its CRD is installed",
            ],
        );
        health.member(None);
        health.kind("Model", KindState::Elsewhere);
        health.kind("Project", KindState::Elsewhere);
        lacks(&health, &[]);
        assert!(!health.is_known("Model"));
        health.kind("Model", KindState::Listing);
        lacks(&health, &["Model first list not finished"]);
        assert!(health.is_known("Model"));
    }

    #[test]
    fn a_kind_is_pending_until_what_the_cluster_has_is_in_sql() {
        let health = started();
        let pending = |state: KindState| {
            health.kind("Model", state);
            health.is_pending("Model")
        };
        assert!(pending(KindState::Unknown) && pending(KindState::Listing) && pending(KindState::Elsewhere));
        assert!(pending(KindState::Failed("forbidden".into())));
        assert!(!pending(KindState::Waiting) && !pending(KindState::Synced));
        assert!(!pending(KindState::Failed("forbidden".into())), "what it had is there");
        assert!(!pending(KindState::Suspended));
        assert!(pending(KindState::Listing), "it goes on");
        assert!(!health.is_pending("Unknown"));
    }

    #[test]
    fn the_first_list_of_a_kind_is_over_once_it_is_synced_or_cannot_be() {
        let health = started();
        let first = |state: KindState| {
            health.kind("Model", state);
            health.is_first_listed("Model")
        };
        assert!(first(KindState::Unknown) && first(KindState::Listing) && first(KindState::Elsewhere));
        assert!(!first(KindState::Failed("forbidden".into())), "it may be so for long");
        assert!(!first(KindState::Waiting) && !first(KindState::Suspended) && !first(KindState::Synced));
        assert!(!first(KindState::Listing), "it is listed again");
        assert!(first(KindState::Elsewhere), "it is taken over");
    }

    #[test]
    fn a_relist_keeps_readiness_and_a_new_crd_resets_it() {
        let health = started();
        health.kind("Project", KindState::Waiting);
        health.kind("Model", KindState::Synced);
        health.kind("Model", KindState::Listing);
        lacks(&health, &[]);
        health.kind("Model", KindState::Waiting);
        lacks(&health, &[]);
        health.kind("Model", KindState::Listing);
        lacks(&health, &["Model first list not finished"]);
    }

    #[test]
    fn a_failed_kind_gives_its_reason_in_one_line_until_it_continues() {
        let health = started();
        health.kind("Project", KindState::Waiting);
        health.kind("Model", KindState::Synced);
        health.kind("Model", KindState::Failed("forbidden:\n[+]grant list".into()));
        lacks(&health, &["Model failed: forbidden: [+]grant list"]);
        health.kind("Model", KindState::Listing);
        lacks(&health, &[]);
    }

    #[test]
    fn nothing_is_ready_until_the_cluster_is_identified() {
        let health = started();
        health.kind("Model", KindState::Synced);
        health.kind("Project", KindState::Synced);
        health.cluster_pending();
        lacks(&health, &["not known yet whether the database belongs to this cluster"]);
        health.cluster_checked(Some("forbidden"));
        lacks(&health, &[]);
        assert!(health.readiness().iter().any(|check| check.text.ends_with("to this cluster: forbidden")));
        health.cluster_checked(None);
        assert_eq!(health.readiness().len(), 4);
    }

    #[test]
    fn an_idle_ingester_is_ready_without_a_database() {
        let health = Health::new(["Model"]);
        health.idle("metadata storage is not enabled");
        lacks(&health, &[]);
        assert_eq!(health.readiness()[0].to_string(), "[+]idle: metadata storage is not enabled");
    }

    #[test]
    fn an_unready_ingester_is_alive_and_a_dead_one_says_why() {
        let health = Health::new(["Model"]);
        assert_eq!(failed(health.liveness()), Vec::<String>::new());
        health.clone().dead("supervisor", "panicked");
        assert_eq!(failed(health.liveness()), ["supervisor ended: panicked"]);
    }
}
