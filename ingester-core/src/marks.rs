//! The finalizer and the annotations by which an object's life is steered: names of the reference system, and our own.
//!
//! May use: nothing.

/// Our finalizer, with the name that the reference system uses: the object does not leave etcd before SQL has it.
pub const FINALIZER: &str = "michelangelo/Ingester";

/// The annotation that, with the value `true`, makes the object final: it moves from etcd to SQL.
pub const IMMUTABLE: &str = "michelangelo/Immutable";

/// The annotation that, with the value `true`, requests the deletion of the object, in SQL and in Kubernetes.
pub const DELETING: &str = "michelangelo/Deleting";

/// The annotation of an object that was brought back: the uid of the row that it came from.
pub const RESTORED_FROM: &str = "michelangelo/RestoredFrom";

/// The annotation of an object that was brought back through the server: the user who asked for it.
pub const RESTORED_BY: &str = "michelangelo/RestoredBy";

/// The annotations that the reference system keeps itself. Requests do not change them.
pub const KEPT: [&str; 2] = ["michelangelo/UpdateTimestamp", "michelangelo/SpecUpdateTimestamp"];
