//! The servers of a list (`host1,host2`), one of which takes the writes: who that is, and who is it next.
//!
//! All connections lead to one of them. Whoever finds it gone or read-only has the list looked through.

use super::connect::probe;
use crate::driver::error::class_of;
use crate::driver::facts::ErrorClass;
use crate::driver::servers::Servers;
use sqlx::MySqlPool;
use sqlx::mysql::MySqlConnectOptions;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// How long one server may take to say whether it takes writes.
const ANSWER: Duration = Duration::from_secs(2);

/// After this time without a connection, the server may be gone.
const SLOW: Duration = Duration::from_millis(500);

/// How often the list is looked through at most.
const AGAIN: Duration = Duration::from_millis(500);

/// The servers of a list.
pub(super) struct Hosts {
    pool: MySqlPool,
    all: Vec<MySqlConnectOptions>,
    read_only: bool,
    servers: Arc<Servers>,
    current: Mutex<Current>,
}

struct Current {
    place: usize,
    /// When the list was looked through.
    looked: Option<Instant>,
}

/// The place of the first of the servers that takes writes, or answers if they are to be read only. The only one is not asked.
///
/// # Errors
/// What each of them said.
pub(super) async fn first(all: &[MySqlConnectOptions], read_only: bool) -> Result<usize, sqlx::Error> {
    match all {
        [_] => Ok(0),
        _ => search(all, 0..all.len(), read_only).await,
    }
}

/// How long [`first`] of so many may take.
pub(super) fn longest_search(servers: usize) -> Duration {
    match u32::try_from(servers).unwrap_or(u32::MAX) {
        1 => Duration::ZERO,
        several => ANSWER.saturating_mul(several),
    }
}

/// The first of these places whose server is right.
async fn search(
    all: &[MySqlConnectOptions],
    places: impl IntoIterator<Item = usize>,
    read_only: bool,
) -> Result<usize, sqlx::Error> {
    let (mut said, mut refused, mut asked) = (Vec::new(), Vec::new(), 0);
    for place in places {
        asked += 1;
        let reason = match tokio::time::timeout(ANSWER, probe(&all[place], read_only)).await {
            Ok(Ok(())) => return Ok(place),
            Ok(Err(error)) => {
                let reason = error.to_string();
                if class_of(&error) == ErrorClass::Operator {
                    refused.push(error);
                }
                reason
            }
            Err(_) => format!("no answer within {ANSWER:?}"),
        };
        said.push(format!("{}: {reason}", name(&all[place])));
    }
    // If all refuse the user or the database, that is the reason, and no retry helps.
    match refused.pop() {
        Some(error) if refused.len() + 1 == asked => Err(error),
        _ => {
            let wanted = if read_only { "answers" } else { "takes writes" };
            Err(std::io::Error::other(format!("none of the servers {wanted}: {}", said.join("; "))).into())
        }
    }
}

fn name(options: &MySqlConnectOptions) -> String {
    format!("{}:{}", options.get_host(), options.get_port())
}

impl Hosts {
    /// The pool leads to the server at `place`.
    pub(super) fn new(
        pool: MySqlPool,
        all: &[MySqlConnectOptions],
        place: usize,
        read_only: bool,
        servers: Arc<Servers>,
    ) -> Self {
        let current = Mutex::new(Current { place, looked: None });
        Hosts { pool, all: all.to_vec(), read_only, servers, current }
    }

    /// Waits for a connection. If that takes long, the server may be gone: then the list is looked through.
    pub(super) async fn beside<C>(&self, connection: impl Future<Output = C>) -> C {
        let mut connection = pin!(connection);
        loop {
            let slow = async {
                tokio::time::sleep(SLOW).await;
                self.look().await;
            };
            tokio::select! {
                biased;
                connection = &mut connection => return connection,
                () = slow => {}
            }
        }
    }

    /// Looks for a server that takes writes: the current one, else the first of the list. New connections lead to it.
    pub(super) async fn look(&self) {
        let mut current = self.current.lock().await;
        if current.looked.is_some_and(|looked| looked.elapsed() < AGAIN) {
            return;
        }
        let others = (0..self.all.len()).filter(|place| *place != current.place);
        let found = search(&self.all, std::iter::once(current.place).chain(others), self.read_only).await;
        current.looked = Some(Instant::now());
        match found {
            Ok(place) if place == current.place => {}
            Ok(place) => {
                let (from, to) = (name(&self.all[current.place]), name(&self.all[place]));
                tracing::warn!(from, to, "The database has moved to another server of the list");
                current.place = place;
                self.pool.set_connect_options(self.all[place].clone());
                self.servers.replace_connections();
            }
            Err(error) => tracing::warn!(%error, "No server of the list can be used"),
        }
    }
}
