//! What `#[index]` on one field asks for, before it is laid out as columns of a table.

use super::check::{check_base, check_name, check_type, check_was};
use super::text::Text;
use super::{Ident, SqlType};

/// How a column takes part in keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKey {
    /// A key of its own.
    Own,
    /// One key together with the other parts of the same value that say the same: the end of the key's name, nothing
    /// where the key is named after the value alone.
    Joint(Suffix),
    /// No key.
    None,
}

/// One column of a value: a scalar has one part without a suffix, a composite has several.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// What follows the column's name, empty for a scalar: `namespace` in `owner_namespace`.
    pub suffix: Suffix,
    /// The suffix that this one replaces (`was = "..."` on a field of a composite).
    pub was: Suffix,
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
                Shape { parts: &[Part { suffix: None, was: None, ty: $ty, key: PartKey::Own }] }
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
///
/// [`Field::new`], [`Field::ty`] and [`Field::was`] check what they are given. The derives use [`Field::derived`], which
/// does not, and the checks beside it, each on the tokens it is about.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The column's name, or what the names of its columns begin with.
    pub(super) column: &'static str,
    /// The layout of the field's Rust type; no parts where that type has none and rustc has said so.
    pub(super) shape: Shape,
    /// Whether the layout is known. Where it is not, columns may be missing, and checks that would miss them are silent.
    known: bool,
    /// `type = "..."`.
    ty: Option<SqlType>,
    /// `key = false` makes this false.
    key: bool,
    /// `was = "..."`: the name that `column` replaces.
    was: Option<&'static str>,
}

impl Field {
    /// `#[index]` without options.
    ///
    /// # Panics
    /// When a column's name would be no identifier or one that every table has: a compile error.
    pub const fn new(column: &'static str, shape: Shape) -> Self {
        let field = Field { column, shape, known: true, ty: None, key: true, was: None };
        check_name(&field);
        check_base(&field);
        field
    }

    /// `type = "..."`.
    ///
    /// # Panics
    /// When the value is a composite or the type holds other values than the field's: a compile error.
    pub const fn ty(mut self, ty: &'static str) -> Self {
        check_type(&self, ty);
        self.ty = SqlType::try_parse(ty);
        self
    }

    /// `key = false`.
    pub const fn without_key(mut self) -> Self {
        self.key = false;
        self
    }

    /// `was = "..."`.
    ///
    /// # Panics
    /// When the former name is no identifier: a compile error.
    pub const fn was(mut self, was: &'static str) -> Self {
        self.was = Some(was);
        check_was(&self);
        self
    }

    /// A field as the derives make it: with nothing checked, so that a mistake is reported by the check that is about
    /// it and nowhere else. `shape` is `None` where the type has no layout.
    pub const fn derived(column: &'static str, shape: Option<Shape>) -> Self {
        let mut field = Field::unknown(column);
        if let Some(shape) = shape {
            field.shape = shape;
            field.known = true;
        }
        field
    }

    /// A field whose columns are not known, because its attribute could not be read.
    pub const fn unknown(column: &'static str) -> Self {
        Field { column, shape: Shape { parts: &[] }, known: false, ty: None, key: true, was: None }
    }

    /// As [`Field::ty`], with nothing checked.
    pub const fn ty_unchecked(mut self, ty: &str) -> Self {
        if self.shape.is_scalar() {
            self.ty = SqlType::try_parse(ty);
        }
        self
    }

    /// As [`Field::was`], with nothing checked.
    pub const fn was_unchecked(mut self, was: &'static str) -> Self {
        self.was = Some(was);
        self
    }

    /// Whether all columns of these fields are known; where one's are not, an error has been reported already.
    pub(super) const fn all_known(fields: &[Field]) -> bool {
        let mut i = 0;
        while i < fields.len() {
            if !fields[i].known {
                return false;
            }
            i += 1;
        }
        true
    }

    /// The former name of the field, or of the beginning of its columns' names.
    pub(super) const fn former(&self) -> Option<&'static str> {
        self.was
    }

    /// The end of the name of the column for part `i`, empty for a scalar.
    pub(super) const fn suffix(&self, i: usize) -> &str {
        match &self.shape.parts[i].suffix {
            Some(suffix) => suffix.as_str(),
            None => "",
        }
    }

    /// The name of the column for part `i`.
    pub const fn name(&self, i: usize) -> Ident {
        Ident::tolerant(self.column, self.suffix(i))
    }

    /// The former name of the column for part `i`, where it has another one now.
    pub const fn former_name(&self, i: usize) -> Option<Ident> {
        let part = &self.shape.parts[i];
        if self.was.is_none() && part.was.is_none() {
            return None;
        }
        let head = match self.was {
            Some(was) => was,
            None => self.column,
        };
        let tail = match &part.was {
            Some(was) => was.as_str(),
            None => self.suffix(i),
        };
        Some(Ident::tolerant(head, tail))
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

    /// The name of the key that part `i` is in: the column's for a key of its own.
    pub(super) const fn key_name(&self, i: usize) -> Ident {
        match self.part_key(i) {
            PartKey::Joint(Some(suffix)) => Ident::tolerant(self.column, suffix.as_str()),
            PartKey::Joint(None) => Ident::tolerant(self.column, ""),
            PartKey::Own | PartKey::None => self.name(i),
        }
    }

    /// Whether parts `a` and `b` are in one key.
    pub(super) const fn same_key(&self, a: usize, b: usize) -> bool {
        match (self.part_key(a), self.part_key(b)) {
            (PartKey::Own, PartKey::Own) => a == b,
            (PartKey::Joint(None), PartKey::Joint(None)) => true,
            (PartKey::Joint(Some(a)), PartKey::Joint(Some(b))) => a.same(&b),
            _ => false,
        }
    }

    /// Whether a key begins with part `i`.
    pub(super) const fn begins_key(&self, i: usize) -> bool {
        let mut earlier = 0;
        while earlier < i {
            if self.same_key(earlier, i) {
                return false;
            }
            earlier += 1;
        }
        !matches!(self.part_key(i), PartKey::None)
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

    /// These fields as the parts of a composite, with one key over all of them.
    ///
    /// # Panics
    /// When `N` is not [`Field::count`] of them; the derives pass it.
    pub const fn joint_parts<const N: usize>(fields: &[Field]) -> [Part; N] {
        Field::parts(fields, true)
    }

    /// These fields as the parts of a nested struct, each with its own key.
    ///
    /// # Panics
    /// When `N` is not [`Field::count`] of them; the derives pass it.
    pub const fn own_parts<const N: usize>(fields: &[Field]) -> [Part; N] {
        Field::parts(fields, false)
    }

    const fn parts<const N: usize>(fields: &[Field], joint: bool) -> [Part; N] {
        let mut parts = [Part { suffix: None, was: None, ty: SqlType::Boolean, key: PartKey::None }; N];
        let (mut i, mut n) = (0, 0);
        while i < fields.len() {
            let mut p = 0;
            while p < fields[i].shape.parts.len() {
                let key = match (fields[i].part_key(p), joint) {
                    (PartKey::None, _) => PartKey::None,
                    (_, true) => PartKey::Joint(None),
                    (PartKey::Own, false) => PartKey::Own,
                    (PartKey::Joint(_), false) => PartKey::Joint(Some(fields[i].key_name(p))),
                };
                parts[n] = Part {
                    suffix: Some(fields[i].name(p)),
                    was: fields[i].former_name(p),
                    ty: fields[i].part_type(p),
                    key,
                };
                n += 1;
                p += 1;
            }
            i += 1;
        }
        assert!(n == N);
        parts
    }
}
