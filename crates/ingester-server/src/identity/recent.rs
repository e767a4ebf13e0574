//! The tokens that were valid some minutes ago.

use super::cache::Key;
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;

/// The time for which a token counts as recently valid.
const MINUTES: Duration = Duration::from_secs(600);

/// The most tokens. Beyond that, tokens that no longer count are forgotten, and if that is not enough, all of them.
const MOST: usize = 16 << 10;

/// The time when each token was last known to be valid.
#[derive(Debug)]
pub(super) struct RecentTokens {
    known: Mutex<HashMap<Key, Instant>>,
    most: usize,
}

impl RecentTokens {
    pub(super) fn new() -> Self {
        RecentTokens { known: Mutex::default(), most: MOST }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Key, Instant>> {
        self.known.lock()
    }

    /// Returns true if the token was valid some minutes ago.
    pub(super) fn has(&self, token: &Key) -> bool {
        self.known().get(token).is_some_and(|at| at.elapsed() < MINUTES)
    }

    /// Records the API server's answer about the token.
    pub(super) fn learn(&self, token: Key, is_known: bool) {
        let mut known = self.known();
        if !is_known {
            known.remove(&token);
            return;
        }
        if known.len() >= self.most && !known.contains_key(&token) {
            known.retain(|_, at| at.elapsed() < MINUTES);
            if known.len() > self.most / 2 {
                known.clear();
            }
        }
        known.insert(token, Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::{MINUTES, RecentTokens};
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn a_token_counts_for_minutes_unless_it_is_withdrawn() {
        let recent = RecentTokens::new();
        recent.learn([1; 32], true);
        recent.learn([2; 32], true);
        recent.learn([2; 32], false);
        tokio::time::advance(MINUTES - Duration::from_secs(1)).await;
        assert_eq!([1, 2, 3].map(|token| recent.has(&[token; 32])), [true, false, false]);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(!recent.has(&[1; 32]));
    }

    #[test]
    fn tokens_are_bounded_in_number() {
        let recent = RecentTokens { most: 8, ..RecentTokens::new() };
        for token in 0..100 {
            recent.learn([token; 32], true);
            assert!(recent.known().len() <= 8 && recent.has(&[token; 32]));
        }
    }
}
