//! What a member's Lease says.

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The label with the name of the group.
pub(super) const GROUP: &str = "ingester.michelangelo.api/group";

/// The annotation with the units that a member could serve, as JSON.
const SERVES: &str = "ingester.michelangelo.api/serves";

/// The annotation with the units that it claims, as JSON.
const CLAIMS: &str = "ingester.michelangelo.api/claims";

/// A member, as its Lease says.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The name of the Lease, which no other member ever had or will have.
    pub name: String,
    /// Where it runs, for people: the pod, or the host.
    pub holder: String,
    /// Since when it is a member, by its own clock.
    pub acquired: Option<Timestamp>,
    /// When it renewed the Lease last, by its own clock. Nothing follows from that.
    pub renewed: Option<Timestamp>,
    /// How long others wait for it.
    pub duration: Duration,
    /// The units that it could serve.
    pub serves: BTreeSet<String>,
    /// The units that it works on, or waits for.
    pub claims: BTreeSet<String>,
    /// The Lease's own uid; empty before it was made.
    pub(crate) uid: String,
    /// The Lease's version; empty before it was made.
    pub(crate) version: String,
}

impl Record {
    /// A member that has no Lease yet.
    pub fn member(name: &str, holder: &str, serves: BTreeSet<String>, claims: BTreeSet<String>) -> Self {
        Record {
            name: name.to_owned(),
            holder: holder.to_owned(),
            acquired: None,
            renewed: None,
            duration: Duration::ZERO,
            serves,
            claims,
            uid: String::new(),
            version: String::new(),
        }
    }

    /// Whether the member has left its group, as client-go releases a Lease: nobody holds it.
    pub fn has_left(&self) -> bool {
        self.holder.is_empty()
    }

    /// What a Lease says. One that somebody else made, or changed, says nothing of units.
    pub(super) fn of(lease: Lease) -> Self {
        let Lease { metadata, spec } = lease;
        let spec = spec.unwrap_or_default();
        let annotations = metadata.annotations.unwrap_or_default();
        let units = |name: &str| -> BTreeSet<String> {
            annotations.get(name).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
        };
        let seconds = spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok()).unwrap_or_default();
        Record {
            name: metadata.name.unwrap_or_default(),
            holder: spec.holder_identity.unwrap_or_default(),
            acquired: spec.acquire_time.map(|time| time.0),
            renewed: spec.renew_time.map(|time| time.0),
            duration: Duration::from_secs(seconds),
            serves: units(SERVES),
            claims: units(CLAIMS),
            uid: metadata.uid.unwrap_or_default(),
            version: metadata.resource_version.unwrap_or_default(),
        }
    }

    /// The Lease of a group that says this.
    pub(super) fn lease(&self, group: &str) -> Lease {
        let labels = [
            ("app.kubernetes.io/name", "ingester"),
            ("app.kubernetes.io/component", "member"),
            ("app.kubernetes.io/managed-by", "ingester"),
            (GROUP, group),
        ];
        let text = |units: &BTreeSet<String>| serde_json::to_string(units).unwrap_or_default();
        let annotations = [(SERVES, text(&self.serves)), (CLAIMS, text(&self.claims))];
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Lease {
            metadata: ObjectMeta {
                name: Some(self.name.clone()),
                uid: some(&self.uid),
                resource_version: some(&self.version),
                labels: Some(labels.map(|(name, value)| (name.to_owned(), value.to_owned())).into()),
                annotations: Some(BTreeMap::from(annotations.map(|(name, value)| (name.to_owned(), value)))),
                ..ObjectMeta::default()
            },
            spec: Some(LeaseSpec {
                holder_identity: Some(self.holder.clone()).filter(|holder| !holder.is_empty()),
                lease_duration_seconds: i32::try_from(self.duration.as_secs()).ok(),
                acquire_time: self.acquired.map(MicroTime),
                renew_time: self.renewed.map(MicroTime),
                ..LeaseSpec::default()
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Record;
    use k8s_openapi::api::coordination::v1::Lease;
    use k8s_openapi::jiff::Timestamp;
    use std::time::Duration;

    #[test]
    fn a_lease_says_what_was_written_into_it() {
        let record = Record {
            name: "ingester-a-x7".into(),
            holder: "pod-1".into(),
            acquired: Some(Timestamp::from_second(1).unwrap()),
            renewed: Some(Timestamp::from_second(9).unwrap()),
            duration: Duration::from_secs(15),
            serves: ["Model", "Project in ml 1/2"].map(String::from).into(),
            claims: ["Model"].map(String::from).into(),
            uid: "u".into(),
            version: "7".into(),
        };
        assert_eq!(Record::of(record.lease("a")), record);
    }

    #[test]
    fn a_lease_of_somebody_else_claims_nothing() {
        let text = r#"{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "a",
            "annotations": {"ingester.michelangelo.api/claims": "all"}}, "spec": {"leaseDurationSeconds": -4}}"#;
        let record = Record::of(serde_json::from_str::<Lease>(text).unwrap());
        assert!(record.claims.is_empty() && record.serves.is_empty());
        assert_eq!(record.duration, Duration::ZERO);
    }
}
