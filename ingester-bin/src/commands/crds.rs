//! `ingester crds`: prints the CustomResourceDefinitions.

use super::{chosen, write_within};
use crate::arguments::Crds;
use crate::ending::{Ending, Failure};
use crate::output::print;
use ingester_core::Kind;
use ingester_store::files::Readers;

pub(crate) fn run(arguments: &Crds, kinds: &'static [Kind]) -> Result<Ending, Failure> {
    let mut all = String::new();
    for kind in chosen(kinds, &arguments.kinds)? {
        // A kind that another project defines has none.
        let Some(crd) = kind.crd() else { continue };
        let text = ingester_declare::yaml::to_string(&crd).map_err(anyhow::Error::from)?;
        match &arguments.out {
            Some(folder) => {
                let name = format!("{}.{}.yaml", kind.plural(), kind.group());
                write_within(folder, &name, text.as_bytes(), Readers::AsBefore)?;
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
