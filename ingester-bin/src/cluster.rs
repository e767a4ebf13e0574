//! The cluster, found as kubectl finds it.
//!
//! May use: arguments, ending, ingester-store.

use crate::arguments::Cluster;
use crate::ending::Failure;
use anyhow::anyhow;
use http::Uri;
use http::uri::Authority;
use ingester_store::waiting_for;
use kube::client::{AuthError, ClientBuilder};
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use tower::BoxError;
use tower::util::MapErrLayer;

impl Cluster {
    /// Whether the arguments name one.
    pub(crate) fn is_named(&self) -> bool {
        self.kubeconfig.is_some() || self.context.is_some()
    }

    /// A client of the cluster that the arguments, the environment, or the pod's service account name.
    pub(crate) async fn client(&self) -> Result<Client, Failure> {
        let options = KubeConfigOptions { context: self.context.clone(), ..KubeConfigOptions::default() };
        let wrong = |what: String, error: &(dyn Error + 'static)| {
            let said = said(error);
            Failure::Usage(anyhow!("{what}: {said} (name one with --kubeconfig FILE or the variable KUBECONFIG)"))
        };
        if let (None, Some((file, error))) = (&self.kubeconfig, broken()) {
            return Err(wrong(format!("the kubeconfig {} cannot be used", file.display()), &error));
        }
        let mut config = match (&self.kubeconfig, &self.context) {
            (Some(file), _) => {
                let what = || format!("the kubeconfig {} cannot be used", file.display());
                let kubeconfig = Kubeconfig::read_from(file).map_err(|error| wrong(what(), &error))?;
                Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(|error| wrong(what(), &error))?
            }
            (None, Some(context)) => Config::from_kubeconfig(&options)
                .await
                .map_err(|error| wrong(format!("context {context} cannot be used"), &error))?,
            (None, None) => Config::infer().await.map_err(|error| wrong("no cluster is known".into(), &error))?,
        };
        config.cluster_url = without_secrets(&config.cluster_url);
        check(&config).map_err(|why| {
            Failure::Usage(anyhow!(
                "{why} (it is in the kubeconfig, named by --kubeconfig FILE or the variable KUBECONFIG)"
            ))
        })?;
        let server = config.cluster_url.to_string();
        let plugin = config.auth_info.exec.as_ref().and_then(|exec| exec.command.clone());
        // It runs the command of the kubeconfig's user, which may hang: signals are heard meanwhile.
        let building = tokio::task::spawn_blocking(move || ClientBuilder::try_from(config));
        let builder = waiting_for(|| command(plugin.as_deref()), building).await;
        let builder =
            builder.map_err(|error| Failure::Usage(anyhow!("no connection to the cluster can be made: {error}")))?;
        let builder = builder.map_err(|error| wrong("no connection to the cluster can be made".into(), &error))?;
        Ok(builder.with_layer(&MapErrLayer::new(move |error| named(&server, error))).build())
    }
}

/// Checks what kube takes as it is, and panics on with the first request. In the words of kubectl; no value is in them.
fn check(config: &Config) -> Result<(), String> {
    let url = &config.cluster_url;
    if !matches!(url.scheme_str(), Some("https" | "http")) || url.authority().is_none() {
        return Err(
            "the cluster's `server` cannot be used: host must be a URL, such as https://10.0.0.1:6443".to_owned()
        );
    }
    let wrong = |what: &str, why: &str| {
        Err(format!("{what} cannot be used: invalid header field value for \"Authorization\": {why}"))
    };
    let why = "a token has no line breaks and no control characters, not even at its end";
    // Written out as it was read: the secret's own type hides it.
    let user = serde_json::to_value(&config.auth_info).unwrap_or_default();
    if user["token"].as_str().is_some_and(is_no_header) {
        return wrong("the user's `token`", why);
    }
    let provided = user["auth-provider"]["config"].as_object();
    if let Some((key, _)) = provided.into_iter().flatten().find(|(key, value)| {
        matches!(key.as_str(), "id-token" | "access-token") && value.as_str().is_some_and(is_no_header)
    }) {
        return wrong(&format!("the user's `auth-provider.config.{key}`"), why);
    }
    // As with kube, an inline token comes first. A file that cannot be read is reported by the client that reads it.
    if let (None, Some(file)) = (user["token"].as_str(), &config.auth_info.token_file)
        && let Ok(token) = std::fs::read_to_string(file)
        && is_no_header(&token)
    {
        return wrong(&format!("the token file {file}"), &format!("{why}: write it without, as in `printf %s TOKEN`"));
    }
    Ok(())
}

/// The address of the server alone: kube sends neither the user nor the parameters that a URL may have, and logs both.
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

/// Whether a token cannot be in a header.
fn is_no_header(token: &str) -> bool {
    token.bytes().any(|byte| (byte < b' ' && byte != b'\t') || byte == 0x7f)
}

/// What is waited for while a client is made. Of the command only its name: its arguments may have secrets.
fn command(plugin: Option<&str>) -> String {
    match plugin.and_then(|plugin| plugin.split_whitespace().next()) {
        Some(plugin) => format!("the command `{plugin}` of the kubeconfig's user, which gets its credentials"),
        None => "the credentials of the kubeconfig's user".to_owned(),
    }
}

/// No connection to the API server. kube's own error says neither to which nor why.
#[derive(Debug)]
struct NotReached {
    server: String,
    cause: String,
    source: BoxError,
}

impl fmt::Display for NotReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the API server {} cannot be reached: {} (is it running, and does the kubeconfig name the right address?)",
            self.server, self.cause
        )
    }
}

impl Error for NotReached {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

/// The credentials of the kubeconfig cannot be had. kube's own error is left out: it has the command of a plugin and its output.
#[derive(Debug)]
struct NoCredentials(String);

impl fmt::Display for NoCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for NoCredentials {}

/// The error with the address of the server, if there is no connection to it, and without what may be secret.
fn named(server: &str, error: BoxError) -> BoxError {
    if let Some(error) = causes(&*error).find_map(auth_error) {
        return Box::new(NoCredentials(said_of(error)));
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
    Box::new(NotReached { server: without_user(server), cause: cause.to_string(), source: error })
}

/// A URL without the user and password that it may have, and without parameters.
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

/// The first file of the variable KUBECONFIG that is no kubeconfig: kube says what is wrong, and not in which.
fn broken() -> Option<(PathBuf, KubeconfigError)> {
    let files = std::env::var_os("KUBECONFIG")?;
    let files: Vec<PathBuf> = std::env::split_paths(&files).filter(|file| file.is_file()).collect();
    files.into_iter().find_map(|file| Kubeconfig::read_from(&file).err().map(|error| (file, error)))
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

/// Why there are no credentials, without a word of what a command was given or has printed.
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
        AuthError::ReadTokenFile(error, file) => format!("the token file {} cannot be read: {error}", file.display()),
        _ => "the credentials of the kubeconfig's user cannot be used: see its section `user`".to_owned(),
    }
}

/// What an error says about a kubeconfig, without a word of the file: what is quoted where it cannot be read may be a token.
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
                "the proxy {proxy} of HTTPS_PROXY or the kubeconfig is of no kind that can be used: name an http:// one"
            );
        }
        match error.downcast_ref() {
            Some(KubeconfigError::Parse(error)) => {
                return match error.location() {
                    Some(place) => format!("it is no kubeconfig: line {}, column {}", place.line(), place.column()),
                    None => "it is no kubeconfig".to_owned(),
                };
            }
            Some(KubeconfigError::ReadConfig(error, path)) => {
                return format!("{} cannot be read: {error}", path.display());
            }
            Some(KubeconfigError::CurrentContextNotSet) => {
                return "it has no current context: choose one with --context NAME".to_owned();
            }
            Some(KubeconfigError::LoadContext(name)) => return format!("it has no context `{name}`"),
            _ => {}
        }
    }
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::{AuthError, named, said, without_user};
    use kube::config::Kubeconfig;
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
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        std::fs::write(&file, "TOPSECRET\n").unwrap();
        let of_file = serde_json::json!({ "tokenFile": file }).to_string();
        for (user, key) in [
            (r#"{"token": "TOPSECRET\n"}"#, "the user's `token`"),
            (r#"{"token": "TOP\u0000SECRET"}"#, "the user's `token`"),
            (
                r#"{"auth-provider": {"name": "oidc", "config": {"id-token": "TOPSECRET\r\n"}}}"#,
                "`auth-provider.config.id-token`",
            ),
            (&of_file, "token"),
        ] {
            let error = checked("https://h", user).unwrap_err();
            assert!(
                error.contains("invalid header field value for \"Authorization\"") && error.contains(key),
                "{error}"
            );
            assert!(!error.contains("TOPSECRET"), "{error}");
        }
        std::fs::write(&file, "TOPSECRET").unwrap();
        for user in [r#"{"token": "TOPSECRET"}"#, &of_file, "{}", r#"{"tokenFile": "/none/token"}"#] {
            assert_eq!(checked("https://h", user), Ok(()), "{user}");
        }
    }

    #[test]
    fn neither_the_command_of_a_plugin_nor_its_output_is_shown() {
        let failed = || {
            let (stdout, stderr) = (b"TOPSECRET".to_vec(), b"TOPSECRET".to_vec());
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
            assert!(!said.contains("SECRET") && said.starts_with("it is no kubeconfig"), "{text}: {said}");
        }
        let error = Kubeconfig::from_yaml("users:\n- name: me\n  user: [SECRET]\n").unwrap_err();
        assert!(said(&error).ends_with("line 3, column 9"), "{}", said(&error));
        let absent = Kubeconfig::read_from("none/kubeconfig").unwrap_err();
        assert!(said(&absent).contains("none/kubeconfig"), "{}", said(&absent));
    }
}
