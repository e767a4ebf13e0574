//! Values of PostgreSQL's statements and rows.
//!
//! A statement is prepared once, with the values of its first run, so the type of a parameter must not depend on the value. Texts and NULL
//! have no type: the server takes the type of the column, and a text has the same bytes in every type. Integers are BIGINT.

use crate::driver::error::of_another_statement;
use crate::driver::interface::{Call, Rows};
use crate::quiet::quietly;
use ingester_core::schema::SqlType;
use ingester_core::value::{Micros, Value};
use ingester_sql::dialect::{Columns, Param};
use sqlx::encode::{Encode, IsNull};
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgArguments, PgRow, PgTypeInfo};
use sqlx::{Arguments as _, AssertSqlSafe, PgConnection, Postgres, Row as _, Type, TypeInfo as _, ValueRef as _};

/// Decides whether statements stay prepared under names of the connection. A pooler that gives each transaction another connection does not
/// keep them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatementNaming {
    Named,
    Unnamed,
}

/// Runs a statement. Returns how many rows it affected.
pub(super) async fn execute(
    connection: &mut PgConnection,
    call: Call<'_>,
    prepared: StatementNaming,
) -> Result<u64, sqlx::Error> {
    let query = sqlx::query_with(AssertSqlSafe(call.sql.shared()), arguments(&call.params)?);
    Ok(query.persistent(prepared == StatementNaming::Named).execute(connection).await?.rows_affected())
}

/// Runs a query.
pub(super) async fn fetch(
    connection: &mut PgConnection,
    call: Call<'_>,
    prepared: StatementNaming,
) -> Result<Box<dyn Rows>, sqlx::Error> {
    let query = sqlx::query_with(AssertSqlSafe(call.sql.shared()), arguments(&call.params)?);
    let rows = query.persistent(prepared == StatementNaming::Named).fetch_all(connection).await?;
    if !rows.iter().all(is_whole) {
        return Err(of_another_statement());
    }
    Ok(Box::new(FetchedRows(rows)))
}

/// Returns false if a row has fewer values than its statement has columns. Under the name of a prepared statement, a pooler may run another
/// statement, and sqlx panics when it reads a value that does not exist.
fn is_whole(row: &PgRow) -> bool {
    let Some(last) = row.len().checked_sub(1) else { return true };
    quietly(|| row.try_get_raw(last).is_ok()) == Some(true)
}

/// OIDs of types and of their arrays (`pg_type.dat`).
mod oid {
    use ingester_core::schema::SqlType;

    /// Lets the server choose the type.
    pub(super) const UNSPECIFIED: u32 = 0;
    pub(super) const BOOL: u32 = 16;
    pub(super) const BYTEA: u32 = 17;
    pub(super) const INT8: u32 = 20;
    pub(super) const TEXT: u32 = 25;
    pub(super) const JSON: u32 = 114;
    pub(super) const FLOAT8: u32 = 701;
    pub(super) const TIMESTAMPTZ: u32 = 1184;
    pub(super) const TEXT_ARRAY: u32 = 1009;

    /// Returns the type of an element of an array of this type, and the type of the array.
    pub(super) const fn of_array(ty: SqlType) -> (u32, u32) {
        match ty {
            SqlType::Boolean => (BOOL, 1000),
            SqlType::Int | SqlType::BigInt | SqlType::IntUnsigned | SqlType::BigIntUnsigned => (INT8, 1016),
            SqlType::Double => (FLOAT8, 1022),
            SqlType::VarChar(_) | SqlType::Text | SqlType::MediumText => (TEXT, TEXT_ARRAY),
            SqlType::Json => (JSON, 199),
            SqlType::LongBlob => (BYTEA, 1001),
            SqlType::DateTime => (TIMESTAMPTZ, 1185),
        }
    }
}

fn arguments(params: &[Param<'_>]) -> Result<PgArguments, sqlx::Error> {
    let mut arguments = PgArguments::default();
    // A batch has a megabyte of parameters. Growing step by step would copy them again and again.
    arguments.reserve(params.len(), params.iter().map(Param::bytes).sum());
    for param in params {
        arguments.add(BoundParam::from_param(param)?).map_err(sqlx::Error::Encode)?;
    }
    Ok(arguments)
}

/// A parameter in the form that is sent.
#[derive(Debug)]
enum BoundParam<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
    Time(Micros),
    Texts(&'a [&'a str]),
    Array(SqlType, Vec<BoundParam<'a>>),
}

impl<'a> BoundParam<'a> {
    fn from_param(param: &'a Param<'_>) -> Result<Self, sqlx::Error> {
        Ok(match param {
            Param::Null | Param::Value(Value::Null) => BoundParam::Null,
            Param::Value(Value::Bool(value)) => BoundParam::Bool(*value),
            Param::Int(value) | Param::Value(Value::Int(value)) => BoundParam::Int(*value),
            Param::UInt(value) | Param::Value(Value::UInt(value)) => BoundParam::Int(signed(*value)?),
            Param::Value(Value::Double(value)) => BoundParam::Double(*value),
            Param::Text(value) => BoundParam::from_text(value),
            Param::Value(Value::Text(value)) => BoundParam::from_text(value),
            Param::Value(Value::Bytes(value)) => BoundParam::Bytes(value),
            Param::Time(value) | Param::Value(Value::Time(value)) => BoundParam::Time(*value),
            Param::Texts(texts) => BoundParam::Texts(texts),
            Param::Array(ty, params) => {
                let of = |param: &'a Param<'_>| match (ty, param) {
                    // NUL is escaped in JSON.
                    (SqlType::Json, Param::Value(Value::Text(json))) => Ok(BoundParam::Text(json)),
                    (_, param) => BoundParam::from_param(param),
                };
                BoundParam::Array(*ty, params.iter().map(of).collect::<Result<_, sqlx::Error>>()?)
            }
        })
    }

    /// PostgreSQL's texts cannot contain NUL, so such a value becomes NULL.
    fn from_text(text: &'a str) -> Self {
        if text.contains('\0') { BoundParam::Null } else { BoundParam::Text(text) }
    }

    /// Returns the type that is sent with it.
    fn oid(&self) -> u32 {
        match self {
            BoundParam::Null | BoundParam::Text(_) => oid::UNSPECIFIED,
            BoundParam::Bool(_) => oid::BOOL,
            BoundParam::Int(_) => oid::INT8,
            BoundParam::Double(_) => oid::FLOAT8,
            BoundParam::Bytes(_) => oid::BYTEA,
            BoundParam::Time(_) => oid::TIMESTAMPTZ,
            BoundParam::Texts(_) => oid::TEXT_ARRAY,
            BoundParam::Array(ty, _) => oid::of_array(*ty).1,
        }
    }

    /// Checks that it can be an element of an array of this type.
    fn in_array(&self, element: u32) -> Result<&Self, BoxDynError> {
        match (self.oid(), element) {
            (oid::UNSPECIFIED, oid::TEXT | oid::JSON) => Ok(self),
            (own, element) if own == element || matches!(self, BoundParam::Null) => Ok(self),
            (own, _) => Err(format!("a value of the type {own} is not an element of an array of {element}").into()),
        }
    }
}

/// PostgreSQL's integers are signed; a larger resourceVersion is an error of its object.
fn signed(value: u64) -> Result<i64, sqlx::Error> {
    i64::try_from(value).map_err(|_| {
        sqlx::Error::InvalidArgument(format!("{value} is larger than PostgreSQL's integers, which end at {}", i64::MAX))
    })
}

impl Type<Postgres> for BoundParam<'_> {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(oid::UNSPECIFIED))
    }
}

/// The microseconds from 1970 to 2000, where PostgreSQL's times begin.
const EPOCH: i64 = 946_684_800_000_000;

impl Encode<'_, Postgres> for BoundParam<'_> {
    fn produces(&self) -> Option<PgTypeInfo> {
        Some(PgTypeInfo::with_oid(Oid(self.oid())))
    }

    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        match self {
            BoundParam::Null => return Ok(IsNull::Yes),
            BoundParam::Bool(value) => buffer.push(u8::from(*value)),
            BoundParam::Int(value) => buffer.extend(value.to_be_bytes()),
            BoundParam::Double(value) => buffer.extend(value.to_be_bytes()),
            BoundParam::Text(value) => buffer.extend_from_slice(value.as_bytes()),
            BoundParam::Bytes(value) => buffer.extend_from_slice(value),
            BoundParam::Time(value) => buffer.extend(value.0.saturating_sub(EPOCH).to_be_bytes()),
            BoundParam::Texts(texts) => {
                array(buffer, oid::TEXT, texts.len(), texts.iter().map(|text| Ok(BoundParam::from_text(text))))?
            }
            BoundParam::Array(ty, elements) => {
                let element = oid::of_array(*ty).0;
                array(buffer, element, elements.len(), elements.iter().map(|bound| bound.in_array(element)))?;
            }
        }
        Ok(IsNull::No)
    }
}

/// Writes an array of one dimension (`array_recv` of the server).
fn array<'b, B: Encode<'b, Postgres>>(
    buffer: &mut PgArgumentBuffer,
    element: u32,
    count: usize,
    elements: impl Iterator<Item = Result<B, BoxDynError>>,
) -> Result<(), BoxDynError> {
    buffer.extend(1_i32.to_be_bytes());
    // The flag for NULLs. The server does not rely on it.
    buffer.extend(0_i32.to_be_bytes());
    buffer.extend(element.to_be_bytes());
    buffer.extend(i32::try_from(count)?.to_be_bytes());
    buffer.extend(1_i32.to_be_bytes());
    for bound in elements {
        let start = buffer.len();
        buffer.extend((-1_i32).to_be_bytes());
        if let IsNull::No = bound?.encode(buffer)? {
            let length = i32::try_from(buffer.len() - start - 4)?;
            buffer[start..start + 4].copy_from_slice(&length.to_be_bytes());
        }
    }
    Ok(())
}

/// A row of a result.
struct FetchedRow<'r>(&'r PgRow);

impl FetchedRow<'_> {
    /// Returns the value of a column of any type.
    fn any(&self, index: usize) -> Result<Value, sqlx::Error> {
        let row = self.0;
        let raw = row.try_get_raw(index)?;
        if raw.is_null() {
            return Ok(Value::Null);
        }
        // sqlx takes the bytes of a boolean or a float without counting them.
        Ok(match raw.type_info().name() {
            "BOOL" => Value::Bool(row.try_get_unchecked::<[u8; 1], _>(index)? != [0]),
            "INT2" | "INT4" | "INT8" => Value::Int(row.try_get_unchecked(index)?),
            "NUMERIC" => {
                Value::Int(whole(row.try_get_unchecked(index)?).ok_or_else(|| other(index, "a whole number"))?)
            }
            "FLOAT4" => Value::Double(f32::from_be_bytes(row.try_get_unchecked(index)?).into()),
            "FLOAT8" => Value::Double(f64::from_be_bytes(row.try_get_unchecked(index)?)),
            "BYTEA" => Value::Bytes(row.try_get_unchecked::<&[u8], _>(index)?.into()),
            _ => Value::text(row.try_get_unchecked::<&str, _>(index)?),
        })
    }

    fn optional_int(&self, index: usize) -> Result<Option<i64>, sqlx::Error> {
        match self.any(index)? {
            Value::Null => Ok(None),
            Value::Int(value) => Ok(Some(value)),
            Value::Bool(value) => Ok(Some(value.into())),
            _ => Err(other(index, "an integer")),
        }
    }
}

impl Columns for FetchedRow<'_> {
    type Error = sqlx::Error;

    fn read_text(&self, index: usize) -> Result<String, sqlx::Error> {
        self.0.try_get_unchecked(index)
    }

    fn read_optional_text(&self, index: usize) -> Result<Option<String>, sqlx::Error> {
        self.0.try_get_unchecked(index)
    }

    fn read_int(&self, index: usize) -> Result<i64, sqlx::Error> {
        self.optional_int(index)?.ok_or_else(|| other(index, "not NULL"))
    }

    fn read_uint(&self, index: usize) -> Result<u64, sqlx::Error> {
        u64::try_from(self.read_int(index)?).map_err(|_| other(index, "not negative"))
    }

    fn read_value(&self, index: usize, ty: SqlType) -> Result<Value, sqlx::Error> {
        let value = self.any(index)?;
        Ok(match (ty, value) {
            (SqlType::IntUnsigned | SqlType::BigIntUnsigned, Value::Int(value)) => {
                u64::try_from(value).map_or(Value::Int(value), Value::UInt)
            }
            (SqlType::DateTime, Value::Text(text)) => Micros::from_sql(&text).map_or(Value::Text(text), Value::Time),
            (_, value) => value,
        })
    }
}

fn other(index: usize, wanted: &str) -> sqlx::Error {
    sqlx::Error::ColumnDecode { index: index.to_string(), source: format!("it is not {wanted}").into() }
}

/// The bytes of a NUMERIC, such as the sum of integers: the number of digits to the base 10,000, the place of the first, the sign, the
/// scale, and the digits.
struct Numeric<'r>(&'r [u8]);

impl<'r> sqlx::Decode<'r, Postgres> for Numeric<'r> {
    fn decode(value: sqlx::postgres::PgValueRef<'r>) -> Result<Self, BoxDynError> {
        value.as_bytes().map(Numeric)
    }
}

impl Type<Postgres> for Numeric<'_> {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_name("numeric")
    }
}

/// Returns the number if it is whole and fits 63 bits.
fn whole(Numeric(bytes): Numeric<'_>) -> Option<i64> {
    let mut words = bytes.chunks_exact(2).map(|pair| i16::from_be_bytes([pair[0], pair[1]]));
    let (_, weight, sign, _) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let digits: Vec<i16> = words.collect();
    let before = usize::try_from(i32::from(weight) + 1).unwrap_or(0);
    if digits.iter().skip(before).any(|digit| *digit != 0) {
        return None;
    }
    let mut number = 0_i64;
    for place in 0..before {
        let digit = digits.get(place).copied().unwrap_or(0);
        number = number.checked_mul(10_000)?.checked_add(digit.into())?;
    }
    match sign {
        0 => Some(number),
        0x4000 => Some(-number),
        // NaN, infinity.
        _ => None,
    }
}

/// The rows of a result.
struct FetchedRows(Vec<PgRow>);

impl Rows for FetchedRows {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn each(
        &self,
        read: &mut dyn FnMut(&dyn Columns<Error = sqlx::Error>) -> Result<(), sqlx::Error>,
    ) -> Result<(), sqlx::Error> {
        self.0.iter().try_for_each(|row| read(&FetchedRow(row)))
    }
}

#[cfg(test)]
mod tests {
    use super::{BoundParam, Encode as _, Numeric, Param, SqlType, arguments, whole};
    use ingester_core::value::{Micros, Value};
    use sqlx::encode::IsNull;
    use sqlx::postgres::PgArgumentBuffer;

    fn encoded(param: &Param<'_>) -> Result<Option<Vec<u8>>, String> {
        let mut buffer = PgArgumentBuffer::default();
        let bound = BoundParam::from_param(param).map_err(|error| error.to_string())?;
        match bound.encode_by_ref(&mut buffer).map_err(|error| error.to_string())? {
            IsNull::Yes => Ok(None),
            IsNull::No => Ok(Some(buffer.to_vec())),
        }
    }

    #[test]
    fn a_statement_that_was_prepared_with_null_takes_a_value_later() {
        for (param, oid) in [
            (Param::Null, 0),
            (Param::Text("a"), 0),
            (Param::Value(&Value::Int(1)), 20),
            (Param::UInt(1), 20),
            (Param::Value(&Value::Bool(true)), 16),
            (Param::Time(Micros(0)), 1184),
            (Param::Texts(&["a"]), 1009),
            (Param::Array(SqlType::Json, Vec::new()), 199),
            (Param::Array(SqlType::IntUnsigned, vec![Param::Null]), 1016),
        ] {
            assert_eq!(BoundParam::from_param(&param).unwrap().oid(), oid, "{param:?}");
        }
    }

    #[test]
    fn a_text_with_nul_is_null() {
        assert_eq!(encoded(&Param::Text("a\0b")), Ok(None));
        assert_eq!(encoded(&Param::Value(&Value::text("\0"))), Ok(None));
        let in_array = |param| Param::Array(SqlType::VarChar(9), vec![param]);
        assert_eq!(encoded(&in_array(Param::Text("\0"))), encoded(&in_array(Param::Null)));
        assert_eq!(encoded(&Param::Texts(&["\0"])), encoded(&in_array(Param::Null)));
    }

    #[test]
    fn times_begin_in_2000() {
        let new_year = Micros(946_684_800_000_001);
        assert_eq!(encoded(&Param::Time(new_year)), Ok(Some(1_i64.to_be_bytes().to_vec())));
    }

    #[test]
    fn a_number_beyond_63_bits_is_an_error_of_its_object() {
        let error = arguments(&[Param::UInt(u64::MAX)]).unwrap_err();
        assert_eq!(crate::driver::class_of(&error), crate::driver::ErrorClass::Object);
        assert!(error.to_string().contains("18446744073709551615 is larger than PostgreSQL's integers"), "{error}");
    }

    #[test]
    fn an_array_has_elements_of_its_type_alone() {
        let error = encoded(&Param::Array(SqlType::BigInt, vec![Param::Text("1")])).unwrap_err();
        assert!(error.contains("not an element of an array of 20"), "{error}");
        assert!(encoded(&Param::Array(SqlType::BigInt, vec![Param::Int(1), Param::Null])).is_ok());
    }

    #[test]
    fn a_sum_of_integers_is_read_as_a_whole_number() {
        let numeric = |words: &[i16]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
        for (words, number) in [
            (&[0, 0, 0, 0][..], Some(0)),
            (&[1, 0, 0, 0, 42], Some(42)),
            (&[2, 1, 0, 0, 12, 345], Some(120_345)),
            (&[1, 1, 0x4000, 0, 3], Some(-30_000)),
            (&[5, 4, 0, 0, 922, 3372, 368, 5477, 5807], Some(i64::MAX)),
            (&[5, 4, 0, 0, 922, 3372, 368, 5477, 5808], None),
            (&[2, 0, 0, 1, 1, 5000], None),
            (&[1, -1, 0, 1, 5000], None),
        ] {
            assert_eq!(whole(Numeric(&numeric(words))), number, "{words:?}");
        }
    }
}
