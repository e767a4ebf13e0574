//! `deploy/dist.sh` packs this program: the same bytes each time, and a root file system from which it runs.

use crate::program::Folder;
use std::path::Path;
use std::process::{Command, Output};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

fn shell(script: &str, folder: &Path) -> String {
    let output = Command::new("bash").args(["-euc", script]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{script}: {}", said(&output));
    said(&output)
}

/// Packs the program; `at` is where the archive is written. `false` if a tool is missing.
fn pack(folder: &Path, at: &str, more: &[&str]) -> bool {
    let output = Command::new("bash")
        .args(["deploy/dist.sh", "--binary", env!("CARGO_BIN_EXE_ingester"), "--out"])
        .arg(folder.join(at))
        .args(more)
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .current_dir(ROOT)
        .output()
        .unwrap();
    if said(&output).contains("is missing; on Debian") {
        eprintln!("skipped: the archive of a release ({})", said(&output).trim());
        return false;
    }
    assert!(output.status.success(), "{}", said(&output));
    true
}

#[test]
fn an_archive_has_the_same_bytes_each_time_and_its_program_runs_from_the_root_file_system() {
    let folder = Folder::new();
    let at = folder.path();
    let rootfs = at.join("rootfs").display().to_string();
    if !pack(at, "first", &["--rootfs", &rootfs]) || !pack(at, "second", &[]) {
        return;
    }
    // Both lists have the name and the sum of the archive.
    shell("cmp first/SHA256SUMS second/SHA256SUMS; cd first; sha256sum --check --quiet SHA256SUMS", at);
    shell(
        "mkdir out; tar xzf first/*.tar.gz -C out --strip-components=1; cd out; sha256sum --check --quiet SHA256SUMS",
        at,
    );
    for file in ["LICENSE", "README.md", "CHANGELOG.md", "completions/ingester.bash", "sbom.cdx.json"] {
        assert!(at.join("out").join(file).exists(), "the archive lacks {file}");
    }
    let sbom = std::fs::read_to_string(at.join("out/sbom.cdx.json")).unwrap();
    assert!(sbom.contains("pkg:cargo/tokio@") && sbom.contains("pkg:cargo/ingester-core@"), "{sbom}");
    // The program has no parts that only tests need, and the list has no paths of this machine.
    assert!(!sbom.contains("pkg:cargo/proptest@") && !sbom.contains("file:") && !sbom.contains(ROOT), "{sbom}");

    shell(&format!("mkdir rootfs/data; chmod 777 rootfs/data; cp -r {ROOT}/crd-specs/samples rootfs/data"), at);
    let inside = |arguments: &[&str]| {
        let mut command = Command::new("chroot");
        command.args(["--userspec=65532:65532", &rootfs, "/usr/local/bin/ingester"]).args(arguments);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).output().unwrap()
    };
    if !Command::new("chroot").args(["/", "true"]).status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: the root file system of an image (this user may not chroot)");
        return;
    }
    let database = ["--database-url", "sqlite:///data/i.db"];
    let imported = inside(&[&["import", "/data/samples"], &database[..]].concat());
    assert!(imported.status.success(), "{}", said(&imported));
    let found = inside(&[&["get", "models"], &database[..]].concat());
    assert!(said(&found).contains("ingester-test-model"), "{}", said(&found));
    assert!(inside(&["run", "--help"]).status.success());
}

#[test]
fn a_mistake_in_the_arguments_is_named_before_anything_is_built() {
    for (arguments, says) in [(&["--what"][..], "unknown argument `--what`"), (&["--out"][..], "--out needs a value")] {
        let output = Command::new("bash").arg("deploy/dist.sh").args(arguments).current_dir(ROOT).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output).contains(says), "{}", said(&output));
    }
}
