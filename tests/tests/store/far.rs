//! A database whose answers are late.

use crate::world::{MODEL_AND_PROJECT, change, kind, model};
use anyhow::{Context as _, Result, ensure};
use ingester_store::{ConnectOptions, Retry, Store};
use ingester_tests::databases::On;
use ingester_tests::{delayed, with_every_server};
use std::time::Duration;

/// The part of the URL before the port, and the delay of the answers, as between continents. Each server of a list has two seconds for about
/// eight answers.
const FAR: [(&str, Duration); 2] = [(":", Duration::from_millis(250)), (":1,127.0.0.1:", Duration::from_millis(200))];

with_every_server! {
    a_database_far_away_is_connected_to_and_written
}

async fn a_database_far_away_is_connected_to_and_written(on: On) -> Result<()> {
    let Some(server) = on.shared()? else { return Ok(()) };
    let Some(near) = server.port() else { return Ok(()) };
    let url = server.create_database("far").await?;
    Store::connect(&url.parse()?, ConnectOptions::default()).await?.create_missing(MODEL_AND_PROJECT).await?;
    for (place, (before, late)) in FAR.into_iter().enumerate() {
        let far = delayed(near, late).await?;
        let url = url.replace(&format!(":{near}/"), &format!("{before}{far}/"));
        let retry = Retry::SHORT.attempts(Some(1));
        let options = ConnectOptions::default().connections(25).max_idle(5).retry(retry);
        let store = Store::connect(&url.parse()?, options).await.context(url)?;
        let table = kind("Model").table();
        // As many at once as connections are allowed.
        let writes = (0..25).map(|n| store.write(table, vec![change(&model(&format!("u{place}-{n:02}"), 1))]));
        for report in futures::future::join_all(writes).await {
            ensure!(report?.written == 1, "not written");
        }
        ensure!(store.peek(table, 100).await?.len() == 25 * (place + 1), "rows are missing");
    }
    Ok(())
}
