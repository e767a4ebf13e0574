//! Which requests a port without authentication takes.
//!
//! Whoever can reach the port may do everything, so nobody but programs of this machine may. A page in a browser of this machine
//! is none: it comes from elsewhere, and could reach the port by a name that leads here.

use crate::status::{Reason, Status};
use http::StatusCode;
use http::header::{HOST, HeaderMap, ORIGIN};
use http::uri::{Authority, Uri};

/// Refuses a request that names another host, or that a page of another host makes.
pub(super) fn check(uri: &Uri, headers: &HeaderMap) -> Result<(), Status> {
    let mut hosts = headers.get_all(HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().ok().and_then(|host| host.parse::<Authority>().ok()),
        _ => None,
    };
    if !host.is_some_and(|host| is_local(&host)) || uri.authority().is_some_and(|host| !is_local(host)) {
        return Err(refused(
            "this port is for http://localhost and http://127.0.0.1 alone: the request names another host",
        ));
    }
    let from = |origin: &http::HeaderValue| origin.to_str().ok()?.parse::<Uri>().ok()?.into_parts().authority;
    if headers.get_all(ORIGIN).iter().any(|origin| !from(origin).is_some_and(|host| is_local(&host))) {
        return Err(refused("this port is not for web pages"));
    }
    Ok(())
}

fn is_local(host: &Authority) -> bool {
    // Nothing in front of it: `localhost@elsewhere` is elsewhere.
    !host.as_str().contains('@') && matches!(host.host(), "localhost" | "127.0.0.1" | "[::1]")
}

fn refused(why: &str) -> Status {
    Status::failure(StatusCode::FORBIDDEN, Reason::Forbidden, why)
}

#[cfg(test)]
mod tests {
    use super::{HeaderMap, Uri, check};
    use http::HeaderValue;

    fn allowed(uri: &str, headers: &[(&'static str, &str)]) -> bool {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_str(value).unwrap());
        }
        check(&uri.parse::<Uri>().unwrap(), &map).is_ok()
    }

    #[test]
    fn only_this_machine_is_named() {
        for host in ["localhost", "localhost:8001", "127.0.0.1:8001", "[::1]:8001", "[::1]"] {
            assert!(allowed("/apis", &[("host", host)]), "{host}");
        }
        for host in
            ["evil.example:8001", "localhost.evil.example", "127.0.0.2", "localhost@evil.example", "", "a b", "0.0.0.0"]
        {
            assert!(!allowed("/apis", &[("host", host)]), "{host}");
        }
        assert!(!allowed("/apis", &[]), "no host");
        assert!(!allowed("/apis", &[("host", "localhost"), ("host", "evil.example")]), "two hosts");
        assert!(!allowed("http://evil.example/apis", &[("host", "localhost")]));
        assert!(allowed("http://localhost:8001/apis", &[("host", "localhost:8001")]));
    }

    #[test]
    fn pages_of_other_hosts_are_refused() {
        let from = |origin| allowed("/apis", &[("host", "localhost:8001"), ("origin", origin)]);
        assert!(from("http://localhost:3000"));
        for origin in ["https://evil.example", "null", "http://localhost.evil.example", "file://"] {
            assert!(!from(origin), "{origin}");
        }
    }
}
