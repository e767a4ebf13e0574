//! The cost of a change, compared with the server's actual work. PostgreSQL's catalog shows it: a table or key that is rewritten has another file.
//! MySQL's and MariaDB's statements name the cost, and the server refuses one that is higher.

use crate::kinds::connect;
use anyhow::{Context as _, Result, ensure};
use ingester_core::schema::{Ident, SqlType, Stays};
use ingester_sql::ddl::{ColumnDef, Cost, KeyDef, Schema, SchemaChange, ServerVersion, TableDef, diff, plan};
use ingester_sql::dialect::Dialect;
use ingester_tests::databases::Database;
use ingester_tests::on_databases;
use std::collections::BTreeMap;

on_databases! { (a_change_writes_anew_what_its_cost_says) [postgres Postgres] }

/// The server's work for a change.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ServerWork {
    /// It changes only the catalog.
    Nothing,
    /// It reads the table, while writers wait.
    Reads,
    /// It rewrites the table, while writers wait.
    Rewrites,
    /// It creates a new key.
    Adds,
}

fn column(name: &str, ty: SqlType, nullable: bool) -> ColumnDef {
    ColumnDef { name: Ident::new(name), was: None, ty, nullable, stays: Stays::None }
}

/// A table `job` with a uid and these columns.
fn table(columns: &[ColumnDef], keys: &[&str]) -> TableDef {
    let uid = column("uid", SqlType::VarChar(64), false);
    TableDef {
        name: Ident::new("job"),
        was: Vec::new(),
        columns: [&[uid], columns].concat(),
        primary_key: vec![uid.name],
        keys: keys.iter().map(|name| KeyDef { name: Ident::new(name), columns: vec![Ident::new(name)] }).collect(),
    }
}

fn schema(table: TableDef) -> Schema {
    Schema { tables: vec![table], views: Vec::new() }
}

/// The files of the table and of its keys, by name.
async fn files(database: &Database) -> Result<BTreeMap<String, String>> {
    let sql = "SELECT relname, pg_relation_filenode(oid) FROM pg_class
               WHERE relkind IN ('r', 'i') AND relnamespace = CAST(CURRENT_SCHEMA() AS regnamespace)";
    let rows = database.sql(sql).await?.into_iter();
    rows.map(|row| Ok((row[0].clone().context("a name")?, row[1].clone().context("a file")?))).collect()
}

async fn a_change_writes_anew_what_its_cost_says(database: Database) -> Result<()> {
    use ServerWork::{Adds, Nothing, Reads, Rewrites};
    use SqlType::{BigInt, Boolean, DateTime, Double, Int, MediumText, VarChar};
    let server = ServerVersion::parse(connect(&database).await?.server());
    let owner = |ty, nullable| table(&[column("owner", ty, nullable)], &["owner"]);
    let renamed = TableDef { name: Ident::new("task"), was: vec![Ident::new("job")], ..owner(VarChar(40), true) };
    let mut renamed_column = table(&[column("user", VarChar(40), true)], &["user"]);
    renamed_column.columns[1].was = Some(Ident::new("owner"));
    let two = |ty, nullable| table(&[column("owner", VarChar(40), true), column("more", ty, nullable)], &["owner"]);
    for (before, after, does) in [
        (owner(VarChar(40), true), two(VarChar(255), true), Nothing),
        (owner(VarChar(40), true), two(BigInt, false), Nothing),
        (owner(VarChar(40), true), two(Boolean, false), Nothing),
        (two(DateTime, true), owner(VarChar(40), true), Nothing),
        (owner(VarChar(40), true), renamed, Nothing),
        (owner(VarChar(40), true), renamed_column, Nothing),
        (owner(VarChar(40), true), owner(VarChar(60), true), Nothing),
        (owner(VarChar(40), true), owner(VarChar(200), true), Nothing),
        (owner(VarChar(40), true), owner(MediumText, true), Nothing),
        (owner(Int, true), owner(BigInt, true), Nothing),
        (owner(BigInt, false), owner(BigInt, true), Nothing),
        (owner(BigInt, true), owner(BigInt, false), Reads),
        (owner(Int, true), owner(Double, true), Rewrites),
        (table(&[column("owner", VarChar(40), true)], &[]), owner(VarChar(40), true), Adds),
        (owner(VarChar(40), true), table(&[column("owner", VarChar(40), true)], &[]), Nothing),
    ] {
        database.sql("DROP TABLE IF EXISTS job; DROP TABLE IF EXISTS task").await?;
        let before = schema(before);
        let after = schema(after);
        for sql in Dialect::Postgres.create_all(&before) {
            database.sql(sql.as_str()).await?;
        }
        database
            .sql(
                "INSERT INTO job (uid, owner) SELECT n, n FROM generate_series(1, 100) AS n"
                    .replace("n, n", cast(&before))
                    .as_str(),
            )
            .await?;
        let changes = retyped(diff(&before, &after), &before, &after);
        let costs: Vec<Cost> = changes.iter().map(|change| change.cost(server, &changes)).collect();
        let cost = costs.iter().copied().max().context("a change")?;
        let had = files(&database).await?;
        for step in plan(&before, &changes) {
            for sql in Dialect::Postgres.step(&step, &changes) {
                database.sql(sql.as_str()).await.with_context(|| sql.as_str().to_owned())?;
            }
        }
        let has = files(&database).await?;
        let name = after.tables[0].name.as_str();
        let table_is_new = has.get(name) != had.get("job");
        let new = has.values().filter(|file| !had.values().any(|before| before == *file)).count();
        let case = format!("{changes:?}: {cost:?}, {had:?}, {has:?}");
        match does {
            Nothing => ensure!(cost == Cost::Instant && new == 0, "{case}"),
            Reads => ensure!(cost == Cost::Copy && new == 0, "{case}"),
            Rewrites => ensure!(cost == Cost::Copy && table_is_new, "{case}"),
            Adds => ensure!(cost == Cost::InPlace && new == 1 && !table_is_new, "{case}"),
        }
    }
    Ok(())
}

/// A row's values of the columns `uid` and `owner`, from a number.
fn cast(schema: &Schema) -> &'static str {
    match schema.tables[0].columns[1].ty {
        SqlType::VarChar(_) => "CAST(n AS TEXT), CAST(n AS TEXT)",
        _ => "CAST(n AS TEXT), n",
    }
}

/// The changes; if they drop a column and add it again, a change of its type, which is what the server can do.
fn retyped(changes: Vec<SchemaChange>, before: &Schema, after: &Schema) -> Vec<SchemaChange> {
    let is_dropped = changes.iter().any(|change| matches!(change, SchemaChange::DropColumn { column, .. } if after.tables[0].columns.iter().any(|other| other.name == column.name)));
    if !is_dropped {
        return changes;
    }
    let table = before.tables[0].name;
    let from = before.tables[0].columns[1];
    let to = after.tables[0].columns[1];
    vec![SchemaChange::Retype { table, from, to }]
}
