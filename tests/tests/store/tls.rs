//! TLS to a server: which certificates the store trusts, and which it presents, with certificates made for the test. On MariaDB; on every
//! server, that files which change are read again.

use crate::world::{MODEL_AND_PROJECT, change, kind, model};
use anyhow::{Context as _, Result, ensure};
use ingester_store::{Address, ConnectOptions, ErrorClass, Retry, Store, StoreError, Tls, TlsMode};
use ingester_tests::databases::{On, Server};
use ingester_tests::password::RotatedUser;
use ingester_tests::{Durability, MariaDb, MySql, Postgres, SqlServer, with_every_server};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

with_every_server! {
    certificates_that_change_need_no_restart
}

/// Makes certificates with openssl: `ca.pem` and `other-ca.pem`, and, signed by the first, one of a server for
/// `localhost` and one of a client.
struct Certificates(tempfile::TempDir);

impl Certificates {
    fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let made = Certificates(folder);
        for ca in ["ca", "other-ca"] {
            let key = format!("{ca}.key");
            let cert = format!("{ca}.pem");
            let subject = format!("/CN={ca}");
            made.openssl(&[
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", &subject, "-keyout", &key,
                "-out", &cert,
            ])?;
        }
        made.sign("ca", "server", SERVER)?;
        made.sign("ca", "client", CLIENT)?;
        Ok(made)
    }

    /// Makes a key and a certificate of this name, signed by an authority.
    fn sign(&self, ca: &str, name: &str, extension: &str) -> Result<()> {
        std::fs::write(self.path(&format!("{name}.ext")), format!("basicConstraints=CA:FALSE\n{extension}\n"))?;
        let [key, csr, cert, ext] = ["key", "csr", "pem", "ext"].map(|end| format!("{name}.{end}"));
        let subject = format!("/CN={name}");
        self.openssl(&["req", "-newkey", "rsa:2048", "-nodes", "-subj", &subject, "-keyout", &key, "-out", &csr])?;
        self.openssl(&[
            "x509",
            "-req",
            "-in",
            &csr,
            "-CA",
            &format!("{ca}.pem"),
            "-CAkey",
            &format!("{ca}.key"),
            "-CAcreateserial",
            "-days",
            "2",
            "-extfile",
            &ext,
            "-out",
            &cert,
        ])
    }

    fn openssl(&self, arguments: &[&str]) -> Result<()> {
        let output = Command::new("openssl").args(arguments).current_dir(self.0.path()).output().context("openssl")?;
        ensure!(output.status.success(), "openssl {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn option(&self, name: &str, file: &str) -> String {
        format!("--{name}={}", self.path(file).display())
    }
}

/// The extensions of a server's certificate, and of a client's.
const SERVER: &str = "subjectAltName=DNS:localhost";
const CLIENT: &str = "extendedKeyUsage=clientAuth";

/// Gives up at once.
fn impatient() -> ConnectOptions {
    ConnectOptions::default().connections(1).max_lifetime(None).create(false).retry(Retry::SHORT.attempts(Some(1)))
}

#[test]
fn server_and_client_authenticate_by_their_certificates() -> Result<()> {
    let certificates = Certificates::new()?;
    let options = [
        certificates.option("ssl-ca", "ca.pem"),
        certificates.option("ssl-cert", "server.pem"),
        certificates.option("ssl-key", "server.key"),
    ];
    let server = MariaDb::start_with(Durability::Fast, &options.each_ref().map(String::as_str))?;
    let Some(port) = server.port() else { return Ok(()) };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let url = server.create_database("tls").await?;
        let admin = sqlx::MySqlPool::connect(&url).await?;
        sqlx::raw_sql("CREATE USER known@'%' REQUIRE X509").execute(&admin).await?;
        sqlx::raw_sql("GRANT ALL ON tls.* TO known@'%'").execute(&admin).await?;
        sqlx::raw_sql("CREATE USER open@'%' REQUIRE SSL").execute(&admin).await?;
        sqlx::raw_sql("GRANT ALL ON tls.* TO open@'%'").execute(&admin).await?;
        admin.close().await;

        let tls = |mode, ca: Option<&str>| Tls { mode, ca: ca.map(|ca| certificates.path(ca)), cert: None, key: None };
        let connect = async |host: &str, user: &str, tls: &Tls| -> Result<(), StoreError> {
            let address = Address::mysql(host, port, user, None, "tls")?.tls(tls)?;
            Store::connect(&address, impatient()).await?.close().await;
            Ok(())
        };
        let refused = async |host: &str, user: &str, tls: &Tls| {
            let error = connect(host, user, tls).await.expect_err("it is refused");
            assert_eq!(error.class(), ErrorClass::Operator, "{error}");
            error.to_string()
        };

        // Modes that do not verify still encrypt. The server refuses a connection without encryption.
        for mode in [TlsMode::Preferred, TlsMode::Required] {
            connect("127.0.0.1", "open", &tls(mode, None)).await?;
        }
        refused("127.0.0.1", "open", &tls(TlsMode::Disabled, None)).await;

        // The certificate is signed by our CA, for `localhost`.
        connect("127.0.0.1", "open", &tls(TlsMode::VerifyCa, Some("ca.pem"))).await?;
        connect("localhost", "open", &tls(TlsMode::VerifyIdentity, Some("ca.pem"))).await?;
        for (host, mode, ca) in [
            ("127.0.0.1", TlsMode::VerifyIdentity, Some("ca.pem")),
            ("localhost", TlsMode::VerifyIdentity, Some("other-ca.pem")),
            ("localhost", TlsMode::VerifyCa, Some("other-ca.pem")),
            ("localhost", TlsMode::VerifyCa, None),
        ] {
            let error = refused(host, "open", &tls(mode, ca)).await;
            assert!(error.contains("certificate"), "{host} {mode:?} {ca:?}: {error}");
        }

        // A user who must present a certificate.
        let shown = |name: &str| -> Option<PathBuf> { Some(certificates.path(name)) };
        let known =
            Tls { cert: shown("client.pem"), key: shown("client.key"), ..tls(TlsMode::VerifyCa, Some("ca.pem")) };
        connect("127.0.0.1", "known", &known).await?;
        refused("127.0.0.1", "known", &tls(TlsMode::VerifyCa, Some("ca.pem"))).await;

        // A file that is missing, or is not a certificate, is reported with its key.
        let error = refused("127.0.0.1", "open", &tls(TlsMode::VerifyCa, Some("absent.pem"))).await;
        assert!(error.contains("absent.pem") && error.contains("mysql.tls.ca"), "{error}");
        let error = refused("127.0.0.1", "open", &tls(TlsMode::VerifyCa, Some("ca.key"))).await;
        assert!(error.contains("ca.key") && error.contains("mysql.tls.ca"), "{error}");
        Ok(())
    })
}

/// The files of one side, which are replaced as a Secret's are.
struct Files(PathBuf);

impl Files {
    fn new(folder: PathBuf) -> Result<Self> {
        std::fs::create_dir(&folder)?;
        Ok(Files(folder))
    }

    /// A path of `ca.pem`, `cert.pem` or `key.pem`.
    fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    /// Replaces the files by the certificate of this name, and the authority `ca` that it trusts.
    fn replace(&self, certificates: &Certificates, name: &str, ca: &str) -> Result<()> {
        let owner = self.0.parent().context("a folder")?.metadata()?;
        for (from, to) in
            [(format!("{ca}.pem"), "ca.pem"), (format!("{name}.pem"), "cert.pem"), (format!("{name}.key"), "key.pem")]
        {
            let new = self.path("new");
            std::fs::copy(certificates.path(&from), &new)?;
            std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o600))?;
            // PostgreSQL does not run as root, and reads only its own files.
            chown(&new, Some(owner.uid()), Some(owner.gid()))?;
            std::fs::rename(new, self.path(to))?;
        }
        chown(&self.0, Some(owner.uid()), Some(owner.gid()))?;
        Ok(())
    }
}

/// A server with these certificates; `None` as [`On::own`].
fn start(on: On, certificates: &Certificates, folder: &Path) -> Result<Option<(Server, Files)>> {
    if on == On::Postgres {
        let Some(server) = Postgres::start()? else { return Ok(None) };
        let data = server.folder().context("a folder")?.join("data");
        let files = Files::new(data.join("tls"))?;
        files.replace(certificates, "server", "ca")?;
        return Ok(Some((Box::new(server), files)));
    }
    let files = Files::new(folder.join("server"))?;
    files.replace(certificates, "server", "ca")?;
    let option = |name: &str, file: &str| format!("--ssl-{name}={}", files.path(file).display());
    let options = [option("ca", "ca.pem"), option("cert", "cert.pem"), option("key", "key.pem")];
    let options = options.each_ref().map(String::as_str);
    let server: Option<Server> = match on {
        On::MySql => MySql::start_with(Durability::Fast, &options)?.map(|server| Box::new(server) as Server),
        _ => Some(Box::new(MariaDb::start_with(Durability::Fast, &options)?)),
    };
    Ok(server.map(|server| (server, files)))
}

/// Creates a user who must present a certificate.
async fn make_user(on: On, server: &SqlServer, files: &Files) -> Result<()> {
    if on != On::Postgres {
        let grant = "GRANT ALL ON rotation.* TO 'rotated'@'%'";
        return server.run(&["CREATE USER 'rotated'@'%' REQUIRE X509", grant]).await;
    }
    server.run(&["CREATE ROLE rotated LOGIN SUPERUSER"]).await?;
    for (setting, file) in [("ca", "ca.pem"), ("cert", "cert.pem"), ("key", "key.pem")] {
        let path = files.path(file);
        server.run(&[&format!("ALTER SYSTEM SET ssl_{setting}_file = '{}'", path.display())]).await?;
    }
    server.run(&["ALTER SYSTEM SET ssl = on"]).await?;
    let hba = server.sql("rotation", "SHOW hba_file").await?;
    let hba = hba.into_iter().flatten().flatten().next().context("pg_hba.conf")?;
    let rules = "hostssl all rotated 127.0.0.1/32 trust clientcert=verify-ca\nhost all postgres 127.0.0.1/32 trust\n";
    std::fs::write(hba, rules)?;
    reload(on, server).await
}

/// Makes the server read its files again.
async fn reload(on: On, server: &SqlServer) -> Result<()> {
    let statement = match on {
        On::Postgres => "SELECT pg_reload_conf()",
        On::MySql => "ALTER INSTANCE RELOAD TLS",
        _ => "FLUSH SSL",
    };
    server.run(&[statement]).await
}

async fn certificates_that_change_need_no_restart(on: On) -> Result<()> {
    let certificates = Certificates::new()?;
    let folder = tempfile::tempdir()?;
    let Some((server, of_server)) = start(on, &certificates, folder.path())? else { return Ok(()) };
    let Some(port) = server.port() else { return Ok(()) };
    let admin: Address = server.create_database("rotation").await?.parse()?;
    Store::connect(&admin, ConnectOptions::default()).await?.create_missing(MODEL_AND_PROJECT).await?;
    make_user(on, &server, &of_server).await?;
    let ours = Files::new(folder.path().join("ours"))?;
    ours.replace(&certificates, "client", "ca")?;
    let scheme = if on == On::Postgres { "postgres" } else { "mysql" };
    let address: Address = format!("{scheme}://rotated@127.0.0.1:{port}/rotation").parse()?;
    let tls = Tls {
        mode: TlsMode::VerifyCa,
        ca: Some(ours.path("ca.pem")),
        cert: Some(ours.path("cert.pem")),
        key: Some(ours.path("key.pem")),
    };
    let retry = Retry::SHORT.attempts(Some(60));
    let store = Store::connect(&address.tls(&tls)?, impatient().retry(retry)).await?;
    let write = async |uid: &str| store.write(kind("Model").table(), vec![change(&model(uid, 1))]).await;
    write("before").await?;

    // The server has a certificate of another authority, and trusts only clients of that authority.
    certificates.sign("other-ca", "next-server", SERVER)?;
    certificates.sign("other-ca", "next-client", CLIENT)?;
    of_server.replace(&certificates, "next-server", "other-ca")?;
    reload(on, &server).await?;
    write("open").await?;

    // A server may take a moment to reload.
    let deadline = Instant::now() + Duration::from_secs(60);
    let refused = loop {
        RotatedUser::new(on, &server, "rotation").end_connections().await?;
        match write("refused").await {
            Err(error) => break error,
            Ok(_) => ensure!(Instant::now() < deadline, "the server trusts the former authority"),
        }
    };
    ensure!(refused.class() == ErrorClass::Operator, "{refused}");
    ours.replace(&certificates, "next-client", "other-ca")?;
    write("after").await?;
    let stored = server.sql("rotation", "SELECT uid FROM model WHERE uid = 'after'").await?;
    ensure!(stored.len() == 1, "{stored:?}");
    Ok(())
}
