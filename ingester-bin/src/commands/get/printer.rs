//! Turns rows into text, in every format. Text is made portion by portion; only a template that needs a whole list has to hold it.

use super::format::Format;
use super::layout::Layout;
use crate::commands::tree::tree;
use crate::ending::Failure;
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_core::value::Micros;
use ingester_printers::jsonpath::TemplateError;
use ingester_printers::table::{TabWriter, TablePrinter};
use ingester_printers::{Tree, json, yaml};
use ingester_server::answer;
use ingester_store::query::FoundRow;

/// Prints rows in a format.
pub(in crate::commands) struct Printer<'f> {
    format: &'f Format,
    headers: bool,
    /// An object on its own is printed, not a list.
    pub(in crate::commands) single: bool,
    /// Objects are printed one by one, not as a list.
    pub(in crate::commands) one_by_one: bool,
    /// The kind stands before each name.
    pub(in crate::commands) with_kind: bool,
    /// The number of printed objects.
    printed: usize,
    /// No object of this kind was printed yet.
    new_kind: bool,
    /// The table of the current kind.
    table: Option<TablePrinter>,
    /// The lines of custom columns.
    custom: TabWriter,
    items: Vec<Tree>,
}

impl<'f> Printer<'f> {
    pub(in crate::commands) fn new(format: &'f Format, headers: bool) -> Self {
        Printer {
            format,
            headers,
            single: false,
            one_by_one: false,
            with_kind: false,
            printed: 0,
            new_kind: true,
            table: None,
            custom: TabWriter::default(),
            items: Vec::new(),
        }
    }

    pub(in crate::commands) fn format(&self) -> &'f Format {
        self.format
    }

    /// Prepares for rows of another kind.
    pub(in crate::commands) fn next_kind(&mut self) {
        self.new_kind = true;
        self.table = None;
    }

    /// Returns the text of these rows.
    pub(super) fn render_rows(&mut self, layout: &Layout, rows: &[FoundRow], now: Micros) -> Result<String, Failure> {
        let mut out = String::new();
        let new_kind = std::mem::replace(&mut self.new_kind, false);
        match self.format {
            Format::Table | Format::Wide => {
                if new_kind && self.headers && self.printed > 0 {
                    out.push('\n');
                }
                let table = self.table.get_or_insert_with(|| layout.table(self.headers, self.with_kind));
                out.push_str(&table.render_rows(rows.iter().map(|row| layout.row(row, now))));
            }
            Format::Csv => {
                if new_kind && self.headers {
                    out.push_str(&layout.names());
                }
                rows.iter().for_each(|row| out.push_str(&layout.record(row, now)));
            }
            Format::Name => rows.iter().for_each(|row| out.push_str(&(layout.qualified(row) + "\n"))),
            Format::Custom(columns) => {
                let mut lines = Vec::with_capacity(rows.len() + 1);
                if self.printed == 0 && self.headers {
                    lines.push(columns.headers());
                }
                for row in rows {
                    lines.extend(columns.lines(&object(&layout.kind, row)?).map_err(|error| self.failed(&error))?);
                }
                out.push_str(&self.custom.lines(&lines));
            }
            Format::Json | Format::Yaml | Format::JsonPath(..) | Format::JsonPathAsJson(_) => {
                for row in rows {
                    out.push_str(&self.item(object(&layout.kind, row)?)?);
                }
                return Ok(out);
            }
        }
        self.printed += rows.len();
        Ok(out)
    }

    /// Returns the text of an object, in a format with objects.
    pub(in crate::commands) fn item(&mut self, tree: Tree) -> Result<String, Failure> {
        let nth = self.printed;
        self.printed += 1;
        let alone = self.single || self.one_by_one;
        let begin = |text: &str| if nth == 0 { text.to_owned() } else { String::new() };
        Ok(match self.format {
            Format::Json if alone => json::pretty(&tree),
            Format::Json => begin(json::LIST_BEGIN) + &json::item(&tree, nth == 0),
            Format::Yaml if alone => format!("{}{}", if nth == 0 { "" } else { "---\n" }, yaml::document(&tree)),
            Format::Yaml => begin(yaml::LIST_BEGIN) + &yaml::item(&tree),
            Format::JsonPath(_, Some(template)) if !alone => {
                match template.print(&tree).map_err(|error| self.failed(&error))? {
                    // Nothing precedes the first text.
                    Some(text) if self.items.is_empty() => {
                        self.items.push(Tree::Null);
                        text
                    }
                    Some(text) => format!("{}{text}", template.separator),
                    None => String::new(),
                }
            }
            Format::JsonPathAsJson(template) if alone => {
                template.print_as_json(&tree).map_err(|error| self.failed(&error))?
            }
            Format::JsonPath(template, _) if alone => template.print(&tree).map_err(|error| self.failed(&error))?,
            _ => {
                self.items.push(tree);
                String::new()
            }
        })
    }

    /// Returns the text after all rows.
    pub(in crate::commands) fn end(&mut self) -> Result<String, Failure> {
        let whole = |printer: &mut Self| Tree::list_of(std::mem::take(&mut printer.items));
        let empty = self.printed == 0;
        Ok(match self.format {
            _ if self.one_by_one || self.single => String::new(),
            Format::Json if empty => [json::LIST_BEGIN, json::EMPTY_LIST_END].concat(),
            Format::Json => json::LIST_END.to_owned(),
            Format::Yaml if empty => [yaml::EMPTY_LIST_BEGIN, yaml::LIST_END].concat(),
            Format::Yaml => yaml::LIST_END.to_owned(),
            Format::JsonPath(template, None) => template.print(&whole(self)).map_err(|error| self.failed(&error))?,
            Format::JsonPathAsJson(template) => {
                template.print_as_json(&whole(self)).map_err(|error| self.failed(&error))?
            }
            Format::Custom(columns) if empty && self.headers => self.custom.lines(&[columns.headers()]),
            _ => String::new(),
        })
    }

    fn failed(&self, error: &TemplateError) -> Failure {
        let flag = if matches!(self.format, Format::Custom(_)) { "custom-columns" } else { "jsonpath" };
        Failure::Work(anyhow!("-o {flag}: {error}"))
    }
}

/// The object of a row.
fn object(kind: &Kind, row: &FoundRow) -> Result<Tree, Failure> {
    let parsed = tree(&answer::object(kind, row));
    parsed.map_err(|error| Failure::Work(anyhow!("the stored object {} is not JSON: {error}", row.uid())))
}
