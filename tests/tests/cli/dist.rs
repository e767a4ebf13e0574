//! `deploy/dist.sh` packs this program: the same bytes each time, and a root file system from which it runs. `deploy/release.sh` makes all
//! parts of a release.

use crate::program::Folder;
use ingester_tests::book::blocks;
use std::path::{Path, PathBuf};
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
    for step in ["fetching the crates", "adding docs/, deploy/", "packing"] {
        assert!(said(&output).contains(step), "it does not say `{step}`: {}", said(&output));
    }
    true
}

/// Unpacks the archive, as `out`.
fn unpack(archives: &str, at: &Path) {
    shell(
        &format!(
            "mkdir out; tar xzf {archives}/*.tar.gz -C out --strip-components=1; cd out; sha256sum --check --quiet SHA256SUMS"
        ),
        at,
    );
}

fn may_chroot() -> bool {
    Command::new("chroot").args(["/", "true"]).status().is_ok_and(|status| status.success())
}

/// Makes the folder `data` with objects, in which everyone may write.
fn data(folder: &Path) {
    shell(&format!("mkdir data; chmod 777 data; cp -r {ROOT}/crd-specs/samples data"), folder);
}

/// Runs the program on a root file system of its own, in which [`data`] is `/data`.
fn works(inside: impl Fn(&[&str]) -> Output) {
    let database = ["--database-url", "sqlite:///data/i.db"];
    let imported = inside(&[&["import", "/data/samples"], &database[..]].concat());
    assert!(imported.status.success(), "{}", said(&imported));
    let found = inside(&[&["get", "models"], &database[..]].concat());
    assert!(said(&found).contains("ingester-test-model"), "{}", said(&found));
    assert!(inside(&["run", "--help"]).status.success());
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
    unpack("first", at);
    for file in ["LICENSE", "README.md", "CHANGELOG.md", "completions/ingester.bash", "sbom.cdx.json"] {
        assert!(at.join("out").join(file).exists(), "the archive lacks {file}");
    }
    let sbom = std::fs::read_to_string(at.join("out/sbom.cdx.json")).unwrap();
    assert!(sbom.contains("pkg:cargo/tokio@") && sbom.contains("pkg:cargo/ingester-core@"), "{sbom}");
    // The program has no parts that only tests need, and the list has no paths of this machine.
    assert!(!sbom.contains("pkg:cargo/proptest@") && !sbom.contains("file:") && !sbom.contains(ROOT), "{sbom}");

    data(&at.join("rootfs"));
    let inside = |arguments: &[&str]| {
        let mut command = Command::new("chroot");
        command.args(["--userspec=65532:65532", &rootfs, "/usr/local/bin/ingester"]).args(arguments);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).output().unwrap()
    };
    if !may_chroot() {
        eprintln!("skipped: the root file system of an image (this user may not chroot)");
        return;
    }
    works(inside);
}

/// The relative links of a document that lead nowhere.
fn broken_links(document: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(document).unwrap();
    let mut within = false;
    let prose = text.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        within ^= fence;
        !fence && !within
    });
    let links = prose.flat_map(|line| line.split("](").skip(1).filter_map(|rest| rest.split_once(')')));
    let paths = links.filter(|(link, _)| !link.contains("://")).filter_map(|(link, _)| link.split('#').next());
    let leads_nowhere = |path: &&str| !path.is_empty() && !document.with_file_name("").join(path).exists();
    paths.filter(leads_nowhere).map(|path| format!("{}: {path}", document.display())).collect()
}

fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.extension() {
            _ if path.is_dir() => documents(&path, found),
            Some(extension) if extension == "md" => found.push(path),
            _ => {}
        }
    }
}

#[test]
fn the_archive_has_what_its_readme_its_pages_and_the_help_of_its_program_name() {
    let folder = Folder::new();
    let at = folder.path();
    if !pack(at, "dist", &[]) {
        return;
    }
    unpack("dist", at);
    let out = at.join("out");
    let mut found = Vec::new();
    documents(&out, &mut found);
    assert!(found.len() > 40, "{found:?}");
    let broken: Vec<String> = found.iter().flat_map(|document| broken_links(document)).collect();
    assert!(broken.is_empty(), "these links lead nowhere:\n{}", broken.join("\n"));

    let readme = std::fs::read_to_string(out.join("README.md")).unwrap();
    let commands: Vec<String> = blocks(&readme).unwrap().into_iter().map(|block| block.text).collect();
    assert_eq!(commands.len(), 2);
    let printed: Vec<String> = commands.iter().map(|command| shell(command, &out)).collect();
    assert!(printed[0].contains("ingester-test-model") && printed[1].contains("customers"), "{printed:?}");

    let help = shell("./ingester --help", &out);
    let words = help.split_whitespace().map(|word| word.trim_end_matches(['.', ';']));
    let pages: Vec<&str> = words.filter(|word| word.starts_with("docs/")).collect();
    assert!(!pages.is_empty() && help.contains("the archive of a release"), "{help}");
    for page in pages {
        assert!(out.join(page).exists(), "{page}");
    }
    if let Some(kubectl) = ingester_tests::kubectl() {
        shell(&format!("{} kustomize deploy | grep -q 'kind: Deployment'", kubectl.display()), &out);
    }
    if let Some(renderer) = ingester_tests::helm_render() {
        shell(&format!("echo '{{}}' > values.yaml; {} deploy/helm values.yaml > /dev/null", renderer.display()), &out);
    }
}

#[test]
fn the_image_of_a_program_that_is_built_before_runs_it_as_a_user_who_is_not_root() {
    let works_here = |program: &str, arguments: &[&str]| {
        Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
    };
    if !works_here("buildah", &["--version"]) || !may_chroot() || !works_here("unshare", &["--mount", "true"]) {
        eprintln!("skipped: no buildah, or this user may not chroot or mount");
        return;
    }
    let folder = Folder::new();
    let at = folder.path();
    let rootfs = at.join("rootfs").display().to_string();
    if !pack(at, "dist", &["--rootfs", &rootfs]) {
        return;
    }
    // Neither a daemon nor mounts, and nothing outside of the folder.
    let buildah = |arguments: &[&str]| {
        let [images, containers] = ["images", "containers"].map(|name| at.join(name).display().to_string());
        let places = ["--storage-driver", "vfs", "--root", &images, "--runroot", &containers];
        Command::new("buildah").args(places).args(arguments).current_dir(ROOT).output().unwrap()
    };
    let done = |arguments: &[&str]| {
        let output = buildah(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let recipe = ["build", "--isolation", "chroot", "-f", "deploy/Dockerfile.binary", "--build-arg", "VERSION=1.2.3"];
    done(&[&recipe[..], &["--build-arg", "REVISION=abc", "-t", "ingester:1.2.3", &rootfs]].concat());
    let image: serde_json::Value =
        serde_json::from_str(&done(&["inspect", "--type", "image", "ingester:1.2.3"])).unwrap();
    let config = &image["OCIv1"]["config"];
    assert_eq!(config["User"], "65532:65532");
    assert_eq!(config["Entrypoint"], serde_json::json!(["/usr/local/bin/ingester"]));
    for (label, value) in [("title", "ingester"), ("version", "1.2.3"), ("revision", "abc"), ("licenses", "Apache-2.0")]
    {
        assert_eq!(config["Labels"][format!("org.opencontainers.image.{label}")], value);
    }

    data(at);
    let volume = format!("{}:/data", at.join("data").display());
    let container = done(&["from", "ingester:1.2.3"]);
    let run = ["run", "--isolation", "chroot", "--volume", &volume, &container, "--", "/usr/local/bin/ingester"];
    works(|arguments| buildah(&[&run[..], arguments].concat()));
    shell("test \"$(stat -c %u data/i.db)\" = 65532", at);
}

#[test]
fn a_mistake_in_the_arguments_is_named_before_anything_is_built() {
    let help = Command::new("bash").args(["deploy/dist.sh", "--help"]).current_dir(ROOT).output().unwrap();
    assert!(help.status.success() && said(&help).starts_with("Makes the archive"), "{}", said(&help));
    for (arguments, says) in [(&["--what"][..], "unknown argument `--what`"), (&["--out"][..], "--out needs a value")] {
        let output = Command::new("bash").arg("deploy/dist.sh").args(arguments).current_dir(ROOT).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output).contains(says), "{}", said(&output));
    }
}

fn release(arguments: &[&str]) -> Output {
    // Nobody listens there, and there are no such kinds: a program that used the variables of the shell would fail.
    let shell = [
        ("DATABASE_URL", "mysql://root@127.0.0.1:1/production"),
        ("MYSQL_HOST", "127.0.0.1"),
        ("MYSQL_DB_NAME", "production"),
        ("PGHOST", "127.0.0.1"),
        ("INGESTER_KINDS", "/nowhere/kinds.yaml"),
    ];
    Command::new("bash").arg("deploy/release.sh").args(arguments).envs(shell).current_dir(ROOT).output().unwrap()
}

#[test]
fn a_dry_run_of_a_release_makes_and_uses_each_part_and_changes_nothing() {
    let state = || shell("git status --porcelain; git tag; git rev-parse HEAD", Path::new(ROOT));
    let before = Command::new("git").args(["status", "--porcelain"]).current_dir(ROOT).output().unwrap();
    if !before.status.success() || !before.stdout.is_empty() {
        eprintln!("skipped: the dry run of a release (it needs a clone without changes)");
        return;
    }
    let before = state();
    let folder = Folder::new();
    let out = folder.path().join("release");
    let address = "https://git.example.org/us/ingester";
    // The crates and the program that the tests have compiled are not compiled again.
    let program = env!("CARGO_BIN_EXE_ingester");
    let output =
        release(&["--resolve", "--repository", address, "--binary", program, "--out", &out.display().to_string()]);
    if said(&output).contains("is missing; on Debian") {
        eprintln!("skipped: the dry run of a release ({})", said(&output).trim());
        return;
    }
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(state(), before, "it has changed the repository");
    let version = env!("CARGO_PKG_VERSION");
    for file in [
        "address.patch".to_owned(),
        format!("crates/ingester-core-{version}.crate"),
        format!("crates/ingester-{version}.crate"),
        format!("ingester-chart-{version}.tgz"),
        "krew-ingester.yaml".to_owned(),
        "SHA256SUMS".to_owned(),
    ] {
        assert!(out.join(&file).exists(), "{file} is missing: {}", said(&output));
    }
    shell(
        "tar xzf crates/ingester-core-*.crate; grep -q '^repository = \"https://git.example.org/us/ingester\"' */Cargo.toml",
        &out,
    );
    let plugin = std::fs::read_to_string(out.join("krew-ingester.yaml")).unwrap();
    assert!(!plugin.contains("example.com") && !plugin.contains("0000000000"), "{plugin}");
}

#[test]
fn a_release_needs_an_address_and_a_new_folder() {
    let out = ["--repository", "https://git.example.org/us/ingester", "--out", "."];
    for (arguments, says) in [
        (&[][..], "--repository takes the public address"),
        (&["--repository", "git.example.org/us"], "--repository takes the public address"),
        (&["--repository"], "--repository needs a value"),
        (&["--publish"], "unknown argument `--publish`"),
        (&out, "exists: remove it"),
    ] {
        let output = release(arguments);
        assert_eq!((output.status.code(), said(&output).contains(says)), (Some(2), true), "{}", said(&output));
    }
    assert!(said(&release(&["--help"])).starts_with("A dry run of a release"));
}
