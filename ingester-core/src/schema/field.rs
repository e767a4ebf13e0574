//! What `#[index]` on one field asks for, before it is laid out as columns of a table.

use super::text::Text;
use super::{Ident, SqlType};

/// How a column takes part in keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKey {
    /// A key of its own.
    Own,
    /// One key together with the other joint parts of the same value, in order.
    Joint,
    /// No key.
    None,
}

/// One column of a value: a scalar has one part without a suffix, a composite has several.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// What follows the column's name, empty for a scalar: `namespace` in `owner_namespace`.
    pub suffix: Suffix,
    /// The column's type.
    pub ty: SqlType,
    /// The column's part in keys.
    pub key: PartKey,
}

/// The end of a column's name, or nothing.
pub type Suffix = Option<Ident>;

/// How a Rust type is laid out in columns: constant data of [`ColumnValue`](crate::value::ColumnValue).
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The parts, in the order in which the values are written.
    pub parts: &'static [Part],
}

impl Shape {
    /// The layout of a scalar: one column of type `ty` with a key of its own.
    pub const fn scalar(ty: SqlType) -> Self {
        // One constant per type: constant evaluation cannot borrow a value made here for ever.
        macro_rules! one {
            ($ty:expr) => {
                Shape { parts: &[Part { suffix: None, ty: $ty, key: PartKey::Own }] }
            };
        }
        match ty {
            SqlType::Boolean => one!(SqlType::Boolean),
            SqlType::Int => one!(SqlType::Int),
            SqlType::BigInt => one!(SqlType::BigInt),
            SqlType::BigIntUnsigned => one!(SqlType::BigIntUnsigned),
            SqlType::Double => one!(SqlType::Double),
            SqlType::VarChar(255) => one!(SqlType::VarChar(255)),
            SqlType::DateTime => one!(SqlType::DateTime),
            _ => Text::new("a scalar is BOOLEAN, INT, BIGINT, BIGINT UNSIGNED, DOUBLE, VARCHAR(255) or DATETIME(6); ")
                .str("build another Shape from a constant slice of parts")
                .fail(),
        }
    }

    /// Whether this is one column without a suffix.
    pub const fn is_scalar(&self) -> bool {
        self.parts.len() == 1 && self.parts[0].suffix.is_none()
    }
}

/// One `#[index]`: a name, a layout, and what the options changed.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The column's name, or what the names of its columns begin with.
    pub column: &'static str,
    /// The layout of the field's Rust type.
    pub shape: Shape,
    /// `type = "..."`.
    pub ty: Option<SqlType>,
    /// `key = false` makes this false.
    pub key: bool,
    /// `was = "..."`: the name that `column` replaces.
    pub was: Option<&'static str>,
}

impl Field {
    /// `#[index]` without options.
    pub const fn new(column: &'static str, shape: Shape) -> Self {
        Field { column, shape, ty: None, key: true, was: None }
    }

    /// `type = "..."`.
    ///
    /// # Panics
    /// When the value is a composite or the type holds other values than the field's: a compile error.
    pub const fn ty(mut self, ty: &'static str) -> Self {
        let ty = SqlType::parse(ty);
        if !self.shape.is_scalar() {
            Text::new("`type` on `")
                .str(self.column)
                .str("`, which is several columns: give the type on the fields of the composite")
                .fail()
        }
        if !self.shape.parts[0].ty.may_become(ty) {
            Text::new("`type` on `")
                .str(self.column)
                .str("` does not fit the field: a text column holds text, an integer column integers, and so on; convert with `with = function`")
                .fail()
        }
        self.ty = Some(ty);
        self
    }

    /// `key = false`.
    pub const fn without_key(mut self) -> Self {
        self.key = false;
        self
    }

    /// `was = "..."`.
    pub const fn was(mut self, was: &'static str) -> Self {
        self.was = Some(was);
        self
    }

    /// The name of the column for part `i`.
    pub const fn name(&self, i: usize) -> Ident {
        Self::joined(self.column, &self.shape.parts[i].suffix)
    }

    /// The former name of the column for part `i`.
    pub const fn former_name(&self, i: usize) -> Option<Ident> {
        match self.was {
            Some(was) => Some(Self::joined(was, &self.shape.parts[i].suffix)),
            None => None,
        }
    }

    const fn joined(head: &str, suffix: &Suffix) -> Ident {
        match suffix {
            Some(suffix) => Ident::join(head, suffix.as_str()),
            None => Ident::new(head),
        }
    }

    /// The type of the column for part `i`.
    pub const fn part_type(&self, i: usize) -> SqlType {
        match self.ty {
            Some(ty) => ty,
            None => self.shape.parts[i].ty,
        }
    }

    /// The part in keys of the column for part `i`.
    pub const fn part_key(&self, i: usize) -> PartKey {
        if self.key { self.shape.parts[i].key } else { PartKey::None }
    }

    /// How many columns these fields make.
    pub const fn count(fields: &[Field]) -> usize {
        let (mut i, mut count) = (0, 0);
        while i < fields.len() {
            count += fields[i].shape.parts.len();
            i += 1;
        }
        count
    }

    /// These fields as the parts of a composite; `joint` gives them one key together, otherwise each keeps its own.
    ///
    /// # Panics
    /// When `N` is not [`Field::count`] of them; the derives pass it.
    pub const fn parts<const N: usize>(fields: &[Field], joint: bool) -> [Part; N] {
        let mut parts = [Part { suffix: None, ty: SqlType::Boolean, key: PartKey::None }; N];
        let (mut i, mut n) = (0, 0);
        while i < fields.len() {
            let mut p = 0;
            while p < fields[i].shape.parts.len() {
                let key = match fields[i].part_key(p) {
                    PartKey::None => PartKey::None,
                    key => {
                        if joint {
                            PartKey::Joint
                        } else {
                            key
                        }
                    }
                };
                parts[n] = Part { suffix: Some(fields[i].name(p)), ty: fields[i].part_type(p), key };
                n += 1;
                p += 1;
            }
            i += 1;
        }
        assert!(n == N);
        parts
    }
}
