//! Waiting for a condition: the only way in which these tests wait.

use anyhow::{Context as _, Result, bail};
use std::fmt::Debug;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long anything may take. Generous: the machine may be busy with other tests.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// Between two looks.
const INTERVAL: Duration = Duration::from_millis(50);

/// Looks until what is seen `holds`, and returns it. A look that fails is one that does not hold.
///
/// # Errors
/// After [`DEADLINE`], with what was seen last.
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
    loop {
        let seen = look().await;
        match &seen {
            Ok(seen_now) if holds(seen_now) => return seen,
            _ if Instant::now() < end => sleep(INTERVAL).await,
            Ok(seen) => bail!("waited {deadline:?} in vain for {what}; it was {seen:?}"),
            Err(_) => return seen.with_context(|| format!("waited {deadline:?} in vain for {what}")),
        }
    }
}
