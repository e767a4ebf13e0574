//! Finds the progress of a migration in the catalog. Pure.
//!
//! A migration has one or more steps. MySQL commits each of them, so after an interruption a database may be between any two. The items
//! that a step changes are known before and after it (a column with its type, a key, a table), so the catalog shows the place.

use super::drift::{has_key, is_column, same_names};
use crate::ledger::catalog::{Catalog, FoundTable};
use ingester_core::schema::Ident;
use ingester_sql::ddl::{ColumnDef, KeyDef, SchemaChange, steps_of};
use ingester_sql::dialect::Dialect;

/// Returns how many steps of these changes a database has behind it, from none to all; `None` if it is at none of these places, because
/// something else changed it.
///
/// A table or view that is dropped and made again looks alike before and after, so several places may fit. Then the result is the place
/// with the fewest steps on the way up, and with the most on the way down (`up` is false), because such a step can be repeated.
pub(super) fn progress(changes: &[SchemaChange], catalog: &Catalog, dialect: Dialect, up: bool) -> Option<usize> {
    let steps = steps_of(changes);
    // A step that makes several keys may have stopped at any of them.
    let alone = dialect.makes_keys_beside_writers();
    let mut things: Vec<ChangedItem<'_>> = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        let mut effects: Vec<Effect<'_>> =
            step.iter().flat_map(|change| effects(change, up && alone, !up && alone)).collect();
        // If an item takes another's name in the same step, the old one existed before, and the new one exists after.
        effects.sort_by_key(|effect| effect.before == CatalogState::Absent);
        for Effect { name, before, after } in effects {
            let last = things.iter_mut().find(|thing| thing.name == name);
            match last {
                None => things.push(ChangedItem { name, states: vec![(number, before, after)] }),
                Some(thing) => match thing.states.last_mut() {
                    Some((last, _, its)) if *last == number => *its = after,
                    _ => thing.states.push((number, before, after)),
                },
            }
        }
    }
    // A column can only be found once its table has the right name.
    let waits = |name: Name, place: usize| {
        let changes = |thing: &ChangedItem<'_>| thing.states.iter().any(|(step, ..)| *step >= place);
        name.within().is_some_and(|of| things.iter().any(|thing| thing.name == Name::Table(of) && changes(thing)))
    };
    let is_at = |place: usize| {
        things.iter().all(|thing| {
            let (step, state) = thing.at(place);
            let named = |columns: &[Ident]| columns_at(&steps, thing.name, columns, step, place);
            waits(thing.name, place) || is(thing.name, state, &named, catalog, dialect)
        })
    };
    let made_again = |thing: &ChangedItem<'_>| thing.states.len() > 1 && thing.states[0].1 == CatalogState::Any;
    let mut places = 0..=steps.len();
    match up && things.iter().any(made_again) {
        true => places.find(|place| is_at(*place)),
        false => places.rev().find(|place| is_at(*place)),
    }
}

/// Returns true if a database has the effect of all these changes.
pub(super) fn is_done(changes: &[SchemaChange], catalog: &Catalog, dialect: Dialect) -> bool {
    progress(changes, catalog, dialect, true) == Some(steps_of(changes).len())
}

/// An item of a catalog.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Name {
    Table(Ident),
    View(Ident),
    Column(Ident, Ident),
    Key(Ident, Ident),
    PrimaryKey(Ident),
}

/// The known state of an item at one place.
#[derive(Clone, Copy, PartialEq)]
enum CatalogState<'c> {
    /// Nothing is known. A statement that can be repeated leads from any state to the next one.
    Any,
    Absent,
    Exists,
    Column(&'c ColumnDef),
    Key(&'c [Ident]),
    /// Either nothing, or the key that the step makes.
    Unmade(&'c [Ident]),
}

/// The effect of a change on one item.
struct Effect<'c> {
    name: Name,
    before: CatalogState<'c>,
    after: CatalogState<'c>,
}

/// One item, with each step that changes it: the step's number, and the states before and after.
struct ChangedItem<'c> {
    name: Name,
    states: Vec<(usize, CatalogState<'c>, CatalogState<'c>)>,
}

impl<'c> ChangedItem<'c> {
    /// Returns the state after `place` steps, and the number of steps after which that state is given.
    fn at(&self, place: usize) -> (usize, CatalogState<'c>) {
        let next = self.states.iter().find(|(step, ..)| *step >= place).map(|(step, before, _)| (*step, *before));
        let last = self.states.iter().rev().find(|(step, ..)| *step < place).map(|(step, _, after)| (step + 1, *after));
        match (last, next) {
            (_, Some((_, CatalogState::Any))) | (None, None) => (place, CatalogState::Any),
            (_, Some(unmade @ (_, CatalogState::Unmade(_)))) => unmade,
            (Some(state), _) | (None, Some(state)) => state,
        }
    }
}

/// Returns the names that the columns of a key have after `place` steps. The change of the key uses their names after `said` steps.
fn columns_at(steps: &[&[SchemaChange]], of: Name, columns: &[Ident], said: usize, place: usize) -> Vec<Ident> {
    let renamed = steps[said.min(place)..said.max(place)].iter().copied().flatten().filter_map(|change| match change {
        SchemaChange::RenameColumn { table, column, to } if of.within() == Some(*table) => Some((column.name, *to)),
        _ => None,
    });
    let mut columns = columns.to_vec();
    let mut rename = |(from, to): (Ident, Ident)| {
        columns.iter_mut().filter(|column| **column == from).for_each(|column| *column = to);
    };
    match said <= place {
        true => renamed.for_each(rename),
        false => renamed.collect::<Vec<_>>().into_iter().rev().for_each(|(from, to)| rename((to, from))),
    }
    columns
}

impl Name {
    /// Returns the table of a column or key.
    fn within(self) -> Option<Ident> {
        match self {
            Name::Table(_) | Name::View(_) => None,
            Name::Column(table, _) | Name::Key(table, _) | Name::PrimaryKey(table) => Some(table),
        }
    }
}

/// Returns the effect of a change on each item. Statements about whole tables and views can be repeated. If keys are made one by one, an
/// interrupted step may have made some of its keys: the `added` ones on the way up, or the `dropped` ones on the way down.
fn effects(change: &SchemaChange, added: bool, dropped: bool) -> Vec<Effect<'_>> {
    use CatalogState::{Absent, Any, Column, Exists, Key, Unmade};
    let effect = |name, before, after| Effect { name, before, after };
    match change {
        SchemaChange::CreateTable(table) => vec![effect(Name::Table(table.name), Any, Exists)],
        SchemaChange::DropTable(table) => vec![effect(Name::Table(table.name), Any, Absent)],
        SchemaChange::RenameTable { from, to } => {
            vec![effect(Name::Table(*from), Exists, Absent), effect(Name::Table(*to), Absent, Exists)]
        }
        SchemaChange::AddColumn { table, column } => {
            vec![effect(Name::Column(*table, column.name), Absent, Column(column))]
        }
        SchemaChange::DropColumn { table, column } => {
            vec![effect(Name::Column(*table, column.name), Column(column), Absent)]
        }
        SchemaChange::RenameColumn { table, column, to } => vec![
            effect(Name::Column(*table, column.name), Column(column), Absent),
            effect(Name::Column(*table, *to), Absent, Column(column)),
        ],
        SchemaChange::Retype { table, from, to } => {
            vec![effect(Name::Column(*table, to.name), Column(from), Column(to))]
        }
        SchemaChange::PrimaryKey { table, from, to } => vec![effect(Name::PrimaryKey(*table), Key(from), Key(to))],
        SchemaChange::AddKey { table, key } => {
            let before = if added { Unmade(&key.columns) } else { Absent };
            vec![effect(Name::Key(*table, key.name), before, Key(&key.columns))]
        }
        SchemaChange::DropKey { table, key } => {
            let after = if dropped { Unmade(&key.columns) } else { Absent };
            vec![effect(Name::Key(*table, key.name), Key(&key.columns), after)]
        }
        SchemaChange::RenameKey { table, key, to } => vec![
            effect(Name::Key(*table, key.name), Key(&key.columns), Absent),
            effect(Name::Key(*table, *to), Absent, Key(&key.columns)),
        ],
        SchemaChange::CreateView(view) => vec![effect(Name::View(view.name), Any, Exists)],
        SchemaChange::DropView(view) => vec![effect(Name::View(view.name), Any, Absent)],
    }
}

/// Returns true if the catalog has an item in this state, in which the columns of a key have these names. Columns and keys of a missing
/// table are in no state.
fn is(
    name: Name,
    state: CatalogState<'_>,
    named: &dyn Fn(&[Ident]) -> Vec<Ident>,
    catalog: &Catalog,
    dialect: Dialect,
) -> bool {
    let table = |name: Ident| catalog.tables.get(name.as_str());
    let within = |of: Ident, is: &dyn Fn(&FoundTable) -> bool| table(of).is_some_and(is);
    let has_name =
        |of: Ident, key: Ident| within(of, &|found| found.keys.contains_key(dialect.key_name(of, key).as_str()));
    match (name, state) {
        (_, CatalogState::Any) => true,
        (Name::Table(name), CatalogState::Absent) => table(name).is_none(),
        (Name::Table(name), _) => table(name).is_some(),
        (Name::View(name), CatalogState::Absent) => !catalog.views.contains_key(name.as_str()),
        (Name::View(name), _) => catalog.views.contains_key(name.as_str()),
        (Name::Column(of, name), CatalogState::Column(column)) => {
            within(of, &|found| found.column(name.as_str()).is_some_and(|found| is_column(dialect, column, found)))
        }
        (Name::Column(of, name), CatalogState::Exists) => within(of, &|found| found.column(name.as_str()).is_some()),
        (Name::Column(of, name), _) => within(of, &|found| found.column(name.as_str()).is_none()),
        (Name::Key(of, name), CatalogState::Key(columns)) => {
            within(of, &|found| has_key(dialect, of, &KeyDef { name, columns: named(columns) }, found))
        }
        (Name::Key(of, name), CatalogState::Unmade(columns)) => {
            let is_made = |found: &FoundTable| has_key(dialect, of, &KeyDef { name, columns: named(columns) }, found);
            within(of, &|found| is_made(found) || !has_name(of, name))
        }
        (Name::Key(of, name), _) => within(of, &|_| true) && !has_name(of, name),
        (Name::PrimaryKey(of), CatalogState::Key(columns)) => {
            within(of, &|found| same_names(&named(columns), &found.primary_key))
        }
        (Name::PrimaryKey(_), _) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::{is_done, progress};
    use crate::ledger::catalog::{Catalog, FoundKey, FoundTable};
    use ingester_core::schema::Ident;
    use ingester_sql::ddl::{KeyDef, SchemaChange, TableDef};
    use ingester_sql::dialect::Dialect;

    #[test]
    fn a_table_is_rebuilt_again_if_the_outcome_is_unknown() {
        let table = || TableDef {
            name: Ident::new("job_limits"),
            was: Vec::new(),
            columns: Vec::new(),
            primary_key: Vec::new(),
            keys: Vec::new(),
        };
        let again = [SchemaChange::CreateTable(table()), SchemaChange::DropTable(table())];
        let made = [SchemaChange::CreateTable(table())];
        let there = Catalog { tables: [("job_limits".to_owned(), FoundTable::default())].into(), ..Catalog::default() };
        let at = |changes: &[SchemaChange], catalog: &Catalog, up| progress(changes, catalog, Dialect::MySql, up);
        let remade = [again[1].clone(), again[0].clone()];
        // It may be the old table.
        assert_eq!(at(&remade, &there, true), Some(0));
        assert_eq!(at(&remade, &there, false), Some(2));
        assert!(!is_done(&remade, &there, Dialect::MySql));
        // If the table was only made, its existence is the proof.
        assert_eq!((at(&made, &there, true), at(&made, &Catalog::default(), true)), (Some(1), Some(0)));
    }

    #[test]
    fn a_step_that_makes_several_keys_may_be_at_any_of_them() {
        let job = Ident::new("job");
        let uid = Ident::new("uid");
        let key = |name: &str, column: &str| KeyDef { name: Ident::new(name), columns: vec![Ident::new(column)] };
        let changes = [
            SchemaChange::DropKey { table: job, key: key("a", "a") },
            SchemaChange::AddKey { table: job, key: key("a", "c") },
            SchemaChange::AddKey { table: job, key: key("b", "b") },
        ];
        // PostgreSQL's keys end with the primary key.
        let catalog = |keys: &[(&str, &str)]| {
            let found = |column: &str| FoundKey { columns: vec![column.to_owned(), uid.to_string()], unique: false };
            let keys = keys.iter().map(|(name, column)| (format!("job__{name}"), found(column))).collect();
            let table = FoundTable { primary_key: vec![uid.to_string()], keys, ..FoundTable::default() };
            Catalog { tables: [("job".to_owned(), table)].into(), ..Catalog::default() }
        };
        for (keys, up, down) in [
            (&[("a", "a")][..], 0, 1),
            (&[], 1, 1),
            (&[("a", "c")], 1, 1),
            (&[("b", "b")], 1, 1),
            (&[("a", "c"), ("b", "b")], 2, 2),
        ] {
            let at = |up| progress(&changes, &catalog(keys), Dialect::Postgres, up);
            assert_eq!(at(true), Some(up), "{keys:?}");
            // On the way down one step drops both at once, and the former key may be made again already.
            let is_partial = keys == [("a", "c")] || keys == [("b", "b")];
            assert_eq!(at(false), (!is_partial).then_some(down), "{keys:?}");
        }
    }
}
