//! Commands on a group of three MySQL servers whose members come and go.

use crate::program::{Folder, RunOutput, finish, model_json};
use anyhow::{Context as _, Result, ensure};
use ingester_tests::process::wait_until;
use ingester_tests::{Group, Primaries, skipped_without_mysql};
use serde_json::json;
use std::io::Write as _;
use std::process::{Child, Stdio};
use std::time::Duration;
use tokio::runtime::Runtime;

/// Objects in an import: the first half fills a batch, which is written at once.
const OBJECTS: usize = 10_000;

const NAME: &str = "grouped";

/// An object for each line, with labels that only this version has.
fn lines(range: std::ops::Range<usize>, version: u64) -> String {
    range
        .map(|number| {
            let metadata = json!({
                "namespace": "ml", "name": format!("m{number:05}"), "uid": format!("u{number:05}"),
                "resourceVersion": version.to_string(), "generation": version,
                "labels": { "version": version.to_string(), format!("only-{version}"): "yes" },
            });
            model_json(metadata, json!({ "algorithm": "xgboost" }))
        })
        .collect()
}

/// The version of each object, with its labels.
const ROWS: &str = "SELECT CONCAT(o.uid, ' ', o.res_version, ' ',
    COALESCE((SELECT GROUP_CONCAT(l.`key`, '=', l.value ORDER BY l.`key`) FROM model_labels AS l WHERE l.obj_uid = o.uid), ''))
  FROM model AS o ORDER BY o.uid";

/// Checks that this many members run, and that each has exactly the complete rows of these objects at this version.
async fn all_have(group: &Group, members: usize, objects: usize, version: u64) -> Result<()> {
    let expected: Vec<String> =
        (0..objects).map(|number| format!("u{number:05} {version} only-{version}=yes,version={version}")).collect();
    let answers = group.answers(NAME, ROWS).await?;
    ensure!(answers.len() == members, "{} members run", answers.len());
    for (place, rows) in answers.into_iter().enumerate() {
        let rows: Vec<String> = rows.into_iter().flatten().flatten().collect();
        let other = rows.iter().zip(&expected).find(|(row, expected)| row != expected);
        ensure!(rows == expected, "answer {place}: {} rows, {other:?}", rows.len());
    }
    for orphans in
        group.answers(NAME, "SELECT obj_uid FROM model_labels WHERE obj_uid NOT IN (SELECT uid FROM model)").await?
    {
        ensure!(orphans.is_empty(), "labels without an object: {orphans:?}");
    }
    Ok(())
}

/// An import from its standard input.
fn import(folder: &Folder, url: &str) -> Result<Child> {
    let mut command = folder.command(&["import", "--database-url", url, "-"]);
    Ok(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)
}

/// Sends the rest of the objects to an import, and waits for its end.
fn end(mut import: Child, rest: &str) -> Result<RunOutput> {
    // A pipe holds 64 kB: the import writes less meanwhile.
    import.stdin.take().context("its input")?.write_all(rest.as_bytes())?;
    Ok(RunOutput::from_output(import.wait_with_output()?))
}

fn start(primaries: Primaries) -> Result<Option<(Runtime, Group)>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let Some(group) = runtime.block_on(Group::start(primaries))? else {
        skipped_without_mysql();
        return Ok(None);
    };
    runtime.block_on(group.member(0).create_database(NAME))?;
    // Every member has the row.
    runtime.block_on(group.answers(NAME, "SELECT 1"))?;
    Ok(Some((runtime, group)))
}

#[test]
#[ignore = "of the set --all: a group takes minutes to start, to elect and to recover"]
fn an_import_waits_for_the_successor_of_a_killed_primary() -> Result<()> {
    let Some((runtime, group)) = start(Primaries::One)? else { return Ok(()) };
    let folder = Folder::new();
    // A secondary comes first.
    let url = group.urls(&[1, 0, 2], NAME)?;
    let mut running = import(&folder, &url)?;
    running.stdin.as_mut().context("its input")?.write_all(lines(0..OBJECTS / 2, 1).as_bytes())?;
    wait_until("rows of the first half", Duration::from_secs(120), || {
        let count = runtime.block_on(group.member(0).sql(NAME, "SELECT uid FROM model LIMIT 1"));
        // The import creates the tables.
        Ok(count.is_ok_and(|rows| !rows.is_empty()))
    })?;
    group.member(0).kill()?;
    let ran = end(running, &lines(OBJECTS / 2..OBJECTS, 1))?;
    ensure!(ran.code == Some(0) && ran.err.contains("waiting up to 60 s"), "{ran:?}");
    runtime.block_on(all_have(&group, 2, OBJECTS, 1))?;

    // The member has missed the rest, and comes back. Then another one is shut down, and misses an import.
    runtime.block_on(group.join(0))?;
    runtime.block_on(all_have(&group, 3, OBJECTS, 1))?;
    group.member(1).stop()?;
    let ran = end(import(&folder, &url)?, &lines(0..OBJECTS, 2))?;
    ensure!(ran.code == Some(0), "{ran:?}");
    runtime.block_on(group.join(1))?;
    runtime.block_on(all_have(&group, 3, OBJECTS, 2))
}

#[test]
#[ignore = "of the set --all: a group takes minutes to start, to elect and to recover"]
fn commands_on_two_primaries_end_with_the_same_tables_and_the_latest_rows() -> Result<()> {
    let Some((runtime, group)) = start(Primaries::Many)? else { return Ok(()) };
    let folder = Folder::new();
    let urls = [group.urls(&[0], NAME)?, group.urls(&[1], NAME)?];
    let both = |run: &(dyn Fn(usize) -> Result<RunOutput> + Sync)| -> Result<()> {
        let ended: Vec<Result<RunOutput>> = std::thread::scope(|scope| {
            let other = scope.spawn(|| run(1));
            vec![run(0), other.join().unwrap()]
        });
        for ran in ended {
            let ran = ran?;
            ensure!(ran.code == Some(0), "{ran:?}");
        }
        Ok(())
    };
    both(&|place| Ok(finish(&mut folder.command(&["schema", "apply", "--database-url", &urls[place]]))))?;
    for url in &urls {
        let ran = folder.run(&["schema", "verify", "--database-url", url]);
        ensure!(ran.code == Some(0), "{ran:?}");
    }
    both(&|place| end(import(&folder, &urls[place])?, &lines(0..OBJECTS, place as u64 + 1)))?;
    runtime.block_on(all_have(&group, 3, OBJECTS, 2))
}
