//! `ingester manifests`: a base for kustomize, for any program and any kinds.

use crate::program::Folder;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ingester_tests::{ApiServer, helm_render, kubectl, skipped_without_kubectl};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

const FILES: [&str; 10] = [
    "namespace.yaml",
    "serviceaccount.yaml",
    "clusterrole.yaml",
    "clusterrolebinding.yaml",
    "role.yaml",
    "rolebinding.yaml",
    "configmap.yaml",
    "secret.yaml",
    "schema-job.yaml",
    "deployment.yaml",
];

#[test]
fn the_manifests_of_the_program_itself_are_those_of_this_repository() {
    let folder = Folder::new();
    folder.run(&["manifests", "--out", "base"]).exits(0).says(&["wrote base/Dockerfile", "kubectl apply -k base"]);
    let uncommented = |text: String| text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
    for file in FILES {
        let deployed = format!("{}/../deploy/{file}", env!("CARGO_MANIFEST_DIR"));
        let read = |path: &str| std::fs::read_to_string(path).unwrap();
        let written = read(&folder.path().join("base").join(file).display().to_string());
        assert_eq!(uncommented(written), uncommented(read(&deployed)), "{file}");
    }
    let docker = std::fs::read_to_string(folder.path().join("base/Dockerfile")).unwrap();
    assert!(docker.contains("--bin ingester &&"), "{docker}");
    assert!(docker.contains(concat!("-t ingester:", env!("CARGO_PKG_VERSION"), " .")), "{docker}");
}

/// The objects that `kubectl apply -k` would send; `None` without kubectl.
fn built(folder: &Folder, base: &str) -> Option<Vec<Json>> {
    let Some(kubectl) = kubectl() else {
        skipped_without_kubectl();
        return None;
    };
    let output = Command::new(kubectl).args(["kustomize", base]).current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let documents = ingester_declare::documents::documents(&output.stdout[..]);
    Some(documents.map(|document| serde_json::from_str(&document.unwrap().content.unwrap()).unwrap()).collect())
}

#[test]
fn kinds_of_a_file_are_mounted_and_everything_has_the_name_that_was_asked_for() {
    let folder = Folder::new();
    let crd = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/crds/certificates.cert-manager.io.yaml");
    std::fs::create_dir(folder.path().join("crds")).unwrap();
    std::fs::copy(crd, folder.path().join("crds/certificates.yaml")).unwrap();
    folder.write(
        "kinds.yaml",
        "builtIn: false
kinds:
- group: cert-manager.io
  version: v1
  kind: Certificate
  crd: crds/certificates.yaml
  columns:
  - {column: secret, path: .spec.secretName}
",
    );
    let mine =
        "metadataStorage:\n  enableMetadataStorage: true\n\ningester: {replicas: {enabled: true, namespace: leases}}\n";
    folder.write("mine.yaml", mine);
    let arguments = ["--kinds", "kinds.yaml", "--config", "mine.yaml", "--image", "registry.example.com/i:7"];
    let named = ["manifests", "--out", "base", "--name", "certificates", "--namespace", "mirrors"];
    folder.run(&[&named[..], &arguments[..]].concat()).exits(0).says(&["wrote base/kinds/kinds.yaml"]);
    assert!(!folder.path().join("base/Dockerfile").exists(), "nothing of one's own is to be built");
    for file in FILES {
        let text = std::fs::read_to_string(folder.path().join("base").join(file)).unwrap();
        let is_old = |line: &&str| line.contains(": ingester") && !line.trim_start().starts_with('#');
        let old: Vec<&str> = text
            .lines()
            .filter(is_old)
            .filter(|line| !line.contains("ingester.yaml"))
            .filter(|line| !line.contains("MYSQL_"))
            .collect();
        assert!(old.is_empty(), "{file}: {old:?}");
    }
    let Some(objects) = built(&folder, "base") else { return };
    let find = |kind: &str, name: &str| {
        let found = objects.iter().find(|object| object["kind"] == kind && object["metadata"]["name"] == name);
        found.unwrap_or_else(|| panic!("no {kind} {name} in {objects:#?}"))
    };
    assert_eq!(objects.len(), 11);
    find("Namespace", "mirrors");
    let rules = find("ClusterRole", "certificates")["rules"].clone();
    assert_eq!(
        (&rules[0]["resources"][0], &rules[0]["verbs"]),
        (&"certificates".into(), &serde_json::json!(["list", "watch"]))
    );
    assert_eq!(find("ClusterRoleBinding", "certificates")["subjects"][0]["namespace"], "mirrors");
    let config = &find("ConfigMap", "certificates")["data"]["ingester.yaml"];
    assert_eq!(config, mine);
    // The right to Leases is granted in their namespace, to the account of the pods.
    for kind in ["Role", "RoleBinding"] {
        assert_eq!(find(kind, "certificates")["metadata"]["namespace"], "leases");
    }
    assert_eq!(find("RoleBinding", "certificates")["subjects"][0]["namespace"], "mirrors");
    assert_eq!(find("Deployment", "certificates")["spec"]["replicas"], 2);
    let kinds =
        objects.iter().find(|object| object["metadata"]["name"].as_str().unwrap().starts_with("certificates-kinds-"));
    let kinds = kinds.expect("a ConfigMap whose name changes with the file");
    for (kind, name, args) in [
        ("Deployment", "certificates", vec!["run", "--config", "/etc/ingester/ingester.yaml"]),
        ("Job", "certificates-schema", vec!["schema", "apply"]),
    ] {
        let object = find(kind, name);
        assert_eq!(object["metadata"]["namespace"], "mirrors");
        let pod = &object["spec"]["template"]["spec"];
        let container = &pod["containers"][0];
        let expected = [args, vec!["--kinds", "/etc/ingester-kinds/kinds.yaml"]].concat();
        assert_eq!((&container["args"], &container["image"]), (&expected.into(), &"registry.example.com/i:7".into()));
        let volume = pod["volumes"].as_array().unwrap().iter().find(|volume| volume["name"] == "kinds").unwrap();
        assert_eq!(volume["configMap"]["name"], kinds["metadata"]["name"]);
        // All keys are files of the folder. The types of the CRD are in the file of kinds.
        assert!(volume["configMap"]["items"].is_null());
        let files = kinds["data"].as_object().unwrap();
        assert_eq!(files.keys().collect::<Vec<_>>(), ["kinds.yaml"]);
        let text = files["kinds.yaml"].as_str().unwrap();
        assert!(text.contains("type: VARCHAR(255)") && !text.contains("crd:"), "{text}");
        let mounts = container["volumeMounts"].as_array().unwrap();
        assert!(mounts.iter().any(|mount| mount["name"] == "kinds" && mount["mountPath"] == "/etc/ingester-kinds"));
    }
}

#[test]
fn an_unshared_mirror_has_one_pod_and_no_right_to_leases() {
    let folder = Folder::new();
    folder.write("mine.yaml", "metadataStorage: {enableMetadataStorage: true}\n");
    folder.run(&["manifests", "--out", "base", "--config", "mine.yaml"]).exits(0);
    let read = |file: &str| std::fs::read_to_string(folder.path().join("base").join(file)).ok();
    assert_eq!((read("role.yaml"), read("rolebinding.yaml")), (None, None));
    assert!(
        !read("kustomization.yaml").unwrap().lines().any(|line| line == "- role.yaml" || line == "- rolebinding.yaml")
    );
    let deployment = read("deployment.yaml").unwrap();
    assert!(deployment.contains("\n  replicas: 1\n") && !deployment.contains("replicas: 2"), "{deployment}");
    let Some(objects) = built(&folder, "base") else { return };
    assert_eq!(objects.len(), 8);
}

#[test]
fn what_cannot_be_deployed_is_refused() {
    let folder = Folder::new();
    for (arguments, says) in [
        (&["--out", "base", "--name", "Big_Name"][..], "up to 50 lower-case letters"),
        (&["--out", "base", "--namespace", "1st"], "begins with a letter"),
        (&["--out", "base", "--image", ""], "--image"),
        (&["--out", "base", "--config", "none.yaml"], "none.yaml"),
        (&["--out", "base", "Nothing"], "unknown kind `Nothing`"),
        (&[], "--out"),
    ] {
        folder.run(&[&["manifests"], arguments].concat()).exits(2).says(&[says]);
    }
    assert!(!folder.path().join("base").exists());
}

#[test]
fn the_finalizer_at_creation_is_one_more_file() {
    let folder = Folder::new();
    folder
        .run(&["manifests", "--out", "base", "--admission", "--name", "mine"])
        .exits(0)
        .says(&["wrote base/admission.yaml"]);
    let read = |file: &str| std::fs::read_to_string(folder.path().join("base").join(file)).unwrap();
    let policy = read("admission.yaml");
    assert!(
        policy.contains("kind: MutatingAdmissionPolicyBinding") && policy.contains("name: mine-finalizer"),
        "{policy}"
    );
    assert!(read("kustomization.yaml").lines().any(|line| line == "- admission.yaml"));
    if let Some(objects) = built(&folder, "base") {
        assert!(objects.iter().any(|object| object["kind"] == "MutatingAdmissionPolicy"));
    }
    folder.write("none.yaml", "ingester: {finalizer: never}\n");
    let none = ["manifests", "--out", "other", "--admission", "--config", "none.yaml"];
    folder.run(&none).exits(2).says(&["which none of these kinds gets"]);
    folder.run(&["manifests", "--out", "other", "--admission=v2"]).exits(2).says(&["v1beta1"]);
}

#[test]
fn a_name_that_means_something_in_yaml_is_quoted() {
    let folder = Folder::new();
    let long = "a".repeat(253);
    for name in ["system:mirrors", "a: b", "true", "1", "1e3", "- a", "#a", "{a}", "'a'", "\"a", " a ", "é", &long] {
        let role = folder.run(&["rbac", &format!("--name={name}")]).exits(0).out;
        let mut documents = ingester_declare::documents::documents(role.as_bytes());
        let role: Json = serde_json::from_str(&documents.next().unwrap().unwrap().content.unwrap()).unwrap();
        assert_eq!(role["metadata"]["name"], name);
        assert!(documents.next().is_none());
    }
    for image in ["1", "1:2", "localhost:5000/a/b:1.0@sha256:0f"] {
        folder.run(&["manifests", "--out", "base", "--image", image]).exits(0);
        let manifest = std::fs::read(folder.path().join("base/deployment.yaml")).unwrap();
        let object = ingester_declare::documents::documents(&manifest[..]).next().unwrap().unwrap().content.unwrap();
        let object: Json = serde_json::from_str(&object).unwrap();
        assert_eq!(object["spec"]["template"]["spec"]["containers"][0]["image"], image);
    }
}

/// A file of kinds with one kind, for which a CRD has this path.
fn kinds_with(crd: &str) -> String {
    format!(
        "builtIn: false
kinds:
- group: cert-manager.io
  version: v1
  kind: Certificate
  crd: {crd}
  columns:
  - {{column: secret, path: .spec.secretName}}
"
    )
}

#[test]
fn a_crd_of_any_size_and_at_any_place_is_not_copied() {
    let folder = Folder::new();
    let crd = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/crds/certificates.cert-manager.io.yaml"
    ))
    .unwrap();
    let large = format!("# {}\n{crd}", "long descriptions ".repeat(100_000));
    let absolute = folder.write("deep/er/large.yaml", large).display().to_string();
    folder.write("deployment.yaml", &crd);
    folder.write("deep/deployment.yaml", &crd);
    for (place, path) in ["../deployment.yaml", "../../deployment.yaml", "large.yaml", &absolute].iter().enumerate() {
        folder.write("deep/er/kinds of mine.yaml", kinds_with(path));
        let out = format!("base{place}");
        folder.run(&["manifests", "--out", &out, "--kinds", "deep/er/kinds of mine.yaml"]).exits(0);
        let written: Vec<_> = folder
            .path()
            .join(&out)
            .join("kinds")
            .read_dir()
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(written, ["kinds.yaml"], "{path}");
        assert!(std::fs::read_to_string(folder.path().join(&out).join("deployment.yaml")).unwrap().contains("apps/v1"));
    }
    for theirs in ["deployment.yaml", "deep/deployment.yaml"] {
        assert_eq!(std::fs::read_to_string(folder.path().join(theirs)).unwrap(), crd, "{theirs}");
    }
}

#[test]
fn kinds_that_no_config_map_holds_are_refused_before_anything_is_written() {
    let folder = Folder::new();
    let write = |length: usize| {
        let default = "x".repeat(length);
        folder.write(
            "kinds.yaml",
            format!(
                "builtIn: false\nkinds:\n- group: a.b\n  version: v1\n  kind: Job\n  namespaced: true\n  columns:\n  \
                 - {{column: a, path: .spec.a, type: MEDIUMTEXT, key: false, default: {default}}}\n"
            ),
        );
    };
    let run = || folder.run(&["manifests", "--out", "base", "--kinds", "kinds.yaml"]);
    write(1 << 20);
    run().exits(2).says(&["a ConfigMap has at most 1048576", "a program of your own"]);
    assert!(!folder.path().join("base").exists());
    write(300 << 10);
    run().exits(0).says(&["kubectl apply --server-side -k base"]);
    write(10);
    run().exits(0).says(&["`kubectl apply -k base`"]);
}

#[test]
fn no_command_writes_outside_of_its_folder() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    folder.write("theirs/file", "theirs");
    for (out, link, to) in [
        ("base", "deployment.yaml", "../theirs/file"),
        ("crds", "models.michelangelo.api.yaml", "../theirs/file"),
        ("sql", "mysql", "../theirs"),
    ] {
        std::fs::create_dir(folder.path().join(out)).unwrap();
        symlink(to, folder.path().join(out).join(link)).unwrap();
    }
    for arguments in
        [&["manifests", "--out", "base"][..], &["crds", "--out", "crds"], &["schema", "generate", "--out", "sql"]]
    {
        folder.run(arguments).exits(1).says(&["outside of the folder that the command writes"]);
    }
    let theirs: Vec<_> = folder.path().join("theirs").read_dir().unwrap().collect();
    assert_eq!(theirs.len(), 1);
    assert_eq!(std::fs::read_to_string(folder.path().join("theirs/file")).unwrap(), "theirs");
}

#[test]
fn a_configuration_with_a_password_is_a_secret() {
    let folder = Folder::new();
    let url = "metadataStorage:\n  enableMetadataStorage: true\n  databaseURL: postgres://u:hunter2@db/d\n";
    let password =
        "metadataStorage: {enableMetadataStorage: true}\nmysql: {host: db, database: d, user: u, password: hunter2}\n";
    for (out, text) in [("url", url), ("password", password)] {
        folder.write("mine.yaml", text);
        let ran = folder.run(&["manifests", "--out", out, "--config", "mine.yaml", "--name", "mine"]).exits(0);
        assert!(!ran.out.contains("hunter2") && !ran.err.contains("hunter2"), "{}", ran.err);
        ran.says(&["keep secret.yaml out of version control"]);
        assert!(!folder.path().join(out).join("configmap.yaml").exists());
        for entry in folder.path().join(out).read_dir().unwrap() {
            let path = entry.unwrap().path();
            let has = std::fs::read_to_string(&path).unwrap().contains("hunter2");
            assert_eq!(has, path.ends_with("secret.yaml"), "{}", path.display());
        }
        let Some(objects) = built(&folder, out) else { return };
        let secret = objects.iter().find(|object| object["kind"] == "Secret").unwrap();
        assert_eq!(secret["stringData"]["ingester.yaml"], text);
        for kind in ["Deployment", "Job"] {
            let object = objects.iter().find(|object| object["kind"] == kind).unwrap();
            let pod = &object["spec"]["template"]["spec"];
            assert_eq!(pod["volumes"][0]["secret"]["secretName"], secret["metadata"]["name"], "{kind}");
            let container = &pod["containers"][0];
            assert!(container["env"].is_null(), "{container}");
            assert_eq!(container["volumeMounts"][0]["mountPath"], "/etc/ingester");
            let arguments: Vec<&str> =
                container["args"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
            assert_eq!(arguments[arguments.len() - 2..], ["--config", "/etc/ingester/ingester.yaml"]);
        }
    }
    folder.write("mine.yaml", "metadataStorage: {enableMetadataStorage: true}\nmysql: {password: hunter2}\n");
    folder.run(&["manifests", "--out", "none", "--config", "mine.yaml"]).exits(2).says(&["mysql.host"]);
    folder.write("mine.yaml", url);
    let both = ["manifests", "--out", "none", "--config", "mine.yaml", "--database", "postgres"];
    folder.run(&both).exits(2).says(&["leave --database out"]);
    assert!(!folder.path().join("none").exists());
}

#[test]
fn postgresql_is_the_component_of_this_repository() {
    let folder = Folder::new();
    folder
        .run(&["manifests", "--out", "base", "--database", "postgres"])
        .exits(0)
        .says(&["image and URL of the database"]);
    let Some(base) = built(&folder, "base") else { return };
    let copied = Command::new("cp")
        .args(["-r", concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy"), "deploy"])
        .current_dir(folder.path())
        .status()
        .unwrap();
    assert!(copied.success());
    folder.write(
        "overlay/kustomization.yaml",
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [../deploy]\ncomponents: [../deploy/postgres]\n",
    );
    let mut of_deploy = built(&folder, "overlay").unwrap();
    let mut base = base;
    for objects in [&mut base, &mut of_deploy] {
        objects.sort_by_key(|object| object["kind"].to_string() + &object["metadata"]["name"].to_string());
    }
    assert_eq!(base, of_deploy);
}

/// The CRDs of `tests/crds` in one file, each with a description that no ConfigMap holds; and the file of kinds as a person shortens what
/// `scaffold` writes: with `crd`, and without the types that the CRDs give.
fn kinds_of_big_crds(folder: &Folder) {
    let crds = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/crds");
    let mut bundle = String::new();
    for entry in std::fs::read_dir(crds).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let crd = std::fs::read_to_string(path).unwrap();
        let properties = "        properties:\n";
        assert!(crd.contains(properties), "{crd}");
        let description = "a long description ".repeat(60_000);
        let described = format!(
            "{properties}          padding:\n            type: string\n            description: {description}\n"
        );
        bundle += &format!("---\n{}\n", crd.replacen(properties, &described, 1));
    }
    folder.write("crds/all.yaml", &bundle);
    assert!(bundle.len() > 4 << 20);
    let scaffolded = folder.run(&["scaffold", "crds/all.yaml"]).exits(0).out;
    let mut kinds = String::new();
    for line in scaffolded.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let line = match line.split_once(", type: ") {
            Some((before, after)) => format!("{before}{}", &after[after.find([',', '}']).unwrap()..]),
            None => line.to_owned(),
        };
        kinds += &format!("{line}\n");
        if line.starts_with("  kind: ") {
            kinds += "  crd: crds/all.yaml\n";
        }
    }
    folder.write("kinds.yaml", kinds);
}

/// Sorts what two tools print in different orders.
fn by_name(objects: Vec<Json>) -> BTreeMap<String, Json> {
    let name = |object: &Json| format!("{} {}", object["kind"], object["metadata"]["name"]);
    objects.into_iter().map(|object| (name(&object), object)).collect()
}

#[test]
fn an_api_server_takes_the_manifests_of_kinds_with_big_crds() {
    let folder = Folder::new();
    kinds_of_big_crds(&folder);
    folder.run(&["manifests", "--out", "base", "--kinds", "kinds.yaml"]).exits(0).says(&["`kubectl apply -k base`"]);
    let Some(objects) = built(&folder, "base") else { return };
    let server = ApiServer::start().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(kubectl().unwrap());
        command.args(arguments).arg("--kubeconfig").arg(server.kubeconfig()).current_dir(folder.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let applied = run(&["apply", "-k", "base"]);
    assert_eq!((objects.len(), applied.lines().count()), (11, 11), "{applied}");
    assert!(applied.lines().all(|line| line.ends_with(" created")), "{applied}");
    let stored: Json = serde_json::from_str(&run(&["get", "-n", "ingester", "configmaps", "-o", "json"])).unwrap();
    let mut kinds = stored["items"].as_array().unwrap().iter().filter_map(|map| map["data"]["kinds.yaml"].as_str());
    // The API server has the file as it was written, and a pod reads the same four kinds from it.
    let written = std::fs::read_to_string(folder.path().join("base/kinds/kinds.yaml")).unwrap();
    assert_eq!((kinds.next(), kinds.next()), (Some(written.as_str()), None));
    let listed = |file: &str| folder.run(&["kinds", "-o", "json", "--kinds", file]).exits(0).out;
    assert_eq!(listed("base/kinds/kinds.yaml"), listed("kinds.yaml"));
    assert_eq!(written.matches("  kind: ").count(), 4, "{written}");
}

#[test]
fn the_chart_has_the_config_map_of_kinds_and_the_role_of_the_manifests() {
    let folder = Folder::new();
    kinds_of_big_crds(&folder);
    let mut kinds = std::fs::read_to_string(folder.path().join("kinds.yaml")).unwrap();
    kinds += "- group: michelangelo.api
  version: v2
  kind: Project
  namespaced: true
  protobuf: {message: michelangelo.api.v2.Project, descriptors: api.bin}
  columns:
  - {column: tier, path: .spec.tier, type: BIGINT}
";
    folder.write("kinds.yaml", kinds);
    let descriptors = concat!(env!("CARGO_MANIFEST_DIR"), "/../crd-specs/proto/descriptors.bin");
    std::fs::copy(descriptors, folder.path().join("api.bin")).unwrap();
    folder.run(&["manifests", "--out", "base", "--kinds", "kinds.yaml"]).exits(0);
    let read = |file: &str| std::fs::read(folder.path().join("base").join(file)).unwrap();
    let text = |file: &str| String::from_utf8(read(file)).unwrap();
    let (Some(objects), Some(renderer)) = (built(&folder, "base"), helm_render()) else { return };
    let mut base64 = STANDARD.encode(read("kinds/descriptors-api.bin"));
    // As the program `base64` breaks lines.
    base64.insert(76, '\n');
    let values = json!({"kinds": {
        "file": text("kinds/kinds.yaml"),
        "clusterRole": text("clusterrole.yaml"),
        "descriptors": {"descriptors-api.bin": base64},
    }});
    folder.write("values.yaml", values.to_string());
    let chart = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/helm");
    let output = Command::new(renderer).args([chart, "values.yaml", "1"]).current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rendered: Json = serde_json::from_slice(&output.stdout).unwrap();
    let made = by_name(objects);
    let rendered = by_name(rendered["objects"].as_array().unwrap().clone());
    for objects in [&made, &rendered] {
        let mut maps = objects.values().filter(|object| !object["data"]["kinds.yaml"].is_null());
        let map = maps.next().unwrap();
        assert!(maps.next().is_none());
        assert_eq!(map["data"], json!({"kinds.yaml": text("kinds/kinds.yaml")}));
        let binary = map["binaryData"].as_object().unwrap();
        assert_eq!(binary.keys().collect::<Vec<_>>(), ["descriptors-api.bin"]);
        // kustomize breaks lines, too.
        let base64: String = binary["descriptors-api.bin"].as_str().unwrap().split_whitespace().collect();
        assert!(STANDARD.decode(base64).unwrap() == read("kinds/descriptors-api.bin"), "{}", map["metadata"]);
    }
    let role = "\"ClusterRole\" \"ingester\"";
    assert_eq!(rendered[role]["rules"], made[role]["rules"]);
}

#[test]
fn only_the_owner_reads_the_secret_whoever_could_read_it_before() {
    let folder = Folder::new();
    let mode = |file: &str| folder.path().join("base").join(file).metadata().unwrap().permissions().mode() & 0o777;
    for _ in 0..2 {
        folder.run(&["manifests", "--out", "base"]).exits(0);
        assert_eq!(mode("secret.yaml"), 0o600);
        assert_ne!(mode("deployment.yaml"), 0o600);
        // As an earlier release wrote it.
        let open = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(folder.path().join("base/secret.yaml"), open).unwrap();
    }
}

#[test]
fn files_of_an_earlier_run_that_are_not_part_any_more_are_named() {
    let folder = Folder::new();
    folder.write("kinds.yaml", kinds_with("crd.yaml"));
    let crd = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/crds/certificates.cert-manager.io.yaml");
    std::fs::copy(crd, folder.path().join("crd.yaml")).unwrap();
    folder.write("mine.yaml", "metadataStorage: {enableMetadataStorage: true, databaseURL: postgres://u:p@h/d}\n");
    let run = || folder.run(&["manifests", "--out", "base", "--kinds", "kinds.yaml", "--config", "mine.yaml"]).exits(0);
    assert!(!run().err.contains("left from an earlier run"));
    // As release 0.2.0 wrote them.
    for left in ["base/kinds/crds/certificates.yaml", "base/configmap.yaml", "base/overlay/mine.yaml"] {
        folder.write(left, "a: b\n");
    }
    let ran = run()
        .says(&["left from an earlier run", "base/configmap.yaml, base/kinds/crds/certificates.yaml; remove them"]);
    assert!(!ran.err.contains("base/overlay"), "{}", ran.err);
    assert!(ran.err.contains("copied passwords"), "{}", ran.err);
    assert!(folder.path().join("base/configmap.yaml").exists());
    std::fs::remove_file(folder.path().join("base/configmap.yaml")).unwrap();
    let ran = run().says(&["left from an earlier run"]);
    assert!(!ran.err.contains("passwords"), "{}", ran.err);
}

#[test]
fn no_source_of_kinds_is_in_the_folder_that_is_written() {
    let folder = Folder::new();
    let crd = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/crds/certificates.cert-manager.io.yaml");
    folder.write("kinds/kinds.yaml", kinds_with("crds/crd.yaml"));
    for crds in ["kinds/crds", "linked/crds"] {
        std::fs::create_dir_all(folder.path().join(crds)).unwrap();
    }
    for copy in ["kinds/crds/crd.yaml", "linked/crds/crd.yaml"] {
        std::fs::copy(crd, folder.path().join(copy)).unwrap();
    }
    folder.write("outside.yaml", kinds_with("kinds/crds/crd.yaml"));
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, folder.path().join(at)).unwrap();
    link("../kinds/kinds.yaml", "linked/kinds.yaml");
    let before = std::fs::read(folder.path().join("kinds/kinds.yaml")).unwrap();
    for kinds in ["kinds", "kinds/kinds.yaml", "outside.yaml", "linked/kinds.yaml"] {
        let ran = folder.run(&["manifests", "--kinds", kinds, "--out", "."]).exits(2);
        ran.says(&[
            "is a source of the kinds, and is in ./kinds, which this command writes",
            "another folder with --out",
        ]);
        assert!(!folder.path().join("kustomization.yaml").exists(), "{kinds}");
    }
    assert_eq!(std::fs::read(folder.path().join("kinds/kinds.yaml")).unwrap(), before);
    for _ in 0..2 {
        folder.run(&["manifests", "--kinds", "kinds", "--out", "base"]).exits(0);
    }
}
