//! Objects that the database refused with an unclassified error. Time shows whether the object is to blame or the database.
//!
//! An object is to blame if it was refused alone for [`patience`](super::ConnectOptions::patience), and if other objects of its table were
//! stored between its last two attempts. Until then, it is tried again.

use std::collections::HashMap;
use tokio::time::{Duration, Instant};

/// The most objects that are remembered. Further ones stay in doubt for longer.
const MOST: usize = 10_000;

/// An object that was not tried for this long is forgotten if another one needs its place: it is gone, or another ingester has stored it.
const FORGOTTEN: Duration = Duration::from_secs(3600);

/// If several objects were tried and all failed, this counts as an outage of the database for this long.
const OUTAGE: Duration = Duration::from_secs(10);

/// The objects in doubt of all tables.
pub(crate) struct Doubts {
    patience: Duration,
    /// The objects in doubt, by the name of the table.
    tables: HashMap<&'static str, TableDoubts>,
    count: usize,
}

/// The objects in doubt of one table.
#[derive(Default)]
struct TableDoubts {
    /// The time at which an object was last stored.
    stored: Option<Instant>,
    objects: HashMap<Box<str>, Doubt>,
}

/// One object in doubt.
#[derive(Clone, Copy)]
struct Doubt {
    /// The time at which it was first refused.
    first: Instant,
    /// The time at which it was last refused.
    last: Instant,
}

impl Doubts {
    pub(crate) fn new(patience: Duration) -> Self {
        Doubts { patience, tables: HashMap::new(), count: 0 }
    }

    /// Records that a batch with these objects succeeded. `written` is true if it wrote rows.
    pub(crate) fn passed<'u>(
        &mut self,
        table: &'static str,
        uids: impl Iterator<Item = &'u str>,
        written: bool,
        now: Instant,
    ) {
        let doubted = self.tables.entry(table).or_default();
        if written {
            doubted.stored = Some(now);
        }
        if !doubted.objects.is_empty() {
            self.count -= uids.filter(|uid| doubted.objects.remove(*uid).is_some()).count();
        }
    }

    /// Records that the database refused a single object with an unknown error. Returns true if the object is to blame; it is then no
    /// longer in doubt.
    pub(crate) fn refused(&mut self, table: &'static str, uid: &str, now: Instant) -> bool {
        if self.count >= MOST {
            self.forget(now);
        }
        let doubted = self.tables.entry(table).or_default();
        let Some(doubt) = doubted.objects.get_mut(uid) else {
            if self.count < MOST {
                doubted.objects.insert(uid.into(), Doubt { first: now, last: now });
                self.count += 1;
            }
            return false;
        };
        let others_pass = doubted.stored.is_some_and(|stored| stored > doubt.last);
        doubt.last = now;
        let to_blame = others_pass && now.duration_since(doubt.first) >= self.patience;
        if to_blame {
            doubted.objects.remove(uid);
            self.count -= 1;
        }
        to_blame
    }

    /// Returns true if the refusal of all these objects just now looks like an outage: their first refusal was not long ago, and nothing
    /// was stored in their table since.
    pub(crate) fn is_outage<'u>(
        &self,
        table: &'static str,
        mut uids: impl Iterator<Item = &'u str>,
        now: Instant,
    ) -> bool {
        let Some(doubted) = self.tables.get(table) else { return false };
        uids.all(|uid| {
            doubted.objects.get(uid).is_some_and(|doubt| {
                now.duration_since(doubt.first) < OUTAGE && doubted.stored.is_none_or(|stored| stored < doubt.first)
            })
        })
    }

    fn forget(&mut self, now: Instant) {
        for doubted in self.tables.values_mut() {
            doubted.objects.retain(|_, doubt| now.duration_since(doubt.last) < FORGOTTEN);
        }
        self.count = self.tables.values().map(|doubted| doubted.objects.len()).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::{Doubts, FORGOTTEN, MOST, OUTAGE};
    use tokio::time::{Duration, Instant};

    const PATIENCE: Duration = Duration::from_secs(60);
    const T: &str = "model";

    fn at(seconds: u64) -> Instant {
        use std::sync::LazyLock;
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        *START + Duration::from_secs(seconds)
    }

    fn mark_stored(doubts: &mut Doubts, table: &'static str, uid: &str, seconds: u64) {
        doubts.passed(table, [uid].into_iter(), true, at(seconds));
    }

    #[test]
    fn an_object_is_to_blame_once_others_pass_and_patience_is_over() {
        let mut doubts = Doubts::new(PATIENCE);
        mark_stored(&mut doubts, T, "good", 0);
        assert!(!doubts.refused(T, "bad", at(1)));
        mark_stored(&mut doubts, T, "good", 2);
        assert!(!doubts.refused(T, "bad", at(30)), "it may pass");
        assert!(!doubts.refused(T, "bad", at(70)), "nothing was stored since the last attempt");
        mark_stored(&mut doubts, "project", "good", 71);
        assert!(!doubts.refused(T, "bad", at(80)), "another table");
        doubts.passed(T, ["good"].into_iter(), false, at(81));
        assert!(!doubts.refused(T, "bad", at(90)), "nothing was written");
        mark_stored(&mut doubts, T, "good", 91);
        assert!(doubts.refused(T, "bad", at(100)));
        assert!(!doubts.refused(T, "bad", at(101)), "a later version of it starts anew");
    }

    #[test]
    fn an_object_that_is_stored_is_no_longer_in_doubt() {
        let mut doubts = Doubts::new(PATIENCE);
        assert!(!doubts.refused(T, "bad", at(0)));
        mark_stored(&mut doubts, T, "bad", 10);
        assert!(!doubts.refused(T, "bad", at(20)));
        mark_stored(&mut doubts, T, "good", 21);
        assert!(!doubts.refused(T, "bad", at(70)));
        assert_eq!(doubts.count, 1);
    }

    #[test]
    fn it_is_an_outage_while_nothing_passes_and_not_for_ever() {
        let mut doubts = Doubts::new(PATIENCE);
        let both = || ["a", "b"].into_iter();
        mark_stored(&mut doubts, T, "good", 0);
        both().for_each(|uid| assert!(!doubts.refused(T, uid, at(1))));
        assert!(doubts.is_outage(T, both(), at(2)));
        assert!(!doubts.is_outage(T, both(), at(1) + OUTAGE), "two bad objects must not block others");
        mark_stored(&mut doubts, T, "good", 3);
        assert!(!doubts.is_outage(T, both(), at(4)));
    }

    #[test]
    fn what_is_remembered_is_bounded_and_has_room_again() {
        let mut doubts = Doubts::new(PATIENCE);
        for n in 0..MOST + 10 {
            assert!(!doubts.refused(T, &n.to_string(), at(0)));
        }
        assert_eq!((doubts.count, doubts.tables[T].objects.len()), (MOST, MOST));
        assert!(!doubts.is_outage(T, [(MOST + 1).to_string()].iter().map(String::as_str), at(0)));
        let later = FORGOTTEN.as_secs();
        assert!(!doubts.refused(T, "new", at(later)));
        assert_eq!(doubts.count, 1);
    }
}
