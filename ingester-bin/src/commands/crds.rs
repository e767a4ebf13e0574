//! `ingester crds`: prints the CustomResourceDefinitions.

use super::chosen;
use crate::arguments::Crds;
use crate::ending::{Ending, Failure};
use crate::output::{note, print};
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_store::files;

pub(crate) fn run(arguments: &Crds, kinds: &'static [Kind]) -> Result<Ending, Failure> {
    let mut all = String::new();
    for kind in chosen(kinds, &arguments.kinds)? {
        // A kind that another project defines has none.
        let Some(crd) = kind.crd() else { continue };
        let text = ingester_declare::yaml::to_string(&crd).map_err(anyhow::Error::from)?;
        match &arguments.out {
            Some(folder) => {
                let path = folder.join(format!("{}.{}.yaml", kind.plural(), kind.group()));
                std::fs::create_dir_all(folder)
                    .map_err(|error| anyhow!("cannot make {}: {error}", folder.display()))?;
                files::replace(&path, text.as_bytes())
                    .map_err(|error| anyhow!("cannot write {}: {error}", path.display()))?;
                note(&format!("wrote {}", path.display()));
            }
            None => {
                all.push_str("---\n");
                all.push_str(&text);
            }
        }
    }
    print(&all)?;
    Ok(Ending::Done)
}
