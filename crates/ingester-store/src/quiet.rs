//! Calls libraries that panic on input from another program.
//!
//! May use: nothing.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Panics of this thread are not reported.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Returns the result; `None` if it panics, without printing anything.
pub fn quietly<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                before(panic);
            }
        }));
    });
    QUIET.set(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    QUIET.set(false);
    done.ok()
}

#[cfg(test)]
mod tests {
    use super::{QUIET, quietly};

    #[test]
    fn a_panic_that_is_expected_is_not_reported_and_the_next_one_is() {
        assert_eq!(quietly(|| 7), Some(7));
        assert_eq!(quietly(|| -> u8 { panic!("TOPSECRET") }), None);
        assert!(!QUIET.get());
    }
}
