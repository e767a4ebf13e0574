//! Selects the objects of a kind that are read, with a label selector and a field selector. The API server applies both to lists and
//! watches. This room applies them to an object that was looked up by name.
//!
//! May use: ingester-core, ingester-sql.

use ingester_core::json::{Error, Reader, TokenKind};
use ingester_core::object::Object;
use ingester_core::query::{Filter, Test};
use ingester_core::value::Value;
use ingester_sql::query::{parse_kubernetes_field_selector, parse_label_selector};

/// Fields that the API server takes from other places: the object's text does not contain them under these names.
const ELSEWHERE: [&str; 2] = ["source", "status.successful"];

/// A label selector or a field selector, parsed from its text. All of its terms must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selector {
    text: String,
    terms: Vec<Filter>,
}

impl Selector {
    /// Parses a label selector.
    ///
    /// # Errors
    /// The mistake in it, with its place.
    pub fn labels(text: &str) -> Result<Self, String> {
        let terms = parse_label_selector(text).map_err(|error| error.to_string())?;
        Ok(Selector { text: text.to_owned(), terms })
    }

    /// Parses a field selector in Kubernetes' own grammar, which has neither ranges nor lists.
    ///
    /// # Errors
    /// The mistake in it, with its place.
    pub fn fields(text: &str) -> Result<Self, String> {
        let terms = parse_kubernetes_field_selector(text).map_err(|error| error.to_string())?;
        let elsewhere = terms.iter().filter_map(field_of).find(|field| ELSEWHERE.contains(field));
        if let Some(field) = elsewhere {
            return Err(format!("`{field}` is not the path of a field: select by another one"));
        }
        Ok(Selector { text: text.to_owned(), terms })
    }
}

/// Returns the field of a term.
fn field_of(term: &Filter) -> Option<&str> {
    match term {
        Filter::Field { field, .. } => Some(field),
        Filter::Not(inner) => field_of(inner),
        _ => None,
    }
}

/// The selectors of a kind. Without selectors, everything is selected.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// The label selector.
    pub labels: Selector,
    /// The field selector.
    pub fields: Selector,
}

impl Selection {
    /// Returns true if all objects are selected.
    pub fn is_all(&self) -> bool {
        self.labels.terms.is_empty() && self.fields.terms.is_empty()
    }

    /// Returns the parameters of a list or a watch; empty if all objects are selected.
    pub fn parameters(&self) -> String {
        let mut parameters = form_urlencoded::Serializer::new(String::new());
        for (name, selector) in [("labelSelector", &self.labels), ("fieldSelector", &self.fields)] {
            if !selector.terms.is_empty() {
                parameters.append_pair(name, &selector.text);
            }
        }
        parameters.finish()
    }

    /// Returns true if the selectors match the object.
    pub fn has(&self, object: &Object) -> bool {
        self.labels.terms.iter().chain(&self.fields.terms).all(|term| holds(term, object))
    }
}

fn holds(term: &Filter, object: &Object) -> bool {
    match term {
        Filter::Not(inner) => !holds(inner, object),
        Filter::Label { key, test } => {
            let labels = &object.meta().labels;
            let label = labels.iter().find(|(name, _)| **name == **key).map(|(_, value)| &**value);
            label.is_some_and(|label| passes(test, label))
        }
        // A field without a value counts as empty, and so does one in a text that cannot be read that far.
        Filter::Field { field, test } => passes(test, &field_value(object, field).unwrap_or_default()),
        _ => false,
    }
}

fn passes(test: &Test, value: &str) -> bool {
    let is = |wanted: &Value| wanted.to_string() == value;
    let number = || value.parse::<i64>().ok();
    match test {
        Test::Exists => true,
        Test::Equal(wanted) => is(wanted),
        Test::In(wanted) => wanted.iter().any(is),
        Test::Empty => value.is_empty(),
        Test::Less(Value::Int(limit)) => number().is_some_and(|number| number < *limit),
        Test::Greater(Value::Int(limit)) => number().is_some_and(|number| number > *limit),
        _ => false,
    }
}

/// Returns the value at the path of a field, in the form that a selector compares.
fn field_value(object: &Object, path: &str) -> Result<String, Error> {
    match path {
        "metadata.name" => return Ok(object.meta().name.to_string()),
        "metadata.namespace" => return Ok(object.meta().namespace.to_string()),
        _ => {}
    }
    let mut reader = Reader::new(object.text());
    'steps: for step in path.split('.') {
        if reader.peek()? != TokenKind::Object {
            return Ok(String::new());
        }
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            if key == step {
                continue 'steps;
            }
            reader.skip()?;
        }
        return Ok(String::new());
    }
    Ok(match reader.peek()? {
        TokenKind::String => reader.string()?.into_owned(),
        TokenKind::Number => reader.number()?.to_owned(),
        TokenKind::Bool => reader.bool()?.to_string(),
        _ => String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::{Selection, Selector};
    use ingester_core::object::{ManagedFields, Object};

    fn selection(labels: &str, fields: &str) -> Selection {
        Selection { labels: Selector::labels(labels).unwrap(), fields: Selector::fields(fields).unwrap() }
    }

    #[test]
    fn an_object_is_selected_as_the_api_server_selects_it() {
        let text = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"ml","uid":"u","resourceVersion":"1",
            "labels":{"app":"web","tier":"","n":"7"}},"spec":{"nodeName":"n1","hostNetwork":true,"replicas":3,"list":[1],"x":null},
            "status":{"phase":"Running"}}"#;
        let object = Object::parse(text, ManagedFields::Keep).unwrap();
        let cases = [
            ("", true),
            ("app", true),
            ("!app", false),
            ("app=web", true),
            ("app!=web", false),
            ("other!=web", true),
            ("app in (api,web),tier=", true),
            ("other in (web)", false),
            ("other notin (web)", true),
            ("n>6", true),
            ("n<7", false),
            ("app>1", false),
        ];
        for (labels, expected) in cases {
            assert_eq!(selection(labels, "").has(&object), expected, "{labels}");
        }
        let cases = [
            ("", true),
            ("metadata.name=a,metadata.namespace=ml", true),
            ("metadata.name!=a", false),
            ("status.phase=Running", true),
            ("status.phase!=Running", false),
            ("spec.nodeName=n1,spec.hostNetwork=true,spec.replicas=3", true),
            ("spec.nodeName=\"n1\"", false),
            ("spec.nodeName=", false),
            ("spec.absent=", true),
            ("spec.absent!=x", true),
            ("spec.x=", true),
            ("spec.list=", true),
            ("spec.nodeName.deeper=", true),
            ("status.phase=Running,spec.absent=x", false),
        ];
        for (fields, expected) in cases {
            assert_eq!(selection("", fields).has(&object), expected, "{fields}");
        }
    }

    #[test]
    fn selectors_are_parameters_of_the_request() {
        assert_eq!(selection("", "").parameters(), "");
        assert!(selection("", "").is_all());
        let both = selection("app in (a,b),!c", "status.phase!=Running");
        assert_eq!(
            both.parameters(),
            "labelSelector=app+in+%28a%2Cb%29%2C%21c&fieldSelector=status.phase%21%3DRunning"
        );
        assert!(!both.is_all());
    }

    #[test]
    fn a_selector_that_the_api_server_does_not_have_is_an_error() {
        let refused = |text: &str| Selector::fields(text).unwrap_err();
        for (text, said) in [
            ("spec.replicas>=3", "the API server has no ranges: test `spec.replicas` with `=` or `!=`"),
            ("status.phase in (Failed)", "the API server has no `in` and `notin` for fields"),
            (r#"spec.nodeName=\"n1\""#, r"expected `\,`, `\=` or `\\`"),
        ] {
            assert!(refused(text).contains(said), "{}", refused(text));
        }
        assert_eq!(refused("source!=kubelet"), "`source` is not the path of a field: select by another one");
        assert!(refused("status.phase").contains("expected `=`"), "{}", refused("status.phase"));
        assert!(Selector::labels("a in").is_err());
    }
}
