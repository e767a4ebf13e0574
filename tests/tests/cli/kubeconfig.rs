//! Kubeconfigs that point at a server.

use crate::program::{Folder, finish};
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::{Value, json};

const SERVER: [&str; 3] = ["kubeconfig", "--server", "https://mirror.example.com:8443"];
const CA: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

/// A kubeconfig with users of each sort; `exec` is current.
const OTHERS: &str = r#"
apiVersion: v1
kind: Config
current-context: exec
clusters:
- {name: c, cluster: {server: "https://cluster.example.com"}}
contexts:
- {name: exec, context: {cluster: c, user: exec, namespace: ml}}
- {name: bare, context: {cluster: c, user: bare}}
- {name: file, context: {cluster: c, user: file}}
- {name: token, context: {cluster: c, user: token}}
- {name: key, context: {cluster: c, user: key}}
- {name: half, context: {cluster: c, user: half}}
- {name: both, context: {cluster: c, user: both}}
- {name: basic, context: {cluster: c, user: basic}}
- {name: other, context: {cluster: c, user: other}}
- {name: none, context: {cluster: c, user: none}}
users:
- name: exec
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: ./get-token, args: [--for, secret-6], env: [{name: KEY, value: secret-7}], interactiveMode: IfAvailable, provideClusterInfo: false}
- {name: bare, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./get-token, interactiveMode: IfAvailable}}}
- {name: file, user: {tokenFile: secrets/token}}
- {name: token, user: {token: secret-1}}
- {name: key, user: {client-certificate-data: c2VjcmV0LTI=, client-key-data: c2VjcmV0LTM=}}
- {name: half, user: {client-certificate: me.crt, client-key-data: c2VjcmV0LTM=}}
- {name: both, user: {tokenFile: secrets/token, token: secret-4}}
- {name: basic, user: {username: me, password: secret-5}}
- {name: other, user: {tokenFile: secrets/token, as: admin}}
"#;

impl Folder {
    /// The output for a server, with further arguments.
    #[track_caller]
    fn kubeconfig(&self, arguments: &[&str]) -> Value {
        let out = self.run(&[&SERVER[..], arguments].concat()).exits(0).out;
        serde_saphyr::from_str(&out).unwrap()
    }
}

fn others() -> Folder {
    let folder = Folder::new();
    folder.write("conf/config", OTHERS);
    folder
}

#[test]
fn a_kubeconfig_points_at_the_server_and_has_its_authority() {
    let folder = Folder::new();
    folder.write("ca.crt", CA);
    folder.write("token", "t");
    let made = folder.kubeconfig(&[
        "--certificate-authority",
        "ca.crt",
        "--name",
        "mirror",
        "-n",
        "ml",
        "--token-file",
        "token",
        "--tls-server-name",
        "ingester-server.ingester.svc",
    ]);
    let token = folder.path().join("token");
    assert_eq!(
        made,
        json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "mirror",
            "clusters": [{
                "name": "mirror",
                "cluster": {
                    "server": "https://mirror.example.com:8443",
                    "certificate-authority-data": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCkFBQUEKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=",
                    "tls-server-name": "ingester-server.ingester.svc",
                },
            }],
            "contexts": [{"name": "mirror", "context": {"cluster": "mirror", "user": "mirror", "namespace": "ml"}}],
            "users": [{"name": "mirror", "user": {"tokenFile": token.to_str().unwrap()}}],
        })
    );
}

#[tokio::test]
async fn a_client_takes_the_kubeconfig_as_it_is_printed() {
    let folder = others();
    let options = KubeConfigOptions::default();
    for (arguments, url, namespace) in [
        (&["--server", "http://127.0.0.1:8001/"][..], "http://127.0.0.1:8001/", "default"),
        (&["--server", "http://[::1]:8001"], "http://[::1]:8001/", "default"),
        (
            &["--server", "https://example.com/mirror", "--from", "conf/config", "--embed-credentials"],
            "https://example.com/mirror",
            "ml",
        ),
    ] {
        let out = folder.run(&[&["kubeconfig"], arguments].concat()).exits(0).out;
        let config = Kubeconfig::from_yaml(&out).unwrap();
        let config = kube::Config::from_custom_kubeconfig(config, &options).await.unwrap();
        assert_eq!((config.cluster_url.to_string().as_str(), config.default_namespace.as_str()), (url, namespace));
    }
}

#[test]
fn a_user_of_another_kubeconfig_is_copied_without_its_secrets() {
    let folder = others();
    let user = |arguments: &[&str]| {
        let made = folder.kubeconfig(&[&["--from", "conf/config"], arguments].concat());
        assert_eq!(made["contexts"][0]["context"]["user"], "ingester");
        made["users"][0]["user"].clone()
    };
    let path = |name: &str| folder.path().join("conf").join(name).to_str().unwrap().to_owned();
    let bare = user(&["--context", "bare"]);
    assert_eq!(bare["exec"]["command"], json!(path("./get-token")));
    // The inputs of a command may be secret, too.
    let ran = folder.run(&[&SERVER[..], &["--from", "conf/config"]].concat()).exits(2);
    assert!(ran.out.is_empty() && !ran.err.contains("secret-"), "{}{}", ran.out, ran.err);
    ran.says(&["gives its command values that may be secret (exec.args, exec.env)", "--embed-credentials copies them"]);
    let exec = user(&["--embed-credentials"]);
    assert_eq!(
        (&exec["exec"]["command"], &exec["exec"]["args"], &exec["exec"]["env"][0]["value"]),
        (&json!(path("./get-token")), &json!(["--for", "secret-6"]), &json!("secret-7"))
    );
    assert_eq!(user(&["--context", "file"]), json!({"tokenFile": path("secrets/token")}));
    assert_eq!(user(&["--context", "both"]), json!({"tokenFile": path("secrets/token")}));
    // Only if that is asked for.
    for context in ["token", "key", "half"] {
        let ran = folder.run(&[&SERVER[..], &["--from", "conf/config", "--context", context]].concat()).exits(2);
        assert_eq!(ran.out, "");
        assert!(!ran.err.contains("secret-") && !ran.err.contains("c2Vj"), "{}", ran.err);
        ran.says(&["has its credentials in the file itself", "--embed-credentials copies them"]);
    }
    assert_eq!(user(&["--context", "token", "--embed-credentials"]), json!({"token": "secret-1"}));
    let key = json!({"client-certificate-data": "c2VjcmV0LTI=", "client-key-data": "c2VjcmV0LTM="});
    assert_eq!(user(&["--context", "key", "--embed-credentials"]), key);
    let half = json!({"client-certificate": path("me.crt"), "client-key-data": "c2VjcmV0LTM="});
    assert_eq!(user(&["--context", "half", "--embed-credentials"]), half);
}

#[test]
fn without_a_file_the_kubeconfig_of_kubectl_is_taken() {
    let folder = others();
    let mut command = folder.command(&[&SERVER[..], &["--from", "--context", "file"]].concat());
    let out = finish(command.env("KUBECONFIG", folder.path().join("conf/config"))).exits(0).out;
    assert!(out.contains("/conf/secrets/token"), "{out}");
}

#[test]
fn a_user_may_be_named_or_left_out() {
    let folder = Folder::new();
    let made = folder.kubeconfig(&["--user", "oidc"]);
    assert_eq!((&made["contexts"][0]["context"]["user"], made.get("users")), (&json!("oidc"), None));
    let ran = folder.run(&SERVER).exits(0).says(&["it has no user"]);
    assert!(!ran.out.contains("user"), "{}", ran.out);
    let loopback = folder.run(&["kubeconfig", "--server", "http://localhost:8001"]).exits(0);
    assert_eq!(loopback.err, "");
}

#[test]
fn a_kubeconfig_that_would_not_work_is_refused() {
    let folder = others();
    folder.write("ca.crt", CA);
    folder.write("both.pem", format!("{CA}-----BEGIN PRIVATE KEY-----\n"));
    folder.write("none.pem", "no");
    folder.write("latin1", b"apiVersion: v1\n# caf\xe9\n");
    for (arguments, said) in [
        (&["--server", "mirror.example.com"][..], "expected https://HOST:PORT"),
        (&["--server", "https://"], "expected https://HOST:PORT"),
        (&["--server", "https://me:secret@example.com"], "expected https://HOST:PORT"),
        (&["--server", "http://mirror.example.com"], "is only for a server on this machine"),
        (&["--server", "http://127.0.0.1.example.com"], "is only for a server on this machine"),
        (
            &["--server", "http://127.0.0.1:1", "--certificate-authority", "ca.crt"],
            "there is no certificate without TLS",
        ),
        (&["--server", "https://a", "--certificate-authority", "both.pem"], "both.pem has a private key"),
        (&["--server", "https://a", "--certificate-authority", "none.pem"], "none.pem has no certificate in PEM"),
        (&["--server", "https://a", "--certificate-authority", "gone.pem"], "cannot read gone.pem"),
        (&["--server", "https://a", "--from", "conf/gone"], "--from: "),
        (
            &["--server", "https://a", "--from", "latin1"],
            "latin1 cannot be read: line 2 is not UTF-8; convert it: iconv",
        ),
        (
            &["--server", "https://a", "--from", "conf/config", "--context", "gone"],
            "it has no context `gone`; it has `",
        ),
        (&["--server", "https://a", "--from", "conf/config", "--context", "none"], "names a user that is not in it"),
        (&["--server", "https://a", "--from", "conf/config", "--context", "basic"], "has no credentials that"),
        (&["--server", "https://a", "--from", "conf/config", "--context", "other"], "impersonates another user (`as`)"),
        (&["--server", "https://a", "--from", "conf/config", "--user", "me"], "cannot be used with"),
        (&["--server", "https://a", "--embed-credentials"], "--from"),
        (&["--server", "https://a", "--name", ""], "--name"),
    ] {
        let ran = folder.run(&[&["kubeconfig"], arguments].concat()).exits(2).says(&[said]);
        assert!(!ran.err.contains("secret"), "{}", ran.err);
    }
}
