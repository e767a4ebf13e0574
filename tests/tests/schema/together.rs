//! Imports that begin at the same time, on a database without tables.

use crate::program::{Folder, RunOutput, SAMPLES, finish};
use anyhow::{Result, ensure};
use ingester_tests::databases::{Database, On};
use ingester_tests::on_every_database;

on_every_database! {
    imports_into_an_empty_database_wait_for_its_tables
}

const ROUNDS: usize = 2;

async fn imports_into_an_empty_database_wait_for_its_tables(database: Database) -> Result<()> {
    let folder = Folder::new();
    for round in 0..ROUNDS {
        let url = match database.on {
            On::Sqlite => format!("sqlite://{round}.db"),
            On::MariaDb | On::MySql => {
                let name = database.name();
                database.sql(&format!("DROP DATABASE `{name}`; CREATE DATABASE `{name}`")).await?;
                database.url.clone()
            }
            On::Postgres => {
                database.sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public").await?;
                database.url.clone()
            }
        };
        let on = ["--database-url", &url];
        let import = || folder.command(&[&["import"], &on[..], &[SAMPLES]].concat());
        let apply = folder.command(&[&["schema", "apply"], &on[..]].concat());
        let mut commands = [import(), import(), apply, import()];
        let ended: Vec<RunOutput> = std::thread::scope(|scope| {
            let runs: Vec<_> = commands.iter_mut().map(|command| scope.spawn(|| finish(command))).collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect()
        });
        for ran in ended {
            ensure!(ran.code == Some(0), "{ran:?}");
        }
    }
    Ok(())
}
