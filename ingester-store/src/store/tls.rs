//! How a connection to MySQL is encrypted, and whom it trusts.

use super::StoreError;
use sqlx::mysql::{MySqlConnectOptions, MySqlSslMode};
use std::path::{Path, PathBuf};

/// How far encryption goes, by the names of MySQL's `--ssl-mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsMode {
    /// No encryption.
    Disabled,
    /// Encryption where the server offers it; its certificate is not looked at.
    #[default]
    Preferred,
    /// Encryption or no connection; the certificate is not looked at.
    Required,
    /// And the certificate is signed by somebody who is trusted.
    VerifyCa,
    /// And it is for the host that was named.
    VerifyIdentity,
}

/// How a connection to MySQL is encrypted. The files are PEM; they are read anew for each connection, so that they may
/// be replaced while the program runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    /// How far it goes.
    pub mode: TlsMode,
    /// Certificates that may sign the server's, beside those that the system trusts (sqlx adds them to the system's).
    /// The system's alone serve for servers with a public certificate.
    pub ca: Option<PathBuf>,
    /// The client's certificate and those that signed it, for users who must show one (`REQUIRE X509`).
    pub cert: Option<PathBuf>,
    /// The key of `cert`.
    pub key: Option<PathBuf>,
}

impl Tls {
    /// What contradicts itself, in the words of the configuration's keys.
    pub fn mistake(&self) -> Option<&'static str> {
        match self {
            Tls { cert: Some(_), key: None, .. } => Some("`mysql.tls.cert` is set without `mysql.tls.key`; set both"),
            Tls { cert: None, key: Some(_), .. } => Some("`mysql.tls.key` is set without `mysql.tls.cert`; set both"),
            Tls { mode: TlsMode::Disabled, cert: Some(_), .. } => {
                Some("`mysql.tls.cert` is set, but `mysql.tls.mode` is disabled; use another mode")
            }
            // sqlx reads it in these modes only; without them somebody would believe that the server is verified.
            Tls { mode: TlsMode::Disabled | TlsMode::Preferred | TlsMode::Required, ca: Some(_), .. } => Some(
                "`mysql.tls.ca` is set, but `mysql.tls.mode` does not verify the server; use verify-ca or verify-identity",
            ),
            _ => None,
        }
    }

    pub(super) fn apply(&self, options: MySqlConnectOptions) -> MySqlConnectOptions {
        let mut options = options.ssl_mode(match self.mode {
            TlsMode::Disabled => MySqlSslMode::Disabled,
            TlsMode::Preferred => MySqlSslMode::Preferred,
            TlsMode::Required => MySqlSslMode::Required,
            TlsMode::VerifyCa => MySqlSslMode::VerifyCa,
            TlsMode::VerifyIdentity => MySqlSslMode::VerifyIdentity,
        });
        if let Some(ca) = &self.ca {
            options = options.ssl_ca(ca);
        }
        if let Some(cert) = &self.cert {
            options = options.ssl_client_cert(cert);
        }
        if let Some(key) = &self.key {
            options = options.ssl_client_key(key);
        }
        options
    }

    /// Looks whether the files are there and hold what they should: sqlx's error would name neither key nor file.
    pub(super) fn check_files(&self) -> Result<(), StoreError> {
        check_file("mysql.tls.ca", self.ca.as_deref(), "-----BEGIN CERTIFICATE-----")?;
        check_file("mysql.tls.cert", self.cert.as_deref(), "-----BEGIN CERTIFICATE-----")?;
        check_file("mysql.tls.key", self.key.as_deref(), "PRIVATE KEY-----")
    }
}

fn check_file(key: &str, path: Option<&Path>, mark: &str) -> Result<(), StoreError> {
    let Some(path) = path else { return Ok(()) };
    let wrong = |reason: String| {
        let hint = "name a PEM file that this user may read";
        StoreError::wrong(format!("reading {}, the file of `{key}`", path.display()), reason, hint)
    };
    let bytes = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
    if String::from_utf8_lossy(&bytes).contains(mark) {
        Ok(())
    } else {
        Err(wrong(format!("it has no line with `{mark}`")))
    }
}

#[cfg(test)]
mod tests {
    use super::{Tls, TlsMode};
    use crate::store::{Address, ConnectOptions, ErrorClass, Store};

    /// An address on which nothing listens: whoever gets as far as connecting fails otherwise.
    fn nobody() -> Address {
        Address::mysql("127.0.0.1", 1, "root", Some("hunter2"), "d")
    }

    fn mode(address: &Address) -> String {
        match &address.options {
            super::super::connect::DriverOptions::MySql(options) => format!("{:?}", options.get_ssl_mode()),
            super::super::connect::DriverOptions::Sqlite(_) => "none".into(),
        }
    }

    #[tokio::test]
    async fn a_missing_or_invalid_pem_file_is_named_before_connecting() {
        let folder = tempfile::tempdir().unwrap();
        let (missing, text) = (folder.path().join("missing.pem"), folder.path().join("text.pem"));
        std::fs::write(&text, "no certificate").unwrap();
        let cert = folder.path().join("cert.pem");
        std::fs::write(&cert, "-----BEGIN CERTIFICATE-----\n").unwrap();
        let verify = Tls { mode: TlsMode::VerifyCa, ..Tls::default() };
        for (tls, key, file, reason) in [
            (Tls { ca: Some(missing.clone()), ..verify.clone() }, "`mysql.tls.ca`", &missing, "No such file"),
            (Tls { ca: Some(text.clone()), ..verify.clone() }, "`mysql.tls.ca`", &text, "BEGIN CERTIFICATE"),
            (
                Tls { cert: Some(missing.clone()), key: Some(cert.clone()), ..verify.clone() },
                "`mysql.tls.cert`",
                &missing,
                "No such file",
            ),
            (
                Tls { cert: Some(cert.clone()), key: Some(cert.clone()), ..verify },
                "`mysql.tls.key`",
                &cert,
                "PRIVATE KEY",
            ),
        ] {
            let address = nobody().tls(&tls).unwrap();
            let error = Store::connect(&address, ConnectOptions::default()).await.err().unwrap();
            assert_eq!(error.class(), ErrorClass::Operator);
            assert!(error.is_configuration());
            let error = error.to_string();
            assert!(error.contains(key) && error.contains(&*file.to_string_lossy()), "{error}");
            assert!(error.contains(reason) && error.contains("name a PEM file"), "{error}");
        }
    }

    #[test]
    fn tls_parameters_of_a_url_are_kept() {
        let tls = Tls { mode: TlsMode::VerifyIdentity, ..Tls::default() };
        let encrypted = |url: &str| mode(&url.parse::<Address>().unwrap().tls(&tls).unwrap());
        assert_eq!(encrypted("mysql://u:p@h/d"), "VerifyIdentity");
        assert_eq!(encrypted("mysql://u:p@h/d?charset=utf8mb4"), "VerifyIdentity");
        assert_eq!(encrypted("mysql://u:p@h/d?charset=utf8mb4&ssl-mode=REQUIRED"), "Required");
        assert_eq!(encrypted("sqlite://a.db"), "none");
        assert_eq!(mode(&nobody()), "Preferred");
        assert_eq!(mode(&nobody().tls(&tls).unwrap()), "VerifyIdentity");
    }

    #[test]
    fn contradictory_tls_settings_are_refused_with_advice() {
        let tls = Tls { ca: Some("/ca.pem".into()), ..Tls::default() };
        let error = nobody().tls(&tls).unwrap_err().to_string();
        assert!(error.contains("does not verify the server (use verify-ca or verify-identity)"), "{error}");
    }
}
