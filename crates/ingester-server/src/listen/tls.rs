//! The server's certificate, and the request for the client's.

use crate::metrics::Metrics;
use ingester_store::files;
use parking_lot::RwLock;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{DigitallySignedStruct, DistinguishedName, ServerConfig, SignatureScheme};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// TLS with the certificate of two files.
#[derive(Debug)]
pub struct Tls {
    files: Files,
    certificate: Arc<Certificate>,
    config: Arc<ServerConfig>,
    /// The digest of the files that were read last, usable or not.
    read: [u8; 32],
}

#[derive(Clone, Debug)]
struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

/// The certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{} cannot be read: {error}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// A file has the wrong content.
    #[error("{} has no {what} in PEM", path.display())]
    Pem {
        /// The path of the file.
        path: PathBuf,
        /// The missing content.
        what: &'static str,
    },
    /// Certificate and key do not match, or are of an unknown kind.
    #[error("the certificate in {} cannot be used with the key in {}: {error}", certificate.display(), key.display())]
    Unusable {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of its key.
        key: PathBuf,
        /// The reason.
        error: rustls::Error,
    },
    /// The TLS library reports an error.
    #[error("TLS cannot be set up: {0}")]
    Setup(rustls::Error),
}

impl Tls {
    /// Reads a certificate, followed by the certificates between it and its authority, and its key.
    ///
    /// # Errors
    /// If they cannot be read or used.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let files = Files { certificate: certificate.to_owned(), key: key.to_owned() };
        let text = files.read_files()?;
        let certificate = Certificate(RwLock::new(Arc::new(files.parse(&text, &provider)?)));
        let certificate = Arc::new(certificate);
        let mut config = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Setup)?
            .with_client_cert_verifier(Arc::new(AnyClient(provider)))
            .with_cert_resolver(certificate.clone());
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Tls { read: text.digest(), files, certificate, config: Arc::new(config) })
    }

    /// Returns the configuration, which always has the current certificate.
    pub(super) fn config(&self) -> Arc<ServerConfig> {
        self.config.clone()
    }

    /// Checks the files regularly until `stop` is cancelled, and presents their new content when they have changed. An unusable certificate
    /// is logged, and the last one stays.
    pub async fn follow(mut self, every: Duration, metrics: Metrics, stop: CancellationToken) {
        while stop.run_until_cancelled(tokio::time::sleep(every)).await.is_some() {
            let files = self.files.clone();
            let text = tokio::task::spawn_blocking(move || files.read_files()).await;
            let text = match text {
                Ok(Ok(text)) => text,
                // The files are being replaced. If they stay away, this is logged once.
                Ok(Err(error)) => {
                    if self.read != [0; 32] {
                        tracing::warn!(%error, "Cannot read the new certificate, keeping the former one");
                        metrics.reloaded(false);
                        self.read = [0; 32];
                    }
                    continue;
                }
                Err(error) => {
                    tracing::warn!(%error, "Cannot read the new certificate, keeping the former one");
                    continue;
                }
            };
            let digest = text.digest();
            if digest == self.read {
                continue;
            }
            self.read = digest;
            match self.files.parse(&text, self.config.crypto_provider()) {
                Ok(new) => {
                    *self.certificate.0.write() = Arc::new(new);
                    metrics.reloaded(true);
                    tracing::info!(file = %self.files.certificate.display(), "The certificate was read again");
                }
                Err(error) => {
                    metrics.reloaded(false);
                    tracing::warn!(%error, "Cannot use the new certificate, keeping the former one");
                }
            }
        }
    }
}

/// The content of both files.
struct PemTexts {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl PemTexts {
    fn digest(&self) -> [u8; 32] {
        let mut digest = Sha256::new();
        digest.update((self.certificate.len() as u64).to_le_bytes());
        digest.update(&self.certificate);
        digest.update(&self.key);
        digest.finalize().into()
    }
}

impl Files {
    fn read_files(&self) -> Result<PemTexts, TlsError> {
        let read = |path: &PathBuf| files::read(path).map_err(|error| TlsError::File { path: path.clone(), error });
        Ok(PemTexts { certificate: read(&self.certificate)?, key: read(&self.key)? })
    }

    fn parse(&self, text: &PemTexts, provider: &CryptoProvider) -> Result<CertifiedKey, TlsError> {
        let not = |path: &PathBuf, what| TlsError::Pem { path: path.clone(), what };
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text.certificate).collect();
        let chain = chain.ok().filter(|chain| !chain.is_empty());
        let chain = chain.ok_or_else(|| not(&self.certificate, "certificate"))?;
        let key = PrivateKeyDer::from_pem_slice(&text.key).map_err(|_| not(&self.key, "private key"))?;
        CertifiedKey::from_der(chain, key, provider).map_err(|error| TlsError::Unusable {
            certificate: self.certificate.clone(),
            key: self.key.clone(),
            error,
        })
    }
}

/// The current certificate.
struct Certificate(RwLock<Arc<CertifiedKey>>);

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Certificate")
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.read().clone())
    }
}

/// Asks for a certificate, and accepts any certificate whose key the client has. The signer is checked with each request, because the
/// trusted authority may change in the meantime, and the certificate may expire.
#[derive(Debug)]
struct AnyClient(Arc<CryptoProvider>);

impl ClientCertVerifier for AnyClient {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
