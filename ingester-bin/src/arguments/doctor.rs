//! `ingester doctor`.

use super::{Cluster, ConfigFile, Output};
use clap::Args;

const DOCTOR: &str = "\
Examples:
  ingester doctor --config ingester.yaml
  ingester doctor --config ingester.yaml -o json | jq '.[] | select(.result == \"error\")'";

/// Check the cluster and the database, and name a remedy for each problem.
///
/// Checks what `ingester run` needs with this configuration: the API server, CRDs, rights and admission; the database's server, rights and
/// settings; the identity of both, migrations, tables, definitions, and how far the rows are behind. Changes nothing, and may run
/// while the mirror runs. Each line is ok, warning, error, or skipped because of another one. Exits with 1 on errors.
#[derive(Debug, Args)]
#[command(after_help = DOCTOR)]
pub(crate) struct Doctor {
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    #[command(flatten)]
    pub(crate) cluster: Cluster,
    #[command(flatten)]
    pub(crate) output: Output,
}
