//! The kind that is mirrored.

use ingester_core::Kind;
use ingester_core::json;
use ingester_core::kind::{Definition, Finalizer, Functions, Plural};
use ingester_core::object::Object;
use ingester_core::schema::{Column, Field, Ident, Key, Shape, SqlType, Table, TableParts};
use ingester_core::value::{Value, Values};

/// What is special about an object, if anything: the text of `spec.flavour`.
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
    pub(super) fn text(self) -> &'static str {
        match self {
            Flavour::Plain => "plain",
            Flavour::Undecodable => "undecodable",
            Flavour::LeftOut => "left out",
            Flavour::Refused => "refused",
        }
    }
}

const OWNER: &[Field] = &[Field::new("owner", Shape::scalar(SqlType::VarChar(255))).without_key()];
const PARTS: TableParts = TableParts { fields: [OWNER, &[], &[]], keys: &[] };
const COLUMNS: [Column; PARTS.column_count()] = PARTS.columns();
const KEYS: [Key; PARTS.key_count()] = PARTS.keys(&COLUMNS);
const TABLE: Table = Table { name: Ident::new("model"), was: None, columns: &COLUMNS, keys: &KEYS };

/// `models` of `michelangelo.api/v2`, with one indexed column.
pub(super) const MODEL: Kind = Kind::new(
    Definition {
        group: "michelangelo.api",
        version: "v2",
        kind: "Model",
        namespaced: true,
        table: &TABLE,
        immutable: false,
        protobuf: None,
        finalizer: Finalizer::Ensure,
        fingerprint: PARTS.fingerprint(),
    },
    Functions { plural: Plural::Literal("models"), decode, crd: None },
);

fn decode(object: &Object, values: &mut Values) -> Result<bool, json::Error> {
    let (spec, _) = object.parts()?;
    let spec: serde_json::Value =
        serde_json::from_str(spec).map_err(|error| json::Error::value(0, error.to_string()))?;
    let text = |key: &str| spec[key].as_str().unwrap_or_default();
    if text("flavour") == Flavour::Undecodable.text() {
        return Err(json::Error::value(0, "it is undecodable"));
    }
    if text("flavour") == Flavour::LeftOut.text() {
        return Ok(false);
    }
    values.push(Value::text(text("owner")));
    Ok(true)
}
