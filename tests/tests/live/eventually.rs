//! Waits for a condition. These tests wait in no other way.

use anyhow::{Context as _, Result, bail};
use std::fmt::Debug;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long anything may take. It is generous because other tests may keep the machine busy.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// The pauses between two checks: first, and the longest. A check sends requests to servers, which share the cores with the tests' work.
const PAUSES: [Duration; 2] = [Duration::from_millis(20), Duration::from_millis(500)];

/// Calls `look` until its result `holds`, and returns that result. An error counts as not holding.
///
/// # Errors
/// After [`DEADLINE`], with the last result.
pub(crate) async fn eventually<T: Debug>(
    what: &str,
    look: impl AsyncFnMut() -> Result<T>,
    holds: impl Fn(&T) -> bool,
) -> Result<T> {
    within(DEADLINE, what, look, holds).await
}

/// [`eventually`] with another deadline.
pub(crate) async fn within<T: Debug>(
    deadline: Duration,
    what: &str,
    mut look: impl AsyncFnMut() -> Result<T>,
    holds: impl Fn(&T) -> bool,
) -> Result<T> {
    let end = Instant::now() + deadline;
    let [mut pause, longest] = PAUSES;
    loop {
        let seen = look().await;
        match &seen {
            Ok(seen_now) if holds(seen_now) => return seen,
            _ if Instant::now() < end => sleep(pause).await,
            Ok(seen) => bail!("waited {deadline:?} in vain for {what}; it was {seen:?}"),
            Err(_) => return seen.with_context(|| format!("waited {deadline:?} in vain for {what}")),
        }
        pause = (pause * 3 / 2).min(longest);
    }
}
