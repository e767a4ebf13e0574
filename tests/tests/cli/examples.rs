//! The examples without a compiler: the commands of their READMEs, with what they print.

use crate::program::Folder;
use ingester_tests::Page;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn example(name: &str) -> PathBuf {
    Path::new(ROOT).join("examples").join(name)
}

/// Runs the README in a copy of its folder; `outputs` are compared.
#[track_caller]
fn runs(name: &str, outputs: usize) {
    let mut page = Page::new(Path::new(env!("CARGO_BIN_EXE_ingester"))).unwrap();
    page.copy(&example(name)).unwrap();
    let readme = std::fs::read_to_string(example(name).join("README.md")).unwrap();
    let compared = page.walk(&readme).unwrap_or_else(|error| panic!("examples/{name}/README.md {error:#}"));
    assert_eq!(compared, outputs);
}

#[test]
fn the_readme_of_cert_manager_is_true() {
    runs("cert-manager", 5);
}

#[test]
fn the_readme_of_kubedl_is_true() {
    runs("kubedl", 1);
}

#[test]
fn the_readme_of_michelangelo_is_true() {
    runs("michelangelo", 2);
}

#[test]
fn paths_of_cert_manager_are_fields_of_its_crd() {
    let folder = Folder::new();
    let crd = std::fs::read(format!("{ROOT}/tests/crds/certificates.cert-manager.io.yaml")).unwrap();
    folder.write("crd.yaml", crd);
    let kinds = std::fs::read_to_string(example("cert-manager").join("kinds.yaml")).unwrap();
    let checked = kinds.replacen("  kind: Certificate\n", "  kind: Certificate\n  crd: crd.yaml\n", 1);
    folder.write("kinds.yaml", &checked);
    folder.run(&["kinds", "--kinds", "kinds.yaml"]).exits(0);
    // Errors would be compared, too.
    folder.write("kinds.yaml", checked.replace(".status.renewalTime", ".status.renewal"));
    folder.run(&["kinds", "--kinds", "kinds.yaml"]).exits(2).says(&["by the CRD", "renewal"]);
}
