//! Statements as they come out, to be read; and the rule that there are none elsewhere.

use super::{Bookkeeping, Dialect, Param, Sql, Statement};
use crate::ddl::{Schema, TableDef};
use crate::schema::{Companion, Field, Ident, Shape, SqlType, Table, TableParts, base};
use crate::value::{Micros, Value};

const FIELDS: &[Field] = &[
    Field::new("owner", Shape::scalar(SqlType::VarChar(255))),
    Field::new("tier", Shape::scalar(SqlType::Int)).without_key(),
];
const PARTS: TableParts = TableParts { fields: [FIELDS, &[], &[]], keys: &[&["namespace", "owner"]] };
const COLUMNS: [crate::schema::Column; PARTS.column_count()] = PARTS.columns();
const KEYS: [crate::schema::Key; PARTS.key_count()] = PARTS.keys(&COLUMNS);
static TABLE: Table = Table { name: Ident::new("widget"), was: None, columns: &COLUMNS, keys: &KEYS };

#[test]
fn the_statements_of_each_dialect_read_well() {
    for dialect in Dialect::ALL {
        let mut text = String::from("-- create\n");
        text.push_str(&dialect.script(&dialect.create_all(&Schema { tables: TableDef::all(&TABLE) })));
        text.push_str("\n-- drop\n");
        text.push_str(&dialect.script([&dialect.drop(TABLE.name)]));
        let statements = [
            Statement::Versions,
            Statement::Insert,
            Statement::Overwrite,
            Statement::Update,
            Statement::Tombstone,
            Statement::Rewind,
            Statement::ReadPairs(Companion::Labels),
            Statement::WritePairs(Companion::Labels),
            Statement::DeletePairs(Companion::Annotations),
            Statement::Peek,
            Statement::Read,
            Statement::Live { of_namespace: false },
            Statement::Live { of_namespace: true },
            Statement::Names,
            Statement::Newest,
        ];
        for statement in statements {
            text.push_str(&format!("\n-- {statement:?} of 2\n"));
            text.push_str(&dialect.script([&dialect.statement(statement, &TABLE, 2)]));
        }
        let bookkeeping = [
            Bookkeeping::CreateRejects,
            Bookkeeping::AnyRejects,
            Bookkeeping::RecordRejects,
            Bookkeeping::ClearRejects,
            Bookkeeping::ReadRejects,
            Bookkeeping::CreateBackfills,
            Bookkeeping::ReadBackfills,
            Bookkeeping::BeginBackfill,
            Bookkeeping::StepBackfill,
            Bookkeeping::EndBackfill,
            Bookkeeping::ForgetBackfills,
            Bookkeeping::SettleMigration,
            Bookkeeping::ForgetMigration,
        ];
        for statement in bookkeeping {
            text.push_str(&format!("\n-- {statement:?} of 2\n"));
            text.push_str(&dialect.script([&dialect.bookkeeping(statement, 2)]));
        }
        text.push_str("\n-- fill of 2\n");
        let filled = &TABLE.indexed()[..2];
        text.push_str(&dialect.script([&dialect.fill_read(&TABLE, filled, 2), &dialect.fill_write(&TABLE, filled, 2)]));
        text.push_str("\n-- catalog\n");
        text.push_str(&dialect.script([&dialect.catalog_columns(), &dialect.catalog_keys()]));
        insta::assert_snapshot!(dialect.name(), text);
    }
}

#[test]
fn a_statement_has_as_many_parameters_as_it_says() {
    for dialect in Dialect::ALL {
        let parameters = |statement| dialect.statement(statement, &TABLE, 4).as_str().matches('?').count();
        assert_eq!(parameters(Statement::Versions), 4);
        assert_eq!(parameters(Statement::Insert), 4 * COLUMNS.len());
        assert_eq!(parameters(Statement::Overwrite), 4 * COLUMNS.len());
        assert_eq!(parameters(Statement::Update), COLUMNS.len() - 1 + 2);
        assert_eq!(parameters(Statement::Tombstone), 4 * 4);
        assert_eq!(parameters(Statement::Rewind), 4);
        assert_eq!(parameters(Statement::ReadPairs(Companion::Annotations)), 4);
        assert_eq!(parameters(Statement::WritePairs(Companion::Annotations)), 12);
        assert_eq!(parameters(Statement::DeletePairs(Companion::Labels)), 8);
        assert_eq!(parameters(Statement::Read), 4);
        assert_eq!(parameters(Statement::Live { of_namespace: false }), 1);
        assert_eq!(parameters(Statement::Live { of_namespace: true }), 2);
        assert_eq!(parameters(Statement::Names), 4);
        assert_eq!(parameters(Statement::Newest), 0);
        assert_eq!(dialect.bookkeeping(Bookkeeping::ReadRejects, 4).as_str().matches('?').count(), 2);
        assert_eq!(dialect.bookkeeping(Bookkeeping::RecordRejects, 4).as_str().matches('?').count(), 32);
    }
    assert_eq!(COLUMNS.len(), base::JSON + 3);
}

#[test]
fn a_text_of_several_statements_has_its_values_in_it() {
    let values = [
        Value::Null,
        Value::Bool(true),
        Value::Int(i64::MIN),
        Value::UInt(u64::MAX),
        Value::Double(-0.5),
        Value::Double(1e300),
        Value::text("it's a \\ and a \0, \"Grüße\" ?"),
        Value::Bytes([0, 1, 0xff].into()),
        Value::Time(Micros(1_773_088_606_500_000)),
    ];
    let mut params: Vec<Param<'_>> = values.iter().map(Param::Value).collect();
    params.extend([Param::Text("'"), Param::UInt(7), Param::Time(Micros(0)), Param::Null]);
    let sql = |count: usize| Sql::new(format!("VALUES ({})", vec!["?"; count].join(", ")));
    let statements = vec![(sql(params.len()), params), (sql(1), vec![Param::Text("")])];
    assert_eq!(
        Dialect::MySql.at_once(|| statements).unwrap().as_str(),
        "START TRANSACTION; VALUES (NULL, 1, -9223372036854775808, 18446744073709551615, -5e-1, 1e300, \
         'it\\'s a \\\\ and a \\0, \"Grüße\" ?', x'0001ff', '2026-03-09 20:36:46.500000', \
         '\\'', 7, '1970-01-01 00:00:00.000000', NULL); VALUES (''); COMMIT"
    );
    assert_eq!(Dialect::Sqlite.at_once(|| unreachable!("nobody needs them")), None);
}

#[test]
fn index_names_in_sqlite_stay_apart_and_short() {
    let long = |c: char| c.to_string().repeat(52);
    let names: std::collections::HashSet<String> = [("a", long('k')), ("b", long('k')), ("a", long('l'))]
        .iter()
        .map(|(table, key)| {
            super::sqlite::index_name(Ident::new(&long(table.chars().next().unwrap())), Ident::new(key))
        })
        .map(|name| name.to_string())
        .collect();
    assert_eq!(names.len(), 3);
}

/// SQL outside this folder is SQL that nobody reviews as such.
#[test]
fn there_is_no_sql_elsewhere() {
    fn walk(folder: &std::path::Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                // The dialects, and code that only tests run.
                if !path.ends_with("src/dialect") && !path.ends_with("tests") {
                    walk(&path, found);
                }
                continue;
            }
            if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                // A file's own tests come last in it.
                for (number, line) in text.lines().take_while(|line| *line != "#[cfg(test)]").enumerate() {
                    let code = line.trim_start();
                    let words =
                        ["SELECT ", "INSERT ", "UPDATE ", "DELETE FROM", "CREATE TABLE", "ALTER TABLE", "DROP TABLE"];
                    let begins = |word: &&str| {
                        ["\"", "(\"", "`", "r#\""].iter().any(|quote| code.contains(&format!("{quote}{word}")))
                    };
                    if !code.starts_with("//") && words.iter().any(begins) {
                        found.push(format!("{}:{}: {code}", path.display(), number + 1));
                    }
                }
            }
        }
    }
    let mut found = Vec::new();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for package in ["ingester-core/src", "ingester-bin/src", "ingester-macros/src", "crd-specs/src"] {
        walk(&root.join(package), &mut found);
    }
    assert!(found.is_empty(), "SQL belongs into ingester-core/src/dialect/templates:\n{}", found.join("\n"));
}
