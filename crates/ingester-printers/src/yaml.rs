//! YAML as kubectl writes it: `sigs.k8s.io/yaml`, which is go-yaml 2. The form of a scalar, and its folding, depend on the
//! column at which it begins, so this is an emitter with the same state as theirs. Unlike theirs, it escapes every character that a terminal obeys.
//!
//! May use: number, obeyed, tree.

use crate::Tree;
use crate::number;
use crate::obeyed::is_obeyed;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Longer lines are folded at the next space.
const WIDTH: usize = 80;

/// The spaces of one level.
const STEP: usize = 2;

/// The text that begins a `List` with items.
pub const LIST_BEGIN: &str = "apiVersion: v1\nitems:\n";

/// The text that begins a `List` without items.
pub const EMPTY_LIST_BEGIN: &str = "apiVersion: v1\nitems: []\n";

/// The text after the items.
pub const LIST_END: &str = "kind: List\nmetadata:\n  resourceVersion: \"\"\n";

/// An object as a document of its own.
pub fn document(tree: &Tree) -> String {
    let mut emitter = Emitter::new();
    emitter.node(tree, None, NodePosition::Root);
    emitter.write_indent(0);
    emitter.out
}

/// An item of a `List`.
pub fn item(tree: &Tree) -> String {
    let mut emitter = Emitter::new();
    emitter.indicator("-", Space::Before, true);
    emitter.node(tree, Some(0), NodePosition::Sequence);
    emitter.write_indent(0);
    emitter.out
}

/// The position of a node.
#[derive(Clone, Copy, PartialEq)]
enum NodePosition {
    Root,
    Sequence,
    /// A key that is written before its colon.
    SimpleKey,
    /// A longer key, or a value.
    Mapping,
}

/// The space that an indicator needs before it, if any.
#[derive(Clone, Copy, PartialEq)]
enum Space {
    Before,
    None,
}

#[derive(Clone, Copy, PartialEq)]
enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

struct Emitter {
    out: String,
    column: usize,
    /// The last character was a space, or this line has no characters yet.
    whitespace: bool,
    /// The line has only indentation and `-`, `?` and `:`.
    indention: bool,
}

impl Emitter {
    fn new() -> Self {
        Emitter { out: String::new(), column: 0, whitespace: true, indention: true }
    }

    fn put(&mut self, character: char) {
        self.out.push(character);
        self.column += 1;
    }

    fn put_break(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }

    /// Writes a line break of a text.
    fn write_break(&mut self, character: char) {
        self.out.push(character);
        self.column = 0;
    }

    fn write_indent(&mut self, indent: usize) {
        if !self.indention || self.column > indent || (self.column == indent && !self.whitespace) {
            self.put_break();
        }
        while self.column < indent {
            self.put(' ');
        }
        self.whitespace = true;
        self.indention = true;
    }

    fn indicator(&mut self, text: &str, space: Space, indention: bool) {
        if space == Space::Before && !self.whitespace {
            self.put(' ');
        }
        text.chars().for_each(|character| self.put(character));
        self.whitespace = false;
        self.indention &= indention;
    }

    /// Writes a value. `indent` is the indentation of the collection around it.
    fn node(&mut self, tree: &Tree, indent: Option<usize>, place: NodePosition) {
        let deeper = indent.map_or(0, |indent| indent + STEP);
        match tree {
            Tree::List(values) if values.is_empty() => self.empty("[", "]"),
            Tree::Map(entries) if entries.is_empty() => self.empty("{", "}"),
            Tree::List(values) => {
                // A list that is the value of a key begins at the key's column.
                let indent = match indent {
                    Some(indent) if place == NodePosition::Mapping && !self.indention => indent,
                    _ => deeper,
                };
                for value in values {
                    self.write_indent(indent);
                    self.indicator("-", Space::Before, true);
                    self.node(value, Some(indent), NodePosition::Sequence);
                }
            }
            Tree::Map(entries) => {
                for (key, value) in sorted(entries) {
                    self.write_indent(deeper);
                    if key.len() <= 128 && !key.contains(is_break) {
                        self.write_text(key, Some(deeper), NodePosition::SimpleKey);
                        self.indicator(":", Space::None, false);
                    } else {
                        self.indicator("?", Space::Before, true);
                        self.write_text(key, Some(deeper), NodePosition::Mapping);
                        self.write_indent(deeper);
                        self.indicator(":", Space::Before, true);
                    }
                    self.node(value, Some(deeper), NodePosition::Mapping);
                }
            }
            Tree::Text(text) => self.write_text(text, indent, place),
            Tree::Null => self.plain("null", indent, place),
            Tree::Bool(value) => self.plain(if *value { "true" } else { "false" }, indent, place),
            Tree::Int(value) => self.plain(&value.to_string(), indent, place),
            Tree::UInt(value) => self.plain(&value.to_string(), indent, place),
            Tree::Whole(digits) => self.plain(digits, indent, place),
            Tree::Float(value) => self.plain(&float(*value), indent, place),
        }
    }

    fn empty(&mut self, open: &str, close: &str) {
        self.indicator(open, Space::Before, false);
        self.whitespace = true;
        self.indicator(close, Space::None, false);
    }

    /// Writes a text in the style that it needs.
    fn write_text(&mut self, text: &str, indent: Option<usize>, place: NodePosition) {
        let shape = Shape::from_text(text);
        let simple = place == NodePosition::SimpleKey;
        let mut style = match text {
            _ if text.contains('\n') => Style::Literal,
            _ if is_other(text) || is_base_60(text) => Style::Double,
            _ => Style::Plain,
        };
        if simple && shape.multiline {
            style = Style::Double;
        }
        if style == Style::Plain && (!shape.plain || text.is_empty() && simple) {
            style = Style::Single;
        }
        if style == Style::Single && !shape.single || style == Style::Literal && (!shape.block || simple) {
            style = Style::Double;
        }
        let deeper = indent.map_or(STEP, |indent| indent + STEP);
        match style {
            Style::Plain => self.plain(text, indent, place),
            Style::Single => self.single(text, deeper, !simple),
            Style::Double => self.double(text, deeper, !simple),
            Style::Literal => self.literal(text, deeper),
        }
    }

    fn plain(&mut self, text: &str, indent: Option<usize>, place: NodePosition) {
        let deeper = indent.map_or(STEP, |indent| indent + STEP);
        if !self.whitespace {
            self.put(' ');
        }
        let mut spaces = false;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            if character == ' ' {
                let fold = place != NodePosition::SimpleKey
                    && !spaces
                    && self.column > WIDTH
                    && characters.peek().is_some_and(|next| *next != ' ');
                if fold {
                    self.write_indent(deeper)
                } else {
                    self.put(' ')
                }
                spaces = true;
            } else {
                self.put(character);
                self.indention = false;
                spaces = false;
            }
        }
        self.whitespace = false;
        self.indention = false;
    }

    fn single(&mut self, text: &str, indent: usize, folds: bool) {
        self.indicator("'", Space::Before, false);
        let mut spaces = false;
        let mut breaks = false;
        let mut first = true;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            if character == ' ' {
                let inside = !first && characters.peek().is_some_and(|next| *next != ' ');
                if folds && !spaces && self.column > WIDTH && inside {
                    self.write_indent(indent)
                } else {
                    self.put(' ')
                }
                spaces = true;
            } else if is_break(character) {
                // A single one would be read as a space.
                if !breaks && character == '\n' {
                    self.put_break();
                }
                self.write_break(character);
                self.indention = true;
                breaks = true;
            } else {
                if breaks {
                    self.write_indent(indent);
                }
                if character == '\'' {
                    self.put('\'');
                }
                self.put(character);
                self.indention = false;
                (spaces, breaks) = (false, false);
            }
            first = false;
        }
        self.indicator("'", Space::None, false);
        self.whitespace = false;
        self.indention = false;
    }

    fn double(&mut self, text: &str, indent: usize, folds: bool) {
        self.indicator("\"", Space::Before, false);
        // They look at the text's first character, even if they write another one.
        let marked = text.starts_with('\u{feff}');
        let mut spaces = false;
        let mut first = true;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            if marked || !is_printable(character) || is_break(character) || matches!(character, '"' | '\\') {
                self.escape(character);
                spaces = false;
            } else if character == ' ' {
                if folds && !spaces && self.column > WIDTH && !first && characters.peek().is_some() {
                    self.write_indent(indent);
                    if characters.peek() == Some(&' ') {
                        self.put('\\');
                    }
                } else {
                    self.put(' ');
                }
                spaces = true;
            } else {
                self.put(character);
                spaces = false;
            }
            first = false;
        }
        self.indicator("\"", Space::None, false);
        self.whitespace = false;
        self.indention = false;
    }

    fn escape(&mut self, character: char) {
        let code = u32::from(character);
        let text = match character {
            '\0' => "\\0".to_owned(),
            '\u{7}' => "\\a".to_owned(),
            '\u{8}' => "\\b".to_owned(),
            '\t' => "\\t".to_owned(),
            '\n' => "\\n".to_owned(),
            '\u{b}' => "\\v".to_owned(),
            '\u{c}' => "\\f".to_owned(),
            '\r' => "\\r".to_owned(),
            '\u{1b}' => "\\e".to_owned(),
            '"' => "\\\"".to_owned(),
            '\\' => "\\\\".to_owned(),
            '\u{85}' => "\\N".to_owned(),
            '\u{a0}' => "\\_".to_owned(),
            '\u{2028}' => "\\L".to_owned(),
            '\u{2029}' => "\\P".to_owned(),
            _ if code <= 0xFF => format!("\\x{code:02X}"),
            _ if code <= 0xFFFF => format!("\\u{code:04X}"),
            _ => format!("\\U{code:08X}"),
        };
        text.chars().for_each(|character| self.put(character));
    }

    fn literal(&mut self, text: &str, indent: usize) {
        self.indicator("|", Space::Before, false);
        if text.starts_with(|first| first == ' ' || is_break(first)) {
            self.indicator("2", Space::None, false);
        }
        let mut end = text.chars().rev();
        match (end.next().map(is_break), end.next().map(is_break)) {
            (Some(true), Some(false)) => {}
            (Some(true), _) => self.indicator("+", Space::None, false),
            _ => self.indicator("-", Space::None, false),
        }
        self.put_break();
        self.indention = true;
        self.whitespace = true;
        let mut breaks = true;
        for character in text.chars() {
            if is_break(character) {
                self.write_break(character);
                self.indention = true;
                breaks = true;
            } else {
                if breaks {
                    self.write_indent(indent);
                }
                self.put(character);
                self.indention = false;
                breaks = false;
            }
        }
    }
}

/// The styles in which a text may be written.
struct Shape {
    multiline: bool,
    plain: bool,
    single: bool,
    block: bool,
}

impl Shape {
    fn from_text(text: &str) -> Self {
        if text.is_empty() {
            return Shape { multiline: false, plain: true, single: true, block: false };
        }
        let mut indicators = text.starts_with("---") || text.starts_with("...");
        let mut special = false;
        let mut breaks = false;
        let mut space_break = false;
        let mut break_space = false;
        let mut before_blank = true;
        let mut previous = ' ';
        let mut characters = text.chars().peekable();
        let mut first = true;
        while let Some(character) = characters.next() {
            let after_blank = characters.peek().is_none_or(|next| matches!(next, ' ' | '\t'));
            indicators |= match character {
                '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`'
                    if first =>
                {
                    true
                }
                '?' | '-' if first => after_blank,
                ':' => after_blank,
                '#' => before_blank,
                _ => false,
            };
            special |= !is_printable(character);
            breaks |= is_break(character);
            break_space |= character == ' ' && !first && is_break(previous);
            space_break |= is_break(character) && !first && previous == ' ';
            before_blank = matches!(character, ' ' | '\t' | '\0') || is_break(character);
            previous = character;
            first = false;
        }
        let outside = |character: Option<char>| character.is_some_and(|c| c == ' ' || is_break(c));
        let plain = !indicators && !special && !breaks && !outside(text.chars().next()) && !outside(Some(previous));
        let quotable = !space_break && !special;
        Shape {
            multiline: breaks,
            plain: plain && quotable && !break_space,
            single: quotable && !break_space,
            block: quotable && previous != ' ',
        }
    }
}

fn is_break(character: char) -> bool {
    matches!(character, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns true if the character is written as it is. Beyond the first plane go-yaml escapes all.
fn is_printable(character: char) -> bool {
    matches!(character, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
        && character != '\u{feff}'
        && (character == '\n' || !is_obeyed(character))
}

/// A float, which is transferred as JSON: an integer there is an integer here.
fn float(value: f64) -> String {
    let text = number::json(value);
    match text.parse::<i64>() {
        Ok(integer) => integer.to_string(),
        Err(_) if text.parse::<u64>().is_ok() => text,
        Err(_) => number::general(value),
    }
}

/// Returns true if a reader would take the text for something else when it is written without quotes.
fn is_other(text: &str) -> bool {
    const NAMES: [&str; 38] = [
        "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON", "n", "N", "no", "No", "NO", "false",
        "False", "FALSE", "off", "Off", "OFF", "", "~", "null", "Null", "NULL", ".nan", ".NaN", ".NAN", ".inf", ".Inf",
        ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf",
    ];
    if NAMES.contains(&text) || text == "-.INF" {
        return true;
    }
    match text.bytes().next() {
        Some(b'.') => is_float(text),
        Some(b'+' | b'-' | b'0'..=b'9') => {
            let digits = text.replace('_', "");
            is_timestamp(text) || is_integer(&digits) || is_float(&digits)
        }
        _ => false,
    }
}

/// An integer of at most 64 bits as Go writes one: decimal, `0x1f`, `0b1`, `0o7`, `07`.
fn is_integer(text: &str) -> bool {
    let (digits, signed) = match text.strip_prefix(['+', '-']) {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
        [b'0', b'b' | b'B', ..] => (&digits[2..], 2),
        [b'0', b'o' | b'O', ..] => (&digits[2..], 8),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    if digits.starts_with(['+', '-']) {
        return false;
    }
    match u64::from_str_radix(digits, radix) {
        Ok(value) if text.starts_with('-') => value <= i64::MIN.unsigned_abs(),
        Ok(value) => !signed || i64::try_from(value).is_ok(),
        Err(_) => false,
    }
}

fn is_float(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (digits, None),
    };
    let mantissa = match mantissa.split_once('.') {
        Some(("", fraction)) => plain(fraction),
        Some((whole, fraction)) => plain(whole) && (fraction.is_empty() || plain(fraction)),
        None => plain(mantissa),
    };
    mantissa && exponent.is_none_or(plain) && text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// `1:30`, a number in base 60 in YAML 1.1.
fn is_base_60(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut parts = digits.split(':');
    let Some(first) = parts.next() else { return false };
    let numeric = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let mut rest: Vec<&str> = parts.collect();
    if let Some(last) = rest.last_mut()
        && let Some((whole, fraction)) = last.split_once('.')
        && numeric(fraction)
    {
        *last = whole;
    }
    let sixtieth = |part: &&str| match part.as_bytes() {
        [digit] => digit.is_ascii_digit(),
        [b'0'..=b'5', digit] => digit.is_ascii_digit(),
        _ => false,
    };
    first.starts_with(|c: char| c.is_ascii_digit()) && numeric(first) && !rest.is_empty() && rest.iter().all(sixtieth)
}

/// A time as YAML reads one: `2001-12-14`, `2001-12-14T21:59:43.1Z`, `2001-12-14 21:59:43.1`.
fn is_timestamp(text: &str) -> bool {
    fn number(text: &mut &str, digits: std::ops::RangeInclusive<usize>, range: std::ops::RangeInclusive<u32>) -> bool {
        let len = text.bytes().take(*digits.end()).take_while(u8::is_ascii_digit).count();
        let (head, tail) = text.split_at(len);
        *text = tail;
        digits.contains(&len) && head.parse().is_ok_and(|value| range.contains(&value))
    }
    fn take(text: &mut &str, characters: &[char]) -> bool {
        text.strip_prefix(characters).map(|tail| *text = tail).is_some()
    }
    let Some((year, _)) = text.split_once('-') else { return false };
    let mut rest = text;
    let date = text;
    if !number(&mut rest, 4..=4, 0..=9999) || !take(&mut rest, &['-']) {
        return false;
    }
    let month_of = |text: &str| text.split('-').nth(1).and_then(|month| month.parse::<u32>().ok()).unwrap_or(0);
    let year: u32 = year.parse().unwrap_or(0);
    let days = match month_of(date) {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if !number(&mut rest, 1..=2, 1..=12) || !take(&mut rest, &['-']) || !number(&mut rest, 1..=2, 1..=days) {
        return false;
    }
    if rest.is_empty() {
        return true;
    }
    let zoned = !rest.starts_with(' ');
    let time = take(&mut rest, &['T', 't', ' '])
        && number(&mut rest, 1..=2, 0..=23)
        && take(&mut rest, &[':'])
        && number(&mut rest, 1..=2, 0..=59)
        && take(&mut rest, &[':'])
        && number(&mut rest, 1..=2, 0..=59);
    if !time {
        return false;
    }
    if let Some(fraction) = rest.strip_prefix(['.', ',']) {
        let tail = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
        if tail.len() == fraction.len() {
            return false;
        }
        rest = tail;
    }
    if !zoned || rest == "Z" {
        return rest.is_empty() != zoned;
    }
    take(&mut rest, &['+', '-'])
        && number(&mut rest, 2..=2, 0..=24)
        && take(&mut rest, &[':'])
        && number(&mut rest, 2..=2, 0..=60)
        && rest.is_empty()
}

/// The entries by key. Their comparison is not always a total order (10 < 1e3 < 9 < 10), which the library's sort may refuse.
fn sorted(entries: &BTreeMap<String, Tree>) -> Vec<(&str, &Tree)> {
    let mut sorted: Vec<(&str, &Tree)> = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        let place = sorted.partition_point(|(other, _)| by_key(other, key) != Ordering::Greater);
        sorted.insert(place, (key, value));
    }
    sorted
}

/// How keys compare: letters after everything else, numbers by their value.
fn by_key(a: &str, b: &str) -> Ordering {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let Some(i) = a.iter().zip(&b).position(|(a, b)| a != b) else { return a.len().cmp(&b.len()) };
    match (a[i].is_alphabetic(), b[i].is_alphabetic()) {
        (true, true) => return a[i].cmp(&b[i]),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    // A zero within a number is one of its digits; a leading one is not.
    let leading = match a[i] == '0' || b[i] == '0' {
        true => {
            let digits = a[..i].iter().rev().take_while(|c| c.is_ascii_digit());
            i64::from(digits.into_iter().any(|c| *c != '0'))
        }
        false => 0,
    };
    let number = |text: &[char]| {
        let digits: Vec<i64> = text[i..].iter().map_while(|c| c.to_digit(10)).map(i64::from).collect();
        let value = digits.iter().fold(leading, |sum, digit| sum.wrapping_mul(10).wrapping_add(*digit));
        (value, digits.len())
    };
    number(&a).cmp(&number(&b)).then(a[i].cmp(&b[i]))
}
