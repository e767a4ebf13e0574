//! The queries of KubeDL's console and backends, word for word, over the views of `examples/kubedl/kinds.yaml`.

use anyhow::{Result, ensure};
use ingester_tests::databases::{Database, On};
use ingester_tests::on_databases;
use std::process::Command;

// KubeDL supports only MySQL, so its statements are for MySQL.
on_databases! { (a_job_is_found_by_name_namespace_and_id) [sqlite Sqlite] [mariadb MariaDb] [mysql MySql] }
on_databases! { (jobs_are_found_by_every_filter_counted_and_paged) [sqlite Sqlite] [mariadb MariaDb] [mysql MySql] }
on_databases! { (jobs_are_counted_by_owner) [sqlite Sqlite] [mariadb MariaDb] [mysql MySql] }
// SQLite has no such functions.
on_databases! { (pods_of_a_job_come_by_type_and_number) [mariadb MariaDb] [mysql MySql] }

const KINDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/kubedl/kinds.yaml");

/// A job: its uid, kind, namespace, name, its time of creation, the types of its conditions, and its tenancy.
type Job =
    (&'static str, &'static str, &'static str, &'static str, &'static str, &'static [&'static str], &'static str);

const ALICE: &str = r#"{"tenant":"a","user":"alice","idc":"one","region":"eu"}"#;
const BOB: &str = r#"{"tenant":"b","user":"bob","region":"us"}"#;
const NO_REGION: &str = r#"{"tenant":"b","user":"bob","region":""}"#;

const JOBS: [Job; 10] = [
    ("01", "TFJob", "vision", "mnist", "2026-07-01T08:00:00Z", &["Created", "Running", "Succeeded"], ALICE),
    ("02", "TFJob", "vision", "mnist-large", "2026-07-01T09:00:00Z", &["Created", "Running"], ALICE),
    ("03", "PyTorchJob", "nlp", "bert", "2026-07-02T00:00:00Z", &["Running", "Failed"], BOB),
    ("04", "MPIJob", "nlp", "horovod", "2026-07-02T01:00:00Z", &[], ""),
    ("05", "MarsJob", "etl", "nightly", "2026-07-03T00:00:00Z", &["Created", "Running"], ALICE),
    ("06", "XGBoostJob", "etl", "mnist", "2026-07-03T01:00:00Z", &["Running", "Succeeded"], NO_REGION),
    ("07", "XDLJob", "vision-ads", "ctr", "2026-07-04T00:00:00Z", &["Created", "Restarting"], BOB),
    ("08", "ElasticBatchJob", "vision-ads", "score", "2026-07-04T01:00:00Z", &["Created", "Queuing"], "no JSON"),
    ("09", "ElasticDLJob", "vision", "mnist", "2026-07-05T00:00:00Z", &["Created", "Running"], ""),
    // The name of the first one, taken again.
    ("10", "TFJob", "vision", "mnist", "2026-07-06T00:00:00Z", &["Created", "Running"], ALICE),
];

/// Those that were deleted, and when.
const DELETED: [(&str, &str, &str); 4] = [
    ("01", "kubedl_tfjob", "2026-07-05 23:00:00.000000"),
    ("05", "kubedl_marsjob", "2026-07-03 02:00:00.000000"),
    ("06", "kubedl_xgboostjob", "2026-07-03 03:00:00.000000"),
    ("07", "kubedl_xdljob", "2026-07-04 04:00:00.000000"),
];

/// A job as in the cluster.
fn object(job: &Job) -> String {
    let (uid, kind, namespace, name, created, conditions, tenancy) = job;
    let group = if *kind == "ElasticBatchJob" { "inference" } else { "training" };
    let mut text = format!(
        "apiVersion: {group}.kubedl.io/v1alpha1\nkind: {kind}\nmetadata:\n  name: {name}\n  namespace: {namespace}\n  uid: \"{uid}\"\n  \
         resourceVersion: \"7{uid}\"\n  creationTimestamp: \"{created}\"\n"
    );
    if !tenancy.is_empty() {
        text.push_str(&format!("  annotations: {{kubedl.io/tenancy: '{tenancy}'}}\n"));
    }
    text.push_str("status:\n  conditions:\n");
    for condition in *conditions {
        text.push_str(&format!("  - {{type: {condition}, status: \"True\", lastTransitionTime: \"{created}\"}}\n"));
    }
    text
}

/// Imports the jobs, and deletes some.
async fn fill(database: &Database) -> Result<()> {
    import(database, &JOBS.iter().map(object).collect::<Vec<_>>())?;
    for (uid, table, at) in DELETED {
        database.sql(&format!("UPDATE {table} SET delete_time = '{at}' WHERE uid = '{uid}'")).await?;
    }
    Ok(())
}

fn import(database: &Database, objects: &[String]) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("objects.yaml");
    std::fs::write(&file, objects.join("---\n"))?;
    let output = Command::new(env!("CARGO_BIN_EXE_ingester"))
        .args(["import", "--kinds", KINDS, "--database-url", &database.url])
        .arg(&file)
        .env_remove("RUST_LOG")
        .output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// The first column of each row.
async fn ids(database: &Database, sql: &str) -> Result<Vec<String>> {
    Ok(database.sql(sql).await?.into_iter().map(|row| row[0].clone().unwrap_or_default()).collect())
}

async fn a_job_is_found_by_name_namespace_and_id(database: Database) -> Result<()> {
    fill(&database).await?;
    for (namespace, name, id, more, found) in [
        ("vision", "mnist", "01", "", &["01"][..]),
        ("vision", "mnist", "10", "", &["10"]),
        ("vision", "mnist", "09", " AND kind='ElasticDLJob'", &["09"]),
        ("vision", "mnist", "09", " AND kind='TFJob'", &[]),
        ("vision", "mnist", "01", " AND deploy_region='eu'", &["01"]),
        ("vision", "mnist", "01", " AND kind='TFJob' AND deploy_region='eu'", &["01"]),
        ("vision", "mnist", "01", " AND deploy_region='us'", &[]),
        ("vision", "mnist", "09", " AND deploy_region='eu'", &[]),
        ("vision", "mnist", "02", "", &[]),
        ("etl", "mnist", "01", "", &[]),
        ("etl", "mnist", "06", "", &["06"]),
    ] {
        let sql = format!(
            "SELECT * FROM job_info WHERE name='{name}' AND namespace='{namespace}' AND job_id='{id}'{more} ORDER BY id LIMIT 1"
        );
        assert_eq!(ids(&database, &sql).await?, found, "{sql}");
    }
    Ok(())
}

/// Filters, and the jobs that pass, newest first.
const LISTS: [(&str, &[&str]); 26] = [
    ("", &["10", "09", "08", "07", "06", "05", "04", "03", "02", "01"]),
    (" AND deleted=0", &["10", "09", "08", "04", "03", "02"]),
    (" AND deleted=1", &["07", "06", "05", "01"]),
    (" AND status='Running'", &["10", "09", "02"]),
    (" AND status='Created'", &["04"]),
    (" AND status='Queuing'", &["08"]),
    (" AND status='Succeeded'", &["06", "01"]),
    (" AND status='Failed'", &["03"]),
    // Jobs that ran when they were deleted.
    (" AND status='Stopped'", &["07", "05"]),
    (" AND status='Restarting'", &[]),
    (" AND name LIKE '%mnist%'", &["10", "09", "06", "02", "01"]),
    (" AND name LIKE '%large%'", &["02"]),
    (" AND namespace LIKE '%vision%'", &["10", "09", "08", "07", "02", "01"]),
    (" AND namespace LIKE '%ads%'", &["08", "07"]),
    (" AND job_id='06'", &["06"]),
    (" AND job_id='none'", &[]),
    (" AND deploy_region='eu'", &["10", "05", "02", "01"]),
    (" AND deploy_region='us'", &["07", "03"]),
    // An empty region counts as no region.
    (" AND deploy_region=''", &[]),
    (" AND deleted=0 AND status='Running'", &["10", "09", "02"]),
    (" AND deleted=1 AND status='Stopped'", &["07", "05"]),
    (" AND deleted=1 AND status='Running'", &[]),
    (" AND status='Running' AND name LIKE '%mnist%' AND namespace LIKE '%vision%'", &["10", "09", "02"]),
    (" AND status='Stopped' AND deploy_region='eu'", &["05"]),
    (" AND deleted=0 AND namespace LIKE '%nlp%' AND deploy_region='us'", &["03"]),
    (
        " AND deleted=1 AND status='Succeeded' AND name LIKE '%mnist%' AND namespace LIKE '%vision%' AND job_id='01' AND deploy_region='eu'",
        &["01"],
    ),
];

/// The jobs that were created between two times, and those of them that pass.
async fn listed(database: &Database, from: &str, to: &str, filters: &str, right: &[&str]) -> Result<()> {
    let among = format!("FROM job_info WHERE gmt_created<'{to}' AND gmt_created>'{from}'{filters}");
    assert_eq!(database.cell(&format!("SELECT count(*) {among}")).await?, Some(right.len().to_string()), "{among}");
    for size in [1, 3, 10] {
        let mut all = Vec::new();
        for page in 1..=right.len() / size + 1 {
            let offset = (page - 1) * size;
            let sql = format!("SELECT * {among} ORDER BY gmt_created DESC LIMIT {size} OFFSET {offset}");
            let found = ids(database, &sql).await?;
            assert_eq!(found.len(), size.min(right.len() - offset.min(right.len())), "{sql}");
            all.extend(found);
        }
        assert_eq!(all, right, "{among}, in pages of {size}");
    }
    Ok(())
}

async fn jobs_are_found_by_every_filter_counted_and_paged(database: Database) -> Result<()> {
    fill(&database).await?;
    for (filters, right) in LISTS {
        listed(&database, "2026-01-01 00:00:00", "2027-01-01 00:00:00", filters, right).await?;
    }
    // Both ends are exclusive.
    for (from, to, right) in [
        ("2026-07-02 00:00:00", "2026-07-03 00:00:00", &["04"][..]),
        ("2026-07-01 23:59:59", "2026-07-03 00:00:01", &["05", "04", "03"]),
        ("2026-07-06 00:00:01", "2027-01-01 00:00:00", &[]),
    ] {
        let (from, to) = match database.on {
            // It compares times as text.
            On::Sqlite => (format!("{from}.000000"), format!("{to}.000000")),
            _ => (from.to_owned(), to.to_owned()),
        };
        listed(&database, &from, &to, "", right).await?;
    }
    Ok(())
}

async fn jobs_are_counted_by_owner(database: Database) -> Result<()> {
    fill(&database).await?;
    let sql = "SELECT CASE owner WHEN '' THEN 'Anonymous' ELSE owner END AS who, count(*) FROM job_info GROUP BY who ORDER BY who";
    let rows = database.sql(sql).await?;
    let rows: Vec<String> =
        rows.into_iter().map(|row| row.into_iter().flatten().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(rows, ["Anonymous 3", "alice 4", "bob 3"]);
    Ok(())
}

/// Pods of two jobs: the job, the name, the type, and when they were created.
const PODS: [(&str, &str, &str, &str); 6] = [
    ("10", "mnist-worker-10", "worker", "08:01:00"),
    ("10", "mnist-worker-2", "worker", "08:02:00"),
    ("10", "mnist-ps-0", "ps", "08:03:00"),
    ("10", "mnist-worker-0", "worker", "08:04:00"),
    ("01", "mnist-worker-1", "worker", "08:05:00"),
    ("10", "mnist-ps-1", "ps", "08:06:00"),
];

async fn pods_of_a_job_come_by_type_and_number(database: Database) -> Result<()> {
    let pod = |(job, name, ty, created): &(&str, &str, &str, &str)| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\n  namespace: vision\n  uid: {job}-{name}\n  resourceVersion: \"1\"\n  \
             creationTimestamp: 2026-07-06T{created}Z\n  labels: {{group-name: training.kubedl.io, replica-type: {ty}}}\n  ownerReferences:\n  \
             - {{apiVersion: training.kubedl.io/v1alpha1, kind: TFJob, name: mnist, uid: \"{job}\", controller: true}}\n\
             spec: {{containers: [{{name: tensorflow, image: mnist}}]}}\nstatus: {{phase: Pending}}\n"
        )
    };
    import(&database, &PODS.iter().map(pod).collect::<Vec<_>>())?;
    let ordered = "ORDER BY replica_type, CAST(SUBSTRING_INDEX(name,'-',-1) AS SIGNED), gmt_created DESC";
    let of = |job: &str| format!("SELECT * FROM replica_info WHERE namespace='vision' AND job_id='{job}'");
    let names = ["ps-0", "ps-1", "worker-0", "worker-2", "worker-10"].map(|name| format!("10-mnist-{name}"));
    assert_eq!(ids(&database, &format!("{} {ordered}", of("10"))).await?, names);
    assert_eq!(ids(&database, &format!("{} {ordered}", of("01"))).await?, ["01-mnist-worker-1"]);
    for (job, name, found) in [("10", "mnist-worker-10", 1), ("01", "mnist-worker-10", 0)] {
        let sql = format!("{} AND name='{name}' {ordered}", of(job));
        assert_eq!(ids(&database, &sql).await?.len(), found, "{sql}");
    }
    Ok(())
}
