//! `ingester policies revert`: takes back the marks of rules, whose rows would be purged soon.

use super::chosen;
use crate::arguments::RevertPolicies;
use crate::database::Database;
use crate::ending::{Ending, Failure};
use crate::output::{counted, note, print};
use ingester_config::Config;
use ingester_core::Kind;
use ingester_store::Store;
use ingester_store::marks::{Mark, Withdrawal, WithdrawalResult};

pub(crate) async fn run(
    arguments: &RevertPolicies,
    config: &Config,
    kinds: &'static [Kind],
) -> Result<Ending, Failure> {
    let chosen = chosen(kinds, &arguments.kinds)?;
    let store = Database::from_config(config, &arguments.config.config)?.open_existing().await?;
    let mut ending = Ending::Done;
    let mut marked = 0;
    for kind in &chosen {
        let (marks, withdrawn) = revert(&store, kind, arguments.rule.as_deref()).await?;
        if marks == 0 {
            continue;
        }
        marked += marks;
        let taken = counted(marks as u64, "mark is", "marks are");
        let restored = counted(withdrawn.restored, "row lives", "rows live");
        print(&format!("{}: {taken} taken back, {restored} again\n", kind.name()))?;
        for (namespace, name) in withdrawn.namesakes {
            ending = Ending::Problem;
            let object = if namespace.is_empty() { name } else { format!("{namespace}/{name}") };
            note(&format!("{} {object}: its row stays deleted, because a live row has its name", kind.name()));
        }
    }
    store.close().await;
    if marked == 0 {
        note(&match &arguments.rule {
            Some(rule) => format!("no row has a mark of the rule `{rule}`: `ingester policies` lists the rules"),
            None => "no row has a mark".to_owned(),
        });
    }
    Ok(ending)
}

/// Takes back the marks of a rule about a kind, or of all rules. Returns how many there were.
async fn revert(store: &Store, kind: &Kind, rule: Option<&str>) -> Result<(usize, WithdrawalResult), Failure> {
    let mut count = 0;
    let mut all = WithdrawalResult::default();
    let mut last: Option<Mark> = None;
    loop {
        let page = store.marks_after(kind.table(), last.as_ref()).await?;
        let Some(end) = page.last().cloned() else { return Ok((count, all)) };
        last = Some(end);
        let of_rule = |mark: &Mark| mark.revert_time.is_none() && rule.is_none_or(|rule| mark.rule == rule);
        let marks: Vec<Mark> = page.into_iter().filter(of_rule).collect();
        let withdrawn = store.withdraw_marks(kind, &marks, Withdrawal::Reverted).await?;
        count += marks.len();
        all.restored += withdrawn.restored;
        all.namesakes.extend(withdrawn.namesakes);
    }
}
