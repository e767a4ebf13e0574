//! What people try first, on each database: a password in a file, dry runs, the state of migrations, rejects.

use crate::program::{Folder, RunOutput, SAMPLES, finish};
use anyhow::{Context as _, Result, ensure};
use ingester_tests::count::CountingProxy;
use ingester_tests::databases::{Database, On};
use ingester_tests::process::wait_until;
use ingester_tests::{on_databases, on_every_database, on_every_server};
use serde_json::Value;
use sqlx::{Connection as _, Executor as _};
use std::process::Stdio;
use std::time::Duration;

/// CRDs that were not written for this program.
const CRDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/crds");

on_every_database! {
    dry_runs_states_and_rejects_are_the_same_everywhere
    an_import_that_waits_for_a_lock_says_so_and_ends_on_a_signal
}

on_every_server! { commands_ask_a_far_database_few_times }

// The tests' PostgreSQL server trusts every client.
on_databases! { (a_password_out_of_a_file_opens_the_database) [sqlite Sqlite] [mariadb MariaDb] [mysql MySql] }

// Databases whose texts cannot contain NUL.
on_databases! { (an_import_says_how_many_values_have_nul) [postgres Postgres] }

// SQLite has no lock that prevents other migrations, and PostgreSQL has a different one.
on_databases! { (an_import_that_waits_for_migrations_ends_on_a_signal) [mariadb MariaDb] [mysql MySql] }

async fn a_password_out_of_a_file_opens_the_database(database: Database) -> Result<()> {
    let folder = Folder::new();
    folder.write("password", "hunt er2\n");
    if database.on == On::Sqlite {
        let ran = folder.run(&["schema", "apply", "--database-url", &database.url, "--password-file", "password"]);
        ensure!(ran.code == Some(2) && ran.err.contains("SQLite has no passwords"), "{ran:?}");
        return Ok(());
    }
    let (_, place) = database.url.split_once("root@").context("the server's user is root")?;
    let (host, name) = place.split_once('/').context("host and database")?;
    let (host, port) = host.split_once(':').context("host and port")?;
    let user = format!("u{}", std::process::id());
    database.sql(&format!("CREATE USER IF NOT EXISTS '{user}'@'%' IDENTIFIED BY 'hunt er2'")).await?;
    database.sql(&format!("GRANT ALL ON `{name}`.* TO '{user}'@'%'")).await?;
    let url = format!("mysql://{user}@{place}");
    let ran = folder.run(&["schema", "apply", "--database-url", &url, "--password-file", "password"]);
    ensure!(ran.code == Some(0) && ran.err.contains("ran: 0001_create_tables"), "{ran:?}");

    let variables = [("MYSQL_HOST", host), ("MYSQL_PORT", port), ("MYSQL_DB_NAME", name), ("MYSQL_USER", &user)];
    let ran = finish(folder.command(&["schema", "info"]).envs(variables).env("MYSQL_PASSWORD_FILE", "password"));
    ensure!(ran.code == Some(0) && ran.err.contains(":***@"), "{ran:?}");
    let configuration = format!(
        "metadataStorage: {{enableMetadataStorage: true}}\nmysql: {{host: {host}, port: {port}, database: {name}, user: {user}, passwordFile: password}}\n"
    );
    folder.write("ingester.yaml", &configuration);
    let ran = folder.run(&["schema", "info", "--config", "ingester.yaml"]);
    ensure!(ran.code == Some(0), "{ran:?}");

    let by_command =
        configuration.replace("passwordFile: password", "passwordCommand: {command: cat, args: [password]}");
    folder.write("command.yaml", &by_command);
    folder.write("absent.yaml", by_command.replace("cat", "no-such-command"));
    let ran = folder.run(&["schema", "info", "--config", "command.yaml"]);
    ensure!(ran.code == Some(0), "{ran:?}");
    let ran = folder.run(&["schema", "info", "--config", "absent.yaml"]);
    ensure!(ran.code == Some(2) && ran.err.contains("the password command `no-such-command` cannot be run"), "{ran:?}");

    folder.write("password", "hunter3");
    for ran in [
        folder.run(&["schema", "info", "--config", "command.yaml"]),
        folder.run(&["schema", "info", "--config", "ingester.yaml"]),
        folder.run(&["schema", "info", "--database-url", &url, "--password-file", "password"]),
    ] {
        ensure!(ran.code == Some(2) && ran.err.contains("Access denied") && !ran.err.contains("hunt"), "{ran:?}");
    }
    Ok(())
}

async fn dry_runs_states_and_rejects_are_the_same_everywhere(database: Database) -> Result<()> {
    let folder = Folder::new();
    let run = |arguments: &[&str]| folder.run(&[arguments, &["--database-url", &database.url]].concat());
    let states = |ran: &RunOutput| -> Result<Vec<String>> {
        let migrations: Value = serde_json::from_str(&ran.out)?;
        let migrations = migrations.as_array().context("a list")?;
        Ok(migrations.iter().map(|one| one["state"].as_str().unwrap_or_default().to_owned()).collect())
    };
    let there = run(&["schema", "info", "-o", "json"]).code == Some(2);
    ensure!(there == (database.on == On::Sqlite), "an SQLite file is not made");
    let script = run(&["schema", "apply", "--dry-run"]).exits(0).out;
    ensure!(script.starts_with("-- 0001_create_tables\n") && script.contains("CREATE TABLE"), "{script}");
    let dry = run(&["import", "--dry-run", SAMPLES]).exits(0);
    assert_eq!(dry.counts("Model"), [1, 1, 0, 0, 0, 0]);
    if database.on != On::Sqlite {
        ensure!(database.tables().await?.is_empty(), "a dry run made tables");
    }

    run(&["schema", "apply"]).exits(0);
    let states = states(&run(&["schema", "info", "-o", "json"]).exits(0))?;
    ensure!(states.iter().all(|state| state == "applied"), "{states:?}");
    let broken = "apiVersion: michelangelo.api/v2\nkind: Model\nmetadata: {namespace: ml, name: bad}\nspec: much\n";
    folder.write("in.yaml", format!("{broken}---\n{}", crate::program::model("good", &["resourceVersion: '7'"], &[])));
    run(&["import", "in.yaml"]).exits(1);
    let dry = run(&["import", "--dry-run", "in.yaml"]).exits(1);
    assert_eq!(dry.counts("Model"), [2, 0, 1, 0, 0, 1]);
    let rejects: Value = serde_json::from_str(&run(&["rejects", "model", "-o", "json"]).exits(0).out)?;
    assert_eq!((&rejects[0]["name"], rejects.as_array().map(Vec::len)), (&"bad".into(), Some(1)));
    ensure!(rejects[0]["time"].as_str().is_some_and(|time| time.starts_with("20") && time.ends_with('Z')), "{rejects}");
    run(&["rejects", "clear", "models", "-n", "ml"]).exits(0).says(&["1 reject cleared"]);
    ensure!(database.count("ingester_rejects").await? == 0);

    // A number that no database supports, and half a character: SQLite would store both, MySQL neither.
    for (name, value) in [("vast", "1e999"), ("half", r#""\ud800""#)] {
        let metadata = format!(r#"{{"namespace": "ml", "name": "{name}", "uid": "{name}", "resourceVersion": "7"}}"#);
        let spec = format!(r#"{{"unknown": {value}}}"#);
        let kind = r#""apiVersion": "michelangelo.api/v2", "kind": "Model""#;
        folder.write("odd.json", format!(r#"{{{kind}, "metadata": {metadata}, "spec": {spec}}}"#));
        let ran = ["--dry-run", "--output=table"].map(|option| run(&["import", option, "odd.json"]));
        for ran in &ran {
            ensure!(ran.code == Some(1), "{name}: {ran:?}");
            assert_eq!(ran.counts("Model"), [1, 0, 0, 0, 0, 1], "{name}: {ran:?}");
        }
        let [dry, wet] = ran.map(|ran| ran.rejected().iter().map(|line| (*line).to_owned()).collect::<Vec<_>>());
        ensure!(dry == wet && dry.len() == 1, "{name}: {dry:?} {wet:?}");
    }
    ensure!(database.count("model").await? == 1);
    Ok(())
}

/// How many answers a connection takes until it can be used. On busy cores a command may open up to two more: a connection goes back to its
/// pool in a task of its own, perhaps after the next statement has begun.
const ANSWERS_TO_CONNECT: u64 = 6;

/// How long a command takes on a database in another zone depends on how many answers it waits for.
async fn commands_ask_a_far_database_few_times(database: Database) -> Result<()> {
    let folder = Folder::new();
    let scaffolded = folder.run(&["scaffold", &format!("{CRDS}/certificates.cert-manager.io.yaml")]).exits(0).out;
    folder.write("kinds.yaml", scaffolded.replace("builtIn: false", "builtIn: true"));
    folder.write("in.yaml", crate::program::model("far", &["resourceVersion: '7'"], &[]));
    let kinds = ["--kinds", "kinds.yaml"];
    let most = [
        (vec!["import", "in.yaml"], 55),
        ([&["import", "in.yaml"], &kinds[..]].concat(), 80),
        (vec!["get", "models"], 40),
        ([&["get", "models"], &kinds[..]].concat(), 40),
        (vec!["schema", "verify"], 50),
    ];
    for (command, most) in most {
        folder.run(&[&command[..], &["--database-url", &database.url]].concat()).exits(0);
        let (start, place) = database.url.rsplit_once(':').context("a port")?;
        let (port, name) = place.split_once('/').context("a database")?;
        let counted = CountingProxy::to(port.parse()?).await?;
        let far = format!("{start}:{}/{name}", counted.port());
        folder.run(&[&command[..], &["--database-url", &far]].concat()).exits(0);
        let answers = counted.answers();
        let most = most + 2 * ANSWERS_TO_CONNECT;
        ensure!((5..=most).contains(&answers), "{command:?}: {answers} answers, at most {most} are expected");
    }
    Ok(())
}

async fn an_import_that_waits_for_a_lock_says_so_and_ends_on_a_signal(database: Database) -> Result<()> {
    if database.on == On::Sqlite {
        // It gives up without intervention.
        return Ok(());
    }
    let folder = Folder::new();
    let url = ["--database-url", &database.url];
    folder.run(&[&["schema", "apply"], &url[..]].concat()).exits(0);
    let release = locked(&database).await?;
    folder.write("in.yaml", crate::program::model("churn", &["resourceVersion: '7'"], &[]));
    let log = folder.path().join("log");
    let mut command = folder.command(&[&["import", "in.yaml"], &url[..]].concat());
    let mut child = command.stdout(Stdio::null()).stderr(std::fs::File::create(&log)?).spawn()?;
    let said = |what: &str| std::fs::read_to_string(&log).is_ok_and(|log| log.contains(what));
    let waits = wait_until("a word about the lock", Duration::from_secs(60), || {
        ensure!(child.try_wait()?.is_none(), "it ended: {}", std::fs::read_to_string(&log)?);
        Ok(said("Still waiting for the database, writing 1 row of `model`: another session may hold a lock"))
    });
    let ended = waits.and_then(|()| {
        ensure!(std::process::Command::new("kill").args(["-s", "TERM", &child.id().to_string()]).status()?.success());
        wait_until("its end", Duration::from_secs(15), || Ok(child.try_wait()?.is_some()))
    });
    child.kill()?;
    let status = child.wait()?;
    ended.with_context(|| std::fs::read_to_string(&log).unwrap_or_default())?;
    ensure!(status.code() == Some(143) && said("1 object that was read, 0 are stored"), "{status}");
    drop(release);
    folder.run(&[&["import", "in.yaml"], &url[..]].concat()).exits(0);
    ensure!(database.count("model").await? == 1);
    Ok(())
}

/// Prevents writes to the table `model` until it is dropped.
async fn locked(database: &Database) -> Result<Box<dyn std::any::Any + Send>> {
    async fn lock<D: sqlx::Database>(url: &str, sql: &'static str) -> Result<Box<dyn std::any::Any + Send>>
    where
        D::Connection: Send,
        for<'c> &'c mut D::Connection: sqlx::Executor<'c, Database = D>,
    {
        let mut connection = D::Connection::connect(url).await?;
        connection.execute(sqlx::raw_sql(sql)).await?;
        Ok(Box::new(connection))
    }
    match database.on {
        On::Postgres => lock::<sqlx::Postgres>(&database.url, "BEGIN; LOCK TABLE model IN SHARE MODE").await,
        _ => lock::<sqlx::MySql>(&database.url, "LOCK TABLES model READ").await,
    }
}

/// Another program migrates and does not end: this test holds its lock.
async fn an_import_that_waits_for_migrations_ends_on_a_signal(database: Database) -> Result<()> {
    let folder = Folder::new();
    let mut migrating = sqlx::MySqlConnection::connect(&database.url).await?;
    let lock = "SELECT GET_LOCK(CONCAT('ingester', SHA2(DATABASE(), 224)), 10)";
    ensure!(sqlx::query_scalar::<_, Option<i64>>(lock).fetch_one(&mut migrating).await? == Some(1));
    folder.write("in.yaml", crate::program::model("churn", &["resourceVersion: '7'"], &[]));
    let log = folder.path().join("log");
    let mut command = folder.command(&["import", "in.yaml", "--database-url", &database.url]);
    let mut child = command.stdout(Stdio::null()).stderr(std::fs::File::create(&log)?).spawn()?;
    let waiting = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND ID != CONNECTION_ID() AND \
                   INFO LIKE '%GET_LOCK%'";
    let begin = std::time::Instant::now();
    let mut waits = false;
    while !waits && child.try_wait()?.is_none() && begin.elapsed() < Duration::from_secs(60) {
        waits = database.cell(waiting).await?.as_deref() == Some("1");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let ended = match waits {
        false => Err(anyhow::anyhow!("it does not wait")),
        true => {
            std::process::Command::new("kill").args(["-s", "TERM", &child.id().to_string()]).status()?;
            wait_until("its end", Duration::from_secs(15), || Ok(child.try_wait()?.is_some()))
        }
    };
    child.kill()?;
    let status = child.wait()?;
    let said = std::fs::read_to_string(&log)?;
    ended.with_context(|| said.clone())?;
    ensure!(status.code() == Some(143) && said.contains("interrupted: nothing was imported"), "{status}: {said}");
    ensure!(database.sql("SHOW TABLES LIKE 'model'").await?.is_empty(), "it made tables");
    // The next one finds the database free.
    migrating.close().await?;
    folder.run(&["import", "in.yaml", "--database-url", &database.url]).exits(0);
    ensure!(database.count("model").await? == 1);
    Ok(())
}

async fn an_import_says_how_many_values_have_nul(database: Database) -> Result<()> {
    let folder = Folder::new();
    let model = |name: &str, algorithm: &str| {
        format!(
            r#"{{"apiVersion":"michelangelo.api/v2","kind":"Model","metadata":{{"namespace":"ml","name":"{name}","uid":"{name}","resourceVersion":"1","annotations":{{"note":"{algorithm}"}}}},"spec":{{"algorithm":"{algorithm}"}}}}"#
        )
    };
    folder.write("models.jsonl", [model("a", r"x\u0000y"), model("b", "x"), model("c", r"\u0000")].join("\n"));
    let note = "4 values have NUL (U+0000), which text of PostgreSQL cannot have";
    for _ in 0..2 {
        let ran = folder.run(&["import", "--database-url", &database.url, "models.jsonl"]);
        ensure!(ran.code == Some(0) && ran.err.contains(note), "{ran:?}");
    }
    let algorithms = database.sql("SELECT algorithm FROM model ORDER BY uid").await?;
    ensure!(algorithms == [[None], [Some("x".to_owned())], [None]], "{algorithms:?}");
    Ok(())
}
