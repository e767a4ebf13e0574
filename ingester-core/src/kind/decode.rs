//! From an object's JSON to the values of its indexed columns, by the structs that describe its kind.

use super::Indexed;
use super::derived::RowSource;
use crate::object::Object;
use crate::value::Values;
use ingester_json::json::{self, Reader};
use serde::de::DeserializeOwned;

/// Decodes a custom resource: spec and status apart, then the columns from the metadata.
pub(super) fn decode_resource<Spec, Status>(object: &Object, out: &mut Values) -> Result<bool, json::Error>
where
    Spec: RowSource + DeserializeOwned,
    Status: Indexed + DeserializeOwned,
{
    // Any trouble on the fast path is left to the slow one, which knows the path of what is wrong.
    let (spec, status) = match object.unread().and_then(|reader| decode_members::<Spec, Status>(reader).ok()) {
        Some(both) => both,
        None => {
            let (spec, status) = object.parts()?;
            let spec: Spec = json::from_str(spec).map_err(|error| error.with_prefix("spec"))?;
            let status = match json::from_str(status) {
                Err(_) if status == "{}" => None,
                Err(_) if !spec.has_row() => return Ok(false),
                status => Some(status.map_err(|error| error.with_prefix("status"))?),
            };
            (spec, status)
        }
    };
    let has_row = spec.has_row();
    spec.write(out);
    match status {
        Some(status) => status.write(out),
        None => Status::FIELDS.iter().for_each(|field| out.push_absent(field.shape())),
    }
    Spec::write_metadata(object.meta(), out);
    Ok(has_row)
}

/// Reads spec and status in one pass over the members after the metadata. Fails on anything unusual, also on what
/// [`Object::parts`] accepts. A status that is not written yet is `None` if the struct requires one of its fields.
fn decode_members<Spec, Status>(mut reader: Reader<'_>) -> Result<(Spec, Option<Status>), json::Error>
where
    Spec: DeserializeOwned,
    Status: DeserializeOwned,
{
    let mut spec = None;
    let mut status = None;
    while let Some(key) = reader.next_key()? {
        match key.as_ref() {
            "spec" if spec.is_none() => spec = Some(Spec::deserialize(&mut reader)?),
            "status" if status.is_none() => status = Some(Status::deserialize(&mut reader)?),
            "apiVersion" | "kind" | "metadata" | "spec" | "status" => {
                return Err(json::Error::value(reader.offset(), "appears twice"));
            }
            _ => reader.skip()?,
        }
    }
    reader.finish()?;
    Ok((spec.map_or_else(|| json::from_str("{}"), Ok)?, status.or_else(|| json::from_str("{}").ok())))
}

/// Decodes a projection: the struct is read from the whole object.
pub(super) fn decode_projection<Whole>(object: &Object, out: &mut Values) -> Result<bool, json::Error>
where
    Whole: RowSource + DeserializeOwned,
{
    object.parts()?;
    let whole: Whole = json::from_str(object.text())?;
    whole.write(out);
    Whole::write_metadata(object.meta(), out);
    Ok(whole.has_row())
}
