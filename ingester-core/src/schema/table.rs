//! A kind's tables: the main one, the table of its history, and its companions: for labels, for annotations, and for each column of many
//! values.

use super::field::Field;
use super::fingerprint::Fingerprint;
use super::ident::joined;
use super::limits;
use super::text::Text;
use super::{Absent, Form, Ident, Path, Printed, SqlType, Stays, Unit, WrittenName};
use std::time::Duration;

/// One column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: SqlType,
    /// Nullable in SQL. Indexed columns always are, because a new column is NULL until it is backfilled.
    pub nullable: bool,
    /// Its former name (`was = "..."`).
    pub was: Option<Ident>,
    /// The place of its value in the JSON of the object; `None` if it is not there, or the place is unknown.
    pub path: Option<Path>,
    /// A function makes its value from the JSON at the path (`with = function`).
    pub computed: bool,
    /// Which of its stored values stay, whatever the object has.
    pub stays: Stays,
    /// The stored value when the object has no value.
    pub absent: Absent,
    /// The unit in which it counts a quantity; `None` if it has something else.
    pub unit: Option<Unit>,
    /// The names of the values of an enum; empty for anything else, and where they are not known.
    pub names: &'static [&'static str],
    /// How a table of objects prints it.
    pub printed: Printed,
}

impl Column {
    /// A column without more than a name and a type.
    pub const fn plain(name: Ident, ty: SqlType, nullable: bool) -> Self {
        let absent = Absent::Unsaid;
        let stays = Stays::None;
        let printed = Printed::PLAIN;
        Column {
            name,
            ty,
            nullable,
            was: None,
            path: None,
            computed: false,
            stays,
            absent,
            unit: None,
            names: &[],
            printed,
        }
    }

    /// True if it has the value in the JSON at its path, as a number if that is a quantity: no function makes something else of it, and no
    /// earlier value stays.
    const fn is_as_in_json(&self) -> bool {
        !self.computed && self.stays.is_none()
    }

    /// True if a field is its path.
    const fn is_at(&self, field: &str) -> bool {
        match self.path {
            Some(path) => path.is(field),
            None => false,
        }
    }
}

/// A secondary key: its name, and the places of its columns in [`Table::columns`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// Its name, unique within the table.
    pub name: Ident,
    columns: [u16; limits::KEY_COLUMNS],
    len: u8,
}

impl Key {
    /// A key over the columns at these places.
    ///
    /// # Panics
    /// With more than 16 columns.
    #[track_caller]
    pub const fn new(name: Ident, places: &[u16]) -> Self {
        if places.len() > limits::KEY_COLUMNS {
            Text::new("key `").str(name.as_str()).str("` has more than 16 columns").fail()
        }
        let mut columns = [0; limits::KEY_COLUMNS];
        let mut i = 0;
        while i < places.len() {
            columns[i] = places[i];
            i += 1;
        }
        Key { name, columns, len: places.len() as u8 }
    }

    /// The key with one more column; unchanged if it has 16 already.
    const fn and(mut self, place: u16) -> Self {
        if (self.len as usize) < limits::KEY_COLUMNS {
            self.columns[self.len as usize] = place;
            self.len += 1;
        }
        self
    }

    /// The places of its columns in the table's columns.
    pub const fn columns(&self) -> &[u16] {
        self.columns.split_at(self.len as usize).0
    }
}

/// The tables of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// The kind whose tables they are.
    pub kind: &'static str,
    /// The main table.
    pub name: Ident,
    /// Its former name (`#[ingest(was = "...")]`), which also gives the former names of its companions.
    pub was: Option<Ident>,
    /// Its columns: [`BASE_COLUMNS`] first, then the indexed ones.
    pub columns: &'static [Column],
    /// Its columns of many values, each a [companion](Companion).
    pub many: &'static [Many],
    /// Its secondary keys; the primary key is `uid`.
    pub keys: &'static [Key],
    /// The table has companions for labels and annotations. Without them, both are in `json` alone.
    pub companions: bool,
    /// The limits of the history of its rows; `None` if no former versions are kept.
    pub history: Option<History>,
}

/// The history of a kind (`#[ingest(history = "...")]`): the versions that its rows had before the present one.
///
/// The present version is the row in the main table, which began at its `update_time`.
#[derive(Clone, Copy, Debug)]
pub struct History {
    /// How long after its end a version is kept; `None` for ever.
    pub keep: Option<Duration>,
    /// How many former versions of one object are kept, the last ones; `None` for any number.
    pub versions: Option<u32>,
    /// The table `<table>_history`: a row as it was, from `valid_from` up to `valid_to`, and by which `change` it ended. It has the columns of
    /// the main table at their places, with `valid_from` instead of `update_time`, and two more. Its primary key is `uid` and `valid_from`.
    pub table: &'static Table,
}

/// The end of the name of a table of former versions.
pub const HISTORY: &str = "history";

/// A companion table: it has any number of rows for each object, which are written together with the object's row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Companion {
    /// `<table>_labels`
    Labels,
    /// `<table>_annotations`
    Annotations,
    /// `<table>_<column>`: the values of a column of many values.
    Values(&'static Many),
}

impl Companion {
    /// Labels and annotations, in the order in which they are created and written.
    pub const OF_METADATA: [Companion; 2] = [Companion::Labels, Companion::Annotations];

    /// The end of the table's name.
    pub const fn suffix(self) -> &'static str {
        match self {
            Companion::Labels => "labels",
            Companion::Annotations => "annotations",
            Companion::Values(many) => many.name.as_str(),
        }
    }

    /// Its columns: `obj_uid`, `key` and `value`, without `key` for the values of a list. The first two are the primary key.
    pub const fn columns(self) -> &'static [Column] {
        match self {
            Companion::Labels => &LABEL_COLUMNS,
            Companion::Annotations => &ANNOTATION_COLUMNS,
            Companion::Values(many) => many.columns(),
        }
    }

    /// The columns of its primary key: the uid, and what tells the rows of one object apart.
    pub fn key_columns(self) -> &'static [Column] {
        &self.columns()[..2]
    }

    /// Their names.
    pub const fn primary_key(self) -> &'static [&'static str] {
        match self {
            Companion::Values(Many { form: Form::List, .. }) => &["obj_uid", "value"],
            Companion::Values(_) | Companion::Labels | Companion::Annotations => &["obj_uid", "key"],
        }
    }

    /// Its secondary keys: of labels and maps `key_value`, over key and value; of lists `value`, over value and uid.
    pub const fn keys(self) -> &'static [Key] {
        match self {
            Companion::Labels => &LABEL_KEYS,
            Companion::Annotations => &[],
            Companion::Values(Many { form: Form::List, .. }) => &LIST_KEYS,
            Companion::Values(_) => &LABEL_KEYS,
        }
    }
}

/// A column of many values (`#[index(many)]`): each value of a list or a map is a row of the table `<table>_<column>`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Many {
    /// Its name, with which the table's ends.
    pub name: Ident,
    /// Its former name (`was = "..."`).
    pub was: Option<Ident>,
    /// A list or a map.
    pub form: Form,
    /// The place of the list or map in the JSON of the object; `None` if it is not there, or the place is unknown.
    pub path: Option<Path>,
    /// A function makes it from the JSON at the path (`with = function`).
    pub computed: bool,
    /// Its place in [`Table::many`], and among the many values of each row.
    pub place: usize,
    /// `obj_uid`, `key` and `value`; of a list without `key`, and the last one does not count.
    columns: [Column; 3],
}

impl Many {
    /// A column of many values of type `ty`, without checks.
    pub const fn derived(
        name: Ident,
        was: Option<Ident>,
        form: Form,
        ty: SqlType,
        path: Option<Path>,
        computed: bool,
        place: usize,
    ) -> Self {
        let value = column("value", ty, false);
        let key = match form {
            Form::List => value,
            Form::Map => column("key", SqlType::VarChar(limits::LABEL_KEY_CHARACTERS), false),
        };
        Many { name, was, form, path, computed, place, columns: [LABEL_COLUMNS[0], key, value] }
    }

    /// Returns the rest of a field that begins with its name or with its path.
    const fn behind<'f>(&self, field: &'f str) -> Option<&'f str> {
        if let Some((written, rest)) = WrittenName::cut(field)
            && self.name.same_as(written.as_written())
        {
            return Some(rest);
        }
        match self.path {
            Some(path) if !self.computed => path.behind(field),
            _ => None,
        }
    }

    /// Sets the unit in which its values count quantities.
    #[must_use]
    pub const fn in_unit(mut self, unit: Option<Unit>) -> Self {
        self.columns[2].unit = unit;
        self
    }

    /// The unit in which its values count quantities.
    pub const fn unit(&self) -> Option<Unit> {
        self.columns[2].unit
    }

    /// The type of its values.
    pub const fn ty(&self) -> SqlType {
        self.columns[2].ty
    }

    /// The columns of its table: `obj_uid`, `key` and `value`; of a list without `key`.
    pub const fn columns(&self) -> &[Column] {
        match self.form {
            Form::List => self.columns.split_at(2).0,
            Form::Map => &self.columns,
        }
    }
}

const fn column(name: &str, ty: SqlType, nullable: bool) -> Column {
    Column::plain(Ident::new(name), ty, nullable)
}

/// A column whose value is in the object at `path`.
const fn column_at(path: &'static str, name: &str, ty: SqlType, nullable: bool) -> Column {
    let mut column = column(name, ty, nullable);
    column.path = Some(Path::new(path));
    column
}

/// The columns of every labels table.
const LABEL_COLUMNS: [Column; 3] = [
    column("obj_uid", SqlType::VarChar(64), false),
    column("key", SqlType::VarChar(limits::LABEL_KEY_CHARACTERS), false),
    column("value", SqlType::VarChar(limits::LABEL_VALUE_CHARACTERS), false),
];

const LABEL_KEYS: [Key; 1] = [Key::new(Ident::new("key_value"), &[1, 2])];

const LIST_KEYS: [Key; 1] = [Key::new(Ident::new("value"), &[1, 0])];

/// The columns of every annotations table. A value may have 256 KiB, more than TEXT holds.
const ANNOTATION_COLUMNS: [Column; 3] = [
    column("obj_uid", SqlType::VarChar(64), false),
    column("key", SqlType::VarChar(limits::LABEL_KEY_CHARACTERS), false),
    column("value", SqlType::MediumText, false),
];

/// The first columns of every main table.
pub const BASE_COLUMNS: [Column; 13] = [
    column_at("metadata.uid", "uid", SqlType::VarChar(64), false),
    column_at("apiVersion", "group_ver", SqlType::VarChar(128), false),
    column_at("metadata.namespace", "namespace", SqlType::VarChar(256), false),
    column_at("metadata.name", "name", SqlType::VarChar(256), false),
    column_at("metadata.resourceVersion", "res_version", SqlType::BigIntUnsigned, false),
    // NULL for objects of hand-written files, which have no `creationTimestamp`.
    column_at("metadata.creationTimestamp", "create_time", SqlType::DateTime, true),
    column("update_time", SqlType::DateTime, false),
    column("delete_time", SqlType::DateTime, true),
    column("evict_time", SqlType::DateTime, true),
    // NULL in rows that are not evicted, and in rows of releases that did not know the column.
    column("evict_confirmed", SqlType::Boolean, true),
    column("ingest_version", SqlType::IntUnsigned, false),
    column("proto", SqlType::LongBlob, true),
    column("json", SqlType::Json, false),
];

/// The places of the base columns in [`BASE_COLUMNS`].
pub mod base {
    /// `uid`
    pub const UID: usize = 0;
    /// `group_ver`
    pub const GROUP_VER: usize = 1;
    /// `namespace`
    pub const NAMESPACE: usize = 2;
    /// `name`
    pub const NAME: usize = 3;
    /// `res_version`
    pub const RES_VERSION: usize = 4;
    /// `create_time`
    pub const CREATE_TIME: usize = 5;
    /// `update_time`
    pub const UPDATE_TIME: usize = 6;
    /// `delete_time`
    pub const DELETE_TIME: usize = 7;
    /// `evict_time`
    pub const EVICT_TIME: usize = 8;
    /// `evict_confirmed`
    pub const EVICT_CONFIRMED: usize = 9;
    /// `ingest_version`
    pub const INGEST_VERSION: usize = 10;
    /// `proto`
    pub const PROTO: usize = 11;
    /// `json`
    pub const JSON: usize = 12;
}

/// The keys that the table of every kind has: the name of each, and the places of its columns among [`BASE_COLUMNS`].
pub const BASE_KEYS: [(&str, &[u16]); 6] = [
    ("namespace_name", &[base::NAMESPACE as u16, base::NAME as u16]),
    // The newest objects of a namespace, whatever its share of the table.
    ("namespace_create_time", &[base::NAMESPACE as u16, base::CREATE_TIME as u16]),
    ("create_time", &[base::CREATE_TIME as u16]),
    ("update_time", &[base::UPDATE_TIME as u16]),
    ("delete_time", &[base::DELETE_TIME as u16]),
    (
        NARROW_KEY,
        &[
            base::UID as u16,
            base::RES_VERSION as u16,
            base::INGEST_VERSION as u16,
            base::DELETE_TIME as u16,
            base::EVICT_TIME as u16,
            base::EVICT_CONFIRMED as u16,
            base::NAMESPACE as u16,
            base::GROUP_VER as u16,
        ],
    ),
];

/// The base key that has what is read of many rows at once, in the order of their uids: their versions and states, and whose they are. Its
/// entries have about 100 bytes, a row with its object has kilobytes. It has all columns that the statements which name it read.
pub const NARROW_KEY: &str = "uid_version";

/// Where the paths of the three groups of fields begin in the object. Fields of a spec and of the metadata say it themselves; a
/// status struct may also be used elsewhere, so its fields cannot know it.
const ROOTS: [&str; 3] = ["", "status", ""];

/// The parts of a table that a derive knows. [`TableParts::columns`] and [`TableParts::keys`] make the table from them.
#[derive(Clone, Copy)]
pub struct TableParts {
    /// The indexed fields of the spec, the status and the metadata.
    pub fields: [&'static [Field]; 3],
    /// The names of the columns of each composite key.
    pub keys: &'static [&'static [&'static str]],
    /// The stored value when an object has no value, in columns without an option of their own.
    pub absent: Absent,
    /// The names of the columns that tables of objects print first, in this order.
    pub printed: &'static [&'static str],
}

impl TableParts {
    /// The parts of a table with the columns of these fields only.
    pub const fn of(fields: &'static [Field]) -> Self {
        TableParts { fields: [fields, &[], &[]], keys: &[], absent: Absent::Unsaid, printed: &[] }
    }

    /// True if all columns are known. If not, an error has been reported already.
    pub(super) const fn all_known(&self) -> bool {
        Field::all_known(self.fields[0]) && Field::all_known(self.fields[1]) && Field::all_known(self.fields[2])
    }

    /// How many columns the table has.
    pub const fn column_count(&self) -> usize {
        let parts = Field::count(self.fields[0]) + Field::count(self.fields[1]) + Field::count(self.fields[2]);
        BASE_COLUMNS.len() + parts - self.many_count()
    }

    /// How many columns of many values it has.
    pub const fn many_count(&self) -> usize {
        Field::count_many(self.fields[0]) + Field::count_many(self.fields[1]) + Field::count_many(self.fields[2])
    }

    /// The table's columns of many values.
    ///
    /// # Panics
    /// If `N` is not [`TableParts::many_count`]; the derive passes it.
    pub const fn many<const N: usize>(&self) -> [Many; N] {
        let none = Many::derived(Ident::new("value"), None, Form::List, SqlType::VarChar(255), None, false, 0);
        let mut all = [none; N];
        let mut n = 0;
        let mut group = 0;
        while group < self.fields.len() {
            let mut i = 0;
            while i < self.fields[group].len() {
                let field = &self.fields[group][i];
                let mut p = 0;
                while p < field.shape.parts.len() {
                    if let Some(form) = field.shape.parts[p].many {
                        all[n] = Many::derived(
                            field.name(p),
                            field.former_name(p),
                            form,
                            field.part_type(p),
                            field.part_path(p, ROOTS[group]),
                            field.part_computed(p),
                            n,
                        )
                        .in_unit(field.part_unit(p));
                        n += 1;
                    }
                    p += 1;
                }
                i += 1;
            }
            group += 1;
        }
        assert!(n == N);
        all
    }

    /// How many secondary keys the table has.
    pub const fn key_count(&self) -> usize {
        let mut count = BASE_KEYS.len() + self.keys.len();
        let mut group = 0;
        while group < self.fields.len() {
            let mut i = 0;
            while i < self.fields[group].len() {
                let field = &self.fields[group][i];
                let mut p = 0;
                while p < field.shape.parts.len() {
                    if field.begins_key(p) {
                        count += 1;
                    }
                    p += 1;
                }
                i += 1;
            }
            group += 1;
        }
        count
    }

    /// Returns a fingerprint of the indexed columns and the sources of their values; their order, keys and former names do not count.
    pub const fn fingerprint(&self) -> Fingerprint {
        let mut fingerprint = Fingerprint::NONE;
        let mut group = 0;
        while group < self.fields.len() {
            let mut i = 0;
            while i < self.fields[group].len() {
                let field = &self.fields[group][i];
                let mut p = 0;
                while p < field.shape.parts.len() {
                    let column = field.part_fingerprint(p);
                    let column = match field.part_absent(p, self.absent) {
                        // NULL is what an `Option` without a value is anyhow.
                        Absent::Unsaid | Absent::Type | Absent::Null => column,
                        Absent::Empty => column.text("absent is empty"),
                    };
                    fingerprint = fingerprint.beside(column.number(group as u64));
                    p += 1;
                }
                i += 1;
            }
            group += 1;
        }
        fingerprint
    }

    /// The position of a column among the printed ones.
    const fn position(&self, column: Ident) -> Option<u16> {
        let mut i = 0;
        while i < self.printed.len() {
            if column.same_as(self.printed[i]) {
                return Some(i as u16);
            }
            i += 1;
        }
        None
    }

    /// The table's columns.
    ///
    /// # Panics
    /// If `N` is not [`TableParts::column_count`]; the derive passes it.
    pub const fn columns<const N: usize>(&self) -> [Column; N] {
        let mut columns = [BASE_COLUMNS[0]; N];
        let mut n = 0;
        while n < BASE_COLUMNS.len() {
            columns[n] = BASE_COLUMNS[n];
            n += 1;
        }
        let mut group = 0;
        while group < self.fields.len() {
            let mut i = 0;
            while i < self.fields[group].len() {
                let field = &self.fields[group][i];
                let mut p = 0;
                while p < field.shape.parts.len() {
                    if field.shape.parts[p].many.is_some() {
                        p += 1;
                        continue;
                    }
                    columns[n] = Column {
                        name: field.name(p),
                        ty: field.part_type(p),
                        nullable: true,
                        was: field.former_name(p),
                        path: field.part_path(p, ROOTS[group]),
                        computed: field.part_computed(p),
                        stays: field.part_stays(p),
                        absent: field.part_absent(p, self.absent),
                        unit: field.part_unit(p),
                        names: field.part_names(p),
                        printed: Printed { position: self.position(field.name(p)), ..field.part_printed(p) },
                    };
                    n += 1;
                    p += 1;
                }
                i += 1;
            }
            group += 1;
        }
        assert!(n == N);
        columns
    }

    /// The table's secondary keys, over `columns`.
    ///
    /// A column that cannot be in a key is left out of it; the checks report it on its own tokens.
    ///
    /// # Panics
    /// If `N` is not [`TableParts::key_count`]; the derive passes it.
    pub const fn keys<const N: usize>(&self, columns: &[Column]) -> [Key; N] {
        let mut keys = [Key::new(Ident::new("namespace_name"), &[]); N];
        let mut n = 0;
        while n < BASE_KEYS.len() {
            keys[n] = Key::new(Ident::new(BASE_KEYS[n].0), BASE_KEYS[n].1);
            n += 1;
        }
        let mut place = BASE_COLUMNS.len();
        let mut group = 0;
        while group < self.fields.len() {
            let mut i = 0;
            while i < self.fields[group].len() {
                let field = &self.fields[group][i];
                let mut p = 0;
                while p < field.shape.parts.len() {
                    if field.begins_key(p) {
                        keys[n] = Key::new(field.key_name(p), &[]);
                        let mut other = p;
                        while other < field.shape.parts.len() {
                            if field.same_key(p, other) {
                                keys[n] = keys[n].and((place + field.columns_before(other)) as u16);
                            }
                            other += 1;
                        }
                        n += 1;
                    }
                    p += 1;
                }
                place += field.columns_before(field.shape.parts.len());
                i += 1;
            }
            group += 1;
        }
        let mut i = 0;
        while i < self.keys.len() {
            keys[n] = composite(self.keys[i], columns);
            n += 1;
            i += 1;
        }
        assert!(n == N);
        keys
    }
}

/// A composite key named after its columns.
const fn composite(names: &[&str], columns: &[Column]) -> Key {
    let mut key = Key::new(composite_name(names), &[]);
    let mut i = 0;
    while i < names.len() {
        let mut c = 0;
        while c < columns.len() {
            if columns[c].name.same_as(names[i]) {
                key = key.and(c as u16);
            }
            c += 1;
        }
        i += 1;
    }
    key
}

/// The name of a key over several columns: their names joined, or if that is too long, the first name and the number of others.
pub const fn composite_name(names: &[&str]) -> Ident {
    let mut text = Text::new("");
    let mut i = 0;
    while i < names.len() {
        text = if i == 0 { text.str(names[i]) } else { text.str("_").str(names[i]) };
        i += 1;
    }
    if text.as_str().len() > limits::IDENTIFIER_BYTES && !names.is_empty() {
        // `_and_15`, the longest end, has 7 bytes.
        let head =
            names[0].split_at(if names[0].len() > 56 && names[0].is_char_boundary(56) { 56 } else { names[0].len() }).0;
        text = Text::new(head).str("_and_").number(names.len() as u64 - 1);
    }
    Ident::tolerant(text.as_str(), "")
}

impl Table {
    /// The tables of a derived kind: nothing is checked, as in [`Field::derived`].
    pub const fn derived(kind: &'static str, name: &str, columns: &'static [Column], keys: &'static [Key]) -> Self {
        let name = Ident::tolerant(name, "");
        Table { kind, name, was: None, columns, many: &[], keys, companions: true, history: None }
    }

    /// Adds columns of many values.
    #[must_use]
    pub const fn with_many(mut self, many: &'static [Many]) -> Self {
        self.many = many;
        self
    }

    /// Removes the companions for labels and annotations.
    #[must_use]
    pub const fn without_companions(mut self) -> Self {
        self.companions = false;
        self
    }

    /// Its companions, in the order in which they are created and written: labels, annotations, and the columns of many values.
    pub fn companions(&self) -> impl Iterator<Item = Companion> + use<> {
        let of_metadata = if self.companions { &Companion::OF_METADATA[..] } else { &[] };
        of_metadata.iter().copied().chain(self.many.iter().map(Companion::Values))
    }

    /// How many companions it has.
    pub(crate) const fn companion_count(&self) -> usize {
        self.many.len() + if self.companions { Companion::OF_METADATA.len() } else { 0 }
    }

    /// The companion at a place among [`Table::companions`], for constant evaluation.
    ///
    /// # Panics
    /// If there are fewer.
    pub(crate) const fn companion_at(&self, place: usize) -> Companion {
        let of_metadata = if self.companions { Companion::OF_METADATA.len() } else { 0 };
        if place < of_metadata {
            Companion::OF_METADATA[place]
        } else {
            Companion::Values(&self.many[place - of_metadata])
        }
    }

    /// Returns true if this is the name of the main table, of the table of its history or of a companion. Companions for labels and
    /// annotations count even if the kind does not have them.
    pub(crate) const fn has_table(&self, name: &str) -> bool {
        let mut is = self.name.same_as(name);
        is |= self.history.is_some() && joined(self.name.as_str(), HISTORY).as_str().eq_ignore_ascii_case(name);
        let mut c = 0;
        while c < Companion::OF_METADATA.len() {
            is |= self.companion(Companion::OF_METADATA[c]).same_as(name);
            c += 1;
        }
        let mut m = 0;
        while m < self.many.len() {
            is |= joined(self.name.as_str(), self.many[m].name.as_str()).as_str().eq_ignore_ascii_case(name);
            m += 1;
        }
        is
    }

    /// Sets a former name, without checks.
    pub const fn was_unchecked(mut self, was: &str) -> Self {
        self.was = Some(Ident::tolerant(was, ""));
        self
    }

    /// The name of a companion table.
    pub const fn companion(&self, companion: Companion) -> Ident {
        match companion {
            Companion::Labels | Companion::Annotations => Ident::join(self.name.as_str(), companion.suffix()),
            // The table's check reports a name that is too long.
            Companion::Values(_) => Ident::tolerant(self.name.as_str(), companion.suffix()),
        }
    }

    /// Returns the former names that a companion table may have: the name of the kind's table may have changed, the column's name, or both.
    pub fn companion_was(&self, companion: Companion) -> Vec<Ident> {
        let suffix_was = match companion {
            Companion::Values(many) => many.was,
            Companion::Labels | Companion::Annotations => None,
        };
        let suffix = Ident::new(companion.suffix());
        let mut formers = Vec::new();
        for (table, suffix) in [(self.was, suffix_was), (Some(self.name), suffix_was), (self.was, Some(suffix))] {
            if let (Some(table), Some(suffix)) = (table, suffix) {
                formers.push(Ident::tolerant(table.as_str(), suffix.as_str()));
            }
        }
        formers
    }

    /// The most bytes of a row by MySQL's rules, without the contents of TEXT, BLOB and JSON.
    pub(crate) const fn row_bytes(&self) -> u32 {
        let mut bytes = self.columns.len() as u32 / 8 + 1;
        let mut i = 0;
        while i < self.columns.len() {
            bytes += self.columns[i].ty.row_bytes();
            i += 1;
        }
        bytes
    }

    /// The indexed columns, without the base columns.
    pub fn indexed(&self) -> &'static [Column] {
        &self.columns[BASE_COLUMNS.len()..]
    }

    /// The indexes of the indexed columns in [`Table::columns`], in the order in which tables of objects print them.
    pub fn printed(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (BASE_COLUMNS.len()..self.columns.len()).collect();
        places.sort_by_key(|place| self.columns[*place].printed.position.unwrap_or(u16::MAX));
        places
    }

    /// The place of the column of this name in [`Table::columns`]. Upper and lower case are the same, as in SQL.
    pub fn by_name(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name.same_as(name))
    }

    /// The place of the column that a field of a query names: by the column's name, or else by the path of the value in the JSON, in each
    /// spelling of [`WrittenName`]. Of several columns of a path, the first one, and one that counts a quantity after all others. A column
    /// that a function makes of what is there has something else, and so may one whose values stay.
    pub const fn place(&self, field: &str) -> Option<usize> {
        let mut c = 0;
        while c < self.columns.len() {
            if self.columns[c].name.same_as(field) {
                return Some(c);
            }
            c += 1;
        }
        let mut counted = None;
        c = 0;
        while c < self.columns.len() {
            let column = &self.columns[c];
            if column.is_as_in_json() && column.is_at(field) {
                if column.unit.is_none() {
                    return Some(c);
                }
                if counted.is_none() {
                    counted = Some(c);
                }
            }
            c += 1;
        }
        counted
    }

    /// The column of many values that a field of a query names, by its name or path: all of its values, or what a map has for a key, as in
    /// `spec.limits.cpu` and `limits["cpu"]`.
    pub const fn many<'f>(&self, field: &'f str) -> Option<(&'static Many, Option<WrittenName<'f>>)> {
        let all = self.many;
        let mut m = 0;
        while m < all.len() {
            let many = &all[m];
            if let Some(behind) = many.behind(field) {
                if matches!(behind.as_bytes(), b"" | b"[*]") {
                    return Some((many, None));
                }
                if matches!(many.form, Form::Map)
                    && let Some(key) = WrittenName::key(behind)
                {
                    return Some((many, Some(key)));
                }
            }
            m += 1;
        }
        None
    }

    /// The first column that is made of the value in the JSON at the path of a field, but has something else.
    pub const fn made_of(&self, field: &str) -> Option<&'static Ident> {
        let columns = self.columns;
        let all = self.many;
        let mut c = 0;
        while c < columns.len() {
            if !columns[c].is_as_in_json() && columns[c].is_at(field) {
                return Some(&columns[c].name);
            }
            c += 1;
        }
        let mut m = 0;
        while m < all.len() {
            if let Some(path) = all[m].path
                && all[m].computed
                && path.is(field)
            {
                return Some(&all[m].name);
            }
            m += 1;
        }
        None
    }
}
