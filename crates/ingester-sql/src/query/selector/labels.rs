//! Label selectors: `team=pricing,tier in (web, cache),!draft`.

use super::{SelectorError, advice_about_case};
use crate::query::{Filter, Test};
use ingester_core::labels::{LabelFault, check_label_key, check_label_value};
use ingester_core::place::{Place, shortened};
use ingester_core::value::Value;
use std::collections::BTreeSet;

/// Parses a label selector: requirements between commas, all of which must hold.
///
/// | requirement | holds for objects |
/// |---|---|
/// | `key`, `!key` | with the label, without it |
/// | `key=value`, `key==value`, `key in (a,b)` | whose label has the value, one of the values |
/// | `key!=value`, `key notin (a,b)` | whose label has another value, or that lack it |
/// | `key>5`, `key<5` | whose label is a whole number that is greater, less |
///
/// A value may be empty. A label's number is read as Kubernetes reads it, which is how `str::parse::<i64>` does: a value that is
/// not such a number does not match. The filter expresses this by comparing the label with a [`Value::Int`].
///
/// # Errors
/// For everything that the API server refuses. The API server would read a NUL as the end of the text; here it is an error.
pub fn parse_label_selector(text: &str) -> Result<Vec<Filter>, SelectorError> {
    parse(text, None)
}

/// A requirement that is not a condition on labels: a parameter, without its prefix, and its values.
pub type SelectorParameter = (String, Vec<String>);

/// Parses a label selector in which keys with this prefix (`example.com/`) name parameters: `key=value`, `key in (a,b)`, and a bare `key`,
/// which has no value. Their values may be any words, including several with spaces between them (`key=in 30d`). So a client that can only
/// pass selectors can also pass parameters.
///
/// # Errors
/// As [`parse_label_selector`]; and if a parameter is negated or compared.
pub fn parse_label_selector_with_parameters(
    text: &str,
    prefix: &str,
) -> Result<(Vec<Filter>, Vec<SelectorParameter>), SelectorError> {
    let mut filters = Vec::new();
    let mut parameters = Vec::new();
    for filter in parse(text, Some(prefix))? {
        let key = match &filter {
            Filter::Label { key, .. } => key,
            Filter::Not(inner) => match &**inner {
                Filter::Label { key, .. } => key,
                _ => "",
            },
            _ => "",
        };
        let Some(name) = key.strip_prefix(prefix).map(str::to_owned) else {
            filters.push(filter);
            continue;
        };
        let text_of = |value: Value| value.to_string();
        let values = match filter {
            Filter::Label { test: Test::Equal(value), .. } => vec![text_of(value)],
            Filter::Label { test: Test::In(values), .. } => values.into_iter().map(text_of).collect(),
            Filter::Label { test: Test::Exists, .. } => Vec::new(),
            _ => {
                let what = format!("`{prefix}{name}` is a parameter: write `{prefix}{name}=value`");
                let at = text.find(&name).unwrap_or_default();
                return Err(SelectorError { grammar: "label selector", place: Place::new(text, at), what });
            }
        };
        parameters.push((name, values));
    }
    Ok((filters, parameters))
}

fn parse(text: &str, parameters: Option<&str>) -> Result<Vec<Filter>, SelectorError> {
    let mut parser = Parser::new(text);
    let mut filters = Vec::new();
    if parser.next == Token::End {
        return Ok(filters);
    }
    loop {
        filters.push(parser.requirement(parameters)?);
        match parser.next {
            Token::End => return Ok(filters),
            Token::Symbol(",") => parser.advance(),
            _ => return Err(parser.expected("`,` or the end")),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token<'t> {
    /// A key, a value, or an operator that is a word. Its place decides which one.
    Word(&'t str),
    Symbol(&'t str),
    End,
}

struct Parser<'t> {
    text: &'t str,
    next: Token<'t>,
    /// Where the next token begins and ends.
    at: usize,
    end: usize,
    /// The present requirement is a parameter: its values are any words.
    free: bool,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Self {
        let mut parser = Parser { text, next: Token::End, at: 0, end: 0, free: false };
        parser.advance();
        parser
    }

    /// Reads the token after the next one.
    fn advance(&mut self) {
        let rest = self.text[self.end..].trim_start_matches([' ', '\t', '\r', '\n']);
        self.at = self.text.len() - rest.len();
        let symbol = |c: char| matches!(c, '=' | '!' | '(' | ')' | ',' | '>' | '<');
        let length = if rest.starts_with("!=") || rest.starts_with("==") {
            2
        } else if rest.starts_with(symbol) {
            1
        } else {
            rest.find(|c| symbol(c) || matches!(c, ' ' | '\t' | '\r' | '\n')).unwrap_or(rest.len())
        };
        let token = &rest[..length];
        self.end = self.at + length;
        self.next = match token {
            "" => Token::End,
            _ if token.starts_with(symbol) => Token::Symbol(token),
            _ => Token::Word(token),
        };
    }

    fn requirement(&mut self, parameters: Option<&str>) -> Result<Filter, SelectorError> {
        let absent = self.next == Token::Symbol("!");
        if absent {
            self.advance();
        }
        let key = match self.next {
            Token::Word(key) => key,
            _ if absent => return Err(self.expected("a key")),
            _ => return Err(self.expected("a key or `!`")),
        };
        check_label_key(key).map_err(|fault| self.fault(fault))?;
        self.free = parameters.is_some_and(|prefix| key.starts_with(prefix));
        self.advance();
        let label = |test| Filter::label(key, test);
        if absent {
            return Ok(label(Test::Exists).negated());
        }
        match self.next {
            Token::End | Token::Symbol(",") => Ok(label(Test::Exists)),
            Token::Symbol("=" | "==") => Ok(label(Test::Equal(self.value()?))),
            Token::Symbol("!=") => Ok(label(Test::Equal(self.value()?)).negated()),
            Token::Symbol(">") => Ok(label(Test::Greater(self.number()?))),
            Token::Symbol("<") => Ok(label(Test::Less(self.number()?))),
            Token::Word("in") => Ok(label(Test::In(self.values()?))),
            Token::Word("notin") => Ok(label(Test::In(self.values()?)).negated()),
            _ => {
                let mut error = self.expected("`=`, `==`, `!=`, `in`, `notin`, `>`, `<`, `,` or the end");
                let words = self.text[self.at..].split(['(', ',']).next().unwrap_or_default();
                error.what.push_str(&advice_about_case(words));
                Err(error)
            }
        }
    }

    /// The value after an operator.
    fn value(&mut self) -> Result<Value, SelectorError> {
        self.advance();
        match self.next {
            Token::End | Token::Symbol(",") => Ok(Value::text("")),
            Token::Word(value) => self.take(value).map(Value::text),
            Token::Symbol(_) => Err(self.expected("a value")),
        }
    }

    /// Returns the value that begins with this word, the next token. A parameter's value has all words up to the next symbol.
    fn take(&mut self, word: &'t str) -> Result<&'t str, SelectorError> {
        if !self.free {
            check_label_value(word).map_err(|fault| self.fault(fault))?;
        }
        let begin = self.at;
        let mut end = self.end;
        self.advance();
        while let (true, Token::Word(_)) = (self.free, self.next) {
            end = self.end;
            self.advance();
        }
        Ok(&self.text[begin..end])
    }

    /// The number after an operator. A sign is refused because no label's value begins with one.
    fn number(&mut self) -> Result<Value, SelectorError> {
        self.advance();
        let number = match self.next {
            Token::Word(word) if word.bytes().all(|byte| byte.is_ascii_digit()) => {
                check_label_value(word).map_err(|fault| self.fault(fault))?;
                word.parse().map_err(|_| self.fault((0, format!("numbers are {} at most", i64::MAX))))?
            }
            _ => return Err(self.expected("a whole number without a sign")),
        };
        self.advance();
        Ok(Value::Int(number))
    }

    /// The values in parentheses after an operator, each one once.
    fn values(&mut self) -> Result<Vec<Value>, SelectorError> {
        self.advance();
        if self.next != Token::Symbol("(") {
            return Err(self.expected("`(`"));
        }
        let mut values = BTreeSet::new();
        loop {
            self.advance();
            let value = match self.next {
                Token::Word(value) => self.take(value)?,
                Token::Symbol("," | ")") => "",
                _ => return Err(self.expected("a value, `,` or `)`")),
            };
            values.insert(value);
            match self.next {
                Token::Symbol(",") => {}
                Token::Symbol(")") => break,
                _ => return Err(self.expected("`,` or `)`")),
            }
        }
        self.advance();
        Ok(values.into_iter().map(Value::text).collect())
    }

    /// The next token is not what is expected.
    fn expected(&self, what: &str) -> SelectorError {
        match self.next {
            Token::Word(found) | Token::Symbol(found) => {
                self.fault((0, format!("expected {what}, found `{}`", shortened(found))))
            }
            Token::End => self.fault((0, format!("expected {what}"))),
        }
    }

    /// An error in the next token.
    fn fault(&self, (at, what): LabelFault) -> SelectorError {
        SelectorError { grammar: "label selector", place: Place::new(self.text, self.at + at), what }
    }
}
