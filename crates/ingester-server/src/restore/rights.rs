//! The identity of a restore in the cluster: `serve.restore`.
//!
//! A request that creates an object passes admission as its sender. So the sender must be the caller: by the caller's own token, or by
//! impersonation, for which the server's account needs a right that it does not have by default.

use crate::caller::Caller;
use crate::identity::{Bearer, Identity};
use crate::status::{Reason, Status};
use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use http::{Request, StatusCode};
use kube::client::Body;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The group with all rights. Nobody may act as a member of it here.
const MASTERS: &str = "system:masters";

/// Groups that the API server adds itself.
const ADDED: &str = "system:authenticated";

/// The name of callers without credentials.
const ANONYMOUS: &str = "system:anonymous";

/// Escapes the name of a header as client-go does: the characters below stay as they are.
const IN_NAME: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'*')
    .remove(b'+')
    .remove(b'-')
    .remove(b'.')
    .remove(b'^')
    .remove(b'_')
    .remove(b'`')
    .remove(b'|')
    .remove(b'~');

/// The identity with which restores act in the cluster.
#[derive(Clone)]
pub enum RestoreRights {
    /// The caller. The client has no credentials: the caller's are added to each request.
    User(kube::Client),
    /// The server's account, for every caller whose own rights suffice.
    Server,
    /// Restores are off.
    Off,
}

impl std::fmt::Debug for RestoreRights {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            RestoreRights::User(_) => "User",
            RestoreRights::Server => "Server",
            RestoreRights::Off => "Off",
        })
    }
}

/// A client that acts in the cluster for a caller.
pub(crate) struct ActingClient {
    pub(crate) client: kube::Client,
    /// The server's account names the caller in each request.
    is_impersonating: bool,
}

impl RestoreRights {
    /// Returns a client that acts for a caller. `server` acts as the server's account.
    ///
    /// # Errors
    /// 403 if no client may act for the caller; 405 if restores are off; 500 or 503 if the API server cannot be asked about the token.
    pub(crate) async fn acting(
        &self,
        server: &kube::Client,
        identity: &Identity,
        caller: &Caller,
        token: Option<&Bearer>,
    ) -> Result<ActingClient, Status> {
        let client = match self {
            RestoreRights::Off => return Err(off()),
            RestoreRights::Server => server.clone(),
            // Without authentication the caller is the person who started the server, with their own kubeconfig.
            RestoreRights::User(_) if !identity.is_checked() => server.clone(),
            RestoreRights::User(anonymous) => match token {
                Some(token) if identity.is_for_api_server(caller, token).await? => {
                    let header = token.header().ok_or_else(|| cannot(caller, "the token is not one"))?;
                    with_headers(anonymous, HeaderMap::from_iter([(AUTHORIZATION, header)]))
                }
                _ => {
                    let client = with_headers(server, impersonation(caller)?);
                    return Ok(ActingClient { client, is_impersonating: true });
                }
            },
        };
        Ok(ActingClient { client, is_impersonating: false })
    }
}

impl ActingClient {
    /// Returns the status that the caller gets for the API server's answer.
    pub(crate) fn told(is_impersonating: bool, caller: &Caller, mut status: Status) -> Status {
        if is_impersonating && status.code == StatusCode::FORBIDDEN && status.message.contains("impersonate") {
            tracing::info!(reason = status.message, "A restore was refused: the server may not impersonate its caller");
            status = cannot(
                caller,
                "the server's account may not impersonate you (`ingester rbac --restore` prints the role for that)",
            );
        }
        status
    }

    pub(crate) fn is_impersonating(&self) -> bool {
        self.is_impersonating
    }
}

/// 405: this server restores nothing.
pub(crate) fn off() -> Status {
    let message = "this server restores nothing (`serve.restore: off`): use `ingester restore` with your kubeconfig";
    Status::failure(StatusCode::METHOD_NOT_ALLOWED, Reason::MethodNotAllowed, message)
}

/// 403: the server cannot act for a caller.
fn cannot(caller: &Caller, why: &str) -> Status {
    let message = format!(
        "the object cannot be created for {}: {why}; use `ingester restore` with your kubeconfig, or send a bearer token for the API server",
        caller.user
    );
    Status::failure(StatusCode::FORBIDDEN, Reason::Forbidden, message)
}

/// Returns the headers with which the server's account acts as the caller.
///
/// # Errors
/// 403 for callers who must not be impersonated, and for names that no header can contain.
fn impersonation(caller: &Caller) -> Result<HeaderMap, Status> {
    if caller.groups.iter().any(|group| group == MASTERS) {
        return Err(cannot(caller, "members of system:masters are never impersonated"));
    }
    if caller.user.is_empty() || caller.user == ANONYMOUS {
        return Err(cannot(caller, "callers without a name are never impersonated"));
    }
    let value = |text: &str| HeaderValue::from_str(text).map_err(|_| cannot(caller, "a name of yours fits no header"));
    let mut headers = HeaderMap::new();
    headers.append("impersonate-user", value(&caller.user)?);
    if !caller.uid.is_empty() {
        headers.append("impersonate-uid", value(&caller.uid)?);
    }
    for group in caller.groups.iter().filter(|group| *group != ADDED) {
        headers.append("impersonate-group", value(group)?);
    }
    for (key, values) in &caller.extra {
        let name = format!("impersonate-extra-{}", utf8_percent_encode(&key.to_lowercase(), IN_NAME)).to_lowercase();
        let name = HeaderName::try_from(name).map_err(|_| cannot(caller, "a name of yours fits no header"))?;
        for its in values {
            headers.append(&name, value(its)?);
        }
    }
    Ok(headers)
}

/// Returns a client that adds headers to each request.
fn with_headers(client: &kube::Client, headers: HeaderMap) -> kube::Client {
    let namespace = client.default_namespace().to_owned();
    let client = client.clone();
    let service = tower::service_fn(move |mut request: Request<Body>| {
        let client = client.clone();
        request.headers_mut().extend(headers.clone());
        async move { client.send(request).await }
    });
    kube::Client::new(service, namespace)
}

#[cfg(test)]
mod tests {
    use super::impersonation;
    use crate::caller::Caller;
    use std::collections::BTreeMap;

    fn ada() -> Caller {
        Caller {
            user: "ada".into(),
            uid: "7".into(),
            groups: ["ml", "system:authenticated", "pricing"].map(String::from).into(),
            extra: BTreeMap::from([("example.com/Scopes%".to_owned(), vec!["a".to_owned(), "b".to_owned()])]),
        }
    }

    #[test]
    fn a_caller_is_impersonated_with_uid_groups_and_extra() {
        let headers = impersonation(&ada()).unwrap();
        let mut all: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        all.sort_unstable();
        let expected = [
            ("impersonate-extra-example.com%2fscopes%25", "a"),
            ("impersonate-extra-example.com%2fscopes%25", "b"),
            ("impersonate-group", "ml"),
            ("impersonate-group", "pricing"),
            ("impersonate-uid", "7"),
            ("impersonate-user", "ada"),
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn some_callers_are_never_impersonated() {
        let masters = Caller { groups: vec!["system:masters".into()], ..ada() };
        let anonymous = Caller { user: "system:anonymous".into(), ..ada() };
        let broken = Caller { user: "a\nb".into(), ..ada() };
        for caller in [masters, anonymous, broken, Caller::default()] {
            let status = impersonation(&caller).unwrap_err();
            assert!(status.code == 403 && status.message.contains("`ingester restore`"), "{status}");
        }
    }
}
