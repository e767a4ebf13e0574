//! A row of a query's result.

use ingester_core::object::StringMap;
use ingester_core::row::{Eviction, Standing, Version};
use ingester_core::schema::base;
use ingester_core::value::{Micros, Value};
use std::sync::Arc;

/// The indexes of the columns that a row's [standing](FoundRow::standing) needs.
pub const STANDING_PLACES: [usize; 5] =
    [base::RES_VERSION, base::INGEST_VERSION, base::DELETE_TIME, base::EVICT_TIME, base::EVICT_CONFIRMED];

/// The requested columns of one row.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundRow {
    pub(super) places: Arc<[usize]>,
    pub(super) values: Box<[Value]>,
    pub(super) labels: Option<StringMap>,
}

impl FoundRow {
    /// Returns the value of the column at this index of its table; `None` if it was not requested.
    pub fn get(&self, place: usize) -> Option<&Value> {
        let index = self.places.iter().position(|other| *other == place)?;
        self.values.get(index)
    }

    /// Returns the text of the column at this index; empty if it is NULL, not text, or was not requested.
    pub fn get_text(&self, place: usize) -> &str {
        match self.get(place) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    /// Returns the time of the column at this index.
    pub fn time(&self, place: usize) -> Option<Micros> {
        match self.get(place) {
            Some(Value::Time(time)) => Some(*time),
            _ => None,
        }
    }

    /// Returns `live`, `evicting`, `evicted` or `deleted`. The columns `delete_time`, `evict_time` and `evict_confirmed` must have been
    /// requested. In a selection by state, an evicting object counts as evicted.
    pub fn state(&self) -> &'static str {
        match (self.time(base::DELETE_TIME), self.time(base::EVICT_TIME)) {
            (Some(_), _) => "deleted",
            (None, Some(_)) if self.get(base::EVICT_CONFIRMED) == Some(&Value::Bool(false)) => "evicting",
            (None, Some(_)) => "evicted",
            (None, None) => "live",
        }
    }

    /// Returns the standing of the row in the life of its object. The columns of [`STANDING_PLACES`] must have been read.
    pub fn standing(&self) -> Standing {
        let number = |place| match self.get(place) {
            Some(Value::UInt(number)) => *number,
            Some(Value::Int(number)) => number.unsigned_abs(),
            _ => 0,
        };
        let delete_time = self.time(base::DELETE_TIME);
        let evict_time = self.time(base::EVICT_TIME);
        let confirmed = self.get(base::EVICT_CONFIRMED).unwrap_or(&Value::Null);
        let version = Version {
            res_version: number(base::RES_VERSION),
            ingest_version: u32::try_from(number(base::INGEST_VERSION)).unwrap_or(u32::MAX),
            deleted: delete_time.is_some(),
            eviction: Eviction::stored(evict_time.is_some(), confirmed),
        };
        Standing { version, delete_time, evict_time }
    }

    /// Returns the object's uid.
    pub fn uid(&self) -> &str {
        self.get_text(base::UID)
    }

    /// Returns the labels, sorted by key; `None` if they were not requested.
    pub fn labels(&self) -> Option<&StringMap> {
        self.labels.as_ref()
    }

    /// Returns roughly how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        let of = |value: &Value| match value {
            Value::Text(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            _ => 0,
        };
        self.values.iter().map(|value| size_of::<Value>() + of(value)).sum()
    }
}
