//! A place in a text that a person typed, as errors show it.
//! May use: nothing.

/// Characters of the text that are shown before the place, and from it on.
const SHOWN: usize = 30;

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
        let from = before.char_indices().nth(count.saturating_sub(SHOWN)).map_or(before.len(), |(at, _)| at);
        let cut = if from > 0 { "…" } else { "" };
        let shown = format!("{cut}{}{}", printable(&before[from..]), shortened(behind));
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
    match text.char_indices().nth(SHOWN) {
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
    use super::Place;

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
        let around = "k,".repeat(15);
        assert_eq!(Place::new(&long, 10_000).to_string(), format!("`…{around}{around}…`, character 10001"));
    }
}
