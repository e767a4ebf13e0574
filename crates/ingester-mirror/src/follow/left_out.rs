//! Asks the database if the rows that a changed filter leaves out may be marked as deleted, while rows wait for the answer.

use super::Follower;
use crate::backoff::{Backoff, DATABASE};
use crate::pipeline::HOLDS;

impl Follower {
    /// Asks whenever rows wait. While they must wait, it asks again when the limit changes, and when the count of rows is out of date.
    pub(super) async fn judge_filter(&self) {
        let unit = self.unit();
        let mut backoff = Backoff::new(DATABASE);
        loop {
            self.pipeline.filter_asked.notified().await;
            loop {
                let config = unit.config();
                let limit = config.ingester.sweep_limit;
                let fuse = config.ingester.fuse(&unit.kind);
                // This may read all live rows, and has no time limit: no batch waits for it.
                match unit.rows.judge_left_out(fuse.as_ref()).await {
                    Ok(verdict) => {
                        backoff.reset();
                        self.pipeline.filter_judged(verdict);
                        if verdict.marks() {
                            break;
                        }
                        tokio::select! {
                            biased;
                            () = unit.live.changed(&limit, |config| config.ingester.sweep_limit) => {}
                            () = tokio::time::sleep(HOLDS) => {}
                        }
                    }
                    Err(error) => {
                        unit.metrics.database_error(error.class());
                        tracing::warn!(%error, "Cannot count the rows that the filter leaves out, trying again");
                        tokio::time::sleep(backoff.pause()).await;
                    }
                }
            }
        }
    }
}
