//! The grammar of templates.

use super::TemplateError;

/// One step of a template.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// An expression in braces.
    List(Vec<Step>),
    /// A text outside braces, or in quotes.
    Text(String),
    /// `range` or `end`.
    Word(String),
    /// `.name`, `['name']`
    Field(String),
    /// `[0]`, `[1:3]`, `[*]`
    Slice(Slice),
    /// `[?(left operator right)]`; the operator `exists` has nothing on the right.
    Filter {
        /// The expression before the operator.
        left: Vec<Step>,
        /// `==`, or any other run of `!`, `<`, `>` and `=`.
        operator: String,
        /// The expression after the operator.
        right: Vec<Step>,
    },
    /// A whole number.
    Int(i64),
    /// A number with a point.
    Float(f64),
    /// `true` or `false`.
    Bool(bool),
    /// `.*`
    Wildcard,
    /// `..`
    Recursive,
    /// `[0,2]`, `['a','b']`
    Union(Vec<Vec<Step>>),
}

/// `[from:to:step]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// The first element; from the end if negative.
    pub from: Option<i64>,
    /// The element after the last one; from the end if negative.
    pub to: Option<i64>,
    /// There was no colon: `to` is one more than `from`.
    pub single: bool,
    /// The distance between two elements.
    pub step: Option<i64>,
}

impl Slice {
    /// True for `[*]`.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self, Slice { from: None, to: None, single: false, step: None })
    }
}

/// Reads a template.
pub(super) fn parse(text: &str) -> Result<Vec<Step>, TemplateError> {
    let mut parser = Parser { rest: text };
    let mut steps = Vec::new();
    while !parser.rest.is_empty() {
        match parser.rest.find('{') {
            Some(0) => {
                parser.rest = &parser.rest[1..];
                steps.push(Step::List(parser.action()?));
            }
            end => steps.push(Step::Text(parser.take(end.unwrap_or(parser.rest.len())).to_owned())),
        }
    }
    Ok(steps)
}

/// Reads an expression as if it were in braces. Text after a closing brace is left out.
fn expression(text: &str) -> Result<Vec<Step>, TemplateError> {
    let text = format!("{text}}}");
    Parser { rest: &text }.action()
}

fn error<T>(message: impl Into<String>) -> Result<T, TemplateError> {
    Err(TemplateError(message.into()))
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    /// Takes this many bytes.
    fn take(&mut self, len: usize) -> &'a str {
        let (head, tail) = self.rest.split_at(len);
        self.rest = tail;
        head
    }

    /// Reads what is between braces, and the closing one.
    fn action(&mut self) -> Result<Vec<Step>, TemplateError> {
        let mut steps = Vec::new();
        loop {
            if self.rest.starts_with("[?(") {
                steps.push(self.filter()?);
                continue;
            }
            if self.rest.starts_with("..") {
                if steps.last() == Some(&Step::Recursive) {
                    return error("invalid multiple recursive descent");
                }
                self.take(2);
                steps.push(Step::Recursive);
                if self.rest.starts_with(is_alphanumeric) {
                    steps.push(self.field());
                }
                continue;
            }
            let Some(first) = self.rest.chars().next() else { return error("unclosed action") };
            match first {
                '}' => {
                    self.take(1);
                    return Ok(steps);
                }
                '\r' | '\n' => return error("unclosed action"),
                ' ' | '@' | '$' => {
                    self.take(1);
                }
                '[' => self.array(&mut steps)?,
                '"' | '\'' => steps.push(self.quoted(first)?),
                '.' => {
                    self.take(1);
                    steps.push(self.field());
                }
                '+' | '-' | '0'..='9' => steps.push(self.number()?),
                first if is_alphanumeric(first) => steps.push(self.word()),
                first => {
                    let shown = if first.is_control() { String::new() } else { format!(" '{first}'") };
                    return error(format!("unrecognized character in action: U+{:04X}{shown}", u32::from(first)));
                }
            }
        }
    }

    fn word(&mut self) -> Step {
        let end = self.rest.find(is_terminator).unwrap_or(self.rest.len());
        match self.take(end) {
            "true" => Step::Bool(true),
            "false" => Step::Bool(false),
            word => Step::Word(word.to_owned()),
        }
    }

    /// Reads a name to its end. A backslash includes a character that would otherwise end it.
    fn field(&mut self) -> Step {
        let mut escaped = false;
        let end = self.rest.find(|character| {
            let ends = !escaped && is_terminator(character);
            escaped = !escaped && character == '\\';
            ends
        });
        match self.take(end.unwrap_or(self.rest.len())) {
            "*" => Step::Wildcard,
            name => Step::Field(name.replace('\\', "")),
        }
    }

    fn number(&mut self) -> Result<Step, TemplateError> {
        let sign = usize::from(self.rest.starts_with(['+', '-']));
        let digits = self.rest[sign..].find(|c: char| c != '.' && !c.is_ascii_digit());
        let text = self.take(digits.map_or(self.rest.len(), |digits| digits + sign));
        if let Ok(value) = text.parse() {
            return Ok(Step::Int(value));
        }
        match text.parse() {
            Ok(value) => Ok(Step::Float(value)),
            Err(_) => error(format!("cannot parse number {text}")),
        }
    }

    fn quoted(&mut self, quote: char) -> Result<Step, TemplateError> {
        let mut end = 1;
        loop {
            let Some(found) = self.rest[end..].find([quote, '\n']) else { return error("unterminated quoted string") };
            end += found + 1;
            if self.rest.as_bytes()[end - 1] == b'\n' {
                return error("unterminated quoted string");
            }
            if self.rest.as_bytes()[end - 2] != b'\\' {
                break;
            }
        }
        let text = self.take(end);
        match unquote(&text[1..text.len() - 1], quote) {
            Some(text) => Ok(Step::Text(text)),
            None => error(format!("unquote string {text} error invalid syntax")),
        }
    }

    /// Reads `[...]`: a union, a key in quotes, an index or a slice.
    fn array(&mut self, steps: &mut Vec<Step>) -> Result<(), TemplateError> {
        let text = match self.rest.find([']', '\n']) {
            Some(end) if self.rest.as_bytes()[end] == b']' => self.take(end + 1),
            _ => return error("unterminated array"),
        };
        let text = match &text[1..text.len() - 1] {
            "*" => ":",
            text => text,
        };
        if text.contains(',') {
            let parts = text.split(',').map(|part| expression(&format!("[{}]", part.trim_matches(' '))));
            steps.push(Step::Union(parts.collect::<Result<_, _>>()?));
            return Ok(());
        }
        let key = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
        if let Some(key) = key.filter(|key| !key.contains('\'')) {
            steps.extend(expression(&format!(".{key}"))?);
            return Ok(());
        }
        let Some(slice) = slice(text) else { return error(format!("invalid array index {text}")) };
        steps.push(Step::Slice(slice?));
        Ok(())
    }

    fn filter(&mut self) -> Result<Step, TemplateError> {
        let bytes = self.rest.as_bytes();
        let mut quote = None;
        let mut closed = false;
        let mut at = 3;
        let end = loop {
            match bytes.get(at) {
                None | Some(b'\n') => return error("unterminated filter"),
                Some(byte @ (b'"' | b'\'')) => match quote {
                    None => quote = Some(*byte),
                    Some(first) if first == *byte && bytes[at - 1] != b'\\' => closed = true,
                    Some(_) => {}
                },
                Some(b')') if quote.is_some() == closed => break at,
                Some(_) => {}
            }
            at += 1;
        };
        if bytes.get(end + 1) != Some(&b']') {
            return error("unclosed array expect ]");
        }
        let text = &self.take(end + 2)[3..end];
        let is_operator = |character: char| matches!(character, '!' | '<' | '>' | '=');
        let start = text.find(is_operator).filter(|start| *start > 0);
        let parts = start.and_then(|start| {
            let (left, rest) = text.split_at(start);
            let mut len = rest.find(|c| !is_operator(c)).unwrap_or(rest.len());
            // Something must remain for the right side.
            if len == rest.len() {
                len -= 1;
            }
            (len > 0).then(|| (left, &rest[..len], &rest[len..]))
        });
        match parts {
            Some((left, operator, right)) => {
                Ok(Step::Filter { left: expression(left)?, operator: operator.to_owned(), right: expression(right)? })
            }
            None => Ok(Step::Filter { left: expression(text)?, operator: "exists".to_owned(), right: Vec::new() }),
        }
    }
}

/// An index or a slice; `None` if it is neither.
fn slice(text: &str) -> Option<Result<Slice, TemplateError>> {
    let parts: Vec<&str> = text.split(':').collect();
    let digits = |part: &&str| part.strip_prefix('-').unwrap_or(part).bytes().all(|byte| byte.is_ascii_digit());
    if parts.len() > 3 || !parts.iter().all(digits) {
        return None;
    }
    let number = |i: usize| match parts.get(i) {
        None | Some(&"") => Ok(None),
        Some(part) => match part.parse() {
            Ok(value) => Ok(Some(value)),
            Err(_) => error(format!("array index {part} is not a number")),
        },
    };
    let read = || Ok(Slice { from: number(0)?, to: number(1)?, single: parts.len() == 1, step: number(2)? });
    Some(read())
}

fn is_alphanumeric(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

fn is_terminator(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}')
}

/// The value of a text in quotes, by Go's escapes; `None` if it breaks their rules.
fn unquote(text: &str, quote: char) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == quote {
            return None;
        }
        if character != '\\' {
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        let escape = characters.next()?;
        let mut code = |digits: usize, radix: u32, first: Option<char>| {
            let digits = first.into_iter().chain(characters.by_ref().take(digits)).collect::<String>();
            u32::from_str_radix(&digits, radix).ok().map(|code| (code, digits.len()))
        };
        match escape {
            'a' => out.push(7),
            'b' => out.push(8),
            'f' => out.push(12),
            'n' => out.push(b'\n'),
            'r' => out.push(b'\r'),
            't' => out.push(b'\t'),
            'v' => out.push(11),
            '\\' => out.push(b'\\'),
            'x' => out.push(u8::try_from(code(2, 16, None).filter(|(_, len)| *len == 2)?.0).ok()?),
            '0'..='7' => out.push(u8::try_from(code(2, 8, Some(escape)).filter(|(_, len)| *len == 3)?.0).ok()?),
            'u' | 'U' => {
                let digits = if escape == 'u' { 4 } else { 8 };
                let (code, _) = code(digits, 16, None).filter(|(_, len)| *len == digits)?;
                out.extend_from_slice(char::from_u32(code)?.encode_utf8(&mut [0; 4]).as_bytes());
            }
            escape if escape == quote => out.extend_from_slice(escape.encode_utf8(&mut [0; 4]).as_bytes()),
            _ => return None,
        }
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}
