//! Where a page ends and the next one begins: the values of the order in the last row. So pages neither repeat nor leave out a row
//! that is there all the time, whatever comes and goes between them.

use ingester_core::value::Value;
use ingester_sql::dialect::Range;
use ingester_sql::query::Checked;

/// A place in the order of a query.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cursor {
    /// The parts of the order that are left, the present one first: whether the first column is NULL in it, if it can be.
    parts: &'static [Option<bool>],
    /// The values of the order in the last row that was read.
    after: Option<Box<[Value]>>,
}

impl Cursor {
    /// The beginning.
    pub(super) fn begin(query: &Checked) -> Self {
        Cursor { parts: parts(query), after: None }
    }

    /// The place after the row with these values of the order; `None` if they are not of this order.
    pub(super) fn after(query: &Checked, values: Box<[Value]>) -> Option<Self> {
        if values.len() != query.order().len() {
            return None;
        }
        let is_null = values.first() == Some(&Value::Null);
        let parts = parts(query);
        let part = parts.iter().position(|part| part.is_none_or(|null| null == is_null))?;
        Some(Cursor { parts: &parts[part..], after: Some(values) })
    }

    /// What is read next; `None` at the end.
    pub(super) fn range(&self) -> Option<Range<'_>> {
        self.parts.first().map(|null| Range { null: *null, after: self.after.as_deref() })
    }

    /// Goes on after the row with these values of the order.
    pub(super) fn advance(&mut self, values: Box<[Value]>) {
        self.after = Some(values);
    }

    /// The present part has no more rows.
    pub(super) fn next_part(&mut self) {
        self.parts = self.parts.get(1..).unwrap_or_default();
        self.after = None;
    }

    /// The values of the order in the last row that was read.
    pub(super) fn values(&self) -> Option<&[Value]> {
        self.after.as_deref()
    }
}

/// Missing values come first, or last where the order descends.
fn parts(query: &Checked) -> &'static [Option<bool>] {
    match query.order().first() {
        Some(first) if query.table().columns[first.place].nullable => {
            if first.descending {
                &[Some(false), Some(true)]
            } else {
                &[Some(true), Some(false)]
            }
        }
        _ => &[None],
    }
}
