//! Decoding, rows and the `proto` column, without a database.

use crate::objects::{Set, sets};
use crate::rounds::{Candidate, measure};
use anyhow::{Context as _, Result};
use clap::Args;
use crd_specs::KINDS;
use ingester_core::kind::find;
use ingester_core::object::{ManagedFields, Object};
use std::hint::black_box;

#[derive(Args)]
pub(crate) struct Pure {
    /// Objects of each set.
    #[arg(long, default_value_t = 1000)]
    objects: usize,
    /// Times that each candidate runs over all of them.
    #[arg(long, default_value_t = 41, value_parser = clap::value_parser!(u16).range(3..))]
    rounds: u16,
    /// Runs this candidate alone, for a profiler; there is no baseline then.
    #[arg(long, value_name = "CANDIDATE")]
    only: Option<String>,
}

pub(crate) fn run(arguments: &Pure) -> Result<()> {
    for set in sets(arguments.objects)? {
        of(&set, arguments)?;
    }
    Ok(())
}

fn of(set: &Set, arguments: &Pure) -> Result<()> {
    let rounds = usize::from(arguments.rounds);
    let kind = find(KINDS, "michelangelo.api/v2", set.kind).context("a kind of the manifest")?;
    let (descriptors, message) = kind.protobuf().context("a kind with a message")?.get().map_err(anyhow::Error::msg)?;
    let bytes: usize = set.texts.iter().map(String::len).sum();
    let parsed = |text: &String| Object::parse(text.clone(), ManagedFields::Prune);
    let objects = set.texts.iter().map(parsed).collect::<Result<Vec<_>, _>>()?;
    let mut written = 0;
    for object in &objects {
        let (bytes, lost) = descriptors.encode(message, object.text())?;
        anyhow::ensure!(lost.is_nothing(), "the generated objects have fields that are none: {}", object.text());
        written += bytes.len();
    }
    let mut candidates = vec![
        Candidate {
            name: "serde_json to Value",
            run: Box::new(|| {
                for text in &set.texts {
                    let _ = black_box(serde_json::from_str::<serde_json::Value>(black_box(text)));
                }
            }),
        },
        Candidate {
            name: "JSON to protobuf",
            run: Box::new(|| {
                for object in &objects {
                    let _ = black_box(descriptors.encode(message, black_box(object.text())));
                }
            }),
        },
        Candidate {
            name: "text to row, with protobuf",
            run: Box::new(|| {
                for text in &set.texts {
                    let object = Object::parse(black_box(text).clone(), ManagedFields::Prune);
                    let _ = black_box(object.map(|object| kind.row(&object)));
                }
            }),
        },
    ];
    if let Some(only) = &arguments.only {
        candidates.retain(|candidate| candidate.name == only);
        anyhow::ensure!(!candidates.is_empty(), "there is no candidate `{only}`");
    }
    println!(
        "{}: {} objects, {} bytes of JSON each, {} of protobuf; {rounds} rounds",
        set.kind,
        set.texts.len(),
        bytes / set.texts.len(),
        written / set.texts.len()
    );
    println!("  {:<28} {:>8} {:>8} {:>15}", "", "MB/s", "time", "(80 % within)");
    for took in measure(candidates, rounds) {
        let speed = bytes as f64 / took.median.as_secs_f64() / 1e6;
        let (low, high) = took.spread;
        println!("  {:<28} {:>8.0} {:>7.2}x {:>8.2}..{:.2}", took.name, speed, took.ratio, low, high);
    }
    Ok(())
}
