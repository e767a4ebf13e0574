//! Certificates for tests.
//!
//! May use: nothing.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// An authority that signs certificates.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate with its key.
pub(crate) struct Certificate {
    pub(crate) pem: String,
    pub(crate) key_pem: String,
    pub(crate) der: CertificateDer<'static>,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        Authority(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// Signs the certificate of a client: its name, and its organizations.
    pub(crate) fn client(&self, name: &str, organizations: &[&str]) -> Certificate {
        self.sign(client(name, organizations))
    }

    /// Signs an expired certificate of a client.
    pub(crate) fn former_client(&self, name: &str) -> Certificate {
        let mut params = client(name, &[]);
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
        self.sign(params)
    }

    /// Signs the certificate of a server.
    pub(crate) fn server(&self, host: &str) -> Certificate {
        let mut params = CertificateParams::new([host.to_owned()]).unwrap();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.distinguished_name.push(DnType::CommonName, host);
        self.sign(params)
    }

    fn sign(&self, params: CertificateParams) -> Certificate {
        let key = KeyPair::generate().unwrap();
        let signed = params.signed_by(&key, &self.0).unwrap();
        Certificate { pem: signed.pem(), key_pem: key.serialize_pem(), der: signed.der().clone() }
    }
}

impl Certificate {
    pub(crate) fn key(&self) -> PrivateKeyDer<'static> {
        use rustls::pki_types::pem::PemObject as _;
        PrivateKeyDer::from_pem_slice(self.key_pem.as_bytes()).unwrap()
    }
}

fn client(name: &str, organizations: &[&str]) -> CertificateParams {
    let mut params = CertificateParams::new([]).unwrap();
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    params.distinguished_name = rcgen::DistinguishedName::new();
    if !name.is_empty() {
        params.distinguished_name.push(DnType::CommonName, name);
    }
    // rcgen supports one organization; another one needs its own number.
    let kinds = [DnType::OrganizationName, DnType::CustomDnType(vec![2, 5, 4, 10])];
    for (kind, organization) in kinds.into_iter().zip(organizations) {
        params.distinguished_name.push(kind, *organization);
    }
    params
}
