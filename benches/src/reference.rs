//! The baselines: the statements of the reference system, and the fastest statements without semantics.

mod postgres;

use crate::store::{Operation, Rows};
use anyhow::Result;
use ingester_core::row::Row;
use ingester_core::schema::{Companion, SqlType, Table, base};
use ingester_core::value::{Micros, Value};
use sqlx::{Arguments as _, AssertSqlSafe, Connection as _, Executor as _, MySql, Sqlite};
use std::sync::Arc;

/// A database and its dialect.
pub(crate) trait Engine: sqlx::Database {
    /// Only one connection writes at a time.
    const ONE_WRITER: bool;
    /// The statement that a new connection begins with.
    const SESSION: Option<&'static str>;
    /// The statement that begins a transaction.
    const BEGIN: &'static str;
    /// The statement that empties a table, up to its name.
    const EMPTY: &'static str;
    /// The statement that counts a table's rows again, up to the table's name.
    const ANALYZE: &'static str;
    /// The query for the bytes that the table with a name has on disk, with its keys; `None` where the server does not report them.
    const SIZE: Option<&'static str>;

    /// The text of a statement, which has backticks, `?` and `CAST(... AS CHAR)`, in its spelling.
    fn spelled(sql: &str) -> String {
        sql.to_owned()
    }
    /// The upsert clause of an INSERT into a table with this key, up to the assignments.
    fn on_conflict(key: &[String]) -> String;
    /// The assignment of the value that could not be inserted.
    fn assigned(column: &str) -> String;
    /// The end of an INSERT, after its columns. Here and in the conditions, the parameters come from [`Engine::add_rows`].
    fn render_rows(columns: usize, rows: usize) -> String {
        format!("VALUES {}", lists(columns, rows))
    }
    /// The condition of a column that has one of some texts.
    fn one_of(rows: usize) -> String {
        format!("IN {}", lists(rows, 1))
    }
    /// The condition of two columns that have one of some pairs of texts.
    fn pairs_of(rows: usize) -> String {
        format!("IN ({})", lists(2, rows))
    }
    fn add(arguments: &mut Self::Arguments, value: &Value) -> Result<(), sqlx::error::BoxDynError>;
    /// Adds the parameters of rows with columns of these types, row by row.
    fn add_rows(
        arguments: &mut Self::Arguments,
        _types: &[SqlType],
        rows: &[Param<'_>],
    ) -> Result<(), sqlx::error::BoxDynError> {
        rows.iter().try_for_each(|param| param.add::<Self>(arguments))
    }
    fn is_deadlock(error: &sqlx::Error) -> bool;
    /// The one text that a kept statement with a text as its parameter gives.
    fn fetch_text(
        connection: &mut Self::Connection,
        sql: String,
        parameter: &str,
    ) -> impl Future<Output = Result<String, sqlx::Error>> + Send;
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

        async fn fetch_text(
            connection: &mut Self::Connection,
            sql: String,
            parameter: &str,
        ) -> Result<String, sqlx::Error> {
            sqlx::query_scalar::<$engine, _>(AssertSqlSafe(sql)).bind(parameter.to_owned()).fetch_one(connection).await
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

use run;

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
    const SESSION: Option<&'static str> = Some("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
    const BEGIN: &'static str = "START TRANSACTION";
    const EMPTY: &'static str = "TRUNCATE TABLE";
    const ANALYZE: &'static str = "ANALYZE TABLE";
    const SIZE: Option<&'static str> = Some(
        "SELECT CAST(data_length + index_length AS CHAR) FROM information_schema.tables \
         WHERE table_schema = DATABASE() AND table_name = ?",
    );

    fn on_conflict(_: &[String]) -> String {
        "ON DUPLICATE KEY UPDATE".to_owned()
    }

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
    const SESSION: Option<&'static str> = None;
    const BEGIN: &'static str = "BEGIN IMMEDIATE";
    const EMPTY: &'static str = "DELETE FROM";
    const ANALYZE: &'static str = "ANALYZE";
    const SIZE: Option<&'static str> = None;

    fn on_conflict(_: &[String]) -> String {
        "ON CONFLICT DO UPDATE SET".to_owned()
    }

    fn assigned(column: &str) -> String {
        format!("`{column}` = excluded.`{column}`")
    }

    fn pairs_of(rows: usize) -> String {
        format!("IN ({})", Self::render_rows(2, rows))
    }

    fn add(arguments: &mut Self::Arguments, value: &Value) -> Result<(), sqlx::error::BoxDynError> {
        add!(arguments, value, |number| number.cast_signed())
    }

    fn is_deadlock(_: &sqlx::Error) -> bool {
        false
    }
}

/// Lists of parameters, each in parentheses.
fn lists(params: usize, lists: usize) -> String {
    let list = format!("({})", vec!["?"; params].join(", "));
    vec![list; lists].join(", ")
}

/// One parameter.
#[derive(Clone, Copy)]
pub(crate) enum Param<'a> {
    Value(&'a Value),
    Text(&'a str),
    Time(Micros),
}

impl Param<'_> {
    fn add<D: Engine>(&self, arguments: &mut D::Arguments) -> Result<(), sqlx::error::BoxDynError> {
        match self {
            Param::Value(value) => D::add(arguments, value),
            Param::Text(text) => D::add(arguments, &Value::text(*text)),
            Param::Time(time) => D::add(arguments, &Value::Time(*time)),
        }
    }
}

async fn execute<D: Engine>(
    connection: &mut D::Connection,
    sql: &str,
    params: impl IntoIterator<Item = Param<'_>>,
    kept: bool,
) -> Result<(), sqlx::Error> {
    let mut arguments = D::Arguments::default();
    for param in params {
        param.add::<D>(&mut arguments).map_err(sqlx::Error::Encode)?;
    }
    D::run(connection, D::spelled(sql), arguments, kept).await
}

/// Runs a kept statement whose last parameters are rows with columns of these types.
async fn execute_rows<D: Engine>(
    connection: &mut D::Connection,
    sql: &str,
    params: &[Param<'_>],
    (types, rows): (&[SqlType], Vec<Param<'_>>),
) -> Result<(), sqlx::Error> {
    let mut arguments = D::Arguments::default();
    for param in params {
        param.add::<D>(&mut arguments).map_err(sqlx::Error::Encode)?;
    }
    D::add_rows(&mut arguments, types, &rows).map_err(sqlx::Error::Encode)?;
    D::run(connection, D::spelled(sql), arguments, true).await
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

/// An `INSERT` of `rows` with these columns.
fn insert(table: &str, columns: &[String], rows: &str) -> String {
    format!("INSERT INTO `{table}` (`{}`) {rows}", columns.join("`, `"))
}

fn upsert<D: Engine>(table: &str, columns: &[String], key: usize, rows: &str) -> String {
    let (key, others) = columns.split_at(key);
    let assigned: Vec<String> = others.iter().map(|column| D::assigned(column)).collect();
    format!("{} {} {}", insert(table, columns, rows), D::on_conflict(key), assigned.join(", "))
}

/// A single row, which has no arrays in any dialect.
fn one_row(columns: &[String]) -> String {
    format!("VALUES {}", lists(columns.len(), 1))
}

fn columns(table: &Table) -> Vec<String> {
    table.columns.iter().map(|column| column.name.to_string()).collect()
}

fn types(table: &Table) -> Vec<SqlType> {
    table.columns.iter().map(|column| column.ty).collect()
}

const PAIR: [&str; 3] = ["obj_uid", "key", "value"];
const PAIR_TYPES: [SqlType; 3] = [SqlType::Text; 3];

fn pair_columns() -> Vec<String> {
    PAIR.map(str::to_owned).to_vec()
}

async fn connect<D: Engine>(url: &str) -> Result<D::Connection> {
    let mut connection = D::Connection::connect(url).await?;
    if let Some(session) = D::SESSION {
        D::simple(&mut connection, session).await?;
    }
    Ok(connection)
}

/// The reference system: each object in its own transaction, all labels and annotations deleted and inserted again
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

    /// Writes each slice with a separate worker. Returns the number of deadlocks.
    pub(crate) async fn write(&self, slices: &[Rows], phase: Operation) -> Result<u64> {
        let mut tasks = tokio::task::JoinSet::new();
        for (slice, connection) in slices.iter().zip(&self.connections) {
            let slice = slice.clone();
            let connection = connection.clone();
            let table = self.table;
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

    async fn object(
        connection: &mut D::Connection,
        table: &Table,
        row: &Row,
        phase: Operation,
    ) -> Result<(), sqlx::Error> {
        let now = Micros::now();
        D::simple(connection, D::BEGIN).await?;
        let columns = columns(table);
        let pair = pair_columns();
        let sql = upsert::<D>(table.name.as_str(), &columns, 1, &one_row(&columns));
        execute::<D>(connection, &sql, values(row, now), false).await?;
        if phase != Operation::Tombstone {
            for companion in Companion::OF_METADATA {
                let name = companion_name(table, companion);
                let sql = format!("DELETE FROM `{name}` WHERE obj_uid = ?");
                execute::<D>(connection, &sql, [Param::Text(&row.uid)], false).await?;
                let sql = insert(&name, &pair, &one_row(&pair));
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

    pub(crate) async fn write(&self, slices: &[Rows], phase: Operation, batch: usize) -> Result<()> {
        let mut tasks = tokio::task::JoinSet::new();
        for (slice, connection) in slices.iter().zip(&self.connections) {
            let slice = slice.clone();
            let connection = connection.clone();
            let table = self.table;
            tasks.spawn(async move {
                let mut connection = connection.lock().await;
                let before = slice[(phase as usize).saturating_sub(1)].chunks(batch);
                // Only the relabelling needs to know what was there.
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
        let columns = columns(self.table);
        let sql = insert(self.table.name.as_str(), &columns, &one_row(&columns));
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
        phase: Operation,
    ) -> Result<()> {
        let now = Micros::now();
        if phase == Operation::Tombstone {
            let condition = D::one_of(rows.len());
            let sql = format!("UPDATE `{}` SET delete_time = ?, update_time = ? WHERE uid {condition}", table.name);
            let uids = rows.iter().map(|row| Param::Text(&row.uid)).collect();
            let times = [Param::Time(now), Param::Time(now)];
            return Ok(execute_rows::<D>(connection, &sql, &times, (&PAIR_TYPES[..1], uids)).await?);
        }
        let columns = columns(table);
        let source = D::render_rows(columns.len(), rows.len());
        let sql = match phase {
            Operation::Insert => insert(table.name.as_str(), &columns, &source),
            _ => upsert::<D>(table.name.as_str(), &columns, 1, &source),
        };
        let params = rows.iter().flat_map(|row| values(row, now)).collect();
        execute_rows::<D>(connection, &sql, &[], (&types(table), params)).await?;
        for companion in Companion::OF_METADATA {
            let name = companion_name(table, companion);
            let mut write = Vec::new();
            let mut delete = Vec::new();
            for (row, old) in rows.iter().zip(before) {
                let now = pairs(companion, row);
                let old = pairs(companion, old);
                if phase == Operation::Insert {
                    write.extend(now.iter().map(|(key, value)| [&row.uid, key, value]));
                } else if phase == Operation::Relabel && now != old {
                    write.extend(
                        now.iter().filter(|pair| !old.contains(pair)).map(|(key, value)| [&row.uid, key, value]),
                    );
                    let gone = old.iter().filter(|(key, _)| now.iter().all(|(other, _)| other != key));
                    delete.extend(gone.map(|(key, _)| [&row.uid, key]));
                }
            }
            if !delete.is_empty() {
                let sql = format!("DELETE FROM `{name}` WHERE (obj_uid, `key`) {}", D::pairs_of(delete.len()));
                let params = delete.iter().flatten().map(|text| Param::Text(text)).collect();
                execute_rows::<D>(connection, &sql, &[], (&PAIR_TYPES[..2], params)).await?;
            }
            if !write.is_empty() {
                let pair = pair_columns();
                let source = D::render_rows(PAIR.len(), write.len());
                let sql = match phase {
                    Operation::Insert => insert(&name, &pair, &source),
                    _ => upsert::<D>(&name, &pair, 2, &source),
                };
                let params = write.iter().flatten().map(|text| Param::Text(text)).collect();
                execute_rows::<D>(connection, &sql, &[], (&PAIR_TYPES, params)).await?;
            }
        }
        Ok(())
    }
}
