//! Gathers changes of one object that follow each other closely: the first is written at once, and the later ones become one write.
//!
//! The gathered changes are not kept: once the time has passed, the object is looked at and written in its state at that time. So gathering
//! needs no memory for objects, however many change.

use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;

/// The number of remembered objects from which on a search for settled ones is worthwhile.
const FEW: usize = 1024;

/// The objects whose changes may have to wait, by uid.
#[derive(Default)]
pub(super) struct SettlingObjects {
    windows: HashMap<Box<str>, Window>,
    /// Settled objects are dropped once this many are remembered.
    many: usize,
}

#[derive(Clone, Copy)]
struct Window {
    until: Instant,
    /// A change waits for the end of the window, and is written then.
    gathered: bool,
}

impl SettlingObjects {
    /// Records the change of an object. Returns `None` if it is written at once, otherwise the time that it waits.
    pub(super) fn arrives(&mut self, uid: &str, settle: Duration) -> Option<Duration> {
        let now = Instant::now();
        match self.windows.get_mut(uid) {
            Some(window) => {
                // The gathered changes were written at the end of this window, so the next window begins there.
                if window.gathered && window.until <= now {
                    *window = Window { until: window.until + settle, gathered: false };
                }
                if window.until > now {
                    window.gathered = true;
                    return Some(window.until - now);
                }
                *window = Window { until: now + settle, gathered: false };
            }
            None => {
                if self.windows.len() >= self.many.max(FEW) {
                    self.windows.retain(|_, window| window.until + settle > now);
                    self.many = 2 * self.windows.len();
                }
                self.windows.insert(uid.into(), Window { until: now + settle, gathered: false });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    #[tokio::test(start_paused = true)]
    async fn the_first_change_is_written_at_once_and_the_others_at_the_end_of_each_window() {
        let second = Duration::from_secs(1);
        let mut settling = SettlingObjects::default();
        let mut written = Vec::new();
        for at in 0..100 {
            // The object changes each second, with a pause in between.
            if !(50..80).contains(&at) {
                match settling.arrives("a", 10 * second) {
                    None => written.push(at),
                    Some(delay) => assert_eq!((at + delay.as_secs()) % 10, 0, "at {at}"),
                }
            }
            advance(second).await;
        }
        // The others were gathered, and written at 10, 20, 30, 40, 50; 90 and 100.
        assert_eq!(written, [0, 80]);
        assert_eq!(settling.arrives("b", 10 * second), None);
    }

    #[tokio::test(start_paused = true)]
    async fn objects_that_have_settled_are_forgotten() {
        let mut settling = SettlingObjects::default();
        for number in 0..50_000 {
            assert_eq!(settling.arrives(&format!("u{number}"), Duration::from_secs(1)), None);
            advance(Duration::from_millis(10)).await;
            assert!(settling.windows.len() <= 2 * FEW, "{} objects", settling.windows.len());
        }
    }
}
