//! All evicted objects that selectors match.

use super::{GRACE, PATIENCE, is_new};
use crate::arguments::{Restore, RestoreFormat};
use crate::ending::{Ending, Failure};
use crate::output::{note, print};
use crate::progress;
use anyhow::anyhow;
use futures::StreamExt as _;
use ingester_core::Kind;
use ingester_core::schema::base;
use ingester_core::value::Micros;
use ingester_printers::name;
use ingester_server::former::Reach;
use ingester_server::restore::{RestoreRequest, RestoredObject, restore};
use ingester_server::status::Status;
use ingester_sql::query::{Ask, AskKey, Query, Spelling};
use ingester_store::query::{self, AskError, Limits};
use ingester_store::{Effect, Store};
use std::collections::BTreeMap;

/// The number of concurrent restores: each waits for the API server, and then for the mirror.
const AT_ONCE: usize = 16;

/// Returns the query for the evicted objects that the arguments select.
///
/// # Errors
/// If a selector is not valid or does not fit the kind, or if the arguments ask to print the objects.
pub(super) fn query(kind: &Kind, arguments: &Restore) -> Result<Query, Failure> {
    if matches!(arguments.output, Some(RestoreFormat::Json | RestoreFormat::Yaml)) {
        return Err(Failure::Usage(anyhow!("--output: selected objects are only printed as names, `-o name`")));
    }
    let mut ask = Ask::new(Spelling::Command);
    let selectors = [("selector", &arguments.selector), ("field-selector", &arguments.field_selector)];
    let selectors = selectors.iter().filter_map(|(name, text)| Some((*name, text.as_deref()?)));
    for (name, value) in selectors.chain([("state", "evicted")]) {
        let key = AskKey::named(Spelling::Command, name).ok_or_else(|| anyhow!("there is no key `{name}`"))?;
        ask.set(key, &[value]).map_err(|error| Failure::Usage(error.into()))?;
    }
    arguments.namespace.iter().for_each(|namespace| ask.namespace(namespace));
    let query = ask.query().map_err(|error| Failure::Usage(error.into()))?;
    if query.filters.is_empty() && !arguments.all {
        return Err(Failure::Usage(anyhow!("the selectors are empty: use `--all` to restore every evicted object")));
    }
    query.check(kind.table()).map_err(|error| Failure::Usage(error.into()))?;
    Ok(query)
}

/// Restores them, and reports the result of each.
pub(super) async fn restore_all(
    store: &Store,
    client: &kube::Client,
    kind: &Kind,
    query: &Query,
    arguments: &Restore,
) -> Result<Ending, Failure> {
    let rows = newest(store, kind, query).await?;
    let effect = if arguments.dry_run { Effect::Tried } else { Effect::Written };
    let bar = progress::bar(rows.len() as u64, "{bar} {pos}/{len} restored {elapsed}");
    let mut results = futures::stream::iter(rows)
        .map(|((namespace, name), (_, uid))| async move {
            let wanted = RestoreRequest {
                namespace: &namespace,
                name: &name,
                uid: Some(&uid),
                effect,
                patience: PATIENCE,
                by: None,
                status: Ok(()),
                former: Reach::All,
                version: None,
            };
            let restored = restore(store, client.clone(), kind, wanted).await;
            (if namespace.is_empty() { name } else { format!("{namespace}/{name}") }, restored)
        })
        .buffer_unordered(AT_ONCE);
    let mut done = 0_usize;
    let mut failed = 0_usize;
    let mut created = false;
    while let Some((shown, restored)) = results.next().await {
        bar.inc(1);
        created |= restored.as_ref().is_ok_and(|restored| is_new(restored, arguments));
        match report(kind, &shown, restored, arguments)? {
            true => done += 1,
            false => failed += 1,
        }
    }
    bar.finish_and_clear();
    let doing = if arguments.dry_run { "would be restored" } else { "restored" };
    note(&format!("{done} {doing}, {failed} not"));
    if created {
        note(GRACE);
    }
    Ok(if failed == 0 { Ending::Done } else { Ending::Problem })
}

/// Reports the result of an object. Returns true if nothing is left to do.
fn report(
    kind: &Kind,
    shown: &str,
    restored: Result<RestoredObject, Status>,
    arguments: &Restore,
) -> Result<bool, Failure> {
    let restored = match restored {
        Ok(restored) => restored,
        Err(status) => {
            note(&format!("error: {shown}: {status}"));
            return Ok(false);
        }
    };
    restored.warnings.iter().for_each(|warning| note(&format!("Warning: {shown}: {warning}")));
    let name = name::qualified(kind.kind(), kind.group(), &restored.name);
    print(&match arguments.output {
        Some(_) => format!("{name}\n"),
        None if restored.before => format!("{name} unchanged\n"),
        None if arguments.dry_run => format!("{name} restored (dry run)\n"),
        None => format!("{name} restored\n"),
    })?;
    Ok(restored.finished)
}

/// The creation time and the uid of an object, by its namespace and name.
type NewestObjects = BTreeMap<(String, String), (Option<Micros>, String)>;

/// Returns the rows to restore from: if several have one name, the newest.
async fn newest(store: &Store, kind: &Kind, query: &Query) -> Result<NewestObjects, Failure> {
    let failed = |error: AskError| Failure::Work(error.into());
    let wanted = query::RequestedParts { places: vec![base::NAMESPACE, base::NAME, base::CREATE_TIME], labels: false };
    let asked = store.ask_about(kind, query, Limits::default()).map_err(|error| failed(error.into()))?;
    let mut reader = asked.reader(&wanted, None).map_err(|error| failed(error.into()))?;
    let mut newest = NewestObjects::new();
    loop {
        let rows = reader.next().await.map_err(failed)?;
        if rows.is_empty() {
            return Ok(newest);
        }
        for row in rows {
            let name = (row.get_text(base::NAMESPACE).to_owned(), row.get_text(base::NAME).to_owned());
            let its = (row.time(base::CREATE_TIME), row.uid().to_owned());
            let entry = newest.entry(name).or_insert_with(|| its.clone());
            if *entry < its {
                *entry = its;
            }
        }
    }
}
