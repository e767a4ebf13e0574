//! How the ingester is: whether it can serve (ready) and whether it must be started anew (alive). The engine says what it
//! sees, the probes read it.
//!
//! May use: nothing.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The state of all parts. Clones share it.
///
/// Ready means: SQL may be queried and has what the cluster has. That is so once the database was reached, it is known of
/// every kind whether its CRD is installed, and every installed kind has its first list in SQL. An ingester that is told to
/// do nothing is ready at once. Alive means that no part has ended that only a new start brings back.
#[derive(Clone, Debug)]
pub struct Health(Arc<Mutex<Parts>>);

#[derive(Debug, Default)]
struct Parts {
    idle: Option<String>,
    database: bool,
    looked: bool,
    kinds: Vec<Part>,
    dead: Vec<(String, String)>,
}

#[derive(Debug)]
struct Part {
    kind: String,
    state: KindState,
    /// Whether a first list was finished since the CRD was installed: listing again later takes nothing back.
    listed: bool,
}

/// Where a kind stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KindState {
    /// Nobody has looked yet whether its CRD is installed. Not ready.
    Unknown,
    /// Its CRD is not installed: there is nothing to mirror. Ready.
    Waiting,
    /// A list is being read. Not ready the first time; ready when an earlier list was finished.
    Listing,
    /// All of a list is in SQL and changes are followed. Ready.
    Synced,
    /// It cannot go on, for this reason, and is tried again. Not ready.
    Failed(String),
}

/// One line of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Whether all is well.
    pub ok: bool,
    /// What was looked at and what was found: `Model first list not finished`. One line.
    pub text: String,
}

/// As the API server's verbose probes print it: `[+]Model synced`, `[-]Model first list not finished`.
impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]{}", if self.ok { '+' } else { '-' }, self.text)
    }
}

impl Check {
    fn new(ok: bool, text: String) -> Self {
        // A reason may come from a server; more than one line would look like more than one check.
        Check { ok, text: text.split_whitespace().collect::<Vec<_>>().join(" ") }
    }
}

impl Health {
    /// Of an ingester that has just been started and is to mirror `kinds`; nothing is ready yet.
    pub fn new<'k>(kinds: impl IntoIterator<Item = &'k str>) -> Self {
        let health = Health(Arc::default());
        for kind in kinds {
            health.kind(kind, KindState::Unknown);
        }
        health
    }

    /// There is nothing to do, for this reason (a gate is closed): ready without a database or a cluster.
    pub fn idle(&self, reason: &str) {
        self.parts().idle = Some(reason.to_owned());
    }

    /// The database was reached. It stays so: when the database goes away, readers find that out by themselves, and a new
    /// start of the ingester would not bring it back.
    pub fn database_reached(&self) {
        self.parts().database = true;
    }

    /// The list of the kinds that the cluster has was read once.
    pub fn kinds_looked_up(&self) {
        self.parts().looked = true;
    }

    /// A kind's new state.
    pub fn kind(&self, kind: &str, state: KindState) {
        let mut parts = self.parts();
        let place = parts.kinds.iter().position(|part| part.kind == kind).unwrap_or_else(|| {
            parts.kinds.push(Part { kind: kind.to_owned(), state: KindState::Unknown, listed: false });
            parts.kinds.len() - 1
        });
        let part = &mut parts.kinds[place];
        match state {
            KindState::Synced => part.listed = true,
            // A CRD that comes back begins with a first list.
            KindState::Waiting | KindState::Unknown => part.listed = false,
            KindState::Listing | KindState::Failed(_) => {}
        }
        part.state = state;
    }

    /// A task that watches over others has ended and nothing will start it again but a new process.
    pub fn dead(&self, task: &str, reason: &str) {
        self.parts().dead.push((task.to_owned(), reason.to_owned()));
    }

    /// Whether SQL has what the cluster has.
    ///
    /// # Errors
    /// What is not ready, one line each.
    pub fn ready(&self) -> Result<(), Vec<String>> {
        verdict(self.readiness())
    }

    /// Whether the process is worth keeping.
    ///
    /// # Errors
    /// What has ended and why, one line each.
    pub fn alive(&self) -> Result<(), Vec<String>> {
        verdict(self.liveness())
    }

    /// All that [`Health::ready`] looks at.
    pub fn readiness(&self) -> Vec<Check> {
        let parts = self.parts();
        if let Some(reason) = &parts.idle {
            return vec![Check::new(true, format!("idle: {reason}"))];
        }
        let mut checks = vec![
            Check::new(
                parts.database,
                if parts.database { "database reached" } else { "database not reached yet" }.to_owned(),
            ),
            Check::new(
                parts.looked,
                if parts.looked { "kinds looked up" } else { "kinds not looked up yet" }.to_owned(),
            ),
        ];
        checks.extend(parts.kinds.iter().map(|part| {
            let (ok, state) = match &part.state {
                KindState::Unknown => (false, "not known yet whether its CRD is installed"),
                KindState::Waiting => (true, "CRD not installed"),
                KindState::Listing if part.listed => (true, "is listed again"),
                KindState::Listing => (false, "first list not finished"),
                KindState::Synced => (true, "synced"),
                KindState::Failed(reason) => return Check::new(false, format!("{} failed: {reason}", part.kind)),
            };
            Check::new(ok, format!("{} {state}", part.kind))
        }));
        checks
    }

    /// All that [`Health::alive`] looks at.
    pub fn liveness(&self) -> Vec<Check> {
        let parts = self.parts();
        if parts.dead.is_empty() {
            return vec![Check::new(true, "tasks running".to_owned())];
        }
        parts.dead.iter().map(|(task, reason)| Check::new(false, format!("{task} ended: {reason}"))).collect()
    }

    fn parts(&self) -> std::sync::MutexGuard<'_, Parts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn verdict(checks: Vec<Check>) -> Result<(), Vec<String>> {
    let failed: Vec<String> = checks.into_iter().filter(|check| !check.ok).map(|check| check.text).collect();
    if failed.is_empty() { Ok(()) } else { Err(failed) }
}

#[cfg(test)]
mod tests {
    use super::{Health, KindState};

    /// Of two kinds, with everything but the kinds themselves in order.
    fn started() -> Health {
        let health = Health::new(["Model", "Project"]);
        health.database_reached();
        health.kinds_looked_up();
        health
    }

    #[track_caller]
    fn lacks(health: &Health, expected: &[&str]) {
        let lacking = health.ready().err().unwrap_or_default();
        assert_eq!(lacking, expected);
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
    fn an_idle_ingester_is_ready_without_a_database() {
        let health = Health::new(["Model"]);
        health.idle("metadata storage is not enabled");
        lacks(&health, &[]);
        assert_eq!(health.readiness()[0].to_string(), "[+]idle: metadata storage is not enabled");
    }

    #[test]
    fn an_unready_ingester_is_alive_and_a_dead_one_says_why() {
        let health = Health::new(["Model"]);
        assert_eq!(health.alive(), Ok(()));
        health.clone().dead("supervisor", "panicked");
        assert_eq!(health.alive(), Err(vec!["supervisor ended: panicked".to_owned()]));
    }
}
