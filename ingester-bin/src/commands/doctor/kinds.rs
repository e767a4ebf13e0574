//! Checks each kind with the API server: that it serves the kind, that the ingester has its rights, and that it would accept the finalizer.

use super::request::{RequestResult, ask, root};
use super::{CheckLines, CheckSubjects};
use crate::commands::{rbac, resource};
use futures::StreamExt as _;
use http::{Method, StatusCode};
use ingester_core::Kind;
use ingester_core::kind::Finalizer;
use ingester_mirror::examine::{Admission, try_finalizer};
use kube::Client;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

pub(super) const CRD: &str = "crd";
pub(super) const RIGHTS: &str = "rights";
pub(super) const ADMISSION: &str = "admission";

/// The number of concurrent requests.
const REQUESTS: usize = 8;

/// Returns the kinds that are served.
pub(super) async fn served(client: &Client, wanted: &CheckSubjects<'_>, lines: &mut CheckLines) -> Vec<Kind> {
    let mut groups: BTreeMap<(&str, &str), RequestResult> = BTreeMap::new();
    let mut served = Vec::new();
    for kind in &wanted.kinds {
        let of = (kind.group(), kind.version());
        if let Entry::Vacant(group) = groups.entry(of) {
            group.insert(ask(client, Method::GET, &root(of.0, of.1), None).await);
        }
        let subject = resource(kind);
        match groups.get(&of) {
            Some(Ok((StatusCode::OK, answer))) if is_there(answer, kind) => {
                let scope = entry(answer, kind).and_then(|entry| entry["namespaced"].as_bool());
                if scope.is_some_and(|namespaced| namespaced != kind.namespaced()) {
                    let (here, there) = match kind.namespaced() {
                        true => ("namespaced", "not"),
                        false => ("not namespaced", "so"),
                    };
                    lines.error(
                        CRD,
                        &subject,
                        format!("the program has it as {here}, and the cluster {there}"),
                        remedy(kind),
                    );
                    continue;
                }
                lines.ok(CRD, &subject, "served");
                served.push(*kind);
            }
            Some(Ok((StatusCode::OK | StatusCode::NOT_FOUND, _))) => {
                let others = other_versions(client, kind).await;
                let message = match others.is_empty() {
                    true => format!("the cluster has no {} of {}", kind.plural(), kind.api_version()),
                    false => format!(
                        "the cluster has no {} of {}, but of {}",
                        kind.plural(),
                        kind.api_version(),
                        others.join(", ")
                    ),
                };
                lines.error(CRD, &subject, message, remedy(kind));
            }
            Some(Ok((status, _))) => {
                lines.error(
                    CRD,
                    &subject,
                    format!("asked for {}, the API server answers {status}", kind.api_version()),
                    "grant the ingester discovery (ClusterRole system:discovery)",
                );
            }
            Some(Err(why)) => lines.error(CRD, &subject, why.clone(), "see why the API server does not answer"),
            None => {}
        }
    }
    served
}

fn entry<'a>(answer: &'a Value, kind: &Kind) -> Option<&'a Value> {
    answer["resources"].as_array()?.iter().find(|entry| entry["name"] == *kind.plural() && entry["kind"] == kind.kind())
}

fn is_there(answer: &Value, kind: &Kind) -> bool {
    entry(answer, kind).is_some()
}

/// Returns the other versions in which the cluster serves a kind.
async fn other_versions(client: &Client, kind: &Kind) -> Vec<String> {
    if kind.group().is_empty() {
        return Vec::new();
    }
    let Ok((_, group)) = ask(client, Method::GET, &format!("/apis/{}", kind.group()), None).await else {
        return Vec::new();
    };
    let versions = group["versions"].as_array().into_iter().flatten().filter_map(|version| version["version"].as_str());
    let mut others = Vec::new();
    for version in versions.filter(|version| *version != kind.version()) {
        let answer = ask(client, Method::GET, &root(kind.group(), version), None).await;
        if answer.is_ok_and(|(_, answer)| is_there(&answer, kind)) {
            others.push(format!("{}/{version}", kind.group()));
        }
    }
    others
}

fn remedy(kind: &Kind) -> String {
    match kind.functions().crd {
        Some(_) => "install the CRDs of this program (`ingester crds | kubectl apply --server-side -f -`), or leave the kind out of `ingester.kinds`".to_owned(),
        None => "install the CRD of its project in this version, or leave the kind out of `ingester.kinds`".to_owned(),
    }
}

/// A question about one right.
struct Right {
    subject: String,
    group: String,
    resource: String,
    verb: &'static str,
    namespace: Option<String>,
}

/// Checks that the ingester has the rights that `ingester rbac` lists.
pub(super) async fn rights(client: &Client, wanted: &CheckSubjects<'_>, lines: &mut CheckLines) {
    let ingester = &wanted.config.ingester;
    let mut all = Vec::new();
    for kind in &wanted.kinds {
        for namespace in wanted.namespaces(kind) {
            all.extend(rbac::verbs(kind, wanted.config).map(|verb| Right {
                subject: resource(kind),
                group: kind.group().to_owned(),
                resource: kind.plural().into_owned(),
                verb,
                namespace: namespace.map(str::to_owned),
            }));
        }
    }
    let other = |group: &str, resource: &str, verb, namespace: Option<String>| Right {
        subject: if group.is_empty() { resource.to_owned() } else { format!("{resource}.{group}") },
        group: group.to_owned(),
        resource: resource.to_owned(),
        verb,
        namespace,
    };
    if rbac::lists_namespaces(&wanted.kinds, &wanted.config.policies) {
        all.push(other("", "namespaces", "list", None));
    }
    all.extend(["create", "patch"].map(|verb| other("events.k8s.io", "events", verb, None)));
    if ingester.replicas.enabled {
        let namespace = ingester.replicas.namespace.clone().unwrap_or_else(|| client.default_namespace().to_owned());
        let leases = |verb| other("coordination.k8s.io", "leases", verb, Some(namespace.clone()));
        all.extend(["list", "watch", "create", "update", "delete"].map(leases));
    }
    let answers: Vec<(Right, Result<bool, UnknownRight>)> = futures::stream::iter(all)
        .map(|right| async move {
            let may = may(client, &right).await;
            (right, may)
        })
        .buffered(REQUESTS)
        .collect()
        .await;
    if let Some(UnknownRight(why)) = answers.iter().find_map(|(_, may)| may.as_ref().err()) {
        lines.skipped(RIGHTS, "", why.clone());
        return;
    }
    let mut subjects: Vec<&str> = Vec::new();
    for (right, _) in &answers {
        if !subjects.contains(&right.subject.as_str()) {
            subjects.push(&right.subject);
        }
    }
    for subject in subjects {
        report(subject, answers.iter().filter(|(right, _)| right.subject == subject), lines);
    }
}

fn report<'a>(
    subject: &str,
    answers: impl Iterator<Item = &'a (Right, Result<bool, UnknownRight>)>,
    lines: &mut CheckLines,
) {
    let mut granted = Vec::new();
    let mut missing = Vec::new();
    for (right, may) in answers {
        let place = right.namespace.as_ref().map(|namespace| format!(" in {namespace}")).unwrap_or_default();
        match may {
            Ok(true) if granted.contains(&right.verb) => {}
            Ok(true) => granted.push(right.verb),
            _ => missing.push(format!("{}{place}", right.verb)),
        }
    }
    const ROLE: &str =
        "apply the role that `ingester rbac --config FILE` prints, and bind it to the ingester's service account";
    match missing.is_empty() {
        true => lines.ok(RIGHTS, subject, granted.join(", ")),
        // Without these rights the mirror works, but reports less.
        false if subject.starts_with("events.") => {
            lines.warning(RIGHTS, subject, format!("the ingester may not {}", missing.join(", ")), ROLE);
        }
        false => lines.error(RIGHTS, subject, format!("the ingester may not {}", missing.join(", ")), ROLE),
    }
}

/// The reason why a right is unknown.
struct UnknownRight(String);

async fn may(client: &Client, right: &Right) -> Result<bool, UnknownRight> {
    let mut attributes = json!({"group": right.group, "resource": right.resource, "verb": right.verb});
    if let Some(namespace) = &right.namespace {
        attributes["namespace"] = namespace.as_str().into();
    }
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    });
    let answer =
        ask(client, Method::POST, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", Some(&review)).await;
    match answer {
        Ok((status, answer)) if status.is_success() => Ok(answer["status"]["allowed"] == true),
        Ok((StatusCode::NOT_FOUND, _)) => Err(UnknownRight("this API server has no reviews of rights".to_owned())),
        Ok((status, _)) => Err(UnknownRight(format!("asked for its rights, the API server answers {status}"))),
        Err(why) => Err(UnknownRight(why)),
    }
}

/// Checks that the API server would accept the finalizer.
pub(super) async fn admission(client: &Client, wanted: &CheckSubjects<'_>, served: &[Kind], lines: &mut CheckLines) {
    let ensured = |kind: &&Kind| wanted.config.ingester.finalizer_of(kind) == Finalizer::Ensure;
    let kinds: Vec<&Kind> = served.iter().filter(ensured).collect();
    if kinds.is_empty() {
        lines.skipped(ADMISSION, "", "no kind that is served gets the finalizer");
    }
    for kind in kinds {
        let subject = resource(kind);
        let mut seen = Ok(Admission::NoObjects);
        for namespace in wanted.namespaces(kind) {
            seen = try_finalizer(client, kind, namespace).await;
            if !matches!(seen, Ok(Admission::NoObjects)) {
                break;
            }
        }
        match seen {
            Ok(Admission::Admitted(object)) => lines.ok(ADMISSION, &subject, format!("the finalizer would be added to {object}")),
            Ok(Admission::There) => lines.ok(ADMISSION, &subject, "the objects have the finalizer"),
            Ok(Admission::NoObjects) => lines.skipped(ADMISSION, &subject, "there are no objects to try it with"),
            Err(error) => lines.error(
                ADMISSION,
                &subject,
                error.to_string(),
                "grant the right, or have the webhook or policy that refuses let the ingester change metadata.finalizers",
            ),
        }
    }
}
