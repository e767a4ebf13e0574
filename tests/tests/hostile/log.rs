//! The lines of the access log.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// The lines of the access log, by field.
static LINES: LazyLock<Arc<Mutex<Vec<LogLine>>>> = LazyLock::new(|| {
    let lines = Arc::<Mutex<Vec<LogLine>>>::default();
    tracing::subscriber::set_global_default(LogLines(lines.clone())).unwrap();
    lines
});

pub(crate) type LogLine = BTreeMap<&'static str, String>;

/// Keeps the lines of the access log.
struct LogLines(Arc<Mutex<Vec<LogLine>>>);

impl tracing::Subscriber for LogLines {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target() == "audit"
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        struct Fields(LogLine);
        impl tracing::field::Visit for Fields {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                self.0.insert(field.name(), format!("{value:?}").trim_matches('"').to_owned());
            }
        }
        let mut fields = Fields(LogLine::new());
        event.record(&mut fields);
        self.0.lock().push(fields.0);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

/// The lines of this user.
pub(crate) fn lines(user: &str) -> Vec<LogLine> {
    let lines = LINES.lock();
    lines.iter().filter(|line| line.get("user").map_or("", String::as_str) == user).cloned().collect()
}

/// A line's values of these fields; `-` for no value.
pub(crate) fn render_line(line: &LogLine, fields: &[&str]) -> String {
    let values: Vec<&str> = fields
        .iter()
        .map(|field| line.get(*field).map_or("-", String::as_str))
        .map(|value| if value.is_empty() { "-" } else { value })
        .collect();
    values.join(" ")
}

/// Forgets all lines.
pub(crate) fn forget() {
    LINES.lock().clear();
}
