//! Names that follow from names: serde's `rename_all`, so that a derived enum's column holds what its JSON holds and a field is
//! found in it, and the plural of a kind.
//!
//! May use: nothing.

/// The name of a variant under a rule of serde; `None` for an unknown rule.
pub(crate) fn rename_variant(rule: &str, variant: &str) -> Option<String> {
    let snake = || {
        let mut out = String::new();
        for (i, c) in variant.char_indices() {
            if i > 0 && c.is_uppercase() {
                out.push('_');
            }
            out.push(c.to_ascii_lowercase());
        }
        out
    };
    Some(match rule {
        "PascalCase" => variant.to_owned(),
        "lowercase" => variant.to_ascii_lowercase(),
        "UPPERCASE" => variant.to_ascii_uppercase(),
        "camelCase" => {
            let mut letters = variant.chars();
            letters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(letters).collect()
        }
        "snake_case" => snake(),
        "SCREAMING_SNAKE_CASE" => snake().to_ascii_uppercase(),
        "kebab-case" => snake().replace('_', "-"),
        "SCREAMING-KEBAB-CASE" => snake().to_ascii_uppercase().replace('_', "-"),
        _ => return None,
    })
}

/// The name of a field under a rule of serde; `None` for an unknown rule. serde takes fields to be in snake case and variants in
/// Pascal case, so one rule does different things to them.
pub(crate) fn rename_field(rule: &str, field: &str) -> Option<String> {
    let pascal = || {
        let mut out = String::new();
        let mut first = true;
        for c in field.chars() {
            match c {
                '_' => first = true,
                c if first => {
                    out.push(c.to_ascii_uppercase());
                    first = false;
                }
                c => out.push(c),
            }
        }
        out
    };
    Some(match rule {
        "lowercase" | "snake_case" => field.to_owned(),
        "UPPERCASE" | "SCREAMING_SNAKE_CASE" => field.to_ascii_uppercase(),
        "PascalCase" => pascal(),
        "camelCase" => {
            let pascal = pascal();
            let mut letters = pascal.chars();
            letters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(letters).collect()
        }
        "kebab-case" => field.replace('_', "-"),
        "SCREAMING-KEBAB-CASE" => field.to_ascii_uppercase().replace('_', "-"),
        _ => return None,
    })
}

/// The plural of a kind in lower case, by the rules that kube uses if it knows only a kind's name.
pub(crate) fn plural(kind: &str) -> String {
    let word = kind.to_lowercase();
    match word.as_str() {
        "endpoints" | "endpointslices" => return word,
        "nodemetrics" => return String::from("nodes"),
        "podmetrics" => return String::from("pods"),
        _ => {}
    }
    if ["s", "x", "z", "ch", "sh"].iter().any(|end| word.ends_with(end)) {
        return word + "es";
    }
    match word.strip_suffix('y') {
        Some(stem) if !stem.is_empty() && !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ => word + "s",
    }
}

#[cfg(test)]
mod tests {
    use super::{plural, rename_field, rename_variant};

    #[test]
    fn the_rules_are_serdes() {
        for (rule, name) in [
            ("PascalCase", "VeryTasty"),
            ("lowercase", "verytasty"),
            ("UPPERCASE", "VERYTASTY"),
            ("camelCase", "veryTasty"),
            ("snake_case", "very_tasty"),
            ("SCREAMING_SNAKE_CASE", "VERY_TASTY"),
            ("kebab-case", "very-tasty"),
            ("SCREAMING-KEBAB-CASE", "VERY-TASTY"),
        ] {
            assert_eq!(rename_variant(rule, "VeryTasty").as_deref(), Some(name));
        }
        assert_eq!(rename_variant("Train-Case", "VeryTasty"), None);
    }

    #[test]
    fn the_rules_for_fields_are_serdes() {
        for (rule, name) in [
            ("lowercase", "very_tasty_2"),
            ("UPPERCASE", "VERY_TASTY_2"),
            ("PascalCase", "VeryTasty2"),
            ("camelCase", "veryTasty2"),
            ("snake_case", "very_tasty_2"),
            ("SCREAMING_SNAKE_CASE", "VERY_TASTY_2"),
            ("kebab-case", "very-tasty-2"),
            ("SCREAMING-KEBAB-CASE", "VERY-TASTY-2"),
        ] {
            assert_eq!(rename_field(rule, "very_tasty_2").as_deref(), Some(name));
        }
        assert_eq!(rename_field("camelCase", "größe").as_deref(), Some("größe"));
        assert_eq!(rename_field("camelCase", "_private__x").as_deref(), Some("privateX"));
        assert_eq!(rename_field("Train-Case", "very_tasty"), None);
    }

    #[test]
    fn a_variant_that_begins_outside_of_ascii_is_renamed_too() {
        assert_eq!(rename_variant("camelCase", "ÉtéIndien").as_deref(), Some("ÉtéIndien"));
    }

    #[test]
    fn plurals_are_those_of_the_api() {
        for (kind, expected) in [
            ("Pod", "pods"),
            ("NetworkPolicy", "networkpolicies"),
            ("Gateway", "gateways"),
            ("Ingress", "ingresses"),
            ("Endpoints", "endpoints"),
            ("Y", "ys"),
        ] {
            assert_eq!(plural(kind), expected);
        }
    }
}
