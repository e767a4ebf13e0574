//! A kind for tests.

use ingester_core::Kind;
use ingester_core::kind::{Decode, Definition, Finalizer, Functions, Plural};
use ingester_core::schema::{Column, Ident, Key, Table, TableParts};

const PARTS: TableParts = TableParts::of(&[]);
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

/// `models` of `michelangelo.api/v2`, without indexed columns.
pub(crate) const MODEL: Kind = Kind::new(
    Definition {
        group: "michelangelo.api",
        version: "v2",
        kind: "Model",
        namespaced: true,
        table: &TABLE,
        immutable: false,
        evictable: None,
        protobuf: None,
        finalizer: Finalizer::Ensure,
        retention: None,
        fingerprint: PARTS.fingerprint(),
    },
    Functions {
        plural: Plural::Literal("models"),
        decode: Decode::Function(|object, _| object.parts().map(|_| true)),
        crd: None,
    },
);
