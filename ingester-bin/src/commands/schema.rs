//! `ingester schema print`, `apply` and `generate`

use super::chosen;
use crate::arguments::{ConfigFile, DialectName, SchemaApply, SchemaGenerate, SchemaPrint};
use crate::output;
use crate::{Ending, Failure};
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_core::config::Gate;
use ingester_core::dialect::{Dialect, Sql};
use ingester_core::migrate::Folder;
use ingester_core::store::{ConnectOptions, Store};

pub(crate) fn print(arguments: &SchemaPrint, kinds: &'static [Kind]) -> Result<Ending, Failure> {
    let kinds = chosen(kinds, &arguments.kinds)?;
    let dialect = match arguments.dialect {
        DialectName::Mysql => Dialect::MySql,
        DialectName::Sqlite => Dialect::Sqlite,
    };
    let statements: Vec<Sql> = kinds.iter().flat_map(|kind| dialect.create(kind.table())).collect();
    output::print(&dialect.script(&statements))?;
    Ok(Ending::Done)
}

pub(crate) async fn apply(arguments: SchemaApply, kinds: &'static [Kind]) -> Result<Ending, Failure> {
    let address = match &arguments.config {
        Some(file) => {
            let config = crate::configuration(&ConfigFile { config: file.clone() }, kinds)?;
            match config.gate().map_err(|error| Failure::Usage(error.into()))? {
                Gate::Open(address) => address,
                Gate::Disabled | Gate::NoDatabase => {
                    return Err(Failure::Usage(anyhow!("{} names no database, or does not enable it", file.display())));
                }
            }
        }
        None => arguments.database.address()?,
    };
    let store = Store::connect(&address, ConnectOptions::default()).await?;
    let made = store.create_missing(kinds).await?;
    match made.len() {
        0 => output::note(&format!("{address} has every table already")),
        1 => output::note(&format!("made the table {} in {address}", made[0])),
        tables => output::note(&format!("made {tables} tables in {address}")),
    }
    store.close().await;
    Ok(Ending::Done)
}

pub(crate) fn generate(arguments: &SchemaGenerate, kinds: &'static [Kind]) -> Result<Ending, Failure> {
    let folder = Folder::new(&arguments.out);
    let outcome = if arguments.check { folder.check(kinds) } else { folder.generate(kinds) };
    let outcome = outcome.map_err(anyhow::Error::from)?;
    if outcome.changed.is_empty() {
        output::note(&format!("{} is current", arguments.out.display()));
        return Ok(Ending::Done);
    }
    for path in &outcome.changed {
        let verb = if arguments.check { "differs" } else { "wrote" };
        output::note(&format!("{verb}: {}", arguments.out.join(path).display()));
    }
    if let Some(migration) = &outcome.migration {
        let verb = if arguments.check { "missing" } else { "new" };
        output::note(&format!("{verb} migration: {migration}"));
    }
    if arguments.check {
        let out = match arguments.out.to_str() {
            Some(SchemaGenerate::OUT) => String::new(),
            _ => format!(" --out {}", arguments.out.display()),
        };
        output::note(&format!("run `ingester schema generate{out}` and commit what it writes"));
        return Ok(Ending::Problem);
    }
    Ok(Ending::Done)
}
