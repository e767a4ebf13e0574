//! The address of a server or of a list of servers: a URL, with libpq's variables and files for the parts that it leaves out.

use super::DIALECT;
use super::connect::Server;
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
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use std::io;
use std::path::Path;
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

/// The servers, one of which takes the writes.
#[derive(Clone)]
struct Hosts {
    all: Vec<Server>,
    shown: String,
    /// True if the URL has a password among its parameters.
    has_password: bool,
    /// The files in here are checked before connecting. Empty if the URL or a variable has its own.
    tls: Tls,
    /// True if the URL or a variable has `ssl` parameters.
    has_tls: bool,
}

/// A connection keeps this many statements prepared, unless the URL says otherwise: enough for the usual ones of all kinds. The server
/// drops them with the connection.
const PREPARED: usize = 256;

/// The name of this program among the server's connections, unless the URL or PGAPPNAME has another one.
const PROGRAM: &str = "ingester";

/// libpq's variables about encryption.
const TLS_VARIABLES: [&str; 4] = ["PGSSLMODE", "PGSSLROOTCERT", "PGSSLCERT", "PGSSLKEY"];

/// The parameters of a PostgreSQL URL: the ones of libpq that sqlx knows, and sqlx's own.
const PARAMETERS: [&str; 20] = [
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "options",
    "application_name",
    TARGET,
    CAPACITY,
    "ssl-mode",
    "ssl-ca",
    "ssl-root-cert",
    "ssl-cert",
    "ssl-key",
    "options[search_path]",
];

/// Selects the right one of several servers. sqlx does not know this parameter.
const TARGET: &str = "target_session_attrs";

/// The number of statements that a connection keeps prepared. 0 is for a pooler that gives each transaction another connection to the
/// server.
const CAPACITY: &str = "statement-cache-capacity";

/// Reads a URL, which messages show as `shown`. The error is the mistake in it.
pub(crate) fn of_url(url: &str, shown: String) -> Result<Arc<dyn DatabaseTarget>, String> {
    hosts_of_url(url, shown).map(|hosts| Arc::new(hosts) as Arc<dyn DatabaseTarget>)
}

fn hosts_of_url(url: &str, shown: String) -> Result<Hosts, String> {
    let (base, parameters) = url.split_once('?').unwrap_or((url, ""));
    if let Some(mistake) = unknown_parameter(parameters, &PARAMETERS) {
        return Err(mistake);
    }
    let value = |wanted: &str| {
        parameters.split('&').filter_map(|parameter| parameter.split_once('=')).find(|(name, _)| *name == wanted)
    };
    let takes_any = match value(TARGET).map(|(_, value)| value) {
        None | Some("read-write" | "primary") => false,
        Some("any") => true,
        Some(_) => return Err(format!("`{TARGET}` is read-write or any")),
    };
    let has_pooler = value(CAPACITY).is_some_and(|(_, value)| value == "0");
    let (parameters, lists) = without_lists(parameters)?;
    let mut all = Vec::new();
    for base in each_host(base) {
        for of_list in &lists {
            let url = format!("{base}?{parameters}{of_list}");
            let options = PgConnectOptions::from_str(&url).map_err(|error| without_url(&error))?;
            if options.get_database().is_none_or(str::is_empty) {
                return Err("it names no database, and PGDATABASE is not set".into());
            }
            // A URL has an IPv6 address in brackets, and sqlx would pass the brackets on to the resolver.
            let host = bare(options.get_host()).to_owned();
            // The text of a single object's statements contains the object's values, so do not log it. Do not set the digits of floats:
            // numbers arrive exactly without it, and poolers refuse the setting.
            let mut options = options.host(&host).disable_statement_logging().extra_float_digits(None);
            if value(CAPACITY).is_none() {
                options = options.statement_cache_capacity(PREPARED);
            }
            if options.get_application_name().is_none() {
                options = options.application_name(PROGRAM);
            }
            all.push(Server { options, has_pooler, takes_any });
        }
    }
    let has_variable = TLS_VARIABLES.iter().any(|name| std::env::var_os(name).is_some());
    // If the URL leaves out the server, show the one that the options name.
    let names_server = base.split_once("://").is_some_and(|(_, rest)| !rest.is_empty() && !rest.starts_with('/'));
    let shown = if names_server { shown } else { shown_by_options(&all) };
    let has_tls = has_variable || parameters.split('&').any(|parameter| parameter.starts_with("ssl"));
    Ok(Hosts { all, shown, has_password: value("password").is_some(), tls: Tls::default(), has_tls })
}

/// Returns the parameters without ours and without `host` and `port`, which may be lists; and the parameters of each host of a list.
fn without_lists(parameters: &str) -> Result<(String, Vec<String>), String> {
    let mut hosts = Vec::new();
    let mut ports = Vec::new();
    let mut rest = String::new();
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let values = || value.replace("%2C", ",").replace("%2c", ",").split(',').map(str::to_owned).collect::<Vec<_>>();
        match name {
            TARGET => {}
            "host" => hosts = values(),
            "port" => ports = values(),
            _ => rest.extend([parameter, "&"]),
        }
    }
    let count = hosts.len().max(1);
    if ports.len() > 1 && ports.len() != count {
        return Err(format!("`host` names {count} servers and `port` {} ports", ports.len()));
    }
    let of = |place: usize| {
        let host = hosts.get(place).map(|host| format!("host={host}&"));
        let port = ports.get(place).or(ports.first()).filter(|port| !port.is_empty());
        host.unwrap_or_default() + &port.map(|port| format!("port={port}&")).unwrap_or_default()
    };
    Ok((rest, (0..count).map(of).collect()))
}

/// Returns the URL of servers that parameters and variables name, without a password.
fn shown_by_options(all: &[Server]) -> String {
    let Some(Server { options, .. }) = all.first() else { return String::new() };
    let socket = options.get_socket().map(|folder| folder.display().to_string());
    let host = |options: &PgConnectOptions| match socket.as_deref().unwrap_or(options.get_host()) {
        // In this place of a URL, the folder of a socket is percent-encoded.
        host if host.starts_with('/') => host.replace('/', "%2F"),
        host if host.contains(':') => format!("[{host}]:{}", options.get_port()),
        host => format!("{host}:{}", options.get_port()),
    };
    let hosts: Vec<String> = all.iter().map(|server| host(&server.options)).collect();
    let user = options.get_username();
    let database = options.get_database().unwrap_or_default();
    format!("postgresql://{user}@{}/{database}", hosts.join(","))
}

impl Hosts {
    fn encrypted(&self, tls: &Tls) -> Self {
        let encrypt = |server: &Server| Server { options: encrypted(tls, server.options.clone()), ..server.clone() };
        Hosts { all: self.all.iter().map(encrypt).collect(), tls: tls.clone(), ..self.clone() }
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
        let Some(Server { options, .. }) = self.all.first() else { return String::new() };
        let database = options.get_database().unwrap_or_default();
        match options.get_options().and_then(schema) {
            Some(schema) => format!("{database}.{schema}"),
            None => database.to_owned(),
        }
    }

    fn file(&self) -> Option<&Path> {
        None
    }

    fn with_password(&self, password: &str) -> Result<Arc<dyn DatabaseTarget>, (&'static str, &'static str)> {
        if self.has_password {
            return Err(("it has one already", "leave out one of the two"));
        }
        let user = self.all.first().map_or("", |server| server.options.get_username());
        let shown = shown_with_password(&self.shown, user)?;
        let with = |server: &Server| Server { options: server.options.clone().password(password), ..server.clone() };
        Ok(Arc::new(Hosts { all: self.all.iter().map(with).collect(), shown, ..self.clone() }))
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

/// Returns the schema that the options of a session name first (`-c search_path=one,two`).
fn schema(options: &str) -> Option<&str> {
    let (_, path) = options.rsplit_once("search_path=")?;
    let first = path.split([',', ' ']).next()?.trim_matches('"');
    (!first.is_empty()).then_some(first)
}

/// Adds the encryption that `tls` asks for.
fn encrypted(tls: &Tls, options: PgConnectOptions) -> PgConnectOptions {
    let mut options = options.ssl_mode(match tls.mode {
        TlsMode::Disabled => PgSslMode::Disable,
        TlsMode::Preferred => PgSslMode::Prefer,
        TlsMode::Required => PgSslMode::Require,
        TlsMode::VerifyCa => PgSslMode::VerifyCa,
        TlsMode::VerifyIdentity => PgSslMode::VerifyFull,
    });
    if let Some(ca) = &tls.ca {
        options = options.ssl_root_cert(ca);
    }
    if let Some(cert) = &tls.cert {
        options = options.ssl_client_cert(cert);
    }
    if let Some(key) = &tls.key {
        options = options.ssl_client_key(key);
    }
    options
}

#[cfg(test)]
mod tests {
    use super::{DatabaseTarget as _, Hosts, Tls, TlsMode, hosts_of_url};

    fn of_url(url: &str) -> Hosts {
        hosts_of_url(url, url.replace("u:p@", "u:***@")).unwrap()
    }

    /// Returns host and port of each server.
    fn hosts(address: &Hosts) -> Vec<(String, u16)> {
        let one = |server: &super::Server| (server.options.get_host().to_owned(), server.options.get_port());
        address.all.iter().map(one).collect()
    }

    #[test]
    fn an_address_may_have_several_servers() {
        let wanted = [("a", 5433), ("b", 5434), ("::1", 5435)].map(|(host, port)| (host.to_owned(), port));
        for url in [
            "postgres://u:p@a:5433,b:5434,[::1]:5435/db",
            "postgresql:///db?host=a,b,::1&port=5433,5434,5435",
            "postgresql:///db?host=a%2Cb%2C::1&port=5433,5434,5435&target_session_attrs=read-write",
        ] {
            assert_eq!(hosts(&of_url(url)), wanted, "{url}");
        }
        let one_port = of_url("postgres:///db?host=a,b&port=6000");
        assert_eq!(hosts(&one_port), [("a".to_owned(), 6000), ("b".to_owned(), 6000)]);
        assert!(of_url("postgres://a,b/db?target_session_attrs=any").all.iter().all(|server| server.takes_any));
    }

    #[test]
    fn a_url_is_read_as_libpq_reads_it() {
        let socket = of_url("postgresql:///db?host=/run/postgresql&user=me&application_name=mine");
        let options = &socket.all[0].options;
        assert_eq!(options.get_socket().map(|path| path.display().to_string()), Some("/run/postgresql".into()));
        assert_eq!((options.get_username(), options.get_application_name()), ("me", Some("mine")));
        let encoded = of_url("postgres://u:p@%2Frun%2Fpostgresql/db");
        assert!(encoded.all[0].options.get_socket().is_some());
        assert_eq!(encoded.all[0].options.get_application_name(), Some("ingester"));
        assert_eq!(
            format!("{:?}", of_url("postgres://h/d?sslmode=verify-full").all[0].options.get_ssl_mode()),
            "VerifyFull"
        );
        let pooled = |url: &str| of_url(url).all[0].has_pooler;
        assert!(
            pooled("postgres://h/d?statement-cache-capacity=0") && !pooled("postgres://h/d?statement-cache-capacity=9")
        );
    }

    #[test]
    fn a_url_without_a_server_is_shown_with_the_one_where_it_leads() {
        for (url, shown) in [
            ("postgresql:///db?host=h&port=6000&user=u&password=hunter2", "postgresql://u@h:6000/db"),
            ("postgresql:///db?host=a,::1&port=6000&user=u", "postgresql://u@a:6000,[::1]:6000/db"),
            ("postgres:///db?host=/run/postgresql&user=u", "postgresql://u@%2Frun%2Fpostgresql/db"),
            ("postgres://u:p@h/db", "postgres://u:***@h/db"),
        ] {
            assert_eq!(of_url(url).as_redacted(), shown);
        }
    }

    #[test]
    fn a_database_is_called_with_the_schema_that_its_url_names() {
        for (url, called) in [
            ("postgres://u:p@one:5432/Metadata", "Metadata"),
            ("postgresql://v@two,three/Metadata?sslmode=disable", "Metadata"),
            ("postgres:///?dbname=m&host=h", "m"),
            ("postgres://h/m?options=-c%20search_path%3Dmirror%2Cpublic", "m.mirror"),
            ("postgres://h/m?options[search_path]=mirror", "m.mirror"),
        ] {
            assert_eq!(of_url(url).database(), called, "{url}");
        }
    }

    #[test]
    fn what_a_url_cannot_say_is_an_error() {
        for (url, part) in [
            ("postgres://h/d?ssl_mode=require", "`ssl_mode` is not known: did you mean `sslmode`?"),
            ("postgres://h/d?colour=red", "`colour` is not known; there are sslmode, "),
            ("postgres://h/d?sslmode=sometimes", "sometimes"),
            ("postgres://h/d?target_session_attrs=standby", "`target_session_attrs` is read-write or any"),
            ("postgres:///d?host=a,b&port=1,2,3", "`host` names 2 servers and `port` 3 ports"),
            ("postgres://h:port/d", "invalid port"),
        ] {
            let error = hosts_of_url(url, String::new()).err().unwrap();
            assert!(error.contains(part), "{url}: {error}");
        }
    }

    #[test]
    fn a_password_is_added_to_an_address_without_one() {
        let with = |url: &str| of_url(url).with_password("hunter2").map(|address| address.as_redacted().to_owned());
        assert_eq!(with("postgres://u@h/d"), Ok("postgres://u:***@h/d".to_owned()));
        assert!(with("postgres://u:p@h/d").is_err() && with("postgres://u@h/d?password=p").is_err());
    }

    #[test]
    fn tls_parameters_of_a_url_are_kept() {
        let mode = |address: &Hosts| format!("{:?}", address.all[0].options.get_ssl_mode());
        let tls = Tls { mode: TlsMode::VerifyIdentity, ..Tls::default() };
        let own = of_url("postgres://h/d?sslmode=require");
        let none = of_url("postgres://h/d?application_name=a");
        assert!(own.with_tls(&tls).is_none() && none.with_tls(&tls).is_some());
        assert_eq!((mode(&own), mode(&none.encrypted(&tls))), ("Require".into(), "VerifyFull".into()));
    }
}
