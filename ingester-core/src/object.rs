//! One Kubernetes object as received: its JSON text and the few metadata fields that the engine needs.
//! May use: ingester-json, ingester-wire.
//!
//! A key that comes twice in the object itself, in its metadata, its labels or its annotations is an error; a null counts as
//! absent. Spec and status are checked where their types are decoded, and files as a whole by `documents`.

use ingester_json::json::{self, Reader, TokenKind};
use ingester_wire::{Time, moment};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Namespace of the UUIDs that objects without a uid get: UUIDv5 of `ingester` in the URL namespace of RFC 4122.
const UID_NAMESPACE: uuid::Uuid = uuid::uuid!("8f0ed1a4-57b5-5d6c-9a3d-6d6a3c1f1c2e");

/// Labels or annotations, Go's `map[string]string`: keys and values, sorted by key, each key once. The object and its row
/// share them.
pub type StringMap = Arc<[(Box<str>, Box<str>)]>;

/// The parts of an object's metadata that the engine needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meta {
    /// `metadata.uid`; where it is absent, UUIDv5 of apiVersion/kind/namespace/name.
    pub uid: Box<str>,
    /// `metadata.namespace`; empty for cluster-scoped objects.
    pub namespace: Box<str>,
    /// `metadata.name`
    pub name: Box<str>,
    /// `metadata.resourceVersion` as a number; 0 where it is absent.
    pub resource_version: u64,
    /// `metadata.creationTimestamp`
    pub creation_timestamp: Option<Time>,
    /// `metadata.deletionTimestamp`
    pub deletion_timestamp: Option<Time>,
    /// `metadata.labels`
    pub labels: StringMap,
    /// `metadata.annotations`
    pub annotations: StringMap,
    /// `metadata.finalizers`
    pub finalizers: Box<[Box<str>]>,
    /// `metadata.generation`
    pub generation: Option<i64>,
    /// The `uid` of the one of `metadata.ownerReferences` that controls the object, else of the first one.
    pub owner_uid: Option<Box<str>>,
}

/// An object as JSON text, parsed only as far as the engine needs.
#[derive(Clone, Debug)]
pub struct Object {
    text: Arc<str>,
    api_version: Arc<str>,
    kind: Box<str>,
    meta: Meta,
    rest: Rest,
}

/// Where an object's spec and status are.
#[derive(Clone, Debug)]
enum Rest {
    /// The text from here on is unread: apiVersion, kind and metadata come before it and nothing else, as the API server writes them. Most
    /// objects that are observed are known already, so their rest is never read.
    Unread(usize),
    /// The text was read to its end.
    Read(SpecAndStatus),
}

/// Where spec and status are in the text.
#[derive(Clone, Debug, Default)]
struct SpecAndStatus {
    spec: Option<Range<usize>>,
    status: Option<Range<usize>>,
}

impl Rest {
    /// Moves the offsets by what is cut out of the text.
    fn shift(&mut self, cut: &Range<usize>) {
        let moved = |offset: usize| if cut.end <= offset { offset - cut.len() } else { offset };
        match self {
            Rest::Unread(offset) => *offset = moved(*offset),
            Rest::Read(SpecAndStatus { spec, status }) => {
                for range in [spec, status].into_iter().flatten() {
                    *range = moved(range.start)..moved(range.end);
                }
            }
        }
    }
}

/// The treatment of `metadata.managedFields`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManagedFields {
    /// `metadata.managedFields` is cut out of the text: often half of an object, of use to server-side apply only.
    Prune,
    /// The text stays as it came.
    Keep,
}

/// Why a text is not an object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// The text is not JSON, or a field that every object has is of another type.
    #[error(transparent)]
    Json(#[from] json::Error),
    /// A field that every object needs is absent or empty.
    #[error("{0}: missing; every Kubernetes object has one: add it")]
    Missing(&'static str),
    /// A `metadata.resourceVersion` that is not a number, or does not fit a BIGINT UNSIGNED.
    #[error(
        "metadata.resourceVersion: `{0}` is not a number up to 18446744073709551615; the API server gives numbers, remove it from a hand-written object"
    )]
    ResourceVersion(Box<str>),
    /// The text is not JSON, at this byte, so what its kind does not store cannot be cut out of it. The text is not shown.
    #[error(
        "byte {0}: the text is not JSON, and what its kind does not store (`prune`) cannot be cut out: nothing of it is stored or shown"
    )]
    Unprunable(usize),
}

/// As much of an object's identity as can be read from a text that may be broken.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identity {
    /// `apiVersion`
    pub api_version: Option<Box<str>>,
    /// `kind`
    pub kind: Option<Box<str>>,
    /// `metadata.uid`
    pub uid: Option<Box<str>>,
    /// `metadata.namespace`
    pub namespace: Option<Box<str>>,
    /// `metadata.name`
    pub name: Option<Box<str>>,
    /// `metadata.generateName`
    pub generate_name: Option<Box<str>>,
    /// `metadata.resourceVersion`
    pub resource_version: Option<Box<str>>,
    /// The object has a `metadata.deletionTimestamp`.
    pub terminating: bool,
    /// `metadata.finalizers`, those that are texts.
    pub finalizers: Vec<Box<str>>,
    /// The `uid` of each of `metadata.ownerReferences`.
    pub owners: Vec<Box<str>>,
}

impl Object {
    /// Reads the metadata of `text`. The rest of the text is read only when somebody asks for it.
    ///
    /// # Errors
    /// When the text up to there is not part of a JSON object, lacks apiVersion, kind or metadata.name, its metadata is of a wrong type, or
    /// a key comes twice; the error names the path.
    pub fn parse(text: impl AsRef<str>, managed_fields: ManagedFields) -> Result<Self, ObjectError> {
        let text = text.as_ref();
        let mut found = Root::default();
        found.read(text, managed_fields).map_err(|error| error.locate(text))?;
        let api_version = found.api_version.filter(|s| !s.is_empty()).ok_or(ObjectError::Missing("apiVersion"))?;
        let kind = found.kind.filter(|s| !s.is_empty()).ok_or(ObjectError::Missing("kind"))?;
        let Metadata { uid, namespace, name, resource_version, managed_fields: cut, .. } = found.metadata;
        let uid = uid.unwrap_or_default();
        let namespace = namespace.unwrap_or_default();
        let name = name.filter(|name| !name.is_empty()).ok_or(ObjectError::Missing("metadata.name"))?;
        let resource_version = match resource_version.as_deref() {
            None | Some("") => 0,
            Some(version) => parse_version(version).ok_or_else(|| ObjectError::ResourceVersion(version.into()))?,
        };
        let uid = if uid.is_empty() { name_based_uid(&api_version, &kind, &namespace, &name) } else { uid };
        let meta = Meta {
            uid,
            namespace,
            name,
            resource_version,
            creation_timestamp: found.metadata.creation_timestamp,
            deletion_timestamp: found.metadata.deletion_timestamp,
            labels: found.metadata.labels.unwrap_or_default(),
            annotations: found.metadata.annotations.unwrap_or_default(),
            finalizers: found.metadata.finalizers.unwrap_or_default(),
            generation: found.metadata.generation,
            owner_uid: found.metadata.owner_uid,
        };
        let mut rest = found.rest;
        let text = match (cut, managed_fields) {
            (Some(cut), ManagedFields::Prune) => {
                rest.shift(&cut);
                [&text[..cut.start], &text[cut.end..]].concat().into()
            }
            _ => text.into(),
        };
        Ok(Object { text, api_version: api_version.into(), kind, meta, rest })
    }

    /// The JSON text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The JSON text, for the row to share it.
    pub(crate) fn shared_text(&self) -> Arc<str> {
        self.text.clone()
    }

    /// [`Object::api_version`], for the row to share it.
    pub(crate) fn shared_api_version(&self) -> Arc<str> {
        self.api_version.clone()
    }

    /// `apiVersion`: group and version, `michelangelo.api/v2`, or the version alone for the core group.
    pub fn api_version(&self) -> &str {
        &self.api_version
    }

    /// `kind`
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The metadata.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The texts of `spec` and `status`; an absent one reads as empty.
    ///
    /// # Errors
    /// When the text after the metadata is not JSON, or has apiVersion, kind, metadata, spec or status a second time.
    pub fn parts(&self) -> Result<(&str, &str), json::Error> {
        let SpecAndStatus { spec, status } = match &self.rest {
            Rest::Read(both) => both.clone(),
            Rest::Unread(_) => self.read_rest().map_err(|error| error.locate(&self.text))?,
        };
        Ok((spec.map_or("{}", |range| &self.text[range]), status.map_or("{}", |range| &self.text[range])))
    }

    fn read_rest(&self) -> Result<SpecAndStatus, json::Error> {
        let mut both = SpecAndStatus::default();
        let Some(mut reader) = self.unread() else { return Ok(both) };
        while let Some(key) = reader.next_key()? {
            match key.as_ref() {
                _ if null(&mut reader)? => {}
                "spec" => once(&mut both.spec, &key, &mut reader, range)?,
                "status" => once(&mut both.status, &key, &mut reader, range)?,
                "apiVersion" | "kind" | "metadata" => return Err(json::Error::duplicate(reader.offset(), &key)),
                _ => reader.skip()?,
            }
        }
        reader.finish()?;
        Ok(both)
    }

    /// A reader of the members of the object after the metadata, if they are unread.
    pub fn unread(&self) -> Option<Reader<'_>> {
        match self.rest {
            Rest::Unread(place) => Some(Reader::after_member(&self.text, place)),
            Rest::Read(_) => None,
        }
    }
}

/// A resourceVersion as a number; leading zeros do not count.
fn parse_version(version: &str) -> Option<u64> {
    // `parse` takes a plus sign, Kubernetes does not.
    if !version.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    version.parse().ok()
}

/// The uid of an object that has none: a UUIDv5 of its type and names.
pub fn name_based_uid(api_version: &str, kind: &str, namespace: &str, name: &str) -> Box<str> {
    let identity = format!("{api_version}/{kind}/{namespace}/{name}");
    uuid::Uuid::new_v5(&UID_NAMESPACE, identity.as_bytes()).to_string().into()
}

/// The text of an object with this text in its metadata (a namespace, a name), where it has none; an empty one and null count as none. `None`
/// if the text has one, or is not an object with metadata, which its reader reports.
pub fn with_metadata(text: &str, key: &str, value: &str) -> Option<String> {
    let mut reader = Reader::new(text);
    reader.begin_object().ok()?;
    while reader.next_key().ok()?? != "metadata" {
        reader.skip().ok()?;
    }
    reader.begin_object().ok()?;
    let inside = reader.offset();
    let mut is_empty = true;
    let value = serde_json::Value::from(value).to_string();
    while let Some(found) = reader.next_key().ok()? {
        is_empty = false;
        if found == key {
            let value_of = range(&mut reader).ok()?;
            let is_none = matches!(text[value_of.clone()].trim(), "null" | "\"\"");
            return is_none.then(|| [&text[..value_of.start], &value, &text[value_of.end..]].concat());
        }
        reader.skip().ok()?;
    }
    let comma = if is_empty { "" } else { "," };
    Some([&text[..inside], "\"", key, "\":", &value, comma, &text[inside..]].concat())
}

/// The text of an object with this namespace, where it has none.
#[deprecated(note = "use `with_metadata(text, \"namespace\", namespace)`")]
pub fn with_namespace(text: &str, namespace: &str) -> Option<String> {
    with_metadata(text, "namespace", namespace)
}

impl Default for Rest {
    fn default() -> Self {
        Rest::Read(SpecAndStatus::default())
    }
}

/// The root of an object, as far as it was read.
#[derive(Default)]
struct Root {
    api_version: Option<Box<str>>,
    kind: Option<Box<str>>,
    metadata: Metadata,
    rest: Rest,
}

/// The members of `metadata` that the engine needs.
#[derive(Default)]
struct Metadata {
    uid: Option<Box<str>>,
    namespace: Option<Box<str>>,
    name: Option<Box<str>>,
    resource_version: Option<Box<str>>,
    creation_timestamp: Option<Time>,
    deletion_timestamp: Option<Time>,
    labels: Option<StringMap>,
    annotations: Option<StringMap>,
    finalizers: Option<Box<[Box<str>]>>,
    generation: Option<i64>,
    owner_uid: Option<Box<str>>,
    /// The bytes of the member with one of its commas.
    managed_fields: Option<Range<usize>>,
}

impl Root {
    fn read(&mut self, whole: &str, managed_fields: ManagedFields) -> Result<(), json::Error> {
        let mut reader = Reader::new(whole);
        reader.begin_object()?;
        let mut both = SpecAndStatus::default();
        let mut metadata = false;
        let mut others = false;
        while let Some(key) = reader.next_key()? {
            match key.as_ref() {
                _ if null(&mut reader)? => {}
                "apiVersion" => once(&mut self.api_version, &key, &mut reader, read_text)?,
                "kind" => once(&mut self.kind, &key, &mut reader, read_text)?,
                "metadata" if metadata => return Err(json::Error::duplicate(reader.offset(), &key)),
                "metadata" => {
                    self.metadata.read(&mut reader, managed_fields)?;
                    metadata = true;
                }
                "spec" => once(&mut both.spec, &key, &mut reader, range)?,
                "status" => once(&mut both.status, &key, &mut reader, range)?,
                _ => {
                    reader.skip()?;
                    others = true;
                }
            }
            let known = metadata && self.api_version.is_some() && self.kind.is_some();
            if known && !others && both.spec.is_none() && both.status.is_none() {
                self.rest = Rest::Unread(reader.offset());
                return Ok(());
            }
        }
        self.rest = Rest::Read(both);
        reader.finish()
    }
}

impl Metadata {
    fn read(&mut self, reader: &mut Reader<'_>, managed_fields: ManagedFields) -> Result<(), json::Error> {
        reader.begin_object()?;
        let mut before_key = reader.offset();
        let mut first = true;
        while let Some(key) = reader.next_key()? {
            match key.as_ref() {
                "managedFields" => once(&mut self.managed_fields, &key, reader, |reader| {
                    // They repeat the nesting of the object some levels further down. Text that is cut out may be nested to any depth.
                    match managed_fields {
                        ManagedFields::Prune => reader.pass().map(drop)?,
                        ManagedFields::Keep => reader.skip()?,
                    }
                    Ok(member(reader, before_key, first))
                })?,
                _ if null(reader)? => {}
                "uid" => once(&mut self.uid, &key, reader, read_text)?,
                "namespace" => once(&mut self.namespace, &key, reader, read_text)?,
                "name" => once(&mut self.name, &key, reader, read_text)?,
                "resourceVersion" => once(&mut self.resource_version, &key, reader, read_text)?,
                "creationTimestamp" => once(&mut self.creation_timestamp, &key, reader, time)?,
                "deletionTimestamp" => once(&mut self.deletion_timestamp, &key, reader, time)?,
                "labels" => once(&mut self.labels, &key, reader, string_map)?,
                "annotations" => once(&mut self.annotations, &key, reader, string_map)?,
                "finalizers" => once(&mut self.finalizers, &key, reader, texts)?,
                // Only columns that ask for them need these two, so nothing in them is an error.
                "generation" if reader.peek()? == TokenKind::Number => self.generation = reader.number()?.parse().ok(),
                "ownerReferences" if reader.peek()? == TokenKind::Array => self.owner_uid = owner(reader)?,
                _ => reader.skip()?,
            }
            before_key = reader.offset();
            first = false;
        }
        Ok(())
    }
}

/// Reads the value of a key that may come once.
fn once<'t, T>(
    place: &mut Option<T>,
    key: &str,
    reader: &mut Reader<'t>,
    read: impl FnOnce(&mut Reader<'t>) -> Result<T, json::Error>,
) -> Result<(), json::Error> {
    if place.is_some() {
        return Err(json::Error::duplicate(reader.offset(), key));
    }
    *place = Some(read(reader)?);
    Ok(())
}

/// The bytes of one member of an object together with one comma: the one before it, or for the first member the one
/// after it. `before` is where the previous value (or the opening brace) ended.
fn member(reader: &Reader<'_>, before: usize, first: bool) -> Range<usize> {
    let end = reader.offset();
    if !first {
        return before..end;
    }
    let rest = &reader.text()[end..];
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    let comma = usize::from(rest[blanks..].starts_with(','));
    before..if comma == 1 { end + blanks + 1 } else { end }
}

fn null(reader: &mut Reader<'_>) -> Result<bool, json::Error> {
    if reader.peek()? == TokenKind::Null {
        reader.null()?;
        return Ok(true);
    }
    Ok(false)
}

fn read_text(reader: &mut Reader<'_>) -> Result<Box<str>, json::Error> {
    reader.string().map(Into::into)
}

fn range(reader: &mut Reader<'_>) -> Result<Range<usize>, json::Error> {
    let start = reader.offset();
    reader.skip()?;
    Ok(start..reader.offset())
}

fn time(reader: &mut Reader<'_>) -> Result<Time, json::Error> {
    let at = reader.offset();
    let text = read_text(reader)?;
    let wrong = || {
        json::Error::value(
            at,
            format!("expected a time as RFC 3339 text such as `2026-01-31T10:00:00Z`, found string \"{text}\""),
        )
    };
    moment(&text).map(Time).ok_or_else(wrong)
}

fn string_map(reader: &mut Reader<'_>) -> Result<StringMap, json::Error> {
    let at = reader.offset();
    let mut entries: Vec<(Box<str>, Box<str>)> = Vec::new();
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        let key: Box<str> = key.into();
        if !null(reader)? {
            entries.push((key, read_text(reader)?));
        }
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    match entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(json::Error::duplicate(at, &pair[0].0)),
        None => Ok(entries.into()),
    }
}

fn texts(reader: &mut Reader<'_>) -> Result<Box<[Box<str>]>, json::Error> {
    let mut texts = Vec::new();
    reader.begin_array()?;
    while reader.next_element()? {
        if !null(reader)? {
            texts.push(read_text(reader)?);
        }
    }
    Ok(texts.into())
}

/// The uid of the owner that controls the object, else of the first one.
fn owner(reader: &mut Reader<'_>) -> Result<Option<Box<str>>, json::Error> {
    let mut first = None;
    let mut controlling = None;
    reader.begin_array()?;
    while reader.next_element()? {
        if reader.peek()? != TokenKind::Object {
            reader.skip()?;
            continue;
        }
        let mut uid = None;
        let mut controls = false;
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            match (key.as_ref(), reader.peek()?) {
                ("uid", TokenKind::String) => uid = Some(read_text(reader)?),
                ("controller", TokenKind::Bool) => controls = reader.bool()?,
                _ => reader.skip()?,
            }
        }
        let place = if controls { &mut controlling } else { &mut first };
        *place = place.take().or(uid);
    }
    Ok(controlling.or(first))
}

impl Identity {
    /// Reads what can be read, past anything but unmatched brackets; stops at the first thing that it cannot pass.
    pub fn probe(text: &str) -> Self {
        let mut identity = Identity::default();
        // Everything that was read before the mistake stays.
        let _ = identity.read(&mut Reader::new(text));
        identity
    }

    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), json::Error> {
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            match key.as_ref() {
                "apiVersion" => self.api_version = lenient(reader)?,
                "kind" => self.kind = lenient(reader)?,
                "metadata" if reader.peek()? == TokenKind::Object => {
                    reader.begin_object()?;
                    while let Some(key) = reader.next_key()? {
                        match key.as_ref() {
                            "uid" => self.uid = lenient(reader)?,
                            "namespace" => self.namespace = lenient(reader)?,
                            "name" => self.name = lenient(reader)?,
                            "generateName" => self.generate_name = lenient(reader)?,
                            "resourceVersion" => self.resource_version = lenient(reader)?,
                            "deletionTimestamp" => self.terminating = lenient(reader)?.is_some(),
                            "finalizers" if reader.peek()? == TokenKind::Array => {
                                reader.begin_array()?;
                                while reader.next_element()? {
                                    self.finalizers.extend(lenient(reader)?);
                                }
                            }
                            "ownerReferences" if reader.peek()? == TokenKind::Array => {
                                owner_uids_of(reader, &mut self.owners)?;
                            }
                            _ => reader.pass().map(drop)?,
                        }
                    }
                }
                _ => reader.pass().map(drop)?,
            }
        }
        Ok(())
    }
}

/// The uids of all owners of an object, from the `metadata.ownerReferences` of its text. Reads no further than the metadata.
///
/// # Errors
/// If the text is not JSON up to there: then its owners are unknown.
pub fn owner_uids(text: &str) -> Result<Vec<Box<str>>, json::Error> {
    let mut owners = Vec::new();
    let mut reader = Reader::new(text);
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        if key != "metadata" || reader.peek()? != TokenKind::Object {
            reader.pass()?;
            continue;
        }
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            if key == "ownerReferences" && reader.peek()? == TokenKind::Array {
                owner_uids_of(&mut reader, &mut owners)?;
            } else {
                reader.pass()?;
            }
        }
        return Ok(owners);
    }
    Ok(owners)
}

/// Reads the uids of a list of owner references.
fn owner_uids_of(reader: &mut Reader<'_>, owners: &mut Vec<Box<str>>) -> Result<(), json::Error> {
    reader.begin_array()?;
    while reader.next_element()? {
        if reader.peek()? != TokenKind::Object {
            reader.pass()?;
            continue;
        }
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            match (key.as_ref(), reader.peek()?) {
                ("uid", TokenKind::String) => owners.push(read_text(reader)?),
                _ => reader.pass().map(drop)?,
            }
        }
    }
    Ok(())
}

/// A string as it is, a number as its digits, anything else as absent.
fn lenient(reader: &mut Reader<'_>) -> Result<Option<Box<str>>, json::Error> {
    Ok(match reader.peek()? {
        TokenKind::String => Some(reader.string().map(Cow::into_owned)?.into()),
        TokenKind::Number => Some(reader.number()?.into()),
        _ => {
            reader.pass()?;
            None
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Object, ObjectError> {
        Object::parse(text, ManagedFields::Prune)
    }

    #[test]
    fn a_namespace_is_added_to_objects_without_one() {
        for (text, put) in [
            (
                r#"{"kind":"A","metadata":{"name":"a"}}"#,
                Some(r#"{"kind":"A","metadata":{"namespace":"ml","name":"a"}}"#),
            ),
            (r#"{"metadata": { } }"#, Some(r#"{"metadata": {"namespace":"ml" } }"#)),
            (
                r#"{"metadata": {"name":"a", "namespace": "" }}"#,
                Some(r#"{"metadata": {"name":"a", "namespace": "ml" }}"#),
            ),
            (r#"{"metadata":{"namespace":null,"name":"a"}}"#, Some(r#"{"metadata":{"namespace":"ml","name":"a"}}"#)),
            (r#"{"metadata":{"name":"a","namespace":"other"}}"#, None),
            (
                r#"{"metadata":{"name":"a","labels":{"namespace":"x"}}}"#,
                Some(r#"{"metadata":{"namespace":"ml","name":"a","labels":{"namespace":"x"}}}"#),
            ),
            (r#"{"metadata":["a"]}"#, None),
            (r#"{"spec":{"metadata":{}}}"#, None),
            (r#"{"metadata":{"name":"#, None),
            ("[]", None),
        ] {
            assert_eq!(with_metadata(text, "namespace", "ml").as_deref(), put, "{text}");
            #[expect(deprecated, reason = "programs may still use the former name")]
            let former = super::with_namespace(text, "ml");
            assert_eq!(former.as_deref(), put, "{text}");
        }
    }

    #[test]
    fn managed_fields_are_cut_out_and_nothing_else_changes() {
        for (metadata, pruned) in [
            (r#"{"managedFields":[{"a":1}],"name":"n"}"#, r#"{"name":"n"}"#),
            (r#"{"name":"n","managedFields":[{"a":1}]}"#, r#"{"name":"n"}"#),
            (r#"{"name":"n","managedFields":[],"uid":"u"}"#, r#"{"name":"n","uid":"u"}"#),
            ("{ \"managedFields\" : [ ] , \"name\" : \"n\" }", "{ \"name\" : \"n\" }"),
            ("{\"name\":\"n\" , \"managedFields\":null}", "{\"name\":\"n\"}"),
        ] {
            let whole = |metadata: &str| {
                format!(
                    r#"{{"apiVersion":"v1","kind":"K","status":{{"a":1}},"metadata":{metadata},"spec":{{"b":[2]}}}}"#
                )
            };
            let object = parse(&whole(metadata)).unwrap();
            let (text, expected): (serde_json::Value, serde_json::Value) =
                (serde_json::from_str(object.text()).unwrap(), serde_json::from_str(&whole(pruned)).unwrap());
            assert_eq!(text, expected, "{metadata}");
            assert_eq!(object.parts().unwrap(), (r#"{"b":[2]}"#, r#"{"a":1}"#), "{metadata}");
            let kept = Object::parse(whole(metadata), ManagedFields::Keep).unwrap();
            assert_eq!(kept.text(), whole(metadata));
        }
    }

    #[test]
    fn metadata_of_managed_fields_alone_lacks_a_name() {
        let error = parse(r#"{"apiVersion":"v1","kind":"K","metadata":{"managedFields":[]}}"#).unwrap_err();
        assert_eq!(error.to_string(), "metadata.name: missing; every Kubernetes object has one: add it");
    }

    #[test]
    fn object_without_uid_gets_one_from_its_names() {
        let uid = |namespace: &str, name: &str| {
            let text =
                format!(r#"{{"apiVersion":"v1","kind":"K","metadata":{{"namespace":"{namespace}","name":"{name}"}}}}"#);
            parse(&text).unwrap().meta().uid.clone()
        };
        assert_eq!(uid("a", "n"), uid("a", "n"));
        assert_ne!(uid("a", "n"), uid("b", "n"));
        assert_ne!(uid("a", "n"), uid("a", "m"));
        // The same on every machine and in every version of the ingester: rows are found again by it.
        assert_eq!(uid("a", "n").as_ref(), uuid::Uuid::new_v5(&UID_NAMESPACE, b"v1/K/a/n").to_string());
        assert_eq!(uid("a", "n").as_bytes()[14], b'5');
    }

    #[test]
    fn a_resource_version_that_is_not_a_number_is_an_error() {
        let version = |version: &str| {
            let text =
                format!(r#"{{"apiVersion":"v1","kind":"K","metadata":{{"name":"n","resourceVersion":{version}}}}}"#);
            parse(&text).map(|object| object.meta().resource_version).map_err(|error| error.to_string())
        };
        assert_eq!(version("\"0042\""), Ok(42));
        assert_eq!(version("\"18446744073709551615\""), Ok(u64::MAX));
        assert_eq!(version("\"\""), Ok(0));
        assert_eq!(version("null"), Ok(0));
        for bad in ["\"18446744073709551616\"", "\"+1\"", "\"abc\"", "\"1.0\""] {
            let error = version(bad).unwrap_err();
            assert!(error.starts_with("metadata.resourceVersion: "), "{error}");
        }
        assert_eq!(version("7"), Err("metadata.resourceVersion: expected a string, found number 7".into()));
    }

    #[test]
    fn wrong_type_in_the_metadata_is_an_error_with_its_path() {
        let error = |metadata: &str| {
            parse(&format!(r#"{{"apiVersion":"v1","kind":"K","metadata":{metadata}}}"#)).unwrap_err().to_string()
        };
        assert_eq!(error(r#"{"name":7}"#), "metadata.name: expected a string, found number 7");
        assert!(error(r#"{"name":"n","labels":{"a.b/c":true}}"#).starts_with(r#"metadata.labels["a.b/c"]: "#));
        assert!(
            error(r#"{"name":"n","creationTimestamp":"now"}"#)
                .starts_with("metadata.creationTimestamp: expected a time")
        );
        assert!(error("[]").starts_with("metadata: expected an object"));
        assert!(parse("[]").unwrap_err().to_string().contains("expected an object"));
    }

    #[test]
    fn labels_are_sorted_by_key_and_nulls_left_out() {
        let object =
            parse(r#"{"apiVersion":"v1","kind":"K","metadata":{"name":"n","labels":{"b":"1","a":"2","c":null}}}"#)
                .unwrap();
        let labels: Vec<(&str, &str)> = object.meta().labels.iter().map(|(k, v)| (k.as_ref(), v.as_ref())).collect();
        assert_eq!(labels, [("a", "2"), ("b", "1")]);
    }

    #[test]
    fn a_key_twice_is_an_error_with_its_path() {
        let twice = |path: &str, key: &str| format!("{path}: the key `{key}` appears twice in the same object");
        let whole = |members: &str, metadata: &str| {
            format!(r#"{{{members}"apiVersion":"v1","kind":"K","metadata":{{"name":"n"{metadata}}}}}"#)
        };
        for key in ["apiVersion", "kind"] {
            let error = parse(&whole(&format!(r#""{key}":"x","#), "")).unwrap_err().to_string();
            assert_eq!(error, twice(key, key));
        }
        for key in ["metadata", "spec", "status"] {
            let members = format!(r#""spec":{{}},"status":{{}},"{key}":{{"name":"n"}},"#);
            let error = parse(&whole(&members, "")).unwrap_err().to_string();
            assert_eq!(error, twice(key, key));
        }
        for (key, value) in [
            ("uid", r#""x""#),
            ("name", r#""x""#),
            ("namespace", r#""x""#),
            ("resourceVersion", r#""1""#),
            ("creationTimestamp", r#""2026-01-01T00:00:00Z""#),
            ("deletionTimestamp", r#""2026-01-01T00:00:00Z""#),
            ("labels", "{}"),
            ("annotations", "{}"),
            ("finalizers", "[]"),
            ("managedFields", "[]"),
        ] {
            let error = parse(&whole("", &format!(r#","{key}":{value},"{key}":{value}"#))).unwrap_err().to_string();
            assert_eq!(error, twice(&format!("metadata.{key}"), key));
        }
        for map in ["labels", "annotations"] {
            let text = whole("", &format!(r#","{map}":{{"a":"1","b":"2","\u0061":"1"}}"#));
            assert_eq!(parse(&text).unwrap_err().to_string(), twice(&format!("metadata.{map}"), "a"));
        }
    }

    #[test]
    fn null_beside_a_value_of_the_same_key_is_not_a_duplicate() {
        let object = parse(
            r#"{"apiVersion":"v1","kind":"K","spec":{"a":1},"spec":null,"metadata":{"managedFields":[1],"name":"n","name":null,
                "uid":"u","labels":{"a":"1","a":null},"labels":null,"finalizers":[null,"f"]}}"#,
        )
        .unwrap();
        let meta = object.meta();
        let (spec, status) = object.parts().unwrap();
        assert_eq!((meta.name.as_ref(), meta.uid.as_ref(), spec, status), ("n", "u", r#"{"a":1}"#, "{}"));
        assert_eq!((meta.labels.len(), meta.finalizers.len()), (1, 1));
        assert!(!object.text().contains("managedFields"), "{}", object.text());
        serde_json::from_str::<serde_json::Value>(object.text()).unwrap();
    }

    #[test]
    fn spec_and_status_are_read_on_demand() {
        let head = r#"{"apiVersion":"v1","kind":"K","metadata":{"managedFields":[1],"name":"n"}"#;
        for (tail, spec, status) in [
            ("}", "{}", "{}"),
            (r#" , "spec" : {"a":1} , "more":[], "status":{"b":2}} "#, r#"{"a":1}"#, r#"{"b":2}"#),
            (r#","status":{"b":2},"spec":{"a":1},"spec":null,"kind":null}"#, r#"{"a":1}"#, r#"{"b":2}"#),
        ] {
            let object = parse(&format!("{head}{tail}")).unwrap();
            assert_eq!(object.parts().unwrap(), (spec, status), "{tail}");
            assert!(!object.text().contains("managedFields"));
        }
        for (tail, error) in [
            ("", "line 1 column 54: expected a comma or the end of the object, found the end of the text"),
            (r#","spec":{"a":tru}}"#, "spec.a: line 1 column 67: expected true"),
            (r#","spec":{}} x"#, "line 1 column 66: expected the end of the text, found 'x'"),
            (r#","spec":{},"metadata":{"name":"m"}}"#, "metadata: the key `metadata` appears twice in the same object"),
            (r#","spec":{},"spec":{}}"#, "spec: the key `spec` appears twice in the same object"),
            (r#","status":{},"status":{}}"#, "status: the key `status` appears twice in the same object"),
        ] {
            let object = parse(&format!("{head}{tail}")).unwrap();
            assert_eq!(object.parts().unwrap_err().to_string(), error, "{tail}");
        }
    }

    #[test]
    fn identity_of_a_broken_object_is_what_precedes_the_break() {
        let identity = Identity::probe(r#"{"apiVersion":"v1","kind":"K","metadata":{"name":7,"uid":"u","labels":[}"#);
        assert_eq!(identity.kind.as_deref(), Some("K"));
        assert_eq!(identity.name.as_deref(), Some("7"));
        assert_eq!(identity.uid.as_deref(), Some("u"));
        assert_eq!(Identity::probe("nonsense"), Identity::default());
    }

    #[test]
    fn every_owner_reference_counts_as_an_owner() {
        let owners =
            r#"[{"uid":"a","controller":false},7,{"name":"without"},{"kind":"X","uid":"b","controller":true}]"#;
        let text = format!(r#"{{"spec":[{{}}],"metadata":{{"name":"n","ownerReferences":{owners},"labels":{{}}}},"x"#);
        assert_eq!(owner_uids(&text).unwrap(), ["a", "b"].map(Into::into), "what follows the metadata is not read");
        assert_eq!(Identity::probe(&text).owners, ["a", "b"].map(Into::into));
        for text in ["{}", r#"{"metadata":null}"#, r#"{"metadata":{"ownerReferences":null}}"#] {
            assert!(owner_uids(text).unwrap().is_empty(), "{text}");
        }
        for text in ["", "[]", r#"{"metadata":{"ownerReferences":[{"uid":"a""#] {
            assert!(owner_uids(text).is_err(), "{text}");
        }
    }

    /// `inner`, nested in `depth` objects.
    fn nested(depth: usize, inner: &str) -> String {
        [&r#"{"a":"#.repeat(depth), inner, &"}".repeat(depth)].concat()
    }

    #[test]
    fn identity_is_read_past_what_is_nested_as_deep_as_it_likes() {
        for depth in [101, 100_000] {
            let deep = nested(depth, "[tru]");
            let text = format!(
                r#"{{"data":{deep},"metadata":{{"managedFields":[{deep}],"uid":"u","finalizers":["a",7,null,"b"],
                    "deletionTimestamp":"2026-01-01T00:00:00Z","resourceVersion":"9"}}}}"#
            );
            let identity = Identity::probe(&text);
            assert_eq!((identity.uid.as_deref(), identity.resource_version.as_deref()), (Some("u"), Some("9")));
            assert!(identity.terminating && identity.finalizers == ["a", "7", "b"].map(Into::into), "{identity:?}");
        }
        let identity = Identity::probe(r#"{"metadata":{"deletionTimestamp":null,"finalizers":null,"name":"n"}}"#);
        assert_eq!((identity.terminating, identity.name.as_deref()), (false, Some("n")));
    }

    #[test]
    fn managed_fields_that_are_cut_out_may_be_nested_deeper_than_an_object_may() {
        let whole = |managed: usize, spec: usize| {
            let managed = nested(managed, "{}");
            let spec = nested(spec, "{}");
            format!(
                r#"{{"apiVersion":"v1","kind":"K","metadata":{{"managedFields":[{managed}],"name":"n"}},"spec":{spec}}}"#
            )
        };
        // The object itself, its spec and the empty object inside are levels, too.
        let object = parse(&whole(100_000, json::MAX_DEPTH - 2)).unwrap();
        assert!(object.parts().is_ok() && !object.text().contains("managedFields"));
        let error = parse(&whole(0, json::MAX_DEPTH)).unwrap().parts().unwrap_err();
        assert!(error.to_string().contains("nested deeper than 120 levels"), "{error}");
        let kept = Object::parse(whole(json::MAX_DEPTH, 0), ManagedFields::Keep);
        assert!(kept.unwrap_err().to_string().contains("nested deeper than 120 levels"));
    }
}
