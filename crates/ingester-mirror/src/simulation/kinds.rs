//! The mirrored kind, in the definitions of two releases.

use ingester_core::Kind;
use ingester_core::json;
use ingester_core::kind::{Decode, Definition, Finalizer, Functions, IngestVersion, Plural};
use ingester_core::object::Object;
use ingester_core::schema::{Column, Field, Fingerprint, Ident, Key, Shape, SqlType, Table, TableParts};
use ingester_core::value::{Value, Values};

/// The special property of an object, if any: the text of `spec.flavour`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flavour {
    Plain,
    /// It cannot be decoded.
    Undecodable,
    /// The kind's predicate leaves it out.
    LeftOut,
    /// The database refuses its row.
    Refused,
}

impl Flavour {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Flavour::Plain => "plain",
            Flavour::Undecodable => "undecodable",
            Flavour::LeftOut => "left out",
            Flavour::Refused => "refused",
        }
    }
}

/// `models` of `michelangelo.api/v2`, with one indexed column.
pub(super) const MODEL: Kind = {
    const FIELDS: &[Field] = &[OWNER];
    const PARTS: TableParts = TableParts::of(FIELDS);
    const COLUMNS: [Column; PARTS.column_count()] = PARTS.columns();
    const KEYS: [Key; PARTS.key_count()] = PARTS.keys(&COLUMNS);
    const TABLE: Table = Table {
        kind: "Model",
        name: Ident::new("model"),
        was: None,
        columns: &COLUMNS,
        many: &[],
        keys: &KEYS,
        companions: true,
        history: None,
    };
    const FUNCTIONS: Functions =
        Functions { plural: Plural::Literal("models"), decode: Decode::Function(decode), crd: None };
    Kind::new(definition(&TABLE, PARTS.fingerprint()), FUNCTIONS).versioned(IngestVersion { number: 1, of_unmarked: 1 })
};

/// The same kind with one more column, in the next release. The table has this kind's columns.
pub(super) const NEWER: Kind = {
    const FIELDS: &[Field] = &[OWNER, Field::new("tier", Shape::scalar(SqlType::VarChar(255))).without_key()];
    const PARTS: TableParts = TableParts::of(FIELDS);
    const COLUMNS: [Column; PARTS.column_count()] = PARTS.columns();
    const KEYS: [Key; PARTS.key_count()] = PARTS.keys(&COLUMNS);
    const TABLE: Table = Table {
        kind: "Model",
        name: Ident::new("model"),
        was: None,
        columns: &COLUMNS,
        many: &[],
        keys: &KEYS,
        companions: true,
        history: None,
    };
    const FUNCTIONS: Functions =
        Functions { plural: Plural::Literal("models"), decode: Decode::Function(decode_newer), crd: None };
    Kind::new(definition(&TABLE, PARTS.fingerprint()), FUNCTIONS).versioned(IngestVersion { number: 2, of_unmarked: 1 })
};

/// The first release with a filter that leaves nothing out.
pub(super) const WIDER: Kind = {
    let functions = Functions { decode: Decode::Function(decode_wider), ..*MODEL.functions() };
    Kind::new(*MODEL.definition(), functions).versioned(IngestVersion { number: 1, of_unmarked: 1 }).filtering()
};

/// The next release with the filter that leaves out [`Flavour::LeftOut`].
pub(super) const NARROWER: Kind = NEWER.filtering();

/// Returns the kind with annotations that take objects out of the cluster, or with annotations that do not.
pub(super) fn evictable(kind: Kind, evictable: bool) -> Kind {
    if evictable {
        return kind;
    }
    let version = kind.ingest_version();
    let definition = Definition { evictable: Some(false), ..*kind.definition() };
    Kind::new(definition, *kind.functions()).versioned(IngestVersion { number: version, of_unmarked: 1 })
}

const OWNER: Field = Field::new("owner", Shape::scalar(SqlType::VarChar(255))).without_key();

const fn definition(table: &'static Table, fingerprint: Fingerprint) -> Definition {
    Definition {
        group: "michelangelo.api",
        version: "v2",
        kind: "Model",
        namespaced: true,
        table,
        immutable: false,
        evictable: None,
        protobuf: None,
        finalizer: Finalizer::Ensure,
        retention: None,
        fingerprint,
    }
}

fn decode(object: &Object, values: &mut Values) -> Result<bool, json::Error> {
    let owner = owner(object)?;
    let included = owner.is_some();
    owner.into_iter().for_each(|owner| values.push(Value::text(owner)));
    Ok(included)
}

fn decode_wider(object: &Object, values: &mut Values) -> Result<bool, json::Error> {
    values.push(Value::text(owner_and_flavour(object)?.0));
    Ok(true)
}

/// The new column has the owner's text, too, so it changes whenever the owner does.
fn decode_newer(object: &Object, values: &mut Values) -> Result<bool, json::Error> {
    let owner = owner(object)?;
    let included = owner.is_some();
    owner.into_iter().flat_map(|owner| [owner.clone(), owner]).for_each(|text| values.push(Value::text(text)));
    Ok(included)
}

/// The owner; `None` for an object that is left out.
fn owner(object: &Object) -> Result<Option<String>, json::Error> {
    let (owner, flavour) = owner_and_flavour(object)?;
    Ok((flavour != Flavour::LeftOut.as_str()).then_some(owner))
}

fn owner_and_flavour(object: &Object) -> Result<(String, String), json::Error> {
    let (spec, _) = object.parts()?;
    let spec: serde_json::Value =
        serde_json::from_str(spec).map_err(|error| json::Error::value(0, error.to_string()))?;
    let text = |key: &str| spec[key].as_str().unwrap_or_default();
    if text("flavour") == Flavour::Undecodable.as_str() {
        return Err(json::Error::value(0, "it is undecodable"));
    }
    Ok((text("owner").to_owned(), text("flavour").to_owned()))
}
