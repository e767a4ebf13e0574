//! The migrations that are built into a program, as text. `ingester-store` parses and runs them.
//! May use: nothing.

/// A folder of generated SQL within a program, made by [`generated_sql!`](crate::generated_sql).
#[derive(Clone, Copy, Debug)]
pub struct GeneratedSql {
    /// The text of `schema.lock.json`.
    pub lock: &'static str,
    /// The files of the migrations: path within the folder, and text.
    pub files: &'static [(&'static str, &'static str)],
    /// The file with [`generated_sql!`](crate::generated_sql), if the folder had no lock file when it was compiled. cargo does not track
    /// files that did not exist, so it rebuilds only when this file is touched.
    pub source: Option<&'static str>,
}
