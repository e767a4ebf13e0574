//! The lock of migrations for groups, where the lock of one server does not keep out the other members. A setting names the holder, which
//! renews it. So a waiter knows the holder, and takes it for gone when the renewals stop.
//!
//! Durations are measured locally; clocks are never compared.

use super::connect::{node, prepare};
use super::session::{execute, fetch};
use crate::driver::error::{StoreError, class_of};
use crate::driver::facts::ErrorClass;
use ingester_sql::dialect::statements::{ReadSetting, RecordSetting, ReplaceSetting};
use sqlx::mysql::MySqlConnectOptions;
use sqlx::{Connection as _, MySqlConnection};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// The setting that names the holder; empty if there is none.
const MIGRATING: &str = "migrating";

/// The interval at which the holder renews the setting.
const RENEW: Duration = Duration::from_secs(3);

/// After this long without a renewal the holder is gone, provided that its setting was read without delay all the time. If a change of a
/// table stalls all writers, it stalls readers as well, so no live holder is taken for dead.
const SILENT: Duration = Duration::from_secs(15);

/// The interval at which a waiter reads the setting, and the time that one reading may take.
const LOOK: Duration = Duration::from_millis(250);
const PROMPT: Duration = Duration::from_secs(2);

/// The lock may fail to be requested this many times in a row.
const ATTEMPTS: u32 = 20;

/// The content of the setting: a number that only this holder has, the count of its renewals, the node whose own lock the holder has, and
/// the holder's name for people.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Holder {
    token: String,
    renewed: u64,
    node: String,
    who: String,
}

impl Holder {
    fn new(node: String) -> Self {
        let token = RandomState::new().build_hasher().finish();
        // In a pod this is the pod's name.
        let host = std::env::var("HOSTNAME").ok().filter(|name| !name.is_empty());
        let host = host.or_else(|| std::fs::read_to_string("/etc/hostname").ok());
        let host: String = host.as_deref().map_or("an unnamed host", str::trim).chars().take(100).collect();
        let who = format!("process {} on {host}", std::process::id());
        Holder { token: format!("{token:016x}"), renewed: 0, node, who }
    }

    fn to_text(&self) -> String {
        format!("{} {} {} {}", self.token, self.renewed, self.node, self.who)
    }

    /// Parses a text of another program; the holder is unknown if the text is not one of ours.
    fn parse(text: &str) -> Self {
        let mut words = text.splitn(4, ' ').map(str::to_owned);
        let mut next = || words.next().unwrap_or_default();
        let token = next();
        let renewed = next().parse().unwrap_or_default();
        Holder { token, renewed, node: next(), who: next() }
    }
}

/// Holds the lock while it lives. If the process is killed, others get the lock after [`SILENT`], or at once on the same node.
pub(super) struct HeldLock {
    token: String,
    renewing: JoinHandle<()>,
    end: Arc<Notify>,
}

impl HeldLock {
    /// Waits until no other program migrates. The caller has the own lock of the node to which `connection` leads, and keeps it until this
    /// is released. So a recorded holder on the same node must be gone.
    pub(super) async fn take(
        connection: &mut MySqlConnection,
        connect: MySqlConnectOptions,
    ) -> Result<Self, sqlx::Error> {
        let own = Holder::new(node(connection).await?);
        let mut seen: Option<(String, Instant)> = None;
        let mut failures = 0;
        let mut is_said = false;
        loop {
            let begin = Instant::now();
            let text = own.to_text();
            let result: Result<Option<String>, sqlx::Error> = async {
                let stored = fetch(&mut *connection, &ReadSetting { name: MIGRATING }).await?.pop();
                let taken = match &stored {
                    Some(stored) if *stored == text => return Ok(None),
                    None => execute(&mut *connection, &RecordSetting { name: MIGRATING, value: &text }).await,
                    Some(from) if is_free(from, &own, seen.as_ref()) => {
                        execute(&mut *connection, &ReplaceSetting { name: MIGRATING, from, to: &text }).await
                    }
                    Some(_) => Ok(0),
                };
                match taken {
                    // Another program was faster.
                    Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {}
                    taken => {
                        if taken? == 1 {
                            return Ok(None);
                        }
                    }
                }
                Ok(Some(stored.unwrap_or_default()))
            }
            .await;
            match result {
                Ok(None) => break,
                Ok(Some(stored)) => {
                    failures = 0;
                    let is_prompt = begin.elapsed() < PROMPT;
                    if !is_prompt || seen.as_ref().is_none_or(|(text, _)| *text != stored) {
                        seen = Some((stored.clone(), Instant::now()));
                    }
                    let waits_for = Holder::parse(&stored).who;
                    if !is_said && !waits_for.is_empty() {
                        tracing::warn!(
                            holder = waits_for,
                            "Another program migrates this database: waiting until it has ended"
                        );
                        is_said = true;
                    }
                }
                Err(error) if class_of(&error) == ErrorClass::Transient && failures < ATTEMPTS => {
                    failures += 1;
                    seen = None;
                }
                Err(error) => return Err(error),
            }
            tokio::time::sleep(LOOK).await;
        }
        let token = own.token.clone();
        let end = Arc::new(Notify::new());
        let renewing = tokio::spawn(renew(own, connect, end.clone()));
        Ok(HeldLock { token, renewing, end })
    }

    /// Checks that this process still has the lock.
    ///
    /// # Errors
    /// If another program has taken it, or the database does not answer.
    pub(super) async fn check(&self, connection: &mut MySqlConnection) -> Result<(), StoreError> {
        let doing = "running migrations";
        let stored = fetch(connection, &ReadSetting { name: MIGRATING }).await;
        let stored = stored.map_err(|error| StoreError::from_sqlx(doing.to_owned(), error))?.pop().unwrap_or_default();
        let holder = Holder::parse(&stored);
        if holder.token == self.token {
            return Ok(());
        }
        let who = if holder.who.is_empty() { "another program" } else { &holder.who };
        let reason = format!("{who} has taken this program for dead and continues them");
        Err(StoreError::wrong(doing, reason, "run this again when it has ended"))
    }

    /// Releases the lock.
    pub(super) async fn release(mut self) {
        self.end.notify_one();
        // If this takes too long, a waiter takes the lock after the silence.
        let _ = tokio::time::timeout(SILENT, &mut self.renewing).await;
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        // Without a call of `release`, this still releases the lock if the process goes on.
        self.end.notify_one();
    }
}

/// Returns true if the lock is free: it has no holder, or the holder is gone.
fn is_free(stored: &str, own: &Holder, seen: Option<&(String, Instant)>) -> bool {
    let holder = Holder::parse(stored);
    stored.is_empty()
        || (!own.node.is_empty() && holder.node == own.node)
        || seen.is_some_and(|(text, since)| text == stored && since.elapsed() >= SILENT)
}

/// Renews the setting until `end`, then empties it.
async fn renew(mut own: Holder, connect: MySqlConnectOptions, end: Arc<Notify>) {
    let mut ends = false;
    let mut failures = 0;
    loop {
        ends = ends || tokio::time::timeout(RENEW, end.notified()).await.is_ok();
        let next = Holder { renewed: own.renewed + 1, ..own.clone() };
        let to = if ends { String::new() } else { next.to_text() };
        match replace(&connect, &own.to_text(), &to).await {
            Ok(true) if !ends => (own, failures) = (next, 0),
            // Another program has the lock now. The next check finds out.
            Ok(_) => return,
            Err(error) => {
                tracing::debug!(%error, "The lock of migrations cannot be renewed, trying again");
                failures += 1;
                if ends && failures >= ATTEMPTS {
                    return;
                }
                if ends {
                    tokio::time::sleep(LOOK).await;
                }
            }
        }
    }
}

/// Replaces the setting on a separate connection, because the one that migrates is busy. Returns true if it has become `to`.
async fn replace(connect: &MySqlConnectOptions, from: &str, to: &str) -> Result<bool, sqlx::Error> {
    let mut connection = MySqlConnection::connect_with(connect).await?;
    prepare(&mut connection).await?;
    let replaced = execute(&mut connection, &ReplaceSetting { name: MIGRATING, from, to }).await? == 1
        // An earlier attempt may have succeeded even though its answer was lost.
        || fetch(&mut connection, &ReadSetting { name: MIGRATING }).await?.pop().as_deref() == Some(to);
    connection.close().await?;
    Ok(replaced)
}

#[cfg(test)]
mod tests {
    use super::{Holder, SILENT, is_free};
    use std::time::Instant;

    #[test]
    fn a_holder_is_read_as_it_was_written_and_fits_a_setting() {
        let holder = Holder { renewed: 7, ..Holder::new("5b015589-8c22-11f1-95fb-ca3b4c2241bf".into()) };
        assert_eq!(Holder::parse(&holder.to_text()), holder);
        assert!(holder.to_text().len() <= 256 && holder.who.contains("process "), "{}", holder.to_text());
        assert_eq!(Holder::parse("by hand").who, "");
    }

    #[test]
    fn a_lock_is_not_taken_from_a_holder_that_may_be_alive() {
        let own = Holder::new("a".into());
        let other = Holder::new("b".into());
        let stored = other.to_text();
        let long_ago = Instant::now().checked_sub(SILENT).unwrap();
        let seen = |text: &str, since| Some((text.to_owned(), since));
        for (stored, seen, free) in [
            ("", None, true),
            (&*stored, None, false),
            (&*stored, seen(&stored, Instant::now()), false),
            (&*stored, seen(&stored, long_ago), true),
            (&*stored, seen("another text", long_ago), false),
            // On the same node, where the asking program has the own lock.
            (&*Holder::new("a".into()).to_text(), None, true),
        ] {
            assert_eq!(is_free(stored, &own, seen.as_ref()), free, "{stored} {seen:?}");
        }
        let nowhere = Holder::new(String::new());
        assert!(!is_free(&Holder::new(String::new()).to_text(), &nowhere, None), "no node says nothing");
    }
}
