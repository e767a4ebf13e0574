//! The SELECT of a view.

use super::rules::Rules;
use crate::ddl::{ConditionDef, ExpressionDef, LiteralDef, SourceDef, ViewColumnDef, ViewDef};
use ingester_core::schema::Ident;
use ingester_core::view::ViewType;
use std::cell::RefCell;

/// The prefix of the names of joined settings; a number follows.
const JOINED: &str = "ingester_setting_";

/// One SELECT for each table, joined by UNION ALL.
pub(super) fn body(rules: &dyn Rules, view: &ViewDef) -> String {
    let part = |source| Writer { rules, joined: RefCell::default() }.source(&view.columns, source);
    let parts: Vec<String> = view.sources.iter().map(part).collect();
    parts.join("\nUNION ALL\n")
}

/// Writes what one table contributes.
struct Writer<'a> {
    rules: &'a dyn Rules,
    /// The settings that are read out of a join, in the order of their numbers from 1.
    joined: RefCell<Vec<&'a str>>,
}

impl<'a> Writer<'a> {
    fn source(&self, columns: &[ViewColumnDef], source: &'a SourceDef) -> String {
        let columns: Vec<String> = columns
            .iter()
            .zip(&source.values)
            .map(|(column, value)| format!("  {} AS {}", self.render_value(value, column.ty), self.name(column.name)))
            .collect();
        let filter = source.filter.as_ref().map(|filter| self.condition(filter, true));
        let mut sql = format!("SELECT\n{}\nFROM {}", columns.join(",\n"), self.name(source.table));
        for (place, name) in self.joined.borrow().iter().enumerate() {
            let joined = self.rules.requote(&format!("\"{JOINED}{}\"", place + 1));
            let read = self.rules.requote(r#"FROM "ingester_settings" WHERE "name" = "#);
            let value = self.rules.requote("\"value\"");
            let name = self.rules.literal(name);
            sql.push_str(&format!("\nLEFT JOIN (SELECT {value} AS {joined} {read}{name}) AS {joined} ON TRUE"));
        }
        if let Some(filter) = filter {
            sql.push_str("\nWHERE ");
            sql.push_str(&filter);
        }
        sql
    }

    fn setting(&self, name: &'a str) -> String {
        if !self.rules.facts().joins_settings {
            let sql = self.rules.requote(r#"(SELECT "value" FROM "ingester_settings" WHERE "name" = "#);
            return format!("{sql}{})", self.rules.literal(name));
        }
        let mut joined = self.joined.borrow_mut();
        let place = joined.iter().position(|known| *known == name).unwrap_or_else(|| {
            joined.push(name);
            joined.len() - 1
        });
        self.rules.requote(&format!("\"{JOINED}{}\"", place + 1))
    }

    fn name(&self, name: Ident) -> String {
        self.rules.requote(&format!("\"{name}\""))
    }

    /// A value of a column. NULL alone has no type, and a server would choose one.
    fn render_value(&self, value: &'a ExpressionDef, ty: ViewType) -> String {
        match (value, ty) {
            (ExpressionDef::Null, ViewType::Text | ViewType::Integer | ViewType::Time) => self.rules.cast("NULL", ty),
            _ => self.value(value),
        }
    }

    fn value(&self, value: &'a ExpressionDef) -> String {
        match value {
            ExpressionDef::Null => "NULL".to_owned(),
            ExpressionDef::Literal(literal) => self.literal(literal),
            ExpressionDef::Column(name) => self.name(*name),
            ExpressionDef::Truth(name) => self.rules.truth(&self.name(*name)),
            ExpressionDef::Setting(name) => self.setting(name),
            ExpressionDef::Coalesce(all) => {
                let all: Vec<String> = all.iter().map(|value| self.value(value)).collect();
                format!("COALESCE({})", all.join(", "))
            }
            ExpressionDef::Concat(all) => {
                let parts = all.iter().flat_map(|value| match value {
                    ExpressionDef::Literal(LiteralDef::Text(text)) => self.lines(text),
                    other => vec![self.value(other)],
                });
                self.rules.concat(&parts.collect::<Vec<_>>())
            }
            ExpressionDef::Cast(inner, to) => self.rules.cast(&self.value(inner), *to),
            ExpressionDef::Case(branches, otherwise) => {
                let mut sql = "CASE".to_owned();
                for (condition, value) in branches {
                    sql.push_str(&format!(" WHEN {} THEN {}", self.condition(condition, true), self.value(value)));
                }
                format!("{sql} ELSE {} END", self.value(otherwise))
            }
        }
    }

    fn literal(&self, literal: &LiteralDef) -> String {
        match literal {
            LiteralDef::Text(text) => self.render_text(text),
            LiteralDef::Integer(number) => number.to_string(),
        }
    }

    /// A text. Line breaks are written as functions: some servers store a view with escapes in its texts, and read it back in another
    /// mode without them.
    fn render_text(&self, text: &str) -> String {
        let parts = self.lines(text);
        match &parts[..] {
            [one] => one.clone(),
            several => self.rules.concat(several),
        }
    }

    /// The parts of a text: line breaks, and the text between them.
    fn lines(&self, text: &str) -> Vec<String> {
        let mut parts = Vec::new();
        for (place, line) in text.split('\n').enumerate() {
            if place > 0 {
                parts.push(self.rules.facts().line_break.to_owned());
            }
            if !line.is_empty() {
                parts.push(self.rules.literal(line));
            }
        }
        if parts.is_empty() {
            parts.push(self.rules.literal(""));
        }
        parts
    }

    /// A condition that holds, or does not hold, as `wanted`. The negation is written as a separate test that decides about NULL, so no
    /// result is unknown.
    fn condition(&self, condition: &'a ConditionDef, wanted: bool) -> String {
        let and = " AND ";
        let or = " OR ";
        let deleted = |is: bool| self.null("delete_time", !is);
        let evicted = |is: bool| self.null("evict_time", !is);
        match condition {
            ConditionDef::Deleted => deleted(wanted),
            ConditionDef::Live => joined(&[deleted(!wanted), evicted(!wanted)], if wanted { and } else { or }),
            ConditionDef::Evicted => joined(&[deleted(!wanted), evicted(wanted)], if wanted { and } else { or }),
            ConditionDef::Null(value) => {
                format!("{} IS {}NULL", self.value(value), if wanted { "" } else { "NOT " })
            }
            ConditionDef::OneOf(value, literals) => {
                let value = self.value(value);
                let literals: Vec<String> = literals.iter().map(|literal| self.literal(literal)).collect();
                let literals = literals.join(", ");
                match wanted {
                    true => format!("{value} IN ({literals})"),
                    false => format!("({value} IS NULL OR {value} NOT IN ({literals}))"),
                }
            }
            // Each table by itself, so that its primary key serves. The value stands outside: inside, its names would mean the table's columns.
            ConditionDef::Stored(value, tables) => {
                let value = self.value(value);
                let (not, word) = if wanted { ("", or) } else { ("NOT ", and) };
                let uid = self.rules.requote("\"uid\"");
                let one = |table: &Ident| format!("{value} {not}IN (SELECT {uid} FROM {})", self.name(*table));
                let stored = joined(&tables.iter().map(one).collect::<Vec<_>>(), word);
                if wanted { stored } else { format!("({value} IS NULL OR {stored})") }
            }
            ConditionDef::Not(inner) => self.condition(inner, !wanted),
            ConditionDef::All(all) => self.all(all, wanted, if wanted { and } else { or }),
            ConditionDef::Any(all) => self.all(all, wanted, if wanted { or } else { and }),
        }
    }

    fn all(&self, all: &'a [ConditionDef], wanted: bool, word: &str) -> String {
        let all: Vec<String> = all.iter().map(|condition| self.condition(condition, wanted)).collect();
        joined(&all, word)
    }

    fn null(&self, column: &str, is: bool) -> String {
        let sql = self.rules.requote(&format!("\"{column}\""));
        format!("{sql} IS {}NULL", if is { "" } else { "NOT " })
    }
}

fn joined(all: &[String], word: &str) -> String {
    match all {
        [one] => one.clone(),
        several => format!("({})", several.join(word)),
    }
}
