//! The output of the struct, and the commands of the pages about this crate.

use dataset_operator::{KINDS, dataset::Dataset};
use ingester_testing::assert_row;
use ingester_tests::{Page, page::section};
use std::path::Path;

const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn a_dataset_is_a_row() {
    let text = "
apiVersion: data.example.com/v1
kind: Dataset
metadata: {name: orders, namespace: default}
spec: {owner: ada, format: parquet}
status: {rowCount: 7, refreshed: '2026-03-09T20:36:47Z'}
";
    assert_row!(Dataset, text, {
        owner: "ada",
        format: "parquet",
        phase: null,
        row_count: 7,
        refreshed: "2026-03-09T20:36:47Z",
    });
}

#[test]
fn the_generated_sql_is_current() {
    ingester_store::migrate::assert_current(KINDS, Path::new(FOLDER).join("generated-sql"));
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// A folder with the files of this crate that are written by hand.
fn page() -> Page {
    let program = Path::new(env!("CARGO_BIN_EXE_dataset-operator"));
    // With `builtIn: false` in the file of kinds, this program does what `ingester` does.
    let page = Page::new(program).unwrap();
    page.cargo_run(program).unwrap();
    page.copy(Path::new(FOLDER)).unwrap();
    std::fs::remove_dir_all(page.folder().join("generated-sql")).unwrap();
    // Its paths lead into the repository. The tutorial has another one, which tests/tests/packages.rs checks.
    std::fs::remove_file(page.folder().join("Cargo.toml")).unwrap();
    page
}

/// Checks that the commands have written the files of this crate.
#[track_caller]
fn assert_written(page: &Page, files: &[&str]) {
    for file in files {
        let [written, kept] = [page.folder().join(file), Path::new(FOLDER).join(file)].map(|file| read(&file));
        assert!(written == kept, "{file} is not what the command writes: run it");
    }
}

const GENERATED: [&str; 4] =
    ["crd.yaml", "generated-sql/schema.lock.json", "generated-sql/mysql/schema.sql", "generated-sql/sqlite/schema.sql"];

#[test]
fn the_readme_is_true() {
    let mut page = page();
    std::fs::remove_file(page.folder().join("crd.yaml")).unwrap();
    let compared = page.walk(&read(&Path::new(FOLDER).join("README.md"))).unwrap_or_else(|error| panic!("{error:#}"));
    assert_eq!(compared, 1);
    assert_written(&page, &GENERATED);
}

#[test]
fn the_tutorial_is_true_without_a_cluster() {
    let text = read(&Path::new(FOLDER).join("../../docs/tutorial.md"));
    let text = text.replacen(section(&text, "## Follow a cluster").unwrap(), "", 1);
    let mut page = page();
    let compared = page.walk(&text).unwrap_or_else(|error| panic!("docs/tutorial.md {error:#}"));
    assert_eq!(compared, 6);
    assert_written(&page, &GENERATED);
}
