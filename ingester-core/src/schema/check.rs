//! Checks of tables in constant evaluation.
//!
//! The derives call each check on the tokens that it is about. So the compiler shows all mistakes at once, each at its place. No
//! mistake is shown twice, because a check does not report what another one reports.

use super::field::{Field, PartKey};
use super::ident::joined;
use super::limits;
use super::table::{BASE_COLUMNS, BASE_KEYS, Companion, Form, Table, TableParts, composite_name};
use super::text::{Text, assert_identifier};
use super::{Absent, Ident, SqlType, Stays};

/// Fails if the name of a column is not an identifier.
///
/// # Panics
/// With the mistake and how to fix it; in a constant that is a compile error.
#[track_caller]
pub const fn check_name(field: &Field) {
    if !field.column.is_empty() {
        assert_identifier("column", field.column, "column");
    }
    let mut p = 0;
    while p < field.shape.parts.len() {
        assert_identifier("column", joined(field.column, field.suffix(p)).as_str(), "column");
        if matches!(field.part_key(p), PartKey::Joint(None)) && field.column.is_empty() {
            Text::new("a key over the columns of a composite is named by `column`, which is empty: give a name or `key = false`").fail()
        }
        p += 1;
    }
}

/// Fails if a column or key of the field has the name of one that every table has.
///
/// # Panics
/// With the name; in a constant that is a compile error.
#[track_caller]
pub const fn check_base(field: &Field) {
    if let Some(clash) = base_clash(field) {
        clash.str(": give this one another name with `column = \"...\"`").fail()
    }
}

/// As [`check_base`], for all fields of a status together: the struct may also be used elsewhere than as a status, so its own
/// derive cannot call [`check_base`].
///
/// # Panics
/// With the names; in a constant that is a compile error.
#[track_caller]
pub const fn check_base_of_status(fields: &[Field]) {
    let mut clashes = Text::new("");
    let mut i = 0;
    while i < fields.len() {
        if let Some(clash) = base_clash(&fields[i]) {
            clashes = if clashes.as_str().is_empty() { clash } else { clashes.str("; ").str(clash.as_str()) };
        }
        i += 1;
    }
    if !clashes.as_str().is_empty() {
        clashes.str(": give another name with `column = \"...\"` in the status").fail()
    }
}

const fn base_clash(field: &Field) -> Option<Text> {
    let mut p = 0;
    while p < field.shape.parts.len() {
        let mut b = 0;
        while b < BASE_COLUMNS.len() {
            let name = BASE_COLUMNS[b].name;
            if same_joined((field.column, field.suffix(p)), (name.as_str(), "")) {
                return Some(
                    Text::new("column `").str(name.as_str()).str("` is one of the columns that every table has"),
                );
            }
            b += 1;
        }
        if field.begins_key(p) && is_base_key(field.key_name(p).as_str()) {
            return Some(
                Text::new("key `").str(field.key_name(p).as_str()).str("` is one of the keys that every table has"),
            );
        }
        p += 1;
    }
    None
}

/// Fails if `type = "..."` is not a type, or does not hold the field's values.
///
/// # Panics
/// With the mistake and how to fix it; in a constant that is a compile error.
#[track_caller]
pub const fn check_type(field: &Field, ty: &str) {
    let ty = SqlType::parse(ty);
    if field.shape.parts.is_empty() {
        return;
    }
    if !field.shape.is_scalar() {
        Text::new("`type` on `")
            .str(field.column)
            .str("`, which is several columns: give the type on the fields of the composite")
            .fail()
    }
    if !field.shape.parts[0].ty.may_become(ty) {
        Text::new("`type` on `")
            .str(field.column)
            .str("` does not fit the field: a text column holds text, an integer column integers, and so on; convert with `with = function`")
            .fail()
    }
}

/// Fails if a key of the field is too long or has too many columns. Keys of a nested struct are checked there.
///
/// # Panics
/// With the mistake and how to fix it; in a constant that is a compile error.
#[track_caller]
pub const fn check_key(field: &Field) {
    let mut p = 0;
    while p < field.shape.parts.len() {
        let own = field.suffix(p).is_empty() || matches!(field.part_key(p), PartKey::Joint(None));
        if own && field.begins_key(p) {
            check_key_of_part(field, p);
        }
        p += 1;
    }
}

#[track_caller]
const fn check_key_of_part(field: &Field, first: usize) {
    let (mut bytes, mut columns) = (0, 0);
    let mut p = first;
    while p < field.shape.parts.len() {
        if field.same_key(first, p) {
            let Some(more) = field.part_type(p).key_bytes() else {
                Text::new("column `")
                    .str(field.name(p).as_str())
                    .str("` cannot have a key, its type has no bounded length: use `type = \"VARCHAR(n)\"` or `key = false`")
                    .fail()
            };
            bytes += more;
            columns += 1;
        }
        p += 1;
    }
    let key = field.key_name(first);
    if bytes > limits::KEY_BYTES {
        Text::new("the key on `")
            .str(key.as_str())
            .str("` takes ")
            .number(bytes as u64)
            .str(" bytes (4 a character), InnoDB allows 3072: ")
            .str(if columns == 1 {
                "use a shorter type (VARCHAR(768) is the longest) or `key = false`"
            } else {
                "use shorter types on the fields of the composite, or `key = false`"
            })
            .fail()
    }
    if columns > limits::KEY_COLUMNS {
        Text::new("the key on `")
            .str(key.as_str())
            .str("` has ")
            .number(columns as u64)
            .str(" columns, InnoDB allows 16: use `key = false` here or on fields of the composite")
            .fail()
    }
}

/// Fails if the values of a column of many values cannot be in a key. Those of a nested struct are checked there.
///
/// # Panics
/// With the mistake and how to fix it; in a constant that is a compile error.
#[track_caller]
pub const fn check_many(field: &Field) {
    let mut p = 0;
    while p < field.shape.parts.len() {
        if let Some(form) = field.shape.parts[p].many
            && field.suffix(p).is_empty()
        {
            check_many_values(field, p, form);
        }
        p += 1;
    }
}

#[track_caller]
const fn check_many_values(field: &Field, p: usize, form: Form) {
    let name = field.name(p);
    let about = Text::new("column `").str(name.as_str()).str("` of many values: ");
    let ty = field.part_type(p);
    if matches!(ty, SqlType::Json) {
        about.str("each of them is several columns: make a list or map of texts with `many, with = function`").fail()
    }
    if !ty.may_be_many() {
        about
            .str("they may be texts, integers or times: make a list or map of these with `many, with = function`")
            .fail()
    }
    let Some(bytes) = ty.key_bytes() else {
        about.str("they are in a key, and their type has no bounded length: use `type = \"VARCHAR(n)\"`").fail()
    };
    // With the uid, or with the key of a map.
    let (beside, most) = match form {
        Form::List => (256, MOST_OF_LIST),
        Form::Map => (limits::LABEL_KEY_CHARACTERS as u32 * limits::CHARACTER_BYTES, MOST_OF_MAP),
    };
    if bytes + beside > limits::KEY_BYTES {
        about
            .str("their key takes ")
            .number((bytes + beside) as u64)
            .str(" bytes (4 a character), InnoDB allows 3072: use a shorter type (VARCHAR(")
            .number(most as u64)
            .str(") is the longest)")
            .fail()
    }
}

/// The longest VARCHAR that a list may have: its key has the uid beside it, of 64 characters.
pub const MOST_OF_LIST: u32 = limits::KEY_BYTES / limits::CHARACTER_BYTES - 64;

/// The longest VARCHAR that a map may have: its key has the map's key beside it.
pub const MOST_OF_MAP: u32 = limits::KEY_BYTES / limits::CHARACTER_BYTES - limits::LABEL_KEY_CHARACTERS as u32;

/// The most bytes in the name of a table of many values: the names of keys contain it on SQLite, and must not be cut.
pub const MANY_TABLE_BYTES: usize = limits::IDENTIFIER_BYTES - "__key_value".len();

/// Fails if the table of a column of many values cannot have its name.
///
/// # Panics
/// With the name; in a constant that is a compile error.
#[track_caller]
pub const fn check_many_tables(table: &Table) {
    let mut m = 0;
    while m < table.many.len() {
        let name = table.many[m].name;
        if name.same_as(Companion::Labels.suffix()) || name.same_as(Companion::Annotations.suffix()) {
            Text::new("column `")
                .str(name.as_str())
                .str("` of many values would have the table of the object's ")
                .str(name.as_str())
                .str(": give it another name with `column = \"...\"`")
                .fail()
        }
        let whole = joined(table.name.as_str(), name.as_str());
        if whole.as_str().len() > MANY_TABLE_BYTES {
            Text::new("column `")
                .str(name.as_str())
                .str("` of many values has the table `")
                .str(whole.as_str())
                .str("`, a name of ")
                .number(whole.as_str().len() as u64)
                .str(" bytes, and it may have ")
                .number(MANY_TABLE_BYTES as u64)
                .str(": give a shorter one with `column = \"...\"` or `table = \"...\"`")
                .fail()
        }
        if is_own_table(whole.as_str()) {
            Text::new("column `")
                .str(name.as_str())
                .str("` of many values has the table `")
                .str(whole.as_str())
                .str("`, which is one of the ingester's own: give another name with `column = \"...\"` or `table = \"...\"`")
                .fail()
        }
        m += 1;
    }
}

/// Whether a table of this name is one of the ingester's own.
pub const fn is_own_table(name: &str) -> bool {
    if let Some((start, _)) = name.as_bytes().split_at_checked(LEDGERS.len())
        && start.eq_ignore_ascii_case(LEDGERS.as_bytes())
    {
        return true;
    }
    let mut i = 0;
    while i < OWN_TABLES.len() {
        if OWN_TABLES[i].eq_ignore_ascii_case(name) {
            return true;
        }
        i += 1;
    }
    false
}

const OWN_TABLES: [&str; 4] = ["ingester_rejects", "ingester_backfills", "ingester_settings", "_sqlx_migrations"];

/// How the names of tables begin that record which migrations of a folder were run.
const LEDGERS: &str = "ingester_migrations_";

/// Fails if stored values of the field would stay where the object has none, and the object always has one.
///
/// # Panics
/// With the remedy; in a constant that is a compile error.
#[track_caller]
pub const fn check_stays(field: &Field) {
    if let Some((stays, column)) = stays_in_vain(field) {
        never_absent(stays, column).str("make the field an `Option`, or have `with = function` return one").fail()
    }
}

/// As [`check_stays`], for options within the composites and nested structs that these fields hold: only here it is known whether the
/// whole struct can be absent.
///
/// # Panics
/// With the column and the remedy; in a constant that is a compile error.
#[track_caller]
pub const fn check_parts_stay(fields: &[Field]) {
    let mut i = 0;
    while i < fields.len() {
        if !fields[i].stays_as_a_whole()
            && let Some((stays, column)) = stays_in_vain(&fields[i])
        {
            never_absent(stays, column).str("make its field an `Option`, or the one that holds the struct").fail()
        }
        i += 1;
    }
}

/// As [`check_stays`], for all fields of a status together: one that is read from nothing is always there, see
/// [`Indexed::DEFAULTED`](crate::kind::Indexed::DEFAULTED).
///
/// # Panics
/// With the column and the remedy; in a constant that is a compile error.
#[track_caller]
pub const fn check_stays_of_status(fields: &[Field], defaulted: bool) {
    let mut i = 0;
    while defaulted && i < fields.len() {
        if let Some((stays, column)) = stays_in_vain(&fields[i]) {
            never_absent(stays, column).str("make its field an `Option` in the status").fail()
        }
        i += 1;
    }
}

/// The first column whose values stay without ever being absent. Of a composite that stays as a whole, one column that can be absent is
/// reason enough.
const fn stays_in_vain(field: &Field) -> Option<(Stays, Ident)> {
    let mut found = None;
    let mut p = 0;
    while p < field.shape.parts.len() {
        let stays = field.part_stays(p);
        // Many values cannot stay, which the derives report.
        if !stays.is_none() && field.shape.parts[p].many.is_none() {
            match field.part_optional(p) {
                true if field.stays_as_a_whole() => return None,
                false if found.is_none() => found = Some((stays, field.name(p))),
                _ => {}
            }
        }
        p += 1;
    }
    found
}

const fn never_absent(stays: Stays, column: Ident) -> Text {
    let text = Text::new("`").str(stays.word()).str("` is for values that can be absent, and `").str(column.as_str());
    text.str("` always has one, at least its type's default, so the column is never NULL: ")
}

/// Fails if the field's type cannot do what is said of absent values, by the field itself or by its kind (`of_kind`).
///
/// # Panics
/// With the column and the remedy; in a constant that is a compile error.
pub const fn check_absent(field: &Field, of_kind: Absent) {
    if let Some(mistake) = absent_in_vain(field, of_kind) {
        mistake.fail()
    }
}

/// As [`check_absent`], for all fields of a status together.
///
/// # Panics
/// With the column and the remedy; in a constant that is a compile error.
pub const fn check_absent_of_status(fields: &[Field], of_kind: Absent) {
    let mut i = 0;
    while i < fields.len() {
        if let Some(mistake) = absent_in_vain(&fields[i], of_kind) {
            mistake.str(" (in the status)").fail()
        }
        i += 1;
    }
}

const fn absent_in_vain(field: &Field, of_kind: Absent) -> Option<Text> {
    let mut p = 0;
    while p < field.shape.parts.len() {
        let column = field.name(p);
        match field.part_absent(p, of_kind) {
            _ if field.says_nothing_of_absence(p) => {}
            Absent::Null if !field.part_null_if_absent(p) => {
                return Some(
                    Text::new("`absent = \"null\"` cannot be kept for column `")
                        .str(column.as_str())
                        .str("`: its type has a default, which looks like a value; make the field an `Option`, or say `absent = \"empty\"` for it"),
                );
            }
            Absent::Empty if !field.part_stays(p).is_none() => {
                return Some(
                    Text::new("`")
                        .str(field.part_stays(p).word())
                        .str("` of column `")
                        .str(column.as_str())
                        .str("` is for values that can be absent, and with `absent = \"empty\"` none is: say `absent = \"null\"` for it"),
                );
            }
            Absent::Unsaid | Absent::Type | Absent::Null | Absent::Empty => {}
        }
        p += 1;
    }
    None
}

/// Fails if `was = "..."` cannot have been the field's name.
///
/// # Panics
/// With the mistake; in a constant that is a compile error.
#[track_caller]
pub const fn check_was(field: &Field) {
    let Some(was) = field.former() else { return };
    assert_identifier("column", was, "was");
    let mut p = 0;
    while p < field.shape.parts.len() {
        assert_identifier("column", joined(was, field.suffix(p)).as_str(), "was");
        p += 1;
    }
}

/// Fails if a column or key of `later` has the name of one of `earlier`; `whose` describes `earlier` in the message.
///
/// # Panics
/// With the name; in a constant that is a compile error.
#[track_caller]
pub const fn check_apart(earlier: &[Field], later: &Field, whose: &str) {
    let mut i = 0;
    while i < earlier.len() {
        let mut a = 0;
        while a < earlier[i].shape.parts.len() {
            let mut b = 0;
            while b < later.shape.parts.len() {
                check_parts_apart(&earlier[i], a, later, b, whose);
                b += 1;
            }
            a += 1;
        }
        i += 1;
    }
}

#[track_caller]
const fn check_parts_apart(earlier: &Field, a: usize, later: &Field, b: usize, whose: &str) {
    // This runs for every pair of columns of a table, so names are only joined if they are equal.
    if same_joined((earlier.column, earlier.suffix(a)), (later.column, later.suffix(b))) {
        Text::new("column `")
            .str(joined(later.column, later.suffix(b)).as_str())
            .str("` is made by ")
            .str(whose)
            .str(" already: give one of them another name with `column = \"...\"`")
            .fail()
    }
    let both_own = matches!((earlier.part_key(a), later.part_key(b)), (PartKey::Own, PartKey::Own));
    if !both_own && earlier.begins_key(a) && later.begins_key(b) {
        let name = later.key_name(b);
        if earlier.key_name(a).same(&name) {
            Text::new("key `")
                .str(name.as_str())
                .str("` is made by ")
                .str(whose)
                .str(" already: give one of them another name with `column = \"...\"`, or no key with `key = false`")
                .fail()
        }
    }
}

/// Whether two names are equal, each given as head and tail as for [`Ident::join`].
const fn same_joined(a: (&str, &str), b: (&str, &str)) -> bool {
    let len = joined_len(a);
    if len != joined_len(b) {
        return false;
    }
    let mut i = 0;
    while i < len {
        if !byte(a, i).eq_ignore_ascii_case(&byte(b, i)) {
            return false;
        }
        i += 1;
    }
    true
}

const fn joined_len((head, tail): (&str, &str)) -> usize {
    head.len() + tail.len() + if head.is_empty() || tail.is_empty() { 0 } else { 1 }
}

const fn byte((head, tail): (&str, &str), i: usize) -> u8 {
    if i < head.len() {
        head.as_bytes()[i]
    } else if head.is_empty() {
        tail.as_bytes()[i]
    } else if i == head.len() {
        b'_'
    } else {
        tail.as_bytes()[i - head.len() - 1]
    }
}

/// Fails if `name`, a column of `key(...)`, is not a column of the table, or cannot be in a key.
///
/// # Panics
/// With the name; in a constant that is a compile error.
#[track_caller]
pub const fn check_key_column(parts: &TableParts, name: &str) {
    if has_many(parts, name) {
        Text::new("column `")
            .str(name)
            .str("` cannot stand in a key: its many values are in a table of their own, which has keys already; leave it out")
            .fail()
    }
    match column_type(parts, name) {
        Some(ty) if ty.key_bytes().is_some() => {}
        Some(_) => Text::new("column `")
            .str(name)
            .str("` cannot stand in a key, its type has no bounded length: use `type = \"VARCHAR(n)\"` or leave it out")
            .fail(),
        // Some columns are unknown because of another mistake; this may be one of them.
        None if !parts.all_known() => {}
        None => Text::new("`key(...)` names `")
            .str(name)
            .str("`, which is not a column of this table: name base columns or columns made by `#[index]`")
            .fail(),
    }
}

/// Fails if the composite key at place `k` is too long, or has the name of another key.
///
/// # Panics
/// With the number or name; in a constant that is a compile error.
#[track_caller]
pub const fn check_composite_key(parts: &TableParts, k: usize) {
    let names = parts.keys[k];
    let mut bytes = 0;
    let mut n = 0;
    while n < names.len() {
        if let Some(ty) = column_type(parts, names[n])
            && let Some(more) = ty.key_bytes()
        {
            bytes += more;
        }
        n += 1;
    }
    if bytes > limits::KEY_BYTES {
        Text::new("this key takes ")
            .number(bytes as u64)
            .str(" bytes (4 a character), InnoDB allows 3072: use fewer or shorter columns")
            .fail()
    }
    let name = composite_name(names);
    if is_base_key(name.as_str()) || is_key_of_field(parts, &name) || is_earlier_key(parts, k, &name) {
        Text::new("key `")
            .str(name.as_str())
            .str("` is there already: leave this one out, or give the column of that name another one with `column = \"...\"`")
            .fail()
    }
}

const fn is_base_key(name: &str) -> bool {
    let mut k = 0;
    while k < BASE_KEYS.len() {
        if BASE_KEYS[k].0.eq_ignore_ascii_case(name) {
            return true;
        }
        k += 1;
    }
    false
}

const fn is_key_of_field(parts: &TableParts, name: &Ident) -> bool {
    let mut group = 0;
    while group < parts.fields.len() {
        let mut i = 0;
        while i < parts.fields[group].len() {
            let field = &parts.fields[group][i];
            let mut p = 0;
            while p < field.shape.parts.len() {
                if field.begins_key(p) && field.key_name(p).same(name) {
                    return true;
                }
                p += 1;
            }
            i += 1;
        }
        group += 1;
    }
    false
}

const fn is_earlier_key(parts: &TableParts, k: usize, name: &Ident) -> bool {
    let mut i = 0;
    while i < k {
        if composite_name(parts.keys[i]).same(name) {
            return true;
        }
        i += 1;
    }
    false
}

/// Whether the column of this name has many values.
const fn has_many(parts: &TableParts, name: &str) -> bool {
    let mut group = 0;
    while group < parts.fields.len() {
        let mut i = 0;
        while i < parts.fields[group].len() {
            let field = &parts.fields[group][i];
            let mut p = 0;
            while p < field.shape.parts.len() {
                let many = field.shape.parts[p].many.is_some();
                if many && same_joined((field.column, field.suffix(p)), (name, "")) {
                    return true;
                }
                p += 1;
            }
            i += 1;
        }
        group += 1;
    }
    false
}

const fn column_type(parts: &TableParts, name: &str) -> Option<SqlType> {
    let mut b = 0;
    while b < BASE_COLUMNS.len() {
        if BASE_COLUMNS[b].name.same_as(name) {
            return Some(BASE_COLUMNS[b].ty);
        }
        b += 1;
    }
    let mut group = 0;
    while group < parts.fields.len() {
        let mut i = 0;
        while i < parts.fields[group].len() {
            let field = &parts.fields[group][i];
            let mut p = 0;
            while p < field.shape.parts.len() {
                if same_joined((field.column, field.suffix(p)), (name, "")) {
                    return Some(field.part_type(p));
                }
                p += 1;
            }
            i += 1;
        }
        group += 1;
    }
    None
}

/// Fails if `name` cannot be the name of a table with companions.
///
/// # Panics
/// With the name and the rule; in a constant that is a compile error.
#[track_caller]
pub const fn check_table_name(name: &str) {
    assert_identifier("table", name, "table");
    let most = limits::IDENTIFIER_BYTES - 1 - Companion::Annotations.suffix().len();
    if name.len() > most {
        Text::new("table `")
            .str(name)
            .str("` has ")
            .number(name.len() as u64)
            .str(" bytes and may have ")
            .number(most as u64)
            .str(", as `_")
            .str(Companion::Annotations.suffix())
            .str("` is added for a companion and an identifier may have 64: give a shorter name with `table = \"...\"`")
            .fail()
    }
}

/// Fails if the table has more columns than InnoDB allows.
///
/// # Panics
/// With the number and the limit; in a constant that is a compile error.
#[track_caller]
pub const fn check_column_count(table: &Table) {
    if table.columns.len() > limits::COLUMNS {
        Text::new("table `")
            .str(table.name.as_str())
            .str("` has ")
            .number(table.columns.len() as u64)
            .str(" columns, InnoDB allows 1017: take `#[index]` off some fields")
            .fail()
    }
}

/// Fails if the table has more keys than InnoDB allows.
///
/// # Panics
/// With the number and the limit; in a constant that is a compile error.
#[track_caller]
pub const fn check_key_count(table: &Table) {
    if table.keys.len() > limits::KEYS {
        Text::new("table `")
            .str(table.name.as_str())
            .str("` has ")
            .number(table.keys.len() as u64)
            .str(" keys, InnoDB allows 64: put `key = false` on columns that are not searched alone")
            .fail()
    }
}

/// Fails if a row can be longer than MySQL allows.
///
/// # Panics
/// With the number and the limit; in a constant that is a compile error.
#[track_caller]
pub const fn check_row_size(table: &Table) {
    let bytes = table.row_bytes();
    if bytes > limits::ROW_BYTES {
        Text::new("a row of table `")
            .str(table.name.as_str())
            .str("` takes up to ")
            .number(bytes as u64)
            .str(" bytes (4 a character), MySQL allows 65535: make VARCHAR columns shorter or TEXT")
            .fail()
    }
}
