//! A token bucket.

use std::time::{Duration, Instant};

/// Limits the rate: a number per second, and a burst after a pause.
#[derive(Debug)]
pub(super) struct Bucket {
    per_second: f64,
    burst: f64,
    tokens: f64,
    at: Instant,
}

impl Bucket {
    /// A full bucket. The rate is at least 1 per second, the burst at least 1.
    pub(super) fn new(per_second: u32, burst: u32, now: Instant) -> Self {
        let burst = f64::from(burst.max(1));
        Bucket { per_second: f64::from(per_second.max(1)), burst, tokens: burst, at: now }
    }

    /// Takes a token. Returns how long to wait for it.
    pub(super) fn take(&mut self, now: Instant) -> Duration {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.at = self.at.max(now);
        self.tokens = (self.tokens + passed * self.per_second).min(self.burst) - 1.0;
        Duration::from_secs_f64((-self.tokens / self.per_second).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::Bucket;
    use std::time::{Duration, Instant};

    #[test]
    fn a_burst_passes_at_once_and_then_the_rate_applies() {
        let start = Instant::now();
        let mut bucket = Bucket::new(5, 2, start);
        let waits: Vec<Duration> = (0..4).map(|_| bucket.take(start)).collect();
        assert_eq!(waits, [0, 0, 200, 400].map(Duration::from_millis));
    }

    #[test]
    fn a_pause_refills_the_bucket_to_its_burst_at_most() {
        let start = Instant::now();
        let mut bucket = Bucket::new(5, 2, start);
        (0..2).for_each(|_| assert_eq!(bucket.take(start), Duration::ZERO));
        let later = start + Duration::from_secs(3600);
        let waits: Vec<Duration> = (0..3).map(|_| bucket.take(later)).collect();
        assert_eq!(waits, [0, 0, 200].map(Duration::from_millis));
    }
}
