//! Rules about rows that are stored: what goes, what stays, and what keeps it.

use super::rules::{Executor, rules};
use super::{HoldingRule, RetentionForecast, RetentionTask, RowFate, check, forecast};
use crate::fixture;
use crate::metrics::Metrics;
use crate::replicas::Assignment;
use crate::suspend::Suspension;
use ingester_config::{Config, Environment, Live, RetainedState, Retention};
use ingester_core::kind::{Definition, IngestVersion};
use ingester_core::object::ManagedFields;
use ingester_core::schema::base;
use ingester_core::value::{Micros, Value};
use ingester_core::{Kind, KindNames};
use ingester_store::marks::Withdrawal;
use ingester_store::{ChangeResult, Effect, RowChange, Store};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The kind, in a program with a lock file.
const MODEL: Kind = fixture::MODEL.versioned(IngestVersion { number: NUMBER, of_unmarked: 0 });

const NUMBER: u32 = 5;

/// The states of rows, each with its times in days ago.
enum State {
    Live,
    Deleted(i64),
    Evicting(i64),
    Evicted(i64),
    EvictedAndDeleted(i64, i64),
}

fn ago(days: i64) -> Option<Micros> {
    Some(Micros(Micros::now().0 - days * 86_400_000_000))
}

/// A row whose object was created on this day of 2020.
fn row(name: &str, day: u32, label: &str, state: State) -> RowChange {
    let object = json!({
        "apiVersion": "michelangelo.api/v2", "kind": "Model",
        "metadata": {
            "namespace": if label == "other" { "other" } else { "ml" }, "name": name, "uid": name,
            "resourceVersion": "7", "labels": {"tier": label},
            "creationTimestamp": format!("2020-01-{day:02}T00:00:00Z"),
        },
    });
    let object = crate::unit::parse(&MODEL, object.to_string().into(), ManagedFields::Keep).unwrap();
    let mut row = MODEL.row(&object).unwrap().unwrap();
    (row.delete_time, row.evict_time, row.evict_confirmed) = match state {
        State::Live => (None, None, false),
        State::Deleted(days) => (ago(days), None, false),
        State::Evicting(days) => (None, ago(days), false),
        State::Evicted(days) => (None, ago(days), true),
        State::EvictedAndDeleted(evicted, deleted) => (ago(deleted), ago(evicted), true),
    };
    RowChange::Row(row)
}

fn retention(text: &str) -> Retention {
    let text = format!("retention: {{{text}}}");
    Config::parse(&text, &Environment::default(), &KindNames::of(&[MODEL])).unwrap().retention
}

async fn store(rows: Vec<RowChange>) -> Store {
    let store = Store::in_memory(&[MODEL]).await.unwrap();
    store.write(MODEL.table(), rows).await.unwrap();
    store
}

/// Returns the forecast for the first rule of a configuration, which explains each row of this name.
async fn foresee(store: &Store, text: &str, name: &str) -> RetentionForecast {
    let retention = retention(text);
    forecast(store, &retention, &MODEL, &retention.rules[0], Some(name)).await.unwrap()
}

/// The counts of a forecast: what goes, what other rules keep, what the rule keeps.
fn counts(forecast: &RetentionForecast) -> [u64; 3] {
    [forecast.going, forecast.held, forecast.staying]
}

fn why(forecast: &RetentionForecast) -> String {
    forecast.explained.iter().map(|(_, fate)| fate.to_string()).collect::<Vec<_>>().join(", ")
}

#[tokio::test]
async fn a_rule_covers_rows_of_its_state_that_meet_it() {
    let store = store(vec![
        row("live", 1, "gold", State::Live),
        row("deleted", 1, "gold", State::Deleted(9)),
        row("evicting", 1, "gold", State::Evicting(9)),
        row("evicted", 1, "gold", State::Evicted(9)),
        row("young", 1, "gold", State::Evicted(1)),
        row("silver", 1, "silver", State::Evicted(9)),
        row("other", 1, "other", State::Evicted(9)),
        row("both", 1, "gold", State::EvictedAndDeleted(9, 1)),
    ])
    .await;
    let rule = "rules: [{name: a, kinds: [Model], state: STATE, after: 7d, WHEN}]";
    let rule = |state: &str, when: &str| rule.replace("STATE", state).replace("WHEN", when);
    let evicted = foresee(&store, &rule("evicted", "namespaces: [ml]"), "young").await;
    assert_eq!(counts(&evicted), [3, 0, 1]);
    assert!(why(&evicted).starts_with("`after` has not passed before 20"), "{}", why(&evicted));
    assert!(evicted.bytes > 300, "{} bytes", evicted.bytes);
    let gold = foresee(&store, &rule("evicted", "when: {labelSelector: tier=gold}"), "evicted").await;
    assert_eq!((counts(&gold), why(&gold)), ([2, 0, 1], "no rule keeps it any more".to_owned()));
    // A row that was evicted before it was deleted counts as evicted.
    assert_eq!(counts(&foresee(&store, &rule("deleted", ""), "").await), [1, 0, 0]);
    let by_deletion = foresee(&store, &rule("evicted", "since: delete_time"), "both").await;
    assert_eq!(counts(&by_deletion), [0, 0, 5]);
    assert!(why(&by_deletion).starts_with("`after` has not passed"), "{}", why(&by_deletion));
}

#[tokio::test]
async fn the_last_ones_of_a_group_stay() {
    let evicted = |name, day, label| row(name, day, label, State::Evicted(9));
    let store = store(vec![
        evicted("a", 1, "x"),
        evicted("c", 2, "x"),
        evicted("b", 2, "x"),
        evicted("z", 1, "other"),
        row("live", 9, "x", State::Live),
    ])
    .await;
    let last = |keys: &str| format!("rules: [{{name: a, kinds: [Model], state: evicted, keepLast: {{{keys}}}}}]");
    let found = foresee(&store, &last("count: 1, by: [namespace]"), "b").await;
    // Of two objects with the same creation time, the one with the greater uid counts as later. A live object is not an evicted row.
    assert_eq!((counts(&found), why(&found)), ([2, 0, 2], "no rule keeps it any more".to_owned()));
    let found = foresee(&store, &last("count: 3"), "b").await;
    assert_eq!(counts(&found), [1, 0, 3]);
    assert_eq!(why(&found), "it is among the last 3 of its group, which `keepLast` keeps");
}

#[tokio::test]
async fn a_row_goes_once_every_rule_that_covers_it_lets_it_go() {
    let store = store(vec![
        row("old", 1, "x", State::Deleted(90)),
        row("gold", 1, "gold", State::Deleted(90)),
        row("young", 1, "x", State::Deleted(20)),
    ])
    .await;
    let rule = "rules: [{name: short, kinds: [Model], state: deleted, after: 7d}";
    assert_eq!(counts(&foresee(&store, &format!("{rule}]"), "").await), [3, 0, 0]);
    let general = foresee(&store, &format!("deleted: 30d, {rule}]"), "young").await;
    assert_eq!(counts(&general), [2, 1, 0]);
    assert!(why(&general).starts_with("`retention.deleted` keeps it: `after` has not passed"), "{}", why(&general));
    let never = foresee(&store, &format!("deleted: 30d, deletedMap: {{Model: 0s}}, {rule}]"), "old").await;
    assert_eq!((counts(&never), why(&never)), ([0, 3, 0], "`retention.deleted` keeps it for ever".to_owned()));
    // A rule keeps what it covers before it is enforced. A rule for another state does not apply.
    let gold = "{name: gold, kinds: [Model], state: deleted, when: {labelSelector: tier=gold}, after: 365d}";
    let of_evicted = "{name: evicted, kinds: [Model], state: evicted, after: 365d}";
    let both = foresee(&store, &format!("{rule}, {gold}, {of_evicted}]"), "gold").await;
    assert_eq!(counts(&both), [2, 1, 0]);
    assert!(matches!(&both.explained[..], [(_, RowFate::Held(HoldingRule { .. }))]), "{both:?}");
    assert!(why(&both).starts_with("`gold` keeps it"), "{}", why(&both));
    let last = "{name: last, kinds: [Model], state: deleted, keepLast: {count: 2}}";
    let last = foresee(&store, &format!("{rule}, {last}]"), "young").await;
    assert_eq!(counts(&last), [1, 2, 0]);
    assert!(why(&last).starts_with("`last` keeps it: it is among the last 2"), "{}", why(&last));
}

#[test]
fn sql_alone_purges_by_age_where_no_other_rule_can_keep_a_row() {
    let age = Duration::from_secs(30 * 24 * 3600);
    for (text, of_deleted) in [
        ("", Executor::Nothing),
        ("deleted: 30d", Executor::Age(age)),
        ("deleted: 30d, deletedMap: {Model: 0s}", Executor::Nothing),
        ("deleted: 30d, rules: [{name: a, kinds: [Model], state: evicted, after: 7d}]", Executor::Age(age)),
        ("rules: [{name: a, kinds: [Model], state: deleted, after: 7d}]", Executor::Judge),
        ("deleted: 30d, rules: [{name: a, kinds: [Model], state: deleted, after: 7d}]", Executor::Judge),
    ] {
        let retention = retention(text);
        let executor = |state| Executor::for_state(state, &rules(&retention, &MODEL, state));
        assert_eq!(executor(RetainedState::Deleted), of_deleted, "{text}");
        assert_eq!(executor(RetainedState::Evicted), Executor::Judge, "{text}");
    }
}

#[test]
fn a_rule_that_cannot_be_judged_names_what_is_wrong() {
    let immutable = Kind::new(Definition { immutable: true, ..*MODEL.definition() }, *MODEL.functions());
    let wrong = |kind: &Kind, keys: &str| {
        let retention = retention(&format!("rules: [{{name: a, kinds: [Model], state: evicted, after: 1d, {keys}}}]"));
        check(kind, &retention.rules[0]).map_err(|error| error.to_string())
    };
    assert!(wrong(&immutable, "").unwrap_err().contains("add `immutable: true`"));
    assert_eq!(wrong(&immutable, "immutable: true"), Ok(()));
    assert_eq!(wrong(&MODEL, ""), Ok(()));
    assert!(wrong(&MODEL, "since: name").unwrap_err().contains("`name` is not a time"));
    assert!(wrong(&MODEL, "when: {fieldSelector: spec.phase=done}").unwrap_err().contains("spec.phase"));
    assert!(wrong(&MODEL, "keepLast: {count: 1, by: [spec.owner]}").unwrap_err().contains("spec.owner"));
}

/// Runs retention until the remaining rows have these uids, and metrics have these lines.
async fn run_until(store: &Arc<Store>, text: &str, left: &[&str], lines: &[(&str, u64)]) {
    let text = format!("retention: {{{text}}}");
    let mut config = Config::parse(&text, &Environment::default(), &KindNames::of(&[MODEL])).unwrap();
    config.retention.grace = Duration::ZERO;
    let metrics = Metrics::new().unwrap();
    let running = RetentionRun::follow(store, &Live::fixed(config), &metrics);
    let looking = async {
        loop {
            let rows = store.read_stored(MODEL.table(), &["a", "b", "c", "d", "e"]).await.unwrap();
            let there = rows.iter().map(|row| &*row.uid);
            let rendered = metrics.render();
            let says = |(name, value): &(&str, u64)| {
                rendered.contains(&format!("ingester_{name}{{kind=\"Model\"}} {value}\n"))
            };
            if there.eq(left.iter().copied()) && lines.iter().all(says) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let found = tokio::time::timeout(Duration::from_secs(20), looking).await;
    assert!(found.is_ok(), "not {left:?} or not {lines:?}: {}", metrics.render());
    running.stop().await;
}

async fn five() -> Arc<Store> {
    let rows = vec![
        row("a", 1, "x", State::Evicted(90)),
        row("b", 2, "x", State::Evicted(90)),
        row("c", 3, "gold", State::Evicted(90)),
        row("d", 4, "x", State::Evicting(90)),
        row("e", 5, "x", State::Deleted(90)),
    ];
    Arc::new(store(rows).await)
}

#[tokio::test]
async fn a_rule_purges_nothing_before_it_is_enforced() {
    let rule =
        "rules: [{name: a, kinds: [Model], state: evicted, when: {labelSelector: tier=x}, after: 30d, enforce: false}]";
    let store = five().await;
    let dry = [("retention_rows", 2), ("retention_waiting_rows", 0), ("purged_rows_total", 1)];
    run_until(&store, &format!("deleted: 30d, {rule}"), &["a", "b", "c", "d"], &dry).await;
    let enforced = [("retention_rows", 0), ("retention_waiting_rows", 0), ("purged_rows_total", 2)];
    run_until(&store, &rule.replace("false", "true"), &["c", "d"], &enforced).await;
}

#[tokio::test]
async fn a_rule_whose_folder_cannot_be_written_keeps_its_rows_and_others_go_on() {
    let rules = "{name: gold, kinds: [Model], state: evicted, when: {labelSelector: tier=gold}, after: 30d, enforce: true, \
                 export: {path: FOLDER}}, {name: x, kinds: [Model], state: evicted, when: {labelSelector: tier=x}, after: 30d, enforce: true}";
    let store = five().await;
    let folder = tempfile::tempdir().unwrap();
    let text = |path: &Path| format!("rules: [{}]", rules.replace("FOLDER", &path.display().to_string()));
    let failed = [("retention_waiting_rows", 1), ("retention_failures_total", 1), ("purged_rows_total", 2)];
    run_until(&store, &text(&folder.path().join("none")), &["c", "d", "e"], &failed).await;
    run_until(&store, &text(folder.path()), &["d", "e"], &[("retention_waiting_rows", 0)]).await;
    let files: Vec<_> = folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let [file] = &files[..] else { panic!("{files:?}") };
    let file = file.to_string_lossy();
    assert!(file.starts_with("model-c-7-") && file.ends_with(".jsonl.gz"), "{file}");
}

/// A rule that lets rows of evicted objects go whose label is not `gold`.
const NOT_GOLD: &str =
    "rules: [{name: a, kinds: [Model], state: evicted, when: {labelSelector: tier!=gold}, after: 1d, enforce: true}]";

/// The same row, with labels in SQL that its object does not have.
fn relabelled(change: RowChange, labels: &[(&str, &str)]) -> RowChange {
    let RowChange::Row(mut row) = change else { return change };
    row.labels = labels.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    RowChange::Row(row)
}

/// The same row as another definition of the kind wrote it.
fn of_definition(change: RowChange, number: u32) -> RowChange {
    let RowChange::Row(mut row) = change else { return change };
    row.ingest_version = number;
    row.values[base::INGEST_VERSION] = Value::UInt(number.into());
    RowChange::Row(row)
}

fn evicted(name: &str, day: u32, label: &str) -> RowChange {
    row(name, day, label, State::Evicted(90))
}

#[tokio::test]
async fn a_row_is_pending_whose_columns_its_text_does_not_prove() {
    let store = store(vec![
        evicted("proved", 1, "x"),
        relabelled(evicted("unfilled", 2, "gold"), &[]),
        relabelled(evicted("edited", 3, "gold"), &[("tier", "x")]),
        of_definition(evicted("former", 4, "x"), 3),
        of_definition(evicted("uncomputed", 5, "x"), 0),
        of_definition(evicted("later", 6, "x"), 9),
    ])
    .await;
    let found = foresee(&store, NOT_GOLD, "unfilled").await;
    assert_eq!((counts(&found), found.pending), ([1, 0, 0], 5));
    assert!(why(&found).contains("pending: `model_labels` is not what its object says"), "{}", why(&found));
    for (name, part) in [
        ("former", "definition 3 of the kind wrote it"),
        ("uncomputed", "its columns are not computed from its object"),
        ("later", "definition 9 of the kind wrote it"),
        ("proved", "no rule keeps it any more"),
    ] {
        let found = foresee(&store, NOT_GOLD, name).await;
        assert!(why(&found).contains(part), "{name}: {}", why(&found));
    }
}

#[tokio::test]
async fn a_program_with_a_former_definition_judges_nothing() {
    let store = store(vec![evicted("a", 1, "x")]).await;
    let next = fixture::MODEL.versioned(IngestVersion { number: NUMBER + 1, of_unmarked: 0 });
    store.record_latest(&[next]).await.unwrap();
    store.record_latest(&[MODEL]).await.unwrap();
    let found = foresee(&store, NOT_GOLD, "a").await;
    assert_eq!((counts(&found), found.pending), ([0, 0, 0], 1));
    assert!(why(&found).contains("the database records 6"), "{}", why(&found));
}

#[tokio::test]
async fn a_pending_row_stays_against_every_rule_and_takes_no_place_among_the_last() {
    // The columns of the newest row are not proved: the one before it is the last one.
    let rules = "rules: [{name: a, kinds: [Model], state: evicted, keepLast: {count: 1}, enforce: true}, \
                 {name: gold, kinds: [Model], state: evicted, when: {labelSelector: tier=gold}, after: 365d}]";
    let store = Arc::new(
        store(vec![evicted("a", 1, "x"), evicted("b", 2, "x"), relabelled(evicted("c", 3, "gold"), &[])]).await,
    );
    run_until(&store, rules, &["b", "c"], &[("purged_rows_total", 1)]).await;
}

#[tokio::test]
async fn a_row_of_an_only_copy_is_marked_and_purged_after_the_grace() {
    let store = Arc::new(store(vec![evicted("a", 1, "x"), evicted("b", 2, "gold")]).await);
    let task = RetentionRun::start(&store, NOT_GOLD, Duration::from_secs(3600));
    task.until(|| async { marked(&store).await == ["a"] }).await;
    task.stop().await;
    let rows = store.read_stored(MODEL.table(), &["a", "b"]).await.unwrap();
    assert!(rows[0].delete_time.is_some() && rows[1].delete_time.is_none(), "{rows:?}");
    let found = foresee(&store, NOT_GOLD, "a").await;
    assert!(why(&found).contains("`a` has marked it, and purges it from"), "{}", why(&found));

    // A rule that says something else begins again; one that is gone or not enforced takes its mark back.
    for rules in [NOT_GOLD.replace("enforce: true", "enforce: false"), "rules: []".to_owned()] {
        let task = RetentionRun::start(&store, &rules, Duration::from_secs(3600));
        task.until(|| async { marked(&store).await.is_empty() }).await;
        task.stop().await;
        let rows = store.read_stored(MODEL.table(), &["a"]).await.unwrap();
        assert_eq!(rows[0].delete_time, None);
        let task = RetentionRun::start(&store, NOT_GOLD, Duration::from_secs(3600));
        task.until(|| async { marked(&store).await == ["a"] }).await;
        task.stop().await;
    }
    run_until(&store, NOT_GOLD, &["b"], &[("purged_rows_total", 1)]).await;
    assert!(marked(&store).await.is_empty(), "the mark goes with its row");
}

#[tokio::test]
async fn a_reverted_row_is_exempt_until_its_text_changes() {
    let store = Arc::new(store(vec![evicted("a", 1, "x"), evicted("b", 2, "x")]).await);
    let task = RetentionRun::start(&store, NOT_GOLD, Duration::from_secs(3600));
    task.until(|| async { marked(&store).await == ["a", "b"] }).await;
    task.stop().await;
    // Another object has the name of `b` by now.
    let RowChange::Row(mut namesake) = row("n", 9, "x", State::Live) else { panic!("a row") };
    namesake.values[base::NAME] = Value::text("b");
    store.write(MODEL.table(), vec![RowChange::Row(namesake)]).await.unwrap();
    let marks = store.marks_after(MODEL.table(), None).await.unwrap();
    let withdrawn = store.withdraw_marks(&MODEL, &marks, Withdrawal::Reverted).await.unwrap();
    assert_eq!((withdrawn.restored, &withdrawn.namesakes[..]), (1, &[("ml".to_owned(), "b".to_owned())][..]));
    let rows = store.read_stored(MODEL.table(), &["a", "b"]).await.unwrap();
    assert!(rows[0].delete_time.is_none() && rows[1].delete_time.is_some(), "{rows:?}");
    let found = foresee(&store, NOT_GOLD, "a").await;
    assert!(why(&found).contains("the rule was reverted for it"), "{}", why(&found));

    // The rule leaves both alone; a row that it has not met yet shows that it was judged.
    store.write(MODEL.table(), vec![evicted("c", 3, "x")]).await.unwrap();
    run_until(&store, NOT_GOLD, &["a", "b"], &[("purged_rows_total", 1)]).await;
    let changed = store
        .change_evicted(&MODEL, "a", Effect::Written, |stored| {
            let text = stored.json().replace("\"resourceVersion\":\"7\"", "\"resourceVersion\":\"8\"");
            let object = crate::unit::parse(&MODEL, text.into(), ManagedFields::Keep).unwrap();
            Ok::<_, ()>(MODEL.row(&object).unwrap())
        })
        .await
        .unwrap();
    assert!(matches!(changed, ChangeResult::Done(_)), "{changed:?}");
    run_until(&store, NOT_GOLD, &["b"], &[("purged_rows_total", 1)]).await;
}

#[tokio::test]
async fn a_deleted_row_takes_no_place_among_the_last() {
    let store =
        store(vec![evicted("a", 1, "x"), evicted("b", 2, "x"), row("c", 3, "x", State::EvictedAndDeleted(90, 1))])
            .await;
    let rules = "rules: [{name: a, kinds: [Model], state: evicted, keepLast: {count: 1}}]";
    // The deleted one is the newest, so it stays; but it does not push `b` out.
    assert_eq!(counts(&foresee(&store, rules, "").await), [1, 0, 2]);
    assert_eq!(why(&foresee(&store, rules, "a").await), "no rule keeps it any more");
}

/// The names of the rows that have an active mark.
async fn marked(store: &Store) -> Vec<String> {
    let marks = store.marks_after(MODEL.table(), None).await.unwrap();
    marks.into_iter().filter(|mark| mark.revert_time.is_none()).map(|mark| mark.uid).collect()
}

/// A log that changes the configuration once it says that rows are purged, which is during a round.
#[derive(Clone)]
struct ChangingLog {
    sender: watch::Sender<Arc<Config>>,
    to: Arc<Config>,
}

impl std::io::Write for ChangingLog {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        if String::from_utf8_lossy(line).contains("Purged rows of deleted objects") {
            self.sender.send_replace(self.to.clone());
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_change_during_a_round_begins_the_next_one_at_once() {
    let rows = vec![row("old", 1, "x", State::Deleted(90)), row("young", 2, "x", State::Deleted(9))];
    let store = Arc::new(store(rows).await);
    let config = |text| Config { retention: retention(text), ..Config::default() };
    let (sender, live) = Live::new(config("deleted: 30d"));
    let log = ChangingLog { sender, to: Arc::new(config("deleted: 1d")) };
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || log.clone()).finish();
    let _logging = tracing::subscriber::set_default(subscriber);
    let task = RetentionRun::follow(&store, &live, &Metrics::new().unwrap());
    // The pause after the round would be an hour.
    task.until(|| async { store.read_stored(MODEL.table(), &["old", "young"]).await.unwrap().is_empty() }).await;
    task.stop().await;
}

/// Retention that runs.
struct RetentionRun {
    task: tokio::task::JoinHandle<()>,
    stop: CancellationToken,
}

impl RetentionRun {
    fn start(store: &Arc<Store>, text: &str, grace: Duration) -> Self {
        let config = Config { retention: Retention { grace, ..retention(text) }, ..Config::default() };
        RetentionRun::follow(store, &Live::fixed(config), &Metrics::new().unwrap())
    }

    fn follow(store: &Arc<Store>, live: &Live, metrics: &Metrics) -> Self {
        let task = RetentionTask {
            store: store.clone(),
            kinds: vec![MODEL],
            suspension: Suspension::new(&[MODEL], &live.now(), metrics),
            live: live.clone(),
            assignment: Assignment::alone(),
            metrics: metrics.clone(),
        };
        let stop = CancellationToken::new();
        RetentionRun { task: tokio::spawn(task.run(stop.clone())), stop }
    }

    async fn until<F: Future<Output = bool>>(&self, holds: impl Fn() -> F) {
        let wait = async {
            while !holds().await {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), wait).await.unwrap();
    }

    async fn stop(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }
}
