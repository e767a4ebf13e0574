// `INGESTER_UPDATE=1 cargo test -p ingester-tests --test store scaffolded` writes it.

use ingester_core::Kind;

pub mod apple {
    // The kind Apple of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind Apple.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "Apple", plural = "apples", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct Apple {
        #[index(column = "colour", path = "colour")]
        #[index(column = "size", path = "size")]
        pub spec: AppleSpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct AppleSpec {
        pub colour: Option<String>,
        pub size: Option<i32>,
    }
}

pub mod pear {
    // The kind Pear of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind Pear.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "Pear", plural = "pears", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct Pear {
        #[index(column = "colour", path = "colour")]
        #[index(column = "size", path = "size")]
        pub spec: PearSpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct PearSpec {
        pub colour: Option<String>,
        pub size: Option<i32>,
    }
}

pub mod plum {
    // The kind Plum of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind Plum.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "Plum", plural = "plums", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct Plum {
        #[index(column = "colour", path = "colour")]
        #[index(column = "size", path = "size")]
        pub spec: PlumSpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct PlumSpec {
        pub colour: Option<String>,
        pub size: Option<i32>,
    }
}

pub mod fig {
    // The kind Fig of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;

    /// An object of the kind Fig.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "Fig", plural = "figs", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct Fig {
        #[index(column = "memory", path = "memory", unit = "whole")]
        #[index(column = "cpu", path = "cpu", unit = "milli")]
        #[index(column = "disk", path = "disk", unit = "whole")]
        pub spec: FigSpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct FigSpec {
        pub memory: Option<Quantity>,
        pub cpu: Option<Quantity>,
        pub disk: Option<Quantity>,
    }
}

pub mod date {
    // The kind Date of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;

    /// An object of the kind Date.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "Date", plural = "dates", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct Date {
        #[index(column = "memory", path = "memory", unit = "whole")]
        #[index(column = "cpu", path = "cpu", unit = "milli")]
        pub spec: DateSpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct DateSpec {
        pub memory: Option<Quantity>,
        pub cpu: Option<Quantity>,
    }
}

pub mod lime {
    // The kind Lime of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Time;
    use serde::Deserialize;

    /// An object of the kind Lime.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "Lime", plural = "limes", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(evict(name = "past", when(field_selector = "spec.since<2026-01-01T00:00:00Z", label_selector = "!draft"), after = "5400s", since = "until", keep_last(count = 2, by = ["namespace"]), namespaces = ["a"], namespace_selector = "tier=b"))]
    #[ingest(evict(name = "old", after = "86400s"))]
    #[serde(rename_all = "camelCase", default)]
    pub struct Lime {
        #[index(column = "since", path = "since")]
        #[index(column = "until", path = "until", key = false)]
        pub spec: LimeSpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct LimeSpec {
        pub since: Option<Time>,
        pub until: Option<Time>,
    }
}

pub mod kiwi {
    // The kind Kiwi of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Time;
    use serde::Deserialize;

    /// An object of the kind Kiwi.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "Kiwi", plural = "kiwis", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct Kiwi {
        #[index(column = "since", path = "since")]
        #[index(column = "open", path = "open")]
        pub spec: KiwiSpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct KiwiSpec {
        pub since: Option<Time>,
        pub open: Option<bool>,
    }
}

pub mod nut {
    // The kind Nut of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind Nut.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "Nut", plural = "nuts", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct Nut {
        #[index(column = "open", path = "open")]
        #[index(column = "share", path = "share")]
        pub spec: NutSpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct NutSpec {
        pub open: Option<bool>,
        pub share: Option<f64>,
    }
}

pub mod oak {
    // The kind Oak of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind Oak.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "Oak", plural = "oaks", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct Oak {
        #[index(column = "share", path = "share")]
        #[index(column = "count_of_it", path = "count")]
        pub spec: OakSpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct OakSpec {
        pub share: Option<f64>,
        pub count: Option<i64>,
    }
}

pub mod elm {
    // The kind Elm of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind Elm.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "Elm", plural = "elms", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct Elm {
        #[index(column = "count_of_it", path = "count")]
        #[index(column = "many_of_it", path = "many")]
        pub spec: ElmSpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ElmSpec {
        pub count: Option<i64>,
        pub many: Option<u64>,
    }
}

pub mod ash {
    // The kind Ash of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind Ash.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "Ash", plural = "ashs", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct Ash {
        #[index(column = "many_of_it", path = "many")]
        #[index(column = "short", path = "short", type = "VARCHAR(16)")]
        pub spec: AshSpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct AshSpec {
        pub many: Option<u64>,
        pub short: Option<String>,
    }
}

pub mod yew {
    // The kind Yew of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind Yew.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "Yew", plural = "yews", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct Yew {
        #[index(column = "short", path = "short", type = "VARCHAR(16)", keep)]
        #[index(column = "first", path = "first", first)]
        pub spec: YewSpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct YewSpec {
        pub short: Option<String>,
        pub first: Option<String>,
    }
}

pub mod ivy {
    // The kind Ivy of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind Ivy.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "Ivy", plural = "ivies", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct Ivy {
        #[index(column = "text", path = "text", type = "TEXT", key = false)]
        #[index(column = "long", path = "long", type = "MEDIUMTEXT", key = false)]
        pub spec: IvySpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct IvySpec {
        pub text: Option<String>,
        pub long: Option<String>,
    }
}

pub mod fern {
    // The kind Fern of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind Fern.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "Fern", plural = "ferns", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct Fern {
        #[index(column = "text", path = "text", type = "TEXT", key = false)]
        #[index(column = "maybe", path = "maybe", absent = "null")]
        pub spec: FernSpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct FernSpec {
        pub text: Option<String>,
        pub maybe: Option<String>,
    }
}

pub mod moss {
    // The kind Moss of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind Moss.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "Moss", plural = "mosses", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct Moss {
        #[index(column = "always", path = "always", absent = "empty")]
        #[index(column = "phase", path = "phase")]
        pub spec: MossSpec,
        #[index(column = "status_phase", path = "phase")]
        pub status: MossStatus,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MossSpec {
        pub always: Option<String>,
        pub phase: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MossStatus {
        pub phase: Option<String>,
    }
}

pub mod reed {
    // The kind Reed of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Time;
    use serde::Deserialize;

    /// An object of the kind Reed.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "Reed", plural = "reeds", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct Reed {
        #[index(column = "display_name", path = "display_name")]
        pub spec: ReedSpec,
        #[index(column = "is_ready", path = "is_ready")]
        #[index(column = "last_seen", path = "last_seen")]
        pub status: ReedStatus,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ReedSpec {
        pub display_name: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ReedStatus {
        pub is_ready: Option<bool>,
        pub last_seen: Option<Time>,
    }
}

pub mod rose {
    // The kind Rose of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind Rose.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "Rose", plural = "roses", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct Rose {
        #[index(column = "a_b", path = "a_b", json = "a-b")]
        #[index(column = "a_c", path = "a_c", json = "a_c")]
        pub spec: RoseSpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct RoseSpec {
        #[serde(rename = "a-b")]
        pub a_b: Option<String>,
        #[serde(rename = "a_c")]
        pub a_c: Option<i32>,
    }
}

pub mod lily {
    // The kind Lily of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;

    /// An object of the kind Lily.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "Lily", plural = "lilies", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct Lily {
        #[index(column = "cpu", path = "cpu", unit = "milli")]
        #[index(column = "small", path = "small")]
        pub spec: LilySpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct LilySpec {
        pub cpu: Option<Quantity>,
        pub small: Option<i32>,
    }
}

pub mod iris {
    // The kind Iris of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind Iris.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "Iris", plural = "irises", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct Iris {
        #[index(column = "small", path = "small")]
        #[index(column = "wide", path = "wide")]
        pub spec: IrisSpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct IrisSpec {
        pub small: Option<i32>,
        pub wide: Option<i64>,
    }
}

pub mod aloe {
    // The kind Aloe of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind Aloe.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "Aloe", plural = "aloes", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct Aloe {
        #[index(column = "list", path = "list", many)]
        #[index(column = "one", path = "one")]
        pub spec: AloeSpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct AloeSpec {
        pub list: Vec<String>,
        pub one: Option<String>,
    }
}

pub mod certificate {
    // The kind Certificate of cert-manager.io/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Time;
    use serde::Deserialize;

    /// An object of the kind Certificate.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "cert-manager.io", version = "v1", kind = "Certificate", plural = "certificates", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct Certificate {
        #[index(column = "secret_name", path = "secret_name")]
        #[index(column = "common_name", path = "common_name")]
        #[index(column = "dns_names", path = "dns_names", many)]
        pub spec: CertificateSpec,
        #[index(column = "not_after", path = "not_after")]
        #[index(column = "revision", path = "revision")]
        pub status: CertificateStatus,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct CertificateSpec {
        pub secret_name: Option<String>,
        pub common_name: Option<String>,
        pub dns_names: Vec<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct CertificateStatus {
        pub not_after: Option<Time>,
        pub revision: Option<i64>,
    }
}

pub mod certificaterequest {
    // The kind CertificateRequest of cert-manager.io/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
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
    #[ingest(absent = "null", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct CertificateRequest {
        #[index(column = "username", path = "username")]
        #[index(column = "is_ca", path = "is_ca", json = "isCA")]
        pub spec: CertificateRequestSpec,
        #[index(column = "failure_time", path = "failure_time")]
        pub status: CertificateRequestStatus,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct CertificateRequestSpec {
        pub username: Option<String>,
        #[serde(rename = "isCA")]
        pub is_ca: Option<bool>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct CertificateRequestStatus {
        pub failure_time: Option<Time>,
    }
}

pub mod issuer {
    // The kind Issuer of cert-manager.io/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind Issuer.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "cert-manager.io", version = "v1", kind = "Issuer", plural = "issuers", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct Issuer {
        #[index(column = "email", path = "last_registered_email")]
        pub status: IssuerStatus,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct IssuerStatus {
        pub last_registered_email: Option<String>,
    }
}

pub mod clusterissuer {
    // The kind ClusterIssuer of cert-manager.io/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind ClusterIssuer.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "cert-manager.io", version = "v1", kind = "ClusterIssuer", plural = "clusterissuers", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct ClusterIssuer {
        #[index(column = "email", path = "last_registered_email")]
        pub status: ClusterIssuerStatus,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ClusterIssuerStatus {
        pub last_registered_email: Option<String>,
    }
}

pub mod order {
    // The kind Order of acme.cert-manager.io/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind Order.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "acme.cert-manager.io", version = "v1", kind = "Order", plural = "orders", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct Order {
        #[index(column = "common_name", path = "common_name")]
        #[index(column = "dns_names", path = "dns_names", many)]
        pub spec: OrderSpec,
        #[index(column = "order_state", path = "state")]
        #[index(column = "reason", path = "reason", type = "TEXT", key = false)]
        pub status: OrderStatus,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct OrderSpec {
        pub common_name: Option<String>,
        pub dns_names: Vec<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct OrderStatus {
        pub state: Option<String>,
        pub reason: Option<String>,
    }
}

pub mod challenge {
    // The kind Challenge of acme.cert-manager.io/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind Challenge.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "acme.cert-manager.io", version = "v1", kind = "Challenge", plural = "challenges", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[serde(rename_all = "camelCase", default)]
    pub struct Challenge {
        #[index(column = "dns_name", path = "dns_name")]
        #[index(column = "wildcard", path = "wildcard")]
        pub spec: ChallengeSpec,
        #[index(column = "presented", path = "presented")]
        #[index(column = "challenge_state", path = "state")]
        pub status: ChallengeStatus,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ChallengeSpec {
        pub dns_name: Option<String>,
        pub wildcard: Option<bool>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ChallengeStatus {
        pub presented: Option<bool>,
        pub state: Option<String>,
    }
}

pub const KINDS: &[Kind] = &[
    Kind::of::<apple::Apple>(),
    Kind::of::<pear::Pear>(),
    Kind::of::<plum::Plum>(),
    Kind::of::<fig::Fig>(),
    Kind::of::<date::Date>(),
    Kind::of::<lime::Lime>(),
    Kind::of::<kiwi::Kiwi>(),
    Kind::of::<nut::Nut>(),
    Kind::of::<oak::Oak>(),
    Kind::of::<elm::Elm>(),
    Kind::of::<ash::Ash>(),
    Kind::of::<yew::Yew>(),
    Kind::of::<ivy::Ivy>(),
    Kind::of::<fern::Fern>(),
    Kind::of::<moss::Moss>(),
    Kind::of::<reed::Reed>(),
    Kind::of::<rose::Rose>(),
    Kind::of::<lily::Lily>(),
    Kind::of::<iris::Iris>(),
    Kind::of::<aloe::Aloe>(),
    Kind::of::<certificate::Certificate>(),
    Kind::of::<certificaterequest::CertificateRequest>(),
    Kind::of::<issuer::Issuer>(),
    Kind::of::<clusterissuer::ClusterIssuer>(),
    Kind::of::<order::Order>(),
    Kind::of::<challenge::Challenge>(),
];
