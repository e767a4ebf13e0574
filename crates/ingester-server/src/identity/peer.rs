//! The other end of a connection.

use rustls::pki_types::CertificateDer;
use std::net::SocketAddr;
use std::sync::Arc;

/// The other end of a connection.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Its address.
    pub address: SocketAddr,
    /// The certificates that it presented, its own first; empty if it presented none. It has proven that it has the key of its own certificate,
    /// and nothing else: [`Identity`](super::Identity) checks who signed that.
    pub certificates: Arc<[CertificateDer<'static>]>,
}

impl Peer {
    /// Without a certificate.
    pub fn new(address: SocketAddr) -> Self {
        Peer { address, certificates: Arc::from([]) }
    }
}
