//! Which authority signed a client's certificate, and whose certificate it is.

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use std::fmt;
use std::sync::Arc;
use x509_parser::prelude::{FromDer as _, X509Certificate};

/// The certificates of the authorities that sign clients' certificates.
#[derive(Clone)]
pub struct Authority(Arc<dyn ClientCertVerifier>);

/// The certificates of an authority cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct AuthorityError(String);

/// Whose a certificate is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Subject {
    /// The last common name, as in Go; may be empty.
    pub(super) name: String,
    pub(super) organizations: Vec<String>,
}

impl Authority {
    /// Reads certificates in PEM.
    ///
    /// # Errors
    /// If there are no certificates, or one cannot be used.
    pub(crate) fn from_pem(pem: &[u8]) -> Result<Self, AuthorityError> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|error| AuthorityError(format!("this is not PEM: {error}")))?;
            roots
                .add(certificate)
                .map_err(|error| AuthorityError(format!("a certificate cannot be used to verify others: {error}")))?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        WebPkiClientVerifier::builder_with_provider(roots.into(), provider)
            .build()
            .map(Authority)
            .map_err(|error| AuthorityError(format!("there is no certificate: {error}")))
    }

    /// Whose certificate it is, if this authority signed it, for clients, and it is valid now.
    pub(super) fn verified(&self, chain: &[CertificateDer<'static>], now: UnixTime) -> Result<Subject, rustls::Error> {
        let (own, between) = chain.split_first().ok_or(rustls::Error::NoCertificatesPresented)?;
        self.0.verify_client_cert(own, between, now)?;
        let unreadable = || rustls::Error::InvalidCertificate(rustls::CertificateError::BadEncoding);
        let (_, certificate) = X509Certificate::from_der(own).map_err(|_| unreadable())?;
        let subject = certificate.subject();
        let name = subject.iter_common_name().last().map(|name| name.as_str()).transpose().map_err(|_| unreadable())?;
        let organizations = subject.iter_organization().map(|name| name.as_str().map(str::to_owned));
        let organizations = organizations.collect::<Result<_, _>>().map_err(|_| unreadable())?;
        Ok(Subject { name: name.unwrap_or_default().to_owned(), organizations })
    }
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authority")
    }
}
