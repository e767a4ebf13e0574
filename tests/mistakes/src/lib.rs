//! The mirror with mistakes that it once made and can make again: the simulation must find each.
//!
//! The build script copies the sources of `ingester-mirror` and edits the copy as `table.rs` says, so the sources themselves do not
//! know of it. The copy is compiled for tests alone, and optimized, so it also runs the histories without a mistake. It is linted where it comes from.

#![cfg(all(test, not(clippy)))]
#![allow(dead_code, unused_imports, reason = "what only the tests of the mirror use is left over in the copy")]

mod table;
mod tests;

use std::cell::Cell;

include!(concat!(env!("OUT_DIR"), "/src/lib.rs"));

thread_local! {
    static MADE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Whether this thread makes the mistake with this number. The edits ask it.
pub(crate) fn made(number: usize) -> bool {
    MADE.get() == Some(number)
}

/// Makes this mistake, and no other, in this thread from now on.
pub(crate) fn make(number: Option<usize>) {
    MADE.set(number);
}
