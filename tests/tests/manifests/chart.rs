//! The chart of `deploy/helm` renders the objects that `kubectl kustomize` renders from the same overlay, and refuses values that do not fit.
//!
//! `tests/helm-render` renders it. That is not Helm itself, but has Helm's functions, from the libraries that Helm uses.

use super::{document, kustomized, root};
use ingester_config::{Config, Environment};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Output};

/// The same overlay twice: the chart's values, and a kustomization beside `deploy/`.
const OVERLAYS: [(&str, &str); 14] = [
    ("{}", "resources: [../deploy]"),
    ("postgres: {enabled: true}", "resources: [../deploy]\ncomponents: [../deploy/postgres]"),
    ("server: {enabled: true}", "resources: [../deploy, ../deploy/server]"),
    ("policies: {enabled: true}", "resources: [../deploy, ../deploy/policies]"),
    ("monitoring: {enabled: true}", "resources: [../deploy, ../deploy/monitoring]"),
    (
        "{server: {enabled: true}, apiservice: {enabled: true, caBundle: Q0E=}}",
        "resources: [../deploy, ../deploy/server, ../deploy/apiservice]
patches:
- target: {kind: APIService, name: v1.mirror.michelangelo.api}
  patch: |
    - {op: add, path: /spec/caBundle, value: Q0E=}",
    ),
    (
        "{server: {enabled: true}, apiservice: {enabled: true}, policies: {enabled: true}, monitoring: {enabled: true}, postgres: {enabled: true}}",
        "resources: [../deploy, ../deploy/server, ../deploy/apiservice, ../deploy/policies, ../deploy/monitoring]
components: [../deploy/postgres]",
    ),
    (
        "{server: {enabled: true, replicas: 5}, mirror: {replicas: 3}, config: {ingester: {replicas: {shards: 4}}}}",
        "resources: [../deploy, ../deploy/server]
replicas: [{name: ingester, count: 3}, {name: ingester-server, count: 5}]
patches:
- target: {kind: ConfigMap, name: ingester}
  patch: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: ingester}
    data:
      ingester.yaml: |
        metadataStorage: {enableMetadataStorage: true, deletionDelay: 10s}
        mysql: {maxOpenConns: 25, maxIdleConns: 5, connMaxLifetime: 5m, tls: {mode: preferred}}
        ingester: {concurrentReconciles: 2, createTables: false, replicas: {enabled: true, shards: 4}}
        server: {address: 0.0.0.0:8080}
        log: {format: json, level: info}",
    ),
    // As in docs/operations.md.
    (
        "image: {repository: registry.example.com/ingester, tag: 0.2.0}
mysql: {host: mysql.databases.svc, database: michelangelo, secret: {user: u, password: p}}",
        "resources: [../deploy]
images:
- {name: ingester, newName: registry.example.com/ingester, newTag: 0.2.0}
patches:
- patch: |
    apiVersion: v1
    kind: Secret
    metadata: {name: ingester-mysql, namespace: ingester}
    stringData: {MYSQL_USER: u, MYSQL_PASSWORD: p}
- target: {kind: ConfigMap, name: ingester}
  patch: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: ingester}
    data: {MYSQL_HOST: mysql.databases.svc, MYSQL_DB_NAME: michelangelo}",
    ),
    (
        "schema: {databaseSecret: ingester-mysql-schema}",
        "resources: [../deploy]
patches:
- target: {kind: Job, name: ingester-schema}
  patch: |
    - {op: replace, path: /spec/template/spec/containers/0/env/3/valueFrom/secretKeyRef/name, value: ingester-mysql-schema}
    - {op: replace, path: /spec/template/spec/containers/0/env/4/valueFrom/secretKeyRef/name, value: ingester-mysql-schema}",
    ),
    (
        "{namespace: {name: ml}, policies: {enabled: true}, monitoring: {enabled: true}}",
        "namespace: ml\nresources: [../deploy, ../deploy/policies, ../deploy/monitoring]",
    ),
    (
        "monitoring: {enabled: true, labels: {release: kube-prometheus-stack}}",
        "resources: [../deploy, ../deploy/monitoring]
patches:
- target: {kind: Service|ServiceMonitor|PrometheusRule}
  patch: |
    - {op: add, path: /metadata/labels/release, value: kube-prometheus-stack}
- target: {kind: ConfigMap, name: ingester-dashboards}
  patch: |
    - {op: add, path: /metadata/labels/release, value: kube-prometheus-stack}",
    ),
    (
        "{mysql: {port: 3307}, policies: {enabled: true}}",
        "resources: [../deploy, ../deploy/policies]
patches:
- target: {kind: ConfigMap, name: ingester}
  patch: |
    - {op: replace, path: /data/MYSQL_PORT, value: '3307'}
- target: {kind: NetworkPolicy}
  patch: |
    - {op: replace, path: /spec/egress/2/ports/0/port, value: 3307}",
    ),
    (
        "mirror:
  resources: {requests: {cpu: 500m}, limits: {memory: 1Gi}}
  nodeSelector: {disk: ssd}
  tolerations: [{key: dedicated, operator: Exists}]
  affinity: {nodeAffinity: {}}
  podAnnotations: {team: ml, prometheus.io/port: '9090'}",
        "resources: [../deploy]
patches:
- target: {kind: Deployment, name: ingester}
  patch: |
    - {op: replace, path: /spec/template/spec/containers/0/resources, value: {requests: {cpu: 500m}, limits: {memory: 1Gi}}}
    - {op: add, path: /spec/template/spec/nodeSelector, value: {disk: ssd}}
    - {op: add, path: /spec/template/spec/tolerations, value: [{key: dedicated, operator: Exists}]}
    - {op: replace, path: /spec/template/spec/affinity, value: {nodeAffinity: {}}}
    - {op: add, path: /spec/template/metadata/annotations/team, value: ml}
    - {op: replace, path: /spec/template/metadata/annotations/prometheus.io~1port, value: '9090'}",
    ),
];

/// The chart with these values, at a revision of its release: 1 is an installation, more are upgrades.
fn rendered(values: &str, revision: u32) -> Option<Output> {
    let program = ingester_tests::helm_render()?;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("values.yaml");
    std::fs::write(&file, values).unwrap();
    let chart = root().join("deploy/helm");
    Some(Command::new(program).arg(chart).arg(file).arg(revision.to_string()).output().unwrap())
}

/// The rendered chart: its objects, and the notes for the user.
pub(super) fn chart(values: &str, revision: u32) -> Option<(Vec<Json>, String)> {
    let output = rendered(values, revision)?;
    assert!(output.status.success(), "{values}: {}", String::from_utf8_lossy(&output.stderr));
    let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
    let objects = answer["objects"].as_array().unwrap().clone();
    Some((objects, answer["notes"].as_str().unwrap().to_owned()))
}

/// The objects by their identity. The configuration is compared by its content, not by its spelling.
fn by_name(objects: Vec<Json>) -> BTreeMap<String, Json> {
    let mut named = BTreeMap::new();
    for mut object in objects {
        if let Some(file) = object.pointer_mut("/data/ingester.yaml") {
            *file = serde_saphyr::from_str(file.as_str().unwrap()).unwrap();
        }
        let text = |pointer: &str| object.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
        let name = format!("{} {} {}", text("/kind"), text("/metadata/namespace"), text("/metadata/name"));
        let former = named.insert(name.clone(), object);
        assert!(former.is_none(), "{name} is there twice");
    }
    named
}

#[test]
fn the_chart_makes_what_kustomize_makes_of_each_overlay() {
    for (values, kustomization) in OVERLAYS {
        let Some((objects, _)) = chart(values, 1) else { return };
        let Some(expected) = kustomized::overlay(kustomization) else { return };
        let made = by_name(objects);
        let expected = by_name(expected);
        assert_eq!(made.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{values}");
        for (name, object) in &made {
            assert_eq!(object, &expected[name], "{name} with {values}");
        }
    }
}

#[test]
fn values_that_do_not_fit_are_refused_with_what_is_wrong() {
    for (values, said) in [
        ("imgae: {tag: v1}", "Additional property imgae is not allowed"),
        ("mirror: {replica: 3}", "Additional property replica is not allowed"),
        ("mirror: {replicas: '3'}", "mirror.replicas: Invalid type. Expected: integer, given: string"),
        ("policies: {enabled: 'yes'}", "policies.enabled: Invalid type. Expected: boolean, given: string"),
        ("mysql: {port: 70000}", "mysql.port: Must be less than or equal to 65535"),
        ("mysql: {secret: {password: 12345}}", "mysql.secret.password: Invalid type. Expected: string"),
        ("namespace: {name: My Namespace}", "namespace.name: Does not match pattern"),
        ("postgres: {secret: {url: 'mysql://host/db'}}", "postgres.secret.url: Does not match pattern"),
        ("image: {pullPolicy: always}", "image.pullPolicy must be one of"),
        ("mirror: {resources: {cpu: 1}}", "Additional property cpu is not allowed"),
        ("config: {ingester: {evictions: off}}", "config.ingester.evictions must be one of"),
        ("apiservice: {enabled: true}", "apiservice.enabled needs server.enabled"),
        ("kinds: {file: 'kinds: []'}", "kinds.file needs kinds.clusterRole"),
        ("kinds: {file: 'kinds: []', clusterRole: 'kind: ClusterRole'}", "kinds.clusterRole has no rules"),
        (
            "kinds: {file: 'kinds: [{kind: Job, crd: job.yaml}]', clusterRole: 'rules: [{verbs: [list]}]'}",
            "Job names a CRD",
        ),
        (
            r#"kinds: {file: "kinds: []\n--- # more\nkinds: [{kind: Job, crd: job.yaml}]\n", clusterRole: 'rules: [{verbs: [list]}]'}"#,
            "Job names a CRD",
        ),
        (
            r#"kinds: {file: "kinds: []\n--- {kinds: [{kind: Run, crd: run.yaml}]}\n", clusterRole: 'rules: [{verbs: [list]}]'}"#,
            "Run names a CRD",
        ),
        (
            r#"kinds: {file: "kinds: []\n---\nkinds: [\n", clusterRole: 'rules: [{verbs: [list]}]'}"#,
            "did not find expected node content",
        ),
        ("kinds: {descriptors: {a.bin: '{}'}}", "kinds.descriptors.a.bin: Does not match pattern"),
    ] {
        let Some(output) = rendered(values, 1) else { return };
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && error.contains(said), "{values}: {error}");
    }
}

/// The paths in a map of values, down to values that are not maps, or to empty maps.
fn leaves(value: &Json, path: &str, found: &mut BTreeSet<String>) {
    match value.as_object().filter(|map| !map.is_empty()) {
        Some(map) => {
            for (key, value) in map {
                leaves(value, &format!("{path}.{key}"), found);
            }
        }
        None => drop(found.insert(path.trim_start_matches('.').to_owned())),
    }
}

/// The paths that a schema knows, without those of maps with arbitrary keys.
fn of_schema(schema: &Json, all: &Json, path: &str, found: &mut BTreeSet<String>) {
    let refers = schema["$ref"].as_str().and_then(|name| all.pointer(name.trim_start_matches('#')));
    let schema = refers.unwrap_or(schema);
    match schema["properties"].as_object().filter(|_| schema["additionalProperties"] == json!(false)) {
        Some(map) if !path.ends_with(".resources") => {
            for (key, value) in map {
                of_schema(value, all, &format!("{path}.{key}"), found);
            }
        }
        _ => drop(found.insert(path.trim_start_matches('.').to_owned())),
    }
}

#[test]
fn values_schema_and_the_table_of_the_readme_have_the_same_keys() {
    let [mut values, mut known] = [BTreeSet::new(), BTreeSet::new()];
    leaves(&document("helm/values.yaml"), "", &mut values);
    let schema = std::fs::read_to_string(root().join("deploy/helm/values.schema.json")).unwrap();
    let schema: Json = serde_json::from_str(&schema).unwrap();
    of_schema(&schema, &schema, "", &mut known);
    // Helm sets it, not the chart.
    assert!(known.remove("global"));
    assert_eq!(known, values);
    let readme = std::fs::read_to_string(root().join("deploy/helm/README.md")).unwrap();
    let rows = readme.lines().filter_map(|line| line.strip_prefix("| `"));
    let mut described = BTreeSet::new();
    for row in rows {
        let cells: Vec<&str> = row.split(" | ").collect();
        assert_eq!(cells.len(), 3, "{row}");
        // `mirror`, `schema` and `server` share rows.
        for name in cells[0].trim_end_matches('`').split("`, `") {
            assert!(described.insert(name.to_owned()), "{name} has two rows");
        }
    }
    assert_eq!(described, values, "each value has a row in deploy/helm/README.md");
}

#[test]
fn the_chart_has_the_version_of_the_program_and_of_its_image() {
    let chart = document("helm/Chart.yaml");
    for key in ["version", "appVersion"] {
        assert_eq!(chart[key], env!("CARGO_PKG_VERSION"), "{key}");
    }
}

#[test]
fn an_upgrade_has_a_schema_job_of_its_own() {
    let Some((installed, _)) = chart("{}", 1) else { return };
    let Some((upgraded, _)) = chart("{}", 7) else { return };
    let mut installed = by_name(installed);
    let mut upgraded = by_name(upgraded);
    let former = installed.remove("Job ingester ingester-schema").unwrap();
    let job = upgraded.remove("Job ingester ingester-schema-7").unwrap();
    assert_eq!((&job["spec"], &job["metadata"]["labels"]), (&former["spec"], &former["metadata"]["labels"]));
    assert_eq!(installed, upgraded);
}

#[test]
fn another_namespace_is_that_of_every_object_and_of_every_reference() {
    let values = "{namespace: {name: ml, create: false}, server: {enabled: true}, apiservice: {enabled: true}, \
                  policies: {enabled: true}, monitoring: {enabled: true}}";
    let Some((objects, _)) = chart(values, 1) else { return };
    let text = json!(objects).to_string();
    assert!(!text.contains(r#""namespace":"ingester""#), "{text}");
    let objects = by_name(objects);
    assert!(objects.keys().all(|name| !name.starts_with("Namespace ")));
    assert!(objects.contains_key("RoleBinding kube-system ingester-server-authentication-reader"));
    assert_eq!(objects["APIService  v1.mirror.michelangelo.api"]["spec"]["service"]["namespace"], "ml");
}

#[test]
fn secrets_and_accounts_that_are_there_are_used_and_none_is_made() {
    let values = "mysql: {secret: {create: false, name: db}}
schema: {databaseSecret: db-schema}
serviceAccount: {create: false, name: mirror}
server: {enabled: true, databaseSecret: db-server, tlsSecret: tls, serviceAccount: {name: serve, annotations: {role: r}}}
imagePullSecrets: [{name: pull}]";
    let Some((objects, _)) = chart(values, 1) else { return };
    let objects = by_name(objects);
    assert!(objects.keys().all(|name| !name.starts_with("Secret ")), "{:?}", objects.keys());
    assert!(!objects.contains_key("ServiceAccount ingester ingester"));
    let account = &objects["ServiceAccount ingester serve"];
    assert_eq!(account["metadata"]["annotations"], json!({"role": "r"}));
    for (name, secret, account) in [
        ("Deployment ingester ingester", "db", "mirror"),
        ("Job ingester ingester-schema", "db-schema", "mirror"),
        ("Deployment ingester ingester-server", "db-server", "serve"),
    ] {
        let pod = &objects[name]["spec"]["template"]["spec"];
        assert_eq!(
            (&pod["serviceAccountName"], &pod["imagePullSecrets"]),
            (&json!(account), &json!([{"name": "pull"}]))
        );
        let variables = pod["containers"][0]["env"].as_array().unwrap().iter();
        let secrets: Vec<&str> =
            variables.filter_map(|one| one["valueFrom"]["secretKeyRef"]["name"].as_str()).collect();
        assert_eq!(secrets, [secret, secret], "{name}");
    }
    let volumes = &objects["Deployment ingester ingester-server"]["spec"]["template"]["spec"]["volumes"];
    let secrets: Vec<&str> =
        volumes.as_array().unwrap().iter().filter_map(|v| v["secret"]["secretName"].as_str()).collect();
    assert_eq!(secrets, ["tls"]);
    for (binding, account) in [
        ("ClusterRoleBinding  ingester", "mirror"),
        ("RoleBinding ingester ingester", "mirror"),
        ("ClusterRoleBinding  ingester-server", "serve"),
        ("ClusterRoleBinding  ingester-server-delegator", "serve"),
        ("RoleBinding kube-system ingester-server-authentication-reader", "serve"),
    ] {
        assert_eq!(objects[binding]["subjects"][0]["name"], account, "{binding}");
    }
}

#[test]
fn a_file_of_kinds_is_mounted_into_every_pod_with_the_rights_for_it() {
    let kinds = "builtIn: false\nkinds: []\n";
    let role = "kind: ClusterRole\nrules:\n- {apiGroups: [stable.example.com], resources: [crontabs], verbs: [list]}\n";
    let values = json!({"kinds": {"file": kinds, "clusterRole": role}, "server": {"enabled": true}}).to_string();
    let Some((objects, _)) = chart(&values, 1) else { return };
    let objects = by_name(objects);
    let rules = json!([{"apiGroups": ["stable.example.com"], "resources": ["crontabs"], "verbs": ["list"]}]);
    assert_eq!(objects["ClusterRole  ingester"]["rules"], rules);
    let maps: Vec<&Json> = objects.values().filter(|object| object["data"].get("kinds.yaml").is_some()).collect();
    let [map] = maps[..] else { panic!("{maps:?}") };
    assert_eq!(map["data"], json!({"kinds.yaml": kinds}));
    let pods: Vec<&Json> = objects.values().filter(|object| object["spec"].get("template").is_some()).collect();
    assert_eq!(pods.len(), 3);
    for pod in pods {
        let pod = &pod["spec"]["template"]["spec"];
        let volumes = pod["volumes"].as_array().unwrap();
        let volume = volumes.iter().find(|volume| volume["configMap"]["name"] == map["metadata"]["name"]).unwrap();
        let container = &pod["containers"][0];
        let mounts = container["volumeMounts"].as_array().unwrap();
        let mount = mounts.iter().find(|mount| mount["name"] == volume["name"]).unwrap();
        let file = format!("{}/kinds.yaml", mount["mountPath"].as_str().unwrap());
        let arguments = container["args"].as_array().unwrap();
        assert_eq!(arguments[arguments.len() - 2..], [json!("--kinds"), json!(file)]);
    }
    // Another file starts the pods again.
    let values = values.replace("builtIn: false", "builtIn: true");
    let Some((changed, _)) = chart(&values, 2) else { return };
    assert!(
        !by_name(changed).contains_key(&format!("ConfigMap ingester {}", map["metadata"]["name"].as_str().unwrap()))
    );
}

#[test]
fn the_configuration_of_the_values_is_what_the_program_reads() {
    let values = "config: {ingester: {replicas: {enabled: false}, backfillRate: 1000000, evictions: 'off'}, \
                  retention: {deleted: 90d}, log: {level: debug}}";
    let Some((objects, _)) = chart(values, 1) else { return };
    let map = objects.iter().find(|object| object["data"].get("ingester.yaml").is_some()).unwrap();
    let text = map["data"]["ingester.yaml"].as_str().unwrap();
    let kinds = ingester_core::KindNames::of(crd_specs::KINDS);
    let config = Config::parse(text, &Environment::read(|_| None), &kinds).expect(text);
    assert!(!config.ingester.replicas.enabled && !config.ingester.evictions && !config.ingester.create_tables);
    assert_eq!((config.ingester.backfill_rate, config.ingester.concurrent_reconciles), (1_000_000, 2));
}

#[test]
fn the_notes_name_what_is_missing_and_the_next_commands() {
    let Some((_, notes)) = chart("namespace: {name: ml}", 1) else { return };
    assert!(notes.contains("The Secret ingester-mysql has placeholders"), "{notes}");
    assert!(notes.contains("kubectl -n ml rollout status deployment/ingester\n"), "{notes}");
    assert!(!notes.contains("ingester-server"), "{notes}");
    let values = "{postgres: {enabled: true, secret: {url: 'postgres://u:secret@h/d'}}, server: {enabled: true}}";
    let Some((_, notes)) = chart(values, 1) else { return };
    assert!(!notes.contains("placeholders") && !notes.contains("secret@"), "{notes}");
    assert!(notes.contains("kubectl -n ingester rollout status deployment/ingester-server"), "{notes}");
}
