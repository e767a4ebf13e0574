//! A password that may change while the program runs: it is read again when the database refuses it, and when it has expired.

use super::interface::{Driver, Target};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, MutexGuard};

/// Reads a password; returns the present one, or why it cannot be read.
type Read = dyn Fn() -> Result<Given, String> + Send + Sync;

/// A password that was read.
pub(super) struct Given {
    pub(super) text: String,
    /// From when on a new connection needs another one, if that is known.
    pub(super) expires: Option<Instant>,
}

impl Given {
    /// One that does not expire.
    pub(super) fn lasting(text: &str) -> Self {
        Given { text: text.to_owned(), expires: None }
    }
}

/// How long before it expires a password is read again: connecting takes time, and clocks differ.
const MARGIN: Duration = Duration::from_secs(30);

/// How long a costly reading that brought nothing new is not repeated: all that have waited for it would ask again. Nor is one that is
/// only due because of the time.
const PAUSE: Duration = Duration::from_secs(1);

/// The same, if it brought nothing new, and is only due because of the time: connections that are open may do for long.
const LONG_PAUSE: Duration = Duration::from_secs(30);

/// Where a password comes from.
#[derive(Clone)]
pub(super) struct Source {
    pub(super) read: Arc<Read>,
    /// How long reading it may take.
    pub(super) longest: Duration,
    /// The database without a password.
    pub(super) without: Arc<dyn Target>,
}

impl Source {
    /// Reads it, which may block.
    pub(super) async fn password(&self) -> Result<Given, String> {
        let read = self.read.clone();
        tokio::task::spawn_blocking(move || read()).await.map_err(|error| error.to_string())?
    }

    /// Whether a reading that may bring nothing new costs something, as running a command does.
    fn is_costly(&self) -> bool {
        !self.longest.is_zero()
    }
}

/// The password of a pool's connections.
pub(super) struct Password {
    source: Source,
    current: Mutex<Current>,
    /// How often it has changed.
    changes: AtomicU64,
}

struct Current {
    password: Given,
    /// When it was read, or was to be.
    read: Instant,
    /// Whether that has brought nothing new.
    is_old: bool,
}

impl Password {
    pub(super) fn new(source: Source, password: Given) -> Self {
        let current = Current { password, read: Instant::now(), is_old: false };
        Password { source, current: Mutex::new(current), changes: AtomicU64::new(0) }
    }

    /// How often it has changed, for [`Password::renew`].
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Reads it again, unless it has changed since it was `tried`. If it is another one, new connections use it. Returns whether they use
    /// another one than was tried.
    pub(super) async fn renew(&self, driver: &dyn Driver, tried: u64) -> bool {
        let current = self.current.lock().await;
        if self.changes() != tried {
            return true;
        }
        self.read(current, driver).await
    }

    /// Reads it again if it expires, unless that is being done: a connection that is open needs none, and one that is refused waits.
    pub(super) async fn refresh(&self, driver: &dyn Driver) {
        if let Ok(current) = self.current.try_lock()
            && current.password.expires.is_some_and(|expires| expires <= Instant::now() + MARGIN)
            && current.read.elapsed() >= if current.is_old { LONG_PAUSE } else { PAUSE }
        {
            self.read(current, driver).await;
        }
    }

    /// Before servers are searched: one that refuses the password looks like one that is gone.
    pub(super) async fn before_search(&self, driver: &dyn Driver) {
        // Only the servers of a list are asked, and a lost connection says nothing about a password.
        if !self.source.is_costly() || !self.source.without.longest_search().is_zero() {
            self.renew(driver, self.changes()).await;
        }
    }

    /// Reads it again. Returns whether it is another one.
    async fn read(&self, mut current: MutexGuard<'_, Current>, driver: &dyn Driver) -> bool {
        if self.source.is_costly() && current.is_old && current.read.elapsed() < PAUSE {
            return false;
        }
        let read = self.source.password().await;
        let is_new = match read {
            Ok(password) if password.text == current.password.text => {
                current.password = password;
                false
            }
            Ok(password) => {
                driver.use_password(&password.text).await;
                current.password = password;
                self.changes.fetch_add(1, Ordering::AcqRel);
                tracing::info!("The password of the database has changed: new connections use the new one");
                true
            }
            Err(reason) => {
                tracing::warn!(reason, "Cannot read the password of the database again");
                false
            }
        };
        (current.read, current.is_old) = (Instant::now(), !is_new);
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::{Given, LONG_PAUSE, MARGIN, Password, Source};
    use crate::driver::hosts::Looked;
    use crate::driver::interface::{Driver, Migrations, Session, Usage};
    use futures::FutureExt as _;
    use futures::future::BoxFuture;
    use parking_lot::Mutex;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::time::{Duration, Instant};

    /// Remembers which password it was given last.
    #[derive(Default)]
    struct Fake(Mutex<String>);

    impl Driver for Fake {
        fn session(&self) -> BoxFuture<'_, Result<Box<dyn Session>, sqlx::Error>> {
            unreachable!("no connection is made")
        }

        fn migrations(&self) -> BoxFuture<'_, Result<Box<dyn Migrations>, sqlx::Error>> {
            unreachable!("no connection is made")
        }

        fn look_for_server(&self) -> BoxFuture<'_, Looked> {
            unreachable!("no server is looked for")
        }

        fn use_password<'d>(&'d self, password: &'d str) -> BoxFuture<'d, ()> {
            *self.0.lock() = password.to_owned();
            std::future::ready(()).boxed()
        }

        fn examine(&self, _: &crate::driver::Answers) -> Vec<crate::driver::Finding> {
            Vec::new()
        }

        fn usage(&self) -> Usage {
            Usage { open: 0, idle: 0, limit: 0 }
        }

        fn close(&self) -> BoxFuture<'_, ()> {
            std::future::ready(()).boxed()
        }

        fn as_any(&self) -> &dyn std::any::Any {
            self
        }
    }

    /// A token that expires after so long, and how often it was read.
    fn token(after: Duration, is_renewed: bool) -> (Password, Arc<AtomicUsize>) {
        let readings = Arc::new(AtomicUsize::new(0));
        let counted = readings.clone();
        let read = move || {
            let number = counted.fetch_add(1, SeqCst) + 1;
            let text = if is_renewed { format!("token {number}") } else { "token 0".to_owned() };
            Ok(Given { text, expires: Some(Instant::now() + after) })
        };
        let without = "postgres://u@h/d".parse::<crate::driver::Address>().unwrap().target;
        let source = Source { read: Arc::new(read), longest: Duration::from_secs(1), without };
        let given = Given { text: "token 0".to_owned(), expires: Some(Instant::now() + after) };
        (Password::new(source, given), readings)
    }

    /// As if it had been read longer ago.
    async fn pass(password: &Password, time: Duration) {
        let mut current = password.current.lock().await;
        current.read = current.read.checked_sub(time).unwrap();
    }

    #[tokio::test]
    async fn a_token_is_read_again_before_it_expires_and_not_more_often() {
        let (driver, second) = (Fake::default(), Duration::from_secs(1));
        let (lasting, readings) = token(MARGIN + LONG_PAUSE, true);
        pass(&lasting, LONG_PAUSE).await;
        lasting.refresh(&driver).await;
        assert_eq!((readings.load(SeqCst), lasting.changes()), (0, 0));

        let (expiring, readings) = token(MARGIN, true);
        pass(&expiring, second).await;
        expiring.refresh(&driver).await;
        assert_eq!((readings.load(SeqCst), expiring.changes(), &**driver.0.lock()), (1, 1, "token 1"));
        expiring.refresh(&driver).await;
        assert_eq!(readings.load(SeqCst), 1, "a moment later");
    }

    #[tokio::test]
    async fn a_costly_reading_that_brings_nothing_new_is_not_repeated_at_once() {
        let (driver, second) = (Fake::default(), Duration::from_secs(1));
        let (same, readings) = token(Duration::ZERO, false);
        // Refused: it may be another one now.
        assert!(!same.renew(&driver, 0).await && !same.renew(&driver, 0).await);
        assert_eq!(readings.load(SeqCst), 1, "those who wait for it do not ask once more");
        pass(&same, second).await;
        same.refresh(&driver).await;
        assert_eq!(readings.load(SeqCst), 1, "open connections may do");
        assert!(!same.renew(&driver, 0).await);
        assert_eq!(readings.load(SeqCst), 2);
        pass(&same, LONG_PAUSE).await;
        same.refresh(&driver).await;
        assert_eq!(readings.load(SeqCst), 3);
        // One server, whose lost connection says nothing of a password.
        pass(&same, LONG_PAUSE).await;
        same.before_search(&driver).await;
        assert_eq!(readings.load(SeqCst), 3);
        // Another one has renewed it since this was tried.
        let (renewed, readings) = token(Duration::ZERO, true);
        assert!(renewed.renew(&driver, 0).await && renewed.renew(&driver, 0).await);
        assert_eq!(readings.load(SeqCst), 1);
    }
}
