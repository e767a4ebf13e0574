//! Uids in few bytes: a uid is a UUID in its canonical text, so 16 bytes hold it.

use uuid::Uuid;

/// Returns a uid as 16 bytes, in the same order as the texts; `None` if it is another text. Different texts have different bytes.
pub(super) fn pack(uid: &str) -> Option<Uuid> {
    let parsed = Uuid::try_parse(uid).ok()?;
    let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
    (parsed.hyphenated().encode_lower(&mut text) == uid).then_some(parsed)
}

/// Returns the text of a packed uid.
pub(super) fn unpack(uid: &Uuid) -> Box<str> {
    let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
    (&*uid.hyphenated().encode_lower(&mut text)).into()
}
