//! The terms of a field selector: where each one's field, operator and value are. Structs are checked with this at compile time, and queries are
//! parsed with it, so both cut a selector alike. The values are read by the parser of queries.

use super::path::quoted_name;

/// An operator of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldOperator {
    /// `=`, `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `in (a, b)`
    In,
    /// `notin (a, b)`
    NotIn,
}

/// The places of a term's parts in the text of the selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldTerm {
    /// Where the field begins.
    pub begin: usize,
    /// Where the field ends.
    pub field_end: usize,
    /// The operator; `None` if there is none.
    pub operator: Option<FieldOperator>,
    /// Where the value begins. The values of a list are between its parentheses.
    pub value: usize,
    /// Where the value ends.
    pub value_end: usize,
    /// Where the term ends: at a comma, or at the end of the text. A list that does not end with `)` before it is a mistake.
    pub end: usize,
}

impl FieldTerm {
    /// Returns the operators as an error lists them.
    pub const OPERATORS: &str = "`=`, `==`, `!=`, `<`, `<=`, `>`, `>=`, `in (...)` or `notin (...)`";

    /// Finds the parts of the term that begins here.
    ///
    /// The first operator counts: everything after it up to a comma without `\` is the value. Text in brackets belongs to a name in the
    /// field: `limits["a<b"]`.
    pub const fn cut(text: &str, begin: usize) -> Self {
        let bytes = text.as_bytes();
        let mut at = begin;
        let mut in_brackets = false;
        while at < bytes.len() && bytes[at] != b',' {
            if let Some(end) = quoted_name(bytes, at) {
                at = end;
                continue;
            }
            match bytes[at] {
                b'[' => in_brackets = true,
                b']' => in_brackets = false,
                b'\\' => at += 1,
                _ if in_brackets => {}
                b'!' | b'=' | b'<' | b'>' => {
                    if let Some((operator, length)) = sign(bytes, at) {
                        return Self::of_value(bytes, (begin, at), operator, at + length);
                    }
                }
                byte if byte.is_ascii_whitespace() => {
                    if let Some((operator, value)) = word(bytes, at) {
                        return Self::of_list(bytes, (begin, at), operator, value);
                    }
                    at = blanks(bytes, at) - 1;
                }
                _ => {}
            }
            at += 1;
        }
        let end = if at < bytes.len() { at } else { bytes.len() };
        FieldTerm { begin, field_end: end, operator: None, value: end, value_end: end, end }
    }

    const fn of_value(bytes: &[u8], (begin, field_end): (usize, usize), operator: FieldOperator, value: usize) -> Self {
        let end = unescaped(bytes, value, b',');
        FieldTerm { begin, field_end, operator: Some(operator), value, value_end: end, end }
    }

    const fn of_list(bytes: &[u8], (begin, field_end): (usize, usize), operator: FieldOperator, value: usize) -> Self {
        let value_end = unescaped(bytes, value, b')');
        let end = unescaped(bytes, value_end, b',');
        FieldTerm { begin, field_end, operator: Some(operator), value, value_end, end }
    }

    /// Returns true if nothing is between two commas.
    pub const fn is_empty(self) -> bool {
        self.begin == self.end
    }

    /// Returns true for `in` and `notin`.
    pub const fn is_list(self) -> bool {
        matches!(self.operator, Some(FieldOperator::In | FieldOperator::NotIn))
    }

    /// Returns the place at which a list lacks its `)`, or has something else after it than a comma.
    pub const fn list_fault(self, text: &str) -> Option<usize> {
        let bytes = text.as_bytes();
        if !self.is_list() {
            return None;
        }
        if self.value_end == bytes.len() {
            return Some(self.value_end);
        }
        let behind = blanks(bytes, self.value_end + 1);
        if behind < self.end { Some(behind) } else { None }
    }
}

/// The operator of signs at this place, and its length.
const fn sign(bytes: &[u8], at: usize) -> Option<(FieldOperator, usize)> {
    let equal = at + 1 < bytes.len() && bytes[at + 1] == b'=';
    match (bytes[at], equal) {
        (b'!', true) => Some((FieldOperator::NotEqual, 2)),
        (b'=', true) => Some((FieldOperator::Equal, 2)),
        (b'=', false) => Some((FieldOperator::Equal, 1)),
        (b'<', true) => Some((FieldOperator::LessOrEqual, 2)),
        (b'<', false) => Some((FieldOperator::Less, 1)),
        (b'>', true) => Some((FieldOperator::GreaterOrEqual, 2)),
        (b'>', false) => Some((FieldOperator::Greater, 1)),
        _ => None,
    }
}

/// The operator that is a word behind the blanks at this place, and where its list begins.
const fn word(bytes: &[u8], at: usize) -> Option<(FieldOperator, usize)> {
    let at = blanks(bytes, at);
    let Some((_, rest)) = bytes.split_at_checked(at) else { return None };
    let (operator, length) = match rest {
        [b'i', b'n', ..] => (FieldOperator::In, 2),
        [b'n', b'o', b't', b'i', b'n', ..] => (FieldOperator::NotIn, 5),
        _ => return None,
    };
    let open = blanks(bytes, at + length);
    if open < bytes.len() && bytes[open] == b'(' { Some((operator, open + 1)) } else { None }
}

/// The first place that has no blank.
const fn blanks(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at].is_ascii_whitespace() {
        at += 1;
    }
    at
}

/// The place of the next such byte without a `\` before it; else the end.
const fn unescaped(bytes: &[u8], mut at: usize, wanted: u8) -> usize {
    while at < bytes.len() && bytes[at] != wanted {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    if at < bytes.len() { at } else { bytes.len() }
}

#[cfg(test)]
mod tests {
    use super::FieldTerm;

    #[test]
    fn a_selector_is_cut_at_its_commas_and_a_term_at_its_first_operator() {
        for (text, parts) in [
            ("a=1,b=2", &[("a", "1"), ("b", "2")][..]),
            (r"a=1\,2,b=c", &[("a", r"1\,2"), ("b", "c")]),
            (r"a=1\", &[("a", r"1\")]),
            ("a!=1", &[("a", "1")]),
            ("a<=1", &[("a", "1")]),
            (r#"a["x=y"]>1"#, &[(r#"a["x=y"]"#, "1")]),
            (r#"a["x,] in (y)"]=1,b['\'],']=2"#, &[(r#"a["x,] in (y)"]"#, "1"), (r"b['\'],']", "2")]),
            (r"a.x\=y\.z=1", &[(r"a.x\=y\.z", "1")]),
            ("a in (b, c),d notin(e)", &[("a", "b, c"), ("d", "e")]),
            (r"a  in  (b\),c) ,d=in (e)", &[("a", r"b\),c"), ("d", "in (e)")]),
            ("in in (in)", &[("in", "in")]),
        ] {
            let mut found = Vec::new();
            let mut from = 0;
            while from < text.len() {
                let term = FieldTerm::cut(text, from);
                assert!(term.operator.is_some() && term.list_fault(text).is_none(), "{text}");
                found.push((&text[from..term.field_end], &text[term.value..term.value_end]));
                from = term.end + 1;
            }
            assert_eq!(found, parts, "{text}");
        }
        for text in ["a", "a in", "a in b", "a[=]", "!a", "a isin (b)"] {
            assert_eq!(FieldTerm::cut(text, 0).operator, None, "{text}");
        }
    }

    #[test]
    fn a_list_ends_with_a_parenthesis_and_a_comma_behind_it() {
        for (text, fault) in [("a in (b", 7), (r"a in (b\)", 9), ("a in (b)c", 8), ("a in (b) c,d=e", 9)] {
            assert_eq!(FieldTerm::cut(text, 0).list_fault(text), Some(fault), "{text}");
        }
    }
}
