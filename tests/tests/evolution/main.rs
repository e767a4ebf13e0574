//! Changes of structs, one folder each (`cases/`): the struct before and after, objects, and the expected migrations.
//! Each change runs on every database, with rows in the tables: forward, back, and forward again.
//!
//! `INGESTER_UPDATE=1 cargo test -p ingester-tests --test evolution` rewrites the expected files, for review.

#![allow(unreachable_pub, reason = "the structs of a case are written as a user writes them")]

mod harness;

/// A module for each case: its two structs, and its tests.
macro_rules! cases {
    ($($name:ident)*) => {
        mod cases { $(
            mod $name {
                use crate::harness::{Case, expected, migrated};
                use ingester_tests::{databases::Database, on_every_database};

                mod after;
                mod before;

                const CASE: Case = Case {
                    name: stringify!($name),
                    before: before::KINDS,
                    after: after::KINDS,
                    objects: include_str!(concat!("cases/", stringify!($name), "/objects.yaml")),
                };

                #[test]
                fn files() -> anyhow::Result<()> {
                    expected(&CASE)
                }
                on_every_database! { migration }

                async fn migration(database: Database) -> anyhow::Result<()> {
                    migrated(database, &CASE).await
                }
            }
        )* }

        /// The names of all cases.
        const CASES: &[&str] = &[$(stringify!($name)),*];
    };
}

cases! {
    add_column
    add_column_without_key
    add_columns_of_every_type
    add_composite
    add_composite_key
    add_history
    add_key
    add_kind
    add_many
    add_status
    add_status_column
    change_composite_key
    change_with_history
    drop_and_add_other_column
    drop_column
    drop_column_of_composite_key
    drop_composite
    drop_key
    drop_many
    everything_at_once
    integer_to_text
    map_to_list_of_many
    narrow_bigint
    narrow_many
    narrow_varchar
    remove_kind
    rename_and_widen
    rename_chain
    rename_column
    rename_composite
    rename_many
    rename_part_of_composite
    rename_table
    rename_table_and_column
    reorder_columns
    text_to_integer
    text_to_time
    unchanged_but_renamed_field
    widen_int
    widen_many
    widen_short_varchar
    widen_to_text
    widen_varchar
    widen_varchar_beyond_255_bytes
}

#[test]
fn every_case_folder_is_listed() -> anyhow::Result<()> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/evolution/cases");
    let mut found: Vec<String> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<std::io::Result<_>>()?;
    found.sort();
    assert_eq!(found, CASES);
    Ok(())
}
