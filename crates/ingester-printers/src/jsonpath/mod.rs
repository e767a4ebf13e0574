//! kubectl's JSONPath templates: text with expressions in braces, which are paths of fields, indexes and slices, unions, wildcards,
//! recursion, filters, and `range ... end`. `parse.rs` reads a template, `find.rs` finds its results in an object.
//!
//! The rules, including odd ones, come from `k8s.io/client-go/util/jsonpath`. Go traverses a map in any order; this code goes by key.
//!
//! May use: json, number, tree.

mod find;
mod parse;

use crate::Tree;
use crate::json;
pub use parse::{Slice, Step};
use std::borrow::Cow;

/// A template that was read.
#[derive(Debug)]
pub struct Template {
    steps: Vec<Step>,
}

/// The reason why a template cannot be read, or cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError(pub(crate) String);

impl std::fmt::Display for TemplateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TemplateError {}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// When it breaks the grammar.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        Ok(Template { steps: parse::parse(text)? })
    }

    /// The steps of a template that is one expression alone, such as `{.spec.replicas}`.
    pub fn expression(&self) -> Option<&[Step]> {
        match self.steps.as_slice() {
            [Step::List(steps)] => Some(steps),
            _ => None,
        }
    }

    /// Its output for a value. A missing field prints nothing, which is kubectl's default.
    ///
    /// # Errors
    /// When it does not fit the value, for example an element of a text.
    pub fn print(&self, tree: &Tree) -> Result<String, TemplateError> {
        let mut out = String::new();
        for results in find::find(&self.steps, tree, true)? {
            let texts: Vec<String> = results.iter().map(|found| render_text(found)).collect();
            out.push_str(&texts.join(" "));
        }
        Ok(out)
    }

    /// Its results in a value, each as Go prints it in a line.
    ///
    /// # Errors
    /// As [`Template::print`].
    pub(crate) fn values(&self, tree: &Tree) -> Result<Vec<String>, TemplateError> {
        let results = find::find(&self.steps, tree, true)?;
        Ok(results.iter().flatten().map(|found| found.sprint()).collect())
    }

    /// Its output as JSON for a value: an array for each expression, in a `range` for each of its elements.
    ///
    /// # Errors
    /// As [`Template::print`].
    pub fn print_as_json(&self, tree: &Tree) -> Result<String, TemplateError> {
        let array = |results: Vec<Cow<'_, Tree>>| Tree::List(results.into_iter().map(Cow::into_owned).collect());
        Ok(find::find(&self.steps, tree, true)?.into_iter().map(|results| json::pretty(&array(results))).collect())
    }

    /// Returns the template for single items, if this is `{range .items[*]}...{end}` and text after it, or `{.items[*]...}`: then a list
    /// need not be held as a whole.
    pub fn by_item(&self) -> Option<ItemTemplate> {
        let is_items = |steps: &[Step]| matches!(steps, [Step::Field(field), Step::Slice(slice)] if field == "items" && slice.is_whole());
        let is_word = |step: &Step, word: &str| matches!(step, Step::List(steps) if matches!(steps.as_slice(), [Step::Word(found)] if found == word));
        match self.steps.as_slice() {
            [Step::List(first), body @ .., end] if is_word(end, "end") => {
                let [Step::Word(word), path @ ..] = first.as_slice() else { return None };
                let nested =
                    |step: &Step| matches!(step, Step::List(steps) if matches!(steps.first(), Some(Step::Word(_))));
                // A range within the range is closed by the first end.
                if word != "range" || !is_items(path) || body.iter().any(nested) {
                    return None;
                }
                Some(ItemTemplate { template: Template { steps: body.to_vec() }, separator: "" })
            }
            [Step::List(path)] if path.len() >= 2 && is_items(&path[..2]) => {
                let plain = |step: &Step| matches!(step, Step::Field(_));
                let rest = &path[2..];
                // The rest gives at most one result per item, and each is found without the others.
                rest.iter().all(plain).then(|| ItemTemplate {
                    template: Template { steps: vec![Step::List(rest.to_vec())] },
                    separator: " ",
                })
            }
            _ => None,
        }
    }
}

/// A template for the items of a list.
#[derive(Debug)]
pub struct ItemTemplate {
    /// The output for an item; empty if it has no results.
    template: Template,
    /// The output between two items with results.
    pub separator: &'static str,
}

impl ItemTemplate {
    /// The output for an item; `None` if it has no results.
    ///
    /// # Errors
    /// As [`Template::print`].
    pub fn print(&self, item: &Tree) -> Result<Option<String>, TemplateError> {
        let found = find::find(&self.template.steps, item, true)?;
        if found.iter().all(Vec::is_empty) {
            return Ok(None);
        }
        self.template.print(item).map(Some)
    }
}

/// A result as text: collections as JSON.
fn render_text(tree: &Tree) -> String {
    match tree {
        Tree::List(_) | Tree::Map(_) => json::compact(tree),
        Tree::Null => "null".to_owned(),
        tree => tree.sprint(),
    }
}
