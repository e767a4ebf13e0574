//! A kind: what the derive knows about a struct, and its type-erased form that the engine works with.
//!
//! May use: schema, value, json, object, protobuf, row.

use crate::json::{self, Reader};
use crate::object::{Meta, Object};
use crate::protobuf::{DescriptorSet, Descriptors, Lost, MessageId};
use crate::row::{Row, RowError};
use crate::schema::{Field, Table};
use crate::value::{Value, Values};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use std::borrow::Cow;

/// A struct some of whose fields are columns. Derived: `#[derive(Indexed)]`, and by `#[derive(Ingestable)]` for the
/// struct itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no indexed fields",
    label = "this struct does not derive `Indexed`",
    note = "a status struct needs `#[derive(Indexed)]`, with or without `#[index]` on its fields"
)]
pub trait Indexed {
    /// The indexed fields.
    const FIELDS: &'static [Field];

    /// Adds one value for each column of [`Indexed::FIELDS`].
    fn write(&self, out: &mut Values);
}

/// The indexed fields of `T` where it has some. As with [`Layout`](crate::value::Layout), the derives' constants take
/// `<FieldsOf<T>>::FIELDS`, so that a status which does not derive [`Indexed`] is one error and hides no other.
pub struct FieldsOf<T>(std::marker::PhantomData<T>);

impl<T: Indexed> FieldsOf<T> {
    /// The type's indexed fields.
    pub const FIELDS: &'static [Field] = T::FIELDS;
}

/// What every type has, see [`FieldsOf`].
pub trait NoFields {
    /// One that is not known.
    const FIELDS: &'static [Field] = &[Field::derived("", None, None, false, None)];
}

impl<T> NoFields for FieldsOf<T> {}

/// A Kubernetes kind that can be mirrored into SQL. Derived: `#[derive(Ingestable)]`.
pub trait Ingestable: Sized + 'static {
    /// The API group; empty for the core group.
    const GROUP: &'static str;
    /// The API version, without the group.
    const VERSION: &'static str;
    /// The kind.
    const KIND: &'static str;
    /// Whether its objects live in namespaces.
    const NAMESPACED: bool;
    /// Its tables.
    const TABLE: &'static Table;
    /// Whether every object leaves etcd once SQL has it (`#[ingest(immutable)]`).
    const IMMUTABLE: bool;

    /// The plural in the API's paths.
    fn plural() -> Cow<'static, str>;

    /// The protobuf message of the `proto` column (`#[ingest(protobuf = "...")]`).
    fn protobuf() -> Option<Protobuf>;

    /// Adds the values of the indexed columns; false where a predicate leaves the object out. It is this function that reads what
    /// comes after the object's metadata for the first time: one that has no use for it asks for [`Object::parts`].
    ///
    /// # Errors
    /// When a field's JSON is not of the field's type, or the text is not JSON; the error names its path.
    fn decode(object: &Object, out: &mut Values) -> Result<bool, json::Error>;

    /// The CRD, for kinds that are ours to define.
    fn crd() -> Option<CustomResourceDefinition>;
}

/// The status of a kind that has none.
#[derive(serde::Deserialize)]
pub struct NoStatus {}

impl Indexed for NoStatus {
    const FIELDS: &'static [Field] = &[];

    fn write(&self, _: &mut Values) {}
}

/// A kind with its type erased: constants and four functions. The engine is written for this, once.
#[derive(Clone, Copy)]
pub struct Kind {
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    namespaced: bool,
    table: &'static Table,
    immutable: bool,
    protobuf: fn() -> Option<Protobuf>,
    plural: fn() -> Cow<'static, str>,
    decode: fn(&Object, &mut Values) -> Result<bool, json::Error>,
    crd: fn() -> Option<CustomResourceDefinition>,
}

/// The message as which a kind's objects stand in the `proto` column.
#[derive(Clone, Copy, Debug)]
pub struct Protobuf {
    /// Its full name, such as `michelangelo.api.v2.Model`.
    pub message: &'static str,
    /// The descriptors that have it.
    pub descriptors: &'static DescriptorSet,
}

impl Protobuf {
    /// The descriptors, and the message in them.
    ///
    /// # Errors
    /// When the descriptors cannot be read, or do not have the message.
    pub fn get(&self) -> Result<(&'static Descriptors, MessageId), String> {
        let descriptors =
            self.descriptors.get().map_err(|error| format!("the descriptors of {}: {error}", self.message))?;
        let message = descriptors.message(self.message);
        Ok((descriptors, message.ok_or_else(|| format!("the descriptors have no message {}", self.message))?))
    }
}

/// An object's bytes for the `proto` column, where its kind names a message, and what they have no place for.
pub type Proto = (Option<Box<[u8]>>, Lost);

/// Why an object has no row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The kind's descriptors are of no use: a mistake of the program, not of the object.
    #[error("{0}")]
    Descriptors(String),
    /// A field's JSON is not of the field's type.
    #[error(transparent)]
    Json(#[from] json::Error),
    /// A value does not fit its column.
    #[error(transparent)]
    Row(#[from] RowError),
}

impl Kind {
    /// The kind that `K` describes; the line of a manifest.
    pub const fn of<K: Ingestable>() -> Self {
        Kind {
            group: K::GROUP,
            version: K::VERSION,
            kind: K::KIND,
            namespaced: K::NAMESPACED,
            table: K::TABLE,
            immutable: K::IMMUTABLE,
            protobuf: K::protobuf,
            plural: K::plural,
            decode: K::decode,
            crd: K::crd,
        }
    }

    /// The API group; empty for the core group.
    pub fn group(&self) -> &'static str {
        self.group
    }

    /// The API version, without the group.
    pub fn version(&self) -> &'static str {
        self.version
    }

    /// The kind's name.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The plural in the API's paths.
    pub fn plural(&self) -> Cow<'static, str> {
        (self.plural)()
    }

    /// Group and version as objects write them in `apiVersion`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.to_owned() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Whether its objects live in namespaces.
    pub fn namespaced(&self) -> bool {
        self.namespaced
    }

    /// Its tables.
    pub fn table(&self) -> &'static Table {
        self.table
    }

    /// Whether every object leaves etcd once SQL has it.
    pub fn immutable(&self) -> bool {
        self.immutable
    }

    /// The protobuf message of the `proto` column.
    pub fn protobuf(&self) -> Option<Protobuf> {
        (self.protobuf)()
    }

    /// The CRD, as the API server takes it: without defaults and required lists, so that it stores what the client sent.
    /// `None` for kinds that somebody else defines.
    pub fn crd(&self) -> Option<CustomResourceDefinition> {
        (self.crd)()
    }

    /// The object's row; `None` where the kind's predicate leaves the object out.
    ///
    /// # Errors
    /// When the text is not JSON, a field's JSON is not of the field's type, or a value does not fit its column.
    pub fn row(&self, object: &Object) -> Result<Option<Row>, DecodeError> {
        let mut values = Values::with_capacity(self.table.indexed().len());
        if !(self.decode)(object, &mut values)? {
            return Ok(None);
        }
        let (proto, lost) = self.proto(object)?;
        Ok(Some(Row { lost, ..Row::new(self.table, object, proto, values)? }))
    }

    /// The object's bytes for the `proto` column, and what they have no place for.
    ///
    /// # Errors
    /// When the kind's descriptors cannot be read, or the object's text is not JSON.
    pub fn proto(&self, object: &Object) -> Result<Proto, DecodeError> {
        let Some(protobuf) = self.protobuf() else { return Ok((None, Lost::default())) };
        let (descriptors, message) = protobuf.get().map_err(DecodeError::Descriptors)?;
        let (bytes, lost) = descriptors.encode(message, object.text())?;
        Ok((Some(bytes.into()), lost))
    }
}

impl Kind {
    /// The row of an object that cannot be decoded: its metadata and its text, the indexed columns NULL.
    ///
    /// # Errors
    /// When the metadata do not fit their columns, or the text is not JSON.
    pub fn bare_row(&self, object: &Object) -> Result<Row, DecodeError> {
        object.parts()?;
        let indexed = self.table.indexed().len();
        let mut values = Values::with_capacity(indexed);
        (0..indexed).for_each(|_| values.push(Value::Null));
        // Whatever is wrong with a value, its message has a place for the others.
        let (proto, lost) = self.proto(object).unwrap_or_default();
        Ok(Row { lost, ..Row::new(self.table, object, proto, values)? })
    }
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Kind({} {})", self.api_version(), self.kind)
    }
}

/// Decodes a custom resource: spec and status apart, then the columns from the metadata. The derive's delegate.
///
/// # Errors
/// As [`Ingestable::decode`].
pub fn decode_resource<'o, Spec, Status>(
    object: &'o Object,
    out: &mut Values,
    keep: impl Fn(&Spec) -> bool,
    metadata: impl Fn(&Meta, &mut Values),
) -> Result<bool, json::Error>
where
    Spec: Indexed + serde::Deserialize<'o>,
    Status: Indexed + serde::Deserialize<'o>,
{
    // Whatever is amiss there is told by the look that takes its time.
    let (spec, status) = match object.unread().and_then(|reader| decode_members::<Spec, Status>(reader).ok()) {
        Some((spec, _)) if !keep(&spec) => return Ok(false),
        Some(both) => both,
        None => {
            let (spec, status) = object.parts()?;
            let spec = json::from_str(spec).map_err(|error| error.with_prefix("spec"))?;
            if !keep(&spec) {
                return Ok(false);
            }
            (spec, json::from_str(status).map_err(|error| error.with_prefix("status"))?)
        }
    };
    spec.write(out);
    status.write(out);
    metadata(object.meta(), out);
    Ok(true)
}

/// Reads spec and status in one pass over the members that come after the metadata; any trouble is an error, also such as the
/// slower way knows to live with.
fn decode_members<'o, Spec, Status>(mut reader: Reader<'o>) -> Result<(Spec, Status), json::Error>
where
    Spec: serde::Deserialize<'o>,
    Status: serde::Deserialize<'o>,
{
    let (mut spec, mut status) = (None, None);
    while let Some(key) = reader.next_key()? {
        match key.as_ref() {
            "spec" if spec.is_none() => spec = Some(Spec::deserialize(&mut reader)?),
            "status" if status.is_none() => status = Some(Status::deserialize(&mut reader)?),
            "apiVersion" | "kind" | "metadata" | "spec" | "status" => {
                return Err(json::Error::value(reader.offset(), "said a second time"));
            }
            _ => reader.skip()?,
        }
    }
    reader.finish()?;
    Ok((spec.map_or_else(|| json::from_str("{}"), Ok)?, status.map_or_else(|| json::from_str("{}"), Ok)?))
}

/// Decodes a projection: the struct is read from the whole object. The derive's delegate.
///
/// # Errors
/// As [`Ingestable::decode`].
pub fn decode_projection<'o, Whole>(
    object: &'o Object,
    out: &mut Values,
    keep: impl Fn(&Whole) -> bool,
    metadata: impl Fn(&Meta, &mut Values),
) -> Result<bool, json::Error>
where
    Whole: Indexed + serde::Deserialize<'o>,
{
    object.parts()?;
    let whole: Whole = json::from_str(object.text())?;
    if !keep(&whole) {
        return Ok(false);
    }
    whole.write(out);
    metadata(object.meta(), out);
    Ok(true)
}

/// The CRD of a kind that kube derives, made ready for the API server. The derive's delegate.
pub fn crd<K: kube::CustomResourceExt>() -> Option<CustomResourceDefinition> {
    let mut crd = K::crd();
    for version in &mut crd.spec.versions {
        if let Some(schema) = version.schema.as_mut().and_then(|schema| schema.open_api_v3_schema.as_mut()) {
            relax(schema);
        }
    }
    Some(crd)
}

/// The plural of a kind that kube derives. The derive's delegate.
pub fn plural<K: kube::Resource<DynamicType = ()>>() -> Cow<'static, str> {
    K::plural(&())
}

/// Takes out what would make the API server change or refuse what a client sends: defaults, required lists and
/// `nullable` (without it the server drops nulls, which read as absent everyhow).
fn relax(schema: &mut k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps) {
    use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
        JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
    };
    schema.default = None;
    schema.required = None;
    schema.nullable = None;
    if let Some(description) = &mut schema.description {
        // Documentation is written for rustdoc; who reads a CRD has no use for its links.
        *description = description.replace("[`", "`").replace("`]", "`");
    }
    if let Some(properties) = &mut schema.properties {
        for property in properties.values_mut() {
            relax(property);
        }
    }
    match &mut schema.items {
        Some(JSONSchemaPropsOrArray::Schema(items)) => relax(items),
        Some(JSONSchemaPropsOrArray::Schemas(items)) => items.iter_mut().for_each(relax),
        None => {}
    }
    if let Some(JSONSchemaPropsOrBool::Schema(more)) = &mut schema.additional_properties {
        relax(more);
    }
}

/// The kind of an object among `kinds`, by `apiVersion` and `kind`.
pub fn find<'k>(kinds: &'k [Kind], api_version: &str, kind: &str) -> Option<&'k Kind> {
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    kinds.iter().find(|k| k.kind == kind && k.group == group && k.version == version)
}
