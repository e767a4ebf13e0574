//! Finds the results of a template in a value.

use super::TemplateError;
use super::parse::{Slice, Step};
use crate::Tree;
use crate::number;
use std::borrow::Cow;
use std::cmp::Ordering;

/// The results of one expression.
type Results<'a> = Vec<Cow<'a, Tree>>;

/// Finds the results of each expression. With `missing`, a missing field has no result, otherwise it is an error.
pub(super) fn find<'a>(steps: &[Step], tree: &'a Tree, missing: bool) -> Result<Vec<Results<'a>>, TemplateError> {
    Finder { missing, ..Finder::default() }.all(steps, 0, Cow::Borrowed(tree))
}

fn error<T>(message: impl Into<String>) -> Result<T, TemplateError> {
    Err(TemplateError(message.into()))
}

#[derive(Default)]
struct Finder {
    missing: bool,
    /// Ranges that begin with the current expression, and those that contain it.
    begun: usize,
    within: usize,
    /// Ends that were met and belong to a range further out.
    ended: usize,
    /// The index of the last end, among all expressions.
    last_end: Option<usize>,
}

impl Finder {
    /// Goes through the expressions from `start` on, until the end of the range that they are in.
    fn all<'a>(
        &mut self,
        steps: &[Step],
        start: usize,
        current: Cow<'a, Tree>,
    ) -> Result<Vec<Results<'a>>, TemplateError> {
        let mut out = Vec::new();
        let mut i = start;
        while let Some(step) = steps.get(i) {
            // Go has no value for the null that a range goes through; for a null in a field it has one.
            let results = match (step, &*current) {
                (Step::List(path), Tree::Null) if path.is_empty() => vec![Cow::Owned(Tree::from_text("<no value>"))],
                _ => self.walk(vec![current.clone()], step)?,
            };
            if self.ended > 0 && self.ended <= self.within {
                self.ended -= 1;
                self.last_end = Some(i);
                break;
            }
            if self.begun > 0 {
                self.begun -= 1;
                self.within += 1;
                if results.is_empty() {
                    // Only to find the end.
                    self.all(steps, i + 1, Cow::Owned(Tree::Null))?;
                }
                for value in results {
                    out.extend(self.all(steps, i + 1, value)?);
                }
                self.within -= 1;
                if let Some(end) = self.last_end.filter(|end| *end > i) {
                    i = end;
                }
            } else {
                out.push(results);
            }
            i += 1;
        }
        Ok(out)
    }

    fn list<'a>(&mut self, mut values: Results<'a>, steps: &[Step]) -> Result<Results<'a>, TemplateError> {
        for step in steps {
            values = self.walk(values, step)?;
        }
        Ok(values)
    }

    fn walk<'a>(&mut self, values: Results<'a>, step: &Step) -> Result<Results<'a>, TemplateError> {
        let each = |tree: Tree| values.iter().map(|_| Cow::Owned(tree.clone())).collect();
        match step {
            Step::List(steps) => self.list(values, steps),
            Step::Text(text) => Ok(vec![Cow::Owned(Tree::from_text(text.as_str()))]),
            Step::Int(value) => Ok(each(Tree::Int(*value))),
            Step::Float(value) => Ok(each(Tree::Float(*value))),
            Step::Bool(value) => Ok(each(Tree::Bool(*value))),
            Step::Word(word) => match word.as_str() {
                "range" => {
                    self.begun += 1;
                    Ok(values)
                }
                "end" if self.within > 0 => {
                    self.ended += 1;
                    Ok(Vec::new())
                }
                "end" => error("not in range, nothing to end"),
                word => error(format!("unrecognized identifier {word}")),
            },
            Step::Field(name) => self.field(values, name),
            Step::Slice(slice) => {
                let mut out = Vec::new();
                for value in values {
                    out.extend(cut(value, slice)?);
                }
                Ok(out)
            }
            Step::Filter { left, operator, right } => self.filter(values, left, operator, right),
            Step::Wildcard => Ok(values.into_iter().flat_map(children).collect()),
            Step::Recursive => {
                let mut out = Vec::new();
                values.into_iter().for_each(|value| descend(value, &mut out));
                Ok(out)
            }
            Step::Union(lists) => {
                let mut out = Vec::new();
                for steps in lists {
                    out.extend(self.list(values.clone(), steps)?);
                }
                Ok(out)
            }
        }
    }

    fn field<'a>(&self, values: Results<'a>, name: &str) -> Result<Results<'a>, TemplateError> {
        if values.is_empty() {
            return Ok(values);
        }
        let field = |value| match value {
            Cow::Borrowed(Tree::Map(entries)) => entries.get(name).map(Cow::Borrowed),
            Cow::Owned(Tree::Map(mut entries)) => entries.remove(name).map(Cow::Owned),
            _ => None,
        };
        let found: Results<'a> = values.into_iter().filter_map(field).collect();
        if found.is_empty() && !self.missing {
            return error(format!("{name} is not found"));
        }
        Ok(found)
    }

    fn filter<'a>(
        &mut self,
        values: Results<'a>,
        left: &[Step],
        operator: &str,
        right: &[Step],
    ) -> Result<Results<'a>, TemplateError> {
        let mut out = Vec::new();
        for value in values {
            if !matches!(*value, Tree::List(_)) {
                return error(format!("{} is not array or slice and cannot be filtered", value.sprint()));
            }
            for element in children(value) {
                let lefts = self.list(vec![element.clone()], left);
                if operator == "exists" {
                    if lefts.is_ok_and(|lefts| !lefts.is_empty()) {
                        out.push(element);
                    }
                    continue;
                }
                let Some(left) = single(lefts?)? else { continue };
                let Some(right) = single(self.list(vec![element.clone()], right)?)? else { continue };
                if passes(&left, operator, &right)? {
                    out.push(element);
                }
            }
        }
        Ok(out)
    }
}

fn single(mut values: Results<'_>) -> Result<Option<Cow<'_, Tree>>, TemplateError> {
    if values.len() > 1 {
        return error("can only compare one element at a time");
    }
    Ok(values.pop())
}

fn passes(left: &Tree, operator: &str, right: &Tree) -> Result<bool, TemplateError> {
    let equal = || match (left, right) {
        (Tree::Bool(a), Tree::Bool(b)) => Ok(a == b),
        _ => Ok(order(left, right)? == Some(Ordering::Equal)),
    };
    let ordered = |pass: fn(Ordering) -> bool| {
        if matches!((left, right), (Tree::Bool(_), Tree::Bool(_))) {
            return error("invalid type for comparison");
        }
        Ok(order(left, right)?.is_some_and(pass))
    };
    match operator {
        "==" => equal(),
        "!=" => equal().map(|equal| !equal),
        "<" => ordered(Ordering::is_lt),
        "<=" => ordered(Ordering::is_le),
        ">" => ordered(Ordering::is_gt),
        ">=" => ordered(Ordering::is_ge),
        operator => error(format!("unrecognized filter operator {operator}")),
    }
}

/// The order of two values of one type.
fn order(left: &Tree, right: &Tree) -> Result<Option<Ordering>, TemplateError> {
    let scalar = |tree: &Tree| !matches!(tree, Tree::Null | Tree::List(_) | Tree::Map(_));
    let float = |tree: &Tree| match tree {
        Tree::Float(value) => Some(*value),
        Tree::UInt(value) => Some(*value as f64),
        Tree::Whole(digits) => Some(number::of_digits(digits)),
        _ => None,
    };
    if let (Some(a), Some(b)) = (float(left), float(right)) {
        return Ok(a.partial_cmp(&b));
    }
    match (left, right) {
        (Tree::Int(a), Tree::Int(b)) => Ok(Some(a.cmp(b))),
        (Tree::Text(a), Tree::Text(b)) => Ok(Some(a.cmp(b))),
        _ if scalar(left) && scalar(right) => error("incompatible types for comparison"),
        _ => error("invalid type for comparison"),
    }
}

/// The values in a collection. A text contains its bytes.
fn children(value: Cow<'_, Tree>) -> Results<'_> {
    match value {
        Cow::Borrowed(Tree::List(values)) => values.iter().map(Cow::Borrowed).collect(),
        Cow::Borrowed(Tree::Map(entries)) => entries.values().map(Cow::Borrowed).collect(),
        Cow::Owned(Tree::List(values)) => values.into_iter().map(Cow::Owned).collect(),
        Cow::Owned(Tree::Map(entries)) => entries.into_values().map(Cow::Owned).collect(),
        value => match &*value {
            Tree::Text(text) => text.bytes().map(|byte| Cow::Owned(Tree::Int(byte.into()))).collect(),
            _ => Vec::new(),
        },
    }
}

/// The value, if it has values in it, and all within them.
fn descend<'a>(value: Cow<'a, Tree>, out: &mut Results<'a>) {
    let within = match &*value {
        Tree::Text(text) if text.is_empty() => return,
        Tree::Text(_) => Vec::new(),
        _ => children(value.clone()),
    };
    if within.is_empty() && !matches!(*value, Tree::Text(_)) {
        return;
    }
    out.push(value);
    within.into_iter().for_each(|value| descend(value, out));
}

/// The elements of a slice.
fn cut<'a>(value: Cow<'a, Tree>, slice: &Slice) -> Result<Results<'a>, TemplateError> {
    let kind = match &*value {
        Tree::Null => return Ok(Vec::new()),
        Tree::List(_) => None,
        Tree::Map(_) => Some("map[string]interface {}"),
        Tree::Text(_) => Some("string"),
        Tree::Bool(_) => Some("bool"),
        Tree::Int(_) => Some("int64"),
        Tree::UInt(_) | Tree::Whole(_) | Tree::Float(_) => Some("float64"),
    };
    if let Some(kind) = kind {
        return error(format!("{kind} is not array or slice"));
    }
    let elements = children(value);
    let len = elements.len() as i64;
    let from = slice.from.unwrap_or(0);
    let to = if slice.single { Some(from + 1) } else { slice.to };
    let from = if from < 0 { from + len } else { from };
    let to = match to.unwrap_or(len) {
        to if to < 0 || (to == 0 && slice.single) => to + len,
        to => to,
    };
    if from == to {
        return Ok(Vec::new());
    }
    let bounds = |index: i64| error(format!("array index out of bounds: index {index}, length {len}"));
    if from >= len || from < 0 {
        return bounds(from);
    }
    if to > len || to < 0 {
        return bounds(to - 1);
    }
    if from > to {
        return error(format!("starting index {from} is greater than ending index {to}"));
    }
    let step = slice.step.unwrap_or(1);
    if step <= 0 {
        return error("step must be > 0");
    }
    let skip = from as usize;
    let take = (to - from) as usize;
    let step = step as usize;
    Ok(elements.into_iter().skip(skip).take(take).step_by(step).collect())
}
