//! `ingester manifests`: the input of `kubectl apply -k` for this program and its kinds.

use super::admission;
use super::rbac::{chosen_by, role};
use crate::arguments::Manifests;
use crate::ending::{Ending, Failure};
use crate::output::note;
use crate::program::{KindsFile, Program};
use anyhow::anyhow;
use ingester_store::files;
use std::fmt::Write as _;
use std::path::Path;

/// The manifests of this repository, in the order of their creation. The role is made from the kinds. They are symbolic links in this
/// crate's folder, so that the crate's package contains them.
const BASE: [(&str, &str); 9] = [
    ("namespace.yaml", include_str!("../../deploy/namespace.yaml")),
    ("serviceaccount.yaml", include_str!("../../deploy/serviceaccount.yaml")),
    ("clusterrolebinding.yaml", include_str!("../../deploy/clusterrolebinding.yaml")),
    ("role.yaml", include_str!("../../deploy/role.yaml")),
    ("rolebinding.yaml", include_str!("../../deploy/rolebinding.yaml")),
    ("configmap.yaml", include_str!("../../deploy/configmap.yaml")),
    ("secret.yaml", include_str!("../../deploy/secret.yaml")),
    ("schema-job.yaml", include_str!("../../deploy/schema-job.yaml")),
    ("deployment.yaml", include_str!("../../deploy/deployment.yaml")),
];

/// The manifests that grant the right to Leases: they are in the namespace of the Leases.
const OF_LEASES: [&str; 2] = ["role.yaml", "rolebinding.yaml"];

/// The number of pods that share the work, and the number otherwise.
const SEVERAL: &str = "  # The pods share the work: one pod owns each unit (a kind) by its Lease. If a pod dies, the others take its units over.\n  replicas: 2\n";
const ONE: &str = "  # `ingester.replicas.enabled` is not set: each pod would do all of the work.\n  replicas: 1\n";

/// The image that they name.
const IMAGE: &str = concat!("image: ingester:", env!("CARGO_PKG_VERSION"));

/// The folder in which the file of kinds is mounted. It is separate, because nothing can be mounted within a ConfigMap's folder.
const KINDS: &str = "/etc/ingester-kinds";

pub(crate) fn run(arguments: &Manifests, program: Program) -> Result<Ending, Failure> {
    let (kinds, config) = chosen_by(&arguments.kinds, arguments.config.as_deref(), program.kinds)?;
    if kinds.is_empty() {
        return Err(Failure::Usage(anyhow!(
            "there are no kinds: name some with --kinds FILE, or use the program that has yours built in"
        )));
    }
    // Without a given file, the base contains one that shares the work.
    let shared = arguments.config.is_none() || config.ingester.replicas.enabled;
    let base: Vec<(&str, &str)> = BASE.into_iter().filter(|(name, _)| shared || !OF_LEASES.contains(name)).collect();
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let mut more = vec!["clusterrole.yaml"];
    if let Some(version) = arguments.admission {
        let ensured = admission::ensured(&kinds, &config.ingester);
        if ensured.is_empty() {
            return Err(Failure::Usage(anyhow!(
                "--admission: it sets a finalizer, which none of these kinds gets: each has a filter, or another `finalizer` than `ensure`"
            )));
        }
        let policy = admission::policy(&arguments.name, &ensured, &config.ingester, version)?;
        files.push(("admission.yaml".to_owned(), policy.into_bytes()));
        more.push("admission.yaml");
    }
    for (name, text) in &base {
        let (name, text) = (*name, *text);
        let text = match (name, &arguments.config) {
            ("configmap.yaml", Some(file)) => with_configuration(text, &read(file)?)?,
            ("deployment.yaml", _) if !shared => text.replace(SEVERAL, ONE),
            _ => text.to_owned(),
        };
        let mut text = named(&text, arguments);
        if let (true, Some(namespace)) = (OF_LEASES.contains(&name), &config.ingester.replicas.namespace) {
            text = in_namespace(&text, namespace);
        }
        files.push((name.to_owned(), text.into_bytes()));
    }
    let role = role(&arguments.name, &kinds, &config);
    files.push(("clusterrole.yaml".to_owned(), named(&role, arguments).into_bytes()));
    let (mounted, texts) = match &program.kinds_file {
        Some(file) => (kinds_of_a_file(file, arguments), file.files),
        None => (String::new(), &[][..]),
    };
    files.extend(texts.iter().map(|(name, bytes)| (format!("kinds/{name}"), bytes.clone())));
    files.push(("kustomization.yaml".to_owned(), kustomization(&base, &more, &mounted).into_bytes()));
    if !program.built_in.is_empty() {
        files.push(("Dockerfile".to_owned(), dockerfile(arguments).into_bytes()));
    }
    for (name, bytes) in files {
        let path = arguments.out.join(name);
        let folder = path.parent().unwrap_or(&arguments.out);
        std::fs::create_dir_all(folder).map_err(|error| anyhow!("cannot make {}: {error}", folder.display()))?;
        files::replace(&path, &bytes).map_err(|error| anyhow!("cannot write {}: {error}", path.display()))?;
        note(&format!("wrote {}", path.display()));
    }
    if let (true, Some(namespace)) = (shared, &config.ingester.replicas.namespace) {
        note(&format!(
            "the Leases are in namespace {namespace}, as the configuration says: it must be there before these"
        ));
    }
    note(&format!(
        "image, address and password of the database belong in an overlay, see kustomization.yaml; then `kubectl apply -k {}`",
        arguments.out.display()
    ));
    Ok(Ending::Done)
}

fn read(file: &Path) -> Result<String, Failure> {
    files::read_text(file).map_err(|error| Failure::Usage(anyhow!("cannot read {}: {error}", file.display())))
}

/// The manifest with the names and the image of this program.
fn named(text: &str, arguments: &Manifests) -> String {
    let Manifests { name, namespace, image, .. } = arguments;
    // `1` and `1:2` would be numbers.
    let image = if image.contains(|c: char| c.is_ascii_alphabetic()) { image.clone() } else { format!("'{image}'") };
    let namespace = namespace.as_ref().unwrap_or(name);
    let of_namespace = text.contains("\nkind: Namespace\n");
    let mut all = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let line = match line.trim_start() {
            comment if comment.starts_with('#') => line.to_owned(),
            line_ if line_.starts_with(IMAGE) => line.replace(IMAGE, &format!("image: {image}")),
            "namespace: ingester\n" => line.replace("ingester", namespace),
            "name: ingester\n" if of_namespace => line.replace("ingester", namespace),
            // This also matches `app.kubernetes.io/name` and `serviceAccountName`, and names with this prefix.
            _ => line.replace("ame: ingester", &format!("ame: {name}")),
        };
        all.push_str(&line);
    }
    all
}

/// The manifest of an object in another namespace. Its subjects stay in their namespace.
fn in_namespace(manifest: &str, namespace: &str) -> String {
    let is_its_own = |line: &str| line.starts_with("  namespace: ");
    let mut lines: Vec<String> = manifest.split_inclusive('\n').map(str::to_owned).collect();
    if let Some(line) = lines.iter_mut().find(|line| is_its_own(line)) {
        *line = format!("  namespace: {namespace}\n");
    }
    lines.concat()
}

/// The ConfigMap with this configuration instead of its own.
fn with_configuration(manifest: &str, configuration: &str) -> Result<String, Failure> {
    let key = "  ingester.yaml: |\n";
    let head = manifest.find(key).map(|at| &manifest[..at + key.len()]);
    let head = head.ok_or_else(|| anyhow!("the ConfigMap of this program has no ingester.yaml"))?;
    let mut text = head.to_owned();
    for line in configuration.lines() {
        match line.trim_end() {
            "" => text.push('\n'),
            line => {
                let _ = writeln!(text, "    {line}");
            }
        }
    }
    Ok(text)
}

/// The patch that mounts a file of kinds, with the files that it names, into both pods.
fn kinds_of_a_file(file: &KindsFile, arguments: &Manifests) -> String {
    let Manifests { name, .. } = arguments;
    let namespace = arguments.namespace.as_ref().unwrap_or(name);
    // A key of a ConfigMap must not contain slashes.
    let key = |name: &str| name.replace('/', "_");
    let mut text = format!(
        "# Another file has another name in the cluster, so that the pods are started again.\nconfigMapGenerator:\n- name: {name}-kinds\n  namespace: {namespace}\n  options:\n    labels: {{app.kubernetes.io/name: {name}}}\n  files:\n"
    );
    for (its, _) in file.files {
        let _ = writeln!(text, "  - {}=kinds/{its}", key(its));
    }
    text.push_str("patches:\n");
    let path = format!("{KINDS}/{}", file.name);
    for (kind, group, of, container, args) in [
        ("Deployment", "apps", name.clone(), name.as_str(), "run, --config, /etc/ingester/ingester.yaml"),
        ("Job", "batch", format!("{name}-schema"), "schema", "schema, apply"),
    ] {
        let _ = write!(
            text,
            "- patch: |\n    apiVersion: {group}/v1\n    kind: {kind}\n    metadata: {{name: {of}, namespace: {namespace}}}\n    spec:\n      template:\n        spec:\n          containers:\n          - name: {container}\n            args: [{args}, --kinds, {path}]\n            volumeMounts:\n            - {{name: kinds, mountPath: {KINDS}, readOnly: true}}\n          volumes:\n          - name: kinds\n            configMap:\n              name: {name}-kinds\n              items:\n"
        );
        for (its, _) in file.files {
            let _ = writeln!(text, "              - {{key: {}, path: {its}}}", key(its));
        }
    }
    text
}

fn kustomization(base: &[(&str, &str)], more: &[&str], mounted: &str) -> String {
    let mut text = String::from(
        "# Written by `ingester manifests`. Your own settings belong in an overlay, in a folder beside this one:
#
#   apiVersion: kustomize.config.k8s.io/v1beta1
#   kind: Kustomization
#   resources: [../base]
#   patches:
#   - path: secret.yaml
#   - path: configmap.yaml
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
",
    );
    let (before, after) = base.split_at(2);
    for name in
        before.iter().map(|(name, _)| *name).chain(more.iter().copied()).chain(after.iter().map(|(name, _)| *name))
    {
        let _ = writeln!(text, "- {name}");
    }
    text + mounted
}

/// Returns the Dockerfile that builds this program. It uses the folder and profile of a plain package.
fn dockerfile(arguments: &Manifests) -> String {
    let program = std::env::current_exe().ok();
    let program = program.as_deref().and_then(Path::file_stem).and_then(|name| name.to_str()).unwrap_or("ingester");
    format!(
        "# syntax=docker/dockerfile:1
# In the folder of your package: docker build -f {out}/Dockerfile -t {image} .

FROM rust:1-bookworm AS build
WORKDIR /src
COPY . .
# The caches keep what cargo fetched and built. The program is copied out, because a cache is not part of the image.
RUN --mount=type=cache,target=/usr/local/cargo/registry,sharing=locked \\
    --mount=type=cache,target=/src/target,sharing=locked \\
    cargo build --release --locked --bin {program} && \\
    cp target/release/{program} /ingester

# glibc and the certificates of public CAs, but no shell. `nonroot` is user 65532.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /ingester /usr/local/bin/ingester
# A number, because Kubernetes cannot tell from a name whether the user is root.
USER 65532:65532
EXPOSE 8080 8443
ENTRYPOINT [\"/usr/local/bin/ingester\"]
",
        out = arguments.out.display(),
        image = arguments.image,
    )
}
