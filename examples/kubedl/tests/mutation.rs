//! Randomly changed objects: members lost, doubled, exchanged, and values of other types.

use fastrand::Rng;
use serde_json::{Value as Json, json};

/// A source of changed objects; the same seed gives the same ones.
pub(crate) struct Mutation(Rng);

/// Texts with a meaning in some place.
const TEXTS: [&str; 40] = [
    "",
    "x",
    "Running",
    "Created",
    "Restarting",
    "Succeeded",
    "Failed",
    "Pending",
    "Unknown",
    "tensorflow",
    "pytorch",
    "xgboostjob",
    "xdl",
    "elasticbatch",
    "mars",
    "TFJob",
    "PyTorchJob",
    "XGBoostJob",
    "XDLJob",
    "ElasticBatchJob",
    "MarsJob",
    "ReplicaSet",
    "training.kubedl.io/v1alpha1",
    "inference.kubedl.io/v1alpha1",
    "2026-07-01T08:00:00Z",
    "2026-07-01T08:00:00.123456Z",
    "500m",
    "0.5",
    "1Gi",
    "1.5Gi",
    "1e3",
    "100k",
    "-1",
    "0Mi",
    "+7",
    "1.0001Ki",
    "9Ei",
    "{\"tenant\": \"a\", \"user\": 5, \"region\": \"eu\", \"idc\": null}",
    "{\"tenant\": \"a\", \"user\": \"\"",
    "[{\"tenant\": \"a\"}]",
];

/// Members with a meaning in some place.
const NAMES: [&str; 24] = [
    "state",
    "running",
    "terminated",
    "startedAt",
    "finishedAt",
    "exitCode",
    "reason",
    "message",
    "phase",
    "resources",
    "limits",
    "requests",
    "cpu",
    "memory",
    "nvidia.com/gpu",
    "replicas",
    "initContainers",
    "kubedl.io/tenancy",
    "group-name",
    "replica-type",
    "series",
    "lastTransitionTime",
    "completionTime",
    "hostIP",
];

impl Mutation {
    pub(crate) fn new(seed: u64) -> Self {
        Mutation(Rng::with_seed(seed))
    }

    /// One of these, changed in a few places.
    pub(crate) fn mutate(&mut self, objects: &[Json]) -> Json {
        let mut object = objects[self.0.usize(..objects.len())].clone();
        for _ in 0..self.0.usize(1..6) {
            let other = objects[self.0.usize(..objects.len())].clone();
            self.change(&mut object, &other);
        }
        object
    }

    /// Changes a place somewhere below; parts of the other object may come in.
    fn change(&mut self, object: &mut Json, other: &Json) {
        // Fields that every object needs are not changed, so that most objects have rows.
        let parts = ["spec", "status", "metadata", "involvedObject", "count", "series", "firstTimestamp", "eventTime"];
        let there: Vec<&str> = parts.into_iter().filter(|part| object.get(part).is_some()).collect();
        let part = there[self.0.usize(..there.len())];
        if part == "metadata" {
            let metadata = &mut object["metadata"];
            let name = ["annotations", "labels", "ownerReferences"][self.0.usize(..3)];
            let of_other = &other["metadata"][name];
            match metadata.get_mut(name) {
                Some(inner) => self.place(inner, of_other, 0),
                None if self.0.bool() => metadata[name] = of_other.clone(),
                None => {}
            }
        } else if let Some(value) = object.get_mut(part) {
            self.place(value, &other[part], 0);
        }
    }

    fn place(&mut self, value: &mut Json, other: &Json, depth: usize) {
        let deeper = depth < 3 || self.0.usize(..4) > 0;
        match value {
            Json::Object(members) if deeper && !members.is_empty() => {
                let keys: Vec<String> = members.keys().cloned().collect();
                let key = &keys[self.0.usize(..keys.len())];
                match self.0.usize(..12) {
                    0 => drop(members.remove(key)),
                    1 => {
                        let name = NAMES[self.0.usize(..NAMES.len())];
                        let of_another = members[key].clone();
                        let value = if self.0.bool() { of_another } else { self.leaf(&Json::Null) };
                        members.insert(name.to_owned(), value);
                    }
                    2 if other.get(key).is_some() => drop(members.insert(key.clone(), other[key].clone())),
                    _ => {
                        let below = other.get(key).cloned().unwrap_or_default();
                        self.place(&mut members[key], &below, depth + 1);
                    }
                }
            }
            Json::Array(elements) if deeper && !elements.is_empty() => {
                let place = self.0.usize(..elements.len());
                match self.0.usize(..10) {
                    0 => drop(elements.remove(place)),
                    1 => elements.push(elements[place].clone()),
                    2 => elements.swap(0, place),
                    3 => elements.insert(place, Json::Null),
                    _ => {
                        let below = other.get(0).cloned().unwrap_or_default();
                        self.place(&mut elements[place], &below, depth + 1);
                    }
                }
            }
            leaf => *leaf = self.leaf(leaf),
        }
    }

    /// Mostly a value of the same type.
    fn leaf(&mut self, before: &Json) -> Json {
        let text = |rng: &mut Rng| json!(TEXTS[rng.usize(..TEXTS.len())]);
        match (self.0.usize(..12), before) {
            (0, _) => Json::Null,
            (1, _) => [json!(7), json!(true), json!([]), json!({}), json!(1.5)][self.0.usize(..5)].clone(),
            (_, Json::Number(_)) => json!(self.0.i32(-3..200)),
            (_, Json::Bool(_)) => json!(self.0.bool()),
            (_, Json::Object(_)) => json!({}),
            (_, Json::Array(_)) => json!([]),
            (_, Json::String(before)) if before.ends_with('Z') && self.0.usize(..4) > 0 => {
                json!(format!("2026-07-0{}T10:00:0{}Z", self.0.u8(1..9), self.0.u8(0..9)))
            }
            (_, Json::Null | Json::String(_)) => text(&mut self.0),
        }
    }
}
