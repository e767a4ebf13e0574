//! Units as text in a Lease, which has room for 256 KiB of annotations. Many units come from few kinds, namespaces and numbers of shards.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The most units that are read from a Lease: a program that can write Leases must not be able to fill the members' memory.
const MOST: usize = 1 << 20;

/// All combinations of these kinds, namespaces and shards; or the names of units.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct UnitSet {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    kinds: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    namespaces: Vec<String>,
    #[serde(skip_serializing_if = "is_whole")]
    shards: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    units: Vec<String>,
}

fn is_whole(shards: &u32) -> bool {
    *shards <= 1
}

impl UnitSet {
    fn count(&self) -> usize {
        let of = |count: usize| count.max(1);
        let kinds = self.kinds.len().saturating_mul(of(self.namespaces.len()));
        kinds.saturating_mul(of(self.shards as usize)).saturating_add(self.units.len())
    }

    fn names(&self) -> impl Iterator<Item = String> {
        let namespaces = || match self.namespaces.is_empty() {
            true => vec![String::new()],
            false => self.namespaces.iter().map(|namespace| format!(" in {namespace}")).collect(),
        };
        let shards = || match self.shards {
            0 | 1 => vec![String::new()],
            of => (1..=of).map(|place| format!(" {place}/{of}")).collect(),
        };
        let mut names = self.units.clone();
        for kind in &self.kinds {
            for namespace in namespaces() {
                names.extend(shards().iter().map(|shard| format!("{kind}{namespace}{shard}")));
            }
        }
        names.into_iter()
    }
}

/// Splits the name of a unit: its kind, its namespace if it has one, and its shard if there are several.
fn parts(unit: &str) -> (&str, Option<&str>, Option<(u32, u32)>) {
    let shard = unit.rsplit_once(' ').and_then(|(rest, shard)| {
        let (place, of) = shard.split_once('/')?;
        Some((rest, (place.parse().ok()?, of.parse().ok()?)))
    });
    let (rest, shard) = shard.map_or((unit, None), |(rest, shard)| (rest, Some(shard)));
    match rest.split_once(" in ") {
        Some((kind, namespace)) => (kind, Some(namespace), shard),
        None => (rest, None, shard),
    }
}

/// The units of one kind.
#[derive(Default)]
struct KindUnits<'a> {
    namespaces: BTreeSet<Option<&'a str>>,
    shards: u32,
    names: Vec<&'a str>,
}

/// Returns units as JSON text that people can read.
pub(super) fn encode(units: &BTreeSet<String>) -> String {
    let mut kinds: BTreeMap<&str, KindUnits<'_>> = BTreeMap::new();
    for unit in units {
        let (kind, namespace, shard) = parts(unit);
        let of_kind = kinds.entry(kind).or_default();
        of_kind.namespaces.insert(namespace);
        of_kind.shards = of_kind.shards.max(shard.map_or(1, |(_, of)| of));
        of_kind.names.push(unit);
    }
    let mut groups: BTreeMap<(Vec<&str>, u32), UnitSet> = BTreeMap::new();
    let mut rest = UnitSet::default();
    for (kind, KindUnits { namespaces, shards, names }) in kinds {
        let namespaces: Vec<&str> = namespaces.into_iter().flatten().collect();
        let of_kind = UnitSet {
            kinds: vec![kind.to_owned()],
            namespaces: namespaces.iter().map(|namespace| (*namespace).to_owned()).collect(),
            shards,
            units: Vec::new(),
        };
        if of_kind.count() == names.len() && of_kind.names().all(|name| units.contains(&name)) {
            groups
                .entry((namespaces, shards))
                .or_insert(UnitSet { kinds: Vec::new(), ..of_kind })
                .kinds
                .push(kind.to_owned());
        } else {
            rest.units.extend(names.into_iter().map(str::to_owned));
        }
    }
    let groups: Vec<UnitSet> = groups.into_values().chain([rest]).filter(|group| group.count() > 0).collect();
    serde_json::to_string(&groups).unwrap_or_default()
}

/// Returns the units in a text; none if another program wrote it.
pub(super) fn decode(text: &str) -> BTreeSet<String> {
    let groups: Vec<UnitSet> = serde_json::from_str(text).unwrap_or_default();
    let count = groups.iter().fold(0_usize, |count, group| count.saturating_add(group.count()));
    if count > MOST {
        return BTreeSet::new();
    }
    groups.iter().flat_map(UnitSet::names).collect()
}

/// Encodes some of these units as hexadecimal digits, with a bit for each unit in the order of their names.
pub(super) fn encode_some(some: &BTreeSet<String>, of: &BTreeSet<String>) -> String {
    let mut digits: Vec<u8> = vec![0; of.len().div_ceil(4)];
    for (place, unit) in of.iter().enumerate() {
        if some.contains(unit) {
            digits[place / 4] |= 8 >> (place % 4);
        }
    }
    digits.into_iter().filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

/// Returns the units in such digits; none if the number of digits does not fit.
pub(super) fn decode_some(text: &str, of: &BTreeSet<String>) -> BTreeSet<String> {
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let Some(digits) = digits.filter(|digits| digits.len() == of.len().div_ceil(4)) else { return BTreeSet::new() };
    let is_in = |place: usize| digits[place / 4] & (8 >> (place % 4)) != 0;
    of.iter().enumerate().filter(|(place, _)| is_in(*place)).map(|(_, unit)| unit.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::{decode, decode_some, encode, encode_some};
    use std::collections::BTreeSet;

    fn units(units: &[&str]) -> BTreeSet<String> {
        units.iter().map(|unit| (*unit).to_owned()).collect()
    }

    #[test]
    fn combinations_are_short_and_everything_else_is_named() {
        for (these, text) in [
            (units(&[]), "[]"),
            (units(&["Model", "Project.apps"]), r#"[{"kinds":["Model","Project.apps"]}]"#),
            (
                units(&[
                    "Model in a",
                    "Model in b",
                    "Node",
                    "Pod in a 1/2",
                    "Pod in a 2/2",
                    "Pod in b 1/2",
                    "Pod in b 2/2",
                ]),
                r#"[{"kinds":["Node"]},{"kinds":["Model"],"namespaces":["a","b"]},{"kinds":["Pod"],"namespaces":["a","b"],"shards":2}]"#,
            ),
            (units(&["Model 1/2", "Node"]), r#"[{"kinds":["Node"]},{"units":["Model 1/2"]}]"#),
            (units(&["Model 3/2", "Model 1/2"]), r#"[{"units":["Model 1/2","Model 3/2"]}]"#),
            (units(&["Model", "Model in a"]), r#"[{"units":["Model","Model in a"]}]"#),
            (
                units(&["what ever", " in ", "a/b"]),
                r#"[{"kinds":["a/b","what ever"]},{"kinds":[""],"namespaces":[""]}]"#,
            ),
        ] {
            assert_eq!(decode(&encode(&these)), these, "{text}");
            assert_eq!(encode(&these), text);
        }
    }

    #[test]
    fn some_of_many_take_a_bit_each() {
        let all: BTreeSet<String> = (0..9).map(|number| format!("Kind{number}")).collect();
        for some in [&[][..], &["Kind0"], &["Kind3", "Kind4", "Kind8"]] {
            assert_eq!(decode_some(&encode_some(&units(some), &all), &all), units(some));
        }
        assert_eq!(encode_some(&units(&["Kind0", "Kind5", "Other"]), &all), "840");
        assert_eq!(encode_some(&all, &all), "ff8");
        for text in ["", "8", "84g", "8400", "\u{0661}40"] {
            assert!(decode_some(text, &all).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_text_of_another_program_names_nothing() {
        for text in [
            "",
            "all",
            "[\"Model\"]",
            r#"{"kinds":["Model"]}"#,
            r#"[{"kinds":["Model"],"shards":-1}]"#,
            r#"[{"kinds":["Model"],"shards":4000000000}]"#,
        ] {
            assert!(decode(text).is_empty(), "{text}");
        }
    }
}
