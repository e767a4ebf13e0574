//! The plans of common questions about many rows: none reads the whole table, and none sorts where a key has the order; whatever the
//! database believes of its tables.

use crate::plan_summary::summarize;
use crate::world::{On, Stores as _, World, kind};
use anyhow::{Result, ensure};
use ingester_core::query::{Filter, Order, Query, States, Test};
use ingester_core::value::{Micros, Value};
use ingester_store::query::{Limits, Wanted};
use ingester_tests::on_every_database;

on_every_database! {
    common_questions_are_answered_by_keys
    common_questions_are_answered_by_keys_with_statistics_of_former_rows
}

/// How often one number is doubled until there are as many rows.
const DOUBLINGS: u32 = 18;

/// What the database knows about its rows.
#[derive(Clone, Copy)]
enum Statistics {
    /// It has looked at all of them.
    Fresh,
    /// It has looked when there were so many, and does not look again by itself.
    Of(u32),
}

/// What is asked, and whether a key has the order. If not, what matches is sorted.
struct Question {
    name: &'static str,
    query: Query,
    in_order: bool,
}

fn questions() -> Vec<Question> {
    let query = |order: &str, filters: Vec<Filter>| Query {
        order: if order.is_empty() {
            Vec::new()
        } else {
            vec![Order { field: order.trim_start_matches('-').to_owned().into(), descending: order.starts_with('-') }]
        },
        filters,
        ..Query::default()
    };
    let in_ml = |query: Query| Query { namespaces: vec!["ns-7".into()], ..query };
    let label = |key: &str, value: &str| Filter::label(key, Test::Equal(Value::text(value)));
    let field = |name: &'static str, value: &str| Filter::field(name, Test::Equal(Value::text(value)));
    let since = |name: &'static str| Filter::field(name, Test::Greater(Value::Time(Micros(1_767_225_600_000_000))));
    let ask = |name, query, in_order| Question { name, query, in_order };
    let named = Query { names: vec!["name-107".into()], ..Query::default() };
    let deleted = Query { states: States::DELETED, ..query("-delete_time", vec![since("delete_time")]) };
    let until = Filter::field("delete_time", Test::Less(Value::Time(Micros(1_767_300_000_000_000))));
    let no_eviction = Filter::field("evict_time", Test::Empty);
    let old = Query { states: States::DELETED, ..query("delete_time", vec![until, no_eviction]) };
    vec![
        ask("by name", in_ml(named), false),
        ask("everything, as kubectl lists it", query("", vec![]), true),
        ask("a namespace", in_ml(query("", vec![])), true),
        ask("the newest", query("-create_time", vec![]), true),
        ask("a namespace, newest first", in_ml(query("-create_time", vec![])), true),
        ask("by label", query("-create_time", vec![label("team", "team-77")]), false),
        ask("by two labels", query("", vec![label("team", "team-77"), label("tier", "tier-1")]), false),
        ask("by a label of a third", query("", vec![label("tier", "tier-1")]), false),
        ask("by label in a namespace", in_ml(query("", vec![label("tier", "tier-1")])), false),
        ask("by owner", query("-create_time", vec![field("actor", "actor-77")]), false),
        ask("by state and time", query("-end_time", vec![field("state", "state-1"), since("end_time")]), false),
        ask("deleted since", deleted.clone(), true),
        ask("deleted in a namespace since", Query { namespaces: vec!["ns-3".into()], ..deleted }, false),
        ask("deleted long ago, as retention looks for them", old, true),
        ask("by uid", Query { uids: vec!["uid-77".into()], ..Query::default() }, true),
    ]
}

async fn common_questions_are_answered_by_keys(world: World) -> Result<()> {
    are_answered_by_keys(&world, 200_000, Statistics::Fresh).await
}

async fn common_questions_are_answered_by_keys_with_statistics_of_former_rows(world: World) -> Result<()> {
    are_answered_by_keys(&world, 20_000, Statistics::Of(20)).await
}

async fn are_answered_by_keys(world: &World, rows: u32, statistics: Statistics) -> Result<()> {
    let store = world.store().await?;
    let kind = kind("PipelineRun");
    fill(world, rows, statistics).await?;
    let limits = Limits::default();
    let mut wrong = Vec::new();
    for Question { name, query, in_order } in questions() {
        let asked = store.ask_about(kind, &query, limits)?;
        let wanted = Wanted::object();
        let page = asked.page(&wanted, 50, None).await?;
        ensure!(!page.rows.is_empty(), "{name}: there is nothing to be found");
        let mut plans = vec![("first page", asked.explain(&wanted, 50).await?)];
        if let Some(next) = &page.next {
            plans.push(("next page", asked.explain_after(&wanted, 50, next).await?));
        }
        for (which, explained) in plans {
            let summary = summarize(world.on, &explained)?;
            if summary.scans || summary.sorts && in_order {
                wrong.push(format!("{name}, {which}: {summary:?}\n{}\n{}", explained.sql, explained.plan.join("\n")));
            }
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    Ok(())
}

/// Rows of 50 namespaces, 500 owners and teams, and states as they are in life.
async fn fill(world: &World, rows: u32, statistics: Statistics) -> Result<()> {
    world.sql("CREATE TABLE numbers (n INTEGER NOT NULL)").await?;
    world.sql("INSERT INTO numbers VALUES (0)").await?;
    for doubling in 0..DOUBLINGS {
        let next = 1_u32 << doubling;
        world.sql(&format!("INSERT INTO numbers SELECT n + {next} FROM numbers WHERE n + {next} < {rows}")).await?;
    }
    let analyze = if world.on == On::Sqlite { "ANALYZE" } else { "ANALYZE TABLE pipelinerun, pipelinerun_labels" };
    match statistics {
        Statistics::Fresh => {
            insert(world, "n >= 0").await?;
            world.sql(analyze).await?;
        }
        Statistics::Of(first) => {
            for table in ["pipelinerun", "pipelinerun_labels"].iter().filter(|_| world.on != On::Sqlite) {
                world.sql(&format!("ALTER TABLE {table} STATS_AUTO_RECALC = 0")).await?;
            }
            insert(world, &format!("n < {first}")).await?;
            world.sql(analyze).await?;
            insert(world, &format!("n >= {first}")).await?;
        }
    }
    Ok(())
}

/// Inserts the rows of these numbers.
async fn insert(world: &World, which: &str) -> Result<()> {
    let concat = |text: &str, number: &str| match world.on {
        On::Sqlite => format!("'{text}' || ({number})"),
        _ => format!("CONCAT('{text}', {number})"),
    };
    let time = |seconds: &str| match world.on {
        On::Sqlite => format!("STRFTIME('%Y-%m-%d %H:%M:%f000', '2026-01-01', '+' || ({seconds}) || ' seconds')"),
        _ => format!("TIMESTAMPADD(SECOND, {seconds}, '2026-01-01')"),
    };
    let (uid, namespace, name) = (concat("uid-", "n"), concat("ns-", "n % 50"), concat("name-", "n"));
    let (actor, state) = (concat("actor-", "n % 500"), concat("state-", "CASE WHEN n % 10 = 0 THEN 1 ELSE 2 END"));
    let (created, ended, deleted) = (time("n"), time("n + 60"), time("n + 90"));
    world
        .sql(&format!(
            "INSERT INTO pipelinerun (uid, group_ver, namespace, name, res_version, create_time, update_time, delete_time,
             ingest_version, json, actor, state, end_time)
             SELECT {uid}, 'michelangelo.api/v2', {namespace}, {name}, 1, {created}, {created},
             CASE WHEN n % 20 = 3 THEN {deleted} END, 1, '{{}}', {actor}, {state}, {ended} FROM numbers WHERE {which}"
        ))
        .await?;
    let columns = if world.on == On::Sqlite { r#""obj_uid", "key", "value""# } else { "`obj_uid`, `key`, `value`" };
    for (key, by) in [("team", 500), ("tier", 3)] {
        let value = concat(&format!("{key}-"), &format!("n % {by}"));
        world
            .sql(&format!(
                "INSERT INTO pipelinerun_labels ({columns}) SELECT {uid}, '{key}', {value} FROM numbers WHERE {which}"
            ))
            .await?;
    }
    Ok(())
}
