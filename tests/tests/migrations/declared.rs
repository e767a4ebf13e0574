//! Tables of kinds that a file declares: what follows automatically, what is refused, and how the database counts definitions.

use crate::kinds::{FIRST_KIND, SECOND, SECOND_KIND, connect, job, releases, write};
use anyhow::{Context as _, Result, ensure};
use ingester_core::Kind;
use ingester_core::kind::Record;
use ingester_declare::declare::kinds;
use ingester_store::Store;
use ingester_store::migrate::{
    AllowedChanges, BackfillProgress, DeclaredError, Folder, GenerateOptions, Ledger, MigrationState, ReleasedSchema,
};
use ingester_tests::databases::Database;
use ingester_tests::on_every_database;
use tokio_util::sync::CancellationToken;

on_every_database! {
    additions_of_a_file_are_made_and_filled
    a_change_that_does_more_than_add_is_refused_until_allowed
    values_that_stay_are_not_lost_by_a_changed_rule
    definitions_are_counted_by_the_database
    programs_that_start_together_make_the_tables_once
    a_table_is_that_of_one_kind_and_a_renamed_one_has_definitions_of_its_own
    labels_are_filled_once_they_have_a_table
    many_values_have_a_table_that_is_made_and_filled
    only_what_is_made_in_another_way_is_filled_again
    what_changed_since_a_row_was_written_is_filled
    what_is_pruned_from_now_on_is_cut_out_of_stored_rows
    definitions_without_their_parts_are_compared_as_a_whole
    the_folder_of_a_file_has_a_ledger_beside_that_of_a_program
    structs_without_migrations_follow_until_migrations_take_over
    a_type_that_holds_less_is_a_change_on_every_database
    values_of_many_that_hold_less_are_a_change_on_every_database
    a_removed_column_named_as_a_companion_leaves_the_companion_alone
}

const QUEUE: &str = "column: queue, path: .spec.queue, type: VARCHAR(20)";
const OWNER: &str = "column: owner, path: .spec.owner, type: VARCHAR(100)";
const OF_OWNER: &str = "column: queue, path: .spec.owner, type: VARCHAR(20)";
const TAGS: &str = "column: tags, path: '.spec.tags[*]', many: true, type: VARCHAR(20)";
const LIMITS: &str = "column: limits, path: .spec.limits, many: true, type: VARCHAR(20)";

/// The kind `Job` with these columns, as a newly started program reads it.
fn declared(columns: &[&str], more: &str) -> Result<Kind> {
    let columns: String = columns.iter().map(|column| format!("  - {{{column}}}\n")).collect();
    let text = format!(
        "kinds:\n- group: example.com\n  version: v1\n  kind: Job\n  namespaced: true\n{more}  columns:\n{columns}"
    );
    let file = kinds("kinds.yaml", &text, &|_| Err(std::io::ErrorKind::NotFound.into()))?;
    file.kinds.first().copied().context("there is a kind")
}

/// Runs all backfills.
async fn fill(store: &Store, kind: Kind) -> Result<Option<BackfillProgress>> {
    let incomplete = store.incomplete_backfills(&[kind], None).await?;
    let Some(backfill) = incomplete.first() else { return Ok(None) };
    Ok(Some(store.backfill(backfill, None, &CancellationToken::new(), |_| {}).await?))
}

async fn additions_of_a_file_are_made_and_filled(database: Database) -> Result<()> {
    let store = connect(&database).await?;
    let first = declared(&[QUEUE], "")?;
    let made = store.make_declared(&[first], AllowedChanges::Add).await?;
    ensure!(made.made.len() == 3 && made.left.is_empty() && first.ingest_version() == 1, "{made:?}");
    write(&store, &first, (0..4).map(|number| job(number, 10))).await?;
    // A column with a key, and a key over both.
    let second = declared(&[QUEUE, OWNER], "  keys: [[queue, owner]]\n")?;
    let made = store.make_declared(&[second], AllowedChanges::Add).await?;
    ensure!(made.made.len() == 3 && second.ingest_version() == 2, "{made:?}");
    ensure!(store.missing(&[second]).await?.is_empty());
    ensure!(fill(&store, second).await?.is_some_and(|filled| filled.complete && filled.filled == 4));
    ensure!(database.count("job WHERE ingest_version = 2 AND owner LIKE 'owner-_-10'").await? == 4);
    ensure!(fill(&store, second).await?.is_none(), "nothing is left to do");
    // The tables match their declarations: nothing happens again.
    let again = declared(&[QUEUE, OWNER], "  keys: [[queue, owner]]\n")?;
    ensure!(store.make_declared(&[again], AllowedChanges::Add).await?.made.is_empty() && again.ingest_version() == 2);
    Ok(())
}

async fn a_change_that_does_more_than_add_is_refused_until_allowed(database: Database) -> Result<()> {
    let store = connect(&database).await?;
    let first = declared(&[QUEUE, OWNER], "")?;
    store.make_declared(&[first], AllowedChanges::Add).await?;
    write(&store, &first, [job(0, 10)]).await?;
    // Another type of values, and a new name: both are refused, and the addition beside them is not carried out.
    const PRIORITY: &str = "column: priority, path: .spec.priority, type: BIGINT";
    for columns in [
        [QUEUE, "column: owner, path: .spec.priority, type: BIGINT", PRIORITY],
        [QUEUE, "column: holder, path: .spec.owner, type: VARCHAR(100), was: owner", PRIORITY],
    ] {
        let other = declared(&columns, "")?;
        let refused = store.make_declared(&[other], AllowedChanges::Add).await;
        ensure!(
            matches!(&refused, Err(DeclaredError::MoreThanAdded(changes)) if changes.iter().any(|change| change.contains("owner"))),
            "{refused:?}"
        );
        ensure!(
            other.ingest_version() == 0
                && store.missing(&[other]).await?.iter().any(|missing| missing == "job.priority")
        );
    }
    // Columns that are not declared any more stay.
    let fewer = declared(&[QUEUE], "")?;
    let made = store.make_declared(&[fewer], AllowedChanges::Add).await?;
    ensure!(made.made.is_empty() && made.left.len() == 2, "the column and its key: {made:?}");
    write(&store, &fewer, [job(1, 10)]).await?;
    // A rename keeps the values.
    let renamed = declared(&[QUEUE, "column: holder, path: .spec.owner, type: VARCHAR(100), was: owner"], "")?;
    store.make_declared(&[renamed], AllowedChanges::Change).await?;
    ensure!(database.count("job WHERE holder = 'owner-0-10'").await? == 1);
    // A drop must be explicit.
    let retyped = declared(&[QUEUE, "column: holder, path: .spec.priority, type: BIGINT"], "")?;
    let refused = store.make_declared(&[retyped], AllowedChanges::Change).await;
    ensure!(matches!(refused, Err(DeclaredError::Destructive(_))), "{refused:?}");
    store.make_declared(&[retyped], AllowedChanges::Drop).await?;
    ensure!(fill(&store, retyped).await?.is_some_and(|filled| filled.complete && filled.filled == 2));
    ensure!(database.count("job WHERE holder IN (0, 1)").await? == 2);
    Ok(())
}

async fn values_that_stay_are_not_lost_by_a_changed_rule(database: Database) -> Result<()> {
    let store = connect(&database).await?;
    let keeping = declared(&[QUEUE, "column: owner, path: .spec.owner, type: VARCHAR(100), keep: true"], "")?;
    store.make_declared(&[keeping], AllowedChanges::Add).await?;
    write(&store, &keeping, [job(0, 10)]).await?;
    // Without the rule, under another name, and with a weaker one.
    for owner in [OWNER, "column: holder, path: .spec.owner, type: VARCHAR(100), was: owner"] {
        for may in [AllowedChanges::Add, AllowedChanges::Change] {
            let without = declared(&[QUEUE, owner], "")?;
            let refused = store.make_declared(&[without], may).await;
            ensure!(
                matches!(&refused, Err(DeclaredError::Destructive(losses)) if losses[0].contains("keep")),
                "{refused:?}"
            );
        }
    }
    // A stronger rule takes its place, which cannot be weakened, either.
    let first = declared(&[QUEUE, "column: owner, path: .spec.owner, type: VARCHAR(100), first: true"], "")?;
    store.make_declared(&[first], AllowedChanges::Add).await?;
    let again = declared(&[QUEUE, "column: owner, path: .spec.owner, type: VARCHAR(100), keep: true"], "")?;
    ensure!(matches!(store.make_declared(&[again], AllowedChanges::Add).await, Err(DeclaredError::Destructive(_))));
    // A column that leaves the file is not forgotten.
    let fewer = declared(&[QUEUE], "")?;
    store.make_declared(&[fewer], AllowedChanges::Add).await?;
    let back = declared(&[QUEUE, OWNER], "")?;
    ensure!(matches!(store.check_declared(&[back]).await, Err(DeclaredError::Destructive(_))));
    // If explicit, it is carried out.
    let without = declared(&[QUEUE, OWNER], "")?;
    store.make_declared(&[without], AllowedChanges::Drop).await?;
    let without = declared(&[QUEUE, OWNER], "")?;
    store.make_declared(&[without], AllowedChanges::Add).await?;
    Ok(())
}

async fn definitions_are_counted_by_the_database(database: Database) -> Result<()> {
    let store = connect(&database).await?;
    let mut versions = Vec::new();
    for path in [".spec.queue", ".spec.queue", ".spec.owner", ".spec.queue"] {
        let column = format!("column: queue, path: {path}, type: VARCHAR(20)");
        let kind = declared(&[&column], "")?;
        store.make_declared(&[kind], AllowedChanges::Add).await?;
        versions.push(kind.ingest_version());
        // A program that only writes rows learns the same definition.
        let other = declared(&[&column], "")?;
        store.learn_declared(&[other]).await?;
        ensure!(other.ingest_version() == kind.ingest_version());
    }
    // A definition that returns is a new one: rows of the one in between do not belong to it.
    ensure!(versions == [1, 1, 2, 3], "{versions:?}");
    // A definition that is not recorded is unknown, and does not overwrite anything.
    let unknown = declared(&[OWNER], "")?;
    store.learn_declared(&[unknown]).await?;
    ensure!(unknown.ingest_version() == 0);
    // Rows of another program in a table of this name are of older definitions.
    let kind = declared(&[QUEUE], "  table: other\n")?;
    store.create_missing(&[kind]).await?;
    write(&store, &kind, [job(0, 10)]).await?;
    database.sql("UPDATE other SET ingest_version = 7").await?;
    store.make_declared(&[kind], AllowedChanges::Add).await?;
    ensure!(kind.ingest_version() == 8 && fill(&store, kind).await?.is_some_and(|filled| filled.read == 1));
    Ok(())
}

async fn a_table_is_that_of_one_kind_and_a_renamed_one_has_definitions_of_its_own(database: Database) -> Result<()> {
    let store = connect(&database).await?;
    let first = declared(&[QUEUE], "")?;
    store.make_declared(&[first], AllowedChanges::Add).await?;
    write(&store, &first, [job(0, 10)]).await?;
    // Another kind would mark the rows of this kind as deleted.
    let text = "kinds:\n- {group: example.com, version: v1, kind: Task, namespaced: true, table: job}";
    let other = kinds("kinds.yaml", text, &|_| Err(std::io::ErrorKind::NotFound.into()))?.kinds[0];
    let refused = store.make_declared(&[other], AllowedChanges::Drop).await;
    ensure!(matches!(&refused, Err(DeclaredError::Owned { owner, .. }) if owner == "Job.example.com"), "{refused:?}");
    // To another definition and back to the first one: the rows have the one in between.
    const OTHER: &str = "column: queue, path: .spec.owner, type: VARCHAR(20)";
    let there = declared(&[OTHER], "  table: task\n  was: job\n")?;
    store.make_declared(&[there], AllowedChanges::Change).await?;
    ensure!(there.ingest_version() == 2 && fill(&store, there).await?.is_some_and(|filled| filled.filled == 1));
    let back = declared(&[QUEUE], "  table: job\n  was: task\n")?;
    store.make_declared(&[back], AllowedChanges::Change).await?;
    ensure!(back.ingest_version() == 3 && fill(&store, back).await?.is_some_and(|filled| filled.filled == 1));
    ensure!(database.count("job WHERE queue = 'q' AND ingest_version = 3").await? == 1);
    Ok(())
}

async fn labels_are_filled_once_they_have_a_table(database: Database) -> Result<()> {
    let store = connect(&database).await?;
    let without = declared(&[QUEUE], "  companions: false\n")?;
    store.make_declared(&[without], AllowedChanges::Add).await?;
    let mut labelled = job(0, 10);
    labelled["metadata"]["labels"] = serde_json::json!({"team": "a"});
    write(&store, &without, [labelled]).await?;
    let with = declared(&[QUEUE, OWNER], "")?;
    store.make_declared(&[with], AllowedChanges::Add).await?;
    ensure!(fill(&store, with).await?.is_some_and(|filled| filled.complete));
    ensure!(database.count("job_labels WHERE value = 'a'").await? == 1);
    Ok(())
}

async fn many_values_have_a_table_that_is_made_and_filled(database: Database) -> Result<()> {
    let store = connect(&database).await?;
    let first = declared(&[QUEUE], "")?;
    store.make_declared(&[first], AllowedChanges::Add).await?;
    let tagged = |number, tags: &[&str]| {
        let mut job = job(number, 10);
        job["spec"]["tags"] = serde_json::json!(tags);
        job["spec"]["limits"] = serde_json::json!({ "cpu": number.to_string() });
        job
    };
    write(&store, &first, [tagged(0, &["a", "b"]), tagged(1, &[])]).await?;
    let second = declared(&[QUEUE, TAGS, LIMITS], "")?;
    let made = store.make_declared(&[second], AllowedChanges::Add).await?;
    ensure!(made.made == ["create table `job_tags`", "create table `job_limits`"], "{made:?}");
    ensure!(fill(&store, second).await?.is_some_and(|filled| filled.complete && filled.filled == 2));
    ensure!(database.count("job_tags").await? == 2 && database.count("job_limits WHERE value = '1'").await? == 1);
    ensure!(fill(&store, second).await?.is_none(), "nothing is left to do");
    write(&store, &second, [tagged(2, &["c"])]).await?;
    ensure!(database.count("job_tags WHERE value = 'c'").await? == 1);
    // Another type of values is more than an addition.
    let other = declared(&[QUEUE, TAGS, &LIMITS.replace("VARCHAR(20)", "INT")], "")?;
    let refused = store.make_declared(&[other], AllowedChanges::Add).await;
    let drops = |what: &[String]| what.iter().any(|what| what == "drop table `job_limits`");
    ensure!(matches!(&refused, Err(DeclaredError::MoreThanAdded(what)) if drops(what)), "{refused:?}");
    let refused = store.make_declared(&[other], AllowedChanges::Change).await;
    ensure!(matches!(&refused, Err(DeclaredError::Destructive(_))), "{refused:?}");
    store.make_declared(&[other], AllowedChanges::Drop).await?;
    ensure!(database.count("job_limits").await? == 0 && fill(&store, other).await?.is_some());
    ensure!(database.count("job_limits WHERE value >= 1").await? == 2);
    // A column that has left the file stays.
    let without = declared(&[QUEUE], "")?;
    ensure!(store.make_declared(&[without], AllowedChanges::Add).await?.made.is_empty());
    ensure!(database.count("job_tags").await? == 3);
    Ok(())
}

/// Gives every column of every row a value that differs from the object's, so that refilled columns can be distinguished.
async fn plant(database: &Database) -> Result<()> {
    database.sql("UPDATE job SET queue = 'planted', owner = 'planted'").await?;
    for table in ["job_labels", "job_limits"] {
        database.sql(&format!("UPDATE {table} SET value = 'planted'")).await?;
    }
    database.sql("UPDATE job_tags SET value = 'planted'").await?;
    Ok(())
}

/// Which of the planted values remain: in the columns `queue` and `owner`, of `tags`, `limits` and labels.
async fn planted(database: &Database) -> Result<[usize; 5]> {
    let mut left = [0; 5];
    let places = [
        "job WHERE queue",
        "job WHERE owner",
        "job_tags WHERE value",
        "job_limits WHERE value",
        "job_labels WHERE value",
    ];
    for (left, place) in left.iter_mut().zip(places) {
        *left = usize::try_from(database.count(&format!("{place} = 'planted'")).await?)?;
    }
    Ok(left)
}

/// A job with a tag, a limit and a label.
fn with_all(number: usize) -> serde_json::Value {
    let mut job = job(number, 10);
    job["metadata"]["labels"] = serde_json::json!({"team": "a"});
    job["spec"]["tags"] = serde_json::json!(["tag"]);
    job["spec"]["others"] = serde_json::json!(["other"]);
    job["spec"]["limits"] = serde_json::json!({"cpu": "1"});
    job
}

async fn only_what_is_made_in_another_way_is_filled_again(database: Database) -> Result<()> {
    const OTHER_TAGS: &str = "column: tags, path: '.spec.others[*]', many: true, type: VARCHAR(20)";
    let store = connect(&database).await?;
    let first = declared(&[QUEUE, OWNER, TAGS, LIMITS], "")?;
    store.make_declared(&[first], AllowedChanges::Add).await?;
    write(&store, &first, [with_all(0), with_all(1)]).await?;
    let others = [OF_OWNER, OWNER, OTHER_TAGS, LIMITS];
    for (columns, more, left) in [
        ([OF_OWNER, OWNER, TAGS, LIMITS], "", [0, 2, 2, 2, 2]),
        (others, "", [2, 2, 0, 2, 2]),
        // The order of columns makes no difference, and a key is not a value.
        ([LIMITS, OTHER_TAGS, OWNER, OF_OWNER], "  keys: [[queue, owner]]\n", [2, 2, 2, 2, 2]),
        // A filter concerns whole rows.
        (others, "  filter: .spec.queue = q\n", [0, 0, 0, 0, 0]),
    ] {
        plant(&database).await?;
        let kind = declared(&columns, more)?;
        store.make_declared(&[kind], AllowedChanges::Add).await?;
        fill(&store, kind).await?;
        let found = planted(&database).await?;
        let number = kind.ingest_version();
        ensure!(found == left, "{columns:?}: {found:?} are left of {left:?}");
        ensure!(database.count(&format!("job WHERE ingest_version = {number}")).await? == 2, "{columns:?}");
    }
    ensure!(database.count("job WHERE queue LIKE 'owner-_-10'").await? == 2);
    ensure!(database.count("job_tags WHERE value = 'other'").await? == 2);
    // Objects that a filter leaves out have no live row any more, although no column has changed.
    let kind = declared(&others, "  filter: .spec.owner = owner-1-10\n")?;
    store.make_declared(&[kind], AllowedChanges::Add).await?;
    fill(&store, kind).await?;
    ensure!(database.count("job WHERE delete_time IS NULL").await? == 1);
    Ok(())
}

async fn what_changed_since_a_row_was_written_is_filled(database: Database) -> Result<()> {
    let store = connect(&database).await?;
    const BOUNDS: &str = "column: limits, path: .spec.bounds, many: true, type: VARCHAR(20)";
    let all = [QUEUE, OWNER, TAGS, LIMITS];
    let first = declared(&all, "")?;
    store.make_declared(&[first], AllowedChanges::Add).await?;
    write(&store, &first, [with_all(0)]).await?;
    // Two changes, without a backfill of the row in between.
    let second = declared(&[OF_OWNER, OWNER, TAGS, LIMITS], "")?;
    let third = declared(&[OF_OWNER, OWNER, TAGS, BOUNDS], "")?;
    for kind in [second, third] {
        store.make_declared(&[kind], AllowedChanges::Add).await?;
    }
    plant(&database).await?;
    fill(&store, third).await?;
    let left = planted(&database).await?;
    ensure!(left == [0, 1, 1, 0, 1], "{left:?}");
    // A program that has learnt its number has learnt its parts.
    let other = declared(&[OF_OWNER, OWNER, TAGS, BOUNDS], "")?;
    store.learn_declared(&[other]).await?;
    let [ours, theirs] = [third, other].map(|kind| kind.record().and_then(|record| record.counted()).cloned());
    ensure!(ours.is_some() && ours == theirs, "{ours:?} {theirs:?}");
    // A column that was left out for a while is filled again: the rows that were written meanwhile have no value in it.
    for kind in [declared(&[QUEUE, TAGS, LIMITS], "")?, declared(&all, "")?] {
        store.make_declared(&[kind], AllowedChanges::Add).await?;
        plant(&database).await?;
        fill(&store, kind).await?;
    }
    let left = planted(&database).await?;
    ensure!(left == [1, 0, 1, 1, 1], "{left:?}");
    Ok(())
}

async fn definitions_without_their_parts_are_compared_as_a_whole(database: Database) -> Result<()> {
    let store = connect(&database).await?;
    let all = [QUEUE, OWNER, TAGS, LIMITS];
    let first = declared(&all, "")?;
    store.make_declared(&[first], AllowedChanges::Add).await?;
    write(&store, &first, [with_all(0)]).await?;
    let forget = "DELETE FROM ingester_settings WHERE name LIKE 'recipes/%'";
    // As an earlier release has left it: the definition stays the same, and its parts are recorded.
    database.sql(forget).await?;
    let same = declared(&all, "")?;
    store.make_declared(&[same], AllowedChanges::Add).await?;
    ensure!(same.ingest_version() == 1 && fill(&store, same).await?.is_none());
    ensure!(database.count("ingester_settings WHERE name = 'recipes/job/0'").await? == 1);
    // For another definition it is unknown which part differs.
    database.sql(forget).await?;
    plant(&database).await?;
    let other = declared(&[OF_OWNER, OWNER, TAGS, LIMITS], "")?;
    store.make_declared(&[other], AllowedChanges::Add).await?;
    fill(&store, other).await?;
    ensure!(other.ingest_version() == 2 && planted(&database).await? == [0; 5]);
    // An earlier release has recorded another definition since the parts were recorded.
    database
        .sql("UPDATE ingester_settings SET value = '3 0123456789abcdef Job.example.com' WHERE name = 'definition/job'")
        .await?;
    database.sql("UPDATE job SET ingest_version = 3").await?;
    plant(&database).await?;
    let back = declared(&[OF_OWNER, OWNER, TAGS, LIMITS], "")?;
    store.make_declared(&[back], AllowedChanges::Add).await?;
    fill(&store, back).await?;
    ensure!(back.ingest_version() == 4 && planted(&database).await? == [0; 5]);
    Ok(())
}

/// The start of a program: how much it created, and the version of its kind.
async fn make(store: &Store) -> Result<(usize, u32)> {
    let kind = declared(&[QUEUE, OWNER], "")?;
    let made = store.make_declared(&[kind], AllowedChanges::Add).await?;
    Ok((made.made.len(), kind.ingest_version()))
}

async fn programs_that_start_together_make_the_tables_once(database: Database) -> Result<()> {
    let stores = [connect(&database).await?, connect(&database).await?, connect(&database).await?];
    let (a, b, c) = tokio::try_join!(make(&stores[0]), make(&stores[1]), make(&stores[2]))?;
    ensure!([a, b, c].iter().all(|(_, version)| *version == 1), "{a:?} {b:?} {c:?}");
    let kind = declared(&[QUEUE, OWNER], "")?;
    ensure!(stores[0].missing(&[kind]).await?.is_empty());
    Ok(())
}

/// The migrations of a file run beside those of a program, with the same numbers.
async fn the_folder_of_a_file_has_a_ledger_beside_that_of_a_program(database: Database) -> Result<()> {
    const LEDGER: &str = "ingester_migrations_builds";
    let build = |columns: &[&str]| declared(columns, "  table: build\n");
    let of_program = releases()?;
    let root = tempfile::tempdir()?;
    let folder = Folder::new(root.path()).with_ledger(Ledger::of_file("builds.yaml"));
    folder.generate(&[build(&[QUEUE])?], &GenerateOptions::default())?;
    // From then on the lock file has the name.
    let folder = Folder::new(root.path());
    folder.generate(&[build(&[QUEUE, OWNER])?], &GenerateOptions::default())?;
    let program = &of_program.second;
    let file = folder.released()?;
    let store = connect(&database).await?;
    let run = async |released: &ReleasedSchema| -> Result<usize> {
        let applied = released.apply(&store, &mut |_| {}).await?;
        ensure!(applied.recorded.is_empty() && applied.drift.is_empty(), "{applied:?}");
        Ok(applied.run.len())
    };
    let states = async |released: &ReleasedSchema| -> Result<Vec<MigrationState>> {
        Ok(released.info(&store).await?.into_iter().map(|info| info.state).collect())
    };
    let noted = async |table: &str| database.count(&format!("ingester_backfills WHERE table_name = '{table}'")).await;
    use MigrationState::{Applied, Interrupted, Pending};

    ensure!(run(&of_program.first).await? == 1);
    write(&store, &FIRST_KIND, [job(1, 1)]).await?;
    ensure!(run(program).await? == 1 && run(&file).await? == 2);
    ensure!(database.count("_sqlx_migrations").await? == 2 && database.count(LEDGER).await? == 2);
    ensure!(states(program).await? == [Applied, Applied] && states(&file).await? == [Applied, Applied]);
    ensure!(noted("job").await? == 2 && noted("build").await? == 1);

    // Each is reverted alone.
    file.revert(&store, 1, &mut |_| {}).await?;
    ensure!(states(program).await? == [Applied, Applied] && states(&file).await? == [Applied, Pending]);
    ensure!(noted("job").await? == 2 && noted("build").await? == 0, "only what was taken back is forgotten");
    ensure!(run(&file).await? == 1);
    program.revert(&store, 0, &mut |_| {}).await?;
    ensure!(states(program).await? == [Pending, Pending] && states(&file).await? == [Applied, Applied]);
    ensure!(store.tables().await?.contains("build") && !store.tables().await?.contains("job"));
    ensure!(run(program).await? == 2);

    // An interrupted one is finished in its own ledger.
    let down = root.path().join(store.dialect().name()).join("migrations");
    let down = std::fs::read_to_string(down.join("0002_change_build.down.sql"))?;
    let keys = down.split("-- Step ").nth(1).context("a step")?;
    database.sql(&format!("-- {keys}")).await?;
    database.sql(&format!("UPDATE {LEDGER} SET success = FALSE WHERE version = 2")).await?;
    ensure!(states(&file).await? == [Applied, Interrupted] && states(program).await? == [Applied, Applied]);
    ensure!(run(&file).await? == 1);
    ensure!(states(&file).await? == [Applied, Applied]);

    // A folder without its own name has sqlx's ledger, which has the program's migrations.
    let other = tempfile::tempdir()?;
    let other = Folder::new(other.path());
    other.generate(&[build(&[QUEUE])?], &GenerateOptions::default())?;
    let refused = other.released()?.apply(&store, &mut |_| {}).await.err().context("its numbers are taken")?;
    ensure!(refused.to_string().contains(SECOND[0]), "{refused}");
    Ok(())
}

async fn structs_without_migrations_follow_until_migrations_take_over(database: Database) -> Result<()> {
    let store = connect(&database).await?;
    // As in a newly started program.
    let started = |kind: Kind| kind.recorded(Box::leak(Box::new(Record::of_whole(kind.definition()))));
    let first = started(FIRST_KIND);
    store.make_declared(&[first], AllowedChanges::Add).await?;
    write(&store, &first, (0..3).map(|number| job(number, 10))).await?;
    ensure!(database.count("job WHERE ingest_version = 1").await? == 3);
    let second = started(SECOND_KIND);
    let made = store.make_declared(&[second], AllowedChanges::Add).await?;
    ensure!(made.made.len() == 4 && second.ingest_version() == 2, "two columns with their keys: {made:?}");
    ensure!(fill(&store, second).await?.is_some_and(|filled| filled.complete && filled.filled == 3));
    ensure!(database.count("job WHERE ingest_version = 2 AND owner LIKE 'owner-_-10'").await? == 3);
    ensure!(fill(&store, second).await?.is_none(), "nothing is left to do");
    // The previous release continues beside the columns that it does not know.
    let first = started(FIRST_KIND);
    let made = store.make_declared(&[first], AllowedChanges::Add).await?;
    ensure!(made.made.is_empty() && made.left.len() == 4 && first.ingest_version() == 3, "{made:?}");
    store.make_declared(&[started(SECOND_KIND)], AllowedChanges::Add).await?;

    // The lock file counts from 1 again.
    let released = releases()?.second;
    let kinds = released.versioned(&[SECOND_KIND])?;
    let applied = released.apply(&store, &mut |_| {}).await?;
    ensure!(applied.recorded == SECOND && applied.drift.is_empty(), "{applied:?}");
    ensure!(store.declared_before(&kinds).await?.len() == 1 && store.differences_from(&kinds).await?.is_empty());
    store.adopt(&kinds[0]).await?;
    ensure!(store.declared_before(&kinds).await?.is_empty());
    fill(&store, kinds[0]).await?;
    ensure!(database.count("job WHERE ingest_version = 2 AND owner LIKE 'owner-_-10'").await? == 3);
    Ok(())
}

/// SQLite has one type for all texts, so the declared types of the columns are recorded.
async fn a_type_that_holds_less_is_a_change_on_every_database(database: Database) -> Result<()> {
    let of = |queue: &str, owner: &str| {
        let column = |name: &str, ty: &str| format!("column: {name}, path: .spec.{name}, type: {ty}");
        declared(&[&column("queue", queue), &column("owner", owner)], "")
    };
    let store = connect(&database).await?;
    let wide = of("VARCHAR(20)", "VARCHAR(100)")?;
    store.make_declared(&[wide], AllowedChanges::Add).await?;
    write(&store, &wide, [job(0, 10)]).await?;
    let narrow = of("VARCHAR(20)", "VARCHAR(4)")?;
    let (_, planned) = store.plan_declared(&[narrow], AllowedChanges::Change).await?;
    let drops = |change: &String| change.contains("drop column `owner` VARCHAR(100)");
    ensure!(
        planned.made.iter().any(drops) && !planned.made.iter().any(|change| change.contains("queue")),
        "{planned:?}"
    );
    let refused = store.make_declared(&[narrow], AllowedChanges::Add).await;
    ensure!(matches!(&refused, Err(DeclaredError::MoreThanAdded(changes)) if changes.iter().any(drops)), "{refused:?}");
    let refused = store.make_declared(&[narrow], AllowedChanges::Change).await;
    ensure!(matches!(refused, Err(DeclaredError::Destructive(_))), "{refused:?}");
    ensure!(database.count("job WHERE owner = 'owner-0-10'").await? == 1);
    store.make_declared(&[narrow], AllowedChanges::Drop).await?;
    ensure!(database.count("job WHERE owner IS NULL").await? == 1, "it does not fit");
    // From then on it is the declared type.
    let again = of("VARCHAR(20)", "VARCHAR(4)")?;
    ensure!(store.make_declared(&[again], AllowedChanges::Add).await?.made.is_empty());
    store.make_declared(&[of("VARCHAR(20)", "TEXT, key: false")?], AllowedChanges::Drop).await?;
    ensure!(store.make_declared(&[of("VARCHAR(20)", "VARCHAR(4)")?], AllowedChanges::Add).await.is_err());
    // A type that is not declared any more is forgotten with the rest.
    store.adopt(&again).await?;
    ensure!(database.count("ingester_settings WHERE name LIKE 'types/%'").await? == 0);
    Ok(())
}

async fn values_of_many_that_hold_less_are_a_change_on_every_database(database: Database) -> Result<()> {
    let of = |ty: &str| declared(&[&format!("column: names, path: '.spec.names[*]', many: true, type: {ty}")], "");
    let store = connect(&database).await?;
    let wide = of("VARCHAR(100)")?;
    store.make_declared(&[wide], AllowedChanges::Add).await?;
    let (_, planned) = store.plan_declared(&[wide], AllowedChanges::Change).await?;
    ensure!(planned.made.is_empty(), "{planned:?}");
    let narrow = of("VARCHAR(4)")?;
    let (_, planned) = store.plan_declared(&[narrow], AllowedChanges::Change).await?;
    let drops = |change: &String| change.contains("drop table `job_names`");
    ensure!(planned.made.iter().any(drops), "{planned:?}");
    let refused = store.make_declared(&[narrow], AllowedChanges::Add).await;
    ensure!(matches!(&refused, Err(DeclaredError::MoreThanAdded(changes)) if changes.iter().any(drops)), "{refused:?}");
    store.make_declared(&[narrow], AllowedChanges::Drop).await?;
    ensure!(store.make_declared(&[of("VARCHAR(4)")?], AllowedChanges::Add).await?.made.is_empty());
    Ok(())
}

async fn a_removed_column_named_as_a_companion_leaves_the_companion_alone(database: Database) -> Result<()> {
    let store = connect(&database).await?;
    let columns =
        ["labels", "annotations"].map(|name| format!("column: {name}, path: .spec.{name}, type: VARCHAR(20)"));
    let [labels, annotations] = &columns;
    store.make_declared(&[declared(&[labels, annotations, QUEUE], "")?], AllowedChanges::Add).await?;
    let made = store.make_declared(&[declared(&[QUEUE], "")?], AllowedChanges::Add).await?;
    ensure!(made.made.is_empty(), "{made:?}");
    Ok(())
}

async fn what_is_pruned_from_now_on_is_cut_out_of_stored_rows(database: Database) -> Result<()> {
    const KEY: &str = "kubectl.kubernetes.io/last-applied-configuration";
    let store = connect(&database).await?;
    let first = declared(&[QUEUE, OWNER], "  evictable: false\n")?;
    store.make_declared(&[first], AllowedChanges::Add).await?;
    let secret = |number: usize| {
        let mut job = job(number, 10);
        job["spec"]["token"] = serde_json::json!("TOPSECRET");
        let annotations = serde_json::json!({"note": "stays", "token": "TOPSECRET", KEY: job.to_string()});
        job["metadata"]["annotations"] = annotations;
        job
    };
    write(&store, &first, [secret(0), secret(1)]).await?;
    let has = async |what: &str| -> Result<[u64; 2]> {
        let text = "LIKE '%TOPSECRET%'".replace("TOPSECRET", what);
        let json = match database.on {
            ingester_tests::databases::On::Postgres => "json::text",
            _ => "json",
        };
        let rows = format!("job WHERE {json} {text}");
        let annotations = format!("job_annotations WHERE value {text}");
        Ok([database.count(&rows).await?, database.count(&annotations).await?])
    };
    ensure!(has("TOPSECRET").await? == [2, 4]);
    let prune = "  evictable: false\n  prune: [.spec.token, '.metadata.annotations[\"token\"]']\n";
    let second = declared(&[QUEUE, OWNER], prune)?;
    store.make_declared(&[second], AllowedChanges::Add).await?;
    ensure!(second.ingest_version() == 2);
    ensure!(fill(&store, second).await?.is_some_and(|filled| filled.complete && filled.filled == 2));
    ensure!(has("TOPSECRET").await? == [0, 0] && has("owner-").await? == [2, 2], "and nothing else is gone");
    ensure!(database.count("job_annotations WHERE value = 'stays'").await? == 2);
    ensure!(fill(&store, second).await?.is_none(), "nothing is left to do");
    // Objects that arrive from now on are stored like that.
    write(&store, &second, [secret(2)]).await?;
    ensure!(has("TOPSECRET").await? == [0, 0] && has("owner-").await? == [3, 3]);
    Ok(())
}
