//! Authentication and rights, by a real API server: tokens, client certificates, the API server as front proxy.

use crate::server::{Fate, model, store};
use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{Method, Request};
use ingester_store::{ConnectOptions, Store};
use ingester_tests::{ApiServer, install};
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::Client;
use kube::api::{Api, DeleteParams, DynamicObject, PostParams};
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::{ApiResource, GroupVersionKind};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use serde_json::{Value as Json, json};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// The models of the namespace in which the readers may read.
pub(crate) const ML: &str = "/apis/michelangelo.api/v2/namespaces/ml/models";
/// The models of another namespace.
const LAB: &str = "/apis/michelangelo.api/v2/namespaces/lab/models";
/// The models of all namespaces.
const ALL: &str = "/apis/michelangelo.api/v2/models";
/// All resources, by way of an APIService.
const OUTER: &str = "/apis/mirror.michelangelo.api/v1/resources";

/// Signs certificates.
struct Authority(CertifiedIssuer<'static, KeyPair>);

/// The files of a certificate and its key.
struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

impl Authority {
    /// Its certificate is in a file with its name.
    fn new(name: &str, folder: &Path) -> Result<Self> {
        let mut params = CertificateParams::new([])?;
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let authority = Authority(CertifiedIssuer::self_signed(params, KeyPair::generate()?)?);
        std::fs::write(folder.join(format!("{name}.pem")), authority.0.pem())?;
        Ok(authority)
    }

    fn sign(&self, name: &str, hosts: &[&str], purpose: ExtendedKeyUsagePurpose, folder: &Path) -> Result<Files> {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let mut params = CertificateParams::new(hosts)?;
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages = vec![purpose];
        let key = KeyPair::generate()?;
        let files = Files { certificate: folder.join(format!("{name}.crt")), key: folder.join(format!("{name}.key")) };
        std::fs::write(&files.certificate, params.signed_by(&key, &self.0)?.pem())?;
        std::fs::write(&files.key, key.serialize_pem())?;
        Ok(files)
    }
}

/// Ends with the test.
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A cluster with an API server, and our server beside it.
pub(crate) struct World {
    api: ApiServer,
    admin: Client,
    port: u16,
    proxy: Files,
    ada: Files,
    stranger: Files,
    folder: TempDir,
    _serve: Process,
}

impl World {
    async fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let path = folder.path();
        let [proxies, users, servers, strangers] =
            ["proxies", "users", "servers", "strangers"].map(|name| Authority::new(name, path));
        let proxies = proxies?;
        let users = users?;
        let servers = servers?;
        let strangers = strangers?;
        let client = ExtendedKeyUsagePurpose::ClientAuth;
        let proxy = proxies.sign("front-proxy", &[], client.clone(), path)?;
        let ada = users.sign("ada", &[], client.clone(), path)?;
        let stranger = strangers.sign("front-proxy-of-strangers", &[], client, path)?;
        let hosts = ["localhost", "ingester-server.ingester.svc"];
        let own = servers.sign("server", &hosts, ExtendedKeyUsagePurpose::ServerAuth, path)?;
        let option = |name: &str, path: &Path| format!("--{name}={}", path.display());
        let flags = [
            option("client-ca-file", &path.join("users.pem")),
            option("requestheader-client-ca-file", &path.join("proxies.pem")),
            "--requestheader-allowed-names=front-proxy".to_owned(),
            "--requestheader-username-headers=X-Remote-User".to_owned(),
            "--requestheader-group-headers=X-Remote-Group".to_owned(),
            "--requestheader-extra-headers-prefix=X-Remote-Extra-".to_owned(),
            option("proxy-client-cert-file", &proxy.certificate),
            option("proxy-client-key-file", &proxy.key),
        ];
        let api = ApiServer::start_with(&flags.each_ref().map(String::as_str))?;
        let admin = api.client().await?;
        let crds: Vec<_> = crd_specs::KINDS.iter().filter_map(|kind| kind.crd()).collect();
        install(&admin, &crds).await?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        furnish(&admin, port, &std::fs::read_to_string(path.join("servers.pem"))?).await?;

        let labels = json!({});
        let objects: Vec<(Json, Fate)> = [("ml", "one", 1), ("ml", "two", 2), ("lab", "three", 3)]
            .into_iter()
            .map(|(namespace, name, version)| (model(namespace, name, version, &labels), Fate::Evicted))
            .collect();
        let database = path.join("objects.db");
        store(&database, &objects).await?;
        let config = json!({
            "metadataStorage": {"enableMetadataStorage": true, "databaseURL": format!("sqlite://{}", database.display())},
            "serve": {
                "address": format!("127.0.0.1:{port}"), "certificate": own.certificate, "key": own.key,
                "clientCA": path.join("users.pem"), "frontProxy": "required",
            },
            "server": {"address": ""},
        });
        std::fs::write(path.join("ingester.yaml"), config.to_string())?;
        // The server's own account has only the rights of deploy/.
        let token = token(&admin, "ingester", "ingester-server", &[]).await?;
        let kubeconfig =
            kubeconfig(&api.url(), &api.folder().join("certificates/apiserver.crt"), &json!({"token": token}));
        std::fs::write(path.join("kubeconfig"), kubeconfig.to_string())?;
        let log = std::fs::File::create(path.join("log"))?;
        let process = Command::new(env!("CARGO_BIN_EXE_ingester"))
            .args(["serve", "--config", "ingester.yaml", "--kubeconfig", "kubeconfig"])
            .current_dir(path)
            .env_remove("DATABASE_URL")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        let world = World { api, admin, port, proxy, ada, stranger, folder, _serve: Process(process) };
        let known = json!({"token": token_of(&world.admin, "reader").await?});
        let begin = Instant::now();
        while world.client(&known).await?.request_text(get("/version")?).await.is_err() {
            ensure!(begin.elapsed() < PATIENCE, "it does not answer: {}", world.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(world)
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// The address of our server.
    pub(crate) fn url(&self) -> String {
        format!("https://localhost:{}", self.port)
    }

    /// The token of the account that may read the models of the namespace `ml`.
    pub(crate) async fn token(&self) -> Result<String> {
        token_of(&self.admin, "reader").await
    }

    /// A kubeconfig of our server for that account.
    pub(crate) async fn kubeconfig(&self) -> Result<PathBuf> {
        let path = self.folder.path().join("reader.json");
        let user = json!({"token": self.token().await?});
        std::fs::write(&path, kubeconfig(&self.url(), &self.folder.path().join("servers.pem"), &user).to_string())?;
        Ok(path)
    }

    /// A client of our server for this user of a kubeconfig.
    async fn client(&self, user: &Json) -> Result<Client> {
        client(&self.url(), &self.folder.path().join("servers.pem"), user).await
    }

    /// A client of the API server.
    async fn of_api(&self, user: &Json) -> Result<Client> {
        client(&self.api.url(), &self.api.folder().join("certificates/apiserver.crt"), user).await
    }
}

fn kubeconfig(url: &str, authority: &Path, user: &Json) -> Json {
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "one", "cluster": {"server": url, "certificate-authority": authority}}],
        "users": [{"name": "one", "user": user}],
        "contexts": [{"name": "one", "context": {"cluster": "one", "user": "one"}}],
        "current-context": "one",
    })
}

async fn client(url: &str, authority: &Path, user: &Json) -> Result<Client> {
    let file: Kubeconfig = serde_json::from_value(kubeconfig(url, authority, user))?;
    let mut config = kube::Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
    // The first answer counts.
    config.default_retry = false;
    Ok(Client::try_from(config)?)
}

fn files(files: &Files) -> Json {
    json!({"client-certificate": files.certificate, "client-key": files.key})
}

fn get(path: &str) -> Result<Request<Vec<u8>>> {
    Ok(Request::builder().uri(path).body(Vec::new())?)
}

/// A request with these headers: the status and the content of the answer.
pub(crate) async fn ask(client: &Client, method: Method, path: &str, headers: &[(&str, &str)]) -> Result<(u16, Json)> {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let answer = client.send(request.body(Body::empty())?).await?;
    let status = answer.status().as_u16();
    use http_body_util::BodyExt as _;
    let body = answer.into_body().collect().await?.to_bytes();
    let body = serde_json::from_slice(&body).with_context(|| format!("{path}: {}", String::from_utf8_lossy(&body)))?;
    Ok((status, body))
}

/// A review that a caller requests about themselves: the status and the content of the answer.
async fn review_of(client: &Client, path: &str, review: &Json) -> Result<(u16, Json)> {
    let mut review = review.clone();
    let (group, _) = path.rsplit_once('/').context("a group")?;
    review["apiVersion"] = group.into();
    review["kind"] =
        if path.ends_with("accessreviews") { "SelfSubjectAccessReview" } else { "SelfSubjectReview" }.into();
    let request = Request::post(format!("/apis/{path}")).header("content-type", "application/json");
    let answer = client.send(request.body(Body::from(review.to_string().into_bytes()))?).await?;
    let status = answer.status().as_u16();
    use http_body_util::BodyExt as _;
    Ok((status, serde_json::from_slice(&answer.into_body().collect().await?.to_bytes())?))
}

/// The names of a list.
pub(crate) fn names(list: &Json) -> Vec<&str> {
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|item| item["metadata"]["name"].as_str()).collect()
}

/// Creates an object of the API server.
async fn create(client: &Client, object: Json) -> Result<()> {
    let (group, version) = match object["apiVersion"].as_str().context("apiVersion")?.split_once('/') {
        Some((group, version)) => (group, version),
        None => ("", object["apiVersion"].as_str().context("apiVersion")?),
    };
    let kind = object["kind"].as_str().context("kind")?.to_owned();
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, &kind));
    let api: Api<DynamicObject> = match object["metadata"]["namespace"].as_str() {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    let object: DynamicObject = serde_json::from_value(object)?;
    match api.create(&PostParams::default(), &object).await {
        Ok(_) => Ok(()),
        // The API server creates some namespaces and roles itself.
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
        Err(error) => Err(error).with_context(|| format!("creating a {kind}")),
    }
}

/// Accounts, the rights of `deploy/`, and those of the readers: to get and list models in one namespace.
async fn furnish(admin: &Client, port: u16, authority: &str) -> Result<()> {
    for namespace in ["ingester", "ml", "lab"] {
        create(admin, json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})).await?;
    }
    for (namespace, name) in [("ingester", "ingester-server"), ("ml", "reader"), ("ml", "leaver"), ("lab", "stranger")]
    {
        let metadata = json!({"namespace": namespace, "name": name});
        create(admin, json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})).await?;
    }
    for folder in ["server", "apiservice"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy").join(folder);
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            for mut manifest in serde_saphyr::from_multiple::<Json>(&std::fs::read_to_string(&path)?)? {
                match manifest["kind"].as_str().unwrap_or_default() {
                    "APIService" => {
                        manifest["spec"]["caBundle"] = STANDARD.encode(authority).into();
                        manifest["spec"]["service"]["port"] = port.into();
                    }
                    "ClusterRole" | "ClusterRoleBinding" | "Role" | "RoleBinding" => {}
                    _ => continue,
                }
                create(admin, manifest).await.with_context(|| path.display().to_string())?;
            }
        }
    }
    let group = "rbac.authorization.k8s.io";
    let api = format!("{group}/v1");
    let metadata = json!({"namespace": "ml", "name": "readers"});
    let rules = json!([{"apiGroups": ["michelangelo.api"], "resources": ["models"], "verbs": ["get", "list"]}]);
    create(admin, json!({"apiVersion": api, "kind": "Role", "metadata": metadata, "rules": rules})).await?;
    let subjects = json!([
        {"kind": "ServiceAccount", "namespace": "ml", "name": "reader"},
        {"kind": "ServiceAccount", "namespace": "ml", "name": "leaver"},
        {"kind": "User", "apiGroup": group, "name": "ada"},
    ]);
    let role = json!({"apiGroup": group, "kind": "Role", "name": "readers"});
    let binding =
        json!({"apiVersion": api, "kind": "RoleBinding", "metadata": metadata, "roleRef": role, "subjects": subjects});
    create(admin, binding).await?;
    // A Service that leads to this machine.
    let metadata = json!({"namespace": "ingester", "name": "ingester-server"});
    let spec = json!({"type": "ExternalName", "externalName": "localhost", "ports": [{"port": port}]});
    create(admin, json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})).await
}

/// A token of a service account.
async fn token(admin: &Client, namespace: &str, account: &str, audiences: &[&str]) -> Result<String> {
    let accounts: Api<ServiceAccount> = Api::namespaced(admin.clone(), namespace);
    let audiences: Vec<String> = audiences.iter().map(|audience| (*audience).to_owned()).collect();
    let audiences = (!audiences.is_empty()).then_some(audiences);
    let spec = TokenRequestSpec { audiences, expiration_seconds: Some(600), ..TokenRequestSpec::default() };
    let request = TokenRequest { spec: Some(spec), ..TokenRequest::default() };
    let made = accounts.create_token_request(account, &PostParams::default(), &request).await?;
    made.status.and_then(|status| status.token).context("a token")
}

async fn token_of(admin: &Client, reader: &str) -> Result<String> {
    token(admin, "ml", reader, &[]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_have_the_identity_and_rights_that_the_api_server_says() -> Result<()> {
    let world = World::new().await?;
    tokens(&world).await.with_context(|| world.log())?;
    certificates(&world).await.with_context(|| world.log())?;
    front_proxies(&world).await.with_context(|| world.log())?;
    through_the_api_server(&world).await.with_context(|| world.log())?;
    restores_of_callers(&world).await.with_context(|| world.log())?;
    crate::console::without_a_token_nothing_is_shown(&world).await.with_context(|| world.log())?;
    crate::console::a_proxy_lends_its_users_credentials_to_its_page(&world).await.with_context(|| world.log())?;
    of_another_cluster(&world).await?;
    without_the_api_server(&world).await.with_context(|| world.log())
}

/// Restores pass admission as their callers: by the caller's token, or by impersonation once the server's account may do that.
async fn restores_of_callers(world: &World) -> Result<()> {
    let group = "rbac.authorization.k8s.io";
    let metadata = json!({"namespace": "ml", "name": "restorers"});
    create(
        &world.admin,
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"namespace": "ml", "name": "restorer"}}),
    )
    .await?;
    let rules = json!([{"apiGroups": ["michelangelo.api"], "resources": ["models"], "verbs": ["get", "list", "patch", "delete", "create"]}]);
    let api = format!("{group}/v1");
    create(&world.admin, json!({"apiVersion": api, "kind": "Role", "metadata": metadata, "rules": rules})).await?;
    let subjects = json!([
        {"kind": "ServiceAccount", "namespace": "ml", "name": "restorer"},
        {"kind": "User", "apiGroup": group, "name": "ada"},
    ]);
    let role = json!({"apiGroup": group, "kind": "Role", "name": "restorers"});
    let binding =
        json!({"apiVersion": api, "kind": "RoleBinding", "metadata": metadata, "roleRef": role, "subjects": subjects});
    create(&world.admin, binding).await?;
    let restorer = world.client(&json!({"token": token_of(&world.admin, "restorer").await?})).await?;
    let tried = format!("{ML}/one/restore?dryRun=All");
    let restore = async |client: &Client| ask(client, Method::POST, &tried, &[]).await;
    let until = async |client: &Client, code: u16| {
        let begin = Instant::now();
        loop {
            let (status, answer) = restore(client).await?;
            if status == code {
                return Ok(answer["message"].as_str().unwrap_or_default().to_owned());
            }
            ensure!(begin.elapsed() < PATIENCE, "{status} {answer}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    // The server remembers a refusal for some seconds.
    until(&restorer, 200).await?;

    // Of a caller with a certificate it has no token.
    let ada = world.client(&files(&world.ada)).await?;
    let message = until(&ada, 403).await?;
    ensure!(message.contains("`ingester restore`") && message.contains("`ingester rbac --restore`"), "{message}");
    let printed = Command::new(env!("CARGO_BIN_EXE_ingester"))
        .args(["rbac", "--restore=plain", "--name", "ingester-restore"])
        .output()?;
    for manifest in serde_saphyr::from_multiple::<Json>(&String::from_utf8(printed.stdout)?)? {
        create(&world.admin, manifest).await?;
    }
    let binding = json!({
        "apiVersion": api, "kind": "ClusterRoleBinding", "metadata": {"name": "ingester-restore"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "ingester-restore"},
        "subjects": [{"kind": "ServiceAccount", "namespace": "ingester", "name": "ingester-server"}],
    });
    create(&world.admin, binding).await?;
    until(&ada, 200).await?;
    Ok(())
}

/// Tokens of service accounts.
async fn tokens(world: &World) -> Result<()> {
    let reader = json!({"token": token_of(&world.admin, "reader").await?});
    let ours = world.client(&reader).await?;
    let theirs = world.of_api(&reader).await?;
    let (status, list) = ask(&ours, Method::GET, ML, &[]).await?;
    ensure!((status, names(&list)) == (200, vec!["one", "two"]), "{list}");
    // Refusals have the same words.
    for (method, path) in [
        (Method::GET, LAB.to_owned()),
        (Method::GET, ALL.to_owned()),
        (Method::GET, format!("{LAB}/three")),
        (Method::DELETE, format!("{ML}/one")),
        (Method::DELETE, ML.to_owned()),
        (Method::GET, ML.replace("models", "pipelines")),
        (Method::GET, format!("{ML}?watch=true")),
    ] {
        let own = ask(&ours, method.clone(), &path, &[]).await?;
        let real = ask(&theirs, method.clone(), &path, &[]).await?;
        ensure!(own.0 == 403 && own == real, "{method} {path}: {own:?} instead of {real:?}");
    }
    // The right to a history is that to its object. Without it, callers do not learn whether there is one.
    let (status, refused) = ask(&ours, Method::GET, &format!("{LAB}/three/history"), &[]).await?;
    let (_, real) = ask(&theirs, Method::GET, &format!("{LAB}/three"), &[]).await?;
    let words = format!(
        "{}; the history of an object needs the right to the object",
        real["message"].as_str().unwrap_or_default()
    );
    ensure!(status == 403 && refused["message"] == words, "{refused}");
    let (status, none) = ask(&ours, Method::GET, &format!("{ML}/one/history"), &[]).await?;
    ensure!(status == 404, "models keep no history: {none}");
    // And so are questions about rights.
    for (namespace, verb, resource, allowed) in [
        ("ml", "list", "models", true),
        ("ml", "*", "models", false),
        ("ml", "list", "pipelines", false),
        ("lab", "list", "models", false),
        ("", "list", "models", false),
    ] {
        let attributes =
            json!({"namespace": namespace, "verb": verb, "group": "michelangelo.api", "resource": resource});
        let review = json!({"spec": {"resourceAttributes": attributes}});
        for client in [&ours, &theirs] {
            let (status, answer) =
                review_of(client, "authorization.k8s.io/v1/selfsubjectaccessreviews", &review).await?;
            ensure!((status, &answer["status"]["allowed"]) == (201, &json!(allowed)), "{review}: {answer}");
        }
    }
    let (status, answer) = review_of(&ours, "authentication.k8s.io/v1/selfsubjectreviews", &json!({})).await?;
    ensure!(status == 201 && answer["status"]["userInfo"]["username"] == "system:serviceaccount:ml:reader", "{answer}");
    let (status, list) = ask(&ours, Method::GET, "/api/v1/namespaces", &[]).await?;
    ensure!((status, names(&list)) == (200, vec!["ml"]), "{list}");
    let other = json!({"token": token(&world.admin, "ml", "reader", &["somebody-else"]).await?});
    for (what, user) in [
        ("no token", json!({})),
        ("an invented token", json!({"token": "invented"})),
        ("a token for another audience", other),
        ("a changed token", json!({"token": format!("{}x", reader["token"].as_str().unwrap_or_default())})),
    ] {
        let own = ask(&world.client(&user).await?, Method::GET, ML, &[]).await?;
        ensure!(own.0 == 401 && own.1["reason"] == "Unauthorized", "{what}: {own:?}");
    }
    // A caller who was known, but is no longer.
    let leaver = world.client(&json!({"token": token_of(&world.admin, "leaver").await?})).await?;
    ensure!(ask(&leaver, Method::GET, ML, &[]).await?.0 == 200);
    let accounts: Api<ServiceAccount> = Api::namespaced(world.admin.clone(), "ml");
    accounts.delete("leaver", &DeleteParams::default()).await?;
    let begin = Instant::now();
    while ask(&leaver, Method::GET, ML, &[]).await?.0 != 401 {
        ensure!(begin.elapsed() < PATIENCE, "a token of an account that is gone is believed");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    Ok(())
}

/// Certificates of users.
async fn certificates(world: &World) -> Result<()> {
    let ada = world.client(&files(&world.ada)).await?;
    let (status, list) = ask(&ada, Method::GET, ML, &[]).await?;
    ensure!((status, names(&list)) == (200, vec!["one", "two"]), "{list}");
    let own = ask(&ada, Method::GET, LAB, &[]).await?;
    let real = ask(&world.of_api(&files(&world.ada)).await?, Method::GET, LAB, &[]).await?;
    ensure!(own.0 == 403 && own == real, "{own:?} instead of {real:?}");
    let stranger = ask(&world.client(&files(&world.stranger)).await?, Method::GET, ML, &[]).await?;
    ensure!(stranger.0 == 401, "{stranger:?}");
    Ok(())
}

/// Senders of headers that name the caller.
async fn front_proxies(world: &World) -> Result<()> {
    let root = [("X-Remote-User", "root"), ("X-Remote-Group", "system:masters")];
    let proxy = world.client(&files(&world.proxy)).await?;
    let (status, list) = ask(&proxy, Method::GET, ALL, &root).await?;
    ensure!((status, names(&list).len()) == (200, 3), "{list}");
    ensure!(ask(&proxy, Method::GET, LAB, &[("X-Remote-User", "ada")]).await?.0 == 403);
    ensure!(ask(&proxy, Method::GET, ML, &[]).await?.0 == 401, "it names nobody");
    // Headers of other senders are ignored.
    for (user, status) in [(json!({}), 401), (files(&world.stranger), 401), (files(&world.ada), 403)] {
        let answer = ask(&world.client(&user).await?, Method::GET, ALL, &root).await?;
        ensure!(answer.0 == status, "{user}: {answer:?}");
    }
    let ada = world.client(&files(&world.ada)).await?;
    let answer = ask(&ada, Method::GET, ML, &[("Impersonate-User", "root")]).await?;
    ensure!(answer.0 == 403, "{answer:?}");
    Ok(())
}

/// The APIService: the API server passes requests on, with its own certificate.
async fn through_the_api_server(world: &World) -> Result<()> {
    let begin = Instant::now();
    let path = |path: &str| format!("{OUTER}{path}");
    while ask(&world.admin, Method::GET, &path(ALL), &[]).await.map_or(0, |answer| answer.0) != 200 {
        let service = ask(
            &world.admin,
            Method::GET,
            "/apis/apiregistration.k8s.io/v1/apiservices/v1.mirror.michelangelo.api",
            &[],
        );
        ensure!(begin.elapsed() < PATIENCE, "the APIService does not answer: {}", service.await?.1["status"]);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    for user in [json!({"token": token_of(&world.admin, "reader").await?}), files(&world.ada)] {
        let client = world.of_api(&user).await?;
        let (status, list) = ask(&client, Method::GET, &path(ML), &[]).await?;
        ensure!((status, names(&list)) == (200, vec!["one", "two"]), "{status} {list}");
        for other in [LAB, ALL] {
            let ours = ask(&client, Method::GET, &path(other), &[]).await?;
            let real = ask(&client, Method::GET, other, &[]).await?;
            ensure!(ours.0 == 403 && ours == real, "{ours:?} instead of {real:?}");
        }
    }
    let admin = [("Impersonate-User", "ada")];
    let (status, list) = ask(&world.admin, Method::GET, &path(ML), &admin).await?;
    ensure!((status, names(&list).len()) == (200, 2), "the API server knows who may be taken for whom: {list}");
    ensure!(ask(&world.admin, Method::GET, &path(ALL), &admin).await?.0 == 403);
    Ok(())
}

/// If rights cannot be checked, nothing is allowed.
/// A database with another cluster's objects is not served: rights in this cluster say nothing about them.
async fn of_another_cluster(world: &World) -> Result<()> {
    let path = world.folder.path();
    let database = path.join("other.db");
    store(&database, &[(model("ml", "one", 1, &json!({})), Fate::Live)]).await?;
    let url = format!("sqlite://{}", database.display());
    let other = Store::connect(&url.parse()?, ConnectOptions::default()).await?;
    other.claim_for_cluster("of-another-cluster").await?;
    other.close().await;
    let config = std::fs::read_to_string(path.join("ingester.yaml"))?;
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let config = config.replace("objects.db", "other.db").replace(&world.port.to_string(), &port.to_string());
    std::fs::write(path.join("other.yaml"), config)?;
    let ended = Command::new(env!("CARGO_BIN_EXE_ingester"))
        .args(["serve", "--config", "other.yaml", "--kubeconfig", "kubeconfig"])
        .current_dir(path)
        .env_remove("DATABASE_URL")
        .output()?;
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    ensure!(ended.status.code() == Some(2) && said.contains("the database belongs to another cluster"), "{said}");
    Ok(())
}

async fn without_the_api_server(world: &World) -> Result<()> {
    let ada = world.client(&files(&world.ada)).await?;
    let token = world.client(&json!({"token": token_of(&world.admin, "reader").await?})).await?;
    world.api.stop()?;
    let unasked = format!("{ML}/none");
    for client in [&ada, &token] {
        let answer = ask(client, Method::GET, &unasked, &[]).await?;
        ensure!(answer.0 == 503 && answer.1["reason"] == "ServiceUnavailable", "{answer:?}");
    }
    Ok(())
}
