//! Checks that the database answers, and that it is suitable.

use super::{CheckLines, CheckSubjects};
use crate::database::Database;
use crate::ending::Failure;
use ingester_sql::ddl::Schema;
use ingester_sql::dialect::own_schema;
use ingester_store::{Finding, Retry, Store, Verdict};
use std::time::Duration;

const ANSWERS: &str = "database";
const SERVER: &str = "database-server";
const SETTINGS: &str = "database-settings";
const CLOCK: &str = "database-clock";
const SIZE: &str = "database-size";

/// An alert fires if the clocks differ by more seconds (`IngesterDatabaseClock`).
const APART: f64 = 120.0;

/// The result, for the checks that also need the cluster.
pub(super) struct DatabaseFindings {
    pub(super) lines: CheckLines,
    /// `None` if the database is not reached.
    pub(super) store: Option<Store>,
}

pub(super) async fn examine(wanted: &CheckSubjects<'_>) -> DatabaseFindings {
    let mut lines = CheckLines::default();
    let store = open(wanted, &mut lines).await;
    match &store {
        None => lines.skip(&[SERVER, SETTINGS, CLOCK, SIZE], "the database is not reached"),
        Some(store) => fit(wanted, store, &mut lines).await,
    }
    DatabaseFindings { lines, store }
}

async fn open(wanted: &CheckSubjects<'_>, lines: &mut CheckLines) -> Option<Store> {
    let database = match Database::from_config(wanted.config, wanted.file) {
        Ok(database) => database,
        Err(Failure::Usage(error) | Failure::Work(error)) => {
            lines.error(
                ANSWERS,
                "",
                error.to_string(),
                "name the database in the configuration; docs/configuration.md lists the keys",
            );
            return None;
        }
    };
    let address = database.address();
    let subject = address.to_string();
    if let Some(file) = address.missing_file() {
        lines.warning(
            ANSWERS,
            &subject,
            format!("{} is not there", file.display()),
            "`ingester run` and `ingester schema apply` make it",
        );
        return None;
    }
    let options = wanted.config.mysql.connect_options().create(false).connections(2);
    // A file stays unchanged. Of several servers, the one that accepts writes is used.
    let options = options.read_only(address.dialect().is_embedded());
    let options = options.retry(Retry::SHORT.attempts(Some(2)).election(Duration::ZERO));
    match Store::connect(address, options).await {
        Ok(store) => {
            let why = database.why().map(|why| format!(" ({why})")).unwrap_or_default();
            lines.ok(ANSWERS, &subject, format!("it answers{why}"));
            Some(store)
        }
        Err(error) => {
            let usual =
                "check address, user and password of the database in the configuration, and that its server runs";
            let remedy = error.remedy().unwrap_or(usual).to_owned();
            lines.error(ANSWERS, &subject, error.to_string(), remedy);
            None
        }
    }
}

async fn fit(wanted: &CheckSubjects<'_>, store: &Store, lines: &mut CheckLines) {
    lines.ok(SERVER, "", store.server());
    let tables = Schema::from_registry(&wanted.kinds).tables.into_iter().chain(own_schema(store.dialect()).tables);
    let tables = tables.map(|table| table.name.to_string()).collect();
    match examined(wanted, store, tables).await {
        Ok(found) => found.into_iter().for_each(|finding| add(finding, lines)),
        Err(why) => lines.skipped(SETTINGS, "", why),
    }
    if !store.dialect().is_embedded() {
        let apart = store.clock_offset();
        let message = match apart {
            apart if apart.abs() < 1.0 => "within a second of this machine's".to_owned(),
            apart if apart > 0.0 => format!("{apart:.0} s ahead of this machine's"),
            apart => format!("{:.0} s behind this machine's", -apart),
        };
        match apart.abs() > APART {
            true => lines.warning(
                CLOCK,
                "",
                message,
                "set both clocks, with NTP; the ingester goes by that of the database",
            ),
            false => lines.ok(CLOCK, "", message),
        }
    }
    match store.size().await {
        Ok(bytes) => lines.ok(SIZE, "", format!("{} MiB", bytes.div_ceil(1 << 20))),
        Err(error) => lines.skipped(SIZE, "", error.to_string()),
    }
}

/// Checks of settings and rights, as far as the tables exist.
async fn examined(wanted: &CheckSubjects<'_>, store: &Store, ours: Vec<String>) -> Result<Vec<Finding>, String> {
    let there = store.tables().await.map_err(|error| error.to_string())?;
    let tables = ours.into_iter().filter(|table| there.contains(table)).collect();
    store.examine(tables, wanted.config.ingester.create_tables).await.map_err(|error| error.to_string())
}

fn add(finding: Finding, lines: &mut CheckLines) {
    let Finding { check, verdict, message, remedy } = finding;
    match verdict {
        Verdict::Fine => lines.ok(check, "", message),
        Verdict::Doubtful => lines.warning(check, "", message, remedy),
        Verdict::Unfit => lines.error(check, "", message, remedy),
    }
}
