//! Where a database is, read from a URL or from its parts.

use super::driver::on_driver;
use super::mysql::PREPARED;
use super::{StoreError, Tls};
use ingester_core::dialect::Dialect;
use ingester_core::nearest::nearest;
use sqlx::ConnectOptions as _;
use sqlx::mysql::MySqlConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where a database is. It is displayed without its password.
#[derive(Clone)]
pub struct Address {
    pub(super) options: DriverOptions,
    shown: String,
    /// Its files are checked before connecting; none if a URL has its own `ssl-` parameters.
    tls: Tls,
    /// Whether a URL has `ssl-` parameters.
    has_tls: bool,
    /// SQLite's file; none of a database in memory.
    pub(super) file: Option<PathBuf>,
}

#[derive(Clone)]
pub(super) enum DriverOptions {
    /// The servers, one of which takes the writes.
    MySql(Vec<MySqlConnectOptions>),
    Sqlite(Box<SqliteConnectOptions>),
}

impl Address {
    /// A MySQL database by its parts, as environment variables name them. `host` may be a list, with commas between, of which each may
    /// have a port of its own: `db-1,db-2:3307`.
    pub fn mysql(host: &str, port: u16, user: &str, password: Option<&str>, database: &str) -> Self {
        let (mut all, mut shown) = (Vec::new(), Vec::new());
        for (host, port) in host.split(',').map(|host| host_and_port(host.trim(), port)) {
            let mut options = MySqlConnectOptions::new().host(host).port(port).username(user).database(database);
            if let Some(password) = password {
                options = options.password(password);
            }
            all.push(plain(options).statement_cache_capacity(PREPARED));
            shown.push(if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") });
        }
        let secret = if password.is_some() { ":***" } else { "" };
        Address {
            options: DriverOptions::MySql(all),
            shown: format!("mysql://{user}{secret}@{}/{database}", shown.join(",")),
            tls: Tls::default(),
            has_tls: false,
            file: None,
        }
    }

    /// The same database, with a password that its URL leaves out.
    ///
    /// # Errors
    /// If it has one already, or can have none.
    pub fn password(mut self, password: &str) -> Result<Self, StoreError> {
        let wrong = |reason: &str, hint: &str| {
            Err(StoreError::wrong(format!("adding a password to `{}`", self.shown), reason, hint))
        };
        let DriverOptions::MySql(all) = &mut self.options else {
            return wrong("SQLite has no passwords", "leave out the password file");
        };
        let (scheme, rest) = self.shown.split_once("://").unwrap_or(("mysql", &self.shown));
        let (user, rest) =
            rest.rsplit_once('@').unwrap_or((all.first().map_or("", |options| options.get_username()), rest));
        if user.ends_with(":***") {
            return wrong("it has one already", "leave out one of the two");
        }
        self.shown = format!("{scheme}://{user}:***@{rest}");
        for options in all {
            *options = options.clone().password(password);
        }
        Ok(self)
    }

    /// The file of an SQLite database that is not there; none of a database in memory, or on a server.
    pub fn missing_file(&self) -> Option<&Path> {
        self.file.as_deref().filter(|file| matches!(file.try_exists(), Ok(false)))
    }

    /// The same database, with the encryption that `tls` asks for. The `ssl-` parameters of a URL win over `tls`, and
    /// SQLite has no connection to encrypt.
    ///
    /// # Errors
    /// If `tls` contradicts itself, see [`Tls::check`]. Its files are checked when connecting.
    pub fn tls(mut self, tls: &Tls) -> Result<Self, StoreError> {
        tls.check().map_err(|mistake| StoreError::wrong("preparing encryption", mistake.reason(), mistake.hint()))?;
        if let (DriverOptions::MySql(all), false) = (&mut self.options, self.has_tls) {
            for options in all {
                *options = tls.apply(options.clone());
            }
            self.tls = tls.clone();
        }
        Ok(self)
    }

    /// Checks that the files for encryption are there.
    pub(super) fn check_files(&self) -> Result<(), StoreError> {
        self.tls.check_files()
    }

    /// The file of an SQLite database, if it has one.
    pub(super) fn file(&self) -> Option<String> {
        match &self.options {
            DriverOptions::Sqlite(options) => Some(options.get_filename().display().to_string()),
            DriverOptions::MySql(_) => None,
        }
    }

    /// What the database is called where it is, whichever server of a cluster that is; of SQLite, its file with the whole path.
    pub fn database(&self) -> String {
        match &self.options {
            // Servers that keep names on a file system may not tell capitals from small letters.
            DriverOptions::MySql(options) => {
                options.first().and_then(|one| one.get_database()).unwrap_or_default().to_lowercase()
            }
            DriverOptions::Sqlite(_) => {
                let whole = self.file.as_ref().map(|file| file.canonicalize().unwrap_or_else(|_| file.clone()));
                whole.map(|file| file.display().to_string()).unwrap_or_default()
            }
        }
    }

    /// The database's dialect.
    pub fn dialect(&self) -> Dialect {
        on_driver!(DriverOptions, &self.options, |_options, driver| driver::DIALECT)
    }
}

impl FromStr for Address {
    type Err = StoreError;

    /// Parses `mysql://user:password@host:3306/database`, `mariadb://...` or `sqlite://file.db`, as sqlx does. There may be several
    /// hosts, with commas between: `mysql://user:password@db-1:3306,db-2:3306/database`.
    fn from_str(url: &str) -> Result<Self, StoreError> {
        let hint = "a URL is mysql://user:password@host:3306/database or sqlite://file.db; \
                    special characters of a password are percent-encoded";
        let scheme = url.split_once(':').map(|(scheme, _)| scheme);
        let shown = redact(url);
        let doing = match url.contains("://") || scheme == Some("sqlite") {
            true => format!("reading the database URL `{shown}`"),
            // Without a scheme it may be anything, also a password alone.
            false => "reading the database URL".to_owned(),
        };
        let wrong = |reason: String| StoreError::wrong(doing.clone(), reason, hint);
        let (file, parameters) = url.split_once('?').unwrap_or((url, ""));
        match scheme {
            Some("mysql" | "mariadb") => {
                let names = |name: &str| parameters.split('&').any(|parameter| parameter.starts_with(name));
                let mut all = Vec::new();
                for url in each_host(url) {
                    let options = MySqlConnectOptions::from_str(&url).map_err(|error| wrong(without_url(&error)))?;
                    if options.get_database().is_none_or(str::is_empty) {
                        return Err(wrong("it names no database".into()));
                    }
                    // A URL has an IPv6 address in brackets, sqlx hands it to the resolver with them.
                    let host = bare(options.get_host()).to_owned();
                    let mut options = plain(options.host(&host));
                    if !names("statement-cache-capacity") {
                        options = options.statement_cache_capacity(PREPARED);
                    }
                    all.push(options);
                }
                if let Some(mistake) = unknown_parameter(parameters).or_else(|| other_charset(parameters)) {
                    return Err(wrong(mistake));
                }
                let options = DriverOptions::MySql(all);
                Ok(Address { options, shown, tls: Tls::default(), has_tls: names("ssl"), file: None })
            }
            Some("sqlite") => {
                // Without a name, SQLite makes a database that is lost with the connection. Nobody means that.
                if ["sqlite:", "sqlite://"].contains(&file) {
                    return Err(wrong("it names no file: write sqlite://FILE".into()));
                }
                let options = SqliteConnectOptions::from_str(url).map_err(|error| wrong(without_url(&error)))?;
                let in_memory = file.ends_with(":memory:") || parameters.split('&').any(|one| one == "mode=memory");
                let file = (!in_memory).then(|| options.get_filename().to_owned());
                let options = DriverOptions::Sqlite(Box::new(options));
                Ok(Address { options, shown, tls: Tls::default(), has_tls: false, file })
            }
            Some(other) if url[other.len()..].starts_with("://") => {
                Err(wrong(format!("`{other}` is not a database that the ingester knows")))
            }
            _ => Err(wrong("it has no scheme".into())),
        }
    }
}

/// A host without the brackets that an IPv6 address has in a URL.
fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

/// A host of a list, without brackets, and its port: its own, or the one of all.
fn host_and_port(text: &str, port: u16) -> (&str, u16) {
    let own = text.rsplit_once(':').and_then(|(host, own)| Some((host, own.parse().ok()?)));
    match own {
        // The colons of an IPv6 address are in brackets if a port follows.
        Some((host, own)) if !host.contains(':') || host.ends_with(']') => (bare(host), own),
        _ => (bare(text), port),
    }
}

/// The URL once for each of its hosts.
fn each_host(url: &str) -> Vec<String> {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |at| start + at);
    let start = url[start..end].rfind('@').map_or(start, |at| start + at + 1);
    url[start..end].split(',').map(|host| format!("{}{host}{}", &url[..start], &url[end..])).collect()
}

/// The parameters of a MySQL URL that sqlx reads; it ignores all others.
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

/// The message about a parameter that sqlx would ignore. A typo in `ssl-mode` would leave the server unverified.
fn unknown_parameter(parameters: &str) -> Option<String> {
    let names = parameters.split('&').map(|parameter| parameter.split('=').next().unwrap_or_default());
    let unknown = names.into_iter().find(|name| !name.is_empty() && !PARAMETERS.contains(name))?;
    // With an `@` after it, it may be part of a password that was not percent-encoded.
    let named = if parameters.contains('@') { "a parameter".to_owned() } else { format!("the parameter `{unknown}`") };
    Some(match nearest(unknown, &PARAMETERS) {
        Some(meant) => format!("{named} is not known: did you mean `{meant}`?"),
        None => format!("{named} is not known; there are {}", PARAMETERS.join(", ")),
    })
}

/// The message about any character set but `utf8mb4`. The others cannot hold every object, and in some of them a backslash or
/// a quote can be the second byte of a character.
fn other_charset(parameters: &str) -> Option<String> {
    let charset = parameters.split('&').find_map(|parameter| parameter.strip_prefix("charset="))?;
    (charset != "utf8mb4").then(|| "`charset` can be utf8mb4 only, which it is without the parameter".to_owned())
}

/// Turns off sqlx's additions to the SQL mode, because our sessions set their own. Turns off its logging of statements, because
/// the text of a single object's statements has the object's values in it.
fn plain(options: MySqlConnectOptions) -> MySqlConnectOptions {
    options
        .disable_statement_logging()
        .pipes_as_concat(false)
        .no_engine_substitution(false)
        .timezone(Some("+00:00".into()))
}

/// sqlx's reason, unless it quotes the URL.
fn without_url(error: &sqlx::Error) -> String {
    let text = match error {
        sqlx::Error::Configuration(reason) => reason.to_string(),
        other => other.to_string(),
    };
    if text.contains("://") { "it is not valid".into() } else { text }
}

/// The URL without what may be secret: the password and the parameters.
fn redact(url: &str) -> String {
    if url.starts_with("sqlite:") {
        // A file name is no secret.
        return url.split_once('?').map_or(url, |(file, _)| file).to_owned();
    }
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let slashes = if scheme.is_empty() { "" } else { "://" };
    // First cut at the last `@`: a password that was not percent-encoded may contain `@`, `?` or `/`.
    let (user, rest) = match rest.rsplit_once('@') {
        Some((user, rest)) => {
            (user.split_once(':').map_or_else(|| format!("{user}@"), |(user, _)| format!("{user}:***@")), rest)
        }
        None => (String::new(), rest),
    };
    let rest = rest.split_once('?').map_or(rest, |(rest, _)| rest);
    // Without an `@`, a port and the database follow the colon, or a password if the rest of the URL is missing.
    let is_port = |port: &str| (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
    // The colons of an IPv6 address are in brackets.
    let (address, rest) = match rest.split_once(']') {
        Some((address, rest)) if address.starts_with('[') && is_ipv6(&address[1..]) => (format!("{address}]"), rest),
        _ => (String::new(), rest),
    };
    let rest = match rest.split_once(':') {
        // Of several hosts, the first one's port is followed by the next host.
        Some((host, behind)) if !behind.split_once('/').is_some_and(|(ports, _)| are_ports(ports, is_port)) => {
            format!("{host}:***")
        }
        _ => rest.to_owned(),
    };
    format!("{scheme}{slashes}{user}{address}{rest}")
}

/// Whether this is a port, and then other hosts with theirs or without.
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
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, redact};

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
        for (url, shown) in [
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
        ] {
            assert_eq!(redact(url), shown);
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
        ] {
            let error = url.parse::<Address>().unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_password_is_added_where_there_is_none() {
        let with = |url: &str| url.parse::<Address>().unwrap().password("hunter2");
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
        let again = with("mysql://root@db/ma").unwrap().password("hunter2").unwrap_err().to_string();
        assert!(again.contains("has one already"), "{again}");
    }

    /// Host and port of each server.
    fn hosts(address: &Address) -> Vec<(String, u16)> {
        match &address.options {
            super::DriverOptions::MySql(all) => {
                all.iter().map(|options| (options.get_host().to_owned(), options.get_port())).collect()
            }
            super::DriverOptions::Sqlite(_) => Vec::new(),
        }
    }

    #[test]
    fn an_address_may_have_several_servers() {
        let wanted =
            [("a", 3306), ("b", 3307), ("::1", 3308), ("::2", 3306)].map(|(host, port)| (host.to_owned(), port));
        for address in [
            "mysql://u:p%2C@a,b:3307,[::1]:3308,[::2]/db".parse::<Address>().unwrap(),
            Address::mysql("a, b:3307,[::1]:3308,::2", 3306, "u", Some("p"), "db"),
        ] {
            assert_eq!(hosts(&address), wanted, "{address}");
            let text = address.to_string();
            assert!(text.starts_with("mysql://u:***@a") && text.contains(",[::1]:3308,[::2]"), "{text}");
        }
        let address = "mysql://u@a,b:1/db".parse::<Address>().unwrap().password("p").unwrap();
        assert_eq!(address.to_string(), "mysql://u:***@a,b:1/db");
        let error = "mysql://u@a,b:port/db".parse::<Address>().unwrap_err().to_string();
        assert!(error.contains("invalid port"), "{error}");
    }

    #[test]
    fn an_ipv6_address_has_brackets_in_urls_only() {
        let host = |address: &Address| hosts(address)[0].0.clone();
        for address in [
            "mysql://u:p@[::1]:3306/db".parse::<Address>().unwrap(),
            Address::mysql("::1", 3306, "u", Some("p"), "db"),
            Address::mysql("[::1]", 3306, "u", Some("p"), "db"),
        ] {
            assert_eq!((host(&address).as_str(), address.to_string().as_str()), ("::1", "mysql://u:***@[::1]:3306/db"));
        }
    }

    #[test]
    fn an_invalid_database_url_is_reported_with_an_example() {
        for (url, part) in [
            ("postgres://db/ma", "`postgres` is not a database"),
            ("mysql://root@db", "names no database"),
            ("ingester.db", "no scheme"),
            ("mysql://root@db/ma?ssl-mod=VERIFY_CA", "the parameter `ssl-mod` is not known: did you mean `ssl-mode`?"),
            ("mysql://root@db/ma?charset=gbk", "`charset` can be utf8mb4 only"),
            ("mysql://root@db/ma?colour=red", "the parameter `colour` is not known; there are ssl-mode, "),
        ] {
            let error = url.parse::<Address>().unwrap_err().to_string();
            assert!(error.contains(part) && error.contains("mysql://user:password@host"), "{error}");
        }
    }
}
