// `INGESTER_UPDATE=1 cargo test -p ingester-tests --test store scaffolded` writes it.

use ingester_core::Kind;

pub mod certificate {
    // The kind Certificate of cert-manager.io/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Time;
    use serde::Deserialize;

    /// An object of the kind Certificate.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "cert-manager.io", version = "v1", kind = "Certificate", plural = "certificates", namespaced)]
    #[ingest(absent = "null", finalizer = "never", evictable = false)]
    #[ingest(key(ready, not_after))]
    #[ingest(columns(ready, message, issuer_kind, issuer_name, secret_name))]
    #[index(column = "ready", with = ready, type = "VARCHAR(16)")]
    #[index(column = "message", with = message, type = "TEXT", key = false)]
    #[index(column = "issuer_kind", with = issuer_kind, type = "VARCHAR(63)")]
    #[index(column = "failed_attempts", with = failed_attempts)]
    #[serde(rename_all = "camelCase", default)]
    pub struct Certificate {
        #[index(column = "not_after", path = "not_after")]
        #[index(column = "renewal_time", path = "renewal_time")]
        #[index(column = "revision", path = "revision", key = false)]
        pub status: CertificateStatus,
        #[index(column = "issuer_name", path = "issuer_ref.name", type = "VARCHAR(253)")]
        #[index(column = "dns_names", path = "dns_names", type = "VARCHAR(253)", many)]
        #[index(column = "secret_name", path = "secret_name", type = "VARCHAR(253)")]
        pub spec: CertificateSpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct CertificateStatus {
        pub conditions: Vec<CertificateStatusConditions>,
        pub not_after: Option<Time>,
        pub renewal_time: Option<Time>,
        pub revision: Option<i32>,
        pub failed_issuance_attempts: Option<i32>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct CertificateStatusConditions {
        pub type_: Option<String>,
        pub status: Option<String>,
        pub message: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct CertificateSpec {
        pub issuer_ref: CertificateSpecIssuerRef,
        pub dns_names: Vec<String>,
        pub secret_name: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct CertificateSpecIssuerRef {
        pub kind: Option<String>,
        pub name: Option<String>,
    }

    /// `.status.conditions[type="Ready"].status`
    fn ready(object: &Certificate) -> Option<String> {
        object.status.conditions.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.status.clone()
    }

    /// `.status.conditions[type="Ready"].message`
    fn message(object: &Certificate) -> Option<String> {
        object.status.conditions.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.message.clone()
    }

    /// `.spec.issuerRef.kind`
    fn issuer_kind(object: &Certificate) -> Option<String> {
        let value_1 = || object.spec.issuer_ref.kind.clone();
        value_1().or_else(|| Some("Issuer".to_owned()))
    }

    /// `.status.failedIssuanceAttempts`
    fn failed_attempts(object: &Certificate) -> Option<i32> {
        let value_1 = || object.status.failed_issuance_attempts;
        value_1().or(Some(0))
    }
}

pub mod certificaterequest {
    // The kind CertificateRequest of cert-manager.io/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use ingester_core::wire::Time;
    use serde::Deserialize;

    /// An object of the kind CertificateRequest.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(
        group = "cert-manager.io",
        version = "v1",
        kind = "CertificateRequest",
        plural = "certificaterequests",
        namespaced
    )]
    #[ingest(absent = "null", finalizer = "never", evictable = false)]
    #[ingest(retention = "365d")]
    #[ingest(columns(certificate, ready, message, reason, approved, issuer_kind, issuer_name, username))]
    #[index(column = "ready", with = ready, type = "VARCHAR(16)")]
    #[index(column = "message", with = message, type = "TEXT", key = false)]
    #[index(column = "reason", with = reason, type = "VARCHAR(63)")]
    #[index(column = "approved", with = approved, type = "VARCHAR(16)")]
    #[index(column = "issuer_kind", with = issuer_kind, type = "VARCHAR(63)")]
    #[index(path = "metadata.annotations", column = "certificate", with = certificate, type = "VARCHAR(253)")]
    #[serde(rename_all = "camelCase", default)]
    pub struct CertificateRequest {
        #[index(column = "failure_time", path = "failure_time")]
        pub status: CertificateRequestStatus,
        #[index(column = "issuer_name", path = "issuer_ref.name", type = "VARCHAR(253)")]
        #[index(column = "username", path = "username")]
        pub spec: CertificateRequestSpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct CertificateRequestStatus {
        pub conditions: Vec<CertificateRequestStatusConditions>,
        pub failure_time: Option<Time>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct CertificateRequestStatusConditions {
        pub type_: Option<String>,
        pub status: Option<String>,
        pub message: Option<String>,
        pub reason: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct CertificateRequestSpec {
        pub issuer_ref: CertificateRequestSpecIssuerRef,
        pub username: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct CertificateRequestSpecIssuerRef {
        pub kind: Option<String>,
        pub name: Option<String>,
    }

    /// `.metadata.annotations["cert-manager.io/certificate-name"]`
    fn certificate(annotations: &StringMap) -> Option<String> {
        annotations
            .iter()
            .find(|(key, _)| **key == *"cert-manager.io/certificate-name")
            .map(|(_, value)| value.to_string())
    }

    /// `.status.conditions[type="Ready"].status`
    fn ready(object: &CertificateRequest) -> Option<String> {
        object.status.conditions.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.status.clone()
    }

    /// `.status.conditions[type="Ready"].message`
    fn message(object: &CertificateRequest) -> Option<String> {
        object.status.conditions.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.message.clone()
    }

    /// `.status.conditions[type="Ready"].reason`
    fn reason(object: &CertificateRequest) -> Option<String> {
        object.status.conditions.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.reason.clone()
    }

    /// `.status.conditions[type="Approved"].status`
    fn approved(object: &CertificateRequest) -> Option<String> {
        object.status.conditions.iter().find(|element| element.type_.as_deref() == Some("Approved"))?.status.clone()
    }

    /// `.spec.issuerRef.kind`
    fn issuer_kind(object: &CertificateRequest) -> Option<String> {
        let value_1 = || object.spec.issuer_ref.kind.clone();
        value_1().or_else(|| Some("Issuer".to_owned()))
    }
}

pub mod issuer {
    // The kind Issuer of cert-manager.io/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;
    use serde::de::IgnoredAny;

    /// An object of the kind Issuer.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "cert-manager.io", version = "v1", kind = "Issuer", plural = "issuers", namespaced)]
    #[ingest(absent = "null", finalizer = "never", evictable = false)]
    #[ingest(columns(ready, message))]
    #[index(column = "ready", with = ready, type = "VARCHAR(16)")]
    #[index(column = "message", with = message, type = "TEXT", key = false)]
    #[index(column = "self_signed", with = self_signed)]
    #[serde(rename_all = "camelCase", default)]
    pub struct Issuer {
        pub status: IssuerStatus,
        #[index(column = "acme_server", path = "acme.server", type = "VARCHAR(512)")]
        #[index(column = "ca_secret", path = "ca.secret_name", type = "VARCHAR(253)")]
        #[index(column = "vault_server", path = "vault.server", type = "VARCHAR(512)")]
        pub spec: IssuerSpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct IssuerStatus {
        pub conditions: Vec<IssuerStatusConditions>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct IssuerStatusConditions {
        pub type_: Option<String>,
        pub status: Option<String>,
        pub message: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct IssuerSpec {
        pub acme: IssuerSpecAcme,
        pub ca: IssuerSpecCa,
        pub vault: IssuerSpecVault,
        pub self_signed: Option<IgnoredAny>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct IssuerSpecAcme {
        pub server: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct IssuerSpecCa {
        pub secret_name: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct IssuerSpecVault {
        pub server: Option<String>,
    }

    /// `.status.conditions[type="Ready"].status`
    fn ready(object: &Issuer) -> Option<String> {
        object.status.conditions.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.status.clone()
    }

    /// `.status.conditions[type="Ready"].message`
    fn message(object: &Issuer) -> Option<String> {
        object.status.conditions.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.message.clone()
    }

    /// `.spec.selfSigned | exists`
    fn self_signed(object: &Issuer) -> Option<bool> {
        Some(object.spec.self_signed.is_some())
    }
}

pub mod clusterissuer {
    // The kind ClusterIssuer of cert-manager.io/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;
    use serde::de::IgnoredAny;

    /// An object of the kind ClusterIssuer.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(
        group = "cert-manager.io",
        version = "v1",
        kind = "ClusterIssuer",
        plural = "clusterissuers",
        namespaced = false
    )]
    #[ingest(absent = "null", finalizer = "never", evictable = false)]
    #[ingest(columns(ready, message))]
    #[index(column = "ready", with = ready, type = "VARCHAR(16)")]
    #[index(column = "message", with = message, type = "TEXT", key = false)]
    #[index(column = "self_signed", with = self_signed)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ClusterIssuer {
        pub status: ClusterIssuerStatus,
        #[index(column = "acme_server", path = "acme.server", type = "VARCHAR(512)")]
        #[index(column = "ca_secret", path = "ca.secret_name", type = "VARCHAR(253)")]
        #[index(column = "vault_server", path = "vault.server", type = "VARCHAR(512)")]
        pub spec: ClusterIssuerSpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ClusterIssuerStatus {
        pub conditions: Vec<ClusterIssuerStatusConditions>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ClusterIssuerStatusConditions {
        pub type_: Option<String>,
        pub status: Option<String>,
        pub message: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ClusterIssuerSpec {
        pub acme: ClusterIssuerSpecAcme,
        pub ca: ClusterIssuerSpecCa,
        pub vault: ClusterIssuerSpecVault,
        pub self_signed: Option<IgnoredAny>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ClusterIssuerSpecAcme {
        pub server: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ClusterIssuerSpecCa {
        pub secret_name: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ClusterIssuerSpecVault {
        pub server: Option<String>,
    }

    /// `.status.conditions[type="Ready"].status`
    fn ready(object: &ClusterIssuer) -> Option<String> {
        object.status.conditions.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.status.clone()
    }

    /// `.status.conditions[type="Ready"].message`
    fn message(object: &ClusterIssuer) -> Option<String> {
        object.status.conditions.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.message.clone()
    }

    /// `.spec.selfSigned | exists`
    fn self_signed(object: &ClusterIssuer) -> Option<bool> {
        Some(object.spec.self_signed.is_some())
    }
}

pub mod acme_order {
    // The kind Order of acme.cert-manager.io/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use ingester_core::wire::Time;
    use serde::Deserialize;

    /// An object of the kind Order.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "acme.cert-manager.io", version = "v1", kind = "Order", plural = "orders", namespaced)]
    #[ingest(absent = "null", finalizer = "never", evictable = false, table = "acme_order")]
    #[ingest(retention = "365d")]
    #[ingest(columns(certificate, state, reason, issuer_kind, issuer_name))]
    #[index(column = "issuer_kind", with = issuer_kind, type = "VARCHAR(63)")]
    #[index(path = "metadata.annotations", column = "certificate", with = certificate, type = "VARCHAR(253)")]
    #[serde(rename_all = "camelCase", default)]
    pub struct Order {
        #[index(column = "state", path = "state", type = "VARCHAR(16)")]
        #[index(column = "reason", path = "reason", type = "TEXT", key = false)]
        #[index(column = "failure_time", path = "failure_time")]
        pub status: OrderStatus,
        #[index(column = "issuer_name", path = "issuer_ref.name", type = "VARCHAR(253)")]
        #[index(column = "dns_names", path = "dns_names", type = "VARCHAR(253)", many)]
        pub spec: OrderSpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct OrderStatus {
        pub state: Option<String>,
        pub reason: Option<String>,
        pub failure_time: Option<Time>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct OrderSpec {
        pub issuer_ref: OrderSpecIssuerRef,
        pub dns_names: Vec<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct OrderSpecIssuerRef {
        pub kind: Option<String>,
        pub name: Option<String>,
    }

    /// `.metadata.annotations["cert-manager.io/certificate-name"]`
    fn certificate(annotations: &StringMap) -> Option<String> {
        annotations
            .iter()
            .find(|(key, _)| **key == *"cert-manager.io/certificate-name")
            .map(|(_, value)| value.to_string())
    }

    /// `.spec.issuerRef.kind`
    fn issuer_kind(object: &Order) -> Option<String> {
        let value_1 = || object.spec.issuer_ref.kind.clone();
        value_1().or_else(|| Some("Issuer".to_owned()))
    }
}

pub mod acme_challenge {
    // The kind Challenge of acme.cert-manager.io/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind Challenge.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "acme.cert-manager.io", version = "v1", kind = "Challenge", plural = "challenges", namespaced)]
    #[ingest(absent = "null", finalizer = "never", evictable = false, table = "acme_challenge")]
    #[ingest(retention = "365d")]
    #[ingest(columns(dns_name, type, state, reason, presented, issuer_kind))]
    #[index(column = "issuer_kind", with = issuer_kind, type = "VARCHAR(63)")]
    // not expressible: column `order_name` of `.metadata.ownerReferences[controller="true"].name`; a function can make it, `#[index(column = "order_name", with = ..., type = "VARCHAR(253)")]`.
    #[serde(rename_all = "camelCase", default)]
    pub struct Challenge {
        #[index(column = "dns_name", path = "dns_name", type = "VARCHAR(253)")]
        #[index(column = "type", path = "type_", type = "VARCHAR(16)")]
        #[index(column = "issuer_name", path = "issuer_ref.name", type = "VARCHAR(253)")]
        pub spec: ChallengeSpec,
        #[index(column = "state", path = "state", type = "VARCHAR(16)")]
        #[index(column = "reason", path = "reason", type = "TEXT", key = false)]
        #[index(column = "presented", path = "presented")]
        pub status: ChallengeStatus,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ChallengeSpec {
        pub dns_name: Option<String>,
        pub type_: Option<String>,
        pub issuer_ref: ChallengeSpecIssuerRef,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ChallengeSpecIssuerRef {
        pub kind: Option<String>,
        pub name: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ChallengeStatus {
        pub state: Option<String>,
        pub reason: Option<String>,
        pub presented: Option<bool>,
    }

    /// `.spec.issuerRef.kind`
    fn issuer_kind(object: &Challenge) -> Option<String> {
        let value_1 = || object.spec.issuer_ref.kind.clone();
        value_1().or_else(|| Some("Issuer".to_owned()))
    }
}

pub mod cert_manager_event {
    // The kind Event of v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Time;
    use serde::Deserialize;

    /// An object of the kind Event.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "", version = "v1", kind = "Event", plural = "events", namespaced)]
    #[ingest(absent = "null", finalizer = "never", evictable = false, companions = false, table = "cert_manager_event")]
    #[ingest(retention = "30d")]
    #[ingest(filter = has_row)]
    #[ingest(key(involved_uid, last_seen))]
    #[index(column = "count", with = count, key = false)]
    #[index(column = "last_seen", with = last_seen)]
    #[serde(rename_all = "camelCase", default)]
    pub struct Event {
        #[index(column = "involved_kind", path = "kind", type = "VARCHAR(63)")]
        #[index(column = "involved_name", path = "name", type = "VARCHAR(253)")]
        #[index(column = "involved_uid", path = "uid", type = "VARCHAR(64)")]
        pub involved_object: EventInvolvedObject,
        #[index(column = "type", type = "VARCHAR(16)")]
        pub type_: Option<String>,
        #[index(column = "reason", type = "VARCHAR(128)")]
        pub reason: Option<String>,
        #[index(column = "message", type = "TEXT", key = false)]
        pub message: Option<String>,
        pub count: Option<i32>,
        pub series: EventSeries,
        pub last_timestamp: Option<Time>,
        pub event_time: Option<Time>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct EventInvolvedObject {
        pub kind: Option<String>,
        pub name: Option<String>,
        pub uid: Option<String>,
        pub api_version: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct EventSeries {
        pub count: Option<i32>,
        pub last_observed_time: Option<Time>,
    }

    /// `.count`, or `.series.count`
    fn count(object: &Event) -> Option<i32> {
        let value_1 = || object.count;
        let value_2 = || object.series.count;
        value_1().or_else(value_2).or(Some(1))
    }

    /// `.lastTimestamp`, or `.series.lastObservedTime`, or `.eventTime`
    fn last_seen(object: &Event) -> Option<Time> {
        let value_1 = || object.last_timestamp;
        let value_2 = || object.series.last_observed_time;
        let value_3 = || object.event_time;
        value_1().or_else(value_2).or_else(value_3)
    }

    /// Whether an object has a row.
    fn has_row(object: &Event) -> bool {
        let value_1 = || object.involved_object.api_version.clone();
        value_1().is_some_and(|text| ["cert-manager.io/v1", "acme.cert-manager.io/v1"].contains(&text.as_str()))
    }
}

pub const KINDS: &[Kind] = &[
    Kind::of::<certificate::Certificate>(),
    Kind::of::<certificaterequest::CertificateRequest>(),
    Kind::of::<issuer::Issuer>(),
    Kind::of::<clusterissuer::ClusterIssuer>(),
    Kind::of::<acme_order::Order>(),
    Kind::of::<acme_challenge::Challenge>(),
    Kind::of::<cert_manager_event::Event>(),
];
