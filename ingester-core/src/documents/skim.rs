//! The fast way over the regular inside of a JSON object: what is nested below its own keys and has no flaw.
//!
//! Changes nothing but speed: the scanner in `json.rs` reads the same bytes the same way, one at a time.

use super::MAX_DEPTH;
use super::grammar::{Expect, is_word, plain_run};
use super::json::{Json, Token};
use super::source::Position;

impl Json {
    /// Passes over as many bytes as are regular and leaves the rest; none, when the scanner has to look itself.
    pub(super) fn skim(&mut self, rest: &[u8], at: &mut Position) -> usize {
        let floor = self.base + 1;
        if self.open.len() <= floor || self.flaw.is_some() || self.word.is_some() {
            return 0;
        }
        let mut used = 0;
        // `at` stands here.
        let mut counted = 0;
        while let Some(&byte) = rest.get(used) {
            match self.token {
                Token::Text => {
                    used += plain_run(&rest[used..]);
                    match rest.get(used..) {
                        Some([b'"', ..]) => {
                            used += 1;
                            self.token = Token::None;
                            let key = matches!(self.expect, Expect::Key | Expect::KeyOrEnd);
                            self.expect = if key { Expect::Colon } else { Expect::CommaOrEnd };
                        }
                        Some([b'\\', escaped, ..]) if *escaped >= b' ' => used += 2,
                        _ => break,
                    }
                    continue;
                }
                Token::Word => {
                    used += rest[used..].iter().take_while(|&&byte| is_word(byte)).count();
                    if used == rest.len() {
                        break;
                    }
                    self.token = Token::None;
                    self.expect = Expect::CommaOrEnd;
                    continue;
                }
                Token::Escape => break,
                Token::None => {}
            }
            let value = matches!(self.expect, Expect::Value | Expect::ValueOrEnd);
            match byte {
                b' ' | b'\t' | b'\r' => {}
                b'\n' => {
                    at.pass_run(used - counted);
                    at.pass(byte);
                    counted = used + 1;
                }
                b'"' if value || matches!(self.expect, Expect::Key | Expect::KeyOrEnd) => self.token = Token::Text,
                b':' if self.expect == Expect::Colon => self.expect = Expect::Value,
                b',' if self.expect == Expect::CommaOrEnd => {
                    let object = self.open.last() == Some(&b'{');
                    self.expect = if object { Expect::Key } else { Expect::Value };
                }
                b'{' | b'[' if value && self.open.len() < MAX_DEPTH && (counted < used || at.column() > 1) => {
                    self.open.push(byte);
                    self.expect = Expect::behind(byte);
                }
                b'}' | b']' => {
                    let opened = if byte == b'}' { b'{' } else { b'[' };
                    let regular = self.expect.may_end() && self.open.last() == Some(&opened);
                    if !regular || self.open.len() == floor + 1 {
                        break;
                    }
                    self.open.pop();
                    self.expect = Expect::CommaOrEnd;
                }
                _ if value && is_word(byte) => self.token = Token::Word,
                _ => break,
            }
            used += 1;
        }
        at.pass_run(used - counted);
        self.keep(&rest[..used]);
        used
    }
}
