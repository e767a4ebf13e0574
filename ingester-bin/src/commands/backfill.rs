//! `ingester backfill`: fills columns from the stored objects.

use super::interrupt::Interrupt;
use super::{chosen, left_out};
use crate::arguments::Backfill as Arguments;
use crate::ending::{Ending, Failure};
use crate::output::{counted, note};
use crate::program::Program;
use crate::progress;
use anyhow::anyhow;
use ingester_store::migrate::Backfill;
use ingester_store::unless_stopped;
use std::num::NonZeroU32;

pub(crate) async fn run(arguments: Arguments, program: Program) -> Result<Ending, Failure> {
    let kinds = program.kinds;
    let kind = chosen(kinds, std::slice::from_ref(&arguments.kind))?[0];
    let backfill = Backfill::for_columns(&kind, &arguments.columns).map_err(|error| Failure::Usage(error.into()))?;
    let backfill = backfill.limited(arguments.target.ingester(kinds)?.fuse(&kind));
    let store = arguments.target.database(kinds)?.open_existing().await?;
    store.learn_declared(program.declared).await.map_err(|error| super::declared_failure(error, program))?;
    if program.declared.iter().any(|declared| declared.table().name == kind.table().name) && kind.ingest_version() == 0
    {
        return Err(Failure::Usage(anyhow!(
            "this definition of {} is not recorded in the database: `ingester run` and `ingester schema apply{}` record it",
            kind.name(),
            program.with_file()
        )));
    }
    if let Some(refused) = super::risks::refused_pruning(&store, &[kind]).await.map_err(super::failed)? {
        return Err(refused);
    }
    let interrupt = Interrupt::listen("after the rows that are being written")?;
    let bar = progress::spinner("{spinner} {pos} rows  {per_sec}  {msg}");
    let rate = NonZeroU32::new(arguments.rate);
    let filled = store.backfill(&backfill, rate, &interrupt.stop, |filled| {
        bar.set_position(filled.read);
        bar.set_message(format!("{} filled", filled.filled));
    });
    let filled = unless_stopped(&interrupt.stop, filled).await;
    bar.finish_and_clear();
    let Some(filled) = filled else {
        note(&format!(
            "{}: interrupted while the database did not answer: the next run continues from here",
            kind.name()
        ));
        return Ok(interrupt.ending());
    };
    let filled = filled?;
    store.close().await;
    note(&format!(
        "{}: {} read, {} filled, {} cannot be decoded{}",
        kind.name(),
        counted(filled.read, "row", "rows"),
        filled.filled,
        filled.failed,
        if filled.complete { "" } else { "; interrupted: the next run continues from here" }
    ));
    if filled.marked > 0 {
        note(&format!(
            "{}: {} marked as deleted, because of the filter",
            kind.name(),
            counted(filled.marked, "row was", "rows were")
        ));
    }
    if let Some(waits) = filled.waits {
        note(&format!("{}: {}", left_out::waiting(&kind, waits), left_out::REMEDY));
    }
    Ok(match filled.failed {
        _ if !filled.complete => interrupt.ending(),
        0 if filled.waits.is_none() => Ending::Done,
        _ => Ending::Problem,
    })
}

#[cfg(test)]
mod tests {
    use ingester_core::Kind;
    use ingester_core::object::{ManagedFields, Object};
    use ingester_declare::declare::kinds;
    use ingester_store::migrate::{AllowedChanges, Backfill};
    use ingester_store::{ConnectOptions, RowChange, Store};
    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    fn job(columns: &str) -> Kind {
        let kind = format!("{{group: example.com, version: v1, kind: Job, namespaced: true, strict: true{columns}}}");
        kinds("kinds.yaml", &format!("kinds: [{kind}]"), &|_| Err(std::io::ErrorKind::NotFound.into())).unwrap().kinds
            [0]
    }

    fn row(kind: Kind, number: u64) -> RowChange {
        let metadata =
            json!({ "name": format!("j{number}"), "uid": format!("uid-{number:02}"), "resourceVersion": "1" });
        let hash = if number == 13 { 1 << 63 } else { number };
        let object =
            json!({ "apiVersion": "example.com/v1", "kind": "Job", "metadata": metadata, "spec": { "hash": hash } });
        let object = Object::parse(object.to_string(), ManagedFields::Keep).unwrap();
        RowChange::Row(kind.row(&object).unwrap().unwrap())
    }

    #[tokio::test]
    async fn a_row_that_the_database_refuses_does_not_stop_a_backfill() {
        let store = Store::connect(&"sqlite::memory:".parse().unwrap(), ConnectOptions::default()).await.unwrap();
        let without = job("");
        store.make_declared(&[without], AllowedChanges::Add).await.unwrap();
        store.write(without.table(), (0..30).map(|number| row(without, number)).collect()).await.unwrap();
        // SQLite's integers are signed.
        let kind = job(", columns: [{column: hash, path: .spec.hash, type: BIGINT UNSIGNED}]");
        store.make_declared(&[kind], AllowedChanges::Add).await.unwrap();
        let stop = CancellationToken::new();
        let filled = store.backfill(&Backfill::older(&kind), None, &stop, |_| {}).await.unwrap();
        assert_eq!((filled.read, filled.filled, filled.failed, filled.complete), (30, 29, 1, true));
        let rejects = store.rejects("example.com/v1", "Job", None).await.unwrap();
        assert!(rejects.len() == 1 && &*rejects[0].uid == "uid-13", "{rejects:?}");
    }
}
