//! Values on their way into sqlx's statements and out of its rows.

use ingester_sql::dialect::Sql;
use sqlx::AssertSqlSafe;
use std::sync::Arc;

/// Returns a text that is sent without being prepared.
pub(super) fn raw(sql: &Sql) -> sqlx::RawSql {
    raw_text(sql.shared())
}

/// Like [`raw`], for a part of a migration. The ingester has generated it, and its checksum was compared.
pub(super) fn raw_text(text: Arc<str>) -> sqlx::RawSql {
    sqlx::raw_sql(AssertSqlSafe(text))
}

/// Returns sqlx's reason, unless it quotes the URL.
pub(super) fn without_url(error: &sqlx::Error) -> String {
    let text = match error {
        sqlx::Error::Configuration(reason) => reason.to_string(),
        other => other.to_string(),
    };
    if text.contains("://") { "it is not valid".into() } else { text }
}

/// Implements `execute` and `fetch` for one of sqlx's drivers. It is a macro because the drivers' types share no suitable trait. It takes
/// the driver's database, arguments and row, the encoding of an unsigned number, and the type as which such a number is read, with the
/// conversion back.
macro_rules! implement_values {
    ($database:ident, $arguments:ident, $row:ident, $encode:path, $unsigned:ty, |$value:ident| $back:expr) => {
        use ::ingester_core::schema::SqlType;
        use ::ingester_core::value::{Micros, Value};
        use ::ingester_sql::dialect::{Columns, Param};
        use ::sqlx::{Arguments as _, Row as _};
        use $crate::driver::interface::{Call, Rows};

        fn arguments(params: &[Param<'_>]) -> Result<$arguments, ::sqlx::Error> {
            let mut arguments = $arguments::default();
            // A batch has a megabyte of parameters. Growing step by step would copy them again and again.
            arguments.reserve(params.len(), params.iter().map(Param::bytes).sum());
            for param in params {
                match *param {
                    Param::Value(value) => match value {
                        Value::Null => arguments.add(None::<&str>),
                        Value::Bool(value) => arguments.add(*value),
                        Value::Int(value) => arguments.add(*value),
                        Value::UInt(value) => arguments.add($encode(*value)?),
                        Value::Double(value) => arguments.add(*value),
                        Value::Text(value) => arguments.add(value.as_ref()),
                        Value::Bytes(value) => arguments.add(value.as_ref()),
                        Value::Time(value) => arguments.add(value.sql()),
                    },
                    Param::Text(value) => arguments.add(value),
                    Param::Int(value) => arguments.add(value),
                    Param::UInt(value) => arguments.add($encode(value)?),
                    Param::Time(value) => arguments.add(value.sql()),
                    Param::Null => arguments.add(None::<&str>),
                    // The dialects of these databases have no arrays.
                    Param::Texts(_) | Param::Array(..) => {
                        return Err(::sqlx::Error::InvalidArgument("an array is not a parameter here".into()));
                    }
                }
                .map_err(::sqlx::Error::Encode)?;
            }
            Ok(arguments)
        }

        /// A row of a result.
        struct FetchedRow<'r>(&'r $row);

        // Some servers report columns with a binary collation as bytes, so text is read without checking the column's type.
        impl Columns for FetchedRow<'_> {
            type Error = ::sqlx::Error;

            fn read_text(&self, index: usize) -> Result<String, ::sqlx::Error> {
                self.0.try_get_unchecked(index)
            }

            fn read_optional_text(&self, index: usize) -> Result<Option<String>, ::sqlx::Error> {
                self.0.try_get_unchecked(index)
            }

            fn read_int(&self, index: usize) -> Result<i64, ::sqlx::Error> {
                self.0.try_get_unchecked(index)
            }

            fn read_uint(&self, index: usize) -> Result<u64, ::sqlx::Error> {
                let $value: $unsigned = self.0.try_get_unchecked(index)?;
                Ok($back)
            }

            fn read_value(&self, index: usize, ty: SqlType) -> Result<Value, ::sqlx::Error> {
                let row = self.0;
                let value = match ty {
                    SqlType::Boolean => row.try_get_unchecked::<Option<i64>, _>(index)?.map(|number| match number {
                        0 | 1 => Value::Bool(number == 1),
                        _ => Value::Int(number),
                    }),
                    SqlType::Int | SqlType::BigInt => row.try_get_unchecked::<Option<i64>, _>(index)?.map(Value::Int),
                    SqlType::IntUnsigned | SqlType::BigIntUnsigned => {
                        let number: Option<$unsigned> = row.try_get_unchecked(index)?;
                        number.map(|$value| Value::UInt($back))
                    }
                    SqlType::Double => row.try_get_unchecked::<Option<f64>, _>(index)?.map(Value::Double),
                    SqlType::VarChar(_) | SqlType::Text | SqlType::MediumText | SqlType::Json => {
                        row.try_get_unchecked::<Option<&str>, _>(index)?.map(Value::text)
                    }
                    SqlType::DateTime => row
                        .try_get_unchecked::<Option<&str>, _>(index)?
                        .map(|text| Micros::from_sql(text).map_or_else(|| Value::text(text), Value::Time)),
                    SqlType::LongBlob => {
                        row.try_get_unchecked::<Option<&[u8]>, _>(index)?.map(|bytes| Value::Bytes(bytes.into()))
                    }
                };
                Ok(value.unwrap_or(Value::Null))
            }
        }

        /// The rows of a result.
        pub(super) struct FetchedRows(pub(super) Vec<$row>);

        impl Rows for FetchedRows {
            fn count(&self) -> usize {
                self.0.len()
            }

            fn each(
                &self,
                read: &mut dyn FnMut(&dyn Columns<Error = ::sqlx::Error>) -> Result<(), ::sqlx::Error>,
            ) -> Result<(), ::sqlx::Error> {
                self.0.iter().try_for_each(|row| read(&FetchedRow(row)))
            }
        }

        /// Runs a statement. Returns how many rows it affected, as the database counts them.
        pub(super) async fn execute<'e>(
            executor: impl ::sqlx::Executor<'e, Database = $database>,
            call: Call<'_>,
        ) -> Result<u64, ::sqlx::Error> {
            let text = ::sqlx::AssertSqlSafe(call.sql.shared());
            let query = ::sqlx::query_with::<$database, _>(text, arguments(&call.params)?);
            Ok(query.execute(executor).await?.rows_affected())
        }

        /// Runs a query.
        pub(super) async fn fetch<'e>(
            executor: impl ::sqlx::Executor<'e, Database = $database>,
            call: Call<'_>,
        ) -> Result<Box<dyn Rows>, ::sqlx::Error> {
            let text = ::sqlx::AssertSqlSafe(call.sql.shared());
            let query = ::sqlx::query_with::<$database, _>(text, arguments(&call.params)?);
            Ok(Box::new(FetchedRows(query.fetch_all(executor).await?)))
        }
    };
}

pub(super) use implement_values;
