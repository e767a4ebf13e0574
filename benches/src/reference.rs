//! The baselines: the statements of the reference system, and the fastest statements without semantics.

use crate::store::{Phase, Rows};
use anyhow::Result;
use ingester_core::row::Row;
use ingester_core::schema::{Companion, Table, base};
use ingester_core::value::{Micros, Value};
use sqlx::{Arguments as _, AssertSqlSafe, Connection as _, Executor as _, MySql, Sqlite};
use std::fmt::Write as _;
use std::sync::Arc;

/// A database and its dialect.
pub(crate) trait Engine: sqlx::Database {
    /// Whether only one connection writes at a time.
    const ONE_WRITER: bool;
    /// The upsert clause of an INSERT, up to the assignments.
    const ON_CONFLICT: &'static str;
    /// The statement that begins a transaction.
    const BEGIN: &'static str;
    /// The statement that empties a table, up to its name.
    const EMPTY: &'static str;

    /// The assignment of the value that could not be inserted.
    fn assigned(column: &str) -> String;
    fn add(arguments: &mut Self::Arguments, value: &Value) -> Result<(), sqlx::error::BoxDynError>;
    fn is_deadlock(error: &sqlx::Error) -> bool;
    /// Runs a statement without parameters.
    fn simple(
        connection: &mut Self::Connection,
        sql: &'static str,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
    /// Empties a kind's tables.
    fn empty(connection: &mut Self::Connection, table: &Table) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
    /// Runs a prepared statement. Unless it is `kept`, it is prepared each time.
    fn run(
        connection: &mut Self::Connection,
        sql: String,
        arguments: Self::Arguments,
        kept: bool,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
}

macro_rules! run {
    ($engine:ty) => {
        async fn simple(connection: &mut Self::Connection, sql: &'static str) -> Result<(), sqlx::Error> {
            connection.execute(sqlx::raw_sql(sql)).await.map(drop)
        }

        async fn empty(connection: &mut Self::Connection, table: &Table) -> Result<(), sqlx::Error> {
            for name in [table.name, table.companion(Companion::Labels), table.companion(Companion::Annotations)] {
                let sql = format!("{} {name}", Self::EMPTY);
                connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await?;
            }
            Ok(())
        }

        async fn run(
            connection: &mut Self::Connection,
            sql: String,
            arguments: Self::Arguments,
            kept: bool,
        ) -> Result<(), sqlx::Error> {
            let query = sqlx::query_with::<$engine, _>(AssertSqlSafe(sql), arguments).persistent(kept);
            connection.execute(query).await.map(drop)
        }
    };
}

macro_rules! add {
    ($arguments:ident, $value:ident, |$number:ident| $unsigned:expr) => {
        match $value {
            Value::Null => $arguments.add(None::<&str>),
            Value::Bool(value) => $arguments.add(*value),
            Value::Int(value) => $arguments.add(*value),
            Value::UInt($number) => $arguments.add($unsigned),
            Value::Double(value) => $arguments.add(*value),
            Value::Text(value) => $arguments.add(value.as_ref()),
            Value::Bytes(value) => $arguments.add(value.as_ref()),
            Value::Time(value) => $arguments.add(value.sql()),
        }
    };
}

impl Engine for MySql {
    run!(MySql);

    const ONE_WRITER: bool = false;
    const ON_CONFLICT: &'static str = "ON DUPLICATE KEY UPDATE";
    const BEGIN: &'static str = "START TRANSACTION";
    const EMPTY: &'static str = "TRUNCATE TABLE";

    fn assigned(column: &str) -> String {
        format!("`{column}` = VALUES(`{column}`)")
    }

    fn add(arguments: &mut Self::Arguments, value: &Value) -> Result<(), sqlx::error::BoxDynError> {
        add!(arguments, value, |number| *number)
    }

    fn is_deadlock(error: &sqlx::Error) -> bool {
        error.as_database_error().is_some_and(|error| error.code().as_deref() == Some("40001"))
    }
}

impl Engine for Sqlite {
    run!(Sqlite);

    const ONE_WRITER: bool = true;
    const ON_CONFLICT: &'static str = "ON CONFLICT DO UPDATE SET";
    const BEGIN: &'static str = "BEGIN IMMEDIATE";
    const EMPTY: &'static str = "DELETE FROM";

    fn assigned(column: &str) -> String {
        format!("`{column}` = excluded.`{column}`")
    }

    fn add(arguments: &mut Self::Arguments, value: &Value) -> Result<(), sqlx::error::BoxDynError> {
        add!(arguments, value, |number| number.cast_signed())
    }

    fn is_deadlock(_: &sqlx::Error) -> bool {
        false
    }
}

/// One parameter.
enum Param<'a> {
    Value(&'a Value),
    Text(&'a str),
    Time(Micros),
}

async fn execute<D: Engine>(
    connection: &mut D::Connection,
    sql: &str,
    params: impl IntoIterator<Item = Param<'_>>,
    kept: bool,
) -> Result<(), sqlx::Error> {
    let mut arguments = D::Arguments::default();
    for param in params {
        match param {
            Param::Value(value) => D::add(&mut arguments, value),
            Param::Text(text) => D::add(&mut arguments, &Value::text(text)),
            Param::Time(time) => D::add(&mut arguments, &Value::Time(time)),
        }
        .map_err(sqlx::Error::Encode)?;
    }
    D::run(connection, sql.to_owned(), arguments, kept).await
}

fn values(row: &Row, now: Micros) -> impl Iterator<Item = Param<'_>> {
    row.values.iter().enumerate().map(move |(place, value)| match place {
        base::UPDATE_TIME => Param::Time(now),
        base::DELETE_TIME => row.delete_time.map_or(Param::Value(value), Param::Time),
        _ => Param::Value(value),
    })
}

fn pairs(companion: Companion, row: &Row) -> &[(Box<str>, Box<str>)] {
    match companion {
        Companion::Labels => &row.labels,
        Companion::Annotations => &row.annotations,
        Companion::Values(many) => &row.many[many.place],
    }
}

fn companion_name(table: &Table, companion: Companion) -> String {
    let suffix = match companion {
        Companion::Labels => "labels",
        Companion::Annotations => "annotations",
        Companion::Values(many) => many.name.as_str(),
    };
    format!("{}_{suffix}", table.name)
}

/// An `INSERT` of some rows with these columns.
fn insert(table: &str, columns: &[String], rows: usize) -> String {
    let names: Vec<String> = columns.iter().map(|column| format!("`{column}`")).collect();
    let row = format!("({})", vec!["?"; columns.len()].join(", "));
    format!("INSERT INTO `{table}` ({}) VALUES {}", names.join(", "), vec![row; rows].join(", "))
}

fn upsert<D: Engine>(table: &str, columns: &[String], key: usize, rows: usize) -> String {
    let assigned: Vec<String> = columns[key..].iter().map(|column| D::assigned(column)).collect();
    format!("{} {} {}", insert(table, columns, rows), D::ON_CONFLICT, assigned.join(", "))
}

fn columns(table: &Table) -> Vec<String> {
    table.columns.iter().map(|column| column.name.to_string()).collect()
}

const PAIR: [&str; 3] = ["obj_uid", "key", "value"];

fn pair_columns() -> Vec<String> {
    PAIR.map(str::to_owned).to_vec()
}

async fn connect<D: Engine>(url: &str) -> Result<D::Connection> {
    let mut connection = D::Connection::connect(url).await?;
    if !D::ONE_WRITER {
        D::simple(&mut connection, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED").await?;
    }
    Ok(connection)
}

/// The reference system: each object in a transaction of its own, all labels and annotations deleted and inserted again
/// one by one. Each statement is prepared, run and closed: 24 round trips in all, with four labels and four
/// annotations.
pub(crate) struct Reference<D: Engine> {
    table: &'static Table,
    connections: Vec<Arc<tokio::sync::Mutex<D::Connection>>>,
}

impl<D: Engine> Reference<D> {
    pub(crate) async fn connect(url: &str, table: &'static Table, workers: usize) -> Result<Self> {
        let mut connections = Vec::new();
        for _ in 0..workers {
            connections.push(Arc::new(tokio::sync::Mutex::new(connect::<D>(url).await?)));
        }
        Ok(Reference { table, connections })
    }

    /// Writes the slices, each by its own worker. Returns the number of deadlocks.
    pub(crate) async fn write(&self, slices: &[Rows], phase: Phase) -> Result<u64> {
        let mut tasks = tokio::task::JoinSet::new();
        for (slice, connection) in slices.iter().zip(&self.connections) {
            let (slice, connection, table) = (slice.clone(), connection.clone(), self.table);
            tasks.spawn(async move {
                let mut connection = connection.lock().await;
                let mut deadlocks = 0;
                for row in &slice[phase as usize] {
                    // The victim of a deadlock has to start again.
                    while let Err(error) = Self::object(&mut connection, table, row, phase).await {
                        if !D::is_deadlock(&error) {
                            return Err(error.into());
                        }
                        deadlocks += 1;
                        D::simple(&mut connection, "ROLLBACK").await?;
                    }
                }
                anyhow::Ok(deadlocks)
            });
        }
        let mut deadlocks = 0;
        while let Some(task) = tasks.join_next().await {
            deadlocks += task??;
        }
        Ok(deadlocks)
    }

    async fn object(connection: &mut D::Connection, table: &Table, row: &Row, phase: Phase) -> Result<(), sqlx::Error> {
        let now = Micros::now();
        D::simple(connection, D::BEGIN).await?;
        let sql = upsert::<D>(table.name.as_str(), &columns(table), 1, 1);
        execute::<D>(connection, &sql, values(row, now), false).await?;
        if phase != Phase::Tombstone {
            for companion in Companion::OF_METADATA {
                let name = companion_name(table, companion);
                let sql = format!("DELETE FROM `{name}` WHERE obj_uid = ?");
                execute::<D>(connection, &sql, [Param::Text(&row.uid)], false).await?;
                let sql = insert(&name, &pair_columns(), 1);
                for (key, value) in pairs(companion, row) {
                    let params = [&row.uid, key, value].map(|text| Param::Text(text));
                    execute::<D>(connection, &sql, params, false).await?;
                }
            }
        }
        D::simple(connection, "COMMIT").await
    }
}

/// The fastest statements: many rows each, prepared once, and nothing is read. They rely on knowing what is new and
/// what has changed, which no mirror can.
pub(crate) struct Handmade<D: Engine> {
    table: &'static Table,
    connections: Vec<Arc<tokio::sync::Mutex<D::Connection>>>,
}

impl<D: Engine> Handmade<D> {
    pub(crate) async fn connect(url: &str, table: &'static Table, workers: usize) -> Result<Self> {
        let Reference { table, connections } = Reference::<D>::connect(url, table, workers).await?;
        Ok(Handmade { table, connections })
    }

    pub(crate) async fn write(&self, slices: &[Rows], phase: Phase, batch: usize) -> Result<()> {
        let mut tasks = tokio::task::JoinSet::new();
        for (slice, connection) in slices.iter().zip(&self.connections) {
            let (slice, connection, table) = (slice.clone(), connection.clone(), self.table);
            tasks.spawn(async move {
                let mut connection = connection.lock().await;
                let before = slice[(phase as usize).saturating_sub(1)].chunks(batch);
                // Only what is labelled anew needs to know what was there.
                let before = before.chain(std::iter::repeat(&[][..]));
                for (rows, before) in slice[phase as usize].chunks(batch).zip(before) {
                    D::simple(&mut connection, D::BEGIN).await?;
                    Self::batch(&mut connection, table, rows, before, phase).await?;
                    D::simple(&mut connection, "COMMIT").await?;
                }
                anyhow::Ok(())
            });
        }
        while let Some(task) = tasks.join_next().await {
            task??;
        }
        Ok(())
    }

    /// Inserts the main row of one object and commits it.
    pub(crate) async fn insert_one(&self, row: &Row) -> Result<()> {
        let mut connection = self.connections[0].lock().await;
        let sql = insert(self.table.name.as_str(), &columns(self.table), 1);
        Ok(execute::<D>(&mut connection, &sql, values(row, Micros::now()), true).await?)
    }

    /// Updates the main row of one object if it is older, and commits it. Labels and annotations stay.
    pub(crate) async fn update_one(&self, row: &Row, before: u64) -> Result<()> {
        let mut connection = self.connections[0].lock().await;
        let assigned: Vec<String> = columns(self.table)[1..].iter().map(|column| format!("`{column}` = ?")).collect();
        let sql =
            format!("UPDATE `{}` SET {} WHERE `uid` = ? AND `res_version` < ?", self.table.name, assigned.join(", "));
        let before = Value::UInt(before);
        let params = values(row, Micros::now()).skip(1).chain([Param::Text(&row.uid), Param::Value(&before)]);
        Ok(execute::<D>(&mut connection, &sql, params, true).await?)
    }

    async fn batch(
        connection: &mut D::Connection,
        table: &Table,
        rows: &[Row],
        before: &[Row],
        phase: Phase,
    ) -> Result<()> {
        let now = Micros::now();
        if phase == Phase::Tombstone {
            let mut sql = format!("UPDATE `{}` SET delete_time = ?, update_time = ? WHERE uid IN (?", table.name);
            (1..rows.len()).for_each(|_| sql.push_str(", ?"));
            sql.push(')');
            let times = [Param::Time(now), Param::Time(now)];
            let params = times.into_iter().chain(rows.iter().map(|row| Param::Text(&row.uid)));
            return Ok(execute::<D>(connection, &sql, params, true).await?);
        }
        let sql = match phase {
            Phase::Insert => insert(table.name.as_str(), &columns(table), rows.len()),
            _ => upsert::<D>(table.name.as_str(), &columns(table), 1, rows.len()),
        };
        execute::<D>(connection, &sql, rows.iter().flat_map(|row| values(row, now)), true).await?;
        for companion in Companion::OF_METADATA {
            let name = companion_name(table, companion);
            let (mut write, mut delete) = (Vec::new(), Vec::new());
            for (row, old) in rows.iter().zip(before) {
                let (now, old) = (pairs(companion, row), pairs(companion, old));
                if phase == Phase::Insert {
                    write.extend(now.iter().map(|(key, value)| [&row.uid, key, value]));
                } else if phase == Phase::Relabel && now != old {
                    write.extend(
                        now.iter().filter(|pair| !old.contains(pair)).map(|(key, value)| [&row.uid, key, value]),
                    );
                    let gone = old.iter().filter(|(key, _)| now.iter().all(|(other, _)| other != key));
                    delete.extend(gone.map(|(key, _)| [&row.uid, key]));
                }
            }
            if !delete.is_empty() {
                let mut sql = format!("DELETE FROM `{name}` WHERE (obj_uid, `key`) IN (");
                if D::ONE_WRITER {
                    sql.push_str("VALUES ");
                }
                for place in 0..delete.len() {
                    let _ = write!(sql, "{}(?, ?)", if place == 0 { "" } else { ", " });
                }
                sql.push(')');
                let params = delete.iter().flatten().map(|text| Param::Text(text));
                execute::<D>(connection, &sql, params, true).await?;
            }
            if !write.is_empty() {
                let sql = match phase {
                    Phase::Insert => insert(&name, &pair_columns(), write.len()),
                    _ => upsert::<D>(&name, &pair_columns(), 2, write.len()),
                };
                let params = write.iter().flatten().map(|text| Param::Text(text));
                execute::<D>(connection, &sql, params, true).await?;
            }
        }
        Ok(())
    }
}
