//! The part of an object's metadata that is read when the object itself is not needed.

use ingester_core::marks::may_decide;
use ingester_core::object::{Identity, Meta, StringMap};
use ingester_core::wire::Time;
use serde::Deserialize;
use serde::de::value::{Error, StrDeserializer};
use serde::de::{Deserializer, IgnoredAny, IntoDeserializer as _, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// The part of an object's metadata that the plan for the object depends on. It has only the annotations that may decide about the object.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PartialObjectMeta {
    pub(crate) uid: Box<str>,
    pub(crate) namespace: Box<str>,
    pub(crate) name: Box<str>,
    #[serde(deserialize_with = "number")]
    resource_version: u64,
    pub(crate) finalizers: Vec<Box<str>>,
    deletion_timestamp: Option<Box<str>>,
    annotations: Annotations,
}

impl PartialObjectMeta {
    /// Builds it for an object whose metadata cannot be read as such; `None` if too little is known to look the object up.
    pub(super) fn from_identity(identity: Identity) -> Option<Self> {
        let Identity { uid, namespace, name, resource_version, terminating, finalizers, .. } = identity;
        Some(PartialObjectMeta {
            uid: uid.filter(|uid| !uid.is_empty())?,
            namespace: namespace.unwrap_or_default(),
            name: name.filter(|name| !name.is_empty())?,
            resource_version: resource_version.and_then(|version| version.parse().ok()).unwrap_or_default(),
            finalizers,
            // The time is unknown. A look at the object finds it.
            deletion_timestamp: terminating.then(Box::default),
            annotations: Annotations::default(),
        })
    }

    /// Returns its resourceVersion; 0 if it is not a number.
    pub(crate) fn version(&self) -> u64 {
        self.resource_version
    }

    pub(crate) fn terminating(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    /// Returns the metadata that a plan, and a patch of the finalizers, need.
    pub(crate) fn into_meta(self) -> Meta {
        let time = |text: Box<str>| {
            let text: StrDeserializer<'_, Error> = (&*text).into_deserializer();
            // An invalid time does not count as a deletion. The object itself is refused because of it when it is read.
            Time::deserialize(text).ok()
        };
        Meta {
            uid: self.uid,
            namespace: self.namespace,
            name: self.name,
            resource_version: self.resource_version,
            finalizers: self.finalizers.into(),
            deletion_timestamp: self.deletion_timestamp.and_then(time),
            annotations: self.annotations.0,
            ..Meta::default()
        }
    }
}

/// Reads a resourceVersion; 0 if it is not a number.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Ok(Cow::<str>::deserialize(deserializer)?.parse().unwrap_or_default())
}

/// The annotations that may decide about the object, in the order of their keys.
#[derive(Clone, Debug, Default, PartialEq)]
struct Annotations(StringMap);

impl<'de> Deserialize<'de> for Annotations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_option(AnnotationsVisitor)
    }
}

struct AnnotationsVisitor;

impl<'de> Visitor<'de> for AnnotationsVisitor {
    type Value = Annotations;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("annotations")
    }

    fn visit_none<E>(self) -> Result<Annotations, E> {
        Ok(Annotations::default())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Annotations, D::Error> {
        deserializer.deserialize_map(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Annotations, A::Error> {
        let mut marks: Vec<(Box<str>, Box<str>)> = Vec::new();
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if may_decide(&key) {
                marks.push((key.into(), map.next_value()?));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        marks.sort_unstable();
        Ok(Annotations(marks.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::PartialObjectMeta;

    #[test]
    fn what_a_plan_depends_on_is_read_and_nothing_else() {
        let text = r#"{"uid":"u","namespace":"n","name":"a","resourceVersion":"007","finalizers":["f"],
            "annotations":{"z":"1","x.y/Immutable":"true","michelangelo/Deleting":"true","a":"\u0041"},
            "managedFields":[{"manager":"m","fieldsV1":{"f:spec":{}}}]}"#;
        let meta = serde_json::from_str::<PartialObjectMeta>(text).unwrap().into_meta();
        assert_eq!((&*meta.uid, &*meta.namespace, &*meta.name, meta.resource_version), ("u", "n", "a", 7));
        assert_eq!(meta.finalizers.len(), 1);
        let known = |key: &str| (key.into(), "true".into());
        assert_eq!(*meta.annotations, [known("michelangelo/Deleting"), known("x.y/Immutable")]);
    }

    #[test]
    fn absent_null_and_non_numeric_values_are_not_errors() {
        for text in ["{}", r#"{"annotations":null,"deletionTimestamp":null}"#, r#"{"resourceVersion":"x"}"#] {
            let meta = serde_json::from_str::<PartialObjectMeta>(text).unwrap().into_meta();
            assert!(
                meta.deletion_timestamp.is_none() && meta.annotations.is_empty() && meta.resource_version == 0,
                "{text}"
            );
        }
        let text = r#"{"deletionTimestamp":"2026-01-01T00:00:00Z"}"#;
        let partial: PartialObjectMeta = serde_json::from_str(text).unwrap();
        assert!(partial.terminating() && partial.into_meta().deletion_timestamp.is_some());
    }
}
