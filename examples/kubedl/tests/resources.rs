//! The exact resources of jobs and pods, as in `README.md` and the comments in `objects/pod.yaml`.

use crate::{both_of, folder, read};
use ingester_core::object::{ManagedFields, Object};
use ingester_core::value::Value;
use ingester_declare::documents::documents;
use std::collections::BTreeMap;

/// The column `resources` of an object by both forms; `None` if it is left out.
fn resources(text: &str) -> Option<[Value; 2]> {
    let object = Object::parse(text, ManagedFields::Prune).unwrap();
    let kinds = both_of(&object);
    let [compiled, declared] = read(text).unwrap().map(Result::unwrap);
    let value = |place: usize, row: ingester_core::row::Row| {
        row.values[kinds[place].table().by_name("resources").unwrap()].clone()
    };
    Some([value(0, compiled?), value(1, declared?)])
}

#[test]
fn jobs_ask_for_what_the_table_says() {
    let readme = std::fs::read_to_string(folder().join("README.md")).unwrap();
    let wanted: BTreeMap<&str, &str> = readme
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix("` |")?.split_once(" | `{"))
        .map(|(name, _)| {
            let line = readme.lines().find(|line| line.starts_with(&format!("| {name} | `{{"))).unwrap();
            (name, line.split('`').nth(1).unwrap())
        })
        .collect();
    assert_eq!(wanted.len(), 4, "{wanted:?}");
    let mut checked = 0;
    for file in ["tfjob", "pytorchjob", "mpijob", "marsjob"] {
        let text = std::fs::read(folder().join(format!("objects/{file}.yaml"))).unwrap();
        for document in documents(text.as_slice()) {
            let text = document.unwrap().content.unwrap();
            let object = Object::parse(&text, ManagedFields::Prune).unwrap();
            // The last state of the job of Mars has another spec.
            if object.meta().resource_version == 4008 {
                continue;
            }
            let wanted = Value::text(wanted[&*object.meta().name]);
            assert_eq!(resources(&text), Some([wanted.clone(), wanted]), "{text}");
            checked += 1;
        }
    }
    assert_eq!(checked, 26);
}

#[test]
fn pods_ask_for_what_their_comments_say() {
    let text = std::fs::read_to_string(folder().join("objects/pod.yaml")).unwrap();
    let mut checked = 0;
    for document in text.split("\n---\n") {
        let comment: Vec<&str> = document.lines().filter_map(|line| line.strip_prefix("# ")).collect();
        let comment = comment.join("").replace(' ', "");
        let Some((_, said)) = comment.split_once("esources{") else { continue };
        let length = said.char_indices().scan(1, |depth, (at, c)| {
            *depth += i32::from(c == '{') - i32::from(c == '}');
            (*depth > 0).then_some(at + 1)
        });
        let wanted = Value::text(format!("{{{}}}", &said[..length.last().unwrap_or(0)]));
        let json = documents(document.as_bytes()).next().unwrap().unwrap().content.unwrap();
        assert_eq!(resources(&json), Some([wanted.clone(), wanted]), "{document}");
        checked += 1;
    }
    assert_eq!(checked, 6);
}
