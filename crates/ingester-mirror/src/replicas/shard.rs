//! Shards of a kind: its objects by a hash of their uid.

use std::fmt;

/// One of several parts of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    /// Its index, from 0.
    pub(crate) place: u32,
    /// The number of shards.
    pub(crate) of: u32,
}

impl Shard {
    /// All objects.
    pub(crate) const WHOLE: Shard = Shard { place: 0, of: 1 };

    /// Returns the shards of a kind that has this many.
    pub(crate) fn all(of: u32) -> impl Iterator<Item = Shard> {
        (0..of.max(1)).map(move |place| Shard { place, of: of.max(1) })
    }

    pub(crate) fn is_whole(self) -> bool {
        self.of == 1
    }

    /// Returns true if the object with this uid is in the shard.
    pub(crate) fn has(self, uid: &str) -> bool {
        self.is_whole() || (u128::from(fnv1a(uid)) * u128::from(self.of)) >> 64 == u128::from(self.place)
    }

    /// Returns the selector for an API server that has shards (`shardSelector`); others ignore it.
    pub(crate) fn selector(self) -> String {
        let bound = |place: u32| {
            let bound = (u128::from(place) << 64).div_ceil(u128::from(self.of));
            format!("{bound:#018x}")
        };
        format!("shardRange(object.metadata.uid,'{}','{}')", bound(self.place), bound(self.place + 1))
    }
}

/// `2/4`.
impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.place + 1, self.of)
    }
}

/// The 64-bit hash FNV-1a, which the API server uses for its shards.
pub(crate) fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::{Shard, fnv1a};

    #[test]
    fn the_hash_is_fnv_1a() {
        // From the test vectors of its authors.
        assert_eq!(
            (fnv1a(""), fnv1a("a"), fnv1a("foobar")),
            (0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c, 0x8594_4171_f739_67e8)
        );
    }

    #[test]
    fn every_uid_is_in_one_shard_and_the_shards_are_alike() {
        for of in [1, 2, 3, 7, 64] {
            let mut counts = vec![0; of as usize];
            for number in 0..20_000_u128 {
                let uid = uuid_of(number);
                let of_this: Vec<Shard> = Shard::all(of).filter(|shard| shard.has(&uid)).collect();
                let [shard] = of_this[..] else { panic!("{uid} is in {of_this:?}") };
                counts[shard.place as usize] += 1;
            }
            let fair = 20_000 / of;
            assert!(counts.iter().all(|count| (fair * 7 / 10..=fair * 13 / 10 + 1).contains(count)), "{counts:?}");
        }
    }

    fn uuid_of(number: u128) -> String {
        let hash = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
            hash as u32,
            (hash >> 32) as u16,
            hash >> 48 & 0xfff,
            hash >> 60 & 0xfff,
            hash >> 80 & 0xffff_ffff_ffff
        )
    }

    #[test]
    fn the_server_is_asked_for_the_same_objects() {
        let selectors: Vec<String> = Shard::all(2).map(Shard::selector).collect();
        assert_eq!(
            selectors,
            [
                "shardRange(object.metadata.uid,'0x0000000000000000','0x8000000000000000')",
                "shardRange(object.metadata.uid,'0x8000000000000000','0x10000000000000000')",
            ]
        );
        // A bound is the first hash of the shard.
        for shard in Shard::all(3) {
            let selector = shard.selector();
            let bounds: Vec<u128> = selector
                .split('\'')
                .filter_map(|part| part.strip_prefix("0x"))
                .map(|hex| u128::from_str_radix(hex, 16).unwrap())
                .collect();
            let place = |hash: u128| ((hash * 3) >> 64) as u32;
            assert_eq!((place(bounds[0]), place(bounds[1] - 1)), (shard.place, shard.place));
        }
    }
}
