//! One file a command.

pub(crate) mod audit;
pub(crate) mod crds;
pub(crate) mod finalizers;
pub(crate) mod import;
pub(crate) mod kinds;
pub(crate) mod run;
pub(crate) mod schema;

use crate::Failure;
use anyhow::anyhow;
use ingester_core::Kind;

/// The kinds that were named, without regard to case; all when none was.
fn chosen(kinds: &'static [Kind], names: &[String]) -> Result<Vec<Kind>, Failure> {
    if names.is_empty() {
        return Ok(kinds.to_vec());
    }
    names
        .iter()
        .map(|name| {
            let known = |kind: &&Kind| {
                let names = [kind.kind().to_lowercase(), kind.plural().into_owned(), kind.table().name.to_string()];
                names.contains(&name.to_lowercase())
            };
            kinds.iter().find(known).copied().ok_or_else(|| {
                let known: Vec<&str> = kinds.iter().map(Kind::kind).collect();
                Failure::Usage(anyhow!("there is no kind `{name}`; there are {}", known.join(", ")))
            })
        })
        .collect()
}
