//! Differences between schemas made by hand: cases that no struct can produce, and cases that `tests/tests/evolution/` does not reach.

use super::cost::{Family, Rule};
use super::diff::{Retyping, retyping};
use super::*;
use ingester_core::schema::{Ident, SqlType, Stays};

fn column(name: &str, ty: SqlType) -> ColumnDef {
    ColumnDef { name: Ident::new(name), was: None, ty, nullable: true, stays: Stays::None }
}

fn make_text_column(name: &str) -> ColumnDef {
    column(name, SqlType::VarChar(255))
}

fn was(name: &str, was: &str) -> ColumnDef {
    ColumnDef { was: Some(Ident::new(was)), ..make_text_column(name) }
}

fn table(name: &str, columns: Vec<ColumnDef>) -> TableDef {
    let uid = ColumnDef { nullable: false, ..column("uid", SqlType::VarChar(64)) };
    TableDef {
        name: Ident::new(name),
        was: Vec::new(),
        columns: std::iter::once(uid).chain(columns).collect(),
        primary_key: vec![Ident::new("uid")],
        keys: Vec::new(),
    }
}

fn one(columns: Vec<ColumnDef>) -> Schema {
    Schema { tables: vec![table("job", columns)], ..Schema::default() }
}

fn sentences(before: &Schema, after: &Schema) -> Vec<String> {
    diff(before, after).iter().map(SchemaChange::sentence).collect()
}

/// Makes the changes step by step and returns what comes out.
fn made(before: &Schema, after: &Schema) -> Vec<TableDef> {
    let steps = plan(before, &diff(before, after));
    let mut tables: Vec<TableDef> = before.tables.clone();
    for step in &steps {
        for change in &step.changes {
            match change {
                SchemaChange::CreateTable(table) => tables.push(TableDef { was: Vec::new(), ..table.clone() }),
                SchemaChange::DropTable(table) => tables.retain(|other| other.name != table.name),
                _ => {}
            }
        }
        for (before, after) in &step.tables {
            let place =
                tables.iter().position(|table| table == before).expect("a step begins where the last one ended");
            tables[place] = after.clone();
        }
        assert_eq!(step.inverse().inverse().changes, step.changes, "back and forth is where it was");
    }
    tables
}

#[test]
fn a_completed_rename_is_not_repeated() {
    let done = one(vec![was("submitter", "owner")]);
    assert_eq!(sentences(&one(vec![make_text_column("owner")]), &done), ["rename column `owner` to `submitter`"]);
    assert_eq!(sentences(&one(vec![make_text_column("submitter")]), &done), Vec::<String>::new());
    // The former name may be another column's by now.
    let both = one(vec![was("submitter", "owner"), make_text_column("owner")]);
    assert_eq!(sentences(&one(vec![make_text_column("submitter")]), &both), ["add column `owner` VARCHAR(255)"]);
    assert_eq!(
        sentences(&one(vec![make_text_column("submitter"), make_text_column("owner")]), &both),
        Vec::<String>::new()
    );
}

#[test]
fn chained_renames_run_once_and_in_a_working_order() {
    let before = one(vec![make_text_column("a"), make_text_column("b"), make_text_column("c")]);
    let after = one(vec![was("b", "a"), was("c", "b"), was("d", "c")]);
    assert_eq!(
        sentences(&before, &after),
        ["rename column `c` to `d`", "rename column `b` to `c`", "rename column `a` to `b`"]
    );
    assert_eq!(made(&before, &after)[0].columns.len(), 4);
    assert_eq!(
        sentences(&one(vec![make_text_column("b"), make_text_column("c"), make_text_column("d")]), &after),
        Vec::<String>::new()
    );
}

#[test]
fn a_key_that_another_one_begins_with_is_redundant() {
    let key = |name: &str, columns: &[&str]| KeyDef {
        name: Ident::new(name),
        columns: columns.iter().map(|name| Ident::new(name)).collect(),
    };
    let of = |keys: Vec<KeyDef>| {
        let job = TableDef { keys, ..table("job", vec![make_text_column("queue"), make_text_column("phase")]) };
        redundant_keys(&Schema { tables: vec![job], ..Schema::default() })
    };
    let both = key("queue_phase", &["queue", "phase"]);
    for own in [vec![key("queue", &["queue"]), both.clone()], vec![both.clone(), key("queue", &["queue"])]] {
        let [found] = &of(own)[..] else { panic!("one is") };
        let said = found.to_string();
        let names = "key `queue` (queue) of `job` is redundant: key `queue_phase` (queue, phase) finds the same rows";
        assert!(said.starts_with(names) && said.contains("`key = false`") && said.contains("`key: false`"), "{said}");
    }
    let twice = of(vec![both.clone(), key("again", &["queue", "phase"])]);
    assert_eq!(twice.iter().map(|found| found.key.name.as_str()).collect::<Vec<_>>(), ["again"]);
    // Another column first, and a key that every table has.
    let others = vec![
        both,
        key("phase", &["phase"]),
        key("create_time", &["create_time"]),
        key("ct", &["create_time", "phase"]),
    ];
    assert_eq!(of(others), []);
}

#[test]
fn a_swap_of_two_names_counts_as_done() {
    let schema = one(vec![make_text_column("a"), make_text_column("b")]);
    assert_eq!(sentences(&schema, &one(vec![was("a", "b"), was("b", "a")])), Vec::<String>::new());
}

#[test]
fn a_type_change_keeps_values_that_all_fit_and_else_backfills() {
    use SqlType::{BigInt, BigIntUnsigned, Boolean, DateTime, Double, Int, Json, MediumText, Text, VarChar};
    for (from, to, expected) in [
        (VarChar(10), VarChar(20), Retyping::Widened),
        (VarChar(20), VarChar(10), Retyping::Narrowed),
        (VarChar(16_383), Text, Retyping::Widened),
        (Text, VarChar(16_383), Retyping::Narrowed),
        (Text, MediumText, Retyping::Widened),
        (MediumText, Text, Retyping::Narrowed),
        (Int, BigInt, Retyping::Widened),
        (BigInt, Int, Retyping::Narrowed),
        (Int, BigIntUnsigned, Retyping::Narrowed),
        (BigIntUnsigned, BigInt, Retyping::Narrowed),
        (Boolean, Int, Retyping::Incompatible),
        (Int, Double, Retyping::Incompatible),
        (VarChar(255), DateTime, Retyping::Incompatible),
        (Text, Json, Retyping::Incompatible),
    ] {
        assert_eq!(retyping(from, to), expected, "{from} to {to}");
        let changes = sentences(&one(vec![column("x", from)]), &one(vec![column("x", to)]));
        let expected = match expected {
            Retyping::Widened => vec![format!("change column `x` from {from} to {to}")],
            _ => vec![format!("drop column `x` {from}"), format!("add column `x` {to}")],
        };
        assert_eq!(changes, expected);
    }
}

#[test]
fn a_base_column_is_converted_in_place() {
    // A column that every table has, and a companion: their values cannot be computed again.
    let base = |ty| one(vec![column("name", ty)]);
    let changes = diff(&base(SqlType::VarChar(256)), &base(SqlType::VarChar(100)));
    assert!(matches!(&changes[..], [change @ SchemaChange::Retype { .. }] if change.is_destructive()), "{changes:?}");
    assert_eq!(losses(&changes, &Schema::default()), ["the values of `job`.`name` that do not fit VARCHAR(100)"]);
}

#[test]
fn a_refusal_says_what_the_migration_says_also_of_former_versions() {
    let valid_from = Ident::new("valid_from");
    let schema = |ty| {
        let mut history = table("job_history", vec![column("valid_from", SqlType::DateTime), column("size", ty)]);
        history.primary_key.push(valid_from);
        history.keys.push(KeyDef { name: Ident::new("one"), columns: vec![Ident::new("size")] });
        history.keys.push(KeyDef { name: Ident::new("two"), columns: vec![Ident::new("size")] });
        Schema { tables: vec![table("job", vec![column("size", ty)]), history], ..Schema::default() }
    };
    let before = schema(SqlType::Int);
    let after = schema(SqlType::DateTime);
    let changes = diff(&before, &after);
    for (backfilled, filled) in [(&after, 1), (&Schema::default(), 0)] {
        let said = summary(&changes, &changes, backfilled, Servers::All, &[]);
        let losses = losses(&changes, backfilled);
        assert_eq!(losses.len(), 2, "{losses:?}");
        for loss in &losses {
            assert!(said.contains(&format!("DESTRUCTIVE: {loss}")), "{loss}\n{said}");
        }
        assert_eq!(losses.iter().filter(|loss| loss.contains("filled again")).count(), filled, "{losses:?}");
    }
    assert_eq!(emptied_tables(&changes), [Ident::new("job"), Ident::new("job_history")]);
    // A table of former versions repeats the keys of its main table, and needs no warning of its own.
    assert_eq!(redundant_keys(&after), []);
}

#[test]
fn a_column_that_may_have_a_new_name_is_asked_about() {
    let asked = |before: Vec<ColumnDef>, after: Vec<ColumnDef>| questions(&diff(&one(before), &one(after)));
    let number = |name: &str| column(name, SqlType::BigInt);
    let question = "is `boss` the new name of `owner`? Then say so there with `was = \"owner\"`";
    assert_eq!(
        asked(vec![make_text_column("owner"), number("n")], vec![make_text_column("boss"), number("n")]),
        [question]
    );
    assert_eq!(asked(vec![make_text_column("owner")], vec![make_text_column("boss"), number("n")]), [question]);
    let none: [&str; 0] = [];
    assert_eq!(asked(vec![make_text_column("owner")], vec![number("boss")]), none, "of another type");
    assert_eq!(asked(vec![make_text_column("owner")], vec![number("owner")]), none, "it is added again");
    assert_eq!(
        asked(vec![make_text_column("owner")], vec![make_text_column("boss"), make_text_column("other")]),
        none,
        "it may be either"
    );
    assert_eq!(
        asked(vec![make_text_column("owner"), make_text_column("a")], vec![make_text_column("boss")]),
        none,
        "either may be it"
    );
    assert_eq!(asked(vec![make_text_column("owner")], vec![was("boss", "owner")]), none, "it is said");
}

#[test]
fn another_primary_key_or_nullability_is_a_change() {
    let before = one(vec![make_text_column("a")]);
    let mut after = before.clone();
    after.tables[0].primary_key.push(Ident::new("a"));
    after.tables[0].columns[1].nullable = false;
    assert_eq!(
        sentences(&before, &after),
        ["change column `a` from NULL to NOT NULL", "change the primary key from (uid) to (uid, a)"]
    );
    assert_eq!(made(&before, &after), after.tables);
}

#[test]
fn every_change_has_a_cost_rule_and_new_servers_never_copy_additions() {
    let key = KeyDef { name: Ident::new("a"), columns: vec![Ident::new("a")] };
    let job = Ident::new("job");
    let changes = [
        SchemaChange::CreateTable(table("job", vec![])),
        SchemaChange::DropTable(table("job", vec![])),
        SchemaChange::RenameTable { from: job, to: job },
        SchemaChange::AddColumn { table: job, column: make_text_column("a") },
        SchemaChange::DropColumn { table: job, column: make_text_column("a") },
        SchemaChange::RenameColumn { table: job, column: make_text_column("a"), to: Ident::new("b") },
        SchemaChange::Retype { table: job, from: make_text_column("a"), to: column("a", SqlType::VarChar(300)) },
        SchemaChange::AddKey { table: job, key: key.clone() },
        SchemaChange::DropKey { table: job, key: key.clone() },
        SchemaChange::RenameKey { table: job, key, to: Ident::new("b") },
        SchemaChange::CreateView(view("jobs", &["a"])),
        SchemaChange::DropView(view("jobs", &["a"])),
    ];
    for change in &changes {
        for family in [Family::MySql, Family::MariaDb, Family::Sqlite] {
            let rules: Vec<&Rule> = change.rules().iter().filter(|rule| rule.family == family).collect();
            assert!(!rules.is_empty(), "{change:?} {family}");
            assert!(rules.is_sorted_by_key(|rule| rule.since), "{change:?} {family}");
            assert!(rules.iter().all(|rule| rule.source.starts_with(&family.to_string())), "{change:?} {family}");
        }
        for server in ["9.7.4 MySQL Community", "10.11.6-MariaDB-1"] {
            assert!(
                change.cost(ServerVersion::parse(server), std::slice::from_ref(change)) < Cost::Copy,
                "{change:?} {server}"
            );
        }
    }
}

#[test]
fn a_server_is_parsed_from_its_version_text_and_gets_its_rules() {
    let add = SchemaChange::AddColumn { table: Ident::new("job"), column: make_text_column("a") };
    let drop = add.inverse();
    for (text, version, adding, dropping) in [
        ("5.7.44-log MySQL Community Server (GPL)", [5, 7, 44], Cost::InPlace, Cost::InPlace),
        ("8.0.11 MySQL Community Server - GPL", [8, 0, 11], Cost::InPlace, Cost::InPlace),
        ("8.0.28 MySQL Community Server - GPL", [8, 0, 28], Cost::Instant, Cost::InPlace),
        ("8.0.29", [8, 0, 29], Cost::Instant, Cost::Instant),
        ("10.11.6-MariaDB-0+deb12u1 Debian 12", [10, 11, 6], Cost::Instant, Cost::Instant),
        ("SQLite 3.50.4", [3, 50, 4], Cost::Instant, Cost::Copy),
        ("something else", [0, 0, 0], Cost::Copy, Cost::Copy),
    ] {
        let server = ServerVersion::parse(text);
        assert_eq!(
            (server.version, add.cost(server, &[]), drop.cost(server, &[])),
            (version, adding, dropping),
            "{text}"
        );
    }
}

#[test]
fn a_varchar_grows_in_place_while_its_length_prefix_stays() {
    let mysql = ServerVersion::parse("8.4.0");
    for (from, to, cost) in [(10, 63, Cost::InPlace), (63, 64, Cost::Copy), (64, 3000, Cost::InPlace)] {
        let from = column("a", SqlType::VarChar(from));
        let to = column("a", SqlType::VarChar(to));
        let change = SchemaChange::Retype { table: Ident::new("job"), from, to };
        assert_eq!(change.cost(mysql, &[]), cost, "{change:?}");
        let phase = if cost == Cost::Copy { StepKind::CopyColumns } else { StepKind::WidenColumns };
        let before = one(vec![from]);
        assert_eq!(plan(&before, std::slice::from_ref(&change))[0].phase, phase);
    }
}

#[test]
fn keys_are_dropped_before_their_columns_and_added_after_them() {
    let key = |name: &str, columns: &[&str]| KeyDef {
        name: Ident::new(name),
        columns: columns.iter().map(|column| Ident::new(column)).collect(),
    };
    let mut before = one(vec![make_text_column("a"), make_text_column("b"), make_text_column("c")]);
    before.tables[0].keys = vec![key("a", &["a"]), key("b", &["b"]), key("b_c", &["b", "c"])];
    let mut after = one(vec![was("z", "a"), column("b", SqlType::BigInt), make_text_column("d")]);
    after.tables[0].keys = vec![key("z", &["z"]), key("b", &["b"]), key("d", &["d"])];
    let steps = plan(&before, &diff(&before, &after));
    let phases: Vec<StepKind> = steps.iter().map(|step| step.phase).collect();
    assert_eq!(
        phases,
        [
            StepKind::DropKeys,
            StepKind::RenameColumns,
            StepKind::RenameKeys,
            StepKind::DropColumns,
            StepKind::AddColumns,
            StepKind::AddKeys
        ]
    );
    let made = &made(&before, &after)[0];
    let mut names: Vec<String> = made.columns.iter().map(|column| format!("{} {}", column.name, column.ty)).collect();
    names.sort();
    assert_eq!(names, ["b BIGINT", "d VARCHAR(255)", "uid VARCHAR(64)", "z VARCHAR(255)"]);
    assert_eq!(made.keys.len(), 3);
}

#[test]
fn a_lock_file_is_read_back_as_written() {
    let before = one(vec![make_text_column("a"), make_text_column("b")]);
    let mut after = one(vec![was("z", "a"), column("c", SqlType::BigIntUnsigned)]);
    after.tables.push(table("other", vec![make_text_column("x")]));
    let changes = diff(&before, &after);
    let text = serde_json::to_string(&changes).unwrap();
    assert!(text.contains(r#"{"create_table":"other"}"#), "{text}");
    let read: Vec<SchemaChange> = serde_json::from_str(&text).unwrap();
    // The name of a created table is enough: it stands in full elsewhere in the lock.
    let known = |change: &&SchemaChange| !matches!(change, SchemaChange::CreateTable(_));
    assert_eq!(read.iter().filter(known).collect::<Vec<_>>(), changes.iter().filter(known).collect::<Vec<_>>());
    let error = serde_json::from_str::<SchemaChange>(r#"{"rename_table": {"from": "a`b", "to": "c"}}"#).unwrap_err();
    assert!(error.to_string().contains("is not an identifier"), "{error}");
}

/// A view over table `job`.
fn view(name: &str, columns: &[&str]) -> ViewDef {
    let column = |name: &&str| ViewColumnDef { name: Ident::new(name), ty: ingester_core::view::ViewType::Text };
    let value = |name: &&str| ExpressionDef::Column(Ident::new(name));
    ViewDef {
        name: Ident::new(name),
        columns: columns.iter().map(column).collect(),
        sources: vec![SourceDef {
            table: Ident::new("job"),
            values: columns.iter().map(value).collect(),
            filter: Some(ConditionDef::Not(
                ConditionDef::OneOf(value(&"uid"), vec![LiteralDef::Text("1".into())]).into(),
            )),
        }],
    }
}

fn phases(before: &Schema, after: &Schema) -> Vec<StepKind> {
    plan(before, &diff(before, after)).iter().map(|step| step.phase).collect()
}

#[test]
fn a_changed_view_is_dropped_first_and_made_last() {
    let before = Schema { views: vec![view("jobs", &["a"])], ..one(vec![make_text_column("a")]) };
    let after =
        Schema { views: vec![view("jobs", &["a", "b"])], ..one(vec![make_text_column("a"), make_text_column("b")]) };
    assert_eq!(sentences(&before, &after), ["add column `b` VARCHAR(255)", "drop view `jobs`", "make view `jobs`"]);
    let steps = plan(&before, &diff(&before, &after));
    let phases: Vec<StepKind> = steps.iter().map(|step| step.phase).collect();
    assert_eq!(phases, [StepKind::DropViews, StepKind::AddColumns, StepKind::CreateViews]);
    // Back, the former view comes again.
    assert_eq!(steps[0].inverse().changes, [SchemaChange::CreateView(view("jobs", &["a"]))]);
    assert_eq!(steps[0].inverse().phase, StepKind::CreateViews);
}

#[test]
fn a_view_is_made_again_only_around_what_it_would_not_survive() {
    let with = |schema: Schema| Schema { views: vec![view("jobs", &["a"])], ..schema };
    let before = with(one(vec![make_text_column("a"), make_text_column("b")]));
    let around = |inner| vec![StepKind::DropViews, inner, StepKind::CreateViews];
    assert_eq!(phases(&before, &with(one(vec![make_text_column("a")]))), around(StepKind::DropColumns));
    let longer = column("b", SqlType::Text);
    assert_eq!(phases(&before, &with(one(vec![make_text_column("a"), longer]))), around(StepKind::CopyColumns));
    let added = one(vec![make_text_column("a"), make_text_column("b"), make_text_column("c")]);
    assert_eq!(phases(&before, &with(added)), [StepKind::AddColumns]);
    let mut other = with(one(vec![make_text_column("a"), make_text_column("b")]));
    other.tables.push(table("other", vec![make_text_column("x")]));
    assert_eq!(phases(&before, &other), [StepKind::CreateTables]);
    assert_eq!(phases(&other, &before), [StepKind::DropTables], "another table");
    assert_eq!(phases(&before, &before), []);
    // One that looks for uids in another table reads that table, too.
    let mut looks = other.clone();
    let uids = ConditionDef::Stored(ExpressionDef::Column(Ident::new("a")), vec![Ident::new("other")]);
    looks.views[0].sources[0].filter = Some(uids);
    let mut fewer = looks.clone();
    fewer.tables[1] = table("other", vec![make_text_column("y")]);
    assert_eq!(
        phases(&looks, &fewer),
        [StepKind::DropViews, StepKind::DropColumns, StepKind::AddColumns, StepKind::CreateViews]
    );
}

#[test]
fn a_view_is_read_back_from_a_lock_file_as_written() {
    let mut view = view("jobs", &["a"]);
    let text = || ExpressionDef::Literal(LiteralDef::Text("x".into()));
    view.sources[0].values = vec![ExpressionDef::Case(
        vec![
            (ConditionDef::All(vec![ConditionDef::Live, ConditionDef::Null(ExpressionDef::Null)]), text()),
            (ConditionDef::Any(vec![ConditionDef::Evicted, ConditionDef::Deleted]), ExpressionDef::Setting("s".into())),
            (
                ConditionDef::Stored(ExpressionDef::Column(Ident::new("a")), vec![Ident::new("other")]),
                ExpressionDef::Concat(vec![text(), text()]),
            ),
        ],
        ExpressionDef::Coalesce(vec![
            ExpressionDef::Cast(
                ExpressionDef::Literal(LiteralDef::Integer(-1)).into(),
                ingester_core::view::ViewType::Text,
            ),
            text(),
        ])
        .into(),
    )];
    let written = serde_json::to_string(&view).unwrap();
    assert_eq!(serde_json::from_str::<ViewDef>(&written).unwrap(), view, "{written}");
    let made = serde_json::to_string(&SchemaChange::CreateView(view.clone())).unwrap();
    assert_eq!(made, r#"{"create_view":"jobs"}"#, "the lock file has it elsewhere");
    // A dropped view is stored nowhere else. Lock files of earlier releases have only its name.
    let dropped = SchemaChange::DropView(view);
    let written = serde_json::to_string(&dropped).unwrap();
    assert_eq!(serde_json::from_str::<SchemaChange>(&written).unwrap(), dropped, "{written}");
    let SchemaChange::DropView(earlier) = serde_json::from_str(r#"{"drop_view":"jobs"}"#).unwrap() else { panic!() };
    assert_eq!((earlier.name, earlier.columns.len()), (Ident::new("jobs"), 0));
}
