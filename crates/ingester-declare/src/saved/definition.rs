//! A file as a saved query, with all its mistakes.

use super::entries::Entries;
use super::parameter::{LONGEST, Parameter, ParameterType, ParameterValue, is_name};
use super::question::{self, Purpose};
use super::{SYNTAX, SavedQuery};
use crate::text::{self, Faults, TreeNode};
use ingester_core::kind::Kind;
use ingester_core::nearest::nearest;
use ingester_core::place::shortened;

/// Reads a file.
pub(super) fn read(text: &str, kinds: &[Kind]) -> Result<SavedQuery, Faults> {
    let definition = text::read(text, &SYNTAX).map_err(|fault| vec![fault])?;
    let mut faults = Faults::new();
    let head = Head::read(&TreeNode::new("", &definition, &SYNTAX), kinds, &mut faults);
    let Some(Head { name, description, kind, parameters, complete }) = head else { return Err(faults) };
    if let Some(kind) = &kind {
        let mut check = |values: Vec<ParameterValue>| {
            // Mistakes in one place are reported once.
            let known: Vec<String> = faults.iter().map(|fault| fault.path.clone()).collect();
            let asked = question::read(&definition, kind, &parameters, &values, Purpose::Check { complete });
            faults.extend(asked.faults.into_iter().filter(|fault| !known.contains(&fault.path)));
        };
        check(parameters.iter().map(Parameter::sample).collect());
        check(parameters.iter().map(|one| one.default.clone().unwrap_or_else(|| one.sample())).collect());
    }
    match (name, kind) {
        (Some(name), Some(kind)) if faults.is_empty() => {
            Ok(SavedQuery { name, description, kind, parameters, definition })
        }
        _ => Err(faults),
    }
}

/// The parts of a file that do not depend on the kind's table.
struct Head {
    name: Option<String>,
    description: Option<String>,
    kind: Option<Kind>,
    /// The parameters that could be read.
    parameters: Vec<Parameter>,
    /// All parameters could be read.
    complete: bool,
}

impl Head {
    fn read(root: &TreeNode<'_>, kinds: &[Kind], faults: &mut Faults) -> Option<Self> {
        let Entries { own: [name, description, kind, api_version, parameters, ..], .. } = Entries::read(root, faults)?;
        let label = "lower-case letters, digits and `-`, 63 at most, with a letter or a digit at both ends";
        let name = root.required("name", name, label, faults).and_then(|(name, text)| {
            if !is_label(text) {
                faults.push(name.expected(label));
            }
            is_label(text).then(|| text.to_owned())
        });
        let description = description.and_then(|text| text.read_text(faults)).map(|text| text.trim().to_owned());
        let kind = root
            .required("kind", kind, "the kind that is asked about", faults)
            .and_then(|(kind, text)| kind_of(&kind, text, api_version.as_ref(), kinds, faults));
        let (parameters, complete) = parameters.map_or((Vec::new(), true), |list| declared(&list, faults));
        Some(Head { name, description, kind, parameters, complete })
    }
}

/// The kind that is named.
fn kind_of(
    node: &TreeNode<'_>,
    name: &str,
    api_version: Option<&TreeNode<'_>>,
    kinds: &[Kind],
    faults: &mut Faults,
) -> Option<Kind> {
    let named: Vec<&Kind> =
        kinds.iter().filter(|kind| kind.kind() == name || kind.name() == name || kind.full_name() == name).collect();
    if named.is_empty() {
        let known: Vec<&str> = kinds.iter().map(Kind::name).collect();
        let hint = match nearest(name, &known) {
            Some(meant) => format!(", did you mean `{meant}`?"),
            None => format!("; known: {}", known.join(", ")),
        };
        faults.push(node.fault(format!("unknown kind `{}`{hint}", shortened(name))));
        return None;
    }
    let versions = || named.iter().map(|kind| format!("`{}`", kind.api_version())).collect::<Vec<_>>().join(" or ");
    match (api_version, named.as_slice()) {
        (None, [kind]) => Some(**kind),
        (None, _) => {
            faults.push(node.fault(format!("several kinds have this name: add the `apiVersion` {}", versions())));
            None
        }
        (Some(node), _) => {
            let version = node.read_text(faults)?;
            let kind = named.iter().find(|kind| kind.api_version() == version);
            if kind.is_none() {
                faults.push(node.expected(&versions()));
            }
            kind.map(|kind| **kind)
        }
    }
}

/// The parameters that could be read, and whether these are all.
fn declared(list: &TreeNode<'_>, faults: &mut Faults) -> (Vec<Parameter>, bool) {
    let mut parameters: Vec<Parameter> = Vec::new();
    let Some(elements) = list.list(faults) else { return (parameters, false) };
    for element in &elements {
        let Some(parameter) = parameter(element, faults) else { continue };
        if parameters.iter().any(|other| other.name == parameter.name) {
            faults.push(element.fault(format!("a second parameter is called `{}`", parameter.name)));
        }
        parameters.push(parameter);
    }
    let complete = parameters.len() == elements.len();
    (parameters, complete)
}

fn parameter(node: &TreeNode<'_>, faults: &mut Faults) -> Option<Parameter> {
    let [name, ty, default, description] = node.fields(["name", "type", "default", "description"], faults)?;
    let description = description.and_then(|text| text.read_text(faults)).unwrap_or_default().trim().to_owned();
    let what = "a letter, then letters, digits, `_` and `-`";
    let name = node.required("name", name, what, faults).and_then(|(at, name)| {
        if !is_name(name) {
            faults.push(at.expected(what));
        }
        is_name(name).then_some(name)
    });
    let what = format!("one of {}", ParameterType::NAMES.join(", "));
    let ty = node.required("type", ty, &what, faults).and_then(|(at, name)| {
        let ty = ParameterType::named(name);
        if ty.is_none() {
            faults.push(at.expected(&what));
        }
        ty
    });
    let name = name?;
    let ty = ty?;
    let default = match default {
        None => None,
        Some(node) => {
            let value = ty.of_content(node.content());
            if value.is_none() {
                let what = match ty {
                    ParameterType::List => "a list of texts (in quotes)".into(),
                    ParameterType::String => "a text (in quotes)".into(),
                    ty => ty.to_string(),
                };
                faults.push(node.expected(&what));
            }
            Some(value?)
        }
    };
    Some(Parameter { name: name.to_owned(), ty, default, description })
}

/// Returns true for a DNS label.
fn is_label(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=LONGEST).contains(&name.len()) && name.bytes().all(allowed) && !name.starts_with('-') && !name.ends_with('-')
}
