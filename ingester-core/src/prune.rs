//! Cuts the values that a kind does not store out of an object's text, before anything else reads it.
//!
//! The same values are cut out of the copy of the object that `kubectl apply` keeps in an annotation. Managed fields are cut out as well,
//! because they repeat the keys and the elements of lists.
//!
//! May use: ingester-json, schema.

use crate::schema::PruneTree;
use ingester_json::json::{self, Reader, TokenKind};
use std::ops::Range;

/// The annotation in which `kubectl apply` keeps the object that it was given.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Returns the text of an object without the values at these paths; `None` if it has no such values. All other bytes stay as they were.
///
/// # Errors
/// If the text is not JSON to its end. Then the values at the paths are unknown.
pub fn cut(text: &str, paths: &[&str]) -> Result<Option<String>, json::Error> {
    cut_by(text, &PruneTree::of(paths))
}

fn cut_by(text: &str, root: &PruneTree<'_>) -> Result<Option<String>, json::Error> {
    let mut reader = Reader::new(text);
    let mut cuts = Cuts::default();
    cuts.value(&mut reader, &[root], ValuePosition::Root, root)?;
    reader.finish()?;
    Ok((!cuts.0.is_empty()).then(|| cuts.applied(text)))
}

/// Where a value is, as far as that matters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValuePosition {
    Root,
    Metadata,
    Annotations,
    Other,
}

impl ValuePosition {
    fn below(self, key: &str) -> ValuePosition {
        match (self, key) {
            (ValuePosition::Root, "metadata") => ValuePosition::Metadata,
            (ValuePosition::Metadata, "annotations") => ValuePosition::Annotations,
            _ => ValuePosition::Other,
        }
    }
}

/// Places of a text, in their order, and what is written there instead. They may overlap by a comma.
#[derive(Default)]
struct Cuts(Vec<(Range<usize>, String)>);

impl Cuts {
    /// Finds the parts to cut out of the value that comes next. `root` has the object's paths; `rests` are the paths that lead into this
    /// value, from there on.
    fn value(
        &mut self,
        reader: &mut Reader<'_>,
        rests: &[&PruneTree<'_>],
        place: ValuePosition,
        root: &PruneTree<'_>,
    ) -> Result<(), json::Error> {
        let is_list = match reader.peek()? {
            TokenKind::Object => false,
            TokenKind::Array => true,
            _ => return reader.skip(),
        };
        if is_list { reader.begin_array() } else { reader.begin_object() }?;
        // Where the value before it ended, and whether one before it stays.
        let mut before = reader.offset();
        let mut stays = false;
        loop {
            let key = match is_list {
                true if reader.next_element()? => None,
                true => return Ok(()),
                false => match reader.next_key()? {
                    Some(key) => Some(key),
                    None => return Ok(()),
                },
            };
            let inner: Vec<&PruneTree<'_>> = rests.iter().flat_map(|rest| rest.behind(key.as_deref())).collect();
            let key = key.as_deref().unwrap_or_default();
            let begin = reader.offset();
            let goes = match (place, key) {
                // Text that is cut out may be nested to any depth.
                (ValuePosition::Metadata, "managedFields") => reader.pass().map(|_| true)?,
                _ if inner.iter().any(|rest| rest.is_end()) => reader.skip().map(|()| true)?,
                (ValuePosition::Annotations, LAST_APPLIED) if reader.peek()? == TokenKind::String => {
                    match cut_by(&reader.string()?, root) {
                        Ok(None) => false,
                        Ok(Some(text)) => {
                            self.0.push((begin..reader.offset(), serde_json::Value::from(text).to_string()));
                            false
                        }
                        // Its contents are unknown.
                        Err(_) => true,
                    }
                }
                _ if inner.is_empty() && (is_list || place.below(key) == ValuePosition::Other) => {
                    reader.skip().map(|()| false)?
                }
                _ => self.value(reader, &inner, place.below(key), root).map(|()| false)?,
            };
            let end = reader.offset();
            if goes {
                // With the comma in front of it, or with the one behind it where nothing in front of it stays.
                let end = if stays { end } else { behind_comma(reader.text(), end) };
                self.0.push((before..end, String::new()));
            }
            (before, stays) = (reader.offset(), stays || !goes);
        }
    }

    fn applied(self, text: &str) -> String {
        let mut whole = String::with_capacity(text.len());
        let mut at = 0;
        for (range, instead) in self.0 {
            whole.push_str(text.get(at..range.start).unwrap_or_default());
            whole.push_str(&instead);
            at = at.max(range.end);
        }
        whole.push_str(text.get(at..).unwrap_or_default());
        whole
    }
}

/// The place after the comma that follows, or the same place.
fn behind_comma(text: &str, end: usize) -> usize {
    let rest = text.get(end..).unwrap_or_default();
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    if rest.as_bytes().get(blanks) == Some(&b',') { end + blanks + 1 } else { end }
}

#[cfg(test)]
mod tests {
    use super::cut;
    use serde_json::{Value, json};

    #[test]
    fn what_is_at_a_path_is_cut_out_and_the_rest_stays_as_it_is() {
        for (paths, text, expected) in [
            (&[".a"][..], r#"{"a":1}"#, Some("{}")),
            (&[".a"], r#"{"a":1,"b":2}"#, Some(r#"{"b":2}"#)),
            (&[".a"], r#"{ "b" : 2 , "a" : {"x":[1]} , "c":3}"#, Some(r#"{ "b" : 2 , "c":3}"#)),
            (&[".a", ".b"], r#"{"a":1,"b":2,"c":1.50}"#, Some(r#"{"c":1.50}"#)),
            (&[".a", ".c"], r#"{"a":1,"b":2,"c":3}"#, Some(r#"{"b":2}"#)),
            (&[".a", ".b"], r#"{"a":1 , "b":2}"#, Some(r#"{}"#)),
            // As often as the key is there, and however it is written.
            (&[".secret"], r#"{"secret":1,"b":2,"\u0073ecret":3}"#, Some(r#"{"b":2}"#)),
            (&[".a.b"], r#"{"a":{"b":1,"c":2}}"#, Some(r#"{"a":{"c":2}}"#)),
            (&[".a.b", ".a.c"], r#"{"a":{"b":1,"c":2}}"#, Some(r#"{"a":{}}"#)),
            (&[".a[*].b"], r#"{"a":[{"b":1,"c":2},{"b":3},4]}"#, Some(r#"{"a":[{"c":2},{},4]}"#)),
            (&[".a[*].b"], r#"{"a":{"x":{"b":1},"y":{"c":2}}}"#, Some(r#"{"a":{"x":{},"y":{"c":2}}}"#)),
            (&[".a[*]"], r#"{"a":[1, 2 ,3]}"#, Some(r#"{"a":[]}"#)),
            (&[".a[*]"], r#"{"a":{"x":1,"y":2}}"#, Some(r#"{"a":{}}"#)),
            (&[r#".a["x.y/z"]"#], r#"{"a":{"x.y/z":1,"x":2}}"#, Some(r#"{"a":{"x":2}}"#)),
            (&[".a.b"], r#"{"a":null,"b":1}"#, None),
            (&[".a.b"], r#"{"a":[{"b":1}]}"#, None),
            (&[".a"], r#"{"b":{"a":1}}"#, None),
            (
                &[".a[*].b", ".a.x.c"],
                r#"{"a":{"x":{"b":1,"c":2,"d":3},"y":{"b":1,"c":2}}}"#,
                Some(r#"{"a":{"x":{"d":3},"y":{"c":2}}}"#),
            ),
        ] {
            assert_eq!(cut(text, paths).unwrap().as_deref(), expected, "{paths:?} {text}");
            let again = expected.map(|text| cut(text, paths).unwrap());
            assert!(again.is_none_or(|again| again.is_none()), "{paths:?} {text}: it is cut once");
        }
    }

    #[test]
    fn every_mixture_of_members_is_cut_as_a_map_is() {
        // Each of four members stays or goes, with and without blanks.
        for (goes, blank) in (0..16_u8).flat_map(|goes| [(goes, ""), (goes, " \n")]) {
            let members: Vec<String> =
                (0..4).map(|n| format!("{blank}\"m{n}\"{blank}:{blank}[{n},{{}}]{blank}")).collect();
            let paths: Vec<String> = (0..4).filter(|n| goes & (1 << n) != 0).map(|n| format!(".m{n}")).collect();
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            let text = format!("{{{}}}", members.join(","));
            let mut expected: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
            paths.iter().for_each(|path| drop(expected.remove(&path[1..])));
            let got = cut(&text, &paths).unwrap().unwrap_or(text);
            assert_eq!(serde_json::from_str::<Value>(&got).unwrap(), Value::Object(expected), "{got}");
        }
    }

    #[test]
    fn kubectls_annotation_and_managed_fields_are_pruned_too() {
        let object = |applied: &str| {
            json!({"metadata": {"annotations": {"a": "b", "kubectl.kubernetes.io/last-applied-configuration": applied},
                "managedFields": [{"fieldsV1": {"v:\"TOPSECRET\"": {}}}]}, "spec": {"secret": "TOPSECRET", "x": 1}})
            .to_string()
        };
        let applied = "{\"spec\":{\"secret\":\"TOPSECRET\",\"x\":1}}\n";
        let got = cut(&object(applied), &[".spec.secret"]).unwrap().unwrap();
        let expected = json!({"metadata": {"annotations":
            {"a": "b", "kubectl.kubernetes.io/last-applied-configuration": "{\"spec\":{\"x\":1}}\n"}}, "spec": {"x": 1}});
        assert_eq!(serde_json::from_str::<Value>(&got).unwrap(), expected);
        // One that cannot be cut goes as a whole.
        let got = cut(&object("{\"spec\":{\"secret\":\"TOPSECRET\""), &[".spec.secret"]).unwrap().unwrap();
        let expected = json!({"metadata": {"annotations": {"a": "b"}}, "spec": {"x": 1}});
        assert_eq!(serde_json::from_str::<Value>(&got).unwrap(), expected);
        let cut =
            cut(r#"{"metadata":{"annotations":{"secret":"TOPSECRET"}}}"#, &[r#".metadata.annotations["secret"]"#]);
        assert_eq!(cut.unwrap().unwrap(), r#"{"metadata":{"annotations":{}}}"#);
    }

    #[test]
    fn what_is_not_json_to_its_end_is_not_cut() {
        for text in [r#"{"a":1"#, r#"{"a":1}}"#, r#"{"b":tru,"a":1}"#, r#"{"a":1} x"#, ""] {
            assert!(cut(text, &[".a"]).is_err(), "{text}");
        }
    }
}
