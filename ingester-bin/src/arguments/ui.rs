//! `ingester ui`.

use super::Cluster;
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  ingester kubeconfig --server https://mirror.example.com --certificate-authority ca.crt --from > mirror.yaml
  ingester ui --kubeconfig mirror.yaml              then open the printed address
  ingester ui --kubeconfig mirror.yaml --write      with restores";

/// Open the console of an `ingester serve` with your own credentials.
///
/// Listens on a port of this machine, and passes what the page asks for on to the server of the kubeconfig, as its user. The printed address has
/// a secret, without which nothing is passed on: a page or a user that does not know it sees nothing. Runs until it is stopped.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Ui {
    #[command(flatten)]
    pub(crate) cluster: Cluster,
    /// The port of 127.0.0.1. By default any free one.
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Pass on requests that change something, too: restores.
    #[arg(long)]
    pub(crate) write: bool,
}
