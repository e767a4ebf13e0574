//! One transaction on one connection, as the batch algorithm sees it.

use super::guard::Version;
pub(super) use crate::dialect::Param;
use crate::dialect::Sql;
use crate::schema::SqlType;
use crate::value::Value;
use std::collections::HashSet;

/// A stored label or annotation: uid, key, value.
pub(super) type Pair = (String, String, String);

/// A transaction. Dropping it without a commit rolls it back.
pub(super) trait Session {
    /// Runs a statement; returns how many rows it touched, as the database counts them.
    async fn execute(&mut self, sql: &Sql, params: &[Param<'_>]) -> Result<u64, sqlx::Error>;
    /// Runs [`Statement::Versions`](crate::dialect::Statement::Versions).
    async fn versions(&mut self, sql: &Sql, params: &[Param<'_>]) -> Result<Vec<(String, Version)>, sqlx::Error>;
    /// Reads rows whose columns are of these types. A value that its type cannot have (somebody may have written it by
    /// hand) comes back as what it is.
    async fn rows(
        &mut self,
        sql: &Sql,
        params: &[Param<'_>],
        types: &[SqlType],
    ) -> Result<Vec<Box<[Value]>>, sqlx::Error>;
    /// Runs [`Statement::ReadPairs`](crate::dialect::Statement::ReadPairs) and whatever else gives three texts.
    async fn pairs(&mut self, sql: &Sql, params: &[Param<'_>]) -> Result<Vec<Pair>, sqlx::Error>;
    /// Reads the server's name and the largest packet.
    async fn server(&mut self, sql: &Sql) -> Result<(String, u64), sqlx::Error>;
    /// Reads whether the one number of the one row is more than 0.
    async fn any(&mut self, sql: &Sql) -> Result<bool, sqlx::Error>;
    /// Reads the first column as text.
    async fn names(&mut self, sql: &Sql) -> Result<HashSet<String>, sqlx::Error>;
    /// Reads every column as text.
    async fn texts(&mut self, sql: &Sql) -> Result<Vec<Vec<Option<String>>>, sqlx::Error>;
    async fn commit(self) -> Result<(), sqlx::Error>;
    async fn rollback(self) -> Result<(), sqlx::Error>;
}

/// Implements [`Session`] as `Open` over a transaction of one of sqlx's drivers, whose types share no trait that would
/// serve: its arguments, its rows, how it takes an unsigned number, and as which type it gives one back.
macro_rules! implement_session {
    ($database:ident, $arguments:ident, $row:ident, $encode:path, $unsigned:ty, |$value:ident| $back:expr) => {
        /// An open transaction.
        pub(super) struct Open(::sqlx::Transaction<'static, $database>);

        use super::guard::Version;
        use super::session::{Pair, Param, Session};
        use crate::schema::SqlType;
        use crate::value::{Micros, Value};
        use ::sqlx::{Arguments as _, Row as _};

        fn arguments(params: &[Param<'_>]) -> Result<$arguments, ::sqlx::Error> {
            let mut arguments = $arguments::default();
            // A batch's parameters are a megabyte: growing would copy them again and again.
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
                    Param::UInt(value) => arguments.add($encode(value)?),
                    Param::Time(value) => arguments.add(value.sql()),
                    Param::Null => arguments.add(None::<&str>),
                }
                .map_err(::sqlx::Error::Encode)?;
            }
            Ok(arguments)
        }

        // Columns with a binary collation are told apart from bytes by some servers and not by others, so text is read
        // without asking for the column's type.
        fn text_of(row: &$row, place: usize) -> Result<String, ::sqlx::Error> {
            row.try_get_unchecked(place)
        }

        fn number_of(row: &$row, place: usize) -> Result<u64, ::sqlx::Error> {
            let $value: $unsigned = row.try_get_unchecked(place)?;
            Ok($back)
        }

        fn value_of(row: &$row, place: usize, ty: SqlType) -> Result<Value, ::sqlx::Error> {
            let value = match ty {
                SqlType::Boolean => row.try_get_unchecked::<Option<i64>, _>(place)?.map(|number| match number {
                    0 | 1 => Value::Bool(number == 1),
                    _ => Value::Int(number),
                }),
                SqlType::Int | SqlType::BigInt => row.try_get_unchecked::<Option<i64>, _>(place)?.map(Value::Int),
                SqlType::BigIntUnsigned => {
                    let number: Option<$unsigned> = row.try_get_unchecked(place)?;
                    number.map(|$value| Value::UInt($back))
                }
                SqlType::Double => row.try_get_unchecked::<Option<f64>, _>(place)?.map(Value::Double),
                SqlType::VarChar(_) | SqlType::Text | SqlType::MediumText | SqlType::Json => {
                    row.try_get_unchecked::<Option<String>, _>(place)?.map(Value::text)
                }
                SqlType::DateTime => row
                    .try_get_unchecked::<Option<String>, _>(place)?
                    .map(|text| Micros::from_sql(&text).map_or_else(|| Value::text(text), Value::Time)),
                SqlType::LongBlob => {
                    row.try_get_unchecked::<Option<Vec<u8>>, _>(place)?.map(|bytes| Value::Bytes(bytes.into()))
                }
            };
            Ok(value.unwrap_or(Value::Null))
        }

        /// Runs one statement, which is a transaction by itself; returns how many rows it touched.
        pub(super) async fn execute(
            pool: &::sqlx::Pool<$database>,
            sql: &Sql,
            params: &[Param<'_>],
        ) -> Result<u64, ::sqlx::Error> {
            let query = ::sqlx::query_with::<$database, _>(::sqlx::AssertSqlSafe(sql.shared()), arguments(params)?);
            Ok(query.execute(pool).await?.rows_affected())
        }

        impl Session for Open {
            async fn execute(&mut self, sql: &Sql, params: &[Param<'_>]) -> Result<u64, sqlx::Error> {
                let query = ::sqlx::query_with::<$database, _>(::sqlx::AssertSqlSafe(sql.shared()), arguments(params)?);
                Ok(query.execute(&mut *self.0).await?.rows_affected())
            }

            async fn versions(
                &mut self,
                sql: &Sql,
                params: &[Param<'_>],
            ) -> Result<Vec<(String, Version)>, sqlx::Error> {
                let query = ::sqlx::query_with::<$database, _>(::sqlx::AssertSqlSafe(sql.shared()), arguments(params)?);
                let rows = query.fetch_all(&mut *self.0).await?;
                rows.iter()
                    .map(|row| {
                        let version = Version {
                            res_version: number_of(row, 1)?,
                            deleted: row.try_get_unchecked::<i64, _>(2)? != 0,
                            evicted: row.try_get_unchecked::<i64, _>(3)? != 0,
                        };
                        Ok((text_of(row, 0)?, version))
                    })
                    .collect()
            }

            async fn rows(
                &mut self,
                sql: &Sql,
                params: &[Param<'_>],
                types: &[SqlType],
            ) -> Result<Vec<Box<[Value]>>, sqlx::Error> {
                let query = ::sqlx::query_with::<$database, _>(::sqlx::AssertSqlSafe(sql.shared()), arguments(params)?);
                let rows = query.fetch_all(&mut *self.0).await?;
                rows.iter()
                    .map(|row| types.iter().enumerate().map(|(place, ty)| value_of(row, place, *ty)).collect())
                    .collect()
            }

            async fn pairs(&mut self, sql: &Sql, params: &[Param<'_>]) -> Result<Vec<Pair>, sqlx::Error> {
                let query = ::sqlx::query_with::<$database, _>(::sqlx::AssertSqlSafe(sql.shared()), arguments(params)?);
                let rows = query.fetch_all(&mut *self.0).await?;
                rows.iter().map(|row| Ok((text_of(row, 0)?, text_of(row, 1)?, text_of(row, 2)?))).collect()
            }

            async fn server(&mut self, sql: &Sql) -> Result<(String, u64), sqlx::Error> {
                let row =
                    ::sqlx::query::<$database>(::sqlx::AssertSqlSafe(sql.shared())).fetch_one(&mut *self.0).await?;
                Ok((text_of(&row, 0)?, number_of(&row, 1)?))
            }

            async fn any(&mut self, sql: &Sql) -> Result<bool, sqlx::Error> {
                let row =
                    ::sqlx::query::<$database>(::sqlx::AssertSqlSafe(sql.shared())).fetch_one(&mut *self.0).await?;
                Ok(row.try_get_unchecked::<i64, _>(0)? > 0)
            }

            async fn names(&mut self, sql: &Sql) -> Result<::std::collections::HashSet<String>, sqlx::Error> {
                let rows =
                    ::sqlx::query::<$database>(::sqlx::AssertSqlSafe(sql.shared())).fetch_all(&mut *self.0).await?;
                rows.iter().map(|row| text_of(row, 0)).collect()
            }

            async fn texts(&mut self, sql: &Sql) -> Result<Vec<Vec<Option<String>>>, sqlx::Error> {
                let rows =
                    ::sqlx::query::<$database>(::sqlx::AssertSqlSafe(sql.shared())).fetch_all(&mut *self.0).await?;
                rows.iter().map(|row| (0..row.len()).map(|place| row.try_get_unchecked(place)).collect()).collect()
            }

            async fn commit(self) -> Result<(), sqlx::Error> {
                self.0.commit().await
            }

            async fn rollback(self) -> Result<(), sqlx::Error> {
                self.0.rollback().await
            }
        }
    };
}

pub(super) use implement_session;
