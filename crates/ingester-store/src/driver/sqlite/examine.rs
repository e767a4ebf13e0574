//! Examines a file of SQLite.

use crate::driver::examine::{Finding, RIGHTS};
use std::fs::OpenOptions;
use std::path::Path;

/// Checks if this process may write a file, without touching it. A database in memory has none.
pub(super) fn examine(file: &Path) -> Vec<Finding> {
    if !file.is_file() {
        return Vec::new();
    }
    vec![match OpenOptions::new().append(true).open(file) {
        Ok(_) => Finding::fine(RIGHTS, "the file can be written"),
        Err(error) => Finding::unfit(
            RIGHTS,
            format!("the file {} cannot be written: {error}", file.display()),
            "give the user of `ingester run` the right to write the file and its folder",
        ),
    }]
}
