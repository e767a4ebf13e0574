//! The path of a request, according to Kubernetes' conventions.

use super::names::{is_name, is_namespace};
use crate::status::Status;
use ingester_core::Kind;
use percent_encoding::percent_decode_str;
use std::borrow::Cow;

/// The API group of this server's own resources.
pub const OUTER_GROUP: &str = ingester_core::marks::shown::GROUP;

/// The version of [`OUTER_GROUP`].
pub const OUTER_VERSION: &str = "v1";

/// The path under which everything is served a second time, so that the server can be an APIService.
pub const OUTER_PREFIX: &str = "/apis/mirror.michelangelo.api/v1/resources";

/// The target of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestTarget<'p> {
    /// `/healthz`, `/livez`, `/readyz`: the health of the server.
    Health(&'p str),
    /// `/version`
    Version,
    /// `/`: the list of paths.
    Root,
    /// `/ui/`: the console's page; behind it, one of its files.
    Console(Option<Cow<'p, str>>),
    /// `/api`: the versions of the core group.
    Core,
    /// `/apis`: the groups.
    Groups,
    /// `/apis/GROUP`
    Group(Cow<'p, str>),
    /// `/apis/GROUP/VERSION`, or `/api/v1` with an empty group.
    GroupVersion(Cow<'p, str>, Cow<'p, str>),
    /// `/openapi/v2`
    OpenApiV2,
    /// `/openapi/v3`
    OpenApiV3,
    /// `/openapi/v3/apis/GROUP/VERSION`
    OpenApiV3Group(Cow<'p, str>, Cow<'p, str>),
    /// The saved queries, or one of them.
    Queries(Option<Cow<'p, str>>),
    /// The parameters for label selectors, or one of them.
    Parameters(Option<Cow<'p, str>>),
    /// The numbers of objects of each kind, or of one of them.
    Counts(Option<Cow<'p, str>>),
    /// The rejected objects, or one of them.
    Rejects(Option<Cow<'p, str>>),
    /// The states of the units of `ingester run`, or of one of them.
    Units(Option<Cow<'p, str>>),
    /// The effects of the rules, or of one of them.
    Policies(Option<Cow<'p, str>>),
    /// A review that callers request about themselves.
    SelfReview(SelfReview),
    /// The namespaces that have objects, or one of them. [`RequestTarget::among`] finds out.
    Namespaces(Option<Cow<'p, str>>),
    /// Kubernetes' Events, or one of them, on a server that does not have them. [`RequestTarget::among`] finds out.
    Events(Option<Cow<'p, str>>),
    /// Objects.
    Objects(Objects<'p>),
}

impl RequestTarget<'_> {
    /// Returns the target for a server of these kinds. Without Kubernetes' namespaces as a kind, namespaces are the server's own resource;
    /// without Events as a kind, the server has no Events.
    pub fn among(self, kinds: &[Kind]) -> Self {
        match self {
            RequestTarget::Objects(objects) if objects.are_namespaces() && objects.kind(kinds).is_none() => {
                RequestTarget::Namespaces(objects.name)
            }
            RequestTarget::Objects(objects) if objects.are_events() && objects.kind(kinds).is_none() => {
                RequestTarget::Events(objects.name)
            }
            target => target,
        }
    }

    /// Returns the name in the path; `None` if the path is about all objects, or about none.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            RequestTarget::Objects(objects) => objects.name.as_deref(),
            RequestTarget::Queries(name)
            | RequestTarget::Parameters(name)
            | RequestTarget::Counts(name)
            | RequestTarget::Rejects(name)
            | RequestTarget::Units(name)
            | RequestTarget::Policies(name)
            | RequestTarget::Namespaces(name)
            | RequestTarget::Events(name) => name.as_deref(),
            _ => None,
        }
    }
}

/// A review that callers request about themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelfReview {
    /// Asks if they may do something.
    Access,
    /// Asks for everything that they may do.
    Rules,
    /// Asks who they are.
    User,
}

impl SelfReview {
    /// All reviews.
    pub const ALL: [SelfReview; 3] = [SelfReview::Access, SelfReview::Rules, SelfReview::User];

    /// Returns its API group.
    pub const fn group(self) -> &'static str {
        match self {
            SelfReview::Access | SelfReview::Rules => "authorization.k8s.io",
            SelfReview::User => "authentication.k8s.io",
        }
    }

    /// Returns its kind.
    pub const fn kind(self) -> &'static str {
        match self {
            SelfReview::Access => "SelfSubjectAccessReview",
            SelfReview::Rules => "SelfSubjectRulesReview",
            SelfReview::User => "SelfSubjectReview",
        }
    }

    /// Returns its plural.
    pub const fn plural(self) -> &'static str {
        match self {
            SelfReview::Access => "selfsubjectaccessreviews",
            SelfReview::Rules => "selfsubjectrulesreviews",
            SelfReview::User => "selfsubjectreviews",
        }
    }
}

/// Objects of a kind, as a path names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objects<'p> {
    /// The API group; empty for the core group.
    pub group: Cow<'p, str>,
    /// The API version.
    pub version: Cow<'p, str>,
    /// The plural.
    pub plural: Cow<'p, str>,
    /// The namespace; `None` for all of them.
    pub namespace: Option<Cow<'p, str>>,
    /// The object's name; `None` for all of them.
    pub name: Option<Cow<'p, str>>,
    /// The subresource.
    pub subresource: Option<Cow<'p, str>>,
}

impl Objects<'_> {
    /// Returns true if they are Kubernetes' namespaces.
    fn are_namespaces(&self) -> bool {
        let Objects { group, version, plural, namespace, subresource, .. } = self;
        let is_named = group.is_empty() && version == "v1" && plural == "namespaces";
        is_named && namespace.is_none() && subresource.is_none()
    }

    /// Returns true if they are Kubernetes' Events.
    fn are_events(&self) -> bool {
        let Objects { group, version, plural, subresource, .. } = self;
        group.is_empty() && version == "v1" && plural == "events" && subresource.is_none()
    }

    /// Returns true if the path names an object's history.
    pub(crate) fn is_history(&self) -> bool {
        self.subresource.as_deref() == Some("history")
    }

    /// Returns their kind, if it is one of these.
    pub fn kind<'k>(&self, kinds: &'k [Kind]) -> Option<&'k Kind> {
        kinds
            .iter()
            .find(|kind| kind.group() == self.group && kind.version() == self.version && kind.plural() == self.plural)
    }
}

/// Reads the path of a request. Paths below [`OUTER_PREFIX`] mean the same as without it.
///
/// # Errors
/// 404 for a path that no Kubernetes server has. This includes every path with an empty part, with `.` or `..`, with a slash written as
/// `%2f`, or with a name that Kubernetes would refuse: the server does not guess a meaning.
pub fn parse(path: &str) -> Result<RequestTarget<'_>, Status> {
    let inner = match path.strip_prefix(OUTER_PREFIX) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
        _ => path,
    };
    let inner = inner.strip_prefix('/').ok_or_else(Status::no_such_path).or_else(|status| match inner {
        "" if !path.is_empty() => Ok(""),
        _ => Err(status),
    })?;
    // Many clients add one slash at the end.
    let inner = inner.strip_suffix('/').filter(|rest| !rest.is_empty()).unwrap_or(inner);
    let parts: Vec<Cow<'_, str>> = match inner {
        "" => Vec::new(),
        inner => inner.split('/').map(part).collect::<Option<_>>().ok_or_else(Status::no_such_path)?,
    };
    let words: Vec<&str> = parts.iter().map(|part| &**part).collect();
    let at = |place: usize| parts[place].clone();
    let name = || parts.get(4).cloned();
    if let ["apis", group, "v1", plural] = words[..]
        && let Some(review) =
            SelfReview::ALL.into_iter().find(|review| (review.group(), review.plural()) == (group, plural))
    {
        return Ok(RequestTarget::SelfReview(review));
    }
    Ok(match words[..] {
        [] => RequestTarget::Root,
        ["healthz"] => RequestTarget::Health("healthz"),
        ["livez"] => RequestTarget::Health("livez"),
        ["readyz"] => RequestTarget::Health("readyz"),
        ["version"] => RequestTarget::Version,
        ["ui"] => RequestTarget::Console(None),
        ["ui", _] => RequestTarget::Console(Some(at(1))),
        ["openapi", "v2"] => RequestTarget::OpenApiV2,
        ["openapi", "v3"] => RequestTarget::OpenApiV3,
        ["openapi", "v3", "api", _] => RequestTarget::OpenApiV3Group(Cow::Borrowed(""), at(3)),
        ["openapi", "v3", "apis", _, _] => RequestTarget::OpenApiV3Group(at(3), at(4)),
        ["api"] => RequestTarget::Core,
        ["api", _] => RequestTarget::GroupVersion(Cow::Borrowed(""), at(1)),
        ["api", ..] => RequestTarget::Objects(objects(Cow::Borrowed(""), at(1), &parts[2..])?),
        ["apis"] => RequestTarget::Groups,
        ["apis", _] => RequestTarget::Group(at(1)),
        ["apis", _, _] => RequestTarget::GroupVersion(at(1), at(2)),
        ["apis", OUTER_GROUP, OUTER_VERSION, "queries", ..] if words.len() <= 5 => RequestTarget::Queries(name()),
        ["apis", OUTER_GROUP, OUTER_VERSION, "parameters", ..] if words.len() <= 5 => RequestTarget::Parameters(name()),
        ["apis", OUTER_GROUP, OUTER_VERSION, "counts", ..] if words.len() <= 5 => RequestTarget::Counts(name()),
        ["apis", OUTER_GROUP, OUTER_VERSION, "rejects", ..] if words.len() <= 5 => RequestTarget::Rejects(name()),
        ["apis", OUTER_GROUP, OUTER_VERSION, "units", ..] if words.len() <= 5 => RequestTarget::Units(name()),
        ["apis", OUTER_GROUP, OUTER_VERSION, "policies", ..] if words.len() <= 5 => RequestTarget::Policies(name()),
        ["apis", ..] => RequestTarget::Objects(objects(at(1), at(2), &parts[3..])?),
        _ => return Err(Status::no_such_path()),
    })
}

/// `[namespaces/NAMESPACE/]PLURAL[/NAME[/SUBRESOURCE]]`
fn objects<'p>(group: Cow<'p, str>, version: Cow<'p, str>, rest: &[Cow<'p, str>]) -> Result<Objects<'p>, Status> {
    let (namespace, rest) = match rest {
        [word, namespace, rest @ ..] if word == "namespaces" && !rest.is_empty() => (Some(namespace.clone()), rest),
        rest => (None, rest),
    };
    let [plural, rest @ ..] = rest else { return Err(Status::no_such_path()) };
    let (name, subresource) = match rest {
        [] => (None, None),
        [name] => (Some(name.clone()), None),
        [name, subresource] => (Some(name.clone()), Some(subresource.clone())),
        _ => return Err(Status::no_such_path()),
    };
    if namespace.as_deref().is_some_and(|name| !is_namespace(name))
        || name.as_deref().is_some_and(|name| !is_name(name))
    {
        return Err(Status::no_such_path());
    }
    Ok(Objects { group, version, plural: plural.clone(), namespace, name, subresource })
}

/// Decodes a segment of a path; `None` if it is not valid.
fn part(text: &str) -> Option<Cow<'_, str>> {
    let decoded = percent_decode_str(text).decode_utf8().ok()?;
    let wrong = |c: char| c == '/' || c == '%' || c == '\\' || c.is_control();
    (!decoded.is_empty() && decoded != "." && decoded != ".." && !decoded.contains(wrong)).then_some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn objects(path: &str) -> Vec<String> {
        let Ok(RequestTarget::Objects(objects)) = parse(path) else { panic!("{path} leads to no objects") };
        let Objects { group, version, plural, namespace, name, subresource } = objects;
        let optional = [namespace, name, subresource].map(|part| part.unwrap_or_default().into_owned());
        [group, version, plural].into_iter().map(Cow::into_owned).chain(optional).collect()
    }

    #[test]
    fn paths_lead_to_objects() {
        assert_eq!(objects("/apis/a.b/v1/models"), ["a.b", "v1", "models", "", "", ""]);
        assert_eq!(objects("/apis/a.b/v1/models/"), ["a.b", "v1", "models", "", "", ""]);
        assert_eq!(objects("/apis/a.b/v1/models/m"), ["a.b", "v1", "models", "", "m", ""]);
        assert_eq!(objects("/apis/a.b/v1/namespaces/n/models"), ["a.b", "v1", "models", "n", "", ""]);
        assert_eq!(objects("/apis/a.b/v1/namespaces/n/models/m"), ["a.b", "v1", "models", "n", "m", ""]);
        assert_eq!(objects("/apis/a.b/v1/namespaces/n/models/m/restore"), ["a.b", "v1", "models", "n", "m", "restore"]);
        assert_eq!(objects("/api/v1/namespaces/n/pods/p%2Dq"), ["", "v1", "pods", "n", "p-q", ""]);
        // A kind may have this plural.
        assert_eq!(objects("/api/v1/namespaces/n"), ["", "v1", "namespaces", "", "n", ""]);
    }

    #[test]
    fn the_outer_prefix_changes_nothing() {
        for path in ["/apis", "/apis/", "/version", "/openapi/v3", "/apis/a.b/v1/namespaces/n/models/m", "/healthz"] {
            assert_eq!(parse(&format!("{OUTER_PREFIX}{path}")), parse(path), "{path}");
        }
        assert_eq!(parse(OUTER_PREFIX), Ok(RequestTarget::Root));
        assert_eq!(parse(&format!("{OUTER_PREFIX}/ui/")), Ok(RequestTarget::Console(None)));
        assert_eq!(parse("/ui/app.mjs"), Ok(RequestTarget::Console(Some("app.mjs".into()))));
        let other = parse("/apis/mirror.michelangelo.api/v1/resourcesx").unwrap();
        assert!(matches!(other, RequestTarget::Objects(objects) if objects.plural == "resourcesx"));
        assert_eq!(parse("/apis/mirror.michelangelo.api/v1/queries"), Ok(RequestTarget::Queries(None)));
        assert_eq!(
            parse("/apis/mirror.michelangelo.api/v1/parameters/a"),
            Ok(RequestTarget::Parameters(Some("a".into())))
        );
        assert_eq!(parse("/apis/mirror.michelangelo.api/v1/counts/a.b"), Ok(RequestTarget::Counts(Some("a.b".into()))));
        assert_eq!(parse("/apis/mirror.michelangelo.api/v1/rejects"), Ok(RequestTarget::Rejects(None)));
        assert_eq!(parse("/apis/mirror.michelangelo.api/v1/units/a.ml"), Ok(RequestTarget::Units(Some("a.ml".into()))));
        assert_eq!(parse("/apis/mirror.michelangelo.api/v1/policies"), Ok(RequestTarget::Policies(None)));
        let user = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
        assert_eq!(parse(user), Ok(RequestTarget::SelfReview(SelfReview::User)));
        assert!(matches!(parse(&user.replace("v1", "v2")), Ok(RequestTarget::Objects(_))));
    }

    #[test]
    fn tricks_lead_nowhere() {
        for path in [
            "",
            "x",
            "//",
            "//apis",
            "/apis//",
            "/apis//v1/models",
            "/apis/a.b/v1/namespaces//models",
            "/apis/a.b/v1/namespaces/n/../m/models",
            "/apis/a.b/v1/namespaces/n/%2e%2e/models",
            "/apis/a.b/v1/namespaces/n%2Fm/models",
            "/apis/a.b/v1/namespaces/n%252fm/models",
            "/apis/a.b/v1/namespaces/n\\m/models",
            "/apis/a.b/v1/namespaces/n%00/models",
            "/apis/a.b/v1/namespaces/%ff/models",
            "/apis/a.b/v1/namespaces/n%20/models",
            "/apis/a.b/v1/namespaces/n%c2%a0/models",
            "/apis/a.b/v1/namespaces/N/models",
            "/apis/a.b/v1/namespaces/n/models/m%20",
            "/apis/a.b/v1/namespaces/n/models/%20m",
            "/apis/a.b/v1/namespaces/n/models/m%20/restore",
            "/apis/a.b/v1/models/m%20",
            "/apis/a.b/v1/namespaces/n/models/m/restore/x",
            "/etc/passwd",
        ] {
            assert_eq!(parse(path), Err(Status::no_such_path()), "{path}");
        }
    }

    proptest! {
        #[test]
        fn any_path_has_an_answer(path in "(/(apis|api|v1|namespaces|%2[eEfF]|[.]{1,2}|[a-z%/]{0,6}|\\PC{0,4})){0,8}") {
            if let Ok(RequestTarget::Objects(objects)) = parse(&path) {
                let parts = [Some(objects.group), Some(objects.plural), objects.namespace, objects.name];
                for part in parts.into_iter().flatten() {
                    prop_assert!(!part.contains(['/', '\\', '\0']) && part != "..", "{path}: {part}");
                }
            }
        }
    }
}
