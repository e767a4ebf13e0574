//! Values that live until the process ends.
//!
//! Kinds, their tables and columns, and views are `'static`. For structs they are constants. For files they are made once, at the start,
//! and used until the process ends, so they are never freed.
//!
//! May use: nothing.

/// Keeps a value until the process ends. Use it only at the start, for values from files and arguments: a value that comes with an object
/// or a request would take more memory each time.
pub fn kept<T: ?Sized>(value: impl Into<Box<T>>) -> &'static T {
    Box::leak(value.into())
}
