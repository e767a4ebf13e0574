//! Questions about many rows: our query, compared with the same SQL by hand, as a program would run it: on a connection from a pool of the
//! same driver, with the same parameters. Also compared with the shortest SQL, without a time limit and without the group of the kind. All
//! read the uid, the object and the columns of the order of the first 50 rows, so that all could ask for the next page. Also the memory
//! that reading all objects takes.

use crate::databases::{self, DatabaseChoice};
use crate::reference::Engine;
use crate::rounds::{Candidate, measure};
use anyhow::{Context as _, Result};
use clap::Args;
use crd_specs::KINDS;
use futures::TryStreamExt as _;
use ingester_core::Kind;
use ingester_core::kind::find;
use ingester_core::value::{Micros, Value};
use ingester_sql::query::{Filter, Order, Query, States, Test};
use ingester_store::query::{Limits, RequestedParts};
use ingester_store::{ConnectOptions, Store};
use sqlx::{AssertSqlSafe, Connection, Executor, IntoArguments, Row as _};

#[derive(Args)]
pub(crate) struct Questions {
    /// Which databases; all by default.
    #[arg(long, value_enum)]
    database: Vec<DatabaseChoice>,
    /// Rows in the table.
    #[arg(long, default_value_t = 1_000_000)]
    rows: u32,
    /// Rounds, after one that does not count.
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    /// Objects that are read for the figure of memory.
    #[arg(long, default_value_t = 100_000)]
    streamed: usize,
}

pub(crate) fn run(arguments: &Questions) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    databases::on_each(&arguments.database, Some("2G"), ["query"], &runtime, |which, [url]| match which {
        DatabaseChoice::Mariadb | DatabaseChoice::Mysql => on::<sqlx::MySql>(which, &url, arguments, &runtime),
        DatabaseChoice::Postgres => on::<sqlx::Postgres>(which, &url, arguments, &runtime),
        DatabaseChoice::Sqlite => on::<sqlx::Sqlite>(which, &url, arguments, &runtime),
    })
}

/// A question: the parameters of its SQL, which follow the group's parameters; and the columns, the condition and the order of the shortest
/// SQL.
struct Question {
    name: &'static str,
    query: Query,
    parameters: Vec<Value>,
    columns: &'static str,
    shortest: &'static str,
}

/// The parameters of the kind's group, which come first.
const GROUP: [&str; 2] = ["michelangelo.api/", "michelangelo.api0"];

const SINCE: Value = Value::Time(Micros(1_767_225_600_000_000));

fn texts(texts: &[&str]) -> Vec<Value> {
    texts.iter().map(|text| Value::text(*text)).collect()
}

fn questions() -> Vec<Question> {
    let query = |order: &'static str, filters: Vec<Filter>| Query {
        order: (!order.is_empty()).then(|| Order { field: order.into(), descending: true }).into_iter().collect(),
        filters,
        ..Query::default()
    };
    let in_ns = |query: Query| Query { namespaces: vec!["ns-7".into()], ..query };
    let label = |key: &str, value: &str| Filter::label(key, Test::Equal(Value::text(value)));
    let actor = Filter::field("actor", Test::Equal(Value::text("actor-77")));
    let state = Filter::field("state", Test::Equal(Value::text("state-1")));
    let since = |field: &'static str| Filter::field(field, Test::Greater(SINCE));
    let ask = |name, query, parameters, columns, shortest| Question { name, query, parameters, columns, shortest };
    let by_name = ", namespace, name";
    vec![
        ask(
            "by name",
            in_ns(Query { names: vec!["name-107".into()], ..Query::default() }),
            texts(&["ns-7", "name-107"]),
            "",
            "namespace = 'ns-7' AND name = 'name-107' AND delete_time IS NULL",
        ),
        ask(
            "a namespace, newest first",
            in_ns(query("create_time", vec![])),
            texts(&["ns-7"]),
            ", CAST(create_time AS CHAR)",
            "namespace = 'ns-7' AND delete_time IS NULL ORDER BY create_time DESC, uid DESC",
        ),
        ask(
            "by label",
            query("", vec![label("team", "team-77")]),
            texts(&["team", "team-77"]),
            by_name,
            "delete_time IS NULL AND uid IN (SELECT obj_uid FROM pipelinerun_labels WHERE `key` = 'team' AND `value` = 'team-77')
             ORDER BY namespace, name, uid",
        ),
        ask(
            "by two labels",
            query("", vec![label("team", "team-77"), label("tier", "tier-1")]),
            texts(&["team", "team-77", "tier", "tier-1"]),
            by_name,
            "delete_time IS NULL AND uid IN (SELECT obj_uid FROM pipelinerun_labels WHERE `key` = 'team' AND `value` = 'team-77')
             AND uid IN (SELECT obj_uid FROM pipelinerun_labels WHERE `key` = 'tier' AND `value` = 'tier-1')
             ORDER BY namespace, name, uid",
        ),
        ask(
            "by owner",
            query("create_time", vec![actor]),
            texts(&["actor-77"]),
            ", CAST(create_time AS CHAR)",
            "delete_time IS NULL AND actor = 'actor-77' ORDER BY create_time DESC, uid DESC",
        ),
        ask(
            "by state and time",
            query("end_time", vec![state, since("end_time")]),
            vec![Value::text("state-1"), SINCE],
            ", CAST(end_time AS CHAR)",
            "delete_time IS NULL AND state = 'state-1' AND end_time > '2026-01-01' ORDER BY end_time DESC, uid DESC",
        ),
        ask(
            "deleted since",
            Query { states: States::DELETED, ..query("delete_time", vec![since("delete_time")]) },
            vec![SINCE],
            ", CAST(delete_time AS CHAR)",
            "delete_time > '2026-01-01' ORDER BY delete_time DESC, uid DESC",
        ),
        ask("everything, first page", query("", vec![]), vec![], by_name, "delete_time IS NULL ORDER BY namespace, name, uid"),
    ]
}

fn on<D: Engine>(
    which: DatabaseChoice,
    url: &str,
    arguments: &Questions,
    runtime: &tokio::runtime::Runtime,
) -> Result<()>
where
    for<'c> &'c mut D::Connection: Executor<'c, Database = D>,
    D::Arguments: IntoArguments<D>,
    usize: sqlx::ColumnIndex<D::Row>,
    for<'r> String: sqlx::Decode<'r, D>,
{
    let name = which.title();
    let kind = find(KINDS, "michelangelo.api/v2", "PipelineRun").context("a kind of the manifest")?;
    // As many for the SQL by hand: each question takes the connection that has waited longest, so their number is a part of what it costs.
    let connections = if D::ONE_WRITER { 1 } else { 4 };
    let options = ConnectOptions::default().connections(connections).max_idle(connections);
    let store = runtime.block_on(Store::connect(&url.parse()?, options))?;
    runtime.block_on(store.create_missing(KINDS))?;
    let mut connection = runtime.block_on(D::Connection::connect(url))?;
    runtime.block_on(fill::<D>(&mut connection, which, arguments.rows))?;
    let pool = sqlx::pool::PoolOptions::<D>::new()
        .max_connections(connections)
        .min_connections(connections)
        .test_before_acquire(false);
    let pool = runtime.block_on(pool.connect(url))?;
    println!(
        "\n{name}, {} rows: the first 50 rows, ms at the median, and the ratio to the same SQL by hand",
        arguments.rows
    );
    for Question { name, query, parameters, columns, shortest } in questions() {
        let asked = store.ask_about(kind, &query, Limits::default())?;
        let wanted = RequestedParts::object();
        let shortest = format!("SELECT uid, json{columns} FROM pipelinerun WHERE {shortest} LIMIT 51");
        let shortest = match which {
            DatabaseChoice::Mariadb | DatabaseChoice::Mysql => shortest,
            DatabaseChoice::Sqlite | DatabaseChoice::Postgres => {
                shortest.replace('`', "\"").replace(" AS CHAR)", " AS TEXT)")
            }
        };
        let same = runtime.block_on(asked.explain(&wanted, 51))?.sql;
        let found = runtime.block_on(asked.page(&wanted, 50, None))?.rows.len();
        let by_hand = |sql: &str, parameters: &[Value]| {
            let read = async {
                let mut connection = pool.acquire().await?;
                let mut arguments = D::Arguments::default();
                let added = parameters.iter().try_for_each(|value| D::add(&mut arguments, value));
                added.map_err(sqlx::Error::Encode)?;
                let query = sqlx::query_with::<D, _>(AssertSqlSafe(sql), arguments);
                let rows = query.fetch_all(&mut *connection).await?;
                let texts = |row: &D::Row| (0..row.len()).map(|place| row.try_get_unchecked(place)).collect();
                rows.iter().map(texts).collect()
            };
            let rows: Result<Vec<Vec<String>>, sqlx::Error> = runtime.block_on(read);
            assert!(rows.as_ref().is_ok_and(|rows| rows.len() >= found), "{name}: by hand: {:?}", rows.err());
        };
        // Where a label leads to the rows, its key and value come first.
        let leading = if same.contains("uid of pair") { 2 } else { 0 };
        let (leading, others) = parameters.split_at(leading);
        let group = texts(&GROUP);
        let of_group: Vec<Value> = leading.iter().chain(&group).chain(others).cloned().collect();
        let ours = || {
            let page = runtime.block_on(asked.page(&wanted, 50, None));
            assert!(page.is_ok_and(|page| page.rows.len() == found), "{name}: ours");
        };
        let hand = || Candidate { name: "by hand", run: Box::new(|| by_hand(&same, &of_group)) };
        // In pairs: what two of three candidates read would be in the machine's caches for them.
        let pair = vec![hand(), Candidate { name: "ours", run: Box::new(ours) }];
        let measured = measure(pair, arguments.rounds);
        let [hand_beside_ours, ours] = &measured[..] else { continue };
        let pair = vec![hand(), Candidate { name: "shortest", run: Box::new(|| by_hand(&shortest, &[])) }];
        let shortest = measure(pair, arguments.rounds).pop().context("two candidates")?;
        let ms = |took: &crate::rounds::CandidateTime| took.median.as_secs_f64() * 1000.0;
        let (low, high) = ours.spread;
        println!(
            "{name:28} {:8.2} by hand {:8.2} ours  {:.2}x ({low:.2} to {high:.2}), {found} rows; the shortest SQL {:.2}x",
            ms(hand_beside_ours),
            ms(ours),
            ours.ratio,
            shortest.ratio
        );
    }
    runtime.block_on(stream(&store, kind, arguments.streamed))
}

/// Reads many objects, and prints by how much the memory grew.
async fn stream(store: &Store, kind: &Kind, objects: usize) -> Result<()> {
    let asked = store.ask_about(kind, &Query::default(), Limits::default())?;
    let mut reader = asked.reader(&RequestedParts::object(), None)?;
    // The first portions show how large objects are.
    let mut count = 0;
    let mut bytes = 0;
    let mut first = 0;
    let begin = std::time::Instant::now();
    while count < objects {
        let rows = reader.next().await?;
        if rows.is_empty() {
            break;
        }
        count += rows.len();
        bytes += rows.iter().map(|row| row.get_text(ingester_core::schema::base::JSON).len()).sum::<usize>();
        if first == 0 && count > 5000 {
            first = resident()?;
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{count} objects of {} bytes in {seconds:.1} s; resident after 5,000: {} MB, after all: {} MB",
        bytes / count.max(1),
        first >> 20,
        resident()? >> 20
    );
    Ok(())
}

/// The resident memory of this process, in bytes.
fn resident() -> Result<usize> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").trim().parse::<usize>()? << 10)
}

/// Rows of 50 namespaces, 500 owners and teams; every twentieth is deleted.
async fn fill<D: sqlx::Database>(connection: &mut D::Connection, which: DatabaseChoice, rows: u32) -> Result<()>
where
    for<'c> &'c mut D::Connection: Executor<'c, Database = D>,
{
    let concat = |text: &str, number: &str| match which {
        DatabaseChoice::Sqlite => format!("'{text}' || ({number})"),
        DatabaseChoice::Mariadb | DatabaseChoice::Mysql | DatabaseChoice::Postgres => {
            format!("CONCAT('{text}', {number})")
        }
    };
    let time = |seconds: &str| match which {
        DatabaseChoice::Sqlite => {
            format!("STRFTIME('%Y-%m-%d %H:%M:%f000', '2026-01-01', '+' || ({seconds}) || ' seconds')")
        }
        DatabaseChoice::Mariadb | DatabaseChoice::Mysql => format!("TIMESTAMPADD(SECOND, {seconds}, '2026-01-01')"),
        DatabaseChoice::Postgres => format!("TIMESTAMPTZ '2026-01-01 00:00:00+00' + ({seconds}) * INTERVAL '1 second'"),
    };
    let quote = if matches!(which, DatabaseChoice::Mariadb | DatabaseChoice::Mysql) { "`" } else { "\"" };
    let json = match which {
        DatabaseChoice::Sqlite => "'{\"a\":\"' || PRINTF('%.*c', 1000, 'x') || '\"}'",
        DatabaseChoice::Mariadb | DatabaseChoice::Mysql => "CONCAT('{\"a\":\"', REPEAT('x', 1000), '\"}')",
        DatabaseChoice::Postgres => "CAST(CONCAT('{\"a\":\"', REPEAT('x', 1000), '\"}') AS JSON)",
    };
    let uid = concat("uid-", "n");
    let namespace = concat("ns-", "n % 50");
    let name = concat("name-", "n");
    let actor = concat("actor-", "n % 500");
    let state = concat("state-", "CASE WHEN n % 10 = 0 THEN 1 ELSE 2 END");
    let created = time("n");
    let ended = time("n + 60");
    let deleted = time("n + 90");
    let mut statements =
        vec!["CREATE TABLE numbers (n INTEGER NOT NULL)".to_owned(), "INSERT INTO numbers VALUES (0)".to_owned()];
    for doubling in 0..32 - rows.leading_zeros() {
        let next = 1_u32 << doubling;
        statements.push(format!("INSERT INTO numbers SELECT n + {next} FROM numbers WHERE n + {next} < {rows}"));
    }
    statements.push(format!(
        "INSERT INTO pipelinerun (uid, group_ver, namespace, name, res_version, create_time, update_time, delete_time,
         ingest_version, json, actor, state, end_time)
         SELECT {uid}, 'michelangelo.api/v2', {namespace}, {name}, 1, {created}, {created},
         CASE WHEN n % 20 = 3 THEN {deleted} END, 1, {json}, {actor}, {state}, {ended} FROM numbers"
    ));
    for (key, by) in [("team", 500), ("tier", 3)] {
        let value = concat(&format!("{key}-"), &format!("n % {by}"));
        statements.push(format!(
            "INSERT INTO pipelinerun_labels ({quote}obj_uid{quote}, {quote}key{quote}, {quote}value{quote})
             SELECT {uid}, '{key}', {value} FROM numbers"
        ));
    }
    let analyze = match which {
        DatabaseChoice::Sqlite => "ANALYZE",
        DatabaseChoice::Mariadb | DatabaseChoice::Mysql => "ANALYZE TABLE pipelinerun, pipelinerun_labels",
        // It would do so by itself, in the middle of the questions.
        DatabaseChoice::Postgres => "VACUUM (ANALYZE) pipelinerun, pipelinerun_labels",
    };
    statements.push(analyze.into());
    for statement in statements {
        // Unprepared, because ANALYZE TABLE cannot be prepared everywhere.
        let mut results = connection.execute_many(sqlx::raw_sql(AssertSqlSafe(statement)));
        while results.try_next().await?.is_some() {}
    }
    Ok(())
}
