//! The common part of the databases' plans.

use crate::world::On;
use anyhow::{Context as _, Result};
use ingester_store::query::Explanation;
use serde_json::Value as Json;

#[derive(Debug, Default)]
pub(crate) struct PlanSummary {
    /// A whole table is read.
    pub(crate) scans: bool,
    /// Rows of a table are sorted. Sorting the rows of an inner step does not count: they are at most a page.
    pub(crate) sorts: bool,
    /// The keys that are used.
    pub(crate) keys: Vec<String>,
}

/// Summarizes the plan of a query.
pub(crate) fn summarize(on: On, explained: &Explanation) -> Result<PlanSummary> {
    let mut summary = PlanSummary::default();
    if on == On::Sqlite {
        for line in &explained.plan {
            let key = line.split_once(" INDEX ").map(|(_, key)| key.split(' ').next().unwrap_or_default());
            let is_read = line.starts_with("SCAN ") || line.starts_with("SEARCH ");
            summary.scans |= line.starts_with("SCAN ") && key.is_none() && !is_step(line.trim_start_matches("SCAN "));
            summary.sorts |= line.contains("TEMP B-TREE FOR ORDER BY");
            summary.keys.extend(key.filter(|_| is_read).map(str::to_owned));
        }
        return Ok(summary);
    }
    if on == On::Postgres {
        look_at_lines(&explained.plan, &mut summary);
        return Ok(summary);
    }
    let plan = serde_json::from_str(&explained.plan.join("\n")).with_context(|| format!("{explained:#?}"))?;
    look(&plan, &mut summary);
    Ok(summary)
}

/// PostgreSQL's form: one line per node, each deeper than the node that consumes its rows, with lines about the node between them.
pub(crate) fn look_at_lines(lines: &[String], summary: &mut PlanSummary) {
    let depth = |line: &str| line.len() - line.trim_start_matches([' ', '-', '>']).len();
    for (place, line) in lines.iter().enumerate() {
        let node = line.trim_start_matches([' ', '-', '>']);
        let mut below = lines[place + 1..].iter().take_while(|other| depth(other) > depth(line));
        summary.scans |= node.starts_with("Seq Scan on ") || node.starts_with("Parallel Seq Scan on ");
        summary.sorts |= node.starts_with("Sort  (") && !below.any(|other| other.contains("->  Limit "));
        let key = [
            "Index Scan using ",
            "Index Only Scan using ",
            "Index Scan Backward using ",
            "Index Only Scan Backward using ",
        ]
        .iter()
        .find_map(|begin| node.strip_prefix(begin))
        .or_else(|| node.strip_prefix("Bitmap Index Scan on "));
        summary.keys.extend(key.and_then(|key| key.split(' ').next()).map(|key| key.trim_matches('"').to_owned()));
    }
}

/// Whether this names the rows of an inner step, which has its own summary.
fn is_step(table: &str) -> bool {
    table == "page" || table == "pairs" || table.starts_with('<')
}

/// The forms of MariaDB, and of MySQL from 8.3 on.
fn look(plan: &Json, summary: &mut PlanSummary) {
    match plan {
        Json::Object(members) => {
            let text = |name: &str| members.get(name).and_then(Json::as_str).unwrap_or_default();
            let access = text("access_type");
            summary.scans |= (access == "ALL" || access == "table") && !is_step(text("table_name"));
            summary.sorts |= access == "sort" && !members.get("inputs").is_some_and(is_of_step);
            summary.sorts |= members.get("filesort").is_some_and(|sort| !is_of_step(sort));
            summary.sorts |= members.get("using_filesort") == Some(&Json::Bool(true));
            summary
                .keys
                .extend(["key", "index_name"].map(text).into_iter().filter(|key| !key.is_empty()).map(str::to_owned));
            members.values().for_each(|value| look(value, summary));
        }
        Json::Array(values) => values.iter().for_each(|value| look(value, summary)),
        _ => {}
    }
}

/// Whether only the rows of an inner step are sorted.
fn is_of_step(sorted: &Json) -> bool {
    let table = match sorted {
        Json::Array(inputs) => inputs.first().filter(|_| inputs.len() == 1),
        sorted => sorted.get("table"),
    };
    table.and_then(|table| table.get("table_name")).and_then(Json::as_str).is_some_and(is_step)
}
