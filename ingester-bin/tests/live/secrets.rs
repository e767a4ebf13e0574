//! Passwords are nobody's business: not the log's at its most talkative, not an error's.

use anyhow::{Result, ensure};

use crate::eventually::eventually;
use crate::objects::model;
use crate::on_both_databases;
use crate::settings::{Mysql, Settings};
use crate::world::World;

on_both_databases! { Own::NOTHING =>
    no_log_has_the_password_of_a_database_that_works
    no_log_and_no_error_has_the_password_of_a_database_that_does_not
}

const PASSWORD: &str = "hunter2-geheim";

/// What an object says is its owner's business.
const VALUE: &str = "of-an-object";

/// Fails if the password, or what is left of it when it is cut at a special character, is in the text.
fn has_no_password(what: &str, text: &str) -> Result<()> {
    for part in [PASSWORD, "hunter2", "geheim"] {
        ensure!(!text.contains(part), "{what} has the password: {text}");
    }
    Ok(())
}

async fn no_log_has_the_password_of_a_database_that_works(world: &mut World) -> Result<()> {
    let Some(stanza) = world.database.stanza() else { return Ok(()) };
    let user = world.database.name.clone();
    for host in ["127.0.0.1", "localhost", "%"] {
        world.database.sql(&format!("CREATE USER '{user}'@'{host}' IDENTIFIED BY '{PASSWORD}'")).await?;
        world.database.sql(&format!("GRANT ALL ON `{user}`.* TO '{user}'@'{host}'")).await?;
    }
    let url = format!("mysql://{user}:{PASSWORD}@127.0.0.1:{}/{user}", stanza.port);
    let stanza = Mysql { user, password: PASSWORD.to_owned(), ..stanza };
    let settings = Settings { log_level: "trace", mysql: None, database_url: None, ..world.settings() };
    for (round, settings) in [
        Settings { mysql: Some(stanza.clone()), ..settings.clone() },
        Settings { database_url: Some(url.clone()), log_format: "json", ..settings.clone() },
        Settings { environment: vec![("DATABASE_URL", url)], ..settings.clone() },
        Settings {
            mysql: Some(Mysql { password: String::new(), ..stanza }),
            environment: vec![("MYSQL_PASSWORD", PASSWORD.to_owned())],
            ..settings
        },
    ]
    .into_iter()
    .enumerate()
    {
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

async fn no_log_and_no_error_has_the_password_of_a_database_that_does_not(world: &mut World) -> Result<()> {
    let settings = Settings { log_level: "trace", mysql: None, database_url: None, ..world.settings() };
    let stanza = |port: u16| Mysql {
        host: "127.0.0.1".to_owned(),
        port,
        user: "me".to_owned(),
        password: PASSWORD.to_owned(),
        database: "somewhere".to_owned(),
    };
    let server = world.database.stanza().map_or(1, |stanza| stanza.port);
    let url = |url: &str| Some(url.replace("PASSWORD", PASSWORD));
    // A server that does not answer is waited for; what cannot become right ends the program.
    let waits = [
        ("nobody listens", Settings { mysql: Some(stanza(1)), ..settings.clone() }),
        (
            "closed port in a URL",
            Settings { database_url: url("mysql://me:PASSWORD@127.0.0.1:1/db"), ..settings.clone() },
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
        ("wrong password", Settings { mysql: Some(stanza(server)), ..settings.clone() }),
        (
            "no port in a URL",
            Settings { database_url: url("mysql://me:PASSWORD@127.0.0.1:port/db"), ..settings.clone() },
        ),
        ("no database in a URL", Settings { database_url: url("mysql://me:PASSWORD@127.0.0.1:1"), ..settings.clone() }),
        ("another scheme", Settings { database_url: url("postgres://me:PASSWORD@127.0.0.1:1/db"), ..settings.clone() }),
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
