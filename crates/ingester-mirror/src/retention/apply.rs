//! Purges the rows that the rules of a kind let go. Rows of deleted objects are purged at once. A row of an evicted object is the only
//! copy, so it goes in two steps: a rule marks the row, and purges it in a later round, after the grace, if the rule still lets it go.

use super::rows::{CoveredRow, CoveredRows, RetainedRows};
use super::rules::{RuleError, RuleSet, WeighedRows, is_by_age, of_rule};
use crate::policies::MOST;
use ingester_config::{RetainedState, RetentionRule};
use ingester_core::schema::Fingerprint;
use ingester_core::value::Micros;
use ingester_store::marks::{Mark, MarkingRule};
use ingester_store::{ExportError, PurgeTerms, StoreError};
use std::collections::HashSet;
use std::time::Duration;

/// The reason why a rule purges nothing now.
#[derive(Debug, thiserror::Error)]
enum RetentionError {
    /// The rule cannot be judged, or another rule that may keep its rows cannot.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// Its rows cannot be exported.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// Its rows cannot be purged.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The result of a kind's rules in one round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RetentionResult {
    /// Rows that were purged.
    pub(crate) purged: u64,
    /// Rows that enforced rules let go and that are still there.
    pub(crate) waiting: u64,
    /// Rows that rules would let go if they were enforced; for each rule at most as many as are judged at once.
    pub(crate) dry: u64,
    /// Rules that purged nothing because of an error.
    pub(crate) failed: u64,
    /// The number of rows that no rule may judge now, by the name of each rule that covers their state.
    pub(crate) pending: Vec<(String, u64)>,
}

/// Returns the fingerprint of a rule for its marks. It does not depend on `enforce`. If a release computes it differently, only the grace
/// begins again.
pub(super) fn fingerprint(rule: &RetentionRule) -> Fingerprint {
    let mut rule = rule.clone();
    rule.enforce = true;
    Fingerprint::NONE.text(&format!("{rule:?}"))
}

fn marking(rule: &RetentionRule) -> MarkingRule<'_> {
    MarkingRule { name: &rule.name, fingerprint: fingerprint(rule) }
}

/// Purges the rows in one state that the rules of a kind let go. A failure is logged, and the next round tries again.
pub(crate) async fn apply(
    rows: &dyn RetainedRows,
    state: RetainedState,
    rules: Vec<RetentionRule>,
    grace: Duration,
) -> RetentionResult {
    let mut applied = RetentionResult::default();
    let together = async {
        let now = rows.now().await?;
        Ok::<_, RetentionError>(RuleSet::begin(rows, rules, now).await?)
    };
    let together = match together.await {
        Ok(together) => together,
        Err(error) => {
            tracing::warn!(%error, "Cannot judge the retention rules: no row of their state is purged, trying again later");
            applied.failed += 1;
            return applied;
        }
    };
    if state == RetainedState::Evicted {
        match withdraw_lapsed(rows, &together).await {
            Ok(Some(0)) => {}
            Ok(Some(withdrawn)) => {
                tracing::info!(rows = withdrawn, "Removed the marks of rows that their rules no longer choose")
            }
            Ok(None) => return applied,
            Err(error) => {
                applied.failed += 1;
                tracing::warn!(%error, "Cannot check the marks of rules: no marked row is purged, trying again later");
                return applied;
            }
        }
    }
    let (enforced, dry): (Vec<usize>, Vec<usize>) =
        (0..together.rules.len()).partition(|number| together.rules[*number].enforce);
    for number in enforced {
        let rule = &together.rules[number].name;
        let before = applied.purged;
        let done = purge(rows, &together, number, grace, &mut applied).await;
        let purged = applied.purged - before;
        if purged > 0 {
            tracing::info!(rule, rows = purged, "Purged rows that a rule chose");
        }
        match done {
            Ok(true) => {}
            Ok(false) => return applied,
            Err(error) => {
                applied.failed += 1;
                tracing::warn!(rule, %error, "Cannot purge the rows that the rule chose, trying again later");
                // The database failed, so the other rules would fail, too.
                if matches!(error, RetentionError::Store(_)) {
                    return applied;
                }
            }
        }
    }
    for number in dry {
        if let Err(error) = count(rows, &together, number, &mut applied).await {
            let rule = &together.rules[number].name;
            applied.failed += 1;
            tracing::warn!(rule, %error, "Cannot judge the retention rule, trying again later");
        }
    }
    count_pending(rows, &together, &mut applied).await;
    applied
}

/// Takes back the marks whose rule is gone, has changed, is not enforced, or no longer lets the row go. Returns how many; `None` if nothing
/// may be changed now.
async fn withdraw_lapsed(rows: &dyn RetainedRows, together: &RuleSet) -> Result<Option<u64>, RetentionError> {
    // A program with a former definition cannot tell that a rule of the latest one no longer holds.
    if !together.premise.is_of_latest() {
        return Ok(Some(0));
    }
    let mut withdrawn = 0;
    let mut last: Option<Mark> = None;
    loop {
        let page = rows.marks_after(last.as_ref()).await?;
        let Some(end) = page.last().cloned() else { return Ok(Some(withdrawn)) };
        last = Some(end);
        let active: Vec<Mark> = page.into_iter().filter(|mark| mark.revert_time.is_none()).collect();
        let mut holding: HashSet<(&str, &str)> = HashSet::new();
        for (number, rule) in together.rules.iter().enumerate().filter(|(_, rule)| rule.enforce) {
            let name = rule.name.as_str();
            let fingerprint = fingerprint(rule).to_string();
            let its = active.iter().filter(|mark| mark.rule == name && mark.fingerprint == fingerprint);
            let uids: Vec<&str> = its.map(|mark| mark.uid.as_str()).collect();
            if uids.is_empty() {
                continue;
            }
            let free = together.free_among(rows, number, &uids).await?;
            holding.extend(uids.into_iter().filter(|uid| free.contains(*uid)).map(|uid| (name, uid)));
        }
        let lapsed: Vec<Mark> =
            active.iter().filter(|mark| !holding.contains(&(mark.rule.as_str(), mark.uid.as_str()))).cloned().collect();
        if !lapsed.is_empty() {
            let Some(done) = rows.withdraw(&lapsed).await? else { return Ok(None) };
            withdrawn += done;
        }
    }
}

/// Purges the rows that a rule lets go, or takes the first of the two steps. Returns true if nothing is left to do.
async fn purge(
    rows: &dyn RetainedRows,
    together: &RuleSet,
    number: usize,
    grace: Duration,
    applied: &mut RetentionResult,
) -> Result<bool, RetentionError> {
    let rule = &together.rules[number];
    let mut place = together.start(number);
    let mut failed = None;
    while let Some(WeighedRows { free, .. }) = together.next(rows, number, &mut place, false).await? {
        applied.waiting += free.len() as u64;
        if failed.is_some() {
            // After a failure, only count the remaining rows.
            if applied.waiting > MOST as u64 {
                break;
            }
            continue;
        }
        let step = match rule.state {
            RetainedState::Deleted => Step { due: free, ..Step::default() },
            RetainedState::Evicted => match next_step(rows, together, number, free, grace).await? {
                Some(step) => step,
                None => return Ok(false),
            },
        };
        match purge_due(rows, together, number, step).await {
            Ok(Some(purged)) => {
                applied.purged += purged;
                applied.waiting = applied.waiting.saturating_sub(purged);
            }
            Ok(None) => return Ok(false),
            Err(RetentionError::Export(error)) => failed = Some(error),
            Err(error) => return Err(error),
        }
    }
    failed.map_or(Ok(true), |error| Err(error.into()))
}

/// The rows of a portion that are purged now.
#[derive(Default)]
struct Step {
    due: Vec<CoveredRow>,
    /// The uids of rows whose only `delete_time` is the time of their mark.
    undeleted: HashSet<Box<str>>,
    /// Purge only rows that were marked before this time; `None` for rows that need no mark.
    marked_before: Option<Micros>,
}

/// Marks the given rows of evicted objects that have no mark yet, and returns the rows whose grace is over. `None` if nothing may be
/// changed now.
async fn next_step(
    rows: &dyn RetainedRows,
    together: &RuleSet,
    number: usize,
    free: Vec<CoveredRow>,
    grace: Duration,
) -> Result<Option<Step>, RetentionError> {
    let rule = &together.rules[number];
    let marking = marking(rule);
    let fingerprint = marking.fingerprint.to_string();
    let grace = i64::try_from(grace.as_micros()).unwrap_or(i64::MAX);
    let before = Micros(together.now.0.saturating_sub(grace));
    let uids: Vec<&str> = free.iter().map(|row| &*row.candidate.uid).collect();
    let marks = rows.marks_of(&uids).await?;
    let mut step = Step { marked_before: Some(before), ..Step::default() };
    let mut unmarked = Vec::new();
    for row in free {
        let active = |mark: &&Mark| *mark.uid == *row.candidate.uid && mark.revert_time.is_none();
        match marks.iter().find(active) {
            None => unmarked.push(row),
            Some(mark) if mark.rule == rule.name && mark.fingerprint == fingerprint && mark.mark_time <= before => {
                if row.standing.delete_time == Some(mark.mark_time) {
                    step.undeleted.insert(row.candidate.uid.clone());
                }
                step.due.push(row);
            }
            // The grace is not over, or the mark is of another rule.
            Some(_) => {}
        }
    }
    if !unmarked.is_empty() && rows.mark(marking, &unmarked, &together.premise).await?.is_none() {
        return Ok(None);
    }
    Ok(Some(step))
}

/// Exports and then purges rows. Returns how many were purged; `None` if nothing may be changed now.
async fn purge_due(
    rows: &dyn RetainedRows,
    together: &RuleSet,
    number: usize,
    mut step: Step,
) -> Result<Option<u64>, RetentionError> {
    let rule = &together.rules[number];
    if let Some(folder) = &rule.export
        && !step.due.is_empty()
    {
        let exported = rows.export(folder, &step.due, &step.undeleted).await?;
        step.due.retain(|row| exported.contains(&row.candidate.uid));
    }
    if step.due.is_empty() {
        return Ok(Some(0));
    }
    let marked = step.marked_before.map(|before| (marking(rule), before));
    let terms = PurgeTerms { premise: &together.premise, marked };
    Ok(rows.purge(&step.due, terms).await?)
}

/// Counts the rows that a rule would let go.
async fn count(
    rows: &dyn CoveredRows,
    together: &RuleSet,
    number: usize,
    applied: &mut RetentionResult,
) -> Result<(), RuleError> {
    // A rule by age that is not enforced stands for an unlimited age, which lets nothing go.
    if is_by_age(&together.rules[number]) {
        return Ok(());
    }
    let mut place = together.start(number);
    let mut counted = 0;
    while let Some(weighed) = together.next(rows, number, &mut place, false).await? {
        counted += weighed.free.len() as u64;
        if counted > MOST as u64 {
            break;
        }
    }
    applied.dry += counted;
    Ok(())
}

/// Counts the rows that no rule may judge now.
async fn count_pending(rows: &dyn CoveredRows, together: &RuleSet, applied: &mut RetentionResult) {
    for rule in together.rules.iter().filter(|rule| !is_by_age(rule)) {
        let name = rule.name.clone();
        match rows.pending(rule, &together.premise).await.map_err(|error| of_rule(rule, error)) {
            Ok(pending) => applied.pending.push((name, pending)),
            Err(error) => tracing::warn!(%error, "Cannot count the rows that rules may not judge"),
        }
    }
}
