//! Writes to a database: our batches, without the log of changes and with a history, compared with the reference system's statements and
//! with a loop without semantics.
//!
//! All candidates write the same sort of rows, made beforehand, into their own tables in one server. They take turns
//! in each round, and each begins with empty tables, so that none waits for what another left in the server's memory.

use crate::databases::{self, DatabaseChoice};
use crate::objects::{self, Dice, relabelled, updated};
use crate::reference::{Engine, Handmade, Reference};
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use crd_specs::KINDS;
use ingester_core::Kind;
use ingester_core::kind::{Definition, find};
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::{Expected, Row};
use ingester_core::schema::{History, Table, base};
use ingester_core::value::{Micros, Value};
use ingester_store::{ConnectOptions, RowChange, Store, latest_of_each};
use sqlx::Connection as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Args)]
pub(crate) struct Databases {
    /// Which databases; all by default.
    #[arg(long, value_enum)]
    database: Vec<DatabaseChoice>,
    /// Objects that each candidate writes in each round, into empty tables.
    #[arg(long, default_value_t = 2000)]
    objects: usize,
    /// Rounds, after one that does not count.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// InnoDB's buffer pool, or PostgreSQL's shared buffers, such as `2G`; the server's default without it.
    #[arg(long)]
    pool: Option<String>,
    /// Connections of our batches and of the hand-written loop.
    #[arg(long, default_value_t = 2)]
    workers: usize,
    /// Writes rows without their protobuf, which is a third of their bytes.
    #[arg(long)]
    without_proto: bool,
    /// Leaves out the reference system's statements, which take most of the time.
    #[arg(long)]
    without_reference: bool,
}

/// The operations on every object, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Insert,
    Update,
    /// One label is removed, one is added, one changes.
    Relabel,
    Tombstone,
}

const PHASES: [Operation; 4] = [Operation::Insert, Operation::Update, Operation::Relabel, Operation::Tombstone];

/// The rows of one slice of objects, by phase.
pub(crate) type Rows = Arc<[Vec<Row>; 4]>;

/// Objects in a batch, as the controllers take them.
const BATCH: usize = 256;
/// Objects in a batch of the hand-written loop.
const HANDMADE: usize = 200;

pub(crate) fn run(arguments: &Databases) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let databases = ["ours", "reference_2", "reference_26", "handmade", "without_log", "with_history"];
    databases::on_each(&arguments.database, arguments.pool.as_deref(), databases, &runtime, |which, urls| {
        let name = which.title();
        match which {
            DatabaseChoice::Mariadb | DatabaseChoice::Mysql => {
                runtime.block_on(on::<sqlx::MySql>(name, urls, arguments))
            }
            DatabaseChoice::Postgres => runtime.block_on(on::<sqlx::Postgres>(name, urls, arguments)),
            DatabaseChoice::Sqlite => runtime.block_on(on::<sqlx::Sqlite>(name, urls, arguments)),
        }
    })
}

/// How many candidates there are: ours, the reference system with few and many workers, by hand, ours without the log of changes, and ours
/// with a history.
const CANDIDATES: usize = 6;

/// The speed of each candidate in a phase: objects a second, one number for each round.
#[derive(Default)]
struct Speeds(Vec<f64>);

impl Speeds {
    fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }

    /// The median of the rounds' ratios.
    fn over(&self, other: &Speeds) -> f64 {
        Speeds(self.0.iter().zip(&other.0).map(|(a, b)| a / b).collect()).median()
    }
}

async fn on<D: Engine>(name: &str, urls: [String; CANDIDATES], arguments: &Databases) -> Result<()> {
    let kind = find(KINDS, "michelangelo.api/v2", "PipelineRun").context("a kind of the manifest")?;
    let table = kind.table();
    let (kept, former) = with_history(kind);
    let [ours, two, many, handmade, without, history] = urls;
    let connections = arguments.workers as u32;
    let mut stores = Vec::new();
    let mut emptying = Vec::new();
    for url in [&ours, &two, &many, &handmade, &without, &history] {
        let store = Store::connect(&url.parse()?, ConnectOptions::default().connections(connections)).await?;
        store.create_missing(&[if *url == history { kept } else { *kind }]).await?;
        stores.push(store);
        emptying.push(D::Connection::connect(url).await?);
    }
    let server = stores[0].server().to_owned();
    let history = Arc::new(stores.remove(CANDIDATES - 1));
    let without = Arc::new(stores.remove(CANDIDATES - 2));
    without.switch_changes(false).await?;
    let store = Arc::new(stores.remove(0));
    let workers_of = |few: usize| if D::ONE_WRITER { 1 } else { few };
    let two = Reference::<D>::connect(&two, table, workers_of(2)).await?;
    let many = Reference::<D>::connect(&many, table, workers_of(26)).await?;
    let handmade = Handmade::<D>::connect(&handmade, table, workers_of(arguments.workers)).await?;

    let names = [
        "ours",
        "reference, 2 workers",
        "reference, 26 workers",
        "by hand",
        "ours without the log",
        "ours with a history",
    ];
    let mut speeds: [[Speeds; 4]; CANDIDATES] = Default::default();
    let mut dice = Dice::new(11);
    let mut deadlocks = 0;
    for round in 0..=arguments.rounds {
        for turn in 0..names.len() {
            let candidate = (turn + round) % names.len();
            if (D::ONE_WRITER && candidate == 2) || (arguments.without_reference && [1, 2].contains(&candidate)) {
                continue;
            }
            D::empty(&mut emptying[candidate], table).await?;
            D::simple(&mut emptying[candidate], "DELETE FROM ingester_changes").await?;
            if candidate == 5 {
                D::simple(&mut emptying[candidate], format!("{} {}", D::EMPTY, former.name).leak()).await?;
            }
            let workers = match candidate {
                1 => workers_of(2),
                2 => workers_of(26),
                _ => workers_of(arguments.workers),
            };
            let mut slices = slices(kind, &mut dice, arguments.objects, workers)?;
            if arguments.without_proto {
                slices.iter_mut().filter_map(Arc::get_mut).flatten().flatten().for_each(forget_proto);
            }
            for (place, phase) in PHASES.into_iter().enumerate() {
                let batches = if [0, 4, 5].contains(&candidate) { batches(&slices, phase) } else { Vec::new() };
                let start = Instant::now();
                let mut written = Vec::new();
                match candidate {
                    0 => written = write(&store, table, batches).await?,
                    1 => deadlocks += two.write(&slices, phase).await?,
                    2 => deadlocks += many.write(&slices, phase).await?,
                    4 => written = write(&without, table, batches).await?,
                    5 => written = write(&history, kept.table(), batches).await?,
                    _ => handmade.write(&slices, phase, HANDMADE).await?,
                }
                if round > 0 {
                    speeds[candidate][place].0.push(arguments.objects as f64 / start.elapsed().as_secs_f64());
                }
                drop(written);
            }
        }
    }
    title(name, &server, workers_of(arguments.workers), arguments);
    compare(names, &speeds);
    if deadlocks > 0 {
        println!("  {deadlocks} deadlocks seen by the reference pattern's workers, none by ours");
    }
    print_size::<D>(&mut emptying[5], kept.table(), former, arguments.objects).await?;
    one::<D>(name, kind, [&store, &without], &handmade, &mut dice).await
}

/// Prints what the figures are of.
fn title(name: &str, server: &str, workers: usize, arguments: &Databases) {
    println!(
        "{name} ({server}), pool {}, {workers} connections, {} rounds of {} objects{}",
        arguments.pool.as_deref().unwrap_or("default"),
        arguments.rounds,
        arguments.objects,
        if arguments.without_proto { " without protobuf" } else { "" }
    );
}

/// Prints the speed of each candidate in each phase, and how ours compares to it.
fn compare(names: [&str; CANDIDATES], speeds: &[[Speeds; 4]; CANDIDATES]) {
    println!("  {:<24} {:>9} {:>9} {:>9} {:>9}   objects/s", "", "insert", "update", "relabel", "tombstone");
    for (candidate, name) in names.iter().enumerate() {
        if speeds[candidate][0].0.is_empty() {
            continue;
        }
        let [a, b, c, d] = speeds[candidate].each_ref().map(Speeds::median);
        println!("  {name:<24} {a:>9.0} {b:>9.0} {c:>9.0} {d:>9.0}");
    }
    for other in 1..CANDIDATES {
        if speeds[other][0].0.is_empty() {
            continue;
        }
        let [a, b, c, d] = [0, 1, 2, 3].map(|phase| speeds[0][phase].over(&speeds[other][phase]));
        println!("  {:<24} {a:>8.2}x {b:>8.2}x {c:>8.2}x {d:>8.2}x", format!("ours / {}", names[other]));
    }
    let [a, b, c, d] = [0, 1, 2, 3].map(|phase| speeds[4][phase].over(&speeds[3][phase]));
    println!("  {:<24} {a:>8.2}x {b:>8.2}x {c:>8.2}x {d:>8.2}x", "without the log / by hand");
}

/// The same kind with a history, and the table of that.
fn with_history(kind: &Kind) -> (Kind, &'static Table) {
    let table = kind.table();
    let columns: Vec<_> = (0..table.former_column_count()).map(|place| table.former_column(place)).collect();
    let keys: Vec<_> = (0..table.former_key_count()).map(|place| table.former_key(place)).collect();
    let former: &Table = Box::leak(Box::new(table.former(columns.leak(), keys.leak())));
    let table = table.with_history(History { keep: None, versions: None, table: former });
    let definition = Definition { table: Box::leak(Box::new(table)), ..*kind.definition() };
    (Kind::new(definition, *kind.functions()), former)
}

/// Prints how many bytes on disk a former version has, and how many a row of the main table: text, protobuf, columns and keys. Each object
/// has three former versions by now.
async fn print_size<D: Engine>(
    connection: &mut D::Connection,
    table: &Table,
    former: &Table,
    objects: usize,
) -> Result<()> {
    let Some(sql) = D::SIZE else { return Ok(()) };
    let mut bytes = Vec::new();
    for name in [table.name, former.name] {
        D::simple(connection, format!("{} {name}", D::ANALYZE).leak()).await?;
        bytes.push(D::fetch_text(connection, sql.to_owned(), name.as_str()).await?.parse::<f64>()?);
    }
    let row = bytes[0] / objects as f64;
    let version = bytes[1] / (3 * objects) as f64;
    println!("  on disk: {version:.0} bytes a former version, {row:.0} bytes a row ({:.2}x)", version / row);
    Ok(())
}

fn forget_proto(row: &mut Row) {
    row.values[base::PROTO] = Value::Null;
}

/// The rows of new objects, cut into as many slices as there are workers.
pub(crate) fn slices(kind: &Kind, dice: &mut Dice, objects: usize, workers: usize) -> Result<Vec<Rows>> {
    let objects = objects::values(dice, kind.kind(), objects);
    let row = |object: &serde_json::Value| -> Result<Row> {
        let object = Object::parse(object.to_string(), ManagedFields::Prune)?;
        kind.row(&object)?.context("a kind without a predicate")
    };
    let mut rows = Vec::new();
    for object in objects {
        let update = updated(dice, &object);
        let relabel = relabelled(dice, &update);
        let mut gone = row(&relabel)?;
        gone.delete_time = Some(Micros::now());
        let mut phases = [row(&object)?, row(&update)?, row(&relabel)?, gone];
        // A controller knows what it wrote itself.
        phases[0].expected = Some(Expected::Absent);
        for place in 1..phases.len() {
            let before = phases[place - 1].res_version;
            let companions = phases[place - 1].companions_hash();
            phases[place].expected = Some(Expected::Stored { res_version: before, companions });
        }
        rows.push(phases);
    }
    rows.sort_by(|a, b| a[0].uid.cmp(&b[0].uid));
    let each = rows.len().div_ceil(workers);
    let mut slices = Vec::new();
    let mut rows = rows.into_iter().peekable();
    while rows.peek().is_some() {
        let mut slice: [Vec<Row>; 4] = Default::default();
        for row in rows.by_ref().take(each) {
            for (phase, row) in slice.iter_mut().zip(row) {
                phase.push(row);
            }
        }
        slices.push(Arc::new(slice));
    }
    Ok(slices)
}

/// The batches of each worker. They own their rows, as in a controller: copying is not part of writing.
fn batches(slices: &[Rows], phase: Operation) -> Vec<Vec<Vec<RowChange>>> {
    let change = |row: &Row| match (phase, row.delete_time) {
        // Only the mark, like the other candidates.
        (Operation::Tombstone, Some(delete_time)) => {
            RowChange::Tombstone { uid: row.uid.clone(), res_version: row.res_version, delete_time }
        }
        _ => RowChange::Row(row.clone()),
    };
    let changes = |rows: &[Row]| rows.iter().map(change).collect();
    slices.iter().map(|slice| slice[phase as usize].chunks(BATCH).map(changes).collect()).collect()
}

/// Our batches. Returns them, so that they are freed when the time is taken, as the rows of the other candidates.
async fn write(
    store: &Arc<Store>,
    table: &'static Table,
    workers: Vec<Vec<Vec<RowChange>>>,
) -> Result<Vec<Vec<RowChange>>> {
    let mut tasks = tokio::task::JoinSet::new();
    for batches in workers {
        let store = store.clone();
        tasks.spawn(async move {
            let mut written = Vec::with_capacity(batches.len());
            for batch in batches {
                let batch = latest_of_each(batch);
                let report = store.write_latest(table, &batch).await?;
                ensure!(report.written == batch.len(), "{report:?}");
                written.push(batch);
            }
            Ok(written)
        });
    }
    let mut written = Vec::new();
    while let Some(task) = tasks.join_next().await {
        written.extend(task??);
    }
    Ok(written)
}

/// How long one object takes on an idle server, with the log of changes and without it, compared with one insert of its main row alone.
async fn one<D: Engine>(
    name: &str,
    kind: &Kind,
    stores: [&Store; 2],
    handmade: &Handmade<D>,
    dice: &mut Dice,
) -> Result<()> {
    const TIMES: usize = 200;
    let slices = slices(kind, dice, 2 * TIMES, 1)?;
    let [new, update, ..] = &*slices[0];
    let mut inserts = [Vec::new(), Vec::new()];
    let mut updates = [Vec::new(), Vec::new()];
    let mut baseline = Vec::new();
    for place in 0..TIMES {
        // In turns, so that a slow moment of the disk affects all of them.
        for (store, inserts) in stores.iter().zip(&mut inserts) {
            let start = Instant::now();
            store.write(kind.table(), vec![RowChange::Row(new[place].clone())]).await?;
            inserts.push(start.elapsed());
        }
        let start = Instant::now();
        handmade.insert_one(&new[TIMES + place]).await?;
        baseline.push(start.elapsed());
        for (store, updates) in stores.iter().zip(&mut updates) {
            let start = Instant::now();
            store.write(kind.table(), vec![RowChange::Row(update[place].clone())]).await?;
            updates.push(start.elapsed());
        }
    }
    let median = |mut times: Vec<Duration>| {
        times.sort();
        times[times.len() / 2].as_secs_f64() * 1e3
    };
    let ([inserts, inserts_without], [updates, updates_without]) = (inserts.map(&median), updates.map(&median));
    let baseline = median(baseline);
    println!(
        "  {name}, one object: insert {inserts:.2} ms ({:.2}x of one autocommitted insert, {baseline:.2} ms), update {updates:.2} ms ({:.2}x)",
        inserts / baseline,
        updates / baseline
    );
    println!(
        "  {name}, one object, without the log: insert {inserts_without:.2} ms (with it {:.2}x), update {updates_without:.2} ms (with it {:.2}x)",
        inserts / inserts_without,
        updates / updates_without
    );
    Ok(())
}
