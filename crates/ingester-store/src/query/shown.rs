//! Shows the state of an object inside the object: annotations that only answers have, and the list of parts that are not stored. A live
//! object is shown byte for byte as the cluster has it, unless its kind prunes.

use super::at::ObjectVersion;
use super::found::FoundRow;
use crate::changes::ChangeKind;
use ingester_core::Kind;
use ingester_core::json::{Error, Reader};
use ingester_core::marks::shown::{
    self, CHANGE, CHANGED, DELETED_AT, EVICTED_AT, GROUP, PRUNED, STATE, VALID_FROM, VALID_TO,
};
use ingester_core::schema::base;
use ingester_core::value::Micros;
use std::borrow::Cow;

/// The indexes of the columns that a row's state needs.
pub const STATE_PLACES: [usize; 3] = [base::DELETE_TIME, base::EVICT_TIME, base::EVICT_CONFIRMED];

/// The state that an answer shows in its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownState {
    state: &'static str,
    evicted: Option<Micros>,
    deleted: Option<Micros>,
    /// The paths that the row lacks.
    pruned: &'static [&'static str],
    /// For one of several versions: the times at which it began and ended, and the change with which it began.
    version: Option<(Micros, Option<Micros>, Option<ChangeKind>)>,
}

impl ShownState {
    /// Returns the state of a row of a kind. The columns of [`STATE_PLACES`] must have been read.
    pub fn from_row(kind: &Kind, row: &FoundRow) -> Self {
        let evicted = row.time(base::EVICT_TIME);
        let deleted = row.time(base::DELETE_TIME);
        ShownState { state: row.state(), evicted, deleted, pruned: kind.prune(), version: None }
    }

    /// Returns the state of a version of an object, including the time for which it was valid.
    pub fn of_version(kind: &Kind, version: &ObjectVersion) -> Self {
        let ObjectVersion { from, to, change, row } = version;
        ShownState { version: Some((*from, *to, *change)), ..ShownState::from_row(kind, row) }
    }

    /// Returns the state of an object that was evicted at this time. Such an object is stored completely.
    pub fn evicted(time: Option<Micros>) -> Self {
        ShownState { state: "evicted", evicted: time, deleted: None, pruned: &[], version: None }
    }

    /// Returns the state of an evicted row before it was deleted.
    #[must_use]
    pub fn without_deletion(self) -> Self {
        ShownState { state: "evicted", deleted: None, ..self }
    }

    /// Returns true if only answers have an annotation with this key. A writer's value for it is ignored.
    pub fn is_shown_by(key: &str) -> bool {
        shown::ALL.contains(&key)
    }

    /// Returns the object with this text in this state. State annotations in the text itself are left out.
    pub fn object(self, text: &str) -> Cow<'_, str> {
        self.object_with(text, &[])
    }

    /// Like [`ShownState::object`], for a version that differs at these paths from the one before it.
    pub fn object_with<'t>(self, text: &'t str, changed: &[String]) -> Cow<'t, str> {
        if self.is_in(text) {
            return text.into();
        }
        let Some((from, metadata)) = metadata(text) else { return text.into() };
        let shown = self.written(metadata, changed).map_or(Cow::Borrowed(metadata), Cow::Owned);
        [&text[..from], &shown, &text[from + metadata.len()..]].concat().into()
    }

    /// Like [`ShownState::object`], for the text of an object's metadata.
    pub fn metadata(self, text: &str) -> Cow<'_, str> {
        // A text that is not an object is shown as it is.
        if self.is_in(text) { text.into() } else { self.written(text, &[]).map_or(Cow::Borrowed(text), Cow::Owned) }
    }

    /// Returns true if there is nothing to write or to leave out. This is the case for a complete live object, unless it has such
    /// annotations itself.
    fn is_in(self, text: &str) -> bool {
        self.state == "live" && self.pruned.is_empty() && self.version.is_none() && !text.contains(GROUP)
    }

    fn written(self, metadata: &str, changed: &[String]) -> Result<String, Error> {
        let mut reader = Reader::new(metadata);
        let mut members = Vec::new();
        let mut is_empty = true;
        let mut at = None;
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            is_empty = false;
            let from = reader.offset();
            let value = reader.raw()?;
            if key == "annotations" {
                at = Some(from..from + value.len());
                members = others(value)?;
            }
        }
        let time = |time: Option<Micros>| time.map(Micros::rfc3339);
        let state = (self.state != "live").then(|| self.state.to_owned());
        let pruned = (!self.pruned.is_empty()).then(|| self.pruned.join(", "));
        let evicted = time(self.evicted);
        let deleted = time(self.deleted);
        let from = time(self.version.map(|(from, ..)| from));
        let to = time(self.version.and_then(|(_, to, _)| to));
        let change = self.version.and_then(|(.., change)| change).map(|change| change.as_str().to_owned());
        let changed = (!changed.is_empty()).then(|| changed.join(", "));
        let of_state = [(STATE, state), (EVICTED_AT, evicted), (DELETED_AT, deleted), (PRUNED, pruned)];
        let of_version = [(VALID_FROM, from), (VALID_TO, to), (CHANGE, change), (CHANGED, changed)];
        for (name, value) in of_state.into_iter().chain(of_version) {
            members.extend(value.map(|value| format!("\"{name}\":{}", serde_json::Value::from(value))));
        }
        let annotations = format!("{{{}}}", members.join(","));
        Ok(match at {
            Some(at) => [&metadata[..at.start], &annotations, &metadata[at.end..]].concat(),
            None => {
                let comma = if is_empty { "" } else { "," };
                [r#"{"annotations":"#, &annotations, comma, metadata.trim_start().get(1..).unwrap_or("}")].concat()
            }
        })
    }
}

/// Returns the text of an object's metadata and its offset; `None` if there is none. The text behind it is not read.
pub fn metadata(text: &str) -> Option<(usize, &str)> {
    let mut reader = Reader::new(text);
    reader.begin_object().ok()?;
    while let Some(key) = reader.next_key().ok()? {
        let from = reader.offset();
        let value = reader.pass().ok()?;
        if key == "metadata" {
            return value.starts_with('{').then_some((from, value));
        }
    }
    None
}

/// Returns the members of an object's annotations that are not ours, as text; empty if the annotations are not a map.
fn others(annotations: &str) -> Result<Vec<String>, Error> {
    let mut reader = Reader::new(annotations);
    let mut members = Vec::new();
    if !annotations.starts_with('{') {
        return Ok(members);
    }
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        let value = reader.raw()?;
        if !ShownState::is_shown_by(&key) {
            members.push(format!("{}:{value}", serde_json::Value::from(key)));
        }
    }
    Ok(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIVE: ShownState = ShownState { state: "live", evicted: None, deleted: None, pruned: &[], version: None };
    const EVICTED: ShownState = ShownState { state: "evicted", evicted: Some(Micros(0)), ..LIVE };
    const DELETED: ShownState = ShownState { state: "deleted", deleted: Some(Micros(1_500_000)), ..EVICTED };

    #[test]
    fn a_live_object_stays_as_it_is() {
        for text in [r#"{ "metadata": {"name":"a","annotations":{"b" : "c"}}}"#, "{}", "", "[]"] {
            assert!(matches!(LIVE.object(text), Cow::Borrowed(shown) if shown == text), "{text}");
        }
    }

    #[test]
    fn the_state_is_written_between_what_stays_as_it_is() {
        let ours =
            r#""mirror.michelangelo.api/state":"evicted","mirror.michelangelo.api/evicted-at":"1970-01-01T00:00:00Z""#;
        for (text, expected) in [
            (
                r#"{"kind":"A", "metadata": {"name":"a\u0041", "annotations" : {"x\"": "y"} ,"uid":"1"},"spec":{"n":1.50}}"#,
                format!(
                    r#"{{"kind":"A", "metadata": {{"name":"a\u0041", "annotations" : {{"x\"":"y",{ours}}} ,"uid":"1"}},"spec":{{"n":1.50}}}}"#
                ),
            ),
            (r#"{"metadata":{"name":"a"}}"#, format!(r#"{{"metadata":{{"annotations":{{{ours}}},"name":"a"}}}}"#)),
            (r#"{"metadata":{}}"#, format!(r#"{{"metadata":{{"annotations":{{{ours}}}}}}}"#)),
            (
                r#"{"metadata":{"annotations":null,"name":"a"}}"#,
                format!(r#"{{"metadata":{{"annotations":{{{ours}}},"name":"a"}}}}"#),
            ),
            (r#"{"kind":"A"}"#, r#"{"kind":"A"}"#.to_owned()),
        ] {
            assert_eq!(EVICTED.object(text), expected);
        }
        let deleted: serde_json::Value = serde_json::from_str(&DELETED.metadata(r#"{"name":"a"}"#)).unwrap();
        assert_eq!(deleted["annotations"][DELETED_AT], "1970-01-01T00:00:01.5Z");
        assert_eq!(deleted["annotations"][STATE], "deleted");
    }

    #[test]
    fn what_an_object_says_of_its_state_itself_is_not_shown() {
        let text = r#"{"metadata":{"annotations":{"mirror.michelangelo.api/state":"deleted","a":"b","mirror.michelangelo.api\u002fdeleted-at":"x"}}}"#;
        assert_eq!(LIVE.object(text), r#"{"metadata":{"annotations":{"a":"b"}}}"#);
        let shown: serde_json::Value = serde_json::from_str(&EVICTED.object(text)).unwrap();
        let annotations = shown["metadata"]["annotations"].as_object().unwrap();
        assert_eq!((annotations.len(), &annotations[STATE]), (3, &"evicted".into()));
        // Showing it once more changes nothing.
        let again = EVICTED.object(text).into_owned();
        assert_eq!(EVICTED.object(&again), again);
    }

    #[test]
    fn what_is_not_stored_of_a_live_object_is_said_in_it() {
        let pruned = ShownState { pruned: &[".spec.token", r#".data["a/b"]"#], ..LIVE };
        let shown: serde_json::Value = serde_json::from_str(&pruned.object(r#"{"metadata":{"name":"a"}}"#)).unwrap();
        let annotations = shown["metadata"]["annotations"].as_object().unwrap();
        assert_eq!((annotations.len(), &annotations[PRUNED]), (1, &r#".spec.token, .data["a/b"]"#.into()));
        assert_eq!(LIVE.object(&shown.to_string()), r#"{"metadata":{"annotations":{},"name":"a"}}"#);
    }

    #[test]
    fn a_version_says_when_it_was_there_and_what_changed() {
        let version = Some((Micros(0), Some(Micros(1_500_000)), Some(ChangeKind::Updated)));
        let text = r#"{"metadata":{"name":"a"}}"#;
        let shown = ShownState { version, ..LIVE }.object_with(text, &[".spec.x".to_owned(), ".status".to_owned()]);
        let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
        let expected = serde_json::json!({
            VALID_FROM: "1970-01-01T00:00:00Z", VALID_TO: "1970-01-01T00:00:01.5Z", CHANGE: "updated",
            CHANGED: ".spec.x, .status",
        });
        assert_eq!(shown["metadata"]["annotations"], expected);
        // Shown annotations do not become the object's own.
        assert_eq!(LIVE.object(&shown.to_string()), r#"{"metadata":{"annotations":{},"name":"a"}}"#);
    }

    #[test]
    fn metadata_are_cut_out_as_they_are() {
        let text = r#"{"kind":"A","metadata":{"name":"a", "labels":{"b":"c"}},"spec":{"x":1}}"#;
        assert_eq!(metadata(text), Some((23, r#"{"name":"a", "labels":{"b":"c"}}"#)));
        for text in ["{}", "", r#"{"metadata":null}"#, r#"{"metadata":{"a":1}"#] {
            let found = metadata(text).map(|(_, metadata)| metadata);
            assert_eq!(found, text.contains("{\"a\"").then_some(r#"{"a":1}"#), "{text}");
        }
    }

    #[test]
    fn the_names_begin_with_the_group() {
        for name in shown::ALL {
            assert!(name.strip_prefix(GROUP).is_some_and(|rest| rest.starts_with('/')), "{name}");
        }
    }
}
