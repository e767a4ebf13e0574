//! Limits how often and how soon an ingester may repeat a request.

use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;

/// The least time between a failure and the next attempt.
const PAUSE: Duration = Duration::from_millis(40);

/// The number of times that one ingester may repeat a request within a second.
const PER_SECOND: u32 = 20;

/// Records how often and how soon each ingester repeats a request.
#[derive(Default)]
pub(super) struct Pace {
    /// By ingester, life and question: the second, the number of times in it, and the last failure.
    asked: HashMap<(usize, u32, String), RequestHistory>,
    /// The time when an ingester learned something about an object, or about all.
    learned: HashMap<(usize, Option<String>), Instant>,
    /// The time that an arrival may wait for an answer of a server before the ingester reacts to it.
    waits: Duration,
}

#[derive(Default)]
struct RequestHistory {
    second: Option<Instant>,
    times: u32,
    /// The number of times within that second that came too soon after a failure.
    hasty: u32,
    begun: Option<Instant>,
    /// The time when a row of the question's object was stale, if nothing else can lead to the question.
    stale: Option<Instant>,
    stale_before: Option<Instant>,
    failed: Option<Instant>,
}

impl Pace {
    pub(super) fn new(waits: Duration) -> Self {
        Pace { waits, ..Pace::default() }
    }

    /// Returns why a question that this many `objects` or tasks may ask comes too soon or too often, if it does.
    pub(super) fn begin(
        &mut self,
        ingester: usize,
        life: u32,
        key: &str,
        objects: u32,
        now: Instant,
    ) -> Option<String> {
        let of_all = self.learned.get(&(ingester, None)).copied();
        let learned = |name: Option<&str>| self.learned.get(&(ingester, name.map(str::to_owned))).copied();
        // An event's object is worked on at once, whatever failed before. A question's words name the objects.
        let learned = key.split([' ', ',']).map(|word| learned(Some(word))).fold(learned(None), Option::max);
        let asked = self.asked.entry((ingester, life, key.to_owned())).or_default();
        if asked.second.is_none_or(|second| now - second >= Duration::from_secs(1)) {
            (asked.second, asked.times, asked.hasty) = (Some(now), 0, 0);
        }
        asked.times += 1;
        if asked.times > PER_SECOND * objects {
            return Some(format!("asks more than {PER_SECOND} times within a second: {key}"));
        }
        if let Some(stale) = asked.stale.take()
            && objects == 1
            && now - stale < PAUSE
            && of_all.is_none_or(|learned| learned + self.waits < stale)
        {
            return Some(format!("looks {:?} after a row was stale: {key}", now - stale));
        }
        let begun = asked.begun.replace(now)?;
        let failed = asked.failed.take()?;
        // An arrival during work on the object waits until that work is done.
        let is_news = learned.is_some_and(|learned| learned + self.waits > begun);
        asked.hasty += u32::from(now - failed < PAUSE && !is_news);
        (asked.hasty >= objects).then(|| format!("asks again after {:?}: {key}", now - failed))
    }

    pub(super) fn failed(&mut self, ingester: usize, life: u32, key: &str, now: Instant) {
        self.asked.entry((ingester, life, key.to_owned())).or_default().failed = Some(now);
    }

    /// Records that a row was stale, and that nothing else about the object can lead to this question. Only the first time in a while
    /// counts: the question that follows another may be due at this very moment.
    pub(super) fn stale(&mut self, ingester: usize, life: u32, key: &str, now: Instant) {
        let asked = self.asked.entry((ingester, life, key.to_owned())).or_default();
        let before = asked.stale_before.replace(now);
        asked.stale = before.is_none_or(|before| now - before > Duration::from_secs(60)).then_some(now);
    }

    /// Records that a refused request about the same object leads to this question, too, and not only a stale row.
    pub(super) fn wanted(&mut self, ingester: usize, life: u32, key: &str) {
        if let Some(asked) = self.asked.get_mut(&(ingester, life, key.to_owned())) {
            asked.stale = None;
        }
    }

    pub(super) fn learns(&mut self, ingester: usize, name: Option<&str>, now: Instant) {
        self.learned.insert((ingester, name.map(str::to_owned)), now);
    }
}
