//! Makes the decision for every combination of its inputs: prints some as a table to review, and checks properties that all must have.

use super::super::case::{Arrival, Case, ChosenEviction, Content, Progress, RowMemory, RowState, Step};
use super::super::{Action, LifecycleState, Rules, finalizer, is_leaving};
use super::{MayWait, NextStep, decide};
use ingester_config::Finalizer;
use ingester_core::marks::Marks;
use ingester_core::object::Meta;
use ingester_core::row::{Eviction, Version};
use std::fmt::Write as _;
use std::time::Duration;

const MARKS: &Marks = &Marks::MICHELANGELO;
const OURS: &str = "michelangelo/Ingester";
const VERSION: u64 = 5;
const RULES: Rules = Rules {
    finalizer: Finalizer::Ensure,
    deletion_delay: Duration::from_secs(10),
    immutable: false,
    evictable: true,
    evictions: true,
    marks: MARKS,
};

fn object(finalizers: &[&str], annotation: Option<&str>, terminating: bool) -> Meta {
    let annotation = annotation.map(|name| (format!("michelangelo/{name}").into(), "true".into()));
    Meta {
        resource_version: VERSION,
        finalizers: finalizers.iter().map(|finalizer| (*finalizer).into()).collect(),
        annotations: annotation.into_iter().collect::<Vec<_>>().into(),
        deletion_timestamp: terminating.then(|| ingester_core::wire::Time("2026-01-01T00:00:00Z".parse().unwrap())),
        ..Meta::default()
    }
}

fn objects() -> Vec<(&'static str, Meta)> {
    vec![
        ("new", object(&[], None, false)),
        ("with our finalizer", object(&[OURS], None, false)),
        ("immutable", object(&[OURS], Some("Immutable"), false)),
        ("deleting", object(&[OURS], Some("Deleting"), false)),
        ("terminating", object(&[OURS], None, true)),
        ("terminating, held by another", object(&["x"], None, true)),
        ("terminating and immutable", object(&[OURS], Some("Immutable"), true)),
        ("terminating and deleting", object(&[OURS], Some("Deleting"), true)),
    ]
}

const STATES: [Option<RowState>; 10] = [
    None,
    Some(RowState::Stored(LifecycleState::Live)),
    Some(RowState::Stored(LifecycleState::Deleted)),
    Some(RowState::Stored(LifecycleState::Evicted)),
    Some(RowState::Released),
    Some(RowState::Rejected),
    Some(RowState::LeftOut),
    Some(RowState::Left),
    Some(RowState::Confirmed),
    Some(RowState::Ghost),
];

/// Returns the stored row that corresponds to what a process remembers.
fn row_of(remembered: Option<RowMemory>) -> Option<Version> {
    let RowMemory { version, state } = remembered?;
    let (deleted, eviction) = match state {
        RowState::Rejected => return None,
        RowState::Stored(LifecycleState::Live) => (false, Eviction::None),
        RowState::Stored(LifecycleState::Deleted) | RowState::Released | RowState::LeftOut => (true, Eviction::None),
        RowState::Stored(LifecycleState::Evicted) | RowState::Left => (false, Eviction::Intended),
        RowState::Confirmed | RowState::Ghost => (false, Eviction::Confirmed),
    };
    Some(Version { res_version: version, ingest_version: 1, deleted, eviction })
}

fn arrivals(stored: Option<Version>) -> [(&'static str, Arrival); 8] {
    [
        ("list", Arrival::List { behind: false }),
        ("list that is behind", Arrival::List { behind: true }),
        ("watch", Arrival::Watch),
        ("DELETED event", Arrival::Deletion),
        ("our patch", Arrival::Patch { again: false }),
        ("our patch, again", Arrival::Patch { again: true }),
        ("look", Arrival::Look { seen: stored, rewrite: false }),
        ("look, rewrite", Arrival::Look { seen: stored, rewrite: true }),
    ]
}

fn case(meta: &Meta, arrival: Arrival, step: Step) -> Case<'_> {
    Case {
        meta,
        rules: RULES,
        arrival,
        step,
        remembered: None,
        stored: None,
        chosen: None,
        held: meta.deletion_timestamp.is_some() && finalizer::holds(&meta.finalizers, MARKS),
        leaving_for: Duration::from_secs(60),
        terminating_for: Duration::ZERO,
    }
}

const CONTENTS: [Option<Content>; 6] = [
    None,
    Some(Content::Row { ingest_version: 1 }),
    Some(Content::LeftOut { storable: true, selected: true }),
    Some(Content::LeftOut { storable: false, selected: false }),
    Some(Content::Undecodable { storable: true }),
    Some(Content::Undecodable { storable: false }),
];

/// A decision in few letters.
fn brief(next: NextStep) -> String {
    let action = |then: Action| match then {
        Action::Nothing => "",
        Action::AddFinalizer => "+finalizer",
        Action::RemoveFinalizer => "-finalizer",
        Action::Delete => "+delete",
        Action::Evict => "+evict",
    };
    match next {
        NextStep::Unchanged => "-".into(),
        NextStep::Forget => "forget".into(),
        NextStep::Outdated => "outdated".into(),
        NextStep::RequestFinalizers => "finalizers".into(),
        NextStep::Queue(MayWait::Nothing) => "queue".into(),
        NextStep::Queue(MayWait::ForChanges) => "settle".into(),
        NextStep::Queue(MayWait::ForOrder) => "queue in order".into(),
        NextStep::Look { after } => if after.is_some() { "look later" } else { "look" }.into(),
        NextStep::Read => "read".into(),
        NextStep::MeetGhost => "ghost".into(),
        NextStep::AddFinalizer => "finalizer first".into(),
        NextStep::MarkGone => "mark".into(),
        NextStep::LeaveOut(omission) => {
            format!("leave out{}{}", if omission.marks.is_some() { ", mark" } else { "" }, action(omission.then))
        }
        NextStep::Reject { held, .. } => if held { "reject, held" } else { "reject" }.into(),
        NextStep::Write(write) => {
            let state = match write.state {
                LifecycleState::Live => "live",
                LifecycleState::Deleted => "deleted",
                LifecycleState::Evicted => "evicted",
            };
            format!("{state}{}{}", if write.replaces.is_some() { "!" } else { "" }, action(write.then))
        }
    }
}

/// The table has a line for each object and arrival, and in it the decision for each remembered state. The remembered version is the one
/// that arrives, and the deletion delay has passed.
#[test]
fn the_table_of_decisions_is_the_one_that_was_reviewed() {
    let mut table = String::new();
    for (name, meta) in &objects() {
        writeln!(table, "\n## {name}\n").unwrap();
        for place in 0..arrivals(None).len() {
            let mut cells = Vec::new();
            for state in STATES {
                let remembered = state.map(|state| RowMemory { version: VERSION, state });
                let stored = row_of(remembered);
                let (_, arrival) = arrivals(stored)[place];
                let prepared = |content| {
                    let step = Step::Prepared { content };
                    let stored = matches!(arrival, Arrival::Look { .. }).then_some(stored).flatten();
                    decide(&Case { remembered, stored, ..case(meta, arrival, step) }).next
                };
                let next = match prepared(None) {
                    NextStep::Read => prepared(Some(Content::Row { ingest_version: 1 })),
                    next => next,
                };
                cells.push(brief(next));
            }
            writeln!(table, "{}: {}", arrivals(None)[place].0, cells.join(" | ")).unwrap();
        }
    }
    let states: Vec<String> = STATES.iter().map(|state| format!("{state:?}")).collect();
    insta::assert_snapshot!("decisions", format!("Columns: {}\n{table}", states.join(" | ")));
}

/// Calls `check` with every combination.
fn every_case(mut check: impl FnMut(&Case<'_>)) -> usize {
    let mut count = 0;
    let chosen = |progress, version, in_force, in_doubt| ChosenEviction { progress, version, in_force, in_doubt };
    let choices = [
        None,
        Some(chosen(Progress::Handed, VERSION, true, None)),
        Some(chosen(Progress::Begun, VERSION, true, None)),
        Some(chosen(Progress::Begun, VERSION, false, Some(Duration::from_secs(9)))),
        Some(chosen(Progress::Begun, VERSION - 1, true, Some(Duration::from_secs(9)))),
        Some(chosen(Progress::Requested, VERSION, true, None)),
    ];
    let mut rules = Vec::new();
    for finalizer in [Finalizer::Ensure, Finalizer::Existing, Finalizer::Never] {
        for bits in 0..8 {
            let [immutable, evictable, evictions] = [1, 2, 4].map(|bit| bits & bit != 0);
            rules.push(Rules { finalizer, immutable, evictable, evictions, ..RULES });
        }
    }
    let mut steps: Vec<Step> = CONTENTS.map(|content| Step::Prepared { content }).to_vec();
    for bits in 0..4 {
        steps.push(Step::Received { waiting: bits & 1 != 0, settles: bits & 2 != 0 });
    }
    for (_, meta) in &objects() {
        for state in STATES {
            for version in [VERSION - 1, VERSION, VERSION + 1] {
                let remembered = state.map(|state| RowMemory { version, state });
                for stored in [None, row_of(remembered)] {
                    for (_, arrival) in arrivals(stored) {
                        for &rules in &rules {
                            for chosen in choices {
                                for &step in &steps {
                                    let leaving_for = Duration::from_secs(if version < VERSION { 0 } else { 60 });
                                    let base = case(meta, arrival, step);
                                    check(&Case { rules, remembered, stored, chosen, leaving_for, ..base });
                                    count += 1;
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    count
}

/// Returns the request to Kubernetes after the commit.
fn requested(next: NextStep) -> Action {
    match next {
        NextStep::Write(write) => write.then,
        NextStep::LeaveOut(omission) => omission.then,
        _ => Action::Nothing,
    }
}

#[test]
fn in_every_case_requests_follow_only_from_what_allows_them() {
    let cases = every_case(|case| {
        let Case { meta, rules, arrival, step, remembered, .. } = *case;
        let next = decide(case).next;
        let gone = arrival == Arrival::Deletion;
        let terminating = meta.deletion_timestamp.is_some();
        let immutable = rules.evicts(meta) || case.chosen.is_some();
        match requested(next) {
            Action::Nothing => {}
            Action::AddFinalizer => assert!(rules.finalizer == Finalizer::Ensure && !terminating && !gone, "{case:?}"),
            Action::RemoveFinalizer => {
                assert!(!gone && terminating && finalizer::holds(&meta.finalizers, rules.marks), "{case:?}");
            }
            Action::Delete => assert!(!gone && !terminating && is_leaving(meta, rules), "{case:?}"),
            Action::Evict => {
                assert!(!gone && !terminating && rules.evictions && immutable && !is_leaving(meta, rules), "{case:?}");
            }
        }
        if let NextStep::Write(write) = next {
            assert!(write.state != LifecycleState::Evicted || immutable, "{case:?}");
            assert!(write.state != LifecycleState::Deleted || write.then != Action::Evict, "{case:?}");
        }
        // No state that the cluster reports replaces an only copy.
        if let Arrival::Look { seen: Some(Version { eviction: Eviction::Confirmed, .. }), .. } = arrival {
            assert_eq!(next, NextStep::MeetGhost, "{case:?}");
        }
        // A ghost is left alone until the object and its row were compared.
        if remembered.is_some_and(|remembered| remembered.state == RowState::Ghost)
            && !matches!(arrival, Arrival::Look { .. })
            && step == (Step::Prepared { content: None })
        {
            assert!(
                matches!(next, NextStep::Look { .. } | NextStep::Forget | NextStep::Unchanged),
                "{case:?}: {next:?}"
            );
        }
    });
    assert!(cases > 1_000_000, "{cases} cases");
}

#[test]
fn in_every_case_a_step_gets_a_decision_that_it_can_carry_out() {
    every_case(|case| {
        let next = decide(case).next;
        let received = matches!(next, NextStep::Outdated | NextStep::RequestFinalizers | NextStep::Queue(_));
        let fits = match case.step {
            Step::Received { .. } => {
                received
                    || matches!(
                        next,
                        NextStep::Unchanged | NextStep::Forget | NextStep::MeetGhost | NextStep::Look { after: None }
                    )
            }
            Step::Prepared { content: None } => {
                !received && !matches!(next, NextStep::Write(_) | NextStep::LeaveOut(_) | NextStep::Reject { .. })
            }
            Step::Prepared { content: Some(_) } => !received && next != NextStep::Read,
        };
        assert!(fits, "{case:?}: {next:?}");
        // If the text turns out not to be storable, the decision is made again. It must not be to write, or this would never end.
        if let Step::Prepared { content: Some(content @ (Content::LeftOut { .. } | Content::Undecodable { .. })) } =
            case.step
        {
            let step = Step::Prepared { content: Some(content.unstorable()) };
            assert!(!matches!(decide(&Case { step, ..*case }).next, NextStep::Write(_)), "{case:?}");
        }
    });
}
