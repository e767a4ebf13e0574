//! Snapshots of the statements for review, and the rule that SQL is nowhere else.

use super::{Access, Dialect, Param, Sql, Statement, TransactionForm, own_schema};
use crate::ddl::{Schema, TableDef};
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_core::schema::{Field, Form, History, Ident, Many, Shape, SqlType, Stays, Table, TableParts, base};
use ingester_core::value::{Micros, Value, Values};
use std::path::Path;

const FIELDS: &[Field] = &[
    Field::new("owner", Shape::scalar(SqlType::VarChar(255))),
    Field::new("tier", Shape::scalar(SqlType::Int)).without_key(),
];
const PARTS: TableParts = TableParts { keys: &[&["namespace", "owner"]], ..TableParts::of(FIELDS) };
const COLUMNS: [ingester_core::schema::Column; PARTS.column_count()] = PARTS.columns();
const KEYS: [ingester_core::schema::Key; PARTS.key_count()] = PARTS.keys(&COLUMNS);

/// The table in the statements' tests.
pub(super) static TABLE: Table = Table {
    kind: "Widget",
    name: Ident::new("widget"),
    was: None,
    columns: &COLUMNS,
    many: &[],
    keys: &KEYS,
    companions: true,
    history: None,
};

/// A list of texts.
pub(super) static LIST: Many =
    Many::derived(Ident::new("tags"), None, Form::List, SqlType::VarChar(128), None, false, 0);

/// A map of integers.
pub(super) static MAP: Many = Many::derived(Ident::new("limits"), None, Form::Map, SqlType::BigInt, None, false, 1);

/// The same table with columns of many values.
static OF_MANY: Table = TABLE.with_many(&[LIST, MAP]).without_companions();

const STAYING_PARTS: TableParts =
    TableParts::of(const { &[FIELDS[0].stays(Stays::Keep), FIELDS[1].stays(Stays::First)] });
const STAYING_COLUMNS: [ingester_core::schema::Column; STAYING_PARTS.column_count()] = STAYING_PARTS.columns();

/// The same table with values that stay.
pub(super) static STAYING: Table = Table {
    kind: "Widget",
    name: Ident::new("widget"),
    was: None,
    columns: &STAYING_COLUMNS,
    many: &[],
    keys: &KEYS,
    companions: true,
    history: None,
};

const FORMER_COLUMNS: [ingester_core::schema::Column; TABLE.former_column_count()] = TABLE.former_columns();
const FORMER_KEYS: [ingester_core::schema::Key; TABLE.former_key_count()] = TABLE.former_keys();

/// The table of the history of [`TABLE`].
pub(super) static FORMER: Table = TABLE.former(&FORMER_COLUMNS, &FORMER_KEYS);

/// The same table with a history.
pub(super) static WITH_HISTORY: Table = TABLE.with_history(History { keep: None, versions: None, table: &FORMER });

pub(super) const LEDGER: Ident = Ident::new("_sqlx_migrations");

pub(super) const UIDS: &[&str] = &["a", "b"];

pub(super) const NOW: Micros = Micros(1_773_088_606_500_000);

/// A row of [`TABLE`].
pub(super) fn row() -> Row {
    let text = r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","uid":"a"}}"#;
    let object = Object::parse(text, ManagedFields::Keep).unwrap();
    let mut values = Values::with_capacity(2);
    values.push(Value::text("ann"));
    values.push(Value::Int(1));
    Row::new(&TABLE, 3, &object, None, values).unwrap()
}

/// Compares a statement in each dialect with the snapshot of the statement's name.
pub(super) fn snapshot<S: Statement>(statement: &S) {
    let name = std::any::type_name::<S>();
    let name = name.split('<').next().and_then(|name| name.rsplit("::").next()).unwrap();
    snapshot_of(name, &[statement]);
}

/// As [`snapshot`], for a statement with several forms.
pub(super) fn snapshot_of(name: &str, statements: &[&dyn Statement]) {
    snapshot_on(Dialect::ALL, name, statements);
}

/// As [`snapshot_of`], for statements that the other dialects do not have.
pub(super) fn snapshot_on(dialects: impl IntoIterator<Item = Dialect>, name: &str, statements: &[&dyn Statement]) {
    let mut text = String::new();
    for dialect in dialects {
        for statement in statements {
            let sql = statement.sql(dialect);
            assert_eq!(
                statement.params_in(dialect).len(),
                count_of_parameters(sql.as_str()),
                "parameters of {name}, {dialect}"
            );
            // A double quote within text would be replaced as if it belonged to a name.
            assert!(
                !sql.as_str().split('\'').skip(1).step_by(2).any(|text| text.contains(['"', '`'])),
                "{name}, {dialect}"
            );
            text.push_str(&format!("-- {dialect}\n{};\n\n", sql.as_str()));
        }
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "snapshots" }, {
        insta::assert_snapshot!(name, text);
    });
}

/// How many parameters a text has: question marks, or numbers from `$1` on.
fn count_of_parameters(sql: &str) -> usize {
    let number =
        |behind: &str| behind.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok());
    let numbers: Vec<usize> = sql.split('$').skip(1).filter_map(number).collect();
    assert!(numbers.iter().enumerate().all(|(place, number)| *number == place + 1), "{sql}");
    sql.matches('?').count() + numbers.len()
}

#[test]
fn every_statement_has_a_snapshot() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/dialect");
    for file in std::fs::read_dir(folder.join("statements")).unwrap() {
        let file = file.unwrap().path();
        let name = file.file_stem().unwrap().to_str().unwrap();
        if matches!(name, "mod" | "tests") {
            continue;
        }
        let camel: String = name.split('_').map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect();
        let snapshot = folder.join(format!("snapshots/{camel}.snap"));
        assert!(snapshot.is_file(), "{} has no snapshot: add a row to statements/tests.rs", file.display());
    }
}

#[test]
fn definitions_read_well() {
    for dialect in Dialect::ALL {
        let mut text = String::from("-- create\n");
        text.push_str(
            &dialect.script(&dialect.create_all(&Schema { tables: TableDef::all(&TABLE), views: Vec::new() })),
        );
        text.push_str("\n-- drop\n");
        text.push_str(&dialect.script([&dialect.drop(TABLE.name)]));
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("definitions_{dialect}"), text);
        });
    }
    assert_eq!(COLUMNS.len(), base::JSON + 3);
}

#[test]
fn our_own_tables_read_well() {
    let mut text = String::new();
    for dialect in Dialect::ALL {
        text.push_str(&format!("-- {dialect}\n"));
        let own = own_schema(dialect).tables;
        text.push_str(
            &dialect.script(&own.iter().flat_map(|own| dialect.create_own(own.name.as_str())).collect::<Vec<_>>()),
        );
        text.push('\n');
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("definitions_of_our_own", text);
    });
}

#[test]
fn tables_of_many_values_read_well() {
    let mut text = String::new();
    for dialect in Dialect::ALL {
        let tables = TableDef::all(&OF_MANY).split_off(1);
        text.push_str(&format!("-- {dialect}\n"));
        text.push_str(&dialect.script(&dialect.create_all(&Schema { tables, views: Vec::new() })));
        text.push('\n');
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("definitions_of_many_values", text);
    });
}

#[test]
fn views_read_well() {
    use crate::ddl::{ConditionDef, ExpressionDef, LiteralDef, SourceDef, ViewColumnDef, ViewDef};
    use ingester_core::view::ViewType;
    let column = |name: &str| ExpressionDef::Column(Ident::new(name));
    let text = |text: &str| LiteralDef::Text(text.into());
    let one_of = |not: bool| {
        let is = ConditionDef::OneOf(column("owner"), vec![text("it's"), text("\"x\" `y` ?")]);
        if not { ConditionDef::Not(is.into()) } else { is }
    };
    let state = |state: ConditionDef| {
        ExpressionDef::Case(
            vec![
                (state.clone(), ExpressionDef::Literal(LiteralDef::Integer(1))),
                (ConditionDef::Not(state.into()), ExpressionDef::Literal(LiteralDef::Integer(0))),
            ],
            ExpressionDef::Null.into(),
        )
    };
    let source =
        |table: &str, values: Vec<ExpressionDef>, filter| SourceDef { table: Ident::new(table), values, filter };
    let columns = ["live", "evicted", "deleted", "owner", "kind", "time", "tier", "nothing", "lines"];
    let types = [ViewType::Integer, ViewType::Integer, ViewType::Integer, ViewType::Text, ViewType::Text];
    let types = types.into_iter().chain([ViewType::Time, ViewType::Integer, ViewType::Text, ViewType::Text]);
    let states = [ConditionDef::Live, ConditionDef::Evicted, ConditionDef::Deleted];
    let mut first: Vec<ExpressionDef> = states.into_iter().map(state).collect();
    let mut second = first.clone();
    first.extend([
        ExpressionDef::Coalesce(vec![
            ExpressionDef::Setting("owner".into()),
            column("owner"),
            ExpressionDef::Literal(text("nobody")),
        ]),
        ExpressionDef::Literal(text("Widget")),
        column("create_time"),
        ExpressionDef::Cast(column("owner").into(), ViewType::Integer),
        ExpressionDef::Null,
        ExpressionDef::Concat(vec![ExpressionDef::Literal(text("owner:\n")), column("owner")]),
    ]);
    second.extend([
        ExpressionDef::Cast(column("tier").into(), ViewType::Text),
        ExpressionDef::Literal(text("Gadget")),
        ExpressionDef::Cast(column("owner").into(), ViewType::Time),
        column("tier"),
        ExpressionDef::Null,
        ExpressionDef::Literal(text("one\n\ntwo\n")),
    ]);
    let filter = |not| {
        let other = ConditionDef::Any(vec![ConditionDef::Null(column("tier")), ConditionDef::Deleted]);
        let stored = ConditionDef::Stored(column("owner"), vec![Ident::new("widget"), Ident::new("gadget")]);
        let all = ConditionDef::All(vec![one_of(not), other, stored]);
        Some(if not { ConditionDef::Not(all.into()) } else { all })
    };
    let view = ViewDef {
        name: Ident::new("everything"),
        columns: columns.iter().zip(types).map(|(name, ty)| ViewColumnDef { name: Ident::new(name), ty }).collect(),
        sources: vec![source("widget", first, filter(false)), source("gadget", second, filter(true))],
    };
    for dialect in Dialect::ALL {
        let mut script = dialect.script(&dialect.create_views(std::slice::from_ref(&view)));
        script.push_str(&dialect.script([&dialect.drop_view(view.name)]));
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("views_{dialect}"), script);
        });
    }
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
    params.extend([Param::Text("'"), Param::UInt(7), Param::Int(-7), Param::Time(Micros(0)), Param::Null]);
    let statements: [&dyn Statement; 2] = [&List(params), &List(vec![Param::Text("")])];
    let sequence = Dialect::MySql.in_one_text(TransactionForm::Sequence, &statements).unwrap();
    assert_eq!(
        sequence.as_str(),
        "START TRANSACTION; VALUES (NULL, 1, -9223372036854775808, 18446744073709551615, -5e-1, 1e300, \
         'it\\'s a \\\\ and a \\0, \"Grüße\" ?', x'0001ff', '2026-03-09 20:36:46.500000', \
         '\\'', 7, -7, '1970-01-01 00:00:00.000000', NULL); VALUES (''); COMMIT"
    );
    let compound = Dialect::MySql.in_one_text(TransactionForm::Compound, &statements).unwrap();
    assert_eq!(compound.as_str(), format!("BEGIN NOT ATOMIC {}; END", sequence.as_str()));
    assert_eq!(Dialect::Sqlite.in_one_text(TransactionForm::Sequence, &statements), None);
    // Without BEGIN: the text is a transaction by itself.
    let postgres = Dialect::Postgres.in_one_text(TransactionForm::Sequence, &statements).unwrap();
    assert_eq!(
        postgres.as_str(),
        "VALUES (NULL, TRUE, (-9223372036854775808), 18446744073709551615, '-5e-1', '1e300', NULL, '\\x0001ff', \
         '2026-03-09 20:36:46.500000+00', '''', 7, (-7), '1970-01-01 00:00:00.000000+00', NULL); VALUES ('')"
    );
    let last: [&dyn Statement; 1] = [&List(vec![Param::UInt(7)])];
    for dialect in [Dialect::MySql, Dialect::Postgres] {
        assert_eq!(dialect.in_one_text(TransactionForm::Last, &last).unwrap().as_str(), "VALUES (7); COMMIT");
    }
    let rows = Param::Array(SqlType::Text, values.iter().map(Param::Value).collect());
    let texts = Param::Texts(&["it's a \"\\\"", ""]);
    let arrays = Dialect::Postgres.in_one_text(TransactionForm::Sequence, &[&List(vec![rows, texts])]).unwrap();
    assert_eq!(
        arrays.as_str(),
        r#"VALUES ('{NULL,TRUE,-9223372036854775808,18446744073709551615,-5e-1,1e300,NULL,"\\x0001ff","2026-03-09 20:36:46.500000+00"}', '{"it''s a \"\\\"",""}')"#
    );
}

#[test]
fn a_transaction_begins_with_what_every_server_takes() {
    // TiDB refuses START TRANSACTION READ ONLY, unless tidb_enable_noop_functions is on.
    for access in [Access::Read, Access::Write] {
        assert!(!super::mysql::session::begin(access).contains("READ ONLY"));
    }
}

/// A statement that has only parameters.
struct List<'a>(Vec<Param<'a>>);

impl Statement for List<'_> {
    fn sql(&self, dialect: Dialect) -> Sql {
        Sql::new(dialect.rules().number(format!("VALUES ({})", vec!["?"; self.0.len()].join(", "))))
    }

    fn params(&self) -> Vec<Param<'_>> {
        self.0.clone()
    }
}

#[test]
fn index_names_in_sqlite_stay_apart_and_short() {
    let long = |c: char| c.to_string().repeat(52);
    let names: std::collections::HashSet<String> = [("a", long('k')), ("b", long('k')), ("a", long('l'))]
        .iter()
        .map(|(table, key)| {
            super::sqlite::ddl::index_name(Ident::new(&long(table.chars().next().unwrap())), Ident::new(key))
        })
        .map(|name| name.to_string())
        .collect();
    assert_eq!(names.len(), 3);
}

/// SQL elsewhere would not be reviewed as SQL.
#[test]
fn there_is_no_sql_elsewhere() {
    fn walk(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                // Without this folder, and without folders of tests.
                if !path.ends_with("src/dialect") && !path.ends_with("tests") {
                    walk(&path, found);
                }
                continue;
            }
            if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                // The tests of a file are at its end.
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
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for package in [
        "crates/ingester-json/src",
        "crates/ingester-wire/src",
        "ingester-core/src",
        "crates/ingester-sql/src",
        "crates/ingester-declare/src",
        "crates/ingester-testing/src",
        "crates/ingester-server/src",
        "crates/ingester-store/src",
        "crates/ingester-mirror/src",
        "ingester-bin/src",
        "ingester-macros/src",
        "crd-specs/src",
    ] {
        walk(&root.join(package), &mut found);
    }
    assert!(found.is_empty(), "SQL belongs into crates/ingester-sql/src/dialect:\n{}", found.join("\n"));
}
