//! A password that may change while the program runs: it is read again when the database refuses it, and when it has expired.

use super::interface::{DatabaseTarget, Driver};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, MutexGuard};

/// Reads a password. Returns the present one, or the reason why it cannot be read.
type PasswordReader = dyn Fn() -> Result<PasswordText, String> + Send + Sync;

/// A password that was read.
pub(super) struct PasswordText {
    pub(super) text: String,
    /// The time from which a new connection needs another password, if it is known.
    pub(super) expires: Option<Instant>,
}

impl PasswordText {
    /// Returns a password that does not expire.
    pub(super) fn lasting(text: &str) -> Self {
        PasswordText { text: text.to_owned(), expires: None }
    }
}

/// A password is read again this long before it expires: connecting takes time, and clocks differ.
const MARGIN: Duration = Duration::from_secs(30);

/// A costly reading that brought nothing new is not repeated for this long: otherwise all that have waited for it would read again. The
/// same holds for a reading that is only due because the password expires.
const PAUSE: Duration = Duration::from_secs(1);

/// The same for a reading that brought nothing new and is only due because the password expires: open connections may last for long.
const LONG_PAUSE: Duration = Duration::from_secs(30);

/// The source of a password.
#[derive(Clone)]
pub(super) struct Source {
    pub(super) read: Arc<PasswordReader>,
    /// The longest time that reading it may take.
    pub(super) longest: Duration,
    /// The database's address without a password.
    pub(super) without: Arc<dyn DatabaseTarget>,
}

impl Source {
    /// Reads the password, which may block.
    pub(super) async fn password(&self) -> Result<PasswordText, String> {
        let read = self.read.clone();
        tokio::task::spawn_blocking(move || read()).await.map_err(|error| error.to_string())?
    }

    /// Returns true if a reading costs something even when it brings nothing new, as running a command does.
    fn is_costly(&self) -> bool {
        !self.longest.is_zero()
    }
}

/// The password of a pool's connections.
pub(super) struct Password {
    source: Source,
    current: Mutex<CachedPassword>,
    /// The number of its changes.
    changes: AtomicU64,
}

struct CachedPassword {
    password: PasswordText,
    /// The time of the last reading, or of the last attempt.
    read: Instant,
    /// True if that reading brought nothing new.
    is_old: bool,
}

impl Password {
    pub(super) fn new(source: Source, password: PasswordText) -> Self {
        let current = CachedPassword { password, read: Instant::now(), is_old: false };
        Password { source, current: Mutex::new(current), changes: AtomicU64::new(0) }
    }

    /// Returns the number of changes so far, for [`Password::renew`].
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Reads the password again, unless it has changed since it was `tried`. New connections use the password that was read. Returns true
    /// if it differs from the one that was tried.
    pub(super) async fn renew(&self, driver: &dyn Driver, tried: u64) -> bool {
        let current = self.current.lock().await;
        if self.changes() != tried {
            return true;
        }
        self.read(current, driver).await
    }

    /// Reads the password again if it expires, unless another caller is doing so: open connections need no password, and refused ones wait.
    pub(super) async fn refresh(&self, driver: &dyn Driver) {
        if let Ok(current) = self.current.try_lock()
            && current.password.expires.is_some_and(|expires| expires <= Instant::now() + MARGIN)
            && current.read.elapsed() >= if current.is_old { LONG_PAUSE } else { PAUSE }
        {
            self.read(current, driver).await;
        }
    }

    /// Reads the password again before servers are searched: a server that refuses the password looks like one that is gone.
    pub(super) async fn before_search(&self, driver: &dyn Driver) {
        // Only the servers of a list are searched. A single lost connection says nothing about a password.
        if !self.source.is_costly() || !self.source.without.longest_search().is_zero() {
            self.renew(driver, self.changes()).await;
        }
    }

    /// Reads the password again. Returns true if it has changed.
    async fn read(&self, mut current: MutexGuard<'_, CachedPassword>, driver: &dyn Driver) -> bool {
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
    use super::{LONG_PAUSE, MARGIN, Password, PasswordText, Source};
    use crate::driver::hosts::SearchResult;
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

        fn look_for_server(&self) -> BoxFuture<'_, SearchResult> {
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

    /// Returns a token that expires after this time, and the counter of its readings.
    fn token(after: Duration, is_renewed: bool) -> (Password, Arc<AtomicUsize>) {
        let readings = Arc::new(AtomicUsize::new(0));
        let counted = readings.clone();
        let read = move || {
            let number = counted.fetch_add(1, SeqCst) + 1;
            let text = if is_renewed { format!("token {number}") } else { "token 0".to_owned() };
            Ok(PasswordText { text, expires: Some(Instant::now() + after) })
        };
        let without = "postgres://u@h/d".parse::<crate::driver::Address>().unwrap().target;
        let source = Source { read: Arc::new(read), longest: Duration::from_secs(1), without };
        let given = PasswordText { text: "token 0".to_owned(), expires: Some(Instant::now() + after) };
        (Password::new(source, given), readings)
    }

    /// Pretends that the password was read longer ago.
    async fn pass(password: &Password, time: Duration) {
        let mut current = password.current.lock().await;
        current.read = current.read.checked_sub(time).unwrap();
    }

    #[tokio::test]
    async fn a_token_is_read_again_before_it_expires_and_not_more_often() {
        let driver = Fake::default();
        let second = Duration::from_secs(1);
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
        let driver = Fake::default();
        let second = Duration::from_secs(1);
        let (same, readings) = token(Duration::ZERO, false);
        // The password was refused, so it may have changed.
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
        // There is one server, and its lost connection says nothing about a password.
        pass(&same, LONG_PAUSE).await;
        same.before_search(&driver).await;
        assert_eq!(readings.load(SeqCst), 3);
        // Another caller has renewed it since this one was tried.
        let (renewed, readings) = token(Duration::ZERO, true);
        assert!(renewed.renew(&driver, 0).await && renewed.renew(&driver, 0).await);
        assert_eq!(readings.load(SeqCst), 1);
    }
}
