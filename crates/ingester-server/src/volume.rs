//! Limits the bytes of evicted objects that a user may write in a minute. Each change of an object keeps its former text in the history, so
//! many small patches of a large object fill a disk.
//!
//! May use: status.

use crate::status::Status;
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The most users that are remembered. A forgotten user starts with a full allowance.
const MOST: usize = 4096;

/// The time for which the limit holds.
const MINUTE: f64 = 60.0;

/// The limit, and the rest of each user's allowance. Clones share it.
#[derive(Clone, Debug)]
pub struct WriteVolumes(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Bytes in a minute; 0 for no limit.
    per_minute: u64,
    users: Mutex<HashMap<Box<str>, Allowance>>,
}

#[derive(Clone, Copy, Debug)]
struct Allowance {
    /// Negative after an object that is larger than the limit.
    bytes: f64,
    at: Instant,
}

impl WriteVolumes {
    /// Allows each user this many bytes in a minute; 0 for no limit.
    pub fn new(per_minute: u64) -> Self {
        WriteVolumes(Arc::new(Inner { per_minute, users: Mutex::default() }))
    }

    /// Returns the volume of one request of a user.
    pub(crate) fn for_user(&self, user: &str) -> WriteVolume {
        WriteVolume { of: self.clone(), user: user.into(), taken: Mutex::new(0) }
    }

    fn users(&self) -> MutexGuard<'_, HashMap<Box<str>, Allowance>> {
        self.0.users.lock()
    }

    /// Takes `bytes`, after giving back `taken`. `Err` contains the time until they are available: an object that is larger than the limit
    /// needs all of it.
    fn take(&self, user: &str, taken: u64, bytes: u64) -> Result<(), Duration> {
        let most = self.0.per_minute as f64;
        let per_second = most / MINUTE;
        let now = Instant::now();
        let refilled = |left: &Allowance| (left.bytes + (now - left.at).as_secs_f64() * per_second).min(most);
        let mut users = self.users();
        if !users.contains_key(user) {
            if users.len() >= MOST {
                // A user with a full allowance need not be remembered.
                users.retain(|_, left| refilled(left) < most);
                if users.len() > MOST / 2 {
                    users.clear();
                }
            }
            users.insert(user.into(), Allowance { bytes: most, at: now });
        }
        let Some(left) = users.get_mut(user) else { return Ok(()) };
        let available = (refilled(left) + taken as f64).min(most);
        let needed = (bytes as f64).min(most);
        *left = Allowance { bytes: available, at: now };
        if available < needed {
            return Err(Duration::from_secs_f64((needed - available) / per_second));
        }
        left.bytes -= bytes as f64;
        Ok(())
    }
}

/// The bytes that one request writes.
#[derive(Debug)]
pub struct WriteVolume {
    of: WriteVolumes,
    user: Box<str>,
    /// The bytes taken for it. A transaction that is tried again counts once.
    taken: Mutex<u64>,
}

impl WriteVolume {
    /// Takes the bytes of an object that the request is about to write.
    ///
    /// # Errors
    /// 429 if the user has written too much within the last minute.
    pub(crate) fn take(&self, bytes: usize) -> Result<(), Status> {
        let per_minute = self.of.0.per_minute;
        if per_minute == 0 {
            return Ok(());
        }
        let mut taken = self.taken.lock();
        let before = std::mem::take(&mut *taken);
        self.of.take(&self.user, before, bytes as u64).map_err(|pause| too_much(per_minute, pause))?;
        *taken = bytes as u64;
        Ok(())
    }
}

fn too_much(per_minute: u64, pause: Duration) -> Status {
    let seconds = u32::try_from(pause.as_secs()).unwrap_or(u32::MAX).saturating_add(1);
    let message = format!(
        "this user has changed too many bytes of evicted objects: the limit is {per_minute} in a minute (`serve.writeMiB`), please try again in {seconds} s"
    );
    Status::too_many_requests(message).retry_after(seconds)
}

#[cfg(test)]
mod tests {
    use super::{MOST, WriteVolumes};
    use crate::status::Reason;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn a_user_who_has_written_too_much_waits_and_others_do_not() {
        let volumes = WriteVolumes::new(600);
        for _ in 0..3 {
            volumes.for_user("ada").take(200).unwrap();
        }
        let refused = volumes.for_user("ada").take(200).unwrap_err();
        assert_eq!((refused.code.as_u16(), refused.reason), (429, Reason::TooManyRequests));
        assert_eq!(refused.details.and_then(|details| details.retry_after_seconds), Some(21));
        volumes.for_user("bob").take(200).unwrap();
        tokio::time::advance(Duration::from_secs(20)).await;
        volumes.for_user("ada").take(200).unwrap();
        assert!(volumes.for_user("ada").take(1).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn an_object_larger_than_the_limit_is_written_after_a_minute_without_writes() {
        let volumes = WriteVolumes::new(600);
        volumes.for_user("ada").take(1200).unwrap();
        tokio::time::advance(Duration::from_secs(60)).await;
        assert!(volumes.for_user("ada").take(1).is_err(), "it counts for two minutes");
        tokio::time::advance(Duration::from_secs(60)).await;
        volumes.for_user("ada").take(600).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_transaction_that_is_tried_again_counts_once() {
        let volumes = WriteVolumes::new(600);
        let volume = volumes.for_user("ada");
        for _ in 0..5 {
            volume.take(400).unwrap();
        }
        volumes.for_user("ada").take(200).unwrap();
        assert!(volumes.for_user("ada").take(200).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn users_are_bounded_in_number_and_zero_is_no_limit() {
        let volumes = WriteVolumes::new(10);
        for number in 0..2 * MOST {
            volumes.for_user(&number.to_string()).take(10).unwrap();
            assert!(volumes.users().len() <= MOST);
        }
        for _ in 0..100 {
            WriteVolumes::new(0).for_user("ada").take(usize::MAX).unwrap();
        }
    }
}
