//! A full disk: the import fails, and stored rows stay, in whole batches.

use crate::program::{Folder, SAMPLES, model_json, query};
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A small tmpfs.
struct Disk(PathBuf);

impl Disk {
    /// Mounts it; `None` if this user may not.
    fn mount(path: PathBuf, size: &str) -> Option<Self> {
        std::fs::create_dir_all(&path).unwrap();
        let mounted = mount(&["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"], &path);
        mounted.then(|| Disk(path))
    }

    /// Fills the disk until only `bytes` are free.
    fn leave(&self, bytes: u64) {
        let mut filler = std::fs::File::create(self.0.join("filler")).unwrap();
        let block = vec![0; 256 * 1024];
        while filler.write_all(&block).is_ok() {}
        let length = filler.metadata().unwrap().len();
        filler.set_len(length.saturating_sub(bytes)).unwrap();
    }

    fn remount(&self, options: &str) {
        assert!(mount(&["-o", &format!("remount,{options}")], &self.0));
    }
}

fn mount(arguments: &[&str], path: &Path) -> bool {
    Command::new("mount").args(arguments).arg(path).output().is_ok_and(|output| output.status.success())
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: processes that still have files open are about to end.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).output();
    }
}

#[test]
fn a_full_disk_stops_the_import_after_a_whole_batch() {
    // Enough for several batches.
    const OBJECTS: u64 = 12_000;
    let folder = Folder::new();
    let Some(disk) = Disk::mount(folder.path().join("disk"), "128m") else {
        eprintln!("skipped: this user may not mount a small disk");
        return;
    };
    let object = |i| {
        let metadata = json!({
            "name": format!("m{i}"), "resourceVersion": "7",
            "labels": {"one": "1", "two": "2"}, "annotations": {"note": "some text"},
        });
        model_json(metadata, json!({"description": "x".repeat(300)}))
    };
    folder.write("many.ndjson", (0..OBJECTS).map(object).collect::<String>());

    // Give it more room at each step, until everything is stored.
    let mut stored = Vec::new();
    let mut counted = 0;
    let finished = (1..20).find_map(|step| {
        disk.leave(step * 6 * 1024 * 1024);
        let ran = folder.run(&["import", "--database-url", "sqlite://disk/test.db", "many.ndjson"]);
        if ran.code == Some(0) {
            return Some(ran);
        }
        let said = ["disk is full", "make room", "what was written before stays", "run the same import again"];
        // What was written before the failure is counted; parts of the last batch may be stored as well.
        let [_, written, unchanged, ..] = ran.exits(1).says(&said).counts("Model");
        stored.push(whole_batches(&folder, &disk));
        assert!(written + unchanged <= *stored.last().unwrap(), "{written} + {unchanged} of {stored:?}");
        counted += written;
        None
    });
    assert!(stored.is_sorted(), "rows were lost: {stored:?}");
    let last = *stored.last().expect("a full disk");
    assert!(last > 0 && last < OBJECTS, "{stored:?} rows: some batches must be stored and some not");
    assert!(counted > 0, "no import that was cut off counted its rows");
    let counts = finished.expect("room enough in the end").counts("Model");
    assert_eq!(counts, [OBJECTS, OBJECTS - last, last, 0, 0, 0]);
    assert_eq!(query(&disk.0.join("test.db"), "SELECT COUNT(*) FROM model"), [OBJECTS.to_string()]);
}

/// Checks that the database is intact and holds only whole batches. Returns the number of rows.
fn whole_batches(folder: &Folder, disk: &Disk) -> u64 {
    // Work on a copy elsewhere: the disk has no room even for reading.
    for name in ["test.db", "test.db-wal"] {
        let _ = std::fs::remove_file(folder.path().join(name));
        if disk.0.join(name).exists() {
            std::fs::copy(disk.0.join(name), folder.path().join(name)).unwrap();
        }
    }
    assert_eq!(folder.query("PRAGMA integrity_check"), ["ok"]);
    // The rows of a batch share one update_time, and only the last batch is smaller than the others.
    let sizes = folder.query("SELECT DISTINCT COUNT(*) FROM model GROUP BY update_time");
    assert!(sizes.len() <= 1, "{sizes:?}");
    let torn = "SELECT COUNT(*) FROM model WHERE 2 <> (SELECT COUNT(*) FROM model_labels WHERE obj_uid = uid)
                OR 1 <> (SELECT COUNT(*) FROM model_annotations WHERE obj_uid = uid)";
    assert_eq!(folder.query(torn), ["0"]);
    let strays = "SELECT COUNT(*) FROM model_labels WHERE obj_uid NOT IN (SELECT uid FROM model)";
    assert_eq!(folder.query(strays), ["0"]);
    folder.query("SELECT COUNT(*) FROM model")[0].parse().unwrap()
}

#[test]
fn a_disk_too_small_for_the_tables_is_reported() {
    let folder = Folder::new();
    let Some(_disk) = Disk::mount(folder.path().join("disk"), "64k") else {
        eprintln!("skipped: this user may not mount a small disk");
        return;
    };
    let ran = folder.run(&["import", "--database-url", "sqlite://disk/test.db", SAMPLES]).exits(1);
    ran.says(&["running migration 0001", "disk is full", "make room"]);
}

#[test]
fn a_database_on_a_read_only_disk_exits_with_2() {
    let folder = Folder::new();
    let Some(disk) = Disk::mount(folder.path().join("disk"), "8m") else {
        eprintln!("skipped: this user may not mount a small disk");
        return;
    };
    let import = |objects| folder.run(&["import", "--database-url", "sqlite://disk/test.db", objects]);
    import(SAMPLES).exits(0);
    disk.remount("ro");
    folder.write("new.json", OBJECT);
    import("new.json").exits(2).says(&["read-only", "allow writing"]);
    // Nothing has to be written for these.
    import(SAMPLES).exits(0);
}

const OBJECT: &str =
    r#"{"apiVersion": "michelangelo.api/v2", "kind": "Model", "metadata": {"namespace": "ml", "name": "new"}}"#;

/// A kind with several tables, which are made one after the other.
const KINDS: &str = "\
builtIn: false
kinds:
- group: example.com
  version: v1
  kind: Run
  namespaced: true
  history: 90d
  columns:
  - {column: phase, path: .status.phase, type: VARCHAR(32)}
  - {column: hosts, path: '.spec.hosts[*]', many: true, type: VARCHAR(255)}
";

#[test]
fn a_disk_that_is_full_at_any_step_is_named_with_the_remedy() {
    let folder = Folder::new();
    let Some(disk) = Disk::mount(folder.path().join("disk"), "64k") else {
        eprintln!("skipped: this user may not mount a small disk");
        return;
    };
    folder.write("kinds.yaml", KINDS);
    let object = json!({"apiVersion": "example.com/v1", "kind": "Run", "metadata": {"namespace": "ml", "name": "a", "uid": "1"}});
    folder.write("in.json", object.to_string());
    let mut failed = 0;
    for size in [48, 64, 96, 128, 160, 200, 256, 300] {
        for command in [&["import", "in.json"][..], &["schema", "apply"]] {
            for name in ["test.db", "test.db-wal", "test.db-shm"] {
                let _ = std::fs::remove_file(disk.0.join(name));
            }
            disk.remount(&format!("size={size}k"));
            let target = ["--kinds", "kinds.yaml", "--database-url", "sqlite://disk/test.db"];
            let ran = folder.run(&[command, &target].concat());
            if ran.code != Some(0) {
                failed += 1;
                ran.exits(1).says(&["disk is full", "make room"]);
            }
        }
    }
    assert!(failed > 4, "{failed}");
}
