//! `ingester kubeconfig`: a kubeconfig that points at an `ingester serve`.
//!
//! Its credentials are given, never guessed: a user's name in another file, a file with a token, or the credentials of another kubeconfig.

use crate::arguments::Kubeconfig;
use crate::cluster::{broken, read_kubeconfig, said};
use crate::ending::{Ending, Failure};
use crate::output::{note, print};
use anyhow::anyhow;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ingester_store::files;
use kube::config::{self, AuthInfo, Context};
use serde_json::{Map, Value as Json, json};
use std::path::Path;

/// The parts of a user's entry without secrets: commands that are run, and names of files.
const REFERENCES: [&str; 4] = ["exec", "tokenFile", "client-certificate", "client-key"];

/// The inputs of a command, which may be secret.
const GIVEN: [&str; 2] = ["args", "env"];

/// The parts that are secret, or belong to a secret.
const SECRETS: [&str; 4] = ["token", "client-certificate-data", "client-key-data", "auth-provider"];

/// The parts for impersonation.
const IMPERSONATIONS: [&str; 4] = ["as", "as-uid", "as-groups", "as-user-extra"];

pub(crate) fn run(arguments: &Kubeconfig) -> Result<Ending, Failure> {
    let name = &arguments.name;
    let cluster = cluster(arguments)?;
    let (user, namespace) = match (&arguments.token_file, &arguments.from) {
        (Some(file), _) => (Some(json!({ "tokenFile": absolute(file)? })), None),
        (None, Some(file)) => {
            let (user, context) = other(file.as_deref(), arguments.context.as_deref())?;
            (Some(copied(&user.1, &user.0, arguments.embed_credentials)?), context.namespace)
        }
        (None, None) => (None, None),
    };
    let mut context = json!({ "cluster": name });
    match (&arguments.user, &user) {
        (Some(other), _) => context["user"] = json!(other),
        (None, Some(_)) => context["user"] = json!(name),
        (None, None) => {
            if arguments.server.starts_with("https:") {
                note("it has no user: give --user, --token-file or --from, or pass a --token to kubectl");
            }
        }
    }
    if let Some(namespace) = arguments.namespace.clone().or(namespace) {
        context["namespace"] = json!(namespace);
    }
    let mut kubeconfig = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": name, "cluster": cluster }],
        "contexts": [{ "name": name, "context": context }],
        "current-context": name,
    });
    if let Some(user) = user {
        kubeconfig["users"] = json!([{ "name": name, "user": user }]);
    }
    print(&ingester_declare::yaml::to_string(&kubeconfig).map_err(anyhow::Error::from)?)?;
    Ok(Ending::Done)
}

/// Returns the address of the server, with its authentication.
fn cluster(arguments: &Kubeconfig) -> Result<Json, Failure> {
    let server = arguments.server.trim_end_matches('/');
    // The URL may contain a password.
    let wrong = |why: &str| Err(Failure::Usage(anyhow!("--server: {why}")));
    let (is_secure, rest) = match (server.strip_prefix("https://"), server.strip_prefix("http://")) {
        (Some(rest), _) => (true, rest),
        (None, Some(rest)) => (false, rest),
        (None, None) => return wrong("expected https://HOST:PORT"),
    };
    let authority = rest.split('/').next().unwrap_or_default();
    if authority.is_empty() || rest.contains(|c: char| c.is_whitespace() || matches!(c, '?' | '#' | '@')) {
        return wrong("expected https://HOST:PORT, and perhaps a path");
    }
    let mut cluster = json!({ "server": server });
    if !is_secure {
        if !is_loopback(authority) {
            return wrong(
                "http:// is only for a server on this machine (http://127.0.0.1:PORT): without TLS, others could read the requests",
            );
        }
        if arguments.certificate_authority.is_some() || arguments.tls_server_name.is_some() {
            return wrong("there is no certificate without TLS");
        }
    }
    if let Some(file) = &arguments.certificate_authority {
        let shown = file.display();
        let unread = |error| Failure::Usage(anyhow!("cannot read {shown}: {error}"));
        let pem = files::read(file).map_err(unread)?;
        let text = String::from_utf8_lossy(&pem);
        if text.contains("PRIVATE KEY-----") {
            return Err(Failure::Usage(anyhow!(
                "{shown} has a private key: give only the certificate of the authority"
            )));
        }
        if !text.contains("-----BEGIN CERTIFICATE-----") {
            return Err(Failure::Usage(anyhow!("{shown} has no certificate in PEM")));
        }
        cluster["certificate-authority-data"] = json!(STANDARD.encode(&pem));
    }
    if let Some(name) = &arguments.tls_server_name {
        cluster["tls-server-name"] = json!(name);
    }
    Ok(cluster)
}

/// Returns true if a host, with or without a port, is this machine.
fn is_loopback(authority: &str) -> bool {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    host == "localhost"
        || host == "[::1]"
        || host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

fn absolute(file: &Path) -> Result<String, Failure> {
    let path = std::path::absolute(file).map_err(|error| Failure::Usage(anyhow!("{}: {error}", file.display())))?;
    path.to_str().map(str::to_owned).ok_or_else(|| Failure::Usage(anyhow!("{} is not UTF-8", path.display())))
}

/// Returns the user, with its name, and the context of another kubeconfig: of this file, otherwise the one that kubectl uses.
fn other(file: Option<&Path>, context: Option<&str>) -> Result<((String, AuthInfo), Context), Failure> {
    let usage = |message: String| Failure::Usage(anyhow!("--from: {message}"));
    let kubeconfig = match file {
        // Relative names of files must work from anywhere.
        Some(file) => read_kubeconfig(Path::new(&absolute(file)?)),
        None => match broken() {
            Some((_, error)) => Err(error),
            None => config::Kubeconfig::read(),
        },
    };
    let kubeconfig = kubeconfig.map_err(|error| usage(said(&error)))?;
    let name = context.map(str::to_owned).or(kubeconfig.current_context);
    let name = name.ok_or_else(|| usage("it has no current context: name one with --context".into()))?;
    let known: Vec<String> = kubeconfig.contexts.iter().map(|named| format!("`{}`", named.name)).collect();
    let named = kubeconfig.contexts.into_iter().find(|named| named.name == name);
    let context = named.and_then(|named| named.context);
    let context = context.ok_or_else(|| usage(format!("it has no context `{name}`; it has {}", known.join(", "))))?;
    let user = context.user.clone().unwrap_or_default();
    let named = kubeconfig.auth_infos.into_iter().find(|named| named.name == user);
    let info = named.and_then(|named| named.auth_info);
    let info = info.ok_or_else(|| usage(format!("the context `{name}` names a user that is not in it")))?;
    Ok(((user, info), context))
}

/// Returns the parts that are copied from a user's entry.
fn copied(info: &AuthInfo, name: &str, embed: bool) -> Result<Json, Failure> {
    let entry = serde_json::to_value(info).map_err(anyhow::Error::from)?;
    let has = |keys: &[&'static str]| -> Vec<&str> {
        keys.iter().copied().filter(|key| entry.get(key).is_some_and(|value| !value.is_null())).collect()
    };
    let usage = |why: String| Err(Failure::Usage(anyhow!("the user `{name}` {why}")));
    if let [key, ..] = has(&IMPERSONATIONS)[..] {
        return usage(format!("impersonates another user (`{key}`), which `ingester serve` refuses"));
    }
    let references = has(&REFERENCES);
    let secrets = has(&SECRETS);
    // A certificate is useless without its key, and the other way round.
    let lacks_a_half = references.contains(&"client-certificate") != references.contains(&"client-key");
    if !secrets.is_empty() && !embed && (references.is_empty() || lacks_a_half) {
        let keys = secrets.join(", ");
        return usage(format!("has its credentials in the file itself ({keys}): --embed-credentials copies them"));
    }
    if !embed {
        let exec = &entry["exec"];
        let given: Vec<String> = GIVEN
            .iter()
            .filter(|key| exec[**key].as_array().is_some_and(|values| !values.is_empty()))
            .map(|key| format!("exec.{key}"))
            .collect();
        if !given.is_empty() {
            let keys = given.join(", ");
            return usage(format!(
                "gives its command values that may be secret ({keys}): --embed-credentials copies them, or name the user with --user and keep its kubeconfig, too"
            ));
        }
    }
    let taken = references.into_iter().chain(if embed { secrets } else { Vec::new() });
    let user: Map<String, Json> = taken.map(|key| (key.to_owned(), entry[key].clone())).collect();
    if user.is_empty() {
        return usage(
            "has no credentials that `ingester serve` takes: a token, a command that gets one, a certificate".into(),
        );
    }
    Ok(Json::Object(user))
}
