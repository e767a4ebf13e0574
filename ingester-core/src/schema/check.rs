//! The checks of tables, columns and keys: each rule once, for structs and for files.
//!
//! A check is a constant function that returns a [`Fault`], or `None`. The derives call each check on the tokens that it is about, and
//! A check is a constant function that returns a [`Fault`], or `None`. The derives call each check on the tokens that it is about, and
//! [`refuse`](super::fault::refuse) turns the result into a compile error, so the compiler shows all mistakes at once, each at its place.
//! No mistake is shown twice, because a check does not report what another one reports. [`faults`] calls all checks for a definition that
//! is made at run time, and says with each fault which part of the definition it is about.
//!
//! Mistakes that only one spelling can have are checked there: in structs the types of Rust (`type`, `absent`, composites), in files paths,
//! functions and defaults; in both, how options are written and which of them exclude each other.

use super::fault::{Fault, Named};
use super::field::{Field, PartKey};
use super::ident::joined;
use super::limits;
use super::table::{BASE_COLUMNS, BASE_KEYS, Companion, Table, TableParts, composite_name};
use super::text::{Text, first_foreign};
use super::{Absent, Form, Ident, SqlType, Stays};

/// The part of a definition that a fault of [`faults`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// The table.
    Table,
    /// The table's former name.
    TableWas,
    /// The column at a place.
    Column(usize),
    /// The former name of the column at a place.
    ColumnWas(usize),
    /// `keep` of the column at a place.
    ColumnKeep(usize),
    /// The key over several columns at a place.
    Key(usize),
}

/// A definition that is made at run time.
#[derive(Clone, Copy)]
pub struct Defined<'a> {
    /// The table's name.
    pub table: &'a str,
    /// Its former name.
    pub was: Option<&'a str>,
    /// Its columns and keys; the columns are [`Field::declared`], in the first of the groups.
    pub parts: &'a TableParts,
    /// The origin of each column, in words, for messages.
    pub by: &'a [String],
    /// The names of keys; `None` for a key whose name is the names of its columns, joined.
    pub key_names: &'a [Option<&'a str>],
}

/// Returns all faults of a definition except faults of the table's size, which [`check_size`] finds once there is a table.
pub fn faults<'a>(defined: &Defined<'a>) -> Vec<(About, Fault<'a>)> {
    let &Defined { table, was, parts, by, key_names } = defined;
    let mut found = Vec::new();
    found.extend(check_table_name(table, Named::Table).map(|fault| (About::Table, fault)));
    if let Some(was) = was {
        found.extend(check_table_was(table, was).map(|fault| (About::TableWas, fault)));
    }
    let fields = parts.fields[0];
    let names: Vec<_> = fields.iter().map(|field| (field.column, field.former())).collect();
    for (place, field) in fields.iter().enumerate() {
        if let Some(fault) = check_name(field) {
            found.push((About::Column(place), fault));
            continue;
        }
        let apart = || fields.iter().zip(by).take(place).find_map(|(earlier, by)| check_apart(&[*earlier], field, by));
        let of_column = [
            check_base(field).or_else(apart),
            check_many(field).or_else(|| check_many_table(table, field)),
            check_key(field),
        ];
        found.extend(of_column.into_iter().flatten().map(|fault| (About::Column(place), fault)));
        let kept = check_stays(field).or_else(|| check_absent(field, parts.absent));
        found.extend(kept.map(|fault| (About::ColumnKeep(place), fault)));
        let former = check_was(field).or_else(|| check_former(&names, place, true));
        found.extend(former.map(|fault| (About::ColumnWas(place), fault)));
    }
    for (place, columns) in parts.keys.iter().enumerate() {
        let name = |place: usize| key_names.get(place).copied().flatten();
        let named = name(place).and_then(|name| check_identifier(Named::Key, name));
        let of_columns = (0..columns.len()).filter_map(|column| check_key_column(parts, place, column));
        let before = found.len();
        found.extend(named.into_iter().chain(of_columns).map(|fault| (About::Key(place), fault)));
        if found.len() == before {
            let named = |place: usize| name(place).map_or_else(|| composite_name(parts.keys[place]), tolerant);
            let taken = (0..place).any(|earlier| named(earlier).same(&named(place)));
            let fault = check_named_key(parts, place, named(place), taken);
            found.extend(fault.map(|fault| (About::Key(place), fault)));
        }
    }
    found
}

fn tolerant(name: &str) -> Ident {
    Ident::tolerant(name, "")
}

/// Checks that a name is an identifier.
pub(crate) const fn check_identifier<'a>(named: Named, name: &str) -> Option<Fault<'a>> {
    if name.is_empty() {
        return Some(Fault::NameEmpty(named));
    }
    if first_foreign(name).is_some() {
        return Some(Fault::NameCharacters(named, Text::new(name)));
    }
    if name.len() > limits::IDENTIFIER_BYTES {
        return Some(Fault::NameLong(named, Text::new(name)));
    }
    None
}

/// Returns true if a database gives every table a column of this name.
const fn is_of_database(name: &str) -> bool {
    let mut s = 0;
    while s < limits::SYSTEM_COLUMNS.len() {
        if name.eq_ignore_ascii_case(limits::SYSTEM_COLUMNS[s]) {
            return true;
        }
        s += 1;
    }
    false
}

/// Checks that the names of the field's columns are identifiers that no database keeps for itself, and that its key has a name.
pub const fn check_name<'a>(field: &Field) -> Option<Fault<'a>> {
    if !field.column.is_empty()
        && let Some(fault) = check_identifier(Named::Column, field.column)
    {
        return Some(fault);
    }
    let mut p = 0;
    while p < field.shape.parts.len() {
        let name = joined(field.column, field.suffix(p));
        if let Some(fault) = check_identifier(Named::Column, name.as_str()) {
            return Some(fault);
        }
        // Many values have a table of their own, with other columns.
        if field.shape.parts[p].many.is_none() && is_of_database(name.as_str()) {
            return Some(Fault::ColumnOfDatabase(name));
        }
        if matches!(field.part_key(p), PartKey::Joint(None)) && field.column.is_empty() {
            return Some(Fault::KeyNameless);
        }
        p += 1;
    }
    None
}

/// Checks that no column or key of the field has the name of one that every table has.
pub const fn check_base<'a>(field: &Field) -> Option<Fault<'a>> {
    let mut p = 0;
    while p < field.shape.parts.len() {
        let mut b = 0;
        while b < BASE_COLUMNS.len() {
            let name = BASE_COLUMNS[b].name;
            if same_joined((field.column, field.suffix(p)), (name.as_str(), "")) {
                return Some(Fault::BaseColumn(name));
            }
            b += 1;
        }
        if field.begins_key(p) && is_base_key(field.key_name(p).as_str()) {
            return Some(Fault::BaseKey(field.key_name(p)));
        }
        p += 1;
    }
    None
}

/// As [`check_base`], for all fields of a status together: the struct may also be used elsewhere than as a status, so its own derive cannot
/// call [`check_base`].
pub const fn check_base_of_status<'a>(fields: &[Field]) -> Option<Fault<'a>> {
    let mut sentences = Text::new("");
    let mut i = 0;
    while i < fields.len() {
        if let Some(fault) = check_base(&fields[i]) {
            let more = if sentences.as_str().is_empty() { sentences } else { sentences.str("; ") };
            sentences = more.str(fault.sentence().as_str());
        }
        i += 1;
    }
    if sentences.as_str().is_empty() { None } else { Some(Fault::OfStatus(sentences.str(" (in the status)"))) }
}

/// Checks that `type = "..."` is a type, and holds the field's values.
///
/// # Panics
/// If it is not a type; in a constant that is a compile error.
#[track_caller]
pub const fn check_type(field: &Field, ty: &str) -> Option<Fault<'static>> {
    let ty = SqlType::parse(ty);
    if field.shape.parts.is_empty() {
        return None;
    }
    if !field.shape.is_scalar() {
        return Some(Fault::TypeOfSeveral(field.column));
    }
    if field.shape.parts[0].ty.may_become(ty) { None } else { Some(Fault::TypeUnfit(field.column)) }
}

/// Checks that no key of the field is too long or has too many columns. Keys of a nested struct are checked there.
pub const fn check_key<'a>(field: &Field) -> Option<Fault<'a>> {
    let mut p = 0;
    while p < field.shape.parts.len() {
        let own = field.suffix(p).is_empty() || matches!(field.part_key(p), PartKey::Joint(None));
        if own
            && field.begins_key(p)
            && let Some(fault) = check_key_of_part(field, p)
        {
            return Some(fault);
        }
        p += 1;
    }
    None
}

const fn check_key_of_part<'a>(field: &Field, first: usize) -> Option<Fault<'a>> {
    let mut bytes = 0;
    let mut columns = 0;
    let mut p = first;
    while p < field.shape.parts.len() {
        if field.same_key(first, p) {
            let Some(more) = field.part_type(p).key_bytes() else { return Some(Fault::KeyUnbounded(field.name(p))) };
            bytes += more;
            columns += 1;
        }
        p += 1;
    }
    let key = field.key_name(first);
    if bytes > limits::KEY_BYTES {
        return Some(Fault::KeyLong { key, bytes, columns });
    }
    if columns > limits::KEY_COLUMNS { Some(Fault::KeyWide { key, columns }) } else { None }
}

/// Checks that tables of objects can print a column as `header` and `age` say.
pub const fn check_printed<'a>(field: &Field) -> Option<Fault<'a>> {
    if field.printed.header.is_some() && field.shape.parts.len() > 1 {
        return Some(Fault::HeaderOfSeveral(field.name(0)));
    }
    let mut p = 0;
    while field.printed.age && p < field.shape.parts.len() {
        if !matches!(field.part_type(p), SqlType::DateTime) {
            return Some(Fault::AgeOfOther(field.name(p)));
        }
        p += 1;
    }
    None
}

/// Checks that the column at a place among the printed ones belongs to the table, and is not there twice.
pub const fn check_printed_column(parts: &TableParts, place: usize) -> Option<Fault<'static>> {
    let name = parts.printed[place];
    let mut earlier = 0;
    while earlier < place {
        if parts.printed[earlier].eq_ignore_ascii_case(name) {
            return Some(Fault::PrintedTwice(name));
        }
        earlier += 1;
    }
    let mut base = 0;
    while base < BASE_COLUMNS.len() {
        if BASE_COLUMNS[base].name.same_as(name) {
            return Some(Fault::PrintedUnknown(name));
        }
        base += 1;
    }
    if has_many(parts, name) {
        return Some(Fault::PrintedMany(name));
    }
    // Some columns are unknown because of another mistake; this may be one of them.
    if column_type(parts, name).is_none() && parts.all_known() { Some(Fault::PrintedUnknown(name)) } else { None }
}

/// Checks that the values of a column of many values can be in a key. Columns of a nested struct are checked there.
pub const fn check_many<'a>(field: &Field) -> Option<Fault<'a>> {
    let mut p = 0;
    while p < field.shape.parts.len() {
        if let Some(form) = field.shape.parts[p].many
            && field.suffix(p).is_empty()
            && let Some(fault) = check_many_values(field, p, form)
        {
            return Some(fault);
        }
        p += 1;
    }
    None
}

const fn check_many_values<'a>(field: &Field, p: usize, form: Form) -> Option<Fault<'a>> {
    let column = field.name(p);
    let ty = field.part_type(p);
    if matches!(ty, SqlType::Json) {
        return Some(Fault::ManyOfSeveral(column));
    }
    if !ty.may_be_many() {
        return Some(Fault::ManyUnfit(column));
    }
    let Some(bytes) = ty.key_bytes() else { return Some(Fault::ManyUnbounded(column)) };
    let bytes = bytes + limits::beside_many(form);
    if bytes > limits::KEY_BYTES { Some(Fault::ManyLong { column, bytes, form }) } else { None }
}

/// Checks that the tables of columns of many values can have their names.
pub const fn check_many_tables<'a>(table: &Table) -> Option<Fault<'a>> {
    let mut m = 0;
    while m < table.many.len() {
        if let Some(fault) = check_many_name(table.name.as_str(), table.many[m].name) {
            return Some(fault);
        }
        m += 1;
    }
    None
}

/// As [`check_many_tables`], for one column.
const fn check_many_table<'a>(table: &str, field: &Field) -> Option<Fault<'a>> {
    let mut p = 0;
    while p < field.shape.parts.len() {
        if field.shape.parts[p].many.is_some()
            && let Some(fault) = check_many_name(table, field.name(p))
        {
            return Some(fault);
        }
        p += 1;
    }
    None
}

const fn check_many_name<'a>(table: &str, column: Ident) -> Option<Fault<'a>> {
    let mut c = 0;
    while c < Companion::OF_METADATA.len() {
        if column.same_as(Companion::OF_METADATA[c].suffix()) {
            return Some(Fault::ManyOfMetadata(Companion::OF_METADATA[c]));
        }
        c += 1;
    }
    let table = joined(table, column.as_str());
    if table.as_str().len() > limits::MANY_TABLE_BYTES {
        return Some(Fault::ManyTableLong { column, table });
    }
    if is_own_table(table.as_str()) { Some(Fault::ManyTableOwn { column, table }) } else { None }
}

/// Returns true if the ingester has a table of its own with this name.
pub(crate) const fn is_own_table(name: &str) -> bool {
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

/// Checks that `keep` is set only for a value that can be absent. `first` may be set for any: it is the value at the object's creation.
pub const fn check_stays<'a>(field: &Field) -> Option<Fault<'a>> {
    match kept_in_vain(field) {
        Some(column) => Some(Fault::KeptInVain(column)),
        None => None,
    }
}

/// As [`check_stays`], for options within the composites and nested structs that these fields hold: only here it is known whether the
/// whole struct can be absent.
pub const fn check_parts_stay<'a>(fields: &[Field]) -> Option<Fault<'a>> {
    let mut i = 0;
    while i < fields.len() {
        if !fields[i].stays_as_a_whole()
            && let Some(fault) = check_stays(&fields[i])
        {
            return Some(fault);
        }
        i += 1;
    }
    None
}

/// As [`check_stays`], for all fields of a status together: one that is read from nothing is always there, see
/// [`Indexed::DEFAULTED`](crate::kind::Indexed::DEFAULTED).
pub const fn check_stays_of_status<'a>(fields: &[Field], defaulted: bool) -> Option<Fault<'a>> {
    let mut i = 0;
    while defaulted && i < fields.len() {
        if let Some(fault) = check_stays(&fields[i]) {
            return Some(of_status(&fault));
        }
        i += 1;
    }
    None
}

const fn of_status<'a>(fault: &Fault<'_>) -> Fault<'a> {
    Fault::OfStatus(fault.sentence().str(" (in the status)"))
}

/// The first column whose values are kept without ever being absent. Of a composite that is kept as a whole, one column that can be absent
/// is reason enough.
const fn kept_in_vain(field: &Field) -> Option<Ident> {
    let mut found = None;
    let mut p = 0;
    while p < field.shape.parts.len() {
        // Many values cannot stay, which the derives report.
        if matches!(field.part_stays(p), Stays::Keep) && field.shape.parts[p].many.is_none() {
            match field.part_optional(p) {
                true if field.stays_as_a_whole() => return None,
                false if found.is_none() => found = Some(field.name(p)),
                _ => {}
            }
        }
        p += 1;
    }
    found
}

/// Checks that the field's type supports the field's own `absent`, or else its kind's (`of_kind`).
pub const fn check_absent<'a>(field: &Field, of_kind: Absent) -> Option<Fault<'a>> {
    let mut p = 0;
    while p < field.shape.parts.len() {
        let column = field.name(p);
        match field.part_absent(p, of_kind) {
            _ if field.says_nothing_of_absence(p) => {}
            Absent::Null if !field.part_null_if_absent(p) => return Some(Fault::NullLost(column)),
            Absent::Empty if matches!(field.part_stays(p), Stays::Keep) => return Some(Fault::KeptOfEmpty(column)),
            Absent::Unsaid | Absent::Type | Absent::Null | Absent::Empty => {}
        }
        p += 1;
    }
    None
}

/// As [`check_absent`], for all fields of a status together.
pub const fn check_absent_of_status<'a>(fields: &[Field], of_kind: Absent) -> Option<Fault<'a>> {
    let mut i = 0;
    while i < fields.len() {
        if let Some(fault) = check_absent(&fields[i], of_kind) {
            return Some(of_status(&fault));
        }
        i += 1;
    }
    None
}

/// Checks that `was = "..."` can have been the field's name.
pub const fn check_was(field: &Field) -> Option<Fault<'static>> {
    let Some(was) = field.former() else { return None };
    if let Some(fault) = check_identifier(Named::FormerColumn, was) {
        return Some(fault);
    }
    let mut p = 0;
    while p < field.shape.parts.len() {
        if let Some(fault) = check_identifier(Named::FormerColumn, joined(was, field.suffix(p)).as_str()) {
            return Some(fault);
        }
        p += 1;
    }
    None
}

/// Checks that the former name of the column at a place is free. The check gets the present and former name of each column, but not the
/// types, so a type that cannot be stored hides no mistake of another column. With `of_table`, the columns make a table. Otherwise they
/// make a nested struct, whose names are only the ends of the columns' names.
pub const fn check_former<'a>(
    columns: &[(&'a str, Option<&'a str>)],
    place: usize,
    of_table: bool,
) -> Option<Fault<'a>> {
    let (name, Some(was)) = columns[place] else { return None };
    // `check_was` reports a text that cannot be a name.
    if check_identifier(Named::FormerColumn, was).is_some() {
        return None;
    }
    if was.eq_ignore_ascii_case(name) {
        return Some(Fault::WasPresent(was));
    }
    let mut i = 0;
    while i < columns.len() {
        match columns[i] {
            (_, Some(former)) if i < place && former.eq_ignore_ascii_case(was) => return Some(Fault::WasTwice(was)),
            // One that has a former name itself gets its values from there.
            (present, None) if present.eq_ignore_ascii_case(was) => return Some(Fault::WasOfOther(was)),
            _ => {}
        }
        i += 1;
    }
    let mut b = 0;
    while of_table && b < BASE_COLUMNS.len() {
        if BASE_COLUMNS[b].name.same_as(was) {
            return Some(Fault::WasBase(was));
        }
        b += 1;
    }
    // After the migration the same words would ask for it again.
    let mut former = was;
    let mut steps = 0;
    while steps < columns.len() {
        let Some(next) = former_of(columns, former) else { return None };
        if next.eq_ignore_ascii_case(name) {
            return Some(Fault::WasExchanged);
        }
        former = next;
        steps += 1;
    }
    None
}

/// The former name of the column that has this one now.
const fn former_of<'a>(columns: &[(&'a str, Option<&'a str>)], name: &str) -> Option<&'a str> {
    let mut i = 0;
    while i < columns.len() {
        if columns[i].0.eq_ignore_ascii_case(name) {
            return columns[i].1;
        }
        i += 1;
    }
    None
}

/// Checks that `later` has no column or key with a name from `earlier`; `by` says what makes the columns of `earlier`.
pub const fn check_apart<'a>(earlier: &[Field], later: &Field, by: &'a str) -> Option<Fault<'a>> {
    let mut i = 0;
    while i < earlier.len() {
        let mut a = 0;
        while a < earlier[i].shape.parts.len() {
            let mut b = 0;
            while b < later.shape.parts.len() {
                if let Some(fault) = check_parts_apart(&earlier[i], a, later, b, by) {
                    return Some(fault);
                }
                b += 1;
            }
            a += 1;
        }
        i += 1;
    }
    None
}

const fn check_parts_apart<'a>(earlier: &Field, a: usize, later: &Field, b: usize, by: &'a str) -> Option<Fault<'a>> {
    // This runs for every pair of columns of a table, so names are only joined if they are equal.
    if same_joined((earlier.column, earlier.suffix(a)), (later.column, later.suffix(b))) {
        return Some(Fault::ColumnTwice { name: later.name(b), by });
    }
    let both_own = matches!((earlier.part_key(a), later.part_key(b)), (PartKey::Own, PartKey::Own));
    if !both_own && earlier.begins_key(a) && later.begins_key(b) {
        let name = later.key_name(b);
        if earlier.key_name(a).same(&name) {
            return Some(Fault::KeyTwice { name, by });
        }
    }
    None
}

/// Compares two names, each given as head and tail as for [`Ident::join`].
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

/// Checks that the column at a place of a key over several columns belongs to the table, is not there twice, and can be in a key.
pub const fn check_key_column(parts: &TableParts, key: usize, place: usize) -> Option<Fault<'static>> {
    let name = parts.keys[key][place];
    let mut earlier = 0;
    while earlier < place {
        if parts.keys[key][earlier].eq_ignore_ascii_case(name) {
            return Some(Fault::KeyColumnTwice(name));
        }
        earlier += 1;
    }
    if has_many(parts, name) {
        return Some(Fault::KeyColumnMany(name));
    }
    match column_type(parts, name) {
        Some(ty) if ty.key_bytes().is_some() => None,
        Some(_) => Some(Fault::KeyColumnUnbounded(name)),
        // Some columns are unknown because of another mistake; this may be one of them.
        None if !parts.all_known() => None,
        None => Some(Fault::KeyColumnUnknown(name)),
    }
}

/// Checks that the key over several columns at a place is not too long, and does not have the name of another key.
pub const fn check_composite_key(parts: &TableParts, place: usize) -> Option<Fault<'static>> {
    let name = composite_name(parts.keys[place]);
    check_named_key(parts, place, name, is_earlier_key(parts, place, &name))
}

const fn check_named_key<'a>(parts: &TableParts, place: usize, name: Ident, taken: bool) -> Option<Fault<'a>> {
    let names = parts.keys[place];
    if names.len() > limits::KEY_COLUMNS {
        return Some(Fault::KeyColumns(names.len()));
    }
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
        return Some(Fault::KeyBytes(bytes));
    }
    if taken || is_base_key(name.as_str()) || is_key_of_field(parts, &name) {
        return Some(Fault::KeyThere(name));
    }
    None
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

/// Returns true if the column of this name has many values.
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

/// Checks that `name` can be the name of a table with companions.
pub const fn check_table_name(name: &str, named: Named) -> Option<Fault<'_>> {
    if let Some(fault) = check_identifier(named, name) {
        return Some(fault);
    }
    let mut r = 0;
    while r < limits::RESERVED.len() {
        let (prefix, owner) = limits::RESERVED[r];
        if name.len() >= prefix.len() && name.split_at(prefix.len()).0.eq_ignore_ascii_case(prefix) {
            return Some(Fault::TableReserved { prefix, owner });
        }
        r += 1;
    }
    if name.len() > limits::TABLE_BYTES { Some(Fault::TableLong(name)) } else { None }
}

/// Checks that the former name of a table can be one, and is not the present one.
pub const fn check_table_was<'a>(table: &str, was: &'a str) -> Option<Fault<'a>> {
    if let Some(fault) = check_table_name(was, Named::FormerTable) {
        return Some(fault);
    }
    if was.eq_ignore_ascii_case(table) { Some(Fault::TableWasPresent(was)) } else { None }
}

/// Checks that the table has no more columns than InnoDB allows.
pub const fn check_column_count<'a>(table: &Table) -> Option<Fault<'a>> {
    let columns = table.columns.len();
    if columns > limits::COLUMNS { Some(Fault::TableWide(table.name, columns)) } else { None }
}

/// Checks that the table has no more keys than InnoDB allows.
pub const fn check_key_count<'a>(table: &Table) -> Option<Fault<'a>> {
    let keys = table.keys.len();
    if keys > limits::KEYS { Some(Fault::TableKeys(table.name, keys)) } else { None }
}

/// Checks that no row can be longer than MySQL allows.
pub const fn check_row_size<'a>(table: &Table) -> Option<Fault<'a>> {
    let bytes = table.row_bytes();
    if bytes > limits::ROW_BYTES { Some(Fault::TableRow(table.name, bytes)) } else { None }
}

/// All faults of the size of a table that is made at run time.
pub fn check_size(table: &Table) -> impl Iterator<Item = Fault<'static>> {
    [check_column_count(table), check_key_count(table), check_row_size(table)].into_iter().flatten()
}
