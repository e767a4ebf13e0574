//! The fingerprint of a kind's definition: its columns, and the sources of their values.

/// A hash that stays the same as long as its input does. It is made in constant evaluation, and does not depend on the compiler, the
/// platform or the order of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(u64);

/// FNV-1a of 64 bits: <https://datatracker.ietf.org/doc/html/draft-eastlake-fnv>.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

impl Fingerprint {
    /// The fingerprint of nothing.
    pub const NONE: Fingerprint = Fingerprint(OFFSET);

    /// Appends a text.
    #[must_use]
    pub const fn text(self, text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut fingerprint = self.number(bytes.len() as u64);
        let mut i = 0;
        while i < bytes.len() {
            fingerprint = fingerprint.byte(bytes[i]);
            i += 1;
        }
        fingerprint
    }

    /// Appends a number.
    #[must_use]
    pub const fn number(mut self, number: u64) -> Self {
        let bytes = number.to_le_bytes();
        let mut i = 0;
        while i < bytes.len() {
            self = self.byte(bytes[i]);
            i += 1;
        }
        self
    }

    /// Appends another fingerprint.
    #[must_use]
    pub const fn and(self, other: Fingerprint) -> Self {
        self.number(other.0)
    }

    /// Adds another fingerprint; the order of such additions makes no difference.
    #[must_use]
    pub const fn beside(self, other: Fingerprint) -> Self {
        // The multiplications and shifts of MurmurHash3's end spread each one over all bits before they are added.
        let mut spread = other.0;
        spread = (spread ^ (spread >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        spread = (spread ^ (spread >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        Fingerprint(self.0.wrapping_add(spread ^ (spread >> 33)))
    }

    /// The number itself.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    const fn byte(self, byte: u8) -> Self {
        Fingerprint((self.0 ^ byte as u64).wrapping_mul(PRIME))
    }
}

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl serde::Serialize for Fingerprint {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Fingerprint {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        let digits = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = digits.then(|| u64::from_str_radix(&text, 16).ok()).flatten();
        number.map(Fingerprint).ok_or_else(|| serde::de::Error::custom(format!("`{text}` is not a fingerprint")))
    }
}

#[cfg(test)]
mod tests {
    use super::Fingerprint;

    #[test]
    fn a_fingerprint_is_the_same_for_ever() {
        // Lock files have them: another number would write every row again.
        let fingerprint = Fingerprint::NONE.text("owner").number(2).beside(Fingerprint::NONE.text("a"));
        assert_eq!(fingerprint.to_string(), "9320cb9aded04cde");
        let json = serde_json::to_string(&fingerprint).unwrap();
        assert_eq!(serde_json::from_str::<Fingerprint>(&json).unwrap(), fingerprint);
        assert!(serde_json::from_str::<Fingerprint>("\"+123456789012345\"").is_err());
    }

    #[test]
    fn the_order_matters_behind_and_not_beside() {
        let [a, b] = ["a", "b"].map(|text| Fingerprint::NONE.text(text));
        assert_eq!(Fingerprint::NONE.beside(a).beside(b), Fingerprint::NONE.beside(b).beside(a));
        assert_ne!(Fingerprint::NONE.and(a).and(b), Fingerprint::NONE.and(b).and(a));
        assert_ne!(Fingerprint::NONE.text("ab").text("c"), Fingerprint::NONE.text("a").text("bc"));
        assert_ne!(Fingerprint::NONE.beside(a), Fingerprint::NONE);
    }
}
