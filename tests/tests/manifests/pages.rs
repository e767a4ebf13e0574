//! The overlays and the values of the chart that docs/operations.md and docs/serving.md show: kustomize and the chart take them, and each patch
//! changes an object.

use super::{chart, kustomized};
use ingester_tests::book::{Mark, blocks, pages};
use serde_json::Value as Json;

const THIS: &str = "tests/tests/manifests/pages.rs";

/// The keys of an overlay without its type, which `kustomized::overlay` writes, and without comments.
fn without_type(text: &str) -> String {
    let is_key = |line: &&str| !["apiVersion:", "kind:", "#"].iter().any(|begin| line.starts_with(begin));
    text.lines().filter(is_key).map(|line| format!("{line}\n")).collect()
}

fn named(object: &Json) -> (String, String) {
    (object["kind"].to_string(), object["metadata"]["name"].to_string())
}

#[test]
fn overlays_and_values_of_the_pages_are_taken_and_each_patch_changes_an_object() {
    let mut built = 0;
    for (page, text) in pages().unwrap() {
        let blocks = blocks(&text).unwrap();
        // Files beside the overlay have their names in their first lines.
        let mut files: Vec<(&str, &str)> = Vec::new();
        for block in &blocks {
            let Some((name, text)) = block.text.strip_prefix("# overlay/").and_then(|text| text.split_once('\n'))
            else {
                continue;
            };
            let name = name.split([';', ',']).next().unwrap_or(name);
            if files.iter().all(|(other, _)| *other != name) {
                files.push((name, text));
            }
        }
        files.retain(|(name, _)| *name != "kustomization.yaml");
        for block in blocks.iter().filter(|block| block.mark == Some(Mark::RunBy(THIS.to_owned()))) {
            built += 1;
            let at = format!("{page} line {}", block.line);
            if block.text.starts_with("# my-values.yaml") {
                let Some((objects, _)) = chart::chart(&block.text, 1) else { return };
                assert!(objects.iter().any(|object| object["kind"] == "Deployment"), "{at}: {objects:?}");
                continue;
            }
            let mut overlay = without_type(&block.text);
            if !overlay.contains("resources:") {
                overlay.insert_str(0, "resources: [../deploy]\n");
            }
            let value: Json = serde_saphyr::from_str(&overlay).unwrap_or_else(|error| panic!("{at}: {error}"));
            let Some(objects) = kustomized::overlay_beside(&overlay, &files) else { return };
            let plain = kustomized::overlay(&format!("resources: {}", value["resources"])).unwrap();
            let patches = value["patches"].as_array().map_or(0, Vec::len);
            let changed = objects.iter().filter(|object| {
                plain.iter().find(|other| named(other) == named(object)).is_some_and(|other| other != *object)
            });
            assert!(changed.count() >= patches && objects.len() == plain.len(), "{at}: a patch changes nothing");
        }
    }
    assert!(built > 4, "{built} overlays: how pages are read is wrong");
}
