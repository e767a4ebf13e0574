//! `ingester queries`: lists saved queries.

use crate::arguments::{Format, Queries, QueriesFormat};
use crate::ending::{Ending, Failure};
use crate::output::{Table, print, show};
use crate::saved;
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_declare::saved::{Parameter, SavedQuery};

pub(crate) fn run(arguments: &Queries, kinds: &[Kind]) -> Result<Ending, Failure> {
    let all = saved::read(&arguments.folder, arguments.config.as_deref(), kinds)?;
    let named = |name: &String| all.get(name).map_err(|error| Failure::Usage(anyhow!(error)));
    let chosen: Vec<&SavedQuery> = match arguments.names.as_slice() {
        [] => all.iter().collect(),
        names => names.iter().map(named).collect::<Result<_, _>>()?,
    };
    let format = match arguments.output {
        QueriesFormat::Table => Format::Table,
        QueriesFormat::Json => Format::Json,
        QueriesFormat::Yaml => Format::Yaml,
        QueriesFormat::Name => {
            print(&chosen.iter().map(|query| format!("{}\n", query.name())).collect::<String>())?;
            return Ok(Ending::Done);
        }
    };
    // kubectl does not print a single named object as a list, either.
    let data = match (arguments.names.as_slice(), chosen.as_slice()) {
        ([_], [query]) => query.to_json(),
        _ => {
            let items: Vec<_> = chosen.iter().map(|query| query.to_json()).collect();
            serde_json::json!({ "apiVersion": "v1", "kind": "List", "metadata": {}, "items": items })
        }
    };
    show(format, &data, || table(&chosen))?;
    Ok(Ending::Done)
}

fn table(queries: &[&SavedQuery]) -> String {
    let mut table = Table::new(["name", "kind", "parameters", "description"]);
    for query in queries {
        let parameters: Vec<String> = query.parameters().iter().map(render_parameter).collect();
        let first = query.description().lines().next().unwrap_or_default();
        table.row([query.name().into(), query.kind().name().into(), parameters.join(" "), first.into()]);
    }
    table.to_string()
}

/// `name=TYPE`, in brackets if it has a default.
fn render_parameter(parameter: &Parameter) -> String {
    let name = parameter.name();
    match parameter.default_text() {
        Some(default) => format!("[{name}={default}]"),
        None => format!("{name}={}", parameter.parameter_type().name().to_uppercase()),
    }
}
