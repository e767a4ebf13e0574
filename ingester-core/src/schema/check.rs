//! The checks of tables in constant evaluation. The derives call them once a field and once a table, each on the
//! tokens it is about, so that every mistake is shown at its place and all of them at once.

use super::field::{Field, PartKey};
use super::limits;
use super::table::{BASE_COLUMNS, Companion, Table, TableParts};
use super::text::{Text, assert_identifier};

/// Fails when the field's columns cannot stand in a table: a name that is too long or a base column's, a key that
/// cannot be made.
///
/// # Panics
/// With what is wrong and how to mend it; in a constant that is a compile error.
pub const fn check_field(field: &Field) {
    let mut joint_bytes = 0;
    let mut p = 0;
    while p < field.shape.parts.len() {
        let name = field.name(p);
        let mut b = 0;
        while b < BASE_COLUMNS.len() {
            if BASE_COLUMNS[b].name.same(&name) {
                Text::new("column `")
                    .str(name.as_str())
                    .str("` is one of the columns that every table has: give this one another name with `column = \"...\"`")
                    .fail()
            }
            b += 1;
        }
        let key = field.part_key(p);
        if !matches!(key, PartKey::None) {
            let Some(bytes) = field.part_type(p).key_bytes() else {
                Text::new("column `")
                    .str(name.as_str())
                    .str("` cannot have a key, its type has no bounded length: use `type = \"VARCHAR(n)\"` or `key = false`")
                    .fail()
            };
            let total = match key {
                PartKey::Joint => {
                    joint_bytes += bytes;
                    joint_bytes
                }
                _ => bytes,
            };
            if total > limits::KEY_BYTES {
                Text::new("the key on `")
                    .str(name.as_str())
                    .str("` takes ")
                    .number(total as u64)
                    .str(" bytes (4 a character), InnoDB allows 3072: use a shorter type (VARCHAR(768) is the longest) or `key = false`")
                    .fail()
            }
        }
        p += 1;
    }
}

/// Fails when a column of `later` has the name of a column of one of `earlier`.
///
/// # Panics
/// With both names; in a constant that is a compile error.
pub const fn check_fields_apart(earlier: &[Field], later: &Field) {
    let mut i = 0;
    while i < earlier.len() {
        let mut a = 0;
        while a < earlier[i].shape.parts.len() {
            let mut b = 0;
            while b < later.shape.parts.len() {
                let name = later.name(b);
                if earlier[i].name(a).same(&name) {
                    Text::new("column `")
                        .str(name.as_str())
                        .str("` is there twice: give one of them another name with `column = \"...\"`")
                        .fail()
                }
                b += 1;
            }
            a += 1;
        }
        i += 1;
    }
}

/// Fails when a name given by an option is no identifier.
///
/// # Panics
/// With the name and the rule; in a constant that is a compile error.
pub const fn check_named(name: &str) {
    assert_identifier(name);
}

/// Fails when `key(...)` names a column that the table does not have, twice the same, or one that cannot be in a key.
///
/// # Panics
/// With the name; in a constant that is a compile error.
pub const fn check_composite_key(parts: &TableParts, names: &[&str]) {
    let mut bytes = 0;
    let mut n = 0;
    while n < names.len() {
        let mut found = None;
        let mut b = 0;
        while b < BASE_COLUMNS.len() {
            if BASE_COLUMNS[b].name.same_as(names[n]) {
                found = Some(BASE_COLUMNS[b].ty);
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
                    if field.name(p).same_as(names[n]) {
                        found = Some(field.part_type(p));
                    }
                    p += 1;
                }
                i += 1;
            }
            group += 1;
        }
        let Some(ty) = found else {
            Text::new("`key(...)` names `")
                .str(names[n])
                .str("`, which is not a column of this table: name base columns or columns made by #[index]")
                .fail()
        };
        match ty.key_bytes() {
            Some(more) => bytes += more,
            None => Text::new("`key(...)` names `").str(names[n]).str("`, whose type cannot stand in a key").fail(),
        }
        n += 1;
    }
    if bytes > limits::KEY_BYTES {
        Text::new("this key takes ")
            .number(bytes as u64)
            .str(" bytes (4 a character), InnoDB allows 3072: use fewer or shorter columns")
            .fail()
    }
}

/// Fails when the table as a whole is more than InnoDB takes: names, row size, number of columns and keys, or two keys
/// with one name.
///
/// # Panics
/// With the number and the limit; in a constant that is a compile error.
pub const fn check_table(table: &Table) {
    assert_identifier(table.companion(Companion::Annotations).as_str());
    if table.columns.len() > limits::COLUMNS {
        Text::new("table `")
            .str(table.name.as_str())
            .str("` has ")
            .number(table.columns.len() as u64)
            .str(" columns, InnoDB allows 1017")
            .fail()
    }
    if table.keys.len() > limits::KEYS {
        Text::new("table `")
            .str(table.name.as_str())
            .str("` has ")
            .number(table.keys.len() as u64)
            .str(" keys, InnoDB allows 64: put `key = false` on columns that are not searched alone")
            .fail()
    }
    let mut bytes = table.columns.len() as u32 / 8 + 1;
    let mut i = 0;
    while i < table.columns.len() {
        bytes += table.columns[i].ty.row_bytes();
        i += 1;
    }
    if bytes > limits::ROW_BYTES {
        Text::new("a row of table `")
            .str(table.name.as_str())
            .str("` takes up to ")
            .number(bytes as u64)
            .str(" bytes (4 a character), MySQL allows 65535: make VARCHAR columns shorter or TEXT")
            .fail()
    }
    let mut a = 0;
    while a < table.keys.len() {
        let mut b = a + 1;
        while b < table.keys.len() {
            if table.keys[a].name.same(&table.keys[b].name) {
                Text::new("table `")
                    .str(table.name.as_str())
                    .str("` has two keys with the name `")
                    .str(table.keys[a].name.as_str())
                    .str("`: rename a column with `column = \"...\"`, or drop the second key(...)")
                    .fail()
            }
            b += 1;
        }
        a += 1;
    }
    let mut f = 0;
    while f < table.columns.len() {
        let mut g = f + 1;
        while g < table.columns.len() {
            if table.columns[f].name.same(&table.columns[g].name) {
                Text::new("column `")
                    .str(table.columns[f].name.as_str())
                    .str("` is there twice, in spec, status or metadata: rename one with `column = \"...\"`")
                    .fail()
            }
            g += 1;
        }
        f += 1;
    }
}
