//! Lists of large objects, and abandoned lists.

use crate::world::{On, Stores as _, World, change, kind, model};
use anyhow::{Context as _, Result, ensure};
use futures::future::join_all;
use ingester_core::value::Value;
use ingester_sql::query::{Filter, Order, Query, Test};
use ingester_store::query::{Limits, RequestedParts};
use ingester_store::{ConnectOptions, Store};
use ingester_tests::on_every_database;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

on_every_database! {
    objects_larger_than_the_memory_for_sorting_are_listed
    questions_without_a_waiting_client_are_ended
}

/// Writes this many objects of a size.
async fn write(store: &Store, names: impl Iterator<Item = String>, size: usize) -> Result<()> {
    let changes: Vec<_> = names
        .map(|name| {
            let mut object = model(&name, 1);
            object["spec"]["unknown"] = json!("x".repeat(size));
            change(&object)
        })
        .collect();
    let written = changes.len();
    let report = store.write(kind("Model").table(), changes).await?;
    ensure!(report.written == written, "{report:?}");
    Ok(())
}

/// MySQL sorts in 256 KiB by default, and refuses to sort rows with a text that is larger.
async fn objects_larger_than_the_memory_for_sorting_are_listed(world: World) -> Result<()> {
    let store = world.store().await?;
    write(&store, (0..30).map(|number| format!("small-{number:02}")), 100).await?;
    write(&store, (0..3).map(|number| format!("large-{number:02}")), 300_000).await?;
    let by = |field: &'static str| vec![Order { field: field.into(), descending: true }];
    let same = || Filter::label("same", Test::Equal(Value::text("same")));
    let owner = || Filter::field("spec.owner.name", Test::Equal(Value::text("me")));
    let base = Query::default;
    let questions = [
        ("all", base()),
        ("a namespace", Query { namespaces: vec!["ml".into()], ..base() }),
        ("namespaces", Query { namespaces: vec!["ml".into(), "other".into()], ..base() }),
        ("newest first", Query { order: by("create_time"), ..base() }),
        ("a key has no such order", Query { order: by("res_version"), ..base() }),
        ("a label", Query { filters: vec![same()], ..base() }),
        ("a label, newest first", Query { filters: vec![same()], order: by("create_time"), ..base() }),
        ("a label in a namespace", Query { namespaces: vec!["ml".into()], filters: vec![same()], ..base() }),
        ("an owner", Query { filters: vec![owner()], order: by("create_time"), ..base() }),
        ("an owner and a label", Query { filters: vec![owner(), same()], ..base() }),
    ];
    lists_all(&store, &questions).await?;
    if world.on == On::Sqlite {
        return Ok(());
    }
    // A person has dropped a key that lists name: the database finds another way, and large rows are still not sorted.
    let key = world.on.key("model", "namespace_name");
    let drop = if world.on == On::Postgres {
        format!("DROP INDEX {key}")
    } else {
        format!("ALTER TABLE model DROP KEY {key}")
    };
    world.sql(&drop).await?;
    lists_all(&store, &questions).await
}

/// Each question finds all objects, page by page.
async fn lists_all(store: &Store, questions: &[(&str, Query)]) -> Result<()> {
    for (name, query) in questions {
        let asked = store.ask_about(kind("Model"), query, Limits::default())?;
        let mut uids = BTreeSet::new();
        let mut token = None;
        let mut rows = 0;
        loop {
            let page =
                asked.page(&RequestedParts::object(), 7, token.as_deref()).await.with_context(|| (*name).to_owned())?;
            rows += page.rows.len();
            uids.extend(page.rows.iter().map(|row| row.uid().to_owned()));
            token = page.next;
            if token.is_none() {
                break;
            }
        }
        assert_eq!((uids.len(), rows), (33, 33), "{name}");
        assert_eq!(asked.count().await.with_context(|| (*name).to_owned())?, 33, "{name}");
    }
    Ok(())
}

/// The minimum time of a question: if it ends earlier, it was ended.
const LONG: Duration = Duration::from_secs(10);

async fn questions_without_a_waiting_client_are_ended(world: World) -> Result<()> {
    world.store().await?.close().await;
    let store = world.connect(ConnectOptions::default().connections(10)).await?;
    for tens in 0..10 {
        write(&store, (0..100).map(|number| format!("{tens}-{number:02}")), 10_000).await?;
    }
    // Each text is read once for each pattern.
    let any = (0..1000).map(|number| Filter::field("spec.unknown", Test::Like(format!("%y{number}%")))).collect();
    let query = Query { filters: vec![Filter::Or(any)], scan: true, ..Query::default() };
    let limits = Limits::default().with_time(6 * LONG);
    let asked = store.ask_about(kind("Model"), &query, limits)?;
    let begin = Instant::now();
    let lists = (0..60).map(|_| {
        tokio::time::timeout(Duration::from_millis(150), async {
            asked.page(&RequestedParts::object(), 10, None).await.is_ok()
        })
    });
    ensure!(join_all(lists).await.iter().all(Result::is_err), "a list was answered");
    // Connections are free, and the server works for none of the lists.
    let running = match world.on {
        On::Sqlite => "SELECT 0",
        On::MariaDb | On::MySql => {
            "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND INFO LIKE '/* ingester %'"
        }
        On::Postgres => {
            "SELECT COUNT(*) FROM pg_stat_activity
             WHERE datname = CURRENT_DATABASE() AND state = 'active' AND query LIKE '/* ingester %'"
        }
    };
    loop {
        let used = store.connections().used;
        let running: u64 = world.cell(running).await?.context("a count")?.parse()?;
        if used as u64 + running == 0 {
            break;
        }
        ensure!(begin.elapsed() < LONG, "{used} connections are in use, and {running} lists still run");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // The next ones find intact connections.
    let all = store.ask_about(kind("Model"), &Query::default(), Limits::default())?;
    for counted in join_all((0..10).map(|_| all.count())).await {
        assert_eq!(counted?, 1000);
    }
    ensure!(begin.elapsed() < LONG, "{:?}", begin.elapsed());
    Ok(())
}
