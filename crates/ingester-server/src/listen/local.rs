//! Decides which requests a port without authentication accepts.
//!
//! Any client that reaches the port may do everything, so only programs on this machine may reach it. A page in a browser on this machine
//! is not such a program: it comes from elsewhere, and could reach the port by a name that leads here. Pages of other ports of this machine
//! are other programs' pages, and may show foreign content.

use crate::status::{Reason, Status};
use http::StatusCode;
use http::header::{HOST, HeaderMap, ORIGIN};
use http::uri::{Authority, Uri};

/// The relation between this server and the page that sends a request: browsers set this header, and pages cannot change it.
const SEC_FETCH_SITE: &str = "sec-fetch-site";

/// Refuses a request that names another host, or that a page of another origin sends.
pub(super) fn check(uri: &Uri, headers: &HeaderMap) -> Result<(), Status> {
    let mut hosts = headers.get_all(HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().ok().and_then(|host| host.parse::<Authority>().ok()),
        _ => None,
    };
    if !host.as_ref().is_some_and(is_local) || uri.authority().is_some_and(|host| !is_local(host)) {
        return Err(refused(
            "this port is only for http://localhost and http://127.0.0.1: the request names another host",
        ));
    }
    let own = host.map(|host| format!("http://{host}"));
    let is_own = |origin: &http::HeaderValue| {
        origin.to_str().is_ok_and(|origin| own.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(origin)))
    };
    let is_ours = |site: &http::HeaderValue| matches!(site.as_bytes(), b"none" | b"same-origin");
    if !headers.get_all(ORIGIN).iter().all(is_own) || !headers.get_all(SEC_FETCH_SITE).iter().all(is_ours) {
        return Err(refused("this port is not for web pages of other origins"));
    }
    Ok(())
}

fn is_local(host: &Authority) -> bool {
    // Refuse user information before the host: `localhost@elsewhere` is elsewhere.
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
        assert!(from("http://localhost:8001") && from("HTTP://LOCALHOST:8001"));
        for origin in [
            "https://evil.example",
            "null",
            "http://localhost.evil.example",
            "file://",
            "http://localhost:3000",
            "http://localhost",
            "https://localhost:8001",
            "http://127.0.0.1:8001",
            "",
        ] {
            assert!(!from(origin), "{origin}");
        }
        let twice = [("host", "localhost"), ("origin", "http://localhost"), ("origin", "https://evil.example")];
        assert!(!allowed("/apis", &twice));
    }

    #[test]
    fn requests_that_a_browser_makes_for_other_sites_are_refused() {
        let fetched = |site| allowed("/apis", &[("host", "localhost:8001"), ("sec-fetch-site", site)]);
        assert!(fetched("none") && fetched("same-origin"));
        for site in ["cross-site", "same-site", "", "None", "none, cross-site"] {
            assert!(!fetched(site), "{site}");
        }
        let twice = [("host", "localhost"), ("sec-fetch-site", "none"), ("sec-fetch-site", "cross-site")];
        assert!(!allowed("/apis", &twice));
    }
}
