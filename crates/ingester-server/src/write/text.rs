//! The text of an object with other labels and annotations. Everything else keeps its stored bytes, including the spelling of numbers.

use ingester_core::json::{Error, Reader, TokenKind};
use std::collections::BTreeMap;

/// Labels or annotations.
pub(super) type Pairs = BTreeMap<String, String>;

/// The changeable parts of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Changeable {
    pub(super) labels: Pairs,
    pub(super) annotations: Pairs,
}

/// Returns `text` with this resourceVersion, these labels and annotations. Missing ones are left out.
pub(super) fn rewritten(text: &str, version: u64, pairs: &Changeable) -> Result<String, Error> {
    let mut reader = Reader::new(text);
    let mut members = Vec::new();
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        let value = if key == "metadata" && reader.peek()? == TokenKind::Object {
            metadata(&mut reader, version, pairs)?
        } else {
            reader.raw()?.to_owned()
        };
        members.push((key.into_owned(), value));
    }
    reader.finish()?;
    Ok(object(&members))
}

fn metadata(reader: &mut Reader<'_>, version: u64, pairs: &Changeable) -> Result<String, Error> {
    let written = [
        ("labels", (!pairs.labels.is_empty()).then(|| json(&pairs.labels))),
        ("annotations", (!pairs.annotations.is_empty()).then(|| json(&pairs.annotations))),
        ("resourceVersion", Some(json(&version.to_string()))),
    ];
    let mut members = Vec::new();
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        let value = reader.raw()?;
        match written.iter().find(|(name, _)| *name == key) {
            Some((_, new)) => members.extend(new.clone().map(|new| (key.into_owned(), new))),
            None => members.push((key.into_owned(), value.to_owned())),
        }
    }
    for (name, new) in written {
        if !members.iter().any(|(key, _)| key == name) {
            members.extend(new.map(|new| (name.to_owned(), new)));
        }
    }
    Ok(object(&members))
}

/// Returns the text of an object with these members: keys, and the texts of the values.
pub(crate) fn object(members: &[(String, String)]) -> String {
    let members: Vec<String> = members.iter().map(|(key, value)| format!("{}:{value}", json(key))).collect();
    format!("{{{}}}", members.join(","))
}

/// Returns the JSON of a text or a map of texts.
pub(crate) fn json(value: &impl serde::Serialize) -> String {
    // Writing these types cannot fail.
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Changeable, rewritten};

    fn pairs(pairs: &[(&str, &str)]) -> super::Pairs {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn only_labels_annotations_and_the_version_are_written() {
        let text = r#"{"spec":{"b": 1.50, "a":1e3,"big":123456789012345678901234567890},
            "metadata": {"resourceVersion":"5","labels":{"a":"b"},"name":"x\u0041","annotations":{"k":"v"}},"kind":"Model"}"#;
        let new = Changeable { labels: pairs(&[("a", "c"), ("q\"", "ü")]), annotations: pairs(&[]) };
        let expected = concat!(
            r#"{"spec":{"b": 1.50, "a":1e3,"big":123456789012345678901234567890},"#,
            r#""metadata":{"resourceVersion":"6","labels":{"a":"c","q\"":"ü"},"name":"x\u0041"},"kind":"Model"}"#
        );
        assert_eq!(rewritten(text, 6, &new).unwrap(), expected);
    }

    #[test]
    fn missing_labels_and_annotations_are_added() {
        let new = Changeable { labels: pairs(&[("a", "b")]), annotations: pairs(&[("c", "d")]) };
        let text = r#"{"metadata":{"name":"x"}}"#;
        let expected = r#"{"metadata":{"name":"x","labels":{"a":"b"},"annotations":{"c":"d"},"resourceVersion":"1"}}"#;
        assert_eq!(rewritten(text, 1, &new).unwrap(), expected);
    }
}
