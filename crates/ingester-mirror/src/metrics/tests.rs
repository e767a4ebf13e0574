//! Tests of the rendered text.

use super::{ControllerMetrics, GiveUpReason, ListMethod, Metrics, Outcome, Restart, SkipReason};
use ingester_store::ErrorClass;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

#[allow(unreachable_pub, reason = "in its own crate it is public")]
#[path = "../../../../tests/src/exposition.rs"]
mod exposition;

/// The parsed text format: types by name, and values by name and labels.
#[derive(Default)]
struct Exposition {
    types: BTreeMap<String, String>,
    helped: BTreeSet<String>,
    values: BTreeMap<String, f64>,
}

impl Exposition {
    fn from_metrics(metrics: &Metrics) -> Self {
        let mut rendered = Exposition::default();
        for line in metrics.render().lines() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                let (name, help) = help.split_once(' ').unwrap();
                assert!(!help.is_empty() && rendered.helped.insert(name.into()), "{line}");
            } else if let Some(kind) = line.strip_prefix("# TYPE ") {
                let (name, kind) = kind.split_once(' ').unwrap();
                assert_eq!(rendered.types.insert(name.into(), kind.into()), None, "{line}");
            } else {
                let (series, value) = line.rsplit_once(' ').unwrap();
                assert_eq!(rendered.values.insert(series.into(), value.parse().unwrap()), None, "{line}");
            }
        }
        rendered
    }

    /// The value of a series, which is written as in the text.
    #[track_caller]
    fn value(&self, series: &str) -> f64 {
        *self.values.get(series).unwrap_or_else(|| panic!("no series {series}"))
    }

    #[track_caller]
    fn has(&self, series: &[(&str, f64)]) {
        for (series, value) in series {
            assert_eq!(self.value(series), *value, "{series}");
        }
    }
}

fn model() -> (Metrics, ControllerMetrics) {
    let metrics = Metrics::new().unwrap();
    let model = metrics.controller("Model");
    (metrics, model)
}

#[test]
fn every_series_exists_from_the_start() {
    let (metrics, _) = model();
    let rendered = Exposition::from_metrics(&metrics);
    for (series, value) in &rendered.values {
        let one = ["ingester_build_info", "ingester_config_last_reload_successful"];
        let expected = f64::from(one.iter().any(|name| series.starts_with(name)));
        assert_eq!(*value, expected, "{series}");
    }
    for (name, labels, values) in [
        (
            "controller_runtime_reconcile_total",
            "controller=\"ingester_Model\",result",
            "success error requeue requeue_after",
        ),
        ("ingester_rows_skipped_total", "kind=\"Model\",reason", "unchanged stale"),
        ("ingester_objects_listed_total", "kind=\"Model\",read", "stream pages metadata"),
        ("ingester_watch_restarts_total", "kind=\"Model\",reason", "expired behind not_installed connection"),
        ("ingester_events_total", "result", "published failed dropped"),
        ("ingester_config_reloads_total", "result", "success failed"),
        ("ingester_database_connections", "state", "used idle"),
    ] {
        for value in values.split(' ') {
            rendered.value(&format!("{name}{{{labels}=\"{value}\"}}"));
        }
    }
    for class in ["transient", "object", "operator", "lease", "unknown"] {
        rendered.value(&format!("ingester_database_errors_total{{class=\"{class}\",kind=\"Model\"}}"));
    }
    for code in ["network", "403", "409", "429", "500"] {
        rendered.value(&format!("ingester_api_errors_total{{code=\"{code}\",kind=\"Model\"}}"));
    }
    assert_eq!(rendered.types.len(), 81);
    assert!(rendered.types.keys().eq(&rendered.helped), "every metric is explained");
}

#[test]
fn the_gauges_of_a_kind_are_the_sums_of_its_controllers() {
    let (metrics, one) = model();
    let two = metrics.controller("Model");
    for (controller, number) in [(&one, 3), (&two.clone(), 4)] {
        controller.waiting(number, 0, 100 * number);
        controller.workers(number);
        controller.objects(10 * number);
        controller.rejected_objects(number);
    }
    let working = one.work(1);
    let also = two.work(1);
    let series = |kind: &str| {
        [
            format!("workqueue_depth{{name=\"ingester_{kind}\"}}"),
            format!("ingester_waiting_bytes{{kind=\"{kind}\"}}"),
            format!("controller_runtime_max_concurrent_reconciles{{controller=\"ingester_{kind}\"}}"),
            format!("ingester_objects{{kind=\"{kind}\"}}"),
            format!("ingester_rejected_objects{{kind=\"{kind}\"}}"),
            format!("controller_runtime_active_workers{{controller=\"ingester_{kind}\"}}"),
        ]
    };
    let values = |kind: &str| {
        let rendered = Exposition::from_metrics(&metrics);
        series(kind).map(|series| rendered.value(&series))
    };
    metrics.controller("Project").objects(1);
    assert_eq!(values("Model"), [7.0, 700.0, 7.0, 70.0, 7.0, 2.0]);
    drop((working, also));
    one.objects(5);
    assert_eq!(values("Model"), [7.0, 700.0, 7.0, 45.0, 7.0, 0.0]);
    drop(two);
    assert_eq!(values("Model"), [3.0, 300.0, 3.0, 5.0, 3.0, 0.0], "a controller that is gone counts no longer");
}

#[test]
fn a_kind_is_synced_and_installed_once_it_is_in_every_namespace() {
    let (metrics, one) = model();
    let two = metrics.controller("Model");
    // The metrics of backfills do not belong to a controller.
    metrics.backfill("Model").incomplete_columns(0);
    let values = || {
        let rendered = Exposition::from_metrics(&metrics);
        ["synced", "installed"].map(|name| rendered.value(&format!("ingester_{name}{{kind=\"Model\"}}")))
    };
    one.synced(true);
    one.installed(true);
    assert_eq!(values(), [0.0, 0.0]);
    two.installed(true);
    assert_eq!(values(), [0.0, 1.0]);
    two.synced(true);
    assert_eq!(values(), [1.0, 1.0]);
    one.synced(false);
    assert_eq!(values(), [0.0, 1.0]);
}

#[test]
fn retention_counts_its_rows() {
    let metrics = Metrics::new().unwrap();
    metrics.retention("Model").purged(3);
    assert!(metrics.render().contains("ingester_purged_rows_total{kind=\"Model\"} 3\n"));
}

#[test]
fn times_and_ages_are_those_of_the_controller_that_matters() {
    let (metrics, one) = model();
    let two = metrics.controller("Model");
    let value = |name: &str| Exposition::from_metrics(&metrics).value(&format!("ingester_{name}{{kind=\"Model\"}}"));
    two.list_ended();
    two.event_received();
    for name in ["last_list_timestamp_seconds", "last_event_timestamp_seconds"] {
        assert_eq!(value(name), 0.0, "one namespace was not listed yet: {name}");
    }
    let before = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs_f64();
    one.list_ended();
    let listed = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs_f64();
    assert!(value("last_list_timestamp_seconds") <= listed);
    two.list_ended();
    two.event_received();
    let silent = value("last_event_timestamp_seconds");
    assert!((before..=listed).contains(&silent), "a watch without an event is silent since the list: {silent}");
    one.list_ended();
    assert_eq!(value("last_event_timestamp_seconds"), silent, "a list is not an event");
    one.event_received();
    assert!(value("last_event_timestamp_seconds") >= listed);
    one.oldest(|| Some(Duration::from_secs(7)));
    two.oldest(|| None);
    assert_eq!(value("oldest_waiting_seconds"), 7.0);
    one.oldest(|| None);
    assert_eq!(value("oldest_waiting_seconds"), 0.0);
}

#[test]
fn a_controller_that_has_stopped_holds_nothing_and_is_not_synced() {
    let (metrics, model) = model();
    model.waiting(3, 0, 300);
    model.held(2);
    model.workers(4);
    model.objects(5);
    model.synced(true);
    model.installed(true);
    model.list_ended();
    model.stopped();
    let kind = "{kind=\"Model\"}";
    Exposition::from_metrics(&metrics).has(&[
        ("workqueue_depth{name=\"ingester_Model\"}", 0.0),
        (&format!("ingester_waiting_bytes{kind}"), 0.0),
        (&format!("ingester_held_objects{kind}"), 0.0),
        (&format!("ingester_synced{kind}"), 0.0),
        (&format!("ingester_last_list_timestamp_seconds{kind}"), 0.0),
        (&format!("ingester_last_event_timestamp_seconds{kind}"), 0.0),
        (&format!("ingester_objects{kind}"), 5.0),
        (&format!("ingester_installed{kind}"), 1.0),
    ]);
}

#[test]
fn what_was_given_away_is_not_shown_here() {
    let (metrics, one) = model();
    let two = metrics.controller("Model");
    let kind = "{kind=\"Model\"}";
    for controller in [&one, &two] {
        controller.objects(5);
        controller.rejected_objects(1);
        controller.held(2);
        controller.installed(true);
        controller.oldest(|| Some(Duration::from_secs(7)));
    }
    one.synced(true);
    one.list_ended();
    let value = |name: &str| Exposition::from_metrics(&metrics).value(&format!("ingester_{name}{kind}"));
    let values = || ["objects", "rejected_objects", "held_objects", "installed", "synced"].map(value);
    assert_eq!(values(), [10.0, 2.0, 4.0, 1.0, 0.0]);
    // Objects that the other member has not listed yet do not count here.
    two.given_away();
    assert_eq!(values(), [5.0, 1.0, 2.0, 1.0, 1.0]);
    assert!(value("last_list_timestamp_seconds") > 1e9 && value("last_event_timestamp_seconds") > 1e9);
    one.given_away();
    assert_eq!(values(), [0.0; 5]);
    for name in ["last_list_timestamp_seconds", "last_event_timestamp_seconds", "oldest_waiting_seconds"] {
        assert_eq!(value(name), 0.0, "{name}");
    }
    // The unit comes back without any earlier knowledge of it.
    two.taken_over();
    assert_eq!(values(), [0.0; 5]);
    two.installed(true);
    assert_eq!(values(), [0.0, 0.0, 0.0, 1.0, 0.0]);
}

#[test]
fn audits_show_what_the_last_that_ended_found() {
    let metrics = Metrics::new().unwrap();
    let audit = metrics.audit("Model");
    audit.succeeded([1, 2, 3, 4, 5, 6, 7, 8]);
    audit.failed();
    let rendered = Exposition::from_metrics(&metrics);
    for (finding, found) in crate::metrics::FINDINGS.into_iter().zip([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]) {
        let series = format!("ingester_audit_findings{{finding=\"{finding}\",kind=\"Model\"}}");
        assert_eq!(rendered.value(&series), found);
    }
    rendered.has(&[
        ("ingester_audits_total{kind=\"Model\",result=\"success\"}", 1.0),
        ("ingester_audits_total{kind=\"Model\",result=\"failed\"}", 1.0),
    ]);
    assert!(rendered.value("ingester_last_audit_timestamp_seconds{kind=\"Model\"}") > 1e9);
    audit.forgotten();
    let rendered = Exposition::from_metrics(&metrics);
    for finding in crate::metrics::FINDINGS {
        let series = format!("ingester_audit_findings{{finding=\"{finding}\",kind=\"Model\"}}");
        assert_eq!(rendered.value(&series), 0.0);
    }
}

#[test]
fn a_configuration_file_with_mistakes_shows_until_it_is_corrected() {
    let metrics = Metrics::new().unwrap();
    metrics.config_reloaded(false);
    Exposition::from_metrics(&metrics).has(&[
        ("ingester_config_reloads_total{result=\"failed\"}", 1.0),
        ("ingester_config_last_reload_successful", 0.0),
    ]);
    metrics.config_reloaded(true);
    Exposition::from_metrics(&metrics).has(&[
        ("ingester_config_reloads_total{result=\"failed\"}", 1.0),
        ("ingester_config_reloads_total{result=\"success\"}", 1.0),
        ("ingester_config_last_reload_successful", 1.0),
    ]);
}

#[tokio::test]
async fn connections_are_shown_as_long_as_the_database_is_open() {
    let metrics = Metrics::new().unwrap();
    let store = std::sync::Arc::new(ingester_store::Store::in_memory(&[]).await.unwrap());
    metrics.database(&store);
    // A task of the pool takes the connection back.
    while store.connections().idle == 0 {
        tokio::task::yield_now().await;
    }
    let rendered = Exposition::from_metrics(&metrics);
    rendered.has(&[
        ("ingester_database_connections{state=\"used\"}", 0.0),
        ("ingester_database_connections{state=\"idle\"}", 1.0),
        ("ingester_database_connections_limit", 1.0),
        ("ingester_database_connections_waiting", 0.0),
    ]);
    assert!(rendered.value("ingester_database_connection_waits_total") > 0.0);
    let waits = rendered.value("ingester_database_connection_waits_total");
    drop(store);
    Exposition::from_metrics(&metrics).has(&[
        ("ingester_database_connections{state=\"idle\"}", 0.0),
        ("ingester_database_connection_waits_total", waits),
    ]);
}

#[test]
fn backfills_count_their_rows_and_columns() {
    let metrics = Metrics::new().unwrap();
    let backfill = metrics.backfill("Model");
    backfill.count_rows(5, 3, 1);
    backfill.incomplete_columns(2);
    Exposition::from_metrics(&metrics).has(&[
        ("ingester_backfill_rows_total{kind=\"Model\",result=\"filled\"}", 5.0),
        ("ingester_backfill_rows_total{kind=\"Model\",result=\"unchanged\"}", 3.0),
        ("ingester_backfill_rows_total{kind=\"Model\",result=\"failed\"}", 1.0),
        ("ingester_incomplete_columns{kind=\"Model\"}", 2.0),
    ]);
}

#[test]
fn the_controllers_of_a_kind_count_together() {
    let (metrics, model) = model();
    model.written(2);
    metrics.controller("Model").written(3);
    metrics.clone().controller("Project").written(1);
    Exposition::from_metrics(&metrics).has(&[
        ("ingester_rows_written_total{kind=\"Model\"}", 5.0),
        ("ingester_rows_written_total{kind=\"Project\"}", 1.0),
    ]);
}

#[test]
fn two_ingesters_in_one_process_share_nothing() {
    let (first, model) = model();
    let second = Metrics::new().unwrap();
    second.controller("Model");
    model.written(1);
    let series = "ingester_rows_written_total{kind=\"Model\"}";
    assert_eq!(
        (Exposition::from_metrics(&first).value(series), Exposition::from_metrics(&second).value(series)),
        (1.0, 0.0)
    );
}

#[test]
fn every_method_moves_its_own_series_and_no_other() {
    type MetricAction = fn(&ControllerMetrics);
    let cases: &[(MetricAction, &[(&str, f64)])] = &[
        (
            |m| m.waiting(3, 2, 4096),
            &[("workqueue_depth", 5.0), ("ingester_spooled_objects", 2.0), ("ingester_waiting_bytes", 4096.0)],
        ),
        (|m| m.added(), &[("workqueue_adds_total", 1.0)]),
        (|m| m.retried(2), &[("workqueue_retries_total", 2.0)]),
        (|m| m.workers(4), &[("controller_runtime_max_concurrent_reconciles", 4.0)]),
        (|m| m.reconciled(Outcome::Success, 7), &[("controller_runtime_reconcile_total success", 7.0)]),
        (|m| m.reconciled(Outcome::RequeueAfter, 7), &[("controller_runtime_reconcile_total requeue_after", 7.0)]),
        (
            |m| m.reconciled(Outcome::Error, 7),
            &[("controller_runtime_reconcile_total error", 7.0), ("controller_runtime_reconcile_errors_total", 7.0)],
        ),
        (|m| m.objects(5), &[("ingester_objects", 5.0)]),
        (|m| m.mirrored(2), &[("ingester_objects_mirrored_total", 2.0)]),
        (|m| m.written(2), &[("ingester_rows_written_total", 2.0)]),
        (|m| m.skipped(SkipReason::Unchanged, 2), &[("ingester_rows_skipped_total unchanged", 2.0)]),
        (|m| m.skipped(SkipReason::Stale, 2), &[("ingester_rows_skipped_total stale", 2.0)]),
        (|m| m.deleted(2), &[("ingester_rows_deleted_total", 2.0)]),
        (|m| m.evicted(2), &[("ingester_objects_evicted_total", 2.0)]),
        (|m| m.eviction_failed(), &[("ingester_evictions_failed_total", 1.0)]),
        (|m| m.eviction_lost(), &[("ingester_evictions_lost_total", 1.0)]),
        (|m| m.held(2), &[("ingester_held_objects", 2.0)]),
        (|m| m.ghosts(2), &[("ingester_ghosts", 2.0)]),
        (|m| m.rejected(), &[("ingester_rejects_total", 1.0)]),
        (
            |m| m.lost(ingester_core::protobuf::Lost { fields: 3, enums: 2, values: 1 }),
            &[
                ("ingester_proto_lost_total field", 3.0),
                ("ingester_proto_lost_total enum", 2.0),
                ("ingester_proto_lost_total value", 1.0),
            ],
        ),
        (|m| m.nul_values(2), &[("ingester_nul_values_total", 2.0)]),
        (|m| m.unfit_values(3), &[("ingester_unfit_values_total", 3.0)]),
        (|m| m.batches_split(2), &[("ingester_batches_split_total", 2.0)]),
        (|m| m.rejected_objects(2), &[("ingester_rejected_objects", 2.0)]),
        (|m| m.orphans_swept(2), &[("ingester_orphans_swept_total", 2.0)]),
        (|m| m.sweep_refused(), &[("ingester_sweeps_refused_total", 1.0)]),
        (|m| m.left_out_waiting(2), &[("ingester_left_out_waiting_rows", 2.0)]),
        (|m| m.database_error(ErrorClass::Transient), &[("ingester_database_errors_total transient", 1.0)]),
        (|m| m.database_error(ErrorClass::Object), &[("ingester_database_errors_total object", 1.0)]),
        (|m| m.database_error(ErrorClass::Operator), &[("ingester_database_errors_total operator", 1.0)]),
        (|m| m.database_error(ErrorClass::Lease), &[("ingester_database_errors_total lease", 1.0)]),
        (|m| m.database_error(ErrorClass::Unknown), &[("ingester_database_errors_total unknown", 1.0)]),
        (|m| m.finalizers_added(2), &[("ingester_finalizers_added_total", 2.0)]),
        (|m| m.finalizers_removed(2), &[("ingester_finalizers_removed_total", 2.0)]),
        (|m| m.finalizer_given_up(GiveUpReason::Refused), &[("ingester_finalizers_given_up_total refused", 1.0)]),
        (|m| m.finalizer_given_up(GiveUpReason::Removed), &[("ingester_finalizers_given_up_total removed", 1.0)]),
        (|m| m.listed(), &[("ingester_lists_total", 1.0)]),
        (|m| m.objects_listed(ListMethod::Stream, 2), &[("ingester_objects_listed_total stream", 2.0)]),
        (|m| m.objects_listed(ListMethod::Pages, 2), &[("ingester_objects_listed_total pages", 2.0)]),
        (|m| m.objects_listed(ListMethod::Metadata, 2), &[("ingester_objects_listed_total metadata", 2.0)]),
        (|m| m.watch_restarted(Restart::Expired), &[("ingester_watch_restarts_total expired", 1.0)]),
        (|m| m.watch_restarted(Restart::Behind), &[("ingester_watch_restarts_total behind", 1.0)]),
        (|m| m.watch_restarted(Restart::NotInstalled), &[("ingester_watch_restarts_total not_installed", 1.0)]),
        (|m| m.watch_restarted(Restart::Connection), &[("ingester_watch_restarts_total connection", 1.0)]),
        (|m| m.panicked(), &[("ingester_controller_panics_total", 1.0)]),
        (|m| m.restored(2), &[("ingester_restored_total", 2.0)]),
        (|m| m.synced(true), &[("ingester_synced", 1.0)]),
        (|m| m.installed(true), &[("ingester_installed", 1.0)]),
    ];
    for (act, expected) in cases {
        let (metrics, model) = model();
        act(&model);
        let mut moved: Vec<(String, f64)> = Exposition::from_metrics(&metrics)
            .values
            .into_iter()
            .filter(|(series, value)| *value != 0.0 && series.contains("Model"))
            .map(|(series, value)| {
                // `name{...}`, followed by the value of a second label if there is one.
                let (name, labels) = series.split_once('{').unwrap();
                let own =
                    labels.split('"').find(|l| l.chars().all(|c| c.is_ascii_lowercase() || c == '_') && !l.is_empty());
                (own.map_or_else(|| name.to_owned(), |own| format!("{name} {own}")), value)
            })
            .collect();
        moved.sort_by(|a, b| a.0.cmp(&b.0));
        let mut expected: Vec<(String, f64)> = expected.iter().map(|(s, v)| ((*s).to_owned(), *v)).collect();
        expected.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(moved, expected);
    }
}

#[test]
fn histograms_count_into_their_buckets() {
    let (metrics, model) = model();
    model.batch(1, Duration::from_millis(2));
    model.batch(500, Duration::from_millis(200));
    model.lag(Duration::from_millis(30));
    model.taken(Duration::from_micros(50));
    Exposition::from_metrics(&metrics).has(&[
        ("ingester_batch_size_bucket{kind=\"Model\",le=\"1\"}", 1.0),
        ("ingester_batch_size_bucket{kind=\"Model\",le=\"200\"}", 1.0),
        ("ingester_batch_size_bucket{kind=\"Model\",le=\"500\"}", 2.0),
        ("ingester_batch_size_sum{kind=\"Model\"}", 501.0),
        ("ingester_batch_size_count{kind=\"Model\"}", 2.0),
        ("ingester_batch_duration_seconds_bucket{kind=\"Model\",le=\"0.001\"}", 0.0),
        ("ingester_batch_duration_seconds_bucket{kind=\"Model\",le=\"0.0025\"}", 1.0),
        ("ingester_batch_duration_seconds_bucket{kind=\"Model\",le=\"+Inf\"}", 2.0),
        ("ingester_sync_lag_seconds_bucket{kind=\"Model\",le=\"0.025\"}", 0.0),
        ("ingester_sync_lag_seconds_bucket{kind=\"Model\",le=\"0.05\"}", 1.0),
        ("workqueue_queue_duration_seconds_bucket{name=\"ingester_Model\",le=\"0.00001\"}", 0.0),
        ("workqueue_queue_duration_seconds_bucket{name=\"ingester_Model\",le=\"0.0001\"}", 1.0),
    ]);
}

#[test]
fn a_busy_worker_is_visible_and_counts_each_object_once_when_done() {
    let (metrics, model) = model();
    let name = "{name=\"ingester_Model\"}";
    let work = model.work(3);
    let other = model.work(1);
    let rendered = Exposition::from_metrics(&metrics);
    rendered.has(&[
        ("controller_runtime_active_workers{controller=\"ingester_Model\"}", 2.0),
        ("controller_runtime_reconcile_time_seconds_count{controller=\"ingester_Model\"}", 0.0),
    ]);
    let longest = rendered.value(&format!("workqueue_longest_running_processor_seconds{name}"));
    let unfinished = rendered.value(&format!("workqueue_unfinished_work_seconds{name}"));
    assert!(0.0 < longest && longest < unfinished, "two workers: {longest} {unfinished}");
    drop(other);
    drop(work);
    Exposition::from_metrics(&metrics).has(&[
        ("controller_runtime_active_workers{controller=\"ingester_Model\"}", 0.0),
        ("controller_runtime_reconcile_time_seconds_count{controller=\"ingester_Model\"}", 4.0),
        (&format!("workqueue_work_duration_seconds_count{name}"), 4.0),
        (&format!("workqueue_unfinished_work_seconds{name}"), 0.0),
        (&format!("workqueue_longest_running_processor_seconds{name}"), 0.0),
    ]);
}

#[test]
fn errors_of_the_api_server_count_by_code() {
    let (metrics, model) = model();
    for code in ["409", "409", "418", "network"] {
        model.api_error(code);
    }
    Exposition::from_metrics(&metrics).has(&[
        ("ingester_api_errors_total{code=\"409\",kind=\"Model\"}", 2.0),
        ("ingester_api_errors_total{code=\"418\",kind=\"Model\"}", 1.0),
        ("ingester_api_errors_total{code=\"network\",kind=\"Model\"}", 1.0),
        ("ingester_api_errors_total{code=\"403\",kind=\"Model\"}", 0.0),
    ]);
}

/// A series stays on one line, whatever the name of its kind.
#[test]
fn label_values_are_escaped() {
    let metrics = Metrics::new().unwrap();
    metrics.controller("a\"b\nc").listed();
    assert!(metrics.render().contains("ingester_lists_total{kind=\"a\\\"b\\nc\"} 1\n"));
}

#[test]
fn the_documentation_lists_every_metric() {
    let (metrics, controller) = model();
    // A rule has its series once it was judged.
    controller.pending_rows(vec![("finished".into(), 1)]);
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
    exposition::compare_table(&page, "# Metrics", &metrics.render());
    let text = std::fs::read_to_string(page).unwrap();
    let (text, _) = text.split_once("## The server's").unwrap();
    let rendered = Exposition::from_metrics(&metrics);
    // Alerts must name series that exist.
    let (_, alerts) = text.split_once("## Alerts").unwrap();
    let words = alerts.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    for word in
        words.filter(|word| ["ingester_", "workqueue_", "controller_runtime_"].iter().any(|p| word.starts_with(p)))
    {
        let base = ["_bucket", "_sum", "_count"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
        let known = rendered.types.contains_key(word) || rendered.types.get(base).is_some_and(|t| t == "histogram");
        assert!(known, "unknown metric {word}");
    }
}
