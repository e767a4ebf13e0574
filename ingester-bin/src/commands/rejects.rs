//! `ingester rejects`: the objects that could not be stored.

use super::{chosen, failed};
use crate::arguments::{Rejects, RejectsClear, RejectsCommand, RejectsList};
use crate::database::Database;
use crate::ending::{Ending, Failure};
use crate::output::{Table, note, one_line, show};
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_sql::dialect::GroupFilter;
use ingester_sql::dialect::statements::{KindRejects, RecordedReject, RejectsOf};
use ingester_store::Store;
use serde::Serialize;

pub(crate) async fn run(arguments: Rejects, kinds: &'static [Kind]) -> Result<Ending, Failure> {
    match arguments.command {
        None => list(arguments.list, kinds).await,
        Some(RejectsCommand::List(arguments)) => list(arguments, kinds).await,
        Some(RejectsCommand::Clear(arguments)) => clear(arguments, kinds).await,
    }
}

/// Returns the selected kinds; empty for all.
fn meant(named: &[String], kinds: &'static [Kind]) -> Result<Vec<KindRejects<'static>>, Failure> {
    let of = |kind: &Kind| {
        // For a kind with a unique name, rejects with another group or without a group count, too.
        let group = (kind.name() != kind.kind()).then(|| GroupFilter::new(kind.group()));
        KindRejects { kind: kind.kind(), group }
    };
    match named {
        [] => Ok(Vec::new()),
        named => Ok(chosen(kinds, named)?.iter().map(of).collect()),
    }
}

/// Opens the database, which must have the table.
async fn opened(database: &Database) -> Result<Store, Failure> {
    let store = database.open_existing().await?;
    if store.has_rejects_table().await? {
        return Ok(store);
    }
    store.close().await;
    Err(Failure::Usage(anyhow!("{database} has no table `ingester_rejects`: run `ingester schema apply`")))
}

async fn list(arguments: RejectsList, kinds: &'static [Kind]) -> Result<Ending, Failure> {
    let kinds_named = meant(&arguments.kinds, kinds)?;
    let database = arguments.target.database(kinds)?;
    let store = opened(&database).await?;
    let namespaces: Vec<&str> = arguments.namespace.iter().map(String::as_str).collect();
    let of = RejectsOf { kinds: &kinds_named, namespaces: &namespaces, uids: &[] };
    // One more row than requested shows that there are more.
    let limit = arguments.limit.saturating_add(1);
    let time = store.limits().time;
    let mut rejects = store.list_rejects(of, limit, time).await.map_err(failed)?;
    store.close().await;
    let more = rejects.len() > arguments.limit;
    rejects.truncate(arguments.limit);
    let lines: Vec<RejectLine<'_>> = rejects.iter().map(RejectLine::from_reject).collect();
    show(arguments.output.output, &lines, || table(&rejects))?;
    if rejects.is_empty() {
        note(&format!("No rejects found in {database}"));
    }
    if more {
        note(&format!("there are more than {}; --limit N lists more", arguments.limit));
    }
    Ok(Ending::Done)
}

async fn clear(arguments: RejectsClear, kinds: &'static [Kind]) -> Result<Ending, Failure> {
    if arguments.kinds.is_empty() && arguments.uid.is_empty() && !arguments.all {
        return Err(Failure::Usage(anyhow!("say which rejects to clear: KIND, --uid UID, or --all")));
    }
    let kinds_named = meant(&arguments.kinds, kinds)?;
    let database = arguments.target.database(kinds)?;
    let store = opened(&database).await?;
    let namespaces: Vec<&str> = arguments.namespace.iter().map(String::as_str).collect();
    let uids: Vec<&str> = arguments.uid.iter().map(String::as_str).collect();
    let cleared = store.clear_rejects(RejectsOf { kinds: &kinds_named, namespaces: &namespaces, uids: &uids }).await?;
    store.close().await;
    match cleared {
        1 => note(&format!("1 reject cleared in {database}")),
        cleared => note(&format!("{cleared} rejects cleared in {database}")),
    }
    Ok(Ending::Done)
}

/// A reject as data.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RejectLine<'a> {
    kind: &'a str,
    api_version: &'a str,
    namespace: &'a str,
    name: &'a str,
    uid: &'a str,
    resource_version: &'a str,
    reason: &'a str,
    time: String,
}

impl<'a> RejectLine<'a> {
    fn from_reject(reject: &'a RecordedReject) -> Self {
        RejectLine {
            kind: &reject.kind,
            api_version: &reject.group_ver,
            namespace: &reject.namespace,
            name: &reject.name,
            uid: &reject.uid,
            resource_version: &reject.res_version,
            reason: &reject.reason,
            time: reject.reject_time.rfc3339(),
        }
    }
}

fn table(rejects: &[RecordedReject]) -> String {
    if rejects.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["kind", "namespace", "name", "time", "reason"]);
    for reject in rejects {
        let cells = [&reject.kind, &reject.namespace, &reject.name].map(|text| one_line(text, NAMES));
        let time = reject.reject_time.rfc3339();
        let seconds = time.split_once('.').map_or(time.clone(), |(seconds, _)| format!("{seconds}Z"));
        table.row(cells.into_iter().chain([seconds, one_line(&reject.reason, REASON)]));
    }
    table.to_string()
}

/// The most characters that are shown of a name in a table.
const NAMES: usize = 63;

/// The most characters that are shown of a reason.
const REASON: usize = 160;
