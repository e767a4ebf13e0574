//! What lives to the end of the process.
//!
//! Kinds, their tables and columns, and views are `'static`: those of structs are constants. Those of a file are made at the start, once,
//! and used to the end, so they are never freed.
//!
//! May use: nothing.

/// Keeps a value to the end of the process. Only for what is made at its start, from files and arguments: what comes with an object or a
/// request would take more memory each time.
pub fn kept<T: ?Sized>(value: impl Into<Box<T>>) -> &'static T {
    Box::leak(value.into())
}
