//! The open connections, and the choice of the one that gives way to a new connection at the limit.
//!
//! An idle connection gives way, in this order: a connection without a caller (nothing has come yet, or nothing that authenticated a
//! caller), then one of the caller who has the most connections; among these, the one that has been idle longest. A caller with more than
//! half of all connections loses more of them: after the connections that wait for a request, those whose request has only begun to arrive,
//! then those that are being sent an answer which holds no place. So clients that only connect, that connect repeatedly, or that send or
//! receive slowly keep no other client out. A share of the connections per address would not help: behind a proxy all clients have the same
//! address.

use super::watched::{AwaitedEvent, ConnectionPhase, IdlePhase};
use parking_lot::{Mutex, MutexGuard};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

#[derive(Debug)]
pub(super) struct Connections {
    most: usize,
    open: Mutex<All>,
}

#[derive(Debug, Default)]
struct All {
    /// The number of the next connection.
    next: u64,
    by_number: HashMap<u64, ConnectionEntry>,
}

#[derive(Debug)]
struct ConnectionEntry {
    phase: Arc<ConnectionPhase>,
    /// The last caller.
    caller: Option<Arc<str>>,
    end: CancellationToken,
}

/// A connection that is admitted.
#[derive(Debug)]
pub(super) struct AdmittedConnection {
    pub(super) open: Open,
    /// Another one was closed for it.
    pub(super) instead: bool,
}

/// A connection that is open while this exists.
#[derive(Debug)]
pub(super) struct Open {
    of: Arc<Connections>,
    number: u64,
    phase: Arc<ConnectionPhase>,
    end: CancellationToken,
}

impl Connections {
    /// Allows this many connections at the same time.
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Connections { most, open: Mutex::default() })
    }

    fn all(&self) -> MutexGuard<'_, All> {
        self.open.lock()
    }

    /// Admits a new connection, which ends with `end` or when it gives way. Returns `None` if no other connection gives way to it.
    pub(super) fn admit(self: &Arc<Self>, end: &CancellationToken) -> Option<AdmittedConnection> {
        let mut all = self.all();
        let is_full = all.by_number.len() >= self.most;
        if is_full {
            let other = all.gives_way()?;
            if let Some(other) = all.by_number.remove(&other) {
                other.end.cancel();
            }
        }
        let number = all.next;
        all.next += 1;
        let phase = Arc::new(ConnectionPhase::default());
        let end = end.child_token();
        phase.begin();
        all.by_number.insert(number, ConnectionEntry { phase: phase.clone(), caller: None, end: end.clone() });
        let open = Open { of: self.clone(), number, phase, end };
        Some(AdmittedConnection { open, instead: is_full })
    }
}

impl All {
    /// Closes the connection that gives way. Returns its number.
    fn gives_way(&self) -> Option<u64> {
        let mut of_caller: HashMap<&str, usize> = HashMap::new();
        for caller in self.by_number.values().filter_map(|one| one.caller.as_deref()) {
            *of_caller.entry(caller).or_default() += 1;
        }
        let candidate = |(number, one): (&u64, &ConnectionEntry)| {
            let idle = one.phase.idle()?;
            let own = one.caller.as_deref().map(|caller| of_caller.get(caller).copied().unwrap_or_default());
            let rank = self.rank(own, idle.waits_for)?;
            Some(((rank, idle.begun, *number), idle))
        };
        let mut idle: Vec<(_, IdlePhase)> = self.by_number.iter().filter_map(candidate).collect();
        idle.sort_unstable_by_key(|(order, _)| *order);
        // Do not close it if a request has just arrived.
        let closes = |&((_, _, number), seen): &(_, IdlePhase)| {
            self.by_number.get(&number).filter(|one| one.phase.close(seen)).map(|_| number)
        };
        idle.iter().find_map(closes)
    }

    /// Returns the rank by which connections give way: the lowest first; with `None` never. `own` is the number of connections of its
    /// caller.
    fn rank(&self, own: Option<usize>, waits_for: AwaitedEvent) -> Option<(Reverse<usize>, AwaitedEvent)> {
        match (own, waits_for) {
            // The answer is short.
            (None, AwaitedEvent::Client) => None,
            (None, _) => Some((Reverse(usize::MAX), AwaitedEvent::Request)),
            (Some(own), AwaitedEvent::Request) => Some((Reverse(own), waits_for)),
            (Some(own), _) => (2 * own > self.by_number.len()).then_some((Reverse(own), waits_for)),
        }
    }
}

impl Open {
    /// Returns its phase.
    pub(super) fn phase(&self) -> &Arc<ConnectionPhase> {
        &self.phase
    }

    /// Returns the token that is cancelled when the connection must end at once.
    pub(super) fn end(&self) -> &CancellationToken {
        &self.end
    }

    /// Records that a request has come, and its caller if known.
    pub(super) fn called(&self, caller: Option<Arc<str>>) {
        if let (Some(caller), Some(one)) = (caller, self.of.all().by_number.get_mut(&self.number)) {
            one.caller = Some(caller);
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.of.all().by_number.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::{Connections, Open};
    use std::sync::Arc;
    use tokio_util::sync::CancellationToken;

    struct World {
        connections: Arc<Connections>,
        end: CancellationToken,
    }

    impl World {
        fn new(most: usize) -> Self {
            World { connections: Connections::new(most), end: CancellationToken::new() }
        }

        fn open(&self) -> Option<Open> {
            self.connections.admit(&self.end).map(|admitted| admitted.open)
        }

        /// A connection that has received its answer, and waits for the next request.
        fn open_idle(&self, caller: &str) -> Open {
            let open = self.open().unwrap();
            assert!(open.phase().busy());
            open.called(Some(caller.into()));
            open.phase().rest();
            open
        }

        fn count(&self) -> usize {
            self.connections.all().by_number.len()
        }
    }

    #[test]
    fn connections_without_a_caller_give_way_first() {
        let world = World::new(4);
        let ada = world.open_idle("ada");
        let first = world.open().unwrap();
        let second = world.open().unwrap();
        first.phase().head();
        let busy = world.open().unwrap();
        assert!(busy.phase().busy());
        // The handshake of the second has begun before the head of the first.
        let _third = world.open().unwrap();
        assert!(second.end().is_cancelled() && !first.end().is_cancelled());
        assert!(!second.phase().busy(), "no request of it is begun any more");
        let third = world.open().unwrap();
        assert!(third.phase().busy() && first.end().is_cancelled());
        assert!(!ada.end().is_cancelled() && !busy.end().is_cancelled());
        assert_eq!(world.count(), 4);
    }

    #[test]
    fn then_one_of_the_caller_with_most_of_them() {
        let world = World::new(4);
        let ada = world.open_idle("ada");
        let eve = [world.open_idle("eve"), world.open_idle("eve"), world.open_idle("eve")];
        eve[0].phase().head();
        eve[1].phase().waits();
        let bob = world.open_idle("bob");
        assert_eq!(eve.each_ref().map(|open| open.end().is_cancelled()), [false, false, true], "idle for longest");
        let _ = world.open_idle("bob");
        assert!(eve[1].end().is_cancelled(), "what only waits is idle, too");
        assert!(!ada.end().is_cancelled() && !bob.end().is_cancelled() && !eve[0].end().is_cancelled());
    }

    #[test]
    fn a_caller_with_more_than_half_of_them_loses_also_those_that_are_slow() {
        let world = World::new(5);
        let ada = world.open_idle("ada");
        let bob = world.open_idle("bob");
        let eve = [world.open_idle("eve"), world.open_idle("eve"), world.open_idle("eve")];
        ada.phase().head();
        bob.phase().head();
        // A large answer that holds no place, a request that trickles in, and one that is being processed.
        eve[0].phase().answers();
        eve[1].phase().head();
        assert!(eve[2].phase().busy());
        let new = world.open().unwrap();
        assert_eq!(eve.each_ref().map(|open| open.end().is_cancelled()), [false, true, false]);
        assert!(!ada.end().is_cancelled() && !bob.end().is_cancelled());
        drop(new);
        // Again three of five: now the connection with the answer gives way, not the one with the work.
        let third = world.open_idle("eve");
        assert!(third.phase().busy());
        let _new = world.open().unwrap();
        assert_eq!(eve.each_ref().map(|open| open.end().is_cancelled()), [true, true, false]);
        assert!(!third.end().is_cancelled() && !ada.end().is_cancelled() && !bob.end().is_cancelled());
    }

    #[test]
    fn slow_connections_of_a_caller_with_half_of_them_stay() {
        let world = World::new(4);
        let eve = [world.open_idle("eve"), world.open_idle("eve")];
        let others = [world.open_idle("ada"), world.open_idle("bob")];
        eve[0].phase().head();
        eve[1].phase().answers();
        assert!(others.iter().all(|open| open.phase().busy()));
        assert!(world.open().is_none());
        assert!(eve.iter().chain(&others).all(|open| !open.end().is_cancelled()));
        // An answer to an unauthenticated caller does not protect a connection, either.
        let world = World::new(1);
        let unknown = world.open().unwrap();
        unknown.phase().answers();
        assert!(world.open().is_none());
    }

    #[test]
    fn connections_in_use_stay() {
        let world = World::new(2);
        let busy = [world.open().unwrap(), world.open().unwrap()];
        assert!(busy.iter().all(|open| open.phase().busy()));
        assert!(world.open().is_none());
        drop(busy);
        assert_eq!(world.count(), 0);
        assert!(world.open().is_some());
    }
}
