//! The address of a server or of a list of servers.

use super::DIALECT;
use super::connect::PREPARED;
use super::pool::Pool;
use crate::driver::error::StoreError;
use crate::driver::hosts::{bare, each_host, longest_search, shown_with_password, unknown_parameter};
use crate::driver::interface::{DatabaseTarget, Driver};
use crate::driver::options::ConnectOptions;
use crate::driver::servers::Servers;
use crate::driver::tls::{Tls, TlsMode};
use crate::driver::values::without_url;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use ingester_sql::dialect::Dialect;
use sqlx::ConnectOptions as _;
use sqlx::mysql::{MySqlConnectOptions, MySqlSslMode};
use std::io;
use std::path::Path;
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

/// The servers, one of which takes the writes.
#[derive(Clone)]
struct Hosts {
    all: Vec<MySqlConnectOptions>,
    shown: String,
    /// The files in here are checked before connecting. Empty if a URL has its own `ssl-` parameters.
    tls: Tls,
    /// True if a URL has `ssl-` parameters.
    has_tls: bool,
}

/// Returns a database from its parts, see [`Address::mysql`](crate::driver::Address::mysql).
pub(crate) fn of_parts(
    host: &str,
    port: u16,
    user: &str,
    password: Option<&str>,
    database: &str,
) -> Arc<dyn DatabaseTarget> {
    Arc::new(hosts_of_parts(host, port, user, password, database))
}

fn hosts_of_parts(host: &str, port: u16, user: &str, password: Option<&str>, database: &str) -> Hosts {
    let mut all = Vec::new();
    let mut shown = Vec::new();
    for (host, port) in host.split(',').map(|host| host_and_port(host.trim(), port)) {
        let mut options = MySqlConnectOptions::new().host(host).port(port).username(user).database(database);
        if let Some(password) = password {
            options = options.password(password);
        }
        all.push(plain(options).statement_cache_capacity(PREPARED));
        shown.push(if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") });
    }
    let secret = if password.is_some() { ":***" } else { "" };
    let shown = format!("mysql://{user}{secret}@{}/{database}", shown.join(","));
    Hosts { all, shown, tls: Tls::default(), has_tls: false }
}

/// Reads a URL, which messages show as `shown`. The error is the mistake in it.
pub(crate) fn of_url(url: &str, shown: String) -> Result<Arc<dyn DatabaseTarget>, String> {
    hosts_of_url(url, shown).map(|hosts| Arc::new(hosts) as Arc<dyn DatabaseTarget>)
}

fn hosts_of_url(url: &str, shown: String) -> Result<Hosts, String> {
    let (_, parameters) = url.split_once('?').unwrap_or((url, ""));
    let names = |name: &str| parameters.split('&').any(|parameter| parameter.starts_with(name));
    let mut all = Vec::new();
    for url in each_host(url) {
        let options = MySqlConnectOptions::from_str(&url).map_err(|error| without_url(&error))?;
        if options.get_database().is_none_or(str::is_empty) {
            return Err("it names no database".into());
        }
        // A URL has an IPv6 address in brackets, and sqlx would pass the brackets on to the resolver.
        let host = bare(options.get_host()).to_owned();
        let mut options = plain(options.host(&host));
        if !names("statement-cache-capacity") {
            options = options.statement_cache_capacity(PREPARED);
        }
        all.push(options);
    }
    match unknown_parameter(parameters, &PARAMETERS).or_else(|| other_charset(parameters)) {
        Some(mistake) => Err(mistake),
        None => Ok(Hosts { all, shown, tls: Tls::default(), has_tls: names("ssl") }),
    }
}

impl Hosts {
    fn encrypted(&self, tls: &Tls) -> Self {
        let all = self.all.iter().map(|options| encrypted(tls, options.clone())).collect();
        Hosts { all, tls: tls.clone(), ..self.clone() }
    }
}

impl DatabaseTarget for Hosts {
    fn dialect(&self) -> Dialect {
        DIALECT
    }

    fn as_redacted(&self) -> &str {
        &self.shown
    }

    fn database(&self) -> String {
        // Servers that keep names on a file system may not distinguish upper and lower case.
        self.all.first().and_then(|one| one.get_database()).unwrap_or_default().to_lowercase()
    }

    fn file(&self) -> Option<&Path> {
        None
    }

    fn with_password(&self, password: &str) -> Result<Arc<dyn DatabaseTarget>, (&'static str, &'static str)> {
        let user = self.all.first().map_or("", |options| options.get_username());
        let shown = shown_with_password(&self.shown, user)?;
        let all = self.all.iter().map(|options| options.clone().password(password)).collect();
        Ok(Arc::new(Hosts { all, shown, ..self.clone() }))
    }

    fn with_tls(&self, tls: &Tls) -> Option<Arc<dyn DatabaseTarget>> {
        (!self.has_tls).then(|| Arc::new(self.encrypted(tls)) as Arc<dyn DatabaseTarget>)
    }

    fn check(&self, _: ConnectOptions) -> Result<(), StoreError> {
        self.tls.check_files()
    }

    fn longest_search(&self) -> Duration {
        longest_search(self.all.len())
    }

    fn silent(&self) -> StoreError {
        let timeout = io::Error::new(io::ErrorKind::TimedOut, "the server does not answer");
        StoreError::from_sqlx(format!("connecting to {}", self.shown), timeout.into())
    }

    fn connect(
        &self,
        options: ConnectOptions,
        servers: Arc<Servers>,
    ) -> BoxFuture<'_, Result<Box<dyn Driver>, sqlx::Error>> {
        async move { Ok(Box::new(Pool::open(&self.all, options, servers).await?) as Box<dyn Driver>) }.boxed()
    }
}

/// Adds the encryption that `tls` asks for.
fn encrypted(tls: &Tls, options: MySqlConnectOptions) -> MySqlConnectOptions {
    let mut options = options.ssl_mode(match tls.mode {
        TlsMode::Disabled => MySqlSslMode::Disabled,
        TlsMode::Preferred => MySqlSslMode::Preferred,
        TlsMode::Required => MySqlSslMode::Required,
        TlsMode::VerifyCa => MySqlSslMode::VerifyCa,
        TlsMode::VerifyIdentity => MySqlSslMode::VerifyIdentity,
    });
    if let Some(ca) = &tls.ca {
        options = options.ssl_ca(ca);
    }
    if let Some(cert) = &tls.cert {
        options = options.ssl_client_cert(cert);
    }
    if let Some(key) = &tls.key {
        options = options.ssl_client_key(key);
    }
    options
}

/// Returns a host of a list, without brackets, and its own port or the common one.
fn host_and_port(text: &str, port: u16) -> (&str, u16) {
    let own = text.rsplit_once(':').and_then(|(host, own)| Some((host, own.parse().ok()?)));
    match own {
        // The colons of an IPv6 address are in brackets if a port follows.
        Some((host, own)) if !host.contains(':') || host.ends_with(']') => (bare(host), own),
        _ => (bare(text), port),
    }
}

/// The parameters of a MySQL URL that sqlx reads.
const PARAMETERS: [&str; 12] = [
    "ssl-mode",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "sslmode",
    "sslca",
    "sslcert",
    "sslkey",
    "charset",
    "collation",
    "socket",
    "statement-cache-capacity",
];

/// Returns the message about any character set other than `utf8mb4`. The others cannot hold every object, and in some of them a backslash
/// or a quote can be the second byte of a character.
fn other_charset(parameters: &str) -> Option<String> {
    let charset = parameters.split('&').find_map(|parameter| parameter.strip_prefix("charset="))?;
    (charset != "utf8mb4").then(|| "`charset` can be utf8mb4 only, which it is without the parameter".to_owned())
}

/// Turns off sqlx's additions to the SQL mode, because our sessions set their own. Turns off its logging of statements, because the text of
/// a single object's statements contains the object's values.
fn plain(options: MySqlConnectOptions) -> MySqlConnectOptions {
    options
        .disable_statement_logging()
        .pipes_as_concat(false)
        .no_engine_substitution(false)
        .timezone(Some("+00:00".into()))
}

#[cfg(test)]
mod tests {
    use super::{DatabaseTarget as _, Hosts, Tls, TlsMode, hosts_of_parts, hosts_of_url};

    fn of_url(url: &str) -> Hosts {
        hosts_of_url(url, url.replace("p%2C", "***").replace("u:p@", "u:***@")).unwrap()
    }

    /// Returns host and port of each server.
    fn hosts(address: &Hosts) -> Vec<(String, u16)> {
        address.all.iter().map(|options| (options.get_host().to_owned(), options.get_port())).collect()
    }

    #[test]
    fn an_address_may_have_several_servers() {
        let wanted =
            [("a", 3306), ("b", 3307), ("::1", 3308), ("::2", 3306)].map(|(host, port)| (host.to_owned(), port));
        for address in [
            of_url("mysql://u:p%2C@a,b:3307,[::1]:3308,[::2]/db"),
            hosts_of_parts("a, b:3307,[::1]:3308,::2", 3306, "u", Some("p"), "db"),
        ] {
            assert_eq!(hosts(&address), wanted, "{}", address.shown);
            let text = &address.shown;
            assert!(text.starts_with("mysql://u:***@a") && text.contains(",[::1]:3308,[::2]"), "{text}");
        }
    }

    #[test]
    fn an_ipv6_address_has_brackets_in_urls_only() {
        let host = |address: &Hosts| hosts(address)[0].0.clone();
        for address in [
            of_url("mysql://u:p@[::1]:3306/db"),
            hosts_of_parts("::1", 3306, "u", Some("p"), "db"),
            hosts_of_parts("[::1]", 3306, "u", Some("p"), "db"),
        ] {
            assert_eq!((host(&address).as_str(), address.shown.as_str()), ("::1", "mysql://u:***@[::1]:3306/db"));
        }
    }

    #[test]
    fn tls_parameters_of_a_url_are_kept() {
        let mode = |address: &Hosts| format!("{:?}", address.all[0].get_ssl_mode());
        let tls = Tls { mode: TlsMode::VerifyIdentity, ..Tls::default() };
        for (url, has) in [
            ("mysql://u:p@h/d", false),
            ("mysql://u:p@h/d?charset=utf8mb4", false),
            ("mysql://u:p@h/d?charset=utf8mb4&ssl-mode=REQUIRED", true),
        ] {
            assert_eq!(of_url(url).with_tls(&tls).is_none(), has, "{url}");
        }
        assert_eq!(mode(&of_url("mysql://u:p@h/d?ssl-mode=REQUIRED")), "Required");
        let parts = hosts_of_parts("127.0.0.1", 1, "root", Some("hunter2"), "d");
        assert_eq!((mode(&parts), mode(&parts.encrypted(&tls))), ("Preferred".into(), "VerifyIdentity".into()));
    }
}
