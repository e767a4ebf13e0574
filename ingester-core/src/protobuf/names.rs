//! A hash table by name, made once and asked for every member of every object.

/// A table by name. The names come from the descriptors, so they cannot be chosen to collide.
#[derive(Debug)]
pub(super) struct Names<V> {
    /// Their number is a power of two, at most half of them are taken. A free one has the empty name.
    slots: Box<[(Box<str>, V)]>,
    shift: u32,
}

impl<V: Copy + Default> Names<V> {
    /// A table of these; of a name that comes twice the last counts.
    pub(super) fn new(names: impl IntoIterator<Item = (Box<str>, V)>) -> Self {
        let names: Vec<_> = names.into_iter().collect();
        let size = (names.len() * 2).next_power_of_two().max(2);
        let free = || (Box::<str>::default(), V::default());
        let mut table =
            Names { slots: std::iter::repeat_with(free).take(size).collect(), shift: u64::BITS - size.ilog2() };
        for (name, value) in names {
            let place = table.place(&name);
            table.slots[place] = (name, value);
        }
        table
    }

    /// The slot of a name, or the free one that it would take.
    #[inline]
    fn place(&self, name: &str) -> usize {
        let mask = self.slots.len() - 1;
        let mut place = (hash(name.as_bytes()) >> self.shift) as usize & mask;
        while !self.slots[place].0.is_empty() && *self.slots[place].0 != *name {
            place = (place + 1) & mask;
        }
        place
    }

    #[inline]
    pub(super) fn get(&self, name: &str) -> Option<V> {
        // The empty name marks a free slot.
        let (found, value) = &self.slots[self.place(name)];
        (!found.is_empty()).then_some(*value)
    }
}

/// A hash of the length and the first and last eight bytes, which tell the fields of one message apart well enough.
#[inline]
fn hash(name: &[u8]) -> u64 {
    let (first, last) = match (name.first_chunk::<8>(), name.last_chunk::<8>()) {
        (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        _ => (name.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)), 0),
    };
    // The high bits of a product depend on all bits of its factors (Knuth, "multiplicative hashing").
    (first ^ last.rotate_left(23) ^ name.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_the_table_are_found() {
        let words = ["a", "ab", "name", "namespace", "sourcePipelineRun", "sourcePipelineRuns", "", "é"];
        let table = Names::new(words.iter().zip(0_u16..).map(|(word, value)| (Box::from(*word), value)));
        for (word, value) in words.iter().zip(0..) {
            assert_eq!(table.get(word), (!word.is_empty()).then_some(value), "{word}");
        }
        for word in ["b", "nam", "names", "source_PipelineRun", "sourcePipelineRun\0"] {
            assert_eq!(table.get(word), None, "{word}");
        }
        assert_eq!(Names::<u16>::new([]).get("a"), None);
        let twice = Names::new([("a".into(), 1_u16), ("a".into(), 2)]);
        assert_eq!(twice.get("a"), Some(2));
        // As many as there may be in one message, and more: every one of them is found.
        let many = Names::new((0..3000_u16).map(|n| (format!("field{n}OfAMessage").into(), n)));
        assert!((0..3000).all(|n| many.get(&format!("field{n}OfAMessage")) == Some(n)));
    }
}
