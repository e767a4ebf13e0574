//! `ingester manifests`: the input of `kubectl apply -k` for this program and its kinds.

mod database;
mod former;
mod sources;

use self::database::{DatabaseSource, SECRET, with_configuration};
use super::rbac::{chosen_by, role};
use super::{admission, write_within};
use crate::arguments::{AdmissionVersion, Manifests};
use crate::ending::{Ending, Failure};
use crate::output::note;
use crate::program::{KindsFiles, Program};
use anyhow::anyhow;
use ingester_config::Config;
use ingester_core::Kind;
use ingester_declare::declare::{KindsFile, ResolvedFile, resolved};
use ingester_store::files::{self, Readers};
use std::fmt::Write as _;
use std::io;
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

/// The name of the file of kinds there.
const KINDS_FILE: &str = "kinds.yaml";

/// The most bytes of all values of a ConfigMap or Secret (`MaxSecretSize` of Kubernetes).
const LARGEST: usize = 1 << 20;

/// The most bytes of all annotations (`TotalAnnotationSizeLimitB`). `kubectl apply` without `--server-side` keeps the whole object in one;
/// some of them are left for the object's other fields.
const LARGEST_APPLIED: usize = (256 << 10) - 4096;

/// A file of the folder: its name and its content.
type ManifestFile = (String, Vec<u8>);

pub(crate) fn run(arguments: &Manifests, program: Program) -> Result<Ending, Failure> {
    let (kinds, config) = chosen_by(&arguments.kinds, arguments.config.as_deref(), program.kinds)?;
    if kinds.is_empty() {
        return Err(Failure::Usage(anyhow!(
            "there are no kinds: name some with --kinds FILE, or use the program that has yours built in"
        )));
    }
    if let Some(files_of_kinds) = &program.kinds_files {
        sources::ensure_elsewhere(&arguments.out, files_of_kinds)?;
    }
    // Without a given file, the base contains one that shares the work.
    let shared = arguments.config.is_none() || config.ingester.replicas.enabled;
    let source = DatabaseSource::from_arguments(arguments, program.kinds)?;
    let mut files = base(arguments, &config, shared, source)?;
    let mut names: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
    if let Some(version) = arguments.admission {
        files.push(("admission.yaml".to_owned(), admission(arguments, &kinds, &config, version)?));
        names.insert(2, "admission.yaml".to_owned());
    }
    let role = role(&arguments.name, &kinds, &config);
    files.push(("clusterrole.yaml".to_owned(), named(&role, arguments).into_bytes()));
    names.insert(2, "clusterrole.yaml".to_owned());
    let mut mounted = String::new();
    if let Some(files_of_kinds) = &program.kinds_files {
        let of_kinds = resolved_files(files_of_kinds)?;
        mounted = kinds_of_a_file(&of_kinds, arguments, source);
        files.extend(of_kinds.into_iter().map(|(name, bytes)| (format!("kinds/{name}"), bytes)));
    }
    let applied_by_server = check_sizes(&files)?;
    files.push(("kustomization.yaml".to_owned(), kustomization(&names, &mounted).into_bytes()));
    if !program.built_in.is_empty() {
        files.push(("Dockerfile".to_owned(), dockerfile(arguments).into_bytes()));
    }
    for (name, bytes) in &files {
        // It has a password, or a placeholder that somebody replaces.
        let readers = if name == SECRET { Readers::Owner } else { Readers::AsBefore };
        write_within(&arguments.out, name, bytes, readers)?;
    }
    former::report_left(&arguments.out, &files);
    report(arguments, &config, shared, source, applied_by_server);
    Ok(Ending::Done)
}

/// Says what is left to do.
fn report(arguments: &Manifests, config: &Config, shared: bool, source: DatabaseSource, applied_by_server: bool) {
    if let (true, Some(namespace)) = (shared, &config.ingester.replicas.namespace) {
        note(&format!(
            "the Leases are in namespace {namespace}, as the configuration says: it must be there before these"
        ));
    }
    let overlaid = match source {
        DatabaseSource::Mysql => "image, address and password of the database belong in an overlay",
        DatabaseSource::Postgres => "image and URL of the database belong in an overlay",
        DatabaseSource::Configuration => {
            note("the configuration has a password, so it is a Secret: keep secret.yaml out of version control");
            "the image belongs in an overlay"
        }
    };
    let apply = if applied_by_server { "kubectl apply --server-side -k" } else { "kubectl apply -k" };
    note(&format!("{overlaid}, see kustomization.yaml; then `{apply} {}`", arguments.out.display()));
}

/// The manifests of `deploy/` for these arguments, in the order of their creation.
fn base(
    arguments: &Manifests,
    config: &Config,
    shared: bool,
    source: DatabaseSource,
) -> Result<Vec<ManifestFile>, Failure> {
    let configuration = arguments.config.as_deref().map(read).transpose()?;
    let mut files = Vec::new();
    for (name, text) in BASE.into_iter().filter(|(name, _)| shared || !OF_LEASES.contains(name)) {
        let Some(text) = source.manifest(name, text) else { continue };
        let text = if name == "deployment.yaml" && !shared { text.replace(SEVERAL, ONE) } else { text };
        let mut text = named(&text, arguments);
        if let (true, Some(namespace)) = (OF_LEASES.contains(&name), &config.ingester.replicas.namespace) {
            text = in_namespace(&text, namespace);
        }
        if let (true, Some(configuration)) = (name == source.of_configuration(), &configuration) {
            text = with_configuration(&text, configuration)?;
        }
        files.push((name.to_owned(), text.into_bytes()));
    }
    Ok(files)
}

fn admission(
    arguments: &Manifests,
    kinds: &[Kind],
    config: &Config,
    version: AdmissionVersion,
) -> Result<Vec<u8>, Failure> {
    let ensured = admission::ensured(kinds, &config.ingester);
    if ensured.is_empty() {
        return Err(Failure::Usage(anyhow!(
            "--admission: it sets a finalizer, which none of these kinds gets: each has a filter, or another `finalizer` than `ensure`"
        )));
    }
    Ok(admission::policy(&arguments.name, &ensured, &config.ingester, version)?.into_bytes())
}

/// All kinds as one file, which needs no CRD, and the files that it names. None is in a folder.
fn resolved_files(files: &KindsFiles) -> Result<Vec<ManifestFile>, Failure> {
    let opens: Vec<_> = files.files.iter().map(|file| open_again(&file.named)).collect();
    let sources = files.files.iter().zip(&opens);
    let sources: Vec<KindsFile<'_>> =
        sources.map(|(file, open)| KindsFile { name: &file.path, text: &file.text, open }).collect();
    let ResolvedFile { text, files } = resolved(&sources).map_err(|error| Failure::Usage(error.into()))?;
    let text = format!("# Written by `ingester manifests`, with the types that the CRDs gave.\n{text}");
    Ok([(KINDS_FILE.to_owned(), text.into_bytes())].into_iter().chain(files).collect())
}

/// Opens files that were read before: a file may be a pipe.
fn open_again(named: &[(String, Vec<u8>)]) -> impl Fn(&str) -> io::Result<Vec<u8>> {
    move |name| {
        let found = named.iter().find(|(its, _)| its == name);
        found.map(|(_, bytes)| bytes.clone()).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }
}

/// Checks that an API server takes the ConfigMaps and Secrets. Returns true if `kubectl apply` needs `--server-side` for them.
fn check_sizes(files: &[ManifestFile]) -> Result<bool, Failure> {
    let is_of_kinds = |name: &str| name.starts_with("kinds/");
    let of_kinds: Vec<&Vec<u8>> = files.iter().filter(|(name, _)| is_of_kinds(name)).map(|(_, bytes)| bytes).collect();
    let whole: usize = of_kinds.iter().map(|bytes| bytes.len()).sum();
    if whole > LARGEST {
        return Err(Failure::Usage(anyhow!(
            "the file of kinds and its descriptors have {whole} bytes, and a ConfigMap has at most {LARGEST}: build the kinds into a program of \
             your own, or divide them among several ingesters"
        )));
    }
    let single = files.iter().filter(|(name, _)| !is_of_kinds(name)).map(|(name, bytes)| (name, bytes.len()));
    if let Some((name, length)) = single.clone().find(|(_, length)| *length > LARGEST) {
        return Err(Failure::Usage(anyhow!("{name} would have {length} bytes, and an object has at most {LARGEST}")));
    }
    let applied: usize = of_kinds.iter().map(|bytes| applied_length(bytes)).sum();
    Ok(applied > LARGEST_APPLIED || single.clone().any(|(_, length)| length > LARGEST_APPLIED))
}

/// The length of a file as JSON, in which a file that is not text is in base64.
fn applied_length(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Ok(text) => serde_json::Value::from(text).to_string().len(),
        Err(_) => bytes.len().div_ceil(3) * 4,
    }
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

/// The patch that mounts a file of kinds, with the files that it names, into both pods.
fn kinds_of_a_file(files: &[ManifestFile], arguments: &Manifests, source: DatabaseSource) -> String {
    let Manifests { name, .. } = arguments;
    let namespace = arguments.namespace.as_ref().unwrap_or(name);
    let mut text = format!(
        "# Another file has another name in the cluster, so that the pods are started again.\nconfigMapGenerator:\n- name: {name}-kinds\n  namespace: {namespace}\n  options:\n    labels: {{app.kubernetes.io/name: {name}}}\n  files:\n"
    );
    for (its, _) in files {
        let _ = writeln!(text, "  - kinds/{its}");
    }
    text.push_str("patches:\n");
    let path = format!("{KINDS}/{KINDS_FILE}");
    for (kind, group, of, container, args) in [
        ("Deployment", "apps", name.clone(), name.as_str(), "run, --config, /etc/ingester/ingester.yaml".to_owned()),
        ("Job", "batch", format!("{name}-schema"), "schema", source.schema_arguments()),
    ] {
        let _ = write!(
            text,
            "- patch: |\n    apiVersion: {group}/v1\n    kind: {kind}\n    metadata: {{name: {of}, namespace: {namespace}}}\n    spec:\n      template:\n        spec:\n          containers:\n          - name: {container}\n            args: [{args}, --kinds, {path}]\n            volumeMounts:\n            - {{name: kinds, mountPath: {KINDS}, readOnly: true}}\n          volumes:\n          - name: kinds\n            configMap:\n              name: {name}-kinds\n"
        );
    }
    text
}

fn kustomization(names: &[String], mounted: &str) -> String {
    let mut text = String::from(
        "# Written by `ingester manifests`. Your own settings belong in an overlay, in a folder next to this one:
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
    for name in names {
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
