//! A test's own SQL, on any database.

use anyhow::{Context as _, Result};
use sqlx::{
    AssertSqlSafe, Column as _, Connection as _, Executor, MySql, MySqlConnection, PgConnection, Postgres, Row as _,
    Sqlite, SqliteConnection, TypeInfo as _, postgres::PgRow,
};

use crate::sql_server::Protocol;

/// Rows of cells as text.
pub type Rows = Vec<Vec<Option<String>>>;

/// Runs statements on a new connection to the database of a URL, one by one, and then SQL, whose names are quoted as `` `name` `` on every
/// database. Returns every cell of its answer as text: a boolean as 0 or 1, a time as `2026-01-02 03:04:05.678901`, bytes as text, or as
/// hexadecimal digits if they are not text.
///
/// # Errors
/// The database's.
pub async fn on(url: &str, before: &[&str], sql: &str) -> Result<Rows> {
    match Protocol::from_url(url) {
        Some(Protocol::MySql) => {
            let mut connection = MySqlConnection::connect(url).await.with_context(|| format!("connecting to {url}"))?;
            let rows = all::<MySql>(&mut connection, before, sql, cell).await?;
            connection.close().await?;
            Ok(rows)
        }
        Some(Protocol::Postgres) => {
            // Without a name, use the administrators' database, not the user's.
            let url = if url.ends_with('/') { format!("{url}postgres") } else { url.to_owned() };
            let mut connection = PgConnection::connect(&url).await.with_context(|| format!("connecting to {url}"))?;
            connection.execute("SET TIME ZONE 'UTC'").await?;
            let rows = all::<Postgres>(&mut connection, before, &sql.replace('`', "\""), postgres_cell).await?;
            connection.close().await?;
            Ok(rows)
        }
        None => {
            let mut connection =
                SqliteConnection::connect(url).await.with_context(|| format!("connecting to {url}"))?;
            let rows = all::<Sqlite>(&mut connection, before, sql, cell).await?;
            connection.close().await?;
            Ok(rows)
        }
    }
}

async fn all<D: sqlx::Database>(
    connection: &mut D::Connection,
    before: &[&str],
    sql: &str,
    cell: fn(&D::Row, usize) -> sqlx::Result<Option<String>>,
) -> Result<Rows>
where
    for<'c> &'c mut D::Connection: Executor<'c, Database = D>,
{
    for statement in before {
        connection
            .execute(sqlx::raw_sql(AssertSqlSafe((*statement).to_owned())))
            .await
            .with_context(|| (*statement).to_owned())?;
    }
    let rows =
        connection.fetch_all(sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))).await.with_context(|| sql.to_owned())?;
    let texts = |row: &D::Row| (0..row.len()).map(|place| cell(row, place)).collect::<sqlx::Result<_>>();
    Ok(rows.iter().map(texts).collect::<sqlx::Result<_>>()?)
}

fn cell<R: sqlx::Row>(row: &R, place: usize) -> sqlx::Result<Option<String>>
where
    for<'r> Option<String>: sqlx::Decode<'r, R::Database>,
    for<'r> Option<Vec<u8>>: sqlx::Decode<'r, R::Database>,
    usize: sqlx::ColumnIndex<R>,
{
    match row.try_get_unchecked::<Option<String>, _>(place) {
        Ok(text) => Ok(text),
        Err(_) => Ok(row.try_get_unchecked::<Option<Vec<u8>>, _>(place)?.map(text_or_digits)),
    }
}

/// The answers to unprepared SQL are text in PostgreSQL's own form.
fn postgres_cell(row: &PgRow, place: usize) -> sqlx::Result<Option<String>> {
    let Some(text) = row.try_get_unchecked::<Option<String>, _>(place)? else { return Ok(None) };
    Ok(Some(match row.column(place).type_info().name() {
        "BOOL" => if text == "t" { "1" } else { "0" }.to_owned(),
        "BYTEA" => row.try_get_unchecked::<Vec<u8>, _>(place).map(text_or_digits)?,
        "TIMESTAMPTZ" => {
            let time = text.strip_suffix("+00").unwrap_or(&text);
            let (seconds, fraction) = time.split_once('.').unwrap_or((time, ""));
            format!("{seconds}.{fraction:0<6}")
        }
        _ => text,
    }))
}

fn text_or_digits(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| error.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}
