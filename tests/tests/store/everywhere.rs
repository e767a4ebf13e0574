//! Orders and records that are the same on every database, whatever it does by itself.

use crate::world::{Stores as _, World, kind, model, row};
use anyhow::{Context as _, Result, ensure};
use ingester_core::schema::base;
use ingester_core::value::Value;
use ingester_sql::query::{Filter, Query, Test};
use ingester_store::query::{Limits, RequestedParts};
use ingester_store::{Reject, RowChange, Store};
use ingester_tests::on_every_database;
use serde_json::json;

on_every_database! {
    a_scan_compares_texts_by_byte
    counts_by_a_column_come_in_one_order
    of_several_rejects_of_an_object_the_latest_is_recorded
}

/// In the order of their bytes. A collation of a language has another order.
const TEXTS: [&str; 5] = ["B", "a", "b", "z", "é"];

/// The texts of `spec.v`, which has no column, that pass a test.
async fn found(store: &Store, test: Test) -> Result<Vec<&'static str>> {
    let query = Query { filters: vec![Filter::Field { field: "spec.v".into(), test }], scan: true, ..Query::default() };
    let page =
        store.ask_about(kind("Model"), &query, Limits::default())?.page(&RequestedParts::default(), 10, None).await?;
    let mut found: Vec<&str> = Vec::new();
    for row in &page.rows {
        let place: usize = row.uid().parse()?;
        found.push(TEXTS[place]);
    }
    found.sort_unstable();
    Ok(found)
}

async fn a_scan_compares_texts_by_byte(world: World) -> Result<()> {
    let store = world.store().await?;
    let mut rows = Vec::new();
    for (place, text) in TEXTS.into_iter().enumerate() {
        // Its uid says which text it has.
        let mut object = model(&place.to_string(), 1);
        object["spec"] = json!({ "v": text });
        rows.push(RowChange::Row(row(&object)));
    }
    rows.push(RowChange::Row(row(&model("none", 1))));
    store.write(kind("Model").table(), rows).await?;
    let text = |text: &str| Value::text(text);
    for (test, expected) in [
        (Test::Greater(text("a")), &["b", "z", "é"][..]),
        (Test::GreaterOrEqual(text("é")), &["é"]),
        (Test::Less(text("b")), &["B", "a"]),
        (Test::LessOrEqual(text("B")), &["B"]),
        (Test::Equal(text("b")), &["b"]),
        (Test::In(vec![text("b"), text("e"), text("Z")]), &["b"]),
    ] {
        let found = found(&store, test.clone()).await?;
        ensure!(found == expected, "{test:?}: {found:?}");
    }
    Ok(())
}

async fn counts_by_a_column_come_in_one_order(world: World) -> Result<()> {
    let store = world.store().await?;
    let model_kind = kind("Model");
    let columns = model_kind.table().columns;
    let is_text = |place: &usize| columns[*place].nullable && columns[*place].ty.is_text();
    let place = (base::JSON + 1..columns.len()).find(is_text).context("a column of texts that may be NULL")?;
    let mut rows = Vec::new();
    for (number, text) in ["é", "", "a", "z", "B", "b"].into_iter().enumerate() {
        let mut row = row(&model(&format!("uid-{number}"), 1));
        row.values[place] = if text.is_empty() { Value::Null } else { Value::text(text) };
        rows.push(RowChange::Row(row));
    }
    store.write(model_kind.table(), rows).await?;
    let asked = store.ask_about(model_kind, &Query::default(), Limits::default())?;
    let counted: Vec<Value> = asked.count_by(place, 10).await?.into_iter().map(|(value, _)| value).collect();
    let expected: Vec<Value> = std::iter::once(Value::Null).chain(TEXTS.map(Value::text)).collect();
    ensure!(counted == expected, "{counted:?}");
    ensure!(asked.count_by(place, 1).await?[0].0 == Value::Null, "also as the only one");
    Ok(())
}

async fn of_several_rejects_of_an_object_the_latest_is_recorded(world: World) -> Result<()> {
    let store = world.store().await?;
    let reject = |uid: &str, reason: &str| Reject {
        uid: uid.to_owned(),
        group_ver: "michelangelo.api/v2".to_owned(),
        kind: "Model".to_owned(),
        namespace: "ml".to_owned(),
        name: uid.to_owned(),
        res_version: "1".to_owned(),
        reason: reason.to_owned(),
    };
    store
        .record_rejects(&[reject("a", "first"), reject("a", "second"), reject("b", "only"), reject("a", "last")])
        .await?;
    let rejects = store.rejects("michelangelo.api/v2", "Model", None).await?;
    let found: Vec<(&str, &str)> = rejects.iter().map(|reject| (&*reject.uid, reject.reason.as_str())).collect();
    ensure!(found == [("a", "last"), ("b", "only")], "{found:?}");
    Ok(())
}
