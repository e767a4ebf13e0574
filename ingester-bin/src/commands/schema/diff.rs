//! `ingester schema diff`.

use super::{note_left, note_left_views, warn_of_redundant_keys, warn_of_silent_file};
use crate::arguments::SchemaDiff;
use crate::commands::{built_in, left_out, refuse_foreign};
use crate::ending::{Ending, Failure};
use crate::output::{note, show};
use crate::program::Program;
use ingester_sql::ddl::{self, Cost, Schema, SchemaChange, ServerVersion, Servers};
use ingester_store::Store;
use ingester_store::migrate::{
    AllowedChanges, ApplyError, ReleasedMigration, ReleasedSchema, drift, left_alone, schema_of,
};
use serde::Serialize;
use std::borrow::Cow;

pub(crate) async fn diff(arguments: SchemaDiff, program: Program) -> Result<Ending, Failure> {
    let store = arguments.target.database(program.kinds)?.open_existing().await?;
    let difference = Difference::compute(&store, program).await;
    let Difference { lines, summary, left, notes } = difference?;
    warn_of_redundant_keys(&Schema::from_registry(program.of_schema()));
    warn_of_silent_file(&program);
    show(arguments.output.output, &lines, || summary)?;
    note_left(&left, program);
    left_out::report(&store, program.kinds, &arguments.target.ingester(program.kinds)?).await?;
    if !program.declared.is_empty() {
        note_left_views(&store, program, &[]).await?;
    }
    store.close().await;
    notes.iter().for_each(|line| note(line));
    Ok(if lines.is_empty() { Ending::Done } else { Ending::Problem })
}

/// The differences between the tables of a database and the structs.
struct Difference {
    lines: Vec<DiffLine>,
    /// The lines for people.
    summary: String,
    /// Tables and columns that are not declared any more, and stay as they are.
    left: Vec<String>,
    /// The remedy.
    notes: Vec<Cow<'static, str>>,
}

/// One change towards equal tables.
#[derive(Debug, Serialize)]
struct DiffLine {
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<String>,
    change: String,
    class: Cost,
    destructive: bool,
}

impl Difference {
    async fn compute(store: &Store, program: Program) -> Result<Self, Failure> {
        let released = built_in(program)?;
        refuse_foreign(store, released.as_ref(), program).await?;
        let code = Schema::from_registry(program.of_schema());
        let catalog = store.catalog().await?;
        let dialect = store.dialect();
        let pending = match &released {
            Some(released) => pending(released, store).await?,
            None => Vec::new(),
        };
        let made = released.as_ref().map(|released| before(released, &pending)).unwrap_or_default();
        let mut live = schema_of(&catalog, dialect, &code);
        dialect.learn_types(&mut live, &made);
        dialect.learn_types(&mut live, &store.narrowed(&catalog, &code).await?);
        let left = match program.declared {
            [] => Vec::new(),
            _ => store.plan_declared(program.of_declared(), AllowedChanges::Change).await?.1.left,
        };
        let mut changes = ddl::diff(&live, &code);
        let alone = if left.is_empty() { Vec::new() } else { left_alone(&changes) };
        changes.retain(|change| !alone.contains(change));

        let server = ServerVersion::parse(store.server());
        let foreign = catalog.foreign_types(dialect);
        let line = |change: &SchemaChange| DiffLine {
            table: change.within().map(|table| table.to_string()),
            change: change.sentence_on(&foreign),
            class: change.cost(server, &changes),
            destructive: change.is_destructive(),
        };
        let lines = changes.iter().map(line).collect();
        let summary = ddl::summary(&changes, &changes, &code, Servers::One(server), &foreign);
        let notes = match (&changes[..], program.declared) {
            ([], []) => vec!["the tables are those of the structs".into()],
            ([], _) => vec!["the tables are as the kinds are declared".into()],
            (_, []) => {
                let is_current =
                    released.is_some_and(|released| ddl::diff(&released.lock_file().tables, &code).is_empty());
                let by_hand = !drift(&made, &catalog, dialect).is_empty();
                remedies(is_current, &pending, by_hand).into_iter().map(Cow::Borrowed).collect()
            }
            _ => {
                let file = program.with_file();
                let all = "with --allow-destructive also those that drop data";
                vec![format!("`ingester schema apply{file}` makes these changes, {all}").into()]
            }
        };
        Ok(Difference { lines, summary, left, notes })
    }
}

/// Returns the remedies for tables that differ from the structs. Migrations match the structs (`is_current`) or have to be generated, some
/// are pending, and the tables may have been changed otherwise (`by_hand`), which migrations do not undo.
fn remedies(is_current: bool, pending: &[String], by_hand: bool) -> Vec<&'static str> {
    let mut notes = Vec::new();
    if !is_current {
        notes.push("`ingester schema generate` writes the migrations, `ingester schema apply` runs them");
    } else if !pending.is_empty() {
        notes.push("`ingester schema apply` runs the pending migrations");
    }
    if by_hand || notes.is_empty() {
        notes.push(
            "the tables were changed without a migration, and none will be generated for that: `ingester schema verify` \
             names each difference; take it back by hand",
        );
    }
    notes
}

/// Returns the migrations that a database has not run; all if its record belongs to another program.
async fn pending(released: &ReleasedSchema, store: &Store) -> Result<Vec<String>, Failure> {
    match released.pending(store).await {
        Ok(pending) => Ok(pending),
        Err(ApplyError::Store(error)) => Err(error.into()),
        Err(_) => Ok(released.lock_file().migrations.iter().map(ReleasedMigration::name).collect()),
    }
}

/// Returns the tables before these migrations; none if the lock file of an earlier release does not describe them.
fn before(released: &ReleasedSchema, pending: &[String]) -> Schema {
    let lock_file = released.lock_file();
    let unrun = lock_file.migrations.iter().filter(|migration| pending.contains(&migration.name()));
    let changes: Vec<SchemaChange> = unrun.flat_map(|migration| migration.changes.iter().cloned()).collect();
    lock_file.tables.before(&changes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ingester_core::kind::Definition;
    use ingester_core::schema::{Column, Field, Ident, Key, Shape, SqlType, Table, TableParts};
    use ingester_core::{GeneratedSql, Kind};
    use ingester_sql::dialect::Dialect;
    use ingester_store::ConnectOptions;
    use ingester_store::migrate::{Folder, GenerateOptions};

    /// A kind of the table `job`.
    macro_rules! job {
        ($fields:expr) => {{
            const PARTS: TableParts = TableParts::of($fields);
            const COLUMNS: [Column; PARTS.column_count()] = PARTS.columns();
            const KEYS: [Key; PARTS.key_count()] = PARTS.keys(&COLUMNS);
            const TABLE: Table = Table {
                kind: "Job",
                name: Ident::new("job"),
                was: None,
                columns: &COLUMNS,
                many: &[],
                keys: &KEYS,
                companions: false,
                history: None,
            };
            let refused = Kind::refused();
            Kind::new(
                Definition {
                    version: "v1",
                    kind: "Job",
                    table: &TABLE,
                    fingerprint: PARTS.fingerprint(),
                    ..*refused.definition()
                },
                *refused.functions(),
            )
        }};
    }

    const OWNER: Field = Field::new("owner", Shape::scalar(SqlType::VarChar(255)));
    const BEFORE: &[Kind] = &[job!(&[OWNER, Field::new("begin", Shape::scalar(SqlType::DateTime))])];
    const AFTER: &[Kind] = &[job!(&[OWNER.ty("VARCHAR(40)")])];

    /// Returns the migrations of these kinds, one after the other, as they are built into a program.
    fn migrations(releases: &[&'static [Kind]]) -> GeneratedSql {
        let root = tempfile::tempdir().unwrap();
        let options = GenerateOptions { allow_destructive: true, ..GenerateOptions::default() };
        for (number, kinds) in releases.iter().enumerate() {
            let name = format!("release_{number}");
            Folder::new(root.path()).generate(*kinds, &GenerateOptions { name: Some(&name), ..options }).unwrap();
        }
        let leaked = |text: String| -> &'static str { text.leak() };
        let mut files = Vec::new();
        for dialect in Dialect::ALL.map(Dialect::name) {
            for entry in std::fs::read_dir(root.path().join(dialect).join("migrations")).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_string_lossy();
                let text = std::fs::read_to_string(&path).unwrap();
                files.push((leaked(format!("{dialect}/migrations/{name}")), leaked(text)));
            }
        }
        let lock = std::fs::read_to_string(root.path().join("schema.lock.json")).unwrap();
        GeneratedSql { lock: leaked(lock), files: files.leak(), source: None }
    }

    /// An empty database in which these migrations were run.
    async fn database(migrations: GeneratedSql) -> Store {
        let store = Store::connect(&"sqlite::memory:".parse().unwrap(), ConnectOptions::default()).await.unwrap();
        ReleasedSchema::try_from(migrations).unwrap().apply(&store, &mut |_| {}).await.unwrap();
        store
    }

    #[tokio::test]
    async fn types_that_sqlite_stores_alike_are_told_apart() {
        let released = migrations(&[BEFORE]);
        let store = database(released).await;
        let difference = Difference::compute(&store, Program::new(AFTER).sql(released)).await.ok().unwrap();
        let expected = "table `job`\n\
            \x20 change column `owner` from VARCHAR(255) to VARCHAR(40): copy\n\
            \x20   filled from the stored objects afterwards\n\
            \x20   DESTRUCTIVE: the values of `job`.`owner` that do not fit VARCHAR(40)\n\
            \x20 drop column `begin` DATETIME(6): copy\n\
            \x20   DESTRUCTIVE: the values of `job`.`begin`; the objects keep theirs in `json`\n\
            \x20 drop key `begin` (begin): instant\n";
        assert_eq!(difference.summary, expected);
        assert!(
            difference.lines.iter().any(|line| line.destructive && line.change == "drop column `owner` VARCHAR(255)")
        );
        let [advice] = &difference.notes[..] else { panic!("{:?}", difference.notes) };
        assert!(advice.starts_with("`ingester schema generate` writes"), "{advice}");
    }

    #[tokio::test]
    async fn a_pending_migration_is_a_difference_that_is_generated_already() {
        let store = database(migrations(&[BEFORE])).await;
        let both = Program::new(AFTER).sql(migrations(&[BEFORE, AFTER]));
        let difference = Difference::compute(&store, both).await.ok().unwrap();
        assert!(difference.summary.contains("from VARCHAR(255) to VARCHAR(40)"), "{}", difference.summary);
        assert_eq!(difference.notes, ["`ingester schema apply` runs the pending migrations"]);
        ReleasedSchema::try_from(both.sql.unwrap()).unwrap().apply(&store, &mut |_| {}).await.unwrap();
        let difference = Difference::compute(&store, both).await.ok().unwrap();
        assert!(difference.lines.is_empty());
        assert_eq!(difference.notes, ["the tables are those of the structs"]);
    }

    #[tokio::test]
    async fn tables_of_structs_without_migrations_follow_and_what_does_more_than_add_is_refused() {
        const ONE: &[Kind] = &[job!(&[OWNER])];
        const RETYPED: &[Kind] = &[job!(&[Field::new("owner", Shape::scalar(SqlType::BigInt))])];
        let store = Store::connect(&"sqlite::memory:".parse().unwrap(), ConnectOptions::default()).await.unwrap();
        // The same statements as at the start, and then the number of the definition.
        let follow = async |kinds: &'static [Kind]| {
            let program = Program::new(kinds).following();
            match crate::commands::prepare(&store, program, None).await {
                Ok(_) => Ok(program.kinds[0].ingest_version()),
                Err(Failure::Usage(error) | Failure::Work(error)) => Err(error.to_string()),
            }
        };
        assert_eq!((follow(ONE).await, follow(ONE).await), (Ok(1), Ok(1)));
        assert_eq!(follow(BEFORE).await, Ok(2));
        assert!(store.missing(BEFORE).await.unwrap().is_empty(), "the column is added");
        let shorter = Difference::compute(&store, Program::new(AFTER).following()).await.ok().unwrap();
        assert!(shorter.summary.contains("`owner` from VARCHAR(255) to VARCHAR(40)"), "{}", shorter.summary);
        let refused = follow(RETYPED).await.unwrap_err();
        assert!(refused.contains("make it with `ingester schema apply`; `ingester run` then fills"), "{refused}");
        let program = Program::new(RETYPED).following();
        let difference = Difference::compute(&store, program).await.ok().unwrap();
        assert_eq!(difference.left.len(), 2, "a column that is not declared any more, and its key");
        let [advice] = &difference.notes[..] else { panic!("{:?}", difference.notes) };
        assert!(advice.starts_with("`ingester schema apply` makes these changes, "), "{advice}");
        let refused = store.make_declared(program.of_declared(), AllowedChanges::Change).await.unwrap_err();
        let Failure::Usage(refused) = crate::commands::declared_failure(refused, program) else {
            panic!("it is no failure of the work")
        };
        let refused = refused.to_string();
        assert!(refused.contains("`ingester schema apply --allow-destructive` makes them; "), "{refused}");
        assert!(refused.ends_with("`ingester backfill KIND` does so at once"), "{refused}");
        store.make_declared(program.of_declared(), AllowedChanges::Drop).await.unwrap();
        assert_eq!(follow(RETYPED).await, Ok(3));
        // Migrations that are built in later do not know these numbers.
        let built_in = Program::new(RETYPED).sql(migrations(&[RETYPED]));
        let remedy = crate::commands::to_adopt(&store, built_in).await.unwrap().unwrap();
        assert!(remedy.contains("definitions of Job: ") && remedy.contains("`ingester schema adopt`"), "{remedy}");
        store.adopt(&RETYPED[0]).await.unwrap();
        assert_eq!(crate::commands::to_adopt(&store, built_in).await.unwrap(), None);
    }

    #[test]
    fn what_was_changed_by_hand_is_not_to_be_generated() {
        let has = |notes: Vec<&str>, what: &str| notes.iter().any(|note| note.contains(what));
        assert!(!has(remedies(true, &[], true), "generate`") && has(remedies(true, &[], true), "schema verify"));
        assert!(has(remedies(false, &[], true), "generate`") && has(remedies(false, &[], true), "schema verify"));
        assert!(!has(remedies(false, &[], false), "schema verify"));
        let pending = ["0002_a".to_owned()];
        assert!(
            has(remedies(true, &pending, false), "runs the pending") && !has(remedies(true, &pending, false), "verify")
        );
    }
}
