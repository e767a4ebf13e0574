//! Reads the state of an object from the annotations that `ingester serve` and `ingester get` show. Only an import with states reads them,
//! so no other file can make an evicted or a deleted row.

use ingester_core::json::{Error, Reader};
use ingester_core::marks::shown;
use ingester_core::row::Row;
use ingester_core::value::Micros;
use ingester_core::wire::Time;

/// The state in the annotations of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AnnotatedState {
    deleted: Option<Micros>,
    /// The time at which its eviction began, and true if it has left the cluster.
    evicted: Option<(Micros, bool)>,
}

impl AnnotatedState {
    /// Gives a row this state.
    pub(super) fn put(self, row: &mut Row) {
        row.delete_time = self.deleted;
        row.evict_time = self.evicted.map(|(time, _)| time);
        row.evict_confirmed = self.evicted.is_some_and(|(_, confirmed)| confirmed);
    }

    /// Turns a live object into one that has left the cluster for good at this time.
    pub(super) fn or_evicted(self, time: Micros) -> Self {
        match self {
            AnnotatedState { deleted: None, evicted: None } => {
                AnnotatedState { deleted: None, evicted: Some((time, true)) }
            }
            said => said,
        }
    }

    /// # Errors
    /// The wrong annotation.
    fn from_annotations(found: &[(String, String)]) -> Result<Self, String> {
        let text = |name: &str| found.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let time = |name: &str| {
            let Some(text) = text(name) else { return Ok(None) };
            let time = text.parse().map(|moment| Time(moment).micros());
            time.map(Some)
                .map_err(|_| format!("the annotation {name} is `{text}`, and no time such as 2026-01-31T12:00:00Z"))
        };
        let deleted = time(shown::DELETED_AT)?;
        let evicted = time(shown::EVICTED_AT)?;
        let needed = |name: &str, time: Option<Micros>, state: &str| {
            time.ok_or_else(|| format!("the annotation {} is `{state}`, but there is no {name}", shown::STATE))
        };
        match text(shown::STATE) {
            None | Some("live") => match (deleted, evicted) {
                (None, None) => Ok(AnnotatedState::default()),
                _ => Err(format!("it has a time of deletion or eviction, but no annotation {}", shown::STATE)),
            },
            Some(state @ "deleted") => Ok(AnnotatedState {
                deleted: Some(needed(shown::DELETED_AT, deleted, state)?),
                evicted: evicted.map(|time| (time, true)),
            }),
            Some(state @ ("evicted" | "evicting")) => Ok(AnnotatedState {
                deleted: None,
                evicted: Some((needed(shown::EVICTED_AT, evicted, state)?, state == "evicted")),
            }),
            Some(other) => Err(format!(
                "the annotation {} is `{}`; known: live, evicting, evicted, deleted",
                shown::STATE,
                other.chars().take(40).collect::<String>()
            )),
        }
    }
}

/// Returns the text of an object without these annotations, and their state. A text without any stays as it is.
///
/// # Errors
/// The wrong annotation.
pub(super) fn taken(text: String) -> Result<(String, AnnotatedState), String> {
    // The parser will report a text that is not an object.
    let Ok(Some(annotations)) = annotations(&text) else { return Ok((text, AnnotatedState::default())) };
    let Annotations { member, value, found, others } = annotations;
    let said = AnnotatedState::from_annotations(&found)?;
    if found.is_empty() {
        return Ok((text, said));
    }
    let text = match others.is_empty() {
        // The state annotations were the only ones, so the member came with them.
        true => without_member(&text, member),
        false => [&text[..value.start], "{", &others.join(","), "}", &text[value.end..]].concat(),
    };
    Ok((text, said))
}

/// The annotations in an object's text.
struct Annotations {
    /// The range of the member in the metadata, from its key to the end of its value.
    member: std::ops::Range<usize>,
    /// The range of its value.
    value: std::ops::Range<usize>,
    /// The annotations that show the state.
    found: Vec<(String, String)>,
    /// The other annotations, as they are written.
    others: Vec<String>,
}

fn annotations(text: &str) -> Result<Option<Annotations>, Error> {
    let mut reader = Reader::new(text);
    reader.begin_object()?;
    loop {
        match reader.next_key()? {
            None => return Ok(None),
            Some(key) if key == "metadata" => break,
            Some(_) => reader.skip()?,
        }
    }
    reader.begin_object()?;
    let mut before = reader.offset();
    loop {
        match reader.next_key()? {
            None => return Ok(None),
            Some(key) if key == "annotations" => break,
            Some(_) => reader.skip()?,
        }
        before = reader.offset();
    }
    let start = before + text[before..].find('"').unwrap_or_default();
    let raw = reader.raw()?;
    let end = reader.offset();
    let mut found = Vec::new();
    let mut others = Vec::new();
    if raw.starts_with('{') {
        let mut reader = Reader::new(raw);
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            if shown::ALL.contains(&&*key) {
                found.push((key.into_owned(), reader.string()?.into_owned()));
            } else {
                others.push(format!("{}:{}", serde_json::Value::from(&*key), reader.raw()?));
            }
        }
    }
    Ok(Some(Annotations { member: start..end, value: end - raw.len()..end, found, others }))
}

/// Returns a text without a member, and without one of the commas next to it.
fn without_member(text: &str, member: std::ops::Range<usize>) -> String {
    let before = text[..member.start].trim_end();
    let behind = text[member.end..].trim_start();
    match (behind.strip_prefix(','), before.strip_suffix(',')) {
        (Some(behind), _) => [before, behind.trim_start()].concat(),
        (None, Some(before)) => [before, behind].concat(),
        (None, None) => [before, behind].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::{AnnotatedState, taken};
    use ingester_core::value::Micros;

    const STATE: &str = "mirror.michelangelo.api/state";
    const EVICTED_AT: &str = "mirror.michelangelo.api/evicted-at";
    const DELETED_AT: &str = "mirror.michelangelo.api/deleted-at";

    fn render_object(annotations: &str) -> String {
        format!(r#"{{"kind":"A","metadata":{{"name":"a",{annotations}"uid":"1"}},"n":1.50}}"#)
    }

    #[test]
    fn the_annotations_of_the_state_are_taken_and_everything_else_stays_as_it_is() {
        let ours = format!(r#""{STATE}":"evicted","{EVICTED_AT}":"1970-01-01T00:00:01.5Z""#);
        let said = AnnotatedState { deleted: None, evicted: Some((Micros(1_500_000), true)) };
        for (with, without) in [
            (format!(r#""annotations":{{{ours}}},"#), String::new()),
            (format!(r#""annotations" : {{"x\"":"y", {ours}}},"#), r#""annotations" : {"x\"":"y"},"#.to_owned()),
        ] {
            assert_eq!(taken(render_object(&with)), Ok((render_object(&without), said)));
        }
        let last = format!(r#"{{"metadata":{{"name":"a","annotations":{{{ours}}}}}}}"#);
        assert_eq!(taken(last), Ok((r#"{"metadata":{"name":"a"}}"#.to_owned(), said)));
        for plain in [render_object(""), render_object(r#""annotations":{"a":"b"},"#), "[]".to_owned(), "{".to_owned()]
        {
            assert_eq!(taken(plain.clone()), Ok((plain, AnnotatedState::default())));
        }
    }

    #[test]
    fn only_an_object_without_another_state_is_assumed_to_be_evicted() {
        let evicted = AnnotatedState { deleted: None, evicted: Some((Micros(5), true)) };
        assert_eq!(AnnotatedState::default().or_evicted(Micros(5)), evicted);
        for said in [
            AnnotatedState { deleted: Some(Micros(1)), evicted: None },
            AnnotatedState { deleted: None, evicted: Some((Micros(1), false)) },
        ] {
            assert_eq!(said.or_evicted(Micros(5)), said);
        }
    }

    #[test]
    fn a_state_needs_its_time_and_a_time_its_state() {
        let of = |pairs: &[(&str, &str)]| {
            let pairs: Vec<(String, String)> =
                pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
            AnnotatedState::from_annotations(&pairs)
        };
        let time = "1970-01-01T00:00:00Z";
        let deleted = AnnotatedState { deleted: Some(Micros(0)), evicted: Some((Micros(0), true)) };
        assert_eq!(of(&[(STATE, "deleted"), (DELETED_AT, time), (EVICTED_AT, time)]), Ok(deleted));
        let evicting = AnnotatedState { deleted: None, evicted: Some((Micros(0), false)) };
        assert_eq!(of(&[(STATE, "evicting"), (EVICTED_AT, time)]), Ok(evicting));
        for (pairs, says) in [
            (vec![(STATE, "evicted")], "there is no mirror.michelangelo.api/evicted-at"),
            (vec![(STATE, "deleted"), (EVICTED_AT, time)], "there is no mirror.michelangelo.api/deleted-at"),
            (vec![(EVICTED_AT, time)], "no annotation mirror.michelangelo.api/state"),
            (vec![(STATE, "live"), (DELETED_AT, time)], "no annotation mirror.michelangelo.api/state"),
            (vec![(STATE, "gone")], "`gone`; known: live, evicting, evicted, deleted"),
            (vec![(STATE, "deleted"), (DELETED_AT, "today")], "is `today`, and no time"),
        ] {
            let error = of(&pairs).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
