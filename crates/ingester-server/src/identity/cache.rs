//! Answers that are valid for some seconds. Concurrent callers with the same question share one request.

use super::review::ReviewError;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The SHA-256 of a question, so that neither tokens nor long lists of groups are stored.
pub(super) type Key = [u8; 32];

/// The most answers. Beyond that, expired answers are forgotten, and if that is not enough, all of them.
const MOST: usize = 4096;

/// Answers, by the key of their question.
#[derive(Debug)]
pub(super) struct Cache<T> {
    slots: Mutex<HashMap<Key, Arc<Slot<T>>>>,
    most: usize,
}

/// The slot of one answer. The caller that holds its lock is asking.
type Slot<T> = tokio::sync::Mutex<Option<CacheEntry<T>>>;

#[derive(Debug)]
struct CacheEntry<T> {
    /// The time when it arrived.
    at: Instant,
    what: Result<T, ReviewError>,
    /// The end of its validity. An error is valid only for the callers that were waiting for it.
    until: Instant,
}

impl<T: Clone> Cache<T> {
    pub(super) fn new() -> Self {
        Cache { slots: Mutex::default(), most: MOST }
    }

    /// Returns the answer and whether it was known; otherwise asks. `holds` says how long the answer is valid.
    ///
    /// If a caller gives up, the next one asks again.
    ///
    /// # Errors
    /// If the answer cannot be obtained.
    pub(super) async fn get(
        &self,
        key: Key,
        holds: impl Fn(&T) -> Duration,
        ask: impl Future<Output = Result<T, ReviewError>>,
    ) -> (Result<T, ReviewError>, bool) {
        let asked = Instant::now();
        let slot = self.slot(key, asked);
        let mut answer = slot.lock().await;
        if let Some(known) = &*answer {
            let fits = match &known.what {
                Ok(_) => Instant::now() < known.until,
                // The error arrived while this caller was waiting. Asking again would take as long again.
                Err(_) => asked < known.at,
            };
            if fits {
                return (known.what.clone(), true);
            }
        }
        let what = ask.await;
        let at = Instant::now();
        let until = at + what.as_ref().map(holds).unwrap_or_default();
        *answer = Some(CacheEntry { at, what: what.clone(), until });
        (what, false)
    }

    fn slot(&self, key: Key, now: Instant) -> Arc<Slot<T>> {
        let mut slots = self.slots.lock();
        if let Some(slot) = slots.get(&key) {
            return slot.clone();
        }
        if slots.len() >= self.most {
            slots.retain(|_, slot| match slot.try_lock() {
                Ok(answer) => answer.as_ref().is_some_and(|answer| now < answer.until),
                Err(_) => true,
            });
            // Removing one answer at a time from a full cache would scan all of them for each request.
            if slots.len() > self.most / 2 {
                slots.clear();
            }
        }
        slots.entry(key).or_default().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::{Cache, ReviewError};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    const SECOND: Duration = Duration::from_secs(1);

    fn holds(allowed: &bool) -> Duration {
        if *allowed { 10 * SECOND } else { 5 * SECOND }
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_holds_for_its_time() {
        let cache = Cache::new();
        let ask = |key: u8, answer: bool| cache.get([key; 32], holds, async move { Ok(answer) });
        for (key, answer, time) in [(1, true, 10), (2, false, 5)] {
            assert!(!ask(key, answer).await.1);
            tokio::time::advance((time - 1) * SECOND).await;
            let (known, cached) = ask(key, !answer).await;
            assert_eq!((known.unwrap(), cached), (answer, true), "{key}");
            tokio::time::advance(SECOND).await;
            let (new, cached) = ask(key, !answer).await;
            assert_eq!((new.unwrap(), cached), (!answer, false), "{key}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn many_who_ask_the_same_ask_once() {
        let cache = Arc::new(Cache::new());
        let asked = Arc::new(AtomicUsize::new(0));
        let one = |answer: Result<bool, ReviewError>| {
            let cache = cache.clone();
            let asked = asked.clone();
            tokio::spawn(async move {
                let ask = async {
                    asked.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(SECOND).await;
                    answer
                };
                cache.get([7; 32], holds, ask).await.0
            })
        };
        let unavailable = || Err(ReviewError::Unavailable("down".into()));
        for waiting in (0..50).map(|_| one(unavailable())).collect::<Vec<_>>() {
            waiting.await.unwrap().unwrap_err();
        }
        assert_eq!(asked.load(Ordering::Relaxed), 1, "all of them have the same error");
        for waiting in (0..50).map(|_| one(Ok(true))).collect::<Vec<_>>() {
            assert!(waiting.await.unwrap().unwrap());
        }
        assert_eq!(asked.load(Ordering::Relaxed), 2, "who comes after an error asks again");
    }

    #[tokio::test(start_paused = true)]
    async fn a_waiter_that_gives_up_leaves_the_question_to_the_next() {
        let cache = Cache::<bool>::new();
        let given_up = tokio::time::timeout(SECOND, cache.get([1; 32], holds, std::future::pending()));
        given_up.await.unwrap_err();
        assert!(cache.get([1; 32], holds, async { Ok(true) }).await.0.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn answers_are_bounded_in_number() {
        let cache = Cache { most: 8, ..Cache::new() };
        for key in 0..100 {
            let _ = cache.get([key; 32], holds, async { Ok(true) }).await;
            assert!(cache.slots.lock().len() <= 8);
        }
        tokio::time::advance(11 * SECOND).await;
        let _ = cache.get([200; 32], holds, async { Ok(true) }).await;
        for key in 201..220 {
            let _ = cache.get([key; 32], holds, async { Ok(true) }).await;
            assert!(cache.slots.lock().len() <= 8);
        }
    }
}
