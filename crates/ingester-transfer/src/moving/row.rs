//! Turns a row of the source into a row for our tables. Pure.

use super::other::{Fate, Layout, OtherRow, OtherTable};
use ingester_core::kind::Kind;
use ingester_core::marks::Mark;
use ingester_core::object::{Identity, ManagedFields, Object};
use ingester_core::row::Row;
use ingester_core::schema::{Stays, base};
use ingester_core::value::Value;
use serde_json::Value as Json;
use std::borrow::Cow;

/// A row that was made again from the object's text.
pub(super) struct RebuiltRow {
    pub(super) row: Row,
    /// True if the `proto` of the source says something else than the new one.
    pub(super) proto_differs: bool,
    /// True if neither its kind nor an annotation says that the object may leave the cluster.
    pub(super) unmarked: bool,
    /// True if the object was read from its `proto`, because its `json` is NULL.
    pub(super) from_proto: bool,
}

impl OtherTable {
    /// Returns the row of an object in this state; `None` if its kind leaves it out.
    ///
    /// # Errors
    /// The reason why the object has no row.
    pub(super) fn made(&self, source: &OtherRow, state: Fate) -> Result<Option<RebuiltRow>, String> {
        let kind = &self.kind;
        let (text, from_proto) = match &source.values[base::JSON] {
            Value::Text(text) => (Cow::Borrowed(&**text), false),
            _ => (Cow::Owned(of_proto(kind, &source.values[base::PROTO])?), true),
        };
        let text = with_type(&text, source.get_text(base::GROUP_VER), kind.kind());
        let text = kind.stored_text(&text).map_err(|error| error.to_string())?;
        let object = Object::parse(&*text, ManagedFields::Prune).map_err(|error| error.to_string())?;
        let group = object.api_version().rsplit_once('/').map_or("", |(group, _)| group);
        if (group, object.kind()) != (kind.group(), kind.kind()) {
            let its = object.kind();
            let of = object.api_version();
            return Err(format!("its `json` is a {its} of {of}, and no {}", kind.full_name()));
        }
        let Some(mut row) = kind.row(&object).map_err(|error| error.to_string())? else { return Ok(None) };
        self.set_state(&mut row, source, state);
        refuse_only_copy(kind, &row)?;
        let annotations = &object.meta().annotations;
        let unmarked = !kind.immutable() && kind.marks().asked(annotations, Mark::Immutable).is_none();
        let proto_differs = self.layout == Layout::Reference && proto_differs(kind, source, &row);
        Ok(Some(RebuiltRow { row, proto_differs, unmarked, from_proto }))
    }

    /// Sets the parts of a row that its object's text does not contain.
    fn set_state(&self, row: &mut Row, source: &OtherRow, state: Fate) {
        // A tombstone has the version at which the object was gone, and changes of an evicted row increase the version, so it may be higher
        // than in the text.
        row.res_version = row.res_version.max(source.object().res_version);
        match state {
            Fate::Left => {}
            // Every version in a list is later, and so is every definition: the mirror then writes the object itself.
            Fate::Assumed => (row.res_version, row.ingest_version) = (0, 0),
            Fate::Of { delete, evict } => {
                row.delete_time = delete;
                row.evict_time = evict.map(|(time, _)| time);
                row.evict_confirmed = evict.is_some_and(|(_, confirmed)| confirmed);
            }
        }
        row.values[base::RES_VERSION] = Value::UInt(row.res_version);
        row.values[base::INGEST_VERSION] = Value::UInt(row.ingest_version.into());
        if row.values[base::CREATE_TIME] == Value::Null
            && let Value::Time(time) = source.values[base::CREATE_TIME]
        {
            row.values[base::CREATE_TIME] = Value::Time(time);
        }
        // Values that stay exist in no object any more, so take them from the source.
        for (place, column) in self.kind.table().columns.iter().enumerate() {
            if column.stays != Stays::None && source.values[place] != Value::Null {
                row.values[place] = source.values[place].clone();
            }
        }
    }
}

/// # Errors
/// If the row would be the only copy of an object, but the kind does not store the whole object.
pub(crate) fn refuse_only_copy(kind: &Kind, row: &Row) -> Result<(), String> {
    match kind.prune() {
        [] => Ok(()),
        _ if row.evict_time.is_none() || row.delete_time.is_some() => Ok(()),
        pruned => Err(format!(
            "it is evicted, and {} is not stored of a {}: the row would be the only copy, and incomplete; leave out `prune`, or keep the object \
             elsewhere",
            pruned.join(", "),
            kind.name()
        )),
    }
}

/// Returns the text of the object in a `proto`.
///
/// # Errors
/// If there is none, or if its bytes are not the kind's message.
fn of_proto(kind: &Kind, proto: &Value) -> Result<String, String> {
    let (Some(protobuf), Value::Bytes(bytes)) = (kind.protobuf(), proto) else {
        return Err("its `json` is NULL, and it has no `proto` either: there is no object to copy".to_owned());
    };
    let (descriptors, message) = protobuf.get().map_err(|error| error.to_string())?;
    descriptors.decode(message, bytes).map_err(|error| {
        format!("its `json` is NULL, and its `proto` cannot be read: {error}: there is no object to copy")
    })
}

/// Returns an object's text with its type, which the reference system leaves out if its client did not know it.
fn with_type<'t>(text: &'t str, group_ver: &str, kind: &str) -> std::borrow::Cow<'t, str> {
    let identity = Identity::probe(text);
    let is_absent = |part: &Option<Box<str>>| part.as_deref().is_none_or(str::is_empty);
    let members: Vec<String> = [("apiVersion", &identity.api_version, group_ver), ("kind", &identity.kind, kind)]
        .into_iter()
        .filter(|(_, there, _)| is_absent(there))
        .map(|(name, _, value)| format!(r#""{name}":{},"#, Json::from(value)))
        .collect();
    match text.trim_start().strip_prefix('{') {
        Some(rest) if !members.is_empty() && !rest.trim_start().starts_with('}') => {
            format!("{{{}{rest}", members.concat()).into()
        }
        _ => text.into(),
    }
}

/// Returns true if the bytes of the source decode to another object than the new bytes. This ignores the parts that are not copied: managed
/// fields, and the object's type, which the text may have lacked.
fn proto_differs(kind: &Kind, source: &OtherRow, row: &Row) -> bool {
    // The source has more on purpose.
    if !kind.prune().is_empty() {
        return false;
    }
    let (Some(protobuf), Value::Bytes(stored)) = (kind.protobuf(), &source.values[base::PROTO]) else { return false };
    let (Ok((descriptors, message)), Value::Bytes(made)) = (protobuf.get(), &row.values[base::PROTO]) else {
        return true;
    };
    let decoded = |bytes: &[u8]| {
        let text = descriptors.decode(message, bytes).ok()?;
        let mut object: Json = serde_json::from_str(&text).ok()?;
        for name in ["apiVersion", "kind"] {
            object.as_object_mut()?.remove(name);
        }
        if let Some(metadata) = object.get_mut("metadata").and_then(Json::as_object_mut) {
            metadata.remove("managedFields");
        }
        Some(object)
    };
    let stored = decoded(stored);
    stored.is_none() || stored != decoded(made)
}

#[cfg(test)]
mod tests {
    use super::with_type;

    #[test]
    fn a_text_without_its_type_gets_it() {
        for (text, expected) in [
            (r#"{"metadata":{}}"#, r#"{"apiVersion":"g/v1","kind":"A","metadata":{}}"#),
            (r#"{"kind":"A","metadata":{}}"#, r#"{"apiVersion":"g/v1","kind":"A","metadata":{}}"#),
            (r#"{"apiVersion":"g/v2","kind":"B"}"#, r#"{"apiVersion":"g/v2","kind":"B"}"#),
            ("{}", "{}"),
            ("[1]", "[1]"),
        ] {
            assert_eq!(with_type(text, "g/v1", "A"), expected);
        }
    }
}
