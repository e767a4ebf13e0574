//! The queries of KubeDL's console over the view `job_info` of `examples/kubedl/kinds.yaml`, compared with the same queries over one table
//! with the same rows: once as KubeDL makes it, with its number as the only key, and once with suitable keys. Also over a view of one kind,
//! and as a union of each kind's newest rows, which is the query to use where the view is slow.

use crate::objects::Dice;
use crate::rounds::{Candidate, measure};
use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use ingester_core::object::{ManagedFields, Object};
use ingester_core::value::Micros;
use ingester_core::view::View;
use ingester_core::{Kind, Registry};
use ingester_declare::declare;
use ingester_declare::documents::documents;
use ingester_store::{ConnectOptions, RowChange, Store};
use ingester_tests::{Durability, MariaDb, MySql, SqlServer};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, MySqlConnection, Row as _};
use std::collections::BTreeMap;
use std::ops::Deref;

#[derive(Args)]
pub(crate) struct KubeDl {
    /// Which databases; both by default.
    #[arg(long, value_enum)]
    database: Vec<DatabaseChoice>,
    /// Jobs of all kinds together.
    #[arg(long, default_value_t = 200_000)]
    jobs: usize,
    /// Rounds, after one that does not count.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DatabaseChoice {
    Mariadb,
    Mysql,
}

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/kubedl");

/// The kinds, and how many of a hundred jobs are of each.
const KINDS: [(&str, usize); 8] = [
    ("TFJob", 35),
    ("PyTorchJob", 30),
    ("MPIJob", 8),
    ("XGBoostJob", 7),
    ("ElasticBatchJob", 7),
    ("XDLJob", 5),
    ("MarsJob", 5),
    ("ElasticDLJob", 3),
];

pub(crate) fn run(arguments: &KubeDl) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let wanted = |which| arguments.database.is_empty() || arguments.database.contains(&which);
    let options = ["--innodb-buffer-pool-size=2G"];
    if wanted(DatabaseChoice::Mariadb) {
        let server = MariaDb::start_with(Durability::Durable, &options)?;
        runtime.block_on(on("MariaDB", server.deref(), arguments))?;
    }
    if wanted(DatabaseChoice::Mysql) {
        match MySql::start_with(Durability::Durable, &options)? {
            Some(server) => runtime.block_on(on("MySQL", server.deref(), arguments))?,
            None => println!("skipped: no MySQL (bash tests/install.sh mysql)"),
        }
    }
    Ok(())
}

/// The kinds and views of the file, and one more view: `tfjob_info`, which is `job_info` of one kind.
fn declared() -> Result<(Vec<Kind>, &'static [View])> {
    let mut text = std::fs::read_to_string(format!("{FOLDER}/kinds.yaml"))?;
    let begin = text.find("- name: job_info\n").context("the view job_info")?;
    let end = text[begin + 1..].find("\n- name: ").map_or(text.len(), |end| begin + 1 + end);
    let view = text[begin..end].replacen("name: job_info", "name: tfjob_info", 1);
    let list = view.find("  kinds: ").context("its kinds")?;
    let line = view[list..].find('\n').context("a line")?;
    let view = format!("{}  kinds: [TFJob]{}", &view[..list], &view[list + line..]);
    // The first view defines the anchors.
    let mut parts = view.split('&');
    let first = parts.next().unwrap_or_default().to_owned();
    let view = parts.fold(first, |view, part| {
        view + part.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start_matches(' '))
    });
    text.push_str(&format!("{}{view}\n", if text.ends_with('\n') { "" } else { "\n" }));
    let file = declare::kinds("kinds.yaml", &text, &|_| Err(std::io::ErrorKind::NotFound.into()))?;
    Ok((file.kinds, file.views))
}

/// Job number `number`, and whether it was deleted.
fn job(dice: &mut Dice, kind: &Kind, spec: &Value, number: usize) -> Result<(Object, Option<Micros>)> {
    const DAY: i64 = 86_400;
    // 180 days from the beginning of 2026 on.
    let created = 1_767_225_600 + dice.below(180 * DAY as u64) as i64;
    let at = |seconds: i64| {
        let sql = Micros(seconds * 1_000_000).sql();
        format!("{}T{}Z", &sql[..10], &sql[11..19])
    };
    let condition = |ty: &str, after: i64| json!({"type": ty, "status": "True", "lastTransitionTime": at(created + after), "lastUpdateTime": at(created + after), "reason": format!("Job{ty}"), "message": format!("Job {number} is {ty}.")});
    let types: &[&str] = match dice.below(100) {
        0..70 => &["Created", "Running", "Succeeded"],
        70..90 => &["Created", "Running", "Failed"],
        90..95 => &["Created", "Running"],
        95..97 => &[],
        97..99 => &["Created", "Queuing"],
        _ => &["Created", "Restarting"],
    };
    let conditions: Vec<Value> = types.iter().zip([0, 60, 7200]).map(|(ty, after)| condition(ty, after)).collect();
    let owner = if dice.below(10) == 0 { String::new() } else { format!("user-{}", dice.below(400)) };
    let tenancy = json!({"tenant": format!("tenant-{}", dice.below(20)), "user": owner, "idc": "one", "region": format!("region-{}", dice.below(3))});
    let mut object = json!({
        "apiVersion": format!("{}/{}", kind.group(), kind.version()),
        "kind": kind.kind(),
        "metadata": {
            "name": format!("job-{number}"),
            "namespace": format!("team-{}", dice.below(100)),
            "uid": format!("{:08x}-{:04x}-4000-8000-{number:012x}", dice.below(1 << 32), dice.below(1 << 16)),
            "resourceVersion": (number + 1).to_string(),
            "creationTimestamp": at(created),
            "annotations": {"kubedl.io/tenancy": tenancy.to_string()},
        },
        "spec": spec,
        "status": {"conditions": conditions},
    });
    if types.len() == 3 {
        object["status"]["completionTime"] = json!(at(created + 7200));
    }
    let deleted = (dice.below(10) < 6).then_some(Micros((created + DAY) * 1_000_000));
    Ok((Object::parse(object.to_string(), ManagedFields::Prune)?, deleted))
}

/// Writes the jobs by the store's own path.
async fn fill(store: &Store, kinds: &[Kind], jobs: usize) -> Result<()> {
    let mut dice = Dice::new(9);
    let mut number = 0;
    for (name, share) in KINDS {
        let kind = kinds.iter().find(|kind| kind.kind() == name).context("a kind of the file")?;
        // Some kinds have no objects in the folder.
        let file = [name.to_lowercase(), "tfjob".to_owned()].map(|name| format!("{FOLDER}/objects/{name}.yaml"));
        let text = std::fs::read_to_string(&file[0]).or_else(|_| std::fs::read_to_string(&file[1]))?;
        let first = documents(text.as_bytes()).next().context("an object")??.content?;
        let spec = serde_json::from_str::<Value>(&first)?["spec"].clone();
        let mut changes = Vec::new();
        let end = number + jobs * share / 100;
        while number < end {
            let (object, deleted) = job(&mut dice, kind, &spec, number)?;
            let mut row = kind.row(&object)?.context("a kind without a filter")?;
            row.delete_time = deleted;
            changes.push(RowChange::Row(row));
            number += 1;
            if changes.len() == 512 || number == end {
                store.write(kind.table(), std::mem::take(&mut changes)).await?;
            }
        }
    }
    Ok(())
}

/// One table with the rows of `job_info`: as KubeDL makes it.
const HAD: &str = "CREATE TABLE had (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(128), namespace VARCHAR(128), job_id VARCHAR(64),
  version VARCHAR(32), status VARCHAR(32), kind VARCHAR(32), deploy_region VARCHAR(64), tenant VARCHAR(255), owner VARCHAR(255),
  deleted TINYINT, is_in_etcd TINYINT, remark TEXT, gmt_created DATETIME, gmt_modified DATETIME, gmt_job_running DATETIME,
  gmt_job_finished DATETIME, resources TEXT) CHARACTER SET utf8mb4";

const COLUMNS: &str = "name, namespace, job_id, version, status, kind, deploy_region, tenant, owner, deleted, is_in_etcd, remark, \
                       gmt_created, gmt_modified, gmt_job_running, gmt_job_finished, resources";

/// The keys that suit these queries.
const KEYED: &str =
    "ALTER TABLE keyed ADD KEY (job_id), ADD KEY (gmt_created), ADD KEY (status, gmt_created), ADD KEY (owner)";

/// A query: `{from}` is the table or view.
struct Question {
    name: &'static str,
    sql: String,
    /// The query asks for a page. A union of each kind's page answers it, too.
    page: bool,
}

fn questions(job: &[String; 3]) -> Vec<Question> {
    let [name, namespace, id] = job;
    let quarter = "gmt_created<'2026-05-01' AND gmt_created>'2026-02-01'";
    let week = "gmt_created<'2026-03-08' AND gmt_created>'2026-03-01'";
    let one = |more: &str| {
        format!(
            "SELECT * FROM {{from}} WHERE name='{name}' AND namespace='{namespace}' AND job_id='{id}'{more} ORDER BY id LIMIT 1"
        )
    };
    let count = |among: &str| format!("SELECT count(*) FROM {{from}} WHERE {among}");
    let page = |among: &str, offset: u32| {
        format!("SELECT * FROM {{from}} WHERE {among} ORDER BY gmt_created DESC LIMIT 10 OFFSET {offset}")
    };
    let owners = "SELECT CASE owner WHEN '' THEN 'Anonymous' ELSE owner END AS who, count(*) FROM {from} GROUP BY who";
    let ask = |name, sql, page| Question { name, sql, page };
    vec![
        ask("one job", one(""), false),
        ask("one job, its kind", one(" AND kind='TFJob'"), false),
        ask("a week: count", count(week), false),
        ask("a week: first page", page(week, 0), true),
        ask("a week: Running", page(&format!("{week} AND status='Running'"), 0), true),
        ask("a quarter: count", count(quarter), false),
        ask("a quarter: first page", page(quarter, 0), true),
        ask("a quarter: page 101", page(quarter, 1000), true),
        ask("a quarter: Running", page(&format!("{quarter} AND status='Running'"), 0), true),
        ask("a quarter: Stopped", page(&format!("{quarter} AND status='Stopped'"), 0), true),
        ask("a quarter: not deleted", page(&format!("{quarter} AND deleted=0"), 0), true),
        ask("a quarter: name LIKE", page(&format!("{quarter} AND name LIKE '%4711%'"), 0), true),
        ask("a quarter: namespace LIKE", page(&format!("{quarter} AND namespace LIKE '%m-42%'"), 0), true),
        ask("a quarter: region", page(&format!("{quarter} AND deploy_region='region-1'"), 0), true),
        ask("a quarter: one id", page(&format!("{quarter} AND job_id='{id}'"), 0), true),
        ask("jobs by owner", owners.to_owned(), false),
    ]
}

async fn on(name: &str, server: &SqlServer, arguments: &KubeDl) -> Result<()> {
    let url = crate::databases::url(server, "kubedl").await?;
    let store = Store::connect(&url.parse()?, ConnectOptions::default()).await?;
    let (kinds, views) = declared()?;
    store.create_missing(Registry { kinds: &kinds, views }).await?;
    fill(&store, &kinds, arguments.jobs).await?;
    store.close().await;
    let mut connection = MySqlConnection::connect(&url).await?;
    let copied = format!("INSERT INTO had ({COLUMNS}) SELECT {COLUMNS} FROM job_info ORDER BY gmt_created");
    let tables = kinds.iter().map(|kind| kind.table().name.to_string()).collect::<Vec<_>>().join(", ");
    for sql in [
        HAD.to_owned(),
        copied,
        "CREATE TABLE keyed LIKE had".to_owned(),
        KEYED.to_owned(),
        "INSERT INTO keyed SELECT * FROM had".to_owned(),
        format!("ANALYZE TABLE had, keyed, {tables}"),
    ] {
        read_rows(&mut connection, &sql).await?;
    }
    let some = "SELECT name, namespace, job_id FROM had WHERE kind = 'TFJob' LIMIT 1 OFFSET 9999";
    let some = read_rows(&mut connection, some).await?.into_iter().next().context("a job")?;
    let some: Vec<String> = some.into_iter().flatten().collect();
    let some: [String; 3] = some.try_into().ok().context("three cells")?;
    println!("\n{name}, {} jobs: ms at the median over the table that KubeDL has, and ratios to it", arguments.jobs);
    let parts = parts(&mut connection).await?;
    for question in questions(&some) {
        let of = |from: &str| question.sql.replace("{from}", from);
        let mut asked = vec![("had", of("had")), ("with keys", of("keyed")), ("view", of("job_info"))];
        if question.page {
            asked.push(("union of pages", union_of_pages(&question.sql, &parts)));
        }
        asked.push(("one kind", of("tfjob_info")));
        compare(name, &mut connection, &question, &asked, arguments.rounds).await?;
    }
    connection.close().await?;
    Ok(())
}

/// Returns the SELECT of the view for each table: the server's definition, cut apart.
async fn parts(connection: &mut MySqlConnection) -> Result<Vec<String>> {
    let sql = "SELECT view_definition FROM information_schema.views WHERE table_schema = DATABASE() AND table_name = 'job_info'";
    let text =
        read_rows(connection, sql).await?.into_iter().flatten().flatten().next().context("the view's definition")?;
    Ok(text.split(" union all ").map(|part| format!("({part})")).collect())
}

/// The newest rows of all kinds: of each kind as many as the page and those before it have, and of these the page.
fn union_of_pages(sql: &str, parts: &[String]) -> String {
    let (head, offset) = sql.rsplit_once(" LIMIT 10 OFFSET ").unwrap_or((sql, "0"));
    let most = offset.parse::<u32>().unwrap_or_default() + 10;
    let of = |part: &String| format!("({} LIMIT {most})", head.replace("{from}", &format!("{part} AS part")));
    let parts: Vec<String> = parts.iter().map(of).collect();
    format!("{} ORDER BY gmt_created DESC LIMIT 10 OFFSET {offset}", parts.join(" UNION ALL "))
}

/// Measures the ways to ask a question, and prints what each costs.
async fn compare(
    server: &str,
    connection: &mut MySqlConnection,
    question: &Question,
    asked: &[(&'static str, String)],
    rounds: usize,
) -> Result<()> {
    let mut plans = Vec::new();
    let mut found = Vec::new();
    for (_, sql) in asked {
        found.push(read_rows(connection, sql).await?.len());
        plans.push(plan(server, connection, sql).await?);
    }
    // Those over all kinds find the same; the order of rows of one second is undefined.
    anyhow::ensure!(
        found[..asked.len() - 1].iter().all(|count| *count == found[0]),
        "{}: {found:?} rows",
        question.name
    );
    let shared = tokio::sync::Mutex::new(connection);
    let handle = tokio::runtime::Handle::current();
    let run = |sql: &str| {
        let read = async {
            let mut connection = shared.lock().await;
            read_rows(&mut connection, sql).await
        };
        let read = tokio::task::block_in_place(|| handle.block_on(read));
        assert!(read.is_ok(), "{read:?}");
    };
    let candidates = asked.iter().map(|(name, sql)| Candidate { name, run: Box::new(|| run(sql)) }).collect();
    println!("{}", question.name);
    for (took, plan) in measure(candidates, rounds).iter().zip(plans) {
        println!(
            "  {:15} {:9.2} ms {:8.2}x ({:.2} to {:.2})  {plan}",
            took.name,
            took.median.as_secs_f64() * 1000.0,
            took.ratio,
            took.spread.0,
            took.spread.1
        );
    }
    Ok(())
}

/// The server's plan, and the rows that it reads and writes for it.
async fn plan(server: &str, connection: &mut MySqlConnection, sql: &str) -> Result<String> {
    let explain = if server == "MySQL" { "EXPLAIN FORMAT=TRADITIONAL" } else { "EXPLAIN" };
    let mut accesses: BTreeMap<String, usize> = BTreeMap::new();
    let mut extras = Vec::new();
    let explained = connection.fetch_all(sqlx::raw_sql(AssertSqlSafe(format!("{explain} {sql}")))).await?;
    for row in &explained {
        let text = |column: &str| row.try_get_unchecked::<Option<String>, _>(column).ok().flatten();
        let table = text("table").unwrap_or_default();
        let access = text("type").unwrap_or_else(|| "-".to_owned());
        let made = table.starts_with('<');
        *accesses.entry(if made { format!("{access} of what was made") } else { access }).or_default() += 1;
        let extra = text("Extra").unwrap_or_default();
        for (part, short) in [("Using temporary", "temporary"), ("Using filesort", "filesort")] {
            if extra.contains(part) && !extras.contains(&short) {
                extras.push(short);
            }
        }
        let select = text("select_type").unwrap_or_default();
        if select == "DERIVED" && !extras.contains(&"derived") {
            extras.push("derived");
        }
    }
    read_rows(connection, "FLUSH STATUS").await?;
    read_rows(connection, sql).await?;
    let mut read = 0_u64;
    let mut written = 0_u64;
    for row in read_rows(connection, "SHOW SESSION STATUS LIKE 'Handler%'").await? {
        let [Some(name), Some(count)] = row.as_slice() else { continue };
        let count: u64 = count.parse()?;
        if name.starts_with("Handler_read") {
            read += count;
        } else if name.contains("tmp_write") || name == "Handler_write" {
            written += count;
        }
    }
    let accesses: Vec<String> = accesses.iter().map(|(access, count)| format!("{count} {access}")).collect();
    Ok(format!("read {read}, made {written}; {}; {}", accesses.join(", "), extras.join(", ")))
}

/// Every cell as text.
async fn read_rows(connection: &mut MySqlConnection, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
    let found =
        connection.fetch_all(sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))).await.with_context(|| sql.to_owned())?;
    let texts = |row: &sqlx::mysql::MySqlRow| {
        (0..row.len()).map(|place| row.try_get_unchecked::<Option<String>, _>(place)).collect::<Result<_, _>>()
    };
    Ok(found.iter().map(texts).collect::<Result<_, sqlx::Error>>()?)
}
