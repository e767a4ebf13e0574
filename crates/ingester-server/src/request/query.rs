//! The query string of a URL, split once for each request.

use std::collections::BTreeMap;

/// The parameters of a URL with their values, in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryString(BTreeMap<String, Vec<String>>);

impl QueryString {
    /// Splits and decodes the part of a URL after `?`.
    pub fn parse(text: &str) -> Self {
        let mut parameters: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (key, value) in form_urlencoded::parse(text.as_bytes()) {
            parameters.entry(key.into_owned()).or_default().push(value.into_owned());
        }
        QueryString(parameters)
    }

    /// Returns each parameter with all its values.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.0.iter().map(|(key, values)| (key.as_str(), values.as_slice()))
    }

    /// Returns true if the parameter is given, even if it is empty.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Returns all values of a parameter.
    pub(super) fn all(&self, key: &str) -> &[String] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }

    /// Returns the last value of a parameter, if it is not empty.
    pub(super) fn last(&self, key: &str) -> Option<&str> {
        self.all(key).last().map(String::as_str).filter(|text| !text.is_empty())
    }

    /// Returns true if a watch is requested. Empty values do not count.
    pub(crate) fn is_watch(&self) -> bool {
        self.all("watch").iter().rfind(|text| !text.is_empty()).is_some_and(|text| is_true(text))
    }
}

/// Reads a flag as the API server does: everything except these two is true, even the `True` that Python's client sends.
pub(super) fn is_true(text: &str) -> bool {
    !matches!(text, "false" | "0")
}

#[cfg(test)]
mod tests {
    use super::QueryString;

    #[test]
    fn a_watch_is_what_the_last_value_says() {
        for (query, expected) in [
            ("", false),
            ("watch", false),
            ("watch=", false),
            ("watch=0", false),
            ("watch=true", true),
            ("watch=True&watch=", true),
            ("watch=true&watch=false", false),
            ("%77atch=1", true),
        ] {
            assert_eq!(QueryString::parse(query).is_watch(), expected, "{query}");
        }
    }

    #[test]
    fn the_last_value_counts_unless_it_is_empty() {
        let query = QueryString::parse("a=1&b=&a=2%26&c=1&c=");
        assert_eq!(
            (query.last("a"), query.last("b"), query.last("c"), query.last("d")),
            (Some("2&"), None, None, None)
        );
        assert_eq!(query.all("a"), ["1", "2&"]);
        assert!(query.has("b") && !query.has("d"));
    }
}
