//! The encryption of a connection to MySQL, and the certificates that it trusts.

use super::error::StoreError;
use crate::files;
use std::path::{Path, PathBuf};

/// The mode of encryption, with the names of MySQL's `--ssl-mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsMode {
    /// No encryption.
    Disabled,
    /// Encryption if the server offers it; its certificate is not verified.
    #[default]
    Preferred,
    /// Encryption or no connection; the certificate is not verified.
    Required,
    /// Like [`TlsMode::Required`], and a trusted authority must have signed the certificate.
    VerifyCa,
    /// Like [`TlsMode::VerifyCa`], and the certificate must be for the host of the connection.
    VerifyIdentity,
}

/// The encryption of a connection to MySQL. The files are PEM. They are read again for each connection, so they may be replaced while the
/// program runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    /// The mode.
    pub mode: TlsMode,
    /// Certificates of authorities that may sign the server's certificate. sqlx adds them to the ones that the system trusts. A server with
    /// a public certificate needs none.
    pub ca: Option<PathBuf>,
    /// The client's certificate and its chain, for users that need one (`REQUIRE X509`).
    pub cert: Option<PathBuf>,
    /// The private key of `cert`.
    pub key: Option<PathBuf>,
}

/// A contradiction within [`Tls`], in terms of the configuration's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}; {}", self.reason(), self.hint())]
#[non_exhaustive]
pub enum TlsMistake {
    /// A certificate without its key.
    CertWithoutKey,
    /// A key without its certificate.
    KeyWithoutCert,
    /// A certificate, but no encryption.
    CertWithoutEncryption,
    /// An authority's certificate, but a mode that does not verify the server.
    CaWithoutVerification,
}

impl TlsMistake {
    pub(super) fn reason(self) -> &'static str {
        match self {
            TlsMistake::CertWithoutKey => "`mysql.tls.cert` is set without `mysql.tls.key`",
            TlsMistake::KeyWithoutCert => "`mysql.tls.key` is set without `mysql.tls.cert`",
            TlsMistake::CertWithoutEncryption => "`mysql.tls.cert` is set, but `mysql.tls.mode` is disabled",
            TlsMistake::CaWithoutVerification => {
                "`mysql.tls.ca` is set, but `mysql.tls.mode` does not verify the server"
            }
        }
    }

    pub(super) fn hint(self) -> &'static str {
        match self {
            TlsMistake::CertWithoutKey | TlsMistake::KeyWithoutCert => "set both",
            TlsMistake::CertWithoutEncryption => "use another mode",
            TlsMistake::CaWithoutVerification => "use verify-ca or verify-identity",
        }
    }
}

impl Tls {
    /// Checks that the settings do not contradict each other.
    ///
    /// # Errors
    /// The first contradiction.
    pub fn check(&self) -> Result<(), TlsMistake> {
        match self {
            Tls { cert: Some(_), key: None, .. } => Err(TlsMistake::CertWithoutKey),
            Tls { cert: None, key: Some(_), .. } => Err(TlsMistake::KeyWithoutCert),
            Tls { mode: TlsMode::Disabled, cert: Some(_), .. } => Err(TlsMistake::CertWithoutEncryption),
            // In these modes sqlx ignores the file: the server would look verified, but is not.
            Tls { mode: TlsMode::Disabled | TlsMode::Preferred | TlsMode::Required, ca: Some(_), .. } => {
                Err(TlsMistake::CaWithoutVerification)
            }
            _ => Ok(()),
        }
    }

    /// Checks that the files exist and are PEM. sqlx's own error would name neither the file nor its key in the configuration.
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
    let bytes = files::read(path).map_err(|error| wrong(error.to_string()))?;
    if String::from_utf8_lossy(&bytes).contains(mark) {
        Ok(())
    } else {
        Err(wrong(format!("it has no line with `{mark}`")))
    }
}

#[cfg(test)]
mod tests {
    use super::{Tls, TlsMode};
    use crate::driver::{Address, ConnectOptions, ErrorClass, open};

    /// Returns an address on which nothing listens. Connecting to it fails with another error than a wrong file.
    fn nobody() -> Address {
        Address::mysql("127.0.0.1", 1, "root", Some("hunter2"), "d").unwrap()
    }

    #[tokio::test]
    async fn a_missing_or_invalid_pem_file_is_named_before_connecting() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing.pem");
        let text = folder.path().join("text.pem");
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
            let error = open(&address, ConnectOptions::default()).await.err().unwrap();
            assert_eq!(error.class(), ErrorClass::Operator);
            assert!(error.is_configuration());
            let error = error.to_string();
            assert!(error.contains(key) && error.contains(&*file.to_string_lossy()), "{error}");
            assert!(error.contains(reason) && error.contains("name a PEM file"), "{error}");
        }
    }

    #[test]
    fn contradictory_tls_settings_are_refused_with_advice() {
        let tls = Tls { ca: Some("/ca.pem".into()), ..Tls::default() };
        let error = nobody().tls(&tls).unwrap_err().to_string();
        assert!(error.contains("does not verify the server (use verify-ca or verify-identity)"), "{error}");
    }
}
