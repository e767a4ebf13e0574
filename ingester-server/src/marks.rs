//! What the ingester writes into objects: names that the mirror, and the reference system, use too.
//!
//! May use: nothing.

/// The finalizer: the object does not leave etcd before SQL has it.
pub(crate) const FINALIZER: &str = "michelangelo/Ingester";

/// The annotation that deletes the object.
pub(crate) const DELETING: &str = "michelangelo/Deleting";

/// The annotations that the reference system keeps itself: nobody else changes them.
pub(crate) const KEPT: [&str; 2] = ["michelangelo/UpdateTimestamp", "michelangelo/SpecUpdateTimestamp"];
