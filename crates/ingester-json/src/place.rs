//! Texts as errors repeat them: the beginning of one, and a place in one that a person typed.
//! May use: nothing.

/// Characters of a text that an error repeats: all of a DNS label.
const SHOWN: usize = 64;

/// Characters that are shown before a place, and from it on.
const AROUND: usize = SHOWN / 2;

/// Displays as `` `x in a)`, character 6``. A long text is shown around the place only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    shown: String,
    /// From 1. `None` for the end of the text.
    character: Option<usize>,
}

impl Place {
    /// The place of the character at this byte. The length of the text is its end.
    pub fn new(text: &str, at: usize) -> Self {
        let (before, behind) = text.split_at(text.floor_char_boundary(at));
        let count = before.chars().count();
        let from = before.char_indices().nth(count.saturating_sub(AROUND)).map_or(before.len(), |(at, _)| at);
        let before_it = if from > 0 { "…" } else { "" };
        let shown = format!("{before_it}{}{}", printable(&before[from..]), cut(behind, AROUND));
        Place { shown, character: (!behind.is_empty()).then_some(count + 1) }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.character {
            Some(character) => write!(f, "`{}`, character {character}", self.shown),
            None => write!(f, "`{}`, at its end", self.shown),
        }
    }
}

/// The beginning of a text, as an error repeats it.
pub fn shortened(text: &str) -> String {
    cut(text, SHOWN)
}

/// The beginning of a text that is too long for an error to repeat; `None` if it is not.
pub(crate) fn beginning(text: &str) -> Option<&str> {
    text.char_indices().nth(SHOWN).map(|(at, _)| &text[..at])
}

/// Returns true if a terminal or an editor obeys a character instead of showing it: a control character, or one that changes the lines or the direction
/// of the text around it.
pub fn is_obeyed(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
        )
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", printable(&text[..at])),
        None => printable(text),
    }
}

/// Characters that a terminal does not print are escaped.
fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' | '\'' | '"' => shown.push(character),
            _ => shown.extend(character.escape_debug()),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{Place, SHOWN, is_obeyed, shortened};

    #[test]
    fn a_place_shows_what_is_around_it() {
        for (text, at, shown) in [
            ("x in a)", 5, "`x in a)`, character 6"),
            ("x in", 4, "`x in`, at its end"),
            ("", 0, "``, at its end"),
            ("é='\\\0\n", 2, r"`é='\\0\n`, character 2"),
        ] {
            assert_eq!(Place::new(text, at).to_string(), shown);
        }
        let long = "k,".repeat(10_000);
        let around = "k,".repeat(16);
        assert_eq!(Place::new(&long, 10_000).to_string(), format!("`…{around}{around}…`, character 10001"));
    }

    #[test]
    fn what_changes_the_direction_of_text_is_obeyed_and_letters_are_shown() {
        for obeyed in ['\u{1b}', '\u{7f}', '\u{9b}', '\n', '\u{202e}', '\u{2066}', '\u{200f}', '\u{2028}', '\u{feff}'] {
            assert!(is_obeyed(obeyed), "{obeyed:?}");
            assert!(obeyed.escape_debug().all(|character| character.is_ascii_graphic()), "{obeyed:?} is escaped");
        }
        for shown in ['a', ' ', 'é', 'א', 'ع', '\u{200d}', '\u{fe0f}', '🙂', '語'] {
            assert!(!is_obeyed(shown), "{shown:?}");
        }
    }

    #[test]
    fn a_text_is_shown_up_to_64_characters_on_one_line() {
        let whole = "é".repeat(SHOWN);
        assert_eq!(shortened(&whole), whole);
        assert_eq!(shortened(&format!("{whole}e")), format!("{whole}…"));
        assert_eq!(shortened("a 'b'\n\u{1b}[2J"), "a 'b'\\n\\u{1b}[2J");
    }
}
