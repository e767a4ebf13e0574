//! Suggestions for unknown names of keys, kinds and parameters. Pure.
//!
//! May use: nothing.

/// The name in `known` that `name` is most likely a misspelling of; `None` if it resembles none of them.
pub fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let folded = fold(name);
    let distance = |known: &str| strsim::damerau_levenshtein(&folded, &fold(known));
    let near = known.iter().map(|known| (distance(known), *known)).min_by_key(|(distance, _)| *distance);
    match near {
        // One misspelling in three letters is still the same word.
        Some((distance, known)) if distance <= folded.chars().count().max(3) / 3 => Some(known),
        // A part of a name, such as `reconciles`.
        _ if folded.len() > 3 => known.iter().find(|known| fold(known).contains(&folded)).copied(),
        _ => None,
    }
}

/// Returns the same text for `max_open_conns`, `max-open-conns` and `maxOpenConns`.
fn fold(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn misspelt_restyled_and_partial_names_are_recognised() {
        let known = ["host", "port", "maxOpenConns", "concurrentReconciles"];
        for (name, meant) in [
            ("hots", Some("host")),
            ("Port", Some("port")),
            ("max_open_conns", Some("maxOpenConns")),
            ("concurentReconcile", Some("concurrentReconciles")),
            ("reconciles", Some("concurrentReconciles")),
            ("colour", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, &known), meant, "{name}");
        }
    }
}
