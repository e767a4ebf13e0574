//! The constructors of names and fields that refuse what a check reports. In a constant that is a compile error.

use super::check::{check_base, check_identifier, check_name, check_type, check_was};
use super::fault::{Named, refuse};
use super::field::{Field, Shape, ValueType};
use super::ident::{Ident, joined};
use super::limits::IDENTIFIER_BYTES;
use super::types::SqlType;

impl Ident {
    /// The identifier `name`.
    ///
    /// # Panics
    /// If `name` is empty, longer than 63 bytes or has other characters; in a constant that is a compile error.
    #[track_caller]
    pub const fn new(name: &str) -> Self {
        Self::join(name, "")
    }

    /// `head` and `tail` with an underscore between them; only one of them if the other is empty.
    ///
    /// # Panics
    /// As [`Ident::new`].
    #[track_caller]
    pub const fn join(head: &str, tail: &str) -> Self {
        let text = joined(head, tail);
        refuse(check_identifier(Named::Any, text.as_str()));
        Self::cut(text.as_str(), IDENTIFIER_BYTES)
    }
}

impl Field {
    /// `#[index]` without options.
    ///
    /// # Panics
    /// If the name of a column is not an identifier, or is one of [`BASE_COLUMNS`](super::BASE_COLUMNS); in a constant that is a
    /// compile error.
    #[track_caller]
    pub const fn new(column: &'static str, shape: Shape) -> Self {
        let field = Field::derived(column, Some(ValueType { shape, optional: false, null_if_absent: false }));
        refuse(check_name(&field));
        refuse(check_base(&field));
        field
    }

    /// `type = "..."`.
    ///
    /// # Panics
    /// If the value is a composite, or the type does not hold values of the field; in a constant that is a compile error.
    #[track_caller]
    pub const fn ty(mut self, ty: &'static str) -> Self {
        refuse(check_type(&self, ty));
        self.ty = SqlType::try_parse(ty);
        self
    }

    /// `was = "..."`.
    ///
    /// # Panics
    /// If the former name is not an identifier; in a constant that is a compile error.
    #[track_caller]
    pub const fn was(mut self, was: &'static str) -> Self {
        self.was = Some(was);
        refuse(check_was(&self));
        self
    }
}
