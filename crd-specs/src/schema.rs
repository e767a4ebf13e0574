//! Schemas of tabular data: the columns that a model reads and writes.

use ingester_core::wire_enum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An ordered list of data fields, such as the features a model takes.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct DataSchema {
    /// The fields, in the order in which the data carries them.
    pub schema_items: Vec<DataSchemaItem>,
}

/// One field of a `DataSchema`.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct DataSchemaItem {
    /// Name of the field, unique within its schema and case-sensitive.
    pub name: String,
    /// Type of one element of the field.
    pub data_type: DataType,
    /// Size of each dimension, `[1, 2]` being one row of two; empty for a single value.
    pub shape: Vec<i32>,
}

wire_enum! {
    /// Type of a value in a `DataSchemaItem`.
    pub enum DataType {
        /// Not set.
        Invalid = 0 => "DATA_TYPE_INVALID",
        /// Declared as of no known type.
        UnknownType = 1 => "DATA_TYPE_UNKNOWN",
        /// True or false.
        Boolean = 4 => "DATA_TYPE_BOOLEAN",
        /// Text.
        String = 7 => "DATA_TYPE_STRING",
        /// Integer of 8 bits.
        Byte = 15 => "DATA_TYPE_BYTE",
        /// A single character.
        Char = 16 => "DATA_TYPE_CHAR",
        /// Integer of 16 bits.
        Short = 17 => "DATA_TYPE_SHORT",
        /// Integer of 32 bits.
        Int = 18 => "DATA_TYPE_INT",
        /// Integer of 64 bits.
        Long = 19 => "DATA_TYPE_LONG",
        /// Floating-point number of 32 bits.
        Float = 20 => "DATA_TYPE_FLOAT",
        /// Floating-point number of 64 bits.
        Double = 21 => "DATA_TYPE_DOUBLE",
    }
}
