//! The address of a database, read from a URL or from its parts.

use super::command::{self, PasswordCommand};
use super::error::{StoreError, url_examples};
use super::interface::{DatabaseTarget, MissingDriver, Product, Variables};
#[cfg(feature = "mysql")]
use super::mysql;
use super::password::{Password, PasswordText, Source};
use super::tls::Tls;
use super::{LEFT_OUT, PRODUCTS};
use ingester_sql::dialect::Dialect;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// The address of a database. It is displayed without the password.
#[derive(Clone)]
pub struct Address {
    pub(super) target: Arc<dyn DatabaseTarget>,
    /// The source of a password that may change.
    source: Option<Source>,
}

impl Address {
    /// Returns the address of a MySQL database from the parts that environment variables name. `host` may be a list with commas, where each
    /// host may have its own port: `db-1,db-2:3307`.
    ///
    /// # Errors
    /// If this program has no driver for MySQL.
    #[cfg_attr(not(feature = "mysql"), allow(unused_variables, reason = "nothing reads them"))]
    pub fn mysql(
        host: &str,
        port: u16,
        user: &str,
        password: Option<&str>,
        database: &str,
    ) -> Result<Self, StoreError> {
        #[cfg(feature = "mysql")]
        let target = Ok(mysql::of_parts(host, port, user, password, database));
        #[cfg(not(feature = "mysql"))]
        let target = Err(left_out(LEFT_OUT, "mysql").unwrap_or_default());
        target.map(Address::new).map_err(|reason: String| {
            StoreError::wrong(format!("reading the address of the database at {host}"), reason, url_examples())
        })
    }

    fn new(target: Arc<dyn DatabaseTarget>) -> Self {
        Address { target, source: None }
    }

    /// Returns the first set variable with which a database's own clients name a database, such as `PGDATABASE`, and the URL that leaves
    /// everything to such variables; `None` if none `is_set`. The URL may be of a database without a driver in this program: parsing it then
    /// fails with the reason, so that nobody's data goes to another database unnoticed.
    pub fn by_variables(is_set: impl Fn(&str) -> bool) -> Option<(&'static str, &'static str)> {
        named_by(PRODUCTS, LEFT_OUT, is_set)
    }

    /// Returns true if URLs of databases begin with this scheme, such as `mysql`.
    pub fn is_scheme(scheme: &str) -> bool {
        product(scheme).is_some()
    }

    /// Adds a password that the URL leaves out and that may change. `read` returns the present one, or the reason why it cannot be read. It
    /// is called before connecting, and again when the database refuses the password. It may block.
    ///
    /// # Errors
    /// If the database has a password already, or can have none.
    pub fn password(
        self,
        password: &str,
        read: impl Fn() -> Result<String, String> + Send + Sync + 'static,
    ) -> Result<Self, StoreError> {
        let read = move || read().map(|password| PasswordText::lasting(&password));
        self.with_source(password, read, Duration::ZERO)
    }

    /// Adds a password that the URL leaves out and a command prints. The command is run before connecting, and again when the database
    /// refuses the password, or it has expired.
    ///
    /// # Errors
    /// If the database has a password already, or can have none.
    pub fn password_command(self, command: PasswordCommand) -> Result<Self, StoreError> {
        self.with_source("", move || command.run(command::LIMIT), command::LIMIT)
    }

    fn with_source(
        self,
        password: &str,
        read: impl Fn() -> Result<PasswordText, String> + Send + Sync + 'static,
        longest: Duration,
    ) -> Result<Self, StoreError> {
        let target = self.target.with_password(password).map_err(|wrong| self.cannot_add(wrong))?;
        Ok(Address { target, source: Some(Source { read: Arc::new(read), longest, without: self.target }) })
    }

    fn cannot_add(&self, (reason, hint): (&str, &str)) -> StoreError {
        StoreError::wrong(format!("adding a password to `{self}`"), reason, hint)
    }

    /// Returns the database with its present password, and the source of later passwords.
    pub(super) async fn now(&self) -> Result<(Arc<dyn DatabaseTarget>, Option<Password>), StoreError> {
        let Some(source) = &self.source else { return Ok((self.target.clone(), None)) };
        let password = source.password().await.map_err(|reason| {
            StoreError::passing(format!("connecting to {self}"), reason, "it is read again at the next attempt")
        })?;
        let target = source.without.with_password(&password.text).map_err(|wrong| self.cannot_add(wrong))?;
        Ok((target, Some(Password::new(source.clone(), password))))
    }

    /// Returns how much longer than usual connecting may take, because servers are asked which of them takes writes, and a command prints
    /// the password.
    pub(crate) fn longest_search(&self) -> Duration {
        self.target.longest_search() + self.source.as_ref().map_or(Duration::ZERO, |source| source.longest)
    }

    /// Returns the file of an SQLite database if it does not exist; `None` for a database in memory or on a server.
    pub fn missing_file(&self) -> Option<&Path> {
        self.target.file().filter(|file| matches!(file.try_exists(), Ok(false)))
    }

    /// Sets the encryption that `tls` asks for. The `ssl-` parameters of a URL win over `tls`, and SQLite has no connection to encrypt.
    ///
    /// # Errors
    /// If `tls` contradicts itself, see [`Tls::check`]. Its files are checked when connecting.
    pub fn tls(self, tls: &Tls) -> Result<Self, StoreError> {
        tls.check().map_err(|mistake| StoreError::wrong("preparing encryption", mistake.reason(), mistake.hint()))?;
        let with = |target: Arc<dyn DatabaseTarget>| target.with_tls(tls).unwrap_or(target);
        let source = self.source.map(|source| Source { without: with(source.without), ..source });
        Ok(Address { target: with(self.target), source })
    }

    /// Returns the database's name at its servers, which is the same at every server of a cluster; for SQLite, the file with the whole
    /// path.
    pub fn database(&self) -> String {
        self.target.database()
    }

    /// Returns the database's dialect.
    pub fn dialect(&self) -> Dialect {
        self.target.dialect()
    }
}

impl FromStr for Address {
    type Err = StoreError;

    /// Parses `mysql://user:password@host:3306/database`, `mariadb://...` or `sqlite://file.db`, as sqlx does. There may be several
    /// hosts, with commas between: `mysql://user:password@db-1:3306,db-2:3306/database`.
    fn from_str(url: &str) -> Result<Self, StoreError> {
        let hint = format!("{}; special characters of a password are percent-encoded", url_examples());
        let scheme = url.split_once(':').map(|(scheme, _)| scheme);
        let product = scheme.and_then(product);
        let shown = redact_url(url);
        let is_url = scheme.is_some_and(is_plain) && scheme.is_some_and(|its| url[its.len()..].starts_with("://"));
        let doing = match is_url || product.is_some_and(|product| product.is_file) {
            true => format!("reading the database URL `{shown}`"),
            // Without a scheme it may be anything, even a password alone.
            false => "reading the database URL".to_owned(),
        };
        let target = match (product, scheme) {
            // sqlx reads such a URL, and takes all of it for the name of a database.
            (Some(product), Some(scheme)) if !product.is_file && !is_url => {
                Err(format!("it has no `//` behind `{scheme}:`"))
            }
            (Some(product), _) => (product.of_url)(url, shown),
            (None, Some(other)) if left_out(LEFT_OUT, other).is_some() => {
                Err(left_out(LEFT_OUT, other).unwrap_or_default())
            }
            (None, Some(other)) if url[other.len()..].starts_with("://") => {
                Err(format!("`{other}` is not a database that the ingester knows"))
            }
            _ => Err("it has no scheme".into()),
        };
        target.map(Address::new).map_err(|reason| StoreError::wrong(doing, reason, hint))
    }
}

/// Returns the product whose URLs begin with this scheme.
fn product(scheme: &str) -> Option<&'static Product> {
    PRODUCTS.iter().copied().find(|product| product.schemes.contains(&scheme))
}

/// Returns the first set variable of these products, and the URL of its product.
fn named_by(
    products: &[&Product],
    left_out: &[MissingDriver],
    is_set: impl Fn(&str) -> bool,
) -> Option<(&'static str, &'static str)> {
    let variables = products.iter().filter_map(|product| product.variables);
    let mut all = variables.chain(left_out.iter().filter_map(|(.., variables)| *variables));
    all.find_map(|(names, url): Variables| {
        let name = names.iter().find(|name| is_set(name))?;
        Some((*name, url))
    })
}

/// Returns the reason why a database's URLs are refused if only its driver is missing.
fn left_out(products: &[MissingDriver], scheme: &str) -> Option<String> {
    let (_, feature, _) = products.iter().find(|(schemes, ..)| schemes.contains(&scheme))?;
    Some(format!("this program was compiled without the feature `{feature}` of the crate `ingester`"))
}

/// Returns true if this can be the scheme of a URL, and contains nothing secret.
fn is_plain(scheme: &str) -> bool {
    !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

/// Returns the URL without the parts that may be secret: the password and the parameters.
fn redact_url(url: &str) -> String {
    match url.split_once(':').and_then(|(scheme, _)| product(scheme)) {
        Some(product) if product.is_file => url.split_once('?').map_or(url, |(file, _)| file).to_owned(),
        _ => redact(url),
    }
}

/// Returns the URL of a server, or a text that may be one, without the parts that may be secret.
fn redact(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let slashes = if scheme.is_empty() { "" } else { "://" };
    // First cut at the last `@`: a password that was not percent-encoded may contain `@`, `?` or `/`. But the last `@` may also be in a
    // parameter.
    let before = rest.rsplit_once('@').map_or("", |(before, _)| before);
    if let Some((before, parameters)) = before.split_once('?')
        && parameters.contains('=')
    {
        let name = before.split([':', '@']).next().unwrap_or_default();
        let secret = if name.len() < before.len() { ":***" } else { "" };
        return format!("{scheme}{slashes}{name}{secret}");
    }
    let (user, rest) = match rest.rsplit_once('@') {
        Some((user, rest)) => {
            let name = user.split([':', '?']).next().unwrap_or_default();
            // A colon is followed by a password. A question mark is followed by parameters, and one of them may be a password.
            (if user.contains(':') { format!("{name}:***@") } else { format!("{name}@") }, rest)
        }
        None => (String::new(), rest),
    };
    let rest = rest.split(['?', ';', '#']).next().unwrap_or_default();
    // Without an `@`, a port and the database follow the colon, or a password if the rest of the URL is missing.
    let is_port = |port: &str| (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
    // The colons of an IPv6 address are in brackets.
    let (address, rest) = match rest.split_once(']') {
        Some((address, rest)) if address.starts_with('[') && is_ipv6(&address[1..]) => (format!("{address}]"), rest),
        _ => (String::new(), rest),
    };
    let rest = match rest.split_once(':') {
        // If there are several hosts, the first one's port is followed by the next host.
        Some((host, behind)) if !behind.split_once('/').is_some_and(|(ports, _)| are_ports(ports, is_port)) => {
            format!("{host}:***")
        }
        _ => rest.to_owned(),
    };
    format!("{scheme}{slashes}{user}{address}{rest}")
}

/// Returns true if this is a port, followed by other hosts with or without ports.
fn are_ports(text: &str, is_port: impl Fn(&str) -> bool) -> bool {
    let mut parts = text.split(',');
    parts.next().is_some_and(&is_port)
        && parts.all(|host| match host.rsplit_once(':') {
            Some((_, port)) => is_port(port) || host.ends_with(']'),
            None => true,
        })
}

fn is_ipv6(text: &str) -> bool {
    text.parse::<std::net::Ipv6Addr>().is_ok()
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.target.as_redacted())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.target.as_redacted())
    }
}

#[cfg(test)]
mod tests {
    use super::super::interface::POSTGRES_VARIABLES;
    use super::{Address, left_out, named_by, redact_url};

    #[test]
    fn a_database_is_called_the_same_on_every_server_and_in_every_spelling_of_its_file() {
        let called = |url: &str| url.parse::<Address>().unwrap().database();
        assert_eq!(called("mysql://u:p@one:3306/Metadata"), called("mysql://v:q@two/metadata?ssl-mode=disabled"));
        assert_ne!(called("mysql://u:p@one:3306/metadata"), called("mysql://u:p@one:3306/metadata_copy"));
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            std::fs::write(folder.path().join(name.rsplit('/').next().unwrap()), "").unwrap();
            called(&format!("sqlite://{}/{name}", folder.path().display()))
        };
        assert_eq!(file("a.db"), file("./a.db"));
        assert_ne!(file("a.db"), file("b.db"));
    }

    #[test]
    fn a_password_is_never_shown() {
        for (url, expected) in [
            ("mysql://root:se%40cret@db:3306/ma", "mysql://root:***@db:3306/ma"),
            ("mysql://root:sec@ret@db/ma?ssl-key=x", "mysql://root:***@db/ma"),
            ("mysql://root@db/ma", "mysql://root@db/ma"),
            ("sqlite://ingester.db", "sqlite://ingester.db"),
            ("root:secret@db", "root:***@db"),
            ("mysql://u:hun?ter2@h/d", "mysql://u:***@h/d"),
            ("mysql://u:hun/ter2@h:3306/d", "mysql://u:***@h:3306/d"),
            ("mysql://user:secret", "mysql://user:***"),
            ("mysql://user:1Hunter2", "mysql://user:***"),
            ("mysql://user:1Hunter2/ma", "mysql://user:***"),
            ("mysql://user:123456", "mysql://user:***"),
            ("mysql://user:123456/ma", "mysql://user:***"),
            ("user:secret", "user:***"),
            ("mysql://db:3306/ma", "mysql://db:3306/ma"),
            ("sqlite::memory:", "sqlite::memory:"),
            ("mysql://u:p@[::1]:3306/ma", "mysql://u:***@[::1]:3306/ma"),
            ("mysql://[::1]:3306/ma", "mysql://[::1]:3306/ma"),
            ("mysql://[fd00::1:2]/ma", "mysql://[fd00::1:2]/ma"),
            ("mysql://[::1]:secret/ma", "mysql://[::1]:***"),
            ("mysql://u:p@ss@h/db", "mysql://u:***@h/db"),
            ("mysql://u:p%40s%3As@h/db", "mysql://u:***@h/db"),
            ("mysql://u:p,x:1@a:3306,b,[::1]:3307/db", "mysql://u:***@a:3306,b,[::1]:3307/db"),
            ("mysql://u:p@a,b/db?x=y", "mysql://u:***@a,b/db"),
            ("mysql://user:secret,b:3306/db", "mysql://user:***"),
            ("postgres:///db?password=se@cret", "postgres:///db"),
            ("mysql://u:p@h/db?password=se@cret", "mysql://u:***"),
            ("mysql://h:3306/db?password=se@cret", "mysql://h:***"),
            ("postgres://h/db;password=secret", "postgres://h/db"),
            ("postgres://h/db#secret", "postgres://h/db"),
            ("postgresql://u:p@%2Frun%2Fpostgresql/db", "postgresql://u:***@%2Frun%2Fpostgresql/db"),
        ] {
            assert_eq!(redact_url(url), expected);
        }
        for url in [
            "mysql://root:secret@db:99999999/ma",
            "mysql://root:1secret",
            "mysql://root:secret",
            "root:secret@db/ma",
            "secret",
            "secret@db",
            "secret/ma",
            "secret:db",
            "//root:secret@db/ma",
            "root:secret@tcp://db/ma",
            "jdbc:postgresql://db/ma?user=root&password=secret",
            "jdbc:sqlserver://db;user=root;password=secret",
            "host=db:5432 password=secret dbname=ma",
            "postgres:root:secret@127.0.0.1:5432/db",
            "postgres:/root:secret@h/db",
            "postgresql:secret@h/db",
            "postgres:db?password=secret",
            "mysql:root:secret@h/db",
            "mysql:/root:secret@h/db",
            "mariadb:root:secret@h/db",
            "mysql:root:secret@h://db",
            "MYSQL://root:secret@h/db",
        ] {
            let error = url.parse::<Address>().unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_password_is_added_to_an_address_without_one() {
        let add = |address: Address| address.password("hunter2", || Ok("hunter2".to_owned()));
        let with = |url: &str| add(url.parse().unwrap());
        for (url, shown) in [
            ("mysql://root@db:3306/ma", "mysql://root:***@db:3306/ma"),
            ("mariadb://db/ma?ssl-mode=REQUIRED", "mariadb://root:***@db/ma"),
        ] {
            let address = with(url).unwrap();
            assert_eq!((address.to_string(), format!("{address:?}")), (shown.to_owned(), shown.to_owned()));
        }
        for (url, part) in [("mysql://root:a@db/ma", "has one already"), ("sqlite://a.db", "SQLite has no passwords")] {
            let error = with(url).unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains("hunter2"), "{error}");
        }
        let again = add(with("mysql://root@db/ma").unwrap()).unwrap_err().to_string();
        assert!(again.contains("has one already"), "{again}");
    }

    #[test]
    fn an_invalid_database_url_is_reported_with_an_example() {
        for (url, part) in [
            ("oracle://db/ma", "`oracle` is not a database"),
            ("mysql://root@db", "names no database"),
            ("mysql:root@db/ma", "no `//` behind `mysql:`"),
            ("postgres:root@db/ma", "no `//` behind `postgres:`"),
            ("ingester.db", "no scheme"),
            ("mysql://root@db/ma?ssl-mod=VERIFY_CA", "the parameter `ssl-mod` is not known: did you mean `ssl-mode`?"),
            ("mysql://root@db/ma?charset=gbk", "`charset` can be utf8mb4 only"),
            ("mysql://root@db/ma?colour=red", "the parameter `colour` is not known; there are ssl-mode, "),
        ] {
            let error = url.parse::<Address>().unwrap_err().to_string();
            assert!(error.contains(part) && error.contains("mysql://user:password@host"), "{error}");
        }
    }

    #[test]
    fn variables_of_a_databases_own_clients_name_it() {
        let by = |set: &[&str]| Address::by_variables(|name| set.contains(&name));
        assert_eq!(by(&["PGPORT", "PGPASSWORD", "MYSQL_HOST"]), None);
        assert_eq!(by(&["PGPORT", "PGDATABASE"]), Some(("PGDATABASE", "postgresql:///")));
        assert_eq!(by(&["PGHOST", "PGDATABASE"]), Some(("PGHOST", "postgresql:///")));
    }

    #[test]
    fn variables_of_a_database_without_a_driver_are_refused_with_its_feature() {
        let products =
            [(&["postgres", "postgresql"][..], "postgres", Some(POSTGRES_VARIABLES)), (&["sqlite"], "sqlite", None)];
        let named = named_by(&[], &products, |name| name == "PGDATABASE");
        assert_eq!(named, Some(("PGDATABASE", "postgresql:///")));
        let scheme = named.and_then(|(_, url)| url.split_once(':')).unwrap().0;
        let reason = left_out(&products, scheme).unwrap();
        assert!(reason.contains("without the feature `postgres`"), "{reason}");
        assert_eq!(named_by(&[], &products, |name| name == "MYSQL_HOST"), None);
        assert_eq!(left_out(&products, "mysql"), None);
    }

    #[test]
    fn a_password_is_added_to_a_list_of_servers() {
        let address = "mysql://u@a,b:1/db".parse::<Address>().unwrap().password("p", || Ok("p".to_owned())).unwrap();
        assert_eq!(address.to_string(), "mysql://u:***@a,b:1/db");
        let error = "mysql://u@a,b:port/db".parse::<Address>().unwrap_err().to_string();
        assert!(error.contains("invalid port"), "{error}");
    }
}
