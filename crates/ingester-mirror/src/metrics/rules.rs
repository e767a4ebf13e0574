//! Counts the rows that rules may not judge. Unlike all other metrics, these have a series for each rule, and the names of rules are only
//! known once they are judged.

use super::ControllerMetrics;
use super::upkeep::RetentionMetrics;
use parking_lot::Mutex;
use prometheus::{IntGaugeVec, Opts, Registry};
use std::collections::BTreeMap;

const NAME: &str = "ingester_rule_pending_rows";
const HELP: &str = "Rows that a rule may not judge yet, counted by the definition that wrote them";

/// The pending rows of each rule, by the state of the rows that it covers.
type PendingByState = BTreeMap<&'static str, u64>;

/// The series of all rules.
pub(super) struct RuleSeries {
    pending: IntGaugeVec,
    /// By kind and rule.
    counted: Mutex<BTreeMap<(Box<str>, String), PendingByState>>,
}

impl RuleSeries {
    pub(super) fn register(on: &Registry) -> Result<Self, prometheus::Error> {
        let pending = IntGaugeVec::new(Opts::new(NAME, HELP), &["kind", "rule"])?;
        on.register(Box::new(pending.clone()))?;
        Ok(RuleSeries { pending, counted: Mutex::default() })
    }

    fn count(&self, kind: &str, state: &'static str, rules: Vec<(String, u64)>) {
        let mut counted = self.counted.lock();
        for ((_, _), states) in counted.iter_mut().filter(|((of, _), _)| **of == *kind) {
            states.remove(state);
        }
        for (rule, rows) in rules {
            counted.entry((kind.into(), rule)).or_default().insert(state, rows);
        }
        counted.retain(|(of, rule), states| {
            let values = &[&**of, rule.as_str()];
            if states.is_empty() {
                // Without a series, nothing is left to remove.
                let _ = self.pending.remove_label_values(values);
                return false;
            }
            let rows = states.values().fold(0, |sum: u64, rows| sum.saturating_add(*rows));
            self.pending.with_label_values(values).set(i64::try_from(rows).unwrap_or(i64::MAX));
            true
        });
    }
}

impl RetentionMetrics {
    /// Sets the number of rows that each rule about rows in a state may not judge. Rules that are not among these have no such rows any
    /// more.
    pub(crate) fn pending_rows(&self, state: &'static str, rules: Vec<(String, u64)>) {
        self.0.rules.count(&self.0.kind, state, rules);
    }
}

impl ControllerMetrics {
    /// Sets the number of live rows that each rule may not judge, as [`RetentionMetrics::pending_rows`].
    pub(crate) fn pending_rows(&self, rules: Vec<(String, u64)>) {
        self.kind.rules.count(&self.kind.kind, "live", rules);
    }
}

#[cfg(test)]
mod tests {
    use crate::metrics::Metrics;

    #[test]
    fn a_rule_has_a_series_until_it_is_gone() {
        let metrics = Metrics::new().unwrap();
        let shown = |metrics: &Metrics| {
            let rendered = metrics.render();
            let lines = rendered.lines().filter(|line| line.starts_with("ingester_rule_pending_rows{"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let retention = metrics.retention("Model");
        retention.pending_rows("evicted", vec![("old".into(), 2), ("both".into(), 1)]);
        metrics.controller("Model").pending_rows(vec![("both".into(), 4)]);
        let line = |rule: &str, rows| format!("ingester_rule_pending_rows{{kind=\"Model\",rule=\"{rule}\"}} {rows}");
        assert_eq!(shown(&metrics), [line("both", 5), line("old", 2)]);
        retention.pending_rows("evicted", Vec::new());
        assert_eq!(shown(&metrics), [line("both", 4)]);
    }
}
