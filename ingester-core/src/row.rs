//! The rows of one object in its tables.
//!
//! May use: ingester-json, labels, schema, value, object, protobuf.

use crate::labels::{check_annotation_key, check_label_key, check_label_value, check_namespace, check_object_name};
use crate::object::{Object, StringMap};
use crate::protobuf::Lost;
use crate::schema::{Column, Companion, Form, Many, SqlType, Table, Unit, base};
use crate::value::{Micros, Unfit, Value, Values};
use ingester_json::place::shortened;
use std::hash::{BuildHasher as _, RandomState};
use std::num::NonZeroU64;
use std::sync::LazyLock;

/// One object's row with its labels and annotations. Lengths and ranges of its values are checked against the table, so no database
/// refuses it because of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// `uid`
    pub uid: Box<str>,
    /// `res_version`; 0 if the object has none.
    pub res_version: u64,
    /// `ingest_version`: which definition of its kind made it; 0 if that is not known.
    pub ingest_version: u32,
    /// `delete_time`, set on a tombstone.
    pub delete_time: Option<Micros>,
    /// `evict_time`, set before the object leaves etcd for good.
    pub evict_time: Option<Micros>,
    /// `evict_confirmed`: the object is known to have left etcd. Meaningful only if `evict_time` is set.
    pub evict_confirmed: bool,
    /// Every column of the main table in its order. The store sets `update_time` and the four above.
    pub values: Box<[Value]>,
    /// The rows of the labels table; none if the kind has no such table.
    pub labels: StringMap,
    /// The rows of the annotations table; none if the kind has no such table.
    pub annotations: StringMap,
    /// The rows of each table of many values, as in [`Table::many`]: keys and values of a map; the values of a list,
    /// which are keys here, with empty values.
    pub many: Box<[StringMap]>,
    /// The parts of the object that `proto` cannot hold.
    pub lost: Lost,
    /// The columns whose values in the object do not fit them, for a kind that stores such objects ([`Kind::is_strict`]).
    ///
    /// [`Kind::is_strict`]: crate::Kind::is_strict
    pub unfit: Box<[Unfit]>,
    /// The restore that created the object, if its annotations name one.
    pub origin: Option<Box<Origin>>,
    /// The row that the writer expects to be stored. This saves reading it first: if the expectation is wrong, the statement fails or
    /// changes no row, and the row is read.
    pub expected: Option<Expected>,
}

/// The restore that created an object. The store marks the row that it came from when it inserts the new one, if this restore is still open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The uid of the row.
    pub from: Box<str>,
    /// The number of the restore.
    pub nonce: Box<str>,
}

/// A row's version: the resourceVersion, the definition that wrote it, and whether it is a tombstone or evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// `res_version`; 0 for an object that has none.
    pub res_version: u64,
    /// `ingest_version`; 0 if its writer did not know it.
    pub ingest_version: u32,
    /// `delete_time` is set.
    pub deleted: bool,
    /// How far the eviction is: the object is leaving etcd, has left it, or neither.
    pub eviction: Eviction,
}

impl Version {
    /// True if `evict_time` is set.
    pub fn evicted(self) -> bool {
        self.eviction != Eviction::None
    }
}

/// The state of a row in the life of its object, by which a rule judges it. If any of it differs, a rule treats the row as another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Its version.
    pub version: Version,
    /// `delete_time`
    pub delete_time: Option<Micros>,
    /// `evict_time`
    pub evict_time: Option<Micros>,
}

/// How far the eviction of an object is, as its row says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Eviction {
    /// `evict_time` is not set.
    #[default]
    None,
    /// The object is to leave etcd, and may still be there: later versions of it replace the row.
    Intended,
    /// The object has left etcd. The row is its only copy, and nothing that the cluster says replaces it.
    Confirmed,
    /// A release that did not know the column `evict_confirmed` wrote the row. It counts as confirmed until its object was looked at.
    Unrecorded,
}

impl Eviction {
    /// Reads the eviction from the columns: `evicted` says whether `evict_time` is set, `confirmed` is the value of `evict_confirmed`. A value
    /// of another type, which SQLite accepts, protects the row.
    pub fn stored(evicted: bool, confirmed: &Value) -> Self {
        match confirmed {
            _ if !evicted => Eviction::None,
            Value::Null => Eviction::Unrecorded,
            Value::Bool(false) => Eviction::Intended,
            _ => Eviction::Confirmed,
        }
    }

    /// The value of `evict_confirmed`.
    pub fn confirmed(self) -> Option<bool> {
        match self {
            Eviction::None | Eviction::Unrecorded => None,
            Eviction::Intended => Some(false),
            Eviction::Confirmed => Some(true),
        }
    }

    /// Returns true if the row has to be treated as the only copy of its object.
    pub fn is_only_copy(self) -> bool {
        matches!(self, Eviction::Confirmed | Eviction::Unrecorded)
    }
}

/// A writer's expectation about the stored row of an object: it has written the row itself or has read the whole table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// No row: it is inserted without being read first.
    Absent,
    /// A live row. If that is right, labels and annotations that stay the same are not read.
    Stored {
        /// Its `res_version`.
        res_version: u64,
        /// The [`Row::companions_hash`] of its labels and annotations.
        companions: NonZeroU64,
    },
}

/// A value that does not fit its column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// The text has more characters than the column holds.
    #[error("column `{column}`: {characters} characters do not fit {ty}; {remedy}")]
    TooLong {
        /// The column.
        column: String,
        /// Characters of the value.
        characters: usize,
        /// The column's type.
        ty: String,
        /// Advice for the user.
        remedy: &'static str,
    },
    /// The column's type does not hold the number or time.
    #[error("column `{column}`: {value} does not fit {ty}{remedy}")]
    OutOfRange {
        /// The column.
        column: String,
        /// The value.
        value: String,
        /// The column's type.
        ty: String,
        /// Advice for the user.
        remedy: &'static str,
    },
    /// The text in a column of quantities is not a quantity.
    #[error("column `{column}`: `{value}` is not a quantity; write one such as 500m or 2Gi")]
    NotAQuantity {
        /// The column.
        column: String,
        /// The beginning of the text.
        value: String,
    },
    /// One of many values, or its key, has more characters than its column holds.
    #[error("column `{column}`: {what} has {characters} characters, which do not fit {ty}{remedy}")]
    ValueTooLong {
        /// The column of many values.
        column: String,
        /// The beginning of the value or key, and which of both it is.
        what: String,
        /// Characters of it.
        characters: usize,
        /// The type of the values or keys.
        ty: String,
        /// Advice for the user.
        remedy: &'static str,
    },
    /// Kubernetes itself would refuse the name, the namespace, a label or an annotation.
    #[error("{what}: {why}; Kubernetes would refuse it")]
    Metadata {
        /// The name, label or annotation, and for the last two whether this is about the key or the value.
        what: String,
        /// The reason.
        why: String,
    },
}

impl Row {
    /// The row of an object with the values of its indexed columns.
    ///
    /// # Errors
    /// If a value does not fit its column, or Kubernetes would refuse the name, the namespace, a label or an annotation.
    pub fn new(
        table: &Table,
        ingest_version: u32,
        object: &Object,
        proto: Option<Box<[u8]>>,
        indexed: Values,
    ) -> Result<Self, RowError> {
        let meta = object.meta();
        let mut values = Vec::with_capacity(table.columns.len());
        values.resize(base::JSON + 1, Value::Null);
        values[base::UID] = Value::text(&*meta.uid);
        values[base::GROUP_VER] = Value::Text(object.shared_api_version());
        values[base::NAMESPACE] = Value::text(&*meta.namespace);
        values[base::NAME] = Value::text(&*meta.name);
        values[base::RES_VERSION] = Value::UInt(meta.resource_version);
        values[base::CREATE_TIME] = meta.creation_timestamp.map_or(Value::Null, |time| Value::Time(time.micros()));
        values[base::INGEST_VERSION] = Value::UInt(ingest_version.into());
        values[base::PROTO] = proto.map_or(Value::Null, Value::Bytes);
        values[base::JSON] = Value::Text(object.shared_text());
        let (indexed, many) = indexed.into_parts();
        values.extend(indexed.into_iter().map(kept_everywhere));
        for (column, value) in table.columns.iter().zip(&values) {
            check(column, value)?;
        }
        for (column, pairs) in table.many.iter().zip(&many) {
            check_many(column, pairs)?;
        }
        check_identity(&object.shared_api_version(), &meta.namespace, &meta.name)?;
        check_names(&meta.labels, &meta.annotations)?;
        let pairs = |pairs: &StringMap| if table.companions { pairs.clone() } else { StringMap::default() };
        Ok(Row {
            uid: meta.uid.clone(),
            res_version: meta.resource_version,
            ingest_version,
            delete_time: None,
            evict_time: None,
            evict_confirmed: false,
            values: values.into(),
            labels: pairs(&meta.labels),
            annotations: pairs(&meta.annotations),
            many: many.into(),
            lost: Lost::default(),
            unfit: Box::default(),
            origin: None,
            expected: None,
        })
    }

    /// As [`Row::new`], but values that do not fit their indexed columns are left out, and the row names these columns.
    ///
    /// # Errors
    /// If Kubernetes would refuse the name, the namespace, a label or an annotation.
    pub fn tolerant(
        table: &Table,
        ingest_version: u32,
        object: &Object,
        proto: Option<Box<[u8]>>,
        mut indexed: Values,
    ) -> Result<Self, RowError> {
        let unfit = leave_out_unfit(table, &mut indexed);
        Ok(Row { unfit, ..Row::new(table, ingest_version, object, proto, indexed)? })
    }

    /// Its version.
    pub fn version(&self) -> Version {
        Version {
            res_version: self.res_version,
            ingest_version: self.ingest_version,
            deleted: self.delete_time.is_some(),
            eviction: self.eviction(),
        }
    }

    /// How far the eviction is.
    pub fn eviction(&self) -> Eviction {
        Eviction::stored(self.evict_time.is_some(), &Value::Bool(self.evict_confirmed))
    }

    /// The rows of one companion table, each as key and value.
    pub fn companion(&self, companion: Companion) -> &[(Box<str>, Box<str>)] {
        match companion {
            Companion::Labels => &self.labels,
            Companion::Annotations => &self.annotations,
            Companion::Values(many) => self.many.get(many.place).map_or(&[], |pairs| &**pairs),
        }
    }

    /// A hash of the rows of all companion tables, valid in this process only. It has 56 bits, so a caller that remembers it for many
    /// objects can add one byte.
    pub fn companions_hash(&self) -> NonZeroU64 {
        let labels = self.labels.iter().map(|(key, value)| (&**key, &**value));
        NonZeroU64::new(hash_of(Part::Labels, [labels]) ^ self.hash_of_others()).unwrap_or(NonZeroU64::MIN)
    }

    /// Returns true if a row with this [`Row::companions_hash`] and these labels, in the order of their keys, has the same annotations and
    /// many values.
    pub fn has_others_of<'l>(
        &self,
        hash: NonZeroU64,
        labels: impl ExactSizeIterator<Item = (&'l str, &'l str)>,
    ) -> bool {
        hash.get() == hash_of(Part::Labels, [labels]) ^ self.hash_of_others()
    }

    fn hash_of_others(&self) -> u64 {
        let others = [&self.annotations].into_iter().chain(&self.many);
        hash_of(Part::Others, others.map(|pairs| pairs.iter().map(|(key, value)| (&**key, &**value))))
    }

    /// How many of its values have NUL (U+0000), which the text of some databases cannot have; of a companion table's row, key and value
    /// together are one.
    pub fn nul_values(&self) -> usize {
        let columns = (0..self.values.len()).filter(|place| self.has_nul(*place));
        let companions = [&self.labels, &self.annotations].into_iter().chain(&self.many);
        columns.count() + companions.flat_map(|pairs| pairs.iter()).filter(|pair| pair_has_nul(pair)).count()
    }

    /// Returns true if [`Row::without_nul`] has NULL in the column at this place of the table.
    pub fn has_nul(&self, place: usize) -> bool {
        place != base::JSON && self.values.get(place).is_some_and(has_nul)
    }

    /// Returns true if [`Row::without_nul`] lacks a row of this companion table.
    pub fn companion_has_nul(&self, companion: Companion) -> bool {
        self.companion(companion).iter().any(pair_has_nul)
    }

    /// The row for a database whose text cannot have NUL: NULL in place of a value with NUL, and no companion row with NUL. The text of
    /// the object is JSON, where NUL is escaped.
    #[must_use]
    pub fn without_nul(mut self) -> Self {
        for (_, value) in self.values.iter_mut().enumerate().filter(|(place, _)| *place != base::JSON) {
            if has_nul(value) {
                *value = Value::Null;
            }
        }
        for pairs in [&mut self.labels, &mut self.annotations].into_iter().chain(&mut self.many) {
            if pairs.iter().any(pair_has_nul) {
                *pairs = pairs.iter().filter(|pair| !pair_has_nul(pair)).cloned().collect();
            }
        }
        self
    }

    /// Estimates the bytes that the row takes in a statement's packet, without companion tables.
    pub fn bytes(&self) -> usize {
        self.values.iter().map(Value::bytes).sum::<usize>() + 3 * 27
    }

    /// Estimates the bytes that the row takes in memory, including the rows of companion tables.
    pub fn total_bytes(&self) -> usize {
        let many = self.many.iter().flat_map(|pairs| pairs.iter());
        let companions = self.labels.iter().chain(self.annotations.iter()).chain(many);
        self.bytes() + companions.map(|(key, value)| key.len() + value.len() + 32).sum::<usize>()
    }
}

/// The two parts of [`Row::companions_hash`]. Their hashes differ even if the rows are the same: else those would cancel each other out.
#[derive(Clone, Copy)]
enum Part {
    Labels,
    Others,
}

/// A hash of the rows of some companion tables, of 56 bits.
fn hash_of<'p, P>(part: Part, tables: impl IntoIterator<Item = P>) -> u64
where
    P: ExactSizeIterator<Item = (&'p str, &'p str)>,
{
    // With a random key, so that different labels with the same hash cannot be constructed.
    static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    // At once: a hasher takes several times as long for many short texts.
    let mut bytes = Vec::with_capacity(1024);
    bytes.push(part as u8);
    let count = |bytes: &mut Vec<u8>, count: usize| bytes.extend((count as u64).to_le_bytes());
    for pairs in tables {
        count(&mut bytes, pairs.len());
        for text in pairs.flat_map(|(key, value)| [key, value]) {
            count(&mut bytes, text.len());
            bytes.extend_from_slice(text.as_bytes());
        }
    }
    KEYS.hash_one(bytes) >> 8
}

fn has_nul(value: &Value) -> bool {
    matches!(value, Value::Text(text) if text.contains('\0'))
}

fn pair_has_nul((key, value): &(Box<str>, Box<str>)) -> bool {
    key.contains('\0') || value.contains('\0')
}

fn too_long(column: &Column, characters: usize) -> RowError {
    let remedy = match column.name.as_str() {
        // Columns of the metadata, in which an API server gives no such text.
        "uid" | "group_ver" | "namespace" | "name" => {
            "Kubernetes has none so long: shorten it, or remove it from a hand-written object"
        }
        _ => {
            "shorten the value, or widen the column with #[index(type = \"VARCHAR(n)\")], in a file of kinds with `type: VARCHAR(n)`"
        }
    };
    RowError::TooLong { column: column.name.to_string(), characters, ty: column.ty.to_string(), remedy }
}

fn check(column: &Column, value: &Value) -> Result<(), RowError> {
    match (column.ty, value) {
        // Bytes first: characters are only counted if there could be too many.
        (SqlType::VarChar(n), Value::Text(text)) if text.len() > n.into() => {
            let characters = text.chars().count();
            if characters > n.into() {
                return Err(too_long(column, characters));
            }
        }
        (SqlType::Text, Value::Text(text)) if text.len() > 65_535 => {
            return Err(too_long(column, text.chars().count()));
        }
        (SqlType::Int, Value::Int(number)) if i32::try_from(*number).is_err() => {
            return Err(out_of_range(column, number.to_string()));
        }
        (SqlType::Int, Value::UInt(number)) if i32::try_from(*number).is_err() => {
            return Err(out_of_range(column, number.to_string()));
        }
        (SqlType::BigInt, Value::UInt(number)) if i64::try_from(*number).is_err() => {
            return Err(out_of_range(column, number.to_string()));
        }
        (SqlType::BigIntUnsigned, Value::Int(number)) if *number < 0 => {
            return Err(out_of_range(column, number.to_string()));
        }
        (SqlType::BigInt, Value::Text(text)) => {
            return Err(RowError::NotAQuantity { column: column.name.to_string(), value: shortened(text).to_string() });
        }
        // MySQL has neither NaN nor infinities.
        (SqlType::Double, Value::Double(number)) if !number.is_finite() => {
            return Err(out_of_range(column, number.to_string()));
        }
        // MySQL Reference Manual, "The DATE, DATETIME, and TIMESTAMP Types": the years 1000 to 9999.
        (SqlType::DateTime, Value::Time(time)) if time.0 < YEAR_1000 => {
            return Err(out_of_range(column, time.rfc3339()));
        }
        // Any other value fits, whatever the type.
        (
            SqlType::Boolean
            | SqlType::Int
            | SqlType::BigInt
            | SqlType::IntUnsigned
            | SqlType::BigIntUnsigned
            | SqlType::Double
            | SqlType::VarChar(_)
            | SqlType::Text
            | SqlType::MediumText
            | SqlType::DateTime
            | SqlType::LongBlob
            | SqlType::Json,
            _,
        ) => {}
    }
    Ok(())
}

/// The value that every database keeps: a zero without its sign, which SQLite drops, and NULL for Go's zero time, which stands for no
/// time and is before the years of MySQL's DATETIME.
fn kept_everywhere(value: Value) -> Value {
    match value {
        Value::Double(number) => Value::Double(number + 0.0),
        Value::Time(Micros::ZERO_OF_GO) => Value::Null,
        value => value,
    }
}

/// Leaves out the values that do not fit their columns. Returns these columns.
fn leave_out_unfit(table: &Table, values: &mut Values) -> Box<[Unfit]> {
    let mut unfit = values.take_unfit(table);
    let (columns, many) = values.parts_mut();
    for (column, value) in table.indexed().iter().zip(columns) {
        *value = kept_everywhere(std::mem::replace(value, Value::Null));
        if let Err(error) = check(column, value) {
            *value = Value::Null;
            unfit.push(Unfit { column: column.name, why: error.to_string() });
        }
    }
    for (column, pairs) in table.many.iter().zip(many) {
        if let Err(error) = check_many(column, pairs) {
            *pairs = pairs.iter().filter(|pair| check_pair(column, pair).is_ok()).cloned().collect();
            unfit.push(Unfit { column: column.name, why: error.to_string() });
        }
    }
    unfit.into()
}

/// Checks the values of a column of many values, and their keys.
fn check_many(column: &Many, pairs: &StringMap) -> Result<(), RowError> {
    pairs.iter().try_for_each(|pair| check_pair(column, pair))
}

fn check_pair(column: &Many, (key, value): &(Box<str>, Box<str>)) -> Result<(), RowError> {
    let parts = match column.form {
        Form::List => [Some((key, "value", column.ty())), None],
        Form::Map => [Some((key, "key", column.columns()[1].ty)), Some((value, "value", column.ty()))],
    };
    for (text, what, ty) in parts.into_iter().flatten() {
        if let SqlType::VarChar(most) = ty
            && text.len() > most.into()
            && text.chars().count() > most.into()
        {
            return Err(RowError::ValueTooLong {
                column: column.name.to_string(),
                what: format!("the {what} `{}`", shortened(text)),
                characters: text.chars().count(),
                ty: ty.to_string(),
                remedy: match what {
                    "key" => "",
                    _ => "; shorten it, or widen the column with #[index(many, type = \"VARCHAR(n)\")]",
                },
            });
        }
        // As in `check`, which sees the values of other columns.
        let fits = match ty {
            SqlType::Int => text.parse::<i32>().is_ok(),
            SqlType::BigInt => text.parse::<i64>().is_ok(),
            SqlType::BigIntUnsigned => text.parse::<u64>().is_ok(),
            SqlType::DateTime => Micros::from_sql(text).is_some_and(|time| time.0 >= YEAR_1000),
            SqlType::Boolean
            | SqlType::IntUnsigned
            | SqlType::Double
            | SqlType::VarChar(_)
            | SqlType::Text
            | SqlType::MediumText
            | SqlType::LongBlob
            | SqlType::Json => true,
        };
        if !fits {
            let column = column.name.to_string();
            let value = shortened(text);
            return Err(RowError::OutOfRange { column, value, ty: ty.to_string(), remedy: "" });
        }
    }
    Ok(())
}

/// 1000-01-01T00:00:00Z in microseconds.
const YEAR_1000: i64 = -30_610_224_000_000_000;

fn out_of_range(column: &Column, value: String) -> RowError {
    let remedy = match column.unit {
        Some(Unit::Milli) => " in thousandths; `unit = \"whole\"` holds a thousand times as much",
        Some(Unit::Whole) | None => "",
    };
    RowError::OutOfRange { column: column.name.to_string(), value, ty: column.ty.to_string(), remedy }
}

/// Checks the names of an object and of its namespace. The API server never sends wrong ones, files may have them.
fn check_identity(api_version: &str, namespace: &str, name: &str) -> Result<(), RowError> {
    let wrong = |what: &str, value: &str, why: &'static str| RowError::Metadata {
        what: format!("the {what} `{}`", shortened(value)),
        why: why.to_owned(),
    };
    check_object_name(api_version, name).map_err(|why| wrong("name", name, why))?;
    check_namespace(namespace).map_err(|why| wrong("namespace", namespace, why))
}

/// Checks labels, and the keys of annotations. The API server never sends wrong ones, files may have them: without the check,
/// of two keys that differ only in blanks at their ends, MySQL and MariaDB would store one.
fn check_names(labels: &StringMap, annotations: &StringMap) -> Result<(), RowError> {
    let wrong =
        |what: &str, key: &str, why| RowError::Metadata { what: format!("the {what} `{}`", shortened(key)), why };
    for (key, value) in &**labels {
        check_label_key(key).map_err(|(_, why)| wrong("key of label", key, why))?;
        check_label_value(value).map_err(|(_, why)| wrong("value of label", key, why))?;
    }
    for (key, _) in &**annotations {
        check_annotation_key(key).map_err(|(_, why)| wrong("key of annotation", key, why))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::stored_text;

    #[test]
    fn the_zero_time_of_go_is_null() {
        for (sql, kept) in
            [("0001-01-01 00:00:00", None), ("0001-01-01 00:00:01", Some(())), ("1970-01-01 00:00:00", Some(()))]
        {
            let time = Value::Time(Micros::from_sql(sql).unwrap());
            assert_eq!(stored_text(&time).is_some(), kept.is_some(), "{sql}");
            assert_eq!(kept_everywhere(time.clone()), kept.map_or(Value::Null, |()| time), "{sql}");
        }
    }

    #[test]
    fn a_zero_has_no_sign() {
        let bits = |number: f64| match kept_everywhere(Value::Double(number)) {
            Value::Double(number) => number.to_bits(),
            _ => unreachable!("a number stays one"),
        };
        assert_eq!(bits(-0.0), 0);
        for number in [0.0, -1.5, f64::MIN_POSITIVE, -5e-324] {
            assert_eq!(bits(number), number.to_bits());
        }
    }

    #[test]
    fn labels_and_annotations_that_kubernetes_refuses_are_named() {
        let map = |key: &str, value: &str| -> StringMap { [(key.into(), value.into())].into() };
        let none = StringMap::default();
        let name = "n".repeat(63);
        let prefix = ["p"; 127].join(".");
        for (key, value) in
            [("a", ""), ("example.com/team", "Growth_2.x-y"), (&*format!("{prefix}/{name}"), &*"v".repeat(63))]
        {
            assert_eq!(check_names(&map(key, value), &map(key, " any\ntext ")), Ok(()), "{key}");
        }
        assert_eq!(
            check_names(&none, &map("Example.com/Team", "")),
            Ok(()),
            "capital letters in an annotation's prefix"
        );
        let long = "n".repeat(64);
        for key in ["a ", "", " a", "a\t", "ä", "a/b/c", "/a", "a/", "-a", "a_", "-.com/a", "a..b/a", &long] {
            let shown = key.replace('\t', "\\t");
            for (labels, annotations, what) in
                [(map(key, ""), none.clone(), "label"), (none.clone(), map(key, ""), "annotation")]
            {
                let error = check_names(&labels, &annotations).unwrap_err().to_string();
                assert!(error.starts_with(&format!("the key of {what} `{shown}`: ")), "{error}");
                assert!(error.ends_with("; Kubernetes would refuse it"), "{error}");
            }
        }
        for value in ["a ", " ", "ä", "a/b", &long] {
            let error = check_names(&map("team", value), &none).unwrap_err().to_string();
            assert!(error.starts_with("the value of label `team`: a label's value has "), "{error}");
        }
        assert!(check_names(&map("Example.com/Team", ""), &none).is_err(), "but not in a label's");
    }

    #[test]
    fn names_that_kubernetes_refuses_are_named() {
        let ours = "michelangelo.api/v2";
        let long = "n".repeat(253);
        for (api_version, namespace, name) in [
            (ours, "ml", "churn-2.v1"),
            (ours, "", &*long),
            ("v1", &*"n".repeat(63), "0"),
            ("rbac.authorization.k8s.io/v1", "", "system:node"),
            ("apiregistration.k8s.io/v1", "", "v1."),
            ("user.openshift.io/v1", "", "kube:admin"),
        ] {
            assert_eq!(check_identity(api_version, namespace, name), Ok(()), "{name}");
        }
        for name in [
            "x'); DROP TABLE model; --",
            "ml ",
            " ml",
            "Churn",
            "a_b",
            "a..b",
            ".a",
            "a.",
            "-a",
            "a-",
            "ä",
            "a/b",
            "a\n",
            &format!("{long}n"),
        ] {
            for api_version in [ours, "v1", "apps/v1", "notk8s.io/v1"] {
                let error = check_identity(api_version, "ml", name).unwrap_err().to_string();
                assert!(error.starts_with(&format!("the name `{}`: a name has ", shortened(name))), "{error}");
                assert!(error.ends_with("; Kubernetes would refuse it"), "{error}");
            }
        }
        for name in ["a/b", "..", "100%"] {
            assert!(check_identity("rbac.authorization.k8s.io/v1", "", name).is_err(), "{name}");
        }
        for namespace in ["ml'; --", "a.b", "ML", "ml ", &"n".repeat(64)] {
            let error = check_identity(ours, namespace, "a").unwrap_err().to_string();
            assert!(error.starts_with(&format!("the namespace `{namespace}`: a namespace has ")), "{error}");
        }
    }

    #[test]
    fn the_earliest_datetime_is_in_the_year_1000() {
        assert_eq!(Micros(YEAR_1000).sql(), "1000-01-01 00:00:00.000000");
        assert_eq!(Micros::from_sql("1000-01-01 00:00:00.000000"), Some(Micros(YEAR_1000)));
        assert_eq!(Micros::from_sql("2026-03-09 20:36:46.5"), Some(Micros(1_773_088_606_500_000)));
    }
}
