//! Candidates that take turns, so that a disturbance of the machine affects all of them.

use std::time::{Duration, Instant};

/// One thing to be measured.
pub(crate) struct Candidate<'a> {
    pub(crate) name: &'static str,
    pub(crate) run: Box<dyn FnMut() + 'a>,
}

/// The time of a candidate.
pub(crate) struct CandidateTime {
    pub(crate) name: &'static str,
    /// The median over the rounds.
    pub(crate) median: Duration,
    /// The median of the rounds' ratios to the first candidate.
    pub(crate) ratio: f64,
    /// The lowest and the highest of these ratios, without a tenth of them at either end.
    pub(crate) spread: (f64, f64),
}

/// Runs the candidates in turn, in rounds, after one round that does not count. The first one is the baseline.
pub(crate) fn measure(mut candidates: Vec<Candidate<'_>>, rounds: usize) -> Vec<CandidateTime> {
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); candidates.len()];
    for round in 0..=rounds {
        // Each candidate goes first equally often.
        for place in 0..candidates.len() {
            let place = (place + round) % candidates.len();
            let start = Instant::now();
            (candidates[place].run)();
            if round > 0 {
                times[place].push(start.elapsed());
            }
        }
    }
    let took = |(candidate, of): (&Candidate<'_>, &Vec<Duration>)| {
        let mut ratios: Vec<f64> =
            of.iter().zip(&times[0]).map(|(time, baseline)| time.as_secs_f64() / baseline.as_secs_f64()).collect();
        ratios.sort_by(f64::total_cmp);
        let mut sorted = of.clone();
        sorted.sort();
        let outer = ratios.len() / 10;
        CandidateTime {
            name: candidate.name,
            median: sorted[sorted.len() / 2],
            ratio: ratios[ratios.len() / 2],
            spread: (ratios[outer], ratios[ratios.len() - 1 - outer]),
        }
    };
    candidates.iter().zip(&times).map(took).collect()
}
