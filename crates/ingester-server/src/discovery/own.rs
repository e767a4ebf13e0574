//! Schemas of this server's own resources, whose objects belong to no kind.

use crate::request::path::{OUTER_GROUP, OUTER_VERSION, SelfReview};
use ingester_core::Kind;
use serde_json::{Map, Value as Json, json};

/// One of these resources.
pub(super) struct OwnResource {
    pub(super) group: &'static str,
    pub(super) version: &'static str,
    pub(super) kind: &'static str,
    pub(super) plural: &'static str,
    /// Its objects can be read; objects of the other resources are created, and nothing is stored.
    pub(super) is_read: bool,
    about: &'static str,
    spec: &'static [Field],
    status: &'static [Field],
}

/// A field: its name, its type, and its description.
type Field = (&'static str, Type, &'static str);

/// The type of a field.
#[derive(Clone, Copy)]
enum Type {
    Text,
    Time,
    Number,
    Flag,
    /// An object with these fields.
    Object(&'static [Field]),
    /// A list of such objects.
    List(&'static [Field]),
}

use Type::{Flag, List, Number, Object, Text, Time};

const GROUP: Field = ("group", Text, "The API group of the kind.");
const VERSION: Field = ("version", Text, "The version of the kind.");
const KIND: Field = ("kind", Text, "The kind.");
const RESOURCE: Field = ("resource", Text, "The plural of the kind.");
const LIVE: Field = ("live", Number, "Objects in the cluster, as far as SQL knows.");
const EVICTED: Field = ("evicted", Number, "Objects that are only in SQL.");
const DELETED: Field = ("deleted", Number, "Objects that were deleted, whose rows are still there.");

/// The resources of the group of this server.
const OUTER: [OwnResource; 6] = [
    OwnResource {
        about: "Count says how many objects of a kind SQL has, by their states.",
        spec: &[GROUP, VERSION, KIND, RESOURCE],
        status: &[
            LIVE,
            EVICTED,
            DELETED,
            ("rejects", Number, "Objects that could not be stored."),
            ("lastChange", Time, "When a row of the kind was written last."),
            ("error", Text, "Why the objects could not be counted."),
            (
                "steps",
                List(&[("time", Time, "The moment."), LIVE, EVICTED, DELETED]),
                "The counts of moments of the past, of one kind with `from` and `steps`.",
            ),
        ],
        ..outer("Count", "counts")
    },
    OwnResource {
        about: "Parameter is a parameter of lists, as a label that a selector may have.",
        spec: &[
            ("label", Text, "The label that stands for it."),
            ("type", Text, "What its values are."),
            ("description", Text, "What it is for."),
            ("query", Text, "The saved query that it belongs to."),
            ("kind", Text, "The kind that the query asks about."),
            ("default", Text, "The value that it has if none is given."),
        ],
        ..outer("Parameter", "parameters")
    },
    OwnResource {
        about: "Policy says what a rule that moves objects out of etcd has found in its last round.",
        spec: &[
            GROUP,
            VERSION,
            KIND,
            RESOURCE,
            ("rule", Text, "The name of the rule."),
            ("mode", Text, "`enforced`, or `dry`: it moves nothing."),
        ],
        status: &[
            ("judged", Flag, "False if the last round could not judge the objects."),
            ("matches", Number, "Objects that are to leave etcd by it."),
            ("waiting", Number, "Those of them that are still there although the rule is enforced."),
            ("moved", Number, "Those that the last round has begun to move."),
            ("round", Time, "When the last round ended."),
        ],
        ..outer("Policy", "policies")
    },
    OwnResource {
        about: "Query is a saved query.",
        spec: &[
            ("apiVersion", Text, "The group and version of the kind that it asks about."),
            ("kind", Text, "The kind that it asks about."),
            ("description", Text, "What it is for."),
        ],
        ..outer("Query", "queries")
    },
    OwnResource {
        about: "Reject is an object that could not be stored.",
        spec: &[
            ("apiVersion", Text, "The group and version of the object."),
            ("kind", Text, "The kind of the object."),
            ("namespace", Text, "The namespace of the object."),
            ("name", Text, "The name of the object."),
            ("uid", Text, "The identity of the object."),
            ("resourceVersion", Text, "The version that could not be stored."),
            ("reason", Text, "Why it could not be stored."),
            ("time", Time, "When it was rejected last."),
        ],
        ..outer("Reject", "rejects")
    },
    OwnResource {
        about: "Unit says what a unit of `ingester run` does: a kind, a namespace of it, or a shard.",
        spec: &[
            GROUP,
            VERSION,
            KIND,
            RESOURCE,
            ("namespace", Text, "The namespace that it is about; empty for all of them."),
            ("shard", Text, "Its part of the objects; empty for all of them."),
        ],
        status: &[
            ("member", Text, "The pod and process that has it."),
            ("phase", Text, "What it is doing."),
            ("stale", Flag, "True if it has not reported for 90 seconds."),
            ("lagSeconds", Number, "For how many seconds the oldest change has waited."),
            ("waiting", Number, "Objects that wait to be written."),
            ("live", Number, "Objects that are mirrored and live."),
            ("held", Number, "Terminating objects that cannot leave yet because of our finalizer."),
            ("rejects", Number, "Objects that could not be stored."),
            ("heartbeat", Time, "When it reported this."),
            (
                "audit",
                Object(&[("time", Time, "When it ended."), ("differences", Number, "What it found.")]),
                "The last scheduled audit.",
            ),
        ],
        ..outer("Unit", "units")
    },
];

const fn outer(kind: &'static str, plural: &'static str) -> OwnResource {
    OwnResource {
        group: OUTER_GROUP,
        version: OUTER_VERSION,
        kind,
        plural,
        is_read: true,
        about: "",
        spec: &[],
        status: &[],
    }
}

/// Returns all of them, for a server with these kinds.
pub(super) fn all(kinds: &[Kind]) -> Vec<OwnResource> {
    let mut all = Vec::from(OUTER);
    all.extend(SelfReview::ALL.map(|review| OwnResource {
        group: review.group(),
        version: "v1",
        is_read: false,
        about: "A review that callers request about themselves, as in Kubernetes.",
        ..outer(review.kind(), review.plural())
    }));
    if !kinds.iter().any(|kind| kind.group().is_empty() && kind.plural() == "namespaces") {
        all.push(OwnResource {
            group: "",
            version: "v1",
            about: "Namespace is a namespace that SQL has objects of.",
            ..outer("Namespace", "namespaces")
        });
    }
    all
}

impl OwnResource {
    /// Returns the schema of its objects. `metadata` is the schema of their metadata.
    pub(super) fn schema(&self, metadata: Json) -> Json {
        let text = |description: &str| json!({"type": "string", "description": description});
        let mut properties = json!({
            "apiVersion": text("The API group and version of this object."),
            "kind": text("The kind of this object."),
            "metadata": metadata,
        });
        for (part, fields, about) in
            [("spec", self.spec, "What it is about."), ("status", self.status, "What the server knows of it.")]
        {
            if !fields.is_empty() || !self.is_read {
                let mut schema = object(fields);
                schema["description"] = about.into();
                properties[part] = schema;
            }
        }
        json!({
            "type": "object",
            "description": self.about,
            "properties": properties,
            "x-kubernetes-group-version-kind": [{"group": self.group, "version": self.version, "kind": self.kind}],
        })
    }
}

fn object(fields: &[Field]) -> Json {
    let property = |(name, ty, about): &Field| {
        let mut schema = match ty {
            Text => json!({"type": "string"}),
            Time => json!({"type": "string", "format": "date-time"}),
            Number => json!({"type": "integer", "format": "int64"}),
            Flag => json!({"type": "boolean"}),
            Object(fields) => object(fields),
            List(fields) => json!({"type": "array", "items": object(fields)}),
        };
        schema["description"] = (*about).into();
        ((*name).to_owned(), schema)
    };
    match fields {
        [] => json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
        fields => json!({"type": "object", "properties": fields.iter().map(property).collect::<Map<_, _>>()}),
    }
}
