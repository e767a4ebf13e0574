//! Suggestions for unknown names of keys, kinds and parameters. Pure.
//!
//! May use: nothing.

/// The name in `known` that `name` is most likely a misspelling of; `None` if it resembles none of them. A name with another word in front
/// (`CronWorkflow`) is another name.
pub fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let folded = fold(name);
    let distance = |known: &str| strsim::damerau_levenshtein(&folded, &fold(known));
    let near = known.iter().map(|known| (distance(known), *known)).min_by_key(|(distance, _)| *distance);
    match near {
        // One misspelling in four letters, and three at most, are still the same word.
        Some((distance, known)) if distance <= (folded.chars().count() / 4).clamp(1, 3) => Some(known),
        // A part of a name, such as `reconciles`, or its beginning with another end.
        _ if folded.len() > 3 => {
            let part = known.iter().find(|known| fold(known).contains(&folded));
            part.or_else(|| known.iter().find(|known| begins_like(&fold(known), &folded))).copied()
        }
        _ => None,
    }
}

/// Returns true if a longer name begins with this one but for its last letter: `enabled` and `enableStorage`.
fn begins_like(known: &str, name: &str) -> bool {
    let mut letters = name.chars();
    letters.next_back();
    known.len() > name.len() && letters.as_str().len() > 4 && known.starts_with(letters.as_str())
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
        let known = ["host", "port", "maxOpenConns", "concurrentReconciles", "enableMetadataStorage", "Workflow"];
        for (name, meant) in [
            ("hots", Some("host")),
            ("Port", Some("port")),
            ("max_open_conns", Some("maxOpenConns")),
            ("concurentReconcile", Some("concurrentReconciles")),
            ("reconciles", Some("concurrentReconciles")),
            ("enabled", Some("enableMetadataStorage")),
            ("WorkFlows", Some("Workflow")),
            ("CronWorkflow", None),
            ("ClusterWorkflow", None),
            ("hosted", None),
            ("colour", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, &known), meant, "{name}");
        }
    }
}
