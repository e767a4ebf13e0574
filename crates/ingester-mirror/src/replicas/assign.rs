//! Assigns units to members. Pure: all members that know the same members get the same result.

use super::shard::fnv1a;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the member for each unit, from the living members and the units that each could serve.
pub(super) fn assign<'a>(living: &BTreeMap<&'a str, &'a BTreeSet<String>>) -> BTreeMap<&'a str, &'a str> {
    let units: BTreeSet<&'a str> = living.values().flat_map(|serves| serves.iter()).map(String::as_str).collect();
    let part = units.len().div_ceil(living.len().max(1));
    let mut loads: BTreeMap<&'a str, usize> = BTreeMap::new();
    let mut owners = BTreeMap::new();
    for unit in units {
        let mut candidates: Vec<&'a str> =
            living.iter().filter(|(_, serves)| serves.contains(unit)).map(|(member, _)| *member).collect();
        candidates.sort_by_key(|member| (std::cmp::Reverse(rank(member, unit)), *member));
        let load = |member: &&str| loads.get(member).copied().unwrap_or_default();
        // Where some members serve only some units, all members that serve this one may already have their share.
        let chosen = candidates
            .iter()
            .find(|member| load(member) < part)
            .or_else(|| candidates.iter().min_by_key(|member| load(member)));
        if let Some(member) = chosen.copied() {
            *loads.entry(member).or_default() += 1;
            owners.insert(unit, member);
        }
    }
    owners
}

/// Returns the rank of a member for a unit.
fn rank(member: &str, unit: &str) -> u64 {
    // FNV leaves the last bytes in the low bits, so they are mixed into all of them.
    let mut hash = fnv1a(&format!("{member}\n{unit}"));
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::assign;
    use std::collections::{BTreeMap, BTreeSet};

    fn units(count: usize) -> BTreeSet<String> {
        (0..count).map(|number| format!("Kind{number}")).collect()
    }

    fn owners(members: &[&str], units: &BTreeSet<String>) -> BTreeMap<String, String> {
        let living = members.iter().map(|member| (*member, units)).collect();
        assign(&living).into_iter().map(|(unit, member)| (unit.to_owned(), member.to_owned())).collect()
    }

    #[test]
    fn every_member_has_a_part_and_parts_differ_by_one_unit_at_most() {
        for count in [1, 5, 13, 64] {
            let units = units(count);
            for members in [&["a"][..], &["a", "b"], &["a", "b", "c"], &["d1", "d2", "d3", "d4", "d5"]] {
                let owners = owners(members, &units);
                assert_eq!(owners.len(), count, "each unit has an owner");
                let loads = members.iter().map(|member| owners.values().filter(|owner| owner == member).count());
                assert!(
                    loads.clone().all(|load| load <= count.div_ceil(members.len())),
                    "{:?}",
                    loads.collect::<Vec<_>>()
                );
            }
        }
        assert!(owners(&[], &units(3)).is_empty());
    }

    #[test]
    fn a_member_that_comes_or_goes_moves_few_units() {
        let units = units(60);
        let three = owners(&["a", "b", "c"], &units);
        let four = owners(&["a", "b", "c", "d"], &units);
        let moved = three.iter().filter(|(unit, owner)| four[*unit] != **owner).count();
        // The fourth member gets 15 units. Some other units move because the shares have become smaller.
        assert!((15..=30).contains(&moved), "{moved}");
    }

    #[test]
    fn a_unit_goes_to_who_serves_it() {
        let old = units(4);
        let new = BTreeSet::from(["Kind9".to_owned(), "Kind0".to_owned()]);
        let living = BTreeMap::from([("old", &old), ("new", &new)]);
        let owners = assign(&living);
        assert_eq!((owners["Kind9"], owners["Kind3"]), ("new", "old"));
        assert_eq!(owners.len(), 5);
    }
}
