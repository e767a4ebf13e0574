//! Paths: where in an object's JSON a value is, and the functions that are applied to it. Text as people write it, and as data.
//!
//! ```text
//! path  = step+ ("|" function step*)*
//! step  = .name | ["text"] | ['text'] | [number] | [path=literal] | [path=literal, number] | [*]
//! ```

use ingester_core::nearest::nearest;
use ingester_core::schema::WrittenName;
use ingester_core::value::Value;
use std::fmt;

/// Bytes of a path.
const LONGEST: usize = 2000;

/// A path that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    pub(super) steps: Vec<Step>,
    pub(super) functions: Vec<Function>,
}

/// One step from a value into a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The member of an object.
    Name(String),
    /// The element of an array, from 0; from the end if negative.
    Index(i64),
    /// The first element of an array that has this text, number or truth at these names; if there is none, the one of this number.
    Match(Vec<String>, String, Option<u64>),
    /// Every element of an array, every value of an object.
    Each,
}

/// A function that is applied to the value that a path found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Function {
    /// The text is itself JSON; the steps go on in there. A text that is not JSON has nothing.
    Json(Vec<Step>),
    /// In lower case.
    Lower,
    /// A number or a truth as it is written, a text as it is, a list or an object as JSON.
    Text,
    /// A quantity of Kubernetes (`500m`, `2Gi`) as a number.
    Quantity,
    /// How many there are.
    Count,
    /// The sum of numbers.
    Sum,
    /// Texts with this between them.
    Join(String),
    /// True if there is a value.
    Exists,
    /// The resources of a pod with this spec, as JSON.
    Resources,
    /// How many pods of each role there are, and what they ask for, as JSON.
    Replicas,
}

/// The functions' names.
pub(super) const FUNCTIONS: [&str; 10] =
    ["json", "count", "sum", "join", "lower", "text", "quantity", "exists", "resources", "replicas"];

impl Function {
    fn name(&self) -> &'static str {
        match self {
            Function::Json(_) => "json",
            Function::Lower => "lower",
            Function::Text => "text",
            Function::Quantity => "quantity",
            Function::Count => "count",
            Function::Sum => "sum",
            Function::Join(_) => "join",
            Function::Exists => "exists",
            Function::Resources => "resources",
            Function::Replicas => "replicas",
        }
    }

    /// True if the function makes one value of many.
    pub(super) fn folds(&self) -> bool {
        matches!(self, Function::Count | Function::Sum | Function::Join(_) | Function::Exists)
    }
}

/// The type of a path's values, as far as the path alone shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathType {
    /// The value in the JSON, of any type.
    Json,
    Text,
    /// A text of any length.
    LongText,
    /// A number that may have a fraction.
    Number,
    /// A whole number from 0.
    Count,
    Truth,
}

impl Path {
    /// The path that a text writes.
    ///
    /// # Errors
    /// What is wrong, with the remedy.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        Self::parse_as(text, false)
    }

    /// As [`Path::parse`], for a column of many values: all values that `[*]` passes, or the values of a map.
    ///
    /// # Errors
    /// Returns the mistake with its remedy.
    pub(super) fn parse_many(text: &str) -> Result<Self, String> {
        Self::parse_as(text, true)
    }

    fn parse_as(text: &str, of_many: bool) -> Result<Self, String> {
        let mut scanner = Scanner { text, rest: text };
        let path = scanner.path()?;
        scanner.blanks();
        if !scanner.rest.is_empty() {
            return Err(match (scanner.rest.strip_prefix('/'), path.steps.last(), path.functions.is_empty()) {
                (Some(rest), Some(Step::Name(name)), true) => {
                    let rest = rest.split_whitespace().next().unwrap_or_default();
                    let front = match &path.names().unwrap_or_default()[..] {
                        ["metadata", "labels" | "annotations", key @ ..] => key.join("."),
                        _ => name.clone(),
                    };
                    format!("a name with `/` needs brackets and quotes: [\"{front}/{rest}\"]")
                }
                _ => format!("`{}` is not part of the path: functions follow after `|`", scanner.rest),
            });
        }
        path.check(of_many)?;
        Ok(path)
    }

    /// As [`Path::parse`], with what follows the path, which the caller reads.
    pub(super) fn parse_front(text: &str) -> Result<(Self, &str), String> {
        let mut scanner = Scanner { text, rest: text };
        let path = scanner.path()?;
        path.check(false)?;
        scanner.blanks();
        Ok((path, scanner.rest))
    }

    /// Returns the type of the path's values.
    pub(super) fn gives(&self) -> PathType {
        self.functions.iter().fold(PathType::Json, |_, function| match function {
            Function::Json(_) => PathType::Json,
            Function::Lower | Function::Text | Function::Join(_) => PathType::Text,
            Function::Resources | Function::Replicas => PathType::LongText,
            Function::Quantity | Function::Sum => PathType::Number,
            Function::Count => PathType::Count,
            Function::Exists => PathType::Truth,
        })
    }

    /// The names, where its steps are names alone: what a field selector writes.
    pub(super) fn names(&self) -> Option<Vec<&str>> {
        Self::names_in(&self.steps)
    }

    fn names_in(steps: &[Step]) -> Option<Vec<&str>> {
        steps
            .iter()
            .map(|step| match step {
                Step::Name(name) => Some(name.as_str()),
                _ => None,
            })
            .collect()
    }

    /// As [`Path::names`], for a path of many values: the names that lead to the list or map.
    pub(super) fn names_of_many(&self) -> Option<Vec<&str>> {
        let steps = self.steps.strip_suffix(&[Step::Each]).unwrap_or(&self.steps);
        Self::names_in(steps)
    }

    /// Its steps, with those into a text of JSON: the name of a member; `None` for any element.
    pub(super) fn places(&self) -> impl Iterator<Item = Option<&str>> {
        let inner = self.functions.iter().flat_map(|function| match function {
            Function::Json(steps) => steps.as_slice(),
            _ => &[],
        });
        self.steps.iter().chain(inner).map(|step| match step {
            Step::Name(name) => Some(name.as_str()),
            Step::Index(_) | Step::Match(..) | Step::Each => None,
        })
    }

    /// The first member of the object that it reads.
    pub(super) fn member(&self) -> Option<&str> {
        match self.steps.first() {
            Some(Step::Name(name)) => Some(name),
            _ => None,
        }
    }

    /// True if the path passes several values.
    pub(super) fn has_each(&self) -> bool {
        self.steps.contains(&Step::Each)
    }

    fn check(&self, of_many: bool) -> Result<(), String> {
        if self.member().is_none() {
            return Err("an object has members: a path begins with a name, such as `.spec`".into());
        }
        let names: Vec<&str> = self
            .steps
            .iter()
            .map_while(|step| if let Step::Name(name) = step { Some(name.as_str()) } else { None })
            .collect();
        if let ["metadata", which @ ("labels" | "annotations"), key, next, ..] = names[..] {
            return Err(format!("what is in `{which}` is text and has no `{next}`: is the name [\"{key}.{next}\"]?"));
        }
        if of_many {
            if let Some(folded) = self.functions.iter().find(|function| function.folds()) {
                return Err(format!(
                    "`many` takes all values, and `{}` makes one of them: leave one of them out",
                    folded.name()
                ));
            }
            if !self.has_each() && !self.functions.is_empty() {
                return Err(
                    "`many` and a path without `[*]` take a map as it is: leave the functions out, or say `[*]`".into(),
                );
            }
        }
        let mut many = self.has_each() && !of_many;
        let mut before: Option<&Function> = None;
        for function in &self.functions {
            let name = function.name();
            if let Function::Json(steps) = function
                && steps.iter().any(|step| matches!(step, Step::Each | Step::Match(..)))
            {
                return Err("only names and numbers may follow `json`: `| json .tenant`".into());
            }
            let folded =
                self.functions.iter().take_while(|other| !std::ptr::eq(*other, function)).find(|other| other.folds());
            if let Some(folded) = folded
                && !matches!((folded, before, function), (Function::Join(_), Some(Function::Join(_)), Function::Lower))
            {
                let rest = if matches!(folded, Function::Join(_)) { " but `lower`" } else { "" };
                return Err(format!("nothing{rest} may follow `{}`, which makes one value of all", folded.name()));
            }
            if matches!(
                (function, before),
                (Function::Json(_) | Function::Lower, Some(Function::Quantity | Function::Sum))
            ) {
                return Err(format!(
                    "`{name}` takes a text, and `{}` gives a number",
                    before.map_or("", Function::name)
                ));
            }
            if let Function::Resources | Function::Replicas = function
                && let Some(before) = before.filter(|before| !matches!(**before, Function::Json(_)))
            {
                let takes = if *function == Function::Resources { "a pod's spec" } else { "a map of replicas" };
                return Err(format!("`{name}` takes {takes} as it is in the object: leave `{}` out", before.name()));
            }
            if let (Function::Quantity, Some(made @ (Function::Resources | Function::Replicas))) = (function, before) {
                return Err(format!(
                    "`{}` gives JSON: say which quantity is meant, such as `| json .limits.cpu | quantity`",
                    made.name()
                ));
            }
            if function.folds() {
                if !many && !matches!(function, Function::Exists) {
                    return Err(format!("`{name}` is for many values, and this path has one: say which with `[*]`"));
                }
                many = false;
            }
            before = Some(function);
        }
        if many {
            return Err("`[*]` gives many values, and a column has one: end the path with `| count`, `| sum`, `| join(\", \")` or `| exists`, or take all of them with `many: true`".into());
        }
        Ok(())
    }
}

/// Returns true if a name can be written after a point.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(is_name_byte)
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$')
}

/// A text as the reader of paths takes it.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Name(name) if is_plain(name) => write!(f, ".{name}"),
            Step::Name(name) => write!(f, "[{}]", quoted(name)),
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Match(names, literal, None) => write!(f, "[{}={}]", names.join("."), quoted(literal)),
            Step::Match(names, literal, Some(other)) => {
                write!(f, "[{}={}, {other}]", names.join("."), quoted(literal))
            }
            Step::Each => f.write_str("[*]"),
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.iter().try_for_each(|step| step.fmt(f))?;
        for function in &self.functions {
            write!(f, " | {}", function.name())?;
            match function {
                Function::Json(steps) if !steps.is_empty() => {
                    f.write_str(" ")?;
                    steps.iter().try_for_each(|step| step.fmt(f))?;
                }
                Function::Join(between) => write!(f, "({})", quoted(between))?,
                _ => {}
            }
        }
        Ok(())
    }
}

struct Scanner<'t> {
    text: &'t str,
    rest: &'t str,
}

impl<'t> Scanner<'t> {
    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, mark: char) -> bool {
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> &'t str {
        let end = self.rest.bytes().position(|byte| !is_name_byte(byte)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// A name after a point. As in kubectl's JSONPath, a character after `\` belongs to it: `.a\.b` is `["a.b"]`.
    fn name(&mut self) -> String {
        let mut name = self.word().to_owned();
        while let Some(escaped) = self.rest.strip_prefix('\\').and_then(|rest| rest.chars().next()) {
            name.push(escaped);
            self.rest = &self.rest['\\'.len_utf8() + escaped.len_utf8()..];
            name.push_str(self.word());
        }
        name
    }

    fn path(&mut self) -> Result<Path, String> {
        if self.text.len() > LONGEST {
            return Err(format!("this has {} bytes, and a path has {LONGEST} at most", self.text.len()));
        }
        self.blanks();
        if self.rest.is_empty() {
            return Err("it is empty: a path begins with a name, such as `.spec`".into());
        }
        if !self.rest.starts_with(['.', '[']) {
            let bare = self.text.trim().trim_start_matches(['{', '$', '.', ' ']).trim_end_matches(['}', ' ']);
            return Err(format!("a path begins with a dot: `.{bare}`"));
        }
        let steps = self.steps()?;
        let mut functions = Vec::new();
        loop {
            self.blanks();
            if !self.take('|') {
                return Ok(Path { steps, functions });
            }
            self.blanks();
            functions.push(self.function()?);
        }
    }

    fn steps(&mut self) -> Result<Vec<Step>, String> {
        let mut steps = Vec::new();
        loop {
            if self.take('.') {
                let name = self.name();
                if name.is_empty() {
                    return Err(format!(
                        "a name is missing{}: a name with other characters than letters, digits, `_` and `-` is written as [\"a.b/c\"]",
                        self.before_rest()
                    ));
                }
                steps.push(Step::Name(name));
            } else if self.rest.starts_with("['") {
                // As kubectl's JSONPath writes it.
                let Some((name, rest)) = WrittenName::cut(self.rest) else {
                    return Err(format!("a name in quotes is not closed: `{}`", self.rest));
                };
                self.rest = rest;
                steps.push(Step::Name(name.name().into_owned()));
            } else if self.take('[') {
                steps.push(self.bracket()?);
            } else {
                return Ok(steps);
            }
        }
    }

    /// The position of the scanner, in words.
    fn before_rest(&self) -> String {
        let read = self.text.len() - self.rest.len();
        format!(" after `{}`", self.text.get(..read).unwrap_or_default())
    }

    fn bracket(&mut self) -> Result<Step, String> {
        self.blanks();
        let step = if self.take('*') {
            Step::Each
        } else if self.rest.starts_with('"') {
            Step::Name(self.quoted()?)
        } else {
            let end = self.rest.find(['=', ']']).unwrap_or(self.rest.len());
            let (front, rest) = self.rest.split_at(end);
            self.rest = rest;
            let front = front.trim();
            if self.take('=') {
                let names: Vec<String> =
                    front.strip_prefix('.').unwrap_or(front).split('.').map(str::to_owned).collect();
                if front.starts_with('?') {
                    return Err(format!(
                        "`[{front}=...]` is not a step: write [type=Ready] for the first element whose `type` is `Ready`"
                    ));
                }
                if !names.iter().all(|name| is_plain(name)) {
                    return Err(format!(
                        "`{front}` in `[{front}=...]` is not the name of a field: names with dots between them"
                    ));
                }
                let literal = self.literal(']')?;
                self.blanks();
                Step::Match(names, literal, if self.take(',') { Some(self.spare()?) } else { None })
            } else if let Ok(index) = front.parse() {
                Step::Index(index)
            } else {
                let meant = match front {
                    name if is_plain(name) && !name.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                        format!("write a name in quotes: [\"{name}\"]")
                    }
                    "-1:" => "write [-1] for the last one".into(),
                    _ => "there are [\"name\"], [0], [-1] (the last), [type=Ready] and [*]".into(),
                };
                return Err(format!("`[{front}]` is not a step: {meant}"));
            }
        };
        self.blanks();
        if self.take(']') {
            Ok(step)
        } else {
            Err(format!("a bracket is not closed{}: `]` is missing", self.before_rest()))
        }
    }

    /// The number after a comma in brackets.
    fn spare(&mut self) -> Result<u64, String> {
        let end = self.rest.find(']').unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(end);
        let read = number.trim().parse().map_err(|_| {
            format!(
                "after the comma, write the number of the element that counts if none matches, such as [name=main, 0], not `{}`; a text with a comma needs quotes",
                number.trim()
            )
        });
        self.rest = rest;
        read
    }

    /// A text in double quotes, with JSON's escapes.
    fn quoted(&mut self) -> Result<String, String> {
        let mut escaped = false;
        let end = self.rest.char_indices().skip(1).find(|(_, c)| {
            let ends = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            ends
        });
        let Some((end, _)) = end else {
            return Err(format!("a quotation mark is not closed: `{}`", self.rest));
        };
        let (quoted, rest) = self.rest.split_at(end + 1);
        self.rest = rest;
        ingester_core::json::from_str(quoted).map_err(|error| format!("{quoted} is no text: {error}"))
    }

    /// A text in quotes, or what stands before `end`, without blanks around it.
    pub(super) fn literal(&mut self, end: char) -> Result<String, String> {
        self.blanks();
        if self.rest.starts_with('"') {
            return self.quoted();
        }
        let length = self.rest.find([end, ',']).unwrap_or(self.rest.len());
        let (literal, rest) = self.rest.split_at(length);
        self.rest = rest;
        match literal.trim() {
            "" => Err(format!("a value is missing{}", self.before_rest())),
            literal => Ok(literal.to_owned()),
        }
    }

    fn function(&mut self) -> Result<Function, String> {
        let name = self.word();
        let function = match name {
            "json" => {
                self.blanks();
                Function::Json(self.steps()?)
            }
            "lower" => Function::Lower,
            "text" => Function::Text,
            "quantity" => Function::Quantity,
            "count" => Function::Count,
            "sum" => Function::Sum,
            "exists" => Function::Exists,
            "resources" => Function::Resources,
            "replicas" => Function::Replicas,
            "join" => {
                const NEEDS: &str = "`join` needs the text between the values, in quotes: `join(\", \")`";
                let opened = self.take('(');
                self.blanks();
                if !opened || !self.rest.starts_with('"') {
                    return Err(NEEDS.into());
                }
                let between = self.quoted()?;
                self.blanks();
                if !self.take(')') {
                    return Err("a bracket of `join` is not closed: `)` is missing".into());
                }
                Function::Join(between)
            }
            "" => return Err("there is no function after `|`".into()),
            _ => {
                let meant = match nearest(name, &FUNCTIONS) {
                    Some(meant) => format!(", did you mean `{meant}`?"),
                    None => format!("; there are: {}", FUNCTIONS.join(", ")),
                };
                return Err(format!("the function `{name}` is unknown{meant}"));
            }
        };
        if self.rest.starts_with('(') {
            return Err(format!("`{name}` takes nothing in brackets"));
        }
        Ok(function)
    }
}

/// A path that only counts for some objects.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GuardedPath {
    pub(super) path: Path,
    /// The path counts if all of these hold.
    pub(super) guards: Vec<Condition>,
    /// Its value if it counts and finds nothing; NULL: the next path is asked.
    pub(super) default: Value,
}

impl GuardedPath {
    /// A path that counts for every object.
    pub(super) fn always(path: Path) -> Self {
        GuardedPath { path, guards: Vec::new(), default: Value::Null }
    }
}

/// A condition of a filter or of a guard: the value of a path is there, or is one of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    pub(super) path: Path,
    /// Empty: it is there.
    pub(super) literals: Vec<String>,
}

impl Condition {
    /// `path`, `path = literal` or `path in (literal, literal)`.
    ///
    /// # Errors
    /// What is wrong, with the remedy.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (path, rest) = Path::parse_front(text)?;
        let folds = path.functions.iter().any(Function::folds);
        if folds || (path.gives() != PathType::Json && path.gives() != PathType::Text) {
            return Err(
                "a condition compares texts, numbers and booleans as they are written: leave the function out".into()
            );
        }
        let mut scanner = Scanner { text, rest };
        let literals = if rest.is_empty() {
            Vec::new()
        } else if scanner.take('=') {
            scanner.take('=');
            vec![scanner.literal(',')?]
        } else if let Some(list) = rest.strip_prefix("in").filter(|list| list.trim_start().starts_with('(')) {
            scanner.rest = list.trim_start().strip_prefix('(').unwrap_or_default();
            let mut literals = vec![scanner.literal(')')?];
            scanner.blanks();
            while scanner.take(',') {
                literals.push(scanner.literal(')')?);
                scanner.blanks();
            }
            if !scanner.take(')') {
                return Err("the list behind `in` is not closed: `)` is missing".into());
            }
            literals
        } else {
            let word = rest.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
            let is_in = word.eq_ignore_ascii_case("in") && word != "in";
            let advice = if is_in { format!("; `{word}` is written in lower case, `in`") } else { String::new() };
            return Err(format!(
                "`{rest}` is not a condition: there are `path`, `path = value` and `path in (a, b)`{advice}"
            ));
        };
        scanner.blanks();
        if !scanner.rest.is_empty() {
            return Err(format!(
                "`{}` is not part of the condition: give each condition a line of its own",
                scanner.rest
            ));
        }
        Ok(Condition { path, literals })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match &self.literals[..] {
            [] => write!(f, "{path}"),
            [literal] => write!(f, "{path} = {literal:?}"),
            literals => write!(f, "{path} in {literals:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Condition, Path};

    #[test]
    fn a_path_is_read_back_from_its_text() {
        for text in [
            ".spec",
            ".spec.owner.name",
            ".metadata.labels[\"group-name/x\"]",
            ".status.conditions[-1].type",
            ".status.conditions[type=\"Running\"].lastTransitionTime",
            ".spec.containers[*].resources.requests.cpu | quantity | sum",
            ".metadata.annotations[\"kubedl.io/tenancy\"] | json .tenant[0]",
            ".spec.tags[*] | join(\", \") | lower",
            ".spec.a-b[0][1] | exists",
            ".spec.replicas[*] | count",
            ".spec.containers[name=\"main\", 0].image",
            ".spec.template.spec | resources | json .limits.cpu | quantity",
            ".spec.roles | replicas",
        ] {
            assert_eq!(Path::parse(text).map(|path| path.to_string()), Ok(text.to_owned()));
        }
        for (text, shown) in [
            (r".status.currentIngestionSpec\.json", ".status[\"currentIngestionSpec.json\"]"),
            (r".metadata.labels.example\.com\/region", ".metadata.labels[\"example.com/region\"]"),
            (r".\.a", "[\".a\"]"),
            (r".status['a.json'].b | lower", ".status[\"a.json\"].b | lower"),
        ] {
            assert_eq!(Path::parse(text).map(|path| path.to_string()), Ok(shown.to_owned()), "{text}");
        }
        let loose = " .status.conditions[ type = Running ].x|lower ";
        assert_eq!(Path::parse(loose).unwrap().to_string(), ".status.conditions[type=\"Running\"].x | lower");
    }

    #[test]
    fn a_malformed_path_says_why() {
        let table: Vec<String> = [
            "",
            "spec.name",
            ".spec.",
            ".spec..name",
            ".spec name",
            ".spec[name",
            ".spec[\"a",
            ".spec[name]",
            ".spec[a b=c]",
            ".spec[a=]",
            "[0].a",
            ".spec | ",
            ".spec | lowr",
            ".spec | frobnicate",
            ".spec | lower(1)",
            ".spec[*] | join",
            ".spec[*] | join(,)",
            ".spec[*] | join(\",\"",
            ".spec[*]",
            ".spec[*] | lower",
            ".spec | count",
            ".spec[*] | count | lower",
            ".spec[*] | sum | json",
            ".spec | json [*]",
            ".spec[*] | join(\",\") | lower | text",
            ".spec[*] | join(\",\") | json .x",
            ".spec[*] | join(\",\") | exists",
            ".spec[*] | sum | exists",
            ".spec[a=b, c]",
            ".spec[a=b, -1]",
            ".spec | lower | resources",
            ".spec | resources | replicas",
            ".spec | resources | quantity",
        ]
        .into_iter()
        .map(|text| format!("{text:28} {}", Path::parse(text).unwrap_err()))
        .collect();
        insta::assert_snapshot!(table.join("\n"));
    }

    #[test]
    fn a_condition_is_a_path_alone_or_with_values() {
        for (text, shown) in [
            (".metadata.labels[\"group-name\"]", ".metadata.labels.group-name"),
            (".spec.type = Batch", ".spec.type = \"Batch\""),
            (".spec.type == \"a, b\"", ".spec.type = \"a, b\""),
            (".spec.type in (A, \"B C\")", ".spec.type in [\"A\", \"B C\"]"),
            (".spec.a|lower in (x)", ".spec.a | lower = \"x\""),
        ] {
            assert_eq!(Condition::parse(text).map(|condition| condition.to_string()), Ok(shown.to_owned()));
        }
        let table: Vec<String> = [
            ".a = ",
            ".a in ()",
            ".a in (b",
            ".a in (b) c",
            ".a > 3",
            ".a IN (b)",
            ".a[*] | count = 3",
            ".a[*] | join(\",\") = x",
            ".a = b, c",
        ]
        .into_iter()
        .map(|text| format!("{text:28} {}", Condition::parse(text).unwrap_err()))
        .collect();
        insta::assert_snapshot!(table.join("\n"));
    }
}
