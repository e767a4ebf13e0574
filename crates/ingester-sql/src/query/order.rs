//! Orders as people write them: `-create_time,name`.

use super::Order;
use ingester_core::place::{Place, shortened};
use ingester_core::schema::WrittenName;

/// Why a text is not an order, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("order {place}: {what}")]
pub struct OrderError {
    place: Place,
    what: String,
}

/// Parses an order: names of columns or paths of fields between commas, each with a `-` before it to go from the greatest to the
/// least. A path may be written as for `kubectl --sort-by`: `.metadata.name`, `{.metadata.name}`. A name that has a dot is written as in
/// field selectors: `status["a.json"]`, `status.a\.json`. An empty text gives no order.
///
/// # Errors
/// Anything else. JSONPath has filters and indices as well; no order goes by them.
pub fn parse_order(text: &str) -> Result<Vec<Order>, OrderError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut from = 0;
    let mut order = Vec::new();
    for written in text.split(',') {
        let begin = from + written.len() - written.trim_start().len();
        let step =
            step(written.trim()).map_err(|(at, what)| OrderError { place: Place::new(text, begin + at), what })?;
        order.push(step);
        from += written.len() + 1;
    }
    Ok(order)
}

/// The step of an order; or the place of the mistake, and the mistake.
fn step(written: &str) -> Result<Order, (usize, String)> {
    let (descending, path) = match written.strip_prefix('-') {
        Some(path) => (true, path),
        None => (false, written),
    };
    let mut begin = written.len() - path.len();
    let mut field = path;
    if let Some(inner) = path.strip_prefix('{') {
        field = inner.strip_suffix('}').ok_or_else(|| (written.len(), "expected `}`".into()))?;
        begin += 1;
    }
    if let Some(relative) = field.strip_prefix('.') {
        field = relative;
        begin += 1;
    }
    let mut rest = field;
    loop {
        let at = begin + field.len() - rest.len();
        let quoted = if rest.starts_with('[') { WrittenName::cut(rest) } else { None };
        rest = match quoted {
            Some((_, behind)) => behind,
            None => plain_name(rest).map_err(|(wrong, what)| (at + wrong, what))?,
        };
        if rest.is_empty() {
            return Ok(Order { field: field.to_owned().into(), descending });
        }
        rest = rest.strip_prefix('.').unwrap_or(rest);
    }
}

/// Returns what follows a name without quotes: nothing, a dot, or a name in quotes.
fn plain_name(rest: &str) -> Result<&str, (usize, String)> {
    let mut characters = rest.char_indices();
    let mut end = rest.len();
    let mut wrong = None;
    while let Some((at, character)) = characters.next() {
        match character {
            '.' => end = at,
            '[' if at > 0 && rest[at + 1..].starts_with(['"', '\'']) => end = at,
            // The next character belongs to the name.
            '\\' if characters.next().is_some() => continue,
            '-' if at == 0 => wrong = Some(at),
            '_' | '-' => continue,
            _ if character.is_alphanumeric() => continue,
            _ => wrong = wrong.or(Some(at)),
        }
        if end == at {
            break;
        }
    }
    let (name, behind) = rest.split_at(end);
    if let Some(wrong) = wrong {
        let found = shortened(&name[wrong..]);
        let what = match name[wrong..].trim() {
            "asc" | "ASC" => "ascending is the default: leave the word out".into(),
            "desc" | "DESC" => format!("descending is written `-{}`", &name[..wrong]),
            _ => format!("expected a name of letters, digits, `_` and `-`, found `{found}`"),
        };
        return Err((wrong, what));
    }
    if name.is_empty() {
        return Err((0, "expected the name of a field".into()));
    }
    Ok(behind)
}

#[cfg(test)]
mod tests {
    use super::{Order, parse_order};
    use proptest::prelude::*;

    fn order(field: &str, descending: bool) -> Order {
        Order { field: field.to_owned().into(), descending }
    }

    #[test]
    fn an_order_is_columns_and_paths_with_a_sign() {
        for (text, steps) in [
            ("", vec![]),
            ("  ", vec![]),
            ("name", vec![order("name", false)]),
            ("-create_time", vec![order("create_time", true)]),
            ("spec.owner.name", vec![order("spec.owner.name", false)]),
            (
                "-create_time, spec.owner.name ,-uid",
                vec![order("create_time", true), order("spec.owner.name", false), order("uid", true)],
            ),
            // As for kubectl.
            (".metadata.creationTimestamp", vec![order("metadata.creationTimestamp", false)]),
            ("{.metadata.name}", vec![order("metadata.name", false)]),
            ("{metadata.name}", vec![order("metadata.name", false)]),
            (
                r#"-status["a.json"].b, status['a.json'],{.status.a\.json}"#,
                vec![
                    order(r#"status["a.json"].b"#, true),
                    order("status['a.json']", false),
                    order(r"status.a\.json", false),
                ],
            ),
            ("-{.metadata.name},-.status.phase", vec![order("metadata.name", true), order("status.phase", true)]),
        ] {
            assert_eq!(parse_order(text), Ok(steps), "{text}");
        }
    }

    #[test]
    fn a_malformed_order_is_refused_with_its_place() {
        let name = "expected the name of a field";
        for (text, place, what) in [
            (",", "character 1", name),
            ("a,,b", "character 3", name),
            ("a, ", "at its end", name),
            ("-", "at its end", name),
            ("a,-,b", "character 4", name),
            (".", "at its end", name),
            ("{}", "character 2", name),
            ("a..b", "character 3", name),
            ("a.b.", "at its end", name),
            ("{.a", "at its end", "expected `}`"),
            ("é,{.a,b", "character 6", "expected `}`"),
            ("create_time desc", "character 12", "descending is written `-create_time`"),
            ("name asc", "character 5", "ascending is the default: leave the word out"),
            ("name; -- x", "character 5", "expected a name of letters, digits, `_` and `-`, found `; -- x`"),
            ("`name`", "character 1", "expected a name of letters, digits, `_` and `-`, found ``name``"),
            ("{.spec.workers[0].name}", "character 15", "expected a name of letters, digits, `_` and `-`, found `[0]`"),
            ("a[\"b.c", "character 2", "expected a name of letters, digits, `_` and `-`, found `[\"b`"),
            ("a[b]", "character 2", "expected a name of letters, digits, `_` and `-`, found `[b]`"),
            ("name\0", "character 5", r"expected a name of letters, digits, `_` and `-`, found `\0`"),
            ("--name", "character 2", "expected a name of letters, digits, `_` and `-`, found `-name`"),
        ] {
            let said = parse_order(text).unwrap_err().to_string();
            assert!(said.starts_with("order `") && said.ends_with(&format!("`, {place}: {what}")), "{said}");
        }
    }

    #[test]
    fn ten_thousand_steps_are_read_in_one_pass() {
        assert_eq!(parse_order(&vec!["-spec.owner.name"; 50_000].join(",")).unwrap().len(), 50_000);
        for hostile in [".", ",", "-", "{", "}", "'", "é.", "\0"] {
            assert!(parse_order(&hostile.repeat(1_000_000)).is_err(), "{hostile}");
        }
    }

    proptest! {
        #[test]
        fn an_order_that_was_written_is_read(
            steps in prop::collection::vec(("[a-z_][a-zA-Z0-9_-]{0,5}(\\.[a-zA-Z0-9_][a-zA-Z0-9_-]{0,4}){0,3}", any::<bool>()), 1..5),
        ) {
            let text: Vec<String> = steps.iter().map(|(field, descending)| format!("{}{field}", if *descending { "-" } else { "" })).collect();
            let steps: Vec<Order> = steps.iter().map(|(field, descending)| order(field, *descending)).collect();
            prop_assert_eq!(parse_order(&text.join(",")), Ok(steps));
        }

        #[test]
        fn any_text_is_an_order_or_an_error(text in "[-a.,{} é\\[\0]{0,16}") {
            let _ = parse_order(&text).map_err(|error| error.to_string());
        }
    }
}
