//! A row that was found.

use ingester_core::object::StringMap;
use ingester_core::row::{Eviction, Standing, Version};
use ingester_core::schema::base;
use ingester_core::value::{Micros, Value};
use std::sync::Arc;

/// The places of what has to be read of a row for its [standing](FoundRow::standing).
pub const STANDING_PLACES: [usize; 5] =
    [base::RES_VERSION, base::INGEST_VERSION, base::DELETE_TIME, base::EVICT_TIME, base::EVICT_CONFIRMED];

/// The columns of one row that were asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundRow {
    pub(super) places: Arc<[usize]>,
    pub(super) values: Box<[Value]>,
    pub(super) labels: Option<StringMap>,
}

impl FoundRow {
    /// The value of the column at this place of its table; `None` if it was not asked for.
    pub fn get(&self, place: usize) -> Option<&Value> {
        let index = self.places.iter().position(|other| *other == place)?;
        self.values.get(index)
    }

    /// The text of the column at this place; empty if it is NULL, not text, or was not asked for.
    pub fn text(&self, place: usize) -> &str {
        match self.get(place) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    /// The time of the column at this place.
    pub fn time(&self, place: usize) -> Option<Micros> {
        match self.get(place) {
            Some(Value::Time(time)) => Some(*time),
            _ => None,
        }
    }

    /// `live`, `evicting`, `evicted` or `deleted`; the times of eviction and deletion, and whether the eviction is confirmed, must have been
    /// asked for. An object that is evicting counts as evicted where states are selected.
    pub fn state(&self) -> &'static str {
        match (self.time(base::DELETE_TIME), self.time(base::EVICT_TIME)) {
            (Some(_), _) => "deleted",
            (None, Some(_)) if self.get(base::EVICT_CONFIRMED) == Some(&Value::Bool(false)) => "evicting",
            (None, Some(_)) => "evicted",
            (None, None) => "live",
        }
    }

    /// Where it stands in the life of its object; the [places](STANDING_PLACES) must have been read.
    pub fn standing(&self) -> Standing {
        let number = |place| match self.get(place) {
            Some(Value::UInt(number)) => *number,
            Some(Value::Int(number)) => number.unsigned_abs(),
            _ => 0,
        };
        let (delete_time, evict_time) = (self.time(base::DELETE_TIME), self.time(base::EVICT_TIME));
        let confirmed = self.get(base::EVICT_CONFIRMED).unwrap_or(&Value::Null);
        let version = Version {
            res_version: number(base::RES_VERSION),
            ingest_version: u32::try_from(number(base::INGEST_VERSION)).unwrap_or(u32::MAX),
            deleted: delete_time.is_some(),
            eviction: Eviction::stored(evict_time.is_some(), confirmed),
        };
        Standing { version, delete_time, evict_time }
    }

    /// The object's uid.
    pub fn uid(&self) -> &str {
        self.text(base::UID)
    }

    /// The labels, sorted by key; `None` if they were not asked for.
    pub fn labels(&self) -> Option<&StringMap> {
        self.labels.as_ref()
    }

    /// About how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        let of = |value: &Value| match value {
            Value::Text(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            _ => 0,
        };
        self.values.iter().map(|value| size_of::<Value>() + of(value)).sum()
    }
}
