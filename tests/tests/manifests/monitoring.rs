//! The alerts and the dashboards of `deploy/monitoring`: metrics that exist, in expressions that Prometheus accepts.

use super::{document, root};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// The alerts of the PrometheusRule.
fn alerts() -> Vec<Json> {
    let rule = document("monitoring/prometheusrule.yaml");
    assert_eq!((&rule["apiVersion"], &rule["kind"]), (&json!("monitoring.coreos.com/v1"), &json!("PrometheusRule")));
    let groups = rule["spec"]["groups"].as_array().unwrap();
    groups.iter().flat_map(|group| group["rules"].as_array().unwrap().clone()).collect()
}

fn read_text<'j>(alert: &'j Json, pointer: &str) -> &'j str {
    alert.pointer(pointer).and_then(Json::as_str).unwrap_or_else(|| panic!("{alert} has no {pointer}"))
}

#[test]
fn every_alert_says_what_is_wrong_and_has_its_section_in_the_documentation() {
    let page = std::fs::read_to_string(root().join("docs/alerts.md")).unwrap();
    let described: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let repository = manifest.lines().find_map(|line| line.strip_prefix("repository = ")).unwrap().trim_matches('"');
    let alerts = alerts();
    let names: Vec<&str> = alerts.iter().map(|alert| read_text(alert, "/alert")).collect();
    assert_eq!(described, names, "one section for each alert, in the same order");
    for alert in &alerts {
        assert!(["critical", "warning", "info"].contains(&read_text(alert, "/labels/severity")), "{alert}");
        for annotation in ["summary", "description"] {
            assert!(read_text(alert, &format!("/annotations/{annotation}")).len() > 15, "{alert}");
        }
        let anchor = read_text(alert, "/alert").to_lowercase();
        assert_eq!(
            read_text(alert, "/annotations/runbook_url"),
            format!("{repository}/blob/main/docs/alerts.md#{anchor}")
        );
    }
}

/// A metric that the documentation lists.
struct Metric {
    kind: String,
    labels: BTreeSet<String>,
}

/// The labels that Prometheus adds, and that of a histogram's buckets.
const ADDED: [&str; 4] = ["namespace", "pod", "job", "le"];

/// The metrics that the documentation lists, which other tests compare with the programs' own registries.
fn documented_metrics() -> BTreeMap<String, Metric> {
    let page = std::fs::read_to_string(root().join("docs/metrics.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let metrics: BTreeMap<String, Metric> = rows
        .map(|row| {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let labels = cells[2].split('`').skip(1).step_by(2).map(str::to_owned).collect();
            (cells[0].trim_matches('`').to_owned(), Metric { kind: cells[1].to_owned(), labels })
        })
        .collect();
    assert!(metrics.len() > 50, "{} metrics", metrics.len());
    metrics
}

/// The names of metrics in an expression; quoted texts are skipped.
fn named(expression: &str) -> Vec<String> {
    let bare: String = expression.split('"').step_by(2).collect();
    let words = bare.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let is_function = |word: &str| word.contains("_over_time") || word == "histogram_quantile";
    words.filter(|word| word.contains('_') && !is_function(word)).map(str::to_owned).collect()
}

/// The labels that an expression groups by or selects by.
fn labels(expression: &str) -> BTreeSet<String> {
    let bare: String = expression.split('"').step_by(2).collect();
    let grouped = bare.split("by (").skip(1).chain(bare.split("on (").skip(1));
    let grouped = grouped.filter_map(|rest| rest.split(')').next()).flat_map(|list| list.split(','));
    let selected = bare.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    let selected = selected.flat_map(|list| list.split(',')).filter_map(|one| one.split(['=', '!']).next());
    grouped.chain(selected).map(|label| label.trim().to_owned()).filter(|label| !label.is_empty()).collect()
}

/// An expression names only metrics that exist, uses the rate of counters, and only labels that one of its metrics has.
fn hold_against_the_documentation(expression: &str, metrics: &BTreeMap<String, Metric>, more: &BTreeSet<String>) {
    let named = named(expression);
    assert!(!named.is_empty(), "{expression}");
    let mut known: BTreeSet<&str> = ADDED.into();
    for word in &named {
        let base = ["_bucket", "_sum", "_count"].iter().find_map(|end| word.strip_suffix(end));
        let histogram = base.and_then(|base| metrics.get(base)).filter(|metric| metric.kind == "histogram");
        let metric = metrics.get(word).or(histogram);
        let metric = metric.unwrap_or_else(|| panic!("unknown metric {word} in {expression}"));
        known.extend(metric.labels.iter().map(String::as_str));
    }
    for label in labels(expression).union(more) {
        assert!(known.contains(label.as_str()), "none of the metrics has the label {label}: {expression}");
    }
    // A counter only grows, so only its rate is useful.
    let bare: String = expression.split('"').step_by(2).collect();
    for (name, _) in metrics.iter().filter(|(_, metric)| metric.kind == "counter") {
        for (at, _) in bare.match_indices(name.as_str()) {
            let before = &bare[..at];
            assert!(before.ends_with("increase(") || before.ends_with("rate("), "{name} in {expression}");
        }
    }
}

#[test]
fn alerts_name_only_metrics_and_labels_that_exist() {
    let metrics = documented_metrics();
    for alert in alerts() {
        hold_against_the_documentation(read_text(&alert, "/expr"), &metrics, &BTreeSet::new());
    }
}

#[test]
fn metrics_and_labels_of_an_expression_are_found() {
    let expression = r#"sum by (kind, le) (rate(a_bucket{code=~"x_y|{z}", pod!="q"}[5m])) / on (job) b_c"#;
    assert_eq!(named(expression), ["a_bucket", "b_c"]);
    assert_eq!(labels(expression), ["code", "job", "kind", "le", "pod"].map(str::to_owned).into());
}

/// Each alert, by Prometheus' own program: the expressions are valid, and each fires when it should and not before.
#[test]
fn promtool_accepts_the_alerts_and_each_fires_when_it_should() {
    let Some(promtool) = ingester_tests::promtool() else { return };
    let folder = tempfile::tempdir().unwrap();
    let rule = document("monitoring/prometheusrule.yaml");
    // JSON is YAML.
    std::fs::write(folder.path().join("rules.yaml"), rule["spec"].to_string()).unwrap();
    let cases = include_str!("alerts.yaml");
    std::fs::write(folder.path().join("alerts.yaml"), cases).unwrap();
    for arguments in [["check", "rules", "--lint=all", "rules.yaml"].as_slice(), &["test", "rules", "alerts.yaml"]] {
        let ran = Command::new(&promtool).args(arguments).current_dir(folder.path()).output().unwrap();
        let said = [ran.stdout, ran.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        assert!(ran.status.success(), "promtool {arguments:?}: {said}");
    }
    let cases: Json = serde_saphyr::from_str(cases).unwrap();
    let mut fired = BTreeSet::new();
    for case in cases["tests"].as_array().unwrap().iter().flat_map(|test| test["alert_rule_test"].as_array().unwrap()) {
        if case["exp_alerts"].as_array().is_some_and(|alerts| !alerts.is_empty()) {
            fired.insert(read_text(case, "/alertname").to_owned());
        }
    }
    let names: BTreeSet<String> = alerts().iter().map(|alert| read_text(alert, "/alert").to_owned()).collect();
    assert_eq!(fired, names, "every alert has a case in which it fires");
}

/// The dashboards, by their files' names, in the kustomization's order.
fn dashboards() -> Vec<(String, Json)> {
    let folder = root().join("deploy/monitoring");
    let kustomization = document("monitoring/kustomization.yaml");
    let [generator] = &kustomization["configMapGenerator"].as_array().unwrap()[..] else { panic!("{kustomization}") };
    assert_eq!(generator["options"]["labels"]["grafana_dashboard"], "1", "the label of Grafana's sidecar");
    let files = generator["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap());
    let files: Vec<&str> = files.map(|file| file.split_once('=').unwrap().1).collect();
    let there = std::fs::read_dir(folder.join("dashboards")).unwrap();
    let there: BTreeSet<String> =
        there.map(|entry| format!("dashboards/{}", entry.unwrap().file_name().into_string().unwrap())).collect();
    assert_eq!(files.iter().map(|file| (*file).to_owned()).collect::<BTreeSet<_>>(), there);
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
    files.into_iter().map(|file| (file.to_owned(), serde_json::from_str(&read(file)).expect(file))).collect()
}

/// The panels that show something.
fn panels(dashboard: &Json) -> Vec<&Json> {
    let panels = dashboard["panels"].as_array().unwrap().iter();
    panels.filter(|panel| panel["type"] != "row").collect()
}

/// The expressions of a panel, with Grafana's variables as Prometheus gets them.
fn expressions(panel: &Json) -> Vec<(String, &Json)> {
    let targets = panel["targets"].as_array().unwrap().iter();
    targets
        .map(|target| {
            let expression = read_text(target, "/expr").replace("$__rate_interval", "5m");
            (expression.replace("$namespace", ".*").replace("$kind", ".*"), target)
        })
        .collect()
}

#[test]
fn every_panel_has_its_place_its_title_a_unit_and_a_description() {
    let mut names = BTreeSet::new();
    for (file, dashboard) in dashboards() {
        for key in ["uid", "title"] {
            assert!(
                names.insert(read_text(&dashboard, &format!("/{key}")).to_owned()),
                "{file}: another one has this {key}"
            );
        }
        let mut ids = BTreeSet::new();
        let mut titles = BTreeSet::new();
        let mut taken = BTreeSet::new();
        for panel in dashboard["panels"].as_array().unwrap() {
            let title = read_text(panel, "/title");
            assert!(ids.insert(panel["id"].as_u64().unwrap()), "{file}: {title}: another panel has this id");
            let [x, y, w, h] = ["x", "y", "w", "h"].map(|key| panel["gridPos"][key].as_u64().unwrap());
            assert!(x + w <= 24, "{file}: {title} is beyond the grid's 24 columns");
            for cell in (x..x + w).flat_map(|x| (y..y + h).map(move |y| (x, y))) {
                assert!(taken.insert(cell), "{file}: {title} covers another panel");
            }
        }
        let panels = panels(&dashboard);
        assert!(panels.len() > 10, "{file}");
        for panel in panels {
            let title = read_text(panel, "/title");
            assert!(!title.is_empty() && titles.insert(title), "{file}: two panels are called {title}");
            assert!(!read_text(panel, "/fieldConfig/defaults/unit").is_empty(), "{file}: {title}");
            assert!(read_text(panel, "/description").len() > 15, "{file}: {title}");
        }
    }
}

#[test]
fn dashboards_ask_only_for_metrics_and_labels_that_exist() {
    let metrics = documented_metrics();
    for (file, dashboard) in dashboards() {
        for panel in panels(&dashboard) {
            for (expression, target) in expressions(panel) {
                assert!(!expression.contains('$'), "{file}: a variable in {expression}");
                let legend = read_text(target, "/legendFormat");
                let shown = legend.split("{{").skip(1).filter_map(|rest| rest.split("}}").next());
                hold_against_the_documentation(&expression, &metrics, &shown.map(str::to_owned).collect());
            }
        }
        for variable in dashboard["templating"]["list"].as_array().unwrap() {
            let Some(query) = variable["definition"].as_str() else { continue };
            let inner = query.strip_prefix("label_values(").and_then(|rest| rest.strip_suffix(')')).expect(query);
            let (metric, label) = inner.split_once(", ").expect(query);
            let metric = metrics.get(metric).unwrap_or_else(|| panic!("{file}: {query}: unknown metric"));
            assert!(metric.labels.contains(label) || ADDED.contains(&label), "{file}: {query}");
        }
    }
}

#[test]
fn promtool_accepts_every_expression_of_the_dashboards() {
    let Some(promtool) = ingester_tests::promtool() else { return };
    let dashboards = dashboards();
    let panels = dashboards.iter().flat_map(|(_, dashboard)| panels(dashboard));
    let all: Vec<String> = panels.flat_map(expressions).map(|(expression, _)| expression).collect();
    assert!(all.len() > 50, "{} expressions", all.len());
    let rules: Vec<Json> =
        all.iter().enumerate().map(|(at, expr)| json!({"record": format!("r{at}"), "expr": expr})).collect();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("rules.yaml"), json!({"groups": [{"name": "all", "rules": rules}]}).to_string())
        .unwrap();
    let ran =
        Command::new(promtool).args(["check", "rules", "rules.yaml"]).current_dir(folder.path()).output().unwrap();
    let said = [ran.stdout, ran.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(ran.status.success() && said.contains(&format!("{} rules found", all.len())), "{said}");
}
