//! `watch`, `resourceVersion` and related parameters: which combinations the API server accepts, and how it refuses the others.

use super::query::{QueryString, is_true};
use crate::status::{Cause, Status};
use std::time::Duration;

/// The options of a watch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// The maximum duration.
    pub time: Option<Duration>,
    /// The client wants bookmarks.
    pub bookmarks: bool,
    /// The watch begins with the present objects. `None`: it does so if the request names no version.
    pub initial: Option<bool>,
}

/// Reads the options of a watch; `None` if this is not a watch.
///
/// # Errors
/// 400 for a time that is not a number.
pub(super) fn watch(query: &QueryString) -> Result<Option<Watch>, Status> {
    let time = match query.last("timeoutSeconds") {
        None => None,
        Some(text) => {
            let seconds: u64 = text
                .parse()
                .map_err(|_| Status::bad_request(format!("timeoutSeconds: `{text}` is not a whole number")))?;
            Some(Duration::from_secs(seconds)).filter(|time| !time.is_zero())
        }
    };
    let watch = Watch {
        time,
        bookmarks: query.last("allowWatchBookmarks").is_some_and(is_true),
        initial: query.last("sendInitialEvents").map(is_true),
    };
    Ok(query.is_watch().then_some(watch))
}

/// Reads `resourceVersion`, and checks that it fits the other parameters.
///
/// # Errors
/// 400 if it is not a number, 422 if it does not fit, 410 for an exact version: SQL has only the present state.
pub(super) fn version(query: &QueryString) -> Result<Option<u64>, Status> {
    let text = query.last("resourceVersion");
    let wrong = |text: &str| Status::bad_request(format!("Invalid value: {text:?}: resourceVersion is a number"));
    let version = text.map(|text| text.parse::<u64>().map_err(|_| wrong(text))).transpose()?;
    let causes = if query.is_watch() { of_watch(query) } else { of_list(query, version) };
    if !causes.is_empty() {
        return Err(invalid(causes));
    }
    if !query.is_watch() && query.last("resourceVersionMatch") == Some("Exact") {
        return Err(Status::expired("SQL has only the present state: ask without resourceVersionMatch=Exact"));
    }
    Ok(version)
}

/// Returns the API server's errors about the options of a list.
fn of_list(query: &QueryString, version: Option<u64>) -> Vec<Cause> {
    let mut causes = Vec::new();
    if let Some(wanted) = query.last("resourceVersionMatch") {
        if version.is_none() {
            causes.push(forbidden(MATCH, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
        }
        if query.last("continue").is_some() {
            causes.push(forbidden(MATCH, "resourceVersionMatch is forbidden when continue is provided"));
        }
        if !matches!(wanted, "Exact" | NOT_OLDER) {
            causes.push(unsupported(wanted, "\"Exact\", \"NotOlderThan\""));
        }
        if wanted == "Exact" && version == Some(0) {
            let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            causes.push(forbidden(MATCH, why));
        }
    }
    if query.last(INITIAL).is_some() {
        causes.push(forbidden(INITIAL, "sendInitialEvents is forbidden for list"));
    }
    causes
}

/// Returns the API server's errors about the options of a watch.
fn of_watch(query: &QueryString) -> Vec<Cause> {
    let wanted = query.last("resourceVersionMatch");
    let initial = query.last(INITIAL);
    let mut causes = Vec::new();
    if initial.is_some() && wanted != Some(NOT_OLDER) {
        let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        causes.push(forbidden(MATCH, why));
    }
    if let Some(wanted) = wanted {
        if initial.is_none() {
            let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            causes.push(forbidden(MATCH, why));
        }
        if wanted != NOT_OLDER {
            causes.push(unsupported(wanted, "\"NotOlderThan\""));
        }
        if query.last("continue").is_some() {
            causes.push(forbidden(MATCH, "resourceVersionMatch is forbidden when continue is provided"));
        }
    }
    causes
}

/// The answer to clients that request initial events from a server without them: they then list instead. Without this answer they would
/// wait for the end of these events without end.
pub(crate) fn without_initial_events(why: &str) -> Status {
    invalid(vec![forbidden(INITIAL, &format!("sendInitialEvents is forbidden for watch: {why}"))])
}

const MATCH: &str = "resourceVersionMatch";
const INITIAL: &str = "sendInitialEvents";
const NOT_OLDER: &str = "NotOlderThan";

fn forbidden(field: &str, why: &str) -> Cause {
    Cause { reason: "FieldValueForbidden".into(), message: format!("Forbidden: {why}"), field: field.into() }
}

fn unsupported(value: &str, supported: &str) -> Cause {
    let message = format!("Unsupported value: {value:?}: supported values: {supported}");
    Cause { reason: "FieldValueNotSupported".into(), message, field: MATCH.into() }
}

/// Returns 422, in the API server's words.
fn invalid(causes: Vec<Cause>) -> Status {
    let said: Vec<String> = causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
    let said = if said.len() == 1 { said.concat() } else { format!("[{}]", said.join(", ")) };
    Status::invalid(format!("ListOptions.meta.k8s.io \"\" is invalid: {said}"), causes)
}

#[cfg(test)]
mod tests {
    use super::{QueryString, Watch, version, watch, without_initial_events};
    use std::time::Duration;

    fn said(query: &str) -> (u16, String) {
        match version(&QueryString::parse(query)) {
            Ok(version) => (200, format!("{version:?}")),
            Err(status) => (status.code.as_u16(), status.message),
        }
    }

    #[test]
    fn combinations_are_refused_as_the_api_server_refuses_them() {
        const INVALID: &str = "ListOptions.meta.k8s.io \"\" is invalid: ";
        for (query, code, part) in [
            ("watch=true&resourceVersion=5", 200, "Some(5)"),
            ("watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", 200, "None"),
            ("watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=5", 200, "Some(5)"),
            ("watch=true&resourceVersion=x", 400, "resourceVersion is a number"),
            (
                "watch=true&sendInitialEvents=true",
                422,
                "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            ),
            (
                "watch=true&resourceVersionMatch=NotOlderThan&resourceVersion=5",
                422,
                "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            ),
            (
                "watch=true&sendInitialEvents=true&resourceVersionMatch=Exact",
                422,
                "[resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan, \
                 resourceVersionMatch: Unsupported value: \"Exact\": supported values: \"NotOlderThan\"]",
            ),
            (
                "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=a",
                422,
                "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided",
            ),
            ("sendInitialEvents=true", 422, "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"),
            ("resourceVersion=5&resourceVersionMatch=NotOlderThan", 200, "Some(5)"),
            ("resourceVersion=0&resourceVersionMatch=Exact", 422, "is forbidden for resourceVersion \"0\""),
            ("resourceVersion=5&resourceVersionMatch=Exact", 410, "SQL has only the present state"),
        ] {
            let (status, message) = said(query);
            assert_eq!(status, code, "{query}: {message}");
            assert!(message.trim_start_matches(INVALID).contains(part), "{query}: {message}");
            assert_eq!(message.starts_with(INVALID), code == 422, "{query}: {message}");
        }
        let status = without_initial_events("this server lists");
        assert_eq!(status.code.as_u16(), 422);
        assert!(status.message.starts_with("ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: "));
    }

    #[test]
    fn a_watch_says_how_long_and_with_what() {
        let of = |query: &str| watch(&QueryString::parse(query)).map_err(|status| status.message);
        assert_eq!(of("watch=0"), Ok(None));
        assert_eq!(of("watch=True"), Ok(Some(Watch::default())));
        assert_eq!(of("watch=1&timeoutSeconds=0&allowWatchBookmarks=false"), Ok(Some(Watch::default())));
        let all = Watch { time: Some(Duration::from_secs(7)), bookmarks: true, initial: Some(true) };
        assert_eq!(of("watch=true&timeoutSeconds=7&allowWatchBookmarks=1&sendInitialEvents=True"), Ok(Some(all)));
        assert_eq!(of("watch=true&timeoutSeconds=soon"), Err("timeoutSeconds: `soon` is not a whole number".into()));
    }
}
