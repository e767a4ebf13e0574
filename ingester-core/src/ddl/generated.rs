//! The migrations that a program carries, as text. `ingester-store` reads and runs them.

/// A folder of generated SQL inside a program, made by [`generated_sql!`](ingester_core::generated_sql).
#[derive(Clone, Copy, Debug)]
pub struct GeneratedSql {
    /// The text of `schema.lock.json`.
    pub lock: &'static str,
    /// Every migration's files: path within the folder, text.
    pub files: &'static [(&'static str, &'static str)],
}
