//! The manifests of `deploy/` are complete, fit Kubernetes' own types, and agree with the kinds and the configuration.

#![allow(clippy::unwrap_used, reason = "a helper of tests that meets an error is to fail there")]

use ingester_config::{Config, Environment, Gate};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Container, Namespace, PodSpec, Probe, Secret, Service, ServiceAccount};
use k8s_openapi::api::networking::v1::{NetworkPolicy, NetworkPolicyPort};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

mod chart;
mod kustomized;
mod monitoring;
mod pages;

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

fn server() -> PodSpec {
    typed::<Deployment>("server/deployment.yaml").spec.template.spec.unwrap()
}

/// The configuration that the server's container reads.
fn server_config() -> Config {
    let map: ConfigMap = typed("server/configmap.yaml");
    let variables = environment(only(&server()));
    let environment = Environment::read(|name| variables.get(name).cloned());
    let kinds = ingester_core::KindNames::of(crd_specs::KINDS);
    Config::parse(&map.data.unwrap()["ingester.yaml"], &environment, &kinds).unwrap()
}

fn only(pod: &PodSpec) -> &Container {
    assert_eq!(pod.containers.len(), 1);
    assert!(pod.init_containers.is_none());
    &pod.containers[0]
}

/// The environment of a container, from the ConfigMap and the Secret.
fn environment(container: &Container) -> BTreeMap<String, String> {
    let config = typed::<ConfigMap>("configmap.yaml");
    let secret = typed::<Secret>("secret.yaml");
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
    let kinds = ingester_core::KindNames::of(crd_specs::KINDS);
    let text = &map.data.as_ref().unwrap()[&item.key];
    (Config::parse(text, &environment, &kinds).unwrap(), environment)
}

#[test]
fn every_file_is_in_the_kustomization_and_every_entry_exists() {
    for folder in ["", "server/", "apiservice/", "monitoring/", "policies/"] {
        let kustomization = document(&format!("{folder}kustomization.yaml"));
        let keys: Vec<&String> = kustomization.as_object().unwrap().keys().collect();
        match folder {
            // Its dashboards are files, not manifests.
            "monitoring/" => assert_eq!(keys, ["apiVersion", "configMapGenerator", "kind", "resources"]),
            _ => assert_eq!(keys, ["apiVersion", "kind", "resources"]),
        }
        assert_eq!(kustomization["kind"], "Kustomization");
        let listed = kustomization["resources"].as_array().unwrap().iter();
        let mut listed: Vec<String> = listed.map(|file| file.as_str().unwrap().to_owned()).collect();
        let there = std::fs::read_dir(root().join("deploy").join(folder)).unwrap();
        let there: BTreeSet<String> = there
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".yaml") && name != "kustomization.yaml")
            .collect();
        listed.sort();
        assert_eq!(listed, there.into_iter().collect::<Vec<_>>(), "{folder}");
    }
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
    assert_eq!(spec.replicas, Some(2));
    // Two pods that do not share the work would both do all of it.
    let (config, _) = self::config();
    assert!(config.ingester.replicas.enabled && config.ingester.replicas.namespace.is_none());
    let role: Role = typed("role.yaml");
    let binding: RoleBinding = typed("rolebinding.yaml");
    assert_eq!(
        (Some(binding.role_ref.name), role.metadata.namespace),
        (role.metadata.name, namespace.metadata.name.clone())
    );
    assert_eq!(binding.metadata.namespace, namespace.metadata.name);
    let subjects = serde_json::to_value(binding.subjects).unwrap();
    assert_eq!(subjects, json!([{"kind": "ServiceAccount", "name": account.metadata.name, "namespace": "ingester"}]));
    let of_leases = json!([{
        "apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["list", "watch", "create", "update", "delete"],
    }]);
    assert_eq!(serde_json::to_value(role.rules).unwrap(), of_leases);
    // The schema job's pods are not the Deployment's.
    assert_ne!(job.spec.unwrap().template.metadata.unwrap().labels, spec.selector.match_labels);
}

/// The rule for the registered kinds.
fn of_the_kinds(verbs: &[&str]) -> Json {
    let groups: BTreeSet<&str> = crd_specs::KINDS.iter().map(|kind| kind.group()).collect();
    assert_eq!(groups, BTreeSet::from(["michelangelo.api"]), "a kind of another group needs a rule of its own");
    let plurals: BTreeSet<String> = crd_specs::KINDS.iter().map(|kind| kind.plural().into_owned()).collect();
    json!({ "apiGroups": ["michelangelo.api"], "resources": plurals, "verbs": verbs })
}

/// The rule for finding the cluster's identity.
fn of_the_cluster() -> Json {
    json!({ "apiGroups": [""], "resources": ["namespaces"], "resourceNames": ["kube-system"], "verbs": ["get"] })
}

#[test]
fn the_role_covers_exactly_the_registered_kinds() {
    let rules = typed::<ClusterRole>("clusterrole.yaml").rules.unwrap();
    let expected = json!([
        of_the_kinds(&["list", "watch", "patch", "delete"]),
        of_the_cluster(),
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
    for map in ["configmap.yaml", "server/configmap.yaml"] {
        let map: ConfigMap = typed(map);
        let file: Json = serde_saphyr::from_str(&map.data.unwrap()["ingester.yaml"]).unwrap();
        for key in ["host", "port", "database", "user", "password"] {
            assert_eq!(file["mysql"].get(key), None, "`mysql.{key}` of the file would change nothing");
        }
    }
}

/// The port of a container with this name, or itself.
fn port_of(container: &Container, port: &IntOrString) -> i32 {
    match port {
        IntOrString::Int(port) => *port,
        IntOrString::String(name) => {
            let ports = container.ports.as_ref().unwrap();
            ports.iter().find(|port| port.name.as_ref() == Some(name)).unwrap().container_port
        }
    }
}

fn asked(container: &Container, probe: &Option<Probe>) -> (i32, String) {
    let get = probe.as_ref().unwrap().http_get.as_ref().unwrap();
    assert_eq!(get.scheme, None);
    (port_of(container, &get.port), get.path.clone().unwrap())
}

/// The port of an address.
fn port(address: &str) -> i32 {
    address.rsplit_once(':').unwrap().1.parse().unwrap()
}

#[test]
fn probes_and_scraping_use_the_configured_port() {
    let (config, _) = config();
    let of_server = server_config().server.address.unwrap();
    let pods = [("", deployment(), config.server.address.unwrap()), ("server/", server(), of_server)];
    for (folder, pod, address) in pods {
        let container = only(&pod);
        let port = port(&address);
        assert_eq!(asked(container, &container.startup_probe), (port, "/healthz".into()));
        assert_eq!(asked(container, &container.liveness_probe), (port, "/healthz".into()));
        assert_eq!(asked(container, &container.readiness_probe), (port, "/readyz".into()));
        let scraped = json!({
            "prometheus.io/scrape": "true", "prometheus.io/port": port.to_string(), "prometheus.io/path": "/metrics",
        });
        let deployment = document(&format!("{folder}deployment.yaml"));
        assert_eq!(deployment["spec"]["template"]["metadata"]["annotations"], scraped);
        assert_eq!(pod.termination_grace_period_seconds, Some(30));
    }
}

#[test]
fn pods_have_only_the_privileges_that_they_need() {
    for pod in [deployment(), job(), server()] {
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
    // Only the pods that talk to the API server have a token.
    assert_eq!(deployment().automount_service_account_token, Some(true));
    assert_eq!(server().automount_service_account_token, Some(true));
    assert_eq!(job().automount_service_account_token, Some(false));
    for account in ["serviceaccount.yaml", "server/serviceaccount.yaml"] {
        assert_eq!(typed::<ServiceAccount>(account).automount_service_account_token, Some(false));
    }
}

#[test]
fn the_schema_job_is_retried_and_removed_automatically() {
    let spec = typed::<Job>("schema-job.yaml").spec.unwrap();
    assert!(spec.backoff_limit.is_some() && spec.ttl_seconds_after_finished.is_some());
    assert_eq!(job().restart_policy.as_deref(), Some("OnFailure"));
}

#[test]
fn the_image_contains_the_program_that_the_manifests_start() {
    let read = |file: &str| std::fs::read_to_string(root().join("deploy").join(file)).unwrap();
    let compiled = read("Dockerfile");
    let packed = read("Dockerfile.binary");
    for line in [
        r#"ENTRYPOINT ["/usr/local/bin/ingester"]"#,
        "COPY --from=build /ingester /usr/local/bin/ingester",
        "USER 65532:65532",
    ] {
        assert!(compiled.lines().any(|known| known == line), "no line `{line}`");
    }
    // Both images have the same metadata, and start the program in the same way.
    let settings = |text: &str| -> Vec<String> {
        let is_one = |line: &&str| {
            ["ARG ", "LABEL ", "      org.", "USER ", "EXPOSE ", "ENTRYPOINT "]
                .iter()
                .any(|begin| line.starts_with(begin))
        };
        text.lines().filter(is_one).map(str::to_owned).collect()
    };
    assert_eq!(settings(&compiled), settings(&packed));
    assert!(packed.contains("\nFROM scratch\n") && read("dist.sh").contains("\"$to/usr/local/bin/ingester\""));
    // The builder needs these sources; the migrations and the manifests are compiled in.
    let ignored = std::fs::read_to_string(root().join(".dockerignore")).unwrap();
    let sources =
        ["crates", "ingester-macros", "ingester-core", "ingester-bin", "crd-specs", "generated-sql", "deploy"];
    for needed in ["Cargo.toml", "Cargo.lock"].into_iter().chain(sources) {
        assert!(root().join(needed).exists());
        assert!(!ignored.lines().any(|line| line.trim_end_matches('/') == needed), "{needed} is ignored");
    }
}

#[test]
fn the_server_has_its_own_pods_account_and_rights() {
    let [mirror, server]: [Deployment; 2] = [typed("deployment.yaml"), typed("server/deployment.yaml")];
    assert_eq!(server.spec.selector.match_labels, server.spec.template.metadata.unwrap().labels);
    assert_ne!(server.spec.selector, mirror.spec.selector);
    assert!(server.spec.replicas >= Some(2), "one of them always answers");
    let account: ServiceAccount = typed("server/serviceaccount.yaml");
    let (account, namespace) = (account.metadata.name, account.metadata.namespace);
    assert_eq!(server.spec.template.spec.unwrap().service_account_name, account);
    assert_ne!(account, typed::<ServiceAccount>("serviceaccount.yaml").metadata.name);
    let config: ConfigMap = typed("server/configmap.yaml");
    let service: Service = typed("server/service.yaml");
    for metadata in [&server.metadata, &config.metadata, &service.metadata] {
        assert_eq!(metadata.namespace, namespace, "{:?}", metadata.name);
    }

    let subjects = json!([{"kind": "ServiceAccount", "name": account, "namespace": namespace}]);
    let role: ClusterRole = typed("server/clusterrole.yaml");
    let [own, delegator]: [ClusterRoleBinding; 2] =
        [typed("server/clusterrolebinding.yaml"), typed("server/clusterrolebinding-delegator.yaml")];
    let reader: RoleBinding = typed("server/rolebinding.yaml");
    for (subject, kind, name, bound) in [
        (own.subjects, "ClusterRole", role.metadata.name.unwrap(), own.role_ref),
        (delegator.subjects, "ClusterRole", "system:auth-delegator".into(), delegator.role_ref),
        (reader.subjects, "Role", "extension-apiserver-authentication-reader".into(), reader.role_ref),
    ] {
        assert_eq!(serde_json::to_value(subject).unwrap(), subjects);
        assert_eq!((bound.kind.as_str(), &bound.name), (kind, &name));
    }
    assert_eq!(reader.metadata.namespace.as_deref(), Some("kube-system"), "where the ConfigMap is");
    // The server's own rights must not let callers read the objects of a kind, nor create any: restores act as their callers. The cluster's
    // identity alone is read.
    let cluster =
        json!({"apiGroups": [""], "resources": ["namespaces"], "resourceNames": ["kube-system"], "verbs": ["get"]});
    let expected = json!([cluster]);
    assert_eq!(serde_json::to_value(role.rules).unwrap(), expected);
}

#[test]
fn the_server_is_reached_where_it_listens_with_the_certificate_of_its_secret() {
    let pod = server();
    let config = server_config();
    let container = only(&pod);
    assert_eq!(container.args.as_ref().unwrap(), &["serve", "--config", "/etc/ingester/ingester.yaml"]);
    assert_eq!(container.image, only(&deployment()).image);
    assert_eq!(environment(container), environment(only(&deployment())));
    let service: Service = typed("server/service.yaml");
    let spec = service.spec.unwrap();
    assert_eq!(spec.selector, typed::<Deployment>("server/deployment.yaml").spec.selector.match_labels);
    let ports = spec.ports.unwrap();
    let [https] = ports.as_slice() else { panic!("{ports:?}") };
    let serve = &config.serve;
    let target = port_of(container, https.target_port.as_ref().unwrap());
    assert_eq!((https.port, target), (443, port(&serve.address)));

    let volumes = pod.volumes.as_ref().unwrap();
    let mounted = |path: &str| {
        let mounts = container.volume_mounts.as_ref().unwrap();
        let mount = mounts.iter().find(|mount| mount.mount_path == path).expect(path);
        assert_eq!(mount.read_only, Some(true), "{path}");
        (mount, volumes.iter().find(|volume| volume.name == mount.name).unwrap())
    };
    let (mount, volume) = mounted("/etc/ingester-tls");
    assert_eq!(mount.sub_path, None, "a file by its subPath is never renewed");
    assert!(volume.secret.is_some());
    for (path, file) in [(&serve.certificate, "tls.crt"), (&serve.key, "tls.key")] {
        let expected = format!("{}/{file}", mount.mount_path);
        assert_eq!(path.as_deref(), Some(Path::new(&expected)), "the keys of a Secret of the type kubernetes.io/tls");
    }
    let Gate::Open(address) = config.gate().unwrap() else { panic!("{config:?}") };
    assert_eq!(address.to_string(), "mysql://ingester:***@mysql:3306/ingester");
    assert!(pod.security_context.as_ref().unwrap().fs_group.is_some(), "the key must be readable");
    let (mount, volume) = mounted("/etc/ingester/ingester.yaml");
    assert_eq!(mount.sub_path.as_deref(), Some("ingester.yaml"));
    let map = volume.config_map.as_ref().unwrap();
    assert_eq!(Some(&map.name), typed::<ConfigMap>("server/configmap.yaml").metadata.name.as_ref());
    // Beside the configuration, where the server looks for them. They are optional.
    let (_, volume) = mounted("/etc/ingester/queries");
    assert_eq!(volume.config_map.as_ref().unwrap().optional, Some(true));
}

#[test]
fn the_api_service_leads_to_the_server_and_opens_only_its_own_group() {
    let api: APIService = typed("apiservice/apiservice.yaml");
    let spec = api.spec.unwrap();
    let group = spec.group.unwrap();
    let version = spec.version.unwrap();
    assert_eq!((group.as_str(), version.as_str()), ("mirror.michelangelo.api", "v1"));
    assert_eq!(api.metadata.name, Some(format!("{version}.{group}")));
    assert_eq!(
        (spec.insecure_skip_tls_verify, spec.ca_bundle),
        (None, None),
        "the authority is the operator's to name"
    );
    let (service, reference): (Service, _) = (typed("server/service.yaml"), spec.service.unwrap());
    assert_eq!((reference.name, reference.namespace), (service.metadata.name, service.metadata.namespace));
    assert_eq!(reference.port, Some(service.spec.unwrap().ports.unwrap()[0].port));

    let role: ClusterRole = typed("apiservice/clusterrole.yaml");
    let rules: Vec<PolicyRule> = role.rules.unwrap();
    assert!(rules.iter().all(|rule| rule.api_groups.as_deref() == Some(std::slice::from_ref(&group))), "{rules:?}");
    let lists = rules.iter().filter(|rule| rule.verbs.iter().any(|verb| verb == "list" || verb == "*"));
    let listed: Vec<&String> = lists.flat_map(|rule| rule.resources.iter().flatten()).collect();
    assert_eq!(
        listed,
        ["counts", "parameters", "queries", "rejects", "resources"],
        "units and policies are for operators"
    );
    let binding: ClusterRoleBinding = typed("apiservice/clusterrolebinding.yaml");
    assert_eq!(Some(binding.role_ref.name), role.metadata.name);
    let subjects = binding.subjects.unwrap();
    assert_eq!(subjects.iter().map(|subject| subject.name.as_str()).collect::<Vec<_>>(), ["system:authenticated"]);
}

/// The labels of the pods of each component.
fn components() -> [(&'static str, BTreeMap<String, String>); 3] {
    let of = |file: &str| -> BTreeMap<String, String> {
        serde_json::from_value(document(file)["spec"]["template"]["metadata"]["labels"].clone()).expect(file)
    };
    [("mirror", of("deployment.yaml")), ("schema", of("schema-job.yaml")), ("server", of("server/deployment.yaml"))]
}

/// The components that a selector of pods selects.
fn selected(selector: &LabelSelector) -> Vec<&'static str> {
    let equal = |labels: &BTreeMap<String, String>| {
        selector.match_labels.iter().flatten().all(|(key, value)| labels.get(key) == Some(value))
    };
    let within = |labels: &BTreeMap<String, String>| {
        selector.match_expressions.iter().flatten().all(|one| {
            assert_eq!(one.operator, "In");
            labels.get(&one.key).is_some_and(|value| one.values.iter().flatten().any(|known| known == value))
        })
    };
    let components = components().into_iter();
    components.filter(|(_, labels)| equal(labels) && within(labels)).map(|(name, _)| name).collect()
}

#[test]
fn every_pod_is_under_one_network_policy_that_lets_its_work_through() {
    let ports = |ports: &Option<Vec<NetworkPolicyPort>>| -> Vec<(String, i32)> {
        let one = |port: &NetworkPolicyPort| match &port.port {
            Some(IntOrString::Int(number)) => (port.protocol.clone().unwrap(), *number),
            other => panic!("{other:?}"),
        };
        ports.iter().flatten().map(one).collect()
    };
    let (config, _) = config();
    let Gate::Open(address) = config.gate().unwrap() else { panic!("{config:?}") };
    let database: i32 = address.to_string().rsplit_once(':').unwrap().1.split('/').next().unwrap().parse().unwrap();
    let tcp = |port: i32| ("TCP".to_owned(), port);
    let metrics = tcp(port(&config.server.address.unwrap()));
    let serve = tcp(port(&server_config().serve.address));
    for (file, pods, incoming) in [
        ("policies/networkpolicy.yaml", vec!["mirror", "schema"], vec![metrics.clone()]),
        ("policies/networkpolicy-server.yaml", vec!["server"], vec![serve, metrics]),
    ] {
        let policy: NetworkPolicy = typed(file);
        assert_eq!(policy.metadata.namespace.as_deref(), Some("ingester"));
        let spec = policy.spec.unwrap();
        assert_eq!(selected(&spec.pod_selector.unwrap()), pods, "{file}");
        assert_eq!(spec.policy_types, Some(vec!["Ingress".into(), "Egress".into()]));
        let ingress: Vec<_> = spec.ingress.unwrap().iter().flat_map(|rule| ports(&rule.ports)).collect();
        assert_eq!(ingress, incoming, "{file}");
        let rules = spec.egress.unwrap();
        assert!(rules.iter().all(|rule| rule.to.is_none()), "a selector of pods names no DNS cache of a node: {file}");
        let egress: Vec<_> = rules.iter().flat_map(|rule| ports(&rule.ports)).collect();
        let udp = |port: i32| ("UDP".to_owned(), port);
        let names = [udp(53), tcp(53), udp(5353), tcp(5353)];
        assert_eq!(egress, [&names[..], &[tcp(443), tcp(6443), tcp(database)]].concat(), "{file}");
    }
}

#[test]
fn the_component_of_postgresql_leads_every_pod_to_it_and_leaves_mysql_out() {
    let overlay = "resources: [../deploy, ../deploy/server, ../deploy/policies]\ncomponents: [../deploy/postgres]\n";
    let Some(documents) = kustomized::overlay(overlay) else { return };
    for document in &documents {
        let text = document.to_string();
        assert!(!text.contains("MYSQL_") && !text.contains("ingester-mysql") && !text.contains("3306"), "{text}");
    }
    let of_kind = |kind: &'static str| documents.iter().filter(move |document| document["kind"] == kind);
    let [secret] = of_kind("Secret").collect::<Vec<_>>()[..] else { panic!("{documents:?}") };
    let pods: Vec<&Json> = of_kind("Deployment").chain(of_kind("Job")).collect();
    assert_eq!(pods.len(), 3);
    for pod in pods {
        let from = json!({"secretKeyRef": {"name": secret["metadata"]["name"], "key": "DATABASE_URL"}});
        let variables = json!([{"name": "DATABASE_URL", "valueFrom": from}]);
        assert_eq!(pod["spec"]["template"]["spec"]["containers"][0]["env"], variables);
    }
    let url = secret["stringData"]["DATABASE_URL"].as_str().unwrap();
    let environment = Environment::read(|name| (name == "DATABASE_URL").then(|| url.to_owned()));
    let address = environment.address().unwrap().unwrap().to_string();
    assert_eq!(address, "postgres://ingester:***@postgres:5432/ingester");
    let policies: Vec<&Json> = of_kind("NetworkPolicy").collect();
    assert_eq!(policies.len(), 2);
    for policy in policies {
        assert_eq!(policy["spec"]["egress"][2]["ports"], json!([{"protocol": "TCP", "port": 5432}]));
    }
}

#[test]
fn disruptions_take_one_pod_at_a_time_and_hold_up_no_drain() {
    for (file, pods) in
        [("policies/poddisruptionbudget.yaml", "mirror"), ("policies/poddisruptionbudget-server.yaml", "server")]
    {
        let budget: PodDisruptionBudget = typed(file);
        assert_eq!(budget.metadata.namespace.as_deref(), Some("ingester"));
        let spec = budget.spec.unwrap();
        assert_eq!(selected(&spec.selector.unwrap()), [pods]);
        assert_eq!((spec.max_unavailable, spec.min_available), (Some(IntOrString::Int(1)), None));
    }
}

#[test]
fn the_service_monitor_scrapes_every_pod_that_has_metrics() {
    let service: Service = typed("monitoring/service.yaml");
    let spec = service.spec.unwrap();
    assert_eq!((spec.cluster_ip.as_deref(), spec.publish_not_ready_addresses), (Some("None"), Some(true)));
    let ports = spec.ports.unwrap();
    let target = ports[0].target_port.clone().unwrap();
    let (config, _) = config();
    for (pod, address) in [(deployment(), config.server.address), (server(), server_config().server.address)] {
        assert_eq!(port_of(only(&pod), &target), port(&address.unwrap()));
    }
    assert!(only(&job()).ports.is_none(), "it has nothing to scrape");
    let selector = LabelSelector { match_labels: spec.selector, match_expressions: None };
    assert_eq!(selected(&selector), ["mirror", "schema", "server"]);

    let monitor = document("monitoring/servicemonitor.yaml");
    assert_eq!(monitor["apiVersion"], "monitoring.coreos.com/v1");
    assert_eq!(json!(service.metadata.labels.unwrap()), monitor["spec"]["selector"]["matchLabels"]);
    assert_eq!(json!(service.metadata.namespace), monitor["metadata"]["namespace"]);
    assert_eq!(monitor["spec"]["endpoints"][0]["port"], json!(ports[0].name));
    assert_eq!(monitor["spec"]["endpoints"][0]["path"], "/metrics");
    for key in monitor["spec"]["podTargetLabels"].as_array().unwrap() {
        for (pods, labels) in components() {
            assert!(labels.contains_key(key.as_str().unwrap()), "{pods}");
        }
    }
}
