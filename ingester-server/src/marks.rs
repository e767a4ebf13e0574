//! What the ingester writes into objects: names that the mirror, and the reference system, use too.
//!
//! May use: nothing.

/// The finalizer: the object does not leave etcd before SQL has it.
pub(crate) const FINALIZER: &str = "michelangelo/Ingester";

/// The annotation that moves the object from etcd to SQL.
pub(crate) const IMMUTABLE: &str = "michelangelo/Immutable";

/// The annotation that deletes the object.
pub(crate) const DELETING: &str = "michelangelo/Deleting";

/// The annotation of an object that was brought back: the uid of the row that it came from.
pub(crate) const RESTORED_FROM: &str = "michelangelo/RestoredFrom";

/// The annotation of an object that was brought back through the server: the user who asked for it.
pub(crate) const RESTORED_BY: &str = "michelangelo/RestoredBy";

/// The annotations that the reference system keeps itself: nobody else changes them.
pub(crate) const KEPT: [&str; 2] = ["michelangelo/UpdateTimestamp", "michelangelo/SpecUpdateTimestamp"];
