//! Columns that a migration drops and adds again with another type, where a database stores the values of both types alike: SQLite
//! leaves the column as it is, and removes values that no longer fit.

use super::diff::{Retyping, SchemaChange, retyping};
use super::storage_class;
use super::table::{ColumnDef, KeyDef};
use ingester_core::schema::{Ident, SqlType};

/// The replacement of a change when the database leaves the column as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeReplacement {
    /// No statement is needed.
    Nothing,
    /// Values of `column` that do not fit `ty` become NULL.
    Clear {
        /// Its table.
        table: Ident,
        /// The column.
        column: Ident,
        /// Its new type.
        ty: SqlType,
    },
}

/// Returns the replacement of `change`, which is one of all `changes` of a migration, on a database that stores types of one
/// [`storage_class`] alike. `None` if the change must be made as it is.
pub(crate) fn in_place(change: &SchemaChange, changes: &[SchemaChange]) -> Option<ChangeReplacement> {
    match change {
        SchemaChange::DropColumn { table, column } => {
            added_again(*table, column, changes).map(|_| ChangeReplacement::Nothing)
        }
        SchemaChange::AddColumn { table, column } => {
            let from = changes.iter().find_map(|other| match other {
                SchemaChange::DropColumn { table: of, column: from } if of == table && from.name == column.name => {
                    added_again(*table, from, changes).map(|_| from)
                }
                _ => None,
            })?;
            Some(match retyping(from.ty, column.ty) {
                Retyping::Narrowed => ChangeReplacement::Clear { table: *table, column: column.name, ty: column.ty },
                Retyping::Widened | Retyping::Incompatible => ChangeReplacement::Nothing,
            })
        }
        SchemaChange::DropKey { table, key } | SchemaChange::AddKey { table, key } => {
            stays(*table, key, changes).then_some(ChangeReplacement::Nothing)
        }
        _ => None,
    }
}

/// The column that replaces a dropped one, if the database keeps its values alike.
fn added_again<'c>(table: Ident, from: &ColumnDef, changes: &'c [SchemaChange]) -> Option<&'c ColumnDef> {
    // A copy of the table has the columns that are there between the two steps: not this one.
    let is_copied = changes.iter().any(|change| change.within() == Some(table) && change.copies_rows());
    let to = changes.iter().find_map(|change| match change {
        SchemaChange::AddColumn { table: of, column } if *of == table && column.name == from.name => Some(column),
        _ => None,
    })?;
    let alike = from.nullable
        && to.nullable
        && storage_class(from.ty) == storage_class(to.ty)
        && retyping(from.ty, to.ty) != Retyping::Incompatible;
    (alike && !is_copied).then_some(to)
}

/// Returns true if a key is dropped and added again only because its columns are.
fn stays(table: Ident, key: &KeyDef, changes: &[SchemaChange]) -> bool {
    let same = |change: &SchemaChange, added: bool| match change {
        SchemaChange::DropKey { table: of, key: other } => !added && *of == table && other == key,
        SchemaChange::AddKey { table: of, key: other } => added && *of == table && other == key,
        _ => false,
    };
    let both = [false, true].iter().all(|added| changes.iter().any(|change| same(change, *added)));
    // A column of this name may be another one before and after.
    let is_kept = |name: Ident| {
        changes.iter().filter(|change| change.within() == Some(table)).all(|change| match change {
            SchemaChange::DropColumn { column, .. } if column.name == name => {
                added_again(table, column, changes).is_some()
            }
            SchemaChange::RenameColumn { column, to, .. } => column.name != name && *to != name,
            _ => true,
        })
    };
    both && key.columns.iter().copied().all(is_kept)
}

impl SchemaChange {
    /// Returns true if SQLite makes this change by copying the rows into a new table.
    pub(crate) fn copies_rows(&self) -> bool {
        match self {
            SchemaChange::PrimaryKey { .. } => true,
            SchemaChange::Retype { from, to, .. } => {
                from.nullable != to.nullable || storage_class(from.ty) != storage_class(to.ty)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ingester_core::schema::Stays;

    const JOB: Ident = Ident::new("job");

    fn column(name: &str, ty: SqlType) -> ColumnDef {
        ColumnDef { name: Ident::new(name), ty, nullable: true, stays: Stays::None, was: None }
    }

    /// A column `a` with a key, dropped and added again.
    fn again(from: SqlType, to: SqlType) -> Vec<SchemaChange> {
        let key = KeyDef { name: Ident::new("a"), columns: vec![Ident::new("a")] };
        vec![
            SchemaChange::DropKey { table: JOB, key: key.clone() },
            SchemaChange::DropColumn { table: JOB, column: column("a", from) },
            SchemaChange::AddColumn { table: JOB, column: column("a", to) },
            SchemaChange::AddKey { table: JOB, key },
        ]
    }

    fn in_places(changes: &[SchemaChange]) -> Vec<Option<ChangeReplacement>> {
        changes.iter().map(|change| in_place(change, changes)).collect()
    }

    #[test]
    fn a_narrowed_column_stays_with_its_key_and_loses_what_does_not_fit() {
        let nothing = Some(ChangeReplacement::Nothing);
        for (from, to) in [
            (SqlType::VarChar(64), SqlType::VarChar(32)),
            (SqlType::BigInt, SqlType::Int),
            (SqlType::Text, SqlType::VarChar(9)),
        ] {
            let clear = Some(ChangeReplacement::Clear { table: JOB, column: Ident::new("a"), ty: to });
            assert_eq!(in_places(&again(from, to)), [nothing, nothing, clear, nothing], "{from} {to}");
            // Back again, everything fits.
            assert_eq!(in_places(&again(to, from)), [nothing; 4], "{to} {from}");
        }
    }

    #[test]
    fn what_is_kept_otherwise_or_copied_is_dropped_and_added() {
        for (from, to) in [(SqlType::VarChar(64), SqlType::Int), (SqlType::VarChar(64), SqlType::DateTime)] {
            assert_eq!(in_places(&again(from, to)), [None; 4], "{from} {to}");
        }
        let mut copied = again(SqlType::BigInt, SqlType::Int);
        copied.push(SchemaChange::PrimaryKey { table: JOB, from: vec![], to: vec![] });
        assert_eq!(in_places(&copied), [None; 5]);
        // The copy of another table does not matter.
        let other = Ident::new("other");
        copied[4] = SchemaChange::PrimaryKey { table: other, from: vec![], to: vec![] };
        assert_eq!(in_places(&copied).iter().filter(|found| found.is_some()).count(), 4);
    }

    #[test]
    fn a_key_whose_column_is_another_one_afterwards_is_made_again() {
        let mut renamed = again(SqlType::BigInt, SqlType::Int);
        renamed.push(SchemaChange::RenameColumn {
            table: JOB,
            column: column("b", SqlType::BigInt),
            to: Ident::new("a"),
        });
        let found = in_places(&renamed);
        assert_eq!([found[0], found[3]], [None, None]);
    }
}
