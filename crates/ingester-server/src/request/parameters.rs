//! The parameters of a request for objects: Kubernetes' own, and ours. Ours may also be requirements of the label selector,
//! `mirror.michelangelo.api/state=deleted`, because kubectl passes nothing else.

use crate::request::names::{is_name, is_namespace};
use crate::request::path::OUTER_GROUP;
use crate::request::query::QueryString;
use crate::request::watching::{self, Watch};
use crate::status::Status;
use ingester_core::nearest::nearest;
use ingester_core::value::Value;
use ingester_sql::query::{
    Ask, AskKey, Filter, KeyError, Meaning, Query, Spelling, Test, parse_label_selector_with_parameters,
    parse_list_options, truth,
};

/// The question of a request for objects, except for its path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    /// The selected objects and their order. The path adds namespace and name.
    pub query: Query,
    /// The most objects of a page; `None` for all of them in one answer.
    pub limit: Option<usize>,
    /// The most objects of the whole answer, from a saved query or a pseudo-label.
    pub most: Option<usize>,
    /// The token at which the page begins.
    pub token: Option<String>,
    /// Count the objects.
    pub count: bool,
    /// The answer must not be older than this version. A watch begins at this version.
    pub version: Option<u64>,
    /// The requested version of an object, from its history.
    pub of_version: Option<u64>,
    /// The options of a watch, if this is one.
    pub watch: Option<Watch>,
    /// The part of each object that a table has.
    pub include: Include,
    /// The number of rows to skip at the beginning, as in the reference system.
    pub offset: u64,
    /// Paths of fields to leave out of the answer.
    pub skip: Vec<String>,
    /// The saved query, if any.
    pub saved: Option<SavedQueryCall>,
    /// `dryRun`, for requests that change something.
    pub dry_run: Vec<String>,
    /// Warnings to the client.
    pub warnings: Vec<String>,
    /// The values for the parameters of a saved query, while parameters are still being read.
    pub(crate) of_query: Vec<(String, String)>,
}

/// A saved query of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedQueryCall {
    /// Its name.
    pub name: String,
    /// Values for its parameters.
    pub parameters: Vec<(String, String)>,
    /// Further conditions. They narrow the query.
    pub ask: Ask,
}

/// The part of each object that a table has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Include {
    /// Nothing.
    None,
    /// Its metadata.
    #[default]
    Metadata,
    /// All of it.
    Object,
}

/// Our own parameters besides the [keys](AskKey) of a question. Each may be a requirement of the label selector as well.
const OURS: [&str; 4] = ["count", "listOptionsExt", "query", "limit"];

/// The prefix of the names of a saved query's parameters.
const OF_QUERY: &str = "param.";

/// Parameters of Kubernetes that are read elsewhere, or have no meaning here.
const OTHERS: [&str; 15] = [
    "version",
    "continue",
    "resourceVersion",
    "resourceVersionMatch",
    "watch",
    "allowWatchBookmarks",
    "sendInitialEvents",
    "timeoutSeconds",
    "timeout",
    "pretty",
    "includeObject",
    "dryRun",
    "fieldManager",
    "fieldValidation",
    "force",
];

/// Parameters of a deletion, which its body may have instead.
const OF_DELETION: [&str; 3] = ["propagationPolicy", "gracePeriodSeconds", "orphanDependents"];

/// Reads the parameters of a request for objects of a kind with this name.
///
/// # Errors
/// 400 if a parameter cannot be parsed, 422 for invalid options: each as in the API server.
pub fn parse(given: &QueryString, kind: &str) -> Result<Parameters, Status> {
    let mut parameters = Parameters::default();
    let mut ask = Ask::new(Spelling::Url);
    parameters.token = given.last("continue").map(str::to_owned);
    parameters.include = match given.last("includeObject") {
        None | Some("Metadata") => Include::Metadata,
        Some("None") => Include::None,
        Some("Object") => Include::Object,
        Some(other) => {
            let what = format!("unrecognized value for includeObject: {other:?}: must be None, Metadata or Object");
            return Err(Status::bad_request(what));
        }
    };
    parameters.dry_run = given.all("dryRun").to_vec();
    parameters.version = watching::version(given)?;
    parameters.of_version = match given.last("version").map(str::parse) {
        None => None,
        Some(Ok(version)) => Some(version),
        Some(Err(_)) => {
            return Err(Status::bad_request("version: expected the resourceVersion of a version, which is a number"));
        }
    };
    parameters.watch = watching::watch(given)?;
    for (key, values) in given.iter() {
        let is_own = key.starts_with(OF_QUERY) || OURS.contains(&key);
        if is_own || AskKey::named(Spelling::Url, key).is_some() {
            parameters.own(&mut ask, (Spelling::Url, key), values, kind)?;
        } else if !OTHERS.contains(&key) && !OF_DELETION.contains(&key) {
            let known: Vec<&str> = AskKey::names(Spelling::Url).chain(OURS).chain(OTHERS).collect();
            let meant = nearest(key, &known).map_or(String::new(), |meant| format!(", did you mean `{meant}`?"));
            parameters.warnings.push(format!("unknown parameter `{key}` is ignored{meant}"));
        }
    }
    parameters.query = ask.clone().query().map_err(refused)?;
    if parameters.query.scan {
        parameters.warnings.push("scan: fields without a column are read from the JSON of every row".into());
    }
    parameters.query.filters.iter().try_for_each(has_names)?;
    let of_query = std::mem::take(&mut parameters.of_query);
    match &mut parameters.saved {
        Some(saved) => (saved.parameters, saved.ask) = (of_query, ask),
        None if of_query.is_empty() => {}
        None => {
            return Err(Status::bad_request(
                "parameters `param.NAME` are those of a saved query: name it with `query`",
            ));
        }
    }
    Ok(parameters)
}

/// Returns true if this is the name of a parameter, without its prefix.
pub(crate) fn is_parameter(name: &str) -> bool {
    AskKey::named(Spelling::PseudoLabel, name).is_some() || OURS.contains(&name)
}

fn refused(error: KeyError) -> Status {
    Status::bad_request(error.to_string())
}

/// Refuses a name that no object or namespace can have: rights are checked for the name as written, and a database may find other names.
fn has_names(filter: &Filter) -> Result<(), Status> {
    let Filter::Field { field, test: Test::Equal(Value::Text(name)) } = filter else { return Ok(()) };
    let is_one = match &**field {
        // No object has an empty name, in any database.
        _ if name.is_empty() => true,
        "metadata.name" => is_name(name),
        "metadata.namespace" => is_namespace(name),
        _ => true,
    };
    if is_one {
        Ok(())
    } else {
        Err(Status::bad_request(format!("{field}: {name:?} is not a name that Kubernetes takes")))
    }
}

impl Parameters {
    /// Returns the only name that the field selector lets through.
    pub(crate) fn only_name(&self) -> Option<&str> {
        self.query.filters.iter().find_map(|filter| match filter {
            Filter::Field { field, test: Test::Equal(Value::Text(name)) } if field == "metadata.name" => Some(&**name),
            _ => None,
        })
    }

    /// Reads a parameter that is a key of the question, which goes into `ask`, or one of our own.
    fn own(
        &mut self,
        ask: &mut Ask,
        (spelling, name): (Spelling, &str),
        values: &[String],
        kind: &str,
    ) -> Result<(), Status> {
        let wrong = |what: String| Status::bad_request(format!("{name}: {what}"));
        if let Some(of_query) = name.strip_prefix(OF_QUERY) {
            self.of_query.extend(values.iter().map(|value| (of_query.to_owned(), value.clone())));
            return Ok(());
        }
        if let Some(key) = AskKey::named(spelling, name) {
            if key.meaning() == Meaning::Labels {
                return values.iter().try_for_each(|selector| self.labels(ask, key, selector, kind));
            }
            let texts = values.iter().flat_map(|value| match key.is_list() {
                true => value.split(',').collect(),
                false => vec![value.as_str()],
            });
            return ask.set(key, &texts.collect::<Vec<_>>()).map_err(refused);
        }
        let one = || match values {
            [one] => Ok(one.as_str()),
            _ => Err(wrong("it has one value".into())),
        };
        match name {
            "count" => self.count |= truth(one()?).map_err(wrong)?,
            "listOptionsExt" => {
                let options =
                    parse_list_options(one()?, kind).map_err(|error| Status::bad_request(error.to_string()))?;
                ask.list_options(&options);
                self.offset = options.offset;
                self.skip = options.skip;
                self.limit = options
                    .limit
                    .filter(|limit| *limit > 0)
                    .map(|limit| usize::try_from(limit).unwrap_or(usize::MAX))
                    .or(self.limit);
            }
            "query" => {
                let name = one()?.to_owned();
                let parameters = Vec::new();
                self.saved = Some(SavedQueryCall { name, parameters, ask: Ask::new(spelling) });
            }
            "limit" => {
                let text = one()?;
                let limit: i64 = text.parse().map_err(|_| wrong(format!("`{text}` is not a whole number")))?;
                // As in the API server, a number that is not positive means no limit.
                let limit = usize::try_from(limit).ok().filter(|limit| *limit > 0);
                // The limit in a URL is for a page, and kubectl requests all pages.
                match spelling {
                    Spelling::PseudoLabel => self.most = limit,
                    _ => self.limit = limit,
                }
            }
            other => {
                let known: Vec<&str> = AskKey::names(Spelling::PseudoLabel).chain(OURS).collect();
                let meant = nearest(other, &known).map_or(String::new(), |meant| format!(", did you mean `{meant}`?"));
                return Err(Status::bad_request(format!(
                    "unknown parameter {OUTER_GROUP}/{other}{meant}; known: {}",
                    known.join(", ")
                )));
            }
        }
        Ok(())
    }

    /// Reads a label selector and the parameters in it.
    fn labels(&mut self, ask: &mut Ask, key: &AskKey, selector: &str, kind: &str) -> Result<(), Status> {
        let (filters, parameters) = parse_label_selector_with_parameters(selector, &format!("{OUTER_GROUP}/"))
            .map_err(|error| Status::bad_request(format!("unable to parse requirement: {error}")))?;
        ask.filters(Some(key), filters);
        parameters.into_iter().try_for_each(|(name, values)| {
            let values = if values.is_empty() { vec!["true".to_owned()] } else { values };
            self.own(ask, (Spelling::PseudoLabel, &name), &values, kind)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ingester_sql::query::States;
    use ingester_sql::query::parse_label_selector;
    use proptest::prelude::*;

    fn ok(query: &str) -> Parameters {
        parse(&QueryString::parse(query), "Model").unwrap_or_else(|error| panic!("{query}: {error}"))
    }

    fn wrong(query: &str) -> (u16, String) {
        let status = parse(&QueryString::parse(query), "Model").expect_err(query);
        (status.code.as_u16(), status.message)
    }

    #[test]
    fn what_the_url_says_the_selector_may_say() {
        for (url, selector) in [
            ("state=deleted", "state=deleted"),
            ("state=live,evicted", "state+in+(live,evicted)"),
            ("order-by=-create_time", "order-by=-create_time"),
            (
                "created-after=7d&created-before=2026-01-01T00:00:00Z",
                "created-after=7d,mirror.michelangelo.api/created-before=2026-01-01T00:00:00Z",
            ),
            ("deleted-after=2h", "deleted-after=2h"),
            ("count=true", "count"),
            ("scan=1", "scan=true"),
            ("uid=a&uid=b", "uid+in+(a,b)"),
            ("query=active", "query=active"),
            (
                "query=active&param.a=b&param.c=d&param.c=e",
                "query=active,mirror.michelangelo.api/param.a=b,mirror.michelangelo.api/param.c+in+(d,e)",
            ),
        ] {
            assert_eq!(ok(url), ok(&format!("labelSelector=mirror.michelangelo.api/{selector}")), "{url}");
        }
        let both = ok("labelSelector=team%3Dpricing,mirror.michelangelo.api/state=all");
        assert_eq!(
            (both.query.states, both.query.filters),
            (States::ALL, parse_label_selector("team=pricing").unwrap())
        );
    }

    #[test]
    fn deletion_times_are_those_of_deleted_objects() {
        assert_eq!(ok("deleted-after=2h").query.states, States::DELETED);
        assert_eq!(ok("deleted-after=2h&state=all").query.states, States::ALL);
        let (code, message) = wrong("deleted-after=30d&state=live,evicted");
        assert!(code == 400 && message.contains("have no time of deletion"), "{message}");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (query, code, part) in [
            ("labelSelector=a=%20b%20c", 400, "unable to parse requirement"),
            ("fieldSelector=a", 400, "field selector"),
            ("fieldSelector=metadata.name%3Da%20", 400, "\"a \" is not a name that Kubernetes takes"),
            ("fieldSelector=metadata.namespace%3DA", 400, "\"A\" is not a name that Kubernetes takes"),
            ("state=gone", 400, "unknown state `gone`; known: live, evicted, deleted, all"),
            ("created-after=tuesday", 400, "created-after:"),
            ("created-after=1d&created-after=2d", 400, "it has one value"),
            ("count=maybe", 400, "`maybe` is neither true nor false"),
            ("limit=many", 400, "limit: `many` is not a whole number"),
            ("labelSelector=mirror.michelangelo.api/stat=live", 400, "did you mean `state`?"),
            (
                "labelSelector=mirror.michelangelo.api/labelSelector%3Da",
                400,
                "unknown parameter mirror.michelangelo.api/labelSelector",
            ),
            (
                "labelSelector=mirror.michelangelo.api/namespace%3Da",
                400,
                "unknown parameter mirror.michelangelo.api/namespace",
            ),
            ("labelSelector=!mirror.michelangelo.api/state", 400, "is a parameter"),
            ("listOptionsExt={", 400, "list options"),
            ("includeObject=Some", 400, "must be None, Metadata or Object"),
            ("resourceVersion=x", 400, "resourceVersion is a number"),
            ("resourceVersion=5&resourceVersionMatch=Exact", 410, "only the present state"),
            ("resourceVersionMatch=NotOlderThan", 422, "unless resourceVersion is provided"),
            ("resourceVersion=5&resourceVersionMatch=Newest", 422, "Unsupported value"),
            ("watch=true&sendInitialEvents=true&resourceVersion=0", 422, "requires setting resourceVersionMatch"),
            ("timeoutSeconds=soon", 400, "not a whole number"),
            ("param.a=b", 400, "saved query"),
        ] {
            let (status, message) = wrong(query);
            assert!(status == code && message.contains(part), "{query}: {status} {message}");
        }
    }

    #[test]
    fn unknown_parameters_are_ignored_with_a_warning() {
        assert_eq!(ok("orderby=x").warnings, ["unknown parameter `orderby` is ignored, did you mean `order-by`?"]);
        assert!(ok("pretty=true&fieldManager=kubectl&propagationPolicy=Background").warnings.is_empty());
    }

    #[test]
    fn a_saved_query_has_its_parameters() {
        let saved = ok("query=active&param.since=7d&param.team=a%26b&param.team=c").saved.unwrap();
        let bound =
            [("since", "7d"), ("team", "a&b"), ("team", "c")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!((saved.name, saved.parameters), ("active".to_owned(), bound.to_vec()));
    }

    #[test]
    fn limits_are_as_in_kubernetes_and_that_of_a_selector_is_of_the_whole_answer() {
        let chunk = ok("limit=500&labelSelector=mirror.michelangelo.api/limit%3D5");
        assert_eq!((chunk.limit, chunk.most), (Some(500), Some(5)));
        assert_eq!(
            (ok("").limit, ok("limit=0").limit, ok("limit=-1").limit, ok("limit=500").limit),
            (None, None, None, Some(500))
        );
    }

    proptest! {
        #[test]
        fn any_parameters_have_an_answer(query in "((labelSelector|fieldSelector|state|limit|uid|order-by|continue|created-after|listOptionsExt|query|param.x|[a-z]{1,4})=[ -~]{0,20}&?){0,5}") {
            if let Err(status) = parse(&QueryString::parse(&query), "Model") {
                prop_assert!(status.code.is_client_error());
            }
        }
    }
}
