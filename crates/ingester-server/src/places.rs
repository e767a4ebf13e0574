//! The slots of requests: they limit the requests that are answered at the same time, in total and per user.
//!
//! May use: status.
//!
//! A user gets another slot while they hold fewer than are free. So one user alone holds at most half of the slots, two users who want
//! all of them hold a third each, and a user who holds no slot always gets one.

use crate::status::Status;
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::Notify;

/// A number of slots that all users share. Clones share them.
#[derive(Clone, Debug)]
pub struct RequestSlots(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    most: usize,
    /// Their purpose.
    of: &'static str,
    taken: Mutex<SlotUsage>,
    /// A slot is free again.
    freed: Notify,
}

#[derive(Debug, Default)]
struct SlotUsage {
    all: usize,
    /// Only users who hold any.
    by: HashMap<Arc<str>, usize>,
}

/// A slot that a user has taken. It is free again when the last clone is gone.
#[derive(Clone, Debug)]
pub struct RequestSlot(#[allow(dead_code, reason = "it holds the place")] Arc<TakenSlot>);

#[derive(Debug)]
struct TakenSlot {
    of: Arc<Inner>,
    user: Arc<str>,
}

impl RequestSlots {
    /// Creates this many slots.
    pub fn new(most: usize) -> Self {
        Self::with_name("requests", most)
    }

    /// Creates this many slots for watches.
    pub(crate) fn of_watches(most: usize) -> Self {
        Self::with_name("watches", most)
    }

    fn with_name(of: &'static str, most: usize) -> Self {
        RequestSlots(Arc::new(Inner { most, of, taken: Mutex::default(), freed: Notify::new() }))
    }

    /// Takes a slot for this user.
    ///
    /// # Errors
    /// 429 if no slot is free for them.
    pub fn take(&self, user: &str) -> Result<RequestSlot, Status> {
        let mut taken = self.0.taken();
        let own = taken.by.get(user).copied().unwrap_or_default();
        let free = self.0.most.saturating_sub(taken.all);
        if own >= free {
            let of = self.0.of;
            return Err(Status::too_many_requests(if own == 0 {
                format!("the server has too many {of} at a time, please try again later")
            } else {
                format!("{own} {of} of this user are being answered, and no more at a time: please try again later")
            }));
        }
        taken.all += 1;
        let user = taken.by.get_key_value(user).map_or_else(|| Arc::from(user), |(user, _)| user.clone());
        *taken.by.entry(user.clone()).or_default() += 1;
        Ok(RequestSlot(Arc::new(TakenSlot { of: self.0.clone(), user })))
    }

    /// Waits until a slot is free for this user.
    pub async fn wait(&self, user: &str) -> RequestSlot {
        loop {
            let mut freed = pin!(self.0.freed.notified());
            // No notification after this line is missed.
            freed.as_mut().enable();
            if let Ok(place) = self.take(user) {
                return place;
            }
            freed.await;
        }
    }
}

impl Inner {
    fn taken(&self) -> MutexGuard<'_, SlotUsage> {
        self.taken.lock()
    }
}

impl Drop for TakenSlot {
    fn drop(&mut self) {
        let mut taken = self.of.taken();
        taken.all -= 1;
        if let Some(own) = taken.by.get_mut(&self.user) {
            *own -= 1;
            if *own == 0 {
                taken.by.remove(&self.user);
            }
        }
        drop(taken);
        self.of.freed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::{RequestSlot, RequestSlots};

    fn all(places: &RequestSlots, user: &str) -> Vec<RequestSlot> {
        std::iter::from_fn(|| places.take(user).ok()).collect()
    }

    #[test]
    fn one_user_leaves_as_many_places_as_they_hold() {
        let places = RequestSlots::new(200);
        let eve = all(&places, "eve");
        assert_eq!(eve.len(), 100);
        let said = places.take("eve").unwrap_err();
        assert_eq!(said.code, 429);
        assert!(said.message.starts_with("100 requests of this user"), "{}", said.message);
        let ada = all(&places, "ada");
        assert_eq!(ada.len(), 50);
        assert!(places.take("bob").is_ok());
        // A slot that one user returns goes to a user who holds fewer.
        drop(eve);
        assert_eq!(all(&places, "bob").len(), 75);
        drop(ada);
        assert_eq!(all(&places, "eve").len(), 100);
        assert!(places.0.taken().by.is_empty(), "users without a place are forgotten");
    }

    #[test]
    fn the_last_place_is_for_who_holds_none() {
        let places = RequestSlots::new(2);
        let _one = places.take("eve").unwrap();
        assert!(places.take("eve").is_err());
        let _two = places.take("ada").unwrap();
        let said = places.take("bob").unwrap_err().message;
        assert!(said.starts_with("the server has too many requests"), "{said}");
    }

    #[tokio::test]
    async fn a_waiter_does_not_wait_for_the_largest_holders() {
        let places = RequestSlots::new(4);
        let mut eve = all(&places, "eve");
        let _ada = places.wait("ada").await;
        let mut waiting = Box::pin(places.wait("eve"));
        assert!(futures::poll!(&mut waiting).is_pending());
        let _bob = places.wait("bob").await;
        eve.pop();
        let mut second = Box::pin(places.wait("ada"));
        assert!(futures::poll!(&mut second).is_pending(), "one is free, and ada holds one");
        drop((eve, _bob));
        let _ = (waiting.await, second.await);
    }

    #[test]
    fn a_place_is_held_by_its_last_clone() {
        let places = RequestSlots::new(1);
        let place = places.take("ada").unwrap();
        let other = place.clone();
        drop(place);
        assert!(places.take("eve").is_err());
        drop(other);
        assert!(places.take("eve").is_ok());
    }
}
