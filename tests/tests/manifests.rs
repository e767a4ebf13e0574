//! The manifests of `deploy/` are complete, fit Kubernetes' own types, and agree with the kinds and the configuration.

#![allow(clippy::unwrap_used, reason = "a helper of tests that meets an error is to fail there")]

use ingester_mirror::config::{Config, Environment, Gate};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Container, Namespace, PodSpec, Probe, Secret, ServiceAccount};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The only document of a file of `deploy/`.
fn document(file: &str) -> Json {
    let text = std::fs::read_to_string(root().join("deploy").join(file)).expect(file);
    serde_saphyr::from_str(&text).expect(file)
}

/// A file as Kubernetes' own type, which must have all of its fields.
#[track_caller]
fn typed<T: DeserializeOwned + Serialize>(file: &str) -> T {
    let written = document(file);
    let object: T = serde_json::from_value(written.clone()).expect(file);
    assert_eq!(serde_json::to_value(&object).unwrap(), written, "{file} has fields that the type does not know");
    object
}

fn deployment() -> PodSpec {
    typed::<Deployment>("deployment.yaml").spec.template.spec.unwrap()
}

fn job() -> PodSpec {
    typed::<Job>("schema-job.yaml").spec.unwrap().template.spec.unwrap()
}

fn only(pod: &PodSpec) -> &Container {
    assert_eq!(pod.containers.len(), 1);
    assert!(pod.init_containers.is_none());
    &pod.containers[0]
}

/// The environment of a container, from the ConfigMap and the Secret.
fn environment(container: &Container) -> BTreeMap<String, String> {
    let (config, secret) = (typed::<ConfigMap>("configmap.yaml"), typed::<Secret>("secret.yaml"));
    let value = |from: &k8s_openapi::api::core::v1::EnvVarSource| {
        if let Some(key) = &from.config_map_key_ref {
            assert_eq!(Some(&key.name), config.metadata.name.as_ref());
            return config.data.as_ref().unwrap().get(&key.key).cloned().expect(&key.key);
        }
        let key = from.secret_key_ref.as_ref().unwrap();
        assert_eq!(Some(&key.name), secret.metadata.name.as_ref());
        secret.string_data.as_ref().unwrap().get(&key.key).cloned().expect(&key.key)
    };
    let variables = container.env.as_ref().unwrap().iter();
    variables.map(|variable| (variable.name.clone(), value(variable.value_from.as_ref().unwrap()))).collect()
}

/// The configuration that the Deployment's container reads, and its environment.
fn config() -> (Config, Environment) {
    let pod = deployment();
    let container = only(&pod);
    let arguments: Vec<&str> = container.args.as_ref().unwrap().iter().map(String::as_str).collect();
    let ["run", "--config", path] = arguments[..] else { panic!("{arguments:?}") };
    // The ConfigMap's key must be mounted at this path.
    let (folder, file) = path.rsplit_once('/').unwrap();
    let mount = container.volume_mounts.as_ref().unwrap().iter().find(|mount| mount.mount_path == folder).unwrap();
    let volume = pod.volumes.as_ref().unwrap().iter().find(|volume| volume.name == mount.name).unwrap();
    let source = volume.config_map.as_ref().unwrap();
    let map: ConfigMap = typed("configmap.yaml");
    assert_eq!(Some(&source.name), map.metadata.name.as_ref());
    let item = source.items.as_ref().unwrap().iter().find(|item| item.path == file).unwrap();
    let variables = environment(container);
    let environment = Environment::read(|name| variables.get(name).cloned());
    let kinds: Vec<&str> = crd_specs::KINDS.iter().map(|kind| kind.kind()).collect();
    let text = &map.data.as_ref().unwrap()[&item.key];
    (Config::parse(text, &environment, &kinds).unwrap(), environment)
}

#[test]
fn every_file_is_in_the_kustomization_and_every_entry_exists() {
    let kustomization = document("kustomization.yaml");
    let keys: Vec<&String> = kustomization.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["apiVersion", "kind", "resources"]);
    assert_eq!(kustomization["kind"], "Kustomization");
    let listed = kustomization["resources"].as_array().unwrap().iter().map(|file| file.as_str().unwrap().to_owned());
    let mut listed: Vec<String> = listed.collect();
    let there = std::fs::read_dir(root().join("deploy")).unwrap();
    let there: BTreeSet<String> = there
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".yaml") && name != "kustomization.yaml")
        .collect();
    listed.sort();
    assert_eq!(listed, there.into_iter().collect::<Vec<_>>());
}

#[test]
fn every_object_fits_its_type_and_is_in_the_namespace() {
    let namespace: Namespace = typed("namespace.yaml");
    assert_eq!(namespace.metadata.name.as_deref(), Some("ingester"));
    let account: ServiceAccount = typed("serviceaccount.yaml");
    let config: ConfigMap = typed("configmap.yaml");
    let secret: Secret = typed("secret.yaml");
    let job: Job = typed("schema-job.yaml");
    let deployment: Deployment = typed("deployment.yaml");
    for metadata in [&account.metadata, &config.metadata, &secret.metadata, &job.metadata, &deployment.metadata] {
        assert_eq!(metadata.namespace, namespace.metadata.name, "{:?}", metadata.name);
    }
    let binding: ClusterRoleBinding = typed("clusterrolebinding.yaml");
    let role: ClusterRole = typed("clusterrole.yaml");
    assert_eq!(Some(binding.role_ref.name), role.metadata.name);
    let subjects = serde_json::to_value(binding.subjects).unwrap();
    assert_eq!(subjects, json!([{"kind": "ServiceAccount", "name": account.metadata.name, "namespace": "ingester"}]));
    for pod in [self::deployment(), self::job()] {
        assert_eq!(pod.service_account_name, account.metadata.name);
    }
    let spec = deployment.spec;
    assert_eq!(spec.selector.match_labels, spec.template.metadata.as_ref().unwrap().labels);
    assert_eq!(spec.replicas, Some(1));
    // The schema job's pods are not the Deployment's.
    assert_ne!(job.spec.unwrap().template.metadata.unwrap().labels, spec.selector.match_labels);
}

#[test]
fn the_role_covers_exactly_the_registered_kinds() {
    let rules = typed::<ClusterRole>("clusterrole.yaml").rules.unwrap();
    let groups: BTreeSet<&str> = crd_specs::KINDS.iter().map(|kind| kind.group()).collect();
    assert_eq!(groups, BTreeSet::from(["michelangelo.api"]), "a kind of another group needs a rule of its own");
    let plurals: BTreeSet<String> = crd_specs::KINDS.iter().map(|kind| kind.plural().into_owned()).collect();
    let expected = json!([
        {
            "apiGroups": ["michelangelo.api"], "resources": plurals,
            "verbs": ["list", "watch", "patch", "delete"],
        },
        {
            "apiGroups": [""], "resources": ["namespaces"], "resourceNames": ["kube-system"],
            "verbs": ["get"],
        },
        { "apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"] },
    ]);
    assert_eq!(serde_json::to_value(rules).unwrap(), expected);
}

#[test]
fn both_gates_are_open_and_both_pods_name_the_same_database() {
    let (config, environment) = config();
    let Gate::Open(address) = config.gate().unwrap() else { panic!("{config:?}") };
    assert_eq!(address.to_string(), "mysql://ingester:***@mysql:3306/ingester");
    // The schema job has no configuration file.
    let job = job();
    let container = only(&job);
    assert_eq!(container.args.as_ref().unwrap(), &["schema", "apply"]);
    let variables = self::environment(container);
    let of_job = Environment::read(|name| variables.get(name).cloned());
    assert_eq!(of_job.address().unwrap().unwrap().to_string(), address.to_string());
    assert_eq!(of_job, environment);
    assert_eq!(container.image, only(&deployment()).image);
    assert!(!config.ingester.create_tables, "the schema job makes the tables");
}

#[test]
fn the_configuration_file_leaves_the_server_to_the_environment() {
    let map: ConfigMap = typed("configmap.yaml");
    let file: Json = serde_saphyr::from_str(&map.data.unwrap()["ingester.yaml"]).unwrap();
    for key in ["host", "port", "database", "user", "password"] {
        assert_eq!(file["mysql"].get(key), None, "`mysql.{key}` of the file would change nothing");
    }
}

#[test]
fn probes_and_scraping_use_the_configured_port() {
    let (config, _) = config();
    let port: i32 = config.server.address.as_ref().unwrap().rsplit_once(':').unwrap().1.parse().unwrap();
    let pod = deployment();
    let container = only(&pod);
    let ports = container.ports.as_ref().unwrap();
    let asked = |probe: &Option<Probe>| {
        let get = probe.as_ref().unwrap().http_get.as_ref().unwrap();
        let port = match &get.port {
            IntOrString::Int(port) => *port,
            IntOrString::String(name) => {
                ports.iter().find(|port| port.name.as_ref() == Some(name)).unwrap().container_port
            }
        };
        (port, get.path.clone().unwrap())
    };
    assert_eq!(asked(&container.startup_probe), (port, "/healthz".into()));
    assert_eq!(asked(&container.liveness_probe), (port, "/healthz".into()));
    assert_eq!(asked(&container.readiness_probe), (port, "/readyz".into()));
    let deployment = document("deployment.yaml");
    let scraped = json!({
        "prometheus.io/scrape": "true", "prometheus.io/port": port.to_string(), "prometheus.io/path": "/metrics",
    });
    assert_eq!(deployment["spec"]["template"]["metadata"]["annotations"], scraped);
    assert_eq!(pod.termination_grace_period_seconds, Some(30));
}

#[test]
fn pods_have_only_the_privileges_that_they_need() {
    for pod in [deployment(), job()] {
        let context = serde_json::to_value(pod.security_context.as_ref().unwrap()).unwrap();
        assert_eq!(context["runAsNonRoot"], true);
        assert_eq!(context["runAsUser"], 65532, "the image's user, as a number");
        assert_eq!(context["seccompProfile"]["type"], "RuntimeDefault");
        let container = only(&pod);
        assert_eq!(
            serde_json::to_value(container.security_context.as_ref().unwrap()).unwrap(),
            json!({
                "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": {"drop": ["ALL"]},
            })
        );
        let resources = container.resources.as_ref().unwrap();
        for amounts in [&resources.requests, &resources.limits] {
            let amounts: Vec<&String> = amounts.as_ref().unwrap().keys().collect();
            assert_eq!(amounts, ["cpu", "memory"]);
        }
        // A Service called `mysql` would set MYSQL_PORT to a URL.
        assert_eq!(pod.enable_service_links, Some(false));
        assert_eq!((pod.host_network, pod.host_pid, pod.host_ipc), (None, None, None));
    }
    // Only the pod that talks to the API server has a token.
    assert_eq!(deployment().automount_service_account_token, Some(true));
    assert_eq!(job().automount_service_account_token, Some(false));
    assert_eq!(typed::<ServiceAccount>("serviceaccount.yaml").automount_service_account_token, Some(false));
}

#[test]
fn the_schema_job_is_retried_and_removed_automatically() {
    let spec = typed::<Job>("schema-job.yaml").spec.unwrap();
    assert!(spec.backoff_limit.is_some() && spec.ttl_seconds_after_finished.is_some());
    assert_eq!(job().restart_policy.as_deref(), Some("OnFailure"));
}

#[test]
fn the_image_contains_the_program_that_the_manifests_start() {
    let text = std::fs::read_to_string(root().join("deploy/Dockerfile")).unwrap();
    for line in [
        r#"ENTRYPOINT ["/usr/local/bin/ingester"]"#,
        "COPY --from=build /ingester /usr/local/bin/ingester",
        "USER 65532:65532",
    ] {
        assert!(text.lines().any(|known| known == line), "no line `{line}`");
    }
    // The builder needs these sources; the migrations are compiled in.
    let ignored = std::fs::read_to_string(root().join(".dockerignore")).unwrap();
    let crates = ["crd-specs", "ingester-bin", "ingester-core", "ingester-macros", "ingester-mirror", "ingester-store"];
    for needed in ["Cargo.toml", "Cargo.lock", "generated-sql"].into_iter().chain(crates) {
        assert!(root().join(needed).exists());
        assert!(!ignored.lines().any(|line| line.trim_end_matches('/') == needed), "{needed} is ignored");
    }
}
