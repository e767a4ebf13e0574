//! Queries have the same results as a naive evaluation in memory, on every database.

use crate::many;
use crate::world::{On, Stores as _, World, kind, model, row};
use anyhow::{Result, ensure};
use fastrand::Rng;
use ingester_core::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_core::schema::{Form, Many, SqlType, base};
use ingester_core::value::{Micros, Value};
use ingester_sql::query::{Filter, Order, Query, States, Test};
use ingester_store::query::{AskError, Limits, RequestedParts};
use ingester_store::{RowChange, Store};
use ingester_tests::on_every_database;
use serde_json::{Value as Json, json};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::time::Duration;

on_every_database! {
    any_query_gives_what_a_naive_evaluation_gives
    pages_put_together_are_the_whole_while_rows_come_and_go
    a_page_ends_where_its_bytes_do
    hostile_values_are_values
    a_statement_that_takes_too_long_is_ended
}

/// Rows in the table of a random test.
const ROWS: usize = 120;

const TEXTS: [&str; 10] = ["", "a", "b", "B", "a%b", "a_b", "ü", "日本", "x'y\"z\\", "[a]*?"];
const NAMESPACES: [&str; 3] = ["ml", "prod", "dev"];
const LABELS: [&str; 4] = ["team", "example.com/tier", "n", "empty"];
const NUMBERS: [&str; 8] =
    ["5", "007", "12", "-3", "1.5", "9223372036854775807", "9223372036854775808", "00000000000000000000000000012"];

fn pick<'a, T: ?Sized>(rng: &mut Rng, all: &[&'a T]) -> &'a T {
    all[rng.usize(..all.len())]
}

fn value(rng: &mut Rng, ty: SqlType) -> Value {
    match ty {
        SqlType::Boolean => Value::Bool(rng.bool()),
        SqlType::Int | SqlType::BigInt => Value::Int([-3, 0, 7, i64::from(i32::MAX)][rng.usize(..4)]),
        SqlType::IntUnsigned | SqlType::BigIntUnsigned => Value::UInt([0, 7, 1 << 40][rng.usize(..3)]),
        SqlType::Double => Value::Double([-0.5, 0.0, 1e300][rng.usize(..3)]),
        SqlType::DateTime => Value::Time(Micros(1_767_225_600_000_000 + rng.i64(0..4) * 500_000)),
        SqlType::VarChar(_) | SqlType::Text | SqlType::MediumText => Value::text(pick(rng, &TEXTS)),
        SqlType::LongBlob | SqlType::Json => Value::Null,
    }
}

/// Sets a time of a row, both in its values and beside them.
fn random_row(rng: &mut Rng, kind: &Kind, number: usize) -> Row {
    let mut object = model(&format!("uid-{number:04}"), 1);
    object["kind"] = json!(kind.kind());
    object["spec"] = json!({});
    object["metadata"]["namespace"] = json!(pick(rng, &NAMESPACES));
    object["metadata"]["name"] = json!(format!("name-{}", rng.u32(..40)));
    let mut labels = BTreeMap::new();
    for key in LABELS {
        if rng.bool() {
            let text = match key {
                "n" => pick(rng, &NUMBERS),
                "empty" => "",
                _ => pick(rng, &TEXTS),
            };
            labels.insert(Box::from(key), Box::from(text));
        }
    }
    let mut row = match kind.kind() {
        "Certificate" => with_many_values(rng, &object),
        _ => row(&object),
    };
    // Including values that Kubernetes refuses: the store accepts any.
    row.labels = labels.into_iter().collect();
    let first = base::JSON + 1;
    for (place, column) in kind.table().columns.iter().enumerate() {
        if place >= first || place == base::CREATE_TIME {
            row.values[place] = if rng.u32(..5) == 0 { Value::Null } else { value(rng, column.ty) };
        }
    }
    row.delete_time = (rng.u32(..4) == 0).then(Micros::now);
    row.evict_time = (rng.u32(..4) == 0).then(Micros::now);
    row
}

/// Keys of a map; queries write them behind the column's name.
const KEYS: [&str; 3] = ["cpu", "example.com/gpu", "a b"];

/// The row of an object with some values in each column of many.
fn with_many_values(rng: &mut Rng, object: &Json) -> Row {
    let mut some =
        |all: &[Json]| -> Vec<Json> { (0..rng.usize(..4)).map(|_| all[rng.usize(..all.len())].clone()).collect() };
    let texts = TEXTS.map(|text| json!(text));
    let times = ["00", "00.5", "01", "01.5"].map(|second| json!(format!("2026-01-01T00:00:{second}Z")));
    let limits: BTreeMap<&str, Json> = KEYS.into_iter().zip(some(&texts)).collect();
    let spec = json!({
        "issuer": TEXTS.join(" "), "dnsNames": some(&texts), "limits": limits, "ports": some(&[json!(0), json!(7), json!(80)]),
        "renewals": some(&times),
    });
    let mut certificate = many::certificate("", 1, spec);
    certificate["metadata"] = object["metadata"].clone();
    let object = Object::parse(certificate.to_string(), ManagedFields::Prune).unwrap();
    many::KIND.row(&object).unwrap().unwrap()
}

/// A test of a column of many values, or of a key of a map.
fn random_test_of_many(rng: &mut Rng, many: &Many) -> Filter {
    let name = many.name.to_string();
    let (field, test) = match many.form {
        Form::Map if rng.u32(..4) == 0 => (name, if rng.bool() { Test::Exists } else { Test::Empty }),
        Form::Map => (format!("{name}[\"{}\"]", pick(rng, &KEYS)), random_test(rng, many.ty())),
        Form::List => (name, random_test_without_range(rng, many.ty())),
    };
    Filter::Field { field: field.into(), test }
}

fn random_test(rng: &mut Rng, ty: SqlType) -> Test {
    let text = matches!(ty, SqlType::VarChar(_) | SqlType::Text | SqlType::MediumText);
    match rng.u32(..9) {
        0 => Test::Exists,
        1 => Test::Equal(value(rng, ty)),
        2 => Test::Less(value(rng, ty)),
        3 => Test::LessOrEqual(value(rng, ty)),
        4 => Test::Greater(value(rng, ty)),
        5 => Test::GreaterOrEqual(value(rng, ty)),
        6 => Test::In((0..rng.usize(..4)).map(|_| value(rng, ty)).collect()),
        7 if text => {
            Test::Like(pick(rng, &["%", "a%", "%b", "_", "a\\%b", "[a]%", "*", "%\\", "日_", "\\_"]).to_owned())
        }
        _ => Test::Empty,
    }
}

/// For values without an order: lists and booleans.
fn random_test_without_range(rng: &mut Rng, ty: SqlType) -> Test {
    loop {
        let test = random_test(rng, ty);
        if !test.is_range() {
            return test;
        }
    }
}

fn random_filter(rng: &mut Rng, kind: &Kind, depth: u32) -> Filter {
    let columns = kind.table().columns;
    match rng.u32(..8) {
        0 if depth > 0 => Filter::And((0..rng.usize(..4)).map(|_| random_filter(rng, kind, depth - 1)).collect()),
        1 if depth > 0 => Filter::Or((0..rng.usize(..4)).map(|_| random_filter(rng, kind, depth - 1)).collect()),
        2 | 3 if depth > 0 => Filter::Not(Box::new(random_filter(rng, kind, depth - 1))),
        4 => {
            let key = pick(rng, &LABELS).to_owned();
            let test = match (key.as_str(), rng.bool()) {
                ("n", true) => {
                    let number = Value::Int(rng.i64(0..13));
                    if rng.bool() { Test::Greater(number) } else { Test::Less(number) }
                }
                _ => random_test(rng, SqlType::VarChar(63)),
            };
            Filter::Label { key, test }
        }
        5 if !kind.table().many.is_empty() => {
            let place = rng.usize(..kind.table().many.len());
            random_test_of_many(rng, &kind.table().many[place])
        }
        _ => {
            let place = loop {
                let place = rng.usize(..columns.len());
                if !matches!(columns[place].ty, SqlType::LongBlob | SqlType::Json) && place != base::UPDATE_TIME {
                    break place;
                }
            };
            let column = &columns[place];
            let test = match column.ty {
                SqlType::Boolean => random_test_without_range(rng, column.ty),
                ty => random_test(rng, ty),
            };
            Filter::Field { field: column.name.to_string().into(), test }
        }
    }
}

fn random_query(rng: &mut Rng, kind: &Kind) -> Query {
    let mut some = |all: &[&str]| -> Vec<String> {
        let count = if rng.u32(..3) == 0 { rng.usize(1..3) } else { 0 };
        (0..count).map(|_| pick(rng, all).to_owned()).collect()
    };
    let (namespaces, names, uids) =
        (some(&NAMESPACES), some(&["name-1", "name-2", "name-3"]), some(&["uid-0001", "no"]));
    let uids = if rng.u32(..8) == 0 { uids } else { Vec::new() };
    let names = if rng.u32(..4) == 0 { names } else { Vec::new() };
    let columns = kind.table().columns;
    let sortable = |place: &usize| {
        !matches!(columns[*place].ty, SqlType::LongBlob | SqlType::Json | SqlType::Text | SqlType::MediumText)
            && *place != base::UPDATE_TIME
    };
    let sortable: Vec<usize> = (0..columns.len()).filter(sortable).collect();
    let order = (0..rng.usize(..4))
        .map(|_| Order {
            field: columns[sortable[rng.usize(..sortable.len())]].name.to_string().into(),
            descending: rng.bool(),
        })
        .collect();
    let states = States { live: rng.bool(), evicted: rng.bool(), deleted: rng.u32(..3) == 0 };
    let states = if rng.bool() { States::default() } else { states };
    let filters = (0..rng.usize(..3)).map(|_| random_filter(rng, kind, 3)).collect();
    Query { namespaces, names, uids, states, filters, order, scan: false, at: None }
}

fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Less,
        (_, Value::Null) => Ordering::Greater,
        (Value::Text(a), Value::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::UInt(a), Value::UInt(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Time(a), Value::Time(b)) => a.cmp(b),
        (Value::Double(a), Value::Double(b)) => a.total_cmp(b),
        other => panic!("{other:?}"),
    }
}

/// Whether a text is like a pattern of LIKE.
fn like(text: &[char], pattern: &[char]) -> bool {
    match pattern {
        [] => text.is_empty(),
        ['%', rest @ ..] => (0..=text.len()).any(|skipped| like(&text[skipped..], rest)),
        ['_', rest @ ..] => !text.is_empty() && like(&text[1..], rest),
        ['\\', plain, rest @ ..] => text.first() == Some(plain) && like(&text[1..], rest),
        [plain, rest @ ..] => text.first() == Some(plain) && like(&text[1..], rest),
    }
}

fn passes(tested: &Value, test: &Test) -> bool {
    let compared = |value: &Value| (*tested != Value::Null).then(|| compare(tested, value));
    match test {
        Test::Exists => *tested != Value::Null,
        Test::Equal(value) => compared(value) == Some(Ordering::Equal),
        Test::Less(value) => compared(value) == Some(Ordering::Less),
        Test::LessOrEqual(value) => compared(value).is_some_and(Ordering::is_le),
        Test::Greater(value) => compared(value) == Some(Ordering::Greater),
        Test::GreaterOrEqual(value) => compared(value).is_some_and(Ordering::is_ge),
        Test::In(values) => values.iter().any(|value| compared(value) == Some(Ordering::Equal)),
        Test::Like(pattern) => match tested {
            Value::Text(text) => like(&text.chars().collect::<Vec<_>>(), &pattern.chars().collect::<Vec<_>>()),
            _ => false,
        },
        Test::Empty => *tested == Value::Null || *tested == Value::text(""),
    }
}

fn holds(row: &Row, kind: &Kind, filter: &Filter) -> bool {
    match filter {
        Filter::And(all) => all.iter().all(|filter| holds(row, kind, filter)),
        Filter::Or(any) => any.iter().any(|filter| holds(row, kind, filter)),
        Filter::Not(filter) => !holds(row, kind, filter),
        Filter::Field { field, test } if kind.table().many.iter().any(|many| is_of(field, many)) => {
            let values = values_of_many(row, kind, field);
            match test {
                Test::Exists => !values.is_empty(),
                // No values at all, or only such values.
                Test::Empty => values.iter().all(|value| passes(value, test)),
                _ => values.iter().any(|value| passes(value, test)),
            }
        }
        Filter::Field { field, test } => {
            let place = kind.table().columns.iter().position(|column| column.name.as_str() == field).unwrap();
            passes(&cell(row, place), test)
        }
        Filter::Label { key, test } => {
            let label = row.labels.iter().find(|(other, _)| **other == **key);
            let text = label.map_or(Value::Null, |(_, value)| Value::text(&**value));
            // A label that is compared with a number must be a number to pass.
            match test {
                Test::Greater(Value::Int(_)) | Test::Less(Value::Int(_)) => match &text {
                    Value::Text(text) if !text.starts_with(['-', '+']) => {
                        text.parse().is_ok_and(|number: i64| passes(&Value::Int(number), test))
                    }
                    _ => false,
                },
                _ => passes(&text, test),
            }
        }
        Filter::Annotation { .. } | Filter::UnknownName { .. } => panic!("not asked"),
    }
}

/// Whether a field is a column of many values, or one of its keys.
fn is_of(field: &str, many: &Many) -> bool {
    let rest = field.strip_prefix(many.name.as_str());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
}

/// The values of a column of many, or its map's value for the key that the field names.
fn values_of_many(row: &Row, kind: &Kind, field: &str) -> Vec<Value> {
    let place = kind.table().many.iter().position(|many| is_of(field, many)).unwrap();
    let many = &kind.table().many[place];
    let key = field.split('"').nth(1);
    let texts = row.many[place].iter().filter(|(its, _)| key.is_none_or(|key| **its == *key));
    let value = |text: &str| match many.ty() {
        SqlType::Int => Value::Int(text.parse().unwrap()),
        SqlType::DateTime => Value::Time(Micros::from_sql(text).unwrap()),
        _ => Value::text(text),
    };
    texts.map(|(its, of_key)| value(if many.form == Form::Map { of_key } else { its })).collect()
}

/// A row's value, with the times that are beside the values.
fn cell(row: &Row, place: usize) -> Value {
    let time = |time: Option<Micros>| time.map_or(Value::Null, Value::Time);
    match place {
        base::DELETE_TIME => time(row.delete_time),
        base::EVICT_TIME => time(row.evict_time),
        base::EVICT_CONFIRMED => row.eviction().confirmed().map_or(Value::Null, Value::Bool),
        _ => row.values[place].clone(),
    }
}

/// The uids of the rows that a query asks for, in its order.
fn naive(rows: &[Row], kind: &Kind, query: &Query) -> Vec<String> {
    let text = |row: &Row, place: usize| match &row.values[place] {
        Value::Text(text) => text.to_string(),
        other => panic!("{other:?}"),
    };
    let among = |texts: &[String], text: String| texts.is_empty() || texts.contains(&text);
    let mut found: Vec<&Row> = rows
        .iter()
        .filter(|row| among(&query.uids, row.uid.to_string()))
        .filter(|row| among(&query.namespaces, text(row, base::NAMESPACE)))
        .filter(|row| among(&query.names, text(row, base::NAME)))
        .filter(|row| match (row.delete_time, row.evict_time) {
            (Some(_), _) => query.states.deleted,
            (None, Some(_)) => query.states.evicted,
            (None, None) => query.states.live,
        })
        .filter(|row| query.filters.iter().all(|filter| holds(row, kind, filter)))
        .collect();
    let place = |field: &str| kind.table().columns.iter().position(|column| column.name.as_str() == field).unwrap();
    let mut keys: Vec<(usize, bool)> = query.order.iter().map(|key| (place(&key.field), key.descending)).collect();
    if keys.is_empty() {
        keys = vec![(base::NAMESPACE, false), (base::NAME, false)];
    }
    // Columns that are equal in all rows do not count for the order, nor for its direction.
    keys.retain(|(place, _)| {
        !(*place == base::NAMESPACE && query.namespaces.len() == 1 || *place == base::NAME && query.names.len() == 1)
    });
    let mut seen = std::collections::HashSet::new();
    keys.retain(|(place, _)| seen.insert(*place));
    keys.push((base::UID, keys.last().is_some_and(|(_, descending)| *descending)));
    found.sort_by(|a, b| {
        keys.iter().fold(Ordering::Equal, |order, (place, descending)| {
            let step = compare(&cell(a, *place), &cell(b, *place));
            order.then(if *descending { step.reverse() } else { step })
        })
    });
    found.iter().map(|row| row.uid.to_string()).collect()
}

async fn fill(store: &Store, kind: &Kind, rows: &[Row]) -> Result<()> {
    let report = store.write(kind.table(), rows.iter().cloned().map(RowChange::Row).collect()).await?;
    ensure!(report.written == rows.len(), "{report:?}");
    Ok(())
}

async fn pages(store: &Store, kind: &Kind, query: &Query, limit: usize) -> Result<Vec<String>> {
    let asked = store.ask_about(kind, query, Limits::default())?;
    let mut uids = Vec::new();
    let mut token = None;
    loop {
        let page = asked.page(&RequestedParts::default(), limit, token.as_deref()).await?;
        ensure!(page.rows.len() <= limit);
        uids.extend(page.rows.iter().map(|row| row.uid().to_owned()));
        match page.next {
            // The last page is known by its missing token, and is never empty.
            Some(next) => token = Some(next),
            None => return Ok(uids),
        }
        ensure!(!page.rows.is_empty());
    }
}

async fn any_query_gives_what_a_naive_evaluation_gives(world: World) -> Result<()> {
    let kinds = [*kind("Model"), *kind("PipelineRun"), *kind("TriggerRun"), many::KIND];
    let store = world.store_of(&kinds).await?;
    for (seed, kind) in kinds.iter().enumerate() {
        let name = kind.kind();
        let mut rng = Rng::with_seed(seed as u64);
        let rows: Vec<Row> = (0..ROWS).map(|number| random_row(&mut rng, kind, number)).collect();
        fill(&store, kind, &rows).await?;
        let mut found = 0;
        for number in 0..150 {
            let query = random_query(&mut rng, kind);
            let expected = naive(&rows, kind, &query);
            found += expected.len();
            let limit = [3, 11, 1000][rng.usize(..3)];
            let told = || format!("{name} {number}: {query:#?}");
            let answer = pages(&store, kind, &query, limit).await;
            let answer = answer.map_err(|error| error.context(told()))?;
            ensure!(answer == expected, "pages of {limit}: {answer:?}\nnaive: {expected:?}\n{}", told());
            let asked = store.ask_about(kind, &query, Limits::default())?;
            ensure!(asked.count().await? == expected.len() as u64, "{}", told());
        }
        ensure!(found > 500, "{found} rows in all answers");
    }
    Ok(())
}

async fn pages_put_together_are_the_whole_while_rows_come_and_go(world: World) -> Result<()> {
    let kind = kind("PipelineRun");
    let store = world.store_of(&[*kind]).await?;
    let mut rng = Rng::with_seed(7);
    // Of every three rows, the first always exists, the second goes, the third comes.
    let rows: Vec<Row> = (0..ROWS)
        .map(|number| Row { delete_time: None, evict_time: None, ..random_row(&mut rng, kind, number) })
        .collect();
    for (number, order) in ["create_time", "-create_time", "", "-state"].into_iter().enumerate() {
        let at_first: Vec<Row> =
            rows.iter().enumerate().filter(|(place, _)| place % 3 < 2).map(|(_, row)| row.clone()).collect();
        let version = 10 * number as u64;
        let changed = |row: &Row, version: u64, delete_time: Option<Micros>| {
            let mut row = Row { res_version: version, delete_time, ..row.clone() };
            row.values[base::RES_VERSION] = Value::UInt(version);
            row
        };
        let at_first: Vec<Row> = at_first.iter().map(|row| changed(row, version + 2, None)).collect();
        fill(&store, kind, &at_first).await?;
        let order: Vec<Order> = (!order.is_empty())
            .then(|| Order {
                field: order.trim_start_matches('-').to_owned().into(),
                descending: order.starts_with('-'),
            })
            .into_iter()
            .collect();
        let query = Query { order, ..Query::default() };
        let asked = store.ask_about(kind, &query, Limits::default())?;
        let mut uids = Vec::new();
        let mut token = None;
        let mut step = 0;
        loop {
            let page = asked.page(&RequestedParts::default(), 7, token.as_deref()).await?;
            uids.extend(page.rows.iter().map(|row| row.uid().to_owned()));
            // Some go, some come.
            for (place, row) in rows.iter().enumerate().filter(|(place, _)| place / 3 == step) {
                match place % 3 {
                    1 => drop(
                        store
                            .write(kind.table(), vec![RowChange::Row(changed(row, version + 3, Some(Micros::now())))])
                            .await?,
                    ),
                    2 => drop(store.write(kind.table(), vec![RowChange::Row(changed(row, version + 3, None))]).await?),
                    _ => {}
                }
            }
            step += 1;
            let Some(next) = page.next else { break };
            token = Some(next);
        }
        let stay: Vec<Row> =
            rows.iter().enumerate().filter(|(place, _)| place % 3 == 0).map(|(_, row)| row.clone()).collect();
        let expected = naive(&stay, kind, &query);
        let all: std::collections::BTreeSet<&String> = uids.iter().collect();
        ensure!(all.len() == uids.len(), "a row twice: {uids:?}");
        let stayed: Vec<&String> = uids.iter().filter(|uid| expected.contains(uid)).collect();
        ensure!(stayed == expected.iter().collect::<Vec<_>>(), "{stayed:?}\n{expected:?}");
        // Prepares the next order.
        let gone: Vec<RowChange> = rows
            .iter()
            .enumerate()
            .filter(|(place, _)| place % 3 == 2)
            .map(|(_, row)| RowChange::Row(changed(row, version + 4, Some(Micros::now()))))
            .collect();
        store.write(kind.table(), gone).await?;
    }
    Ok(())
}

async fn a_page_ends_where_its_bytes_do(world: World) -> Result<()> {
    let store = world.store().await?;
    let kind = kind("Model");
    let rows: Vec<Row> = (0..40)
        .map(|number| {
            let mut object = model(&format!("{number:02}"), 1);
            object["spec"]["unknown"] = json!("x".repeat(10_000));
            row(&object)
        })
        .collect();
    fill(&store, kind, &rows).await?;
    let limits = Limits::default().bytes(100_000);
    let asked = store.ask_about(kind, &Query::default(), limits)?;
    let mut count = 0;
    let mut token = None;
    loop {
        let page = asked.page(&RequestedParts::object(), 1000, token.as_deref()).await?;
        ensure!((1..=9).contains(&page.rows.len()), "{} rows", page.rows.len());
        count += page.rows.len();
        let Some(next) = page.next else { break };
        token = Some(next);
    }
    assert_eq!(count, 40);
    // One object that is larger than a page is a page.
    let limits = Limits::default().bytes(1);
    let page = store.ask_about(kind, &Query::default(), limits)?.page(&RequestedParts::object(), 1000, None).await?;
    assert_eq!(page.rows.len(), 1);
    assert!(page.next.is_some());
    Ok(())
}

async fn hostile_values_are_values(world: World) -> Result<()> {
    let store = world.store().await?;
    let kind = kind("Model");
    fill(&store, kind, &[row(&model("a", 1))]).await?;
    let hostile =
        ["'; DROP TABLE model; --", "\" OR 1=1 --", "` OR 1=1 #", "\\", "\0", "%", "_", "*/ UNION SELECT 1", "?", "$1"];
    for text in hostile {
        let value = || Value::text(text);
        let filters = [
            Filter::field("algorithm", Test::Equal(value())),
            Filter::field("algorithm", Test::In(vec![value(), Value::text("b")])),
            Filter::field("algorithm", Test::Less(value())).and(Filter::field("algorithm", Test::Greater(value()))),
            Filter::label(text, Test::Exists),
            Filter::label("same", Test::Equal(value())),
            Filter::Annotation { key: text.to_owned(), test: Test::Equal(value()) },
        ];
        for filter in filters {
            let query = Query { filters: vec![filter], ..Query::default() };
            assert_eq!(pages(&store, kind, &query, 10).await?.len(), 0, "{query:?}");
        }
        let of_names = Query { namespaces: vec![text.to_owned()], names: vec![text.to_owned()], ..Query::default() };
        assert_eq!(pages(&store, kind, &of_names, 10).await?.len(), 0);
        for query in [
            Query { filters: vec![Filter::field(text.to_owned(), Test::Exists)], ..Query::default() },
            Query { order: vec![Order { field: text.to_owned().into(), descending: false }], ..Query::default() },
        ] {
            let error = store.ask_about(kind, &query, Limits::default()).err().map(|error| error.to_string());
            assert!(error.is_some_and(|error| error.contains("no column")), "{query:?}");
        }
    }
    // Many terms, and too many.
    let among = |count: usize| Query {
        filters: vec![Filter::field("algorithm", Test::In((0..count).map(|n| Value::text(n.to_string())).collect()))],
        ..Query::default()
    };
    assert_eq!(pages(&store, kind, &among(10_000), 10).await?.len(), 0);
    let any =
        (0..5000).map(|number| Filter::field("algorithm", Test::Equal(Value::text(number.to_string())))).collect();
    let query = Query { filters: vec![Filter::Or(any)], ..Query::default() };
    assert_eq!(pages(&store, kind, &query, 10).await?.len(), 0);
    let error = store.ask_about(kind, &among(30_000), Limits::default()).err().unwrap().to_string();
    assert!(error.contains("at most 20000"), "{error}");
    assert_eq!(world.count("model").await?, 1);
    Ok(())
}

async fn a_statement_that_takes_too_long_is_ended(world: World) -> Result<()> {
    let store = world.store().await?;
    let kind = kind("Model");
    let rows: Vec<Row> = (0..2000).map(|number| row(&model(&format!("{number:05}"), 1))).collect();
    for rows in rows.chunks(500) {
        fill(&store, kind, rows).await?;
    }
    // Every row against every pattern.
    let any = (0..400).map(|number| {
        let pattern = format!("%{number}%a%l%g%o%r%i%t%h%m%q%");
        Filter::field("algorithm", Test::Like(pattern)).or(Filter::field("owner", Test::Like("%m%e%q%".to_owned())))
    });
    let any = any.collect();
    let query = Query { filters: vec![Filter::Or(any)], ..Query::default() };
    let limits = Limits::default().with_time(Duration::from_millis(5));
    let begin = std::time::Instant::now();
    let answer = store.ask_about(kind, &query, limits)?.page(&RequestedParts::default(), 10, None).await;
    ensure!(matches!(&answer, Err(AskError::TooSlow(..))), "{answer:?}");
    ensure!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
    // The connection still works.
    let all = store.ask_about(kind, &Query::default(), Limits::default())?;
    assert_eq!(all.count().await?, 2000);
    if world.on == On::Sqlite {
        assert_eq!(all.page(&RequestedParts::default(), 1000, None).await?.rows.len(), 1000);
    }
    Ok(())
}
