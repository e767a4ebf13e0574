//! Statements whose caller is gone are ended at the server.
//!
//! A client that hangs up, or a time-out, drops the future that waits for a statement. Its connection is closed, because nothing may
//! come after a statement that runs; and the server, which would notice only at the statement's end, is told to end it. It is told on
//! a separate connection, beside the pool: all connections of the pool may be in use. Statements are found by a mark in their text, so
//! one that has ended is not found, and none is mistaken for it.

use super::connect::{end_connection, marked_statements};
use parking_lot::Mutex;
use sqlx::mysql::MySqlConnectOptions;
use sqlx::{Connection as _, MySqlConnection, MySqlPool};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How often a statement is looked for: it may be on its way to the server when it is abandoned.
const LOOKS: u32 = 10;

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(100);

/// How long the server may take for an answer.
const ANSWER: Duration = Duration::from_secs(5);

/// Ends the statements that were abandoned.
#[derive(Debug)]
pub(super) struct Abandoned {
    pool: MySqlPool,
    /// Tells the statements of this process from those of others.
    process: u64,
    count: AtomicU64,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    /// The marks of statements that are to be ended.
    marks: Vec<String>,
    /// Whether a task ends them.
    is_worked_on: bool,
}

/// A statement that runs. If it is dropped before [`Running::end`], the server is told to end it.
#[derive(Debug)]
pub(super) struct Running {
    mark: String,
    abandoned: Option<Arc<Abandoned>>,
}

impl Abandoned {
    pub(super) fn new(pool: MySqlPool) -> Arc<Self> {
        use std::hash::{BuildHasher as _, RandomState};
        let process = RandomState::new().hash_one(std::process::id());
        Arc::new(Abandoned { pool, process, count: AtomicU64::new(0), waiting: Mutex::default() })
    }

    /// A statement that is about to run, with its [mark](Running::mark) in its text.
    pub(super) fn running(self: &Arc<Self>) -> Running {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        Running { mark: format!("ingester {:016x} {number}", self.process), abandoned: Some(self.clone()) }
    }

    fn end(self: Arc<Self>, mark: String) {
        // Without a runtime, the process ends, and its statements end at their own limits.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let mut waiting = self.waiting.lock();
        waiting.marks.push(mark);
        if !std::mem::replace(&mut waiting.is_worked_on, true) {
            drop(waiting);
            runtime.spawn(self.work());
        }
    }

    /// Ends the abandoned statements, until none is left.
    async fn work(self: Arc<Self>) {
        let mut looks = HashMap::new();
        let mut connection = None;
        loop {
            {
                let mut waiting = self.waiting.lock();
                looks.extend(waiting.marks.drain(..).map(|mark| (mark, LOOKS)));
                waiting.is_worked_on = !looks.is_empty();
            }
            if looks.is_empty() {
                return;
            }
            let options = self.pool.connect_options();
            match tokio::time::timeout(ANSWER, look(&options, &mut connection, &mut looks)).await {
                Ok(Ok(())) => {}
                failed => {
                    connection = None;
                    tracing::debug!(?failed, "statements without a caller could not be ended");
                }
            }
            looks.retain(|_, left| {
                *left -= 1;
                *left > 0
            });
            if !looks.is_empty() {
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Ends those of the statements that run; they are not looked for any more.
async fn look(
    options: &MySqlConnectOptions,
    open: &mut Option<MySqlConnection>,
    marks: &mut HashMap<String, u32>,
) -> Result<(), sqlx::Error> {
    let connection = match open {
        Some(connection) => connection,
        None => open.insert(MySqlConnection::connect_with(options).await?),
    };
    for (id, text) in marked_statements(connection).await? {
        let mark = text.strip_prefix("/* ").and_then(|text| text.split_once(" */")).map(|(mark, _)| mark);
        if mark.is_some_and(|mark| marks.remove(mark).is_some()) {
            end_connection(connection, id).await?;
        }
    }
    Ok(())
}

impl Running {
    /// What its text is marked with.
    pub(super) fn mark(&self) -> &str {
        &self.mark
    }

    /// It has ended.
    pub(super) fn end(mut self) {
        self.abandoned = None;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(abandoned) = self.abandoned.take() {
            abandoned.end(std::mem::take(&mut self.mark));
        }
    }
}
