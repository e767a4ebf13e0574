//! `ingester kubeconfig`.

use clap::Args;
use std::path::PathBuf;

/// Print a kubeconfig for kubectl to use with `ingester serve`.
///
/// The kubeconfig goes to standard output: `ingester kubeconfig ... > mirror.yaml`, then `kubectl --kubeconfig mirror.yaml get models`,
/// or `KUBECONFIG=~/.kube/config:mirror.yaml` and `kubectl --context ingester`. No credentials are copied unless --embed-credentials
/// says so.
#[derive(Debug, Args)]
#[command(after_help = KUBECONFIG_EXAMPLES)]
pub(crate) struct Kubeconfig {
    /// The address of the server: https://HOST:PORT; http://127.0.0.1:PORT for `ingester serve --insecure-loopback PORT`.
    #[arg(long, value_name = "URL")]
    pub(crate) server: String,
    /// The certificate of the authority that signed the server's, a PEM file, which is copied. Without it, the authorities of the machine
    /// are trusted.
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate_authority: Option<PathBuf>,
    /// The name in the server's certificate, if it is not the HOST.
    #[arg(long, value_name = "NAME")]
    pub(crate) tls_server_name: Option<String>,
    /// The name of the cluster, the context and the user.
    #[arg(long, value_name = "NAME", default_value = "ingester", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) name: String,
    /// The namespace of the context. By default that of the context of --from.
    #[arg(short, long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,
    /// A user of another kubeconfig that is read in addition to this one.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["token_file", "from"], help_heading = "Who asks")]
    pub(crate) user: Option<String>,
    /// A file with a token, read by kubectl each time, such as that of a service account.
    #[arg(long, value_name = "FILE", conflicts_with = "from", help_heading = "Who asks")]
    pub(crate) token_file: Option<PathBuf>,
    /// The user of another kubeconfig; without FILE, of the one that kubectl uses. Copies the name of the command that prints a token, and
    /// the names of files.
    #[arg(long, value_name = "FILE", num_args = 0..=1, help_heading = "Who asks")]
    pub(crate) from: Option<Option<PathBuf>>,
    /// The context in that kubeconfig [default: the current one].
    #[arg(long, value_name = "NAME", requires = "from", help_heading = "Who asks")]
    pub(crate) context: Option<String>,
    /// Also copy the token or the key in that kubeconfig, and the arguments and environment of its command (`args`, `env`). Anyone who can
    /// read the copy can then act as this user.
    #[arg(long, requires = "from", help_heading = "Who asks")]
    pub(crate) embed_credentials: bool,
}

const KUBECONFIG_EXAMPLES: &str = "\
Examples:
  ingester kubeconfig --server http://127.0.0.1:8001      for `serve --insecure-loopback 8001`
  ingester kubeconfig --server https://mirror.example.com --certificate-authority ca.crt --from
  ingester kubeconfig --server https://mirror.example.com --user oidc
  ingester kubeconfig --server https://mirror.ingester.svc --certificate-authority ca.crt \\
    --token-file /var/run/secrets/kubernetes.io/serviceaccount/token";
