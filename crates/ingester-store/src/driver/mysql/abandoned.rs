//! Ends statements at the server whose caller is gone.
//!
//! A client that hangs up, or a time-out, drops the future that waits for a statement. Its connection is closed, because no other statement
//! may follow one that still runs. The server would notice that only at the statement's end, so we tell it to end the statement. We use a
//! connection outside the pool, because all connections of the pool may be in use. Statements are found by a mark in their text, so a
//! statement that has ended is not found, and no other one is mistaken for it.

use super::connect::{end_connection, marked_statements};
use parking_lot::Mutex;
use sqlx::mysql::MySqlConnectOptions;
use sqlx::{Connection as _, MySqlConnection, MySqlPool};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The number of searches for a statement: it may still be on its way to the server when it is abandoned.
const LOOKS: u32 = 10;

/// The pause between two searches.
const PAUSE: Duration = Duration::from_millis(100);

/// The time limit of the server for an answer.
const ANSWER: Duration = Duration::from_secs(5);

/// Ends the statements that were abandoned.
#[derive(Debug)]
pub(super) struct AbandonedStatements {
    pool: MySqlPool,
    /// Distinguishes the statements of this process from other statements.
    process: u64,
    count: AtomicU64,
    waiting: Mutex<WaitingMarks>,
}

#[derive(Debug, Default)]
struct WaitingMarks {
    /// The marks of statements to end.
    marks: Vec<String>,
    /// True if a task is ending them.
    is_worked_on: bool,
}

/// A running statement. If it is dropped before [`RunningStatement::end`], the server is told to end it.
#[derive(Debug)]
pub(super) struct RunningStatement {
    mark: String,
    abandoned: Option<Arc<AbandonedStatements>>,
}

impl AbandonedStatements {
    pub(super) fn new(pool: MySqlPool) -> Arc<Self> {
        use std::hash::{BuildHasher as _, RandomState};
        let process = RandomState::new().hash_one(std::process::id());
        Arc::new(AbandonedStatements { pool, process, count: AtomicU64::new(0), waiting: Mutex::default() })
    }

    /// Registers a statement that is about to run with its [mark](RunningStatement::mark) in its text.
    pub(super) fn running(self: &Arc<Self>) -> RunningStatement {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        RunningStatement { mark: format!("ingester {:016x} {number}", self.process), abandoned: Some(self.clone()) }
    }

    fn end(self: Arc<Self>, mark: String) {
        // Without a runtime, the process is about to exit. Its statements end at their own limits.
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

/// Ends the statements that are running, and no longer searches for them.
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

impl RunningStatement {
    /// Returns the mark in the statement's text.
    pub(super) fn mark(&self) -> &str {
        &self.mark
    }

    /// Records that the statement has ended.
    pub(super) fn end(mut self) {
        self.abandoned = None;
    }
}

impl Drop for RunningStatement {
    fn drop(&mut self) {
        if let Some(abandoned) = self.abandoned.take() {
            abandoned.end(std::mem::take(&mut self.mark));
        }
    }
}
