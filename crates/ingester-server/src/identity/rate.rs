//! Limits the requests per second of each caller.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;

/// The most callers that are remembered. A forgotten caller starts with a full allowance.
const MOST: usize = 4096;

/// The limit on the requests of one caller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Requests per second; 0 for no limit.
    pub per_second: u32,
    /// Requests at once, after a pause; at least 1.
    pub burst: u32,
}

impl Default for Rate {
    /// Several times the most that kubectl sends.
    fn default() -> Self {
        Rate { per_second: 100, burst: 400 }
    }
}

/// The rest of each caller's allowance.
#[derive(Debug)]
pub(super) struct Rates {
    rate: Rate,
    most: usize,
    callers: Mutex<HashMap<Box<str>, RateAllowance>>,
}

#[derive(Debug)]
struct RateAllowance {
    requests: f64,
    at: Instant,
}

impl Rates {
    pub(super) fn new(rate: Rate) -> Self {
        Rates { rate, most: MOST, callers: Mutex::default() }
    }

    /// Takes one of the caller's requests. `Err` contains the time until the next one is available.
    pub(super) fn take(&self, caller: &str) -> Result<(), Duration> {
        if self.rate.per_second == 0 {
            return Ok(());
        }
        let (per_second, burst, now) =
            (f64::from(self.rate.per_second), f64::from(self.rate.burst.max(1)), Instant::now());
        let refilled = |left: &RateAllowance| (left.requests + (now - left.at).as_secs_f64() * per_second).min(burst);
        let mut callers = self.callers.lock();
        if !callers.contains_key(caller) {
            if callers.len() >= self.most {
                // A caller with a full allowance need not be remembered.
                callers.retain(|_, left| refilled(left) < burst);
                if callers.len() > self.most / 2 {
                    callers.clear();
                }
            }
            callers.insert(caller.into(), RateAllowance { requests: burst, at: now });
        }
        let Some(left) = callers.get_mut(caller) else { return Ok(()) };
        left.requests = refilled(left);
        left.at = now;
        if left.requests < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - left.requests) / per_second));
        }
        left.requests -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Rate, Rates};
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn a_caller_has_a_burst_and_then_a_rate_of_its_own() {
        let rates = Rates::new(Rate { per_second: 2, burst: 3 });
        for _ in 0..3 {
            rates.take("ada").unwrap();
        }
        assert_eq!(rates.take("ada"), Err(Duration::from_millis(500)));
        rates.take("bob").unwrap();
        tokio::time::advance(Duration::from_millis(500)).await;
        rates.take("ada").unwrap();
        assert!(rates.take("ada").is_err());
        tokio::time::advance(Duration::from_secs(3600)).await;
        for _ in 0..3 {
            rates.take("ada").unwrap();
        }
        assert!(rates.take("ada").is_err(), "a pause saves no more than a burst");
    }

    #[tokio::test(start_paused = true)]
    async fn callers_are_bounded_in_number() {
        let rates = Rates { most: 8, ..Rates::new(Rate { per_second: 1, burst: 1 }) };
        for name in 0..100 {
            rates.take(&name.to_string()).unwrap();
            assert!(rates.callers.lock().len() <= 8);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_rate_callers_do_not_wait() {
        let rates = Rates::new(Rate { per_second: 0, burst: 0 });
        for _ in 0..1000 {
            rates.take("ada").unwrap();
        }
    }
}
