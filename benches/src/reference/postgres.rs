//! PostgreSQL: many rows are arrays of their columns, so a statement has one text for any number of rows.

use super::{Engine, Param};
use ingester_core::schema::{Companion, SqlType, Table};
use ingester_core::value::Value;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgArguments, PgBindIterExt as _, PgHasArrayType, PgTypeInfo};
use sqlx::{Arguments as _, AssertSqlSafe, Encode, Executor as _, Postgres, Type};

impl Engine for Postgres {
    super::run!(Postgres);

    const ONE_WRITER: bool = false;
    const SESSION: Option<&'static str> = None;
    const BEGIN: &'static str = "BEGIN";
    const EMPTY: &'static str = "TRUNCATE TABLE";
    const ANALYZE: &'static str = "ANALYZE";
    const SIZE: Option<&'static str> = Some("SELECT pg_total_relation_size($1::text::regclass)::text");

    /// With PostgreSQL's quotes and numbered parameters. Its CHAR is one character.
    fn spelled(sql: &str) -> String {
        let mut spelled = String::with_capacity(sql.len() + 16);
        let mut parameters = 0;
        for character in sql.chars() {
            match character {
                '`' => spelled.push('"'),
                '?' => {
                    parameters += 1;
                    spelled.push_str(&format!("${parameters}"));
                }
                _ => spelled.push(character),
            }
        }
        spelled.replace(" AS CHAR)", " AS TEXT)")
    }

    fn on_conflict(key: &[String]) -> String {
        format!("ON CONFLICT (`{}`) DO UPDATE SET", key.join("`, `"))
    }

    fn assigned(column: &str) -> String {
        format!("`{column}` = excluded.`{column}`")
    }

    fn render_rows(columns: usize, _: usize) -> String {
        format!("SELECT * FROM UNNEST({})", vec!["?"; columns].join(", "))
    }

    fn one_of(_: usize) -> String {
        "= ANY(?)".to_owned()
    }

    fn pairs_of(rows: usize) -> String {
        format!("IN ({})", Self::render_rows(2, rows))
    }

    fn add(arguments: &mut PgArguments, value: &Value) -> Result<(), BoxDynError> {
        match value {
            Value::Null => arguments.add(None::<Untyped<'_>>),
            Value::Bool(value) => arguments.add(*value),
            Value::Int(value) => arguments.add(*value),
            Value::UInt(value) => arguments.add(value.cast_signed()),
            Value::Double(value) => arguments.add(*value),
            Value::Text(value) => arguments.add(As::<0, 0, _>(value.as_ref())),
            Value::Bytes(value) => arguments.add(value.as_ref()),
            Value::Time(value) => arguments.add(Time::from_micros(value.0)),
        }
    }

    fn add_rows(arguments: &mut PgArguments, types: &[SqlType], rows: &[Param<'_>]) -> Result<(), BoxDynError> {
        for (place, ty) in types.iter().enumerate() {
            let column = rows.iter().skip(place).step_by(types.len());
            match ty {
                SqlType::Boolean => arguments.add(column.map(Param::bool).bind_iter()),
                SqlType::Int | SqlType::BigInt | SqlType::IntUnsigned | SqlType::BigIntUnsigned => {
                    arguments.add(column.map(Param::int).bind_iter())
                }
                SqlType::Double => arguments.add(column.map(Param::double).bind_iter()),
                SqlType::VarChar(_) | SqlType::Text | SqlType::MediumText => {
                    arguments.add(column.map(Param::text).bind_iter())
                }
                SqlType::Json => arguments.add(column.map(|param| param.text().map(As::<114, 199, _>)).bind_iter()),
                SqlType::LongBlob => arguments.add(column.map(Param::bytes).bind_iter()),
                SqlType::DateTime => arguments.add(column.map(|param| param.time().map(Time::from_micros)).bind_iter()),
            }?;
        }
        Ok(())
    }

    fn is_deadlock(error: &sqlx::Error) -> bool {
        error.as_database_error().is_some_and(|error| error.code().as_deref() == Some("40P01"))
    }
}

impl<'a> Param<'a> {
    fn value(&self) -> Option<&'a Value> {
        match self {
            Param::Value(value) => Some(value),
            Param::Text(_) | Param::Time(_) => None,
        }
    }

    fn bool(&self) -> Option<bool> {
        self.value().and_then(|value| if let Value::Bool(value) = value { Some(*value) } else { None })
    }

    fn int(&self) -> Option<i64> {
        match self.value()? {
            Value::Int(value) => Some(*value),
            Value::UInt(value) => Some(value.cast_signed()),
            _ => None,
        }
    }

    fn double(&self) -> Option<f64> {
        self.value().and_then(|value| if let Value::Double(value) = value { Some(*value) } else { None })
    }

    fn text(&self) -> Option<&'a str> {
        match self {
            Param::Text(text) => Some(text),
            Param::Value(Value::Text(text)) => Some(text.as_ref()),
            Param::Value(_) | Param::Time(_) => None,
        }
    }

    fn bytes(&self) -> Option<&'a [u8]> {
        self.value().and_then(|value| if let Value::Bytes(value) = value { Some(value.as_ref()) } else { None })
    }

    fn time(&self) -> Option<i64> {
        match self {
            Param::Time(time) | Param::Value(Value::Time(time)) => Some(time.0),
            Param::Value(_) | Param::Text(_) => None,
        }
    }
}

/// A value with the bytes of another type, given by two numbers: the type's own, and the number of its array type (`pg_type.oid`). With 0
/// the server finds the type.
struct As<const TYPE: u32, const ARRAY: u32, T>(T);

type Untyped<'a> = As<0, 0, &'a str>;

/// Microseconds since the year 2000, as TIMESTAMPTZ.
type Time = As<1184, 1185, i64>;

impl Time {
    fn from_micros(micros: i64) -> Self {
        As(micros - 946_684_800_000_000)
    }
}

impl<const TYPE: u32, const ARRAY: u32, T> Type<Postgres> for As<TYPE, ARRAY, T> {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(TYPE))
    }
}

impl<const TYPE: u32, const ARRAY: u32, T> PgHasArrayType for As<TYPE, ARRAY, T> {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(ARRAY))
    }
}

impl<'q, const TYPE: u32, const ARRAY: u32, T: Encode<'q, Postgres>> Encode<'q, Postgres> for As<TYPE, ARRAY, T> {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        self.0.encode_by_ref(buffer)
    }
}
