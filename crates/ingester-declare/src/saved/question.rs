//! A definition as a question, with values for its parameters.

use super::SYNTAX;
use super::entries::Entries;
use super::parameter::{Parameter, ParameterValue, is_name, meant};
use crate::text::{Content, Faults, Tree, TreeNode};
use ingester_core::kind::Kind;
use ingester_core::place::shortened;
use ingester_core::schema::Table;
use ingester_core::value::Value;
use ingester_sql::query::{Ask, AskKey, Filter, Meaning, Query, Spelling, Test};

/// The keys of a filter: what it tests, then the tests.
const FILTER: [&str; 17] = [
    "all",
    "any",
    "not",
    "field",
    "label",
    "annotation",
    "equals",
    "notEquals",
    "less",
    "lessOrEqual",
    "greater",
    "greaterOrEqual",
    "in",
    "notIn",
    "like",
    "exists",
    "empty",
];

/// How many of them name what a filter tests.
const ABOUT: usize = 6;

/// The query, and its mistakes.
pub(super) struct ParsedQuery {
    pub(super) ask: Ask,
    pub(super) limit: Option<u32>,
    pub(super) faults: Faults,
}

/// The purpose of reading a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To ask it.
    Ask,
    /// To find its mistakes.
    Check {
        /// All parameters could be read. Otherwise some parameters are not known.
        complete: bool,
    },
}

/// Reads the question of a definition. `values` has one value for each of the `parameters`, in their order.
pub(super) fn read(
    definition: &Tree,
    kind: &Kind,
    parameters: &[Parameter],
    values: &[ParameterValue],
    purpose: Purpose,
) -> ParsedQuery {
    let root = TreeNode::new("", definition, &SYNTAX);
    let table = kind.table();
    let used = vec![false; parameters.len()];
    let mut reader = Reader { table, scan: false, parameters, values, purpose, used, faults: Vec::new() };
    // Unknown keys are faults of the file, which were found before.
    let mut ask = Ask::new(Spelling::Saved);
    let Some(Entries { own: [.., declared, filter, limit], asked }) = Entries::read(&root, &mut Vec::new()) else {
        return ParsedQuery { ask, limit: None, faults: reader.faults };
    };
    // It decides which fields the others may name.
    reader.scan =
        asked.iter().any(|(key, node)| key.meaning() == Meaning::Scan && *node.content() == Content::Truth(true));
    ask.filters(None, filter.and_then(|filter| reader.filter(&filter)));
    for (key, node) in asked {
        reader.key(key, &node, &mut ask);
    }
    let limit = limit.and_then(|limit| reader.limit(&limit));
    let declared = declared.filter(|_| purpose == Purpose::Check { complete: true });
    let declared = declared.and_then(|list| list.items()).unwrap_or_default();
    let faultless = reader.faults.is_empty();
    for ((parameter, is_used), node) in parameters.iter().zip(&reader.used).zip(&declared) {
        if faultless && !is_used {
            reader.faults.push(node.fault(format!("`${{{}}}` is used nowhere", parameter.name)));
        }
    }
    // Mistakes in single places were found there. Only mistakes of the whole are left.
    if reader.faults.is_empty() {
        match ask.clone().query() {
            Ok(query) => reader.check(&root, &query),
            Err(error) => reader.faults.push(root.fault(error.to_string())),
        }
    }
    ParsedQuery { ask, limit, faults: reader.faults }
}

struct Reader<'r> {
    table: &'static Table,
    scan: bool,
    parameters: &'r [Parameter],
    values: &'r [ParameterValue],
    purpose: Purpose,
    used: Vec<bool>,
    faults: Faults,
}

/// The meaning of a text of a file.
#[derive(Debug, PartialEq, Eq)]
enum TextMeaning<'t> {
    Text(String),
    Parameter(&'t str),
    /// A parameter with more text around it.
    Mixed,
}

/// `${name}` is a parameter, and `$${` stands for `${`.
fn written(text: &str) -> TextMeaning<'_> {
    let whole = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    if let Some(name) = whole.filter(|name| is_name(name)) {
        return TextMeaning::Parameter(name);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, behind) = rest.split_at(at);
        let Some(before) = before.strip_suffix('$') else { return TextMeaning::Mixed };
        plain.push_str(before);
        plain.push_str("${");
        rest = &behind[2..];
    }
    plain.push_str(rest);
    TextMeaning::Text(plain)
}

impl Reader<'_> {
    /// Returns the value at a place, which may be a parameter.
    fn value(&mut self, node: &TreeNode<'_>) -> Option<ParameterValue> {
        let text = match node.content() {
            Content::Truth(value) => return Some(ParameterValue::One(Value::Bool(*value))),
            Content::Number(number) => {
                let whole = number.parse().map(Value::Int).or_else(|_| number.parse().map(Value::UInt)).ok();
                return whole.or_else(|| number.parse().map(Value::Double).ok()).map(ParameterValue::One);
            }
            Content::Text(text) => text,
            Content::Null | Content::List(_) | Content::Map(_) => {
                self.faults.push(node.expected("a value"));
                return None;
            }
        };
        match written(text) {
            TextMeaning::Text(text) => Some(ParameterValue::One(Value::text(text))),
            TextMeaning::Parameter(name) => {
                let Some(i) = self.parameters.iter().position(|parameter| parameter.name == name) else {
                    if self.purpose != (Purpose::Check { complete: false }) {
                        let hint = meant(self.parameters, name);
                        self.faults.push(node.fault(format!("the query has no parameter `{name}`{hint}")));
                    }
                    return None;
                };
                self.used[i] = true;
                self.values.get(i).cloned()
            }
            TextMeaning::Mixed => {
                let text = shortened(text);
                let what = format!(
                    "`{text}`: a parameter is a whole value, such as `${{name}}`; for `${{` itself write `$${{`"
                );
                self.faults.push(node.fault(what));
                None
            }
        }
    }

    fn one(&mut self, node: &TreeNode<'_>) -> Option<Value> {
        match self.value(node)? {
            ParameterValue::One(value) => Some(value),
            ParameterValue::Several(_) => {
                self.faults.push(
                    node.fault("this parameter is a list, which goes with `in`, `notIn`, `namespaces` and `uids`"),
                );
                None
            }
        }
    }

    fn several(&mut self, node: &TreeNode<'_>) -> Option<Vec<Value>> {
        if let Some(elements) = node.items() {
            let values: Vec<Option<Value>> = elements.iter().map(|element| self.one(element)).collect();
            return values.into_iter().collect();
        }
        match self.value(node)? {
            ParameterValue::Several(values) => Some(values),
            ParameterValue::One(_) => {
                self.faults.push(node.fault("expected a list, or a parameter that is one"));
                None
            }
        }
    }

    /// Sets a key, place by place, so that each mistake has its own.
    fn key(&mut self, key: &'static AskKey, node: &TreeNode<'_>, ask: &mut Ask) {
        for (node, values) in self.values(key, node) {
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            let alone = || {
                let mut ask = Ask::new(Spelling::Saved);
                ask.set(key, &values)?;
                ask.query()
            };
            match alone().and_then(|query| ask.set(key, &values).map(|()| query)) {
                Ok(query) => self.check(&node, &query),
                Err(error) => {
                    let declared = self.declared(&node).unwrap_or_default();
                    self.faults.push(node.fault(format!("{}{declared}", error.what())));
                }
            }
        }
    }

    /// The values of a key, and where they are.
    fn values<'t>(&mut self, key: &AskKey, node: &TreeNode<'t>) -> Vec<(TreeNode<'t>, Vec<String>)> {
        match key.meaning() {
            Meaning::Scan => {
                let truth = node.truth(&mut self.faults);
                truth.map(|truth| (node.clone(), vec![truth.to_string()])).into_iter().collect()
            }
            Meaning::Namespaces | Meaning::Uids => {
                let values = self.several(node).unwrap_or_default();
                let texts = values.into_iter().filter_map(|value| self.read_text(node, value)).collect();
                vec![(node.clone(), texts)]
            }
            Meaning::Time { .. } | Meaning::At => {
                let text = self.one(node).and_then(|value| self.read_text(node, value));
                text.map(|text| (node.clone(), vec![text])).into_iter().collect()
            }
            Meaning::States | Meaning::Labels | Meaning::Fields | Meaning::Order => {
                let elements = node.one_or_more();
                if elements.is_empty() && key.meaning() == Meaning::States {
                    self.faults.push(node.fault("expected a state"));
                }
                let text = |element: TreeNode<'t>| {
                    let text = self.plain(&element)?.to_owned();
                    Some((element, vec![text]))
                };
                elements.into_iter().filter_map(text).collect()
            }
        }
    }

    fn read_text(&mut self, node: &TreeNode<'_>, value: Value) -> Option<String> {
        match value {
            Value::Text(text) => Some(text.to_string()),
            value => {
                self.faults.push(node.fault(format!("expected a text, found `{value}`")));
                None
            }
        }
    }

    fn limit(&mut self, node: &TreeNode<'_>) -> Option<u32> {
        let value = self.one(node)?;
        let limit = match value {
            Value::Int(number) => u32::try_from(number).ok().filter(|limit| *limit > 0),
            _ => None,
        };
        if limit.is_none() {
            self.faults.push(node.fault(format!("expected a whole number from 1 to {}, found `{value}`", u32::MAX)));
        }
        limit
    }

    fn filter(&mut self, node: &TreeNode<'_>) -> Option<Filter> {
        let fields = node.fields(FILTER, &mut self.faults)?;
        let (about, tests) = fields.split_at(ABOUT);
        let given: Vec<(&str, &TreeNode<'_>)> =
            FILTER.into_iter().zip(about).filter_map(|(name, node)| node.as_ref().map(|node| (name, node))).collect();
        let [(about, subject)] = given[..] else {
            self.faults.push(node.fault(format!("expected exactly one of {}", FILTER[..ABOUT].join(", "))));
            return None;
        };
        let tests: Vec<(&str, &TreeNode<'_>)> = FILTER[ABOUT..]
            .iter()
            .zip(tests)
            .filter_map(|(name, node)| node.as_ref().map(|node| (*name, node)))
            .collect();
        if matches!(about, "all" | "any" | "not") {
            if let Some((name, test)) = tests.first() {
                self.faults
                    .push(test.fault(format!("`{name}` tests a field, a label or an annotation, not `{about}`")));
            }
            return match about {
                "not" => self.filter(subject).map(Filter::negated),
                "all" => self.filters(subject).map(Filter::And),
                _ => self.filters(subject).map(Filter::Or),
            };
        }
        let name = self.plain(subject)?.to_owned();
        if tests.is_empty() {
            self.faults.push(node.fault(format!("expected a test: {}", FILTER[ABOUT..].join(", "))));
            return None;
        }
        let mut filters = Vec::with_capacity(tests.len());
        for (test, value) in &tests {
            let Some((test, negated)) = self.test(test, value) else { continue };
            let filter = match about {
                "field" => Filter::field(name.clone(), test),
                "label" => Filter::label(name.clone(), test),
                _ => Filter::Annotation { key: name.clone(), test },
            };
            filters.push(if negated { filter.negated() } else { filter });
        }
        if let Err(error) = (Query { filters: filters.clone(), scan: self.scan, ..Query::default() }).check(self.table)
        {
            let declared = tests.iter().filter_map(|(_, value)| self.declared(value)).collect::<String>();
            self.faults.push(node.fault(format!("{error}{declared}")));
        }
        if filters.len() > 1 { Some(Filter::And(filters)) } else { filters.pop() }
    }

    fn filters(&mut self, node: &TreeNode<'_>) -> Option<Vec<Filter>> {
        let elements = node.items().filter(|elements| !elements.is_empty());
        if elements.is_none() {
            self.faults.push(node.fault("expected a list of filters"));
        }
        Some(elements?.iter().filter_map(|element| self.filter(element)).collect())
    }

    /// A test, and whether its negation is meant.
    fn test(&mut self, test: &str, node: &TreeNode<'_>) -> Option<(Test, bool)> {
        Some(match test {
            "equals" => (Test::Equal(self.one(node)?), false),
            "notEquals" => (Test::Equal(self.one(node)?), true),
            "less" => (Test::Less(self.one(node)?), false),
            "lessOrEqual" => (Test::LessOrEqual(self.one(node)?), false),
            "greater" => (Test::Greater(self.one(node)?), false),
            "greaterOrEqual" => (Test::GreaterOrEqual(self.one(node)?), false),
            "in" => (Test::In(self.several(node)?), false),
            "notIn" => (Test::In(self.several(node)?), true),
            "like" => match self.one(node)? {
                Value::Text(pattern) => (Test::Like(pattern.to_string()), false),
                value => {
                    self.faults.push(node.fault(format!("a pattern is a text, not `{value}`")));
                    return None;
                }
            },
            _ => match self.one(node)? {
                Value::Bool(holds) => (if test == "exists" { Test::Exists } else { Test::Empty }, !holds),
                value => {
                    self.faults.push(node.fault(format!("expected true or false, found `{value}`")));
                    return None;
                }
            },
        })
    }

    /// Returns the type of the parameter that a sample stands for, for an error about the sample.
    fn declared(&self, value: &TreeNode<'_>) -> Option<String> {
        let Content::Text(text) = value.content() else { return None };
        let TextMeaning::Parameter(name) = written(text) else { return None };
        let parameter = self.parameters.iter().find(|parameter| parameter.name == name)?;
        (self.purpose != Purpose::Ask).then(|| format!(" (`${{{name}}}` is of the type {})", parameter.ty.name()))
    }

    /// A text that has no parameters.
    fn plain<'t>(&mut self, node: &TreeNode<'t>) -> Option<&'t str> {
        let text = node.read_text(&mut self.faults)?;
        if text.contains("${") {
            let what = "only a value of `filter`, a namespace, a uid, a time and the limit can be a parameter";
            self.faults.push(node.fault(format!("`{}`: {what}", shortened(text))));
            return None;
        }
        Some(text)
    }

    /// Checks a part of the query against the table.
    fn check(&mut self, node: &TreeNode<'_>, part: &Query) {
        // Only a program that has the kind knows whether it keeps a history.
        let part = Query { scan: self.scan, at: None, ..part.clone() };
        if let Err(error) = part.check(self.table) {
            self.faults.push(node.fault(error.to_string()));
        }
    }
}
