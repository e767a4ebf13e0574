//! `ingester scaffold`, `ingester manifests` and `ingester rbac`: declared kinds, and the rights for any kinds.

use super::Cluster;
use clap::{Args, ValueEnum};
use ingester_core::labels::check_object_name;
use std::path::PathBuf;

const SCAFFOLD: &str = "\
Examples:
  ingester scaffold certificates.crd.yaml > kinds.yaml
  ingester scaffold crds/*.yaml > kinds.yaml                one file for all kinds
  ingester scaffold --from-cluster certificates.cert-manager.io > kinds.yaml
  kubectl get crd certificates.cert-manager.io -o yaml | ingester scaffold - > kinds.yaml
  ingester scaffold certificates.crd.yaml --rust > certificate.rs
  ingester scaffold --rust --kinds kinds.yaml --kind Certificate > certificate.rs
  ingester import --kinds kinds.yaml objects/               the next step";

/// Print a first file of kinds for CustomResourceDefinitions.
///
/// The columns are the selectable fields and printer columns of the CRD; other fields are comments. The file works as it is, with --kinds
/// of every command.
#[derive(Debug, Args)]
#[command(after_help = SCAFFOLD)]
pub(crate) struct Scaffold {
    /// Files with CRDs, YAML or JSON; - for standard input. Objects of other kinds in them are passed over.
    #[arg(value_name = "CRD", required_unless_present_any = ["from_cluster", "kind"], conflicts_with = "from_cluster")]
    pub(crate) files: Vec<PathBuf>,
    /// The name of a CRD in the cluster, as `kubectl get crds` prints it, or of a built-in type: deployments.apps, pods.
    #[arg(long, value_name = "NAME")]
    pub(crate) from_cluster: Option<String>,
    /// A module with an annotated struct instead, for a program of your own: of one CRD at a time.
    #[arg(long, conflicts_with = "yaml")]
    pub(crate) rust: bool,
    /// With --rust: a kind of the file of --kinds instead of a CRD. A comment `not expressible` marks what only a file can say.
    #[arg(long, value_name = "KIND", requires = "rust", conflicts_with_all = ["files", "from_cluster"])]
    pub(crate) kind: Option<String>,
    /// A file of kinds, which is the default.
    #[arg(long)]
    pub(crate) yaml: bool,
    #[command(flatten)]
    pub(crate) cluster: Cluster,
}

const MANIFESTS: &str = "\
Examples:
  ingester manifests --out deploy/base --image registry.example.com/ingester:1.0.0
  ingester manifests --out base --kinds kinds.yaml --name crontabs
  ingester manifests --out base --database postgres
  kubectl apply -k base                                     the next step";

/// Write the manifests that run this program in a cluster, as a base for kustomize.
///
/// Namespace, ServiceAccount, the ClusterRole of the program's kinds, configuration, a placeholder for the Secret, the schema Job and the
/// Deployment. Kinds of a file are mounted into the pods. Without --kinds, or with built-in kinds, a Dockerfile builds the program. Files
/// of an earlier run are replaced.
#[derive(Debug, Args)]
#[command(after_help = MANIFESTS)]
pub(crate) struct Manifests {
    /// Only these kinds.
    #[arg(value_name = "KIND")]
    pub(crate) kinds: Vec<String>,
    /// The folder of the files.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The image of the program.
    #[arg(long, value_name = "IMAGE", default_value = concat!("ingester:", env!("CARGO_PKG_VERSION")), value_parser = image)]
    pub(crate) image: String,
    /// The name of the objects, and the prefix of further names.
    #[arg(long, value_name = "NAME", default_value = "ingester", value_parser = name)]
    pub(crate) name: String,
    /// The namespace of the objects; by default the NAME.
    #[arg(short, long, value_name = "NAMESPACE", value_parser = name)]
    pub(crate) namespace: Option<String>,
    /// The configuration of `ingester run`, instead of the default one.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The database, unless the configuration has its URL or password: then the whole configuration is a Secret, which the pods mount. `mysql`
    /// stands also for MariaDB and TiDB
    #[arg(long, value_name = "DATABASE", default_value = "mysql")]
    pub(crate) database: ManifestDatabase,
    /// Add a MutatingAdmissionPolicy that sets the finalizer when an object is created: `v1` for Kubernetes 1.36 and later, `v1beta1` for 1.34
    /// and 1.35, where the API server has to enable it
    #[arg(long, value_name = "VERSION", num_args = 0..=1, require_equals = true, default_missing_value = "v1")]
    pub(crate) admission: Option<AdmissionVersion>,
}

/// The database of the manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ManifestDatabase {
    /// MySQL, MariaDB or TiDB.
    Mysql,
    /// PostgreSQL.
    Postgres,
}

/// A version of the API of MutatingAdmissionPolicies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum AdmissionVersion {
    /// Kubernetes 1.36 and later.
    V1,
    /// Kubernetes 1.34 and 1.35.
    V1beta1,
}

impl AdmissionVersion {
    pub(crate) fn name(self) -> &'static str {
        match self {
            AdmissionVersion::V1 => "v1",
            AdmissionVersion::V1beta1 => "v1beta1",
        }
    }
}

/// Checks the reference of an image: none of its characters has a meaning in YAML where it is written.
fn image(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | ':' | '@' | '+');
    let ends = |c: char| c.is_ascii_alphanumeric();
    if !text.starts_with(ends) || !text.ends_with(ends) || !text.chars().all(fits) {
        return Err("give REGISTRY/REPOSITORY:TAG or REGISTRY/REPOSITORY@DIGEST".to_owned());
    }
    Ok(text.to_owned())
}

/// A name that a ClusterRole may have, such as `system:ingester`.
fn role_name(text: &str) -> Result<String, String> {
    match text {
        "" => Err("a name has a character at least".to_owned()),
        text if text.chars().any(char::is_control) => Err("a name has no control characters".to_owned()),
        text => Ok(check_object_name("rbac.authorization.k8s.io/v1", text).map(|()| text.to_owned())?),
    }
}

/// Checks a name that all these objects may have, with `-schema` and the like behind it.
fn name(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let ends = text.starts_with(|c: char| c.is_ascii_lowercase()) && !text.ends_with('-');
    if text.len() > 50 || !ends || !text.chars().all(fits) {
        return Err("a name has up to 50 lower-case letters, digits and hyphens, and begins with a letter".to_owned());
    }
    if is_word(text) {
        return Err(format!("YAML reads `{text}` as a boolean or null; give another name"));
    }
    Ok(text.to_owned())
}

/// Returns true if Kubernetes' YAML reads this word as something else than a text.
pub(crate) fn is_word(text: &str) -> bool {
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    words.iter().any(|word| word.eq_ignore_ascii_case(text))
}

const RBAC: &str = "\
Examples:
  ingester rbac --config ingester.yaml | kubectl apply -f -
  ingester rbac --kinds kinds.yaml --name certificates      another name than `ingester`
  ingester rbac models projects
  ingester rbac --restore --name ingester-restore           for `serve.restore: user`";

/// Print the ClusterRole that `ingester run` needs for its kinds.
///
/// With --restore, print the ClusterRole by which `ingester serve` restores objects as callers whose bearer token it does not have: those that come
/// through the API server, or with a client certificate. It is in no manifest and in no chart: bind it to the server's service account if these
/// callers shall restore objects through the server.
#[derive(Debug, Args)]
#[command(after_help = RBAC)]
pub(crate) struct Rbac {
    /// Only these kinds.
    #[arg(value_name = "KIND")]
    pub(crate) kinds: Vec<String>,
    /// The configuration of `ingester run`, which may choose kinds and finalizers.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The name of the ClusterRole.
    #[arg(long, value_name = "NAME", default_value = "ingester", value_parser = role_name)]
    pub(crate) name: String,
    /// The role of `serve.restore: user`. `constrained`, the default, needs Kubernetes' constrained impersonation (on by default from 1.36): the server
    /// can act as its callers only to restore these kinds. `plain` is for older clusters: the server can then act as any user in everything.
    #[arg(long, value_enum, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "constrained")]
    pub(crate) restore: Option<Impersonation>,
}

/// How the role of a restore lets the server act as its callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Impersonation {
    /// Only for what a restore does.
    Constrained,
    /// For everything.
    Plain,
}
