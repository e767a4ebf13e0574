//! The JSONPath of a printer column as a path of ours.
//!
//! The API server prints the first result of such a path alone, so `[*]` is the first element, and `[-1:]` the last one.

use super::path::{Path, Step};
use ingester_printers::jsonpath::{Slice, Step as Theirs, Template};

/// The path that finds what the API server prints for this JSONPath.
///
/// # Errors
/// Why there is none.
pub(super) fn path_of(json_path: &str) -> Result<Path, String> {
    let path = path_with(json_path, first)?;
    // A file of kinds has to take it.
    Path::parse(&path.to_string())
}

/// The path of all values of a JSONPath with `[*]`, of which the API server prints the first one.
pub(super) fn path_of_all(json_path: &str) -> Option<Path> {
    let path = path_with(json_path, every).ok().filter(Path::has_each)?;
    Path::parse_many(&path.to_string()).ok()
}

fn path_with(json_path: &str, slice: fn(&Slice) -> Result<Step, String>) -> Result<Path, String> {
    let text = json_path.trim();
    let braced = if text.starts_with('{') { text.to_owned() } else { format!("{{{text}}}") };
    let template = Template::parse(&braced).map_err(|error| format!("it is not a JSONPath: {error}"))?;
    let steps = template.expression().ok_or("it is more than one expression")?;
    let steps = steps.iter().map(|theirs| step(theirs, slice)).collect::<Result<Vec<Step>, String>>()?;
    Ok(Path { steps, functions: Vec::new() })
}

fn step(theirs: &Theirs, slice: fn(&Slice) -> Result<Step, String>) -> Result<Step, String> {
    match theirs {
        Theirs::Field(name) => Ok(Step::Name(name.clone())),
        Theirs::Slice(theirs) => slice(theirs),
        Theirs::Filter { left, operator, right } => matching(left, operator, right),
        Theirs::Recursive => Err("no path has `..`".into()),
        Theirs::Wildcard => Err("no path has `.*`, whose first value is another one each time".into()),
        Theirs::Union(_) => Err("no path has several names or numbers in one bracket".into()),
        Theirs::List(_) | Theirs::Text(_) | Theirs::Word(_) | Theirs::Int(_) | Theirs::Float(_) | Theirs::Bool(_) => {
            Err("it has something other than fields, elements and filters".into())
        }
    }
}

/// Every element for a slice that has all, otherwise the first one.
fn every(slice: &Slice) -> Result<Step, String> {
    let has_all = !slice.single && slice.from.unwrap_or(0) == 0 && slice.to.is_none();
    if has_all { Ok(Step::Each) } else { first(slice) }
}

/// The first element of a slice.
fn first(slice: &Slice) -> Result<Step, String> {
    let from = slice.from.unwrap_or(0);
    match slice.to {
        Some(to) if !slice.single && to != from + 1 => {
            Err("no path has a range of elements that ends: the API server prints nothing if the list is shorter"
                .into())
        }
        _ => Ok(Step::Index(from)),
    }
}

/// `[?(@.type=="Ready")]`
fn matching(left: &[Theirs], operator: &str, right: &[Theirs]) -> Result<Step, String> {
    match operator {
        "==" => {}
        "exists" => return Err("a path finds an element by a value, not by whether it has a field".into()),
        _ => return Err(format!("a path finds an element by `=` alone, not by `{operator}`")),
    }
    let mut names = Vec::new();
    for part in left {
        match part {
            // A path writes the names in a filter without quotes.
            Theirs::Field(name) if Step::Name(name.clone()).to_string().starts_with('.') => {
                names.push(name.clone());
            }
            Theirs::Field(name) => {
                return Err(format!("a path has no filter by `{name}`: only letters, digits, `_`, `-` and `$`"));
            }
            _ => return Err("a path has no filter by more than names of fields".into()),
        }
    }
    if names.is_empty() {
        return Err("a path has no filter by an element itself".into());
    }
    let literal = match right {
        [Theirs::Text(text)] => text.clone(),
        [Theirs::Int(number)] => number.to_string(),
        [Theirs::Bool(truth)] => truth.to_string(),
        _ => return Err("a filter compares with a text in quotes, a whole number, true or false".into()),
    };
    Ok(Step::Match(names, literal, None))
}

#[cfg(test)]
mod tests {
    use super::{path_of, path_of_all};

    #[test]
    fn paths_of_kubectl_become_ours_or_say_why_not() {
        for (theirs, ours) in [
            (".spec.a", Ok(".spec.a")),
            ("{.spec.a}", Ok(".spec.a")),
            (".status.conditions[?(@.type == \"Ready\")].status", Ok(".status.conditions[type=\"Ready\"].status")),
            (".status.conditions[?(@.type=='Ready')].status", Ok(".status.conditions[type=\"Ready\"].status")),
            (".status.x[?(@.a.b==true)].c", Ok(".status.x[a.b=\"true\"].c")),
            (".status.x[?(@.n==3)].c", Ok(".status.x[n=\"3\"].c")),
            (".status.x[?(@.name==\"a\\\"b.c\")].y", Ok(".status.x[name=\"a\\\"b.c\"].y")),
            (".metadata.labels.app\\.kubernetes\\.io/name", Ok(".metadata.labels[\"app.kubernetes.io/name\"]")),
            (".metadata.labels.example\\.com\\/kit\\.type", Ok(".metadata.labels[\"example.com/kit.type\"]")),
            (".metadata.labels['example\\.com/region']", Ok(".metadata.labels[\"example.com/region\"]")),
            (".metadata.labels['team']", Ok(".metadata.labels.team")),
            (".metadata.annotations['a\\.b/c']", Ok(".metadata.annotations[\"a.b/c\"]")),
            (".status.a\\.b[?(@.type=='x.y')].c\\.d", Ok(".status[\"a.b\"][type=\"x.y\"][\"c.d\"]")),
            (".spec.list[0].x", Ok(".spec.list[0].x")),
            (".spec.list[*].x", Ok(".spec.list[0].x")),
            (".spec.list[-1:].x", Ok(".spec.list[-1].x")),
            (".spec.list[1:]", Ok(".spec.list[1]")),
            (".spec.list[0:1]", Ok(".spec.list[0]")),
            (".spec.list[0:2]", Err("a range of elements")),
            (".spec..x", Err("`..`")),
            (".spec.*", Err("`.*`")),
            (".spec['a','b']", Err("several names")),
            (".spec.x[?(@.a)].b", Err("has a field")),
            (".spec.x[?(@.a!='b')].b", Err("`!=`")),
            (".spec.x[?(@.a>3)].b", Err("`>`")),
            (".spec.x[?(@.a\\.b=='c')].d", Err("`a.b`")),
            (".spec.x[?(@.a==b)].d", Err("in quotes")),
            (".spec.x[?(@=='b')].d", Err("an element itself")),
            (".spec.x[?(@.a=='b\\.c')].d", Err("not a JSONPath")),
            (".metadata.labels['a.b/c']", Err("is the name [\"a.b/c\"]?")),
            (".spec[", Err("not a JSONPath")),
            (".spec} {.status", Err("more than one expression")),
        ] {
            let found = path_of(theirs).map(|path| path.to_string());
            match (&found, ours) {
                (Ok(found), Ok(ours)) => assert_eq!(found, ours, "{theirs}"),
                (Err(found), Err(why)) => assert!(found.contains(why), "{theirs}: {found}"),
                _ => panic!("{theirs}: {found:?}"),
            }
        }
    }

    #[test]
    fn only_a_path_through_all_elements_has_several_values() {
        for (theirs, ours) in [
            (".spec.list[*].x", Some(".spec.list[*].x")),
            ("{.spec.list[*]}", Some(".spec.list[*]")),
            (".spec.list[:].x", Some(".spec.list[*].x")),
            (".spec.list[-1:].x", None),
            (".spec.list[0].x", None),
            (".spec.list[1:].x", None),
            (".spec.x", None),
            (".spec.*", None),
        ] {
            assert_eq!(path_of_all(theirs).map(|path| path.to_string()).as_deref(), ours, "{theirs}");
        }
    }
}
