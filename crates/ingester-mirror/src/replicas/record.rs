//! The content of a member's Lease.

use super::group::Group;
use super::units;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The label with the name of the group.
pub(super) const GROUP: &str = "ingester.michelangelo.api/group";

/// The label with the configured name of the ingesters that share their work.
pub(super) const NAME: &str = "ingester.michelangelo.api/name";

/// The annotation with the units that a member could serve.
const SERVES: &str = "ingester.michelangelo.api/serves";

/// The annotation with the units that it claims.
const CLAIMS: &str = "ingester.michelangelo.api/claims";

/// The annotation with a value that differs between members that write rows by different definitions of kinds.
const DEFINITIONS: &str = "ingester.michelangelo.api/definitions";

/// The largest difference between the clocks of two machines at which people still get the right answer.
const CLOCKS: Duration = Duration::from_secs(5);

/// The number of bytes that the annotations of an object may have.
const ROOM: usize = 256 << 10;

/// This many units do not fit into a Lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{units} units need {bytes} bytes of a Lease, which has room for {ROOM}: name fewer namespaces in `ingester.namespaces` (none is all of \
     them), or take smaller numbers for `ingester.replicas.shards`, or give the kinds to several ingesters with another \
     `ingester.replicas.name` each"
)]
pub struct TooManyUnits {
    units: usize,
    bytes: usize,
}

/// A member, as its Lease describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The name of the Lease, which no other member ever had or will have.
    pub name: String,
    /// Where it runs, for people: the pod, or the host.
    pub holder: String,
    /// The time since which it is a member, by its own clock.
    pub acquired: Option<Timestamp>,
    /// The time when it last renewed the Lease, by its own clock. Nothing depends on it.
    pub renewed: Option<Timestamp>,
    /// The time that others wait for it.
    pub duration: Duration,
    /// The units that it could serve.
    pub serves: BTreeSet<String>,
    /// The units that it works on, or waits for.
    pub claims: BTreeSet<String>,
    /// Differs between members that write rows by different definitions of a kind, as two releases may.
    pub(crate) definitions: String,
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
            definitions: String::new(),
            uid: String::new(),
            version: String::new(),
        }
    }

    /// Returns true if by this time of day others have waited for it in vain. The time of day comes from another machine's clock.
    pub fn is_overdue(&self, now: Timestamp) -> bool {
        let waits = SignedDuration::try_from(self.duration + CLOCKS).unwrap_or(SignedDuration::MAX);
        self.renewed.is_none_or(|renewed| now.duration_since(renewed) > waits)
    }

    /// Returns true if the member has left its group: its Lease has no holder, as after a release by client-go.
    pub fn has_left(&self) -> bool {
        self.holder.is_empty()
    }

    /// Returns the Lease of this member after it has left: it claims nothing. It stays for this duration, so that every member sees that.
    pub(super) fn left(&self, duration: Duration) -> Self {
        Record {
            holder: String::new(),
            duration,
            serves: BTreeSet::new(),
            claims: BTreeSet::new(),
            definitions: String::new(),
            ..self.clone()
        }
    }

    /// Returns the member that a Lease describes. A Lease that another program made or changed claims no units.
    pub(super) fn from_lease(lease: Lease) -> Self {
        let Lease { metadata, spec } = lease;
        let spec = spec.unwrap_or_default();
        let annotations = metadata.annotations.unwrap_or_default();
        let text = |name: &str| annotations.get(name).map(String::as_str).unwrap_or_default();
        let serves = units::decode(text(SERVES));
        let claims = units::decode_some(text(CLAIMS), &serves);
        let seconds = spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok()).unwrap_or_default();
        Record {
            name: metadata.name.unwrap_or_default(),
            holder: spec.holder_identity.unwrap_or_default(),
            acquired: spec.acquire_time.map(|time| time.0),
            renewed: spec.renew_time.map(|time| time.0),
            duration: Duration::from_secs(seconds),
            serves,
            claims,
            definitions: text(DEFINITIONS).to_owned(),
            uid: metadata.uid.unwrap_or_default(),
            version: metadata.resource_version.unwrap_or_default(),
        }
    }

    /// Checks that the member's Lease has room for all of its claims.
    pub(super) fn check_size(&self) -> Result<(), TooManyUnits> {
        let bytes = self.annotations().iter().map(|(name, text)| name.len() + text.len()).sum();
        if bytes <= ROOM { Ok(()) } else { Err(TooManyUnits { units: self.serves.len(), bytes }) }
    }

    fn annotations(&self) -> [(&'static str, String); 3] {
        [
            (SERVES, units::encode(&self.serves)),
            (CLAIMS, units::encode_some(&self.claims, &self.serves)),
            (DEFINITIONS, self.definitions.clone()),
        ]
    }

    /// Returns the Lease of a group that describes this member.
    pub(super) fn lease(&self, group: &Group) -> Lease {
        let labels = [
            ("app.kubernetes.io/name", "ingester"),
            ("app.kubernetes.io/component", "member"),
            ("app.kubernetes.io/managed-by", "ingester"),
            (GROUP, &group.name),
            (NAME, &group.of),
        ];
        let annotations = self.annotations();
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
    use crate::replicas::group::Group;
    use k8s_openapi::api::coordination::v1::Lease;
    use k8s_openapi::jiff::Timestamp;
    use std::collections::BTreeSet;
    use std::time::Duration;

    fn group() -> Group {
        Group::of_database("ns".into(), "ingester", "a", "metadata")
    }

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
            definitions: "d".into(),
            uid: "u".into(),
            version: "7".into(),
        };
        assert_eq!(Record::from_lease(record.lease(&group())), record);
        let left = record.left(Duration::from_secs(6));
        assert_eq!(Record::from_lease(left.lease(&group())), left);
        assert!(left.has_left() && left.claims.is_empty() && left.version == "7");
    }

    #[test]
    fn a_lease_has_room_for_thousands_of_namespaces_and_no_more() {
        let member = |namespaces: usize, shards: u32| {
            let mut serves = BTreeSet::new();
            for kind in 0..13 {
                for namespace in 0..namespaces {
                    let unit = format!("SomeLongKindName{kind} in team-with-a-long-name-{namespace:06}");
                    serves.extend((1..=shards).map(|place| match shards {
                        1 => unit.clone(),
                        of => format!("{unit} {place}/{of}"),
                    }));
                }
            }
            Record::member("a", "pod", serves.clone(), serves)
        };
        for (namespaces, shards) in [(4000, 1), (60, 16), (1, 1024)] {
            let record = member(namespaces, shards);
            assert_eq!(record.check_size(), Ok(()));
            assert_eq!(Record::from_lease(record.lease(&group())), record);
        }
        let error = member(9000, 1).check_size().unwrap_err();
        assert!(error.to_string().starts_with("117000 units need "), "{error}");
    }

    #[test]
    fn a_member_is_overdue_when_the_others_stop_waiting_for_it() {
        let renewed = |second| Some(Timestamp::from_second(second).unwrap());
        let record = Record {
            renewed: renewed(100),
            duration: Duration::from_secs(15),
            ..Record::member("a", "pod", BTreeSet::new(), BTreeSet::new())
        };
        let overdue = |record: &Record, second| record.is_overdue(Timestamp::from_second(second).unwrap());
        // The clock here may be ahead, or behind.
        assert_eq!([90, 115, 120, 121].map(|now| overdue(&record, now)), [false, false, false, true]);
        assert!(overdue(&Record { renewed: None, ..record }, 0));
    }

    #[test]
    fn a_lease_of_another_program_claims_nothing() {
        let text = r#"{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "a",
            "annotations": {"ingester.michelangelo.api/claims": "all"}}, "spec": {"leaseDurationSeconds": -4}}"#;
        let record = Record::from_lease(serde_json::from_str::<Lease>(text).unwrap());
        assert!(record.claims.is_empty() && record.serves.is_empty());
        assert_eq!(record.duration, Duration::ZERO);
    }
}
