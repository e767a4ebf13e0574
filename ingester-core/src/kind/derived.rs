//! Items for the derives' code, which describes a kind with them. Nothing else needs them: they are in `__private`.

use super::{AFTER, Indexed, RETENTION, read_history};
use crate::object::Meta;
use crate::protobuf::DescriptorSet;
use crate::schema::{Field, Text};
use crate::value::Values;
use ingester_wire::duration::{Bounds, DurationError};
use serde::de::DeserializeOwned;
use std::time::Duration;

/// A struct that rows are made from: the spec of a custom resource, or a projection of the whole object. Derived:
/// `#[derive(Ingestable)]`.
pub trait RowSource: Indexed {
    /// Returns true if the object gets a row (`#[ingest(filter = function)]`).
    fn has_row(&self) -> bool {
        true
    }

    /// Adds the values of the columns that come from the metadata (`#[index(path = "metadata...")]` on the struct).
    fn write_metadata(_: &Meta, _: &mut Values) {}
}

/// A struct that objects, or parts of them, are read into.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from an object's JSON",
    label = "this struct does not derive `Deserialize`",
    note = "objects are read by serde: add `serde::Deserialize` to the derives of `{Self}`"
)]
pub trait FromJson: DeserializeOwned {}

// The user has to add a derive; the condition of this one impl would mislead.
#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> FromJson for T {}

/// The meaning of the name `DESCRIPTORS` in a crate whose root has no such static.
pub struct NoDescriptors;

impl NoDescriptors {
    /// Never returns.
    ///
    /// # Panics
    /// Always; in constant evaluation that is a compile error.
    #[allow(clippy::panic, reason = "a panic of constant evaluation is the derives' way to report")]
    #[track_caller]
    pub const fn __descriptors(&'static self) -> &'static DescriptorSet {
        panic!(
            "the crate's root has no static `DESCRIPTORS` for this message: say where it is described with `descriptors = path`"
        )
    }
}

/// The value of `#[ingest(retention = "...")]`. A text that [`refuse_retention`] refuses gives 0, so that only this refusal is reported.
pub const fn retention(text: &str) -> Duration {
    duration(RETENTION, text)
}

/// The value of `#[ingest(evict(after = "..."))]`, as in [`retention`].
pub const fn after(text: &str) -> Duration {
    duration(AFTER, text)
}

const fn duration(bounds: Bounds, text: &str) -> Duration {
    match bounds.read(text) {
        Ok(duration) => duration,
        Err(_) => Duration::ZERO,
    }
}

/// The value of `#[ingest(history = "...")]`, as in [`retention`].
pub const fn history(text: &str) -> Option<Duration> {
    match read_history(text) {
        Ok(keep) => keep,
        Err(_) => None,
    }
}

/// Checks the text of [`retention`].
///
/// # Panics
/// If it is not a duration within the bounds; in a constant that is a compile error.
#[track_caller]
pub const fn refuse_retention(text: &str) {
    if let Err(error) = RETENTION.read(text) {
        refused("`retention` is how long after its object's deletion a row is kept: ", error)
    }
}

/// Checks the text of [`after`].
///
/// # Panics
/// As [`refuse_retention`].
#[track_caller]
pub const fn refuse_after(text: &str) {
    if let Err(error) = AFTER.read(text) {
        refused("`after` is how long ago the time of `since` must be: ", error)
    }
}

/// Checks the text of [`history`].
///
/// # Panics
/// If it is neither a duration within the bounds nor `forever`; in a constant that is a compile error.
#[track_caller]
pub const fn refuse_history(text: &str) {
    if let Err(error) = read_history(text) {
        refused("`history` is how long former versions are kept, `forever` or ", error)
    }
}

/// Refuses a duration.
#[track_caller]
const fn refused(what: &str, error: DurationError) -> ! {
    let mut message = Text::new(what);
    let pieces = error.pieces();
    let mut i = 0;
    while i < pieces.len() {
        message = message.str(pieces[i]);
        i += 1;
    }
    message.fail()
}

/// The status of a kind that has none.
#[derive(serde::Deserialize)]
pub struct NoStatus {}

impl Indexed for NoStatus {
    const FIELDS: &'static [Field] = &[];

    fn write(&self, _: &mut Values) {}
}

/// The indexed fields of `T` where it has some. As with [`Layout`](crate::value::derived::Layout), the derives' constants
/// take `<FieldsOf<T>>::FIELDS`, so that a status which does not derive [`Indexed`] is one error and hides no other.
pub struct FieldsOf<T>(std::marker::PhantomData<T>);

impl<T: Indexed> FieldsOf<T> {
    /// The type's indexed fields.
    pub const FIELDS: &'static [Field] = T::FIELDS;

    /// True if the type can be read from an object that has none of its fields.
    pub const DEFAULTED: bool = T::DEFAULTED;
}

/// The fallback for every type, see [`FieldsOf`].
pub trait NoFields {
    /// One field that is not known.
    const FIELDS: &'static [Field] = &[Field::unknown("")];

    /// Not known.
    const DEFAULTED: bool = false;
}

impl<T> NoFields for FieldsOf<T> {}
