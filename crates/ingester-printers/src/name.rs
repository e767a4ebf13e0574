//! Objects by their names, as in `-o name` and in lists of several kinds.
//!
//! May use: nothing.

/// The prefix of a name, such as `model.michelangelo.api`; without a group, `pod`.
pub fn prefix(kind: &str, group: &str) -> String {
    let dot = if group.is_empty() { "" } else { "." };
    format!("{}{dot}{group}", kind.to_lowercase())
}

/// `model.michelangelo.api/churn`
pub fn qualified(kind: &str, group: &str, name: &str) -> String {
    format!("{}/{name}", prefix(kind, group))
}

#[cfg(test)]
mod tests {
    use super::qualified;

    #[test]
    fn a_name_stands_behind_its_kind_and_group() {
        assert_eq!(qualified("Model", "michelangelo.api", "churn"), "model.michelangelo.api/churn");
        assert_eq!(qualified("Pod", "", "a"), "pod/a");
    }
}
