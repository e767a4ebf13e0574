//! `ingester backfill`: fills columns from the stored objects.

use super::chosen;
use crate::arguments::Backfill as Arguments;
use crate::ending::{Ending, Failure};
use crate::output::note;
use indicatif::{ProgressBar, ProgressStyle};
use ingester_core::Kind;
use ingester_store::migrate::Backfill;
use ingester_store::{ConnectOptions, Store};
use std::num::NonZeroU32;
use tokio_util::sync::CancellationToken;

pub(crate) async fn run(arguments: Arguments, kinds: &'static [Kind]) -> Result<Ending, Failure> {
    let address = arguments.target.address(kinds)?;
    let kind = chosen(kinds, std::slice::from_ref(&arguments.kind))?[0];
    let backfill = Backfill::of(&kind, &arguments.columns).map_err(|error| Failure::Usage(error.into()))?;
    let store = Store::connect(&address, ConnectOptions { create: false, ..ConnectOptions::default() }).await?;
    let stop = CancellationToken::new();
    let interrupted = stop.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            interrupted.cancel();
        }
    });
    let style = ProgressStyle::with_template("{spinner} {pos} rows  {per_sec}  {msg}");
    let bar = ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    let rate = NonZeroU32::new(arguments.rate);
    let filled = store.backfill(&backfill, rate, &stop, |filled| {
        bar.set_position(filled.read);
        bar.set_message(format!("{} filled", filled.filled));
    });
    let filled = filled.await;
    bar.finish_and_clear();
    let filled = filled?;
    store.close().await;
    note(&format!(
        "{}: {} rows read, {} filled, {} cannot be decoded{}",
        kind.kind(),
        filled.read,
        filled.filled,
        filled.failed,
        if filled.complete { "" } else { "; interrupted: the next run goes on from here" }
    ));
    Ok(if filled.complete && filled.failed == 0 { Ending::Done } else { Ending::Problem })
}
