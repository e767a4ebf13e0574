//! A kind of Kubernetes objects as one constant: its names, its tables, and the functions that read its objects.
//!
//! `#[derive(Ingestable)]` fills in a [`Definition`] and names the structs; everything that runs is compiled here, once
//! for each kind, behind the function pointers of [`Kind`]. The engine is written for [`Kind`] and is not generic.
//!
//! May use: ingester-json, ingester-wire, schema, value, marks, object, protobuf, prune, row.

mod counted;
mod crd;
mod decode;
pub(crate) mod derived;

use crate::marks::{Mark, MarkName, Marks};
use crate::object::{ManagedFields, Object, ObjectError};
use crate::protobuf::{DescriptorError, DescriptorSet, Descriptors, Lost, MessageId};
use crate::prune;
use crate::row::{Origin, Row, RowError};
use crate::schema::{EvictionRule, Field, Fingerprint, History, Ident, Table, Text, base};
use crate::value::{Value, Values};
use derived::{FromJson, RowSource};
use ingester_json::json;
use ingester_wire::duration::{Bounds, DurationError};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use std::borrow::Cow;
use std::time::Duration;

pub use counted::{Counted, Recipes, Record};

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

    /// True if the struct can be read from an object that has none of its fields (`#[serde(default)]` on the struct). Otherwise a status is
    /// absent as a whole until it is written.
    const DEFAULTED: bool = false;

    /// Adds one value for each column of [`Indexed::FIELDS`].
    fn write(&self, out: &mut Values);
}

/// A Kubernetes kind that can be mirrored into SQL. Derived: `#[derive(Ingestable)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kind",
    label = "this type does not derive `Ingestable`",
    note = "of a custom resource, name the type that kube makes (`Model`), not its spec (`ModelSpec`)"
)]
pub trait Ingestable: Sized + 'static {
    /// The kind.
    const KIND: Kind;
}

/// A kind with its type erased. It is `Copy` and can be a constant; [`registry!`](crate::registry) joins lists of them.
#[derive(Clone, Copy)]
pub struct Kind {
    definition: Definition,
    functions: Functions,
    version: DefinitionNumber,
    /// Its name in a program where another kind has the same name.
    called: Option<&'static str>,
    marks: &'static Marks,
    /// The paths in its objects that are not stored.
    prune: &'static [&'static str],
    /// The rules of its owner.
    evict: &'static [EvictionRule],
    /// A filter may leave objects out.
    filtered: bool,
    /// A value that does not fit its column rejects the object.
    strict: bool,
    /// The short names, if another project's CRD says them.
    short_names: &'static [&'static str],
}

/// How a kind knows which of its definitions it is.
#[derive(Clone, Copy)]
enum DefinitionNumber {
    /// From the lock file of the program.
    Known(IngestVersion),
    /// From the database, once that has been asked.
    Recorded(&'static Record),
}

/// The number of this definition among the kind's definitions, as the lock file counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IngestVersion {
    /// The value of `ingest_version` in rows of this definition, from 1; 0 if no lock file has this definition.
    pub number: u32,
    /// The definition of rows that have 0, which are older than the column. 0 if it is unknown; then they are older than any
    /// definition.
    pub of_unmarked: u32,
}

/// The data of a kind.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// The API version, without the group.
    pub version: &'static str,
    /// The kind's name, in CamelCase.
    pub kind: &'static str,
    /// The objects live in namespaces.
    pub namespaced: bool,
    /// Its tables.
    pub table: &'static Table,
    /// Every object leaves etcd once SQL has it (`#[ingest(immutable)]`).
    pub immutable: bool,
    /// Annotations can take an object out of the cluster (`#[ingest(evictable = ...)]`). With `Some(false)`, annotations that request an
    /// eviction or a deletion are ignored and reported, and the ingester deletes no object. `None` means not set and acts as `true`, except
    /// that `ingester rbac` grants no right to delete objects of a kind that another project defines.
    pub evictable: Option<bool>,
    /// The protobuf message of the `proto` column (`#[ingest(protobuf = "...")]`).
    pub protobuf: Option<Protobuf>,
    /// Which objects carry our finalizer, unless the configuration says otherwise (`#[ingest(finalizer = "...")]`).
    pub finalizer: Finalizer,
    /// How long after an object's deletion its row is purged, unless the configuration sets it for this kind
    /// (`#[ingest(retention = "...")]`); `None` where the configuration sets it for all kinds.
    pub retention: Option<Duration>,
    /// A fingerprint of its columns, the sources of their values, and its filter; see [`Kind::fingerprint`].
    pub fingerprint: Fingerprint,
}

/// How long a kind may keep the rows of deleted objects, see [`Definition::retention`].
pub const RETENTION: Bounds = Bounds::new("1s", "36500d");

/// The ages that a rule of evictions may require, see [`EvictionRule::after`].
pub const AFTER: Bounds = Bounds::new("0s", "365d");

/// How long the former versions of a kind's objects may be kept, see [`History`].
pub const HISTORY: Bounds = Bounds::new("1s", "36500d");

/// How long former versions are kept, by a text such as `90d`; `None` for `forever`.
///
/// # Errors
/// If the text is neither.
pub const fn read_history(text: &str) -> Result<Option<Duration>, DurationError> {
    if let [b'f', b'o', b'r', b'e', b'v', b'e', b'r'] = text.as_bytes() {
        return Ok(None);
    }
    match HISTORY.read(text) {
        Ok(keep) => Ok(Some(keep)),
        Err(error) => Err(error),
    }
}

/// Which objects of a kind carry our finalizer, see [`Mark::Finalizer`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finalizer {
    /// Every live object gets it, so that none leaves the cluster before its last state is stored. Kinds whose CRD is ours have
    /// this unless their structs say otherwise.
    #[default]
    Ensure,
    /// No object gets it. From an object that has it, it is removed once the object's deletion or eviction is stored.
    Existing,
    /// No object gets it, and a live object that has it keeps it: another ingester may have put it there. It is removed from a
    /// terminating object once the last state is stored. Projections have this unless their structs say otherwise: their
    /// objects belong to another project.
    Never,
}

/// The functions of a kind.
#[derive(Clone, Copy)]
pub struct Functions {
    /// The plural in the API's paths.
    pub plural: Plural,
    /// Adds the values of the indexed columns. Returns false where the kind's filter leaves the object out; then the values are all there,
    /// or none is, because an object that is left out may have any shape.
    ///
    /// An object's text after its metadata is read here for the first time; a function that does not look at it calls
    /// [`Object::parts`], so that broken JSON is an error all the same.
    pub decode: Decode,
    /// The CRD, for kinds that are ours to define.
    pub crd: Option<fn() -> CustomResourceDefinition>,
}

/// How the kind's filter counts when a row is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FilterMode {
    Applied,
    Ignored,
}

/// The code that reads the objects of a kind. This is the only difference between a kind of a struct and a kind of a file.
#[derive(Clone, Copy)]
pub enum Decode {
    /// A function that the compiler made of structs.
    Function(fn(&Object, &mut Values) -> Result<bool, json::Error>),
    /// The recipe of a kind that a file declares.
    Declared(&'static dyn Declared),
}

/// Reads objects of a kind that no struct describes.
pub trait Declared: Send + Sync + std::panic::RefUnwindSafe {
    /// As [`Functions::decode`].
    ///
    /// # Errors
    /// When the text is not JSON, or a value is not of its column's type.
    fn decode(&self, object: &Object, out: &mut Values) -> Result<bool, json::Error>;

    /// The kind as its file spells it: YAML, an element of a list of kinds.
    fn spelled(&self) -> &str;
}

impl Decode {
    /// Adds the values of the indexed columns, see [`Functions::decode`].
    ///
    /// # Errors
    /// When the text is not JSON, or a field's JSON is not of the field's type.
    pub fn decode(&self, object: &Object, out: &mut Values) -> Result<bool, json::Error> {
        match self {
            Decode::Function(function) => function(object, out),
            Decode::Declared(declared) => declared.decode(object, out),
        }
    }
}

/// The plural of a kind in the API's paths.
#[derive(Clone, Copy)]
pub enum Plural {
    /// As it was written.
    Literal(&'static str),
    /// From a type that knows it.
    Function(fn() -> Cow<'static, str>),
}

/// The protobuf message in which a kind's objects are stored in the `proto` column.
#[derive(Clone, Copy, Debug)]
pub struct Protobuf {
    /// Its full name, such as `michelangelo.api.v2.Model`.
    pub message: &'static str,
    /// The descriptors that contain it.
    pub descriptors: &'static DescriptorSet,
}

/// Why a kind's protobuf message cannot be used. It is a mistake of the program, never of an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtobufError {
    /// The descriptors cannot be read.
    #[error("the descriptors of {message}: {source}")]
    Descriptors {
        /// The message that was looked for.
        message: &'static str,
        /// The reason.
        source: DescriptorError,
    },
    /// The descriptors do not contain the message.
    #[error("the descriptors have no message {message}")]
    NoMessage {
        /// The message that was looked for.
        message: &'static str,
    },
}

impl Protobuf {
    /// The descriptors, and the message in them.
    ///
    /// # Errors
    /// [`ProtobufError`] when the descriptors cannot be read or do not contain the message.
    pub fn get(&self) -> Result<(&'static Descriptors, MessageId), ProtobufError> {
        let message = self.message;
        let unreadable = |source: &DescriptorError| ProtobufError::Descriptors { message, source: source.clone() };
        let descriptors = self.descriptors.get().map_err(unreadable)?;
        let id = descriptors.message(message).ok_or(ProtobufError::NoMessage { message })?;
        Ok((descriptors, id))
    }
}

/// An object's bytes for the `proto` column, where its kind names a message, and what the message has no field for.
pub type Proto = (Option<Box<[u8]>>, Lost);

/// The reason why an object has no row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The kind's protobuf message cannot be used.
    #[error(transparent)]
    Protobuf(#[from] ProtobufError),
    /// The text is not JSON, or a field's JSON is not of the field's type.
    #[error(transparent)]
    Json(#[from] json::Error),
    /// A value does not fit its column.
    #[error(transparent)]
    Row(#[from] RowError),
    /// The parts of the object that are not stored cannot be cut out.
    #[error(transparent)]
    Object(#[from] ObjectError),
}

impl Kind {
    /// The kind that `K` describes: its line in a registry.
    pub const fn of<K: Ingestable>() -> Self {
        K::KIND
    }

    /// A custom resource that kube derives: `Root` is the type of the whole object, read from `Spec` and `Status`.
    #[doc(hidden)]
    pub const fn custom_resource<Root, Spec, Status>(definition: Definition) -> Self
    where
        Root: kube::Resource<DynamicType = ()> + kube::CustomResourceExt,
        Spec: RowSource + FromJson,
        Status: Indexed + FromJson,
    {
        let plural = Plural::Function(|| Root::plural(&()));
        let functions = Functions {
            plural,
            decode: Decode::Function(decode::decode_resource::<Spec, Status>),
            crd: Some(crd::relaxed::<Root>),
        };
        Kind::new(definition, functions)
    }

    /// As [`Kind::custom_resource`], with the CRD that kube derives.
    #[doc(hidden)]
    pub const fn strict_custom_resource<Root, Spec, Status>(definition: Definition) -> Self
    where
        Root: kube::Resource<DynamicType = ()> + kube::CustomResourceExt,
        Spec: RowSource + FromJson,
        Status: Indexed + FromJson,
    {
        let mut kind = Kind::custom_resource::<Root, Spec, Status>(definition);
        kind.functions.crd = Some(crd::strict::<Root>);
        kind
    }

    /// A kind that another project defines: `Whole` is read from the whole object.
    #[doc(hidden)]
    pub const fn projection<Whole>(definition: Definition, plural: &'static str) -> Self
    where
        Whole: RowSource + FromJson,
    {
        let plural = Plural::Literal(plural);
        Kind::new(
            definition,
            Functions { plural, decode: Decode::Function(decode::decode_projection::<Whole>), crd: None },
        )
    }

    /// A kind from its parts, for those that no struct describes.
    pub const fn new(definition: Definition, functions: Functions) -> Self {
        let version = DefinitionNumber::Known(IngestVersion { number: 0, of_unmarked: 0 });
        let marks = &Marks::MICHELANGELO;
        Kind {
            definition,
            functions,
            version,
            called: None,
            marks,
            prune: &[],
            evict: &[],
            filtered: false,
            strict: true,
            short_names: &[],
        }
    }

    /// Stands in for a kind that the derive refused, in a program that does not compile; and for kinds that are still
    /// to be copied, while [`registry!`](crate::registry) joins lists.
    #[doc(hidden)]
    pub const fn refused() -> Self {
        const TABLE: Table = Table::derived("", "", &[], &[]);
        let definition = Definition {
            group: "",
            version: "",
            kind: "",
            namespaced: false,
            table: &TABLE,
            immutable: false,
            evictable: None,
            protobuf: None,
            finalizer: Finalizer::Never,
            retention: None,
            fingerprint: Fingerprint::NONE,
        };
        Kind::new(
            definition,
            Functions { plural: Plural::Literal(""), decode: Decode::Function(|_, _| Ok(false)), crd: None },
        )
    }

    /// Leaves the values at these paths of its objects out of the store (`#[ingest(prune = [...])]`). The paths were checked
    /// ([`check_prune`](crate::schema::check_prune)).
    #[must_use]
    pub const fn pruning(mut self, paths: &'static [&'static str]) -> Self {
        self.prune = paths;
        self
    }

    /// Sets the short names of a CRD that is not ours, such as `cert` for `certificates`.
    #[must_use]
    pub const fn called_short(mut self, names: &'static [&'static str]) -> Self {
        self.short_names = names;
        self
    }

    /// Sets the rules of its owner (`#[ingest(evict(...))]`): which of its live objects may leave etcd. The rules were checked
    /// ([`check_evict`](crate::schema::check_evict)).
    #[must_use]
    pub const fn evicting(mut self, rules: &'static [EvictionRule]) -> Self {
        self.evict = rules;
        self
    }

    /// Stores objects with values that do not fit their columns: such a column is NULL, and the row names it ([`Row::unfit`]).
    #[must_use]
    pub const fn tolerant(mut self) -> Self {
        self.strict = false;
        self
    }

    /// Says that the kind's filter may leave objects out (`#[ingest(filter = function)]`).
    #[must_use]
    pub const fn filtering(mut self) -> Self {
        self.filtered = true;
        self
    }

    /// Sets the number of this definition, in a program that knows it.
    #[must_use]
    pub const fn versioned(mut self, version: IngestVersion) -> Self {
        self.version = DefinitionNumber::Known(version);
        self
    }

    /// Lets the kind learn the number of its definition from a database: the recorded version applies from then on.
    #[must_use]
    pub const fn recorded(mut self, record: &'static Record) -> Self {
        self.version = DefinitionNumber::Recorded(record);
        self
    }

    /// Returns the record of its version, if it is learnt from a database.
    pub const fn record(&self) -> Option<&'static Record> {
        match self.version {
            DefinitionNumber::Known(_) => None,
            DefinitionNumber::Recorded(record) => Some(record),
        }
    }

    fn version_of(&self) -> IngestVersion {
        match self.version {
            DefinitionNumber::Known(version) => version,
            DefinitionNumber::Recorded(record) => record.counted().map(Counted::version).unwrap_or_default(),
        }
    }

    /// Returns the value of `ingest_version` in rows of this definition; 0 if that is not known.
    pub fn ingest_version(&self) -> u32 {
        self.version_of().number
    }

    /// Returns true if a row with this `ingest_version` has an older definition, so its columns may have other values than this definition
    /// would give.
    pub fn is_older(&self, ingest_version: u32) -> bool {
        let IngestVersion { number, of_unmarked } = self.version_of();
        let of_row = if ingest_version == 0 { of_unmarked } else { ingest_version };
        of_row < number
    }

    /// Returns true if a property of the whole row has changed since the definition that wrote it: the filter, or the existence of tables
    /// of labels. A kind that does not know its parts treats everything as changed.
    pub fn changed_since(&self, ingest_version: u32) -> bool {
        match self.record().and_then(Record::counted) {
            Some(counted) => ingest_version < counted.row,
            None => self.is_older(ingest_version),
        }
    }

    /// Returns true if a column, including one of many values, is now computed in another way than by the definition that wrote the row. As
    /// in [`Kind::changed_since`], a kind that does not know its parts treats everything as changed.
    pub fn column_changed_since(&self, column: Ident, ingest_version: u32) -> bool {
        match self.record().and_then(Record::counted) {
            Some(counted) => ingest_version < counted.column(column),
            None => self.is_older(ingest_version),
        }
    }

    /// Returns the lowest number of a definition that agrees with this one about these columns and about everything that concerns a whole
    /// row.
    pub fn unchanged_since(&self, columns: impl Iterator<Item = Ident>) -> u32 {
        match self.record().and_then(Record::counted) {
            Some(counted) => columns.map(|column| counted.column(column)).fold(counted.row, u32::max),
            None => self.ingest_version(),
        }
    }

    /// Returns the fingerprints of everything that its rows are made from, part by part. A kind of a struct does not know its parts, so it
    /// has only one.
    ///
    /// # Errors
    /// [`ProtobufError`] when the kind's message cannot be used.
    pub fn recipes(&self) -> Result<Recipes, ProtobufError> {
        let Some(record) = self.record() else { return Ok(Recipes { row: self.fingerprint()?, columns: Vec::new() }) };
        let mut recipes = record.recipes().clone();
        if !self.table().companions {
            recipes.row = recipes.row.text("without companions");
        }
        recipes.row = self.and_prune(recipes.row);
        if let Some(protobuf) = &self.definition.protobuf {
            let (descriptors, message) = protobuf.get()?;
            let name = self.table().columns[base::PROTO].name;
            let made = Fingerprint::NONE.text(name.as_str()).text(protobuf.message);
            recipes.columns.push((name, made.and(descriptors.fingerprint(message))));
        }
        Ok(recipes)
    }

    /// Returns the fingerprint of everything that its rows are made from: each indexed column with its type, path, function and revision,
    /// the filter, the message of `proto` with all messages that it reaches, and the existence of companion tables. Another fingerprint
    /// means another definition; the lock file counts the definitions.
    ///
    /// # Errors
    /// [`ProtobufError`] when the kind's message cannot be used.
    pub fn fingerprint(&self) -> Result<Fingerprint, ProtobufError> {
        let fingerprint = match self.table().companions {
            true => self.definition.fingerprint,
            false => self.definition.fingerprint.text("without companions"),
        };
        let fingerprint = self.and_prune(fingerprint);
        let Some(protobuf) = &self.definition.protobuf else { return Ok(fingerprint) };
        let (descriptors, message) = protobuf.get()?;
        Ok(fingerprint.text(protobuf.message).and(descriptors.fingerprint(message)))
    }

    fn and_prune(&self, fingerprint: Fingerprint) -> Fingerprint {
        let path = |path: &&str| Fingerprint::NONE.text("prune").text(path);
        self.prune.iter().map(path).fold(fingerprint, Fingerprint::beside)
    }

    /// Its data.
    pub const fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Its functions.
    pub const fn functions(&self) -> &Functions {
        &self.functions
    }

    /// The API group; empty for the core group.
    pub const fn group(&self) -> &'static str {
        self.definition.group
    }

    /// The API version, without the group.
    pub const fn version(&self) -> &'static str {
        self.definition.version
    }

    /// The kind's name.
    pub const fn kind(&self) -> &'static str {
        self.definition.kind
    }

    /// Its name where people name kinds: in the configuration, on the command line, in metrics and logs. It is the kind's name, and
    /// `Kind.group` in a program where kinds of two groups have that name ([`KindNames::distinct`](crate::KindNames::distinct)).
    pub const fn name(&self) -> &'static str {
        match self.called {
            Some(called) => called,
            None => self.definition.kind,
        }
    }

    /// The kind's name and its group, as `PyTorchJob.kubeflow.org`; `Event.core` for the core group.
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.kind(), if self.group().is_empty() { "core" } else { self.group() })
    }

    /// Sets the name in a program where another kind has the same name.
    #[must_use]
    pub(crate) fn called(mut self, name: &'static str) -> Self {
        self.called = Some(name);
        self
    }

    /// Sets other names for its finalizer and annotations, as the program has them.
    #[must_use]
    pub const fn marked(mut self, marks: &'static Marks) -> Self {
        self.marks = marks;
        self
    }

    /// The names of the finalizer and of the annotations by which the program steers its objects.
    pub const fn marks(&self) -> &'static Marks {
        self.marks
    }

    /// Adds its `apiVersion` and name to a message.
    pub(crate) const fn named(&self, text: Text) -> Text {
        let text = text.str("`").str(self.group());
        let text = if self.group().is_empty() { text } else { text.str("/") };
        text.str(self.version()).str(" ").str(self.kind()).str("`")
    }

    /// The plural in the API's paths.
    pub fn plural(&self) -> Cow<'static, str> {
        match self.functions.plural {
            Plural::Literal(plural) => Cow::Borrowed(plural),
            Plural::Function(plural) => plural(),
        }
    }

    /// Group and version as objects write them in `apiVersion`.
    pub fn api_version(&self) -> String {
        let Definition { group, version, .. } = self.definition;
        if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
    }

    /// The objects live in namespaces.
    pub const fn namespaced(&self) -> bool {
        self.definition.namespaced
    }

    /// Its tables.
    pub const fn table(&self) -> &'static Table {
        self.definition.table
    }

    /// Every object leaves etcd once SQL has it.
    pub const fn immutable(&self) -> bool {
        self.definition.immutable
    }

    /// Annotations can take an object out of the cluster.
    pub const fn evictable(&self) -> bool {
        !matches!(self.definition.evictable, Some(false))
    }

    /// The paths in its objects that are not stored, as they are written: `.spec.users[*].token`.
    pub const fn prune(&self) -> &'static [&'static str] {
        self.prune
    }

    /// The rules of its owner, by which live objects leave etcd once a configuration enforces them.
    pub const fn evict(&self) -> &'static [EvictionRule] {
        self.evict
    }

    /// True if a filter may leave objects out, which then have no rows.
    pub const fn filtered(&self) -> bool {
        self.filtered
    }

    /// An object's text without the parts that are not stored. Everything that receives an object of the kind reads only this text.
    ///
    /// # Errors
    /// [`ObjectError::Unprunable`] when the text is not JSON.
    pub fn stored_text<'t>(&self, text: &'t str) -> Result<Cow<'t, str>, ObjectError> {
        if self.prune.is_empty() {
            return Ok(Cow::Borrowed(text));
        }
        let cut = prune::cut(text, self.prune).map_err(|error| ObjectError::Unprunable(error.offset()))?;
        Ok(cut.map_or(Cow::Borrowed(text), Cow::Owned))
    }

    /// The object without the parts that are not stored, wherever it was parsed.
    fn pruned<'o>(&self, object: &'o Object) -> Result<Cow<'o, Object>, ObjectError> {
        match self.stored_text(object.text())? {
            Cow::Borrowed(_) => Ok(Cow::Borrowed(object)),
            Cow::Owned(text) => Object::parse(text, ManagedFields::Prune).map(Cow::Owned),
        }
    }

    /// The protobuf message of the `proto` column.
    pub const fn protobuf(&self) -> Option<Protobuf> {
        self.definition.protobuf
    }

    /// Which objects carry our finalizer, unless the configuration says otherwise.
    pub const fn finalizer(&self) -> Finalizer {
        self.definition.finalizer
    }

    /// How long after an object's deletion its row is purged, unless the configuration sets it for this kind.
    pub const fn retention(&self) -> Option<Duration> {
        self.definition.retention
    }

    /// The limits of the history of its objects; `None` if no former versions are kept.
    pub const fn history(&self) -> Option<History> {
        self.definition.table.history
    }

    /// Returns true if a value that does not fit its column rejects the object, as for every kind of a struct.
    pub const fn is_strict(&self) -> bool {
        self.strict
    }

    /// Returns the CRD in the form that the API server takes: without defaults and required lists, so that the server stores exactly the
    /// JSON that a client sent. `None` for kinds that another project defines.
    pub fn crd(&self) -> Option<CustomResourceDefinition> {
        self.functions.crd.map(|crd| crd())
    }

    /// The short names that its CRD gives it, for command lines: `cm`. In no order.
    pub fn short_names(&self) -> Vec<String> {
        match self.crd() {
            Some(crd) => crd.spec.names.short_names.unwrap_or_default(),
            None => self.short_names.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    /// The object's row; `None` where the kind's filter leaves the object out.
    ///
    /// # Errors
    /// [`DecodeError`] when the text is not JSON, a field's JSON is not of the field's type, a value does not fit its
    /// column, or the kind's protobuf message cannot be used.
    pub fn row(&self, object: &Object) -> Result<Option<Row>, DecodeError> {
        self.made_row(object, FilterMode::Applied)
    }

    /// The row that the object would have without the kind's filter; `None` if the filter leaves the object out and its columns cannot
    /// be computed.
    ///
    /// # Errors
    /// As [`Kind::row`].
    pub fn unfiltered_row(&self, object: &Object) -> Result<Option<Row>, DecodeError> {
        self.made_row(object, FilterMode::Ignored)
    }

    fn made_row(&self, object: &Object, filtering: FilterMode) -> Result<Option<Row>, DecodeError> {
        let object = &*self.pruned(object)?;
        let indexed = self.table().indexed().len();
        let mut values = Values::with_capacity(indexed);
        let has_row = self.functions.decode.decode(object, &mut values)?;
        let is_computed = values.are_complete(indexed, self.table().many.len());
        if !(has_row || filtering == FilterMode::Ignored && is_computed) {
            return Ok(None);
        }
        // A recipe has done it: it knows which of a column's paths count.
        if matches!(self.functions.decode, Decode::Function(_)) {
            values.fill(self.table().indexed());
        }
        let (proto, lost) = self.proto(object)?;
        let origin = self.origin(object);
        let new = if self.strict { Row::new } else { Row::tolerant };
        Ok(Some(Row { lost, origin, ..new(self.table(), self.ingest_version(), object, proto, values)? }))
    }

    /// Returns true if the kind's filter leaves an object out. Reads nothing else of the object.
    ///
    /// # Errors
    /// [`DecodeError`] when the text is not JSON, or a field's JSON is not of the field's type.
    pub fn leaves_out(&self, object: &Object) -> Result<bool, DecodeError> {
        if !self.filtered {
            return Ok(false);
        }
        let object = &*self.pruned(object)?;
        let mut values = Values::with_capacity(self.table().indexed().len());
        Ok(!self.functions.decode.decode(object, &mut values)?)
    }

    /// The row of an object that cannot be decoded: its metadata and its text, the indexed columns NULL. No definition has computed these
    /// columns, so its `ingest_version` is 0.
    ///
    /// # Errors
    /// [`DecodeError`] when the text is not JSON or the metadata do not fit their columns.
    pub fn bare_row(&self, object: &Object) -> Result<Row, DecodeError> {
        let object = &*self.pruned(object)?;
        object.parts()?;
        let indexed = self.table().indexed().len();
        let mut values = Values::with_capacity(indexed);
        (0..indexed).for_each(|_| values.push(Value::Null));
        self.table().many.iter().for_each(|_| values.push_many(Vec::new()));
        // Without its protobuf bytes the row still has the whole object, in `json`.
        let (proto, lost) = self.proto(object).unwrap_or_default();
        let origin = self.origin(object);
        Ok(Row { lost, origin, ..Row::new(self.table(), 0, object, proto, values)? })
    }

    /// Returns the restore that created an object, according to the object's annotations.
    fn origin(&self, object: &Object) -> Option<Box<Origin>> {
        let annotations = &object.meta().annotations;
        let value = |mark| {
            let named = |name: MarkName| annotations.iter().find(|(key, _)| name.is(key));
            self.marks().names(mark).find_map(named).map(|(_, value)| value.clone())
        };
        Some(Box::new(Origin { from: value(Mark::RestoredFrom)?, nonce: value(Mark::RestoreNonce)? }))
    }

    /// Returns the object's bytes for the `proto` column, and a count of everything for which its message has no field.
    ///
    /// # Errors
    /// [`DecodeError`] when the kind's protobuf message cannot be used or the object's text is not JSON.
    pub fn proto(&self, object: &Object) -> Result<Proto, DecodeError> {
        let Some(protobuf) = &self.definition.protobuf else { return Ok((None, Lost::default())) };
        let (descriptors, message) = protobuf.get()?;
        let (bytes, lost) = descriptors.encode(message, object.text())?;
        Ok((Some(bytes.into()), lost))
    }
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Kind({} {})", self.api_version(), self.kind())
    }
}

/// The kind of an object among `kinds`, by `apiVersion` and `kind`.
pub fn find<'k>(kinds: &'k [Kind], api_version: &str, kind: &str) -> Option<&'k Kind> {
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    kinds.iter().find(|k| k.kind() == kind && k.group() == group && k.version() == version)
}

#[cfg(test)]
#[cfg(feature = "protobuf")]
mod tests {
    use super::{DecodeError, Definition, Kind, Protobuf, ProtobufError};
    use crate::fixture::MODEL;
    use crate::object::{ManagedFields, Object};
    use crate::protobuf::DescriptorSet;

    static BROKEN: DescriptorSet = DescriptorSet::new(b"not a descriptor set");
    static EMPTY: DescriptorSet = DescriptorSet::new(b"");

    const fn model(descriptors: &'static DescriptorSet) -> Kind {
        let protobuf = Some(Protobuf { message: "example.v1.Model", descriptors });
        Kind::new(Definition { protobuf, ..*MODEL.definition() }, *MODEL.functions())
    }

    #[test]
    fn a_message_that_cannot_be_used_is_named() {
        let object = Object::parse(
            r#"{"apiVersion": "michelangelo.api/v2", "kind": "Model", "metadata": {"name": "a"}}"#,
            ManagedFields::Prune,
        )
        .unwrap();
        const BROKEN_KIND: Kind = model(&BROKEN);
        let error = BROKEN_KIND.row(&object).unwrap_err();
        assert!(matches!(error, DecodeError::Protobuf(ProtobufError::Descriptors { .. })), "{error:?}");
        assert!(error.to_string().starts_with("the descriptors of example.v1.Model: "), "{error}");

        let error = model(&EMPTY).protobuf().unwrap().get().unwrap_err();
        assert_eq!(error, ProtobufError::NoMessage { message: "example.v1.Model" });
        assert_eq!(error.to_string(), "the descriptors have no message example.v1.Model");
        // The object itself is stored anyway.
        assert_eq!(model(&EMPTY).bare_row(&object).unwrap().uid, object.meta().uid);
    }
}
