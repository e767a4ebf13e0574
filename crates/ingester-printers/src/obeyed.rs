//! Characters that a terminal or an editor obeys instead of showing them.
//!
//! May use: nothing.

/// Returns true for a control character, and for one that changes the lines or the direction of the text around it. kubectl prints some of them
/// as they are. `place::is_obeyed` of `ingester-core`, which this crate does not know, also has the byte order mark: no terminal obeys that, and
/// kubectl's JSON has it as it is.
pub(crate) fn is_obeyed(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
