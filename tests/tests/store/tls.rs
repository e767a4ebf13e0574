//! TLS to a server: which certificates the store trusts, and which it presents. On MariaDB, with certificates made for
//! the test; MySQL uses the same protocol.

use anyhow::{Context as _, Result, ensure};
use ingester_store::{Address, ConnectOptions, ErrorClass, Retry, Store, StoreError, Tls, TlsMode};
use ingester_tests::{Durability, MariaDb};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Makes certificates with openssl: `ca.pem` and `other-ca.pem`, and, signed by the first, one of a server for
/// `localhost` and one of a client.
struct Certificates(tempfile::TempDir);

impl Certificates {
    fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let made = Certificates(folder);
        for ca in ["ca", "other-ca"] {
            let (key, cert) = (format!("{ca}.key"), format!("{ca}.pem"));
            let subject = format!("/CN={ca}");
            made.openssl(&[
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", &subject, "-keyout", &key,
                "-out", &cert,
            ])?;
        }
        made.sign("server", "subjectAltName=DNS:localhost")?;
        made.sign("client", "extendedKeyUsage=clientAuth")?;
        Ok(made)
    }

    fn sign(&self, name: &str, extension: &str) -> Result<()> {
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
            "ca.pem",
            "-CAkey",
            "ca.key",
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

const IMPATIENT: ConnectOptions = ConnectOptions {
    connections: 1,
    max_idle: 0,
    max_lifetime: None,
    create: false,
    read_only: false,
    retry: Retry { attempts: Some(1), ..Retry::SHORT },
    patience: Duration::from_secs(60),
    query_time: Duration::from_secs(30),
};

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
            let address = Address::mysql(host, port, user, None, "tls").tls(tls)?;
            Store::connect(&address, IMPATIENT).await?.close().await;
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

        // A file that is missing, or is no certificate, is named with its key.
        let error = refused("127.0.0.1", "open", &tls(TlsMode::VerifyCa, Some("absent.pem"))).await;
        assert!(error.contains("absent.pem") && error.contains("mysql.tls.ca"), "{error}");
        let error = refused("127.0.0.1", "open", &tls(TlsMode::VerifyCa, Some("ca.key"))).await;
        assert!(error.contains("ca.key") && error.contains("mysql.tls.ca"), "{error}");
        Ok(())
    })
}
