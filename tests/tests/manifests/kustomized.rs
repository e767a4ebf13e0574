//! The output of `kubectl kustomize` for an overlay beside `deploy/`.

use super::root;
use serde_json::Value as Json;
use std::process::Command;

/// The objects of an overlay: the text of its kustomization without its type. `None`, after a message, without kubectl.
pub(super) fn overlay(text: &str) -> Option<Vec<Json>> {
    overlay_beside(text, &[])
}

/// [`overlay`] with these files in its folder.
pub(super) fn overlay_beside(text: &str, files: &[(&str, &str)]) -> Option<Vec<Json>> {
    let Some(kubectl) = ingester_tests::kubectl() else {
        ingester_tests::skipped_without_kubectl();
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    let copied = Command::new("cp").arg("-r").arg(root().join("deploy")).arg(folder.path()).status().unwrap();
    assert!(copied.success());
    let [overlay, out] = ["overlay", "out"].map(|name| folder.path().join(name));
    for folder in [&overlay, &out] {
        std::fs::create_dir(folder).unwrap();
    }
    let text = format!("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n{text}");
    for (name, text) in files.iter().chain([&("kustomization.yaml", &*text)]) {
        std::fs::write(overlay.join(name), text).unwrap();
    }
    let built = Command::new(kubectl).arg("kustomize").arg(&overlay).arg("-o").arg(&out).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let files = std::fs::read_dir(&out).unwrap().map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    Some(files.map(|file| serde_saphyr::from_str(&file).unwrap()).collect())
}
