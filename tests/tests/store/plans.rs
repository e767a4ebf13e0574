//! The plans of common questions about many rows: none reads the whole table, and none sorts if a key has the order, whatever the
//! database assumes about its tables.

use crate::history;
use crate::plan_summary::{PlanSummary, look_at_lines, summarize};
use crate::world::{On, Stores as _, World, dialect, kind};
use anyhow::{Context as _, Result, ensure};
use ingester_core::schema::NARROW_KEY;
use ingester_core::value::{Micros, Value};
use ingester_sql::dialect::statements::{
    ConfirmEvictions, Live, LiveByNamespace, LockPurgeable, MarkRows, NewerRows, Newest, OlderRows, Peek, Purge,
    Purgeable, ReadForBackfill, RowsToBackfill, Versions,
};
use ingester_sql::dialect::{GroupFilter, Param, Statement};
use ingester_sql::query::{Filter, Order, Query, States, Test};
use ingester_store::query::{Limits, RequestedParts};
use ingester_store::{ConnectOptions, EvictedRows};
use ingester_tests::{on_databases, on_every_database};

on_every_database! {
    common_questions_are_answered_by_keys
    a_page_of_the_mirror_costs_the_same_at_the_end_of_a_table_as_at_its_begin
    what_a_restart_an_audit_and_a_backfill_look_for_is_read_of_the_narrow_key_alone
    without_the_narrow_key_the_same_is_read_of_the_rows
    questions_as_of_a_moment_are_answered_by_keys
    a_batch_of_retention_does_not_read_again_what_stays
}

// On PostgreSQL a lock is in the row, on SQLite it is one of the whole file.
on_databases! { (rows_are_locked_and_written_by_their_primary_key) [mariadb MariaDb] [mysql MySql] }

// PostgreSQL stores large JSON beside the rows: it reads and sorts small ones.
on_databases! {
    (common_questions_are_answered_by_keys_with_statistics_of_former_rows) [sqlite Sqlite] [mariadb MariaDb] [mysql MySql]
}

/// How often one number is doubled until there are as many rows.
const DOUBLINGS: u32 = 15;

/// The database's statistics about its rows.
#[derive(Clone, Copy)]
enum Statistics {
    /// They are up to date.
    Fresh,
    /// They are from a time with this many rows, and are not updated automatically.
    Of(u32),
}

/// The number of rows, the length of their JSON, and the database's statistics about them.
#[derive(Clone, Copy)]
struct TableFilling {
    rows: u32,
    json: usize,
    statistics: Statistics,
}

/// So many that a third of them exceeds [`Routes::FEW`](ingester_sql::query::Routes::FEW).
const MANY: TableFilling = TableFilling { rows: 20_000, json: 2, statistics: Statistics::Fresh };

/// Few large rows, of which the database assumes that there are hardly any, so it would read all, or sort them.
const LARGE: TableFilling = TableFilling { rows: 3000, json: 10_000, statistics: Statistics::Of(20) };

/// The question, and whether a key has the order. If not, the matching rows are sorted.
struct Question {
    name: &'static str,
    query: Query,
    in_order: bool,
    /// The key that is named with [`MANY`] rows, on databases for which routes are chosen.
    key: Option<&'static str>,
}

impl Question {
    fn by(self, key: &'static str) -> Self {
        Question { key: Some(key), ..self }
    }
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
    let ask = |name, query, in_order| Question { name, query, in_order, key: None };
    let named = Query { names: vec!["name-107".into()], ..Query::default() };
    let deleted = Query { states: States::DELETED, ..query("-delete_time", vec![since("delete_time")]) };
    let until = Filter::field("delete_time", Test::Less(Value::Time(Micros(1_767_300_000_000_000))));
    let no_eviction = Filter::field("evict_time", Test::Empty);
    let old = Query { states: States::DELETED, ..query("delete_time", vec![until, no_eviction]) };
    vec![
        ask("by name", in_ml(named), false).by("namespace_name"),
        ask("everything, as kubectl lists it", query("", vec![]), true).by("namespace_name"),
        ask("a namespace", in_ml(query("", vec![])), true).by("namespace_name"),
        ask("the newest", query("-create_time", vec![]), true).by("create_time"),
        ask("a namespace, newest first", in_ml(query("-create_time", vec![])), true).by("namespace_create_time"),
        ask("by label", query("-create_time", vec![label("team", "team-77")]), false).by("key_value"),
        ask("by two labels", query("", vec![label("team", "team-77"), label("tier", "tier-1")]), false).by("key_value"),
        ask("by a label of a third", query("", vec![label("tier", "tier-1")]), false).by("namespace_name"),
        ask("by label in a namespace", in_ml(query("", vec![label("tier", "tier-1")])), false),
        ask("by owner", query("-create_time", vec![field("actor", "actor-77")]), false).by("actor"),
        ask("by state and time", query("-end_time", vec![field("state", "state-1"), since("end_time")]), false),
        ask("deleted since", deleted.clone(), true).by("delete_time"),
        ask("deleted in a namespace since", Query { namespaces: vec!["ns-3".into()], ..deleted }, false),
        ask("deleted long ago, as retention looks for them", old, true),
        ask("by uid", Query { uids: vec!["uid-77".into()], ..Query::default() }, true),
    ]
}

async fn common_questions_are_answered_by_keys(world: World) -> Result<()> {
    are_answered_by_keys(&world, MANY).await
}

async fn common_questions_are_answered_by_keys_with_statistics_of_former_rows(world: World) -> Result<()> {
    are_answered_by_keys(&world, LARGE).await
}

async fn are_answered_by_keys(world: &World, filling: TableFilling) -> Result<()> {
    let store = world.store_of(&[*kind("PipelineRun")]).await?;
    let kind = kind("PipelineRun");
    fill(world, filling).await?;
    let chosen_here = filling.rows == MANY.rows && matches!(world.on, On::MariaDb | On::MySql);
    let limits = Limits::default();
    let mut wrong = Vec::new();
    for Question { name, query, in_order, key } in questions() {
        let asked = store.ask_about(kind, &query, limits)?;
        let wanted = RequestedParts::object();
        let page = asked.page(&wanted, 50, None).await?;
        ensure!(!page.rows.is_empty(), "{name}: there is nothing to be found");
        let mut plans = vec![("first page", asked.explain(&wanted, 50).await?)];
        if let Some(next) = &page.next {
            plans.push(("next page", asked.explain_after(&wanted, 50, next).await?));
        }
        for (which, explained) in plans {
            let summary = summarize(world.on, &explained)?;
            // Besides the key that finds the rows, only primary keys are read.
            let is_named = |key: &str| {
                summary.keys.iter().any(|its| its == key)
                    && summary.keys.iter().all(|its| its == key || its == "PRIMARY")
            };
            // PostgreSQL also sorts the single row of a uid.
            let sorts = summary.sorts && in_order && !(world.on == On::Postgres && name == "by uid");
            let other_key = chosen_here && key.is_some_and(|key| !is_named(key));
            if summary.scans || sorts || other_key {
                wrong.push(format!("{name}, {which}: {summary:?}\n{}\n{}", explained.sql, explained.plan.join("\n")));
            }
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    Ok(())
}

/// How many rows a page of the mirror has here.
const PAGE: usize = 50;

/// The reads of the mirror, backfills, retention and people, page by page. Every row that is read is counted, if the server counts.
async fn a_page_of_the_mirror_costs_the_same_at_the_end_of_a_table_as_at_its_begin(world: World) -> Result<()> {
    world.store_of(&[*kind("PipelineRun")]).await?;
    fill(&world, LARGE).await?;
    let table = kind("PipelineRun").table();
    let group = &GroupFilter::new("michelangelo.api");
    let last = "SELECT uid FROM pipelinerun WHERE delete_time IS NULL ORDER BY uid DESC LIMIT 1 OFFSET 500";
    let last = world.cell(last).await?.unwrap_or_default();
    let live = |after| Live { table, group, namespace: None, confirmed: true, after, limit: PAGE, narrow: true };
    let in_namespace = |after| Live { namespace: Some("ns-7"), ..live(after) };
    let without_evicted = |after| Live { confirmed: false, ..live(after) };
    let older = |after| OlderRows { table, ingest_version: 2, unmarked: false, after, limit: PAGE, narrow: true };
    let before = Micros(1_900_000_000_000_000);
    let purgeable = Purgeable { table, group, before, behind: None, limit: PAGE };
    let few = 3 * PAGE as u64;
    let mut wrong = Vec::new();
    for (name, statement, most, may_sort) in [
        ("live, first page", &live("") as &dyn Statement, few, false),
        ("live, last page", &live(&last), few, false),
        ("live without evicted ones, last page", &without_evicted(&last), few, false),
        // One in 50 rows is in the namespace: the rest of the table is read.
        ("live in a namespace, last page", &in_namespace(&last), 600, false),
        ("of older definitions, first page", &older(""), few, false),
        ("of older definitions, last page", &older(&last), few, false),
        ("to be purged", &purgeable, few, false),
        // It has only one page.
        ("for people", &Peek { table, limit: PAGE }, 2 * u64::from(LARGE.rows), true),
    ] {
        let cost = cost(&world, statement).await?;
        if cost.sorts && !may_sort || cost.scans || cost.reads > most {
            wrong.push(format!("{name}: {cost:?}\n{}", statement.sql(dialect(world.on)).as_str()));
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    Ok(())
}

/// Rows of evicted objects stay, and only the first batch reads them.
async fn a_batch_of_retention_does_not_read_again_what_stays(world: World) -> Result<()> {
    world.store_of(&[*kind("PipelineRun")]).await?;
    fill(&world, LARGE).await?;
    // One in 20 rows is deleted, the first 100 of these are evicted, too.
    let evict = "UPDATE pipelinerun SET evict_time = delete_time WHERE delete_time < '2026-01-01 00:34:40.000000'";
    world.sql(evict).await?;
    let table = kind("PipelineRun").table();
    let group = &GroupFilter::new("michelangelo.api");
    let before = Micros(1_900_000_000_000_000);
    let first = Purgeable { table, group, before, behind: None, limit: 10 };
    let last = Micros::from_sql("2026-01-01 00:37:53.000000").context("a time")?;
    let next = Purgeable { behind: Some(("uid-2183", last)), ..first };
    let found = world.sql(&with_values(&world, &first)?).await?;
    ensure!(found.last().is_some_and(|row| row[0].as_deref() == Some("uid-2183")), "{found:?}");
    let of_first = cost(&world, &first).await?;
    let of_next = cost(&world, &next).await?;
    ensure!(!of_next.scans && !of_next.sorts, "{of_next:?}\n{}", next.sql(dialect(world.on)).as_str());
    if world.on != On::Sqlite {
        ensure!(of_first.reads > 100 && of_next.reads * 2 < of_first.reads, "{of_first:?}, {of_next:?}");
    }
    Ok(())
}

/// A row has 10 KB, an entry of the key a hundredth of that.
async fn what_a_restart_an_audit_and_a_backfill_look_for_is_read_of_the_narrow_key_alone(world: World) -> Result<()> {
    world.store_of(&[*kind("PipelineRun")]).await?;
    fill(&world, LARGE).await?;
    if world.on == On::Postgres {
        // An index-only scan works only for pages that the server knows to be visible to all.
        world.sql("VACUUM ANALYZE pipelinerun").await?;
    }
    let table = kind("PipelineRun").table();
    let group = &GroupFilter::new("michelangelo.api");
    let live = Live { table, group, namespace: None, confirmed: true, after: "uid-2", limit: PAGE, narrow: true };
    let older = OlderRows { table, ingest_version: 2, unmarked: true, after: "uid-2", limit: PAGE, narrow: true };
    let all = [
        &live as &dyn Statement,
        &older,
        &Live { after: "", namespace: Some("ns-7"), confirmed: false, ..live },
        &LiveByNamespace { table, group, narrow: true },
        &Newest { table, narrow: true },
        &OlderRows { after: "", ingest_version: 1, unmarked: false, ..older },
        &NewerRows { table, ingest_version: 1, after: "", limit: PAGE, narrow: true },
    ];
    // PostgreSQL chooses by its statistics. It keeps large JSON beside the rows, so reading the rows can be as cheap.
    let named = if world.on == On::Postgres { &all[..2] } else { &all[..] };
    let mut wrong = Vec::new();
    for statement in named.iter().copied() {
        let plan = plan(&world, statement).await?;
        let is_narrow = match world.on {
            On::Sqlite => plan.contains("USING COVERING INDEX pipelinerun__uid_version"),
            On::Postgres => plan.contains("Index Only Scan using pipelinerun__uid_version"),
            On::MariaDb | On::MySql => plan.contains("\tuid_version\t") && plan.contains("Using index"),
        };
        if !is_narrow {
            wrong.push(format!("{}\n{plan}", statement.sql(dialect(world.on)).as_str()));
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    Ok(())
}

/// A reader that first locks an entry of another key would deadlock with a writer that has the row and waits for the entry.
async fn rows_are_locked_and_written_by_their_primary_key(world: World) -> Result<()> {
    world.store_of(&[*kind("PipelineRun")]).await?;
    fill(&world, LARGE).await?;
    let table = kind("PipelineRun").table();
    let uids: Vec<String> = (0..128).map(|n| format!("uid-{n}")).collect();
    let uids = &uids.iter().map(String::as_str).collect::<Vec<_>>()[..];
    let gone = RowsToBackfill::These(uids);
    for statement in [
        &Versions { table, uids, lock: true } as &dyn Statement,
        &LockPurgeable { table, uids },
        &ReadForBackfill { table, places: &[], rows: gone },
        &MarkRows { table, ingest_version: 2, uids },
        &ConfirmEvictions { table, uids },
        &Purge { table, companion: None, uids },
    ] {
        let plan = plan(&world, statement).await?;
        ensure!(
            plan.contains("\tPRIMARY\t") && !plan.contains("\tuid_version\t"),
            "{}\n{plan}",
            statement.sql(dialect(world.on)).as_str()
        );
    }
    Ok(())
}

/// A database whose migrations were not run yet, or where a person dropped the key.
async fn without_the_narrow_key_the_same_is_read_of_the_rows(world: World) -> Result<()> {
    let store = world.store_of(&[*kind("PipelineRun")]).await?;
    let kind = kind("PipelineRun");
    fill(&world, TableFilling { rows: 40, ..LARGE }).await?;
    let read = async || -> Result<_> {
        let live = store.live(kind, None, EvictedRows::Included, "uid-2", 20).await?;
        let in_namespace = store.live(kind, Some("ns-7"), EvictedRows::LeftOut, "", 20).await?;
        let older = store.incomplete_backfills(&[*kind], None).await?.len();
        Ok((live, in_namespace, store.live_by_namespace(kind).await?, store.newest(kind.table()).await?, older))
    };
    let by_key = read().await?;
    ensure!(by_key.0.len() == 20 && by_key.1.len() == 1 && by_key.2.len() == 38, "{by_key:?}");
    let key = world.on.key("pipelinerun", NARROW_KEY);
    let of_table = if matches!(world.on, On::MariaDb | On::MySql) { " ON pipelinerun" } else { "" };
    world.sql(&format!("DROP INDEX {key}{of_table}")).await?;
    ensure!(read().await? == by_key, "by the rows: {:?}\nby the key: {by_key:?}", read().await?);
    Ok(())
}

/// Some thousand objects with ten former versions each; `INGESTER_TEST_VERSIONS=20` makes a million versions, which is two to the power of that.
async fn questions_as_of_a_moment_are_answered_by_keys(world: World) -> Result<()> {
    let store = world.connect(ConnectOptions::default()).await?;
    let kind = history::KIND;
    store.create_missing(&[kind]).await?;
    world.sql("CREATE TABLE numbers (n INTEGER NOT NULL)").await?;
    world.sql("INSERT INTO numbers VALUES (0)").await?;
    let power: u32 = std::env::var("INGESTER_TEST_VERSIONS").map_or(Ok(15), |text| text.parse())?;
    for doubling in 0..power {
        world.sql(&format!("INSERT INTO numbers SELECT n + {} FROM numbers", 1_u32 << doubling)).await?;
    }
    let [uid, phase, namespace] =
        [("uid-", "n / 10"), ("phase-", "n % 300"), ("ns-", "n / 10 % 50")].map(|(text, number)| {
            let number =
                if matches!(world.on, On::MariaDb | On::MySql) { number.replace('/', "DIV") } else { number.into() };
            match world.on {
                On::Sqlite => format!("'{text}' || ({number})"),
                _ => format!("CONCAT('{text}', {number})"),
            }
        });
    // The version of number n lives for a minute, the present ones since the end of the hour.
    let time = |minutes: &str| match world.on {
        On::Sqlite => format!("STRFTIME('%Y-%m-%d %H:%M:%f000', '2026-01-01', '+' || ({minutes}) || ' minutes')"),
        On::Postgres => format!("TIMESTAMPTZ '2026-01-01 00:00:00Z' + ({minutes}) * INTERVAL '1 minute'"),
        On::MariaDb | On::MySql => format!("TIMESTAMPADD(MINUTE, {minutes}, '2026-01-01')"),
    };
    let from = time("n % 10");
    let to = time("n % 10 + 1");
    let columns = "uid, group_ver, namespace, name, res_version, ingest_version, json, phase";
    let values = format!("{uid}, 'example.com/v1', {namespace}, {uid}, n, 1, '{{}}', {phase}");
    world
        .sql(&format!("INSERT INTO run ({columns}, update_time) SELECT {values}, {to} FROM numbers WHERE n % 10 = 9"))
        .await?;
    let former = format!(
        "INSERT INTO run_history ({columns}, valid_from, valid_to, `change`) SELECT {values}, {from}, {to}, 'updated' FROM numbers"
    );
    world.sql(&former).await?;
    world.sql(&world.on.analyze(&["run", "run_history"])).await?;
    let moment = Micros::from_sql("2026-01-01 00:05:30.000000").context("a time")?;
    let all = Query::default();
    let phase = Filter::field("phase", Test::Equal(Value::text("phase-5")));
    let mut wrong = Vec::new();
    // Of so many versions one is found, up to a page.
    let page = 100;
    let one_in = |many: usize| (1_usize << power).div_ceil(many).min(page);
    for (name, query, found) in [
        ("everything", all.clone(), page),
        ("a uid", Query { uids: vec!["uid-7".into()], ..all.clone() }, 1),
        ("a name", Query { namespaces: vec!["ns-7".into()], names: vec!["uid-7".into()], ..all.clone() }, 1),
        (
            "the objects that have had a name",
            Query {
                namespaces: vec!["ns-7".into()],
                names: vec!["uid-7".into()],
                states: States::ALL,
                order: vec![Order { field: "update_time".into(), descending: false }],
                ..all.clone()
            },
            1,
        ),
        ("a namespace", Query { namespaces: vec!["ns-7".into()], ..all.clone() }, one_in(500)),
        ("a column", Query { filters: vec![phase.clone()], ..all.clone() }, one_in(300)),
        (
            "a column in a namespace",
            Query { namespaces: vec!["ns-0".into()], filters: vec![phase], ..all },
            one_in(1500),
        ),
    ] {
        let query = Query { at: Some(moment.into()), ..query };
        let asked = store.ask_when(&kind, &query, Limits::default())?;
        let rows = asked.page(&RequestedParts::object(), page, None).await?.rows;
        ensure!(rows.len() == found, "{name}: {} rows, not {found}", rows.len());
        for explained in asked.explain(&RequestedParts::object(), page, None).await? {
            let summary = summarize(world.on, &explained)?;
            if summary.scans {
                wrong.push(format!("{name}: {summary:?}\n{}\n{}", explained.sql, explained.plan.join("\n")));
            }
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    Ok(())
}

/// The cost of a statement.
#[derive(Debug, Default)]
struct Cost {
    /// Rows that were read, and entries of keys where they are counted; 0 on SQLite, which does not count.
    reads: u64,
    sorts: bool,
    scans: bool,
}

/// How the database runs a statement.
async fn plan(world: &World, statement: &dyn Statement) -> Result<String> {
    let explain = match world.on {
        On::Sqlite => "EXPLAIN QUERY PLAN ",
        // In MySQL's other form, an UPDATE has no plan.
        On::MariaDb | On::MySql => "EXPLAIN FORMAT=TRADITIONAL ",
        On::Postgres => "EXPLAIN ",
    };
    let lines = world.sql(&format!("{explain}{}", with_values(world, statement)?)).await?;
    let line =
        |line: Vec<Option<String>>| line.into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>().join("\t");
    Ok(lines.into_iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// Its text, with its parameters as literals.
fn with_values(world: &World, statement: &dyn Statement) -> Result<String> {
    let dialect = dialect(world.on);
    let mut params = statement.params_in(dialect).into_iter();
    let mut sql = String::new();
    let text = statement.sql(dialect);
    // `$1` is one digit: the statements have fewer parameters than ten.
    let mark = if world.on == On::Postgres { '$' } else { '?' };
    for (place, part) in text.as_str().split(mark).enumerate() {
        let part = if place > 0 && mark == '$' { &part[1..] } else { part };
        if place > 0 {
            sql += &match params.next() {
                Some(Param::Text(text)) => format!("'{text}'"),
                Some(Param::UInt(number)) => number.to_string(),
                Some(Param::Time(time)) => format!("'{}'", time.sql()),
                Some(Param::Int(number)) => number.to_string(),
                Some(Param::Value(Value::Bool(true))) => "TRUE".to_owned(),
                other => anyhow::bail!("{other:?}"),
            };
        }
        sql += part;
    }
    Ok(sql)
}

async fn cost(world: &World, statement: &dyn Statement) -> Result<Cost> {
    let sql = with_values(world, statement)?;
    let mut cost = Cost::default();
    if world.on == On::Sqlite {
        for line in world.sql(&format!("EXPLAIN QUERY PLAN {sql}")).await? {
            let line = line.last().cloned().flatten().unwrap_or_default();
            cost.scans |= line.starts_with("SCAN ") && !line.contains(" INDEX ");
            cost.sorts |= line.contains("TEMP B-TREE FOR ORDER BY");
        }
        return Ok(cost);
    }
    if world.on == On::Postgres {
        let lines = world.sql(&format!("EXPLAIN (ANALYZE, TIMING OFF) {sql}")).await?;
        let lines: Vec<String> = lines.into_iter().flatten().flatten().collect();
        let mut summary = PlanSummary::default();
        look_at_lines(&lines, &mut summary);
        // The sorted rows were read, and that is counted here.
        cost.scans = summary.scans;
        for line in &lines {
            let after = |begin: &str| line.split_once(begin).and_then(|(_, rest)| rest.split([' ', ')']).next());
            if line.contains(" Scan ") && !line.contains("Bitmap Index Scan") {
                let rows: f64 = after("actual rows=").unwrap_or("0").parse()?;
                let loops: f64 = after("loops=").unwrap_or("1").parse()?;
                cost.reads += (rows * loops) as u64;
            }
            cost.reads += after("Rows Removed by Filter: ").unwrap_or("0").parse::<u64>()?;
        }
        return Ok(cost);
    }
    // MariaDB counts entries of a key that it reads and skips separately. MySQL does not count them at all.
    let counters = "SHOW SESSION STATUS WHERE Variable_name LIKE 'Handler_read%' OR Variable_name IN ('Handler_icp_attempts', 'Sort_rows')";
    for row in world.sql(&format!("FLUSH STATUS; {sql}; {counters}")).await? {
        let [Some(name), Some(count)] = &row[..] else { continue };
        match name.as_str() {
            "Sort_rows" => cost.sorts = count != "0",
            name if name.starts_with("Handler_") => cost.reads += count.parse::<u64>()?,
            _ => {}
        }
    }
    ensure!(cost.reads > 0, "the server counts nothing: {cost:?}");
    Ok(cost)
}

/// Rows of 50 namespaces, 500 owners and teams, and states as in practice.
async fn fill(world: &World, TableFilling { rows, json, statistics }: TableFilling) -> Result<()> {
    world.sql("CREATE TABLE numbers (n INTEGER NOT NULL)").await?;
    world.sql("INSERT INTO numbers VALUES (0)").await?;
    for doubling in 0..DOUBLINGS {
        let next = 1_u32 << doubling;
        world.sql(&format!("INSERT INTO numbers SELECT n + {next} FROM numbers WHERE n + {next} < {rows}")).await?;
    }
    let analyze = &world.on.analyze(&["pipelinerun", "pipelinerun_labels"]);
    match statistics {
        Statistics::Fresh => {
            insert(world, "n >= 0", json).await?;
            world.sql(analyze).await?;
        }
        Statistics::Of(first) => {
            // From now on nothing else refreshes them.
            let still = match world.on {
                On::Sqlite => None,
                On::MariaDb | On::MySql => Some("STATS_AUTO_RECALC = 0"),
                On::Postgres => Some("SET (autovacuum_enabled = FALSE)"),
            };
            for table in ["pipelinerun", "pipelinerun_labels"] {
                if let Some(still) = still {
                    world.sql(&format!("ALTER TABLE {table} {still}")).await?;
                }
            }
            insert(world, &format!("n < {first}"), json).await?;
            world.sql(analyze).await?;
            insert(world, &format!("n >= {first}"), json).await?;
        }
    }
    Ok(())
}

/// Inserts the rows of these numbers, with JSON of this many bytes.
async fn insert(world: &World, which: &str, json: usize) -> Result<()> {
    let concat = |text: &str, number: &str| match world.on {
        On::Sqlite => format!("'{text}' || ({number})"),
        _ => format!("CONCAT('{text}', {number})"),
    };
    let time = |seconds: &str| match world.on {
        On::Sqlite => format!("STRFTIME('%Y-%m-%d %H:%M:%f000', '2026-01-01', '+' || ({seconds}) || ' seconds')"),
        On::Postgres => format!("TIMESTAMPTZ '2026-01-01 00:00:00Z' + ({seconds}) * INTERVAL '1 second'"),
        On::MariaDb | On::MySql => format!("TIMESTAMPADD(SECOND, {seconds}, '2026-01-01')"),
    };
    let uid = concat("uid-", "n");
    let namespace = concat("ns-", "n % 50");
    let name = concat("name-", "n");
    let actor = concat("actor-", "n % 500");
    let state = concat("state-", "CASE WHEN n % 10 = 0 THEN 1 ELSE 2 END");
    let json = match (json, world.on) {
        (..20, _) => "'{}'".to_owned(),
        (json, On::Sqlite) => format!("'{{\"x\":\"' || HEX(ZEROBLOB({})) || '\"}}'", json / 2),
        (json, _) => format!("CONCAT('{{\"x\":\"', REPEAT('x', {json}), '\"}}')"),
    };
    let json = if world.on == On::Postgres { format!("CAST({json} AS JSON)") } else { json };
    let created = time("n");
    let ended = time("n + 60");
    let deleted = time("n + 90");
    world
        .sql(&format!(
            "INSERT INTO pipelinerun (uid, group_ver, namespace, name, res_version, create_time, update_time, delete_time,
             ingest_version, json, actor, state, end_time)
             SELECT {uid}, 'michelangelo.api/v2', {namespace}, {name}, 1, {created}, {created},
             CASE WHEN n % 20 = 3 THEN {deleted} END, 1, {json}, {actor}, {state}, {ended} FROM numbers WHERE {which}"
        ))
        .await?;
    for (key, by) in [("team", 500), ("tier", 3)] {
        let value = concat(&format!("{key}-"), &format!("n % {by}"));
        world
            .sql(&format!(
                "INSERT INTO pipelinerun_labels (`obj_uid`, `key`, `value`) SELECT {uid}, '{key}', {value} FROM numbers WHERE {which}"
            ))
            .await?;
    }
    Ok(())
}
