//! Changes as text, for a pull request and for a terminal.

use super::cost::{Cost, Family, Servers};
use super::diff::{SchemaChange, no_longer_staying};
use super::in_place::{ChangeReplacement, in_place};
use super::schema::Schema;
use super::table::{ColumnDef, TableDef};
use ingester_core::schema::{BASE_COLUMNS, Ident, SqlType, Stays, base};
use std::fmt::Write as _;

/// A column of a database whose type is not ours. As a [`ColumnDef`] it is LONGBLOB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignType {
    /// Its table.
    pub table: String,
    /// Its name.
    pub column: String,
    /// Its type, as the database spells it.
    pub ty: String,
}

impl SchemaChange {
    /// Describes the change in one line.
    pub fn sentence(&self) -> String {
        self.sentence_on(&[])
    }

    /// Describes the change in one line, for a database in which these columns have other types.
    pub fn sentence_on(&self, foreign: &[ForeignType]) -> String {
        let ty = |column: &ColumnDef| {
            let is = |foreign: &&ForeignType| {
                column.ty == SqlType::LongBlob
                    && foreign.column == column.name.as_str()
                    && self.within().is_some_and(|table| foreign.table == table.as_str())
            };
            foreign.iter().find(is).map_or_else(|| column.ty.to_string(), |foreign| foreign.ty.clone())
        };
        let column = |column: &ColumnDef| format!("`{}` {}", column.name, ty(column));
        let null = |column: &ColumnDef| if column.nullable { "NULL" } else { "NOT NULL" };
        let names = |names: &[Ident]| names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        match self {
            SchemaChange::CreateTable(table) => format!("create table `{}`", table.name),
            SchemaChange::DropTable(table) => format!("drop table `{}`", table.name),
            SchemaChange::RenameTable { from, to } => format!("rename table `{from}` to `{to}`"),
            SchemaChange::AddColumn { column: added, .. } => format!("add column {}", column(added)),
            SchemaChange::DropColumn { column: dropped, .. } => format!("drop column {}", column(dropped)),
            SchemaChange::RenameColumn { column, to, .. } => format!("rename column `{}` to `{to}`", column.name),
            SchemaChange::Retype { from, to, .. } if from.ty == to.ty => {
                format!("change column `{}` from {} to {}", to.name, null(from), null(to))
            }
            SchemaChange::Retype { from, to, .. } => {
                format!("change column `{}` from {} to {}", to.name, ty(from), to.ty)
            }
            SchemaChange::PrimaryKey { from, to, .. } => {
                format!("change the primary key from ({}) to ({})", names(from), names(to))
            }
            SchemaChange::AddKey { key, .. } => format!("add key {key}"),
            SchemaChange::DropKey { key, .. } => format!("drop key {key}"),
            SchemaChange::RenameKey { key, to, .. } => format!("rename key `{}` to `{to}`", key.name),
            SchemaChange::CreateView(view) => format!("make view `{}`", view.name),
            SchemaChange::DropView(view) => format!("drop view `{}`", view.name),
        }
    }

    /// The data that it drops, as text; `None` if it drops none. `all` are the changes that it is one of.
    /// On `servers`; `refilled` says whether a backfill follows.
    fn loss(&self, all: &[SchemaChange], refilled: bool, servers: Servers) -> Option<String> {
        let added_again = refilled && is_added_again(self, all);
        // All servers are described, and only SQLite differs here.
        let on_sqlite = match self {
            SchemaChange::DropColumn { table, column } if servers == Servers::All => lost_in_place(*table, column, all),
            _ => None,
        };
        match self {
            // The column is left as it is, so values that stay are not lost either.
            SchemaChange::AddColumn { .. } if servers.have_storage_classes() => match in_place(self, all)? {
                ChangeReplacement::Clear { table, column, ty } => {
                    Some(format!("the values of `{table}`.`{column}` that do not fit {ty}"))
                }
                ChangeReplacement::Nothing => None,
            },
            SchemaChange::DropTable(table) if added_again => Some(format!(
                "all rows of `{}`, until they are made again from the stored objects; an object with a value that does not fit is a reject",
                table.name
            )),
            SchemaChange::DropTable(table) if is_alone(table, all.iter().filter_map(dropped)) => {
                Some(format!("all rows of `{}`; the objects keep theirs in `json`", table.name))
            }
            SchemaChange::DropTable(table) => Some(format!("all rows of `{}`", table.name)),
            SchemaChange::DropColumn { table, column } if !column.stays.is_none() => {
                Some(staying_loss(*table, *column, "no stored object gives them back"))
            }
            SchemaChange::DropColumn { table, column } if added_again => Some(format!(
                "the values of `{table}`.`{}`, until they are filled again from the stored objects; what does not fit its new type stays NULL{}",
                column.name,
                on_sqlite.map_or("", |narrower| if narrower.is_some() {
                    ". SQLite loses only that"
                } else {
                    ". SQLite loses none"
                }),
            )),
            // No object has it.
            SchemaChange::DropColumn { table, column } if column.name == BASE_COLUMNS[base::INGEST_VERSION].name => {
                Some(format!("the values of `{table}`.`{}`", column.name))
            }
            SchemaChange::DropColumn { table, column } => Some(format!(
                "the values of `{table}`.`{}`; the objects keep theirs in `json`{}",
                column.name,
                on_sqlite.map_or("", |narrower| if narrower.is_some() {
                    ". SQLite loses only what does not fit"
                } else {
                    ". SQLite loses none"
                }),
            )),
            SchemaChange::Retype { table, to, .. } if self.is_destructive() => {
                Some(format!("the values of `{table}`.`{}` that do not fit {}", to.name, to.ty))
            }
            _ => None,
        }
    }

    /// Its cost on each family of servers: `instant`, or `MySQL in place, from 8.0.12 instant; MariaDB and SQLite instant`.
    fn costs(&self, all: &[SchemaChange], servers: Servers) -> String {
        if let Servers::One(server) = servers {
            return self.cost(server, all).to_string();
        }
        let of = |family: Family| {
            let rules: Vec<_> = self.rules_on(family, all).collect();
            let mut text = String::new();
            for (n, rule) in rules.iter().enumerate() {
                if n > 0 {
                    let [major, minor, patch] = rule.since;
                    let _ = write!(text, ", from {major}.{minor}.{patch} ");
                }
                let _ = write!(text, "{}", rule.cost);
            }
            text
        };
        let mut groups: Vec<(String, Vec<Family>)> = Vec::new();
        for family in servers.families() {
            let cost = of(*family);
            match groups.iter_mut().find(|(other, _)| *other == cost) {
                Some((_, families)) => families.push(*family),
                None => groups.push((cost, vec![*family])),
            }
        }
        if let [(cost, _)] = &groups[..] {
            return cost.clone();
        }
        let group = |(cost, families): &(String, Vec<Family>)| {
            let families: Vec<String> = families.iter().map(ToString::to_string).collect();
            format!("{} {cost}", families.join(" and "))
        };
        groups.iter().map(group).collect::<Vec<_>>().join("; ")
    }
}

/// Describes in one line how `servers` carry out a change, which is one of `all` changes of a migration; `None` if they do nothing. SQLite
/// leaves a column that is dropped and added again as it is, with its keys.
fn done(change: &SchemaChange, all: &[SchemaChange], servers: Servers, foreign: &[ForeignType]) -> Option<String> {
    let sentence = || change.sentence_on(foreign);
    if !servers.have_storage_classes() {
        return Some(sentence());
    }
    let is_file = servers.see_statements();
    match (change, in_place(change, all)) {
        (SchemaChange::Retype { .. }, None) if is_file && !change.copies_rows() => None,
        (_, None) => Some(sentence()),
        (SchemaChange::AddColumn { .. }, Some(ChangeReplacement::Nothing)) if is_file => None,
        (SchemaChange::AddColumn { table, column: to }, Some(_)) => all.iter().find_map(|other| match other {
            SchemaChange::DropColumn { table: of, column: from } if of == table && from.name == to.name => {
                Some(SchemaChange::Retype { table: *table, from: *from, to: *to }.sentence_on(foreign))
            }
            _ => None,
        }),
        (_, Some(_)) => None,
    }
}

/// The changes as text, table by table, with their costs on `servers`. They are made together with `all` changes of a migration. `backfilled`
/// has the tables whose new columns are backfilled afterwards, `foreign` the columns of other types before.
pub fn summary(
    changes: &[SchemaChange],
    all: &[SchemaChange],
    backfilled: &Schema,
    servers: Servers,
    foreign: &[ForeignType],
) -> String {
    let mut text = String::new();
    let place = |change: &SchemaChange| (change.within(), change.is_of_view());
    let changes: Vec<(&SchemaChange, String)> =
        changes.iter().filter_map(|change| Some((change, done(change, all, servers, foreign)?))).collect();
    let mut places: Vec<(Option<Ident>, bool)> = Vec::new();
    for place in changes.iter().map(|(change, _)| place(change)) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    for its in places {
        match its {
            (Some(table), _) => {
                let _ = writeln!(text, "table `{table}`");
            }
            (None, false) => text.push_str("tables\n"),
            (None, true) => text.push_str("views\n"),
        }
        for (change, sentence) in changes.iter().filter(|(change, _)| place(change) == its) {
            let _ = writeln!(text, "  {sentence}: {}", change.costs(all, servers));
            if let SchemaChange::AddColumn { table, column } = change
                && backfilled.table(*table).is_some_and(|table| table.is_derived(column.name) && !table.is_history())
            {
                text.push_str("    filled from the stored objects afterwards\n");
            }
            if let SchemaChange::CreateTable(table) = change
                && is_alone(table, all.iter().filter_map(created))
                && backfilled.table(table.name).is_some()
            {
                text.push_str("    filled from the stored objects afterwards\n");
            }
            let copies = |family: &Family| match servers {
                _ if family.has_one_writer() => false,
                Servers::One(server) => change.cost(server, all) == Cost::Copy,
                _ => change.rules_on(*family, all).any(|rule| rule.cost == Cost::Copy),
            };
            if servers.families().iter().any(copies) {
                text.push_str("    writers of this table wait until it is copied\n");
            }
            if let Some(loss) = change.loss(all, is_refilled(change, backfilled), servers) {
                let _ = writeln!(text, "    DESTRUCTIVE: {loss}");
            }
        }
    }
    text
}

/// Returns true if a dropped column is added again with another type, or a dropped table is created again with other columns.
fn is_added_again(change: &SchemaChange, changes: &[SchemaChange]) -> bool {
    changes.iter().any(|other| match (change, other) {
        (SchemaChange::DropColumn { table, column }, SchemaChange::AddColumn { table: of, column: added }) => {
            of == table && added.name == column.name
        }
        (SchemaChange::DropTable(table), SchemaChange::CreateTable(created)) => created.name == table.name,
        _ => false,
    })
}

/// For a dropped column that SQLite leaves as it is: its new type, if not all values fit it.
fn lost_in_place(table: Ident, column: &ColumnDef, all: &[SchemaChange]) -> Option<Option<SqlType>> {
    let added = all.iter().find(|change| {
        matches!(change, SchemaChange::AddColumn { table: of, column: new } if *of == table && new.name == column.name)
    })?;
    match in_place(added, all)? {
        ChangeReplacement::Nothing => Some(None),
        ChangeReplacement::Clear { ty, .. } => Some(Some(ty)),
    }
}

/// The table that a change creates.
fn created(change: &SchemaChange) -> Option<&TableDef> {
    match change {
        SchemaChange::CreateTable(table) => Some(table),
        _ => None,
    }
}

/// The table that a change drops.
fn dropped(change: &SchemaChange) -> Option<&TableDef> {
    match change {
        SchemaChange::DropTable(table) => Some(table),
        _ => None,
    }
}

/// Returns true for a companion table whose main table is not among `others`.
fn is_alone<'a>(table: &TableDef, mut others: impl Iterator<Item = &'a TableDef>) -> bool {
    let is_main = |main: &TableDef| {
        let rest = table.name.as_str().strip_prefix(main.name.as_str());
        !main.is_companion() && rest.is_some_and(|rest| rest.starts_with('_'))
    };
    table.is_companion() && !others.any(is_main)
}

/// The loss of the values of a column that stay, and its reason.
fn staying_loss(table: Ident, column: ColumnDef, why: &str) -> String {
    format!(
        "the values of `{table}`.`{}` that are of earlier states of their objects (`{}`); {why}",
        column.name,
        column.stays.word()
    )
}

/// Describes the values that stay under `before` and may be overwritten under `after`. `changes` lead from one schema to the other.
pub fn staying_losses(before: &Schema, after: &Schema, changes: &[SchemaChange]) -> Vec<String> {
    let loss = |(table, was, is): &(Ident, ColumnDef, ColumnDef)| {
        let why = match is.stays {
            Stays::None => "without it, they are overwritten from the stored objects".to_owned(),
            stays => format!("with `{}` instead, they are overwritten from the stored objects", stays.word()),
        };
        staying_loss(*table, *was, &why)
    };
    no_longer_staying(before, after, changes).iter().map(loss).collect()
}

/// Describes the data that these changes drop, as the [`summary`] of their migration does. `backfilled` has the tables whose new columns are
/// backfilled afterwards.
pub fn losses(changes: &[SchemaChange], backfilled: &Schema) -> Vec<String> {
    let loss = |change: &SchemaChange| change.loss(changes, is_refilled(change, backfilled), Servers::All);
    changes.iter().filter_map(loss).collect()
}

/// The tables that have columns, or are tables of many values, which these changes add, so that they are empty until a backfill.
pub fn emptied_tables(changes: &[SchemaChange]) -> Vec<Ident> {
    let mut tables = Vec::new();
    for change in changes {
        let table = match change {
            SchemaChange::AddColumn { table, .. } => *table,
            SchemaChange::CreateTable(table) if is_alone(table, changes.iter().filter_map(created)) => table.name,
            _ => continue,
        };
        if !tables.contains(&table) {
            tables.push(table);
        }
    }
    tables
}

/// Returns true if a backfill fills what the change empties. Nothing is filled after a migration down, and former versions never are.
fn is_refilled(change: &SchemaChange, backfilled: &Schema) -> bool {
    let of_history = change.within().and_then(|table| backfilled.table(table)).is_some_and(TableDef::is_history);
    !backfilled.tables.is_empty() && !of_history
}

/// Asks about columns that may have been renamed, one question for each: the table loses only one column of this type, and gets only one.
pub fn questions(changes: &[SchemaChange]) -> Vec<String> {
    let question = |change: &SchemaChange| {
        let SchemaChange::DropColumn { table, column } = change else { return None };
        let alike = |other: &Ident, ty: &ColumnDef| other == table && ty.ty == column.ty;
        let mut added = changes.iter().filter_map(|change| match change {
            SchemaChange::AddColumn { table, column } if alike(table, column) => Some(column.name),
            _ => None,
        });
        let dropped = |change: &&SchemaChange| matches!(change, SchemaChange::DropColumn { table, column } if alike(table, column));
        let name = added.next().filter(|name| *name != column.name)?;
        let sole = added.next().is_none() && changes.iter().filter(dropped).count() == 1;
        sole.then(|| format!("is `{name}` the new name of `{}`? Then say so there with `was = \"{0}\"`", column.name))
    };
    changes
        .iter()
        .filter_map(question)
        .chain(changes.iter().filter_map(|change| question_of_many(change, changes)))
        .collect()
}

/// As above, for a table of many values, which is a column of its kind.
fn question_of_many(change: &SchemaChange, changes: &[SchemaChange]) -> Option<String> {
    let dropped_table = dropped(change).filter(|table| table.is_companion())?;
    let alike = |table: &&TableDef| table.is_companion() && table.columns == dropped_table.columns;
    let mut gone = changes.iter().filter_map(dropped).filter(alike);
    let mut new = changes.iter().filter_map(created).filter(alike);
    let name = new.next()?.name;
    let was = gone.next()?.name;
    let sole = name != was && new.next().is_none() && gone.next().is_none();
    sole.then(|| {
        format!("is `{name}` the new name of `{was}`? Then say so at the column with `was = \"...\"`, its former name")
    })
}
