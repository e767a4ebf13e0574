//! What a person at a terminal sees while work goes on. Where standard error is no terminal, nothing is drawn.
//!
//! May use: nothing.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// How often a line is drawn again.
const TICK: Duration = Duration::from_millis(200);

/// A bar of work whose end is known.
pub(crate) fn bar(length: u64, template: &str) -> ProgressBar {
    ProgressBar::new(length).with_style(style(template))
}

/// A line that moves, for work whose end is not known.
pub(crate) fn spinner(template: &str) -> ProgressBar {
    let bar = ProgressBar::new_spinner().with_style(style(template));
    bar.enable_steady_tick(TICK);
    bar
}

/// Lets a bar move although nothing has happened.
pub(crate) fn tick(bar: &ProgressBar) {
    bar.enable_steady_tick(TICK);
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
