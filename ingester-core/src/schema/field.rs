//! The columns that `#[index]` on a field asks for, before they are part of a table.

use super::text::Text;
use super::{Absent, Fingerprint, Form, Ident, Path, Printed, SqlType, Stays, Unit};

/// How a column takes part in keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKey {
    /// Its own key.
    Own,
    /// One key over all parts of the value with the same suffix, which ends the key's name; without a suffix, the key has the
    /// value's name.
    Joint(Option<Ident>),
    /// No key.
    None,
}

/// One column of a value: a scalar has one part without a suffix, a composite has several.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The end of the column's name, such as `namespace` in `owner_namespace`; none for a scalar.
    pub suffix: Option<Ident>,
    /// The former suffix (`was = "..."` on a field of a composite).
    pub was: Option<Ident>,
    /// The column's type.
    pub ty: SqlType,
    /// How the column takes part in keys.
    pub key: PartKey,
    /// The source of the part's value; [`Fingerprint::NONE`] if that is unknown.
    pub source: Fingerprint,
    /// The place of the part in the JSON of the value; `None` if that is not known.
    pub path: Option<Path>,
    /// A function makes the part's value from the JSON at the path.
    pub computed: bool,
    /// Which stored values stay, whatever the object has.
    pub stays: Stays,
    /// The stored value if there is no value; `None` if the kind decides this for all of its columns.
    pub absent: Option<Absent>,
    /// The unit in which it counts a quantity.
    pub unit: Option<Unit>,
    /// The names of an enum's values; empty for anything else.
    pub names: &'static [&'static str],
    /// The part can be absent in a value that is there; then its column is NULL.
    pub optional: bool,
    /// The column is NULL wherever its field is absent.
    pub null_if_absent: bool,
    /// The part has the values of a list or a map, which are in a separate table; `None` for one value.
    pub many: Option<Form>,
    /// How a table of objects prints it.
    pub printed: Printed,
}

impl Part {
    /// The one part of a list or a map of values of this shape. A value of several columns cannot be one of many: it gets a type that no
    /// column can have (see [`check_many`](super::check::check_many)).
    pub const fn many(form: Form, values: Shape) -> Self {
        let scalar = values.is_scalar() && values.parts[0].many.is_none();
        let (ty, unit) = if scalar { (values.parts[0].ty, values.parts[0].unit) } else { (SqlType::Json, None) };
        Part { key: PartKey::None, many: Some(form), unit, ..Part::scalar(ty) }
    }

    /// The one part of a scalar.
    const fn scalar(ty: SqlType) -> Self {
        Part {
            suffix: None,
            was: None,
            ty,
            key: PartKey::Own,
            source: Fingerprint::NONE,
            path: Some(Path::HERE),
            computed: false,
            stays: Stays::None,
            absent: None,
            unit: None,
            names: &[],
            optional: false,
            null_if_absent: false,
            many: None,
            printed: Printed::PLAIN,
        }
    }

    /// The one part of an enum whose values are stored by these names.
    pub const fn of_names(names: &'static [&'static str]) -> Self {
        Part { names, ..Part::scalar(SqlType::VarChar(255)) }
    }
}

/// The columns of a Rust type that is a [`ColumnValue`](crate::value::ColumnValue).
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The parts, in the order in which the values are written.
    pub parts: &'static [Part],
}

impl Shape {
    /// The shape of a scalar: one column of type `ty` with its own key.
    pub const fn scalar(ty: SqlType) -> Self {
        // One constant per type, because constant evaluation cannot return a reference to a value that it makes here.
        macro_rules! one {
            ($ty:expr) => {
                Shape { parts: const { &[Part::scalar($ty)] } }
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
            SqlType::IntUnsigned
            | SqlType::VarChar(_)
            | SqlType::Text
            | SqlType::MediumText
            | SqlType::LongBlob
            | SqlType::Json => {
                Text::new("a scalar is BOOLEAN, INT, BIGINT, BIGINT UNSIGNED, DOUBLE, VARCHAR(255) or DATETIME(6); ")
                    .str("build another Shape from a constant slice of parts")
                    .fail()
            }
        }
    }

    /// The shape of a quantity that is counted in this unit: one column of type BIGINT with its own key.
    pub const fn quantity(unit: Unit) -> Self {
        const fn part(unit: Unit) -> Part {
            Part { unit: Some(unit), ..Part::scalar(SqlType::BigInt) }
        }
        match unit {
            Unit::Whole => Shape { parts: const { &[part(Unit::Whole)] } },
            Unit::Milli => Shape { parts: const { &[part(Unit::Milli)] } },
        }
    }

    /// True for one column without a suffix.
    pub(super) const fn is_scalar(&self) -> bool {
        self.parts.len() == 1 && self.parts[0].suffix.is_none()
    }
}

/// The properties of a field's values that follow from their Rust type.
#[derive(Clone, Copy, Debug)]
pub struct ValueType {
    /// Its columns.
    pub shape: Shape,
    /// All columns can be absent at once: the type is an `Option`, or the way to it leads through one.
    pub optional: bool,
    /// All columns are NULL wherever the field at the end of the way is absent.
    pub null_if_absent: bool,
}

/// One `#[index]`: a name, a shape, and the options.
///
/// [`Field::new`], [`Field::ty`] and [`Field::was`] check their arguments. The derives use [`Field::derived`], which checks nothing,
/// and call each check on the tokens that it is about.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The column's name, or the beginning of its columns' names.
    pub(super) column: &'static str,
    /// The shape of the field's Rust type; without parts if the type has none, which rustc reports.
    pub(super) shape: Shape,
    /// The shape is known. If not, columns may be missing, and checks that need them report nothing.
    known: bool,
    /// The whole value can be absent.
    optional: bool,
    /// The whole value is NULL wherever its field is absent.
    null_if_absent: bool,
    /// `type = "..."`.
    pub(super) ty: Option<SqlType>,
    /// False with `key = false`.
    key: bool,
    /// `was = "..."`: the former name of `column`.
    pub(super) was: Option<&'static str>,
    /// Where the value comes from: the Rust field, its type, the path, the function, the revision.
    source: Fingerprint,
    /// Where the value is in the JSON of what holds the field: names with dots between them. `None` if that is not known.
    path: Option<&'static str>,
    /// A function makes the value from the JSON at the path.
    computed: bool,
    /// `keep` or `first`.
    stays: Stays,
    /// `absent = "..."`.
    absent: Option<Absent>,
    /// `header = "..."`, `wide` and `age`.
    pub(super) printed: Printed,
}

impl Field {
    /// `key = false`.
    pub const fn without_key(mut self) -> Self {
        self.key = false;
        self
    }

    /// A field of a derive: nothing is checked, so that each mistake is only reported by the check that is about it. `ty` is `None` for a
    /// type that cannot be stored.
    pub const fn derived(column: &'static str, ty: Option<ValueType>) -> Self {
        let mut field = Field::unknown(column);
        if let Some(ValueType { shape, optional, null_if_absent }) = ty {
            field.shape = shape;
            field.optional = optional;
            field.null_if_absent = null_if_absent;
            field.known = true;
        }
        field
    }

    /// A column of a file: nothing is checked. `ty` is `None` if another mistake hides it, and then no other one follows from that. `optional`
    /// says whether it can have no value.
    pub const fn declared(column: &'static str, ty: Option<SqlType>, many: Option<Form>, optional: bool) -> Self {
        const TEXT: Shape = Shape::scalar(SqlType::VarChar(255));
        let shape = match many {
            None => TEXT,
            Some(Form::List) => Shape { parts: const { &[Part::many(Form::List, TEXT)] } },
            Some(Form::Map) => Shape { parts: const { &[Part::many(Form::Map, TEXT)] } },
        };
        let mut field = Field::derived(column, Some(ValueType { shape, optional, null_if_absent: true }));
        // Any column may have this one.
        field.ty = Some(match ty {
            Some(ty) => ty,
            None => SqlType::Int,
        });
        field
    }

    /// A field of unknown columns, because its attribute could not be read.
    pub const fn unknown(column: &'static str) -> Self {
        Field {
            column,
            shape: Shape { parts: &[] },
            known: false,
            optional: false,
            null_if_absent: false,
            ty: None,
            key: true,
            was: None,
            source: Fingerprint::NONE,
            path: None,
            computed: false,
            stays: Stays::None,
            absent: None,
            printed: Printed::PLAIN,
        }
    }

    /// Sets the source of the value, in any words that change whenever the value might.
    #[must_use]
    pub const fn from(mut self, source: &str) -> Self {
        self.source = Fingerprint::NONE.text(source);
        self
    }

    /// Sets the place of the value in the JSON: names with dots between them, from the object, or in a status or a nested struct from
    /// there.
    #[must_use]
    pub const fn at(mut self, path: &'static str) -> Self {
        self.path = Some(path);
        self
    }

    /// As [`Field::at`], for a value that a function makes from the JSON there.
    #[must_use]
    pub const fn computed_at(mut self, path: &'static str) -> Self {
        self.computed = true;
        self.at(path)
    }

    /// Sets `keep` or `first`: which stored values stay.
    #[must_use]
    pub const fn stays(mut self, stays: Stays) -> Self {
        self.stays = stays;
        self
    }

    /// Sets `absent = "..."`: the stored value if there is no value, whatever the kind decides for its other columns.
    #[must_use]
    pub const fn absent(mut self, absent: Absent) -> Self {
        self.absent = Some(absent);
        self
    }

    /// Sets `header = "..."`: the heading in tables of objects.
    #[must_use]
    pub const fn header(mut self, header: &'static str) -> Self {
        self.printed.header = Some(header);
        self
    }

    /// Sets `wide`: only wide tables of objects have the column, or all of them.
    #[must_use]
    pub const fn wide(mut self, wide: bool) -> Self {
        self.printed.wide = Some(wide);
        self
    }

    /// Sets `age`: tables of objects print the age of the time.
    #[must_use]
    pub const fn age(mut self) -> Self {
        self.printed.age = true;
        self
    }

    /// Says that a function makes the value, from an unknown source.
    #[must_use]
    pub const fn computed(mut self) -> Self {
        self.computed = true;
        self
    }

    /// As [`Field::ty`], without checks.
    pub const fn ty_unchecked(mut self, ty: &str) -> Self {
        if self.shape.is_scalar() {
            self.ty = SqlType::try_parse(ty);
        }
        self
    }

    /// As [`Field::was`], without checks.
    pub const fn was_unchecked(mut self, was: &'static str) -> Self {
        self.was = Some(was);
        self
    }

    /// True if all columns of these fields are known. If not, an error has been reported already.
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

    /// The former name of the column, or the former beginning of its columns' names.
    pub(super) const fn former(&self) -> Option<&'static str> {
        self.was
    }

    /// The end of the name of part `i`'s column; empty for a scalar.
    pub(super) const fn suffix(&self, i: usize) -> &str {
        match &self.shape.parts[i].suffix {
            Some(suffix) => suffix.as_str(),
            None => "",
        }
    }

    /// The name of part `i`'s column.
    pub(super) const fn name(&self, i: usize) -> Ident {
        Ident::tolerant(self.column, self.suffix(i))
    }

    /// The former name of part `i`'s column, if it has one.
    pub(super) const fn former_name(&self, i: usize) -> Option<Ident> {
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

    /// The type of part `i`'s column.
    pub(super) const fn part_type(&self, i: usize) -> SqlType {
        match self.ty {
            Some(ty) => ty,
            None => self.shape.parts[i].ty,
        }
    }

    /// Returns the source of part `i`'s value.
    const fn part_source(&self, i: usize) -> Fingerprint {
        self.source.and(self.shape.parts[i].source)
    }

    /// Returns the place of part `i`'s value in the JSON of an object that has these fields at `root`.
    pub(super) const fn part_path(&self, i: usize, root: &'static str) -> Option<Path> {
        let Some(path) = self.path else { return None };
        // The parts of what a function returns are nowhere in the JSON.
        if self.computed {
            return Some(Path::joined(root, path, None));
        }
        let parts: &'static [Part] = self.shape.parts;
        match &parts[i].path {
            Some(rest) => Some(Path::joined(root, path, Some(rest))),
            None => None,
        }
    }

    /// True if a function makes the value of part `i`.
    pub(super) const fn part_computed(&self, i: usize) -> bool {
        self.computed || self.shape.parts[i].computed
    }

    /// Returns which stored values of part `i` stay: as set for the whole value, or else for the part.
    pub(super) const fn part_stays(&self, i: usize) -> Stays {
        match self.stays {
            Stays::None => self.shape.parts[i].stays,
            stays => stays,
        }
    }

    /// Returns the stored value for part `i` if it has no value. `of_kind` is the kind's option for all of its columns.
    pub(super) const fn part_absent(&self, i: usize, of_kind: Absent) -> Absent {
        match (self.absent, self.shape.parts[i].absent) {
            (Some(absent), _) | (None, Some(absent)) => absent,
            (None, None) => of_kind,
        }
    }

    /// The unit in which part `i` counts a quantity.
    pub(super) const fn part_unit(&self, i: usize) -> Option<Unit> {
        self.shape.parts[i].unit
    }

    /// The names that part `i`'s column may hold, if it is an enum.
    pub(super) const fn part_names(&self, i: usize) -> &'static [&'static str] {
        self.shape.parts[i].names
    }

    /// How a table of objects prints part `i`'s column.
    pub(super) const fn part_printed(&self, i: usize) -> Printed {
        self.printed.or(self.shape.parts[i].printed)
    }

    /// True if `keep` or `first` is set for the whole value.
    pub(super) const fn stays_as_a_whole(&self) -> bool {
        !self.stays.is_none()
    }

    /// True if part `i` can be absent, so its column can be NULL in the row of an object that was read.
    pub(super) const fn part_optional(&self, i: usize) -> bool {
        self.optional || self.shape.parts[i].optional
    }

    /// True if part `i`'s column is NULL wherever its field is absent.
    pub(super) const fn part_null_if_absent(&self, i: usize) -> bool {
        if self.shape.is_scalar() { self.null_if_absent } else { self.shape.parts[i].null_if_absent }
    }

    /// True if nothing can be said about absent values: the field is not known, or has many values.
    pub(super) const fn says_nothing_of_absence(&self, i: usize) -> bool {
        !self.known || self.shape.parts[i].many.is_some()
    }

    /// The columns that its value has.
    pub(crate) const fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns a fingerprint of part `i`'s column and of the source of its value.
    pub(super) const fn part_fingerprint(&self, i: usize) -> Fingerprint {
        let length = match self.part_type(i).length() {
            Some(length) => length as u64,
            None => 0,
        };
        let column = Fingerprint::NONE.text(self.name(i).as_str()).text(self.part_type(i).word()).number(length);
        let column = column.and(self.part_source(i));
        let column = match self.shape.parts[i].many {
            None => column,
            Some(Form::List) => column.text("list"),
            Some(Form::Map) => column.text("map"),
        };
        match self.part_stays(i) {
            Stays::None => column,
            stays => column.text(stays.word()),
        }
    }

    /// How part `i`'s column takes part in keys.
    pub(super) const fn part_key(&self, i: usize) -> PartKey {
        if self.key { self.shape.parts[i].key } else { PartKey::None }
    }

    /// How many of the parts before part `i` are columns of the main table.
    pub(super) const fn columns_before(&self, i: usize) -> usize {
        let mut p = 0;
        let mut count = 0;
        while p < i {
            if self.shape.parts[p].many.is_none() {
                count += 1;
            }
            p += 1;
        }
        count
    }

    /// The name of the key that part `i` is in; the column's name for its own key.
    pub(super) const fn key_name(&self, i: usize) -> Ident {
        match self.part_key(i) {
            PartKey::Joint(Some(suffix)) => Ident::tolerant(self.column, suffix.as_str()),
            PartKey::Joint(None) => Ident::tolerant(self.column, ""),
            PartKey::Own | PartKey::None => self.name(i),
        }
    }

    /// True if parts `a` and `b` are in one key.
    pub(super) const fn same_key(&self, a: usize, b: usize) -> bool {
        match (self.part_key(a), self.part_key(b)) {
            (PartKey::Own, PartKey::Own) => a == b,
            (PartKey::Joint(None), PartKey::Joint(None)) => true,
            (PartKey::Joint(Some(a)), PartKey::Joint(Some(b))) => a.same(&b),
            _ => false,
        }
    }

    /// True if a key begins with part `i`.
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

    /// How many of their columns have many values.
    pub(super) const fn count_many(fields: &[Field]) -> usize {
        let mut i = 0;
        let mut count = 0;
        while i < fields.len() {
            let parts = fields[i].shape.parts.len();
            count += parts - fields[i].columns_before(parts);
            i += 1;
        }
        count
    }

    /// Counts the columns of these fields, including the columns of many values.
    pub const fn count(fields: &[Field]) -> usize {
        let mut i = 0;
        let mut count = 0;
        while i < fields.len() {
            count += fields[i].shape.parts.len();
            i += 1;
        }
        count
    }

    /// These fields as the parts of a composite, with one key over all of them.
    ///
    /// # Panics
    /// If `N` is not [`Field::count`] of them; the derives pass it.
    pub const fn joint_parts<const N: usize>(fields: &[Field]) -> [Part; N] {
        Field::parts(fields, true)
    }

    /// These fields as the parts of a nested struct, each with its own key.
    ///
    /// # Panics
    /// If `N` is not [`Field::count`] of them; the derives pass it.
    pub const fn own_parts<const N: usize>(fields: &[Field]) -> [Part; N] {
        Field::parts(fields, false)
    }

    const fn parts<const N: usize>(fields: &[Field], joint: bool) -> [Part; N] {
        let mut parts = [Part::scalar(SqlType::Boolean); N];
        let mut i = 0;
        let mut n = 0;
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
                    source: fields[i].part_source(p),
                    path: fields[i].part_path(p, ""),
                    computed: fields[i].part_computed(p),
                    stays: fields[i].part_stays(p),
                    absent: match fields[i].absent {
                        Some(absent) => Some(absent),
                        None => fields[i].shape.parts[p].absent,
                    },
                    unit: fields[i].shape.parts[p].unit,
                    names: fields[i].part_names(p),
                    optional: fields[i].part_optional(p),
                    null_if_absent: fields[i].part_null_if_absent(p),
                    many: fields[i].shape.parts[p].many,
                    printed: fields[i].part_printed(p),
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
