//! Reads what an ingester has stored: the newest failed experiments of a tier.
//! `cargo run --example failed_experiments -- sqlite://ingester.db`

use ingester_store::{ConnectOptions, Store};
use outside::experiment::{Experiment, ExperimentStatus, Phase};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("which database? for example sqlite://ingester.db")?;
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(show(&url))
}

async fn show(url: &str) -> Result<(), Box<dyn Error>> {
    // README.md shows these lines.
    let store = Store::connect(&url.parse()?, ConnectOptions::default()).await?;
    let failed = store
        .query::<Experiment>()
        .namespace("ml")
        .label("tier", "gold")
        .filter(ExperimentStatus::phase().eq(Phase::Failed))
        .order_by(Experiment::create_time().desc())
        .limit(20);
    for found in failed.page().await?.items {
        println!("{}: {} trials", found.name, found.object.spec.max_trials);
    }
    Ok(())
}
