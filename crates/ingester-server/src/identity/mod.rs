//! Authenticates callers, and checks their rights.
//!
//! May use: caller, ingester-config, ingester-store, metrics, places, status.
//!
//! No caller is trusted by default. A caller is authenticated by one of these, in this order, as in Kubernetes' delegated authentication:
//! the headers of a front proxy that has proven its identity by its certificate, a client certificate, or a token that the API server
//! knows. The API server also decides about the caller's rights. If it cannot be asked, nothing is allowed.
//!
//! | file | what it does |
//! |---|---|
//! | `peer.rs` | the other end of a connection |
//! | `authority.rs` | verifies certificates of clients |
//! | `proxy.rs` | the front proxy and its headers |
//! | `review.rs` | asks the API server: TokenReview, SubjectAccessReview |
//! | `cache.rs` | caches answers for some seconds |
//! | `recent.rs` | the tokens that were known some minutes ago |
//! | `rate.rs` | limits the requests of a caller |
//! | `follow.rs` | reads the ConfigMap of the front proxy and the file of the authority again |

mod authority;
mod cache;
mod follow;
mod peer;
mod proxy;
mod rate;
mod recent;
mod review;
#[cfg(test)]
mod tests;

pub use authority::{Authority, AuthorityError};
pub use follow::{AuthorityReading, FollowError, Sources};
pub use peer::Peer;
pub use proxy::{FrontProxyError, TrustedProxy};
pub use rate::Rate;
pub use review::{Access, ApiServer, ReviewError, Reviewer};

use crate::caller::{Attributes, Caller};
use crate::metrics::{Metrics, Review, ReviewResult};
use crate::places::RequestSlots;
use crate::status::{Reason, Resource, Status};
use cache::{Cache, Key};
use http::StatusCode;
use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use k8s_openapi::api::authorization::v1::SelfSubjectAccessReviewSpec;
use parking_lot::RwLock;
use proxy::ProxyClaim;
use rate::Rates;
use recent::RecentTokens;
use rustls::pki_types::UnixTime;
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};

/// How long a positive answer about rights is cached.
const ALLOWED: Duration = Duration::from_secs(10);

/// How long a negative answer about rights is cached.
const DENIED: Duration = Duration::from_secs(5);

/// How long the user of a token is cached.
const KNOWN: Duration = Duration::from_secs(10);

/// How long a rejected token is cached.
const UNKNOWN: Duration = Duration::from_secs(5);

/// The most concurrent questions to the API server about rights. One user may have at most half of them.
const REVIEWS: usize = 32;

/// The most concurrent questions about tokens, and the number reserved for tokens that were valid some minutes ago. Each invented token
/// costs a question; because of the reserve, invented tokens do not prevent the answers about other tokens from being renewed.
const TOKENS: usize = 16;
const OF_RECENT: usize = 1;

/// The group of all authenticated callers.
const AUTHENTICATED: &str = "system:authenticated";

/// The group and the user of unauthenticated callers. Only a front proxy may name them.
const UNAUTHENTICATED: &str = "system:unauthenticated";
const ANONYMOUS: &str = "system:anonymous";

/// The caller's name if authentication is off.
const UNCHECKED: &str = "ingester:insecure-loopback";

/// The headers in which front proxies usually name the caller.
const USUAL: &str = "x-remote-";

/// The headers by which clients request impersonation.
const IMPERSONATE: &str = "impersonate-";

/// Authenticates callers, and checks their rights. Clones share everything.
#[derive(Clone)]
pub struct Identity(Arc<Inner>);

/// The token of a caller, which must not be logged.
#[derive(Clone)]
pub(crate) struct Bearer(Arc<str>);

impl Bearer {
    /// Returns the header with the token; `None` if no header can contain it.
    pub(crate) fn header(&self) -> Option<HeaderValue> {
        let mut header = HeaderValue::try_from(format!("Bearer {}", self.0)).ok()?;
        header.set_sensitive(true);
        Some(header)
    }
}

impl fmt::Debug for Bearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bearer")
    }
}

struct Inner {
    rates: Rates,
    /// `None`: callers are not authenticated, and may do everything.
    checked: Option<CallerChecks>,
}

struct CallerChecks {
    reviewer: Box<dyn Reviewer>,
    audiences: Vec<String>,
    proxy: RwLock<Option<Arc<TrustedProxy>>>,
    users: RwLock<Option<Authority>>,
    tokens: Cache<Option<Arc<Caller>>>,
    accesses: Cache<Access>,
    reviews: RequestSlots,
    token_reviews: Semaphore,
    recent: RecentTokens,
    recent_reviews: Semaphore,
    metrics: Metrics,
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.checked.is_some() { "Identity" } else { "Identity (unchecked)" })
    }
}

impl Identity {
    /// Asks this reviewer. Tokens must be for one of `audiences`; without audiences, for the API server. Certificates are trusted only
    /// after [`Identity::trust_proxy`] and [`Identity::trust_users`] named their authorities.
    pub fn new(reviewer: impl Reviewer + 'static, audiences: Vec<String>, rate: Rate, metrics: Metrics) -> Self {
        let checked = CallerChecks {
            reviewer: Box::new(reviewer),
            audiences,
            proxy: RwLock::default(),
            users: RwLock::default(),
            tokens: Cache::new(),
            accesses: Cache::new(),
            reviews: RequestSlots::new(REVIEWS),
            token_reviews: Semaphore::new(TOKENS - OF_RECENT),
            recent: RecentTokens::new(),
            recent_reviews: Semaphore::new(OF_RECENT),
            metrics,
        };
        Identity(Arc::new(Inner { rates: Rates::new(rate), checked: Some(checked) }))
    }

    /// Does not authenticate: every caller may do everything. Use it only for a port that nobody else can reach.
    pub fn unchecked() -> Self {
        Identity(Arc::new(Inner { rates: Rates::new(Rate { per_second: 0, burst: 0 }), checked: None }))
    }

    /// Trusts this front proxy from now on; with `None`, no front proxy.
    pub fn trust_proxy(&self, proxy: Option<TrustedProxy>) {
        if let Some(checked) = &self.0.checked {
            *checked.proxy.write() = proxy.map(Arc::new);
        }
    }

    /// Accepts holders of this authority's certificates as users from now on, as Kubernetes does: the common name is the user, the
    /// organizations are the groups. With `None`, no certificates of users are accepted.
    pub fn trust_users(&self, authority: Option<Authority>) {
        if let Some(checked) = &self.0.checked {
            *checked.users.write() = authority;
        }
    }

    /// Authenticates the caller, and always removes the token and the headers that name the caller from the request. If a token
    /// authenticated the caller, the extensions of the request keep it, for later checks of the same caller.
    ///
    /// # Errors
    /// 401 if the caller is unknown; 403 for impersonation; 429 if too many questions about tokens are in progress; 500 or 503 if the API
    /// server cannot be asked.
    pub async fn authenticate(&self, parts: &mut Parts, peer: &Peer) -> Result<Caller, Status> {
        let Some(checked) = &self.0.checked else {
            strip(&mut parts.headers, None);
            return Ok(Caller { user: UNCHECKED.to_owned(), ..Caller::default() });
        };
        let proxy = checked.proxy.read().clone();
        let users = checked.users.read().clone();
        let by_certificate = by_certificate(proxy.as_deref(), users.as_ref(), &parts.headers, peer);
        let token = bearer(&parts.headers);
        let impersonates = parts.headers.keys().any(|name| name.as_str().starts_with(IMPERSONATE));
        strip(&mut parts.headers, proxy.as_deref());
        let caller = match (by_certificate, token) {
            (Some(caller), _) => caller,
            (None, Some(token)) => {
                let caller = checked.holder(&token).await?;
                parts.extensions.insert(Bearer(token.into()));
                caller
            }
            (None, None) => return Err(Status::unauthorized()),
        };
        if impersonates {
            let message =
                "impersonation is not supported here: the API server does it for requests that come through it";
            return Err(Status::failure(StatusCode::FORBIDDEN, Reason::Forbidden, message));
        }
        Ok(authenticated(caller))
    }

    /// Returns true if callers are authenticated.
    pub(crate) fn is_checked(&self) -> bool {
        self.0.checked.is_some()
    }

    /// Returns true if the API server accepts a caller's token for itself. A token for another audience that `serve.audiences` names is not
    /// meant for it.
    ///
    /// # Errors
    /// 500 or 503 if the API server cannot be asked.
    pub(crate) async fn is_for_api_server(&self, caller: &Caller, token: &Bearer) -> Result<bool, Status> {
        let Some(checked) = &self.0.checked else { return Ok(false) };
        if checked.audiences.is_empty() {
            // It was accepted for the API server.
            return Ok(true);
        }
        let ask = async {
            let _turn = checked.turn(&digest([token.0.as_bytes()])).await?;
            checked.reviewer.token(&token.0, &[]).await
        };
        let holder: Result<Option<Caller>, ReviewError> = ask.await;
        checked.count(Review::Token, false, holder.as_ref().map(Option::is_some));
        let holder = holder.map_err(|error| unreviewed("whose token this is", &error))?;
        Ok(holder.is_some_and(|holder| holder.user == caller.user))
    }

    /// Takes one of the requests that the caller may send in a second.
    ///
    /// # Errors
    /// 429 if no request is left.
    pub(crate) fn admit(&self, caller: &Caller) -> Result<(), Status> {
        self.0.rates.take(&caller.user).map_err(|pause| {
            let seconds = u32::try_from(pause.as_millis().div_ceil(1000)).unwrap_or(u32::MAX).max(1);
            Status::too_many_requests("this user sends too many requests (`serve.rate`): try again later")
                .retry_after(seconds)
        })
    }

    /// Authenticates the caller again, for work that outlasts a request. Without a token, returns the caller unchanged. A service account's
    /// rights outlive the account, but its token does not.
    ///
    /// # Errors
    /// 401 if the token has expired, or now belongs to another caller; 500 or 503 if the API server cannot be asked.
    pub(crate) async fn again(&self, caller: &Caller, token: Option<&Bearer>) -> Result<Caller, Status> {
        let (Some(checked), Some(token)) = (&self.0.checked, token) else { return Ok(caller.clone()) };
        let now = authenticated(checked.holder(&token.0).await?);
        let is_same = now.user == caller.user && now.uid == caller.uid;
        if is_same { Ok(now) } else { Err(Status::unauthorized()) }
    }

    /// Checks that the caller has this right.
    ///
    /// # Errors
    /// 403 if not, in the API server's words; 500 or 503 if it cannot be asked.
    pub async fn authorize(&self, caller: &Caller, attributes: &Attributes) -> Result<(), Status> {
        let Some(checked) = &self.0.checked else { return Ok(()) };
        let access = checked.access(caller, attributes).await?;
        if access.allowed { Ok(()) } else { Err(forbidden(caller, attributes, &access.reason)) }
    }

    /// Answers a caller's question about their own rights.
    ///
    /// # Errors
    /// 500 or 503 if the API server cannot be asked.
    pub(crate) async fn own_access(
        &self,
        caller: &Caller,
        question: &SelfSubjectAccessReviewSpec,
    ) -> Result<Access, Status> {
        match &self.0.checked {
            None => Ok(Access { allowed: true, reason: "this server checks no rights".to_owned() }),
            Some(checked) => {
                let key = digest([format!("{caller:?}").as_bytes(), format!("{question:?}").as_bytes()]);
                checked.asked(caller, key, async { checked.reviewer.own_access(caller, question).await }).await
            }
        }
    }

    /// Checks a further right, in addition to the right to the request itself. Returns the reason if the caller does not have it.
    ///
    /// # Errors
    /// 500 or 503 if the API server cannot be asked.
    pub async fn also(&self, caller: &Caller, attributes: &Attributes) -> Result<Result<(), String>, Status> {
        match self.authorize(caller, attributes).await {
            Ok(()) => Ok(Ok(())),
            Err(status) if status.reason == Reason::Forbidden => Ok(Err(status.message)),
            Err(status) => Err(status),
        }
    }
}

impl CallerChecks {
    /// Returns the user of the token.
    async fn holder(&self, token: &str) -> Result<Caller, Status> {
        let holds = |caller: &Option<Arc<Caller>>| if caller.is_some() { KNOWN } else { UNKNOWN };
        let key = digest([token.as_bytes()]);
        let ask = async {
            let _turn = self.turn(&key).await?;
            let caller = self.reviewer.token(token, &self.audiences).await?;
            self.recent.learn(key, caller.is_some());
            Ok(caller.map(Arc::new))
        };
        let (answer, cached) = self.tokens.get(key, holds, ask).await;
        self.count(Review::Token, cached, answer.as_ref().map(Option::is_some));
        match answer {
            Ok(Some(caller)) => Ok((*caller).clone()),
            Ok(None) => Err(Status::unauthorized()),
            Err(error) => Err(unreviewed("whose token this is", &error)),
        }
    }

    /// Waits until a question about a token may be sent, if the token was valid some minutes ago.
    ///
    /// # Errors
    /// If too many questions are in progress, and the token was not valid recently.
    async fn turn(&self, token: &Key) -> Result<Option<SemaphorePermit<'_>>, ReviewError> {
        match self.token_reviews.try_acquire() {
            Ok(turn) => Ok(Some(turn)),
            // The semaphores are never closed.
            Err(_) if self.recent.has(token) => Ok(tokio::select! {
                turn = self.token_reviews.acquire() => turn.ok(),
                turn = self.recent_reviews.acquire() => turn.ok(),
            }),
            Err(_) => Err(ReviewError::TooMany),
        }
    }

    async fn access(&self, caller: &Caller, attributes: &Attributes) -> Result<Access, Status> {
        let ask = async { self.reviewer.access(caller, attributes).await };
        self.asked(caller, key(caller, attributes), ask).await
    }

    /// Returns the answer to the question with this key about a caller's rights; asks unless the answer is cached.
    async fn asked(
        &self,
        caller: &Caller,
        key: Key,
        ask: impl Future<Output = Result<Access, ReviewError>>,
    ) -> Result<Access, Status> {
        let holds = |access: &Access| if access.allowed { ALLOWED } else { DENIED };
        let ask = async {
            let _turn = self.reviews.wait(&caller.user).await;
            ask.await
        };
        let (answer, cached) = self.accesses.get(key, holds, ask).await;
        self.count(Review::Access, cached, answer.as_ref().map(|access| access.allowed));
        answer.map_err(|error| unreviewed("what the caller may do", &error))
    }

    fn count(&self, review: Review, cached: bool, answer: Result<bool, &ReviewError>) {
        let result = match answer {
            _ if cached => ReviewResult::Cached,
            Ok(true) => ReviewResult::Yes,
            Ok(false) => ReviewResult::No,
            Err(_) => ReviewResult::Failed,
        };
        self.metrics.reviewed(review, result);
    }
}

/// Returns the caller according to the peer's certificate: the caller that a front proxy names, or the peer itself.
fn by_certificate(
    proxy: Option<&TrustedProxy>,
    users: Option<&Authority>,
    headers: &HeaderMap,
    peer: &Peer,
) -> Option<Caller> {
    if peer.certificates.is_empty() {
        return None;
    }
    let now = UnixTime::now();
    match proxy.map(|proxy| proxy.says(headers, peer, now)) {
        Some(ProxyClaim::Caller(caller)) => return Some(caller),
        Some(ProxyClaim::Refused(name)) => {
            tracing::warn!(address = %peer.address, name, "The client certificate is not that of a front proxy: its headers are ignored");
        }
        Some(ProxyClaim::Nothing) | None => {}
    }
    match users?.verified(&peer.certificates, now) {
        Ok(subject) if !subject.name.is_empty() => {
            Some(Caller { user: subject.name, groups: subject.organizations, ..Caller::default() })
        }
        Ok(_) => None,
        Err(error) => {
            tracing::debug!(address = %peer.address, %error, "The client's certificate is not trusted");
            None
        }
    }
}

/// Returns the token of the request; `None` if it has none, more than one, or further text behind it. The API server would ignore that
/// text, while each such text would make another token here.
fn bearer(headers: &HeaderMap) -> Option<String> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let (first, None) = (all.next()?, all.next()) else { return None };
    let (scheme, token) = first.to_str().ok()?.trim().split_once(' ')?;
    let token = token.trim();
    let is_whole = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    (scheme.eq_ignore_ascii_case("bearer") && is_whole).then(|| token.to_owned())
}

/// Removes the headers that name the caller.
fn strip(headers: &mut HeaderMap, proxy: Option<&TrustedProxy>) {
    let said: Vec<HeaderName> = headers
        .keys()
        .filter(|name| {
            let text = name.as_str();
            **name == AUTHORIZATION
                || text.starts_with(USUAL)
                || text.starts_with(IMPERSONATE)
                || proxy.is_some_and(|proxy| proxy.owns(name))
        })
        .cloned()
        .collect();
    for name in said {
        headers.remove(name);
    }
}

/// Adds the group of authenticated callers, as Kubernetes does.
fn authenticated(mut caller: Caller) -> Caller {
    let told = caller.groups.iter().any(|group| group == AUTHENTICATED || group == UNAUTHENTICATED);
    if !told && caller.user != ANONYMOUS {
        caller.groups.push(AUTHENTICATED.to_owned());
    }
    caller
}

/// Returns the digest of these texts. It includes their lengths, so that a different split of the same bytes has another digest.
fn digest<'t>(texts: impl IntoIterator<Item = &'t [u8]>) -> Key {
    let mut digest = Sha256::new();
    for text in texts {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    }
    digest.finalize().into()
}

/// Returns the cache key of an access.
fn key(caller: &Caller, attributes: &Attributes) -> Key {
    let Attributes { verb, group, version, resource, subresource, namespace, name } = attributes;
    let counts = [caller.groups.len(), caller.extra.len()].map(|count| (count as u64).to_le_bytes());
    let mut texts: Vec<&[u8]> = vec![verb.as_str().as_bytes(), &counts[0], &counts[1]];
    texts.extend(
        [group, version, resource, subresource, namespace, name, &caller.user, &caller.uid].map(|text| text.as_bytes()),
    );
    texts.extend(caller.groups.iter().map(|group| group.as_bytes()));
    let lengths: Vec<[u8; 8]> = caller.extra.values().map(|values| (values.len() as u64).to_le_bytes()).collect();
    for ((key, values), length) in caller.extra.iter().zip(&lengths) {
        texts.extend([key.as_bytes(), length]);
        texts.extend(values.iter().map(|value| value.as_bytes()));
    }
    digest(texts)
}

/// Returns 403, in the API server's words.
fn forbidden(caller: &Caller, attributes: &Attributes, reason: &str) -> Status {
    let Attributes { verb, group, resource, subresource, namespace, name, .. } = attributes;
    let whole = if subresource.is_empty() { resource.clone() } else { format!("{resource}/{subresource}") };
    let place = match namespace.as_str() {
        "" => "at the cluster scope".to_owned(),
        namespace => format!("in the namespace {namespace:?}"),
    };
    let user = &caller.user;
    let why = format!("User {user:?} cannot {} resource {whole:?} in API group {group:?} {place}", verb.as_str());
    // The API server does the same, so that browsers do not take the message for a page.
    let mut why = why.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    if !reason.is_empty() {
        why = format!("{why}: {reason}");
    }
    Status::forbidden(Resource { group, plural: resource }, name, &why)
}

/// Reports that the API server could not be asked.
fn unreviewed(what: &str, error: &ReviewError) -> Status {
    // Otherwise a sender of invented tokens could fill the log.
    if !matches!(error, ReviewError::TooMany) {
        tracing::warn!(%error, "Cannot check {what}");
    }
    match error {
        ReviewError::TooMany => Status::too_many_requests(format!(
            "cannot check {what} now: too many requests are waiting, please try again later"
        )),
        ReviewError::Unavailable(_) => {
            Status::unavailable(format!("cannot check {what}: the API server does not answer"))
        }
        ReviewError::NotAllowed(_) => {
            Status::internal(format!("cannot check {what}: the API server refuses the review, see the server's log"))
        }
    }
}
