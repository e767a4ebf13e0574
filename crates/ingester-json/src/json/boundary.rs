//! Where a value ends in text that comes in pieces.

use super::grammar::{Nesting, Phase};
use super::scan;

/// Finds the end of one value in a text that comes in pieces, in constant memory.
///
/// It has the grammar and the depth limit of [`Reader`](super::Reader), but passes over mistakes as long as the brackets
/// match: the caller checks the whole value once it has it. Two rules are for streams. A string ends at the end of its
/// line, and a `{` in the first column where no value may stand begins the next document. So a forgotten quote or bracket
/// spoils one document and not all that follow.
#[derive(Debug)]
pub struct Boundary {
    token: Token,
    phase: Phase,
    nesting: Nesting,
    flawed: bool,
}

/// The token that the next byte belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    None,
    String,
    /// The character after a backslash in a string.
    Escape,
    /// A number, `true`, `false` or `null`.
    Word,
}

/// The reason why [`Boundary::advance`] stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// At the end of the piece: the value goes on.
    Piece,
    /// After the last byte of the value.
    End,
    /// After the opening bracket of an array that is a member of the value, an object.
    Array,
    /// Before a `{` that begins the next document.
    Document,
    /// Before a closing bracket that does not match.
    Bracket {
        /// The tokens that the grammar allows instead.
        wanted: &'static str,
    },
    /// Before a bracket that would nest deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
    Depth,
}

impl Default for Boundary {
    /// Before the first byte of a value.
    fn default() -> Self {
        Self { token: Token::None, phase: Phase::Value, nesting: Nesting::default(), flawed: false }
    }
}

impl Boundary {
    /// Begins after a member of an object.
    pub fn after_member() -> Self {
        Self { phase: Phase::After, nesting: Nesting::of_object(), ..Self::default() }
    }

    /// Returns true if a value can begin with this byte.
    pub fn may_begin(byte: u8) -> bool {
        matches!(byte, b'"' | b'{' | b'[') || scan::is_word(byte)
    }

    /// Returns true if an object or array is open.
    pub fn in_container(&self) -> bool {
        self.nesting.depth() > 0
    }

    /// Returns true if the order of tokens was broken, or a string had a control character.
    pub fn flawed(&self) -> bool {
        self.flawed
    }

    /// Reads the next piece. Returns how many of its bytes belong to the value, and why it stopped there.
    ///
    /// `begins_line` says whether the piece begins in the first column. In its first `strict` bytes every `{` in the first
    /// column begins the next document, even where a value may stand.
    pub fn advance(&mut self, piece: &[u8], begins_line: bool, strict: usize) -> (usize, Stop) {
        let mut at = 0;
        while let Some(&byte) = piece.get(at) {
            match self.token {
                Token::String => {
                    at = scan::plain_end(piece, at);
                    let Some(&byte) = piece.get(at) else { break };
                    at += usize::from(self.within_string(byte));
                }
                Token::Escape => {
                    // A line feed cannot be escaped: it ends the string.
                    at += usize::from(byte >= b' ');
                    self.token = Token::String;
                }
                Token::Word => {
                    at = scan::word_end(piece, at);
                    if at == piece.len() {
                        break;
                    }
                    self.token = Token::None;
                    self.phase = Phase::After;
                }
                Token::None => {
                    let value_next = self.value_next();
                    match byte {
                        b' ' | b'\t' | b'\r' | b'\n' => {}
                        b',' => {
                            self.flawed |= self.phase != Phase::After;
                            self.phase = if self.nesting.in_object() { Phase::Key } else { Phase::Value };
                        }
                        b':' => {
                            self.flawed |= self.phase != Phase::Colon;
                            self.phase = Phase::Value;
                        }
                        b'"' => {
                            self.flawed |= !value_next && !self.key_next();
                            self.token = Token::String;
                        }
                        b'{' | b'[' => {
                            let in_column_1 = if at == 0 { begins_line } else { piece[at - 1] == b'\n' };
                            let irregular = self.flawed || !value_next || at < strict;
                            if byte == b'{' && in_column_1 && irregular && self.nesting.depth() > 0 {
                                return (at, Stop::Document);
                            }
                            if let Some(stop) = self.open(byte, value_next) {
                                return (at + usize::from(stop == Stop::Array), stop);
                            }
                        }
                        b'}' | b']' => {
                            if let Some(stop) = self.close(byte) {
                                return (at, stop);
                            }
                        }
                        byte if scan::is_word(byte) => {
                            self.flawed |= !value_next;
                            self.token = Token::Word;
                        }
                        _ => self.flawed = true,
                    }
                    at += 1;
                }
            }
            if self.nesting.depth() == 0 && self.token == Token::None && self.phase == Phase::After {
                return (at, Stop::End);
            }
        }
        (at, Stop::Piece)
    }

    /// Passes a byte of a string that is more than a character of it. Returns whether it belongs to the string: a line feed does not.
    fn within_string(&mut self, byte: u8) -> bool {
        self.flawed |= !matches!(byte, b'"' | b'\\');
        match byte {
            b'\\' => self.token = Token::Escape,
            b'"' | b'\n' | b'\r' => {
                self.token = Token::None;
                self.phase = if self.key_next() { Phase::Colon } else { Phase::After };
            }
            _ => {}
        }
        !matches!(byte, b'\n' | b'\r')
    }

    /// Passes an opening bracket.
    fn open(&mut self, bracket: u8, value_next: bool) -> Option<Stop> {
        let is_member = self.nesting.depth() == 1 && self.nesting.in_object();
        if !self.nesting.push(bracket == b'{') {
            return Some(Stop::Depth);
        }
        self.flawed |= !value_next;
        self.phase = Phase::Open;
        (bracket == b'[' && is_member).then_some(Stop::Array)
    }

    /// Passes a closing bracket.
    fn close(&mut self, bracket: u8) -> Option<Stop> {
        let object = bracket == b'}';
        if self.nesting.depth() == 0 || self.nesting.in_object() != object {
            return Some(Stop::Bracket { wanted: self.phase.wanted(self.nesting.in_object()) });
        }
        self.flawed |= !matches!(self.phase, Phase::Open | Phase::After);
        self.nesting.pop();
        self.phase = Phase::After;
        None
    }

    /// True if a value may begin here.
    fn value_next(&self) -> bool {
        self.phase == Phase::Value || (self.phase == Phase::Open && !self.nesting.in_object())
    }

    /// True if a key may begin here, or the string being read is one.
    fn key_next(&self) -> bool {
        self.phase == Phase::Key || (self.phase == Phase::Open && self.nesting.in_object())
    }
}
