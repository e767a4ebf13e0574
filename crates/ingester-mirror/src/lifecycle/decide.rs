//! Decides about one object: what to write, what to request from Kubernetes, what to wait for. No other code decides this.
//!
//! If an object brings something new, [`decide`] is called several times: when the object is received or looked up, with its metadata
//! alone; when a worker takes it from the queue; and, if that call returns [`NextStep::Read`], again with the object's content.

use super::case::{Arrival, Case, ChosenEviction, Content, Progress, RowMemory, RowState, Step};
use super::{Action, Circumstances, LifecycleState, ObjectPlan, is_ghost, is_leaving, may_be_chosen, plan};
use ingester_core::row::{Eviction, Version};
use ingester_store::guard::{Verdict, verdict};
use std::time::Duration;

/// The decision about an object: the next step, and what the caller records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) next: NextStep,
    /// The decision used the object's plan. If so, the caller records when this process first saw that the object must be deleted, and
    /// whether the object waits for our finalizer to be removed.
    pub(crate) planned: bool,
    /// An eviction that a rule had chosen is over: the object stays.
    pub(crate) withdrawn: bool,
}

/// The next step for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextStep {
    /// Nothing: SQL and Kubernetes have what this version requires.
    Unchanged,
    /// Nothing, and no further event of the object is expected: the caller forgets it.
    Forget,
    /// Nothing: a later state is stored.
    Outdated,
    /// Only our finalizer is missing; the next round of `follow/finalizers.rs` adds it.
    RequestFinalizers,
    /// A worker prepares it.
    Queue(MayWait),
    /// Read its row, then the object, and decide again. `after`: wait this long first, because a request that was sent may still take effect.
    Look {
        after: Option<Duration>,
    },
    /// The object had left etcd, so its row may be the only copy of its state: compare the two, and write nothing.
    MeetGhost,
    /// Decide again with the object's content.
    Read,
    /// Add our finalizer before writing the row, so that the row has the version with the finalizer.
    AddFinalizer,
    Write(RowWrite),
    /// Mark the row of an object that is gone; its columns stay.
    MarkGone,
    LeaveOut(Omission),
    /// Record that the object cannot be mirrored.
    Reject {
        held: bool,
        again: Option<Duration>,
    },
}

/// The reason for which an object may stay in the queue although a worker could take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MayWait {
    Nothing,
    /// Later changes of it, to be written with them.
    ForChanges,
    /// The other objects of its list, to be written in the order of their uids.
    ForOrder,
}

/// How an object's row is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowWrite {
    pub(crate) state: LifecycleState,
    /// The stored row that this write replaces although the guard of the store would keep it; `None` if the guard decides.
    pub(crate) replaces: Option<Version>,
    /// The request to Kubernetes after the commit.
    pub(crate) then: Action,
    /// When to look at the object again even if nothing changes.
    pub(crate) again: Option<Duration>,
}

/// How the row of an object that the filter leaves out is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Omission {
    /// The version of the mark; `None` if there is no row to mark.
    pub(crate) marks: Option<u64>,
    /// If the row was written under another filter, it may have to wait: rows that the present filter leaves out are counted before any is
    /// marked.
    pub(crate) may_wait: bool,
    pub(crate) then: Action,
}

/// Decides what happens next with an object.
pub(crate) fn decide(case: &Case<'_>) -> Decision {
    let mut decision = Decision { next: NextStep::Unchanged, planned: false, withdrawn: false };
    decision.next = decision.choose(case);
    decision
}

impl Decision {
    fn choose(&mut self, case: &Case<'_>) -> NextStep {
        if let Arrival::Look { seen: Some(seen), .. } = case.arrival
            && is_ghost(seen, case.meta, case.rules)
        {
            return NextStep::MeetGhost;
        }
        let compares = match case.step {
            // A state that still waits in the queue may be later than the one that was evicted. If so, our request did not delete the
            // object, so do not compare.
            Step::Received { waiting, .. } => !(waiting && case.is_gone()),
            // The worker's first call has already compared. Later calls have the content.
            Step::Prepared { content } => content.is_none(),
        };
        if compares && let Some(next) = self.when_known(case) {
            return next;
        }
        match case.step {
            Step::Received { settles, .. } => self.by_metadata(case, settles),
            Step::Prepared { content } => self.by_content(case, content),
        }
    }

    /// Returns the next step if the object brings nothing new.
    fn when_known(&mut self, case: &Case<'_>) -> Option<NextStep> {
        let remembered = case.remembered?;
        match case.arrival {
            Arrival::Deletion => {
                let forgets = matches!(remembered.state, RowState::Released | RowState::Confirmed | RowState::Ghost);
                forgets.then_some(NextStep::Forget)
            }
            Arrival::Look { .. } | Arrival::Patch { .. } | Arrival::List { behind: true } => None,
            Arrival::List { behind: false } | Arrival::Watch => {
                let known = remembered.version == case.meta.resource_version && self.is_settled(case, remembered.state);
                known.then_some(NextStep::Unchanged)
            }
        }
    }

    /// Returns true if SQL and Kubernetes already have everything that the remembered version requires. The caller has checked that the
    /// object has this version.
    fn is_settled(&mut self, case: &Case<'_>, state: RowState) -> bool {
        match state {
            // A rejected object is retried when it changes. If Kubernetes waits for us to remove our finalizer, retry it now: this event
            // may have replaced the delayed look that would have retried it.
            RowState::Rejected => !case.held,
            // About to be deleted, or gone; looked at when it changes.
            RowState::Released | RowState::Left | RowState::Confirmed | RowState::Ghost => true,
            RowState::LeftOut => !matches!(action_left_out(case), Action::RemoveFinalizer | Action::Delete),
            RowState::Stored(state) => is_done(self.plan(case), state),
        }
    }

    /// Decides about an object that was just received.
    fn by_metadata(&mut self, case: &Case<'_>, settles: bool) -> NextStep {
        let queue = NextStep::Queue(MayWait::Nothing);
        let later = match case.remembered {
            _ if case.is_gone() || case.is_looked_up() || case.arrival == Arrival::List { behind: true } => {
                return queue;
            }
            None => return NextStep::Queue(may_wait_for_order(case)),
            Some(remembered) => remembered.version > case.meta.resource_version,
        };
        if later && case.arrival == Arrival::Watch {
            // The answer to our own patch brought the later version before this event arrived.
            return NextStep::Outdated;
        }
        if is_live_at(case, |version| version == case.meta.resource_version)
            && self.plan(case).then == Action::AddFinalizer
        {
            return NextStep::RequestFinalizers;
        }
        if later {
            // The list may be older than the row. A look tells which of the two is right.
            return NextStep::Look { after: None };
        }
        // The object may wait for later changes if it stays in the cluster, and only its row is left to write.
        let settles = settles && is_live_at(case, |_| true) && is_done(self.plan(case), LifecycleState::Live);
        NextStep::Queue(if settles { MayWait::ForChanges } else { may_wait_for_order(case) })
    }

    /// Decides about an object that a worker has taken.
    fn by_content(&mut self, case: &Case<'_>, content: Option<Content>) -> NextStep {
        let look = NextStep::Look { after: None };
        if case.state() == Some(RowState::Ghost) && !case.is_looked_up() {
            return look;
        }
        if case.is_gone() && case.state() == Some(RowState::Left) {
            // The row already holds the object's last state: it was deleted at exactly that version.
            return NextStep::MarkGone;
        }
        let plan = self.plan(case);
        if stays_after_all(case, plan) || may_be_leaving(case, plan) {
            return look;
        }
        if let Some(next) = self.outlast_deletion(case, plan) {
            return next;
        }
        match content {
            None => NextStep::Read,
            Some(Content::Row { ingest_version }) => {
                if plan.then == Action::AddFinalizer && case.arrival == Arrival::Watch {
                    return NextStep::AddFinalizer;
                }
                write(case, plan, ingest_version)
            }
            Some(Content::LeftOut { storable, selected }) => leave_out(case, plan, storable, selected),
            Some(Content::Undecodable { storable }) => undecodable(case, plan, storable),
        }
    }

    /// Handles an object that a rule had chosen and that stays after all, although our deletion may still be on its way to the API server.
    /// If the object lacks our finalizer and gets it, adding it changes the version, so the deletion, which requires the old version,
    /// fails. Otherwise wait until the deletion can no longer take effect; until then the row keeps saying that the object leaves. Returns
    /// `None` if no deletion is on its way, so the row can be written.
    fn outlast_deletion(&mut self, case: &Case<'_>, plan: ObjectPlan) -> Option<NextStep> {
        let version = case.meta.resource_version;
        // An older state of the object says nothing about the choice.
        let is_over = |chosen: &ChosenEviction| chosen.progress == Progress::Begun && chosen.version <= version;
        let chosen = case.chosen.filter(|chosen| plan.state == LifecycleState::Live && is_over(chosen))?;
        let Some(left) = chosen.in_doubt.filter(|_| chosen.version == version) else {
            self.withdrawn = true;
            return None;
        };
        if plan.then == Action::AddFinalizer && !matches!(case.arrival, Arrival::Patch { .. }) {
            return Some(NextStep::AddFinalizer);
        }
        Some(NextStep::Look { after: Some(left) })
    }

    fn plan(&mut self, case: &Case<'_>) -> ObjectPlan {
        self.planned = true;
        plan_of(case)
    }
}

/// Returns the plan for the object, from its metadata and from what this process knows of it.
fn plan_of(case: &Case<'_>) -> ObjectPlan {
    let gone = case.is_gone();
    let terminating = case.meta.deletion_timestamp.is_some();
    let leaving = is_leaving(case.meta, case.rules);
    let chosen = case.chosen.is_some_and(|chosen| match chosen.progress {
        Progress::Handed => false,
        Progress::Begun => chosen.version == case.meta.resource_version && !gone && chosen.in_force,
        Progress::Requested => terminating || gone,
    });
    let deleted = case.state() == Some(RowState::Stored(LifecycleState::Deleted))
        || (leaving && case.stored.is_some_and(|stored| stored.deleted));
    let circumstances = Circumstances {
        gone,
        evicted: case.state() == Some(RowState::Stored(LifecycleState::Evicted)),
        chosen,
        deleted,
        leaving_for: if leaving { case.leaving_for } else { Duration::ZERO },
        terminating_for: case.terminating_for,
    };
    plan(case.meta, case.rules, circumstances)
}

/// Returns what a listed object may wait for. An object that leaves the cluster, or may leave it soon, waits for nothing.
fn may_wait_for_order(case: &Case<'_>) -> MayWait {
    let stays = !is_leaving(case.meta, case.rules) && !case.rules.evicts(case.meta) && case.chosen.is_none();
    let is_new_or_live = case.remembered.is_none() || is_live_at(case, |_| true);
    match case.arrival {
        Arrival::List { behind: false } if stays && is_new_or_live => MayWait::ForOrder,
        _ => MayWait::Nothing,
    }
}

/// Returns true if nothing is left to do for an object whose row is in this state.
fn is_done(plan: ObjectPlan, state: LifecycleState) -> bool {
    plan == ObjectPlan { state, then: Action::Nothing, again: None }
}

/// Returns true if this process remembers a live row whose version meets a condition.
fn is_live_at(case: &Case<'_>, holds: impl Fn(u64) -> bool) -> bool {
    let live = RowState::Stored(LifecycleState::Live);
    case.remembered.is_some_and(|remembered| remembered.state == live && holds(remembered.version))
}

/// Returns true if the row records an intended eviction of this version that no annotation explains: a rule chose the object, then the
/// process restarted before the object was deleted.
fn stays_after_all(case: &Case<'_>, plan: ObjectPlan) -> bool {
    let evicted = RowState::Stored(LifecycleState::Evicted);
    let intends = case
        .remembered
        .is_some_and(|remembered| (remembered.version, remembered.state) == (case.meta.resource_version, evicted));
    plan.state == LifecycleState::Live && matches!(case.arrival, Arrival::List { .. } | Arrival::Watch) && intends
}

/// Returns true if the object is terminating without a reason in its metadata, and its row records an intended eviction. A rule may have
/// chosen the object; a look reads the row, which tells.
fn may_be_leaving(case: &Case<'_>, plan: ObjectPlan) -> bool {
    plan.state != LifecycleState::Evicted
        && !case.is_looked_up()
        && !case.is_gone()
        && may_be_chosen(case.meta, case.rules)
        && is_being_evicted(case.stored, case.state())
}

/// Returns true if an object is as this process remembers it, so a resync can skip it. Otherwise the resync reads the row and the object. A
/// resync first reads only versions and deletionTimestamps. `purges`: rules purge rows of evicted objects.
pub(crate) fn is_as_remembered(remembered: RowMemory, version: u64, terminating: bool, purges: bool) -> bool {
    let settled = match remembered.state {
        // Retry the object: the database may accept it by now.
        RowState::Rejected => false,
        // We requested the object's deletion. If it is not terminating, the cluster was restored to an earlier state.
        RowState::Stored(LifecycleState::Deleted | LifecycleState::Evicted) => terminating,
        RowState::Stored(LifecycleState::Live) | RowState::Released | RowState::LeftOut => true,
        RowState::Ghost => !purges,
        // The object had left etcd, and is there again.
        RowState::Left | RowState::Confirmed => false,
    };
    remembered.version == version && settled
}

/// Returns true if the row records an intended eviction that is not confirmed. If the row was not read, what is remembered decides.
pub(crate) fn is_being_evicted(stored: Option<Version>, remembered: Option<RowState>) -> bool {
    match stored {
        Some(stored) => stored.eviction == Eviction::Intended && !stored.deleted,
        None => remembered == Some(RowState::Stored(LifecycleState::Evicted)),
    }
}

/// Writes the row in the state that the plan requires.
fn write(case: &Case<'_>, plan: ObjectPlan, ingest_version: u32) -> NextStep {
    let then = match plan.then {
        Action::AddFinalizer if matches!(case.arrival, Arrival::Patch { again: false }) => Action::Nothing,
        then => then,
    };
    let row = Version {
        res_version: case.meta.resource_version,
        ingest_version,
        deleted: plan.state == LifecycleState::Deleted,
        eviction: match plan.state {
            LifecycleState::Evicted if case.is_gone() => Eviction::Confirmed,
            LifecycleState::Evicted => Eviction::Intended,
            LifecycleState::Live | LifecycleState::Deleted => Eviction::None,
        },
    };
    NextStep::Write(RowWrite { state: plan.state, replaces: replaced(case, row), then, again: plan.again })
}

/// Returns the stored row that a write replaces although the guard would keep it, because the cluster contradicts it.
fn replaced(case: &Case<'_>, row: Version) -> Option<Version> {
    match case.arrival {
        Arrival::Look { seen: Some(seen), rewrite } => {
            let same = seen.res_version == row.res_version;
            let lives = !row.deleted && !row.evicted();
            // A rule had chosen the object, but the object is still there in the same version. It stays until a rule chooses it again.
            let stays = same && seen.eviction == Eviction::Intended && !seen.deleted && lives;
            let contradicts = (rewrite && same) || verdict(seen, row) == Verdict::Stale || stays;
            contradicts.then_some(seen)
        }
        Arrival::List { behind: true } => {
            // The stored row was read, or written, before the list. Since then, the cluster may have given its version to another state.
            let stored = case.remembered.filter(|_| is_live_at(case, |version| version >= row.res_version));
            stored.map(|stored| Version { res_version: stored.version, ..row })
        }
        Arrival::List { .. } | Arrival::Watch | Arrival::Deletion | Arrival::Patch { .. } | Arrival::Look { .. } => {
            None
        }
    }
}

/// Decides about an object that the kind's filter leaves out.
fn leave_out(case: &Case<'_>, plan: ObjectPlan, storable: bool, selected: bool) -> NextStep {
    let look = NextStep::Look { after: None };
    let may_act = case.is_gone() || case.is_looked_up();
    if is_being_evicted(case.stored, case.state()) {
        // The eviction began before the filter left the object out, and goes on: its row is about to be the only copy of its last state.
        if !may_act {
            return look;
        }
        if storable {
            // If the object may stay in the cluster after all, mark its row like the row of any other object that is left out.
            let plan = match plan.state {
                LifecycleState::Live => {
                    ObjectPlan { state: LifecycleState::Deleted, then: Action::Nothing, again: None }
                }
                LifecycleState::Deleted | LifecycleState::Evicted => plan,
            };
            return write(case, plan, 0);
        }
    }
    let action = action_left_out(case);
    let then = match action {
        Action::RemoveFinalizer | Action::Delete => action,
        Action::Nothing | Action::AddFinalizer | Action::Evict => Action::Nothing,
    };
    // An object that was rejected in the meantime may have an older row.
    let has_row = matches!(case.state(), Some(RowState::Rejected | RowState::Stored(LifecycleState::Live)));
    let acts = has_row || then != Action::Nothing;
    // The row may be the only copy of the object, or another replica may be evicting the object. A look finds out.
    if acts && !may_act {
        return look;
    }
    // If the object was read after its row, the row is out of date even if its version is higher. Then the mark gets the row's version.
    let seen = case.stored.filter(|_| case.is_looked_up()).map_or(0, |stored| stored.res_version);
    let marks = acts.then_some(case.meta.resource_version.max(seen));
    // Do not withhold the row of an object that is being deleted: the deletion would wait for it.
    let may_wait = !case.is_gone() && !is_leaving(case.meta, case.rules) && selected;
    NextStep::LeaveOut(Omission { marks, may_wait, then })
}

/// Returns the request for an object that is left out. The request does not wait for the deletion delay, because the object has no live row.
fn action_left_out(case: &Case<'_>) -> Action {
    let circumstances = Circumstances { gone: case.is_gone(), deleted: true, ..Circumstances::default() };
    plan(case.meta, case.rules, circumstances).then
}

/// Decides about an object that cannot be decoded. If it is about to disappear, its text is stored without indexed columns.
fn undecodable(case: &Case<'_>, plan: ObjectPlan, storable: bool) -> NextStep {
    let leaves = plan.state != LifecycleState::Live && (case.is_gone() || is_leaving(case.meta, case.rules));
    if leaves && storable {
        return write(case, plan, 0);
    }
    if leaves && case.is_gone() {
        // Its text cannot be stored, and the object cannot be corrected any more.
        return NextStep::MarkGone;
    }
    NextStep::Reject { held: plan.then == Action::RemoveFinalizer, again: plan.again }
}

#[cfg(test)]
mod tests;
