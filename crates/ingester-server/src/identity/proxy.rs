//! The front proxy: the API server, which has authenticated a request and names the caller in its headers.

use super::authority::{Authority, AuthorityError};
use super::peer::Peer;
use crate::caller::Caller;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::percent_decode_str;
use rustls::pki_types::UnixTime;
use std::collections::BTreeMap;

/// The trusted front proxy, and the headers that it uses: the ConfigMap `kube-system/extension-apiserver-authentication`.
#[derive(Clone, Debug)]
pub struct TrustedProxy {
    authority: Authority,
    /// The common names of the proxy; empty for any.
    names: Vec<String>,
    users: Vec<HeaderName>,
    uids: Vec<HeaderName>,
    groups: Vec<HeaderName>,
    /// In lower case.
    extras: Vec<String>,
}

/// An error in the ConfigMap.
#[derive(Debug, thiserror::Error)]
pub enum FrontProxyError {
    /// The certificates of the authority cannot be used.
    #[error("requestheader-client-ca-file: {0}")]
    Authority(#[from] AuthorityError),
    /// The value of a key is not a JSON list of texts, or not a list of header names.
    #[error("{0} is not a list of names in JSON")]
    List(&'static str),
    /// No header names the user.
    #[error("requestheader-username-headers names no header")]
    NoUser,
}

/// The caller according to a front proxy.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ProxyClaim {
    /// No statement: the peer is not a front proxy, or it names no user.
    Nothing,
    /// A front proxy must not use this name for a caller.
    Refused(String),
    /// The caller.
    Caller(Caller),
}

impl TrustedProxy {
    /// Reads the data of the ConfigMap; `None` if the API server has no front proxy.
    ///
    /// # Errors
    /// If the data cannot be understood: then it is unknown which proxies are trusted.
    pub fn read(data: &BTreeMap<String, String>) -> Result<Option<Self>, FrontProxyError> {
        let Some(pem) = data.get("requestheader-client-ca-file") else { return Ok(None) };
        let list = |key: &'static str| -> Result<Vec<String>, FrontProxyError> {
            let Some(text) = data.get(key).filter(|text| !text.trim().is_empty()) else { return Ok(Vec::new()) };
            // Go writes `null` for a list that was never created.
            let list: Option<Vec<String>> = serde_json::from_str(text).map_err(|_| FrontProxyError::List(key))?;
            Ok(list.unwrap_or_default())
        };
        let headers = |key: &'static str| -> Result<Vec<HeaderName>, FrontProxyError> {
            let name = |name: String| HeaderName::try_from(name).map_err(|_| FrontProxyError::List(key));
            list(key)?.into_iter().map(name).collect()
        };
        let extras = list("requestheader-extra-headers-prefix")?;
        if extras.iter().any(String::is_empty) {
            return Err(FrontProxyError::List("requestheader-extra-headers-prefix"));
        }
        let proxy = TrustedProxy {
            authority: Authority::from_pem(pem.as_bytes())?,
            names: list("requestheader-allowed-names")?,
            users: headers("requestheader-username-headers")?,
            uids: headers("requestheader-uid-headers")?,
            groups: headers("requestheader-group-headers")?,
            extras: extras.into_iter().map(|prefix| prefix.to_ascii_lowercase()).collect(),
        };
        if proxy.users.is_empty() { Err(FrontProxyError::NoUser) } else { Ok(Some(proxy)) }
    }

    /// Returns the caller that the peer names, if the peer is a front proxy. Otherwise its headers are ignored.
    pub(super) fn says(&self, headers: &HeaderMap, peer: &Peer, now: UnixTime) -> ProxyClaim {
        let subject = match self.authority.verified(&peer.certificates, now) {
            Ok(subject) => subject,
            Err(_) => return ProxyClaim::Nothing,
        };
        if !self.names.is_empty() && !self.names.contains(&subject.name) {
            return ProxyClaim::Refused(subject.name);
        }
        let first = |names: &[HeaderName]| -> String {
            let values = names.iter().filter_map(|name| headers.get(name));
            values.map(decode_header).find(|value| !value.is_empty()).unwrap_or_default()
        };
        let user = first(&self.users);
        if user.is_empty() {
            return ProxyClaim::Nothing;
        }
        let groups = self
            .groups
            .iter()
            .flat_map(|name| headers.get_all(name))
            .map(decode_header)
            .filter(|group| !group.is_empty());
        let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value) in headers {
            let prefix = self.extras.iter().find_map(|prefix| name.as_str().strip_prefix(prefix.as_str()));
            if let Some(key) = prefix {
                // As in Kubernetes, a key with a wrong encoding is used as it is.
                let decoded = percent_decode_str(key).decode_utf8();
                let key = decoded.map_or_else(|_| key.to_owned(), std::borrow::Cow::into_owned);
                extra.entry(key).or_default().push(decode_header(value));
            }
        }
        ProxyClaim::Caller(Caller { user, uid: first(&self.uids), groups: groups.collect(), extra })
    }

    /// Returns true if a front proxy names the caller in this header.
    pub(super) fn owns(&self, name: &HeaderName) -> bool {
        [&self.users, &self.uids, &self.groups].iter().any(|names| names.contains(name))
            || self.extras.iter().any(|prefix| name.as_str().starts_with(prefix.as_str()))
    }
}

/// Returns the text of a header. Bytes that are not text stay distinct from text.
fn decode_header(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}
