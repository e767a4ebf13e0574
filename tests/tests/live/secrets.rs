//! Passwords appear in no log, even at the most verbose level, and in no error.

use anyhow::{Result, ensure};

use crate::eventually::eventually;
use crate::objects::model;
use crate::settings::{Mysql, Settings};
use crate::world::World;
use crate::{on_every_database, on_mariadb_and_mysql};

on_every_database! { OwnServers::NOTHING =>
    no_log_shows_the_password_of_a_working_database
}

// The tests' PostgreSQL servers do not ask for a password.
on_mariadb_and_mysql! { OwnServers::NOTHING =>
    no_log_or_error_shows_the_password_of_a_failing_database
}

const PASSWORD: &str = "hunter2-geheim";

/// A value of an object, which must not be logged either.
const VALUE: &str = "of-an-object";

/// Fails if the text contains the password, or the part of it that remains when it is cut at a special character.
fn has_no_password(what: &str, text: &str) -> Result<()> {
    for part in [PASSWORD, "hunter2", "geheim"] {
        ensure!(!text.contains(part), "{what} has the password: {text}");
    }
    Ok(())
}

async fn no_log_shows_the_password_of_a_working_database(world: &mut World) -> Result<()> {
    let Some(port) = world.database.port() else { return Ok(()) };
    let user = world.database.name.clone();
    let at = format!("127.0.0.1:{port}/{user}");
    let settings = Settings { log_level: "trace", mysql: None, database_url: None, ..world.settings() };
    let url = |scheme: &str| format!("{scheme}://{user}:{PASSWORD}@{at}");
    let (url, rounds) = match world.database.section() {
        None => {
            world.database.sql(&format!("CREATE ROLE {user} SUPERUSER LOGIN PASSWORD '{PASSWORD}'")).await?;
            let apart = Settings {
                database_url: Some(format!("postgres://{user}@{at}")),
                environment: vec![("PGPASSWORD", PASSWORD.to_owned())],
                ..settings.clone()
            };
            (url("postgres"), vec![apart])
        }
        Some(section) => {
            for host in ["127.0.0.1", "localhost", "%"] {
                world.database.sql(&format!("CREATE USER '{user}'@'{host}' IDENTIFIED BY '{PASSWORD}'")).await?;
                world.database.sql(&format!("GRANT ALL ON `{user}`.* TO '{user}'@'{host}'")).await?;
            }
            let section = Mysql { user: user.clone(), password: PASSWORD.to_owned(), ..section };
            let apart = Settings {
                mysql: Some(Mysql { password: String::new(), ..section.clone() }),
                environment: vec![("MYSQL_PASSWORD", PASSWORD.to_owned())],
                ..settings.clone()
            };
            (url("mysql"), vec![Settings { mysql: Some(section), ..settings.clone() }, apart])
        }
    };
    let by_url = [
        Settings { database_url: Some(url.clone()), log_format: "json", ..settings.clone() },
        Settings { environment: vec![("DATABASE_URL", url)], ..settings },
    ];
    for (round, settings) in rounds.into_iter().chain(by_url).enumerate() {
        world.start_with(&settings)?;
        world.objects.create(model(&format!("model-{round}"), VALUE)).await?;
        world.settled().await?;
        let metrics = world.ingester().metrics()?;
        let audit = world.audit(&["-o", "json"])?;
        ensure!(audit.code == Some(0), "{audit:?}");
        world.stop()?;
        let logs = world.ingester().logs()?;
        ensure!(logs.contains("TRACE"), "the test was meant to read everything: {logs}");
        for (what, text) in [("the log", &logs), ("metrics", &metrics), ("audit", &audit.out), ("audit", &audit.err)] {
            has_no_password(what, text)?;
        }
        ensure!(!logs.contains(VALUE), "the log has a value of an object: {logs}");
    }
    Ok(())
}

async fn no_log_or_error_shows_the_password_of_a_failing_database(world: &mut World) -> Result<()> {
    let settings = Settings { log_level: "trace", mysql: None, database_url: None, ..world.settings() };
    let section = |port: u16| Mysql {
        host: "127.0.0.1".to_owned(),
        port,
        user: "me".to_owned(),
        password: PASSWORD.to_owned(),
        database: "somewhere".to_owned(),
    };
    let server = world.database.section().map_or(1, |section| section.port);
    let url = |url: &str| Some(url.replace("PASSWORD", PASSWORD));
    // The program waits for a server that does not answer, and exits on a mistake that waiting cannot fix.
    let waits = [
        ("nobody listens", Settings { mysql: Some(section(1)), ..settings.clone() }),
        (
            "closed port in a URL",
            Settings { database_url: url("mysql://me:PASSWORD@127.0.0.1:1/db"), ..settings.clone() },
        ),
        (
            "closed port of PostgreSQL",
            Settings { database_url: url("postgres://me:PASSWORD@127.0.0.1:1/db"), ..settings.clone() },
        ),
        ("an @ too many", Settings { database_url: url("mysql://me:PASSWORD@x@127.0.0.1:1/db"), ..settings.clone() }),
        (
            "in the environment",
            Settings {
                environment: vec![("DATABASE_URL", format!("mysql://me:{PASSWORD}@127.0.0.1:1/db"))],
                ..settings.clone()
            },
        ),
    ];
    for (name, settings) in waits {
        world.launch(&settings)?;
        let ingester = world.ingester();
        eventually(&format!("a complaint ({name})"), async || ingester.logs(), |logs| logs.contains("WARN")).await?;
        world.stop()?;
        has_no_password(name, &ingester.logs()?)?;
    }
    let ends = [
        ("wrong password", Settings { mysql: Some(section(server)), ..settings.clone() }),
        (
            "no port in a URL",
            Settings { database_url: url("mysql://me:PASSWORD@127.0.0.1:port/db"), ..settings.clone() },
        ),
        ("no database in a URL", Settings { database_url: url("mysql://me:PASSWORD@127.0.0.1:1"), ..settings.clone() }),
        ("another scheme", Settings { database_url: url("mongodb://me:PASSWORD@127.0.0.1:1/db"), ..settings.clone() }),
        ("no URL", Settings { database_url: url("me:PASSWORD@127.0.0.1"), ..settings.clone() }),
        (
            "an unknown parameter",
            Settings { database_url: url("mysql://me:PASSWORD@127.0.0.1:1/db?ssl-mod=x"), ..settings.clone() },
        ),
    ];
    for (name, settings) in ends {
        world.launch(&settings)?;
        let ingester = world.ingester();
        let what = format!("an end ({name})");
        let ended = eventually(&what, async || ingester.process().exit_status(), Option::is_some);
        let ended = ended.await?.expect("it was waited for");
        ensure!(!ended.success(), "{name}: {ended}");
        has_no_password(name, &ingester.logs()?)?;
        // Other commands with the same configuration.
        let ran = world.audit(&[])?;
        ensure!(ran.code != Some(0), "{name}: {ran:?}");
        has_no_password(name, &ran.out)?;
        has_no_password(name, &ran.err)?;
    }
    Ok(())
}
