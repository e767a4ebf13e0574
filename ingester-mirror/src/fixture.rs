//! A kind for tests.

use ingester_core::schema::{Column, Ident, Key, Table, TableParts};
use ingester_core::value::Values;
use ingester_core::{Ingestable, Kind, json, object::Object};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use std::borrow::Cow;

struct Model;

impl Ingestable for Model {
    const GROUP: &'static str = "michelangelo.api";
    const VERSION: &'static str = "v2";
    const KIND: &'static str = "Model";
    const NAMESPACED: bool = true;
    const TABLE: &'static Table = {
        const PARTS: TableParts = TableParts { fields: [&[], &[], &[]], keys: &[] };
        const COLUMNS: [Column; PARTS.column_count()] = PARTS.columns();
        const KEYS: [Key; PARTS.key_count()] = PARTS.keys(&COLUMNS);
        &Table { name: Ident::new("model"), was: None, columns: &COLUMNS, keys: &KEYS }
    };
    const IMMUTABLE: bool = false;
    fn protobuf() -> Option<ingester_core::kind::Protobuf> {
        None
    }

    fn plural() -> Cow<'static, str> {
        "models".into()
    }

    fn decode(_: &Object, _: &mut Values) -> Result<bool, json::Error> {
        Ok(true)
    }

    fn crd() -> Option<CustomResourceDefinition> {
        None
    }
}

/// `models` of `michelangelo.api/v2`, without indexed columns.
pub(crate) const MODEL: Kind = Kind::of::<Model>();
