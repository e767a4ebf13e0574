//! A view as owned data: as [`ingester_core::view`] declares it, with its columns and tables by name.

use super::table::TableDef;
use ingester_core::schema::{Ident, SqlType, Table};
use ingester_core::view::{Condition, Expression, Literal, View, ViewType, type_of};
use serde::{Deserialize, Serialize};

/// One view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewDef {
    /// Its name.
    pub name: Ident,
    /// Its columns in order.
    pub columns: Vec<ViewColumnDef>,
    /// The tables whose rows it shows, in order.
    pub sources: Vec<SourceDef>,
}

/// A column of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewColumnDef {
    /// Its name.
    pub name: Ident,
    /// The type of its values.
    #[serde(rename = "type")]
    pub ty: ViewType,
}

/// A table's part of a view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceDef {
    /// The table.
    pub table: Ident,
    /// The expressions that fill the view's columns, in the order of the columns.
    pub values: Vec<ExpressionDef>,
    /// The condition for a row to appear in the view; `None` shows all rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<ConditionDef>,
}

/// An [`Expression`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ExpressionDef {
    /// NULL.
    Null,
    /// A text or a number.
    Literal(LiteralDef),
    /// A column of the table.
    Column(Ident),
    /// A column of truth values, as 1 and 0. Lock files of early releases have [`Column`](ExpressionDef::Column) for it.
    Truth(Ident),
    /// A value of `ingester_settings`.
    Setting(String),
    /// The first that is not NULL.
    Coalesce(Vec<ExpressionDef>),
    /// The value as another type.
    Cast(Box<ExpressionDef>, ViewType),
    /// The value of the first condition that holds, otherwise the last one.
    Case(Vec<(ConditionDef, ExpressionDef)>, Box<ExpressionDef>),
    /// Texts, concatenated.
    Concat(Vec<ExpressionDef>),
}

impl PartialEq for ExpressionDef {
    fn eq(&self, other: &Self) -> bool {
        use ExpressionDef::{Case, Cast, Coalesce, Column, Concat, Literal, Null, Setting, Truth};
        match (self, other) {
            (Column(one) | Truth(one), Column(other) | Truth(other)) => one == other,
            (Null, Null) => true,
            (Literal(one), Literal(other)) => one == other,
            (Setting(one), Setting(other)) => one == other,
            (Coalesce(one), Coalesce(other)) | (Concat(one), Concat(other)) => one == other,
            (Cast(one, to), Cast(other, to_other)) => one == other && to == to_other,
            (Case(one, otherwise), Case(other, other_otherwise)) => one == other && otherwise == other_otherwise,
            _ => false,
        }
    }
}

/// A [`Literal`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum LiteralDef {
    /// A whole number.
    Integer(i64),
    /// Text.
    Text(String),
}

/// A [`Condition`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ConditionDef {
    /// The object is in the cluster.
    Live,
    /// The object lives only in SQL.
    Evicted,
    /// The object was deleted.
    Deleted,
    /// The value is NULL.
    Null(ExpressionDef),
    /// The value is one of these.
    OneOf(ExpressionDef, Vec<LiteralDef>),
    /// The value is a uid in one of these tables.
    Stored(ExpressionDef, Vec<Ident>),
    /// The opposite.
    Not(Box<ConditionDef>),
    /// All of these conditions hold.
    All(Vec<ConditionDef>),
    /// At least one of them.
    Any(Vec<ConditionDef>),
}

impl ViewDef {
    /// A checked view.
    pub(super) fn from_view(view: &View) -> Self {
        let value = |source: &ingester_core::view::ViewSource, column: &str| {
            source.values.iter().find(|(name, _)| name.eq_ignore_ascii_case(column)).map(|(_, value)| *value)
        };
        let ty = |column: &ingester_core::view::ViewColumn| {
            let of_source =
                |source: &ingester_core::view::ViewSource| type_of(source.kind.table(), &value(source, column.name)?);
            // A checked column has a type.
            column.ty.or_else(|| view.sources.iter().find_map(of_source)).unwrap_or(ViewType::Text)
        };
        ViewDef {
            name: Ident::tolerant(view.name, ""),
            columns: view
                .columns
                .iter()
                .map(|column| ViewColumnDef { name: Ident::tolerant(column.name, ""), ty: ty(column) })
                .collect(),
            sources: view
                .sources
                .iter()
                .map(|source| {
                    let table = source.kind.table();
                    let values = view.columns.iter().map(|column| value(source, column.name));
                    SourceDef {
                        table: table.name,
                        values: values.map(|value| expression(table, &value.unwrap_or(Expression::Null))).collect(),
                        filter: source.filter.as_ref().map(|filter| condition(table, filter)),
                    }
                })
                .collect(),
        }
    }

    /// The view with the truth values of these tables told apart, as a lock file of an early release does not have it.
    pub fn with_truths(mut self, tables: &[TableDef]) -> Self {
        for source in &mut self.sources {
            let Some(table) = tables.iter().find(|table| table.name == source.table) else { continue };
            let is = |name: Ident| table.column(name).is_some_and(|column| column.ty == SqlType::Boolean);
            source.values.iter_mut().for_each(|value| value.tell_truths(&is));
            source.filter.iter_mut().for_each(|filter| filter.tell_truths(&is));
        }
        self
    }

    /// Returns true if the view shows rows of this table, or looks for a uid in it.
    pub fn reads(&self, table: Ident) -> bool {
        self.sources.iter().any(|source| source.table == table)
            || self.has(&|read| matches!(read, ExternalRead::Uids(tables) if tables.contains(&table)))
    }

    /// Returns true if the view reads `ingester_settings`.
    pub(crate) fn has_setting(&self) -> bool {
        self.has(&|read| matches!(read, ExternalRead::Setting))
    }

    /// Returns true if the view reads something outside of its rows for which `is` holds.
    fn has(&self, is: &dyn Fn(ExternalRead<'_>) -> bool) -> bool {
        self.sources.iter().any(|source| {
            source.values.iter().any(|value| value.has(is)) || source.filter.as_ref().is_some_and(|all| all.has(is))
        })
    }
}

/// Data that an expression reads outside of its row.
enum ExternalRead<'a> {
    /// A value of `ingester_settings`.
    Setting,
    /// The uids of these tables.
    Uids(&'a [Ident]),
}

impl ExpressionDef {
    fn tell_truths(&mut self, is: &dyn Fn(Ident) -> bool) {
        match self {
            ExpressionDef::Column(name) if is(*name) => *self = ExpressionDef::Truth(*name),
            ExpressionDef::Null
            | ExpressionDef::Literal(_)
            | ExpressionDef::Column(_)
            | ExpressionDef::Truth(_)
            | ExpressionDef::Setting(_) => {}
            ExpressionDef::Coalesce(all) | ExpressionDef::Concat(all) => {
                all.iter_mut().for_each(|one| one.tell_truths(is));
            }
            ExpressionDef::Cast(inner, _) => inner.tell_truths(is),
            ExpressionDef::Case(branches, otherwise) => {
                for (condition, value) in branches {
                    condition.tell_truths(is);
                    value.tell_truths(is);
                }
                otherwise.tell_truths(is);
            }
        }
    }

    fn has(&self, is: &dyn Fn(ExternalRead<'_>) -> bool) -> bool {
        match self {
            ExpressionDef::Setting(_) => is(ExternalRead::Setting),
            ExpressionDef::Null | ExpressionDef::Literal(_) | ExpressionDef::Column(_) | ExpressionDef::Truth(_) => {
                false
            }
            ExpressionDef::Coalesce(all) | ExpressionDef::Concat(all) => all.iter().any(|one| one.has(is)),
            ExpressionDef::Cast(inner, _) => inner.has(is),
            ExpressionDef::Case(branches, otherwise) => {
                branches.iter().any(|(condition, value)| condition.has(is) || value.has(is)) || otherwise.has(is)
            }
        }
    }
}

impl ConditionDef {
    fn tell_truths(&mut self, is: &dyn Fn(Ident) -> bool) {
        match self {
            ConditionDef::Live | ConditionDef::Evicted | ConditionDef::Deleted => {}
            ConditionDef::Null(value) | ConditionDef::OneOf(value, _) | ConditionDef::Stored(value, _) => {
                value.tell_truths(is);
            }
            ConditionDef::Not(inner) => inner.tell_truths(is),
            ConditionDef::All(all) | ConditionDef::Any(all) => all.iter_mut().for_each(|one| one.tell_truths(is)),
        }
    }

    fn has(&self, is: &dyn Fn(ExternalRead<'_>) -> bool) -> bool {
        match self {
            ConditionDef::Live | ConditionDef::Evicted | ConditionDef::Deleted => false,
            ConditionDef::Null(value) | ConditionDef::OneOf(value, _) => value.has(is),
            ConditionDef::Stored(value, tables) => is(ExternalRead::Uids(tables)) || value.has(is),
            ConditionDef::Not(inner) => inner.has(is),
            ConditionDef::All(all) | ConditionDef::Any(all) => all.iter().any(|one| one.has(is)),
        }
    }
}

fn expression(table: &Table, of: &Expression) -> ExpressionDef {
    match of {
        Expression::Null => ExpressionDef::Null,
        Expression::Literal(of) => ExpressionDef::Literal(literal(of)),
        // As the table has it: upper and lower case make no difference.
        Expression::Column(name) => match table.by_name(name).map(|place| table.columns[place]) {
            Some(column) if column.ty == SqlType::Boolean => ExpressionDef::Truth(column.name),
            Some(column) => ExpressionDef::Column(column.name),
            None => ExpressionDef::Column(Ident::tolerant(name, "")),
        },
        Expression::Setting(name) => ExpressionDef::Setting((*name).to_owned()),
        Expression::Coalesce(all) => ExpressionDef::Coalesce(all.iter().map(|of| expression(table, of)).collect()),
        Expression::Concat(all) => ExpressionDef::Concat(all.iter().map(|of| expression(table, of)).collect()),
        Expression::Cast(inner, to) => ExpressionDef::Cast(expression(table, inner).into(), *to),
        Expression::Case(branches, otherwise) => ExpressionDef::Case(
            branches.iter().map(|(when, value)| (condition(table, when), expression(table, value))).collect(),
            expression(table, otherwise).into(),
        ),
    }
}

fn literal(of: &Literal) -> LiteralDef {
    match of {
        Literal::Text(text) => LiteralDef::Text((*text).to_owned()),
        Literal::Integer(number) => LiteralDef::Integer(*number),
    }
}

fn condition(table: &Table, of: &Condition) -> ConditionDef {
    let list = |all: &[Condition]| all.iter().map(|of| condition(table, of)).collect();
    match of {
        Condition::Live => ConditionDef::Live,
        Condition::Evicted => ConditionDef::Evicted,
        Condition::Deleted => ConditionDef::Deleted,
        Condition::Null(value) => ConditionDef::Null(expression(table, value)),
        Condition::OneOf(value, literals) => {
            ConditionDef::OneOf(expression(table, value), literals.iter().map(literal).collect())
        }
        Condition::Stored(value, kinds) => {
            ConditionDef::Stored(expression(table, value), kinds.iter().map(|kind| kind.table().name).collect())
        }
        Condition::Not(inner) => ConditionDef::Not(condition(table, inner).into()),
        Condition::All(all) => ConditionDef::All(list(all)),
        Condition::Any(all) => ConditionDef::Any(list(all)),
    }
}
