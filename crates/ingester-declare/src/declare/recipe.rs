//! The paths of a declared kind, joined into one tree, so that an object's text is passed only once.

use super::path::{Condition, Function, GuardedPath, Path, Step};
use ingester_core::schema::{Absent, Form, SqlType, Unit};
use ingester_core::value::Value;

/// The paths of a kind, and where their values go.
#[derive(Debug, Default)]
pub(super) struct Recipe {
    /// The tree; the first node is the object.
    pub(super) nodes: Vec<Node>,
    /// The places where the found values end.
    pub(super) slots: Vec<Slot>,
    pub(super) columns: Vec<Column>,
    /// The columns of many values.
    pub(super) many: Vec<Column>,
    /// The slots of the filter's conditions. All must hold.
    pub(super) filter: Vec<usize>,
    /// The conditions alone.
    pub(super) conditions: Option<Box<Recipe>>,
    /// A value of a wrong type is left out of its column, instead of being an error of the object.
    pub(super) tolerant: bool,
    /// A path reads something before spec and status.
    pub(super) from_start: bool,
    /// The conditions of guards, with their slots.
    pub(super) asked: Vec<(Condition, usize)>,
    /// The kind as its file spells it.
    pub(super) spelled: Box<str>,
}

/// The parts of one value that the paths read.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Members of an object, with their nodes.
    pub(super) members: Vec<(Box<str>, usize)>,
    /// Elements of an array, with their nodes.
    pub(super) elements: Vec<(Element, usize)>,
    /// The slots that take the value itself.
    pub(super) sinks: Vec<usize>,
    /// The slots of all paths through here.
    pub(super) through: Vec<usize>,
}

/// Selects elements of an array.
#[derive(Debug, PartialEq)]
pub(super) enum Element {
    Each,
    /// From 0.
    Front(u64),
    /// 1 is the last one.
    Back(u64),
    /// The first one that has this value at these names; if there is none, the one of this number.
    Match(Box<[Box<str>]>, Box<str>, Option<u64>),
}

/// A place for what one path finds.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) functions: Box<[Function]>,
    pub(super) target: SlotUse,
    /// The slots of the conditions under which it counts.
    pub(super) guards: Box<[usize]>,
    /// Its value if it counts and finds nothing; NULL: the next one is asked.
    pub(super) default: Value,
}

/// The use of a slot's value.
#[derive(Debug)]
pub(super) enum SlotUse {
    /// A value of this type.
    Column(ColumnType),
    /// All values of this type: of a list each once, of a map with their keys.
    Many(Form, ColumnType),
    /// A condition: the value is there, or with literals, is one of these.
    Condition(Box<[String]>),
}

/// The type of a column, and the unit in which it counts quantities.
#[derive(Clone, Copy, Debug)]
pub(super) struct ColumnType {
    pub(super) ty: SqlType,
    pub(super) unit: Option<Unit>,
}

/// A column: the first of its slots that has a value, else its default.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) slots: std::ops::Range<usize>,
    /// The value if none is found.
    pub(super) default: Value,
    /// As `default`, but NULL if none of the paths counts.
    pub(super) empty: Value,
}

impl Recipe {
    pub(super) fn new() -> Self {
        Recipe { nodes: vec![Node::default()], ..Recipe::default() }
    }

    pub(super) fn column(&mut self, paths: &[GuardedPath], ty: ColumnType, default: Value, absent: Absent) {
        let slots = self.slots(paths, |_| SlotUse::Column(ty));
        let empty = if absent == Absent::Empty { Value::empty(ty.ty) } else { Value::Null };
        self.columns.push(Column { slots, default, empty });
    }

    /// Adds a column of many values: the values of the first path that has some.
    pub(super) fn many(&mut self, paths: &[GuardedPath], ty: ColumnType) {
        let form = |path: &Path| if path.has_each() { Form::List } else { Form::Map };
        let slots = self.slots(paths, |path| SlotUse::Many(form(path), ty));
        self.many.push(Column { slots, default: Value::Null, empty: Value::Null });
    }

    fn slots(&mut self, paths: &[GuardedPath], target: impl Fn(&Path) -> SlotUse) -> std::ops::Range<usize> {
        let guards: Vec<Box<[usize]>> =
            paths.iter().map(|path| path.guards.iter().map(|guard| self.guard(guard)).collect()).collect();
        let first = self.slots.len();
        for (path, guards) in paths.iter().zip(guards) {
            let slot = self.slot(&path.path, target(&path.path), guards);
            self.slots[slot].default = path.default.clone();
        }
        first..self.slots.len()
    }

    pub(super) fn condition(&mut self, condition: &Condition) {
        let slot = self.slot(&condition.path, SlotUse::Condition(condition.literals.clone().into()), Box::default());
        self.filter.push(slot);
        let alone = self.conditions.get_or_insert_with(|| Box::new(Recipe::new()));
        alone.slot(&condition.path, SlotUse::Condition(condition.literals.clone().into()), Box::default());
    }

    /// The slot of a guard; many columns share the same guards.
    fn guard(&mut self, condition: &Condition) -> usize {
        if let Some((_, slot)) = self.asked.iter().find(|(asked, _)| asked == condition) {
            return *slot;
        }
        let slot = self.slot(&condition.path, SlotUse::Condition(condition.literals.clone().into()), Box::default());
        self.asked.push((condition.clone(), slot));
        slot
    }

    fn slot(&mut self, path: &Path, target: SlotUse, guards: Box<[usize]>) -> usize {
        self.from_start |= matches!(path.member(), Some("apiVersion" | "kind" | "metadata"));
        let slot = self.slots.len();
        self.slots.push(Slot { functions: path.functions.clone().into(), target, guards, default: Value::Null });
        let mut node = 0;
        for step in &path.steps {
            node = self.below(node, step);
            self.nodes[node].through.push(slot);
        }
        self.nodes[node].sinks.push(slot);
        slot
    }

    /// The node of a step from a node.
    fn below(&mut self, node: usize, step: &Step) -> usize {
        let next = self.nodes.len();
        let element = match step {
            Step::Name(name) => {
                if let Some((_, there)) = self.nodes[node].members.iter().find(|(member, _)| **member == **name) {
                    return *there;
                }
                self.nodes[node].members.push((name.as_str().into(), next));
                self.nodes.push(Node::default());
                return next;
            }
            Step::Index(index) if *index < 0 => Element::Back(index.unsigned_abs()),
            Step::Index(index) => Element::Front(index.unsigned_abs()),
            Step::Match(names, literal, other) => {
                Element::Match(names.iter().map(|name| name.as_str().into()).collect(), literal.as_str().into(), *other)
            }
            Step::Each => Element::Each,
        };
        if let Some((_, there)) = self.nodes[node].elements.iter().find(|(other, _)| *other == element) {
            return *there;
        }
        self.nodes[node].elements.push((element, next));
        self.nodes.push(Node::default());
        next
    }
}
