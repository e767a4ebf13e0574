//! Both forms give the same rows: of every state of every object, and of randomly changed objects.

use crate::mutation::Mutation;
use crate::{read, states};
use ingester_core::row::Row;
use serde_json::Value as Json;

/// Compares two rows of one object. The time of the write and the definition do not count.
#[track_caller]
fn compare(compiled: &Option<Row>, declared: &Option<Row>, kind: &ingester_core::Kind, text: &str) {
    assert_eq!(compiled.is_some(), declared.is_some(), "left out by one of them: {text}");
    let (Some(compiled), Some(declared)) = (compiled, declared) else { return };
    for (place, column) in kind.table().columns.iter().enumerate() {
        if !["update_time", "ingest_version"].contains(&column.name.as_str()) {
            let is = &declared.values[place];
            let wanted = &compiled.values[place];
            assert_eq!(is, wanted, "{} {}: {text}", kind.kind(), column.name);
        }
    }
}

fn kind_of(text: &str) -> &'static ingester_core::Kind {
    let object: Json = serde_json::from_str(text).unwrap();
    kubedl_specs::KINDS.iter().find(|kind| object["kind"] == kind.kind()).unwrap()
}

#[test]
fn every_state_has_the_same_row_by_both_forms() {
    let mut rows = 0;
    let mut left_out = 0;
    for text in states() {
        let [compiled, declared] = read(&text).unwrap().map(|row| row.unwrap_or_else(|error| panic!("{error}")));
        compare(&compiled, &declared, kind_of(&text), &text);
        *if compiled.is_some() { &mut rows } else { &mut left_out } += 1;
    }
    assert_eq!((rows, left_out), (38, 5));
}

#[test]
fn objects_that_chance_has_changed_have_the_same_rows() {
    let states: Vec<Json> = states().iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    let cases = std::env::var("KUBEDL_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(10_000);
    let mut chance = Mutation::new(20_261_123);
    let mut both = 0_u32;
    let mut left_out = 0_u32;
    let mut one = 0_u32;
    for _ in 0..cases {
        let text = chance.mutate(&states).to_string();
        let Ok([compiled, declared]) = read(&text) else { continue };
        match (&compiled, &declared) {
            (Ok(compiled), Ok(declared)) => {
                compare(compiled, declared, kind_of(&text), &text);
                *if compiled.is_some() { &mut both } else { &mut left_out } += 1;
            }
            // A struct reads more of an object than the columns do, and so finds more errors.
            (Err(_), Ok(_)) => one += 1,
            (Ok(Some(_)), Err(error)) => panic!("only the file rejects it: {error}: {text}"),
            (Ok(None), Err(_)) | (Err(_), Err(_)) => {}
        }
    }
    // Most objects must have rows, otherwise the test proves little.
    assert!(both > cases / 2 && left_out > cases / 100 && one < cases / 4, "{both} {left_out} {one} of {cases}");
}
