//! Finds the cluster as kubectl does.
//!
//! May use: arguments, ending, ingester-store.

use crate::arguments::Cluster;
use crate::ending::Failure;
use anyhow::anyhow;
use http::header::{AUTHORIZATION, HeaderValue};
use http::uri::Authority;
use http::{Request, Uri};
use ingester_store::{files, quietly, waiting_for};
use kube::client::{AuthError, Body, ClientBuilder};
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use parking_lot::Mutex;
use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};
use tower::BoxError;
use tower::util::{MapErrLayer, MapRequestLayer};

impl Cluster {
    /// Returns true if the arguments name a cluster.
    pub(crate) fn is_named(&self) -> bool {
        self.kubeconfig.is_some() || self.context.is_some()
    }

    /// Returns a client of the cluster that the arguments, the environment, or the pod's service account name.
    pub(crate) async fn client(&self) -> Result<Client, Failure> {
        client_of(self.config().await?).await
    }

    /// Returns a client of the same cluster without any credentials: each of its requests brings its own.
    pub(crate) async fn anonymous_client(&self) -> Result<Client, Failure> {
        let mut config = self.config().await?;
        config.auth_info = AuthInfo::default();
        client_of(config).await
    }

    async fn config(&self) -> Result<Config, Failure> {
        let options = KubeConfigOptions { context: self.context.clone(), ..KubeConfigOptions::default() };
        if let (None, Some((file, error))) = (&self.kubeconfig, broken()) {
            return Err(wrong(format!("the kubeconfig {} cannot be used", file.display()), &error));
        }
        let mut config = match (&self.kubeconfig, &self.context) {
            (Some(file), _) => {
                let what = || format!("the kubeconfig {} cannot be used", file.display());
                let kubeconfig = read_kubeconfig(file).map_err(|error| wrong(what(), &error))?;
                Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(|error| wrong(what(), &error))?
            }
            (None, Some(context)) => Config::from_kubeconfig(&options)
                .await
                .map_err(|error| wrong(format!("context {context} cannot be used"), &error))?,
            (None, None) => Config::infer().await.map_err(|error| wrong("no cluster is known".into(), &error))?,
        };
        config.cluster_url = without_secrets(&config.cluster_url);
        Ok(config)
    }
}

fn wrong(what: String, error: &(dyn Error + 'static)) -> Failure {
    let said = said(error);
    Failure::Usage(anyhow!("{what}: {said} (name one with --kubeconfig FILE or the variable KUBECONFIG)"))
}

/// A client with this configuration.
async fn client_of(mut config: Config) -> Result<Client, Failure> {
    let in_kubeconfig = |why: String| {
        Failure::Usage(anyhow!(
            "{why} (it is in the kubeconfig, named by --kubeconfig FILE or the variable KUBECONFIG)"
        ))
    };
    check(&config).map_err(in_kubeconfig)?;
    if config.accept_invalid_certs {
        UNCHECKED.call_once(|| {
            tracing::warn!(
                "The certificate of the API server is not checked: the kubeconfig says `insecure-skip-tls-verify`"
            );
        });
    }
    let token = TokenFile::taken(&mut config.auth_info).map_err(in_kubeconfig)?;
    let server = config.cluster_url.to_string();
    let plugin = config.auth_info.exec.as_ref().and_then(|exec| exec.command.clone());
    let is_given = plugin.is_some() || config.auth_info.auth_provider.is_some();
    // This runs the command of the kubeconfig's user, which may hang. Signals are handled in the meantime.
    let building = tokio::task::spawn_blocking(move || quietly(|| ClientBuilder::try_from(config)));
    let builder = waiting_for(|| command(plugin.as_deref()), building).await;
    let builder =
        builder.map_err(|error| Failure::Usage(anyhow!("no connection to the cluster can be made: {error}")))?;
    let builder = builder.ok_or_else(|| match is_given {
        // kube panics on such a token if it does not expire.
        true => Failure::Usage(anyhow!(NO_HEADER)),
        false => Failure::Work(anyhow!("no connection to the cluster can be made: kube has a defect")),
    })?;
    let builder = builder.map_err(|error| wrong("no connection to the cluster can be made".into(), &error))?;
    let builder = builder.with_layer(&MapRequestLayer::new(move |request| authorized(token.as_deref(), request)));
    Ok(builder.with_layer(&MapErrLayer::new(move |error| named(&server, error))).build())
}

/// One warning for a process that does not check the API server's certificate, whatever its number of clients and connections.
static UNCHECKED: Once = Once::new();

/// The error of a token that a command returned.
const NO_HEADER: &str = "the token that the command of the kubeconfig's user gives cannot be used: invalid header field value for \
     \"Authorization\": a token has no line breaks and no control characters, not even at its end: have the command print it without, \
     as in `printf %s TOKEN`";

/// A file with a token, read as kubectl reads it: without white space around the token, and again after at most a minute. kube would treat
/// the line break at the end of a file as a part of the token.
struct TokenFile {
    file: String,
    header: HeaderValue,
    read: Instant,
}

impl TokenFile {
    /// A file that is older than this is read again.
    const FRESH: Duration = Duration::from_secs(50);

    /// Uses the file of a user whose other credentials, if any, do not take precedence.
    fn taken(user: &mut AuthInfo) -> Result<Option<Arc<Mutex<Self>>>, String> {
        let has_password = user.username.is_some() && user.password.is_some();
        if user.auth_provider.is_some() || has_password || user.token.is_some() {
            return Ok(None);
        }
        let Some(file) = user.token_file.take() else { return Ok(None) };
        // The file takes precedence over the command.
        user.exec = None;
        let header = Self::header_of(&file)?;
        Ok(Some(Arc::new(Mutex::new(TokenFile { file, header, read: Instant::now() }))))
    }

    /// Returns the header with the token of a file. Errors do not contain the file's name: it may be a token in the wrong place.
    fn header_of(file: &str) -> Result<HeaderValue, String> {
        let text = files::read_text(Path::new(file))
            .map_err(|error| format!("the file that the user's `tokenFile` names cannot be read: {error}"))?;
        let token = text.trim();
        if token.is_empty() {
            return Err("the file that the user's `tokenFile` names is empty".to_owned());
        }
        let mut header = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| {
            format!("the token in the file that the user's `tokenFile` names cannot be used: {INVALID}: {WHY_INVALID}")
        })?;
        header.set_sensitive(true);
        Ok(header)
    }

    /// Returns the header for a request now. If the file cannot be read again, the last token stays.
    fn header(&mut self) -> HeaderValue {
        if self.read.elapsed() >= Self::FRESH {
            self.read = Instant::now();
            match Self::header_of(&self.file) {
                Ok(header) => self.header = header,
                Err(why) => tracing::warn!(why, "The token file cannot be read again: the previous token stays in use"),
            }
        }
        self.header.clone()
    }
}

/// Returns the request with the token of a file, if there is one.
fn authorized(token: Option<&Mutex<TokenFile>>, mut request: Request<Body>) -> Request<Body> {
    if let Some(token) = token {
        let header = token.lock().header();
        request.headers_mut().insert(AUTHORIZATION, header);
    }
    request
}

const INVALID: &str = "invalid header field value for \"Authorization\"";
const WHY_INVALID: &str = "a token has no line breaks and no control characters";

/// Checks values that kube does not check; with the first request it would panic. The messages are kubectl's, and contain no values.
fn check(config: &Config) -> Result<(), String> {
    let url = &config.cluster_url;
    if !matches!(url.scheme_str(), Some("https" | "http")) || url.authority().is_none() {
        return Err(
            "the cluster's `server` cannot be used: host must be a URL, such as https://10.0.0.1:6443".to_owned()
        );
    }
    let wrong = |what: &str| Err(format!("{what} cannot be used: {INVALID}: {WHY_INVALID}, not even at its end"));
    // Serialize the values as they were read, because the secret's own type hides them.
    let user = serde_json::to_value(&config.auth_info).unwrap_or_default();
    if user["token"].as_str().is_some_and(is_no_header) {
        return wrong("the user's `token`");
    }
    let provided = user["auth-provider"]["config"].as_object();
    if let Some((key, _)) = provided.into_iter().flatten().find(|(key, value)| {
        matches!(key.as_str(), "id-token" | "access-token") && value.as_str().is_some_and(is_no_header)
    }) {
        return wrong(&format!("the user's `auth-provider.config.{key}`"));
    }
    Ok(())
}

/// Returns only the server's address: kube does not send a URL's user and parameters, but logs both.
fn without_secrets(url: &Uri) -> Uri {
    let mut parts = url.clone().into_parts();
    let bare = |authority: &Authority| {
        let (_, host) = authority.as_str().rsplit_once('@')?;
        host.parse().ok()
    };
    if let Some(host) = parts.authority.as_ref().and_then(bare) {
        parts.authority = Some(host);
    }
    parts.path_and_query = parts.path_and_query.and_then(|both| both.path().parse().ok());
    Uri::from_parts(parts).unwrap_or_else(|_| url.clone())
}

/// Returns true if a token cannot be in a header.
fn is_no_header(token: &str) -> bool {
    token.bytes().any(|byte| (byte < b' ' && byte != b'\t') || byte == 0x7f)
}

/// Returns the reason for the wait while a client is created. It contains only the command's name, because the arguments may contain
/// secrets.
fn command(plugin: Option<&str>) -> String {
    match plugin.and_then(|plugin| plugin.split_whitespace().next()) {
        Some(plugin) => format!("the command `{plugin}` of the kubeconfig's user, which gets its credentials"),
        None => "the credentials of the kubeconfig's user".to_owned(),
    }
}

/// No connection to the API server. kube's own error names neither the server nor the reason.
#[derive(Debug)]
struct UnreachableServer {
    server: String,
    cause: String,
    source: BoxError,
}

impl fmt::Display for UnreachableServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the API server {} cannot be reached: {} (is it running, and does the kubeconfig name the right address?)",
            self.server, self.cause
        )
    }
}

impl Error for UnreachableServer {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

/// The kubeconfig's credentials are not available. kube's own error is left out: it contains a plugin's command and output.
#[derive(Debug)]
struct NoCredentials {
    why: String,
    /// The next attempt would fail, too.
    lasts: bool,
}

impl fmt::Display for NoCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl Error for NoCredentials {}

/// Returns true if a request failed because of credentials, in a way that no retry can fix.
pub(crate) fn lasts(error: &(dyn Error + 'static)) -> bool {
    causes(error).filter_map(|error| error.downcast_ref::<NoCredentials>()).any(|error| error.lasts)
}

/// Adds the address of the server to an error if there is no connection to it, and removes possible secrets.
fn named(server: &str, error: BoxError) -> BoxError {
    if let Some(error) = causes(&*error).find_map(auth_error) {
        let lasts = matches!(error, AuthError::InvalidBearerToken(_));
        return Box::new(NoCredentials { why: said_of(error), lasts });
    }
    let mut cause: &(dyn Error + 'static) = &*error;
    while !cause.downcast_ref::<hyper_util::client::legacy::Error>().is_some_and(|error| error.is_connect()) {
        match cause.source() {
            Some(source) => cause = source,
            None => return error,
        }
    }
    while let Some(source) = cause.source() {
        cause = source;
    }
    Box::new(UnreachableServer { server: without_user(server), cause: cause.to_string(), source: error })
}

/// Returns a URL without user, password and parameters.
fn without_user(server: &str) -> String {
    let server = server.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = server.split_once("://").unwrap_or(("", server));
    let authority = rest.find('/').unwrap_or(rest.len());
    match rest[..authority].rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
        None => server.to_owned(),
    }
    .trim_end_matches('/')
    .to_owned()
}

/// Reads a kubeconfig. Relative names of files in it are relative to its folder; if it comes from a pipe, to the current folder.
pub(crate) fn read_kubeconfig(file: &Path) -> Result<Kubeconfig, KubeconfigError> {
    let unread = |error| KubeconfigError::ReadConfig(error, file.to_path_buf());
    if files::is_pipe(file) {
        let text = files::read_text(file).map_err(unread)?;
        return Kubeconfig::from_yaml(&text);
    }
    files::check(file).map_err(unread)?;
    Kubeconfig::read_from(file)
}

/// Returns the first file in the variable KUBECONFIG that is not a kubeconfig: kube reports the error, but not the file.
pub(crate) fn broken() -> Option<(PathBuf, KubeconfigError)> {
    let named = std::env::var_os("KUBECONFIG")?;
    let named: Vec<PathBuf> = std::env::split_paths(&named).collect();
    named.into_iter().find_map(|file| {
        let error = match file.is_file() {
            true => read_kubeconfig(&file).err(),
            // A pipe can be read only once, and kube does that.
            false => files::check(&file).err().map(|error| KubeconfigError::ReadConfig(error, file.clone())),
        };
        error.map(|error| (file, error))
    })
}

/// The error and its causes.
fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'e (dyn Error + 'static)| (*error).source())
}

/// It is about credentials.
fn auth_error<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e AuthError> {
    match error.downcast_ref() {
        Some(kube::Error::Auth(error)) => Some(error),
        _ => error.downcast_ref(),
    }
}

/// Returns the reason why credentials are missing, without a command's arguments and output.
fn said_of(error: &AuthError) -> String {
    match error {
        AuthError::AuthExecStart(error) => format!("the command of the kubeconfig's user cannot be run: {error}"),
        AuthError::AuthExecRun { out, .. } => {
            format!("the command of the kubeconfig's user failed with {}: run it by hand to see why", out.status)
        }
        AuthError::AuthExecParse(_) | AuthError::ExecPluginFailed => {
            "the command of the kubeconfig's user has printed no ExecCredential: run it by hand to see what".to_owned()
        }
        AuthError::MissingCommand => "the kubeconfig's user has an `exec` without a command".to_owned(),
        AuthError::InvalidBearerToken(_) => NO_HEADER.to_owned(),
        AuthError::ReadTokenFile(error, _) => {
            format!("the file that the user's `tokenFile` names cannot be read: {error}")
        }
        _ => "the credentials of the kubeconfig's user cannot be used: see its section `user`".to_owned(),
    }
}

/// Formats an error about a kubeconfig without text from the file: quoted text that could not be parsed may be a token.
pub(crate) fn said(error: &(dyn Error + 'static)) -> String {
    for error in causes(error) {
        if let Some(error) = auth_error(error) {
            return said_of(error);
        }
        if let Some(
            kube::Error::ProxyProtocolUnsupported { proxy_url } | kube::Error::ProxyProtocolDisabled { proxy_url, .. },
        ) = error.downcast_ref()
        {
            let proxy = without_user(&proxy_url.to_string());
            return format!(
                "the proxy {proxy} of HTTPS_PROXY or the kubeconfig is not supported: name an http:// proxy"
            );
        }
        match error.downcast_ref() {
            Some(KubeconfigError::Parse(error)) => {
                return match error.location() {
                    Some(place) => format!("it is not a kubeconfig: line {}, column {}", place.line(), place.column()),
                    None => "it is not a kubeconfig".to_owned(),
                };
            }
            Some(KubeconfigError::ReadConfig(error, path)) => {
                // Only the file itself shows which line is not text.
                let encoding = files::read_text(path).err();
                return format!("{} cannot be read: {}", path.display(), encoding.as_ref().unwrap_or(error));
            }
            Some(KubeconfigError::CurrentContextNotSet) => {
                return "it has no current context: choose one with --context NAME".to_owned();
            }
            Some(KubeconfigError::LoadContext(name)) => {
                return format!("it has no context `{name}`: `kubectl config get-contexts` lists those that it has");
            }
            _ => {}
        }
    }
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::{
        AUTHORIZATION, AuthError, Body, HeaderValue, Request, TokenFile, authorized, lasts, named, said, without_user,
    };
    use kube::config::{AuthInfo, Kubeconfig};
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{ExitStatus, Output};

    #[test]
    fn the_address_of_a_server_is_shown_without_its_user() {
        for (url, shown) in [
            ("https://10.0.0.1:6443/", "https://10.0.0.1:6443"),
            ("https://u:TOPSECRET@10.0.0.1:6443/base", "https://10.0.0.1:6443/base"),
            ("https://u:TOP@SECRET@[::1]:6443", "https://[::1]:6443"),
            ("https://h/a@b", "https://h/a@b"),
            ("https://h/a?token=TOPSECRET", "https://h/a"),
        ] {
            assert_eq!(without_user(url), shown);
        }
    }

    fn checked(server: &str, user: &str) -> Result<(), String> {
        let mut config = kube::Config::new(server.parse().unwrap());
        config.auth_info = serde_json::from_str(user).unwrap();
        super::check(&config)
    }

    #[test]
    fn neither_a_user_nor_parameters_are_in_the_address_that_is_asked_and_logged() {
        for (url, bare) in [
            ("https://u:TOPSECRET@10.0.0.1:6443/base?token=TOPSECRET", "https://10.0.0.1:6443/base"),
            ("https://[::1]:6443", "https://[::1]:6443/"),
            ("u:TOPSECRET@h:1", "h:1"),
        ] {
            assert_eq!(super::without_secrets(&url.parse().unwrap()).to_string(), bare);
        }
    }

    #[test]
    fn a_server_without_a_scheme_is_refused_before_the_first_request() {
        for server in ["10.0.0.1:6443", "localhost", "u:TOPSECRET@h:6443", "ftp://h", "/path"] {
            let error = checked(server, "{}").unwrap_err();
            assert!(error.contains("host must be a URL") && !error.contains("TOPSECRET"), "{server}: {error}");
        }
        for server in ["https://10.0.0.1:6443", "http://[::1]:8080/base"] {
            assert_eq!(checked(server, "{}"), Ok(()), "{server}");
        }
    }

    #[test]
    fn a_token_that_no_header_can_have_is_refused_before_the_first_request() {
        for (user, key) in [
            (r#"{"token": "TOPSECRET\n"}"#, "the user's `token`"),
            (r#"{"token": "TOP\u0000SECRET"}"#, "the user's `token`"),
            (
                r#"{"auth-provider": {"name": "oidc", "config": {"id-token": "TOPSECRET\r\n"}}}"#,
                "`auth-provider.config.id-token`",
            ),
        ] {
            let error = checked("https://h", user).unwrap_err();
            assert!(
                error.contains("invalid header field value for \"Authorization\"") && error.contains(key),
                "{error}"
            );
            assert!(!error.contains("TOPSECRET"), "{error}");
        }
        for user in [r#"{"token": "TOPSECRET"}"#, "{}", r#"{"tokenFile": "/none/token"}"#] {
            assert_eq!(checked("https://h", user), Ok(()), "{user}");
        }
    }

    fn user(text: &str) -> AuthInfo {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_token_of_a_file_is_sent_without_white_space_and_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        std::fs::write(&file, "  FIRST\r\n\n").unwrap();
        // As in kube, a file takes precedence over a command.
        let text = serde_json::json!({ "tokenFile": file, "exec": {"command": "none"} }).to_string();
        let mut user = user(&text);
        let token = TokenFile::taken(&mut user).unwrap().unwrap();
        assert!(user.token_file.is_none() && user.exec.is_none());
        let sent = || {
            let request = authorized(Some(&token), Request::new(Body::empty()));
            let header: &HeaderValue = &request.headers()[AUTHORIZATION];
            assert!(header.is_sensitive());
            header.to_str().unwrap().to_owned()
        };
        assert_eq!(sent(), "Bearer FIRST");
        std::fs::write(&file, "SECOND\n").unwrap();
        assert_eq!(sent(), "Bearer FIRST", "it is fresh");
        let ages = || {
            let mut token = token.lock();
            token.read = token.read.checked_sub(TokenFile::FRESH).unwrap();
        };
        ages();
        assert_eq!(sent(), "Bearer SECOND");
        // An unusable file does not replace it.
        for broken in ["", "A\nB"] {
            std::fs::write(&file, broken).unwrap();
            ages();
            assert_eq!(sent(), "Bearer SECOND");
        }
        assert!(authorized(None, Request::new(Body::empty())).headers().is_empty());
    }

    #[test]
    fn what_comes_before_the_token_of_a_file_is_left_to_kube() {
        for other in [
            r#"{"tokenFile": "f", "token": "t"}"#,
            r#"{"tokenFile": "f", "username": "u", "password": "p"}"#,
            r#"{"tokenFile": "f", "auth-provider": {"name": "oidc", "config": {}}}"#,
            "{}",
        ] {
            assert!(TokenFile::taken(&mut user(other)).unwrap().is_none(), "{other}");
        }
    }

    #[test]
    fn a_token_in_the_place_of_its_file_is_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("TOPSECRET");
        let of_file = serde_json::json!({ "tokenFile": file }).to_string();
        let long = serde_json::json!({ "tokenFile": "TOPSECRET".repeat(100) }).to_string();
        let error = |user: &AuthInfo| TokenFile::taken(&mut user.clone()).err().unwrap();
        let mut errors =
            vec![error(&user(r#"{"tokenFile": "TOPSECRET"}"#)), error(&user(&long)), error(&user(&of_file))];
        for content in ["TOP\nSECRET", "TOPSECRET\0", "\n"] {
            std::fs::write(&file, content).unwrap();
            errors.push(error(&user(&of_file)));
        }
        let by_kube = AuthError::ReadTokenFile(std::io::Error::other("no"), "TOPSECRET".into());
        errors.push(said(&kube::Error::Auth(by_kube)));
        for error in errors {
            assert!(error.contains("`tokenFile`"), "{error}");
            assert!(!error.contains("TOP") && !error.contains("SECRET"), "{error}");
        }
    }

    #[test]
    fn a_token_of_a_command_that_no_header_can_have_is_not_tried_again() {
        let invalid = || HeaderValue::try_from("TOPSECRET\n").unwrap_err();
        let error = named("https://10.0.0.1:6443", Box::new(AuthError::InvalidBearerToken(invalid())));
        assert!(lasts(&*error), "{error:?}");
        for says in ["the command of the kubeconfig's user", "invalid header field value", "`printf %s TOKEN`"] {
            assert!(error.to_string().contains(says), "{error}");
        }
        assert!(!format!("{error} {error:?}").contains("TOPSECRET"));
        let service = kube::Error::Service(error);
        assert!(lasts(&service), "{service:?}");
        let other = named("https://10.0.0.1:6443", Box::new(AuthError::ExecPluginFailed));
        assert!(!lasts(&*other), "{other:?}");
    }

    #[test]
    fn neither_the_command_of_a_plugin_nor_its_output_is_shown() {
        let failed = || {
            let stdout = b"TOPSECRET".to_vec();
            let stderr = b"TOPSECRET".to_vec();
            let out = Box::new(Output { status: ExitStatus::from_raw(256), stdout, stderr });
            kube::Error::Auth(AuthError::AuthExecRun { cmd: "login --secret=TOPSECRET".to_owned(), out })
        };
        let builder = said(&failed());
        let request = named("https://10.0.0.1:6443", Box::new(failed()));
        for text in [builder, format!("{request} {request:?}")] {
            assert!(text.contains("exit status: 1: run it by hand") && !text.contains("TOPSECRET"), "{text}");
        }
        let output = AuthError::AuthExec("TOPSECRET".to_owned());
        assert!(!said(&output).contains("TOPSECRET"));
    }

    #[test]
    fn a_proxy_is_shown_without_its_password() {
        let proxy_url = Box::new("ftp://u:TOPSECRET@proxy:3128/".parse().unwrap());
        let text = said(&kube::Error::ProxyProtocolUnsupported { proxy_url });
        assert!(text.contains("ftp://proxy:3128") && !text.contains("TOPSECRET"), "{text}");
    }

    #[test]
    fn nothing_of_a_kubeconfig_is_shown_but_the_place() {
        for text in [
            "users:\n- name: me\n  user: {token: SECRET, token: SECRET}\n",
            "users:\n- name: me\n  user: token: SECRET\n",
            "users:\n- name: me\n  user: [SECRET]\n",
            "users: {SECRET\n",
            "users: SECRET",
            "SECRET",
        ] {
            let error = Kubeconfig::from_yaml(text).unwrap_err();
            let said = said(&error);
            assert!(!said.contains("SECRET") && said.starts_with("it is not a kubeconfig"), "{text}: {said}");
        }
        let error = Kubeconfig::from_yaml("users:\n- name: me\n  user: [SECRET]\n").unwrap_err();
        assert!(said(&error).ends_with("line 3, column 9"), "{}", said(&error));
        let absent = Kubeconfig::read_from("none/kubeconfig").unwrap_err();
        assert!(said(&absent).contains("none/kubeconfig"), "{}", said(&absent));
    }
}
