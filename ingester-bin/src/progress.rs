//! The progress that a person at a terminal sees. If standard error is not a terminal, nothing is drawn.
//!
//! May use: nothing.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// The interval between redraws of a line.
const TICK: Duration = Duration::from_millis(200);

/// A bar for work whose end is known.
pub(crate) fn bar(length: u64, template: &str) -> ProgressBar {
    ProgressBar::new(length).with_style(style(template))
}

/// A moving line, for work whose end is unknown.
pub(crate) fn spinner(template: &str) -> ProgressBar {
    let bar = ProgressBar::new_spinner().with_style(style(template));
    bar.enable_steady_tick(TICK);
    bar
}

/// Keeps a bar moving even if nothing has happened.
pub(crate) fn tick(bar: &ProgressBar) {
    bar.enable_steady_tick(TICK);
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
