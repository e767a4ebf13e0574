//! The kind Certificate of cert-manager.io/v1, as far as its columns need it.
//!
//! Written from the CustomResourceDefinition certificates.cert-manager.io: change it as you like.

use ingester_core::Ingestable;
use ingester_core::wire::Time;
use serde::Deserialize;

/// A key and a certificate that are kept in a Secret and made anew before they expire.
#[derive(Ingestable, Deserialize, Clone, Debug, Default)]
#[ingest(group = "cert-manager.io", version = "v1", kind = "Certificate", plural = "certificates", namespaced)]
#[ingest(absent = "null")]
// No object waits for the ingester when it is deleted. The ingester deletes none, whatever its annotations say, and needs no right to
// do so.
#[ingest(finalizer = "never", evictable = false)]
#[ingest(columns(issuer_ref_group, issuer_ref_kind, issuer_ref_name, ready, secret_name, ready_message))]
#[index(column = "ready", with = ready, header = "Ready")]
#[index(column = "ready_message", with = ready_message, type = "TEXT", key = false, header = "Status", wide = true)]
#[serde(rename_all = "camelCase", default)]
pub struct Certificate {
    #[index(column = "issuer_ref_group", path = "issuer_ref.group", type = "VARCHAR(768)")]
    #[index(column = "issuer_ref_kind", path = "issuer_ref.kind", type = "VARCHAR(768)")]
    #[index(
        column = "issuer_ref_name",
        path = "issuer_ref.name",
        type = "VARCHAR(768)",
        header = "Issuer",
        wide = true
    )]
    #[index(column = "secret_name", path = "secret_name", type = "TEXT", key = false, header = "Secret")]
    pub spec: CertificateSpec,
    #[index(column = "not_after", path = "not_after", header = "Expiration", wide = true)]
    pub status: CertificateStatus,
}

#[derive(Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct CertificateSpec {
    pub issuer_ref: CertificateSpecIssuerRef,
    pub secret_name: Option<String>,
}

#[derive(Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct CertificateSpecIssuerRef {
    pub group: Option<String>,
    pub kind: Option<String>,
    pub name: Option<String>,
}

#[derive(Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct CertificateStatus {
    pub conditions: Vec<CertificateStatusConditions>,
    pub not_after: Option<Time>,
}

#[derive(Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct CertificateStatusConditions {
    pub type_: Option<String>,
    pub status: Option<String>,
    pub message: Option<String>,
}

/// `.status.conditions[type="Ready"].status`
fn ready(object: &Certificate) -> Option<String> {
    object.status.conditions.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.status.clone()
}

/// `.status.conditions[type="Ready"].message`
fn ready_message(object: &Certificate) -> Option<String> {
    object.status.conditions.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.message.clone()
}
