//! Tests which callers are trusted.

use super::{Access, Authority, Bearer, Identity, KNOWN, Peer, Rate, ReviewError, Reviewer, Sources, TrustedProxy};
use crate::caller::{Attributes, Caller, Verb};
use crate::fixture::{self, Certificate};
use crate::metrics::Metrics;
use crate::status::Status;
use futures::future::BoxFuture;
use http::request::Parts;
use ingester_config::FrontProxy;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// An API server that knows the token `good`, and allows ada to list.
#[derive(Clone)]
struct FakeReviewer {
    asked: Arc<Mutex<Vec<String>>>,
    down: Arc<Mutex<Option<ReviewError>>>,
    /// Tokens that begin with `slow` wait for this.
    go: Arc<tokio::sync::Semaphore>,
}

impl Default for FakeReviewer {
    fn default() -> Self {
        FakeReviewer { asked: Arc::default(), down: Arc::default(), go: Arc::new(tokio::sync::Semaphore::new(0)) }
    }
}

impl FakeReviewer {
    fn answer<T>(&self, question: String, answer: T) -> BoxFuture<'_, Result<T, ReviewError>>
    where
        T: Send + 'static,
    {
        self.asked.lock().push(question);
        let down = self.down.lock().clone();
        Box::pin(async move { down.map_or(Ok(answer), Err) })
    }

    fn asked(&self) -> usize {
        self.asked.lock().len()
    }
}

impl Reviewer for FakeReviewer {
    fn token<'a>(&'a self, token: &'a str, _: &'a [String]) -> BoxFuture<'a, Result<Option<Caller>, ReviewError>> {
        let ada = Caller { user: "ada".into(), groups: vec!["ml".into()], ..Caller::default() };
        let answer = self.answer(token.to_owned(), (token == "good").then_some(ada));
        Box::pin(async move {
            if token.starts_with("slow") {
                let _ = self.go.acquire().await;
            }
            answer.await
        })
    }

    fn access<'a>(&'a self, caller: &'a Caller, what: &'a Attributes) -> BoxFuture<'a, Result<Access, ReviewError>> {
        let allowed = caller.user == "ada" && what.verb == Verb::List;
        let reason = if caller.user == "eve" { "RBAC: no <role>".to_owned() } else { String::new() };
        self.answer(format!("{caller:?} {what:?}"), Access { allowed, reason })
    }
}

struct World {
    identity: Identity,
    server: FakeReviewer,
    proxies: fixture::Authority,
    users: fixture::Authority,
    metrics: Metrics,
}

/// A front proxy with the headers that Kubernetes uses by default.
fn front_proxy(authority: &fixture::Authority, names: &str) -> TrustedProxy {
    TrustedProxy::read(&config_map(authority, names)).unwrap().unwrap()
}

fn config_map(authority: &fixture::Authority, names: &str) -> BTreeMap<String, String> {
    let entries = [
        ("requestheader-client-ca-file", authority.pem()),
        ("requestheader-allowed-names", names.to_owned()),
        ("requestheader-username-headers", r#"["X-Remote-User"]"#.to_owned()),
        ("requestheader-group-headers", r#"["X-Remote-Group"]"#.to_owned()),
        ("requestheader-extra-headers-prefix", r#"["X-Remote-Extra-"]"#.to_owned()),
        ("requestheader-uid-headers", r#"["X-Remote-Uid"]"#.to_owned()),
    ];
    entries.map(|(key, value)| (key.to_owned(), value)).into()
}

fn world() -> World {
    let server = FakeReviewer::default();
    let metrics = Metrics::new().unwrap();
    let identity = Identity::new(server.clone(), Vec::new(), Rate::default(), metrics.clone());
    let proxies = fixture::Authority::new("proxies");
    let users = fixture::Authority::new("users");
    identity.trust_proxy(Some(front_proxy(&proxies, r#"["front-proxy"]"#)));
    identity.trust_users(Some(Authority::from_pem(users.pem().as_bytes()).unwrap()));
    World { identity, server, proxies, users, metrics }
}

fn parts(headers: &[(&str, &str)]) -> Parts {
    let mut request = http::Request::new(()).into_parts().0;
    for (name, value) in headers {
        let name: http::HeaderName = name.parse().unwrap();
        request.headers.append(name, value.parse().unwrap());
    }
    request
}

fn peer(certificates: &[&Certificate]) -> Peer {
    let certificates = certificates.iter().map(|certificate| certificate.der.clone()).collect();
    Peer { address: ([127, 0, 0, 1], 1).into(), certificates }
}

impl World {
    async fn who(&self, headers: &[(&str, &str)], certificate: Option<&Certificate>) -> Result<Caller, Status> {
        let mut parts = parts(headers);
        let certificates: Vec<&Certificate> = certificate.into_iter().collect();
        self.identity.authenticate(&mut parts, &peer(&certificates)).await
    }

    async fn is_unauthorized(&self, headers: &[(&str, &str)], certificate: Option<&Certificate>) -> bool {
        self.who(headers, certificate).await.is_err_and(|status| status == Status::unauthorized())
    }
}

const ROOT: [(&str, &str); 2] = [("x-remote-user", "root"), ("x-remote-group", "system:masters")];

#[tokio::test]
async fn a_front_proxy_is_believed() {
    let world = world();
    let proxy = world.proxies.client("front-proxy", &[]);
    let headers = [
        ("X-Remote-User", "ada"),
        ("X-Remote-User", "root"),
        ("X-Remote-Uid", "7"),
        ("X-Remote-Group", "ml"),
        ("X-Remote-Group", "system:authenticated"),
        ("X-Remote-Extra-Scopes%2fA", "x"),
        ("X-Remote-Extra-scopes%2fa", "y"),
        ("X-Remote-Extra-bad%zz", "z"),
        ("authorization", "Bearer good"),
    ];
    let caller = world.who(&headers, Some(&proxy)).await.unwrap();
    let extra = [("bad%zz", vec!["z"]), ("scopes/a", vec!["x", "y"])];
    let expected = Caller {
        user: "ada".into(),
        uid: "7".into(),
        groups: vec!["ml".into(), "system:authenticated".into()],
        extra: extra.map(|(key, values)| (key.into(), values.into_iter().map(Into::into).collect())).into(),
    };
    assert_eq!(caller, expected);
    assert_eq!(world.server.asked(), 0, "its token is not looked at");
    let anonymous = [("x-remote-user", "system:anonymous"), ("x-remote-group", "system:unauthenticated")];
    assert_eq!(world.who(&anonymous, Some(&proxy)).await.unwrap().groups, ["system:unauthenticated"]);
    assert!(world.is_unauthorized(&[("x-remote-group", "ml")], Some(&proxy)).await, "it names nobody");
}

#[tokio::test]
async fn forged_headers_of_a_front_proxy_are_ignored() {
    let world = world();
    let elsewhere = fixture::Authority::new("proxies");
    for (what, certificate) in [
        ("no certificate", None),
        ("another authority of the same name", Some(elsewhere.client("front-proxy", &[]))),
        ("another name", Some(world.proxies.client("pod", &["system:masters"]))),
        ("an expired certificate", Some(world.proxies.former_client("front-proxy"))),
        ("a server's certificate", Some(world.proxies.server("front-proxy"))),
    ] {
        assert!(world.is_unauthorized(&ROOT, certificate.as_ref()).await, "{what}");
        let with_token = [ROOT[0], ROOT[1], ("authorization", "Bearer good")];
        let caller = world.who(&with_token, certificate.as_ref()).await.unwrap();
        assert_eq!(
            (caller.user.as_str(), &caller.groups[..]),
            ("ada", &["ml".into(), "system:authenticated".into()][..])
        );
    }
    // A certificate of a user identifies the caller; the headers do not.
    let caller = world.who(&ROOT, Some(&world.users.client("bob", &["dev", "ops"]))).await.unwrap();
    assert_eq!((caller.user.as_str(), caller.groups.join(" ").as_str()), ("bob", "dev ops system:authenticated"));
    world.identity.trust_proxy(None);
    assert!(world.is_unauthorized(&ROOT, Some(&world.proxies.client("front-proxy", &[]))).await, "no longer");
}

#[tokio::test]
async fn any_name_may_be_a_front_proxy_if_none_is_named() {
    let world = world();
    for names in ["", "[]", "null"] {
        world.identity.trust_proxy(Some(front_proxy(&world.proxies, names)));
        assert_eq!(world.who(&ROOT, Some(&world.proxies.client("any", &[]))).await.unwrap().user, "root", "{names}");
    }
}

#[test]
fn a_config_map_that_is_not_understood_is_an_error() {
    let authority = fixture::Authority::new("proxies");
    let with = |key: &str, value: &str| {
        let mut map = config_map(&authority, "[]");
        map.insert(key.to_owned(), value.to_owned());
        TrustedProxy::read(&map).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(
        with("requestheader-client-ca-file", "nonsense").unwrap_err(),
        "requestheader-client-ca-file: there is no certificate: no root trust anchors were provided"
    );
    assert_eq!(
        with("requestheader-allowed-names", "a").unwrap_err(),
        "requestheader-allowed-names is not a list of names in JSON"
    );
    for value in ["", "[]", "null"] {
        assert_eq!(
            with("requestheader-username-headers", value).unwrap_err(),
            "requestheader-username-headers names no header"
        );
    }
    assert!(with("requestheader-group-headers", r#"["a b"]"#).is_err());
    assert!(with("requestheader-extra-headers-prefix", r#"[""]"#).is_err(), "every header would be one");
    assert!(TrustedProxy::read(&BTreeMap::new()).unwrap().is_none());
}

#[tokio::test]
async fn users_have_certificates_of_their_authority() {
    let world = world();
    assert_eq!(world.who(&[], Some(&world.users.client("bob", &["dev"]))).await.unwrap().groups[0], "dev");
    for (what, certificate) in [
        ("nobody's", world.users.client("", &["system:masters"])),
        ("expired", world.users.former_client("bob")),
        ("a server's", world.users.server("bob")),
        ("of another authority", fixture::Authority::new("users").client("bob", &[])),
    ] {
        assert!(world.is_unauthorized(&[], Some(&certificate)).await, "{what}");
    }
    world.identity.trust_users(None);
    assert!(world.is_unauthorized(&[], Some(&world.users.client("bob", &[]))).await);
}

#[tokio::test(start_paused = true)]
async fn a_token_is_whose_the_api_server_says() {
    let world = world();
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let header = format!("{scheme} good");
        assert_eq!(world.who(&[("authorization", &header)], None).await.unwrap().user, "ada");
    }
    assert_eq!(world.server.asked(), 1);
    for header in ["Bearer bad", "Bearer", "Bearer ", "Basic good", "good", "", "Bearer\tgood"] {
        assert!(world.is_unauthorized(&[("authorization", header)], None).await, "{header}");
    }
    // The API server would ignore the text behind the token, and accept the token.
    let asked = world.server.asked();
    for header in ["Bearer good good", "Bearer good junk", "Bearer good\tjunk", "Bearer good, Bearer good"] {
        assert!(world.is_unauthorized(&[("authorization", header)], None).await, "{header}");
    }
    assert_eq!(world.server.asked(), asked, "it is not even asked");
    assert!(world.is_unauthorized(&[("authorization", "Bearer good"), ("authorization", "Bearer bad")], None).await);
    // The token may have been revoked.
    let before = world.server.asked();
    tokio::time::advance(Duration::from_secs(10)).await;
    world.who(&[("authorization", "Bearer good")], None).await.unwrap();
    assert_eq!(world.server.asked(), before + 1);
}

/// A service account is deleted while its rights stay.
#[tokio::test(start_paused = true)]
async fn who_watches_is_asked_for_again_by_the_token() {
    let world = world();
    let mut parts = parts(&[("authorization", "Bearer good")]);
    let ada = world.identity.authenticate(&mut parts, &peer(&[])).await.unwrap();
    let token = parts.extensions.get::<Bearer>().cloned();
    assert_eq!(world.identity.again(&ada, token.as_ref()).await.unwrap(), ada);
    let other = Caller { uid: "of an account of the same name".into(), ..ada.clone() };
    assert_eq!(world.identity.again(&other, token.as_ref()).await.unwrap_err(), Status::unauthorized());
    let withdrawn = Bearer("bad".into());
    assert_eq!(world.identity.again(&ada, Some(&withdrawn)).await.unwrap_err(), Status::unauthorized());
    *world.server.down.lock() = Some(ReviewError::TooMany);
    tokio::time::advance(KNOWN + Duration::from_secs(1)).await;
    assert_ne!(world.identity.again(&ada, token.as_ref()).await.unwrap_err().code, 401, "it could not be asked");
    // Nobody is asked about a certificate.
    assert_eq!(world.identity.again(&ada, None).await.unwrap(), ada);
}

#[tokio::test]
async fn nothing_that_says_who_calls_is_left() {
    let world = world();
    let proxy = TrustedProxy::read(&{
        let mut map = config_map(&world.proxies, "[]");
        map.insert("requestheader-username-headers".into(), r#"["X-Somebody"]"#.into());
        map
    });
    world.identity.trust_proxy(proxy.unwrap());
    for identity in [&world.identity, &Identity::unchecked()] {
        let mut parts = parts(&[
            ("authorization", "Bearer good"),
            ("x-remote-user", "root"),
            ("x-remote-extra-a", "b"),
            ("x-remote-something", "b"),
            ("impersonate-user", "root"),
            ("accept", "*/*"),
        ]);
        if identity.0.checked.is_some() {
            parts.headers.insert("x-somebody", "root".parse().unwrap());
        }
        let _ = identity.authenticate(&mut parts, &peer(&[])).await;
        assert_eq!(parts.headers.keys().map(http::HeaderName::as_str).collect::<Vec<_>>(), ["accept"]);
    }
}

#[tokio::test]
async fn impersonation_is_refused() {
    let world = world();
    for header in ["Impersonate-User", "impersonate-group", "Impersonate-Extra-scopes", "impersonate-uid"] {
        let status = world.who(&[("authorization", "Bearer good"), (header, "root")], None).await.unwrap_err();
        assert_eq!(status.code, 403, "{header}");
        assert!(status.message.starts_with("impersonation is not supported here"), "{}", status.message);
        assert!(world.is_unauthorized(&[(header, "root")], None).await);
    }
}

#[tokio::test(start_paused = true)]
async fn invented_tokens_do_not_block_known_callers() {
    let world = world();
    let known = world.who(&[("authorization", "Bearer good")], None).await.unwrap();
    let tokens: Vec<String> = (0..15).map(|n| format!("Bearer slow{n}")).collect();
    let headers: Vec<_> = tokens.iter().map(|token| [("authorization", token.as_str())]).collect();
    let mut waiting = futures::future::join_all(headers.iter().map(|headers| world.who(headers, None)));
    assert!(futures::poll!(&mut waiting).is_pending());
    assert_eq!(world.server.asked(), 16);
    // One more is refused at once, without asking.
    let response = world.who(&[("authorization", "Bearer more")], None).await.unwrap_err().response();
    assert_eq!((response.status().as_u16(), &response.headers()["retry-after"]), (429, &1.into()));
    assert_eq!(world.server.asked(), 16);
    // A known caller is admitted, with all rights.
    assert_eq!(world.who(&[("authorization", "Bearer good")], None).await.unwrap(), known);
    world.identity.authorize(&known, &attributes(Verb::List, "ml", "")).await.unwrap();
    // A caller whose answer has just expired is admitted, too, but only thanks to the reserve.
    tokio::time::advance(KNOWN + Duration::from_secs(1)).await;
    assert_eq!(world.identity.0.checked.as_ref().unwrap().token_reviews.available_permits(), 0);
    let again =
        tokio::time::timeout(Duration::from_secs(1), world.who(&[("authorization", "Bearer good")], None)).await;
    assert_eq!(again.unwrap().unwrap(), known);
    assert_eq!(world.server.asked(), 18);
    // After these answers, others are asked about.
    world.server.go.add_permits(1);
    assert!(waiting.await.into_iter().all(|who| who == Err(Status::unauthorized())));
    assert!(world.is_unauthorized(&[("authorization", "Bearer more")], None).await);
}

fn attributes(verb: Verb, namespace: &str, name: &str) -> Attributes {
    Attributes {
        verb,
        group: "michelangelo.api".into(),
        version: "v2".into(),
        resource: "models".into(),
        subresource: String::new(),
        namespace: namespace.into(),
        name: name.into(),
    }
}

fn user(name: &str) -> Caller {
    Caller { user: name.into(), ..Caller::default() }
}

#[tokio::test]
async fn a_refusal_is_in_the_words_of_the_api_server() {
    let world = world();
    let refused = async |caller: &str, what| world.identity.authorize(&user(caller), &what).await.unwrap_err();
    for (verb, namespace, name, message) in [
        (
            Verb::List,
            "ml",
            "",
            r#"models.michelangelo.api is forbidden: User "u" cannot list resource "models" in API group "michelangelo.api" in the namespace "ml""#,
        ),
        (
            Verb::Delete,
            "",
            "churn",
            r#"models.michelangelo.api "churn" is forbidden: User "u" cannot delete resource "models" in API group "michelangelo.api" at the cluster scope"#,
        ),
    ] {
        let status = refused("u", attributes(verb, namespace, name)).await;
        assert_eq!((status.code.as_u16(), status.message.as_str()), (403, message));
        let details = status.details.unwrap();
        assert_eq!(
            (details.group.as_str(), details.kind.as_str(), details.name.as_str()),
            ("michelangelo.api", "models", name)
        );
    }
    let message = refused("<b>&", attributes(Verb::List, "", "")).await.message;
    assert!(message.contains(r#"User "&lt;b&gt;&amp;" cannot"#), "{message}");
    let message = refused("eve", attributes(Verb::List, "", "")).await.message;
    assert!(message.ends_with("at the cluster scope: RBAC: no <role>"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn rights_are_cached_ten_seconds_and_refusals_five() {
    let world = world();
    for (verb, seconds) in [(Verb::List, 10), (Verb::Delete, 5)] {
        let may = async || world.identity.authorize(&user("ada"), &attributes(verb, "ml", "")).await.is_ok();
        let before = world.server.asked();
        let allowed = verb == Verb::List;
        for (wait, asked) in [(0, 1), (seconds - 1, 1), (1, 2)] {
            tokio::time::advance(Duration::from_secs(wait)).await;
            assert_eq!((may().await, world.server.asked() - before), (allowed, asked), "{verb:?} {wait}");
        }
    }
    let text = world.metrics.render();
    for (result, count) in [("yes", 2), ("no", 2), ("cached", 2), ("failed", 0)] {
        let line = format!("ingester_serve_reviews_total{{result=\"{result}\",review=\"access\"}} {count}\n");
        assert!(text.contains(&line), "{line}{text}");
    }
}

#[tokio::test]
async fn every_part_of_a_question_is_part_of_its_key() {
    let world = world();
    let list = attributes(Verb::List, "ml", "");
    let ada = Caller { groups: vec!["a".into(), "b".into()], ..user("ada") };
    let extra = |key: &str, values: &[&str]| {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        Caller { extra: [(key.to_owned(), values)].into(), ..ada.clone() }
    };
    let callers = [
        ada.clone(),
        user("ada"),
        Caller { groups: vec!["ab".into()], ..ada.clone() },
        Caller { uid: "7".into(), ..ada.clone() },
        Caller { user: "ada2".into(), ..ada.clone() },
        extra("a", &["b", "c"]),
        extra("a", &["bc"]),
        extra("ab", &["c"]),
        extra("a", &[]),
    ];
    for caller in &callers {
        let _ = world.identity.authorize(caller, &list).await;
    }
    let others = [
        Attributes { verb: Verb::Get, ..list.clone() },
        Attributes { group: "g".into(), ..list.clone() },
        Attributes { version: "v1".into(), ..list.clone() },
        Attributes { resource: "pipelines".into(), ..list.clone() },
        Attributes { subresource: "status".into(), ..list.clone() },
        Attributes { namespace: String::new(), ..list.clone() },
        Attributes { name: "n".into(), ..list.clone() },
        Attributes { namespace: "m".into(), name: "l".into(), ..list.clone() },
    ];
    for other in &others {
        let _ = world.identity.authorize(&ada, other).await;
    }
    assert_eq!(world.server.asked(), callers.len() + others.len());
}

#[tokio::test]
async fn nothing_is_allowed_while_the_api_server_cannot_be_asked() {
    let world = world();
    for (error, code) in [
        (ReviewError::Unavailable("refused by 10.0.0.1".into()), 503),
        (ReviewError::NotAllowed("cannot create tokenreviews".into()), 500),
    ] {
        *world.server.down.lock() = Some(error);
        let token = world.who(&[("authorization", "Bearer good")], None).await.unwrap_err();
        let access = world.identity.authorize(&user("ada"), &attributes(Verb::List, "", "")).await.unwrap_err();
        for status in [token, access] {
            assert_eq!(status.code, code);
            assert!(
                !status.message.contains("10.0.0.1") && !status.message.contains("tokenreviews"),
                "{}",
                status.message
            );
        }
    }
    *world.server.down.lock() = None;
    world.who(&[("authorization", "Bearer good")], None).await.unwrap();
    world.identity.authorize(&user("ada"), &attributes(Verb::List, "", "")).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_caller_over_its_rate_learns_when_to_retry() {
    let rate = Rate { per_second: 1, burst: 2 };
    let identity = Identity::new(FakeReviewer::default(), Vec::new(), rate, Metrics::new().unwrap());
    identity.admit(&user("ada")).unwrap();
    identity.admit(&user("ada")).unwrap();
    let response = identity.admit(&user("ada")).unwrap_err().response();
    assert_eq!((response.status().as_u16(), &response.headers()["retry-after"]), (429, &1.into()));
    identity.admit(&user("bob")).unwrap();
}

#[tokio::test]
async fn a_port_without_authentication_does_not_ask_the_cluster() {
    let identity = Identity::unchecked();
    let caller = identity.authenticate(&mut parts(&ROOT), &peer(&[])).await.unwrap();
    assert_eq!(caller.user, "ingester:insecure-loopback");
    identity.authorize(&caller, &attributes(Verb::DeleteCollection, "", "")).await.unwrap();
    identity.admit(&caller).unwrap();
}

/// An API server that returns its front proxy from the third request on; before that it answers with the code `wrong`.
fn config_maps(authority: &fixture::Authority, wrong: u16) -> (kube::Client, Arc<Mutex<usize>>) {
    let asked = Arc::<Mutex<usize>>::default();
    let map = serde_json::json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "extension-apiserver-authentication"},
        "data": config_map(authority, "[]"),
    });
    let counted = asked.clone();
    let service = tower::service_fn(move |_: http::Request<kube::client::Body>| {
        let mut asked = counted.lock();
        *asked += 1;
        let (code, body) = if *asked < 3 { (wrong, serde_json::json!({})) } else { (200, map.clone()) };
        let response = http::Response::builder().status(code);
        let response = response.body(axum::body::Body::from(body.to_string())).unwrap();
        std::future::ready(Ok::<_, std::convert::Infallible>(response))
    });
    (kube::Client::new(service, "default"), asked)
}

#[tokio::test(start_paused = true)]
async fn a_front_proxy_that_was_not_read_is_read_again_after_a_second() {
    let world = world();
    world.identity.trust_proxy(None);
    let proxy = world.proxies.client("front-proxy", &[]);
    for code in [403, 503] {
        let (client, asked) = config_maps(&world.proxies, code);
        let front_proxy = FrontProxy::Auto;
        let every = Duration::from_secs(60);
        let sources = Sources { cluster: client, front_proxy, users: None, every };
        let needed = Sources { front_proxy: FrontProxy::Required, ..sources.clone() };
        assert!(matches!(needed.read(&world.identity).await, Err(super::FollowError::Api(_))));
        let begin = tokio::time::Instant::now();
        let read = sources.read(&world.identity).await.unwrap();
        assert_eq!(read, super::AuthorityReading::WithoutProxy, "it is no error");
        assert!(world.is_unauthorized(&ROOT, Some(&proxy)).await);
        let stop = tokio_util::sync::CancellationToken::new();
        let following = tokio::spawn(sources.follow(world.identity.clone(), read, stop.clone()));
        while world.is_unauthorized(&ROOT, Some(&proxy)).await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let after = begin.elapsed();
        assert!(after >= Duration::from_secs(1) && after < Duration::from_secs(2), "{after:?}");
        // From then on at the normal interval.
        tokio::time::sleep(Duration::from_secs(50)).await;
        assert_eq!(*asked.lock(), 3);
        stop.cancel();
        following.await.unwrap();
        world.identity.trust_proxy(None);
    }
}
