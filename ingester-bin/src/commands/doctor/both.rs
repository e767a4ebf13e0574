//! Checks that need both the cluster and the database.

use super::request::{ask, path};
use super::{CheckLines, CheckSubjects, api_server};
use crate::commands::{built_in, declared_failure, left_out, refuse_foreign, resource, risks, schema};
use crate::ending::Failure;
use crate::output::counted;
use http::Method;
use ingester_core::Kind;
use ingester_mirror::identity::{self, ClusterCheck, IdentityError};
use ingester_store::left_out::{FilterVerdict, LeftOutCount};
use ingester_store::migrate::{AllowedChanges, Drift, MigrationState, ReleasedSchema};
use ingester_store::{Store, StoreError};
use kube::Client;
use std::time::Duration;

const IDENTITY: &str = "identity";
const MIGRATIONS: &str = "migrations";
const TABLES: &str = "tables";
const DEFINITIONS: &str = "definitions";
const FILTERS: &str = "filters";
const LAG: &str = "lag";
const DURABILITY: &str = "durability";

/// The time limit for counting the rows of one kind: each row is read.
const COUNT: Duration = Duration::from_secs(30);

pub(super) async fn examine(
    wanted: &CheckSubjects<'_>,
    cluster: &api_server::ApiServerFindings,
    store: Option<&Store>,
) -> CheckLines {
    let mut lines = CheckLines::default();
    let Some(store) = store else {
        lines.skip(
            &[IDENTITY, MIGRATIONS, TABLES, DEFINITIONS, FILTERS, LAG, DURABILITY],
            "the database is not reached",
        );
        return lines;
    };
    belongs(wanted, cluster, store, &mut lines).await;
    let ready = tables(wanted, store, &mut lines).await;
    if !ready {
        lines.skip(&[DEFINITIONS, FILTERS, LAG, DURABILITY], "the tables are not complete");
        return lines;
    }
    definitions(wanted, store, &mut lines).await;
    filters(wanted, store, &mut lines).await;
    match &cluster.client {
        None => lines.skipped(LAG, "", "the API server does not answer"),
        Some(client) => {
            for kind in &cluster.served {
                lag(wanted, client, store, kind, &mut lines).await;
            }
        }
    }
    durability(wanted, store, &mut lines).await;
    lines
}

/// Checks that the database belongs to this cluster, and that its objects have the names of this program.
async fn belongs(
    wanted: &CheckSubjects<'_>,
    cluster: &api_server::ApiServerFindings,
    store: &Store,
    lines: &mut CheckLines,
) {
    match store.has_settings().await {
        Ok(true) => {}
        Ok(false) => return lines.ok(IDENTITY, "", "the database belongs to no cluster yet"),
        Err(error) => return lines.error(IDENTITY, "", error.to_string(), "see why the database does not answer"),
    }
    if let Err(error) = store.check_own().await {
        return lines.error(
            IDENTITY,
            "",
            error.to_string(),
            "rename the other program's table, or name another database",
        );
    }
    let Some(uid) = cluster.uid.clone() else {
        return lines.skipped(IDENTITY, "", "the cluster does not say which one it is");
    };
    match identity::examine(uid, store, wanted.program.marks).await {
        Ok(ClusterCheck::Own) => lines.ok(IDENTITY, "", "the database is this cluster's"),
        Ok(ClusterCheck::Unchecked(reason)) => lines.skipped(IDENTITY, "", reason),
        Err(error @ (IdentityError::Other { .. } | IdentityError::OtherPrefix { .. })) => lines.error(
            IDENTITY,
            "",
            error.to_string(),
            "`ingester run` refuses this database: name another one, or do what the message says if it is meant to be this one",
        ),
        Err(error) => lines.error(IDENTITY, "", error.to_string(), "see why it is not answered"),
    }
}

/// Checks that the tables exist and have the right definition.
async fn tables(wanted: &CheckSubjects<'_>, store: &Store, lines: &mut CheckLines) -> bool {
    let program = wanted.program;
    let released = match built_in(program) {
        Ok(released) => released,
        Err(Failure::Usage(error) | Failure::Work(error)) => {
            lines.error(MIGRATIONS, "", error.to_string(), "build the program again");
            return false;
        }
    };
    if let Err(error) = refuse_foreign(store, released.as_ref(), program).await {
        lines.error(TABLES, "", error.to_string(), "rename the other program's table, or name another database");
        lines.skipped(MIGRATIONS, "", "another program has a table of this name");
        return false;
    }
    let pending = migrations(wanted, store, released.as_ref(), lines).await;
    if let Err(error) = store.check_declared(program.declared).await
        && store.has_settings().await.is_ok_and(|has| has)
    {
        let (Failure::Usage(error) | Failure::Work(error)) = declared_failure(error, program);
        lines.error(TABLES, "", error.to_string(), "do what the message says");
        return false;
    }
    match differ(wanted, store, released.as_ref(), pending, lines).await {
        Ok(complete) => complete,
        Err(error) => {
            lines.error(TABLES, "", error.to_string(), "see why the database does not answer");
            false
        }
    }
}

/// Reports the remedy for pending migrations. Returns true if a migration was not completed.
async fn migrations(
    wanted: &CheckSubjects<'_>,
    store: &Store,
    released: Option<&ReleasedSchema>,
    lines: &mut CheckLines,
) -> bool {
    let creates = wanted.config.ingester.create_tables;
    let Some(released) = released else {
        lines.ok(MIGRATIONS, "", "this program has none");
        return false;
    };
    let all = match released.info(store).await {
        Ok(all) => all,
        Err(error) => {
            lines.error(MIGRATIONS, "", error.to_string(), "see why the migrations cannot be listed");
            return true;
        }
    };
    let before = lines.0.len();
    let named = |state: MigrationState| {
        let those = all.iter().filter(|migration| migration.state == state);
        those.map(|migration| format!("{:04}", migration.version)).collect::<Vec<_>>().join(", ")
    };
    for (state, says, remedy) in [
        (MigrationState::Pending, "not yet run", "run `ingester schema apply`"),
        (MigrationState::Interrupted, "interrupted", "run `ingester schema apply`, which continues it"),
    ] {
        let numbers = named(state);
        match (numbers.is_empty(), creates) {
            (true, _) => {}
            (false, true) => {
                let remedy = format!("`ingester run` does so at its start; or {remedy}");
                lines.warning(MIGRATIONS, "", format!("{says}: {numbers}"), remedy);
            }
            (false, false) => {
                lines.error(MIGRATIONS, "", format!("{says}: {numbers}; `ingester run` waits for it"), remedy)
            }
        }
    }
    let changed = named(MigrationState::Changed);
    let missing = named(MigrationState::Missing);
    if !changed.is_empty() {
        let message = format!("the database has run another text of {changed}");
        lines.error(MIGRATIONS, "", message, "take the file that was run from version control again");
    }
    if !missing.is_empty() {
        let message = format!("this program does not have: {missing}");
        lines.warning(MIGRATIONS, "", message, "the database is of a later release: use that one");
    }
    let pending = !named(MigrationState::Pending).is_empty() || !named(MigrationState::Interrupted).is_empty();
    if lines.0.len() == before {
        lines.ok(MIGRATIONS, "", format!("all {} were run", all.len()));
    }
    pending
}

/// Lists the differences of the tables. Returns true if everything exists that rows need.
async fn differ(
    wanted: &CheckSubjects<'_>,
    store: &Store,
    released: Option<&ReleasedSchema>,
    pending: bool,
    lines: &mut CheckLines,
) -> Result<bool, StoreError> {
    let program = wanted.program;
    let missing = store.lacking(&wanted.kinds).await?.all();
    if pending {
        lines.skipped(TABLES, "", "to be compared once the migrations were run");
        return Ok(missing.is_empty());
    }
    let (_, planned) = store.plan_declared(program.of_declared(), AllowedChanges::Add).await?;
    let to_make = !planned.made.is_empty() && wanted.config.ingester.create_tables;
    if to_make {
        let changes =
            counted(planned.made.len() as u64, "change of declared kinds is", "changes of declared kinds are");
        let message = format!("{changes} not yet made");
        lines.warning(
            TABLES,
            "",
            message,
            format!("`ingester run` makes them at its start; or run `ingester schema apply{}`", program.with_file()),
        );
    }
    let schema = released.map(|released| released.lock_file().tables.clone()).unwrap_or_default();
    let catalog = store.catalog().await?;
    let differences = schema::differences(&schema, program.of_declared(), &catalog, store.dialect());
    let is_clean = differences.is_empty();
    for difference in differences {
        let remedy = "the table was changed without a migration: revert this change; `ingester schema verify` shows the differences";
        match difference {
            Drift::ExtraColumn { .. } | Drift::ExtraKey { .. } | Drift::OtherKey { .. } | Drift::ChangedView { .. } => {
                lines.warning(TABLES, "", difference.to_string(), remedy);
            }
            Drift::MissingTable { .. } | Drift::MissingColumn { .. } | Drift::MissingKey { .. } if to_make => {}
            difference => lines.error(TABLES, "", difference.to_string(), remedy),
        }
    }
    if is_clean && missing.is_empty() {
        lines.ok(TABLES, "", "they are as released");
    } else if is_clean && !to_make {
        let missing = missing.join(", ");
        lines.error(TABLES, "", format!("the database lacks {missing}"), "run `ingester schema apply`");
    }
    Ok(missing.is_empty())
}

/// Checks for rows of older definitions.
async fn definitions(wanted: &CheckSubjects<'_>, store: &Store, lines: &mut CheckLines) {
    if let Err(error) = store.learn_declared(wanted.program.declared).await {
        let (Failure::Usage(error) | Failure::Work(error)) = declared_failure(error, wanted.program);
        return lines.error(DEFINITIONS, "", error.to_string(), "do what the message says");
    }
    for kind in &wanted.kinds {
        match tokio::time::timeout(COUNT, store.incomplete_backfills(std::slice::from_ref(kind), None)).await {
            Ok(Ok(left)) if left.is_empty() => {
                lines.ok(DEFINITIONS, &resource(kind), "all rows are of the definition of this program")
            }
            Ok(Ok(left)) => {
                let columns: Vec<String> =
                    left.iter().flat_map(|one| one.columns()).map(|name| name.to_string()).collect();
                lines.warning(
                    DEFINITIONS,
                    &resource(kind),
                    format!("rows of an older definition are not yet filled: {}", columns.join(", ")),
                    "`ingester run` fills them; `ingester backfill KIND` does so at once",
                );
            }
            Ok(Err(error)) => {
                lines.error(DEFINITIONS, &resource(kind), error.to_string(), "see why the database does not answer")
            }
            Err(_) => lines.skipped(DEFINITIONS, &resource(kind), late()),
        }
    }
}

/// Checks if the filters of kinds leave out live rows that another filter has written.
async fn filters(wanted: &CheckSubjects<'_>, store: &Store, lines: &mut CheckLines) {
    for kind in wanted.kinds.iter().filter(|kind| kind.filtered()) {
        let subject = resource(kind);
        match left_out::counted(store, kind, &wanted.config.ingester).await {
            Ok(Some(FilterVerdict::Marks(LeftOutCount { rows: 0, .. }))) => {
                lines.ok(FILTERS, &subject, "every live row passes")
            }
            Ok(Some(FilterVerdict::Marks(LeftOutCount { rows, live }))) => lines.warning(
                FILTERS,
                &subject,
                format!("the filter leaves out {rows} of {live} live rows: `ingester run` marks them as deleted"),
                "correct the filter if that is not meant",
            ),
            Ok(Some(FilterVerdict::Waits(found))) => {
                lines.warning(FILTERS, &subject, left_out::waiting(kind, found), left_out::REMEDY);
            }
            Ok(None) => lines.skipped(FILTERS, &subject, late()),
            Err(error) => lines.error(FILTERS, &subject, error.to_string(), "see why the database does not answer"),
        }
    }
}

fn late() -> String {
    format!("not found out within {} s", COUNT.as_secs())
}

/// Reports the number of objects, and of live rows.
async fn lag(wanted: &CheckSubjects<'_>, client: &Client, store: &Store, kind: &Kind, lines: &mut CheckLines) {
    let subject = resource(kind);
    if wanted.config.ingester.is_suspended(kind.name()) {
        return lines.skipped(LAG, &subject, "the kind is suspended");
    }
    if kind.filtered() {
        return lines.skipped(
            LAG,
            &subject,
            "the kind has a filter: the API server cannot count what it leaves in; `ingester audit` compares",
        );
    }
    let namespaces = wanted.namespaces(kind);
    let mut objects = 0;
    for namespace in &namespaces {
        match ask(client, Method::GET, &format!("{}?limit=1", path(kind, *namespace)), None).await {
            Ok((status, answer)) if status.is_success() => {
                let items = answer["items"].as_array().map_or(0, Vec::len) as u64;
                objects += items + answer["metadata"]["remainingItemCount"].as_u64().unwrap_or_default();
            }
            Ok((status, _)) => {
                return lines.skipped(LAG, &subject, format!("asked for its objects, the API server answers {status}"));
            }
            Err(why) => return lines.skipped(LAG, &subject, why),
        }
    }
    let rows: u64 = match tokio::time::timeout(COUNT, store.live_by_namespace(kind)).await {
        Ok(Ok(rows)) => {
            let is_meant = |namespace: &str| namespaces.contains(&None) || namespaces.contains(&Some(namespace));
            rows.iter().filter(|(namespace, _)| is_meant(namespace)).map(|(_, rows)| rows).sum()
        }
        Ok(Err(error)) => return lines.error(LAG, &subject, error.to_string(), "see why the database does not answer"),
        Err(_) => return lines.skipped(LAG, &subject, late()),
    };
    match objects == rows {
        true => lines.ok(LAG, &subject, "as many live rows as objects"),
        false => lines.warning(
            LAG,
            &subject,
            format!(
                "{} in the cluster, {}",
                counted(objects, "object", "objects"),
                counted(rows, "live row", "live rows")
            ),
            "a mirror that runs catches up within seconds; `ingester audit` names the objects, `ingester rejects` those that cannot be stored",
        ),
    }
}

/// Checks if commits may be lost that are the only copies of objects.
async fn durability(wanted: &CheckSubjects<'_>, store: &Store, lines: &mut CheckLines) {
    let found = store.risks();
    if found.is_empty() {
        return lines.ok(DURABILITY, "", "the server keeps what it has acknowledged, as far as it says");
    }
    let mut evicting = Vec::new();
    for kind in &wanted.kinds {
        match risks::evicts(store, kind).await {
            Ok(true) => evicting.push(kind.name()),
            Ok(false) => {}
            Err(error) => {
                let message = format!("it is unknown whether objects of {} are evicted: {error}", kind.name());
                return lines.warning(DURABILITY, "", message, "run this again once the database answers");
            }
        }
    }
    match risks::warning(&found, &evicting) {
        Some(message) => {
            lines.warning(DURABILITY, "", message, "change the setting, see \"Evicted objects\" in docs/databases.md")
        }
        None => {
            lines.ok(DURABILITY, "", format!("{}; nothing is evicted, so the cluster has everything", found.join("; ")))
        }
    }
}
