//! Combines the rules about a kind's rows in one state.
//!
//! A row goes if an enforced rule lets it go and no other rule that covers it, enforced or not, keeps it. `retention.deleted` is one of the
//! rules and covers every row of a deleted object.

use super::rows::{CHUNK, CoveredRow, CoveredRows, RowSelection};
use crate::policies::{Candidate, Judgement, PolicyError, StayReason, judge_proved, not_yet};
use futures::FutureExt as _;
use ingester_config::{Condition, RetainedState, Retention, RetentionRule, RetentionTime};
use ingester_core::Kind;
use ingester_core::row::Standing;
use ingester_core::value::Micros;
use ingester_store::Premise;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::time::Duration;

/// A rule cannot be judged.
#[derive(Debug, thiserror::Error)]
#[error("`{rule}`: {error}")]
pub(super) struct RuleError {
    rule: String,
    pub(super) error: Box<PolicyError>,
}

/// The rule that keeps a row although another rule lets it go, and its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldingRule {
    rule: String,
    why: StayReason,
}

impl fmt::Display for HoldingRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.why {
            StayReason::Until(Micros(i64::MAX)) => write!(f, "`{}` keeps it for ever", self.rule),
            why => write!(f, "`{}` keeps it: {why}", self.rule),
        }
    }
}

/// Returns the rules about rows of a kind in a state, with the rule by age last.
pub(super) fn rules(retention: &Retention, kind: &Kind, state: RetainedState) -> Vec<RetentionRule> {
    let mut rules: Vec<RetentionRule> = retention.rules_of(kind, state).cloned().collect();
    if state == RetainedState::Deleted {
        rules.extend(retention.for_kind(kind).map(by_age));
    }
    rules
}

/// `retention.deleted` as a rule. It names no kinds, because it applies to every kind.
fn by_age(kept: RetentionTime) -> RetentionRule {
    let after = match kept {
        RetentionTime::For(age) => age,
        RetentionTime::Forever => Duration::MAX,
    };
    let since = Some(RetainedState::Deleted.since().into());
    RetentionRule {
        name: "retention.deleted".into(),
        kinds: Vec::new(),
        state: RetainedState::Deleted,
        immutable: false,
        export: None,
        condition: Condition { after: Some(after), since, ..Condition::default() },
        enforce: kept != RetentionTime::Forever,
    }
}

/// Returns true for `retention.deleted`, which is always valid.
pub(super) fn is_by_age(rule: &RetentionRule) -> bool {
    rule.kinds.is_empty()
}

/// The way in which the rules about rows in one state are carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Executor {
    /// No rule lets a row go.
    Nothing,
    /// SQL alone finds the rows that are older than this, because no other rule can keep one of them.
    Age(Duration),
    /// Rows are judged by all rules.
    Judge,
}

impl Executor {
    /// The executor of all rules about rows in a state.
    pub(super) fn for_state(state: RetainedState, rules: &[RetentionRule]) -> Self {
        match rules {
            [] if state == RetainedState::Deleted => Executor::Nothing,
            [rule] if is_by_age(rule) => match rule.condition.after {
                Some(age) if rule.enforce => Executor::Age(age),
                _ => Executor::Nothing,
            },
            // Even without a rule about evicted rows, marks of a former rule may be left.
            _ => Executor::Judge,
        }
    }
}

/// All rules about a kind's rows in one state, at one time of the database's clock.
pub(super) struct RuleSet {
    pub(super) rules: Vec<RetentionRule>,
    /// The result of each rule with `keepLast` for the rows that it covers.
    snapshots: Vec<Option<Snapshot>>,
    pub(super) now: Micros,
    /// The premise that a row must meet before these rules are judged for it. All rules share it: if one of them cannot be judged for a row,
    /// the row stays whatever the others say.
    pub(super) premise: Premise,
}

/// The result of a rule for all rows that it covers.
struct Snapshot {
    judgement: Judgement,
    standings: HashMap<Box<str>, Standing>,
    /// The rows that it lets go.
    leaving: HashMap<Box<str>, Standing>,
}

/// Rows that a rule covers, and what happens to them.
#[derive(Debug, Default)]
pub(super) struct WeighedRows {
    pub(super) free: Vec<CoveredRow>,
    /// The rows that the rule lets go but another rule keeps.
    pub(super) held: Vec<(CoveredRow, HoldingRule)>,
    /// The rows that the rule keeps.
    pub(super) staying: Vec<(CoveredRow, StayReason)>,
}

/// The place up to which the rows of a rule were read.
pub(super) enum RuleProgress {
    /// This many rows of its snapshot.
    Snapshot(usize),
    /// Up to this token.
    Page(Option<String>),
    End,
}

impl RuleSet {
    /// Reads the snapshots of the rules that need one.
    pub(super) async fn begin(
        rows: &dyn CoveredRows,
        rules: Vec<RetentionRule>,
        now: Micros,
    ) -> Result<Self, RuleError> {
        let first = rules.first().map_or_else(String::new, |rule| rule.name.clone());
        let premise = rows.premise(&rules).await;
        let premise = premise.map_err(|error| RuleError { rule: first, error: error.into() })?;
        let mut snapshots = Vec::with_capacity(rules.len());
        for rule in &rules {
            snapshots.push(match rule.condition.keep_last {
                None => None,
                Some(_) => Some(snapshot(rows, rule, now, &premise).await.map_err(|error| of_rule(rule, error))?),
            });
        }
        Ok(RuleSet { rules, snapshots, now, premise })
    }

    /// Returns the uids whose rows the rule lets go and no other rule keeps.
    pub(super) async fn free_among(
        &self,
        rows: &dyn CoveredRows,
        number: usize,
        uids: &[&str],
    ) -> Result<HashSet<Box<str>>, RuleError> {
        let rule = &self.rules[number];
        let covered = rows.covered(rule, RowSelection::These(uids)).await.map_err(|error| of_rule(rule, error))?.rows;
        let mut going = self.judgeable(covered);
        going.retain(|row| self.keeps(number, row).is_none());
        let held = self.held(rows, number, &going).await?;
        let free = going.into_iter().filter(|row| !held.contains_key(&row.candidate.uid));
        Ok(free.map(|row| row.candidate.uid).collect())
    }

    /// The rows that the premise does not exclude.
    fn judgeable(&self, rows: Vec<CoveredRow>) -> Vec<CoveredRow> {
        judgeable(&self.premise, rows)
    }

    /// Returns the place where the rows of the rule with this number begin.
    pub(super) fn start(&self, number: usize) -> RuleProgress {
        if self.snapshots[number].is_some() { RuleProgress::Snapshot(0) } else { RuleProgress::Page(None) }
    }

    /// Returns the next rows that a rule lets go; with `all`, also the rows that it keeps. `None` at the end.
    pub(super) async fn next(
        &self,
        rows: &dyn CoveredRows,
        number: usize,
        place: &mut RuleProgress,
        all: bool,
    ) -> Result<Option<WeighedRows>, RuleError> {
        let rule = &self.rules[number];
        let mut weighed = WeighedRows::default();
        let going = match (&mut *place, &self.snapshots[number]) {
            (RuleProgress::Snapshot(from), Some(snapshot)) => {
                if *from == 0 && all {
                    let staying = snapshot.judgement.staying.iter();
                    weighed.staying = staying.filter_map(|(one, why)| Some((snapshot.covered(one)?, *why))).collect();
                }
                let leaving = snapshot.judgement.leaving.iter().skip(*from).take(CHUNK);
                let going: Vec<CoveredRow> = leaving.filter_map(|one| snapshot.covered(one)).collect();
                *from += CHUNK;
                if *from >= snapshot.judgement.leaving.len() {
                    *place = RuleProgress::End;
                }
                going
            }
            (RuleProgress::Page(token), _) => {
                let after = rule.condition.after.filter(|_| !all).map(|after| i64::try_from(after.as_micros()));
                let until = after.map(|after| Micros(self.now.0.saturating_sub(after.unwrap_or(i64::MAX))));
                let page = rows.covered(rule, RowSelection::Page { until, token: token.as_deref() }).await;
                let page = page.map_err(|error| of_rule(rule, error))?;
                *place = page.next.map_or(RuleProgress::End, |next| RuleProgress::Page(Some(next)));
                let mut going = Vec::with_capacity(page.rows.len());
                for row in self.judgeable(page.rows) {
                    match self.keeps(number, &row) {
                        Some(why) => weighed.staying.push((row, why)),
                        None => going.push(row),
                    }
                }
                going
            }
            (RuleProgress::End | RuleProgress::Snapshot(_), _) => return Ok(None),
        };
        let mut held = self.held(rows, number, &going).await?;
        for row in going {
            match held.remove(&row.candidate.uid) {
                Some(by) => weighed.held.push((row, by)),
                None => weighed.free.push(row),
            }
        }
        Ok(Some(weighed))
    }

    /// Returns the reason why a rule keeps a row that it covers.
    fn keeps(&self, number: usize, row: &CoveredRow) -> Option<StayReason> {
        let condition = &self.rules[number].condition;
        let Some(snapshot) = &self.snapshots[number] else { return not_yet(condition, &row.candidate, self.now) };
        if snapshot.leaving.get(&row.candidate.uid) == Some(&row.standing) {
            return None;
        }
        let mut staying = snapshot.judgement.staying.iter();
        let why = staying.find(|(one, _)| one.uid == row.candidate.uid).map(|(_, why)| *why);
        // For a row outside its snapshot, it is unknown whether the row is among the last ones.
        why.or_else(|| condition.keep_last.as_ref().map(|keep| StayReason::AmongLast(keep.count)))
    }

    /// Returns the rows that other rules keep, out of these, each with the rule and its reason.
    async fn held(
        &self,
        rows: &dyn CoveredRows,
        number: usize,
        going: &[CoveredRow],
    ) -> Result<HashMap<Box<str>, HoldingRule>, RuleError> {
        let mut held = HashMap::new();
        let uids: Vec<&str> = going.iter().map(|row| &*row.candidate.uid).collect();
        if uids.is_empty() {
            return Ok(held);
        }
        for (other, rule) in self.rules.iter().enumerate().filter(|(other, _)| *other != number) {
            let covered = rows.covered(rule, RowSelection::These(&uids)).await.map_err(|error| of_rule(rule, error))?;
            for row in covered.rows {
                if let Some(why) = self.keeps(other, &row) {
                    held.insert(row.candidate.uid, HoldingRule { rule: rule.name.clone(), why });
                }
            }
        }
        Ok(held)
    }
}

impl Snapshot {
    fn covered(&self, candidate: &Candidate) -> Option<CoveredRow> {
        let standing = *self.standings.get(&candidate.uid)?;
        Some(CoveredRow { candidate: candidate.clone(), standing })
    }
}

fn judgeable(premise: &Premise, mut rows: Vec<CoveredRow>) -> Vec<CoveredRow> {
    rows.retain(|row| premise.refuses(row.standing.version.ingest_version).is_none());
    rows
}

async fn snapshot(
    rows: &dyn CoveredRows,
    rule: &RetentionRule,
    now: Micros,
    premise: &Premise,
) -> Result<Snapshot, PolicyError> {
    let covered = judgeable(premise, rows.covered(rule, RowSelection::All).await?.rows);
    let standings: HashMap<Box<str>, Standing> =
        covered.iter().map(|row| (row.candidate.uid.clone(), row.standing)).collect();
    let candidates = covered.into_iter().map(|row| row.candidate).collect();
    let unproved = |uids: Vec<Box<str>>| async move { rows.unproved(&uids, premise).await }.boxed();
    let judgement = judge_proved(&rule.condition, candidates, now, unproved).await?;
    let of = |one: &Candidate| standings.get(&one.uid).map(|standing| (one.uid.clone(), *standing));
    let leaving = judgement.leaving.iter().filter_map(of).collect();
    Ok(Snapshot { judgement, standings, leaving })
}

pub(super) fn of_rule(rule: &RetentionRule, error: PolicyError) -> RuleError {
    RuleError { rule: rule.name.clone(), error: error.into() }
}
