//! The table of results at the end of a measurement.

use crate::progress;
use anyhow::Result;
use ingester_tests::Ingester;
use std::time::Duration;

/// Figures with their baselines, and the memory of the ingester.
#[derive(Default)]
pub(crate) struct Report {
    rows: Vec<[String; 4]>,
    memory: Vec<Memory>,
}

/// The memory at one moment of each round, in MB.
struct Memory {
    when: String,
    resident: Vec<f64>,
    most: f64,
}

impl Report {
    pub(crate) fn alone(&mut self, what: &str, unit: &str, figure: f64) {
        self.rows.push([what.to_owned(), number(figure, unit), String::new(), String::new()]);
    }

    /// The median of the rounds' times, in seconds.
    pub(crate) fn seconds(&mut self, what: &str, times: &[Duration]) {
        self.alone(what, "s", median(times).as_secs_f64());
    }

    /// The medians of the rounds' times and of the baseline's, in seconds or milliseconds, and the median of the rounds' ratios.
    pub(crate) fn beside(&mut self, what: &str, unit: &str, figures: &[Duration], baselines: &[Duration]) {
        let scale = if unit == "ms" { 1e3 } else { 1.0 };
        let [figure, baseline] = [figures, baselines].map(|times| median(times).as_secs_f64() * scale);
        let mut ratios: Vec<f64> =
            figures.iter().zip(baselines).map(|(figure, baseline)| figure.div_duration_f64(*baseline)).collect();
        ratios.sort_by(f64::total_cmp);
        let ratio = format!("{:.2}x", ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN));
        self.rows.push([what.to_owned(), number(figure, unit), number(baseline, unit), ratio]);
    }

    /// Records the memory of the ingester. Returns what is resident, in MB.
    pub(crate) fn memory(&mut self, ingester: &Ingester, when: &str) -> Result<f64> {
        let [resident, most] = progress::memory(ingester.process())?;
        println!("  memory {when}: {resident:.0} MB resident, {most:.0} MB at most");
        match self.memory.iter_mut().find(|memory| memory.when == when) {
            Some(memory) => {
                memory.resident.push(resident);
                memory.most = memory.most.max(most);
            }
            None => self.memory.push(Memory { when: when.to_owned(), resident: vec![resident], most }),
        }
        Ok(resident)
    }

    pub(crate) fn print(&self) {
        println!("{:<58} {:>11} {:>11} {:>7}", "what", "figure", "baseline", "ratio");
        for [what, figure, baseline, ratio] in &self.rows {
            println!("{}", format!("{what:<58} {figure:>11} {baseline:>11} {ratio:>7}").trim_end());
        }
        for Memory { when, resident, most } in &self.memory {
            let mut resident = resident.clone();
            resident.sort_by(f64::total_cmp);
            println!("memory {when}: {:.0} MB, at most {most:.0} MB", resident[resident.len() / 2]);
        }
    }
}

fn number(value: f64, unit: &str) -> String {
    let digits = if value >= 100.0 || value.fract() == 0.0 { 0 } else { 2 };
    format!("{value:.digits$} {unit}").trim_end().to_owned()
}

pub(crate) fn median(times: &[Duration]) -> Duration {
    let mut times = times.to_vec();
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
